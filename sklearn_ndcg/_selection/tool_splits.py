"""The split that a tool of scikit-learn is working on, as a scorer in it can see it.

No public way shows a scorer which rows were split: docs/design/selection.md says what was tried. If
scikit-learn renames what is read here, scorers say nothing of cut queries, and a test fails.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from inspect import currentframe
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.pipeline import Pipeline

from sklearn_ndcg._rows.columns import count_rows, values_by
from sklearn_ndcg._rows.containers import Column, Table
from sklearn_ndcg._rows.grouping import Grouping

if TYPE_CHECKING:
    from sklearn_ndcg._selection.scorers import GroupedScorer

# scikit-learn's functions that fit on some rows of X and score others
FUNCTIONS = frozenset({
    "_fit_and_score", "_incremental_fit_estimator", "_permutation_test_score", "_rfe_single_fit",
})  # fmt: skip


_searches: deque[_Search] = deque(maxlen=2)  # the last ones, or one with two kinds of queries


class Split(NamedTuple):
    """The queries of all rows of X, and those of the test rows."""

    queries: Grouping
    scored: Grouping


class _Search(NamedTuple):
    """What was read in a search, and from where."""

    params: dict[str, Any]  # of the scorer: an object that scikit-learn makes for each search
    source: Any
    queries: Grouping


def under_way(scorer: GroupedScorer, X: Table, scored: Grouping) -> Split | None:
    """The split whose test rows are being scored; None if there is none to be seen."""
    frame = next((each for each in _frames() if each.f_code.co_name in FUNCTIONS), None)
    if frame is None:
        return None
    found = frame.f_locals
    with suppress(Exception):  # whatever these variables are, scoring goes on
        n_rows = count_rows(found["X_test"])
        if X is found["X_train"] or n_rows != scored.lengths.sum():
            return None
        routed = found.get("routed_params")
        params = found["score_params"] if routed is None else routed.scorer.score
        queries = _queries_of_all(scorer, params, found["X"], found["y"])
        if callable(scorer.group_by):  # which may number the queries of any X from 0
            test = Grouping.of_ids(queries.row_codes()[found["test"]], n_rows)
            scored = replace(test, labels=queries.labels[test.labels])
        return Split(queries, scored)
    return None


def _queries_of_all(scorer: GroupedScorer, params: dict[str, Any], X: Table, y: Column) -> Grouping:
    """The queries of all rows, read once per search and process."""
    by = scorer.group_by
    source = scorer.get_metadata_routing().score.requests["groups"] if by is None else by
    for search in _searches:
        if search.params is params and search.source is source:
            return search.queries
    ids = values_by(X, by, params.get(str(source), params.get("groups")), y)
    grouping = Grouping.of_ids(ids, count_rows(X))
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
