"""Detect queries whose other rows were trained on, and queries that are scored only in part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._rows.columns import count_rows, group_columns
from sklearn_ndcg._rows.grouping import Grouping, shown_labels
from sklearn_ndcg._rows.ids import columns_of_ids
from sklearn_ndcg._rows.labels import refuse_reordered
from sklearn_ndcg._selection.libraries import last_step

_MOST_MEMBERS = 1000  # of a list that are checked, as it may hold other things than models


class QueryLeakWarning(UserWarning):
    """A model is scored on queries whose other rows it was trained on.

    Scorers and `GroupedRanker.score` warn if they score a fitted `GroupedRanker`: alone, as the
    last step of a Pipeline or inside another estimator. Scoring the training rows themselves is not
    a leak.

    Rows are recognised by their number and labels, so there is no warning if the scored rows of a
    query equal its training rows in number and labels. Other estimators may draw rows or encode
    labels: inside them the warning needs more trained than scored rows, of the query and of all
    queries together. There is also none if ranker and scorer have different `group_by`.

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
    def of(cls, grouping: Grouping, y: Any, trained: Ints) -> TrainedQueries:
        """Remember the queries with the numbers `trained`; `y` has a label for each row."""
        checksums = _checksums(grouping, y)[trained]
        return cls(grouping.labels[trained], grouping.lengths[trained], checksums)

    def leaked(self, grouping: Grouping, y: Any, gets_user_rows: bool) -> NDArray[np.bool_]:
        """Which queries are scored after training on other rows of them.

        `gets_user_rows` says whether the ranker got the user's rows and labels as they are.
        """
        index, known = _find(grouping.labels, self.labels)
        known &= len(self.labels) > 1  # a single id says nothing, as with `one_ranking`
        trained, scored = self.lengths[index], grouping.lengths
        if not gets_user_rows:  # a bootstrap repeats rows of some queries, but not of all together
            return np.asarray(known & (trained > scored) & (trained[known].sum() > scored.sum()))
        same = np.isclose(self.checksums[index], _checksums(grouping, y), 1e-9, 1e-9)
        return np.asarray(known & ~(same & (trained == scored)))

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


@dataclass(frozen=True, eq=False)
class QuerySizes:
    """The number of rows of each query, to detect folds that have only some of them."""

    labels: NDArray[Any]
    lengths: Ints

    @classmethod
    def of(cls, all_groups: Any) -> QuerySizes | None:
        """Count the rows of each id, unless they are counted already; None for None."""
        if all_groups is None or isinstance(all_groups, QuerySizes):
            return all_groups
        first = all_groups[0] if isinstance(all_groups, list | tuple) and all_groups else ()
        columns = None if isinstance(first, tuple) else columns_of_ids(all_groups, np.size(first))
        has_rows = np.iterable(all_groups) and hasattr(all_groups, "__len__")
        n_rows = count_rows(columns[0] if columns else all_groups) if has_rows else 0
        if n_rows == 0:
            raise ValueError(f"all_groups must be the query ids of all rows, got {all_groups!r}.")
        refuse_reordered(all_groups=all_groups)
        grouping = Grouping.of_ids(all_groups, n_rows, name="all_groups")
        return cls(grouping.labels, grouping.lengths)

    def __repr__(self) -> str:
        return f"<ids of {len(self.labels):,} queries>"

    def refuse_incomplete(self, grouping: Grouping) -> None:
        """Raise if a query is not known, or has another number of rows."""
        index, known = _find(grouping.labels, self.labels)
        expected = np.where(known, self.lengths[index], 0)
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


