"""The ranked lists of several rankers, brought to the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

import numpy as np

from sklearn_ndcg._checks import Floats, Ints, naming_ranker
from sklearn_ndcg._lists.reading import (
    check_kinds,
    distinct_ids,
    graded_ids,
    listed_ids,
    numbers,
    places_of,
    refuse_empty,
)

Reader = Callable[[Any, Any], tuple[list[Any], Set[Any]]]


@dataclass
class Union:
    """The rows of all documents that a ranker returned or that are relevant."""

    y_true: Floats
    y_scores: dict[Any, Floats]
    queries: list[Any]
    n_rows: Ints
    n_skipped: int
    n_numbered: int | None = None  # queries, where they are numbers in a sequence


@dataclass
class _Found:
    """The lists of one ranker, one after another, and what is relevant in them.

    `places` are those of relevant documents in the lists, `graded` those among all grades.
    """

    lengths: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    graded: list[int] = field(default_factory=list)
    n_listed: int = 0

    def scores(self, n: int, graded_rows: Ints, first_others: Ints) -> Floats:
        """The score of each row; what is not relevant takes the rows after the relevant."""
        lengths = np.array(self.lengths)
        score = np.repeat(np.cumsum(lengths) - lengths, lengths) - np.arange(self.n_listed) - 1.0
        scores = np.full(n, -np.inf)
        scores[graded_rows[self.graded]] = score[self.places]
        is_other = np.ones(self.n_listed, dtype=bool)
        is_other[self.places] = False
        counts = np.bincount(
            np.repeat(np.arange(len(lengths)), lengths)[is_other], minlength=len(lengths)
        )
        scores[_runs(first_others, counts)] = score[is_other]
        return scores


def unite(
    lists: Mapping[Any, Mapping[Any, Any]],
    truths: Mapping[Any, Any],
    unanswered: str,
    unjudged: str,
    gain: Any,
    read: Reader,
) -> Union:
    """Bring the lists of all rankers into the same rows.

    The first rows of a query are those of its truth. All the others have the same relevance, so it
    does not matter which document is in which row. How many there are matters only if they may have
    a gain; if not, there are as many as the longest list needs.
    """
    may_gain = unjudged == "zero" and not (gain is None or isinstance(gain, str))
    found = {name: _Found() for name in lists}
    queries, n_others, n_graded = [], [], []
    grades: list[Any] = []
    n_skipped = 0
    for query in dict.fromkeys(chain(*lists.values(), truths)):
        if unanswered == "skip" and not all(query in each for each in lists.values()):
            n_skipped += 1
            continue
        truth = graded_ids(truths[query], query) if query in truths else {}
        others = _find(found, lists, query, dict(zip(truth, count(len(grades)), strict=False)),
                       read, may_gain)  # fmt: skip
        refuse_empty(query, len(truth) + others)
        queries.append(query)
        n_others.append(others)
        n_graded.append(len(truth))
        grades += truth.values()
    if not queries:
        which = " that all rankers answered" if n_skipped else ""
        raise ValueError(f"There is no query to score{which}.")
    for name, each in found.items():
        if not each.places:
            with naming_ranker(name):
                check_kinds(lists[name], truths)
    graded = np.array(n_graded)
    n_rows: Ints = graded + np.array(n_others)
    starts = np.cumsum(n_rows) - n_rows
    graded_rows, n = _runs(starts, graded), int(n_rows.sum())
    y_true = np.full(n, 0.0 if unjudged == "zero" else np.nan)
    y_true[graded_rows] = numbers(grades, queries, n_graded)
    y_scores = {name: each.scores(n, graded_rows, starts + graded) for name, each in found.items()}
    return Union(y_true, y_scores, queries, n_rows, n_skipped)


def _find(
    found: dict[Any, _Found],
    lists: Mapping[Any, Mapping[Any, Any]],
    query: Any,
    graded: dict[Any, int],
    read: Reader,
    may_gain: bool,
) -> int:
    """Add the lists of one query; return the number of rows for what is not relevant."""
    all_others: set[Any] = set()
    most = 0
    for name, each in lists.items():
        try:
            listed, retrieved = read(each[query], query) if query in each else ([], set())
        except (TypeError, ValueError):
            with naming_ranker(name):
                raise
        places = places_of(graded.keys() & retrieved, listed)
        ours = found[name]
        ours.graded += [graded[document] for document in places]
        ours.places += [ours.n_listed + place for place in places.values()]
        ours.lengths.append(len(listed))
        ours.n_listed += len(listed)
        most = max(most, len(listed) - len(places))
        if may_gain:
            all_others |= retrieved - graded.keys()
    return len(all_others) if may_gain else most


def read_list(documents: Any, query: Any) -> tuple[list[Any], Set[Any]]:
    """The ids of a list, checked, in order and as a set."""
    listed = listed_ids(documents, query)
    return listed, distinct_ids(listed, query)


def read_run(documents: Any, _: Any) -> tuple[list[Any], Set[Any]]:
    """The same of the keys of a mapping, which were checked before."""
    return list(documents), documents.keys()


def _runs(starts: Ints, lengths: Ints) -> Ints:
    """The numbers of all rows of runs, one run after another."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def per_query(values: Any, name: str, union: Union) -> list[Any]:
    """A value for each query of the union."""
    if isinstance(values, Mapping):
        missing = [query for query in union.queries if query not in values]
        if missing:
            raise ValueError(
                f"{name} must have an entry for each query, and {len(missing)} are missing, the "
                f"first {missing[0]!r}."
            )
        return [values[query] for query in union.queries]
    if union.n_numbered is None:
        way = f" Pass {name}.to_dict()." if hasattr(values, "to_dict") else ""
        raise TypeError(
            f"{name} must be a mapping from query, as the lists or runs are, got "
            f"{type(values).__name__}.{way}"
        )
    each = list(values)
    if len(each) != union.n_numbered:
        raise ValueError(
            f"{name} must have one value for each of the {union.n_numbered} queries, got "
            f"{len(each)}."
        )
    return [each[query] for query in union.queries]
