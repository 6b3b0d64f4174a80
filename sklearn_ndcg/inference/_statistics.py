"""Means over queries, their errors and tests: arrays in, arrays out.

`values` have a row for each ranker or pair and a column for each query; `weight` has a weight for
each query, the largest 1. If queries depend on each other, the columns are clusters: the mean over
queries is the mean over clusters, weighted by the sums of their weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from sklearn_ndcg._checks import EQUAL, Floats, Ints
from sklearn_ndcg._kernels.sums import weighted_means

Method = Literal["BCa", "t"]
Test = Literal["permutation", "t"]

_CHUNK = 1 << 18  # queries that are drawn at a time: 2 MB, which fit a cache
_SIGNS = 1 << 21  # signs that are drawn at a time
_ROUNDING = 1e-14  # error of a value or a mean; the kernels differ by less than 1e-15


def largest_of(*values: Floats) -> Floats:
    """The largest absolute value in each row of these arrays."""
    return np.asarray(np.max([np.abs(rows).max(-1, keepdims=True) for rows in values], axis=0))


def differences_of(first: Floats, second: Floats | float, largest: Floats) -> Floats:
    """Differences, 0 where they are rounding errors of values as large as that."""
    differences = first - second
    return np.where(np.abs(differences) <= EQUAL * largest, 0, differences)


def commonest(values: Floats) -> tuple[float, int]:
    """The value that more than half have, and how many differ from it; all if there is none."""
    value = float(np.sort(values)[len(values) // 2])
    n_others = int(np.count_nonzero(differences_of(values, value, largest_of(values))))
    return value, n_others if 2 * n_others < len(values) else len(values)


def effective_number(weight: Floats) -> float:
    """Kish's effective number: the number of queries of equal weight whose mean is as precise."""
    return float(weight.sum() ** 2 / (weight**2).sum())


def degrees_of_freedom(weight: Floats) -> float:
    """Degrees of freedom of Student's t; n - 1 if weights are equal."""
    return max(effective_number(weight) - 1, 1)


def cluster_weights(weight: Floats, clusters: Ints) -> Floats:
    """The sum of the weights in each cluster, the largest 1."""
    totals = np.bincount(clusters, weight)
    return np.asarray(totals / totals.max())


def by_cluster(values: Floats, weight: Floats, clusters: Ints) -> tuple[Floats, Floats]:
    """Weighted mean of each row over the queries of each cluster, and the weights of clusters."""
    sums = np.array([np.bincount(clusters, row * weight) for row in values])
    return sums / np.bincount(clusters, weight), cluster_weights(weight, clusters)


