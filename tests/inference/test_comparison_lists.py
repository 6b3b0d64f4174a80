"""Comparisons of ranked lists and runs, against arrays, pytrec_eval and ir_measures."""

import warnings

import numpy as np
import pytest
from helpers import as_runs, compare_lists, compare_runs

from sklearn_ndcg import CONVENTIONS, from_lists, from_trec, ndcg_score
from sklearn_ndcg._metrics.measure import DCG
from sklearn_ndcg._metrics.rankings import rankings_of_lists
from sklearn_ndcg.inference import compare_rankers, ndcg_by_segment
from sklearn_ndcg.inference._judged import judged_shares

# lists drawn at random are only partly judged and answered
pytestmark = [
    pytest.mark.filterwarnings("ignore:Of the first documents"),
    pytest.mark.filterwarnings("ignore:.* judged queries"),
]


def judgements_and_runs(seed):
    """Judgements, and runs with ties and missing queries."""
    rng = np.random.default_rng(seed)
    qrels, runs = {}, {name: {} for name in ("bm25", "dense", "both")}
    for i in range(24):
        documents = rng.permutation([f"d{j:02}" for j in range(30)]).tolist()
        grades = rng.integers(0 if i < 3 else -1, 1 if i < 3 else 4, 12).tolist()
        qrels[f"q{i:02}"] = dict(zip(documents, [max(grades), 0, *grades], strict=False))
        for run in runs.values():
            if rng.random() < 0.9:
                retrieved = rng.permutation(30)[: rng.integers(1, 30)]
                scores = rng.choice([1.0, 1 + 1e-9, *rng.normal(size=20)], len(retrieved))
                ids = [f"d{j:02}" for j in retrieved]
                run[f"q{i:02}"] = dict(zip(ids, scores.tolist(), strict=True))
    runs["dense"]["nobody judged it"] = {"d00": 0.1}
    return qrels, runs


def by_label(found, name):
    """The values of a ranker, by query."""
    return dict(zip(found.labels, found.values[name], strict=True))


@pytest.fixture
def unanswered():
    """A truth of 14 queries, and lists of two rankers that lack one each, one of them empty."""
    relevant = {f"q{i:02}": {"a": 1} for i in range(14)}
    good = {query: ["a", "b"] for query in relevant}
    poor = {query: ["b", "a"] for query in relevant}
    del good["q00"], poor["q01"]
    poor["q02"] = []
    return relevant, {"good": good, "poor": poor}


def test_weights_are_those_of_the_queries():
    """Rankers may return different numbers of documents, so that the rows of a query differ."""
    truth = {f"q{i:02}": ["a", "b"] for i in range(20)}
    lists = {
        "some": {query: ["c", "a", "d"][: i % 4] for i, query in enumerate(truth)},
        "all": {query: ["x", "b", "y", "a"][i % 2 :] for i, query in enumerate(truth)},
    }
    rows, weight = from_lists(truth, rankers=lists), {q: 1 + i for i, q in enumerate(truth)}
    found = compare_rankers(rows, sample_weight=weight, test="t")
    for name in lists:
        assert found.mean[name] == pytest.approx(ndcg_score(rows[name], sample_weight=weight))


def test_queries_that_count_as_0_are_not_left_out():
    truth = {f"q{i:02}": ["a"] if i else [] for i in range(12)}
    lists = {
        "x": {query: ["a", "b"] for query in truth},
        "y": {query: ["b", "a"] for query in truth},
    }
    rows = from_lists(truth, rankers=lists)
    for undefined, left_out in ((0, {}), ("omit", {"nothing judged": 1})):
        found = compare_rankers(rows, undefined=undefined, test="t")
        assert found.left_out == left_out
        assert found.n_left_out == len(left_out)


