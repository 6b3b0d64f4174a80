"""Cut queries are seen in every tool of scikit-learn: these tests fail if it renames variables."""

import re
import warnings
from contextlib import contextmanager
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import graded_rows
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import Ridge, SGDRegressor
from sklearn.metrics import average_precision_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    LeaveOneGroupOut,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)

from sklearn_ndcg import (
    GroupedRanker,
    QueryLeakWarning,
    make_ndcg_scorer,
    make_query_scorer,
    one_ranking,
)
from sklearn_ndcg._selection import tool_splits

pytestmark = [  # of cut queries
    pytest.mark.filterwarnings("ignore:.*a single document"),
    pytest.mark.filterwarnings("ignore:NDCG is undefined"),
]
X, Y, QUERY = graded_rows(n_queries=30)
N_ROWS = np.bincount(QUERY)
LEVEL = X.set_index(pd.Index(QUERY, name="q"))
CUT = KFold(3, shuffle=True, random_state=0)
WHOLE = list(GroupKFold(3).split(X, Y, QUERY))
SCORER = make_ndcg_scorer(k=3, group_by="q", undefined=0.0)
GRID = {"alpha": [0.1, 10]}


@contextmanager
def no_leak():
    with warnings.catch_warnings():
        warnings.simplefilter("error", QueryLeakWarning)
        yield


def leaks(caught):
    return [str(each.message) for each in caught if each.category is QueryLeakWarning]


# ---- every tool, and every way of passing the ids


def search(kind, X, y, params, *, scoring, cv, **options):
    model = kind(Ridge(), GRID, scoring=scoring, cv=cv, error_score="raise", **options)
    model.fit(X, y, **params)


def select(kind, X, y, params, **options):
    kind(Ridge(), **options).fit(X, y, **params)


def call(function, X, y, params, *, model=Ridge(), **options):  # noqa: B008
    function(model, X, y, **options, **({"params": params} if params else {}))


def several(X, y, params, *, scoring, cv):
    scorers = {"first": scoring, "second": clone(scoring).set_params(response_method="predict")}
    scores = {"scoring": scorers, "return_train_score": True, "error_score": "raise"}
    call(cross_validate, X, y, params, cv=cv, **scores)


