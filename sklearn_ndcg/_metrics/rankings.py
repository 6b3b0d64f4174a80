"""Documents of whole queries with the scores of one or several rankers, from any input."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg._checks import Floats, Ids, Ints, Mask, Numbers, is_integer
from sklearn_ndcg._kernels.numpy_kernels import as_grades
from sklearn_ndcg._kernels.sums import exact_sum
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics import inputs
from sklearn_ndcg._metrics.measure import DCG, Measure
from sklearn_ndcg._metrics.queries import Queries, count_of_queries
from sklearn_ndcg._metrics.row_names import ArrayNames, ListNames, RowNames
from sklearn_ndcg._rows.grouping import (
    Grouping,
    kept_runs,
    shown_labels,
    warn_of_equal_relevance,
    warn_of_single_documents,
)
from sklearn_ndcg._rows.labels import refuse_reordered

AnyMeasure = TypeVar("AnyMeasure", bound=Measure)


class JudgedShares(NamedTuple):
    """The judged share of the first k documents that each ranker (row) returns for each query.

    It is nan where none was returned. `has_judgements` says which queries have a judged document;
    the others are not counted. If `has_judged_nonrelevant` is false, every judged document is
    relevant, as in a list of what a user liked, and unjudged may just mean not relevant.
    """

    share: Floats
    has_judgements: Mask
    has_judged_nonrelevant: bool

    def take(self, queries: Ints) -> JudgedShares:
        """The shares of some queries."""
        judged = self.has_judgements[queries]
        return self._replace(share=self.share[:, queries], has_judgements=judged)

    def n_answered(self) -> Ints:
        """For how many of the queries with judgements each ranker returned a document."""
        return np.asarray((~np.isnan(self.share[:, self.has_judgements])).sum(axis=1))

    def means(self) -> tuple[list[float], list[float]]:
        """For each ranker, the mean judged share, and the share of queries that it answers."""
        n_answered, n = self.n_answered(), max(int(self.has_judgements.sum()), 1)
        totals = np.array(list(map(exact_sum, np.nan_to_num(self.share[:, self.has_judgements]))))
        return (totals / np.maximum(n_answered, 1)).tolist(), (n_answered / n).tolist()


class WrongRows(NamedTuple):
    """Rows that cannot be scored: which, what is wrong with them, and the message of an error.

    In the message {rows} is where the rows are described.
    """

    mask: Mask
    what: str
    plural: str
    message: str


@dataclass(frozen=True, eq=False)
class Rankings:
    """The relevance of documents, and the scores that one or several rankers gave them.

    `relevance` is uint8 if all of it are grades from 0 to 255. `graded` says which rows have one,
    and `judged` which were judged: unjudged documents of lists may have the relevance 0. Both are
    None if all are. `scores` has those of each ranker; a single one may have the name None.
    `weight` is of rows, or of the queries of a matrix. `shape` is that of the relevance as it was
    passed. What was read from ranked lists comes with these as `lists`, in which queries without
    documents have a row that is never scored: `fillers`. `columns` has further values of the rows,
    for a function of one query.
    """

    relevance: Numbers
    graded: Mask | None
    judged: Mask | None
    scores: dict[Any, Floats]
    grouping: Grouping
    weight: Floats | None
    shape: tuple[int, ...]
    names: RowNames
    lists: Rows | None = None
    fillers: Mask | None = None
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        y_true: ArrayLike | Rows,
        y_score: ArrayLike | None,
        groups: Any = None,
        sample_weight: Any = None,
        sort: bool = True,
    ) -> Rankings:
        """Read the rows of one ranker, from arrays or lists.

        Without `sort`, queries of arrays may be in any order.
        """
        if not isinstance(y_true, Rows):
            return cls.of_arrays(y_true, y_score, groups, sample_weight, sort)
        refuse_beside_lists(y_score=y_score, groups=groups)
        if len(y_true.rankers) > 1:
            raise ValueError(
                f"The rows are of {len(y_true.rankers)} rankers: pass those of one, "
                f"rows[{y_true.rankers[0]!r}]. compare_rankers and NDCGDisplay.from_predictions "
                "take all."
            )
        return cls.of_lists(y_true, sample_weight)

    @classmethod
    def of_arrays(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | None,
        groups: Any = None,
        sample_weight: ArrayLike | None = None,
        sort: bool = True,
    ) -> Rankings:
        """Read the rows of one ranker; without `sort`, queries may be in any order."""
        if y_score is None:
            raise TypeError(
                "y_score is missing: only rows of from_lists or from_trec are passed without it."
            )
        refuse_reordered(y_true=y_true, y_score=y_score, groups=groups, sample_weight=sample_weight)
        rows = cls._unscored(y_true, groups, sample_weight, sort, y_score)
        rows.scores[None] = inputs.scores_like(y_score, rows.shape)
        return rows

    @classmethod
    def of_rankers(
        cls,
        y_true: ArrayLike,
        y_scores: Mapping[Any, ArrayLike],
        groups: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Rankings:
        """Read the rows of several rankers, by name."""
        refuse_reordered(y_true=y_true, groups=groups, sample_weight=sample_weight)
        rows, name = cls._unscored(y_true, groups, sample_weight), None
        try:
            for name, y_score in y_scores.items():
                refuse_reordered(
                    y_true=y_true, y_score=y_score, groups=groups, sample_weight=sample_weight
                )
                rows.scores[name] = inputs.scores_like(y_score, rows.shape)
        except (TypeError, ValueError) as error:
            if len(y_scores) > 1:
                error.add_note(f"While comparing the ranker {name!r}.")
            raise
        return rows

    def curve_cutoffs(self, k: Ints | None, queries: Queries) -> Ints:
        """The cutoffs of a curve, by default all up to the longest query or the end of lists."""
        if self.lists is not None and self.lists.k == "retrieved":
            raise ValueError(
                "k='retrieved' has no curve: read the lists without it, or with an int."
            )
        if k is None:
            last = queries.longest
            if self.lists is not None and is_integer(self.lists.k):
                last = min(last, self.lists.k)
            return np.arange(1, last + 1)
        if self.lists is not None:
            self.lists.cutoff(int(k.max()))
        return k

    @classmethod
    def _unscored(
        cls,
        y_true: ArrayLike,
        groups: Any,
        sample_weight: ArrayLike | None,
        sort: bool = True,
        y_score: ArrayLike | None = None,
    ) -> Rankings:
        """Rows without the scores of a ranker; `y_score` is only looked at for an error."""
        relevance = inputs.numeric(y_true, "y_true")
        if groups is not None and relevance.shape[1:] == (1,):
            relevance = relevance.ravel()
        shape = relevance.shape
        if groups is None or len(shape) == 2:
            inputs.check_groups(relevance, groups, y_score)
        weight = None
        if sample_weight is not None:
            weight = inputs.read_weights(sample_weight, len(relevance))
        rows, judged = _with_judged(relevance.ravel())
        if len(shape) == 2:
            grouping = Grouping.of_matrix(*shape)
        else:
            grouping = Grouping.of_ids(groups, len(rows), sort=sort)
        return cls(rows, judged, judged, {}, grouping, weight, shape, ArrayNames(shape))

    @classmethod
    def of_lists(cls, lists: Rows, sample_weight: Any = None) -> Rankings:
        """The rows of ranked lists."""
        if sample_weight is None:
            return cls._of_lists(lists, None)
        queries = lists.pool.queries
        by_query = list(lists.pool.per_query(sample_weight, "sample_weight", queries).values())
        return cls._of_lists(lists, inputs.row_weights(by_query, len(queries), queries))

    @classmethod
    def _of_lists(cls, lists: Rows, weight: Floats | None) -> Rankings:
        """The rows of ranked lists whose queries have these weights."""
        pool = lists.pool
        rows, judged = _with_judged(pool.y_true)
        graded, fillers = judged, pool.fillers()
        if judged is not None and lists.unjudged == "zero":
            rows, graded = _with_judged(np.where(judged, rows, 0))
        elif graded is not None and fillers is not None:  # which are no NaN of the user's
            rows, graded = np.where(fillers, 0, rows), graded | fillers
        scores = pool.y_scores
        if len(scores) == 1:  # whose name does not matter
            scores = dict.fromkeys([None], *scores.values())
        return cls(
            relevance=rows,
            graded=graded,
            judged=judged,
            scores=scores,
            grouping=Grouping(pool.labels, pool.starts[pool.order], pool.n_rows[pool.order]),
            weight=None if weight is None else np.repeat(weight, pool.n_rows),
            shape=rows.shape,
            names=ListNames(pool, lists.truth),
            lists=lists,
            fillers=fillers,
        )

    def as_read(self, measure: AnyMeasure) -> AnyMeasure:
        """A measure with the cutoff and the rule for unjudged documents of lists.

        A cutoff that is smaller than that of the lists stays.
        """
        if self.lists is None:
            return measure
        return measure.of_lists(self.lists.cutoff(measure.k), self.lists.unjudged)

    def with_scores(self, y_score: ArrayLike) -> Rankings:
        """The same rows, scored by another ranker."""
        return replace(self, scores={None: inputs.scores_like(y_score, self.shape)})

    def ignoring(self, rows: Mask) -> Rankings:
        """These rows, some of which are made unjudged, with a score of 0."""
        relevance = np.where(rows, np.nan, self.relevance)
        scores = {name: np.where(rows, 0, score) for name, score in self.scores.items()}
        judged = ~np.isnan(relevance)
        return replace(self, relevance=relevance, graded=judged, judged=judged, scores=scores)

    def queries(self, measure: Measure, ranker: Hashable = None) -> Queries:
        """What a ranker's values of a measure are computed from."""
        for mask, what, plural, message in self.wrong_rows(measure):
            raise ValueError(message.format(rows=self.names.describe(mask, what, plural)))
        grouping, kept = self.grouping, self._kept(measure)
        starts, lengths = grouping.starts, grouping.lengths
        gain, table = measure.gains_of_rows(self.relevance, self.graded, self.names)
        is_scattered = grouping.codes is not None
        if is_scattered:
            gain = grouping.gather(gain)  # type: ignore[assignment]
        if kept is not None:
            starts, lengths = kept_runs(kept, starts, lengths)
            gain = gain[kept]
        if self.weight is None:
            weight = np.ones(len(starts))
        elif len(self.shape) == 1:
            weight = grouping.mean_weight(grouping.gather(self.weight), kept)
        else:
            weight = self.weight
        score = self.scores[ranker]
        if is_scattered:
            score = grouping.gather(score)
        if kept is not None:
            score = score[kept]
        truth = self.names.truth
        queries = Queries(grouping.labels, starts, lengths, gain, table, score, weight, truth)
        return replace(queries, columns=self._gathered_columns(kept)) if self.columns else queries

    def _gathered_columns(self, kept: Mask | None) -> dict[str, NDArray[Any]]:
        """The values of the rows that are scored, query by query."""
        order = self.grouping.gather(np.arange(len(self.relevance)))
        order = order if kept is None else order[kept]
        return {name: values[order] for name, values in self.columns.items()}

    def queries_of_rankers(self, measure: Measure) -> list[Queries]:
        """What each ranker's values of a measure are computed from.

        In lists a ranker has the documents that it returned, and those in the truths.
        """
        if self.lists is None or len(self.scores) == 1:
            return self.queries_of_shared_rows(measure)
        weight = None if self.weight is None else self.weight[self.lists.pool.starts]
        return [self._of_lists(self.lists[name], weight).queries(measure) for name in self.scores]

    def queries_of_shared_rows(self, measure: Measure) -> list[Queries]:
        """The queries of each ranker, which differ only in their scores."""
        first, *others = self.scores
        rankers = [self.queries(measure, first)]
        kept = self._kept(measure)
        for name in others:
            score = self.grouping.gather(self.scores[name])
            score = score if kept is None else score[kept]
            rankers.append(replace(rankers[0], score=score))
        return rankers

    def _kept(self, measure: Measure) -> Mask | None:
        """Which rows are scored, query by query; None for all."""
        kept = None
        if self.graded is not None and measure.unjudged == "omit":
            kept = self.grouping.gather(self.graded.view(np.uint8)).view(np.bool_)
        if self.fillers is None:
            return kept
        return ~self.fillers if kept is None else kept & ~self.fillers

    def wrong_rows(self, measure: Measure) -> Iterator[WrongRows]:
        """Rows that no gain could make right, with one entry for each thing that is wrong."""
        truth = self.names.truth
        if self.graded is not None and np.isinf(self.relevance).any():
            infinite = np.isinf(self.relevance), "infinite value", "infinite values"
            message = f"Input {truth} contains infinity: {{rows}}. It must be finite."
            yield WrongRows(*infinite, message)
        for name, score in self.scores.items():
            if not score.max() < np.inf:
                which = f" of {name!r}" if len(self.scores) > 1 else ""
                what = "NaN" if np.isnan(score).any() else "infinity"
                message = (
                    f"Input y_score{which} contains {what}: {{rows}}. Scores must be finite, or "
                    "-inf if not retrieved."
                )
                yield WrongRows(~(score < np.inf), "NaN or +inf", "NaN or +inf", message)
        if self.weight is not None and (wrong := inputs.wrong_weights(self.weight)).any():
            message = inputs.WRONG_WEIGHTS.format(value=self.weight[wrong][0], rows="{rows}")
            yield WrongRows(wrong, "such weight", "such weights", message)
        if self.graded is not None and measure.unjudged == "raise" and not self.graded.all():
            padding = " (with scores of -inf if they pad rows to one length)"
            message = (
                f"Input {truth} contains NaN: {{rows}}. If NaN means unjudged, pass "
                "unjudged='zero' to count these documents as not relevant or unjudged='omit' to "
                f"take them out of the ranking{padding if len(self.shape) == 2 else ''}."
            )
            yield WrongRows(~self.graded, "NaN", "NaN", message)

    def check_ids(self, queries: Queries) -> None:
        """Warn if the ids of rows, of which these are the queries, are probably not query ids."""
        if len(self.shape) == 2 or self.lists is not None:
            return
        gain, starts, lengths = queries.gain, queries.starts, queries.lengths
        n_single, n_queries = int(np.count_nonzero(self.grouping.lengths == 1)), len(starts)
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

    def rows_of_query(self, number: int) -> Ints:
        """The numbers of a query's rows."""
        if self.grouping.codes is not None:
            return np.flatnonzero(self.grouping.codes == number)
        return self.grouping.rows_of(np.array([number]))

    def gains(self, measure: Measure) -> Floats:
        """The gain of each row, 0 if it is unjudged."""
        gain, table = measure.gains_of_rows(self.relevance, self.graded, self.names)
        return np.asarray(table[gain] if gain.dtype == np.uint8 else gain)

    def judged_shares(self, measure: DCG) -> JudgedShares | None:
        """How much of what rankers return is judged; None if all is judged, and returned."""
        if self.judged is None and min(map(np.min, self.scores.values())) > -np.inf:
            return None
        ones = np.ones(len(self.relevance), dtype=np.uint8)
        judged = ones if self.judged is None else self.judged.view(np.uint8)
        rule, scores, count = measure.tie_rule, self.scores, DCG(k=measure.k).counting()
        if rule.by_gain:  # what is then still tied has the same gain
            by_gain = rule.by_gain * self.gains(measure)
            scores = {name: _ranks_within_ties(score, by_gain) for name, score in scores.items()}
        elif rule.uses_order:
            count = measure.counting()
        rows = replace(self, graded=None, weight=None, scores=scores)
        returned, counted = (
            list(map(count.values, replace(rows, relevance=counts).queries_of_shared_rows(count)))
            for counts in (ones, judged)
        )
        share = np.full((len(scores), len(self.grouping.labels)), np.nan)
        for row, n_returned, n_judged in zip(share, returned, counted, strict=True):
            np.divide(n_judged[:, 0], n_returned[:, 0], out=row, where=n_returned[:, 0] > 0)
        has_judgements = self.grouping.extremes(judged)[1] > 0
        nonrelevant = (self.relevance <= 0) & (judged > 0)
        return JudgedShares(share, has_judgements, bool(nonrelevant.any()))

    def labels_of_queries(self, ids: Any, name: str, weight: Any) -> tuple[Ids, Ints]:
        """Sorted labels of clusters or segments, and the position in them of each query's.

        A query of lists needs no label if its weight is 0; without one its position is -1.
        """
        if self.lists is not None:
            pool = self.lists.pool
            queries = [pool.queries[number] for number in pool.order]
            by_query = pool.per_query(ids, name, list(compress(queries, weight)))
            by_id = Grouping.of_ids(list(by_query.values()), len(by_query), name=name)
            code_of = dict(zip(by_query, by_id.row_codes(), strict=True))
            return by_id.labels, np.array([code_of.get(query, -1) for query in queries])
        by_id = Grouping.of_ids(ids, self.shape[0], name=name)
        labels, codes = by_id.labels, by_id.row_codes()
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


def refuse_beside_lists(**arguments: object) -> None:
    """Raise for what rows of lists have already."""
    for name, value in arguments.items():
        if value is not None:
            raise TypeError(
                f"{name} must be left out, got {type(value).__name__}: rows of from_lists or "
                "from_trec have their own scores and queries."
            )


def _with_judged(rows: Numbers) -> tuple[Numbers, Mask | None]:
    """Relevance, as grades if possible, and which rows have one; None if all are finite."""
    grades = as_grades(rows)
    if grades is not None:
        return grades, None
    if np.isfinite([rows.min(), rows.max()]).all():
        return rows, None
    return rows, ~np.isnan(rows)


def _ranks_within_ties(score: Floats, gain: Floats) -> Floats:
    """Numbers in the order of scores, and of gain where scores are equal; -inf stays."""
    by_score, by_gain = (np.unique(values, return_inverse=True)[1] for values in (score, gain))
    return np.where(score > -np.inf, by_score * (by_gain.max() + 1.0) + by_gain, -np.inf)
