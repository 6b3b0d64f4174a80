"""GroupedRanker: what the inner `fit` is given, and what `predict`, `score` and attributes return."""

import pickle
import re
from array import array
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from helpers import GroupId, Qid, Recorder, Sizes, run_python, sorted_by_hand
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingRegressor, RandomForestRegressor, StackingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import RFE
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LassoCV, LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.validation import has_fit_parameter

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer, ndcg_score

RECORDERS = {"qid": Qid, "group_id": GroupId, "group": Sizes}


# --- what the inner fit is given


@pytest.mark.parametrize("name", RECORDERS)
@pytest.mark.parametrize("convert", [np.asarray, pl.Series, lambda q: np.char.mod("q%03d", q)])
def test_groups_have_the_form_of_the_library_and_rows_are_sorted(data, name, convert):
    X, y, query = data
    order, ids, sizes = sorted_by_hand(query)
    given = GroupedRanker(RECORDERS[name]()).fit(X, y, groups=convert(query)).estimator_.given_
    pd.testing.assert_frame_equal(given["X"], X.iloc[order])
    np.testing.assert_array_equal(given["y"], y[order])
    np.testing.assert_array_equal(given[name], sizes if name == "group" else ids)
    assert set(given) - {"feature_name"} == {"X", "y", name}


@pytest.mark.parametrize("name", RECORDERS)
def test_sample_weight_has_the_form_of_the_library(data, name):
    X, y, query = data
    weight = np.random.default_rng(0).random(len(y))
    order, ids, sizes = sorted_by_hand(query)
    given = GroupedRanker(RECORDERS[name]()).fit(X, y, weight, groups=query).estimator_.given_
    means = np.bincount(ids, weight[order]) / sizes
    weight_name, expected = {
        "qid": ("sample_weight", means),
        "group_id": ("group_weight", means[ids]),
        "group": ("sample_weight", weight[order]),
    }[name]
    np.testing.assert_allclose(given[weight_name], expected, rtol=1e-14)
    assert set(given) & {"sample_weight", "group_weight"} == {weight_name}


@pytest.mark.parametrize("inner", [KNeighborsRegressor(), make_pipeline(KNeighborsRegressor())])
def test_sample_weight_is_shown_only_if_it_is_taken(inner, data):
    X, y, query = data
    ranker = GroupedRanker(inner)
    assert not has_fit_parameter(ranker, "sample_weight")
    assert list(signature(ranker.fit).parameters) == ["X", "y", "groups", "fit_params"]
    assert BaggingRegressor(ranker, 2, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match=r"fit\(\) got an unexpected .* 'sample_weight'"):
        ranker.fit(X, y, np.ones(len(y)), groups=query)
    for takes in (Ridge(), Qid(), GroupId(), make_pipeline(StandardScaler(), Ridge())):
        assert has_fit_parameter(GroupedRanker(takes), "sample_weight")
    assert has_fit_parameter(GroupedRanker, "sample_weight")


def test_sample_weight_is_passed_to_a_fit_of_keywords(data):
    class AnyKeywords(Recorder):
        def fit(self, X, y, **fit_params):
            return self._record(X, y, **fit_params)

    X, y, _ = data
    given = GroupedRanker(AnyKeywords()).fit(X, y, sample_weight=y + 1).estimator_.given_
    np.testing.assert_array_equal(given["sample_weight"], y + 1)


def test_sample_weight_by_place_weighs_in_fit_and_score(data):
    X, y, query = data
    weight = 1.0 + query % 5
    ranker = GroupedRanker(Sizes()).fit(X, y, weight, groups=query)
    order, *_ = sorted_by_hand(query)
    np.testing.assert_array_equal(ranker.estimator_.given_["sample_weight"], weight[order])
    expected = ndcg_score(y, X["a"], groups=query, sample_weight=weight)
    assert ranker.score(X, y, weight, groups=query) == expected
    assert expected != ndcg_score(y, X["a"], groups=query)
    for method in (ranker.fit, ranker.score):
        with pytest.raises(TypeError, match="positional"):
            method(X, y, weight, query)


