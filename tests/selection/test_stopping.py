"""Early stopping by `scoring`, compared with all staged predictions."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import graded_rows
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

ROUNDS = 25
PATIENCE = 4
K = 3


def model(module, name, **parameters):
    return getattr(pytest.importorskip(module), name)(**parameters)


def lightgbm(kind):
    quiet = {"verbose": -1, "n_jobs": 1, "random_state": 0, "min_child_samples": 5}
    return model("lightgbm", f"LGBM{kind}", n_estimators=ROUNDS, **quiet)


def xgboost(kind):
    quiet = {"n_jobs": 1, "random_state": 0, "max_depth": 2}
    return model("xgboost", f"XGB{kind}", n_estimators=ROUNDS, **quiet)


def catboost(kind):
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 0}
    return model("catboost", f"CatBoost{kind}", iterations=ROUNDS, **quiet)


def histogram(kind):
    name = f"HistGradientBoosting{kind}"
    return model("sklearn.ensemble", name, max_iter=ROUNDS, min_samples_leaf=5)


def boosting(kind):
    options = {"n_estimators": ROUNDS, "subsample": 0.7, "random_state": 0}
    return model("sklearn.ensemble", f"GradientBoosting{kind}", **options)


def adaboost(kind):
    return model("sklearn.ensemble", f"AdaBoost{kind}", n_estimators=ROUNDS)


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


@pytest.fixture
def data():
    X, y, query = graded_rows(60, (2, 14), n_columns=4, n_grades=4, all_relevant=False)
    noise = np.random.default_rng(1).normal(size=len(y))
    return X, np.clip(np.round(X["a"] + X["b"] * X["c"] + noise / 2), 0, 3).to_numpy(int), query


def held_out_rows(query, fraction=0.3, seed=0):
    n = len(np.unique(query))
    held = np.random.RandomState(seed).permutation(n)[: round(fraction * n)]
    return np.isin(query, held)


def stop(model, X, y, query, weight=None, fit_params=None, **parameters):
    options = {
        "scoring": make_ndcg_scorer(k=K, gain="exponential", undefined=0.0),
        "early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": PATIENCE,
        "random_state": 0,
    }  # fmt: skip
    ranker = GroupedRanker(model, **(options | parameters))
    return ranker.fit(X, y, weight, groups=query, **(fit_params or {}))


def fit_others(library, kind, X, y, query, weight=None, model=None):
    """Fit the library alone to the queries that are not held out, sorted by query."""
    order = np.argsort(query, kind="stable")
    order = order[~held_out_rows(query)[order]]
    ids, sizes = query[order], np.unique(query[order], return_counts=True)[1]
    weight = (np.ones(len(y)) if weight is None else weight)[order]
    given = {
        (lightgbm, "Ranker"): {"group": sizes, "sample_weight": weight},
        (xgboost, "Ranker"): {"qid": ids, "sample_weight": weight[np.cumsum(sizes) - sizes]},
        (catboost, "Ranker"): {"group_id": ids, "group_weight": weight},
    }.get((library, kind), {"sample_weight": weight})
    model = library(kind) if model is None else model
    return model.fit(X.iloc[order], y[order], **given)


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


def scores_of(responses, y, query, weight=None):
    options = {"k": K, "gain": "exponential", "undefined": 0.0, "sample_weight": weight}
    return [ndcg_score(y, response, groups=query, **options) for response in responses]


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
def test_best_iteration_is_the_argmax_over_staged_predictions(data, library, kind, labels):
    """The score of the queries that are held out, after each round of a fit to the others."""
    X, y, query = data
    y = (y > 1).astype(int) if labels == "binary" else y
    weight = 1.0 + query % 3 if labels == "weights" else np.ones(len(y))
    inner = library(kind)
    if "random_state" in inner.get_params():
        inner.set_params(random_state=0)
    ranker = stop(inner, X, y, query, weight if labels == "weights" else None)
    held = held_out_rows(query)
    if library is histogram:
        inner.set_params(early_stopping=False)
    bare = fit_others(library, kind, X, y, query, weight, inner)
    responses = staged(library, kind, bare, X[held])
    scores = scores_of(responses, y[held], query[held], weight[held])
    best = best_of(scores, PATIENCE if library in STOPS else None)
    assert ranker.best_iteration_ == best + FIRST[library]
    assert library in STOPS or best == np.argmax(scores)
    assert best > 0 or library is histogram or labels == "binary"  # old versions need one round
    response = getattr(ranker, "predict_proba" if kind == "Classifier" else "predict")(X[held])
    if kind == "Classifier":
        response = response @ (2.0**bare.classes_ - 1)
    np.testing.assert_allclose(response, responses[best], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("library", [lightgbm, xgboost])
def test_early_stopping_counts_the_margins_of_the_held_out_rows(data, library):
    X, y, query = data
    margin = np.random.default_rng(2).normal(size=len(y)) * 2
    given = {{lightgbm: "init_score", xgboost: "base_margin"}[library]: margin}
    ranker = stop(library("Regressor"), X, y, query, n_iter_no_change=ROUNDS, fit_params=given)
    held = held_out_rows(query)
    order = np.argsort(query, kind="stable")
    order = order[~held[order]]
    given = {name: values[order] for name, values in given.items()}
    bare = library("Regressor").fit(X.iloc[order], y[order], **given)
    if library is lightgbm:
        stages = [{"num_iteration": n + 1} for n in range(ROUNDS)]
    else:
        zero = np.zeros(held.sum())
        stages = [{"iteration_range": (0, n + 1), "base_margin": zero} for n in range(ROUNDS)]
    responses = [bare.predict(X[held], **stage) + margin[held] for stage in stages]
    scores = scores_of(responses, y[held], query[held])
    assert ranker.best_iteration_ == np.argmax(scores) + FIRST[library]


def test_early_stopping_refuses_a_baseline_of_catboost(data):
    """Its staged_predict ends the process if the rows have one."""
    X, y, query = data
    with pytest.raises(ValueError, match="leave out CatBoost's baseline"):
        stop(catboost("Regressor"), X, y, query, fit_params={"baseline": np.zeros(len(y))})


@pytest.mark.parametrize("kind", KINDS)
def test_feature_importances_of_catboost_are_those_of_the_rounds_that_are_kept(data, kind):
    X, y, query = data
    ranker = stop(catboost(kind).set_params(learning_rate=0.1), X, y, query)
    best = catboost(kind).set_params(learning_rate=0.1, iterations=ranker.best_iteration_ + 1)
    bare = fit_others(catboost, kind, X, y, query, model=best)
    expected = bare.get_feature_importance(type="PredictionValuesChange")
    np.testing.assert_allclose(ranker.feature_importances_, expected)


@every_model
def test_early_stopping_in_pipelines_searches_copies_and_pickles(data, library, kind):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
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
    assert len(search.fit(X, y, groups=query).cv_results_["mean_test_score"]) == 2
    assert ranker.get_params()["scoring__measure"] == ranker.scoring.measure
    fitted = ranker.set_params(order_by=None).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert repr(again.scoring) == repr(ranker.scoring)
    if library not in {histogram, adaboost}:  # they have no random_state here
        np.testing.assert_array_equal(clone(ranker).fit(X, y).predict(X), fitted.predict(X))


@every_model
def test_early_stopping_keeps_no_held_out_rows_in_the_model(data, library, kind):
    """A pickle of the model is not larger than that of a model that has never seen them."""
    X, y, query = data
    stopped = stop(library(kind), X, y, query).estimator_
    bare = fit_others(library, kind, X, y, query, model=clone(stopped))
    size = held_out_rows(query).sum() * 8
    assert len(pickle.dumps(stopped)) < len(pickle.dumps(bare)) + size


def test_scoring_may_be_dcg_with_gains_of_its_own(data):
    X, y, query = data
    inner = histogram("Regressor").set_params(random_state=0)
    held = held_out_rows(query)
    stages = list(
        fit_others(histogram, "Regressor", X, y, query, model=inner).staged_predict(X[held])
    )
    for gain in ("linear", {0: 0, 1: 1, 2: 1, 3: 50}):
        options = {"k": 2, "gain": gain}
        scores = [dcg_score(y[held], each, groups=query[held], **options) for each in stages]
        ranker = stop(inner, X, y, query, scoring=make_dcg_scorer(**options))
        assert ranker.best_iteration_ == np.argmax(scores) + 1


@pytest.mark.ci
@boosters
@pytest.mark.parametrize("kind", ["Ranker", "Classifier"])
def test_scoring_may_be_any_function_of_a_query(data, library, kind):
    X, y, query = data
    y, held = (y > 1).astype(int), held_out_rows(query)
    y_held, ids = y[held], query[held]
    both = [rows for rows in (ids == i for i in np.unique(ids)) if np.ptp(y_held[rows])]
    scores = [
        np.mean([roc_auc_score(y_held[rows], each[rows]) for rows in both])
        for each in staged(library, kind, fit_others(library, kind, X, y, query), X[held])
    ]
    scoring = make_query_scorer(roc_auc_score, undefined="omit")
    ranker = stop(library(kind), X, y, query, scoring=scoring, n_iter_no_change=ROUNDS)
    assert ranker.best_iteration_ - FIRST[library] == np.argmax(np.round(scores, 12))


def test_scoring_may_be_a_function_of_probabilities(data):
    X, y, query = data
    scoring = make_query_scorer(brier_score_loss, greater_is_better=False)
    inner = histogram("Classifier").set_params(max_iter=5)
    ranker = stop(inner, X, (y > 1).astype(int), query, scoring=scoring)
    assert 1 <= ranker.best_iteration_ <= 5


def test_scoring_of_nan_in_a_round_is_not_the_best(data):
    def spread(y_true, y_score):
        return np.ptp(y_score) if np.ptp(y_score) > 0.5 else np.nan

    X, y, query = data
    scoring = make_query_scorer(spread, undefined="omit")
    ranker = stop(histogram("Regressor"), X, y, query, scoring=scoring)
    assert ranker.best_iteration_ == ROUNDS


@pytest.mark.parametrize("library", [histogram, boosting, adaboost])
def test_early_stopping_fits_the_same_twice_without_a_random_state(data, library):
    """The second fit is the first one, up to the best round."""
    X, y, query = data
    features = {} if library is adaboost else {"max_features": 0.5}
    inner = library("Regressor").set_params(random_state=None, **features)
    ranker = stop(inner, X, y, query)
    name = "max_iter" if library is histogram else "n_estimators"
    assert ranker.estimator_.get_params()[name] == ranker.best_iteration_
    full = clone(ranker.estimator_).set_params(**{name: ROUNDS})
    stages = list(fit_others(library, "Regressor", X, y, query, model=full).staged_predict(X))
    np.testing.assert_allclose(stages[ranker.best_iteration_ - 1], ranker.predict(X))


def test_early_stopping_of_hist_gradient_boosting_holds_out_no_rows_of_its_own(data):
    """By default it does so from 10,001 rows on; True is refused."""
    X, y, query = data
    X, y = pd.concat([X] * 30), np.tile(y, 30)
    query = (query + 60 * np.arange(30)[:, np.newaxis]).ravel()
    assert len(X) > 14_000
    ranker = stop(histogram("Regressor").set_params(max_iter=5), X, y, query)
    assert ranker.estimator_.validation_score_.size == 0


@boosters
def test_early_stopping_with_a_class_that_only_held_out_queries_have(data, library):
    X, y, query = data
    y = np.minimum(y, 2)
    y[np.flatnonzero(held_out_rows(query))[:3]] = 3
    ranker = stop(library("Classifier"), X, y, query)
    np.testing.assert_array_equal(ranker.classes_, [0, 1, 2])


@boosters
def test_early_stopping_takes_lists_of_lists(data, library):
    X, y, query = data
    X = X.to_numpy()
    for options in ({}, {"scoring": None}):
        expected = stop(library("Ranker"), X, y, query, **options).predict(X)
        lists = stop(library("Ranker"), X.tolist(), y.tolist(), query.tolist(), **options)
        np.testing.assert_array_equal(lists.predict(X), expected)


@boosters
def test_scoring_reports_undefined_queries_once(data, library):
    X, y, query = data
    y[query == query[held_out_rows(query)][0]] = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stop(library("Ranker"), X, y, query, scoring=make_ndcg_scorer(k=K))
    assert [each.category for each in caught] == [UndefinedMetricWarning]
    with pytest.raises(ValueError, match="NDCG is undefined for"):
        stop(library("Ranker"), X, y, query, scoring=make_ndcg_scorer(k=K, undefined="raise"))
    y[held_out_rows(query)] = 0
    with pytest.raises(ValueError, match="none of the 18 held-out queries has a relevant document"):
        stop(library("Ranker"), X, y, query, scoring=make_ndcg_scorer(k=K, undefined="omit"))


def test_scoring_is_used_by_early_stopping_only(data):
    X, y, _ = data
    ranker = GroupedRanker(Ridge(), scoring=make_ndcg_scorer(k=K, undefined=0.0), k=2).fit(X, y)
    np.testing.assert_array_equal(ranker.predict(X), Ridge().fit(X, y).predict(X))
    assert not hasattr(ranker, "best_iteration_")


# a library and its kind, settings of the model, parameters of the ranker, and the error
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
    "scoring, missing for a Regressor of LightGBM": (lightgbm, "Regressor", {}, {"scoring": None}, "cannot stop LGBMRegr"),
    "scoring, missing for a Regressor of XGBoost": (xgboost, "Regressor", {}, {"scoring": None}, "cannot stop XGBRegr"),
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
    "metric": (lightgbm, "Regressor", {"metric": "l2"}, {}, "leave metric"),
    "metric, list": (lightgbm, "Ranker", {"metric": ["ndcg"]}, {}, "leave metric"),
    "booster": (xgboost, "Regressor", {"booster": "dart"}, {}, "only with booster='gbtree'"),
    "early_stopping_rounds": (xgboost, "Regressor", {"early_stopping_rounds": 3}, {}, "leave early_stopping_rounds"),
    "od_wait": (catboost, "Regressor", {"od_wait": 3}, {}, "leave od_wait"),
    "use_best_model": (catboost, "Regressor", {"use_best_model": True}, {}, "leave use_best_model"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_early_stopping_refuses_what_cannot_stop_or_stops_itself(data, case):
    X, y, query = data
    library, kind, settings, parameters, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
        stop(library(kind).set_params(**settings), X, y, query, **parameters)
