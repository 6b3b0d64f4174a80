"""Early stopping on held-out queries, by the library's own NDCG or by a scorer.

A library is recognised by a parameter of its `fit`; `LIBRARIES` has an entry for each.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from sklearn_ndcg._selection.libraries import (
    CATBOOST_COLUMNS,
    Params,
    TrainingRows,
    added_once,
    interface_of,
)
from sklearn_ndcg._selection.scorers import GroupedScorer, HeldOutScore


class Rule(NamedTuple):
    """When to stop: by `score`, or, if it is None, by the library's own NDCG@k."""

    k: int
    n_iter_no_change: int
    score: HeldOutScore | None


def check_scoring(scoring: Any, group_by: Any) -> None:
    """Raise unless `scoring` is None, or a scorer with one cutoff and the ranker's queries."""
    if scoring is None:
        return
    if not isinstance(scoring, GroupedScorer):
        raise TypeError(
            "scoring must be None or what make_ndcg_scorer or make_dcg_scorer returns, got "
            f"{scoring!r}."
        )
    if not (scoring.k is None or isinstance(scoring.k, str | int | np.integer)):
        raise ValueError(f"scoring must have a single cutoff to stop by, got k={scoring.k!r}.")
    if None not in (scoring.group_by, group_by) and scoring.group_by != group_by:
        raise ValueError(
            f"scoring has group_by={scoring.group_by!r}, but whole queries of "
            f"group_by={group_by!r} are held out and scored: leave group_by out of scoring."
        )


def fit_until_best(
    ranker: Any, last: Any, train: TrainingRows, held_out: TrainingRows, params: Params
) -> int:
    """Fit `last` with the number of rounds that is best on the held-out queries; return it."""
    taken = signature(last.fit).parameters
    fit = next((fit for name, fit in LIBRARIES.items() if name in taken), None)
    scoring = ranker.scoring
    if scoring is None and (fit is None or interface_of(last) is None):
        raise ValueError(
            "early_stopping=True without scoring needs a ranker of LightGBM, XGBoost or CatBoost, "
            f"but {type(last).__name__} is not one. Pass scoring=make_ndcg_scorer(k=...), which "
            "also works for their regressors and classifiers, and estimators with staged_predict."
        )
    if fit is None and not hasattr(last, "staged_predict"):
        raise ValueError(
            "early_stopping=True needs an estimator of LightGBM, XGBoost or CatBoost, or one with "
            f"staged_predict: {type(last).__name__} cannot be stopped by the score of held-out "
            "queries."
        )
    rows = held_out.y, held_out.query_numbers, held_out.weight
    score = None if scoring is None else HeldOutScore(scoring, *rows)
    k = int(held_out.lengths.max()) if ranker.k is None else ranker.k
    rule = Rule(k, ranker.n_iter_no_change, score)
    return int((fit or _fit_twice)(last, train, held_out, rule, params))


def _fit_lightgbm(
    last: Any, train: TrainingRows, held_out: TrainingRows, rule: Rule, params: Params
) -> int:
    from lightgbm import early_stopping  # noqa: PLC0415

    given = last.get_params()
    _refuse_given(given, _LIGHTGBM_STOPPING)
    metric = "ndcg" if rule.score is None else "None"
    if given.get("metric") not in (None, "", metric):
        _refuse_given(given, {"metric"})
    if "dart" in {given.get(name) for name in ("boosting_type", "boosting", "boost")}:
        raise ValueError("early_stopping=True: LightGBM cannot stop with boosting_type='dart'.")
    last.set_params(metric=metric)
    X = np.asarray(held_out.X) if isinstance(held_out.X, list) else held_out.X
    # the scorer has its own labels, and the classifier refuses those that it is not trained on
    y = held_out.y if rule.score is None else np.resize(train.y, len(held_out.y))
    added: Params = {"eval_set": [(X, y)]}
    if "eval_X" in signature(last.fit).parameters:  # LightGBM 4.7, where eval_set is deprecated
        added = {"eval_X": (X,), "eval_y": (y,)}
    if "init_score" in held_out.aligned:
        added["eval_init_score"] = [held_out.aligned["init_score"]]
    if interface_of(last):
        added["eval_group"] = [held_out.lengths]
    if rule.score is None:
        added["eval_at"] = [rule.k]
        if held_out.weight is not None:
            added["eval_sample_weight"] = [held_out.weight]
    else:
        of_round = rule.score.of_rounds(last, np.unique(train.y))
        added["eval_metric"] = lambda _, predicted: ("score", of_round(predicted), True)
    stop = early_stopping(rule.n_iter_no_change, verbose=False)
    added["callbacks"] = [*(params.pop("callbacks", None) or []), stop]
    last.fit(train.X, train.y, **added_once(added, params))
    return int(last.best_iteration_)


