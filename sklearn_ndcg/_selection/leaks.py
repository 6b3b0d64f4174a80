"""Detect queries whose other rows were trained on, and queries that are scored only in part."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sklearn_ndcg._checks import Floats, Ints, refuse_reordered, to_host, warn
from sklearn_ndcg._rows.columns import count_rows
from sklearn_ndcg._rows.grouping import Grouping, shown_labels
from sklearn_ndcg._selection.libraries import last_step

_MOST_MEMBERS = 1000  # of a list that are checked, as it may hold other things than models


class QueryLeakWarning(UserWarning):
    """A model is scored on queries whose other rows it was trained on.

    Scorers and `GroupedRanker.score` warn if they score a fitted `GroupedRanker`: alone, as the
    last step of a Pipeline or inside another estimator. Scoring the training rows themselves is not
    a leak.

    Rows are recognised by their number and labels, so the warning is missing if as many other rows
    of a query have the same labels. Other estimators may draw rows or encode labels: inside them
    the warning needs more trained than scored rows, of the query and of all queries together. It is
    also missing if ranker and scorer have different `group_by`.

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
    checksum_of_rows: int

    @classmethod
    def of(cls, grouping: Grouping, y: Any, trained: NDArray[np.bool_]) -> TrainedQueries:
        """Remember the queries that the mask `trained` selects; `y` has a label for each row."""
        values = _numbers(y)
        sums, rows = _checksums(grouping, values)[trained], zlib.crc32(values.tobytes())
        return cls(grouping.labels[trained], grouping.lengths[trained], sums, rows)

    def leaked(self, grouping: Grouping, y: Any, is_direct: bool) -> NDArray[np.bool_]:
        """Which queries are scored after training on other rows of them.

        `is_direct` says whether the ranker was given the user's rows and labels.
        """
        place, leaked = _find(grouping.labels, self.labels)
        if len(self.labels) == 1:  # a single id says nothing, as with `one_ranking`
            leaked[:] = False
        trained, scored = self.lengths[place], grouping.lengths
        if not is_direct:  # a bootstrap repeats rows of some queries, but not of all together
            leaked &= (trained > scored) & (trained[leaked].sum() > scored.sum())
            return leaked
        values = _numbers(y)
        sums = _checksums(grouping, values)
        leaked &= (trained != scored) | ~np.isclose(self.checksums[place], sums, 1e-9, 1e-9)
        # permutation_importance may permute a column of ids: these are the training rows
        if leaked.any() and zlib.crc32(values.tobytes()) == self.checksum_of_rows:
            leaked[:] = False
        return leaked

    def warn_of_merged(self, grouping: Grouping) -> None:
        """Warn if one id has most of the rows, and far more than any training query."""
        longest = int(np.argmax(grouping.lengths))
        n, n_rows, n_trained = grouping.lengths[longest], grouping.lengths.sum(), self.lengths.max()
        if len(self.labels) >= 10 and 2 * n > n_rows and n > 5 * n_trained:
            warn(
                f"{n} of the {n_rows} scored rows have the id "
                f"{shown_labels(grouping.labels[[longest]])}, but the longest of the "
                f"{len(self.labels)} training queries has {n_trained} rows: an encoder may have "
                "given one value to all ids that are new to it. Move the ids to an index level, or "
                "put GroupedRanker around the Pipeline."
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
        is_column |= hasattr(first, "to_pylist")  # PyArrow's, which have no shape
        has_rows = np.iterable(ids) and hasattr(ids, "__len__")
        n_rows = count_rows(first if is_column else ids) if has_rows else 0
        if n_rows == 0:
            raise ValueError(f"all_groups must be the query ids of all rows, got {ids!r}.")
        refuse_reordered(all_groups=ids)
        grouping = Grouping.of_ids(ids, n_rows, name="all_groups")
        return cls(grouping.labels, grouping.lengths)

    def __repr__(self) -> str:
        return f"<ids of {len(self.labels):,} queries>"

    def refuse_parts(self, grouping: Grouping) -> None:
        """Raise if a query is not known, or has another number of rows."""
        place, known = _find(grouping.labels, self.labels)
        if not known.any():
            raise ValueError(
                "None of the scored queries is in all_groups. Their ids are "
                f"{_shown_type(grouping.labels)}, those in all_groups {_shown_type(self.labels)}."
            )
        expected = np.where(known, self.lengths[place], 0)
        cut = np.flatnonzero(expected != grouping.lengths)
        if len(cut):
            first = cut[np.argsort(grouping.labels[cut])[0]]
            raise ValueError(
                f"{len(cut)} of the {len(expected)} scored queries have fewer or more rows than in "
                f"all_groups. The first, {shown_labels(grouping.labels[[first]])}, has "
                f"{grouping.lengths[first]} here and {expected[first]} there. Split whole queries, "
                "with QuerySplitter or GroupKFold, and do not let the tool draw rows: "
                "subsample=1.0, resource='max_queries'. all_groups must have the ids of all rows "
                "that are split."
            )


def warn_of_leak(estimator: Any, group_by: Any, grouping: Grouping, y: Any) -> None:
    """Warn if a fitted ranker in `estimator` is scored on queries that it was trained on.

    A ranker with another `group_by` than the scorer's is not checked: its ids may differ.
    """
    leaked = np.zeros(len(grouping.labels), dtype=bool)
    for ranker, is_direct in _fitted_rankers(estimator):
        if group_by is None or ranker.group_by is None or group_by == ranker.group_by:
            ranker._trained_queries.warn_of_merged(grouping)
            leaked |= ranker._trained_queries.leaked(grouping, y, is_direct)
    if leaked.any():
        labels = np.sort(grouping.labels[leaked])
        warn(
            f"Other rows of {len(labels)} of the {len(leaked)} scored queries were trained on "
            f"({shown_labels(labels)}), so the score may be too good. Split whole queries, with "
            "QuerySplitter around any splitter, or with GroupKFold.",
            QueryLeakWarning,
        )


def _fitted_rankers(estimator: Any) -> Iterator[tuple[Any, bool]]:
    """Fitted rankers in an estimator, and whether only Pipelines and searches are around them."""
    pending, seen, leaves = [(estimator, True)], set(), set()
    while pending:
        each, is_direct = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(getattr(each, "_trained_queries", None), TrainedQueries):
            yield each, is_direct
        elif type(each) not in leaves:  # look into only one tree of a forest
            outer = last_step(getattr(each, "best_estimator_", each))
            inner = _fitted_parts(each) if outer is each else [outer]
            if not inner:
                leaves.add(type(each))
            pending += [(part, is_direct and part is outer) for part in inner]


def _fitted_parts(estimator: Any) -> list[Any]:
    """The models in fitted attributes, and in lists, tuples, dicts and arrays of them."""
    # learners of skrub keep their model in a plan
    owner = getattr(getattr(estimator, "data_op", None), "_skrub_impl", estimator)
    suffix = "_" if isinstance(owner, BaseEstimator) else ""  # others have no parameters
    parts: list[Any] = []
    for name, value in getattr(owner, "__dict__", {}).items():
        if name.endswith(suffix) and not name.startswith("_"):
            parts += _members(value)
    return [
        part for part in parts if hasattr(type(part), "fit") or hasattr(type(part), "predict_proba")
    ]


def _members(value: Any) -> Iterable[Any]:
    if isinstance(value, np.ndarray):
        return value.flat[:_MOST_MEMBERS].tolist() if value.dtype.kind == "O" else ()
    if isinstance(value, dict):
        return islice(value.values(), _MOST_MEMBERS)
    return value[:_MOST_MEMBERS] if isinstance(value, list | tuple) else (value,)


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


def _numbers(y: Any) -> NDArray[np.float32]:
    """Labels to recognise, in float32, as y may have had another type in fit."""
    try:
        with np.errstate(over="ignore"):
            return np.ravel(np.asarray(to_host(y)).astype(np.float32))
    except (TypeError, ValueError):  # text, and missing values of pandas
        return np.zeros(np.shape(y)[0], dtype=np.float32)


def _checksums(grouping: Grouping, values: NDArray[np.float32]) -> Floats:
    """An order-free checksum of each query's labels."""
    # a sine, as sums of the labels themselves are equal more often
    numbers = np.sin(np.nan_to_num(values).astype(np.float64) + 1)
    sums = np.bincount(grouping.row_codes(), numbers, len(grouping.labels))
    return np.asarray(sums, dtype=np.float64)
