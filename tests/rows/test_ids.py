"""Ids in any container give the same queries as a plain loop."""

import sys
from collections import UserList, deque

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ndcg import ndcg_score
from sklearn_ndcg._kernels import numpy_kernels
from sklearn_ndcg._rows.grouping import Grouping

try:
    from sklearn_ndcg._kernels import compiled
except ImportError:
    KERNELS = [numpy_kernels]
else:
    KERNELS = [numpy_kernels, compiled]

N = 300
RNG = np.random.default_rng(0)
CODES = {
    "together": np.repeat(RNG.permutation(30), 10),
    "scattered": RNG.integers(0, 30, N),
    "in order": np.repeat(np.arange(30), 10),
    "all distinct": RNG.permutation(N),
    "one": np.zeros(N, dtype=int),
    "runs that come back": np.tile(np.repeat(np.arange(10), 5), 6),
}
WORDS = np.array([f"q{(7919 * i) % 1009:04d}" for i in range(N)], dtype=object)
BIG = np.array([(i * 2654435761) % 2**61 - 2**60 for i in range(N)])
DAYS = np.datetime64("1969-06-01") + np.arange(N)[::-1]


def descending(values):
    return [*sorted(set(values.tolist()), reverse=True), "unused"]


def categories(values, ordered):
    return pd.Categorical(values, categories=descending(values), ordered=ordered)


TEXT = {
    "object array": lambda v: v,
    "text array": lambda v: v.astype(str),
    "bytes": lambda v: v.astype("S"),
    "list": lambda v: v.tolist(),
    "tuple": tuple,
    "deque": deque,
    "UserList": UserList,
    "pandas str": lambda v: pd.Series(v, dtype="string"),
    "pandas object": lambda v: pd.Series(v, dtype=object),
    "pandas arrow": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.string())),
    "pandas index": pd.Index,
    "category": lambda v: pd.Series(categories(v, ordered=False)),
    "ordered category": lambda v: pd.Series(categories(v, ordered=True)),
    "category index": lambda v: pd.CategoricalIndex(categories(v, ordered=False)),
    "Categorical": lambda v: categories(v, ordered=False),
    "pandas arrow view": lambda v: of_arrow(pa.array(v, type=pa.string_view())),
    "arrow": pa.array,
    "arrow large": lambda v: pa.array(v, type=pa.large_string()),
    "arrow chunks": lambda v: pa.chunked_array([v[:100], v[100:]]),
    "arrow dictionary": lambda v: pa.array(v).dictionary_encode(),
    "arrow dictionaries": lambda v: pa.chunked_array(
        [pa.array(part).dictionary_encode() for part in (v[:100], v[100:])]
    ),
    "polars": lambda v: pl.Series(v.tolist()),
    "polars categorical": lambda v: pl.Series(v.tolist(), dtype=pl.Categorical),
    "polars enum": lambda v: pl.Series(v.tolist(), dtype=pl.Enum(descending(v))),
}
NUMBERS = {
    "int64": lambda v: v,
    "int32": lambda v: (v % 2**31).astype(np.int32),
    "uint64": lambda v: v.astype(np.uint64),
    "float64": lambda v: v / 3,
    "float32": lambda v: (v % 2**20 / 7).astype(np.float32),
    "pandas Int64": lambda v: pd.Series(v, dtype="Int64"),
    "polars int": pl.Series,
    "arrow int": pa.array,
    "category of ints": lambda v: pd.Series(v).astype("category"),
    "strided": lambda v: np.repeat(v, 2)[::2],
    "big-endian": lambda v: v.astype(">i8"),
}
DATES = {
    "D": lambda v: v.astype("M8[D]"),
    "ns": lambda v: v.astype("M8[ns]"),
    "spans": lambda v: (v - v.min()).astype("m8[s]"),
    "pandas": lambda v: pd.Series(v.astype("M8[ns]")),
    "time zone": lambda v: pd.Series(v.astype("M8[ns]")).dt.tz_localize("Europe/Berlin"),
    "period": lambda v: pd.PeriodIndex(v.astype("M8[D]"), freq="D"),
    "interval": lambda v: pd.IntervalIndex.from_arrays(v, np.full(len(v), v.max() + 1)),
    "category of intervals": lambda v: pd.Series(
        pd.IntervalIndex.from_arrays(v, np.full(len(v), v.max() + 1))
    ).astype("category"),
    "polars date": lambda v: pl.Series(v.astype("M8[ms]")).cast(pl.Date),
    "arrow date": lambda v: pa.array(v.astype("M8[D]")),
}
KINDS = [(WORDS, name, make) for name, make in TEXT.items()]
KINDS += [(BIG, name, make) for name, make in NUMBERS.items()]
KINDS += [(DAYS, name, make) for name, make in DATES.items()]