def _fit_xgboost(
    last: Any, train: TrainingRows, held_out: TrainingRows, rule: Rule, params: Params
) -> int:
    given = last.get_params()
    _refuse_given(given, {"early_stopping_rounds", "eval_metric", "callbacks"})
    margin = held_out.aligned.get("base_margin")
    if rule.score is not None:
        if given.get("booster") not in (None, "gbtree"):
            raise ValueError(
                "early_stopping=True: XGBoost can stop by scoring only with booster='gbtree', got "
                f"booster={given['booster']!r}."
            )
        of_round = rule.score.of_rounds(last, np.unique(train.y))
        last.set_params(callbacks=[_xgboost_callback(given, held_out.X, margin, of_round, rule)])
        last.fit(train.X, train.y, **params)
        last.set_params(callbacks=None)  # the callback holds the held-out rows
        return int(last.best_iteration)
    last.set_params(early_stopping_rounds=rule.n_iter_no_change, eval_metric=f"ndcg@{rule.k}")
    added: Params = {
        "eval_set": [(held_out.X, held_out.y)],
        "eval_qid": [held_out.query_numbers],
    }
    if held_out.weight is not None:
        added["sample_weight_eval_set"] = [held_out.weight_per_query]
    if margin is not None:
        added["base_margin_eval_set"] = [margin]
    last.fit(train.X, train.y, **added_once(added, params))
    return int(last.best_iteration)


def _xgboost_callback(
    given: Params, X: Any, margin: Any, of_round: Callable[[Any], float], rule: Rule
) -> Any:
    """A callback that stops by the score of X; XGBRanker would call a metric for each query."""
    from xgboost import DMatrix  # noqa: PLC0415
    from xgboost.callback import EarlyStopping  # noqa: PLC0415

    names = "missing", "feature_types", "enable_categorical"
    options = {name: given[name] for name in names}
    # a Booster keeps its predictions of a DMatrix, and adds only those of new trees
    matrix = DMatrix(X, base_margin=margin, nthread=given["n_jobs"], **options)

    class StopByScore(EarlyStopping):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            log: Any = {"held out": {"score": [of_round(model.predict(matrix))]}}
            return bool(super().after_iteration(model, epoch, log))

    return StopByScore(rounds=rule.n_iter_no_change, maximize=True)


def _fit_catboost(
    last: Any, train: TrainingRows, held_out: TrainingRows, rule: Rule, params: Params
) -> int:
    from catboost import Pool  # noqa: PLC0415

    given = last.get_params()
    stopping = {"early_stopping_rounds", "eval_metric", "od_type", "od_wait", "use_best_model"}
    _refuse_given(given, stopping)
    if rule.score is not None:
        # a metric object would keep the model from being pickled, so all rounds are fitted
        if "baseline" in held_out.aligned:
            raise ValueError(
                "early_stopping=True: CatBoost's staged_predict, which scoring needs, does not "
                "take a baseline."
            )
        last.fit(train.X, train.y, **params)
        best = rule.score.best_stage(last, held_out.X)
        last.shrink(best + 1)
        return best
    last.set_params(eval_metric=f"NDCG:top={rule.k}")
    columns = {name: params.get(name, given.get(name)) for name in CATBOOST_COLUMNS}
    aligned = {"group_weight": held_out.query_weight_per_row, **held_out.aligned}
    pool = Pool(held_out.X, held_out.y, group_id=held_out.query_numbers, **columns, **aligned)
    rounds = rule.n_iter_no_change
    added = {"eval_set": pool, "early_stopping_rounds": rounds, "use_best_model": True}
    last.fit(train.X, train.y, **added_once(added, params))
    return int(last.best_iteration_)


def _fit_twice(
    last: Any, train: TrainingRows, held_out: TrainingRows, rule: Rule, params: Params
) -> int:
    """Fit all rounds, find the best one by `staged_predict`, and fit again up to it."""
    given = last.get_params()
    rounds = next((name for name in ("max_iter", "n_estimators") if name in given), None)
    own = next((name for name in ("early_stopping", "n_iter_no_change") if name in given), "")
    if given.get(own) not in (None, False, "auto"):
        _refuse_given(given, {own})
    if rounds is None or rule.score is None:
        raise ValueError(
            f"early_stopping=True: {type(last).__name__} has neither max_iter nor n_estimators."
        )
    if own == "early_stopping":  # "auto" would hold out rows of the training queries
        last.set_params(early_stopping=False)
    if "random_state" in given and given["random_state"] is None:  # both fits must draw the same
        last.set_params(random_state=check_random_state(None).randint(2**31 - 1))
    full = clone(last).fit(train.X, train.y, **params)
    best = rule.score.best_stage(full, held_out.X) + 1
    last.set_params(**{rounds: best}).fit(train.X, train.y, **params)
    return best


def _refuse_given(given: Params, names: set[str]) -> None:
    found = sorted(name for name in names if given.get(name) is not None)
    if found:
        raise ValueError(
            "early_stopping=True decides when to stop by k or scoring, and n_iter_no_change: leave "
            f"{', '.join(found)} out of the estimator."
        )


# LightGBM's names for the cutoffs and the rounds, as parameters of the estimator
_LIGHTGBM_STOPPING = {
    "early_stopping", "early_stopping_round", "early_stopping_rounds", "eval_at", "map_at",
    "map_eval_at", "n_iter_no_change", "ndcg_at", "ndcg_eval_at",
}  # fmt: skip

# how to fit an estimator whose `fit` has a parameter of this name
LIBRARIES: dict[str, Callable[[Any, TrainingRows, TrainingRows, Rule, Params], int]] = {
    "base_margin_eval_set": _fit_xgboost,
    "use_best_model": _fit_catboost,
    "eval_init_score": _fit_lightgbm,
}
