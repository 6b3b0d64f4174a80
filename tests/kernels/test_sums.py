"""Sums and means: exact to a rounding, and of the same bits in any order."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sklearn_ndcg._kernels.sums import _FEW, exact_sum, sums_of_runs, weighted_means

VALUES = {
    "shares": lambda rng, n: rng.random(n),
    "60 orders of magnitude": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-30, 30, n),
    "huge": lambda rng, n: rng.random(n) * 1e308 / n,
    "subnormal": lambda rng, n: rng.random(n) * 1e-313,
    "zeros": lambda rng, n: np.zeros(n),
    "cancelled": lambda rng, n: np.r_[1, rng.random(n) * 2.0**-43, -1],
}


@pytest.mark.parametrize("n", [2, 500, 20_000])
@pytest.mark.parametrize("kind", VALUES)
def test_sums_are_exact_and_the_same_in_any_order(kind, n):
    rng = np.random.default_rng(n)
    values = VALUES[kind](rng, n)
    total = exact_sum(values)
    assert total == exact_sum(rng.permutation(values))
    # up to 100,000 values the parts keep 108 bits below the largest of them
    limit = abs(total) * 2.0**-53 + n * abs(values).max() * 2.0**-100
    assert abs(total - math.fsum(values)) <= limit


@pytest.mark.parametrize("n", [3, 4 * _FEW])
def test_sums_beyond_float64_are_infinite_or_nan(n):
    assert exact_sum(np.full(n, 1.7e308)) == np.inf
    assert exact_sum(np.r_[np.ones(n), np.inf]) == np.inf
    assert exact_sum(np.empty(0)) == 0
    assert np.isnan(exact_sum(np.r_[np.ones(n), np.inf, -np.inf]))


@pytest.mark.parametrize("n", [4, 3 * _FEW])
def test_weighted_means_of_rows_are_those_of_fractions(n):
    rng = np.random.default_rng(n)
    values, weight = rng.integers(-9, 9, (3, n)) / 8, rng.integers(1, 9, n) / 4
    exact = [sum(map(Fraction, (row * weight).tolist())) for row in values]  # no product is rounded
    expected = [float(total) / float(sum(map(Fraction, weight.tolist()))) for total in exact]
    assert weighted_means(values, weight).tolist() == expected
    order = rng.permutation(n)
    assert weighted_means(values[:, order], weight[order]).tolist() == expected


@pytest.mark.parametrize("largest", [1.0, 1e306, 1e-310])
def test_sums_of_runs_are_those_of_fractions_in_any_order(largest):
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 40, 50)
    starts = np.cumsum(lengths) - lengths
    values = largest * rng.random(lengths.sum()) ** 3
    runs = np.split(values, starts[1:])
    expected = [float(sum(map(Fraction, run.tolist()))) for run in runs]
    for _ in range(20):
        shuffled = np.concatenate([rng.permutation(run) for run in runs])
        assert sums_of_runs(shuffled, starts).tolist() == expected


def test_runs_of_equal_values_are_added():
    assert sums_of_runs(np.array([0.5, 0.5, 3, 3, 3]), np.array([0, 2])).tolist() == [1, 9]
