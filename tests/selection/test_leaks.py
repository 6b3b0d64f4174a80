"""What a fitted GroupedRanker knows of its queries: leaks, subsets, what is held out, serving."""

import warnings
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.ensemble import RandomForestRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    cross_validate,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ndcg import (
    GroupedRanker,
    QueryLeakWarning,
    QuerySplitter,
    make_ndcg_scorer,
    ndcg_score,
    one_ranking,
    quantile_grades,
)

NO_WARNING = {"replace_undefined_by": 0.0}


@pytest.fixture(name="data")
def _data():
    rng = np.random.default_rng(0)
    query = rng.permutation(np.repeat(np.arange(30), rng.integers(3, 9, size=30)))
    X = pd.DataFrame(rng.normal(size=(len(query), 3)), columns=list("abc"))
    y = np.clip(np.round(X["a"] + rng.normal(size=len(query)) + 1), 0, 3).to_numpy(int)
    return X, y, query


def ways(X, query):
    yield GroupedRanker(Ridge(), group_by="q"), X.assign(q=query), "q", {}
    yield GroupedRanker(Ridge(), group_by="q"), X.set_index(pd.Index(query, name="q")), "q", {}
    yield GroupedRanker(Ridge(), group_by=["q", "r"]), X.assign(q=query, r="x"), ["q", "r"], {}
    routed = make_pipeline(StandardScaler(), GroupedRanker(Ridge()))
    yield routed, X, None, {"groups": query}
    yield GroupedRanker(make_pipeline(StandardScaler(), Ridge())), X, None, {"groups": query}


@pytest.mark.parametrize("way", range(5))
@pytest.mark.parametrize("train_score", [False, True])
def test_a_search_over_split_queries_warns_and_one_over_whole_queries_does_not(
    way, train_score, data
):
    X, y, query = data
    ranker, X, group_by, metadata = list(ways(X, query))[way]
    with sklearn.config_context(enable_metadata_routing=bool(metadata)):
        search = GridSearchCV(
            ranker, {}, scoring=make_ndcg_scorer(group_by=group_by, **NO_WARNING), refit=False,
            cv=KFold(3, shuffle=True, random_state=0), error_score="raise",
            return_train_score=train_score,
        )  # fmt: skip
        with pytest.warns(QueryLeakWarning, match=r"of the \d+ queries.*QuerySplitter") as caught:
            search.fit(X, y, **metadata)
        assert len(caught) == 3  # one per fold, none for its training rows
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            search.set_params(cv=list(GroupKFold(3).split(X, y, query)))
            search.fit(X, y, **metadata)


def test_scoring_the_training_rows_or_other_queries_is_no_leak(data):
    X, y, query = data
    known = query < 20
    ranker = GroupedRanker(Ridge()).fit(X[known], y[known], groups=query[known])
    assert ranker.query_ids_.tolist() == list(range(20))
    order = np.random.default_rng(1).permutation(known.sum())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "NDCG is undefined")
        ranker.score(X[known], y[known], groups=query[known])
        ranker.score(X[known].iloc[order], y[known][order], groups=query[known][order])
        ranker.score(X, y, groups=query)  # the training rows beside other queries
        ranker.score(X[query < 5], y[query < 5], groups=query[query < 5])  # some of them, whole
    half = known & (np.arange(len(y)) % 2 == 0)
    warnings.filterwarnings("ignore", "NDCG is undefined")
    with pytest.warns(QueryLeakWarning, match=r"queries.*trained on with other rows \(\d+, "):
        ranker.score(X[half], y[half], groups=query[half])


def test_one_ranking_and_ids_of_another_type_are_no_leak(data):
    X, y, query = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ranker, groups in (
            (GroupedRanker(Ridge(), group_by=one_ranking).fit(X[:50], y[:50]), None),
            (GroupedRanker(Ridge()).fit(X[:50], y[:50], groups=query[:50]), query[50:].astype(str)),
        ):
            warnings.filterwarnings("ignore", "NDCG is undefined")
            ranker.score(X[50:], y[50:], groups=groups)


@pytest.mark.parametrize("labels", ["text", "dates", "floats"])
def test_ids_of_any_type_are_known_again(labels, data):
    X, y, query = data
    ids = {"text": query.astype(str).astype(object), "floats": query / 2,
           "dates": np.datetime64("2012-03-01") + query}[labels]  # fmt: skip
    ranker = GroupedRanker(Ridge()).fit(X[:60], y[:60], groups=ids[:60])
    with pytest.warns(QueryLeakWarning):
        make_ndcg_scorer(**NO_WARNING)(ranker, X[60:], y[60:], groups=ids[60:])