def warn_of_leak(estimator: Any, group_by: Any, grouping: Grouping, y: Any) -> None:
    """Warn if a fitted ranker in `estimator` is scored on queries that it was trained on.

    A ranker with another `group_by` than the scorer's is not checked: its ids may differ.
    """
    leaked = np.zeros(len(grouping.labels), dtype=bool)
    for ranker, gets_user_rows in _fitted_rankers(estimator):
        if group_by is None or ranker.group_by is None or group_by == ranker.group_by:
            ranker.trained_queries_.warn_if_ids_collapsed(grouping)
            leaked |= ranker.trained_queries_.leaked(grouping, y, gets_user_rows)
    if leaked.any():
        labels = np.sort(grouping.labels[leaked])
        _checks.warn(
            f"The model was trained on other rows of {len(labels)} of the {len(leaked)} scored "
            f"queries ({shown_labels(labels)}), so the score may be too good. Split whole queries, "
            "with QuerySplitter around any splitter, or with GroupKFold.",
            QueryLeakWarning,
        )


def warn_if_ids_are_features(estimator: Any, X: Any, group_by: Any) -> None:
    """Warn if the model in `estimator` was trained on a column of ids.

    Estimators around others are not checked, as these may drop the column; so does `GroupedRanker`.
    """
    model = last_step(getattr(estimator, "best_estimator_", estimator))
    names = set(getattr(model, "feature_names_in_", ())).intersection(group_columns(X, group_by))
    parameters: Any = getattr(model, "get_params", dict)() if names else {}
    if names and not any(hasattr(value, "fit") for value in parameters.values()):
        _checks.warn(
            f"The column of ids, group_by={group_by!r}, is a feature of {type(model).__name__}. "
            "Move it to an index level, drop it in a Pipeline, or put GroupedRanker around these."
        )


def _fitted_rankers(estimator: Any) -> Iterator[tuple[Any, bool]]:
    """Fitted rankers in an estimator, and whether only Pipelines and searches are around them."""
    pending, seen = [(estimator, True)], set()
    while pending:
        model, gets_user_rows = pending.pop()
        if id(model) in seen:
            continue
        seen.add(id(model))
        if isinstance(getattr(model, "trained_queries_", None), TrainedQueries):
            yield model, gets_user_rows
        else:
            outer = last_step(getattr(model, "best_estimator_", model))
            inner = _fitted_models(model) if outer is model else [outer]
            pending += [(member, gets_user_rows and member is outer) for member in inner]


def _fitted_models(estimator: Any) -> list[Any]:
    """The models in fitted attributes, and in lists, tuples, dicts and arrays of them."""
    # learners of skrub keep their model in a plan
    owner = getattr(getattr(estimator, "data_op", None), "_skrub_impl", estimator)
    suffix = "_" if isinstance(owner, BaseEstimator) else ""  # others have no parameters
    return [
        member
        for name, value in getattr(owner, "__dict__", {}).items()
        if name.endswith(suffix) and not name.startswith("_")
        for member in _members(value)
        if hasattr(type(member), "fit") or hasattr(type(member), "predict_proba")
    ]


def _members(value: Any) -> Iterable[Any]:
    if isinstance(value, dict | np.ndarray):
        return islice(value.values() if isinstance(value, dict) else value.flat, _MOST_MEMBERS)
    return value[:_MOST_MEMBERS] if isinstance(value, list | tuple) else (value,)


def _find(wanted: NDArray[Any], labels: NDArray[Any]) -> tuple[Ints, NDArray[np.bool_]]:
    """The index of each wanted label among sorted labels, and whether it is one of them."""
    try:
        index = np.minimum(np.searchsorted(labels, wanted), len(labels) - 1)
        return index, np.asarray(labels[index] == wanted)
    except TypeError:  # ids of another type
        return np.zeros(len(wanted), dtype=np.intp), np.zeros(len(wanted), dtype=bool)


def _checksums(grouping: Grouping, y: Any) -> Any:
    """An order-free checksum of each query's labels."""
    try:
        with np.errstate(over="ignore"):  # float32, as y may have had another type in fit
            values = np.ravel(np.asarray(_checks.to_host(y)).astype(np.float32))
    except (TypeError, ValueError):  # text, and missing values of pandas
        values = np.zeros(np.shape(y)[0], dtype=np.float32)
    # a sine, as sums of the labels themselves are equal more often
    numbers = np.sin(np.nan_to_num(values).astype(np.float64) + 1)
    return np.bincount(grouping.row_codes(), numbers, len(grouping.labels))
