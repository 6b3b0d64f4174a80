"""Early stopping by `scoring`, compared with all staged predictions."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import booster, by_first_rows, fit_alone, graded_rows
from sklearn import ensemble
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import brier_score_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_ndcg import (
    GroupedRanker,
    dcg_score,
    make_dcg_scorer,
    make_ndcg_scorer,
    make_query_scorer,
    ndcg_score,
)

X, _, QUERY = graded_rows(60, (2, 14), n_columns=4, all_relevant=False)
NOISE = np.random.default_rng(1).normal(size=len(QUERY)) / 2
Y = np.clip(np.round(X["a"] + X["b"] * X["c"] + NOISE), 0, 3).to_numpy(int)
WEIGHT = 1.0 + QUERY % 3
HELD = np.isin(pd.factorize(QUERY)[0], np.random.RandomState(2).permutation(60)[:18])
ROUNDS = 12
PATIENCE = 4
K = 3


# --- the libraries: a function of the kind that makes a model


def lightgbm(kind):
    return booster("lightgbm", kind, ROUNDS)


def xgboost(kind):
    return booster("xgboost", kind, ROUNDS, max_depth=2)


def catboost(kind):
    return booster("catboost", kind, ROUNDS)


def histogram(kind):
    model = getattr(ensemble, f"HistGradientBoosting{kind}")
    return model(max_iter=ROUNDS, min_samples_leaf=5, random_state=0)


def boosting(kind):
    model = getattr(ensemble, f"GradientBoosting{kind}")
    return model(n_estimators=ROUNDS, subsample=0.7, random_state=0)


STOPS = {lightgbm, xgboost}  # the others fit all rounds
FROM_0 = {xgboost, catboost}  # the others count rounds from 1
BOOSTERS = [lightgbm, xgboost, catboost]
boosters = pytest.mark.parametrize("library", BOOSTERS)
SCORING = make_ndcg_scorer(k=K, gain="exponential", undefined=0.0)


def stop(model, X=X, y=Y, query=QUERY, weight=None, fit_params=None, **parameters):
    options = {
        "scoring": SCORING,
        "early_stopping": True,
        "validation_fraction": 0.3,
        "n_iter_no_change": PATIENCE,
        "random_state": 2,
    }
    ranker = GroupedRanker(model, **(options | parameters))
    return ranker.fit(X, y, weight, groups=query, **(fit_params or {}))


def fit_others(model, y=Y, weight=None):
    """Fit the library alone to the queries that are not held out."""
    weight = None if weight is None else weight[~HELD]
    return fit_alone(model, X[~HELD], y[~HELD], QUERY[~HELD], weight)


def staged(model, name="predict", **options):
    """Responses for the held-out rows after each round, by the library alone."""
    rows, rounds, method = X[HELD], range(1, ROUNDS + 1), getattr(model, name)
    if hasattr(model, f"staged_{name}"):
        return list(getattr(model, f"staged_{name}")(rows))
    if type(model).__name__.startswith("LGBM"):
        return [method(rows, num_iteration=n, **options) for n in rounds]
    return [method(rows, iteration_range=(0, n), **options) for n in rounds]


def staged_scores(kind, model):
    """The expected gain after each round in classifiers, and predictions of others."""
    if kind != "Classifier":
        return staged(model)
    gains = 2.0**model.classes_ - 1
    return [np.round(proba @ gains, 12) for proba in staged(model, "predict_proba")]


def scores_of(responses, y=Y, weight=None, **options):
    """The score of the held-out queries after each round."""
    options = {"k": K, "gain": "exponential", "undefined": 0.0} | options
    options |= {"groups": QUERY[HELD], "sample_weight": None if weight is None else weight[HELD]}
    return [ndcg_score(y[HELD], response, **options) for response in responses]


def first_best(scores, patience):
    """The first highest score, as it is found by waiting for a number of rounds."""
    best = 0
    for n, score in enumerate(scores):
        if score > scores[best]:
            best = n
        if n - best >= patience:
            break
    return best


# --- which round is the best


@pytest.mark.parametrize(
    ("library", "kind", "labels"),
    [
        *((library, "Ranker", "grades") for library in BOOSTERS),
        *((library, "Classifier", "grades") for library in (*BOOSTERS, boosting)),
        (xgboost, "Classifier", "binary"),
        (lightgbm, "Ranker", "weights"),
        (xgboost, "Ranker", "weights"),
        (histogram, "Regressor", "weights"),
    ],
)
def test_best_iteration_is_the_argmax_over_staged_predictions(library, kind, labels):
    y = (Y > 1).astype(int) if labels == "binary" else Y
    weight = WEIGHT if labels == "weights" else None
    ranker = stop(library(kind), y=y, weight=weight)
    bare = fit_others(library(kind), y, weight)
    responses = staged_scores(kind, bare)
    best = first_best(scores_of(responses, y, weight), PATIENCE if library in STOPS else ROUNDS)
    assert ranker.best_iteration_ == best + (library not in FROM_0)
    assert best > 0 or library is histogram or labels == "binary"  # old versions need one round
    response = getattr(ranker, "predict_proba" if kind == "Classifier" else "predict")(X[HELD])
    if kind == "Classifier":
        response = response @ (2.0**bare.classes_ - 1)
    np.testing.assert_allclose(response, responses[best], rtol=1e-5, atol=1e-6)


def recorded(model, k=K):
    """The NDCG@k of the held-out queries that a library has computed in each round."""
    if hasattr(model, "get_booster"):
        return model.evals_result()["validation_0"][f"ndcg@{k}"]
    log = model.evals_result_
    if "valid_0" in log:
        return log["valid_0"][f"ndcg@{k}"]
    return log["validation"][f"NDCG:top={k};type=Base"]


def definition(library):
    """The options of `ndcg_score` that a library's NDCG has."""
    if library is catboost:
        return {"ties": "worst", "gain": "linear", "undefined": 1.0}
    return {"ties": "stable", "undefined": 1.0}


