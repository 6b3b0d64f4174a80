"""Scripts that would print a wrong number: each ends in an error or warning that names the mistake."""

import re
import textwrap
import warnings

import pytest
import sklearn
from helpers import run_python

DATA = """
import numpy as np, pandas as pd, sklearn
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.experimental import enable_halving_search_cv
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score
from sklearn.model_selection import (
    GridSearchCV, GroupKFold, HalvingGridSearchCV, KFold, RandomizedSearchCV, ShuffleSplit,
    StratifiedKFold, cross_val_score, cross_validate, learning_curve, permutation_test_score,
    train_test_split, validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn_ndcg import *

rng = np.random.default_rng(0)
query = rng.permutation(np.repeat(np.arange(40), rng.integers(5, 12, 40)))
X = pd.DataFrame(rng.normal(size=(len(query), 4)), columns=list("abcd"))
y = np.clip(np.round(X["a"] + rng.normal(size=len(X)) + 1), 0, 4).astype(int).to_numpy()
Xi, Xc, array = X.set_index(pd.Index(query, name="query")), X.assign(query=query), np.c_[query, X]
whole = list(GroupKFold(4).split(X, y, query))
scorer = make_ndcg_scorer(k=5, group_by="query", undefined=0.0)
by_number = make_ndcg_scorer(k=5, group_by=0, undefined=0.0)
trees, alphas = HistGradientBoostingRegressor(max_iter=5), {"alpha": [0.1, 10]}
"""
CUT = r"\d+ of the \d+ scored queries have another number of rows .* Split whole queries"
LEARNED = "The column of ids, group_by=.*, is a feature of"
SCRIPTS = {  # what it does, words of the error or warning
    "README's picture, with cv=5": ("""
        scoring = make_ndcg_scorer(k=10, group_by="query")
        GridSearchCV(trees, {"max_iter": [5, 9]}, scoring=scoring, cv=5, n_jobs=N).fit(Xi, y)""", CUT),
    "cv is left out": ("cross_val_score(trees, Xi, y, scoring=scorer, n_jobs=N)", CUT),
    "folds of shuffled rows": ("cross_validate(Ridge(), Xi, y, scoring=scorer, cv=KFold(4, shuffle=True), n_jobs=N)", CUT),
    "folds stratified by grade": ("GridSearchCV(Ridge(), alphas, scoring=scorer, cv=StratifiedKFold(4), n_jobs=N).fit(Xi, y)", CUT),
    "routed groups, which KFold ignores": ("""
        sklearn.set_config(enable_metadata_routing=True)
        search = GridSearchCV(Ridge(), alphas, scoring=make_ndcg_scorer(k=5), cv=KFold(4), n_jobs=N)
        search.fit(X, y, groups=query)""", CUT),
    "groups without a splitter that takes them": (
        "RandomizedSearchCV(Ridge(), alphas, n_iter=2, scoring=scorer, cv=4, n_jobs=N).fit(Xi, y, groups=query)", CUT),
    "halving by rows": (
        "HalvingGridSearchCV(Ridge(), alphas, scoring=scorer, min_resources=80, cv=GroupKFold(4), n_jobs=N).fit(Xi, y, groups=query)",
        CUT),
    "another metric per query": ("""
        mean_ap = make_query_scorer(average_precision_score, group_by="query", undefined=0.0)
        cross_val_score(Ridge(), Xi, y > 1, scoring=mean_ap, cv=5, n_jobs=N)""", CUT),
    "several cutoffs": (
        'cross_validate(Ridge(), Xi, y, scoring=make_ndcg_scorer(k=[1, 5], group_by="query"), cv=5, n_jobs=N)', CUT),
    "curves": (
        'validation_curve(Ridge(), Xi, y, param_name="alpha", param_range=[0.1, 1], scoring=scorer, n_jobs=N)', CUT),
    "a permutation test": ("permutation_test_score(Ridge(), Xi, y, scoring=scorer, n_permutations=2, n_jobs=N)", CUT),
    "choosing features": (
        "SequentialFeatureSelector(Ridge(), n_features_to_select=1, scoring=scorer, n_jobs=N).fit(Xi, pd.Series(y, Xi.index))",
        CUT),
    "a column number, and the tool removes columns": ("""
        ordinal = np.c_[query, rng.integers(0, 4, (len(y), 3)), y // 2]
        RFECV(Ridge(), scoring=by_number, cv=whole, n_jobs=N).fit(ordinal, y)""", CUT + ".* pass groups instead of group_by=0"),
    "a ranker scored by hand on rows of its queries": ("""
        train, test = train_test_split(Xc.assign(y=y), random_state=0)
        ranker = GroupedRanker(Ridge(), group_by="query").fit(train.drop(columns="y"), train["y"])
        ranker.score(test.drop(columns="y"), test["y"])""", CUT),
    "ids in an array are a feature": ("cross_val_score(Ridge(), array, y, scoring=by_number, cv=whole, n_jobs=N)", LEARNED),
    "ids in a table are a feature": ("cross_val_score(trees, Xc, y, scoring=scorer, cv=whole, n_jobs=N)", LEARNED),
    "ids are scaled with the features": (
        "cross_val_score(make_pipeline(StandardScaler(), Ridge()), Xc, y, scoring=scorer, cv=whole, n_jobs=N)", LEARNED),
    "ids are in the components": (
        "cross_val_score(make_pipeline(PCA(2), Ridge()), array, y, scoring=by_number, cv=whole, n_jobs=N)", LEARNED),
    "the fold as one list": (
        'cross_val_score(Ridge(), X, y, scoring=make_ndcg_scorer(k=5), cv=5, n_jobs=N, error_score="raise")', "got no groups"),
    "rows drawn before the split": ("""
        guarded, half = make_ndcg_scorer(k=5, group_by="query", all_groups=query), slice(None, None, 2)
        folds = list(GroupKFold(4).split(Xi[half], y[half], query[half]))
        cross_val_score(Ridge(), Xi[half], y[half], scoring=guarded, cv=folds, n_jobs=N, error_score="raise")""",
        "not complete: .* than in all_groups"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", SCRIPTS)
def test_a_mistake_is_named(mistake):
    script, words = SCRIPTS[mistake]
    with sklearn.config_context(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(f"{DATA}\nN = None\n{textwrap.dedent(script)}", {})  # noqa: S102
            problems = []
        except ValueError as error:
            problems = [str(error)]
    problems += [str(each.message) for each in caught]
    assert any(re.search(words, problem) for problem in problems), problems


@pytest.mark.ci
def test_worker_processes_name_the_same_mistakes():
    program = f"{DATA}\nimport sys, traceback\nN = 2\n"
    for mistake, (script, _) in SCRIPTS.items():
        program += f"""
print({f"=== {mistake}"!r}, file=sys.stderr, flush=True)
sklearn.set_config(enable_metadata_routing=False)
try:
{textwrap.indent(textwrap.dedent(script), "    ")}
except ValueError:
    traceback.print_exc()
"""
    printed = run_python(program, PYTHONWARNINGS="always").stderr.split("=== ")
    printed = dict(each.split("\n", 1) for each in printed[1:])
    for mistake, (_, words) in SCRIPTS.items():
        assert re.search(words, printed[mistake]), printed[mistake]
