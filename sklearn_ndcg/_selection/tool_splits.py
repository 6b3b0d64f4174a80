"""The split that a tool of scikit-learn is working on, as a scorer in it can see it.

No public way shows a scorer which rows were split: docs/design/selection.md says what was tried. If
scikit-learn renames what is read here, scorers say nothing of incomplete queries, and a test fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from inspect import currentframe
from types import FrameType
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_ndcg._checks import Ints
from sklearn_ndcg._rows.columns import column_names, count_rows, group_columns, values_by
from sklearn_ndcg._rows.containers import Table, shape_of
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.ids import first_rows
from sklearn_ndcg._selection.libraries import GroupBy

# scikit-learn's functions that fit on some rows of X and score others
FUNCTIONS = frozenset({
    "_fit_and_score", "_incremental_fit_estimator", "_permutation_test_score", "_rfe_single_fit",
})  # fmt: skip


class SplitQueries(NamedTuple):
    """The scored queries, which are those of a test set, in the whole X and in the training set.

    `training_lacks_rows` says that queries of the training set have rows in neither set.
    """

    n_rows: Ints
    n_trained: Ints
    training_lacks_rows: bool


class OtherIds(NamedTuple):
    """A column that is counted has other ids in the scored rows: the tool has removed columns."""

    n_columns: int
    n_columns_before: int


@dataclass(eq=False)
class _AllQueries:
    """The query of each row of X, as long as what it was read from is alive."""

    codes: Ints
    lengths: Ints
    sources: list[ref[Any]]
    has_matched: bool = False  # the queries of a test set


_known: dict[tuple[object, ...], _AllQueries] = {}


def split_under_way(
    X: Table, group_by: GroupBy, requested: str | bool | None, scored: Grouping
) -> SplitQueries | OtherIds | None:
    """What the split of a tool tells of the scored queries.

    `requested` is the scorer's request for `groups`: True, or the name that they are passed by.
    None if what is scored is not the test set of a split.
    """
    frame = _splitting_frame()
    if frame is None:
        return None
    found = frame.f_locals
    with suppress(Exception):  # whatever these variables are, scoring goes on
        if X is found["X_train"] or count_rows(found["X_test"]) != scored.lengths.sum():
            return None
        test = np.asarray(found["test"])
        queries, numbers = _match(found, group_by, requested, scored, test)
        if numbers is not None:
            return _in_sets(queries, numbers, scored, np.asarray(found["train"]))
        n_columns, n_before = ((shape_of(table) or (0, 0))[1] for table in (X, found["X"]))
        if n_columns < n_before and counts_columns(X, group_by):
            return OtherIds(n_columns, n_before)
    return None


def counts_columns(X: Table, group_by: GroupBy) -> bool:
    """Whether `group_by` has the number of a column, which other columns may have had before."""
    return column_names(X) is None and bool(group_columns(X, group_by))


def count_all_rows() -> int:
    """How many rows the X has that a tool has split; 0 if none is known."""
    frame = _splitting_frame()
    with suppress(Exception):
        return 0 if frame is None else count_rows(frame.f_locals["X"])
    return 0


def _match(
    found: Mapping[str, Any],
    group_by: GroupBy,
    requested: str | bool | None,
    scored: Grouping,
    test: Ints,
) -> tuple[_AllQueries, Ints | None]:
    """The queries of all rows, and the number in them of each scored query.

    The second is None if the scored rows are not the test rows in their order. All rows are read
    once, and again if X seems to have changed since.
    """
    sources, name = [found["X"]], group_by
    if group_by is None:
        name = requested if isinstance(requested, str) else "groups"
        routed = found.get("routed_params")
        sources.append(found["score_params"] if routed is None else routed.scorer.score)
    elif callable(group_by):
        sources.append(group_by)
        name = None
    key = (*map(id, sources), tuple(name) if isinstance(name, list) else name)
    known = _known.get(key)
    queries = known or _read(found, group_by, sources, name, key)
    numbers = _numbers_of(scored, queries, test)
    if numbers is None and known and known.has_matched:
        queries = _read(found, group_by, sources, name, key)
        numbers = _numbers_of(scored, queries, test)
    queries.has_matched |= numbers is not None
    return queries, numbers


def _read(
    found: Mapping[str, Any], group_by: GroupBy, sources: list[Any], name: Any, key: Any
) -> _AllQueries:
    """Read the queries of all rows, and keep them while the sources are alive."""
    X = sources[0]
    routed = sources[1].get(name) if group_by is None else None
    ids = values_by(X, group_by, routed, found["y"])
    grouping = Grouping.of_ids(ids, count_rows(X), sort=False)
    queries = _AllQueries(grouping.row_codes(), grouping.lengths, [])
    with suppress(TypeError):  # a list has no weak references, and is read each time
        queries.sources += [ref(source, lambda _: _known.pop(key, None)) for source in sources]
        _known[key] = queries
    return queries


def _numbers_of(scored: Grouping, queries: _AllQueries, test: Ints) -> Ints | None:
    """The number among all queries of each scored one; None if these are not the test rows."""
    codes = queries.codes[test]
    # by position, as a callable may number the queries of any X from 0
    numbers = codes[scored.starts if scored.codes is None else first_rows(scored.codes)]
    is_same = np.array_equal(numbers[scored.row_codes()], codes)
    return numbers if is_same and np.bincount(numbers).max() == 1 else None


def _in_sets(queries: _AllQueries, numbers: Ints, scored: Grouping, train: Ints) -> SplitQueries:
    """How many rows the scored queries have in X and in the training set."""
    n_rows = queries.lengths[numbers]
    if len(queries.lengths) == 1:  # of `one_ranking`, of which each fold has a part
        n_rows = scored.lengths
    if np.array_equal(n_rows, scored.lengths):
        return SplitQueries(n_rows, np.zeros_like(n_rows), training_lacks_rows=False)
    n_trained = np.bincount(queries.codes[train], minlength=len(queries.lengths))
    lacks_rows = bool(((n_trained > 0) & (n_trained < queries.lengths)).any())
    return SplitQueries(n_rows, n_trained[numbers], lacks_rows)


def _splitting_frame() -> FrameType | None:
    """The innermost function of scikit-learn's tools that is running."""
    for frame in _running():
        module = str(frame.f_globals.get("__name__"))
        if frame.f_code.co_name in FUNCTIONS and module.startswith("sklearn."):
            return frame
    return None


def in_score_of_pipeline() -> bool:
    """Whether a Pipeline is being scored, so that its last step gets a transformed X."""
    return any(
        frame.f_code.co_name == "score" and isinstance(frame.f_locals.get("self"), Pipeline)
        for frame in _running()
    )


def _running() -> Iterator[FrameType]:
    """The functions that are running, from the innermost to the outermost."""
    frame = currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back
