"""Columns of lists of pandas, Polars and Arrow as lists and truths; sparse matrices as neither."""

import re
from math import log2

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import ideal, per_query
from scipy import sparse

from sklearn_ndcg import from_lists, ndcg_score

TRUTHS, LISTS = [["b"], ["d", "x"], []], [["a", "b"], ["d", "e"], ["a", "c"]]


def column_of_arrow(lists, kind="list_"):
    return pa.array(lists, getattr(pa, kind)(pa.string()))


def objects(lists):
    column = np.empty(len(lists), dtype=object)
    column[:] = [np.array(ids, dtype=object) for ids in lists]
    return column


COLUMNS = {
    "pandas": pd.Series,
    "pandas of arrays": lambda v: pd.Series(list(objects(v))),
    "array of arrays": objects,
    "polars": lambda v: pl.Series(v, dtype=pl.List(pl.String)),
    "arrow": column_of_arrow,
    "arrow large": lambda v: column_of_arrow(v, "large_list"),
    "arrow in chunks": lambda v: pa.chunked_array([column_of_arrow(v[:1]), column_of_arrow(v[1:])]),
    "pandas arrow": lambda v: pd.Series(pd.arrays.ArrowExtensionArray(column_of_arrow(v))),
}


@pytest.mark.parametrize("form", ["column", "elements", "by query"])
@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
def test_columns_of_lists(make, form):
    truths, lists = make(TRUTHS), make(LISTS)
    if form == "elements":
        truths, lists = list(truths), list(lists)
    elif form == "by query":
        truths, lists = (dict(enumerate(column)) for column in (truths, lists))
    expected = from_lists(TRUTHS, LISTS).to_frame()
    assert from_lists(truths, lists).to_frame().equals(expected)
    assert from_lists(truths, rankers={"a": lists})["a"].to_frame().equals(expected)


def test_lists_of_one_length():
    """Polars and Arrow have a type for them, too."""
    lists = [["a", "b"], ["c", "a"]]
    expected = from_lists(["b", "a"], lists).to_frame()
    column = pl.Series(lists, dtype=pl.Array(pl.String, 2))
    assert from_lists(pl.Series(["b", "a"]), column).to_frame().equals(expected)
    assert from_lists(["b", "a"], column.to_arrow()).to_frame().equals(expected)


@pytest.mark.parametrize("make", [pl.Series, pa.array, lambda v: pa.chunked_array([v])])
def test_a_column_of_ids_is_one_list_or_one_truth(make):
    expected = from_lists(["b", "c"], ["a", "b"]).to_frame()
    assert from_lists(make(["b", "c"]), make(["a", "b"])).to_frame().equals(expected)
    assert from_lists({"b", "c"}, make(["a", "b"])).to_frame().groups.tolist() == [0, 0, 0]


def test_a_null_in_a_column_of_lists_is_an_empty_cell():
    with pytest.raises(TypeError, match=r"got NoneType for query 1.* pass \[\]"):
        from_lists([["a"], ["b"]], pl.Series([["a"], None]))


def test_values_that_were_taken_out_of_an_arrow_column_one_by_one():
    ids = list(pa.array(["a", "b"]))
    assert per_query(from_lists(ids, [["a"], ["a", "b"]])) == {0: 1, 1: 1 / log2(3)}
    with pytest.raises(TypeError, match=r"StringScalar: pass tolist\(\)"):
        from_lists([ids], [["a"]])


# --- what is a mapping, and what a sequence

SERIES = pd.Series([["a"], ["b"], ["c"]])  # whose index numbers the rows
SEQUENCES = {
    "list": SERIES.tolist(),
    "array": np.array(SERIES.tolist()),
    "Series": SERIES,
    "polars": pl.Series(SERIES.tolist()),
    "arrow": pa.array(SERIES.tolist()),
}
MAPPINGS = {
    "dict": {1: ["a"], 2: ["b"], 3: ["c"]},
    "Series": SERIES.set_axis([1, 2, 3]),
    "text": SERIES.set_axis(list("012")),
    "some numbers": SERIES.set_axis([0, 1, 3]),
    "one more": {0: ["a"], 1: ["b"], 2: ["c"], 3: []},
    "RangeIndex from 1": SERIES.set_axis(pd.RangeIndex(1, 4)),
}
NUMBERED = {
    "dict": {2: ["c"], 0: ["a"], 1: ["b"]},
    "Series": SERIES[[2, 0, 1]],
    "index with a name": SERIES.rename_axis("query"),
}


@pytest.mark.parametrize("mapping", MAPPINGS.values(), ids=MAPPINGS)
@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES)
def test_a_mapping_beside_row_numbers_is_an_error(sequence, mapping):
    for relevant, recommended in [(sequence, mapping), (mapping, sequence)]:
        with pytest.raises(TypeError, match=r"both be mappings .*set_index\('query'\)"):
            from_lists(relevant, recommended)
    with pytest.raises(TypeError, match="both be mappings") as caught:
        from_lists(sequence, rankers={"good": sequence, "bad": mapping})
    assert "'bad'" in caught.value.__notes__[0]


