"""Ranked lists and TREC runs, brought to rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from sklearn_ndcg._checks import Cutoff, Floats, Ids, Mask, check_choice
from sklearn_ndcg._lists.files import FilePath
from sklearn_ndcg._lists.pool import Pool, Unanswered, pool_lists, pool_runs
from sklearn_ndcg._lists.reading import Convention, Duplicates
from sklearn_ndcg._rows.grouping import kept_runs, starts_of

Unjudged = Literal["zero", "omit", "nan"]


class _Arrays(NamedTuple):
    y_true: Floats
    y_score: Floats
    groups: Ids


class Rows(_Arrays):
    """Rows as three arrays, which are also keyword arguments: ``ndcg_score(**rows, k=10)``."""

    _read: tuple[Callable[[], Iterable[Hashable]], Mask]

    def keys(self) -> tuple[str, ...]:
        """The names of the arrays."""
        return self._fields

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self._fields.index(key) if key in self._fields else key)

    def _replace(self, **arrays: Ids) -> Self:
        rows = super()._replace(**arrays)
        rows.__dict__.update(self.__dict__)  # the ids, or what reads them
        return rows

    def __getstate__(self) -> dict[str, Ids]:
        return {"ids": self.ids}

    @cached_property
    def ids(self) -> Ids:
        """The document of each row, read when it is first asked for."""
        documents, kept = self._read
        return np.fromiter(documents(), dtype=object)[kept]


def from_lists(
    relevant: Mapping[Any, Any] | Sequence[Any],
    recommended: Mapping[Any, Sequence[Hashable]] | Sequence[Sequence[Hashable]],
    *,
    k: Cutoff = None,
    unanswered: Unanswered = "zero",
    unjudged: Unjudged = "zero",
    duplicates: Duplicates = "raise",
) -> Rows:
    """Turn relevant ids, and ranked lists of ids, into rows for `ndcg_score`.

    Each document that was recommended or is relevant gets a row. Relevant documents that were not
    recommended get the score ``-inf``, and count in the ideal. Scores follow the ranks in the
    lists, without ties.

    Parameters
    ----------
    relevant : mapping or sequence of n_queries mappings or collections, or one of these
        The truth of each query (user, search, playlist): a mapping from id to grade >= 0, or a
        collection of ids, whose grade is 1. Ids are of any hashable type; None and NaN
        are not ids. One truth alone goes with one list, and is one query.

    recommended : mapping or sequence of n_queries sequences, or one of these
        The list of ids of each query, best first. A mapping with the same keys if `relevant` is a
        mapping; otherwise a sequence of the same length. A pandas Series of lists, or of truths, is
        a mapping from its index. As a single list or truth a Series is refused, as its values may
        be ids or grades: pass its ``to_dict()`` or its ``tolist()``.

    k : int, None or "retrieved", default=None
        The cutoff of the score that you want: only the first `k` ids of each list are read, which
        is several times as fast. Pass the same `k`, or a smaller one, to the metric; at a larger
        one the ids after rank `k` would count as not recommended. Repeated and missing ids after
        rank `k` are not noticed. With ``unjudged="omit"`` and "nan" whole lists are read, as later
        ids may move up.

    unanswered : {"zero", "omit"}, default="zero"
        A query in `relevant` without a list has an NDCG of 0, or is left out. (An empty list is
        a list.)

    unjudged : {"zero", "omit", "nan"}, default="zero"
        Recommended documents that are not in the truth, or have the grade NaN there, get the
        relevance 0; or are removed, and later ones move up; or get the relevance NaN, for a gain
        that is not 0 for relevance 0, see `unjudged` in `ndcg_score`.

    duplicates : {"raise", "omit"}, default="raise"
        An id that is twice in a list, for example if lists were merged or chunks have the id of
        their document, is an error; or only its first position counts, and later documents move
        up. An id that is twice in a collection of relevant ids is an error, or counts once.

    Returns
    -------
    named tuple of ndarrays of shape (n_documents,)
        `y_true`, the relevance; `y_score`, -1, -2, ... down the list, and ``-inf`` for what is not
        in it; and `groups`, the query of each row, its key or its number. They unpack as three
        arrays, and as keyword arguments of all functions that take rows:
        ``ndcg_score(**rows, k=10)``. The attribute `ids` has the id of each row.

    Raises
    ------
    ValueError
        If an id is twice in a list or in a truth and ``duplicates="raise"``, if an id is missing,
        if a grade is negative or infinite, if a query has neither a list nor anything relevant, or
        if no query is left.

    TypeError
        If lists or truths have another form, ids cannot be hashed or are bool, or grades are not
        numbers; also if no recommended id is in the truth because the ids have different types.

    Warns
    -----
    UserWarning
        If no query has both a truth and a list.

    See Also
    --------
    from_trec : The rows of judgements and a run of TREC.
    ndcg_score : With ``k="retrieved"`` each list is cut at its own length, the ideal too.
    ndcg_samples : The NDCG of each query, in the order of ``numpy.unique(groups)``.

    Notes
    -----
    A query that has a list but no truth has no relevant document: its NDCG is undefined, see
    `undefined` in `ndcg_score`. If ``unjudged="omit"`` removes all its documents, one row with the
    relevance 0 and the score ``-inf`` takes their place.

    Condensed lists (``unjudged="omit"``) need documents that were judged 0: if all judged documents
    are relevant, as in a collection, any order of them is perfect. They also need long lists, as
    perhaps none of ten documents is judged.

    Examples
    --------
    Three documents recommended, out of five that are judged:

    >>> from sklearn_ndcg import from_lists, ndcg_score
    >>> relevant = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}
    >>> ndcg_score(**from_lists(relevant, ["A", "B", "C"]), k=3)
    0.6048...

    The rows have all five:

    >>> rows = from_lists(relevant, ["A", "B", "C"])
    >>> dict(zip(rows.ids, rows.y_score.tolist()))
    {'A': -1.0, 'B': -2.0, 'C': -3.0, 'D': -inf, 'E': -inf}

    Two users, and the films that they liked:

    >>> liked, lists = {"Ann": {"Big"}, "Bob": {"Clue"}}, {"Ann": ["Alien", "Big"], "Bob": ["Clue"]}
    >>> ndcg_score(**from_lists(liked, lists, k=10), k=10)
    0.8154...

    Three chunks were found, two of them of the same document:

    >>> ndcg_score(**from_lists({"a", "b"}, ["a", "a", "b"], duplicates="omit"), k=3)
    1.0
    """
    check_choice("unjudged", unjudged, get_args(Unjudged))
    pool = pool_lists(relevant, {None: recommended}, unanswered, duplicates, k, unjudged)
    return _rows_of(pool, unjudged)


def from_trec(
    qrels: FilePath | Mapping[str, Mapping[str, float]] | Iterable[Any],
    run: FilePath | Mapping[str, Mapping[str, float]] | Iterable[Any],
    *,
    k: Cutoff = None,
    unanswered: Unanswered = "zero",
    unjudged: Unjudged = "zero",
    duplicates: Duplicates = "raise",
    convention: Convention = "trec_eval-9",
) -> Rows:
    r"""Turn the judgements and the run of a TREC evaluation into rows for `ndcg_score`.

    The documents of a query are ordered as trec_eval 9.0.8 orders them: by score, rounded to
    float32, and then by document id, descending. With ``CONVENTIONS["trec_eval"]`` (or the
    defaults, since no scores are tied) `ndcg_samples` gives trec_eval's ``ndcg``, and with `k` its
    ``ndcg_cut``.

    Parameters
    ----------
    qrels : path, mapping or iterable of records
        Judgements: the path (str or pathlib.Path) of a file, ``{query: {document: relevance}}``, or
        records (or a DataFrame) with `query_id`, `doc_id` and `relevance`, as in ir_measures. Files
        have the fields query, 0, document and relevance, or BEIR's header and query, document and
        relevance. A document of negative relevance counts as unjudged, as in trec_eval.

    run : path, mapping or iterable of records
        Scores: the path of a file with the fields query, Q0, document, rank, score and name;
        ``{query: {document: score}}``; or records with `query_id`, `doc_id` and `score`.

    k : int, None or "retrieved", default=None
        The cutoff of the score that you want: only the first `k` documents of each query get rows,
        as in `from_lists`. Pass the same `k`, or a smaller one, to the metric.

    unanswered : {"zero", "omit"}, default="zero"
        A query with judgements that is not in the run has an NDCG of 0 (trec_eval's ``-c``, and
        ir_measures), or is left out (the default of trec_eval 9.0.8; 10.0 prints no mean then).

    unjudged : {"zero", "omit", "nan"}, default="zero"
        Unjudged documents get the relevance 0; or are removed, and later ones move up, as with
        trec_eval's ``-J``; or get the relevance NaN, to which
        ``ndcg_score(..., unjudged="zero")`` gives no gain even if its `gain` gives one to 0.

    duplicates : {"raise", "omit"}, default="raise"
        A document that is twice in a query of a run is an error, as in trec_eval; or only its best
        score counts. A document that is twice in `qrels` is an error, or counts once; with two
        relevances it is always an error.

    convention : {"trec_eval-9", "trec_eval-10"}, default="trec_eval-9"
        How documents are ordered: trec_eval up to 9.0.8, and so pytrec_eval and ir_measures, rounds
        scores to float32, and 10.0 keeps them as float64. Both then order by document id,
        descending.

    Returns
    -------
    named tuple of ndarrays of shape (n_documents,)
        As from `from_lists`, with -1, -2, ... in the order of the run. Queries of the run without
        judgements are left out, as in trec_eval.

    Raises
    ------
    ValueError
        If a line of a file has other fields or no number, if a file is not UTF-8, damaged or empty,
        if a document is twice in a query, if a number is NaN, if no query is left, or if `qrels`
        and `run` look swapped: some relevance is not a whole number, but all scores are.

    TypeError
        If records lack a field, ids are not text, or relevance or scores are not numbers.

    OSError
        If a file cannot be opened.

    Warns
    -----
    UserWarning
        If no query has both a truth and a list.

    See Also
    --------
    from_lists : The rows of ranked lists of ids.

    Notes
    -----
    Fields of a file are separated by any white space, and ids are UTF-8. A file may be compressed
    by gzip. Blank lines are skipped, and lines that begin with ``#``, as in trec_eval 10.0. Ten
    million lines take about 14 seconds and 2 GB of memory.

    References
    ----------
    NIST. trec_eval, the standard evaluation tool of TREC. https://github.com/usnistgov/trec_eval

    Examples
    --------
    "b" and "c" are tied, and "c" comes first; nobody judged it:

    >>> from sklearn_ndcg import from_trec, ndcg_score
    >>> qrels = {"q1": {"a": 2, "b": 1}}
    >>> run = {"q1": {"a": 0.9, "b": 0.4, "c": 0.4}}
    >>> ndcg_score(**from_trec(qrels, run, k=10), k=10)
    0.9502...

    A gain of 1 for documents that were judged 0, and none for those that nobody judged:

    >>> qrels["q1"]["d"] = 0
    >>> rows = from_trec(qrels, run, unjudged="nan")
    >>> ndcg_score(**rows, k=10, gain={0: 1, 1: 4, 2: 9}, unjudged="zero")
    0.9148...

    Files, which may be compressed:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     qrels, run = Path(folder, "qrels.txt"), Path(folder, "bm25.txt")
    ...     _ = qrels.write_text("q1 0 a 2\nq1 0 b 1\n")
    ...     _ = run.write_text("q1 Q0 a 1 0.9 bm25\nq1 Q0 c 2 0.4 bm25\nq1 Q0 b 3 0.4 bm25\n")
    ...     ndcg_score(**from_trec(qrels, run), k=10)
    0.9502...
    """
    check_choice("unjudged", unjudged, get_args(Unjudged))
    pool = pool_runs(qrels, {None: run}, unanswered, duplicates, convention, k, unjudged)
    return _rows_of(pool, unjudged)


def _rows_of(pool: Pool, unjudged: str) -> Rows:
    """Rows of one ranker, those of each query in the order of its list."""
    [y_score] = pool.y_scores.values()
    n_rows = pool.n_rows
    starts = starts_of(n_rows)
    # a single key is faster than np.lexsort; documents that are not in the list come last
    rank = np.minimum(-y_score, np.repeat(n_rows, n_rows))
    order = np.argsort(np.repeat(starts, n_rows) + rank, kind="stable")
    y_true, y_score, kept = pool.y_true[order], y_score[order], np.ones(len(order), dtype=bool)
    unjudged_rows = np.isnan(y_true)
    if unjudged == "omit":
        kept = ~unjudged_rows
        n_kept = kept_runs(kept, starts, n_rows)[1]
        emptied, n_rows = starts[n_kept == 0], np.maximum(n_kept, 1)
        kept[emptied], y_true[emptied], y_score[emptied] = True, 0, -np.inf
        y_true, y_score = y_true[kept], y_score[kept]
        rank = np.arange(1, len(y_true) + 1) - np.repeat(starts_of(n_rows), n_rows)
        y_score = np.where(np.isinf(y_score), y_score, -1.0 * rank)
    elif unjudged == "zero":
        y_true[unjudged_rows] = 0
    rows = Rows(y_true, y_score, np.repeat(pool.labels(), n_rows))
    rows._read = pool.documents, kept
    return rows
