"""Early stopping by the library's NDCG, compared with all staged predictions."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import booster, by_first_rows, fit_alone, graded_rows
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_ndcg import GroupedRanker, ndcg_score

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


FROM_0 = {xgboost, catboost}  # the others count rounds from 1
BOOSTERS = [lightgbm, xgboost, catboost]
boosters = pytest.mark.parametrize("library", BOOSTERS)


def stop(model, X=X, y=Y, query=QUERY, weight=None, fit_params=None, **parameters):
    options = {
        "k": K,
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


def scores_of(responses, y=Y, weight=None, **options):
    """The score of the held-out queries after each round."""
    options = {"k": K, "gain": "exponential", "undefined": 0.0} | options
    options |= {"groups": QUERY[HELD], "sample_weight": None if weight is None else weight[HELD]}
    return [ndcg_score(y[HELD], response, **options) for response in responses]


# --- which round is the best


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
def test_early_stopping_goes_by_k_and_the_library(library, k, weighted):
    y, weight = Y.copy(), None
    if weighted:  # an undefined query adds 1 to the sum of LightGBM and XGBoost, unweighted
        y[np.unique(QUERY, return_index=True)[1]], weight = 1, WEIGHT
    ranker = stop(library("Ranker"), y=y, weight=weight, k=k)
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


@pytest.mark.parametrize(
    ("library", "name", "zero"),
    [
        (lightgbm, "init_score", {}),
        (xgboost, "base_margin", {"base_margin": np.zeros(HELD.sum())}),
    ],
)
def test_early_stopping_counts_margins_of_the_held_out_rows(library, name, zero):
    margin = np.random.default_rng(2).normal(size=len(Y)) * 2
    ranker = stop(library("Ranker"), fit_params={name: margin}, n_iter_no_change=ROUNDS)
    order, ids, sizes = by_first_rows(QUERY[~HELD])
    rows = np.flatnonzero(~HELD)[order]
    queries = {"group": sizes} if library is lightgbm else {"qid": ids}
    bare = library("Ranker").fit(X.iloc[rows], Y[rows], **queries, **{name: margin[rows]})
    responses = [response + margin[HELD] for response in staged(bare, **zero)]
    scores = scores_of(responses, **definition(library))
    assert ranker.best_iteration_ == np.argmax(np.round(scores, 6)) + (library is lightgbm)
    np.testing.assert_allclose(recorded(ranker.estimator_), scores, rtol=0, atol=1e-6)


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


def test_held_out_rows_are_transformed_by_the_steps_of_a_pipeline():
    step = FunctionTransformer(lambda X: X * 4)  # which changes no tree
    plain = stop(lightgbm("Ranker")).estimator_
    transformed = stop(make_pipeline(step, lightgbm("Ranker"))).estimator_[-1]
    assert transformed.evals_result_ == plain.evals_result_


# --- held-out queries


@boosters
def test_early_stopping_takes_lists_of_lists(library):
    rows = X.to_numpy()
    expected = stop(library("Ranker"), rows).predict(rows)
    lists = stop(library("Ranker"), rows.tolist(), Y.tolist(), QUERY.tolist())
    np.testing.assert_array_equal(lists.predict(rows), expected)


# --- what cannot stop, or stops itself


@pytest.mark.parametrize(
    "model", [Ridge(), HistGradientBoostingRegressor(), lightgbm("Regressor")], ids=repr
)
def test_models_that_are_not_rankers_of_the_libraries_cannot_be_stopped(model):
    words = f"cannot stop {type(model).__name__}: it needs a ranker of LightGBM, XGBoost or Cat"
    with pytest.raises(ValueError, match=words):
        stop(model)


@pytest.mark.parametrize(
    ("library", "name", "value", "words"),
    [
        (lightgbm, "ndcg_eval_at", [1], "leave ndcg_eval_at out"),
        (lightgbm, "metric", "map", "leave metric out"),
        (lightgbm, "boosting_type", "dart", "boosting_type='dart'"),
        (lightgbm, "boost", "dart", "boosting_type='dart'"),
        (lightgbm, "early_stopping_round", 3, "leave early_stopping_round out"),
        (xgboost, "eval_metric", "map", "leave eval_metric out"),
        (xgboost, "early_stopping_rounds", 3, "leave early_stopping_rounds out"),
        (xgboost, "callbacks", [], "leave callbacks out"),
        (catboost, "eval_metric", "MRR", "leave eval_metric out"),
        (catboost, "od_wait", 3, "leave od_wait out"),
    ],
)
def test_settings_that_would_stop_otherwise_are_refused(library, name, value, words):
    with pytest.raises(ValueError, match=words):
        stop(library("Ranker").set_params(**{name: value}))


@pytest.mark.parametrize(
    ("name", "value"), [("early_stopping_rounds", 3), ("use_best_model", False)]
)
def test_fit_parameters_that_would_stop_otherwise_are_refused(name, value):
    with pytest.raises(ValueError, match=f"leave {name} out"):
        stop(catboost("Ranker"), fit_params={name: value})


def test_an_empty_metric_of_lightgbm_is_that_of_its_objective():
    expected = stop(lightgbm("Ranker")).predict(X)
    found = stop(lightgbm("Ranker").set_params(metric="")).predict(X)
    np.testing.assert_array_equal(found, expected)


# --- early stopping in the words of the libraries

HELD_ORDER, HELD_IDS, HELD_SIZES = by_first_rows(QUERY[HELD])
HELD_X, HELD_Y = X[HELD].iloc[HELD_ORDER], Y[HELD][HELD_ORDER]
UNKNOWN_QUERIES = {"eval_set": [(HELD_X, HELD_Y)]}


def lightgbm_callback():
    return [pytest.importorskip("lightgbm").early_stopping(5, verbose=False)]


def xgboost_callback():
    return [pytest.importorskip("xgboost").callback.EarlyStopping(rounds=5)]


def catboost_pool(**queries):
    return pytest.importorskip("catboost").Pool(HELD_X, HELD_Y, **queries)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize(
    ("model", "fit_params", "words"),
    [
        (xgboost("Ranker").set_params(early_stopping_rounds=5), {}, "at least 1 validation"),
        (lightgbm("Ranker").set_params(early_stopping_round=5), {}, "at least one dataset"),
        (lightgbm("Ranker"), UNKNOWN_QUERIES, "eval_group cannot be None"),
        (catboost("Ranker").set_params(use_best_model=True), {}, "eval_set"),
    ],
)
def test_own_stopping_without_held_out_queries_is_an_error_of_the_library(model, fit_params, words):
    with pytest.raises(Exception, match=words):
        GroupedRanker(model).fit(X, Y, groups=QUERY, **fit_params)


def test_own_held_out_queries_need_ids_that_are_not_a_column_and_no_early_stopping():
    held_out = UNKNOWN_QUERIES | {"eval_group": [HELD_SIZES]}
    train, y = X[~HELD], Y[~HELD]
    of_column = GroupedRanker(lightgbm("Ranker"), group_by="q")
    table = train.assign(q=QUERY[~HELD])
    with pytest.raises(ValueError, match=r"^eval_group, eval_set cannot .* index level, or pass"):
        of_column.fit(table, y, **held_out)
    stopped = of_column.set_params(early_stopping=True, random_state=0).fit(table, y)
    assert stopped.best_iteration_ >= 0  # and needs no such rows
    by_level = train.set_index(pd.Index(QUERY[~HELD], name="q"))
    for ranker, rows, groups in (
        (GroupedRanker(lightgbm("Ranker"), group_by="q"), by_level, None),
        (GroupedRanker(lightgbm("Ranker")), train, QUERY[~HELD]),
    ):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The argument 'eval_set' is deprecated")
            ranker.fit(rows, y, groups=groups, **held_out)
        with pytest.raises(ValueError, match="early_stopping=True holds out queries itself"):
            ranker.set_params(early_stopping=True).fit(rows, y, groups=groups, **held_out)
        assert not hasattr(ranker, "estimator_")


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


def test_callbacks_of_lightgbm_are_called_with_early_stopping():
    rounds = []
    given = {"callbacks": [lambda env: rounds.append(env.iteration)]}
    ranker = stop(lightgbm("Ranker"), fit_params=given)
    assert rounds == list(range(ranker.best_iteration_ + PATIENCE))[:ROUNDS]
    assert len(given["callbacks"]) == 1  # the list that was passed


def test_missing_values_of_xgboost_are_missing_in_held_out_rows():
    """As NaN, which is missing by default."""
    minus_one = X.mask(X > 0.5, -1)
    options = {"n_iter_no_change": ROUNDS}
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
