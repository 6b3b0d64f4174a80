"""Rows that are checked: of arrays, of matrices and of ranked lists, and the way from any input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ndcg._checks import (
    Floats,
    Ids,
    Ints,
    Mask,
    Numbers,
    describe_mask,
    naming_ranker,
)
from sklearn_ndcg._kernels.numpy_kernels import as_grades, look_up
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics import inputs
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg._metrics.values import Queries, Values
from sklearn_ndcg._rows.columns import level_of
from sklearn_ndcg._rows.containers import shape_of_rows
from sklearn_ndcg._rows.grouping import (
    Grouping,
    kept_runs,
    warn_of_equal_relevance,
    warn_of_single_documents,
)
from sklearn_ndcg._rows.label_texts import count_of_queries, shown_id, shown_labels
from sklearn_ndcg._rows.labels import refuse_reordered

AnyMeasure = TypeVar("AnyMeasure", bound=Measure)

_NO_GRADES = np.empty(0)


class Fault(NamedTuple):
    """Why rows cannot be scored: what they have, and the message of the error around these rows."""

    what: str
    plural: str
    before: str
    after: str

    def message(self, rows: str) -> str:
        """What the error says of these rows."""
        return self.before + rows + self.after


@dataclass(frozen=True, eq=False)
class Rankings:
    """The relevance of documents in queries, and the scores that a ranker gave them: checked rows.

    `relevance` is uint8 if all of it are grades from 0 to 255. `has_gain` says which rows have
    a gain, and `judged` which were judged: in lists these may differ. Both are None if all are.
    `weight` has one entry per row. Errors call the relevance and the score by their names.

    These are rows with query ids; `MatrixRankings` and `ListRankings` are other kinds. Several
    rankers are a dict of these by name. Those of the same arrays share all but the score.
    """

    relevance: Numbers
    has_gain: Mask | None
    judged: Mask | None
    score: Floats
    grouping: Grouping
    weight: Floats | None
    relevance_name: str = "y_true"
    score_name: str = "y_score"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the relevance as it was passed."""
        return self.relevance.shape

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, and where the first is: what errors call them."""
        return describe_mask(mask, what, plural)

    def as_read(self, measure: AnyMeasure) -> AnyMeasure:
        """The measure, in which lists put the cutoff that they were read with."""
        return measure

    def curve_cutoffs(self, k: Any, queries: Queries) -> Ints:
        """The cutoffs of a curve: those of `k` or, if it is None, all up to the longest query."""
        if k is None:
            return np.arange(1, queries.longest + 1)
        cutoffs = np.asarray(k)
        if cutoffs.ndim == 1 and cutoffs.dtype.kind in "iu" and cutoffs.size:
            cutoffs = cutoffs.astype(np.intp)  # larger ones become negative
            if cutoffs.min() >= 1:
                return cutoffs
        raise ValueError(
            "k must be a 1-D array of integer cutoffs from 1 to 2**63 - 1, for example "
            f"k=[1, 5, 10], got {k!r}."
        )

    def ignoring(self, rows: Mask) -> Rankings:
        """These rows, some of which are made unjudged, with a score of 0."""
        relevance, score = np.where(rows, np.nan, self.relevance), np.where(rows, 0, self.score)
        judged = ~np.isnan(relevance)
        return replace(self, relevance=relevance, has_gain=judged, judged=judged, score=score)

    def evaluate(self, measure: Measure, *, check_ids: bool = True) -> Values:
        """The value of a measure for each query; undefined ones are for the caller to report."""
        measure, [queries] = queries_of([self], measure, check_ids=check_ids)
        return measure.values(queries)

    def queries(self, measure: Measure, of_same_rows: Queries | None = None) -> Queries:
        """What the values of a measure are computed from.

        Those of another ranker of the same rows differ only in the scores.
        """
        for mask, fault in self.wrong_rows(measure):
            raise ValueError(fault.message(self.describe(mask, fault.what, fault.plural)))
        grouping, kept = self.grouping, self._kept(measure)
        if of_same_rows is not None:
            return replace(of_same_rows, score=self._scores(kept))
        starts, lengths = grouping.starts, grouping.lengths
        gain, gains_of_grades = self._gains_or_grades(measure)
        gain = grouping.gather(gain)
        if kept is not None:
            starts, lengths = kept_runs(kept, starts, lengths)
            gain = gain[kept]
        return Queries(
            labels=grouping.labels,
            starts=starts,
            lengths=lengths,
            gain=gain,
            gains_of_grades=gains_of_grades,
            weight=np.ones(len(starts)) if self.weight is None else self._query_weights(kept),
            score=self._scores(kept),
            relevance_name=self.relevance_name,
        )

    def _scores(self, kept: Mask | None) -> Floats:
        """Scores of the kept rows, query by query."""
        score = self.grouping.gather(self.score)
        return score if kept is None else score[kept]

    def _query_weights(self, kept: Mask | None) -> Floats:
        """The weight of each query: the mean over its kept rows."""
        assert self.weight is not None
        return self.grouping.mean_weight(self.grouping.gather(self.weight), kept)

    def _kept(self, measure: Measure) -> Mask | None:
        """Which rows are scored, query by query; None for all."""
        if self.judged is None or measure.unjudged != "omit":
            return None
        return self.grouping.gather(self.judged)

    def gains(self, measure: Measure) -> Floats:
        """The gain of each row, 0 if it is unjudged."""
        return look_up(*self._gains_or_grades(measure))

    def _gains_or_grades(self, measure: Measure) -> tuple[Numbers, Floats]:
        """Gains of the rows, beside none of grades; or grades of the rows, and their gains."""
        if self.has_gain is None and self.relevance.dtype == np.uint8:
            gains_of_grades = measure.gains_of_grades(int(self.relevance.max()))
            if gains_of_grades is not None:
                return self.relevance, gains_of_grades
        with np.errstate(over="ignore"):  # a long double may be too large: refused below
            relevance = self.relevance.astype(np.float64, copy=False)
        if self.has_gain is None:
            return self._checked_gains(measure, relevance, self.describe), _NO_GRADES
        gain = np.where(np.isnan(relevance), measure.gain_of_unjudged, 0.0)
        rows = np.flatnonzero(self.has_gain)

        def describe(mask: Mask) -> str:
            return self.describe(np.isin(np.arange(len(relevance)), rows[mask]))

        if len(rows):
            gain[rows] = self._checked_gains(measure, relevance[rows], describe)
        return gain, _NO_GRADES

    def _checked_gains(
        self, measure: Measure, relevance: Floats, describe: Callable[[Mask], str]
    ) -> Floats:
        """Gains, which must be finite, and >= 0 where the measure must be."""
        name = self.relevance_name
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

    def wrong_rows(self, measure: Measure) -> Iterator[tuple[Mask, Fault]]:
        """The rows with each of the faults that no gain could make right."""
        name = self.relevance_name
        if self.has_gain is not None and np.isinf(self.relevance).any():
            fault = Fault(
                "infinite value",
                "infinite values",
                before=f"Input {name} contains infinity: ",
                after=". It must be finite.",
            )
            yield np.isinf(self.relevance), fault
        if not self.score.max() < np.inf:
            what = "NaN" if np.isnan(self.score).any() else "infinity"
            fault = Fault(
                "NaN or +inf",
                "NaN or +inf",
                before=f"Input {self.score_name} contains {what}: ",
                after=". Scores must be finite, or -inf if not retrieved.",
            )
            yield ~(self.score < np.inf), fault
        if self.weight is not None and (wrong := inputs.wrong_weights(self.weight)).any():
            before = inputs.wrong_weight(self.weight[wrong][0])
            yield wrong, Fault("such weight", "such weights", before, after=".")
        may_miss = self.has_gain is not None and measure.unjudged == "raise"
        if may_miss and (missing := np.isnan(self.relevance)).any():
            fault = Fault(
                "NaN",
                "NaN",
                before=f"Input {name} contains NaN: ",
                after=". If NaN means unjudged, pass unjudged='zero' to count these documents as "
                f"not relevant or unjudged='omit' to remove them{self._nan_hint()}",
            )
            yield missing, fault

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

    def has_judgements(self) -> Mask:
        """Which queries have a judged document."""
        if self.judged is None:
            return np.ones(len(self.grouping.labels), dtype=np.bool_)
        return self.grouping.extremes(self.judged)[1]

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
                "that of its first row."
            )
        return labels, low


@dataclass(frozen=True, eq=False)
class MatrixRankings(Rankings):
    """The rows of a matrix, each a query; `weight` has one entry per query."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the matrix."""
        return len(self.grouping.labels), int(self.grouping.lengths[0])

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many documents a mask selects, or rows of the matrix, and the index of the first."""
        shape = self.shape if mask.size == self.relevance.size else mask.shape
        return describe_mask(mask.reshape(shape), what, plural)

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
    """The rows of the ranked `lists` of one ranker.

    Queries without documents have a row that is never scored, one of the `fillers`. Documents that
    are in a list again have no gain, and are judged or not as the first one is.
    """

    lists: Rows
    fillers: Mask | None

    @classmethod
    def of(cls, lists: Rows, weight: Floats | None = None) -> ListRankings:
        """The rows of lists of one ranker, whose queries have these weights."""
        [ranked], order = lists._ranked.values(), lists._order
        judged, repeats = ranked.judged, ranked.is_repeat()
        is_zero = lists.unjudged == "zero"
        rows, has_gain = with_judged(ranked.relevance_or_0() if is_zero else ranked.relevance)
        if repeats is not None:  # the gain of 0 may not be 0
            has_gain = ~repeats if has_gain is None else has_gain & ~repeats
        return cls(
            relevance=rows,
            has_gain=has_gain,
            judged=None if judged.all() else judged,
            score=ranked.scores,
            grouping=Grouping(lists._labels, ranked.starts[order], ranked.n_rows[order]),
            weight=None if weight is None else np.repeat(weight, ranked.n_rows),
            relevance_name=lists._relevance_name,
            lists=lists,
            fillers=ranked.fillers(),
        )

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, and the query and the document of the first."""
        row, n = int(mask.argmax()), int(np.count_nonzero(mask))
        [ranked] = self.lists._ranked.values()
        number = int(np.searchsorted(ranked.starts, row, side="right")) - 1
        query = shown_id(self.lists._queries[number])
        return f"{counted(n, what, plural, query)}, document {shown_id(ranked.row_ids[row])}"

    def as_read(self, measure: AnyMeasure) -> AnyMeasure:
        """The measure with the cutoff and the rule for unjudged documents of the lists.

        A cutoff that is smaller than that of the lists stays.
        """
        return measure.as_read(self.lists.cutoff(measure.k), self.lists.unjudged)

    def curve_cutoffs(self, k: Any, queries: Queries) -> Ints:
        """The cutoffs of a curve, which end where the lists do."""
        if self.lists.k == "retrieved":
            raise ValueError(
                "k='retrieved' has no curve: read the lists without it, or with an int."
            )
        cutoffs = super().curve_cutoffs(k, queries)
        if k is None:
            return cutoffs[: self.lists.k]
        self.lists.cutoff(int(cutoffs.max()))
        return cutoffs

    def rows_of_query(self, number: int) -> Ints:
        """The numbers of a query's rows that are documents."""
        rows = super().rows_of_query(number)
        return rows if self.fillers is None else rows[~self.fillers[rows]]

    def _kept(self, measure: Measure) -> Mask | None:
        """Which rows are scored; None for all."""
        kept = super()._kept(measure)
        if self.fillers is None:
            return kept
        documents = self.grouping.gather(~self.fillers)
        return documents if kept is None else kept & documents

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
    *,
    sort_ids: bool = True,
    kind: type[Rankings] = Rankings,
) -> Rankings:
    """Read the rows of one ranker, from arrays or lists.

    Without `sort_ids`, queries of arrays may be in any order, which is faster. `kind` is that of
    rows with query ids.
    """
    if isinstance(y_true, Rows):
        refuse_beside_lists(y_score=y_score, groups=groups)
        if len(y_true.rankers) > 1:
            raise ValueError(
                f"The rows are of {len(y_true.rankers)} rankers: pass those of one, "
                f"rows[{y_true.rankers[0]!r}]. compare_rankers and NDCGDisplay.from_predictions "
                "take all."
            )
        return ListRankings.of(y_true, _weights_of_lists(y_true, sample_weight))
    if y_score is None:
        raise TypeError(
            "y_score is missing. Only rows of from_lists or from_trec are complete without it; "
            "explain_query also takes grades in ranked order."
        )
    rankers = rankings_of_several(
        y_true, {"": y_score}, groups, sample_weight, sort_ids=sort_ids, kind=kind
    )
    return rankers[""]


