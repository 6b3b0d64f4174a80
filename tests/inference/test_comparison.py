"""Differences of rankers, their tests and intervals, against SciPy and exact arithmetic."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from helpers import SCIPY_RNG, matrices, three_rankers, users
from oracles import exact_pvalue
from scipy import stats

from sklearn_ndcg import ndcg_samples
from sklearn_ndcg.inference import compare_rankers, ndcg_interval

PAIRS = [("good", "poor"), ("good", "other"), ("poor", "other")]
both_tests = pytest.mark.parametrize("test", ["t", "permutation"])
every_pair = pytest.mark.parametrize("pair", PAIRS, ids=" ".join)


def values_of(y, scores, pair, **options):
    return [ndcg_samples(y, scores[name], **options) for name in pair]


@every_pair
def test_test_t_is_that_of_scipy(pair):
    y, scores = three_rankers()
    found = compare_rankers(y, scores, test="t", k=5)
    assert found.pairs == PAIRS
    row = PAIRS.index(pair)
    first, second = values_of(y, scores, pair, k=5)
    expected = stats.ttest_rel(first, second)
    assert found.mean[pair[0]] == pytest.approx(first.mean(), rel=1e-14)
    assert found.statistic[row] == pytest.approx(expected.statistic, rel=1e-12)
    assert found.uncorrected_pvalue[row] == pytest.approx(expected.pvalue, rel=1e-12)
    bounds = [bound[row] for bound in found.confidence_interval]
    assert bounds == pytest.approx([*expected.confidence_interval()], rel=1e-12)


def difference_of_means(a, b, axis=-1):
    return np.mean(a, axis=axis) - np.mean(b, axis=axis)


def by_scipy(y, scores, pair, **options):
    """The p-value of a pair when each query's two values are exchanged."""
    options |= {"statistic": difference_of_means, "permutation_type": "samples"}
    return stats.permutation_test(values_of(y, scores, pair), **options).pvalue


@pytest.mark.parametrize("n_queries", [2, 5, 13])
@pytest.mark.filterwarnings("ignore:. queries")
def test_test_permutation_of_all_assignments_is_that_of_scipy(n_queries):
    # without grades and nearly equal rankers, for which SciPy would take equal sums as different
    rng = np.random.default_rng(0)
    y = rng.random((n_queries, 12))
    scores = {str(noise): y + rng.normal(0, noise, y.shape) for noise in (0.1, 0.5, 3)}
    found = compare_rankers(y, scores)
    expected = [by_scipy(y, scores, pair, n_resamples=np.inf) for pair in found.pairs]
    assert found.uncorrected_pvalue.tolist() == expected


def test_test_permutation_of_random_assignments_is_near_that_of_scipy():
    y, scores = three_rankers(60, seed=6)
    found = compare_rankers(y, scores, n_resamples=8000, random_state=0)
    drawn = {"n_resamples": 8000, SCIPY_RNG: np.random.default_rng(0)}
    theirs = by_scipy(y, scores, ("good", "other"), **drawn)
    error = 4 * np.sqrt(theirs * (1 - theirs) / 4000) + 1e-3
    assert found.uncorrected_pvalue[1] == pytest.approx(theirs, abs=error)


# 1 / rank of each is a multiple of 1 / 720720
NEAR_RANKS = [
    (840, 858), (910, 924), (780, 792), (924, 936), (1001, 1008), (1144, 1155), (1155, 1170),
]  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore:10 queries")
def test_test_permutation_does_not_tell_equal_sums_apart_by_rounding(kernels, weighted):
    """Rankers that differ at high ranks, by about 1e-5 in values near 1: rounding matters."""
    rng = np.random.default_rng(0)
    ranks = rng.permuted(rng.choice(NEAR_RANKS, 10), axis=1)
    y, *scores = np.zeros((3, 10, 1200))
    y[:, :2] = 1  # one stays at the top, the other goes far down
    for score, rank in zip(scores, ranks.T, strict=True):
        score[:] = -np.arange(1200)
        score[:, 1] = 0.5 - rank
    weight = rng.integers(1, 4, 10) if weighted else np.ones(10, dtype=int)
    ideal = 1 + Fraction(1, 2)
    d = [(Fraction(1, a) - Fraction(1, b)) / ideal for a, b in ranks.tolist()]
    scores = dict(zip("ab", scores, strict=True))
    found = compare_rankers(y, scores, discount="reciprocal", sample_weight=weight / 7)
    assert found.difference[0] == pytest.approx(float(np.average(d, weights=weight)), abs=1e-15)
    assert found.pvalue[0] == exact_pvalue(d, weight.tolist())


@both_tests
def test_test_never_finds_equal_rankers_different(test):
    y, s = matrices()
    # the same order in other scores, and values that differ by rounding
    found = compare_rankers(y, {"a": s, "b": np.exp(s), "c": 3 * s + 1}, test=test)
    assert found.pvalue.tolist() == [1, 1, 1]
    assert found.statistic.tolist() == [0, 0, 0]
    assert found.effect_size.tolist() == [0, 0, 0]
    assert found.ties.tolist() == [40, 40, 40]
    assert found.wins.tolist() == found.losses.tolist() == [0, 0, 0]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_y_scores_may_be_a_table_with_one_ranker_per_column(library):
    package = pytest.importorskip(library, reason=f"{library} is not installed")
    y, scores = three_rankers()
    flat = {name: s.ravel() for name, s in scores.items()}
    make = package.table if library == "pyarrow" else package.DataFrame
    found = compare_rankers(y.ravel(), make(flat), groups=np.repeat(np.arange(40), 12), test="t")
    expected = compare_rankers(y, scores, test="t")
    assert found.pairs == expected.pairs
    assert found.statistic.tolist() == expected.statistic.tolist()


