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
    mean_and_error,
    permutation_pvalues,
    widened_levels,
)


@pytest.mark.parametrize("heavy", [1, 10**4, 10**9, 10**13, 10**16])
def test_a_heavy_query_does_not_merge_the_sums_of_the_others(heavy):
    rng = np.random.default_rng(0)
    d = list(map(Fraction, rng.integers(-6, 9, 12).tolist(), [7, 9, 11] * 4))
    weight = [heavy, *rng.integers(1, 5, 11).tolist()]
    values = np.array([[float(each) for each in d]])
    found = permutation_pvalues(values, np.array(weight, dtype=float) / heavy, 10_000, rng)
    assert found[0] == exact_pvalue(d, weight)


def test_as_many_resamples_as_assignments_are_enough_for_the_exact_test():
    d = [Fraction(each, 7) for each in (3, -1, 4, 1, -5)]
    values = np.array([[float(each) for each in d]])
    found = permutation_pvalues(values, np.ones(5), 2**5, generator=None)  # nothing is drawn
    assert found[0] == exact_pvalue(d, [1] * 5)


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [20, 100])
def test_false_positives_of_student_s_t_where_weights_are_uneven(n_queries):
    """Bold in the first table of docs/design/evidence.md."""
    rng, n_sets = np.random.default_rng(0), 20_000
    for sigma in (0, 1, 2, 3, "10,000 to 1"):
        positives = 0
        for _ in range(n_sets // 10):
            weight = np.r_[1e4, np.ones(n_queries - 1)]
            if not isinstance(sigma, str):
                weight = rng.lognormal(sigma=sigma, size=n_queries)
            weight /= weight.max()
            d = rng.beta(4, 2, (10, n_queries)) - rng.beta(4, 2, (10, n_queries))
            center, error, _ = mean_and_error(d, weight)
            pvalues = 2 * stats.t.sf(np.abs(center) / error, degrees_of_freedom(weight))
            positives += (pvalues <= 0.05).sum()
        print(f"t, {n_queries} queries, sigma {sigma}:", 100 * positives / n_sets)
        assert positives / n_sets <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [20, 50, 100, 500])
def test_coverage_where_weights_are_uneven(n_queries):
    """The second table in docs/design/evidence.md."""
    rng, n_sets, tails = np.random.default_rng(0), 4000, np.array([0.025, 0.975])
    for sigma in range(4):
        covered = np.zeros(2)
        for _ in range(n_sets):
            weight = rng.lognormal(sigma=sigma, size=n_queries)
            weight /= weight.max()
            values = rng.beta(4, 2, n_queries)
            (center,), (error,), _ = mean_and_error(values[np.newaxis], weight)
            means = bootstrap_means(values, weight, 999, rng)
            bounds = [
                np.quantile(means, bca_levels(tails, center, means, values, weight)),
                center + error * stats.t.ppf(tails, degrees_of_freedom(weight)),
            ]
            covered += [low <= 4 / 6 <= high for low, high in bounds]
        print(f"BCa, t, {n_queries} queries, sigma {sigma}:", 100 * covered / n_sets)
        assert 0.92 <= covered[-1] / n_sets <= 0.99
        if sigma == 0 and n_queries > 20:
            assert ((covered / n_sets >= 0.93) & (covered / n_sets <= 0.97)).all()


