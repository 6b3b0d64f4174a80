"""QuerySplitter, which applies any splitter to queries."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import StackingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    check_cv,
    permutation_test_score,
)

from sklearn_ndcg import GroupedRanker, QuerySplitter, make_ndcg_scorer

N_QUERIES = 24


@pytest.fixture(name="days")
def _days():
    """Shuffled rows of days, whose ids are not in the order of their first rows."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2012-03-01") + np.arange(N_QUERIES)
    query = rng.permutation(np.repeat(days, rng.integers(1, 8, N_QUERIES)))
    X = pd.DataFrame(rng.normal(size=(len(query), 3)), columns=list("abc"))
    y = np.clip(np.round(X["a"] + rng.normal(size=len(query)) + 1), 0, 3).to_numpy(int)
    return X.set_index(pd.Index(query, name="day")), y, query


def rows_of(splits):
    return [(train.tolist(), test.tolist()) for train, test in splits]


# --- the splits


@pytest.mark.parametrize("order_by", [None, lambda X: -X.index.to_series().astype("int64")])
@pytest.mark.parametrize(
    "cv",
    [
        pytest.param(4, id="number"),
        pytest.param(KFold(4, shuffle=True, random_state=0), id="shuffled"),
        pytest.param(ShuffleSplit(2, train_size=5, test_size=4, random_state=0), id="sized"),
        pytest.param(TimeSeriesSplit(3, gap=2, max_train_size=6), id="in time"),
        pytest.param(LeaveOneOut(), id="LeaveOneOut"),
        pytest.param(StratifiedShuffleSplit(2, test_size=0.25, random_state=0), id="stratified"),
        pytest.param(PredefinedSplit(np.arange(N_QUERIES) % 3), id="predefined"),
        pytest.param([(np.arange(12), np.arange(12, 24)), ([0], np.arange(24) > 0)], id="splits"),
    ],
)
def test_cv_splits_queries_as_it_splits_samples(cv, order_by, days):
    X, y, query = days
    splitter = QuerySplitter(cv, order_by=order_by)
    ids = np.unique(query)[:: -1 if order_by else 1]
    highest = np.array([y[query == day].max() for day in ids])
    expected = [
        (
            np.concatenate([np.flatnonzero(query == day) for day in ids[train]]).tolist(),
            np.flatnonzero(np.isin(query, ids[test])).tolist(),
        )
        for train, test in check_cv(cv).split(ids, highest)
    ]
    assert rows_of(splitter.split(X, y, query)) == expected
    assert splitter.get_n_splits(X, y, query) == len(expected)


def test_group_by_wins_over_groups(days):
    X, y, query = days
    found = QuerySplitter(3, group_by="day").split(X.reset_index(), y, np.arange(len(y)))
    assert rows_of(found) == rows_of(QuerySplitter(3).split(X, y, query))


def test_a_query_drawn_twice_has_its_rows_twice(days):
    X, y, query = days
    [(train, _)] = QuerySplitter([([0, 0, 1], [2])]).split(X, y, query)
    first, second = np.unique(query)[:2]
    assert len(train) == 2 * (query == first).sum() + (query == second).sum()


@pytest.mark.parametrize("convert", [np.asarray, lambda y: y[:, np.newaxis], pd.DataFrame])
def test_relevance_that_is_nan_is_not_the_highest(convert, days):
    X, y, query = days
    missing = np.where(np.arange(len(y)) % 5 == 0, np.nan, y)
    splitter = QuerySplitter(StratifiedKFold(2))
    expected = rows_of(splitter.split(X, np.nan_to_num(missing), query))
    assert rows_of(splitter.split(X, convert(missing), query)) == expected


def test_relevance_without_an_order_serves_where_nothing_is_stratified(days):
    X, y, query = days
    expected = rows_of(QuerySplitter(3).split(X, y, query))
    for unordered in (np.array([None, *y[1:]], dtype=object), np.c_[y, y]):
        assert rows_of(QuerySplitter(3).split(X, unordered, query)) == expected


