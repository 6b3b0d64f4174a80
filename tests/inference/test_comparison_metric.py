"""Rankers compared by another metric than NDCG: any function of one query."""

from functools import partial

import numpy as np
import pytest
from helpers import matrices
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import average_precision_score

from sklearn_ndcg import from_lists
from sklearn_ndcg.inference import IntervalDisplay, compare_rankers

Y, S = matrices(30)
Y = (Y > 2).astype(int)
SCORES = {"good": Y + S / 9, "poor": S, "other": -S}


def reciprocal_rank(y_true, y_score):
    ranked = y_true[np.argsort(-y_score, kind="stable")]
    return 1 / (1 + ranked.argmax()) if ranked.any() else np.nan


METRICS = {"average_precision_score": average_precision_score, "reciprocal_rank": reciprocal_rank}


@pytest.mark.parametrize("name", METRICS)
def test_means_intervals_and_tests_are_those_of_a_loop(name):
    values = {
        ranker: np.array([METRICS[name](*query) for query in zip(Y, score, strict=True)])
        for ranker, score in SCORES.items()
    }
    found = compare_rankers(Y, SCORES, metric=METRICS[name], test="t")
    assert found.metric == name
    for ranker, of_queries in values.items():
        np.testing.assert_array_equal(found.values[ranker], of_queries)
        assert found.mean[ranker] == pytest.approx(of_queries.mean(), rel=1e-14)
    test = stats.ttest_rel(values["good"], values["poor"])
    assert found.uncorrected_pvalue[0] == pytest.approx(test.pvalue, rel=1e-9)
    low, high = test.confidence_interval()
    assert found.confidence_interval.low[0] == pytest.approx(low, rel=1e-9)
    assert found.confidence_interval.high[0] == pytest.approx(high, rel=1e-9)
    header = repr(found).splitlines()[1]
    assert header.split() == [name]
    assert "NDCG" not in repr(found)


def test_values_may_be_larger_than_1():
    found = compare_rankers(Y, SCORES, metric=lambda y, s: 100 * reciprocal_rank(y, s), test="t")
    by_1 = compare_rankers(Y, SCORES, metric=reciprocal_rank, test="t")
    for name in ("interval", "confidence_interval"):
        ours, expected = getattr(found, name), getattr(by_1, name)
        np.testing.assert_allclose(ours.low, 100 * expected.low, rtol=1e-12)
        assert (ours.high >= 100 * expected.high - 1e-9).all()


def test_a_query_that_is_undefined_for_one_ranker_says_nothing():
    def fragile(y_true, y_score):
        return np.nan if y_score[0] < 0 else float(y_score[0])

    rng = np.random.default_rng(0)
    scores = {name: np.abs(rng.normal(size=Y.shape)) for name in "ab"}
    scores["a"][3, 0] = scores["b"][5, 0] = -1
    found = compare_rankers(Y, scores, metric=fragile, undefined="omit", test="t")
    assert (found.n_queries, found.n_left_out) == (28, 2)
    assert not {3, 5} & set(found.labels.tolist())
    with pytest.warns(UndefinedMetricWarning, match="fragile is undefined for 2 of 30 queries"):
        filled = compare_rankers(Y, scores, metric=fragile, test="t")
    assert (filled.values["a"][[3, 5]] == 0).all()
    assert (filled.values["b"][[3, 5]] == 0).all()


def test_a_metric_that_is_undefined_for_every_query():
    def never(y_true, y_score):
        return np.nan

    with pytest.raises(ValueError, match="At least 2 scored queries are needed, got 0 of 30"):
        compare_rankers(Y, SCORES, metric=never, undefined="omit", test="t")
    with pytest.raises(ValueError, match="never is undefined for 30 of 30 queries"):
        compare_rankers(Y, SCORES, metric=never, undefined="raise", test="t")
    found = compare_rankers(Y, SCORES, metric=never, undefined=0.5, test="t")
    assert found.mean == dict.fromkeys(SCORES, 0.5)
    assert found.pvalue.tolist() == [1, 1, 1]


def test_sample_weight():
    weight = np.arange(30) % 4
    found = compare_rankers(
        Y, SCORES, metric=average_precision_score, sample_weight=weight, test="t"
    )
    for name, score in SCORES.items():
        values = list(map(average_precision_score, Y, score))
        assert found.mean[name] == pytest.approx(np.average(values, weights=weight), rel=1e-14)
    assert found.left_out == {}
    assert found.n_left_out == 8


def test_segments_and_clusters():
    segment, cluster = np.arange(30) % 2, np.arange(30) // 2
    options = {"metric": average_precision_score, "test": "t"}
    found = compare_rankers(Y, SCORES, segments=segment, clusters=cluster, **options)
    odd = {name: score[1::2] for name, score in SCORES.items()}
    alone = compare_rankers(Y[1::2], odd, **options)
    np.testing.assert_allclose(found.by_segment[1].difference, alone.difference, rtol=1e-13)
    assert found.n_clusters == 15


