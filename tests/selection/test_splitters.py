"""QuerySplitter, which applies any splitter to queries, and check_group_splits."""

import pickle
import warnings
from typing import get_args, get_type_hints

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingRegressor, VotingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    LeaveOneOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)

from sklearn_ndcg import GroupedRanker, QuerySplitter, check_group_splits, make_ndcg_scorer

N_QUERIES = 24


@pytest.fixture(name="days")
def _days():
    """Shuffled rows of days, whose ids sort otherwise than they appear."""
    rng = np.random.default_rng(0)
    each = np.datetime64("2012-03-01") + np.arange(N_QUERIES)
    query = rng.permutation(np.repeat(each, rng.integers(1, 8, N_QUERIES)))
    X = pd.DataFrame(rng.normal(size=(len(query), 3)), columns=list("abc"))
    y = np.clip(np.round(X["a"] + rng.normal(size=len(query)) + 1), 0, 3).to_numpy(int)
    return X.set_index(pd.Index(query, name="day")), y, query


SPLITTERS = {
    "int": 4,
    "KFold": KFold(3),
    "shuffled": KFold(4, shuffle=True, random_state=0),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "ShuffleSplit": ShuffleSplit(3, test_size=0.25, random_state=0),
    "sized": ShuffleSplit(2, train_size=5, test_size=4, random_state=0),
    "TimeSeriesSplit": TimeSeriesSplit(4),
    "gap and size": TimeSeriesSplit(3, gap=2, max_train_size=6),
    "LeaveOneOut": LeaveOneOut(),
    "LeavePOut": LeavePOut(N_QUERIES - 1),
    "StratifiedKFold": StratifiedKFold(2),
    "stratified and shuffled": StratifiedShuffleSplit(2, test_size=0.25, random_state=0),
    "stratified and repeated": RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
    "PredefinedSplit": PredefinedSplit(np.arange(N_QUERIES) % 3),
    "splits": [(np.arange(12), np.arange(12, 24)), (np.arange(24) < 20, np.arange(24) >= 20)],
}


@pytest.mark.parametrize("order", ["sorted", "appearance"])
@pytest.mark.parametrize("name", SPLITTERS)
def test_the_folds_of_queries_are_those_of_the_inner_splitter(name, order, days):
    X, y, query = days
    inner, splitter = SPLITTERS[name], QuerySplitter(SPLITTERS[name], order=order)
    ids = np.unique(query) if order == "sorted" else pd.unique(query)
    highest = np.array([y[query == each].max() for each in ids])
    if isinstance(inner, int):
        inner = KFold(inner)
    expected = inner if isinstance(inner, list) else inner.split(ids, highest)
    found = list(splitter.split(X, y, query))
    for (train, test), parts in zip(found, expected, strict=True):
        for rows, queries in zip((train, test), parts, strict=True):
            assert set(query[rows]) == set(ids[queries])
            assert (np.diff(rows) > 0).all()  # every row once
        whole = np.isin(query, query[test])
        np.testing.assert_array_equal(np.flatnonzero(whole), test)
    assert splitter.get_n_splits(X, y, query) == len(found)
    check_group_splits(splitter, X, y, query)


def test_time_series_are_trained_on_earlier_ids_only(days):
    X, y, _ = days
    days = X.index.to_numpy()
    for train, test in QuerySplitter(TimeSeriesSplit(5, gap=2), group_by="day").split(X, y):
        assert days[train].max() + np.timedelta64(2, "D") < days[test].min()


def group_bys(X, query):
    named = X.reset_index(names="day")
    yield X, "day"
    yield named, "day"
    columns = {name: named[name].to_numpy() for name in named}
    yield pl.DataFrame(columns | {"day": query.astype("M8[ms]")}), "day"
    yield np.c_[named[list("abc")], pd.factorize(query, sort=True)[0]], 3
    yield X.to_numpy(), lambda X: query
    yield X.set_index(pd.Index(np.zeros(len(X)), name="k"), append=True), ["k", "day"]


@pytest.mark.parametrize("index", range(6))
def test_group_by_finds_the_queries(index, days):
    X, y, query = days
    table, group_by = list(group_bys(X, query))[index]
    expected = list(QuerySplitter(3).split(X, y, query))
    found = list(QuerySplitter(3, group_by=group_by).split(table, y))
    for one, other in zip(found, expected, strict=True):
        for rows, rows_expected in zip(one, other, strict=True):
            np.testing.assert_array_equal(rows, rows_expected)