def test_a_query_without_weight_and_segment_is_in_none():
    truth = {f"q{i:02}": ["a"] for i in range(31)}
    lists = {query: [["a"], ["b", "a"]][i % 2] for i, query in enumerate(truth)}
    segments = {query: f"s{i % 2}" for i, query in enumerate(truth)}
    del segments["q30"]
    options = {"sample_weight": {query: query in segments for query in truth}, "method": "t"}
    with pytest.warns(UserWarning, match="segments"):  # each has one value
        found = ndcg_by_segment(from_lists(truth, lists), segments=segments, **options)
    assert found.n_queries.tolist() == [15, 15]
    assert found.n_left_out.tolist() == [0, 0]
    assert found.overall.n_left_out == 1


def test_unanswered_queries_count_as_0(unanswered):
    found = compare_lists(*unanswered, test="t")
    second = 1 / np.log2(3)
    assert found.labels.tolist() == [f"q{i:02}" for i in range(14)]
    assert found.values["good"].tolist() == [0, *[1] * 13]
    assert found.values["poor"] == pytest.approx([second, 0, 0, *[second] * 11])
    assert (found.n_queries, found.n_left_out) == (14, 0)


def test_unanswered_queries_are_omitted(unanswered):
    found = compare_lists(*unanswered, unanswered="omit", test="t")
    assert found.labels.tolist() == [f"q{i:02}" for i in range(2, 14)]
    # an empty list is an answer
    assert found.values["poor"] == pytest.approx([0, *[1 / np.log2(3)] * 11])
    assert (found.n_queries, found.n_left_out) == (12, 2)
    assert found.left_out == {"no list": 2}


# Runs


@pytest.mark.parametrize(("k", "unjudged"), [(None, "zero"), (5, "zero"), (5, "omit")])
def test_runs_have_the_values_and_means_of_pytrec_eval(k, unjudged):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, runs = judgements_and_runs(0)
    options = CONVENTIONS["trec_eval"] | {"k": k, "unjudged": unjudged, "test": "t"}
    complete = compare_runs(qrels, runs, **options)  # trec_eval -c
    common = compare_runs(qrels, runs, unanswered="omit", **options)
    answered_by_all = set.intersection(set(qrels), *map(set, runs.values()))
    assert complete.labels.tolist() == sorted(qrels)
    assert set(common.labels) == answered_by_all
    measure, only_judged = f"ndcg_cut.{k}" if k else "ndcg", unjudged == "omit"  # trec_eval -J
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {measure}, judged_docs_only_flag=only_judged)
    for name, run in runs.items():
        theirs = dict.fromkeys(qrels, 0.0)
        for query, values in evaluator.evaluate(run).items():
            theirs[query] = values[measure.replace(".", "_")]
        assert by_label(complete, name) == pytest.approx(theirs, abs=1e-12)
        assert complete.mean[name] == pytest.approx(np.mean([*theirs.values()]), abs=1e-12)
        mean = np.mean([theirs[query] for query in answered_by_all])
        assert common.mean[name] == pytest.approx(mean, abs=1e-12)


def test_left_out_counts_queries_by_reason():
    qrels, runs = judgements_and_runs(0)
    found = compare_runs(qrels, runs, undefined="omit", test="t")
    assert found.left_out == {"nothing judged": 1, "no relevant document or weight": 3}
    assert found.n_left_out == 4
    assert {type(count) for count in (found.n_left_out, *found.left_out.values())} == {int}


# What is answered and judged

JUDGED = {f"u{i:02}": {"a": 2, "b": 1} for i in range(30)}


