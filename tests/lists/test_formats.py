"""Ranked lists and TREC runs as rows."""

import re
from collections import Counter, namedtuple
from math import log2

import numpy as np
import pandas as pd
import pytest
from helpers import as_runs, examples, ideal, per_query
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ndcg import CONVENTIONS, from_lists, from_trec, ndcg_samples, ndcg_score
from sklearn_ndcg.inference import compare_rankers

Judged = namedtuple("Judged", ["query_id", "doc_id", "relevance"])
Scored = namedtuple("Scored", ["query_id", "doc_id", "score"])
NAN, INF = np.nan, np.inf
TRUTH = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}
QRELS, RUN = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 0.5}}


def ndcg_without_repeats(truth, listed, k):
    """The definition: only the first rank of a document counts."""
    listed = list(dict.fromkeys(listed))
    k = len(listed) if k == "retrieved" else k
    gains = [truth.get(document, 0) for document in listed]
    return ideal(gains[:k]) / ideal(sorted(truth.values(), reverse=True)[:k])


# --- lists

SINGLE = {
    "grades": (TRUTH, ["A", "B", "C"]),
    "nothing found": (TRUTH, []),
    "counts": (Counter(["A", "B", "A"]), ["B", "A"]),
    "set": ({"A", "B"}, ["C", "A"]),
    "ids that are tuples": ({("A", 1), "B"}, ["C", ("A", 1), ("A", 2)]),
    "list of ids": (["A", "B"], ["C", "A"]),
    "arrays of numbers": (np.array([3, 1]), np.array([2, 1, 3])),
}


@pytest.mark.parametrize(("truth", "listed"), SINGLE.values(), ids=SINGLE)
def test_one_truth_with_one_list_is_one_query(truth, listed):
    rows = from_lists(truth, listed)
    assert rows.to_frame().equals(from_lists([truth], [listed]).to_frame())
    grades = truth if isinstance(truth, dict) else dict.fromkeys(truth, 1)
    assert ndcg_score(rows, k=3) == pytest.approx(ndcg_without_repeats(grades, listed, 3))


TWO_QUERIES = {
    "lists": ([["A"], ["B"]], [["A"], ["C"]]),  # not ids that are lists
    "tuples": ([("A",), ("B",)], [("A",), ("C",)]),
    "a matrix of ids": ([{"A": 1}, {"B": 1}], np.array([["A"], ["C"]])),
    "a matrix of truths": (np.array([["A"], ["B"]]), [["A"], ["C"]]),
    "dict, Series": ({0: ["A"], 1: ["B"]}, pd.Series([["C"], ["A"]], index=[1, 0])),
    "Series, dict": (pd.Series([{"B": 1}, {"A"}], index=[1, 0]), {0: ["A"], 1: ["C"]}),
}


@pytest.mark.parametrize(("relevant", "recommended"), TWO_QUERIES.values(), ids=TWO_QUERIES)
def test_forms_of_two_queries(relevant, recommended):
    assert per_query(from_lists(relevant, recommended)) == {0: 1, 1: 0}


def test_published_values_of_graded_lists():
    one = from_lists({"q": TRUTH}, {"q": ["A", "B", "C"]})
    assert ndcg_score(one, k=3) == pytest.approx(0.6048882832133625, abs=1e-15)
    both = from_lists({1: TRUTH, 2: TRUTH}, {1: ["A", "B", "C"], 2: ["D", "A", "C", "B", "E"]})
    assert ndcg_score(both, k="retrieved") == pytest.approx(0.7356022113638424, abs=1e-15)


@pytest.mark.parametrize(
    ("unanswered", "expected"),
    [("zero", {"a": 1, "b": 0, "c": NAN}), ("omit", {"a": 1, "c": NAN})],
)
def test_unanswered(unanswered, expected):
    relevant, lists = {"a": ["x"], "b": ["x"]}, {"a": ["x", "y"], "c": ["x"]}
    values = per_query(from_lists(relevant, lists, unanswered=unanswered), undefined="omit")
    assert values == pytest.approx(expected, nan_ok=True)


def test_unanswered_omit_is_by_any_ranker():
    rankers = {"one": {"a": ["x"], "b": ["x"]}, "two": {"a": ["y"]}}
    rows = from_lists({"a": ["x"], "b": ["x"]}, rankers=rankers, unanswered="omit")
    assert set(rows.groups) == {"a"}