def test_group_by_wins_over_groups(days):
    X, y, query = days
    splitter = QuerySplitter(3, group_by="day")
    found = next(splitter.split(X, y, np.arange(len(y))))
    np.testing.assert_array_equal(found[1], next(QuerySplitter(3).split(X, y, query))[1])


def test_no_groups_are_needed_anywhere(days):
    X, y, query = days
    options = {"k": 3, "undefined": 0.0}
    ranker = GroupedRanker(Ridge(), group_by="day")
    scorer = make_ndcg_scorer(group_by="day", **options)
    grid = {"estimator__alpha": [0.1, 1000.0]}
    search = GridSearchCV(
        ranker, grid, scoring=scorer, cv=QuerySplitter(3, group_by="day"), error_score="raise"
    )
    nested = cross_val_score(
        search, X, y, scoring=scorer, cv=QuerySplitter(4, group_by="day"), error_score="raise"
    )
    scores = search.fit(X, y).cv_results_["mean_test_score"]
    stacked = StackingRegressor(
        [("ranker", ranker), ("ridge", Ridge())], cv=QuerySplitter(3, group_by="day")
    ).fit(X, y)
    by_hand = StackingRegressor(
        [("ranker", ranker), ("ridge", Ridge())],
        cv=list(QuerySplitter(3).split(X, y, query)),
    ).fit(X, y)
    np.testing.assert_array_equal(stacked.predict(X), by_hand.predict(X))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = GridSearchCV(
            GroupedRanker(Ridge()), grid, scoring=make_ndcg_scorer(**options), cv=QuerySplitter(3),
            error_score="raise",
        )  # fmt: skip
        nested_routed = cross_val_score(
            routed, X, y, scoring=make_ndcg_scorer(**options), cv=QuerySplitter(4),
            params={"groups": query}, error_score="raise",
        )  # fmt: skip
        routed.fit(X, y, groups=query)
    np.testing.assert_array_equal(routed.cv_results_["mean_test_score"], scores)
    np.testing.assert_array_equal(nested_routed, nested)


@pytest.mark.filterwarnings("ignore:.*L-BFGS-B solver:DeprecationWarning")  # scikit-learn 1.6
def test_calibration_and_voting(days):
    X, y, _ = days
    splitter = QuerySplitter(2, group_by="day")
    CalibratedClassifierCV(LogisticRegression(), cv=splitter).fit(X, y > 0)
    VotingRegressor([("ranker", GroupedRanker(Ridge(), group_by="day"))]).fit(X, y)


def test_parameters_of_the_inner_splitter(days):
    X, y, _ = days
    splitter = QuerySplitter(KFold(4), group_by="day")
    changed = clone(splitter).set_params(cv__n_splits=3, cv__shuffle=True, order="appearance")
    assert (changed.cv.n_splits, changed.cv.shuffle, changed.order) == (3, True, "appearance")
    assert splitter.cv.n_splits == 4
    shared = KFold(4)
    assert QuerySplitter(shared).set_params(cv__n_splits=3).cv.n_splits == 3
    assert shared.n_splits == 4
    assert " ".join(repr(splitter).split()) == (
        "QuerySplitter(cv=KFold(n_splits=4, random_state=None, shuffle=False), group_by='day')"
    )
    assert pickle.loads(pickle.dumps(changed)).cv.n_splits == 3  # noqa: S301
    with pytest.raises(ValueError, match="Invalid parameter 'cv__n_folds'"):
        splitter.set_params(cv__n_folds=3)
    search = GridSearchCV(Ridge(), {"alpha": [1]}, cv=splitter, scoring="r2")
    assert clone(search).set_params(cv__cv__n_splits=2).fit(X, y).n_splits_ == 2
    inner = QuerySplitter(QuerySplitter(3), group_by="day")
    assert inner.set_params(cv__cv=4).cv.cv == 4


def test_what_tools_ask_of_a_splitter_is_answered(days):
    X, y, _ = days
    assert QuerySplitter(KFold(3, shuffle=True, random_state=7)).random_state == 7
    assert QuerySplitter(KFold(3, shuffle=True)).shuffle
    for cv, n_splits in ((4, 4), (np.int64(3), 3), (None, 5), ([([0], [1])] * 2, 2), (KFold(6), 6)):
        splitter = QuerySplitter(cv, group_by="day")
        assert splitter.n_splits == splitter.get_n_splits() == n_splits
        assert len(list(splitter.split(X, y))) == n_splits
        assert repr(clone(splitter)) == repr(splitter)
    for cv, name in (([([0], [1])], "shuffle"), ([([0], [1])], "random_state"),
                     (LeaveOneOut(), "n_splits"), (PredefinedSplit([0, 1]), "random_state")):  # fmt: skip
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(QuerySplitter(cv), name)
    for cv, name in (([([0], [1])], "n_splits"), (3, "n_folds"), (None, "n_folds")):
        splitter = QuerySplitter(cv)
        with pytest.raises(ValueError, match=f"Invalid parameter 'cv__{name}' for QuerySplitter"):
            splitter.set_params(**{f"cv__{name}": 2})
        assert splitter.cv is cv
    changing = QuerySplitter(KFold(3, shuffle=True), group_by="day")
    halving = HalvingGridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=changing, resource="max_iter")
    with pytest.raises(ValueError, match="must yield consistent folds"):
        halving.fit(X, y)
    # stacking sets a random_state where there is none, so that its rankers see the same folds
    StackingRegressor([("a", Ridge()), ("b", Ridge(2))], cv=changing).fit(X, y)


