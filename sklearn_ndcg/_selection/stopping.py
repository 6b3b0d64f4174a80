"""Early stopping on held-out queries, by the library's own NDCG.

`BOOSTERS` has an entry for each library.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature

import numpy as np

from sklearn_ndcg._selection import libraries
from sklearn_ndcg._selection.libraries import Estimator, Params, QueryRows, settings_of


@dataclass(frozen=True)
class StoppingRule:
    """What stops training: the highest NDCG@k of the held-out rows, by the library."""

    rows: QueryRows
    k: int
    patience: int


def check_can_stop(last: Estimator, original: Estimator) -> None:
    """Raise unless training of `last`, a clone of `original`, can be stopped."""
    if last is original:  # parameters of the user's would be set
        raise ValueError(
            f"early_stopping=True cannot stop {type(last).__name__}: its clone is the same object. "
            "Freeze nothing that is to be fitted, or leave out early_stopping."
        )
    if libraries.library_of(last) is None or libraries.groups_parameter(last) is None:
        raise ValueError(
            f"early_stopping=True cannot stop {type(last).__name__}: it needs a ranker of "
            "LightGBM, XGBoost or CatBoost."
        )


# LightGBM's names for the cutoffs of its NDCG, as parameters of the estimator
_LIGHTGBM_CUTOFFS = {"eval_at", "map_at", "map_eval_at", "ndcg_at", "ndcg_eval_at"}


def fit_until_best(last: Estimator, train: QueryRows, rule: StoppingRule, params: Params) -> int:
    """Fit `last` with the number of rounds that is best on the held-out rows; return it."""
    return BOOSTERS[str(libraries.library_of(last))](last, train, rule, params)


def _fit_lightgbm(last: Estimator, train: QueryRows, rule: StoppingRule, params: Params) -> int:
    from lightgbm import early_stopping  # noqa: PLC0415

    rows, settings = rule.rows, settings_of(last)
    own = {"early_stopping", "early_stopping_round", "early_stopping_rounds", "n_iter_no_change"}
    _refuse_settings(settings | params, own)
    _refuse_settings(settings, _LIGHTGBM_CUTOFFS)
    if settings.get("metric") not in (None, "", "ndcg"):  # "" is that of the objective
        _refuse_settings(settings, {"metric"})
    if "dart" in {settings.get(name) for name in ("boosting_type", "boosting", "boost")}:
        raise ValueError("early_stopping=True: LightGBM cannot stop with boosting_type='dart'.")
    last.set_params(metric="ndcg")
    X = np.asarray(rows.X) if isinstance(rows.X, list) else rows.X
    added: Params = {
        "eval_X": (X,),
        "eval_y": (rows.y,),
        "eval_init_score": [rows.params.get("init_score")],
        "eval_group": [rows.lengths],
        "eval_at": [rule.k],
        "eval_sample_weight": [rows.weight],
    }
    stop = early_stopping(rule.patience, verbose=False)
    added["callbacks"] = [*(params.pop("callbacks", None) or []), stop]
    last.fit(train.X, train.y, **added, **params)
    return int(last.best_iteration_)


def _fit_xgboost(last: Estimator, train: QueryRows, rule: StoppingRule, params: Params) -> int:
    rows, settings = rule.rows, settings_of(last)
    _refuse_settings(settings | params, {"early_stopping_rounds"})
    _refuse_settings(settings, {"eval_metric", "callbacks"})
    last.set_params(early_stopping_rounds=rule.patience, eval_metric=f"ndcg@{rule.k}")
    added: Params = {"eval_set": [(rows.X, rows.y)], "eval_qid": [rows.query_numbers]}
    if rows.weight is not None:
        added["sample_weight_eval_set"] = [rows.weight_per_query]
    if rows.params.get("base_margin") is not None:
        added["base_margin_eval_set"] = [rows.params["base_margin"]]
    last.fit(train.X, train.y, **added, **params)
    return int(last.best_iteration)


def _fit_catboost(last: Estimator, train: QueryRows, rule: StoppingRule, params: Params) -> int:
    from catboost import Pool  # noqa: PLC0415

    rows, settings = rule.rows, settings_of(last)
    own = {"early_stopping_rounds", "od_pval", "od_type", "od_wait", "use_best_model"}
    _refuse_settings(settings | params, own)
    _refuse_settings(settings, {"eval_metric"})
    last.set_params(eval_metric=f"NDCG:top={rule.k}")
    options: Params = {name: settings.get(name) for name in libraries.CATBOOST_COLUMNS}
    options["group_weight"] = rows.query_weight_per_row
    taken = signature(Pool).parameters
    options |= {name: value for name, value in rows.params.items() if name in taken}
    pool = Pool(rows.X, rows.y, group_id=rows.query_numbers, **options)
    added = {"eval_set": pool, "early_stopping_rounds": rule.patience, "use_best_model": True}
    last.fit(train.X, train.y, **added, **params)
    return int(last.best_iteration_)


def _refuse_settings(settings: Params, names: set[str]) -> None:
    """Raise for settings of the estimator, or of its `fit`, that would stop training, too."""
    refused = sorted(name for name in names if settings.get(name) is not None)
    if refused:
        raise ValueError(
            "early_stopping=True decides when to stop, by k and n_iter_no_change: leave "
            f"{', '.join(refused)} out."
        )


# How an estimator of each library is fitted until its best round.
BOOSTERS = {"XGBoost": _fit_xgboost, "CatBoost": _fit_catboost, "LightGBM": _fit_lightgbm}
