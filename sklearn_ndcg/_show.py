"""How results of all folders look: tables as text, and the axes of pictures."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from typing import Any

from sklearn_ndcg._checks import import_optional

LINE = {"color": "0.5", "linewidth": 1}  # of what is not a ranker's

_MOST_ROWS = 40  # of more rows the first and the last are shown
_WIDEST, _SHORTEST = 100, 19  # characters of a line, and of a text that is cut


def text_table(columns: Mapping[str, list[str]], text: Collection[str], title: str = "") -> str:
    """A table of columns by their headers; those in `text` are aligned left, others right.

    Where a line would be too long, texts are cut in the middle. A title is a line above.
    """
    cells = {header: _shown([header, *column]) for header, column in columns.items()}
    surplus = sum(2 + _width(column) for column in cells.values()) - 2 - _WIDEST
    cells |= _shortened({header: cells[header] for header in cells if header in text}, surplus)
    for header, column in cells.items():
        align = str.ljust if header in text else str.rjust
        cells[header] = [align(cell, _width(column)) for cell in column]
    lines = ["  ".join(row).rstrip() for row in zip(*cells.values(), strict=True)]
    return "\n".join([title, *lines] if title else lines)


def _shown(column: list[str]) -> list[str]:
    """A column, whose first cell is its header; of many rows the first and the last."""
    if len(column) - 1 > _MOST_ROWS:
        half = _MOST_ROWS // 2
        column = [*column[: 1 + half], "...", *column[-half:]]
    return [" ".join(cell.splitlines()) for cell in column]  # names of rankers may have line breaks


def _width(column: list[str]) -> int:
    return max(map(len, column))


def _shortened(columns: dict[str, list[str]], surplus: int) -> dict[str, list[str]]:
    """Columns of texts, cut to remove so many characters from each line; none become alike."""
    widths = [_width(column) for column in columns.values()]
    longest = widest = max(widths, default=0)
    while longest > _SHORTEST and surplus > sum(max(0, width - longest) for width in widths):
        longest -= 1
    texts = {*chain(*columns.values())}
    for length in range(longest, widest + 1):
        half = (length - 3) // 2
        short = {t: t if len(t) <= length else f"{t[:half]}...{t[-half:]}" for t in texts}
        if len({*short.values()}) == len(texts):
            break
    return {header: [short[cell] for cell in column] for header, column in columns.items()}


def percent(level: float) -> str:
    """A confidence level in percent, without zeros at the end."""
    return f"{100 * level:.6g}%"


def axes(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """These axes, or those of a new figure; matplotlib is imported only to draw."""
    if ax is None:
        plt = import_optional("matplotlib.pyplot", "Drawing needs matplotlib", "matplotlib>=3.8")
        return plt.subplots(figsize=size, layout="constrained")[1]
    if not hasattr(ax, "get_legend_handles_labels"):
        raise TypeError(f"ax must be matplotlib Axes or None, got {ax!r}.")
    return ax


def one_each(argument: str, value: Any, n: int, of: str = "curves") -> list[Any]:
    """An entry for each of n curves, from a list of them or from one for all."""
    if isinstance(value, list | tuple) and len(value) != n:
        raise ValueError(f"{argument} must have an entry for each of {n} {of}, got {value}.")
    return list(value) if isinstance(value, list | tuple) else [value] * n


def finish(ax: Any, despine: bool) -> Any:
    """The axes, with a legend if anything has a label."""
    if despine:
        ax.spines[["top", "right"]].set_visible(False)
    if ax.get_legend_handles_labels()[1]:
        ax.legend()
    return ax
