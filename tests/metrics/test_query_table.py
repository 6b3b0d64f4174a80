"""explain_query: every column against loops, its last rank against the metrics, its text."""

from datetime import date, datetime
from math import inf, nan
from typing import get_args

import numpy as np
import oracles
import pandas as pd
import pytest
from helpers import examples, ragged_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles import exact_dcg, exact_ideal

from sklearn_ndcg import (
    dcg_samples,
    dcg_score,
    explain_query,
    from_lists,
    ndcg_samples,
)
from sklearn_ndcg._checks import Ties

GRADES = [3, 2, 3, 0, 1, 2]


def of_all(gain):
    """A gain that depends on all documents, not only on those of a query."""
    return gain / gain.max()


def by_length(ranks):
    return 1 - (ranks - 1) / len(ranks)


GAINS = ["linear", "exponential", [0, 0, 1, 5], [0, 1, 9, 2], of_all]
DISCOUNTS = [*oracles.DISCOUNTS, by_length]
TIES = get_args(Ties)
OPTIONS = st.fixed_dictionaries(
    {"unjudged": st.sampled_from(["zero", "omit"])},
    optional={
        "gain": st.sampled_from(GAINS),
        "discount": st.sampled_from(DISCOUNTS),
        "k": st.sampled_from([None, 1, 2, 5, 1000, "retrieved"]),
    },
)


def test_a_discount_of_their_number_counts_the_ranks_of_the_longest_query():
    y_true, y_score, groups = [1, 0, 0, 1, 1], [5, 4, 3, 2, 1], list("aaabb")
    options = {"groups": groups, "discount": by_length}
    for query, expected in zip("ab", ndcg_samples(y_true, y_score, **options), strict=True):
        found = explain_query(y_true, y_score, query=query, **options)
        assert found.ranks["ndcg"][-1] == pytest.approx(expected, rel=1e-14)
        discount = by_length(np.arange(1, 4))[: len(found.ranks["rank"])]
        assert found.ranks["discount"].tolist() == discount.tolist()


@settings(max_examples=examples(60), deadline=None)
@given(
    OPTIONS,
    st.sampled_from([{"ties": rule} for rule in TIES] + [{"ignore_ties": True}]),
    st.sampled_from([0.0, 0.5, "omit"]),
    st.integers(0, 5),
)
def test_the_last_rank_has_the_values_of_the_metrics(options, ties, undefined, seed):
    y_true, y_score, groups = ragged_rows(seed, n_queries=5, longest=12)
    y_true = np.where(np.random.default_rng(seed).random(len(y_true)) < 0.2, nan, y_true)
    y_true.flags.writeable = y_score.flags.writeable = False
    options = options | ties
    ndcg = ndcg_samples(y_true, y_score, groups=groups, undefined=undefined, **options)
    dcg = dcg_samples(y_true, y_score, groups=groups, **options)
    for query, of_query, total in zip(np.unique(groups), ndcg, dcg, strict=True):
        found = explain_query(
            y_true, y_score, groups=groups, query=query, undefined=undefined, **options
        )
        assert_array_equal(found.ndcg, of_query)
        ranks = found.ranks
        if not len(ranks["rank"]):  # nothing is judged or retrieved
            assert total == 0
            continue
        assert ranks["ndcg"][-1] == pytest.approx(of_query, abs=1e-14, nan_ok=True)
        assert ranks["dcg"][-1] == pytest.approx(total, abs=1e-13)
        assert np.cumsum(ranks["discounted_gain"]) == pytest.approx(ranks["dcg"], abs=1e-13)


