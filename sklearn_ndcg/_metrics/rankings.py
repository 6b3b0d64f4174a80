"""Rows that are checked: of arrays, of matrices and of ranked lists, and the way from any input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, compress
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ndcg._checks import (
    Floats,
    Grades,
    Ids,
    Ints,
    Mask,
    Numbers,
    describe_mask,
    is_integer,
    naming_ranker,
)
from sklearn_ndcg._kernels.numpy_kernels import as_grades, look_up
from sklearn_ndcg._kernels.sums import exact_sum
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics import inputs
from sklearn_ndcg._metrics.measure import DCG, Measure
from sklearn_ndcg._metrics.values import Queries, Values
from sklearn_ndcg._rows.columns import level_of
from sklearn_ndcg._rows.containers import shape_of_rows
from sklearn_ndcg._rows.grouping import (
    Grouping,
    kept_runs,
    warn_of_equal_relevance,
    warn_of_single_documents,
)
from sklearn_ndcg._rows.label_texts import count_of_queries, shown_labels
from sklearn_ndcg._rows.labels import refuse_reordered

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


class RowNames(Protocol):
    """How the user knows the rows."""

    @property
    def relevance_name(self) -> str:
        """The argument that has the relevance: "y_true", "relevant" or "qrels"."""

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, and where the first is."""


@dataclass(frozen=True)
class ArrayNames:
    """Rows of an array of this shape, which have an index."""

    shape: tuple[int, ...]
    relevance_name: str = "y_true"

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, or rows of a matrix, and the index of the first."""
        shape = self.shape if mask.size == np.prod(self.shape) else mask.shape
        return describe_mask(mask.reshape(shape), what, plural)


@dataclass(frozen=True, eq=False)
class ListNames:
    """Rows of ranked lists, which are in a query."""

    lists: Rows
    relevance_name: str

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, and the query and the document of the first."""
        row, n = int(mask.argmax()), int(np.count_nonzero(mask))
        ranker, *_ = self.lists._ranked.values()
        number = int(np.searchsorted(ranker.starts, row, side="right")) - 1
        query = shown_labels([self.lists._queries[number]])
        document = f", document {ranker.row_ids[row]!r}"
        return counted(n, what, plural, query) + document


@dataclass(frozen=True, eq=False)
class PartNames:
    """Rows of a part of a table, whose index means nothing to the user."""

    grouping: Grouping
    relevance_name: str = "y_true"

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, and the query of the first."""
        return counted(int(np.count_nonzero(mask)), what, plural, self.query_of(mask))

    def query_of(self, mask: Mask) -> str:
        """The query of the first row that a mask selects."""
        query = self.grouping.row_codes()[[mask.argmax()]]
        return shown_labels(self.grouping.labels[query])


def counted(n: int, what: str, plural: str, query: str) -> str:
    """A number of things, and the query of the first, if it has one."""
    of_things = f"{n:,} {plural}" if n > 1 else f"1 {what}"
    if not query:
        return of_things
    return f"{of_things}, {'the first ' if n > 1 else ''}in query {query}"


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
        return Values(measure.values(queries), queries.weight, measure.undefined_rule)

    def evaluate_rankers(self, measure: Measure) -> list[Values]:
        """The values of a measure for each ranker, as `evaluate` gives them for one."""
        measure = self.as_read(measure)
        rankers = self.queries_of_rankers(measure)
        self.check_ids(rankers[0])
        rule = measure.undefined_rule
        return [Values(measure.values(queries), queries.weight, rule) for queries in rankers]

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
                f"{describe(wrong)}. Shift the grades, make grades of a continuous target by "
                "quantile_grades, or pass a gain that clips them, for example "
                "gain=functools.partial(numpy.maximum, 0)."
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
            np.divide(n_judged, n_returned, out=row, where=n_returned > 0)
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


@dataclass(frozen=True, eq=False)
class MatrixRankings(Rankings):
    """The rows of a matrix, each a query; `weight` has one entry per query."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the matrix."""
        return len(self.grouping.labels), int(self.grouping.lengths[0])

    def _query_weights(self, kept: Mask | None) -> Floats:
        assert self.weight is not None
        return self.weight

    def _nan_hint(self) -> str:
        return " (with scores of -inf if they pad rows to one length)."

    def check_ids(self, queries: Queries) -> None:
        """Nothing to check: the rows of a matrix have no ids."""

    def labels_of_queries(self, ids: Any, name: str, weight: Floats) -> tuple[Ids, Ints]:
        """Sorted labels of clusters or segments, of which each query has one."""
        return labels_of(ids, len(self.grouping.labels), name)


