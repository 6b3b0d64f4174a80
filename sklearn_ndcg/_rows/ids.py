"""Ids of queries in any container, as codes that NumPy compares, and their labels.

Columns of pandas, Polars and Arrow are encoded by their own libraries, which are not imported here.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from sklearn_ndcg import _checks, _kernels
from sklearn_ndcg._checks import Ids, Ints, Mask
from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.containers import Column, Table

LabelsAt = Callable[[Ints], Iterable[Hashable]]  # the labels of some rows

# Types of floats, and the bits of their integers: from 2**bits on, several integers become equal.
_BITS = {"float16": 11, "halffloat": 11, "float32": 24, "float": 24, "float64": 53, "double": 53}

_HINT = "Convert lists to tuples or text, and pass a struct as one column for each of its fields."


def encode_ids(groups: object, n_rows: int, name: str) -> tuple[Ids, LabelsAt | None]:
    """The id of each row; or a code for it, with a function that returns the labels of rows.

    Rows with one code have one label; two codes may have the same label. `name` is the argument,
    for errors.
    """
    is_plain = type(groups) is np.ndarray and groups.dtype.kind != "T"
    ids, labels_at = (np.asarray(groups), None) if is_plain else _read_ids(groups, name)
    if ids.shape != (n_rows,) or ids.dtype.kind not in "biufmMOSU":
        _refuse_shape(ids, groups, n_rows, name)
    if labels_at is None and ids.dtype.kind == "O":
        ids, labels_at = _encode_objects(ids, name)
    if ids.dtype.kind in "fmM":
        _refuse_missing(np.isnan(ids), name)
        kind = float_kind(groups) or float_kind(ids)  # pandas' float32 is read as float64
        if kind and (wrong := is_too_large(ids, kind)).any():
            _refuse_too_large(_checks.describe_mask(wrong, "id", "ids"), kind, name)
    elif labels_at is not None:
        _refuse_missing(ids < 0, name)
    return ids, labels_at


def float_kind(ids: Column) -> str | None:
    """The type of ids that are floats, by its name in any library; None for others."""
    kind = str(containers.dtype_of(ids)).lower().partition("[")[0].rpartition(".")[2]
    return kind if kind in _BITS else None  # of "float[pyarrow]", "torch.float32"


def is_too_large(ids: Any, kind: str) -> Mask:
    """Which ids are so large that floats of this kind make several integers equal."""
    return np.asarray(abs(ids) >= 2 ** _BITS[kind])


def _refuse_too_large(which: str, kind: str, name: str) -> None:
    if name != "order_by":  # values that are equal by rounding are tied, and mix no queries up
        raise ValueError(
            f"{name} has {which}, too large for {kind} to tell apart: a cast or a merge may have "
            "made different ids equal. Keep them integers where they are read; in pandas the dtype "
            "Int64 also holds missing ids. If these are the ids, pass them as text."
        )


def _read_ids(groups: object, name: str) -> tuple[Ids, LabelsAt | None]:
    """Ids in any container as an array; or their codes, with a function that returns labels."""
    _checks.refuse_masked(groups, name)
    try:
        column = readable(groups)
        ids, labels_at = _encode_column(column) or (np.asarray(column), None)
        if ids.ndim > 1:
            raise TypeError(f"its values have shape {ids.shape[1:]}.")
    except MemoryError:
        raise
    except Exception as error:
        raise TypeError(
            f"{name} must be an array of {_noun(name)}s, got {type(groups).__name__}: {error} "
            f"{_HINT}"
        ) from error
    return ids, labels_at


def distinct_ids(
    ids: Ids, labels_at: LabelsAt | None, rows: Ints | None, sort: bool, name: str
) -> tuple[Ids, Ints, Ints]:
    """The distinct labels of ids that `encode_ids` returned, and as `unique_ids` their codes.

    The ids are those of `rows`, or of all rows. Without `sort` labels may come in any order.
    """
    distinct, codes, counts = unique_ids(ids, sort)
    if labels_at is None:
        return distinct, codes, counts
    first = first_rows(codes)
    labels = labels_at(first if rows is None else rows[first])
    distinct, codes_of_labels = _unique_labels(labels, sort, name)
    codes = codes_of_labels[codes]
    return distinct, codes, np.bincount(codes, minlength=len(distinct))


def unique_ids(ids: Ids, sort: bool) -> tuple[Ids, Ints, Ints]:
    """``np.unique(ids, return_inverse=True, return_counts=True)``, in linear time.

    Without `sort` the distinct ids may come in any order.
    """
    if ids.dtype.kind in "biu":
        low, high = ids.min(), ids.max()
        if int(high) - int(low) <= 2 * len(ids):
            # large uint64 wrap around, and back in the table
            return _unique_by_table(ids, low.astype(np.int64), int(high) - int(low) + 1)
    if ids.dtype.kind in "SU" or (ids.dtype.kind == "f" and ids.dtype.itemsize != 8):
        codes, labels = _factorize(map(ids.item, range(len(ids))), len(ids))
        distinct = np.array(labels, dtype=ids.dtype)
    else:
        wide = np.ascontiguousarray(ids, dtype=np.int64 if ids.dtype.itemsize < 8 else None)
        if ids.dtype.kind == "f":
            wide = wide + 0.0  # -0.0 becomes 0.0
        distinct, codes = _kernels.backend.factorize(wide.view(np.int64))
        distinct = distinct.view(wide.dtype).astype(ids.dtype, copy=False)
    counts = np.bincount(codes)
    if not sort:
        return distinct, codes, counts
    order = np.argsort(distinct)
    return distinct[order], first_rows(order)[codes], counts[order]


def _unique_labels(labels: Iterable[Hashable], sort: bool, name: str) -> tuple[Ids, Ints]:
    """Distinct labels, sorted if `sort`, and the code of every label: its index among them."""
    listed = list(labels)
    kinds = set(map(type, listed))
    if kinds != {str}:
        for label in listed:
            _refuse_unfit(label, name)
    listed = list(_comparable(listed, kinds))
    codes, distinct = _factorize(listed, len(listed))
    try:
        # labels that cannot be sorted raise without `sort`, too: two show it if all have one type
        checked = distinct if sort or len(kinds) > 1 or tuple in kinds else distinct[:2]
        order = sorted(range(len(checked)), key=distinct.__getitem__)
    except TypeError as error:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(
            f"{name} must be {_noun(name)}s of one type that can be sorted, found {names}: convert "
            f"them, for example with [str(id) for id in {name}]."
        ) from error
    if sort:
        distinct, codes = [distinct[i] for i in order], first_rows(np.array(order))[codes]
    return np.fromiter(distinct, dtype=object, count=len(distinct)), codes


def readable(groups: Column) -> Column:
    """Sequences and arrays of the array API as NumPy arrays; columns of libraries unchanged."""
    if isinstance(groups, Sequence) and not isinstance(groups, str | bytes | range):
        # np.asarray would turn [1, "1", nan] into text
        return np.fromiter(groups, dtype=object, count=len(groups))
    values = _checks.to_host(groups)
    dtype = containers.dtype_of(values)
    kind = getattr(dtype, "kind", "")
    if kind == "f" and containers.is_pandas_column(values):
        # some columns of pandas tell NaN from missing, and give NaN a code
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    if isinstance(values, np.ndarray) and kind != "T":
        return values
    if kind == "M" and getattr(dtype, "tz", None):
        # dates with a time zone would become objects, slowly; these are in UTC
        return np.asarray(values, dtype=f"M8[{dtype.unit}]")
    if kind == "T" or str(dtype).endswith("_view[pyarrow]"):  # pandas cannot convert the latter
        return np.fromiter(values, dtype=object, count=len(values))
    return values


def _encode_column(column: Column) -> tuple[Ids, LabelsAt] | None:
    """Codes of a column of pandas, Polars or Arrow, negative where an id is missing, and labels.

    None for anything else, and for numbers, dates and objects, which NumPy reads.
    """
    if containers.is_polars_column(column):
        return _encode_polars(column)
    if containers.is_arrow_column(column):
        return _encode_arrow(column)
    if containers.is_pandas_column(column):
        return _encode_pandas(column)
    return None


def _encode_pandas(column: Column) -> tuple[Ids, LabelsAt] | None:
    # pandas hashes Python strings up to their first NUL
    if isinstance(column.dtype, np.dtype) or getattr(column.dtype, "storage", "") == "python":
        return None
    array = containers.array_of(column)
    is_coded = hasattr(array, "categories")
    codes, labels = (array.codes, array.categories) if is_coded else array.factorize()
    if labels.dtype.kind == "f" or labels.dtype == object:  # labels that may be NaN, or hold it
        codes = _mark_missing(codes, labels)
    return codes, lambda rows: np.asarray(labels.take(codes[rows]), dtype=object)


def _encode_polars(column: Column) -> tuple[Ids, LabelsAt] | None:
    polars = sys.modules["polars"]
    if column.dtype == polars.String:
        column = column.cast(polars.Categorical)
    elif not isinstance(column.dtype, polars.Categorical | polars.Enum):
        return None
    codes = column.to_physical().cast(polars.Int64).fill_null(-1)
    return codes.to_numpy(), lambda rows: column.gather(rows).to_list()


def _encode_arrow(column: Column) -> tuple[Ids, LabelsAt] | None:
    types = sys.modules["pyarrow"].types
    if types.is_string(column.type) or types.is_large_string(column.type):
        column = column.dictionary_encode()
    elif not types.is_dictionary(column.type):
        return None
    if hasattr(column, "combine_chunks"):
        column = column.unify_dictionaries().combine_chunks()
    codes = column.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    labels = column.dictionary.to_numpy(zero_copy_only=False)
    return _mark_missing(codes, labels), lambda rows: labels[codes[rows]]


def in_library_order(values: Column) -> Column:
    """The values; for categories, their ranks in the library's order.

    (As ids, categories sort by name.)
    """
    if containers.is_polars_column(values):
        return values.to_physical() if values.dtype == sys.modules["polars"].Enum else values
    array = containers.array_of(values)
    is_coded = hasattr(array, "categories")
    return np.where(array.codes < 0, np.nan, array.codes) if is_coded else values


def _mark_missing(codes: Ints, labels: Iterable[Hashable]) -> Ints:
    """Codes of labels, negative where the label is missing or has a missing part."""
    if set(map(type, labels)) != {str}:
        missing = np.array([_checks.is_missing(label) for label in labels])
        if missing.any():
            return np.where(missing[codes], -1, codes)
    return codes


def columns_of_ids(groups: Table, n_rows: int) -> list[Column] | None:
    """The columns of compound ids; None for one id per row."""
    if isinstance(groups, list | tuple):
        return list(groups) if groups and all(_is_column(ids, n_rows) for ids in groups) else None
    shape = containers.shape_of(groups)
    if shape is None or len(shape) != 2 or shape[1] < 1 or containers.is_sparse(groups):
        return None
    if containers.is_arrow_table(groups):  # whose names may be repeated
        return list(groups.columns)
    # names of pandas may be repeated, too
    table = groups.iloc if containers.is_pandas(groups) else groups
    return [table[:, column] for column in range(shape[1])]


def _is_column(values: Column, n_rows: int) -> bool:
    """Whether this is a column of ids, an array or list, rather than one id."""
    if isinstance(values, list):
        return len(values) == n_rows and not any(isinstance(value, list) for value in values)
    return containers.shape_of(values) == (n_rows,)


def _refuse_shape(ids: Ids, groups: object, n_rows: int, name: str) -> NoReturn:
    """Raise for ids that are not one per row, or cannot be sorted."""
    if ids.ndim != 1:
        hint = " Pass the column itself, not its name." if isinstance(groups, str) else ""
        raise ValueError(
            f"{name} must be 1-D, one {_noun(name)} per row, got {type(groups).__name__} of shape "
            f"{ids.shape}.{hint}"
        )
    if len(ids) != n_rows:
        hint = _sizes_hint(groups, n_rows) if name == "groups" else ""
        if name == "groups" and len(ids) > n_rows:
            hint = (
                " If these are the ids of all rows, in make_scorer, pass "
                "make_ndcg_scorer(group_by=...) instead, which finds those of each fold in X."
            )
        raise ValueError(
            f"{name} must have one {_noun(name)} for each of the {n_rows} rows, got {len(ids)}."
            + hint
        )
    raise TypeError(f"{name} must be ids that can be sorted, got dtype {ids.dtype}.")


def _refuse_missing(missing: Mask, name: str) -> None:
    if missing.any():
        what = f"missing {_noun(name)}"
        which = _checks.describe_mask(missing, what, f"{what}s")
        raise ValueError(f"{name} has {which}. Fill in {what}s, or leave their rows out.")


def _noun(name: str) -> str:
    """What errors call a value of an argument."""
    return "value" if name == "order_by" else "id"


def _sizes_hint(groups: object, n_rows: int) -> str:
    with suppress(TypeError, ValueError, OverflowError):
        sizes = np.asarray(groups)
        sizes_read = "sizes" if sizes.dtype.kind in "iu" else "np.asarray(sizes, dtype=int)"
        sizes = sizes.astype(np.float64)
        if sizes.sum() == n_rows and (sizes >= 0).all():
            return (
                f" These look like group sizes, as they add up to {n_rows}. To turn sizes into "
                f"ids: groups = np.repeat(np.arange(len(sizes)), {sizes_read})."
            )
    return ""


def _encode_objects(ids: Ids, name: str) -> tuple[Ids, LabelsAt]:
    """Codes of Python objects, the same for equal ones, negative where one is missing."""
    kinds = set(map(type, ids))
    if np.ndarray in kinds:  # 0-d arrays stand for what they hold
        ids = np.fromiter((np.asarray(array)[()] for array in ids), dtype=object, count=len(ids))
        kinds = set(map(type, ids))
    try:
        codes, labels = _factorize(_comparable(ids, kinds), len(ids))
        return _mark_missing(codes, labels), lambda rows: ids[rows].tolist()
    except (TypeError, RecursionError) as error:
        raise TypeError(
            f"{name} must be ids that can be hashed and sorted: {error}. {_HINT}"
        ) from error


def _comparable(labels: Iterable[Any], kinds: Collection[type]) -> Iterable[Any]:
    """Labels with floats of NumPy as Python's: it rounds a number, or overflows, to compare it."""
    if len(kinds) == 1 or not any(issubclass(kind, np.floating) for kind in kinds):
        return labels
    return [label.item() if isinstance(label, np.floating) else label for label in labels]


