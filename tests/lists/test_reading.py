"""What is accepted as a list, a truth, judgements or a run, and what is refused."""

from array import array
from collections import OrderedDict, deque, namedtuple
from datetime import date
from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import ideal, per_query

from sklearn_ndcg import from_lists, from_trec
from sklearn_ndcg._lists.reading import read_list

RATINGS = pd.DataFrame({"user": [1, 1, 2], "item": [3, 1, 9]})


def test_ids_of_unlike_types_are_no_error_if_some_are_alike():
    assert per_query(from_lists({"q": ["b"]}, {"q": [1, "a"]})) == {"q": 0}  # text is in both
    assert per_query(from_lists({np.float32(1): [2.5]}, {1: [1]})) == {1: 0}  # all are numbers


@pytest.mark.parametrize(
    "read",
    [
        lambda truth, lists: from_lists({"p": {"b"}, **truth}, lists),
        lambda truth, lists: from_trec(truth, {"Q": dict.fromkeys(lists["Q"], 0.5)}),
    ],
)
def test_queries_that_only_their_names_keep_apart_are_warned_of(read):
    with pytest.warns(UserWarning, match="a truth and a list: .* lists of 'Q'. Name the queries"):
        read({"q": {"a": 1}}, {"Q": ["a"]})


def test_a_list_is_read_to_rank_k_after_ids_that_are_there_twice_are_left_out():
    documents = ["a", "a", "b", "c"]
    assert read_list(documents, "q", "omit", k=2) == {"a": -1, "b": -2}
    assert read_list(documents, "q", "omit") == {"a": -1, "b": -2, "c": -3}


@pytest.mark.parametrize(
    ("lists", "truth", "error", "message"),
    [
        ({"q": ["a", "b", "a"]}, {"q": ["a"]}, ValueError, "the id 'a' 2 times in query 'q'. Pass duplicates=\"omit\" to count the first"),
        ({date(2024, 5, 1): ["a", "a"]}, {}, ValueError, "'a' 2 times in query 2024-05-01. Pass dup"),
        ({}, {}, ValueError, r"No query is left to score\.$"),
        ([["a"]], {"q": ["a"]}, TypeError, "both be mappings.*dict and list.*without the query"),
        ({"a": 0.9}, {"a", "b"}, TypeError, "got a mapping. For a dict of scores pass sorted"),
        ([["a"]], [["a"], ["b"]], ValueError, "same number of queries, got 2 and 1"),
        ({"q": None}, {"q": ["a"]}, TypeError, "got NoneType for query 'q'"),
        ({"q": [["a"]]}, {"q": ["a"]}, TypeError, "recommended has ids in query 'q': .*unhashable"),
        ({"q": ["a"]}, {"q": [["a"]]}, TypeError, "relevant has ids in query 'q': .*unhashable"),
        ({"q": ["a"]}, {"q": 3}, TypeError, "documents in relevant are of type number, those in recommended of type str"),
        ({"q": ["a"]}, {"q": None}, ValueError, r"relevant has 1 missing id \(None or NaN\) in query 'q'"),
        ({"q": ["a"]}, {"q": True}, TypeError, "relevant has True or False among its ids in query 'q'"),
        ({"q": [("a", 0.9), ("b", 0.5)]}, {"q": ["a"]}, TypeError, r"pass the ids: \[id for id, _ in pairs\]"),
        ({"q": [["a", 0.9], ["b", 0.5]]}, {"q": ["a"]}, TypeError, r"pass the ids: \[id for id, _ in pairs\]"),
        ({"bm25": {"q": ["a"]}}, {"q": ["a"]}, TypeError, r"several rankers as rankers=\{name: lists\}"),
        ({"p": ["a"], "e": ["a"], "q": ["a"]}, {"p": ["a"], "e": {}, "q": {"a": "3"}}, TypeError, "relevant must have numbers, got '3' in query 'q' for document 'a': convert text"),
        ({"q": ["a"]}, {"q": {"b": 1, "a": None}}, TypeError, "got None in query 'q' for document 'a': if nobody judged it, leave it out or pass nan"),
        ({"q": ["a"]}, {"q": {"b": 1, "a": -1}}, ValueError, "must not have -1, found in query 'q' for document 'a': if nobody judged it, leave"),
        ({"q": ["a"]}, {"q": {"b": 1, "a": np.inf}}, ValueError, "relevant must not have inf, found in query 'q'"),
        ({"q": ["a"]}, {"q": {"a": [1, 2], "b": [3, 4]}}, TypeError, "relevant must have numbers, got .1, 2. in query"),
        ({"q": ["a"]}, {"q": {"a": [1, 2], "b": 1}}, TypeError, "relevant must have numbers, got .1, 2. in query"),
        ({"q": ["a"]}, {"q": {"a": np.array([1])}}, TypeError, "relevant must have numbers, got array"),
        ({"q": ["a"]}, {"q": {"a": np.longdouble("1e4000")}}, (TypeError, ValueError), "relevant"),
        ("run.txt", "qrels.txt", TypeError, "Paths go to from_trec"),
        (Path("run.txt"), {"q": ["a"]}, TypeError, "Paths go to from_trec"),
        ({"q": [1, 2]}, {"q": ["1"]}, TypeError, "documents in relevant are of type str, those in recommended of type number"),
        ({1: [1, "a"]}, {1: [("a",)]}, TypeError, "documents .* type tuple, .* of type number, str"),
        ({1: ["a"]}, {"1": ["a"]}, TypeError, "queries in relevant are of type str"),
        ("ab", ["a", "b"], TypeError, "an entry for each query, got str"),
        (iter([["a"]]), [["a"]], TypeError, "a sequence with an entry for each query"),
        (pd.Series(["a"]), {"q": ["a"]}, TypeError, "got str for query 0"),
        (["a"], pd.Series(["a"]), TypeError, "mappings from query, or both .* Series and list"),
        (np.array(3), np.array(3), TypeError, "relevant must be"),
        # five stars for three items: as ids they would be a single relevant document
        ({"u": [1, 5]}, {"u": [5, 5, 4, 5]}, ValueError, r"the id 5 3 times in query 'u'\. Pass duplicates=\"omit\" .* or .*Counter\(ids\)"),
        # `to_dict` would lose one of two
        ({"q": ["A"]}, {"q": pd.Series([3, 2, 1], index=["A", "B", "A"])}, TypeError, r"\.to_dict\(\) .* grades whose index has each id once"),
        (pd.Series([["A"], ["B"]], index=["q", "q"]), {"q": ["A"]}, TypeError, r"\.to_dict\(\) of a Series whose index has each query"),
        (RATINGS, {1: [1, 2], 2: [5]}, TypeError, r"got DataFrame.* \{query: list\(rows\['id'\]\) for query"),
        ({1: [1, 2], 2: [5]}, RATINGS, TypeError, r"dict\(zip\(rows\['id'\], rows\['grade'\]\)\) for query"),
    ],
)  # fmt: skip
def test_bad_lists(lists, truth, error, message):
    with pytest.raises(error, match=message):
        from_lists(truth, lists)


