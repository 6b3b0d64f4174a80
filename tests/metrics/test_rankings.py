"""Rankings, and shares of judged documents against all orders that the tie rule allows."""

from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from helpers import graded_rows

from sklearn_ndcg import from_lists, ndcg_samples
from sklearn_ndcg._metrics.measure import NDCG
from sklearn_ndcg._metrics.rankings import ListRankings, rankings_of, rankings_of_several

NAN, INF = np.nan, np.inf


def orders(scores, gains, ties):
    """The orders of the retrieved documents that the scores and the tie rule allow."""
    retrieved = [i for i, score in enumerate(scores) if score > -INF]
    sign = {"best": -1, "worst": 1}.get(ties, 0)

    def is_allowed(above, below):
        if scores[above] != scores[below]:
            return scores[above] > scores[below]
        if ties == "stable":
            return above < below
        return sign * gains[above] <= sign * gains[below]

    for order in permutations(retrieved):
        if all(is_allowed(*pair) for pair in pairwise(order)):
            yield order


def judged_share(y, scores, gains, ties, k):
    """The share of judged documents of the first k that are returned, nan if none is."""
    k = None if k == "retrieved" else k
    first = [order[:k] for order in orders(scores, gains, ties)]
    if not first[0]:
        return NAN
    return np.mean([[not np.isnan(y[i]) for i in documents] for documents in first])


def partly_judged(seed):
    """Relevance with NaN, scores with ties and -inf of two rankers, and query ids."""
    rng = np.random.default_rng(seed)
    query = rng.permutation(np.repeat(np.arange(20), rng.integers(1, 6, 20)))
    y = rng.choice([NAN, 0, 1, 2], len(query))
    return y, {name: rng.choice([-INF, 1, 2], len(query)) for name in "ab"}, query


GAIN_OF = [3, 1, 1]


@pytest.mark.parametrize("k", [1, 2, None, "retrieved"])
@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
def test_judged_shares_are_means_over_the_orders_that_ties_allow(ties, k):
    y, scores, query = partly_judged(3)
    gains = np.array([0 if np.isnan(grade) else GAIN_OF[int(grade)] for grade in y])
    measure = NDCG(k=k, gain=GAIN_OF, unjudged="zero", ties=ties)
    shares = rankings_of_several(y, scores, query).judged_shares(measure)
    rows = [np.flatnonzero(query == number) for number in range(20)]
    expected = [
        [judged_share(y[of_query], score[of_query], gains[of_query], ties, k) for of_query in rows]
        for score in scores.values()
    ]
    is_judged = [not np.isnan(y[of_query]).all() for of_query in rows]
    np.testing.assert_allclose(shares.share, np.array(expected)[:, is_judged], atol=1e-12)
    assert shares.has_judged_nonrelevant


def test_means_are_over_the_queries_that_have_a_judged_document():
    y, scores, query = partly_judged(2)
    y[query < 2] = NAN
    rankings = rankings_of_several(y, scores, query)
    shares = rankings.judged_shares(NDCG(k=2, unjudged="zero"))
    assert 0 < rankings.has_judgements().sum() == shares.share.shape[1] < 20
    np.testing.assert_allclose(shares.means(), np.nanmean(shares.share, axis=1), atol=1e-15)
    assert shares.n_answered().tolist() == (~np.isnan(shares.share)).sum(axis=1).tolist()


@pytest.mark.parametrize(
    ("ties", "share"),
    [
        ({"ties": "average"}, 1 / 2),
        ({"ties": "stable"}, 0),
        ({"ties": "worst"}, 0),
        ({"ties": "best"}, 1),
        ({"ignore_ties": True}, 0),
    ],
    ids=str,
)
def test_a_tie_of_a_judged_and_an_unjudged_document_is_ordered_as_scored(ties, share):
    y, s = np.array([[NAN, 1.0, 0]] * 12), np.array([[2.0, 2, 1]] * 12)
    scores = {"tied": s, "judged first": np.array([[1.0, 2, 1]] * 12)}
    measure = NDCG(k=1, unjudged="zero", **ties)
    assert rankings_of_several(y, scores).judged_shares(measure).means().tolist() == [share, 1]


def test_shares_of_lists_are_those_of_their_first_documents():
    truths = {"v": {"a": 1, "b": NAN}, "u": {"a": 2, "c": 0}, "w": ["b"]}
    lists = {"one": {"v": ["b", "a"], "u": ["x", "a"]}, "two": {"u": [], "w": ["x", "b", "y"]}}
    rankings = ListRankings.of(from_lists(truths, rankers=lists))
    shares = rankings.judged_shares(NDCG(k=2, unjudged="zero"))
    assert rankings.grouping.labels.tolist() == ["u", "v", "w"]
    np.testing.assert_equal(shares.share, [[1 / 2, 1 / 2, NAN], [NAN, NAN, 1 / 2]])


