"""Early stopping on held-out queries, by the library's own NDCG or by a scorer.

`BOOSTERS` has an entry for each library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from sklearn_ndcg._metrics.array_rankings import rankings_of
from sklearn_ndcg._metrics.measure import has_several_cutoffs
from sklearn_ndcg._selection import libraries
from sklearn_ndcg._selection.libraries import (
    Array,
    Estimator,
    GroupBy,
    Params,
    QueryRows,
    settings_of,
)
from sklearn_ndcg._selection.responses import expected_gain, method_of
from sklearn_ndcg._selection.scorers import GroupedScorer


class StoppingRule:
    """What stops training: the highest score of the held-out rows.

    The score is that of `scoring`, or the library's NDCG@k.
    """

    def __init__(
        self, rows: QueryRows, scoring: GroupedScorer[float] | None, k: int | None, patience: int
    ) -> None:
        self.rows = rows
        self.scoring: Any = scoring
        self.k = int(rows.lengths.max()) if k is None else k
        self.patience = patience
        if self.scoring is None:
            return
        # a function of a query may need probabilities
        unscored = np.concatenate([np.linspace(0, 1, n) for n in rows.lengths])
        self._rankings = rankings_of(rows.y, unscored, rows.query_numbers, rows.weight)
        # here the metric warns of held-out queries or raises; rounds are scored without warning
        measure = self.scoring.measure
        values = self._rankings.evaluate(measure, warn=False).report_undefined()
        if np.isnan(values.means()[0]):
            raise ValueError(
                f"scoring is nan: none of the {len(rows.lengths)} held-out queries has a relevant "
                "document, or a score. Hold out more by validation_fraction, or use undefined=0."
            )

    def round_scorer(self, estimator: Estimator, classes: Array) -> Callable[[Array], float]:
        """A function from a booster's predictions, probabilities in a classifier, to the score."""
        method = method_of(estimator, self.scoring.response_method)
        if method != "predict_proba" and (method != "predict" or is_classifier(estimator)):
            raise ValueError(
                f"early_stopping=True scores the probabilities of {type(estimator).__name__}, and "
                f"scoring has response_method={self.scoring.response_method!r}: leave that out."
            )
        return partial(self._score, method, classes)

    def best_stage(self, estimator: Estimator, X: Any) -> int:
        """The first stage of a fitted estimator whose score is the highest."""
        method = method_of(estimator, self.scoring.response_method)
        stages: Iterable[Array] = getattr(estimator, f"staged_{method}")(X)
        classes = getattr(estimator, "classes_", None)
        return int(np.argmax([self._score(method, classes, response) for response in stages]))

    def _score(self, method: str, classes: Array | None, response: Array) -> float:
        """The score of what `method` returned for the rows."""
        measure = self.scoring.measure
        if method == "predict_proba":
            if response.ndim == 1:  # of the second of two classes
                response = np.column_stack([1 - response, response])
            response = expected_gain(measure, response, classes)
        values = self._rankings.with_scores(response).evaluate(measure, warn=False)
        return float(np.nan_to_num(values.means()[0], nan=-np.inf))


def check_scoring(scoring: object, group_by: GroupBy) -> None:
    """Raise unless `scoring` is None, or a scorer with one cutoff and the ranker's queries."""
    if scoring is None:
        return
    if not isinstance(scoring, GroupedScorer):
        raise TypeError(f"scoring must be made by make_ndcg_scorer or similar, got {scoring!r}.")
    if has_several_cutoffs(scoring.measure):
        raise ValueError(
            f"scoring must have a single cutoff, got k={list(scoring.measure.cutoffs)!r}."
        )
    if None not in (scoring.group_by, group_by) and scoring.group_by != group_by:
        raise ValueError(
            f"scoring has group_by={scoring.group_by!r}, but whole queries of "
            f"group_by={group_by!r} are held out and scored: leave group_by out of scoring."
        )


def check_can_stop(
    last: Estimator, original: Estimator, scoring: GroupedScorer[float] | None
) -> None:
    """Raise unless training of `last`, a clone of `original`, can be stopped."""
    if last is original:  # parameters of the user's would be set
        raise ValueError(
            f"early_stopping=True cannot stop {type(last).__name__}: its clone is the same object. "
            "Freeze nothing that is to be fitted, or leave out early_stopping."
        )
    booster = _booster_of(last)
    is_ranker = booster is not None and libraries.groups_parameter(last) is not None
    can_be_scored = booster is not None or hasattr(last, "staged_predict")
    if not (is_ranker if scoring is None else can_be_scored):
        raise ValueError(
            f"early_stopping=True cannot stop {type(last).__name__}: it needs a ranker of "
            "LightGBM, XGBoost or CatBoost or, with scoring=make_ndcg_scorer(k=...), any estimator "
            "of theirs or one with staged_predict."
        )


def fit_until_best(last: Estimator, train: QueryRows, rule: StoppingRule, params: Params) -> int:
    """Fit `last` with the number of rounds that is best on the held-out rows; return it."""
    booster = _booster_of(last)
    if booster is None:
        return _fit_twice(last, train, rule, params)
    given = settings_of(last) | params
    given["callbacks"] = _own_callbacks(given) or None
    _refuse_settings(given, booster.own_stopping | {"callbacks"})
    return booster.fit(last, train, rule, params)


