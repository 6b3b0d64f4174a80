"""How much of what rankers return is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._kernels.sums import exact_sum
from sklearn_ndcg._metrics.measure import DCG
from sklearn_ndcg._metrics.rankings import Rankings


class JudgedShares(NamedTuple):
    """The judged share of the first k documents that each ranker (row) returns for each query.

    The queries are those with a judged document. The share is nan where nothing was returned. If
    `has_judged_nonrelevant` is false, every judged document is relevant, as in a list of what a
    user liked, and unjudged may just mean not relevant.
    """

    share: Floats
    has_judged_nonrelevant: bool

    def n_answered(self) -> Ints:
        """The number of these queries for which each ranker returned a document."""
        return np.asarray((~np.isnan(self.share)).sum(axis=1))

    def means(self) -> Floats:
        """The mean share of each ranker, over the queries that it answers; 0 if there is none."""
        totals = np.array(list(map(exact_sum, np.nan_to_num(self.share))))
        return np.asarray(totals / np.maximum(self.n_answered(), 1))


def judged_shares(rankers: Sequence[Rankings], measure: DCG) -> JudgedShares | None:
    """How much of what rankers return is judged; None if all is judged, and returned."""
    if all(rows.judged is None and rows.score.min() > -np.inf for rows in rankers):
        return None
    first = rankers[0]  # rankers share the truth
    share = np.array([_shares(rows, measure) for rows in rankers])[:, first.has_judgements()]
    is_nonrelevant = first.relevance <= 0
    for mask in (first.has_gain, first.judged):
        is_nonrelevant = is_nonrelevant if mask is None else is_nonrelevant & mask
    return JudgedShares(share, bool(is_nonrelevant.any()))


def _shares(rows: Rankings, measure: DCG) -> Floats:
    """The share of each query, nan where nothing was returned."""
    count = DCG(k=measure.k, discount="none", ties=measure.tie_order)
    if measure.tie_rule.by_gain:  # by the gain of the measure, not by what is counted
        score = measure.tie_rule.resolved(rows.score, rows.gains(measure))
        rows = replace(rows, score=score)
        count = replace(count, ties="average")  # what is still tied has the same gain
    ones = np.ones(len(rows.relevance), dtype=np.uint8)
    judged = ones if rows.judged is None else rows.judged.view(np.uint8)
    queries = replace(rows, relevance=judged, has_gain=None, weight=None).queries(count)
    n_returned = np.minimum(queries.n_retrieved(), queries.cutoffs(measure.k))
    n_judged = count.values(queries).by_query
    share = np.full(len(queries), np.nan)
    np.divide(n_judged, n_returned, out=share, where=n_returned > 0)
    return share
