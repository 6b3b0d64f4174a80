"""Query ids, in any container."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import IDS, S, Y, follow
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from sklearn_ndcg import (
    GroupedRanker,
    QuerySplitter,
    make_ndcg_scorer,
    ndcg_score,
)
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.label_texts import shown_labels
from sklearn_ndcg.inference import ndcg_by_segment, ndcg_interval


class Tensor:
    """A 0-d tensor as in torch: equal by value, but its hash is its own."""

    def __init__(self, value):
        self.value = value

    def detach(self):
        return self

    def item(self):
        return self.value.item()

    def __eq__(self, other):
        return Tensor(self.value == other.value)

    def __hash__(self):
        return id(self)


def test_groups_of_0_d_arrays_are_a_list_of_what_they_hold():
    arrays = [np.array(number) for number in IDS]
    assert ndcg_score(Y, S, groups=arrays) == ndcg_score(Y, S, groups=IDS)


class Session:
    """An id that can be sorted, and is equal only to itself."""

    def __lt__(self, other):
        return id(self) < id(other)


def score(ids):
    return ndcg_score(Y, S, groups=ids)


def fit(ids):
    return GroupedRanker(Ridge()).fit(S[:, np.newaxis], Y, groups=ids)


@pytest.mark.parametrize("function", [score, fit])
@pytest.mark.parametrize("make", [lambda _: Session(), Tensor], ids=["sessions", "tensors"])
def test_groups_that_hash_by_identity_are_refused(make, function):
    ids = [make(np.int64(number)) for number in IDS]
    message = "groups must be ids.* equal where .*, got a (Session|Tensor): .*for tensors id.item"
    with pytest.raises(TypeError, match=message):
        function(ids)


def test_groups_that_are_tensors_become_ids_by_the_printed_way():
    with pytest.raises(TypeError, match=r"for tensors id\.item\(\)\.$"):
        score(list(map(Tensor, IDS)))
    assert score([each.item() for each in map(Tensor, IDS)]) == score(IDS)


@pytest.mark.parametrize("s", [S, np.r_[-np.inf, S[1:]]], ids=["scores", "one not retrieved"])
def test_groups_that_are_unique_per_row_warn(s):
    with pytest.warns(UserWarning, match="Each of the 8 queries has a single document"):
        ndcg_score(Y, s, groups=range(8), undefined="omit")


# the first of the lists of one document misses a relevant one, which has a row
SINGLE = {
    "most of them": (Y, S, [0, 0, 2, 3, 4, 5, 6, 7]),
    "a single query": ([1], [0.5], ["a"]),
    "lists of one document": (Y, np.r_[-np.inf, S[1:]], [0, 0, 1, 2, 3, 4, 5, 6]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("y", "s", "groups"), SINGLE.values(), ids=SINGLE)
def test_groups_of_which_some_have_a_single_document_do_not_warn(y, s, groups):
    ndcg_score(y, s, groups=groups, undefined="omit")


PAIRS = np.repeat(np.arange(60), 2)
SCORE = np.random.default_rng(0).random(120)


@pytest.mark.parametrize("change", [np.copy, np.random.default_rng(1).permutation])
def test_groups_that_are_relevance_warn(change):
    y, X = change(np.repeat([3, 0, 1, 2], 30)), SCORE[:, np.newaxis]
    words = "None of the 4 queries has documents of different relevance"
    with pytest.warns(UserWarning, match=words):
        ndcg_score(y, SCORE, groups=y, undefined="omit")
    scorer = make_ndcg_scorer(group_by=lambda X: y, undefined="omit")
    with pytest.warns(UserWarning, match=words):
        scorer(DummyRegressor().fit(X, y), X, y)


def test_groups_with_one_relevant_query_warn():
    with pytest.warns(UserWarning, match="None of the 60 queries has documents of different"):
        ndcg_score(PAIRS == 7, SCORE, groups=PAIRS, undefined="omit")


MAY_BE_QUERIES = {
    "only the last query has two": (np.r_[np.repeat(np.arange(59), 2), 0, 1], SCORE),
    "labels of one value": (np.ones(120), SCORE),
    "no relevant document": (np.zeros(120), SCORE),
    "documents that were not retrieved": (PAIRS, np.where(PAIRS == 5, -np.inf, SCORE)),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("y", "s"), MAY_BE_QUERIES.values(), ids=MAY_BE_QUERIES)
def test_groups_that_may_be_queries_do_not_warn(y, s):
    ndcg_score(y, s, groups=PAIRS, undefined=0.0)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_groups_that_are_one_column_of_a_table(make):
    assert ndcg_score(Y, S, groups=make({"query": IDS})) == ndcg_score(Y, S, groups=IDS)


def scorer_by(columns, X):
    make_ndcg_scorer(group_by=lambda X: columns)(DummyRegressor().fit(X, Y), X, Y)


def splits_by(columns, X):
    next(QuerySplitter(KFold(2), group_by=lambda X: columns).split(X, Y))


def score_by(columns, X):
    ndcg_score(pd.Series(Y), S, groups=columns)


@pytest.mark.parametrize("function", [score_by, scorer_by, splits_by])
def test_groups_with_one_reordered_column_are_refused(function):
    X = pd.DataFrame({"query": IDS, "day": np.arange(8) % 2, "a": S})
    columns = [X["query"], X["day"].sort_values(ascending=False, kind="stable")]
    with pytest.raises(ValueError, match=r"groups\[1\].*have the same labels.*in another order"):
        function(columns, X)


def test_groups_that_are_sizes_are_told_of_in_spite_of_labels():
    with pytest.raises(ValueError, match="look like group sizes"):
        ndcg_score(pd.Series(Y), S, groups=pd.Series([4, 4], index=["a", "b"]))


@pytest.mark.parametrize("read", [np.array, np.loadtxt, pd.Series, list], ids=lambda f: f.__name__)
def test_groups_that_are_sizes_become_ids_by_the_printed_way(read):
    sizes = read(["5", "3"] if read is np.loadtxt else [5, 3])
    with pytest.raises(ValueError, match="look like group sizes") as caught:
        ndcg_score(Y, S, groups=sizes)
    way = re.search(r"groups = (np.*)\.$", str(caught.value))[1]
    assert follow(way, sizes=sizes).tolist() == [0] * 5 + [1] * 3


@pytest.mark.parametrize("argument", ["clusters", "segments"])
def test_only_groups_look_like_sizes(argument):
    function = ndcg_interval if argument == "clusters" else ndcg_by_segment
    with pytest.raises(ValueError, match=f"^{argument} must have one id for each .* got 2\\.$"):
        function(Y, S, groups=IDS, **{argument: [5, 3]})


def test_groups_with_a_negative_number_do_not_look_like_sizes():
    with pytest.raises(ValueError, match="got 2") as caught:
        ndcg_score(Y, S, groups=[9, -1])
    assert "sizes" not in str(caught.value)


@pytest.mark.parametrize("which", ["y_score", "groups", "sample_weight"])
def test_the_same_labels_of_rows_in_another_order_are_refused(which):
    order = [7, 6, 5, 4, 3, 2, 1, 0]
    data = {"y_true": Y, "y_score": S, "groups": IDS, "sample_weight": np.ones(8)}
    data = {name: pd.Series(values, index=list("abcdefgh")) for name, values in data.items()}
    expected = ndcg_score(Y, S, groups=IDS)
    assert ndcg_score(**data) == expected
    data[which] = data[which].iloc[order]
    with pytest.raises(ValueError, match=f"y_true and {which} have the same.*index.*reindex"):
        ndcg_score(**data)
    data[which] = data[which].to_numpy()[order]
    assert ndcg_score(**data) == expected


def test_reordered_labels_are_refused_by_fit():
    X = pd.DataFrame({"a": S})
    y, groups = pd.Series(Y), pd.Series(IDS)
    with pytest.raises(ValueError, match="X and y have the same labels"):
        GroupedRanker(Ridge()).fit(X, y.sort_values(), groups=groups)


def test_every_pair_of_labelled_arguments_is_compared():
    y = pd.Series(Y, index=range(10, 18))
    s, groups = pd.Series(S, index=list("abcdefgh")), pd.Series(IDS, index=list("bacdefgh"))
    with pytest.raises(ValueError, match="y_score and groups have the same labels"):
        ndcg_score(y, s, groups=groups)


DAYS = np.array(["2024-05-01", "2024-05-02"], dtype="M8[D]")
DATES = [DAYS, DAYS.astype("M8[ns]"), DAYS.astype(object), [*map(pd.Timestamp, DAYS)]]


@pytest.mark.parametrize("labels", DATES, ids=["days", "nanoseconds", "objects", "pandas"])
def test_dates_are_shown_as_dates(labels):
    assert shown_labels(labels) == "2024-05-01, 2024-05-02"
    assert shown_labels([("a", *labels)]) == "('a', 2024-05-01, 2024-05-02)"


def test_intervals_and_periods_are_shown_as_pandas_shows_them():
    labels = [pd.Interval(0, 5), pd.Period("2024-05"), (1, pd.Interval(0, 5))]
    assert shown_labels(labels) == "(0, 5], 2024-05, (1, (0, 5])"


def test_dates_with_hours_are_shown_with_them():
    hours = [pd.Timestamp("2024-05-01 05:00"), np.datetime64("2024-05-01T05:00:00", "ns")]
    assert shown_labels([*hours, 1, 2]) == "2024-05-01 05:00:00, 2024-05-01 05:00:00, 1, ..."


@pytest.mark.parametrize(
    "texts", [("2024-1-5", "2024-10-1"), ("15.04.2024", "1.5.2024"), ("9", "10")]
)
def test_order_by_of_text_that_does_not_sort_by_time_is_doubted(texts):
    grouping = Grouping.of_ids([0, 1], 2)
    with pytest.warns(UserWarning, match="TimeSeriesSplit .* the values of order_by are text"):
        order = grouping.in_order(texts, "TimeSeriesSplit")
    assert order.tolist() == np.argsort(texts).tolist()
    grouping.in_order(texts)  # nobody needs the order of time


@pytest.mark.parametrize(
    "texts",
    [("09", "10"), ("2024-01-05", "2024-10-01"), ("spring", "summer"), ("037-q", "04-q")],
)
def test_order_by_of_text_that_may_sort_by_time_is_not_doubted(texts):
    order = Grouping.of_ids([0, 1], 2).in_order(texts, "TimeSeriesSplit")
    assert order.tolist() == np.argsort(texts).tolist()


FORMS = ["%Y-%m", "%Y/%m/%d", "%Y.%m.%d", "%Y-W%V", "%YW%V", "%Y-%m-%dT%H", "%Y%m%dT%H", "%Y%m%d"]


@pytest.mark.parametrize("form", FORMS)
def test_ids_that_are_dates_of_any_month_as_text_are_not_doubted(form):
    ids = pd.date_range("2024-01-01", "2024-12-29").strftime(form).to_numpy(dtype=str)
    order = Grouping.of_ids(ids, len(ids)).in_order(None, "TimeSeriesSplit")
    assert order.tolist() == [*range(len(set(ids)))]


LARGE = {"float16": 2**11, "float32": 2**24, "float64": 2**53}
KINDS = {
    "array": lambda v: v,
    "list": list,
    "pandas": pd.Series,
    "Arrow": pa.array,
    "one of two columns": lambda v: [v, np.zeros(len(v), dtype=int)],
    "category": lambda v: pd.Categorical(v.astype(float)),
}


@pytest.mark.parametrize("dtype", LARGE)
@pytest.mark.parametrize("kind", KINDS)
def test_floats_that_do_not_tell_integers_apart_are_no_ids(kind, dtype):
    if kind == "category" and dtype != "float64":
        pytest.skip("categories are shown as float64")
    make, largest = KINDS[kind], LARGE[dtype] - 1
    score(make(np.repeat([largest, largest - 1], 4).astype(dtype)))
    numbers = np.repeat([largest, largest + 1], 4)
    for sign in (1, -1):
        for function in (score, fit, split):
            with pytest.raises(ValueError, match="groups has .* too large for .* Int64"):
                function(make((sign * numbers).astype(dtype)))
    assert score(pd.Series(numbers, dtype="Int64")) == score(numbers)


def split(ids):
    next(QuerySplitter(2).split(S, groups=ids))


def test_polars_floats_that_do_not_tell_integers_apart_are_no_ids():
    ids = pl.Series(np.repeat([2**24, 2**24 + 2], 4), dtype=pl.Float32)
    with pytest.raises(ValueError, match="too large for float32"):
        score(ids)
    assert score(ids.cast(pl.Float64)) == score(np.repeat([1, 2], 4))


def test_order_by_takes_floats_of_any_size():
    order = Grouping.of_ids([0, 1], 2).in_order(np.array([2.0**60, 2.0**59]))
    assert order.tolist() == [1, 0]


def test_groups_of_70_columns_do_not_overflow():
    rng = np.random.default_rng(0)
    columns = [*rng.integers(0, 2, (70, 500))]
    grouping = Grouping.of_ids(columns, 500)
    assert len(grouping.labels) == len(set(zip(*columns, strict=True))) == 500
    assert list(grouping.labels) == sorted(zip(*map(np.ndarray.tolist, columns), strict=True))


def test_queries_of_one_time_are_in_the_order_of_their_labels():
    ids = np.repeat(np.arange(40), 2)
    order = Grouping.of_ids(ids, 80).in_order(np.repeat([1, 0], [78, 2]))
    assert order.tolist() == [39, *range(39)]


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u4", "f2", "f4", ">f8"])
def test_values_of_any_type_are_gathered(dtype):
    groups, values = np.array([1, 0, 1, 0, 2]), np.array([1, 0, 0, 1, 1]).astype(dtype)
    grouping = Grouping.of_ids(groups, 5)
    gathered = grouping.gather(values)
    assert gathered.dtype == values.dtype
    assert gathered.tolist() == values[np.argsort(groups, kind="stable")].tolist()
    assert [ends.tolist() for ends in grouping.extremes(values)] == [[0, 0, 1], [1, 1, 1]]


def test_order_by_of_categories_may_not_be_missing():
    values = pd.Categorical(["a", None, "b"])
    with pytest.raises(ValueError, match="order_by has 1 missing value, at index 1"):
        Grouping.of_ids([0, 1, 2], 3).in_order(values)
