"""What pictures share: axes, colours, names and legends; matplotlib is imported only to draw."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from sklearn_ndcg._checks import import_optional, warn
from sklearn_ndcg._metrics.tables import percent, shortened
from sklearn_ndcg._rows.label_texts import label_text

_MATPLOTLIB = ("Drawing needs matplotlib", "matplotlib>=3.8")

# Colours that differ for the colour-blind too, and from white and from black by a contrast of at
# least 3:1. None is grey, which is for what is not a ranker's. There are six for each line style,
# and for each marker.
COLORS = ("#0069c3", "#c38700", "#b42d1e", "#00a55a", "#8700ff", "#f05aa5")
_STYLES = ("-", "--", ":", "-.")
_MARKERS = "osD^v"

# What is not a ranker's, on light and on dark backgrounds: lines, and areas behind all others.
GREY = "0.5"
LINE = {"color": GREY, "linewidth": 1}
AREA = {"color": GREY, "alpha": 0.45, "linewidth": 0, "zorder": 0}
# A point on the line from one bound of an interval to the other.
POINT = {"linestyle": "-", "marker": "o", "markevery": [1]}

SMALLEST = 5  # font size in points, which can be read in print

Display = TypeVar("Display", bound=Any)


def axes(ax: Any, size: tuple[float, float] | None = None) -> tuple[Any, list[Any]]:
    """These axes, or those of a new figure, and the colours of rankers.

    The next lines differ in colour or style.
    """
    plt = import_optional("matplotlib.pyplot", *_MATPLOTLIB)
    ax = plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax
    if ax.has_data():
        return ax, _colors(plt.rcParams["axes.prop_cycle"].by_key().get("color", []))
    colors = _colors(_next_colors(ax))
    ax.set_prop_cycle(plt.cycler(linestyle=_STYLES) * plt.cycler(color=colors))
    return ax, colors


def _colors(chosen: list[Any]) -> list[Any]:
    """The colours of rankers: the user's, if they have chosen a cycle, or safe ones."""
    plt = import_optional("matplotlib.pyplot", *_MATPLOTLIB)
    to_hex = import_optional("matplotlib.colors", *_MATPLOTLIB).to_hex
    default = map(to_hex, plt.rcParamsDefault["axes.prop_cycle"].by_key()["color"])
    if {*map(to_hex, chosen)} <= {*default}:
        return [*COLORS]
    others = [color for color in chosen if not _is_grey(color)]
    return others if len(others) > len(chosen) / 2 else chosen


def _next_colors(ax: Any) -> list[Any]:
    """The colours of the axes' cycle, which matplotlib shows only by drawing with them."""
    colors: list[Any] = []
    while True:
        line = ax.plot([], [])[0]
        color = line.get_color()
        line.remove()
        if color in (*colors, "C0"):  # of a cycle without colours
            return colors
        colors.append(color)


def _is_grey(color: Any) -> bool:
    """Whether a colour is like that of what is not a ranker's."""
    to_rgb = import_optional("matplotlib.colors", *_MATPLOTLIB).to_rgb
    low, high = min(to_rgb(color)), max(to_rgb(color))
    return bool(high - low < 0.05 and 0.3 < low < 0.8)


def point(colors: list[Any], color: int, marker: int | None = None) -> dict[str, Any]:
    """The style of the point of a ranker, by its number: the first 30 differ in colour or marker.

    Pairs of rankers have a number for their colour and another for their marker.
    """
    marker = color // len(colors) if marker is None else marker
    style = {"color": colors[color % len(colors)], "marker": _MARKERS[marker % len(_MARKERS)]}
    return POINT | style


def one_each(argument: str, value: Any, n: int, of: str = "curves") -> list[Any]:
    """An entry for each of n curves, from a list of them or from one for all."""
    if isinstance(value, list | tuple) and len(value) != n:
        raise ValueError(f"{argument} must have an entry for each of {n} {of}, got {value}.")
    return list(value) if isinstance(value, list | tuple) else [value] * n


def finish(display: Display, ax: Any, despine: bool) -> Display:
    """The display, on finished axes."""
    display.ax_ = finish_axes(ax, despine)
    display.figure_ = ax.figure
    return display


