"""GroupedRanker: bad parameters, and what counts rows or columns that are sorted or removed."""

import warnings
from inspect import Parameter, signature

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
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import all_estimators

from sklearn_ndcg import GroupedRanker, QuerySplitter, make_ndcg_scorer

X, Y, Q = np.arange(12.0).reshape(6, 2), np.array([0, 1, 2, 0, 1, 0]), np.repeat([1, 2, 3], 2)
FRAME = pd.DataFrame({"a": X[:, 0], "q": Q})


def refused(words):
    return pytest.raises((ValueError, TypeError), match=f"(?s){words}")


# --- parameters of the ranker


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("group_by", "query", r"names none of the columns \['a', 'q'\]"),
        ("group_by", Q, "group_by must name columns.*pass ids themselves as groups"),
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
        ("scoring", "ndcg", "scoring must be made by make_ndcg_scorer"),
        ("scoring", make_ndcg_scorer(k=[1, 3]), r"scoring must have a single .*k=\[1, 3\]"),
    ],
)
def test_bad_parameters(name, value, words):
    with refused(words):
        GroupedRanker(Ridge(), **{name: value}).fit(FRAME, Y)


@pytest.mark.parametrize("group_by", ["b", lambda X: X["b"]], ids=["name", "callable"])
def test_scoring_of_other_queries_is_refused(group_by):
    ranker = GroupedRanker(Ridge(), group_by="a", scoring=make_ndcg_scorer(group_by=group_by))
    with refused("scoring has group_by=.*, but .* group_by='a' .* leave group_by out"):
        ranker.fit(FRAME, Y)


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


class Objective(Recorder):
    """An estimator that takes no groups, of a library that is not installed."""

    def __init__(self, loss_function=None):
        self.loss_function = loss_function

    def fit(self, X, y):
        return self._record(X, y)


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
@pytest.mark.parametrize(
    ("library", "name", "value"),
    [
        ("xgboost", "objective", "rank:pairwise"),
        ("xgboost", "objective", "rank:ndcg"),
        ("lightgbm", "objective", "lambdarank"),
        ("lightgbm", "objective", "rank_xendcg"),
        ("lightgbm", "application", "xe_ndcg_mart"),
        ("catboost", "loss_function", "YetiRank:mode=NDCG"),
        ("catboost", "loss_function", "PairLogitPairwise"),
    ],
)
def test_ranking_objectives_need_a_ranker(library, name, value, wrap, groups):
    ranker = {"xgboost": "XGB", "lightgbm": "LGBM", "catboost": "CatBoost"}[library] + "Ranker"
    inner = wrap(regressor(library, **{name: value}))
    with refused(rf"{name}='{value}' .* use {ranker}\({name}='{value}'\)"):
        GroupedRanker(inner).fit(X, Y, groups=groups)
    # the way out; PairLogit makes pairs of the grades of each query
    way_out = booster(library, rounds=2, **{name: value})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found 'application' in params", UserWarning)
        GroupedRanker(way_out).fit(np.tile(X, (9, 1)), np.tile(Y, 9), groups=np.repeat(range(9), 6))


@pytest.mark.parametrize(
    "loss",
    [
        *("YetiRank", "YetiRankPairwise", "PairLogit", "PairLogitPairwise", "QueryRMSE"),
        *("QuerySoftMax", "QueryCrossEntropy", "GroupQuantile", "StochasticFilter"),
        *("StochasticRank:metric=NDCG", "LambdaMart:metric=NDCG"),
    ],
)
def test_ranking_objectives_of_catboost(loss):
    """Also of its class for all objectives, which scikit-learn cannot clone."""
    catboost = pytest.importorskip("catboost")
    everything = catboost.CatBoost({"loss_function": loss})
    for inner in (Objective(loss), everything):
        with refused(f"loss_function='{loss}' .* use CatBoostRanker"):
            GroupedRanker(inner).fit(X, Y, groups=Q)


@pytest.mark.parametrize(
    "objective", [None, "RMSE", "squared_error", "reg:squarederror", "rank", lambda y, s: s]
)
def test_other_objectives_need_no_ranker(objective):
    GroupedRanker(Objective(objective)).fit(X, Y, groups=Q)


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
    "XGBRanker": lambda: booster("xgboost"),
    "CatBoostRanker": lambda: booster("catboost"),
    "Ridge": Ridge,
    "Pipeline": lambda: make_pipeline(StandardScaler(), Ridge()),
    "LGBMRanker in a Pipeline": lambda: make_pipeline(FunctionTransformer(), booster("lightgbm")),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for name in TAKE_NO_DATES
        for kind in DATES
        if kind in ("pandas", "timezone")
        or name.startswith(("LGBM", "XGB"))
        or (name, kind) == ("CatBoostRanker", "polars")
    ],
)
def test_dates_that_an_estimator_does_not_take_are_named(name, kind):
    """By dates in Polars, LightGBM and CatBoost would end the process."""
    rows, ranker = DATES[kind](WITH_DATES), GroupedRanker(TAKE_NO_DATES[name](), group_by="q")
    name = name.rpartition(" ")[2]
    with refused(f"{name} takes no dates.*column 'when'.*pass order_by='when'"):
        ranker.fit(rows, Y)
    ranker.set_params(order_by="when").fit(rows, Y)


