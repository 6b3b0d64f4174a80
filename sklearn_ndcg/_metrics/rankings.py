"""Documents of whole queries with the scores of one or several rankers: checked rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ndcg._checks import Floats, Grades, Ids, Ints, Mask, Numbers
from sklearn_ndcg._kernels.numpy_kernels import as_grades, look_up
from sklearn_ndcg._kernels.sums import exact_sum
from sklearn_ndcg._metrics import inputs
from sklearn_ndcg._metrics.measure import DCG, Measure
from sklearn_ndcg._metrics.queries import Queries, count_of_queries
from sklearn_ndcg._metrics.row_names import RowNames
from sklearn_ndcg._metrics.values import Values
from sklearn_ndcg._rows.grouping import (
    Grouping,
    kept_runs,
    warn_of_equal_relevance,
    warn_of_single_documents,
)
from sklearn_ndcg._rows.label_texts import shown_labels

AnyMeasure = TypeVar("AnyMeasure", bound=Measure)

_NO_TABLE = np.empty(0)


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


class WrongRows(NamedTuple):
    """Rows that cannot be scored: which, what is wrong with them, and the message of an error.

    Between the two parts of the message the rows are described.
    """

    mask: Mask
    what: str
    plural: str
    before: str
    after: str

    def message(self, names: RowNames) -> str:
        """The message of an error."""
        return self.before + names.describe(self.mask, self.what, self.plural) + self.after


@dataclass(frozen=True, eq=False)
class Rankings:
    """The relevance of documents, and the scores that one or several rankers gave them.

    `relevance` is uint8 if all of it are grades from 0 to 255. `graded` says which rows have a
    gain, and `judged` which were judged: in lists these may differ. Both are None if all are.
    `scores` has those of each ranker; a single one may have the name None.
    `weight` has one entry per row.

    These are rows with query ids; `MatrixRankings` and `ListRankings` are other kinds.
    """

    relevance: Numbers
    graded: Mask | None
    judged: Mask | None
    scores: dict[Any, Floats]
    grouping: Grouping
    weight: Floats | None
    names: RowNames

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the relevance as it was passed."""
        return self.relevance.shape

    def as_read(self, measure: AnyMeasure) -> AnyMeasure:
        """The measure, in which lists put the cutoff that they were read with."""
        return measure

    def curve_cutoffs(self, k: Ints | None, queries: Queries) -> Ints:
        """The cutoffs of a curve, by default all up to the longest query."""
        return np.arange(1, queries.longest + 1) if k is None else k

    def with_scores(self, y_score: ArrayLike) -> Rankings:
        """The same rows, scored by another ranker."""
        return replace(self, scores={None: inputs.scores_like(y_score, self.shape)})

    def ignoring(self, rows: Mask) -> Rankings:
        """These rows, some of which are made unjudged, with a score of 0."""
        relevance = np.where(rows, np.nan, self.relevance)
        scores = {name: np.where(rows, 0, score) for name, score in self.scores.items()}
        judged = ~np.isnan(relevance)
        return replace(self, relevance=relevance, graded=judged, judged=judged, scores=scores)

    def evaluate(self, measure: Measure, *, warn: bool = True) -> Values:
        """The values of a measure for the only ranker. Who has them reports undefined queries.

        `warn` says whether to warn of ids that are probably not query ids.
        """
        measure = self.as_read(measure)
        queries = self.queries(measure)
        if warn:
            self.check_ids(queries)
        return Values.of(measure, queries)

    def evaluate_rankers(self, measure: Measure) -> list[Values]:
        """The values of a measure for each ranker, as `evaluate` gives them for one."""
        measure = self.as_read(measure)
        rankers = self.queries_of_rankers(measure)
        self.check_ids(rankers[0])
        return [Values.of(measure, queries) for queries in rankers]

    def queries(self, measure: Measure) -> Queries:
        """What the values of a measure are computed from, for the only ranker or the first."""
        for wrong in self.wrong_rows(measure):
            raise ValueError(wrong.message(self.names))
        grouping, kept = self.grouping, self._kept(measure)
        starts, lengths = grouping.starts, grouping.lengths
        gain, table = self._gains(measure)
        gain = grouping.gather(gain)  # type: ignore[assignment]
        if kept is not None:
            starts, lengths = kept_runs(kept, starts, lengths)
            gain = gain[kept]
        return Queries(
            labels=grouping.labels,
            starts=starts,
            lengths=lengths,
            gain=gain,
            gain_table=table,
            weight=np.ones(len(starts)) if self.weight is None else self._query_weights(kept),
            score=self._gathered(next(iter(self.scores.values())), kept),
            relevance_name=self.names.relevance_name,
        )

    @cached_property
    def with_own_rows(self) -> list[Rankings]:
        """These rows, which rankers share; of lists the rows of each ranker."""
        return [self]

    def queries_of_rankers(self, measure: Measure) -> list[Queries]:
        """What the values of each ranker are computed from."""
        every = [rows.queries_of_shared_rows(measure) for rows in self.with_own_rows]
        return list(chain.from_iterable(every))

    def queries_of_shared_rows(self, measure: Measure) -> list[Queries]:
        """The queries of each ranker, which differ only in their scores."""
        rankers, kept = [self.queries(measure)], self._kept(measure)
        for score in list(self.scores.values())[1:]:
            rankers.append(replace(rankers[0], score=self._gathered(score, kept)))
        return rankers

    def _gathered(self, score: Floats, kept: Mask | None) -> Floats:
        """Scores of the kept rows, query by query."""
        score = self.grouping.gather(score)
        return score if kept is None else score[kept]

    def _query_weights(self, kept: Mask | None) -> Floats:
        """The weight of each query: the mean over its kept rows."""
        assert self.weight is not None
        return self.grouping.mean_weight(self.grouping.gather(self.weight), kept)

    def _kept(self, measure: Measure) -> Mask | None:
        """Which rows are scored, query by query; None for all."""
        if self.judged is None or measure.unjudged != "omit":
            return None
        return self.grouping.gather(self.judged.view(np.uint8)).view(np.bool_)

    def gains(self, measure: Measure) -> Floats:
        """The gain of each row, 0 if it is unjudged."""
        return look_up(*self._gains(measure))

    def _gains(self, measure: Measure) -> tuple[Floats | Grades, Floats]:
        """The gain of each row; or its grade, with a table of gains by grade."""
        if self.relevance.dtype == np.uint8:
            table = measure.gains_of_grades(int(self.relevance.max()))
            if table is not None:
                return self.relevance, table
        with np.errstate(over="ignore"):  # a long double may be too large: refused below
            relevance = self.relevance.astype(np.float64, copy=False)
        if self.graded is None:
            return self._checked_gains(measure, relevance, self.names.describe), _NO_TABLE
        gain = np.where(np.isnan(relevance), measure.gain_of_unjudged, 0.0)
        rows = np.flatnonzero(self.graded)

        def describe(mask: Mask) -> str:
            return self.names.describe(np.isin(np.arange(len(relevance)), rows[mask]))

        if len(rows):
            gain[rows] = self._checked_gains(measure, relevance[rows], describe)
        return gain, _NO_TABLE

    def _checked_gains(
        self, measure: Measure, relevance: Floats, describe: Callable[[Mask], str]
    ) -> Floats:
        """Gains, which must be finite, and >= 0 where the measure must be."""
        name = self.names.relevance_name
        gain = measure.gains(relevance, name, describe)
        low, high = gain.min(), gain.max()
        if not (low > -np.inf and high < np.inf):
            wrong = ~np.isfinite(gain)
            raise ValueError(
                f"gain must be finite, but is not for {describe(wrong)}, where {name} is "
                f"{relevance[wrong][0]}: a float64 ends at 2^1024."
            )
        if low < 0 <= measure.limits[0]:
            wrong = gain < 0
            raise ValueError(
                f"ndcg_score should not be used on negative {name} values or gains: gain is "
                f"{gain[wrong][0]} where {name} is {relevance[wrong][0]}, and negative for "
                f"{describe(wrong)}. If -1 means that there is no label, pass NaN in its place, "
                "with unjudged='omit' or 'zero'. Make grades of a continuous target, such as "
                "returns, by quantile_grades. dcg_score takes negative gains."
            )
        return gain

    def wrong_rows(self, measure: Measure) -> Iterator[WrongRows]:
        """Rows that no gain could make right, with one entry for each thing that is wrong."""
        name = self.names.relevance_name
        if self.graded is not None and np.isinf(self.relevance).any():
            yield WrongRows(
                np.isinf(self.relevance),
                "infinite value",
                "infinite values",
                before=f"Input {name} contains infinity: ",
                after=". It must be finite.",
            )
        for ranker, score in self.scores.items():
            if not score.max() < np.inf:
                which = f" of {ranker!r}" if len(self.scores) > 1 else ""
                what = "NaN" if np.isnan(score).any() else "infinity"
                yield WrongRows(
                    ~(score < np.inf),
                    "NaN or +inf",
                    "NaN or +inf",
                    before=f"Input y_score{which} contains {what}: ",
                    after=". Scores must be finite, or -inf if not retrieved.",
                )
        if self.weight is not None and (wrong := inputs.wrong_weights(self.weight)).any():
            before = inputs.wrong_weight(self.weight[wrong][0])
            yield WrongRows(wrong, "such weight", "such weights", before, after=".")
        may_miss = self.graded is not None and measure.unjudged == "raise"
        if may_miss and (missing := np.isnan(self.relevance)).any():
            yield WrongRows(
                missing,
                "NaN",
                "NaN",
                before=f"Input {name} contains NaN: ",
                after=". If NaN means unjudged, pass unjudged='zero' to count these documents as "
                f"not relevant or unjudged='omit' to remove them{self._nan_hint()}",
            )

    def _nan_hint(self) -> str:
        """The end of the error for NaN in the relevance."""
        return (
            ". Rows of what was returned, joined with judgements, lack the judged documents that "
            "were not returned, so their ideal is too low: pass both to from_lists."
        )

    def check_ids(self, queries: Queries) -> None:
        """Warn if the ids of rows, of which these are the queries, are probably not query ids."""
        gain, starts, lengths = queries.gain, queries.starts, queries.lengths
        n_queries = len(starts)
        if self.grouping.n_single == n_queries:
            warn_of_single_documents(n_queries, n_queries)
            return
        for start, length in zip(starts[:16], lengths[:16], strict=True):
            if (gain[start : start + length] != gain[start : start + 1]).any():
                return  # in ordinary data one of the first queries has two gains
        changes = np.flatnonzero(gain[1:] != gain[:-1]) + 1
        is_between = len(changes) > 0 and np.isin(changes, starts).all()
        if is_between and queries.score.min(initial=np.inf) > -np.inf:
            warn_of_equal_relevance(n_queries)

    def rows_of_query(self, number: int) -> Ints:
        """The numbers of a query's rows."""
        if self.grouping.codes is not None:
            return np.flatnonzero(self.grouping.codes == number)
        return self.grouping.rows_of(np.array([number]))

    def judged_shares(self, measure: DCG) -> JudgedShares | None:
        """How much of what rankers return is judged; None if all is judged, and returned."""
        if not any(rows.is_incomplete() for rows in self.with_own_rows):
            return None
        parts = [rows._judged_shares(measure) for rows in self.with_own_rows]
        return parts[0]._replace(share=np.vstack([part.share for part in parts]))

    def is_incomplete(self) -> bool:
        """Whether a document is unjudged, or was not returned by a ranker."""
        return self.judged is not None or min(map(np.min, self.scores.values())) == -np.inf

    def _judged_shares(self, measure: DCG) -> JudgedShares:
        """The shares of rankers that share these rows."""
        ones = np.ones(len(self.relevance), dtype=np.uint8)
        judged = ones if self.judged is None else self.judged.view(np.uint8)
        count, scores = DCG(k=measure.k, discount="none", ties=measure.tie_order), self.scores
        if measure.tie_rule.by_gain:  # by the gain of the measure, not by what is counted
            gain, rule = self.gains(measure), measure.tie_rule
            scores = {name: rule.resolved(score, gain) for name, score in scores.items()}
            count = replace(count, ties="average")  # what is still tied has the same gain
        rows = replace(self, graded=None, weight=None, scores=scores)
        returned, counted = (
            list(map(count.values, replace(rows, relevance=counts).queries_of_shared_rows(count)))
            for counts in (ones, judged)
        )
        share = np.full((len(scores), len(self.grouping.labels)), np.nan)
        for row, n_returned, n_judged in zip(share, returned, counted, strict=True):
            np.divide(n_judged[:, 0], n_returned[:, 0], out=row, where=n_returned[:, 0] > 0)
        nonrelevant = self._nonrelevant() & (judged > 0)
        return JudgedShares(share[:, self.has_judgements()], bool(nonrelevant.any()))

    def has_judgements(self) -> Mask:
        """Which queries have a judged document."""
        if self.judged is None:
            return np.ones(len(self.grouping.labels), dtype=np.bool_)
        return np.asarray(self.grouping.extremes(self.judged.view(np.uint8))[1] > 0)

    def _nonrelevant(self) -> Mask:
        """The rows of documents that are not relevant."""
        return np.asarray(self.relevance <= 0)

    def labels_of_queries(self, ids: Any, name: str, weight: Floats) -> tuple[Ids, Ints]:
        """Sorted labels of clusters or segments, and the position in them of each query's.

        A query of lists needs no label if its weight is 0; without one its position is -1.
        """
        labels, codes = labels_of(ids, len(self.relevance), name)
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


def labels_of(ids: Any, n: int, name: str) -> tuple[Ids, Ints]:
    """Sorted labels of ids, and the position in them of each of the `n` ids."""
    by_id = Grouping.of_ids(ids, n, name=name)
    return by_id.labels, by_id.row_codes()


def with_judged(relevance: Numbers) -> tuple[Numbers, Mask | None]:
    """Relevance, as grades if possible, and which rows have one; None if all are finite."""
    grades = as_grades(relevance)
    if grades is not None:
        return grades, None
    if np.isfinite([relevance.min(), relevance.max()]).all():
        return relevance, None
    return relevance, ~np.isnan(relevance)
