"""Intervals of a mean, compared with SciPy and statsmodels."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers import SCIPY_RNG, assert_same, matrices, users
from scipy import stats

from sklearn_ndcg import ndcg_samples, ndcg_score
from sklearn_ndcg.inference import ndcg_by_segment, ndcg_interval

Y, S = matrices()
every_method = pytest.mark.parametrize("method", ["BCa", "t"])


def bootstrap(values, weight, level=0.95):
    """SciPy's interval of a weighted mean, of the resamples that `random_state=1` draws."""

    def mean(values, weight, axis=-1):
        return (values * weight).sum(axis=axis) / weight.sum(axis=axis)

    return stats.bootstrap(
        (values, weight), mean, paired=True, vectorized=True, confidence_level=level, method="BCa",
        n_resamples=999, **{SCIPY_RNG: np.random.default_rng(1)},
    )  # fmt: skip


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("weight", [np.ones(40), np.random.default_rng(3).random(40)])
def test_method_bca_is_that_of_scipy_for_the_same_resamples(level, weight):
    theirs = bootstrap(ndcg_samples(Y, S, k=5), weight, level)
    ours = ndcg_interval(
        Y, S, k=5, confidence_level=level, n_resamples=999, random_state=1, sample_weight=weight
    )
    assert ours.confidence_interval == pytest.approx(tuple(theirs.confidence_interval), abs=1e-13)
    assert ours.standard_error == pytest.approx(theirs.standard_error, abs=1e-14)
    assert ours.mean == ndcg_score(Y, S, k=5, sample_weight=weight)


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("scale", [1, 0.3, 1e-300, 1e300])
def test_method_t_of_equal_weights_is_that_of_scipy(scale, level):
    values = ndcg_samples(Y, S)
    weight = None if scale == 1 else np.full(40, scale)
    found = ndcg_interval(Y, S, sample_weight=weight, method="t", confidence_level=level)
    expected = stats.ttest_1samp(values, 0).confidence_interval(level)
    assert found.confidence_interval == pytest.approx(tuple(expected), abs=1e-14)
    assert found.standard_error == pytest.approx(stats.sem(values), rel=1e-14)


def test_method_t_ends_where_ndcg_does():
    y, s = [[2, 1, 0]] * 12 + [[0, 0, 0]] * 12, [[3, 2, 1]] * 24
    y[0] = [0, 0, 1]
    options = {"method": "t", "confidence_level": 1 - 1e-9}
    assert ndcg_interval(y, s, undefined=0, **options).confidence_interval == (0, 1)
    assert ndcg_interval(y, s, undefined=1, **options).confidence_interval.high == 1
    table = ndcg_by_segment(y[:12], s[:12], segments=[0] * 12, method="t")
    assert table.confidence_interval.high.tolist() == [1]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.filterwarnings("ignore:8 queries")
def test_method_bca_has_a_bias_that_rounding_does_not_decide(seed, kernels):
    """Few different rational values, so that means are often equal: ties are counted exactly."""
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
    assert total in sums  # otherwise the test says nothing
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
def test_confidence_level_near_1_does_not_change_the_sides_of_bca(outlier):
    y, s = [[1, 0]] * 40, [[1, 0]] * 40
    s = np.negative(s) if outlier == "good" else np.array(s)
    s[0] *= -1  # one outlier gives the largest acceleration possible
    options = {"confidence_level": 1 - 1e-14, "n_resamples": 200, "random_state": 0}
    found = ndcg_interval(y, s, k=1, **options)
    assert found.confidence_interval.low < found.mean < found.confidence_interval.high


def test_confidence_level_may_be_a_fraction():
    found, expected = (
        ndcg_interval(Y, S, confidence_level=level, method="t") for level in (Fraction(1, 2), 0.5)
    )
    assert repr(found) == repr(expected)


def test_n_resamples_drawn_in_chunks_are_the_same(monkeypatch):
    whole = ndcg_interval(Y, S, n_resamples=200, random_state=1)
    monkeypatch.setattr("sklearn_ndcg.inference._statistics._CHUNK", 130)
    assert_same(ndcg_interval(Y, S, n_resamples=200, random_state=1), whole)


def test_n_resamples_may_be_too_few_for_bca():
    y, s = matrices(30)
    with pytest.raises(ValueError, match="n_resamples is too small for method='BCa'"):
        ndcg_interval(y, s, n_resamples=2, random_state=1)


def test_undefined_queries_are_left_out_or_counted():
    y = np.r_[Y[:3], 0 * Y[:1], Y[4:]]
    for undefined, n_queries, n_left_out in (("omit", 39, 1), (0.5, 40, 0)):
        found = ndcg_interval(y, S, undefined=undefined, method="t")
        assert found.mean == ndcg_score(y, S, undefined=undefined)
        assert (found.n_queries, found.n_left_out) == (n_queries, n_left_out)
        assert repr(found).startswith(f"NDCG {found.mean:.4f}, 95% confidence interval [0.")
        assert ("39 queries, 1 left out" in repr(found)) == (undefined == "omit")


