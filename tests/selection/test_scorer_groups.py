"""Scorers: where the query ids come from (group_by, groups), and all_groups."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import FirstColumn
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ndcg import (
    GroupedRanker,
    QuerySplitter,
    make_dcg_scorer,
    make_ndcg_scorer,
    ndcg_score,
    one_ranking,
)

# --- group_by and groups

WAYS = {  # X and the group_by that finds its ids; more containers in tests/rows/test_columns.py
    "level": lambda X, query: (X.set_index("q"), "q"),
    "polars": lambda X, query: (pl.DataFrame(X.to_dict("list")), "q"),
    "sparse": lambda X, query: (sparse.coo_matrix(X.to_numpy()), np.int64(3)),
    "callable": lambda X, query: (X.to_numpy().tolist(), lambda X: query),
}


@pytest.mark.parametrize("way", WAYS)
def test_group_by_finds_the_ids_and_wins_over_groups(data, way):
    X, y, query = data
    table, group_by = WAYS[way](X.assign(q=query), query)
    scorer, expected = (
        make_ndcg_scorer(k=3, group_by=group_by),
        ndcg_score(y, X["a"], groups=query, k=3),
    )
    for groups in (None, np.arange(len(y)) % 2, pd.Series(query, index=X.index[::-1])):
        assert scorer(FirstColumn(), table, y, groups=groups) == expected


def test_group_by_one_ranking(data):
    X, y, _ = data
    scorer = make_ndcg_scorer(group_by=one_ranking)
    for table in (X, X.to_numpy().tolist(), sparse.csr_array(X)):
        assert scorer(FirstColumn(), table, y) == pytest.approx(ndcg_score([y], [X["a"]]), 1e-15)


LOST = {  # further cases in tests/rows/test_columns.py and test_ids.py
    "no groups": (None, "no groups.*enable_metadata_routing.*group_by=one_ranking"),
    "no such name": ("q", r"group_by='q' names none of the columns \['a', 'b', 'c'\]"),
    "missing ids": (lambda X: X["b"] * np.nan, "groups has 105 missing ids"),
    "too few": (lambda X: [1, 2], "groups must have one id.*105 rows.*got 2"),
}


@pytest.mark.parametrize("name", LOST)
def test_group_by_that_finds_no_ids_is_refused(data, name):
    X, y, _ = data
    group_by, words = LOST[name]
    with pytest.raises(ValueError, match=words):
        make_ndcg_scorer(group_by=group_by)(FirstColumn(), X, y)


def test_groups_are_refused_with_a_matrix_y(data):
    X, y, query = data
    wide = np.c_[y, y]
    model = LinearRegression().fit(X, wide)
    for scorer, groups in (
        (make_ndcg_scorer(), query),
        (make_ndcg_scorer(group_by=one_ranking), None),
    ):
        with pytest.raises(ValueError, match="groups goes with 1-D"):
            scorer(model, X, wide, groups=groups)
    with pytest.raises(ValueError, match="multilabel targets, leave groups out.*pass that column"):
        make_ndcg_scorer()(model.fit(X, y), X, wide, groups=query)  # of one score per row


def test_y_of_one_column_is_scored_as_its_values(by_level):
    X, y, _ = by_level
    scorer = make_ndcg_scorer(k=3, group_by="q")
    for model in (Ridge(), LogisticRegression(), GroupedRanker(Ridge(), group_by="q")):
        expected = scorer(model.fit(X, y), X, y)
        for column in (y[:, None], pd.DataFrame({"y": y}), y[:, None].tolist()):
            assert scorer(model, X, column) == expected


def test_group_by_level_of_y_serves_where_a_step_makes_an_array_of_x(by_level):
    X, labels, query = by_level
    y = pd.Series(labels, index=X.index)
    last = make_pipeline(StandardScaler(), GroupedRanker(Ridge(), group_by="q", k=3)).fit(X, y)
    score = make_pipeline(StandardScaler(), Ridge()).fit(X, labels).predict(X)
    expected = ndcg_score(labels, score, groups=query, k=3)
    assert last.score(X, y) == pytest.approx(expected, rel=1e-13)
    found = make_ndcg_scorer(k=3, group_by="q")(FirstColumn(), X.to_numpy(), y)
    assert found == ndcg_score(labels, X["a"], groups=query, k=3)
    cv = QuerySplitter(KFold(3), group_by="q")
    for (_, test), (_, other) in zip(cv.split(X), cv.split(X.to_numpy(), y), strict=True):
        np.testing.assert_array_equal(test, other)
    with pytest.raises(ValueError, match="group_by='q' is a name, but X arrived as ndarray"):
        last.fit(X, labels)


def test_sample_weight_by_place_weighs_and_groups_have_no_place(by_level):
    X, y, query = by_level
    weight = 1.0 + query % 5
    expected = ndcg_score(y, X["a"], groups=query, sample_weight=weight)
    assert expected != ndcg_score(y, X["a"], groups=query)
    scorer = make_ndcg_scorer()
    for score in (scorer, scorer.score):
        assert score(FirstColumn(), X, y, weight, groups=query) == expected
        with pytest.raises(TypeError, match="positional"):
            score(FirstColumn(), X, y, weight, query)
    assert make_ndcg_scorer(group_by="q")(FirstColumn(), X, y, weight) == expected


# --- HistGradientBoosting; that binned X is refused is in test_tool_matrix.py


def test_group_by_one_ranking_stops_early(data):
    X, y, _ = data
    scorer = make_ndcg_scorer(group_by=one_ranking)
    model = HistGradientBoostingRegressor(early_stopping=True, scoring=scorer, max_iter=3)
    assert len(model.fit(X, y).validation_score_) == 4


def test_group_by_reads_bytes_once_hist_gradient_boosting_is_fitted(data):
    X, y, query = data
    X = np.c_[abs(X), query].astype(np.uint8)
    scorer = make_ndcg_scorer(group_by=lambda X: X[:, 3], undefined=0.0)
    model = HistGradientBoostingRegressor(early_stopping=False, scoring=scorer, max_iter=4)
    expected = ndcg_score(y, model.fit(X, y).predict(X), groups=query, undefined=0.0)
    assert scorer(model, X, y) == expected
    search = GridSearchCV(model, {"max_iter": [4]}, scoring=scorer, cv=GroupKFold(2))
    assert scorer(search.fit(X, y, groups=query), X, y) == expected
    assert np.isfinite(search.best_score_)


# --- all_groups: folds that have only part of a query

CONTAINERS = {  # more in tests/rows/test_ids.py
    "array": lambda q: q,
    "list of text": lambda q: q.tolist(),
    "Series of text": lambda q: pd.Series(q, index=np.arange(len(q))[::-1]),
    "one column, text": lambda q: pa.table({"q": q}),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_all_groups_refuse_parts_of_queries(container, data):
    X, y, query = data
    text = "text" in container
    query = np.array([f"q{i:02}" for i in query]) if text else query
    scorer, plain = (
        make_ndcg_scorer(k=3, all_groups=ids) for ids in (CONTAINERS[container](query), None)
    )
    for rows in (slice(None), np.isin(query, np.unique(query)[3:9])):
        given = FirstColumn(), X[rows], y[rows]
        assert scorer(*given, groups=query[rows]) == plain(*given, groups=query[rows])
    first = np.unique(query)[0].item()
    n = np.sum(query == first)
    some = np.delete(np.arange(len(y)), np.flatnonzero(query == first)[0])
    words = (
        r"^Scored queries are not complete: 1 of the 20 .* than in all_groups: query "
        rf"{first!r} has {n - 1} here and {n} there\. Split whole queries, with QuerySplitter or"
    )
    with pytest.raises(ValueError, match=words):
        scorer(FirstColumn(), X.iloc[some], y[some], groups=query[some])
    other_type = np.arange(len(y)) // 5 if text else np.char.add("x", query.astype(str))
    with pytest.raises(
        ValueError, match="^all_groups has ids such as .* both text, or both numbers"
    ):
        scorer(FirstColumn(), X, y, groups=other_type)


@pytest.mark.parametrize("as_id", [int, "q{:02}".format])
def test_queries_that_all_groups_do_not_know_are_new_and_are_scored(as_id, data):
    X, y, query = data
    known, ids = query < 12, np.array([as_id(q) for q in query])
    scorer = make_ndcg_scorer(k=3, all_groups=ids[known])
    for rows in (~known, query > 0):  # a test set, and new queries beside known ones
        expected = ndcg_score(y[rows], X["a"][rows], groups=ids[rows], k=3)
        assert scorer(FirstColumn(), X[rows], y[rows], groups=ids[rows]) == expected
    half = ~known | (np.arange(len(y)) % 2 == 0)
    with pytest.raises(ValueError, match=r"not complete: \d+ of the \d+ scored"):
        scorer(FirstColumn(), X[half], y[half], groups=ids[half])


COMPOUND = {
    "table": lambda columns: columns,
    "array": lambda columns: columns.to_numpy(),
    "list of columns": lambda columns: [columns["u"], columns["d"]],
    "tuple of lists": lambda columns: (columns["u"].tolist(), columns["d"].tolist()),
    "list of tuples": lambda columns: list(columns.itertuples(index=False, name=None)),
}


@pytest.mark.parametrize("ids", COMPOUND)
def test_all_groups_of_several_columns(data, ids):
    X, y, query = data
    X = X.assign(u=query // 4, d=query % 4)
    scorer = make_ndcg_scorer(group_by=["u", "d"], all_groups=COMPOUND[ids](X[["u", "d"]]))
    whole, cut = np.isin(query, [1, 5, 7]), np.arange(len(y)) != np.argmin(query)
    expected = ndcg_score(y[whole], X["a"][whole], groups=query[whole])
    assert scorer(FirstColumn(), X[whole], y[whole]) == expected
    with pytest.raises(ValueError, match=r"not complete: 1 of the 20 .* query \(0, 0\) has"):
        scorer(FirstColumn(), X[cut], y[cut])


def test_all_groups_are_shown_in_short():
    scorer = make_ndcg_scorer(k=3, all_groups=np.arange(1_000_000) // 4)
    shown = "GroupedScorer(all_groups=<ids of 250,000 queries>, measure=NDCG(k=3))"
    assert repr(scorer) == shown
    assert shown in " ".join(repr(GridSearchCV(Ridge(), {}, scoring=scorer)).split())


def test_all_groups_can_be_set(data):
    X, y, query = data
    scorer = make_ndcg_scorer().set_params(all_groups=query)
    for each in (scorer, clone(scorer)):
        assert 0 < each(FirstColumn(), X, y, groups=query) < 1
        with pytest.raises(ValueError, match="Scored queries are not complete"):
            each(FirstColumn(), X[:-1], y[:-1], groups=query[:-1])
    assert scorer.set_params(all_groups=None).all_groups is None


def test_all_groups_count_unjudged_rows(data):
    X, y, query = data
    y = np.where(np.arange(len(y)) % 3 == 0, np.nan, y)
    options = {"unjudged": "omit", "undefined": 0.0}
    found = make_ndcg_scorer(all_groups=query, **options)(FirstColumn(), X, y, groups=query)
    assert found == ndcg_score(y, X["a"], groups=query, **options)


def test_all_groups_that_are_no_ids_are_refused():
    with pytest.raises(ValueError, match=r"all_groups has 1 missing id, at"):
        make_ndcg_scorer(all_groups=[1.0, np.nan])
    for ids in (5, [], (), np.array(3), np.array([]), [[]], pd.DataFrame({"q": []}), iter([1, 2])):
        with pytest.raises(ValueError, match="^all_groups must be the query ids of all rows, got"):
            make_dcg_scorer(all_groups=ids)