def mean_and_error(values: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Weighted mean of each row, its standard error, and mean over standard deviation."""
    means = weighted_means(values, weight)
    # the jackknife, from how far the mean moves if a value is left out: s / sqrt(n) if weights are
    # equal; docs/design/evidence.md compares it with other errors if they are not
    weight_of_others = _sums_of_others(weight)
    means_of_others = _sums_of_others(values * weight) / weight_of_others
    moves = (values - means_of_others) * weight / weight.sum()
    squares = ((values - means[:, np.newaxis]) ** 2 * weight).sum(axis=1)
    errors, deviations = _deviations((moves**2).sum(axis=1), squares, weight, weight_of_others)
    deviations[deviations <= _ROUNDING * np.abs(means)] = 0  # all values are equal
    with np.errstate(divide="ignore", invalid="ignore"):
        effects = np.where(means == 0, 0, means / deviations)
    return means, errors, effects


def curve_mean_and_error(
    sums: Floats, sums_of_squares: Floats, weights: Floats
) -> tuple[Floats, Floats]:
    """Mean and its standard error, as in `mean_and_error`, at each cutoff of a curve.

    From sums of the values, and of their squares, times the weight (first row) and the square of
    its jackknife factor (second row).
    """
    total = weights.sum(axis=1)[:, np.newaxis]
    means = sums[0] / total[0]
    squares = np.maximum(sums_of_squares - 2 * means * sums + means**2 * total, 0)
    return means, _deviations(squares[1], squares[0], weights[0], _sums_of_others(weights[0]))[0]


def jackknife_factors(weight: Floats) -> Floats:
    """Each weight over the sum of the others.

    Leaving a value out moves the mean by this factor times the distance between them.
    """
    # for larger factors `_deviations` takes the error from all values
    return np.minimum(weight / np.maximum(_sums_of_others(weight), 1e-300), 1e6)


def _deviations(
    squared_moves: Floats, squares: Floats, weight: Floats, weight_of_others: Floats
) -> tuple[Floats, Floats]:
    """Standard errors of means by the jackknife, and standard deviations of the values.

    `squared_moves` sums the squares of how far the mean moves if a value is left out, `squares` the
    weighted squares of the distances from the mean.
    """
    n, effective = len(weight), effective_number(weight)
    errors = np.sqrt(squared_moves * (n - 1) / n)
    deviations = np.sqrt(squares * weight.sum() / (weight * weight_of_others).sum())
    if effective < 2:
        # one query dominates, and by luck it may lie near the mean of the others: use all values
        errors = np.maximum(errors, deviations / np.sqrt(effective))
    return errors, deviations


def bootstrap_means(values: Floats, weight: Floats, n_resamples: int, generator: Any) -> Floats:
    """Weighted means of resamples of the queries."""
    n = len(values)
    weighted, equal = values * weight, bool((weight == weight[0]).all())

    def means(chunk: range) -> Floats:
        drawn = generator.integers(0, n, (len(chunk), n))
        total = n * weight[0] if equal else weight[drawn].sum(axis=1)
        return np.asarray(weighted[drawn].sum(axis=1) / total)

    return _in_chunks(means, n_resamples, _CHUNK // n)


def bca_levels(
    tails: Floats, value: float, means: Floats, values: Floats, weight: Floats, pooled: bool = False
) -> Floats:
    """Levels of the quantiles that BCa takes, with bias-correction and acceleration.

    The acceleration is the skewness of the mean, estimated by the jackknife or, if `pooled`, from
    all values, as the jackknife follows the few with large weights.
    """
    beyond = means - value
    beyond[np.abs(beyond) <= _ROUNDING * np.abs(values).max()] = 0  # equal but for rounding
    bias = ndtri(((beyond < 0).mean() + (beyond <= 0).mean()) / 2)
    if not np.isfinite(bias):
        raise ValueError("n_resamples is too small for method='BCa': take more, or method='t'.")
    if pooled:
        deviations = values - value
        deviations /= np.abs(deviations).max()
        variance, cube = ((deviations**power * weight).sum() / weight.sum() for power in (2, 3))
        acceleration = cube / variance**1.5 * (weight**3).sum() / (weight**2).sum() ** 1.5 / 6
    else:
        leave_one_out = _sums_of_others(values * weight) / _sums_of_others(weight)
        skew = leave_one_out.mean() - leave_one_out
        skew /= np.abs(skew).max()  # whose cubes may be too small
        acceleration = (skew**3).sum() / (6 * (skew**2).sum() ** 1.5)
    shifted = bias + ndtri(tails)
    slowed = 1 - acceleration * shifted
    with np.errstate(divide="ignore"):
        levels = ndtr(bias + shifted / slowed)
    # beyond its pole the formula has the wrong sign
    return np.asarray(np.where(slowed > 0, levels, shifted > 0))


def widened_levels(tails: Floats, value: float, values: Floats, weight: Floats) -> Floats:
    """Levels at which the quantiles of normal resamples are as wide as uneven weights require.

    Resamples of uneven clusters vary less than the mean does (Hesterberg 2015), and Student's t has
    fewer degrees of freedom. Both are compared with clusters of equal weight, whose levels stay.
    """
    n, share = len(weight), weight / weight.sum()
    error = mean_and_error(values[np.newaxis], weight)[1][0] * np.sqrt(1 - 1 / n)
    of_resamples = np.sqrt(((share * (values - value)) ** 2).sum())
    wider = max(error / max(of_resamples, 1e-300), 1)
    quantiles = stdtrit(degrees_of_freedom(weight), tails) - stdtrit(n - 1, tails) + ndtri(tails)
    levels = ndtr(quantiles * wider)
    return np.asarray(np.clip(levels, 1e-300, 1 - 2**-53))  # whose normal quantiles are finite


def permutation_pvalues(
    differences: Floats,
    weight: Floats,
    n_resamples: int,
    generator: np.random.Generator,
    largest: Floats,
) -> Floats:
    """Two-sided p-values of the mean of each row when the signs of its columns are random.

    `largest` is the largest absolute value that the differences of each row are from.
    """
    n = differences.shape[1]
    slack = _ROUNDING * largest * weight * (differences != 0)  # rounding of a term
    columns = np.ascontiguousarray(np.concatenate([differences * weight, slack]).T)
    exact = n < 63 and 2**n <= n_resamples

    def sides(chunk: range) -> NDArray[np.bool_]:
        if exact:
            flipped: NDArray[Any] = np.array(chunk)[:, np.newaxis] >> np.arange(n) & 1
        else:
            bits = np.frombuffer(generator.bytes(len(chunk) * -(-n // 8)), dtype=np.uint8)
            flipped = np.unpackbits(~bits.reshape(len(chunk), -1), axis=1, count=n)
        # A sum exceeds the observed one if the terms that change sign add up to less than 0.
        # The others cancel, so that a large one among them costs no digits.
        sums, near = np.split(flipped.astype(np.float64) @ columns, 2, axis=1)
        return np.concatenate([sums <= near, sums >= -near], axis=1)

    beyond = _in_chunks(sides, 2**n if exact else n_resamples, _SIGNS // n)
    above, below = np.split(beyond.sum(axis=0), 2)
    more = 0 if exact else 1  # the data are one of the assignments
    return np.asarray(np.minimum(1, 2 * (np.minimum(above, below) + more) / (len(beyond) + more)))


def t_statistic(difference: Floats, error: Floats) -> Floats:
    """Student's t: 0 for a difference of 0, infinite for any other that does not vary."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(difference == 0, 0, difference / error))


def holm(pvalue: Floats) -> Floats:
    """P-values corrected for their number, step by step (Holm 1979)."""
    order = np.argsort(pvalue)
    steps = pvalue[order] * np.arange(len(pvalue), 0, -1)
    return np.asarray(np.minimum(np.maximum.accumulate(steps), 1)[np.argsort(order)])


def _in_chunks(draw: Callable[[range], NDArray[Any]], n_resamples: int, step: int) -> NDArray[Any]:
    """Results of `draw` for all resamples, drawn `step` at a time, or one if that is 0."""
    resamples, step = range(n_resamples), max(1, step)
    return np.concatenate([draw(resamples[at : at + step]) for at in resamples[::step]])


def _sums_of_others(terms: Floats) -> Floats:
    """For each term the sum of all others in its row.

    A difference from the total would lose all digits if one term is much larger than the rest.
    """
    sums = np.zeros_like(terms)
    sums[..., 1:] = np.cumsum(terms[..., :-1], axis=-1)
    sums[..., :-1] += np.cumsum(terms[..., :0:-1], axis=-1)[..., ::-1]
    return sums