def test_unjudged_documents_of_lists_are_no_judged_nonrelevant_ones():
    rankings = ListRankings.of(from_lists([{"a"}], rankers={"one": [["b", "a"]]}))
    assert not rankings.judged_shares(NDCG(unjudged="zero")).has_judged_nonrelevant


def shares_of(y, **scores):
    return rankings_of_several(y, scores).judged_shares(NDCG(unjudged="zero"))


def test_there_are_no_shares_where_all_is_judged_and_returned():
    assert shares_of([[1, 0], [0, 1]], a=[[1, 2], [2, 1]]) is None


@pytest.mark.parametrize(
    ("y", "scores", "means", "n_answered", "has_nonrelevant"),
    [
        ([[1, 0], [0, 1]], {"a": [[1, -INF], [-INF, -INF]]}, [1], [1], True),
        ([[1, NAN]], {"one": [[-INF, 1]], "none": [[-INF] * 2]}, [0, 0], [1, 0], False),
        ([[NAN, NAN]], {"a": [[1, 2]]}, [0], [0], False),
    ],
    ids=["all judged", "little returned", "nothing judged"],
)
def test_shares_where_little_is_judged_or_returned(y, scores, means, n_answered, has_nonrelevant):
    shares = shares_of(y, **scores)
    assert (shares.means().tolist(), shares.n_answered().tolist()) == (means, n_answered)
    assert shares.has_judged_nonrelevant == has_nonrelevant


def rows_of_two_rankers():
    """Relevance, scores of two rankers and query ids; some relevance is missing."""
    _, y, query = graded_rows()
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.2, NAN, y)
    return y, {name: rng.choice([-INF, 0, 1, 2, 3], len(y)) for name in "ab"}, query


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
def test_rows_that_are_read_once_serve_every_ranker(unjudged):
    y, scores, query = rows_of_two_rankers()
    rankings = rankings_of_several(y, scores, query)
    options = {"unjudged": unjudged, "undefined": 0.5, "k": 3}
    measure = NDCG(**options)
    rankers = zip(rankings.evaluate_rankers(measure), scores.values(), strict=True)
    for values, score in rankers:
        expected = ndcg_samples(y, score, groups=query, **options)
        for same in (values, rankings.with_scores(score).evaluate(measure)):
            np.testing.assert_array_equal(same.filled(), expected)


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
    wrong = next(rankings.wrong_rows(NDCG()))
    assert wrong.mask.tolist() == [False, True, False]
    assert wrong.message(rankings.names).startswith(message)
    if argument != "sample_weight":
        others = rankings.ignoring(wrong.mask)
        assert not list(others.wrong_rows(NDCG(unjudged="zero")))
        assert others.judged.tolist() == [True, False, True]


DAYS = pd.Series(pd.date_range("2024-01-01", periods=3, tz="Asia/Tokyo")[::-1])


def test_the_labels_of_queries_are_sorted_with_the_position_of_each():
    y, scores, query = rows_of_two_rankers()
    rankings = rankings_of_several(y, scores, query)
    labels, position = rankings.labels_of_queries(DAYS[query % 3], "segments", np.ones(20))
    np.testing.assert_array_equal(labels, DAYS[::-1].dt.tz_convert(None))  # in UTC
    assert position.tolist() == [2 - number % 3 for number in range(20)]


def test_the_labels_of_the_queries_of_lists_come_by_query():
    lists = {"one": {"v": ["a"], "u": ["b"]}, "two": {"w": ["a"], "u": ["b"]}}
    rankings = ListRankings.of(from_lists({"x": ["a"]}, rankers=lists))
    user = {"u": "Ann", "v": "Zoe", "w": "Ann", "x": "Bob", "y": "Eve"}
    labels, position = rankings.labels_of_queries(user, "clusters", np.ones(4))
    assert labels[position].tolist() == [user[query] for query in rankings.grouping.labels]
    assert labels.tolist() == ["Ann", "Bob", "Zoe"]
    without_bob = {query: user[query] for query in "uvw"}
    _, position = rankings.labels_of_queries(without_bob, "clusters", [1, 1, 1, 0])
    assert position.tolist() == [0, 1, 0, -1]
    with pytest.raises(ValueError, match="clusters must have an entry for each query, but lacks 3"):
        rankings.labels_of_queries({"u": 1}, "clusters", np.ones(4))
