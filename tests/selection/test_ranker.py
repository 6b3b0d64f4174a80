"""GroupedRanker: what the inner `fit` is given, and what `predict`, `score` and attributes return."""

import re
from array import array

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from helpers import GroupId, Qid, Recorder, Sizes, graded_rows, run_python, sorted_by_hand
from scipy import sparse
from sklearn import ensemble
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
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
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import get_tags

from sklearn_ndcg import GroupedRanker, make_dcg_scorer, make_ndcg_scorer, ndcg_score

X, Y, QUERY = graded_rows()
ORDER, CODES, SIZES = sorted_by_hand(QUERY)
NAMED = make_pipeline(
    make_column_transformer((StandardScaler(), ["a", "b"]), ("drop", ["c"])), Ridge()
)
RECORDERS = {"qid": Qid, "group_id": GroupId, "group": Sizes}


def polars(frame):
    return pl.DataFrame(frame.to_dict("list"))


# --- what the inner fit is given


@pytest.mark.parametrize("name", RECORDERS)
@pytest.mark.parametrize("convert", [np.asarray, pl.Series, lambda q: np.char.mod("q%03d", q)])
def test_groups_have_the_form_of_the_library_and_rows_are_sorted(name, convert):
    given = GroupedRanker(RECORDERS[name]()).fit(X, Y, groups=convert(QUERY)).estimator_.given_
    pd.testing.assert_frame_equal(given["X"], X.iloc[ORDER])
    np.testing.assert_array_equal(given["y"], Y[ORDER])
    np.testing.assert_array_equal(given[name], SIZES if name == "group" else CODES)
    assert set(given) - {"feature_name"} == {"X", "y", name}


@pytest.mark.parametrize("name", RECORDERS)
def test_sample_weight_has_the_form_of_the_library(name):
    weight = np.random.default_rng(0).random(len(Y))
    given = GroupedRanker(RECORDERS[name]()).fit(X, Y, weight, groups=QUERY).estimator_.given_
    means = np.bincount(CODES, weight[ORDER]) / SIZES
    weight_name, expected = {
        "qid": ("sample_weight", means),
        "group_id": ("group_weight", means[CODES]),
        "group": ("sample_weight", weight[ORDER]),
    }[name]
    np.testing.assert_allclose(given[weight_name], expected, rtol=1e-14)
    assert set(given) & {"sample_weight", "group_weight"} == {weight_name}


@pytest.mark.parametrize("inner", [KNeighborsRegressor(), make_pipeline(KNeighborsRegressor())])
def test_sample_weight_is_refused_if_the_inner_estimator_takes_none(inner):
    words = "sample_weight was passed, but KNeighborsRegressor.fit does not take weights"
    ranker = GroupedRanker(inner)
    with pytest.raises(TypeError, match=words):
        ranker.fit(X, Y, np.ones(len(Y)), groups=QUERY)
    # which draws rows by weights where its estimator has a parameter for them
    with pytest.raises(TypeError, match=f"{words}.* put GroupedRanker around them"):
        ensemble.BaggingRegressor(ranker, 2, random_state=0).fit(X, Y)
    bagging = ensemble.BaggingRegressor(inner, 2, random_state=0)
    expected = clone(bagging).fit(X, Y).predict(X)
    np.testing.assert_array_equal(GroupedRanker(bagging).fit(X, Y).predict(X), expected)


class AnyKeywords(Recorder):
    def fit(self, X, y, **fit_params):
        return self._record(X, y, **fit_params)


def test_sample_weight_is_passed_to_a_fit_of_keywords():
    given = GroupedRanker(AnyKeywords()).fit(X, Y, sample_weight=Y + 1).estimator_.given_
    np.testing.assert_array_equal(given["sample_weight"], Y + 1)