@pytest.mark.parametrize("order", CODES)
@pytest.mark.parametrize(("values", "name", "make"), KINDS, ids=[name for _, name, _ in KINDS])
def test_groups_of_any_kind_are_those_of_a_loop(values, name, make, order):
    ids = values[CODES[order]]
    container = make(ids)
    grouping = Grouping.of_ids(container, N)
    plain = np.asarray(container).tolist() if name in NUMBERS else ids.tolist()
    expected = sorted(set(plain))
    codes = grouping.row_codes()
    assert [expected.index(each) for each in plain] == codes.tolist()
    np.testing.assert_array_equal(grouping.lengths, np.bincount(codes))
    assert len(grouping.labels) == len(expected)
    np.testing.assert_array_equal(grouping.row_order(), np.argsort(codes, kind="stable"))
    y, s = RNG.integers(1, 4, N), RNG.normal(size=N)
    if order != "all distinct":
        assert ndcg_score(y, s, groups=container) == ndcg_score(y, s, groups=codes)


def floats(values):
    return np.array([np.nan if each is None else 1.0 for each in values])


def of_arrow(values):
    return pd.Series(pd.arrays.ArrowExtensionArray(values))


def categories_with(label, values):
    codes = [0 if each is None else 1 for each in values]
    labels = pd.Index([label, ("b", 1.0)], tupleize_cols=False)
    return pd.Series(pd.Categorical.from_codes(codes, labels))


MISSING = {
    "pandas str": lambda v: pd.Series(v, dtype="string"),
    "category": lambda v: pd.Series(v).astype("category"),
    "object": lambda v: v,
    "arrow": lambda v: pa.array(v.tolist()),
    "arrow dictionary": lambda v: pa.array(v.tolist()).dictionary_encode(),
    "polars": lambda v: pl.Series(v.tolist()),
    "polars categorical": lambda v: pl.Series(v.tolist(), dtype=pl.Categorical),
    "period": lambda v: pd.PeriodIndex([None if x is None else "2012-03" for x in v], freq="M"),
    "interval": lambda v: pd.arrays.IntervalArray.from_tuples([x and (0, 1) for x in v]),
    "NaN in Float64": lambda v: pd.Series(pd.arrays.FloatingArray(floats(v), np.zeros(20, bool))),
    "NaN in Arrow": lambda v: of_arrow(pa.array(floats(v))),
    "NaN in an Arrow dictionary": lambda v: pa.array(floats(v)).dictionary_encode(),
    "NaN in a pandas dictionary": lambda v: of_arrow(pa.array(floats(v)).dictionary_encode()),
    "null in a pandas dictionary": lambda v: of_arrow(
        pa.DictionaryArray.from_arrays([0 if x is None else 1 for x in v], pa.array([None, 1.0]))
    ),
    "NaN in a category of tuples": lambda v: categories_with(("a", np.nan), v),
    "None in a category of tuples": lambda v: categories_with(("a", None), v),
    "NaN in tuples": lambda v: [("a", each) for each in floats(v).tolist()],
    "NaN in objects": lambda v: floats(v).astype(object),
    "NaN in polars": lambda v: pl.Series(floats(v)),
    "NaN in runs": lambda v: pa.RunEndEncodedArray.from_arrays(np.arange(1, 21), floats(v)),
    "Int64": lambda v: pd.Series([None if x is None else 3 for x in v], dtype="Int64"),
}


