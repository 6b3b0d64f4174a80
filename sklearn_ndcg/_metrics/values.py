"""The values of queries: what is undefined, their sums and their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import NamedTuple, NoReturn

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Floats, Ints, Mask
from sklearn_ndcg._kernels.sums import exact_sum
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg._metrics.queries import Queries


class Totals(NamedTuple):
    """Weighted sums over some queries, from which means are computed.

    `total` has a sum for each cutoff. In the sums weights are divided by `scale`, the largest that
    counts. Undefined queries count with their value, and not at all if it is nan.
    """

    total: Floats
    weight: float
    scale: float
    largest_weight: float

    @classmethod
    def of_parts(cls, parts: Sequence[Totals]) -> Totals:
        """Sums over all queries, from the sums over parts of them."""
        totals, weights, scales, largest = zip(*parts, strict=True)
        factors = np.array(scales) / (max(scales) or 1)
        sums = np.c_[np.array(totals), weights] * np.c_[factors]
        *total, weight = map(fsum, sums.T)
        return cls(np.array(total), weight, max(scales), max(largest))

    def means(self) -> Floats:
        """The mean over queries at each cutoff; nan if all of them were left out."""
        if not self.largest_weight:
            refuse_weights_of_0()
        if not np.isfinite(self.total).all():
            raise ValueError(
                "y_true has gains whose mean over queries is more than a float64 holds: scale "
                "y_true down, or pass a gain that does."
            )
        return self.total / self.weight if self.weight else np.full(len(self.total), np.nan)


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a measure for each query and cutoff, nan where it is undefined.

    Nothing is said of undefined queries until `report_undefined` is called.
    """

    measure: Measure
    values: Floats
    weight: Floats

    @classmethod
    def of(cls, measure: Measure, queries: Queries) -> Values:
        """Evaluate a measure."""
        return cls(measure, measure.values(queries), queries.weight)

    def take(self, queries: Ints) -> Values:
        """Those of some queries."""
        return Values(self.measure, self.values[queries], self.weight[queries])

    @cached_property
    def undefined(self) -> Mask:
        """Which queries have no value."""
        return np.isnan(self.values[:, 0])

    def report_undefined(self) -> Values:
        """Warn of undefined queries, or raise, as the measure says; then return these values."""
        if self.undefined.any():
            report_undefined(self.measure, int(self.undefined.sum()), len(self.values))
        return self

    def filled(self) -> Floats:
        """The values, with that of undefined queries, which is nan if they are left out."""
        if not self.undefined.any():
            return self.values
        value = self.measure.undefined_rule.value
        return np.where(self.undefined[:, np.newaxis], value, self.values)

    def totals(self) -> Totals:
        """Sums from which a mean over these and other queries is computed."""
        values = self.filled()
        counts = ~np.isnan(values[:, 0])
        scale, largest = self.weight[counts].max(initial=0), self.weight.max()
        weight = self.weight[counts] / (scale or 1)  # so that no sum is too large
        sums = np.array(list(map(exact_sum, values[counts].T * weight)))
        return Totals(sums, exact_sum(weight), float(scale), float(largest))

    def means(self) -> Floats:
        """Weighted mean over queries, one for each cutoff."""
        return self.totals().means()


def report_undefined(measure: Measure, n_undefined: int, n_queries: int) -> None:
    """Warn of undefined queries, or raise, as the measure says."""
    value, warns, raises, cause = measure.undefined_rule
    value = value or 0.0  # not -0.0
    if not n_undefined or not (warns or raises):
        return
    undefined = f"{measure.name} is undefined for {n_undefined} of {n_queries} queries{cause}"
    if raises:
        raise ValueError(
            f"{undefined}. Pass undefined='omit' to leave them out of the mean, or"
            " a number as their value."
        )
    _checks.warn(
        f"{undefined}, and is set to {value} there. Pass "
        f"undefined={value} to keep that, another number, or 'omit' to leave them out.",
        UndefinedMetricWarning,
    )


def refuse_weights_of_0() -> NoReturn:
    """Raise as no query counts."""
    raise ValueError("sample_weight is 0 for every query: nothing is left to average over.")
