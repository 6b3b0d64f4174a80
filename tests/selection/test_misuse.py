"""Scripts that would print a wrong number: each warns, or ends in an error, and names the mistake.

Tools in worker processes are in test_tool_splits.py.
"""

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import graded_rows
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    train_test_split,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ndcg import (
    GroupedRanker,
    QueryLeakWarning,
    make_ndcg_scorer,
    make_query_scorer,
    ndcg_score,
)

pytestmark = [  # of cut queries
    pytest.mark.filterwarnings("ignore:.*a single document"),
    pytest.mark.filterwarnings("ignore:NDCG is undefined"),
]
FEATURES, Y, QUERY = graded_rows(n_queries=40, lengths=(5, 11))
X = FEATURES.set_index(pd.Index(QUERY, name="query"))
TABLE, ARRAY = FEATURES.assign(query=QUERY), np.c_[QUERY, FEATURES]
WHOLE = list(GroupKFold(4).split(X, Y, QUERY))
ALPHAS = {"alpha": [0.1, 10]}
RAISE = {"error_score": "raise"}
SCORER = make_ndcg_scorer(k=5, group_by="query", undefined=0.0)
BY_NUMBER = make_ndcg_scorer(k=5, group_by=0, undefined=0.0)


# --- scripts that cut queries: the model is trained on the other rows of what it is scored on


def folds_of_shuffled_rows():
    cv = KFold(4, shuffle=True, random_state=0)
    cross_validate(Ridge(), X, Y, scoring=SCORER, cv=cv)


def routed_groups_that_kfold_ignores():
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ndcg_scorer(k=5, undefined=0.0)
        GridSearchCV(Ridge(), ALPHAS, scoring=scorer, cv=KFold(4)).fit(X, Y, groups=QUERY)


def halving_that_draws_rows():
    cv = GroupKFold(4)
    search = HalvingGridSearchCV(Ridge(), ALPHAS, scoring=SCORER, min_resources=80, cv=cv)
    search.fit(X, Y, groups=QUERY)


def another_metric_per_query():
    scorer = make_query_scorer(average_precision_score, group_by="query", undefined=0.0)
    cross_val_score(Ridge(), X, Y > 1, scoring=scorer)


def several_cutoffs():
    scorer = make_ndcg_scorer(k=[1, 5], group_by="query", undefined=0.0)
    cross_validate(Ridge(), X, Y, scoring=scorer)


def choosing_features():
    selector = SequentialFeatureSelector(Ridge(), n_features_to_select=1, scoring=SCORER)
    selector.fit(X, pd.Series(Y, X.index))


def a_ranker_scored_by_hand():
    train, test, y_train, y_test = train_test_split(TABLE, Y, random_state=0)
    GroupedRanker(Ridge(), group_by="query").fit(train, y_train).score(test, y_test)


