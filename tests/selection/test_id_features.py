"""Scorers warn if the model has learned from the column of ids, as from a feature.

Common mistakes are in test_misuse.py.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import FirstColumn, graded_rows
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import VotingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer

X, Y, QUERY = graded_rows()
TABLE = X.assign(q=QUERY)
IS_LEARNED = r"^The column of ids, group_by=.*, is a feature of Ridge\. Move it to an index level"


class Unnamed(TransformerMixin, BaseEstimator):
    """A transformer that does not name its features."""

    def fit(self, X, y=None):
        self.is_fitted_ = True
        return self

    def transform(self, X):
        return np.asarray(X)[:, 1:]


def only(columns, step="passthrough", **options):
    return make_column_transformer((step, columns), **options)


def score(model, rows, group_by):
    """Fit and score; pytest makes a warning an error."""
    make_ndcg_scorer(group_by=group_by, undefined=0.0)(model.fit(rows, Y), rows, Y)


# --- ids that are a feature


@pytest.mark.parametrize(
    ("rows", "group_by"),
    [
        pytest.param(pl.DataFrame(TABLE.to_dict("list")), "q", id="Polars"),
        pytest.param(TABLE, "q", id="pandas"),
        pytest.param(TABLE.assign(r=QUERY).drop(columns="a"), ["r", "q"], id="several"),
    ],
)
def test_ids_that_are_a_feature_are_warned_of(rows, group_by):
    if not hasattr(Ridge().fit(rows, Y), "feature_names_in_"):
        pytest.skip("this scikit-learn does not read the names of Polars")
    with pytest.warns(UserWarning, match=IS_LEARNED):
        score(Ridge(), rows, group_by)


def test_names_of_several_levels_are_not_those_that_xgboost_makes_of_them():
    xgboost = pytest.importorskip("xgboost")
    names = pd.MultiIndex.from_tuples([("id", "q"), ("other", "a"), ("other", "b")])
    table = TABLE[["q", "a", "b"]].set_axis(names, axis=1)
    score(xgboost.XGBRegressor(n_estimators=2), table, ("id", "q"))


def test_ids_are_a_feature_of_a_model_inside(wrap):
    with pytest.warns(UserWarning, match=IS_LEARNED):
        score(wrap(Ridge()), TABLE, "q")


@pytest.mark.parametrize(
    ("steps", "rows", "group_by"),
    [
        pytest.param([StandardScaler(), PolynomialFeatures(2)], TABLE, "q", id="polynomials"),
        pytest.param(
            [only(["a"], StandardScaler(), remainder="passthrough")], TABLE, "q", id="remainder"
        ),
        pytest.param([StandardScaler()], TABLE, "q", id="scaled"),
    ],
)
def test_ids_that_steps_keep_are_warned_of(steps, rows, group_by):
    with pytest.warns(UserWarning, match=IS_LEARNED):
        score(make_pipeline(*steps, Ridge()), rows, group_by)


# --- ids that are not


@pytest.mark.parametrize(
    ("model", "rows", "group_by"),
    [
        pytest.param(Ridge(), X.set_index(TABLE["q"]), "q", id="index level"),
        pytest.param(Ridge(), TABLE, lambda X: X["q"], id="callable"),  # it may find anything
        pytest.param(GroupedRanker(Ridge(), group_by="q"), TABLE, "q", id="ranker"),
        pytest.param(FirstColumn(), TABLE, "q", id="a model that does not say its features"),
        pytest.param(
            TransformedTargetRegressor(make_pipeline(only(["a"]), Ridge())),
            TABLE,
            "q",
            id="a model around others",
        ),
        # which may drop the column, though this one does not
        pytest.param(VotingRegressor([("r", Ridge())]), TABLE, "q", id="several inside"),
    ],
)
def test_ids_that_are_not_a_feature_are_not_warned_of(model, rows, group_by):
    score(model, rows, group_by)


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([only(["a", "b"])], id="names"),
        pytest.param([only([0, 1]), PCA(2)], id="before PCA"),
        pytest.param([only(["q"], OneHotEncoder(handle_unknown="ignore"))], id="one-hot"),
        pytest.param([FunctionTransformer(lambda X: X[["a"]])], id="function"),
        pytest.param([Unnamed()], id="without names"),
    ],
)
def test_ids_that_a_step_drops_are_not_warned_of(steps):
    score(make_pipeline(*steps, Ridge()), TABLE, "q")
