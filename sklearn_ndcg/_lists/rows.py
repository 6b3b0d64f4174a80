"""What `from_lists` and `from_trec` return, and every function takes in place of arrays."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from typing import Any, Literal, NamedTuple

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Floats, Ids, Ints
from sklearn_ndcg._lists.pool import Pool
from sklearn_ndcg._rows.ids import first_rows
from sklearn_ndcg._rows.label_texts import shown_labels

Unjudged = Literal["zero", "omit", "nan"]
_READERS = {"relevant": "from_lists", "qrels": "from_trec"}


class _Table(NamedTuple):
    """The documents of all queries, each once."""

    n_rows: Ints
    y_true: Floats
    y_scores: dict[Hashable, Floats]
    ids: Ids


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

    unjudged : {"zero", "omit", "nan"}
        What was done about documents that are not in the truth.

    See Also
    --------
    from_lists : Reads ranked lists.
    from_trec : Reads TREC runs.

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

    pool: Pool
    k: Cutoff
    unjudged: Unjudged
    truth: str

    def __repr__(self) -> str:
        n_queries, n_rankers = len(self.pool.queries), len(self.rankers)
        of = f"{n_queries:,} quer{'y' if n_queries == 1 else 'ies'}"
        if self.rankers != [None]:
            of += f" and {n_rankers} ranker{'s' * (n_rankers > 1)}, {shown_labels(self.rankers)}"
        return f"Rows of {of}" + (f", k={self.k!r}" if self.k is not None else "")

    __iter__ = None  # they do not unpack, although they have __getitem__

    def __getitem__(self, ranker: Hashable) -> Rows:
        """The rows of one of several rankers."""
        if self.rankers == [None]:
            raise KeyError("The rows are of one ranker, which has no name.")
        if ranker not in self.rankers:
            raise KeyError(f"{ranker!r} is not one of the rankers {self.rankers}.")
        return Rows(self.pool.of_ranker(ranker), self.k, self.unjudged, self.truth)

    @property
    def rankers(self) -> list[Hashable]:
        """The names of the rankers; [None] of a single one without a name."""
        return list(self.pool.y_scores)

    @property
    def y_true(self) -> Floats:
        """The relevance of each document."""
        return self._table.y_true

    @property
    def y_score(self) -> Floats | dict[Hashable, Floats]:
        """The scores that the ranks stand for; of several rankers a dict with those of each."""
        scores = self._table.y_scores
        return scores if len(scores) > 1 else next(iter(scores.values()))

    @property
    def ids(self) -> Ids:
        """The id of each document."""
        return self._table.ids

    @property
    def groups(self) -> Ids:
        """The query of each document."""
        labels = self.pool.labels[first_rows(self.pool.order)]
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
        scores = self._table.y_scores
        columns: dict[Any, Any] = {"groups": self.groups, "ids": self.ids, "y_true": self.y_true}
        if taken := columns.keys() & scores.keys():
            raise ValueError(f"a ranker has the name of a column: {', '.join(sorted(taken))}.")
        columns |= scores if len(scores) > 1 else {"y_score": self.y_score}
        return pandas.DataFrame(columns)

    def cutoff(self, k: Cutoff) -> Cutoff:
        """The cutoff to score at: `k` or, by default, the one that the lists were read with."""
        if k is None or not _checks.is_integer(self.k):
            return self.k if k is None else k
        if k == "retrieved":
            longest = max(ids.lengths.max() for ids in self.pool.lists.values())
            is_beyond = bool(self.pool.is_cut) or longest > self.k
        else:
            is_beyond = k > self.k
        if is_beyond:
            raise ValueError(
                f"k must be at most {self.k}, got {k!r}: the lists were read with k={self.k}. Read "
                f"them again with {_READERS[self.truth]}(..., k={k!r}), or without k."
            )
        return k

    @cached_property
    def _table(self) -> _Table:
        """Each document of a query once: those in lists in their order, then the rest."""
        pool, is_omitted = self.pool, self.unjudged == "omit"
        n_rows, y_true, every_id = [], [], []
        y_scores: dict[Hashable, list[float]] = {name: [] for name in pool.lists}
        missing = np.nan if self.unjudged == "nan" else 0.0
        for number, start in enumerate(pool.starts.tolist()):
            truth = pool.truths[number]
            grades = pool.y_true[start : start + len(truth)].tolist()
            relevance = {
                document: grade
                for document, grade in zip(truth, grades, strict=True)
                if grade == grade  # noqa: PLR0124  (not NaN)
            }
            lists = {name: ids[number] for name, ids in pool.lists.items()}
            if is_omitted:
                lists = {
                    name: list(filter(relevance.__contains__, ids)) for name, ids in lists.items()
                }
            documents = dict.fromkeys(chain(*lists.values(), relevance if is_omitted else truth))
            ids = list(documents) or [None]
            n_rows.append(len(ids))
            every_id += ids
            y_true += [relevance.get(document, missing) for document in ids]
            for name, listed in lists.items():
                score_of = dict(zip(listed, count(-1, -1), strict=False))
                y_scores[name] += [score_of.get(document, -np.inf) for document in ids]
        table = _Table(
            np.array(n_rows),
            np.array(y_true),
            {name: np.array(scores, dtype=np.float64) for name, scores in y_scores.items()},
            np.fromiter(every_id, dtype=object, count=len(every_id)),
        )
        for array in (table.y_true, table.ids, *table.y_scores.values()):
            array.flags.writeable = False  # a change would not reach what is scored
        return table
