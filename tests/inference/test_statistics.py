"""The statistics on plain arrays: bootstrap, permutation test, errors of a mean."""

from fractions import Fraction

import numpy as np
import pytest
from oracles import exact_pvalue
from scipy import stats

from sklearn_ndcg.inference._results import query_differences
from sklearn_ndcg.inference._statistics import (
    bca_levels,
    bootstrap_means,
    by_cluster,
    degrees_of_freedom,
    holm,
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
    found = permutation_pvalues(values, np.array(weight, dtype=float) / heavy, 10_000, rng)
    assert found[0] == exact_pvalue(d, weight)


def test_as_many_resamples_as_assignments_are_enough_for_the_exact_test():
    d = [Fraction(n, 7) for n in (3, -1, 4, 1, -5)]
    values = np.array([d], dtype=float)
    found = permutation_pvalues(values, np.ones(5), 2**5, generator=None)  # nothing is drawn
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
    assert not query_differences(values, 0.25).any()


def test_levels_of_few_clusters_stay_inside_0_and_1():
    """At 0 or 1 their normal quantiles would be infinite."""
    rng = np.random.default_rng(0)
    tails = np.array([1e-12, 0.5, 1 - 1e-12])
    levels = widened_levels(tails, 5.0, rng.normal(size=99), np.ones(4))
    assert np.isfinite(stats.norm.ppf(levels)).all()
    assert (np.diff(levels) > 0).all()
    assert levels[1] == pytest.approx(0.5)


def test_the_data_are_one_of_the_random_assignments():
    differences, rng = np.ones((1, 80)), np.random.default_rng(0)
    assert permutation_pvalues(differences, np.ones(80), 99, rng).tolist() == [2 / 100]


# Simulations: the tables in docs/design/evidence.md

TAILS = np.array([0.025, 0.975])


def random_weights(rng, sigma, n):
    """Weights of which the largest is 1, the more uneven the larger sigma."""
    weight = rng.lognormal(sigma=sigma, size=n)
    return weight / weight.max()


def differences_of_equal_rankers(rng, shape):
    return rng.beta(4, 2, shape) - rng.beta(4, 2, shape)


def pvalues_of_t(differences, weight):
    center, error, _ = mean_and_error(differences, weight)
    return 2 * stats.t.sf(np.abs(center) / error, degrees_of_freedom(weight))


def by_t(values, weight):
    """Bounds of the mean, by Student's t."""
    (center,), (error,), _ = mean_and_error(values[np.newaxis], weight)
    return center + error * stats.t.ppf(TAILS, degrees_of_freedom(weight))


def by_bca(values, weight, rng, clustered=False):
    """Bounds of the mean, by the bootstrap; of clusters they are widened."""
    (center,), (error,), _ = mean_and_error(values[np.newaxis], weight)
    means = bootstrap_means(values, weight, 999, rng)
    levels = widened_levels(TAILS, error, means, weight) if clustered else TAILS
    return np.quantile(means, bca_levels(levels, center, means, values, weight, clustered))


def coverage(draw, mean, sigma, n_queries, n_sets=4000):
    """How often the intervals of BCa and of t have the true mean of values that are drawn."""
    rng = np.random.default_rng(0)
    covered = np.zeros(2)
    for _ in range(n_sets):
        weight, values = random_weights(rng, sigma, n_queries), draw(rng, n_queries)
        if np.ptp(values) > 0:  # otherwise the interval is a point, which is not the mean
            bounds = by_bca(values, weight, rng), by_t(values, weight)
            covered += [low <= mean <= high for low, high in bounds]
    return covered / n_sets


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [20, 100])
@pytest.mark.parametrize("sigma", [0, 1, 2, 3, None])
def test_false_positives_of_student_s_t_where_weights_are_uneven(sigma, n_queries):
    """Without a sigma one query weighs 10,000 times as much as any other."""
    rng, n_sets, positives = np.random.default_rng(0), 20_000, 0
    one_heavy = np.r_[1, np.full(n_queries - 1, 1e-4)]
    for _ in range(n_sets // 10):
        weight = one_heavy if sigma is None else random_weights(rng, sigma, n_queries)
        differences = differences_of_equal_rankers(rng, (10, n_queries))
        positives += (pvalues_of_t(differences, weight) <= 0.05).sum()
    print(f"t, {n_queries} queries, sigma {sigma}:", 100 * positives / n_sets)
    assert positives / n_sets <= 0.06


DISCOUNTS = 1 / np.log2(np.arange(2, 12))  # NDCG of a query whose only relevant item has this rank


def beta(rng, n):
    return rng.beta(4, 2, n)


def found_in_a_tenth(rng, n):
    return np.where(rng.random(n) < 0.1, rng.choice(DISCOUNTS, n), 0.0)


def hits(rng, n):
    return 1.0 * (rng.random(n) < 0.9)


def mostly_1(rng, n):
    return np.where(rng.random(n) < 0.9, 1.0, rng.beta(2, 2, n))


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [20, 50, 100, 500])
@pytest.mark.parametrize("sigma", range(4))
def test_coverage_where_weights_are_uneven(sigma, n_queries):
    bca, t = coverage(beta, 4 / 6, sigma, n_queries)
    print(f"BCa, t, {n_queries} queries, sigma {sigma}:", 100 * bca, 100 * t)
    assert 0.92 <= t <= 0.99
    if sigma == 0 and n_queries > 20:
        assert 0.93 <= t <= 0.97
        assert 0.93 <= bca <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [50, 200])
