"""Intervals of a mean, compared with SciPy and statsmodels."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers import SCIPY_RNG, assert_same, matrices, users
from scipy import stats

from sklearn_ndcg import ndcg_samples, ndcg_score
from sklearn_ndcg.inference import compare_rankers, ndcg_by_segment, ndcg_interval

Y, S = matrices()
every_method = pytest.mark.parametrize("method", ["BCa", "t"])


def bootstrap(values, weight, level=0.95):
    """SciPy's interval of a weighted mean, of the resamples that `random_state=1` draws."""

    def mean(values, weight, axis=-1):
        return (values * weight).sum(axis=axis) / weight.sum(axis=axis)

    rng = {SCIPY_RNG: np.random.default_rng(1)}
    options = {"paired": True, "vectorized": True, "method": "BCa", "n_resamples": 999} | rng
    return stats.bootstrap((values, weight), mean, confidence_level=level, **options)


@pytest.mark.parametrize(
    ("weight", "level"),
    [(np.ones(40), 0.95), (np.random.default_rng(3).random(40), 0.8)],
    ids=["equal", "random"],
)
def test_method_bca_is_that_of_scipy_for_the_same_resamples(weight, level):
    theirs = bootstrap(ndcg_samples(Y, S, k=5), weight, level)
    ours = ndcg_interval(
        Y, S, k=5, confidence_level=level, n_resamples=999, random_state=1, sample_weight=weight
    )
    assert ours.confidence_interval == pytest.approx(tuple(theirs.confidence_interval), abs=1e-13)
    assert ours.standard_error == pytest.approx(theirs.standard_error, abs=1e-14)
    assert ours.mean == ndcg_score(Y, S, k=5, sample_weight=weight)
    assert ours.confidence_level == level


@pytest.mark.parametrize("scale", [1, 1e-300, 1e300])
def test_method_t_of_equal_weights_is_that_of_scipy(scale):
    values = ndcg_samples(Y, S)
    weight = None if scale == 1 else np.full(40, scale)
    found = ndcg_interval(Y, S, sample_weight=weight, method="t", confidence_level=0.9)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert found.confidence_interval == pytest.approx(tuple(expected), abs=1e-14)
    assert found.standard_error == pytest.approx(stats.sem(values), rel=1e-14)


@pytest.mark.filterwarnings("ignore:Only 1 of 24 queries")
@pytest.mark.parametrize(("undefined", "low"), [(0, 0), (1, 0.4)])
def test_method_t_ends_where_ndcg_does(undefined, low):
    y, s = [[2, 1, 0]] * 12 + [[0, 0, 0]] * 12, [[3, 2, 1]] * 24
    y[0] = [0, 0, 1]
    options = {"method": "t", "confidence_level": 1 - 1e-9, "undefined": undefined}
    found = ndcg_interval(y, s, **options).confidence_interval
    assert found.high == 1
    assert found.low == 0 if low == 0 else found.low > low


def exact_ndcg(grades, scores):
    """NDCG in fractions, with the discount 1 / rank."""
    ranked = [grades[i] for i in np.argsort(-scores)]
    dcg, ideal = (
        sum(Fraction(gain, rank) for rank, gain in enumerate(gains, 1))
        for gains in (ranked, sorted(grades, reverse=True))
    )
    return dcg / ideal


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.filterwarnings("ignore:8 queries")
def test_method_bca_has_a_bias_that_rounding_does_not_decide(seed, kernels):
    """Few different rational values, so that means are often equal: ties are counted exactly."""
    rng = np.random.default_rng(seed)
    y, s = rng.integers(0, 5, (8, 5)), rng.random((8, 5))
    y[:, 0] = 1 + rng.integers(0, 4, 8)
    values = [exact_ndcg(*query) for query in zip(y.tolist(), s, strict=True)]
    drawn = np.random.default_rng(seed).integers(0, 8, (999, 8))
    sums = [sum(values[i] for i in resample) for resample in drawn.tolist()]
    total = sum(values)
    assert total in sums  # otherwise the test says nothing
    below = sum(value < total for value in sums) + Fraction(sums.count(total), 2)
    bias = stats.norm.ppf(float(below / 999))
    means_of_others = [(total - value) / 7 for value in values]
    skew = np.array([float(sum(means_of_others) / 8 - mean) for mean in means_of_others])
    acceleration = (skew**3).sum() / (6 * (skew**2).sum() ** 1.5)
    shifted = bias + stats.norm.ppf([0.025, 0.975])
    levels = stats.norm.cdf(bias + shifted / (1 - acceleration * shifted))
    expected = np.quantile([float(value / 8) for value in sums], levels)
    found = ndcg_interval(y, s, discount="reciprocal", n_resamples=999, random_state=seed)
    assert found.confidence_interval == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.filterwarnings("ignore:Only 1 of 40 queries")
