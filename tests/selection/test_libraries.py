"""GroupedRanker around the installed LightGBM, XGBoost and CatBoost."""

import functools

import numpy as np
import polars as pl
import pytest
import sklearn
from helpers import booster, fit_alone, graded_rows, sorted_by_hand
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer, ndcg_score, quantile_grades

X, Y, QUERY = graded_rows(40, (1, 14), n_columns=4, n_grades=5, all_relevant=False)
K = 5
LIBRARIES = ["lightgbm", "xgboost", "catboost"]
every_library = pytest.mark.parametrize("library", LIBRARIES)


TEXT = np.char.mod("q%02d", np.arange(40))
WAYS = {  # X, what fit is given, group_by of ranker and scorer
    "routed integers": lambda X, query: (X, query, None),
    "routed strings": lambda X, query: (X, TEXT[query].tolist(), None),
    "column": lambda X, query: (X.assign(q=query), query, "q"),
    "index level": lambda X, query: (X.assign(q=TEXT[query]).set_index("q"), TEXT[query], "q"),
    "polars": lambda X, query: (pl.DataFrame(X.assign(q=query).to_dict("list")), query, "q"),
}
# every way and every library each day, all of both in CI
SOME = [("lightgbm", way) for way in WAYS] + [("xgboost", "routed strings"), ("catboost", "column")]


@pytest.mark.parametrize(
    ("library", "way"),
    [
        pytest.param(library, way, marks=() if (library, way) in SOME else pytest.mark.ci)
        for library in LIBRARIES
        for way in WAYS
    ],
)
def test_a_search_gives_the_numbers_computed_by_hand(library, way):
    table, groups, group_by = WAYS[way](X, QUERY)
    options, depths = {"k": K, "undefined": 0}, [2, 4]
    name = "depth" if library == "catboost" else "max_depth"
    with sklearn.config_context(enable_metadata_routing=group_by is None):
        search = GridSearchCV(
            GroupedRanker(booster(library), group_by=group_by), {f"estimator__{name}": depths},
            scoring=make_ndcg_scorer(group_by=group_by, **options), cv=GroupKFold(3),
            error_score="raise",
        ).fit(table, Y, groups=groups)  # fmt: skip
    for candidate, depth in enumerate(depths):
        for fold, (train, test) in enumerate(GroupKFold(3).split(X, Y, np.asarray(groups))):
            bare = booster(library, **{name: depth})
            s = fit_alone(bare, X.iloc[train], Y[train], QUERY[train]).predict(X.iloc[test])
            expected = ndcg_score(Y[test], s, groups=QUERY[test], **options)
            got = search.cv_results_[f"split{fold}_test_score"][candidate]
            assert got == pytest.approx(expected, rel=0, abs=1e-12)


@every_library
def test_sample_weight(library):
    weight, ranker = np.random.default_rng(2).random(len(Y)) * 3, GroupedRanker(booster(library))
    weighted = ranker.fit(X, Y, weight, groups=QUERY).predict(X)
    expected = fit_alone(booster(library), X, Y, QUERY, weight).predict(X)
    np.testing.assert_array_equal(weighted, expected)
    assert (weighted != ranker.fit(X, Y, groups=QUERY).predict(X)).any()


@pytest.mark.parametrize(
    ("library", "start", "order"),
    [("lightgbm", "init_score", "F"), ("xgboost", "base_margin", "C")],
)
def test_init_score_and_base_margin_of_several_classes(library, start, order):
    inner = booster(library, "Classifier", rounds=3)
    values = np.random.default_rng(0).normal(size=(len(Y), Y.max() + 1))
    expected = clone(inner).fit(X, Y, **{start: values}).predict_proba(X)
    for each in (values, values.ravel(order)):  # rows stay as they are
        ranker = GroupedRanker(inner).fit(X, Y, groups=QUERY, **{start: each})
        np.testing.assert_allclose(ranker.predict_proba(X), expected, rtol=1e-6)
    drawn = GroupedRanker(inner, max_queries=30, random_state=0)
    with pytest.raises(ValueError, match=f"{start} cannot be passed.*one row per row of X"):
        drawn.fit(X, Y, groups=QUERY, **{start: values.ravel(order)})
    drawn.fit(X, Y, groups=QUERY, **{start: values})
    rows, *_ = sorted_by_hand(QUERY)
    rows = rows[np.isin(QUERY[rows], drawn.query_ids_)]
    bare = clone(inner).fit(X.iloc[rows], Y[rows], **{start: values[rows]})
    np.testing.assert_allclose(drawn.predict_proba(X), bare.predict_proba(X), rtol=1e-6)


