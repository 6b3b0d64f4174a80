"""Every metric compared with exact arithmetic: rational gains, discounts of 50 digits."""

from fractions import Fraction
from functools import cache
from itertools import accumulate, groupby

import numpy as np
import pytest

from sklearn_ndcg import _kernels, dcg_samples, ndcg_curve, ndcg_samples, ndcg_score

try:
    from sklearn_ndcg._kernels import compiled
except ImportError:
    compiled = None

mpmath = pytest.importorskip("mpmath")
LIMIT = 1e-14  # relative error
TIES = ["average", "stable", "worst", "best"]
mp = mpmath.mp.clone()
mp.dps = 50


@cache
def exact_discounts(n, discount="log", base=2.0):
    if discount == "log":
        return [mp.log(base) / mp.log(rank + 1) for rank in range(1, n + 1)]
    if discount == "reciprocal":
        return [mp.mpf(1) / rank for rank in range(1, n + 1)]
    return {"none": [mp.mpf(1)] * n}[discount]


def as_mpf(value):
    return mp.mpf(value.numerator) / value.denominator


def exact_gains(y, gain="linear"):
    """Gains as fractions; those of a fractional exponent have 50 digits."""
    if gain == "linear":
        return [Fraction(value) for value in y.tolist()]
    gains = {}
    for value in set(y.tolist()):
        if value == int(value):
            gains[value] = Fraction(2) ** int(value) - 1
        else:
            with mp.extradps(350):  # 2^y is near 1 where y is near 0
                power = mp.mpf(2) ** mp.mpf(value) - 1
            man, exponent = mp.frexp(power)
            gains[value] = Fraction(int(mp.ldexp(man, 200))) * Fraction(2) ** (exponent - 200)
    return [gains[value] for value in y.tolist()]


def exact_dcgs(gains, scores, discounts, ties):
    """DCG at every cutoff, from 1."""
    sign = {"worst": 1, "best": -1}.get(ties, 0)
    order = sorted(range(len(gains)), key=lambda i: (-scores[i], sign * gains[i]))
    at_rank = []
    for score, block in groupby(order, key=scores.__getitem__):
        block_gains = [gains[i] for i in block]
        if score == -np.inf:
            block_gains = [Fraction(0)] * len(block_gains)
        elif ties == "average":
            mean = sum(block_gains) / len(block_gains)
            block_gains = [mean] * len(block_gains)
        at_rank += block_gains
    converted = {}  # a tie block is one value
    terms = [
        converted.setdefault(gain, as_mpf(gain)) * discount
        for gain, discount in zip(at_rank, discounts, strict=True)
    ]
    return list(accumulate(terms))


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


def hold_with_both_kernels(monkeypatch, errors):
    """The exact values, which take much longer, are computed once."""
    for kernels in filter(None, (_kernels.numpy_kernels, compiled)):
        monkeypatch.setattr(_kernels, "backend", kernels)
        hold(*errors())


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
    "half retrieved": lambda rng, n, gains: np.where(rng.random(n) < 0.5, -np.inf, rng.normal(size=n)),
    "perfect": lambda rng, n, gains: gains,
    "upside down": lambda rng, n, gains: -gains,
    "near ties": lambda rng, n, gains: 1 + np.finfo(float).eps * rng.integers(0, n, n),
}  # fmt: skip
# each with each other by CI, and each of both every day
PAIRS = [
    pytest.param(gains, scores, marks=() if i % len(SCORES) == j else pytest.mark.ci)
    for i, gains in enumerate(GAINS)
    for j, scores in enumerate(SCORES)
]


