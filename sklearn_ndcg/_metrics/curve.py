"""NDCG at many cutoffs, a block of queries at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._metrics.measure import NDCG
from sklearn_ndcg._metrics.queries import Queries
from sklearn_ndcg._metrics.values import Totals, Values

_VALUES_AT_A_TIME = 1 << 22  # values of queries at cutoffs, which take 32 MB


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
