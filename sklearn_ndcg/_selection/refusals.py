"""What GroupedRanker refuses: what cannot follow its rows, or would be ignored."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import PredefinedSplit
from sklearn.pipeline import Pipeline

from sklearn_ndcg._rows.columns import date_columns
from sklearn_ndcg._rows.containers import Table
from sklearn_ndcg._selection.libraries import (
    Estimator,
    QueryRows,
    estimators_in,
    groups_parameter,
    is_aligned,
    library_of,
    settings_of,
)

# scores to start from, and what else refers to rows by number or order
_STARTS = {"init_score", "base_margin", "baseline"}
_ABOUT_ROWS = {"cv", "graph", "has_time", "pairs", "pairs_weight", *_STARTS}


def refuse_ranking_objective(last: Estimator) -> None:
    """Raise if XGBoost would learn from all rows as one list, in silence; also one inside.

    LightGBM and CatBoost raise errors for ranking objectives in estimators that take no groups.
    """
    for estimator in estimators_in(last):
        objective = settings_of(estimator, deep=False).get("objective")
        if str(objective).startswith("rank:") and not groups_parameter(estimator):
            raise ValueError(
                f"objective={objective!r} is an objective for rankings, but "
                f"{type(estimator).__name__} cannot be given the queries: use "
                f"XGBRanker(objective={objective!r})."
            )


def check_fit_params(
    rows: QueryRows, inner: Estimator, dropped: list[Any], stops_early: bool
) -> None:
    """Raise for data to evaluate on that are not made like X, or not used.

    `dropped` are the columns that are removed from X.
    """
    names = {name for name in rows.params if name.startswith("eval_") or name.endswith("_val")}
    transformed = names
    if isinstance(inner, Pipeline):
        transformed = rows.metadata.keys() & (inner.transform_input or ())
    if not names:
        return
    if stops_early:
        reason = "early_stopping=True holds out queries itself: leave one of the two out"
    elif dropped:
        reason = (
            f"the column {', '.join(map(repr, dropped))} would be removed from X alone: move the "
            "ids to an index level, or pass them as groups; early_stopping=True needs no such rows"
        )
    elif names.isdisjoint(transformed):
        reason = "steps of the Pipeline would transform X alone, unless transform_input names it"
    else:
        return
    raise ValueError(f"{', '.join(sorted(names))} cannot be passed: {reason}.")


def refuse_row_numbers(inner: Estimator, rows: QueryRows, is_precomputed: bool) -> None:
    """Raise for what refers to rows by number or order, as rows are moved to their queries."""
    params, n_rows = settings_of(inner) | rows.params, rows.y.shape[0]
    refused = [name for name, value in params.items() if _counts_rows(name, value, n_rows)]
    if is_precomputed:
        refused.append("A precomputed X")
    if refused:
        raise ValueError(
            f"{refused[0]} cannot be passed: it refers to rows by number or order, and rows are "
            "moved to their queries. Pass a splitter as cv, scores to start from in one row per "
            "row of X, a precomputed X without max_queries and early_stopping; leave others out."
        )


def _counts_rows(name: str, value: object, n_rows: int) -> bool:
    """Whether a parameter refers to rows by number or order, and cannot be moved with them."""
    kind = name.rpartition("__")[2]
    if kind not in _ABOUT_ROWS or (kind in _STARTS and is_aligned(kind, value, n_rows)):
        return False
    is_list = np.iterable(value) and not isinstance(value, str)
    return value is True or is_list or isinstance(value, PredefinedSplit)


def refuse_dates(inner: Estimator, X: Table) -> None:
    """Raise for dates that LightGBM or CatBoost would get: those of Polars end the process."""
    dates = date_columns(X) if library_of(inner) in ("LightGBM", "CatBoost") else []
    if dates:
        raise TypeError(
            f"{type(inner).__name__} takes no dates, but X has some in the column "
            f"{', '.join(map(repr, dates))}. A column that orders the queries is not a feature: "
            f"pass order_by={dates[0]!r}. Otherwise leave it out, or make numbers of it."
        )