@pytest.mark.parametrize("name", MISSING)
def test_groups_with_missing_ids_are_refused_with_their_place(name):
    values = WORDS[:20].copy()
    values[[3, 7]] = None
    column = MISSING[name](values)
    tables = [pd.DataFrame({"a": column, "b": 1})] if isinstance(column, pd.Series) else []
    tables += [pa.table({"a": column, "b": range(20)})] if isinstance(column, pa.Array) else []
    for ids in (column, [np.zeros(20), column], *tables):
        with pytest.raises(ValueError, match="groups has 2 missing ids, the first at index 3"):
            Grouping.of_ids(ids, 20)


def test_a_dictionary_that_has_a_label_twice_has_one_query_of_it():
    ids = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", "b", "a"]))
    assert Grouping.of_ids(ids, 4).row_codes().tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g"])
def test_groups_of_zeros_of_both_signs_are_one_query(dtype):
    ids = np.array([0.0, -0.0, 1000, -0.0] * 3, dtype=dtype)
    assert Grouping.of_ids(ids, 12).lengths.tolist() == [9, 3]


integers = st.integers(-(2**63), 2**63 - 1)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(integers, min_size=1, max_size=40), st.integers(1, 3000), st.integers(0, 2**32))
def test_hashing_finds_the_same_as_sorting(values, n, seed):
    ids = np.random.default_rng(seed).choice(np.array(values, dtype=np.int64), n)
    for kernels in KERNELS:
        found, codes = kernels.factorize(ids)
        np.testing.assert_array_equal(found[codes], ids)
        assert len(set(found.tolist())) == len(found) == len(set(ids.tolist()))


n = np.arange(100_000)
random = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, 9000)
PATTERNS = {
    "multiples": n << 40, "sorted": n * 7919, "reversed": -n * 7919, "low bits": n % 1024 << 53,
    "one": np.full(len(n), 2**62), "again": np.r_[random, random[::-1]],
} | {f"growing at {size}": np.r_[n[:size] << 33, 0] for size in (511, 512, 513, 2048, 2049)}  # fmt: skip


@pytest.mark.parametrize("kind", PATTERNS)
def test_ids_with_a_pattern(kind):
    for kernels in KERNELS:
        found, codes = kernels.factorize(PATTERNS[kind])
        assert len(found) == len(np.unique(PATTERNS[kind]))
        np.testing.assert_array_equal(found[codes], PATTERNS[kind])


def test_dictionaries_of_unsigned_codes_and_flags():
    codes = pa.array([0, 1, 0, None], type=pa.uint32())
    ids = pa.DictionaryArray.from_arrays(codes, pa.array(["b", "a"]))
    assert Grouping.of_ids(ids[:3], 3).row_codes().tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="1 missing id, at index 3"):
        Grouping.of_ids(ids, 4)
    assert Grouping.of_ids(np.array([True, False, True]), 3).labels.tolist() == [False, True]
    with pytest.raises(ValueError, match="one id for each of the 3 rows, got 0"):
        Grouping.of_ids(pl.Series([], dtype=pl.String), 3)


@pytest.mark.parametrize("name", [name for name in TEXT if name not in ("text array", "bytes")])
def test_text_is_compared_beyond_a_nul(name):
    ids = np.array(["a", "a\0", "a\0b", "a", "a\0\0"] * 60, dtype=object)
    grouping = Grouping.of_ids(TEXT[name](ids), N)
    assert grouping.row_codes().tolist() == [0, 1, 3, 0, 2] * 60


class Shouting(str):
    """Text that is equal whatever its case."""

    __slots__ = ()

    def __eq__(self, other):
        return self.lower() == other.lower()

    def __hash__(self):
        return hash(self.lower())


