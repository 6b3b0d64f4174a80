"""Input of every kind: numbers, missing values, sparse matrices, objects, tables."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import graded_rows

from sklearn_ndcg import (
    ndcg_samples,
    ndcg_score,
    quantile_grades,
)

NAN, INF = np.nan, np.inf
Y, S, G = [1, 0, 2, 0], [4, 3, 2, 1], [1, 1, 2, 2]

_, RELEVANCE, QUERIES = graded_rows(20, (5, 5))
RELEVANCE = RELEVANCE.astype(float)
SCORES = np.random.default_rng(1).integers(0, 4, 100).astype(float)


class Bare:
    """Has only ``__array__``, without the arguments that NumPy 2 passes."""

    def __init__(self, values):
        self.values = values

    def __array__(self):
        return self.values


NUMBERS = {
    "__array__": Bare,
    "half": lambda v: v.astype(np.float16),
    "uint64": lambda v: v.astype(np.uint64),
    "subclass": lambda v: v.view(type("Mine", (np.ndarray,), {})),
    "pandas Int8": lambda v: pd.Series(v, dtype="Int8"),
    "pandas sparse": lambda v: pd.Series(pd.arrays.SparseArray(v)),
    "decimal": lambda v: pa.array(v).cast(pa.decimal128(25, 2)),
    "polars": lambda v: pl.Series(v).cast(pl.UInt8),
}


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.filterwarnings("ignore:NDCG is undefined")
def test_numbers_of_every_kind(kind):
    y_true, y_score, groups = map(NUMBERS[kind], (RELEVANCE, SCORES, QUERIES))
    found = ndcg_samples(y_true, y_score, groups=groups)
    np.testing.assert_array_equal(found, ndcg_samples(RELEVANCE, SCORES, groups=QUERIES))
    found = quantile_grades(y_score, groups=groups)
    np.testing.assert_array_equal(found, quantile_grades(SCORES, groups=QUERIES))


MISSING = [1, None, 0, 1, 0, 1]
NULLABLE = {
    "Arrow": pa.array(MISSING),
    "polars": pl.Series(MISSING),
    "list": MISSING,
    "objects": np.array(MISSING, dtype=object),
    "pandas.NA in objects": pd.Series([1, pd.NA, 0, 1, 0, 1], dtype=object),
    "Int64": pd.Series(MISSING, dtype="Int64"),
    "double[pyarrow]": pd.Series(MISSING, dtype="double[pyarrow]"),
}
if pd.__version__ >= "2.3":  # NumPy cannot read it before
    NULLABLE["int64[pyarrow]"] = pd.Series(MISSING, dtype="int64[pyarrow]")


@pytest.mark.parametrize("kind", NULLABLE)
def test_missing_relevance_of_every_kind(kind):
    options = {"groups": [1, 1, 1, 2, 2, 2], "unjudged": "omit"}
    expected = ndcg_samples([1, NAN, 0, 1, 0, 1], [1, 2, 3, 3, 1, 2], **options)
    found = ndcg_samples(NULLABLE[kind], [1, 2, 3, 3, 1, 2], **options)
    np.testing.assert_array_equal(found, expected)


def chunks(values):
    return pa.chunked_array([values[:2], values[2:]])


def dictionary(make):
    return lambda values: make(values).dictionary_encode()


ARROW = {
    "array": pa.array,
    "chunks": chunks,
    "dictionary": dictionary(pa.array),
    "dictionary in chunks": dictionary(chunks),
    "a dictionary of each chunk": lambda v: pa.chunked_array(
        [pa.array(v[:2]).dictionary_encode(), pa.array(v[2:]).dictionary_encode()]
    ),
    "column of a table": lambda v: pa.table({"a": pa.array(v).dictionary_encode()})["a"],
}
ARROW_ARGUMENTS = {"y_true": [0, 1, 1, 2], "y_score": [1, 4, 3, 2], "groups": [0, 1, 0, 1]}
ARROW_ARGUMENTS["sample_weight"] = [1, 2, 3, 1]


@pytest.mark.parametrize("argument", ARROW_ARGUMENTS)
@pytest.mark.parametrize("kind", ARROW)
def test_nulls_of_arrow_in_any_form(kind, argument):
    values = ARROW_ARGUMENTS[argument]
    whole = ARROW_ARGUMENTS | {argument: ARROW[kind](values)}
    assert ndcg_score(**whole) == ndcg_score(**ARROW_ARGUMENTS)
    holes = ARROW_ARGUMENTS | {argument: ARROW[kind]([values[0], None, *values[2:]])}
    with pytest.raises(ValueError, match=f"{argument}.*(NaN|nan|missing)"):
        ndcg_score(**holes)
    if argument == "y_true":
        as_zero = ARROW_ARGUMENTS | {"y_true": [0, 0, 1, 2]}
        assert ndcg_score(**holes, unjudged="zero") == ndcg_score(**as_zero)


def test_nulls_of_a_table_of_dictionaries():
    columns = {name: pa.array([0, None, 2]).dictionary_encode() for name in "ab"}
    found = ndcg_score(pa.table(columns), [[2, 1], [1, 2], [1, 2]], unjudged="omit", undefined=0.0)
    assert found == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("y_true", "y_score"),
    [(np.c_[Y], S), (Y, pd.DataFrame({"score": S}))],
    ids=["y_true", "y_score"],
)
def test_a_table_of_one_column_with_groups_is_that_column(y_true, y_score):
    assert ndcg_score(y_true, y_score, groups=G) == ndcg_score(Y, S, groups=G)


def test_a_missing_score_among_objects_is_refused():
    with pytest.raises(ValueError, match="contains (NaN|infinity): 1 NaN or \\+inf, at index 1"):
        ndcg_score([1, 0, 2], [2**70, None, 2**70 + 1], groups=[1, 1, 1])


def test_sample_weight_may_have_other_labels_than_the_rows():
    y_true, y_score, weight = map(pd.Series, (Y, S, [1, 2, 3, 4]))
    weight.index += 2
    found = ndcg_score(y_true, y_score, groups=G, sample_weight=weight)
    assert found == ndcg_score(Y, S, groups=G, sample_weight=[1, 2, 3, 4])


@pytest.mark.parametrize("argument", ["y_true", "y_score", "groups", "sample_weight"])
def test_a_masked_array_that_hides_nothing_is_an_array(argument):
    arguments = {"y_true": Y, "y_score": S, "groups": G, "sample_weight": [1, 2, 3, 4]}
    masked = np.ma.array(arguments[argument], mask=False)
    assert ndcg_score(**arguments | {argument: masked}) == ndcg_score(**arguments)