def test_rows_of_lists_have_a_score_of_minus_infinity_for_what_was_not_returned():
    def share_found(y_true, y_score):
        return y_true[y_score > -np.inf].sum() / y_true.sum() if y_true.any() else np.nan

    truths = {f"u{i}": {"a": 1, "b": 1, "c": 0} for i in range(12)} | {"x": {"c": 0}}
    one = {f"u{i}": ["a", "z"] for i in range(12)} | {"x": ["c"]}
    two = {f"u{i}": ["c", "y", "b", "a"][: 2 + i % 3] for i in range(12)} | {"x": ["a"]}
    rows = from_lists(truths, rankers={"one": one, "two": two})
    options = {"metric": share_found, "undefined": "omit", "test": "t"}
    found = compare_rankers(rows, **options)
    assert found.mean == pytest.approx({"one": 0.5, "two": np.mean([0, 0.5, 1])})
    assert found.left_out == {"nothing relevant, or no weight": 1}
    segments = {query: "odd" if query[-1] in "13579" else "even" for query in truths}
    with pytest.warns(UserWarning, match="too few queries"):
        parts = compare_rankers(rows, segments=segments, **options).by_segment
    assert list(parts) == ["even", "odd"]
    assert (parts["even"].n_queries, parts["even"].n_left_out) == (6, 1)


@pytest.mark.filterwarnings("ignore:Of the first documents")
@pytest.mark.parametrize("unjudged", ["zero", "omit", "nan"])
@pytest.mark.parametrize("k", [1, 2, 4, None, "retrieved"])
def test_rows_of_lists_are_scored_at_their_cutoff(k, unjudged):
    """The first relevant document has rank 3, or rank 2 if the unjudged one before it goes."""
    rank = 2 if unjudged == "omit" else 3
    listed, other = ["y", "?", "x"], ["y"]
    rankers = {"one": [listed] * 12, "two": [other] * 12}
    rows = from_lists([{"x": 1, "y": 0}] * 12, rankers=rankers, k=k, unjudged=unjudged)

    def reciprocal_rank_of_returned(y_true, y_score):
        returned = y_score > -np.inf
        return np.nan_to_num(reciprocal_rank(np.nan_to_num(y_true[returned]), y_score[returned]))

    found = compare_rankers(rows, metric=reciprocal_rank_of_returned, test="t")
    assert found.mean == {"one": 0 if k in range(1, rank) else 1 / rank, "two": 0}
    judged = {1: 1, 2: 1 / 2}.get(k, 2 / 3)  # of what was returned, before anything is removed
    assert found.judged == pytest.approx({"one": judged, "two": 1})


def test_pictures_are_named_by_the_metric():
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the extra `plot` is not installed")
    pyplot.switch_backend("agg")
    found = compare_rankers(Y, SCORES, metric=reciprocal_rank, test="t")
    assert IntervalDisplay.from_result(found).ax_.get_xlabel() == "reciprocal_rank"
    pyplot.close("all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "map"}, "metric must be a function of y_true and y_score, got 'map'"),
        ({"metric": reciprocal_rank, "k": 3}, "k would be passed to reciprocal_rank: bind"),
        ({"metric": reciprocal_rank, "gain": "linear"}, "gain would be passed to reciprocal_rank"),
        ({"metric": reciprocal_rank, "unjudged": "zero"}, "unjudged would be passed to reciprocal"),
        ({"metric": partial(reciprocal_rank), "k": 3}, "bind the options of a metric by functools"),
    ],
)
def test_options_of_ndcg_are_refused(options, message):
    with pytest.raises(TypeError, match=message):
        compare_rankers(Y, SCORES, **options)


def test_options_of_a_metric_are_bound():
    def hits(y_true, y_score, k):
        return y_true[np.argsort(-y_score, kind="stable")[:k]].mean()

    found = compare_rankers(Y, SCORES, metric=partial(hits, k=2), test="t")
    assert found.metric == "hits"
    assert found.mean["poor"] == pytest.approx(
        np.mean([hits(*q, k=2) for q in zip(Y, S, strict=True)])
    )


def test_differences_lie_within_those_of_ndcg():
    """Two queries that differ by 1 and by -1 have an interval as wide as it can be."""
    y, up, down = [[1, 0], [1, 0]], [[2, 1], [1, 2]], [[1, 2], [2, 1]]
    with pytest.warns(UserWarning, match="unreliable below 10"):
        found = compare_rankers(y, {"a": up, "b": down}, k=1, test="t")
    assert [float(bound[0]) for bound in found.confidence_interval] == [-1, 1]
