"""Verdicts by a margin, and which of them unjudged documents could turn."""

import numpy as np
import pytest
from helpers import as_runs, compare_lists, compare_runs, ideal, matrices
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
    return (
        "better" if low > 0 else "not worse" if low > -margin
        else "worse" if high < 0 else "undecided"
    )  # fmt: skip


def test_margin_gives_the_verdicts_of_the_interval():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, (200, 20))
    noise = {"best": 1, "same": 1, "near": 1.05, "far": 4}
    scores = {name: y + rng.normal(0, scale, y.shape) for name, scale in noise.items()}
    options = {"test": "t", "margin": 0.01, "confidence_level": 0.9, "k": 10}
    found = compare_rankers(y, scores, **options)
    values = {name: ndcg_samples(y, each, k=10) for name, each in scores.items()}
    for i, (first, second) in enumerate(found.pairs):
        differences = values[first] - values[second]
        expected = stats.ttest_1samp(differences, -0.01, alternative="greater")
        assert found.noninferiority_pvalue[i] == pytest.approx(expected.pvalue, rel=1e-9)
        assert found.df == 199
        verdict = verdict_of(differences, 0.01, 0.9)
        assert found.verdict[i] == verdict
        assert (expected.pvalue < 0.05) == (verdict in ("better", "not worse"))
    swapped = compare_rankers(y, dict(reversed(scores.items())), **options)
    assert {"better", "not worse", "worse"} <= {*found.verdict, *swapped.verdict}
    few = compare_rankers(y[:12], {n: s[:12] for n, s in scores.items()}, margin=0.01, k=10)
    assert "undecided" in few.verdict
    assert "verdict (margin 0.01)" in repr(found)
    assert found.to_frame()["verdict"].tolist() == found.verdict


def test_margin_of_equal_rankers():
    y, s = matrices()
    found = compare_rankers(y, {"a": s, "b": s}, margin=0.01)
    assert found.verdict == ["not worse"]
    assert found.noninferiority_pvalue.tolist() == [0]
    assert compare_rankers(y, {"a": s, "b": s}).verdict is None


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
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, (n_queries, 9)).astype(float)
    a, b = y + rng.normal(0, 1, y.shape), y + rng.normal(0, noise, y.shape)
    y[:, 3:] = np.where(rng.random((n_queries, 6)) < share, np.nan, y[:, 3:])
    return y, {"a": a, "b": b}


@pytest.mark.parametrize(("k", "unjudged"), [(3, "zero"), (5, "omit"), (None, "zero"), (3, "omit")])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_margin_verdicts_that_judging_could_turn_are_undecided(share, k, unjudged):
    """Both cases of a loop: what is unjudged among the first k favours one ranker or the other."""
    for seed in range(6):
        y, scores = holes(seed, share, noise=1 + seed % 3)
        options = {"k": k, "unjudged": unjudged, "undefined": 0.0, "margin": 0.05, "test": "t"}
        result = compare_rankers(y, scores, **options)
        values = [ndcg_samples(y, s, k=k, unjudged=unjudged, undefined=0) for s in scores.values()]
        present = verdict_of(np.subtract(*values), 0.05)
        up = np.array([*in_favour(y, scores["a"], scores["b"], k)])
        down = -np.array([*in_favour(y, scores["b"], scores["a"], k)])
        is_sure = {verdict_of(up, 0.05), verdict_of(down, 0.05)} == {present}
        assert result.verdict == [present if is_sure else UNJUDGED]
        assert f"  {result.verdict[0]}\n" in repr(result)
        assert ("could change the verdict" in repr(result)) == (not is_sure)


