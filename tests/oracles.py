"""NDCG computed in slow and simple ways, for comparison with the library."""

from fractions import Fraction
from itertools import pairwise, permutations
from math import fsum, log2

import numpy as np


def log_discount(rank):
    return 1 / log2(rank + 1)


def exact_dcg(gains, scores, k=None, discount=log_discount, ties="average"):
    """DCG as a mean over every order that the scores allow."""
    retrieved = [i for i, score in enumerate(scores) if score != -np.inf]
    k = len(gains) if k is None else k
    weights = [Fraction(discount(rank)) for rank in range(1, len(gains) + 1)]
    values = []
    for order in permutations(retrieved):
        if all(scores[a] >= scores[b] for a, b in pairwise(order)):
            value = sum(Fraction(gains[i]) * weights[r] for r, i in enumerate(order[:k]))
            values.append((value, list(order)))
    if ties == "average":
        return float(sum(value for value, _ in values) / len(values))
    if ties == "stable":
        return float(next(value for value, order in values if _is_stable(order, scores)))
    return float((min if ties == "worst" else max)(value for value, _ in values))


def exact_ideal(gains, k=None, discount=log_discount):
    ranked = sorted(gains, reverse=True)[:k]
    return float(sum(Fraction(g) * Fraction(discount(r)) for r, g in enumerate(ranked, 1)))


def _is_stable(order, scores):
    return all(scores[a] > scores[b] or a < b for a, b in pairwise(order))


def loop_ndcg(y_true, y_score, groups, k=None):
    """Tie-averaged NDCG by sorting, summing and dividing, one query at a time; sorted by id."""
    values = []
    for query in sorted(set(groups)):
        rows = [i for i, each in enumerate(groups) if each == query]
        gains = [float(y_true[i]) for i in rows]
        scores = [float(y_score[i]) for i in rows]
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
        sums += [each + term for each in sums]
    above, below = sum(each <= 0 for each in sums), sum(each >= 0 for each in sums)
    return min(1, 2 * min(above, below) / len(sums))
