"""Ranked lists and TREC runs as rows."""

from array import array
from collections import Counter, OrderedDict, deque, namedtuple
from math import log2

import numpy as np
import pandas as pd
import pytest

from sklearn_ndcg import (
    CONVENTIONS,
    from_lists,
    from_trec,
    ndcg_samples,
    ndcg_score,
)


def per_query(rows, **options):
    y_true, y_score, groups = rows
    values = ndcg_samples(y_true, y_score, groups=groups, **options)
    return dict(zip(np.unique(groups).tolist(), values.tolist(), strict=True))


TRUTH = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}


def test_worked_example_1():
    one = from_lists({"q": ["A", "B", "C"]}, {"q": TRUTH})
    assert ndcg_score(*one[:2], groups=one[2], k=3) == pytest.approx(0.6048882832133625, abs=1e-15)
    dcg = 0.1 + 0.5 / log2(3) + 0.7 / 2
    ideal = 0.7 + 0.5 / log2(3) + 0.5 / 2 + 0.1 / log2(5) + 0.1 / log2(6)
    assert ndcg_score(*one[:2], groups=one[2]) == pytest.approx(dcg / ideal, abs=1e-15)
    both = from_lists({1: ["A", "B", "C"], 2: ["D", "A", "C", "B", "E"]}, {1: TRUTH, 2: TRUTH})
    found = ndcg_score(*both[:2], groups=both[2], k="retrieved")
    assert found == pytest.approx(0.7356022113638424, abs=1e-15)


def test_worked_example_5():
    rng = np.random.default_rng(0)
    recommended = {p: rng.permutation(500)[: rng.integers(1, 101)].tolist() for p in range(50)}
    relevant = {p: set(rng.permutation(500)[: rng.integers(1, 200)].tolist()) for p in range(60)}
    rows = from_lists(recommended, relevant, unanswered="skip")
    expected = []
    for playlist, listed in recommended.items():
        dcg = sum(1 / log2(i + 2) for i, song in enumerate(listed) if song in relevant[playlist])
        n_ideal = min(100, len(relevant[playlist]))
        expected.append(dcg / sum(1 / log2(i + 2) for i in range(n_ideal)))
    found = ndcg_score(*rows[:2], groups=rows[2], k=100)
    assert found == pytest.approx(np.mean(expected), abs=1e-14)


def test_worked_example_6():
    truth = {"A": 3, "B": 3, "C": 2, "D": 2, "E": 1, "F": 1, "G": 0}
    values = per_query(from_lists({1: list("AECDF"), 2: list("ABCGE")}, {1: truth, 2: truth}), k=5)
    assert {query: round(value, 4) for query, value in values.items()} == {1: 0.8233, 2: 0.8794}


@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
def test_no_rule_for_ties_changes_the_order(ties):
    rows = from_lists([["b", "a", "x", "c"]], [{"a": 2, "b": 1, "c": 1, "d": 5, "e": 5}])
    dcg = 1 + 2 / log2(3) + 1 / log2(5)
    assert ndcg_samples(*rows[:2], groups=rows[2], k=4, ties=ties) * ideal([5, 5, 2, 1]) == (
        pytest.approx(dcg, abs=1e-14)
    )


def ideal(gains):
    return sum(gain / log2(i + 2) for i, gain in enumerate(gains))


def test_rows():
    y_true, y_score, groups = from_lists(
        {"b": ["x", "y"], "a": []}, {"a": {"y"}, "b": {"z": 3, "y": 2}}
    )
    assert y_true.tolist() == [0, 2, 3, 1]
    assert y_score.tolist() == [-1, -2, -np.inf, -np.inf]
    assert groups.tolist() == ["b", "b", "b", "a"]