LONGEST = np.unique(QUERY[HELD], return_counts=True)[1].max()


@boosters
@pytest.mark.parametrize(("k", "weighted"), [(K, True), (None, False)])
def test_early_stopping_without_scoring_goes_by_k_and_the_library(library, k, weighted):
    y, weight = Y.copy(), None
    if weighted:  # an undefined query adds 1 to the sum of LightGBM and XGBoost, unweighted
        y[np.unique(QUERY, return_index=True)[1]], weight = 1, WEIGHT
    ranker = stop(library("Ranker"), y=y, weight=weight, scoring=None, k=k)
    values = recorded(ranker.estimator_, k or LONGEST)
    # LightGBM and CatBoost keep no trees after the best: compare a fit without stopping
    responses = staged(fit_others(library("Ranker"), y, weight))
    expected = scores_of(responses[: len(values)], y, weight, k=k, **definition(library))
    np.testing.assert_allclose(values, expected, atol=1e-6 if library is xgboost else 1e-12)
    best = int(np.argmax(values))
    assert isinstance(ranker.best_iteration_, int)
    assert ranker.best_iteration_ == best + (library not in FROM_0)
    assert len(values) == min(best + PATIENCE + 1, ROUNDS)
    np.testing.assert_allclose(ranker.predict(X[HELD]), responses[best], rtol=1e-6)


@pytest.mark.parametrize("scoring", [SCORING, None], ids=["scoring", "without scoring"])
@pytest.mark.parametrize(
    ("library", "name", "zero"),
    [
        (lightgbm, "init_score", {}),
        (xgboost, "base_margin", {"base_margin": np.zeros(HELD.sum())}),
    ],
)
def test_early_stopping_counts_margins_of_the_held_out_rows(library, name, zero, scoring):
    margin = np.random.default_rng(2).normal(size=len(Y)) * 2
    options = {"scoring": scoring, "k": K, "n_iter_no_change": ROUNDS}
    ranker = stop(library("Ranker"), fit_params={name: margin}, **options)
    order, ids, sizes = by_first_rows(QUERY[~HELD])
    rows = np.flatnonzero(~HELD)[order]
    queries = {"group": sizes} if library is lightgbm else {"qid": ids}
    bare = library("Ranker").fit(X.iloc[rows], Y[rows], **queries, **{name: margin[rows]})
    responses = [response + margin[HELD] for response in staged(bare, **zero)]
    scores = scores_of(responses, **({} if scoring else definition(library)))
    assert ranker.best_iteration_ == np.argmax(np.round(scores, 6)) + (library is lightgbm)
    if scoring is None:
        np.testing.assert_allclose(recorded(ranker.estimator_), scores, rtol=0, atol=1e-6)


