"""explain_query: every column against loops, its last rank against the metrics, its text."""

from datetime import date, datetime
from math import inf, nan

import numpy as np
import pandas as pd
import pytest
from helpers import examples, ragged_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal as assert_same
from oracles import exact_dcg, exact_ideal, log_discount
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import (
    dcg_samples,
    dcg_score,
    explain_query,
    jarvelin_kekalainen,
    ndcg_curve,
    ndcg_samples,
)
from sklearn_ndcg.inference import compare_rankers

COLUMNS = [
    "document", "score", "tied", "relevance", "gain", "discount", "discounted_gain", "dcg", "ideal",
    "idcg", "ndcg",
]  # fmt: skip


def of_all(gain):
    """A gain that depends on all documents, not only on those of a query."""
    return gain / gain.max()


def by_length(ranks):
    return 1 - (ranks - 1) / len(ranks)


OPTIONS = st.fixed_dictionaries(
    {
        "unjudged": st.sampled_from(["zero", "omit"]),
        "undefined": st.sampled_from([0.0, 0.5, "omit"]),
    },
    optional={
        "gain": st.sampled_from(["linear", "exponential", [0, 0, 1, 5], {0: 0, 1: 1, 2: 9, 3: 2}, of_all]),
        "discount": st.sampled_from(["log", "reciprocal", "none", jarvelin_kekalainen(3), by_length]),
        "k": st.sampled_from([None, 1, 2, 5, 1000, "retrieved"]),
    },
)  # fmt: skip
TIES = st.sampled_from([{"ties": name} for name in ("average", "stable", "worst", "best")])


@settings(max_examples=examples(60), deadline=None)
@given(OPTIONS, TIES | st.just({"ignore_ties": True}), st.integers(0, 5), st.booleans())
def test_the_last_rank_has_the_values_of_the_metrics(options, ties, seed, as_matrix):
    y_true, y_score, groups = ragged_rows(seed, n_queries=12, longest=20)
    y_true = np.where(np.random.default_rng(seed).random(len(y_true)) < 0.2, nan, y_true)
    if as_matrix:
        n = len(y_true) // 10 * 10
        y_true, y_score, groups = y_true[:n].reshape(-1, 10), y_score[:n].reshape(-1, 10), None
    options = options | ties
    for rows in (y_true, y_score):
        rows.flags.writeable = False
    of_dcg = {name: value for name, value in options.items() if name != "undefined"}
    ndcg = ndcg_samples(y_true, y_score, groups=groups, **options)
    dcg = dcg_samples(y_true, y_score, groups=groups, **of_dcg)
    queries = range(len(y_true)) if as_matrix else np.unique(groups)
    for query, value, total in zip(queries, ndcg, dcg, strict=True):
        found = explain_query(y_true, y_score, groups=groups, query=query, **options)
        assert_same(found.ndcg, value)
        ranks = found.ranks
        if not len(ranks["rank"]):  # nothing is judged or retrieved
            assert total == 0
            continue
        assert ranks["ndcg"][-1] == pytest.approx(value, abs=1e-14, nan_ok=True)
        assert ranks["dcg"][-1] == pytest.approx(total, abs=1e-13)
        assert np.cumsum(ranks["discounted_gain"]) == pytest.approx(ranks["dcg"], abs=1e-13)
        if options.get("gain") is not of_all and options.get("discount") is not by_length:
            y, s = (rows[query if as_matrix else groups == query] for rows in (y_true, y_score))
            curve = {name: each for name, each in options.items() if name != "k"}
            _, each = ndcg_curve(y, s, groups=np.zeros(len(y)), k=ranks["rank"], **curve)
            assert ranks["ndcg"] == pytest.approx(each, abs=1e-14, nan_ok=True)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-inf, 0.0, 0.5, 1.0])), min_size=1, max_size=6),
    st.sampled_from(["log", "reciprocal", "none"]),
    TIES,
)  # fmt: skip
def test_every_rank_against_all_orders_of_the_ties(documents, discount, ties):
    gains, scores = zip(*documents, strict=True)
    weight = {"log": log_discount, "reciprocal": lambda r: 1 / r, "none": lambda r: 1}[discount]
    ranks = explain_query(
        gains, scores, groups=[0] * len(gains), discount=discount, undefined=0.0, **ties
    ).ranks
    for i, rank in enumerate(ranks["rank"]):
        dcg, idcg = exact_dcg(gains, scores, rank, weight, **ties), exact_ideal(gains, rank, weight)
        assert ranks["dcg"][i] == pytest.approx(dcg, abs=1e-14)
        assert ranks["idcg"][i] == pytest.approx(idcg, abs=1e-14)
        assert ranks["ndcg"][i] == pytest.approx(dcg / idcg if idcg else 0, abs=1e-14)
        assert ranks["discount"][i] == pytest.approx(weight(rank), abs=1e-15)
        assert ranks["discounted_gain"][i] == pytest.approx(
            dcg - (exact_dcg(gains, scores, rank - 1, weight, **ties) if i else 0), abs=1e-14
        )
        document = ranks["document"][i]
        assert (ranks["relevance"][i], ranks["score"][i]) == documents[document]
        alike = [j for j, score in enumerate(scores) if score == scores[document]]
        assert ranks["tied"][i] == (len(alike) > 1 and scores[document] > -inf)
    assert ranks["ideal"].tolist() == sorted(gains, reverse=True)
    assert sorted(ranks["document"]) == list(range(len(gains)))


