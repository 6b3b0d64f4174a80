"""Segments compared with one of them: other queries, so the test is not paired."""

from datetime import date
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers import matrices, users
from scipy import stats

from sklearn_ndcg import ndcg_samples
from sklearn_ndcg.inference import ndcg_by_segment

Y, S = matrices(90)
SEGMENT = np.repeat(["a", "b", "c"], [20, 40, 30])
VALUES = ndcg_samples(Y, S, k=5)


def against_b(y=Y, s=S, segments=SEGMENT, **options):
    options = {"k": 5, "method": "t", "baseline": "b", **options}
    return ndcg_by_segment(y, s, segments=segments, **options)


def holm_by_hand(pvalues):
    """Each times the number of those that are not smaller, and no less than a smaller one."""
    corrected = dict.fromkeys(pvalues, 0)
    for number, pvalue in enumerate(sorted(pvalues)):
        corrected[pvalue] = min(1, max(*corrected.values(), pvalue * (len(pvalues) - number)))
    return [corrected[pvalue] for pvalue in pvalues]


@pytest.mark.parametrize("weight", [None, np.full(90, 7e-200)], ids=["none", "equal weights"])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_without_clusters_it_is_scipy_s_test_of_unequal_variances(weight, level):
    found = against_b(confidence_level=level, sample_weight=weight)
    tests = [
        stats.ttest_ind(VALUES[segment == SEGMENT], VALUES[SEGMENT == "b"], equal_var=False)
        for segment in "ac"
    ]
    means = [VALUES[segment == SEGMENT].mean() for segment in "abc"]
    assert found.difference[[0, 2]] == pytest.approx(np.array(means)[[0, 2]] - means[1], rel=1e-12)
    low, high = found.difference_interval
    for row, test in zip([0, 2], tests, strict=True):
        assert (low[row], high[row]) == pytest.approx([*test.confidence_interval(level)], rel=1e-10)
    expected = holm_by_hand([test.pvalue for test in tests])
    assert found.pvalue[[0, 2]] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("first", "n_tests"), [(1, "0 segments"), (3, "1 segment")])
@pytest.mark.filterwarnings("ignore:Intervals of")
def test_the_table_says_for_how_many_segments_it_is_corrected(first, n_tests):
    segments = np.repeat(["a", "b"], [first, 90 - first])
    assert f"corrected for {n_tests}." in str(against_b(segments=segments))


def test_of_the_baseline_itself_it_is_nan():
    found = against_b()
    columns = found.difference, *found.difference_interval, found.pvalue
    assert [np.flatnonzero(np.isnan(column)).tolist() for column in columns] == [[1]] * 4


def test_pvalues_are_corrected_for_the_number_of_segments():
    segments = np.arange(90) % 6
    found = against_b(segments=segments, baseline=3).pvalue
    others = [number for number in range(6) if number != 3]
    alone = [
        against_b(Y[kept], S[kept], segments[kept], baseline=3).pvalue[int(number > 3)]
        for number in others
        for kept in [np.isin(segments, [3, number])]
    ]
    assert len(set(np.argsort(alone))) == 5
    assert found[others] == pytest.approx(holm_by_hand(alone), rel=1e-12)


def unpaired_by_hand(values, weight, clusters, segment):
    """Difference from "b", its error and degrees of freedom, leaving out each cluster in turn."""
    values, weight = (list(map(Fraction, numbers.tolist())) for numbers in (values, weight))
    rows = {name: np.flatnonzero(segment == name).tolist() for name in np.unique(segment)}

    def mean(name, without=None):
        kept = [row for row in rows[name] if clusters[row] != without]
        return sum(values[row] * weight[row] for row in kept) / sum(weight[row] for row in kept)

    def moves(name):
        own = {clusters[row] for row in rows[name]}
        factor = (1 - 1 / len(own)) ** 0.5
        return {c: factor * float(mean(name) - mean(name, without=c)) for c in own}

    def degrees(name):
        totals = {}
        for row in rows[name]:
            totals[clusters[row]] = totals.get(clusters[row], 0) + weight[row]
        shares = [total / sum(totals.values()) for total in totals.values()]
        return float(1 / sum(share**2 for share in shares)) - 1

    first, second = moves("a"), moves("b")
    every = first.keys() | second.keys()
    error = sum((first.get(c, 0) - second.get(c, 0)) ** 2 for c in every) ** 0.5
    variances = [sum(move**2 for move in part.values()) for part in (first, second)]
    terms = variances[0] ** 2 / degrees("a") + variances[1] ** 2 / degrees("b")
    return float(mean("a") - mean("b")), error, min(sum(variances) ** 2 / terms, len(every) - 1)