def test_sample_weight_by_place_weighs_in_score_and_groups_have_no_place():
    weight, ranker = 1.0 + QUERY % 5, GroupedRanker(Sizes()).fit(X, Y, groups=QUERY)
    expected = ndcg_score(Y, X["a"], groups=QUERY, sample_weight=weight)
    assert ranker.score(X, Y, weight, groups=QUERY) == expected
    assert expected != ranker.score(X, Y, groups=QUERY)
    for method in (ranker.fit, ranker.score):
        with pytest.raises(TypeError, match="positional"):
            method(X, Y, weight, QUERY)


def test_fit_params_with_a_value_per_row_follow_the_rows():
    for values in (
        np.arange(len(Y)), list(range(len(Y))), pd.Series(range(len(Y))), pl.Series(range(len(Y))),
        pa.array(range(len(Y))), pa.chunked_array([range(5), range(5, len(Y))]),
        array("d", range(len(Y))),
    ):  # fmt: skip
        fitted = GroupedRanker(Sizes()).fit(X, Y, groups=QUERY, init_score=values)
        np.testing.assert_array_equal(fitted.estimator_.given_["init_score"], ORDER)
        fitted = GroupedRanker(Qid()).fit(X, Y, groups=QUERY, base_margin=values)
        np.testing.assert_array_equal(fitted.estimator_.given_["base_margin"], ORDER)


def test_fit_params_that_are_as_long_as_x_but_not_about_its_rows_stay_as_they_are():
    n = len(Y)
    others = {name: list(range(n)) for name in ("feature_names", "eval_set", "X_val", "callbacks")}
    others |= {"text": "x" * n, "bytes": b"x" * n, "dict": dict.fromkeys(range(n)), "number": n}
    others |= {"short": [0] * (n - 1), "transposed": np.ones((2, n)), "scalar": np.array(n)}
    ranker = GroupedRanker(AnyKeywords(), max_queries=19, random_state=0)
    given = ranker.fit(X, Y, groups=QUERY, margin=np.arange(n), **others).estimator_.given_
    np.testing.assert_array_equal(given["margin"], ORDER[np.isin(QUERY[ORDER], ranker.query_ids_)])
    assert all(given[name] is value for name, value in others.items())


def test_a_parameter_groups_of_fit_gets_the_ids():
    class TakesGroups(Recorder):
        def fit(self, X, y, groups=None):
            return self._record(X, y, groups=groups)

    text = np.char.mod("q%03d", QUERY)
    for routed in (False, True):
        with sklearn.config_context(enable_metadata_routing=routed):
            for inner in (TakesGroups(), make_pipeline("passthrough", TakesGroups())):
                fitted = GroupedRanker(inner).fit(X, Y, groups=text).estimator_
                given = getattr(fitted, "steps", [("", fitted)])[-1][1].given_
                np.testing.assert_array_equal(given["groups"], text)
                pd.testing.assert_frame_equal(given["X"], X)
            drawn = GroupedRanker(TakesGroups(), max_queries=2, random_state=0)
            drawn.fit(X, Y, groups=QUERY)
            assert set(drawn.estimator_.given_["groups"]) == set(drawn.query_ids_)
    assert "groups" not in GroupedRanker(TakesGroups()).fit(X, Y).estimator_.given_
    with sklearn.config_context(enable_metadata_routing=True):
        refuses = GroupedRanker(TakesGroups().set_fit_request(groups=False))
        assert "groups" not in refuses.fit(X, Y, groups=QUERY).estimator_.given_


def test_groups_are_needed_only_by_estimators_that_take_them():
    weight = np.random.default_rng(0).random(len(Y))
    for given in ({}, {"sample_weight": weight}):
        expected = Ridge().fit(X, Y, **given).predict(X)
        for groups in ({}, {"groups": QUERY}):
            ranker = GroupedRanker(Ridge()).fit(X, Y, **given, **groups)
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
def test_rows_stay_as_they_are_for_estimators_without_groups(make):
    inner, convert = make(list(GroupKFold(3).split(X, Y, QUERY)))
    rows = convert(X)
    expected = clone(inner).fit(rows, Y).predict(rows)
    ranker = GroupedRanker(inner).fit(rows, Y, groups=QUERY)
    np.testing.assert_array_equal(ranker.predict(rows), expected)
    ranker.set_params(max_queries=1000)  # which sorts them
    with pytest.raises(ValueError, match="(cv|A precomputed X) cannot be passed: .* to rows"):
        ranker.fit(rows, Y, groups=QUERY)


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


