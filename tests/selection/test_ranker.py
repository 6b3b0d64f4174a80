"""GroupedRanker around scikit-learn's estimators, and around some that record what they are given."""

import pickle
import re
import warnings
from array import array
from importlib.util import find_spec
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from helpers import run_python
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    RegressorMixin,
    TransformerMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
)
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import RFE, RFECV
from sklearn.inspection import partial_dependence
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LassoCV, LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    PredefinedSplit,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    validation_curve,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder, StandardScaler, TargetEncoder
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

from sklearn_ndcg import (
    GroupedRanker,
    QueryLeakWarning,
    QuerySplitter,
    make_ndcg_scorer,
    ndcg_score,
    one_ranking,
    quantile_grades,
)

REFUSES = "a score without groups is refused, never taken for one ranking"
NO_WARNING = {"undefined": 0.0}
EXPECTED = {
    "check_array_api_input": REFUSES,
    "check_fit_score_takes_y": REFUSES,
    "check_pipeline_consistency": REFUSES,
}


@pytest.fixture(name="thirty_queries")
def _thirty_queries():
    rng = np.random.default_rng(0)
    query = rng.permutation(np.repeat(np.arange(30), rng.integers(3, 9, size=30)))
    X = pd.DataFrame(rng.normal(size=(len(query), 3)), columns=list("abc"))
    y = np.clip(np.round(X["a"] + rng.normal(size=len(query)) + 1), 0, 3).to_numpy(int)
    return X, y, query


class OneRanking:
    """Like `one_ranking`, but with a repr without an address, as pytest-xdist needs."""

    def __call__(self, X):
        return one_ranking(X)

    def __repr__(self):
        return "one_ranking"


def failed(reason, *checks):
    return dict.fromkeys((f"check_{check}" for check in checks), reason)


WEIGHTS = ("sample_weight_equivalence_on_dense_data", "sample_weight_equivalence_on_sparse_data")
LABELS = failed(
    "labels must be whole numbers, and those of the check are not",
    "fit_check_is_fitted", "fit_idempotent", "n_features_in", "n_features_in_after_fitting",
    "regressor_data_not_an_array", "regressors_no_decision_function", "regressors_train",
)  # fmt: skip


# around these, GroupedRanker fails some checks, most of which the estimator fails alone, too
EVERY_DAY = [
    (Ridge(), {}),
    (LogisticRegression(), {}),
    (KNeighborsRegressor(), {}),
    (PLSRegression(1), {}),
    (
        make_pipeline(StandardScaler(with_mean=False), Ridge()),
        failed("the scaler gets no weights", *WEIGHTS),
    ),
]
OTHERS = [
    (HistGradientBoostingRegressor(max_iter=5), {}),
    (
        RandomForestRegressor(3, random_state=0),
        failed("it draws rows, and not by weight", *WEIGHTS),
    ),
    (SVR(), failed("its solver stops before they are equal", *WEIGHTS)),
]
if find_spec("lightgbm"):
    import lightgbm

    OTHERS.append((lightgbm.LGBMRanker(n_estimators=3, n_jobs=1, verbose=-1), LABELS))
if find_spec("xgboost"):
    import xgboost

    by_query = failed("a weight is that of a query: rows with 0 are not left out", *WEIGHTS)
    empty = failed("XGBoost trains without features", "estimators_empty_data_messages")
    OTHERS.append((xgboost.XGBRanker(n_estimators=3, n_jobs=1), LABELS | by_query | empty))


def rankers(inner_estimators):
    """By their repr, rankers and the checks they fail; libraries' rankers cannot lack ids."""
    for inner, failures in inner_estimators:
        for group_by in (OneRanking(), None):
            if group_by or failures.keys().isdisjoint(LABELS):
                ranker = GroupedRanker(inner, group_by=group_by)
                yield repr(ranker), (ranker, failures | ({} if group_by else EXPECTED))


CHECKED = dict(rankers(EVERY_DAY))
CHECKED_SLOWLY = dict(rankers(OTHERS))


def expected_failures(ranker):
    return (CHECKED | CHECKED_SLOWLY)[repr(ranker)][1]


def checks(rankers):
    return parametrize_with_checks(
        [ranker for ranker, _ in rankers.values()], expected_failed_checks=expected_failures
    )


