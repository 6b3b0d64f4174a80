"""Rankings: checked rows of arrays and lists."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers import graded_rows

from sklearn_ndcg import from_lists, ndcg_samples
from sklearn_ndcg._metrics.measure import NDCG
from sklearn_ndcg._metrics.rankings import (
    queries_of,
    rankings_of,
    rankings_of_lists,
    rankings_of_several,
)

NAN, INF = np.nan, np.inf


def rows_of_two_rankers():
    """Relevance, scores of two rankers and query ids; some relevance is missing."""
    _, y, query = graded_rows()
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.2, NAN, y)
    return y, {name: rng.choice([-INF, 0, 1, 2, 3], len(y)) for name in "ab"}, query


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
def test_rows_that_are_read_once_serve_every_ranker(unjudged):
    y, scores, query = rows_of_two_rankers()
    rankers = list(rankings_of_several(y, scores, query).values())
    options = {"unjudged": unjudged, "undefined": 0.5, "k": 3}
    measure = NDCG(**options)
    measure, queries = queries_of(rankers, measure)
    assert queries[0].gain is queries[1].gain
    for rankings, shared, score in zip(rankers, queries, scores.values(), strict=True):
        expected = ndcg_samples(y, score, groups=query, **options)
        for values in (rankings.evaluate(measure), measure.values(shared)):
            np.testing.assert_array_equal(values.filled(), expected)


WRONG = {
    "y_true": (
        [1, INF, 0],
        "Input y_true contains infinity: 1 infinite value, at index 1. It must",
    ),
    "y_score": ([1, NAN, 0], "Input y_score contains NaN: 1 NaN or +inf, at index 1. Scores"),
    "sample_weight": ([1, -1, 0], "sample_weight must be finite"),
}


@pytest.mark.parametrize("argument", WRONG)
def test_rows_say_what_is_wrong_with_them(argument):
    value, message = WRONG[argument]
    data = {"y_true": [1, 2, 0], "y_score": [3, 2, 1], "groups": [1, 1, 1]} | {argument: value}
    rankings = rankings_of(**data)
    wrong, _ = next(rankings.wrong_rows(NDCG()))
    assert wrong.tolist() == [False, True, False]
    with pytest.raises(ValueError, match=re.escape(message)):
        rankings.evaluate(NDCG())
    if argument != "sample_weight":
        others = rankings.ignoring(wrong)
        assert not list(others.wrong_rows(NDCG(unjudged="zero")))
        assert others.judged.tolist() == [True, False, True]


DAYS = pd.Series(pd.date_range("2024-01-01", periods=3, tz="Asia/Tokyo")[::-1])


def test_the_labels_of_queries_are_sorted_with_the_position_of_each():
    y, scores, query = rows_of_two_rankers()
    rankings = rankings_of_several(y, scores, query)["a"]
    labels, position = rankings.labels_of_queries(DAYS[query % 3], "segments", np.ones(20))
    np.testing.assert_array_equal(labels, DAYS[::-1].dt.tz_convert(None))  # in UTC
    assert position.tolist() == [2 - number % 3 for number in range(20)]


def test_the_labels_of_the_queries_of_lists_come_by_query():
    lists = {"one": {"v": ["a"], "u": ["b"]}, "two": {"w": ["a"], "u": ["b"]}}
    rankings = rankings_of_lists(from_lists({"x": ["a"]}, rankers=lists))["one"]
    user = {"u": "Ann", "v": "Zoe", "w": "Ann", "x": "Bob", "y": "Eve"}
    labels, position = rankings.labels_of_queries(user, "clusters", np.ones(4))
    assert labels[position].tolist() == [user[query] for query in rankings.grouping.labels]
    assert labels.tolist() == ["Ann", "Bob", "Zoe"]
    without_bob = {query: user[query] for query in "uvw"}
    _, position = rankings.labels_of_queries(without_bob, "clusters", [1, 1, 1, 0])
    assert position.tolist() == [0, 1, 0, -1]
    with pytest.raises(ValueError, match="clusters must have an entry for each query, but lacks 3"):
        rankings.labels_of_queries({"u": 1}, "clusters", np.ones(4))