def test_fit_params_with_a_value_per_row_follow_the_rows(data):
    X, y, query = data
    order, *_ = sorted_by_hand(query)
    for values in (
        np.arange(len(y)), list(range(len(y))), pd.Series(range(len(y))), pl.Series(range(len(y))),
        pa.array(range(len(y))), pa.chunked_array([range(5), range(5, len(y))]),
        array("d", range(len(y))),
    ):  # fmt: skip
        fitted = GroupedRanker(Sizes()).fit(X, y, groups=query, init_score=values)
        np.testing.assert_array_equal(fitted.estimator_.given_["init_score"], order)
        fitted = GroupedRanker(Qid()).fit(X, y, groups=query, base_margin=values)
        np.testing.assert_array_equal(fitted.estimator_.given_["base_margin"], order)
    names = [f"column {i}" for i in range(len(y))]  # as many as there are rows, but not one per row
    fitted = GroupedRanker(Sizes()).fit(X, y, groups=query, feature_name=names)
    assert fitted.estimator_.given_["feature_name"] == names


def test_a_parameter_groups_of_fit_gets_the_ids(data):
    class TakesGroups(Recorder):
        def fit(self, X, y, groups=None):
            return self._record(X, y, groups=groups)

    X, y, query = data
    text = np.char.mod("q%03d", query)
    for routed in (False, True):
        with sklearn.config_context(enable_metadata_routing=routed):
            for inner in (TakesGroups(), make_pipeline("passthrough", TakesGroups())):
                fitted = GroupedRanker(inner).fit(X, y, groups=text).estimator_
                given = getattr(fitted, "steps", [("", fitted)])[-1][1].given_
                np.testing.assert_array_equal(given["groups"], text)
                pd.testing.assert_frame_equal(given["X"], X)
            drawn = GroupedRanker(TakesGroups(), max_queries=2, random_state=0)
            drawn.fit(X, y, groups=query)
            assert set(drawn.estimator_.given_["groups"]) == set(drawn.query_ids_)
    assert "groups" not in GroupedRanker(TakesGroups()).fit(X, y).estimator_.given_
    with sklearn.config_context(enable_metadata_routing=True):
        refuses = GroupedRanker(TakesGroups().set_fit_request(groups=False))
        assert "groups" not in refuses.fit(X, y, groups=query).estimator_.given_


def test_groups_are_needed_only_by_estimators_that_take_them(data):
    X, y, query = data
    weight = np.random.default_rng(0).random(len(y))
    for given in ({}, {"sample_weight": weight}):
        expected = Ridge().fit(X, y, **given).predict(X)
        for groups in ({}, {"groups": query}):
            ranker = GroupedRanker(Ridge()).fit(X, y, **given, **groups)
            np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-12)


def kernel(X):
    return np.exp(-((X.to_numpy()[:, None] - X.to_numpy()) ** 2).sum(axis=-1))


@pytest.mark.parametrize(
    "make", [
        lambda splits: (KernelRidge(kernel="precomputed", alpha=0.1), kernel),
        lambda splits: (KNeighborsRegressor(metric="precomputed"), lambda X: 1 - kernel(X)),
        lambda splits: (LassoCV(cv=splits), lambda X: X),
    ],
)  # fmt: skip
def test_rows_stay_as_they_are_for_estimators_without_groups(make, data):
    X, y, query = data
    inner, convert = make(list(GroupKFold(3).split(X, y, query)))
    rows = convert(X)
    expected = clone(inner).fit(rows, y).predict(rows)
    ranker = GroupedRanker(inner).fit(rows, y, groups=query)
    np.testing.assert_array_equal(ranker.predict(rows), expected)
    ranker.set_params(max_queries=1000)  # which sorts them
    with pytest.raises(ValueError, match="(cv|A precomputed X) cannot be passed: .* to rows"):
        ranker.fit(rows, y, groups=query)


