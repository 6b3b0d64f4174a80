"""Scripts that would print a wrong number: each warns, or ends in an error, and names the mistake.

Tools in worker processes are in test_leaks.py.
"""

import pandas as pd
import pytest
import sklearn
from helpers import graded_rows
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ndcg import (
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
TABLE = FEATURES.assign(query=QUERY)
WHOLE = list(GroupKFold(4).split(X, Y, QUERY))
ALPHAS = {"alpha": [0.1, 10]}
RAISE = {"error_score": "raise"}
SCORER = make_ndcg_scorer(k=5, group_by="query", undefined=0.0)


# --- scripts that cut queries: the model is trained on the other rows of what it is scored on


def folds_of_shuffled_rows():
    cv = KFold(4, shuffle=True, random_state=0)
    cross_validate(Ridge(), X, Y, scoring=SCORER, cv=cv)


def routed_groups_that_kfold_ignores():
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ndcg_scorer(k=5, undefined=0.0)
        GridSearchCV(Ridge(), ALPHAS, scoring=scorer, cv=KFold(4)).fit(X, Y, groups=QUERY)


def another_metric_per_query():
    scorer = make_query_scorer(average_precision_score, group_by="query", undefined=0.0)
    cross_val_score(Ridge(), X, Y > 1, scoring=scorer)


def choosing_features():
    selector = SequentialFeatureSelector(Ridge(), n_features_to_select=1, scoring=SCORER)
    selector.fit(X, pd.Series(Y, X.index))


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
    "another metric per query": another_metric_per_query,
    "a learning curve": lambda: learning_curve(Ridge(), X, Y, scoring=SCORER),
    "a validation curve": lambda: validation_curve(
        Ridge(), X, Y, param_name="alpha", param_range=[0.1, 1], scoring=SCORER
    ),
    "a permutation test": lambda: permutation_test_score(
        Ridge(), X, Y, scoring=SCORER, n_permutations=2
    ),
    "choosing features": choosing_features,
}


@pytest.mark.filterwarnings("ignore:The column of ids", "ignore:The groups parameter is ignored")
@pytest.mark.parametrize("mistake", CUT_QUERIES)
def test_scripts_that_cut_queries_warn(mistake):
    of_a_leak = r"\d+ of \d+ queries of .* rows in the training set.*QuerySplitter"
    with pytest.warns(QueryLeakWarning, match=of_a_leak):
        CUT_QUERIES[mistake]()


# --- scripts that train on ids


@pytest.mark.parametrize(
    ("model", "rows", "scorer"),
    [
        pytest.param(Ridge(), TABLE, SCORER, id="ids in a table"),
        pytest.param(make_pipeline(StandardScaler(), Ridge()), TABLE, SCORER, id="scaled ids"),
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
        (an_array_of_x_and_of_y, "makes an array of y .* RFECV .* pass groups"),
    ],
)
def test_scripts_that_cannot_be_scored_are_errors(script, words):
    with pytest.raises(ValueError, match=words):
        script()
