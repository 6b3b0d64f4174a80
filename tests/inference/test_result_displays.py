"""The artists of DifferenceDisplay and IntervalDisplay, and the looks of all displays."""

import numpy as np
import pytest
from helpers import legend, matrices

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


def drawn_rows(display):
    """Values, lower and upper bounds as they are drawn."""
    low, value, high = np.transpose([point.get_xdata() for point in display.points_])
    return [value.tolist(), low.tolist(), high.tolist()]


def as_lists(values, interval):
    return [list(values), *(list(bound) for bound in interval)]


def test_from_comparison_draws_the_differences_of_a_pair():
    scores, weight = {"good": S, "same": 2 * S, "poor": -S}, np.arange(1, 31)
    comparison = compare_rankers(Y, scores, k=5, sample_weight=weight, random_state=0)
    display = from_comparison(comparison, pair=("good", "poor"))
    expected = ndcg_samples(Y, S, k=5) - ndcg_samples(Y, -S, k=5)
    better, worse = (area.get_data().values for area in (display.better_, display.worse_))
    assert (better + worse) == pytest.approx(np.sort(expected)[::-1], abs=1e-15)
    assert better.min() == worse.max() == 0
    assert display.ax_.get_ylabel() == "NDCG@5,\nfirst minus second"
    mean = np.average(expected, weights=weight)
    low, high = (bound[1] for bound in comparison.confidence_interval)
    assert display.line_.get_ydata() == pytest.approx([low, mean, high], abs=1e-15)
    counts = ["good is better: 29 queries", "poor is better: 1 query"]
    assert legend(display) == [*counts, f"Mean {mean:+.4f}, 95% CI"]


def test_ticks_of_queries_are_whole_and_those_of_differences_need_not_be():
    y, s = np.tile([[1, 0], [0, 1]], (10, 1)), np.tile([1, 0], (20, 1))
    ax = from_comparison(compare_rankers(y, {"a": s, "b": -s}, k=1, test="t")).ax_
    assert not any(tick % 1 for tick in ax.get_xticks())
    assert any(tick % 1 for tick in ax.get_yticks())


def test_line_at_0_is_in_the_legend_if_there_are_ties():
    ties = from_comparison(compare_rankers(Y, {"a": S, "b": 2 * S}, test="t"))
    assert ties.zero_.get_ydata() == [0, 0]
    assert not ties.better_.get_data().values.any()
    assert legend(ties)[:3] == [
        "a is better: 0 queries",
        "b is better: 0 queries",
        "Ties: 30 queries",
    ]
    assert ties.ax_.get_ylim() == (-0.1, 0.1)


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
    assert drawn_rows(display) == as_lists(
        [result.mean], np.transpose([result.confidence_interval])
    )
    assert (display.line_, display.band_) == (None, None)
    assert legend(display) == ["model: 90% confidence interval"]
    assert (row_names(display), display.ax_.get_xlabel()) == (["all"], "NDCG")


@pytest.mark.parametrize("baseline", [None, "ranker 1"])
def test_intervals_of_rankers_with_a_line_at_the_baseline(baseline):
    comparison = compared(3, margin=0.02, baseline=baseline)
    display = from_result(comparison)
    assert drawn_rows(display) == as_lists(comparison.mean.values(), comparison.interval)
    assert row_names(display) == list(comparison.mean)
    assert display.ax_.yaxis_inverted()  # the first row is at the top
    assert (display.ax_.get_ylabel(), display.band_) == ("Ranker", None)
    line = display.line_ and display.line_.get_xdata()[0]
    assert line == comparison.mean.get(baseline)
    assert legend(display)[1:] == (["Baseline: ranker 1"] if baseline else [])


def test_differences_of_pairs_and_the_margin():
    comparison = compared(3, margin=0.02)
    display = from_result(comparison, differences=True)
    assert drawn_rows(display) == as_lists(comparison.difference, comparison.confidence_interval)
    assert row_names(display) == [f"{first} vs {second}" for first, second in comparison.pairs]
    assert display.line_.get_xdata() == [0, 0]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "NDCG, first minus second",
        "Pair",
    )
    to_data = display.ax_.transData.inverted()
    band = display.band_.get_window_extent().transformed(to_data)
    assert [band.x0, band.x1] == pytest.approx([-0.02, 0])
    assert legend(display) == [INTERVAL, "Margin 0.02"]


def test_segments_with_few_queries_are_hollow():
    table = ndcg_by_segment(*matrices(60), segments=SEGMENTS, method="t")
    display = from_result(table)
    assert drawn_rows(display) == as_lists(table.mean, table.confidence_interval)
    assert (row_names(display), display.ax_.get_ylabel()) == (["AT", "BE", "CH"], "Segment")
    assert display.line_.get_xdata()[0] == table.overall.mean
    hollow = display.ax_.get_facecolor()
    is_hollow = [point.get_markerfacecolor() == hollow for point in display.points_]
    assert is_hollow == [False, False, True]
    assert legend(display) == [INTERVAL, "1 or 2 queries", f"All queries: {table.overall.mean:.4f}"]


# Colours, order and styles


def color_of(artist):
    """The colour of a line or of an area."""
    color = artist.get_facecolor() if hasattr(artist, "get_facecolor") else artist.get_color()
    return plt.matplotlib.colors.to_rgb(color)


