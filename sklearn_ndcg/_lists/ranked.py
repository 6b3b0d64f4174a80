"""The one form of what was read: the truths of all queries, and the rows of each ranker."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_ndcg._checks import Floats, Ids, Ints, Mask
from sklearn_ndcg._rows.grouping import kept_runs, rows_of_runs, starts_of


@dataclass(frozen=True, eq=False)
class Truths:
    """The ids in the truths, one query after another, and their grades: NaN if unjudged."""

    ids: list[Hashable]
    grades: Floats
    lengths: Ints


@dataclass(frozen=True, eq=False)
class Ranked:
    """The rows of one ranker: for each query its list, best first, then what else is in the truth.

    A query with neither has one row, which is never scored: a filler. `ids` and `lengths` are those
    of the lists, one query after another. `ranks` has the rank, counted from 0, of each id in the
    truths, or -1 if it is not in the list. `repeats` are the positions among `ids` of those that
    are in the list for a second time, and `firsts` where they were the first time. `is_cut` says
    whether a list is longer than what was read of it.
    """

    truths: Truths
    ids: list[Hashable]
    lengths: Ints
    ranks: Ints
    repeats: Ints
    firsts: Ints
    is_cut: bool

    @cached_property
    def is_listed(self) -> Mask:
        """Which of the ids in the truths the ranker returned."""
        return self.ranks >= 0

    @cached_property
    def _n_unlisted(self) -> Ints:
        """How many ids in the truth of each query it did not return."""
        lengths = self.truths.lengths
        return lengths - kept_runs(self.is_listed, starts_of(lengths), lengths)[1]

    @cached_property
    def n_rows(self) -> Ints:
        """The number of rows of each query."""
        return np.maximum(self.lengths + self._n_unlisted, 1)

    @cached_property
    def starts(self) -> Ints:
        """The first row of each query."""
        return starts_of(self.n_rows)

    @cached_property
    def _rows_of_lists(self) -> Ints:
        """The row of each id in the lists."""
        return rows_of_runs(self.starts, self.lengths)

    @cached_property
    def _rows_of_truths(self) -> Ints:
        """The row of each id in the truths."""
        rows = np.repeat(self.starts, self.truths.lengths) + self.ranks
        rows[~self.is_listed] = rows_of_runs(self.starts + self.lengths, self._n_unlisted)
        return rows

    @cached_property
    def relevance(self) -> Floats:
        """The grade of each row, NaN if it is unjudged, and 0 if the document was there before."""
        relevance = np.full(self.n_rows.sum(), np.nan)
        relevance[self._rows_of_truths] = self.truths.grades
        if self.has_repeats:
            first = relevance[self._rows_of_lists[self.firsts]]
            relevance[self._rows_of_lists[self.repeats]] = np.where(np.isnan(first), np.nan, 0)
        return relevance

    @cached_property
    def scores(self) -> Floats:
        """-1, -2, ... down each list, and -inf for what is not in it."""
        return scores_of_ranks(self.n_rows, self.lengths)

    @cached_property
    def row_ids(self) -> Ids:
        """The id of each row, None in fillers."""
        ids = np.full(len(self.relevance), None, dtype=object)
        truths, listed = self.truths.ids, self.ids
        ids[self._rows_of_truths] = np.fromiter(truths, dtype=object, count=len(truths))
        ids[self._rows_of_lists] = np.fromiter(listed, dtype=object, count=len(listed))
        return ids

    @property
    def has_repeats(self) -> bool:
        """Whether a list has an id twice."""
        return len(self.repeats) > 0

    def is_repeat(self) -> Mask | None:
        """The rows of documents that are further up in the list; None if there are none."""
        return self._mask(self._rows_of_lists[self.repeats]) if self.has_repeats else None

    def fillers(self) -> Mask | None:
        """The rows of queries without documents; None if every query has one."""
        is_empty = self.lengths + self._n_unlisted == 0
        return self._mask(self.starts[is_empty]) if is_empty.any() else None

    def _mask(self, rows: Ints) -> Mask:
        mask = np.zeros(len(self.relevance), dtype=bool)
        mask[rows] = True
        return mask


def scores_of_ranks(n_rows: Ints, n_listed: Ints) -> Floats:
    """-1, -2, ... for the first, listed rows of each query, and -inf for the others."""
    starts, scores = starts_of(n_rows), np.full(n_rows.sum(), -np.inf)
    ranks = np.arange(n_listed.sum()) - np.repeat(starts_of(n_listed), n_listed)
    # converted by itself, as NumPy 2.4 crashes if memory runs out in a ufunc that converts
    scores[rows_of_runs(starts, n_listed)] = -1 - ranks.astype(np.float64)
    return scores