def test_a_new_fit_forgets_the_queries_of_the_last(data):
    X, y, query = data
    ranker = GroupedRanker(Ridge()).fit(X[:60], y[:60], groups=query[:60])
    ranker.fit(X, y)
    assert not hasattr(ranker, "query_ids_")


# --- training on some of the queries


@pytest.mark.parametrize("max_queries", [1, 7, 29])
def test_max_queries_trains_on_whole_queries(max_queries, data):
    X, y, query = data
    ranker = GroupedRanker(Ridge(), max_queries=max_queries, random_state=0)
    ids = ranker.fit(X, y, groups=query).query_ids_
    assert len(ids) == max_queries
    rows = np.isin(query, ids)
    expected = Ridge().fit(X[rows], y[rows])
    np.testing.assert_allclose(ranker.predict(X), expected.predict(X), rtol=1e-9)
    fewer = GroupedRanker(Ridge(), max_queries=max(1, max_queries - 1), random_state=0)
    assert set(fewer.fit(X, y, groups=query).query_ids_) <= set(ids)


def test_max_queries_beyond_the_queries_is_all_of_them(data):
    X, y, query = data
    all_of_them = GroupedRanker(Ridge(), max_queries=1000, random_state=0).fit(X, y, groups=query)
    np.testing.assert_array_equal(
        all_of_them.predict(X), GroupedRanker(Ridge()).fit(X, y, groups=query).predict(X)
    )


def test_halving_and_validation_curves_grow_by_whole_queries(data):
    X, y, query = data
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


@pytest.mark.parametrize("validation", ["last", "random"])
def test_what_is_held_out(validation, data, monkeypatch):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, query = data
    seen = {}
    fit = lightgbm.LGBMRanker.fit

    def recording(self, X, y, **params):
        seen.update(train=set(X["q"]), held_out=set(next(iter(params["eval_X"]))["q"]))
        return fit(self, X, y, **params)

    recording.__signature__ = signature(fit)
    monkeypatch.setattr(lightgbm.LGBMRanker, "fit", recording)
    GroupedRanker(
        lightgbm.LGBMRanker(n_estimators=3, verbose=-1), early_stopping=True, random_state=0,
        validation=validation, validation_fraction=0.2,
    ).fit(X.assign(q=query), y, groups=query)  # fmt: skip
    assert len(seen["held_out"]) == 6
    assert seen["train"] | seen["held_out"] == set(range(30))
    assert (max(seen["train"]) < min(seen["held_out"])) == (validation == "last")


@pytest.mark.parametrize(
    ("name", "value"), [("max_queries", 0), ("max_queries", 2.5), ("validation", "first")]
)
def test_bad_parameters(name, value, data):
    X, y, query = data
    with pytest.raises(ValueError, match=f"{name} must be"):
        GroupedRanker(Ridge(), **{name: value}).fit(X, y, groups=query)


def test_no_cutoff_by_default(data):
    X, y, query = data
    ranker = GroupedRanker(Ridge()).fit(X, y, groups=query)
    assert ranker.k is None
    expected = ndcg_score(y, ranker.predict(X), groups=query, **NO_WARNING)
    assert ranker.score(X, y, groups=query) == expected


# --- serving


def tables(X, query):
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
def test_predict_takes_tables_with_or_without_the_group_column(index, data):
    X, y, query = data
    with_ids, without, group_by = list(tables(X, query))[index]
    ranker = GroupedRanker(LogisticRegression(), group_by=group_by).fit(with_ids, y)
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(
            getattr(ranker, method)(with_ids), getattr(ranker, method)(without)
        )
    with pytest.raises(ValueError, match="features|feature names"):
        ranker.predict(X[["a"]] if hasattr(without, "columns") else X.to_numpy()[:, :1])


@pytest.mark.filterwarnings("ignore:.*L-BFGS-B solver:DeprecationWarning")  # scikit-learn 1.6
@pytest.mark.parametrize("index", range(7))
def test_importances_and_coefficients_are_aligned_with_the_columns(index, data):
    X, y, query = data
    with_ids, _, group_by = list(tables(X, query))[index]
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


def test_features_are_eliminated_without_an_importance_getter(data):
    X, y, query = data
    with sklearn.config_context(enable_metadata_routing=True):
        selector = RFECV(
            GroupedRanker(Ridge()), scoring=make_ndcg_scorer(**NO_WARNING), cv=QuerySplitter(3)
        ).fit(X, y, groups=query)
    assert selector.support_[0]


