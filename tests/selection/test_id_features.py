"""Scorers warn if the model has learned from the column of ids, as from a feature."""

import warnings

import numpy as np
import polars as pl
import pytest
from helpers import FirstColumn, graded_rows
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer, ndcg_score

X, Y, QUERY = graded_rows()
TABLE, ARRAY = X.assign(q=QUERY), np.c_[QUERY, X]
POLARS = pl.DataFrame(TABLE.to_dict("list"))


class Unnamed(TransformerMixin, BaseEstimator):
    """A transformer that does not name its features."""

    def fit(self, X, y=None):
        self.is_fitted_ = True
        return self

    def transform(self, X):
        return np.asarray(X)[:, 1:]


def only(columns, step="passthrough", **options):
    return make_column_transformer((step, columns), **options)


def two_best():
    return SelectKBest(f_regression, k=2)


LEARNED = {  # a model, X and `group_by`
    "table": (Ridge(), TABLE, "q"),
    "one of several columns": (Ridge(), TABLE.assign(user=QUERY // 4), ["user", "q"]),
    "Polars": (Ridge(), POLARS, "q"),
    "array": (Ridge(), ARRAY, 0),
    "array, from the end": (Ridge(), np.c_[X, QUERY], -1),
    "sparse matrix": (Ridge(), sparse.csr_matrix(ARRAY), 0),
    "sparse array": (Ridge(), sparse.csc_array(ARRAY), 0),
    "search": (GridSearchCV(Ridge(), {}, cv=2), ARRAY, 0),
    "Pipeline to pandas": (make_pipeline(StandardScaler(), Ridge()).set_output(transform="pandas"), TABLE, "q"),
    "Pipeline to an array": (make_pipeline(StandardScaler(), Ridge()), TABLE, "q"),
    "Pipeline of an array": (make_pipeline(SimpleImputer(), StandardScaler(), Ridge()), ARRAY, 0),
    "Pipeline with polynomials": (make_pipeline(PolynomialFeatures(2), Ridge()), TABLE, "q"),
    "Pipeline with PCA": (make_pipeline(StandardScaler(), PCA(2), Ridge()), ARRAY, 0),
    "Pipeline that keeps the ids": (make_pipeline(only(["a"], StandardScaler(), remainder="passthrough"), Ridge()), TABLE, "q"),
    "Pipeline that does nothing": (make_pipeline("passthrough", Ridge()), ARRAY, 0),
    "search of a Pipeline": (GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {}, cv=2), ARRAY, 0),
    "Pipeline of a search": (make_pipeline(StandardScaler(), GridSearchCV(Ridge(), {}, cv=2)), ARRAY, 0),
}  # fmt: skip
NOT_LEARNED = {
    "index level": (Ridge(), X.set_index(TABLE["q"]), "q"),
    "callable": (Ridge(), ARRAY, lambda X: X[:, 0]),  # it may find anything
    "ranker": (GroupedRanker(Ridge(), group_by="q"), TABLE, "q"),
    "ranker of an array": (GroupedRanker(Ridge(), group_by=0), ARRAY, 0),
    "ranker around a Pipeline": (GroupedRanker(make_pipeline(StandardScaler(), Ridge()), group_by=0), ARRAY, 0),
    "model that says nothing": (FirstColumn(), ARRAY, 0),
    "Pipeline that drops the ids": (make_pipeline(only(["a", "b"]), Ridge()), TABLE, "q"),
    "the same to pandas": (make_pipeline(only(["a", "b"]), Ridge()).set_output(transform="pandas"), TABLE, "q"),
    "the same of an array": (make_pipeline(only([1, 2]), StandardScaler(), Ridge()), ARRAY, 0),
    "dropped before PCA": (make_pipeline(only([1, 2]), PCA(2), Ridge()), ARRAY, 0),
    "dropped later": (make_pipeline(StandardScaler(), only([1, 2]), Ridge()), ARRAY, 0),
    "ids that are not chosen": (make_pipeline(two_best(), Ridge()), np.c_[QUERY, Y, 2 * Y], 0),
    "columns of ids": (make_pipeline(only(["q"], OneHotEncoder(handle_unknown="ignore")), Ridge()), TABLE, "q"),
    "function": (make_pipeline(FunctionTransformer(lambda X: X[:, 1:]), Ridge()), ARRAY, 0),
    "transformer without names": (make_pipeline(Unnamed(), Ridge()), ARRAY, 0),
    "model around others": (TransformedTargetRegressor(make_pipeline(only(["a"]), Ridge())), TABLE, "q"),
}  # fmt: skip


@pytest.mark.parametrize("case", LEARNED)
def test_ids_that_are_a_feature_are_warned_of(case):
    model, rows, group_by = LEARNED[case]
    scorer = make_ndcg_scorer(group_by=group_by, undefined=0.0)
    words = r"^The column of ids, group_by=.*, is a feature of Ridge\. Move it to an index level"
    with pytest.warns(UserWarning, match=words) as caught:
        scorer(model.fit(rows, Y), rows, Y)
    assert [each.filename for each in caught if "feature of" in str(each.message)] == [__file__]


@pytest.mark.parametrize("case", NOT_LEARNED)
def test_ids_that_are_not_a_feature_are_not_warned_of(case):
    model, rows, group_by = NOT_LEARNED[case]
    model.fit(rows, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_ndcg_scorer(group_by=group_by, undefined=0.0)(model, rows, Y)


def test_a_pipeline_that_drops_the_ids_scores_as_a_model_without_them():
    drops = make_pipeline(only(["a", "b", "c"], StandardScaler()), Ridge()).fit(TABLE, Y)
    plain = make_pipeline(StandardScaler(), Ridge()).fit(X, Y)
    expected = ndcg_score(Y, plain.predict(X), groups=QUERY, k=3)
    assert make_ndcg_scorer(k=3, group_by="q")(drops, TABLE, Y) == pytest.approx(expected)