CLUSTERS = {
    "each query its own": np.arange(90),
    "within segments": np.arange(90) // 4 + 100 * (SEGMENT == "b"),
    "in both": users(90, 14),
    "some in both": np.where(np.arange(90) % 3 == 0, np.arange(90) % 10, 50 + np.arange(90) // 5),
    "one query each in one segment": np.where(SEGMENT == "a", np.arange(90) + 11, users(90, 25)),
}


@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("clusters", CLUSTERS.values(), ids=CLUSTERS)
@pytest.mark.filterwarnings("ignore:Intervals of", "ignore:50 queries")
def test_clusters_are_left_out_of_both_segments(clusters, is_weighted):
    two = SEGMENT != "c"
    weight = np.random.default_rng(3).uniform(0.2, 2, 90) if is_weighted else np.ones(90)
    difference, error, degrees = unpaired_by_hand(
        VALUES[two], weight[two], clusters[two].tolist(), SEGMENT[two]
    )
    found = against_b(
        Y[two], S[two], SEGMENT[two], clusters=clusters[two], sample_weight=weight[two]
    )
    assert found.difference[0] == pytest.approx(difference, rel=1e-10)
    half = stats.t.ppf(0.975, degrees) * error
    bounds = [bound[0] for bound in found.difference_interval]
    assert bounds == pytest.approx([difference - half, difference + half], rel=1e-9)
    pvalue = 2 * stats.t.sf(abs(difference) / error, degrees)
    assert found.pvalue[0] == pytest.approx(pvalue, rel=1e-9)


def test_clusters_of_equal_size_that_are_all_in_both_segments_are_pairs():
    segment = np.where(np.arange(90) % 6 < 3, "a", "b")
    clusters = np.arange(90) // 6
    means = {
        name: np.bincount(clusters[segment == name], VALUES[segment == name]) / 3 for name in "ab"
    }
    test = stats.ttest_rel(means["a"], means["b"])
    found = against_b(segments=segment, clusters=clusters)
    assert found.pvalue[0] == pytest.approx(test.pvalue, rel=1e-9)
    bounds = [bound[0] for bound in found.difference_interval]
    assert bounds == pytest.approx([*test.confidence_interval()], rel=1e-9)


@pytest.mark.parametrize("scale", [1, 1e6, 1e-13])
def test_segments_with_equal_means_do_not_differ_at_any_scale(scale):
    """The means of a and b are equal, but not to the last bit."""
    values = np.random.default_rng(0).random(30) * scale
    value_of = np.r_[values, values[::-1] * (1 + 2e-16)]
    scores = np.c_[value_of, value_of]
    segments = np.repeat(["a", "b"], 30)
    found = ndcg_by_segment(
        np.ones((60, 2)), scores, segments=segments, baseline="b", metric=lambda t, s: s[0]
    )
    assert (found.difference[0], found.pvalue[0]) == (0, 1)


def test_bounds_of_differences_lie_where_those_of_ndcg_do():
    y, segments = [[1, 0]] * 4, [0, 0, 1, 1]
    s = [[1, 0], [0, 1], [1, 0], [1, 0]]
    with pytest.warns(UserWarning, match="unreliable"):
        bounded = ndcg_by_segment(y, s, segments=segments, baseline=0, k=1).difference_interval
    with pytest.warns(UserWarning, match="unreliable"):
        free = ndcg_by_segment(
            y, s, segments=segments, baseline=0, metric=lambda t, s: float(s[0] > s[1])
        ).difference_interval
    assert bounded.high[1] == 1 < free.high[1]


@pytest.mark.filterwarnings("ignore:Intervals of")
@pytest.mark.parametrize("baseline", [0, 2])
def test_segments_with_fewer_than_two_queries_have_no_test(baseline):
    segments = np.minimum(np.arange(90) // 44, 2)[:89]  # of 44, 44 and 1 queries
    found = against_b(Y[:89], S[:89], segments, baseline=baseline)
    others = [number for number in range(3) if number != baseline]
    assert np.isfinite(found.difference[others]).all()
    has_test = [number for number in others if {number, baseline} == {0, 1}]
    assert np.flatnonzero(~np.isnan(found.pvalue)).tolist() == has_test
    assert np.flatnonzero(~np.isnan(found.difference_interval.low)).tolist() == has_test


DAYS = np.array(["2026-01-01", "2026-01-02", "2026-01-03"], dtype="datetime64[D]")


@pytest.mark.parametrize(
    ("segments", "baseline"),
    [
        (DAYS[np.arange(90) % 3], date(2026, 1, 2)),
        (DAYS[np.arange(90) % 3], "2026-01-02"),
        (pd.Series(DAYS[np.arange(90) % 3]), pd.Timestamp("2026-01-02")),
        (np.arange(90) % 3, np.int64(1)),
        (np.c_[np.zeros(90, int), np.arange(90) % 3], (0, 1)),
    ],
    ids=["date", "text", "timestamp", "number", "two columns"],
)
def test_baseline_is_a_segment_of_any_kind(segments, baseline):
    found = against_b(segments=segments, baseline=baseline)
    assert np.isnan(found.difference).tolist() == [False, True, False]


@pytest.mark.parametrize("baseline", ["d", 1, ["a"], np.arange(3), "all"], ids=repr)
def test_baseline_must_be_a_segment(baseline):
    with pytest.raises(ValueError, match="baseline must be one of the 3 segments, 'a', 'b', 'c'"):
        against_b(baseline=baseline)


def test_without_a_baseline_there_are_no_differences():
    found = against_b(baseline=None)
    assert (found.difference, found.difference_interval, found.pvalue) == (None, None, None)


def test_differences_are_printed_and_in_the_frame():
    found = against_b(baseline="c")
    frame = found.to_frame()
    columns = found.difference, *found.difference_interval, found.pvalue
    names = ["difference", "difference_low", "difference_high", "pvalue"]
    np.testing.assert_array_equal(frame[names].to_numpy().T, columns)
    lines = repr(found).splitlines()
    rows = [line.split() for line in lines if line.startswith(("a ", "b "))]
    assert [row[-1] for row in rows[2:]] == [f"{pvalue:.4f}" for pvalue in found.pvalue[:2]]
    assert [row[1] for row in rows[2:]] == [f"{value:+.4f}" for value in found.difference[:2]]
    assert "from c" in lines[-2]
    assert "2 segments" in lines[-1]
    assert "difference" not in repr(against_b(baseline=None))


def test_metrics_have_names_in_the_table():
    assert against_b().metric == "NDCG@5"
    found = against_b(k=None, metric=np.dot)
    assert found.metric == found.overall.metric == "dot"