def _factorize(values: Iterable[Any], n: int) -> tuple[Ints, list[Any]]:
    """The codes of `n` values, and the distinct values in the order of their first rows."""
    code_of: defaultdict[Hashable, int] = defaultdict()
    code_of.default_factory = code_of.__len__
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.intp, count=n)
    return codes, list(code_of)


def _refuse_unfit(label: object, name: str) -> None:
    """Raise for labels that cannot be sorted, are only equal to themselves, or are too large."""
    if isinstance(label, tuple):
        for element in label:
            _refuse_unfit(element, name)
    if isinstance(label, float | np.floating):  # in a list or an array of objects
        kind = float_kind(label) or "float64"
        if is_too_large(label, kind):
            _refuse_too_large(f"the id {float(label)!r}", kind, name)
    # the order of sets is partial; tensors have a hash of their own
    is_unsortable = isinstance(label, frozenset) or hasattr(label, "detach")
    if is_unsortable or type(label).__hash__ is object.__hash__:
        raise TypeError(
            f"{name} must be ids that can be sorted and that are equal where they mean the same "
            f"query, got a {type(label).__name__}: pass numbers or text instead, for sets "
            "tuple(sorted(id)), for tensors id.item()."
        )


def _unique_by_table(ids: Ids, low: np.int64, size: int) -> tuple[Ids, Ints, Ints]:
    """`unique_ids` of integers, by a table of all `size` from `low` on."""
    codes = np.subtract(ids.astype(np.int64, copy=False), low, dtype=np.intp)
    counts = np.bincount(codes, minlength=size)
    distinct = np.flatnonzero(counts)
    if len(distinct) < size:
        codes = (np.cumsum(counts > 0) - 1)[codes]
    return (distinct + low).astype(ids.dtype), codes, counts[distinct]


def first_rows(codes: Ints) -> Ints:
    """The first row of each code; every code up to the largest must occur."""
    rows = np.empty(codes.max() + 1, dtype=np.intp)
    # rows are written from the last to the first, so that the first row of a code stays
    rows[codes[::-1]] = np.arange(len(codes))[::-1]
    return rows
