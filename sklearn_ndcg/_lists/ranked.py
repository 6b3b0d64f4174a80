"""The one form of what was read of a ranker, and the rows that follow from it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np

from sklearn_ndcg._checks import Floats, Ids, Ints, Mask, Numbers
from sklearn_ndcg._kernels.numpy_kernels import as_grades
from sklearn_ndcg._rows.grouping import kept_runs, starts_of


@dataclass(frozen=True, eq=False, repr=False)
class Ranked:
    """What was read of one ranker: for each query its truth and its list, best first.

    Its rows are the list, and then what else is in the truth. A query with neither has one row,
    which is never scored: a filler.

    `truth_ids` and their `grades`, NaN if unjudged, are those of the truths, one query after
    another, which rankers share; `ids` are those of the lists. `truth_lengths` and `lengths` say
    how many each query has. `ranks` has the rank, counted from 0, of each id in the truths, or -1
    if it is not in the list. `repeats` are the positions among `ids` of those that are in the list
    for a second time, and `firsts` where they were the first time. `is_cut` says whether a list is
    longer than what was read of it.
    """

    truth_ids: list[Hashable]
    grades: Floats
    truth_lengths: Ints
    ids: list[Hashable]
    lengths: Ints
    ranks: Ints
    repeats: Ints
    firsts: Ints
    is_cut: bool

    @cached_property
    def is_listed(self) -> Mask:
        """Which of the ids in the truths are in the list."""
        return self.ranks >= 0

    @cached_property
    def _n_listed(self) -> Ints:
        """How many ids in the truth of each query are in its list."""
        lengths = self.truth_lengths
        return kept_runs(self.is_listed, starts_of(lengths), lengths)[1]

    @cached_property
    def n_rows(self) -> Ints:
        """The number of rows of each query."""
        n_rows: Ints = np.maximum(self.lengths + self.truth_lengths - self._n_listed, 1)
        return n_rows

    @cached_property
    def starts(self) -> Ints:
        """The first row of each query."""
        return starts_of(self.n_rows)

    @cached_property
    def _fillers(self) -> Ints:
        """The rows of queries without documents."""
        return np.asarray(self.starts[self.lengths + self.truth_lengths == 0])

    @cached_property
    def _in_list(self) -> Mask:
        """The rows of ids in lists."""
        lengths = np.column_stack([self.lengths, self.n_rows - self.lengths])
        return np.repeat(np.tile([True, False], len(lengths)), lengths.ravel())

    @cached_property
    def _in_truth_only(self) -> Mask:
        """The rows of ids in the truths that are in no list, in the same order."""
        rows = ~self._in_list
        rows[self._fillers] = False
        return rows

    def _by_row(self, values: Numbers, otherwise: float) -> Numbers:
        """A value for each id in the truths as values of rows; `otherwise` also for repeats."""
        rows = np.full(len(self._in_list), otherwise, dtype=values.dtype)
        rows[self._in_truth_only] = values[~self.is_listed]
        listed = np.repeat(self.starts, self._n_listed) + self.ranks[self.is_listed]
        rows[listed] = values[self.is_listed]
        return rows

    @cached_property
    def judged(self) -> Mask:
        """Which rows have a grade; of repeats the document."""
        judged = self._by_row(~np.isnan(self.grades), False)
        if self.has_repeats:
            rows = np.flatnonzero(self._in_list)
            judged[rows[self.repeats]] = judged[rows[self.firsts]]
        return judged

    @cached_property
    def relevance(self) -> Floats:
        """The grade of each row, NaN if it is unjudged, and 0 if the document was there before."""
        relevance = self._by_row(self.grades, np.nan)
        relevance[self.judged & np.isnan(relevance)] = 0
        return relevance

    def relevance_or_0(self) -> Numbers:
        """The same with 0 for NaN, as uint8 if all are grades from 0 to 255."""
        relevance = np.nan_to_num(self.grades)
        grades = as_grades(relevance)
        return self._by_row(relevance if grades is None else grades, 0)

    @cached_property
    def scores(self) -> Floats:
        """-1, -2, ... down each list, and -inf for what is not in it."""
        return scores_down(self.n_rows, self._in_list)

    @cached_property
    def row_ids(self) -> Ids:
        """The id of each row, None in fillers."""
        ids = np.full(len(self._in_list), None, dtype=object)
        ids[self._in_list] = np.fromiter(self.ids, dtype=object, count=len(self.ids))
        others = compress(self.truth_ids, (~self.is_listed).tolist())
        ids[self._in_truth_only] = np.fromiter(others, dtype=object)
        return ids

    @property
    def has_repeats(self) -> bool:
        """Whether a list has an id twice."""
        return len(self.repeats) > 0

    def is_repeat(self) -> Mask | None:
        """The rows of documents that are further up in the list; None if there are none."""
        return self._mask(np.flatnonzero(self._in_list)[self.repeats]) if self.has_repeats else None

    def fillers(self) -> Mask | None:
        """The rows of queries without documents; None if every query has one."""
        return self._mask(self._fillers) if len(self._fillers) else None

    def _mask(self, rows: Ints) -> Mask:
        mask = np.zeros(len(self._in_list), dtype=bool)
        mask[rows] = True
        return mask


def scores_down(n_rows: Ints, in_list: Mask) -> Floats:
    """-1, -2, ... down the rows of each query, and -inf where a row is not in its list.

    Ranks are counted again in this way where unjudged documents may have been removed.
    """
    scores = np.repeat((starts_of(n_rows) - 1).astype(np.float64), n_rows)
    scores -= np.arange(len(scores), dtype=np.float64)
    np.copyto(scores, -np.inf, where=~in_list)
    return scores
