"""Shares of judged documents, against all orders that the tie rule allows."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from sklearn_ndcg import from_lists
from sklearn_ndcg._metrics.measure import NDCG
from sklearn_ndcg._metrics.rankings import rankings_of_lists, rankings_of_several
from sklearn_ndcg.inference._judged import judged_shares

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


# in the second, judged and unjudged documents have equal gains
GAINS = {"apart": [3, 1, 1], "equal": [0, 1, 1]}


@pytest.mark.parametrize("gain", GAINS.values(), ids=GAINS)
@pytest.mark.parametrize("k", [1, 2, 10**30, None, "retrieved"])
@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
def test_judged_shares_are_means_over_the_orders_that_ties_allow(ties, k, gain):
    y, scores, query = partly_judged(3)
    gains = np.array([0 if np.isnan(grade) else gain[int(grade)] for grade in y])
    measure = NDCG(k=k, gain=gain, unjudged="zero", ties=ties)
    rankers = list(rankings_of_several(y, scores, query).values())
    shares = judged_shares(rankers, measure)
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
    rankers = list(rankings_of_several(y, scores, query).values())
    shares = judged_shares(rankers, NDCG(k=2, unjudged="zero"))
    assert 0 < rankers[0].has_judgements().sum() == shares.share.shape[1] < 20
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
    rankers = list(rankings_of_several(y, scores).values())
    assert judged_shares(rankers, measure).means().tolist() == [share, 1]


def test_shares_of_lists_are_those_of_their_first_documents():
    truths = {"v": {"a": 1, "b": NAN}, "u": {"a": 2, "c": 0}, "w": ["b"]}
    lists = {"one": {"v": ["b", "a"], "u": ["x", "a"]}, "two": {"u": [], "w": ["x", "b", "y"]}}
    rankers = list(rankings_of_lists(from_lists(truths, rankers=lists)).values())
    shares = judged_shares(rankers, NDCG(k=2, unjudged="zero"))
    assert rankers[0].grouping.labels.tolist() == ["u", "v", "w"]
    np.testing.assert_equal(shares.share, [[1 / 2, 1 / 2, NAN], [NAN, NAN, 1 / 2]])


@pytest.mark.parametrize("ids", [["b", "a"], ["b", "a", "a"]], ids=["unjudged", "repeated"])
def test_unjudged_and_repeated_documents_of_lists_are_no_judged_nonrelevant_ones(ids):
    rows = from_lists([{"a"}], [ids], duplicates="zero")
    rankers = list(rankings_of_lists(rows).values())
    assert not judged_shares(rankers, NDCG(unjudged="zero")).has_judged_nonrelevant


def shares_of(y, **scores):
    return judged_shares(list(rankings_of_several(y, scores).values()), NDCG(unjudged="zero"))


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
