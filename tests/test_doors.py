"""Ranked lists and TREC runs, brought to rows."""

from collections import namedtuple
from math import log2

import numpy as np
import pandas as pd
import pytest

from sklearn_ndcg import CONVENTIONS, from_lists, from_trec, ndcg_samples, ndcg_score


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
    lists, truth = {"a": ["x"], "c": ["x"]}, {"a": ["x"], "b": ["x"]}
    values = per_query(from_lists(lists, truth), replace_undefined_by=np.nan)
    assert values == pytest.approx({"a": 1, "b": 0, "c": np.nan}, nan_ok=True)
    values = per_query(from_lists(lists, truth, unanswered="skip"), replace_undefined_by=np.nan)
    assert values == pytest.approx({"a": 1, "c": np.nan}, nan_ok=True)
    # an empty list is an answer
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
    ids = [("a", 1), frozenset("b"), 3, None, np.int64(7), "ä"]  # of any hashable type
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
        ({"q": [["a"]]}, {"q": ["a"]}, TypeError, "recommended has ids in query 'q': unhashable"),
        ({"q": ["a"]}, {"q": [["a"]]}, TypeError, "relevant has ids in query 'q': unhashable"),
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
        # trec_eval does not end where all judgements of a query are negative
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
    assert place({"a": -np.inf, "b": 0}) == 2  # retrieved all the same


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