def test_scoring_may_be_any_scorer():
    options = {"k": 2, "gain": [0, 1, 1, 50]}
    responses = staged(fit_others(histogram("Regressor")))
    scores = [dcg_score(Y[HELD], r, groups=QUERY[HELD], **options) for r in responses]
    ranker = stop(histogram("Regressor"), scoring=make_dcg_scorer(**options))
    assert ranker.best_iteration_ == np.argmax(scores) + 1


def test_scoring_may_be_a_function_of_probabilities():
    scoring = make_query_scorer(brier_score_loss, greater_is_better=False)
    ranker = stop(
        histogram("Classifier").set_params(max_iter=3), y=(Y > 1).astype(int), scoring=scoring
    )
    assert 1 <= ranker.best_iteration_ <= 3


def test_scoring_of_nan_in_a_round_is_not_the_best():
    def spread(y_true, y_score):
        return np.ptp(y_score) - 10 if np.ptp(y_score) > 0.5 else np.nan  # below 0, as a loss

    ranker = stop(histogram("Regressor"), scoring=make_query_scorer(spread, undefined="omit"))
    assert ranker.best_iteration_ == ROUNDS


# --- the fitted model


def test_feature_importances_of_catboost_are_those_of_the_rounds_kept():
    ranker = stop(catboost("Ranker").set_params(learning_rate=0.1))
    bare = fit_others(clone(ranker.estimator_).set_params(iterations=ranker.best_iteration_ + 1))
    expected = bare.get_feature_importance(type="PredictionValuesChange")
    np.testing.assert_allclose(ranker.feature_importances_, expected)


@boosters
def test_early_stopping_of_copies_and_pickles_is_the_same(library):
    inner = make_pipeline(StandardScaler(), library("Ranker"))
    fitted = stop(inner)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(stop(clone(inner)).predict(X), fitted.predict(X))


@pytest.mark.parametrize("library", [histogram, boosting])
def test_early_stopping_fits_the_same_twice_without_a_random_state(library):
    """The second fit is the first one, up to the best round."""
    ranker = stop(library("Regressor").set_params(random_state=None, max_features=0.5))
    name = "max_iter" if library is histogram else "n_estimators"
    assert ranker.estimator_.get_params()[name] == ranker.best_iteration_
    full = clone(ranker.estimator_).set_params(**{name: ROUNDS})
    stages = list(fit_others(full).staged_predict(X))
    np.testing.assert_allclose(stages[ranker.best_iteration_ - 1], ranker.predict(X))


def test_held_out_rows_are_transformed_by_the_steps_of_a_pipeline():
    step = FunctionTransformer(lambda X: X * 4)  # which changes no tree
    plain = stop(lightgbm("Ranker")).estimator_
    transformed = stop(make_pipeline(step, lightgbm("Ranker"))).estimator_[-1]
    assert transformed.evals_result_ == plain.evals_result_


def test_hist_gradient_boosting_holds_out_no_rows_of_its_own():
    """By default it does so from 10,001 rows on."""
    assert stop(histogram("Regressor")).estimator_.early_stopping is False


# --- held-out queries


@boosters
def test_early_stopping_with_a_class_that_only_held_out_queries_have(library):
    y = np.minimum(Y, 2)
    y[np.flatnonzero(HELD)[:3]] = 3
    np.testing.assert_array_equal(stop(library("Classifier"), y=y).classes_, [0, 1, 2])


@boosters
def test_early_stopping_takes_lists_of_lists(library):
    rows = X.to_numpy()
    expected = stop(library("Ranker"), rows).predict(rows)
    lists = stop(library("Ranker"), rows.tolist(), Y.tolist(), QUERY.tolist())
    np.testing.assert_array_equal(lists.predict(rows), expected)


ONE_UNDEFINED = np.where(QUERY[HELD][0] == QUERY, 0, Y)


def test_undefined_held_out_queries_are_reported_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stop(lightgbm("Ranker"), y=ONE_UNDEFINED, scoring=make_ndcg_scorer(k=K))
    assert [item.category for item in caught] == [UndefinedMetricWarning]