def test_rows_that_are_in_order_are_not_copied():
    class SharesMemory(Recorder):
        def fit(self, X, y, group=None):
            return self._record(X, y)

    X, y = np.random.default_rng(0).normal(size=(1000, 5)), np.arange(1000) % 4
    together = np.repeat(np.arange(100), 10)
    given = GroupedRanker(SharesMemory()).fit(X, y, groups=together).estimator_.given_
    assert given["X"] is X
    scattered = GroupedRanker(SharesMemory()).fit(X, y, groups=together[::-1]).estimator_.given_
    assert not np.shares_memory(scattered["X"], X)
    np.testing.assert_array_equal(scattered["X"][:10], X[-10:])


def test_inputs_are_not_changed(data):
    X, y, query = data
    arrays = [X.to_numpy().copy(), y.copy(), np.ones(len(y)), query.copy()]
    for each in arrays:
        each.flags.writeable = False
    GroupedRanker(Sizes()).fit(*arrays[:3], groups=arrays[3]).predict(arrays[0])


@pytest.mark.parametrize("make", [list, pd.Series, np.array, lambda X: np.array(X, dtype=object)])
def test_texts(make, data):
    X, y, query = data
    words = np.where(X[["a", "b"]] > 0, ["good", "new"], ["bad", "old"])
    X = make([" and ".join(row) for row in words.tolist()])
    inner = make_pipeline(TfidfVectorizer(), Ridge())
    expected = clone(inner).fit(X, y).predict(X)
    ranker = GroupedRanker(inner).fit(X, y, groups=query)
    np.testing.assert_array_equal(ranker.predict(X), expected)
    assert ranker.score(X, y, groups=query) == ndcg_score(y, expected, groups=query)
    drawn = GroupedRanker(inner, max_queries=5, random_state=0).fit(X, y, groups=query)
    assert drawn.predict(X).shape == y.shape


@pytest.mark.parametrize(
    "library",
    [pytest.param("array_api_strict", marks=pytest.mark.ci), pytest.param("torch", marks=pytest.mark.slow)],
)  # fmt: skip
def test_arrays_of_the_array_api(library):
    pytest.importorskip(library)
    pytest.importorskip("numpy", minversion="2.1")
    code = (
        f"import numpy as np, {library} as xp, sklearn; from sklearn_ndcg import GroupedRanker;"
        "from sklearn.linear_model import Ridge; sklearn.set_config(array_api_dispatch=True);"
        "ridge, q = Ridge(solver='svd'), np.arange(12) % 4; X = np.c_[q, np.sin(np.arange(12.0)), q];"
        "y = 1.0 * (np.arange(12) > 5); A, b = xp.asarray(X), xp.asarray(y)\n"
        "for ranker in (GroupedRanker(ridge, group_by=0), GroupedRanker(ridge, group_by=0, max_queries=3, random_state=0)):\n"
        "    expected = ranker.fit(X, y).predict(X); found = ranker.fit(A, b).predict(A)\n"
        "    assert type(found) is type(A); np.testing.assert_allclose(np.asarray(found), expected)"
    )
    assert run_python(code, SCIPY_ARRAY_API="1").stderr == ""


def test_a_column_of_relevance_is_taken_with_a_warning(data):
    X, y, query = data
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        ranker = GroupedRanker(Ridge()).fit(X, np.c_[y], groups=query)
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        score = ranker.score(X, np.c_[y], groups=query)
    assert score == ranker.score(X, y, groups=query)


# --- states