def test_inputs_are_not_changed():
    arrays = [X.to_numpy().copy(), Y.copy(), np.ones(len(Y)), QUERY.copy()]
    for each in arrays:
        each.flags.writeable = False
    GroupedRanker(Sizes()).fit(*arrays[:3], groups=arrays[3]).predict(arrays[0])


@pytest.mark.parametrize("make", [list, pd.Series, np.array, lambda X: np.array(X, dtype=object)])
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


def test_a_column_of_relevance_is_taken_with_a_warning():
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        ranker = GroupedRanker(Ridge()).fit(X, np.c_[Y], groups=QUERY)
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        score = ranker.score(X, np.c_[Y], groups=QUERY)
    assert score == ranker.score(X, Y, groups=QUERY)


# --- states


@pytest.mark.parametrize("error", ["y", "inner"])
def test_an_error_leaves_the_earlier_fit(error):
    ranker = GroupedRanker(Ridge(), group_by=0).fit(np.c_[QUERY, X], Y)
    before = ranker.predict(np.c_[QUERY, X]), ranker.coef_, ranker.query_ids_
    ranker.set_params(group_by=3, estimator__alpha=-1.0 if error == "inner" else 1.0)
    with pytest.raises(ValueError, match="NaN" if error == "y" else "alpha"):
        ranker.fit(np.c_[X, QUERY][5:], np.where(error == "y", np.nan, Y)[5:])
    after = ranker.predict(np.c_[QUERY, X]), ranker.coef_, ranker.query_ids_
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_new_fit_forgets_the_earlier_one():
    boosting = ensemble.HistGradientBoostingRegressor(max_iter=2)
    ranker = GroupedRanker(boosting, early_stopping=True, scoring=make_ndcg_scorer(undefined=0.0))
    assert ranker.fit(X, Y, groups=QUERY).best_iteration_
    ranker.set_params(early_stopping=False).fit(X.to_numpy()[:, :2], Y)
    assert ranker.n_features_in_ == 2
    forgotten = {"query_ids_", "trained_queries_", "feature_names_in_", "best_iteration_"}
    assert not forgotten & vars(ranker).keys()


# --- score, and methods of the inner estimator


@pytest.mark.parametrize("k", [None, 3])
def test_k_is_the_cutoff_of_score_and_a_classifier_ranks_by_its_probabilities(k):
    options = {} if k is None else {"k": k}
    regressor = GroupedRanker(Ridge(), **options).fit(X, Y, groups=QUERY)
    assert regressor.k == k
    expected = ndcg_score(Y, Ridge().fit(X, Y).predict(X), groups=QUERY, k=k)
    assert regressor.score(X, Y, groups=QUERY) == pytest.approx(expected)

    ranker = GroupedRanker(LogisticRegression(), **options).fit(X, Y, groups=QUERY)
    assert ranker.classes_.tolist() == [0, 1, 2, 3]
    expected = ndcg_score(Y, ranker.predict_proba(X) @ ranker.classes_, groups=QUERY, k=k)
    assert ranker.score(X, Y, groups=QUERY) == pytest.approx(expected)
    assert make_ndcg_scorer(k=k)(ranker, X, Y, groups=QUERY) == pytest.approx(expected)
    assert ranker.decision_function(X).shape == (len(Y), 4)


