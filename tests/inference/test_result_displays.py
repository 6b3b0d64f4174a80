"""The artists of DifferenceDisplay and IntervalDisplay, and the looks of all displays."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from helpers import legend, matrices

from sklearn_ndcg import ndcg_samples
from sklearn_ndcg.inference import (
    ConfidenceInterval,
    DifferenceDisplay,
    IntervalDisplay,
    NDCGDisplay,
    compare_rankers,
    ndcg_by_segment,
    ndcg_interval,
)

plt = pytest.importorskip("matplotlib.pyplot", reason="the extra `plot` is not installed")
plt.switch_backend("agg")

pytestmark = pytest.mark.filterwarnings("ignore:Intervals of .* segments")
from_comparison, from_result = DifferenceDisplay.from_comparison, IntervalDisplay.from_result
Y, S = matrices(30)
SEGMENTS = np.repeat(["AT", "BE", "CH"], [30, 28, 2])
INTERVAL = "95% confidence interval"


def noisy_rankers(n, name="ranker {}"):
    """Grades of 60 queries, and the scores of n rankers, the noisier the later."""
    y, s = matrices(60)
    rng = np.random.default_rng(1)
    return y, {name.format(i): s + rng.normal(0, 0.2 * i, s.shape) for i in range(n)}


def compared(n, name="ranker {}", **options):
    return compare_rankers(*noisy_rankers(n, name), test="t", **options)


def table_of(n_segments, n_queries=205, **options):
    segments = np.random.default_rng(2).permutation(n_queries) % n_segments
    return ndcg_by_segment(*matrices(n_queries), segments=segments, method="t", **options)


def row_names(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def ends_of(container):
    """The ends of the bar of a point, lower end first."""
    return container.lines[2][0].get_segments()[0]


def drawn_rows(display):
    """Values, lower and upper bounds as they are drawn."""
    values = [point.lines[0].get_xdata()[0] for point in display.points_]
    return [values, *np.transpose([ends_of(point)[:, 0] for point in display.points_]).tolist()]


def assert_drawn(display, values, interval):
    np.testing.assert_allclose(drawn_rows(display), [values, *interval], rtol=1e-12)


@pytest.mark.parametrize("kind", [list, tuple])
def test_from_comparison_draws_the_differences_of_a_pair(kind):
    scores, weight = {"good": S, "same": 2 * S, "poor": -S}, np.arange(1, 31)
    comparison = compare_rankers(Y, scores, k=5, sample_weight=weight, random_state=0)
    display = from_comparison(comparison, pair=kind(["good", "poor"]))
    expected = ndcg_samples(Y, S, k=5) - ndcg_samples(Y, -S, k=5)
    better, worse = (area.get_data().values for area in (display.better_, display.worse_))
    assert (better + worse) == pytest.approx(np.sort(expected)[::-1], abs=1e-15)
    assert better.min() == worse.max() == 0
    assert display.ax_.get_ylabel() == "NDCG@5, first minus second"
    mean = np.average(expected, weights=weight)
    low, high = (bound[1] for bound in comparison.confidence_interval)
    assert display.line_.lines[0].get_ydata() == pytest.approx([mean], abs=1e-15)
    assert ends_of(display.line_)[:, 1] == pytest.approx([low, high], abs=1e-15)
    counts = ["good is better: 29 queries", "poor is better: 1 query"]
    assert legend(display) == [*counts, f"Mean {mean:+.4f}, 95% CI"]


def test_line_at_0_is_in_the_legend_if_there_are_ties():
    ties = from_comparison(compare_rankers(Y, {"a": S, "b": 2 * S}, test="t"))
    assert ties.zero_.get_ydata() == [0, 0]
    assert not ties.better_.get_data().values.any()
    assert legend(ties)[:3] == [
        "a is better: 0 queries",
        "b is better: 0 queries",
        "Ties: 30 queries",
    ]


@pytest.mark.parametrize(
    ("n_rankers", "pair"), [(3, None), (2, ("b", "a"))], ids=["none of several", "reversed"]
)
def test_pair_that_was_not_compared_raises(n_rankers, pair):
    scores = dict(zip("abc"[:n_rankers], (S, -S, 2 * S), strict=False))
    with pytest.raises(ValueError, match=r"pair must be one of \[\('a', 'b'\)"):
        from_comparison(compare_rankers(Y, scores, test="t"), pair=pair)


def test_interval_of_all_queries():
    result = ndcg_interval(Y, S, n_resamples=99, random_state=0, confidence_level=0.9)
    display = from_result(result, name="model")
    assert_drawn(display, [result.mean], np.transpose([result.confidence_interval]))
    assert (display.line_, display.band_) == (None, None)
    assert legend(display) == ["model: 90% confidence interval"]
    assert (row_names(display), display.ax_.get_xlabel()) == (["all"], "NDCG")


@pytest.mark.parametrize("towards", [0, 1])
def test_a_mean_that_is_outside_of_its_interval_by_rounding_is_drawn(towards):
    result = ndcg_interval(Y, S, method="t")
    bounds = ConfidenceInterval(*[np.nextafter(result.mean, towards)] * 2)
    display = from_result(replace(result, confidence_interval=bounds))
    assert_drawn(display, [result.mean], np.transpose([bounds]))


@pytest.mark.parametrize("baseline", [None, "ranker 1"])
def test_intervals_of_rankers_with_a_line_at_the_baseline(baseline):
    comparison = compared(3, baseline=baseline)
    display = from_result(comparison)
    assert_drawn(display, list(comparison.mean.values()), comparison.interval)
    assert row_names(display) == list(comparison.mean)
    assert display.ax_.yaxis_inverted()  # the first row is at the top
    assert (display.ax_.get_ylabel(), display.band_) == ("Ranker", None)
    line = display.line_ and display.line_.get_xdata()[0]
    assert line == comparison.mean.get(baseline)
    assert legend(display) == [*["Baseline: ranker 1"] * (baseline is not None), INTERVAL]


def test_a_baseline_has_the_same_name_in_the_legend_and_at_its_row():
    first, second = date(2024, 1, 1), np.datetime64("2024-01-02T00:00")
    comparison = compare_rankers(Y, {first: S, second: -S}, test="t", baseline=second)
    display = from_result(comparison)
    assert legend(display)[0] == f"Baseline: {row_names(display)[1]}"


def test_differences_of_pairs_and_the_margin():
    comparison = compared(3, baseline="ranker 0", margin=0.02)
    display = from_result(comparison, differences=True)
    assert_drawn(display, comparison.difference, comparison.confidence_interval)
    assert row_names(display) == [f"{first} vs {second}" for first, second in comparison.pairs]
    assert display.line_.get_xdata() == [0, 0]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "NDCG, first minus second",
        "Pair",
    )
    to_data = display.ax_.transData.inverted()
    band = display.band_.get_window_extent().transformed(to_data)
    assert [band.x0, band.x1] == pytest.approx([-0.02, 0])
    assert legend(display) == ["Margin 0.02", INTERVAL]


def test_segments_with_a_line_at_all_queries():
    table = ndcg_by_segment(*matrices(60), segments=SEGMENTS, method="t")
    display = from_result(table)
    assert_drawn(display, table.mean, table.confidence_interval)
    assert (row_names(display), display.ax_.get_ylabel()) == (["AT", "BE", "CH"], "Segment")
    assert display.line_.get_xdata()[0] == table.overall.mean
    assert legend(display) == [f"All queries: {table.overall.mean:.4f}", INTERVAL]


def test_a_segment_without_a_number_is_not_drawn():
    y, s = matrices(30)
    y[:10] = 0
    options = {"segments": np.arange(30) // 10, "method": "t", "undefined": "omit"}
    points = from_result(ndcg_by_segment(y, s, **options)).points_
    is_drawn = [len(point.lines[2][0].get_segments()[0]) > 0 for point in points]
    assert is_drawn == [False, True, True]


# Colours and styles


def color_of(artist):
    """The colour of a line, a point or an area."""
    artist = artist.lines[0] if hasattr(artist, "lines") else artist
    color = artist.get_facecolor() if hasattr(artist, "get_facecolor") else artist.get_color()
    return plt.matplotlib.colors.to_rgb(color)


@pytest.mark.parametrize("style", ["default", "ggplot", "dark_background"])
@pytest.mark.parametrize("baseline", [None, "ranker 1"])
def test_rankers_have_one_colour_in_all_displays(style, baseline):
    """That of matplotlib's cycle."""
    with plt.style.context(style):
        y, scores = noisy_rankers(4)
        comparison = compare_rankers(y, scores, test="t", k=5, baseline=baseline)
        curves = NDCGDisplay.from_predictions(y, scores, k=5).line_
        colors = dict(zip(scores, map(color_of, curves), strict=True))
        assert len(set(colors.values())) == 4
        assert list(map(color_of, from_result(comparison).points_)) == list(colors.values())
        pairs = from_result(comparison, differences=True).points_
        assert list(map(color_of, pairs)) == [colors[first] for first, _ in comparison.pairs]
        for pair in comparison.pairs[:3]:
            areas = from_comparison(comparison, pair=pair)
            drawn = color_of(areas.better_), color_of(areas.worse_)
            assert drawn == tuple(colors[name] for name in pair)


