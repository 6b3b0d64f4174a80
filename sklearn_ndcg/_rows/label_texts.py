"""Queries as text, in messages and tables: their labels and their number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

import numpy as np

from sklearn_ndcg._checks import Ids

_LONGEST = 100  # characters of an id in a message


def shown_labels(labels: Sequence[object] | Ids, most: int = 3) -> str:
    """The first labels in a message: 'a', 'b', 'c', ..."""
    first = ", ".join(map(shown_id, labels[:most]))
    return first + ", ..." * (len(labels) > most)


def cut(text: str) -> str:
    """The text of an id, without its middle if it is long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 30]}...{text[-27:]}"


def shown_id(label: object) -> str:
    """An id in a message."""
    return cut(shown(label))


def label_text(label: object) -> str:
    """A label in a table, a title or a plot: text without quotes."""
    return label if isinstance(label, str) else shown(label)


def count_of_queries(n: int, separator: str = "") -> str:
    """A number of queries as text, with a separator of thousands: "1 query", "2 queries"."""
    return f"{n:{separator}} {'query' if n == 1 else 'queries'}"


def shown(label: object) -> str:
    """The whole label as text, in which dates and numbers of all libraries look alike."""
    if isinstance(label, tuple):
        return f"({', '.join(map(shown, label))})"
    if isinstance(label, np.datetime64 | date):
        return re.sub(r"( 00(:00)*)?(\.0+)?$", "", str(label).replace("T", " "))
    if isinstance(label, np.generic):
        label = label.item()
    # pandas shows the interval (0, 5] and the period 2024-01 so
    return repr(label) if isinstance(label, str | bytes) else str(label)