def test_dates_that_an_estimator_takes_are_features():
    rows, ranker = DATES["polars"](WITH_DATES), GroupedRanker(Settings(), group_by="q")
    assert ranker.fit(rows, Y).estimator_.given_["X"].columns == ["a", "when"]


class Fails(Recorder):
    def fit(self, X, y):
        raise KeyError("runtime of the update")


def test_errors_that_are_not_about_dates_stay():
    with pytest.raises(KeyError, match="runtime of the update"):
        GroupedRanker(Fails(), group_by="q").fit(WITH_DATES, Y)


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


# --- what counts columns, where one is removed


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


TABLE = FRAME.assign(**{"2020": 1.0})
BOOSTING = HistGradientBoostingRegressor(categorical_features=[0], max_iter=2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("categorical_feature", "0,3"),
        ("categorical_feature", ["a", 2]),
        ("categorical_feature", np.array([False, True, False])),
        ("interaction_cst", [{0, 1}]),
        ("monotone_constraints", "a:1,1:1"),
        ("per_feature_ctr", ["2:Borders:Prior=0.5"]),
        ("forcedsplits_filename", "splits.json"),
        ("transformers", [("a", "drop", slice(1, 3))]),
        ("transformers", [("a", "drop", slice(None, 3))]),
        # inside of others
        ("param_grid", [{"boosting__categorical_features": [[True, False]]}]),
        ("param_grid", {"regressor": [Ridge(), BOOSTING]}),
        ("search_spaces", {"monotone_constraints": ["(0,1)", "(1,0)"]}),
        ("step", FeatureUnion([("a", make_column_transformer(("drop", [0])))])),
        ("scoring", make_ndcg_scorer(group_by=0)),
        ("cv", QuerySplitter(3, order_by=-1)),
    ],
    ids=str,
)
def test_group_by_and_what_may_count_columns(name, value):
    words = r"may refer to columns by number.*'q' is removed from X: name .* index level, or pass"
    with refused(words):
        GroupedRanker(Settings(**{name: value}), group_by="q").fit(TABLE, Y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("categorical_feature", None),
        ("categorical_feature", "name:a,b2"),
        ("interaction_constraints", [["a"], ["b", "c"]]),
        ("monotonic_cst", {"feature_1": 1}),
        ("transformer", make_column_transformer((StandardScaler(), ["2020"]))),
        ("scoring", make_ndcg_scorer(k=[1, 3], group_by="day")),
        ("regressor", Ridge),
        # quantities and switches
        ("n_features_to_select", 2),
        ("keep_empty_features", [True, False]),
        ("feature_pre_filter", False),
        # other numbers
        ("param_grid", {"max_depth": [3, 5], "tree__max_features": [1, 2]}),
    ],
    ids=str,
)
def test_group_by_and_what_does_not_count_columns(name, value):
    GroupedRanker(Settings(**{name: value}), group_by="q").fit(TABLE, Y)


def test_order_by_and_what_counts_columns():
    with refused("columns by number.*'2020' is removed"):
        GroupedRanker(Settings(cols=[0]), order_by="2020").fit(TABLE, Y)


@pytest.mark.parametrize(
    ("group_by", "rows"),
    [(None, TABLE), ("q", TABLE.set_index("q"))],
    ids=["groups", "index level"],
)
def test_columns_may_be_counted_where_none_is_removed(group_by, rows):
    GroupedRanker(Settings(cols=[0]), group_by=group_by).fit(rows, Y, groups=Q)


def test_group_by_and_fit_params_that_count_columns():
    ranker = GroupedRanker(GroupId(), group_by="q")
    with refused(r"cat_features=\[0\] may refer to columns by number.*'q' is removed"):
        ranker.fit(FRAME, Y, cat_features=[0])
    given = ranker.fit(FRAME, Y, cat_features=["a"]).estimator_.given_
    assert given["cat_features"] == ["a"]


def test_group_by_and_fit_params_with_a_value_per_row():
    """These are not about columns, whatever their names are."""
    GroupedRanker(Settings(), group_by="q").fit(FRAME, Y, sensitive_features=[0, 1] * 3)


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore:Class .* is deprecated:FutureWarning")
def test_group_by_and_default_parameters_of_every_estimator():
    """No estimator is refused as it is made."""
    kinds = [kind for _, kind in all_estimators(type_filter=["regressor", "transformer"])]
    estimators = [
        kind()
        for kind in kinds
        if Parameter.empty not in [value.default for value in signature(kind).parameters.values()]
    ]
    assert len(estimators) > 100
    GroupedRanker(Settings(inner=estimators), group_by="q").fit(FRAME, Y)


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
