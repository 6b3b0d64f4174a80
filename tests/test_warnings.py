"""A warning points at the line of the user, from every entry that can warn.

Each row of a table is a call on a line of its own: a line of code is what a warning names.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import graded_rows, matrices
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate

from sklearn_ndcg import (
    GroupedRanker,
    NDCGDisplay,
    compare_rankers,
    dcg_samples,
    dcg_score,
    make_dcg_scorer,
    make_ndcg_scorer,
    ndcg_curve,
    ndcg_interval,
    ndcg_samples,
    ndcg_score,
    one_ranking,
)

UNDEFINED = "NDCG is undefined for"
SINGLE = "Each of the 3 queries has a single document"
FEW = "With 9 queries"
NAN = "The score is nan"
POINT = "All 40 queries have the NDCG 1"

BY_ROW = {"y_true": [1, 2, 1], "y_score": [3, 2, 1], "groups": ["a", "b", "c"]}
NOTHING = {"y_true": [[0, 0]], "y_score": [[1, 2]]}
Y_FEW, S_FEW = matrices(9)
Y, S = matrices(40)
Y_UNDEFINED = np.where(np.arange(40)[:, np.newaxis] == 3, 0, Y)
X_ROWS, GRADES, QUERY = graded_rows()
X_ROWS = X_ROWS.set_index(pd.Index(QUERY, name="query"))
GRADES[QUERY == 3] = 0  # a query without a relevant document
FOLDS = {"cv": list(GroupKFold(3).split(X_ROWS, GRADES, QUERY))}
MODEL = Ridge().fit(X_ROWS, GRADES)
RANKER = GroupedRanker(Ridge(), group_by="query").fit(X_ROWS, GRADES)
SCORER = make_ndcg_scorer(group_by="query")
SEARCH = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=SCORER, n_jobs=1, **FOLDS)
NO_RELEVANT = {"undefined": "omit"}

METRICS = {
    "ndcg_score": (lambda: ndcg_score(**NOTHING), UNDEFINED),
    "ndcg_samples": (lambda: ndcg_samples(**NOTHING), UNDEFINED),
    "ndcg_curve": (lambda: ndcg_curve(**NOTHING), UNDEFINED),
    "ndcg_score of single documents": (lambda: ndcg_score(**BY_ROW), SINGLE),
    "ndcg_samples of single documents": (lambda: ndcg_samples(**BY_ROW), SINGLE),
    "ndcg_curve of single documents": (lambda: ndcg_curve(**BY_ROW), SINGLE),
    "dcg_score of single documents": (lambda: dcg_score(**BY_ROW), SINGLE),
    "dcg_samples of single documents": (lambda: dcg_samples(**BY_ROW), SINGLE),
}
SCORERS = {
    "scorer": (lambda: SCORER(MODEL, X_ROWS, GRADES), UNDEFINED),
    "scorer.score": (lambda: SCORER.score(MODEL, X_ROWS, GRADES), UNDEFINED),
    "scorer of a fold without a relevant document": (
        lambda: make_ndcg_scorer(group_by="query", **NO_RELEVANT)(MODEL, X_ROWS, GRADES * 0), NAN),
    "scorer of several cutoffs": (
        lambda: make_ndcg_scorer(k=[1, 5], group_by="query")(MODEL, X_ROWS, GRADES), UNDEFINED),
    "DCG scorer of single documents": (
        lambda: make_dcg_scorer()(MODEL, X_ROWS[:3], [1, 2, 1], groups=[1, 2, 3]), SINGLE),
    "one_ranking": (
        lambda: make_ndcg_scorer(group_by=one_ranking)(MODEL, X_ROWS, GRADES * 0), UNDEFINED),
    "cross_val_score": (
        lambda: cross_val_score(Ridge(), X_ROWS, GRADES, scoring=SCORER, **FOLDS), UNDEFINED),
    "cross_validate": (
        lambda: cross_validate(Ridge(), X_ROWS, GRADES, scoring=SCORER, **FOLDS), UNDEFINED),
    "cross_validate with other scorers": (
        lambda: cross_validate(Ridge(), X_ROWS, GRADES, scoring={"a": SCORER, "b": "r2"}, **FOLDS),
        UNDEFINED),
    "GridSearchCV.fit": (lambda: SEARCH.fit(X_ROWS, GRADES), UNDEFINED),
    "GridSearchCV.score": (lambda: fitted_search().score(X_ROWS, GRADES), UNDEFINED),
    "GroupedRanker.score": (lambda: RANKER.score(X_ROWS, GRADES), UNDEFINED),
    "GroupedRanker in cross_val_score": (
        lambda: cross_val_score(GroupedRanker(Ridge(), group_by="query"), X_ROWS, GRADES, **FOLDS),
        UNDEFINED),
}  # fmt: skip
EVIDENCE = {
    "ndcg_interval of few queries": (lambda: ndcg_interval(Y_FEW, S_FEW), FEW),
    "ndcg_interval of one value": (lambda: ndcg_interval(Y, Y), POINT),
    "ndcg_interval of undefined queries": (lambda: ndcg_interval(Y_UNDEFINED, S), UNDEFINED),
    "compare_rankers": (lambda: compare_rankers(Y_FEW, {"a": S_FEW, "b": -S_FEW}), FEW),
}
DISPLAYS = {
    "from_predictions": (lambda: NDCGDisplay.from_predictions(Y_UNDEFINED, S), UNDEFINED),
    "from_predictions of few queries": (lambda: NDCGDisplay.from_predictions(Y_FEW, S_FEW), FEW),
    "from_estimator": (
        lambda: NDCGDisplay.from_estimator(MODEL, X_ROWS, GRADES, group_by="query"), UNDEFINED),
    "from_cv_results": (
        lambda: NDCGDisplay.from_cv_results(cv_results(), X_ROWS, GRADES, group_by="query"),
        UNDEFINED),
}  # fmt: skip


def fitted_search():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SEARCH.fit(X_ROWS, GRADES)


def cv_results():
    scorer = make_ndcg_scorer(group_by="query", undefined=0.0)
    options = {"scoring": scorer, "return_estimator": True, "return_indices": True}
    return cross_validate(Ridge(), X_ROWS, GRADES, **options, **FOLDS)


def check_line(call, words):
    """The warning names this file, and the line of the call in the table."""
    with pytest.warns(UserWarning, match=words) as caught:
        call()
    found = [each for each in caught if words in str(each.message)]
    assert {each.filename for each in found} == {__file__}
    assert {each.lineno for each in found} == {line_of(call)}
    assert [each for each in caught if each.filename != __file__] == []


def line_of(call):
    """The line of a lambda's body, which is on one line."""
    lines = {line for *_, line in call.__code__.co_lines() if line is not None}
    assert len(lines) == 1, "write the call on one line"
    return lines.pop()


