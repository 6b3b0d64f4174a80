"""What intervals and comparisons give back: numbers that print as text and as HTML tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import EQUAL, Floats, Ints, is_integer
from sklearn_ndcg._rows import shown_labels

Table = tuple[list[str], list[list[str]]]  # header, rows of cells


class ConfidenceInterval(NamedTuple):
    """Bounds of a confidence interval: numbers, or arrays over pairs."""

    low: Any
    high: Any


@dataclass(frozen=True, repr=False)
class NDCGInterval:
    """Result of `ndcg_interval`."""

    value: float
    confidence_interval: ConfidenceInterval
    standard_error: float
    n_queries: int
    n_clusters: int
    n_left_out: int
    confidence_level: float
    method: str

    def __repr__(self) -> str:
        low, high = self.confidence_interval
        return (
            f"NDCG {self.value:.4f}, {self.confidence_level:.6g} interval [{low:.4f}, {high:.4f}] "
            f"({self.method}), standard error {self.standard_error:.4f}, {_counts(self)}"
        )

    def _repr_html_(self) -> str:
        low, high = self.confidence_interval
        level = f"{self.confidence_level:.6g} interval ({self.method})"
        cells = [
            f"{self.value:.4f}", f"[{low:.4f}, {high:.4f}]", f"{self.standard_error:.4f}",
            _counts(self),
        ]  # fmt: skip
        return _html_table(["NDCG", level, "standard error", "from"], [cells])


@dataclass(frozen=True, repr=False)
class Comparison:
    """Result of `compare_rankers`."""

    ndcg: dict[Any, float]
    pairs: list[tuple[Any, Any]]
    difference: Floats
    confidence_interval: ConfidenceInterval
    standard_error: Floats
    effect_size: Floats
    statistic: Floats
    pvalue: Floats
    uncorrected_pvalue: Floats
    wins: NDArray[np.intp]
    ties: NDArray[np.intp]
    losses: NDArray[np.intp]
    values: dict[Any, Floats]
    labels: NDArray[Any]
    n_queries: int
    n_clusters: int
    n_left_out: int
    test: str

    def __repr__(self) -> str:
        differences = _text_table(*self._differences(), left=(0, 2, 5))
        return f"{_counts(self)}\n{_text_table(*self._means())}\n\n{differences}"

    def _repr_html_(self) -> str:
        tables = _html_table(*self._means()) + _html_table(*self._differences(), left=(0, 2, 5))
        return f"<p>{_counts(self)}</p>{tables}"

    def largest(self, n: int = 5) -> QueryDifferences:
        """The queries that differ most: for each pair the `n` largest gains and losses.

        Parameters
        ----------
        n : int, default=5
            Number of queries in which the first of a pair is better, and of those in which the
            second is; fewer if fewer differ.

        Returns
        -------
        result : QueryDifferences
            Prints as a table for each pair, from the largest gain to the largest loss.
            ``to_frame()`` gives a pandas DataFrame.

        Raises
        ------
        ValueError
            If `n` is not an integer >= 1.
        """
        if not is_integer(n) or n < 1:
            raise ValueError(f"n must be an integer >= 1, got {n!r}.")
        chosen = []
        for first, second in self.pairs:
            difference = query_differences(self.values[first], self.values[second])
            falling = np.argsort(-difference, kind="stable")
            gains, losses = (falling[difference[falling] * side > 0] for side in (1, -1))
            chosen.append(np.concatenate([gains[:n], losses[max(len(losses) - n, 0) :]]))
        return QueryDifferences(self, chosen)

    def to_frame(self) -> Any:
        """The pairs as a pandas DataFrame, one row per pair."""
        pandas = _pandas()
        low, high = self.confidence_interval
        index = pandas.MultiIndex.from_tuples(self.pairs, names=["first", "second"])
        columns = {"difference": self.difference, "low": low, "high": high}
        names = ["standard_error", "effect_size", "statistic", "pvalue", "uncorrected_pvalue"]
        for name in [*names, "wins", "ties", "losses"]:
            columns[name] = getattr(self, name)
        return pandas.DataFrame(columns, index=index)

    def _means(self) -> Table:
        return ["", "NDCG"], [[str(name), f"{value:.4f}"] for name, value in self.ndcg.items()]

    def _differences(self) -> Table:
        low, high = self.confidence_interval
        header = ["", "difference", "0.95 interval", f"p ({self.test}, Holm)", "effect",
                  "wins/ties/losses"]  # fmt: skip
        return header, [
            [f"{first} - {second}", f"{self.difference[i]:+.4f}",
             f"[{low[i]:+.4f}, {high[i]:+.4f}]", f"{self.pvalue[i]:.4f}",
             f"{self.effect_size[i]:+.2f}", f"{self.wins[i]}/{self.ties[i]}/{self.losses[i]}"]
            for i, (first, second) in enumerate(self.pairs)
        ]  # fmt: skip


@dataclass(frozen=True, repr=False)
class QueryDifferences:
    """Result of `Comparison.largest`: for each pair, places of queries among its labels."""

    comparison: Comparison
    chosen: list[Ints]

    def __repr__(self) -> str:
        return "\n\n".join(_text_table(*table) for table in self._tables())

    def _repr_html_(self) -> str:
        return "".join(_html_table(*table) for table in self._tables())

    def to_frame(self) -> Any:
        """The queries as a pandas DataFrame, one row per pair and query."""
        pandas = _pandas()
        names = ["first", "second", "query", "ndcg_first", "ndcg_second", "difference"]
        rows = [
            (*pair, *row)
            for pair, rows in zip(self.comparison.pairs, self._rows(), strict=True)
            for row in rows
        ]
        return pandas.DataFrame(rows, columns=names).set_index(names[:3])

    def _rows(self) -> Iterator[list[tuple[Any, float, float, float]]]:
        """For each pair its queries: label, both values, difference."""
        values, labels = self.comparison.values, self.comparison.labels
        for (first, second), places in zip(self.comparison.pairs, self.chosen, strict=True):
            ours, theirs = values[first][places], values[second][places]
            columns = ours.tolist(), theirs.tolist(), query_differences(ours, theirs).tolist()
            yield list(zip(labels[places], *columns, strict=True))

    def _tables(self) -> Iterator[Table]:
        for (first, second), rows in zip(self.comparison.pairs, self._rows(), strict=True):
            cells = [
                [_shown(label), f"{ours:.4f}", f"{theirs:.4f}", f"{difference:+.4f}"]
                for label, ours, theirs, difference in rows
            ]
            yield ["query", str(first), str(second), f"{first} - {second}"], cells


def query_differences(first: Floats, second: Floats) -> Floats:
    """Differences of values, 0 where they differ by rounding."""
    differences = first - second
    differences[np.abs(differences) < EQUAL] = 0
    return differences


def _shown(label: Any) -> str:
    return label if isinstance(label, str) else shown_labels(np.fromiter([label], object, 1))


def _counts(result: NDCGInterval | Comparison) -> str:
    """How many queries a result is from."""
    clusters = f" in {result.n_clusters} clusters" if result.n_clusters < result.n_queries else ""
    left_out = f", {result.n_left_out} left out" if result.n_left_out else ""
    return f"{result.n_queries} queries{clusters}{left_out}"


def _text_table(header: list[str], rows: list[list[str]], left: tuple[int, ...] = (0,)) -> str:
    """Rows of cells as lines of text; the columns in `left` are aligned there."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in [header, *rows]:
        cells = [
            f"{cell:{'<' if i in left else '>'}{width}}"
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _html_table(header: list[str], rows: list[list[str]], left: tuple[int, ...] = (0,)) -> str:
    """The same as a table of HTML, as a notebook shows it."""
    styles = [
        f' style="text-align: {"left" if i in left else "right"}"' for i in range(len(header))
    ]

    def line(tag: str, cells: list[str]) -> str:
        return "".join(
            f"<{tag}{style}>{escape(cell)}</{tag}>"
            for style, cell in zip(styles, cells, strict=True)
        )

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{line('th', header)}</tr></thead><tbody>{body}</tbody></table>"


def _pandas() -> Any:
    try:
        import pandas  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise ImportError('to_frame needs pandas: python -m pip install "pandas>=2.2"') from error
    return pandas
