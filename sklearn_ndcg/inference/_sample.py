"""Queries as a sample: their values, weights and independent units."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg._checks import (
    Floats,
    Ints,
    is_integer,
    is_number,
    naming_ranker,
    refuse_reordered,
    warn,
)
from sklearn_ndcg._metrics.inputs import read_queries, with_scores
from sklearn_ndcg._metrics.judged import Judged
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg._metrics.queries import Queries, count_of_queries
from sklearn_ndcg._rows.columns import take_rows
from sklearn_ndcg._rows.grouping import Grouping, as_python, shown_labels
from sklearn_ndcg._rows.ids import first_rows
from sklearn_ndcg.inference._statistics import by_cluster, effective_number

_LEAST = 10  # queries or clusters; below it a warning says that an interval is unreliable


class Sample(NamedTuple):
    """NDCG of each ranker (row) and scored query (column), with the weights of these queries.

    `clusters` has the number of each query's cluster, or is None if all are independent.
    `judged` has the counts of judged documents, also of queries that are left out; it is None if
    every document is judged and returned.
    """

    values: Floats
    weight: Floats
    labels: NDArray[Any]
    clusters: Ints | None
    n_left_out: int
    judged: Judged | None

    @classmethod
    def read(
        cls,
        measure: Measure,
        y_true: ArrayLike,
        y_scores: Mapping[Any, ArrayLike],
        data: Mapping[str, Any],
        clusters: ArrayLike | None,
        segments: ArrayLike | None = None,
    ) -> tuple[Sample, dict[Any, Sample]]:
        """The queries that can be scored, for each ranker; and those of each segment."""
        rankers = read_rankers(measure, y_true, y_scores, **data)
        queries = rankers[0]
        values = np.array([ranker.values()[:, 0] for ranker in rankers])
        weight = np.zeros(len(queries))
        scored_weight, scored = scored_weights(values[0], queries.weight)
        weight[scored] = scored_weight
        cluster = None
        if clusters is not None:
            cluster = _labels_of_queries(queries, y_true, clusters, "clusters")[1]
        judged = Judged.of(measure, y_true, y_scores.values(), data["groups"])
        every = cls(values, weight, queries.grouping.labels, cluster, 0, judged)
        sample = every._part(np.ones(len(queries), dtype=bool))
        units = sample.by_independent_unit(sample.values)[1]
        clustered = sample.clusters is not None
        check_sample_size(units, sample.n_queries if clustered else len(queries), clustered)
        if segments is None:
            return sample, {}
        names, segment = _labels_of_queries(queries, y_true, segments, "segments")
        parts = [every._part(segment == number) for number in range(len(names))]
        return sample, dict(zip(as_python(names), parts, strict=True))

    def _part(self, members: NDArray[np.bool_]) -> Sample:
        """The queries that are members and have a weight, as a sample of their own."""
        scored = members & (self.weight > 0)
        weight, clusters = self.weight[scored], None
        if self.clusters is not None:
            found, clusters = np.unique(self.clusters[scored], return_inverse=True)
            clusters = None if len(found) == len(weight) else clusters
        return Sample(
            self.values[:, scored],
            weight / weight.max() if len(weight) else weight,
            self.labels[scored],
            clusters,
            int(np.count_nonzero(members & ~scored)),
            None if self.judged is None else self.judged.take(members),
        )

    @property
    def n_queries(self) -> int:
        return len(self.weight)

    @property
    def n_clusters(self) -> int:
        return self.n_queries if self.clusters is None else int(self.clusters.max()) + 1

    def by_independent_unit(self, values: Floats) -> tuple[Floats, Floats]:
        """Values and weights of the independent units: queries, or their clusters."""
        if self.clusters is None:
            return values, self.weight
        return by_cluster(values, self.weight, self.clusters)

    def is_small(self) -> bool:
        """Whether queries, or clusters, are too few for a reliable interval."""
        units = self.by_independent_unit(self.values)[1]
        return len(units) < 2 or _is_too_few(effective_number(units))

    def shares(self) -> tuple[list[float], list[float]]:
        """For each ranker, the shares of judged documents and of answered queries."""
        if self.judged is None:
            return [1.0] * len(self.values), [1.0] * len(self.values)
        judged, answered = self.judged.shares()
        return judged.tolist(), answered.tolist()


def read_rankers(
    measure: Measure, y_true: ArrayLike, y_scores: Mapping[Any, ArrayLike], **data: Any
) -> list[Queries]:
    """Queries with the scores of each ranker; rows are grouped once, and warnings come once."""
    found: list[Queries] = []
    for name, y_score in y_scores.items():
        with naming_ranker(name) if len(y_scores) > 1 else nullcontext():
            if found:
                refuse_reordered(y_true=y_true, y_score=y_score, **data)
                found.append(with_scores(found[0].without_warning(), y_score))
            else:
                found.append(read_queries(measure, y_true, y_score, **data))
    return found


def scored_weights(values: Floats, weight: Floats | None) -> tuple[Floats, NDArray[np.bool_]]:
    """Weights of the queries that have a value and a weight, and a mask of these queries."""
    weight = np.ones(len(values)) if weight is None else weight
    scored = ~np.isnan(values) & (weight > 0)
    weight = weight[scored]
    return weight / weight.max() if len(weight) else weight, scored


def check_sample_size(weight: Floats, n_queries: int, clustered: bool = False) -> None:
    """Raise or warn if the sample has too few queries or clusters."""
    n, each = len(weight), "clusters" if clustered else "queries"
    if n < 2:
        raise ValueError(
            f"At least 2 scored {each} are needed to estimate how NDCG varies over {each}; found "
            f"{n} among {n_queries} queries."
        )
    worth = effective_number(weight)
    if _is_too_few(worth):
        counted = f"{n_queries} queries in {n} clusters" if clustered else f"{n} queries"
        if round(worth, 6) < n:
            uneven = "uneven sizes" if clustered else "uneven weights"
            counted += f" with {uneven} have an effective number of {worth:.3g} (Kish)"
        warn(f"{counted}: intervals and tests are unreliable below {_LEAST} {each}.")


def _is_too_few(effective: float) -> bool:
    return round(effective, 6) < _LEAST


def _labels_of_queries(
    queries: Queries, y_true: ArrayLike, ids: ArrayLike, name: str
) -> tuple[NDArray[Any], Ints]:
    """Labels of clusters or segments, and the place of each query's cluster or segment."""
    refuse_reordered(**{"y_true": y_true, name: ids})
    grouping = Grouping.of_ids(ids, queries.shape[0], name=name)
    codes = grouping.row_codes()
    if getattr(getattr(ids, "dtype", None), "tz", None) is not None:  # labels are in UTC
        local = np.fromiter(take_rows(ids, first_rows(codes)), object, len(grouping.labels))
        grouping = replace(grouping, labels=local)
    if len(queries.shape) == 2:
        return grouping.labels, codes
    low, high = queries.grouping.extremes(codes)
    several = np.flatnonzero(low < high)
    if len(several):
        first = several[:1]
        both = shown_labels(grouping.labels[[low[first[0]], high[first[0]]]])
        raise ValueError(
            f"{name} must hold whole queries, but rows of {count_of_queries(len(several))} are in "
            f"several, the first {shown_labels(queries.grouping.labels[first])}, in {name} {both}. "
            "Give all of its rows the same one, for example that of its first row, or score its "
            f"rows in each as a query, with groups=[groups, {name}]."
        )
    return grouping.labels, low


def generator_of(random_state: Any, n_resamples: object) -> np.random.Generator:
    """The generator of `random_state`; checks `n_resamples` too."""
    if not is_integer(n_resamples) or n_resamples < 2:
        raise ValueError(f"n_resamples must be an integer >= 2, got {n_resamples!r}.")
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, 4, dtype=np.uint32))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be an int, a RandomState, a Generator or None, got "
            f"{random_state!r}."
        ) from error


def check_level(confidence_level: object) -> None:
    """Raise unless the level is between 0 and 1."""
    if not is_number(confidence_level) or not 0 < float(confidence_level) < 1 - 2**-52:
        raise ValueError(f"confidence_level must be between 0 and 1, got {confidence_level!r}.")
