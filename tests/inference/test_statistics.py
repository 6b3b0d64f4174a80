"""The statistics on plain arrays: bootstrap, permutation test, errors of a mean."""

from fractions import Fraction

import numpy as np
import pytest
from oracles import exact_pvalue
from scipy import stats

from sklearn_ndcg.inference._statistics import (
    differences_of,
    holm,
    largest_of,
    mean_and_error,
    permutation_pvalues,
    widened_levels,
)


@pytest.mark.parametrize("heavy", [1, 10**4, 10**9, 10**13, 10**16])
def test_a_heavy_query_does_not_merge_the_sums_of_the_others(heavy):
    rng = np.random.default_rng(0)
    d = list(map(Fraction, rng.integers(-6, 9, 12).tolist(), [7, 9, 11] * 4))
    weight = [heavy, *rng.integers(1, 5, 11).tolist()]
    values = np.array([d], dtype=float)
    found = permutation_pvalues(
        values, np.array(weight, dtype=float) / heavy, 10_000, rng, largest_of(values)
    )
    assert found[0] == exact_pvalue(d, weight)


def test_a_heavy_query_without_a_difference_changes_nothing():
    d = list(map(Fraction, [0, 3, -1, 4, 1, -5], [7] * 6))
    weight = [10**16, 1, 2, 1, 3, 1]
    values = np.array([d], dtype=float)
    found = permutation_pvalues(
        values, np.array(weight, dtype=float), 2**6, None, largest_of(values)
    )
    assert found[0] == exact_pvalue(d, weight)


def test_as_many_resamples_as_assignments_are_enough_for_the_exact_test():
    d = [Fraction(n, 7) for n in (3, -1, 4, 1, -5)]
    values = np.array([d], dtype=float)
    found = permutation_pvalues(
        values, np.ones(5), 2**5, None, largest_of(values)
    )  # nothing is drawn
    assert found[0] == exact_pvalue(d, [1] * 5)


@pytest.mark.parametrize(
    ("pvalues", "corrected"),
    [
        ([0.02, 0.4, 0.01], [2 * 0.02, 0.4, 3 * 0.01]),
        ([0.011, 0.4, 0.01], [3 * 0.01, 0.4, 3 * 0.01]),
        ([0.6, 0.9], [1, 1]),
    ],
    ids=["each times the rest", "never less than a smaller one", "at most 1"],
)
def test_holm_s_correction(pvalues, corrected):
    assert holm(np.array(pvalues)).tolist() == corrected


def test_values_that_differ_by_rounding_have_an_infinite_effect():
    values = np.resize([0.25, np.nextafter(0.25, 1)], (1, 12))
    assert mean_and_error(values, np.ones(12))[2] == [np.inf]
    assert not differences_of(values, 0.25, largest_of(values)).any()


def test_levels_of_few_clusters_stay_inside_0_and_1():
    """Where they would be 0 or 1, their normal quantiles would be infinite."""
    rng = np.random.default_rng(0)
    tails = np.array([1e-14, 0.5, 1 - 1e-14])
    values, weight = rng.normal(size=4), np.array([1, 1e-3, 1e-3, 1e-3])
    levels = widened_levels(tails, values[0], values, weight)
    assert np.isfinite(stats.norm.ppf(levels)).all()
    assert (np.diff(levels) > 0).all()
    assert levels[1] == pytest.approx(0.5)


def test_the_data_are_one_of_the_random_assignments():
    differences, rng = np.ones((1, 80)), np.random.default_rng(0)
    assert permutation_pvalues(differences, np.ones(80), 99, rng, differences[:, :1]).tolist() == [
        2 / 100
    ]