def test_unanswered_and_without_truth():
    lists, truth = {"a": ["x", "y"], "c": ["x"]}, {"a": ["x"], "b": ["x"]}
    values = per_query(from_lists(lists, truth), replace_undefined_by=np.nan)
    assert values == pytest.approx({"a": 1, "b": 0, "c": np.nan}, nan_ok=True)
    values = per_query(from_lists(lists, truth, unanswered="skip"), replace_undefined_by=np.nan)
    assert values == pytest.approx({"a": 1, "c": np.nan}, nan_ok=True)
    # an empty list counts as an answer
    assert per_query(from_lists({"a": []}, {"a": ["x"]}, unanswered="skip")) == {"a": 0}


def test_condensed_lists():
    rows = from_lists([["x", "y", "z"]], [{"z": 1, "y": 0}], unjudged="nan")
    assert np.isnan(rows[0]).tolist() == [True, False, False]
    assert per_query(rows, unjudged="omit")[0] == pytest.approx(1 / log2(3))
    assert per_query(from_lists([["x", "y", "z"]], [{"z": 1, "y": 0}]))[0] == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("keys", "kind"),
    [([3, 1], "i"), (["b", "a"], "U"), ([(1, "x"), (0, "y")], "O"), (["b" * 1000, "a"], "O")],
)
def test_queries_of_any_type(keys, kind):
    ids = [("a", 1), frozenset("b"), 3, b"a", np.int64(7), "ä"]  # of any hashable type
    rows = from_lists(dict.fromkeys(keys, ids), {keys[0]: {7: 1}, keys[1]: {("a", 1): 1}})
    assert rows[2].dtype.kind == kind
    assert len(rows[0]) == 12
    values = ndcg_samples(*rows[:2], groups=rows[2])
    assert values.tolist() == pytest.approx([1, 1 / log2(6)])  # in the order of sorted keys


def test_arrays_as_lists():
    rows = from_lists(np.array([[1, 2], [3, 4]]), [np.array([2]), {3: 1}])
    assert per_query(rows) == {0: pytest.approx(1 / log2(3)), 1: 1}


@pytest.mark.parametrize(
    ("lists", "truth", "error", "message"),
    [
        ({"q": ["a", "b", "a"]}, {"q": ["a"]}, ValueError, "the id 'a' 2 times in query 'q'"),
        ({"q": []}, {"q": []}, ValueError, "query 'q' has neither a list nor anything relevant"),
        ({}, {"q": []}, ValueError, "query 'q' has neither"),
        ({}, {}, ValueError, "no query to score"),
        ([["a"]], {"q": ["a"]}, TypeError, "both be mappings.*list and dict"),
        ([["a"]], [["a"], ["b"]], ValueError, "same number of queries, got 1 and 2"),
        ({"q": "abc"}, {"q": ["a"]}, TypeError, "got str for query 'q'"),
        ({"q": {"a", "b"}}, {"q": ["a"]}, TypeError, "best first, for each query, got set"),
        ({"q": None}, {"q": ["a"]}, TypeError, "got NoneType for query 'q'"),
        ({"q": [["a"]]}, {"q": ["a"]}, TypeError, "recommended has ids in query 'q': .*unhashable"),
        ({"q": ["a"]}, {"q": [["a"]]}, TypeError, "relevant has ids in query 'q': .*unhashable"),
        ({"q": ["a"]}, {"q": "a"}, TypeError, "collection of ids, got str for query 'q'"),
        ({"q": ["a"]}, {"q": 3}, TypeError, "collection of ids, got int for query 'q'"),
        (
            {"p": ["a"], "q": ["a"]},
            {"p": ["a"], "q": {"a": "3"}},
            TypeError,
            "relevant must have numbers, got '3' in query 'q'",
        ),
        ({"q": ["a"]}, {"q": {"a": None}}, TypeError, "got None in query 'q'"),
        (
            {"q": [1, 2]},
            {"q": ["1"]},
            TypeError,
            "documents of recommended are of the type number, those of relevant of the type str",
        ),
        ({1: ["a"]}, {"1": ["a"]}, TypeError, "queries of recommended are of the type number"),
        ("ab", ["a", "b"], TypeError, "got the text 'ab'"),
        (iter([["a"]]), [["a"]], TypeError, "a sequence with an entry for each query"),
        (pd.Series({"q": ["a"]}), {"q": ["a"]}, TypeError, r"Pass recommended\.to_dict\(\)"),
    ],
)
def test_bad_lists(lists, truth, error, message):
    with pytest.raises(error, match=message):
        from_lists(lists, truth)


