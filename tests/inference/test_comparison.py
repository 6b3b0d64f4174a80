"""Comparisons, against SciPy and exact arithmetic; lists and runs, against each ranker alone."""

import re
import tracemalloc
import warnings
from fractions import Fraction
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from helpers import assert_same, ideal, matrices, three_rankers, users
from oracles import exact_pvalue
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import CONVENTIONS, from_lists, from_trec, ndcg_samples, ndcg_score
from sklearn_ndcg.inference import compare_lists, compare_rankers, compare_runs, ndcg_interval
from sklearn_ndcg.inference._comparison import _compared
from sklearn_ndcg.inference._sample import Sample

# SciPy's name for it
RNG = "rng" if "rng" in signature(stats.bootstrap).parameters else "random_state"
Y, S = matrices()
# lists drawn at random are only partly judged and answered
pytestmark = [
    pytest.mark.filterwarnings("ignore:(Of|.* none of) the first documents"),
    pytest.mark.filterwarnings("ignore:.* judged queries"),
]


def test_t_test_is_that_of_scipy():
    y, scores = three_rankers()
    found = compare_rankers(y, scores, test="t", k=5)
    values = {name: ndcg_samples(y, s, k=5) for name, s in scores.items()}
    assert found.pairs == [("good", "poor"), ("good", "other"), ("poor", "other")]
    for i, (first, second) in enumerate(found.pairs):
        expected = stats.ttest_rel(values[first], values[second])
        assert found.statistic[i] == pytest.approx(expected.statistic, rel=1e-12)
        assert found.uncorrected_pvalue[i] == pytest.approx(expected.pvalue, rel=1e-12)
        low, high = expected.confidence_interval()
        assert found.confidence_interval.low[i] == pytest.approx(low, rel=1e-12)
        assert found.confidence_interval.high[i] == pytest.approx(high, rel=1e-12)
        d = values[first] - values[second]
        assert found.effect_size[i] == pytest.approx(d.mean() / d.std(ddof=1), rel=1e-12)
        assert found.standard_error[i] == pytest.approx(stats.sem(d), rel=1e-12)
        sides = [(d > 0).sum(), (d == 0).sum(), (d < 0).sum()]
        assert [found.wins[i], found.ties[i], found.losses[i]] == sides
    assert found.ndcg == pytest.approx({name: each.mean() for name, each in values.items()})


def difference(a, b, axis=-1):
    return np.mean(a, axis=axis) - np.mean(b, axis=axis)


@pytest.mark.parametrize("n_queries", [2, 5, 10, 13])
@pytest.mark.filterwarnings("ignore:. queries")
def test_exact_permutation_test_is_that_of_scipy(n_queries):
    for seed in range(5):
        # without grades and nearly equal rankers, for which SciPy would take equal sums as different
        rng = np.random.default_rng(seed)
        y = rng.random((n_queries, 12))
        scores = {str(noise): y + rng.normal(0, noise, y.shape) for noise in (0.1, 0.5, 3)}
        found = compare_rankers(y, scores)
        for (first, second), pvalue in zip(found.pairs, found.uncorrected_pvalue, strict=True):
            values = [ndcg_samples(y, scores[name]) for name in (first, second)]
            theirs = stats.permutation_test(
                values, difference, permutation_type="samples", n_resamples=np.inf
            )
            assert pvalue == theirs.pvalue


def test_random_permutation_test_is_near_that_of_scipy():
    y, scores = three_rankers(60, seed=6)
    found = compare_rankers(y, scores, n_resamples=20_000, random_state=0)
    for (first, second), pvalue in zip(found.pairs, found.uncorrected_pvalue, strict=True):
        values = [ndcg_samples(y, scores[name]) for name in (first, second)]
        theirs = stats.permutation_test(
            values, difference, permutation_type="samples", n_resamples=20_000,
            **{RNG: np.random.default_rng(0)},
        )  # fmt: skip
        error = 4 * np.sqrt(theirs.pvalue * (1 - theirs.pvalue) / 10_000) + 1e-3
        assert pvalue == pytest.approx(theirs.pvalue, abs=error)


