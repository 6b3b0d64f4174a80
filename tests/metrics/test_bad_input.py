"""Bad input: each case with a part of its error message."""

import math
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sklearn_ndcg import (
    dcg_samples,
    dcg_score,
    jarvelin_kekalainen,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
    quantile_grades,
)
from sklearn_ndcg.inference import compare_rankers, ndcg_interval

NAN, INF = np.nan, np.inf
Y, S, G = [1, 0, 2, 0], [4, 3, 2, 1], [1, 1, 2, 2]
ROWS = pd.Series(Y), pd.Series(S)
FUNCTIONS = [dcg_score, ndcg_score, dcg_samples, ndcg_samples, ndcg_curve]
every_function = pytest.mark.parametrize("function", FUNCTIONS)
ERRORS = ValueError, TypeError
WIDE = np.longdouble("1e4000")  # inf where long doubles have 64 bits


class Unreadable:
    """Cannot be read as an array, like a torch tensor that requires grad."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


# y_true, y_score, options, a part of the message; for all five functions
DATA = {
    "1-D without groups": (Y, S, {}, r"y_true (?=.*\[y_true\])(?=.*\[y_score\]).*groups="),
    "different lengths": (Y, S[:3], {"groups": G}, r"same shape, got \(4,\) and \(3,\)"),
    "a score per class": (Y, np.ones((4, 2)), {"groups": G}, r"\(4, 2\)\. One score per document"),
    "different widths": ([Y], [S[:3]], {}, r"same shape, got \(1, 4\) and \(1, 3\).*-inf"),
    "probabilities": (Y, np.ones((4, 2)), {"groups": G}, r"\(4, 2\).*np.round\(y_score @ gain, 10\).*classes_"),
    "one 2-D, one 1-D": ([Y], S, {}, r"got \(1, 4\) and \(4,\)\. A single ranking is \[y_true\]"),
    "2-D with groups": ([Y], [S], {"groups": [1]}, r"groups goes with 1-D.*\(1, 4\)"),
    "table with groups": (np.c_[Y, Y], np.c_[S, S], {"groups": G}, r"\(4, 2\).*multilabel.*pass that column"),
    "one column": (np.c_[Y], np.c_[S], {}, r"more than 1 document. Got 1 instead.*groups="),
    "empty": ([], [], {"groups": []}, "y_true.*not empty"),
    "empty scores": (Y, [], {"groups": G}, "y_score.*not empty"),
    "scalar": (1, 1, {}, r"y_true must be 1-D or 2-D.*\(\)"),
    "no scores": (Y, None, {"groups": G}, "y_score is missing: only rows of from_lists or from_trec"),
    "ragged": ([[1, 2], [3]], [[1, 2], [3]], {}, r"y_true .* list: its rows have 1 to 2 values.*groups="),
    "None": (None, [1, 2], {}, r"y_true must be an array of numbers, got None\.$"),
    "text": (list("abcd"), S, {"groups": G}, "y_true must be an array of numbers.*'a'.*dict from word to grade"),
    "padding": ([[1, 0, 2], [1, NAN, NAN]], np.ones((2, 3)), {}, r"2 NaN, .*\(1, 1\).*scores of -inf if they pad rows"),
    "holes": ([[1, NAN, 2, NAN], [1, 1, 1, NAN]], np.ones((2, 4)), {}, r"3 NaN, .*\(0, 1\)\. If NaN means unjudged"),
    "other labels": (*ROWS, {"groups": pd.Series(G, [2, 3, 4, 5])}, "groups has labels.*: 2 rows, .* index 2.*to_n"),
    "of a column": (*ROWS, {"groups": [G, pd.Series(G, [0, 1, 2, 9])]}, r"groups\[1\] has labels.*: 1 row, at index 3"),
    "complex": (np.array(Y) * 1j, S, {"groups": G}, "y_true must be.*numbers"),
    "dates": (np.array(Y, "M8[D]"), S, {"groups": G}, "y_true must be an array of numbers"),
    "unreadable": (Unreadable(), S, {"groups": G}, "y_true must be.*Unreadable.*requires grad"),
    "sparse scores": (np.eye(2), sparse.csr_array(np.eye(2)), {}, r"y_score.*only y_true .*toarray\(\).*from_lists"),
    "sparse and complex": (sparse.csr_array(np.eye(2) * 1j), np.eye(2), {}, "y_true must be.*numbers.*[Cc]omplex"),
    "sparse and NaN": (sparse.csr_array([[0, 1, 0], [0, 0, NAN]]), np.ones((2, 3)), {}, r"1 NaN, at index \(1, 2\)"),
    "np.matrix": (np.ones((2, 3)).view(np.matrix), np.ones((2, 3)), {}, "y_true.*matrix"),
    "masked": (np.ma.array(Y, mask=[0, 1, 0, 0]), S, {"groups": G}, "y_true is a masked.*1 masked value, at index 1"),
    "masked scores": (Y, np.ma.array(S, mask=[1, 1, 0, 0]), {"groups": G}, "y_score.*2 masked"),
    "NaN relevance": ([1, NAN, NAN, 0], S, {"groups": G}, "Input y_true contains NaN: 2 NaN, .* index 1.*'zero'.*'omit'"),
    "infinite relevance": ([1, INF, 0, 0], S, {"groups": G}, "Input y_true contains infinity: .*index 1"),
    "inf beside NaN": ([NAN, INF, 0, 0], S, {"groups": G, "unjudged": "omit"}, "Input y_true contains infinity"),
    "NaN score": (Y, [NAN, 1, NAN, 1], {"groups": G}, "y_score.*contains NaN: 2 NaN or .inf.*index 0"),
    "+inf score": (Y, [1, 2, 3, INF], {"groups": G}, "y_score.*1 NaN or .inf, at index 3"),
    "overflow": ([1e308] * 4, S, {"groups": [1] * 4}, "y_true.*more than a float64 holds.*first 1"),
    "2**1024": ([1, 1024, 0, 0], S, {"groups": G, "gain": "exponential"}, "finite.*index 1.*y_true is 1024"),
    "groups of another length": (Y, S, {"groups": [1, 2]}, "groups must have one id.*4 rows.*got 2"),
    "sizes": (Y, S, {"groups": [4, 0]}, r"got 2.*look like group sizes.*np\.repeat\(np\.arange"),
    "NaN id": (Y, S, {"groups": [1, NAN, NAN, 2]}, "groups has 2 missing ids, the first at index 1"),
    "NaT id": (Y, S, {"groups": np.array(["2026-01-01", "NaT"] * 2, "M8[D]")}, "groups.*2 missing id"),
    "masked ids": (Y, S, {"groups": np.ma.array(G, mask=[1, 0, 0, 0])}, "groups is a masked.*1 masked"),
    "mixed ids": (Y, S, {"groups": [1, "1", 2, "2"]}, r"groups must be ids of one type.*int, str.*str\(id\)"),
    "unhashable ids": (Y, S, {"groups": [[1], [1], [2], [2]]}, "groups must be ids that can be hashed"),
    "3-D ids": (Y, S, {"groups": np.ones((4, 1, 1))}, r"groups must be 1-D.*\(4, 1, 1\)"),
    "complex ids": (Y, S, {"groups": np.array(G) * 1j}, "groups must be ids that can be sorted"),
    "unreadable ids": (Y, S, {"groups": Unreadable()}, "groups must be an array of ids"),
    "series as gain": (Y, S, {"groups": G, "gain": pd.Series([0, 1, 3])}, "gain must be .* in a list, an array or a mapping"),
    "huge sizes": (Y, S, {"groups": [10**400]}, "groups must have one id.*got 1"),
    "one tie overflows": ([[1e308] * 3], [[1, 1, 1]], {}, "float64"),
    "gain of text": (Y, S, {"groups": G, "gain": lambda y: y.astype(str)}, "gain must return"),
    "wide discount": (Y, S, {"groups": G, "discount": lambda r: WIDE / r}, "discount must be finite"),
    "missing part of an index": (Y, S, {"groups": pd.MultiIndex.from_arrays([G, [NAN, 1, 1, 1]])}, "1 missing id.*index 0"),
    "keys that are one float": (Y, S, {"groups": G, "gain": {2**53: 1, 2**53 + 1: 5}}, "keys of gain must differ"),
    "discount of 0": (Y, S, {"groups": G, "discount": lambda r: r * 0}, "above 0 at rank 1.*0.0 at rank 1"),
    "name of a column": (Y, S, {"groups": "qid"}, "groups must be 1-D.*got str.*not its name"),
    "gain keys": (Y, S, {"groups": G, "gain": {"a": 1}}, "keys of gain must be finite numbers"),
    "gain values": (Y, S, {"groups": G, "gain": {1: "a"}}, "gain must be finite numbers"),
    "short table": (Y, S, {"groups": G, "gain": [0, 1]}, r"no entry for 1 value of y_true, the first 2.0.*\[0.0, 1.0\]"),
    "table for fractions": ([1, 0.5, 0, 0], S, {"groups": G, "gain": [0, 1]}, "no entry for 1 value.*0.5"),
    "missing grade": (Y, S, {"groups": G, "gain": {0: 0, 1: 1}}, r"no entry for 1 value.*2.0.*\[0.0, 1.0\]"),
    "gain of one number": (Y, S, {"groups": G, "gain": np.sum}, r"gain must return.*4 relevance.*sum.*\(\)"),
    "gain that is NaN": (Y, S, {"groups": G, "gain": lambda y: y * NAN}, "gain must be finite.*4 document"),
    "rising discount": (Y, S, {"groups": G, "discount": lambda r: r}, "discount must be finite.*2.0 at rank 2"),
    "NaN discount": (Y, S, {"groups": G, "discount": lambda r: r * NAN}, "discount must be.*nan at rank 1"),
    "short discount": (Y, S, {"groups": G, "discount": lambda r: 1 / r[:1]}, r"discount must return.* of the \d ranks .*shape \(1,\)"),
    "two rules for ties": (Y, S, {"groups": G, "ties": "best", "ignore_ties": True}, "ignore_ties=True.*'best'"),
}  # fmt: skip


@every_function
@pytest.mark.parametrize("name", DATA)
def test_bad_data(name, function):
    y_true, y_score, options, words = DATA[name]
    with pytest.raises(ERRORS, match=f"(?s){words}"):
        function(y_true, y_score, **options)


VALUES = {  # that an option refuses by its name, with what was found
    "k": [0, -1, 5.0, True, "all", [1, 2]],
    "gain": ["exp", None, 3, ["0", "1"], [], [0, NAN], [10**400], {0, 1, 2}, b"abc", [[0, 1]]],
    "discount": ["log2"],
    "log_base": [0, 1, "e", INF, 10**400, Fraction(10**30 + 1, 10**30), WIDE],
    "ties": ["random"],
    "ignore_ties": ["yes"],
    "unjudged": ["drop"],
    "undefined": ["drop", None, INF, True, 10**400, -0.1, 1.01],
    "sample_weight": [list("abcd")],
}


@pytest.mark.parametrize(
    ("option", "value"), [(name, value) for name in VALUES for value in VALUES[name]]
)
def test_bad_value_of_an_option(option, value):
    function = dcg_score if option == "log_base" else ndcg_score
    found = "" if option == "sample_weight" else re.escape(repr(value))
    with pytest.raises(ERRORS, match=f"^{option} must be .*{found}"):
        function(Y, S, groups=G, **{option: value})


BASE = "log_base=3 is the base of discount='log'"
FEW = r"k must be a 1-D array.*k=\[1, 5, 10\]"
OPTIONS = [
    (ndcg_score, {"k": [1, 2]}, r"k must be.*\[1, 2\].*several cutoffs.*loop"),
    *((dcg_score, {"log_base": 3, "discount": each}, BASE) for each in (np.exp, "none")),
    *((ndcg_curve, {"k": k}, FEW) for k in (3, [0, 1], [], "retrieved", [None], [2**70])),
]


@pytest.mark.parametrize(("function", "options", "words"), OPTIONS)
def test_bad_options_of_one_function(function, options, words):
    with pytest.raises(ValueError, match=words):
        function(Y, S, groups=G, **options)


@pytest.mark.xfail(strict=True, reason="Python refuses to print an integer of 5000 digits")
def test_k_of_5000_digits_is_named():
    with pytest.raises(ValueError, match="k must be"):
        ndcg_score(Y, S, groups=G, k=-(10**5000))


@pytest.mark.parametrize("b", [1, "2", INF, Fraction(10**30 + 1, 10**30), 10**400])
def test_bad_b_of_jarvelin_kekalainen(b):
    with pytest.raises(ValueError, match="^b must be a finite number above 1, got "):
        jarvelin_kekalainen(b)


@pytest.mark.parametrize(
    ("y_true", "gain", "words"),
    [
        ([1, -1, -2, 0], "linear", "negative y_true values.*-1.0.*2 documents.*index 1"),
        ([1, -1, 0, 0], "exponential", "negative y_true values or gains: gain is -0.5"),
        (Y, [-1, 0, 1], "negative .* or gains: gain is -1.0 where y_true is 0.0"),
        ([0, 1, 1, 1], [-1, 1], " 1 document"),
        (Y, lambda y: y * WIDE, "gain must be finite"),
    ],
)
def test_bad_gains(y_true, gain, words):
    with pytest.raises(ValueError, match=words):
        ndcg_score(y_true, S, groups=G, gain=gain)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1, 2], r"each of the 4 rows.*\(2,\)"),
        ([[1] * 4], r"\(1, 4\)"),
        (np.array([1, 1, 1, WIDE]), "must be finite"),
        ([1, 1, -1, 1], "must be finite and >= 0.*found -1.*index 2"),
        ([1, NAN, 1, 1], "found nan"),
        ([1, INF, 1, 1], "found inf"),
        ([1, 1, 1, 1e301], "at most 1e300, found 1e"),
        ([0] * 4, "is 0 for every query"),
        (np.ma.array([1] * 4, mask=[1, 0, 0, 0]), "is a masked array"),
    ],
)
@pytest.mark.parametrize("function", [dcg_score, ndcg_score, ndcg_curve])
def test_bad_sample_weight(weight, words, function):
    with pytest.raises(ValueError, match=f"sample_weight.*{words}"):
        function(Y, S, groups=G, sample_weight=weight)


def test_bad_sample_weight_of_queries():
    with pytest.raises(ValueError, match=r"sample_weight.*the 1 rows.*\(4,\)"):
        ndcg_score([Y], [S], sample_weight=[1] * 4)
    options = {"groups": G, "unjudged": "omit", "sample_weight": [1, 0, 0, 0]}
    with pytest.raises(ValueError, match="sample_weight is 0 for every query"):
        ndcg_score([NAN, 1, 1, 0], S, **options)


@every_function
def test_groups_are_given_by_keyword(function):
    with pytest.raises(TypeError, match="positional argument"):
        function(Y, S, G)


SMALL = np.array([[1.0, 0, 2], [0, 1, 0]])
REFUSED = {
    "generator": (row for row in SMALL),
    "map": map(list, SMALL),
    "iterator": iter(SMALL),
    "set": {1, 0, 2},
    "dict": {0: [1, 0, 2], 1: [0, 1, 0]},
    "structured": np.zeros(2, dtype="f8,f8,f8"),
    "records": np.rec.fromarrays(SMALL),
    "text": "101",
    "bytes": b"101",
    "module": np,
    "class": float,
    "function": len,
    "ellipsis": ...,
    "zero-dimensional": np.array(1.0),
    "three-dimensional": np.zeros((1, 2, 3)),
    "frame of text": pd.DataFrame([["a", "b", "c"], ["a", "b", "c"]]),
    "frame of dates": pd.DataFrame([[pd.Timestamp(0)] * 3] * 2),
    "string array": np.array([["1", "2", "3"]] * 2, getattr(np.dtypes, "StringDType", lambda: "S1")()),
    "array of text": np.array([["1", "2", "3"]] * 2),
    "array of bytes": np.array([[b"1", b"2", b"3"]] * 2),
    "objects": np.array([[object()] * 3] * 2),
    "void": np.zeros((2, 3), dtype="V8"),
    "itself": (ITSELF := []),
}  # fmt: skip
ITSELF.append(ITSELF)


@pytest.mark.parametrize("what", REFUSED)
@every_function
def test_refused_with_the_name_of_the_argument(what, function):
    bad = REFUSED[what]
    with pytest.raises(ERRORS, match="y_true"):
        function(bad, SMALL)
    with pytest.raises(ERRORS, match="y_score"):
        function(SMALL, bad)
    if "samples" not in function.__name__:
        with pytest.raises(ERRORS, match="sample_weight"):
            function(SMALL, SMALL, sample_weight=bad)
    with pytest.raises(ERRORS, match="groups"):
        function(SMALL.ravel(), SMALL.ravel(), groups=bad)


@pytest.mark.parametrize("what", REFUSED)
def test_refused_by_the_other_functions(what):
    bad = REFUSED[what]
    for call, name in [
        (lambda: quantile_grades(bad), "^y must"),
        (lambda: ndcg_interval(bad, SMALL), "y_true"),
        (lambda: compare_rankers(SMALL, {"a": SMALL, "b": bad}), "y_score"),
    ]:
        with pytest.raises(ERRORS, match=name):
            call()


IDS = {"u": {"A": 0.1, "B": 0.5}, "v": {"C": 1}}, {"u": ["A", "C"], "v": ["C"]}


@pytest.mark.parametrize(
    ("truth", "listed"),
    [
        IDS,
        (IDS[0]["u"], IDS[1]["u"]),
        ([IDS[0]["u"]], [IDS[1]["u"]]),
        ({"A", "B"}, ["A", "C"]),
        ([{"A", "B"}], [["A", "C"]]),
        ([["A", "B"]], [["A", "C"]]),
        ([[2, 1]], [["A", "C"]]),
    ],
)
@every_function
def test_ids_are_told_where_to_go(function, truth, listed):
    way = r"pass them as ndcg_score\(from_lists\(relevant, recommended, k=10\)\)\.$"
    with pytest.raises((TypeError, ValueError), match=way):
        function(truth, listed)


@every_function
@pytest.mark.parametrize(
    ("y_true", "y_score", "words"),
    [
        ([0.0, NAN], [1, 2], "^Input y_true contains NaN"),
        ([0.0, INF], [1, 2], "^Input y_true contains infinity"),
        ([0, 1], [NAN, 2], "^Input y_score contains NaN"),
        (
            [[0, 1]] * 3,
            [[1, 2]] * 2,
            r"^Found input variables with inconsistent .* samples: \[3, 2\]",
        ),
    ],
)
def test_errors_that_scikit_learn_has_begin_with_its_words(function, y_true, y_score, words):
    with pytest.raises(ValueError, match=words):
        function(y_true, y_score)


@pytest.mark.parametrize("option", ["gain", "discount"])
def test_a_callable_that_takes_no_arrays_is_told_of_numpy(option):
    with pytest.raises(TypeError, match=f"{option} gets an array of .* log10 failed: .* NumPy"):
        ndcg_score(Y, S, groups=G, **{option: math.log10})


def test_a_misspelled_option_names_the_nearest():
    with pytest.raises(TypeError, match="no option 'confidence'. Did you mean confidence_level?"):
        ndcg_interval(Y, S, groups=G, confidence=0.9)