IDS = [3, 1, 2]
# a list or a truth: what it is read as, or a part of the error message
CONTAINERS = {
    "tuple": tuple,
    "deque": deque,
    "array": np.array,
    "array of the standard library": lambda ids: array("q", ids),
    "range": lambda ids: range(3, 0, -1),
    "pandas Index": pd.Index,
    "pandas array": pd.array,
    "pandas Categorical": pd.Categorical,
    "pandas Series": (pd.Series, r"got Series .*\.tolist\(\) of a column of ids"),
    "pandas Series with ids as index": (
        lambda ids: pd.Series([5.0, 4.0, 3.0], index=ids),
        r"\.index\.tolist\(\) of a Series of sorted scores|\.to_dict\(\) of a Series of grades",
    ),
    "pandas DataFrame": (lambda ids: pd.DataFrame({"item": ids}), "got DataFrame for query 'q'"),
    "array of two dimensions": (lambda ids: np.array([ids]), r"got ndarray .*\.ravel\(\) of an"),
    "array of no dimension": (lambda ids: np.array(3), "got ndarray"),
    "iterator": (iter, r"list\(\) of another iterable"),
    "bytes": (lambda ids: b"abc", "got bytes"),
    "bytearray": (lambda ids: bytearray(b"abc"), "got bytearray"),
}
NO_LISTS = {
    "set": (set, "It has no order: are relevant and recommended swapped"),
    "frozenset": (frozenset, "It has no order: are relevant and recommended swapped"),
    "dict of scores": (lambda ids: dict.fromkeys(ids, 1), r"swapped\?.* For a dict of scores pass"),
    "OrderedDict": (OrderedDict.fromkeys, "recommended swapped"),
    "keys": (lambda ids: dict.fromkeys(ids).keys(), "got dict_keys for query 'q'. It has no order"),
    "values": (lambda ids: dict(enumerate(ids)).values(), r"list\(\) of another iterable"),
}
NO_MAPPINGS = {
    "set": set,
    "frozenset": frozenset,
    "keys": lambda ids: dict.fromkeys(ids, 5).keys(),
    "values": lambda ids: dict(enumerate(ids)).values(),
}