# 1 / rank of each is a multiple of 1 / 720720
NEAR_RANKS = [
    (840, 858),
    (910, 924),
    (780, 792),
    (924, 936),
    (1001, 1008),
    (1144, 1155),
    (1155, 1170),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore:10 queries")
def test_rounding_does_not_tell_equal_sums_apart(seed, kernels, weighted):
    """Rankers that differ at high ranks, by about 1e-5 in values near 1: rounding matters."""
    rng = np.random.default_rng(seed)
    ranks = rng.permuted(rng.choice(NEAR_RANKS, 10), axis=1)
    y, *scores = np.zeros((3, 10, 1200))
    y[:, :2] = 1  # one stays at the top, the other goes far down
    for score, other in zip(scores, ranks.T, strict=True):
        score[:] = -np.arange(1200)
        score[:, 1] = 0.5 - other
    weight = rng.integers(1, 4, 10) if weighted else np.ones(10, dtype=int)
    ideal = 1 + Fraction(1, 2)
    d = [(Fraction(1, a) - Fraction(1, b)) / ideal for a, b in ranks.tolist()]
    found = compare_rankers(
        y, dict(zip("ab", scores, strict=True)), discount="reciprocal", sample_weight=weight / 7
    )
    assert found.difference[0] == pytest.approx(float(np.average(d, weights=weight)), abs=1e-15)
    assert found.pvalue[0] == exact_pvalue(d, weight.tolist())


@pytest.mark.parametrize("test", ["permutation", "t"])
def test_equal_rankers_are_never_significant(test):
    y, s = matrices()
    # the same order in other scores, and values that differ by rounding
    found = compare_rankers(y, {"a": s, "b": np.exp(s), "c": 3 * s + 1}, test=test)
    assert found.pvalue.tolist() == [1, 1, 1]
    assert found.statistic.tolist() == [0, 0, 0]
    assert found.effect_size.tolist() == [0, 0, 0]
    assert found.ties.tolist() == [40, 40, 40]
    assert "0.0000" in repr(found)


def test_holm():
    y, scores = three_rankers(200)
    found = compare_rankers(y, scores, test="t")
    p = np.sort(found.uncorrected_pvalue)
    expected = np.minimum(1, np.maximum.accumulate(p * [3, 2, 1]))
    assert np.sort(found.pvalue).tolist() == expected.tolist()
    one = compare_rankers(y, {name: scores[name] for name in ("good", "poor")}, test="t")
    assert one.pvalue == one.uncorrected_pvalue


def test_baseline_and_frames():
    y, scores = three_rankers()
    found = compare_rankers(y.ravel(), pd.DataFrame({n: s.ravel() for n, s in scores.items()}),
                            baseline="poor", groups=np.repeat(np.arange(40), 12), random_state=0)  # fmt: skip
    assert found.pairs == [("good", "poor"), ("other", "poor")]
    assert found.difference[0] == pytest.approx(found.ndcg["good"] - found.ndcg["poor"])
    frame = found.to_frame()
    assert frame.loc[("good", "poor"), "pvalue"] == found.pvalue[0]
    assert list(frame.index.names) == ["first", "second"]
    assert list(frame.columns[:3]) == ["difference", "low", "high"]
    lines = repr(found).splitlines()
    assert lines[0] == "40 queries"
    assert lines[-1].startswith("other - poor")
    assert lines[-1].endswith(f"{found.wins[1]}/{found.ties[1]}/{found.losses[1]}")


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_that_are_not_mappings_have_one_ranker_per_column(library):
    package = pytest.importorskip(library, reason=f"{library} is not installed")
    y, scores = three_rankers()
    flat = {name: s.ravel() for name, s in scores.items()}
    frame = package.DataFrame(flat) if library == "polars" else package.table(flat)
    options = {"groups": np.repeat(np.arange(40), 12), "random_state": 0, "baseline": "poor"}
    found, expected = (compare_rankers(y.ravel(), each, **options) for each in (frame, flat))
    assert repr(found) == repr(expected)
    assert found.pairs == [("good", "poor"), ("other", "poor")]


def test_frames_of_other_kinds_are_refused_by_name():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    with pytest.raises(TypeError, match=r"got LazyFrame: collect\(\) it first\."):
        compare_rankers([[1, 0]], polars.LazyFrame({"a": [1.0], "b": [2.0]}))
    with pytest.raises(
        ValueError, match="at least two rankers with different names, got \\['a'\\]"
    ):
        compare_rankers([[1, 0]], polars.DataFrame({"a": [1.0, 2.0]}))
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    twice = arrow.Table.from_arrays([arrow.array([1.0]), arrow.array([2.0])], names=["a", "a"])
    with pytest.raises(ValueError, match="different names, got \\['a', 'a'\\]"):
        compare_rankers([[1, 0]], twice)


def test_undefined_queries_do_not_tell_rankers_apart():
    y, scores = three_rankers()
    y[:3] = 0
    expected = compare_rankers(y[3:], {n: s[3:] for n, s in scores.items()}, test="t")
    found = compare_rankers(y, scores, test="t", undefined="omit")
    assert (found.n_queries, found.n_left_out) == (37, 3)
    assert found.pvalue == pytest.approx(expected.pvalue)
    for number in (0.0, 1.0):  # the same for all rankers
        found = compare_rankers(y, scores, test="t", undefined=number)
        assert (found.n_queries, found.n_left_out) == (40, 0)
        assert found.difference == pytest.approx(expected.difference * 37 / 40)


def test_undefined_queries_are_0_and_warned_of_once():
    y, scores = three_rankers()
    y[:3] = 0
    message = "NDCG is undefined for 3 of 40 queries.* 'omit' to leave them out"
    with pytest.warns(UndefinedMetricWarning, match=message) as caught:
        found = compare_rankers(y, scores, test="t", segments=np.arange(40) % 2)
    assert [warning.filename for warning in caught] == [__file__]
    assert found.ndcg == {name: ndcg_score(y, s, undefined=0) for name, s in scores.items()}


TWO = {"a": S, "b": S}
BAD_COMPARISON = {
    "one": ({"a": S}, {}, ValueError, r"at least two rankers with different names, got \['a'\]"),
    "none": ({}, {}, ValueError, r"at least two rankers.* got \[\]"),
    "list": ([S, S], {}, TypeError, "y_scores must be a mapping from the name.*got list"),
    "baseline": (TWO, {"baseline": "c"}, ValueError, "baseline must be one of the rankers"),
    "array as baseline": (TWO, {"baseline": np.ones(2)}, ValueError, "baseline must be one of"),
    "no items": (type("Items", (), {"items": 3})(), {}, TypeError, "y_scores must be"),
    "test": (TWO, {"test": "wilcoxon"}, ValueError, "test must be one of 'permutation', 't'"),
    "option": (TWO, {"alpha": 1}, TypeError, "compare_rankers has no option 'alpha'"),
    "resamples": (TWO, {"n_resamples": 0.5}, ValueError, "n_resamples must be an integer"),
    "length": ({"a": S, "b": S[1:]}, {}, ValueError, "same shape, got"),
    "level 0": (TWO, {"confidence_level": 0}, ValueError, "confidence_level must be between"),
    "level 1": (TWO, {"confidence_level": 1}, ValueError, "confidence_level must be between"),
    "level text": (TWO, {"confidence_level": "0.9"}, ValueError, "confidence_level must be between"),
    **{
        f"margin {margin}": (TWO, {"margin": margin}, ValueError, "margin must be a number between 0")
        for margin in (0, -0.1, 1, "0.1", np.nan, True)
    },
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_COMPARISON)
def test_bad_comparison(case):
    scores, options, error, message = BAD_COMPARISON[case]
    with pytest.raises(error, match=message) as found:
        compare_rankers(Y, scores, **options)
    if case == "length":
        assert found.value.__notes__ == ["While comparing the ranker 'b'."]


def test_two_columns_of_one_name_are_refused():
    groups = np.repeat(np.arange(40), 12)
    twice = pd.DataFrame(np.c_[S.ravel(), -S.ravel()], columns=["a", "a"])
    with pytest.raises(ValueError, match="y_scores"):
        compare_rankers(Y.ravel(), twice, groups=groups)


@pytest.mark.parametrize("test", ["permutation", "t"])
def test_one_cluster_per_query_is_none_in_a_comparison(test):
    y, scores = three_rankers()
    query, order = np.repeat(np.arange(40), 12), np.random.default_rng(0).permutation(480)
    y, query = y.ravel()[order], query[order]
    scores = {name: s.ravel()[order] for name, s in scores.items()}
    options = {"groups": query, "test": test, "n_resamples": 499, "random_state": 1}
    expected = compare_rankers(y, scores, **options)
    names = np.array([f"user {i}" for i in np.random.default_rng(1).permutation(40)])
    assert_same(compare_rankers(y, scores, clusters=names[query], **options), expected)


@pytest.mark.filterwarnings("ignore:40 queries in 10 clusters")
def test_signs_change_by_cluster():
    y, scores = three_rankers()
    c, weight = users(40, 10), np.random.default_rng(0).integers(1, 4, 40)
    found = compare_rankers(y, scores, clusters=c, sample_weight=weight / 3)
    for (first, second), pvalue in zip(found.pairs, found.uncorrected_pvalue, strict=True):
        d = ndcg_samples(y, scores[first]) - ndcg_samples(y, scores[second])
        terms = [Fraction(each) * int(w) for each, w in zip(d.tolist(), weight, strict=True)]
        sums = [sum(t for t, of in zip(terms, c, strict=True) if of == each) for each in range(10)]
        assert pvalue == exact_pvalue(sums, [1] * 10)


@pytest.mark.parametrize("test", ["t", "permutation"])
@pytest.mark.filterwarnings("ignore:40 queries in 10 clusters")
def test_clusters_in_which_rankers_are_equal(test):
    y, scores = three_rankers()
    c = np.arange(40) % 10
    same = np.where(c[:, np.newaxis] < 3, scores["good"], scores["poor"])
    found = compare_rankers(y, {"a": scores["good"], "b": same}, clusters=c, test=test)
    assert found.difference[0] == pytest.approx(found.ndcg["a"] - found.ndcg["b"], rel=1e-12)
    d = ndcg_samples(y, scores["good"]) - ndcg_samples(y, same)
    means = [d[c == each].mean() for each in range(10)]
    expected = {
        "t": stats.ttest_1samp(means, 0).pvalue,
        "permutation": exact_pvalue([Fraction(each) for each in means], [1] * 10),
    }
    assert found.pvalue[0] == pytest.approx(expected[test], rel=1e-9)


def test_dependent_queries_are_no_evidence():
    """25 copies of each user's session: as sure as without copies, not five times surer."""
    y, scores = three_rankers(12)
    once = compare_rankers(y, scores, random_state=0)
    many = {name: np.repeat(s, 25, axis=0) for name, s in scores.items()}
    user = np.repeat(np.arange(12), 25)
    found = compare_rankers(np.repeat(y, 25, axis=0), many, clusters=user, random_state=0)
    assert found.pvalue.tolist() == once.pvalue.tolist()
    assert found.standard_error == pytest.approx(once.standard_error, rel=1e-12)


def test_gains_and_losses_that_cancel_in_every_cluster_are_no_difference():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 5, (12, 8)), 6, axis=0)
    a, b = np.repeat(rng.random((2, 12, 8)), 6, axis=1)
    swap = np.tile([True, False], 36)[:, np.newaxis]
    scores = {"a": np.where(swap, a, b), "b": np.where(swap, b, a)}
    for test in ("t", "permutation"):
        found = compare_rankers(y, scores, clusters=np.arange(72) // 6, test=test)
        assert (found.pvalue[0], found.difference[0]) == (1, 0)


# --- compare_lists and compare_runs

N_QUERIES = 30


def truths_and_lists(seed=0, n_rankers=3):
    """Grades, and lists, some empty and some missing; keys in different orders."""
    rng = np.random.default_rng(seed)
    relevant, rankers = {}, {f"ranker {i}": {} for i in range(n_rankers)}
    for query in rng.permutation(N_QUERIES).tolist():
        documents = rng.permutation(25).tolist()
        if query != 7:  # which nobody judged
            graded = documents[: rng.integers(1, 12)]
            relevant[f"q{query:02}"] = dict(
                zip(graded, rng.integers(0, 4, len(graded)).tolist(), strict=True)
            )
        for lists in rankers.values():
            length = rng.choice([0, 1, 3, 10, 25])
            if rng.random() < 0.9:
                lists[f"q{query:02}"] = rng.permutation(25)[:length].tolist()
    for lists in rankers.values():
        lists.pop("q07", None)
    rankers["ranker 0"]["q07"] = documents[:3]
    return relevant, rankers


OPTIONS = {
    "all": {},
    "k": {"k": 5},
    "retrieved": {"k": "retrieved", "gain": "exponential"},
    "discount": {"k": 3, "discount": "reciprocal", "ties": "worst"},
    "table": {"gain": {0: 0, 1: 3, 2: 4, 3: 9}},
}


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_each_ranker_has_the_values_of_from_lists(seed, options, unjudged):
    relevant, rankers = truths_and_lists(seed)
    omit = {"undefined": "omit", "test": "t"}
    found = compare_lists(relevant, rankers, unjudged=unjudged, **omit, **options)
    for name, lists in rankers.items():
        y_true, y_score, groups = from_lists(relevant, lists, unjudged="nan")
        values = ndcg_samples(
            y_true, y_score, groups=groups, unjudged=unjudged, undefined="omit", **options
        )
        expected = dict(zip(np.unique(groups), values, strict=True))
        expected = {query: value for query, value in expected.items() if not np.isnan(value)}
        ours = dict(zip(found.labels, found.values[name], strict=True))
        assert ours == pytest.approx(expected, abs=1e-12)
        assert list(ours) == sorted(ours)
        assert found.ndcg[name] == pytest.approx(np.mean(list(expected.values())), abs=1e-12)
    assert found.n_queries + found.n_left_out == N_QUERIES


def rows_of_all_lists(rankers, relevant):
    """Rows of all documents of all rankers, in the order of their ids."""
    rows = []
    for query, truth in relevant.items():
        lists = {name: each.get(query, []) for name, each in rankers.items()}
        for document in sorted({*truth, *(d for listed in lists.values() for d in listed)}):
            places = [
                -listed.index(document) if document in listed else -np.inf
                for listed in lists.values()
            ]
            rows.append([query, truth.get(document, np.nan), *places])
    return pd.DataFrame(rows, columns=["query", "grade", *rankers])


@pytest.mark.parametrize("options", [{"test": "t"}, {"random_state": 3, "baseline": "ranker 1"}])
@pytest.mark.parametrize("gain", ["linear", {0: 1, 1: 2, 2: 3, 3: 5}])
def test_the_rows_are_the_union_of_all_lists_and_the_truth(options, gain):
    """Unjudged documents have no gain, even if documents of grade 0 have one."""
    relevant, rankers = truths_and_lists()
    rankers = {name: {q: each[q] for q in each if q != "q07"} for name, each in rankers.items()}
    frame = rows_of_all_lists(rankers, relevant)
    expected = compare_rankers(
        frame["grade"], frame[list(rankers)], groups=frame["query"], k=8, gain=gain,
        unjudged="zero", **options,
    )  # fmt: skip
    found = compare_lists(relevant, rankers, k=8, gain=gain, **options)
    assert repr(found) == repr(expected)
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-12)