RATINGS = pd.DataFrame(
    {"user": [1, 1, 1, 2, 2], "item": [3, 1, 9, 2, 5], "rating": [1.0, 3.0, 5.0, 2.0, 1.0]}
)


LISTS = {1: [1, 2, 3], 2: [5, 3, 1]}


def test_a_series_of_grades_is_not_a_collection_of_ids():
    grades = {u: g.set_index("item")["rating"] for u, g in RATINGS.groupby("user")}
    with pytest.raises(
        TypeError, match=r"got Series for query 1\. Pass \.tolist\(\) if its values are"
    ):
        from_lists(LISTS, grades)
    values = per_query(from_lists(LISTS, {u: each.to_dict() for u, each in grades.items()}))
    assert values == pytest.approx(
        {1: (3 + 1 / 2) / ideal([5, 3, 1]), 2: 1 / ideal([2, 1])}, abs=1e-14
    )


def test_a_series_of_ids_is_not_a_mapping_of_grades():
    # its index has row numbers, which could be ids too: only the user knows
    liked = {u: g["item"] for u, g in RATINGS.groupby("user")}
    with pytest.raises(
        TypeError, match=r"\.to_dict\(\) if they are grades of the ids in its index"
    ):
        from_lists(LISTS, liked)
    values = per_query(from_lists(LISTS, {u: each.tolist() for u, each in liked.items()}))
    assert values[2] == pytest.approx(1 / ideal([1, 1]), abs=1e-14)


def test_a_series_with_an_id_twice_is_refused_before_to_dict_loses_one():
    grades = pd.Series([3, 2, 1], index=["A", "B", "A"])
    with pytest.raises(TypeError, match="Its index has 'A' more than once, of which to_dict"):
        from_lists({"q": ["A"]}, {"q": grades})
    lists = pd.Series([["A"], ["B"]], index=["q", "q"])
    with pytest.raises(TypeError, match="Its index has 'q' more than once"):
        from_lists(lists, {"q": ["A"]})


IDS = [3, 1, 2]


# a list or a truth: what it is read as, or the words of the error
CONTAINERS = {
    "tuple": tuple,
    "deque": deque,
    "array": np.array,
    "array of the standard library": lambda ids: array("q", ids),
    "range": lambda ids: range(3, 0, -1),
    "pandas Index": pd.Index,
    "pandas array": pd.array,
    "pandas Categorical": pd.Categorical,
    "pandas Series": (pd.Series, r"Pass \.tolist\(\) if its values are the ids"),
    "pandas Series with ids as index": (
        lambda ids: pd.Series([5.0, 4.0, 3.0], index=ids),
        r"\.sort_values\(ascending=False\)\.index|\.to_dict\(\) if they are grades",
    ),
    "pandas DataFrame": (
        lambda ids: pd.DataFrame({"item": ids}),
        r"got DataFrame for query 'q'\. Pass (list\(ids\)|dict\(zip\(ids, grades\)\)) of its columns",
    ),
    "array of two dimensions": (
        lambda ids: np.array([ids]),
        r"ndarray of shape \(1, 3\) for query 'q'\. Pass \.ravel\(\)",
    ),
    "array of no dimension": (lambda ids: np.array(3), r"ndarray of shape \(\)"),
    "iterator": (iter, "Pass its values as a list"),
    "bytes": (lambda ids: b"abc", "got bytes"),
    "bytearray": (lambda ids: bytearray(b"abc"), "got bytearray"),
}


