"""What is accepted as a list, a truth, judgements or a run, and what is refused."""

import re
from array import array
from collections import OrderedDict, namedtuple
from decimal import Decimal
from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import per_query

from sklearn_ndcg import from_lists, from_trec, ndcg_score

Judged = namedtuple("Judged", ["query_id", "doc_id", "relevance"])
Scored = namedtuple("Scored", ["query_id", "doc_id", "score"])


# --- lists and truths

# what stands for the list of query "q", whose truth is ["a"], and the error
BAD_LISTS = {
    "twice": (["b", "a", "a"], ValueError, "'a' 2 times in query 'q'. .*duplicates=\"omit\""),
    "None": (None, TypeError, "got NoneType for query 'q'"),
    "no hash": ([["a"], ["b"]], TypeError, "recommended has ids in query 'q': .*unhashable.*flat"),
    "one list too many": (
        [["a", "b"]],
        TypeError,
        r"ids in query 'q': .* one list too many.*ids\[0",
    ),
    "a record": ([{"id": "a", "score": 1}], TypeError, r"\[record\[id\] .* of \['id', 'score'\]"),
    "records": ([{"id": i} for i in "ab"], TypeError, r"\[record\[id\] for .* of \['id'\]"),
    "lists of pairs": ([["a", 0.9], ["b", 1]], TypeError, r"\[id for id, _ in sorted\(pairs"),
    "an empty cell": (np.nan, TypeError, r"got float for query 'q'.* pass \[\]"),
    "0-d arrays": ([np.array(3)], TypeError, "ids in query 'q' that are arrays themselves"),
    "pairs": ([("a", 0.9), ("b", 0.5)], TypeError, r"\[id for id, _ in sorted\(pairs"),
    "other ids": ([1, 2], TypeError, "relevant are of type str, .* recommended of type number"),
    "text": ("abc", TypeError, r"got str for query 'q'.* pass \[text\] if it is one id"),
    "a dict of scores": ({"a": 0.9}, TypeError, r"sorted\(scores, key=scores.get, reverse=True\)"),
}
# what stands for the truth of query "q", whose list is ["a"], and the error
BAD_TRUTHS = {
    "no hash": ([["a"], "b"], TypeError, "relevant has ids in query 'q': .*unhashable"),
    "one list too many": (
        [["a", "b"]],
        TypeError,
        r"ids in query 'q': .* one list too many.*ids\[0",
    ),
    "a record": ([{"id": "a", "grade": 1}], TypeError, r"{record\[id\]: .* \['id', 'grade'\]"),
    "records": ([{"id": i} for i in "ab"], TypeError, r"{record\[id\]: record\[grade\] for record"),
    "an empty cell": (np.nan, ValueError, r"relevant has 1 missing id .* 'q'.* pass \[\]"),
    "a number": (3, TypeError, "relevant are of type number, .* recommended of type str"),
    "None": (None, ValueError, r"relevant has 1 missing id \(None or NaN\) in query 'q'"),
    "True": (True, TypeError, "relevant has True or False among its ids in query 'q'"),
    "a grade of text": ({"a": "3"}, TypeError, "got '3' in query 'q' for document 'a': convert"),
    "a grade of None": ({"b": 1, "a": None}, TypeError, "got None .* document 'a'. .*pass nan"),
    "a negative grade": ({"b": 1, "a": -1}, ValueError, "not have -1, .* document 'a'. .*pass nan"),
    "an infinite grade": ({"b": 1, "a": np.inf}, ValueError, "not have inf, found in query 'q'"),
    "grades that are lists": ({"a": [1, 2], "b": [3, 4]}, TypeError, "got .1, 2. in .*Grades are"),
    # `to_dict` would lose one of two
    "a repeated index": (pd.Series([3, 2], ["A", "A"]), TypeError, r"\.to_dict\(\) .* id once"),
    "ones": ([1, 1, 2], ValueError, r"the id 1 2 times in .*by count\.$"),
    # ratings from 1 to 5: as ids they would be a single relevant document
    "stars": ([5, 5, 4], ValueError, r"the id 5 2 times in .*duplicates=\"omit\" .*Counter\(ids\)"),
}
RATINGS = pd.DataFrame({"user": [1, 1, 2], "item": [3, 1, 9]})
TWO_SAME = pd.Series([["A"], ["B"]], index=["q", "q"])
LONG = pd.Series(["a", "b", "c"], index=[1, 1, 2])
GRADES = pd.Series([3, 2, 1], index=pd.MultiIndex.from_tuples([(1, "a"), (1, "b"), (2, "c")]))
# all truths, all lists, and the error
BAD_ARGUMENTS = {
    "a dict and a list": ({"q": ["a"]}, [["a"]], TypeError, "mappings.* dict and list"),
    "lengths": ([["a"], ["b"]], [["a"]], ValueError, "number of queries, got 2 and 1"),
    "a set and scores": ({"a", "b"}, {"a": 0.9}, TypeError, r"got a mapping.* sorted\(scores"),
    "empty cells": ({"q": "a"}, {"q": np.nan}, TypeError, r"got float for query 'q'.* pass \[\]"),
    "rankers": ({"q": ["a"]}, {"bm25": {"q": ["a"]}}, TypeError, "rankers={name: lists}"),
    "a path": ({"q": ["a"]}, Path("run.txt"), TypeError, "Paths go to from_trec"),
    "an iterator": ([["a"]], iter([["a"]]), TypeError, r"got list_iterator.* list\(\) or dict"),
    "a repeated query": ({"q": ["A"]}, TWO_SAME, TypeError, r"several rows of query 'q': keep one"),
    "a Series of ids": (
        LONG,
        {1: ["a"]},
        TypeError,
        r"relevant .*rows of query 1.*agg\(list\)",
    ),
    "ids in a Series": (
        {1: ["a"]},
        LONG,
        TypeError,
        r"recommended .*rows of query 1.*agg\(list",
    ),
    "a Series of grades": (GRADES, {1: ["a"]}, TypeError, r"type tuple.*droplevel\(0\)\.to_dict"),
    "a table of lists": ({1: [1]}, RATINGS, TypeError, r"got DataFrame.*\['id'\]\.agg\(list\)"),
    "a table of truths": (RATINGS, {1: [1]}, TypeError, r"got DataFrame.* rows\['grade'\]\)\) for"),
    "unlike queries": ({"1": ["a"]}, {1: ["a"]}, TypeError, "queries in relevant are of type str"),
    "unlike ids": ({1: [("a",)]}, {1: [1, "a"]}, TypeError, "type tuple, .* of type number, str"),
    "nothing": ({}, {}, ValueError, r"No query is left to score\.$"),
    "nothing in lists": ([], [], ValueError, r"No query is left to score\.$"),
}