def test_a_query_that_only_some_rankers_answered():
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
    with pytest.raises(ValueError, match="No query is left to score: all 14 lack a list"):
        compare_lists(relevant, {"a": {"q00": ["a"]}, "b": {"q01": ["a"]}}, unanswered="omit")


def test_sequences_of_lists():
    relevant, rankers = truths_and_lists()
    queries = sorted(relevant)
    as_lists = {n: [each.get(q, []) for q in queries] for n, each in rankers.items()}
    found = compare_lists([relevant[q] for q in queries], as_lists, random_state=0)
    expected = compare_lists(
        relevant, {n: {q: each.get(q, []) for q in queries} for n, each in rankers.items()},
        random_state=0,
    )  # fmt: skip
    assert found.ndcg == expected.ndcg
    assert [queries[i] for i in found.labels] == expected.labels.tolist()
    assert found.pvalue.tolist() == expected.pvalue.tolist()


@pytest.mark.parametrize("k", [None, 1, 5, 20])
@pytest.mark.parametrize("seed", range(4))
def test_runs_are_those_of_pytrec_eval_and_ir_measures(seed, k):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    ir_measures = pytest.importorskip("ir_measures")
    qrels, runs = judgements_and_runs(np.random.default_rng(seed))
    found = compare_runs(qrels, runs, k=k, undefined="omit", test="t")
    name = f"ndcg_cut.{k}" if k else "ndcg"
    nothing_relevant = [q for q, each in qrels.items() if max(each.values()) <= 0]
    assert not set(found.labels) & set(nothing_relevant)
    assert found.left_out == {"nothing judged": 1, "nothing relevant, or no weight": 3}
    assert found.n_left_out == 1 + len(nothing_relevant)
    for run_name, run in runs.items():
        ours = dict(zip(found.labels, found.values[run_name], strict=True))
        measure = ir_measures.nDCG @ k if k else ir_measures.nDCG
        for each in measure.iter_calc(qrels, run):
            assert ours.pop(each.query_id, 0.0) == pytest.approx(each.value, abs=1e-12)
        assert not ours
        ours = dict(zip(found.labels, found.values[run_name], strict=True))
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {name}).evaluate(run)
        for query, values in theirs.items():
            expected = values[name.replace(".", "_")]
            assert ours.pop(query, 0.0) == pytest.approx(expected, abs=1e-12)
        assert set(ours.values()) <= {0.0}  # queries that the run lacks


@pytest.mark.parametrize("k", [None, 5])
def test_the_means_under_the_convention_of_trec_eval_are_its_means(k):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, runs = judgements_and_runs(np.random.default_rng(1))
    name = f"ndcg_cut.{k}" if k else "ndcg"
    answered_by_all = set.intersection(set(qrels), *map(set, runs.values()))
    assert len(answered_by_all) < len(qrels)
    convention = CONVENTIONS["trec_eval"]
    complete = compare_runs(qrels, runs, k=k, test="t", **convention)  # trec_eval -c
    common = compare_runs(qrels, runs, k=k, test="t", unanswered="omit", **convention)
    assert complete.n_queries == len(qrels)
    assert complete.left_out == {"nothing judged": 1}  # only in a run
    assert set(common.labels) == answered_by_all
    for run_name, run in runs.items():
        found = pytrec_eval.RelevanceEvaluator(qrels, {name}).evaluate(run)
        theirs = {query: values[name.replace(".", "_")] for query, values in found.items()}
        mean = sum(theirs.values()) / len(qrels)
        assert complete.ndcg[run_name] == pytest.approx(mean, abs=1e-12)
        mean = np.mean([theirs[query] for query in answered_by_all])
        assert common.ndcg[run_name] == pytest.approx(mean, abs=1e-12)
    left_out = compare_runs(qrels, runs, k=k, undefined="omit", test="t")
    assert left_out.n_left_out == 1 + 3
    assert left_out.ndcg["bm25"] > complete.ndcg["bm25"] + 0.01


