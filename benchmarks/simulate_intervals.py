"""Simulate how often intervals cover a known mean, and tests find a difference that is 0.

    python benchmarks/simulate_intervals.py     # five minutes
    python benchmarks/simulate_intervals.py --quick    # a twentieth, which checks no promise

It prints percentages for the tables of docs/design/evidence.md. The exit status is 1 if a promise
is broken.
"""

import numpy as np
from common import Promises, options
from scipy import stats

from sklearn_ndcg._kernels.sums import weighted_means
from sklearn_ndcg.inference._statistics import (
    bca_levels,
    bootstrap_means,
    by_cluster,
    degrees_of_freedom,
    mean_and_error,
    permutation_pvalues,
    widened_levels,
)

TAILS = np.array([0.025, 0.975])
DISCOUNTS = 1 / np.log2(np.arange(2, 12))  # NDCG of a query whose only relevant item has this rank


def random_weights(rng, sigma, n):
    """Weights of which the largest is 1, the more uneven the larger sigma."""
    weight = rng.lognormal(sigma=sigma, size=n)
    return weight / weight.max()


def differences_of_equal_rankers(rng, shape):
    """Differences whose expected value is 0."""
    return rng.beta(4, 2, shape) - rng.beta(4, 2, shape)


def pvalues_of_t(differences, weight):
    """P-values of a mean of 0, by Student's t."""
    center, error, _ = mean_and_error(differences, weight)
    return 2 * stats.t.sf(np.abs(center) / error, degrees_of_freedom(weight))


def by_t(values, weight):
    """Bounds of the mean, by Student's t."""
    (center,), (error,), _ = mean_and_error(values[np.newaxis], weight)
    return center + error * stats.t.ppf(TAILS, degrees_of_freedom(weight))


def by_bca(values, weight, rng, clustered=False):
    """Bounds of the mean, by the bootstrap; of clusters they are widened."""
    (center,) = weighted_means(values[np.newaxis], weight)
    means = bootstrap_means(values, weight, 999, rng)
    levels = widened_levels(TAILS, center, values, weight) if clustered else TAILS
    return np.quantile(means, bca_levels(levels, center, means, values, weight, clustered))


def beta(rng, n):
    """Values that are hardly skewed, with the mean 4 / 6."""
    return rng.beta(4, 2, n)


def found_in_a_tenth(rng, n):
    """One item was left out, and is in the first ten for 10% of the queries."""
    return np.where(rng.random(n) < 0.1, rng.choice(DISCOUNTS, n), 0.0)


def hits(rng, n):
    """1 for 90% of the queries."""
    return 1.0 * (rng.random(n) < 0.9)


def mostly_1(rng, n):
    """90% at 1, and the others beta(2, 2)."""
    return np.where(rng.random(n) < 0.9, 1.0, rng.beta(2, 2, n))


def coverage(draw, mean, sigma, n_queries, n_sets):
    """Percentages of the intervals of BCa and of t that cover the mean."""
    rng = np.random.default_rng(0)
    covered = np.zeros(2)
    for _ in range(n_sets):
        weight, values = random_weights(rng, sigma, n_queries), draw(rng, n_queries)
        if np.ptp(values) > 0:  # otherwise the interval is a point, which is not the mean
            bounds = by_bca(values, weight, rng), by_t(values, weight)
            covered += [low <= mean <= high for low, high in bounds]
    return 100 * covered / n_sets