@pytest.mark.parametrize(("ids", "error", "message"), BAD_LISTS.values(), ids=BAD_LISTS)
def test_bad_lists(ids, error, message):
    with pytest.raises(error, match=message):
        from_lists({"p": ["a"], "q": ["a"]}, {"p": [], "q": ids})


@pytest.mark.parametrize("duplicates", ["omit", "zero"])
@pytest.mark.parametrize("last", [["c"], ("c", ["d"])], ids=["list", "tuple of a list"])
def test_an_id_without_a_hash_after_a_repeat(last, duplicates):
    with pytest.raises(TypeError, match="recommended has ids in query 'q': unhashable"):
        from_lists({"q": ["a"]}, {"q": ["a", "a", last]}, k=2, duplicates=duplicates)
    rows = from_lists({"q": ["a"]}, {"q": ["a", "a", "b", last]}, k=2, duplicates=duplicates)
    assert rows.ids.tolist()[-1] == "b"


@pytest.mark.parametrize(("truth", "error", "message"), BAD_TRUTHS.values(), ids=BAD_TRUTHS)
def test_bad_truths(truth, error, message):
    with pytest.raises(error, match=message):
        from_lists({"p": {}, "q": truth}, {"p": ["a"], "q": ["a"]})


@pytest.mark.parametrize(
    ("relevant", "recommended", "error", "message"), BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS
)
def test_bad_arguments(relevant, recommended, error, message):
    with pytest.raises(error, match=message):
        from_lists(relevant, recommended)


def test_what_errors_say_of_a_series_helps():
    expected = per_query(from_lists({1: ["a", "b"], 2: ["c"]}, {1: ["b"], 2: ["c"]}))
    truths = LONG.groupby(level=0).agg(list)
    assert per_query(from_lists(truths, {1: ["b"], 2: ["c"]})) == expected
    graded = {q: grades.droplevel(0).to_dict() for q, grades in GRADES.groupby(level=0)}
    assert graded == {1: {"a": 3, "b": 2}, 2: {"c": 1}}
    assert list(per_query(from_lists(graded, {1: ["a", "b"], 2: ["c"]})).values()) == [1, 1]


def way_in(error, pattern, **names):
    """What the code that a message gives makes of these names."""
    return eval(re.search(pattern, str(error.value))[1], names)  # noqa: S307


SCORED = pd.DataFrame({"query": [1, 1, 2], "id": list("xab"), "score": [0.1, 0.9, 0.5]})
BEST_FIRST = {1: ["a", "x"], 2: ["b"]}


