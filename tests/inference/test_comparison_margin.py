"""Verdicts by a margin."""

import warnings

import numpy as np
import pytest
from helpers import matrices
from scipy import stats

from sklearn_ndcg import from_lists, ndcg_samples
from sklearn_ndcg.inference import compare_rankers


def verdict_of(differences, margin, level=0.95):
    low, high = stats.ttest_1samp(differences, 0).confidence_interval(level)
    if np.ptp(differences) == 0:
        low = high = differences[0]
    if low > 0:
        return "better"
    if low > -margin:
        return "not worse"
    return "worse" if high < 0 else "undecided"


@pytest.mark.parametrize(
    ("pair", "n_queries", "verdict"),
    [
        (("best", "far"), 200, "better"),
        (("best", "same"), 200, "not worse"),
        (("far", "best"), 200, "worse"),
        (("near", "same"), 200, "worse"),
        (("best", "same"), 12, "undecided"),
    ],
)
def test_verdicts_are_those_of_the_interval(pair, n_queries, verdict):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, (200, 20))
    noise = {"best": 1, "same": 1, "near": 1.05, "far": 4}
    scores = {name: y + rng.normal(0, scale, y.shape) for name, scale in noise.items()}
    y, scores = y[:n_queries], {name: scores[name][:n_queries] for name in pair}
    found = compare_rankers(
        y, scores, baseline=pair[1], test="t", margin=0.01, confidence_level=0.9, k=10
    )
    differences = np.subtract(*(ndcg_samples(y, score, k=10) for score in scores.values()))
    expected = stats.ttest_1samp(differences, -0.01, alternative="greater")
    assert found.noninferiority_pvalue[0] == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.verdict == [verdict]
    assert verdict == verdict_of(differences, 0.01, 0.9)
    assert (expected.pvalue < 0.05) == (verdict in ("better", "not worse"))


def test_a_margin_of_equal_rankers():
    y, s = matrices()
    found = compare_rankers(y, {"a": s, "b": s}, baseline="b", margin=0.01)
    assert found.verdict == ["not worse"]
    assert found.noninferiority_pvalue.tolist() == [0]
    assert compare_rankers(y, {"a": s, "b": s}).verdict is None


def test_a_ranker_that_is_worse_by_the_margin_is_worse():
    y, scores = np.tile([1, 0], (12, 1)), {"a": np.ones((12, 2)), "b": np.zeros((12, 2))}
    found = compare_rankers(
        y, scores, metric=lambda y, s: 1 - s[0] / 4, baseline="b", margin=0.25, test="t"
    )
    assert found.difference.tolist() == [-0.25]
    assert found.verdict == ["worse"]


def test_a_ranker_that_is_worse_within_the_margin_is_not_worse():
    loss = np.linspace(0.1, 0.2, 12)
    y, scores = np.tile([1, 0], (12, 1)), {"a": np.outer(loss, [1, 0]), "b": np.zeros((12, 2))}
    found = compare_rankers(
        y, scores, metric=lambda y, s: 1 - s[0], baseline="b", margin=0.25, test="t"
    )
    assert found.confidence_interval.high[0] < 0
    assert found.verdict == ["not worse"]


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
@pytest.mark.filterwarnings("ignore:Of the first documents")
def test_verdicts_are_those_of_the_interval_where_documents_are_unjudged(unjudged):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, (30, 9)).astype(float)
    scores = {name: y + rng.normal(0, noise, y.shape) for name, noise in (("a", 1), ("b", 3))}
    y[:, 3:] = np.where(rng.random((30, 6)) < 0.3, np.nan, y[:, 3:])
    options = {"k": 5, "unjudged": unjudged, "undefined": 0.0}
    found = compare_rankers(y, scores, baseline="b", margin=0.05, test="t", **options)
    differences = np.subtract(*(ndcg_samples(y, score, **options) for score in scores.values()))
    assert found.verdict == [verdict_of(differences, 0.05)]


def test_verdicts_of_sets_of_relevant_documents_come_without_a_warning():
    liked = [{i % 8, (i + 3) % 8} for i in range(30)]
    lists = {"one": [[0, 1, 2, 3]] * 30, "two": [[i % 8, (i + 3) % 8] for i in range(30)]}
    with warnings.catch_warnings(action="error"):
        found = compare_rankers(
            from_lists(liked, rankers=lists), baseline="two", margin=0.05, test="t"
        )
    assert found.verdict == ["worse"]


def test_a_verdict_does_not_depend_on_the_order_of_the_rankers():
    """Without a baseline the first would be judged: a gate would let a worse one through."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, (200, 20))
    scores = {name: y + rng.normal(0, noise, y.shape) for name, noise in (("old", 1), ("new", 4))}
    for order in (1, -1):
        found = compare_rankers(y, dict([*scores.items()][::order]), baseline="old", margin=0.01)
        assert (found.pairs, found.verdict) == ([("new", "old")], ["worse"])
    with pytest.raises(
        ValueError, match=r"A margin needs a baseline: pass baseline=.* \['old', 'n"
    ):
        compare_rankers(y, scores, margin=0.01)