@pytest.mark.parametrize("outlier", ["poor", "good"])
def test_confidence_level_near_1_does_not_change_the_sides_of_bca(outlier):
    y, s = [[1, 0]] * 40, [[1, 0]] * 40
    s = np.negative(s) if outlier == "good" else np.array(s)
    s[0] *= -1  # one outlier gives the largest acceleration possible
    options = {"confidence_level": 1 - 1e-14, "n_resamples": 200, "random_state": 0}
    found = ndcg_interval(y, s, k=1, **options)
    assert found.confidence_interval.low < found.mean < found.confidence_interval.high


def test_n_resamples_may_be_too_few_for_bca():
    y, s = matrices(30)
    with pytest.raises(ValueError, match="n_resamples is too small for method='BCa'"):
        ndcg_interval(y, s, n_resamples=2, random_state=1)


def test_n_resamples_drawn_in_chunks_are_the_same(monkeypatch):
    whole = ndcg_interval(Y, S, n_resamples=200, random_state=1)
    monkeypatch.setattr("sklearn_ndcg.inference._statistics._CHUNK", 130)
    assert_same(ndcg_interval(Y, S, n_resamples=200, random_state=1), whole)


@pytest.mark.parametrize("make", [np.random.PCG64, np.random.default_rng])
def test_a_new_generator_draws_what_its_seed_draws(make):
    of_seed = ndcg_interval(Y, S, n_resamples=99, random_state=1)
    assert_same(ndcg_interval(Y, S, n_resamples=99, random_state=make(1)), of_seed)


@pytest.mark.parametrize(("undefined", "n_queries"), [("omit", 39), (0.5, 40)])
def test_undefined_queries_are_left_out_or_counted(undefined, n_queries):
    y = np.r_[Y[:3], 0 * Y[:1], Y[4:]]
    found = ndcg_interval(y, S, undefined=undefined, method="t")
    assert found.mean == ndcg_score(y, S, undefined=undefined)
    assert (found.n_queries, found.n_left_out) == (n_queries, 40 - n_queries)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"confidence_level": np.nextafter(1, 0)}, ValueError, "confidence_level"),
        ({"method": "bca"}, ValueError, "method must be one of 'BCa', 't'"),
        ({"n_resamples": 1}, ValueError, "n_resamples must be an integer from 2 to"),
        ({"n_resamples": 10**7 + 1}, ValueError, "n_resamples must be an integer from 2 to"),
        ({"random_state": "a"}, ValueError, "random_state must be an int"),
        ({"log_base": 2}, TypeError, "ndcg_interval has no option 'log_base'"),
    ],
)
def test_ndcg_interval_refuses(options, error, message):
    with pytest.raises(error, match=message):
        ndcg_interval(Y, S, **options)


@every_method
def test_clusters_of_one_query_each_are_none(method):
    rng = np.random.default_rng(0)
    options = {"method": method, "n_resamples": 499, "random_state": 1, "k": 5}
    options["sample_weight"] = rng.uniform(1, 2, 40)
    expected = ndcg_interval(Y, S, **options)
    assert expected.n_clusters == 40
    assert_same(ndcg_interval(Y, S, clusters=rng.permutation(40), **options), expected)