def refuse_own_stopping(last: Estimator, fit_params: Params) -> None:
    """Raise if the library would stop training by its own parameters, without held-out queries.

    It would ask for data or groups in its own words, or train all rounds in silence (CatBoost).
    """
    booster = _booster_of(last)
    if booster is None:
        return
    params = settings_of(last) | fit_params
    found = sorted(name for name in booster.own_stopping if _is_on(params.get(name)))
    found += ["callbacks"] if _own_callbacks(params) else []
    evaluated = [name for name in _EVALUATED if fit_params.get(name) is not None]
    is_ranker = libraries.groups_parameter(last) is not None
    if params.get("eval_fraction") or (evaluated and not (is_ranker and _lacks_queries(params))):
        return
    if found or evaluated:
        needed = "" if is_ranker else " and scoring=make_ndcg_scorer(k=...)"
        raise ValueError(
            f"{', '.join(found + evaluated)} of {type(last).__name__} came without held-out "
            "queries: leave it out, and pass early_stopping=True, n_iter_no_change=5"
            f"{needed} to GroupedRanker, which holds out whole queries."
        )


def _own_callbacks(params: Params) -> list[object]:
    """The callbacks of LightGBM and XGBoost that stop training."""
    names = {"_EarlyStoppingCallback", "EarlyStopping"}
    return [each for each in params.get("callbacks") or () if type(each).__name__ in names]


def _is_on(value: Any) -> bool:
    """Whether a parameter asks for early stopping: 0 and negative rounds do not."""
    return bool(value) and (isinstance(value, str) or value > 0)


def _lacks_queries(params: Params) -> bool:
    """Whether the data that a ranker shall be evaluated on have no queries."""
    if params.get("eval_group") is not None or params.get("eval_qid") is not None:
        return False
    pools = params.get("eval_set")
    pools = pools if isinstance(pools, list) else [pools]
    ids_of_pools = [getattr(pool, "get_group_id_hash", lambda: None)() for pool in pools]
    return any(ids is None for ids in ids_of_pools)


def _booster_of(last: Estimator) -> Booster | None:
    """How the library of `last` is stopped; None if it is none of the three."""
    library = libraries.library_of(last)
    return None if library is None else BOOSTERS[library]


def _fit_lightgbm(last: Estimator, train: QueryRows, rule: StoppingRule, params: Params) -> int:
    from lightgbm import early_stopping  # noqa: PLC0415

    rows, settings = rule.rows, settings_of(last)
    metric = "ndcg" if rule.scoring is None else "None"
    _refuse_settings(settings, _LIGHTGBM_CUTOFFS)
    if settings.get("metric") not in (None, "", metric):
        _refuse_settings(settings, {"metric"})
    if "dart" in {settings.get(name) for name in ("boosting_type", "boosting", "boost")}:
        raise ValueError("early_stopping=True: LightGBM cannot stop with boosting_type='dart'.")
    last.set_params(metric=metric)
    X = np.asarray(rows.X) if isinstance(rows.X, list) else rows.X
    added: Params = {"eval_X": (X,), "eval_y": (rows.y,)}
    added["eval_init_score"] = [rows.params.get("init_score")]
    if libraries.groups_parameter(last):
        added["eval_group"] = [rows.lengths]
    if rule.scoring is None:
        added |= {"eval_at": [rule.k], "eval_sample_weight": [rows.weight]}
    else:
        score_round = rule.round_scorer(last, np.unique(train.y))
        added["eval_metric"] = lambda _, predicted: ("score", score_round(predicted), True)
    stop = early_stopping(rule.patience, verbose=False)
    added["callbacks"] = [*(params.pop("callbacks", None) or []), stop]
    last.fit(train.X, train.y, **added, **params)
    return int(last.best_iteration_)


def _fit_xgboost(last: Estimator, train: QueryRows, rule: StoppingRule, params: Params) -> int:
    rows, settings = rule.rows, settings_of(last)
    _refuse_settings(settings, {"eval_metric", "callbacks"})
    if rule.scoring is None:
        last.set_params(early_stopping_rounds=rule.patience, eval_metric=f"ndcg@{rule.k}")
        added: Params = {"eval_set": [(rows.X, rows.y)], "eval_qid": [rows.query_numbers]}
        if rows.weight is not None:
            added["sample_weight_eval_set"] = [rows.weight_per_query]
        if rows.params.get("base_margin") is not None:
            added["base_margin_eval_set"] = [rows.params["base_margin"]]
        last.fit(train.X, train.y, **added, **params)
        return int(last.best_iteration)
    if settings.get("booster") not in (None, "gbtree"):
        raise ValueError("early_stopping=True: scoring stops XGBoost only with booster='gbtree'.")
    last.set_params(callbacks=[_xgboost_callback(last, train, rule)])
    last.fit(train.X, train.y, **params)
    last.set_params(callbacks=None)  # the callback holds the held-out rows
    return int(last.best_iteration)


