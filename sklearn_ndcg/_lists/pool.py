"""The ranked lists of one or several rankers, brought to the same rows."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, repeat
from typing import Any, Literal, get_args

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Floats, Ids, Ints, Mask
from sklearn_ndcg._lists import identity, reading
from sklearn_ndcg._lists.reading import ByQuery
from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.grouping import Grouping, kept_runs, rows_of_runs, shown_labels, starts_of

_WIDEST = 64  # characters of ids in an array of text; longer ids are shared objects

UNJUDGED = "nothing judged"  # why a query is left out
Unanswered = Literal["zero", "omit"]


@dataclass(frozen=True, eq=False)
class IdLists:
    """A list of ids for each query, in one list, which is faster to make than many."""

    ids: list[Hashable]
    lengths: Ints

    @cached_property
    def _starts(self) -> list[int]:
        return list(starts_of(self.lengths).tolist())

    def __getitem__(self, query: int) -> list[Hashable]:
        start = self._starts[query]
        return self.ids[start : start + int(self.lengths[query])]


@dataclass(frozen=True, eq=False)
class Pool:
    """The rows of all documents that a ranker returned or that are in a truth.

    The first rows of a query are those of its truth. All the others are unjudged, so it does not
    matter which document is in which row, and there are as many as the longest list needs. A query
    with neither has one row. `y_true` is NaN where a document is unjudged, and `y_scores` have -1,
    -2, ... down the list of each ranker and -inf for what is not in it.

    `truths` and `lists` have the ids of each query. `labels` are those of the queries, sorted, and
    `order` has the positions among `queries` that they come from. `left_out` says how many queries
    have no rows, by reason. `in_order` says whether queries have numbers rather than ids, so that
    values of queries may come as a sequence, and `is_cut` which rankers have a list that is longer
    than what was read of it.
    """

    y_true: Floats
    y_scores: dict[Hashable, Floats]
    queries: list[Any]
    n_rows: Ints
    truths: IdLists
    lists: dict[Hashable, IdLists]
    labels: Ids
    order: Ints
    left_out: dict[str, int]
    in_order: bool
    is_cut: set[Hashable]

    @cached_property
    def starts(self) -> Ints:
        """The first row of each query."""
        return starts_of(self.n_rows)

    def of_ranker(self, name: Hashable) -> Pool:
        """The rows of one ranker: the documents in its lists and in the truths."""
        y_score = self.y_scores[name]
        kept = y_score > -np.inf
        kept[rows_of_runs(self.starts, self.truths.lengths)] = True
        n_rows = kept_runs(kept, self.starts, self.n_rows)[1]
        kept[self.starts[n_rows == 0]] = True
        return replace(
            self,
            y_true=self.y_true[kept],
            y_scores={name: y_score[kept]},
            n_rows=np.maximum(n_rows, 1),
            lists={name: self.lists[name]},
            is_cut=self.is_cut & {name},
        )

    def fillers(self) -> Mask | None:
        """The rows of queries without documents; None if every query has one."""
        n_documents = self.truths.lengths + sum(ids.lengths for ids in self.lists.values())
        if n_documents.all():
            return None
        rows = np.zeros(len(self.y_true), dtype=bool)
        rows[self.starts[n_documents == 0]] = True
        return rows

    def query_of(self, row: int) -> int:
        """The position among `queries` of the query that has a row."""
        return int(np.searchsorted(self.starts, row, side="right")) - 1

    def documents(self, query: int) -> list[Hashable]:
        """The document of each row of a query, if there is one ranker; None without documents."""
        [y_score], [lists] = self.y_scores.values(), self.lists.values()
        truth, listed = self.truths[query], lists[query]
        start = self.starts[query]
        scores = y_score[start : start + self.n_rows[query]].tolist()
        others: Iterator[Hashable] = chain(truth, repeat(None))
        return [
            listed[int(-score) - 1] if score > -np.inf else document
            for score, document in zip(scores, others, strict=False)
        ]

    def per_query(self, values: Any, name: str, needed: Collection[Any]) -> dict[Any, Any]:
        """The value of each query: an entry of a mapping or, if queries have numbers, a list's.

        A pandas Series is a mapping from its index. A mapping may lack queries that are not needed.
        """
        if containers.is_pandas(values) and values.ndim == 1:
            if not values.index.is_unique:
                raise ValueError(
                    f"{name} must have one value for each query, but its index repeats."
                )
            values = values.to_dict()
        if isinstance(values, Mapping):
            missing = [query for query in needed if query not in values]
            if missing:
                raise ValueError(
                    f"{name} must have an entry for each query, but lacks {len(missing)}, for "
                    f"example {shown_labels(missing[:1])}."
                )
            return {query: values[query] for query in self.queries if query in values}
        if not self.in_order:
            raise TypeError(
                f"{name} must be a mapping from query to its value, got {type(values).__name__}."
            )
        is_array = containers.converts_to_array(values) and np.ndim(values) == 1
        if not is_array and (isinstance(values, str) or not isinstance(values, Sequence)):
            raise TypeError(
                f"{name} must have one value for each query, in a mapping, a Series, a list or a "
                f"1-D array, got {type(values).__name__}. Several columns are tuples."
            )
        listed = list(values)
        if len(listed) != len(self.queries):
            raise ValueError(
                f"{name} must have one value for each of the {len(self.queries)} queries, got "
                f"{len(listed)}."
            )
        return dict(zip(self.queries, listed, strict=True))


def pool_lists(
    relevant: object,
    rankers: Mapping[Hashable, object],
    unanswered: str,
    duplicates: str,
    k: Cutoff,
    unjudged: str,
    only_judged: bool = False,
) -> Pool:
    """Bring the ranked lists of all rankers into the same rows.

    What is after rank k is not read, unless unjudged documents are to be removed before.
    """
    _checks.check_choice("unanswered", unanswered, get_args(Unanswered))
    _checks.check_choice("duplicates", duplicates, get_args(reading.Duplicates))
    last = k if _checks.is_integer(k) and unjudged == "zero" else None
    truths, by_ranker, in_order = reading.by_query(relevant, rankers)
    queries, left_out = _queries_to_score(truths, by_ranker, unanswered, only_judged)
    grades: dict[Hashable, Mapping[Hashable, object]] = {}
    judged_ids: list[Hashable] = []
    rankers_read: list[Any] = [(name, lists, [], [], []) for name, lists in by_ranker.items()]
    for query in queries:
        truth = reading.read_truth(truths[query], query, duplicates) if query in truths else {}
        grades[query] = truth
        judged_ids.extend(truth)
        for name, by_query, ids, lengths, scores in rankers_read:
            try:
                listed = reading.read_list(by_query.get(query, []), query, duplicates, last)
            except (TypeError, ValueError):  # entering naming_ranker for each list would take time
                with _checks.naming_ranker(name, by_ranker):
                    raise
            ids.extend(listed)
            lengths.append(len(listed))
            scores.extend(map(listed.get, truth, repeat(-np.inf)))
    n_judged: Ints = np.array(list(map(len, grades.values())))
    lists, split = {}, {}
    for name, _, ids, lengths, scores in rankers_read:
        lists[name] = IdLists(ids, np.array(lengths, dtype=np.intp))
        split[name] = _split_scores(scores, lists[name].lengths, n_judged)
    most_unjudged = np.max([n_unjudged for _, _, n_unjudged in split.values()], axis=0)
    n_rows = np.maximum(n_judged + most_unjudged, 1)
    starts = starts_of(n_rows)
    rows, y_true = rows_of_runs(starts, n_judged), np.full(n_rows.sum(), np.nan)
    y_scores = {name: np.full(len(y_true), -np.inf) for name in lists}
    for name, (judged, others, n_others) in split.items():
        y_scores[name][rows] = judged
        y_scores[name][rows_of_runs(starts + n_judged, n_others)] = others
    identity.check(
        truths,
        by_ranker,
        identity.FlatIds(judged_ids, n_judged),
        {name: identity.FlatIds(read.ids, read.lengths) for name, read in lists.items()},
        {name: int(np.count_nonzero(judged > -np.inf)) for name, (judged, _, _) in split.items()},
        is_asked_all=only_judged and unanswered == "zero",
    )
    y_true[rows] = reading.as_floats(grades, "relevant")
    labels, order = _sorted(queries)
    return Pool(
        y_true=y_true,
        y_scores=y_scores,
        queries=queries,
        n_rows=n_rows,
        truths=IdLists(judged_ids, n_judged),
        lists=lists,
        labels=labels,
        order=order,
        left_out=left_out,
        in_order=in_order,
        is_cut={name for name in by_ranker if _is_cut(by_ranker[name], queries, last)},
    )


def _sorted(queries: list[Any]) -> tuple[Ids, Ints]:
    """Sorted labels of queries, and the positions that they come from.

    Labels are integers or short text, any other ids are objects.
    """
    kinds, labels = set(map(type, queries)), np.fromiter(queries, dtype=object, count=len(queries))
    # an array of text would cut off a NUL at the end
    if kinds == {str} and max(map(len, queries)) <= _WIDEST and "\0" not in "".join(queries):
        labels = np.array(queries)
    elif kinds == {int} and (numbers := np.array(queries)).dtype.kind in "iu":
        labels = numbers
    by_label = Grouping.of_ids(labels, len(queries), name="queries")
    return by_label.labels, by_label.row_order()


def _is_cut(lists: ByQuery, queries: list[Any], k: int | None) -> bool:
    """Whether a list has ids after rank k."""
    return k is not None and any(len(lists.get(query, ())) > k for query in queries)


def _split_scores(
    scores: list[float], n_ranks: Ints, n_judged: Ints
) -> tuple[Floats, Floats, Ints]:
    """The scores of all judged documents, those of all unjudged ones, and how many these are.

    If "a", "b" and "c" are judged in a query, and its list is ["x", "c", "a"], then `scores` are
    -3, -inf and -2, and the unjudged "x" has the rank that is left in the list: the score -1.
    """
    judged = np.fromiter(scores, np.float64)
    starts = starts_of(n_ranks)  # of each list in an array of the ranks of all lists
    is_listed = judged > -np.inf
    n_listed = kept_runs(is_listed, starts_of(n_judged), n_judged)[1]
    is_left = np.ones(n_ranks.sum(), dtype=bool)
    is_left[np.repeat(starts, n_listed) - judged[is_listed].astype(np.intp) - 1] = False
    n_unjudged = n_ranks - n_listed
    unjudged = np.repeat(starts - 1, n_unjudged) - np.flatnonzero(is_left)
    # converted by itself, as NumPy 2.4 crashes if memory runs out in a ufunc that converts
    return judged, unjudged.astype(np.float64), n_unjudged


def pool_runs(
    qrels: object,
    runs: Mapping[Hashable, object],
    unanswered: str,
    duplicates: str,
    convention: str,
    k: Cutoff,
    unjudged: str,
) -> Pool:
    """Bring the TREC runs of all rankers into the same rows."""
    _checks.check_choice("duplicates", duplicates, get_args(reading.Duplicates))
    _checks.check_choice("convention", convention, get_args(reading.Convention))
    truths, fractions = reading.judgements(qrels, duplicates)
    ranked: dict[Hashable, object] = {}
    for name, run in runs.items():
        with _checks.naming_ranker(name, runs):
            ranked[name] = reading.ranked_run(truths, fractions, run, duplicates, convention)
    return pool_lists(truths, ranked, unanswered, duplicates, k, unjudged, only_judged=True)


def _queries_to_score(
    truths: ByQuery, lists: Mapping[Hashable, ByQuery], unanswered: str, only_judged: bool
) -> tuple[list[Hashable], dict[str, int]]:
    """The queries that have rows, and how many have none, by reason."""
    every = list(dict.fromkeys(chain(*lists.values(), truths)))
    judged = [query for query in every if query in truths] if only_judged else every
    needed: dict[str, Iterable[ByQuery]] = {"zero": (), "omit": lists.values()}
    answered = set(judged).intersection(*needed[unanswered])
    queries = [query for query in judged if query in answered]
    n_omitted = len(judged) - len(queries)
    if not queries:
        omitted = f": all {n_omitted} lack a list and are omitted" if n_omitted else ""
        raise ValueError(f"No query is left to score{omitted}.")
    return queries, {UNJUDGED: len(every) - len(judged), "no list": n_omitted}
