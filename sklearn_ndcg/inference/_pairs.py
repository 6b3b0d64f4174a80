"""Differences of pairs of rankers: their statistics, tests and verdicts."""

from __future__ import annotations

from collections.abc import Hashable
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._kernels.sums import weighted_means
from sklearn_ndcg.inference import _statistics
from sklearn_ndcg.inference._options import Inference
from sklearn_ndcg.inference._results import Comparison, ConfidenceInterval
from sklearn_ndcg.inference._sample import Sample

_VALUES_AT_A_TIME = 1 << 21  # differences of queries, which take 16 MB


class PairStatistics(NamedTuple):
    """What is computed from the differences of the queries, for each pair."""

    difference: Floats
    error: Floats
    effect: Floats
    statistic: Floats
    pvalue: Floats
    wins: Ints
    ties: Ints
    losses: Ints

    @classmethod
    def of(
        cls, sample: Sample, rows: Ints, inference: Inference, generator: np.random.Generator
    ) -> PairStatistics:
        """The statistics of pairs of rows, of shape (2, n_pairs)."""
        n_blocks = -(-rows.shape[1] * len(sample.weight) // _VALUES_AT_A_TIME)
        blocks = np.array_split(rows, n_blocks, axis=1)
        generators = [*map(deepcopy, [generator] * (n_blocks - 1)), generator]  # draw the same
        found = [
            cls._of_block(sample, block, inference, own)
            for block, own in zip(blocks, generators, strict=True)
        ]
        return cls(*map(np.concatenate, zip(*found, strict=True)))

    @classmethod
    def _of_block(
        cls, sample: Sample, rows: Ints, inference: Inference, generator: np.random.Generator
    ) -> PairStatistics:
        first, second = sample.values[rows]
        largest = _statistics.largest_of(first, second)
        differences = _statistics.differences_of(first, second, largest)
        difference, error, effect = _statistics.mean_and_error(differences, sample.weight)
        # what the mean is of: queries or clusters
        independent, weight = sample.cluster_means(differences)
        if sample.clusters is not None:
            independent = _statistics.differences_of(independent, 0.0, largest)
            difference, error, _ = _statistics.mean_and_error(independent, weight)
        if inference.test == "t":
            statistic = _statistics.t_statistic(difference, error)
            degrees = _statistics.degrees_of_freedom(weight)
            pvalue = 2 * stdtr(degrees, -np.abs(statistic))
        else:
            statistic, n = difference, inference.n_resamples
            pvalue = _statistics.permutation_pvalues(independent, weight, n, generator, largest)
        wins, ties, losses = (
            side(differences, 0).sum(axis=1) for side in (np.greater, np.equal, np.less)
        )
        return cls(difference, error, effect, statistic, pvalue, wins, ties, losses)


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """What is compared, and how."""

    label: str
    limits: tuple[float, float]
    rankers: list[Any]
    baseline: Any
    margin: float | None
    inference: Inference

    def __post_init__(self) -> None:
        baseline, rankers, margin = self.baseline, self.rankers, self.margin
        if baseline is not None and not (isinstance(baseline, Hashable) and baseline in rankers):
            raise ValueError(f"baseline must be one of the rankers {rankers}, got {baseline!r}.")
        highest = self.limits[1]
        if margin is not None and not (_checks.is_number(margin) and 0 < float(margin) < highest):
            between = "between 0 and 1" if highest == 1 else "above 0"
            raise ValueError(f"margin must be a number {between}, got {margin!r}.")
        if margin is not None and baseline is None:
            raise ValueError(
                "A margin needs a baseline: pass baseline=, the ranker that the others are "
                f"compared with, one of {rankers}."
            )

    def compare(self, sample: Sample) -> Comparison:
        """Compare the rankers on the queries of a sample."""
        inference, names, margin = self.inference, self.rankers, self.margin
        (generator,) = inference.generators(0)
        low, high = self.limits
        own, unit_weights = sample.cluster_means(sample.values)
        degrees = _statistics.degrees_of_freedom(unit_weights)
        width = stdtrit(degrees, (1 + inference.confidence_level) / 2)  # in standard errors
        means = weighted_means(sample.values, sample.weight)
        half = _statistics.mean_and_error(own, unit_weights)[1] * width
        bounds = np.clip([means - half, means + half], low, high)
        rows = self._pairs()
        pairs = PairStatistics.of(sample, rows, inference, generator)
        half, largest = pairs.error * width, high - low
        lower, upper = pairs.difference - half, pairs.difference + half
        noninferiority = verdict = None
        if margin is not None:
            noninferiority = stdtr(
                degrees, -_statistics.t_statistic(pairs.difference + margin, pairs.error)
            )
            verdict = _verdicts(lower, upper, margin)
        return Comparison(
            metric=self.label,
            mean=dict(zip(names, means.tolist(), strict=True)),
            interval=ConfidenceInterval(*bounds),
            baseline=self.baseline,
            pairs=[(names[first], names[second]) for first, second in rows.T],
            difference=pairs.difference,
            confidence_level=float(inference.confidence_level),
            confidence_interval=ConfidenceInterval(*np.clip([lower, upper], -largest, largest)),
            standard_error=pairs.error,
            df=degrees,
            effect_size=pairs.effect,
            statistic=pairs.statistic,
            pvalue=_statistics.holm(pairs.pvalue),
            uncorrected_pvalue=pairs.pvalue,
            margin=margin,
            noninferiority_pvalue=noninferiority,
            verdict=verdict,
            wins=pairs.wins,
            ties=pairs.ties,
            losses=pairs.losses,
            values=dict(zip(names, sample.values, strict=True)),
            labels=sample.labels,
            n_queries=len(sample.weight),
            n_clusters=len(unit_weights),
            n_left_out=sample.n_left_out,
            left_out=dict(sample.left_out or {}),
            test=inference.test,
        )

    def _pairs(self) -> Ints:
        """The numbers of the rankers of each pair, shape (2, n_pairs)."""
        n = len(self.rankers)
        if self.baseline is None:
            return np.array(list(combinations(range(n), 2))).T
        second = self.rankers.index(self.baseline)
        return np.array([(first, second) for first in range(n) if first != second]).T


def _verdicts(low: Floats, high: Floats, margin: float) -> list[str]:
    """The verdict on each pair, from the interval of its difference."""
    is_so = [low > 0, low > -margin, high < 0]
    verdicts: list[str] = np.select(is_so, ["better", "not worse", "worse"], "undecided").tolist()
    return verdicts
