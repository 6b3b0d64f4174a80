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

both_tests = pytest.mark.parametrize("test", ["t", "permutation"])


def test_test_t_is_that_of_scipy():
    y, scores = three_rankers()
    found = compare_rankers(y, scores, test="t", k=5)
    values = {name: ndcg_samples(y, s, k=5) for name, s in scores.items()}
    assert found.pairs == [("good", "poor"), ("good", "other"), ("poor", "other")]
    for i, (first, second) in enumerate(found.pairs):
        expected = stats.ttest_rel(values[first], values[second])
        assert found.statistic[i] == pytest.approx(expected.statistic, rel=1e-12)
        assert found.uncorrected_pvalue[i] == pytest.approx(expected.pvalue, rel=1e-12)
        low, high = expected.confidence_interval()
        assert found.confidence_interval.low[i] == pytest.approx(low, rel=1e-12)
        assert found.confidence_interval.high[i] == pytest.approx(high, rel=1e-12)
        d = values[first] - values[second]
        assert found.effect_size[i] == pytest.approx(d.mean() / d.std(ddof=1), rel=1e-12)
        assert found.standard_error[i] == pytest.approx(stats.sem(d), rel=1e-12)
        sides = [(d > 0).sum(), (d == 0).sum(), (d < 0).sum()]
        assert [found.wins[i], found.ties[i], found.losses[i]] == sides
    assert found.mean == pytest.approx({name: each.mean() for name, each in values.items()})


def difference(a, b, axis=-1):
    return np.mean(a, axis=axis) - np.mean(b, axis=axis)


def by_scipy(y, scores, pair, **options):
    values = [ndcg_samples(y, scores[name]) for name in pair]
    return stats.permutation_test(values, difference, permutation_type="samples", **options).pvalue


@pytest.mark.parametrize(("n_queries", "n_seeds"), [(2, 5), (5, 5), (10, 3), (13, 1)])
@pytest.mark.filterwarnings("ignore:. queries")
def test_test_permutation_of_all_assignments_is_that_of_scipy(n_queries, n_seeds):
    for seed in range(n_seeds):
        # without grades and nearly equal rankers, for which SciPy would take equal sums as different
        rng = np.random.default_rng(seed)
        y = rng.random((n_queries, 12))
        scores = {str(noise): y + rng.normal(0, noise, y.shape) for noise in (0.1, 0.5, 3)}
        found = compare_rankers(y, scores)
        for pair, pvalue in zip(found.pairs, found.uncorrected_pvalue, strict=True):
            assert pvalue == by_scipy(y, scores, pair, n_resamples=np.inf)


def test_test_permutation_of_random_assignments_is_near_that_of_scipy():
    y, scores = three_rankers(60, seed=6)
    found = compare_rankers(y, scores, n_resamples=8000, random_state=0)
    drawn = {"n_resamples": 8000, SCIPY_RNG: np.random.default_rng(0)}
    for pair, pvalue in zip(found.pairs, found.uncorrected_pvalue, strict=True):
        theirs = by_scipy(y, scores, pair, **drawn)
        error = 4 * np.sqrt(theirs * (1 - theirs) / 4000) + 1e-3
        assert pvalue == pytest.approx(theirs, abs=error)


# 1 / rank of each is a multiple of 1 / 720720
NEAR_RANKS = [(840, 858), (910, 924), (780, 792), (924, 936), (1001, 1008), (1144, 1155), (1155, 1170)]  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.filterwarnings("ignore:10 queries")
def test_test_permutation_does_not_tell_equal_sums_apart_by_rounding(seed, kernels, weighted):
    """Rankers that differ at high ranks, by about 1e-5 in values near 1: rounding matters."""
    rng = np.random.default_rng(seed)
    ranks = rng.permuted(rng.choice(NEAR_RANKS, 10), axis=1)
    y, *scores = np.zeros((3, 10, 1200))
    y[:, :2] = 1  # one stays at the top, the other goes far down
    for score, other in zip(scores, ranks.T, strict=True):
        score[:] = -np.arange(1200)
        score[:, 1] = 0.5 - other
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
    assert "0.0000" in repr(found)


