"""Bad input: the error names the argument, what was found, and the way out."""

import math
import re
from inspect import isfunction, signature

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sklearn_ndcg
from sklearn_ndcg import (
    _checks,
    dcg_samples,
    dcg_score,
    explain_query,
    from_lists,
    inference,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
)
from sklearn_ndcg.inference import compare_rankers, ndcg_interval

NAN, INF = np.nan, np.inf
Y, S, G = [1, 0, 2, 0], [4, 3, 2, 1], [1, 1, 2, 2]
FUNCTIONS = [dcg_score, ndcg_score, dcg_samples, ndcg_samples, ndcg_curve]
every_function = pytest.mark.parametrize("function", FUNCTIONS)
ERRORS = ValueError, TypeError
MATRIX = np.ones((2, 3))
EYE = np.eye(2)


class Unreadable:
    """Cannot be read as an array, like a torch tensor that requires grad."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


# for each argument, bad values beside good ones of the others, and a part of the message

RELEVANCE = {
    "scalar": (1, r"y_true must be 1-D or 2-D.*\(\)"),
    "None": (None, r"y_true must be an array of numbers, got None\.$"),
    "text": (list("abcd"), "y_true must be an array of numbers.*'a'.*dict from word to grade"),
    "digits as text": (np.array([1, "2", 0, 0], dtype=object), "y_true .*'2'.*from word to grade"),
    "unreadable": (Unreadable(), "y_true must be.*Unreadable.*requires grad"),
    "masked": (np.ma.array(Y, mask=[0, 1, 0, 0]), "y_true is .*masked.*1 masked value, at index 1"),
    "NaN": ([1, NAN, NAN, 0], "y_true contains NaN: 2 NaN, .* index 1.*'zero'.*'omit'"),
    "infinite": ([1, INF, 0, 0], "Input y_true contains infinity: .*index 1"),
    "ragged": ([[1, 2], [3]], "y_true .* list: its rows have 1 to 2 values.*groups="),
}
SCORES = {
    "shorter": (S[:3], r"same shape, got \(4,\) and \(3,\)"),
    "one per class": (
        np.ones((4, 2)),
        r"\(4, 2\)\. One score .*np.round\(y_score @ gain.*classes_",
    ),
    "empty": ([], "y_score.*not empty"),
    "None": (None, "y_score is missing. Only rows of from_lists.* explain_query"),
    "NaN": ([NAN, 1, NAN, 1], "y_score.*contains NaN: 2 NaN or .inf.*index 0"),
    "+inf": ([1, 2, 3, INF], "y_score.*contains infinity: 1 NaN or .inf, at index 3"),
}
GROUPS = {
    "missing": (None, r"y_true (?=.*\[y_true\])(?=.*\[y_score\]).*groups="),
    "sizes": ([4, 0], r"got 2.*look like group sizes.*np\.repeat\(np\.arange"),
    "huge sizes": ([10**400], "groups must have one id.*got 1"),
    "mixed": ([1, "1", 2, "2"], r"groups must be ids of one type.*int, str.*str\(id\)"),
    "3-D": (np.ones((4, 1, 1)), r"groups must be 1-D.*\(4, 1, 1\)"),
    "unreadable": (Unreadable(), "groups must be an array of ids"),
    "name of a column": ("qid", "groups must be 1-D.*'qid'.*not its name"),
}
GAINS = {
    "a series": (pd.Series([0, 1, 3]), "gain must be .* in a list or an array; got"),
    "a mapping": ({0: 0, 1: 1}, r"gain must be .* in a list or an array; got \{0: 0, 1: 1\}"),
    "several": ([0], r"no entry for 2 values of y_true, the first 1.0"),
    "short": ([0, 1], r"no entry for 1 value of y_true, the first 2.0.*the grades 0 to 1\."),
    "one number": (np.sum, r"gain must return.*4 relevance.*sum.*\(\)"),
    "NaN": (lambda y: y * NAN, "gain must be finite.*4 document"),
    "masked": (lambda y: np.ma.masked_equal(y, 0), "what gain returned is a masked array with 2"),
    "of math": (math.log10, "gain gets an array of .* log10 failed: .* NumPy"),
    "with an if": (lambda y: y if y > 1 else 0, "gain gets an array of .* failed: .*vectorize"),
}
DISCOUNTS = {
    "zero": (lambda r: r * 0, "above 0 at rank 1.*0.0 at rank 1"),
    "rising": (lambda r: r, "discount must be finite.*2.0 at rank 2"),
    "NaN": (lambda r: r * NAN, "discount must be.*nan at rank 1"),
    "infinite": (lambda r: INF / r, "discount must be finite.*inf at rank 1"),
    "short": (lambda r: 1 / r[:1], r"discount must return.* of the \d ranks .*shape \(1,\)"),
}
WEIGHTS = {
    "shorter": ([1, 2], r"sample_weight.* each of the 4 rows.*\(2,\)"),
    "2-D": ([[1] * 4], r"sample_weight.*\(1, 4\)"),
    "text": (list("abcd"), "^sample_weight must be an array of numbers(?!.*from_lists).*'a'"),
    "negative": ([1, 1, -1, 1], "sample_weight must be finite and >= 0.*found -1.*index 2"),
    "NaN": ([1, NAN, 1, 1], "sample_weight.*found nan"),
    "large": ([1, 1, 1, 1e301], "sample_weight.*at most 1e300, found 1e"),
    "zero": ([0] * 4, "sample_weight is 0"),
}
BAD = {"y_true": RELEVANCE, "y_score": SCORES, "groups": GROUPS, "gain": GAINS}
BAD |= {"discount": DISCOUNTS, "sample_weight": WEIGHTS}
CASES = [
    pytest.param(argument, value, words, id=f"{argument}: {name}")
    for argument, table in BAD.items()
    for name, (value, words) in table.items()
]


@pytest.mark.parametrize(("argument", "value", "words"), CASES)
def test_an_argument_that_is_wrong_alone(argument, value, words):
    arguments = {"y_true": Y, "y_score": S, "groups": G} | {argument: value}
    with pytest.raises(ERRORS, match=f"(?s){words}"):
        ndcg_score(**arguments)


@pytest.mark.parametrize("argument", BAD)
@every_function
def test_every_function_checks_its_arguments(function, argument):
    if argument in signature(function).parameters:
        arguments = {"y_true": Y, "y_score": S, "groups": G} | {argument: np.ma.array(Y, mask=Y)}
        with pytest.raises(ERRORS, match=argument):
            function(**arguments)


# y_true, y_score, options, and a part of the message
PADDED = [[1, 0, 2], [1, NAN, NAN]]
HOLES = [[1, NAN, 2], [NAN, 1, 1]]
HUGE = [1e308] * 4
OMIT = {"groups": G, "unjudged": "omit"}
ZERO = {"groups": G, "unjudged": "zero"}
EXPONENTIAL = {"groups": G, "gain": "exponential"}
TWO_RULES = {"groups": G, "ties": "best", "ignore_ties": True}
TOGETHER = {
    "different widths": ([Y], [S[:3]], {}, r"same shape, got \(1, 4\) and \(1, 3\).*-inf"),
    "one 2-D, one 1-D": ([Y], S, {}, r"got \(1, 4\) and \(4,\)\. A single ranking is \[y_true\]"),
    "classes, no groups": (Y, np.eye(4, 3), {}, r"3 columns.*\[:, None\] == classes_.*groups="),
    "2-D with groups": ([Y], [S], {"groups": [1]}, r"groups goes with 1-D.*\(1, 4\)"),
    "table": (MATRIX, MATRIX, {"groups": [1, 2]}, r"\(2, 3\).*multilabel.*pass that column"),
    "one column": (np.c_[Y], np.c_[S], {}, "more than 1 document. Got 1 instead.*groups="),
    "empty": ([], [], {"groups": []}, "y_true.*not empty"),
    "padding": (PADDED, MATRIX, {}, r"2 NaN, .*\(1, 1\).*scores of -inf if they pad rows"),
    "holes": (HOLES, MATRIX, {}, r"2 NaN, .*\(0, 1\)\. If NaN means unjudged"),
    "sparse scores": (EYE, sparse.csr_array(EYE), {}, r"y_score must .*toarray\(\).*from_lists"),
    "sparse relevance": (sparse.coo_array(EYE), EYE, {}, r"y_true must .*toarray\(\).*from_lists"),
    "np.matrix": (MATRIX.view(np.matrix), MATRIX, {}, "y_true.*matrix"),
    "overflow": (HUGE, S, {"groups": [1] * 4}, "y_true.*more than a float64 holds.*first 1"),
    "infinity beside NaN": ([NAN, INF, 0, 0], S, OMIT, "Input y_true contains infinity"),
    "2**1024": ([1, 1024, 0, 0], S, EXPONENTIAL, "finite.*index 1.*y_true is 1024"),
    "no gain, unjudged": ([NAN, 1, 2, 0], S, ZERO | {"gain": [0, 1]}, "no entry .*at index 2"),
    "two rules for ties": (Y, S, TWO_RULES, "ignore_ties=True.*'best'"),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_arguments_that_do_not_go_together(name):
    y_true, y_score, options, words = TOGETHER[name]
    with pytest.raises(ERRORS, match=f"(?s){words}"):
        ndcg_score(y_true, y_score, **options)


VALUES = {  # that an option refuses by its name, with what was found
    "k": [0, 5.0, True, "all", [1, 2]],
    "gain": ["exp", None, ["0", "1"], [], [0, NAN], {0, 1, 2}, np.array(5)],
    "discount": ["log2", 2],
    "log_base": [1, "e", INF, 10**400, np.array([2.0, 2.0])],
    "ties": ["random"],
    "ignore_ties": ["yes"],
    "unjudged": ["drop"],
    "undefined": ["drop", None, NAN, True, 10**400, -0.1, 1.01],
}


@pytest.mark.parametrize(
    ("option", "value"), [(name, value) for name, values in VALUES.items() for value in values]
)
def test_a_bad_value_of_an_option_is_shown(option, value):
    function = dcg_score if option == "log_base" else ndcg_score
    with pytest.raises(ERRORS, match=f"^{option} must be .*{re.escape(repr(value))}"):
        function(Y, S, groups=G, **{option: value})


@pytest.mark.parametrize("k", [3, [0, 1], [], "retrieved", [2**70]])
def test_bad_cutoffs_of_a_curve(k):
    with pytest.raises(ValueError, match=r"k must be a 1-D array.*k=\[1, 5, 10\]"):
        ndcg_curve(Y, S, groups=G, k=k)


@pytest.mark.parametrize("discount", [np.exp, "none"])
def test_a_base_without_a_logarithm_is_refused(discount):
    with pytest.raises(ValueError, match="log_base=3 is the base of discount='log'"):
        dcg_score(Y, S, groups=G, log_base=3, discount=discount)


@pytest.mark.parametrize(
    ("y_true", "gain", "words"),
    [
        (
            [1, -1, -2, 0],
            "linear",
            "negative y_true values.*-1.0.*2 documents.*index 1.*quantile_g",
        ),
        ([1, -1, 0, 0], "exponential", "negative y_true values or gains: gain is -0.5"),
        (Y, [-1, 0, 1], "negative .* or gains: gain is -1.0 where y_true is 0.0"),
    ],
)
def test_negative_gains_have_no_ndcg(y_true, gain, words):
    with pytest.raises(ValueError, match=words):
        ndcg_score(y_true, S, groups=G, gain=gain)


def test_what_the_error_says_of_no_label_gives_the_right_number():
    y_true = np.array([[2.0, 0, -1], [0, 1, -1]])
    y_score = np.array([[0.2, 0.5, 0.9], [0.3, 0.6, 0.9]])
    with pytest.raises(
        ValueError, match="-1 means that there is no label, pass NaN .*unjudged='omit'"
    ):
        ndcg_score(y_true, y_score)
    y_true[y_true == -1] = NAN
    # the grades in order are 0, 2 and 1, 0
    expected = (1 / np.log2(3) + 1) / 2
    assert ndcg_score(y_true, y_score, unjudged="omit") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("function", [ndcg_score, dcg_score, ndcg_curve])
def test_the_only_weight_is_on_an_omitted_row(function):
    options = {"groups": G, "unjudged": "omit", "sample_weight": [1, 0, 0, 0]}
    with pytest.raises(ValueError, match="sample_weight is 0"):
        function([NAN, 1, 1, 0], S, **options)


ITSELF = []
ITSELF.append(ITSELF)
REFUSED = {
    "generator": (row for row in MATRIX),
    "dict": {0: [1, 0, 2], 1: [0, 1, 0]},
    "structured": np.zeros(2, dtype="f8,f8,f8"),
    "text": "101",
    "function": len,
    "zero-dimensional": np.array(1.0),
    "three-dimensional": np.zeros((1, 2, 3)),
    "frame of text": pd.DataFrame([["a", "b", "c"], ["a", "b", "c"]]),
    "frame of dates": pd.DataFrame([[pd.Timestamp(0)] * 3] * 2),
    "array of bytes": np.array([[b"1", b"2", b"3"]] * 2),
    "objects": np.array([[object()] * 3] * 2),
    "itself": ITSELF,
}
if hasattr(np.dtypes, "StringDType"):
    REFUSED["strings of NumPy 2"] = np.array([["1", "2", "3"]] * 2, np.dtypes.StringDType())


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_array_is_no_relevance(kind):
    with pytest.raises(ERRORS, match="y_true"):
        ndcg_score(REFUSED[kind], MATRIX)


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_array_is_no_groups(kind):
    with pytest.raises(ERRORS, match="groups"):
        ndcg_score(MATRIX.ravel(), MATRIX.ravel(), groups=REFUSED[kind])


@pytest.mark.parametrize("argument", ["y_true", "y_score", "sample_weight"])
def test_text_is_a_wrong_value_as_in_scikit_learn(argument):
    arguments = {"y_true": [0, 1], "y_score": [0, 1], "groups": [1, 1]}
    with pytest.raises(ValueError, match=f"{argument} must be .* text"):
        ndcg_score(**arguments | {argument: ["a", "b"]})


class TooLarge:
    def __array__(self, dtype=None, copy=None):
        raise MemoryError


@pytest.mark.parametrize("argument", ["y_true", "y_score", "groups", "sample_weight"])
def test_memory_that_runs_out_is_not_bad_input(argument):
    row = [0, 1, 1]
    arguments = {"y_true": row, "y_score": row, "groups": row, "sample_weight": row}
    with pytest.raises(MemoryError):
        ndcg_score(**arguments | {argument: TooLarge()})


def test_the_ranker_whose_scores_are_wrong_is_named():
    with pytest.raises(ValueError, match="y_score must have the same shape") as caught:
        compare_rankers(MATRIX, {"good": MATRIX, "bad": MATRIX.T})
    assert caught.value.__notes__ == ["While comparing the ranker 'bad'."]
    with pytest.raises(ValueError, match=r"^Input y_scores\['bad'\] contains NaN"):
        compare_rankers(MATRIX, {"good": MATRIX, "bad": MATRIX * NAN})


GRADES, LISTED = {"A": 0.1, "B": 0.5}, ["A", "C"]
TRUTHS_AND_LISTS = {
    "by user": ({"u": GRADES}, {"u": LISTED}),
    "of one user": (GRADES, LISTED),
    "grades": ([GRADES], [LISTED]),
    "lists": ([["A", "B"]], [LISTED]),
}


@pytest.mark.parametrize("case", TRUTHS_AND_LISTS)
def test_ids_are_told_where_to_go(case):
    way = r"pass them as ndcg_score\(from_lists\(relevant, recommended, k=10\)\)\.$"
    with pytest.raises(ERRORS, match=way):
        ndcg_score(*TRUTHS_AND_LISTS[case])


@pytest.mark.parametrize(
    ("y_true", "y_score", "words"),
    [
        ([0.0, NAN], [1, 2], "Input y_true contains NaN"),
        ([0.0, INF], [1, 2], "Input y_true contains infinity"),
        ([0, 1], [NAN, 2], "Input y_score contains NaN"),
        ([[0, 1]] * 3, [[1, 2]] * 2, r"Found input variables with inconsistent .*: \[3, 2\]"),
    ],
)
def test_errors_that_scikit_learn_has_begin_with_its_words(y_true, y_score, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        ndcg_score(y_true, y_score)


# --- other words


def functions_with_groups():
    """Public functions that take groups, and arguments without which they cannot be called."""
    for module in (sklearn_ndcg, inference):
        for function in map(vars(module).get, module.__all__):
            parameters = signature(function).parameters if isfunction(function) else {}
            if "groups" in parameters:
                needed = [p.name for p in parameters.values() if p.default is p.empty]
                needed = dict.fromkeys(needed, Y) | {"y_score": S}
                needed = {name: value for name, value in needed.items() if name in parameters}
                needed.pop("options", None)
                yield pytest.param(function, needed, id=f"{module.__name__}.{function.__name__}")


@pytest.mark.parametrize("word", sorted(_checks.WORDS_FOR_GROUPS))
@pytest.mark.parametrize(("function", "needed"), list(functions_with_groups()))
def test_other_words_for_groups_are_named(function, needed, word):
    message = f"^{function.__name__} has no option '{word}'. Pass groups\\."
    with pytest.raises(TypeError, match=message):
        function(**needed, **{word: G})


@pytest.mark.parametrize("function", [sklearn_ndcg.make_ndcg_scorer, sklearn_ndcg.make_dcg_scorer])
def test_words_for_groups_of_a_scorer_are_group_by(function):
    with pytest.raises(TypeError, match="has no option 'qid'. Pass group_by"):
        function(qid="q")


# --- which value is named


@pytest.mark.parametrize("first", [7, 0.5, -1, 2**70])
def test_the_first_relevance_without_a_gain_is_named(first):
    with pytest.raises(
        ValueError, match=re.escape(f"3 values of y_true, the first {float(first)} ")
    ):
        ndcg_score([1, first, 5, 9], S, groups=G, gain=[0, 1])


def test_the_error_for_nan_speaks_of_joins_where_there_may_be_one():
    join = "pass both to from_lists"
    for arguments in (([1, NAN], [1, 2]), ([[1, NAN]], [[1, 2]])):
        groups = None if np.ndim(arguments[0]) == 2 else [0, 0]
        with pytest.raises(ValueError, match="contains NaN") as caught:
            ndcg_score(*arguments, groups=groups)
        assert (join in str(caught.value)) == (groups is not None)


LONG = "x" * 10_000
OF_LONG_IDS = {
    "no such query": lambda ids: explain_query([0, 1, 1], [1, 2, 3], groups=ids, query=LONG),
    "clusters": lambda ids: ndcg_interval([0, 1, 1], [1, 2, 3], groups=ids, clusters=[1, 2, 3]),
    "a metric": lambda ids: ndcg_interval([0, 1, 1], [1, 2, 3], groups=ids, metric=str),
    "documents": lambda ids: from_lists({0: {LONG: 1}}, {0: [LONG, LONG]}),
}


@pytest.mark.parametrize(
    "ids", [[LONG + "a", LONG + "a", LONG + "b"], [(LONG, 1), (LONG, 1), (LONG, 2)]]
)
@pytest.mark.parametrize("name", OF_LONG_IDS)
def test_messages_leave_out_the_middle_of_a_long_id(name, ids):
    with pytest.raises(ERRORS, match=r"xxx\.\.\.xxx") as error:
        OF_LONG_IDS[name](ids)
    assert len(str(error.value)) < 600
