"""Sums and means that do not depend on the order of the values, to the last bit."""

from __future__ import annotations

import math

import numpy as np

from sklearn_ndcg._checks import Floats, Ints

_FEW = 512  # up to so many values, math.fsum is faster than NumPy


def weighted_means(values: Floats, weight: Floats) -> Floats:
    """Weighted mean of each row, the same to the last bit in any order of the columns."""
    return np.array(list(map(exact_sum, values * weight))) / exact_sum(weight)


def exact_sum(values: Floats) -> float:
    """The sum, the same to the last bit whatever the order; NaN if both infinities are in it.

    The values are split into parts of so few bits that no sum of these is rounded (Rump, Ogita &
    Oishi 2008, "Accurate floating-point summation", algorithm ExtractVector).
    """
    if len(values) <= _FEW:
        try:
            return math.fsum(values.tolist())
        except OverflowError:
            return np.inf
        except ValueError:  # both infinities
            return np.nan
    largest = float(np.abs(values).max())
    if not 0 < largest < np.inf:
        with np.errstate(invalid="ignore"):
            return float(values.sum())
    exponent, n_bits = math.frexp(largest)[1], len(values).bit_length()
    rest, sums = np.ldexp(values, -exponent), []
    for level in range(3):
        large = math.ldexp(1, n_bits - level * (53 - n_bits))
        leading = (large + rest) - large
        rest = rest - leading
        sums.append(float(leading.sum()))
    with np.errstate(over="ignore"):  # infinite, as above
        return float(np.ldexp(math.fsum(sums), exponent))


def sums_of_runs(values: Floats, starts: Ints) -> Floats:
    """Sums of the runs that begin at `starts`, the same to the last bit in any order of each.

    Values are split as in `exact_sum`, unless those of each run are equal; what is left after two
    parts is below 1e-20 of the largest value.
    """
    if (np.maximum.reduceat(values, starts) == np.minimum.reduceat(values, starts)).all():
        return np.add.reduceat(values, starts)
    n_bits = int(np.diff(starts, append=len(values)).max()).bit_length()
    exponent = math.frexp(values.max())[1] + n_bits
    sums, rest = np.zeros(len(starts)), values
    for large in (math.ldexp(1, exponent), math.ldexp(1, exponent + n_bits - 53)):
        leading = (large + rest) - large
        rest = rest - leading
        sums += np.add.reduceat(leading, starts)
    return np.asarray(sums + np.add.reduceat(rest, starts))
