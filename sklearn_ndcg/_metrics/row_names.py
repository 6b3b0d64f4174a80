"""What errors call the rows that are wrong: by index, or by the query that they are in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sklearn_ndcg._checks import Mask, describe_mask
from sklearn_ndcg._lists.pool import Pool
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.label_texts import shown_labels


class RowNames(Protocol):
    """How the user knows the rows."""

    @property
    def relevance_name(self) -> str:
        """The argument that has the relevance: "y_true", "relevant" or "qrels"."""

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, and where the first is."""


@dataclass(frozen=True)
class ArrayNames:
    """Rows of an array of this shape, which have an index."""

    shape: tuple[int, ...]
    relevance_name: str = "y_true"

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, or rows of a matrix, and the index of the first."""
        shape = self.shape if mask.size == np.prod(self.shape) else mask.shape
        return describe_mask(mask.reshape(shape), what, plural)


@dataclass(frozen=True, eq=False)
class ListNames:
    """Rows of ranked lists, which are in a query."""

    pool: Pool
    relevance_name: str

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, and the query and the document of the first."""
        row, n = int(mask.argmax()), int(np.count_nonzero(mask))
        ranker, *_ = self.pool.rankers.values()
        number = int(np.searchsorted(ranker.starts, row, side="right")) - 1
        query = shown_labels([self.pool.queries[number]])
        document = f", document {ranker.row_ids[row]!r}"
        return counted(n, what, plural, query) + document


@dataclass(frozen=True, eq=False)
class PartNames:
    """Rows of a part of a table, whose index means nothing to the user."""

    grouping: Grouping
    relevance_name: str = "y_true"

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, and the query of the first."""
        return counted(int(np.count_nonzero(mask)), what, plural, self.query_of(mask))

    def query_of(self, mask: Mask) -> str:
        """The query of the first row that a mask selects."""
        query = self.grouping.row_codes()[[mask.argmax()]]
        return shown_labels(self.grouping.labels[query])


def counted(n: int, what: str, plural: str, query: str) -> str:
    """A number of things, and the query of the first, if it has one."""
    of_things = f"{n:,} {plural}" if n > 1 else f"1 {what}"
    if not query:
        return of_things
    return f"{of_things}, {'the first ' if n > 1 else ''}in query {query}"
