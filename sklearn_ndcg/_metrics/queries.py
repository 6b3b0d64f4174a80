"""The rows of whole queries with the scores of one ranker: what the kernels compute from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import Cutoff, Floats, Grades, Ids, Ints
from sklearn_ndcg._kernels.numpy_kernels import TieRule
from sklearn_ndcg._rows.grouping import kept_runs
from sklearn_ndcg._rows.label_texts import count_of_queries, shown_labels


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows in which query q is the run ``starts[q] : starts[q] + lengths[q]``.

    Made by `Rankings.queries`, for one ranker and one measure. `gain` is float64, or grades of one
    byte whose gains are in `gain_table`. `weight` and `labels` have one entry per query.
    `relevance_name` is the argument that has the relevance.
    """

    labels: Ids
    starts: Ints
    lengths: Ints
    gain: Floats | Grades
    gain_table: Floats
    score: Floats
    weight: Floats
    relevance_name: str = "y_true"

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def longest(self) -> int:
        """The number of documents of the longest query, at least 1."""
        return max(1, int(self.lengths.max()))

    def ends(self, k: Cutoff) -> Ints:
        """The cutoff for the kernels, in an array, not beyond the longest query."""
        # documents that were not retrieved add nothing to a DCG, so "retrieved" need not cut it
        end = min(k, self.longest) if isinstance(k, int) else self.longest
        return np.array([end], dtype=np.intp)

    def dcg(self, discount: Floats, cutoffs: Ints, ties: TieRule) -> Floats:
        """DCG of each query at distinct cutoffs, which ascend."""
        dcg: Floats = _kernels.backend.dcg(
            self.gain,
            self.score,
            self.starts,
            self.lengths,
            discount,
            cutoffs,
            ties,
            self.gain_table,
        )
        if not np.isfinite(dcg).all():
            self._refuse_overflow(dcg)
        return dcg

    def ideal_dcg(self, discount: Floats, cutoffs: Ints) -> Floats:
        """DCG of each query's best order, at cutoffs as in `dcg` or at those of each query."""
        ideal: Floats = _kernels.backend.ideal_dcg(
            self.gain, self.starts, self.lengths, discount, cutoffs, self.gain_table
        )
        if not np.isfinite(ideal).all():
            self._refuse_overflow(ideal)
        return ideal

    def _refuse_overflow(self, sums: Floats) -> None:
        wrong, name = ~np.isfinite(sums).all(axis=1), self.relevance_name
        raise ValueError(
            f"{name} has gains that, times discount, add up to more than a float64 holds "
            f"in {count_of_queries(int(wrong.sum()))}, the first "
            f"{shown_labels(self.labels[wrong], 1)}: scale {name} down, or pass a gain "
            "that does."
        )

    def n_retrieved(self) -> Ints:
        """How many documents of each query were retrieved."""
        return kept_runs(self.score > -np.inf, self.starts, self.lengths)[1]

    def in_random_order(self) -> Queries:
        """These rows with all retrieved documents tied; others stay as they are."""
        return replace(self, score=np.where(self.score == -np.inf, -np.inf, 0.0))

    def take(self, numbers: Ints) -> Queries:
        """Some of the queries."""
        return replace(
            self,
            labels=self.labels[numbers],
            starts=self.starts[numbers],
            lengths=self.lengths[numbers],
            weight=self.weight[numbers],
        )
