"""The ranked lists of one or several rankers, brought to the same rows."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, count, repeat
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import Floats, Ints, check_choice, naming_ranker
from sklearn_ndcg._lists import reading
from sklearn_ndcg._lists.reading import ByQuery
from sklearn_ndcg._rows.grouping import Grouping, kept_runs, rows_of_runs

_WIDEST = 64  # characters of ids in an array of text; longer ids are shared objects

Unanswered = Literal["zero", "omit"]


@dataclass
class Pool:
    """The rows of all documents that a ranker returned or that are in a truth.

    `y_true` is NaN where a document is unjudged. `in_order` says whether queries have numbers
    rather than ids, so that values of queries may come as a sequence.
    """

    y_true: Floats
    y_scores: dict[Any, Floats]
    queries: list[Any]
    n_rows: Ints
    n_omitted: int
    in_order: bool

    def labels(self) -> NDArray[Any]:
        """One label per query: integers or short text, any other ids as objects."""
        kinds, queries = set(map(type, self.queries)), self.queries
        # an array of text would cut off a NUL at the end
        if kinds == {str} and max(map(len, queries)) <= _WIDEST and "\0" not in "".join(queries):
            return np.array(queries)
        if kinds == {int} and (labels := np.array(queries)).dtype.kind in "iu":
            return labels
        return np.fromiter(queries, dtype=object, count=len(queries))

    def sorted_labels(self) -> tuple[NDArray[Any], Ints]:
        """The labels, sorted, and the positions among `queries` that they come from."""
        by_label = Grouping.of_ids(self.labels(), len(self.queries), name="relevant")
        return by_label.labels, by_label.row_order()

    def per_query(self, values: Any, name: str) -> list[Any]:
        """The value of each query: an entry of a mapping or, if queries have numbers, a list's."""
        if isinstance(values, Mapping):
            missing = [query for query in self.queries if query not in values]
            if missing:
                raise ValueError(
                    f"{name} must have an entry for each query, but lacks {len(missing)}, for "
                    f"example {missing[0]!r}."
                )
            return [values[query] for query in self.queries]
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
        return listed


def pool_lists(relevant: Any, recommended: ByQuery, unanswered: str, duplicates: str) -> Pool:
    """Bring the ranked lists of all rankers into the same rows.

    The first rows of a query are those of its truth. All the others are unjudged, so it does not
    matter which document is in which row, and there are as many as the longest list needs.
    """
    check_choice("unanswered", unanswered, get_args(Unanswered))
    check_choice("duplicates", duplicates, get_args(reading.Duplicates))
    truths, lists = reading.truths_by_query(relevant), {}
    for name, by_query in recommended.items():
        with naming_ranker(name, recommended):
            lists[name] = reading.lists_by_query(relevant, by_query)
    queries, n_omitted = _queries_to_score(truths, lists, unanswered)
    rankers = {name: _Ranker() for name in lists}
    grades: dict[Any, Mapping[Any, Any]] = {}
    numbers = count()
    for query in queries:
        truth = reading.read_truth(truths[query], query, duplicates) if query in truths else {}
        grades[query], number_of = truth, dict(zip(truth, numbers, strict=False))
        for name, ranker in rankers.items():
            ids = []
            if query in lists[name]:
                with naming_ranker(name, rankers):
                    ids = reading.read_list(lists[name][query], query, duplicates)
            ranker.lengths.append(len(ids))
            ranker.judged.extend(map(number_of.get, ids, repeat(-1)))
    n_judged: Ints = np.array(list(map(len, grades.values())))
    n_rows = n_judged + np.max([ranker.n_others() for ranker in rankers.values()], axis=0)
    if not n_rows.all():
        raise ValueError(
            f"query {queries[n_rows.argmin()]!r} has neither a list nor anything relevant, and so "
            "would have no rows: leave it out."
        )
    for name, ranker in rankers.items():
        if max(ranker.judged, default=-1) < 0:
            with naming_ranker(name, rankers):
                reading.refuse_unlike_ids(truths, lists[name])
    starts = np.cumsum(n_rows) - n_rows
    rows, n = rows_of_runs(starts, np.array(n_judged)), int(n_rows.sum())
    y_true = np.full(n, np.nan)
    y_true[rows] = reading.as_floats(grades, "relevant", np.isinf)
    y_scores = {name: ranker.scores(n, rows, starts + n_judged) for name, ranker in rankers.items()}
    return Pool(y_true, y_scores, queries, n_rows, n_omitted, not isinstance(relevant, Mapping))


def pool_runs(qrels: Any, runs: Mapping[Any, Any], unanswered: str, duplicates: str) -> Pool:
    """Bring the TREC runs of all rankers into the same rows."""
    check_choice("duplicates", duplicates, get_args(reading.Duplicates))
    truths, fractions = reading.judgements(qrels, duplicates)
    ranked = {}
    for name, run in runs.items():
        with naming_ranker(name, runs):
            ranked[name] = reading.ranked_run(truths, fractions, run, duplicates)
    return pool_lists(truths, ranked, unanswered, duplicates)


@dataclass
class _Ranker:
    """The lists of one ranker: their lengths, and the numbers of their documents' grades.

    The number is -1 for a document that is not in the truth.
    """

    lengths: list[int] = field(default_factory=list)
    judged: array[int] = field(default_factory=lambda: array("q"))

    def n_others(self) -> Ints:
        """How many documents of each list are not in the truth."""
        starts = np.cumsum(self.lengths, dtype=np.intp) - self.lengths
        return kept_runs(np.array(self.judged) < 0, starts, np.array(self.lengths))[1]

    def scores(self, n: int, graded_rows: Ints, first_others: Ints) -> Floats:
        """The score of each row; documents that are not in the truth take the rows after it."""
        number, ends = np.array(self.judged), np.cumsum(self.lengths, dtype=np.intp)
        score = np.repeat(ends - self.lengths, self.lengths) - np.arange(len(number)) - 1.0
        is_judged = number >= 0
        scores = np.full(n, -np.inf)
        scores[graded_rows[number[is_judged]]] = score[is_judged]
        scores[rows_of_runs(first_others, self.n_others())] = score[~is_judged]
        return scores


def _queries_to_score(truths: ByQuery, lists: ByQuery, unanswered: str) -> tuple[list[Any], int]:
    """All queries, or those that all rankers answered, and how many were omitted."""
    every = list(dict.fromkeys(chain(*lists.values(), truths)))
    needed: Any = {"zero": (), "omit": lists.values()}[unanswered]
    queries = [query for query in every if all(query in answered for answered in needed)]
    n_omitted = len(every) - len(queries)
    if not queries:
        omitted = f": all {n_omitted} lack a list and are omitted" if n_omitted else ""
        raise ValueError(f"No query is left to score{omitted}.")
    return queries, n_omitted
