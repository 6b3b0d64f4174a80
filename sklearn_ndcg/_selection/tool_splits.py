"""The split that a tool of scikit-learn is working on, as a scorer in it can see it.

No public way shows a scorer which rows were split: docs/design/selection.md says what was tried. If
scikit-learn renames what is read here, scorers say nothing of cut queries, and a test fails.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from inspect import currentframe
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_ndcg._checks import Ints
from sklearn_ndcg._rows.columns import count_rows, values_by
from sklearn_ndcg._rows.containers import Column, Table
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.ids import first_rows
from sklearn_ndcg._selection.libraries import GroupBy

# scikit-learn's functions that fit on some rows of X and score others
FUNCTIONS = frozenset({
    "_fit_and_score", "_incremental_fit_estimator", "_permutation_test_score", "_rfe_single_fit",
})  # fmt: skip


class _Search(NamedTuple):
    """The queries of all rows of X, and what they were read from."""

    params: dict[str, Any]  # of the scorer: an object that scikit-learn makes for each search
    source: Any
    queries: Grouping


_searches: deque[_Search] = deque(maxlen=2)  # the last ones, or one with two kinds of queries


def lengths_before(
    X: Table, group_by: GroupBy, requested: str | bool | None, scored: Grouping
) -> Ints | None:
    """How many rows the scored queries have in the whole X, if a tool has split it.

    None if what is scored is not the test set of a split.
    """
    frame = next((each for each in _frames() if each.f_code.co_name in FUNCTIONS), None)
    if frame is None:
        return None
    found = frame.f_locals
    with suppress(Exception):  # whatever these variables are, scoring goes on
        if X is not found["X_train"] and count_rows(found["X_test"]) == scored.lengths.sum():
            routed = found.get("routed_params")
            params = found["score_params"] if routed is None else routed.scorer.score
            queries = _queries_of_all(group_by, requested, params, found["X"], found["y"])
            test = np.asarray(found["test"])
            test = np.flatnonzero(test) if test.dtype == bool else test
            # by position, as a callable may number the queries of any X from 0
            firsts = scored.starts if scored.codes is None else first_rows(scored.codes)
            lengths = queries.lengths[queries.row_codes()[test[firsts]]]
            # all rows are one query with `one_ranking`, of which each fold has a part
            return lengths if len(queries.labels) > 1 else scored.lengths
    return None


def _queries_of_all(
    group_by: GroupBy, requested: str | bool | None, params: dict[str, Any], X: Table, y: Column
) -> Grouping:
    """The queries of all rows, read once per search and process."""
    source = requested if group_by is None else group_by
    for search in _searches.copy():  # which other threads may change
        if search.params is params and search.source is source:
            return search.queries
    routed = params.get(str(source), params.get("groups"))
    grouping = Grouping.of_ids(values_by(X, group_by, routed, y), count_rows(X), sort=False)
    queries = Grouping.of_codes(grouping.labels, grouping.row_codes())
    _searches.append(_Search(params, source, queries))
    return queries


def _frames() -> Iterator[FrameType]:
    """The functions that are running, the innermost first."""
    frame = currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def in_score_of_pipeline() -> bool:
    """Whether a Pipeline is being scored, so that its last step gets a transformed X."""
    return any(
        frame.f_code.co_name == "score" and isinstance(frame.f_locals.get("self"), Pipeline)
        for frame in _frames()
    )
