"""NDCG at many cutoffs, a block of queries at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._metrics.measure import NDCG
from sklearn_ndcg._metrics.queries import Queries
from sklearn_ndcg._metrics.values import Totals, Values

_VALUES_AT_A_TIME = 1 << 22  # values of queries at cutoffs, which take 32 MB


def curve_blocks(measure: NDCG, queries: Queries, cutoffs: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Numbers of queries whose NDCG is defined, and their NDCG with one row per cutoff.

    `cutoffs` ascend and differ. A block may have fewer rows than there are cutoffs: its curves are
    flat from its last row on, as none of its queries has more documents.
    """
    discount = measure.discounts(min(cutoffs[-1], queries.longest))
    for numbers, n_cutoffs in _blocks(queries.lengths, cutoffs):
        block, ends = queries.take(numbers), cutoffs[:n_cutoffs]
        dcg = block.dcg(discount, ends, measure.tie_rule)
        ndcg = measure.ratio(dcg, block.ideal_dcg(discount, ends))
        defined = ~np.isnan(ndcg[:, 0])
        # NumPy sums contiguous rows pairwise, so that no digit is lost over many queries
        yield numbers[defined], np.ascontiguousarray(ndcg[defined].T)


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


def add_flat(sums: Floats, terms: Floats) -> None:
    """Add the sums of the rows of `terms`, one per cutoff; after the last row curves are flat."""
    of_rows = terms.sum(axis=1)
    sums[: len(of_rows)] += of_rows
    sums[len(of_rows) :] += of_rows[-1]


class MeanCurve(NamedTuple):
    """Cutoffs, the mean NDCG at each, and how many queries are undefined."""

    k: Ints
    ndcg: Floats
    n_undefined: int

    @classmethod
    def of(cls, measure: NDCG, queries: Queries, k: Ints | None = None) -> MeanCurve:
        """The curve over the cutoffs, by default over all.

        Values of all queries at all cutoffs are never in memory at once.
        """
        k = np.arange(1, queries.longest + 1) if k is None else k
        cutoffs, column = np.unique(k, return_inverse=True)
        value, weight = measure.undefined_rule.value, queries.weight
        if np.isnan(value) and weight.min() < weight.max():
            # the largest weight that counts sets the scale
            undefined = Values.of(replace(measure, k=1), queries).undefined
            weight = np.where(undefined, 0, weight)
        weight = weight / (weight.max() or 1)  # so that no sum is too large
        sums, undefined = np.zeros(len(cutoffs)), np.ones(len(queries), dtype=bool)
        for numbers, ndcg in curve_blocks(measure, queries, cutoffs):
            undefined[numbers] = False
            add_flat(sums, ndcg * weight[numbers])
        total = weight[~undefined].sum()
        if not np.isnan(value):
            sums += value * weight[undefined].sum()
            total += weight[undefined].sum()
        means = Totals(sums, total, 1.0, queries.weight.max()).means()
        return cls(k, means[column], int(np.count_nonzero(undefined)))
