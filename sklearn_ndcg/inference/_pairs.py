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
    """What is computed from the differences of the queries, for each pair, as in `Comparison`."""

    difference: Floats
    standard_error: Floats
    effect_size: Floats
    statistic: Floats
    uncorrected_pvalue: Floats
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
        return cls(
            difference=difference,
            standard_error=error,
            effect_size=effect,
            statistic=statistic,
            uncorrected_pvalue=pvalue,
            wins=(differences > 0).sum(axis=1),
            ties=(differences == 0).sum(axis=1),
            losses=(differences < 0).sum(axis=1),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """What is compared, and how; values lie between the limits."""

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
        inference, names = self.inference, self.rankers
        (generator,) = inference.generators(0)
        low, high = self.limits
        means = weighted_means(sample.values, sample.weight)
        unit_values, unit_weights = sample.cluster_means(sample.values)
        _, errors, _ = _statistics.mean_and_error(unit_values, unit_weights)
        df = _statistics.degrees_of_freedom(unit_weights)
        width = stdtrit(df, (1 + inference.confidence_level) / 2)  # in standard errors
        numbers = self._pairs()
        pairs = PairStatistics.of(sample, numbers, inference, generator)
        interval = _interval_around(
            pairs.difference, pairs.standard_error * width, low - high, high - low
        )
        noninferiority = verdict = None
        if self.margin is not None:
            lost = pairs.difference + self.margin
            noninferiority = stdtr(df, -_statistics.t_statistic(lost, pairs.standard_error))
            verdict = _verdicts(interval, self.margin)
        return Comparison(
            metric=sample.measure.label(),
            mean=dict(zip(names, means.tolist(), strict=True)),
            interval=_interval_around(means, errors * width, low, high),
            baseline=self.baseline,
            pairs=[(names[first], names[second]) for first, second in numbers.T],
            confidence_level=float(inference.confidence_level),
            confidence_interval=interval,
            df=df,
            pvalue=_statistics.holm(pairs.uncorrected_pvalue),
            margin=self.margin,
            noninferiority_pvalue=noninferiority,
            verdict=verdict,
            values=dict(zip(names, sample.values, strict=True)),
            labels=sample.labels,
            n_queries=len(sample.weight),
            n_clusters=len(unit_weights),
            n_left_out=sample.n_left_out,
            left_out=dict(sample.left_out or {}),
            test=inference.test,
            **pairs._asdict(),
        )

    def _pairs(self) -> Ints:
        """The numbers of the rankers of each pair, shape (2, n_pairs)."""
        n = len(self.rankers)
        if self.baseline is None:
            return np.array(list(combinations(range(n), 2))).T
        second = self.rankers.index(self.baseline)
        return np.array([(first, second) for first in range(n) if first != second]).T


def _interval_around(
    value: Floats, half: Floats, lowest: float, highest: float
) -> ConfidenceInterval:
    """Intervals around values, within limits."""
    return ConfidenceInterval(*np.clip([value - half, value + half], lowest, highest))


def _verdicts(interval: ConfidenceInterval, margin: float) -> list[str]:
    """The verdict on each pair, from the interval of its difference."""
    is_so = [interval.low > 0, interval.low > -margin, interval.high < 0]
    verdicts: list[str] = np.select(is_so, ["better", "not worse", "worse"], "undecided").tolist()
    return verdicts