@pytest.mark.parametrize(("gains", "scores"), PAIRS)
def test_samples_and_curve(gains, scores):
    rng = np.random.default_rng([list(GAINS).index(gains), list(SCORES).index(scores)])
    errors = []
    for n, discount, ties in [
        (2, "log", "average"), (7, "reciprocal", "best"), (100, "log", "stable"),
        (60, "reciprocal", "worst"), (300, "log", "average"), (50, "none", "average"),
        (90, "log", "best"), (40, "log", "worst"), (70, "reciprocal", "average"),
    ]:  # fmt: skip
        y = GAINS[gains](rng, n)
        s = SCORES[scores](rng, n, y)
        exact = exact_gains(y)
        discounts = exact_discounts(400, discount)[:n]
        dcgs = exact_dcgs(exact, s.tolist(), discounts, ties)
        ideals = exact_ideals(exact, discounts)
        options = {"discount": discount, "ties": ties}
        expected = ratios(dcgs, ideals)
        for k in {1, (n + 1) // 2, n}:
            errors += [
                error(dcg_samples([y], [s], k=k, **options), [dcgs[k - 1]]),
                error(ndcg_samples([y], [s], k=k, **options), [expected[k - 1]]),
            ]
        _, curve = ndcg_curve([y], [s], **options)
        errors.append(error(curve, expected))
    hold(errors)


@pytest.mark.parametrize("base", [np.nextafter(1, 2), 1.001, 1.5, 2.5, np.e, 10, 1e300])
@pytest.mark.parametrize("scores", ["distinct", "heavy ties"])
def test_bases_of_the_logarithm(base, scores):
    rng = np.random.default_rng(0)
    n = 500
    y = GAINS["12 orders of magnitude"](rng, n)
    s = SCORES[scores](rng, n, y)
    dcgs = exact_dcgs(exact_gains(y), s.tolist(), exact_discounts(n, "log", float(base)), "average")
    for k in (1, 2, 10, n):
        hold(error(dcg_samples([y], [s], k=k, log_base=base), [dcgs[k - 1]]))


EXPONENTS = {
    "grades": lambda rng: rng.integers(0, 6, 300).astype(float),
    "900 grades": lambda rng: rng.integers(0, 900, 300).astype(float),
    "reals": lambda rng: rng.uniform(0, 5, 300),
    "12 orders": lambda rng: 10 ** rng.uniform(-12, 0, 300),
    "300 orders": lambda rng: 10.0 ** rng.integers(-300, 2, 300),
    "near 1": lambda rng: 1 + rng.uniform(-1e-12, 1e-12, 300),
}


@pytest.mark.parametrize("relevance", EXPONENTS)
@pytest.mark.parametrize(
    "scores", ["distinct", "heavy ties", pytest.param("upside down", marks=pytest.mark.ci)]
)
def test_exponential_gain(relevance, scores):
    rng = np.random.default_rng(1)
    y = EXPONENTS[relevance](rng)
    s = SCORES[scores](rng, len(y), y)
    exact, discounts = exact_gains(y, "exponential"), exact_discounts(400)[: len(y)]
    dcgs = exact_dcgs(exact, s.tolist(), discounts, "average")
    expected = ratios(dcgs, exact_ideals(exact, discounts))
    hold(error(dcg_samples([y], [s], gain="exponential"), dcgs[-1:]))
    hold(error(ndcg_samples([y], [s], gain="exponential"), expected[-1:]))


@pytest.mark.parametrize("ties", TIES)
def test_error_of_negative_gains_relative_to_the_sum_of_their_sizes(ties):
    """Where gains cancel out, a relative error says little."""
    rng = np.random.default_rng(2)
    y, s = rng.normal(size=500) * 10 ** rng.uniform(-6, 6, 500), rng.integers(0, 60, 500)
    exact, discounts = exact_gains(y), exact_discounts(500)
    dcg = exact_dcgs(exact, s.tolist(), discounts, ties)[-1]
    size = exact_dcgs([abs(gain) for gain in exact], s.tolist(), discounts, ties)[-1]
    assert abs(mp.mpf(dcg_samples([y], [s], ties=ties)[0]) - dcg) / size < LIMIT


def test_many_queries_in_rows_of_any_order():
    rng = np.random.default_rng(4)
    lengths = rng.integers(1, 40, 60)
    groups = rng.permutation(np.repeat(np.arange(60), lengths))
    y, s = 10 ** rng.uniform(-6, 6, len(groups)), rng.integers(0, 9, len(groups)).astype(float)
    expected = []
    for query in range(60):
        rows = groups == query
        exact, discounts = exact_gains(y[rows]), exact_discounts(400)[: rows.sum()]
        dcg = exact_dcgs(exact, s[rows].tolist(), discounts, "average")[-1]
        expected.append(dcg / exact_ideals(exact, discounts)[-1])
    hold(error(ndcg_samples(y, s, groups=groups), expected))
    hold(error(ndcg_score(y, s, groups=groups), [sum(expected) / 60]))
    weight = rng.integers(1, 1000, 60)
    mean = sum(int(w) * value for w, value in zip(weight, expected, strict=True)) / weight.sum()
    found = ndcg_score(y, s, groups=groups, sample_weight=weight[groups] * 1e-200)
    hold(error(found, [mean]))


LONG = 100_000
LONG_GAINS = ["grades", "12 orders of magnitude", "one giant last", "a third of 1"]


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("scores", ["distinct", "heavy ties", "tail tied"])
@pytest.mark.parametrize("gains", LONG_GAINS)
def test_a_hundred_thousand_documents(gains, scores, ties, monkeypatch):
    rng = np.random.default_rng(5)
    y = GAINS[gains](rng, LONG)
    s = SCORES[scores](rng, LONG, y)
    exact, discounts = exact_gains(y), exact_discounts(LONG)
    dcgs = exact_dcgs(exact, s.tolist(), discounts, ties)
    ideals = exact_ideals(exact, discounts)
    hold_with_both_kernels(
        monkeypatch,
        lambda: [
            error(dcg_samples([y], [s], ties=ties), dcgs[-1:]),
            error(ndcg_samples([y], [s], ties=ties), [dcgs[-1] / ideals[-1]]),
            error(ndcg_samples([y], [s], ties=ties, k=77_777), [dcgs[77_776] / ideals[77_776]]),
        ],
    )


@pytest.mark.parametrize(
    ("gains", "n"),
    [
        ("12 orders of magnitude", 3000),
        pytest.param("12 orders of magnitude", LONG, marks=pytest.mark.slow),
        pytest.param("a third of 1", LONG, marks=pytest.mark.slow),
    ],
)
def test_every_cutoff_of_a_long_query(gains, n, monkeypatch):
    rng = np.random.default_rng(6)
    y = GAINS[gains](rng, n)
    s = SCORES["distinct"](rng, n, y)
    exact, discounts = exact_gains(y), exact_discounts(n)
    expected = ratios(
        exact_dcgs(exact, s.tolist(), discounts, "average"), exact_ideals(exact, discounts)
    )
    hold_with_both_kernels(monkeypatch, lambda: [error(ndcg_curve([y], [s])[1], expected)])