# --- parameters and attributes


def test_it_is_a_cross_validator_that_requests_groups():
    splitter = QuerySplitter(KFold(3))
    assert isinstance(splitter, BaseCrossValidator)
    assert splitter.get_metadata_routing().split.requests == {"groups": True}


@pytest.mark.parametrize(
    ("cv", "n_splits"), [(4, 4), (np.int64(3), 3), (None, 5), ([([0], [1])] * 2, 2), (KFold(6), 6)]
)
def test_n_splits_of_any_cv(days, cv, n_splits):
    X, y, _ = days
    splitter = QuerySplitter(cv, group_by="day")
    assert splitter.n_splits == splitter.get_n_splits() == n_splits
    assert len(list(splitter.split(X, y))) == n_splits
    assert splitter.get_params()["cv"] is cv  # asking changes nothing


@pytest.mark.parametrize(
    ("cv", "name"), [([], "shuffle"), ([], "random_state"), (LeaveOneOut(), "n_splits")]
)
def test_attributes_that_cv_lacks_are_missing(cv, name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(QuerySplitter(cv), name)


@pytest.mark.parametrize("cv", [3, KFold(3, shuffle=True)])
def test_stacking_sets_a_random_state_and_sees_whole_queries(cv, days):
    X, y, _ = days
    splitter = QuerySplitter(cv, group_by="day")

    def stacked(cv):
        models = [("ranker", GroupedRanker(Ridge(), group_by="day")), ("ridge", Ridge())]
        return StackingRegressor(models, cv=cv).fit(X, y).predict(X)

    np.testing.assert_array_equal(stacked(splitter), stacked(list(splitter.split(X))))
    assert splitter.random_state is not None


def test_setting_random_state_leaves_the_splitter_that_was_passed(days):
    X, y, _ = days
    kfold = KFold(3, shuffle=True)
    splitter = QuerySplitter(kfold, group_by="day")
    splitter.random_state = 3
    assert (kfold.random_state, splitter.random_state, splitter.shuffle) == (None, 3, True)
    seeded = QuerySplitter(KFold(3, shuffle=True, random_state=3), group_by="day")
    assert rows_of(splitter.split(X, y)) == rows_of(seeded.split(X, y))


def test_splitters_that_need_groups_get_none_of_the_queries():
    with pytest.raises(ValueError, match="The 'groups' parameter should not be None"):
        next(QuerySplitter(GroupKFold(3)).split(np.zeros((12, 1)), groups=np.repeat([0, 1, 2], 4)))


def test_y_that_is_shuffled_within_queries_has_no_labels_of_rows():
    query = np.repeat(np.arange(8), 4)
    index = pd.MultiIndex.from_arrays([query, np.arange(32)], names=["q", "row"])
    X, y = pd.DataFrame({"a": np.arange(32.0)}, index), pd.Series(np.arange(32) % 2, index)
    options = {"groups": query, "n_permutations": 2, "cv": QuerySplitter(2, group_by="q")}
    options |= {"scoring": make_ndcg_scorer(group_by="q")}
    with pytest.raises(ValueError, match="X and y have the same labels in their index"):
        permutation_test_score(Ridge(), X, y, **options)
    score, permuted, _ = permutation_test_score(Ridge(), X, y.to_numpy(), **options)
    assert 0 < score <= 1
    assert ((permuted > 0) & (permuted <= 1)).all()


# --- order_by


def hashed_days(convert=lambda when: when):
    """Rows of text ids in random order beside their days, and the ids by their first day."""
    rng = np.random.default_rng(1)
    rows = np.repeat(np.arange(N_QUERIES), rng.integers(2, 6, N_QUERIES))
    days = pd.Timestamp("2024-03-01") + pd.to_timedelta(rows + rng.integers(0, 3, len(rows)), "D")
    query = np.array([f"{37 * i % 101:03d}-q" for i in range(N_QUERIES)])[rows]
    table = pd.DataFrame({"a": rng.normal(size=len(rows)), "q": query, "when": convert(days)})
    first = pd.Series(days).groupby(query).min().sort_index().sort_values(kind="stable")
    return table.sample(frac=1, random_state=0, ignore_index=True), first.index.tolist()


@pytest.mark.parametrize(
    "convert",
    [
        pytest.param(lambda when: when, id="dates"),
        pytest.param(lambda when: when.strftime("%Y-%m-%d"), id="text"),
        pytest.param(
            lambda when: pd.Categorical(
                when.strftime("%d.%m."), when.unique().sort_values().strftime("%d.%m.")
            ),
            id="categories in their order",
        ),
    ],
)
def test_order_by_sorts_queries_by_their_smallest_value(convert):
    X, expected = hashed_days(convert)
    splitter = QuerySplitter(LeaveOneOut(), order_by="when")
    found = [X["q"][test].unique().tolist() for _, test in splitter.split(X, groups=X["q"])]
    assert found == [[query] for query in expected]


class Later(TimeSeriesSplit):
    pass


def test_order_by_is_asked_for_by_splits_in_time_of_ids_that_are_text():
    X, _ = hashed_days()
    with pytest.warns(UserWarning, match=r"Later .* may not sort by time \('0.*order_by="):
        list(QuerySplitter(Later(3), group_by="q").split(X))


@pytest.mark.parametrize(
    ("cv", "options"),
    [
        (TimeSeriesSplit(3), {"group_by": "q", "order_by": "q"}),
        (TimeSeriesSplit(3), {"group_by": "when"}),
        (3, {"group_by": "q"}),
    ],
    ids=["order_by", "dates", "not in time"],
)
def test_order_by_is_not_asked_for_where_it_does_not_matter(cv, options):
    X, _ = hashed_days()
    list(QuerySplitter(cv, **options).split(X))


def test_order_by_whose_rows_are_in_another_order_is_refused():
    X, _ = hashed_days()
    splitter = QuerySplitter(3, group_by="q", order_by=lambda X: X["when"].sort_values())
    with pytest.raises(ValueError, match="X and order_by have the same labels"):
        next(splitter.split(X))


# --- what does not fit


class GroupBlindKFold(KFold):
    """A splitter with "Group" in its name."""


def test_a_splitter_may_have_any_name(days):
    X, y, query = days
    named = rows_of(QuerySplitter(GroupBlindKFold(3)).split(X, y, query))
    assert named == rows_of(QuerySplitter(KFold(3)).split(X, y, query))


@pytest.mark.parametrize(
    ("cv", "error", "words"),
    [
        (iter([]), TypeError, "cv is an iterator.*list"),
        (
            GroupKFold(3),
            ValueError,
            "The 'groups' parameter should not be None",
        ),
        ([([], [0])], ValueError, "the training set of fold 0 has none of the 24 queries"),
        ([([0], np.zeros(24, bool))], ValueError, "the test set of fold 0 has none"),
        ([([0], [24])], ValueError, "fold 0 does not fit 24 queries"),
        ([([0], [[1], [2]])], ValueError, r"fold 0 has 2 test sets.*list of splits: \["),
    ],
    ids=["iterator", "by group", "no training set", "no test set", "beyond", "two test sets"],
)
def test_cv_that_does_not_fit_is_refused(cv, error, words, days):
    X, y, query = days
    with pytest.raises(error, match=f"(?s){words}"):
        list(QuerySplitter(cv).split(X, y, query))


def test_groups_are_asked_for(days):
    X, y, _ = days
    with pytest.raises(ValueError, match="got no groups.*group_by, which says where in X"):
        list(QuerySplitter(3).split(X, y))


@pytest.mark.parametrize("n_rows", [1, -1])
def test_y_has_a_value_for_each_row(n_rows, days):
    X, y, query = days
    with pytest.raises(ValueError, match=r"y must have one value for each of the \d+ rows"):
        list(QuerySplitter(3).split(X, y[:n_rows], query))
