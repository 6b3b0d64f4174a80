"""What intervals and comparisons return: values of queries, text, DataFrames."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from helpers import matrices, three_rankers
from scipy import stats

from sklearn_ndcg import explain_difference, ndcg_samples
from sklearn_ndcg.inference import compare_rankers, ndcg_by_segment, ndcg_interval

Y, S = matrices()


def test_values_and_labels_of_queries():
    y, scores = three_rankers()
    y[3] = 0
    names = np.array([f"q{i:02}" for i in range(40)])
    order = np.random.default_rng(0).permutation(480)
    rows = {name: s.ravel()[order] for name, s in scores.items()}
    groups = np.repeat(names, 12)[order]
    found = compare_rankers(y.ravel()[order], rows, groups=groups, k=5, undefined="omit", test="t")
    assert found.labels.tolist() == names[np.arange(40) != 3].tolist()
    assert list(found.values) == ["good", "poor", "other"]
    for name, s in scores.items():
        expected = ndcg_samples(np.delete(y, 3, 0), np.delete(s, 3, 0), k=5)
        assert found.values[name] == pytest.approx(expected, abs=1e-15)
        assert found.ndcg[name] == pytest.approx(expected.mean(), abs=1e-15)
    of_matrix = compare_rankers(y, scores, undefined="omit", test="t")
    assert of_matrix.labels.tolist() == [*range(3), *range(4, 40)]


def test_the_queries_that_differ_most():
    y, scores = three_rankers()
    found = compare_rankers(y, scores, baseline="poor", random_state=0)
    frame = found.largest_differences(3).to_frame()
    for first in ("good", "other"):
        d = found.values[first] - found.values["poor"]
        order = np.argsort(-d)
        rows = frame.loc[(first, "poor")]
        assert rows.index.tolist() == [*order[:3], *order[-3:]]
        assert rows["difference"].tolist() == [*d[order[:3]], *d[order[-3:]]]
        assert rows["ndcg_second"].tolist() == found.values["poor"][rows.index].tolist()
    lines = repr(found.largest_differences(3)).splitlines()
    assert len(lines) == 7 + 1 + 7
    assert lines[0].split() == ["query", "good", "poor", "good", "-", "poor"]
    label, ours, theirs, difference = lines[1].split()
    values = [found.values[name][int(label)] for name in ("good", "poor")]
    assert [ours, theirs] == [f"{value:.4f}" for value in values]
    assert difference == f"{values[0] - values[1]:+.4f}"


def test_queries_without_a_difference_are_not_among_those_that_differ():
    y, s = matrices()
    better, worse = s.copy(), s.copy()
    better[7], worse[5] = y[7], -y[5]
    labels = np.array(["<b>", *(f"query {i:02}" for i in range(1, 40))])
    frame = {"groups": np.repeat(labels, 12), "random_state": 0}
    scores = {"better": better.ravel(), "same": s.ravel(), "worse": worse.ravel()}
    found = compare_rankers(y.ravel(), scores, baseline="same", **frame).largest_differences()
    assert [each[2] for each in found.to_frame().index] == ["query 07", "query 05"]
    assert compare_rankers(y, {"a": s, "b": 2 * s}).largest_differences(1).to_frame().empty
    assert (
        repr(compare_rankers(y, {"a": s, "b": 2 * s}).largest_differences(1))
        == "query  a  b  a - b"
    )


@pytest.mark.parametrize("n", [0, 1.5, "3", True])
def test_bad_number_of_queries(n):
    with pytest.raises(ValueError, match="n must be an integer >= 1, got"):
        compare_rankers(Y, {"a": S, "b": -S}, random_state=0).largest_differences(n)


def test_results_are_compared_by_identity():
    y, scores = three_rankers()
    found, other = (compare_rankers(y, scores, random_state=0) for _ in range(2))
    pairs = [(found, other), (found.largest_differences(1), other.largest_differences(1))]
    pairs.append(tuple(explain_difference(y, scores["poor"], "rax", "ranx") for _ in range(2)))
    pairs.append(tuple(ndcg_interval(y, scores["poor"], method="t") for _ in range(2)))
    for one, another in pairs:
        assert one == one  # noqa: PLR0124
        assert one != another
        assert len({one, another}) == 2


def test_one_level_is_computed_and_shown():
    y, scores = three_rankers()
    found = compare_rankers(y, scores)
    assert "0.95 interval" in repr(found)
    half = stats.t.ppf(0.975, found.n_queries - 1) * found.standard_error
    assert found.confidence_interval.low.tolist() == (found.difference - half).tolist()


def test_the_head_of_a_comparison_says_what_its_numbers_are_of():
    y, scores = three_rankers(400)
    a, b, c = scores.values()
    text = repr(compare_rankers(y, {"a": a, "b": b, "c": c}, test="t", margin=0.01))
    head = " ".join(text.split("\n\n")[1].split())
    assert head.startswith(
        "Interval and verdict (margin 0.01): each pair alone. p (t, Holm): corrected for 3 pairs. "
        "effect: mean / standard deviation of the differences. W/T/L: wins/ties/losses. difference"
    )
    assert max(map(len, text.splitlines())) <= 80
    assert "<0.0001" in text
    assert " 0.0000 " not in text
    head = "Interval: each pair alone. p (permutation, Holm): corrected for 1 pair.\n"
    assert head in repr(compare_rankers(y, {"a": a, "b": b}))


def test_long_names_are_cut_in_the_middle():
    long, longer = "HistGradientBoostingClassifier", "HistGradientBoostingRegressor"
    y, scores = three_rankers()
    found = compare_rankers(y, {long: scores["good"], longer: scores["poor"]}, test="t")
    means, pairs = repr(found).split("\n\n")
    assert long in means
    assert pairs.splitlines()[-1].startswith("HistGrad...assifier - HistGrad...egressor")
    header = repr(found.largest_differences(1)).splitlines()[0]
    assert header.split()[1:3] == ["HistGrad...assifier", "HistGrad...egressor"]
    alike = {f"{{'a': 1000, 'b': {i}, 'c': 1000}}": s for i, s in enumerate(scores.values())}
    found = compare_rankers(y, alike, test="t")  # they differ in the middle
    assert " - ".join([*alike][1:]) in repr(found)
    table = ndcg_by_segment(y, scores["good"], segments=[long] * 20 + ["b"] * 20, method="t")
    assert repr(table).splitlines()[1].startswith("HistGrad...assifier  0.")


def test_of_many_rows_the_first_and_the_last_are_shown():
    y, s = matrices(90)
    shown = [*map(str, range(20)), "...", *map(str, range(26, 45)), "all"]
    with pytest.warns(UserWarning, match="45 of the 45 segments"):
        table = ndcg_by_segment(y, s, segments=np.arange(90) % 45, method="t")
    assert [line.split()[0] for line in repr(table).splitlines()[1:]] == shown
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(size=y.shape) for name in range(42)}
    found = compare_rankers(y, scores, test="t", baseline=0)
    means, pairs = ([*text.splitlines()][-41:] for text in repr(found).split("\n\n"))
    for lines, first, last in ((means, "0", "41"), (pairs, "1", "41")):
        assert [lines[0].split()[0], lines[-1].split()[0]] == [first, last]
        assert set(lines[20].split()) == {"..."}
    assert len(found.to_frame()) == 41


def test_results_cannot_be_changed():
    y, scores = three_rankers()
    found = compare_rankers(y, scores, random_state=0)
    for result, name in (
        (ndcg_interval(y, scores["poor"], method="t"), "ndcg"), (found, "pvalue"),
        (found.largest_differences(1), "first"),
    ):  # fmt: skip
        with pytest.raises(FrozenInstanceError):
            setattr(result, name, 0)


def test_equal_queries_of_a_cluster_are_one_degree_of_freedom():
    y, s = matrices(40)
    alone = compare_rankers(y, {"a": s, "b": -s}, test="t")
    y, s = np.repeat(y, 5, axis=0), np.repeat(s, 5, axis=0)
    clusters = np.repeat(np.arange(40), 5)
    clustered = compare_rankers(y, {"a": s, "b": -s}, clusters=clusters, test="t")
    assert clustered.df == alone.df == 39
    assert repr(clustered).startswith("200 queries in 40 clusters\n")


def test_names_of_rankers_may_be_tuples():
    found = compare_rankers(Y, {("a", 1): S, ("b", 2): -S}, test="t")
    assert found.to_frame("rankers").index.tolist() == [("a", 1), ("b", 2)]


def test_frames_of_rankers_and_queries():
    y, scores = three_rankers()
    names = [f"q{i:02}" for i in range(40)]
    data = {name: each.ravel() for name, each in scores.items()}
    found = compare_rankers(y.ravel(), data, groups=np.repeat(names, 12), test="t", k=10)
    rankers = found.to_frame("rankers")
    assert rankers.index.name == "ranker"
    assert rankers.index.tolist() == ["good", "poor", "other"]
    assert rankers["ndcg"].tolist() == list(found.ndcg.values())
    assert rankers[["judged", "answered"]].eq(1).all(axis=None)
    queries = found.to_frame("queries")
    assert queries.index.tolist() == names
    assert queries.mean().to_dict() == pytest.approx(found.ndcg, abs=1e-15)
    with pytest.raises(ValueError, match="of must be one of 'pairs', 'rankers', 'queries'; got"):
        found.to_frame("segments")
