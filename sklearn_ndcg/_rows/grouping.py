"""Which rows belong to one query: ids of any kind become sorted labels and runs of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import Floats, Ids, Ints, Mask, warn
from sklearn_ndcg._kernels.sums import sums_of_runs
from sklearn_ndcg._rows import ids as id_columns
from sklearn_ndcg._rows.ids import first_rows, unique_ids
from sklearn_ndcg._rows.label_texts import shown_labels

Item = TypeVar("Item", bound=np.generic)

# Text that sorts by time: a year with its month, quarter or week.
_DATE = re.compile(r"\d{4}([-/.](0[1-9]|1[0-2])(?!\d)|[-/.]?[QW]\d|\d{4}T)")
_UNSORTED_DATE = re.compile(r"(\d\d?[-/. ](\d\d?|\w{3,9})[-/. ]\d{2,4}|\d{4}([-/.]\d\d?){2})\b")


@dataclass(frozen=True, eq=False)
class Grouping:
    """The queries of some rows: query q has the label ``labels[q]`` and ``lengths[q]`` rows.

    Its rows are the run ``starts[q] : starts[q] + lengths[q]`` of any array that `gather` returns.
    `codes` has the query of each row, or is None if the rows of every query are contiguous already.
    """

    labels: Ids
    starts: Ints
    lengths: Ints
    codes: Ints | None = None

    @classmethod
    def of_codes(cls, labels: Ids, codes: Ints) -> Grouping:
        """Group rows by the query of each row, an index into the labels."""
        lengths = np.bincount(codes, minlength=len(labels))
        return cls(labels, starts_of(lengths), lengths, codes)

    @classmethod
    def of_ids(
        cls, groups: object, n_rows: int, *, sort: bool = True, name: str = "groups"
    ) -> Grouping:
        """Group rows by their ids, one id per row.

        With several columns of ids each distinct combination is a query. Ids are sorted; without
        `sort` they may be in any order, which is faster. `name` is the argument, for errors.
        """
        if n_rows == 0:
            raise ValueError("Found 0 rows, but at least 1 is needed.")
        is_array = type(groups) is np.ndarray and groups.ndim == 1
        columns = None if is_array else id_columns.columns_of_ids(groups, n_rows)
        if columns is None:
            return cls._of_column(groups, n_rows, sort, name)
        if len(columns) == 1:
            return cls._of_column(columns[0], n_rows, sort, name)
        return cls._of_columns([cls._of_column(ids, n_rows, True, name) for ids in columns])

    @classmethod
    def _of_column(cls, groups: object, n_rows: int, sort: bool, name: str) -> Grouping:
        ids, labels_at = id_columns.encode_ids(groups, n_rows, name)
        changes = ids[1:] != ids[:-1]
        # if few neighbouring rows share a query, each row is a run of its own
        scattered = 2 * np.count_nonzero(changes) > n_rows and bool((ids[1:] < ids[:-1]).any())
        edges = None if scattered else np.concatenate(([0], np.flatnonzero(changes) + 1, [n_rows]))
        del changes
        run_ids = ids if edges is None else ids[edges[:-1]]
        if edges is not None and labels_at is None and (run_ids[1:] > run_ids[:-1]).all():
            return cls(run_ids, edges[:-1], edges[1:] - edges[:-1])
        labels, codes, lengths = id_columns.distinct_ids(run_ids, labels_at, edges, sort, name)
        if edges is not None:
            starts, lengths = edges[:-1], edges[1:] - edges[:-1]
            if len(labels) == len(starts):
                by_label = np.argsort(codes)
                return cls(labels, starts[by_label], lengths[by_label])
            return cls.of_codes(labels, np.repeat(codes, lengths))
        return cls(labels, starts_of(lengths), lengths, codes)

    @classmethod
    def _of_columns(cls, columns: list[Grouping]) -> Grouping:
        codes = columns[0].row_codes()
        for column in columns[1:]:
            codes = unique_ids(codes * len(column.labels) + column.row_codes(), sort=True)[1]
        rows = first_rows(codes)
        ids = [as_python(column.labels[column.row_codes()[rows]]) for column in columns]
        labels = np.fromiter(zip(*ids, strict=True), dtype=object, count=len(rows))
        return replace(cls._of_column(codes, len(codes), True, "groups"), labels=labels)

    def in_order(self, values: object, asked_by: str = "") -> Ints:
        """The queries in the order of their smallest values; ties by label.

        If `values` is None, queries are in the order of labels. `asked_by` is what needs the order
        of time, for a warning if these do not look like it.
        """
        if values is None:
            _warn_of_text_for_time(self.labels, asked_by)
            return np.arange(len(self.labels))
        ranks = id_columns.in_library_order(values)
        by_value = Grouping.of_ids(ranks, int(self.lengths.sum()), name="order_by")
        _warn_of_text_for_time(by_value.labels, asked_by, is_named=True)
        smallest, _ = self.extremes(by_value.row_codes())
        return np.argsort(smallest, kind="stable")

    @property
    def first_rows(self) -> Ints:
        """The first row of each query."""
        return self.starts if self.codes is None else first_rows(self.codes)

    @classmethod
    def of_matrix(cls, n_queries: int, n_documents: int) -> Grouping:
        """Group the entries of a matrix by its rows."""
        labels = np.arange(n_queries)
        return cls(labels, labels * n_documents, np.full(n_queries, n_documents))

    @cached_property
    def n_single(self) -> int:
        """How many queries have one row."""
        return int(np.count_nonzero(self.lengths == 1))

    def gather(self, values: NDArray[Item]) -> NDArray[Item]:
        """Values in the order of queries; those of one query keep their order."""
        if self.codes is None:
            return values
        if values.dtype == np.bool_:  # kernels know bytes
            return self.gather(values.view(np.uint8)).view(values.dtype)
        if values.dtype not in (np.uint8, np.float32, np.float64, np.intp):
            return values[self.row_order()]
        return np.asarray(_kernels.backend.gather_by_group(values, self.codes, self.starts))

    def row_codes(self) -> Ints:
        """The query of each row, an index into the labels."""
        if self.codes is not None:
            return self.codes
        return codes_of_runs(self.starts, self.lengths)

    def row_order(self) -> Ints:
        """Row numbers sorted by query, as ``np.argsort(groups, kind="stable")``."""
        by_code = self if self.codes is not None else self.of_codes(self.labels, self.row_codes())
        return by_code.gather(np.arange(self.lengths.sum()))

    def rows_of(self, queries: Ints) -> Ints:
        """The numbers of some queries' rows among the gathered rows, query by query."""
        return rows_of_runs(self.starts[queries], self.lengths[queries])

    def mean_weight(self, weight: Floats, kept: Mask | None = None) -> Floats:
        """Each query's mean weight over its kept rows, or over all its rows if none is kept.

        `weight` and `kept` are gathered.
        """
        mean = self._reduce(sums_of_runs, weight) / self.lengths
        if kept is None:
            return mean
        _, n_kept = kept_runs(kept, self.starts, self.lengths)
        total = self._reduce(sums_of_runs, weight * kept)
        return np.where(n_kept > 0, total / np.maximum(n_kept, 1), mean)

    def extremes(self, values: NDArray[Item]) -> tuple[NDArray[Item], NDArray[Item]]:
        """The lowest and the highest of the values of each query's rows."""
        gathered = self.gather(values)
        lowest = self._reduce(np.minimum.reduceat, gathered)
        return lowest, self._reduce(np.maximum.reduceat, gathered)

    def _reduce(self, reduce: Callable[..., Any], gathered: NDArray[Item]) -> NDArray[Item]:
        by_start = np.argsort(self.starts)  # the runs fill the rows without a gap
        reduced = np.empty(len(self.starts), dtype=gathered.dtype)
        reduced[by_start] = reduce(gathered, self.starts[by_start])
        return reduced