def test_an_empty_list_is_an_answer():
    assert per_query(from_lists({"a": ["x"]}, {"a": []}, unanswered="omit")) == {"a": 0}
    with pytest.raises(ValueError, match="No query is left to score: all 1 lack a list"):
        from_lists({"a": ["x"]}, {}, unanswered="omit")


@pytest.mark.parametrize(
    ("reader", "option"),
    [(from_lists, "unanswered"), (from_trec, "unjudged"), (from_lists, "duplicates")],
)
def test_unknown_options(reader, option):
    with pytest.raises(ValueError, match=f"{option} must be one of '(zero|raise)', 'omit'.*'one'"):
        reader(QRELS, {"q": ["a"]} if reader is from_lists else RUN, **{option: "one"})


# --- TREC


def draw_trec():
    """Draw judgements and a run: ties, unjudged, unretrieved, negative, missing queries."""
    rng = np.random.default_rng(0)
    qrels, run = {}, {}
    for query in map(str, range(40)):
        documents = [f"d{i}" for i in rng.permutation(30)]
        judged = rng.permutation(documents)[: rng.integers(1, 25)]
        # trec_eval never returns if all judgements of a query are negative
        grades = np.maximum(rng.integers(-1, 4, len(judged)), [0] + [-1] * (len(judged) - 1))
        if rng.random() < 0.9:
            qrels[query] = dict(zip(judged.tolist(), grades.tolist(), strict=True))
        if rng.random() < 0.9:
            scores = rng.choice([rng.normal(), 1, 1 + 1e-9, 2, -INF], len(documents))
            n_retrieved = rng.integers(0, len(documents))
            run[query] = dict(zip(documents[:n_retrieved], scores.tolist(), strict=False))
    return qrels, run


@pytest.mark.parametrize("k", [None, 1, 5])
def test_from_trec_is_trec_eval(k):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = draw_trec()
    measure = f"ndcg_cut.{k}" if k else "ndcg"
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    expected = {query: values[measure.replace(".", "_")] for query, values in theirs.items()}
    ours = per_query(from_trec(qrels, run, unanswered="omit"), k=k, **CONVENTIONS["trec_eval"])
    assert ours == pytest.approx(expected, abs=1e-12)
    # trec_eval -c: missing queries are 0
    everything = per_query(from_trec(qrels, run), k=k, undefined=0.0)
    assert everything == pytest.approx(dict.fromkeys(qrels, 0) | expected, abs=1e-12)


GAINS = [1, 4, 2, 9]
# options of ir_measures, of `from_trec` and of `ndcg_samples`
MEASURES = {
    "the default": ({}, {}, {}),
    "judged only": ({"judged_only": True}, {"unjudged": "omit"}, {}),
}


@pytest.mark.parametrize(("theirs", "reading", "scoring"), MEASURES.values(), ids=MEASURES)
@pytest.mark.parametrize("k", [None, 5])
def test_from_trec_is_ir_measures(theirs, reading, scoring, k):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = draw_trec()
    measure = ir_measures.nDCG(**theirs) @ k if k else ir_measures.nDCG(**theirs)
    expected = {result.query_id: result.value for result in measure.iter_calc(qrels, run)}
    ours = per_query(from_trec(qrels, run, **reading), k=k, undefined=0.0, **scoring)
    assert ours == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("run", "rank"),
    [
        pytest.param({"a": 1, "b": 1}, 2, id="by id, descending"),
        pytest.param({"a": 1 + 1e-9, "b": 1}, 2, id="equal in float32"),
        pytest.param({"a": 9, "10": 9}, 1, id="ids are text"),
        pytest.param({"a": 1e300, "b": INF}, 2, id="beyond float32"),
        pytest.param({"a": -INF, "b": 0}, 2, id="retrieved all the same"),
    ],
)
def test_from_trec_orders_as_trec_eval(run, rank):
    rows = from_trec(QRELS, {"q": run})
    assert rows.y_score[rows.ids == "a"] == -rank


def test_convention_of_the_two_versions_of_trec_eval():
    """The example of its version 10.0: .6309 in 9.0.8, and 1 where scores are kept as double."""
    run = {"q": {"a": 1.000000001, "b": 1.0}}
    assert ndcg_score(from_trec(QRELS, run)) == pytest.approx(1 / log2(3))
    assert ndcg_score(from_trec(QRELS, run, convention="trec_eval-10")) == 1
    tied = {"q": {"a": 1.0, "b": 1.0}}  # by id, descending, in both
    assert ndcg_score(from_trec(QRELS, tied, convention="trec_eval-10")) == 1 / log2(3)
    with pytest.raises(ValueError, match="convention must be one of 'trec_eval', 'trec_eval-10'"):
        from_trec(QRELS, run, convention="10")