def test_what_errors_say_of_tables_helps():
    truth = {1: {"a": 2, "x": 1}, 2: {"b": 1}}
    with pytest.raises(TypeError, match="recommended must be a mapping") as caught:
        from_lists(truth, SCORED)
    lists = way_in(caught, r"or (table.*); of", table=SCORED)
    assert lists.to_dict() == BEST_FIRST
    assert from_lists(truth, lists).groups.tolist() == [1, 1, 2]
    graded = pd.DataFrame({"query": [1, 1, 2], "id": list("axb"), "grade": [2, 1, 1]})
    with pytest.raises(TypeError, match="relevant must be a mapping") as caught:
        from_lists(graded, lists)
    assert way_in(caught, r"or ({query: .*}); of", table=graded) == truth


def test_what_errors_say_of_tables_of_polars_helps():
    polars = pytest.importorskip("polars")
    truths = polars.DataFrame({"query": [2, 1], "ids": [["b"], ["a"]]})
    with pytest.raises(TypeError, match="relevant must be a mapping") as caught:
        from_lists(truths, {1: ["a"], 2: ["b"]})
    truth = way_in(caught, r"each query, (dict.*). Paths", frame=truths)
    assert per_query(from_lists(truth, {1: ["a"], 2: ["b"]})) == {1: 1, 2: 1}


def test_what_errors_say_of_records_and_repeated_queries_helps():
    records = [{"id": "x", "score": 0.1}, {"id": "a", "score": 0.9}]
    with pytest.raises(TypeError, match="id and score being two of") as caught:
        from_lists([{"a": 1}], [records])
    assert way_in(caught, r"first: (\[.*\)\]),", records=records, id="id", score="score") == [
        "a",
        "x",
    ]
    records = [{"id": "x", "grade": 1}, {"id": "a", "grade": 2}]
    with pytest.raises(TypeError, match="id and grade being two of") as caught:
        from_lists([records], [["a"]])
    truth = way_in(caught, r"pass ({.*}),", records=records, id="id", grade="grade")
    assert truth == {"x": 1, "a": 2}
    long = SCORED.sort_values("score", ascending=False).set_index("query")["id"]
    with pytest.raises(TypeError, match="each row is an id, the best first") as caught:
        from_lists({1: ["a"], 2: ["b"]}, long)
    assert way_in(caught, r"pass (recommended.*)\.$", recommended=long).to_dict() == BEST_FIRST
    twice = pd.Series([["a", "x"], ["b"], ["b"]], index=[1, 2, 2])
    with pytest.raises(TypeError, match="keep one of them") as caught:
        from_lists({1: ["a"], 2: ["b"]}, twice)
    assert way_in(caught, r"them, (recommended.*)\.$", recommended=twice).to_dict() == BEST_FIRST


@pytest.mark.parametrize(
    ("relevant", "recommended"),
    [({"q": ["b"]}, {"q": [1, "a"]}), ({np.float32(1): [2.5]}, {1: [1]})],
    ids=["text in both", "numbers in both"],
)
def test_ids_of_unlike_types_are_no_error_if_some_are_alike(relevant, recommended):
    assert list(per_query(from_lists(relevant, recommended)).values()) == [0]


# a list, the cutoff, and what is read of it: whether it has more does not depend on repeats
OMITTED = {
    "more": (["a", "a", "b", "c"], 2, ["a", "b"], True),
    "more, which is judged": (["a", "a", "b", "z"], 2, ["a", "b"], True),
    "no more": (["a", "a", "b", "c"], 3, ["a", "b", "c"], False),
    "repeats after the cutoff": (["a", "b", "a", "b"], 2, ["a", "b"], False),
    "no hash after the cutoff": (["a", "b", ["c"]], 2, ["a", "b"], True),
    "all": (["a", "a", "b", "c"], None, ["a", "b", "c"], False),
}


@pytest.mark.parametrize(("listed", "k", "ids", "has_more"), OMITTED.values(), ids=OMITTED)
def test_a_list_is_read_to_rank_k_after_repeated_ids_are_left_out(listed, k, ids, has_more):
    rows = from_lists({"q": {"z": 1}}, {"q": listed}, duplicates="omit", k=k)
    assert rows.ids.tolist() == [*ids, "z"]
    [ranker] = rows._ranked.values()
    assert ranker.is_cut == has_more
    if k is not None and not has_more:
        whole = from_lists({"q": {"z": 1}}, {"q": listed}, duplicates="omit")
        assert ndcg_score(rows, k="retrieved") == ndcg_score(whole, k="retrieved")


