"""Warnings of ids that are probably not those of queries, or not in the order of time."""

from __future__ import annotations

import re

from sklearn_ndcg._checks import Ids, warn
from sklearn_ndcg._rows.label_texts import shown_labels

# Text that sorts by time: a year with its month, quarter or week.
_DATE = re.compile(r"\d{4}([-/.](0[1-9]|1[0-2])(?!\d)|[-/.]?[QW]\d|\d{4}T)")
_UNSORTED_DATE = re.compile(r"(\d\d?[-/. ](\d\d?|\w{3,9})[-/. ]\d{2,4}|\d{4}([-/.]\d\d?){2})\b")


def warn_of_single_documents(n_single: int, n_queries: int) -> None:
    """Warn if every query has one row: probably these are not query ids."""
    if n_single == n_queries > 1:
        warn(
            f"Each of the {n_queries} queries has a single document. All rows of a query must have "
            "the same id in groups. If they have, a tool has cut the queries: QuerySplitter keeps "
            "them whole."
        )


def warn_of_equal_relevance(n_queries: int) -> None:
    """Warn that relevance differs between queries, but not within one: probably it is the ids."""
    warn(
        f"None of the {n_queries} queries has documents of different relevance. groups must have "
        "the query id of each row, not its relevance."
    )


def warn_of_text_for_time(labels: Ids, asked_by: str, *, is_named: bool = False) -> None:
    """Warn if labels are text that may not sort by time: neither dates nor numbers of one width.

    Text that `order_by` names is only doubted if it is numbers, or dates that do not sort as text.
    """
    texts = [label[0] if label and isinstance(label, tuple) else label for label in labels]
    if not asked_by or not isinstance(texts[0], str) or all(map(_DATE.match, texts)):
        return
    are_numbers = all(map(str.isdecimal, texts))
    is_doubted = are_numbers or not is_named or all(map(_UNSORTED_DATE.match, texts))
    if is_doubted and not (are_numbers and len(set(map(len, texts))) == 1):
        what = "the values of order_by" if is_named else "the ids"
        warn(
            f"{asked_by} needs the order of time, but {what} are text that may not sort by time "
            f"({shown_labels(labels)}). Pass order_by= a column or index level of dates or "
            "numbers, or that of the ids if their order is right."
        )
