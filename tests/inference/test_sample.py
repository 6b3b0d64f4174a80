"""Queries as a sample: weights and clusters count the same in intervals and comparisons."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers import assert_same, matrices, three_rankers, users
from scipy import stats

from sklearn_ndcg import ndcg_samples
from sklearn_ndcg.inference import compare_rankers, ndcg_interval

Y, S = matrices()


@pytest.mark.parametrize("state", [3, np.random.RandomState(3), np.random.default_rng(3), None])
def test_random_state_may_be(state):
    assert ndcg_interval(Y, S, random_state=state, n_resamples=99).n_queries == 40


@pytest.mark.parametrize("data", [matrices(1), (np.zeros((20, 5)), np.ones((20, 5)))])
def test_too_few_queries_are_refused(data):
    with pytest.raises(ValueError, match="At least 2 scored queries are needed"):
        ndcg_interval(*data, undefined="omit")
    with pytest.raises(ValueError, match="At least 2 scored queries"):
        compare_rankers(data[0], {"a": data[1], "b": data[1]}, undefined="omit")


HEAVY, FEW = np.r_[1e4, np.ones(39)], np.maximum(np.arange(40) - 28, 0)
WEAK = {
    "queries": (9, {}, "9 queries: intervals and tests"),
    "equal weights": (9, {"sample_weight": np.full(9, 0.1)}, "9 queries: intervals"),
    "sample_weight": (40, {"sample_weight": HEAVY}, "40 queries with uneven weights have an effective number of 1.01"),
    "clusters": (40, {"clusters": np.arange(40) % 8}, "40 queries in 8 clusters: intervals and tests .* below 10 clusters"),
    "uneven clusters": (40, {"clusters": FEW}, "40 queries in 12 clusters with uneven sizes have an effective number of 1.88"),
}  # fmt: skip


@pytest.mark.parametrize("case", WEAK)
def test_queries_clusters_and_sample_weight_that_are_worth_few_are_warned_of(case):
    n, options, message = WEAK[case]
    y, s = matrices(n)
    for function, scores in ((ndcg_interval, s), (compare_rankers, {"a": s, "b": -s})):
        with pytest.warns(UserWarning, match=message) as caught:
            function(y, scores, n_resamples=99, random_state=0, **options)
        assert [each.filename for each in caught] == [__file__]


def test_sample_weight_of_ten_equal_queries_is_enough_although_it_rounds():
    ndcg_interval(*matrices(10), sample_weight=np.full(10, 0.1), n_resamples=99)


def weighted_t(values, weight):
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
def test_sample_weight_in_student_s_t_by_hand(weight):
    y, s = matrices(20)
    center, error, _, degrees = weighted_t(ndcg_samples(y, s), weight)
    half = error * stats.t.ppf(0.95, degrees)
    found = ndcg_interval(y, s, sample_weight=weight, method="t", confidence_level=0.9)
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    expected = np.clip([center - half, center + half], 0, 1)
    assert found.confidence_interval == pytest.approx(expected, rel=1e-11)
    d = ndcg_samples(y, s) - ndcg_samples(y, -s)
    center, error, effect, degrees = weighted_t(d, weight)
    found = compare_rankers(y, {"a": s, "b": -s}, sample_weight=weight, test="t")
    assert found.statistic[0] == pytest.approx(center / error, rel=1e-11)
    assert found.pvalue[0] == pytest.approx(2 * stats.t.sf(center / error, degrees), rel=1e-11)
    half = error * stats.t.ppf(0.975, degrees)
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


@pytest.mark.parametrize("weighted", [False, True])
def test_clusters_in_student_s_t_are_those_of_statsmodels(weighted):
    y, scores = three_rankers(60)
    c = users(60, 15)
    weight = np.random.default_rng(2).uniform(0.5, 2, 60) if weighted else np.ones(60)
    options = {"k": 5, "clusters": c, "sample_weight": weight}
    sizes = np.array([weight[c == each].sum() for each in range(15)])
    degrees = sizes.sum() ** 2 / (sizes**2).sum() - 1
    values = {name: ndcg_samples(y, s, k=5) for name, s in scores.items()}
    center, error = crv3(values["good"], weight, c)
    found = ndcg_interval(y, scores["good"], method="t", **options)
    assert (found.n_queries, found.n_clusters) == (60, 15)
    assert found.mean == pytest.approx(center, rel=1e-13)
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
        # effect and wins describe queries
        deviation = np.sqrt(np.cov(d, aweights=weight))
        assert found.effect_size[i] == pytest.approx(center / deviation, rel=1e-11)
        assert found.wins[i] + found.ties[i] + found.losses[i] == 60


def test_clusters_of_any_ids_and_rows_in_any_order():
    options = {"n_resamples": 99, "random_state": 0}
    expected = ndcg_interval(Y, S, clusters=users(), **options)
    assert repr(expected).endswith("40 queries in 14 clusters")
    order = np.random.default_rng(0).permutation(480)
    query = np.repeat(np.arange(40), 12)[order]
    rows = {"y_true": Y.ravel()[order], "y_score": S.ravel()[order], "groups": query}
    c = users()[query]
    days = np.datetime64("2024-01-01") + c
    for ids in (days, pd.Series(days), [f"user {i:02}" for i in c], np.c_[c // 3, c % 3]):
        assert_same(ndcg_interval(**rows, clusters=ids, **options), expected)


def test_clusters_of_which_no_query_is_scored_are_not_counted():
    c = users()
    rest, options = c != 3, {"random_state": 0, "n_resamples": 99}
    y = np.where(rest[:, np.newaxis], Y, 0)
    found = ndcg_interval(y, S, clusters=c, undefined="omit", **options)
    assert found.n_clusters == 13
    expected = ndcg_interval(Y[rest], S[rest], clusters=c[rest], **options)
    assert found.confidence_interval == expected.confidence_interval
    weighted = ndcg_interval(y, S, clusters=c, sample_weight=rest, undefined=0, **options)
    assert weighted.confidence_interval == expected.confidence_interval


def test_clusters_of_rows_that_unjudged_omits():
    y = np.where(np.arange(12) < 3, np.nan, Y)
    query, options = np.repeat(np.arange(40), 12), {"unjudged": "omit", "method": "t"}
    rows = {"groups": query, "clusters": users()[query]}
    found = ndcg_interval(y.ravel(), S.ravel(), **rows, **options)
    assert_same(found, ndcg_interval(y, S, clusters=users(), **options))


FLAT = {"y_true": Y.ravel(), "groups": np.repeat(np.arange(40), 12)}
BAD_CLUSTERS = {
    "per query": (np.arange(40), ValueError, "clusters must have one id for each of the 480 rows, got 40"),
    "missing": (np.where(np.arange(480) < 12, np.nan, 1), ValueError, "clusters has 12 missing ids"),
    "none": ([None] * 480, ValueError, "clusters has 480 missing ids"),
    "mixed": ([1, "a"] * 240, TypeError, "clusters must be ids of one type"),
    "query in two": (np.repeat([0, 1], [30, 450]), ValueError, "query 2 is in clusters 0 and 1"),
    "rows": (np.arange(480), ValueError, "40 queries have rows in more than one cluster: query 0"),
    "one": (np.zeros(480), ValueError, "At least 2 scored clusters are needed.*got 1 of 40 queries"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_CLUSTERS)
def test_clusters_are_refused(case):
    clusters, error, message = BAD_CLUSTERS[case]
    with pytest.raises(error, match=message):
        ndcg_interval(**FLAT, y_score=S.ravel(), clusters=clusters)
    with pytest.raises(error, match=message):
        compare_rankers(y_scores={"a": S.ravel(), "b": -S.ravel()}, **FLAT, clusters=clusters)


def test_groups_and_clusters_in_another_order_are_refused():
    y, groups = map(pd.Series, FLAT.values())
    scores = {"a": S.ravel(), "b": pd.Series(S.ravel())[::-1]}
    with pytest.raises(ValueError, match="y_score and groups have the same labels"):
        compare_rankers(FLAT["y_true"], scores, groups=groups)
    with pytest.raises(ValueError, match="y_true and clusters have the same labels"):
        ndcg_interval(y, S.ravel(), groups=FLAT["groups"], clusters=groups[::-1])
