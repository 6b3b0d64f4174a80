"""Queries as a sample: their values, weights and independent units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import EQUAL, Floats, Ints, check_cutoff, is_integer, is_number, warn
from sklearn_ndcg._lists.pool import UNJUDGED
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg._metrics.queries import Queries
from sklearn_ndcg._metrics.rankings import JudgedShares, Rankings
from sklearn_ndcg._rows.grouping import as_python, codes_of_runs, shown_labels
from sklearn_ndcg.inference._statistics import by_cluster, effective_number

_LEAST = 10  # queries or clusters; below it a warning says that an interval is unreliable


class Sample(NamedTuple):
    """NDCG of each ranker (row) and scored query (column), with the weights of these queries.

    `clusters` has the number of each query's cluster, or is None if all are independent.
    `judged` has the shares of judged documents, also of queries that are left out; it is None if
    every document is judged and returned. `filled` is what `_fill_holes` returns, if it was asked.
    """

    values: Floats
    weight: Floats
    labels: NDArray[Any]
    clusters: Ints | None
    n_left_out: int
    judged: JudgedShares | None
    filled: Floats | None = None
    left_out: dict[str, int] | None = None  # by reason, for lists

    @classmethod
    def of(
        cls, caller: str, rankings: Rankings, arguments: dict[str, Any]
    ) -> tuple[Sample, dict[Any, Sample]]:
        """The queries that can be scored as the arguments of `caller` say, also by segment."""
        check_level(arguments["confidence_level"])
        measure = Measure.of(caller, arguments["options"], k=check_cutoff(arguments["k"]))
        rankers = rankings.queries(measure)
        values = np.array([queries.values()[:, 0] for queries in rankers])
        weight = scored_weights(values[0], rankers[0].weight)
        ids = arguments["clusters"]
        cluster_of = None if ids is None else rankings.labels_of_queries(ids, "clusters", weight)[1]
        labels, judged = rankings.grouping.labels, rankings.judged_shares(measure)
        # if every judged document is relevant, unjudged may just mean not relevant
        has_holes = rankings.judged is not None and judged and judged.has_judged_nonrelevant
        has_verdict = arguments.get("margin") is not None
        filled = _fill_holes(rankings, measure) if has_verdict and has_holes else None
        every = cls(values, weight, labels, cluster_of, 0, judged, filled)
        sample = every._take(np.arange(len(weight)))
        clustered = sample.clusters is not None
        n_queries = len(sample.weight) if clustered else len(weight)
        check_sample_size(sample.unit_weights, n_queries, clustered)
        if rankings.pool is not None:
            unjudged = judged is not None and ~judged.has_judgements
            n, left_out = int(((weight == 0) & unjudged).sum()), Counter(rankings.pool.left_out)
            left_out.update({UNJUDGED: n, "nothing relevant, or no weight": sample.n_left_out - n})
            sample = sample._replace(n_left_out=left_out.total(), left_out=+left_out)
        if arguments.get("segments") is None:
            return sample, {}
        names, codes = rankings.labels_of_queries(arguments["segments"], "segments", weight)
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
        filled = None if self.filled is None else self.filled[..., scored]
        weight = weight / weight.max(initial=0)
        return Sample(values, weight, labels, clusters, n_left_out, judged, filled)

    @property
    def unit_weights(self) -> Floats:
        """Weights of the clusters; without clusters, of the queries."""
        return self.cluster_means(self.values[:1])[1]

    def cluster_means(self, values: Floats) -> tuple[Floats, Floats]:
        """Means and weights of the clusters; without clusters, those of the queries."""
        if self.clusters is None:
            return values, self.weight
        return by_cluster(values, self.weight, self.clusters)

    def shares(self) -> tuple[list[float], list[float]]:
        """For each ranker, the shares of judged documents and of answered queries."""
        if self.judged is None:
            return [1.0] * len(self.values), [1.0] * len(self.values)
        return self.judged.means()


def _fill_holes(rankings: Rankings, measure: Measure) -> Floats:
    """What judging the unjudged documents among the first k of each ranker could change.

    For each ranker and query: NDCG if they are not relevant; NDCG if all have the gain of the best
    judged document; and the factor of others' NDCG then, as the ideal grows. Each is 0 where NDCG
    is undefined, and shape (3, n_rankers, n_queries). A document that is unjudged for several
    rankers is judged for each alone, and may so be better in one list than in another.
    """
    grouping, zero = rankings.grouping, replace(measure, unjudged="zero")
    count = replace(zero, normalized=False, gain="linear", discount="none", log_base=2)
    gains = rankings.gains(zero)
    gain, query = grouping.gather(gains), codes_of_runs(grouping.starts, grouping.lengths)
    best = grouping.extremes(gains)[1][query]
    assert rankings.judged is not None
    is_open = grouping.gather((~rankings.judged).view(np.uint8))
    n_before = np.cumsum(is_open, dtype=np.intp) - is_open
    number = n_before - n_before[grouping.starts][query]  # among the unjudged of its query
    filled, none = [], np.empty(0)
    for queries in rankings.queries(zero, are_all=False):
        opened = replace(queries, measure=count, gain=is_open, gain_table=np.array([0, 1.0]))
        is_first = is_open & (number < opened.values()[:, 0][query])
        (dcg, ideal), (highest, _), (_, larger) = (
            replace(queries, gain=np.where(to_fill, best, gain), gain_table=none).dcg_and_ideal()
            for to_fill in (False, is_open, is_first)
        )
        ratios = (dcg, ideal), (highest, larger), (ideal, larger)
        filled.append([Queries.ndcg(*ratio)[:, 0] for ratio in ratios])
    return np.array(np.nan_to_num(filled)).swapaxes(0, 1)


def scored_weights(values: Floats, weight: Floats | None) -> Floats:
    """Weights of the queries, the largest 1, and 0 for queries without a value."""
    weights = np.where(np.isnan(values), 0, 1 if weight is None else weight)
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


def generators_of(arguments: dict[str, Any], n_segments: int) -> list[np.random.Generator]:
    """The generators of all queries and of each segment, from `random_state`.

    The draws of a segment do not depend on those before. Checks `n_resamples`, too.
    """
    random_state, n_resamples = arguments["random_state"], arguments["n_resamples"]
    if not is_integer(n_resamples) or n_resamples < 2:
        raise ValueError(f"n_resamples must be an integer >= 2, got {n_resamples!r}.")
    seeds = [random_state] * (1 + n_segments)
    if isinstance(random_state, np.random.RandomState):
        seeds = list(random_state.randint(0, 2**32, (1 + n_segments, 4), dtype=np.uint32))
    try:
        generators = list(map(np.random.default_rng, seeds))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be an int, RandomState, Generator or None, got {random_state!r}."
        ) from error
    is_shared = isinstance(random_state, np.random.Generator | np.random.BitGenerator)
    return generators[0].spawn(1 + n_segments) if is_shared and n_segments else generators


def check_level(confidence_level: object) -> None:
    """Raise unless the level is between 0 and 1."""
    if not is_number(confidence_level) or not 0 < float(confidence_level) < 1 - 2**-52:
        raise ValueError(f"confidence_level must be between 0 and 1, got {confidence_level!r}.")
