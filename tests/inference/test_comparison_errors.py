"""What comparisons refuse, and whom an error blames."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers import as_runs, compare_lists, compare_runs, matrices

from sklearn_ndcg.inference import compare_rankers

Y, S = matrices()
TWO = {"a": S, "b": S}
LEVEL, MARGIN = "confidence_level must be between", "margin must be a number between 0"
BAD_COMPARISON = {
    "names that print alike": ({0: S, "0": S}, {}, ValueError, r"different names, got \[0, '0'\]"),
    "one": ({"a": S}, {}, ValueError, r"at least two rankers with different names, got \['a'\]"),
    "none": ({}, {}, ValueError, r"at least two rankers.* got \[\]"),
    "list": ([S, S], {}, TypeError, "y_scores must be a mapping from the name.*got list"),
    "no items": (type("Items", (), {"items": 3})(), {}, TypeError, "y_scores must be"),
    "baseline": (TWO, {"baseline": "c"}, ValueError, "baseline must be one of the rankers"),
    "array as baseline": (TWO, {"baseline": np.ones(2)}, ValueError, "baseline must be one of"),
    "test": (TWO, {"test": "wilcoxon"}, ValueError, "test must be one of 'permutation', 't'"),
    "option": (TWO, {"alpha": 1}, TypeError, "compare_rankers has no option 'alpha'"),
    "resamples": (TWO, {"n_resamples": 0.5}, ValueError, "n_resamples must be an integer"),
    **{f"level {bad}": (TWO, {"confidence_level": bad}, ValueError, LEVEL) for bad in (0, 1, "0.9")},
    **{
        f"margin {bad}": (TWO, {"margin": bad}, ValueError, MARGIN)
        for bad in (0, -0.1, 1, "0.1", np.nan, True)
    },
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_COMPARISON)
def test_compare_rankers_refuses(case):
    scores, options, error, message = BAD_COMPARISON[case]
    with pytest.raises(error, match=message):
        compare_rankers(Y, scores, **options)


@pytest.mark.parametrize(("library", "make", "error", "message"), [
    ("polars", lambda pl: pl.LazyFrame({"a": [1.0], "b": [2.0]}), TypeError, r"got LazyFrame: collect\(\) it first\."),
    ("polars", lambda pl: pl.DataFrame({"a": [1.0, 2.0]}), ValueError, r"at least two rankers .*, got \['a'\]"),
    ("pyarrow", lambda pa: pa.Table.from_arrays([pa.array([1.0])] * 2, names=["a", "a"]), ValueError, r"names, got \['a', 'a'\]"),
    ("pandas", lambda pd: pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, r"y_scores .* got \['a', 'a'\]"),
])  # fmt: skip
def test_y_scores_in_tables_that_do_not_name_two_rankers_are_refused(library, make, error, message):
    package = pytest.importorskip(library, reason=f"{library} is not installed")
    with pytest.raises(error, match=message):
        compare_rankers([[1, 0]], make(package))


BAD_ROWS = {
    "y_true NaN": ({"y_true": np.where(Y > 3, np.nan, Y)}, "Input y_true contains NaN: .* NaN, the first at index"),
    "y_true text": ({"y_true": Y.astype(str)}, "y_true must be an array of numbers.* holds text, the first '"),
    "groups None": ({"y_true": Y.ravel()}, "y_true .*groups="),
    "groups missing": ({"y_true": Y.ravel(), "groups": np.full(480, np.nan)}, "groups has 480 missing"),
    "groups reordered": ({"y_true": pd.Series(Y.ravel()), "groups": pd.Series(Y.ravel())[::-1]}, "y_true and groups have"),
    "weights": ({"y_true": Y, "sample_weight": np.full(40, -1)}, "sample_weight must be finite"),
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


# Lists and runs

LISTS = {"a": {"u": ["x", "y"], "v": ["y"]}, "b": {"u": ["y"], "v": ["x"]}}
TRUTH = {"u": {"x": 1}, "v": {"y": 1}}
RUNS = {"a": {"u": {"x": 0.5}}, "b": {"u": {"y": 0.5}}}
GOOD = (TRUTH, LISTS)
BAD_LISTS = {
    "one ranker": ((TRUTH, {"a": LISTS["a"]}), {}, ValueError, r"at least two rankers: pass rankers=\{name: lists\} .* call ndcg_interval\(rows\)"),
    "list": ((TRUTH, [LISTS["a"]]), {}, TypeError, "rankers must be a mapping from the name of each ranker, got list"),
    "no names": ((TRUTH, LISTS["a"]), {}, TypeError, r"got dict and list\. For one query pass its truth and its list"),
    "swapped": ((LISTS, TRUTH), {}, TypeError, "recommended must have a list of ids"),
    "groups": (GOOD, {"groups": [1]}, TypeError, "groups must be left out, got list: rows of from_lists"),
    "unanswered": (GOOD, {"unanswered": "nan"}, ValueError, "unanswered must be one of 'zero', 'omit'"),
    "unjudged": (GOOD, {"unjudged": "raise"}, ValueError, "unjudged must be one of 'zero', 'omit', 'nan'"),
    "undefined": (GOOD, {"undefined": "banana"}, ValueError, "undefined must be one of 'warn', 'omit', 'raise'"),
    "clusters in a list": (GOOD, {"clusters": [1, 2]}, TypeError, "clusters must be a mapping from query to its value, got list"),
    "clusters in a Series": (GOOD, {"clusters": pd.Series([1, 1], index=["u", "u"])}, ValueError, "clusters must have one value for each query, but its index repeats"),
    "cluster missing": (GOOD, {"clusters": {"u": 1}}, ValueError, "clusters must have an entry.* lacks 1, for example 'v'"),
    "cluster None": (GOOD, {"clusters": {"u": 1, "v": None}}, ValueError, "clusters has 1 missing id"),
    "weight missing": (GOOD, {"sample_weight": {"v": 1}}, ValueError, "sample_weight must have an entry.*'u'"),
    "weight text": (GOOD, {"sample_weight": {"u": "1", "v": "2"}}, TypeError, "sample_weight must be an array of numbers"),
    "weights below 0": (GOOD, {"sample_weight": {"u": -1, "v": -1}}, ValueError, "sample_weight must be.*-1.0: 2 such weights.*query 'u'"),
    "weights": ((list(TRUTH.values()), {n: list(each.values()) for n, each in LISTS.items()}), {"sample_weight": [1]}, ValueError, "sample_weight must have one value for each of the 2 queries, got 1"),
    "negative grade": (({"u": {"x": -1}}, LISTS), {}, ValueError, "^(?!.*y_true)relevant must not have -1, .* 'u' for document 'x': .* leave it out or pass nan"),
    "empty": (({}, {"a": {"u": []}, "b": {"u": []}}), {"undefined": "omit"}, ValueError, "At least 2 scored queries are needed, got 0 of 1"),
    "nothing": (({}, {"a": {}, "b": {}}), {}, ValueError, "No query is left to score"),
    "all unanswered": ((TRUTH, {"a": {"u": ["x"]}, "b": {"v": ["x"]}}), {"unanswered": "omit"}, ValueError, "No query is left to score: all 2 lack a list"),
}  # fmt: skip
BAD_RUNS = {
    "list": ((TRUTH, [*RUNS.values()]), {}, TypeError, "runs must be a mapping from the name of each ranker, got list"),
    "one ranker": ((TRUTH, {"a": RUNS["a"] | {"v": {}}}), {}, ValueError, r"runs=\{name: run\} to from_trec"),
    "one path": ((TRUTH, "bm25.txt"), {}, TypeError, "runs must be a mapping .* got str"),
    "swapped": ((RUNS, TRUTH), {}, TypeError, "qrels must have numbers, got a mapping in query 'a'"),
    "swapped numbers": (({"q": {"a": 0.5}}, {"x": {"q": {"a": 1}}, "y": {"q": {"a": 1}}}), {}, ValueError, "qrels and run look swapped"),
    "option": ((TRUTH, RUNS), {"cutoff": 3}, TypeError, "^compare_rankers has no option 'cutoff'"),
    "convention": ((TRUTH, RUNS), {"convention": "trec_eval-9"}, ValueError, "convention must be one of 'trec_eval', 'trec_eval-10'"),
    "one query": (({"u": {"x": 1}}, RUNS), {}, ValueError, "At least 2 scored queries"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "data", "options", "error", "message"), [
    *(pytest.param(compare_lists, *case, id=f"lists: {name}") for name, case in BAD_LISTS.items()),
    *(pytest.param(compare_runs, *case, id=f"runs: {name}") for name, case in BAD_RUNS.items()),
])  # fmt: skip
def test_lists_and_runs_that_cannot_be_compared(function, data, options, error, message):
    with pytest.raises(error, match=message):
        function(*data, **options)


ONE_RANKER = {
    "y_scores": (lambda: compare_rankers(Y, {"a": S, "b": S[1:]}), "y_score.* same shape, got"),
    "twice": (lambda: compare_lists(TRUTH, LISTS | {"b": {"u": ["x", "x"]}}), "recommended has the id 'x' 2 times"),
    "missing": (lambda: compare_lists(TRUTH, LISTS | {"b": {"u": [None]}}), "recommended has 1 missing id"),
    "set": (lambda: compare_lists(TRUTH, LISTS | {"b": {"u": {"x"}}}), "recommended must have a list of ids"),
    "kind": (lambda: compare_lists(TRUTH, LISTS | {"b": {"u": [1]}}), "recommended of type number"),
    "run": (lambda: compare_runs(TRUTH, RUNS | {"b": {"u": {"x": np.nan}}}), "run must not have nan, found in query 'u'"),
}  # fmt: skip


@pytest.mark.parametrize("case", ONE_RANKER)
def test_errors_of_one_ranker_name_it(case):
    call, message = ONE_RANKER[case]
    with pytest.raises((TypeError, ValueError), match=message) as found:
        call()
    assert found.value.__notes__ == ["While comparing the ranker 'b'."]


USERS = [f"u{number}" for number in range(12)]
GRADES = {user: {"a": 2, "b": 1, "c": 0} for user in USERS}
RANKED = {"one": dict.fromkeys(USERS, tuple("abx")), "two": dict.fromkeys(USERS, tuple("bay"))}
# the truth of one query, options, and the message, in which {truth} is the name of an argument
BAD_TRUTHS = {
    "negative gain": ({"a": 1}, {"gain": lambda y: y - 1}, "gain is -1.0 where {truth} is 0.0, and negative for 24 documents, the first in query 'u0', document 'c'"),
    "infinite gain": ({"a": 5000}, {"gain": "exponential"}, "gain must be finite, .* 1 document, in query 'u3', document 'a', where {truth} is 5000.0"),
    "infinite sum": ({"a": 1e308, "b": 1e308}, {"discount": "none"}, "{truth} has gains that, .* in 1 query, the first 'u3': scale {truth} down"),
    "no gain in a table": ({"a": 7}, {"gain": [0, 1, 2]}, "no entry for 1 value of {truth}, the first 7.0 .1 document, in query 'u3', document 'a'.; it"),
    "infinite": ({"b": 1, "a": np.inf}, {}, "{truth} must not have inf, found in query 'u3'"),
    "text": ({"b": 1, "a": "x"}, {}, "{truth} must have numbers, got 'x' in query 'u3'"),
}  # fmt: skip


@pytest.mark.parametrize("function", [compare_lists, compare_runs])
@pytest.mark.parametrize("case", BAD_TRUTHS)
def test_errors_in_relevant_and_qrels_name_the_query_and_what_was_passed(case, function):
    truth, options, message = BAD_TRUTHS[case]
    rankers, name, others = RANKED, "relevant", "qrels"
    if function is compare_runs:
        name, others = others, "relevant|recommended"
        rankers = as_runs(RANKED)
    with pytest.raises((TypeError, ValueError), match=message.format(truth=name)) as caught:
        function(GRADES | {"u3": truth}, rankers, **options)
    assert not re.search(rf"\b(y_true|y_score|groups|index \d|{others})\b", str(caught.value))
    assert not hasattr(caught.value, "__notes__")  # the rankers did nothing wrong


@pytest.mark.parametrize("truth", [None, 5, iter([]), "qrels"])
def test_relevant_of_no_form_is_not_blamed_on_a_ranker(truth):
    with pytest.raises(TypeError, match="relevant must be a mapping") as caught:
        compare_lists(truth, RANKED)
    assert not hasattr(caught.value, "__notes__")
