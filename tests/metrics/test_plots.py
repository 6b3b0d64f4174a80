"""The pictures of explain_difference and explain_query, against the numbers that they show."""

import numpy as np
import pytest

from sklearn_ndcg import CONVENTIONS, explain_difference, explain_query, from_lists

plt = pytest.importorskip("matplotlib.pyplot", reason="the extra `plot` is not installed")
plt.switch_backend("agg")

Y, S, IDS = [3, 0, 2, 1, 0, 0, 0, 0], [0.9, 0.9, 0.4, 0.3, 0.1, 0.5, 0.2, 0.1], [0] * 5 + [1] * 3


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def bars(ax):
    """(row, from, to) of each bar, in the order of the rows."""
    found = [(b.get_y() + b.get_height() / 2, b.get_x(), b.get_width()) for b in ax.patches]
    return sorted((round(row), left, left + width) for row, left, width in found)


def texts(ax):
    return sorted(text.get_text() for text in ax.texts)


STEPS = {
    "up and down": ("sklearn", CONVENTIONS["lightgbm"] | {"k": 3}),
    "down alone": ("lightgbm", "sklearn"),
    "a step without an effect": ({"undefined": 0.0}, {"undefined": 0.0, "unjudged": "zero"}),
    "no step": ("sklearn", "sklearn"),
}


@pytest.mark.parametrize(("first", "second"), STEPS.values(), ids=STEPS)
def test_the_bar_of_a_step_goes_from_the_ndcg_before_it_to_that_after_it(first, second):
    found = explain_difference(Y, S, first, second, groups=IDS)
    ax = found.plot()
    n = len(found.changes)
    expected = [(i + 1, *sorted(found.ndcg[i : i + 2])) for i in range(n)]
    np.testing.assert_allclose(
        [(row, *sorted(ends)) for row, *ends in bars(ax)] or np.empty((0, 3)),
        np.reshape(expected, (n, 3)),
        atol=1e-12,
    )
    [ends] = ax.lines
    assert ends.get_xydata().tolist() == [[found.ndcg[0], 0], [found.ndcg[-1], n + 1]]
    numbers = [f"{value:+.4f}" for value in found.difference]
    assert [text for text in texts(ax) if "\n" not in text] == sorted(
        [*numbers, *(f"{found.ndcg[end]:.4f}" for end in (0, -1))]
    )
    low, high = ax.get_xlim()
    assert low < found.ndcg.min()
    assert found.ndcg.max() < high


@pytest.mark.parametrize("undefined", [[0.0, "omit"], ["omit", 1.0], ["omit", "omit"]])
def test_an_ndcg_that_is_nan_is_not_drawn(undefined):
    first, second = ({"undefined": value} for value in undefined)
    found = explain_difference([[0, 0]], [[1, 2]], first, second)
    assert np.isnan(found.ndcg).any()
    found.plot().figure.canvas.draw()


def test_a_rise_and_a_fall_have_two_colours():
    found = explain_difference(Y, S, *STEPS["up and down"], groups=IDS)
    of_sign = {1: set(), -1: set()}
    for bar in found.plot().patches:
        of_sign[int(np.sign(bar.get_width()))].add(bar.get_facecolor())
    assert [len(colors) for colors in of_sign.values()] == [1, 1]
    assert of_sign[1] != of_sign[-1]


def test_the_rows_of_steps_say_what_changes():
    found = explain_difference(Y, S, "sklearn", "lightgbm", groups=IDS, k=3)
    ax = found.plot()
    first, *steps, second = names(ax)
    assert (first, second) == ("sklearn", "lightgbm")
    for step, change in zip(steps, found.changes, strict=True):
        assert all(str(part) in step for part in change)
    low, high = ax.get_ylim()
    assert low > high  # the first at the top
    below = " ".join(text.get_text() for text in ax.texts)
    assert all(sentence in " ".join(below.split()) for sentence in found.not_included.values())


