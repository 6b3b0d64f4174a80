"""NDCG computed in slow and simple ways, for comparison with the library."""

from fractions import Fraction
from itertools import accumulate, groupby
from math import fsum, log2

import numpy as np


def log_discount(rank):
    return 1 / log2(rank + 1)


GAINS = {"linear": lambda grade: grade, "exponential": lambda grade: 2**grade - 1}
DISCOUNTS = {"log": log_discount, "reciprocal": lambda rank: 1 / rank, "none": lambda rank: 1.0}


def exact_dcgs(gains, scores, discounts, ties="average"):
    """DCG at every cutoff from 1, of gains in fractions and discounts of any exact kind."""
    sign = {"worst": 1, "best": -1}.get(ties, 0)
    order = sorted(range(len(gains)), key=lambda i: (-scores[i], sign * gains[i]))
    at_rank = []
    for score, block in groupby(order, key=scores.__getitem__):
        block_gains = [gains[i] for i in block]
        if score == -np.inf:
            block_gains = [Fraction(0)] * len(block_gains)
        elif ties == "average":
            block_gains = [sum(block_gains) / len(block_gains)] * len(block_gains)
        at_rank += block_gains
    pairs = zip(at_rank, discounts, strict=True)
    return list(accumulate(d * gain.numerator / gain.denominator for gain, d in pairs))


def exact_dcg(gains, scores, k=None, discount=log_discount, ties="average"):
    """DCG of one query, whose discounts are a function of the rank."""
    discounts = [Fraction(discount(rank)) for rank in range(1, len(gains) + 1)]
    dcgs = exact_dcgs(list(map(Fraction, gains)), scores, discounts, ties)[:k]
    return float(dcgs[-1]) if dcgs else 0.0


def exact_ideal(gains, k=None, discount=log_discount):
    """DCG of the best order."""
    return exact_dcg(gains, gains, k, discount)


def loop_ndcg(y_true, y_score, groups, k=None):
    """Tie-averaged NDCG by sorting, summing and dividing, one query at a time; sorted by id."""
    values = []
    for query in sorted(set(groups)):
        rows = [row for row, group in enumerate(groups) if group == query]
        gains = [float(y_true[row]) for row in rows]
        scores = [float(y_score[row]) for row in rows]
        cut = len(gains) if k is None else k
        terms, rank = [], 1
        for score in sorted(set(scores), reverse=True):
            block = [g for g, s in zip(gains, scores, strict=True) if s == score]
            weight = fsum(log_discount(r) for r in range(rank, rank + len(block)) if r <= cut)
            terms.append(fsum(block) / len(block) * weight if score > -np.inf else 0.0)
            rank += len(block)
        best = sorted(gains, reverse=True)[:cut]
        ideal = fsum(g * log_discount(r) for r, g in enumerate(best, 1))
        values.append(fsum(terms) / ideal if ideal else np.nan)
    return np.array(values)


def exact_pvalue(differences, weight):
    """Two-sided p-value over all assignments of signs, in fractions."""
    terms = [Fraction(d) * Fraction(w) for d, w in zip(differences, weight, strict=True)]
    sums = [Fraction(0)]
    for term in terms:  # of the terms that change sign
        sums += [total + term for total in sums]
    above, below = sum(total <= 0 for total in sums), sum(total >= 0 for total in sums)
    return min(1, 2 * min(above, below) / len(sums))
