"""GroupedRanker: bad parameters, and what counts rows or columns that are sorted or removed."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import GroupId, Qid, Recorder, Sizes, booster
from sklearn.compose import (
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_ndcg import GroupedRanker

X, Y, Q = np.arange(12.0).reshape(6, 2), np.array([0, 1, 2, 0, 1, 0]), np.repeat([1, 2, 3], 2)
FRAME = pd.DataFrame({"a": X[:, 0], "q": Q})


def refused(words):
    return pytest.raises((ValueError, TypeError), match=f"(?s){words}")


# --- parameters of the ranker


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("group_by", "query", r"names none of the columns \['a', 'q'\]"),
        ("group_by", Q, "group_by must name columns.*Pass ids themselves as groups"),
        ("group_by", 1, "group_by must name columns.* got 1. Numbers of columns are not names"),
        ("order_by", 1, "order_by must name one column.* got 1. Numbers of columns are not names"),
        ("order_by", ["a", "q"], "order_by must name one column"),
        ("group_by", ["a", "q"], "no feature is left"),
        ("order_by", "day", "order_by='day' names none of the columns"),
        ("order_by", lambda X: X["a"][::-1], "X and order_by have the same labels"),
        ("k", 0, "k must be an integer >= 1 or None, got 0"),
        ("max_queries", 0, "max_queries must be an integer >= 1 or None, got 0"),
        ("n_iter_no_change", 0, "n_iter_no_change must be an integer >= 1, got 0"),
        ("early_stopping", 5, "early_stopping must be True or False, got 5"),
        ("validation", "first", "^validation must be .*'first'"),
        ("validation_fraction", 0, "validation_fraction must be a number between 0 and 1, got 0"),
        ("validation_fraction", 1.0, "validation_fraction must be .*got 1.0"),
        ("scoring", "ndcg", "unexpected keyword argument 'scoring'"),
    ],
)
def test_bad_parameters(name, value, words):
    with refused(words):
        GroupedRanker(Ridge(), **{name: value}).fit(FRAME, Y)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        ("ridge", "estimator must be an estimator.*'ridge'"),
        (Ridge, "estimator must be an estimator"),
        (make_pipeline(StandardScaler()), "a Pipeline that ends in one"),
        (Pipeline([]), "a Pipeline that ends in one"),
        (make_pipeline(make_pipeline(Ridge())), "not in another Pipeline"),
    ],
    ids=["text", "class", "transformer", "empty Pipeline", "Pipeline in a Pipeline"],
)
def test_estimator_that_cannot_rank_is_refused(estimator, words):
    with refused(words):
        GroupedRanker(estimator).fit(X, Y)


@pytest.mark.parametrize(
    ("groups", "fraction", "words"),
    [(Q, 0.9, "hold out 3 of 3 queries"), ([1] * 6, 0.1, "hold out 1 of 1 queries")],
)
def test_early_stopping_has_to_leave_a_query(groups, fraction, words):
    ranker = GroupedRanker(Sizes(), early_stopping=True, validation_fraction=fraction)
    with refused(words):
        ranker.fit(X, Y, groups=groups)


# --- ranking objectives of estimators that take no groups


def regressor(library, **parameters):
    return booster(library, "Regressor", rounds=2, **parameters)


@pytest.mark.parametrize("groups", [Q, None], ids=["groups", "no groups"])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: model,
        lambda model: make_pipeline("passthrough", model),
        TransformedTargetRegressor,
    ],
    ids=["alone", "Pipeline", "inside"],
)
@pytest.mark.parametrize("objective", ["rank:pairwise", "rank:ndcg"])
def test_ranking_objectives_need_a_ranker(objective, wrap, groups):
    """XGBoost would learn from all rows as one list, in silence."""
    inner = wrap(regressor("xgboost", objective=objective))
    with refused(rf"objective='{objective}' .* use XGBRanker\(objective='{objective}'\)"):
        GroupedRanker(inner).fit(X, Y, groups=groups)
    GroupedRanker(booster("xgboost", rounds=2, objective=objective)).fit(X, Y, groups=Q)


@pytest.mark.parametrize(
    ("library", "name", "value"),
    [
        ("lightgbm", "objective", "lambdarank"),
        ("lightgbm", "objective", "rank_xendcg"),
        ("catboost", "loss_function", "YetiRank"),
        ("catboost", "loss_function", "QuerySoftMax"),
    ],
)
def test_ranking_objectives_of_other_libraries_are_their_errors(library, name, value):
    with pytest.raises(Exception, match="require query information|Invalid loss_function"):
        GroupedRanker(regressor(library, **{name: value})).fit(X, Y, groups=Q)


# --- dates among the features

WITH_DATES = FRAME.assign(when=pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"] * 2))


DATES = {
    "pandas": lambda frame: frame,
    "timezone": lambda frame: frame.assign(when=frame["when"].dt.tz_localize("UTC")),
    "date32": lambda frame: frame.astype({"when": "date32[day][pyarrow]"}),
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}
TAKE_NO_DATES = {
    "LGBMRanker": lambda: booster("lightgbm"),
    "LGBMRegressor": lambda: regressor("lightgbm"),
    "CatBoostRanker": lambda: booster("catboost"),
    "LGBMRanker in a Pipeline": lambda: make_pipeline(FunctionTransformer(), booster("lightgbm")),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for name in TAKE_NO_DATES
        for kind in DATES
        if kind in ("pandas", "timezone")
        or name.startswith("LGBM")
        or (name, kind) == ("CatBoostRanker", "polars")
    ],
)
def test_dates_that_would_end_the_process_are_refused(name, kind):
    """By dates in Polars, LightGBM and CatBoost would end it."""
    rows, ranker = DATES[kind](WITH_DATES), GroupedRanker(TAKE_NO_DATES[name](), group_by="q")
    name = name.split()[0]
    with refused(f"{name} takes no dates.*column 'when'.*pass order_by='when'"):
        ranker.fit(rows, Y)
    ranker.set_params(order_by="when").fit(rows, Y)


def test_dates_that_an_estimator_takes_are_features():
    rows, ranker = DATES["polars"](WITH_DATES), GroupedRanker(Settings(), group_by="q")
    assert ranker.fit(rows, Y).estimator_.given_["X"].columns == ["a", "when"]


# --- what fit is given


@pytest.mark.parametrize(
    ("ranker", "fit_params", "words"),
    [
        (GroupedRanker(Sizes()), {}, "Sizes.fit"),
        (GroupedRanker(Ridge(), early_stopping=True), {}, "early_stopping"),
        (GroupedRanker(Qid()), {"qid": Q}, "Qid.fit"),
        (GroupedRanker(Qid()), {"group": [2, 2, 2]}, "Qid.fit"),
    ],
    ids=["library", "early stopping", "qid", "group"],
)
def test_groups_are_asked_for(ranker, fit_params, words):
    ways_out = "Instead of qid, group_id and group pass groups.*np.repeat.*group_by"
    with refused(f"groups is missing, but {words}.*{ways_out}"):
        ranker.fit(X, Y, **fit_params)


@pytest.mark.parametrize(
    ("fit_params", "words"),
    [
        ({"groups": [2, 2, 2]}, r"groups must have one id.*np\.repeat"),
        ({"groups": [1, 1, 2, 2, np.nan, 3]}, "groups.*1 missing id.*index 4"),
        ({"qid": Q}, "qid is set by GroupedRanker"),
        ({"X": X[:5]}, "inconsistent numbers of samples"),
        ({"y": np.ma.array(Y, mask=Y > 1)}, "y is a masked array"),
        ({"y": np.c_[Y, Y]}, "y should be a 1d array"),
        ({"sample_weight": [0] * 6}, "at least one non-zero"),
        ({"sample_weight": [-1] * 6}, "found -1"),
        ({"nonsense": 1}, r"Qid.fit\(\) got an unexpected .* 'nonsense'"),
        ({"base_margin": pd.Series(Q)[::-1]}, "X and base_margin have the same labels"),
        ({"base_margin": [0.0] * 12}, "base_margin cannot be passed.*one row per row of X"),
    ],
)
def test_bad_arguments_of_fit(fit_params, words):
    with refused(words):
        GroupedRanker(Qid()).fit(**{"X": FRAME, "y": Y, "groups": Q} | fit_params)


@pytest.mark.parametrize(
    ("inner", "labels"),
    [(Qid(), "float"), (LogisticRegression(), "object"), (Ridge(), "Int64")],
)
def test_y_must_have_no_missing_values(inner, labels):
    y = pd.Series(Y).astype(labels)
    y[[2, 4]] = pd.NA if labels == "Int64" else np.nan
    with refused("Input (y )?contains NaN"):
        GroupedRanker(inner).fit(X, y, groups=Q)


# --- what counts rows, where rows are moved


class HasTime(GroupId):
    def __init__(self, has_time=False):
        self.has_time = has_time


SPLITS = [(np.arange(3), np.arange(3, 6))]


@pytest.mark.parametrize(
    ("name", "inner", "fit_params"),
    [
        ("rfecv__cv", make_pipeline(RFECV(Ridge(), cv=SPLITS), Qid()), {}),
        ("rfecv__cv", make_pipeline(RFECV(Ridge(), cv=iter(SPLITS)), Qid()), {}),
        ("lassocv__cv", make_pipeline(LassoCV(cv=PredefinedSplit([0, 0, 0, 1, 1, 1]))), {}),
        ("has_time", HasTime(has_time=True), {}),
        ("pairs", GroupId(), {"pairs": [(0, 1)]}),
    ],
    ids=["splits", "iterator", "PredefinedSplit", "has_time", "pairs"],
)
def test_what_counts_rows_is_refused(name, inner, fit_params):
    with refused(f"^{name} cannot be passed: .*rows are moved"):
        GroupedRanker(inner, max_queries=2).fit(X, Y, groups=Q, **fit_params)


@pytest.mark.parametrize("inner", [HasTime(), GridSearchCV(Ridge(), {"alpha": [1]}, cv=2)])
def test_what_counts_no_rows_is_taken(inner):
    GroupedRanker(inner, max_queries=2).fit(X, Y, groups=Q)


# --- parameters that count columns count those that arrive at the estimator


class Settings(Recorder):
    """An estimator with any parameters."""

    def __init__(self, **settings):
        self.settings = settings

    def get_params(self, deep=True):
        return self.settings

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y, sample_weight=None, **fit_params):
        return self._record(X, y)


def test_numbers_of_columns_count_what_arrives_at_the_estimator(data):
    X, y, query = data
    by_number = HistGradientBoostingRegressor(max_iter=5, monotonic_cst=[1, 0, 0])
    expected = by_number.fit(X, y).predict(X)
    ranker = GroupedRanker(by_number, group_by="q").fit(X.assign(q=query)[list("qabc")], y)
    np.testing.assert_array_equal(ranker.predict(X), expected)


def test_monotone_constraints_of_lightgbm_are_taken(data):
    X, y, query = data
    ranker = GroupedRanker(booster("lightgbm", monotone_constraints=[1, 0, 0]), group_by="q")
    with_ids = ranker.fit(X.assign(q=query)[list("qabc")], y).predict(X)
    routed = ranker.set_params(group_by=None).fit(X, y, groups=query).predict(X)
    np.testing.assert_array_equal(with_ids, routed)


@pytest.mark.parametrize(
    "columns",
    [slice("a", "b"), slice(None), make_column_selector("a"), lambda X: [0]],
    ids=["slice", "all", "selector", "callable"],
)
def test_group_by_and_a_step_that_names_columns(columns, data):
    X, y, query = data
    inner = make_pipeline(make_column_transformer(("passthrough", columns)), Ridge())
    expected = inner.fit(X, y).predict(X)
    ranker = GroupedRanker(inner, group_by="q").fit(X.assign(q=query)[list("qabc")], y)
    np.testing.assert_allclose(ranker.predict(X), expected)
