"""Intervals and comparisons, compared with SciPy."""

from fractions import Fraction
from inspect import signature

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
    assert ours.value == ndcg_score(y, s, k=5)


def test_drawing_in_chunks_gives_the_same_resamples(monkeypatch):
    y, s = matrices()
    whole = ndcg_interval(y, s, n_resamples=200, random_state=1)
    monkeypatch.setattr("sklearn_ndcg._resampling._CHUNK", 130)
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
    assert found.value == pytest.approx(np.average(values, weights=weight), abs=1e-15)

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
    left_out = ndcg_interval(y, s, replace_undefined_by=np.nan, method="t")
    assert (left_out.n_queries, left_out.n_left_out) == (39, 1)
    assert left_out.value == ndcg_score(y, s, replace_undefined_by=np.nan)
    counted = ndcg_interval(y, s, replace_undefined_by=0.5, method="t")
    assert (counted.n_queries, counted.n_left_out) == (40, 0)
    assert "39 queries, 1 left out" in repr(left_out)
    assert repr(counted).startswith(f"NDCG {counted.value:.4f}, 0.95 interval [0.")


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
    with pytest.warns(UserWarning, match="With 9 queries an interval or a test says little") as one:
        ndcg_interval(*matrices(9))
    assert one[0].filename == __file__
    with pytest.warns(UserWarning, match="With 9 queries"):
        compare_rankers(matrices(9)[0], {"a": matrices(9)[1], "b": -matrices(9)[1]})


def test_a_level_may_be_a_fraction():
    y, s = matrices()
    options = {"n_resamples": 99, "random_state": 0}
    found = ndcg_interval(y, s, confidence_level=Fraction(1, 2), **options)
    assert repr(found) == repr(ndcg_interval(y, s, confidence_level=0.5, **options))


@pytest.mark.filterwarnings("ignore:With 6 queries")
def test_one_query_may_outweigh_all_others():
    y, s = matrices(6)
    weight = [1e20, 1, 1, 1, 1, 1]
    found = ndcg_interval(y, s, sample_weight=weight, random_state=0)
    assert found.value == ndcg_score(y, s, sample_weight=weight)


def test_queries_of_one_value_warn():
    y, _ = matrices()
    with pytest.warns(UserWarning, match="All 40 queries have the NDCG 1: the interval is a point"):
        found = ndcg_interval(y, y)
    assert found.confidence_interval == (1, 1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore:With 8 queries")
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


def test_far_levels_of_bca_do_not_change_sides():
    y, _ = matrices()
    s = y.copy()
    s[0] *= -1  # one outlier gives the largest acceleration possible
    found = ndcg_interval(y, s, confidence_level=1 - 1e-14, n_resamples=200, random_state=0)
    assert found.confidence_interval.low < found.value < found.confidence_interval.high


@pytest.mark.parametrize("method", ["BCa", "percentile"])
@pytest.mark.parametrize("large", [1e100, -1e100])
def test_a_large_replacement_does_not_overflow(method, large):
    y, s = matrices()
    y[:15] = 0
    found = ndcg_interval(y, s, replace_undefined_by=large, method=method, n_resamples=999,
                          random_state=1)  # fmt: skip
    # the other values are negligible beside it
    values = np.r_[np.ones(15), np.zeros(25)]
    theirs = stats.bootstrap((values,), mean, method=method, n_resamples=999,
                             **{RNG: np.random.default_rng(1)})  # fmt: skip
    expected = sorted(large * bound for bound in theirs.confidence_interval)
    assert found.confidence_interval == pytest.approx(tuple(expected), rel=1e-12)
    assert found.standard_error == pytest.approx(theirs.standard_error * abs(large), rel=1e-12)
    assert found.value == ndcg_score(y, s, replace_undefined_by=large)


def test_a_large_replacement_does_not_overflow_student_s_t():
    y, s = matrices()
    y[:15] = 0
    found = ndcg_interval(y, s, replace_undefined_by=1e100, method="t")
    expected = stats.ttest_1samp(np.r_[np.ones(15), np.zeros(25)], 0).confidence_interval()
    assert found.confidence_interval == pytest.approx((1e100 * expected[0], 1e100 * expected[1]))


@pytest.mark.parametrize("too_large", [1e300, -1.7e308])
def test_a_replacement_whose_square_overflows_is_refused(too_large):
    with pytest.raises(ValueError, match="replace_undefined_by must be.*up to 1e100"):
        ndcg_interval(*matrices(), replace_undefined_by=too_large)


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
@pytest.mark.filterwarnings("ignore:With 20 queries, which by their weights")
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
@pytest.mark.filterwarnings("ignore:With 20 queries, which by their weights")
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
    message = "With 40 queries, which by their weights are worth 1.01, an interval or a test says"
    with pytest.warns(UserWarning, match=message) as found:
        ndcg_interval(y, s, sample_weight=weight)
    assert found[0].filename == __file__
    with pytest.warns(UserWarning, match=message) as found:
        compare_rankers(y, {"a": s, "b": -s}, sample_weight=weight)
    assert found[0].filename == __file__
    # nine queries of equal weight are worth nine, ten are enough, also if their weights round
    with pytest.warns(UserWarning, match="With 9 queries an interval"):
        ndcg_interval(*matrices(9), sample_weight=np.full(9, 0.1))
    ndcg_interval(*matrices(10), sample_weight=np.full(10, 0.1))


def test_the_weight_of_a_query_left_out_does_not_scale_the_others():
    y, s = matrices()
    y[0] = 0
    found = ndcg_interval(
        y, s, sample_weight=np.r_[1e200, np.ones(39)], replace_undefined_by=np.nan, method="t"
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
    "option": ({"log_base": 2}, TypeError, "ndcg_interval got the unknown option log_base"),
    "cutoffs": ({"k": [1, 2]}, ValueError, "k must be an integer"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_interval(case):
    options, error, message = BAD[case]
    with pytest.raises(error, match=message):
        ndcg_interval(y, s, **options)


def test_too_few_queries():
    for data in (matrices(1), (np.zeros((20, 5)), matrices(20, n_documents=5)[1])):
        with pytest.raises(ValueError, match="At least 2 queries must have an NDCG and weight"):
            ndcg_interval(*data, replace_undefined_by=np.nan)
        with pytest.raises(ValueError, match="At least 2 queries"):
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
@pytest.mark.filterwarnings("ignore:With . queries")
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
@pytest.mark.filterwarnings("ignore:With 10 queries, which by their weights")
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
        found = compare_rankers(y, scores, test="t", replace_undefined_by=value)
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
        "compare_rankers got the unknown option alpha",
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
        assert found.value.__notes__ == ["This was found comparing the ranker 'b'."]


def test_queries_without_weight_are_left_out():
    y, s = matrices()
    weight = np.r_[np.zeros(20), np.ones(20)]
    found = ndcg_interval(y, s, sample_weight=weight, method="t")
    assert (found.n_queries, found.n_left_out) == (20, 20)
    expected = ndcg_interval(y[20:], s[20:], method="t")
    assert found.confidence_interval == pytest.approx(expected.confidence_interval, abs=1e-14)