def test_pvalue_is_corrected_by_holm():
    y, scores = three_rankers(200)
    found = compare_rankers(y, scores, test="t")
    p = np.sort(found.uncorrected_pvalue)
    expected = np.minimum(1, np.maximum.accumulate(p * [3, 2, 1]))
    assert np.sort(found.pvalue).tolist() == expected.tolist()
    one = compare_rankers(y, {name: scores[name] for name in ("good", "poor")}, test="t")
    assert one.pvalue == one.uncorrected_pvalue


def test_baseline_is_the_second_of_each_pair():
    y, scores = three_rankers()
    found = compare_rankers(y, scores, baseline="poor", random_state=0)
    assert found.pairs == [("good", "poor"), ("other", "poor")]
    assert found.difference[0] == pytest.approx(found.mean["good"] - found.mean["poor"])
    frame = found.to_frame()
    assert frame.loc[("good", "poor"), "pvalue"] == found.pvalue[0]
    assert list(frame.index.names) == ["first", "second"]
    assert list(frame.columns[:3]) == ["difference", "low", "high"]
    lines = repr(found).splitlines()
    assert lines[0] == "40 queries"
    assert lines[6].split()[-3:] == ["p", "effect", "W/T/L"]
    assert lines[8].split()[:2] == ["other", "poor"]
    assert lines[8].endswith(f"{found.wins[1]}/{found.ties[1]}/{found.losses[1]}")
    assert found.baseline == "poor"


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_y_scores_may_be_a_table_with_one_ranker_per_column(library):
    package = pytest.importorskip(library, reason=f"{library} is not installed")
    y, scores = three_rankers()
    flat = {name: s.ravel() for name, s in scores.items()}
    make = package.table if library == "pyarrow" else package.DataFrame
    options = {"groups": np.repeat(np.arange(40), 12), "random_state": 0, "baseline": "poor"}
    found, expected = (compare_rankers(y.ravel(), each, **options) for each in (make(flat), flat))
    assert repr(found) == repr(expected)
    assert found.pairs == [("good", "poor"), ("other", "poor")]


def test_undefined_queries_do_not_tell_rankers_apart():
    y, scores = three_rankers()
    y[:3] = 0
    expected = compare_rankers(y[3:], {n: s[3:] for n, s in scores.items()}, test="t")
    found = compare_rankers(y, scores, test="t", undefined="omit")
    assert (found.n_queries, found.n_left_out) == (37, 3)
    assert found.pvalue == pytest.approx(expected.pvalue)
    for number in (0.0, 1.0):  # the same for all rankers
        found = compare_rankers(y, scores, test="t", undefined=number)
        assert (found.n_queries, found.n_left_out) == (40, 0)
        assert found.difference == pytest.approx(expected.difference * 37 / 40)