DOCUMENT = st.tuples(st.integers(0, 3), st.sampled_from([-inf, 0.0, 0.5, 1.0]))


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(DOCUMENT, min_size=1, max_size=6),
    st.sampled_from(list(oracles.DISCOUNTS)),
    st.sampled_from(list(TIES)),
)
def test_every_rank_is_that_of_the_oracle(documents, discount, ties):
    gains, scores = zip(*documents, strict=True)
    weight = oracles.DISCOUNTS[discount]
    ranks = explain_query(gains, scores, discount=discount, ties=ties, undefined=0.0).ranks
    depths = range(1, len(gains) + 1)
    dcg = np.array([exact_dcg(gains, scores, k, weight, ties) for k in depths])
    idcg = np.array([exact_ideal(gains, k, weight) for k in depths])
    expected = {
        "rank": list(depths),
        "discount": [weight(rank) for rank in depths],
        "dcg": dcg,
        "discounted_gain": np.diff(dcg, prepend=0),
        "idcg": idcg,
        "ndcg": np.divide(dcg, idcg, out=np.zeros(len(gains)), where=idcg > 0),
        "ideal": sorted(gains, reverse=True),
        "relevance": np.take(gains, ranks["document"]),
        "score": np.take(scores, ranks["document"]),
        "tied": [score > -inf and scores.count(score) > 1 for score in ranks["score"]],
    }
    for column, values in expected.items():
        np.testing.assert_allclose(ranks[column], values, atol=1e-14, err_msg=column)
    assert sorted(ranks["document"]) == list(range(len(gains)))


TEXT = """\
query q: NDCG@3 0.4200
rank  document  score  relevance  gain  discount  discounted gain     DCG  ideal    IDCG    NDCG
   1  A           0.5          1     1    1.0000           1.0000  1.0000      3  3.0000  0.3333
   2  B           0.4          0     0    0.6309           0.0000  1.0000      2  4.2619  0.2346
   3  C           0.3          2     2    0.5000           1.0000  2.0000      1  4.7619  0.4200
Unjudged documents (unjudged='zero'): 1
Not retrieved (score -inf), only in the ideal: 1"""


def test_text_and_frame():
    y_true, y_score = [1, 0, 2, 3, nan, 9], [0.5, 0.4, 0.3, -inf, 0.2, 1]
    names = {"groups": list("qqqqqr"), "ids": list("ABCDEF")}
    found = explain_query(y_true, y_score, query="q", k=3, unjudged="zero", **names)
    assert repr(found) == str(found) == TEXT
    frame = found.to_frame().reset_index()
    assert list(frame) == list(found.ranks)
    for name, values in found.ranks.items():
        assert_array_equal(frame[name], values)


@pytest.mark.parametrize(
    ("options", "metric"),
    [({}, "NDCG"), ({"k": 2}, "NDCG@2"), ({"k": 1, "gain": "exponential"}, "NDCG@1 (exp. gain)")],
)
def test_it_says_what_the_number_is(options, metric):
    found = explain_query([0, 1, 2], **options)
    assert found.metric == metric
    assert str(found).startswith(f"query 0: {metric} {found.ndcg:.4f}\n")


def test_the_ideal_has_documents_of_grade_0_before_unjudged_ones():
    found = explain_query([[nan, 0, 1, nan]], [[4, 3, 2, 1]], unjudged="zero")
    assert_array_equal(found.ranks["ideal"], [1, 0, nan, nan])


@pytest.mark.parametrize(("undefined", "value"), [("omit", nan), (0.5, 0.5), (0, 0.0)])
@pytest.mark.parametrize(("grade", "n_ranks"), [(0, 2), (nan, 0)])
def test_an_undefined_query_says_so(undefined, value, grade, n_ranks):
    options = {"query": 0, "unjudged": "omit", "undefined": undefined}
    found = explain_query([[grade] * 2, [1, 0]], [[1, 2]] * 2, **options)
    assert_array_equal(found.ndcg, value)
    assert_array_equal(found.ranks["ndcg"], [value] * n_ranks)
    assert found.notes[-1] == f"No relevant document (undefined={undefined!r}): {value}"
    assert f"NDCG {value:.4f}" in str(found)


