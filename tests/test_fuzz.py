"""Any input gives the value of a plain oracle, or an error that names an argument."""

import re
import warnings
from fractions import Fraction
from inspect import signature
from math import fsum, isnan, nan

import numpy as np
import pandas as pd
import pytest
from containers import FLOATS, IDS
from entries import METRICS
from helpers import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import DISCOUNTS, exact_dcg, exact_ideal

import sklearn_ndcg as sn

# drawn data may have only queries with a single document
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* queries .*ha.* a single document",
    "ignore:None of the . queries",
)

INF = np.inf
slow_to_draw = [HealthCheck.too_slow, HealthCheck.filter_too_much]
fuzz = settings(max_examples=examples(60), deadline=None, suppress_health_check=slow_to_draw)
DOCUMENTED = [
    "(No query has both|NDCG is undefined for|The score is nan)",
    ".* ha.* a single document",
    "None of the . quer",
]
TABLE = [0.0, 1.0, 0.5, 7.0]


def outcome(names, function, *args, **options):
    """What a call returns; None for an error with one of the names. Nothing else may happen."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in DOCUMENTED:
            warnings.filterwarnings("ignore", message)
        warnings.filterwarnings("ignore", "invalid value encountered in cast", module=r"pandas\.")
        # NumPy before 2.2, of ids that are drawn
        warnings.filterwarnings("ignore", "The truth value of an empty array")
        try:
            return function(*args, **options)
        except (TypeError, ValueError) as error:
            words = names.replace(" ", "|") or "no error"
            assert re.search(rf"\b({words})\b", str(error)), error  # noqa: PT017
            return None


GRADES = [0.0, 0.0, -0.0, 1.0, 2.0, 3.0]
NUMBERS = [*GRADES, 0.1, 1e-300, 1e12, 300.0, 255.0, 256.0]
SCORES = [-INF, -1.7e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1 + 2**-52, 2.0**60, 1.7e308]


@st.composite
def tables(draw, grades=NUMBERS, unjudged=True):
    """Relevance, scores and queries of up to eight rows, two of them tied, and options."""
    n = draw(st.integers(1, 6))
    gain = draw(st.sampled_from(["linear", "exponential", TABLE, np.array(TABLE), np.sqrt]))
    options = {
        "k": draw(st.sampled_from([None, 1, 2, 3, np.int8(4), 10**30])),
        "gain": gain,
        "discount": draw(st.sampled_from(list(DISCOUNTS))),
        "ties": draw(st.sampled_from(["average", "stable", "worst", "best"])),
        "unjudged": draw(st.sampled_from(["raise", "zero", "omit"] if unjudged else ["raise"])),
    }
    if not isinstance(gain, str) and not callable(gain):
        grades = GRADES
    elif gain == "exponential":
        grades = [grade for grade in grades if grade < 1000]
    if options["unjudged"] != "raise":
        grades = [*grades, nan, nan]
    y, s, queries = (
        draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
        for values in (grades, SCORES, range(5))
    )
    # of a query of its own, of which only the order of the rows tells the best document
    tied = draw(st.sampled_from(SCORES))
    return [*y, 0.0, 3.0], [*s, tied, tied], [*queries, 9, 9], options


def gain_of(value, gain):
    if callable(gain):
        return float(np.sqrt(value))
    if isinstance(gain, str):
        return value if gain == "linear" else float(np.expm1(value * np.log(2)))
    return TABLE[int(value)]


def oracle(y, s, queries, k, gain, discount, ties, unjudged):
    """DCG and NDCG of every query, by going through all orders."""
    dcgs, ndcgs = [], []
    k = None if k is None else int(k)
    for query in sorted(set(queries)):
        rows = [i for i in range(len(queries)) if queries[i] == query]
        if unjudged == "omit":
            rows = [i for i in rows if not isnan(y[i])]
        gains = [0.0 if isnan(y[i]) else gain_of(y[i], gain) for i in rows]
        dcg = exact_dcg(gains, [s[i] for i in rows], k, DISCOUNTS[discount], ties)
        ideal = exact_ideal(gains, k, DISCOUNTS[discount])
        dcgs.append(dcg)
        ndcgs.append(dcg / ideal if ideal else nan)
    return dcgs, ndcgs


def same(found, expected, tolerance=1e-13):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=0)


def mean_of(values, undefined):
    """The mean, with a value for the undefined ones."""
    return fsum(undefined if isnan(value) else value for value in values) / len(values)


def shown(values):
    return type(values), [repr(each) for each in values]


@fuzz
@given(tables(), st.sampled_from(list(FLOATS)), st.sampled_from(list(FLOATS)))
def test_values_of_good_input_are_those_of_the_oracle(table, for_y, for_s):
    """Both samples, both means and the curve, of values in every container."""
    y, s, queries, options = table
    inputs = FLOATS[for_y](y), FLOATS[for_s](s), queries
    before = list(map(shown, inputs))
    dcgs, ndcgs = oracle(y, s, queries, **options)
    defined = [value for value in ndcgs if not isnan(value)]

    def call(function, **more):
        return outcome("", function, *inputs[:2], groups=queries, **options | more)

    same(call(sn.dcg_samples), dcgs)
    same(call(sn.dcg_score), fsum(dcgs) / len(dcgs))
    same(call(sn.ndcg_samples, undefined="omit"), ndcgs)
    same(call(sn.ndcg_score, undefined="omit"), fsum(defined) / len(defined) if defined else nan)
    same(call(sn.ndcg_score), mean_of(ndcgs, 0))
    cutoffs, curve = call(sn.ndcg_curve, k=[5, 1, 2])
    assert cutoffs.tolist() == [5, 1, 2]
    at = [oracle(y, s, queries, **options | {"k": k})[1] for k in (5, 1, 2)]
    same(curve, [mean_of(values, 0) for values in at])
    assert list(map(shown, inputs)) == before


@fuzz
@given(tables(), st.sampled_from(list(IDS)))
def test_ids_of_every_kind_are_those_of_the_oracle(table, kind):
    y, s, queries, options = table
    ids = IDS[kind](np.array(queries))
    before = shown(ids)
    found = outcome("", sn.ndcg_samples, y, s, groups=ids, undefined="omit", **options)
    same(found, oracle(y, s, queries, **options)[1])
    assert shown(ids) == before


WEIGHTS = st.lists(st.sampled_from([0, 1, 3, 0.1, 1e-200, 1e200]), min_size=8, max_size=8)


@fuzz
@given(tables(unjudged=False), WEIGHTS)
def test_weights_are_means_of_rows(table, weight):
    y, s, queries, options = table
    weight = weight[: len(queries)]
    options |= {"sample_weight": weight, "undefined": 0.5}
    found = outcome("sample_weight", sn.ndcg_score, y, s, groups=queries, **options)
    if not any(weight):
        assert found is None
        return
    del options["sample_weight"], options["undefined"]
    total = value = Fraction(0)
    ndcgs = oracle(y, s, queries, **options)[1]
    for query, ndcg in zip(sorted(set(queries)), ndcgs, strict=True):
        own = [Fraction(w) for w, of in zip(weight, queries, strict=True) if of == query]
        total += sum(own) / len(own)
        value += sum(own) / len(own) * Fraction(0.5 if isnan(ndcg) else ndcg)
    same(found, float(value / total))


ANYTHING = [
    0, 1, 2, -1, True, None, nan, INF, -INF, -0.0, 5e-324, 1e308, 1.7e308, -1e308, 2**53 + 1, 2**63,
    2**64, -(2**63), 10**400, 1j, "1", "", b"1", (), [1], {}, object, Fraction(1, 3), np.float16(2),
    np.finfo(np.longdouble).max, np.datetime64("NaT", "D"), pd.NA, pd.NaT, pd.Timestamp(0), ...,
    len,
]  # fmt: skip
SANE = [0, 1, 2, 3]
OPTIONS = {
    "k": [None, 1, 3, "retrieved", 0, -1, 2.0, True, "all", [1], nan, 2**70, np.uint8(3), {}],
    "gain": [
        *("linear", "exponential", "exp", None, [0, 1, 2, 3], [], {0: 0, 1: 1}, {}, [1j], [nan]),
        *(len, np.negative, lambda y: y * nan, lambda y: "text", lambda y: y[:1], 3, b"ab"),
    ],
    "discount": [
        *("log", "reciprocal", "none", "ln", None, 2, lambda r: r, lambda r: r * 0.0, [1, 0.5]),
        *(lambda r: 1 / r, lambda r: -r, lambda r: None, lambda r: 1e308 / r),
    ],
    "ties": ["average", "stable", "worst", "best", "", None, 1, ["best"]],
    "ignore_ties": [True, False, np.True_, None, 1, "no"],
    "unjudged": ["raise", "zero", "omit", "drop", None, 0],
    "undefined": ["warn", 0, 1.5, nan, INF, None, "drop", True, 10**400, 1j, [0]],
    "log_base": [2, 10, 1.0, 0, -3, nan, INF, "2", None, True, 1 + 2**-52, 10**400],
    "sample_weight": [None, [1], [1, 2], "1", 3, {}, [nan] * 3, [0] * 3, [1] * 3, [[1]] * 3],
}
METRIC_OPTIONS = {
    metric: [name for name in OPTIONS if name in signature(metric).parameters] for metric in METRICS
}
METRIC_OPTIONS[sn.ndcg_curve].remove("k")  # which has other values there


def column(draw, n):
    """Mostly valid numbers, with some other values, in any container."""
    elements = SANE if draw(st.booleans()) else SANE * 9 + ANYTHING
    values = draw(st.lists(st.sampled_from(elements), min_size=n, max_size=n))
    make = draw(st.sampled_from([*FLOATS.values(), *[list] * 9]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(values)
    except Exception:  # the container does not take the values
        return values


@settings(fuzz, max_examples=examples(300))  # of five functions
@given(st.sampled_from(METRICS), st.data())
def test_metrics_of_anything(function, data):
    n = data.draw(st.sampled_from([0, 1, 2, 3, 3, 3, 6]))
    y, s, groups = (column(data.draw, n) for _ in range(3))
    groups = [1] * n if data.draw(st.booleans()) else groups
    chosen = data.draw(st.lists(st.sampled_from(METRIC_OPTIONS[function]), max_size=2, unique=True))
    options = {name: data.draw(st.sampled_from(OPTIONS[name])) for name in chosen}
    before = list(map(repr, (y, s, groups)))
    names = " ".join(["y_true y_score groups", *OPTIONS])
    found = outcome(names, function, y, s, groups=groups, **options)
    assert list(map(repr, (y, s, groups))) == before
    if found is None:
        return
    values = np.asarray(found[1] if function is sn.ndcg_curve else found)
    if function in (sn.dcg_score, sn.dcg_samples):
        assert np.isfinite(values).all()
    elif options.get("undefined", 0.0) in ("warn", 0, 0.0):
        assert ((values >= 0) & (values <= 1)).all()


# without lists or arrays as grades, which test_reading.py has, and without huge keys and keys that
# end in NUL, which test_rows.py has
NUMBER = st.sampled_from([0, 1, 2, -1, 2**80, nan, 0.5, -0.0, Fraction(1, 3), np.int64(7)])
OBJECT = st.sampled_from([None, b"a", np.str_("a"), frozenset([1]), pd.Timestamp(0), (1, "a"), ()])
ID = NUMBER | OBJECT | st.sampled_from(["a", "b", "ü", "", "\ud800", "x" * 99])
KEY = st.integers(-3, 3) | st.sampled_from(["a", "b", "ü" * 70]) | st.tuples(st.integers(0, 2))


@fuzz
@given(st.data())
def test_from_lists_of_anything(data):
    junk = st.sampled_from([value for value in ANYTHING if value is not pd.NA])
    ids = st.lists(ID | junk, max_size=3)
    grade = junk.filter(lambda v: not isinstance(v, list | tuple | dict | np.longdouble))
    listed = ids | st.sets(st.integers(0, 3)) | junk
    truth = st.dictionaries(ID, grade, max_size=3) | ids | junk | st.sets(ID, max_size=3)
    lists, truths = (
        data.draw(st.dictionaries(KEY, entry, max_size=3) | st.lists(entry, max_size=3) | junk)
        for entry in (listed, truth)
    )
    options = {
        "unanswered": data.draw(st.sampled_from(["zero", "omit", "nan", None, 3])),
        "unjudged": data.draw(st.sampled_from(["zero", "omit"])),
    }
    names = "recommended relevant query unanswered queries documents"
    found = outcome(names, sn.from_lists, truths, lists, **options)
    if found is not None:
        assert found.y_true.shape == found.y_score.shape == found.groups.shape == found.ids.shape
        assert found.y_true.dtype == found.y_score.dtype == float
