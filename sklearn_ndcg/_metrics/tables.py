"""Tables of results, as text and in notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain, repeat
from typing import ClassVar, NamedTuple

MOST_ROWS = 40  # of more rows the first and the last are shown
_WIDEST, _SHORTEST = 100, 19  # characters of a line, and of a text that is cut


class Table(NamedTuple):
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

    def html(self) -> str:
        """The table as notebooks show it, in the style of pandas."""
        aligned = ["left" if n in self.text else "right" for n in range(len(self.header))]
        header, *rows = (
            "".join(
                f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>'
                for cell, side in zip(row, aligned, strict=True)
            )
            for tag, row in zip(chain(["th"], repeat("td")), self._shown(), strict=False)
        )
        title = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return (
            f'<table border="1" class="dataframe">{title}<thead><tr>{header}</tr></thead>'
            f"<tbody>{body}</tbody></table>"
        )

    def _shown(self) -> list[list[str]]:
        """The header and the rows; of many rows the first and the last."""
        rows, half = self.rows, MOST_ROWS // 2
        if len(rows) > MOST_ROWS:
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
        short = shortened(texts, range(longest, widest + 1))
        short_of = dict(zip(texts, short, strict=True))
        return [
            [short_of[cell] for cell in column] if number in self.text else column
            for number, column in enumerate(columns)
        ]


class Printed(ABC):
    """A result that prints as tables and texts, which notebooks show as well."""

    _gap: ClassVar = "\n\n"  # between two of them

    @abstractmethod
    def _parts(self) -> list[Table | str]:
        """Its tables and texts, one below another."""

    def __repr__(self) -> str:
        return self._gap.join(map(str, self._parts()))

    def _repr_html_(self) -> str:
        return "".join(
            part.html()
            if isinstance(part, Table)
            else f"<p>{'<br>'.join(escape(part).splitlines())}</p>"
            for part in self._parts()
        )


def percent(level: float) -> str:
    """A confidence level in percent, without zeros at the end."""
    return f"{100 * level:.6g}%"


def shortened(names: Iterable[str], lengths: Iterable[int], dots: str = "...") -> list[str]:
    """Names cut in the middle to the first of these lengths that leaves no two of them alike."""
    whole = list(names)
    for longest in lengths:
        half = (longest - len(dots)) // 2
        short = [n if len(n) <= longest else f"{n[:half]}{dots}{n[-half:]}" for n in whole]
        if len({*short}) == len({*whole}):
            break
    return short
