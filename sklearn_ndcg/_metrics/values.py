"""Queries as kernels read them, their values, what is undefined, sums, means and curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import _checks, _kernels
from sklearn_ndcg._checks import Cutoff, Floats, Grades, Ids, Ints, Mask
from sklearn_ndcg._kernels.numpy_kernels import TieRule
from sklearn_ndcg._kernels.sums import exact_sum
from sklearn_ndcg._rows.grouping import kept_runs
from sklearn_ndcg._rows.label_texts import count_of_queries, shown_labels

if TYPE_CHECKING:
    from sklearn_ndcg._metrics.measure import NDCG, Measure

_VALUES_AT_A_TIME = 1 << 22  # values of queries at cutoffs, which take 32 MB


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows in which query q is the run ``starts[q] : starts[q] + lengths[q]``.

    Made by `Rankings.queries`, for one ranker and one measure. `gain` is float64, or grades of one
    byte whose gains are in `gain_table`. `weight` and `labels` have one entry per query.
    `relevance_name` is the argument that has the relevance.
    """

    labels: Ids
    starts: Ints
    lengths: Ints
    gain: Floats | Grades
    gain_table: Floats
    score: Floats
    weight: Floats
    relevance_name: str = "y_true"

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def longest(self) -> int:
        """The number of documents of the longest query, at least 1."""
        return max(1, int(self.lengths.max()))

    def ends(self, k: Cutoff) -> Ints:
        """The cutoff for the kernels, in an array, not beyond the longest query."""
        # documents that were not retrieved add nothing to a DCG, so "retrieved" need not cut it
        end = min(k, self.longest) if isinstance(k, int) else self.longest
        return np.array([end], dtype=np.intp)

    def dcg(self, discount: Floats, cutoffs: Ints, ties: TieRule) -> Floats:
        """DCG of each query at distinct cutoffs, which ascend."""
        dcg: Floats = _kernels.backend.dcg(
            self.gain,
            self.score,
            self.starts,
            self.lengths,
            discount,
            cutoffs,
            ties,
            self.gain_table,
        )
        if not np.isfinite(dcg).all():
            self._refuse_overflow(dcg)
        return dcg

    def ideal_dcg(self, discount: Floats, cutoffs: Ints) -> Floats:
        """DCG of each query's best order, at cutoffs as in `dcg` or at those of each query."""
        ideal: Floats = _kernels.backend.ideal_dcg(
            self.gain, self.starts, self.lengths, discount, cutoffs, self.gain_table
        )
        if not np.isfinite(ideal).all():
            self._refuse_overflow(ideal)
        return ideal

    def _refuse_overflow(self, sums: Floats) -> None:
        wrong, name = ~np.isfinite(sums).all(axis=1), self.relevance_name
        raise ValueError(
            f"{name} has gains that, times discount, add up to more than a float64 holds "
            f"in {count_of_queries(int(wrong.sum()))}, the first "
            f"{shown_labels(self.labels[wrong], 1)}: scale {name} down, or pass a gain "
            "that does."
        )

    def n_retrieved(self) -> Ints:
        """How many documents of each query were retrieved."""
        return kept_runs(self.score > -np.inf, self.starts, self.lengths)[1]

    def in_random_order(self) -> Queries:
        """These rows with all retrieved documents tied; others stay as they are."""
        return replace(self, score=np.where(self.score == -np.inf, -np.inf, 0.0))

    def take(self, numbers: Ints) -> Queries:
        """Some of the queries."""
        return replace(
            self,
            labels=self.labels[numbers],
            starts=self.starts[numbers],
            lengths=self.lengths[numbers],
            weight=self.weight[numbers],
        )


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
        # column by column: a product of the transpose crashes NumPy 2.4 if memory runs out
        sums = np.array([exact_sum(column * weight) for column in values[counts].T])
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


def value_blocks(measure: NDCG, queries: Queries, cutoffs: Ints) -> Iterator[tuple[Ints, Values]]:
    """Numbers of queries, and their values at the cutoffs, which ascend and differ.

    A block may have fewer columns than there are cutoffs: its values are the same from its last
    column on, as none of its queries has more documents.
    """
    discount = measure.discounts_to(cutoffs, queries)
    for numbers, n_cutoffs in _blocks(queries.lengths, cutoffs):
        block, ends = queries.take(numbers), cutoffs[:n_cutoffs]
        ndcg = measure.ratio(*measure.dcg_and_ideal_at(ends, discount, block))
        yield numbers, Values(measure, ndcg, block.weight)


def _blocks(lengths: Ints, cutoffs: Ints) -> Iterator[tuple[Ints, int]]:
    """Blocks of queries, and how many cutoffs it takes to pass their last documents."""
    order, n_cutoffs = np.arange(len(lengths)), np.full(len(lengths), len(cutoffs))
    if len(lengths) * len(cutoffs) > _VALUES_AT_A_TIME:
        order = np.argsort(lengths, kind="stable")
        n_cutoffs = np.minimum(np.searchsorted(cutoffs, lengths[order]) + 1, len(cutoffs))
    first = 0
    while first < len(order):
        size = max(1, _VALUES_AT_A_TIME // n_cutoffs[first])
        while size > 1 and size * n_cutoffs[first : first + size][-1] > _VALUES_AT_A_TIME:
            size //= 2
        yield order[first : first + size], int(n_cutoffs[first : first + size][-1])
        first += size


def to_all_cutoffs(sums: Floats, n_cutoffs: int) -> Floats:
    """Sums over a block, one for each of its cutoffs (last axis), for all cutoffs."""
    missing = n_cutoffs - sums.shape[-1]
    return np.concatenate([sums, np.repeat(sums[..., -1:], missing, axis=-1)], axis=-1)


class MeanCurve(NamedTuple):
    """Cutoffs, the mean NDCG at each, and how many queries are undefined."""

    k: Ints
    ndcg: Floats
    n_undefined: int

    @classmethod
    def of(cls, measure: NDCG, queries: Queries, k: Ints) -> MeanCurve:
        """The curve over the cutoffs.

        Values of all queries at all cutoffs are never in memory at once.
        """
        cutoffs, column = np.unique(k, return_inverse=True)
        parts, n_undefined = [], 0
        for _, values in value_blocks(measure, queries, cutoffs):
            totals = values.totals()
            parts.append(totals._replace(total=to_all_cutoffs(totals.total, len(cutoffs))))
            n_undefined += int(np.count_nonzero(values.undefined))
        return cls(k, Totals.of_parts(parts).means()[column], n_undefined)
