"""How much of what rankers return is judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg._checks import Floats
from sklearn_ndcg._metrics.inputs import numeric, read_batch, with_scores
from sklearn_ndcg._metrics.measure import Measure


class Judged(NamedTuple):
    """Counts of the first k documents that each ranker (row) returns for each query (column).

    `has_judgements` says which queries have a judged document; the others are not counted. If
    `has_not_relevant` is false, every judged document is relevant, as in a list of what a user
    liked, and unjudged may just mean not relevant.
    """

    n_returned: Floats
    n_judged: Floats
    has_judgements: NDArray[np.bool_]
    has_not_relevant: bool

    @classmethod
    def of(
        cls, measure: Measure, y_true: ArrayLike, y_scores: Iterable[ArrayLike], groups: object
    ) -> Judged | None:
        """Count, averaging over ties; None if every document is judged and returned."""
        relevance = numeric(y_true, "y_true")
        judged = ~np.isnan(relevance)
        scores = [numeric(y_score, "y_score") for y_score in y_scores]
        if judged.all() and all(score.min() > -np.inf for score in scores):
            return None
        count = Measure(k=measure.k, normalized=False, discount="none")
        first = read_batch(count, judged, scores[0], groups)  # type: ignore[arg-type]
        rankers = [with_scores(first, score) for score in scores]
        n_judged = np.array([each.values()[:, 0] for each in rankers])
        ones: Any = {"gain": np.ones(len(first.gain)), "gain_table": np.empty(0)}
        n_returned = np.array([replace(each, **ones).values()[:, 0] for each in rankers])
        has_judgements = first.dcg_and_ideal()[1][:, 0] > 0
        return cls(n_returned, n_judged, has_judgements, bool((relevance <= 0).any()))

    def take(self, queries: NDArray[np.bool_]) -> Judged:
        """The counts of some queries."""
        returned, judged, known, has_not_relevant = self
        return Judged(returned[:, queries], judged[:, queries], known[queries], has_not_relevant)

    @property
    def n_queries(self) -> int:
        """Number of queries that have a judged document."""
        return int(np.count_nonzero(self.has_judgements))

    def n_answered(self) -> list[int]:
        """The number of these queries for which each ranker returned a document."""
        found: list[int] = (self.take(self.has_judgements).n_returned > 0).sum(axis=1).tolist()
        return found

    def shares(self) -> tuple[Floats, Floats]:
        """For each ranker, the mean judged share, and the share of queries that it answers."""
        n_returned, n_judged, _, _ = self.take(self.has_judgements)
        n_answered = np.array(self.n_answered())
        share = np.divide(n_judged, n_returned, where=n_returned > 0, out=np.zeros_like(n_judged))
        return share.sum(axis=1) / np.maximum(n_answered, 1), n_answered / max(self.n_queries, 1)
