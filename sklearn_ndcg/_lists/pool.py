"""The ranked lists of one or several rankers, query by query."""

from __future__ import annotations

import sys
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Ids, Ints
from sklearn_ndcg._lists import identity, reading
from sklearn_ndcg._lists.ranked import Ranked
from sklearn_ndcg._lists.reading import ByQuery
from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.label_texts import shown_id

_WIDEST = 64  # characters of ids in an array of text; longer ids are shared objects

UNJUDGED = "nothing judged"  # why a query is left out
Unanswered = Literal["zero", "omit"]


@dataclass(frozen=True, eq=False)
class Pool:
    """What was read: the rows of each ranker, for the same queries.

    `labels` are those of the queries, sorted, and `order` has the positions among `queries` that
    they come from. `left_out` says how many queries have no rows, by reason. `in_order` says
    whether queries have numbers rather than ids, so that values of queries may come as a sequence.
    """

    rankers: dict[Hashable, Ranked]
    queries: list[Any]
    labels: Ids
    order: Ints
    left_out: dict[str, int]
    in_order: bool

    def of_ranker(self, name: Hashable) -> Pool:
        """What was read of one ranker."""
        return replace(self, rankers={name: self.rankers[name]})

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
                    f"example {shown_id(missing[0])}."
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
    """Read the ranked lists of all rankers.

    What is after rank k is not read, unless unjudged documents are to be removed before.
    """
    _checks.check_choice("unanswered", unanswered, get_args(Unanswered))
    _checks.check_choice("duplicates", duplicates, get_args(reading.Duplicates))
    last = min(k, sys.maxsize) if _checks.is_integer(k) and unjudged == "zero" else None
    truths, by_ranker, in_order = reading.by_query(relevant, rankers)
    queries, left_out = _queries_to_score(truths, by_ranker, unanswered, only_judged)
    read = reading.read_all(truths, by_ranker, queries, duplicates, last)
    identity.check(truths, by_ranker, read)
    labels, order = _sorted(queries)
    return Pool(read, queries, labels, order, left_out, in_order)


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
    if labels.dtype != object:  # they are all different
        order = np.argsort(labels, kind="stable")
        return labels[order], order
    by_label = Grouping.of_ids(labels, len(queries), name="queries")
    return by_label.labels, by_label.row_order()


def pool_runs(
    qrels: object,
    runs: Mapping[Hashable, object],
    unanswered: str,
    duplicates: str,
    convention: str,
    k: Cutoff,
    unjudged: str,
) -> Pool:
    """Read the TREC runs of all rankers."""
    _checks.check_choice("duplicates", duplicates, get_args(reading.Duplicates))
    _checks.check_choice("convention", convention, get_args(reading.Convention))
    truths, fractions = reading.judgements(qrels, duplicates)
    ranked: dict[Hashable, ByQuery] = {}
    for name, run in runs.items():
        with _checks.naming_ranker(name, runs):
            ranked[name] = reading.ranked_run(truths, fractions, run, duplicates, convention)
    pool = pool_lists(truths, ranked, unanswered, duplicates, k, unjudged, only_judged=True)
    if unanswered == "zero" and len(ranked) == 1:
        _warn_of_unanswered(truths, *ranked.values())
    return pool


def _warn_of_unanswered(truths: ByQuery, run: ByQuery) -> None:
    """Warn if a run lacks more than half of the judged queries."""
    n_missing = sum(query not in run for query in truths)
    if 2 * n_missing > len(truths):
        _checks.warn(
            f"The run has documents for {len(truths) - n_missing} of the {len(truths)} judged "
            "queries; the others count as 0, as with trec_eval's -c. If it was not asked all of "
            "them, pass unanswered='omit'."
        )


def _queries_to_score(
    truths: ByQuery, lists: Mapping[Hashable, ByQuery], unanswered: str, only_judged: bool
) -> tuple[list[Hashable], dict[str, int]]:
    """The queries that have rows, and how many have none, by reason."""
    every = list(dict.fromkeys(chain(*lists.values(), truths)))
    judged = [query for query in every if query in truths] if only_judged else every
    queries = judged
    if unanswered == "omit":
        answered = set(judged).intersection(*lists.values())
        queries = [query for query in judged if query in answered]
    n_unanswered = len(judged) - len(queries)
    if not queries:
        left_out = f": all {n_unanswered} lack a list and are left out" if n_unanswered else ""
        raise ValueError(f"No query is left to score{left_out}.")
    return queries, {UNJUDGED: len(every) - len(judged), "no list": n_unanswered}