def test_a_query_without_judgements_is_left_out_as_by_pytrec_eval():
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    assert per_query(from_trec({"q1": {"a": 1}, "q2": {}}, run)) == {"q1": 1}


def test_a_run_of_few_topics_warns():
    qrels = {f"q{i}": {"a": 1} for i in range(60)}
    with pytest.warns(UserWarning, match="documents for 1 of the 60 judged.* unanswered='omit'"):
        from_trec(qrels, {"q0": {"a": 1.0}})
    runs = {"all": {query: {"a": 1.0} for query in qrels}, "few": {"q0": {"a": 1.0}}}
    with pytest.warns(UserWarning, match="^The run 'few' has documents for 1 of the 60 judged"):
        from_trec(qrels, runs=runs)
    assert len(from_trec(qrels, {"q0": {"a": 1.0}}, unanswered="omit").ids) == 1
    half = {f"q{i}": {"a": 1.0} for i in range(30)}
    assert len(from_trec(qrels, half).ids) == 60  # of half of them it does not


# --- duplicates

# relevant, list, cutoff, and the NDCG
TWICE = {
    "haystack 11959": ({"A": 1.0}, ["A", "A"], None, 1),  # gave 1.63
    "llama_index 22683": (["id1", "id2"], ["id1", "id1", "id2"], "retrieved", 1),
    "llama_index 22683, relevant twice": (["id1", "id1"], ["id1"], None, 1),  # gave 0.61
    "mlflow 25965": (["a_bc574ae_2"], ["a", "a", "z"], 3, 0),  # gave 0.63
}


GAINS_OF_0 = [1, 3, 9]  # also of what nobody judged


def ndcg_with_repeats(truth, listed, k, unjudged, gain):
    """The definition: a repeat uses up its rank, and adds nothing."""
    judged = {document: grade for document, grade in truth.items() if not np.isnan(grade)}
    if unjudged == "omit":
        listed, truth = [document for document in listed if document in judged], judged
    gains = {d: gain[judged.get(d, 0)] for d in [*listed, *truth]}
    k = max(len(listed), 1) if k == "retrieved" else k
    at_ranks = [gains[d] if listed.index(d) == rank else 0 for rank, d in enumerate(listed)]
    best = ideal(sorted(gains.values(), reverse=True)[:k])
    return ideal(at_ranks[:k]) / best if best else 0.25


REPEATED = st.lists(st.sampled_from("abcd"), max_size=7)
GRADED = st.dictionaries(st.sampled_from("abcde"), st.sampled_from([0, 1, 2, NAN]), max_size=5)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of lists at random
@settings(max_examples=examples(150), deadline=None)
@given(
    truth=GRADED,
    listed=REPEATED,
    other=REPEATED,
    k=st.sampled_from([None, 1, 2, 4, "retrieved"]),
    unjudged=st.sampled_from(["zero", "omit"]),
    gain=st.sampled_from([GAINS_OF_0, [0, 1, 2]]),
)
def test_duplicates_zero_keeps_the_rank_and_adds_nothing(truth, listed, other, k, unjudged, gain):
    lists = [["a"], listed], [["a"], other]
    rows = from_lists(
        [{"a": 1}, truth],
        rankers=dict(zip("xy", lists, strict=True)),
        k=k, unjudged=unjudged, duplicates="zero",
    )  # fmt: skip
    options = {"gain": gain, "undefined": 0.25}
    for name, (_, ranked) in zip("xy", lists, strict=True):
        expected = pytest.approx(ndcg_with_repeats(truth, ranked, k, unjudged, gain))
        assert ndcg_samples(rows[name], **options)[1] == expected
        arrays, linear = rows[name], [0, 1, 2]
        if gain == linear and k != "retrieved":  # the rows say so, too
            columns = arrays.y_true, arrays.y_score
            samples = ndcg_samples(*columns, groups=arrays.groups, k=k, **options)
            assert samples[1] == expected


