"""Ranked lists and TREC runs as rows."""

from collections import Counter, namedtuple
from math import log2

import numpy as np
import pandas as pd
import pytest
from helpers import ideal, per_query

from sklearn_ndcg import CONVENTIONS, from_lists, from_trec, ndcg_score
from sklearn_ndcg.inference import compare_rankers

Judged = namedtuple("Judged", ["query_id", "doc_id", "relevance"])
Scored = namedtuple("Scored", ["query_id", "doc_id", "score"])
TRUTH = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}


SINGLE = {
    "grades": (TRUTH, ["A", "B", "C"]),
    "array of ids": (TRUTH, np.array(["A", "B", "C"])),
    "nothing found": (TRUTH, []),
    "flags": ({"A": True, "B": False}, ["B", "A"]),
    "counts": (Counter(["A", "B", "A"]), ["B", "A"]),
    "set": ({"A", "B"}, ["C", "A"]),
    "ids that are tuples": ({("A", 1), "B"}, ["C", ("A", 1), ("A", 2)]),
    "graded tuples": ({("A", 1): 2, "B": 1}, [("A", 1), ("A", 2)]),
    "list of ids": (["A", "B"], ["C", "A"]),
    "arrays of numbers": (np.array([3, 1]), np.array([2, 1, 3])),
    "numbers graded": ({3: 2, 1: 1}, [2, 1, 3]),
}


@pytest.mark.parametrize("case", SINGLE)
def test_one_truth_with_one_list_is_one_query(case):
    truth, listed = SINGLE[case]
    rows, expected = from_lists(truth, listed), from_lists([truth], [listed])
    assert rows.to_frame().equals(expected.to_frame())
    grades = truth if isinstance(truth, dict) else dict.fromkeys(truth, 1)
    assert ndcg_score(rows, k=3) == pytest.approx(ndcg_without_repeats(grades, listed, 3))


@pytest.mark.parametrize(
    ("relevant", "recommended"),
    [
        ([["A"], ["B"]], [["A"], ["C"]]),  # two queries, not ids that are lists
        ([("A",), ("B",)], [("A",), ("C",)]),
        ([{"A": 1}, {"B": 1}], np.array([["A"], ["C"]])),
        (np.array([["A"], ["B"]]), [["A"], ["C"]]),
        (pd.Series([["A"], ["B"]]), pd.Series([["A"], ["C"]])),
        ({0: ["A"], 1: ["B"]}, pd.Series([["C"], ["A"]], index=[1, 0])),
        (pd.Series([{"B": 1}, {"A"}], index=[1, 0]), {0: ["A"], 1: ["C"]}),
        (pd.Series([["A"], ["B"]]).to_numpy(), pd.Series([["A"], ["C"]]).to_numpy()),
    ],
)
def test_forms_of_two_queries(relevant, recommended):
    assert per_query(from_lists(relevant, recommended)) == {0: 1, 1: 0}


def test_the_published_value_of_graded_lists():
    one = from_lists({"q": TRUTH}, {"q": ["A", "B", "C"]})
    assert ndcg_score(one, k=3) == pytest.approx(0.6048882832133625, abs=1e-15)
    best = ideal([0.7, 0.5, 0.5, 0.1, 0.1])
    assert ndcg_score(one) == pytest.approx(ideal([0.1, 0.5, 0.7]) / best, abs=1e-15)
    both = from_lists({1: TRUTH, 2: TRUTH}, {1: ["A", "B", "C"], 2: ["D", "A", "C", "B", "E"]})
    found = ndcg_score(both, k="retrieved")
    assert found == pytest.approx(0.7356022113638424, abs=1e-15)


def test_unanswered_zero_and_omit():
    lists, truth = {"a": ["x", "y"], "c": ["x"]}, {"a": ["x"], "b": ["x"]}
    values = per_query(from_lists(truth, lists), undefined="omit")
    assert values == pytest.approx({"a": 1, "b": 0, "c": np.nan}, nan_ok=True)
    values = per_query(from_lists(truth, lists, unanswered="omit"), undefined="omit")
    assert values == pytest.approx({"a": 1, "c": np.nan}, nan_ok=True)
    with pytest.raises(ValueError, match="No query is left to score"):
        from_lists({"a": ["x"]}, {}, unanswered="omit")
    # an empty list counts as an answer
    assert per_query(from_lists({"a": ["x"]}, {"a": []}, unanswered="omit")) == {"a": 0}