def false_positives_of_t(sigma, n_queries, n_sets):
    """Percentage at the level 0.05; without a sigma one query weighs 10,000 times as much."""
    rng, positives = np.random.default_rng(0), 0
    one_heavy = np.r_[1, np.full(n_queries - 1, 1e-4)]
    for _ in range(n_sets // 10):
        weight = one_heavy if sigma is None else random_weights(rng, sigma, n_queries)
        differences = differences_of_equal_rankers(rng, (10, n_queries))
        positives += (pvalues_of_t(differences, weight) <= 0.05).sum()
    return 100 * positives / n_sets


def false_positives_of_the_permutation_test(n_sets):
    """Percentage at the level 0.05, for 50 queries."""
    rng, positives = np.random.default_rng(0), 0
    for _ in range(n_sets // 100):
        differences = differences_of_equal_rankers(rng, (100, 50))
        positives += (
            permutation_pvalues(differences, np.ones(50), 1999, rng, np.ones((100, 1))) <= 0.05
        ).sum()
    return 100 * positives / n_sets


def wrongly_not_worse(share, n_queries, n_sets):
    """Percentage of rankers, worse by the margin, whose verdict is "better" or "not worse".

    They lose a share of the queries and tie in the others; None: differences are not skewed.
    """
    rng = np.random.default_rng(0)
    shape = n_sets, n_queries
    if share is None:
        loss, differences = 0, differences_of_equal_rankers(rng, shape)
    else:
        loss, differences = (
            share / 2,
            np.where(rng.random(shape) < share, -rng.beta(2, 2, shape), 0),
        )
    center, error, _ = mean_and_error(differences, np.ones(n_queries))
    return 100 * (center + error * stats.t.ppf(TAILS[0], n_queries - 1) > -loss).mean()


# numbers of queries in 50 clusters
SIZES = {
    "equal": lambda rng: np.full(50, 10),
    "1 to 20": lambda rng: rng.integers(1, 21, 50),
    "geometric": lambda rng: rng.geometric(0.1, 50),
    "1 to 50, spaced by ratio": lambda rng: np.round(np.geomspace(1, 50, 50)).astype(int),
    "log-normal, 0.5": lambda rng: np.ceil(10 * rng.lognormal(sigma=0.5, size=50)).astype(int),
    "log-normal, 1": lambda rng: np.ceil(10 * rng.lognormal(sigma=1, size=50)).astype(int),
}


def coverage_by_cluster(sizes, n_sets):
    """Percentages of BCa and of t, where half of the queries have the value of their cluster."""
    rng, covered = np.random.default_rng(0), np.zeros(2)
    for _ in range(n_sets):
        cluster = np.repeat(np.arange(50), sizes(rng))
        n = len(cluster)
        queries = np.where(rng.random(n) < 0.5, beta(rng, 50)[cluster], beta(rng, n))
        (values,), weight = by_cluster(queries[np.newaxis], np.ones(n), cluster)
        bounds = by_bca(values, weight, rng, clustered=True), by_t(values, weight)
        covered += [low <= 4 / 6 <= high for low, high in bounds]
    return 100 * covered / n_sets


def false_positives_by_cluster(sizes, n_sets):
    """Percentages of the permutation test and of t, where each cluster favours one ranker."""
    rng, positives = np.random.default_rng(0), np.zeros(2)
    for _ in range(n_sets // 10):
        cluster = np.repeat(np.arange(50), sizes(rng))
        n = len(cluster)
        favours = differences_of_equal_rankers(rng, (10, 50))
        differences = (favours[:, cluster] + differences_of_equal_rankers(rng, (10, n))) / 2
        means, weight = by_cluster(differences, np.ones(n), cluster)
        pvalues = (
            permutation_pvalues(means, weight, 999, rng, np.ones((10, 1))),
            pvalues_of_t(means, weight),
        )
        positives += [(pvalue <= 0.05).sum() for pvalue in pvalues]
    return 100 * positives / n_sets


def main():
    """Print the percentages and check the promises."""
    quick = options(__doc__).parse_args().quick
    share = 20 if quick else 1
    promise = Promises(quick=quick)
    for sigma in (0, 1, 2, 3, None):
        for n_queries in (20, 100):
            found = false_positives_of_t(sigma, n_queries, 20_000 // share)
            name = f"false positives of t, {n_queries} queries, sigma {sigma}"
            promise(name, found, most=6, quick=False)
    for sigma in range(4):
        for n_queries in (20, 50, 100, 500):
            bca, t = coverage(beta, 4 / 6, sigma, n_queries, 4000 // share)
            name = f"{n_queries} queries, sigma {sigma}"
            promise(f"coverage of t, {name}", t, least=92, most=99, quick=False)
            least = 93 if sigma == 0 and n_queries > 20 else 0
            promise(f"coverage of BCa, {name}", bca, least=least, quick=False)
    skewed = {found_in_a_tenth: 0.1 * DISCOUNTS.mean(), hits: 0.9, mostly_1: 0.9 + 0.1 / 2}
    for draw, mean in skewed.items():
        for sigma in (0, 1):
            for n_queries in (50, 200, 500):
                bca, t = coverage(draw, mean, sigma, n_queries, 4000 // share)
                name = f"{n_queries} queries, {draw.__name__}, sigma {sigma}"
                least = 92 if sigma == 0 else 0  # with uneven weights neither is right
                promise(f"coverage of BCa, {name}", bca, least=least, quick=False)
                promise(f"coverage of t, {name}", t, most=bca, quick=False)
    for share_lost in (None, 1 / 3, 0.2, 0.1):
        for n_queries in (20, 50, 100, 200, 500):
            found = wrongly_not_worse(share_lost, n_queries, 20_000 // share)
            lost = "none skewed" if share_lost is None else f"{share_lost:.0%} lost"
            most = 3 if share_lost is None else 25
            promise(
                f"wrongly not worse, {n_queries} queries, {lost}", found, most=most, quick=False
            )
    found = false_positives_of_the_permutation_test(20_000 // share)
    promise("false positives of the permutation test", found, least=4.5, most=5.5, quick=False)
    for name, sizes in SIZES.items():
        bca, t = coverage_by_cluster(sizes, 10_000 // share)
        promise(f"coverage of BCa, clusters {name}", bca, least=93, most=97, quick=False)
        promise(f"coverage of t, clusters {name}", t, least=93, most=97, quick=False)
        permutation, t = false_positives_by_cluster(sizes, 10_000 // share)
        what = f"false positives, clusters {name}"
        promise(f"{what}, permutation", permutation, least=4, most=6, quick=False)
        promise(f"{what}, t", t, least=3, most=7, quick=False)
    promise.exit()


if __name__ == "__main__":
    main()