@pytest.mark.parametrize("listed", [[*"xaxab"], [*"aab"]], ids=["two repeats", "one repeat"])
@pytest.mark.parametrize("unjudged", ["zero", "omit"])
def test_rows_of_duplicates_zero(listed, unjudged):
    truth = {"a": 2, "b": 0}
    rows = from_lists(truth, listed, unjudged=unjudged, duplicates="zero")
    kept = [document for document in listed if document in truth or unjudged == "zero"]
    grades = [truth.get(d, 0) if kept.index(d) == rank else 0 for rank, d in enumerate(kept)]
    assert rows.ids.tolist() == kept
    assert rows.y_true.tolist() == grades
    assert rows.y_score.tolist() == list(range(-1, -len(kept) - 1, -1))


def test_rows_of_duplicates_zero_of_several_rankers():
    rankers = {"one": ["a", "a", "b"], "two": ["b", "a", "a", "a"]}
    rows = from_lists({"a": 1}, rankers=rankers, duplicates="zero")
    assert rows.ids.tolist() == ["a", "a", "b", "a"]
    assert rows.y_true.tolist() == [1, 0, 0, 0]
    assert rows.y_score["one"].tolist() == [-1, -2, -3, -INF]
    assert rows.y_score["two"].tolist() == [-2, -3, -1, -4]


USERS = range(12)


def of_users(truth, **rankers):
    """Read the same truth and lists, with repeats, for each of several users."""
    lists = {name: {user: list(ids) for user in USERS} for name, ids in rankers.items()}
    return from_lists(dict.fromkeys(USERS, truth), rankers=lists, duplicates="zero")


def test_with_duplicates_zero_a_repeat_is_judged_as_its_document_is():
    with pytest.warns(UserWarning, match="'unknown' returned, 50% are judged"):
        compare_rankers(of_users({"a": 1, "b": 0}, chunks="aaba", unknown="axxb"), test="t")
    # if all judged documents are relevant, there is no such warning: repeats are none of them
    compare_rankers(of_users(["a"], chunks="aaca", unknown="axxb"), test="t")


def test_a_metric_gets_0_with_duplicates_zero():
    seen = []
    rows = of_users(["a", "b"], x="aab", y="b")
    compare_rankers(rows, metric=lambda y, s: seen.append(y.tolist()) or y[0], test="t")
    assert seen[0] == [1, 0, 1]


def test_duplicates_raise_says_what_both_other_rules_do():
    truth, listed = {"a": 3, "b": 2}, ["x", "x", "a", "b"]
    with pytest.raises(ValueError, match="'x' 2 times") as caught:
        from_lists(truth, listed)
    ranks = {}
    for rule in re.findall(r'"(\w+)"', str(caught.value)):
        rows = from_lists(truth, listed, duplicates=rule)
        ranks[rule] = rows.y_score[rows.ids == "a"].item()
    assert ranks == {"omit": -2, "zero": -3}


@pytest.mark.parametrize(("truth", "listed", "k", "expected"), TWICE.values(), ids=TWICE)
def test_duplicates_omit_as_other_projects_expect_it(truth, listed, k, expected):
    rows = from_lists([truth], [listed], duplicates="omit")
    assert per_query(rows, k=k) == {0: pytest.approx(expected, abs=1e-15)}
    with pytest.raises(ValueError, match=r'times in query 0\. Pass duplicates="omit"'):
        from_lists([truth], [listed])


def test_the_best_score_of_a_document_counts():
    run = [Scored("q", "a", 0.5), Scored("q", "b", 0.7), Scored("q", "a", 0.9), Scored("q", "a", 0)]
    rows = from_trec(QRELS, run, duplicates="omit")
    assert rows.ids.tolist() == ["a", "b"]
    assert rows.y_score.tolist() == [-1, -2]


def test_lower_scores_of_a_document_keep_their_ranks():
    run = [
        Scored("q", "a", 0.5),
        Scored("q", "b", 0.7),
        Scored("q", "a", 0.9),
        Scored("q", "c", 0.6),
    ]
    rows = from_trec(
        QRELS, [*run, Scored("other", "a", 1), Scored("other", "a", 1)], duplicates="zero"
    )
    assert rows.ids.tolist() == ["a", "b", "c", "a"]
    assert rows.y_true.tolist() == [1, 0, 0, 0]
    assert rows.y_score.tolist() == [-1, -2, -3, -4]


def test_duplicates_of_judgements():
    once, twice = [Judged("q", "a", 1)], [Judged("q", "a", 1)] * 2
    with pytest.raises(ValueError, match="qrels has document 'a' twice in query 'q'. Pass dup"):
        from_trec(twice, RUN)
    for duplicates in ("omit", "zero"):
        rows = from_trec(twice, RUN, duplicates=duplicates)
        assert rows.to_frame().equals(from_trec(once, RUN).to_frame())


