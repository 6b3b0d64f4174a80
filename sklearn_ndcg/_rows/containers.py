"""Tables, columns and arrays of other libraries: what is used of them, and how to recognise them.

No library is imported: its objects are recognised by attributes that only they have.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Protocol, Self, TypeGuard

import numpy as np

from sklearn_ndcg._checks import Floats, Ids, Ints, Mask


class Shaped(Protocol):
    """A table, an array or a sparse matrix."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> object: ...
    def __getitem__(self, key: Any, /) -> Any: ...


class SparseMatrix(Shaped, Protocol):
    """A sparse matrix or sparse array of SciPy."""

    def tocsr(self) -> SparseMatrix: ...
    def toarray(self) -> Ids: ...


class PlainArray(Protocol):
    """An array without labels, of any library."""

    ndim: int

    def tolist(self) -> list[Hashable]: ...


class Index(Protocol):
    """The labels of the rows or columns of a pandas object."""

    names: Sequence[Hashable]
    nlevels: int
    is_unique: bool

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Hashable]: ...
    def __getitem__(self, number: int, /) -> Hashable: ...
    def __contains__(self, label: object, /) -> bool: ...
    def equals(self, other: Index, /) -> bool: ...
    def isin(self, values: Index, /) -> Mask: ...
    def sort_values(self) -> Index: ...
    def get_level_values(self, level: Hashable, /) -> object: ...


class Table(Protocol):
    """A table of pandas, Polars or PyArrow; the latter's `columns` are its data."""

    columns: Iterable[Hashable]


class Pandas(Protocol):
    """A Series or a DataFrame; only the latter has `itertuples`."""

    ndim: int
    index: Index
    iloc: Shaped

    def take(self, rows: Ints, /) -> object: ...
    def drop(self, *, columns: list[Hashable]) -> object: ...
    def to_dict(self) -> dict[Hashable, object]: ...
    def itertuples(self, *, index: bool) -> Iterable[object]: ...


class PandasColumn(Protocol):
    """A Series, an Index or an array of pandas."""

    dtype: object

    def factorize(self) -> tuple[Ints, PandasLabels]: ...
    def to_numpy(self, *, dtype: type[np.float64], na_value: float) -> Floats: ...


class PandasCategories(PandasColumn, Protocol):
    """An array of categories."""

    codes: Ints
    categories: PandasLabels


class PandasLabels(Protocol):
    """The distinct values of a column of pandas."""

    dtype: np.dtype[Any]

    def __iter__(self) -> Iterator[Hashable]: ...
    def take(self, codes: Ints, /) -> object: ...


class PolarsColumn(Protocol):
    """A Series of Polars."""

    dtype: object

    def cast(self, dtype: object, /) -> Self: ...
    def to_physical(self) -> Self: ...
    def fill_null(self, value: int, /) -> Self: ...
    def gather(self, rows: Ints, /) -> Self: ...
    def to_numpy(self) -> Ints: ...
    def to_list(self) -> list[Hashable]: ...


class Arrow(Protocol):
    """A table or a column of PyArrow."""

    def take(self, rows: Ints, /) -> object: ...


class ArrowTable(Protocol):
    """A table of PyArrow."""

    column_names: list[str]
    columns: list[object]


class ArrowColumn(Protocol):
    """A column of PyArrow; `indices` and `dictionary` are those of dictionaries."""

    type: object
    indices: ArrowColumn
    dictionary: ArrowColumn

    def __len__(self) -> int: ...
    def cast(self, dtype: str, /) -> ArrowColumn: ...
    def fill_null(self, value: int, /) -> ArrowColumn: ...
    def dictionary_encode(self) -> ArrowColumn: ...
    def to_numpy(self, *, zero_copy_only: bool) -> Ids: ...


class ArrowChunks(Protocol):
    """A column of PyArrow in several chunks."""

    def unify_dictionaries(self) -> Self: ...
    def combine_chunks(self) -> ArrowColumn: ...


class PlainTable(Protocol):
    """A table without an index, of Polars or PyArrow."""

    def select(self, names: list[Hashable], /) -> object: ...
    def drop(self, names: list[Hashable], /) -> object: ...