@pytest.mark.filterwarnings("ignore")
@checks(CHECKED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@checks(CHECKED_SLOWLY)
def test_scikit_learn_checks_around_others(estimator, check):
    check(estimator)


@pytest.mark.parametrize("inner", [KNeighborsRegressor(), make_pipeline(PLSRegression(1))])
def test_fit_shows_weights_only_if_they_are_taken(inner, data):
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


class Recorder(RegressorMixin, BaseEstimator):
    """Remembers what `fit` was given."""

    def _record(self, X, y, **given):
        self.given_ = {"X": X, "y": y, **{k: v for k, v in given.items() if v is not None}}
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


class Qid(Recorder):
    def fit(self, X, y, *, group=None, qid=None, sample_weight=None, base_margin=None):
        given = {"group": group, "sample_weight": sample_weight, "base_margin": base_margin}
        return self._record(X, y, qid=qid, **given)


class GroupId(Recorder):
    def fit(self, X, y, group_id=None, sample_weight=None, group_weight=None, cat_features=None,
            pairs=None):  # fmt: skip
        given = {"sample_weight": sample_weight, "group_weight": group_weight, "pairs": pairs}
        return self._record(X, y, group_id=group_id, cat_features=cat_features, **given)


class Sizes(Recorder):
    def __init__(self, categorical_feature=None):
        self.categorical_feature = categorical_feature

    def fit(self, X, y, sample_weight=None, init_score=None, group=None, feature_name="auto"):
        given = {"sample_weight": sample_weight, "init_score": init_score}
        return self._record(X, y, group=group, feature_name=feature_name, **given)


def assert_same_arguments(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)


RECORDERS = {"qid": Qid, "group_id": GroupId, "group": Sizes}


def sorted_by_hand(query):
    """Stable order by id, each row's query in that order and the sizes."""
    order = np.argsort(query, kind="stable")
    _, ids, sizes = np.unique(query[order], return_inverse=True, return_counts=True)
    return order, ids, sizes


# --- what the inner fit is given


@pytest.mark.parametrize("name", RECORDERS)
@pytest.mark.parametrize(
    "convert",
    [np.asarray, list, pd.Series, pl.Series, lambda q: np.char.mod("q%03d", q),
     lambda q: np.datetime64("2026-11-21") + q],
)  # fmt: skip
def test_rows_are_sorted_and_groups_have_the_form_of_the_library(data, name, convert):
    X, y, query = data
    order, ids, sizes = sorted_by_hand(query)
    given = GroupedRanker(RECORDERS[name]()).fit(X, y, groups=convert(query)).estimator_.given_
    pd.testing.assert_frame_equal(given["X"], X.iloc[order])
    np.testing.assert_array_equal(given["y"], y[order])
    np.testing.assert_array_equal(given[name], sizes if name == "group" else ids)
    assert set(given) - {"feature_name"} == {"X", "y", name}


@pytest.mark.parametrize("name", RECORDERS)
def test_weights_have_the_form_of_the_library(data, name):
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


def test_row_aligned_fit_parameters_follow(data):
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


def test_fit_parameters_with_rows_in_another_order_are_refused(data):
    X, y, query = data
    start = pd.Series(range(len(y)), index=X.index)
    words = "X and init_score have the same labels in their index, but in another order"
    with pytest.raises(ValueError, match=words):
        GroupedRanker(Sizes()).fit(X, y, groups=query, init_score=start[::-1])
    others = start.set_axis(start.index[::-1] + 1000)  # says nothing about the order
    GroupedRanker(Sizes()).fit(X, y, groups=query, init_score=others)


def tables(X, query):
    """X with its ids, group_by, and what the inner estimator may see."""
    named = X.assign(q=query)[["a", "q", "b", "c"]]
    array = named.to_numpy()
    yield named, "q", lambda inner: list(inner.columns) == ["a", "b", "c"]
    yield X.set_index(pd.Index(query, name="q")), "q", lambda inner: list(inner) == ["a", "b", "c"]
    yield pl.DataFrame(named.to_dict("list")), "q", lambda inner: inner.columns == ["a", "b", "c"]
    yield pa.table(named.to_dict("list")), "q", lambda inner: inner.column_names == ["a", "b", "c"]
    yield array, 1, lambda inner: inner.shape == (len(query), 3)
    yield array, -3, lambda inner: inner.shape == (len(query), 3)
    yield sparse.csr_array(array), 1, lambda inner: inner.shape == (len(query), 3)
    yield sparse.coo_matrix(array), 1, lambda inner: inner.shape == (len(query), 3)
    yield array.tolist(), 1, lambda inner: np.shape(inner) == (len(query), 3)
    yield X, lambda X: query, lambda inner: list(inner) == ["a", "b", "c"]


@pytest.mark.parametrize("index", range(10))
def test_group_column_is_taken_out(data, index):
    X, y, query = data
    order, _, sizes = sorted_by_hand(query)
    table, group_by, is_right = list(tables(X, query))[index]
    ranker = GroupedRanker(Sizes(), group_by=group_by).fit(table, y)
    given = ranker.estimator_.given_
    assert is_right(given["X"])
    seen = given["X"].toarray() if sparse.issparse(given["X"]) else np.asarray(given["X"])
    np.testing.assert_array_equal(seen.astype(float), X.to_numpy()[order])
    np.testing.assert_array_equal(given["group"], sizes)
    assert ranker.n_features_in_ == (3 if (group_by == "q" and index == 1) or index == 9 else 4)
    if not sparse.issparse(table):
        np.testing.assert_array_equal(ranker.predict(table), X["a"])


def test_feature_names_are_those_of_what_the_user_passes(data):
    X, y, query = data
    ranker = GroupedRanker(Ridge(), group_by="q").fit(X.assign(q=query), y)
    assert ranker.feature_names_in_.tolist() == ["a", "b", "c", "q"]
    assert ranker.estimator_.feature_names_in_.tolist() == ["a", "b", "c"]


def test_estimators_that_take_no_groups_need_none(data):
    X, y, query = data
    plain = Ridge().fit(X, y)
    for ranker in (
        GroupedRanker(Ridge()).fit(X, y),
        GroupedRanker(Ridge()).fit(X, y, groups=query),
    ):
        np.testing.assert_allclose(ranker.predict(X), plain.predict(X), rtol=1e-12)
        assert ranker.score(X, y, groups=query) == pytest.approx(
            ndcg_score(y, plain.predict(X), groups=query, k=10)
        )
    weight = np.random.default_rng(0).random(len(y))
    expected = Ridge().fit(X, y, weight).predict(X)
    got = GroupedRanker(Ridge()).fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_inputs_are_not_changed(data):
    X, y, query = data
    arrays = [X.to_numpy().copy(), y.copy(), np.ones(len(y)), query.copy()]
    for each in arrays:
        each.flags.writeable = False
    GroupedRanker(Sizes()).fit(*arrays[:3], groups=arrays[3]).predict(arrays[0])


def test_predict_takes_the_group_by_of_fit(data):
    X, y, query = data
    table = np.c_[query, X.to_numpy()]
    ranker = GroupedRanker(Ridge(), group_by=0).fit(table, y)
    expected = ranker.predict(table)
    np.testing.assert_array_equal(ranker.set_params(group_by=1).predict(table), expected)


def test_lists_with_text_ids():
    rows = [["a", 1.0, 5.0], ["a", 2.0, 4.0], ["b", 3.0, 3.0], ["b", 4.0, 2.0]]
    given = GroupedRanker(Sizes(), group_by=0).fit(rows, [0, 1, 0, 1]).estimator_.given_
    assert given["X"].tolist() == [row[1:] for row in rows]
    assert given["X"].dtype == float
    assert given["group"].tolist() == [2, 2]


class AnyWeights(Recorder):
    def fit(self, X, y, **fit_params):
        return self._record(X, y, **fit_params)


def test_weights_through_keywords(data):
    X, y, _ = data
    given = GroupedRanker(AnyWeights()).fit(X, y, sample_weight=np.arange(len(y))).estimator_.given_
    np.testing.assert_array_equal(given["sample_weight"], np.arange(len(y)))


def test_column_of_relevance(data):
    X, y, query = data
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        ranker = GroupedRanker(Ridge()).fit(X, np.c_[y], groups=query)
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        score = ranker.score(X, np.c_[y], groups=query)
    assert score == ranker.score(X, y, groups=query)


def test_requests_of_the_inner_estimator_are_routed(data):
    X, y, query = data
    order, *_ = sorted_by_hand(query)
    with sklearn.config_context(enable_metadata_routing=True):
        for inner in (
            Sizes().set_fit_request(init_score=True),
            make_pipeline(FunctionTransformer(), Sizes().set_fit_request(init_score="start")),
        ):
            ranker = make_pipeline(FunctionTransformer(), GroupedRanker(inner))
            name = "init_score" if isinstance(inner, Sizes) else "start"
            ranker.fit(X, y, groups=query, **{name: np.arange(len(y))})
            final = ranker[-1].estimator_
            final = final if isinstance(final, Sizes) else final[-1]
            np.testing.assert_array_equal(final.given_["init_score"], order)


# --- Pipelines


def test_around_a_pipeline(data):
    X, y, query = data
    order, *_ = sorted_by_hand(query)
    inner = make_pipeline(StandardScaler(), FunctionTransformer(), Sizes())
    ranker = GroupedRanker(inner).fit(X, y, groups=query)
    given = ranker.estimator_[-1].given_
    scaled = StandardScaler().fit_transform(X.iloc[order])
    np.testing.assert_allclose(given["X"], scaled, rtol=1e-13)
    np.testing.assert_allclose(ranker.predict(X), StandardScaler().fit(X).transform(X)[:, 0])
    assert not hasattr(inner[0], "mean_")  # the one that was passed stays unfitted
    assert isinstance(ranker.estimator_, Pipeline)
    assert ranker.set_params(estimator__standardscaler__with_mean=False)


class Counted(StandardScaler):
    n_fits = 0

    def fit(self, X, y=None, sample_weight=None):
        Counted.n_fits += 1
        return super().fit(X, y)


# joblib, where writing takes more than half a second, as on a busy machine
@pytest.mark.filterwarnings("ignore:Persisting input arguments took")
def test_memory_of_a_pipeline_caches_every_step(data, tmp_path, monkeypatch):
    X, y, query = data
    monkeypatch.setattr(Counted, "n_fits", 0)
    inner = Pipeline([("scale", Counted()), ("rank", Sizes())], memory=str(tmp_path))
    first = GroupedRanker(inner).fit(X, y, groups=query)
    second = GroupedRanker(inner).fit(X, y, groups=query)
    assert Counted.n_fits == 1
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


class Weighted(TransformerMixin, BaseEstimator):
    """Remembers the rows and the metadata that `fit` was given."""

    def fit(self, X, y=None, sample_weight=None, groups=None, note=None):
        self.given_ = {"X": X, "sample_weight": sample_weight, "groups": groups, "note": note}
        return self

    def transform(self, X):
        return X


def test_steps_inside_get_what_they_request(data, routing):
    X, y, query = data
    order, *_ = sorted_by_hand(query)
    weight, note = np.random.default_rng(0).random((2, len(y)))
    text = np.char.mod("q%03d", query)
    step = Weighted().set_fit_request(sample_weight=True, groups=True, note="remark")
    ranker = GroupedRanker(make_pipeline(step, Qid())).set_fit_request(sample_weight=True)
    expected = {"sample_weight": weight, "groups": text, "note": note}
    for fit in (ranker.fit, make_pipeline(FunctionTransformer(), ranker).fit):
        fitted = fit(X, y, sample_weight=weight, groups=text, remark=note)
        inner = fitted.estimator_ if fitted is ranker else fitted[-1].estimator_
        for name, values in expected.items():
            np.testing.assert_array_equal(inner[0].given_[name], values[order])
        assert len(inner[-1].given_["sample_weight"]) == len(np.unique(query))
        assert "groups" not in inner[-1].given_


def test_weights_inside_and_rows_that_are_held_out(routing, thirty_queries):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, query = thirty_queries
    weight = np.random.default_rng(0).random(len(y))
    inner = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=True),
        lightgbm.LGBMRanker(n_estimators=3, verbose=-1),
    )
    ranker = GroupedRanker(inner, early_stopping=True, validation="last", validation_fraction=0.2)
    ranker.fit(X, y, weight, groups=query)
    trained = query < 24
    expected = np.average(X[trained], axis=0, weights=weight[trained])
    np.testing.assert_allclose(ranker.estimator_[0].mean_, expected, rtol=1e-12)


def test_weights_for_a_step_alone(data, routing):
    X, y, query = data
    weight = np.random.default_rng(0).random(len(y))
    step = StandardScaler().set_fit_request(sample_weight=True)
    ranker = GroupedRanker(make_pipeline(step, Sizes())).set_fit_request(sample_weight=False)
    inner = make_pipeline(ranker).fit(X, y, sample_weight=weight, groups=query)[0].estimator_
    assert "sample_weight" not in inner[-1].given_
    np.testing.assert_allclose(inner[0].mean_, np.average(X, axis=0, weights=weight), rtol=1e-12)


def test_weights_for_a_search_alone(data, routing):
    X, y, query = data
    order, *_ = sorted_by_hand(query)
    weight = np.random.default_rng(0).random(len(y))
    search = GridSearchCV(
        Ridge().set_fit_request(sample_weight=True), {"alpha": [1]}, cv=GroupKFold(3),
        scoring=make_ndcg_scorer(**NO_WARNING).set_score_request(sample_weight=False),
    )  # fmt: skip
    ranker = GroupedRanker(search).set_fit_request(sample_weight=False)
    fitted = make_pipeline(ranker).fit(X, y, sample_weight=weight, groups=query)
    expected = Ridge(alpha=1).fit(X.iloc[order], y[order], weight[order]).predict(X)
    np.testing.assert_allclose(fitted.predict(X), expected, rtol=1e-12)


def test_weights_that_a_step_has_not_requested(data, routing):
    X, y, query = data
    ranker = GroupedRanker(make_pipeline(StandardScaler(), Ridge()))
    with pytest.raises(UnsetMetadataPassedError, match="StandardScaler"):
        ranker.fit(X, y, sample_weight=np.ones(len(y)), groups=query)
    ranker.set_params(
        estimator__standardscaler=StandardScaler().set_fit_request(sample_weight=False)
    )
    assert ranker.fit(X, y, sample_weight=np.ones(len(y)), groups=query)
    assert ranker.estimator[0].get_metadata_routing().fit.requests == {"sample_weight": False}


