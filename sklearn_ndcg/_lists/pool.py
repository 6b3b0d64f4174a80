"""The ranked lists of one or several rankers, brought to the same rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, repeat
from typing import Any, Literal, get_args

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Floats, Ids, Ints
from sklearn_ndcg._lists import reading
from sklearn_ndcg._lists.reading import ByQuery
from sklearn_ndcg._rows.grouping import Grouping, kept_runs, rows_of_runs, shown_labels, starts_of

_WIDEST = 64  # characters of ids in an array of text; longer ids are shared objects

UNJUDGED = "nothing judged"  # why a query is left out
Unanswered = Literal["zero", "omit"]


@dataclass
class Pool:
    """The rows of all documents that a ranker returned or that are in a truth.

    `y_true` is NaN where a document is unjudged. `in_order` says whether queries have numbers
    rather than ids, so that values of queries may come as a sequence. `left_out` says how many
    queries have no rows, by reason. `documents` reads the ids of the first ranker's rows, in the
    order of its lists.
    """

    y_true: Floats
    y_scores: dict[Hashable, Floats]
    queries: list[Any]
    n_rows: Ints
    left_out: dict[str, int]
    in_order: bool
    documents: Callable[[], Iterator[Hashable]]

    def labels(self) -> Ids:
        """One label per query: integers or short text, any other ids as objects."""
        kinds, queries = set(map(type, self.queries)), self.queries
        # an array of text would cut off a NUL at the end
        if kinds == {str} and max(map(len, queries)) <= _WIDEST and "\0" not in "".join(queries):
            return np.array(queries)
        if kinds == {int} and (labels := np.array(queries)).dtype.kind in "iu":
            return labels
        return np.fromiter(queries, dtype=object, count=len(queries))

    @cached_property
    def sorted_labels(self) -> tuple[Ids, Ints]:
        """The labels, sorted, and the positions among `queries` that they come from."""
        by_label = Grouping.of_ids(self.labels(), len(self.queries), name="relevant")
        return by_label.labels, by_label.row_order()

    def per_query(self, values: Any, name: str, needed: Collection[Any]) -> dict[Any, Any]:
        """The value of each query: an entry of a mapping or, if queries have numbers, a list's.

        A mapping may lack queries that are not needed.
        """
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
                f"{name} must be a mapping from query, as the lists or runs are, got "
                f"{type(values).__name__}. Pass .to_dict() of a Series whose index has each query "
                "once."
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
    recommended: Mapping[Hashable, object],
    unanswered: str,
    duplicates: str,
    k: Cutoff = None,
    unjudged: str | None = None,
    only_judged: bool = False,
) -> Pool:
    """Bring the ranked lists of all rankers into the same rows.

    The first rows of a query are those of its truth. All the others are unjudged, so it does not
    matter which document is in which row, and there are as many as the longest list needs. What is
    after rank k is not read, unless unjudged documents are to be removed before.
    """
    _checks.check_choice("unanswered", unanswered, get_args(Unanswered))
    _checks.check_choice("duplicates", duplicates, get_args(reading.Duplicates))
    cutoff = _checks.check_cutoff(k)
    last = cutoff if _checks.is_integer(cutoff) and unjudged in (None, "zero") else None
    truths, lists, in_order = reading.by_query(relevant, recommended)
    queries, left_out = _queries_to_score(truths, lists, unanswered, only_judged)
    grades: dict[Hashable, Mapping[Hashable, object]] = {}
    rankers: list[Any] = [(name, by_query, [], []) for name, by_query in lists.items()]
    for query in queries:
        truth = reading.read_truth(truths[query], query, duplicates) if query in truths else {}
        grades[query] = truth
        for name, by_query, scores, lengths in rankers:
            try:
                listed = reading.read_list(by_query.get(query, []), query, duplicates, last)
            except (TypeError, ValueError):  # entering naming_ranker for each list would take time
                with _checks.naming_ranker(name, lists):
                    raise
            lengths.append(len(listed))
            scores.extend(map(listed.get, truth, repeat(-np.inf)))
    n_judged: Ints = np.array(list(map(len, grades.values())))
    split = [_split_scores(scores, lengths, n_judged) for _, _, scores, lengths in rankers]
    n_rows = n_judged + np.max([n_unjudged for _, _, n_unjudged in split], axis=0)
    if not n_rows.all():
        raise ValueError(
            f"query {shown_labels([queries[n_rows.argmin()]])} has neither a list nor anything "
            "relevant, and so would have no rows: leave it out."
        )
    starts = starts_of(n_rows)
    rows, y_true = rows_of_runs(starts, n_judged), np.full(n_rows.sum(), np.nan)
    y_scores = {name: np.full(len(y_true), -np.inf) for name in lists}
    for (name, y_score), (judged, others, n_others) in zip(y_scores.items(), split, strict=True):
        y_score[rows] = judged
        y_score[rows_of_runs(starts + n_judged, n_others)] = others
        if judged.max(initial=-np.inf) == -np.inf:
            with _checks.naming_ranker(name, lists):
                reading.refuse_unlike_ids(truths, lists[name])
                if len(lists) == 1:  # comparisons have a warning of their own
                    reading.warn_of_other_queries(truths, lists[name])
    y_true[rows] = reading.as_floats(grades, "relevant")
    documents = partial(_documents, grades, next(iter(lists.values())), last)
    return Pool(y_true, y_scores, queries, n_rows, left_out, in_order, documents)


def _documents(grades: ByQuery, lists: ByQuery, k: int | None) -> Iterator[Hashable]:
    """The ids of each query: first those in its list, then all others of its truth."""
    for query, truth in grades.items():
        listed = reading.read_list(lists.get(query, []), query, "omit", k)  # it was checked before
        yield from listed | dict.fromkeys(truth)


def _split_scores(
    scores: list[float], lengths: list[int], n_judged: Ints
) -> tuple[Floats, Floats, Ints]:
    """The scores of all judged documents, those of all unjudged ones, and how many these are.

    If "a", "b" and "c" are judged in a query, and its list is ["x", "c", "a"], then `scores` are
    -3, -inf and -2, and the unjudged "x" has the rank that is left in the list: the score -1.
    """
    judged = np.fromiter(scores, np.float64)
    n_ranks = np.array(lengths, dtype=np.intp)
    starts = starts_of(n_ranks)  # of each list in an array of the ranks of all lists
    is_listed = judged > -np.inf
    n_listed = kept_runs(is_listed, starts_of(n_judged), n_judged)[1]
    is_left = np.ones(n_ranks.sum(), dtype=bool)
    is_left[np.repeat(starts, n_listed) - judged[is_listed].astype(np.intp) - 1] = False
    n_unjudged = n_ranks - n_listed
    unjudged: Floats = np.subtract(
        np.repeat(starts - 1, n_unjudged), np.flatnonzero(is_left), dtype=np.float64
    )
    return judged, unjudged, n_unjudged


def pool_runs(
    qrels: object,
    runs: Mapping[Hashable, object],
    unanswered: str,
    duplicates: str,
    convention: str,
    k: Cutoff = None,
    unjudged: str | None = None,
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