@pytest.mark.parametrize("kind", [list, tuple])
def test_curve_kwargs_may_be_a_style_for_each_row(kind):
    styles = kind([{"color": "red"}, {"marker": "x"}, {"linewidth": 5}])
    first, second, third = from_result(compared(3), curve_kwargs=styles).points_
    assert color_of(first) == (1, 0, 0)
    assert second.lines[0].get_marker() == "x"
    assert third.lines[0].get_linewidth() == 5


@pytest.mark.parametrize(
    ("result", "differences", "expected"),
    [
        (compared(4), False, "4 rankers"),
        (compared(4), True, "6 pairs"),
        (table_of(3), False, "3 segments"),
    ],
    ids=["rankers", "pairs", "segments"],
)
def test_curve_kwargs_without_an_entry_for_each_row_raise(result, differences, expected):
    message = f"^curve_kwargs must have an entry for each of {expected}"
    with pytest.raises(ValueError, match=message):
        from_result(result, differences=differences, curve_kwargs=[{}, {}])
    assert not plt.get_fignums()


def test_of_many_segments_each_has_a_row():
    table = table_of(45)
    display = from_result(table)
    assert row_names(display) == list(map(str, table.segments))
    assert display.figure_.get_figheight() > 4.8


@pytest.mark.parametrize(
    ("result", "differences", "message"),
    [
        (compared(2).to_frame(), False, "NDCGInterval or SegmentTable or Comparison"),
        (table_of(2), True, "must be a Comparison, got SegmentTable"),
    ],
    ids=["queries", "segments"],
)
def test_results_that_cannot_be_drawn_raise(result, differences, message):
    with pytest.raises(TypeError, match=message):
        from_result(result, differences=differences)


