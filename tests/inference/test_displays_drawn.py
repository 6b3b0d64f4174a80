"""The artists, the legend and the looks of NDCGDisplay, made from numbers."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import legend

from sklearn_ndcg.inference import NDCGDisplay

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
    assert 0.1 < display.band_.get_alpha() < 0.5
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


def test_one_cutoff_is_a_point_with_a_bar():
    display = of_model(k=[1]).plot()
    assert display.line_.get_marker() == "o"
    (bars,) = display.band_.lines[2]
    assert bars.get_segments()[0].tolist() == [[1, bound] for bound in display.interval[:, 0]]
    assert legend(display) == ["model", INTERVAL]


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
    assert legend(first) == ["a", INTERVAL, "b", INTERVAL]


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


@pytest.mark.parametrize("entries", [{"name": ["a", "b"]}, {"curve_kwargs": [{}, {}]}])
@pytest.mark.parametrize("make", [lambda: of_rankers(ABC), of_model], ids=["rankers", "model"])
def test_name_and_curve_kwargs_without_an_entry_per_curve_raise(make, entries):
    message = rf"^{next(iter(entries))} must have an entry for each of [13] curves, got \["
    with pytest.raises(ValueError, match=message):
        make().plot(**entries)
    assert not plt.get_fignums()


def test_curve_kwargs_may_be_a_style_for_each_ranker():
    styles = [{"color": "red"}, {"linestyle": "--"}, {"label": "mine", "linewidth": 4}]
    display = of_rankers(ABC).plot(curve_kwargs=styles)
    first, second, third = display.line_
    drawn = first.get_color(), second.get_linestyle(), third.get_linewidth()
    assert drawn == ("red", "--", 4)
    assert legend(display) == ["a", "b", "mine", INTERVAL]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        (list("abcd"), {}),
        (None, {"name": list("abcd")}),
        (None, {"curve_kwargs": [{"label": letter} for letter in "abcd"]}),
    ],
    ids=["of the display", "of the plot", "in curve_kwargs"],
)
def test_list_with_an_entry_per_fold_draws_each_as_a_curve(name, options):
    display = of_folds(name).plot(plot_chance_level=True, **options)
    assert [line.get_ydata().tolist() for line in display.line_] == display.ndcg.tolist()
    assert (display.fold_lines_, display.band_) == ([], None)
    assert legend(display) == [*"abcd", "Chance level"]


def test_names_may_be_of_any_kind():
    names = [("AT", 1), np.datetime64("2024-01-31T00:00:00"), 3]
    assert legend(of_rankers(names).plot()) == ["('AT', 1)", "2024-01-31", "3", INTERVAL]


def test_display_without_name_and_interval_has_no_legend():
    assert NDCGDisplay(k=[1, 2], ndcg=np.ones(2)).plot().ax_.get_legend() is None
