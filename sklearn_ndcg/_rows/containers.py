"""Tables, columns and arrays of other libraries, and how to recognise them.

None of them is imported: their objects are recognised by attributes that only they have.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

Column = Any  # a column, an array or a list, of any library
Table = Any  # a table or an array, of any library
Index = Any  # the labels of the rows or columns of a pandas object


def shape_of(values: Column) -> tuple[int, ...] | None:
    """The shape of an array, a table or a column; None for anything else."""
    if is_arrow_column(values):
        return (len(values),)
    return values.shape if has_shape(values) else None


def shape_of_rows(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape (n,) for a column of shape (n, 1); any other shape unchanged."""
    return shape[:1] if shape[1:] == (1,) else shape


def dtype_of(values: Column) -> Any:
    """The type of the values of an array or a column; None for anything else."""
    return values.type if is_arrow_column(values) else getattr(values, "dtype", None)


def array_of(column: Column) -> Column:
    """The values of a column of pandas, without its index."""
    return getattr(column, "array", column)


def without_chunks(values: Column) -> Column:
    """A column or table of PyArrow as arrays in one piece; anything else unchanged.

    NumPy reads the nulls of dictionaries in chunks as if they were values.
    """
    if is_arrow_table(values):
        return np.column_stack([without_chunks(column) for column in values.columns])
    return values.combine_chunks() if hasattr(values, "combine_chunks") else values


def as_list(column: Column) -> Any:
    """A column or a list of Polars or Arrow as a list; anything else unchanged."""
    if is_polars_column(column):
        return column.to_list()
    if is_arrow_column(column):
        return column.to_pylist()
    return column.as_py() if hasattr(column, "as_py") else column  # a value of an Arrow column


def has_shape(values: object) -> bool:
    """Whether this is a table, an array or a sparse matrix."""
    return isinstance(getattr(values, "shape", None), tuple)


def converts_to_array(values: object) -> bool:
    """Whether an object, or those of a class, say how they become an array of NumPy."""
    return hasattr(values, "__array__")


def is_sparse(values: object) -> TypeGuard[Any]:
    """Whether this is a sparse matrix or array."""
    return hasattr(values, "tocsr")


def is_pandas(values: object) -> bool:
    """Whether this is a Series or a DataFrame of pandas."""
    return hasattr(values, "iloc")


def is_pandas_column(values: object) -> bool:
    """Whether this is a Series, an Index or an array of pandas."""
    return hasattr(values, "factorize")


def is_pandas_groups(values: object) -> bool:
    """Whether this is the attribute `groups` of a groupby of pandas."""
    return type(values).__name__ == "PrettyDict"


def is_default_index(index: Index) -> bool:
    """Whether the index of a pandas object only numbers its rows, and has no name."""
    return hasattr(index, "step") and (index.start, index.step, index.name) == (0, 1, None)


def is_polars_column(values: object) -> bool:
    """Whether this is a Series of Polars."""
    return hasattr(values, "to_physical")


def is_arrow_table(values: object) -> bool:
    """Whether this is a table of PyArrow."""
    return hasattr(values, "column_names")


def is_arrow_column(values: object) -> bool:
    """Whether this is a column of PyArrow."""
    return hasattr(values, "dictionary_encode")
