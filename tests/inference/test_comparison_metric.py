"""Rankers compared by another metric than NDCG: any function of one query."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from helpers import matrices
from oracles import exact_pvalue
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


def in_a_loop(metric, scores):
    return np.array([metric(*query) for query in zip(Y, scores, strict=True)])


@pytest.mark.parametrize("metric", [average_precision_score, reciprocal_rank])
def test_means_intervals_and_tests_are_those_of_a_loop(metric):
    values = {ranker: in_a_loop(metric, scores) for ranker, scores in SCORES.items()}
    found = compare_rankers(Y, SCORES, metric=metric, test="t")
    assert found.metric == metric.__name__
    assert "NDCG" not in repr(found)
    np.testing.assert_array_equal([*found.values.values()], [*values.values()])
    means = {ranker: of_queries.mean() for ranker, of_queries in values.items()}
    assert found.mean == pytest.approx(means, rel=1e-14)
    test = stats.ttest_rel(values["good"], values["poor"])
    assert found.uncorrected_pvalue[0] == pytest.approx(test.pvalue, rel=1e-9)
    bounds = [bound[0] for bound in found.confidence_interval]
    assert bounds == pytest.approx([*test.confidence_interval()], rel=1e-9)


@pytest.mark.parametrize("interval", ["interval", "confidence_interval"])
def test_values_may_be_larger_than_1(interval):
    found = compare_rankers(Y, SCORES, metric=lambda y, s: 100 * reciprocal_rank(y, s), test="t")
    by_1 = compare_rankers(Y, SCORES, metric=reciprocal_rank, test="t")
    ours, expected = getattr(found, interval), getattr(by_1, interval)
    np.testing.assert_allclose(ours.low, 100 * expected.low, rtol=1e-12)
    assert (ours.high >= 100 * expected.high - 1e-9).all()


def test_a_query_that_is_undefined_for_one_ranker_has_that_value_for_it_alone():
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
    assert filled.values["a"][[3, 5]].tolist() == [0, scores["a"][5, 0]]
    assert filled.values["b"][[3, 5]].tolist() == [scores["b"][3, 0], 0]


@pytest.mark.filterwarnings("ignore:Of the first documents")
@pytest.mark.parametrize(
    ("k", "unjudged"),
    [(1, "omit"), (2, "zero"), (4, "zero"), (None, "omit"), ("retrieved", "zero")],
)
def test_rows_of_lists_are_scored_at_their_cutoff(k, unjudged):
    """The first relevant document has rank 3, or rank 2 if the unjudged one before it goes."""
    rank = 2 if unjudged == "omit" else 3
    rankers = {"one": [["y", "?", "x"]] * 12, "two": [["y"]] * 12}
    rows = from_lists([{"x": 1, "y": 0}] * 12, rankers=rankers, k=k, unjudged=unjudged)

    def reciprocal_rank_of_returned(y_true, y_score):
        returned = y_score > -np.inf
        return np.nan_to_num(reciprocal_rank(np.nan_to_num(y_true[returned]), y_score[returned]))

    found = compare_rankers(rows, metric=reciprocal_rank_of_returned, test="t")
    assert found.mean == {"one": 0 if k in range(1, rank) else 1 / rank, "two": 0}


@pytest.mark.filterwarnings("ignore:'none' has lists")
def test_what_was_not_retrieved_comes_last_the_least_relevant_first():
    """A function that takes the order for a ranking sees no relevant document too early."""
    rankers = {"one": [["c", "b"]] * 12, "none": [[]] * 12}
    rows = from_lists([{"a": 3, "b": 2, "c": 0, "d": 1}] * 12, rankers=rankers)
    for rank, grade in enumerate([0, 2, 1, 3]):
        found = compare_rankers(rows, metric=lambda y, s, at=rank: y[at] + 1, test="t")
        assert found.mean == {"one": grade + 1, "none": 0}


@pytest.mark.filterwarnings("ignore:'none' has lists")
def test_a_query_of_which_nothing_was_retrieved_has_the_value_0():
    rankers = {"one": [["a"]] * 12, "none": [[]] * 12}
    rows = from_lists([{"a": 1}] * 12, rankers=rankers)

    def metric(y_true, y_score):
        y_score[:] = 0  # what it writes is not read
        return 1.0

    found = compare_rankers(rows, metric=metric, test="t")
    assert found.mean == {"one": 1, "none": 0}


def test_pictures_are_named_by_the_metric():
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the extra `plot` is not installed")
    pyplot.switch_backend("agg")
    found = compare_rankers(Y, SCORES, metric=reciprocal_rank, test="t")
    assert IntervalDisplay.from_result(found).ax_.get_xlabel() == "reciprocal_rank"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "map"}, "metric must be a function of y_true and y_score, got 'map'"),
        ({"metric": reciprocal_rank, "k": 3}, "k would be passed to reciprocal_rank: bind"),
        ({"metric": reciprocal_rank, "gain": "linear"}, "gain would be passed to reciprocal_rank"),
        ({"metric": {"MRR": reciprocal_rank}}, "metric must be a function .* got {'MRR'"),
        ({"metric": reciprocal_rank, "qid": 1}, "no option 'qid'.* Pass groups"),
        ({"metric": reciprocal_rank, "basline": 1}, "no option.* you mean baseline"),
    ],
)
def test_options_of_ndcg_are_refused(options, message):
    with pytest.raises(TypeError, match=message):
        compare_rankers(Y, SCORES, **options)


def test_options_of_a_metric_are_bound():
    def hits(y_true, y_score, k):
        return y_true[np.argsort(-y_score, kind="stable")[:k]].mean()

    metric = partial(hits, k=2)
    found = compare_rankers(Y, SCORES, metric=metric, test="t")
    assert found.metric == "hits"
    assert found.mean["poor"] == pytest.approx(in_a_loop(metric, S).mean())


def first_score(y_true, y_score):
    return y_score[0]


def of_values(first, second, metric=first_score, **options):
    """A comparison of two rankers with these values, one for each query."""
    scores = {"a": np.c_[first, first], "b": np.c_[second, second]}
    options = {"test": "t", "random_state": 0} | options
    return compare_rankers(np.ones((len(first), 2)), scores, metric=metric, **options)


@pytest.mark.parametrize("clusters", [None, np.arange(400) // 4], ids=["queries", "clusters"])
@pytest.mark.parametrize("scale", [1e5, 1, 1e-13])
def test_rankers_that_differ_by_rounding_are_equal_at_any_scale(scale, clusters):
    """The same numbers, added in another order."""
    rng = np.random.default_rng(0)
    numbers = rng.random((400, 8)) * scale
    totals = [np.cumsum(rng.permuted(numbers, axis=1), axis=1)[:, -1] for _ in "ab"]
    assert (totals[0] != totals[1]).any()
    found = of_values(*totals, clusters=clusters)
    assert (found.wins[0], found.ties[0], found.losses[0]) == (0, 400, 0)
    assert (found.difference[0], found.pvalue[0]) == (0, 1)


@pytest.mark.parametrize("test", ["t", "permutation"])
@pytest.mark.parametrize("scale", [2.0**40, 2.0**-44, 2.0**-300])
def test_a_comparison_has_the_scale_of_the_metric(scale, test):
    first, second = np.random.default_rng(0).random((2, 12))
    expected = of_values(first, second, test=test)
    found = of_values(scale * first, scale * second, test=test)
    assert found.difference[0] == scale * expected.difference[0] != 0
    assert found.pvalue[0] == pytest.approx(expected.pvalue[0], rel=1e-12)
    assert (found.wins, found.ties, found.losses) == (expected.wins, expected.ties, expected.losses)


@pytest.mark.parametrize("added", [0, 1e3, 1e6])
def test_exact_permutations_find_ties_of_large_values(added):
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 10, (2, 10)) / 10
    tenths = [[round(10 * value) for value in values] for values in (first, second)]
    differences = [Fraction(a - b, 10) for a, b in zip(*tenths, strict=True)]
    found = of_values(first + added, second + added, test="permutation")
    assert found.pvalue[0] == exact_pvalue(differences, [1] * 10)
