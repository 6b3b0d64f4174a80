"""Differences of pairs of rankers: their statistics, tests and verdicts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._kernels.sums import weighted_means
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg.inference import _statistics
from sklearn_ndcg.inference._options import Inference
from sklearn_ndcg.inference._results import Comparison, ConfidenceInterval
from sklearn_ndcg.inference._sample import Sample

Margin = float | Mapping[str, float]

_VALUES_AT_A_TIME = 1 << 21  # differences of queries, which take 16 MB


@dataclass(frozen=True, kw_only=True, eq=False)
class Metrics:
    """The labels of measures at each cutoff, with their lowest and highest values.

    If there are `several`, results are by metric: also if they are a list of one.
    """

    labels: list[str]
    limits: Floats
    several: bool

    @classmethod
    def of(cls, measures: Sequence[tuple[str | None, Measure]], several: bool) -> Metrics:
        """Label the measures, each with a name of the user or None."""
        labels, limits = [], []
        for name, measure in measures:
            of_cutoffs = measure.labels(name)
            labels += of_cutoffs
            limits += [measure.limits] * len(of_cutoffs)
        if len(set(labels)) < len(labels):
            raise ValueError(f"metric must name different metrics, got {labels}.")
        return cls(labels=labels, limits=np.array(limits), several=several)

    def losses(self, margin: Margin | None) -> Floats | None:
        """The margin of each metric."""
        if margin is None:
            return None
        if isinstance(margin, Mapping):
            if margin.keys() != {*self.labels}:
                raise ValueError(
                    f"margin must have an entry for each of {self.labels}, got {[*margin]}."
                )
            losses = [margin[label] for label in self.labels]
        else:
            losses = [margin] * len(self.labels)
        for loss, highest in zip(losses, self.limits[:, 1], strict=True):
            if not (_checks.is_number(loss) and 0 < float(loss) < highest):
                between = "between 0 and 1" if highest == 1 else "above 0"
                raise ValueError(f"margin must be a number {between}, got {loss!r}.")
        return np.array(losses, dtype=np.float64)

    def check_scale(self, margin: Margin | None, values: Floats) -> None:
        """Raise if one margin is passed for values of several scales, a row for each metric."""
        if margin is None or isinstance(margin, Mapping) or len(self.labels) == 1:
            return
        low, high = values.min(axis=1), values.max(axis=1)
        outside = np.flatnonzero((low < 0) | (high > 1))
        if len(outside):
            label, extreme = self.labels[outside[0]], max(-low[outside[0]], high[outside[0]])
            raise ValueError(
                f"margin={margin} is a loss for values from 0 to 1, but those of {label} are as "
                f"large as {extreme:.4g}: pass a mapping from each of {self.labels} to its margin."
            )


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

    metrics: Metrics
    rankers: list[Any]
    baseline: Any
    margin: Margin | None
    inference: Inference

    def __post_init__(self) -> None:
        self.metrics.losses(self.margin)  # raises if it is wrong
        baseline, rankers = self.baseline, self.rankers
        if baseline is not None and not (isinstance(baseline, Hashable) and baseline in rankers):
            raise ValueError(f"baseline must be one of the rankers {rankers}, got {baseline!r}.")

    def compare(self, sample: Sample) -> Comparison:
        """Compare the rankers by each metric on the queries of a sample."""
        self.metrics.check_scale(self.margin, sample.values.reshape(len(self.metrics.labels), -1))
        (generator,) = self.inference.generators(0)
        inference, losses = self.inference, self.metrics.losses(self.margin)
        numbers, names, n = self._pairs(), self.rankers, len(self.rankers)
        n_metrics = len(self.metrics.labels)
        rows = np.concatenate([numbers + n * metric for metric in range(n_metrics)], axis=1)
        low, high = np.repeat(self.metrics.limits, n, axis=0).T
        own, unit_weights = sample.cluster_means(sample.values)
        degrees = _statistics.degrees_of_freedom(unit_weights)
        width = stdtrit(degrees, (1 + inference.confidence_level) / 2)  # in standard errors
        means = weighted_means(sample.values, sample.weight)
        half = _statistics.mean_and_error(own, unit_weights)[1] * width
        bounds = np.clip([means - half, means + half], low, high)
        pairs = PairStatistics.of(sample, rows, inference, generator)
        half, largest = pairs.error * width, (high - low)[rows[0]]
        lower, upper = pairs.difference - half, pairs.difference + half
        noninferiority = verdict = None
        if losses is not None:
            losses = np.repeat(losses, numbers.shape[1])
            noninferiority = stdtr(
                degrees, -_statistics.t_statistic(pairs.difference + losses, pairs.error)
            )
            verdict = _verdicts(lower, upper, losses)
        labels, several = self.metrics.labels, self.metrics.several
        keys = [(label, name) if several else name for label in labels for name in names]
        judged, answered = sample.shares()
        margin: Any = self.margin
        if isinstance(margin, Mapping):
            margin = {label: margin[label] for label in labels} if several else margin[labels[0]]
        return Comparison(
            metric=labels if several else labels[0],
            mean=dict(zip(keys, means.tolist(), strict=True)),
            interval=ConfidenceInterval(*bounds),
            baseline=self.baseline,
            pairs=[
                (*[label] * several, names[first], names[second])
                for label in labels
                for first, second in numbers.T
            ],
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
            judged=dict(zip(keys, judged, strict=True)),
            answered=dict(zip(names, answered[:n], strict=True)),
            wins=pairs.wins,
            ties=pairs.ties,
            losses=pairs.losses,
            values=dict(zip(keys, sample.values, strict=True)),
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


def _verdicts(low: Floats, high: Floats, losses: Floats) -> list[str]:
    """The verdict on each pair, from the interval of its difference."""
    is_so = [low > 0, low > -losses, high < 0]
    verdicts: list[str] = np.select(is_so, ["better", "not worse", "worse"], "undecided").tolist()
    return verdicts
