"""Ids of queries, whatever holds them, as labels and numbers.

The library that holds a column also factorizes it, where it is one of pandas, Polars or Arrow:
none of them is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import is_missing, refuse_masked, to_host, where
from sklearn_ndcg._typing import Ints

_HASH_OF_IDENTITY: Any = object.__hash__


def encode_ids(groups: Any, n_rows: int) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    """Ids that NumPy can compare; where these are codes, their sorted labels too."""
    refuse_masked(groups, "groups")
    groups = _readable(groups)
    encoded = None
    if not isinstance(groups, np.ndarray):
        try:
            encoded = _encode_column(groups)
            ids = np.asarray(groups) if encoded is None else encoded[1]
        except Exception as error:
            raise TypeError(
                f"groups must be an array of ids, got {type(groups).__name__}: {error}"
            ) from error
    else:
        ids = groups
    _check_shape(ids, groups, n_rows)
    if encoded is not None:
        return _labels_of_codes(*encoded)
    if ids.dtype.kind == "O":
        return _factorize(ids)
    if ids.dtype.kind in "fmM":
        _refuse_missing(np.isnan(ids) if ids.dtype.kind == "f" else np.isnat(ids))
    return None, ids


def unique_ids(ids: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """``np.unique(ids, return_inverse=True)``, in time that grows with the rows only."""
    if ids.dtype.kind in "SU":
        return _factorize(ids)
    if ids.dtype.kind == "b":
        found, codes = _unique_by_table(ids.view(np.uint8))
        return found.astype(bool), codes
    if ids.dtype.kind in "iu" and int(ids.max()) - int(ids.min()) <= 2 * len(ids):
        return _unique_by_table(ids)
    if ids.dtype.kind == "f" and ids.dtype.itemsize != 8:
        return np.unique(ids, return_inverse=True)
    wide = np.ascontiguousarray(ids, dtype=np.int64 if ids.dtype.itemsize < 8 else None)
    if ids.dtype.kind == "f":
        wide = wide + 0.0  # one zero
    found, codes = _kernels.backend.factorize(wide.view(np.int64))
    found = found.view(wide.dtype).astype(ids.dtype, copy=False)
    order = np.argsort(found)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return found[order], place[codes]


def _readable(groups: Any) -> Any:
    """Sequences and arrays of the array API as NumPy arrays; columns of libraries as they are."""
    if isinstance(groups, Sequence) and not isinstance(groups, str | bytes | range):
        # np.asarray would turn [1, "1", nan] into text
        return np.fromiter(groups, dtype=object, count=len(groups))
    try:
        groups = to_host(groups)
        dtype: Any = getattr(groups, "dtype", None)
        if getattr(dtype, "tz", None):
            # a time zone makes objects of dates, slowly, and changes nothing about their order
            return np.asarray(groups, dtype=f"M8[{dtype.unit}]")
        if isinstance(groups, np.ndarray) and groups.dtype.kind == "T":
            return groups.astype(object)
    except Exception as error:
        raise TypeError(
            f"groups must be an array of ids, got {type(groups).__name__}: {error}"
        ) from error
    return groups


def _encode_column(column: Any) -> tuple[Any, Ints] | None:
    """Distinct ids and each row's place among them, -1 where one is missing, by their library.

    None for what is not such a column, and for numbers, dates and objects, which NumPy reads.
    """
    library = type(column).__module__.split(".")[0]
    if library == "polars" and hasattr(column, "to_physical"):
        return _encode_polars(column)
    if hasattr(column, "dictionary_encode") or hasattr(column, "dictionary_decode"):
        return _encode_arrow(column)
    if hasattr(column, "factorize"):  # pandas
        dtype = column.dtype
        # pandas hashes Python strings up to their first NUL
        if isinstance(dtype, np.dtype) or getattr(dtype, "storage", "") == "python":
            return None
        codes, found = column.factorize()
        return np.asarray(found, dtype=object), codes
    return None


def _encode_polars(column: Any) -> tuple[Any, Ints] | None:
    polars = sys.modules["polars"]
    if not len(column):
        return None
    if column.dtype == polars.String:
        column = column.cast(polars.Categorical)
    elif not isinstance(column.dtype, polars.Categorical | polars.Enum):
        return None
    physical = column.to_physical()
    missing = physical.is_null().to_numpy()
    found, codes = unique_ids(physical.fill_null(0).to_numpy().astype(np.intp))
    first_row = np.empty(len(found), dtype=np.intp)
    first_row[codes[::-1]] = np.arange(len(codes))[::-1]  # of several rows the last written stays
    return column[first_row].to_list(), np.where(missing, -1, codes)


def _encode_arrow(column: Any) -> tuple[Any, Ints] | None:
    pyarrow = sys.modules["pyarrow"]
    types = pyarrow.types
    if types.is_dictionary(column.type):
        if hasattr(column, "unify_dictionaries"):
            column = column.unify_dictionaries()
    elif types.is_string(column.type) or types.is_large_string(column.type):
        column = column.dictionary_encode()
    else:
        return None
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    codes = column.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    return column.dictionary.to_numpy(zero_copy_only=False), codes


def _labels_of_codes(found: NDArray[Any], codes: Ints) -> tuple[NDArray[Any], Ints]:
    """Sorted labels that have rows, and each row's place among them."""
    _refuse_missing(codes < 0)
    labels, place = _factorize(np.fromiter(found, dtype=object, count=len(found)))
    has_rows = np.zeros(len(labels), dtype=bool)
    has_rows[place[np.bincount(codes, minlength=len(place)) > 0]] = True
    place = (np.cumsum(has_rows) - 1)[place]
    return labels[has_rows], place[codes]


