"""Every metric compared with exact arithmetic: rational gains, discounts of 50 digits."""

from fractions import Fraction
from functools import cache
from itertools import cycle

import numpy as np
import pytest
from oracles import exact_dcgs

from sklearn_ndcg import dcg_samples, ndcg_curve, ndcg_samples

mpmath = pytest.importorskip("mpmath")
LIMIT = 1e-14  # relative error
mp = mpmath.mp.clone()
mp.dps = 50


@cache
def exact_discounts(n, base=2.0):
    return [mp.log(base) / mp.log(rank + 1) for rank in range(1, n + 1)]


def exact_gains(y):
    return [Fraction(value) for value in y.tolist()]


def exact_ideals(gains, discounts):
    best = sorted(gains, reverse=True)
    return exact_dcgs(best, list(range(len(gains), 0, -1)), discounts, "stable")


def error(found, expected):
    """Largest relative error of values, nan if one of them is nan."""
    pairs = zip(np.atleast_1d(found).tolist(), expected, strict=True)
    errors = [abs(mp.mpf(v) - exact) / exact if exact else abs(v) for v, exact in pairs]
    return np.max(np.array(errors, dtype=float))


def hold(*errors):
    """Print the largest error, for ``pytest -rP``, and check that it is below the limit."""
    worst = np.max(errors)
    print(f"largest relative error {worst:.2g}")
    assert worst < LIMIT


def ratios(dcgs, ideals):
    return [dcg / ideal for dcg, ideal in zip(dcgs, ideals, strict=True)]


# gains, none of them negative, that are awkward to add up
GAINS = {
    "grades": lambda rng, n: rng.integers(0, 5, n).astype(float),
    "bytes": lambda rng, n: rng.integers(0, 256, n).astype(float),
    "reals": lambda rng, n: rng.random(n),
    "12 orders of magnitude": lambda rng, n: 10 ** rng.uniform(-6, 6, n),
    "one giant last": lambda rng, n: np.r_[rng.uniform(0, 1e-6, n - 1), 1e6],
    "one giant first": lambda rng, n: np.r_[1e6, rng.uniform(0, 1e-6, n - 1)],
    "a third of 1": lambda rng, n: np.full(n, 1 / 3),
    "near 1": lambda rng, n: 1 + np.finfo(float).eps * rng.integers(0, 99, n),
    "tiny": lambda rng, n: rng.uniform(1e-290, 1e-280, n),
    "huge": lambda rng, n: rng.uniform(1e290, 1e295, n),
}
SCORES = {
    "distinct": lambda rng, n, gains: rng.permutation(n).astype(float),
    "heavy ties": lambda rng, n, gains: rng.integers(0, 4, n).astype(float),
    "all tied": lambda rng, n, gains: np.zeros(n),
    "tail tied": lambda rng, n, gains: np.r_[np.arange(n, n // 2, -1.0), np.zeros(n // 2)],
    "half retrieved": lambda rng, n, gains: rng.choice([-np.inf, 1, 2, 3], n),
    "perfect": lambda rng, n, gains: gains,
    "upside down": lambda rng, n, gains: -gains,
    "near ties": lambda rng, n, gains: 1 + np.finfo(float).eps * rng.integers(0, n, n),
}


@pytest.mark.parametrize(("gains", "scores"), [*zip(GAINS, cycle(SCORES), strict=False)])
@pytest.mark.parametrize(("n", "ties"), [(7, "best"), (60, "worst"), (300, "average")])
def test_samples_and_curve(gains, scores, n, ties):
    rng = np.random.default_rng(n)
    y = GAINS[gains](rng, n)
    s = SCORES[scores](rng, n, y)
    exact, discounts = exact_gains(y), exact_discounts(300)[:n]
    dcgs = exact_dcgs(exact, s.tolist(), discounts, ties)
    expected = ratios(dcgs, exact_ideals(exact, discounts))
    k = (n + 1) // 2
    hold(
        error(dcg_samples([y], [s], k=k, ties=ties), [dcgs[k - 1]]),
        error(ndcg_samples([y], [s], ties=ties), expected[-1:]),
        error(ndcg_curve([y], [s], ties=ties)[1], expected),
    )


@pytest.mark.parametrize("base", [np.nextafter(1, 2), 1.5, np.e, 1e300])
def test_bases_of_the_logarithm(base):
    rng = np.random.default_rng(0)
    y, s = GAINS["12 orders of magnitude"](rng, 300), rng.permutation(300)
    dcgs = exact_dcgs(exact_gains(y), s.tolist(), exact_discounts(300, float(base)), "average")
    hold(*(error(dcg_samples([y], [s], k=k, log_base=base), [dcgs[k - 1]]) for k in (1, 2, 300)))


LONG = 100_000
LONG_QUERIES = [
    ("12 orders of magnitude", "distinct", 400),
    pytest.param("12 orders of magnitude", "distinct", LONG, marks=pytest.mark.slow),
    pytest.param("one giant last", "tail tied", LONG, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("gains", "scores", "n"), LONG_QUERIES)
def test_every_cutoff_of_a_long_query(kernels, gains, scores, n):
    rng = np.random.default_rng(6)
    y = GAINS[gains](rng, n)
    s = SCORES[scores](rng, n, y)
    exact, discounts = exact_gains(y), exact_discounts(n)
    dcgs = exact_dcgs(exact, s.tolist(), discounts, "average")
    hold(error(ndcg_curve([y], [s])[1], ratios(dcgs, exact_ideals(exact, discounts))))


GAINS_OF_GRADES = {
    "linear": "linear",
    "exponential": "exponential",
    "equal gains": lambda grades: np.minimum(grades, 2),
}


@pytest.mark.parametrize("gain", GAINS_OF_GRADES.values(), ids=GAINS_OF_GRADES)
@pytest.mark.parametrize("k", [None, 5])
def test_a_query_has_the_same_bits_whatever_other_queries_there_are(kernels, gain, k):
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 60, 200)
    query = np.repeat(np.arange(200), lengths)
    y = rng.integers(0, rng.choice([3, 5, 20], 200)[query]).astype(float)
    s = rng.choice([1, 2, 3.5, *rng.random(40)], len(y))
    options = {"gain": gain, "k": k, "undefined": 0.0}
    among_grades = ndcg_samples(y, s, groups=query, **options)
    rows = np.append(y, [0.5, 1]), np.append(s, [1, 2]), np.append(query, [200, 200])
    among_fractions = ndcg_samples(*rows[:2], groups=rows[2], **options)[:-1]
    assert among_fractions.tolist() == among_grades.tolist()
    for i in np.flatnonzero(lengths > 1):
        rows = query == i
        assert ndcg_samples([y[rows]], [s[rows]], **options)[0] == among_grades[i]