def test_clusters_of_equal_size_have_scipy_s_interval_of_their_means():
    c = np.arange(40) % 10
    theirs = bootstrap(np.bincount(c, ndcg_samples(Y, S)) / 4, np.ones(10))
    found = ndcg_interval(Y, S, clusters=c, n_resamples=999, random_state=1)
    assert found.confidence_interval == pytest.approx(tuple(theirs.confidence_interval), rel=1e-12)


def test_clusters_of_uneven_size_have_a_wider_interval():
    c = users()
    values = ndcg_samples(Y, S)
    weight = np.bincount(c).astype(float)
    means = np.bincount(c, values) / weight
    theirs = bootstrap(means, weight)
    found = ndcg_interval(Y, S, clusters=c, n_resamples=999, random_state=1)
    assert found.standard_error == pytest.approx(theirs.standard_error, rel=1e-12)
    # wider as t is wider than with equal sizes, and by the ratio of errors, which is then 1
    by_t = ndcg_interval(Y, S, clusters=c, method="t")
    n, share, d = len(weight), weight / weight.sum(), means - values.mean()
    ratio = by_t.standard_error / np.sqrt(n / (n - 1) * ((share * d) ** 2).sum())
    assert ratio > 1
    of_effective, of_number = (
        stats.t.ppf([0.025, 0.975], degrees) for degrees in (1 / (share**2).sum() - 1, n - 1)
    )
    z = (stats.norm.ppf([0.025, 0.975]) + of_effective - of_number) * ratio
    skewness = (d**3 @ share) / (d**2 @ share) ** 1.5
    a = skewness * (share**3).sum() / (share**2).sum() ** 1.5 / 6
    bias = stats.norm.ppf((theirs.bootstrap_distribution < values.mean()).mean())
    z = bias + (bias + z) / (1 - a * (bias + z))
    expected = np.quantile(theirs.bootstrap_distribution, stats.norm.cdf(z))
    assert found.confidence_interval == pytest.approx(tuple(expected), rel=1e-12)


def test_nearly_equal_clusters_have_nearly_the_interval_of_equal_ones():
    options = {"clusters": np.arange(40) % 10, "n_resamples": 999, "random_state": 1}
    equal = ndcg_interval(Y, S, **options)
    nearly = ndcg_interval(Y, S, **options, sample_weight=np.r_[1 + 1e-9, np.ones(39)])
    assert nearly.confidence_interval == pytest.approx(equal.confidence_interval, abs=1e-7)


