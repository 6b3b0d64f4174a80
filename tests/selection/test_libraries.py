"""GroupedRanker around the installed LightGBM, XGBoost and CatBoost."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from helpers import booster, by_first_rows, fit_alone, graded_rows
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer, ndcg_score

X, Y, QUERY = graded_rows(40, (1, 14), n_columns=4, n_grades=5, all_relevant=False)
TEXT = np.char.mod("q%02d", QUERY)
LIBRARIES = ["lightgbm", "xgboost", "catboost"]
every_library = pytest.mark.parametrize("library", LIBRARIES)


@every_library
@pytest.mark.parametrize(
    ("rows", "groups", "group_by"),
    [
        pytest.param(X, TEXT, None, id="routed"),
        pytest.param(pl.DataFrame(X.assign(q=QUERY).to_dict("list")), QUERY, "q", id="polars"),
    ],
)
def test_a_search_gives_the_numbers_computed_by_hand(library, rows, groups, group_by):
    options, depths = {"k": 5, "undefined": 0}, [2, 4]
    name = "depth" if library == "catboost" else "max_depth"
    with sklearn.config_context(enable_metadata_routing=group_by is None):
        search = GridSearchCV(
            GroupedRanker(booster(library), group_by=group_by),
            {f"estimator__{name}": depths},
            scoring=make_ndcg_scorer(group_by=group_by, **options),
            cv=GroupKFold(2),
            error_score="raise",
        ).fit(rows, Y, groups=groups)
    for candidate, depth in enumerate(depths):
        for fold, (train, test) in enumerate(GroupKFold(2).split(X, Y, groups)):
            bare = booster(library, **{name: depth})
            s = fit_alone(bare, X.iloc[train], Y[train], QUERY[train]).predict(X.iloc[test])
            expected = ndcg_score(Y[test], s, groups=QUERY[test], **options)
            found = search.cv_results_[f"split{fold}_test_score"][candidate]
            assert found == pytest.approx(expected, rel=0, abs=1e-12)


# --- scores to start from

START = np.random.default_rng(0).normal(size=(len(Y), Y.max() + 1))
starts = pytest.mark.parametrize(
    ("library", "name", "order"),
    [("lightgbm", "init_score", "F"), ("xgboost", "base_margin", "C")],
)


@starts
@pytest.mark.parametrize("is_flat", [False, True])
def test_starts_of_several_classes(library, name, order, is_flat):
    """Rows stay as they are, as the estimator is not a ranker."""
    inner = booster(library, "Classifier", rounds=3)
    expected = clone(inner).fit(X, Y, **{name: START}).predict_proba(X)
    start = START.ravel(order) if is_flat else START
    ranker = GroupedRanker(inner).fit(X, Y, groups=QUERY, **{name: start})
    np.testing.assert_allclose(ranker.predict_proba(X), expected, rtol=1e-6)


@starts
def test_starts_of_several_classes_where_queries_are_drawn(library, name, order):
    inner = booster(library, "Classifier", rounds=3)
    ranker = GroupedRanker(inner, max_queries=30, random_state=0)
    with pytest.raises(ValueError, match=f"{name} cannot be passed.*one row per row of X"):
        ranker.fit(X, Y, groups=QUERY, **{name: START.ravel(order)})
    ranker.fit(X, Y, groups=QUERY, **{name: START})
    rows, *_ = by_first_rows(QUERY)
    rows = rows[
        np.isin(pd.factorize(QUERY)[0][rows], np.random.RandomState(0).permutation(40)[:30])
    ]
    bare = clone(inner).fit(X.iloc[rows], Y[rows], **{name: START[rows]})
    np.testing.assert_allclose(ranker.predict_proba(X), bare.predict_proba(X), rtol=1e-6)


# --- parameters of a library


@pytest.mark.parametrize(
    ("parameters", "convert", "words"),
    [
        ({"early_stopping": True}, None, "eval_set cannot be passed"),
        ({}, make_pipeline, "steps of the Pipeline would transform X alone"),
        (
            {"group_by": "q"},
            None,
            "column 'q' would be removed .* index level, or pass them as groups",
        ),
    ],
    ids=["early stopping", "Pipeline", "group column"],
)
def test_eval_set_is_refused_where_its_rows_would_differ(parameters, convert, words):
    inner = booster("lightgbm")
    ranker = GroupedRanker(convert(inner) if convert else inner, **parameters)
    with pytest.raises(ValueError, match=words):
        ranker.fit(X.assign(q=QUERY), Y, groups=QUERY, eval_set=[(X, Y)], eval_group=[len(Y)])


def test_cat_features_are_named_in_fit_with_early_stopping():
    rows = X.assign(kind=np.where(X["a"] > 0, "up", "down"), q=QUERY)
    ranker = GroupedRanker(booster("catboost"), group_by="q", early_stopping=True, random_state=0)
    ranker.fit(rows, Y, cat_features=["kind"])
    assert ranker.estimator_.get_cat_feature_indices() == [4]


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