def test_undefined_raises_only_for_the_query_that_is_asked_for():
    data = [[0, 0], [1, 0]], [[1, 2], [2, 1]]
    assert explain_query(*data, query=1, undefined="raise").ndcg == 1
    with pytest.raises(ValueError, match="NDCG is undefined for 1 of 1 queries"):
        explain_query(*data, query=0, undefined="raise")


def test_nothing_retrieved():
    found = explain_query([[1, 0]], [[-inf, -inf]], k="retrieved")
    assert found.ndcg == len(found.ranks["rank"]) == 0
    assert "NDCG@retrieved 0.0000" in str(found)


def test_ignored_ties_are_told_of_and_stay_in_order():
    found = explain_query([[0, 2, 1]], [[5, 5, 5]], ignore_ties=True)
    assert found.ranks["gain"].tolist() == [0, 2, 1]
    assert found.notes == ["Tied documents (ignore_ties=True): 3"]
    assert "tied" in str(found)


DAYS = np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]")
DATES = [date(2024, 1, 1), date(2024, 1, 2)]
INSTANTS = pd.Series(pd.to_datetime(["2024-01-01 05:00:00.000000001", "2024-01-02 00:00:00.0"]))
FORMS = [
    pytest.param([5, 6], np.int8(5), id="integer"),
    pytest.param(np.array([0.5, 1]), np.float32(0.5), id="float"),
    pytest.param(["a", "b"], np.str_("a"), id="text"),
    pytest.param(DAYS, datetime(2024, 1, 1), id="day by datetime"),
    pytest.param(DAYS.astype("M8[ns]"), "2024-01-01", id="nanosecond by text"),
    pytest.param(DATES, DAYS[0], id="date by day"),
    pytest.param([np.array([1, 2]), DAYS], (np.int64(1), DATES[0]), id="several columns"),
    pytest.param(INSTANTS, INSTANTS[0], id="pandas"),
]


@pytest.mark.parametrize(("groups", "query"), FORMS)
def test_a_query_is_found_by_any_form_of_its_id(groups, query):
    assert explain_query([1, 2], [1, 2], groups=groups, query=query).ranks["relevance"] == [1]


UNKNOWN = [
    (list("abcd"), None, "query is missing: pass query= one of the 4 ids, 'a', 'b', 'c', ..."),
    (list("abcd"), "z", "query 'z' is not among the ids: pass query= one of the 4 ids, 'a', "),
    ([1, 2, 3, 4], "5", "query '5' is not among the ids"),
    (np.repeat(DAYS, 2), "yesterday", "ids, 2024-01-01, 2024-01-02"),
    (INSTANTS[[0, 0, 1, 1]].array, pd.Timestamp("2024-01-01 05:00"), "05:00:00 is not among"),
    ([list("aabb"), [1, 2, 1, 2]], ("a", 3), r"ids, \('a', 1\), \('a', 2\), \('b', 1\), ..."),
]


@pytest.mark.parametrize(("groups", "query", "message"), UNKNOWN)
def test_an_unknown_query_shows_ids(groups, query, message):
    with pytest.raises(ValueError, match=message):
        explain_query([1, 0, 0, 0], [1, 0, 0, 0], groups=groups, query=query)


MATRIX = {"y_true": [[1, 0], [0, 1]], "y_score": [[1, 2]] * 2, "query": 1}
ROWS = {"y_true": [1, 0, 2, 1], "y_score": [1, 2, 3, 4], "groups": [0, 1, 0, 1], "query": 1}


@pytest.mark.parametrize(
    ("data", "ids", "documents"),
    [
        (MATRIX, ["A", "B"], ["B", "A"]),
        (MATRIX, [["A", "B"], ["C", "D"]], ["D", "C"]),
        (ROWS, list("ABCD"), ["D", "B"]),
        (ROWS, pd.Index([7, 8, 9, 6]), [6, 8]),
        (ROWS | {"y_true": [1, nan, 2, 1], "unjudged": "omit"}, list("ABCD"), ["D"]),
    ],
)
def test_ids_are_those_of_the_documents(data, ids, documents):
    assert explain_query(**data, ids=ids).ranks["document"].tolist() == documents


