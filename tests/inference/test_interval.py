"""Intervals and comparisons, compared with SciPy and statsmodels."""

import re
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from inspect import signature
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from helpers import matrices
from oracles import exact_pvalue
from scipy import stats

from sklearn_ndcg import compare_rankers, ndcg_interval, ndcg_samples, ndcg_score

# SciPy's name for it
RNG = "rng" if "rng" in signature(stats.bootstrap).parameters else "random_state"


def mean(values, axis=-1):
    return np.mean(values, axis=axis)


@pytest.mark.parametrize("method", ["BCa", "percentile"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_interval_is_that_of_scipy_for_the_same_resamples(method, level):
    y, s = matrices()
    values = ndcg_samples(y, s, k=5)
    theirs = stats.bootstrap(
        (values,), mean, confidence_level=level, method=method, n_resamples=999,
        **{RNG: np.random.default_rng(1)},
    )  # fmt: skip
    ours = ndcg_interval(
        y, s, k=5, confidence_level=level, method=method, n_resamples=999, random_state=1
    )
    assert ours.confidence_interval == pytest.approx(tuple(theirs.confidence_interval), abs=1e-13)
    assert ours.standard_error == pytest.approx(theirs.standard_error, abs=1e-14)
    assert ours.ndcg == ndcg_score(y, s, k=5)


def test_drawing_in_chunks_gives_the_same_resamples(monkeypatch):
    y, s = matrices()
    whole = ndcg_interval(y, s, n_resamples=200, random_state=1)
    monkeypatch.setattr("sklearn_ndcg._inference.statistics._CHUNK", 130)
    assert ndcg_interval(y, s, n_resamples=200, random_state=1) == whole


def test_t_interval():
    y, s = matrices()
    values = ndcg_samples(y, s)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    found = ndcg_interval(y, s, method="t", confidence_level=0.9)
    assert found.confidence_interval == pytest.approx(tuple(expected), abs=1e-14)
    assert found.standard_error == pytest.approx(stats.sem(values), abs=1e-15)


def test_a_resampled_query_keeps_its_weight():
    y, s = matrices()
    weight = np.random.default_rng(3).random(len(y))
    values = ndcg_samples(y, s)
    found = ndcg_interval(y, s, sample_weight=weight, n_resamples=500, random_state=1)
    assert found.ndcg == pytest.approx(np.average(values, weights=weight), abs=1e-15)

    def weighted(values, weight, axis=-1):
        return (values * weight).sum(axis=axis) / weight.sum(axis=axis)

    theirs = stats.bootstrap(
        (values, weight), weighted, paired=True, vectorized=True, n_resamples=500, method="BCa",
        **{RNG: np.random.default_rng(1)},
    )  # fmt: skip
    assert found.confidence_interval == pytest.approx(tuple(theirs.confidence_interval), abs=1e-13)


def test_undefined_queries():
    y, s = matrices()
    y[3] = 0
    left_out = ndcg_interval(y, s, undefined="omit", method="t")
    assert (left_out.n_queries, left_out.n_left_out) == (39, 1)
    assert left_out.ndcg == ndcg_score(y, s, undefined="omit")
    counted = ndcg_interval(y, s, undefined=0.5, method="t")
    assert (counted.n_queries, counted.n_left_out) == (40, 0)
    assert "39 queries, 1 left out" in repr(left_out)
    assert repr(counted).startswith(f"NDCG {counted.ndcg:.4f}, 0.95 interval [0.")


def test_groups_and_other_options():
    y, s = matrices()
    flat = np.repeat(np.arange(40), 12)
    order = np.random.default_rng(0).permutation(y.size)
    found = ndcg_interval(
        y.ravel()[order], s.ravel()[order], groups=flat[order], k=3, gain="exponential",
        random_state=0,
    )  # fmt: skip
    assert found == ndcg_interval(y, s, k=3, gain="exponential", random_state=0)


@pytest.mark.parametrize("state", [3, np.random.RandomState(3), np.random.default_rng(3), None])
def test_random_states(state):
    assert ndcg_interval(*matrices(), random_state=state).n_queries == 40


def test_few_queries_warn():
    with pytest.warns(
        UserWarning, match="9 queries: intervals and tests are unreliable below 10"
    ) as one:
        ndcg_interval(*matrices(9))
    assert one[0].filename == __file__
    with pytest.warns(UserWarning, match="9 queries"):
        compare_rankers(matrices(9)[0], {"a": matrices(9)[1], "b": -matrices(9)[1]})


def test_a_level_may_be_a_fraction():
    y, s = matrices()
    options = {"n_resamples": 99, "random_state": 0}
    found = ndcg_interval(y, s, confidence_level=Fraction(1, 2), **options)
    assert repr(found) == repr(ndcg_interval(y, s, confidence_level=0.5, **options))


@pytest.mark.filterwarnings("ignore:6 queries")
def test_one_query_may_outweigh_all_others():
    y, s = matrices(6)
    weight = [1e20, 1, 1, 1, 1, 1]
    found = ndcg_interval(y, s, sample_weight=weight, random_state=0)
    assert found.ndcg == ndcg_score(y, s, sample_weight=weight)


def test_queries_of_one_value_warn():
    y, _ = matrices()
    with pytest.warns(UserWarning, match="All 40 queries have the NDCG 1: the interval is a point"):
        found = ndcg_interval(y, y)
    assert found.confidence_interval == (1, 1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore:8 queries")
def test_rounding_does_not_decide_the_bias_of_bca(seed, kernels):
    """Values of few rational numbers, whose means are often equal: ties counted by fractions."""
    rng = np.random.default_rng(seed)
    y, s = rng.integers(0, 5, (8, 5)), rng.random((8, 5))
    y[:, 0] = 1 + rng.integers(0, 4, 8)
    values = []
    for own, scores in zip(y.tolist(), s, strict=True):
        ranked = [own[i] for i in np.argsort(-scores)]
        dcg, ideal = (
            sum(Fraction(gain, rank) for rank, gain in enumerate(gains, 1))
            for gains in (ranked, sorted(own, reverse=True))
        )
        values.append(dcg / ideal)
    drawn = np.random.default_rng(seed).integers(0, 8, (999, 8))
    sums = [sum(values[i] for i in each) for each in drawn.tolist()]
    total = sum(values)
    below = sum(each < total for each in sums) + Fraction(sum(each == total for each in sums), 2)
    assert total in sums  # or the test says nothing
    bias = stats.norm.ppf(float(below / 999))
    others = [(total - each) / 7 for each in values]
    skew = np.array([float(sum(others) / 8 - each) for each in others])
    acceleration = (skew**3).sum() / (6 * (skew**2).sum() ** 1.5)
    shifted = bias + stats.norm.ppf([0.025, 0.975])
    levels = stats.norm.cdf(bias + shifted / (1 - acceleration * shifted))
    expected = np.quantile([float(each / 8) for each in sums], levels)
    found = ndcg_interval(y, s, discount="reciprocal", n_resamples=999, random_state=seed)
    assert found.confidence_interval == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize("outlier", ["poor", "good"])
def test_far_levels_of_bca_do_not_change_sides(outlier):
    y, s = [[1, 0]] * 40, [[1, 0]] * 40
    s = np.negative(s) if outlier == "good" else np.array(s)
    s[0] *= -1  # one outlier gives the largest acceleration possible
    options = {"confidence_level": 1 - 1e-14, "n_resamples": 200, "random_state": 0}
    found = ndcg_interval(y, s, k=1, **options)
    assert found.confidence_interval.low < found.ndcg < found.confidence_interval.high


@pytest.mark.parametrize("method", ["BCa", "percentile"])
@pytest.mark.parametrize("large", [1e100, -1e100])
def test_a_large_replacement_does_not_overflow(method, large):
    y, s = matrices()
    y[:15] = 0
    found = ndcg_interval(y, s, undefined=large, method=method, n_resamples=999,
                          random_state=1)  # fmt: skip
    # the other values are negligible beside it
    values = np.r_[np.ones(15), np.zeros(25)]
    theirs = stats.bootstrap((values,), mean, method=method, n_resamples=999,
                             **{RNG: np.random.default_rng(1)})  # fmt: skip
    expected = sorted(large * bound for bound in theirs.confidence_interval)
    assert found.confidence_interval == pytest.approx(tuple(expected), rel=1e-12)
    assert found.standard_error == pytest.approx(theirs.standard_error * abs(large), rel=1e-12)
    assert found.ndcg == ndcg_score(y, s, undefined=large)


def test_a_large_replacement_does_not_overflow_student_s_t():
    y, s = matrices()
    y[:15] = 0
    found = ndcg_interval(y, s, undefined=1e100, method="t")
    expected = stats.ttest_1samp(np.r_[np.ones(15), np.zeros(25)], 0).confidence_interval()
    assert found.confidence_interval == pytest.approx((1e100 * expected[0], 1e100 * expected[1]))


@pytest.mark.parametrize("too_large", [1e300, -1.7e308])
def test_a_replacement_whose_square_overflows_is_refused(too_large):
    with pytest.raises(ValueError, match="undefined must be.*up to 1e100"):
        ndcg_interval(*matrices(), undefined=too_large)


# --- weights


def by_hand(values, weight):
    """Mean, error, effect and degrees of freedom, in exact arithmetic except for the roots.

    The error is that of leaving out each query in turn; where fewer than two queries decide, no
    less than the weighted standard deviation over the root of their effective number.
    """
    values, weight = ([Fraction(each) for each in row.tolist()] for row in (values, weight))
    n, total = len(values), sum(weight)

    def average(left_out=None):
        kept = [i for i in range(n) if i != left_out]
        return sum(values[i] * weight[i] for i in kept) / sum(weight[i] for i in kept)

    center, share = average(), [each / total for each in weight]
    effective = 1 / sum(each**2 for each in share)
    variance = sum((average(i) - center) ** 2 for i in range(n)) * Fraction(n - 1, n)
    squares = sum(h * (v - center) ** 2 for h, v in zip(share, values, strict=True))
    spread = squares / sum(h * (1 - h) for h in share)
    if effective < 2:
        variance = max(variance, spread / effective)
    effect = float(center) / float(spread) ** 0.5
    return float(center), float(variance) ** 0.5, effect, float(max(effective - 1, 1))


WEIGHTS = {
    "lognormal": np.random.default_rng(5).lognormal(size=20),
    "10,000 to 1": np.r_[1e4, np.ones(19)],
    "1e17 to 1": np.r_[np.ones(19), 1e17],
    "two heavy": np.r_[1e6, np.ones(18), 1e6],
    "fewer than two": np.r_[3, np.ones(18) / 50, 1],
}


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.filterwarnings("ignore:20 queries")
def test_student_s_t_of_a_weighted_mean_by_hand(weight):
    y, s = matrices(20)
    center, error, _, degrees = by_hand(ndcg_samples(y, s), weight)
    half = error * stats.t.ppf(0.95, degrees)
    found = ndcg_interval(y, s, sample_weight=weight, method="t", confidence_level=0.9)
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    expected = (center - half, center + half)
    assert found.confidence_interval == pytest.approx(expected, rel=1e-11)
    d = ndcg_samples(y, s) - ndcg_samples(y, -s)
    center, error, effect, degrees = by_hand(d, weight)
    found = compare_rankers(y, {"a": s, "b": -s}, sample_weight=weight, test="t")
    assert found.statistic[0] == pytest.approx(center / error, rel=1e-11)
    assert found.pvalue[0] == pytest.approx(2 * stats.t.sf(center / error, degrees), rel=1e-11)
    half = error * stats.t.ppf(0.975, degrees)
    assert found.confidence_interval.high[0] == pytest.approx(center + half, rel=1e-11)
    assert found.effect_size[0] == pytest.approx(effect, rel=1e-11)


@pytest.mark.parametrize("scale", [0.3, 1e-300, 1e300])
def test_equal_weights_leave_student_s_t_to_scipy(scale):
    y, s = matrices()
    values = ndcg_samples(y, s)
    found = ndcg_interval(y, s, sample_weight=np.full(40, scale), method="t")
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert found.confidence_interval == pytest.approx(tuple(expected), abs=1e-15)
    assert found.standard_error == pytest.approx(stats.sem(values), rel=1e-15)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore:20 queries")
def test_one_heavy_query_alone_is_not_evidence(seed):
    y, scores = rankers(20, seed)
    scores = {name: scores[name] for name in ("poor", "other")}  # hardly different
    weight = np.r_[1e4, np.ones(19)]
    by_t = compare_rankers(y, scores, test="t", sample_weight=weight)
    by_permutation = compare_rankers(y, scores, sample_weight=weight, random_state=0)
    assert by_permutation.pvalue[0] > 0.05
    assert by_t.pvalue[0] > 0.05
    # the table of the permutation test prints the interval of t
    low, high = by_permutation.confidence_interval
    assert low[0] < 0 < high[0]


def test_queries_that_are_worth_few_by_their_weights_warn():
    y, s = matrices()
    weight = np.r_[1e4, np.ones(39)]
    message = "40 queries with uneven weights have an effective number of 1.01"
    with pytest.warns(UserWarning, match=message) as found:
        ndcg_interval(y, s, sample_weight=weight)
    assert found[0].filename == __file__
    with pytest.warns(UserWarning, match=message) as found:
        compare_rankers(y, {"a": s, "b": -s}, sample_weight=weight)
    assert found[0].filename == __file__
    # nine queries of equal weight are worth nine, ten are enough, also if their weights round
    with pytest.warns(UserWarning, match="9 queries"):
        ndcg_interval(*matrices(9), sample_weight=np.full(9, 0.1))
    ndcg_interval(*matrices(10), sample_weight=np.full(10, 0.1))


def test_the_weight_of_a_query_left_out_does_not_scale_the_others():
    y, s = matrices()
    y[0] = 0
    found = ndcg_interval(
        y, s, sample_weight=np.r_[1e200, np.ones(39)], undefined="omit", method="t"
    )
    expected = stats.ttest_1samp(ndcg_samples(y[1:], s[1:]), 0).confidence_interval()
    assert found.confidence_interval == pytest.approx(tuple(expected), abs=1e-15)


y, s = matrices()


BAD = {
    "level": (
        {"confidence_level": 1},
        ValueError,
        "confidence_level must be between 0 and 1, got 1",
    ),
    "level 95": ({"confidence_level": 95}, ValueError, "between 0 and 1"),
    "level that rounds to 1": (
        {"confidence_level": np.nextafter(1, 0)},
        ValueError,
        "confidence_level",
    ),
    "level text": ({"confidence_level": "95%"}, ValueError, "between 0 and 1"),
    "method": ({"method": "bca"}, ValueError, "method must be one of 'BCa', 'percentile', 't'"),
    "resamples": ({"n_resamples": 0}, ValueError, "n_resamples must be an integer >= 2"),
    "one resample": ({"n_resamples": 1, "method": "percentile"}, ValueError, "n_resamples"),
    "state": ({"random_state": "a"}, ValueError, "random_state must be an int"),
    "option": ({"log_base": 2}, TypeError, "ndcg_interval has no option 'log_base'"),
    "cutoffs": ({"k": [1, 2]}, ValueError, "k must be an integer"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_interval(case):
    options, error, message = BAD[case]
    with pytest.raises(error, match=message):
        ndcg_interval(y, s, **options)


def test_too_few_queries():
    for data in (matrices(1), (np.zeros((20, 5)), matrices(20, n_documents=5)[1])):
        with pytest.raises(ValueError, match="At least 2 scored queries are needed"):
            ndcg_interval(*data, undefined="omit")
        with pytest.raises(ValueError, match="At least 2 scored queries"):
            compare_rankers(data[0], {"a": data[1], "b": data[1]})


def rankers(n_queries=40, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, (n_queries, 12))
    noise = {"good": 2, "poor": 4, "other": 3}
    return y, {name: y + rng.normal(0, each, y.shape) for name, each in noise.items()}


def test_t_test_is_that_of_scipy():
    y, scores = rankers()
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
    assert found.ndcg == pytest.approx({name: each.mean() for name, each in values.items()})


def test_t_test_is_that_of_ranx():
    fisher = pytest.importorskip("ranx.statistical_tests", reason="ranx is not installed")
    y, scores = rankers()
    found = compare_rankers(y, scores, test="t", baseline="poor")
    values = [ndcg_samples(y, scores[name]) for name in ("good", "poor")]
    theirs = fisher.paired_student_t_test(*values)
    assert found.uncorrected_pvalue[0] == pytest.approx(theirs[0], rel=1e-12)


def difference(a, b, axis=-1):
    return np.mean(a, axis=axis) - np.mean(b, axis=axis)


@pytest.mark.parametrize("n_queries", [2, 5, 10, 13])
@pytest.mark.filterwarnings("ignore:. queries")
def test_exact_permutation_test_is_that_of_scipy(n_queries):
    for seed in range(5):
        # no grades and no near-equal rankers: SciPy would take equal sums for different ones
        rng = np.random.default_rng(seed)
        y = rng.random((n_queries, 12))
        scores = {str(noise): y + rng.normal(0, noise, y.shape) for noise in (0.1, 0.5, 3)}
        found = compare_rankers(y, scores)
        for (first, second), pvalue in zip(found.pairs, found.uncorrected_pvalue, strict=True):
            values = [ndcg_samples(y, scores[name]) for name in (first, second)]
            theirs = stats.permutation_test(
                values, difference, permutation_type="samples", n_resamples=np.inf
            )
            assert pvalue == theirs.pvalue


def test_random_permutation_test_is_near_that_of_scipy():
    y, scores = rankers(60, seed=6)
    found = compare_rankers(y, scores, n_resamples=20_000, random_state=0)
    for (first, second), pvalue in zip(found.pairs, found.uncorrected_pvalue, strict=True):
        values = [ndcg_samples(y, scores[name]) for name in (first, second)]
        theirs = stats.permutation_test(
            values, difference, permutation_type="samples", n_resamples=20_000,
            **{RNG: np.random.default_rng(0)},
        )  # fmt: skip
        error = 4 * np.sqrt(theirs.pvalue * (1 - theirs.pvalue) / 10_000) + 1e-3
        assert pvalue == pytest.approx(theirs.pvalue, abs=error)


# 1 / rank of each of them is a whole number of 1 / 720720
NEAR_RANKS = [
    (840, 858),
    (910, 924),
    (780, 792),
    (924, 936),
    (1001, 1008),
    (1144, 1155),
    (1155, 1170),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore:10 queries")
def test_rounding_does_not_tell_equal_sums_apart(seed, kernels, weighted):
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
    found = compare_rankers(
        y, dict(zip("ab", scores, strict=True)), discount="reciprocal", sample_weight=weight / 7
    )
    assert found.difference[0] == pytest.approx(float(np.average(d, weights=weight)), abs=1e-15)
    assert found.pvalue[0] == exact_pvalue(d, weight.tolist())


@pytest.mark.parametrize("test", ["permutation", "t"])
def test_equal_rankers_are_never_significant(test):
    y, s = matrices()
    # the same order in other scores, and values that differ by rounding
    found = compare_rankers(y, {"a": s, "b": np.exp(s), "c": 3 * s + 1}, test=test)
    assert found.pvalue.tolist() == [1, 1, 1]
    assert found.statistic.tolist() == [0, 0, 0]
    assert found.effect_size.tolist() == [0, 0, 0]
    assert found.ties.tolist() == [40, 40, 40]
    assert "0.0000" in repr(found)


def test_holm():
    y, scores = rankers(200)
    found = compare_rankers(y, scores, test="t")
    p = np.sort(found.uncorrected_pvalue)
    expected = np.minimum(1, np.maximum.accumulate(p * [3, 2, 1]))
    assert np.sort(found.pvalue).tolist() == expected.tolist()
    one = compare_rankers(y, {name: scores[name] for name in ("good", "poor")}, test="t")
    assert one.pvalue == one.uncorrected_pvalue


def test_baseline_and_frames():
    y, scores = rankers()
    found = compare_rankers(y.ravel(), pd.DataFrame({n: s.ravel() for n, s in scores.items()}),
                            baseline="poor", groups=np.repeat(np.arange(40), 12), random_state=0)  # fmt: skip
    assert found.pairs == [("good", "poor"), ("other", "poor")]
    assert found.difference[0] == pytest.approx(found.ndcg["good"] - found.ndcg["poor"])
    frame = found.to_frame()
    assert frame.loc[("good", "poor"), "pvalue"] == found.pvalue[0]
    assert list(frame.columns[:3]) == ["difference", "low", "high"]
    lines = repr(found).splitlines()
    assert lines[0] == "40 queries"
    assert lines[-1].startswith("other - poor")
    assert lines[-1].endswith(f"{found.wins[1]}/{found.ties[1]}/{found.losses[1]}")


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_that_are_not_mappings_have_one_ranker_per_column(library):
    package = pytest.importorskip(library, reason=f"{library} is not installed")
    y, scores = rankers()
    flat = {name: s.ravel() for name, s in scores.items()}
    frame = package.DataFrame(flat) if library == "polars" else package.table(flat)
    options = {"groups": np.repeat(np.arange(40), 12), "random_state": 0, "baseline": "poor"}
    found, expected = (compare_rankers(y.ravel(), each, **options) for each in (frame, flat))
    assert repr(found) == repr(expected)
    assert found.pairs == [("good", "poor"), ("other", "poor")]


def test_frames_of_other_kinds_are_refused_by_name():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    with pytest.raises(TypeError, match=r"got LazyFrame: collect\(\) it first\."):
        compare_rankers([[1, 0]], polars.LazyFrame({"a": [1.0], "b": [2.0]}))
    with pytest.raises(ValueError, match="at least two rankers of different names, got \\['a'\\]"):
        compare_rankers([[1, 0]], polars.DataFrame({"a": [1.0, 2.0]}))
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    twice = arrow.Table.from_arrays([arrow.array([1.0]), arrow.array([2.0])], names=["a", "a"])
    with pytest.raises(ValueError, match="different names, got \\['a', 'a'\\]"):
        compare_rankers([[1, 0]], twice)


def test_undefined_queries_do_not_tell_rankers_apart():
    y, scores = rankers()
    y[:3] = 0
    expected = compare_rankers(y[3:], {n: s[3:] for n, s in scores.items()}, test="t")
    for value in ("warn", 0.0, 1.0, np.nan):
        found = compare_rankers(y, scores, test="t", undefined=value)
        assert (found.n_queries, found.n_left_out) == (37, 3)
        assert found.pvalue == pytest.approx(expected.pvalue)


BAD_COMPARISON = {
    "one": ({"a": s}, {}, ValueError, "at least two rankers of different names, got \\['a'\\]"),
    "none": ({}, {}, ValueError, "at least two rankers"),
    "list": ([s, s], {}, TypeError, "y_scores must be a mapping from the name.*got list"),
    "baseline": (
        {"a": s, "b": s},
        {"baseline": "c"},
        ValueError,
        "baseline must be one of the rankers",
    ),
    "array as baseline": (
        {"a": s, "b": s},
        {"baseline": np.ones(2)},
        ValueError,
        "baseline must be one of the rankers",
    ),
    "items that are not a method": (
        type("Items", (), {"items": 3})(),
        {},
        TypeError,
        "y_scores must be",
    ),
    "test": (
        {"a": s, "b": s},
        {"test": "wilcoxon"},
        ValueError,
        "test must be one of 'permutation', 't'",
    ),
    "option": (
        {"a": s, "b": s},
        {"alpha": 1},
        TypeError,
        "compare_rankers has no option 'alpha'",
    ),
    "resamples": (
        {"a": s, "b": s},
        {"n_resamples": 0.5},
        ValueError,
        "n_resamples must be an integer",
    ),
    "length": ({"a": s, "b": s[1:]}, {}, ValueError, "same shape, got"),
}


def test_two_columns_of_one_name_are_refused():
    groups = np.repeat(np.arange(40), 12)
    twice = pd.DataFrame(np.c_[s.ravel(), -s.ravel()], columns=["a", "a"])
    with pytest.raises(ValueError, match="y_scores"):
        compare_rankers(y.ravel(), twice, groups=groups)


@pytest.mark.parametrize("case", BAD_COMPARISON)
def test_bad_comparison(case):
    scores, options, error, message = BAD_COMPARISON[case]
    with pytest.raises(error, match=message) as found:
        compare_rankers(y, scores, **options)
    if case == "length":
        assert found.value.__notes__ == ["While comparing the ranker 'b'."]


def test_queries_without_weight_are_left_out():
    y, s = matrices()
    weight = np.r_[np.zeros(20), np.ones(20)]
    found = ndcg_interval(y, s, sample_weight=weight, method="t")
    assert (found.n_queries, found.n_left_out) == (20, 20)
    expected = ndcg_interval(y[20:], s[20:], method="t")
    assert found.confidence_interval == pytest.approx(expected.confidence_interval, abs=1e-14)


# --- clusters


def users(n_queries=40, n_users=14):
    """Numbers of users for queries, one query at least for each, and others at random."""
    rng = np.random.default_rng(3)
    extra = rng.integers(0, n_users, n_queries - n_users)
    return rng.permutation(np.r_[np.arange(n_users), extra])


def assert_same(found, expected):
    """All fields are equal, to the last bit."""
    for field in fields(found):
        ours, theirs = (getattr(each, field.name) for each in (found, expected))
        np.testing.assert_equal(ours, theirs)
    assert repr(found) == repr(expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["BCa", "percentile", "t"])
def test_one_cluster_per_query_is_none(method, weighted):
    y, s = matrices()
    rng = np.random.default_rng(0)
    options = {"method": method, "n_resamples": 499, "random_state": 1, "k": 5}
    if weighted:
        options["sample_weight"] = rng.uniform(1, 2, 40)
    expected = ndcg_interval(y, s, **options)
    assert expected.n_clusters == 40
    assert_same(ndcg_interval(y, s, clusters=rng.permutation(40), **options), expected)


@pytest.mark.parametrize("test", ["permutation", "t"])
def test_one_cluster_per_query_is_none_in_a_comparison(test):
    y, scores = rankers()
    query, order = np.repeat(np.arange(40), 12), np.random.default_rng(0).permutation(480)
    y, query = y.ravel()[order], query[order]
    scores = {name: s.ravel()[order] for name, s in scores.items()}
    options = {"groups": query, "test": test, "n_resamples": 499, "random_state": 1}
    expected = compare_rankers(y, scores, **options)
    names = np.array([f"user {i}" for i in np.random.default_rng(1).permutation(40)])
    assert_same(compare_rankers(y, scores, clusters=names[query], **options), expected)


def crv3(values, weight, clusters):
    """Mean and cluster-robust error of the leave-one-cluster-out jackknife, by statsmodels."""
    statsmodels = pytest.importorskip(
        "statsmodels.api", "0.15", reason="statsmodels 0.15 is not installed"
    )
    covariance = pytest.importorskip("statsmodels.stats.sandwich_covariance").cov_cluster
    fitted = statsmodels.WLS(values, np.ones(len(values)), weight).fit()
    error = np.sqrt(covariance(fitted, clusters, crv_type="cluster-crv3")[0, 0])
    return fitted.params[0], error


@pytest.mark.parametrize("weighted", [False, True])
def test_student_s_t_by_cluster_is_that_of_statsmodels(weighted):
    y, scores = rankers(60)
    c = users(60, 15)
    weight = np.random.default_rng(2).uniform(0.5, 2, 60) if weighted else np.ones(60)
    options = {"k": 5, "clusters": c, "sample_weight": weight}
    sizes = np.array([weight[c == each].sum() for each in range(15)])
    degrees = sizes.sum() ** 2 / (sizes**2).sum() - 1
    values = {name: ndcg_samples(y, s, k=5) for name, s in scores.items()}
    center, error = crv3(values["good"], weight, c)
    found = ndcg_interval(y, scores["good"], method="t", **options)
    assert (found.n_queries, found.n_clusters) == (60, 15)
    assert found.ndcg == pytest.approx(center, rel=1e-13)
    assert found.standard_error == pytest.approx(error, rel=1e-11)
    expected = stats.t.interval(0.95, degrees, center, error)
    assert found.confidence_interval == pytest.approx(expected, rel=1e-12)
    found = compare_rankers(y, scores, test="t", **options)
    for i, (first, second) in enumerate(found.pairs):
        d = values[first] - values[second]
        center, error = crv3(d, weight, c)
        assert found.difference[i] == pytest.approx(center, rel=1e-11)
        assert found.statistic[i] == pytest.approx(center / error, rel=1e-10)
        p = 2 * stats.t.sf(abs(center / error), degrees)
        assert found.uncorrected_pvalue[i] == pytest.approx(p, rel=1e-9)
        low, _ = stats.t.interval(0.95, degrees, center, error)
        assert found.confidence_interval.low[i] == pytest.approx(low, rel=1e-10)
        # effect and wins are of queries, which is what they describe
        deviation = np.sqrt(np.cov(d, aweights=weight))
        assert found.effect_size[i] == pytest.approx(center / deviation, rel=1e-11)
        assert found.wins[i] + found.ties[i] + found.losses[i] == 60


def test_clusters_of_equal_size_are_as_in_every_cluster_robust_error():
    """The mean of cluster means, and the sandwich of statsmodels (CRV1), agree."""
    y, s = matrices(60)
    values, c = ndcg_samples(y, s), np.repeat(np.arange(15), 4)
    found = ndcg_interval(y, s, clusters=c, method="t")
    means = values.reshape(15, 4).mean(axis=1)
    expected = stats.ttest_1samp(means, 0).confidence_interval()
    assert found.confidence_interval == pytest.approx(tuple(expected), rel=1e-13)
    assert found.standard_error == pytest.approx(stats.sem(means), rel=1e-13)
    statsmodels = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
    fitted = statsmodels.OLS(values, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": c})
    assert found.standard_error == pytest.approx(fitted.bse[0], rel=1e-12)


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("method", ["BCa", "percentile"])
def test_clusters_are_resampled_as_scipy_resamples_their_means(method, even):
    y, s = matrices()
    c = np.arange(40) // 3 if even else users()
    values = ndcg_samples(y, s)
    weight = np.bincount(c).astype(float)
    means = np.bincount(c, values) / weight

    def weighted(means, weight, axis=-1):
        return (means * weight).sum(axis=axis) / weight.sum(axis=axis)

    theirs = stats.bootstrap(
        (means, weight), weighted, paired=True, vectorized=True, n_resamples=999,
        method="percentile", **{RNG: np.random.default_rng(1)},
    )  # fmt: skip
    found = ndcg_interval(y, s, clusters=c, method=method, n_resamples=999, random_state=1)
    assert found.standard_error == pytest.approx(theirs.standard_error, rel=1e-12)
    # normal quantiles, as far out as those of t, and as the jackknife is above the bootstrap
    by_t = ndcg_interval(y, s, clusters=c, method="t")
    share = weight / weight.sum()
    degrees = 1 / (share**2).sum() - 1
    wider = max(by_t.standard_error / theirs.standard_error, 1)
    assert (wider > 1) == even
    z = stats.t.ppf([0.025, 0.975], degrees) * wider
    if method == "BCa":
        d = means - values.mean()
        skewness = (d**3 @ share) / (d**2 @ share) ** 1.5
        a = skewness * (share**3).sum() / (share**2).sum() ** 1.5 / 6
        bias = stats.norm.ppf((theirs.bootstrap_distribution < values.mean()).mean())
        z = bias + (bias + z) / (1 - a * (bias + z))
    expected = np.quantile(theirs.bootstrap_distribution, stats.norm.cdf(z))
    assert found.confidence_interval == pytest.approx(tuple(expected), rel=1e-12)


@pytest.mark.filterwarnings("ignore:10 clusters")
def test_signs_change_by_cluster():
    y, scores = rankers()
    c, weight = users(40, 10), np.random.default_rng(0).integers(1, 4, 40)
    found = compare_rankers(y, scores, clusters=c, sample_weight=weight / 3)
    for (first, second), pvalue in zip(found.pairs, found.uncorrected_pvalue, strict=True):
        d = ndcg_samples(y, scores[first]) - ndcg_samples(y, scores[second])
        terms = [Fraction(each) * int(w) for each, w in zip(d.tolist(), weight, strict=True)]
        sums = [sum(t for t, of in zip(terms, c, strict=True) if of == each) for each in range(10)]
        assert pvalue == exact_pvalue(sums, [1] * 10)


def test_dependent_queries_are_no_evidence():
    """Each user's one session, 25 times: as sure as without the copies, not five times surer."""
    y, scores = rankers(12)
    once = compare_rankers(y, scores, random_state=0)
    many = {name: np.repeat(s, 25, axis=0) for name, s in scores.items()}
    user = np.repeat(np.arange(12), 25)
    found = compare_rankers(np.repeat(y, 25, axis=0), many, clusters=user, random_state=0)
    assert found.pvalue.tolist() == once.pvalue.tolist()
    assert found.standard_error == pytest.approx(once.standard_error, rel=1e-12)


def test_clusters_of_any_ids_and_rows_in_any_order():
    y, s = matrices()
    c = users()
    expected = ndcg_interval(y, s, clusters=c, random_state=0)
    assert repr(expected).endswith("40 queries in 14 clusters")
    query, order = np.repeat(np.arange(40), 12), np.random.default_rng(0).permutation(480)
    rows = {"y_true": y.ravel()[order], "y_score": s.ravel()[order], "groups": query[order]}
    days = np.datetime64("2024-01-01") + c[query[order]]
    for ids in (days, pd.Series(days), [f"user {i:02}" for i in c[query[order]]],
                np.c_[c[query[order]] // 3, c[query[order]] % 3]):  # fmt: skip
        assert_same(ndcg_interval(**rows, clusters=ids, random_state=0), expected)


def test_a_cluster_of_which_no_query_is_scored_is_not_counted():
    y, s = matrices()
    c = users()
    y[c == 3] = 0
    rest = c != 3
    found = ndcg_interval(y, s, clusters=c, undefined="omit", random_state=0)
    assert found.n_clusters == 13
    expected = ndcg_interval(y[rest], s[rest], clusters=c[rest], random_state=0)
    assert found.confidence_interval == expected.confidence_interval
    weighted = ndcg_interval(y, s, clusters=c, sample_weight=rest, undefined=0, random_state=0)
    assert weighted.confidence_interval == expected.confidence_interval


def test_omitted_rows_have_clusters_too():
    y, s = matrices()
    y = y.astype(float)
    y[:, :3] = np.nan
    query, options = np.repeat(np.arange(40), 12), {"unjudged": "omit", "method": "t"}
    expected = ndcg_interval(y, s, clusters=users(), **options)
    found = ndcg_interval(
        y.ravel(), s.ravel(), groups=query, clusters=users()[query], **options
    )  # fmt: skip
    assert_same(found, expected)


def test_few_clusters_warn():
    y, s = matrices()
    message = "8 clusters of 40 queries: intervals and tests"
    with pytest.warns(UserWarning, match=message) as caught:
        ndcg_interval(y, s, clusters=np.arange(40) % 8)
    assert caught[0].filename == __file__
    message = "12 clusters of 40 queries with uneven sizes have an effective number of 1.88"
    with pytest.warns(UserWarning, match=message):
        compare_rankers(y, {"a": s, "b": -s}, clusters=np.maximum(np.arange(40) - 28, 0))


def test_clusters_of_one_value_warn():
    y = np.tile([[1, 0], [0, 1]], (12, 1))
    s = np.tile([[2, 1]], (24, 1))
    with pytest.warns(UserWarning, match="All 12 clusters have the NDCG 0.815"):
        found = ndcg_interval(y, s, clusters=np.arange(24) // 2)
    assert found.confidence_interval == (found.ndcg, found.ndcg)


def test_gains_and_losses_that_cancel_in_every_cluster_are_no_difference():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 5, (12, 8)), 6, axis=0)
    a, b = np.repeat(rng.random((2, 12, 8)), 6, axis=1)
    swap = np.tile([True, False], 36)[:, np.newaxis]
    scores = {"a": np.where(swap, a, b), "b": np.where(swap, b, a)}
    for test in ("t", "permutation"):
        found = compare_rankers(y, scores, clusters=np.arange(72) // 6, test=test)
        assert (found.pvalue[0], found.difference[0]) == (1, 0)


FLAT = {"y_true": y.ravel(), "groups": np.repeat(np.arange(40), 12)}
BAD_CLUSTERS = {
    "per query": (
        np.arange(40),
        ValueError,
        "clusters must have one id for each of the 480 rows, got 40",
    ),
    "missing": (
        np.where(np.arange(480) < 12, np.nan, 1),
        ValueError,
        "clusters must not hold missing ids, found 12",
    ),
    "none": ([None] * 480, ValueError, "clusters must not hold missing ids"),
    "mixed": ([1, "a"] * 240, TypeError, "clusters must be ids of one type"),
    "query in two": (
        np.r_[np.zeros(30), np.ones(450)].astype(int),
        ValueError,
        r"clusters must hold whole queries, but 1 queries have rows in several, the first 2, in clusters 0, 1\. Pass",
    ),
    "rows": (
        np.arange(480),
        ValueError,
        "but 40 queries have rows in several, the first 0, in clusters 0, 1",
    ),
    "one": (
        np.zeros(480),
        ValueError,
        "At least 2 scored clusters are needed.*found 1 of 40 queries",
    ),
}


@pytest.mark.parametrize("case", BAD_CLUSTERS)
def test_bad_clusters(case):
    clusters, error, message = BAD_CLUSTERS[case]
    with pytest.raises(error, match=message):
        ndcg_interval(**FLAT, y_score=s.ravel(), clusters=clusters)
    with pytest.raises(error, match=message):
        compare_rankers(
            FLAT["y_true"],
            {"a": s.ravel(), "b": -s.ravel()},
            groups=FLAT["groups"],
            clusters=clusters,
        )


def test_clusters_in_another_order_are_refused():
    labels = pd.Index(np.random.default_rng(0).permutation(480))
    clusters = pd.Series(users()[FLAT["groups"]], labels)
    y_true = pd.Series(FLAT["y_true"], labels)
    with pytest.raises(ValueError, match="y_true and clusters have the same labels"):
        ndcg_interval(y_true, s.ravel(), groups=FLAT["groups"], clusters=clusters.sort_index())


# --- values and tables


def test_values_and_labels_of_queries():
    y, scores = rankers()
    y[3] = 0
    names = np.array([f"q{i:02}" for i in range(40)])
    order = np.random.default_rng(0).permutation(480)
    rows = {name: s.ravel()[order] for name, s in scores.items()}
    groups = np.repeat(names, 12)[order]
    found = compare_rankers(y.ravel()[order], rows, groups=groups, k=5, random_state=0)
    assert found.labels.tolist() == names[np.arange(40) != 3].tolist()
    assert list(found.values) == ["good", "poor", "other"]
    for name, s in scores.items():
        expected = ndcg_samples(np.delete(y, 3, 0), np.delete(s, 3, 0), k=5)
        assert found.values[name] == pytest.approx(expected, abs=1e-15)
        assert found.ndcg[name] == pytest.approx(expected.mean(), abs=1e-15)
    assert compare_rankers(y, scores, random_state=0).labels.tolist() == [*range(3), *range(4, 40)]


def test_the_queries_that_differ_most():
    y, scores = rankers()
    found = compare_rankers(y, scores, baseline="poor", random_state=0)
    frame = found.largest_differences(3).to_frame()
    for first in ("good", "other"):
        d = found.values[first] - found.values["poor"]
        order = np.argsort(-d)
        rows = frame.loc[(first, "poor")]
        assert rows.index.tolist() == [*order[:3], *order[-3:]]
        assert rows["difference"].tolist() == [*d[order[:3]], *d[order[-3:]]]
        assert rows["ndcg_second"].tolist() == found.values["poor"][rows.index].tolist()
    lines = repr(found.largest_differences(3)).splitlines()
    assert len(lines) == 7 + 1 + 7
    assert lines[0].split() == ["query", "good", "poor", "good", "-", "poor"]
    label, ours, theirs, difference = lines[1].split()
    values = [found.values[name][int(label)] for name in ("good", "poor")]
    assert [ours, theirs] == [f"{value:.4f}" for value in values]
    assert difference == f"{values[0] - values[1]:+.4f}"


def test_queries_without_a_difference_are_not_among_those_that_differ():
    y, s = matrices()
    better, worse = s.copy(), s.copy()
    better[7], worse[5] = y[7], -y[5]
    labels = np.array(["<b>", *(f"query {i:02}" for i in range(1, 40))])
    frame = {"groups": np.repeat(labels, 12), "random_state": 0}
    scores = {"better": better.ravel(), "same": s.ravel(), "worse": worse.ravel()}
    found = compare_rankers(y.ravel(), scores, baseline="same", **frame).largest_differences()
    assert [each[2] for each in found.to_frame().index] == ["query 07", "query 05"]
    assert compare_rankers(y, {"a": s, "b": 2 * s}).largest_differences(1).to_frame().empty
    assert (
        repr(compare_rankers(y, {"a": s, "b": 2 * s}).largest_differences(1))
        == "query  a  b  a - b"
    )


@pytest.mark.parametrize("n", [0, 1.5, "3", True])
def test_bad_number_of_queries(n):
    with pytest.raises(ValueError, match="n must be an integer >= 1, got"):
        compare_rankers(y, {"a": s, "b": -s}, random_state=0).largest_differences(n)


def cells(html):
    """All texts of the tables, by rows."""
    root = ElementTree.fromstring(f"<div>{html}</div>")  # noqa: S314
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]


def test_notebooks_show_the_numbers_of_the_text():
    y, scores = rankers()
    scores = {"<good> & best": scores["good"], "poor": scores["poor"]}
    found = compare_rankers(y, scores, clusters=users(), random_state=0)
    for result in (found, found.largest_differences(2)):
        text = repr(result)
        assert all(cell in text for row in cells(result._repr_html_()) for cell in row)
    interval = ndcg_interval(y, scores["poor"], random_state=0)
    _, row = cells(interval._repr_html_())
    assert len(row) == 4
    assert all(cell in repr(interval) for cell in row)
    assert found._repr_html_().startswith("<p>40 queries in 14 clusters</p><table>")
    assert "<good>" not in found._repr_html_()
    assert len(cells(found._repr_html_())) == 3 + 2


def test_results_cannot_be_changed():
    y, scores = rankers()
    found = compare_rankers(y, scores, random_state=0)
    for result, name in (
        (ndcg_interval(y, scores["poor"], method="t"), "ndcg"), (found, "pvalue"),
        (found.largest_differences(1), "first"),
    ):  # fmt: skip
        with pytest.raises(FrozenInstanceError):
            setattr(result, name, 0)


def test_notebooks_show_names_on_the_left_and_numbers_on_the_right():
    y, scores = rankers()
    found = compare_rankers(y, scores, random_state=0)
    root = ElementTree.fromstring(f"<div>{found._repr_html_()}</div>")  # noqa: S314
    for table in root.iter("table"):
        for row in table.iter("tr"):
            for cell in row.findall("td"):
                text = "".join(cell.itertext())
                side = "right" if re.fullmatch(r"[-+−.\d]+", text) else "left"
                assert cell.get("style") == f"text-align: {side}", text


def test_two_resamples_are_enough_to_ask_for():
    y, s = matrices(30)
    low, high = ndcg_interval(y, s, method="percentile", n_resamples=2).confidence_interval
    assert 0 < low <= high < 1
