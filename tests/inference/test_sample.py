"""Queries as a sample: weights and clusters count the same in intervals and comparisons."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers import assert_same, matrices, three_rankers, users
from scipy import stats

from sklearn_ndcg import ndcg_samples
from sklearn_ndcg.inference import compare_rankers, ndcg_by_segment, ndcg_interval

Y, S = matrices()


def compare_two(y, s, **options):
    return compare_rankers(y, {"a": s, "b": -s}, **options)


@pytest.mark.parametrize("function", [ndcg_interval, compare_two])
@pytest.mark.parametrize(
    "data", [matrices(1), (np.zeros((20, 5)), np.ones((20, 5)))], ids=["one", "undefined"]
)
def test_too_few_queries_are_refused(data, function):
    with pytest.raises(ValueError, match="At least 2 scored queries are needed"):
        function(*data, undefined="omit")


@pytest.mark.parametrize("function", [ndcg_interval, compare_two])
def test_weights_that_are_all_0_are_refused(function):
    with pytest.raises(ValueError, match="sample_weight is 0 for every query"):
        function(*matrices(20), sample_weight=np.zeros(20))


HEAVY = np.r_[1e4, np.ones(39)]
ALIKE = np.r_[np.full(4, np.nextafter(0.3, 1)), np.full(5, 0.3)]


WEAK = {
    "queries": (9, {}, "9 queries: intervals and tests"),
    "weights": (40, {"sample_weight": HEAVY}, "40 queries .* effective number of 1.01"),
    "weights equal but for rounding": (9, {"sample_weight": ALIKE}, "9 queries: intervals"),
    "clusters": (40, {"clusters": np.arange(40) % 8}, "in 8 clusters: .* below 10 clusters"),
    "clusters of the scored": (
        40,
        {"clusters": np.arange(40) % 9, "sample_weight": np.r_[np.zeros(4), np.ones(36)]},
        "36 queries in 9 clusters: ",
    ),
    "uneven clusters": (
        40,
        {"clusters": np.maximum(np.arange(40) - 28, 0)},
        "40 queries in 12 clusters with uneven sizes have an effective number of 1.88",
    ),
}


@pytest.mark.parametrize(("n", "options", "message"), WEAK.values(), ids=WEAK)
def test_queries_that_are_worth_few_are_warned_of(n, options, message):
    with pytest.warns(UserWarning, match=message):
        ndcg_interval(*matrices(n), n_resamples=99, random_state=0, **options)


@pytest.mark.parametrize("first", [np.nextafter(0.3, 1), 0.35, 0.4])
def test_ten_queries_of_nearly_equal_weight_are_enough(first):
    weight = np.r_[np.full(3, first), np.full(7, 0.3)]
    ndcg_interval(*matrices(10), sample_weight=weight, n_resamples=99)


def of_values(values, function=ndcg_interval, **options):
    """An interval of these values, one for each query."""
    scores = np.c_[values, values]
    options = {"metric": lambda y, s: s[0], "n_resamples": 199, "random_state": 0} | options
    return function(np.ones(scores.shape), scores, **options)


RARE = {
    "mostly 1": (np.r_[np.linspace(0, 0.5, 3), np.ones(27)], {}, "3 of 30 queries differ from 1.0"),
    "rare hits": (np.r_[np.zeros(91), np.ones(9)], {}, "9 of 100 queries differ from 0.0"),
    "large": (np.r_[1e9 + 1, np.full(19, 2e9)], {}, "1 of 20 queries differ from 2000000000.0"),
    "clusters": (
        np.r_[np.linspace(0, 0.5, 10), np.ones(30)],
        {"clusters": np.arange(40) // 2},
        "5 of 20 clusters differ from 1.0",
    ),
}


@pytest.mark.parametrize("method", ["BCa", "t"])
@pytest.mark.parametrize(("values", "options", "message"), RARE.values(), ids=RARE)
def test_few_queries_that_differ_from_most_are_warned_of(values, options, message, method):
    with pytest.warns(UserWarning, match=message) as caught:
        of_values(values, method=method, **options)
    assert len(caught) == 1


@pytest.mark.parametrize(
    "values",
    [
        np.r_[np.linspace(0, 0.5, 10), np.ones(90)],  # ten differ
        np.r_[np.linspace(0, 0.5, 8), np.ones(8)],  # no more than half are one
        np.linspace(0, 1, 12),
    ],
    ids=["ten", "half", "all"],
)
def test_other_values_are_not_warned_of(values):
    of_values(values)


@pytest.mark.parametrize(
    ("n", "weight"), [(9, None), (30, np.r_[1e4, np.ones(29)])], ids=["few", "worth few"]
)
def test_few_queries_are_warned_of_once(n, weight):
    with pytest.warns(UserWarning, match="below 10 queries") as caught:
        of_values(np.r_[0.5, 0.2, np.ones(n - 2)], sample_weight=weight)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.linspace(0, 1, 25), "too few queries[.]"),
        (np.r_[np.linspace(0, 1, 25), np.ones(15)], "too few queries that differ"),
    ],
    ids=["queries", "values"],
)
def test_the_warning_of_segments_says_what_is_too_little(values, message):
    segments = np.arange(len(values)) // 20
    with pytest.warns(UserWarning, match=f"segments, the first 1, .*: {message}"):
        of_values(values, ndcg_by_segment, segments=segments)


def weighted_t(values, weight):
    """Mean, error, effect and degrees of freedom, in exact arithmetic except for the roots.

    The error is that of leaving out each query in turn; where fewer than two queries decide, no
    less than the weighted standard deviation over the root of their effective number.
    """
    values, weight = (list(map(Fraction, numbers.tolist())) for numbers in (values, weight))
    n, total = len(values), sum(weight)

    def average(left_out=None):
        kept = [i for i in range(n) if i != left_out]
        return sum(values[i] * weight[i] for i in kept) / sum(weight[i] for i in kept)

    center, share = average(), [w / total for w in weight]
    effective = 1 / sum(h**2 for h in share)
    variance = sum((average(i) - center) ** 2 for i in range(n)) * Fraction(n - 1, n)
    squares = sum(h * (v - center) ** 2 for h, v in zip(share, values, strict=True))
    spread = squares / sum(h * (1 - h) for h in share)
    if effective < 2:
        variance = max(variance, spread / effective)
    effect = float(center) / float(spread) ** 0.5
    return float(center), float(variance) ** 0.5, effect, float(max(effective - 1, 1))


WEIGHTS = {
    "lognormal": np.random.default_rng(5).lognormal(size=20),
    "1e17 to 1": np.r_[np.ones(19), 1e17],
    "two heavy": np.r_[1e6, np.ones(18), 1e6],
    "fewer than two": np.r_[3, np.ones(18) / 50, 1],
}
every_weight = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)


@every_weight
@pytest.mark.filterwarnings("ignore:20 queries")
def test_sample_weight_in_an_interval_of_t_by_hand(weight):
    y, s = matrices(20)
    center, error, _, degrees = weighted_t(ndcg_samples(y, s), weight)
    half = error * stats.t.ppf(0.95, degrees)
    found = ndcg_interval(y, s, sample_weight=weight, method="t", confidence_level=0.9)
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    expected = np.clip([center - half, center + half], 0, 1)
    assert found.confidence_interval == pytest.approx(expected, rel=1e-11)


@every_weight
@pytest.mark.filterwarnings("ignore:20 queries")
def test_sample_weight_in_a_comparison_by_t_by_hand(weight):
    y, s = matrices(20)
    d = ndcg_samples(y, s) - ndcg_samples(y, -s)
    center, error, effect, degrees = weighted_t(d, weight)
    half = error * stats.t.ppf(0.975, degrees)
    found = compare_two(y, s, sample_weight=weight, test="t")
    assert found.statistic[0] == pytest.approx(center / error, rel=1e-11)
    assert found.pvalue[0] == pytest.approx(2 * stats.t.sf(center / error, degrees), rel=1e-11)
    assert found.confidence_interval.high[0] == pytest.approx(min(center + half, 1), rel=1e-11)
    assert found.effect_size[0] == pytest.approx(effect, rel=1e-11)


def test_sample_weight_of_0_leaves_queries_out():
    found = ndcg_interval(Y, S, sample_weight=np.r_[np.zeros(20), np.ones(20)], method="t")
    assert (found.n_queries, found.n_left_out) == (20, 20)
    expected = ndcg_interval(Y[20:], S[20:], method="t")
    assert found.confidence_interval == pytest.approx(expected.confidence_interval, abs=1e-14)


def crv3(values, weight, clusters):
    """Mean and cluster-robust error of the leave-one-cluster-out jackknife, by statsmodels."""
    statsmodels = pytest.importorskip("statsmodels.api", "0.15", reason="no statsmodels 0.15")
    covariance = pytest.importorskip("statsmodels.stats.sandwich_covariance").cov_cluster
    fitted = statsmodels.WLS(values, np.ones(len(values)), weight).fit()
    error = np.sqrt(covariance(fitted, clusters, crv_type="cluster-crv3")[0, 0])
    return fitted.params[0], error


@pytest.fixture
def clustered():
    """Data with clusters and weights, the latter as options, and the degrees of freedom."""
    y, scores = three_rankers(60)
    weight = np.random.default_rng(2).uniform(0.5, 2, 60)
    clusters = users(60, 15)
    sizes = np.bincount(clusters, weight)
    options = {"clusters": clusters, "sample_weight": weight, "k": 5}
    return y, scores, options, sizes.sum() ** 2 / (sizes**2).sum() - 1


def test_clusters_in_an_interval_of_t_are_those_of_statsmodels(clustered):
    y, scores, options, degrees = clustered
    values = ndcg_samples(y, scores["good"], k=5)
    center, error = crv3(values, options["sample_weight"], options["clusters"])
    found = ndcg_interval(y, scores["good"], method="t", **options)
    assert (found.n_queries, found.n_clusters) == (60, 15)
    assert found.mean == pytest.approx(center, rel=1e-13)
    assert found.standard_error == pytest.approx(error, rel=1e-11)
    expected = stats.t.interval(0.95, degrees, center, error)
    assert found.confidence_interval == pytest.approx(expected, rel=1e-12)


def test_clusters_in_a_comparison_by_t_are_those_of_statsmodels(clustered):
    y, scores, options, degrees = clustered
    d = ndcg_samples(y, scores["good"], k=5) - ndcg_samples(y, scores["poor"], k=5)
    weight = options["sample_weight"]
    center, error = crv3(d, weight, options["clusters"])
    found = compare_rankers(y, scores, test="t", **options)
    assert found.df == pytest.approx(degrees, rel=1e-13)
    assert found.difference[0] == pytest.approx(center, rel=1e-11)
    assert found.statistic[0] == pytest.approx(center / error, rel=1e-10)
    pvalue = 2 * stats.t.sf(abs(center / error), degrees)
    assert found.uncorrected_pvalue[0] == pytest.approx(pvalue, rel=1e-9)
    low, _ = stats.t.interval(0.95, degrees, center, error)
    assert found.confidence_interval.low[0] == pytest.approx(low, rel=1e-10)
    # effect and wins describe queries
    deviation = np.sqrt(np.cov(d, aweights=weight))
    assert found.effect_size[0] == pytest.approx(center / deviation, rel=1e-11)
    assert found.wins[0] + found.ties[0] + found.losses[0] == 60


@pytest.mark.parametrize(
    "make",
    [lambda c: [f"user {number:02}" for number in c], lambda c: np.c_[c // 3, c % 3]],
    ids=["text", "two columns"],
)
def test_clusters_of_any_ids_and_rows_in_any_order(make):
    options = {"n_resamples": 99, "random_state": 0}
    expected = ndcg_interval(Y, S, clusters=users(), **options)
    assert expected.n_clusters == 14
    order = np.random.default_rng(0).permutation(480)
    query = np.repeat(np.arange(40), 12)[order]
    rows = {"groups": query, "clusters": make(users()[query])}
    assert_same(ndcg_interval(Y.ravel()[order], S.ravel()[order], **rows, **options), expected)


@pytest.mark.parametrize("undefined", [0, "omit"])
def test_clusters_of_which_no_query_is_scored_are_not_counted(undefined):
    rest = users() != 3
    y = np.where(rest[:, np.newaxis], Y, 0)
    options = {"undefined": undefined, "sample_weight": rest if undefined == 0 else None}
    found = ndcg_interval(y, S, clusters=users(), random_state=0, n_resamples=99, **options)
    own = {"clusters": users()[rest], "random_state": 0, "n_resamples": 99}
    expected = ndcg_interval(Y[rest], S[rest], **own)
    assert found.n_clusters == 13
    assert found.confidence_interval == expected.confidence_interval


def test_clusters_of_rows_that_unjudged_omits():
    y = np.where(np.arange(12) < 3, np.nan, Y)
    query, options = np.repeat(np.arange(40), 12), {"unjudged": "omit", "method": "t"}
    rows = {"groups": query, "clusters": users()[query]}
    found = ndcg_interval(y.ravel(), S.ravel(), **rows, **options)
    assert_same(found, ndcg_interval(y, S, clusters=users(), **options))


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (np.arange(40), "clusters must have one id for each of the 480 rows, got 40"),
        (np.where(np.arange(480) < 12, np.nan, 1), "clusters has 12 missing ids"),
        (np.repeat([0, 1], [30, 450]), "query 2 is in clusters 0 and 1"),
        (np.zeros(480), "At least 2 scored clusters are needed.*got 1 of 40 queries"),
    ],
    ids=["per query", "missing", "query in two", "one"],
)
def test_clusters_are_refused(clusters, message):
    groups = np.repeat(np.arange(40), 12)
    with pytest.raises(ValueError, match=message):
        ndcg_interval(Y.ravel(), S.ravel(), groups=groups, clusters=clusters)


def test_scores_of_one_ranker_in_another_order_are_refused():
    groups = pd.Series(np.repeat(np.arange(40), 12))
    scores = {"a": S.ravel(), "b": pd.Series(S.ravel())[::-1]}
    with pytest.raises(ValueError, match=r"y_scores\['b'\] and groups have the same labels"):
        compare_rankers(Y.ravel(), scores, groups=groups)


def test_scores_of_two_rankers_in_different_orders_are_refused():
    groups, in_order = np.repeat(np.arange(40), 12), pd.Series(S.ravel())
    scores = {"a": in_order, "b": in_order[::-1]}
    with pytest.raises(ValueError, match=r"y_scores\['a'\] and y_scores\['b'\] have the same"):
        compare_rankers(Y.ravel(), scores, groups=groups)
