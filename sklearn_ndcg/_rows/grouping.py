"""Which rows belong to one query: ids of any kind become sorted labels and runs of rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import Floats, Ints, warn
from sklearn_ndcg._kernels.numpy_kernels import Places
from sklearn_ndcg._kernels.sums import sums_of_runs
from sklearn_ndcg._rows.ids import (
    columns_of_ids,
    encode_ids,
    first_rows,
    in_library_order,
    unique_ids,
    unique_labels,
)

Item = TypeVar("Item", bound=np.generic)

_BLOCK = 1 << 16  # rows that are compared at a time

# Text that sorts by time: a year with its month, quarter or week.
_DATE = re.compile(r"\d{4}([-/.](0[1-9]|1[0-2])(?!\d)|[-/.]?[QW]\d|\d{4}T)")

_DAY_FIRST = re.compile(r"\d{1,2}[-/. ](\d{1,2}|\w{3,9})[-/. ]\d{2,4}\b")


@dataclass(frozen=True, eq=False)
class Grouping:
    """The queries of some rows: query q has the label ``labels[q]`` and ``lengths[q]`` rows.

    Its rows are the run ``starts[q] : starts[q] + lengths[q]`` of any array that `gather` returns.
    `codes` has the place of each row's query among the labels, and `places` says where rows go;
    they are None if the rows of every query are contiguous already.
    """

    labels: NDArray[Any]
    starts: Ints
    lengths: Ints
    codes: Ints | None = None
    places: Places | None = None

    @classmethod
    def of_codes(cls, labels: NDArray[Any], codes: Ints) -> Grouping:
        """Group rows by the place of each row's query among the labels."""
        lengths, places = _kernels.places_of(codes, len(labels))
        return cls(labels, places[0], lengths, codes, places)

    @classmethod
    def of_ids(
        cls, groups: ArrayLike | None, n_rows: int, *, sort: bool = True, name: str = "groups"
    ) -> Grouping:
        """Group rows by their ids, one id per row.

        With several columns of ids each distinct combination is a query. Labels are sorted; without
        `sort` they may be in any order, which is faster. `name` is the argument, for errors.
        """
        if n_rows == 0:
            raise ValueError("Found 0 rows, but at least 1 is needed.")
        columns = columns_of_ids(groups, n_rows)
        if columns is not None:
            several = len(columns) > 1
            each = [cls.of_ids(one, n_rows, sort=sort or several, name=name) for one in columns]
            return cls._of_columns(each) if several else each[0]
        ids, labels_at = encode_ids(groups, n_rows, name)
        changes = ids[1:] != ids[:-1]
        # if few neighbouring rows share a query, each row is a run of its own
        scattered = 2 * np.count_nonzero(changes) > n_rows and not _ascends(ids)
        starts = None if scattered else np.concatenate(([0], np.flatnonzero(changes) + 1))
        del changes
        run_ids = ids if starts is None else ids[starts]
        may_be_sorted = labels_at is None and ids.dtype.kind not in "SU"
        if starts is not None and may_be_sorted and (run_ids[1:] > run_ids[:-1]).all():
            return cls(run_ids, starts, np.diff(starts, append=n_rows))
        labels, codes = unique_ids(run_ids, sort)
        if labels_at is not None:
            rows = first_rows(codes)
            rows = rows if starts is None else starts[rows]
            labels, place = unique_labels(labels_at(rows), sort, name)
            codes = place[codes]
        if starts is not None:
            lengths = np.diff(starts, append=n_rows)
            if len(labels) == len(starts):
                by_label = np.argsort(codes)
                return cls(labels, starts[by_label], lengths[by_label])
            codes = np.repeat(codes, lengths)
        return cls.of_codes(labels, codes)

    @classmethod
    def _of_columns(cls, columns: list[Grouping]) -> Grouping:
        codes = columns[0].row_codes()
        for column in columns[1:]:
            _, codes = unique_ids(codes * len(column.labels) + column.row_codes(), sort=True)
        rows = first_rows(codes)
        parts = [as_python(column.labels[column.row_codes()[rows]]) for column in columns]
        labels = np.fromiter(zip(*parts, strict=True), dtype=object, count=len(rows))
        return replace(cls.of_ids(codes, len(codes)), labels=labels)

    def in_order(self, values: Any, asked_by: str = "") -> tuple[Ints, NDArray[Any]]:
        """The queries in the order of their smallest values, and these values; ties by label.

        If `values` is None, queries are in the order of labels, with a warning if `asked_by` needs
        the order of time and labels do not look like it.
        """
        if values is None:
            if asked_by:
                _warn_of_text_for_time(self.labels, asked_by)
            return np.arange(len(self.labels)), self.labels
        n_rows = int(self.lengths.sum())
        by_value = Grouping.of_ids(in_library_order(values), n_rows, name="order_by")
        smallest, _ = self.extremes(by_value.row_codes())
        if asked_by:
            _warn_of_dates_that_sort_otherwise(by_value.labels, asked_by)
        order = np.argsort(smallest, kind="stable")
        return order, by_value.labels[smallest[order]]

    @classmethod
    def of_matrix(cls, n_queries: int, n_documents: int) -> Grouping:
        """Group the entries of a matrix by its rows."""
        labels = np.arange(n_queries)
        return cls(labels, labels * n_documents, np.full(n_queries, n_documents))

    @property
    def is_in_order(self) -> bool:
        """Whether the rows are already sorted by query."""
        return self.codes is None and bool((self.starts[1:] > self.starts[:-1]).all())

    @cached_property
    def n_single(self) -> int:
        """How many queries have one row."""
        return int(np.count_nonzero(self.lengths == 1))

    def gather(self, values: NDArray[Item]) -> NDArray[Item]:
        """Values in the order of queries; those of one query keep their order."""
        if self.codes is None:
            return values
        return np.asarray(_kernels.backend.gather_by_group(values, self.codes, self.places))

    def row_codes(self) -> Ints:
        """The place of each row's query among the labels."""
        if self.codes is not None:
            return self.codes
        return codes_of_runs(self.starts, self.lengths)

    def row_order(self) -> Ints:
        """Row numbers sorted by query, as ``np.argsort(groups, kind="stable")``."""
        by_code = self if self.codes is not None else self.of_codes(self.labels, self.row_codes())
        return by_code.gather(np.arange(self.lengths.sum()))

    def places_of(self, queries: Ints) -> Ints:
        """The places of some queries' rows among the gathered rows, query by query."""
        lengths = self.lengths[queries]
        shifts = self.starts[queries] - np.cumsum(lengths) + lengths
        return np.arange(lengths.sum()) + np.repeat(shifts, lengths)

    def keep(self, kept: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """Starts and lengths once only some of the gathered rows are left."""
        n_before = np.r_[0, np.cumsum(kept)]
        starts = n_before[self.starts]
        return starts, n_before[self.starts + self.lengths] - starts

    def mean_weight(self, weight: Floats, kept: NDArray[np.bool_] | None = None) -> Floats:
        """Each query's mean weight over its kept rows, or over all its rows if none is kept.

        `weight` and `kept` are gathered.
        """
        mean = self._sum(weight) / self.lengths
        if kept is None:
            return mean
        _, n_kept = self.keep(kept)
        return np.where(n_kept > 0, self._sum(weight * kept) / np.maximum(n_kept, 1), mean)

    def extremes(self, values: NDArray[Item]) -> tuple[NDArray[Item], NDArray[Item]]:
        """The lowest and the highest of the values of each query's rows."""
        gathered = self.gather(values)
        low, high = (
            self._reduce(operation.reduceat, gathered) for operation in (np.minimum, np.maximum)
        )
        return low, high

    def _sum(self, gathered: Floats) -> Floats:
        return self._reduce(sums_of_runs, gathered)

    def _reduce(
        self, reduce: Callable[[NDArray[Item], Ints], NDArray[Item]], gathered: NDArray[Item]
    ) -> NDArray[Item]:
        by_place = np.argsort(self.starts)  # the runs fill the rows without a gap
        reduced = np.empty(len(self.starts), dtype=gathered.dtype)
        reduced[by_place] = reduce(gathered, self.starts[by_place])
        return reduced


def _ascends(ids: NDArray[Any]) -> bool:
    """Whether ids never fall from row to row, checked in blocks to stop early."""
    for at in range(0, len(ids), _BLOCK):
        block = ids[at : at + _BLOCK + 1]
        if (block[1:] < block[:-1]).any():
            return False
    return True


def codes_of_runs(starts: Ints, lengths: Ints) -> Ints:
    """The number of each row's run, if the runs fill the rows without a gap."""
    by_place = np.argsort(starts, kind="stable")  # an empty run starts where the next one does
    return np.repeat(by_place, lengths[by_place])


def shown_labels(labels: NDArray[Any], most: int = 3) -> str:
    """The first labels as text: 'a', 'b', 'c', ..."""
    shown = ", ".join(_shown(label) for label in labels[:most])
    return shown + ", ..." * (len(labels) > most)


def _shown(label: Any) -> str:
    if isinstance(label, tuple):
        return f"({', '.join(map(_shown, label))})"
    if isinstance(label, np.datetime64 | date):
        return re.sub(r"[T ]00:00:00(\.0+)?$", "", str(label))
    return repr(label.item() if isinstance(label, np.generic) else label)


def warn_of_single_documents(n_single: int, n_queries: int) -> None:
    """Warn if more than half of the queries have one row: probably these are not query ids."""
    if n_queries < 2 or 2 * n_single <= n_queries:
        return
    found = f"Each of the {n_queries} queries has"
    if n_single < n_queries:
        found = f"{n_single} of the {n_queries} queries ({100 * n_single // n_queries}%) have"
    warn(
        f"{found} a single document, which has nothing to be ranked against. All rows of a query "
        "must have the same id in groups. If they have, a tool has cut the queries: QuerySplitter "
        "keeps them whole."
    )


def _warn_of_text_for_time(labels: NDArray[Any], asked_by: str) -> None:
    """Warn if labels are text that may not sort by time: neither dates nor numbers of one width."""
    texts = [label[0] if isinstance(label, tuple) else label for label in labels]
    if not isinstance(texts[0], str) or all(map(_DATE.match, texts)):
        return
    if len(set(map(len, texts))) == 1 and all(map(str.isdecimal, texts)):
        return
    warn(
        f"{asked_by} needs the order of time and takes the order of the ids, which are text that "
        f"does not look like dates ({shown_labels(labels)}). Pass order_by= the column or index "
        "level of X that has the time, or that of the ids if their order is right."
    )


def _warn_of_dates_that_sort_otherwise(values: NDArray[Any], asked_by: str) -> None:
    """Warn if `order_by` has text: dates with the day first, or numbers of several widths."""
    if not isinstance(values[0], str):
        return
    day_first = all(map(_DAY_FIRST.match, values))
    if day_first or (all(map(str.isdecimal, values)) and len(set(map(len, values))) > 1):
        warn(
            f"{asked_by} needs the order of time, but the values of order_by are text "
            f"({shown_labels(values)}), which sorts by its first characters. Convert it to dates, "
            "with pandas.to_datetime, or to numbers."
        )


def as_python(labels: NDArray[Any]) -> list[Any]:
    """Labels as Python objects, except dates, some of which `tolist` would make integers."""
    return list(labels) if labels.dtype.kind in "mM" else labels.tolist()
