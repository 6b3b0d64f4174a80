"""Queries of which other rows were trained on, or not all rows are scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import Floats, Ints, to_host, warn
from sklearn_ndcg._rows import Grouping, count_rows, shown_labels
from sklearn_ndcg._selection.libraries import last_step


class QueryLeakWarning(UserWarning):
    """Queries are scored that the model was trained on with other rows.

    Given by the scorers and by `GroupedRanker.score` where a fitted `GroupedRanker`, alone or as
    the last step of a Pipeline, is scored. Scoring the training rows themselves is not a leak.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_ndcg import QueryLeakWarning
    >>> # a search with error_score="raise" then stops at a leak
    >>> warnings.simplefilter("error", QueryLeakWarning)
    >>> warnings.simplefilter("default", QueryLeakWarning)
    """


@dataclass(frozen=True, eq=False)
class TrainedQueries:
    """The queries that a model was trained on, to detect leaks when it is scored.

    Their rows are recognised by their number and a checksum of their labels, not by a copy.
    """

    labels: NDArray[Any]
    lengths: Ints
    checksums: Floats

    @classmethod
    def of(cls, grouping: Grouping, y: Any, trained: NDArray[np.bool_]) -> TrainedQueries:
        """Remember the queries that the mask `trained` selects; `y` has a label for each row."""
        sums = _checksums(grouping, y)
        return cls(grouping.labels[trained], grouping.lengths[trained], sums[trained])

    def leaked(self, grouping: Grouping, y: Any) -> NDArray[Any]:
        """Sorted ids of the queries that are scored after training on other rows of theirs."""
        if len(self.labels) == 1:  # no id tells anything, as with `one_ranking`
            return self.labels[:0]
        place, known = _find(grouping.labels, self.labels)
        same = (self.lengths[place] == grouping.lengths) & np.isclose(
            self.checksums[place], _checksums(grouping, y), rtol=1e-9, atol=1e-9
        )
        return np.sort(grouping.labels[known & ~same])

    def warn_of_merged(self, grouping: Grouping) -> None:
        """Warn where one id has most of the rows, and far more than any query of training."""
        longest = int(np.argmax(grouping.lengths))
        n, n_rows, n_trained = grouping.lengths[longest], grouping.lengths.sum(), self.lengths.max()
        if len(self.labels) >= 10 and 2 * n > n_rows and n > 5 * n_trained:
            warn(
                f"{n} of the {n_rows} rows that are scored have one id, "
                f"{shown_labels(grouping.labels[[longest]])}, and the longest of the "
                f"{len(self.labels)} queries of training has {n_trained}: an encoder may have made "
                "one value of all ids that are new to it. Move the ids to an index level, or put "
                "GroupedRanker around the Pipeline."
            )


@dataclass(frozen=True, eq=False)
class WholeQueries:
    """The number of rows of each query, to detect folds that have only some of them."""

    labels: NDArray[Any]
    lengths: Ints

    @classmethod
    def of(cls, ids: Any) -> WholeQueries:
        """Count the rows of each id, in any container that `groups` takes."""
        first = ids[0] if isinstance(ids, list | tuple) and ids else None
        is_column = isinstance(first, list) or len(getattr(first, "shape", ())) == 1
        has_rows = np.iterable(ids) and hasattr(ids, "__len__")
        n_rows = count_rows(first if is_column else ids) if has_rows else 0
        if n_rows == 0:
            raise ValueError(f"all_groups must be the query ids of all rows, got {ids!r}.")
        grouping = Grouping.of_ids(ids, n_rows, name="all_groups")
        return cls(grouping.labels, grouping.lengths)

    def __repr__(self) -> str:
        return f"<ids of {len(self.labels):,} queries>"

    def refuse_parts(self, grouping: Grouping) -> None:
        """Raise where a query is not known, or has another number of rows."""
        place, known = _find(grouping.labels, self.labels)
        if not known.any():
            raise ValueError(
                "None of the queries that are scored is in all_groups. Their ids are "
                f"{_shown_type(grouping.labels)}, those in all_groups {_shown_type(self.labels)}."
            )
        expected = np.where(known, self.lengths[place], 0)
        cut = np.flatnonzero(expected != grouping.lengths)
        if len(cut):
            first = cut[np.argsort(grouping.labels[cut])[0]]
            raise ValueError(
                f"{len(cut)} of the {len(expected)} queries that are scored have other rows than "
                f"in all_groups. The first, {shown_labels(grouping.labels[[first]])}, has "
                f"{grouping.lengths[first]} here and {expected[first]} there. Split whole queries, "
                "with QuerySplitter or GroupKFold, and let the tool draw no rows: subsample=1.0, "
                "resource='max_queries'. all_groups must have the ids of all rows that are split."
            )


def warn_of_leak(estimator: Any, group_by: Any, grouping: Grouping, y: Any) -> None:
    """Warn where a fitted ranker in `estimator` is scored on queries it was trained on.

    `group_by` is that of the scorer. Where the ranker has another, its ids may be of another kind.
    """
    # the ranker may be the last step of a Pipeline, or the best estimator of a search
    while (inner := last_step(getattr(estimator, "best_estimator_", estimator))) is not estimator:
        estimator = inner
    trained = getattr(estimator, "_trained_queries", None)
    trained_by = getattr(estimator, "group_by", None)
    same_ids = group_by is None or trained_by is None or group_by == trained_by
    if trained is None or not same_ids:
        return
    trained.warn_of_merged(grouping)
    leaked = trained.leaked(grouping, y)
    if len(leaked):
        warn(
            f"{len(leaked)} of the {len(grouping.labels)} queries that are scored were trained "
            f"on with other rows ({shown_labels(leaked)}), so that the score may be too good. "
            "Split whole queries: QuerySplitter does it with any splitter, and GroupKFold too.",
            QueryLeakWarning,
        )


def _find(wanted: NDArray[Any], labels: NDArray[Any]) -> tuple[Ints, NDArray[np.bool_]]:
    """The place of each wanted label among sorted labels, and whether it is one of them."""
    try:
        place = np.minimum(np.searchsorted(labels, wanted), len(labels) - 1)
        return place, np.asarray(labels[place] == wanted)
    except TypeError:  # ids of another type
        return np.zeros(len(wanted), dtype=np.intp), np.zeros(len(wanted), dtype=bool)


def _shown_type(labels: NDArray[Any]) -> str:
    # NumPy calls its text str_
    return f"of type {type(labels[0]).__name__.rstrip('_')} ({shown_labels(labels)})"


def _checksums(grouping: Grouping, y: Any) -> Floats:
    """An order-free checksum of each query's labels."""
    try:
        values = np.nan_to_num(np.asarray(to_host(y)).astype(np.float64))
    except (TypeError, ValueError):  # text, and missing values of pandas
        return np.zeros(len(grouping.labels))
    # a sine, as sums of the labels themselves are equal more often
    sums = np.bincount(grouping.row_codes(), np.sin(values + 1), len(grouping.labels))
    return np.asarray(sums, dtype=np.float64)
