"""DCG and ideal DCG of many queries at once, without checks, in float64.

A query is the run of rows ``starts[q] : starts[q] + lengths[q]`` of `gain` and `score`. `gain` is
float64, or grades of uint8 whose gains are in `table`; `score` is float64 or float32. Queries of
equal length are handled together as the rows of a matrix, a block of them at a time, so that the
extra memory does not grow with the number of queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_ndcg._checks import Floats, Grades, Ints, Numbers

Item = TypeVar("Item", bound=np.generic)


class TieRule(NamedTuple):
    """How documents with equal scores are ordered: by gain, as in the input, or in all orders.

    `by_gain` is 1 for the highest gain first, -1 for the lowest, 0 for the order of the input.
    """

    by_gain: int = 0
    averages: bool = False

    @property
    def uses_input_order(self) -> bool:
        """Whether the order of the input matters."""
        return not (self.by_gain or self.averages)

    def resolved(self, score: Floats, gain: Floats) -> Floats:
        """Scores without the ties that the rule orders by gain; -inf stays."""
        by_gain = self.by_gain * gain
        ranks, ranks_in_ties = (
            np.unique(values, return_inverse=True)[1] for values in (score, by_gain)
        )
        resolved = ranks * (ranks_in_ties.max() + 1.0) + ranks_in_ties
        return np.where(score > -np.inf, resolved, -np.inf)


_DOCUMENTS_PER_BLOCK = 1 << 16  # the temporary arrays of a block fit a core's cache
# callers refuse sums that overflow, with a message
_silent = np.errstate(over="ignore", invalid="ignore", under="ignore")


def as_grades(relevance: NDArray[Any]) -> Grades | None:
    """Relevance as uint8, or None if it is not all integers from 0 to 255."""
    if relevance.dtype in (np.uint8, np.bool_):
        return relevance.view(np.uint8)
    grades = np.empty(len(relevance), dtype=np.uint8)
    common = np.promote_types(np.uint8, relevance.dtype)
    with np.errstate(invalid="ignore"):  # a value that does not fit a byte compares as different
        for at in range(0, len(grades), _DOCUMENTS_PER_BLOCK):
            block = grades[at : at + _DOCUMENTS_PER_BLOCK]
            values = relevance[at : at + _DOCUMENTS_PER_BLOCK].astype(common, copy=False)
            np.copyto(block, values, casting="unsafe")
            # of one dtype, as NumPy 2.4 crashes if memory runs out in a ufunc that converts
            if not (block.astype(common) == values).all():
                return None
    return grades


def gather_by_group(values: NDArray[Item], codes: Ints, starts: Ints) -> NDArray[Item]:
    """``values[np.argsort(codes, kind="stable")]`` in linear time.

    The rows of code c begin at ``starts[c]``. `values` are uint8, float32, float64 or intp.
    """
    n = len(values)
    columns: NDArray[Any] = codes.astype(np.int32 if n < 2**31 else np.int64)
    ends = np.arange(n + 1, dtype=columns.dtype)
    one_per_row: Any = sparse.csr_matrix((values, columns, ends), shape=(n, len(starts)))
    return np.asarray(one_per_row.tocsc().data)  # the transpose sorts by counting


def factorize(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], Ints]:
    """Distinct ids in any order, and the index of each row's id among them."""
    return np.unique(ids, return_inverse=True)


@_silent
def dcg(
    gain: Floats | Grades,
    score: Floats,
    starts: Ints,
    lengths: Ints,
    discount: Floats,
    cutoffs: Ints,
    ties: TieRule,
    table: Floats,
) -> Floats:
    """DCG of every query at every cutoff, shape (n_queries, n_cutoffs).

    `cutoffs` ascend and differ; `discount` is for the ranks 1, 2, ... as far as cutoffs or queries
    reach, or an IndexError is raised. A score of -inf was not retrieved and adds nothing.
    """
    result = np.zeros((len(starts), len(cutoffs)))
    for queries, (gains, scores) in _blocks(starts, lengths, gain, score):
        ranked = _rank_gains(look_up(gains, table), scores, ties)
        result[queries] = _at_cutoffs(ranked, discount, cutoffs)
    return result


@_silent
def ideal_dcg(
    gain: Floats | Grades,
    starts: Ints,
    lengths: Ints,
    discount: Floats,
    cutoffs: Ints,
    table: Floats,
) -> Floats:
    """DCG of the best order at every cutoff, shape (n_queries, n_cutoffs).

    `cutoffs` and `discount` as in `dcg`; or `cutoffs` of each query, shape (n_queries, n_cutoffs).
    """
    result = np.zeros((len(starts), cutoffs.shape[-1]))
    for queries, (gains,) in _blocks(starts, lengths, gain):
        block_cutoffs = cutoffs if cutoffs.ndim == 1 else cutoffs[queries]
        ranked = np.sort(look_up(gains, table), axis=1)[:, ::-1]
        result[queries] = _at_cutoffs(ranked, discount, block_cutoffs)
    return result


def rank_query(gain: Floats, score: Floats, ties: TieRule) -> tuple[Ints, Floats]:
    """The documents of one query, best first, and the gain that counts at each rank."""
    if not len(gain):
        return np.empty(0, dtype=np.intp), gain
    gains, scores = gain[np.newaxis], score[np.newaxis]
    # if all orders of tied documents count, they are shown in that of the input
    [order] = _order(gains, -scores, ties._replace(averages=False))
    return order, _rank_gains(gains, scores, ties)[0]