TEXT = """\
query q: NDCG@3 0.3813
rank  document  score   tied  relevance  gain  discount  discounted gain     DCG  ideal    IDCG    NDCG
   1  A           0.5   True          1   0.5    1.0000           0.5000  0.5000      3  3.0000  0.1667
   2  B           0.5   True          0   0.5    0.6309           0.3155  0.8155      2  4.2619  0.1913
   3  C           0.3  False          2     2    0.5000           1.0000  1.8155      1  4.7619  0.3813
Tied documents (ties='average'): 2
Unjudged documents (unjudged='zero'): 1
Not retrieved (score -inf), only in the ideal: 1"""


def test_text_and_frame():
    found = explain_query(
        [1, 0, 2, 3, nan, 9], [0.5, 0.5, 0.3, -inf, 0.2, 1], groups=list("qqqqqr"), query="q",
        ids=list("ABCDEF"), unjudged="zero", k=3,
    )  # fmt: skip
    assert repr(found) == str(found) == TEXT
    frame = found.to_frame()
    assert [frame.index.name, *frame.columns] == [*found.ranks] == ["rank", *COLUMNS]
    for name, values in found.ranks.items():
        assert_same(frame.reset_index()[name], values)


def test_the_ideal_has_documents_of_grade_0_before_unjudged_ones():
    found = explain_query([[nan, 0, 1, nan]], [[4, 3, 2, 1]], unjudged="zero")
    assert_same(found.ranks["ideal"], [1, 0, nan, nan])


def test_long_queries_print_their_first_and_last_ranks():
    n = 10_000
    found = explain_query([np.arange(n) % 4], [-np.arange(n)])
    _, _, *lines = str(found).splitlines()
    ranks = [line.split()[0] for line in lines]
    assert ranks == [*map(str, range(1, 21)), "...", *map(str, range(n - 19, n + 1))]
    assert len(found.ranks["ndcg"]) == n
    whole = str(explain_query([[1] * 40], [range(40)]))
    assert len(whole.splitlines()) == 42
    assert "tied" not in whole


@pytest.mark.parametrize(("undefined", "value"), [("omit", nan), (0.5, 0.5), (0, 0.0)])
@pytest.mark.parametrize("grade", [0, nan])
def test_an_undefined_query_says_so(undefined, value, grade):
    options = {"query": 0, "unjudged": "omit", "undefined": undefined}
    found = explain_query([[grade] * 2, [1, 0]], [[1, 2]] * 2, **options)
    assert_same(found.ndcg, value)
    assert_same(found.ranks["ndcg"], [value] * (0 if np.isnan(grade) else 2))
    assert found.notes[-1] == f"No relevant document (undefined={undefined!r}): {value}"
    assert f"NDCG {value:.4f}" in str(found)


def test_an_undefined_query_warns_once():
    with pytest.warns(UndefinedMetricWarning, match="undefined for 1 of 1") as caught:
        assert explain_query([[0, 0], [0, 0]], [[1, 2]] * 2, query=1).ndcg == 0
    assert len(caught) == 1


def test_undefined_raises_only_for_the_query_that_is_asked_for():
    data = [[0, 0], [1, 0]], [[1, 2], [2, 1]]
    assert explain_query(*data, query=1, undefined="raise").ndcg == 1
    with pytest.raises(ValueError, match="NDCG is undefined for 1 of 1 queries"):
        explain_query(*data, query=0, undefined="raise")