@pytest.mark.parametrize("group_by", ["q", None])
def test_scoring_is_what_score_gives(group_by):
    table = X.assign(q=QUERY)
    given = {} if group_by else {"groups": QUERY}
    for scoring in (
        make_ndcg_scorer(k=2, gain="exponential"), make_dcg_scorer(k=2, group_by=group_by),
        make_ndcg_scorer(response_method=lambda model, X: -model.predict(X)),
    ):  # fmt: skip
        ranker = GroupedRanker(Ridge(), group_by=group_by, k=1, scoring=scoring)
        score = ranker.fit(table, Y, **given).score(table, Y, 1.0 + QUERY, **given)
        assert score == scoring(ranker, table, Y, 1.0 + QUERY, groups=QUERY)
        assert score != ranker.set_params(scoring=None).score(table, Y, 1.0 + QUERY, **given)
    alone = GroupedRanker(Ridge(), scoring=make_ndcg_scorer(k=2, group_by="q")).fit(table, Y)
    assert alone.score(table, Y) == ndcg_score(Y, alone.predict(table), groups=QUERY, k=2)


def test_scoring_finds_ids_in_the_index_of_y_if_x_has_become_an_array():
    y = pd.Series(Y, index=pd.Index(QUERY, name="q"))
    scoring = make_ndcg_scorer(k=2, group_by="q")
    ranker = GroupedRanker(Ridge(), group_by="q", scoring=scoring).fit(X.to_numpy(), y)
    expected = ndcg_score(Y, ranker.predict(X.to_numpy()), groups=QUERY, k=2)
    assert ranker.score(X.to_numpy(), y) == expected


def test_methods_and_tags_are_those_of_the_inner_estimator():
    class Typeless(BaseEstimator):  # as rankers of LightGBM are
        fit = predict = None

    assert is_regressor(GroupedRanker(Ridge()))
    assert is_regressor(GroupedRanker(Typeless()))
    assert is_classifier(GroupedRanker(LogisticRegression()))
    for inner, methods in (
        (Ridge(), set()),
        (SVC(), {"decision_function"}),
        (LogisticRegression(), {"predict_proba", "decision_function"}),
    ):
        for ranker in (GroupedRanker(inner), GroupedRanker(inner).fit(X, Y > 1, groups=QUERY)):
            names = ("predict_proba", "decision_function")
            assert {name for name in names if hasattr(ranker, name)} == methods
    for name in ("classes_", "best_iteration_", "feature_importances_"):
        assert not hasattr(GroupedRanker(Ridge()).fit(X, Y), name)


def test_tags_promise_what_fit_takes():
    """More of them by scikit-learn's checks, in test_ranker_checks.py."""
    tree, dummy = ensemble.RandomForestClassifier(), DummyRegressor()
    assert get_tags(tree).classifier_tags.multi_label
    assert not get_tags(GroupedRanker(tree)).classifier_tags.multi_label
    for inner in (tree, dummy, PoissonRegressor(), Ridge()):
        tags, alone = get_tags(GroupedRanker(inner)), get_tags(inner)
        assert tags.target_tags.positive_only == alone.target_tags.positive_only
        assert tags.no_validation == alone.no_validation
        assert not tags.target_tags.multi_output
    assert get_tags(GroupedRanker(PoissonRegressor())).target_tags.positive_only
    assert get_tags(GroupedRanker(dummy)).no_validation


def test_tags_say_whether_the_inner_estimator_is_deterministic():
    class Random(Ridge):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.non_deterministic = True
            return tags

    assert get_tags(GroupedRanker(Random())).non_deterministic
    assert not get_tags(GroupedRanker(Ridge())).non_deterministic


def test_methods_are_those_of_the_fitted_estimator():
    search = GridSearchCV(SGDClassifier(loss="hinge"), {"loss": ["log_loss"]}, cv=2)
    ranker = GroupedRanker(search)
    assert not hasattr(ranker, "predict_proba")
    assert ranker.fit(X, Y > 1, groups=QUERY).predict_proba(X).shape == (len(X), 2)


def test_estimator_may_have_predict_only_when_fitted():
    inner = ensemble.StackingRegressor([("a", Ridge()), ("b", LinearRegression())])
    ranker = GroupedRanker(inner).fit(X, Y, groups=QUERY)
    np.testing.assert_array_equal(ranker.predict(X), inner.fit(X, Y).predict(X))


