"""Detect queries that are scored only in part: a model may be trained on their other rows."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Ints, Mask
from sklearn_ndcg._rows.columns import count_rows
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.ids import columns_of_ids
from sklearn_ndcg._rows.label_texts import shown_labels
from sklearn_ndcg._rows.labels import refuse_reordered
from sklearn_ndcg._selection import id_features, tool_splits
from sklearn_ndcg._selection.libraries import Array, Estimator, GroupBy

_SPLIT_WHOLE = "Split whole queries, with QuerySplitter around any splitter, or with GroupKFold."
_IF_MEANT = "If this is meant: warnings.simplefilter('ignore', QueryLeakWarning)."


class QueryLeakWarning(UserWarning):
    """Scored queries are incomplete: the model may be trained on their other rows.

    In scikit-learn's tools, scorers look for the other rows in the training set, for any estimator,
    and also warn if the tool has drawn rows from both sets. Elsewhere, scorers and
    `GroupedRanker.score` compare how many rows a query has with how many it had when a
    `GroupedRanker` was trained: alone, as the last step of a Pipeline or as the `best_estimator_`
    of a search, but not with ids in a column that a Pipeline has transformed.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_ndcg import QueryLeakWarning
    >>> # a search with error_score="raise" then stops at a leak
    >>> warnings.simplefilter("error", QueryLeakWarning)
    >>> # where queries are cut on purpose, such as to score the later items of each user
    >>> warnings.simplefilter("ignore", QueryLeakWarning)
    >>> warnings.simplefilter("default", QueryLeakWarning)
    """


@dataclass(frozen=True, eq=False)
class QuerySizes:
    """The number of rows of each query, in training or in all data; ids are sorted.

    `in_features` says that the ids were read from X itself, not from an index level or `groups`.
    """

    labels: Array
    lengths: Ints
    in_features: bool = False

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

    def refuse_cut(self, scored: Grouping) -> None:
        """Raise if a query has more or fewer rows; those that are not known are new."""
        known, first = self.labels[:1], scored.labels[:1]
        if isinstance(known[0], str) != isinstance(first[0], str):
            raise ValueError(
                f"all_groups has ids such as {shown_labels(known)}, and the scored rows such as "
                f"{shown_labels(first)}: make both text, or both numbers."
            )
        differences = _differences(scored, self.lengths_of(scored.labels), "all_groups")
        if differences:
            raise ValueError(
                f"Scored queries are incomplete: {differences} Split whole queries, with "
                "QuerySplitter or GroupKFold, and do not let the tool draw rows: subsample=1.0, "
                "resource='max_queries'. all_groups must have the ids of all rows that are split."
            )

    def warn_if_leaked(self, scored: Grouping) -> None:
        """Warn if a query had more or fewer rows in training."""
        if len(self.labels) == 1:  # of `one_ranking`
            return
        differences = _differences(scored, self.lengths_of(scored.labels), "training")
        if differences:
            _checks.warn(
                f"{differences} If the model was trained on their other rows, the score is too "
                "good. If ids start again in these rows, and mean other queries, give those new "
                f"ids. {_SPLIT_WHOLE} {_IF_MEANT}",
                QueryLeakWarning,
            )

    def warn_if_ids_collapsed(self, scored: Grouping) -> None:
        """Warn if one id has most of the rows, and far more than any training query."""
        longest = int(np.argmax(scored.lengths))
        n, n_rows, n_trained = scored.lengths[longest], scored.lengths.sum(), self.lengths.max()
        if len(self.labels) >= 10 and 2 * n > n_rows and n > 5 * n_trained:
            _checks.warn(
                f"{n} of the {n_rows} scored rows have the id "
                f"{shown_labels(scored.labels[[longest]])}, but the longest of the "
                f"{len(self.labels)} training queries has {n_trained} rows: an encoder may have "
                "given one value to all ids that are new to it. Move the ids to an index level, or "
                "put GroupedRanker around the Pipeline."
            )


def warn_of_training(
    estimator: Estimator, X: Any, group_by: GroupBy, requested: str | bool | None, scored: Grouping
) -> None:
    """Warn if the model in `estimator` may have seen what it is scored on, or learned from ids.

    `requested` is the scorer's request for `groups`: True, or the name that they are passed by.
    """
    split = tool_splits.split_under_way(X, group_by, requested, scored)
    if isinstance(split, tool_splits.OtherIds):
        _checks.warn(
            f"group_by={group_by} finds other ids in the {split.n_columns} columns that are scored "
            f"than in the {split.n_columns_before} of the whole X: the tool removes columns. With "
            f"metadata routing on, pass groups instead of group_by={group_by}.",
            QueryLeakWarning,
        )
    elif split is not None:
        _warn_of_split(split, scored)
    model, steps = id_features.model_in(estimator)
    trained = getattr(model, "trained_queries_", None)
    if not isinstance(trained, QuerySizes):
        id_features.warn_if_learned(model, steps, X, group_by)
        return
    # a fitted GroupedRanker: steps of a Pipeline may have changed ids in a column
    is_same = group_by is None or model.group_by in (None, group_by)
    if is_same and not (steps and trained.in_features):
        trained.warn_if_ids_collapsed(scored)
        if split is None and not (trained.in_features and tool_splits.in_score_of_pipeline()):
            trained.warn_if_leaked(scored)


def _warn_of_split(split: tool_splits.SplitQueries, scored: Grouping) -> None:
    """Warn if the model was trained on rows of a scored query, or if the tool draws rows."""
    incomplete = scored.lengths < split.n_rows
    leaked = incomplete & (split.n_trained > 0)
    if leaked.any():
        query, label = _first(leaked, scored)
        _checks.warn(
            f"{leaked.sum()} of {len(leaked)} scored queries are incomplete: query {label} has "
            f"{scored.lengths[query]} of its {split.n_rows[query]} rows in the test set, and "
            f"{split.n_trained[query]} in the training set. The score may be too good. "
            f"{_SPLIT_WHOLE} {_IF_MEANT}",
            QueryLeakWarning,
        )
    elif incomplete.any() and split.training_lacks_rows:
        query, label = _first(incomplete, scored)
        _checks.warn(
            f"{incomplete.sum()} of {len(incomplete)} scored queries are incomplete: query {label} "
            f"is scored on {scored.lengths[query]} of its {split.n_rows[query]} rows, and training "
            "queries lack rows, too. A search with resource='n_samples' draws rows, and what is "
            "left of a query is easier to rank: let a GroupedRanker draw whole queries, with "
            "resource='max_queries'. If rows are left out on purpose, ignore this warning.",
            QueryLeakWarning,
        )


def _first(queries: Mask, scored: Grouping) -> tuple[int, str]:
    """The number and the label of the first of some queries, by label."""
    numbers = np.flatnonzero(queries)
    first = numbers[np.argsort(scored.labels[numbers])[0]]
    return int(first), shown_labels(scored.labels[[first]])


def _differences(scored: Grouping, lengths: Ints, where: str) -> str:
    """Say which queries have other lengths there; "" if none has. A length of 0 is not known."""
    differs = (lengths > 0) & (lengths != scored.lengths)
    if not differs.any():
        return ""
    query, label = _first(differs, scored)
    return (
        f"{differs.sum()} of {len(lengths)} scored queries have more or fewer rows than in "
        f"{where}: query {label} has {scored.lengths[query]} here and {lengths[query]} there."
    )
