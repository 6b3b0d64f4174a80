"""Query ids, in any container."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import IDS, S, Y
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from sklearn_ndcg import (
    GroupedRanker,
    QuerySplitter,
    check_group_splits,
    make_ndcg_scorer,
    ndcg_score,
    quantile_grades,
)
from sklearn_ndcg._rows.grouping import Grouping, shown_labels, starts_of


class Tensor:
    """A 0-d tensor as in torch: equal by value, but its hash is its own."""

    def __init__(self, value):
        self.value = value

    def detach(self):
        return self

    def __eq__(self, other):
        return Tensor(self.value == other.value)

    def __hash__(self):
        return id(self)


@pytest.mark.parametrize("ids", [IDS, [f"q{each}" for each in IDS]], ids=["numbers", "text"])
def test_groups_of_0_d_arrays_are_a_list_of_what_they_hold(ids):
    arrays = [np.array(each) for each in ids]
    assert ndcg_score(Y, S, groups=arrays) == ndcg_score(Y, S, groups=IDS)
    with pytest.raises(ValueError, match="cv cuts queries in two"):
        check_group_splits(KFold(4), S, groups=arrays)


@pytest.mark.slow  # torch is gigabytes
def test_groups_of_tensors_of_torch():
    torch = pytest.importorskip("torch")
    expected = ndcg_score(Y, S, groups=IDS)
    assert ndcg_score(Y, S, groups=torch.tensor(IDS)) == expected
    ids = [torch.tensor(each) for each in IDS]
    with pytest.raises(TypeError, match=r"got a Tensor: .*, for tensors id.item\(\)"):
        ndcg_score(Y, S, groups=ids)
    assert ndcg_score(Y, S, groups=[one.item() for one in ids]) == expected


class Session:
    """An id that can be sorted, and is equal only to itself."""

    def __lt__(self, other):
        return id(self) < id(other)


@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: (1, one)], ids=["alone", "tuples"])
@pytest.mark.parametrize("make", [lambda _: Session(), Tensor], ids=["sessions", "tensors"])
def test_groups_that_hash_by_identity_are_refused(make, wrap):
    ids = [wrap(make(np.int64(each))) for each in IDS]
    words = "groups must be ids.* equal where .*, got a (Session|Tensor): .*for tensors id.item"
    for function in (
        lambda: ndcg_score(Y, S, groups=ids),
        lambda: check_group_splits(KFold(2), S, groups=ids),
        lambda: GroupedRanker(Ridge()).fit(S[:, np.newaxis], Y, groups=ids),
    ):
        with pytest.raises(TypeError, match=words):
            function()


def test_groups_with_an_array_as_an_id_are_refused_unless_it_is_0_d():
    message = "groups must be ids that can be hashed and sorted: unhashable type: 'numpy.ndarray'"
    for ids in ([np.array([each]) for each in IDS], [(np.array(each), 1) for each in IDS]):
        with pytest.raises(TypeError, match=message):
            ndcg_score(Y, S, groups=ids)


def test_groups_that_are_unique_per_row_warn():
    rows = np.arange(8)
    with pytest.warns(UserWarning, match="Each of the 8 queries has a single document"):
        ndcg_score(Y, S, groups=rows, undefined="omit")
    with pytest.warns(UserWarning, match=r"6 of the 7 queries \(85%\) have a single document"):
        ndcg_score(Y, S, groups=np.maximum(rows, 1), undefined="omit")


@pytest.mark.filterwarnings("error")
def test_groups_of_which_some_have_a_single_document_do_not_warn():
    ndcg_score(Y, S, groups=[0, 0, 0, 1, 1, 1, 2, 3], undefined="omit")  # half of them
    ndcg_score([1], [0.5], groups=["a"])
    # lists of one document; the first misses a relevant one, which has a row
    ndcg_score(Y, np.r_[-np.inf, S[1:]], groups=[0, 0, 1, 2, 3, 4, 5, 6], undefined="omit")


PAIRS = np.repeat(np.arange(60), 2)
SCORE = np.random.default_rng(0).random(120)


@pytest.mark.parametrize("change", [np.copy, lambda y: y / 2, np.random.default_rng(1).permutation])
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


@pytest.mark.filterwarnings("error")
def test_groups_that_may_be_queries_do_not_warn():
    late = np.r_[np.repeat(np.arange(59), 2), 0, 1]  # only the last query has two
    ndcg_score(late, SCORE, groups=PAIRS, undefined="omit")
    ndcg_score(np.ones(120), SCORE, groups=PAIRS)  # labels of one value; the ids may be right
    ndcg_score(np.zeros(120), SCORE, groups=PAIRS, undefined=0.0)
    ndcg_score([1, 1], [0.5, 0.2], groups=["a", "a"])
    # documents that were not retrieved make a difference
    ndcg_score(PAIRS, np.where(PAIRS == 5, -np.inf, SCORE), groups=PAIRS, undefined="omit")


def test_groups_that_are_one_column_of_a_table():
    expected = ndcg_score(Y, S, groups=IDS)
    table = {"query": IDS}
    for groups in (np.c_[IDS], pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        assert ndcg_score(Y, S, groups=groups) == expected
    grades = quantile_grades(pd.DataFrame({"y": S}), groups=pd.DataFrame(table))
    assert grades.tolist() == quantile_grades(S, groups=IDS).tolist()


@pytest.mark.parametrize("place", [0, 1])
def test_groups_with_one_reordered_column_are_refused(place):
    X = pd.DataFrame({"query": IDS, "day": np.arange(8) % 2, "a": S})
    columns = [X["query"], X["day"]]
    columns[place] = columns[place].sort_values(ascending=False, kind="stable")
    words = rf"groups\[{place}\].*have the same labels.*but in another order"
    with pytest.raises(ValueError, match=words):
        ndcg_score(pd.Series(Y), S, groups=columns)
    with pytest.raises(ValueError, match=words):
        make_ndcg_scorer(group_by=lambda X: columns)(DummyRegressor().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match=words):
        next(QuerySplitter(KFold(2), group_by=lambda X: columns).split(X, Y))


def test_groups_that_are_sizes_are_told_of_in_spite_of_labels():
    with pytest.raises(ValueError, match="look like group sizes"):
        ndcg_score(pd.Series(Y), S, groups=pd.Series([4, 4], index=["a", "b"]))


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


def test_the_same_columns_in_another_order_are_refused():
    y, s = (pd.DataFrame(values.reshape(2, 4), columns=list("abcd")) for values in (Y, S))
    assert ndcg_score(y, s) == ndcg_score(Y, S, groups=IDS)
    with pytest.raises(ValueError, match="y_true and y_score have the same labels in their col"):
        ndcg_score(y, s[list("dcba")])


def test_the_same_labels_in_another_order_are_refused_by_fit_and_by_the_check_of_splits():
    X = pd.DataFrame({"a": S})
    y, groups = pd.Series(Y), pd.Series(IDS)
    with pytest.raises(ValueError, match="X and y have the same labels"):
        GroupedRanker(Ridge()).fit(X, y.sort_values(), groups=groups)
    with pytest.raises(ValueError, match="X and groups have the same labels"):
        check_group_splits(KFold(2), X, groups=groups.sort_values(ascending=False))


def test_every_pair_of_labelled_arguments_is_compared():
    y = pd.Series(Y, index=range(10, 18))
    s, groups = pd.Series(S, index=list("abcdefgh")), pd.Series(IDS, index=list("bacdefgh"))
    with pytest.raises(ValueError, match="y_score and groups have the same labels"):
        ndcg_score(y, s, groups=groups)


DAYS = np.array(["2024-05-01", "2024-05-02"], dtype="M8[D]")
DATES = [DAYS.astype(f"M8[{unit}]") for unit in ("D", "h", "m", "s", "ns")]


@pytest.mark.parametrize("labels", [*DATES, DAYS.astype(object), [*map(pd.Timestamp, DAYS)]])
def test_dates_are_shown_as_dates(labels):
    assert shown_labels(labels) == "2024-05-01, 2024-05-02"
    assert shown_labels([("a", *labels)]) == "('a', 2024-05-01, 2024-05-02)"


def test_dates_with_hours_are_shown_with_them():
    hours = [pd.Timestamp("2024-05-01 05:00"), np.datetime64("2024-05-01T05:00:00", "ns")]
    assert shown_labels([*hours, 1, 2]) == "2024-05-01 05:00:00, 2024-05-01 05:00:00, 1, ..."


TIMES = {
    ("2024-1-5", "2024-10-1"): True, ("15.04.2024", "1.5.2024"): True, ("9", "10"): True,
    ("09", "10"): False, ("2024-01-05", "2024-10-01"): False, ("spring", "summer"): False,
    ("w9", "10"): False, ("037-q", "04-q"): False,
}  # fmt: skip


@pytest.mark.parametrize(("texts", "warns"), TIMES.items())
def test_order_by_of_text_is_doubted_if_it_is_numbers_or_unsorted_dates(texts, warns):
    grouping = Grouping.of_ids([0, 1], 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        order = grouping.in_order(texts, "TimeSeriesSplit")
        grouping.in_order(texts)  # nobody needs the order of time
    assert [order.tolist(), len(caught)] == [np.argsort(texts).tolist(), int(warns)]
    assert all("the values of order_by are text" in str(each.message) for each in caught)


def test_runs_start_where_the_one_before_ends():
    assert starts_of(np.array([2, 0, 3, 1])).tolist() == [0, 2, 2, 5]