NO_LISTS = {
    "set": (set, "in no order: are recommended and relevant swapped"),
    "frozenset": (frozenset, "in no order: are recommended and relevant swapped"),
    "dict of scores": (
        lambda ids: dict.fromkeys(ids, 1),
        r"swapped\? For scores pass sorted\(scores, key=scores\.get, reverse=True\)",
    ),
    "OrderedDict": (OrderedDict.fromkeys, "relevant swapped"),
    "keys": (lambda ids: dict.fromkeys(ids).keys(), "got dict_keys for query 'q'. Pass its values"),
    "values": (lambda ids: dict(enumerate(ids)).values(), "Pass its values as a list"),
}


NO_MAPPINGS = {
    "set": set,
    "frozenset": frozenset,
    "keys": lambda ids: dict.fromkeys(ids, 5).keys(),
    "values": lambda ids: dict(enumerate(ids)).values(),
}


def polars_and_pyarrow(kind):
    """Containers of other libraries: refused by name."""
    if kind == "polars":
        pl = pytest.importorskip("polars")
        return [pl.Series(IDS), pl.DataFrame({"item": IDS})]
    pa = pytest.importorskip("pyarrow")
    return [pa.array(IDS), pa.chunked_array([IDS]), pa.table({"item": IDS})]


@pytest.mark.parametrize("kind", [*CONTAINERS, *NO_LISTS])
def test_a_list_is_read_as_it_is_or_refused(kind):
    make = (CONTAINERS | NO_LISTS)[kind]
    truth = {"q": {1: 2, 7: 1}}
    if isinstance(make, tuple):
        with pytest.raises(TypeError, match=make[1]):
            from_lists({"q": make[0](IDS)}, truth)
    else:
        y_true, y_score, _ = from_lists({"q": make(IDS)}, truth)
        in_order = list(make(IDS))
        expected = [2.0 if each == 1 else 0.0 for each in in_order]
        assert y_true.tolist() == [*expected, 1.0]
        assert y_score.tolist() == [-1, -2, -3, -np.inf]


@pytest.mark.parametrize("kind", [*CONTAINERS, *NO_MAPPINGS])
def test_a_truth_is_read_as_it_is_or_refused(kind):
    make = (CONTAINERS | NO_MAPPINGS)[kind]
    if isinstance(make, tuple):
        with pytest.raises(TypeError, match=make[1]):
            from_lists({"q": [9, 1]}, {"q": make[0](IDS)})
    else:
        y_true, _, _ = from_lists({"q": [9, 1]}, {"q": make(IDS)})
        assert y_true.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_columns_of_other_libraries_are_refused(library):
    for given in polars_and_pyarrow(library):
        for call in (
            lambda given=given: from_lists({"q": given}, {"q": [1]}),
            lambda given=given: from_lists({"q": [1]}, {"q": given}),
            lambda given=given: from_lists(given, [[1]] * 3),
        ):
            with pytest.raises(TypeError, match=rf"got {type(given).__name__}.*Pass "):
                call()


def test_a_table_as_all_lists_or_all_truths_gets_the_way_out():
    with pytest.raises(
        TypeError, match=r"Pass \{query: list\(rows\['id'\]\) for query, rows in rec"
    ):
        from_lists(RATINGS, LISTS)
    with pytest.raises(
        TypeError, match=r"dict\(zip\(rows\['id'\], rows\['grade'\]\)\) for query, ro"
    ):
        from_lists(LISTS, RATINGS)


def test_relevance_in_the_place_of_lists_is_noticed():
    liked, graded = {"q": {"A", "B"}}, {"q": {"A": 3, "B": 1}}
    for truth in (liked, graded):
        with pytest.raises(TypeError, match="are recommended and relevant swapped"):
            from_lists(truth, {"q": ["B", "A"]})


