"""Rankings, and shares of judged documents against all orders that the tie rule allows."""

import warnings
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from helpers import graded_rows

from sklearn_ndcg import from_lists, ndcg_samples
from sklearn_ndcg._metrics.measure import NDCG
from sklearn_ndcg._metrics.rankings import Rankings
from sklearn_ndcg._metrics.values import Values
from sklearn_ndcg.inference import compare_rankers, ndcg_by_segment, ndcg_interval

NAN, INF = np.nan, np.inf

# --- shares of judged documents


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


GAINS = {"linear": lambda y: y, "table": {0: 3, 1: 1, 2: 1}.get}
TIES = {
    "average": {"ties": "average"}, "stable": {"ties": "stable"}, "ignored": {"ignore_ties": True},
    "worst": {"ties": "worst"}, "best": {"ties": "best"},
}  # fmt: skip


def partly_judged(seed):
    """Relevance with NaN, scores with ties and -inf of two rankers, and query ids."""
    rng = np.random.default_rng(seed)
    query = rng.permutation(np.repeat(np.arange(20), rng.integers(1, 6, 20)))
    y = rng.choice([NAN, 0, 1, 2], len(query))
    return y, {name: rng.choice([-INF, 1, 2], len(query)) for name in "ab"}, query


@pytest.mark.parametrize("k", [1, 2, 3, None, "retrieved"])
@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("ties", TIES)
def test_judged_shares_are_means_over_the_orders_that_the_measure_allows(ties, gain, k):
    table = {0: 3, 1: 1, 2: 1} if gain == "table" else gain
    for seed, unjudged in ((0, "zero"), (1, "omit")):
        y, scores, query = partly_judged(seed)
        gains = [0 if np.isnan(grade) else GAINS[gain](grade) for grade in y.tolist()]
        measure = NDCG(k=k, gain=table, unjudged=unjudged, **TIES[ties])
        found = Rankings.of_rankers(y, scores, query).judged_shares(measure)
        rows = [np.flatnonzero(query == q) for q in range(20)]
        rule = "stable" if ties == "ignored" else ties
        for score, shares in zip(scores.values(), found.share, strict=True):
            expected = [judged_share(y[r], score[r], np.take(gains, r), rule, k) for r in rows]
            np.testing.assert_allclose(shares, expected, atol=1e-12)
        has_judgements = [not np.isnan(y[r]).all() for r in rows]
        assert found.has_judgements.tolist() == has_judgements
        assert found.has_judged_nonrelevant


def test_means_are_over_the_queries_that_have_a_judged_document():
    y, scores, query = partly_judged(2)
    y[query < 2] = NAN
    found = Rankings.of_rankers(y, scores, query).judged_shares(NDCG(k=2, unjudged="zero"))
    judged, answered = found.means()
    known = found.has_judgements
    assert 0 < known.sum() < 20
    for i in range(2):
        shares = found.share[i][known]
        assert answered[i] == np.mean(~np.isnan(shares))
        assert judged[i] == pytest.approx(np.nanmean(shares), abs=1e-15)
    assert found.n_answered().tolist() == [round(share * known.sum()) for share in answered]
    few = found.take(np.arange(20) < 8)
    np.testing.assert_equal(few.share, found.share[:, :8])
    assert few.has_judgements.tolist() == known[:8].tolist()
    assert few.has_judged_nonrelevant


TIED = {"average": 1 / 2, "stable": 0, "worst": 0, "best": 1}