def test_nothing_retrieved():
    found = explain_query([[1, 0]], [[-inf, -inf]], k="retrieved")
    assert found.ndcg == 0
    assert len(found.ranks["rank"]) == 0
    assert "NDCG@retrieved 0.0000" in str(found)
    assert explain_query([[1, 0]], [[-inf, -inf]]).ranks["idcg"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("ties", "order"), [("best", [1, 2, 0]), ("worst", [0, 2, 1]), ("stable", [0, 1, 2]), (None, [0, 1, 2])]
)  # fmt: skip
def test_ties_in_one_order(ties, order):
    options = {"ties": ties} if ties else {"ignore_ties": True}
    found = explain_query([[0, 2, 1]], [[5, 5, 5]], **options)
    assert found.ranks["document"].tolist() == order
    assert found.ranks["gain"].tolist() == [[0, 2, 1][document] for document in order]
    [[name, value]] = options.items()
    assert found.notes == [f"Tied documents ({name}={value!r}): 3"]


DAYS = np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]")
FORMS = [DAYS[0], "2024-01-01", date(2024, 1, 1), datetime(2024, 1, 1)]
QUERIES = {
    "int": ([5, 6], [5, np.int8(5), np.float64(5), 5.0]),
    "float": (np.array([0.5, 1]), [0.5, np.float32(0.5)]),
    "text": (["a", "b"], ["a", np.str_("a")]),
    "day": (DAYS, FORMS),
    "second": (DAYS.astype("M8[ns]"), FORMS),
    "date": ([date(2024, 1, 1), date(2024, 1, 2)], FORMS[:3]),
    "several": ([np.array([1, 2]), DAYS], [(1, DAYS[0]), (np.int64(1), date(2024, 1, 1))]),
}


@pytest.mark.parametrize("kind", QUERIES)
def test_a_query_is_found_by_any_form_of_its_id(kind):
    groups, forms = QUERIES[kind]
    for query in forms:
        assert explain_query([1, 2], [1, 2], groups=groups, query=query).ranks["relevance"] == [1]


def test_a_query_of_pandas():
    days = ["2024-01-01 05:00:00.000000001", "2024-01-02 00:00:00.0"]
    days = pd.Series(pd.to_datetime(days))
    for number in (0, 1):
        found = explain_query([1, 2], [1, 2], groups=days, query=days[number])
        assert found.ranks["relevance"] == [number + 1]
    with pytest.raises(ValueError, match="2024-01-01 05:00:00 is not among the ids"):
        explain_query([1, 2], [1, 2], groups=days, query=pd.Timestamp("2024-01-01 05:00:00"))


UNKNOWN = [
    (list("abcd"), None, "query is missing: pass query= one of the 4 ids, 'a', 'b', 'c', ..."),
    (list("abcd"), "z", "query 'z' is not among the ids: pass query= one of the 4 ids, 'a', "),
    ([1, 2, 3, 4], "5", "query '5' is not among the ids"),
    ([1, 2, 3, 4], [1, 2], r"query \[1, 2\] is not among the ids"),
    ([1, 2, 3, 4], np.array([1, 2]), "is not among the ids"),
    ([1, 1, 1, 1], 2, "pass query= one of the 1 ids, 1"),
    (np.repeat(DAYS, 2), "yesterday", "ids, 2024-01-01, 2024-01-02"),
    ([list("aabb"), [1, 2, 1, 2]], ("a", 3), r"ids, \('a', 1\), \('a', 2\), \('b', 1\), ..."),
    (None, -1, "one of the 4 ids, 0, 1, 2, ..."),
]


@pytest.mark.parametrize(("groups", "query", "message"), UNKNOWN)
def test_an_unknown_query_shows_ids(groups, query, message):
    data = ([1, 0, 0, 0],) * 2 if groups is not None else ([[1, 0]] * 4,) * 2
    with pytest.raises(ValueError, match=message):
        explain_query(*data, groups=groups, query=query)


def test_the_only_query_needs_no_name():
    assert explain_query([1, 0], [1, 2], groups=["q", "q"]).query == "q"
    assert explain_query([[1, 0]], [[1, 2]]).query == 0
    assert explain_query([[1], [0]], [1, 2], groups=["q", "q"]).ranks["document"].tolist() == [1, 0]


