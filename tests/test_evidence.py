"""Intervals and comparisons, held to SciPy."""

from inspect import signature
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sklearn_ndcg import compare_rankers, ndcg_interval, ndcg_samples, ndcg_score
from sklearn_ndcg._evidence import _mean_and_error, _randomised, _resampled

# as SciPy calls it
RNG = "rng" if "rng" in signature(stats.bootstrap).parameters else "random_state"


def rows(n_queries=40, seed=0, noise=2.0, n_documents=12):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, (n_queries, n_documents))
    return y, y + rng.normal(scale=noise, size=y.shape)


def mean(values, axis=-1):
    return np.mean(values, axis=axis)


@pytest.mark.parametrize("method", ["BCa", "percentile"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_interval_is_that_of_scipy_for_the_same_resamples(method, level):
    y, s = rows()
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


def test_chunks_draw_what_one_draw_does(monkeypatch):
    y, s = rows()
    whole = ndcg_interval(y, s, n_resamples=200, random_state=1)
    monkeypatch.setattr("sklearn_ndcg._evidence._DRAWS", 130)
    assert ndcg_interval(y, s, n_resamples=200, random_state=1) == whole


def test_t_interval():
    y, s = rows()
    values = ndcg_samples(y, s)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    found = ndcg_interval(y, s, method="t", confidence_level=0.9)
    assert found.confidence_interval == pytest.approx(tuple(expected), abs=1e-14)
    assert found.standard_error == pytest.approx(stats.sem(values), abs=1e-15)


def test_a_resampled_query_keeps_its_weight():
    y, s = rows()
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
    y, s = rows()
    y[3] = 0
    left_out = ndcg_interval(y, s, replace_undefined_by=np.nan, method="t")
    assert (left_out.n_queries, left_out.n_left_out) == (39, 1)
    assert left_out.value == ndcg_score(y, s, replace_undefined_by=np.nan)
    counted = ndcg_interval(y, s, replace_undefined_by=0.5, method="t")
    assert (counted.n_queries, counted.n_left_out) == (40, 0)
    assert "39 queries, 1 left out" in repr(left_out)
    assert repr(counted).startswith(f"NDCG {counted.value:.4f}, 0.95 interval [0.")


def test_groups_and_other_options():
    y, s = rows()
    flat = np.repeat(np.arange(40), 12)
    order = np.random.default_rng(0).permutation(y.size)
    found = ndcg_interval(
        y.ravel()[order], s.ravel()[order], groups=flat[order], k=3, gain="exponential",
        random_state=0,
    )  # fmt: skip
    assert found == ndcg_interval(y, s, k=3, gain="exponential", random_state=0)


@pytest.mark.parametrize("state", [3, np.random.RandomState(3), np.random.default_rng(3), None])
def test_random_states(state):
    assert ndcg_interval(*rows(), random_state=state).n_queries == 40


def test_few_queries_warn():
    with pytest.warns(UserWarning, match="With 9 queries an interval or a test says little") as one:
        ndcg_interval(*rows(9))
    assert one[0].filename == __file__
    with pytest.warns(UserWarning, match="With 9 queries"):
        compare_rankers(rows(9)[0], {"a": rows(9)[1], "b": -rows(9)[1]})


def test_queries_of_one_value_warn():
    y, _ = rows()
    with pytest.warns(UserWarning, match="All 40 queries have the NDCG 1: the interval is a point"):
        found = ndcg_interval(y, y)
    assert found.confidence_interval == (1, 1)


y, s = rows()
BAD = {
    "level": (
        {"confidence_level": 1},
        ValueError,
        "confidence_level must be between 0 and 1, got 1",
    ),
    "level 95": ({"confidence_level": 95}, ValueError, "between 0 and 1"),
    "level text": ({"confidence_level": "95%"}, ValueError, "between 0 and 1"),
    "method": ({"method": "bca"}, ValueError, "method must be one of 'BCa', 'percentile', 't'"),
    "resamples": ({"n_resamples": 0}, ValueError, "n_resamples must be an integer >= 2"),
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
    for data in (rows(1), (np.zeros((20, 5)), rows(20, n_documents=5)[1])):
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
        # neither grades nor near-equal rankers, where rounding tells SciPy's equal sums apart
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


def test_permutation_by_weights_against_all_assignments():
    rng = np.random.default_rng(0)
    d, weight = rng.normal(0.3, 1, (2, 9)), rng.random(9)
    found = _randomised(d, weight, 10_000, rng)
    for row, pvalue in zip(d, found, strict=True):
        terms = row * weight
        null = np.array([(terms * signs).sum() for signs in product([1, -1], repeat=9)])
        assert pvalue == (np.abs(null) >= np.abs(terms.sum()) - 1e-12).mean()


@pytest.mark.parametrize("test", ["permutation", "t"])
def test_equal_rankers_are_never_significant(test):
    y, s = rows()
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


def test_undefined_queries_tell_no_rankers_apart():
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


@pytest.mark.parametrize("case", BAD_COMPARISON)
def test_bad_comparison(case):
    scores, options, error, message = BAD_COMPARISON[case]
    with pytest.raises(error, match=message) as found:
        compare_rankers(y, scores, **options)
    if case == "length":
        assert found.value.__notes__ == ["This was found comparing the ranker 'b'."]


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [50, 500])
def test_coverage_of_the_bca_interval(n_queries):
    """NDCG-like values of a skewed distribution, whose mean is known."""
    rng, covered, n_sets = np.random.default_rng(0), 0, 20_000
    from sklearn_ndcg._evidence import _corrected  # noqa: PLC0415

    ones, tails = np.ones(n_queries), np.array([0.025, 0.975])
    for _ in range(n_sets):
        values = rng.beta(4, 2, n_queries)
        means = _resampled(values, ones, 1999, rng)
        low, high = np.quantile(means, _corrected(tails, values.mean(), means, values, ones))
        covered += low <= 4 / 6 <= high
    print(f"BCa, {n_queries} queries: coverage {covered / n_sets:.4f}")
    assert 0.93 <= covered / n_sets <= 0.97


@pytest.mark.slow
def test_false_positives_of_the_permutation_test():
    rng, n_sets = np.random.default_rng(0), 20_000
    positives = 0
    for _ in range(n_sets // 100):
        d = rng.beta(4, 2, (100, 50)) - rng.beta(4, 2, (100, 50))
        positives += (_randomised(d, np.ones(50), 1999, rng) <= 0.05).sum()
    print(f"permutation test: {positives / n_sets:.4f} at 0.05")
    assert 0.045 <= positives / n_sets <= 0.055


def test_mean_and_error_of_equal_weights():
    d = np.random.default_rng(0).normal(1, 1, (1, 30))
    means, errors, effects = _mean_and_error(d, np.full(30, 0.3))
    assert [means[0], errors[0]] == pytest.approx([d.mean(), stats.sem(d[0])], rel=1e-14)
    assert effects[0] == pytest.approx(d.mean() / d.std(ddof=1), rel=1e-13)