def rankings_of_several(
    y_true: ArrayLike,
    y_scores: Mapping[Any, ArrayLike],
    groups: Any = None,
    sample_weight: ArrayLike | None = None,
    *,
    sort_ids: bool = True,
    kind: type[Rankings] = Rankings,
) -> dict[Any, Rankings]:
    """Read the rows of several rankers, by name, from arrays; they share all but the scores."""
    if isinstance(groups, str):
        groups = level_of(y_true, groups, "y_true")
    relevance = inputs.numeric(y_true, "y_true")
    if groups is not None:
        relevance = relevance.reshape(shape_of_rows(relevance.shape))
    shape = relevance.shape
    inputs.check_groups(relevance, groups, y_scores)
    relevance, judged = with_judged(relevance.ravel())
    if len(shape) == 2:
        kind, grouping = MatrixRankings, Grouping.of_matrix(*shape)
    else:
        grouping = Grouping.of_ids(groups, len(relevance), sort=sort_ids)
    weight = None if sample_weight is None else inputs.read_weights(sample_weight, shape[0])
    rankers = {}
    for name, y_score in y_scores.items():
        with naming_ranker(name, y_scores):
            score = inputs.scores_like(y_score, shape)
        rankers[name] = kind(
            relevance=relevance,
            has_gain=judged,
            judged=judged,
            score=score,
            grouping=grouping,
            weight=weight,
            score_name="y_score" if len(y_scores) == 1 else f"y_scores[{name!r}]",
        )
    scores = {rankings.score_name: y_scores[name] for name, rankings in rankers.items()}
    refuse_reordered(y_true=y_true, **scores, groups=groups, sample_weight=sample_weight)
    return rankers


