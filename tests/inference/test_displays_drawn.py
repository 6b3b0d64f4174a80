"""The artists, the legend and the looks of NDCGDisplay, made from numbers."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from helpers import drawn_texts, legend

from sklearn_ndcg.inference import NDCGDisplay, _drawing

plt = pytest.importorskip("matplotlib.pyplot", reason="the extra `plot` is not installed")
plt.switch_backend("agg")

ABC = ["a", "b", "c"]
INTERVAL = "95% confidence interval"


def of_rankers(names, k=range(1, 13)):
    """A display of a curve with a band for each ranker."""
    k = np.array(k)
    ndcg = np.linspace(0.4, 0.6, len(k)) + 0.01 * np.arange(len(names))[:, np.newaxis]
    interval = np.stack([ndcg - 0.1, ndcg + 0.1], axis=1)
    return NDCGDisplay(
        k=k, ndcg=ndcg, interval=interval, name=list(names), chance_level=ndcg[0] / 2
    )


def of_model(name="model", k=range(1, 13)):
    """A display of one curve with a band."""
    several = of_rankers([name], k)
    return replace(several, ndcg=several.ndcg[0], interval=several.interval[0], name=name)


def of_folds(name=None):
    """A display of four folds, without bands."""
    ndcg = np.array([[0.5, 0.6], [0.6, 0.7], [0.55, 0.65], [0.7, 0.89]])
    return NDCGDisplay(k=np.array([1, 5]), ndcg=ndcg, name=name, chance_level=np.array([0.3, 0.4]))


def bounds_of(band):
    edges = band.get_paths()[0].vertices[:, 1]
    return edges.min(), edges.max()


def rgb(color):
    return plt.matplotlib.colors.to_rgb(color)


def test_line_and_band():
    display = of_model().plot()
    assert display.line_.get_xdata().tolist() == display.k.tolist()
    assert display.line_.get_ydata().tolist() == display.ndcg.tolist()
    assert bounds_of(display.band_) == (display.interval[0].min(), display.interval[1].max())
    assert 0.2 < display.band_.get_alpha() < 0.5
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("Cutoff k", "NDCG@k")
    assert display.figure_ is display.ax_.figure
    assert (display.chance_level_, display.fold_lines_) == (None, [])
    assert legend(display) == ["model", INTERVAL]


def test_line_and_band_of_each_ranker_have_its_colour():
    display = of_rankers(ABC).plot(plot_chance_level=True)
    assert [line.get_ydata().tolist() for line in display.line_] == display.ndcg.tolist()
    expected = [(low.min(), high.max()) for low, high in display.interval]
    assert [bounds_of(band) for band in display.band_] == expected
    colors = [rgb(line.get_color()) for line in display.line_]
    assert len(set(colors)) == 3
    assert [tuple(band.get_facecolor()[0, :3]) for band in display.band_] == colors
    assert display.fold_lines_ == []
    assert legend(display) == [*ABC, INTERVAL, "Chance level"]


@pytest.mark.parametrize("name", ["model", None])
def test_one_cutoff_is_a_point_with_a_bar_as_in_the_legend(name):
    display = of_model(name, k=[1]).plot()
    assert display.line_.get_marker() == "o"
    assert display.band_.get_segments()[0].tolist() == [[1, low] for low in display.interval[:, 0]]
    bar = display.ax_.get_legend().legend_handles[-1]
    assert rgb(bar.get_color()) == rgb(display.line_.get_color())  # a patch has no get_color
    assert display.ax_.get_xticks().tolist() == [1]


@pytest.mark.parametrize(
    ("k", "ticks", "marker"),
    [
        (range(1, 5), [1, 2, 3, 4], "None"),
        (range(1, 21), [1, *range(2, 21, 2)], "None"),
        ([1, 5, 10, 30], [1, 5, 10, 30], "o"),
        ([1, 2, 3, 50, 99, 100], [1, 50, 100], "o"),  # where numbers have room
    ],
    ids=["few", "many", "chosen", "close"],
)
def test_ticks_are_cutoffs_and_chosen_cutoffs_are_marked(k, ticks, marker):
    display = of_model(k=k).plot()
    assert display.ax_.get_xticks().tolist() == ticks
    marked = {*ticks, *display.ax_.get_xticks(minor=True)}
    assert display.line_.get_marker() == marker
    assert marker == "None" or marked == set(k)


def test_ticks_of_a_shorter_curve_on_the_same_axes_stay():
    display = of_model().plot()
    ticks = display.ax_.get_xticks().tolist()
    of_model(k=[1, 2, 3]).plot(ax=display.ax_)
    assert display.ax_.get_xticks().tolist() == ticks


def test_chance_level_and_its_style():
    display = of_model().plot(plot_chance_level=True)
    assert display.chance_level_.get_ydata().tolist() == display.chance_level.tolist()
    assert legend(display) == ["model", INTERVAL, "Chance level"]
    style = {"color": "red", "label": "Random"}
    display.plot(plot_chance_level=True, chance_level_kwargs=style)
    assert (display.chance_level_.get_color(), legend(display)[-1]) == ("red", "Random")
    with pytest.raises(ValueError, match="the display has no chance_level"):
        replace(of_model(), chance_level=None).plot(plot_chance_level=True)


def test_ax_may_have_the_curves_of_other_displays():
    first = of_model("a").plot(curve_kwargs={"lw": 3})
    second = of_model("b", k=range(1, 6)).plot(first.ax_)
    assert second.ax_ is first.ax_
    assert first.line_.get_linewidth() == 3
    assert first.line_.get_color() != second.line_.get_color()
    assert legend(first) == ["a", INTERVAL, "b"]


def test_24_curves_can_be_told_apart():
    display = of_rankers(range(24)).plot()
    styles = [(line.get_color(), line.get_linestyle()) for line in display.line_]
    assert len(set(styles)) == 24
    assert {style for _, style in styles[:6]} == {"-"}


def test_fold_lines_and_their_mean():
    display = of_folds("Ridge").plot(curve_kwargs={"label": "mine", "color": "red"})
    assert display.line_.get_ydata() == pytest.approx([0.5875, 0.71])
    assert [line.get_ydata().tolist() for line in display.fold_lines_] == display.ndcg.tolist()
    assert {line.get_color() for line in [display.line_, *display.fold_lines_]} == {"red"}
    assert display.band_ is None
    assert legend(display) == ["mine"]


@pytest.mark.parametrize(("name", "text"), [(None, "{}"), ("Ridge", "Ridge ({})")])
def test_legend_of_folds_has_their_mean_and_spread(name, text):
    number = "NDCG@5 = 0.710 +/- 0.110"
    assert legend(of_folds(name).plot()) == [text.format(number)]
    assert legend(of_folds().plot(name=name)) == [text.format(number)]


def test_list_of_names_draws_each_fold_as_a_curve():
    display = of_folds(list("abcd")).plot(plot_chance_level=True)
    assert [line.get_ydata().tolist() for line in display.line_] == display.ndcg.tolist()
    assert (display.fold_lines_, display.band_) == ([], None)
    assert legend(display) == [*"abcd", "Chance level"]


@pytest.mark.parametrize("entries", [{"name": ["a", "b"]}, {"curve_kwargs": [{}, {}]}])
@pytest.mark.parametrize("make", [lambda: of_rankers(ABC), of_model], ids=["rankers", "model"])
def test_name_and_curve_kwargs_without_an_entry_per_curve_raise(make, entries):
    message = rf"^{next(iter(entries))} must have an entry for each of [13] curves, got \["
    with pytest.raises(ValueError, match=message):
        make().plot(**entries)
    assert not plt.get_fignums()


@pytest.mark.parametrize("kind", [list, tuple])
def test_curve_kwargs_may_be_a_style_for_each_ranker(kind):
    styles = [{"color": "red"}, {"linestyle": "--"}, {"label": "mine", "linewidth": 4}]
    display = of_rankers(ABC).plot(curve_kwargs=kind(styles))
    first, second, third = display.line_
    drawn = first.get_color(), second.get_linestyle(), third.get_linewidth()
    assert drawn == ("red", "--", 4)
    assert legend(display) == ["a", "b", "mine", INTERVAL]


def test_name_in_plot_replaces_that_of_the_display():
    display = of_rankers(ABC)
    assert legend(display.plot(name=["x", "y", "z"])) == ["x", "y", "z", INTERVAL]
    assert len(display.plot(name="one for all").line_) == 3


def test_names_are_not_formulas_and_are_shown_with_an_underscore_in_front():
    display = of_rankers(["cost in $ per $", "$x^2$", "_a", 3]).plot()
    texts = ["cost in $ per $", "$x^2$", " _a", "3", INTERVAL]
    assert drawn_texts(display) == [(text, False) for text in texts]


def test_display_without_name_and_interval_has_no_legend():
    assert NDCGDisplay(k=[1, 2], ndcg=np.ones(2)).plot().ax_.get_legend() is None


# Linear RGB as it is seen without one kind of cones (Machado, Oliveira and Fernandes 2009).
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear_rgb(color):
    channels = np.array(rgb(color))
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("seen", SEEN)
def test_colours_differ_for_everybody(seen):
    labs = []
    for color in _drawing.COLORS:
        linear = np.clip(SEEN[seen] @ linear_rgb(color), 1e-3, 1)
        x, y, z = np.cbrt(TO_XYZ @ linear / [0.9505, 1, 1.089])
        labs.append(np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)]))
    assert min(np.linalg.norm(one - other) for one, other in combinations(labs, 2)) > 20


@pytest.mark.parametrize("color", _drawing.COLORS)
def test_colours_are_visible_on_white_and_on_black(color):
    luminance = TO_XYZ[1] @ linear_rgb(color)
    assert 1.05 / (luminance + 0.05) > 2
    assert (luminance + 0.05) / 0.05 > 4


A14, B14 = "a" * 14, "b" * 14
ALIKE = [f"country number {i} with a rather long name" for i in range(9)]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a" * 30], ["a" * 30]),
        (["a" * 20 + "b" * 20], [f"{A14}…{B14}"]),
        (["two\nlines"], ["two lines"]),
        ([("AT", 1)], ["('AT', 1)"]),
        ([np.datetime64("2024-01-31T00:00:00")], ["2024-01-31"]),
        (["_a$"], [r" _a\$"]),
        (ALIKE, ALIKE),  # they are cut less if they would be the same
    ],
    ids=["short", "long", "two lines", "tuple", "date", "formula", "alike"],
)
def test_name_in_a_picture_is_one_short_line(names, expected):
    assert _drawing.labels(names) == expected
