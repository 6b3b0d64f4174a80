"""What the displays share: axes, colours, names and legends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from sklearn_ndcg._checks import import_optional
from sklearn_ndcg._rows.grouping import shown_labels

# Colours that differ for the colour-blind too (Petroff 2021), for six curves of each line style.
COLORS = ("#5790fc", "#f89c20", "#e42536", "#964a8b", "#9c9ca1", "#7a21dd")
_LAST_COLORS = ("#b9ac70", "#92dadd")  # after all line styles
_STYLES = ("-", "--", ":", "-.")

# What is not a ranker's, on light and on dark backgrounds: lines, and areas behind all others.
LINE = {"color": "0.5", "linewidth": 1}
AREA = {"color": "0.5", "alpha": 0.3, "linewidth": 0, "zorder": 0}

Display = TypeVar("Display", bound=Any)


def axes(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """The given axes, or those of a new figure; with safe colours if nothing is drawn on them."""
    plt = import_optional("matplotlib.pyplot", "Drawing needs matplotlib", "matplotlib>=3.8")
    ax = plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax
    if not ax.has_data():
        styles = plt.cycler(linestyle=_STYLES)
        colors, last = plt.cycler(color=COLORS), plt.cycler(color=_LAST_COLORS)
        ax.set_prop_cycle((styles * colors).concat(styles * last))
    return ax


def finish(display: Display, ax: Any, despine: bool, **legend: Any) -> Display:
    """The display, with a legend and the axes that it was drawn on."""
    if despine:
        ax.spines[["top", "right"]].set_visible(False)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(**legend)
    display.ax_, display.figure_ = ax, ax.figure
    return display


def labels(names: Iterable[object]) -> list[str]:
    """Names as labels, cut less if two of them would be the same."""
    names = list(names)
    for longest in (30, 50, 70):
        found = [label(name, longest) for name in names]
        if len({*found}) == len({*map(str, names)}):
            break
    return found


def label(name: object, longest: int = 30) -> str:
    """A name as one line, which is not read as a formula, nor hidden by a leading "_".

    It is cut in the middle if it is longer than `longest` characters.
    """
    text = name if isinstance(name, str) else shown_labels(np.fromiter([name], object, 1))
    text, half = " ".join(text.splitlines()), longest // 2 - 1
    text = text if len(text) <= longest else f"{text[:half]}\N{HORIZONTAL ELLIPSIS}{text[-half:]}"
    return (" " * text.startswith("_") + text).replace("$", r"\$")


def prefix(name: object) -> str:
    """What stands before a text in a legend: a name, or nothing."""
    return "" if name is None else f"{label(name)}: "