@pytest.mark.parametrize(
    ("y", "clusters", "message"),
    [
        ([[0, 1]] * 24, None, "All 24 queries have the NDCG 0.63"),
        ([[1, 0], [0, 1]] * 12, np.arange(24) // 2, "All 12 clusters have the NDCG 0.815"),
    ],
    ids=["queries", "clusters"],
)
def test_queries_and_clusters_of_one_value_are_warned_of(y, clusters, message):
    with pytest.warns(UserWarning, match=message):
        found = ndcg_interval(y, [[2, 1]] * 24, clusters=clusters)
    assert found.confidence_interval == pytest.approx((found.mean, found.mean), abs=1e-15)


@every_method
@pytest.mark.parametrize("segment", ["a", "c"])
def test_segments_have_the_interval_of_their_queries_alone(method, segment):
    y, s = matrices(90)
    y[:7] = 0  # undefined
    segments = np.array(["b", "a", "c"])[np.arange(90) % 3]
    weight = np.arange(90) % 4 * np.where(segments == "c", 1e-200, 1)
    columns = {"sample_weight": weight}
    options = {"method": method, "n_resamples": 99, "random_state": 0, "undefined": "omit"}
    found = ndcg_by_segment(y, s, segments=segments, **columns, **options)
    assert found.segments == ["a", "b", "c"]
    assert_same(found.overall, ndcg_interval(y, s, **columns, **options))
    own = segments == segment
    columns = {name: values[own] for name, values in columns.items()}
    alone = ndcg_interval(y[own], s[own], **columns, **options)
    row = "abc".index(segment)
    assert found.mean[row] == pytest.approx(alone.mean, abs=1e-15)
    low, high = found.confidence_interval
    assert (low[row], high[row]) == pytest.approx(alone.confidence_interval)
    assert found.standard_error[row] == pytest.approx(alone.standard_error)
    assert found.n_queries[row] == alone.n_queries
    assert found.n_left_out[row] == alone.n_left_out


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


def test_segments_have_a_frame():
    found = ndcg_by_segment(*matrices(80), segments=np.arange(80) % 4, method="t")
    frame = found.to_frame()
    assert frame.index.tolist() == found.segments
    assert frame[["low", "high"]].to_numpy().T.tolist() == [*map(list, found.confidence_interval)]
    assert frame["n_queries"].tolist() == found.n_queries.tolist() == [20] * 4


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.PCG64, np.random.RandomState])
def test_random_state_of_segments_draws_each_from_a_generator_of_its_own(make):
    """A segment does not depend on what was drawn before it, with bit generators too."""
    y, s = matrices(90)
    segments = np.r_[np.zeros(20), np.ones(70)]
    options = {"n_resamples": 99}
    expected = ndcg_by_segment(y, s, segments=segments, random_state=make(0), **options)
    rest = y[10:], s[10:]
    found = ndcg_by_segment(*rest, segments=segments[10:], random_state=make(0), **options)
    assert found.confidence_interval.low[1] == expected.confidence_interval.low[1]


def test_segments_without_enough_queries():
    y, s = matrices(45)
    y[40] = y[43] = 0
    s[20:40] = y[20:40]  # their NDCG is 1
    segment = np.r_[np.zeros(20), np.ones(20), 2, np.full(2, 3), 4, 5].astype(int)
    message = "Intervals of 5 of the 6 segments, the first 1, are unreliable"
    with pytest.warns(UserWarning, match=message) as caught:
        found = ndcg_by_segment(y, s, segments=segment, undefined="omit", random_state=0)
    assert len(caught) == 1
    assert found.n_queries.tolist() == [20, 20, 0, 2, 0, 1]
    assert found.n_left_out.tolist() == [0, 0, 1, 0, 1, 0]
    assert np.isnan(found.mean).tolist() == [False, False, True, False, True, False]
    assert np.flatnonzero(np.isnan(found.confidence_interval.low)).tolist() == [2, 4, 5]


@pytest.mark.parametrize(
    ("segments", "options", "error", "message"),
    [
        (None, {}, ValueError, "segments is None: pass one id per row"),
        (np.full(40, np.nan), {}, ValueError, "segments has 40 missing ids"),
        (np.arange(40), {"segment": 1}, TypeError, "ndcg_by_segment has no option 'segment'"),
    ],
    ids=["none", "missing", "option"],
)
def test_ndcg_by_segment_refuses(segments, options, error, message):
    with pytest.raises(error, match=message):
        ndcg_by_segment(Y, S, segments=segments, **options)


def test_a_query_in_several_segments_is_refused():
    rows = {"groups": np.repeat(np.arange(40), 12), "segments": np.tile(np.arange(12), 40)}
    with pytest.raises(
        ValueError, match="40 queries .* more than one segment: query 0 .* 0 and 11"
    ):
        ndcg_by_segment(Y.ravel(), S.ravel(), **rows)


def compare_two(y, s, **ids):
    return compare_rankers(y, {"a": s, "b": -s}, **ids)


@pytest.mark.parametrize(
    ("function", "argument"),
    [(ndcg_interval, "clusters"), (ndcg_by_segment, "segments"), (compare_two, "clusters")],
)
def test_clusters_and_segments_in_another_order_are_refused(function, argument):
    with pytest.raises(ValueError, match=f"y_true and {argument} have the same labels"):
        function(pd.DataFrame(Y), S, **{argument: pd.Series(range(40))[::-1]})