def a_column_number_where_the_tool_removes_columns():
    ordinal = np.random.default_rng(0).integers(0, 4, (len(Y), 3))
    RFECV(Ridge(), scoring=BY_NUMBER, cv=WHOLE).fit(np.c_[QUERY, ordinal, Y // 2], Y)


def a_column_number_that_then_finds_a_query_in_each_row():
    ranks = np.argsort(np.argsort(Y, kind="stable"))
    selector = RFECV(Ridge(), scoring=BY_NUMBER, cv=WHOLE, min_features_to_select=2)
    selector.fit(np.c_[1000 * QUERY, ranks, Y // 2], Y)


CUT_QUERIES = {
    "a search with cv=5": lambda: GridSearchCV(Ridge(), ALPHAS, scoring=SCORER, cv=5).fit(X, Y),
    "cv is left out": lambda: cross_val_score(Ridge(), X, Y, scoring=SCORER),
    "folds of shuffled rows": folds_of_shuffled_rows,
    "folds stratified by grade": lambda: cross_val_score(
        Ridge(), X, Y, scoring=SCORER, cv=StratifiedKFold(4)
    ),
    "routed groups, which KFold ignores": routed_groups_that_kfold_ignores,
    "groups for a splitter that takes none": lambda: RandomizedSearchCV(
        Ridge(), ALPHAS, n_iter=2, scoring=SCORER, cv=4
    ).fit(X, Y, groups=QUERY),
    "halving by rows": halving_that_draws_rows,
    "another metric per query": another_metric_per_query,
    "several cutoffs": several_cutoffs,
    "a learning curve": lambda: learning_curve(Ridge(), X, Y, scoring=SCORER),
    "a validation curve": lambda: validation_curve(
        Ridge(), X, Y, param_name="alpha", param_range=[0.1, 1], scoring=SCORER
    ),
    "a permutation test": lambda: permutation_test_score(
        Ridge(), X, Y, scoring=SCORER, n_permutations=2
    ),
    "choosing features": choosing_features,
    "a ranker scored by hand on rows of its queries": a_ranker_scored_by_hand,
    "a column number, where the tool removes columns": (
        a_column_number_where_the_tool_removes_columns
    ),
    "a column number that then finds a query in each row": (
        a_column_number_that_then_finds_a_query_in_each_row
    ),
}
WORDS = {  # where the warning is not of a leak
    "halving by rows": r"is scored on \d+ of its \d+ rows.*'n_samples' draws rows",
    "a ranker scored by hand on rows of its queries": r"than in training: .* QuerySplitter",
    "a column number, where the tool removes columns": "pass groups instead of group_by=0",
    "a column number that then finds a query in each row": "pass groups instead of group_by=0",
}


@pytest.mark.filterwarnings("ignore:The column of ids", "ignore:The groups parameter is ignored")
@pytest.mark.parametrize("mistake", CUT_QUERIES)
def test_scripts_that_cut_queries_warn(mistake):
    of_a_leak = r"\d+ of \d+ scored queries .* in the training set.*QuerySplitter"
    with pytest.warns(QueryLeakWarning, match=WORDS.get(mistake, of_a_leak)):
        CUT_QUERIES[mistake]()


# --- scripts that train on ids


@pytest.mark.parametrize(
    ("model", "rows", "scorer"),
    [
        pytest.param(Ridge(), ARRAY, BY_NUMBER, id="ids in an array"),
        pytest.param(Ridge(), TABLE, SCORER, id="ids in a table"),
        pytest.param(make_pipeline(StandardScaler(), Ridge()), TABLE, SCORER, id="scaled ids"),
        pytest.param(make_pipeline(PCA(2), Ridge()), ARRAY, BY_NUMBER, id="ids in components"),
    ],
)
def test_scripts_that_train_on_ids_warn(model, rows, scorer):
    words = r"^The column of ids, group_by=.*, is a feature of Ridge\. Move it to an index level"
    with pytest.warns(UserWarning, match=words) as caught:
        cross_val_score(model, rows, Y, scoring=scorer, cv=WHOLE)
    assert caught[0].filename == __file__


# --- scripts that end in an error


def the_fold_as_one_ranking():
    cross_val_score(Ridge(), X, Y, scoring=make_ndcg_scorer(k=5), error_score="raise")


def rows_drawn_before_the_split():
    scorer = make_ndcg_scorer(group_by="query", undefined=0.0, all_groups=QUERY)
    folds = list(GroupKFold(4).split(X[::2], Y[::2], QUERY[::2]))
    cross_val_score(Ridge(), X[::2], Y[::2], scoring=scorer, cv=folds, error_score="raise")


def ids_of_all_rows_in_a_metric():
    scoring = make_scorer(ndcg_score, groups=QUERY)
    cross_val_score(Ridge(), X, Y, scoring=scoring, cv=GroupKFold(4), groups=QUERY, **RAISE)


def an_array_of_x_and_of_y():
    RFECV(Ridge(), scoring=SCORER, cv=WHOLE).fit(X, pd.Series(Y, X.index))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (the_fold_as_one_ranking, "got no groups"),
        (ids_of_all_rows_in_a_metric, rf"got {len(Y)}\. .* make_ndcg_scorer\(group_by=\.\.\.\)"),
        (an_array_of_x_and_of_y, "makes an array of y .* RFECV .* route .* groups"),
        (rows_drawn_before_the_split, "incomplete: .* than in all_groups"),
    ],
)
def test_scripts_that_cannot_be_scored_are_errors(script, words):
    with pytest.raises(ValueError, match=words):
        script()