@pytest.mark.parametrize("sigma", [0, 1])
@pytest.mark.parametrize(
    ("draw", "mean"),
    [(found_in_a_tenth, 0.1 * DISCOUNTS.mean()), (hits, 0.9), (mostly_1, 0.9 + 0.1 / 2)],
)
def test_coverage_where_values_are_skewed(draw, mean, sigma, n_queries):
    bca, t = coverage(draw, mean, sigma, n_queries)
    print(f"BCa, t, {n_queries} queries, {draw.__name__}, sigma {sigma}:", 100 * bca, 100 * t)
    assert t <= bca
    if sigma == 0:
        assert 0.92 <= bca <= 0.99
    else:  # neither is right
        assert bca <= 0.94


@pytest.mark.slow
def test_false_positives_of_the_permutation_test():
    rng, n_sets, positives = np.random.default_rng(0), 20_000, 0
    for _ in range(n_sets // 100):
        differences = differences_of_equal_rankers(rng, (100, 50))
        positives += (permutation_pvalues(differences, np.ones(50), 1999, rng) <= 0.05).sum()
    print(f"permutation test: {positives / n_sets:.4f} at 0.05")
    assert 0.045 <= positives / n_sets <= 0.055


# numbers of queries in 50 clusters
SIZES = {
    "equal": lambda rng: np.full(50, 10),
    "1 to 20": lambda rng: rng.integers(1, 21, 50),
    "geometric": lambda rng: rng.geometric(0.1, 50),
    "1 to 50, spaced by ratio": lambda rng: np.round(np.geomspace(1, 50, 50)).astype(int),
    "log-normal, 0.5": lambda rng: np.ceil(10 * rng.lognormal(sigma=0.5, size=50)).astype(int),
    "log-normal, 1": lambda rng: np.ceil(10 * rng.lognormal(sigma=1, size=50)).astype(int),
}


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_coverage_by_cluster(sizes):
    """Half of the queries have the value of their cluster."""
    rng, n_sets = np.random.default_rng(0), 10_000
    covered = np.zeros(2)
    for _ in range(n_sets):
        cluster = np.repeat(np.arange(50), sizes(rng))
        n = len(cluster)
        queries = np.where(rng.random(n) < 0.5, beta(rng, 50)[cluster], beta(rng, n))
        (values,), weight = by_cluster(queries[np.newaxis], np.ones(n), cluster)
        bounds = by_t(values, weight), by_bca(values, weight, rng, clustered=True)
        covered += [low <= 4 / 6 <= high for low, high in bounds]
    print("t, BCa:", 100 * covered / n_sets)
    assert ((covered / n_sets >= 0.93) & (covered / n_sets <= 0.97)).all()


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_false_positives_where_each_cluster_favours_one_ranker(sizes):
    rng, n_sets = np.random.default_rng(0), 10_000
    positives = np.zeros(2)
    for _ in range(n_sets // 10):
        cluster = np.repeat(np.arange(50), sizes(rng))
        n = len(cluster)
        favours = differences_of_equal_rankers(rng, (10, 50))
        differences = (favours[:, cluster] + differences_of_equal_rankers(rng, (10, n))) / 2
        means, weight = by_cluster(differences, np.ones(n), cluster)
        pvalues = permutation_pvalues(means, weight, 999, rng), pvalues_of_t(means, weight)
        positives += [(pvalue <= 0.05).sum() for pvalue in pvalues]
    permutation, t = positives / n_sets
    print("permutation, t:", 100 * permutation, 100 * t)
    assert 0.04 <= permutation <= 0.06
    assert 0.03 <= t <= 0.07