def starts_of(lengths: Ints) -> Ints:
    """The first row of each run, if each run begins where the one before it ends."""
    return np.cumsum(lengths) - lengths


def kept_runs(kept: Mask, starts: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Starts and lengths of the runs once only some of the rows are left."""
    n_before = np.r_[0, np.cumsum(kept)]
    return n_before[starts], n_before[starts + lengths] - n_before[starts]


def rows_of_runs(starts: Ints, lengths: Ints) -> Ints:
    """The row numbers of all runs, one run after another."""
    return np.repeat(starts - starts_of(lengths), lengths) + np.arange(lengths.sum())


def codes_of_runs(starts: Ints, lengths: Ints) -> Ints:
    """The number of each row's run, if the runs fill the rows without a gap."""
    by_start = np.argsort(starts, kind="stable")  # an empty run starts where the next one does
    return np.repeat(by_start, lengths[by_start])


def as_python(labels: Ids) -> list[Hashable]:
    """Ids as Python objects, except dates, some of which `tolist` would make integers."""
    return list(labels) if labels.dtype.kind in "mM" else labels.tolist()


def warn_of_single_documents(n_single: int, n_queries: int) -> None:
    """Warn if every query has one row: probably these are not query ids."""
    if n_single == n_queries > 1:
        warn(
            f"Each of the {n_queries} queries has a single document. All rows of a query must have "
            "the same id in groups. If they have, a tool has cut the queries: QuerySplitter keeps "
            "them whole."
        )


def warn_of_equal_relevance(n_queries: int) -> None:
    """Warn that relevance differs between queries, but not within one: probably it is the ids."""
    warn(
        f"None of the {n_queries} queries has documents of different relevance. groups must have "
        "the query id of each row, not its relevance."
    )


def _warn_of_text_for_time(labels: Ids, asked_by: str, *, is_named: bool = False) -> None:
    """Warn if labels are text that may not sort by time: neither dates nor numbers of one width.

    Text that `order_by` names is only doubted if it is numbers, or dates that do not sort as text.
    """
    texts = [label[0] if label and isinstance(label, tuple) else label for label in labels]
    if not asked_by or not isinstance(texts[0], str) or all(map(_DATE.match, texts)):
        return
    are_numbers = all(map(str.isdecimal, texts))
    is_doubted = are_numbers or not is_named or all(map(_UNSORTED_DATE.match, texts))
    if is_doubted and not (are_numbers and len(set(map(len, texts))) == 1):
        what = "the values of order_by" if is_named else "the ids"
        warn(
            f"{asked_by} needs the order of time, but {what} are text that may not sort by time "
            f"({shown_labels(labels)}). Pass order_by= a column or index level of dates or "
            "numbers, or that of the ids if their order is right."
        )
