"""Documents of whole queries with the scores of one or several rankers, from any input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Floats, Grades, Ints
from sklearn_ndcg._kernels.numpy_kernels import as_grades
from sklearn_ndcg._lists.pool import Pool
from sklearn_ndcg._metrics.inputs import check_groups, numeric, row_weights, scores_like
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg._metrics.queries import Queries, QueryMetric, count_of_queries, refuse_zero_weight
from sklearn_ndcg._rows.columns import take_rows
from sklearn_ndcg._rows.grouping import (
    Grouping,
    kept_runs,
    shown_labels,
    warn_of_equal_relevance,
    warn_of_single_documents,
)
from sklearn_ndcg._rows.ids import first_rows
from sklearn_ndcg._rows.labels import refuse_reordered


class JudgedShares(NamedTuple):
    """The judged share of the first k documents that each ranker (row) returns for each query.

    It is nan where none was returned. `has_judgements` says which queries have a judged document;
    the others are not counted. If `has_judged_nonrelevant` is false, every judged document is
    relevant, as in a list of what a user liked, and unjudged may just mean not relevant.
    """

    share: Floats
    has_judgements: NDArray[np.bool_]
    has_judged_nonrelevant: bool

    def take(self, of: Ints) -> JudgedShares:
        """The shares of some queries."""
        return self._replace(share=self.share[:, of], has_judgements=self.has_judgements[of])

    def n_answered(self) -> NDArray[np.intp]:
        """For how many of the queries with judgements each ranker returned a document."""
        return np.asarray((~np.isnan(self.share[:, self.has_judgements])).sum(axis=1))

    def means(self) -> tuple[list[float], list[float]]:
        """For each ranker, the mean judged share, and the share of queries that it answers."""
        n_answered, n = self.n_answered(), max(int(self.has_judgements.sum()), 1)
        totals = np.nan_to_num(self.share[:, self.has_judgements]).sum(axis=1)
        return (totals / np.maximum(n_answered, 1)).tolist(), (n_answered / n).tolist()


@dataclass(frozen=True, eq=False)
class Rankings:
    """Checked rows: the relevance of documents, and the scores that rankers gave them.

    `relevance` is uint8 if all of it are grades from 0 to 255. `judged` says which rows have one;
    it is None if all have. `scores` has a column for each ranker. `weight` is of rows, or of the
    queries of a matrix. `shape` is that of the relevance as it was passed, which errors call
    `truth`. Rows that were made of ranked lists come with the `pool` of these. In errors the number
    of a row means nothing to the user if `is_part` of a table says so; its query is named instead.
    """

    relevance: NDArray[Any]
    judged: NDArray[np.bool_] | None
    scores: Mapping[Any, Floats]
    grouping: Grouping
    weight: Floats | None
    shape: tuple[int, ...]
    truth: str = "y_true"
    pool: Pool | None = None
    is_part: bool = False

    @classmethod
    def of_arrays(
        cls,
        y_true: ArrayLike,
        y_scores: Mapping[Any, ArrayLike],
        groups: Any = None,
        sample_weight: ArrayLike | None = None,
        sort: bool = True,
    ) -> Rankings:
        """Read and check arrays; without `sort`, queries may be in any order."""
        relevance = numeric(y_true, "y_true")
        if groups is not None and relevance.shape[1:] == (1,):
            relevance = relevance.ravel()
        shape = relevance.shape
        check_groups(shape, groups)
        scores = {}
        if len(y_scores) > 1:  # otherwise the first of several rankers would be named
            refuse_reordered(y_true=y_true, groups=groups, sample_weight=sample_weight)
        for name, y_score in y_scores.items():
            with _checks.naming_ranker(name, y_scores):
                refuse_reordered(
                    y_true=y_true, y_score=y_score, groups=groups, sample_weight=sample_weight
                )
                scores[name] = scores_like(y_score, shape)
        weight = None if sample_weight is None else row_weights(sample_weight, len(relevance))
        relevance, judged = _with_judged(relevance, "y_true")
        if len(shape) == 2:
            grouping = Grouping.of_matrix(*shape)
        else:
            grouping = Grouping.of_ids(groups, len(relevance), sort=sort)
        return cls(relevance, judged, scores, grouping, weight, shape)

    @classmethod
    def of_pool(cls, pool: Pool, truth: str, sample_weight: Any = None) -> Rankings:
        """The rows of ranked lists, whose judgements errors call `truth`."""
        weight = None
        if sample_weight is not None:
            by_query = pool.per_query(sample_weight, "sample_weight", pool.queries)
            weights = row_weights(list(by_query.values()), len(by_query), pool.queries)
            weight = np.repeat(weights, pool.n_rows)
        relevance, judged = _with_judged(pool.y_true, truth)
        labels, order = pool.sorted_labels
        starts = np.cumsum(pool.n_rows) - pool.n_rows
        grouping = Grouping(labels, starts[order], pool.n_rows[order])
        shape = pool.y_true.shape
        return cls(relevance, judged, pool.y_scores, grouping, weight, shape, truth, pool)

    def with_scores(self, y_score: ArrayLike) -> Rankings:
        """The same rows, scored by another ranker."""
        return replace(self, scores={None: scores_like(y_score, self.shape)})

    def queries(self, measure: Measure, are_all: bool = True) -> list[Queries]:
        """What each ranker's measure is computed from; only the first warns of undefined queries.

        If these rows are all that is scored, it is checked that ids look like ids of queries, and
        that weights are not all 0.
        """
        if self.judged is not None and measure.unjudged == "raise":
            padding = " (with scores of -inf if they pad rows to one length)"
            raise ValueError(
                f"{self.truth} has {self._rows(~self.judged, 'NaN', 'NaN')}. If NaN means "
                "unjudged, pass unjudged='zero' to count these documents as not relevant or "
                "unjudged='omit' to take them out of the ranking"
                f"{padding if len(self.shape) == 2 else ''}."
            )
        grouping, weight, kept = self.grouping, self.weight, None
        starts, lengths = grouping.starts, grouping.lengths
        gain: Any
        gain, table = self._gains(measure)
        gain = grouping.gather(gain)  # before the scores, so that the first gain is freed
        if self.judged is not None and measure.unjudged == "omit":
            kept = grouping.gather(self.judged.view(np.uint8)).view(np.bool_)
            starts, lengths = kept_runs(kept, starts, lengths)
            gain = gain[kept]
        if weight is not None and len(self.shape) == 1:
            weight = grouping.mean_weight(grouping.gather(weight), kept)
        scores = map(grouping.gather, self.scores.values())
        first, *others = scores if kept is None else (score[kept] for score in scores)
        one = Queries(measure, grouping, gain, table, first, starts, lengths, weight, self.truth)
        queries = [one, *(replace(one.without_warning(), score=score) for score in others)]
        if are_all and weight is not None:
            refuse_zero_weight(weight.max())
        if are_all and len(self.shape) == 1 and self.pool is None:
            _warn_of_wrong_ids(queries[0])
        return queries

    def judged_shares(self, measure: Measure) -> JudgedShares | None:
        """How much of what rankers return is judged; None if all is judged, and returned."""
        if self.judged is None and min(map(np.min, self.scores.values())) > -np.inf:
            return None
        ones = np.ones(len(self.relevance), dtype=np.uint8)
        judged = ones if self.judged is None else self.judged.view(np.uint8)
        rule, scores = measure.tie_rule, self.scores
        if rule.by_gain:  # what is then still tied has the same gain
            by_gain = rule.by_gain * self.gains(measure)
            scores = {name: _ranks_within_ties(score, by_gain) for name, score in scores.items()}
        order = measure if rule.uses_order else Measure(k=measure.k)
        count = replace(order, normalized=False, gain="linear", discount="none", log_base=2)
        rows = replace(self, judged=None, weight=None, scores=scores)
        returned, counted = (
            replace(rows, relevance=counts).queries(count, are_all=False)
            for counts in (ones, judged)
        )
        share = np.full((len(scores), len(counted[0])), np.nan)
        for row, one, other in zip(share, returned, counted, strict=True):
            n_returned, n_judged = one.values()[:, 0], other.values()[:, 0]
            np.divide(n_judged, n_returned, out=row, where=n_returned > 0)
        has_judgements = counted[0].dcg_and_ideal()[1][:, 0] > 0
        return JudgedShares(share, has_judgements, bool((self.relevance <= 0).any()))

    def labels_of_queries(self, ids: Any, name: str, weight: Any) -> tuple[NDArray[Any], Ints]:
        """Sorted labels of clusters or segments, and the position in them of each query's.

        A query of lists needs no label if its weight is 0; without one its position is -1.
        """
        if self.pool is not None:
            queries = [self.pool.queries[number] for number in self.pool.sorted_labels[1]]
            by_query = self.pool.per_query(ids, name, list(compress(queries, weight)))
            by_id = Grouping.of_ids(list(by_query.values()), len(by_query), name=name)
            code_of = dict(zip(by_query, by_id.row_codes(), strict=True))
            return by_id.labels, np.array([code_of.get(query, -1) for query in queries])
        by_id = Grouping.of_ids(ids, self.shape[0], name=name)
        labels, codes = by_id.labels, by_id.row_codes()
        if getattr(getattr(ids, "dtype", None), "tz", None) is not None:  # labels are in UTC
            labels = np.fromiter(take_rows(ids, first_rows(codes)), object, len(labels))
        if len(self.shape) == 2:
            return labels, codes
        low, high = self.grouping.extremes(codes)
        several = np.flatnonzero(low < high)
        if len(several):
            query, noun = several[:1], name.removesuffix("s")
            one, other = (shown_labels(labels[code[query]]) for code in (low, high))
            raise ValueError(
                f"{count_of_queries(len(several))} {'has' if len(several) == 1 else 'have'} rows "
                f"in more than one {noun}: query {shown_labels(self.grouping.labels[query])} is in "
                f"{name} {one} and {other}. Give all rows of a query the same {noun}, for example "
                f"that of its first row, or score with groups=[groups, {name}]."
            )
        return labels, low

    def gains(self, measure: Measure) -> Floats:
        """The gain of each row, 0 if it is unjudged."""
        gain, table = self._gains(measure)
        return np.asarray(table[gain] if gain.dtype == np.uint8 else gain)

    def _gains(self, measure: Measure) -> tuple[Floats | Grades, Floats]:
        """Gain of each row, 0 if it is unjudged; or its grade, with a table of gains by grade."""
        if isinstance(measure, QueryMetric):  # NaN, too
            return self.relevance.astype(np.float64), np.empty(0)
        if self.relevance.dtype == np.uint8:
            gain_table = measure.gain_table(int(self.relevance.max()))
            if gain_table is not None:
                return self.relevance, gain_table
        with np.errstate(over="ignore"):  # a long double may be too large: refused below
            values = self.relevance.astype(np.float64, copy=False)
        if self.judged is None:
            gain = measure.gains(values, self.truth)
        else:
            gain = np.zeros(len(values))
            if self.judged.any():
                gain[self.judged] = measure.gains(values[self.judged], self.truth)
        low, high = gain.min(), gain.max()
        if not (low > -np.inf and high < np.inf):
            wrong = ~np.isfinite(gain)
            raise ValueError(
                f"gain must be finite, but is not for {self._rows(wrong)}, where {self.truth} is "
                f"{values[wrong][0]}: a float64 ends at 2^1024."
            )
        if low < 0 and measure.normalized:
            wrong = gain < 0
            raise ValueError(
                f"ndcg_score should not be used on negative {self.truth} values or gains: gain is "
                f"{gain[wrong][0]} where {self.truth} is {values[wrong][0]}, and negative for "
                f"{self._rows(wrong)}. Shift the grades, or pass a gain that clips them, for "
                "example gain=functools.partial(numpy.maximum, 0)."
            )
        return gain, np.empty(0)

    def _rows(self, mask: Any, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, and the first: its index, or the query of its list."""
        n, row = np.count_nonzero(mask), int(mask.argmax())
        if self.pool is not None:
            number = np.searchsorted(np.cumsum(self.pool.n_rows), row, side="right")
            query = shown_labels([self.pool.queries[number]])
        elif self.is_part:
            query = shown_labels(self.grouping.labels[self.grouping.row_codes()[[row]]])
        else:
            return _checks.describe_mask(mask.reshape(self.shape), what, plural)
        where = "the first in query" if n > 1 else "in query"
        return f"{n} {plural if n > 1 else what}, {where} {query}"