@pytest.mark.parametrize(
    ("undefined", "n_queries"), [("omit", 37), (0.0, 40), (1.0, 40)], ids=["omit", "0", "1"]
)
def test_undefined_queries_do_not_tell_rankers_apart(undefined, n_queries):
    y, scores = three_rankers()
    y[:3] = 0
    expected = compare_rankers(y[3:], {n: s[3:] for n, s in scores.items()}, test="t")
    found = compare_rankers(y, scores, test="t", undefined=undefined)
    assert (found.n_queries, found.n_left_out) == (n_queries, 40 - n_queries)
    assert found.difference == pytest.approx(expected.difference * 37 / n_queries)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="plain"),
        pytest.param({"clusters": np.arange(40) // 2}, id="clusters"),
        pytest.param({"undefined": 0.3}, id="undefined"),
        pytest.param({"sample_weight": np.arange(1, 41)}, id="weights"),
    ],
)
def test_interval_of_each_ranker_is_that_of_ndcg_interval_by_t(options):
    y, scores = three_rankers()
    y[0] = 0
    options = {"undefined": 0.0, "confidence_level": 0.9} | options
    found = compare_rankers(y, scores, test="t", **options)
    alone = [
        ndcg_interval(y, s, method="t", **options).confidence_interval for s in scores.values()
    ]
    np.testing.assert_allclose(found.interval, np.transpose(alone), atol=1e-13)
    assert found.confidence_level == 0.9


@pytest.mark.filterwarnings("ignore:3 queries")
def test_interval_of_each_ranker_ends_where_ndcg_does():
    y = np.tile([1, 0], (3, 1))
    scores = {"good": y, "poor": np.where(np.arange(3)[:, np.newaxis], -y, y)}
    found = compare_rankers(y, scores, test="t", discount="reciprocal").interval
    assert (found.low.tolist(), found.high.tolist()) == ([1, 0], [1, 1])


@pytest.mark.filterwarnings("ignore:2 queries")
def test_interval_of_a_difference_lies_within_those_of_ndcg():
    """Two queries that differ by 1 and by -1 have an interval as wide as it can be."""
    y, up, down = [[1, 0], [1, 0]], [[2, 1], [1, 2]], [[1, 2], [2, 1]]
    found = compare_rankers(y, {"a": up, "b": down}, k=1, test="t")
    low, high = found.confidence_interval
    assert (low.tolist(), high.tolist()) == ([-1], [1])


@pytest.mark.filterwarnings("ignore:40 queries in 10 clusters")
def test_clusters_change_sign_together():
    y, scores = three_rankers()
    c, weight = users(40, 10), np.random.default_rng(0).integers(1, 4, 40)
    found = compare_rankers(y, scores, clusters=c, sample_weight=weight / 3)
    sums = [Fraction(0)] * 10
    good, poor = values_of(y, scores, ("good", "poor"))
    for difference, w, cluster in zip(good - poor, weight, c, strict=True):
        sums[cluster] += Fraction(difference) * int(w)
    assert found.uncorrected_pvalue[0] == exact_pvalue(sums, [1] * 10)


@both_tests
def test_clusters_in_which_gains_and_losses_cancel_are_no_difference(test):
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 5, (12, 8)), 6, axis=0)
    a, b = np.repeat(rng.random((2, 12, 8)), 6, axis=1)
    swap = np.tile([True, True, True, False, False, False], 12)[:, np.newaxis]
    scores = {"a": np.where(swap, a, b), "b": np.where(swap, b, a)}
    weight = np.tile([0.1, 0.2, 0.3, 0.3, 0.2, 0.1], 12)  # rounding leaves a rest
    options = {"clusters": np.arange(72) // 6, "sample_weight": weight}
    found = compare_rankers(y, scores, test=test, **options)
    assert (found.pvalue[0], found.difference[0]) == (1, 0)


@pytest.mark.parametrize(
    ("test", "clusters"),
    [("t", np.arange(2000) // 20), ("permutation", None)],
    ids=["t of clusters", "permutation"],
)
def test_pairs_are_compared_in_blocks(test, clusters, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, (2000, 4))
    scores = {name: y + rng.normal(0, 9, y.shape) for name in range(30)}
    options = {"test": test, "clusters": clusters}
    options |= {"n_resamples": 199, "undefined": 0.0, "random_state": 5}
    expected = compare_rankers(y, scores, **options)
    monkeypatch.setattr("sklearn_ndcg.inference._pairs._VALUES_AT_A_TIME", 10_000)
    tracemalloc.start()
    found = compare_rankers(y, scores, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 435 * 2000 * 8  # what the differences of all pairs take alone
    # corrected for 435 pairs, all p-values would be 1
    np.testing.assert_allclose(found.uncorrected_pvalue, expected.uncorrected_pvalue, rtol=1e-14)
    assert len({*found.uncorrected_pvalue}) > 50
    np.testing.assert_allclose(found.confidence_interval, expected.confidence_interval, rtol=1e-12)
    assert found.pairs == expected.pairs
    assert found.wins.tolist() == expected.wins.tolist()
