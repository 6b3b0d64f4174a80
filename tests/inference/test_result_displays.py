"""The artists of DifferenceDisplay and IntervalDisplay."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from helpers import drawn_texts, inside, legend, matrices

from sklearn_ndcg import ndcg_samples
from sklearn_ndcg.inference import (
    DifferenceDisplay,
    IntervalDisplay,
    NDCGDisplay,
    compare_rankers,
    ndcg_by_segment,
    ndcg_interval,
)

plt = pytest.importorskip("matplotlib.pyplot", reason="the extra `plot` is not installed")
plt.switch_backend("agg")

from_comparison, from_result = DifferenceDisplay.from_comparison, IntervalDisplay.from_result
Y, S = matrices(30)
SEGMENTS = np.repeat(["AT", "BE", "CH"], [30, 28, 2])


def noisy_rankers(n, name="ranker {}"):
    """Grades of 60 queries, and the scores of n rankers, the noisier the later."""
    y, s = matrices(60)
    rng = np.random.default_rng(1)
    return y, {name.format(i): s + rng.normal(0, 0.2 * i, s.shape) for i in range(n)}


def compared(n, name="ranker {}", **options):
    return compare_rankers(*noisy_rankers(n, name), test="t", **options)


def row_names(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def drawn_rows(display):
    """Values, lower and upper bounds as they are drawn, without the line that counts the rest."""
    found = np.transpose([point.get_xdata() for point in display.points_])
    low, value, high = found[:, ~np.isnan(found[1])]
    return value, low, high


def corners(display):
    """The corners of the band, in data."""
    found = display.ax_.transData.inverted().transform(display.band_.get_window_extent())
    return np.sort(found, axis=0)


def test_from_comparison_draws_the_differences_of_a_pair():
    scores, weight = {"good": S, "same": 2 * S, "poor": -S}, np.arange(1, 31)
    comparison = compare_rankers(Y, scores, k=5, sample_weight=weight, random_state=0)
    display = from_comparison(comparison, pair=("good", "poor"))
    assert isinstance(display, DifferenceDisplay)
    expected = ndcg_samples(Y, S, k=5) - ndcg_samples(Y, -S, k=5)
    better, worse = (area.get_data().values for area in (display.better_, display.worse_))
    assert (better + worse) == pytest.approx(np.sort(expected)[::-1], abs=1e-15)
    assert better.min() == worse.max() == 0
    mean = np.average(expected, weights=weight)
    assert display.line_.get_ydata() == pytest.approx([mean] * 2, abs=1e-15)
    row = comparison.pairs.index(("good", "poor"))
    bounds = [bound[row] for bound in comparison.confidence_interval]
    assert corners(display)[:, 1] == pytest.approx(bounds)
    assert display.ax_.get_ylabel() == "Difference of NDCG"
    counts = ["good is better: 29 queries", "poor is better: 1 query"]
    assert legend(display) == [*counts, f"mean {mean:+.4f}", "0.95 interval of the mean"]
    equal = from_comparison(comparison, pair=("good", "same"), ax=display.ax_)
    assert equal.ax_ is display.ax_
    assert not equal.better_.get_data().values.any()
    assert "ties: 30 queries" in legend(equal)


def test_band_of_differences_does_not_change_the_colours_of_the_areas():
    display = from_comparison(compare_rankers(Y, {"a": S, "b": -S}, confidence_level=0.9, test="t"))
    assert display.band_.get_zorder() < display.worse_.get_zorder() <= display.better_.get_zorder()
    assert display.better_.get_alpha() is display.worse_.get_alpha() is None  # they are opaque
    assert legend(display)[-1] == "0.9 interval of the mean"


def test_pair_is_one_of_those_compared_and_by_default_the_only_one():
    only = compare_rankers(Y, {"a": S, "b": -S}, test="t")
    assert from_comparison(only).pair == from_comparison(only, pair=["a", "b"]).pair == ("a", "b")
    several = compare_rankers(Y, {"a": S, "b": -S, "c": 2 * S}, test="t")
    for comparison, pair in ((several, None), (only, ("b", "a")), (only, "ab"), (only, ["a", 1])):
        with pytest.raises(ValueError, match=r"pair must be one of \[\('a', 'b'\)"):
            from_comparison(comparison, pair=pair)


def test_names_in_a_pair_are_no_formulas():
    comparison = compare_rankers(Y, {"$x^2$": S, "b": -S}, test="t")
    assert drawn_texts(from_comparison(comparison))[0] == ("$x^2$ is better: 30 queries", False)


def test_name_and_pair_that_are_long_are_inside():
    comparison = compared(2, "reciprocal_rank_fusion_of_" * 4 + "{}")
    assert inside(from_comparison(comparison, name="a segment " * 20))


MAKE = {
    "curves": lambda **options: NDCGDisplay.from_predictions(Y, S, **options),
    "differences": lambda **options: from_comparison(compared(2), **options),
    "intervals": lambda **options: from_result(compared(2), **options),
}


@pytest.mark.parametrize("display", MAKE)
def test_ax_name_curve_kwargs_and_despine_are_as_in_the_displays_of_scikit_learn(display):
    figure, ax = plt.subplots()
    style = {"color": "red", "linewidth": 3, "linestyle": ":"}
    drawn = MAKE[display](ax=ax, name="mine", curve_kwargs=style, despine=True)
    assert (drawn.ax_, drawn.figure_) == (ax, figure)
    assert any("mine" in text for text in legend(drawn))
    red = [line for line in ax.lines if line.get_color() == "red" and len(line.get_xdata())]
    assert {(line.get_linewidth(), line.get_linestyle()) for line in red} == {(3, ":")}
    assert [name for name, spine in ax.spines.items() if spine.get_visible()] == ["left", "bottom"]
    again = drawn.plot()
    assert again is drawn
    assert drawn.ax_ is not ax
    assert drawn.ax_.spines["top"].get_visible()


def test_from_result_of_the_interval_of_all_queries():
    result = ndcg_interval(Y, S, n_resamples=99, random_state=0, confidence_level=0.9)
    display = from_result(result, name="model")
    assert np.ravel(drawn_rows(display)).tolist() == [result.mean, *result.confidence_interval]
    assert display.line_.get_xdata() == [result.mean] * 2
    assert legend(display) == ["model: 0.9 interval", f"mean {result.mean:.4f}"]
    assert display.ax_.get_xlabel() == "NDCG"
    assert display.band_ is None


def test_from_result_of_rankers():
    comparison = compared(3, margin=0.02)
    display = from_result(comparison)
    value, *bounds = drawn_rows(display)
    assert value.tolist() == list(comparison.mean.values())
    np.testing.assert_array_equal(bounds, comparison.interval)
    assert row_names(display) == list(comparison.mean)
    assert display.line_.get_xdata()[0] == pytest.approx(np.mean(value))
    assert display.band_ is None


def test_differences_of_pairs_and_the_margin():
    comparison = compared(3, margin=0.02)
    display = from_result(comparison, differences=True)
    value, *bounds = drawn_rows(display)
    assert value.tolist() == comparison.difference.tolist()
    np.testing.assert_array_equal(bounds, comparison.confidence_interval)
    assert row_names(display) == [f"{first} - {second}" for first, second in comparison.pairs]
    assert display.line_.get_xdata() == [0, 0]
    assert display.ax_.get_xlabel() == "Difference of NDCG"
    assert corners(display)[:, 0] == pytest.approx([-0.02, 0])
    assert legend(display) == ["0.95 interval", "margin 0.02"]


@pytest.mark.filterwarnings("ignore:Intervals of 1 of the 3 segments")
def test_from_result_of_segments_whose_few_queries_are_hollow():
    table = ndcg_by_segment(*matrices(60), segments=SEGMENTS, method="t")
    display = from_result(table)
    value, *bounds = drawn_rows(display)
    assert value.tolist() == table.mean.tolist()
    np.testing.assert_array_equal(bounds, table.confidence_interval)
    assert row_names(display) == ["AT", "BE", "CH"]
    assert display.line_.get_xdata()[0] == table.overall.mean
    hollow = display.ax_.get_facecolor()
    is_hollow = [point.get_markerfacecolor() == hollow for point in display.points_]
    assert is_hollow == [False, False, True]
    assert legend(display)[:2] == ["0.95 interval", "1 or 2 queries"]


@pytest.mark.filterwarnings("ignore:Intervals of 1 of the 3 segments")
@pytest.mark.parametrize("differences", [False, True])
def test_segments_of_a_comparison_repeat_rankers_or_differences_in_their_colours(differences):
    comparison = compared(3, segments=SEGMENTS)
    display = from_result(comparison, differences=differences)
    parts = [comparison, *comparison.by_segment.values()]
    expected = [p.difference if differences else [*p.mean.values()] for p in parts]
    assert drawn_rows(display)[0].tolist() == np.ravel(expected).tolist()
    names = [f"{a} - {b}" for a, b in comparison.pairs] if differences else list(comparison.mean)
    segments = ("all", "AT", "BE", "CH")
    assert row_names(display) == [f"{segment}: {name}" for segment in segments for name in names]
    colors = np.reshape([point.get_color() for point in display.points_], (4, 3))
    assert (colors == colors[0]).all()
    assert len(set(colors[0])) == 3


@pytest.mark.filterwarnings("ignore:Intervals of 1 of the 3 segments")
def test_segments_of_one_pair_have_its_name_in_the_legend():
    display = from_result(compared(2, segments=SEGMENTS), differences=True)
    assert row_names(display) == ["all", "AT", "BE", "CH"]
    assert legend(display)[0] == "ranker 0 - ranker 1: 0.95 interval"


def table_of(n_segments, n_queries=900):
    y, s = matrices(n_queries)
    segments = np.random.default_rng(2).integers(0, n_segments, n_queries)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ndcg_by_segment(y, s, segments=segments, method="t")


@pytest.mark.parametrize("n_segments", [1, 40, 400])
def test_segments_that_are_many_are_legible_and_their_largest_and_smallest_shown(n_segments):
    table = table_of(n_segments)
    n = len(table.segments)
    display = from_result(table)
    assert len(drawn_rows(display)[0]) == min(n, 40)
    assert inside(display)
    boxes = [text.get_window_extent() for text in display.ax_.get_yticklabels()]
    assert all(above.y0 > below.y1 for above, below in pairwise(boxes))
    box = display.ax_.get_legend().get_window_extent()
    lowest = display.ax_.transData.transform((0, display.points_[-1].get_ydata()[0]))[1]
    assert box.y1 < lowest
    if n <= 40:
        assert len(display.points_) == n
        return
    falling = np.sort(table.mean)[::-1]
    assert drawn_rows(display)[0].tolist() == [*falling[:20], *falling[-20:]]
    assert row_names(display)[0] == str(table.segments[table.mean.argmax()])
    assert row_names(display)[20] == f"({n - 40} more rows)"
    assert len(row_names(display)) == 41


@pytest.mark.filterwarnings("ignore:Intervals of 50 of the 50 segments")
def test_segments_that_cannot_be_scored_have_no_row():
    y, s = matrices(100)
    y[:10] = 0
    table = ndcg_by_segment(y, s, segments=np.arange(100) // 2, method="t", undefined="omit")
    assert np.isnan(table.mean).sum() == 5
    display = from_result(table)
    assert row_names(display)[20] == "(5 more rows)"
    assert len(row_names(display)) == 41


@pytest.mark.parametrize(("n", "name", "differences"), [
    (2, "r{}", True), (8, "reciprocal rank fusion of $ and _ " * 4 + "{}", False),
    (8, "reciprocal rank fusion of $ and _ " * 4 + "{}", True),
    (12, "fusion number {} of several runs", True),
])  # fmt: skip
def test_names_that_are_many_and_long_leave_room_for_the_points(n, name, differences):
    display = from_result(compared(n, name), differences=differences)
    assert inside(display)
    assert len(set(row_names(display))) == len(display.points_)
    assert display.ax_.get_window_extent().width > 200


def test_from_result_refuses_other_results():
    comparison, table = compared(2), table_of(2)
    for result, differences, message in (
        (comparison.largest_differences(), False, "NDCGInterval or SegmentTable or Comparison"),
        (table, True, "must be a Comparison, got SegmentTable"),
        (table.overall, True, "must be a Comparison, got NDCGInterval"),
    ):
        with pytest.raises(TypeError, match=message):
            from_result(result, differences=differences)
