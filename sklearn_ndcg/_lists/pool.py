"""The ranked lists of one or several rankers, brought to the same rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import Floats, Ints, check_choice, naming_ranker
from sklearn_ndcg._lists.reading import ByQuery, as_floats, read_truth, refuse_unlike_ids

_WIDEST = 64  # characters of ids in an array of text; longer ids are shared objects

Unanswered = Literal["zero", "omit"]
Reader = Callable[[Any, Any, str], Mapping[Any, Any]]


@dataclass
class Pool:
    """The rows of all documents that a ranker returned or that are in a truth.

    `y_true` is NaN where a document is unjudged.
    """

    y_true: Floats
    y_scores: dict[Any, Floats]
    queries: list[Any]
    n_rows: Ints
    n_omitted: int

    def labels(self) -> NDArray[Any]:
        """One label per query: integers or short text, any other ids as objects."""
        kinds, queries = set(map(type, self.queries)), self.queries
        # an array of text would cut off a NUL at the end
        if kinds == {str} and max(map(len, queries)) <= _WIDEST and "\0" not in "".join(queries):
            return np.array(queries)
        if kinds == {int} and (labels := np.array(queries)).dtype.kind in "iu":
            return labels
        return np.fromiter(queries, dtype=object, count=len(queries))

    def per_query(self, values: Any, name: str, in_order: bool) -> list[Any]:
        """The value of each query: an entry of a mapping or, if `in_order`, of a sequence."""
        if isinstance(values, Mapping):
            missing = [query for query in self.queries if query not in values]
            if missing:
                raise ValueError(
                    f"{name} must have an entry for each query, but lacks {len(missing)}, for "
                    f"example {missing[0]!r}."
                )
            return [values[query] for query in self.queries]
        if not in_order:
            is_table = hasattr(values, "to_dict")
            way = " Pass .to_dict() of a Series whose index has each query once." * is_table
            raise TypeError(
                f"{name} must be a mapping from query, as the lists or runs are, got "
                f"{type(values).__name__}.{way}"
            )
        each = list(values)
        if len(each) != len(self.queries):
            raise ValueError(
                f"{name} must have one value for each of the {len(self.queries)} queries, got "
                f"{len(each)}."
            )
        return each


@dataclass
class _Ranker:
    """The lists of one ranker, and their hits: documents that are in the truth.

    `places` are the places of hits in their lists, `graded` their places among all grades.
    """

    lists: ByQuery
    lengths: list[int] = field(default_factory=list)
    n_hits: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    graded: list[int] = field(default_factory=list)

    def add(self, listed: Mapping[Any, Any], graded: dict[Any, int]) -> None:
        """Add one list."""
        places = _places(graded.keys() & listed.keys(), listed)
        self.graded += map(graded.__getitem__, places)
        self.places += places.values()
        self.lengths.append(len(listed))
        self.n_hits.append(len(places))

    def n_others(self) -> Ints:
        """How many documents of each list are not in the truth."""
        return np.array(self.lengths, dtype=np.intp) - np.array(self.n_hits, dtype=np.intp)

    def scores(self, n: int, graded_rows: Ints, first_others: Ints) -> Floats:
        """The score of each row; documents that are not in the truth take the rows after it."""
        lengths = np.array(self.lengths)
        starts = np.cumsum(lengths) - lengths
        score = np.repeat(starts, lengths) - np.arange(lengths.sum()) - 1.0
        places = np.repeat(starts, self.n_hits) + np.array(self.places, dtype=np.intp)
        is_other = np.ones(len(score), dtype=bool)
        is_other[places] = False
        scores = np.full(n, -np.inf)
        scores[graded_rows[self.graded]] = score[places]
        scores[_runs(first_others, self.n_others())] = score[is_other]
        return scores


def pool_lists(
    truths: ByQuery, lists: Mapping[Any, ByQuery], unanswered: str, duplicates: str, read: Reader
) -> Pool:
    """Bring the lists of all rankers into the same rows.

    The first rows of a query are those of its truth. All the others are unjudged, so it does not
    matter which document is in which row, and there are as many as the longest list needs.
    """
    check_choice("unanswered", unanswered, get_args(Unanswered))
    rankers = {name: _Ranker(each) for name, each in lists.items()}
    queries, n_omitted = _queries_to_score(truths, lists, unanswered)
    grades: list[Any] = []
    n_graded = []
    for query in queries:
        truth = read_truth(truths[query], query, duplicates) if query in truths else {}
        graded = dict(zip(truth, count(len(grades)), strict=False))
        for name, ranker in rankers.items():
            try:
                is_answered = query in ranker.lists
                listed = read(ranker.lists[query], query, duplicates) if is_answered else {}
            except (TypeError, ValueError):
                with _noting(name, rankers):
                    raise
            ranker.add(listed, graded)
        n_graded.append(len(truth))
        grades += truth.values()
    lengths = np.array(n_graded)
    n_rows: Ints = lengths + np.max([ranker.n_others() for ranker in rankers.values()], axis=0)
    if not n_rows.all():
        raise ValueError(
            f"query {queries[n_rows.argmin()]!r} has neither a list nor anything relevant, and so "
            "would have no rows: leave it out."
        )
    for name, ranker in rankers.items():
        if not ranker.places:
            with _noting(name, rankers):
                refuse_unlike_ids(truths, ranker.lists)
    starts = np.cumsum(n_rows) - n_rows
    rows, n = _runs(starts, lengths), int(n_rows.sum())
    y_true = np.full(n, np.nan)
    y_true[rows] = as_floats(grades, queries, n_graded, "relevant")
    y_scores = {name: each.scores(n, rows, starts + lengths) for name, each in rankers.items()}
    return Pool(y_true, y_scores, queries, n_rows, n_omitted)


def _queries_to_score(
    truths: ByQuery, lists: Mapping[Any, ByQuery], unanswered: str
) -> tuple[list[Any], int]:
    """All queries, or those that all rankers answered, and how many were omitted."""
    every = list(dict.fromkeys(chain(*lists.values(), truths)))
    needed: Any = {"zero": (), "omit": lists.values()}[unanswered]
    queries = [query for query in every if all(query in each for each in needed)]
    n_omitted = len(every) - len(queries)
    if not queries:
        omitted = f": all {n_omitted} lack a list and are omitted" if n_omitted else ""
        raise ValueError(f"No query is left to score{omitted}.")
    return queries, n_omitted


def _places(hits: Set[Any], listed: Collection[Any]) -> dict[Any, int]:
    """Where in the list these ids are."""
    if len(hits) <= 4:  # list.index is faster for a few hits, one pass for many
        in_order = list(listed)
        return {document: in_order.index(document) for document in hits}
    return {document: place for place, document in enumerate(listed) if document in hits}


def _noting(name: Any, rankers: Collection[Any]) -> AbstractContextManager[None]:
    """Name the ranker in which an error was found, unless it is the only one."""
    return naming_ranker(name) if len(rankers) > 1 else nullcontext()


def read_run(documents: Mapping[Any, Any], _: Any, __: str) -> Mapping[Any, Any]:
    """The documents of one query of a ranked run, which are already checked."""
    return documents


def _runs(starts: Ints, lengths: Ints) -> Ints:
    """The row numbers of all runs, one run after another."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
