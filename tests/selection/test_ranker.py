"""GroupedRanker: what the inner `fit` is given, and what methods and attributes return."""

import pickle
from copy import copy, deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from helpers import GroupId, Qid, Recorder, Sizes, booster, by_first_rows, graded_rows, run_python
from scipy import sparse
from sklearn import ensemble
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import RFE
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LassoCV,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import get_tags

from sklearn_ndcg import GroupedRanker, ndcg_score

X, Y, QUERY = graded_rows()
ORDER, CODES, SIZES = by_first_rows(QUERY)
WEIGHT = np.random.default_rng(0).random(len(Y))
MEAN_WEIGHT = np.bincount(CODES, WEIGHT[ORDER]) / SIZES
WITH_IDS = np.c_[QUERY, X]


def last_step(fitted):
    """Return the last step of a Pipeline, or the estimator itself."""
    return fitted[-1] if isinstance(fitted, Pipeline) else fitted


# --- what the inner fit is given


class AnyKeywords(Recorder):
    def fit(self, X, y, **fit_params):
        return self._record(X, y, **fit_params)


@pytest.mark.parametrize(
    ("recorder", "name", "expected"),
    [(Qid(), "qid", CODES), (GroupId(), "group_id", CODES), (Sizes(), "group", SIZES)],
)
def test_groups_have_the_form_of_the_library(recorder, name, expected):
    text = np.char.mod("q%03d", QUERY)
    given = GroupedRanker(recorder).fit(X, Y, groups=text).estimator_.given_
    pd.testing.assert_frame_equal(given["X"], X.iloc[ORDER])
    np.testing.assert_array_equal(given["y"], Y[ORDER])
    np.testing.assert_array_equal(given[name], expected)
    assert set(given) - {"feature_name"} == {"X", "y", name}


@pytest.mark.parametrize(
    ("recorder", "name", "expected"),
    [
        (Qid(), "sample_weight", MEAN_WEIGHT),
        (GroupId(), "group_weight", MEAN_WEIGHT[CODES]),
        (Sizes(), "sample_weight", WEIGHT[ORDER]),
        (AnyKeywords(), "sample_weight", WEIGHT),
    ],
)
def test_sample_weight_has_the_form_of_the_library(recorder, name, expected):
    given = GroupedRanker(recorder).fit(X, Y, WEIGHT, groups=QUERY).estimator_.given_
    np.testing.assert_allclose(given[name], expected, rtol=1e-14)
    assert set(given) & {"sample_weight", "group_weight"} == {name}


@pytest.mark.parametrize("inner", [KNeighborsRegressor(), make_pipeline(KNeighborsRegressor())])
def test_sample_weight_is_refused_if_the_inner_estimator_takes_none(inner):
    words = "sample_weight was passed, but KNeighborsRegressor.fit does not take weights"
    with pytest.raises(TypeError, match=words):
        GroupedRanker(inner).fit(X, Y, WEIGHT, groups=QUERY)
    # which draws rows by weights where its estimator has a parameter for them
    with pytest.raises(TypeError, match=f"{words}.* put GroupedRanker around them"):
        ensemble.BaggingRegressor(GroupedRanker(inner), 2, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(len(Y)),
        list(range(len(Y))),
        pa.chunked_array([range(5), range(5, len(Y))]),
    ],
    ids=lambda values: type(values).__name__,
)
def test_fit_params_with_a_value_per_row_follow_the_rows(values):
    fitted = GroupedRanker(Sizes()).fit(X, Y, groups=QUERY, init_score=values)
    np.testing.assert_array_equal(fitted.estimator_.given_["init_score"], ORDER)


N = len(Y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, list(range(N))) for name in ("feature_names", "eval_set", "callbacks")),
        ("text", "x" * N),
        ("dict", dict.fromkeys(range(N))),
        ("short", [0] * (N - 1)),
        ("transposed", np.ones((2, N))),
        ("scalar", np.array(N)),
    ],
)
def test_fit_params_that_are_not_about_rows_stay_as_they_are(name, value):
    ranker = GroupedRanker(AnyKeywords(), max_queries=19, random_state=0)
    ranker.fit(X, Y, groups=QUERY, **{name: value})
    assert ranker.estimator_.given_[name] is value


class TakesGroups(Recorder):
    def fit(self, X, y, groups=None):
        return self._record(X, y, groups=groups)


