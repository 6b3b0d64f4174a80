"""Rows of ranked lists, with the cutoff and the rule for unjudged documents as they were read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from sklearn_ndcg._checks import Floats, Ids, Ints, Mask, is_integer
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics import inputs
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg._metrics.queries import Queries
from sklearn_ndcg._metrics.rankings import AnyMeasure, Rankings, labels_of, with_judged
from sklearn_ndcg._metrics.row_names import ListNames
from sklearn_ndcg._rows.grouping import Grouping


@dataclass(frozen=True, eq=False, kw_only=True)
class ListRankings(Rankings):
    """The rows of ranked `lists`; of several rankers these are the rows of the first.

    Queries without documents have a row that is never scored, one of the `fillers`. Documents that
    are in a list again are `repeats`: they have no gain, and are judged or not as the first one is.
    """

    lists: Rows
    fillers: Mask | None
    repeats: Mask | None

    @classmethod
    def of(cls, lists: Rows, sample_weight: Any = None) -> ListRankings:
        """The rows of one or several rankers, with weights of queries."""
        if sample_weight is None:
            return cls._of(lists, None)
        queries = lists.pool.queries
        by_query = list(lists.pool.per_query(sample_weight, "sample_weight", queries).values())
        return cls._of(lists, inputs.row_weights(by_query, len(queries), queries))

    @classmethod
    def of_one_ranker(cls, lists: Rows, sample_weight: Any = None) -> ListRankings:
        """The rows, which must be of one ranker."""
        if len(lists.rankers) > 1:
            raise ValueError(
                f"The rows are of {len(lists.rankers)} rankers: pass those of one, "
                f"rows[{lists.rankers[0]!r}]. compare_rankers and NDCGDisplay.from_predictions "
                "take all."
            )
        return cls.of(lists, sample_weight)

    @classmethod
    def _of(cls, lists: Rows, weight: Floats | None) -> ListRankings:
        """The rows of lists whose queries have these weights."""
        pool = lists.pool
        ranked, *_ = pool.rankers.values()
        judged, repeats = ranked.judged, ranked.is_repeat()
        is_zero = lists.unjudged == "zero"
        rows, graded = with_judged(ranked.relevance_or_0() if is_zero else ranked.relevance)
        if repeats is not None:  # the gain of 0 may not be 0
            rows = rows.astype(np.float64)
            graded = ~repeats if graded is None else graded & ~repeats
        scores = {name: ranker.scores for name, ranker in pool.rankers.items()}
        if len(scores) == 1:  # whose name does not matter
            scores = dict.fromkeys([None], *scores.values())
        return cls(
            relevance=rows,
            graded=graded,
            judged=None if judged.all() else judged,
            scores=scores,
            grouping=Grouping(pool.labels, ranked.starts[pool.order], ranked.n_rows[pool.order]),
            weight=None if weight is None else np.repeat(weight, ranked.n_rows),
            names=ListNames(pool, lists.relevance_name),
            lists=lists,
            fillers=ranked.fillers(),
            repeats=repeats,
        )

    @cached_property
    def with_own_rows(self) -> list[Rankings]:
        """The rows of each ranker: what it returned, and the truths."""
        if len(self.scores) == 1:
            return [self]
        first, *_ = self.lists.pool.rankers.values()
        weight = None if self.weight is None else self.weight[first.starts]
        return [self._of(self.lists[name], weight) for name in self.scores]

    def as_read(self, measure: AnyMeasure) -> AnyMeasure:
        """The measure with the cutoff and the rule for unjudged documents of the lists.

        A cutoff that is smaller than that of the lists stays.
        """
        return measure.of_lists(self.lists.cutoff(measure.k), self.lists.unjudged)

    def curve_cutoffs(self, k: Ints | None, queries: Queries) -> Ints:
        """The cutoffs of a curve, by default all up to the longest query or the end of lists."""
        if self.lists.k == "retrieved":
            raise ValueError(
                "k='retrieved' has no curve: read the lists without it, or with an int."
            )
        if k is not None:
            self.lists.cutoff(int(k.max()))
            return k
        last = queries.longest
        return np.arange(1, (min(last, self.lists.k) if is_integer(self.lists.k) else last) + 1)

    def rows_of_query(self, number: int) -> Ints:
        """The numbers of a query's rows that are documents."""
        rows = super().rows_of_query(number)
        return rows if self.fillers is None else rows[~self.fillers[rows]]

    def _kept(self, measure: Measure) -> Mask | None:
        """Which rows are scored; None for all."""
        kept = super()._kept(measure)
        if self.fillers is None:
            return kept
        return ~self.fillers if kept is None else kept & ~self.fillers

    def _nonrelevant(self) -> Mask:
        nonrelevant = super()._nonrelevant()
        # the relevance of repeats is 0 whatever was judged
        return nonrelevant if self.repeats is None else nonrelevant & ~self.repeats

    def check_ids(self, queries: Queries) -> None:
        """The ids of lists are the user's own."""

    def labels_of_queries(self, ids: Any, name: str, weight: Floats) -> tuple[Ids, Ints]:
        """Sorted labels of clusters or segments, and the position in them of each query's.

        A query needs no label if its weight is 0; without one its position is -1.
        """
        pool = self.lists.pool
        queries = [pool.queries[number] for number in pool.order]
        by_query = pool.per_query(ids, name, list(compress(queries, weight)))
        labels, codes = labels_of(list(by_query.values()), len(by_query), name)
        code_of = dict(zip(by_query, codes, strict=True))
        return labels, np.array([code_of.get(query, -1) for query in queries])