@pytest.mark.parametrize("error", ["y", "inner"])
def test_an_error_leaves_the_earlier_fit(error, data):
    X, y, query = data
    ranker = GroupedRanker(Ridge(), group_by=0).fit(np.c_[query, X], y)
    before = ranker.predict(np.c_[query, X]), ranker.coef_, ranker.query_ids_
    ranker.set_params(group_by=3, estimator__alpha=-1.0 if error == "inner" else 1.0)
    with pytest.raises(ValueError, match="NaN" if error == "y" else "alpha"):
        ranker.fit(np.c_[X, query][5:], np.where(error == "y", np.nan, y)[5:])
    after = ranker.predict(np.c_[query, X]), ranker.coef_, ranker.query_ids_
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_new_fit_forgets_the_earlier_one(data):
    X, y, query = data
    ranker = GroupedRanker(Ridge()).fit(X, y, groups=query).fit(X.to_numpy()[:, :2], y)
    assert ranker.n_features_in_ == 2
    assert not {"query_ids_", "trained_queries_", "feature_names_in_"} & vars(ranker).keys()


def test_clones_and_pickles_of_a_fitted_ranker(data):
    X, y, query = data
    X = X.assign(q=query)
    ranker = GroupedRanker(make_pipeline(StandardScaler(), Ridge()), group_by="q", k=3)
    fitted = clone(ranker).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    assert "GroupedRanker" in fitted._repr_html_()


# --- score, and methods of the inner estimator


@pytest.mark.parametrize("k", [None, 3])
def test_k_is_the_cutoff_of_score_and_a_classifier_ranks_by_its_probabilities(k, data):
    X, y, query = data
    options = {} if k is None else {"k": k}
    regressor = GroupedRanker(Ridge(), **options).fit(X, y, groups=query)
    assert regressor.k == k
    expected = ndcg_score(y, Ridge().fit(X, y).predict(X), groups=query, k=k)
    assert regressor.score(X, y, groups=query) == pytest.approx(expected)

    ranker = GroupedRanker(LogisticRegression(), **options).fit(X, y, groups=query)
    assert ranker.classes_.tolist() == [0, 1, 2, 3]
    expected = ndcg_score(y, ranker.predict_proba(X) @ ranker.classes_, groups=query, k=k)
    assert ranker.score(X, y, groups=query) == pytest.approx(expected)
    assert make_ndcg_scorer(k=k)(ranker, X, y, groups=query) == pytest.approx(expected)
    assert ranker.decision_function(X).shape == (len(y), 4)


def test_methods_and_tags_are_those_of_the_inner_estimator(data):
    class Typeless(BaseEstimator):  # as rankers of LightGBM are
        fit = predict = None

    X, y, query = data
    assert is_regressor(GroupedRanker(Ridge()))
    assert is_regressor(GroupedRanker(Typeless()))
    assert is_classifier(GroupedRanker(LogisticRegression()))
    for inner, methods in (
        (Ridge(), set()),
        (SVC(), {"decision_function"}),
        (LogisticRegression(), {"predict_proba", "decision_function"}),
    ):
        for ranker in (GroupedRanker(inner), GroupedRanker(inner).fit(X, y > 1, groups=query)):
            names = ("predict_proba", "decision_function")
            assert {name for name in names if hasattr(ranker, name)} == methods
    for name in ("classes_", "best_iteration_", "feature_importances_"):
        assert not hasattr(GroupedRanker(Ridge()).fit(X, y), name)


def test_methods_are_those_of_the_fitted_estimator(data):
    X, y, query = data
    search = GridSearchCV(SGDClassifier(loss="hinge"), {"loss": ["log_loss"]}, cv=2)
    ranker = GroupedRanker(search)
    assert not hasattr(ranker, "predict_proba")
    assert ranker.fit(X, y > 1, groups=query).predict_proba(X).shape == (len(X), 2)


def test_estimator_may_have_predict_only_when_fitted(data):
    X, y, query = data
    inner = StackingRegressor([("a", Ridge()), ("b", LinearRegression())])
    ranker = GroupedRanker(inner).fit(X, y, groups=query)
    np.testing.assert_array_equal(ranker.predict(X), inner.fit(X, y).predict(X))


# --- tables with and without ids


