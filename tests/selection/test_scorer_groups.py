"""Scorers: where the query ids come from, group_by or groups.

More containers of ids are in tests/rows/test_columns.py.
"""

import numpy as np
import pandas as pd
import pytest
from helpers import FirstColumn
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from sklearn_ndcg import (
    GroupedRanker,
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


def test_groups_whose_labels_are_in_another_order_are_refused(data):
    X, y, query = data
    with pytest.raises(ValueError, match="X and groups have the same labels"):
        make_ndcg_scorer()(FirstColumn(), X, y, groups=pd.Series(query)[::-1])


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