@pytest.mark.parametrize("group_by", [None, "q", ["u", "d"]])
def test_a_search_inside_gets_the_groups(group_by, routing, thirty_queries):
    X, y, query = thirty_queries
    table = X.assign(q=query, u=query // 5, d=query % 5).set_index(["q", "u", "d"])
    order, *_ = sorted_by_hand(query)
    search = GridSearchCV(
        Ridge(), {"alpha": [1, 10, 100]}, scoring=make_ndcg_scorer(**NO_WARNING), cv=GroupKFold(3)
    )
    expected = clone(search).fit(X.iloc[order], y[order], groups=query[order]).cv_results_
    inner = GroupedRanker(search, group_by=group_by)
    given = {} if group_by else {"groups": query}
    for ranker in (inner, make_pipeline(inner)):
        fitted = ranker.fit(table if group_by else X, y, **given)
        found = getattr(fitted, "steps", [("", fitted)])[-1][1].estimator_.cv_results_
        np.testing.assert_allclose(found["mean_test_score"], expected["mean_test_score"])


def test_fit_parameters_that_nothing_requests_go_to_the_last_step(data, routing):
    """CatBoost and others cannot request them."""
    X, y, query = data
    order, *_ = sorted_by_hand(query)
    fitted = GroupedRanker(make_pipeline(FunctionTransformer(), Sizes()))
    fitted.fit(X, y, groups=query, init_score=np.arange(len(y)))
    np.testing.assert_array_equal(fitted.estimator_[-1].given_["init_score"], order)


class Sampler(BaseEstimator):
    def fit_resample(self, X, y):
        return X[::2], y[::2]


def test_samplers_are_refused(data):
    X, y, query = data
    inner = Pipeline([("scale", StandardScaler()), ("thin", Sampler()), ("ridge", Ridge())])
    words = "Step 'thin' draws rows: samplers are not supported.*max_queries draws whole ones"
    with pytest.raises(TypeError, match=words):
        GroupedRanker(inner).fit(X, y, groups=query)


def test_step_that_is_named_ranker(data):
    X, y, query = data
    inner = Pipeline([("ranker", StandardScaler()), ("last", Sizes())])
    assert "group" in GroupedRanker(inner).fit(X, y, groups=query).estimator_[-1].given_


def test_pipeline_of_one_step(data):
    X, y, query = data
    ranker = GroupedRanker(make_pipeline(Sizes())).fit(X, y, groups=query)
    assert "group" in ranker.estimator_[-1].given_


def test_last_step_of_a_pipeline(data):
    X, y, query = data
    *_, sizes = sorted_by_hand(query)
    outer = make_pipeline(StandardScaler(), GroupedRanker(Sizes()))
    outer.fit(X, y, groupedranker__groups=query)
    np.testing.assert_array_equal(outer[-1].estimator_.given_["group"], sizes)

    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(outer).fit(X, y, groups=query)
        np.testing.assert_array_equal(routed[-1].estimator_.given_["group"], sizes)

    indexed = X.set_index(pd.Index(query, name="q"))
    pandas_out = make_pipeline(StandardScaler(), GroupedRanker(Sizes(), group_by="q"))
    pandas_out[0].set_output(transform="pandas")
    pandas_out.fit(indexed, y)
    np.testing.assert_array_equal(pandas_out[-1].estimator_.given_["group"], sizes)

    columns = make_pipeline(
        make_column_transformer((StandardScaler(), ["a"]), remainder="passthrough"),
        GroupedRanker(Sizes(), group_by="q"),
    )
    with pytest.raises(ValueError, match=r"group_by='q' is a name.*steps of a Pipeline.*groups"):
        columns.fit(X.assign(q=query), y)


# --- classifiers


def test_classifier_ranks_by_its_probabilities(data):
    X, y, query = data
    ranker = GroupedRanker(LogisticRegression(), k=3).fit(X, y, groups=query)
    assert is_classifier(ranker)
    assert ranker.classes_.tolist() == [0, 1, 2, 3]
    expected = ndcg_score(y, ranker.predict_proba(X) @ ranker.classes_, groups=query, k=3)
    assert ranker.score(X, y, groups=query) == pytest.approx(expected)
    assert make_ndcg_scorer(k=3)(ranker, X, y, groups=query) == pytest.approx(expected)
    assert ranker.decision_function(X).shape == (len(y), 4)


def test_methods_appear_with_the_inner_estimator(data):
    X, y, query = data
    assert is_regressor(GroupedRanker(Ridge()))
    for inner, methods in ((Ridge(), ""), (SVC(), "decision_function"), (LogisticRegression(), "predict_proba decision_function")):  # fmt: skip
        for ranker in (GroupedRanker(inner), GroupedRanker(inner).fit(X, y > 1, groups=query)):
            found = {m for m in ("predict_proba", "decision_function") if hasattr(ranker, m)}
            assert found == set(methods.split())
    assert not hasattr(GroupedRanker(Ridge()).fit(X, y), "classes_")
    assert not hasattr(GroupedRanker(Ridge()).fit(X, y), "best_iteration_")


def test_the_fitted_estimator_says_which_methods_there_are(data):
    X, y, query = data
    search = GridSearchCV(SGDClassifier(loss="hinge"), {"loss": ["log_loss"]}, cv=2)
    ranker = GroupedRanker(search)
    assert not hasattr(ranker, "predict_proba")
    assert ranker.fit(X, y > 1, groups=query).predict_proba(X).shape == (len(X), 2)


# --- in searches


@pytest.mark.parametrize("jobs", [None, pytest.param(2, marks=pytest.mark.ci)])
def test_randomized_search(data, jobs):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    search = RandomizedSearchCV(
        GroupedRanker(Ridge(), group_by="q"),
        {"estimator__alpha": [0.1, 10, 1000]},
        n_iter=3,
        random_state=0,
        scoring=make_ndcg_scorer(k=3, group_by="q", undefined=0),
        cv=GroupKFold(4),
        n_jobs=jobs,
        error_score="raise",
    ).fit(X, y, groups=query)
    expected = ndcg_score(y, search.predict(X), groups=query, k=3)
    assert search.score(X, y) == pytest.approx(expected)


def test_scores_itself_without_a_scorer(data):
    X, y, query = data
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            GroupedRanker(Ridge(), k=3), {"estimator__alpha": [1]}, cv=GroupKFold(4)
        )
        y = y + 1
        search.fit(X, y, groups=query)
        for fold, (train, test) in enumerate(GroupKFold(4).split(X, y, query)):
            s = Ridge().fit(X.iloc[train], y[train]).predict(X.iloc[test])
            expected = ndcg_score(y[test], s, groups=query[test], k=3)
            assert search.cv_results_[f"split{fold}_test_score"][0] == pytest.approx(expected)


def test_routed_weights_need_no_request_of_the_inner_estimator(data):
    X, y, query = data
    weight = np.random.default_rng(0).random(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = GroupedRanker(Qid()).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), ranker)
        pipeline.fit(X, y, groups=query, sample_weight=weight)
        assert len(pipeline[-1].estimator_.given_["sample_weight"]) == len(np.unique(query))
        asked = ["groups", "sample_weight", "cat_features"]
        assert GroupedRanker(Ridge()).get_metadata_routing().consumes("fit", asked) == {"groups"}


def test_nested_and_cross_val_predict(data):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    scorer = make_ndcg_scorer(k=3, group_by="q", undefined=0)
    search = GridSearchCV(
        GroupedRanker(Ridge(), group_by="q"), {"estimator__alpha": [1, 100]},
        scoring=scorer, cv=GroupKFold(3), error_score="raise",
    )  # fmt: skip
    splits = list(GroupKFold(4).split(X, y, query))
    got = cross_val_score(
        search, X, y, scoring=scorer, cv=splits, params={"groups": query}, error_score="raise"
    )
    assert got.shape == (4,)
    assert (got > 0).all()
    predicted = cross_val_predict(GroupedRanker(Ridge(), group_by="q"), X, y, cv=splits)
    train, test = splits[0]
    expected = Ridge().fit(X.iloc[train], y[train]).predict(X.iloc[test])
    np.testing.assert_allclose(predicted[test], expected, rtol=1e-11)


def test_clone_and_pickle(data):
    X, y, query = data
    ranker = GroupedRanker(make_pipeline(StandardScaler(), Ridge()), group_by="q", k=3)
    fitted = clone(ranker).fit(X.assign(q=query), y)
    copy = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(
        copy.predict(X.assign(q=query)), fitted.predict(X.assign(q=query))
    )
    assert "GroupedRanker" in fitted._repr_html_()


# --- bad input