def test_grades_may_be_decimals_as_in_arrays():
    grades = {"a": Decimal("0.5"), "b": Decimal("NaN"), "c": 3}
    expected = (0.5 + 3 / 2) / (3 + 0.5 / np.log2(3))
    assert ndcg_score(from_lists(grades, ["a", "b", "c"])) == pytest.approx(expected)


# --- containers of ids

IDS = [3, 1, 2]
SEQUENCES = {
    "array": np.array,
    "array of the standard library": lambda ids: array("q", ids),
    "pandas Index": pd.Index,
    "pandas array": pd.array,
}
NO_SEQUENCES = {
    "Series": (pd.Series(IDS), r"got Series .*\.tolist\(\) of a column of ids"),
    "array of two dimensions": (np.array([IDS]), r"got ndarray .*\.ravel\(\) of an"),
    "iterator": (iter(IDS), r"list\(\) of another iterable"),
}
SETS = {
    "set": set(IDS),
    "values": dict(enumerate(IDS)).values(),
}
SWAPPED = "It has no order: are relevant and recommended swapped"
TEXT = {"text": ("abc", "got str"), "bytes": (b"abc", "got bytes")}
UNORDERED = {
    "set": (SETS["set"], SWAPPED),
    "OrderedDict": (OrderedDict.fromkeys(IDS), SWAPPED),
    "values": (SETS["values"], r"list\(\) of another iterable"),
}


@pytest.mark.parametrize("make", SEQUENCES.values(), ids=SEQUENCES)
def test_a_list_may_be_any_sequence(make):
    ids = make(IDS)
    rows = from_lists({"q": {1: 2, 7: 1}}, {"q": ids})
    assert rows.ids.tolist() == [*ids, 7]
    assert rows.y_true.tolist() == [2 if i == 1 else 0 for i in ids] + [1]
    assert rows.y_score.tolist() == [-1, -2, -3, -np.inf]


@pytest.mark.parametrize("ids", [*(make(IDS) for make in SEQUENCES.values()), *SETS.values()])
def test_a_truth_may_be_any_collection(ids):
    rows = from_lists({"q": ids}, {"q": [9, 1]})
    assert rows.ids.tolist()[:2] == [9, 1]
    assert rows.y_true.tolist() == [0, 1, 1, 1]


NO_LISTS = NO_SEQUENCES | UNORDERED | {"bytes": (b"abc", "got bytes")}


@pytest.mark.parametrize(("ids", "message"), NO_LISTS.values(), ids=NO_LISTS)
def test_what_is_not_a_list(ids, message):
    with pytest.raises(TypeError, match=message):
        from_lists({"q": {1: 2}}, {"q": ids})


@pytest.mark.parametrize(("ids", "message"), NO_SEQUENCES.values(), ids=NO_SEQUENCES)
def test_what_is_not_a_truth(ids, message):
    with pytest.raises(TypeError, match=message):
        from_lists({"q": ids}, {"q": [9, 1]})


def test_one_id_of_bytes_is_a_truth():
    assert per_query(from_lists({"q": b"a"}, {"q": [b"b", b"a"]})) == {"q": 1 / log2(3)}


@pytest.mark.parametrize(
    "mask", [np.array([False, True]), [np.False_, np.True_]], ids=["array", "list"]
)
def test_a_mask_is_not_ids(mask):
    with pytest.raises(TypeError, match="relevant has True or False among its ids in query 0"):
        from_lists([mask], [[2, 0]])
    with pytest.raises(TypeError, match="recommended has True or False"):
        from_lists([[1]], [mask])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT], ids=repr)
def test_a_missing_id_is_not_a_document(missing):
    # left joins and padded lists make such ids
    message = r"{} has 2 missing ids \(None or NaN\) in query 'b', the first at index 1"
    with pytest.raises(ValueError, match=message.format("relevant")):
        from_lists({"a": ["x"], "b": ["x", missing, missing]}, {"a": ["x"], "b": ["x"]})
    with pytest.raises(ValueError, match=message.format("recommended")):
        from_lists({"b": ["x"]}, {"b": ["x", missing, missing]})
    with pytest.raises(ValueError, match="relevant has . missing id"):
        from_lists({"b": {"x": 1, missing: 1}}, {"b": ["x"]})


def test_a_masked_id_is_not_a_document():
    masked = np.ma.array([1, 2, 3], mask=[False, True, False])
    with pytest.raises(ValueError, match="1 missing id .* in query 0, at index 1: leave"):
        from_lists([[1]], [masked])


# --- judgements and runs