BAD = {
    "level": ({"confidence_level": 1}, ValueError, "confidence_level must be between 0 and 1, got 1"),
    "level that rounds to 1": ({"confidence_level": np.nextafter(1, 0)}, ValueError, "confidence_level"),
    "level text": ({"confidence_level": "95%"}, ValueError, "between 0 and 1"),
    "method": ({"method": "bca"}, ValueError, "method must be one of 'BCa', 't'"),
    "resamples": ({"n_resamples": 0}, ValueError, "n_resamples must be an integer >= 2"),
    "one resample": ({"n_resamples": 1}, ValueError, "n_resamples"),
    "state": ({"random_state": "a"}, ValueError, "random_state must be an int"),
    "option": ({"log_base": 2}, TypeError, "ndcg_interval has no option 'log_base'"),
    "undefined above 1": ({"undefined": 1.32}, ValueError, "undefined must be.*from 0 to 1"),
    "undefined below 0": ({"undefined": -0.1}, ValueError, "undefined must be.*from 0 to 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_ndcg_interval_refuses(case):
    options, error, message = BAD[case]
    with pytest.raises(error, match=message):
        ndcg_interval(Y, S, **options)


@pytest.mark.parametrize("weighted", [False, True])
@every_method
def test_clusters_of_one_query_each_are_none(method, weighted):
    rng = np.random.default_rng(0)
    options = {"method": method, "n_resamples": 499, "random_state": 1, "k": 5}
    options["sample_weight"] = rng.uniform(1, 2, 40) if weighted else None
    expected = ndcg_interval(Y, S, **options)
    assert expected.n_clusters == 40
    assert_same(ndcg_interval(Y, S, clusters=rng.permutation(40), **options), expected)


def test_clusters_of_equal_size_have_the_interval_of_their_means():
    y, s = matrices(60)
    values, c = ndcg_samples(y, s), np.repeat(np.arange(15), 4)
    found = ndcg_interval(y, s, clusters=c, method="t")
    means = values.reshape(15, 4).mean(axis=1)
    expected = stats.ttest_1samp(means, 0).confidence_interval()
    assert found.confidence_interval == pytest.approx(tuple(expected), rel=1e-13)
    assert found.standard_error == pytest.approx(stats.sem(means), rel=1e-13)


@pytest.mark.parametrize("even", [False, True])
def test_clusters_are_resampled_as_scipy_resamples_their_means(even):
    c = np.arange(40) // 3 if even else users()
    values = ndcg_samples(Y, S)
    weight = np.bincount(c).astype(float)
    means = np.bincount(c, values) / weight
    theirs = bootstrap(means, weight)
    found = ndcg_interval(Y, S, clusters=c, n_resamples=999, random_state=1)
    assert found.standard_error == pytest.approx(theirs.standard_error, rel=1e-12)
    # normal quantiles, widened to those of t and by the ratio of jackknife to bootstrap
    by_t = ndcg_interval(Y, S, clusters=c, method="t")
    share = weight / weight.sum()
    degrees = 1 / (share**2).sum() - 1
    wider = max(by_t.standard_error / theirs.standard_error, 1)
    assert (wider > 1) == even
    z = stats.t.ppf([0.025, 0.975], degrees) * wider
    d = means - values.mean()
    skewness = (d**3 @ share) / (d**2 @ share) ** 1.5
    a = skewness * (share**3).sum() / (share**2).sum() ** 1.5 / 6
    bias = stats.norm.ppf((theirs.bootstrap_distribution < values.mean()).mean())
    z = bias + (bias + z) / (1 - a * (bias + z))
    expected = np.quantile(theirs.bootstrap_distribution, stats.norm.cdf(z))
    assert found.confidence_interval == pytest.approx(tuple(expected), rel=1e-12)


@pytest.mark.parametrize(("y", "clusters", "units"), [
    ([[0, 1]] * 24, None, "24 queries have the NDCG 0.63"),
    ([[1, 0], [0, 1]] * 12, np.arange(24) // 2, "12 clusters have the NDCG 0.815"),
])  # fmt: skip
def test_queries_and_clusters_of_one_value_are_warned_of(y, clusters, units):
    with pytest.warns(UserWarning, match=f"All {units}.*: the interval is a point"):
        found = ndcg_interval(y, [[2, 1]] * 24, clusters=clusters)
    assert found.confidence_interval == pytest.approx((found.mean, found.mean), abs=1e-15)


@every_method
def test_segments_have_the_interval_of_their_queries_alone(method):
    y, s = matrices(90)
    y[:7] = 0  # undefined
    segment = np.array(["b", "a", "c"])[np.arange(90) % 3]
    columns = {"sample_weight": np.arange(90) % 4, "clusters": np.arange(90) // 5}
    options = {"method": method, "n_resamples": 99, "random_state": 0, "undefined": "omit"}
    found = ndcg_by_segment(y, s, segments=segment, **columns, **options)
    assert found.segments == ["a", "b", "c"]
    assert repr(found.overall) == repr(ndcg_interval(y, s, **columns, **options))
    for i, name in enumerate(found.segments):
        own = {key: each[segment == name] for key, each in columns.items()}
        alone = ndcg_interval(y[segment == name], s[segment == name], **own, **options)
        assert found.mean[i] == pytest.approx(alone.mean, abs=1e-15)
        bounds = [bound[i] for bound in found.confidence_interval]
        assert bounds == pytest.approx([*alone.confidence_interval])
        assert found.standard_error[i] == pytest.approx(alone.standard_error)
        assert (found.n_queries[i], found.n_left_out[i]) == (alone.n_queries, alone.n_left_out)


def test_segments_of_rows_in_any_order_and_of_several_columns():
    y, s = matrices(80)
    order = np.random.default_rng(0).permutation(y.size)
    query = np.repeat(np.arange(80), 12)
    country, age = np.array(["AT", "CH"])[query % 2], query % 4 // 2
    rows = {"groups": query[order], "method": "t"}
    table = pd.DataFrame({"country": country, "age": age}).iloc[order]
    found = ndcg_by_segment(y.ravel()[order], s.ravel()[order], segments=table, **rows)
    assert found.segments == [("AT", 0), ("AT", 1), ("CH", 0), ("CH", 1)]
    single = ndcg_by_segment(y, s, segments=np.arange(80) % 4, method="t")
    assert found.mean.tolist() == pytest.approx(single.mean[[0, 2, 1, 3]].tolist())
    frame = found.to_frame()
    assert frame.index.tolist() == found.segments
    assert frame[["low", "high"]].to_numpy().T.tolist() == [*map(list, found.confidence_interval)]
    assert frame["n_queries"].tolist() == found.n_queries.tolist() == [20] * 4


def test_random_state_of_segments_draws_each_from_a_generator_of_its_own():
    """A segment does not depend on what was drawn before it, with bit generators too."""
    y, s = matrices(90)
    segments = np.r_[np.zeros(20), np.ones(70)]
    bits = np.random.PCG64
    tables = [
        ndcg_by_segment(y[at:], s[at:], segments=segments[at:], random_state=state, n_resamples=99)
        for at, state in (
            (0, bits(0)), (0, np.random.default_rng(0)), (10, bits(0)),
        )
    ]  # fmt: skip
    first, *same, fewer = map(repr, tables)
    assert same == [first]
    assert fewer.splitlines()[2] == first.splitlines()[2]


def test_segments_without_enough_queries():
    y, s = matrices(46)
    y[40] = y[44] = 0
    s[20:40] = y[20:40]  # their NDCG is 1
    segment = np.r_[np.zeros(20), np.ones(20), 2, np.full(3, 3), 4, 5].astype(int)
    message = "Intervals of 5 of the 6 segments, the first 1, are unreliable"
    with pytest.warns(UserWarning, match=message) as caught:
        found = ndcg_by_segment(y, s, segments=segment, undefined="omit", random_state=0)
    assert [each.filename for each in caught] == [__file__]
    assert found.n_queries.tolist() == [20, 20, 0, 3, 0, 1]
    assert found.n_left_out.tolist() == [0, 0, 1, 0, 1, 0]
    assert np.isnan(found.mean).tolist() == [False, False, True, False, True, False]
    assert np.flatnonzero(np.isnan(found.confidence_interval.low)).tolist() == [2, 4, 5]
    assert "nan" in repr(found)
    shown = [line.split()[-1] for line in repr(found).splitlines()]
    assert shown == ["out", "0", "0", "1", "0", "1", "0", "2"]


SHARED = {"groups": np.repeat(np.arange(40), 12), "segments": np.tile(np.arange(12), 40)}


@pytest.mark.parametrize(("y", "s", "options", "error", "message"), [
    (Y, S, {"segments": None}, ValueError, "segments is None: pass one id per row"),
    (Y, S, {"segments": np.full(40, np.nan)}, ValueError, "segments has 40 missing ids"),
    (Y, S, {"segments": np.arange(40), "segment": 1}, TypeError, "ndcg_by_segment has no option 'segment'"),
    (Y.ravel(), S.ravel(), SHARED, ValueError, "40 queries have .* more than one segment: query 0 is in segments 0 and 11. Give"),
])  # fmt: skip
def test_ndcg_by_segment_refuses(y, s, options, error, message):
    with pytest.raises(error, match=message):
        ndcg_by_segment(y, s, **options)


@pytest.mark.parametrize(("function", "columns"), [
    (ndcg_interval, ["clusters"]),
    (ndcg_by_segment, ["segments"]),
    (ndcg_by_segment, ["clusters", "segments"]),
])  # fmt: skip
def test_clusters_and_segments_in_another_order_are_refused(function, columns):
    ids = pd.Series(range(40))
    first, *others = columns
    with pytest.raises(ValueError, match=f"y_true and {first} have the same labels"):
        function(pd.DataFrame(Y), S, **{first: ids[::-1]}, **dict.fromkeys(others, ids))