def finish_axes(ax: Any, despine: bool) -> Any:
    """The axes, with a legend below them if anything has a label."""
    if despine:
        ax.spines[["top", "right"]].set_visible(False)
    if ax.get_legend_handles_labels()[1]:
        _draw_legend(ax)
    _layout(ax)
    for axis, side, room in ((ax.xaxis, "width", 1), (ax.yaxis, "height", 1.1)):
        size = getattr(axis.label.get_window_extent(), side)
        if size:
            scale = room * getattr(ax.bbox, side) / size
            axis.label.set_fontsize(shrunk(axis.label.get_fontsize(), scale))
    return ax


def _draw_legend(ax: Any) -> None:
    """Draw a legend below the label of the x axis, in as many columns as there is room for."""
    transforms = import_optional("matplotlib.transforms", *_MATPLOTLIB)
    if (legend := ax.get_legend()) is not None:
        legend.remove()
    _layout(ax)
    figure, n_entries = ax.figure, len(ax.get_legend_handles_labels()[1])
    whole, inner = ax.get_tightbbox(), ax.bbox
    below = (ax.xaxis.get_tightbbox().y0 - inner.y0) / figure.dpi - 0.06
    shift = transforms.ScaledTranslation(0, below, figure.dpi_scale_trans)
    style = {
        "loc": "upper right",
        "bbox_to_anchor": (1, 0),
        "bbox_transform": ax.transAxes + shift,
        "frameon": False,
        "borderpad": 0,
        "borderaxespad": 0,
        "fontsize": "small",
    }
    scales = {}
    for n_columns in range(min(n_entries, 6), 0, -1):
        legend = ax.legend(**style, ncols=n_columns)
        box = legend.get_window_extent()
        room = (inner.x1 - whole.x0) / box.width, 0.3 * whole.height / box.height
        scales[n_columns] = min(1, *room)
        if scales[n_columns] == 1:
            return
    n_columns = max(scales, key=scales.__getitem__)
    fontsize, room = legend.get_texts()[0].get_fontsize(), scales[n_columns]
    smaller = shrunk(fontsize, room)
    ax.legend(**style | {"fontsize": smaller}, ncols=n_columns)
    if smaller > 1.01 * room * fontsize:
        width, height = figure.get_size_inches()
        warn(
            f"A legend of {n_entries} entries has no room in a figure of {width:g} x {height:g} "
            f"inches: its text is not made smaller than {SMALLEST} points. Make the figure larger."
        )


def shrunk(fontsize: float, scale: float) -> float:
    """A font size made smaller, as far as it can be read."""
    return max(fontsize * min(scale, 1), min(fontsize, SMALLEST))


def _layout(ax: Any) -> None:
    """Give the axes the size that they will have; in a figure without a layout, make room once."""
    engine = ax.figure.get_layout_engine()
    spec = ax.get_subplotspec()
    if engine is None and spec is not None and spec.get_topmost_subplotspec().get_gridspec().figure:
        engine = import_optional("matplotlib.layout_engine", *_MATPLOTLIB).ConstrainedLayoutEngine()
    if engine is not None:
        engine.execute(ax.figure.figure)


def longest_name(ax: Any) -> int:
    """How many characters of a name the axes have room for."""
    if ax is None:
        return 30
    return int(np.clip(6 * ax.get_window_extent().width / ax.figure.dpi, 12, 30))


def labels(names: Iterable[object], longest: int = 30) -> list[str]:
    """Names as short lines that are not read as formulas, nor hidden by a leading "_"."""
    lines = [" ".join(label_text(name).splitlines()) for name in names]
    short = shortened(lines, (longest, 30, 50, 70), dots="\N{HORIZONTAL ELLIPSIS}")
    return [(" " * line.startswith("_") + line).replace("$", r"\$") for line in short]


def prefix(name: object) -> str:
    """What stands before a text in a legend: a name, or nothing."""
    return "" if name is None else f"{labels([name])[0]}: "


def interval_label(confidence_level: float) -> str:
    """What an interval is called in a legend."""
    return f"{percent(confidence_level)} confidence interval"