@pytest.mark.parametrize("n_folds", [4, np.int64(4), None])
def test_a_number_of_folds_has_what_kfold_has(n_folds, days):
    X, y, _ = days
    splitter = QuerySplitter(n_folds, group_by="day")
    kfold = QuerySplitter(KFold(splitter.n_splits), group_by="day")
    assert (splitter.shuffle, splitter.random_state) == (False, None)
    for name in ("n_splits", "shuffle", "random_state"):
        assert splitter.get_params()[f"cv__{name}"] == kfold.get_params()[f"cv__{name}"]
    assert splitter.cv is n_folds  # asking changes nothing
    stacked, expected = (
        StackingRegressor([("a", Ridge()), ("b", Ridge(2))], cv=clone(cv)).fit(X, y).predict(X)
        for cv in (splitter, kfold)
    )
    np.testing.assert_array_equal(stacked, expected)
    for cv in (splitter, kfold):
        cv.set_params(cv__n_splits=3, cv__shuffle=True)
        cv.random_state = 3
    assert repr(splitter) == repr(kfold)
    for found, by_kfold in zip(splitter.split(X, y), kfold.split(X, y), strict=True):
        np.testing.assert_array_equal(found[1], by_kfold[1])


def test_editors_are_told_the_names_of_the_orders():
    assert get_args(get_type_hints(QuerySplitter.__init__)["order"]) == ("sorted", "appearance")


