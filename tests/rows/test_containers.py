"""Objects of every library are recognised as what they are, and as nothing else."""

from inspect import getmembers, isfunction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from sklearn_ndcg._rows import containers

GUARDS = {name for name, _ in getmembers(containers, isfunction) if name.startswith("is_")}
frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
text = pa.array(["a", "b"])

RECOGNISED = {
    "list": ([1, 2], []),
    "array": (np.arange(2), []),
    "sparse": (sparse.csr_matrix(np.eye(2)), ["is_sparse"]),
    "DataFrame of pandas": (frame, ["is_pandas"]),
    "Series of pandas": (frame["a"], ["is_pandas", "is_pandas_column"]),
    "Index of pandas": (frame.index, ["is_pandas_column"]),
    "categories of pandas": (pd.Categorical(["a"]), ["is_pandas_column"]),
    "DataFrame of Polars": (pl.DataFrame(frame), []),
    "Series of Polars": (pl.Series([1, 2]), ["is_polars_column"]),
    "table of PyArrow": (pa.table({"a": text}), ["is_arrow_table"]),
    "column of PyArrow": (text, ["is_arrow_column"]),
    "chunks of PyArrow": (pa.chunked_array([text]), ["is_arrow_column"]),
}


@pytest.mark.parametrize(("values", "expected"), RECOGNISED.values(), ids=RECOGNISED)
def test_objects_are_recognised_as_what_they_are(values, expected):
    assert [name for name in sorted(GUARDS) if getattr(containers, name)(values)] == expected


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        (np.eye(2), (2, 2)),
        (frame["a"], (2,)),
        (text, (2,)),
        (pl.DataFrame(frame), (2, 2)),
        ([1, 2], None),
        ("ab", None),
        (None, None),
    ],
    ids=["array", "pandas", "arrow", "polars", "list", "text", "None"],
)
def test_shapes(values, shape):
    assert containers.shape_of(values) == shape
