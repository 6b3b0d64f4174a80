"""Early stopping by `scoring`, compared with all staged predictions."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import booster, fit_alone, graded_rows, sorted_by_hand
from sklearn import ensemble
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ndcg import (
    GroupedRanker,
    dcg_score,
    make_dcg_scorer,
    make_ndcg_scorer,
    make_query_scorer,
    ndcg_score,
    one_ranking,
)

X, _, QUERY = graded_rows(60, (2, 14), n_columns=4, all_relevant=False)
NOISE = np.random.default_rng(1).normal(size=len(QUERY)) / 2
Y = np.clip(np.round(X["a"] + X["b"] * X["c"] + NOISE), 0, 3).to_numpy(int)
HELD = np.isin(QUERY, np.random.RandomState(0).permutation(60)[:18])
ROUNDS = 25
PATIENCE = 4
K = 3


def lightgbm(kind):
    return booster("lightgbm", kind, ROUNDS)


def xgboost(kind):
    return booster("xgboost", kind, ROUNDS, max_depth=2)


def catboost(kind):
    return booster("catboost", kind, ROUNDS)


def histogram(kind):
    return getattr(ensemble, f"HistGradientBoosting{kind}")(max_iter=ROUNDS, min_samples_leaf=5)


def boosting(kind):
    model = getattr(ensemble, f"GradientBoosting{kind}")
    return model(n_estimators=ROUNDS, subsample=0.7, random_state=0)


def adaboost(kind):
    return getattr(ensemble, f"AdaBoost{kind}")(n_estimators=ROUNDS)


STOPS = {lightgbm, xgboost}  # the others fit all rounds
FIRST = {lightgbm: 1, xgboost: 0, catboost: 0, histogram: 1, boosting: 1, adaboost: 1}
BOOSTERS = [lightgbm, xgboost, catboost]
KINDS = ["Ranker", "Regressor", "Classifier"]
RANKERS = [(library, "Ranker") for library in BOOSTERS]
MODELS = [
    *((library, kind) for library in BOOSTERS for kind in KINDS),
    *((library, kind) for library in (histogram, boosting) for kind in KINDS[1:]),
    (adaboost, "Regressor"),
]


def cases(given, every_day):
    """Parameters of a test, of which some are for every day."""
    return [
        pytest.param(
            *each, id="-".join([each[0].__name__, *each[1:]]),
            marks=[] if each in every_day else pytest.mark.ci,
        )
        for each in given
    ]  # fmt: skip


every_model = pytest.mark.parametrize(
    ("library", "kind"), cases(MODELS, [*RANKERS, (histogram, "Regressor")])
)
boosters = pytest.mark.parametrize("library", BOOSTERS)


def stop(model, X=X, y=Y, query=QUERY, weight=None, fit_params=None, **parameters):
    options = {
        "scoring": make_ndcg_scorer(k=K, gain="exponential", undefined=0.0),
        "early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": PATIENCE,
        "random_state": 0,
    }  # fmt: skip
    ranker = GroupedRanker(model, **(options | parameters))
    return ranker.fit(X, y, weight, groups=query, **(fit_params or {}))


def fit_others(model, y=Y, weight=None):
    """Fit the library alone to the queries that are not held out."""
    weight = None if weight is None else weight[~HELD]
    return fit_alone(model, X[~HELD], y[~HELD], QUERY[~HELD], weight)


def staged(library, kind, model, X):
    """Predictions after each round, by the library alone: the expected gain in classifiers."""
    name = "predict_proba" if kind == "Classifier" else "predict"
    after = range(1, ROUNDS + 1)
    if library is lightgbm:
        responses = [getattr(model, name)(X, num_iteration=n) for n in after]
    elif library is xgboost:
        responses = [getattr(model, name)(X, iteration_range=(0, n)) for n in after]
    else:
        responses = list(getattr(model, f"staged_{name}")(X))
    assert len(responses) == ROUNDS or library is adaboost  # which stops at a perfect fit
    if kind != "Classifier":
        return responses
    return [np.round(each @ (2.0**model.classes_ - 1), 12) for each in responses]


def scores_of(responses, y=Y, weight=None, **options):
    """The score of the held-out queries after each round."""
    options = {"k": K, "gain": "exponential", "undefined": 0.0} | options
    options |= {"groups": QUERY[HELD], "sample_weight": None if weight is None else weight[HELD]}
    return [ndcg_score(y[HELD], response, **options) for response in responses]


def best_of(scores, patience):
    """The first highest score, as a library finds it that waits for a number of rounds."""
    best = 0
    for n, score in enumerate(scores):
        if score > scores[best]:
            best = n
        if patience and n - best >= patience:
            break
    return best


LABELS = [
    *((*each, "grades") for each in MODELS),
    *((*each, "weights") for each in MODELS),
    *((library, kind, "binary") for library in BOOSTERS for kind in KINDS),
]
EVERY_DAY = [
    *((library, kind, "grades") for library in STOPS for kind in KINDS),
    (catboost, "Ranker", "grades"),
    (histogram, "Regressor", "grades"),
    (boosting, "Classifier", "grades"),
    *((*each, "weights") for each in [*RANKERS, (histogram, "Regressor")]),
    *((library, "Classifier", "binary") for library in BOOSTERS),
]


@pytest.mark.parametrize(("library", "kind", "labels"), cases(LABELS, EVERY_DAY))
def test_best_iteration_is_the_argmax_over_staged_predictions(library, kind, labels):
    y = (Y > 1).astype(int) if labels == "binary" else Y
    weight = 1.0 + QUERY % 3 if labels == "weights" else None
    inner = library(kind)
    if "random_state" in inner.get_params():
        inner.set_params(random_state=0)
    ranker = stop(inner, y=y, weight=weight)
    if library is histogram:
        inner.set_params(early_stopping=False)
    bare = fit_others(inner, y, weight)
    responses = staged(library, kind, bare, X[HELD])
    scores = scores_of(responses, y, weight)
    best = best_of(scores, PATIENCE if library in STOPS else None)
    assert ranker.best_iteration_ == best + FIRST[library]
    assert library in STOPS or best == np.argmax(scores)
    assert best > 0 or library is histogram or labels == "binary"  # old versions need one round
    response = getattr(ranker, "predict_proba" if kind == "Classifier" else "predict")(X[HELD])
    if kind == "Classifier":
        response = response @ (2.0**bare.classes_ - 1)
    np.testing.assert_allclose(response, responses[best], rtol=1e-5, atol=1e-6)


# the NDCG of the held-out queries that a library records in each round, and its definition
RECORDED = {
    lightgbm: (lambda model: model.evals_result_["valid_0"], "ndcg@{}", {"ties": "stable"}),
    xgboost: (lambda model: model.evals_result()["validation_0"], "ndcg@{}", {"ties": "stable"}),
    catboost: (
        lambda model: model.evals_result_["validation"], "NDCG:top={};type=Base",
        {"ties": "worst", "gain": "linear"},
    ),
}  # fmt: skip


@boosters
@pytest.mark.parametrize("weighted", [False, True])
def test_early_stopping_without_scoring_goes_by_k_and_the_ndcg_of_the_library(library, weighted):
    y, weight = Y.copy(), None
    if weighted:  # an undefined query adds 1 to the sum of LightGBM and XGBoost, unweighted
        y[np.unique(QUERY, return_index=True)[1]], weight = 1, 1.0 + QUERY % 3
    ranker = stop(library("Ranker"), y=y, weight=weight, scoring=None, k=K)
    recorded, name, definition = RECORDED[library]
    values = recorded(ranker.estimator_)[name.format(K)]
    # LightGBM and CatBoost keep no trees after the best: compare a fit without stopping
    responses = staged(library, "Ranker", fit_others(library("Ranker"), y, weight), X[HELD])
    ours = scores_of(responses[: len(values)], y, weight, undefined=1.0, **definition)
    np.testing.assert_allclose(values, ours, rtol=0, atol=1e-6 if library is xgboost else 1e-12)
    best = int(np.argmax(values))
    assert isinstance(ranker.best_iteration_, int)
    assert ranker.best_iteration_ == best + (library is lightgbm)
    assert len(values) == min(best + PATIENCE + 1, ROUNDS)
    np.testing.assert_allclose(ranker.predict(X[HELD]), responses[best], rtol=1e-6)


@pytest.mark.parametrize("library", [lightgbm, xgboost])
def test_early_stopping_counts_the_margins_of_the_held_out_rows(library):
    margin = np.random.default_rng(2).normal(size=len(Y)) * 2
    name = {lightgbm: "init_score", xgboost: "base_margin"}[library]
    fit_params = {name: margin}
    ranker = stop(library("Regressor"), n_iter_no_change=ROUNDS, fit_params=fit_params)
    order, *_ = sorted_by_hand(QUERY)
    order = order[~HELD[order]]
    bare = library("Regressor").fit(X.iloc[order], Y[order], **{name: margin[order]})
    if library is lightgbm:
        stages = [{"num_iteration": n + 1} for n in range(ROUNDS)]
    else:
        zero = np.zeros(HELD.sum())
        stages = [{"iteration_range": (0, n + 1), "base_margin": zero} for n in range(ROUNDS)]
    scores = scores_of([bare.predict(X[HELD], **stage) + margin[HELD] for stage in stages])
    assert ranker.best_iteration_ == np.argmax(scores) + FIRST[library]


@pytest.mark.parametrize("library", [lightgbm, xgboost])
def test_early_stopping_without_scoring_counts_margins_of_the_held_out_rows(library):
    margin = np.random.default_rng(2).normal(size=len(Y)) * 2
    name = {lightgbm: "init_score", xgboost: "base_margin"}[library]
    ranker = stop(library("Ranker"), scoring=None, k=K, fit_params={name: margin})
    recorded, score, definition = RECORDED[library]
    values = recorded(ranker.estimator_)[score.format(K)]
    order, ids, sizes = sorted_by_hand(QUERY[~HELD])
    rows = np.flatnonzero(~HELD)[order]
    queries = {"group": sizes} if library is lightgbm else {"qid": ids}
    bare = library("Ranker").fit(X.iloc[rows], Y[rows], **queries, **{name: margin[rows]})
    if library is lightgbm:
        stages = [{"num_iteration": n + 1} for n in range(len(values))]
    else:
        zero = np.zeros(HELD.sum())
        stages = [{"iteration_range": (0, n + 1), "base_margin": zero} for n in range(len(values))]
    responses = [bare.predict(X[HELD], **stage) + margin[HELD] for stage in stages]
    expected = scores_of(responses, undefined=1.0, **definition)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_feature_importances_of_catboost_are_those_of_the_rounds_that_are_kept(kind):
    model = catboost(kind).set_params(learning_rate=0.1)
    ranker = stop(model)
    bare = fit_others(clone(model).set_params(iterations=ranker.best_iteration_ + 1))
    expected = bare.get_feature_importance(type="PredictionValuesChange")
    np.testing.assert_allclose(ranker.feature_importances_, expected)


@every_model
def test_early_stopping_in_pipelines_searches_copies_and_pickles(library, kind):
    rows = X.set_index(pd.Index(QUERY, name="q"))
    inner = make_pipeline(StandardScaler(), library(kind))
    ranker = GroupedRanker(
        inner, group_by="q", early_stopping=True, validation="last", order_by=lambda X: -X.index,
        scoring=make_ndcg_scorer(k=K, group_by="q", undefined="omit"), random_state=0,
    )  # fmt: skip
    search = GridSearchCV(
        ranker, {"scoring": [make_ndcg_scorer(k=1, undefined="omit"), ranker.scoring]},
        scoring=make_ndcg_scorer(group_by="q", undefined=0.0), cv=GroupKFold(2),
        error_score="raise", refit=False,
    )  # fmt: skip
    assert len(search.fit(rows, Y, groups=QUERY).cv_results_["mean_test_score"]) == 2
    assert ranker.get_params()["scoring__measure"] == ranker.scoring.measure
    fitted = ranker.set_params(order_by=None).fit(rows, Y)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert repr(again.scoring) == repr(ranker.scoring)
    if library not in {histogram, adaboost}:  # they have no random_state here
        np.testing.assert_array_equal(clone(ranker).fit(rows, Y).predict(X), fitted.predict(X))


@every_model
def test_early_stopping_keeps_no_held_out_rows_in_the_model(library, kind):
    """A pickle of the model is not larger than that of a model that has never seen them."""
    stopped = stop(library(kind)).estimator_
    bare = fit_others(clone(stopped))
    assert len(pickle.dumps(stopped)) < len(pickle.dumps(bare)) + HELD.sum() * 8


def test_scoring_may_be_dcg_with_gains_of_its_own():
    inner = histogram("Regressor").set_params(random_state=0)
    stages = list(fit_others(inner).staged_predict(X[HELD]))
    for gain in ("linear", {0: 0, 1: 1, 2: 1, 3: 50}):
        options = {"k": 2, "gain": gain}
        scores = [dcg_score(Y[HELD], each, groups=QUERY[HELD], **options) for each in stages]
        ranker = stop(inner, scoring=make_dcg_scorer(**options))
        assert ranker.best_iteration_ == np.argmax(scores) + 1


@pytest.mark.ci
@boosters
@pytest.mark.parametrize("kind", ["Ranker", "Classifier"])
def test_scoring_may_be_any_function_of_a_query(library, kind):
    y = (Y > 1).astype(int)
    y_held, ids = y[HELD], QUERY[HELD]
    both = [rows for rows in (ids == i for i in np.unique(ids)) if np.ptp(y_held[rows])]
    scores = [
        np.mean([roc_auc_score(y_held[rows], each[rows]) for rows in both])
        for each in staged(library, kind, fit_others(library(kind), y), X[HELD])
    ]
    scoring = make_query_scorer(roc_auc_score, undefined="omit")
    ranker = stop(library(kind), y=y, scoring=scoring, n_iter_no_change=ROUNDS)
    assert ranker.best_iteration_ - FIRST[library] == np.argmax(np.round(scores, 12))


def test_scoring_may_be_a_function_of_probabilities():
    scoring = make_query_scorer(brier_score_loss, greater_is_better=False)
    inner = histogram("Classifier").set_params(max_iter=5)
    ranker = stop(inner, y=(Y > 1).astype(int), scoring=scoring)
    assert 1 <= ranker.best_iteration_ <= 5


def test_scoring_of_nan_in_a_round_is_not_the_best():
    def spread(y_true, y_score):
        return np.ptp(y_score) if np.ptp(y_score) > 0.5 else np.nan

    ranker = stop(histogram("Regressor"), scoring=make_query_scorer(spread, undefined="omit"))
    assert ranker.best_iteration_ == ROUNDS


@pytest.mark.parametrize("library", [histogram, boosting, adaboost])
def test_early_stopping_fits_the_same_twice_without_a_random_state(library):
    """The second fit is the first one, up to the best round."""
    features = {} if library is adaboost else {"max_features": 0.5}
    ranker = stop(library("Regressor").set_params(random_state=None, **features))
    name = "max_iter" if library is histogram else "n_estimators"
    assert ranker.estimator_.get_params()[name] == ranker.best_iteration_
    full = clone(ranker.estimator_).set_params(**{name: ROUNDS})
    stages = list(fit_others(full).staged_predict(X))
    np.testing.assert_allclose(stages[ranker.best_iteration_ - 1], ranker.predict(X))


def test_early_stopping_of_hist_gradient_boosting_holds_out_no_rows_of_its_own():
    """By default it does so from 10,001 rows on; True is refused."""
    query = (QUERY + 60 * np.arange(30)[:, np.newaxis]).ravel()
    assert len(query) > 14_000
    inner = histogram("Regressor").set_params(max_iter=5)
    ranker = stop(inner, pd.concat([X] * 30), np.tile(Y, 30), query)
    assert ranker.estimator_.validation_score_.size == 0


@boosters
def test_early_stopping_with_a_class_that_only_held_out_queries_have(library):
    y = np.minimum(Y, 2)
    y[np.flatnonzero(HELD)[:3]] = 3
    np.testing.assert_array_equal(stop(library("Classifier"), y=y).classes_, [0, 1, 2])


@boosters
@pytest.mark.parametrize("options", [{}, {"scoring": None}], ids=["scoring", "without scoring"])
def test_early_stopping_takes_lists_of_lists(library, options):
    rows = X.to_numpy()
    expected = stop(library("Ranker"), rows, **options).predict(rows)
    lists = stop(library("Ranker"), rows.tolist(), Y.tolist(), QUERY.tolist(), **options)
    np.testing.assert_array_equal(lists.predict(rows), expected)


@boosters
def test_scoring_reports_undefined_queries_once(library):
    y = np.where(QUERY[HELD][0] == QUERY, 0, Y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stop(library("Ranker"), y=y, scoring=make_ndcg_scorer(k=K))
    assert [each.category for each in caught] == [UndefinedMetricWarning]
    with pytest.raises(ValueError, match="NDCG is undefined for"):
        stop(library("Ranker"), y=y, scoring=make_ndcg_scorer(k=K, undefined="raise"))
    y = np.where(HELD, 0, Y)
    with pytest.raises(ValueError, match="none of the 18 held-out queries has a relevant document"):
        stop(library("Ranker"), y=y, scoring=make_ndcg_scorer(k=K, undefined="omit"))


def test_scoring_is_used_by_early_stopping_only():
    ranker = GroupedRanker(Ridge(), scoring=make_ndcg_scorer(k=K, undefined=0.0), k=2).fit(X, Y)
    np.testing.assert_array_equal(ranker.predict(X), Ridge().fit(X, Y).predict(X))
    assert not hasattr(ranker, "best_iteration_")


# a library and its kind, settings of the model, parameters of the ranker, and the error
ALONE = {"scoring": None}
REFUSED = {
    "scoring, name": (histogram, "Regressor", {}, {"scoring": "ndcg"}, "made by make_ndcg_scorer"),
    "scoring, function": (histogram, "Regressor", {}, {"scoring": ndcg_score}, "made by make_ndcg_scorer"),
    "scoring, list": (histogram, "Regressor", {}, {"scoring": make_ndcg_scorer(k=[1, 3])}, r"single.*k=\[1, 3\]"),
    "scoring, other queries": (
        histogram, "Regressor", {}, {"scoring": make_ndcg_scorer(group_by="b"), "group_by": "a"},
        "group_by='b', but.*group_by='a'.*leave group_by out"),
    "scoring, other queries of a callable": (
        histogram, "Regressor", {}, {"scoring": make_ndcg_scorer(group_by=one_ranking), "group_by": "a"},
        "leave group_by out"),
    "scoring, missing": (
        histogram, "Regressor", {}, {"scoring": None},
        r"cannot stop HistGradientBoostingRegressor: .* with scoring=make_ndcg_scorer\(k="),
    "scoring, missing for a Regressor of LightGBM": (lightgbm, "Regressor", {}, ALONE, "cannot stop LGBMRegr"),
    "scoring, missing for a Regressor of XGBoost": (xgboost, "Regressor", {}, ALONE, "cannot stop XGBRegr"),
    "scoring, labels of LightGBM": (
        lightgbm, "Classifier", {}, {"scoring": make_ndcg_scorer(response_method="predict")},
        "probabilities.*response_method='predict': leave that"),
    "scoring, labels of XGBoost": (
        xgboost, "Classifier", {}, {"scoring": make_ndcg_scorer(response_method="predict")},
        "probabilities.*response_method='predict': leave that"),
    "nothing staged": (lambda _: Ridge(), "", {}, {}, "cannot stop Ridge: .* staged_predict"),
    "early_stopping": (histogram, "Regressor", {"early_stopping": True}, {}, "leave early_stopping"),
    "n_iter_no_change": (boosting, "Regressor", {"n_iter_no_change": 3}, {}, "leave n_iter_no_change"),
    "boosting_type": (lightgbm, "Regressor", {"boosting_type": "dart"}, {}, "boosting_type='dart'"),
    "boost": (lightgbm, "Regressor", {"boost": "dart"}, {}, "boosting_type='dart'"),
    "boosting": (lightgbm, "Regressor", {"boosting": "dart"}, {}, "boosting_type='dart'"),
    "metric": (lightgbm, "Regressor", {"metric": "l2"}, {}, "leave metric"),
    "metric, list": (lightgbm, "Ranker", {"metric": ["ndcg"]}, {}, "leave metric"),
    "booster": (xgboost, "Regressor", {"booster": "dart"}, {}, "only with booster='gbtree'"),
    "early_stopping_rounds": (xgboost, "Regressor", {"early_stopping_rounds": 3}, {}, "leave early_stopping_rounds"),
    "od_wait": (catboost, "Regressor", {"od_wait": 3}, {}, "leave od_wait"),
    "ndcg_eval_at": (lightgbm, "Ranker", {"ndcg_eval_at": [1]}, ALONE, "leave ndcg_eval_at"),
    "early_stopping_round": (lightgbm, "Ranker", {"early_stopping_round": 1}, ALONE, "leave early_stopping_round out"),
    "metric, not ndcg": (lightgbm, "Ranker", {"metric": "map"}, ALONE, "leave metric"),
    "eval_metric of XGBoost": (xgboost, "Ranker", {"eval_metric": "map"}, ALONE, "leave eval_metric"),
    "eval_metric of CatBoost": (catboost, "Ranker", {"eval_metric": "MRR"}, ALONE, "leave eval_metric"),
    # CatBoost's staged_predict ends the process if the rows have one
    "baseline": (catboost, "Regressor", {}, {"fit_params": {"baseline": np.zeros(len(Y))}}, "leave out CatBoost's baseline"),
    "use_best_model": (catboost, "Regressor", {"use_best_model": True}, {}, "leave use_best_model"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_early_stopping_refuses_what_cannot_stop_or_stops_itself(case):
    library, kind, settings, parameters, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
        stop(library(kind).set_params(**settings), X, Y, QUERY, **parameters)