def with_and_without_ids(X, query):
    named = X.assign(q=query)
    yield named, X, "q"
    for table in (pl.DataFrame, pa.table):
        yield table(named.to_dict("list")), table(X.to_dict("list")), "q"
    yield np.c_[X, query], X.to_numpy(), 3
    yield np.c_[query, X], X.to_numpy(), 0
    yield np.c_[X, query], X.to_numpy(), -1
    yield named.assign(r=1), X, ["r", "q"]


@pytest.mark.filterwarnings("ignore:.*L-BFGS-B solver:DeprecationWarning")  # scikit-learn 1.6
@pytest.mark.filterwarnings("ignore:X has feature names")  # scikit-learn before 1.9, of Polars 2
@pytest.mark.parametrize("index", range(7))
def test_predict_takes_tables_with_or_without_the_columns_of_group_by(index, data):
    X, y, query = data
    with_ids, without, group_by = list(with_and_without_ids(X, query))[index]
    ranker = GroupedRanker(LogisticRegression(), group_by=group_by).fit(with_ids, y)
    for method in ("predict", "predict_proba", "decision_function"):
        expected = getattr(ranker.estimator_, method)(without)
        np.testing.assert_array_equal(getattr(ranker, method)(with_ids), expected)
        if hasattr(without, "columns"):
            np.testing.assert_array_equal(getattr(ranker, method)(without), expected)
            continue
        with pytest.raises(ValueError, match="X has 3 features.*expecting 4"):
            getattr(ranker, method)(without)
    with pytest.raises(ValueError, match="features|lacks 'b', 'c'"):
        ranker.predict(X[["a"]] if hasattr(without, "columns") else X.to_numpy()[:, :1])


@pytest.mark.filterwarnings("ignore:.*L-BFGS-B solver:DeprecationWarning")  # scikit-learn 1.6
@pytest.mark.parametrize("index", range(7))
def test_feature_importances_and_coef_have_a_0_for_the_columns_of_group_by(index, data):
    X, y, query = data
    with_ids, _, group_by = list(with_and_without_ids(X, query))[index]
    for inner, name in (
        (RandomForestRegressor(5, random_state=0), "feature_importances_"),
        (Ridge(), "coef_"),
        (LogisticRegression(), "coef_"),
    ):
        ranker = GroupedRanker(inner, group_by=group_by).fit(with_ids, y)
        found = getattr(ranker, name)
        assert found.shape[-1] == ranker.n_features_in_
        is_feature = np.any(np.atleast_2d(found) != 0, axis=0)
        assert is_feature.sum() == 3
        np.testing.assert_array_equal(found[..., is_feature], getattr(ranker.estimator_, name))
        names = list(getattr(ranker, "feature_names_in_", []))
        if names:
            assert {names[i] for i in np.flatnonzero(is_feature)} == set("abc")


def test_coef_of_a_pipeline_that_transforms_columns_is_missing(data):
    X, y, _ = data
    assert not hasattr(GroupedRanker(make_pipeline(StandardScaler(), Ridge())).fit(X, y), "coef_")
    assert hasattr(GroupedRanker(make_pipeline(Ridge())).fit(X, y), "coef_")


@pytest.mark.parametrize("sparse_coef", [True, False])
def test_coef_may_be_sparse_and_serves_a_selection_of_features(sparse_coef, data):
    X, y, query = data
    inner = SVR(kernel="linear") if sparse_coef else Ridge()
    rows = sparse.csr_array(np.c_[query, X]) if sparse_coef else np.c_[query, X]
    ranker = GroupedRanker(inner, group_by=0).fit(rows, y)
    assert sparse.issparse(ranker.estimator_.coef_) == sparse_coef
    assert ranker.coef_.shape[-1] == 4
    selector = RFE(GroupedRanker(inner), n_features_to_select=1)
    assert selector.fit(rows[:, 1:], y).support_.tolist() == [True, False, False]