@pytest.mark.parametrize("seed", range(3))
def test_omitting_the_unjudged_is_option_j_of_trec_eval(seed):
    ir_measures = pytest.importorskip("ir_measures")
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, runs = judgements_and_runs(np.random.default_rng(seed))
    found = compare_runs(qrels, runs, k=5, unjudged="omit", undefined=0.0, test="t")
    assert found.labels.tolist() == sorted(qrels)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.5"}, judged_docs_only_flag=True)
    for name, run in runs.items():
        ours = dict(zip(found.labels, found.values[name], strict=True))
        for query, values in evaluator.evaluate(run).items():
            assert ours[query] == pytest.approx(values["ndcg_cut_5"], abs=1e-12)
        measure = ir_measures.nDCG(judged_only=True) @ 5
        assert found.ndcg[name] == pytest.approx(measure.calc_aggregate(qrels, run), abs=1e-12)


def judgements_and_runs(rng):
    """Judgements, and runs with ties and missing queries."""
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


def test_runs_by_the_score_of_trec_eval_10():
    """Scores that float32 ties: by id, descending, in trec_eval 9.0.8, and by score in 10.0."""
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(10)}
    runs = {
        name: {query: {"a": a, "b": 1.0} for query in qrels}
        for name, a in (("x", 1 + 1e-9), ("y", 1))
    }
    for convention, x in (("trec_eval-9", 1 / np.log2(3)), ("trec_eval-10", 1)):
        found = compare_runs(qrels, runs, convention=convention, test="t")
        assert found.ndcg == pytest.approx({"x": x, "y": 1 / np.log2(3)}, abs=1e-15)
    with pytest.raises(ValueError, match="convention must be one of 'trec_eval-9', 'trec_eval-10'"):
        compare_runs(qrels, runs, convention="trec_eval")


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
@pytest.mark.parametrize("gain", ["linear", {0: 1, 1: 2, 2: 4, 3: 8}])
def test_runs_have_the_values_of_from_trec(unjudged, gain):
    qrels, runs = judgements_and_runs(np.random.default_rng(0))
    omit = {"undefined": "omit", "test": "t"}
    found = compare_runs(qrels, runs, unjudged=unjudged, k=10, gain=gain, **omit)
    for name, run in runs.items():
        y_true, y_score, groups = from_trec(qrels, run, unjudged="nan")
        values = ndcg_samples(y_true, y_score, groups=groups, k=10, gain=gain, unjudged=unjudged,
                              undefined="omit")  # fmt: skip
        assert found.values[name] == pytest.approx(values[~np.isnan(values)], abs=1e-12)


def test_runs_are_resampled_by_the_seed():
    qrels, runs = judgements_and_runs(np.random.default_rng(0))
    options = {"n_resamples": 99, "undefined": 0}
    drawn = [compare_runs(qrels, runs, random_state=seed, **options) for seed in (0, 0, 1)]
    pvalues = [each.uncorrected_pvalue.tolist() for each in drawn]
    assert pvalues[0] == pvalues[1] != pvalues[2]


def test_records_and_frames_are_runs_too():
    ir_measures = pytest.importorskip("ir_measures")
    qrels, runs = judgements_and_runs(np.random.default_rng(0))
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


@pytest.mark.parametrize("as_mapping", [True, False])
def test_clusters_and_weights_are_given_per_query(as_mapping):
    relevant, rankers = truths_and_lists()
    rankers = {n: {q: each.get(q, []) for q in relevant} for n, each in rankers.items()}
    queries = list(relevant)
    user = dict(zip(queries, [f"user {i % 13}" for i in range(len(queries))], strict=True))
    weight = dict(zip(queries, np.random.default_rng(0).uniform(1, 2, len(queries)), strict=True))
    frame = rows_of_all_lists(rankers, relevant)
    expected = compare_rankers(
        frame["grade"], frame[list(rankers)], groups=frame["query"], random_state=0, unjudged="zero",
        clusters=frame["query"].map(user), sample_weight=frame["query"].map(weight),
    )  # fmt: skip
    if not as_mapping:
        rankers = {n: [each[q] for q in queries] for n, each in rankers.items()}
        relevant = [relevant[q] for q in queries]
        user, weight = [*user.values()], np.array([*weight.values()])
    found = compare_lists(relevant, rankers, clusters=user, sample_weight=weight, random_state=0)
    assert found.n_clusters == expected.n_clusters == 13
    assert found.ndcg == pytest.approx(expected.ndcg, rel=1e-12)
    if as_mapping:
        assert repr(found) == repr(expected)


