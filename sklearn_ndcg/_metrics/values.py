"""Queries as kernels read them, their values, what is undefined, sums, means and curves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum, isfinite, nan
from operator import mul
from typing import NamedTuple, NoReturn

import numpy as np

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import Cutoff, Floats, Grades, Ids, Ints, Mask
from sklearn_ndcg._kernels.numpy_kernels import TieRule
from sklearn_ndcg._kernels.sums import exact_sum
from sklearn_ndcg._metrics.choices import UndefinedRule
from sklearn_ndcg._rows.grouping import kept_runs
from sklearn_ndcg._rows.label_texts import count_of_queries, shown_labels

_VALUES_AT_A_TIME = 1 << 22  # values of queries at cutoffs, which take 32 MB


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows in which query q is the run ``starts[q] : starts[q] + lengths[q]``.

    Made by `Rankings.queries`, for one ranker and one measure. `gain` is float64, or grades of one
    byte whose gains are in `gains_of_grades`. `weight` and `labels` have one entry per query.
    `relevance_name` is the argument that has the relevance.
    """

    labels: Ids
    starts: Ints
    lengths: Ints
    gain: Floats | Grades
    gains_of_grades: Floats
    score: Floats
    weight: Floats
    relevance_name: str = "y_true"

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def longest(self) -> int:
        """The number of documents of the longest query, at least 1."""
        return max(1, int(self.lengths.max()))

    def cutoffs(self, k: Cutoff) -> Ints:
        """One cutoff, in an array as kernels read it, not beyond the longest query."""
        # documents that were not retrieved add nothing to a DCG, so "retrieved" need not cut it
        end = min(k, self.longest) if isinstance(k, int) else self.longest
        return np.array([end], dtype=np.intp)

    def dcg(self, discount: Floats, cutoffs: Ints, ties: TieRule) -> Floats:
        """DCG of each query: a row for each of the cutoffs, which ascend and differ."""
        dcg: Floats = _kernels.backend.dcg(
            self.gain,
            self.score,
            self.starts,
            self.lengths,
            discount,
            cutoffs,
            ties,
            self.gains_of_grades,
        )
        if not np.isfinite(dcg).all():
            self._refuse_overflow(dcg)
        return dcg.T

    def ideal_dcg(self, discount: Floats, cutoffs: Ints) -> Floats:
        """DCG of each query's best order, at cutoffs as in `dcg` or at one of each query."""
        ideal: Floats = _kernels.backend.ideal_dcg(
            self.gain, self.starts, self.lengths, discount, cutoffs, self.gains_of_grades
        )
        if not np.isfinite(ideal).all():
            self._refuse_overflow(ideal)
        return ideal.T

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

    def blocks(self, cutoffs: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Blocks of queries, and the cutoffs that it takes to pass their last documents."""
        lengths = self.lengths
        order, n_cutoffs = np.arange(len(lengths)), np.full(len(lengths), len(cutoffs))
        if len(lengths) * len(cutoffs) > _VALUES_AT_A_TIME:
            order = np.argsort(lengths, kind="stable")
            n_cutoffs = np.minimum(np.searchsorted(cutoffs, lengths[order]) + 1, len(cutoffs))
        first = 0
        while first < len(order):
            size = max(1, _VALUES_AT_A_TIME // n_cutoffs[first])
            while size > 1 and size * n_cutoffs[first : first + size][-1] > _VALUES_AT_A_TIME:
                size //= 2
            n = n_cutoffs[first : first + size][-1]
            yield order[first : first + size], cutoffs[:n]
            first += size


class Totals(NamedTuple):
    """Weighted sums over some queries, from which a mean is computed.

    In the sums weights are divided by `scale`, the largest that counts. Undefined queries count
    with their value, and not at all if it is nan.
    """

    total: float
    weight: float
    scale: float
    largest_weight: float

    @classmethod
    def of_parts(cls, parts: Sequence[Totals]) -> Totals:
        """Sums over all queries, from the sums over parts of them."""
        totals, weights, scales, largest = zip(*parts, strict=True)
        factors = [scale / (max(scales) or 1) for scale in scales]
        total, weight = (fsum(map(mul, sums, factors)) for sums in (totals, weights))
        return cls(total, weight, max(scales), max(largest))

    def mean(self) -> float:
        """The mean over queries, nan if all of them were left out."""
        if not self.largest_weight:
            refuse_weights_of_0()
        if not isfinite(self.total):
            raise ValueError(
                "y_true has gains whose sum over queries is more than a float64 holds: scale "
                "y_true down, or pass a gain that does."
            )
        return self.total / self.weight if self.weight else nan


@dataclass(frozen=True, eq=False)
class Values:
    """The value of a measure for each query, nan where it is undefined.

    Nothing is said of undefined queries until `report_undefined` is called.
    """

    by_query: Floats
    weight: Floats
    undefined_rule: UndefinedRule

    def take(self, queries: Ints) -> Values:
        """Those of some queries."""
        return Values(self.by_query[queries], self.weight[queries], self.undefined_rule)

    @cached_property
    def undefined(self) -> Mask:
        """Which queries have no value."""
        return np.isnan(self.by_query)

    def report_undefined(self) -> Values:
        """Warn of undefined queries, or raise, as the measure says; then return these values."""
        if self.undefined.any():
            self.undefined_rule.report(int(self.undefined.sum()), len(self.by_query))
        return self

    def filled(self) -> Floats:
        """The values, with that of undefined queries, which is nan if they are left out."""
        if not self.undefined.any():
            return self.by_query
        return np.where(self.undefined, self.undefined_rule.value, self.by_query)

    def totals(self) -> Totals:
        """Sums from which a mean over these and other queries is computed."""
        values = self.filled()
        counts = ~np.isnan(values)
        weight = self.weight[counts]
        scale = float(weight.max(initial=0))
        weight = weight / (scale or 1)  # so that no sum is too large
        total = exact_sum(values[counts] * weight)
        return Totals(total, exact_sum(weight), scale, float(self.weight.max()))

    def mean(self) -> float:
        """Weighted mean over queries."""
        return self.totals().mean()


def refuse_weights_of_0() -> NoReturn:
    """Raise as no query counts."""
    raise ValueError("sample_weight is 0 for every query: nothing is left to average over.")


class ValuesAtCutoffs(NamedTuple):
    """The values of some queries at cutoffs, which they do not change after: one row per cutoff.

    `numbers` says which queries these are. What is undefined, and the weights, are those of `last`,
    the values at the last cutoff.
    """

    numbers: Ints
    last: Values
    values: Floats

    def filled(self) -> Floats:
        """The values, with those of undefined queries, as in `Values`."""
        if not self.last.undefined.any():
            return self.values
        return np.where(self.last.undefined, self.last.undefined_rule.value, self.values)

    def sums(self, scale: float) -> list[float]:
        """The sum over the queries at each cutoff, their weights being divided by the scale."""
        counts = ~np.isnan(self.last.filled())
        weight = self.last.weight[counts] / (scale or 1)
        # one by one: a product of the transpose crashes NumPy 2.4 if memory runs out
        return [exact_sum(row * weight) for row in self.filled()[:, counts]]


def mean_curve(blocks: Iterable[ValuesAtCutoffs], n_cutoffs: int) -> tuple[Floats, int]:
    """The mean at each cutoff over the queries of all blocks, and how many are undefined.

    Values of all queries at all cutoffs are never in memory at once.
    """
    parts, sums, n_undefined = [], [], 0
    for block in blocks:
        parts.append(block.last.totals())
        of_block = block.sums(parts[-1].scale)
        sums.append(of_block + of_block[-1:] * (n_cutoffs - len(of_block)))
        n_undefined += int(np.count_nonzero(block.last.undefined))
    at_last = Totals.of_parts(parts)
    at_last.mean()  # raises if all weights are 0
    factors = [part.scale / (at_last.scale or 1) for part in parts]
    totals = np.array([fsum(map(mul, of_blocks, factors)) for of_blocks in zip(*sums, strict=True)])
    return totals / (at_last.weight or nan), n_undefined