@pytest.mark.parametrize(
    ("inner", "routed"),
    [(TakesGroups(), False), (make_pipeline("passthrough", TakesGroups()), True)],
    ids=["alone", "Pipeline, routed"],
)
def test_a_parameter_groups_of_fit_gets_the_ids(inner, routed):
    text = np.char.mod("q%03d", QUERY)
    with sklearn.config_context(enable_metadata_routing=routed):
        fitted = GroupedRanker(inner).fit(X, Y, groups=text).estimator_
        drawn = GroupedRanker(inner, max_queries=2, random_state=0).fit(X, Y, groups=text)
    np.testing.assert_array_equal(last_step(fitted).given_["groups"], text)
    pd.testing.assert_frame_equal(last_step(fitted).given_["X"], X)
    taken = last_step(drawn.estimator_).given_
    assert len(set(taken["groups"])) == 2
    pd.testing.assert_frame_equal(
        taken["X"].sort_index(), X[np.isin(text, taken["groups"])].sort_index()
    )


@pytest.mark.parametrize(
    ("inner", "rows"),
    [
        (KernelRidge(kernel="precomputed"), X.to_numpy() @ X.to_numpy().T),
        (LassoCV(cv=list(GroupKFold(3).split(X, Y, QUERY))), X),
    ],
    ids=["precomputed", "splits"],
)
def test_rows_stay_as_they_are_for_estimators_without_groups(inner, rows):
    ranker = GroupedRanker(inner).fit(rows, Y, groups=QUERY)
    np.testing.assert_array_equal(ranker.predict(rows), clone(inner).fit(rows, Y).predict(rows))
    ranker.set_params(max_queries=1000)  # which may move them
    with pytest.raises(ValueError, match="(cv|A precomputed X) cannot be passed: .* to rows"):
        ranker.fit(rows, Y, groups=QUERY)


def test_inputs_are_not_changed():
    rows, y, weight, query = X.to_numpy(copy=True), Y.copy(), WEIGHT.copy(), QUERY.copy()
    for values in (rows, y, weight, query):
        values.flags.writeable = False
    GroupedRanker(Sizes()).fit(rows, y, weight, groups=query).predict(rows)


@pytest.mark.parametrize("make", [list, pd.Series])
def test_texts(make):
    words = np.where(X[["a", "b"]] > 0, ["good", "new"], ["bad", "old"])
    texts = make([" and ".join(row) for row in words.tolist()])
    inner = make_pipeline(TfidfVectorizer(), Ridge())
    expected = clone(inner).fit(texts, Y).predict(texts)
    ranker = GroupedRanker(inner).fit(texts, Y, groups=QUERY)
    np.testing.assert_array_equal(ranker.predict(texts), expected)
    assert ranker.score(texts, Y, groups=QUERY) == ndcg_score(Y, expected, groups=QUERY)
    drawn = GroupedRanker(inner, max_queries=5, random_state=0).fit(texts, Y, groups=QUERY)
    assert drawn.predict(texts).shape == Y.shape


@pytest.mark.ci
def test_arrays_of_the_array_api():
    pytest.importorskip("array_api_strict")
    pytest.importorskip("numpy", minversion="2.1")
    code = """
import numpy as np, array_api_strict as xp, sklearn
from sklearn.linear_model import Ridge
from sklearn_ndcg import GroupedRanker
sklearn.set_config(array_api_dispatch=True)
X, y = np.sin(np.arange(12.0))[:, None], 1.0 * (np.arange(12) > 5)
ids = np.arange(12) % 4
for max_queries in (None, 3):
    ranker = GroupedRanker(Ridge(solver="svd"), max_queries=max_queries, random_state=0)
    expected = ranker.fit(X, y, groups=ids).predict(X)
    found = ranker.fit(xp.asarray(X), xp.asarray(y), groups=ids).predict(xp.asarray(X))
    assert type(found) is type(xp.asarray(X))
    np.testing.assert_allclose(np.asarray(found), expected)
"""
    assert run_python(code, SCIPY_ARRAY_API="1").stderr == ""


# --- states


@pytest.mark.parametrize(
    ("y", "alpha", "words"),
    [(np.full(len(Y), np.nan), 1.0, "NaN"), (Y, -1.0, "alpha")],
    ids=["y", "inner estimator"],
)
def test_after_an_error_the_ranker_is_not_fitted(y, alpha, words):
    ranker = GroupedRanker(Ridge(), group_by="q").fit(TABLE, Y)
    with pytest.raises(ValueError, match=words):
        ranker.set_params(estimator__alpha=alpha).fit(TABLE, y)
    with pytest.raises(NotFittedError):
        ranker.predict(TABLE)