@pytest.mark.parametrize("options", [
    {}, {"clusters": np.arange(40) // 2}, {"undefined": 0.3}, {"sample_weight": np.arange(1, 41)},
])  # fmt: skip
def test_ndcg_interval_of_each_ranker_is_that_of_t(options):
    y, scores = three_rankers()
    y[0] = 0
    options = {"undefined": 0.0, "confidence_level": 0.9} | options
    found = compare_rankers(y, scores, test="t", **options)
    expected = [ndcg_interval(y, s, method="t", **options) for s in scores.values()]
    bounds = np.transpose([each.confidence_interval for each in expected])
    np.testing.assert_allclose(found.interval, bounds, atol=1e-13)


@pytest.mark.filterwarnings("ignore:3 queries")
def test_ndcg_interval_of_each_ranker_ends_where_ndcg_does():
    y = np.tile([1, 0], (3, 1))
    scores = {"good": y, "poor": np.where(np.arange(3)[:, np.newaxis], -y, y)}
    found = compare_rankers(y, scores, test="t", discount="reciprocal").interval
    assert (found.low.tolist(), found.high.tolist()) == ([1, 0], [1, 1])


@pytest.mark.filterwarnings("ignore:40 queries in 10 clusters")
def test_clusters_change_sign_together():
    y, scores = three_rankers()
    c, weight = users(40, 10), np.random.default_rng(0).integers(1, 4, 40)
    found = compare_rankers(y, scores, clusters=c, sample_weight=weight / 3)
    for (first, second), pvalue in zip(found.pairs, found.uncorrected_pvalue, strict=True):
        d = ndcg_samples(y, scores[first]) - ndcg_samples(y, scores[second])
        terms = [Fraction(each) * int(w) for each, w in zip(d.tolist(), weight, strict=True)]
        sums = [sum(t for t, of in zip(terms, c, strict=True) if of == each) for each in range(10)]
        assert pvalue == exact_pvalue(sums, [1] * 10)


@both_tests
@pytest.mark.filterwarnings("ignore:40 queries in 10 clusters")
def test_clusters_in_which_rankers_are_equal(test):
    y, scores = three_rankers()
    c = np.arange(40) % 10
    same = np.where(c[:, np.newaxis] < 3, scores["good"], scores["poor"])
    found = compare_rankers(y, {"a": scores["good"], "b": same}, clusters=c, test=test)
    assert found.difference[0] == pytest.approx(found.mean["a"] - found.mean["b"], rel=1e-12)
    d = ndcg_samples(y, scores["good"]) - ndcg_samples(y, same)
    means = [d[c == each].mean() for each in range(10)]
    expected = {
        "t": stats.ttest_1samp(means, 0).pvalue,
        "permutation": exact_pvalue([Fraction(each) for each in means], [1] * 10),
    }
    assert found.pvalue[0] == pytest.approx(expected[test], rel=1e-9)
    assert found.df == 9
    assert repr(found).startswith("40 queries in 10 clusters\n")


@both_tests
def test_clusters_in_each_of_which_gains_and_losses_cancel_are_no_difference(test):
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 5, (12, 8)), 6, axis=0)
    a, b = np.repeat(rng.random((2, 12, 8)), 6, axis=1)
    swap = np.tile([True, False], 36)[:, np.newaxis]
    scores = {"a": np.where(swap, a, b), "b": np.where(swap, b, a)}
    found = compare_rankers(y, scores, clusters=np.arange(72) // 6, test=test)
    assert (found.pvalue[0], found.difference[0]) == (1, 0)


@pytest.mark.parametrize(("test", "clustered"), [("t", True), ("permutation", False)])
def test_pairs_are_compared_in_blocks(test, clustered, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, (1000, 4))
    scores = {name: y + rng.normal(0, 9, y.shape) for name in range(30)}
    options = {"test": test, "n_resamples": 49, "margin": 0.02, "undefined": 0.0}
    options["clusters"] = np.arange(1000) // 20 if clustered else None
    whole, drawn = (np.random.default_rng(5) for _ in range(2))
    expected = compare_rankers(y, scores, random_state=whole, **options)
    monkeypatch.setattr("sklearn_ndcg.inference._comparison._VALUES_AT_A_TIME", 20_000)
    tracemalloc.start()
    found = compare_rankers(y, scores, random_state=drawn, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 435 * 1000 * 8  # what the differences of all pairs take alone
    np.testing.assert_allclose(found.pvalue, expected.pvalue, rtol=1e-14)
    np.testing.assert_allclose(found.confidence_interval, expected.confidence_interval, rtol=1e-12)
    assert (found.verdict, found.pairs) == (expected.verdict, expected.pairs)
    assert found.wins.tolist() == expected.wins.tolist()
    assert drawn.integers(2**60) == whole.integers(2**60)