@pytest.mark.parametrize("duplicates", ["raise", "omit", "zero"])
def test_judgements_that_contradict_each_other(duplicates):
    qrels = [Judged("q", "a", 1), Judged("q", "a", 0)]
    with pytest.raises(ValueError, match="'a' twice in query 'q', with the relevance 1 and 0"):
        from_trec(qrels, RUN, duplicates=duplicates)


# --- cutoffs

# options of the readers and of `ndcg_samples`
READING = {
    "zero": ({}, {}),
    "omit": ({"unjudged": "omit"}, {}),
    "unanswered": ({"unanswered": "omit"}, {}),
    "duplicates": ({"duplicates": "omit"}, {}),
}


def draw_lists():
    """Draw truths, some without a relevant document, and lists, some missing or empty."""
    rng = np.random.default_rng(0)
    ids = [f"d{i}" for i in range(60)]
    truths, lists = {"q30": {"d0": 0, "d1": 0}}, {"q30": ["d1"], "q31": []}
    for query in [f"q{i:02}" for i in range(30)]:
        if rng.random() < 0.9:
            judged = rng.permutation(ids)[: rng.integers(1, 25)].tolist()
            truths[query] = {document: int(rng.integers(0, 4)) for document in judged}
        if rng.random() < 0.9:
            lists[query] = rng.permutation(ids)[: rng.integers(1, 40)].tolist()
    return truths, lists


@pytest.mark.parametrize(("reading", "scoring"), READING.values(), ids=READING)
@pytest.mark.parametrize("k", [5, "retrieved"])
@pytest.mark.parametrize(
    ("reader", "gain"),
    [
        pytest.param(from_lists, GAINS, id="lists, a table of gains"),
        pytest.param(from_trec, "linear", id="runs, linear"),
    ],
)
def test_reading_to_rank_5_changes_no_value(reader, gain, k, reading, scoring):
    truths, data = draw_lists()
    if "duplicates" in reading:
        data = {query: (*ids[:2], *ids[::-1], *ids) for query, ids in data.items()}
    if k == "retrieved":
        data = {query: ids[:4] for query, ids in data.items()}
    if reader is from_trec:
        data = as_runs({"run": data})["run"]
    whole, first = reader(truths, data, **reading), reader(truths, data, k=5, **reading)
    options = {"k": k, "gain": gain, "undefined": 0.25, **scoring}
    assert per_query(first, **options) == per_query(whole, **options)


def test_ids_after_rank_k_are_not_read():
    assert len(from_lists({"q": ["a"]}, {"q": ["a", "b", "b", None]}, k=2).y_true) == 2


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="no cutoff"),
        pytest.param({"k": "retrieved"}, id="retrieved"),
        pytest.param({"k": 1, "unjudged": "omit"}, id="ids that may move up"),
    ],
)
def test_ids_to_rank_k_are_checked(options):
    with pytest.raises(ValueError, match="'b' 2 times in query 'q'"):
        from_lists({"q": ["a"]}, {"q": ["a", "b", "b"]}, **options)


@pytest.mark.parametrize("k", [0, "all"])
def test_bad_cutoffs(k):
    with pytest.raises(ValueError, match="k must be an integer >= 1"):
        from_lists({"q": ["a"]}, {"q": ["a"]}, k=k)


def test_several_cutoffs_are_for_what_scores():
    truth = {query: ["a"] for query in range(12)}
    second = {query: ["c", "a"] if query % 2 else ["a"] for query in truth}
    rankers = {"first": truth, "second": second}
    with pytest.raises(ValueError, match=r"got \[1, 2\].* from_trec the largest"):
        from_lists(truth, rankers=rankers, k=[1, 2])
    rows = from_lists(truth, rankers=rankers, k=2)
    means = [compare_rankers(rows, k=k).mean for k in (1, 2)]
    assert [mean["first"] for mean in means] == [1, 1]
    assert [mean["second"] for mean in means] == pytest.approx([0.5, (1 + 1 / log2(3)) / 2])


def test_rankers_without_names():
    with pytest.raises(TypeError, match=r"rankers must be .* got list.* rankers={name: recomm"):
        from_lists({1: ["a"]}, rankers=[{1: ["a"]}])
