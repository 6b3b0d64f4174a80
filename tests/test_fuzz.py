"""Any input gives the value of a plain oracle, or an error that names an argument."""

import re
import tempfile
import warnings
from collections import deque
from contextlib import suppress
from fractions import Fraction
from math import fsum, isnan, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import exact_dcg, exact_ideal, log_discount

import sklearn_ndcg as sn
from sklearn_ndcg import inference

# drawn data may have only queries with a single document
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* queries .*ha.* a single document",
    "ignore:None of the . queries",
)

INF = np.inf
fuzz = settings(
    max_examples=examples(60), deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip
DOCUMENTED = "(No query has both|NDCG is undefined for|. queries( with uneven.*)?: intervals|All . queries have|.* ha.* a single document|None of the . quer|.* none of the first doc|Of the first doc|.* judged queries|The score is nan)"
DISCOUNTS = {"log": log_discount, "reciprocal": lambda rank: 1 / rank, "none": lambda rank: 1.0}
TABLE = [0.0, 1.0, 0.5, 7.0]


def outcome(names, function, *args, **options):
    """What a call returns; None for an error with one of the names. Nothing else may happen."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", DOCUMENTED)
        warnings.filterwarnings("ignore", "invalid value encountered in cast", module=r"pandas\.")
        # NumPy before 2.2, of ids that are drawn
        warnings.filterwarnings("ignore", "The truth value of an empty array")
        try:
            return function(*args, **options)
        except (TypeError, ValueError) as error:
            words = names.replace(" ", "|") or "no error"
            assert re.search(rf"\b({words})\b", str(error)), error  # noqa: PT017
            return None


def on_disk(values):
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=float, shape=len(values), mode="w+")
        mapped[:] = values
    return mapped


def frozen(values):
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array


# containers of floats, which do not change them
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": lambda v: np.array(v, dtype=float),
    "read-only": frozen,
    "longdouble": lambda v: np.array(v, dtype=np.longdouble),
    "big-endian": lambda v: np.array(v, dtype=">f8"),
    "objects": lambda v: np.array(v, dtype=object),
    "strided": lambda v: np.repeat(np.array(v, dtype=float), 2)[::2],
    "backwards": lambda v: np.array(v[::-1], dtype=float)[::-1],
    "masked": lambda v: np.ma.array(np.array(v, dtype=float), mask=False),
    "memmap": on_disk,
    "deque": deque,
    "pandas": lambda v: pd.Series(v, dtype=float, index=range(len(v), 0, -1)),
    "nullable": lambda v: pd.Series(pd.array(np.array(v, dtype=float), dtype="Float64")),
    "pandas on Arrow": lambda v: pd.Series(v, dtype="double[pyarrow]"),
    "polars": lambda v: pl.Series(v, dtype=pl.Float64),
    "Arrow": lambda v: pa.array(v, pa.float64()),
    "Arrow chunks": lambda v: pa.chunked_array([v[:1], v[1:]], pa.float64()),
}
# ids of the numbers 0..4, in the same order
IDS = {
    "integers": lambda g: g,
    "negative": lambda g: [each - 3 for each in g],
    "huge": lambda g: [each + 2**70 for each in g],
    "uint64": lambda g: np.array(g, dtype=np.uint64) + np.uint64(2**64 - 9),
    "floats": lambda g: [each / 7 for each in g],
    "subnormal": lambda g: [each * 5e-324 for each in g],
    "infinite": lambda g: [[-INF, -1e308, -0.0, 1e308, INF][each] for each in g],
    "text": lambda g: [["", "\0", "a", "a\0", "ü"][each] for each in g],
    "text array": lambda g: np.array(["", "A", "a", "b", "ü"])[g],
    "bytes": lambda g: [bytes([each]) for each in g],
    "pairs": lambda g: [(each // 2, str(each)) for each in g],
    "booleans": lambda g: [each > 2 for each in g],
    "fractions": lambda g: [Fraction(each, 3) for each in g],
    "dates": lambda g: np.datetime64("1969-12-30") + np.array(g, dtype="m8[D]"),
    "zoned": lambda g: pd.Series(pd.Timestamp(0, tz="UTC") + pd.to_timedelta(g, "D")),
    "spans": lambda g: np.array(g, dtype="m8[ns]"),
    "periods": lambda g: pd.PeriodIndex.from_ordinals(g, freq="M"),
    "categories": lambda g: pd.Categorical([["a", "b", "c", "d", "e"][each] for each in g]),
    "index": pd.Index,
    "levels": lambda g: pd.MultiIndex.from_arrays([[each // 2 for each in g], g]),
    "polars": lambda g: pl.Series([["a", "b", "c", "d", "e"][each] for each in g]),
    "Arrow": lambda g: pa.array([str(each) for each in g]),
    "encoded": lambda g: pa.array([str(each) for each in g]).dictionary_encode(),
}
GRADES = [0.0, 0.0, -0.0, 1.0, 2.0, 3.0]
NUMBERS = [*GRADES, 0.1, 1e-300, 1e12, 300.0, 255.0, 256.0]
SCORES = [-INF, -1.7e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1 + 2**-52, 2.0**60, 1.7e308]


@st.composite
def tables(draw, grades=NUMBERS, unjudged=True, n_most=6):
    """Rows that are in order, their containers, and the options of a metric."""
    n = draw(st.integers(1, n_most))
    gain = draw(st.sampled_from(["linear", "exponential", TABLE, dict(enumerate(TABLE)), np.sqrt]))
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
        grades = [each for each in grades if each < 1000]
    if options["unjudged"] != "raise":
        grades = [*grades, nan, nan]
    lists = [st.lists(st.sampled_from(each), min_size=n, max_size=n) for each in (grades, SCORES)]
    y, s = map(draw, lists)
    g = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    return y, s, g, options


def gain_of(value, gain):
    if callable(gain):
        return float(np.sqrt(value))
    if isinstance(gain, str):
        return value if gain == "linear" else float(np.expm1(value * np.log(2)))
    return TABLE[int(value)]


def oracle(y, s, g, k, gain, discount, ties, unjudged):
    """DCG and NDCG of every query, by going through all orders."""
    dcgs, ndcgs = [], []
    for query in sorted(set(g)):
        rows = [i for i in range(len(g)) if g[i] == query]
        if unjudged == "omit":
            rows = [i for i in rows if not isnan(y[i])]
        gains = [0.0 if isnan(y[i]) else gain_of(y[i], gain) for i in rows]
        cut = None if k is None else int(k)
        dcg = exact_dcg(gains, [s[i] for i in rows], cut, DISCOUNTS[discount], ties)
        ideal = exact_ideal(gains, cut, DISCOUNTS[discount])
        dcgs.append(dcg)
        ndcgs.append(dcg / ideal if ideal else nan)
    return dcgs, ndcgs


def same(found, expected, tolerance=1e-13):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=0)


def mean_of(values, undefined):
    """The mean, with a value for the undefined ones."""
    return fsum(undefined if isnan(each) else each for each in values) / len(values)


def shown(values):
    return type(values), [repr(each) for each in values]


@fuzz
@given(tables(), *[st.sampled_from(list(each)) for each in (CONTAINERS, CONTAINERS, IDS)])
def test_metrics_of_good_input(table, for_y, for_s, for_g):
    """Both samples, both means and the curve, in every container, with every kind of id."""
    y, s, g, options = table
    ids = IDS[for_g](g)
    g = ids if for_g == "booleans" else g
    inputs = CONTAINERS[for_y](y), CONTAINERS[for_s](s), ids
    before = [shown(each) for each in inputs]
    dcgs, ndcgs = oracle(y, s, g, **options)
    defined = [each for each in ndcgs if not isnan(each)]

    def call(function, **more):
        return outcome("", function, *inputs[:2], groups=inputs[2], **options | more)

    same(call(sn.dcg_samples), dcgs)
    same(call(sn.dcg_score), fsum(dcgs) / len(dcgs))
    same(call(sn.ndcg_samples, undefined="omit"), ndcgs)
    same(call(sn.ndcg_score, undefined="omit"), fsum(defined) / len(defined) if defined else nan)
    same(call(sn.ndcg_score), mean_of(ndcgs, 0))
    cutoffs, curve = call(sn.ndcg_curve, k=[5, 1, 2])
    assert cutoffs.tolist() == [5, 1, 2]
    same(curve, [mean_of(oracle(y, s, g, **options | {"k": k})[1], 0) for k in (5, 1, 2)])
    assert [shown(each) for each in inputs] == before


@fuzz
@given(tables(unjudged=False), st.data())
def test_weights(table, data):
    y, s, g, options = table
    amounts = st.sampled_from([0, 1, 3, 0.1, 1e-200, 1e200])
    weight = data.draw(st.lists(amounts, min_size=len(g), max_size=len(g)))
    more = {"sample_weight": weight, "undefined": 0.5}
    found = outcome("sample_weight", sn.ndcg_score, y, s, groups=g, **options, **more)
    if not any(weight):
        assert found is None
        return
    total = value = Fraction(0)
    for query, ndcg in zip(sorted(set(g)), oracle(y, s, g, **options)[1], strict=True):
        rows = [i for i in range(len(g)) if g[i] == query]
        own = sum(Fraction(weight[i]) for i in rows) / len(rows)
        total += own
        value += own * Fraction(0.5 if isnan(ndcg) else ndcg)
    same(found, float(value / total))


FRAMES = [
    np.array, np.asfortranarray, list, np.ndarray.tolist, pd.DataFrame, pl.DataFrame,
    lambda m: pd.DataFrame(m).convert_dtypes(), lambda m: np.repeat(m, 2, axis=1)[:, ::2],
]  # fmt: skip


@fuzz
@given(st.integers(1, 4), st.integers(2, 5), st.sampled_from(FRAMES), st.data())
def test_matrices(n, width, frame, data):
    """2-D input equals its rows with groups, in every frame."""
    y, s = (
        np.array(data.draw(st.lists(st.sampled_from(each), min_size=n * width, max_size=n * width)))
        for each in (NUMBERS, SCORES)
    )
    ids = np.repeat(np.arange(n), width)
    # old versions of pandas warn of casts when they make a frame
    inputs = [outcome("", frame, each.reshape(n, width)) for each in (y, s)]
    for function in (sn.ndcg_samples, sn.dcg_samples, sn.ndcg_score, sn.dcg_score):
        same(outcome("", function, *inputs), outcome("", function, y, s, groups=ids))


ANYTHING = [
    0, 1, 2, -1, True, None, nan, INF, -INF, -0.0, 5e-324, 1e308, 1.7e308, -1e308, 2**53 + 1, 2**63,
    2**64, -(2**63), 10**400, 1j, "1", "", b"1", (), [1], {}, object, Fraction(1, 3), np.float16(2),
    np.longdouble("1e4000"), np.datetime64("NaT", "D"), pd.NA, pd.NaT, pd.Timestamp(0), ..., len,
]  # fmt: skip
SANE = [0, 1, 2, 3]
OPTIONS = {
    "k": [None, 1, 3, "retrieved", 0, -1, 2.0, True, "all", [1], nan, 2**70, np.uint8(3), {}],
    "gain": ["linear", "exponential", "exp", None, [0, 1, 2, 3], [], {0: 0, 1: 1}, {}, [1j], [nan],
             len, np.negative, lambda y: y * nan, lambda y: "text", lambda y: y[:1], 3, b"ab"],
    "discount": ["log", "reciprocal", "none", "ln", None, 2, lambda r: r, lambda r: r * 0.0,
                 lambda r: 1 / r, lambda r: -r, lambda r: None, lambda r: 1e308 / r, [1, 0.5]],
    "ties": ["average", "stable", "worst", "best", "", None, 1, ["best"]],
    "ignore_ties": [True, False, np.True_, None, 1, "no"],
    "unjudged": ["raise", "zero", "omit", "drop", None, 0],
    "undefined": ["warn", 0, 1.5, nan, INF, None, "drop", True, 10**400, 1j, [0]],
    "log_base": [2, 10, 1.0, 0, -3, nan, INF, "2", None, True, 1 + 2**-52, 10**400],
    "sample_weight": [None, [1], [1, 2], "1", 3, {}, [nan] * 3, [0] * 3, [1] * 3, [[1]] * 3],
}  # fmt: skip
OF_DCG = [name for name in OPTIONS if name != "undefined"]
OF_NDCG = [name for name in OPTIONS if name != "log_base"]
METRICS = {
    sn.ndcg_score: OF_NDCG,
    sn.dcg_score: OF_DCG,
    sn.ndcg_samples: OF_NDCG[:-1],
    sn.dcg_samples: [name for name in OF_DCG if name != "sample_weight"],
    sn.ndcg_curve: [name for name in OF_NDCG if name != "k"],
}


def column(draw, n):
    """Mostly valid numbers, with some other values, in any container."""
    elements = SANE if draw(st.booleans()) else SANE * 9 + ANYTHING
    values = draw(st.lists(st.sampled_from(elements), min_size=n, max_size=n))
    make = draw(st.sampled_from([*CONTAINERS.values(), *[list] * 9]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(values)
    except Exception:  # the container does not take the values
        return values


@settings(fuzz, max_examples=examples(300))  # of five functions
@given(st.sampled_from(list(METRICS)), st.data())
def test_metrics_of_anything(function, data):
    n = data.draw(st.sampled_from([0, 1, 2, 3, 3, 3, 6]))
    y, s, g = (column(data.draw, n) for _ in range(3))
    g = [1] * n if data.draw(st.booleans()) else g
    chosen = data.draw(st.lists(st.sampled_from(METRICS[function]), max_size=2, unique=True))
    options = {name: data.draw(st.sampled_from(OPTIONS[name])) for name in chosen}
    before = [repr(each) for each in (y, s, g)]
    names = " ".join(["y_true y_score groups", *OPTIONS])
    found = outcome(names, function, y, s, groups=g, **options)
    assert [repr(each) for each in (y, s, g)] == before
    if found is not None:
        values = np.asarray(found[1] if function is sn.ndcg_curve else found)
        if function in (sn.dcg_score, sn.dcg_samples):
            assert np.isfinite(values).all()
        elif options.get("undefined", 0.0) in ("warn", 0, 0.0):
            assert ((values >= 0) & (values <= 1)).all()


@fuzz
@given(st.data())
def test_quantile_grades_of_anything(data):
    y = column(data.draw, data.draw(st.integers(0, 4)))
    groups = data.draw(st.sampled_from([None, [1] * len(y), [1], "ab", 3]))
    n_grades = st.sampled_from([5, 2, 1, 0, -1, 2**31, 2.0, None, "5", True, nan, 10**400])
    n_grades = data.draw(n_grades)
    found = outcome("y groups n_grades", sn.quantile_grades, y, groups=groups, n_grades=n_grades)
    assert found is None or ((found >= 0) & (found < n_grades)).all()


# without lists or arrays as grades, which test_reading.py has, and without huge keys and keys that
# end in NUL, which test_rows.py has
ID = st.sampled_from(
    [0, 1, 2, -1, 2**80, "a", "b", "ü", "", "\ud800", "x" * 99, b"a", None, nan, 0.5, -0.0, (1, "a"),
     (), frozenset([1]), Fraction(1, 3), np.int64(7), np.str_("a"), pd.Timestamp(0)]
)  # fmt: skip
KEY = st.integers(-3, 3) | st.sampled_from(["a", "b", "ü" * 70]) | st.tuples(st.integers(0, 2))
TRUTH = st.dictionaries(ID, st.sampled_from([0, 1, 2, 0.5, True, 1e300]), max_size=4)


def ndcg_of_list(listed, grades):
    """NDCG of the grades of a list, in its order, beside all grades."""
    dcg = fsum(grade * log_discount(rank) for rank, grade in enumerate(listed, 1))
    best = exact_ideal(list(grades))
    return dcg / best if best else nan


@fuzz
@given(
    st.dictionaries(st.integers(-3, 3), st.lists(ID, max_size=5, unique=True), max_size=4),
    st.dictionaries(st.integers(-3, 3), TRUTH, max_size=4),
    st.sampled_from(["zero", "omit"]),
    st.sampled_from([list, tuple, deque]),
)
def test_from_lists(recommended, relevant, unanswered, container):
    lists = {query: container(each) for query, each in recommended.items()}
    names = "recommended relevant query"
    found = outcome(names, sn.from_lists, relevant, lists, unanswered=unanswered)
    if found is None:
        return
    ndcg = outcome("groups", sn.ndcg_samples, found, undefined="omit")
    queries = {*recommended, *relevant} if unanswered == "zero" else {*recommended}
    for query, value in zip(sorted(queries), ndcg, strict=True):
        truth = {key: float(grade) for key, grade in relevant.get(query, {}).items()}
        listed = [truth.get(each, 0) for each in recommended.get(query, [])]
        same(value, ndcg_of_list(listed, truth.values()))


@fuzz
@given(st.data())
def test_from_lists_of_anything(data):
    junk = st.sampled_from([each for each in ANYTHING if each is not pd.NA])
    some = st.lists(ID | junk, max_size=3)
    grade = junk.filter(lambda v: not isinstance(v, list | tuple | dict | np.longdouble))
    listed = some | st.sets(st.integers(0, 3)) | junk
    truth = st.dictionaries(ID, grade, max_size=3) | some | junk | st.sets(ID, max_size=3)
    lists, truths = (
        data.draw(st.dictionaries(KEY, each, max_size=3) | st.lists(each, max_size=3) | junk)
        for each in (listed, truth)
    )
    options = {
        "unanswered": data.draw(st.sampled_from(["zero", "omit", "nan", None, 3])),
        "unjudged": data.draw(st.sampled_from(["zero", "omit", "nan"])),
    }
    names = "recommended relevant query unanswered queries documents"
    found = outcome(names, sn.from_lists, truths, lists, **options)
    if found is not None:
        assert found.y_true.shape == found.y_score.shape == found.groups.shape == found.ids.shape
        assert found.y_true.dtype == found.y_score.dtype == float


TEXT = st.sampled_from(["a", "b", "B", "ü", "10", "9", ""])
SCORE = st.sampled_from([0, 1, 1 + 1e-9, -1, INF, -INF, -0.0, 1e300, 5e-324, 2**70, True])
JUDGED = st.dictionaries(TEXT, st.sampled_from([-1, 0, 1, 2, 0.5]), max_size=4)
SCORED = st.dictionaries(TEXT, SCORE, max_size=5)


@fuzz
@given(st.dictionaries(TEXT, JUDGED, max_size=3), st.dictionaries(TEXT, SCORED, max_size=3))
def test_from_trec(qrels, run):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The run has documents for")
        found = outcome("qrels run query recommended queries", sn.from_trec, qrels, run)
    if found is None:
        return
    queries = sorted(set(found.groups.tolist()))
    qrels = {query: truth for query, truth in qrels.items() if truth}
    assert queries == sorted(qrels)
    for query, value in zip(queries, outcome("", sn.ndcg_samples, found), strict=True):
        truth = {key: max(grade, 0) for key, grade in qrels[query].items()}
        with np.errstate(over="ignore"):
            scores = [(np.float32(float(v)), key) for key, v in run.get(query, {}).items()]
        listed = [truth.get(key, 0) for _, key in sorted(scores, reverse=True)]
        same(value, np.nan_to_num(ndcg_of_list(listed, truth.values())))


@fuzz
@given(st.data())
def test_from_trec_of_anything(data):
    plain = [each for each in ANYTHING if not isinstance(each, list | tuple | dict | np.longdouble)]
    junk = st.sampled_from(plain)
    inner = st.dictionaries(TEXT | ID, junk, max_size=3) | junk
    either = st.dictionaries(TEXT, inner, max_size=3) | st.lists(junk, max_size=2) | junk
    with suppress(OSError):  # text is the path of a file
        names = "qrels run query recommended relevant"
        outcome(names, sn.from_trec, data.draw(either), data.draw(either))


RESAMPLES = [9, 50, 0, -1, 2.5, None, "9", True, nan]
INTERVAL = {
    "confidence_level": [0.95, 0.5, 1e-9, 0, 1, -1, nan, None, "0.95", True, 10**400],
    "n_resamples": RESAMPLES,
    "random_state": [None, 0, np.random.RandomState(0), -1, "0", 1.5, nan, [], [1, 2], object()],
    "method": ["BCa", "t", "bca", None],
}


@fuzz
@given(tables(grades=[0.0, 1.0, 2.0], unjudged=False), st.data())
def test_ndcg_interval(table, data):
    y, s, g, options = table
    weights = [None, [1, 2, 3, 1, 2, 3][: len(g)], [1], [0] * len(g)]
    arguments = {
        name: data.draw(st.sampled_from(values + values[:1] * len(values)))
        for name, values in (INTERVAL | {"sample_weight": weights}).items()
    }
    names = " ".join([*arguments, "queries y_true"])
    found = outcome(names, inference.ndcg_interval, y, s, groups=g, **options, **arguments)
    if found is not None:
        low, high = found.confidence_interval
        assert 0 <= low <= high <= 1
        assert found.n_queries + found.n_left_out == len(set(g))
        options["sample_weight"] = arguments["sample_weight"]
        same(found.mean, outcome("", sn.ndcg_score, y, s, groups=g, **options))


@fuzz
@given(tables(grades=[0.0, 1.0, 2.0], unjudged=False), st.data())
def test_compare_rankers(table, data):
    y, _, g, options = table
    others = st.lists(st.sampled_from(SCORES), min_size=len(g), max_size=len(g))
    keys = st.sampled_from(["a", "b", 1, None, (1,), nan])
    scores = {key: data.draw(others) for key in data.draw(st.lists(keys, max_size=3, unique=True))}
    arguments = {
        "baseline": data.draw(st.sampled_from([None, None, "a", "z", 1])),
        "test": data.draw(st.sampled_from(["permutation", "t", "T", None])),
        "n_resamples": data.draw(st.sampled_from([9, *RESAMPLES])),
        "random_state": 0, "undefined": "omit",
    }  # fmt: skip
    names = "y_scores baseline test n_resamples queries"
    found = outcome(names, inference.compare_rankers, y, scores, groups=g, **options, **arguments)
    if found is None:
        return
    assert ((found.pvalue >= 0) & (found.pvalue <= 1)).all()
    assert (found.pvalue >= found.uncorrected_pvalue).all()
    assert (found.wins + found.ties + found.losses == found.n_queries).all()
    for (first, second), difference in zip(found.pairs, found.difference, strict=True):
        values = [oracle(y, scores[name], g, **options)[1] for name in (first, second)]
        each = [a - b for a, b in zip(*values, strict=True) if not isnan(a)]
        np.testing.assert_allclose(difference, fsum(each) / len(each), atol=1e-11)