def test_feature_importances_of_catboost(data):
    catboost = pytest.importorskip("catboost")
    X, y, query = data
    inner = catboost.CatBoostRanker(iterations=3, verbose=0, allow_writing_files=False)
    found = GroupedRanker(inner, group_by="q").fit(X.assign(q=query), y).feature_importances_
    assert found.shape == (4,)
    assert found[-1] == 0
    assert found.sum() == pytest.approx(100)


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_predict_without_names_refuses_rows_that_lack_a_column(data):
    """The ids would be taken for a feature if another column is missing."""
    X, y, query = data
    ranker = GroupedRanker(Ridge(), group_by=0).fit(np.c_[query, X], y)
    named = GroupedRanker(Ridge(), group_by="q").fit(X.assign(q=query), y)
    lacking = np.c_[query, X][:, :-1]
    for each, rows in (
        (ranker, lacking), (ranker, lacking.tolist()), (ranker, sparse.csr_array(lacking)),
        (ranker, X), (named, X.to_numpy()),
    ):  # fmt: skip
        for method in (each.predict, lambda rows, ranker=each: ranker.score(rows, y)):
            with pytest.raises(ValueError, match=r"X has 3 features.*expecting 4"):
                method(rows)


NAMED = make_pipeline(
    make_column_transformer((StandardScaler(), ["a", "b"]), ("drop", ["c"])), Ridge()
)


def polars(frame):
    return pl.DataFrame(frame.to_dict("list"))


@pytest.mark.parametrize("convert", [pd.DataFrame, polars])
def test_predict_takes_columns_by_name_if_group_by_is_one(convert, data):
    X, y, query = data
    table = X.assign(q=query, x=1.0, z="text")
    ranker = GroupedRanker(Ridge(), group_by="q").fit(convert(table[list("abcq")]), y)
    expected = ranker.predict(convert(table[list("abcq")]))
    for order in ("bac", "qabc", "acbq", "cxbzaq"):
        np.testing.assert_array_equal(ranker.predict(convert(table[list(order)])), expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, polars])
def test_predict_without_group_by_takes_the_columns_that_the_estimator_takes(frame, data):
    X, y, _ = data
    strict, named = (GroupedRanker(inner).fit(frame(X), y) for inner in (Ridge(), NAMED))
    scaled = GroupedRanker(make_pipeline(StandardScaler(), Ridge())).fit(frame(X), y)
    for rows in (X[list("bca")], X.assign(z="text")):
        np.testing.assert_allclose(named.predict(frame(rows)), named.estimator_.predict(X))
        for ranker in (strict, scaled):
            with pytest.raises(ValueError, match="(in the same order|unseen at fit time:\n- z)"):
                ranker.predict(frame(rows))


@pytest.mark.parametrize("group_by", [None, ["session", "day"]])
def test_predict_names_only_the_missing_columns_that_are_needed(group_by, data):
    X, y, query = data
    table = X.assign(session=query // 5, day=query % 5) if group_by else X
    for inner, words in (
        (NAMED, "columns are missing: {'b'}"),
        (Ridge(), "(lacks 'b'|missing:\n- b)"),
    ):
        ranker = GroupedRanker(inner, group_by=group_by).fit(table, y)
        with pytest.raises(ValueError, match=words) as error:
            ranker.predict(table[["a", "c"]])
        assert not re.search("session|day", str(error.value))
    named = GroupedRanker(NAMED, group_by=group_by).fit(table, y)  # which does not need c
    np.testing.assert_array_equal(named.predict(X[["b", "a"]]), named.predict(table))


@pytest.mark.parametrize("missing", [["query"], ["when"], ["query", "when"], []])
def test_predict_takes_tables_without_the_columns_of_group_by_and_order_by(missing, data):
    X, y, query = data
    X = X.assign(query=query, when=query[::-1])
    ranker = GroupedRanker(Ridge(), group_by="query", order_by="when").fit(X, y)
    assert ranker.predict(X.drop(columns=missing)).tolist() == ranker.predict(X).tolist()