def look_up(gains: Numbers, table: Floats) -> Floats:
    """The gains themselves, or those that a table has for grades."""
    # `table[gains]` crashes NumPy 2.4 if memory runs out
    return table.take(gains) if gains.dtype == np.uint8 else gains


def _blocks(
    starts: Ints, lengths: Ints, *arrays: NDArray[Any]
) -> Iterator[tuple[Ints, tuple[NDArray[Any], ...]]]:
    """Queries of equal length and their rows of each array, shape (queries, length)."""
    order = np.argsort(lengths, kind="stable")
    edges = np.flatnonzero(np.diff(lengths[order], prepend=-1, append=-1))
    for first, last in pairwise(edges.tolist()):
        length = int(lengths[order[first]])
        step = max(1, _DOCUMENTS_PER_BLOCK // max(length, 1))
        for at in range(first, last, step) if length else ():
            queries = order[at : min(at + step, last)]
            begin, size = starts[queries], len(queries) * length
            if np.array_equal(begin, begin[0] + length * np.arange(len(queries))):
                rows: slice | Ints = slice(begin[0], begin[0] + size)  # side by side: a view
            else:
                rows = (begin[:, np.newaxis] + np.arange(length)).ravel()
            yield queries, tuple(array[rows].reshape(-1, length) for array in arrays)


def _rank_gains(gain: Floats, score: Floats, ties: TieRule) -> Floats:
    """Gain at each rank, largest score first; the expected gain if all orders count."""
    descending = -score
    order = _order(gain, descending, ties)
    order += gain.shape[1] * np.arange(len(gain))[:, np.newaxis]  # indices into the flat block
    ranked, descending = np.take(gain, order), np.take(descending, order)
    del order
    unretrieved = np.flatnonzero(descending[:, -1] == np.inf)
    ranked[unretrieved] *= descending[unretrieved] < np.inf
    if ties.averages:
        tied = descending[:, 1:] == descending[:, :-1]
        del descending
        rows = np.flatnonzero(tied.any(axis=1))
        if rows.size:
            ranked[rows] = _average_ties(ranked[rows], tied[rows])
    return ranked


def _order(gain: Floats, descending: Floats, ties: TieRule) -> Ints:
    """The column of the document at each rank; `descending` has the negative scores."""
    by_gain, averages = ties  # fails for a rule with more fields
    if by_gain:
        return np.lexsort((-by_gain * gain, descending))
    return np.argsort(descending, axis=1, kind=None if averages else "stable")


def _average_ties(ranked: Floats, tied: NDArray[np.bool_]) -> Floats:
    """Every gain replaced by the mean gain of its tie block (McSherry & Najork 2008)."""
    opens = np.ones(ranked.shape, dtype=bool)
    np.logical_not(tied, out=opens[:, 1:])
    if (ranked != np.floor(ranked)).any():  # a sum that is rounded depends on its order
        order = np.lexsort((ranked.ravel(), np.cumsum(opens)))
        ranked = ranked.ravel()[order].reshape(ranked.shape)
    first = np.flatnonzero(opens)
    sizes = np.diff(first, append=ranked.size)
    means = np.add.reduceat(ranked.ravel(), first)
    means /= sizes
    return np.repeat(means, sizes).reshape(ranked.shape)


def _at_cutoffs(ranked: Floats, discount: Floats, cutoffs: Ints) -> Floats:
    """Sum of gain times discount up to each cutoff, shape (queries, n_cutoffs)."""
    depth, n_ranks = min(ranked.shape[1], len(discount)), min(ranked.shape[1], cutoffs.max())
    if depth < n_ranks:
        raise IndexError(f"discount has {depth} of {n_ranks} ranks")
    terms = ranked[:, :depth] * discount[:depth]
    if cutoffs.ndim == 2:
        ranks = np.arange(1, depth + 1)
        sums = [(terms * (ranks <= last[:, np.newaxis])).sum(axis=1) for last in cutoffs.T]
        return np.stack(sums, axis=1)
    # pairwise sums between cutoffs: a plain running sum would lose digits on long lists
    inside = cutoffs[: np.searchsorted(cutoffs, depth)]
    parts = np.add.reduceat(terms, np.concatenate(([0], inside)), axis=1)
    column = np.minimum(np.arange(len(cutoffs)), len(inside))  # past the end all is counted
    return _running_sums(parts)[:, column]


def _running_sums(parts: Floats, width: int = 256) -> Floats:
    """Sums of the columns up to each; in blocks, as one long running sum loses digits."""
    n_blocks = -(-parts.shape[1] // width)
    if n_blocks == 1:
        return np.cumsum(parts, axis=1)
    padded = np.pad(parts, ((0, 0), (0, n_blocks * width - parts.shape[1])))
    blocks = np.cumsum(padded.reshape(len(parts), n_blocks, width), axis=2)
    blocks[:, 1:] += np.cumsum(blocks[:, :-1, -1:], axis=1)
    return blocks.reshape(padded.shape)[:, : parts.shape[1]]
