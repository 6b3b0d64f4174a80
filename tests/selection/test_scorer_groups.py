"""Scorers: where the query ids come from (group_by, groups), and all_groups.

More containers of ids are in tests/rows/test_columns.py.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from helpers import FirstColumn
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_ndcg import (
    GroupedRanker,
    make_dcg_scorer,
    make_ndcg_scorer,
    ndcg_score,
    one_ranking,
)

# --- group_by and groups


@pytest.mark.parametrize(
    "convert",
    [lambda query: query % 2, lambda query: pd.Series(query)[::-1]],
    ids=["others", "in another order"],
)
def test_group_by_wins_over_groups(by_level, convert):
    X, y, query = by_level
    expected = ndcg_score(y, X["a"], groups=query, k=3)
    scorer = make_ndcg_scorer(k=3, group_by="q")
    assert scorer(FirstColumn(), X, y, groups=convert(query)) == expected


def test_a_scorer_without_ids_is_refused(data):
    X, y, _ = data
    words = "no groups.*enable_metadata_routing.*group_by=one_ranking"
    with pytest.raises(ValueError, match=words):
        make_ndcg_scorer()(FirstColumn(), X, y)


def test_group_by_level_of_y_serves_where_x_is_an_array(by_level):
    X, y, query = by_level
    labels = pd.Series(y, index=X.index)
    found = make_ndcg_scorer(k=3, group_by="q")(FirstColumn(), X.to_numpy(), labels)
    assert found == ndcg_score(y, X["a"], groups=query, k=3)


@pytest.mark.parametrize("name", ["__call__", "score"])
def test_sample_weight_by_place_weighs_and_groups_have_no_place(data, name):
    X, y, query = data
    weight, score = 1.0 + query % 5, getattr(make_ndcg_scorer(), name)
    expected = ndcg_score(y, X["a"], groups=query, sample_weight=weight)
    assert score(FirstColumn(), X, y, weight, groups=query) == expected
    assert expected != ndcg_score(y, X["a"], groups=query)
    with pytest.raises(TypeError, match="positional"):
        score(FirstColumn(), X, y, weight, query)


def test_labels_in_another_order_are_refused(by_level):
    X, y, _ = by_level
    labels = pd.Series(y, index=X.index)[::-1]
    with pytest.raises(ValueError, match="X and y have the same labels"):
        make_ndcg_scorer(group_by="q")(FirstColumn(), X, labels)


def test_groups_of_single_documents_are_warned_of(data):
    X, y, _ = data
    with pytest.warns(UserWarning, match="Each of the 105 queries has a single document"):
        make_ndcg_scorer(undefined=0.0)(FirstColumn(), X, y, groups=np.arange(len(y)))


# --- y of several columns, or of one


@pytest.mark.parametrize("group_by", [None, one_ranking])
def test_groups_are_refused_with_a_matrix_y(data, group_by):
    X, y, query = data
    wide = np.c_[y, y]
    scorer, groups = make_ndcg_scorer(group_by=group_by), None if group_by else query
    with pytest.raises(ValueError, match="groups goes with 1-D"):
        scorer(LinearRegression().fit(X, wide), X, wide, groups=groups)
    with pytest.raises(ValueError, match="multilabel targets, leave groups out"):
        scorer(LinearRegression().fit(X, y), X, wide, groups=groups)  # one score per row


@pytest.mark.parametrize(
    ("model", "convert"),
    [
        (Ridge(), lambda y: y[:, None].tolist()),
        (LogisticRegression(), pd.DataFrame),
        (GroupedRanker(Ridge(), group_by="q"), lambda y: y[:, None]),
    ],
    ids=["lists", "DataFrame", "ranker"],
)
def test_y_of_one_column_is_scored_as_its_values(by_level, model, convert):
    X, y, _ = by_level
    scorer = make_ndcg_scorer(k=3, group_by="q")
    expected = scorer(model.fit(X, y), X, y)
    assert scorer(model, X, convert(y)) == expected


# --- HistGradientBoosting; that binned X is refused is in test_tool_matrix.py


def test_group_by_reads_bytes_once_hist_gradient_boosting_is_fitted(data):
    X, y, query = data
    X = np.c_[abs(X), query].astype(np.uint8)
    scorer = make_ndcg_scorer(group_by=lambda X: X[:, 3], undefined=0.0)
    model = HistGradientBoostingRegressor(early_stopping=False, scoring=scorer, max_iter=4)
    expected = ndcg_score(y, model.fit(X, y).predict(X), groups=query, undefined=0.0)
    assert scorer(model, X, y) == expected


# --- all_groups: folds that have only part of a query


@pytest.mark.parametrize("spelled", [int, "q{:02}".format], ids=["numbers", "text"])
def test_all_groups_refuse_parts_of_queries(data, spelled):
    X, y, query = data
    ids = np.array([spelled(number) for number in query])
    scorer = make_ndcg_scorer(k=3, all_groups=pd.Series(ids, index=-np.arange(len(ids))))
    for rows in (slice(None), query % 3 == 0):
        expected = ndcg_score(y[rows], X["a"][rows], groups=ids[rows], k=3)
        assert scorer(FirstColumn(), X[rows], y[rows], groups=ids[rows]) == expected
    n, rows = np.sum(query == 0), np.arange(len(y)) != np.argmin(query)
    words = (
        r"^Scored queries are incomplete: 1 of 20 .* than in all_groups: query "
        rf"{spelled(0)!r} has {n - 1} here and {n} there\. Split whole queries, with QuerySplitter"
    )
    with pytest.raises(ValueError, match=words):
        scorer(FirstColumn(), X[rows], y[rows], groups=ids[rows])


@pytest.mark.parametrize(
    ("all_groups", "groups"), [([1, 1, 2], ["1", "1", "2"]), (["1", "1", "2"], [1, 1, 2])]
)
def test_all_groups_of_another_type_are_refused(all_groups, groups):
    y = np.array([1, 0, 1])
    with pytest.raises(ValueError, match="^all_groups has .* both text, or both numbers"):
        make_ndcg_scorer(all_groups=all_groups)(FirstColumn(), y, y, groups=groups)


def test_queries_that_all_groups_do_not_know_are_new(data):
    X, y, query = data
    known = query < 12
    scorer = make_ndcg_scorer(k=3, all_groups=query[known])
    for rows in (~known, query > 0):  # a test set, and new queries beside known ones
        expected = ndcg_score(y[rows], X["a"][rows], groups=query[rows], k=3)
        assert scorer(FirstColumn(), X[rows], y[rows], groups=query[rows]) == expected


@pytest.mark.parametrize(
    "ids_of_all",
    [
        pytest.param(lambda columns: columns, id="table"),
        pytest.param(lambda columns: columns.to_numpy(), id="array"),
        pytest.param(lambda columns: [*map(pa.array, columns.T.to_numpy())], id="columns of arrow"),
        pytest.param(lambda columns: [*map(tuple, columns.to_numpy().tolist())], id="tuples"),
    ],
)
def test_all_groups_of_several_columns(data, ids_of_all):
    X, y, query = data
    X = X.assign(u=query // 4, d=query % 4)
    scorer = make_ndcg_scorer(group_by=["u", "d"], all_groups=ids_of_all(X[["u", "d"]]))
    whole, cut = np.isin(query, [1, 5, 7]), np.arange(len(y)) != np.argmin(query)
    expected = ndcg_score(y[whole], X["a"][whole], groups=query[whole])
    assert scorer(FirstColumn(), X[whole], y[whole]) == expected
    with pytest.raises(ValueError, match=r"incomplete: 1 of 20 .* query \(0, 0\) has"):
        scorer(FirstColumn(), X[cut], y[cut])


def test_all_groups_are_shown_in_short():
    scorer = make_ndcg_scorer(k=3, all_groups=np.arange(1_000_000) // 4)
    shown = "GroupedScorer(all_groups=<ids of 250,000 queries>, k=3, score_func='ndcg')"
    assert repr(scorer) == shown
    assert shown in " ".join(repr(GridSearchCV(Ridge(), {}, scoring=scorer)).split())


def test_all_groups_count_unjudged_rows(data):
    X, y, query = data
    y = np.where(np.arange(len(y)) % 3 == 0, np.nan, y)
    options = {"unjudged": "omit", "undefined": 0.0}
    found = make_ndcg_scorer(all_groups=query, **options)(FirstColumn(), X, y, groups=query)
    assert found == ndcg_score(y, X["a"], groups=query, **options)


@pytest.mark.parametrize("ids", [5, np.array(3), [[]], pd.DataFrame({"q": []}), iter([1])])
def test_all_groups_that_are_no_ids_are_refused(ids):
    with pytest.raises(ValueError, match="^all_groups must be the query ids of all rows, got"):
        make_dcg_scorer(all_groups=ids)


# --- callbacks of scikit-learn 1.9


@pytest.mark.parametrize("number", [3, -1])
def test_columns_are_not_counted_where_a_ranker_has_removed_one(data, number):
    callback = pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")
    X, y, query = data
    rows, y = np.c_[X.iloc[:, :2], y % 3, query], y > 1  # grades could be taken for ids
    scorer = make_ndcg_scorer(k=[3], group_by=number, undefined=0.0)
    monitor = callback.ScoringMonitor(scoring=scorer)
    inner = LogisticRegression(max_iter=5).set_callbacks(monitor)
    words = rf"group_by={number} counts .* has removed the column {number}"
    with pytest.raises(ValueError, match=words):
        GroupedRanker(inner, group_by=number).fit(rows, y)
    ranker = GroupedRanker(LogisticRegression(), group_by=number).fit(rows, y)
    expected = ndcg_score(y, ranker.predict_proba(rows)[:, 1], groups=query, k=3, undefined=0.0)
    assert scorer(ranker, rows, y)["ndcg@3"] == pytest.approx(expected)