@pytest.mark.filterwarnings("ignore:(All 12 queries|Intervals of|Of the first|The truth has none)")
@pytest.mark.parametrize("ties", TIED)
def test_a_tie_of_a_judged_and_an_unjudged_document_is_ordered_as_in_the_measure(ties):
    y, s = np.array([[NAN, 1.0, 0]] * 12), np.array([[2.0, 2, 1]] * 12)
    options = {"k": 1, "ties": ties, "unjudged": "zero"}
    assert ndcg_interval(y, s, method="t", **options).judged == TIED[ties]
    table = ndcg_by_segment(y, s, segments=np.arange(12) // 6, method="t", **options)
    assert table.judged.tolist() == [TIED[ties]] * 2
    scores = {"tied": s, "judged first": np.array([[1.0, 2, 1]] * 12)}
    compared = compare_rankers(y, scores, test="t", **options)
    assert compared.judged == {"tied": TIED[ties], "judged first": 1}


def test_shares_of_a_matrix_are_those_of_its_rows():
    rng = np.random.default_rng(0)
    y, s = rng.choice([NAN, 0, 1, 2], (15, 6)), rng.choice([-INF, 1, 2], (15, 6))
    measure = NDCG(k=3, ties="best", unjudged="zero")
    found = Rankings.of_arrays(y, s).judged_shares(measure)
    rows = Rankings.of_arrays(y.ravel(), s.ravel(), np.repeat(np.arange(15), 6))
    np.testing.assert_equal(found, rows.judged_shares(measure))


def test_shares_of_lists_are_those_of_their_first_documents():
    truths = {"v": {"a": 1, "b": NAN}, "u": {"a": 2, "c": 0}, "w": ["b"]}
    lists = {"one": {"v": ["b", "a"], "u": ["x", "a"]}, "two": {"u": [], "w": ["x", "b", "y"]}}
    measure = NDCG(k=2, unjudged="zero")
    rankings = Rankings.of_lists(from_lists(truths, rankers=lists))
    found = rankings.judged_shares(measure)
    assert rankings.grouping.labels.tolist() == ["u", "v", "w"]
    np.testing.assert_equal(found.share, [[1 / 2, 1 / 2, NAN], [NAN, NAN, 1 / 2]])
    assert found.has_judgements.all()


def test_shares_where_little_is_judged_or_returned():
    def shares(y, **scores):
        return Rankings.of_rankers(y, scores).judged_shares(NDCG(unjudged="zero"))

    assert shares([[1, 0], [0, 1]], a=[[1, 2], [2, 1]]) is None  # all is judged and returned
    found = shares([[1, 0], [0, 1]], a=[[1, -INF], [-INF, -INF]])
    np.testing.assert_equal(found.share, [[1, NAN]])
    assert found.means() == ([1], [0.5])
    found = shares([[1.0, NAN]], one=[[-INF, 1]], none=[[-INF, -INF]])
    assert found.means() == ([0, 0], [1, 0])
    assert not found.has_judged_nonrelevant
    assert shares([[NAN, NAN]], a=[[1, 2]]).means() == ([0], [0])


# --- rows


def rows_of_two_rankers(seed=0):
    """Relevance, scores of two rankers and query ids; some relevance is missing."""
    _, y, query = graded_rows(seed=seed)
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(len(y)) < 0.2, NAN, y)
    return y, {name: rng.choice([-INF, 0, 1, 2, 3], len(y)) for name in "ab"}, query


MEASURES = {
    "one": {"unjudged": "zero", "undefined": 0.5},
    "other": {"unjudged": "omit", "undefined": 0.5, "gain": "exponential", "k": 3, "ties": "worst"},
    "table": {"unjudged": "zero", "undefined": 0.75, "gain": {0: 1, 1: 5, 2: 2, 3: 3}},
    "callable": {"unjudged": "omit", "undefined": 0.75, "gain": np.sqrt, "discount": "reciprocal"},
}


def values(measure, queries):
    return Values.of(measure, queries).filled()[:, 0].tolist()


@pytest.mark.parametrize("grades", [True, False])
def test_rows_that_are_read_once_serve_every_ranker_and_measure(grades):
    y, scores, query = rows_of_two_rankers()
    y = np.nan_to_num(y) if grades else y
    rankings = Rankings.of_rankers(y, scores, query)
    assert (rankings.relevance.dtype == np.uint8) == (rankings.judged is None) == grades
    for _ in range(2):  # nothing is changed
        for options in MEASURES.values():
            measure = NDCG(**options)
            queries = rankings.queries_of_rankers(measure)
            for found, score in zip(queries, scores.values(), strict=True):
                expected = ndcg_samples(y, score, groups=query, **options)
                assert values(measure, found) == expected.tolist()
            other = rankings.with_scores(score).queries(measure)
            assert values(measure, other) == expected.tolist()
    with pytest.raises(ValueError, match="must have the same shape"):
        rankings.with_scores(score[1:])