@pytest.mark.parametrize(
    ("y", "undefined", "words"),
    [
        (ONE_UNDEFINED, "raise", "NDCG is undefined for"),
        (np.where(HELD, 0, Y), "omit", "none of the 18 held-out queries has a relevant document"),
    ],
    ids=["one", "all"],
)
def test_undefined_held_out_queries_may_be_an_error(y, undefined, words):
    with pytest.raises(ValueError, match=words):
        stop(histogram("Regressor"), y=y, scoring=make_ndcg_scorer(k=K, undefined=undefined))


# --- what cannot stop, or stops itself


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (histogram("Regressor"), r"HistGradientBoostingRegressor: .* scoring=make_ndcg_scorer\(k="),
        (lightgbm("Regressor"), "LGBMRegressor"),
    ],
)
def test_models_that_are_no_rankers_need_scoring(model, words):
    with pytest.raises(ValueError, match=f"(?s)cannot stop {words}"):
        stop(model, scoring=None)


def test_a_model_without_stages_cannot_be_stopped():
    with pytest.raises(ValueError, match="(?s)cannot stop Ridge: .* staged_predict"):
        stop(Ridge())


@pytest.mark.parametrize("library", [lightgbm, xgboost])
def test_scoring_of_labels_cannot_stop_a_booster(library):
    scoring = make_ndcg_scorer(response_method="predict", undefined=0.0)
    with pytest.raises(ValueError, match="probabilities.*response_method='predict': leave that"):
        stop(library("Classifier"), scoring=scoring)


@pytest.mark.parametrize(
    ("model", "name", "value", "words"),
    [
        (histogram("Regressor"), "early_stopping", True, "leave early_stopping out"),
        (boosting("Regressor"), "n_iter_no_change", 3, "leave n_iter_no_change out"),
        (lightgbm("Regressor"), "boosting_type", "dart", "boosting_type='dart'"),
        (lightgbm("Regressor"), "boost", "dart", "boosting_type='dart'"),
        (lightgbm("Regressor"), "metric", "l2", "leave metric out"),
        (xgboost("Regressor"), "booster", "dart", "only with booster='gbtree'"),
        (xgboost("Regressor"), "early_stopping_rounds", 3, "leave early_stopping_rounds out"),
        (catboost("Regressor"), "od_wait", 3, "leave od_wait out"),
    ],
)
def test_settings_that_scoring_cannot_stop_are_refused(model, name, value, words):
    with pytest.raises(ValueError, match=words):
        stop(model.set_params(**{name: value}))


@pytest.mark.parametrize(
    ("library", "name", "value"),
    [
        (lightgbm, "ndcg_eval_at", [1]),
        (lightgbm, "metric", "map"),
        (xgboost, "eval_metric", "map"),
        (catboost, "eval_metric", "MRR"),
    ],
)
def test_settings_that_stop_by_themselves_are_refused_without_scoring(library, name, value):
    with pytest.raises(ValueError, match=f"leave {name} out"):
        stop(library("Ranker").set_params(**{name: value}), scoring=None)


def test_baseline_of_catboost_is_refused():
    """Its staged_predict ends the process if the rows have one."""
    with pytest.raises(ValueError, match="leave out CatBoost's baseline"):
        stop(catboost("Regressor"), fit_params={"baseline": np.zeros(len(Y))})


# --- early stopping in the words of the libraries

WORDS = r"leave it out, and pass early_stopping=True, n_iter_no_change=5"
HELD_ORDER, HELD_IDS, HELD_SIZES = by_first_rows(QUERY[HELD])
HELD_X, HELD_Y = X[HELD].iloc[HELD_ORDER], Y[HELD][HELD_ORDER]
UNKNOWN_QUERIES = {"eval_set": [(HELD_X, HELD_Y)]}


def lightgbm_callback():
    return [pytest.importorskip("lightgbm").early_stopping(5, verbose=False)]


def xgboost_callback():
    return [pytest.importorskip("xgboost").callback.EarlyStopping(rounds=5)]


def catboost_pool(**queries):
    return pytest.importorskip("catboost").Pool(HELD_X, HELD_Y, **queries)