def _xgboost_callback(last: Estimator, train: QueryRows, rule: StoppingRule) -> object:
    """A callback that stops by the score; XGBRanker would call a metric for each query."""
    from xgboost import DMatrix  # noqa: PLC0415
    from xgboost.callback import EarlyStopping  # noqa: PLC0415

    score_round, settings = rule.round_scorer(last, np.unique(train.y)), settings_of(last)
    options = {name: settings[name] for name in ("missing", "feature_types", "enable_categorical")}
    margin = rule.rows.params.get("base_margin")
    # a Booster keeps its predictions of a DMatrix, and adds only those of new trees
    matrix = DMatrix(rule.rows.X, base_margin=margin, nthread=settings["n_jobs"], **options)

    class StopByScore(EarlyStopping):
        def after_iteration(self, model: Any, epoch: int, evals_log: object) -> bool:
            log: Any = {"held out": {"score": [score_round(model.predict(matrix))]}}
            return bool(super().after_iteration(model, epoch, log))

    return StopByScore(rounds=rule.patience, maximize=True)


def _fit_catboost(last: Estimator, train: QueryRows, rule: StoppingRule, params: Params) -> int:
    from catboost import Pool  # noqa: PLC0415

    rows, settings = rule.rows, settings_of(last)
    _refuse_settings(settings, {"eval_metric"})
    if rule.scoring is not None:
        # a metric object would keep the model from being pickled, so all rounds are fitted
        if rows.params.get("baseline") is not None:
            raise ValueError("early_stopping=True with scoring: leave out CatBoost's baseline.")
        last.fit(train.X, train.y, **params)
        best = rule.best_stage(last, rows.X)
        last.shrink(best + 1)
        return best
    last.set_params(eval_metric=f"NDCG:top={rule.k}")
    options = {name: settings.get(name) for name in libraries.CATBOOST_COLUMNS}
    options["group_weight"] = rows.query_weight_per_row
    taken = signature(Pool).parameters
    options |= {name: value for name, value in rows.params.items() if name in taken}
    pool = Pool(rows.X, rows.y, group_id=rows.query_numbers, **options)
    added = {"eval_set": pool, "early_stopping_rounds": rule.patience, "use_best_model": True}
    last.fit(train.X, train.y, **added, **params)
    return int(last.best_iteration_)


def _fit_twice(last: Estimator, train: QueryRows, rule: StoppingRule, params: Params) -> int:
    """Fit all rounds, find the best one by `staged_predict`, and fit again up to it."""
    settings = settings_of(last)
    rounds = next((name for name in ("max_iter", "n_estimators") if name in settings), None)
    own = next((name for name in ("early_stopping", "n_iter_no_change") if name in settings), "")
    if settings.get(own) not in (None, False, "auto"):
        _refuse_settings(settings, {own})
    if rounds is None:
        raise ValueError(f"{type(last).__name__} needs max_iter or n_estimators to stop early.")
    if own == "early_stopping":  # "auto" would hold out rows of the training queries
        last.set_params(early_stopping=False)
    if "random_state" in settings and settings["random_state"] is None:  # both fits draw the same
        last.set_params(random_state=check_random_state(None).randint(2**31 - 1))
    full = clone(last).fit(train.X, train.y, **params)
    best = rule.best_stage(full, rule.rows.X) + 1
    last.set_params(**{rounds: best}).fit(train.X, train.y, **params)
    return best


def _refuse_settings(settings: Params, names: set[str]) -> None:
    """Raise if the estimator has settings that would stop training themselves."""
    refused = sorted(name for name in names if settings.get(name) is not None)
    if refused:
        raise ValueError(
            "early_stopping=True decides when to stop by k or scoring, and n_iter_no_change: leave "
            f"{', '.join(refused)} out."
        )


FitUntilBest: TypeAlias = Callable[[Estimator, QueryRows, StoppingRule, Params], int]


@dataclass(frozen=True)
class Booster:
    """How a library is stopped: by a function that fits until the best round, and returns it.

    `own_stopping` are the parameters of the estimator, or of its `fit`, that would stop it, too.
    """

    fit: FitUntilBest
    own_stopping: set[str]


# LightGBM's names for the cutoffs of its NDCG, as parameters of the estimator
_LIGHTGBM_CUTOFFS = {"eval_at", "map_at", "map_eval_at", "ndcg_at", "ndcg_eval_at"}

# the parameters of `fit` for data to evaluate each round on
_EVALUATED = ("eval_set", "eval_X", "eval_y")

# How to stop an estimator of a library.
BOOSTERS = {
    "XGBoost": Booster(_fit_xgboost, {"early_stopping_rounds"}),
    "CatBoost": Booster(
        _fit_catboost,
        {"early_stopping_rounds", "od_pval", "od_type", "od_wait", "use_best_model"},
    ),
    "LightGBM": Booster(
        _fit_lightgbm,
        {"early_stopping", "early_stopping_round", "early_stopping_rounds", "n_iter_no_change"},
    ),
}