def test_the_figure_grows_with_the_steps():
    changes = [("gain", "exponential"), ("ties", "stable"), ("undefined", 1.0), ("k", 3)]
    found = [explain_difference(Y, S, {}, dict(changes[:n]), groups=IDS) for n in range(5)]
    assert [len(each.changes) for each in found] == [*range(5)]
    heights = [each.plot().figure.get_figheight() for each in found]
    assert heights == sorted(set(heights))


@pytest.mark.parametrize("points", [10, 13])  # matplotlib's own size, and that of the pages
def test_what_is_below_the_steps_is_inside_the_figure(points):
    with plt.rc_context({"font.size": points}):
        figure = explain_difference(Y, S, "sklearn", "lightgbm", groups=IDS).plot().figure
        figure.canvas.draw()
    (ax,) = figure.axes
    (below,) = (text.get_window_extent() for text in ax.texts if "\n" in text.get_text())
    assert 0 < below.x0 < below.x1 < figure.bbox.x1
    assert 0 < below.y0 < below.y1 < ax.xaxis.label.get_window_extent().y0


@pytest.mark.parametrize(
    ("first", "k", "metric"),
    [
        pytest.param("sklearn", 3, "NDCG@3", id="of both"),
        pytest.param("sklearn", None, "NDCG", id="none"),
        pytest.param({"k": 2}, 3, "NDCG", id="of one"),
        pytest.param("sklearn", "retrieved", "NDCG@retrieved", id="retrieved"),
    ],
)
def test_the_axis_of_steps_names_the_cutoff_that_both_have(first, k, metric):
    found = explain_difference(Y, S, first, "lightgbm", groups=IDS, k=k)
    assert found.metric == found.plot().get_xlabel() == metric


def test_the_bars_of_a_query_are_gain_times_discount_beside_those_of_the_best_order():
    ax = explain_query([3, 2, 3, 0, 1, 2], k=5).plot()
    discount = 1 / np.log2(np.arange(2, 7))
    ours, best = ax.containers
    for bars_of, grades in ((ours, [3, 2, 3, 0, 1]), (best, [3, 3, 2, 2, 1])):
        heights = [bar.get_height() for bar in bars_of]
        np.testing.assert_allclose(heights, np.array(grades) * discount, atol=1e-12)
    middles = [[bar.get_x() + bar.get_width() / 2 for bar in bars_of] for bars_of in (ours, best)]
    np.testing.assert_allclose(np.mean(middles, axis=0), range(1, 6))
    assert (np.diff(middles, axis=0) > 0).all()
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    sums = [np.array(grades) @ discount for grades in ([3, 2, 3, 0, 1], [3, 3, 2, 2, 1])]
    assert all(f"{total:.4f}" in text for text, total in zip(legend, sums, strict=True))
    assert "NDCG@5" in ax.get_title()
    assert f"{sums[0] / sums[1]:.4f}" in ax.get_title()


def test_a_base_of_the_logarithm_changes_the_bars():
    ours, _ = explain_query([1, 1], log_base=10).plot().containers
    np.testing.assert_allclose([bar.get_height() for bar in ours], 1 / np.log10([2, 3]))


def test_a_query_without_ranks_has_no_bars():
    rows = from_lists({"$a_": {"A"}}, {"$a_": []}, k=5)
    ax = explain_query(rows, k="retrieved").plot()
    assert not ax.patches
    assert "$a_" in ax.get_title()
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: explain_query(Y), id="query"),
        pytest.param(lambda: explain_difference([Y], [S], "sklearn", "lightgbm"), id="difference"),
    ],
)
def test_a_plot_is_drawn_on_the_axes_that_are_passed(make):
    figure, axes = plt.subplots(2, layout="constrained")
    spines = axes[1].spines
    assert make().plot(axes[1], despine=True) is axes[1]
    assert [spines[side].get_visible() for side in ("top", "right", "left")] == [False, False, True]
    assert make().plot(axes[0]) is axes[0]
    assert plt.get_fignums() == [figure.number]
    assert make().plot().figure is not figure