@dataclass(frozen=True, eq=False, kw_only=True)
class ListRankings(Rankings):
    """The rows of ranked `lists`; of several rankers these are the rows of the first.

    Queries without documents have a row that is never scored, one of the `fillers`. Documents that
    are in a list again are `repeats`: they have no gain, and are judged or not as the first one is.
    """

    lists: Rows
    fillers: Mask | None
    repeats: Mask | None

    @classmethod
    def of(cls, lists: Rows, sample_weight: Any = None) -> ListRankings:
        """The rows of one or several rankers, with weights of queries."""
        if sample_weight is None:
            return cls._of(lists, None)
        queries = lists._queries
        by_query = list(lists._values_by_query(sample_weight, "sample_weight", queries).values())
        return cls._of(lists, inputs.row_weights(by_query, len(queries), queries))

    @classmethod
    def of_one_ranker(cls, lists: Rows, sample_weight: Any = None) -> ListRankings:
        """The rows, which must be of one ranker."""
        if len(lists.rankers) > 1:
            raise ValueError(
                f"The rows are of {len(lists.rankers)} rankers: pass those of one, "
                f"rows[{lists.rankers[0]!r}]. compare_rankers and NDCGDisplay.from_predictions "
                "take all."
            )
        return cls.of(lists, sample_weight)

    @classmethod
    def _of(cls, lists: Rows, weight: Floats | None) -> ListRankings:
        """The rows of lists whose queries have these weights."""
        ranked, *_ = lists._ranked.values()
        order = lists._order
        judged, repeats = ranked.judged, ranked.is_repeat()
        is_zero = lists.unjudged == "zero"
        rows, graded = with_judged(ranked.relevance_or_0() if is_zero else ranked.relevance)
        if repeats is not None:  # the gain of 0 may not be 0
            rows = rows.astype(np.float64)
            graded = ~repeats if graded is None else graded & ~repeats
        scores = {name: ranker.scores for name, ranker in lists._ranked.items()}
        if len(scores) == 1:  # whose name does not matter
            scores = dict.fromkeys([None], *scores.values())
        return cls(
            relevance=rows,
            graded=graded,
            judged=None if judged.all() else judged,
            scores=scores,
            grouping=Grouping(lists._labels, ranked.starts[order], ranked.n_rows[order]),
            weight=None if weight is None else np.repeat(weight, ranked.n_rows),
            names=ListNames(lists, lists._relevance_name),
            lists=lists,
            fillers=ranked.fillers(),
            repeats=repeats,
        )

    @cached_property
    def with_own_rows(self) -> list[Rankings]:
        """The rows of each ranker: what it returned, and the truths."""
        if len(self.scores) == 1:
            return [self]
        first, *_ = self.lists._ranked.values()
        weight = None if self.weight is None else self.weight[first.starts]
        return [self._of(self.lists[name], weight) for name in self.scores]

    def as_read(self, measure: AnyMeasure) -> AnyMeasure:
        """The measure with the cutoff and the rule for unjudged documents of the lists.

        A cutoff that is smaller than that of the lists stays.
        """
        return measure.of_lists(self.lists.cutoff(measure.k), self.lists.unjudged)

    def curve_cutoffs(self, k: Ints | None, queries: Queries) -> Ints:
        """The cutoffs of a curve, by default all up to the longest query or the end of lists."""
        if self.lists.k == "retrieved":
            raise ValueError(
                "k='retrieved' has no curve: read the lists without it, or with an int."
            )
        if k is not None:
            self.lists.cutoff(int(k.max()))
            return k
        last = queries.longest
        return np.arange(1, (min(last, self.lists.k) if is_integer(self.lists.k) else last) + 1)

    def rows_of_query(self, number: int) -> Ints:
        """The numbers of a query's rows that are documents."""
        rows = super().rows_of_query(number)
        return rows if self.fillers is None else rows[~self.fillers[rows]]

    def _kept(self, measure: Measure) -> Mask | None:
        """Which rows are scored; None for all."""
        kept = super()._kept(measure)
        if self.fillers is None:
            return kept
        return ~self.fillers if kept is None else kept & ~self.fillers

    def _nonrelevant(self) -> Mask:
        nonrelevant = super()._nonrelevant()
        # the relevance of repeats is 0 whatever was judged
        return nonrelevant if self.repeats is None else nonrelevant & ~self.repeats

    def check_ids(self, queries: Queries) -> None:
        """The ids of lists are the user's own."""

    def labels_of_queries(self, ids: Any, name: str, weight: Floats) -> tuple[Ids, Ints]:
        """Sorted labels of clusters or segments, and the position in them of each query's.

        A query needs no label if its weight is 0; without one its position is -1.
        """
        lists = self.lists
        queries = [lists._queries[number] for number in lists._order]
        by_query = lists._values_by_query(ids, name, list(compress(queries, weight)))
        labels, codes = labels_of(list(by_query.values()), len(by_query), name)
        code_of = dict(zip(by_query, codes, strict=True))
        return labels, np.array([code_of.get(query, -1) for query in queries])