def test_grades_as_ids_and_ratings_twice():
    # five stars for three items: as ids they would be a single relevant document
    message = r"relevant has the id 5 3 times in query 'u'\. Pass set\(ids\), or .*Counter\(ids\)"
    with pytest.raises(ValueError, match=message):
        from_lists({"u": [1, 5]}, {"u": [5, 5, 4, 5]})
    clicks = ["A", "B", "A"]
    counted = from_lists({"u": ["B", "A"]}, {"u": Counter(clicks)})
    assert per_query(counted)["u"] == pytest.approx((1 + 2 / log2(3)) / ideal([2, 1]), abs=1e-14)
    assert per_query(from_lists({"u": ["B", "A"]}, {"u": set(clicks)})) == {"u": 1}


@pytest.mark.parametrize("kind", [list, np.array, pd.array])
def test_a_mask_is_not_ids(kind):
    relevant = np.zeros((2, 5), dtype=bool)
    relevant[0, 2] = relevant[1, 4] = True  # 0 and 1 would be the ids
    for truth in (relevant, [kind(row.tolist()) for row in relevant]):
        with pytest.raises(TypeError, match="relevant has True or False among its ids in query 0"):
            from_lists([[2, 0], [1, 4]], truth)
    with pytest.raises(TypeError, match="recommended has True or False"):
        from_lists([kind([True, False])], [[1]])
    # if True and False are numbers, an id occurs more than once
    with pytest.raises(ValueError, match="relevant has the id 0 4 times in query 0"):
        from_lists([[2, 0], [1, 4]], relevant.astype(int))
    values = per_query(from_lists([[2, 0], [1, 4]], [np.flatnonzero(row) for row in relevant]))
    assert values == {0: 1, 1: pytest.approx(1 / log2(3))}


@pytest.mark.parametrize("missing", [None, np.nan, float("nan"), pd.NA, pd.NaT, np.float32("nan")])
def test_a_missing_id_is_not_a_document(missing):
    # left joins and padded lists make such ids
    message = (
        r"{} must not have missing ids \(None, NaN\), found 2 in query 'b', the first at index 1"
    )
    with pytest.raises(ValueError, match=message.format("relevant")):
        from_lists({"a": ["x"], "b": ["x"]}, {"a": ["x"], "b": ["x", missing, missing]})
    with pytest.raises(ValueError, match=message.format("recommended")):
        from_lists({"b": ["x", missing, missing]}, {"b": ["x"]})
    with pytest.raises(ValueError, match="relevant must not have missing ids"):
        from_lists({"b": ["x"]}, {"b": {"x": 1, missing: 1}})
    masked = np.ma.array([1, 2, 3], mask=[False, True, False])
    with pytest.raises(ValueError, match="found 1 in query 0, the first at index 1"):
        from_lists([masked], [[1]])


@pytest.mark.slow  # torch is gigabytes
def test_tensors_as_ids_are_compared_by_value():
    torch = pytest.importorskip("torch")
    top = torch.tensor([[3, 1], [2, 5]])
    y_true, _, _ = from_lists(list(top), [top[0, 1:], top[1, :1]])
    assert y_true.tolist() == [0, 1, 1, 0]
    for lists, truth in ((list(top[0]), [3]), ([3], list(top[0]))):  # of 0-d tensors
        with pytest.raises(
            TypeError, match="ids in query 0 that are arrays themselves, of type Te"
        ):
            from_lists([lists], [truth])


@pytest.mark.parametrize("option", ["unanswered", "unjudged"])
def test_unknown_options(option):
    with pytest.raises(ValueError, match=f"{option} must be one of 'zero'"):
        from_lists([["a"]], [["a"]], **{option: "one"})


def test_nothing_left():
    with pytest.raises(ValueError, match="no query to score"):
        from_lists({}, {"q": ["a"]}, unanswered="skip")


