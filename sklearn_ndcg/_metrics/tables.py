"""Tables of results, as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import NamedTuple


class Table(NamedTuple):
    """Header and rows of cells; columns in `left` are aligned left, others right."""

    header: list[str]
    rows: list[list[str]]
    left: tuple[int, ...] = (0,)

    def text(self) -> str:
        """Lines of text."""
        # names of rankers may have line breaks
        rows = [[" ".join(cell.splitlines()) for cell in row] for row in [self.header, *self.rows]]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for row in rows:
            cells = [
                cell.ljust(width) if i in self.left else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def html(self) -> str:
        """A table of HTML, as a notebook shows it."""
        body = "".join(self._html_row("td", row) for row in self.rows)
        head = self._html_row("th", self.header)
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"

    def _html_row(self, tag: str, row: list[str]) -> str:
        sides = ["left" if i in self.left else "right" for i in range(len(row))]
        cells = [
            f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>'
            for side, cell in zip(sides, row, strict=True)
        ]
        return f"<tr>{''.join(cells)}</tr>"
