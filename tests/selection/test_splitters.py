"""QuerySplitter, which applies any splitter to queries, and check_group_splits."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import StackingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    BaseCrossValidator,
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    check_cv,
)

from sklearn_ndcg import GroupedRanker, QuerySplitter, check_group_splits, make_ndcg_scorer

N_QUERIES = 24


@pytest.fixture(name="days")
def _days():
    """Shuffled rows of days, whose ids are not in the order of their first rows."""
    rng = np.random.default_rng(0)
    each = np.datetime64("2012-03-01") + np.arange(N_QUERIES)
    query = rng.permutation(np.repeat(each, rng.integers(1, 8, N_QUERIES)))
    X = pd.DataFrame(rng.normal(size=(len(query), 3)), columns=list("abc"))
    y = np.clip(np.round(X["a"] + rng.normal(size=len(query)) + 1), 0, 3).to_numpy(int)
    return X.set_index(pd.Index(query, name="day")), y, query


def assert_same_splits(found, expected):
    for one, other in zip(found, expected, strict=True):
        for rows, rows_expected in zip(one, other, strict=True):
            np.testing.assert_array_equal(rows, rows_expected)


SPLITTERS = {
    "int": 4,
    "shuffled": KFold(4, shuffle=True, random_state=0),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "sized": ShuffleSplit(2, train_size=5, test_size=4, random_state=0),
    "gap and size": TimeSeriesSplit(3, gap=2, max_train_size=6),
    "LeaveOneOut": LeaveOneOut(),
    "stratified and shuffled": StratifiedShuffleSplit(2, test_size=0.25, random_state=0),
    "PredefinedSplit": PredefinedSplit(np.arange(N_QUERIES) % 3),
    "splits": [(np.arange(12), np.arange(12, 24)), (np.arange(24) < 20, np.arange(24) >= 20)],
}


@pytest.mark.parametrize("order_by", [None, lambda X: -X.index.to_series().astype("int64")])
@pytest.mark.parametrize("name", SPLITTERS)
def test_cv_splits_queries_as_it_splits_samples(name, order_by, days):
    X, y, query = days
    inner, splitter = SPLITTERS[name], QuerySplitter(SPLITTERS[name], order_by=order_by)
    ids = np.unique(query)[:: -1 if order_by else 1]
    highest = np.array([y[query == each].max() for each in ids])
    if isinstance(inner, int):
        inner = KFold(inner)
    expected = inner if isinstance(inner, list) else inner.split(ids, highest)
    found = list(splitter.split(X, y, query))
    for (train, test), parts in zip(found, expected, strict=True):
        by_hand = [np.flatnonzero(query == each) for each in ids[parts[0]]]
        np.testing.assert_array_equal(train, np.concatenate(by_hand))
        by_hand = np.flatnonzero(np.isin(query, ids[parts[1]]))
        np.testing.assert_array_equal(test, by_hand)
    assert splitter.get_n_splits(X, y, query) == len(found)
    check_group_splits(splitter, X, y, query)


class Pairs:
    """A data set as in torch: features and target of a row."""

    def __init__(self, X, y):
        self.rows = list(zip(X, y, strict=True))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, row):
        return self.rows[row]


WAYS = {  # X and the group_by that finds its ids; more containers in tests/rows/test_columns.py
    "column": lambda X, query: (X.reset_index(), "day"),
    "array": lambda X, query: (np.c_[X, pd.factorize(query, sort=True)[0]], 3),
    "data set": lambda X, query: (Pairs(X.to_numpy(), query), lambda pairs: query),
    "two levels": lambda X, query: (X.assign(k=0).set_index("k", append=True), ["k", "day"]),
}


@pytest.mark.parametrize("way", WAYS)
def test_group_by_finds_the_queries_and_wins_over_groups(way, days):
    X, y, query = days
    table, group_by = WAYS[way](X, query)
    found = QuerySplitter(3, group_by=group_by).split(table, y, np.arange(len(y)))
    assert_same_splits(found, QuerySplitter(3).split(X, y, query))


def test_group_by_in_stacking(days):
    X, y, _ = days
    splitter = QuerySplitter(2, group_by="day")

    def stacked(cv):
        models = [("ranker", GroupedRanker(Ridge(), group_by="day")), ("ridge", Ridge())]
        return StackingRegressor(models, cv=cv).fit(X, y).predict(X)

    np.testing.assert_array_equal(stacked(splitter), stacked(list(splitter.split(X))))
    assert not np.allclose(stacked(splitter), stacked(2))


def test_cv_has_parameters_of_its_own(days):
    X, y, _ = days
    splitter = QuerySplitter(KFold(4), group_by="day")
    changed = clone(splitter).set_params(cv=KFold(3, shuffle=True), order_by="a")
    assert (changed.cv.n_splits, changed.cv.shuffle, changed.order_by) == (3, True, "a")
    assert splitter.cv.n_splits == 4
    search = GridSearchCV(Ridge(), {"alpha": [1]}, cv=splitter, scoring="r2")
    assert clone(search).set_params(cv__cv=2).fit(X, y).n_splits_ == 2


@pytest.mark.parametrize(
    ("cv", "n_splits"), [(4, 4), (np.int64(3), 3), (None, 5), ([([0], [1])] * 2, 2), (KFold(6), 6)]
)
def test_n_splits_of_any_cv(days, cv, n_splits):
    X, y, _ = days
    splitter = QuerySplitter(cv, group_by="day")
    assert splitter.n_splits == splitter.get_n_splits() == n_splits
    assert len(list(splitter.split(X, y))) == n_splits
    assert repr(clone(splitter)) == repr(splitter)


@pytest.mark.parametrize(
    ("cv", "name"), [([], "shuffle"), ([], "random_state"), (LeaveOneOut(), "n_splits")]
)
def test_attributes_that_cv_lacks_are_missing(cv, name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(QuerySplitter(cv), name)


def test_shuffle_and_random_state_of_cv_are_seen_by_tools(days):
    X, y, _ = days
    assert QuerySplitter(KFold(3, shuffle=True, random_state=7)).random_state == 7
    changing = QuerySplitter(KFold(3, shuffle=True), group_by="day")
    assert changing.shuffle
    halving = HalvingGridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=changing, resource="max_iter")
    with pytest.raises(ValueError, match="must yield consistent folds"):
        halving.fit(X, y)
    # stacking sets a random_state where there is none, so that its rankers see the same folds
    StackingRegressor([("a", Ridge())], cv=changing).fit(X, y)
    assert changing.random_state is not None


@pytest.mark.parametrize("cv", [4, np.int64(4), None])
def test_cv_that_is_a_number_has_what_kfold_has(cv, days):
    X, y, _ = days
    splitter = QuerySplitter(cv, group_by="day")
    kfold = QuerySplitter(KFold(splitter.n_splits), group_by="day")
    assert (splitter.shuffle, splitter.random_state) == (False, None)
    assert splitter.get_params()["cv"] is splitter.cv is cv  # asking changes nothing
    StackingRegressor([("a", Ridge())], cv=splitter).fit(X, y)  # which sets a random_state
    for each in (splitter, kfold):
        each.set_params(cv=KFold(3, shuffle=True))
        each.random_state = 3
    assert repr(splitter) == repr(kfold)
    assert_same_splits(splitter.split(X, y), kfold.split(X, y))


def test_setting_random_state_leaves_the_splitter_that_was_passed(days):
    X, y, _ = days
    kfold = KFold(3, shuffle=True)
    splitter = QuerySplitter(kfold, group_by="day")
    splitter.random_state = 3
    assert (kfold.random_state, splitter.random_state) == (None, 3)
    seeded = QuerySplitter(KFold(3, shuffle=True, random_state=3), group_by="day")
    assert_same_splits(splitter.split(X, y), seeded.split(X, y))


# --- order_by


def hashed_days(convert=lambda when: when):
    """Rows of text ids in random order beside their days, and the first day of each id."""
    rng = np.random.default_rng(1)
    rows = np.repeat(np.arange(N_QUERIES), rng.integers(2, 6, N_QUERIES))
    days = pd.Timestamp("2024-03-01") + pd.to_timedelta(rows + rng.integers(0, 3, len(rows)), "D")
    query = np.array([f"{37 * i % 101:03d}-q" for i in range(N_QUERIES)])[rows]
    table = pd.DataFrame({"a": rng.normal(size=len(rows)), "q": query, "when": convert(days)})
    order = rng.permutation(len(rows))
    first = pd.Series(days, name="day").groupby(query).min()
    return table.iloc[order].reset_index(drop=True), first


KINDS = {
    "dates": lambda when: when,
    "periods": lambda when: when.to_period("D"),
    "text": lambda when: when.strftime("%Y-%m-%d"),
    "fractions": lambda when: when.day_of_year / 2,
    "categories in their order": lambda when: pd.Categorical(
        when.strftime("%d.%m."), when.unique().sort_values().strftime("%d.%m."), ordered=True
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_order_by_sorts_queries_by_their_smallest_value(kind):
    X, first = hashed_days(KINDS[kind])
    expected = first.sort_index().sort_values(kind="stable").index
    tables = {"when": X, 2: X.to_numpy(), "level": X.set_index(X["when"].rename("level"))}
    tables[lambda X: X["when"]] = X
    for order_by, table in tables.items():
        if kind == "categories in their order" and order_by == 2:
            continue  # an array has no categories
        splitter = QuerySplitter(LeaveOneOut(), order_by=order_by)
        ids = [X["q"][test].unique().tolist() for _, test in splitter.split(table, groups=X["q"])]
        assert ids == [[each] for each in expected]


def test_order_by_enums_of_polars():
    levels = pl.Series(["low", "high", "mid"], dtype=pl.Enum(["low", "mid", "high"]))
    X = pl.DataFrame({"q": ["b", "c", "a"], "level": levels})
    splitter = QuerySplitter(3, group_by="q", order_by="level")
    assert [int(test[0]) for _, test in splitter.split(X)] == [0, 2, 1]
    by_text = X.with_columns(pl.col("level").cast(pl.Categorical))
    assert [int(test[0]) for _, test in splitter.split(by_text)] == [1, 0, 2]
    missing = X.with_columns(pl.Series("level", ["low", None, "mid"], dtype=levels.dtype))
    with pytest.raises(ValueError, match="1 missing value, at index 1"):
        next(splitter.split(missing))


def test_order_by_is_asked_for_where_time_series_have_ids_of_text():
    X, _ = hashed_days()
    splitter = QuerySplitter(TimeSeriesSplit(3), group_by="q")
    words = r"TimeSeriesSplit .* may not sort by time \('0.*order_by="
    with pytest.warns(UserWarning, match=words) as caught:
        list(splitter.split(X))
    assert [each.filename for each in caught] == [__file__]
    splitter.set_params(order_by="q")
    list(splitter.split(X))
    list(QuerySplitter(3, group_by="q").split(X))


class Later(TimeSeriesSplit):
    pass


@pytest.mark.parametrize(
    ("ids", "warns"),
    [
        (["a", "b", "c", "d"], True),
        (["9", "10", "11", "12"], True),
        (["1.3.2024", "2.3.2024", "3.3.2024", "4.3.2024"], True),
        (["2024-1", "2024-2", "2024-10", "2024-11"], True),
        ([("u", 1), ("u", 2), ("v", 1), ("v", 2)], True),
        (["2024-03-29", "2024-03-30", "2024-03-31", "2024-04-01"], False),
        (["2024-03-29 10:00", "2024-03-29 11:00", "2024-03-30 10:00", "2024-04-01 10:00"], False),
        (["20240329", "20240330", "20240331", "20240401"], False),
        (["20240329T10", "20240330T10", "20240331T10", "20240401T10"], False),
        (["2024-W08", "2024-W09", "2024-W10", "2024-W11"], False),
        (["2023Q4", "2024Q1", "2024Q2", "2024Q3"], False),
        (["008", "009", "010", "011"], False),
        ([8, 9, 10, 11], False),
        ([("2024-03-29", "u"), ("2024-03-30", "u"), ("2024-03-30", "v"), ("2024-03-31", "u")], False),
        (np.arange(4).astype("M8[D]"), False),
        (list(pd.date_range("2024", periods=4).date), False),
    ],
)  # fmt: skip
def test_order_by_is_asked_for_by_ids_that_may_not_sort_by_time(ids, warns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(list(QuerySplitter(Later(2)).split(np.zeros((4, 1)), groups=ids))) == 2
    assert len(caught) == warns


BAD_ORDERS = {  # more in tests/rows/test_columns.py
    "no such column": ("day", "order_by='day' names none of the columns"),
    "too few": (lambda X: X["when"].to_numpy()[1:], "order_by must have one value for each"),
    "reordered": (lambda X: X["when"].sort_values(), "X and order_by have the same labels"),
    "NaT": (lambda X: X["when"].where(X.index != 2), "order_by has 1 missing value, at index 2"),
    "NaN": (lambda X: X["a"].where(X.index < 5), r"\d+ missing values.*index 5"),
    "None": (lambda X: [None, *"b" * (len(X) - 1)], "1 missing value, at index 0"),
    "no category": (lambda X: pd.Categorical(X["q"].where(X.index != 4)), "value.*index 4"),
}


@pytest.mark.parametrize("name", BAD_ORDERS)
def test_order_by_that_is_no_order_is_refused(name):
    X, _ = hashed_days()
    order_by, words = BAD_ORDERS[name]
    with pytest.raises(ValueError, match=f"(?s){words}"):
        next(QuerySplitter(3, order_by=order_by).split(X, groups=X["q"].to_numpy()))


# --- splitters of other libraries


def test_it_is_a_cross_validator_that_requests_groups():
    splitter = QuerySplitter(KFold(3))
    assert isinstance(splitter, BaseCrossValidator)
    assert splitter.get_metadata_routing().split.requests == {"groups": True}


def test_cv_of_several_test_sets_is_told_the_way_out(days):
    X, y, query = days
    several = [(np.arange(10), [np.arange(10, 15), np.arange(15, 20)])]
    with pytest.raises(ValueError, match=r"fold 0 has 2 test sets.*list of splits: \[") as raised:
        list(QuerySplitter(several, group_by="day").split(X, y))
    with pytest.raises(ValueError, match="fold 0 has 2 test sets"):
        check_group_splits(several, X, y, query)
    # the line that the error shows
    line = str(raised.value).split("splits: ")[1].removesuffix(".")
    splits = eval(line, {"np": np, "cv": check_cv(several)})  # noqa: S307
    [(_, test)] = QuerySplitter(splits, group_by="day").split(X, y)
    assert len(np.unique(query[test])) == 10


WRONG = {
    "no groups": (QuerySplitter(3), {}, ValueError, "got no groups.*group_by, which says where in X"),
    "iterator": (QuerySplitter(iter([])), {"groups": 1}, TypeError, "cv is an iterator.*list"),
    "group splitter": (QuerySplitter(GroupKFold(3)), {"groups": 1}, ValueError, "GroupKFold splits by group itself.*pass groups= .*QuerySplitter.5, group_by=...., with a number of"),
    "no training set": (QuerySplitter([([], [0])]), {"groups": 1}, ValueError, "the training set of fold 0 has none of the 24 queries"),
    "no test set": (QuerySplitter([([0], np.zeros(24, bool))]), {"groups": 1}, ValueError, "the test set of fold 0 has none"),
    "queries beyond": (QuerySplitter([([0], [24])]), {"groups": 1}, ValueError, "fold 0 does not fit 24 queries"),
    "rows": (QuerySplitter(PredefinedSplit(np.arange(100) % 2)), {"groups": 1}, ValueError, "does not fit 24"),
    "too few queries": (QuerySplitter(25), {"groups": 1}, ValueError, "n_splits=25"),
    "no such level": (QuerySplitter(3, group_by="week"), {}, ValueError, "group_by='week' names none"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_cv_and_groups_that_do_not_fit_are_refused(name, days):
    X, y, query = days
    splitter, options, error, words = WRONG[name]
    options = {"groups": query} if options else {}
    with pytest.raises(error, match=f"(?s){words}"):
        list(splitter.split(X, y, **options))


@pytest.mark.parametrize("has_y", [True, False])
def test_groups_of_other_rows_are_refused(has_y):
    X = pd.DataFrame({"a": np.arange(40.0)})
    query = pd.Series(np.arange(40) // 4)
    part, y = X[20:], X["a"][20:] if has_y else None
    words = "groups has labels in its index that the index of X and y lacks: 20 rows"
    for split in (QuerySplitter(2).split, partial(check_group_splits, GroupKFold(2))):
        for groups in (query[20:], query[:20].to_numpy()):
            list(split(part, y, groups) or ())
        with pytest.raises(ValueError, match=words):
            list(split(part, y, query[:20]))
    if has_y:
        with pytest.raises(ValueError, match=words):
            make_ndcg_scorer()(Ridge().fit(X, X["a"]), part, y, groups=query[:20])


def test_get_n_splits_without_data():
    assert QuerySplitter(4).get_n_splits() == 4
    for cv, error, words in (
        (LeaveOneOut(), ValueError, "X"),
        (GroupKFold(2), ValueError, "^GroupKFold splits by group itself"),
        (iter([]), TypeError, "cv is an iterator"),
    ):
        with pytest.raises(error, match=words):
            QuerySplitter(cv).get_n_splits()


def test_a_query_drawn_twice_has_its_rows_twice(days):
    X, y, query = days
    [(train, _)] = QuerySplitter([([0, 0, 1], [2])]).split(X, y, query)
    first, second = np.unique(query)[:2]
    assert len(train) == 2 * (query == first).sum() + (query == second).sum()


def test_y_is_checked_and_nan_is_not_the_highest(days):
    X, y, query = days
    missing = y.astype(float)
    missing[::5] = np.nan
    expected = list(QuerySplitter(StratifiedKFold(2)).split(X, np.nan_to_num(missing), query))
    for given in (missing, missing[:, np.newaxis], pd.DataFrame({"y": missing})):
        assert_same_splits(QuerySplitter(StratifiedKFold(2)).split(X, given, query), expected)
    for short in (y[:-1], y[:1]):
        with pytest.raises(ValueError, match=r"y must have one value for each of the \d+ rows"):
            list(QuerySplitter(3).split(X, short, query))
    unordered = np.array([None, *y[1:]], dtype=object)
    assert len(list(QuerySplitter(3).split(X, unordered, query))) == 3


# --- check_group_splits


def test_check_group_splits_passes_whole_queries(data):
    X, y, query = data
    check_group_splits(GroupKFold(4), X, y, query)
    check_group_splits(list(GroupKFold(4).split(X, y, query)), X, groups=query.tolist())
    check_group_splits(GroupKFold(4), X.to_numpy().tolist(), groups=query)
    check_group_splits([(query < 9, query >= 9)], X, groups=query)


CUTS = {
    "two folds": (KFold(2), r"fold 0 cuts 1 \('b'\), fold 1 cuts 1 \('b'\)\. Use .*QuerySplitter"),
    "a number": (2, "QuerySplitter.*, which splits .* in the order of their ids, or GroupKFold"),
    "left out, not in train": ([(range(3), range(3, 5))], r"fold 0 cuts 1 \('b'\)"),
    "cut in training alone": ([(range(2), range(3, 6))], r"fold 0 cuts 1 \('a'\)"),
    "whole, on both sides": ([(range(6), range(3))], r"fold 0 cuts 1 \('a'\)"),
    "three": ([(range(0, 9, 2), range(1, 9, 2))], r"fold 0 cuts 3 \('a', 'b', 'c'\)"),
    "a single row on both sides": ([(range(9), [8])], r"fold 0 cuts 1 \('d'\)"),
}


@pytest.mark.parametrize("name", CUTS)
def test_check_group_splits_names_the_queries_that_are_cut(name):
    cv, words = CUTS[name]
    with pytest.raises(ValueError, match=words):
        check_group_splits(cv, np.zeros((9, 1)), groups=[*"aaabbbccd"])


@pytest.mark.parametrize(
    ("cv", "groups", "error", "words"),
    [
        (KFold(2), None, ValueError, "groups is missing"),
        ([], [1, 2, 3], ValueError, "no splits"),
        (KFold(2), [1, 2], ValueError, "groups must have one id"),
        (iter([]), [1, 2, 3], TypeError, r"iterator.*list\(cv\)"),
        ([([0, 999], [1])], [1, 2, 3], ValueError, "cv: fold 0 does not fit 3 rows.*999"),
        ("five", [1, 2, 3], ValueError, "Expected.*cv"),  # scikit-learn's own
    ],
)
def test_check_group_splits_refuses_what_does_not_fit(cv, groups, error, words):
    with pytest.raises(error, match=words):
        check_group_splits(cv, np.zeros((3, 1)), groups=groups)