MATRIX = {"y_true": [[1, 0], [0, 1]], "y_score": [[1, 2]] * 2, "query": 1}
ROWS = {"y_true": [1, 0, 2, 1], "y_score": [1, 2, 3, 4], "groups": [0, 1, 0, 1], "query": 1}


@pytest.mark.parametrize(
    ("data", "ids", "documents"),
    [
        (MATRIX, None, [1, 0]),
        (MATRIX, ["A", "B"], ["B", "A"]),
        (MATRIX, [["A", "B"], ["C", "D"]], ["D", "C"]),
        (ROWS, None, [3, 1]),
        (ROWS, list("ABCD"), ["D", "B"]),
    ],
)
def test_ids_are_those_of_the_documents(data, ids, documents):
    assert explain_query(**data, ids=ids).ranks["document"].tolist() == documents


def test_ids_of_pandas():
    y_true = pd.Series([1, 0, 2], index=[7, 8, 9])
    rows = {"y_true": y_true, "y_score": [1, 3, 2], "groups": [0, 0, 0]}
    found = explain_query(**rows, ids=y_true.index)
    assert found.ranks["document"].tolist() == [8, 9, 7]
    assert explain_query(**rows).ranks["document"].tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="y_true and ids have the same labels in their index, but"):
        explain_query(**rows, ids=y_true[::-1])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"y_true": [1, 0]}, ValueError, "y_true"),
        ({"y_true": [[1, nan]]}, ValueError, "y_true"),
        ({"y_true": [[1, -1]]}, ValueError, "y_true"),
        (ROWS | {"ids": "ABCD"}, ValueError, r"ids must have the shape of y_true, \(4,\)"),
        ({"log_bass": 3}, TypeError, "explain_query has no option 'log_bass'.* gain, .* undefined"),
        ({"k": [1, 2]}, ValueError, "k must be an integer >= 1"),
        ({"ties": "first"}, ValueError, "ties must be one of"),
        ({"ids": [[1, 2, 3]]}, ValueError, r"ids must have the shape of y_true.*got \(1, 3\)"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        explain_query(**{"y_true": [[1, 0]], "y_score": [[1, 2]]} | options)


GRADES = [3, 2, 3, 0, 1, 2]


def test_documents_without_scores_are_in_the_order_of_the_list():
    expected = explain_query([GRADES], [[6, 5, 4, 3, 2, 1]])
    for y_true in (GRADES, [GRADES], np.array(GRADES), pd.Series(GRADES)):
        assert repr(explain_query(y_true)) == repr(expected)
    assert explain_query(GRADES).ndcg == pytest.approx(0.961, abs=5e-4)  # a widely read example


def test_rows_without_groups_are_one_query():
    expected = explain_query([GRADES], [[0.1, 0.5, 0.5, 0.2, 0.9, 0.3]], k=3)
    assert repr(explain_query(GRADES, [0.1, 0.5, 0.5, 0.2, 0.9, 0.3], k=3)) == repr(expected)
    column = np.reshape(GRADES, (-1, 1))
    assert explain_query(column, groups=["q"] * 6).ndcg == explain_query(GRADES).ndcg


def test_each_query_of_several_is_in_the_order_of_its_rows():
    groups = ["a", "b", "a", "b", "a", "b"]
    found = explain_query(GRADES, groups=groups, query="b")
    assert found.ranks["document"].tolist() == [1, 3, 5]
    assert found.ranks["relevance"].tolist() == [2, 0, 2]
    matrix = explain_query([[1, 0, 2], [0, 0, 1]], query=1)
    assert matrix.ranks["relevance"].tolist() == [0, 0, 1]


@pytest.mark.parametrize("base", [2, np.e, 10])
def test_log_base_changes_the_dcg_and_not_the_ndcg(base):
    found, usual = explain_query(GRADES, log_base=base), explain_query(GRADES)
    ranks = np.arange(1, 7)
    np.testing.assert_allclose(
        found.ranks["discount"], np.log(base) / np.log(ranks + 1), rtol=1e-14
    )
    assert found.ranks["dcg"][-1] == pytest.approx(
        dcg_score([GRADES], [6 - ranks], log_base=base), rel=1e-14
    )
    np.testing.assert_allclose(found.ranks["ndcg"], usual.ranks["ndcg"], rtol=1e-14)


def test_log_base_is_no_option_of_other_functions():
    with pytest.raises(TypeError, match="compare_rankers has no option 'log_base'"):
        compare_rankers([GRADES] * 2, {"a": [GRADES] * 2, "b": [GRADES] * 2}, log_base=10)
