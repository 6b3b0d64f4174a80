"""What pictures share: axes, colours, names and legends; matplotlib is imported only to draw."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from sklearn_ndcg._checks import import_optional
from sklearn_ndcg._metrics.tables import percent, shortened
from sklearn_ndcg._rows.label_texts import label_text

_MATPLOTLIB = ("Drawing needs matplotlib", "matplotlib>=3.8")

# Colours that differ for the colour-blind too, on white and on black: four of Petroff (2021) and
# two lighter ones. There are six for each line style, and for each marker.
COLORS = ("#5790fc", "#f89c20", "#e42536", "#bf40aa", "#9c9ca1", "#17cf73")
_STYLES = ("-", "--", ":", "-.")
_MARKERS = "osD^v"

# What is not a ranker's, on light and on dark backgrounds: lines, and areas behind all others.
LINE = {"color": "0.5", "linewidth": 1}
AREA = {"color": "0.5", "alpha": 0.45, "linewidth": 0, "zorder": 0}
# A point on the line from one bound of an interval to the other.
POINT = {"linestyle": "-", "marker": "o", "markevery": [1]}

Display = TypeVar("Display", bound=Any)


def axes(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """These axes, or those of a new figure; with safe colours if nothing is drawn on them."""
    plt = import_optional("matplotlib.pyplot", *_MATPLOTLIB)
    ax = plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax
    if not ax.has_data():
        ax.set_prop_cycle(plt.cycler(linestyle=_STYLES) * plt.cycler(color=COLORS))
    return ax


def point(number: int) -> dict[str, Any]:
    """The style of a point with its interval: up to 30 differ in colour or marker."""
    marker = _MARKERS[number // len(COLORS) % len(_MARKERS)]
    return POINT | {"color": COLORS[number % len(COLORS)], "marker": marker}


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
    n_columns = max(scales, key=scales.__getitem__)
    fontsize = scales[n_columns] * legend.get_texts()[0].get_fontsize()
    ax.legend(**style | {"fontsize": fontsize}, ncols=n_columns)


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
