"""How results of all folders look: tables as text, and the axes of pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from sklearn_ndcg._checks import import_optional

LINE = {"color": "0.5", "linewidth": 1}  # of what is not a ranker's

_MOST_ROWS = 40  # of more rows the first and the last are shown
_WIDEST, _SHORTEST = 100, 19  # characters of a line, and of a text that is cut


class TextTable(NamedTuple):
    """Header and rows of cells; columns in `text` are aligned left, others right.

    Where a line would be too long, texts are cut in the middle. A title is a line above.
    """

    header: list[str]
    rows: list[list[str]]
    text: Sequence[int] = (0,)
    title: str = ""

    def __str__(self) -> str:
        columns = self._cut([list(column) for column in zip(*self._shown(), strict=True)])
        for number, column in enumerate(columns):
            width = max(map(len, column))
            align = str.ljust if number in self.text else str.rjust
            columns[number] = [align(cell, width) for cell in column]
        lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
        return "\n".join([self.title, *lines] if self.title else lines)

    def _shown(self) -> list[list[str]]:
        """The header and the rows; of many rows the first and the last."""
        rows, half = self.rows, _MOST_ROWS // 2
        if len(rows) > _MOST_ROWS:
            rows = [*rows[:half], ["..."] * len(self.header), *rows[-half:]]
        # names of rankers may have line breaks
        return [[" ".join(cell.splitlines()) for cell in row] for row in [self.header, *rows]]

    def _cut(self, columns: list[list[str]]) -> list[list[str]]:
        """The columns with texts as long as a line has room for."""
        widths = [max(map(len, column)) for column in columns]
        surplus = sum(widths) + 2 * (len(widths) - 1) - _WIDEST
        longest = widest = max((widths[number] for number in self.text), default=0)
        while longest > _SHORTEST and surplus > sum(
            max(0, widths[number] - longest) for number in self.text
        ):
            longest -= 1
        texts = list(chain(*(columns[number] for number in self.text)))
        short = _shortened(texts, range(longest, widest + 1))
        short_of = dict(zip(texts, short, strict=True))
        return [
            [short_of[cell] for cell in column] if number in self.text else column
            for number, column in enumerate(columns)
        ]


def _shortened(names: Iterable[str], lengths: Iterable[int]) -> list[str]:
    """Names cut in the middle to the first of these lengths that leaves no two of them alike."""
    whole = list(names)
    for longest in lengths:
        half = (longest - 3) // 2
        short = [n if len(n) <= longest else f"{n[:half]}...{n[-half:]}" for n in whole]
        if len({*short}) == len({*whole}):
            break
    return short


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
