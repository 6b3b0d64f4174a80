"""The artists, the legend and the looks of NDCGDisplay, made from numbers."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from helpers import drawn_texts, inside, legend

from sklearn_ndcg.inference import NDCGDisplay, _drawing

plt = pytest.importorskip("matplotlib.pyplot", reason="the extra `plot` is not installed")
plt.switch_backend("agg")

ABC = ["a", "b", "c"]
BAND = "0.95 interval"


def of_rankers(names, n_cutoffs=12):
    """A display of a curve with a band for each ranker."""
    level = np.linspace(0.5, 0.8, len(names))[:, np.newaxis]
    ndcg = level + np.linspace(0, 0.1, n_cutoffs)
    interval = ndcg[:, np.newaxis] + [[-0.05], [0.05]]
    k, chance = np.arange(1, n_cutoffs + 1), ndcg[0] / 2
    return NDCGDisplay(k=k, ndcg=ndcg, interval=interval, name=list(names), chance_level=chance)


def of_model(name="model", n_cutoffs=12):
    """A display of one curve with a band."""
    many = of_rankers([name], n_cutoffs)
    return replace(many, ndcg=many.ndcg[0], interval=many.interval[0], name=name)


def of_folds(name=None):
    """A display of four folds, without bands."""
    ndcg = np.array([[0.5, 0.6], [0.6, 0.7], [0.55, 0.65], [0.7, 0.89]])
    return NDCGDisplay(k=np.array([1, 5]), ndcg=ndcg, name=name, chance_level=np.array([0.3, 0.4]))


def assert_curve(line, band, ndcg, interval):
    """The line has the values, and the band of its colour the bounds."""
    assert line.get_ydata().tolist() == ndcg.tolist()
    edges = band.get_paths()[0].vertices[:, 1]
    assert [edges.min(), edges.max()] == [interval[0].min(), interval[1].max()]
    assert band.get_facecolor()[0, :3] == pytest.approx(
        plt.matplotlib.colors.to_rgb(line.get_color())
    )


def test_line_and_band():
    display = of_model().plot()
    assert_curve(display.line_, display.band_, display.ndcg, display.interval)
    assert display.line_.get_xdata().tolist() == display.k.tolist()
    assert display.line_.get_marker() == "None"
    assert display.band_ in display.ax_.collections
    assert display.band_.get_alpha() == pytest.approx(0.2)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("Cutoff k", "NDCG@k")
    assert display.figure_ is display.ax_.figure
    assert (display.chance_level_, display.fold_lines_) == (None, [])
    assert legend(display) == ["model", BAND]


def test_line_and_band_of_several_rankers():
    display = of_rankers(ABC).plot(plot_chance_level=True)
    for curve in zip(display.line_, display.band_, display.ndcg, display.interval, strict=True):
        assert_curve(*curve)
    assert len({line.get_color() for line in display.line_}) == 3
    assert display.fold_lines_ == []
    assert legend(display) == [*ABC, BAND, "Chance level"]
    alone = of_rankers(["a"]).plot()
    assert len(alone.line_) == len(alone.band_) == 1


def test_line_and_band_of_one_cutoff_are_a_point_with_its_interval():
    display = of_model(n_cutoffs=1).plot()
    assert display.line_.get_marker() == "o"
    vertices = display.band_.get_paths()[0].vertices
    assert set(vertices[:, 0]) == {1}
    assert [vertices[:, 1].min(), vertices[:, 1].max()] == display.interval[:, 0].tolist()
    assert display.band_.get_linewidth() > 0  # the edge, as the area is 0
    assert display.ax_.get_xticks().tolist() == [1]


@pytest.mark.parametrize(
    ("n_cutoffs", "ticks"),
    [(4, [1, 2, 3, 4]), (12, [1, 2, 4, 6, 8, 10, 12]), (20, [1, *range(2, 21, 2)])],
)
def test_ticks_are_cutoffs_from_the_first(n_cutoffs, ticks):
    display = of_model(n_cutoffs=n_cutoffs).plot()
    assert display.ax_.get_xticks().tolist() == ticks
    of_model(n_cutoffs=3).plot(ax=display.ax_)
    assert display.ax_.get_xticks().tolist() == ticks


def test_plot_chance_level_and_chance_level_kwargs():
    display = of_model().plot(plot_chance_level=True)
    assert display.chance_level_.get_ydata().tolist() == display.chance_level.tolist()
    assert legend(display) == ["model", BAND, "Chance level"]
    style = {"color": "red", "label": "Random"}
    display.plot(plot_chance_level=True, chance_level_kwargs=style)
    assert (display.chance_level_.get_color(), legend(display)[-1]) == ("red", "Random")
    with pytest.raises(ValueError, match="the display has no chance_level"):
        NDCGDisplay(k=np.array([1]), ndcg=np.array([1.0])).plot(plot_chance_level=True)


def test_ax_may_have_the_curves_of_other_displays():
    first = of_model("a").plot(curve_kwargs={"lw": 3})
    second = of_model("b", n_cutoffs=5).plot(first.ax_)
    assert second.ax_ is first.ax_
    assert first.line_.get_linewidth() == 3
    assert first.line_.get_color() != second.line_.get_color()
    assert legend(first) == ["a", BAND, "b"]


@pytest.mark.parametrize("n", [6, 7, 32])
def test_curves_can_be_told_apart(n):
    display = of_rankers(range(n)).plot()
    assert len({(line.get_color(), line.get_linestyle()) for line in display.line_}) == n
    assert (len({line.get_linestyle() for line in display.line_}) > 1) == (n > 6)


@pytest.mark.parametrize("n", [6, 32])
def test_legend_of_long_names_is_inside_the_figure_and_of_many_beside_the_axes(n):
    display = of_rankers(["a ranker " * 12 + str(i) for i in range(n)]).plot()
    assert inside(display)
    box, axes = (each.get_window_extent() for each in (display.ax_.get_legend(), display.ax_))
    assert (box.x0 >= axes.x1) == (n > 6)
    texts = legend(display)[:n]
    assert len(set(texts)) == n
    assert max(map(len, texts)) <= 30


def test_fold_lines_and_their_mean():
    display = of_folds("Ridge").plot()
    assert display.line_.get_ydata() == pytest.approx([0.5875, 0.71])
    assert [line.get_ydata().tolist() for line in display.fold_lines_] == display.ndcg.tolist()
    assert all(line.get_linewidth() > 0 for line in display.fold_lines_)
    assert display.band_ is None


@pytest.mark.parametrize(("name", "text"), [
    (None, "{}"), ("Ridge", "Ridge ({})"), ("Ridge " * 20, "Ridge Ridge Ri…e Ridge Ridge  ({})"),
])  # fmt: skip
def test_name_of_folds_stands_before_their_mean_and_spread(name, text):
    number = "NDCG@5 = 0.710 +/- 0.110"
    assert legend(of_folds(name).plot()) == [text.format(number)]
    assert legend(of_folds().plot(name=name)) == [text.format(number)]


def test_curve_kwargs_of_folds_are_for_all_lines():
    display = of_folds("Ridge").plot(curve_kwargs={"label": "mine", "color": "red"})
    assert legend(display) == ["mine"]
    assert {line.get_color() for line in [display.line_, *display.fold_lines_]} == {"red"}


def test_name_that_is_a_list_draws_each_fold_as_a_curve():
    styles = [{"linestyle": style} for style in ("-", "--", ":", "-.")]
    display = of_folds(list("abcd")).plot(curve_kwargs=styles, plot_chance_level=True)
    assert [line.get_linestyle() for line in display.line_] == ["-", "--", ":", "-."]
    assert [line.get_ydata().tolist() for line in display.line_] == display.ndcg.tolist()
    assert len({line.get_color() for line in display.line_}) == 4
    assert (display.fold_lines_, display.band_) == ([], None)
    assert legend(display) == [*"abcd", "Chance level"]


@pytest.mark.parametrize("entries", [{"name": ["a", "b"]}, {"curve_kwargs": [{}, {}]}])
@pytest.mark.parametrize("make", [lambda: of_rankers(ABC), of_model], ids=["rankers", "model"])
def test_name_and_curve_kwargs_have_an_entry_for_each_curve(make, entries):
    message = rf"^{next(iter(entries))} must have an entry for each of [13] curves, got \["
    with pytest.raises(ValueError, match=message):
        make().plot(**entries)
    assert not plt.get_fignums()


@pytest.mark.parametrize("kind", [list, tuple])
def test_curve_kwargs_may_be_a_style_for_each_ranker(kind):
    styles = [{"color": "red"}, {"linestyle": "--"}, {"label": "mine", "linewidth": 4}]
    display = of_rankers(ABC).plot(curve_kwargs=kind(styles))
    first, second, third = display.line_
    found = first.get_color(), second.get_linestyle(), third.get_linewidth()
    assert found == ("red", "--", 4)
    assert legend(display) == ["a", "b", "mine", BAND]


def test_name_in_plot_takes_the_place_of_that_of_the_display():
    display = of_rankers(ABC)
    assert legend(display.plot(name=["x", "y", "z"])) == ["x", "y", "z", BAND]
    assert len(display.plot(name="one for all").line_) == 3


def test_name_is_no_formula_and_is_shown_with_an_underscore_in_front():
    names = ["cost in $ per $", "$x^2$", "_a", 3]
    expected = [*((text, False) for text in ("cost in $ per $", "$x^2$", " _a", "3", BAND))]
    assert drawn_texts(of_rankers(names).plot()) == expected
    assert drawn_texts(of_model("$x^2$").plot())[0] == ("$x^2$", False)


def test_name_none_has_no_legend():
    assert NDCGDisplay(k=[1, 2], ndcg=np.ones(2)).plot().ax_.get_legend() is None


# Linear RGB as it is seen without one kind of cones (Machado, Oliveira and Fernandes 2009).
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def lab(color, seen):
    """CIE L*a*b* of a colour, as it is seen."""
    rgb = np.array(plt.matplotlib.colors.to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(to_xyz @ np.clip(seen @ linear, 1e-3, 1) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen", SEEN)
def test_colours_differ_for_everybody(seen):
    seen_colors = [lab(color, np.array(SEEN[seen])) for color in _drawing.COLORS]
    for one, other in combinations(seen_colors, 2):
        assert np.linalg.norm(one - other) > 20


LONG = [f"country number {i} with a rather long name" for i in range(9)]
A14, B14 = "a" * 14, "b" * 14


@pytest.mark.parametrize(("names", "expected"), [
    (["a" * 30], ["a" * 30]), (["a" * 20 + "b" * 20], [f"{A14}…{B14}"]),
    (["two\nlines"], ["two lines"]), ([("AT", 1)], ["('AT', 1)"]),
    ([np.datetime64("2024-01-31T00:00:00")], ["2024-01-31"]), (["_a$"], [r" _a\$"]),
    (LONG, LONG),  # they are cut less if they would be the same
    (["a" * 40, "b" * 40], [f"{A14}…{A14}", f"{B14}…{B14}"]), ([0, "a" * 60], ["0", f"{A14}…{A14}"]),
])  # fmt: skip
def test_name_in_a_legend_is_short_and_no_other(names, expected):
    assert _drawing.labels(names) == expected