def test_a_new_fit_forgets_the_earlier_one():
    ranker = GroupedRanker(booster("lightgbm", rounds=2), early_stopping=True)
    assert ranker.fit(X, Y, groups=QUERY).best_iteration_
    ranker.set_params(early_stopping=False).fit(X.to_numpy()[:, :2], Y, groups=QUERY)
    assert ranker.n_features_in_ == 2
    forgotten = {"feature_names_in_", "best_iteration_"}
    assert not forgotten & vars(ranker).keys()


def test_a_fitted_ranker_is_as_large_as_its_model():
    text = np.char.mod("a long id of a query, %06d", np.arange(100_000) // 2)
    rows, y = np.random.default_rng(0).normal(size=(100_000, 3)), np.arange(100_000) % 3
    kept = pickle.dumps(GroupedRanker(Ridge()).fit(rows, y, groups=text))
    assert len(kept) < len(pickle.dumps(Ridge().fit(rows, y))) + 2000
    assert b"a long id" not in kept


# --- score


def test_sample_weight_weighs_queries_in_score_and_groups_have_no_place():
    ranker = GroupedRanker(Sizes()).fit(X, Y, groups=QUERY)
    expected = ndcg_score(Y, X["a"], groups=QUERY, sample_weight=WEIGHT)
    assert ranker.score(X, Y, WEIGHT, groups=QUERY) == expected
    for method in (ranker.fit, ranker.score):
        with pytest.raises(TypeError, match="positional"):
            method(X, Y, WEIGHT, QUERY)


def test_score_finds_ids_in_the_index_of_y_if_x_has_become_an_array():
    y = pd.Series(Y, index=pd.Index(QUERY, name="q"))
    ranker = GroupedRanker(Ridge(), group_by="q", k=2).fit(X.to_numpy(), y)
    expected = ndcg_score(Y, ranker.predict(X.to_numpy()), groups=QUERY, k=2)
    assert ranker.score(X.to_numpy(), y) == expected


# --- methods and tags of the inner estimator


class Typeless(BaseEstimator):  # as rankers of LightGBM are
    fit = predict = None


@pytest.mark.parametrize(
    ("inner", "is_of_type"),
    [(Ridge(), is_regressor), (Typeless(), is_regressor), (LogisticRegression(), is_classifier)],
)
def test_the_type_is_that_of_the_inner_estimator(inner, is_of_type):
    assert is_of_type(GroupedRanker(inner))


@pytest.mark.parametrize(
    ("inner", "methods"),
    [
        (Ridge(), set()),
        (SVC(), {"decision_function"}),
        (LogisticRegression(), {"predict_proba", "decision_function"}),
    ],
)
def test_methods_are_those_of_the_inner_estimator(inner, methods):
    ranker = GroupedRanker(inner)
    names = ("predict_proba", "decision_function")
    assert {name for name in names if hasattr(ranker, name)} == methods


def test_methods_are_those_of_the_fitted_estimator():
    search = GridSearchCV(SGDClassifier(loss="hinge"), {"loss": ["log_loss"]}, cv=2)
    ranker = GroupedRanker(search)
    assert not hasattr(ranker, "predict_proba")
    assert ranker.fit(X, Y > 1, groups=QUERY).predict_proba(X).shape == (len(X), 2)


def test_estimator_may_have_predict_only_when_fitted():
    inner = ensemble.StackingRegressor([("a", Ridge()), ("b", LinearRegression())])
    ranker = GroupedRanker(inner).fit(X, Y, groups=QUERY)
    np.testing.assert_array_equal(ranker.predict(X), inner.fit(X, Y).predict(X))


def test_tags_promise_what_fit_takes():
    """More of them by scikit-learn's checks, in test_ranker_checks.py."""
    tree = GroupedRanker(ensemble.RandomForestClassifier())
    assert not get_tags(tree).classifier_tags.multi_label
    assert not get_tags(tree).target_tags.multi_output
    assert get_tags(GroupedRanker(PoissonRegressor())).target_tags.positive_only
    assert get_tags(GroupedRanker(DummyRegressor())).no_validation


@pytest.mark.parametrize("non_deterministic", [True, False])
def test_tags_say_whether_the_inner_estimator_is_deterministic(non_deterministic):
    class Inner(Ridge):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.non_deterministic = non_deterministic
            return tags

    assert get_tags(GroupedRanker(Inner())).non_deterministic == non_deterministic


# --- attributes that only the inner estimator has


@pytest.mark.parametrize(
    ("inner", "name", "owner"),
    [
        (Ridge(), "intercept_", "estimator_"),
        (make_pipeline(StandardScaler(), Ridge()), "named_steps", "estimator_"),
        (make_pipeline(StandardScaler(), Ridge()), "intercept_", r"estimator_\[-1\]"),
    ],
)
def test_an_error_says_where_an_attribute_of_the_inner_estimator_is(inner, name, owner):
    ranker = GroupedRanker(inner)
    with pytest.raises(AttributeError, match=f"no attribute '{name}'$"):
        getattr(ranker, name)
    ranker.fit(X, Y)
    assert not hasattr(ranker, name)
    with pytest.raises(
        AttributeError, match=rf"no attribute '{name}': .* ranker\.{owner}\.{name}$"
    ):
        getattr(ranker, name)


@pytest.mark.parametrize("name", ["booster_", "best_iteration_", "evals_result_", "best_score_"])
def test_attributes_of_a_library_are_those_of_its_ranker(name):
    ranker = GroupedRanker(booster("lightgbm", rounds=2)).fit(X, Y, groups=QUERY)
    with pytest.raises(AttributeError, match=rf"ranker\.estimator_\.{name}"):
        getattr(ranker, name)
    getattr(ranker.estimator_, name)


@pytest.mark.parametrize(
    "name", ["nonsense", "_decision_function", "__array_namespace__", "transform"]
)
def test_attributes_that_nothing_has_get_no_hint(name):
    ranker = GroupedRanker(Ridge()).fit(X, Y)
    with pytest.raises(AttributeError, match=f"no attribute '{name}'$"):
        getattr(ranker, name)


@pytest.mark.parametrize(
    ("inner", "name", "words"),
    [
        (Ridge(), "feature_importances_", "'Ridge' object has no attribute 'feature_importances_'"),
        (make_pipeline(StandardScaler(), Ridge()), "coef_", r"estimator_\[-1\]\.coef_"),
        (Ridge(), "classes_", "'Ridge' object has no attribute 'classes_'"),
        (SVC(), "predict_proba", "'GroupedRanker' has no attribute 'predict_proba'"),
    ],
)
def test_errors_of_properties_stay_as_they_are(inner, name, words):
    ranker = GroupedRanker(inner).fit(X, Y)
    with pytest.raises(AttributeError, match=words):
        getattr(ranker, name)


def test_copies_and_pickles_of_a_fitted_ranker_predict_the_same():
    ranker = GroupedRanker(Ridge()).fit(X, Y)
    for again in (copy(ranker), deepcopy(ranker), pickle.loads(pickle.dumps(ranker))):  # noqa: S301
        np.testing.assert_array_equal(again.predict(X), ranker.predict(X))


# --- tables with and without ids


def to_polars(frame):
    return pl.DataFrame(frame.to_dict("list"))


def to_arrow(frame):
    return pa.table(frame.to_dict("list"))


TABLE = X.assign(q=QUERY)
solver_warns = pytest.mark.filterwarnings("ignore:.*L-BFGS-B solver:DeprecationWarning")  # 1.6


@solver_warns
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_predictions_do_not_use_the_columns_of_group_by(method):
    rows = TABLE.assign(r=1)
    ranker = GroupedRanker(LogisticRegression(), group_by=["r", "q"]).fit(rows, Y)
    expected = getattr(LogisticRegression().fit(X, Y), method)(X)
    np.testing.assert_allclose(getattr(ranker, method)(rows), expected)


@solver_warns
@pytest.mark.parametrize(
    ("rows", "group_by", "removed"),
    [
        pytest.param(TABLE.assign(r=1), ["r", "q"], [3, 3], id="pandas, two columns"),
        pytest.param(to_arrow(TABLE), "q", [3], id="pyarrow"),
    ],
)
@pytest.mark.parametrize(
    ("inner", "attribute"),
    [
        (ensemble.RandomForestRegressor(2, random_state=0), "feature_importances_"),
        (LogisticRegression(), "coef_"),
    ],
)
def test_importances_and_coef_have_a_0_for_group_by(inner, attribute, rows, group_by, removed):
    ranker = GroupedRanker(inner, group_by=group_by).fit(rows, Y)
    expected = np.insert(getattr(ranker.estimator_, attribute), removed, 0, axis=-1)
    np.testing.assert_array_equal(getattr(ranker, attribute), expected)


def test_coef_of_a_pipeline_that_transforms_columns_is_missing():
    assert not hasattr(GroupedRanker(make_pipeline(StandardScaler(), Ridge())).fit(X, Y), "coef_")
    assert hasattr(GroupedRanker(make_pipeline(Ridge())).fit(X, Y), "coef_")


def test_coef_may_be_sparse_and_serves_a_selection_of_features():
    inner, rows = SVR(kernel="linear"), sparse.csr_array(X)
    ranker = GroupedRanker(inner).fit(rows, Y)
    assert sparse.issparse(ranker.estimator_.coef_)
    assert ranker.coef_.shape == (1, 3)
    selector = RFE(GroupedRanker(inner), n_features_to_select=1)
    assert selector.fit(rows, Y).support_.tolist() == [True, False, False]


# --- the columns that predict takes; "x" is a number and "z" a text that fit has not seen

ROWS = TABLE.assign(x=1.0, z="text")
BY_NAME = make_pipeline(
    make_column_transformer((StandardScaler(), ["a", "b"]), ("drop", ["c"])), Ridge()
)
every_frame = pytest.mark.parametrize("convert", [pd.DataFrame, to_polars])


def fitted(inner, convert, group_by):
    rows, needs_names = convert(TABLE if group_by else X), inner is BY_NAME or not group_by
    if needs_names and not hasattr(Ridge().fit(convert(X), Y), "feature_names_in_"):
        pytest.skip("this scikit-learn does not read the column names of this Polars")
    return GroupedRanker(inner, group_by=group_by).fit(rows, Y)


@every_frame
@pytest.mark.parametrize(
    ("inner", "group_by", "columns"),
    [
        *((Ridge(), "q", columns) for columns in ("bac", "acbq", "cxbzaq")),
        *((BY_NAME, group_by, columns) for group_by in (None, "q") for columns in ("abcz", "ba")),
    ],
)
def test_predict_takes_columns_by_name(convert, inner, group_by, columns):
    ranker = fitted(inner, convert, group_by)
    expected = clone(inner).fit(X, Y).predict(X)
    np.testing.assert_allclose(ranker.predict(convert(ROWS[list(columns)])), expected)


@every_frame
@pytest.mark.parametrize(
    ("inner", "group_by", "columns", "words"),
    [
        (Ridge(), None, "bca", "in the same order"),
        (Ridge(), "q", "ac", "lacks 'b'"),
        (BY_NAME, "q", "ac", "columns are missing: {'b'}"),
    ],
)
def test_predict_names_the_columns_that_do_not_fit(convert, inner, group_by, columns, words):
    ranker = fitted(inner, convert, group_by)
    with pytest.raises(ValueError, match=words) as raised:
        ranker.predict(convert(ROWS[list(columns)]))
    assert "'q'" not in str(raised.value)


no_names = pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")


@no_names
@pytest.mark.parametrize(
    "rows",
    [WITH_IDS[:, :-1], WITH_IDS[:, :-1].tolist(), sparse.csr_array(WITH_IDS[:, :-1])],
    ids=["array", "lists", "sparse"],
)
def test_predict_without_names_refuses_rows_that_lack_a_column(rows):
    ranker = GroupedRanker(Ridge()).fit(WITH_IDS, Y)
    with pytest.raises(ValueError, match=r"X has 3 features.*expecting 4"):
        ranker.predict(rows)


@no_names
@pytest.mark.parametrize(
    ("convert", "inner"),
    [(pd.DataFrame, make_pipeline(StandardScaler(), Ridge())), (to_arrow, Ridge())],
)
def test_predict_needs_column_names_as_in_fit(convert, inner):
    named = GroupedRanker(inner, group_by="q").fit(convert(TABLE), Y)
    with pytest.raises(ValueError, match="X must be a table with .* column 'q' .* got ndarray"):
        named.predict(TABLE.to_numpy())


def test_predict_without_names_cannot_take_the_ids_away():
    ranker = GroupedRanker(Ridge(), group_by="q").fit(TABLE, Y)  # whose model has three features
    with pytest.raises(ValueError, match=r"can be removed from it; got ndarray\.$"):
        ranker.predict(np.zeros((2, 5)))


@pytest.mark.parametrize("group_by", [None, "q"])
@pytest.mark.parametrize("many", [True, False])
def test_predict_of_dicts_says_how_to_make_a_table(group_by, many):
    rows = TABLE if group_by else X
    ranker = GroupedRanker(Ridge(), group_by=group_by).fit(rows, Y)
    request = rows.head(2).to_dict("records")
    with pytest.raises(ValueError, match=r"pass pandas\.DataFrame\(rows\)"):
        ranker.predict(request if many else request[0])
    ranker.predict(pd.DataFrame(request))
