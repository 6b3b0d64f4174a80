"""What comparisons refuse, and which ranker an error names."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers import as_runs, compare_lists, compare_runs, matrices

from sklearn_ndcg import from_lists
from sklearn_ndcg.inference import compare_rankers

Y, S = matrices()
TWO = {"a": S, "b": S}
BAD_RANKERS = {
    "names that print alike": ({0: S, "0": S}, ValueError, r"different names, got \[0, '0'\]"),
    "one": ({"a": S}, ValueError, r"y_scores .* two rankers .* got \['a'\]"),
    "list": ([S, S], TypeError, "y_scores must be a mapping from the name.*got list"),
}


@pytest.mark.parametrize(("scores", "error", "message"), BAD_RANKERS.values(), ids=BAD_RANKERS)
def test_y_scores_that_do_not_name_two_rankers_are_refused(scores, error, message):
    with pytest.raises(error, match=message):
        compare_rankers(Y, scores)


BAD_TABLES = {
    "lazy": ("polars", lambda pl: pl.LazyFrame({"a": [1.0]}), r"LazyFrame: collect\(\) it"),
    "names twice": (
        "pyarrow",
        lambda pa: pa.Table.from_arrays([pa.array([1.0])] * 2, names=["a", "a"]),
        r"names, got \['a', 'a'\]",
    ),
}


@pytest.mark.parametrize(("library", "make", "message"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_tables_that_do_not_name_two_rankers_are_refused(library, make, message):
    package = pytest.importorskip(library, reason=f"{library} is not installed")
    with pytest.raises((TypeError, ValueError), match=message):
        compare_rankers([[1, 0]], make(package))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"baseline": "c"}, ValueError, "baseline must be one of .*'a', 'b'.*, got 'c'"),
        ({"test": "wilcoxon"}, ValueError, "test must be one of 'permutation', 't'"),
        ({"alpha": 1}, TypeError, "compare_rankers has no option 'alpha'"),
        ({"n_resamples": 0.5}, ValueError, "n_resamples must be an integer"),
        ({"confidence_level": 0}, ValueError, "confidence_level must be between 0 and 1"),
        ({"margin": 0}, ValueError, "margin must be a number between 0 and 1, got 0"),
        ({"margin": 1}, ValueError, "margin must be a number between 0 and 1, got 1"),
        ({"margin": np.nan}, ValueError, "margin must be a number"),
        ({"margin": {"NDCG": 0.1}}, ValueError, "margin must be a number .* got {'NDCG': 0.1}"),
        ({"k": [5, 10]}, ValueError, r"k must be an integer .* got \[5, 10\]. .* in a loop"),
        ({"segments": np.arange(40)}, TypeError, "compare_rankers has no option 'segments'"),
    ],
)
def test_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        compare_rankers(Y, TWO, **options)


BAD_ROWS = {
    "NaN": ({"y_true": np.where(Y > 3, np.nan, Y)}, "y_true contains NaN: .* first at index"),
    "no groups": ({"y_true": Y.ravel()}, "y_true .*groups="),
    "weights": ({"y_true": Y, "sample_weight": np.full(40, -1)}, "sample_weight must be"),
    "order": (
        {"y_true": pd.Series(Y.ravel()), "groups": pd.Series(np.arange(480) // 12)[::-1]},
        "y_true and groups have the same labels",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_errors_of_what_all_rankers_share_name_none(arguments, message):
    scores = {name: s.reshape(arguments["y_true"].shape) for name, s in TWO.items()}
    with pytest.raises(ValueError, match=message) as caught:
        compare_rankers(y_scores=scores, **arguments)
    assert not hasattr(caught.value, "__notes__")


# Lists and runs

TRUTH = {"u": {"x": 1}, "v": {"y": 1}}
LISTS = {"a": {"u": ["x", "y"], "v": ["y"]}, "b": {"u": ["y"], "v": ["x"]}}
RUNS = as_runs(LISTS)
GOOD = from_lists(TRUTH, rankers=LISTS)


@pytest.mark.parametrize(
    ("rows", "options", "error", "message"),
    [
        (from_lists(TRUTH, LISTS["a"]), {}, ValueError, r"two rankers: pass rankers=\{name: .*"),
        ({"a": GOOD, "b": GOOD}, {}, TypeError, r"together: from_lists\(relevant, rankers="),
        (GOOD, {"cutoff": 3}, TypeError, "^compare_rankers has no option 'cutoff'"),
        (GOOD, {"clusters": {"u": 1, "v": None}}, ValueError, "clusters has 1 missing id"),
        (
            GOOD,
            {"clusters": pd.Series([1, 1], index=["u", "u"])},
            ValueError,
            "clusters must have one value for each query, but its index repeats",
        ),
        (
            from_lists({}, rankers={"a": {"u": []}, "b": {"u": []}}),
            {"undefined": "omit"},
            ValueError,
            "At least 2 scored queries are needed, got 0 of 1",
        ),
    ],
    ids=["one ranker", "read apart", "option", "no cluster", "two clusters", "nothing to score"],
)
def test_lists_that_cannot_be_compared(rows, options, error, message):
    with pytest.raises(error, match=message):
        compare_rankers(rows, **options)


ONE_RANKER = {
    "shape": (compare_rankers, Y, {"a": S, "b": S[1:]}, "y_score.* same shape, got"),
    "id twice": (compare_lists, TRUTH, LISTS | {"b": {"u": ["x", "x"]}}, "the id 'x' 2 times"),
    "missing id": (compare_lists, TRUTH, LISTS | {"b": {"u": [None]}}, "1 missing id"),
    "nan": (compare_runs, TRUTH, RUNS | {"b": {"u": {"x": np.nan}}}, "run must not have nan"),
}


@pytest.mark.parametrize(
    ("compare", "truth", "rankers", "message"), ONE_RANKER.values(), ids=ONE_RANKER
)
def test_errors_of_one_ranker_name_it(compare, truth, rankers, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        compare(truth, rankers)
    assert caught.value.__notes__ == ["While comparing the ranker 'b'."]


USERS = [f"u{number}" for number in range(12)]
GRADES = {user: {"a": 2, "b": 1, "c": 0} for user in USERS}
RANKED = {"one": dict.fromkeys(USERS, tuple("abx")), "two": dict.fromkeys(USERS, tuple("bay"))}
# the truth of one query, options, and the message
BAD_TRUTHS = {
    "gain below 0": (
        {"a": 1},
        {"gain": lambda y: y - 1},
        "gain is -1.0 where relevant is 0.0, .* 24 documents, .* in query 'u0', document 'x'",
    ),
    "infinite sum": (
        {"a": 1e308, "b": 1e308},
        {"discount": "none"},
        "relevant has gains .* in 1 query, the first 'u3': scale relevant down",
    ),
    "text": ({"b": 1, "a": "x"}, {}, "relevant must have numbers, got 'x' in query 'u3'"),
}


@pytest.mark.parametrize(("grades", "options", "message"), BAD_TRUTHS.values(), ids=BAD_TRUTHS)
def test_errors_in_the_truth_name_the_query(grades, options, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        compare_lists(GRADES | {"u3": grades}, RANKED, **options)
    assert not re.search(r"\b(y_true|y_score|groups|index \d|qrels)\b", str(caught.value))
    assert not hasattr(caught.value, "__notes__")  # the rankers did nothing wrong


def test_errors_in_the_truth_of_runs_name_qrels():
    with pytest.raises(TypeError, match="qrels must have numbers, got 'x' in query 'u3'"):
        compare_runs(GRADES | {"u3": {"b": 1, "a": "x"}}, as_runs(RANKED))
