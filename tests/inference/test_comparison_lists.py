"""compare_lists and compare_runs, against each ranker alone and pytrec_eval."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import as_runs, compare_lists, compare_runs

from sklearn_ndcg import CONVENTIONS, from_lists, from_trec, ndcg_samples
from sklearn_ndcg.inference import compare_rankers, ndcg_interval

# lists drawn at random are only partly judged and answered
pytestmark = [
    pytest.mark.filterwarnings("ignore:(Of|.* none of) the first documents"),
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


def truths_and_lists(seed=0):
    """Grades, and lists in the order of the runs, one of them empty."""
    qrels, runs = judgements_and_runs(seed)
    relevant = {query: {d: max(y, 0) for d, y in each.items()} for query, each in qrels.items()}
    lists = {name: {query: [*each] for query, each in run.items()} for name, run in runs.items()}
    lists["bm25"]["q07"] = []
    return relevant, lists


def by_label(found, name):
    """The values of a ranker, by query."""
    return dict(zip(found.labels, found.values[name], strict=True))


OPTIONS = {
    "all": {},
    "k": {"k": 5},
    "retrieved": {"k": "retrieved", "gain": "exponential"},
    "discount": {"k": 3, "discount": "reciprocal", "ties": "worst"},
    "table": {"k": 10, "gain": {0: 0, 1: 3, 2: 4, 3: 9}},
    "gain of 0": {"k": 10, "gain": {0: 1, 1: 2, 2: 4, 3: 8}},
}


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize(
    ("compare", "read", "data"),
    [(compare_lists, from_lists, truths_and_lists), (compare_runs, from_trec, judgements_and_runs)],
    ids=["lists", "runs"],
)
def test_each_ranker_has_its_values_alone(compare, read, data, options, unjudged):
    truths, rankers = data(1)
    options = {"undefined": "omit"} | options
    found = compare(truths, rankers, test="t", unjudged=unjudged, **options)
    for name, answers in rankers.items():
        queries, nothing = {*truths}.union(*rankers.values()), [] if read is from_lists else {}
        everywhere = {query: answers.get(query, nothing) for query in queries}
        rows = read(truths, everywhere, unjudged=unjudged)
        data = {"y_true": rows.y_true, "y_score": rows.y_score, "groups": rows.groups}
        values, ids = ndcg_samples(**data, return_groups=True, **options)
        expected = dict(zip(ids, values, strict=True))
        # the arrays of a query of which nothing is left have a row of relevance 0
        expected = {q: value for q, value in expected.items() if q in truths and value == value}  # noqa: PLR0124
        ours = by_label(found, name)
        assert ours == pytest.approx(expected, abs=1e-12)
        assert list(ours) == sorted(ours)
        assert found.mean[name] == pytest.approx(np.mean(list(expected.values())), abs=1e-12)
    queries = {*truths}.union(*rankers.values())
    assert found.n_queries + found.n_left_out == len(queries)


def rows_of_all_lists(rankers, relevant):
    """Rows of all documents of all rankers, in the order of their ids."""
    found = []
    for query, truth in relevant.items():
        lists = {name: each.get(query, []) for name, each in rankers.items()}
        for document in sorted({*truth, *(d for listed in lists.values() for d in listed)}):
            places = [
                -ids.index(document) if document in ids else -np.inf for ids in lists.values()
            ]
            found.append([query, truth.get(document, np.nan), *places])
    return pd.DataFrame(found, columns=["query", "grade", *rankers])


def lists_judged_to(shares):
    """Truths and lists of ten documents, of which each ranker has so many that are judged."""
    queries = range(16)
    truth = {q: {"relevant": 1, "other": 0, "third": 0} for q in queries}
    judged, unjudged = list(truth[0]), [f"d{i}" for i in range(10)]
    lists = {name: (judged[:n] + unjudged)[:10] for name, n in shares.items()}
    return truth, {name: dict.fromkeys(queries, ids) for name, ids in lists.items()}


def test_unjudged_documents_are_warned_of_if_shares_differ_by_more_than_a_tenth():
    with warnings.catch_warnings(action="error"):
        compare_lists(*lists_judged_to({"a": 1, "b": 2}), test="t")
    with pytest.warns(UserWarning, match="'a' returned, 10% are judged, .* 30% for 'b'"):
        compare_lists(*lists_judged_to({"a": 1, "b": 3}), test="t")


def users_and_weights(queries):
    rng = np.random.default_rng(0)
    user = {query: f"user {i % 13}" for i, query in enumerate(queries)}
    return {"clusters": user, "sample_weight": {query: rng.uniform(1, 2) for query in queries}}


@pytest.mark.parametrize(("options", "gain", "has_clusters"), [
    ({"test": "t"}, {0: 1, 1: 2, 2: 3, 3: 5}, False),
    ({"random_state": 3, "baseline": "dense"}, "linear", False),
    ({"random_state": 0}, "exponential", True),
])  # fmt: skip
def test_recommended_is_compared_on_the_union_of_all_lists_and_the_truth(
    options, gain, has_clusters
):
    """Here unjudged documents have no gain, even if documents of grade 0 have one."""
    relevant, rankers = truths_and_lists()
    rankers = {name: {q: each.get(q, []) for q in relevant} for name, each in rankers.items()}
    frame = rows_of_all_lists(rankers, relevant)
    options = options | {"k": 8, "gain": gain, "undefined": 0.0}
    ids = users_and_weights(relevant) if has_clusters else {}
    expected = compare_rankers(
        frame["grade"], frame[list(rankers)], groups=frame["query"], unjudged="zero", **options,
        **{name: frame["query"].map(each) for name, each in ids.items()},
    )  # fmt: skip
    rows = from_lists(relevant, rankers=rankers, k=8, unjudged="nan")
    found = compare_rankers(rows, unjudged="zero", **options, **ids)
    assert repr(found) == repr(expected)
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    assert found.n_clusters == (13 if has_clusters else 24)


def test_recommended_clusters_and_sample_weight_may_be_sequences():
    relevant, rankers = truths_and_lists()
    queries = sorted(relevant)
    rankers = {n: {q: each.get(q, []) for q in queries} for n, each in rankers.items()}
    ids, options = users_and_weights(queries), {"random_state": 0, "undefined": 0.0}
    expected = compare_lists(relevant, rankers, **ids, **options)
    rankers, ids = ({n: [*each.values()] for n, each in of.items()} for of in (rankers, ids))
    found = compare_lists([relevant[q] for q in queries], rankers, **ids, **options)
    assert [queries[i] for i in found.labels] == expected.labels.tolist()
    assert repr(found) == repr(expected)


def test_unanswered_queries_count_as_0_or_are_omitted():
    relevant = {f"q{i:02}": {"a": 1} for i in range(14)}
    good = {query: ["a", "b"] for query in relevant}
    poor = {query: ["b", "a"] for query in relevant}
    del good["q00"], poor["q01"]
    poor["q02"] = []
    zero = compare_lists(relevant, {"good": good, "poor": poor}, test="t")
    second = 1 / np.log2(3)
    assert zero.labels.tolist() == list(relevant)
    assert zero.values["good"].tolist() == [0, *[1] * 13]
    assert zero.values["poor"] == pytest.approx([second, 0, 0, *[second] * 11])
    assert (zero.n_queries, zero.n_left_out) == (14, 0)
    omit = compare_lists(relevant, {"good": good, "poor": poor}, unanswered="omit", test="t")
    assert omit.labels.tolist() == [f"q{i:02}" for i in range(2, 14)]
    assert omit.values["poor"] == pytest.approx([0, *[second] * 11])  # an empty list is an answer
    assert (omit.n_queries, omit.n_left_out) == (12, 2)
    assert repr(omit).startswith("12 queries, 2 left out (2 no list)\n")


# Runs


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("k", "unjudged"), [(None, "zero"), (1, "zero"), (5, "zero"), (20, "zero"), (5, "omit")]
)
def test_compare_runs_has_the_values_and_means_of_pytrec_eval(seed, k, unjudged):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, runs = judgements_and_runs(seed)
    options = CONVENTIONS["trec_eval"] | {"k": k, "unjudged": unjudged, "test": "t"}
    complete = compare_runs(qrels, runs, **options)  # trec_eval -c
    assert complete.labels.tolist() == sorted(qrels)
    assert complete.left_out == {"nothing judged": 1}  # only in a run
    common = compare_runs(qrels, runs, unanswered="omit", **options)
    answered_by_all = set.intersection(set(qrels), *map(set, runs.values()))
    assert set(common.labels) == answered_by_all
    name, flag = f"ndcg_cut.{k}" if k else "ndcg", unjudged == "omit"  # trec_eval -J
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {name}, judged_docs_only_flag=flag)
    for run_name, run in runs.items():
        found = evaluator.evaluate(run)
        theirs = {query: values[name.replace(".", "_")] for query, values in found.items()}
        theirs = dict.fromkeys(qrels, 0.0) | theirs
        assert by_label(complete, run_name) == pytest.approx(theirs, abs=1e-12)
        mean = sum(theirs.values()) / len(qrels)
        assert complete.mean[run_name] == pytest.approx(mean, abs=1e-12)
        mean = np.mean([theirs[query] for query in answered_by_all])
        assert common.mean[run_name] == pytest.approx(mean, abs=1e-12)


def test_left_out_counts_queries_by_reason():
    qrels, runs = judgements_and_runs(0)
    found = compare_runs(qrels, runs, undefined="omit", test="t")
    assert found.left_out == {"nothing judged": 1, "nothing relevant, or no weight": 3}
    assert found.n_left_out == 4


@pytest.mark.parametrize(
    ("convention", "ndcg"), [("trec_eval", 1 / np.log2(3)), ("trec_eval-10", 1)]
)
def test_convention_orders_scores_that_float32_ties(convention, ndcg):
    """By id, descending, in trec_eval 9.0.8, and by score in 10.0."""
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(10)}
    runs = {name: {q: {"a": a, "b": 1.0} for q in qrels} for name, a in (("x", 1 + 1e-9), ("y", 1))}
    found = compare_runs(qrels, runs, convention=convention, test="t")
    assert found.mean == pytest.approx({"x": ndcg, "y": 1 / np.log2(3)}, abs=1e-15)


def test_qrels_and_runs_may_be_records_and_frames():
    ir_measures = pytest.importorskip("ir_measures")
    qrels, runs = judgements_and_runs(0)
    records = [ir_measures.Qrel(q, d, y) for q, each in qrels.items() for d, y in each.items()]
    scored = {
        name: [ir_measures.ScoredDoc(q, d, s) for q, each in run.items() for d, s in each.items()]
        for name, run in runs.items()
    }
    options = {"random_state": 0, "undefined": "omit"}
    expected = repr(compare_runs(qrels, runs, **options))
    assert repr(compare_runs(iter(records), scored, **options)) == expected
    frames = {name: pd.DataFrame(each) for name, each in scored.items()}
    assert repr(compare_runs(pd.DataFrame(records), frames, **options)) == expected


# What is answered and judged


def test_groups_of_one_document_are_no_wrong_ids():
    """Rows of them would be warned of, as `groups` may hold something else; lists have keys."""
    users = [f"u{number}" for number in range(12)]
    liked = dict.fromkeys(users, ("a",))
    lists = {"one": liked, "two": liked}
    assert compare_lists(liked, lists, test="t").mean == {"one": 1, "two": 1}
    alike = {user: dict.fromkeys("ab", 1 + number % 2) for number, user in enumerate(users)}
    run = {user: {"a": 0.5, "b": 0.1} for user in users}
    assert compare_runs(alike, {"one": run, "two": run}, test="t").mean == {"one": 1, "two": 1}


JUDGED = {f"u{i:02}": {"a": 2, "b": 1} for i in range(30)}
WHOLE = {query: ["a", "b"] for query in JUDGED}


def some(start, stop, step=1):
    """The lists of some of the queries."""
    return {query: WHOLE[query] for query in [*WHOLE][start:stop:step]}


@pytest.mark.parametrize(("x", "y", "message"), [
    (WHOLE, {query.upper(): ["a"] for query in WHOLE}, "'y' has lists for 0 of the 30 judged queries; another ranker has 30: .* check that its query ids are those"),
    (WHOLE, some(0, 30, 2), "'y' has lists for 15 of the 30 judged queries; another ranker has 30"),
    (some(0, 24), some(0, 24), "'x' has lists for 24 of the 30 judged queries; no ranker has one for 6: a query"),
    ({}, {}, "'x' has lists for 0 of the 30 judged queries; no ranker has one for 30: a query"),
])  # fmt: skip
def test_answered_by_few_is_warned_of(x, y, message):
    rows = from_lists(JUDGED, rankers={"x": x, "y": y})
    with pytest.warns(UserWarning, match=message) as caught:
        compare_rankers(rows, test="t", undefined="omit")
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UserWarning, match=message):
        compare_runs(JUDGED, as_runs({"x": x, "y": y}), test="t")


@pytest.mark.parametrize(("x", "y", "unanswered"), [
    (some(0, 24), some(0, 24), "omit"), (some(0, 27), some(0, 27), "zero"),
    (some(0, 27), some(3, 30), "zero"),  # together they have all
])  # fmt: skip
def test_answered_by_enough_is_not_warned_of(x, y, unanswered):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare_lists(JUDGED, {"x": x, "y": y}, unanswered=unanswered, test="t")


def test_answered_and_judged_are_shares_that_are_printed():
    lists = {"whole": WHOLE, "half": some(0, 30, 2)}
    found = compare_lists(JUDGED, lists, test="t")
    assert found.answered == {"whole": 1.0, "half": 0.5}
    assert found.judged == {"whole": 1.0, "half": 1.0}
    assert repr(found).splitlines()[1].split() == ["NDCG", "answered"]
    found = compare_lists(JUDGED, lists, test="t", unanswered="omit")
    assert found.answered == {"whole": 1.0, "half": 1.0}


def test_judged_of_0_is_warned_of():
    liked = {u: {f"d{u % 7}", f"d{u % 5}"} for u in range(20)}
    good = {u: sorted(each) for u, each in liked.items()}
    bad = {u: [f"item {each}" for each in found] for u, found in good.items()}
    message = "truth has none of the first documents that 'bad' returned"
    with pytest.warns(UserWarning, match=message):
        compare_lists(liked, {"good": good, "bad": bad}, test="t")


@pytest.mark.parametrize("k", [1, 5, None])
def test_judged_is_that_of_ir_measures(k):
    measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    qrels, lists = truths_and_lists(2)  # grades below 0 would be unjudged
    del lists["bm25"]["q07"]  # which is empty
    runs = as_runs(lists)
    found = compare_runs(qrels, runs, k=k, undefined=0, test="t")
    judged = measures.Judged if k is None else measures.Judged @ k
    for name, run in runs.items():
        answered = {query: qrels[query] for query in qrels if query in run}  # others are 0 there
        expected = measures.calc_aggregate([judged], answered, run)[judged]
        assert found.answered[name] == len(answered) / len(qrels)
        assert found.judged[name] == pytest.approx(expected, abs=1e-12)
        rows = from_trec(qrels, run, k=k, unanswered="omit")
        alone = ndcg_interval(rows, undefined=0, method="t")
        assert alone.judged == pytest.approx(expected, abs=1e-12)
        assert f"{expected:.1%} judged" in repr(alone)


def test_judged_that_differ_much_are_warned_of():
    """A pool that was judged from two rankers lacks documents of the third."""
    rng = np.random.default_rng(0)
    truth = {q: {i: int(rng.integers(0, 3)) for i in range(20)} for q in range(30)}
    old, new = ({q: (rng.permutation(20) + shift).tolist() for q in truth} for shift in (0, 17))
    rows = from_lists(truth, rankers={"old": old, "new": new}, k=10)
    with pytest.warns(UserWarning, match="'new' returned, 1[0-9]% are .* be better") as caught:
        found = compare_rankers(rows, test="t")
    with pytest.warns(UserWarning, match="'new' returned, .* may look better than it is"):
        compare_lists(truth, {"old": old, "new": new}, k=10, test="t", unjudged="omit")
    assert caught[0].filename == __file__
    expected = np.mean([sum(i < 20 for i in ids[:10]) / 10 for ids in new.values()])
    assert found.judged == {"old": 1.0, "new": pytest.approx(expected)}
    assert "judged" in repr(found)


def test_judged_is_unknown_of_what_users_liked():
    """What users did not like is not relevant, so a hit rate is not a share of judgements."""
    liked = [{i % 8, (i + 3) % 8} for i in range(30)]
    lists = {"one": [[0, 1, 2, 3]] * 30, "two": [[i % 8, (i + 3) % 8] for i in range(30)]}
    rows = from_lists(liked, rankers=lists)
    found = compare_rankers(rows, test="t")
    assert found.judged == pytest.approx({"one": np.nan, "two": 1}, nan_ok=True)
    assert repr(found).splitlines()[1:4] == [
        "       NDCG   judged",
        f"one  {found.mean['one']:.4f}  unknown",
        "two  1.0000   100.0%",
    ]
    alone = ndcg_interval(rows["one"], method="t")
    assert np.isnan(alone.judged)
    assert repr(alone).endswith("30 queries, judged share unknown")


def test_judged_is_the_same_alone_and_in_a_comparison():
    qrels, lists = truths_and_lists(2)
    rows = from_lists(qrels, rankers=lists, k=5)
    found = compare_rankers(rows, undefined=0, test="t")
    for name in lists:
        assert ndcg_interval(rows[name], undefined=0, method="t").judged == found.judged[name]
