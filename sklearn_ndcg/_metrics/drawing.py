"""What pictures share: axes and legends; matplotlib is imported only to draw."""

from __future__ import annotations

from typing import Any, TypeVar

from sklearn_ndcg._checks import import_optional
from sklearn_ndcg._metrics.tables import percent

LINE = {"color": "0.5", "linewidth": 1}  # of what is not a ranker's

Display = TypeVar("Display", bound=Any)


def axes(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """These axes, or those of a new figure."""
    if ax is not None:
        return ax
    plt = import_optional("matplotlib.pyplot", "Drawing needs matplotlib", "matplotlib>=3.8")
    return plt.subplots(figsize=size, layout="constrained")[1]


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
    """The axes, with a legend if anything has a label."""
    if despine:
        ax.spines[["top", "right"]].set_visible(False)
    if ax.get_legend_handles_labels()[1]:
        ax.legend()
    return ax


def interval_label(confidence_level: float) -> str:
    """What an interval is called in a legend."""
    return f"{percent(confidence_level)} confidence interval"
