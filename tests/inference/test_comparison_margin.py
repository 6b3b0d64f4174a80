"""Verdicts by a margin, and which of them unjudged documents could turn."""

import numpy as np
import pytest
from helpers import compare_lists, ideal, matrices
from scipy import stats

from sklearn_ndcg import ndcg_samples
from sklearn_ndcg.inference import compare_rankers

# lists drawn at random are only partly judged
pytestmark = pytest.mark.filterwarnings("ignore:(Of|.* none of) the first documents")
UNJUDGED = "undecided: unjudged"


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
    found = compare_rankers(y, scores, test="t", margin=0.01, confidence_level=0.9, k=10)
    differences = np.subtract(*(ndcg_samples(y, score, k=10) for score in scores.values()))
    expected = stats.ttest_1samp(differences, -0.01, alternative="greater")
    assert found.noninferiority_pvalue[0] == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.verdict == [verdict]
    assert verdict == verdict_of(differences, 0.01, 0.9)
    assert (expected.pvalue < 0.05) == (verdict in ("better", "not worse"))


def test_a_margin_of_equal_rankers():
    y, s = matrices()
    found = compare_rankers(y, {"a": s, "b": s}, margin=0.01)
    assert found.verdict == ["not worse"]
    assert found.noninferiority_pvalue.tolist() == [0]
    assert compare_rankers(y, {"a": s, "b": s}).verdict is None


def test_a_ranker_that_is_worse_by_the_margin_is_worse():
    y, scores = np.tile([1, 0], (12, 1)), {"a": np.ones((12, 2)), "b": np.zeros((12, 2))}
    found = compare_rankers(y, scores, metric=lambda y, s: 1 - s[0] / 4, margin=0.25, test="t")
    assert found.difference.tolist() == [-0.25]
    assert found.verdict == ["worse"]


# Unjudged documents


def in_favour(y, first, second, k):
    """Differences if what is unjudged in the first's top k is as good as the best, and no other."""
    for grades, *scores in zip(y, first, second, strict=True):
        a, b = (np.argsort(-score)[:k] for score in scores)
        at_zero = np.nan_to_num(grades)
        at_best = at_zero.copy()
        at_best[a[np.isnan(grades[a])]] = np.nanmax(grades)
        best = ideal(np.sort(at_best)[::-1][:k])
        yield (ideal(at_best[a]) - ideal(at_zero[b])) / best if best else 0.0


def holes(seed, share, n_queries=30, noise=1.0):
    """Grades, a share of which is missing, and the scores of two rankers."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, (n_queries, 9)).astype(float)
    a, b = y + rng.normal(0, 1, y.shape), y + rng.normal(0, noise, y.shape)
    y[:, 3:] = np.where(rng.random((n_queries, 6)) < share, np.nan, y[:, 3:])
    return y, {"a": a, "b": b}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("k", "unjudged"), [(5, "omit"), (None, "zero"), (3, "zero")])
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_verdicts_that_judging_could_turn_are_undecided(share, k, unjudged, seed):
    """Both cases of a loop: what is unjudged among the first k favours one ranker or the other."""
    y, scores = holes(seed, share, noise=1 + seed % 3)
    options = {"k": k, "unjudged": unjudged, "undefined": 0.0}
    result = compare_rankers(y, scores, margin=0.05, test="t", **options)
    present = np.subtract(*(ndcg_samples(y, score, **options) for score in scores.values()))
    up = np.array([*in_favour(y, scores["a"], scores["b"], k)])
    down = -np.array([*in_favour(y, scores["b"], scores["a"], k)])
    verdict, *others = (verdict_of(differences, 0.05) for differences in (present, up, down))
    is_sure = {*others} == {verdict}
    assert result.verdict == [verdict if is_sure else UNJUDGED]
    assert (UNJUDGED in repr(result)) == (not is_sure)


@pytest.mark.parametrize(("pair", "present"), [("ab", "worse"), ("ba", "better")])
def test_verdicts_know_that_a_larger_ideal_shrinks_the_other_ranker(pair, present):
    """If the document that only `a` returned is relevant, the NDCG of both is 1 / ideal(1, 1)."""
    y = np.tile([1, 0, np.nan, np.nan], (12, 1))
    scores = {"a": np.tile([0, 2, 1, 3], (12, 1)), "b": np.tile([3, 2, 1, 0], (12, 1))}
    scores = {name: scores[name] for name in pair}
    options = {"k": 2, "margin": 0.05, "test": "t"}
    assert compare_rankers(y, scores, unjudged="zero", **options).verdict == [UNJUDGED]
    y[:, 2:] = 0
    assert compare_rankers(y, scores, **options).verdict == [present]


def test_verdicts_know_that_judging_may_enlarge_the_ideal():
    """If what only `a` returned, at rank 2, is relevant, `a` has 0.63 / 1.63, and `b` 1 / 1.63."""
    y = np.tile([1, 0, np.nan, np.nan], (12, 1))
    scores = {"a": np.tile([1, 3, 2, 0], (12, 1)), "b": np.tile([3, 2, 1, 0], (12, 1))}
    options = {"k": 2, "margin": 0.3, "test": "t", "unjudged": "zero"}
    assert compare_rankers(y, scores, **options).verdict == [UNJUDGED]


AT_5 = {"k": 5, "margin": 0.05, "test": "t", "undefined": 0.0}


def test_verdicts_do_not_count_what_nobody_liked_as_unjudged():
    """If all judged documents are relevant, unjudged just means not relevant."""
    liked = {query: {"a": 1, "b": 1} for query in range(25)}
    lists = {name: dict.fromkeys(liked, (name, "a")) for name in ("new", "old")}
    with pytest.warns(UserWarning, match="All judged documents are relevant"):
        found = compare_lists(liked, lists, **AT_5)
    assert "unjudged" not in found.verdict[0]
    graded = {q: grades | {"x": 0} for q, grades in liked.items()}
    assert compare_lists(graded, lists, **AT_5).verdict == [UNJUDGED]


def test_verdicts_of_segments_and_clusters_know_what_is_unjudged():
    y, scores = holes(0, 0.1, 90)
    y[:30] = np.nan_to_num(y[:30])
    segment, cluster = np.arange(90) // 30, np.arange(90) // 2
    options = {"k": 4, "margin": 0.05, "test": "t", "unjudged": "zero", "undefined": 0.0}
    found = compare_rankers(y, scores, segments=segment, clusters=cluster, **options)
    verdicts = {number: compared.verdict for number, compared in found.by_segment.items()}
    for number in range(3):
        own = segment == number
        alone = {name: score[own] for name, score in scores.items()}
        expected = compare_rankers(y[own], alone, clusters=cluster[own], **options)
        assert verdicts[number] == expected.verdict
    assert [verdict == [UNJUDGED] for verdict in verdicts.values()] == [False, True, True]
