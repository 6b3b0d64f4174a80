"""Queries as a sample: their values, weights and independent units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sklearn_ndcg._checks import EQUAL, Floats, Ids, Ints, warn
from sklearn_ndcg._lists.pool import UNJUDGED
from sklearn_ndcg._metrics.measure import DCG, NDCG, QueryFunction
from sklearn_ndcg._metrics.rankings import JudgedShares, Rankings
from sklearn_ndcg._metrics.values import refuse_weights_of_0, report_undefined
from sklearn_ndcg._rows.grouping import as_python, shown_labels
from sklearn_ndcg.inference._statistics import by_cluster, cluster_weights, effective_number

_LEAST = 10  # queries or clusters; below it a warning says that an interval is unreliable


@dataclass(frozen=True, eq=False)
class Sample:
    """NDCG of each ranker (row) and scored query (column), with the weights of these queries.

    `clusters` has the number of each query's cluster, or is None if all are independent.
    `judged` has the shares of judged documents, also of queries that are left out; it is None if
    every document is judged and returned. `left_out` has the reasons, for lists.
    """

    values: Floats
    weight: Floats
    labels: Ids
    clusters: Ints | None
    n_left_out: int
    judged: JudgedShares | None
    left_out: Mapping[str, int] | None = None

    @classmethod
    def of(
        cls,
        rankings: Rankings,
        measure: NDCG | QueryFunction,
        clusters: Any = None,
        segments: Any = None,
    ) -> tuple[Sample, dict[Any, Sample]]:
        """The queries that can be scored: all of them, and those of each segment."""
        rankers = rankings.queries_of_rankers(measure)
        rankings.check_ids(rankers[0])
        if not rankers[0].weight.any():
            refuse_weights_of_0()
        values = np.hstack(list(map(measure.values, rankers))).T
        # a function may be undefined for one ranker only: such a query says nothing of the others
        undefined = np.asarray(np.isnan(values).any(axis=0))
        report_undefined(measure, int(undefined.sum()), len(undefined))
        values[:, undefined] = measure.undefined_rule.value
        weight = scored_weights(values[0], rankers[0].weight)
        cluster_of = None
        if clusters is not None:
            _, cluster_of = rankings.labels_of_queries(clusters, "clusters", weight)
        # whatever a function does with documents of equal scores, it gets all of them
        order_of = measure if isinstance(measure, NDCG) else DCG(k=measure.k)
        judged = rankings.judged_shares(order_of)
        labels = rankings.grouping.labels
        every = cls(values, weight, labels, cluster_of, 0, judged)
        sample = every._take(np.arange(len(weight)))
        clustered = sample.clusters is not None
        n_queries = len(sample.weight) if clustered else len(weight)
        check_sample_size(sample.unit_weights, n_queries, clustered)
        if rankings.lists is not None:
            unjudged = judged is not None and ~judged.has_judgements
            n = int(((weight == 0) & unjudged).sum())
            left_out = Counter(rankings.lists.pool.left_out)
            left_out.update({UNJUDGED: n, "nothing relevant, or no weight": sample.n_left_out - n})
            sample = replace(sample, n_left_out=left_out.total(), left_out=+left_out)
        if segments is None:
            return sample, {}
        names, codes = rankings.labels_of_queries(segments, "segments", weight)
        order = np.argsort(codes, kind="stable")
        edges = np.searchsorted(codes, np.arange(len(names) + 1), sorter=order)
        members = np.split(order, edges)[1:-1]
        return sample, dict(zip(as_python(names), map(every._take, members), strict=True))

    def _take(self, members: Ints) -> Sample:
        """The queries that are members and have a weight, as a sample of their own."""
        scored = members[self.weight[members] > 0]
        weight, clusters = self.weight[scored], None
        if self.clusters is not None:
            distinct, clusters = np.unique(self.clusters[scored], return_inverse=True)
            clusters = None if len(distinct) == len(weight) else clusters
        values, labels = self.values[:, scored], self.labels[scored]
        n_left_out = len(members) - len(scored)
        judged = None if self.judged is None else self.judged.take(members)
        weight = weight / weight.max(initial=0)
        return Sample(values, weight, labels, clusters, n_left_out, judged)

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

    def shares(self) -> tuple[list[float], list[float]]:
        """For each ranker, the shares of judged documents and of answered queries.

        The former is nan if unjudged documents may just be those that are not relevant.
        """
        if self.judged is None:
            return [1.0] * len(self.values), [1.0] * len(self.values)
        judged, answered = self.judged.means()
        is_known = self.judged.has_judged_nonrelevant
        return [share if is_known or share == 1 else np.nan for share in judged], answered


def scored_weights(values: Floats, weight: Floats) -> Floats:
    """Weights of the queries, the largest 1, and 0 for queries without a value."""
    weights = np.where(np.isnan(values), 0, weight)
    return np.asarray(weights / (weights.max() or 1))


def check_sample_size(weight: Floats, n_queries: int, clustered: bool = False) -> None:
    """Raise or warn if the sample has too few queries or clusters."""
    n, units = len(weight), "clusters" if clustered else "queries"
    if n < 2:
        raise ValueError(f"At least 2 scored {units} are needed, got {n} of {n_queries} queries.")
    if _are_too_few(weight):
        counted = f"{n_queries} queries in {n} clusters" if clustered else f"{n} queries"
        worth = effective_number(weight)
        if round(worth, 6) < n:
            uneven = "uneven sizes" if clustered else "uneven weights"
            counted += f" with {uneven} have an effective number of {worth:.3g} (Kish)"
        warn(f"{counted}: intervals and tests are unreliable below {_LEAST} {units}.")


def warn_of_weak_segments(segments: Mapping[Any, Sample]) -> None:
    """Warn once of all segments with too few queries, or queries of one value."""
    weak = [
        name
        for name, sample in segments.items()
        if _are_too_few(sample.unit_weights)
        or (len(sample.values) == 1 and np.ptp(sample.values) < EQUAL)
    ]
    if weak:
        warn(
            f"Intervals of {len(weak)} of the {len(segments)} segments, the first "
            f"{shown_labels(weak[:1])}, are unreliable or missing: too few queries, or only "
            "queries of the same value."
        )


def _are_too_few(weight: Floats) -> bool:
    """Whether queries or clusters with these weights are too few for a reliable interval."""
    return len(weight) < 2 or round(effective_number(weight), 6) < _LEAST