def _with_judged(relevance: NDArray[Any], name: str) -> tuple[NDArray[Any], Any]:
    """Relevance as one column, as grades if possible, and which rows have one; None if all have."""
    rows = relevance.ravel()
    grades = as_grades(rows)
    if grades is not None:
        return grades, None
    if np.isfinite([rows.min(), rows.max()]).all():
        return rows, None
    if np.isinf(rows).any():
        infinite = _checks.describe_mask(np.isinf(relevance), "infinite value", "infinite values")
        raise ValueError(f"{name} must be finite, but has {infinite}.")
    return rows, ~np.isnan(rows)


def _ranks_within_ties(score: Floats, gain: Floats) -> Floats:
    """Numbers in the order of scores, and of gain where scores are equal; -inf stays."""
    by_score, by_gain = (np.unique(values, return_inverse=True)[1] for values in (score, gain))
    return np.where(score > -np.inf, by_score * (by_gain.max() + 1.0) + by_gain, -np.inf)


def _warn_of_wrong_ids(queries: Queries) -> None:
    """Warn if the ids are probably not query ids."""
    gain, starts, lengths = queries.gain, queries.starts, queries.lengths
    n_single, n_queries = queries.grouping.n_single, len(starts)
    if 2 * n_single > n_queries:
        # genuine one-document lists leave relevant documents unretrieved
        if n_single == n_queries or queries.score.min(initial=np.inf) > -np.inf:
            warn_of_single_documents(n_single, n_queries)
        return
    for start, length in zip(starts[:16], lengths[:16], strict=True):
        if (gain[start : start + length] != gain[start : start + 1]).any():
            return  # in ordinary data one of the first queries has two gains
    changes = np.flatnonzero(gain[1:] != gain[:-1]) + 1
    is_between = len(changes) > 0 and np.isin(changes, starts).all()
    if is_between and queries.score.min(initial=np.inf) > -np.inf:
        warn_of_equal_relevance(n_queries)