def answers(start, stop, step=1):
    """The lists of some of the queries."""
    return {query: ["a", "b"] for query in [*JUDGED][start:stop:step]}


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (answers(0, 30), {"U": ["a"]}, "'y' .* 0 of the 30 judged queries; another ranker has 30"),
        (answers(0, 30), answers(0, 30, 2), "'y' .* 15 of the 30 .*; another ranker has 30"),
    ],
    ids=["other ids", "half"],
)
def test_answers_to_few_queries_are_warned_of(x, y, message):
    rows = from_lists(JUDGED, rankers={"x": x, "y": y})
    with pytest.warns(UserWarning, match=message) as caught:
        compare_rankers(rows, test="t", undefined="omit")
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    ("x", "y", "unanswered"),
    [
        (answers(0, 24), answers(0, 30), "omit"),
        (answers(0, 24), answers(0, 24), "zero"),
        (answers(0, 27), answers(3, 30), "zero"),
    ],
    ids=["omitted", "neither has a fifth", "together they have all"],
)
def test_answers_to_enough_queries_are_not_warned_of(x, y, unanswered):
    with warnings.catch_warnings(action="error"):
        compare_lists(JUDGED, {"x": x, "y": y}, unanswered=unanswered, test="t")


@pytest.mark.parametrize("k", [5, None])
def test_judged_shares_are_those_of_ir_measures(k):
    measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    qrels, runs = judgements_and_runs(2)
    runs = as_runs(runs)  # without ties
    qrels = {  # grades below 0 would be unjudged
        query: {document: max(grade, 0) for document, grade in grades.items()}
        for query, grades in qrels.items()
    }
    rankers = rankings_of_lists(from_trec(qrels, runs=runs, k=k))
    found = judged_shares(list(rankers.values()), DCG(k=k))
    judged = measures.Judged if k is None else measures.Judged @ k
    for row, run in enumerate(runs.values()):
        answered = {query: qrels[query] for query in qrels if query in run}  # others are 0 there
        expected = measures.calc_aggregate([judged], answered, run)[judged]
        assert found.n_answered()[row] == len(answered)
        assert found.means()[row] == pytest.approx(expected, abs=1e-12)


def lists_judged_to(tenths):
    """Truths and lists of ten documents, of which each ranker has so many that are judged."""
    queries = range(16)
    truth = {q: {"relevant": 1, "other": 0, "third": 0} for q in queries}
    judged, unjudged = list(truth[0]), [f"d{i}" for i in range(10)]
    lists = {name: (judged[:n] + unjudged)[:10] for name, n in tenths.items()}
    return truth, {name: dict.fromkeys(queries, ids) for name, ids in lists.items()}


def test_judged_that_differ_by_a_tenth_are_not_warned_of():
    with warnings.catch_warnings(action="error"):
        compare_lists(*lists_judged_to({"a": 1, "b": 2}), test="t")


@pytest.mark.parametrize(
    ("unjudged", "bias"), [("zero", "may be better"), ("omit", "may look better than it is")]
)
def test_judged_that_differ_by_more_are_warned_of(unjudged, bias):
    truth, lists = lists_judged_to({"a": 1, "b": 3})
    message = f"'a' returned, 10% are judged, .* 30% for 'b'.*{bias}"
    rows = from_lists(truth, rankers=lists, unjudged=unjudged)
    with pytest.warns(UserWarning, match=message) as caught:
        compare_rankers(rows, test="t")
    assert [warning.filename for warning in caught] == [__file__]


def test_judged_of_a_ranker_without_documents_are_not_compared():
    truth, lists = lists_judged_to({"a": 1, "b": 3})
    rows = from_lists(truth, rankers={"empty": dict.fromkeys(truth, ()), **lists})
    few = pytest.warns(UserWarning, match="'empty' has lists with documents for 0 of the 16")
    with few, pytest.warns(UserWarning, match="'a' returned, 10% are judged, .* 30% for 'b'"):
        compare_rankers(rows, test="t")


@pytest.mark.parametrize("metric", [None, lambda y_true, y_score: y_score[0]])
def test_judged_beyond_the_cutoff_are_not_warned_of(metric):
    """Lists are read to their ends, as later documents may move up."""
    truth, lists = lists_judged_to({"a": 1, "b": 3})
    rows = from_lists(truth, rankers=lists, k=1, unjudged="omit")
    with warnings.catch_warnings(action="error"):
        compare_rankers(rows, metric=metric, test="t")