WRONG = {
    "no groups": (QuerySplitter(3), {}, ValueError, "got no groups.*group_by="),
    "order": (QuerySplitter(3, order="random"), {"groups": 1}, ValueError, "order must be one of 'sorted'"),
    "iterator": (QuerySplitter(iter([])), {"groups": 1}, TypeError, "cv is an iterator.*list"),
    "group splitter": (QuerySplitter(GroupKFold(3)), {"groups": 1}, ValueError, "GroupKFold splits by group itself"),
    "queries beyond": (QuerySplitter([([0], [24])]), {"groups": 1}, ValueError, "fold 0 does not index 24 queries"),
    "rows": (QuerySplitter(PredefinedSplit(np.arange(100) % 2)), {"groups": 1}, ValueError, "does not index 24"),
    "too few queries": (QuerySplitter(25), {"groups": 1}, ValueError, "n_splits=25"),
    "no such level": (QuerySplitter(3, group_by="week"), {}, ValueError, "group_by='week' names none"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_bad_input(name, days):
    X, y, query = days
    splitter, options, error, words = WRONG[name]
    options = {"groups": query} if options else {}
    with pytest.raises(error, match=f"(?s){words}"):
        list(splitter.split(X, y, **options))


def test_the_number_of_splits_without_data():
    assert QuerySplitter(4).get_n_splits() == 4
    with pytest.raises(ValueError, match="X"):
        QuerySplitter(LeaveOneOut()).get_n_splits()


def test_a_query_drawn_twice_has_its_rows_twice(days):
    X, y, query = days
    [(train, _)] = QuerySplitter([([0, 0, 1], [2])]).split(X, y, query)
    first, second = np.unique(query)[:2]
    assert len(train) == 2 * (query == first).sum() + (query == second).sum()


def test_the_check_of_splits_points_to_the_way_out(days):
    X, y, query = days
    for cv, words in (
        (KFold(3), r"\(2012-03-0\d, .*QuerySplitter\(cv\), which splits queries"),
        (TimeSeriesSplit(3), "QuerySplitter.*in the order of their ids"),
        (3, "QuerySplitter.*, or GroupKFold"),
    ):
        with pytest.raises(ValueError, match=words):
            check_group_splits(cv, X, y, query)


def test_no_warning_comes_of_whole_queries(days):
    X, y, _ = days
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_val_score(
            GroupedRanker(Ridge(), group_by="day"), X, y, cv=QuerySplitter(3, group_by="day"),
            scoring=make_ndcg_scorer(group_by="day", undefined=0.0),
        )  # fmt: skip


def test_the_number_of_splits_of_a_wrong_splitter():
    with pytest.raises(ValueError, match="^GroupKFold splits by group itself"):
        QuerySplitter(GroupKFold(2)).get_n_splits()
    with pytest.raises(TypeError, match="cv is an iterator"):
        QuerySplitter(iter([])).get_n_splits()


def test_y_is_checked_and_nan_is_not_the_highest(days):
    X, y, query = days
    missing = y.astype(float)
    missing[::5] = np.nan
    expected = list(QuerySplitter(StratifiedKFold(2)).split(X, np.nan_to_num(missing), query))
    for given in (missing, missing[:, np.newaxis], pd.DataFrame({"y": missing})):
        found = list(QuerySplitter(StratifiedKFold(2)).split(X, given, query))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one[1], other[1])
    for short in (y[:-1], y[:1]):
        with pytest.raises(ValueError, match=r"y must have one value for each of the \d+ rows"):
            list(QuerySplitter(3).split(X, short, query))
    unordered = np.array([None, *y[1:]], dtype=object)
    assert len(list(QuerySplitter(3).split(X, unordered, query))) == 3


# --- check_group_splits


@pytest.mark.parametrize("convert", [np.asarray, list, pd.Series, lambda q: [f"q{i}" for i in q]])
def test_splits_that_keep_queries_whole(data, convert):
    X, y, query = data
    check_group_splits(GroupKFold(4), X, y, convert(query))
    check_group_splits(list(GroupKFold(4).split(X, y, query)), X, groups=convert(query))
    check_group_splits(GroupKFold(4), X.to_numpy().tolist(), groups=convert(query))


def test_splits_that_cut_are_named():
    X, groups = np.zeros((9, 1)), np.array(["a"] * 3 + ["b"] * 3 + ["c"] * 3)
    words = r"fold 0 cuts 1 \('b'\), fold 1 cuts 1 \('b'\)\. Use a splitter.*GroupKFold"
    with pytest.raises(ValueError, match=words):
        check_group_splits(KFold(2), X, groups=groups)
    with pytest.raises(ValueError, match=r"fold 0 cuts 1 \('b'\)"):
        check_group_splits([(range(3), range(3, 5))], X, groups=groups)  # left out, not in train
    with pytest.raises(ValueError, match=r"fold 0 cuts 1 \('a'\)"):
        check_group_splits([(range(2), range(3, 6))], X, groups=groups)  # cut in training alone
    with pytest.raises(ValueError, match=r"fold 0 cuts 1 \('a'\)"):
        check_group_splits([(range(6), range(3))], X, groups=groups)  # whole, on both sides
    mask = np.arange(9) < 3
    check_group_splits([(mask, ~mask)], X, groups=groups)


def test_many_cut_queries_are_counted(data):
    X, y, query = data
    splitter = ShuffleSplit(1, random_state=0, test_size=0.5)
    [(train, test)] = splitter.split(X)
    cut = sorted(set(query[train]) & set(query[test]))
    first, second, third, *_ = cut
    words = rf"fold 0 cuts {len(cut)} \({first}, {second}, {third}, \.\.\.\)"
    with pytest.raises(ValueError, match=words):
        check_group_splits(splitter, X, y, query)


def test_check_group_splits_bad_input(data):
    X, y, query = data
    with pytest.raises(ValueError, match="groups is missing"):
        check_group_splits(KFold(2), X)
    with pytest.raises(ValueError, match="X is missing"):
        check_group_splits(KFold(2), None, groups=query)
    with pytest.raises(ValueError, match="no splits"):
        check_group_splits([], X, groups=query)
    with pytest.raises(ValueError, match="groups must have one id"):
        check_group_splits(KFold(2), X, groups=query[1:])
    with pytest.raises(TypeError, match=r"iterator.*list\(cv\)"):
        check_group_splits(GroupKFold(2).split(X, y, query), X, groups=query)
    with pytest.raises(ValueError, match="cv: fold 0 does not index 105 rows.*999"):
        check_group_splits([([0, 999], [1])], X, groups=query)
    with pytest.raises(ValueError, match="Expected.*cv"):  # scikit-learn's own
        check_group_splits("five", X, groups=query)


def test_a_query_of_one_row_on_both_sides_is_named():
    with pytest.raises(ValueError, match=r"fold 0 cuts 1 \('a'\)"):
        check_group_splits([(range(3), [0])], np.zeros((3, 1)), groups=["a", "b", "b"])