LISTS = {"a": {"u": ["x", "y"], "v": ["y"]}, "b": {"u": ["y"], "v": ["x"]}}
TRUTH = {"u": {"x": 1}, "v": {"y": 1}}
BAD = {
    "one ranker": ((TRUTH, {"a": LISTS["a"]}), {}, ValueError, r"recommended must have at least two rankers, got \['a'\]\. For one ranker call ndcg_interval\(\*\*from_lists\(relevant, recommended\)\)"),
    "list": ((TRUTH, [LISTS["a"]]), {}, TypeError, r"recommended must be a mapping from the name of a ranker to its lists, got list\. It comes after relevant\. For one ranker call ndcg_interval\(\*\*from_lists\("),
    "no names": ((TRUTH, LISTS["a"]), {}, TypeError, r"must both be mappings.*got dict and list\. For one ranker call ndcg_score\(\*\*from_lists\(relevant, recommended\), k=10\)"),
    "groups": ((TRUTH, LISTS), {"groups": [1]}, TypeError, "compare_lists has no option 'groups'"),
    "unanswered": ((TRUTH, LISTS), {"unanswered": "nan"}, ValueError, "unanswered must be one of 'zero', 'omit'"),
    "unjudged": ((TRUTH, LISTS), {"unjudged": "raise"}, ValueError, "unjudged must be one of 'zero', 'omit'"),
    "undefined": ((TRUTH, LISTS), {"undefined": "banana"}, ValueError, "undefined must be one of 'warn', 'omit', 'raise'"),
    "unjudged that is an option of rows": ((TRUTH, LISTS), {"unjudged": "nan"}, ValueError, "unjudged must be one of"),
    "swapped": ((LISTS, TRUTH), {}, TypeError, "relevant and recommended look swapped: relevant comes first"),
    "swapped sequences": (({"a": [["x"]], "b": [["y"]]}, [{"x"}]), {}, TypeError, "recommended must be a mapping from the name of a ranker.*got list. It comes after relevant"),
    "swapped sets": ((LISTS, {"u": {"x"}, "v": {"y"}}), {}, TypeError, "look swapped"),
    "swapped lists": ((LISTS, {"u": ["x"], "v": ["y"]}), {}, TypeError, "look swapped"),
    "swapped tuples": (({"a": {"u": ("x",), "v": ("y",)}, "b": {"u": ("y",)}}, TRUTH), {}, TypeError, "look swapped"),
    "swapped arrays": (({"a": {"u": np.array(["x"])}, "b": {"u": np.array(["y"])}}, TRUTH), {}, TypeError, "look swapped"),
    "swapped single query": ((LISTS, {"u": {"x": 1}}), {}, TypeError, "look swapped"),
    "grades that are text": (({"u": {"x": "1"}}, LISTS), {}, TypeError, "relevant must have numbers, got '1'"),
    "baseline": ((TRUTH, LISTS), {"baseline": "c"}, ValueError, "baseline must be one of the rankers"),
    "clusters in a list": ((TRUTH, LISTS), {"clusters": [1, 2]}, TypeError, "clusters must be a mapping from query, as the lists or runs are, got list"),
    "clusters in a Series": ((TRUTH, LISTS), {"clusters": pd.Series({"u": 1, "v": 1})}, TypeError, r"Pass .to_dict\(\)"),
    "cluster missing": ((TRUTH, LISTS), {"clusters": {"u": 1}}, ValueError, "clusters must have an entry for each query, but lacks 1, for example 'v'"),
    "cluster None": ((TRUTH, LISTS), {"clusters": {"u": 1, "v": None}}, ValueError, "clusters has 1 missing id"),
    "weight missing": ((TRUTH, LISTS), {"sample_weight": {"v": 1}}, ValueError, "sample_weight must have an entry.*'u'"),
    "weight text": ((TRUTH, LISTS), {"sample_weight": {"u": "1", "v": "2"}}, TypeError, "sample_weight must be an array of numbers"),
    "weights below 0": ((TRUTH, LISTS), {"sample_weight": {"u": -1, "v": -1}}, ValueError, "sample_weight must be.*found -1.0: 2 such weights, the first at index 0, query 'u'"),
    "weights": ((list(TRUTH.values()), {n: list(each.values()) for n, each in LISTS.items()}), {"sample_weight": [1]}, ValueError, "sample_weight must have one value for each of the 2 queries, got 1"),
    "empty": (({}, {"a": {"u": []}, "b": {"u": []}}), {}, ValueError, "query 'u' has neither a list nor"),
    "nothing": (({}, {"a": {}, "b": {}}), {}, ValueError, "No query is left to score"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_lists(case):
    data, options, error, message = BAD[case]
    with pytest.raises(error, match=message):
        compare_lists(*data, **options)


BAD_LISTS = {
    "twice": ({"u": ["x", "x"], "v": []}, ValueError, "has the id 'x' 2 times in query 'u'"),
    "missing": ({"u": [None], "v": []}, ValueError, "recommended has 1 missing id"),
    "set": ({"u": {"x"}, "v": []}, TypeError, "recommended must have a list of ids"),
    "kind": ({"u": [1], "v": [2]}, TypeError, "those in recommended of type number"),
}


@pytest.mark.parametrize("case", BAD_LISTS)
def test_an_error_says_which_ranker_it_was(case):
    lists, error, message = BAD_LISTS[case]
    with pytest.raises(error, match=message) as found:
        compare_lists(TRUTH, {"a": LISTS["a"], "b": lists})
    assert found.value.__notes__ == ["While comparing the ranker 'b'."]


def test_bad_runs():
    qrels = {"q": {"a": 1, "b": 0}}
    runs = {"bm25": {"q": {"a": 0.5}}, "dense": {"q": {"a": np.nan}}}
    with pytest.raises(ValueError, match="run must not have nan, found in query 'q'") as found:
        compare_runs(qrels, runs)
    assert found.value.__notes__ == ["While comparing the ranker 'dense'."]
    with pytest.raises(
        TypeError, match="runs must be a mapping from the name of a ranker to its run"
    ):
        compare_runs(qrels, list(runs.values()))
    for one in (runs["bm25"], {"bm25": runs["bm25"]}, ["bm25.txt"]):
        with pytest.raises((TypeError, ValueError), match=r"\(\*\*from_trec\(qrels, run\)"):
            compare_runs(qrels, one)
    with pytest.raises(TypeError, match="qrels and runs look swapped: qrels comes first"):
        compare_runs(runs, qrels)
    same = {"a": runs["bm25"], "b": runs["bm25"]}
    with pytest.raises(TypeError, match="^compare_runs has no option 'cutoff'"):
        compare_runs(qrels, same, cutoff=3)
    with pytest.raises(TypeError, match="clusters must be a mapping from query, .* got list"):
        compare_runs(qrels, same, clusters=["u"])
    with pytest.raises(TypeError, match="got list. It comes after qrels"):
        compare_runs(qrels, list(runs))
    with pytest.raises(ValueError, match="qrels and run look swapped"):
        compare_runs({"q": {"a": 0.5}}, {"x": {"q": {"a": 1}}, "y": {"q": {"a": 1}}})
    with pytest.raises(ValueError, match="At least 2 scored queries"):
        compare_runs(qrels, {"x": {"q": {"a": 1.5}}, "y": {"q": {"b": 1.5}}})


USERS = [f"u{number}" for number in range(12)]
GRADES = {user: {"a": 2, "b": 1, "c": 0} for user in USERS}
RANKED = {"one": dict.fromkeys(USERS, tuple("abx")), "two": dict.fromkeys(USERS, tuple("bay"))}
# the truth of one query, options, and the message, in which {truth} is the name of an argument
BAD_TRUTHS = {
    "negative gain": ({"a": 1}, {"gain": lambda y: y - 1}, "gain is -1.0 where {truth} is 0.0, and negative for 11 documents, the first in query 'u0'"),
    "infinite gain": ({"a": 5000}, {"gain": "exponential"}, "gain must be finite, but is not for 1 document, in query 'u3', where {truth} is 5000.0"),
    "infinite sum": ({"a": 1e308, "b": 1e308}, {"discount": "none"}, "{truth} has gains that, .* in 1 query, the first 'u3': scale {truth} down"),
    "no gain in a table": ({"a": 7}, {"gain": [0, 1, 2]}, "no entry for 1 value of {truth}, the first 7.0"),
    "infinite": ({"b": 1, "a": np.inf}, {}, "{truth} must not have inf, found in query 'u3'"),
    "text": ({"b": 1, "a": "x"}, {}, "{truth} must have numbers, got 'x' in query 'u3'"),
    "a number": (5, {}, "{truth} must have.* got int for query 'u3'"),
}  # fmt: skip


@pytest.mark.parametrize("function", [compare_lists, compare_runs])
@pytest.mark.parametrize("case", BAD_TRUTHS)
def test_errors_in_the_truth_name_the_query_and_what_was_passed(case, function):
    truth, options, message = BAD_TRUTHS[case]
    rankers, name, others = RANKED, "relevant", "qrels"
    if function is compare_runs:
        name, others = others, "relevant|recommended"
        rankers = {
            ranker: {query: dict(zip(ids, (0.9, 0.5, 0.1), strict=True)) for query, ids in lists.items()}
            for ranker, lists in RANKED.items()
        }  # fmt: skip
    with pytest.raises((TypeError, ValueError), match=message.format(truth=name)) as caught:
        function(GRADES | {"u3": truth}, rankers, **options)
    assert not re.search(rf"\b(y_true|y_score|groups|index \d|{others})\b", str(caught.value))
    assert not hasattr(caught.value, "__notes__")  # the rankers did nothing wrong


def test_a_negative_grade_names_its_query():
    lists = {"one": {"u1": ["a"]}, "two": {"u1": ["b"]}}
    message = "relevant must not have -1, .* 'u1' for document 'a': .* leave it out or pass nan"
    with pytest.raises(ValueError, match=message) as caught:
        compare_lists({"u1": {"a": -1}}, lists)
    assert "y_true" not in str(caught.value)


@pytest.mark.parametrize("truth", [None, 5, iter([]), "qrels"])
def test_a_truth_of_no_form_is_not_blamed_on_a_ranker(truth):
    with pytest.raises(TypeError, match="relevant must be a mapping") as caught:
        compare_lists(truth, RANKED)
    assert not hasattr(caught.value, "__notes__")


def test_queries_of_one_document_are_no_wrong_ids():
    """Rows of them would be warned of, as `groups` may hold something else; lists have keys."""
    liked = dict.fromkeys(USERS, ("a",))
    lists = {"one": liked, "two": liked}
    assert compare_lists(liked, lists, test="t").ndcg == {"one": 1, "two": 1}
    alike = {user: dict.fromkeys("ab", 1 + number % 2) for number, user in enumerate(USERS)}
    run = {user: {"a": 0.5, "b": 0.1} for user in USERS}
    assert compare_runs(alike, {"one": run, "two": run}, test="t").ndcg == {"one": 1, "two": 1}


LABELLED = pd.Series(Y.ravel())
BAD_ROWS = {
    "NaN": ({"y_true": np.where(Y > 3, np.nan, Y)}, "y_true has .* NaN, the first at index"),
    "infinite": ({"y_true": np.where(Y > 3, np.inf, Y)}, "y_true must be finite"),
    "negative": ({"y_true": Y - 1}, "negative y_true values"),
    "text": ({"y_true": Y.astype(str)}, "y_true must be an array of numbers"),
    "groups missing": ({"y_true": Y.ravel()}, "groups is missing"),
    "groups of a matrix": ({"y_true": Y, "groups": np.arange(40)}, "groups goes with 1-D"),
    "missing ids": ({"y_true": Y.ravel(), "groups": np.full(480, np.nan)}, "groups has 480 missing"),
    "weights": ({"y_true": Y, "sample_weight": np.full(40, -1)}, "sample_weight must be finite"),
    "no weight": ({"y_true": Y, "sample_weight": np.zeros(40)}, "sample_weight is 0 for every"),
    "reordered ids": ({"y_true": LABELLED, "groups": (LABELLED // 12)[::-1]}, "y_true and groups have"),
    "reordered weights": (
        {"y_true": LABELLED, "groups": np.arange(480) // 12, "sample_weight": LABELLED[::-1]},
        "y_true and sample_weight have",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_ROWS)
def test_errors_of_what_all_rankers_share_name_none(case):
    arguments, message = BAD_ROWS[case]
    scores = {"a": S, "b": -S}
    if np.ndim(arguments["y_true"]) == 1:
        scores = {name: score.ravel() for name, score in scores.items()}
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        compare_rankers(y_scores=scores, **arguments)
    assert not hasattr(caught.value, "__notes__")


def test_lists_of_queries_with_other_names_are_warned_of():
    truth = {f"u{i}": {"a": 1, "b": 0} for i in range(12)}
    lists = {"one": {i: ["a", "b"] for i in truth}, "other": {i.upper(): ["a"] for i in truth}}
    message = (
        "'other' has lists for 0 of the 12 judged queries; another ranker has 12: .* check that "
        "its query ids are those"
    )
    with pytest.warns(UserWarning, match=message):
        compare_lists(truth, lists, undefined="omit", test="t")
    runs = {
        "one": {i: {"a": 2.0, "b": 1.0} for i in truth},
        "other": {"q" + i: {"a": 1.0} for i in truth},
    }
    with pytest.warns(UserWarning, match=message):
        compare_runs(truth, runs, test="t")


def test_queries_that_no_ranker_answers_are_said():
    truth = {i: {"a": 2, "b": 1} for i in range(30)}
    message = "'x' has lists for {} of the 30 judged queries; no ranker has one for {}: a query"
    lists = {i: ["a", "b"] for i in range(24)}
    with pytest.warns(UserWarning, match=message.format(24, 6)) as caught:
        compare_lists(truth, {"x": lists, "y": lists}, test="t")
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UserWarning, match=message.format(0, 30)):
        compare_lists(truth, {"x": {}, "y": {}}, test="t")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare_lists(truth, {"x": lists, "y": lists}, unanswered="omit", test="t")
        lists |= {i: ["b"] for i in range(24, 27)}  # a tenth is missing
        compare_lists(truth, {"x": lists, "y": lists}, test="t")
        others = {i: ["a"] for i in range(3, 30)}  # together they have all
        compare_lists(truth, {"x": lists, "y": others}, test="t")


def test_a_ranker_that_answers_half_of_the_queries_is_said():
    truth = {i: {"a": 2, "b": 1} for i in range(20)}
    whole, half = ({i: ["a", "b"] for i in range(0, 20, step)} for step in (1, 2))
    with pytest.warns(
        UserWarning,
        match="'half' has lists for 10 of the 20 judged queries; another ranker has 20",
    ):
        found = compare_lists(truth, {"whole": whole, "half": half}, test="t")
    assert found.answered == {"whole": 1.0, "half": 0.5}
    assert found.judged == {"whole": 1.0, "half": 1.0}
    assert repr(found).splitlines()[1].split() == ["NDCG", "answered"]
    found = compare_lists(truth, {"whole": whole, "half": half}, test="t", unanswered="omit")
    assert found.answered == {"whole": 1.0, "half": 1.0}


def test_documents_that_match_nothing_are_warned_of():
    liked = {u: {f"d{u % 7}", f"d{u % 5}"} for u in range(20)}
    good = {u: sorted(each) for u, each in liked.items()}
    bad = {u: [f"item {each}" for each in found] for u, found in good.items()}
    with pytest.warns(
        UserWarning, match="truth has none of the first documents that 'bad' returned"
    ):
        compare_lists(liked, {"good": good, "bad": bad}, test="t")


@pytest.mark.parametrize("k", [1, 5, None])
def test_judged_is_that_of_ir_measures(k):
    measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    rng = np.random.default_rng(0)
    documents = [f"d{i}" for i in range(40)]

    def some(low, high):
        return rng.choice(documents, rng.integers(low, high), replace=False).tolist()

    qrels = {f"q{i}": {each: int(rng.integers(0, 3)) for each in some(1, 20)} for i in range(30)}
    qrels["q0"] = {"d0": 0}  # judged, and undefined
    runs = {
        name: {f"q{i}": {each: rng.random() for each in some(1, 30)} for i in range(first, 35)}
        for name, first in (("one", 0), ("other", 3))
    }
    found = compare_runs(qrels, runs, k=k, undefined=0, test="t")
    judged = measures.Judged if k is None else measures.Judged @ k
    for name, run in runs.items():
        # its mean counts queries without an answer as 0
        answered = {query: qrels[query] for query in qrels if query in run}
        expected = measures.calc_aggregate([judged], answered, run)[judged]
        assert found.answered[name] == len(answered) / 30
        assert found.judged[name] == pytest.approx(expected, abs=1e-12)
        rows = from_trec(qrels, run, unanswered="omit", unjudged="nan")
        options = {"groups": rows[2], "k": k, "unjudged": "zero", "undefined": 0}
        alone = ndcg_interval(*rows[:2], method="t", **options)
        assert alone.judged == pytest.approx(expected, abs=1e-12)
        assert f"{expected:.1%} judged" in repr(alone)


def test_a_ranker_of_unjudged_documents_is_warned_of():
    """A pool that was judged from two rankers lacks documents of the third."""
    rng = np.random.default_rng(0)
    truth = {q: {i: int(rng.integers(0, 3)) for i in range(20)} for q in range(30)}
    old, new = ({q: (rng.permutation(20) + shift).tolist() for q in truth} for shift in (0, 17))
    with pytest.warns(UserWarning, match="'new' returned, 1[0-9]% are .* be better") as caught:
        found = compare_lists(truth, {"old": old, "new": new}, k=10, test="t")
    with pytest.warns(UserWarning, match="'new' returned, .* may look better than it is"):
        compare_lists(truth, {"old": old, "new": new}, k=10, test="t", unjudged="omit")
    assert caught[0].filename == __file__
    expected = np.mean([sum(i < 20 for i in ids[:10]) / 10 for ids in new.values()])
    assert found.judged == {"old": 1.0, "new": pytest.approx(expected)}
    assert "judged" in repr(found)


def test_what_users_liked_tells_nothing_of_judgements():
    """What users did not like is not relevant, so a hit rate is not a share of judgements."""
    liked = [{i % 8, (i + 3) % 8} for i in range(30)]
    lists = {"one": [[0, 1, 2, 3]] * 30, "two": [[i % 8, (i + 3) % 8] for i in range(30)]}
    found = compare_lists(liked, lists, test="t")
    assert found.judged["two"] == 1
    assert found.judged["one"] < 0.6
    assert not found.has_judged_nonrelevant
    assert "judged" not in repr(found)


def test_verdicts_are_those_of_the_interval():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, (200, 20))
    noise = {"best": 1, "same": 1, "near": 1.05, "far": 4}
    scores = {name: y + rng.normal(0, scale, y.shape) for name, scale in noise.items()}
    margin, level = 0.01, 0.9
    found = compare_rankers(y, scores, test="t", margin=margin, confidence_level=level, k=10)
    values = {name: ndcg_samples(y, each, k=10) for name, each in scores.items()}
    for i, (first, second) in enumerate(found.pairs):
        differences = values[first] - values[second]
        expected = stats.ttest_1samp(differences, -margin, alternative="greater")
        assert found.noninferiority_pvalue[i] == pytest.approx(expected.pvalue, rel=1e-9)
        low, high = stats.ttest_1samp(differences, 0).confidence_interval(level)
        assert found.confidence_interval.low[i] == pytest.approx(low, rel=1e-9)
        assert found.df == 199
        verdict = (
            "better" if low > 0 else "not worse" if low > -margin
            else "worse" if high < 0 else "undecided"
        )  # fmt: skip
        assert found.verdict[i] == verdict
        is_not_worse = expected.pvalue < (1 - level) / 2
        assert is_not_worse == (verdict in ("better", "not worse"))
    swapped = compare_rankers(
        y, dict(reversed(scores.items())), test="t", margin=margin, confidence_level=level, k=10
    )
    assert {"better", "not worse", "worse"} <= {*found.verdict, *swapped.verdict}
    few = compare_rankers(y[:12], {n: s[:12] for n, s in scores.items()}, margin=margin, k=10)
    assert "undecided" in few.verdict
    assert "verdict (margin 0.01)" in repr(found)
    assert found.to_frame()["verdict"].tolist() == found.verdict


def verdict_of(differences, margin):
    low, high = stats.ttest_1samp(differences, 0).confidence_interval()
    if np.ptp(differences) == 0:
        low = high = differences[0]
    return (
        "better" if low > 0 else "not worse" if low > -margin
        else "worse" if high < 0 else "undecided"
    )  # fmt: skip


def in_favour(y, first, second, k):
    """Differences if what is unjudged in the first's top k is as good as the best, and no other."""
    for grades, *scores in zip(y, first, second, strict=True):
        a, b = (np.argsort(-score)[:k] for score in scores)
        at_zero = np.nan_to_num(grades)
        at_best = at_zero.copy()
        at_best[a[np.isnan(grades[a])]] = np.nanmax(grades)
        best = ideal(np.sort(at_best)[::-1][:k])
        yield (ideal(at_best[a]) - ideal(at_zero[b])) / best if best else 0.0


def holes(seed, share, n_queries=30, noise=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, (n_queries, 9)).astype(float)
    a, b = y + rng.normal(0, 1, y.shape), y + rng.normal(0, noise, y.shape)
    y[:, 3:] = np.where(rng.random((n_queries, 6)) < share, np.nan, y[:, 3:])
    return y, {"a": a, "b": b}


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
@pytest.mark.parametrize("k", [3, 5, None])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_verdicts_that_judging_could_turn_are_undecided(share, k, unjudged):
    """Both cases of a loop: what is unjudged among the first k favours one ranker or the other."""
    for seed in range(8):
        y, scores = holes(seed, share, noise=1 + seed % 3)
        options = {"k": k, "unjudged": unjudged, "undefined": 0.0, "margin": 0.05, "test": "t"}
        result = compare_rankers(y, scores, **options)
        values = [ndcg_samples(y, s, k=k, unjudged=unjudged, undefined=0) for s in scores.values()]
        present = verdict_of(np.subtract(*values), 0.05)
        up = np.array([*in_favour(y, scores["a"], scores["b"], k)])
        down = -np.array([*in_favour(y, scores["b"], scores["a"], k)])
        is_sure = {verdict_of(up, 0.05), verdict_of(down, 0.05)} == {present}
        assert result.verdict == [present if is_sure else "undecided: unjudged"]
        assert repr(result).endswith(result.verdict[0])
        assert ("could turn it" in repr(result)) == (not is_sure)


def pool_with_holes(seed, share):
    """Truths, of which some is unjudged, and lists of two rankers, whose holes are not the same."""
    rng = np.random.default_rng(seed)
    truth, lists = {}, {"new": {}, "old": {}}
    for query in range(25):
        common = {f"c{i}": int(grade) for i, grade in enumerate(rng.integers(0, 4, 4))}
        truth[query] = common
        for name, more in (("new", 0.6), ("old", 0)):
            own = {f"{name}{i}": int(rng.random() < 0.3 + more) for i in range(6)}
            truth[query] = truth[query] | {d: g for d, g in own.items() if rng.random() > share}
            lists[name][query] = rng.permutation([*common, *own]).tolist()
    return truth, lists


def judged_too(truth, lists, favoured, k=5):
    """The truth with all that is unjudged among the first k judged in favour of one ranker."""
    return {
        query: {
            document: max(grades.values()) * (name == favoured)
            for name, ranked in lists.items() for document in ranked[query][:k]
        } | grades
        for query, grades in truth.items()
    }  # fmt: skip


def compare_scores(truth, lists, **options):
    """Compare lists by `compare_runs`."""
    qrels = {f"q{query}": grades for query, grades in truth.items()}
    runs = {
        name: {f"q{q}": {d: -i for i, d in enumerate(ids)} for q, ids in ranked.items()}
        for name, ranked in lists.items()
    }
    return compare_runs(qrels, runs, **options)


@pytest.mark.parametrize("compare", [compare_lists, compare_scores])
@pytest.mark.parametrize("share", [0, 0.03, 0.2])
def test_verdicts_of_lists_hold_if_what_is_unjudged_is_judged(compare, share):
    options = {"k": 5, "margin": 0.05, "test": "t", "undefined": 0.0}
    found = set()
    for seed in range(6):
        truth, lists = pool_with_holes(seed, share)
        zero, *extremes = (
            compare(judged_too(truth, lists, each), lists, **options).verdict[0]
            for each in (None, *lists)
        )
        verdict = compare(truth, lists, **options).verdict[0]
        assert verdict == (zero if {*extremes} == {zero} else "undecided: unjudged")
        found.add(verdict)
    assert ("undecided: unjudged" in found) == (share > 0)


def test_what_nobody_liked_is_no_hole():
    """If all judged documents are relevant, unjudged just means not relevant."""
    truth, lists = pool_with_holes(0, 0.5)
    liked = {q: {d: 1 for d, grade in grades.items() if grade} for q, grades in truth.items()}
    options = {"k": 5, "margin": 0.05, "test": "t", "undefined": 0.0}
    assert "unjudged" not in compare_lists(liked, lists, **options).verdict[0]
    graded = {q: each | {"x": 0} for q, each in liked.items()}
    assert compare_lists(graded, lists, **options).verdict == ["undecided: unjudged"]


def test_verdicts_of_segments_and_clusters_know_their_holes():
    y, scores = holes(0, 0.1, 90)
    y[:30] = np.nan_to_num(y[:30])
    segment, cluster = np.arange(90) // 30, np.arange(90) // 2
    options = {"k": 4, "margin": 0.05, "test": "t", "unjudged": "zero", "undefined": 0.0}
    found = compare_rankers(y, scores, segments=segment, clusters=cluster, **options)
    for each, part in found.by_segment.items():
        rows = segment == each
        alone = {name: score[rows] for name, score in scores.items()}
        expected = compare_rankers(y[rows], alone, clusters=cluster[rows], **options)
        assert part.verdict == expected.verdict
    assert [part.verdict == ["undecided: unjudged"] for part in found.by_segment.values()] == [
        False, True, True,
    ]  # fmt: skip


def test_equal_rankers_are_not_worse():
    found = compare_rankers(Y, {"a": S, "b": S}, margin=0.01)
    assert found.verdict == ["not worse"]
    assert found.noninferiority_pvalue.tolist() == [0]
    assert compare_rankers(Y, {"a": S, "b": S}).verdict is None


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("test", ["t", "permutation"])
def test_pairs_are_compared_in_blocks(test, clustered, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, (1000, 4))
    scores = {name: y + rng.normal(0, 9, y.shape) for name in range(40)}
    options = {"test": test, "n_resamples": 99, "margin": 0.02, "undefined": 0.0}
    options["clusters"] = np.arange(1000) // 20 if clustered else None
    whole, drawn = (np.random.default_rng(5) for _ in range(2))
    expected = compare_rankers(y, scores, random_state=whole, **options)
    monkeypatch.setattr("sklearn_ndcg.inference._comparison._VALUES_AT_A_TIME", 10_000)
    tracemalloc.start()
    found = compare_rankers(y, scores, random_state=drawn, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 780 * 1000 * 8  # what the differences of all pairs take alone
    np.testing.assert_allclose(found.pvalue, expected.pvalue, rtol=1e-14)
    np.testing.assert_allclose(found.confidence_interval, expected.confidence_interval, rtol=1e-12)
    assert (found.verdict, found.pairs) == (expected.verdict, expected.pairs)
    assert found.wins.tolist() == expected.wins.tolist()
    assert drawn.integers(2**60) == whole.integers(2**60)


@pytest.mark.parametrize("test", ["t", "permutation"])
@pytest.mark.parametrize("clustered", [False, True])
def test_each_segment_is_compared_as_alone(test, clustered):
    y, s = matrices(60)
    segment = np.array(["new", "old", "older"])[np.arange(60) % 3]
    scores = {"a": s, "b": -s, "c": np.roll(s, 1, axis=0)}
    cluster = np.arange(60) // 4 if clustered else None
    options = {"test": test, "random_state": 0, "k": 5, "n_resamples": 99}
    found = compare_rankers(y, scores, segments=segment, clusters=cluster, **options)
    assert list(found.by_segment) == ["new", "old", "older"]
    for name, part in found.by_segment.items():
        rows = segment == name
        alone = compare_rankers(
            y[rows], {n: each[rows] for n, each in scores.items()},
            clusters=None if cluster is None else cluster[rows], **options,
        )  # fmt: skip
        assert part.labels.tolist() == np.flatnonzero(rows).tolist()
        assert repr(part) == repr(alone)
    text = repr(found).splitlines()
    assert [line.split()[:2] for line in text[-9::3]] == [
        ["new", "20"],
        ["old", "20"],
        ["older", "20"],
    ]


def test_segments_of_lists_and_runs_are_given_per_query():
    truth = {f"q{i}": {"a": 2, "b": 1, "c": 0} for i in range(40)}
    rng = np.random.default_rng(0)
    lists = {n: {q: rng.permutation(["a", "b", "c"]).tolist() for q in truth} for n in "xy"}
    segment = {q: i % 2 for i, q in enumerate(truth)}
    found = compare_lists(truth, lists, segments=segment, test="t")
    odd = [q for q in truth if segment[q]]
    alone = compare_lists(
        {q: truth[q] for q in odd}, {n: {q: each[q] for q in odd} for n, each in lists.items()},
        test="t",
    )  # fmt: skip
    assert repr(found.by_segment[1]) == repr(alone)
    assert found.by_segment[1].labels.tolist() == sorted(odd)
    runs = {
        n: {q: {d: -float(i) for i, d in enumerate(ids)} for q, ids in each.items()}
        for n, each in lists.items()
    }
    assert repr(compare_runs(truth, runs, segments=segment, test="t")) == repr(found)


@pytest.mark.parametrize("undefined", ["omit", 0.0])
def test_segments_and_clusters_of_queries_that_do_not_count(undefined):
    """Users without a truth have no segment if they are left out."""
    truth = {f"q{i:02}": {"a": 2, "b": 1, "c": 0} for i in range(20)}
    rng = np.random.default_rng(0)
    others = {query: rng.permutation(["a", "b", "c"]).tolist() for query in truth}
    lists = {"x": {query: ["b", "a"] for query in [*truth, "new", "known"]}, "y": others}
    segments = {query: i % 2 for i, query in enumerate(truth)} | {"known": 1}
    ids = {"segments": segments, "clusters": {query: query for query in segments}}
    options = {"undefined": undefined, "test": "t", **ids}
    if undefined == 0.0:
        with pytest.raises(ValueError, match="clusters must have an entry.* lacks 1, .* 'new'"):
            compare_lists(truth, lists, **options)
        return
    found = compare_lists(truth, lists, **options)
    judged = {name: {query: each[query] for query in truth} for name, each in lists.items()}
    alone = compare_lists(truth, judged, **options)
    assert found.left_out == {"nothing judged": 2}
    assert found.difference == alone.difference
    for segment in (0, 1):
        mine, expected = found.by_segment[segment], alone.by_segment[segment]
        assert mine.labels.tolist() == expected.labels.tolist()
        assert mine.ndcg == expected.ndcg
        assert mine.n_left_out == segment  # "known" is in segment 1


def test_segments_of_few_queries():
    y, s = matrices(40)
    other = s + np.random.default_rng(0).normal(size=s.shape)
    segment = np.r_[np.zeros(20), np.ones(15), np.full(4, 2), 3].astype(int)
    message = (
        "Intervals of 2 of the 4 segments, the first 2, are unreliable or missing: too few "
        "queries, or only queries of the same value.$"
    )
    with pytest.warns(UserWarning, match=message):
        found = compare_rankers(y, {"a": s, "b": -s}, segments=segment, test="t")
    assert list(found.by_segment) == [0, 1, 2]
    with pytest.warns(UserWarning, match=message):
        drawn = [
            compare_rankers(y, {"a": s, "b": other}, segments=segment, random_state=0)
            for _ in range(2)
        ]
    assert drawn[0].by_segment[0].pvalue == drawn[1].by_segment[0].pvalue
    days = np.datetime64("2024-05-01") + segment
    with pytest.warns(UserWarning, match="2 of the 4 segments, the first 2024-05-03, are"):
        compare_rankers(y, {"a": s, "b": -s}, segments=days, test="t")
    with pytest.raises(ValueError, match="40 queries have rows in more than one segment"):
        compare_rankers(
            y.ravel(), {"a": s.ravel(), "b": -s.ravel()}, groups=np.repeat(np.arange(40), 12),
            segments=np.tile(np.arange(12), 40),
        )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("n_queries", [20, 50, 100, 500])
def test_verdicts_at_the_margin_are_wrong_as_often_as_they_say(n_queries, clustered):
    """The first is worse by the margin, so "not worse" is wrong: 2.5% at the level 0.95."""
    rng, margin, n_sets = np.random.default_rng(0), 0.05, 20_000
    n_clusters = max(n_queries // 5, 10)
    cluster = np.arange(n_queries) % n_clusters if clustered else None
    names, arguments = (
        ["first", "second"],
        {"test": "t", "confidence_level": 0.95, "margin": margin},
    )
    wrong = 0
    for _ in range(n_sets):
        values = np.array([rng.beta(1, 0.5, n_queries), rng.beta(4, 2, n_queries)])
        if clustered:  # half of the queries have the values of their cluster
            common = np.array([rng.beta(1, 0.5, n_clusters), rng.beta(4, 2, n_clusters)])
            values = np.where(rng.random(n_queries) < 0.5, common[:, cluster], values)
        values[1] += margin
        labels, weight = np.arange(n_queries), np.ones(n_queries)
        sample = Sample(values, weight, labels, cluster, 0, None)
        (verdict,) = _compared(sample, names, [(0, 1)], rng, arguments).verdict
        wrong += verdict in ("better", "not worse")
    print(f"{n_queries} queries, clustered {clustered}: {wrong / n_sets:.4f} wrong at 0.025")
    assert 0.015 <= wrong / n_sets <= 0.04  # skewness, for few queries