def test_judged_of_0_is_warned_of():
    truth, lists = lists_judged_to({"good": 2, "bad": 0})
    with pytest.warns(UserWarning, match="Of 'bad': No document in the lists is in any truth"):
        rows = from_lists(truth, rankers=lists)
    with pytest.warns(UserWarning, match="'bad' returned, 0% are judged, .* 20% for 'good'"):
        compare_rankers(rows, test="t")


def test_judged_is_unknown_of_what_users_liked():
    """What users did not like is not relevant, so a hit rate is not a share of judgements."""
    liked = [{i % 8, (i + 3) % 8} for i in range(30)]
    lists = {"one": [[0, 1, 2, 3]] * 30, "two": [[i % 8, (i + 3) % 8] for i in range(30)]}
    rows = from_lists(liked, rankers=lists)
    with warnings.catch_warnings(action="error"):
        compare_rankers(rows, test="t")


def test_lists_that_were_read_with_a_cutoff_are_scored_at_smaller_ones():
    truth, lists = {"a": 1, "b": 2}, {"x": ["a", "b", "c"], "y": ["b", "c", "a"]}
    rankers = {name: [ids] * 12 for name, ids in lists.items()}
    rows = from_lists([truth] * 12, rankers=rankers, k=3)
    found = {k: compare_rankers(rows, k=k, test="t") for k in (1, None)}
    assert [result.metric for result in found.values()] == ["NDCG@1", "NDCG@3"]
    assert found[1].mean["x"] == 0.5
    with pytest.raises(ValueError, match="k must be at most 3, got 4"):
        compare_rankers(rows, k=4, test="t")


# Undefined queries


def lists_of_odd_queries(seed):
    """Truths and lists of two rankers, of which some are empty, or lack a query or a truth."""
    rng = np.random.default_rng(seed)
    documents = list("abcdef")

    def drawn(n):
        return rng.permutation(documents)[:n].tolist()

    truth = {q: {d: int(rng.integers(0, 3)) for d in drawn(rng.integers(0, 4))} for q in range(14)}
    names = [q for q in range(16) if rng.random() < 0.9]
    return truth, {name: {q: drawn(rng.integers(0, 5)) for q in names} for name in ("A", "B")}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gain", ["linear", [1, 3, 7]], ids=["linear", "of grade 0"])
@pytest.mark.parametrize("unjudged", ["zero", "omit"])
@pytest.mark.parametrize("undefined", [0.0, 0.5])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_mean_of_a_ranker_is_its_ndcg_score(seed, gain, unjudged, undefined):
    truth, lists = lists_of_odd_queries(seed)
    rows = from_lists(truth, rankers=lists, k=3, unjudged=unjudged)
    options = {"gain": gain, "undefined": undefined}
    found = compare_rankers(rows, test="t", **options)
    expected = {name: ndcg_score(rows[name], **options) for name in lists}
    assert found.mean == pytest.approx(expected, abs=1e-15)


def test_a_query_that_is_undefined_for_one_ranker_is_left_out_for_all():
    """A document of grade 0 has a gain, so that "s" is undefined only for the ranker without it."""
    truth = {f"q{i}": {"a": 1} for i in range(12)}
    lists = {"A": truth | {"s": {"x": 1}}, "B": truth | {"s": {}}}
    rankers = {name: {q: list(ids) for q, ids in of.items()} for name, of in lists.items()}
    rows = from_lists(truth, rankers=rankers)
    gain = [1, 3]
    filled = compare_rankers(rows, gain=gain, undefined=0.0, test="t")
    assert [filled.values[name][-1] for name in "AB"] == [1, 0]
    omitted = compare_rankers(rows, gain=gain, undefined="omit", test="t")
    assert (omitted.n_queries, omitted.n_left_out) == (12, 1)
    assert "s" not in omitted.labels
