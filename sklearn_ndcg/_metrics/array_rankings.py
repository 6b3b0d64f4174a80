"""Rows of arrays, with query ids or as the rows of a matrix; and rows of any input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from sklearn_ndcg._checks import Floats, Ids, Ints, Mask, naming_ranker
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics import inputs
from sklearn_ndcg._metrics.list_rankings import ListRankings
from sklearn_ndcg._metrics.queries import Queries
from sklearn_ndcg._metrics.rankings import Rankings, labels_of, with_judged
from sklearn_ndcg._metrics.row_names import ArrayNames
from sklearn_ndcg._rows.columns import level_of
from sklearn_ndcg._rows.containers import shape_of_rows
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.labels import refuse_reordered


@dataclass(frozen=True, eq=False)
class MatrixRankings(Rankings):
    """The rows of a matrix, each a query; `weight` has one entry per query."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the matrix."""
        return len(self.grouping.labels), int(self.grouping.lengths[0])

    def _query_weights(self, kept: Mask | None) -> Floats:
        assert self.weight is not None
        return self.weight

    def _nan_hint(self) -> str:
        return " (with scores of -inf if they pad rows to one length)."

    def check_ids(self, queries: Queries) -> None:
        """Nothing to check: the rows of a matrix have no ids."""

    def labels_of_queries(self, ids: Any, name: str, weight: Floats) -> tuple[Ids, Ints]:
        """Sorted labels of clusters or segments, of which each query has one."""
        return labels_of(ids, len(self.grouping.labels), name)


def rankings_of(
    y_true: ArrayLike | Rows,
    y_score: ArrayLike | None,
    groups: Any = None,
    sample_weight: Any = None,
    sort: bool = True,
) -> Rankings:
    """Read the rows of one ranker, from arrays or lists.

    Without `sort`, queries of arrays may be in any order.
    """
    if isinstance(y_true, Rows):
        refuse_beside_lists(y_score=y_score, groups=groups)
        return ListRankings.of_one_ranker(y_true, sample_weight)
    if y_score is None:
        raise TypeError(
            "y_score is missing: only rows of from_lists or from_trec are passed without it, and "
            "grades in ranked order to explain_query."
        )
    if isinstance(groups, str):
        groups = level_of(y_true, groups, "y_true")
    refuse_reordered(y_true=y_true, y_score=y_score, groups=groups, sample_weight=sample_weight)
    rows, shape = _without_scores(y_true, {None: y_score}, groups, sample_weight, sort)
    return rows(scores={None: inputs.scores_like(y_score, shape)})


def rankings_of_several(
    y_true: ArrayLike,
    y_scores: Mapping[Any, ArrayLike],
    groups: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Rankings:
    """Read the rows of several rankers, by name, from arrays."""
    if isinstance(groups, str):
        groups = level_of(y_true, groups, "y_true")
    refuse_reordered(y_true=y_true, groups=groups, sample_weight=sample_weight)
    rows, shape = _without_scores(y_true, y_scores, groups, sample_weight)
    scores: dict[Any, Floats] = {}
    for name, y_score in y_scores.items():
        with naming_ranker(name, y_scores):
            refuse_reordered(
                y_true=y_true, y_score=y_score, groups=groups, sample_weight=sample_weight
            )
            scores[name] = inputs.scores_like(y_score, shape)
    return rows(scores=scores)


def _without_scores(
    y_true: ArrayLike,
    y_scores: Mapping[Any, ArrayLike],
    groups: Any,
    sample_weight: ArrayLike | None,
    sort: bool = True,
) -> tuple[Callable[..., Rankings], tuple[int, ...]]:
    """Rows that still need the scores of their rankers, and the shape that these must have.

    `y_scores` are only looked at for an error.
    """
    relevance = inputs.numeric(y_true, "y_true")
    if groups is not None:
        relevance = relevance.reshape(shape_of_rows(relevance.shape))
    shape = relevance.shape
    if groups is None or len(shape) == 2:
        inputs.check_groups(relevance, groups, y_scores)
    relevance, judged = with_judged(relevance.ravel())
    kind: type[Rankings] = Rankings
    if len(shape) == 2:
        kind, grouping = MatrixRankings, Grouping.of_matrix(*shape)
    else:
        grouping = Grouping.of_ids(groups, len(relevance), sort=sort)
    weight = None if sample_weight is None else inputs.read_weights(sample_weight, shape[0])
    rows = partial(
        kind,
        relevance=relevance,
        graded=judged,
        judged=judged,
        grouping=grouping,
        weight=weight,
        names=ArrayNames(shape),
    )
    return rows, shape


def refuse_beside_lists(**arguments: object) -> None:
    """Raise for what rows of lists have already."""
    for name, value in arguments.items():
        if value is not None:
            raise TypeError(
                f"{name} must be left out, got {type(value).__name__}: rows of from_lists or "
                "from_trec have their own scores and queries."
            )