X_, Y_, Q_ = (
    np.arange(12.0).reshape(6, 2),
    np.array([0, 1, 2, 0, 1, 0]),
    np.array([1, 1, 2, 2, 3, 3]),
)
FRAME = pd.DataFrame({"a": X_[:, 0], "q": Q_})
BAD = {
    "groups missing": (Sizes(), {}, X_, {}, "groups is missing, but Sizes.fit.*group_by"),
    "sizes": (Qid(), {}, X_, {"groups": [2, 2, 2]}, r"groups must have one id.*np\.repeat"),
    "NaN ids": (Qid(), {}, X_, {"groups": [1, 1, 2, 2, np.nan, 3]}, "groups.*1 missing id.*index 4"),
    "wrong length": (Qid(), {}, X_, {"groups": [1, 2]}, "groups must have one id.*6 rows.*got 2"),
    "no such column": (Qid(), {"group_by": "query"}, FRAME, {}, r"names none of the columns \['a', 'q'\]"),
    "name for an array": (Qid(), {"group_by": "q"}, X_, {}, "group_by='q' is a name"),
    "column too far": (Qid(), {"group_by": 2}, X_, {}, "group_by=2 is not a column of X"),
    "no estimator": ("ridge", {}, X_, {}, "estimator must be an estimator.*'ridge'"),
    "a class": (Ridge, {}, X_, {}, "estimator must be an estimator"),
    "a transformer": (make_pipeline(StandardScaler()), {}, X_, {}, "a Pipeline that ends in one"),
    "empty Pipeline": (Pipeline([]), {}, X_, {}, "a Pipeline that ends in one"),
    "Pipeline in a Pipeline": (make_pipeline(make_pipeline(Ridge())), {}, X_, {}, "not in another Pipeline"),
    "no X": (Ridge(), {}, None, {}, "Expected 2D array, got scalar"),
    "masked y": (Ridge(), {}, X_, {"y": np.ma.array(Y_, mask=Y_ > 1)}, "y is a masked array"),
    "no weight": (Qid(), {}, X_, {"groups": Q_, "sample_weight": [0] * 6}, "at least one non-zero"),
    "ids as group_by": (Qid(), {"group_by": Q_}, X_, {}, "group_by must name columns.*pass ids themselves as groups"),
    "the parameter of the library": (Qid(), {}, X_, {"groups": Q_, "qid": Q_}, "qid is set by GroupedRanker"),
    "weights twice": (
        GroupId(), {}, X_, {"groups": Q_, "sample_weight": [1] * 6, "group_weight": [2] * 6},
        "group_weight is set by GroupedRanker"),
    "passthrough": (make_pipeline("passthrough"), {}, X_, {}, "a Pipeline that ends in one"),
    "k": (Ridge(), {"k": 0}, X_, {}, "k must be an integer >= 1 or None"),
    "k retrieved": (Ridge(), {"k": "retrieved"}, X_, {}, "k must be an integer >= 1 or None"),
    "fraction": (Ridge(), {"validation_fraction": 1.0}, X_, {}, "validation_fraction must be"),
    "no fraction": (Ridge(), {"validation_fraction": 0}, X_, {}, "validation_fraction must be"),
    "rounds": (Ridge(), {"n_iter_no_change": 0}, X_, {}, "n_iter_no_change must be"),
    "early_stopping": (Ridge(), {"early_stopping": 5}, X_, {}, "early_stopping must be True or False"),
    "early stopping, one query": (
        Sizes(), {"early_stopping": True}, X_, {"groups": [1] * 6}, "hold out 1 of 1 queries"),
    "early stopping, not supported": (
        Ridge(), {"early_stopping": True}, X_, {"groups": Q_}, "cannot stop Ridge: it needs a ranker of .* with scoring="),
    "early stopping, unknown library": (
        Sizes(), {"early_stopping": True}, X_, {"groups": Q_}, "cannot stop Sizes: it needs a ranker of .* with scoring="),
    "early stopping, no groups": (Ridge(), {"early_stopping": True}, X_, {}, "groups is missing"),
    "unknown parameter": (Ridge(), {}, X_, {"nonsense": 1}, r"Ridge.fit\(\) got an unexpected .* 'nonsense'"),
    "pairs": (GroupId(), {}, X_, {"groups": Q_, "pairs": [(0, 1)]}, "pairs cannot be passed"),
    "counted columns": (
        GroupId(), {"group_by": "q"}, FRAME, {"cat_features": [0]}, r"cat_features=\[0\] refers to columns by number"),
    "counted columns, in the estimator": (
        Sizes(categorical_feature=[0]), {"group_by": "q"}, FRAME, {}, "columns by number.*'q' is removed from X"),
    "weights of another length": (Qid(), {}, X_, {"groups": Q_, "sample_weight": [1, 2]}, "each of the 6 rows"),
    "negative weights": (Qid(), {}, X_, {"groups": Q_, "sample_weight": [-1] * 6}, "found -1"),
    "2-D y": (Ridge(), {}, X_, {"y": np.c_[Y_, Y_]}, "y should be a 1d array"),
    "lengths": (Qid(), {}, X_[:5], {"groups": Q_}, "inconsistent numbers of samples"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    estimator, parameters, X, given, words = BAD[name]
    given = {"y": Y_, **given}
    with pytest.raises((ValueError, TypeError), match=f"(?s){words}"):
        GroupedRanker(estimator, **parameters).fit(X, **given)


@pytest.mark.parametrize(
    ("name", "value", "counts"),
    [
        ("categorical_feature", [3], True),
        ("categorical_feature", "0,3", True),
        ("categorical_feature", "3", True),
        ("categorical_feature", "auto", False),
        ("categorical_feature", "name:a,b2", False),
        ("categorical_features", "from_dtype", False),
        ("categorical_feature", ["a", "b"], False),
        ("categorical_feature", ["a", 2], True),
        ("categorical_feature", np.array([False, True, False]), True),
        ("interaction_constraints", [["a"], ["b", "c"]], False),
        ("interaction_constraints", [[0], [1, 2]], True),
        ("monotone_constraints", (0, 1), True),
        ("monotone_constraints", "(0,1)", True),
        ("monotonic_cst", {"a": 1}, False),
        ("feature_weights", [1.0, 0.5], True),
        ("cat_feature", None, False),
    ],
)
def test_parameters_that_count_columns(name, value, counts):
    class Inner(Recorder):
        def get_params(self, deep=True):
            return {name: value}

        def set_params(self, **params):
            return self

        def __init__(self, **params):
            pass

        def __sklearn_clone__(self):
            return self

        def fit(self, X, y, group=None):
            return self._record(X, y, group=group)

    ranker = GroupedRanker(Inner(), group_by="q")
    if counts:
        with pytest.raises(ValueError, match=f"{name}=.*columns by number, but the column 'q'"):
            ranker.fit(FRAME, Y_)
    else:
        ranker.fit(FRAME, Y_)


@pytest.mark.parametrize(
    "inner", [HistGradientBoostingRegressor(max_iter=3), HistGradientBoostingClassifier(max_iter=3)]
)
def test_histogram_gradient_boosting_and_a_group_column(inner, data):
    """Its `categorical_features="from_dtype"` names no column."""
    X, y, query = data
    expected = GroupedRanker(inner).fit(X, y, groups=query).predict(X)
    for rows, group_by in ((X.assign(q=query), "q"), (np.c_[X, query], -1)):
        found = GroupedRanker(inner, group_by=group_by).fit(rows, y).predict(rows)
        np.testing.assert_allclose(found, expected)


class NoWeights(Recorder):
    def fit(self, X, y):
        return self._record(X, y)


def test_weights_that_would_be_lost(data):
    X, y, _ = data
    with pytest.raises(TypeError, match=r"NoWeights.fit\(\) got an unexpected .* 'sample_weight'"):
        GroupedRanker(NoWeights()).fit(X, y, sample_weight=np.ones(len(y)))


def test_named_columns_beside_a_dropped_one(data):
    X, y, query = data
    ranker = GroupedRanker(GroupId(), group_by="q").fit(X.assign(q=query), y, cat_features=["a"])
    assert ranker.estimator_.given_["cat_features"] == ["a"]


def test_score_without_the_group_column(data):
    X, y, query = data
    ranker = GroupedRanker(Ridge(), group_by="q").fit(X.assign(q=query), y)
    with pytest.raises(ValueError, match="group_by='q' names none"):
        ranker.score(X, y)
    with pytest.raises(ValueError, match=r"X needs the columns of fit, but lacks 'a'\.$"):
        ranker.predict(X[["b", "c"]])
    by_number = GroupedRanker(Ridge(), group_by=3).fit(X.assign(q=query).to_numpy(), y)
    with pytest.raises(ValueError, match="X has 2 features, but GroupedRanker is expecting 4"):
        by_number.predict(X.to_numpy()[:, :2])


def test_score_without_groups(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="got no groups"):
        GroupedRanker(LinearRegression()).fit(X, y).score(X, y)


def test_group_by_takes_precedence_over_groups(data):
    X, y, query = data
    others = pd.Series(np.arange(len(y)) % 7, index=X.index[::-1])  # in another order, too
    table = X.assign(q=query)
    expected = GroupedRanker(Sizes(), group_by="q").fit(table, y)
    found = GroupedRanker(Sizes(), group_by="q").fit(table, y, groups=others)
    np.testing.assert_array_equal(found.query_ids_, np.unique(query))
    assert_same_arguments(found.estimator_.given_, expected.estimator_.given_)
    assert found.score(table, y, groups=others) == expected.score(table, y)


def test_group_by_takes_precedence_over_routed_groups(data, routing):
    """Split by larger units, rank by the queries in them."""
    X, y, query = data
    table = X.assign(q=query)
    splits = list(GroupKFold(3).split(table, y, query // 3))
    scores = []
    for groups in (query // 3, None):
        search = GridSearchCV(
            GroupedRanker(Ridge(), group_by="q"),
            {"estimator__alpha": [1, 100]},
            scoring=make_ndcg_scorer(group_by="q"),
            cv=splits if groups is None else GroupKFold(3),
            error_score="raise",
        )
        search.fit(table, y, **({} if groups is None else {"groups": groups}))
        scores.append(search.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(*scores)


def test_a_weight_passed_by_place_weighs(data):
    X, y, query = data
    weight = 1.0 + query % 5
    by_place = GroupedRanker(Sizes()).fit(X, y, weight, groups=query)
    by_name = GroupedRanker(Sizes()).fit(X, y, sample_weight=weight, groups=query)
    assert_same_arguments(by_place.estimator_.given_, by_name.estimator_.given_)
    expected = ndcg_score(y, by_place.predict(X), groups=query, sample_weight=weight)
    assert expected != ndcg_score(y, by_place.predict(X), groups=query)
    assert by_place.score(X, y, weight, groups=query) == expected
    with pytest.raises(TypeError, match="positional"):
        by_place.score(X, y, weight, query)
    with pytest.raises(TypeError, match="positional"):
        by_place.fit(X, y, weight, query)


# --- mistakes that would train on wrong data


@pytest.mark.parametrize("inner", [Ridge(), LogisticRegression(), Qid()])
@pytest.mark.parametrize("labels", ["float", "object", "Int64"])
def test_missing_labels_are_refused_for_every_ranker(inner, labels, data):
    X, y, query = data
    y = pd.Series(y).astype(labels)
    y[[5, 9]] = pd.NA if labels == "Int64" else np.nan
    with pytest.raises(ValueError, match="Input (y )?contains NaN"):
        GroupedRanker(inner).fit(X, y, groups=query)


def test_a_stacked_regressor_is_an_estimator(data):
    """Its `predict` appears when it is fitted."""
    X, y, query = data
    ranker = GroupedRanker(StackingRegressor([("a", Ridge()), ("b", LinearRegression())]))
    ranker.fit(X, y, groups=query)
    expected = StackingRegressor([("a", Ridge()), ("b", LinearRegression())]).fit(X, y)
    np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))


@pytest.mark.parametrize("name", ["qid", "group", "group_id"])
def test_the_library_s_parameter_for_groups_is_refused(name, data):
    X, y, query = data
    ids = query if name != "group" else np.bincount(query)
    with pytest.raises(ValueError, match=f"groups is missing.* Instead of .*{name}.*np.repeat"):
        GroupedRanker(Qid()).fit(X, y, **{name: ids})


class SharesMemory(Recorder):
    def fit(self, X, y, group=None):
        self.given_ = {"X": X, "y": y}
        return self


def test_rows_that_are_in_order_are_not_copied():
    X, y = np.random.default_rng(0).normal(size=(1000, 5)), np.arange(1000) % 4
    together = np.repeat(np.arange(100), 10)
    given = GroupedRanker(SharesMemory()).fit(X, y, groups=together).estimator_.given_
    assert given["X"] is X
    scattered = GroupedRanker(SharesMemory()).fit(X, y, groups=together[::-1]).estimator_.given_
    assert not np.shares_memory(scattered["X"], X)
    np.testing.assert_array_equal(scattered["X"][:10], X[-10:])


def test_so_large_a_fraction_that_all_queries_would_be_held_out():
    ranker = GroupedRanker(Sizes(), early_stopping=True, validation_fraction=0.999)
    with pytest.raises(ValueError, match="would hold out 300 of 300 queries"):
        ranker.fit(np.zeros((600, 1)), np.arange(600) % 2, groups=np.arange(600) // 2)


# --- rows and columns that keep their meaning


def kernel(X):
    return np.exp(-((X.to_numpy()[:, None] - X.to_numpy()) ** 2).sum(axis=-1))


@pytest.mark.parametrize(
    "make", [
        lambda splits: (KernelRidge(kernel="precomputed", alpha=0.1), kernel),
        lambda splits: (KNeighborsRegressor(metric="precomputed"), lambda X: 1 - kernel(X)),
        lambda splits: (LassoCV(cv=splits), lambda X: X),
    ],
)  # fmt: skip
def test_rows_stay_as_they_are_for_estimators_without_groups(make, thirty_queries):
    X, y, query = thirty_queries
    inner, convert = make(list(GroupKFold(3).split(X, y, query)))
    rows = convert(X)
    expected = clone(inner).fit(rows, y).predict(rows)
    ranker = GroupedRanker(inner).fit(rows, y, groups=query)
    np.testing.assert_array_equal(ranker.predict(rows), expected)
    stays = ranker.set_params(max_queries=1000)
    with pytest.raises(
        ValueError, match="(cv|A precomputed X) cannot be passed: it refers to rows"
    ):
        stays.fit(rows, y, groups=query)


class HasTime(GroupId):
    def __init__(self, has_time=False):
        self.has_time = has_time


SPLITS = [(np.arange(3), np.arange(3, 6))]
ABOUT_ROWS = {
    "splits": (make_pipeline(RFECV(Ridge(), cv=SPLITS), Qid()), "rfecv__cv"),
    "iterator": (make_pipeline(RFECV(Ridge(), cv=iter(SPLITS)), Qid()), "rfecv__cv"),
    "folds": (make_pipeline(LassoCV(cv=PredefinedSplit([0, 0, 0, 1, 1, 1]))), "lassocv__cv"),
    "has_time": (HasTime(has_time=True), "has_time"),
}  # fmt: skip


@pytest.mark.parametrize("name", ABOUT_ROWS)
def test_what_counts_rows_is_refused_where_rows_are_sorted(name):
    inner, words = ABOUT_ROWS[name]
    with pytest.raises(ValueError, match=f"^{words} cannot be passed: .*rows are sorted by query"):
        GroupedRanker(inner, max_queries=2).fit(X_, Y_, groups=Q_)
    GroupedRanker(HasTime()).fit(X_, Y_, groups=Q_)
    search = GridSearchCV(Ridge(), {"alpha": [1]}, cv=2)  # a splitter may be a number
    GroupedRanker(search, max_queries=2).fit(X_, Y_, groups=Q_)


def test_flat_scores_to_start_from_are_refused_where_rows_are_sorted(data):
    X, y, query = data
    for start in (np.zeros(2 * len(y)), [0.0] * (2 * len(y))):
        with pytest.raises(ValueError, match="init_score cannot be passed.*one row per row of X"):
            GroupedRanker(Sizes()).fit(X, y, groups=query, init_score=start)
    GroupedRanker(Sizes()).fit(X, y, groups=query, init_score=np.zeros((len(y), 2)))
    GroupedRanker(Sizes()).fit(X, y, groups=query, init_score=None)


def chosen(columns, **options):
    return make_pipeline(make_column_transformer(("passthrough", columns), **options), Ridge())


COUNTED = [[1, 2], [-1], slice(1, 3), slice(-2, None), np.array([False, True, True])]


@pytest.mark.parametrize("columns", COUNTED, ids=repr)
def test_columns_that_a_step_counts_are_refused_where_one_is_removed(columns, data):
    X, y, query = data
    step = chosen(columns)[0]
    for inner in (
        chosen(columns), make_pipeline(StandardScaler(), step, Ridge()),
        make_pipeline(FeatureUnion([("some", make_pipeline(step))]), Ridge()),
        GridSearchCV(chosen(columns), {"ridge__alpha": [1]}),
    ):  # fmt: skip
        with pytest.raises(
            ValueError, match="transformers=.* by number, but the column 0 is removed"
        ):
            GroupedRanker(inner, group_by=0).fit(np.c_[query, X], y)
    assert GroupedRanker(chosen(columns)).fit(X.to_numpy(), y, groups=query)


@pytest.mark.parametrize(
    "columns",
    [["a", "b"], slice("a", "b"), slice(None), make_column_selector("a"), lambda X: [0]],
)
def test_columns_that_a_step_names_keep_their_meaning(columns, data):
    X, y, query = data
    expected = chosen(columns).fit(X, y).predict(X)
    ranker = GroupedRanker(chosen(columns), group_by="q").fit(X.assign(q=query)[list("qabc")], y)
    np.testing.assert_allclose(ranker.predict(X), expected)


def test_only_a_column_transformer_has_transformers_of_columns(data):
    class Inner(Ridge):
        def __init__(self, transformers=None):
            self.transformers = transformers
            super().__init__()

    X, y, query = data
    X = X.assign(q=query)
    for transformers in (None, [StandardScaler()], [("scale", StandardScaler(), [0])]):
        assert GroupedRanker(Inner(transformers), group_by="q").fit(X, y)


def test_columns_that_the_last_step_counts(data):
    """Behind a ColumnTransformer these are its own, otherwise those of X."""
    X, y, query = data
    X = X.assign(kind=np.where(X["a"] > 0, "up", "down"))
    encode = make_column_transformer((OrdinalEncoder(), ["kind"]), remainder="passthrough")
    counting = HistGradientBoostingRegressor(max_iter=3, categorical_features=[0])
    inner = make_pipeline(encode, counting)
    ranker = GroupedRanker(inner, group_by="q").fit(X.assign(q=query)[["q", *X]], y)
    np.testing.assert_array_equal(ranker.predict(X), clone(inner).fit(X, y).predict(X))
    for inner in (counting, make_pipeline(StandardScaler(), counting)):
        with pytest.raises(
            ValueError, match=r"categorical_features=\[0\] refers to columns by number"
        ):
            GroupedRanker(inner, group_by=0).fit(np.c_[query, X[["a", "b"]]], y)


def test_groups_of_other_rows_are_refused():
    n = 200
    X, y = pd.DataFrame({"a": np.arange(n) % 7}), pd.Series(np.arange(n) % 3)
    q = pd.Series(np.arange(n) // 5)
    with pytest.raises(ValueError, match="groups has labels .*that the index of X and y lacks"):
        GroupedRanker(Ridge()).fit(X[100:], y[100:], groups=q[:100])


class TakesGroups(Recorder):
    def fit(self, X, y, groups=None):
        return self._record(X, y, groups=groups)


def test_a_parameter_groups_gets_the_ids(data):
    X, y, query = data
    text = np.char.mod("q%03d", query)
    for routed in (False, True):
        with sklearn.config_context(enable_metadata_routing=routed):
            for inner in (TakesGroups(), make_pipeline(FunctionTransformer(), TakesGroups())):
                given = GroupedRanker(inner).fit(X, y, groups=text).estimator_
                given = getattr(given, "steps", [("", given)])[-1][1].given_
                np.testing.assert_array_equal(given["groups"], text)
                pd.testing.assert_frame_equal(given["X"], X)
            drawn = GroupedRanker(TakesGroups(), max_queries=2, random_state=0)
            drawn.fit(X, y, groups=query)
            assert set(drawn.estimator_.given_["groups"]) == set(drawn.query_ids_)
    assert "groups" not in GroupedRanker(TakesGroups()).fit(X, y).estimator_.given_
    with sklearn.config_context(enable_metadata_routing=True):
        refuses = GroupedRanker(TakesGroups().set_fit_request(groups=False))
        assert "groups" not in refuses.fit(X, y, groups=query).estimator_.given_


def test_relevance_passed_as_ids(data):
    X, y, _ = data
    words = "None of the 4 queries has documents of different relevance. groups must have"
    for ranker in (GroupedRanker(Sizes()), GroupedRanker(Ridge(), max_queries=3)):
        with pytest.warns(UserWarning, match=words):
            ranker.fit(X, y, groups=y)
    GroupedRanker(Sizes()).fit(X, np.ones(len(y)), groups=y)  # says nothing about the ids


def test_what_the_last_step_refuses_is_not_passed(data, routing):
    X, y, query = data
    weight = np.random.default_rng(0).random(len(y))
    refuses = Sizes().set_fit_request(sample_weight=False, init_score=False)
    for inner in (refuses, make_pipeline(FunctionTransformer(), refuses)):
        ranker = GroupedRanker(inner).set_fit_request(sample_weight=True)
        fitted = ranker.fit(X, y, sample_weight=weight, groups=query, init_score=weight).estimator_
        given = getattr(fitted, "steps", [("", fitted)])[-1][1].given_
        assert not {"sample_weight", "init_score"} & given.keys()
        assert "group" in given


@pytest.mark.parametrize("error", ["y", "inner"])
def test_an_error_leaves_the_earlier_fit(error, thirty_queries):
    X, y, query = thirty_queries
    ranker = GroupedRanker(Ridge(), group_by=0).fit(np.c_[query, X], y)
    before = ranker.predict(np.c_[query, X]), ranker.coef_, ranker.query_ids_
    ranker.set_params(group_by=3, estimator__alpha=-1.0 if error == "inner" else 1.0)
    with pytest.raises(ValueError, match="NaN" if error == "y" else "alpha"):
        ranker.fit(np.c_[X, query][5:], np.where(error == "y", np.nan, y)[5:])
    after = ranker.predict(np.c_[query, X]), ranker.coef_, ranker.query_ids_
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_new_fit_forgets_the_earlier_one(thirty_queries):
    X, y, query = thirty_queries
    ranker = GroupedRanker(Ridge()).fit(X, y, groups=query).fit(X.to_numpy()[:, :2], y)
    assert ranker.n_features_in_ == 2
    assert not {"query_ids_", "trained_queries_", "feature_names_in_"} & vars(ranker).keys()


@pytest.mark.parametrize("make", [list, pd.Series, np.array, lambda X: np.array(X, dtype=object)])
def test_texts(make, data):
    X, y, query = data
    X = make(
        [
            f"{'good' if a > 0 else 'bad'} and {'new' if b > 0 else 'old'}"
            for a, b, _ in X.to_numpy()
        ]
    )
    inner = make_pipeline(TfidfVectorizer(), Ridge())
    expected = clone(inner).fit(X, y).predict(X)
    ranker = GroupedRanker(inner).fit(X, y, groups=query)
    np.testing.assert_array_equal(ranker.predict(X), expected)
    assert ranker.score(X, y, groups=query) == ndcg_score(y, expected, groups=query)
    drawn = GroupedRanker(inner, max_queries=5, random_state=0).fit(X, y, groups=query)
    assert drawn.predict(X).shape == y.shape


@pytest.mark.parametrize(
    "library", ["array_api_strict", pytest.param("torch", marks=pytest.mark.slow)]
)
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


@pytest.mark.parametrize("sparse_coef", [True, False])
def test_sparse_coefficients(sparse_coef, thirty_queries):
    X, y, query = thirty_queries
    table = np.c_[query, X]
    inner = SVR(kernel="linear") if sparse_coef else Ridge()
    rows = sparse.csr_array(table) if sparse_coef else table
    ranker = GroupedRanker(inner, group_by=0).fit(rows, y)
    assert sparse.issparse(ranker.estimator_.coef_) == sparse_coef
    assert ranker.coef_.shape[-1] == 4
    selector = RFE(GroupedRanker(inner), n_features_to_select=1)
    assert selector.fit(rows[:, 1:], y).support_.tolist() == [True, False, False]


# --- what a Pipeline does besides fitting its steps


def test_verbose_of_a_pipeline(data, capsys):
    X, y, query = data
    for inner in (Ridge(), Sizes()):
        pipeline = make_pipeline(StandardScaler(), inner, verbose=True)
        GroupedRanker(pipeline).fit(X, y, groups=query)
        assert capsys.readouterr().out.count("[Pipeline]") == 2


def test_what_a_pipeline_transforms_besides_x(data, routing):
    X, y, query = data
    rng = np.random.default_rng(0)
    held = {"X_val": rng.normal(size=(40, 3)) + 5, "y_val": rng.integers(0, 3, 40)}
    boosting = HistGradientBoostingRegressor(early_stopping=True, min_samples_leaf=5)
    if "X_val" not in signature(boosting.fit).parameters:
        pytest.skip("scikit-learn is too old")
    boosting.set_fit_request(X_val=True, y_val="truth")
    pipeline = make_pipeline(StandardScaler(), boosting, transform_input=["X_val"])
    given = {"X_val": held["X_val"], "truth": held["y_val"]}
    X = X.to_numpy()
    expected = clone(pipeline).fit(X, y, **given)
    ranker = GroupedRanker(pipeline).fit(X, y, groups=query, **given)
    assert ranker.estimator_[-1].n_iter_ == expected[-1].n_iter_
    np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))
    for refused in (
        ranker.set_params(estimator__transform_input=None),
        GroupedRanker(pipeline, early_stopping=True, scoring=make_ndcg_scorer()),
    ):
        with pytest.raises(ValueError, match="X_val, y_val cannot be passed"):
            refused.fit(X, y, groups=query, **given)
    with pytest.raises(
        ValueError, match="X_val, y_val cannot be passed.*removal of a group column"
    ):
        GroupedRanker(pipeline, group_by=0).fit(np.c_[query, X], y, **given)


def test_callbacks_of_a_pipeline(data):
    if not hasattr(Pipeline, "set_callbacks"):
        pytest.skip("scikit-learn is too old")
    X, y, query = data
    seen = []

    class Callback:
        def setup(self, estimator, context):
            seen.append("setup")

        def on_fit_task_begin(self, estimator, context, **given):
            seen.append(type(estimator).__name__)

        def on_fit_task_end(self, estimator, context, **given):
            pass

        def teardown(self, estimator, context):
            seen.append("teardown")

    for inner in (Ridge(), Sizes()):
        pipeline = make_pipeline(StandardScaler(), inner)
        pipeline.set_callbacks(Callback()).fit(X, y)
        expected, seen[:] = seen[:], []
        GroupedRanker(pipeline).fit(X, y, groups=query)
        assert seen == expected
        assert expected.count("teardown") == 1
        seen.clear()


# --- training on some of the queries


@pytest.mark.parametrize("max_queries", [1, 7, 29])
def test_max_queries_trains_on_whole_queries(max_queries, thirty_queries):
    X, y, query = thirty_queries
    ranker = GroupedRanker(Ridge(), max_queries=max_queries, random_state=0)
    ids = ranker.fit(X, y, groups=query).query_ids_
    assert len(ids) == max_queries
    rows = np.isin(query, ids)
    expected = Ridge().fit(X[rows], y[rows])
    np.testing.assert_allclose(ranker.predict(X), expected.predict(X), rtol=1e-9)
    fewer = GroupedRanker(Ridge(), max_queries=max(1, max_queries - 1), random_state=0)
    assert set(fewer.fit(X, y, groups=query).query_ids_) <= set(ids)


def test_max_queries_beyond_the_queries_is_all_of_them(thirty_queries):
    X, y, query = thirty_queries
    all_of_them = GroupedRanker(Ridge(), max_queries=1000, random_state=0).fit(X, y, groups=query)
    np.testing.assert_array_equal(
        all_of_them.predict(X), GroupedRanker(Ridge()).fit(X, y, groups=query).predict(X)
    )


def test_halving_and_validation_curves_grow_by_whole_queries(thirty_queries):
    X, y, query = thirty_queries
    X = X.set_index(pd.Index(query, name="q"))
    ranker = GroupedRanker(Ridge(), group_by="q", random_state=0)
    options = {"scoring": make_ndcg_scorer(group_by="q", **NO_WARNING), "error_score": "raise"}
    search = HalvingGridSearchCV(
        ranker, {"estimator__alpha": [1, 10, 100]}, resource="max_queries", min_resources=5,
        max_resources=15, cv=QuerySplitter(3, group_by="q"), **options,
    ).fit(X, y)  # fmt: skip
    assert search.n_resources_ == [5, 15]
    assert len(search.best_estimator_.query_ids_) == 15
    train, test = validation_curve(
        ranker, X, y, param_name="max_queries", param_range=[5, 10], **options,
        cv=QuerySplitter(3, group_by="q"),
    )  # fmt: skip
    assert train.shape == test.shape == (2, 3)


@pytest.mark.parametrize(
    ("validation", "order_by"), [("last", None), ("last", "minus"), ("random", None)]
)
def test_what_is_held_out(validation, order_by, thirty_queries, monkeypatch):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, query = thirty_queries
    seen = {}
    fit = lightgbm.LGBMRanker.fit

    def recording(self, X, y, **params):
        assert list(X) == [name for name in table if name != order_by]
        seen.update(train=set(X["q"]), held_out=set(next(iter(params["eval_X"]))["q"]))
        return fit(self, X, y, **params)

    recording.__signature__ = signature(fit)
    monkeypatch.setattr(lightgbm.LGBMRanker, "fit", recording)
    table = X.assign(q=query, minus=-query + np.random.default_rng(0).random(len(y)))
    GroupedRanker(
        lightgbm.LGBMRanker(n_estimators=3, verbose=-1), early_stopping=True, random_state=0,
        validation=validation, validation_fraction=0.2, order_by=order_by,
    ).fit(table, y, groups=query)  # fmt: skip
    assert len(seen["held_out"]) == 6
    assert seen["train"] | seen["held_out"] == set(range(30))
    ids = {name: np.array([*each]) * (-1 if order_by else 1) for name, each in seen.items()}
    assert (ids["train"].max() < ids["held_out"].min()) == (validation == "last")


def test_columns_to_order_by_are_not_features(thirty_queries):
    X, y, query = thirty_queries
    table = X.assign(q=query, when=pd.Timestamp(0) + pd.to_timedelta(query, "D"))
    plain = GroupedRanker(Ridge(), group_by="q").fit(table.drop(columns="when"), y)
    for order_by in ("when", "q", lambda X: X["q"]):
        without = table if order_by == "when" else table.drop(columns="when")
        ranker = GroupedRanker(Ridge(), group_by="q", order_by=order_by).fit(without, y)
        for each in (without, X):
            np.testing.assert_allclose(ranker.predict(each), plain.predict(X), rtol=1e-12)
        expected = np.append(plain.estimator_.coef_, np.zeros(without.shape[1] - X.shape[1]))
        np.testing.assert_array_equal(ranker.coef_, expected)
        assert ranker.score(without, y) == plain.score(table.drop(columns="when"), y)
    by_place = GroupedRanker(Ridge(), group_by=-1, order_by=0)
    by_place.fit(np.c_[-query, X, query], y)
    np.testing.assert_allclose(by_place.coef_, [0, *plain.estimator_.coef_, 0])
    with pytest.raises(ValueError, match="name all columns.*: no feature is left"):
        GroupedRanker(Ridge(), group_by="q", order_by="when").fit(table[["q", "when"]], y)
    with pytest.raises(ValueError, match="order_by='day' names none of the columns"):
        GroupedRanker(Ridge(), order_by="day").fit(table, y)
    with pytest.raises(ValueError, match="X and order_by have the same labels"):
        GroupedRanker(Ridge(), order_by=lambda X: X["when"][::-1]).fit(table, y)


def test_the_last_queries_are_not_those_of_the_last_text(thirty_queries):
    X, y, query = thirty_queries
    stopping = GroupedRanker(
        pytest.importorskip("lightgbm").LGBMRanker(n_estimators=3, verbose=-1), group_by="q",
        early_stopping=True, validation="last", random_state=0,
    )  # fmt: skip
    table = X.assign(q=np.char.add("q", query.astype(str)), when=query)
    with pytest.warns(
        UserWarning, match=r"^validation='last' needs .* may not sort by time \('q0'.*order_by="
    ):
        clone(stopping).fit(table, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(stopping).set_params(validation="random").fit(table, y)
        clone(stopping).set_params(early_stopping=False).fit(table, y)
        clone(stopping).set_params(order_by="when").fit(table, y)
        clone(stopping).fit(table.assign(q=query), y)


@pytest.mark.parametrize(
    ("name", "value"), [("max_queries", 0), ("max_queries", 2.5), ("validation", "first")]
)
def test_bad_parameters_of_what_is_trained_on(name, value, thirty_queries):
    X, y, query = thirty_queries
    with pytest.raises(ValueError, match=f"{name} must be"):
        GroupedRanker(Ridge(), **{name: value}).fit(X, y, groups=query)


def test_no_cutoff_by_default(thirty_queries):
    X, y, query = thirty_queries
    ranker = GroupedRanker(Ridge()).fit(X, y, groups=query)
    assert ranker.k is None
    expected = ndcg_score(y, ranker.predict(X), groups=query, **NO_WARNING)
    assert ranker.score(X, y, groups=query) == expected


# --- ids that are not query ids


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (lambda query: np.arange(len(query)), "Each of the {n} queries has a single document"),
        (lambda query: np.where(query < 25, 1000 + np.arange(len(query)), query),
         r"{single} of the {queries} queries \({share}%\) have a single document"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("inner", [Sizes(), make_pipeline(FunctionTransformer(), Qid())])
def test_queries_of_one_document_are_not_trained_on_silently(ids, words, inner, thirty_queries):
    X, y, query = thirty_queries
    ids = ids(query)
    single = np.count_nonzero(np.unique(ids, return_counts=True)[1] == 1)
    queries = len(np.unique(ids))
    words = words.format(n=len(y), single=single, queries=queries, share=100 * single // queries)
    with pytest.warns(UserWarning, match=words):
        GroupedRanker(inner).fit(X, y, groups=ids)
    with pytest.warns(UserWarning, match=words):
        GroupedRanker(Ridge(), max_queries=5).fit(X, y, groups=ids)
    GroupedRanker(Ridge()).fit(X, y, groups=ids)  # training rows do not depend on the ids


def test_a_few_queries_of_one_document_are_ordinary(thirty_queries):
    X, y, query = thirty_queries
    ids = np.concatenate([[1000, 1001, 1002], query[3:]])
    GroupedRanker(Sizes()).fit(X, y, groups=ids)


def test_a_column_number_behind_steps_that_make_other_columns(thirty_queries):
    X, y, query = thirty_queries
    with pytest.raises(ValueError, match="group_by=0 finds numbers with fractions.*index level"):
        make_pipeline(PCA(3), GroupedRanker(Sizes(), group_by=0)).fit(np.c_[query, X], y)


def encoded(encoder, X, query):
    """A Pipeline that encodes the column of ids, and the rows with them as text."""
    steps = make_column_transformer(
        (encoder, ["q"]), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    return make_pipeline(steps, GroupedRanker(Ridge(), group_by="q")), X.assign(
        q=np.char.mod("q%03d", query)
    )


def test_encoders_in_front_of_the_ids(thirty_queries):
    X, y, query = thirty_queries
    train = query < 15
    pipeline, rows = encoded(TargetEncoder(target_type="continuous"), X, query)
    with pytest.raises(ValueError, match="group_by='q' finds numbers with fractions"):
        pipeline.fit(rows[train], y[train])

    unknown = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    pipeline, rows = encoded(unknown, X, query)
    pipeline.fit(rows[train], y[train])
    n, longest = np.count_nonzero(~train), np.bincount(query[train]).max()
    words = f"{n} of the {n} scored rows have the id -1.0, .* training queries has {longest} rows:"
    with pytest.warns(UserWarning, match=words):
        pipeline.score(rows[~train], y[~train])
    with pytest.warns(UserWarning, match=words):
        make_ndcg_scorer()(pipeline[-1], X[~train], y[~train], groups=np.full(n, -1.0))


def test_long_queries_are_ordinary(thirty_queries):
    """Training on sampled documents, scoring whole catalogues, and a fold of one query."""
    X, y, query = thirty_queries
    y = y + 1
    ranker = GroupedRanker(Ridge()).fit(X[query >= 2], y[query >= 2], groups=query[query >= 2])
    n_long = 40 * np.bincount(query).max()
    rows = np.random.default_rng(0).integers(0, len(y), (3, n_long))
    ranker.score(X.iloc[rows.ravel()], y[rows.ravel()], groups=np.repeat([-1, -2, -3], n_long))
    ranker.score(X[query == 0], y[query == 0], groups=query[query == 0])
    few = query >= 25  # too few to say how long queries are
    ranker = GroupedRanker(Ridge()).fit(X[few], y[few], groups=query[few])
    ranker.score(X.iloc[rows[0]], y[rows[0]], groups=np.full(n_long, -1))


# --- serving


def with_and_without_ids(X, query):
    named = X.assign(q=query)
    yield named, X, "q"
    yield (pl.DataFrame({name: named[name].to_numpy() for name in named}),
           pl.DataFrame({name: X[name].to_numpy() for name in X}), "q")  # fmt: skip
    yield (pa.table({name: named[name].to_numpy() for name in named}),
           pa.table({name: X[name].to_numpy() for name in X}), "q")  # fmt: skip
    yield np.c_[X, query], X.to_numpy(), 3
    yield np.c_[query, X], X.to_numpy(), 0
    yield np.c_[X, query], X.to_numpy(), -1
    yield named.assign(r=1), X, ["r", "q"]


@pytest.mark.filterwarnings("ignore:.*L-BFGS-B solver:DeprecationWarning")  # scikit-learn 1.6
@pytest.mark.filterwarnings("ignore:X has feature names")  # scikit-learn before 1.9, of Polars 2
@pytest.mark.parametrize("index", range(7))
def test_predict_takes_tables_with_or_without_the_group_column(index, thirty_queries):
    X, y, query = thirty_queries
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
def test_importances_and_coefficients_are_aligned_with_the_columns(index, thirty_queries):
    X, y, query = thirty_queries
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
    assert not hasattr(GroupedRanker(Ridge()).fit(X, y), "feature_importances_")
    scaled = GroupedRanker(make_pipeline(StandardScaler(), Ridge())).fit(X, y)
    assert not hasattr(scaled, "coef_")


def test_importances_of_catboost(thirty_queries):
    catboost = pytest.importorskip("catboost")
    X, y, query = thirty_queries
    inner = catboost.CatBoostRanker(iterations=3, verbose=0, allow_writing_files=False)
    ranker = GroupedRanker(inner, group_by="q").fit(X.assign(q=query), y)
    found = ranker.feature_importances_
    assert found.shape == (4,)
    assert found[-1] == 0
    assert found.sum() == pytest.approx(100)


def test_features_are_eliminated_without_an_importance_getter(thirty_queries):
    X, y, query = thirty_queries
    with sklearn.config_context(enable_metadata_routing=True):
        selector = RFECV(
            GroupedRanker(Ridge()), scoring=make_ndcg_scorer(**NO_WARNING), cv=QuerySplitter(3)
        ).fit(X, y, groups=query)
    assert selector.support_[0]


def test_partial_dependence_takes_a_ranker_of_lightgbm(thirty_queries):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, query = thirty_queries
    ranker = GroupedRanker(lightgbm.LGBMRanker(n_estimators=3, verbose=-1))
    ranker.fit(X, y, groups=query)
    assert partial_dependence(ranker, X, ["a"])["average"].shape[1] > 1


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_without_names_no_column_may_be_missing(thirty_queries):
    """The ids would be taken for a feature if another column is missing."""
    X, y, query = thirty_queries
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


NUMBERS = {"a": 0, "b": 1, "c": 2, "q": 3}
FRAMES = {
    "pandas": lambda frame: frame,
    "pandas, numbers": lambda frame: frame.rename(columns=NUMBERS),
    "polars": lambda frame: pl.DataFrame(frame.to_dict("list")),
    "pyarrow": lambda frame: pa.table(frame.to_dict("list")),
}


NAMED = make_pipeline(
    make_column_transformer((StandardScaler(), ["a", "b"]), ("drop", ["c"])), Ridge()
)


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("order", ["bac", "qabc", "acbq", "cxbzaq"])
def test_columns_are_taken_by_name_if_ids_are(name, order, thirty_queries):
    X, y, query = thirty_queries
    table, number = X.assign(q=query), NUMBERS if "numbers" in name else {}
    ranker = GroupedRanker(Ridge(), group_by=number.get("q", "q")).fit(FRAMES[name](table), y)
    expected = ranker.predict(FRAMES[name](table))
    others = FRAMES[name](table.assign(x=1.0, z="text")[list(order)])
    np.testing.assert_array_equal(ranker.predict(others), expected)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_without_columns_of_ids_columns_are_those_that_the_estimator_takes(name, thirty_queries):
    X, y, _ = thirty_queries
    frame = FRAMES[name]
    strict, named = (GroupedRanker(inner).fit(frame(X), y) for inner in (Ridge(), NAMED))
    scaled = GroupedRanker(make_pipeline(StandardScaler(), Ridge())).fit(frame(X), y)
    for rows in (X[list("bca")], X.assign(z="text")):
        expected = named.estimator_.predict(X)
        np.testing.assert_allclose(named.predict(frame(rows)), expected)
        for ranker in (strict, scaled):
            with pytest.raises(ValueError, match="(in the same order|unseen at fit time:\n- z)"):
                ranker.predict(frame(rows))


@pytest.mark.parametrize("group_by", [None, ["session", "day"]])
def test_an_error_names_only_the_columns_that_are_needed(group_by, thirty_queries):
    X, y, query = thirty_queries
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


def test_a_feature_has_to_be_left(thirty_queries):
    _, y, query = thirty_queries
    with pytest.raises(ValueError, match="name all columns.*: no feature is left"):
        GroupedRanker(Ridge(), group_by=["q"]).fit(pd.DataFrame({"q": query}), y)


# --- compound ids


def compound(u, d):
    yield [u, d]
    yield (u, d)
    yield [u.tolist(), d.tolist()]
    yield [pd.Series(u), pd.Series(d)]
    yield pd.DataFrame({"u": u, "d": d})
    yield pl.DataFrame({"u": u, "d": d})
    yield pa.table({"u": u, "d": d})
    yield np.c_[u, d]
    yield pd.MultiIndex.from_arrays([u, d])
    yield list(zip(u.tolist(), d.tolist(), strict=True))


@pytest.mark.parametrize("index", range(10))
def test_each_distinct_row_of_several_columns_is_a_query(index, thirty_queries):
    X, y, query = thirty_queries
    u, d = query // 5, query % 5
    groups = list(compound(u, d))[index]
    single = 100 * u + d  # sorts as the pairs do
    expected = ndcg_score(y, X["a"], groups=single, **NO_WARNING)
    assert ndcg_score(y, X["a"], groups=groups, **NO_WARNING) == expected
    np.testing.assert_array_equal(
        quantile_grades(X["a"], groups=groups), quantile_grades(X["a"], groups=single)
    )
    ranker = GroupedRanker(Ridge()).fit(X, y, groups=groups)
    np.testing.assert_array_equal(
        ranker.predict(X), GroupedRanker(Ridge()).fit(X, y, groups=single).predict(X)
    )
    assert ranker.query_ids_.tolist() == sorted(set(zip(u.tolist(), d.tolist(), strict=True)))
    for one, other in zip(
        QuerySplitter(3).split(X, y, groups), QuerySplitter(3).split(X, y, single), strict=True
    ):
        np.testing.assert_array_equal(one[1], other[1])


def test_several_columns_or_levels_of_a_table(thirty_queries):
    X, y, query = thirty_queries
    single = cross_validate(
        GroupedRanker(Ridge(), group_by="q"), X.assign(q=query), y,
        scoring=make_ndcg_scorer(group_by="q", **NO_WARNING), cv=QuerySplitter(3, group_by="q"),
    )["test_score"]  # fmt: skip
    X = X.assign(u=query // 5).set_index(pd.Index(query % 5, name="d"))
    both = ["u", "d"]
    several = cross_validate(
        GroupedRanker(Ridge(), group_by=both), X, y,
        scoring=make_ndcg_scorer(group_by=both, **NO_WARNING),
        cv=QuerySplitter(3, group_by=both), error_score="raise",
    )["test_score"]  # fmt: skip
    np.testing.assert_allclose(several, single, rtol=1e-12)


def test_missing_parts_of_compound_ids_are_refused():
    with pytest.raises(ValueError, match="groups has 1 missing id, at"):
        ndcg_score([1, 0], [1, 2], groups=[np.array([1.0, np.nan]), np.array([1, 1])])
    with pytest.raises(ValueError, match="group_by must name columns"):
        make_ndcg_scorer(group_by=[])(Ridge(), pd.DataFrame({"a": [1]}), [1])


def test_one_column_of_ids_is_no_tuple(thirty_queries):
    X, y, query = thirty_queries
    expected = GroupedRanker(Ridge(), group_by="q").fit(X.assign(q=query), y).query_ids_
    found = GroupedRanker(Ridge(), group_by=["q"]).fit(X.assign(q=query), y).query_ids_
    np.testing.assert_array_equal(found, expected)
    table = GroupedRanker(Ridge()).fit(X, y, groups=pa.table({"q": query})).query_ids_
    np.testing.assert_array_equal(table, expected)


def test_columns_of_one_name_and_dates_in_compound_ids(thirty_queries):
    X, y, query = thirty_queries
    twice = pd.DataFrame(np.c_[query // 5, query % 5], columns=["q", "q"])
    assert ndcg_score(y, X["a"], groups=twice, **NO_WARNING) == (
        ndcg_score(y, X["a"], groups=query, **NO_WARNING)
    )
    days = np.datetime64("2012-03-01", "ns") + np.timedelta64(1, "D") * (query % 5)
    ranker = GroupedRanker(Ridge()).fit(X[:60], y[:60], groups=[query[:60] // 5, days[:60]])
    warnings.filterwarnings("ignore", "NDCG is undefined")
    with pytest.warns(QueryLeakWarning, match=r"\(\(0, 2012-03-0\d\), "):
        ranker.score(X[60:], y[60:], groups=[query[60:] // 5, days[60:]])


@pytest.mark.parametrize("missing", [["query"], ["when"], ["query", "when"], []])
def test_a_table_may_lack_ids_or_their_order(missing, thirty_queries):
    X, y, query = thirty_queries
    X = pd.DataFrame(X).rename(columns=str).assign(query=query, when=query[::-1])
    ranker = GroupedRanker(Ridge(), group_by="query", order_by="when").fit(X, y)
    found = ranker.predict(X.drop(columns=missing))
    assert found.tolist() == ranker.predict(X).tolist()
