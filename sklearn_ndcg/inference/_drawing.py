"""What the displays share: axes, colours, names and legends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from sklearn_ndcg._checks import import_optional
from sklearn_ndcg._rows.grouping import shown_labels

# Colours that differ for the colour-blind too (Petroff 2021), for six curves of each line style.
COLORS = ("#5790fc", "#f89c20", "#e42536", "#964a8b", "#9c9ca1", "#7a21dd")
_LAST_COLORS = ("#b9ac70", "#92dadd")  # after all line styles
_STYLES = ("-", "--", ":", "-.")
MOST_CURVES = 30

Display = TypeVar("Display", bound=Any)


def matplotlib(module: str = "pyplot") -> Any:
    return import_optional(f"matplotlib.{module}", "Drawing needs matplotlib", "matplotlib>=3.8")


def axes(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """The given axes, or those of a new figure.

    Colours are safe if nothing has been drawn on them and the user has not chosen a cycle.
    """
    plt = matplotlib()
    ax = plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax
    key = "axes.prop_cycle"
    if not ax.has_data() and plt.rcParams[key] == plt.rcParamsDefault[key]:
        styles = plt.cycler(linestyle=_STYLES)
        colors, last = plt.cycler(color=COLORS), plt.cycler(color=_LAST_COLORS)
        ax.set_prop_cycle((styles * colors).concat(styles * last))
    return ax


def shade() -> dict[str, Any]:
    return {"color": ink(), "alpha": 0.2, "linewidth": 0, "zorder": 0}


def ink() -> Any:
    """The colour of lines that are not a ranker's, on light and on dark backgrounds."""
    return matplotlib().rcParams["axes.edgecolor"]


def style(default: dict[str, Any], own: Mapping[str, Any] | None) -> dict[str, Any]:
    """Keyword arguments of a line, with own ones, whose names may be short, in place of others."""
    own = matplotlib("cbook").normalize_kwargs(own or {}, matplotlib("lines").Line2D)
    return default | dict(own)


def finish(display: Display, ax: Any, despine: bool, **legend: Any) -> Display:
    """The display, with a legend and the axes that it was drawn on."""
    if despine:
        ax.spines[["top", "right"]].set_visible(False)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(**legend)
    display.ax_, display.figure_ = ax, ax.figure
    return display


def shortened(name: object, width: int = 40) -> str:
    """A name as one line, cut in the middle if it is longer than `width`."""
    text = name if isinstance(name, str) else shown_labels(np.fromiter([name], object, 1))
    text, half = " ".join(text.splitlines()), (width - 1) // 2
    return text if len(text) <= width else f"{text[:half]}\N{HORIZONTAL ELLIPSIS}{text[-half:]}"


def label(name: object, width: int = 40) -> str:
    """A short name that is not read as a formula, nor hidden from a legend by a leading "_"."""
    text = shortened(name, width).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def one_each(argument: str, value: Any, n: int) -> list[Any]:
    """An entry for each of n curves, from a list of them or from one for all."""
    if isinstance(value, list | tuple) and len(value) != n:
        raise ValueError(f"{argument} must have an entry for each of {n} curves, got {value}.")
    return list(value) if isinstance(value, list | tuple) else [value] * n
