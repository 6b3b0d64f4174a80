"""Checked rows of whole queries, and the values of a measure on them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import Floats, Grades, Ints, Unjudged, name_of
from sklearn_ndcg._kernels.sums import exact_sum, weighted_sums
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg._rows.grouping import Grouping, kept_runs, shown_labels

LARGEST_WEIGHT = 1e300  # sums of such weights still fit a float64
# what scikit-learn warns and raises, by class or text
_UNDEFINED = "UndefinedMetricWarning|Only one class (is )?present in y_|No positive class found in "
_VALUES_AT_A_TIME = 1 << 22  # values of queries at cutoffs, which take 32 MB


class Totals(NamedTuple):
    """Weighted sums over some queries, from which means are computed.

    `total` has a sum for each cutoff. In the sums weights are divided by `scale`, the largest that
    counts. Undefined queries count with their value, and not at all if it is nan.
    """

    total: Floats
    weight: float
    scale: float
    largest_weight: float
    n_queries: int
    n_undefined: int
    n_single: int = 0  # queries of one document

    @classmethod
    def of_batches(cls, batches: Sequence[Totals]) -> Totals:
        """Sums over all queries, from the sums over batches of them."""
        scale, largest = np.max([batch[2:4] for batch in batches], axis=0)
        scales = [batch.scale / (scale or 1) for batch in batches]
        sums = [[*batch.total, batch.weight] for batch in batches]
        *total, weight = map(fsum, np.transpose(np.multiply(sums, np.c_[scales])))
        counts = np.sum([batch[4:] for batch in batches], axis=0).tolist()
        return cls(np.array(total), weight, scale, largest, *counts)

    def means(self, measure: Measure) -> Floats:
        """The mean over queries at each cutoff, with a warning if some are undefined."""
        refuse_zero_weight(self.largest_weight)
        if self.n_undefined:
            measure.warn_or_raise_if_undefined(self.n_undefined, self.n_queries)
        if not np.isfinite(self.total).all():
            raise ValueError(
                "y_true has gains whose mean over queries is more than a float64 holds: scale "
                "y_true down, or pass a gain that does."
            )
        return self.total / self.weight if self.weight else np.full(len(self.total), np.nan)


@dataclass(frozen=True, repr=False)
class QueryMetric(Measure):
    """A measure that is any function of the relevance and the scores of one query.

    A query is undefined if the function returns nan there, or if scikit-learn warns or raises in it
    because it is. Of the fields of `Measure` only `undefined` has a meaning.
    """

    unjudged: Unjudged = "zero"  # NaN is up to the function
    function: Callable[..., Any] = np.dot
    options: Mapping[str, Any] | None = None
    greater_is_better: bool = True

    def undefined_for(self, queries: str) -> str:
        """What is said of undefined queries."""
        return f"{name_of(self.function)} is undefined for {queries}"

    def values(self, queries: Queries) -> tuple[Floats, int]:
        """The value of each query, shape (n_queries, 1), and how many queries are undefined."""
        y_true, y_score = (np.array(rows, np.float64) for rows in (queries.gain, queries.score))
        values, options = np.full((len(queries), 1), np.nan), self.options or {}
        with warnings.catch_warnings():
            warnings.filterwarnings("error", _UNDEFINED)
            warnings.simplefilter("error", UndefinedMetricWarning)
            for query, start in enumerate(queries.starts):
                rows = slice(start, start + queries.lengths[query])
                try:
                    values[query, 0] = self.function(y_true[rows], y_score[rows], **options)
                except (TypeError, ValueError, UserWarning) as error:
                    if not re.search(_UNDEFINED, repr(error)):
                        error.add_note("score_func gets one query and must return a number or nan.")
                        raise
        undefined = np.isnan(values)
        values[undefined] = self.undefined_rule.value
        return values if self.greater_is_better else -values, int(np.count_nonzero(undefined))


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows in which query q is the run ``starts[q] : starts[q] + lengths[q]``.

    Made by `Rankings.queries`, for one ranker and one measure. `gain` is float64, or grades of one
    byte whose gains are in `gain_table`; for a `QueryMetric`, relevance. `weight` has one weight
    per query.
    """

    measure: Measure
    grouping: Grouping
    gain: Floats | Grades
    gain_table: Floats
    score: Floats
    starts: Ints
    lengths: Ints
    weight: Floats | None
    truth: str = "y_true"  # what the user calls the relevance

    def __len__(self) -> int:
        return len(self.starts)

    def values(self) -> Floats:
        """The measure of every query at every cutoff, shape (n_queries, n_cutoffs)."""
        values, n_undefined = self._values()
        if n_undefined:
            self.measure.warn_or_raise_if_undefined(n_undefined, len(self))
        return values

    def means(self) -> Floats:
        """Weighted mean of the values over queries, one for each cutoff."""
        return self.totals().means(self.measure)

    def totals(self) -> Totals:
        """Sums from which a mean over these and other queries is computed."""
        return self.totals_of(*self._values())

    def totals_of(self, values: Floats, n_undefined: int = 0) -> Totals:
        """Sums of given values of the queries, without nan; so many of them are undefined."""
        scored = ~np.isnan(values[:, 0])
        weight = np.ones(len(values)) if self.weight is None else self.weight
        scale, largest = weight[scored].max(initial=0), weight.max()
        weight = weight[scored] / (scale or 1)  # so that no sum is too large
        sums = weighted_sums(values[scored].T, weight), exact_sum(weight), scale, largest
        return Totals(*sums, len(values), n_undefined, self.grouping.n_single)

    def _values(self) -> tuple[Floats, int]:
        """Values as in `values`, and how many queries are undefined."""
        if isinstance(self.measure, QueryMetric):
            return self.measure.values(self)
        dcg, ideal = self.dcg_and_ideal(self.measure.normalized)
        if not self.measure.normalized:
            return dcg, 0
        ndcg = self.ndcg(dcg, ideal)
        undefined = np.isnan(ndcg[:, 0])
        ndcg[undefined] = self.measure.undefined_rule.value
        return ndcg, int(np.count_nonzero(undefined))

    def dcg_and_ideal(self, with_ideal: bool = True) -> tuple[Floats, Floats]:
        """DCG and ideal DCG of every query at every cutoff, each (n_queries, n_cutoffs).

        Without an ideal the second is the DCG, too.
        """
        cutoffs, column = self._distinct_cutoffs()
        discount = self.measure.discounts(cutoffs[-1])
        if not with_ideal or "retrieved" not in self.measure.cutoffs:
            dcg, ideal = self._sums(cutoffs, discount, cutoffs if with_ideal else None)
            return dcg[:, column], ideal[:, column]
        _, n_retrieved = kept_runs(self.score > -np.inf, self.starts, self.lengths)
        # with none retrieved the DCG is 0, and the ideal at 1 shows whether NDCG is defined
        own_cutoff = np.maximum(n_retrieved, 1)[:, np.newaxis]
        is_own = [k == "retrieved" for k in self.measure.cutoffs]
        ideal_cutoffs = np.where(is_own, own_cutoff, cutoffs[column])
        dcg, ideal = self._sums(cutoffs, discount, ideal_cutoffs)
        return dcg[:, column], ideal

    @staticmethod
    def ndcg(dcg: Floats, ideal: Floats) -> Floats:
        """DCG over ideal DCG, nan if a query has no relevant document."""
        values = np.full(ideal.shape, np.nan)
        np.divide(dcg, ideal, out=values, where=ideal > 0)
        return np.asarray(np.minimum(values, 1))  # rounding must not exceed 1

    def for_measure(self, **choices: Any) -> Queries:
        """These rows for a measure with other choices, except `gain` and `unjudged`."""
        return replace(self, measure=replace(self.measure, **choices))

    def without_warning(self) -> Queries:
        """These rows for a measure that does not warn of undefined queries."""
        return replace(self, measure=self.measure.without_warning())

    def in_random_order(self) -> Queries:
        """These rows with all retrieved documents tied, to average over all their orders.

        Documents that were not retrieved stay so.
        """
        tied = np.where(self.score == -np.inf, -np.inf, 0.0)
        return replace(self.for_measure(ties="average", ignore_ties=False), score=tied)

    def mean_curve(self, k: Ints | None) -> tuple[Ints, Floats]:
        """Cutoffs, by default all, and the mean NDCG at each.

        Values of all queries at all cutoffs are never in memory at once.
        """
        k = np.arange(1, self._longest + 1) if k is None else k
        cutoffs, column = np.unique(k, return_inverse=True)
        weight = np.ones(len(self))
        if self.weight is not None:
            counts = np.ones(len(self), dtype=bool)
            if np.isnan(self.measure.undefined_rule.value):
                counts = ~np.isnan(self.for_measure(k=1).values()[:, 0])
            weight = np.where(counts, self.weight, 0) / (self.weight[counts].max(initial=0) or 1)
        sums, undefined = self.curve_moments(cutoffs, weight[np.newaxis], powers=(1,))
        total = weight[~undefined].sum()
        if not np.isnan(self.measure.undefined_rule.value):
            total += weight[undefined].sum()
        totals = Totals(sums[0, 0], total, 1.0, 1.0, len(self), int(undefined.sum()))
        return k, totals.means(self.measure)[column]

    def curve_moments(
        self, cutoffs: Ints, weights: Floats, center: float = 0, powers: Sequence[int] = (1, 2)
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Sums over queries of weight times powers of ``ndcg - center``, and which are undefined.

        The sums have the shape (n_powers, n_weights, n_cutoffs); `weights` has a row for each kind
        of weight. Undefined queries count with their value, and not at all if it is nan.
        """
        discount = self.measure.discounts(min(cutoffs[-1], self._longest))
        undefined = np.zeros(len(self), dtype=bool)
        sums = np.zeros((len(powers), len(weights), len(cutoffs)))
        beyond = np.zeros((len(powers), len(weights), len(cutoffs) + 1))
        for numbers, n_cutoffs in self._curve_blocks(cutoffs):
            block, ends = self._take(numbers), cutoffs[:n_cutoffs]
            values = self.ndcg(*block._sums(ends, discount, ends))
            undefined[numbers] = np.isnan(values[:, 0])
            defined = ~undefined[numbers]
            # NumPy sums contiguous rows pairwise, so that no digit is lost over many queries
            distance = np.ascontiguousarray(values[defined].T) - center
            for i, power in enumerate(powers):
                terms = distance**power
                for j, weight in enumerate(weights[:, numbers[defined]]):
                    block_sums = (terms * weight).sum(axis=1)
                    sums[i, j, :n_cutoffs] += block_sums
                    # a curve is flat from its last document on
                    beyond[i, j, n_cutoffs] += block_sums[-1]
        sums += np.cumsum(beyond, axis=2)[..., :-1]
        distance = np.nan_to_num(self.measure.undefined_rule.value - center)
        terms = np.array([distance**power for power in powers])[:, np.newaxis]
        sums += (terms * weights[:, undefined].sum(axis=1))[..., np.newaxis]
        return sums, undefined

    def _curve_blocks(self, cutoffs: Ints) -> Iterator[tuple[Ints, int]]:
        """Blocks of queries, and how many cutoffs it takes to pass their last documents."""
        order = np.arange(len(self))
        n_cutoffs = np.full(len(self), len(cutoffs))
        if len(self) * len(cutoffs) > _VALUES_AT_A_TIME:
            order = np.argsort(self.lengths, kind="stable")
            n_cutoffs = np.minimum(np.searchsorted(cutoffs, self.lengths[order]) + 1, len(cutoffs))
        first = 0
        while first < len(order):
            size = max(1, _VALUES_AT_A_TIME // n_cutoffs[first])
            while size > 1 and size * n_cutoffs[first : first + size][-1] > _VALUES_AT_A_TIME:
                size //= 2
            yield order[first : first + size], int(n_cutoffs[first : first + size][-1])
            first += size

    @cached_property
    def _longest(self) -> int:
        return max(1, int(self.lengths.max()))

    def of_query(self, number: int) -> Queries:
        """One query, with the discounts that it has beside the others."""
        discount = self.measure.discounts(int(self._distinct_cutoffs()[0][-1]))
        one = self._take(np.array([number]))
        return one.for_measure(discount=lambda ranks: discount[: len(ranks)])

    def _take(self, numbers: Ints) -> Queries:
        """Some queries, without weights."""
        grouping = replace(self.grouping, labels=self.grouping.labels[numbers])
        starts, lengths = self.starts[numbers], self.lengths[numbers]
        return replace(self, grouping=grouping, starts=starts, lengths=lengths, weight=None)

    def _distinct_cutoffs(self) -> tuple[Ints, Ints | slice]:
        """The distinct cutoffs, none beyond the longest query, and the index of each k in them."""
        # documents that were not retrieved add nothing to a DCG, so "retrieved" need not cut it
        ends = [min(k, self._longest) if isinstance(k, int) else self._longest
                for k in self.measure.cutoffs]  # fmt: skip
        if len(ends) == 1:  # saves a tenth of the time of a small call
            return np.array(ends, dtype=np.intp), slice(None)
        return np.unique(np.array(ends, dtype=np.intp), return_inverse=True)

    def _sums(self, cutoffs: Ints, discount: Floats, ideal_at: Any) -> tuple[Floats, Floats]:
        """DCG and ideal DCG, if it has cutoffs, at distinct cutoffs; raises if one is too large."""
        ideal = dcg = _kernels.backend.dcg(
            self.gain, self.score, self.starts, self.lengths, discount, cutoffs,
            self.measure.tie_rule, self.gain_table,
        )  # fmt: skip
        if ideal_at is not None:
            ideal = _kernels.backend.ideal_dcg(
                self.gain, self.starts, self.lengths, discount, ideal_at, self.gain_table
            )
        wrong = ~(np.isfinite(dcg).all(axis=1) & np.isfinite(ideal).all(axis=1))
        if wrong.any():
            raise ValueError(
                f"{self.truth} has gains that, times discount, add up to more than a float64 holds "
                f"in {count_of_queries(int(wrong.sum()))}, the first "
                f"{shown_labels(self.grouping.labels[wrong], 1)}: scale {self.truth} down, or pass "
                "a gain that does."
            )
        return dcg, ideal


def count_of_queries(n: int) -> str:
    """A number of queries as text: "1 query", "2 queries"."""
    return f"{n} {'query' if n == 1 else 'queries'}"


def refuse_zero_weight(largest: float) -> None:
    """Raise if the largest weight of a query is 0."""
    if not largest:
        raise ValueError("sample_weight is 0 for every query: nothing is left to average over.")