QRELS, RUN = {"q": {"a": 1}}, {"q": {"a": 1}}
TWICE = [Scored("q", "a", 1)] * 2
OTHER = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "rank": [1]})
BAD_TREC = {
    "no query": ({}, {}, ValueError, "qrels has no query"),
    "nan as score": (QRELS, {"q": {"a": np.nan}}, ValueError, "run must not have nan, .* 'q'"),
    "inf as relevance": ({"q": {"a": np.inf}}, RUN, ValueError, "qrels must not have inf"),
    "nan as relevance": ({"q": {"a": np.nan}}, RUN, ValueError, "qrels must not have nan"),
    "text as score": (QRELS, {"q": {"a": "1"}}, TypeError, "run must have numbers, got '1' .*'q'"),
    "a number as id": ({"q": {1: 1}}, RUN, TypeError, "qrels must .* got 1 in query 'q'.* str()"),
    "a number as query": ({1: {"a": 1}}, {1: {"a": 1}}, TypeError, r"qrels .* 1 in .* 1: .*str\("),
    "a run by number": (QRELS, RUN | {1: {"a": 1}}, TypeError, "run must have text .* got 1 in"),
    "a list": (QRELS, {"q": ["a"]}, TypeError, "run must have a mapping .* got list .*from_lists"),
    "a set": ({"q": {"a"}}, RUN, TypeError, "qrels must have a mapping .* got set .*from_lists"),
    "pairs": (QRELS, {"q": [("a", 1)]}, TypeError, r"run must .*from_lists.* dict\(pairs\)"),
    "ids alone": (["a"], ["b"], TypeError, "qrels must .*got list.*from_lists"),
    "tuples": (QRELS, [("q", "a", 1)], TypeError, "records with query_id, doc_id and score"),
    "other columns": (QRELS, OTHER, TypeError, "run must .*DataFrame: it lacks .*'score'"),
    "dicts": (
        QRELS,
        [{"query_id": "q", "doc_id": "a", "score": 1}],
        TypeError,
        r"run must .* got list: .*DataFrame\(records\)",
    ),
    "a number as qrels": (3, {}, TypeError, "got int: 'int' object is not iterable. Sets"),
    "twice": (QRELS, TWICE, ValueError, "'a' twice in query 'q'.* duplicates=\"omit\" .* score"),
    "runs": (QRELS, {"bm25": {"q": {"a": 1.0}}}, TypeError, "runs={name: run}"),
}


@pytest.mark.parametrize(("qrels", "run", "error", "message"), BAD_TREC.values(), ids=BAD_TREC)
def test_bad_trec(qrels, run, error, message):
    with pytest.raises(error, match=message):
        from_trec(qrels, run)


def test_what_errors_say_of_lists_and_pairs_helps():
    assert ndcg_score(from_lists({"q": {"a"}}, {"q": ["b", "a"]})) == 1 / log2(3)
    pairs = [("b", 2.0), ("a", 1.0)]
    with pytest.raises(TypeError) as caught:
        from_trec(QRELS, {"q": pairs})
    run = way_in(caught, r"become a mapping, (.*)\.$", pairs=pairs)
    assert ndcg_score(from_trec(QRELS, {"q": run})) == 1 / log2(3)


def test_tables_may_have_the_names_of_beir():
    names = ["query-id", "corpus-id", "score"]
    qrels = pd.DataFrame([("q", "a", 1), ("q", "b", 0)], columns=names)
    run = pd.DataFrame([("q", "a", 0.4), ("q", "x", 0.9)], columns=names)
    expected = from_trec({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.4, "x": 0.9}}).to_frame()
    assert from_trec(qrels, run).to_frame().equals(expected)
    ours = run.set_axis(["query_id", "doc_id", "score"], axis=1)
    assert from_trec(qrels, ours).to_frame().equals(expected)
    dicts = qrels.to_dict("records")
    with pytest.raises(TypeError, match="qrels must") as caught:
        from_trec(dicts, run)
    table = way_in(caught, r"pass (pandas.*)\.$", pandas=pd, records=dicts)
    assert from_trec(table, run).to_frame().equals(expected)


@pytest.mark.parametrize("make", [iter, pd.DataFrame])
def test_swapped_records_are_refused(make):
    qrels = [Judged("q", "a", 1), Judged("q", "b", 0)]
    run = [Scored("q", "a", 1), Scored("q", "b", 2)]
    with pytest.raises(TypeError, match="qrels must be .*judgements come first.*'relevance'"):
        from_trec(make(run), make(qrels))
    with pytest.raises(TypeError, match="run must be .*judgements come first.*'score'"):
        from_trec(QRELS, make(qrels))
    assert per_query(from_trec(make(qrels), make(run))) == {"q": pytest.approx(1 / log2(3))}
