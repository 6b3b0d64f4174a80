"""Detect queries whose other rows were trained on, and queries that are scored only in part."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Ints
from sklearn_ndcg._rows.columns import count_rows, group_columns
from sklearn_ndcg._rows.grouping import Grouping, shown_labels
from sklearn_ndcg._rows.ids import columns_of_ids
from sklearn_ndcg._rows.labels import refuse_reordered
from sklearn_ndcg._selection.libraries import Array, GroupBy, settings_of


class QueryLeakWarning(UserWarning):
    """A model is scored on queries whose other rows it was trained on.

    Scorers and `GroupedRanker.score` warn if a query has another number of rows than in training.
    Scoring the training rows themselves is not a leak.

    They look at a fitted `GroupedRanker`: alone, as the last step of a Pipeline or as the
    `best_estimator_` of a search. There is no warning if ranker and scorer have different
    `group_by`, if the `group_by` of the ranker finds ids in columns that a Pipeline has
    transformed, or for a ranker inside another estimator.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_ndcg import QueryLeakWarning
    >>> # a search with error_score="raise" then stops at a leak
    >>> warnings.simplefilter("error", QueryLeakWarning)
    >>> warnings.simplefilter("default", QueryLeakWarning)
    """


@dataclass(frozen=True, eq=False)
class QuerySizes:
    """The number of rows of each query, in training or in all data; ids are sorted."""

    labels: Array
    lengths: Ints

    @classmethod
    def of(cls, all_groups: Any) -> QuerySizes | None:
        """Count the rows of each id, unless they are counted already; None for None."""
        if all_groups is None or isinstance(all_groups, QuerySizes):
            return all_groups
        first = all_groups[0] if isinstance(all_groups, list | tuple) and all_groups else ()
        columns = None if isinstance(first, tuple) else columns_of_ids(all_groups, np.size(first))
        has_rows = np.iterable(all_groups) and isinstance(all_groups, Sized)
        n_rows = count_rows(columns[0] if columns else all_groups) if has_rows else 0
        if n_rows == 0:
            raise ValueError(f"all_groups must be the query ids of all rows, got {all_groups!r}.")
        refuse_reordered(all_groups=all_groups)
        grouping = Grouping.of_ids(all_groups, n_rows, name="all_groups")
        return cls(grouping.labels, grouping.lengths)

    def __repr__(self) -> str:
        return f"<ids of {len(self.labels):,} queries>"

    def lengths_of(self, labels: Array) -> Ints:
        """The lengths of the queries with these labels; 0 for those that are not known."""
        try:
            index = np.minimum(np.searchsorted(self.labels, labels), len(self.labels) - 1)
            return np.where(self.labels[index] == labels, self.lengths[index], 0)
        except TypeError:  # ids of another type
            return np.zeros(len(labels), dtype=np.intp)

    def warn_if_leaked(self, grouping: Grouping) -> None:
        """Warn if scored queries had another number of rows in training."""
        n_trained = self.lengths_of(grouping.labels)
        is_known = (n_trained > 0) & (len(self.labels) > 1)  # `one_ranking` has a single id
        leaked = is_known & (n_trained != grouping.lengths)
        if leaked.any():
            labels = np.sort(grouping.labels[leaked])
            _checks.warn(
                f"The model was trained on other rows of {len(labels)} of the {len(leaked)} scored "
                f"queries ({shown_labels(labels)}), so the score may be too good. Split whole "
                "queries, with QuerySplitter around any splitter, or with GroupKFold.",
                QueryLeakWarning,
            )

    def warn_if_ids_collapsed(self, grouping: Grouping) -> None:
        """Warn if one id has most of the rows, and far more than any training query."""
        longest = int(np.argmax(grouping.lengths))
        n, n_rows, n_trained = grouping.lengths[longest], grouping.lengths.sum(), self.lengths.max()
        if len(self.labels) >= 10 and 2 * n > n_rows and n > 5 * n_trained:
            _checks.warn(
                f"{n} of the {n_rows} scored rows have the id "
                f"{shown_labels(grouping.labels[[longest]])}, but the longest of the "
                f"{len(self.labels)} training queries has {n_trained} rows: an encoder may have "
                "given one value to all ids that are new to it. Move the ids to an index level, or "
                "put GroupedRanker around the Pipeline."
            )

    def refuse_incomplete(self, grouping: Grouping) -> None:
        """Raise if a query is not known, or has another number of rows."""
        expected = self.lengths_of(grouping.labels)
        wrong = np.flatnonzero(expected != grouping.lengths)
        if len(wrong):
            first = wrong[np.argsort(grouping.labels[wrong])[0]]
            raise ValueError(
                f"Scored queries are not complete: {len(wrong)} of {len(expected)}. Query "
                f"{shown_labels(grouping.labels[[first]])} has {grouping.lengths[first]} rows here "
                f"and {expected[first]} in all_groups. Split whole queries, with QuerySplitter or "
                "GroupKFold, and do not let the tool draw rows: subsample=1.0, "
                "resource='max_queries'. all_groups must have the ids of all rows that are split."
            )


def warn_of_training(estimator: object, X: Any, group_by: GroupBy, grouping: Grouping) -> None:
    """Warn if the model in `estimator` has seen what it is scored on, or learned from the ids."""
    model, gets_transformed = _model_in(estimator)
    trained = getattr(model, "trained_queries_", None)
    if isinstance(trained, QuerySizes):  # of a fitted GroupedRanker, which removes the ids
        # ids that a step of a Pipeline has transformed cannot be compared
        are_other = gets_transformed and model.group_by is not None
        is_open = group_by is None or model.group_by is None
        if not are_other and (is_open or group_by == model.group_by):
            trained.warn_if_ids_collapsed(grouping)
            trained.warn_if_leaked(grouping)
    else:
        _warn_if_ids_are_features(model, X, group_by)


def _warn_if_ids_are_features(model: Any, X: Any, group_by: GroupBy) -> None:
    """Warn if a model was trained on a column of ids.

    Estimators around others are not checked, as these may drop the column.
    """
    names = set(getattr(model, "feature_names_in_", ())).intersection(group_columns(X, group_by))
    if not names:
        return
    for value in settings_of(model).values():
        if hasattr(value, "fit"):
            return
    _checks.warn(
        f"The column of ids, group_by={group_by!r}, is a feature of {type(model).__name__}. "
        "Move it to an index level, drop it in a Pipeline, or put GroupedRanker around these."
    )


def _model_in(estimator: Any) -> tuple[Any, bool]:
    """The model in searches and Pipelines, and whether steps transform X before it gets it."""
    gets_transformed = False
    while isinstance(estimator, Pipeline) or hasattr(estimator, "best_estimator_"):
        if isinstance(estimator, Pipeline):
            gets_transformed |= len(estimator.steps) > 1
            estimator = estimator.steps[-1][1]
        else:
            estimator = estimator.best_estimator_
    return estimator, gets_transformed