def test_partial_dependence_takes_a_ranker_of_lightgbm(data):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, query = data
    ranker = GroupedRanker(lightgbm.LGBMRanker(n_estimators=3, verbose=-1))
    ranker.fit(X, y, groups=query)
    assert partial_dependence(ranker, X, ["a"])["average"].shape[1] > 1


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
def test_each_distinct_row_of_several_columns_is_a_query(index, data):
    X, y, query = data
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


def test_several_columns_or_levels_of_a_table(data):
    X, y, query = data
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
    with pytest.raises(ValueError, match="groups must not be missing, found 1 missing id"):
        ndcg_score([1, 0], [1, 2], groups=[np.array([1.0, np.nan]), np.array([1, 1])])
    with pytest.raises(ValueError, match="group_by must name columns"):
        make_ndcg_scorer(group_by=[])(Ridge(), pd.DataFrame({"a": [1]}), [1])


def test_a_feature_has_to_be_left(data):
    _, y, query = data
    with pytest.raises(ValueError, match="names all columns of X: no feature is left"):
        GroupedRanker(Ridge(), group_by=["q"]).fit(pd.DataFrame({"q": query}), y)


@pytest.mark.parametrize(("trained", "scored"), [("user", "session"), ("session", "user")])
def test_a_ranker_trained_by_user_and_scored_by_session_is_no_leak(data, trained, scored):
    X, y, query = data
    X = X.assign(user=query, session=np.arange(len(y)) // 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_validate(
            GroupedRanker(Ridge(), group_by=trained), X, y, cv=QuerySplitter(3, group_by=trained),
            scoring=make_ndcg_scorer(group_by=scored, **NO_WARNING), error_score="raise",
        )  # fmt: skip


def test_importances_of_catboost(data):
    catboost = pytest.importorskip("catboost")
    X, y, query = data
    inner = catboost.CatBoostRanker(iterations=3, verbose=0, allow_writing_files=False)
    ranker = GroupedRanker(inner, group_by="q").fit(X.assign(q=query), y)
    found = ranker.feature_importances_
    assert found.shape == (4,)
    assert found[-1] == 0
    assert found.sum() == pytest.approx(100)


def test_rows_without_the_group_column_in_other_containers(data):
    X, y, query = data
    ranker = GroupedRanker(Ridge(), group_by=0).fit(np.c_[query, X], y)
    expected = ranker.predict(X.to_numpy())
    np.testing.assert_allclose(ranker.predict(X.to_numpy().tolist()), expected, rtol=1e-12)
    with pytest.warns(UserWarning, match="X has feature names"):
        np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-12)


def test_one_column_of_ids_is_no_tuple(data):
    X, y, query = data
    expected = GroupedRanker(Ridge(), group_by="q").fit(X.assign(q=query), y).query_ids_
    found = GroupedRanker(Ridge(), group_by=["q"]).fit(X.assign(q=query), y).query_ids_
    np.testing.assert_array_equal(found, expected)
    table = GroupedRanker(Ridge()).fit(X, y, groups=pa.table({"q": query})).query_ids_
    np.testing.assert_array_equal(table, expected)


def test_columns_of_one_name_and_dates_in_compound_ids(data):
    X, y, query = data
    twice = pd.DataFrame(np.c_[query // 5, query % 5], columns=["q", "q"])
    assert ndcg_score(y, X["a"], groups=twice, **NO_WARNING) == (
        ndcg_score(y, X["a"], groups=query, **NO_WARNING)
    )
    days = np.datetime64("2012-03-01", "ns") + np.timedelta64(1, "D") * (query % 5)
    ranker = GroupedRanker(Ridge()).fit(X[:60], y[:60], groups=[query[:60] // 5, days[:60]])
    warnings.filterwarnings("ignore", "NDCG is undefined")
    with pytest.warns(QueryLeakWarning, match=r"\(\(0, 2012-03-0\d\), "):
        ranker.score(X[60:], y[60:], groups=[query[60:] // 5, days[60:]])


def test_other_rows_whose_labels_add_up_to_1_more_are_a_leak():
    X, query = np.arange(24.0)[:, None], np.repeat(np.arange(6), 4)
    y = np.tile([0, 1, 2, 0], 6)
    ranker = GroupedRanker(Ridge()).fit(X, y, groups=query)
    others = y.copy()
    others[3] = 1  # as many rows of query 0, but not those
    with pytest.warns(QueryLeakWarning, match=r"1 of the 6 queries.*\(0\)"):
        ranker.score(X, others, groups=query)


def test_rows_without_names_and_without_the_group_column(data):
    X, y, query = data
    ranker = GroupedRanker(Ridge(), group_by="q").fit(X.assign(q=query), y)
    expected = ranker.predict(X)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_allclose(ranker.predict(X.to_numpy()), expected, rtol=1e-12)
