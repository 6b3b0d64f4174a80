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
    _drawing,
    compare_rankers,
    ndcg_by_segment,
    ndcg_interval,
)

plt = pytest.importorskip("matplotlib.pyplot", reason="the extra `plot` is not installed")
plt.switch_backend("agg")
from matplotlib.colors import to_rgb  # noqa: E402


def rankers(n, n_queries=60, name="ranker {}"):
    y, s = matrices(n_queries)
    rng = np.random.default_rng(1)
    return y, {name.format(i): s + rng.normal(0, 0.2 * i, s.shape) for i in range(n)}


def compared(n=3, **options):
    return compare_rankers(*rankers(n, **options.pop("data", {})), test="t", **options)


def labels(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def shown(display):
    """The points, without the line that says how many more rows there are."""
    return [point for point in display.points_ if not np.isnan(point.get_xdata()[1])]


def rows(display):
    """Values, lower and upper bounds as they are drawn."""
    low, value, high = np.transpose([point.get_xdata() for point in shown(display)])
    return value, low, high


def band(display):
    """The corners of the band, in data."""
    corners = display.ax_.transData.inverted().transform(display.band_.get_window_extent())
    return np.sort(corners, axis=0)


def test_differences_of_a_pair():
    y, good = matrices(30)
    scores = {"good": good, "same": 2 * good, "poor": -good}
    weight = np.arange(1, 31)
    comparison = compare_rankers(y, scores, k=5, sample_weight=weight, random_state=0)
    display = DifferenceDisplay.from_comparison(comparison, pair=("good", "poor"))
    assert isinstance(display, DifferenceDisplay)
    expected = ndcg_samples(y, good, k=5) - ndcg_samples(y, -good, k=5)
    better, worse = (area.get_data().values for area in (display.better_, display.worse_))
    assert (better + worse) == pytest.approx(np.sort(expected)[::-1], abs=1e-15)
    assert better.min() == worse.max() == 0
    mean = np.average(expected, weights=weight)
    assert display.line_.get_ydata() == pytest.approx([mean] * 2, abs=1e-15)
    row = comparison.pairs.index(("good", "poor"))
    bounds = band(display)[:, 1]
    assert bounds == pytest.approx([bound[row] for bound in comparison.confidence_interval])
    assert display.ax_.get_ylabel() == "Difference of NDCG"
    assert ((expected > 0).sum(), (expected < 0).sum()) == (29, 1)
    assert legend(display) == [
        "good is better: 29 queries",
        "poor is better: 1 query",
        f"mean {mean:+.4f}",
        "0.95 interval of the mean",
    ]
    equal = DifferenceDisplay.from_comparison(comparison, pair=("good", "same"), ax=display.ax_)
    assert equal.ax_ is display.ax_
    assert equal.figure_ is display.figure_
    assert not equal.better_.get_data().values.any()
    assert "ties: 30 queries" in legend(equal)


def test_the_band_does_not_change_the_colours_of_the_areas():
    """The band is drawn first and is opaque; a pixel of an area inside it has the area's colour."""
    y, good = matrices(30)
    comparison = compare_rankers(y, {"a": good, "b": -good}, confidence_level=0.9, test="t")
    display = DifferenceDisplay.from_comparison(comparison)
    assert display.band_.get_zorder() < display.worse_.get_zorder()
    assert display.ax_.get_legend().get_texts()[-1].get_text() == "0.9 interval of the mean"
    display.figure_.canvas.draw()
    pixels = np.asarray(display.figure_.canvas.buffer_rgba())[..., :3]
    low, high = band(display)[:, 1]
    assert low > 0
    x, y = display.ax_.transData.transform((0.5, 0.8 * low + 0.2 * high)).astype(int)
    color = np.rint(255 * np.array(to_rgb(_drawing.COLORS[0]))).tolist()
    assert pixels[pixels.shape[0] - y, x].tolist() == color


def test_the_pair_of_a_comparison():
    y, good = matrices(30)
    only = compare_rankers(y, {"a": good, "b": -good}, random_state=0)
    assert DifferenceDisplay.from_comparison(only).pair == ("a", "b")
    assert DifferenceDisplay.from_comparison(only, pair=["a", "b"]).pair == ("a", "b")
    several = compare_rankers(y, {"a": good, "b": -good, "c": 2 * good}, random_state=0)
    for comparison, pair in ((several, None), (only, ("b", "a")), (only, "ab"), (only, ["a", 1])):
        with pytest.raises(ValueError, match=r"pair must be one of \[\('a', 'b'\)"):
            DifferenceDisplay.from_comparison(comparison, pair=pair)


@pytest.mark.parametrize("name", ["cost in $ per $", "$x^2$", "a_b", "100 %", "$"])
def test_names_of_differences_are_no_formulas(name):
    y, s = matrices(30)
    comparison = compare_rankers(y, {name: s, "b": -s}, random_state=0)
    display = DifferenceDisplay.from_comparison(comparison)
    text, is_formula = drawn_texts(display)[0]
    assert text.startswith(f"{name} is better: ")
    assert not is_formula


def test_names_are_one_line():
    y, good = matrices(30)
    comparison = compare_rankers(y, {"two\nlines": good, "b": -good}, random_state=0)
    display = DifferenceDisplay.from_comparison(comparison)
    assert legend(display)[0].startswith("two lines is better: ")


def test_names_with_an_underscore_in_front_are_in_the_legend():
    y, s = matrices(30)
    comparison = compare_rankers(y, {"_a": s, "b": -s}, random_state=0)
    assert len(legend(DifferenceDisplay.from_comparison(comparison))) == 4


def test_long_names_of_differences_are_inside():
    comparison = compared(2, data={"name": "reciprocal_rank_fusion_of_" * 4 + "{}"})
    assert inside(DifferenceDisplay.from_comparison(comparison, name="a segment " * 20))


# What all displays take

MAKE = {
    "curves": lambda **options: NDCGDisplay.from_predictions(*matrices(30), **options),
    "differences": lambda **options: DifferenceDisplay.from_comparison(compared(2), **options),
    "intervals": lambda **options: IntervalDisplay.from_result(compared(2), **options),
}


@pytest.mark.parametrize("display", MAKE)
def test_all_displays_take_what_those_of_scikit_learn_do(display):
    figure, ax = plt.subplots()
    style = {"color": "red", "linewidth": 3, "linestyle": ":"}
    drawn = MAKE[display](ax=ax, name="mine", curve_kwargs=style, despine=True)
    assert (drawn.ax_, drawn.figure_) == (ax, figure)
    assert any("mine" in text for text in legend(drawn))
    red = [line for line in ax.lines if line.get_color() == "red" and len(line.get_xdata())]
    assert red
    assert {(line.get_linewidth(), line.get_linestyle()) for line in red} == {(3, ":")}
    visible = {name: spine.get_visible() for name, spine in ax.spines.items()}
    assert visible == {"left": True, "bottom": True, "top": False, "right": False}
    again = drawn.plot()
    assert again is drawn
    assert drawn.ax_ is not ax
    assert drawn.ax_.spines["top"].get_visible()
    assert inside(drawn)


# Intervals


@pytest.mark.parametrize("method", ["BCa", "t"])
def test_the_interval_of_all_queries(method):
    result = ndcg_interval(*matrices(60), method=method, random_state=0, confidence_level=0.9)
    display = IntervalDisplay.from_result(result, name="model")
    assert np.ravel(rows(display)).tolist() == [result.ndcg, *result.confidence_interval]
    assert display.line_.get_xdata() == [result.ndcg] * 2
    assert legend(display) == ["model: 0.9 interval", f"mean {result.ndcg:.4f}"]
    assert display.ax_.get_xlabel() == "NDCG"
    assert display.band_ is None


@pytest.mark.parametrize("options", [{}, {"clusters": np.arange(60) // 3}, {"undefined": 3.0},
                                     {"sample_weight": np.arange(1, 61)}])  # fmt: skip
def test_intervals_of_rankers_are_those_of_t(options):
    y, scores = rankers(3)
    y[0] = 0
    options = {"undefined": 0.0} | options
    comparison = compare_rankers(y, scores, test="t", confidence_level=0.9, **options)
    expected = [
        ndcg_interval(y, s, method="t", confidence_level=0.9, **options).confidence_interval
        for s in scores.values()
    ]
    np.testing.assert_allclose(comparison.ndcg_interval, np.transpose(expected), atol=1e-13)
    display = IntervalDisplay.from_result(comparison)
    value, *bounds = rows(display)
    assert value.tolist() == list(comparison.ndcg.values())
    np.testing.assert_array_equal(bounds, comparison.ndcg_interval)
    assert labels(display) == list(scores)
    assert display.line_.get_xdata()[0] == pytest.approx(np.mean(value))


def test_intervals_of_rankers_end_where_ndcg_does():
    y = np.tile([1, 0], (3, 1))
    scores = {"good": y, "poor": np.where(np.arange(3)[:, np.newaxis], -y, y)}
    with pytest.warns(UserWarning, match="3 queries"):
        result = compare_rankers(y, scores, test="t", discount="reciprocal")
    assert result.ndcg_interval.low.tolist() == [1, 0]
    assert result.ndcg_interval.high.tolist() == [1, 1]


def test_differences_of_pairs_and_the_margin():
    comparison = compared(3, margin=0.02)
    display = IntervalDisplay.from_result(comparison, differences=True)
    value, *bounds = rows(display)
    assert value.tolist() == comparison.difference.tolist()
    np.testing.assert_array_equal(bounds, comparison.confidence_interval)
    assert labels(display) == [f"{first} - {second}" for first, second in comparison.pairs]
    assert display.line_.get_xdata() == [0, 0]
    assert display.ax_.get_xlabel() == "Difference of NDCG"
    assert display.band_.get_window_extent().x1 == pytest.approx(
        display.line_.get_window_extent().x0, abs=2
    )
    assert band(display)[:, 0] == pytest.approx([-0.02, 0])
    assert legend(display) == ["0.95 interval", "margin 0.02"]
    assert IntervalDisplay.from_result(comparison).band_ is None


SEGMENTS = np.repeat(["AT", "BE", "CH"], [30, 28, 2])


def test_segments():
    with pytest.warns(UserWarning, match="1 of the 3 segments"):
        table = ndcg_by_segment(*matrices(60), segments=SEGMENTS, method="t")
    display = IntervalDisplay.from_result(table)
    value, *bounds = rows(display)
    assert value.tolist() == table.ndcg.tolist()
    np.testing.assert_array_equal(bounds, table.confidence_interval)
    assert labels(display) == ["AT", "BE", "CH"]
    assert display.line_.get_xdata()[0] == table.overall.ndcg
    hollow = display.ax_.get_facecolor()
    assert [point.get_markerfacecolor() == hollow for point in display.points_] == [
        False,
        False,
        True,
    ]
    assert legend(display)[:2] == ["0.95 interval", "1 or 2 queries"]


@pytest.mark.parametrize("differences", [False, True])
def test_rankers_and_pairs_by_segment(differences):
    with pytest.warns(UserWarning, match="segments"):
        comparison = compared(3, segments=SEGMENTS)
    display = IntervalDisplay.from_result(comparison, differences=differences)
    parts = [comparison, *comparison.by_segment.values()]
    expected = [p.difference if differences else [*p.ndcg.values()] for p in parts]
    assert rows(display)[0].tolist() == np.ravel(expected).tolist()
    names = [f"{a} - {b}" for a, b in comparison.pairs] if differences else list(comparison.ndcg)
    segments = ("all", "AT", "BE", "CH")
    assert labels(display) == [f"{segment}: {name}" for segment in segments for name in names]
    colors = np.reshape([point.get_color() for point in display.points_], (4, 3))
    assert (colors == colors[0]).all()
    assert len(set(colors[0])) == 3


def test_segments_of_one_pair_have_its_name_in_the_legend():
    with pytest.warns(UserWarning, match="segments"):
        comparison = compared(2, segments=SEGMENTS)
    display = IntervalDisplay.from_result(comparison, differences=True)
    assert labels(display) == ["all", "AT", "BE", "CH"]
    assert legend(display)[0] == "ranker 0 - ranker 1: 0.95 interval"


def table_of(n_segments, n_queries=900):
    y, s = matrices(n_queries)
    segments = np.random.default_rng(2).integers(0, n_segments, n_queries)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ndcg_by_segment(y, s, segments=segments, method="t")


@pytest.mark.parametrize("n_segments", [1, 40, 50, 400])
def test_many_segments(n_segments):
    table = table_of(n_segments)
    n = len(table.segments)
    display = IntervalDisplay.from_result(table)
    assert len(shown(display)) == min(n, 40)
    assert inside(display)
    boxes = [text.get_window_extent() for text in display.ax_.get_yticklabels()]
    assert all(above.y0 > below.y1 for above, below in pairwise(boxes))
    box = display.ax_.get_legend().get_window_extent()
    lowest = display.ax_.transData.transform((0, display.points_[-1].get_ydata()[0]))[1]
    assert box.y1 < lowest
    if n <= 40:
        assert len(display.points_) == n
        return
    falling = np.sort(table.ndcg)[::-1]
    assert rows(display)[0].tolist() == [*falling[:20], *falling[-20:]]
    assert labels(display)[0] == str(table.segments[table.ndcg.argmax()])
    assert labels(display)[20] == f"({n - 40} more rows)"
    assert len(labels(display)) == 41


def test_segments_that_cannot_be_scored_have_no_row():
    y, s = matrices(100)
    y[:10] = 0
    with pytest.warns(UserWarning, match="segments"):
        table = ndcg_by_segment(y, s, segments=np.arange(100) // 2, method="t", undefined="omit")
    assert np.isnan(table.ndcg).sum() == 5
    display = IntervalDisplay.from_result(table)
    assert labels(display)[20] == "(5 more rows)"
    assert len(labels(display)) == 41


@pytest.mark.parametrize("n", [2, 8, 30])
@pytest.mark.parametrize(
    "name",
    ["r{}", "reciprocal rank fusion of $ and _ " * 4 + "{}", "fusion number {} of several runs"],
)
def test_many_rankers_with_long_names(n, name):
    comparison = compared(n, data={"name": name})
    for differences in (False, True):
        display = IntervalDisplay.from_result(comparison, differences=differences)
        assert inside(display)
        assert len(set(labels(display))) == len(display.points_)
        assert display.ax_.get_window_extent().width > 200  # the names leave room for the points


def test_other_results_have_no_intervals():
    comparison = compared(2)
    table = table_of(2)
    for result, differences, message in (
        (comparison.largest_differences(), False, "NDCGInterval or SegmentTable or Comparison"),
        (table, True, "must be a Comparison, got SegmentTable"),
        (table.overall, True, "must be a Comparison, got NDCGInterval"),
    ):
        with pytest.raises(TypeError, match=message):
            IntervalDisplay.from_result(result, differences=differences)
