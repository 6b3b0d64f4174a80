"""What `from_lists` and `from_trec` return, and every function takes in place of arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Floats, Ids, Ints
from sklearn_ndcg._lists.ranked import Ranked, scores_down
from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.grouping import kept_runs
from sklearn_ndcg._rows.ids import first_rows
from sklearn_ndcg._rows.label_texts import count_of_queries, shown_id, shown_labels

UnjudgedInLists = Literal["zero", "omit"]
UNJUDGED, NO_LIST = "nothing judged", "no list"  # why a query is left out
_READERS = {"relevant": "from_lists", "qrels": "from_trec"}
_FILLER = (None, 0)  # what stands for the id in the row of a query without documents


class _Table(NamedTuple):
    """The rows that the user sees."""

    n_rows: Ints
    y_true: Floats
    ids: Ids
    scores: list[Floats]  # of each ranker


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """The documents of ranked lists, to be scored: what `from_lists` and `from_trec` return.

    Every function that takes `y_true` and `y_score` takes them alone in their place:
    ``ndcg_score(rows)``. They are scored at the cutoff that they were read with.

    Attributes
    ----------
    y_true : ndarray of shape (n_documents,)
        The relevance of each document.

    y_score : ndarray of shape (n_documents,), or dict of these
        -1, -2, ... down the list, and ``-inf`` for what is not in it; of several rankers a dict
        with those of each.

    groups : ndarray of shape (n_documents,)
        The query of each document: its key or its number.

    ids : ndarray of shape (n_documents,)
        The id of each document. It is None in the one row of a query without documents.

    k : int, None or "retrieved"
        The cutoff that they were read with.

    unjudged : {"zero", "omit"}
        What was done about documents that are not in the truth.

    See Also
    --------
    from_lists : Reads ranked lists.
    from_trec : Reads TREC runs.

    Notes
    -----
    A row without a document, and that of an id that is in a list again (``duplicates="zero"``), has
    the relevance 0. If a `gain` is above 0 there, pass the rows rather than their arrays, in which
    such a row is a document of relevance 0.

    Examples
    --------
    >>> from sklearn_ndcg import from_lists, ndcg_score
    >>> rows = from_lists({"a": 2, "b": 1}, rankers={"old": ["c", "b"], "new": ["a", "c"]})
    >>> rows
    Rows of 1 query and 2 rankers, 'old', 'new'
    >>> ndcg_score(rows["new"])
    0.7601...
    >>> rows.to_frame()
       groups ids  y_true  old  new
    0       0   c     0.0 -1.0 -2.0
    1       0   b     1.0 -2.0 -inf
    2       0   a     2.0 -inf -1.0
    """

    _ranked: dict[Hashable, Ranked]  # for the same queries
    k: Cutoff
    unjudged: UnjudgedInLists
    _relevance_name: str  # of the argument that has the relevance
    _queries: list[Any]
    _labels: Ids  # of the queries, sorted
    _order: Ints  # the positions among the queries that the labels come from
    _left_out: dict[str, int]  # how many queries have no rows, by reason
    _are_numbered: bool  # so that values of queries may come as a sequence

    def __repr__(self) -> str:
        of, n_rankers = count_of_queries(len(self._queries), ","), len(self.rankers)
        if self.rankers != [None]:
            of += f" and {n_rankers} ranker{'s' * (n_rankers > 1)}, {shown_labels(self.rankers)}"
        return f"Rows of {of}" + (f", k={self.k!r}" if self.k is not None else "")

    def __getstate__(self) -> dict[str, Any]:
        """What was read, without the table of it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    __iter__ = None  # they do not unpack, although they have __getitem__

    def __getitem__(self, ranker: Hashable) -> Rows:
        """The rows of one of several rankers."""
        if self.rankers == [None]:
            raise KeyError("The rows are of one ranker, which has no name.")
        if ranker not in self.rankers:
            raise KeyError(f"{ranker!r} is not one of the rankers {self.rankers}.")
        return replace(self, _ranked={ranker: self._ranked[ranker]})

    @property
    def rankers(self) -> list[Hashable]:
        """The names of the rankers; [None] of a single one without a name."""
        return list(self._ranked)

    @property
    def y_true(self) -> Floats:
        """The relevance of each document."""
        return self._table.y_true

    @property
    def y_score(self) -> Floats | dict[Hashable, Floats]:
        """The scores that the ranks stand for; of several rankers a dict with those of each."""
        scores = self._table.scores
        return dict(zip(self.rankers, scores, strict=True)) if len(scores) > 1 else scores[0]

    @property
    def ids(self) -> Ids:
        """The id of each document."""
        return self._table.ids

    @property
    def groups(self) -> Ids:
        """The query of each document."""
        labels = self._labels[first_rows(self._order)]
        return np.repeat(labels, self._table.n_rows)

    def to_frame(self) -> Any:
        """Get the rows as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            One row per document, with the columns `groups`, `ids`, `y_true` and `y_score`; of
            several rankers a column of scores for each, by its name.
        """
        pandas = _checks.import_pandas()
        y_score = self.y_score
        scores = y_score if isinstance(y_score, dict) else {"y_score": y_score}
        columns: dict[Any, Any] = {"groups": self.groups, "ids": self.ids, "y_true": self.y_true}
        if taken := columns.keys() & scores.keys():
            raise ValueError(f"a ranker has the name of a column: {', '.join(sorted(taken))}.")
        return pandas.DataFrame(columns | scores)

    def cutoff(self, k: Cutoff) -> Cutoff:
        """The cutoff to score at: `k` or, by default, the one that the lists were read with."""
        if k is None or not _checks.is_integer(self.k):
            return self.k if k is None else k
        if k == "retrieved":
            every = self._ranked.values()
            is_beyond = any(ranker.is_cut or ranker.lengths.max() > self.k for ranker in every)
        else:
            is_beyond = k > self.k
        if is_beyond:
            raise ValueError(
                f"k must be at most {self.k}, got {k!r}: the lists were read with k={self.k}. Read "
                f"them again with {_READERS[self._relevance_name]}(..., k={k!r}), or without k."
            )
        return k

    def _values_by_query(self, values: Any, name: str, needed: Collection[Any]) -> dict[Any, Any]:
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
            return {query: values[query] for query in self._queries if query in values}
        if not self._are_numbered:
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
        if len(listed) != len(self._queries):
            raise ValueError(
                f"{name} must have one value for each of the {len(self._queries)} queries, got "
                f"{len(listed)}."
            )
        return dict(zip(self._queries, listed, strict=True))

    @cached_property
    def _table(self) -> _Table:
        """The rows of one ranker, or those of several with each document once."""
        tables = [self._table_of(ranker) for ranker in self._ranked.values()]
        table = tables[0] if len(tables) == 1 else _joined(tables)
        for array in (table.y_true, table.ids, *table.scores):
            array.flags.writeable = False  # a change would not reach what is scored
        return table

    def _table_of(self, ranker: Ranked) -> _Table:
        """The rows of one ranker, without unjudged documents if these are omitted."""
        n_rows, relevance, ids, scores = (
            ranker.n_rows, ranker.relevance, ranker.row_ids, ranker.scores
        )  # fmt: skip
        judged = ranker.judged
        if self.unjudged == "omit":
            n_judged = kept_runs(judged, ranker.starts, n_rows)[1]
            fillers, n_rows = ranker.starts[n_judged == 0], np.maximum(n_judged, 1)
            kept, ids, listed = judged.copy(), ids.copy(), judged & (scores > -np.inf)
            kept[fillers], ids[fillers] = True, None
            judged, relevance, ids = judged[kept], relevance[kept], ids[kept]
            scores = scores_down(n_rows, listed[kept])
        return _Table(n_rows, np.where(judged, relevance, 0), ids.copy(), [scores.copy()])


