"""What the displays share: axes, colours, names and legends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from sklearn_ndcg._checks import import_optional
from sklearn_ndcg._rows.grouping import label_text
from sklearn_ndcg.inference._results import shortened

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
    """Names as short lines that are not read as formulas, nor hidden by a leading "_"."""
    lines = [" ".join(label_text(name).splitlines()) for name in names]
    short = shortened(lines, (30, 50, 70), dots="\N{HORIZONTAL ELLIPSIS}")
    return [(" " * line.startswith("_") + line).replace("$", r"\$") for line in short]


def prefix(name: object) -> str:
    """What stands before a text in a legend: a name, or nothing."""
    return "" if name is None else f"{labels([name])[0]}: "