OBJECTS = {
    "text": ["b", "a\0", "", "ä", "a", "日本"],
    "bytes": [b"b", b"a\0", b"", b"a"],
    "int": [3, -(2**70), 2**70, 0, 7],
    "float": [3.5, -0.0, float("inf"), 1e300],
    "mixed": [2, 1.5, True, -7.0],
    "same hash": [-1, 5, -2],
    "same hashes": [0, 2**61 - 1, 1, 2**61],
    "one float": [2.0**70, 2**70 + 1, 3],
    "own rule": [Shouting("A"), Shouting("b")],
    "tuples": [(-1, -2), (-2, -1), (1, True), (2.0, 1)],  # the first two have the same hash
    "text of NumPy": [np.str_("a"), "b", np.str_("b\0")],
}


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("sort", [True, False])
def test_groups_of_objects_are_found_as_in_a_dict(kind, sort):
    labels = OBJECTS[kind]
    codes = np.r_[: len(labels), RNG.integers(0, len(labels), 300)]
    rows = [copy_of(labels[code]) for code in RNG.permutation(codes)]
    grouping = Grouping.of_ids(rows, len(rows), sort=sort)
    assert sorted(grouping.labels) == sorted(dict.fromkeys(rows))
    assert [grouping.labels[code] for code in grouping.row_codes()] == rows


def copy_of(label):
    """An equal label, for numbers sometimes of another type."""
    if isinstance(label, Shouting):
        return Shouting(label.swapcase()) if RNG.random() < 0.5 else label
    if isinstance(label, str | bytes):
        return label[:1] + label[1:]
    if isinstance(label, tuple):
        return tuple(map(copy_of, label))
    other = [label, float(label), int(label) if label % 1 == 0 else label]
    other = [each for each in other if each == label]
    return other[RNG.integers(len(other))]


@pytest.mark.parametrize(
    "ids", [[1, "a", 1, 2], [1, 2, 1, "a"], [1j, 2j, 1j, 2j], [(1, "a"), (1, 2)] * 2]
)
def test_groups_that_cannot_be_sorted_are_refused_where_no_order_is_needed(ids):
    with pytest.raises(TypeError, match="sorted"):
        ndcg_score(np.ones(4), np.arange(4.0), groups=np.fromiter(ids, dtype=object, count=4))


SEVERAL = {
    "arrow": lambda u, d: [pa.array(u), pa.array(d)],
    "arrow chunks": lambda u, d: [pa.chunked_array([v[:1], v[1:]]) for v in (u, d)],
    "arrow table": lambda u, d: pa.table({"u": u, "d": d}),
    "pandas": lambda u, d: pd.DataFrame({"u": u, "d": d}),
    "polars": lambda u, d: pl.DataFrame({"u": u, "d": d}),
    "objects": lambda u, d: np.array([u, d], dtype=object).T,
}


@pytest.mark.parametrize("kind", SEVERAL)
def test_groups_of_several_columns(kind):
    grouping = Grouping.of_ids(SEVERAL[kind](["u", "v", "u", "v"], [1, 1, 2, 1]), 4)
    assert grouping.labels.tolist() == [("u", 1), ("u", 2), ("v", 1)]
    assert grouping.row_codes().tolist() == [0, 2, 1, 2]


def test_groups_of_intervals_with_a_time_zone():
    days = pd.date_range("2020-01-01", periods=4, tz="Europe/Berlin")
    ids = pd.IntervalIndex.from_breaks(days)[[2, 0, 1, 0]]
    grouping = Grouping.of_ids(ids, 4)
    assert grouping.row_codes().tolist() == [2, 0, 1, 0]
    assert list(grouping.labels) == sorted(set(ids))


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize(
    "ids", [[{1}, {2}, {1}], [{1}, {1, 2}, {1}], [(0, {1}), (0, {2}), (0, {1})]], ids=str
)
def test_groups_of_sets_are_refused_as_only_subsets_are_sorted(ids, sort):
    freeze = {set: frozenset, tuple: lambda pair: (pair[0], frozenset(pair[1]))}
    given = [freeze[type(each)](each) for each in ids]
    with pytest.raises(TypeError, match=r"pass .*for sets tuple\(sorted\(id\)\)"):
        Grouping.of_ids(given, 3, sort=sort)


@pytest.mark.parametrize("part", [0.5, 2])  # of the limit, which other libraries may raise
def test_groups_of_tuples_that_are_too_deep_are_refused(part):
    ids = [1, 1, 2]
    for _ in range(int(part * sys.getrecursionlimit())):
        ids = [(each,) for each in ids]
    with pytest.raises(TypeError, match="ids that can be hashed and sorted: maximum recursion"):
        Grouping.of_ids(ids, 3)
