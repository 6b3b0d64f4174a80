"""Input of every kind, and bad input: each case with a part of its error message."""

import tracemalloc
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial
from tempfile import TemporaryFile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import graded_rows
from scipy import sparse
from sklearn import metrics

from sklearn_ndcg import (
    dcg_samples,
    dcg_score,
    explain_difference,
    jarvelin_kekalainen,
    make_ndcg_scorer,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
    quantile_grades,
)
from sklearn_ndcg.inference import compare_rankers, ndcg_interval

NAN, INF = np.nan, np.inf
LISTS = np.fromiter([[1, 0], [0, 1]], dtype=object, count=2)
Y, S, G = [1, 0, 2, 0], [4, 3, 2, 1], [1, 1, 2, 2]


class Unreadable:
    """Cannot be read as an array, like a torch tensor that requires grad."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


# y_true, y_score, options, a part of the message; for all five functions
DATA = {
    "1-D without groups": (Y, S, {}, r"y_true is 1-D.*\[y_true\], \[y_score\].*groups="),
    "different lengths": (Y, S[:3], {"groups": G}, r"same shape, got \(4,\) and \(3,\)"),
    "different widths": ([Y], [S[:3]], {}, r"same shape, got \(1, 4\) and \(1, 3\).*-inf"),
    "probabilities": (Y, np.ones((4, 2)), {"groups": G}, r"\(4, 2\).*np.round\(y_score @ gain, 10\).*classes_"),
    "one 2-D, one 1-D": ([Y], S, {}, r"got \(1, 4\) and \(4,\)\. A single ranking is \[y_true\]"),
    "2-D with groups": ([Y], [S], {"groups": [1]}, r"groups goes with 1-D.*\(1, 4\)"),
    "table with groups": (np.c_[Y, Y], np.c_[S, S], {"groups": G}, r"\(4, 2\).*multilabel.*pass that column"),
    "one column": (np.c_[Y], np.c_[S], {}, r"more than 1 document. Got 1 instead.*groups="),
    "empty": ([], [], {"groups": []}, "y_true.*not empty"),
    "empty scores": (Y, [], {"groups": G}, "y_score.*not empty"),
    "empty matrix": (np.ones((0, 3)), np.ones((0, 3)), {}, r"y_true.*empty.*\(0, 3\)"),
    "scalar": (1, 1, {}, r"y_true must be 1-D or 2-D.*\(\)"),
    "3-D": (np.ones((2, 2, 2)), np.ones((2, 2, 2)), {}, "y_true must be.*1-D or 2-D|dim 3"),
    "None": (None, S, {"groups": G}, "y_true must be"),
    "no scores": (Y, None, {"groups": G}, "y_score must be"),
    "ragged": ([[1, 2], [3]], [[1, 2], [3]], {}, "y_true must be an array of numbers, got list"),
    "text": (list("abcd"), S, {"groups": G}, "y_true must be an array of numbers.*'a'.*dict from word to grade"),
    "text in an array": (np.array(list("abcd")), S, {"groups": G}, "y_true.*'a'.*dict from word to grade"),
    "padding": ([[1, 0, 2], [1, NAN, NAN]], np.ones((2, 3)), {},
                r"2 NaN, the first at index \(1, 1\).*unjudged='omit' to .*with scores of -inf if they pad rows"),
    "holes": ([[1, NAN, 2, NAN], [1, 1, 1, NAN]], np.ones((2, 4)), {},
              r"y_true has 3 NaN, the first at index \(0, 1\)\. If NaN means unjudged"),
    "other labels in groups": (pd.Series(Y), pd.Series(S), {"groups": pd.Series(G, [2, 3, 4, 5])},
                               r"groups has labels.* lacks: 2 rows, the first at index 2.*to_numpy\(\)"),
    "other labels in a column": (pd.Series(Y), pd.Series(S), {"groups": [G, pd.Series(G, [0, 1, 2, 9])]},
                                 r"groups\[1\] has labels.* lacks: 1 row, at index 3"),
    "text scores": (Y, ["1", "2", "3", "4"], {"groups": G}, "y_score must be an array of numbers"),
    "bytes": (np.array([b"1", b"2", b"3", b"4"]), S, {"groups": G}, "y_true must be an array of"),
    "complex": (np.array(Y) * 1j, S, {"groups": G}, "y_true must be.*numbers"),
    "dates": (np.array(Y, "M8[D]"), S, {"groups": G}, "y_true must be an array of numbers"),
    "spans": (Y, np.array(S, "m8[D]"), {"groups": G}, "y_score must be an array of numbers"),
    "lists as objects": (LISTS, LISTS, {}, "y_true must be an array of numbers"),
    "objects": ([object()] * 4, S, {"groups": G}, "y_true must be an array of numbers"),
    "records": (np.zeros(4, "f8,f8"), S, {"groups": G}, "y_true must be an array of numbers"),
    "dict": ({"a": 1}, S, {"groups": G}, "y_true must be an array of numbers, got dict"),
    "set": (Y, set(S), {"groups": G}, "y_score must be an array of numbers, got set"),
    "generator": (Y, (s for s in S), {"groups": G}, "y_score must be.*numbers, got generator"),
    "unreadable": (Unreadable(), S, {"groups": G}, "y_true must be.*Unreadable.*requires grad"),
    "sparse scores": (np.ones((2, 3)), sparse.csr_array(np.ones((2, 3))), {},
                      r"y_score.*csr_array.*only y_true may be sparse.*y_score\.toarray\(\).*from_lists"),
    "sparse and complex": (sparse.csr_array(np.ones((2, 3)) * 1j), np.ones((2, 3)), {}, "y_true must be.*numbers.*[Cc]omplex"),
    "sparse and NaN": (sparse.csr_array([[0, 1, 0], [0, 0, NAN]]), np.ones((2, 3)), {}, r"1 NaN, at index \(1, 2\)"),
    "np.matrix": (np.ones((2, 3)).view(np.matrix), np.ones((2, 3)), {}, "y_true.*matrix"),
    "masked": (np.ma.array(Y, mask=[0, 1, 0, 0]), S, {"groups": G}, "y_true is a masked.*1 masked value, at index 1"),
    "masked scores": (Y, np.ma.array(S, mask=[1, 1, 0, 0]), {"groups": G}, "y_score.*2 masked"),
    "NaN relevance": ([1, NAN, NAN, 0], S, {"groups": G},
                      "y_true has 2 NaN, the first at index 1.*'zero'.*'omit'"),
    "NaN in a matrix": ([[1, 0], [0, NAN]], np.ones((2, 2)), {}, r"1 NaN, at index \(1, 1\)"),
    "missing relevance": (pd.Series([1, None, 0, 0], dtype="Int64"), S, {"groups": G}, "y_true.*1 NaN"),
    "null relevance": (pl.Series([1, None, 0, 0]), S, {"groups": G}, "y_true.*1 NaN"),
    "infinite relevance": ([1, INF, 0, 0], S, {"groups": G}, "y_true must be finite.*index 1"),
    "-inf relevance": ([1, 0, -INF, 0], S, {"groups": G}, "y_true must be finite.*index 2"),
    "inf beside NaN": ([NAN, INF, 0, 0], S, {"groups": G, "unjudged": "omit"}, "y_true must be finite"),
    "NaN score": (Y, [NAN, 1, NAN, 1], {"groups": G}, "y_score.*found 2 NaN or .inf.*index 0"),
    "+inf score": (Y, [1, 2, 3, INF], {"groups": G}, "y_score.*1 NaN or .inf, at index 3"),
    "missing score": (Y, pd.Series([1, None, 2, 3], dtype="Int64"), {"groups": G}, "y_score.*NaN"),
    "overflow": ([1e308] * 4, S, {"groups": [1] * 4}, "y_true.*more than a float64 holds.*first 1"),
    "exponential overflow": ([1, 1024, 0, 0], S, {"groups": G, "gain": "exponential"},
                             r"gain must be finite.*index 1.*y_true is 1024"),
    "groups of another length": (Y, S, {"groups": [1, 2]}, "groups must have one id.*4 rows.*got 2"),
    "sizes": (Y, S, {"groups": [4, 0]}, r"got 2.*look like group sizes.*np\.repeat\(np\.arange"),
    "NaN id": (Y, S, {"groups": [1, NAN, NAN, 2]}, "groups has 2 missing ids, the first at index 1"),
    "NaN id in an array": (Y, S, {"groups": np.array([1, NAN, 1, 2])}, "groups.*1 missing id.*index 1"),
    "None id": (Y, S, {"groups": ["a", None, "a", "b"]}, "groups.*1 missing id.*index 1"),
    "pandas NA id": (Y, S, {"groups": pd.array(["a", "b", None, "b"], dtype="string")},
                     "groups.*1 missing id, at index 2"),
    "NA integer id": (Y, S, {"groups": pd.array([1, None, 2, 2], dtype="Int64")}, "groups.*1 missing"),
    "polars null id": (Y, S, {"groups": pl.Series(["a", None, "b", "b"])}, "groups.*1 missing id"),
    "missing category": (Y, S, {"groups": pd.Categorical(["a", None, "b", "b"])}, "groups.*1 missing"),
    "NaT id": (Y, S, {"groups": np.array(["2026-01-01", "NaT"] * 2, "M8[D]")}, "groups.*2 missing id"),
    "NaT id in a list": (Y, S, {"groups": [pd.NaT, pd.Timestamp(0)] * 2}, "groups.*2 missing id"),
    "masked ids": (Y, S, {"groups": np.ma.array(G, mask=[1, 0, 0, 0])}, "groups is a masked.*1 masked"),
    "mixed ids": (Y, S, {"groups": [1, "1", 2, "2"]}, r"groups must be ids of one type.*int, str.*str\(id\)"),
    "unhashable ids": (Y, S, {"groups": [[1], [1], [2], [2]]}, "groups must be ids that can be hashed"),
    "3-D ids": (Y, S, {"groups": np.ones((4, 1, 1))}, r"groups must be 1-D.*\(4, 1, 1\)"),
    "scalar ids": (Y, S, {"groups": 1}, r"groups must be 1-D.*\(\)"),
    "generated ids": (Y, S, {"groups": (g for g in G)}, "groups must be 1-D"),
    "complex ids": (Y, S, {"groups": np.array(G) * 1j}, "groups must be ids that can be sorted"),
    "unreadable ids": (Y, S, {"groups": Unreadable()}, "groups must be an array of ids"),
    "gain": (Y, S, {"groups": G, "gain": "exp"}, "gain must be one of 'linear', 'exponential'.*'exp'"),
    "gain None": (Y, S, {"groups": G, "gain": None}, "gain must be one of.*None"),
    "gain number": (Y, S, {"groups": G, "gain": 3}, "gain must be finite numbers.*3"),
    "gain of text": (Y, S, {"groups": G, "gain": ["0", "1", "2"]}, "gain must be finite numbers"),
    "empty gain": (Y, S, {"groups": G, "gain": []}, r"gain must be finite numbers.*\[\]"),
    "NaN gain": (Y, S, {"groups": G, "gain": [0, 1, NAN]}, "gain must be finite numbers"),
    "huge gain": (Y, S, {"groups": G, "gain": [0, 1, 10**400]}, "gain must be finite numbers"),
    "series as gain": (Y, S, {"groups": G, "gain": pd.Series([0, 1, 3])}, "gain must be .* in a list, an array or a mapping"),
    "huge sizes": (Y, S, {"groups": [10**400]}, "groups must have one id.*got 1"),
    "missing part of an id": (Y, S, {"groups": [(1, None), (1, 2), (1, 2), (1, 2)]}, "groups.*1 missing id"),
    "missing part of an index": (Y, S, {"groups": pd.MultiIndex.from_arrays([[1, 1, 2, 2], [NAN, 1, 1, 1]])},
                                 "groups.*1 missing id.*index 0"),
    "set as gain": (Y, S, {"groups": G, "gain": {0, 1, 2}}, "gain must be finite numbers"),
    "bytes as gain": (Y, S, {"groups": G, "gain": b"abc"}, "gain must be finite numbers"),
    "keys that are one float": (Y, S, {"groups": G, "gain": {2**53: 1, 2**53 + 1: 5}}, "keys of gain must differ"),
    "discount of 0": (Y, S, {"groups": G, "discount": lambda r: r * 0}, "above 0 at rank 1.*0.0 at rank 1"),
    "too many ids": (Y, S, {"groups": [*G, 2]}, "groups must have one id for each of the 4 rows, got 5"),
    "list with None": ([1, None, 0, 0], S, {"groups": G}, "y_true.*1 NaN, at index 1"),
    "name of a column": (Y, S, {"groups": "qid"}, "groups must be 1-D.*got str.*not its name"),
    "set of ids": (Y, S, {"groups": set(G)}, "groups must be 1-D.*got set"),
    "nested gain": (Y, S, {"groups": G, "gain": [[0, 1]]}, "gain must be finite numbers"),
    "gain keys": (Y, S, {"groups": G, "gain": {"a": 1}}, "keys of gain must be finite numbers"),
    "gain values": (Y, S, {"groups": G, "gain": {1: "a"}}, "gain must be finite numbers"),
    "short table": (Y, S, {"groups": G, "gain": [0, 1]}, r"no entry for 1 value of y_true, the first 2.0.*\[0.0, 1.0\]"),
    "table for fractions": ([1, 0.5, 0, 0], S, {"groups": G, "gain": [0, 1]}, "no entry for 1 value.*0.5"),
    "missing grade": (Y, S, {"groups": G, "gain": {0: 0, 1: 1}}, r"no entry for 1 value.*2.0.*\[0.0, 1.0\]"),
    "missing grades": (Y, S, {"groups": G, "gain": {0: 0}}, r"no entry for 2 values of y_true, the first 1.0"),
    "gain of one number": (Y, S, {"groups": G, "gain": np.sum}, r"gain must return.*4 relevance.*sum.*\(\)"),
    "gain of text from a callable": (Y, S, {"groups": G, "gain": lambda y: y.astype(str)}, "gain must return"),
    "gain that is NaN": (Y, S, {"groups": G, "gain": lambda y: y * NAN}, "gain must be finite.*4 document"),
    "discount": (Y, S, {"groups": G, "discount": "log2"}, "discount must be one of 'log'.*callable.*'log2'"),
    "rising discount": (Y, S, {"groups": G, "discount": lambda r: r}, "discount must be finite.*2.0 at rank 2"),
    "negative discount": (Y, S, {"groups": G, "discount": lambda r: -r}, "discount must be.*-1.0 at rank 1"),
    "NaN discount": (Y, S, {"groups": G, "discount": lambda r: r * NAN}, "discount must be.*nan at rank 1"),
    "short discount": (Y, S, {"groups": G, "discount": lambda r: 1 / r[:1]}, r"discount must return.*shape \(1,\)"),
    "ties": (Y, S, {"groups": G, "ties": "random"}, "ties must be one of 'average', 'stable'.*'random'"),
    "ignore_ties": (Y, S, {"groups": G, "ignore_ties": "yes"}, "ignore_ties must be True or False"),
    "two rules for ties": (Y, S, {"groups": G, "ties": "best", "ignore_ties": True}, "ignore_ties=True.*'best'"),
    "unjudged": (Y, S, {"groups": G, "unjudged": "drop"}, "unjudged must be one of.*'drop'"),
}  # fmt: skip

FUNCTIONS = {
    "dcg_score": dcg_score,
    "ndcg_score": ndcg_score,
    "dcg_samples": dcg_samples,
    "ndcg_samples": ndcg_samples,
    "ndcg_curve": ndcg_curve,
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", DATA)
def test_bad_data(name, function):
    y_true, y_score, options, words = DATA[name]
    with pytest.raises((ValueError, TypeError), match=f"(?s){words}"):
        FUNCTIONS[function](y_true, y_score, **options)


good = {"groups": G}
CALLS = {
    "k zero": (partial(ndcg_score, Y, S, **good, k=0), "k must be an integer >= 1.*got 0"),
    "k negative": (partial(dcg_score, Y, S, **good, k=-1), "k must be.*got -1"),
    "k float": (partial(ndcg_samples, Y, S, **good, k=5.0), "k must be.*got 5.0"),
    "k bool": (partial(ndcg_score, Y, S, **good, k=True), "k must be.*got True"),
    "k text": (partial(dcg_samples, Y, S, **good, k="all"), "k must be.*'retrieved'.*'all'"),
    "k list": (partial(ndcg_score, Y, S, **good, k=[1, 2]), r"k must be.*\[1, 2\].*several cutoffs.*loop"),
    "k list of a comparison": (partial(compare_rankers, Y, {"a": S, "b": S}, **good, k=[1, 2]),
                               r"k must be.*\[1, 2\].*several cutoffs.*loop"),
    "curve of one": (partial(ndcg_curve, Y, S, **good, k=3), r"k must be a 1-D array.*k=\[1, 5, 10\]"),
    "curve of zero": (partial(ndcg_curve, Y, S, **good, k=[0, 1]), "k must be a 1-D array"),
    "curve of none": (partial(ndcg_curve, Y, S, **good, k=[]), "k must be a 1-D array"),
    "curve of text": (partial(ndcg_curve, Y, S, **good, k="retrieved"), "k must be a 1-D array"),
    "curve of None": (partial(ndcg_curve, Y, S, **good, k=[None]), "k must be a 1-D array"),
    "curve too far": (partial(ndcg_curve, Y, S, **good, k=[2**70]), "k must be a 1-D array"),
    "log_base": (partial(dcg_score, Y, S, **good, log_base=0), "log_base must be.*above 1, got 0"),
    "log_base 1": (partial(dcg_score, Y, S, **good, log_base=1), "log_base must be.*above 1, got 1"),
    "log_base text": (partial(dcg_score, Y, S, **good, log_base="e"), "log_base must be.*'e'"),
    "log_base inf": (partial(dcg_score, Y, S, **good, log_base=float("inf")), "log_base must be"),
    "log_base and callable": (partial(dcg_score, Y, S, **good, log_base=3, discount=np.exp),
                              "log_base=3 is the base of discount='log'"),
    "log_base elsewhere": (partial(dcg_score, Y, S, **good, log_base=3, discount="none"),
                           "log_base=3 is the base of discount='log'"),
    "negative relevance": (partial(ndcg_score, [1, -1, -2, 0], S, **good),
                           "should not be used on negative y_true values.*-1.0.*2 documents.*index 1"),
    "negative exponential": (partial(ndcg_score, [1, -1, 0, 0], S, **good, gain="exponential"),
                             "negative y_true values or gains: gain is -0.5"),
    "negative gain": (partial(ndcg_score, Y, S, **good, gain=[-1, 0, 1]),
                      "not be used on negative .* or gains: gain is -1.0 where y_true is 0.0"),
    "one negative gain": (partial(ndcg_score, [0, 1, 1, 1], S, **good, gain=[-1, 1]), " 1 document"),
    "undefined": (partial(ndcg_score, Y, S, **good, undefined="drop"),
                  "undefined must be one of 'warn', 'omit', 'raise'.*'drop'"),
    "undefined nan": (partial(ndcg_score, Y, S, **good, undefined=NAN), "'omit' leaves undefined"),
    "undefined None": (partial(ndcg_samples, Y, S, **good, undefined=None), r"got None\.$"),
    "undefined inf": (partial(ndcg_curve, Y, S, **good, undefined=INF), "got inf"),
    "undefined bool": (partial(ndcg_score, Y, S, **good, undefined=True), "got True"),
    "no weight left": (partial(ndcg_score, [NAN, 1, 1, 0], S, **good, unjudged="omit", sample_weight=[1, 0, 0, 0]),
                       "sample_weight is 0 for every query"),
    "weights of queries": (partial(ndcg_score, Y, S, **good, sample_weight=[1, 2]),
                           r"sample_weight.*each of the 4 rows.*\(2,\)"),
    "weights of rows": (partial(ndcg_score, [Y], [S], sample_weight=[1] * 4), r"the 1 rows.*\(4,\)"),
    "weights in 2-D": (partial(dcg_score, Y, S, **good, sample_weight=[[1] * 4]), r"\(1, 4\)"),
    "wide weight": (partial(ndcg_score, Y, S, **good, sample_weight=np.array([1, 1, 1, np.longdouble("1e4000")])),
                    "sample_weight must be finite|0 for every"),
    "negative weight": (partial(dcg_score, Y, S, **good, sample_weight=[1, 1, -1, 1]),
                        "sample_weight must be finite and >= 0.*found -1.*index 2"),
    "negative weight, 2-D": (partial(ndcg_score, [Y], [S], sample_weight=[-1]), "found -1"),
    "NaN weight": (partial(ndcg_score, Y, S, **good, sample_weight=[1, NAN, 1, 1]), "found nan"),
    "inf weight": (partial(ndcg_score, Y, S, **good, sample_weight=[1, INF, 1, 1]), "found inf"),
    "huge weight": (partial(ndcg_score, Y, S, **good, sample_weight=[1, 1, 1, 1e301]), "at most 1e300, found 1e"),
    "no weight": (partial(ndcg_score, Y, S, **good, sample_weight=[0] * 4), "sample_weight is 0 for every query"),
    "text weight": (partial(ndcg_score, Y, S, **good, sample_weight=list("abcd")),
                    "sample_weight must be an array of numbers"),
    "masked weight": (partial(ndcg_score, Y, S, **good, sample_weight=np.ma.array([1] * 4, mask=[1, 0, 0, 0])),
                      "sample_weight is a masked array"),
    "overflow in the ideal": (partial(ndcg_score, [1e308] * 4, S, groups=[7] * 4), "first 7"),
    "b": (partial(jarvelin_kekalainen, b=1), "b must be a finite number above 1, got 1"),
    "b text": (partial(jarvelin_kekalainen, b="2"), "b must be"),
    "b infinite": (partial(jarvelin_kekalainen, b=INF), "b must be"),
    "huge log_base": (partial(dcg_score, Y, S, **good, log_base=10**400), "log_base must be"),
    "huge replacement": (partial(ndcg_score, Y, S, **good, undefined=10**400), "undefined"),
    "log_base that is 1 as a float": (
        partial(dcg_score, Y, S, **good, log_base=Fraction(10**30 + 1, 10**30)), "log_base must be"),
    "log_base that is inf as a float": (
        partial(dcg_score, Y, S, **good, log_base=np.longdouble("1e4000")), "log_base must be"),
    "b that is 1 as a float": (
        partial(jarvelin_kekalainen, Fraction(10**30 + 1, 10**30)), "b must be"),
    "gains beyond float64": (
        partial(ndcg_score, Y, S, **good, gain=lambda y: y * np.longdouble("1e4000")),
        "gain must be finite"),
    "discounts beyond float64": (
        partial(ndcg_score, Y, S, **good, discount=lambda r: np.longdouble("1e4000") / r),
        "discount must be finite"),
    "huge b": (partial(jarvelin_kekalainen, b=10**400), "b must be"),
}  # fmt: skip


@pytest.mark.xfail(strict=True, reason="Python refuses to print an integer of 5000 digits")
def test_a_cutoff_of_5000_digits_is_named():
    with pytest.raises(ValueError, match="k must be"):
        ndcg_score(Y, S, **good, k=-(10**5000))


@pytest.mark.parametrize("name", CALLS)
def test_bad_call(name):
    call, words = CALLS[name]
    with pytest.raises((ValueError, TypeError), match=f"(?s){words}"):
        call()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_unknown_keywords_are_type_errors(function):
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        FUNCTIONS[function](Y, S, groups=G, at=3)
    with pytest.raises(TypeError, match="positional argument"):
        FUNCTIONS[function](Y, S, G)


def test_no_warning_of_numpy_comes_through():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="float64"):
            dcg_score([[1e308, 1e308, 1e308]], [[1, 1, 1]])
        with pytest.raises(ValueError, match="finite"):
            ndcg_score([[5000, 1]], [[1, 2]], gain="exponential")


# --- numbers of every kind

_, RELEVANCE, QUERIES = graded_rows(20, (5, 5))
RELEVANCE = RELEVANCE.astype(float)
SCORES = np.random.default_rng(1).integers(0, 4, 100).astype(float)
EVERY_FUNCTION = {
    "ndcg_score": lambda y, s, g: ndcg_score(y, s, groups=g),
    "dcg_score": lambda y, s, g: dcg_score(y, s, groups=g),
    "ndcg_samples": lambda y, s, g: ndcg_samples(y, s, groups=g),
    "dcg_samples": lambda y, s, g: dcg_samples(y, s, groups=g),
    "ndcg_curve": lambda y, s, g: ndcg_curve(y, s, groups=g)[1],
    "ndcg_interval": lambda y, s, g: ndcg_interval(y, s, groups=g, method="t").ndcg,
    "compare_rankers": lambda y, s, g: compare_rankers(y, {"a": s, "b": s}, groups=g).difference,
    "quantile_grades": lambda y, s, g: quantile_grades(s, groups=g),
}


class Bare:
    """Has only ``__array__``, without the arguments that NumPy 2 passes."""

    def __init__(self, values):
        self.values = values

    def __array__(self):
        return self.values


def read_only_map(values):
    with TemporaryFile() as file:
        mapped = np.memmap(file, values.dtype, shape=values.shape, mode="w+")
    mapped[:] = values
    mapped.flags.writeable = False
    return mapped


@pytest.mark.parametrize(
    "make",
    [
        Bare,
        read_only_map,
        tuple,
        np.ma.array,
        lambda v: v[::-1].copy()[::-1],
        lambda v: v.astype(np.float16),
        lambda v: v.astype(np.longdouble),
        lambda v: v.astype(">i2"),
        lambda v: v.astype(object),
        lambda v: v.astype(np.uint64),
        lambda v: np.rec.fromarrays([v, v], names="a,b")["a"],
        lambda v: np.lib.stride_tricks.as_strided(np.repeat(v, 2), v.shape, (16,), writeable=False),
        lambda v: v.view(type("Mine", (np.ndarray,), {})),
        lambda v: pd.Series(v, dtype="Float64"),
        lambda v: pd.Series(v, dtype="Int8"),
        lambda v: pd.Series(v, dtype="double[pyarrow]"),
        lambda v: pd.Series(v, dtype="uint8[pyarrow]"),
        lambda v: pd.Series(pd.arrays.SparseArray(v)),
        pd.Index,
        lambda v: pa.array(v).cast(pa.decimal128(25, 2)),
        lambda v: pa.array(v, pa.float32()),
        lambda v: pa.chunked_array([v[:7], v[7:]]),
        lambda v: pd.Series(v, index=range(len(v), 0, -1)),
        lambda v: pl.Series(v).cast(pl.UInt8),
        lambda v: pl.Series(v).cast(pl.Float32),
        memoryview,
        lambda v: list(map(int, v)),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:NDCG is undefined", "ignore:. queries")
def test_numbers_of_every_kind(make):
    for name, call in EVERY_FUNCTION.items():
        found = call(make(RELEVANCE), make(SCORES), make(QUERIES))
        np.testing.assert_array_equal(found, call(RELEVANCE, SCORES, QUERIES), err_msg=name)


MISSING = [1, None, 0, 3, 2, 1]


NULLABLE = {
    "Int64": lambda: pd.Series(MISSING, dtype="Int64"),
    "Float32": lambda: pd.Series(MISSING, dtype="Float32"),
    "int64[pyarrow]": lambda: pd.Series(MISSING, dtype="int64[pyarrow]"),
    "double[pyarrow]": lambda: pd.Series(MISSING, dtype="double[pyarrow]"),
    "null and NaN": lambda: pd.Series(
        pa.array([1.0, None, 0, 3, 2, 1]), dtype=pd.ArrowDtype(pa.float64())
    ),
    "pyarrow": lambda: pa.array(MISSING),
    "polars": lambda: pl.Series(MISSING),
    "list": lambda: MISSING,
    "object": lambda: np.array(MISSING, dtype=object),
    "boolean": lambda: pd.Series([True, None, False, True, False, True], dtype="boolean"),
    "pandas.NA in objects": lambda: pd.Series([1, pd.NA, 0, 3, 2, 1], dtype=object),
}


if pd.__version__ < "2.3":
    del NULLABLE["int64[pyarrow]"]  # which NumPy cannot read there


@pytest.mark.parametrize("name", NULLABLE)
@pytest.mark.parametrize("unjudged", ["zero", "omit"])
def test_missing_relevance_of_every_kind(name, unjudged):
    options = {"groups": [1, 1, 1, 2, 2, 2], "unjudged": unjudged}
    y = [1, np.nan, 0, 1, 0, 1] if name == "boolean" else [1, np.nan, 0, 3, 2, 1]
    expected = ndcg_samples(y, [1, 2, 3, 3, 1, 2], **options)
    found = ndcg_samples(NULLABLE[name](), [1, 2, 3, 3, 1, 2], **options)
    np.testing.assert_array_equal(found, expected)


# --- sparse relevance: the values of the dense matrix, to the last bit


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_relevance_has_the_value_of_the_dense(form, kind):
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.3, (40, 30)).astype(kind)
    dense = dense / np.float32(2) if np.dtype(kind).kind == "f" else dense
    score = rng.integers(0, 6, dense.shape).astype(float)  # ties
    score[rng.random(dense.shape) < 0.1] = -INF
    for each in (getattr(sparse, f"{form}_array")(dense), getattr(sparse, f"{form}_matrix")(dense)):
        for k in (None, 1, 5, "retrieved"):
            for options in ({}, {"ties": "worst"}, {"gain": "exponential"}, {"discount": "none"}):
                for function in (ndcg_samples, dcg_samples):
                    found = function(each, score, k=k, **options)
                    np.testing.assert_array_equal(found, function(dense, score, k=k, **options))
        weight = rng.random(40)
        for function in (ndcg_score, dcg_score, ndcg_curve):
            found, expected = (function(y, score, sample_weight=weight) for y in (each, dense))
            np.testing.assert_array_equal(found, expected)
        finite = np.maximum(score, -1)
        assert ndcg_score(each, finite) == pytest.approx(
            metrics.ndcg_score(dense, finite), abs=1e-12
        )


def test_sparse_relevance_in_intervals_comparisons_and_scorers():
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.5, (40, 20))
    scores = {"a": rng.normal(size=dense.shape), "b": rng.normal(size=dense.shape)}

    class Model:
        def predict(self, X):
            return scores["a"]

    def results(y_true):
        yield ndcg_interval(y_true, scores["a"], random_state=0, k=5)
        yield compare_rankers(y_true, scores, random_state=0, k=5)
        yield explain_difference(y_true, scores["a"], "sklearn", "lightgbm")
        yield make_ndcg_scorer(k=5, response_method="predict")(Model(), np.ones((40, 2)), y_true)

    assert list(map(repr, results(sparse.csr_array(dense)))) == list(map(repr, results(dense)))


def test_sparse_relevance_that_is_stored_twice_is_added():
    places = [0, 0, 0, 1], [2, 2, 0, 1]
    twice = sparse.coo_array(([200, 100, 0, 1], places), shape=(2, 3))
    unsummed = sparse.csr_array(([200, 100, 0, 1], [2, 2, 0, 1], [0, 3, 4]), shape=(2, 3))
    unsummed.has_canonical_format = False
    for y_true in (twice, unsummed):
        found = ndcg_samples(y_true, [[1, 2, 3], [3, 2, 1]])
        np.testing.assert_array_equal(found, [1, 1 / np.log2(3)])
        assert dcg_score(y_true, [[1, 2, 3], [1, 2, 3]], k=1) == 150
        assert y_true.nnz == 4  # not changed


def test_sparse_relevance_of_nothing_and_of_unjudged_documents():
    nothing = sparse.csr_array((2, 3))
    assert ndcg_score(nothing, np.ones((2, 3)), undefined=0.5) == 0.5
    unjudged = sparse.csr_array([[NAN, 0, 1], [0, 2, 0]])
    expected = ndcg_samples(unjudged.toarray(), [[3, 2, 1]] * 2, unjudged="omit")
    found = ndcg_samples(unjudged, [[3, 2, 1]] * 2, unjudged="omit")
    np.testing.assert_array_equal(found, expected)


def test_sparse_grades_take_a_byte_per_document():
    rng = np.random.default_rng(0)
    dense = rng.binomial(4, 0.01, size=(500, 2000)).astype(float)
    score, peaks = rng.random(dense.shape), []
    for y_true in (dense[:2], dense, sparse.csr_array(dense)):  # the first call fills caches
        tracemalloc.start()
        try:
            ndcg_score(y_true, score[: y_true.shape[0]], k=10)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[2] < peaks[1] + dense.size  # a dense copy has 8 bytes per document


# --- what is refused by every function


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
    "four-dimensional": np.zeros((1, 1, 2, 3)),
    "frame of text": pd.DataFrame([["a", "b", "c"], ["a", "b", "c"]]),
    "frame of dates": pd.DataFrame([[pd.Timestamp(0)] * 3] * 2),
    "string array": np.array(
        [["1", "2", "3"]] * 2, dtype=getattr(np.dtypes, "StringDType", lambda: "S1")()
    ),
    "void": np.zeros((2, 3), dtype="V8"),
    "itself": (ITSELF := []),
}


ITSELF.append(ITSELF)


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("function", [ndcg_score, dcg_score, ndcg_samples, dcg_samples, ndcg_curve])
def test_refused_with_the_name_of_the_argument(what, function):
    bad = REFUSED[what]
    with pytest.raises((TypeError, ValueError), match="y_true"):
        function(bad, SMALL)
    with pytest.raises((TypeError, ValueError), match="y_score"):
        function(SMALL, bad)
    if "samples" not in function.__name__:
        with pytest.raises((TypeError, ValueError), match="sample_weight"):
            function(SMALL, SMALL, sample_weight=bad)
    with pytest.raises((TypeError, ValueError), match="groups"):
        function(SMALL.ravel(), SMALL.ravel(), groups=bad)


@pytest.mark.parametrize("what", [what for what in REFUSED if "frame" not in what])
def test_refused_as_a_table(what):
    pytest.importorskip("narwhals", reason="the extra `frames` is not installed")
    from sklearn_ndcg import frames  # noqa: PLC0415

    with pytest.raises(TypeError, match="frame must be a table"):
        frames.ndcg_score(REFUSED[what], y_true="y", y_score="s", groups="q")


@pytest.mark.parametrize("what", REFUSED)
def test_refused_by_the_other_functions(what):
    bad = REFUSED[what]
    for call, name in [
        (lambda: quantile_grades(bad), "^y must"),
        (lambda: ndcg_interval(bad, SMALL), "y_true"),
        (lambda: compare_rankers(SMALL, {"a": SMALL, "b": bad}), "y_score"),
    ]:
        with pytest.raises((TypeError, ValueError), match=name):
            call()


@pytest.mark.xfail(strict=True, reason="NumPy makes floats of negative integers beside uint64")
def test_huge_scores_keep_their_order():
    assert ndcg_score([[0, 1, 2]], [[-1, 2**63, 2**63 + 1]]) == 1


def test_a_table_of_one_column_with_groups_is_that_column():
    column, score = np.c_[Y], pd.DataFrame({"score": S})
    for y_true, y_score in ((column, S), (Y, score), (column, score)):
        assert ndcg_score(y_true, y_score, groups=G) == ndcg_score(Y, S, groups=G)
    # without groups each row would be a query
    with pytest.raises(ValueError, match="more than 1 document"):
        ndcg_score(column, score)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "exact",
    [lambda i: 2**70 + i, lambda i: Decimal(2**60 + i) / 4, lambda i: Fraction(2**60 + i, 3)],
    ids=["int", "Decimal", "Fraction"],
)
def test_scores_that_float64_ties_keep_their_order(exact, sign):
    order = np.random.default_rng(0).permutation(60)
    y_true = np.arange(60) % 5
    scores = [sign * exact(i) for i in order.tolist()]
    assert len(set(map(float, scores))) < 60
    groups = np.arange(60) // 20
    expected = ndcg_score(y_true, sign * order, groups=groups)
    for given in (scores, np.array(scores, dtype=object), pd.Series(scores, dtype=object)):
        assert ndcg_score(y_true, given, groups=groups) == expected
    matrix = np.array(scores, dtype=object).reshape(3, 20)
    assert ndcg_score(y_true.reshape(3, 20), matrix) == expected
    with pytest.raises(ValueError, match="found 1 NaN or \\+inf, at index 1"):
        ndcg_score([1, 0, 2], [scores[0], None, scores[1]], groups=[1, 1, 1])


def test_a_decimal_below_every_float_is_a_score():
    scores = np.array([Decimal("-1E400"), Decimal("-Infinity"), Decimal(1)], dtype=object)
    # two are retrieved, and the relevant one is the second
    assert dcg_score([[1, 1, 0]], [scores], k="retrieved") == pytest.approx(1 / np.log2(3))


IDS = {"u": {"A": 0.1, "B": 0.5}, "v": {"C": 1}}, {"u": ["A", "C"], "v": ["C"]}


@pytest.mark.parametrize("function", [ndcg_score, dcg_score, ndcg_curve])
def test_only_ids_must_have_the_labels_of_the_rows(function):
    rows = {"y_true": pd.Series(Y), "y_score": pd.Series(S), "groups": G}
    weight = pd.Series([1, 2, 3, 4], index=[2, 3, 4, 5])
    expected = function(**rows, sample_weight=weight.to_numpy())
    np.testing.assert_equal(function(**rows, sample_weight=weight), expected)


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
@pytest.mark.parametrize("function", [ndcg_score, dcg_score, ndcg_samples, ndcg_curve])
def test_ids_are_told_where_to_go(function, truth, listed):
    way = r"pass them as ndcg_score\(\*\*from_lists\(relevant, recommended\), k=10\)\.$"
    with pytest.raises((TypeError, ValueError), match=way):
        function(truth, listed)


def test_rows_without_groups_are_told_of_a_single_ranking_first():
    with pytest.raises(ValueError, match=r"missing\. Pass \[y_true\], \[y_score\] if") as caught:
        ndcg_score([1, 0, 1], [0.3, 0.2, 0.1])
    assert "XGBoost" not in str(caught.value)