RAISE = {"error_score": "raise"}
TOOLS = {
    "cross_val_score": partial(call, cross_val_score, **RAISE),
    "cross_validate": several,
    "GridSearchCV": partial(search, GridSearchCV, return_train_score=True),
    "RandomizedSearchCV": partial(search, RandomizedSearchCV, n_iter=2, random_state=0),
    "HalvingGridSearchCV": partial(search, HalvingGridSearchCV, resource="max_iter", min_resources=30, max_resources=90),
    "learning_curve": partial(call, learning_curve, **RAISE),
    "learning_curve, incremental": partial(call, learning_curve, model=SGDRegressor(), exploit_incremental_learning=True, **RAISE),
    "validation_curve": partial(call, validation_curve, param_name="alpha", param_range=[0.1, 1], **RAISE),
    "permutation_test_score": partial(call, permutation_test_score, n_permutations=2),
    "SequentialFeatureSelector": partial(select, SequentialFeatureSelector, n_features_to_select=2),
    "RFECV": partial(select, RFECV),
}  # fmt: skip
WAYS = {  # X, `group_by`, the name of the routed ids
    "level": (LEVEL, "q", None),
    "levels": (LEVEL.set_index(pd.Index(QUERY // 5, name="r"), append=True), ["r", "q"], None),
    "column": (X.assign(q=QUERY), "q", None),
    "number": (np.c_[X, QUERY], 3, None),
    "callable": (LEVEL, lambda X: X.groupby(X.index).ngroup().to_numpy(), None),
    "routed": (X, None, "groups"),
    "alias": (X, None, "session"),
}
MAKES_ARRAYS = {"SequentialFeatureSelector", "RFECV"}


@pytest.mark.filterwarnings("ignore:The column of ids")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tool", TOOLS)
def test_cut_queries_are_seen_and_whole_queries_are_not_warned_of(tool, way):
    if tool in MAKES_ARRAYS and way not in {"routed", "alias"}:
        pytest.skip("in docs/compatibility.md: X is an array")
    rows, group_by, routed = WAYS[way]
    if "incremental" in tool and routed and sklearn.__version__ < "1.9":
        pytest.skip("scikit-learn passes the scorer more groups than rows")
    with sklearn.config_context(enable_metadata_routing=bool(routed)):
        scorer = make_ndcg_scorer(k=3, group_by=group_by, undefined=0.0)
        if routed == "session":
            scorer.set_score_request(groups="session")
        params = {routed: QUERY} if routed else {}
        with pytest.warns(QueryLeakWarning) as caught:
            TOOLS[tool](rows, Y, params, scoring=scorer, cv=CUT)
        assert {each.filename for each in caught} == {__file__}
        in_folds = [np.bincount(QUERY[test], minlength=30) for _, test in CUT.split(X)]
        counts = {f"{np.sum((n > 0) & (n < N_ROWS))} of the {np.sum(n > 0)}" for n in in_folds}
        assert {message.split(" scored")[0] for message in leaks(caught)} == counts
        with no_leak():
            TOOLS[tool](rows, Y, params, scoring=scorer, cv=WHOLE)


def test_the_warning_has_an_example_and_says_what_to_do():
    test = np.flatnonzero(QUERY != 4)[::2]
    n_here = np.bincount(QUERY[test], minlength=30)
    first = np.flatnonzero((n_here > 0) & (n_here < N_ROWS))[0]
    words = (
        f"than in the whole X: query {first} has {n_here[first]} here and {N_ROWS[first]} there. The"
        r" model .* QuerySplitter .* GroupKFold.*\.simplefilter\('ignore', QueryLeakWarning\)\.$"
    )
    with pytest.warns(QueryLeakWarning, match=words):
        cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=[(np.flatnonzero(QUERY == 4), test)])


def test_rows_that_a_halving_search_draws_are_seen():
    halving = HalvingGridSearchCV(Ridge(), GRID, min_resources=60, scoring=SCORER, cv=GroupKFold(3))
    with pytest.warns(QueryLeakWarning, match="resource='n_samples' draws rows"):
        halving.fit(LEVEL, Y, groups=QUERY)


def test_other_metrics_and_several_cutoffs_see_the_same():
    y = (Y > 0).astype(int)
    by_query = {"group_by": "q", "undefined": 0.0}
    for scorer in (
        make_query_scorer(average_precision_score, **by_query),
        make_ndcg_scorer(k=[1, 3], **by_query),
    ):
        with pytest.warns(QueryLeakWarning):
            cross_validate(Ridge(), LEVEL, y, scoring=scorer, cv=CUT, error_score="raise")
        with no_leak():
            cross_validate(Ridge(), LEVEL, y, scoring=scorer, cv=WHOLE, error_score="raise")


def test_two_kinds_of_queries_in_one_search():
    rows = LEVEL.set_index(pd.Index(QUERY // 3, name="country"), append=True)
    scoring = {by: clone(SCORER).set_params(group_by=by) for by in ("q", "country")}
    with pytest.warns(QueryLeakWarning) as caught:
        cross_validate(Ridge(), rows, Y, scoring=scoring, cv=WHOLE, error_score="raise")
    assert len(leaks(caught)) == 3  # countries are cut
    with sklearn.config_context(enable_metadata_routing=True):
        scoring = {name: make_ndcg_scorer(undefined=0.0) for name in ("groups", "country")}
        scoring["country"].set_score_request(groups="country")
        params = {"groups": QUERY, "country": QUERY // 3}
        with pytest.warns(QueryLeakWarning) as caught:
            cross_validate(Ridge(), X, Y, scoring=scoring, cv=GroupKFold(3), params=params)
    assert len(leaks(caught)) == 3


# ---- the nearest split counts, and only what a tool scores


def test_of_nested_searches_each_sees_its_own_split():
    search = GridSearchCV(Ridge(), GRID, scoring=SCORER, cv=CUT, error_score="raise")
    with pytest.warns(QueryLeakWarning) as caught:
        cross_val_score(search, LEVEL, Y, scoring=SCORER, cv=WHOLE, error_score="raise")
    assert len(leaks(caught)) == 3 * 3 * 2  # of inner folds and candidates
    with pytest.warns(QueryLeakWarning) as caught:
        cross_val_score(InnerSearch(), LEVEL, Y, scoring=SCORER, cv=CUT, error_score="raise")
    assert len(leaks(caught)) == 3  # of outer folds


class InnerSearch(RegressorMixin, BaseEstimator):
    """A search over whole queries, in an estimator."""

    def fit(self, X, y):
        search = GridSearchCV(Ridge(), GRID, scoring=SCORER, cv=LeaveOneGroupOut())
        self.search_ = search.fit(X, y, groups=X.index % 3)
        return self

    def predict(self, X):
        return self.search_.predict(X)


def test_training_rows_and_hand_made_calls_say_nothing():
    with no_leak():
        SCORER(Ridge().fit(LEVEL, Y), LEVEL[::2], Y[::2])
        learning_curve(Ridge(), LEVEL, Y, scoring=SCORER, cv=WHOLE, train_sizes=[20])


def test_folds_that_are_one_ranking_and_a_single_id_are_not_cut():
    for group_by in (one_ranking, "one"):
        scorer = make_ndcg_scorer(group_by=group_by)
        rows = X.set_index(pd.Index(np.zeros(len(X)), name="one"))
        with no_leak():
            cross_val_score(Ridge(), rows, Y, scoring=scorer, cv=CUT, error_score="raise")


def test_splits_may_be_masks():
    half = np.arange(len(Y)) % 2 == 0
    with pytest.warns(QueryLeakWarning):
        cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=[(half, ~half)])
    known = QUERY < 15
    with no_leak():
        cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=[(known, ~known)])


@pytest.mark.parametrize("scoring", [SCORER, None])
def test_a_ranker_is_warned_of_once_per_fold(scoring):
    ranker = GroupedRanker(Ridge(), group_by="q")
    with pytest.warns(QueryLeakWarning) as caught:
        cross_val_score(ranker, LEVEL, Y, scoring=scoring, cv=CUT, error_score="raise")
    assert len(leaks(caught)) == 3


# ---- how it looks


def test_ids_of_all_rows_are_read_once_per_search():
    calls = []

    def group_by(X):
        calls.append(len(X))
        return X.index

    scorer = make_ndcg_scorer(group_by=group_by, undefined=0.0)
    for _ in range(2):
        GridSearchCV(Ridge(), GRID, scoring=scorer, cv=WHOLE, refit=False).fit(LEVEL, Y)
        assert calls.count(len(X)) == 1
        assert len(calls) == 1 + 2 * 3
        calls.clear()


def test_ids_that_change_in_place_between_searches_are_read_again():
    rows = X.assign(q=QUERY).to_numpy()
    scorer = make_ndcg_scorer(group_by=lambda X: X[:, 3], undefined=0.0)
    with no_leak():
        cross_val_score(Ridge(), rows, Y, scoring=scorer, cv=WHOLE)
    rows[:, 3] = np.arange(len(Y)) // 8
    with pytest.warns(QueryLeakWarning):
        cross_val_score(Ridge(), rows, Y, scoring=scorer, cv=WHOLE)


@pytest.mark.parametrize("names", [{"fit"}, {"cross_val_score"}, set()])
def test_other_names_in_scikit_learn_are_no_error(monkeypatch, names):
    monkeypatch.setattr(tool_splits, "FUNCTIONS", names)
    with no_leak():
        scores = cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=CUT, error_score="raise")
    assert np.isfinite(scores).all()


@pytest.mark.filterwarnings("ignore:The column of ids")
def test_columns_that_a_tool_has_removed():
    """A column number as `group_by` then finds another column."""
    ordinal = np.random.default_rng(0).integers(0, 4, (len(Y), 3))
    rows, scorer = np.c_[QUERY, ordinal].astype(float), make_ndcg_scorer(group_by=0, undefined=0.0)
    rows[:, 1] += 2 * Y
    for tool in ("RFECV", "SequentialFeatureSelector"):
        with pytest.warns(QueryLeakWarning) as caught:
            TOOLS[tool](rows, Y, {}, scoring=scorer, cv=WHOLE)
        words = r"another number .* If a tool removes columns, pass groups instead of group_by=0\."
        assert any(re.search(words, message) for message in leaks(caught))


def test_threads_see_it_too():
    with parallel_config("threading", n_jobs=2), pytest.warns(QueryLeakWarning):
        GridSearchCV(Ridge(), GRID, scoring=SCORER, cv=CUT).fit(LEVEL, Y)
