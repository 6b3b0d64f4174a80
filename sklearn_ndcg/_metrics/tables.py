"""Tables of results, as text."""

from __future__ import annotations

from typing import NamedTuple


class Table(NamedTuple):
    """Header and rows of cells; columns in `left` are aligned left, others right."""

    header: list[str]
    rows: list[list[str]]
    left: tuple[int, ...] = (0,)

    def __str__(self) -> str:
        # names of rankers may have line breaks
        rows = [[" ".join(cell.splitlines()) for cell in row] for row in [self.header, *self.rows]]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for row in rows:
            cells = [
                cell.ljust(width) if column in self.left else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)
