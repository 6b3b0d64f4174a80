"""Ids of queries in any container, as codes that NumPy compares, and their labels.

Columns of pandas, Polars and Arrow are encoded by their own libraries, which are not imported here.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import Ints, describe_mask, is_missing, refuse_masked, to_host
from sklearn_ndcg._kernels.threads import map_rows
from sklearn_ndcg._rows.columns import column_names

LabelsAt = Callable[[Ints], Iterable[Any]]  # the labels of some rows

_NOUNS = {"order_by": "value"}  # what errors call the values of an argument, if not ids
_HASH_OF_IDENTITY: Any = object.__hash__
_MANY_TUPLES = 500  # from this number on, it is checked whether hashes of tuples collide
_ROWS_AT_ONCE = 1 << 16  # their numbers fit the processor's cache
_HASHED_AT_ONCE = 1 << 14  # rows of text that fit the processor's cache


def encode_ids(groups: Any, n_rows: int, name: str) -> tuple[NDArray[Any], LabelsAt | None]:
    """The id of each row; or a code for it, with a function that returns the labels of rows.

    Rows with one code have one label; two codes may have the same label. `name` is the argument,
    for errors.
    """
    refuse_masked(groups, name)
    try:
        readable = _readable(groups)
        ids, labels_at = _encode_column(readable) or (np.asarray(readable), None)
    except Exception as error:
        raise TypeError(
            f"{name} must be an array of {_noun(name)}s, got {type(groups).__name__}: {error}"
        ) from error
    _check_shape(ids, groups, n_rows, name)
    if labels_at is None and ids.dtype.kind == "O":
        ids, labels_at = _encode_objects(ids, name)
    if ids.dtype.kind in "fmM":
        _refuse_missing(np.isnan(ids), name)
    elif labels_at is not None and ids.dtype.kind == "i" and ids.min() < 0:
        _refuse_missing(ids < 0, name)
    return ids, labels_at


def unique_ids(ids: NDArray[Any], sort: bool) -> tuple[NDArray[Any], Ints]:
    """``np.unique(ids, return_inverse=True)``, in linear time.

    Without `sort` the distinct ids may come in any order.
    """
    if ids.dtype.kind in "biu":
        parts = map_rows(lambda part: (ids[part].min(), ids[part].max()), len(ids))
        low, high = min(low for low, _ in parts), max(high for _, high in parts)
        if int(high) - int(low) <= 2 * len(ids):
            return _unique_by_table(ids, low, int(high) - int(low) + 1)
    if ids.dtype.kind in "SU":
        found, codes = _unique_text(ids)
    elif ids.dtype.kind == "f" and ids.dtype.itemsize != 8:
        return np.unique(ids, return_inverse=True)
    else:
        wide = np.ascontiguousarray(ids, dtype=np.int64 if ids.dtype.itemsize < 8 else None)
        if ids.dtype.kind == "f":
            wide = wide + 0.0  # -0.0 becomes 0.0
        found, codes = _kernels.backend.factorize(wide.view(np.int64))
        found = found.view(wide.dtype).astype(ids.dtype, copy=False)
    if not sort:
        return found, codes
    order = np.argsort(found)
    return found[order], first_rows(order)[codes]


def unique_labels(labels: Iterable[Any], sort: bool, name: str) -> tuple[NDArray[Any], Ints]:
    """Distinct labels, sorted if `sort`, and the place of each given label among them."""
    listed = list(labels)
    kinds = set(map(type, listed))
    if kinds != {str}:
        for label in listed:
            _refuse_unsortable(label, name)
    codes, found = _number(listed)
    try:
        # labels that cannot be sorted are refused without `sort`, too
        if sort or len(kinds) > 1 or tuple in kinds:
            order = sorted(range(len(found)), key=found.__getitem__)
            found, codes = [found[i] for i in order], first_rows(np.array(order))[codes]
        else:
            sorted(found[:2])
    except TypeError as error:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(
            f"{name} must be {_noun(name)}s of one type that can be sorted, found {names}: convert "
            f"them, for example with [str(id) for id in {name}]."
        ) from error
    return np.fromiter(found, dtype=object, count=len(found)), codes


def _readable(groups: Any) -> Any:
    """Sequences and arrays of the array API as NumPy arrays; columns of libraries unchanged."""
    if isinstance(groups, Sequence) and not isinstance(groups, str | bytes | range):
        # np.asarray would turn [1, "1", nan] into text
        return np.fromiter(groups, dtype=object, count=len(groups))
    groups = to_host(groups)
    dtype: Any = getattr(groups, "dtype", None)
    if getattr(dtype, "tz", None):
        # dates with a time zone would become objects, slowly; the order is the same without it
        return np.asarray(groups, dtype=f"M8[{dtype.unit}]")
    if isinstance(groups, np.ndarray):
        return groups.astype(object) if groups.dtype.kind == "T" else groups
    if str(dtype).endswith("_view[pyarrow]"):  # pandas cannot convert it to NumPy
        return np.fromiter(groups, dtype=object, count=len(groups))
    if getattr(dtype, "kind", "") == "f" and hasattr(groups, "to_numpy"):
        # some columns of pandas distinguish NaN from missing, and factorize NaN
        return groups.to_numpy(dtype=np.float64, na_value=np.nan)
    return groups


def _encode_column(column: Any) -> tuple[NDArray[Any], LabelsAt] | None:
    """Codes of a column of pandas, Polars or Arrow, negative where an id is missing, and labels.

    None for anything else, and for numbers, dates and objects, which NumPy reads.
    """
    if hasattr(column, "to_physical"):
        return _encode_polars(column)
    if hasattr(column, "dictionary_encode") or hasattr(column, "dictionary_decode"):
        return _encode_arrow(column)
    if hasattr(column, "factorize"):
        return _encode_pandas(column)
    return None


def _encode_pandas(column: Any) -> tuple[NDArray[Any], LabelsAt] | None:
    dtype = column.dtype
    # pandas hashes Python strings up to their first NUL
    if isinstance(dtype, np.dtype) or getattr(dtype, "storage", "") == "python":
        return None
    column = getattr(column, "array", column)
    if hasattr(column, "freq"):  # periods are numbers, and their NaT is the NaT of dates
        return np.asarray(column.astype(np.int64)).view("M8[s]"), column.take
    if hasattr(column, "closed"):  # intervals, which pandas would factorize as objects
        (_, left), (ends, right) = (
            unique_ids(np.asarray(_readable(each)), sort=True)
            for each in (column.left, column.right)
        )
        return np.where(column.isna(), -1, left * len(ends) + right), column.take
    if hasattr(column, "categories"):
        codes, found = column.codes, column.categories
    else:
        codes, found = column.factorize()
    # tuples and Arrow dictionaries may be or hold NaN
    if found.dtype.kind in "fO" and found.dtype.name not in ("str", "string"):
        codes = _mark_missing(codes, found)
    return codes, lambda rows: np.asarray(found.take(codes[rows]), dtype=object)


def _encode_polars(column: Any) -> tuple[NDArray[Any], LabelsAt] | None:
    polars = sys.modules["polars"]
    if column.dtype == polars.String:
        column = column.cast(polars.Categorical)
    elif not isinstance(column.dtype, polars.Categorical | polars.Enum):
        return None
    codes = column.to_physical()
    if column.null_count():
        codes = codes.cast(polars.Int64).fill_null(-1)
    return codes.to_numpy(), lambda rows: column.gather(rows).to_list()


def _encode_arrow(column: Any) -> tuple[NDArray[Any], LabelsAt] | None:
    types = sys.modules["pyarrow"].types
    if types.is_string(column.type) or types.is_large_string(column.type):
        column = column.dictionary_encode()
    elif not types.is_dictionary(column.type):
        return None
    if hasattr(column, "combine_chunks"):
        column = column.unify_dictionaries().combine_chunks()
    indices = column.indices
    if column.null_count:
        indices = indices.cast("int64").fill_null(-1)
    codes = indices.to_numpy(zero_copy_only=False)
    found = column.dictionary.to_numpy(zero_copy_only=False)
    missing = column.dictionary.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    if missing.any():
        codes = np.where(missing[codes], -1, codes)
    return codes, lambda rows: found[codes[rows]]


def in_library_order(values: Any) -> Any:
    """The values; for categories, their places in the library's order.

    (As ids, categories sort by name.)
    """
    dtype = getattr(values, "dtype", None)
    if not hasattr(dtype, "categories"):
        return values
    if hasattr(values, "to_physical"):
        return values.to_physical() if dtype == sys.modules["polars"].Enum else values
    places = np.asarray(getattr(values, "array", values).codes)
    return np.where(places < 0, np.nan, places)


def _mark_missing(codes: Ints, labels: Iterable[Any]) -> Ints:
    """Codes of labels, negative where the label is missing or has a missing part."""
    if set(map(type, labels)) != {str}:
        missing = np.array([is_missing(label) for label in labels])
        if missing.any():
            return np.where(missing[codes], -1, codes)
    return codes


def columns_of_ids(groups: Any, n_rows: int) -> list[Any] | None:
    """The columns of compound ids; None for one id per row."""
    if isinstance(groups, list | tuple):
        return list(groups) if groups and all(_is_column(each, n_rows) for each in groups) else None
    if hasattr(groups, "column_names"):  # pyarrow, whose names may be repeated
        return list(groups.columns)
    shape = None if hasattr(groups, "tocsr") else getattr(groups, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] < 1:
        return None
    names = column_names(groups)
    if names is not None and not hasattr(groups, "iloc"):
        return [groups[name] for name in names]
    by_place = getattr(groups, "iloc", groups)  # names of pandas may be repeated
    return [by_place[:, column] for column in range(shape[1])]


def _is_column(values: Any, n_rows: int) -> bool:
    """Whether this is a column of ids, an array or list, rather than one id."""
    if isinstance(values, list):
        return len(values) == n_rows and not any(isinstance(each, list) for each in values)
    if hasattr(values, "to_pylist"):  # PyArrow's, which have no shape
        return len(values) == n_rows
    return getattr(values, "shape", None) == (n_rows,)


def _check_shape(ids: NDArray[Any], groups: Any, n_rows: int, name: str) -> None:
    if ids.ndim != 1:
        raise ValueError(
            f"{name} must be 1-D, one {_noun(name)} per row, got {type(groups).__name__} of shape "
            f"{ids.shape}."
        )
    if len(ids) != n_rows:
        raise ValueError(
            f"{name} must have one {_noun(name)} for each of the {n_rows} rows, got {len(ids)}."
            + _sizes_hint(groups, n_rows)
        )
    if ids.dtype.kind not in "biufmMOSU":
        raise TypeError(f"{name} must be ids that can be sorted, got dtype {ids.dtype}.")


def _refuse_missing(missing: NDArray[np.bool_], name: str) -> None:
    if missing.any():
        what = f"missing {_noun(name)}"
        found = describe_mask(missing, what, f"{what}s")
        raise ValueError(f"{name} has {found}. Fill in {what}s, or leave their rows out.")


def _noun(name: str) -> str:
    return _NOUNS.get(name, "id")


def _sizes_hint(groups: Any, n_rows: int) -> str:
    try:
        sizes = np.asarray(groups).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return ""
    if sizes.sum() != n_rows or (sizes < 0).any():
        return ""
    return (
        f" These look like group sizes, as they add up to {n_rows}. To turn sizes into ids: "
        "groups = np.repeat(np.arange(len(sizes)), sizes)."
    )


def _encode_objects(ids: NDArray[Any], name: str) -> tuple[NDArray[Any], LabelsAt]:
    """Codes of Python objects, the same for equal ones."""
    same = _number_addresses(ids)
    objects = ids if same is None else ids[first_rows(same)]
    numbers = _kernels.backend.factorize_objects(_addresses(objects))
    if numbers is not None:  # of text or numbers
        seen = objects[first_rows(numbers)].tolist()
        codes = _mark_missing(numbers, seen)
    else:
        codes, seen = _number_any(objects.tolist(), name)
    codes = codes if same is None else codes[same]
    return codes, lambda rows: [seen[code] for code in codes[rows]]


def _addresses(ids: NDArray[Any]) -> Ints:
    return np.ndarray(ids.shape, np.intp, buffer=np.ascontiguousarray(ids))


def _number_addresses(ids: NDArray[Any]) -> Ints | None:
    """The number of each row's object, by its address; None if most rows have their own."""
    addresses = _addresses(ids)
    some = addresses[: max(1, len(ids) // 8)]
    if 2 * len(_kernels.backend.factorize(some)[0]) > len(some):
        return None
    return np.asarray(_kernels.backend.factorize(addresses)[1])


def _number_any(listed: list[Any], name: str) -> tuple[Ints, list[Any]]:
    """Numbers of objects of any type, negative where one is missing, and their labels."""
    try:
        try:
            codes, seen = _number(listed)
        except TypeError:  # arrays have no hash
            seen = []
        if set(map(type, seen)) != {str} and (not seen or any(map(_holds_array, seen))):
            codes, seen = _number([_value_of_array(label) for label in listed])
        return _mark_missing(codes, seen), seen
    except (TypeError, RecursionError) as error:
        raise TypeError(f"{name} must be ids that can be hashed and sorted: {error}") from error


def _number(listed: Sequence[Any]) -> tuple[Ints, list[Any]]:
    """The number of each label, and the distinct labels."""
    if len(listed) > _MANY_TUPLES and isinstance(listed[0], tuple) and _hashes_collide(listed):
        return _number_tuples(listed)
    number_of: defaultdict[Any, int] = defaultdict()
    number_of.default_factory = number_of.__len__
    codes = np.fromiter(map(number_of.__getitem__, listed), dtype=np.intp, count=len(listed))
    return codes, list(number_of)


def _hashes_collide(listed: Sequence[Any]) -> bool:
    """Whether tuples, all of one length, have the same hash, as (-1, -2) and (-2, -1) do."""
    some = set(listed[:: len(listed) // _MANY_TUPLES])
    if len(set(map(hash, some))) == len(some):
        return False
    return set(map(type, listed)) == {tuple} and len(set(map(len, listed))) == 1


def _number_tuples(listed: Sequence[tuple[Any, ...]]) -> tuple[Ints, list[Any]]:
    """Numbers of tuples of one length, part by part: a dict of colliding keys takes n^2 time."""
    codes = np.zeros(len(listed), dtype=np.intp)
    for part in zip(*listed, strict=True):
        numbers, found = _number(part)
        codes = unique_ids(codes * len(found) + numbers, sort=False)[1]
    return codes, [listed[row] for row in first_rows(codes)]


def _unique_text(ids: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Distinct text of fixed width, and the place of each row's text among it."""
    ids = np.ascontiguousarray(ids)
    _, codes = _kernels.backend.factorize(_hash_text(ids))
    found = ids[first_rows(codes)]
    for first in range(0, len(ids), _HASHED_AT_ONCE):
        rows = slice(first, first + _HASHED_AT_ONCE)
        if (found[codes[rows]] != ids[rows]).any():  # two texts have the same hash
            return np.unique(ids, return_inverse=True)
    return found, codes


def _hash_text(ids: NDArray[Any]) -> Ints:
    """Sums of the characters, each times a random number for its place."""
    size = ids.dtype.itemsize
    characters = ids.view(np.uint32 if size % 4 == 0 else np.uint8).reshape(len(ids), -1)
    factors = np.frombuffer(os.urandom(8 * characters.shape[1]), dtype=np.uint64) | np.uint64(1)
    hashes = np.zeros(len(ids), dtype=np.uint64)
    for first in range(0, len(ids), _HASHED_AT_ONCE):
        rows = slice(first, first + _HASHED_AT_ONCE)
        for character, factor in zip(characters[rows].T, factors, strict=True):
            hashes[rows] += character * factor
    return hashes.view(np.int64)


def _holds_array(label: Any) -> bool:
    if isinstance(label, tuple):
        return any(map(_holds_array, label))
    return hasattr(type(label), "__array__") and not isinstance(label, np.generic)


def _value_of_array(label: Any) -> Any:
    """The value of a 0-d array or tensor, as a tensor may only be equal to itself."""
    if isinstance(label, tuple):
        return tuple(map(_value_of_array, label))
    if not _holds_array(label):
        return label
    array = np.asarray(to_host(label))
    if array.ndim:
        raise TypeError(f"found an array of shape {array.shape} as an id.")
    return array[()]


def _refuse_unsortable(label: Any, name: str) -> None:
    """Raise for labels that cannot be sorted, or are only equal to themselves."""
    if isinstance(label, tuple):
        for part in label:
            _refuse_unsortable(part, name)
    elif isinstance(label, frozenset):
        raise TypeError(
            f"{name} must be ids that can be sorted, and sets cannot: pass "
            f"[tuple(sorted(id)) for id in {name}]."
        )
    elif type(label).__hash__ is _HASH_OF_IDENTITY:
        raise TypeError(
            f"{name} must be ids that are equal where they mean the same query, but a "
            f"{type(label).__name__} is equal only to itself: pass a number or text instead."
        )


def _unique_by_table(ids: NDArray[Any], low: Any, size: int) -> tuple[NDArray[Any], Ints]:
    """Distinct integers and the place of each row's, by a table of all `size` from `low` on."""
    low, place = low.astype(np.int64), np.empty(len(ids), dtype=np.intp)
    seen = np.zeros(size, dtype=np.int8)

    def find(part: slice) -> None:
        # wraps around and back for large uint64
        np.subtract(ids[part].astype(np.int64, copy=False), low, out=place[part])
        _kernels.backend.mark_codes(place[part], seen)

    def number(part: slice) -> None:
        place[part] = numbers[place[part]]

    map_rows(find, len(ids))
    found = (np.flatnonzero(seen) + low).astype(ids.dtype)
    if len(found) < size:
        numbers = np.cumsum(seen) - 1
        map_rows(number, len(ids))
    return found, place


def first_rows(codes: Ints) -> Ints:
    """The first row of each code; every code up to the largest must occur."""
    rows = np.empty(codes.max() + 1, dtype=np.intp)
    for end in range(len(codes), 0, -_ROWS_AT_ONCE):
        start = max(0, end - _ROWS_AT_ONCE)
        # the last write stays, so rows are written in reverse
        rows[codes[start:end][::-1]] = np.arange(start, end)[::-1]
    return rows
