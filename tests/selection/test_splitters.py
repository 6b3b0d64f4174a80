"""QuerySplitter, which applies any splitter to queries, and check_group_splits."""

import pickle
import warnings
from functools import partial

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
    BaseCrossValidator,
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
    learning_curve,
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


@pytest.mark.parametrize("order_by", [None, lambda X: -X.index.to_series().astype("int64")])
@pytest.mark.parametrize("name", SPLITTERS)
def test_the_folds_of_queries_are_those_of_the_inner_splitter(name, order_by, days):
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
    folds = list(splitter.split(X))

    def calibrated(cv):
        model = CalibratedClassifierCV(LogisticRegression(), cv=cv)
        return model.fit(X, y > 0).predict_proba(X)

    np.testing.assert_array_equal(calibrated(splitter), calibrated(folds))
    assert not np.allclose(calibrated(splitter), calibrated(2))
    ranker = GroupedRanker(Ridge(), group_by="day")
    voting = VotingRegressor([("ranker", ranker)]).fit(X, y)
    np.testing.assert_array_equal(voting.predict(X), clone(ranker).fit(X, y).predict(X))


def test_parameters_of_the_inner_splitter(days):
    X, y, _ = days
    splitter = QuerySplitter(KFold(4), group_by="day")
    changed = clone(splitter).set_params(cv=KFold(3, shuffle=True), order_by="a")
    assert (changed.cv.n_splits, changed.cv.shuffle, changed.order_by) == (3, True, "a")
    assert splitter.cv.n_splits == 4
    assert " ".join(repr(splitter).split()) == (
        "QuerySplitter(cv=KFold(n_splits=4, random_state=None, shuffle=False), group_by='day')"
    )
    assert pickle.loads(pickle.dumps(changed)).cv.n_splits == 3  # noqa: S301
    search = GridSearchCV(Ridge(), {"alpha": [1]}, cv=splitter, scoring="r2")
    assert clone(search).set_params(cv__cv=2).fit(X, y).n_splits_ == 2
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
    assert splitter.get_params()["cv"] is n_folds
    assert splitter.cv is n_folds  # asking changes nothing
    stacked, expected = (
        StackingRegressor([("a", Ridge()), ("b", Ridge(2))], cv=clone(cv)).fit(X, y).predict(X)
        for cv in (splitter, kfold)
    )
    np.testing.assert_array_equal(stacked, expected)
    for cv in (splitter, kfold):
        cv.set_params(cv=KFold(3, shuffle=True))
        cv.random_state = 3
    assert repr(splitter) == repr(kfold)
    for found, by_kfold in zip(splitter.split(X, y), kfold.split(X, y), strict=True):
        np.testing.assert_array_equal(found[1], by_kfold[1])


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
    "zoned": lambda when: when.tz_localize("UTC"),
    "periods": lambda when: when.to_period("D"),
    "python dates": lambda when: when.date,
    "text": lambda when: when.strftime("%Y-%m-%d"),
    "numbers": lambda when: when.day_of_year / 2,
    "categories in their order": lambda when: pd.Categorical(
        when.strftime("%d.%m."), when.unique().sort_values().strftime("%d.%m."), ordered=True
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_queries_come_by_their_smallest_value(kind):
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


def test_enums_of_polars_come_in_their_order():
    levels = pl.Series(["low", "high", "mid"], dtype=pl.Enum(["low", "mid", "high"]))
    X = pl.DataFrame({"q": ["b", "c", "a"], "level": levels})
    tests = [int(t[0]) for _, t in QuerySplitter(3, group_by="q", order_by="level").split(X)]
    assert tests == [0, 2, 1]
    by_text = X.with_columns(pl.col("level").cast(pl.Categorical))
    tests = [int(t[0]) for _, t in QuerySplitter(3, group_by="q", order_by="level").split(by_text)]
    assert tests == [1, 0, 2]
    missing = X.with_columns(pl.Series("level", ["low", None, "mid"], dtype=levels.dtype))
    with pytest.raises(ValueError, match="1 missing value, at index 1"):
        next(QuerySplitter(2, group_by="q", order_by="level").split(missing))


def test_training_ends_before_the_days_that_are_tested():
    X, first = hashed_days()
    splitter = QuerySplitter(TimeSeriesSplit(4), group_by="q", order_by="when")
    for train, test in splitter.split(X):
        assert first[X["q"][train]].max() <= first[X["q"][test]].min()


@pytest.mark.parametrize("order_by", [None, "when"])
def test_text_is_no_order_in_time(order_by):
    X, _ = hashed_days()
    splitter = QuerySplitter(TimeSeriesSplit(3), group_by="q", order_by=order_by)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(QuerySplitter(3, group_by="q").split(X))
        list(QuerySplitter(TimeSeriesSplit(3), group_by="q", order_by="q").split(X))
        if order_by:
            list(splitter.split(X))
    if not order_by:
        with pytest.warns(
            UserWarning, match=r"TimeSeriesSplit .* may not sort by time \('0.*order_by="
        ) as caught:
            list(splitter.split(X))
        assert [each.filename for each in caught] == [__file__]


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
def test_which_ids_cannot_be_in_the_order_of_time(ids, warns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(list(QuerySplitter(Later(2)).split(np.zeros((4, 1)), groups=ids))) == 2
    assert len(caught) == warns


def test_bad_values_to_order_by():
    X, _ = hashed_days()
    wrong = {
        "no such column": ("day", X, "order_by='day' names none of the columns"),
        "two columns": (["when", "a"], X, "order_by must name one column.*'when', 'a'"),
        "the values": (X["when"].to_numpy(), X, "order_by must name one column"),
        "an array": ("when", X.to_numpy(), r"order_by='when' is a name, but X .* ndarray.*cv=list\(splitter.split"),
        "no such number": (3, X.to_numpy(), "order_by=3 is not a column of X"),
        "nothing": (lambda X: None, X, "order_by=.* returned None instead of values"),
        "too few": (lambda X: X["when"].to_numpy()[1:], X, "order_by must have one value for each"),
        "reordered": (lambda X: X["when"].sort_values(), X, "X and order_by have the same labels"),
        "NaT": (lambda X: X["when"].where(X.index != 2), X, "order_by has 1 missing value, at index 2. Fill in missing values"),
        "NaN": (lambda X: X["a"].where(X.index < 5), X, rf"{len(X) - 5} missing values.*index 5"),
        "None": (lambda X: [None, *"b" * (len(X) - 1)], X, "1 missing value, at index 0"),
        "no category": (lambda X: pd.Categorical(X["q"].where(X.index != 4)), X, "value.*index 4"),
    }  # fmt: skip
    for order_by, table, words in wrong.values():
        with pytest.raises(ValueError, match=f"(?s){words}"):
            next(QuerySplitter(3, order_by=order_by).split(table, groups=X["q"].to_numpy()))


# --- learning curves


def test_the_first_rows_of_a_training_set_are_whole_queries(days):
    X, y, _ = days
    sizes = X.index.value_counts()
    cut = []

    def count_cut(estimator, X, y):
        found = X.index.value_counts()
        cut.append((found < sizes[found.index]).sum())
        return 0.0

    learning_curve(
        Ridge(), X, y, scoring=count_cut, train_sizes=[11, 23, 37], error_score="raise",
        cv=QuerySplitter(KFold(3, shuffle=True, random_state=0), group_by="day"),
    )  # fmt: skip
    assert len(cut) == 18
    assert max(cut) == 1


@pytest.mark.parametrize("name", ["lightgbm.LGBMRanker", "xgboost.XGBRanker"])
def test_rankers_learn_the_same_from_either_order_of_queries(name, days):
    X, y, _ = days
    module, ranker = name.split(".")
    options = {"n_estimators": 5, "n_jobs": 1} | ({"verbose": -1} if "LGBM" in ranker else {})
    ranker = GroupedRanker(getattr(pytest.importorskip(module), ranker)(**options), group_by="day")
    splitter = QuerySplitter(KFold(3, shuffle=True, random_state=0), group_by="day")
    for train, test in splitter.split(X, y):
        assert (np.diff(train) < 0).any()
        by_query, ascending = (
            ranker.fit(X.iloc[rows], y[rows]).predict(X.iloc[test])
            for rows in (train, np.sort(train))
        )
        np.testing.assert_array_equal(by_query, ascending)


# --- splitters of other libraries


def test_it_is_a_cross_validator_whose_split_takes_groups():
    splitter = QuerySplitter(KFold(3))
    assert isinstance(splitter, BaseCrossValidator)
    assert splitter.get_metadata_routing().split.requests == {"groups": True}
    assert sorted(splitter.get_params(deep=False)) == ["cv", "group_by", "order_by"]


class SeveralTests:
    def split(self, X, y=None, groups=None):
        folds = np.array_split(np.arange(len(X)), 5)
        yield np.concatenate(folds[:2]), folds[2:4]

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1


def test_other_splitters_are_told_the_way_out(days):
    X, y, query = days
    with pytest.raises(ValueError, match=r"fold 0 has 2 test sets.*list of splits: \[") as several:
        list(QuerySplitter(SeveralTests(), group_by="day").split(X, y))
    with pytest.raises(ValueError, match="fold 0 has 2 test sets"):
        check_group_splits(SeveralTests(), X, y, query)
    # the line that the error shows
    line = str(several.value).split("splits: ")[1].removesuffix(".")
    splits = eval(line, {"np": np, "cv": SeveralTests()})  # noqa: S307
    [(_, test)] = QuerySplitter(splits, group_by="day").split(X, y)
    assert len(np.unique(query[test])) == len(splits[0][1])


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
def test_bad_input(name, days):
    X, y, query = days
    splitter, options, error, words = WRONG[name]
    options = {"groups": query} if options else {}
    with pytest.raises(error, match=f"(?s){words}"):
        list(splitter.split(X, y, **options))


@pytest.mark.parametrize("has_y", [True, False])
def test_ids_of_other_rows_are_refused(has_y):
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
    with pytest.raises(ValueError, match="no splits"):
        check_group_splits([], X, groups=query)
    with pytest.raises(ValueError, match="groups must have one id"):
        check_group_splits(KFold(2), X, groups=query[1:])
    with pytest.raises(TypeError, match=r"iterator.*list\(cv\)"):
        check_group_splits(GroupKFold(2).split(X, y, query), X, groups=query)
    with pytest.raises(ValueError, match="cv: fold 0 does not fit 105 rows.*999"):
        check_group_splits([([0, 999], [1])], X, groups=query)
    with pytest.raises(ValueError, match="Expected.*cv"):  # scikit-learn's own
        check_group_splits("five", X, groups=query)


def test_a_query_of_one_row_on_both_sides_is_named():
    with pytest.raises(ValueError, match=r"fold 0 cuts 1 \('a'\)"):
        check_group_splits([(range(3), [0])], np.zeros((3, 1)), groups=["a", "b", "b"])


@pytest.mark.parametrize("texts", [["15.04.2024", "1.5.2024", "02.01.2024"], ["7", "14", "105"]])
def test_text_of_order_by_that_sorts_otherwise_warns(texts):
    X = pd.DataFrame({"query": ["a", "b", "c"], "day": texts})
    splitter = QuerySplitter(TimeSeriesSplit(2), group_by="query", order_by="day")
    with pytest.warns(
        UserWarning, match="TimeSeriesSplit needs the order of time, but the values of order_by"
    ):
        list(splitter.split(X))
    X["day"] = ["2024-04-15", "2024-05-01", "2024-01-02"]
    list(splitter.split(X))