def columns_of_ids(groups: Any, n_rows: int) -> list[Any] | None:
    """The columns of compound ids; None where there is one id per row."""
    if isinstance(groups, list | tuple):
        return list(groups) if groups and all(_is_column(each, n_rows) for each in groups) else None
    if hasattr(groups, "column_names"):  # pyarrow, whose `columns` are the data
        return list(groups.columns)
    shape = None if hasattr(groups, "tocsr") else getattr(groups, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] < 2:
        return None
    names = getattr(groups, "columns", None)
    if names is not None and not hasattr(groups, "iloc"):
        return [groups[name] for name in names]
    by_place = getattr(groups, "iloc", groups)  # names of pandas may be repeated
    return [by_place[:, column] for column in range(shape[1])]


def _is_column(values: Any, n_rows: int) -> bool:
    """Whether this is a column of ids, an array or list, rather than one id."""
    if isinstance(values, list):
        return len(values) == n_rows and not any(isinstance(each, list) for each in values)
    return getattr(values, "shape", None) == (n_rows,)


def _check_shape(ids: NDArray[Any], groups: Any, n_rows: int) -> None:
    if ids.ndim != 1:
        raise ValueError(
            f"groups must be 1-D, one id per row, got {type(groups).__name__} of shape {ids.shape}."
        )
    if len(ids) != n_rows:
        raise ValueError(
            f"groups must have one id for each of the {n_rows} rows, got {len(ids)}."
            + _sizes_hint(groups, n_rows)
        )
    if ids.dtype.kind not in "biufmMOSU":
        raise TypeError(f"groups must be ids that can be sorted, got dtype {ids.dtype}.")


def _refuse_missing(missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise ValueError(f"groups must not be missing, found {where(missing, 'missing id')}.")


def _sizes_hint(groups: Any, n_rows: int) -> str:
    try:
        sizes = np.asarray(groups).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return ""
    if sizes.sum() != n_rows or (sizes < 0).any():
        return ""
    return (
        f" These look like group sizes, as they add up to {n_rows}. Ids are made from sizes by "
        "groups = np.repeat(np.arange(len(sizes)), sizes)."
    )


def _factorize(ids: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Sorted labels and each row's place among them, for text and objects."""
    listed = ids.tolist()
    try:
        try:
            seen = dict.fromkeys(listed)
        except TypeError:  # arrays have no hash
            seen = {}
        if not seen or any(map(_holds_array, seen)):
            listed = [_value_of_array(label) for label in listed]
            seen = dict.fromkeys(listed)
        seen = {label: code for code, label in enumerate(seen)}
        codes = np.fromiter(map(seen.__getitem__, listed), dtype=np.intp, count=len(listed))
    except TypeError as error:
        raise TypeError(f"groups must be ids that can be hashed and sorted: {error}") from error
    missing = np.array([is_missing(label) for label in seen])
    _refuse_missing(missing[codes])
    for label in seen:
        _refuse_hash_of_identity(label)
    try:
        by_label = sorted(range(len(seen)), key=list(seen).__getitem__)
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in seen}))
        raise TypeError(
            f"groups must be ids of one type that can be sorted, found {kinds}: convert them, for "
            "example with [str(id) for id in groups]."
        ) from error
    place = np.empty(len(seen), dtype=np.intp)
    place[by_label] = np.arange(len(seen))
    labels = np.fromiter(seen, dtype=object, count=len(seen))[by_label]
    return labels, place[codes]


def _holds_array(label: Any) -> bool:
    if isinstance(label, tuple):
        return any(map(_holds_array, label))
    return hasattr(type(label), "__array__") and not isinstance(label, np.generic)


def _value_of_array(label: Any) -> Any:
    """The value of a 0-d array or tensor, which may be equal to nothing but itself."""
    if isinstance(label, tuple):
        return tuple(map(_value_of_array, label))
    if not _holds_array(label):
        return label
    array = np.asarray(to_host(label))
    if array.ndim:
        raise TypeError(f"found an array of shape {array.shape} as an id.")
    return array[()]


def _refuse_hash_of_identity(label: Any) -> None:
    if isinstance(label, tuple):
        for part in label:
            _refuse_hash_of_identity(part)
    elif type(label).__hash__ is _HASH_OF_IDENTITY:
        raise TypeError(
            f"groups must be ids that are equal where they mean the same query, but a "
            f"{type(label).__name__} is equal only to itself, and each row would be a query of its "
            "own. Pass what it stands for, a number or text."
        )


def _unique_by_table(ids: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """The same for integers that are close together, by a table of those that occur."""
    low = ids.min().astype(np.int64)
    place = ids.astype(np.int64, copy=False) - low  # wraps around and back for large uint64
    seen = np.zeros(place.max() + 1, dtype=bool)
    seen[place] = True
    found = (np.flatnonzero(seen) + low).astype(ids.dtype)
    return found, place if len(found) == len(seen) else (np.cumsum(seen) - 1)[place]
