"""Queries as a sample: their values, weights and independent units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sklearn_ndcg._checks import Floats, Ids, Ints, warn
from sklearn_ndcg._lists.rows import UNJUDGED
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg._metrics.rankings import ListRankings, Rankings, queries_of
from sklearn_ndcg._metrics.values import refuse_weights_of_0
from sklearn_ndcg._rows.grouping import as_python
from sklearn_ndcg._rows.label_texts import shown_labels
from sklearn_ndcg.inference._statistics import (
    by_cluster,
    cluster_weights,
    commonest,
    effective_number,
)

LEAST = 10  # queries or clusters; below it a warning says that an interval is unreliable


@dataclass(frozen=True, eq=False)
class Sample:
    """Values of rankers (rows) for scored queries (columns), with the weights of these queries.

    `measure` is that of the values, as the rows were read. `clusters` has the number of each
    query's cluster, or is None if all are independent. `left_out` has the reasons, for lists.
    """

    measure: Measure
    values: Floats
    weight: Floats
    labels: Ids
    clusters: Ints | None
    n_left_out: int
    left_out: Mapping[str, int] | None = None

    @classmethod
    def of(cls, rankers: Sequence[Rankings], measure: Measure, clusters: Any = None) -> Sample:
        """The queries that can be scored."""
        return cls._of_all(rankers, measure, clusters)._scored(rankers[0])

    @classmethod
    def with_segments(
        cls, rankings: Rankings, measure: Measure, segments: Any
    ) -> tuple[Sample, dict[Any, Sample]]:
        """The queries that can be scored: all of them, and those of each segment."""
        every = cls._of_all([rankings], measure, None)
        names, segment_of = rankings.labels_of_queries(segments, "segments", every.weight)
        sample = every._scored(rankings)
        order = np.argsort(segment_of, kind="stable")
        edges = np.searchsorted(segment_of, np.arange(len(names) + 1), sorter=order)
        members = np.split(order, edges)[1:-1]
        return sample, dict(zip(as_python(names), map(every._take, members), strict=True))

    @classmethod
    def _of_all(cls, rankers: Sequence[Rankings], measure: Measure, clusters: Any) -> Sample:
        """All queries; those that cannot be scored have the weight 0."""
        rankings = rankers[0]  # rankers share queries and weights
        measure, queries = queries_of(rankers, measure)
        of_rankers = list(map(measure.values, queries))
        weight, rule = of_rankers[0].weight, of_rankers[0].undefined_rule
        if not weight.any():
            refuse_weights_of_0()
        is_undefined = np.any([each.undefined for each in of_rankers], axis=0)
        rule.report(int(np.count_nonzero(is_undefined)), len(weight))
        values = np.array([each.filled() for each in of_rankers])
        weight = scored_weights(values.max(axis=0), weight)
        cluster_of = None
        if clusters is not None:
            _, cluster_of = rankings.labels_of_queries(clusters, "clusters", weight)
        return cls(measure, values, weight, rankings.grouping.labels, cluster_of, 0)

    def _scored(self, rankings: Rankings) -> Sample:
        """Those of all queries that have a weight, if these are enough."""
        weight = self.weight
        sample = self._take(np.arange(len(weight)))
        clustered = sample.clusters is not None
        n_queries = len(sample.weight) if clustered else len(weight)
        check_sample_size(sample.unit_weights, n_queries, clustered)
        if isinstance(rankings, ListRankings):
            n = int(np.count_nonzero((weight == 0) & ~rankings.has_judgements()))
            left_out = Counter(rankings.lists._left_out)
            left_out.update({UNJUDGED: n, "no relevant document or weight": sample.n_left_out - n})
            sample = replace(sample, n_left_out=left_out.total(), left_out=+left_out)
        return sample

    def _take(self, members: Ints) -> Sample:
        """The queries that are members and have a weight, as a sample of their own."""
        kept = members[self.weight[members] > 0]
        weight, clusters = self.weight[kept], None
        if self.clusters is not None:
            numbers, clusters = np.unique(self.clusters[kept], return_inverse=True)
            clusters = None if len(numbers) == len(weight) else clusters
        return replace(
            self,
            values=self.values[:, kept],
            weight=weight / weight.max(initial=0),
            labels=self.labels[kept],
            clusters=clusters,
            n_left_out=len(members) - len(kept),
        )

    @property
    def unit_weights(self) -> Floats:
        """Weights of the clusters; without clusters, of the queries."""
        if self.clusters is None:
            return self.weight
        return cluster_weights(self.weight, self.clusters)

    def cluster_means(self, values: Floats) -> tuple[Floats, Floats]:
        """Means and weights of the clusters; without clusters, those of the queries."""
        if self.clusters is None:
            return values, self.weight
        return by_cluster(values, self.weight, self.clusters)


def scored_weights(values: Floats, weight: Floats) -> Floats:
    """Weights of the queries, the largest 1, and 0 for queries without a value."""
    weights = np.where(np.isnan(values), 0, weight)
    return np.asarray(weights / (weights.max() or 1))


def check_sample_size(weight: Floats, n_queries: int, clustered: bool = False) -> None:
    """Raise or warn if the sample has too few queries or clusters."""
    n, units = len(weight), "clusters" if clustered else "queries"
    if n < 2:
        raise ValueError(f"At least 2 scored {units} are needed, got {n} of {n_queries} queries.")
    if are_too_few(weight):
        counted = f"{n_queries} queries in {n} clusters" if clustered else f"{n} queries"
        worth = effective_number(weight)
        if round(worth, 6) < n:
            uneven = "uneven sizes" if clustered else "uneven weights"
            counted += f" with {uneven} have an effective number of {worth:.3g} (Kish)"
        warn(f"{counted}: intervals and tests are unreliable below {LEAST} {units}.")


def warn_of_weak_segments(segments: Mapping[Any, Sample]) -> None:
    """Warn once of all segments with too few queries, or too few that differ from the others."""
    reasons = {name: _weakness(sample) for name, sample in segments.items()}
    weak = [name for name, reason in reasons.items() if reason]
    if weak:
        warn(
            f"Intervals of {len(weak)} of the {len(segments)} segments, the first "
            f"{shown_labels(weak[:1])}, are unreliable or missing: "
            f"{', or '.join(dict.fromkeys(filter(None, reasons.values())))}."
        )


def _weakness(sample: Sample) -> str:
    """Why intervals of a sample are unreliable; empty if they are not."""
    if are_too_few(sample.weight):
        return "too few queries"
    if commonest(sample.values[0])[1] < LEAST:
        return "too few queries that differ from most of them"
    return ""


def are_too_few(weight: Floats) -> bool:
    """Whether queries or clusters with these weights are too few for a reliable interval."""
    return len(weight) < 2 or round(effective_number(weight)) < LEAST
