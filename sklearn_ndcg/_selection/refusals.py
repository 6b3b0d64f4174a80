"""What GroupedRanker refuses: what cannot follow its rows and columns, or would be ignored."""

from __future__ import annotations

import re
from collections.abc import Hashable
from numbers import Number
from typing import Any

import numpy as np
from sklearn.model_selection import PredefinedSplit
from sklearn.pipeline import Pipeline

from sklearn_ndcg._rows.columns import column_names, count_rows, date_columns
from sklearn_ndcg._rows.containers import Table
from sklearn_ndcg._selection.libraries import (
    Estimator,
    QueryRows,
    estimators_in,
    groups_parameter,
    is_about_columns,
    is_aligned,
    library_of,
    parameters_in,
    settings_of,
)

# Ranking objectives, by the ranker of their library; and the parameters that choose an objective.
RANKING_OBJECTIVES = {
    "XGBRanker": "rank:.*",
    "LGBMRanker": "lambdarank|(rank_)?xendcg|xe_ndcg(_mart)?|xendcg_mart",
    "CatBoostRanker": "((YetiRank|PairLogit)(Pairwise)?|Query(RMSE|SoftMax|CrossEntropy)"
    "|Stochastic(Rank|Filter)|GroupQuantile|LambdaMart)(:.*)?",
}
_CHOOSES_OBJECTIVE = {"app", "application", "loss", "loss_function", "objective", "objective_type"}

# "0,3" or "(0,1)" or "1:0.5" or a file (LightGBM's forced splits), but not "from_dtype" or "name:a"
_COLUMN_NUMBER = re.compile(r"(^|,)[\s(\[]*\d+(?!\w)|\.json$")

# what errors of libraries say of a column of dates
_ABOUT_DATES = re.compile(r"date(time|\d)|timestamp|\d{4}-\d\d-\d\d", re.IGNORECASE)

# scores to start from, and what else refers to rows by number or order
_STARTS = {"init_score", "base_margin", "baseline"}
_ABOUT_ROWS = {"cv", "graph", "has_time", "pairs", "pairs_weight", *_STARTS}


def refuse_ranking_objective(last: Estimator) -> None:
    """Raise if an estimator has a ranking objective, but does not take groups; also one inside.

    XGBoost would learn from all rows as one list, in silence.
    """
    if type(last).__name__ == "CatBoost":  # it takes groups, but cannot be cloned
        estimators = [last]
    elif groups_parameter(last):
        return
    else:
        estimators = [value for value in estimators_in(last) if not groups_parameter(value)]
    for estimator in estimators:
        for name, value in settings_of(estimator, deep=False).items():
            ranker = _ranker_for(value) if name in _CHOOSES_OBJECTIVE else None
            if ranker:
                raise ValueError(
                    f"{name}={value!r} is an objective for rankings, but {type(estimator).__name__}"
                    f" cannot be given the queries: use {ranker}({name}={value!r})."
                )


def _ranker_for(objective: object) -> str | None:
    """The ranker of the library that has this ranking objective; None for other objectives."""
    if not isinstance(objective, str):
        return None
    rankers = RANKING_OBJECTIVES.items()
    return next((ranker for ranker, names in rankers if re.fullmatch(names, objective)), None)


def check_fit_params(
    rows: QueryRows, inner: Estimator, dropped: list[Any], stops_early: bool
) -> None:
    """Raise for fit parameters that cannot follow the rows and columns of the last step.

    `dropped` are the columns that are removed from X.
    """
    fit_params = rows.params
    evaluates = {name for name in fit_params if name.startswith("eval_") or name.endswith("_val")}
    transformed = evaluates
    if isinstance(inner, Pipeline):
        transformed = rows.metadata.keys() & (inner.transform_input or ())
    if evaluates and (stops_early or dropped or evaluates.isdisjoint(transformed)):
        raise ValueError(
            f"{', '.join(sorted(evaluates))} cannot be passed: early_stopping=True does not need "
            "it, and the steps of a Pipeline (unless transform_input names it) and the removal of "
            "a group column are not applied to it."
        )
    if dropped:
        _refuse_column_numbers(rows, inner, dropped)


def _refuse_column_numbers(rows: QueryRows, inner: Estimator, dropped: list[Hashable]) -> None:
    """Raise for parameters of `inner` and of its `fit` that may refer to columns by number."""
    names, n_rows = column_names(rows.X) or [], count_rows(rows.y)
    fit_params = rows.params | rows.metadata
    others = {name: v for name, v in fit_params.items() if not is_aligned(name, v, n_rows)}
    for name, value in [*parameters_in(others), *parameters_in(inner)]:
        is_switch = isinstance(value, bool | float)  # or a fraction
        if is_about_columns(name) and not is_switch and _counts_columns(value, names):
            raise ValueError(
                f"{name}={value!r:.200} may refer to columns by number, but the column "
                f"{', '.join(map(repr, dropped))} is removed from X: name the columns instead, "
                "move the ids to an index level, or pass them as groups."
            )


def _counts_columns(value: object, names: list[Hashable]) -> bool:
    """Whether a value refers, or may refer, to columns by number; `names` are those of X."""
    if isinstance(value, str):
        return value not in names and bool(_COLUMN_NUMBER.search(value))
    if isinstance(value, slice):
        value = (value.start, value.stop)
    if np.iterable(value) and not hasattr(value, "get_params"):  # also the keys of a dict
        return any(_counts_columns(item, names) for item in value)
    return isinstance(value, Number | np.bool_)


def refuse_row_numbers(inner: Estimator, rows: QueryRows, is_precomputed: bool) -> None:
    """Raise for what refers to rows by number or order, as rows are moved to their queries."""
    params, n_rows = settings_of(inner) | rows.params, count_rows(rows.y)
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
    if library_of(inner) in ("LightGBM", "CatBoost"):
        _raise_about(date_columns(X), inner, None)


def explain_dates(inner: Estimator, X: Table, error: Exception) -> None:
    """Raise an error that names the columns of dates in X, if `error` is about these."""
    dates = date_columns(X)
    if _ABOUT_DATES.search(repr(error)) or any(repr(name) in str(error) for name in dates):
        _raise_about(dates, inner, error)


def _raise_about(dates: list[Hashable], inner: Estimator, error: Exception | None) -> None:
    """Raise an error that names the columns of dates, if there are any."""
    if dates:
        raise TypeError(
            f"{type(inner).__name__} takes no dates, but X has some in the column "
            f"{', '.join(map(repr, dates))}. A column that orders the queries is not a feature: "
            f"pass order_by={dates[0]!r}. Otherwise leave it out, or make numbers of it."
        ) from error
