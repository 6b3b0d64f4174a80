"""What intervals and comparisons return: values of queries, text, DataFrames."""

import numpy as np
import pytest
from helpers import matrices, three_rankers
from scipy import stats

from sklearn_ndcg import ndcg_samples
from sklearn_ndcg.inference import compare_rankers, ndcg_by_segment

Y, SCORES = three_rankers()
FOUND = compare_rankers(Y, SCORES, baseline="poor", test="t")


def test_values_and_labels_of_queries():
    y = np.r_[Y[:3], 0 * Y[:1], Y[4:]]
    names = np.array([f"q{i:02}" for i in range(40)])
    order = np.random.default_rng(0).permutation(480)
    rows = {name: s.ravel()[order] for name, s in SCORES.items()}
    groups = np.repeat(names, 12)[order]
    found = compare_rankers(y.ravel()[order], rows, groups=groups, k=5, undefined="omit", test="t")
    assert found.labels.tolist() == names[np.arange(40) != 3].tolist()
    assert list(found.values) == ["good", "poor", "other"]
    for name, s in SCORES.items():
        expected = ndcg_samples(np.delete(y, 3, 0), np.delete(s, 3, 0), k=5)
        assert found.values[name] == pytest.approx(expected, abs=1e-15)
        assert found.mean[name] == pytest.approx(expected.mean(), abs=1e-15)
    of_matrix = compare_rankers(y, SCORES, undefined="omit", test="t")
    assert of_matrix.labels.tolist() == [*range(3), *range(4, 40)]


def test_largest_differences():
    frame = FOUND.largest_differences(3).to_frame()
    for first in ("good", "other"):
        d = FOUND.values[first] - FOUND.values["poor"]
        order = np.argsort(-d)
        rows = frame.loc[(first, "poor")]
        assert rows.index.tolist() == [*order[:3], *order[-3:]]
        assert rows["difference"].tolist() == [*d[order[:3]], *d[order[-3:]]]
        assert rows["value_second"].tolist() == FOUND.values["poor"][rows.index].tolist()
    lines = repr(FOUND.largest_differences(3)).splitlines()
    assert len(lines) == 7 + 1 + 7
    assert lines[0].split() == ["query", "good", "poor", "good", "-", "poor"]
    label, *found = lines[1].split()
    ours, theirs = (FOUND.values[name][int(label)] for name in ("good", "poor"))
    assert found == [f"{ours:.4f}", f"{theirs:.4f}", f"{ours - theirs:+.4f}"]


def test_largest_differences_leave_out_queries_without_a_difference():
    s = SCORES["poor"]
    better, worse = s.copy(), s.copy()
    better[7], worse[5] = Y[7], -Y[5]
    labels = np.array(["<b>", *(f"query {i:02}" for i in range(1, 40))])
    scores = {"better": better.ravel(), "same": s.ravel(), "worse": worse.ravel()}
    found = compare_rankers(
        Y.ravel(), scores, baseline="same", groups=np.repeat(labels, 12), test="t"
    ).largest_differences()
    assert [each[2] for each in found.to_frame().index] == ["query 07", "query 05"]
    none = compare_rankers(Y, {"a": s, "b": 2 * s}, test="t").largest_differences(1)
    assert none.to_frame().empty
    assert repr(none) == "query  a  b  a - b"


@pytest.mark.parametrize("n", [0, 1.5, "3", True])
def test_n_of_largest_differences_is_an_integer(n):
    with pytest.raises(ValueError, match="n must be an integer >= 1, got"):
        FOUND.largest_differences(n)


def test_comparison_prints_small_p_values_and_lines_of_80_characters():
    y, scores = three_rankers(400)
    scores = dict(zip("abc", scores.values(), strict=True))
    text = repr(compare_rankers(y, scores, test="t", margin=0.01))
    assert "p (t, Holm): corrected for 3 pairs." in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert "<0.0001" in text
    assert " 0.0000 " not in text


def test_names_that_are_long_are_cut_in_the_middle():
    long, longer = "HistGradientBoostingClassifier", "HistGradientBoostingRegressor"
    found = compare_rankers(Y, {long: SCORES["good"], longer: SCORES["poor"]}, test="t")
    means, pairs = repr(found).split("\n\n")
    assert long in means
    assert pairs.splitlines()[-1].startswith("HistGrad...assifier - HistGrad...egressor")
    header = repr(found.largest_differences(1)).splitlines()[0]
    assert header.split()[1:3] == ["HistGrad...assifier", "HistGrad...egressor"]
    alike = {f"{{'a': 1000, 'b': {i}, 'c': 1000}}": s for i, s in enumerate(SCORES.values())}
    found = compare_rankers(Y, alike, test="t")  # they differ in the middle
    assert " - ".join([*alike][1:]) in repr(found)
    table = ndcg_by_segment(Y, SCORES["good"], segments=[long] * 20 + ["b"] * 20, method="t")
    assert repr(table).splitlines()[1].startswith("HistGrad...assifier  0.")


@pytest.mark.filterwarnings("ignore:Intervals of 45 of the 45 segments")
def test_rows_that_are_many_are_shown_from_the_first_and_from_the_last():
    y, s = matrices(90)
    shown = [*map(str, range(20)), "...", *map(str, range(26, 45)), "all"]
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


def test_to_frame_of_pairs_has_a_column_for_each_number():
    values = {name: ndcg_samples(Y, each) for name, each in SCORES.items()}
    rows = FOUND.to_frame().to_dict("index")
    assert list(rows) == [("good", "poor"), ("other", "poor")]
    for (first, second), row in rows.items():
        d = values[first] - values[second]
        expected = stats.ttest_rel(values[first], values[second])
        low, high = expected.confidence_interval()
        assert row["difference"] == pytest.approx(d.mean(), rel=1e-12)
        assert row["low"] == pytest.approx(low, rel=1e-12)
        assert row["high"] == pytest.approx(high, rel=1e-12)
        assert row["standard_error"] == pytest.approx(stats.sem(d), rel=1e-12)
        assert row["effect_size"] == pytest.approx(d.mean() / d.std(ddof=1), rel=1e-12)
        assert row["statistic"] == pytest.approx(expected.statistic, rel=1e-12)
        assert row["uncorrected_pvalue"] == pytest.approx(expected.pvalue, rel=1e-9)
        sides = [(d > 0).sum(), (d == 0).sum(), (d < 0).sum()]
        assert [row["wins"], row["ties"], row["losses"]] == sides
    smaller, larger = sorted(row["uncorrected_pvalue"] for row in rows.values())
    corrected = sorted(row["pvalue"] for row in rows.values())
    assert corrected == [2 * smaller, max(2 * smaller, larger)]


def test_to_frame_of_rankers_and_queries():
    names = [f"q{i:02}" for i in range(40)]
    data = {(name, 1): each.ravel() for name, each in SCORES.items()}  # names may be tuples
    found = compare_rankers(Y.ravel(), data, groups=np.repeat(names, 12), test="t", k=10)
    rankers = found.to_frame("rankers")
    assert rankers.index.name == "ranker"
    assert rankers.index.tolist() == [*data]
    assert rankers["mean"].tolist() == list(found.mean.values())
    assert rankers[["judged", "answered"]].eq(1).all(axis=None)
    queries = found.to_frame("queries")
    assert queries.index.tolist() == names
    assert queries.mean().tolist() == pytest.approx([*found.mean.values()], abs=1e-15)
    with pytest.raises(ValueError, match="of must be one of 'pairs', 'rankers', 'queries'; got"):
        found.to_frame("segments")
