"""Ids in any container give the same queries as a plain loop."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from containers import IDS, N_IDS, TEXT, arrow_series

from sklearn_ndcg import ndcg_score
from sklearn_ndcg._rows.grouping import Grouping

RNG = np.random.default_rng(0)
ORDERS = {
    "together": np.repeat(RNG.permutation(30), 10),
    "runs of 1 to 24": np.repeat(RNG.permutation(24), np.arange(1, 25)),
    "scattered": RNG.integers(0, 30, N_IDS),
    "in order": np.repeat(np.arange(30), 10),
    "all distinct": RNG.permutation(N_IDS),
    "one": np.zeros(N_IDS, dtype=int),
    "runs that come back": np.tile(np.repeat(np.arange(10), 5), 6),
}


KINDS_AND_ORDERS = [
    *[(kind, "scattered") for kind in IDS],
    *[("int64", order) for order in ORDERS],
    *[("text: objects", order) for order in ORDERS],
]


@pytest.mark.parametrize(("kind", "order"), KINDS_AND_ORDERS)
def test_groups_of_any_kind_are_those_of_numpy(kind, order):
    ids = IDS[kind](ORDERS[order])
    distinct, codes = np.unique(ORDERS[order], return_inverse=True)
    grouping = Grouping.of_ids(ids, N_IDS)
    np.testing.assert_array_equal(grouping.row_codes(), codes)
    np.testing.assert_array_equal(grouping.lengths, np.bincount(codes))
    np.testing.assert_array_equal(grouping.row_order(), np.argsort(codes, kind="stable"))
    assert len(grouping.labels) == len(distinct)


@pytest.mark.parametrize("kind", TEXT)
def test_text_is_compared_beyond_a_nul(kind):
    ids = np.array(["a", "a\0", "a\0b", "a", "a\0\0"] * 60, dtype=object)
    grouping = Grouping.of_ids(TEXT[kind](ids), N_IDS)
    assert grouping.row_codes().tolist() == [0, 1, 3, 0, 2] * 60


# ids of 20 rows, of which two are missing: those at these indexes
IS_MISSING = np.isin(np.arange(20), [3, 7])
NAN = np.where(IS_MISSING, np.nan, 1.0)
NULL = [None if missing else "q" for missing in IS_MISSING]


PAIRS = pd.Index([("b", 1.0), ("a", np.nan)], tupleize_cols=False)
MISSING = {
    "objects": np.array(NULL, dtype=object),
    "tuples": [("a", value) for value in NAN.tolist()],
    "pandas str": pd.Series(NULL, dtype="string"),
    "pandas Int64": pd.Series([None if missing else 3 for missing in IS_MISSING], dtype="Int64"),
    "pandas Float64 with NaN": pd.Series(pd.arrays.FloatingArray(NAN, np.zeros(20, bool))),
    "pandas arrow with NaN": arrow_series(pa.array(NAN)),
    "pandas dictionary with NaN": arrow_series(pa.array(NAN).dictionary_encode()),
    "pandas dictionary with null": arrow_series(
        pa.DictionaryArray.from_arrays(IS_MISSING.astype(int), pa.array([1.0, None]))
    ),
    "category": pd.Series(NULL).astype("category"),
    "category with NaN in a tuple": pd.Series(
        pd.Categorical.from_codes(IS_MISSING.astype(int), PAIRS)
    ),
    "period": pd.PeriodIndex([value and "2012-03" for value in NULL], freq="M"),
    "polars": pl.Series(NULL),
    "polars categorical": pl.Series(NULL, dtype=pl.Categorical),
    "polars with NaN": pl.Series(NAN),
    "arrow": pa.array(NULL),
    "arrow dictionary": pa.array(NULL).dictionary_encode(),
    "arrow dictionary with NaN": pa.array(NAN).dictionary_encode(),
    "list of columns": [np.zeros(20), np.array(NULL, dtype=object)],
    "table of pandas": pd.DataFrame({"a": 1, "b": pd.Series(NULL).astype("category")}),
    "table of arrow": pa.table({"a": pa.array(NAN), "b": range(20)}),
}


@pytest.mark.parametrize("ids", MISSING.values(), ids=MISSING)
def test_missing_ids_are_refused_with_their_index(ids):
    with pytest.raises(ValueError, match="groups has 2 missing ids, the first at index 3"):
        Grouping.of_ids(ids, 20)


def test_a_dictionary_that_has_a_label_twice_has_one_query_of_it():
    ids = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", "b", "a"]))
    assert Grouping.of_ids(ids, 4).row_codes().tolist() == [0, 1, 0, 0]


def test_a_dictionary_of_unsigned_codes():
    codes = pa.array([0, 1, 0, None], type=pa.uint32())
    ids = pa.DictionaryArray.from_arrays(codes, pa.array(["b", "a"]))
    assert Grouping.of_ids(ids[:3], 3).row_codes().tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="1 missing id, at index 3"):
        Grouping.of_ids(ids, 4)


def test_flags_are_ids():
    assert Grouping.of_ids(np.array([True, False, True]), 3).labels.tolist() == [False, True]


def test_an_empty_column_is_refused():
    with pytest.raises(ValueError, match="one id for each of the 3 rows, got 0"):
        Grouping.of_ids(pl.Series([], dtype=pl.String), 3)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g"])
def test_zeros_of_both_signs_are_one_query(dtype):
    ids = np.array([0.0, -0.0, 1000, -0.0] * 3, dtype=dtype)
    assert Grouping.of_ids(ids, 12).lengths.tolist() == [9, 3]


N = np.arange(100_000)
RANDOM = RNG.integers(-(2**63), 2**63 - 1, 9000)
PATTERNS = {
    "multiples": N << 40,
    "sorted": N * 7919,
    "low bits": N % 1024 << 53,
    "one": np.full(len(N), 2**62),
    "random": np.r_[RANDOM, RANDOM[::-1]],
} | {f"growing at {size}": np.r_[N[:size] << 33, 0] for size in (512, 513, 2048)}


@pytest.mark.parametrize("ids", PATTERNS.values(), ids=PATTERNS)
def test_hashing_finds_the_same_as_sorting(ids, kernels):
    distinct, codes = kernels.factorize(ids)
    np.testing.assert_array_equal(np.sort(distinct), np.unique(ids))
    np.testing.assert_array_equal(distinct[codes], ids)


OBJECTS = {
    "text": ["b", "a\0", "", "ä", "a", "日本"],
    "text of NumPy": [np.str_("a"), "b", np.str_("b"), np.str_("b\0")],
    "numbers": [2, 1.5, True, -7.0, 2.0, 1, -7],
    "one hash": [-1, 5, -2, 0, 2**61 - 1, 1, 2**61],
    "one float": [2.0**50, 2**50 + 1, 3, 2**50],
    "tuples": [(-1, -2), (-2, -1), (1, True), (2.0, 1), (1, 1), (2, 1)],
}


@pytest.mark.parametrize("labels", OBJECTS.values(), ids=OBJECTS)
@pytest.mark.parametrize("sort", [True, False])
def test_objects_are_found_as_in_a_dict(labels, sort):
    rows = [*labels, *labels[::-1], *labels[::2]]
    grouping = Grouping.of_ids(rows, len(rows), sort=sort)
    assert sorted(grouping.labels) == sorted(dict.fromkeys(rows))
    assert [grouping.labels[code] for code in grouping.row_codes()] == rows


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numbers_beside_a_float_of_numpy_are_not_rounded(dtype):
    """2**61 + 1 has the hash of 2, and NumPy would round 2049 to 2048, or overflow."""
    numbers = [10**400, 2**61 + 1, 70_000, 2049, 2048, 1.5, -(10**400)]
    grouping = Grouping.of_ids([*numbers, dtype(2), dtype(2047)], 9)
    assert grouping.labels.tolist() == sorted([*numbers, 2, 2047])
    assert len(set(grouping.row_codes().tolist())) == 9


@pytest.mark.parametrize(
    "ids",
    [
        [1, "a", 1, 2],
        [1, 2, 1, "a"],
        [1j, 2j, 1j, 2j],
        [(1, "a"), (1, 2)] * 2,
        [(1, "a"), (2, 1), (1, "a"), (2, "a")],
    ],
    ids=str,
)
def test_ids_that_cannot_be_sorted_are_refused_where_no_order_is_needed(ids):
    with pytest.raises(TypeError, match="sorted"):
        ndcg_score(np.ones(4), np.arange(4.0), groups=np.fromiter(ids, dtype=object, count=4))


USERS, NUMBERS = ["u", "v", "u", "v"], [1, 1, 2, 1]
SEVERAL = {
    "arrow": [pa.array(USERS), pa.array(NUMBERS)],
    "arrow chunks": [pa.chunked_array([v[:1], v[1:]]) for v in (USERS, NUMBERS)],
    "arrow table": pa.table({"u": USERS, "n": NUMBERS}),
    "pandas": pd.DataFrame({"u": USERS, "n": NUMBERS}),
    "polars": pl.DataFrame({"u": USERS, "n": NUMBERS}),
    "objects": np.array([USERS, NUMBERS], dtype=object).T,
}


@pytest.mark.parametrize("ids", SEVERAL.values(), ids=SEVERAL)
def test_ids_of_several_columns(ids):
    grouping = Grouping.of_ids(ids, 4)
    assert grouping.labels.tolist() == [("u", 1), ("u", 2), ("v", 1)]
    assert grouping.row_codes().tolist() == [0, 2, 1, 2]


def test_ids_of_several_columns_are_sorted():
    columns = RNG.integers(0, 1000, (2, N_IDS)).tolist()
    labels = Grouping.of_ids(list(map(np.array, columns)), N_IDS).labels
    assert labels.tolist() == sorted(set(zip(*columns, strict=True)))


DATES = pd.date_range("2020-01-01", periods=4, tz="Europe/Berlin")


CATEGORIES = {
    "pandas": lambda names: pd.Categorical(names, ["torso", "tail", "head", "none"], ordered=True),
    "polars": lambda names: pl.Series(names, dtype=pl.Enum(["torso", "tail", "head", "none"])),
    "arrow": lambda names: pa.array(names).dictionary_encode(),
}


@pytest.mark.parametrize("make", CATEGORIES.values(), ids=CATEGORIES)
def test_labels_of_categories_are_sorted_by_name(make):
    names = ["torso", "head", "tail", "torso"]
    grouping = Grouping.of_ids(make(names), 4)
    labels, codes = np.unique(names, return_inverse=True)
    assert grouping.labels.tolist() == labels.tolist()
    assert grouping.row_codes().tolist() == codes.tolist()


@pytest.mark.parametrize("make", [pd.Series, pd.Index, pl.Series, pa.array])
def test_labels_of_dates_with_a_time_zone_are_in_utc(make):
    grouping = Grouping.of_ids(make(DATES[[2, 0, 1, 0]]), 4)
    assert grouping.row_codes().tolist() == [2, 0, 1, 0]
    assert grouping.labels.dtype.kind == "M"
    utc = np.array(["2019-12-31T23", "2020-01-01T23", "2020-01-02T23"], dtype="M8")
    np.testing.assert_array_equal(grouping.labels, utc)


def test_labels_of_intervals_are_those_of_pandas():
    ids = pd.IntervalIndex.from_breaks(DATES)[[2, 0, 1, 0]]
    grouping = Grouping.of_ids(ids, 4)
    assert grouping.row_codes().tolist() == [2, 0, 1, 0]
    assert list(grouping.labels) == sorted(set(ids))


@pytest.mark.parametrize(
    "ids",
    [
        [frozenset({1}), frozenset({2})],
        [frozenset({1}), frozenset({1, 2})],
        [(0, frozenset({1})), (0, frozenset({2}))],
    ],
    ids=["disjoint", "subset", "in tuples"],
)
def test_sets_are_refused_as_only_subsets_are_sorted(ids):
    with pytest.raises(TypeError, match=r"pass .*for sets tuple\(sorted\(id\)\)"):
        Grouping.of_ids([*ids, ids[0]], 3, sort=False)


@pytest.mark.parametrize("share", [0.5, 2])  # of the limit, which other libraries may raise
def test_tuples_that_are_too_deep_are_refused(share):
    ids = [1, 1, 2]
    for _ in range(int(share * sys.getrecursionlimit())):
        ids = [(inner,) for inner in ids]
    with pytest.raises(TypeError, match="ids that can be hashed and sorted: maximum recursion"):
        Grouping.of_ids(ids, 3)