@pytest.mark.parametrize("name", METRICS)
def test_metrics(name):
    check_line(*METRICS[name])


@pytest.mark.parametrize("name", SCORERS)
def test_scorers_and_rankers(name):
    check_line(*SCORERS[name])


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence(name):
    check_line(*EVIDENCE[name])


@pytest.mark.parametrize("name", DISPLAYS)
def test_displays(name):
    matplotlib = pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    matplotlib.use("agg")
    check_line(*DISPLAYS[name])
    import matplotlib.pyplot as plt  # noqa: PLC0415

    plt.close("all")


NAMES = {"y_true": "y", "y_score": "s", "groups": "q"}
TABLES = {
    "undefined": ({"q": [1, 1, 2], "y": [0, 0, 1], "s": [1, 2, 3]}, UNDEFINED),
    "single documents": ({"q": [1, 2, 3], "y": [1, 2, 1], "s": [1, 2, 3]}, SINGLE),
}


@pytest.mark.parametrize("engine", ["pandas", "polars", "polars lazy"])
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("function", ["ndcg_score", "ndcg_by_query"])
def test_tables(function, name, engine):
    pytest.importorskip("narwhals", reason="the extra `frames` is not installed")
    pl = pytest.importorskip("polars")
    from sklearn_ndcg import frames  # noqa: PLC0415

    columns, words = TABLES[name]
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "polars lazy": pl.LazyFrame}[engine]
    table, function = make(columns), getattr(frames, function)
    if function is frames.ndcg_by_query and engine == "polars lazy":
        function(table, **NAMES)  # nothing is computed, so there is nothing to warn of
    else:
        check_line(lambda: function(table, **NAMES), words)


def test_a_warning_names_the_line_in_a_module_of_the_user(tmp_path):
    module = tmp_path / "of_the_user.py"
    module.write_text("def score(metric, data):\n    return metric(**data)\n")
    namespace = {}
    exec(compile(module.read_text(), str(module), "exec"), namespace)  # noqa: S102
    with pytest.warns(UserWarning, match=UNDEFINED) as caught:
        namespace["score"](ndcg_score, NOTHING)
    assert (Path(caught[0].filename), caught[0].lineno) == (module, 2)