def _joined(tables: list[_Table]) -> _Table:
    """The documents of all rankers: those in lists, ranker by ranker, and then the others."""
    n_rows: list[int] = []
    y_true: list[float] = []
    ids: list[Hashable] = []
    scores: list[list[float]] = [[] for _ in tables]
    for queries in zip(*map(_documents_by_query, tables), strict=True):
        grades = {
            key: grade
            for in_list in (True, False)
            for rows in queries
            for key, (grade, score) in rows.items()
            if (score > -np.inf) == in_list
        }
        if len(grades) > 1:  # of another ranker the query may have none
            grades.pop(_FILLER, None)
        n_rows.append(len(grades))
        y_true += grades.values()
        ids += [document for document, _ in grades]
        for of_ranker, rows in zip(scores, queries, strict=True):
            of_ranker += [rows[key][1] if key in rows else -np.inf for key in grades]
    return _Table(
        np.array(n_rows),
        np.array(y_true),
        np.fromiter(ids, dtype=object, count=len(ids)),
        list(map(np.array, scores)),
    )


def _documents_by_query(table: _Table) -> Iterator[dict[tuple[Hashable, int], tuple[float, float]]]:
    """Relevance and score of each row of a query, by its id and how often that was there before."""
    ids = iter(table.ids.tolist())
    values = zip(table.y_true.tolist(), table.scores[0].tolist(), strict=True)
    for n in table.n_rows.tolist():
        documents, n_before = list(islice(ids, n)), [0] * n
        if len(set(documents)) < n:
            counts: Counter[Hashable] = Counter()
            for row, document in enumerate(documents):
                n_before[row] = counts[document]
                counts[document] += 1
        keys = zip(documents, n_before, strict=True)
        yield dict(zip(keys, values, strict=False))