@pytest.mark.parametrize("mapping", NUMBERED.values(), ids=NUMBERED)
@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES)
def test_a_mapping_whose_keys_are_the_row_numbers_is_no_error(sequence, mapping):
    for relevant, recommended in [(sequence, mapping), (mapping, sequence)]:
        rows = from_lists(relevant, recommended)
        assert per_query(rows) == {0: 1, 1: 1, 2: 1}
        assert ndcg_score(rows, sample_weight={0: 1, 1: 1, 2: 3}) == 1
        with pytest.raises(TypeError, match="sample_weight must be a mapping"):  # in which order?
            ndcg_score(rows, sample_weight=[1, 1, 3])


@pytest.mark.parametrize("one", SEQUENCES.values(), ids=SEQUENCES)
@pytest.mark.parametrize("other", SEQUENCES.values(), ids=SEQUENCES)
def test_sequences_are_matched_by_position(one, other):
    rows = from_lists(one, other)
    assert per_query(rows) == {0: 1, 1: 1, 2: 1}
    assert ndcg_score(rows, sample_weight=[1, 1, 3]) == 1
    with pytest.raises(ValueError, match="same number of queries, got 3 and 2.*queries as their"):
        from_lists(one, other[:2])


def test_series_with_the_queries_as_index_are_matched_by_it():
    lists = SERIES.set_axis([7, 8, 9])
    assert per_query(from_lists(lists, lists[::-1][:2]), undefined=0) == {7: 0, 8: 1, 9: 1}
    assert per_query(from_lists(pd.Series({5: "a", 6: "b"}), {5: ["a"], 6: ["a"]})) == {5: 1, 6: 0}


def test_one_id_for_each_row_of_a_series():
    """The item that was held out for each user."""
    held_out = pd.Series(["a", "b", "c"])
    assert per_query(from_lists(held_out, SERIES)) == {0: 1, 1: 1, 2: 1}
    assert per_query(from_lists(held_out, SERIES.tolist())) == {0: 1, 1: 1, 2: 1}
    for arguments in [(held_out, held_out), ({"a", "b"}, held_out), (["a"], held_out)]:
        with pytest.raises((TypeError, ValueError)):  # one list may be ids or scores
            from_lists(*arguments)


MATRIX = sparse.csr_matrix([[0, 0, 3, 1], [0, 0, 0, 0], [2, 0, 0, 0]])
MATRICES = {
    "csr": MATRIX,
    "csr array": sparse.csr_array(MATRIX),
    "csc": MATRIX.tocsc(),
    "coo with a value in two parts": sparse.coo_matrix(
        ([1, 2, 1, 2], ([0, 0, 0, 2], [2, 2, 3, 0])), shape=(3, 4)
    ),
    "lil": MATRIX.tolil(),
    "dok": MATRIX.todok(),
}


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_a_sparse_matrix_is_refused_and_the_way_out_works(matrix):
    lists = np.array([[3, 2], [0, 1], [0, 3]])
    with pytest.raises(TypeError, match="relevant must not be a sparse matrix") as caught:
        from_lists(matrix, lists)
    way = re.search(r"Pass (.*)\.$", str(caught.value))[1]
    truths = eval(way, {"matrix": matrix})  # noqa: S307
    rows = from_lists(truths, lists)
    assert from_lists([{2: 3, 3: 1}, {}, {0: 2}], lists).to_frame().equals(rows.to_frame())
    expected = {0: (1 + 3 / log2(3)) / ideal([3, 1]), 1: 0, 2: 1}
    assert per_query(rows, undefined=0) == pytest.approx(expected, rel=1e-15)


def test_a_sparse_matrix_is_not_lists():
    with pytest.raises(TypeError, match="recommended must not be a sparse .* no order"):
        from_lists([[1]] * 3, MATRIX)


def grouped(ids):
    return pd.DataFrame({"user": [1, 1, 2], "id": list(ids)}).groupby("user")


def test_groups_of_pandas_are_row_numbers():
    truths, lists = grouped("abc"), grouped("bcz")
    with pytest.raises(TypeError, match=r"relevant has the numbers of rows .*\.agg\(list\)"):
        from_lists(truths.groups, lists.groups)
    with pytest.raises(TypeError, match=r"recommended has the numbers of rows .*\.agg\(list\)"):
        from_lists(truths["id"].agg(list), lists["id"].groups)
    by_id = pd.DataFrame({"id": list("bcz"), "user": [1, 1, 2]}).set_index("id").groupby("user")
    expected = from_lists({1: ["a", "b"], 2: ["c"]}, {1: ["b", "c"], 2: ["z"]}).to_frame()
    assert from_lists(truths["id"].agg(list), by_id.groups).to_frame().equals(expected)
    alone = pd.DataFrame({"id": [0], "user": [1]}).set_index("id").groupby("user")
    assert per_query(from_lists({1: {0}}, alone.groups)) == {1: 1}  # an id that may be a number