def rankings_of_lists(lists: Rows, sample_weight: Any = None) -> dict[Any, Rankings]:
    """The rows of the rankers of lists, by name: what each returned, and the truths."""
    weight = _weights_of_lists(lists, sample_weight)
    if len(lists.rankers) == 1:  # which may have no name
        return {lists.rankers[0]: ListRankings.of(lists, weight)}
    return {name: ListRankings.of(lists[name], weight) for name in lists.rankers}


def queries_of(
    rankers: Sequence[Rankings], measure: AnyMeasure, *, check_ids: bool = True
) -> tuple[AnyMeasure, list[Queries]]:
    """The measure as the rows were read, and the queries of each ranker that it has values of.

    Rankers of the same rows share their gains. `check_ids` says whether to warn of ids that are
    probably not query ids.
    """
    for rows in rankers:
        measure = rows.as_read(measure)
    first = rankers[0].queries(measure)
    if check_ids:
        rankers[0].check_ids(first)
    others = (
        rows.queries(measure, first if rows.relevance is rankers[0].relevance else None)
        for rows in rankers[1:]
    )
    return measure, [first, *others]


def _weights_of_lists(lists: Rows, sample_weight: Any) -> Floats | None:
    """The weight of each query that was read; None if all are equal."""
    if sample_weight is None:
        return None
    queries = lists._queries
    by_query = lists._values_by_query(sample_weight, "sample_weight", queries)
    return inputs.row_weights(list(by_query.values()), len(queries), queries)


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


def counted(n: int, what: str, plural: str, query: str) -> str:
    """A number of things, and the query of the first, if it has one."""
    of_things = f"{n:,} {plural}" if n > 1 else f"1 {what}"
    if not query:
        return of_things
    return f"{of_things}, {'the first ' if n > 1 else ''}in query {query}"