def trec(rng, n_queries=40):
    """Draw judgements and a run: ties, unjudged, unretrieved, negative, missing queries."""
    qrels, run = {}, {}
    for query in map(str, range(n_queries)):
        documents = [f"d{i}" for i in rng.permutation(30)]
        judged = rng.permutation(documents)[: rng.integers(1, 25)]
        # trec_eval never returns if all judgements of a query are negative
        grades = np.maximum(rng.integers(-1, 4, len(judged)), [0] + [-1] * (len(judged) - 1))
        if rng.random() < 0.9:
            qrels[query] = dict(zip(judged.tolist(), grades.tolist(), strict=True))
        if rng.random() < 0.9:
            scores = rng.choice([rng.normal(), 1, 1 + 1e-9, 2, -np.inf], len(documents))
            n_retrieved = rng.integers(0, len(documents))
            run[query] = dict(zip(documents[:n_retrieved], scores.tolist(), strict=False))
    return qrels, run


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("k", [None, 1, 5, 20])
def test_from_trec_is_trec_eval(seed, k):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = trec(np.random.default_rng(seed))
    measure = f"ndcg_cut.{k}" if k else "ndcg"
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    expected = {query: values[measure.replace(".", "_")] for query, values in theirs.items()}
    ours = per_query(from_trec(qrels, run, unanswered="skip"), k=k, **CONVENTIONS["trec_eval"])
    assert ours == pytest.approx(expected, abs=1e-12)
    # trec_eval -c: missing queries are 0
    everything = per_query(from_trec(qrels, run), k=k, replace_undefined_by=0.0)
    assert everything == pytest.approx(dict.fromkeys(qrels, 0) | expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_from_trec_is_ir_measures(seed):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = trec(np.random.default_rng(seed))
    records = [ir_measures.Qrel(q, d, y) for q, each in qrels.items() for d, y in each.items()]
    scored = [ir_measures.ScoredDoc(q, d, s) for q, each in run.items() for d, s in each.items()]
    for k, measure in ((None, ir_measures.nDCG), (7, ir_measures.nDCG @ 7)):
        expected = {each.query_id: each.value for each in measure.iter_calc(records, scored)}
        for rows in (
            from_trec(records, scored),
            from_trec(iter(records), iter(scored)),
            from_trec(pd.DataFrame(records), pd.DataFrame(scored)),
            from_trec(qrels, run),
        ):
            ours = per_query(rows, k=k, replace_undefined_by=0.0)
            assert ours == pytest.approx(expected, abs=1e-12)
        y_true, y_score, groups = from_trec(records, scored)
        mean = ndcg_score(y_true, y_score, groups=groups, k=k, replace_undefined_by=0.0)
        assert mean == pytest.approx(measure.calc_aggregate(records, scored), abs=1e-12)


def test_the_order_of_trec_eval():
    qrels = {"q": {"a": 1}}

    def place(run):
        y_true, y_score, _ = from_trec(qrels, {"q": run})
        return -y_score[y_true > 0][0]

    assert place({"a": 1, "b": 1}) == 2  # by id, descending
    assert place({"a": 1 + 1e-9, "b": 1}) == 2  # which float32 does not tell apart
    assert place({"a": 1 + 1e-6, "b": 1}) == 1
    assert place({"a": 9, "10": 9}) == 1  # ids are text
    assert place({"a": 1e300, "b": np.inf}) == 2
    assert place({"a": -np.inf, "b": 0}) == 2  # retrieved nevertheless


def test_negative_judgements_count_as_zero():
    rows = from_trec({"q": {"a": -2, "b": 1}}, {"q": {"a": 2, "b": 1}})
    assert per_query(rows)["q"] == pytest.approx(1 / log2(3))


def test_queries_without_judgements_are_left_out():
    assert per_query(from_trec({"q": {"a": 1}}, {"q": {"a": 1}, "r": {"a": 1}})) == {"q": 1}


Record = namedtuple("Record", ["query_id", "doc_id", "score"])


@pytest.mark.parametrize(
    ("qrels", "run", "error", "message"),
    [
        ({}, {}, ValueError, "no query to score"),
        ({"q": {"a": 1}}, {"q": {"a": np.nan}}, ValueError, "run must not have NaN, found in query 'q'"),
        ({"q": {"a": np.nan}}, {"q": {"a": 1}}, ValueError, "qrels must not have NaN"),
        ({"q": {"a": 1}}, {"q": {"a": "1"}}, TypeError, "run must have numbers, got '1' in query 'q'"),
        ({"q": {"a": None}}, {"q": {"a": 1}}, TypeError, "qrels must have numbers, got None"),
        ({"q": {1: 1}}, {"q": {1: 1}}, TypeError, "qrels must have ids of text.*got 1 in query 'q'"),
        ({"q": {"a": 1}}, {"q": ["a"]}, TypeError, "run must have a mapping from document to score"),
        ({"q": {"a": 1}}, [("q", "a", 1)], TypeError, "records with query_id, doc_id and score"),
        ({"q": {"a": 1}}, 3, TypeError, "records with query_id, doc_id and score, got int"),
        ({"q": {"a": 1}}, [Record("q", "a", 1)] * 2, ValueError, "run has document 'a' twice in query 'q'"),
        ([Record("q", "a", 1)], {"q": {"a": 1}}, TypeError, "qrels must be.*'relevance'"),
    ],
)  # fmt: skip
def test_bad_trec(qrels, run, error, message):
    with pytest.raises(error, match=message):
        from_trec(qrels, run)


def swapped_data():
    rng = np.random.default_rng(0)
    names = [f"d{i}" for i in range(20)]
    qrels = {q: dict(zip(names, rng.integers(0, 4, 20).tolist(), strict=True)) for q in "ab"}
    run = {q: dict(zip(names, rng.normal(size=20).tolist(), strict=True)) for q in "ab"}
    return qrels, run


def test_judgements_and_run_that_are_swapped_are_refused():
    qrels, run = swapped_data()
    message = (
        r"qrels and run look swapped: 40 values of qrels are not whole.*from_trec\(qrels, run\)"
    )
    with pytest.raises(ValueError, match=message):
        from_trec(run, qrels)
    as_floats = {q: {d: float(y) for d, y in each.items()} for q, each in qrels.items()}
    with pytest.raises(ValueError, match="qrels and run look swapped"):
        from_trec(run, as_floats)
    assert per_query(from_trec(as_floats, run)) == per_query(from_trec(qrels, run))


def test_records_that_are_swapped_are_noticed():
    judged = namedtuple("Judged", ["query_id", "doc_id", "relevance"])
    qrels, run = (
        [judged("q", "a", 1), judged("q", "b", 0)],
        [Record("q", "a", 1), Record("q", "b", 2)],
    )
    for each in (list, iter, pd.DataFrame):
        with pytest.raises(TypeError, match="qrels must be .*look swapped: judgements come first"):
            from_trec(each(run), each(qrels))
        with pytest.raises(TypeError, match="run must be .*look swapped: judgements come first"):
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
    assert per_query(from_trec({"q": qrels}, {}))["q"] == 0  # there are no scores to look at
    assert per_query(from_trec({"q": qrels}, {"q": {}, "r": {"a": 1}}))["q"] == 0


def test_the_way_out_for_graded_judgements_and_whole_scores():
    qrels, run = {"q": {"a": 1, "b": 0.5, "c": 0.5}}, {"q": {"a": 1, "b": 2, "c": 2}}
    with pytest.raises(ValueError, match="the first 0.5, and all of run are") as caught:
        from_trec(qrels, run)
    way = str(caught.value).split("in order: ")[1].rstrip(".")
    lists = {query: eval(way, {"scores": scores}) for query, scores in run.items()}  # noqa: S307
    assert lists == {"q": ["c", "b", "a"]}
    expected = (0.5 + 0.5 / log2(3) + 1 / 2) / ideal([1, 0.5, 0.5])
    assert per_query(from_lists(lists, qrels))["q"] == pytest.approx(expected)


def test_unjudged_documents_of_a_run():
    qrels, run = {"q": {"a": 1, "b": 0, "c": -2}}, {"q": {"x": 3.5, "c": 2, "b": 1.5, "a": 1}}
    y_true, y_score, _ = from_trec(qrels, run, unjudged="nan")
    assert np.array_equal(y_true, [np.nan, np.nan, 0, 1], equal_nan=True)  # -2 is not a judgement
    assert y_score.tolist() == [-1, -2, -3, -4]
    assert from_trec(qrels, run)[0].tolist() == [0, 0, 0, 1]
    rows = from_trec(qrels, run, unjudged="nan")
    assert per_query(rows, unjudged="omit")["q"] == pytest.approx(1 / log2(3))
    assert per_query(rows, unjudged="zero")["q"] == pytest.approx(1 / log2(5))
    with pytest.raises(ValueError, match="unjudged must be one of 'zero', 'nan'"):
        from_trec(qrels, run, unjudged="omit")


GAINS = {0: 1, 1: 4, 2: 2, 3: 9}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [None, 7])
def test_a_gain_of_documents_that_were_judged_0_is_that_of_ir_measures(seed, k):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = trec(np.random.default_rng(seed))
    measure = ir_measures.nDCG(gains=GAINS)
    measure = measure @ k if k else measure
    expected = {each.query_id: each.value for each in measure.iter_calc(qrels, run)}
    rows = from_trec(qrels, run, unjudged="nan")
    ours = per_query(rows, k=k, gain=GAINS, unjudged="zero", replace_undefined_by=0.0)
    assert ours == pytest.approx(expected, abs=1e-12)
    # if the unjudged are not told from those judged 0, they have a gain too
    others = per_query(from_trec(qrels, run), k=k, gain=GAINS, replace_undefined_by=0.0)
    assert max(abs(others[query] - expected[query]) for query in expected) > 0.01


