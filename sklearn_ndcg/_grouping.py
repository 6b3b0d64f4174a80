"""Which rows are one query: ids of any kind, brought to labels in order and runs of rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import is_missing, refuse_masked, to_host, warn, where
from sklearn_ndcg._typing import Floats, Ints

Item = TypeVar("Item", bound=np.generic)
_HASH_OF_IDENTITY: Any = object.__hash__


@dataclass(frozen=True, eq=False)
class Grouping:
    """The queries of some rows: query q has the label ``labels[q]`` and ``lengths[q]`` rows.

    Its rows are the run ``starts[q] : starts[q] + lengths[q]`` of any array that `gather` returns.
    `codes` has the place of each row's query among the labels; it is None where every query's rows
    are contiguous already.
    """

    labels: NDArray[Any]
    starts: Ints
    lengths: Ints
    codes: Ints | None

    @classmethod
    def of_ids(cls, groups: ArrayLike | None, n_rows: int) -> Grouping:
        """Group rows by their ids, one id per row; labels are sorted.

        With several columns of ids each distinct row of them is a query.
        """
        if n_rows == 0:
            raise ValueError("There are 0 rows, and at least 1 is needed.")
        columns = _columns_of_ids(groups, n_rows)
        if columns is not None:
            return cls._of_columns([cls.of_ids(column, n_rows) for column in columns])
        ids = _check_ids(groups, n_rows)
        labels = None
        if ids.dtype.kind == "O":
            labels, ids = _factorize(ids)
        run_ends = np.flatnonzero(ids[1:] != ids[:-1])
        # where few neighbouring rows share a query, each row is a run of its own
        scattered = 2 * len(run_ends) > n_rows and bool((ids[1:] < ids[:-1]).any())
        starts = np.arange(n_rows) if scattered else np.concatenate(([0], run_ends + 1))
        lengths = np.ones_like(starts) if scattered else np.diff(starts, append=n_rows)
        run_ids = ids if scattered else ids[starts]
        is_text = run_ids.dtype.kind in "SU"
        if not is_text and (run_ids[1:] > run_ids[:-1]).all():
            return cls(run_ids if labels is None else labels, starts, lengths, None)
        found, run_codes = _factorize(run_ids) if is_text else _unique(run_ids)
        labels = found if labels is None else labels
        if len(found) == len(starts):
            by_label = np.argsort(run_codes)
            return cls(labels, starts[by_label], lengths[by_label], None)
        codes = run_codes if scattered else np.repeat(run_codes, lengths)
        lengths = np.bincount(codes, minlength=len(found))
        return cls(labels, np.cumsum(lengths) - lengths, lengths, codes)

    @classmethod
    def _of_columns(cls, columns: list[Grouping]) -> Grouping:
        first, *others = columns
        codes, labels = first.row_codes(), [(label,) for label in _as_python(first.labels)]
        for column in others:
            both = codes * len(column.labels) + column.row_codes()
            found, codes = np.unique(both, return_inverse=True)
            old, new = (each.tolist() for each in divmod(found, len(column.labels)))
            names = _as_python(column.labels)
            labels = [(*labels[i], names[j]) for i, j in zip(old, new, strict=True)]
        grouping = cls.of_ids(codes, len(codes))
        return replace(grouping, labels=np.fromiter(labels, dtype=object, count=len(labels)))

    @classmethod
    def of_matrix(cls, n_queries: int, n_documents: int) -> Grouping:
        """Group the entries of a matrix by its rows."""
        labels = np.arange(n_queries)
        return cls(labels, labels * n_documents, np.full(n_queries, n_documents), None)

    @property
    def is_in_order(self) -> bool:
        """Whether the rows are already sorted by query."""
        return self.codes is None and bool((self.starts[1:] > self.starts[:-1]).all())

    def gather(self, values: NDArray[Item]) -> NDArray[Item]:
        """The same values with each query's together, in the order in which they were."""
        if self.codes is None:
            return values
        gathered: NDArray[Item] = _kernels.backend.gather_by_group(values, self.codes, self.lengths)
        return gathered

    def row_codes(self) -> Ints:
        """The place of each row's query among the labels."""
        if self.codes is not None:
            return self.codes
        by_place = np.argsort(self.starts)
        return np.repeat(by_place, self.lengths[by_place])

    def row_order(self) -> Ints:
        """Row numbers sorted by query, as ``np.argsort(groups, kind="stable")``."""
        codes = self.row_codes()
        order: Ints = _kernels.backend.gather_by_group(np.arange(len(codes)), codes, self.lengths)
        return order

    def keep(self, kept: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """Starts and lengths once only some of the gathered rows are left."""
        n_before = np.r_[0, np.cumsum(kept)]
        starts = n_before[self.starts]
        return starts, n_before[self.starts + self.lengths] - starts

    def mean_weight(self, weight: Floats, kept: NDArray[np.bool_] | None = None) -> Floats:
        """Each query's mean weight over its kept rows; over all of them where none is kept.

        `weight` and `kept` are gathered.
        """
        mean = self._sum(weight) / self.lengths
        if kept is None:
            return mean
        n_kept = self._sum(kept)
        return np.where(n_kept > 0, self._sum(weight * kept) / np.maximum(n_kept, 1), mean)

    def _sum(self, gathered: NDArray[Any]) -> Floats:
        by_place = np.argsort(self.starts)  # the runs fill the rows without a gap
        sums = np.empty(len(self.starts))
        sums[by_place] = np.add.reduceat(gathered, self.starts[by_place], dtype=np.float64)
        return sums


def shown_labels(labels: NDArray[Any], most: int = 3) -> str:
    """The first labels, as a person writes them."""
    shown = ", ".join(_shown(label) for label in labels[:most])
    return shown + ", ..." * (len(labels) > most)


def _shown(label: Any) -> str:
    if isinstance(label, np.datetime64 | date):
        return re.sub(r"[T ]00:00:00(\.0+)?$", "", str(label))
    return repr(label.item() if isinstance(label, np.generic) else label)


def _columns_of_ids(groups: Any, n_rows: int) -> list[Any] | None:
    """The columns of compound ids; None where there is one id per row."""
    if isinstance(groups, list | tuple):
        return list(groups) if groups and all(_is_column(each, n_rows) for each in groups) else None
    if hasattr(groups, "column_names"):  # pyarrow, whose `columns` are the data
        return [groups[name] for name in groups.column_names]
    shape = getattr(groups, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] < 2:
        return None
    names = getattr(groups, "columns", None)
    if names is not None:
        return [groups[name] for name in names]
    return [groups[:, column] for column in range(shape[1])]


def _is_column(values: Any, n_rows: int) -> bool:
    """Whether this is a column of ids, an array or list, rather than one id."""
    if isinstance(values, list):
        return len(values) == n_rows and not any(isinstance(each, list) for each in values)
    return getattr(values, "shape", None) == (n_rows,)


def warn_of_single_documents(n_queries: int) -> None:
    """Warn where every query has one row: probably the ids are those of rows."""
    if n_queries > 1:
        warn(
            f"Each of the {n_queries} queries has a single document, which has nothing to be "
            "ranked against. groups must have one id per query, the same for all of its rows, not "
            "one id per row."
        )


def _as_python(labels: NDArray[Any]) -> list[Any]:
    """Labels as Python objects, except dates, as `tolist` makes integers of some."""
    return list(labels) if labels.dtype.kind in "mM" else labels.tolist()


def _check_ids(groups: Any, n_rows: int) -> NDArray[Any]:
    refuse_masked(groups, "groups")
    if isinstance(groups, Sequence) and not isinstance(groups, str | bytes | range):
        # np.asarray would turn [1, "1", nan] into text
        ids = np.fromiter(groups, dtype=object, count=len(groups))
    else:
        try:
            groups = to_host(groups)
            dtype: Any = getattr(groups, "dtype", None)
            # a time zone makes objects of dates, slowly, and changes nothing about their order
            naive = f"M8[{dtype.unit}]" if getattr(dtype, "tz", None) else None
            # np.asarray would make text of Polars as wide as the longest, without NULs at the end
            polars = type(groups).__module__.startswith("polars.")
            ids = groups.to_numpy() if polars else np.asarray(groups, dtype=naive)
            ids = ids.astype(object) if ids.dtype.kind == "T" else ids
        except Exception as error:
            raise TypeError(
                f"groups must be an array of ids, got {type(groups).__name__}: {error}"
            ) from error
    if ids.ndim != 1:
        raise ValueError(
            f"groups must be 1-D, one id per row, got {type(groups).__name__} of shape {ids.shape}."
        )
    if len(ids) != n_rows:
        raise ValueError(
            f"groups must have one id for each of the {n_rows} rows, got {len(ids)}."
            + _sizes_hint(ids, n_rows)
        )
    if ids.dtype.kind not in "biufmMOSU":
        raise TypeError(f"groups must be ids that can be sorted, got dtype {ids.dtype}.")
    if ids.dtype.kind in "fmM":
        missing = np.isnan(ids) if ids.dtype.kind == "f" else np.isnat(ids)
        if missing.any():
            raise ValueError(f"groups must not be missing, found {where(missing, 'missing id')}.")
    return ids


def _sizes_hint(ids: NDArray[Any], n_rows: int) -> str:
    try:
        sizes = ids.astype(np.float64)
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
    if missing.any():
        raise ValueError(
            f"groups must not be missing, found {where(missing[codes], 'missing id')}."
        )
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


def _unique(ids: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """``np.unique(ids, return_inverse=True)``, by a table where integers lie close together."""
    if ids.dtype.kind not in "iu" or int(ids.max()) - int(ids.min()) > 2 * len(ids):
        return np.unique(ids, return_inverse=True)
    low = ids.min().astype(np.int64)
    place = ids.astype(np.int64, copy=False) - low  # wraps around and back for large uint64
    seen = np.zeros(place.max() + 1, dtype=bool)
    seen[place] = True
    found = (np.flatnonzero(seen) + low).astype(ids.dtype)
    return found, place if len(found) == len(seen) else (np.cumsum(seen) - 1)[place]