@pytest.mark.parametrize("kind", ["Ranker", "Regressor"])
@pytest.mark.parametrize("wrap", [lambda model: model, make_pipeline], ids=["alone", "Pipeline"])
@pytest.mark.parametrize(
    ("library", "name", "value"),
    [
        (xgboost, "early_stopping_rounds", 5),
        (xgboost, "callbacks", xgboost_callback),
        (lightgbm, "early_stopping_round", 5),
        (lightgbm, "early_stopping_rounds", 5),
        (lightgbm, "early_stopping", 5),
        (lightgbm, "n_iter_no_change", 5),
        (catboost, "early_stopping_rounds", 5),
        (catboost, "od_type", "Iter"),
        (catboost, "od_wait", 5),
        (catboost, "od_pval", 0.01),
        (catboost, "use_best_model", True),
    ],
)
def test_own_settings_without_held_out_queries_are_refused(library, kind, wrap, name, value):
    value = value() if callable(value) else value
    model = library(kind).set_params(**{name: value})
    with pytest.raises(ValueError, match=f"^{name} of .*{kind}.*{WORDS}"):
        GroupedRanker(wrap(model)).fit(X, Y, groups=QUERY)
    # the way out, for which a model that is no ranker needs scoring
    scoring = {} if kind == "Ranker" else {"scoring": SCORING}
    stops = GroupedRanker(wrap(library(kind)), early_stopping=True, n_iter_no_change=5, **scoring)
    assert stops.fit(X, Y, groups=QUERY).best_iteration_ < ROUNDS + 1
    with pytest.raises(ValueError, match=f"leave {name} out"):
        stops.set_params(estimator=wrap(model)).fit(X, Y, groups=QUERY)


@pytest.mark.parametrize(
    ("library", "fit_params"),
    [
        (xgboost, lambda: UNKNOWN_QUERIES),
        (lightgbm, lambda: UNKNOWN_QUERIES),
        (lightgbm, lambda: {"eval_X": (HELD_X,), "eval_y": (HELD_Y,)}),
        (lightgbm, lambda: {"callbacks": lightgbm_callback()}),
        (catboost, lambda: UNKNOWN_QUERIES),
        (catboost, lambda: {"eval_set": (HELD_X, HELD_Y)}),
        (catboost, lambda: {"eval_set": catboost_pool()}),
        (catboost, lambda: {"eval_set": [catboost_pool(group_id=HELD_IDS), catboost_pool()]}),
        (catboost, lambda: {"early_stopping_rounds": 5}),
        (catboost, lambda: {"use_best_model": True}),
    ],
)
def test_own_fit_params_without_held_out_queries_are_refused(library, fit_params):
    given, ranker = fit_params(), GroupedRanker(library("Ranker"))
    names = ", ".join(given)
    for params in ({"groups": QUERY}, {"groups": QUERY, "sample_weight": WEIGHT}):
        with pytest.raises(ValueError, match=f"^{names} of .*Ranker.*{WORDS}"):
            ranker.fit(X, Y, **params, **given)
    stops = ranker.set_params(early_stopping=True, n_iter_no_change=5)
    assert stops.fit(X, Y, groups=QUERY).best_iteration_ < ROUNDS + 1
    with pytest.raises(ValueError, match=rf"leave {names} out|{names} cannot be passed"):
        stops.fit(X, Y, groups=QUERY, **given)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize(
    ("model", "fit_params"),
    [
        pytest.param(
            lambda: xgboost("Ranker").set_params(early_stopping_rounds=2),
            lambda: UNKNOWN_QUERIES | {"eval_qid": [HELD_IDS], "verbose": False},
            id="xgboost, eval_qid",
        ),
        pytest.param(
            lambda: xgboost("Ranker").set_params(callbacks=xgboost_callback()),
            lambda: UNKNOWN_QUERIES | {"eval_group": [HELD_SIZES], "verbose": False},
            id="xgboost, eval_group",
        ),
        pytest.param(
            lambda: xgboost("Regressor").set_params(early_stopping_rounds=2),
            lambda: UNKNOWN_QUERIES | {"verbose": False},
            id="xgboost, regressor",
        ),
        pytest.param(
            lambda: lightgbm("Ranker").set_params(early_stopping_round=2),
            lambda: UNKNOWN_QUERIES | {"eval_group": [HELD_SIZES]},
            id="lightgbm, eval_group",
        ),
        pytest.param(
            lambda: lightgbm("Regressor"),
            lambda: {"eval_X": (HELD_X,), "eval_y": (HELD_Y,), "callbacks": lightgbm_callback()},
            id="lightgbm, regressor",
        ),
        pytest.param(
            lambda: catboost("Ranker").set_params(od_type="Iter", od_wait=2),
            lambda: {"eval_set": catboost_pool(group_id=HELD_IDS)},
            id="catboost, Pool",
        ),
        pytest.param(
            lambda: catboost("Ranker"),
            lambda: {"eval_set": [catboost_pool(group_id=HELD_IDS)], "early_stopping_rounds": 2},
            id="catboost, list",
        ),
        pytest.param(
            lambda: catboost("Regressor").set_params(early_stopping_rounds=2),
            lambda: {"eval_set": (HELD_X, HELD_Y)},
            id="catboost, regressor",
        ),
        pytest.param(
            lambda: catboost("Ranker").set_params(early_stopping_rounds=2, eval_fraction=0.2),
            dict,
            id="catboost, eval_fraction",
        ),
        pytest.param(
            lambda: lightgbm("Ranker").set_params(early_stopping_round=0), dict, id="lightgbm, off"
        ),
        pytest.param(
            lambda: lightgbm("Ranker").set_params(early_stopping_round=-1), dict, id="lightgbm, -1"
        ),
        pytest.param(
            lambda: xgboost("Ranker").set_params(early_stopping_rounds=0), dict, id="xgboost, off"
        ),
        pytest.param(
            lambda: catboost("Ranker").set_params(use_best_model=False), dict, id="catboost, off"
        ),
    ],
)
def test_own_stopping_with_held_out_queries_is_that_of_the_library(model, fit_params):
    """Of a regressor, held-out rows are enough."""
    rows, y, query = X[~HELD], Y[~HELD], QUERY[~HELD]
    ranker = GroupedRanker(model()).fit(rows, y, groups=query, **fit_params())
    order, ids, sizes = by_first_rows(query)
    name = type(ranker.estimator_).__name__
    groups = {
        "LGBMRanker": {"group": sizes},
        "XGBRanker": {"qid": ids},
        "CatBoostRanker": {"group_id": ids},
    }.get(name)
    order = np.arange(len(y)) if groups is None else order  # rows of others stay as they are
    bare = model().fit(rows.iloc[order], y[order], **(groups or {}), **fit_params())
    np.testing.assert_array_equal(ranker.predict(X), bare.predict(X))


