"""Queries as a sample: their values and weights, and what is independent of each other."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg._checks import Floats, Ints, is_integer, naming_ranker, refuse_reordered, warn
from sklearn_ndcg._inference.statistics import by_cluster, effective_number
from sklearn_ndcg._metrics import Measure, Queries, read_queries, with_scores
from sklearn_ndcg._rows import Grouping, first_rows, shown_labels

_LEAST = 10  # queries or clusters; below it a warning says that an interval is unreliable


class Sample(NamedTuple):
    """NDCG of each ranker (row) and scored query (column), with the weights of these queries.

    `clusters` has the number of each query's cluster, or is None where all are independent.
    """

    values: Floats
    weight: Floats
    labels: NDArray[Any]
    clusters: Ints | None
    n_left_out: int

    @classmethod
    def of(cls, rankers: list[Queries], y_true: ArrayLike, clusters: ArrayLike | None) -> Sample:
        """The queries that can be scored, for each ranker."""
        queries = rankers[0]
        values = np.array([ranker.values()[:, 0] for ranker in rankers])
        weight, scored = scored_weights(values[0], queries.weight)
        codes = None
        if clusters is not None:
            refuse_reordered(y_true=y_true, clusters=clusters)
            of_query = _clusters_of_queries(queries, clusters)[scored]
            found, codes = np.unique(of_query, return_inverse=True)
            codes = None if len(found) == len(weight) else codes
        labels = queries.grouping.labels[scored]
        sample = cls(values[:, scored], weight, labels, codes, int((~scored).sum()))
        units = sample.by_independent_unit(sample.values)[1]
        n_queries = len(scored) if codes is None else sample.n_queries
        check_sample_size(units, n_queries, codes is not None)
        return sample

    @property
    def n_queries(self) -> int:
        return len(self.weight)

    @property
    def n_clusters(self) -> int:
        return self.n_queries if self.clusters is None else int(self.clusters.max()) + 1

    def by_independent_unit(self, values: Floats) -> tuple[Floats, Floats]:
        """Values and weights of what is independent of each other: queries, or their clusters."""
        if self.clusters is None:
            return values, self.weight
        return by_cluster(values, self.weight, self.clusters)


def read_rankers(
    measure: Measure, y_true: ArrayLike, y_scores: Mapping[Any, ArrayLike], **data: Any
) -> list[Queries]:
    """Queries with the scores of each ranker, which are grouped once and warn once."""
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
    """Weights of the queries that have a value and a weight, and which these are."""
    weight = np.ones(len(values)) if weight is None else weight
    scored = ~np.isnan(values) & (weight > 0)
    weight = weight[scored]
    return weight / weight.max() if len(weight) else weight, scored


def check_sample_size(weight: Floats, n_queries: int, clustered: bool = False) -> None:
    """Raise or warn where a sample of so many queries or clusters is too small."""
    n, each = len(weight), "clusters" if clustered else "queries"
    if n < 2:
        raise ValueError(
            f"At least 2 scored {each} are needed to estimate how NDCG varies over {each}; found "
            f"{n} of {n_queries} queries."
        )
    worth = round(effective_number(weight), 6)
    if worth < _LEAST:
        counted = f"{n} clusters of {n_queries} queries" if clustered else f"{n} queries"
        if worth < n:
            uneven = "uneven sizes" if clustered else "uneven weights"
            counted += f" with {uneven} have an effective number of {worth:.3g} (Kish)"
        warn(f"{counted}: intervals and tests are unreliable below {_LEAST}.")


def _clusters_of_queries(queries: Queries, clusters: ArrayLike) -> Ints:
    """The number of each query's cluster, which holds all of its rows."""
    grouping = Grouping.of_ids(clusters, queries.shape[0], name="clusters")
    codes = grouping.row_codes()
    if len(queries.shape) == 2:
        return codes
    query = queries.grouping.row_codes()
    first = codes[first_rows(query)]
    elsewhere = codes != first[query]
    if elsewhere.any():
        row = int(elsewhere.argmax())
        label = shown_labels(queries.grouping.labels[query[row]][np.newaxis])
        both = shown_labels(grouping.labels[[first[query[row]], codes[row]]])
        raise ValueError(
            f"clusters must hold whole queries, but {len(np.unique(query[elsewhere]))} queries "
            f"have rows in several, the first {label}, in clusters {both}. Pass larger clusters; "
            "or, if its rows in each cluster are a query of their own, groups=[groups, clusters]."
        )
    return first


def generator_of(random_state: Any, n_resamples: object) -> np.random.Generator:
    """The generator that draws `n_resamples` resamples, which are checked as well."""
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