def test_documents_of_lists_are_those_of_the_query():
    """The queries of lists keep their own order, and results are in the order of the ids."""
    truths = {"b": {"b1": 1, "b2": 0}, "a": {"a1": 2, "a2": 1}}
    rows = from_lists(truths, {"b": ["b2", "b1"], "a": ["a2", "new"]})
    expected = {"a": ["a2", "new", "a1"], "b": ["b2", "b1"]}
    for query, documents in expected.items():
        assert explain_query(rows, query=query).ranks["document"].tolist() == documents


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
def test_scores_of_lists_are_those_of_their_rows(unjudged):
    truth, ranked = {"a": 1, "b": 2, "c": 0, "d": 1}, ["x", "a", "b", "y", "c"]
    rows = from_lists(truth, ranked, unjudged=unjudged)
    found = explain_query(rows).ranks
    scores = dict(zip(rows.ids, rows.y_score, strict=True))
    assert found["score"].tolist() == [scores[name] for name in found["document"]]
    assert found["score"][0] == -1


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
def test_a_query_without_documents_has_no_ranks(unjudged):
    rows = from_lists({"a": {}, "b": {"x": 1}}, {"a": [], "b": ["x"]}, unjudged=unjudged)
    found = explain_query(rows, query="a", undefined=0.5)
    assert found.ndcg == 0.5
    assert [len(values) for values in found.ranks.values()] == [0] * len(found.ranks)
    assert found.notes == ["No relevant document (undefined=0.5): 0.5"]


def test_ids_in_another_order_of_labels_are_refused():
    y_true = pd.Series([1, 0, 2], index=[7, 8, 9])
    with pytest.raises(ValueError, match="y_true and ids have the same labels in their index, but"):
        explain_query(y_true, [1, 3, 2], ids=y_true[::-1])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"log_bass": 3}, TypeError, "explain_query has no option 'log_bass'.* gain, .* undefined"),
        ({"k": [1, 2]}, ValueError, "k must be an integer >= 1"),
        ({"ids": "ABCD"}, ValueError, r"ids must have the shape of y_true, \(1, 2\)"),
        ({"ids": [[1, 2, 3]]}, ValueError, r"ids must have the shape of y_true.*got \(1, 3\)"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        explain_query([[1, 0]], [[1, 2]], **options)


@pytest.mark.parametrize("container", [list, pd.Series, lambda grades: [grades]])
def test_documents_without_scores_are_in_the_order_of_the_list(container):
    expected = explain_query([GRADES], [[6, 5, 4, 3, 2, 1]])
    assert repr(explain_query(container(GRADES))) == repr(expected)
    assert expected.ndcg == pytest.approx(0.961, abs=5e-4)  # a widely read example


@pytest.mark.parametrize(("groups", "documents"), [("ababab", [1, 3, 5]), ("aaabbb", [3, 4, 5])])
def test_each_query_of_several_is_in_the_order_of_its_rows(groups, documents):
    found = explain_query(GRADES, groups=list(groups), query="b")
    assert found.ranks["document"].tolist() == documents


@pytest.mark.parametrize("base", [2, 10])
def test_log_base_changes_the_dcg_and_not_the_ndcg(base):
    found, usual = explain_query(GRADES, log_base=base).ranks, explain_query(GRADES).ranks
    expected = dcg_score([GRADES], [[6, 5, 4, 3, 2, 1]], log_base=base)
    assert found["discount"] == pytest.approx(np.log(base) / np.log(np.arange(2, 8)), rel=1e-14)
    assert found["dcg"][-1] == pytest.approx(expected, rel=1e-14)
    assert found["ndcg"] == pytest.approx(usual["ndcg"], rel=1e-14)
