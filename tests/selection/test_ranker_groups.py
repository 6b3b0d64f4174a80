"""GroupedRanker: where the ids of queries come from, and how queries are drawn."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import Qid, Sizes, by_first_rows, graded_rows, held_out_rows
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_ndcg import (
    GroupedRanker,
    QuerySplitter,
    ndcg_score,
    quantile_grades,
)

X, Y, QUERY = graded_rows()
ORDER, _, SIZES = by_first_rows(QUERY)
NAMED = X.assign(q=QUERY)[["a", "q", "b", "c"]]
WITH_IDS = NAMED.to_numpy()  # in column 1

# --- group_by


@pytest.mark.parametrize(
    ("rows", "group_by", "n_features"),
    [
        pytest.param(NAMED, "q", 4, id="column"),
        pytest.param(X.set_index(pd.Index(QUERY, name="q")), "q", 3, id="level"),
        pytest.param(pl.DataFrame(NAMED.to_dict("list")), "q", 4, id="polars"),
        pytest.param(pa.table(NAMED.to_dict("list")), "q", 4, id="pyarrow"),
        pytest.param(X, lambda X: QUERY, 3, id="callable"),
    ],
)
def test_group_by_finds_the_ids_and_takes_them_out(rows, group_by, n_features):
    ranker = GroupedRanker(Sizes(), group_by=group_by).fit(rows, Y)
    given = ranker.estimator_.given_
    np.testing.assert_array_equal(np.asarray(given["X"]).astype(float), X.to_numpy()[ORDER])
    np.testing.assert_array_equal(given["group"], SIZES)
    assert ranker.n_features_in_ == n_features
    if hasattr(rows, "columns"):
        assert type(given["X"]) is type(rows)


def test_group_by_is_among_the_feature_names_of_the_ranker():
    ranker = GroupedRanker(Ridge(), group_by="q").fit(NAMED, Y)
    assert ranker.feature_names_in_.tolist() == ["a", "q", "b", "c"]
    assert ranker.estimator_.feature_names_in_.tolist() == ["a", "b", "c"]


def test_group_by_wins_over_groups():
    others = pd.Series(np.arange(len(Y)) % 7, index=X.index[::-1])  # in another order, too
    ranker = GroupedRanker(Sizes(), group_by="q").fit(NAMED, Y, groups=others)
    np.testing.assert_array_equal(ranker.estimator_.given_["group"], SIZES)
    assert ranker.score(NAMED, Y, groups=others) == ndcg_score(Y, X["a"], groups=QUERY)


def test_order_by_is_no_feature():
    rows = X.assign(q=QUERY, when=pd.Timestamp(0) + pd.to_timedelta(QUERY, "D"))
    plain = GroupedRanker(Ridge()).fit(X, Y)
    ranker = GroupedRanker(Ridge(), group_by="q", order_by="when").fit(rows, Y)
    for columns in (list(rows), list("abcq"), ["a", "b", "c", "when"], list("abc")):
        np.testing.assert_allclose(ranker.predict(rows[columns]), plain.predict(X), rtol=1e-12)
    np.testing.assert_allclose(ranker.coef_, [*plain.coef_, 0, 0])


# --- compound ids

U, D = QUERY // 5, QUERY % 5
PAIRS = list(zip(U.tolist(), D.tolist(), strict=True))


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param([U, D], id="list of arrays"),
        pytest.param(pd.DataFrame({"u": U, "d": D}), id="pandas"),
        pytest.param(PAIRS, id="list of tuples"),
    ],
)
def test_each_distinct_row_of_several_columns_is_a_query(groups):
    ranker = GroupedRanker(Sizes()).fit(X, Y, groups=groups)
    np.testing.assert_array_equal(ranker.estimator_.given_["group"], SIZES)
    grades = quantile_grades(X["a"], groups=QUERY)
    np.testing.assert_array_equal(quantile_grades(X["a"], groups=groups), grades)
    tests = [test.tolist() for _, test in QuerySplitter(3).split(X, Y, groups)]
    assert tests == [test.tolist() for _, test in QuerySplitter(3).split(X, Y, QUERY)]


# --- ids that are not query ids


def test_groups_of_single_documents_are_not_trained_on_silently():
    ranker = GroupedRanker(make_pipeline(FunctionTransformer(), Qid()))
    with pytest.warns(UserWarning, match="Each of the 105 queries has a single document"):
        ranker.fit(X, Y, groups=range(len(Y)))


def test_groups_that_are_the_relevance_warn():
    words = "None of the 4 queries has documents of different relevance. groups must have"
    with pytest.warns(UserWarning, match=words):
        GroupedRanker(Sizes()).fit(X, Y, groups=Y)


@pytest.mark.parametrize(
    ("inner", "y", "groups"),
    [
        pytest.param(Ridge(), Y, np.arange(len(Y)), id="rows do not depend on the ids"),
        pytest.param(Sizes(), Y, np.append([1000, 1001, 1002], QUERY[3:]), id="few of them"),
        pytest.param(Sizes(), np.ones(len(Y)), Y, id="all of the same relevance"),
    ],
)
def test_ids_that_may_be_query_ids_do_not_warn(inner, y, groups):
    GroupedRanker(inner).fit(X, y, groups=groups)


# --- training on some of the queries


def fit_some(max_queries):
    """The queries that a ranker is trained on."""
    ranker = GroupedRanker(Qid(), max_queries=max_queries, random_state=0)
    given = ranker.fit(X.assign(q=QUERY), Y, groups=QUERY).estimator_.given_
    assert len(given["X"]) == np.isin(QUERY, given["X"]["q"]).sum()
    return set(given["X"]["q"])


@pytest.mark.parametrize("max_queries", [1, 19, 1000])
def test_max_queries_trains_on_whole_queries(max_queries):
    ids = fit_some(max_queries)
    assert len(ids) == min(max_queries, 20)
    rows = np.isin(QUERY, [*ids])
    expected = Ridge().fit(X[rows], Y[rows]).predict(X)
    options = {"max_queries": max_queries, "random_state": 0}
    ranker = GroupedRanker(Ridge(), **options).fit(X, Y, groups=QUERY)
    np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-9)


def test_max_queries_draws_and_adds_to_those_of_smaller_numbers():
    assert fit_some(6) < fit_some(7) != set(range(7))


# --- queries that are held out


def hold_out(rows, **parameters):
    """Return the queries that are held out, and check that the others are trained on."""
    train, held_out = held_out_rows(rows, Y, QUERY, **{"random_state": 0} | parameters)
    train, held_out = (sorted(set(some["q"])) for some in (train, held_out))
    assert not set(train) & set(held_out)
    return held_out


IDS_AS_FEATURE = X.assign(q=QUERY, minus=-QUERY + np.random.default_rng(0).random(len(Y)))


@pytest.mark.parametrize(
    ("order_by", "expected"), [(None, [16, 17, 18, 19]), ("minus", [0, 1, 2, 3])]
)
def test_validation_of_the_last_queries_by_id_or_order_by(order_by, expected):
    options = {"validation": "last", "validation_fraction": 0.2}
    assert hold_out(IDS_AS_FEATURE, order_by=order_by, **options) == expected


def test_validation_at_random_is_drawn_by_random_state():
    drawn = [hold_out(IDS_AS_FEATURE, validation_fraction=0.2, random_state=i) for i in (0, 0, 1)]
    assert len(drawn[0]) == 4
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] != [16, 17, 18, 19]


def test_validation_of_the_last_queries_holds_out_the_last_that_are_drawn():
    options = {"validation": "last", "validation_fraction": 0.2, "max_queries": 10}
    rows = held_out_rows(IDS_AS_FEATURE, Y, QUERY, **options, random_state=1)
    train, held_out = (sorted(set(some["q"])) for some in rows)
    drawn = sorted(train + held_out)
    assert len(drawn) == 10
    assert held_out == drawn[-2:] != [18, 19]


TEXT_OF_ROWS = "q" + IDS_AS_FEATURE["q"].astype(str)


def test_validation_of_the_last_queries_warns_of_the_order_of_text():
    words = r"^validation='last' needs .* may not sort by time \('q0'.*order_by="
    with pytest.warns(UserWarning, match=words):
        held_out_rows(IDS_AS_FEATURE, Y, TEXT_OF_ROWS, validation="last")


@pytest.mark.parametrize(
    "change", [{"validation": "random"}, {"validation": "last", "order_by": "minus"}], ids=str
)
def test_the_order_of_text_matters_only_to_the_last_queries(change):
    held_out_rows(IDS_AS_FEATURE, Y, TEXT_OF_ROWS, **change)