def rankings_of(
    y_true: ArrayLike | Rows,
    y_score: ArrayLike | None,
    groups: Any = None,
    sample_weight: Any = None,
    sort: bool = True,
) -> Rankings:
    """Read the rows of one ranker, from arrays or lists.

    Without `sort`, queries of arrays may be in any order.
    """
    if isinstance(y_true, Rows):
        refuse_beside_lists(y_score=y_score, groups=groups)
        return ListRankings.of_one_ranker(y_true, sample_weight)
    if y_score is None:
        raise TypeError(
            "y_score is missing: only rows of from_lists or from_trec are passed without it, and "
            "grades in ranked order to explain_query."
        )
    if isinstance(groups, str):
        groups = level_of(y_true, groups, "y_true")
    refuse_reordered(y_true=y_true, y_score=y_score, groups=groups, sample_weight=sample_weight)
    rows, shape = _without_scores(y_true, {None: y_score}, groups, sample_weight, sort)
    return rows(scores={None: inputs.scores_like(y_score, shape)})


def rankings_of_several(
    y_true: ArrayLike,
    y_scores: Mapping[Any, ArrayLike],
    groups: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Rankings:
    """Read the rows of several rankers, by name, from arrays."""
    if isinstance(groups, str):
        groups = level_of(y_true, groups, "y_true")
    refuse_reordered(y_true=y_true, groups=groups, sample_weight=sample_weight)
    rows, shape = _without_scores(y_true, y_scores, groups, sample_weight)
    scores: dict[Any, Floats] = {}
    for name, y_score in y_scores.items():
        with naming_ranker(name, y_scores):
            refuse_reordered(
                y_true=y_true, y_score=y_score, groups=groups, sample_weight=sample_weight
            )
            scores[name] = inputs.scores_like(y_score, shape)
    return rows(scores=scores)


def _without_scores(
    y_true: ArrayLike,
    y_scores: Mapping[Any, ArrayLike],
    groups: Any,
    sample_weight: ArrayLike | None,
    sort: bool = True,
) -> tuple[Callable[..., Rankings], tuple[int, ...]]:
    """Rows that still need the scores of their rankers, and the shape that these must have.

    `y_scores` are only looked at for an error.
    """
    relevance = inputs.numeric(y_true, "y_true")
    if groups is not None:
        relevance = relevance.reshape(shape_of_rows(relevance.shape))
    shape = relevance.shape
    if groups is None or len(shape) == 2:
        inputs.check_groups(relevance, groups, y_scores)
    relevance, judged = with_judged(relevance.ravel())
    kind: type[Rankings] = Rankings
    if len(shape) == 2:
        kind, grouping = MatrixRankings, Grouping.of_matrix(*shape)
    else:
        grouping = Grouping.of_ids(groups, len(relevance), sort=sort)
    weight = None if sample_weight is None else inputs.read_weights(sample_weight, shape[0])
    rows = partial(
        kind,
        relevance=relevance,
        graded=judged,
        judged=judged,
        grouping=grouping,
        weight=weight,
        names=ArrayNames(shape),
    )
    return rows, shape


def refuse_beside_lists(**arguments: object) -> None:
    """Raise for what rows of lists have already."""
    for name, value in arguments.items():
        if value is not None:
            raise TypeError(
                f"{name} must be left out, got {type(value).__name__}: rows of from_lists or "
                "from_trec have their own scores and queries."
            )


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