def test_what_is_no_comparison_or_no_axes_raises():
    with pytest.raises(TypeError, match="comparison must be a Comparison, got int"):
        DifferenceDisplay.from_comparison(3)
    with pytest.raises(TypeError, match="ax must be matplotlib Axes or None, got 3"):
        from_result(compared(2), ax=3)


@pytest.mark.parametrize("option", ["sort", "measure"])
def test_other_options_raise(option):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{option}'"):
        from_result(compared(2), **{option: True})


MAKE = {
    "curve": lambda **options: NDCGDisplay.from_predictions(Y, S, k=[1, 2, 9], **options),
    "differences": lambda **options: from_comparison(compared(2), **options),
    "rows": lambda **options: from_result(compared(2), **options),
}


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_ax_name_curve_kwargs_and_despine_are_as_in_scikit_learn(make):
    figure, ax = plt.subplots()
    drawn = make(ax=ax, name="mine", curve_kwargs={"color": "red", "linewidth": 3}, despine=True)
    assert (drawn.ax_, drawn.figure_) == (ax, figure)
    assert any("mine" in text for text in legend(drawn))
    red = [line for line in ax.lines if line.get_color() == "red"]
    assert {line.get_linewidth() for line in red} >= {3}
    assert [name for name, spine in ax.spines.items() if spine.get_visible()] == ["left", "bottom"]
    again = drawn.plot()
    assert again is drawn
    assert drawn.ax_ is not ax
    assert drawn.ax_.spines["top"].get_visible()
