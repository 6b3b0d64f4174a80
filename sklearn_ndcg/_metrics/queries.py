"""Checked rows of whole queries, and the numbers of the measure that they were read for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import Floats, Grades, Ints, warn
from sklearn_ndcg._kernels import exact_sum, weighted_means, weighted_sums
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg._rows import Grouping, shown_labels

LARGEST_WEIGHT = 1e300  # sums of so large weights are still float64
_BLOCK = 1 << 22  # values of queries at cutoffs that are held at a time: 32 MB


class Totals(NamedTuple):
    """Weighted sums over some of the queries; the largest of their weights counts as 1 in them."""

    n_queries: int
    n_undefined: int
    largest_weight: float
    total: float
    defined_weight: float
    undefined_weight: float


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows in which query q is the run ``starts[q] : starts[q] + lengths[q]``.

    Made by `_inputs.read_queries`, for one measure. `gain` is float64, or grades of one byte whose
    gains are in `gain_table`. `kept` says which of the gathered rows these are, where unjudged ones
    were omitted; `shape` is that of `y_true`. `weight` has one weight per query.
    """

    measure: Measure
    grouping: Grouping
    shape: tuple[int, ...]
    kept: NDArray[np.bool_] | None
    gain: Floats | Grades
    gain_table: Floats
    score: Floats
    starts: Ints
    lengths: Ints
    weight: Floats | None

    def __len__(self) -> int:
        return len(self.starts)

    def values(self) -> Floats:
        """The measure of every query at every cutoff, shape (n_queries, n_cutoffs)."""
        if not self.measure.normalized:
            cutoffs, column = self._distinct_cutoffs()
            return self._dcg(cutoffs, self.measure.discounts(cutoffs[-1]))[:, column]
        ndcg = self.ndcg(*self.dcg_and_ideal())
        undefined = np.isnan(ndcg[:, 0])
        if undefined.any():
            ndcg[undefined] = replace_undefined(self.measure, int(undefined.sum()), len(ndcg))
        return ndcg

    def means(self) -> Floats:
        """Weighted mean of the values over queries, one for each cutoff."""
        cutoffs = self.measure.cutoffs
        step = max(1, _BLOCK // len(self))
        if len(cutoffs) <= step:
            return self.mean_of(self.values())
        means, queries = [], self
        for first in range(0, len(cutoffs), step):
            part = replace(queries.measure, k=list(cutoffs[first : first + step]))
            means.append(replace(queries, measure=part).means())
            queries = self.without_warning()  # one is enough
        return np.concatenate(means)

    def mean_of(self, values: Floats) -> Floats:
        """Weighted mean over queries of each column, without rows of nan; nan if none is left."""
        scored = ~np.isnan(values[:, 0])
        weight = self._weights()[scored]
        if not weight.any():
            return np.full(values.shape[1], np.nan)
        with np.errstate(over="ignore"):
            means = weighted_means(values[scored].T, weight)
        if not np.isfinite(means).all():
            raise ValueError(
                "y_true has gains whose mean over queries is more than a float64 holds: scale "
                "y_true down, or pass a gain that does."
            )
        return np.asarray(means)

    def totals(self) -> Totals:
        """What a mean over these and other queries is made of, for one cutoff."""
        values = self.ndcg(*self.dcg_and_ideal())
        defined = ~np.isnan(values[:, 0])
        largest = 1.0 if self.weight is None else float(self.weight.max())
        weight = self._weights() if largest else np.zeros(len(self))
        total = float(weighted_sums(values[defined].T, weight[defined])[0])
        sums = total, exact_sum(weight[defined]), exact_sum(weight[~defined])
        return Totals(len(self), int((~defined).sum()), largest, *sums)

    def dcg_and_ideal(self) -> tuple[Floats, Floats]:
        """DCG and ideal DCG of every query at every cutoff, each (n_queries, n_cutoffs)."""
        cutoffs, column = self._distinct_cutoffs()
        discount = self.measure.discounts(cutoffs[-1])
        dcg = self._dcg(cutoffs, discount)[:, column]
        if "retrieved" not in self.measure.cutoffs:
            return dcg, self._ideal(cutoffs, discount)[:, column]
        n_before = np.r_[0, np.cumsum(self.score > -np.inf)]
        n_retrieved = n_before[self.starts + self.lengths] - n_before[self.starts]
        # with none retrieved the DCG is 0, and the ideal at 1 shows whether NDCG is defined
        own_cutoff = np.maximum(n_retrieved, 1)[:, np.newaxis]
        is_own = [k == "retrieved" for k in self.measure.cutoffs]
        return dcg, self._ideal(np.where(is_own, own_cutoff, cutoffs[column]), discount)

    @staticmethod
    def ndcg(dcg: Floats, ideal: Floats) -> Floats:
        """DCG over ideal DCG, nan where a query has no relevant document."""
        values = np.full(ideal.shape, np.nan)
        np.divide(dcg, ideal, out=values, where=ideal > 0)
        return np.asarray(np.minimum(values, 1))  # rounding must not put anything above perfect

    def without_warning(self) -> Queries:
        """The same, for a measure that does not warn of undefined queries."""
        value = self.measure.undefined_value
        return replace(self, measure=replace(self.measure, replace_undefined_by=value))

    def in_random_order(self) -> Queries:
        """The same with the retrieved documents tied, so that a mean is that over all orders.

        Documents that were not retrieved stay so, as no order of a list adds one to it.
        """
        tied = np.where(self.score == -np.inf, -np.inf, 0.0)
        return replace(
            self, score=tied, measure=replace(self.measure, ties="average", ignore_ties=False)
        )

    def mean_curve(self, k: Ints | None) -> tuple[Ints, Floats]:
        """Cutoffs, by default all, and the mean NDCG at each.

        Queries times cutoffs are never held in memory as a whole.
        """
        k = np.arange(1, self._longest + 1) if k is None else k
        cutoffs, column = np.unique(k, return_inverse=True)
        weight = self._weights()

        def weighted(values: Floats, part: Ints) -> Iterator[Floats]:
            yield values * weight[part]

        (sums,), undefined = self._curve_sums(cutoffs, weighted)
        n_undefined = int(undefined.sum())
        value = replace_undefined(self.measure, n_undefined, len(self)) if n_undefined else 0.0
        totals = weight[~undefined].sum(), weight[undefined].sum()
        return k, mean_with_undefined(sums, *totals, value)[column]

    def curve_moments(self, cutoffs: Ints, weights: Floats, center: float) -> tuple[Floats, Floats]:
        """Sums over queries of ``weight * (ndcg - center)``, and of its square, at each cutoff.

        Both have a row for each row of `weights`. Undefined queries count with their value, and
        not at all where that is nan.
        """

        def moments(values: Floats, part: Ints) -> Iterator[Floats]:
            distance = values - center
            for power in (1, 2):
                for weight in weights:
                    yield distance**power * weight[part]

        sums, undefined = self._curve_sums(cutoffs, moments)
        distance = np.nan_to_num(self.measure.undefined_value - center)
        total = weights[:, undefined].sum(axis=1)[:, np.newaxis]
        first, second = np.array(sums[: len(weights)]), np.array(sums[len(weights) :])
        return first + total * distance, second + total * distance**2

    def _curve_sums(
        self, cutoffs: Ints, terms: Callable[[Floats, Ints], Iterator[Floats]]
    ) -> tuple[list[Floats], NDArray[np.bool_]]:
        """Sums of terms of each query's NDCG at each cutoff, and which queries are undefined.

        `terms` takes the values of some queries, shape (n_cutoffs, n), and their numbers.
        """
        discount = self.measure.discounts(min(cutoffs[-1], self._longest))
        undefined = np.zeros(len(self), dtype=bool)
        sums: Any = 0
        beyond: Any = 0
        for part, n_cutoffs in self._curve_blocks(cutoffs):
            block = replace(self, starts=self.starts[part], lengths=self.lengths[part])
            ends = cutoffs[:n_cutoffs]
            dcg, ideal = block._dcg(ends, discount, part), block._ideal(ends, discount, part)
            values = self.ndcg(dcg, ideal)
            undefined[part] = np.isnan(values[:, 0])
            defined = ~undefined[part]
            # along rows of memory NumPy sums in pairs, so that no digit is lost over many queries
            by_cutoff = np.ascontiguousarray(values[defined].T)
            block_sums = np.array([each.sum(axis=1) for each in terms(by_cutoff, part[defined])])
            sums = sums + np.pad(block_sums, ((0, 0), (0, len(cutoffs) - n_cutoffs)))
            # a curve is flat from its last document on
            last = np.zeros((len(block_sums), len(cutoffs) + 1))
            last[:, n_cutoffs] = block_sums[:, -1]
            beyond = beyond + last
        return list(sums + np.cumsum(beyond, axis=1)[:, :-1]), undefined

    def _curve_blocks(self, cutoffs: Ints) -> Iterator[tuple[Ints, int]]:
        """Blocks of queries, and how many cutoffs it takes to pass their last documents."""
        order = np.arange(len(self))
        n_cutoffs = np.full(len(self), len(cutoffs))
        if len(self) * len(cutoffs) > _BLOCK:
            order = np.argsort(self.lengths, kind="stable")
            n_passed = np.searchsorted(cutoffs, self.lengths[order]) + 1
            n_cutoffs = np.minimum(n_passed, len(cutoffs))
        first = 0
        while first < len(order):
            size = max(1, _BLOCK // n_cutoffs[first])
            while size > 1 and size * n_cutoffs[first : first + size][-1] > _BLOCK:
                size //= 2
            last = min(first + size, len(order))
            yield order[first:last], int(n_cutoffs[last - 1])
            first = last

    @cached_property
    def _longest(self) -> int:
        return max(1, int(self.lengths.max()))

    def _weights(self) -> Floats:
        """Weights of the queries, the largest 1, so that no sum of them is too large."""
        return np.ones(len(self)) if self.weight is None else self.weight / self.weight.max()

    def _distinct_cutoffs(self) -> tuple[Ints, Ints | slice]:
        """The distinct ranks to cut at, no deeper than any query, and which is that of each k."""
        # documents that were not retrieved add nothing to a DCG, so "retrieved" need not cut it
        ends = [min(k, self._longest) if isinstance(k, int) else self._longest
                for k in self.measure.cutoffs]  # fmt: skip
        if len(ends) == 1:
            return np.array(ends, dtype=np.intp), slice(None)
        return np.unique(np.array(ends, dtype=np.intp), return_inverse=True)

    def _dcg(self, cutoffs: Ints, discount: Floats, part: Ints | None = None) -> Floats:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            values = _kernels.in_threads(
                lambda some: _kernels.backend.dcg(
                    self.gain, self.score, self.starts[some], self.lengths[some], discount, cutoffs,
                    self.measure.tie_rule, self.gain_table,
                ),
                self.lengths,
                len(self.gain),
            )  # fmt: skip
        return self._check_finite(values, part)

    def _ideal(self, cutoffs: Ints, discount: Floats, part: Ints | None = None) -> Floats:
        with np.errstate(over="ignore", under="ignore"):
            values = _kernels.in_threads(
                lambda some: _kernels.backend.ideal_dcg(
                    self.gain, self.starts[some], self.lengths[some], discount,
                    cutoffs if cutoffs.ndim == 1 else cutoffs[some], self.gain_table,
                ),
                self.lengths,
                len(self.gain),
            )  # fmt: skip
        return self._check_finite(values, part)

    def _check_finite(self, values: Floats, part: Ints | None) -> Floats:
        """Raise where a sum is too large; `part` are the numbers of the queries, if not all."""
        wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if len(wrong):
            queries = np.sort(wrong if part is None else part[wrong])
            count = f"{len(wrong)} {'query' if len(wrong) == 1 else 'queries'}"
            raise ValueError(
                f"y_true has gains that, times discount, add up to more than a float64 holds in "
                f"{count}, the first {shown_labels(self.grouping.labels[queries], 1)}: scale "
                "y_true down, or pass a gain that does."
            )
        return values


def mean_of_totals(measure: Measure, parts: list[Totals]) -> float:
    """The mean over all queries, from the sums over parts of them."""
    largest = max(part.largest_weight for part in parts)
    if not largest:
        raise ValueError("sample_weight is 0 for every query: nothing is left to average over.")
    n_undefined = sum(part.n_undefined for part in parts)
    value = 0.0
    if n_undefined:
        value = replace_undefined(measure, n_undefined, sum(part.n_queries for part in parts))
    total, defined, undefined = (
        fsum(getattr(part, name) * (part.largest_weight / largest) for part in parts)
        for name in ("total", "defined_weight", "undefined_weight")
    )
    return float(mean_with_undefined(total, defined, undefined, value))


def mean_with_undefined(
    sums: Any, defined_weight: float, undefined_weight: float, value: float
) -> Any:
    """The mean over queries, from the weighted sums of those that are defined.

    `value` is that of the undefined queries, or nan if they are left out.
    """
    if np.isnan(value):
        undefined_weight = value = 0.0
    total = defined_weight + undefined_weight
    return (sums + value * undefined_weight) / total if total else sums * np.nan


def replace_undefined(measure: Measure, count: int, n_queries: int) -> float:
    """The value of undefined queries, with the warning where one is due."""
    if measure.replace_undefined_by == "warn":
        warn(
            f"NDCG is undefined for {count} of {n_queries} queries, which have no relevant "
            "document, and is set to 0.0 there. Pass replace_undefined_by=0.0 to keep that without "
            "this warning, another number, or nan to leave them out of the mean.",
            UndefinedMetricWarning,
        )
    return measure.undefined_value
