"""Early stopping by a scorer, compared with all staged predictions."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import graded_rows
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
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
NDCG = make_ndcg_scorer(k=K, undefined=0.0)


def lightgbm(kind):
    module = pytest.importorskip("lightgbm")
    quiet = {"min_child_samples": 5, "verbose": -1, "n_jobs": 1, "random_state": 0}
    return getattr(module, f"LGBM{kind}")(n_estimators=ROUNDS, **quiet)


def xgboost(kind):
    module = pytest.importorskip("xgboost")
    model = getattr(module, f"XGB{kind}")
    return model(n_estimators=ROUNDS, n_jobs=1, random_state=0, max_depth=2)


def catboost(kind):
    module = pytest.importorskip("catboost")
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 0}
    return getattr(module, f"CatBoost{kind}")(iterations=ROUNDS, **quiet)


def histogram(kind):
    models = {
        "Regressor": HistGradientBoostingRegressor,
        "Classifier": HistGradientBoostingClassifier,
    }
    return models[kind](max_iter=ROUNDS, min_samples_leaf=5)


def boosting(kind):
    models = {"Regressor": GradientBoostingRegressor, "Classifier": GradientBoostingClassifier}
    return models[kind](n_estimators=ROUNDS, subsample=0.7, random_state=0)


def adaboost(kind):
    return AdaBoostRegressor(n_estimators=ROUNDS)


LIBRARIES = [lightgbm, xgboost, catboost, histogram, boosting, adaboost]
STOPS = {lightgbm, xgboost}  # the others fit all rounds
FIRST = {lightgbm: 1, xgboost: 0, catboost: 0, histogram: 1, boosting: 1, adaboost: 1}
MODELS = [
    (library, kind)
    for library in LIBRARIES
    for kind in ("Ranker", "Regressor", "Classifier")
    if (library is not adaboost or kind == "Regressor")
    and (kind != "Ranker" or library in {lightgbm, xgboost, catboost})
]
every_model = pytest.mark.parametrize(
    ("library", "kind"), MODELS, ids=[f"{library.__name__}-{kind}" for library, kind in MODELS]
)
boosters = pytest.mark.parametrize("library", [lightgbm, xgboost, catboost])


@pytest.fixture
def data():
    X, y, query = graded_rows(60, (2, 14), n_columns=4, n_grades=4, all_relevant=False)
    noise = np.random.default_rng(1).normal(size=len(y))
    return X, np.clip(np.round(X["a"] + X["b"] * X["c"] + noise / 2), 0, 3).to_numpy(int), query


def held_out_rows(query, fraction=0.3, seed=0):
    n = len(np.unique(query))
    held = np.random.RandomState(seed).permutation(n)[: round(fraction * n)]
    return np.isin(query, held)


def stop(model, X, y, query, weight=None, **parameters):
    scoring = make_ndcg_scorer(k=K, gain="exponential", undefined=0.0)
    defaults = {"scoring": scoring, "n_iter_no_change": PATIENCE}
    ranker = GroupedRanker(
        model, early_stopping=True, validation_fraction=0.3, random_state=0,
        **(defaults | parameters),
    )  # fmt: skip
    return ranker.fit(X, y, weight, groups=query)


def fit_bare(library, kind, model, X, y, query, weight=None):
    """Fit the library alone, on rows sorted by query."""
    order = np.argsort(query, kind="stable")
    X_fit, y_fit, ids = X.iloc[order], y[order], query[order]
    _, sizes = np.unique(ids, return_counts=True)
    weight = None if weight is None else weight[order]
    groups = {}
    if kind == "Ranker":
        groups = {lightgbm: {"group": sizes}, xgboost: {"qid": ids}, catboost: {"group_id": ids}}
        groups = groups[library]
    weights = {} if weight is None else {"sample_weight": weight}
    if kind == "Ranker" and weight is not None and library is xgboost:
        weights = {"sample_weight": weight[np.r_[0, np.cumsum(sizes)[:-1]]]}  # equal in a query
    if kind == "Ranker" and weight is not None and library is catboost:
        weights = {"group_weight": weight}
    return model.fit(X_fit, y_fit, **groups, **weights)


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


def falling(X):
    """Order queries from the highest id to the lowest."""
    return -X.index


def best_of(scores, patience):
    """The first highest score, as a library finds it that waits for a number of rounds."""
    best = 0
    for n, score in enumerate(scores):
        if score > scores[best]:
            best = n
        if patience and n - best >= patience:
            break
    return best


@pytest.mark.parametrize("weighted", [False, True])
@every_model
def test_best_iteration_is_the_argmax_over_staged_predictions(data, library, kind, weighted):
    """The score of the queries that are held out, after each round of a fit to the others."""
    X, y, query = data
    weight = 1.0 + query % 3 if weighted else None
    inner = library(kind)
    if "random_state" in inner.get_params():
        inner.set_params(random_state=0)
    ranker = stop(inner, X, y, query, weight)
    held = held_out_rows(query)
    rest = ~held
    if library is histogram:
        inner.set_params(early_stopping=False)
    weight_of_rest = None if weight is None else weight[rest]
    model = fit_bare(library, kind, inner, X[rest], y[rest], query[rest], weight_of_rest)
    responses = staged(library, kind, model, X[held])
    scores = [
        ndcg_score(
            y[held], each, groups=query[held], k=K, gain="exponential", undefined=0,
            sample_weight=None if weight is None else weight[held],
        )
        for each in responses
    ]  # fmt: skip
    best = best_of(scores, PATIENCE if library in STOPS else None)
    assert ranker.best_iteration_ == best + FIRST[library]
    if library not in STOPS:
        assert best == np.argmax(scores)
    assert best > 0 or library is histogram  # old versions of it need one round
    name = "predict_proba" if kind == "Classifier" else "predict"
    response = getattr(ranker, name)(X[held])
    if kind == "Classifier":
        response = response @ (2.0**model.classes_ - 1)
    np.testing.assert_allclose(response, responses[best], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("library", [lightgbm, xgboost])
def test_margins_of_the_held_out_rows_count(data, library):
    X, y, query = data
    margin = np.random.default_rng(2).normal(size=len(y)) * 2
    name = {lightgbm: "init_score", xgboost: "base_margin"}[library]
    ranker = GroupedRanker(
        library("Regressor"), early_stopping=True, validation_fraction=0.3, random_state=0,
        n_iter_no_change=ROUNDS, scoring=make_ndcg_scorer(k=K, undefined=0.0),
    ).fit(X, y, groups=query, **{name: margin})  # fmt: skip
    held = held_out_rows(query)
    order = np.flatnonzero(~held)[np.argsort(query[~held], kind="stable")]
    model = library("Regressor").fit(X.iloc[order], y[order], **{name: margin[order]})
    if library is lightgbm:
        responses = [model.predict(X[held], num_iteration=n + 1) for n in range(ROUNDS)]
    else:
        zero = np.zeros(held.sum())
        responses = [
            model.predict(X[held], iteration_range=(0, n + 1), base_margin=zero)
            for n in range(ROUNDS)
        ]
    scores = [
        ndcg_score(y[held], each + margin[held], groups=query[held], k=K, undefined=0)
        for each in responses
    ]
    assert ranker.best_iteration_ == np.argmax(scores) + FIRST[library]


def test_a_baseline_of_catboost_is_refused(data):
    """Its staged_predict ends the process if the rows have one."""
    X, y, query = data
    ranker = GroupedRanker(catboost("Regressor"), early_stopping=True, scoring=NDCG)
    with pytest.raises(ValueError, match="leave out CatBoost's baseline"):
        ranker.fit(X, y, groups=query, baseline=np.zeros(len(y)))


@pytest.mark.parametrize("kind", ["Ranker", "Regressor", "Classifier"])
def test_importances_of_catboost_are_those_of_the_rounds_that_are_kept(data, kind):
    X, y, query = data
    ranker = stop(catboost(kind).set_params(learning_rate=0.1), X, y, query)
    held = held_out_rows(query)
    best = catboost(kind).set_params(learning_rate=0.1, iterations=ranker.best_iteration_ + 1)
    bare = fit_bare(catboost, kind, best, X[~held], y[~held], query[~held])
    expected = bare.get_feature_importance(type="PredictionValuesChange")
    np.testing.assert_allclose(ranker.feature_importances_, expected)


@every_model
def test_pipelines_searches_copies_and_pickles(data, library, kind):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    inner = make_pipeline(StandardScaler(), library(kind))
    ranker = GroupedRanker(
        inner, group_by="q", early_stopping=True, validation="last", order_by=falling,
        scoring=make_ndcg_scorer(k=K, group_by="q", undefined="omit"), random_state=0,
    )  # fmt: skip
    search = GridSearchCV(
        ranker, {"scoring": [make_ndcg_scorer(k=1, undefined="omit"), ranker.scoring]},
        scoring=make_ndcg_scorer(group_by="q", undefined=0.0), cv=GroupKFold(2),
        error_score="raise", refit=False,
    )  # fmt: skip
    assert len(search.fit(X, y, groups=query).cv_results_["mean_test_score"]) == 2
    assert ranker.get_params()["scoring__measure"] == ranker.scoring.measure
    fitted = ranker.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert repr(again.scoring) == repr(ranker.scoring)
    if library not in {histogram, adaboost}:  # they have no random_state here
        np.testing.assert_array_equal(clone(ranker).fit(X, y).predict(X), fitted.predict(X))


@every_model
def test_the_fitted_model_does_not_keep_the_held_out_rows(data, library, kind):
    """A pickle of the model is not larger than that of a model that has never seen them."""
    X, y, query = data
    stopped = stop(library(kind), X, y, query).estimator_
    held = held_out_rows(query)
    bare = fit_bare(library, kind, clone(stopped), X[~held], y[~held], query[~held])
    assert len(pickle.dumps(stopped)) < len(pickle.dumps(bare)) + held.sum() * 8


def test_dcg_and_other_numbers_can_be_stopped_by(data):
    X, y, query = data
    inner = HistGradientBoostingRegressor(max_iter=ROUNDS, min_samples_leaf=5, random_state=0)
    held = held_out_rows(query)
    model = fit_bare(histogram, "Regressor", inner, X[~held], y[~held], query[~held])
    for gain in ("linear", {0: 0, 1: 1, 2: 1, 3: 50}):
        scores = [
            dcg_score(y[held], each, groups=query[held], k=2, gain=gain)
            for each in model.staged_predict(X[held])
        ]
        ranker = stop(inner, X, y, query, scoring=make_dcg_scorer(k=2, gain=gain))
        assert ranker.best_iteration_ == np.argmax(scores) + 1


@pytest.mark.ci
@boosters
@pytest.mark.parametrize("kind", ["Ranker", "Regressor", "Classifier"])
def test_any_function_of_a_query_can_be_stopped_by(data, library, kind):
    X, y, query = data
    y, held = (y > 1).astype(int), held_out_rows(query)
    y_held, ids = y[held], query[held]
    model = fit_bare(library, kind, library(kind), X[~held], y[~held], query[~held])
    both = [rows for rows in (ids == i for i in np.unique(ids)) if np.ptp(y_held[rows])]
    scores = [
        np.mean([roc_auc_score(y_held[rows], each[rows]) for rows in both])
        for each in staged(library, kind, model, X[held])
    ]
    scoring = make_query_scorer(roc_auc_score, undefined="omit")
    ranker = stop(library(kind), X, y, query, scoring=scoring, n_iter_no_change=ROUNDS)
    assert ranker.best_iteration_ - FIRST[library] == np.argmax(np.round(scores, 12))


def test_a_function_of_probabilities_can_be_stopped_by(data):
    X, y, query = data
    scoring = make_query_scorer(brier_score_loss, greater_is_better=False)
    ranker = stop(histogram("Classifier"), X, (y > 1).astype(int), query, scoring=scoring)
    assert 1 <= ranker.best_iteration_ <= ROUNDS


def test_a_round_without_a_score_is_not_the_best(data):
    def spread(y_true, y_score):
        return np.ptp(y_score) if np.ptp(y_score) > 0.5 else np.nan

    X, y, query = data
    scoring = make_query_scorer(spread, undefined="omit")
    ranker = stop(histogram("Regressor"), X, y, query, scoring=scoring)
    assert ranker.best_iteration_ == ROUNDS


@pytest.mark.parametrize("library", [histogram, boosting, adaboost])
def test_both_fits_draw_the_same_without_a_random_state(data, library):
    """The second fit is the first one, up to the best round."""
    X, y, query = data
    features = {} if library is adaboost else {"max_features": 0.5}
    inner = library("Regressor").set_params(random_state=None, **features)
    held = held_out_rows(query)
    for _ in range(3):
        ranker = stop(inner, X, y, query)
        best = ranker.estimator_
        name = "max_iter" if library is histogram else "n_estimators"
        assert best.get_params()[name] == ranker.best_iteration_
        full = clone(best).set_params(**{name: ROUNDS})
        order = np.flatnonzero(~held)[np.argsort(query[~held], kind="stable")]
        full.fit(X.iloc[order], y[order])
        stage = list(full.staged_predict(X))[ranker.best_iteration_ - 1]
        np.testing.assert_allclose(stage, ranker.predict(X))


def test_hist_gradient_boosting_holds_out_no_rows_of_its_own(data):
    """By default it does so from 10,001 rows on; True is refused."""
    X, y, query = data
    X, y = pd.concat([X] * 30), np.tile(y, 30)
    query = (query + 60 * np.arange(30)[:, np.newaxis]).ravel()
    inner = HistGradientBoostingRegressor(max_iter=5, random_state=0)
    ranker = stop(inner, X, y, query)
    assert len(X) > 14_000
    assert ranker.estimator_.validation_score_.size == 0


@boosters
def test_a_class_that_only_held_out_queries_have(data, library):
    X, y, query = data
    held = held_out_rows(query)
    y = np.minimum(y, 2)
    y[np.flatnonzero(held)[:3]] = 3
    ranker = stop(library("Classifier"), X, y, query)
    np.testing.assert_array_equal(ranker.classes_, [0, 1, 2])


@boosters
@pytest.mark.parametrize("kind", ["Ranker", "Regressor", "Classifier"])
def test_binary_relevance(data, library, kind):
    X, y, query = data
    y = (y > 1).astype(int)
    held = held_out_rows(query)
    model = fit_bare(library, kind, library(kind), X[~held], y[~held], query[~held])
    responses = staged(library, kind, model, X[held])
    options = {"groups": query[held], "k": K, "undefined": 0}
    scores = [ndcg_score(y[held], each, **options) for each in responses]
    ranker = stop(
        library(kind), X, y, query, n_iter_no_change=ROUNDS,
        scoring=make_ndcg_scorer(k=K, undefined=0.0),
    )  # fmt: skip
    assert ranker.best_iteration_ == np.argmax(scores) + FIRST[library]


@boosters
def test_lists_of_lists(data, library):
    X, y, query = data
    expected = stop(library("Ranker"), X.to_numpy(), y, query).predict(X.to_numpy())
    lists = stop(library("Ranker"), X.to_numpy().tolist(), y.tolist(), query.tolist())
    np.testing.assert_array_equal(lists.predict(X.to_numpy()), expected)


@boosters
def test_undefined_queries_are_reported_once(data, library):
    X, y, query = data
    y[query == query[held_out_rows(query)][0]] = 0
    scoring = make_ndcg_scorer(k=K)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stop(library("Ranker"), X, y, query, scoring=scoring)
    assert [each.category for each in caught] == [UndefinedMetricWarning]
    with pytest.raises(ValueError, match="NDCG is undefined for"):
        stop(library("Ranker"), X, y, query, scoring=make_ndcg_scorer(k=K, undefined="raise"))
    y[held_out_rows(query)] = 0
    with pytest.raises(ValueError, match="none of the 18 held-out queries has a relevant document"):
        stop(library("Ranker"), X, y, query, scoring=make_ndcg_scorer(k=K, undefined="omit"))


def test_scoring_is_used_by_early_stopping_only(data):
    X, y, _ = data
    ranker = GroupedRanker(Ridge(), scoring=make_ndcg_scorer(k=K, undefined=0.0), k=2)
    plain = GroupedRanker(Ridge(), k=2)
    np.testing.assert_array_equal(ranker.fit(X, y).predict(X), plain.fit(X, y).predict(X))
    assert not hasattr(ranker, "best_iteration_")


REFUSED = {
    "name": (Ridge(), {"scoring": "ndcg"}, TypeError, "made by make_ndcg_scorer"),
    "function": (Ridge(), {"scoring": ndcg_score}, TypeError, "make_ndcg_scorer"),
    "list": (Ridge(), {"scoring": make_ndcg_scorer(k=[1, 3])}, ValueError, r"single.*k=\[1, 3\]"),
    "other queries": (
        Ridge(), {"scoring": make_ndcg_scorer(group_by="b"), "group_by": "a"}, ValueError,
        "group_by='b', but.*group_by='a'.*leave group_by out"),
    "other queries, callable": (
        Ridge(), {"scoring": make_ndcg_scorer(group_by=one_ranking), "group_by": "a"}, ValueError,
        "leave group_by out"),
    "nothing staged": (Ridge(), {}, ValueError, "cannot stop Ridge: .* staged_predict"),
    "no scoring": (
        HistGradientBoostingRegressor(), {"scoring": None}, ValueError,
        r"cannot stop HistGradientBoostingRegressor: .* with scoring=make_ndcg_scorer\(k="),
    "own stopping": (
        HistGradientBoostingRegressor(early_stopping=True), {}, ValueError, "leave early_stopping"),
    "own stopping, rounds": (
        GradientBoostingRegressor(n_iter_no_change=3), {}, ValueError, "leave n_iter_no_change"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(data, case):
    X, y, query = data
    model, parameters, error, message = REFUSED[case]
    with pytest.raises(error, match=f"(?s){message}"):
        stop(model, X, y, query, **({"scoring": NDCG} | parameters))


@pytest.mark.parametrize(
    ("library", "kind", "setting", "message"),
    [
        (lightgbm, "Regressor", {"boosting_type": "dart"}, "boosting_type='dart'"),
        (lightgbm, "Regressor", {"boost": "dart"}, "boosting_type='dart'"),
        (lightgbm, "Regressor", {"metric": "l2"}, "leave metric"),
        (lightgbm, "Ranker", {"metric": ["ndcg"]}, "leave metric"),
        (xgboost, "Regressor", {"booster": "dart"}, "only with booster='gbtree'"),
        (xgboost, "Regressor", {"early_stopping_rounds": 3}, "leave early_stopping_rounds"),
        (catboost, "Regressor", {"od_wait": 3}, "leave od_wait"),
        (catboost, "Regressor", {"early_stopping_rounds": 3}, "leave early_stopping_rounds"),
        (catboost, "Regressor", {"use_best_model": True}, "leave use_best_model"),
    ],
)
def test_settings_that_would_undo_it(data, library, kind, setting, message):
    X, y, query = data
    with pytest.raises(ValueError, match=f"early_stopping=True.*{message}"):
        stop(library(kind).set_params(**setting), X, y, query)


@pytest.mark.parametrize("library", [lightgbm, xgboost])
def test_a_regressor_of_these_needs_scoring_and_a_classifier_its_probabilities(data, library):
    X, y, query = data
    with pytest.raises(ValueError, match="cannot stop .*Regressor: .* with scoring="):
        stop(library("Regressor"), X, y, query, scoring=None)
    labels = make_ndcg_scorer(k=K, response_method="predict", undefined=0.0)
    with pytest.raises(ValueError, match="probabilities.*response_method='predict': leave that"):
        stop(library("Classifier"), X, y, query, scoring=labels)