DISCOUNTS = 1 / np.log2(np.arange(2, 12))  # NDCG of a query whose only relevant item has this rank
# values of queries, and their true mean
VALUES = {
    "beta": (lambda rng, n: rng.beta(4, 2, n), 4 / 6),
    "one item left out, found in 10%": (
        lambda rng, n: np.where(rng.random(n) < 0.1, rng.choice(DISCOUNTS, n), 0.0),
        0.1 * DISCOUNTS.mean(),
    ),
    "hits in 90%": (lambda rng, n: 1.0 * (rng.random(n) < 0.9), 0.9),
    "90% at 1": (
        lambda rng, n: np.where(rng.random(n) < 0.9, 1.0, rng.beta(2, 2, n)),
        0.9 + 0.1 / 2,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [50, 200])
@pytest.mark.parametrize("sigma", [0, 1])
@pytest.mark.parametrize("kind", VALUES)
def test_coverage_where_values_are_skewed(kind, sigma, n_queries):
    """The table in docs/design/evidence.md that decides between BCa and t."""
    rng, n_sets, tails = np.random.default_rng(0), 4000, np.array([0.025, 0.975])
    draw, mean = VALUES[kind]
    covered = np.zeros(2)
    for _ in range(n_sets):
        weight = rng.lognormal(sigma=sigma, size=n_queries)
        weight /= weight.max()
        values = draw(rng, n_queries)
        if np.ptp(values) == 0:  # the interval is a point, which is not the mean
            continue
        (center,), (error,), _ = mean_and_error(values[np.newaxis], weight)
        means = bootstrap_means(values, weight, 999, rng)
        bounds = [
            np.quantile(means, bca_levels(tails, center, means, values, weight)),
            center + error * stats.t.ppf(tails, degrees_of_freedom(weight)),
        ]
        covered += [low <= mean <= high for low, high in bounds]
    bca, t = covered / n_sets
    print(f"BCa, t, {n_queries} queries, {kind}, sigma {sigma}:", 100 * bca, 100 * t)
    if kind == "beta":
        assert 0.92 <= t <= 0.97
        assert bca <= t + 0.02
    elif sigma == 0:
        assert 0.92 <= bca <= 0.99
        assert t <= bca
    else:  # neither is right
        assert t <= bca <= 0.94


@pytest.mark.slow
def test_false_positives_of_the_permutation_test():
    rng, n_sets = np.random.default_rng(0), 20_000
    positives = 0
    for _ in range(n_sets // 100):
        d = rng.beta(4, 2, (100, 50)) - rng.beta(4, 2, (100, 50))
        positives += (permutation_pvalues(d, np.ones(50), 1999, rng) <= 0.05).sum()
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
@pytest.mark.parametrize("sizes", SIZES)
def test_coverage_by_cluster(sizes):
    """Bold in docs/design/evidence.md: half of the queries have the value of their cluster."""
    rng, n_sets, tails = np.random.default_rng(0), 10_000, np.array([0.025, 0.975])
    covered = np.zeros(2)
    for _ in range(n_sets):
        cluster = np.repeat(np.arange(50), SIZES[sizes](rng))
        n = len(cluster)
        common = rng.random(n) < 0.5
        queries = np.where(common, rng.beta(4, 2, 50)[cluster], rng.beta(4, 2, n))[np.newaxis]
        values, weight = by_cluster(queries, np.ones(n), cluster)
        (center,), (error,), _ = mean_and_error(values, weight)
        means = bootstrap_means(values[0], weight, 999, rng)
        wide = widened_levels(tails, error, means, weight)
        bounds = [
            stats.t.interval(0.95, degrees_of_freedom(weight), center, error),
            np.quantile(means, bca_levels(wide, center, means, values[0], weight, pooled=True)),
        ]
        covered += [low <= 4 / 6 <= high for low, high in bounds]
    print(f"{sizes}: t, BCa:", 100 * covered / n_sets)
    assert ((covered / n_sets >= 0.93) & (covered / n_sets <= 0.97)).all()


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES)
def test_false_positives_where_each_cluster_favours_one_of_two_equal_rankers(sizes):
    rng, n_sets = np.random.default_rng(0), 10_000
    positives = np.zeros(2)
    for _ in range(n_sets // 10):
        cluster = np.repeat(np.arange(50), SIZES[sizes](rng))
        favours = rng.beta(4, 2, (10, 50)) - rng.beta(4, 2, (10, 50))
        n = len(cluster)
        d = (favours[:, cluster] + rng.beta(4, 2, (10, n)) - rng.beta(4, 2, (10, n))) / 2
        means, weight = by_cluster(d, np.ones(n), cluster)
        center, error, _ = mean_and_error(means, weight)
        by_t = 2 * stats.t.sf(np.abs(center) / error, degrees_of_freedom(weight))
        by_permutation = permutation_pvalues(means, weight, 999, rng)
        positives += [(pvalue <= 0.05).sum() for pvalue in (by_permutation, by_t)]
    print(f"{sizes}: permutation, t:", 100 * positives / n_sets)
    assert 0.04 <= positives[0] / n_sets <= 0.06
    assert 0.03 <= positives[1] / n_sets <= 0.07


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
