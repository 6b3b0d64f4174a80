"""NDCG computed in slow and simple ways, for comparison with the library."""

from fractions import Fraction
from itertools import chain, groupby, permutations, product
from math import fsum, log2

import numpy as np


def log_discount(rank):
    return 1 / log2(rank + 1)


# DCG by a tie rule, from its values in all orders that the scores allow, the stable order first
TIES = {
    "average": lambda values: sum(values) / len(values),
    "stable": lambda values: values[0],
    "worst": min,
    "best": max,
}


def exact_dcg(gains, scores, k=None, discount=log_discount, ties="average"):
    """DCG from every order that the scores allow, in fractions."""
    weights = [Fraction(discount(rank)) for rank in range(1, len(gains) + 1)][:k]
    retrieved = [i for i, score in enumerate(scores) if score != -np.inf]
    ranked = sorted(retrieved, key=lambda i: -scores[i])
    tied = [permutations(rows) for _, rows in groupby(ranked, key=lambda i: scores[i])]
    values = [
        sum(Fraction(gains[i]) * weight for i, weight in zip(chain(*order), weights, strict=False))
        for order in product(*tied)
    ]
    return float(TIES[ties](values))


def exact_ideal(gains, k=None, discount=log_discount):
    ranked = sorted(gains, reverse=True)[:k]
    return float(sum(Fraction(g) * Fraction(discount(r)) for r, g in enumerate(ranked, 1)))


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