# --- tables with and without ids


NAMED_ROWS = X.assign(q=QUERY)
TABLES = {  # X with its ids, X without them, and group_by
    "pandas": (NAMED_ROWS, X, "q"),
    "pandas, two columns": (NAMED_ROWS.assign(r=1), X, ["r", "q"]),
    "polars": (polars(NAMED_ROWS), polars(X), "q"),
    "pyarrow": (pa.table(NAMED_ROWS.to_dict("list")), pa.table(X.to_dict("list")), "q"),
    "array, last": (np.c_[X, QUERY], X.to_numpy(), 3),
    "array, first": (np.c_[QUERY, X], X.to_numpy(), 0),
    "array, from the right": (np.c_[X, QUERY], X.to_numpy(), -1),
}
every_table = pytest.mark.parametrize("name", TABLES)


@pytest.mark.filterwarnings("ignore:.*L-BFGS-B solver:DeprecationWarning")  # scikit-learn 1.6
@pytest.mark.filterwarnings("ignore:X has feature names")  # scikit-learn before 1.9, of Polars 2
@every_table
def test_predict_takes_tables_with_or_without_the_columns_of_group_by(name):
    with_ids, without, group_by = TABLES[name]
    ranker = GroupedRanker(LogisticRegression(), group_by=group_by).fit(with_ids, Y)
    for method in ("predict", "predict_proba", "decision_function"):
        expected = getattr(ranker.estimator_, method)(without)
        np.testing.assert_array_equal(getattr(ranker, method)(with_ids), expected)
        if hasattr(without, "columns"):
            np.testing.assert_array_equal(getattr(ranker, method)(without), expected)
            continue
        with pytest.raises(ValueError, match="X has 3 features.*expecting 4"):
            getattr(ranker, method)(without)


IMPORTANCES = [
    (ensemble.RandomForestRegressor(5, random_state=0), "feature_importances_"),
    (Ridge(), "coef_"),
    (LogisticRegression(), "coef_"),
]


@pytest.mark.filterwarnings("ignore:.*L-BFGS-B solver:DeprecationWarning")  # scikit-learn 1.6
@every_table
@pytest.mark.parametrize(("inner", "attribute"), IMPORTANCES)
def test_feature_importances_and_coef_have_a_0_for_the_columns_of_group_by(inner, attribute, name):
    with_ids, _, group_by = TABLES[name]
    ranker = GroupedRanker(inner, group_by=group_by).fit(with_ids, Y)
    found = getattr(ranker, attribute)
    assert found.shape[-1] == ranker.n_features_in_
    is_feature = np.any(np.atleast_2d(found) != 0, axis=0)
    np.testing.assert_array_equal(found[..., is_feature], getattr(ranker.estimator_, attribute))
    assert is_feature.sum() == 3
    if hasattr(ranker, "feature_names_in_"):
        assert set(ranker.feature_names_in_[is_feature]) == set("abc")


def test_coef_of_a_pipeline_that_transforms_columns_is_missing():
    assert not hasattr(GroupedRanker(make_pipeline(StandardScaler(), Ridge())).fit(X, Y), "coef_")
    assert hasattr(GroupedRanker(make_pipeline(Ridge())).fit(X, Y), "coef_")