@pytest.mark.parametrize("kind", [*CONTAINERS, *NO_LISTS])
def test_a_list_is_read_as_it_is_or_refused(kind):
    make = (CONTAINERS | NO_LISTS)[kind]
    truth = {"q": {1: 2, 7: 1}}
    if isinstance(make, tuple):
        with pytest.raises(TypeError, match=make[1]):
            from_lists(truth, {"q": make[0](IDS)})
    else:
        rows = from_lists(truth, {"q": make(IDS)})
        expected = [2.0 if each == 1 else 0.0 for each in make(IDS)]
        assert rows.y_true.tolist() == [*expected, 1.0]
        assert rows.y_score.tolist() == [-1, -2, -3, -np.inf]


@pytest.mark.parametrize("kind", [*CONTAINERS, *NO_MAPPINGS])
def test_a_truth_is_read_as_it_is_or_refused(kind):
    make = (CONTAINERS | NO_MAPPINGS)[kind]
    if isinstance(make, tuple):
        with pytest.raises(TypeError, match=make[1]):
            from_lists({"q": make[0](IDS)}, {"q": [9, 1]})
    else:
        rows = from_lists({"q": make(IDS)}, {"q": [9, 1]})
        assert rows.y_true.tolist() == [0, 1, 1, 1]


COLUMNS = {
    "polars.Series": lambda pl: pl.Series(IDS),
    "polars.DataFrame": lambda pl: pl.DataFrame({"item": IDS}),
    "pyarrow.Int64Array": lambda pa: pa.array(IDS),
    "pyarrow.ChunkedArray": lambda pa: pa.chunked_array([IDS]),
    "pyarrow.Table": lambda pa: pa.table({"item": IDS}),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_other_libraries_are_refused(kind):
    library, name = kind.split(".")
    given = COLUMNS[kind](pytest.importorskip(library))
    one, all_of = {"q": [1]}, [[1]] * 3
    for truth, lists in ((one, {"q": given}), ({"q": given}, one), (all_of, given)):
        with pytest.raises(TypeError, match=rf"got {name}.*Pass "):
            from_lists(truth, lists)


@pytest.mark.parametrize("kind", [list, np.array, pd.array])
def test_a_mask_is_not_ids(kind):
    relevant = np.zeros((2, 5), dtype=bool)
    relevant[0, 2] = relevant[1, 4] = True  # 0 and 1 would be the ids
    for truth in (relevant, [kind(row.tolist()) for row in relevant]):
        with pytest.raises(TypeError, match="relevant has True or False among its ids in query 0"):
            from_lists(truth, [[2, 0], [1, 4]])
    with pytest.raises(TypeError, match="recommended has True or False"):
        from_lists([[1]], [kind([True, False])])
    # if True and False are numbers, an id occurs more than once
    with pytest.raises(ValueError, match="relevant has the id 0 4 times in query 0"):
        from_lists(relevant.astype(int), [[2, 0], [1, 4]])
    values = per_query(from_lists([np.flatnonzero(row) for row in relevant], [[2, 0], [1, 4]]))
    assert values == {0: 1, 1: pytest.approx(1 / log2(3))}


@pytest.mark.parametrize("missing", [None, np.nan, float("nan"), pd.NA, pd.NaT, np.float32("nan")])
def test_a_missing_id_is_not_a_document(missing):
    # left joins and padded lists make such ids
    message = r"{} has 2 missing ids \(None or NaN\) in query 'b', the first at index 1"
    with pytest.raises(ValueError, match=message.format("relevant")):
        from_lists({"a": ["x"], "b": ["x", missing, missing]}, {"a": ["x"], "b": ["x"]})
    with pytest.raises(ValueError, match=message.format("recommended")):
        from_lists({"b": ["x"]}, {"b": ["x", missing, missing]})
    with pytest.raises(ValueError, match="relevant has . missing id"):
        from_lists({"b": {"x": 1, missing: 1}}, {"b": ["x"]})
    masked = np.ma.array([1, 2, 3], mask=[False, True, False])
    with pytest.raises(ValueError, match="1 missing id .* in query 0, at index 1: leave"):
        from_lists([[1]], [masked])


@pytest.mark.slow  # torch is gigabytes
def test_tensors_as_ids_are_compared_by_value():
    torch = pytest.importorskip("torch")
    top = torch.tensor([[3, 1], [2, 5]])
    y_true, _, _ = from_lists([top[0, 1:], top[1, :1]], list(top))
    assert y_true.tolist() == [0, 1, 1, 0]
    for lists, truth in ((list(top[0]), [3]), ([3], list(top[0]))):  # of 0-d tensors
        with pytest.raises(TypeError, match="ids in query 0 that are arrays themselves, of type"):
            from_lists([truth], [lists])


Record = namedtuple("Record", ["query_id", "doc_id", "score"])


@pytest.mark.parametrize(
    ("qrels", "run", "error", "message"),
    [
        ({}, {}, ValueError, "qrels has no query"),
        ({"q": {"a": 1}}, {"q": {"a": np.nan}}, ValueError, "run must not have nan, found in query 'q'"),
        ({"q": {"a": np.nan}}, {"q": {"a": 1}}, ValueError, "qrels must not have nan"),
        ({"q": {"a": 1}}, {"q": {"a": "1"}}, TypeError, "run must have numbers, got '1' in query 'q'"),
        ({"q": {"a": None}}, {"q": {"a": 1}}, TypeError, "qrels must have numbers, got None"),
        ({"q": {1: 1}}, {"q": {1: 1}}, TypeError, "qrels must have text as ids.*got 1 in query 'q'"),
        ({"q": {"a": 1}}, {"q": {"a": [1]}}, TypeError, "run must have numbers"),
        ({"q": {"a": 1}}, {"q": ["a"]}, TypeError, "run must have a mapping from document to score"),
        ({"q": {"a": 1}}, [("q", "a", 1)], TypeError, "records with query_id, doc_id and score"),
        ({"q": {"a": 1}}, 3, TypeError, "records with query_id, doc_id and score .*got int"),
        ({"q": {"a": 1}}, [Record("q", "a", 1)] * 2, ValueError, "run has document 'a' twice in query 'q'. Pass duplicates=\"omit\" to count its best score only.$"),
        ([Record("q", "a", 1)], {"q": {"a": 1}}, TypeError, "qrels must be.*'relevance'"),
    ],
)  # fmt: skip
def test_bad_trec(qrels, run, error, message):
    with pytest.raises(error, match=message):
        from_trec(qrels, run)


def test_qrels_and_run_that_are_swapped_are_refused():
    rng, names = np.random.default_rng(0), [f"d{i}" for i in range(20)]
    qrels = {q: dict(zip(names, rng.integers(0, 4, 20).tolist(), strict=True)) for q in "ab"}
    run = {q: dict(zip(names, rng.normal(size=20).tolist(), strict=True)) for q in "ab"}
    message = r"qrels and run look swapped: all values of run are whole.*from_trec\(qrels, run\)"
    as_floats = {q: {d: float(y) for d, y in each.items()} for q, each in qrels.items()}
    for whole in (qrels, as_floats):
        with pytest.raises(ValueError, match=message):
            from_trec(run, whole)
    assert per_query(from_trec(as_floats, run)) == per_query(from_trec(qrels, run))


def test_qrels_and_run_that_are_swapped_records_are_noticed():
    judged = namedtuple("Judged", ["query_id", "doc_id", "relevance"])
    qrels = [judged("q", "a", 1), judged("q", "b", 0)]
    run = [Record("q", "a", 1), Record("q", "b", 2)]
    for each in (list, iter, pd.DataFrame):
        with pytest.raises(TypeError, match="qrels must be .*judgements come first.*'relevance'"):
            from_trec(each(run), each(qrels))
        with pytest.raises(TypeError, match="run must be .*judgements come first.*'score'"):
            from_trec({"q": {"a": 1}}, each(qrels))
        assert per_query(from_trec(each(qrels), each(run))) == {"q": pytest.approx(1 / log2(3))}
    with pytest.raises(TypeError, match="got int: 'int' object is not iterable.$"):
        from_trec(3, {})


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({"a": 2, "b": 1.0}, {"a": 1, "b": 2}),  # whole numbers in both
        ({"a": 2.0, "b": 1.0}, {"a": 1, "b": 2.0}),
        ({"a": 1, "b": 0.5}, {"a": 1, "b": 1.5}),  # graded, and real scores
        ({"a": 1, "b": 0.5}, {"a": 1, "b": np.inf}),
        ({"a": 1, "b": 0.5}, {"a": -np.inf, "b": 2}),
    ],
)
def test_valid_judgements_are_not_taken_for_swapped(qrels, run):
    expected = (qrels["b"] + qrels["a"] / log2(3)) / ideal([qrels["a"], qrels["b"]])
    assert per_query(from_trec({"q": qrels}, {"q": run}))["q"] == pytest.approx(expected)
    assert per_query(from_trec({"q": qrels}, {}))["q"] == 0  # without scores to compare
    assert per_query(from_trec({"q": qrels}, {"q": {}, "r": {"a": 1}}))["q"] == 0


def test_the_way_out_for_graded_judgements_and_whole_scores():
    qrels, run = {"q": {"a": 1, "b": 0.5, "c": 0.5}}, {"q": {"a": 1, "b": 2, "c": 2}}
    with pytest.raises(ValueError, match="for example 0.5") as caught:
        from_trec(qrels, run)
    way = str(caught.value).split("from_lists: ")[1].rstrip(".")
    lists = {query: eval(way, {"scores": scores}) for query, scores in run.items()}  # noqa: S307
    assert lists == {"q": ["c", "b", "a"]}
    expected = (0.5 + 0.5 / log2(3) + 1 / 2) / ideal([1, 0.5, 0.5])
    assert per_query(from_lists(qrels, lists))["q"] == pytest.approx(expected)
