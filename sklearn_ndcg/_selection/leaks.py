"""Leaks: queries that are scored after training on other rows of theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import Floats, Ints, to_host, warn
from sklearn_ndcg._rows import Grouping, shown_labels


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

    Their rows are recognized by their number and a sum over their labels, not by a copy.
    """

    labels: NDArray[Any]
    lengths: Ints
    label_sums: Floats

    @classmethod
    def of(cls, grouping: Grouping, y: Any) -> TrainedQueries:
        """Remember the queries of a grouping, whose rows have the labels `y`."""
        return cls(grouping.labels, grouping.lengths, _label_sums(grouping, y))

    def some(self, queries: NDArray[np.bool_]) -> TrainedQueries:
        """The queries that a mask selects."""
        return TrainedQueries(self.labels[queries], self.lengths[queries], self.label_sums[queries])

    def warn_of_leak(self, grouping: Grouping, y: Any) -> None:
        """Warn where queries are scored that were trained on with other rows."""
        if len(self.labels) == 1:  # no id tells anything, as with `one_ranking`
            return
        try:
            place = np.searchsorted(self.labels, grouping.labels)
            place = np.minimum(place, len(self.labels) - 1)
            known = np.asarray(self.labels[place] == grouping.labels)
        except TypeError:  # ids of another type
            return
        same = (self.lengths[place] == grouping.lengths) & np.isclose(
            self.label_sums[place], _label_sums(grouping, y), rtol=1e-9, atol=1e-9
        )
        leaked = np.sort(grouping.labels[known & ~same])
        if len(leaked):
            warn(
                f"{len(leaked)} of the {len(grouping.labels)} queries that are scored were trained "
                f"on with other rows ({shown_labels(leaked)}), so that the score may be too good. "
                "Split whole queries: QuerySplitter does it with any splitter, and GroupKFold too.",
                QueryLeakWarning,
            )


def _label_sums(grouping: Grouping, y: Any) -> Floats:
    """A sum over the labels of each query that does not depend on the order of its rows."""
    try:
        values = np.nan_to_num(np.asarray(to_host(y)).astype(np.float64))
    except (TypeError, ValueError):  # text, and missing values of pandas
        return np.zeros(len(grouping.labels))
    # a sine, as sums of the labels themselves are equal more often
    return np.asarray(
        np.bincount(grouping.row_codes(), np.sin(values + 1), len(grouping.labels)),
        dtype=np.float64,
    )
