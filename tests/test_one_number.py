"""Every function gives one number for the same rows and options, whatever form the rows have.

The functions and the options are read from the signatures. A new function must say in entries.py
how its number is asked for; a new option, if its type is not made of names and bool, must have some
of its values here.
"""

import inspect
from functools import partial
from itertools import product
from types import UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from entries import DCGS, NDCGS, NEEDS, NO_RETRIEVED, Arrays, Given, reversed_scores

import sklearn_ndcg
from sklearn_ndcg import frames, inference
from sklearn_ndcg._metrics.measure import DCGOptions, ExplanationOptions

pytestmark = pytest.mark.filterwarnings(
    r"ignore:(Intervals of|Of the first|NDCG is undefined|All \d)"
)
N_QUERIES, N_DOCUMENTS = 12, 6
LABELS = [f"q{number:02}" for number in range(N_QUERIES)]


def rows(seed=0):
    """Relevance and scores of a matrix; the first query has no relevant document."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 4, (N_QUERIES, N_DOCUMENTS)).astype(float)
    y_score = rng.permuted(np.tile(np.arange(1.0, N_DOCUMENTS + 1), (N_QUERIES, 1)), axis=1)
    y_true[0] = 0
    return y_true, y_score


def with_some_unjudged(y_true):
    return np.where(np.random.default_rng(1).random(y_true.shape) < 0.2, np.nan, y_true)


def shuffled(y_true, y_score):
    """The rows with query ids, in random order."""
    groups = np.repeat(LABELS, N_DOCUMENTS)
    order = np.random.default_rng(2).permutation(y_true.size)
    order = order[np.argsort(order % N_DOCUMENTS, kind="stable")]  # queries keep their order
    return Arrays(y_true.ravel()[order], y_score.ravel()[order], groups[order])


class Matrix:
    """A row per query."""

    def __init__(self, y_true, y_score):
        self.y_true, self.y_score = y_true, y_score
        self.data = (y_true, y_score), {}
        self.several = (y_true, {"a": y_score, "b": reversed_scores(y_score)}), {}
        self.segments, self.queries = np.arange(N_QUERIES) % 2, range(N_QUERIES)

    def scored(self, scorer):
        return scorer(Given(), self.y_score, self.y_true)


class Lists:
    """Ranked lists; the last document of each query was not retrieved."""

    def __init__(self, y_true, y_score, unjudged):
        truths, lists = {}, {}
        for label, grades, scores in zip(LABELS, y_true, y_score, strict=True):
            truths[label] = dict(enumerate(grades.tolist()))
            lists[label] = [
                document for document in np.argsort(-scores).tolist() if scores[document] > -np.inf
            ]
        shortened = {label: documents[:2] for label, documents in lists.items()}
        read = {"relevant": truths, "unjudged": unjudged}
        self.data = (sklearn_ndcg.from_lists(recommended=lists, **read),), {}
        rankers = {"a": lists, "b": shortened}
        self.several = (sklearn_ndcg.from_lists(rankers=rankers, **read),), {}
        self.segments, self.queries = dict.fromkeys(LABELS, 1) | {LABELS[-1]: 2}, LABELS


FORMS = {"arrays": shuffled, "matrix": Matrix}


def takes_options(function):
    """Whether a function takes the options of a DCG or NDCG, or mappings of them."""
    function = getattr(function, "from_predictions", function)
    if not callable(function) or inspect.isclass(function):
        return False
    parameters = inspect.signature(function).parameters.values()
    return any(
        parameter.name in ("gain", "first")
        or (parameter.kind is parameter.VAR_KEYWORD and "Options" in str(parameter.annotation))
        for parameter in parameters
    )


def test_every_function_that_takes_options_is_asked_for_its_number():
    found = set()
    for prefix, module in (("", sklearn_ndcg), ("inference.", inference), ("frames.", frames)):
        names = (name for name in module.__all__ if takes_options(getattr(module, name)))
        found |= {prefix + name for name in names}
    assert found == NDCGS.keys() | DCGS.keys()


def names_in(hint):
    """The names and bools that a type allows."""
    if hint is bool:
        return [True, False]
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return [name for part in get_args(hint) for name in names_in(part)]
    return []


# beside names: tables, functions and numbers
OTHERS = {
    "gain": [[0, 1, 5, 6], {3: 1, 2: 2, 1: 4, 0: 0}, np.sqrt],
    "discount": [lambda ranks: ranks**-0.5],
    "undefined": [0.0, 0.25, 1],
    "log_base": [2, 10],
}
VALUES = [
    (option, value)
    for option, hint in get_type_hints(ExplanationOptions).items()
    for value in [*names_in(hint), *OTHERS.get(option, [])]
]
DCG_OPTIONS = {*get_type_hints(DCGOptions), "log_base", "k"}
CUTOFFS = [None, 2, 50, "retrieved"]
CASES = [*VALUES, *(("k", k) for k in CUTOFFS)]


def test_every_option_has_values_here():
    assert {option for option, _ in VALUES} == get_type_hints(ExplanationOptions).keys()


def outcome(way, form, options):
    """The number, or the kind of error."""
    try:
        return way(form, **options)
    except ValueError:
        return "ValueError"


def numbers(ways, options, has_unjudged):
    """The number of each function and each form of the rows, with and without ties."""
    y_true, y_score = rows()
    if has_unjudged:
        y_true = with_some_unjudged(y_true)
    forms = FORMS | {"lists": partial(Lists, unjudged=options.get("unjudged", "zero"))}
    if options.get("unjudged") == "raise":  # what lists have and truths lack is no error
        del forms["lists"]
    found = {}
    for (name, make), has_ties in product(forms.items(), (False, True)):
        scores = np.ceil(y_score / 2) if has_ties else y_score
        form = make(y_true, np.where(y_score == 1, -np.inf, scores))
        for function, way in ways.items():
            cuts_lists = options["k"] == "retrieved" and function in NO_RETRIEVED
            if hasattr(form, NEEDS.get(function, "data")) and not cuts_lists:
                found[has_ties, name, function] = outcome(way, form, options)
    return {key: number for key, number in found.items() if key[:2] != (True, "lists")}


def check(found, function):
    """All numbers are that of one function, or all functions raise."""
    for has_ties in (False, True):
        of_rows = {key[1:]: number for key, number in found.items() if key[0] == has_ties}
        expected = of_rows["arrays", function]
        if expected != "ValueError":
            expected = pytest.approx(expected, rel=1e-12)
        assert of_rows == dict.fromkeys(of_rows, expected)


def name_of(value):
    return getattr(value, "__name__", None) or str(value)


@pytest.mark.parametrize(
    ("option", "value"), [case for case in CASES if case[0] != "log_base"], ids=name_of
)
def test_all_functions_and_forms_give_one_ndcg(option, value):
    found = numbers(NDCGS, {"k": 3, option: value}, has_unjudged=option == "unjudged")
    check(found, "ndcg_score")


@pytest.mark.parametrize(
    ("option", "value"), [case for case in CASES if case[0] in DCG_OPTIONS], ids=name_of
)
def test_all_functions_and_forms_give_one_dcg(option, value):
    found = numbers(DCGS, {"k": 3, option: value}, has_unjudged=option == "unjudged")
    check(found, "dcg_score")