@pytest.mark.parametrize("seed", range(5))
def test_condensed_runs_are_those_of_ir_measures(seed):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = trec(np.random.default_rng(seed))
    measure = ir_measures.nDCG(judged_only=True) @ 5
    expected = {each.query_id: each.value for each in measure.iter_calc(qrels, run)}
    rows = from_trec(qrels, run, unjudged="nan")
    ours = per_query(rows, k=5, unjudged="omit", replace_undefined_by=0.0)
    assert ours == pytest.approx(expected, abs=1e-12)


def test_keys_that_end_in_nul_stay_apart():
    y, s, groups = from_lists({"a": [1], "a\0": [2]}, {"a": [1], "a\0": [3]})
    assert ndcg_samples(y, s, groups=groups).tolist() == [1, 0]


def test_keys_beyond_int64_stay_apart():
    keys = [-1, 2**63, 2**63 + 1]
    y, s, groups = from_lists({key: [1] for key in keys}, {-1: [1], 2**63: [1], 2**63 + 1: [2]})
    assert ndcg_samples(y, s, groups=groups).tolist() == [1, 1, 0]


NOT_NUMBERS = {
    "lists": {"a": [1, 2], "b": [3, 4]},
    "arrays": {"a": np.array([1])},
    "lists and numbers": {"a": [1, 2], "b": 1},
    "beyond float64": {"a": np.longdouble("1e4000")},
}


@pytest.mark.parametrize("kind", NOT_NUMBERS)
def test_grades_that_are_not_numbers_are_refused(kind):
    with pytest.raises((TypeError, ValueError), match="relevant"):
        from_lists([["a", "b"]], [NOT_NUMBERS[kind]])


def test_scores_that_are_lists_are_refused():
    with pytest.raises(TypeError, match="run must have numbers"):
        from_trec({"q": {"a": 1}}, {"q": {"a": [1]}})


def test_lists_of_no_dimension_are_refused():
    with pytest.raises(TypeError, match="recommended must be"):
        from_lists(np.array(3), np.array(3))