@pytest.mark.parametrize("option", ["unanswered", "unjudged", "duplicates"])
def test_unknown_values_of_unanswered_unjudged_and_duplicates(option):
    for read, data in ((from_lists, [["a"]]), (from_trec, {"q": {"a": 1}})):
        with pytest.raises(
            ValueError, match=f"{option} must be one of '(zero|raise)', 'omit'.*'one'"
        ):
            read(data, data, **{option: "one"})


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


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [None, 1, 5, 20])
def test_from_trec_is_trec_eval(seed, k):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = trec(np.random.default_rng(seed))
    measure = f"ndcg_cut.{k}" if k else "ndcg"
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    expected = {query: values[measure.replace(".", "_")] for query, values in theirs.items()}
    ours = per_query(from_trec(qrels, run, unanswered="omit"), k=k, **CONVENTIONS["trec_eval"])
    assert ours == pytest.approx(expected, abs=1e-12)
    # trec_eval -c: missing queries are 0
    everything = per_query(from_trec(qrels, run), k=k, undefined=0.0)
    assert everything == pytest.approx(dict.fromkeys(qrels, 0) | expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("k", [None, 7])
def test_from_trec_is_ir_measures(seed, k):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = trec(np.random.default_rng(seed))
    records = [ir_measures.Qrel(q, d, y) for q, each in qrels.items() for d, y in each.items()]
    scored = [ir_measures.ScoredDoc(q, d, s) for q, each in run.items() for d, s in each.items()]
    measure = ir_measures.nDCG @ k if k else ir_measures.nDCG
    expected = {each.query_id: each.value for each in measure.iter_calc(records, scored)}
    for rows in (
        from_trec(records, scored),
        from_trec(iter(records), iter(scored)),
        from_trec(pd.DataFrame(records), pd.DataFrame(scored)),
        from_trec(qrels, run),
    ):
        assert per_query(rows, k=k, undefined=0.0) == pytest.approx(expected, abs=1e-12)
        mean = ndcg_score(rows, k=k, undefined=0.0)
        assert mean == pytest.approx(measure.calc_aggregate(records, scored), abs=1e-12)


def test_from_trec_orders_as_trec_eval():
    qrels = {"q": {"a": 1}}

    def place(run):
        rows = from_trec(qrels, {"q": run})
        return -rows.y_score[rows.y_true > 0][0]

    assert place({"a": 1, "b": 1}) == 2  # by id, descending
    assert place({"a": 1 + 1e-9, "b": 1}) == 2  # equal in float32
    assert place({"a": 1 + 1e-6, "b": 1}) == 1
    assert place({"a": 9, "10": 9}) == 1  # ids are text
    assert place({"a": 1e300, "b": np.inf}) == 2
    assert place({"a": -np.inf, "b": 0}) == 2  # retrieved all the same


def test_unjudged_of_a_run():
    qrels, run = {"q": {"a": 1, "b": 0, "c": -2}}, {"q": {"x": 3.5, "c": 2, "b": 1.5, "a": 1}}
    rows = from_trec(qrels, run, unjudged="nan")
    assert np.array_equal(rows.y_true, [np.nan, np.nan, 0, 1], equal_nan=True)  # -2 is no judgement
    assert rows.y_score.tolist() == [-1, -2, -3, -4]
    assert per_query(rows, unjudged="omit")["q"] == pytest.approx(1 / log2(3))
    assert per_query(rows, unjudged="zero")["q"] == pytest.approx(1 / log2(5))
    assert from_trec(qrels, run).y_true.tolist() == [0, 0, 0, 1]
    rows = from_trec(qrels, run, unjudged="omit")
    assert (rows.y_true.tolist(), rows.y_score.tolist()) == ([0, 1], [-1, -2])


def test_unjudged_omit_that_leaves_nothing_keeps_the_query():
    relevant = {"a": {"x": 1}, "b": {"x": 2, "y": 1}}
    recommended = {"a": ["u", "v"], "b": ["u", "y"], "c": ["u"]}  # c has no truth
    rows = from_lists(relevant, recommended, unjudged="omit")
    assert rows.groups.tolist() == ["a", "b", "b", "c"]
    assert rows.y_true.tolist() == [1, 1, 2, 0]
    assert rows.y_score.tolist() == [-np.inf, -1, -np.inf, -np.inf]
    values = per_query(rows, undefined="omit")
    assert values == pytest.approx({"a": 0, "b": 1 / ideal([2, 1]), "c": np.nan}, nan_ok=True)
    qrels = {"q": {"a": -1}, "r": {"a": 1, "b": 1}}
    rows = from_trec(qrels, {"q": {"a": 0.5}}, unjudged="omit")
    assert per_query(rows, undefined=0.5) == {"q": 0.5, "r": 0}


@pytest.mark.parametrize("k", [None, 3, "retrieved"])
@pytest.mark.parametrize("seed", range(2))
def test_unjudged_omit_is_that_of_the_metric(seed, k):
    qrels, run = trec(np.random.default_rng(seed))
    lists = {query: [*scores] for query, scores in run.items()}
    graded = {q: {d: max(y, 0) for d, y in each.items()} for q, each in qrels.items()}
    for function, truth, given in ((from_lists, graded, lists), (from_trec, qrels, run)):
        here = function(truth, given, unjudged="omit")
        there = function(truth, given, unjudged="nan")
        truths = per_query(there, k=k, unjudged="omit", undefined="omit")
        assert per_query(here, k=k, undefined="omit") == pytest.approx(truths, nan_ok=True)


GAINS = {0: 1, 1: 4, 2: 2, 3: 9}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("k", [None, 7])
def test_a_gain_of_documents_that_were_judged_0_is_that_of_ir_measures(seed, k):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = trec(np.random.default_rng(seed))
    measure = ir_measures.nDCG(gains=GAINS) @ k if k else ir_measures.nDCG(gains=GAINS)
    expected = {each.query_id: each.value for each in measure.iter_calc(qrels, run)}
    rows = from_trec(qrels, run, unjudged="nan")
    ours = per_query(rows, k=k, gain=GAINS, unjudged="zero", undefined=0.0)
    assert ours == pytest.approx(expected, abs=1e-12)
    # if unjudged documents count as judged 0, they have a gain too
    others = per_query(from_trec(qrels, run), k=k, gain=GAINS, undefined=0.0)
    assert max(abs(others[query] - expected[query]) for query in expected) > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_unjudged_omit_is_judged_only_of_ir_measures(seed):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = trec(np.random.default_rng(seed))
    measure = ir_measures.nDCG(judged_only=True) @ 5
    expected = {each.query_id: each.value for each in measure.iter_calc(qrels, run)}
    ours = per_query(from_trec(qrels, run, unjudged="omit"), k=5, undefined=0.0)
    assert ours == pytest.approx(expected, abs=1e-12)


# relevant, list, cutoff, and the NDCG
TWICE = {
    "haystack 11959": ({"A": 1.0}, ["A", "A"], None, 1),  # gave 1.63
    "trulens 2747, relevant twice": (["A", "A"], ["A", "A"], 2, 1),
    "llama_index 22683": (["id1", "id2"], ["id1", "id1", "id2"], "retrieved", 1),
    "llama_index 22683, relevant twice": (["id1", "id1"], ["id1"], None, 1),  # gave 0.61
    "mlflow 25965": (["a_bc574ae_2"], ["a", "a", "z"], 3, 0),  # gave 0.63
    "mlflow 25965, relevant": (["a"], ["a", "b", "a"], 3, 1),
}


@pytest.mark.filterwarnings("ignore:.* none of the first documents that 'two'")
@pytest.mark.parametrize("case", TWICE)
def test_duplicates_omit_as_other_projects_expect_it(case):
    truth, listed, k, expected = TWICE[case]
    rows = from_lists([truth], [listed], duplicates="omit")
    assert per_query(rows, k=k) == {0: pytest.approx(expected, abs=1e-15)}
    lists = {"one": [listed] * 10, "two": [["other"]] * 10}
    rows = from_lists([truth] * 10, rankers=lists, k=k, duplicates="omit")
    result = compare_rankers(rows, test="t")
    assert result.mean["one"] == pytest.approx(expected, abs=1e-15)
    with pytest.raises(ValueError, match=r'times in query 0\. Pass duplicates="omit"'):
        from_lists([truth], [listed])


def ndcg_without_repeats(truth, listed, k):
    """The definition: only the first rank of a document counts."""
    listed = list(dict.fromkeys(listed))
    k = {"retrieved": len(listed), None: 10**6}.get(k, k)
    gains = [truth.get(document, 0) for document in listed]
    return ideal(gains[:k]) / ideal(sorted(truth.values(), reverse=True)[:k])


def drawn_with_repeats(seed):
    rng, truths, scores = np.random.default_rng(seed), {}, {}
    for query in [f"q{i}" for i in range(15)]:
        truths[query] = {f"d{d}": int(rng.integers(1, 4)) for d in rng.integers(0, 20, 6)}
        found = rng.integers(0, 20, rng.integers(1, 30))
        scores[query] = [(f"d{d}", float(rng.integers(0, 9)) / 2) for d in found]
    return truths, scores


@pytest.mark.parametrize("k", [None, 1, 5, "retrieved"])
def test_duplicates_omit_counts_documents_once(k, tmp_path):
    truths, scores = drawn_with_repeats(seed=0)
    # as trec_eval orders them: by score, then by id, descending
    best = {q: sorted(each, key=lambda found: found[::-1])[::-1] for q, each in scores.items()}
    lists = {q: [d for d, _ in each] for q, each in best.items()}
    expected = {q: ndcg_without_repeats(truths[q], lists[q], k) for q in truths}
    qrels = [Judged(q, d, y) for q, each in truths.items() for d, y in each.items()] * 2
    run = [Scored(q, d, s) for q, each in scores.items() for d, s in each]
    files = tmp_path / "qrels", tmp_path / "run"
    files[0].write_text("".join(f"{q} 0 {d} {y}\n" for q, d, y in qrels))
    files[1].write_text("".join(f"{q} Q0 {d} 0 {s} x\n" for q, d, s in run))
    for rows in (
        from_lists(truths, lists, duplicates="omit"),
        from_trec(qrels, run, duplicates="omit"),
        from_trec(pd.DataFrame(qrels), pd.DataFrame(run), duplicates="omit"),
        from_trec(*files, duplicates="omit"),
    ):
        assert per_query(rows, k=k) == pytest.approx(expected, abs=1e-14)
    rankers = {"one": lists, "two": {q: ["d0"] for q in truths}}
    runs = {"one": files[1], "two": {q: {"d0": 1} for q in truths}}
    for rows in (
        from_lists(truths, rankers=rankers, k=k, duplicates="omit"),
        from_trec(files[0], runs=runs, k=k, duplicates="omit"),
    ):
        result = compare_rankers(rows, test="t")
        found = dict(zip(result.labels.tolist(), result.values["one"].tolist(), strict=True))
        assert found == pytest.approx(expected, abs=1e-14)


def test_duplicates_of_judgements():
    run = {"q": {"a": 1.0, "b": 0.5}}
    once, twice = [Judged("q", "a", 1)], [Judged("q", "a", 1)] * 2
    with pytest.raises(ValueError, match="qrels has document 'a' twice in query 'q'. Pass dup"):
        from_trec(twice, run)
    rows = from_trec(twice, run, duplicates="omit")
    assert rows.to_frame().equals(from_trec(once, run).to_frame())
    for duplicates in ("raise", "omit"):
        with pytest.raises(ValueError, match="'a' twice in query 'q', with the relevance 1 and 0"):
            from_trec([*once, Judged("q", "a", 0)], run, duplicates=duplicates)


def scores_of(lists):
    return {query: {d: -float(i) for i, d in enumerate(each)} for query, each in lists.items()}


def drawn_lists(seed):
    """Draw truths, some without a relevant document, and lists, some missing or empty."""
    rng = np.random.default_rng(seed)
    ids = [f"d{i}" for i in range(60)]
    truths, lists = {}, {}
    for query in [f"q{i:02}" for i in range(30)]:
        if rng.random() < 0.9:
            graded = rng.permutation(ids)[: rng.integers(1, 25)].tolist()
            truths[query] = {document: int(rng.integers(0, 4)) for document in graded}
        if rng.random() < 0.9:
            lists[query] = rng.permutation(ids)[: rng.integers(1, 40)].tolist()
    truths["q30"], lists["q30"] = {"d0": 0, "d1": 0}, ["d1"]
    return truths, lists


READING = {
    "zero": {}, "omit": {"unjudged": "omit"}, "nan": {"unjudged": "nan"},
    "answered": {"unanswered": "omit"}, "twice": {"duplicates": "omit"},
}  # fmt: skip


@pytest.mark.parametrize("how", READING)
@pytest.mark.parametrize(("read", "k"), [(1, 1), (5, 5), (5, 3), (100, 10), (5, "retrieved")])
def test_k_of_from_lists_and_from_trec_changes_no_value(read, k, how):
    truths, lists = drawn_lists(seed=0)
    reading, gains = READING[how], ["linear", {0: 1, 1: 4, 2: 2, 3: 9}]
    if how == "twice":
        lists = {query: [*each[:2], *each[::-1], *each] for query, each in lists.items()}
    if k == "retrieved":
        lists = {query: each[:4] for query, each in lists.items()}
    distinct = {query: [*dict.fromkeys(each)] for query, each in lists.items()}
    for reader, data in ((from_lists, lists), (from_trec, scores_of(distinct))):
        whole, first = reader(truths, data, **reading), reader(truths, data, k=read, **reading)
        assert len(first.y_true) <= len(whole.y_true)
        if reader is from_lists:
            of_tuples = reader(truths, {q: (*ids,) for q, ids in data.items()}, k=read, **reading)
            assert len(of_tuples.y_true) == len(first.y_true)
        for gain in gains:
            for unjudged in ("zero", "omit") if how == "nan" else ("raise",):
                options = {"k": k, "gain": gain, "unjudged": unjudged, "undefined": 0.25}
                assert per_query(first, **options) == per_query(whole, **options)


def test_k_leaves_what_is_beyond_it_unchecked():
    bad = ["a", "b", "b", None]
    assert len(from_lists({"q": ["a"]}, {"q": bad}, k=2).y_true) == 2
    for k in (None, 3, "retrieved"):
        with pytest.raises(ValueError, match="'b' 2 times in query 'q'|1 missing id"):
            from_lists({"q": ["a"]}, {"q": bad}, k=k)
    with pytest.raises(ValueError, match="1 missing id"):  # removed documents make room for later
        from_lists({"q": ["a"]}, {"q": ["a", "b", None]}, k=2, unjudged="omit")
    for k in (0, 1.5, [1, 5], "all"):
        with pytest.raises(ValueError, match="k must be an integer >= 1"):
            from_lists({"q": ["a"]}, {"q": ["a"]}, k=k)


def test_convention_of_the_two_versions_of_trec_eval():
    """The example of its version 10.0: .6309 in 9.0.8, and 1 where scores are kept as double."""
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.000000001, "b": 1.0}}
    assert ndcg_score(from_trec(qrels, run)) == pytest.approx(1 / log2(3))
    assert ndcg_score(from_trec(qrels, run, convention="trec_eval-10")) == 1
    tied = {"q": {"a": 1.0, "b": 1.0}}  # by id, descending, in both
    assert ndcg_score(from_trec(qrels, tied, convention="trec_eval-10")) == 1 / log2(3)
    with pytest.raises(ValueError, match="convention must be one of 'trec_eval', 'trec_eval-10'"):
        from_trec(qrels, run, convention="10")


def test_a_query_without_judgements_is_left_out_as_by_pytrec_eval():
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    assert per_query(from_trec({"q1": {"a": 1}, "q2": {}}, run)) == {"q1": 1}
    with pytest.raises(ValueError, match="qrels has no query"):
        from_trec({"q2": {}}, run)


def test_a_run_of_few_topics_is_warned_of():
    qrels = {f"q{i}": {"a": 1} for i in range(60)}
    with pytest.warns(UserWarning, match="documents for 1 of the 60 judged.* unanswered='omit'"):
        from_trec(qrels, {"q0": {"a": 1.0}})
    assert len(from_trec(qrels, {"q0": {"a": 1.0}}, unanswered="omit").ids) == 1