def shape_of(values: object) -> tuple[int, ...] | None:
    """The shape of an array, a table or a column; None for anything else."""
    if is_arrow_column(values):
        return (len(values),)
    return values.shape if has_shape(values) else None


def dtype_of(values: object) -> object:
    """The type of the values of an array or a column; None for anything else."""
    return values.type if is_arrow_column(values) else getattr(values, "dtype", None)


def kind_of(values: object) -> str:
    """The kind of NumPy that values are of, such as "f"; "" if their library has no kinds."""
    return str(getattr(dtype_of(values), "kind", ""))


def labels_of(values: object, axis: str = "index") -> Index | None:
    """The labels of the rows ("index") or "columns" of a pandas object; None for anything else."""
    labels: Index | None = getattr(values, axis, None)
    return labels if hasattr(labels, "equals") else None


def text_storage_of(dtype: object) -> str:
    """Where pandas keeps text: "python" or "pyarrow"; "" for other types."""
    return str(getattr(dtype, "storage", ""))


def unit_of_zoned_dates(dtype: object) -> str | None:
    """The unit of dates that have a time zone, such as "ns"; None for other types."""
    return getattr(dtype, "unit", None) if getattr(dtype, "tz", None) else None


def array_of(column: PandasColumn) -> PandasColumn:
    """The values of a column of pandas, without its index."""
    array: PandasColumn = getattr(column, "array", column)
    return array


def has_shape(values: object) -> TypeGuard[Shaped]:
    """Whether this is a table, an array or a sparse matrix."""
    return isinstance(getattr(values, "shape", None), tuple)


def converts_to_array(values: object) -> bool:
    """Whether an object, or those of a class, say how they become an array of NumPy."""
    return hasattr(values, "__array__")


def is_sparse(values: object) -> TypeGuard[SparseMatrix]:
    """Whether this is a sparse matrix or array."""
    return hasattr(values, "tocsr")


def is_plain_array(values: object) -> TypeGuard[PlainArray]:
    """Whether this is an array, and not a column of a library of tables."""
    return hasattr(values, "tolist") and hasattr(values, "ndim") and not is_pandas(values)


def is_table(values: object) -> TypeGuard[Table]:
    """Whether this is a table of pandas, Polars or PyArrow."""
    return hasattr(values, "columns")


def is_plain_table(values: object) -> TypeGuard[PlainTable]:
    """Whether this is a table without an index, of Polars or PyArrow."""
    return is_table(values) and hasattr(values, "select") and not is_pandas(values)


def is_pandas(values: object) -> TypeGuard[Pandas]:
    """Whether this is a Series or a DataFrame of pandas."""
    return hasattr(values, "iloc")


def is_pandas_table(values: object) -> TypeGuard[Pandas]:
    """Whether this is a DataFrame of pandas."""
    return hasattr(values, "itertuples")


def is_pandas_column(values: object) -> TypeGuard[PandasColumn]:
    """Whether this is a Series, an Index or an array of pandas."""
    return hasattr(values, "factorize")


def is_categorical(column: PandasColumn) -> TypeGuard[PandasCategories]:
    """Whether an array of pandas has categories."""
    return hasattr(column, "categories")


def is_polars_column(values: object) -> TypeGuard[PolarsColumn]:
    """Whether this is a Series of Polars."""
    return hasattr(values, "to_physical")


def is_arrow(values: object) -> TypeGuard[Arrow]:
    """Whether this is a column or a table of PyArrow."""
    return hasattr(values, "to_pylist")


def is_arrow_table(values: object) -> TypeGuard[ArrowTable]:
    """Whether this is a table of PyArrow."""
    return hasattr(values, "column_names")


def is_arrow_column(values: object) -> TypeGuard[ArrowColumn]:
    """Whether this is a column of PyArrow."""
    return hasattr(values, "dictionary_encode")


def is_chunked(column: ArrowColumn) -> TypeGuard[ArrowChunks]:
    """Whether a column of PyArrow may have several chunks."""
    return hasattr(column, "combine_chunks")