# --- what reaches the library with early stopping


@pytest.mark.parametrize("scoring", [SCORING, None], ids=["scoring", "without scoring"])
def test_callbacks_of_lightgbm_are_called_with_early_stopping(scoring):
    rounds = []
    given = {"callbacks": [lambda env: rounds.append(env.iteration)]}
    ranker = stop(lightgbm("Ranker"), scoring=scoring, k=K, fit_params=given)
    assert rounds == list(range(ranker.best_iteration_ + PATIENCE))[:ROUNDS]
    assert len(given["callbacks"]) == 1  # the list that was passed


@pytest.mark.parametrize("scoring", [SCORING, None], ids=["scoring", "without scoring"])
def test_missing_values_of_xgboost_are_missing_in_held_out_rows(scoring):
    """As NaN, which is missing by default."""
    minus_one = X.mask(X > 0.5, -1)
    options = {"scoring": scoring, "k": K, "n_iter_no_change": ROUNDS}
    expected = stop(xgboost("Ranker"), minus_one.replace(-1, np.nan), **options)
    found = stop(xgboost("Ranker").set_params(missing=-1), minus_one, **options)
    assert found.best_iteration_ == expected.best_iteration_
    np.testing.assert_array_equal(found.predict(minus_one), expected.predict(X.mask(X > 0.5)))


class Counted(TransformerMixin, BaseEstimator):
    """A step that counts its fits."""

    fits = 0

    def __init__(self, number):
        self.number = number

    def fit(self, X, y=None):
        Counted.fits += 1
        self.is_fitted_ = True
        return self

    def transform(self, X):
        return X


def test_the_memory_of_a_pipeline_serves_held_out_rows_and_predict(tmp_path):
    Counted.fits = 0
    inner = make_pipeline(Counted(1), Counted(2), lightgbm("Ranker"), memory=str(tmp_path))
    ranker = stop(inner)
    assert Counted.fits == 2
    np.testing.assert_array_equal(ranker.predict(X), stop(lightgbm("Ranker")).predict(X))
    stop(clone(inner))
    assert Counted.fits == 2