@pytest.mark.parametrize(("pair", "present"), [("ab", "worse"), ("ba", "better")])
def test_margin_verdicts_know_that_a_larger_ideal_shrinks_the_other_ranker(pair, present):
    """If the document that only `a` returned is relevant, the NDCG of both is 1 / ideal(1, 1)."""
    y = np.tile([1, 0, np.nan], (12, 1))
    scores = {"a": np.tile([0, 1, 2], (12, 1)), "b": np.tile([2, 1, 0], (12, 1))}
    scores = {name: scores[name] for name in pair}
    options = {"k": 2, "margin": 0.05, "test": "t"}
    assert compare_rankers(y, scores, unjudged="zero", **options).verdict == [UNJUDGED]
    y[:, 2] = 0
    assert compare_rankers(y, scores, **options).verdict == [present]


def pool_with_holes(seed, share):
    """Truths, of which some is unjudged, and lists of two rankers, whose holes are not the same."""
    rng = np.random.default_rng(seed)
    truth, lists = {}, {"new": {}, "old": {}}
    for query in map("q{:02}".format, range(25)):
        common = {f"c{i}": int(grade) for i, grade in enumerate(rng.integers(0, 4, 4))}
        truth[query] = common
        for name, more in (("new", 0.6), ("old", 0)):
            own = {f"{name}{i}": int(rng.random() < 0.3 + more) for i in range(6)}
            truth[query] = truth[query] | {d: g for d, g in own.items() if rng.random() > share}
            lists[name][query] = rng.permutation([*common, *own]).tolist()
    return truth, lists


def judged_too(truth, lists, favoured, k=5):
    """The truth with all that is unjudged among the first k judged in favour of one ranker."""
    return {
        query: {
            document: max(grades.values()) * (name == favoured)
            for name, ranked in lists.items() for document in ranked[query][:k]
        } | grades
        for query, grades in truth.items()
    }  # fmt: skip


def compare_scores(truth, lists, **options):
    return compare_runs(truth, as_runs(lists), **options)


AT_5 = {"k": 5, "margin": 0.05, "test": "t", "undefined": 0.0}


@pytest.mark.parametrize("compare", [compare_lists, compare_scores])
@pytest.mark.parametrize("share", [0, 0.03, 0.2])
def test_margin_verdicts_of_lists_hold_if_what_is_unjudged_is_judged(compare, share):
    found = set()
    for seed in range(6):
        truth, lists = pool_with_holes(seed, share)
        zero, *extremes = (
            compare(judged_too(truth, lists, each), lists, **AT_5).verdict[0]
            for each in (None, *lists)
        )
        verdict = compare(truth, lists, **AT_5).verdict[0]
        assert verdict == (zero if {*extremes} == {zero} else UNJUDGED)
        found.add(verdict)
    assert (UNJUDGED in found) == (share > 0)


def test_margin_verdicts_do_not_count_what_nobody_liked_as_unjudged():
    """If all judged documents are relevant, unjudged just means not relevant."""
    truth, lists = pool_with_holes(0, 0.5)
    liked = {q: {d: 1 for d, grade in grades.items() if grade} for q, grades in truth.items()}
    with pytest.warns(UserWarning, match="All judged documents are relevant, .* of grade 0"):
        found = compare_lists(liked, lists, **AT_5)
    assert "unjudged" not in found.verdict[0]
    graded = {q: each | {"x": 0} for q, each in liked.items()}
    assert compare_lists(graded, lists, **AT_5).verdict == [UNJUDGED]


def test_margin_verdicts_of_segments_and_clusters_know_what_is_unjudged():
    y, scores = holes(0, 0.1, 90)
    y[:30] = np.nan_to_num(y[:30])
    segment, cluster = np.arange(90) // 30, np.arange(90) // 2
    options = {"k": 4, "margin": 0.05, "test": "t", "unjudged": "zero", "undefined": 0.0}
    found = compare_rankers(y, scores, segments=segment, clusters=cluster, **options)
    for each, part in found.by_segment.items():
        own = segment == each
        alone = {name: score[own] for name, score in scores.items()}
        expected = compare_rankers(y[own], alone, clusters=cluster[own], **options)
        assert part.verdict == expected.verdict
    is_unjudged = [part.verdict == [UNJUDGED] for part in found.by_segment.values()]
    assert is_unjudged == [False, True, True]