def test_has_time_of_catboost():
    with pytest.raises(ValueError, match="has_time cannot be passed: it refers to rows by number"):
        GroupedRanker(booster("catboost", has_time=True)).fit(X, Y, groups=QUERY)
    regressor = booster("catboost", "Regressor", has_time=True)
    expected = regressor.copy().fit(X, Y).predict(X)  # its rows are not sorted
    ranker = GroupedRanker(regressor).fit(X, Y, groups=QUERY)
    np.testing.assert_array_equal(ranker.predict(X), expected)


# --- early stopping


def test_validation_fraction_rows_are_transformed_by_steps_fitted_on_the_others():
    module = pytest.importorskip("lightgbm")
    seen = {}

    class Spy(module.LGBMRanker):
        @functools.wraps(module.LGBMRanker.fit)
        def fit(self, X, y, **given):
            held = given["eval_X"][0] if "eval_X" in given else given["eval_set"][0][0]
            seen.update(train=X, held=held, score=given["init_score"])
            seen["held score"] = given["eval_init_score"][0]
            return super().fit(X, y, **given)

    inner = make_pipeline(StandardScaler(), Spy(n_estimators=3, verbose=-1))
    ranker = GroupedRanker(inner, early_stopping=True, validation_fraction=0.25, random_state=0)
    ranker.fit(X, Y, groups=QUERY, init_score=np.arange(len(Y)) / 100)
    is_held = np.isin(QUERY, np.random.RandomState(0).permutation(40)[:10])
    order, *_ = sorted_by_hand(QUERY)
    train, held = order[~is_held[order]], order[is_held[order]]
    scaler = StandardScaler().fit(X.iloc[train])
    np.testing.assert_array_equal(seen["train"], scaler.transform(X.iloc[train]))
    np.testing.assert_array_equal(seen["held"], scaler.transform(X.iloc[held]))
    np.testing.assert_array_equal(seen["score"], train / 100)
    np.testing.assert_array_equal(seen["held score"], held / 100)


EVALUATED = {  # parameters of the ranker, whether it is around a Pipeline, and the words of the error
    "early_stopping": ({"early_stopping": True}, False, "eval_set cannot be passed"),
    "Pipeline": ({}, True, "steps of a Pipeline.*not applied"),
    "group_by": ({"group_by": "q"}, False, "removal of a group column"),
}


@every_library
@pytest.mark.parametrize("name", EVALUATED)
def test_eval_set_is_refused_where_its_rows_would_differ(name, library):
    parameters, in_pipeline, words = EVALUATED[name]
    model = booster(library)
    ranker = GroupedRanker(make_pipeline(model) if in_pipeline else model, **parameters)
    with pytest.raises(ValueError, match=words):
        ranker.fit(X.assign(q=QUERY), Y, groups=QUERY, eval_set=[(X, Y)])


def test_callbacks_of_the_user_are_called_too():
    rounds = []
    ranker = GroupedRanker(booster("lightgbm"), early_stopping=True, random_state=0)
    ranker.fit(X, Y, groups=QUERY, callbacks=[lambda env: rounds.append(env.iteration)])
    assert rounds


def test_cat_features_are_named_in_fit_with_early_stopping():
    rows = X.assign(kind=np.where(X["a"] > 0, "up", "down"), q=QUERY)
    ranker = GroupedRanker(booster("catboost"), group_by="q", early_stopping=True, random_state=0)
    ranker.fit(rows, Y, cat_features=["kind"])
    assert ranker.estimator_.get_cat_feature_indices() == [4]


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_labels_that_quantile_grades_makes_are_taken(library):
    graded = quantile_grades(Y + 0.5, groups=QUERY)
    GroupedRanker(booster(library)).fit(X, graded, groups=QUERY)


def test_cat_features_of_catboost_are_a_tuple_or_routed(routing):
    rows = X.assign(kind=QUERY % 3)
    expected = GroupedRanker(booster("catboost", cat_features=("kind",)))
    expected.fit(rows, Y, groups=QUERY)
    routed = GroupedRanker(booster("catboost"))
    asked = ["groups", "cat_features", "text_features", "pairs"]
    assert routed.get_metadata_routing().consumes("fit", asked) == set(asked[:3])
    scorer = make_ndcg_scorer(undefined=0.0)
    search = GridSearchCV(routed, {"k": [5]}, scoring=scorer, cv=GroupKFold(2), error_score="raise")
    search.fit(rows, Y, groups=QUERY, cat_features=["kind"])
    np.testing.assert_array_equal(search.predict(rows), expected.predict(rows))