def placed_axes():
    """New axes that keep their place: to lay out others takes most of the time of a picture."""
    return plt.figure().add_axes((0.2, 0.3, 0.7, 0.6))


@pytest.mark.parametrize("style", ["default", "ggplot", "dark_background"])
@pytest.mark.parametrize("baseline", [None, "ranker 1"])
def test_rankers_have_one_colour_in_all_displays(style, baseline):
    with plt.style.context(style):
        y, scores = noisy_rankers(5)
        comparison = compare_rankers(y, scores, test="t", k=5, baseline=baseline)
        curves = NDCGDisplay.from_predictions(y, scores, k=5).line_
        colors = dict(zip(scores, map(color_of, curves), strict=True))
        assert len(set(colors.values())) == 5
        points = from_result(comparison).points_
        assert list(map(color_of, points)) == list(colors.values())
        by_value = from_result(comparison, sort=True, ax=placed_axes())
        names = row_names(by_value)
        assert [colors[name] for name in names] == list(map(color_of, by_value.points_))
        pairs = from_result(comparison, differences=True, ax=placed_axes()).points_
        assert list(map(color_of, pairs)) == [colors[first] for first, _ in comparison.pairs]
        for pair in comparison.pairs:
            areas = from_comparison(comparison, pair=pair, ax=placed_axes())
            drawn = color_of(areas.better_), color_of(areas.worse_)
            assert drawn == tuple(colors[name] for name in pair)


def test_pairs_without_a_baseline_differ_in_colour_or_marker():
    points = from_result(compared(5), differences=True).points_
    assert len({(point.get_color(), point.get_marker()) for point in points}) == 10


@pytest.mark.parametrize(
    ("result", "differences"),
    [(compared(4), False), (compared(4), True), (table_of(6), False)],
    ids=["rankers", "pairs", "segments"],
)
def test_sorted_rows_have_the_highest_value_first(result, differences):
    plain = from_result(result, differences=differences)
    display = from_result(result, differences=differences, sort=True)
    values, *bounds = drawn_rows(display)
    assert values == sorted(values, reverse=True)
    order = np.argsort(drawn_rows(plain)[0])[::-1]
    assert bounds == [np.array(bound)[order].tolist() for bound in drawn_rows(plain)[1:]]
    assert row_names(display) == np.array(row_names(plain))[order].tolist()
    assert drawn_rows(display.plot()) == drawn_rows(plain)


def test_of_many_sorted_segments_the_best_and_the_worst_are_shown():
    table = table_of(45)
    values, *_ = drawn_rows(from_result(table, sort=True))
    expected = np.sort(table.mean)[::-1]
    assert values == [*expected[:20], *expected[-20:]]


@pytest.mark.parametrize("sort", [False, True])
def test_curve_kwargs_may_be_a_style_for_each_row(sort):
    styles = [{"color": "red"}, {"marker": "x"}, {"linewidth": 5}]
    display = from_result(compared(3), curve_kwargs=tuple(styles) if sort else styles, sort=sort)
    points = dict(zip(row_names(display), display.points_, strict=True))
    first, second, third = (points[f"ranker {n}"] for n in range(3))
    assert (first.get_color(), second.get_marker(), third.get_linewidth()) == ("red", "x", 5)


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
    with pytest.raises(
        ValueError, match=f"^curve_kwargs must have an entry for each of {expected}"
    ):
        from_result(result, differences=differences, curve_kwargs=[{}, {}])
    assert not plt.get_fignums()


@pytest.mark.parametrize("n_segments", [40, 41])
def test_of_many_segments_the_first_and_the_last_are_shown_in_order(n_segments):
    table = table_of(n_segments)
    display, names = from_result(table), list(map(str, table.segments))
    rows = slice(None) if n_segments <= 40 else np.r_[:20, n_segments - 20 : n_segments]
    assert drawn_rows(display)[0] == table.mean[rows].tolist()
    expected = names if n_segments <= 40 else [*names[:20], "(1 more)", *names[-20:]]
    assert row_names(display) == expected


def test_segments_that_cannot_be_scored_have_no_row():
    y, s = matrices(30)
    y[:10] = 0
    options = {"segments": np.arange(30) // 2, "method": "t", "undefined": "omit"}
    display = from_result(ndcg_by_segment(y, s, **options))
    assert row_names(display) == list(map(str, range(5, 15)))


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


def relevance_of_the_first_document(y_true, y_score):
    return y_true[y_score.argmax()]


LONG = "reciprocal rank fusion of $ and _ " * 4 + "{}"
MAKE = {
    "9 curves": lambda **options: NDCGDisplay.from_predictions(*noisy_rankers(9), **options),
    "chosen cutoffs": lambda **options: NDCGDisplay.from_predictions(Y, S, k=[1, 2, 9], **options),
    "differences": lambda **options: from_comparison(
        compared(2, LONG, metric=relevance_of_the_first_document), **options
    ),
    "2 rows": lambda **options: from_result(compared(2), **options),
    "24 rows": lambda **options: from_result(table_of(24), **options),
    "10 pairs": lambda **options: from_result(compared(5, LONG), differences=True, **options),
}


@pytest.mark.parametrize("display", ["chosen cutoffs", "differences", "2 rows"])
def test_ax_name_curve_kwargs_and_despine_are_as_in_scikit_learn(display):
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