@pytest.mark.parametrize("sparse_coef", [True, False])
def test_coef_may_be_sparse_and_serves_a_selection_of_features(sparse_coef):
    inner = SVR(kernel="linear") if sparse_coef else Ridge()
    rows = sparse.csr_array(np.c_[QUERY, X]) if sparse_coef else np.c_[QUERY, X]
    ranker = GroupedRanker(inner, group_by=0).fit(rows, Y)
    assert sparse.issparse(ranker.estimator_.coef_) == sparse_coef
    assert ranker.coef_.shape[-1] == 4
    selector = RFE(GroupedRanker(inner), n_features_to_select=1)
    assert selector.fit(rows[:, 1:], Y).support_.tolist() == [True, False, False]


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_predict_without_names_refuses_rows_that_lack_a_column():
    """The ids would be taken for a feature if another column is missing."""
    ranker = GroupedRanker(Ridge(), group_by=0).fit(np.c_[QUERY, X], Y)
    named = GroupedRanker(Ridge(), group_by="q").fit(X.assign(q=QUERY), Y)
    lacking = np.c_[QUERY, X][:, :-1]
    for each, rows in (
        (ranker, lacking), (ranker, lacking.tolist()), (ranker, sparse.csr_array(lacking)),
        (ranker, X), (named, X.to_numpy()),
    ):  # fmt: skip
        for method in (each.predict, lambda rows, ranker=each: ranker.score(rows, Y)):
            with pytest.raises(ValueError, match=r"X has 3 features.*expecting 4"):
                method(rows)


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@pytest.mark.parametrize("inner", [Ridge(), make_pipeline(StandardScaler(), Ridge())])
@pytest.mark.parametrize("convert", [pd.DataFrame, polars, pa.Table.from_pandas])
def test_predict_needs_column_names_or_none_as_in_fit(convert, inner):
    table = X.assign(q=QUERY)
    named = GroupedRanker(inner, group_by="q").fit(convert(table), Y)
    with pytest.raises(ValueError, match="X must be a table with .* column 'q' .* got ndarray"):
        named.predict(table.to_numpy())
    unnamed = GroupedRanker(inner, order_by=3).fit(table.to_numpy(), Y)
    words = r"X must be an array without .* column 3 .* got (DataFrame|Table)"
    with pytest.raises(ValueError, match=words):
        unnamed.predict(convert(table))


@pytest.mark.parametrize("convert", [pd.DataFrame, polars])
def test_predict_takes_columns_by_name_if_group_by_is_one(convert):
    table = X.assign(q=QUERY, x=1.0, z="text")
    ranker = GroupedRanker(Ridge(), group_by="q").fit(convert(table[list("abcq")]), Y)
    expected = ranker.predict(convert(table[list("abcq")]))
    for order in ("bac", "qabc", "acbq", "cxbzaq"):
        np.testing.assert_array_equal(ranker.predict(convert(table[list(order)])), expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, polars])
def test_predict_without_group_by_takes_the_columns_that_the_estimator_takes(frame):
    if not hasattr(Ridge().fit(frame(X), Y), "feature_names_in_"):
        pytest.skip("this scikit-learn does not read the column names of this Polars")
    strict, named = (GroupedRanker(inner).fit(frame(X), Y) for inner in (Ridge(), NAMED))
    scaled = GroupedRanker(make_pipeline(StandardScaler(), Ridge())).fit(frame(X), Y)
    for rows in (X[list("bca")], X.assign(z="text")):
        np.testing.assert_allclose(named.predict(frame(rows)), named.estimator_.predict(X))
        for ranker in (strict, scaled):
            with pytest.raises(ValueError, match="(in the same order|unseen at fit time:\n- z)"):
                ranker.predict(frame(rows))


@pytest.mark.parametrize("group_by", [None, ["session", "day"]])
def test_predict_names_only_the_missing_columns_that_are_needed(group_by):
    table = X.assign(session=QUERY // 5, day=QUERY % 5) if group_by else X
    for inner, words in (
        (NAMED, "columns are missing: {'b'}"),
        (Ridge(), "(lacks 'b'|missing:\n- b)"),
    ):
        ranker = GroupedRanker(inner, group_by=group_by).fit(table, Y)
        with pytest.raises(ValueError, match=words) as error:
            ranker.predict(table[["a", "c"]])
        assert not re.search("session|day", str(error.value))
    named = GroupedRanker(NAMED, group_by=group_by).fit(table, Y)  # which does not need c
    np.testing.assert_array_equal(named.predict(X[["b", "a"]]), named.predict(table))
