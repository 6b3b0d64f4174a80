"""The ranked lists of one ranker or several, brought to the same rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import Floats, Ints, naming_ranker
from sklearn_ndcg._lists.reading import as_floats, read_truth, refuse_unlike_ids

_WIDEST = 64  # characters of ids that are repeated in an array of text; longer ones are shared

Reader = Callable[[Any, Any], Mapping[Any, Any]]


@dataclass
class Pool:
    """The rows of all documents that a ranker returned or that are relevant."""

    y_true: Floats
    y_scores: dict[Any, Floats]
    queries: list[Any]
    n_rows: Ints
    n_skipped: int
    n_numbered: int | None = None  # queries, where they are numbers in a sequence

    def labels(self) -> NDArray[Any]:
        """One label per query: integers or short text, any other ids as objects."""
        kinds, queries = set(map(type, self.queries)), self.queries
        # an array of text would cut off a NUL at the end
        if kinds == {str} and max(map(len, queries)) <= _WIDEST and "\0" not in "".join(queries):
            return np.array(queries)
        if kinds == {int} and (labels := np.array(queries)).dtype.kind in "iu":
            return labels
        return np.fromiter(queries, dtype=object, count=len(queries))

    def per_query(self, values: Any, name: str) -> list[Any]:
        """A value for each query of the self."""
        if isinstance(values, Mapping):
            missing = [query for query in self.queries if query not in values]
            if missing:
                raise ValueError(
                    f"{name} must have an entry for each query, and {len(missing)} are missing, "
                    f"the first {missing[0]!r}."
                )
            return [values[query] for query in self.queries]
        if self.n_numbered is None:
            way = f" Pass {name}.to_dict()." if hasattr(values, "to_dict") else ""
            raise TypeError(
                f"{name} must be a mapping from query, as the lists or runs are, got "
                f"{type(values).__name__}.{way}"
            )
        each = list(values)
        if len(each) != self.n_numbered:
            raise ValueError(
                f"{name} must have one value for each of the {self.n_numbered} queries, got "
                f"{len(each)}."
            )
        return [each[query] for query in self.queries]


@dataclass
class _Ranker:
    """The lists of one ranker, one after another, and what is relevant in them.

    `places` are those of relevant documents in the lists, `graded` those among all grades.
    `n_others` counts the documents of each list that are not in its truth.
    """

    lists: Mapping[Any, Any]
    lengths: list[int] = field(default_factory=list)
    n_others: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    graded: list[int] = field(default_factory=list)
    n_listed: int = 0

    def add(self, listed: Mapping[Any, Any], graded: dict[Any, int]) -> int:
        """Add one list; return how many of its documents are not in the truth."""
        places = _places(graded.keys() & listed.keys(), listed)
        self.graded += [graded[document] for document in places]
        self.places += [self.n_listed + place for place in places.values()]
        self.lengths.append(len(listed))
        self.n_listed += len(listed)
        self.n_others.append(len(listed) - len(places))
        return self.n_others[-1]

    def scores(self, n: int, graded_rows: Ints, first_others: Ints) -> Floats:
        """The score of each row; what is not relevant takes the rows after the relevant."""
        lengths = np.array(self.lengths)
        score = np.repeat(np.cumsum(lengths) - lengths, lengths) - np.arange(self.n_listed) - 1.0
        scores = np.full(n, -np.inf)
        scores[graded_rows[self.graded]] = score[self.places]
        is_other = np.ones(self.n_listed, dtype=bool)
        is_other[self.places] = False
        scores[_runs(first_others, np.array(self.n_others))] = score[is_other]
        return scores


def pool_lists(
    lists: Mapping[Any, Mapping[Any, Any]],
    truths: Mapping[Any, Any],
    unanswered: str,
    unjudged: str,
    read: Reader,
    gain: Any = None,
) -> Pool:
    """Bring the lists of all rankers into the same rows.

    The first rows of a query are those of its truth. All the others have the same relevance, so it
    does not matter which document is in which row. How many there are matters only if they may have
    a gain; if not, there are as many as the longest list needs.
    """
    may_gain = unjudged == "zero" and not (gain is None or isinstance(gain, str))
    rankers = {name: _Ranker(each) for name, each in lists.items()}
    queries, n_skipped = _queries_to_score(lists, truths, unanswered)
    grades: list[Any] = []
    n_graded, n_others = [], []
    for query in queries:
        truth = read_truth(truths[query], query) if query in truths else {}
        graded = dict(zip(truth, count(len(grades)), strict=False))
        n_others.append(_add_lists(rankers, query, graded, read, may_gain))
        n_graded.append(len(truth))
        grades += truth.values()
        if not n_graded[-1] + n_others[-1]:
            raise ValueError(
                f"query {query!r} has neither a list nor anything relevant, and so would have no "
                "rows: leave it out."
            )
    for name, ranker in rankers.items():
        if not ranker.places:
            with _noting(name, rankers):
                refuse_unlike_ids(ranker.lists, truths)
    lengths = np.array(n_graded)
    n_rows: Ints = lengths + np.array(n_others)
    starts = np.cumsum(n_rows) - n_rows
    rows, n = _runs(starts, lengths), int(n_rows.sum())
    y_true = np.full(n, 0.0 if unjudged == "zero" else np.nan)
    y_true[rows] = as_floats(grades, queries, n_graded)
    y_scores = {name: each.scores(n, rows, starts + lengths) for name, each in rankers.items()}
    return Pool(y_true, y_scores, queries, n_rows, n_skipped)


def _queries_to_score(
    lists: Mapping[Any, Mapping[Any, Any]], truths: Mapping[Any, Any], unanswered: str
) -> tuple[list[Any], int]:
    """All queries, or those that all rankers answered, and how many were skipped."""
    queries = list(dict.fromkeys(chain(*lists.values(), truths)))
    n = len(queries)
    if unanswered == "skip":
        queries = [query for query in queries if all(query in each for each in lists.values())]
    n_skipped = n - len(queries)
    if not queries:
        skipped = f": all {n_skipped} lack a list and are skipped" if n_skipped else ""
        raise ValueError(f"There is no query to score{skipped}.")
    return queries, n_skipped


def _add_lists(
    rankers: dict[Any, _Ranker], query: Any, graded: dict[Any, int], read: Reader, may_gain: bool
) -> int:
    """Add the lists of one query; return the number of rows for what is not relevant."""
    others: set[Any] = set()
    most = 0
    for name, ranker in rankers.items():
        try:
            listed = read(ranker.lists[query], query) if query in ranker.lists else {}
        except (TypeError, ValueError):
            with _noting(name, rankers):
                raise
        most = max(most, ranker.add(listed, graded))
        if may_gain:
            others |= listed.keys() - graded.keys()
    return len(others) if may_gain else most


def _places(hits: Set[Any], listed: Collection[Any]) -> dict[Any, int]:
    """Where in the list these ids are."""
    if len(hits) <= 4:  # list.index is faster for a few hits, one pass for many
        in_order = list(listed)
        return {document: in_order.index(document) for document in hits}
    return {document: place for place, document in enumerate(listed) if document in hits}


def _noting(name: Any, rankers: Collection[Any]) -> AbstractContextManager[None]:
    """Say in which ranker an error was found, if there are several."""
    return naming_ranker(name) if len(rankers) > 1 else nullcontext()


def read_run(documents: Mapping[Any, Any], _: Any) -> Mapping[Any, Any]:
    """The documents of one query of a ranked run, which were checked before."""
    return documents


def _runs(starts: Ints, lengths: Ints) -> Ints:
    """The numbers of all rows of runs, one run after another."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
