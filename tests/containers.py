"""Kinds of ids and containers of values, which tests of any input go through.

`TEXT` makes a container of an object array of text. `IDS` makes ids of an array of integers from
0 to 299, which sort as these do. `FLOATS` makes a container of a list of floats.
"""

import tempfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

N_IDS = 300


def categories(texts):
    """Text as categories, in descending order and with one that is not used."""
    labels = [*sorted(set(texts.tolist()), reverse=True), "unused"]
    return pd.Categorical(texts, categories=labels)


def arrow_series(values):
    """A Series of pandas whose values are of Arrow."""
    return pd.Series(pd.arrays.ArrowExtensionArray(values))


def halves(values):
    """A column of Arrow in two chunks, each with a dictionary of its own."""
    half = len(values) // 2
    chunks = values[:half], values[half:]
    return pa.chunked_array([pa.array(chunk, pa.string()).dictionary_encode() for chunk in chunks])


TEXT = {
    "objects": lambda v: v,
    "list": lambda v: v.tolist(),
    "tuple": tuple,
    "pandas str": lambda v: pd.Series(v, dtype="string"),
    "pandas python str": lambda v: pd.Series(v, dtype=pd.StringDtype("python")),
    "pandas arrow": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.string())),
    "pandas arrow view": lambda v: arrow_series(pa.array(v, type=pa.string_view())),
    "pandas index": pd.Index,
    "category": lambda v: pd.Series(categories(v)),
    "Categorical": categories,
    "arrow": pa.array,
    "arrow large": lambda v: pa.array(v, type=pa.large_string()),
    "arrow dictionary": lambda v: pa.array(v).dictionary_encode(),
    "arrow dictionaries": halves,
    "polars": lambda v: pl.Series(v.tolist()),
    "polars categorical": lambda v: pl.Series(v.tolist(), dtype=pl.Categorical),
    "polars enum": lambda v: pl.Series(v.tolist(), dtype=pl.Enum(categories(v).categories)),
}
if hasattr(np.dtypes, "StringDType"):
    TEXT["strings of NumPy 2"] = lambda v: np.array(v.tolist(), np.dtypes.StringDType())
WORDS = np.array([f"q{i:04d}" for i in range(N_IDS)], dtype=object)
BIG = np.sort([(i * 2654435761) % 2**61 - 2**60 for i in range(N_IDS)])
DAYS = np.datetime64("1969-06-01") + np.arange(N_IDS)


def intervals(codes):
    days = DAYS.astype("M8[ns]")
    return pd.IntervalIndex.from_arrays(days[codes], np.full(len(codes), days[-1]))


def of_text(make):
    return lambda codes: make(WORDS[codes])


IDS = {f"text: {name}": of_text(make) for name, make in TEXT.items()} | {
    "text array": lambda c: WORDS[c].astype(str),
    "bytes": lambda c: WORDS[c].astype("S"),
    "int64": lambda c: BIG[c],
    "int32": lambda c: (7919 * c).astype(np.int32),
    "uint64": lambda c: c.astype(np.uint64) + np.uint64(2**64 - N_IDS),
    "beyond int64": lambda c: [int(i) + 2**70 for i in c],
    "big-endian": lambda c: BIG[c].astype(">i8"),
    "strided": lambda c: np.repeat(BIG[c], 2)[::2],
    "float64": lambda c: BIG[c] / 2**9,  # below 2**53
    "float32": lambda c: (c / 7).astype(np.float32),
    "tuples": lambda c: [(int(i) // 2, "ab"[i % 2]) for i in c],
    "levels of an index": lambda c: pd.MultiIndex.from_arrays([c // 2, c]),
    "pandas Int64": lambda c: pd.Series(BIG[c], dtype="Int64"),
    "category of integers": lambda c: pd.Series(BIG[c]).astype("category"),
    "polars integers": lambda c: pl.Series(BIG[c]),
    "arrow integers": lambda c: pa.array(BIG[c]),
    "days": lambda c: DAYS[c],
    "nanoseconds": lambda c: DAYS[c].astype("M8[ns]"),
    "spans": lambda c: c.astype("m8[s]"),
    "time zone": lambda c: pd.Series(DAYS[c].astype("M8[ns]")).dt.tz_localize("Europe/Berlin"),
    "periods": lambda c: pd.PeriodIndex(DAYS[c], freq="D"),
    "intervals": intervals,
    "polars dates": lambda c: pl.Series(DAYS[c].astype("M8[ms]")).cast(pl.Date),
}


def read_only(values):
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array


def on_disk(values):
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=float, shape=len(values), mode="w+")
        mapped[:] = values
    return mapped


FLOATS = {
    "list": list,
    "tuple": tuple,
    "array": lambda v: np.array(v, dtype=float),
    "read-only": read_only,
    "longdouble": lambda v: np.array(v, dtype=np.longdouble),
    "big-endian": lambda v: np.array(v, dtype=">f8"),
    "objects": lambda v: np.array(v, dtype=object),
    "strided": lambda v: np.repeat(np.array(v, dtype=float), 2)[::2],
    "masked": lambda v: np.ma.array(np.array(v, dtype=float), mask=False),
    "memmap": on_disk,
    "pandas": lambda v: pd.Series(v, dtype=float, index=range(len(v), 0, -1)),
    "nullable": lambda v: pd.Series(pd.array(np.array(v, dtype=float), dtype="Float64")),
    "pandas on Arrow": lambda v: pd.Series(v, dtype="double[pyarrow]"),
    "polars": lambda v: pl.Series(v, dtype=pl.Float64),
    "Arrow": lambda v: pa.array(v, pa.float64()),
    "Arrow chunks": lambda v: pa.chunked_array([v[:1], v[1:]], pa.float64()),
}