def test_ids_and_weights_are_checked_when_they_are_asked_for():
    rankings = Rankings.of_arrays([1, 0, 2], [1, 2, 3], [1, 2, 3], [0, 0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        queries = rankings.queries(NDCG())
        with pytest.raises(ValueError, match="sample_weight is 0 for every query"):
            Values.of(NDCG(), queries).means()
        with pytest.raises(UserWarning, match="Each of the 3 queries has a single document"):
            rankings.check_ids(queries)


def test_without_sorting_the_values_are_the_same_in_any_order():
    y, scores, query = rows_of_two_rankers()
    names = np.array([f"query {q}" for q in query], dtype=object)
    measure = NDCG(unjudged="zero", undefined=0)
    in_order, found = (
        Rankings.of_arrays(y, scores["a"], names, sort=sort).queries(measure)
        for sort in (True, False)
    )
    expected = dict(zip(in_order.labels, values(measure, in_order), strict=True))
    assert list(expected) == sorted(expected)
    assert dict(zip(found.labels, values(measure, found), strict=True)) == expected


WRONG = {
    "y_true is infinite": ("Input y_true contains infinity: {rows}", {"y_true": [1, INF, 0]}),
    "y_score is nan": ("Input y_score contains NaN: {rows}", {"y_score": [1, np.nan, 0]}),
    "sample_weight is negative": ("sample_weight must be finite", {"sample_weight": [1, -1, 0]}),
    "y_true is unjudged": (
        "Input y_true contains NaN: {rows}. If NaN means unjudged",
        {"y_true": [1, np.nan, 0]},
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_rows_say_what_is_wrong_with_them(case):
    message, wrong = WRONG[case]
    data = {"y_true": [1, 2, 0], "y_score": [3, 2, 1], "groups": [1, 1, 1]} | wrong
    rankings = Rankings.of_arrays(**data)
    found = next(rankings.wrong_rows(NDCG()))
    assert found.mask.tolist() == [False, True, False]
    assert found.message.startswith(message)
    with pytest.raises(ValueError, match="at index 1"):
        rankings.queries(NDCG())
    if "sample_weight" not in wrong:
        assert not list(rankings.ignoring(found.mask).wrong_rows(NDCG(unjudged="zero")))


# --- clusters and segments


def test_the_labels_of_queries_are_sorted_with_the_position_of_each():
    y, scores, query = rows_of_two_rankers()
    days = pd.Series(pd.date_range("2024-01-01", periods=3, tz="Asia/Tokyo")[::-1])
    flat = Rankings.of_rankers(y, scores, query)
    matrix = Rankings.of_arrays(np.ones((20, 2)), np.ones((20, 2)))
    for rankings, ids in ((flat, days[query % 3]), (matrix, days[np.arange(20) % 3])):
        labels, position = rankings.labels_of_queries(ids, "segments", np.ones(20))
        assert labels.tolist() == sorted(days)  # with their time zone
        assert position.tolist() == [2 - q % 3 for q in range(20)]


def test_the_labels_of_the_queries_of_lists_come_by_query():
    lists = {"one": {"v": ["a"], "u": ["b"]}, "two": {"w": ["a"], "u": ["b"]}}
    rankings = Rankings.of_lists(from_lists({"x": ["a"]}, rankers=lists))
    user = {"u": "Ann", "v": "Zoe", "w": "Ann", "x": "Bob", "y": "Eve"}
    labels, position = rankings.labels_of_queries(user, "clusters", np.ones(4))
    assert labels[position].tolist() == [user[q] for q in rankings.grouping.labels]
    assert labels.tolist() == ["Ann", "Bob", "Zoe"]
    with pytest.raises(ValueError, match="clusters must have an entry for each query, but lacks 3"):
        rankings.labels_of_queries({"u": 1}, "clusters", np.ones(4))
