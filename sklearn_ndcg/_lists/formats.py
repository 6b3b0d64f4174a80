"""Ranked lists and TREC runs, brought to rows."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np

from sklearn_ndcg._checks import Cutoff, Ids, Ints, check_choice, check_cutoff, is_integer, warn
from sklearn_ndcg._lists import reading, same_ids
from sklearn_ndcg._lists.files import FilePath
from sklearn_ndcg._lists.reading import ByQuery, Convention, Duplicates
from sklearn_ndcg._lists.rows import NO_LIST, UNJUDGED, Rows, UnjudgedInLists
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.label_texts import shown_id

Unanswered = Literal["zero", "omit"]
_WIDEST = 64  # characters of ids in an array of text; longer ids are shared objects


def from_lists(
    relevant: Mapping[Any, Any] | Sequence[Any],
    recommended: Mapping[Any, Sequence[Hashable]] | Sequence[Any] | None = None,
    *,
    rankers: Mapping[Any, Any] | None = None,
    k: Cutoff = None,
    unanswered: Unanswered = "zero",
    unjudged: UnjudgedInLists = "zero",
    duplicates: Duplicates = "raise",
) -> Rows:
    """Turn relevant ids, and ranked lists of ids, into rows for `ndcg_score`.

    Each document that was recommended or is relevant gets a row. Relevant documents that were not
    recommended get the score ``-inf``, and count in the ideal. Scores follow the ranks in the
    lists, without ties.

    Parameters
    ----------
    relevant : mapping or sequence of n_queries truths, or one truth
        The truth of each query (user, search, playlist): a mapping from id to grade >= 0, or a
        collection of ids, or a single id, whose grade is 1. Ids are of any hashable type; None and
        NaN are not ids. One truth alone goes with one list, and is one query.

    recommended : mapping or sequence of n_queries sequences, or one of these, default=None
        The list of ids of each query, best first. A mapping with the same keys if `relevant` is a
        mapping; otherwise a sequence of the same length. A column of lists of Polars or Arrow is a
        sequence. A pandas Series of lists, or of truths, is a mapping from its index, or a sequence
        if this is the default index, which only numbers the rows. As a single list or truth a
        Series is refused, as its values may be ids or grades: pass its ``to_dict()`` or its
        ``tolist()``.

    rankers : mapping from name, default=None
        In place of `recommended` the lists of several rankers, each in that form, for
        `compare_rankers` and `NDCGDisplay`. ``rows[name]`` are the rows of one of them.

    k : int, None or "retrieved", default=None
        The cutoff at which the rows are scored, unless a smaller one is passed there. Only the
        first `k` ids of each list are read (more if ids repeat), which is several times as fast;
        repeated and missing ids after these are not noticed. With ``unjudged="omit"`` whole
        lists are read, as later ids may move up.

    unanswered : {"zero", "omit"}, default="zero"
        A query in `relevant` without a list has an NDCG of 0, or is left out: for all rankers, if
        one has no list for it. An empty list is a list.

    unjudged : {"zero", "omit"}, default="zero"
        Recommended documents that are not in the truth, or have the grade NaN there, get the
        relevance 0; or are removed, and later ones move up.

    duplicates : {"raise", "omit", "zero"}, default="raise"
        An id that is twice in a list, for example if lists were merged or chunks have the id of
        their document, is an error; or its later positions are removed, and later documents move
        up ("omit"); or these positions stay, with a gain of 0 whatever gain relevance 0 has
        ("zero"). Under ``unjudged="omit"`` a repeated id is kept or removed with its first
        occurrence; it adds nothing to the ideal. An id that is twice in a collection of relevant
        ids is an error, or counts once.

    Returns
    -------
    Rows
        One argument in place of `y_true` and `y_score`: ``ndcg_score(rows)``. Its attributes
        `y_true`, `y_score` (-1, -2, ... down the list, and ``-inf`` for what is not in it),
        `groups` and `ids` have the rows as arrays, and ``rows.to_frame()`` is a DataFrame.

    Raises
    ------
    ValueError
        If an id is twice in a list or in a truth and ``duplicates="raise"``, if an id is missing,
        if a grade is negative or infinite, or if no query is left. A note names the ranker if there
        are several.

    TypeError
        If lists or truths have another form, ids cannot be hashed or are bool, or grades are not
        numbers; also if no recommended id is in any truth, and the ids have different types, are
        pairs of an id and a score, or are objects that are only equal to themselves.

    Warns
    -----
    UserWarning
        If no document in the lists of a ranker is in any truth, and ten queries or more have both
        a truth and a list.

    See Also
    --------
    from_trec : The rows of judgements and a run of TREC.
    ndcg_score : With ``k="retrieved"`` each list is cut at its own length, the ideal too.
    ndcg_samples : The NDCG of each query, in the order of ``numpy.unique(groups)``.

    Notes
    -----
    A query without a truth has no relevant document: its NDCG is undefined, see `undefined` in
    `ndcg_score`. If it has no documents, or ``unjudged="omit"`` removes all of them, one row with
    the relevance 0 and the score ``-inf`` takes their place in the arrays, and is not scored.

    Condensed lists (``unjudged="omit"``) need documents that were judged 0: if all judged documents
    are relevant, as in a collection, any order of them is perfect. They also need long lists, as
    perhaps none of ten documents is judged.

    Examples
    --------
    Three documents recommended, out of five that are judged:

    >>> from sklearn_ndcg import from_lists, ndcg_score
    >>> relevant = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}
    >>> ndcg_score(from_lists(relevant, ["A", "B", "C"], k=3))
    0.6048...

    The rows have all five:

    >>> rows = from_lists(relevant, ["A", "B", "C"])
    >>> dict(zip(rows.ids, rows.y_score.tolist()))
    {'A': -1.0, 'B': -2.0, 'C': -3.0, 'D': -inf, 'E': -inf}

    Two users, and the films that they liked:

    >>> liked, lists = {"Ann": {"Big"}, "Bob": {"Clue"}}, {"Ann": ["Alien", "Big"], "Bob": ["Clue"]}
    >>> ndcg_score(from_lists(liked, lists, k=10))
    0.8154...

    Three chunks were found, two of them of the same document:

    >>> ndcg_score(from_lists({"a", "b"}, ["a", "a", "b"], k=3, duplicates="zero"))
    0.9197...
    >>> ndcg_score(from_lists({"a", "b"}, ["a", "a", "b"], k=3, duplicates="omit"))
    1.0

    The one item that was held out for each user:

    >>> ndcg_score(from_lists({"Ann": "Big", "Bob": "Clue"}, lists, k=10))
    0.8154...
    """
    _check_options(unanswered, unjudged, duplicates)
    k, by_ranker = check_cutoff(k), _rankers(recommended, rankers, "recommended", "rankers")
    truths, lists, are_numbered = reading.by_query(relevant, by_ranker)
    every = _every_query(truths, lists)
    queries = _to_score(every, lists, unanswered)
    ranked = reading.read_all(truths, lists, queries, duplicates, _last_rank(k, unjudged))
    same_ids.check_matches(truths, lists, ranked)
    labels, order = _sorted_labels(queries)
    left_out = {NO_LIST: len(every) - len(queries)}
    return Rows(ranked, k, unjudged, "relevant", queries, labels, order, left_out, are_numbered)


def from_trec(
    qrels: FilePath | Mapping[str, Mapping[str, float]] | Iterable[Any],
    run: FilePath | Mapping[str, Mapping[str, float]] | Iterable[Any] | None = None,
    *,
    runs: Mapping[Any, Any] | None = None,
    k: Cutoff = None,
    unanswered: Unanswered = "zero",
    unjudged: UnjudgedInLists = "zero",
    duplicates: Duplicates = "raise",
    convention: Convention = "trec_eval",
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
        have the fields query, 0, document and relevance, or query, document and relevance (BEIR). A
        DataFrame may have the names of BEIR: `query-id`, `corpus-id` and `score`. A document of
        negative relevance counts as unjudged, as in trec_eval.

    run : path, mapping or iterable of records, default=None
        Scores: the path of a file with the fields query, Q0, document, rank, score and name;
        ``{query: {document: score}}``; or records with `query_id`, `doc_id` and `score`.

    runs : mapping from name, default=None
        In place of `run` those of several rankers, each in that form, as in `from_lists`.

    k : int, None or "retrieved", default=None
        The cutoff at which the rows are scored, as in `from_lists`.

    unanswered : {"zero", "omit"}, default="zero"
        A query with judgements that is not in the run has an NDCG of 0 (trec_eval's ``-c``, and
        ir_measures), or is left out (the default of trec_eval 9.0.8; 10.0 prints no mean then).

    unjudged : {"zero", "omit"}, default="zero"
        Unjudged documents get the relevance 0; or are removed, and later ones move up, as with
        trec_eval's ``-J``.

    duplicates : {"raise", "omit", "zero"}, default="raise"
        A document that is twice in a query of a run is an error, as in trec_eval; or only its best
        score counts ("omit"); or its lower scores keep their ranks, with a gain of 0 ("zero"), as
        in `from_lists`. A document that is twice in `qrels` is an error, or counts once; with two
        relevances it is always an error.

    convention : {"trec_eval", "trec_eval-10"}, default="trec_eval"
        How documents are ordered: trec_eval up to 9.0.8, and so pytrec_eval and ir_measures, rounds
        scores to float32, and 10.0 keeps them as float64. Both then order by document id,
        descending.

    Returns
    -------
    Rows
        As from `from_lists`, with the scores -1, -2, ... in the order of the run. Queries of the
        run without judgements are left out, as in trec_eval.

    Raises
    ------
    ValueError
        If a line of a file has other fields or no number, if a file is not UTF-8 text, damaged or
        empty, if a document is twice in a query, if a number is NaN, or if no query is left.

    TypeError
        If records lack a field, ids are not text, or relevance or scores are not numbers.

    OSError
        If a file cannot be opened.

    Warns
    -----
    UserWarning
        As from `from_lists`; if a run lacks more than half of the judged queries; and if the ranks
        in a file say the opposite of the scores in nine of ten queries, as those of distances do.

    See Also
    --------
    from_lists : The rows of ranked lists of ids.

    Notes
    -----
    Fields of a file are separated by any white space, and ids are UTF-8. A file may be compressed
    by gzip, and begin with a header. Blank lines are skipped, and lines that begin with ``#``, as
    in trec_eval 10.0. Ten million lines take about 14 seconds and 2 GB of memory.

    References
    ----------
    NIST. trec_eval, the standard evaluation tool of TREC. https://github.com/usnistgov/trec_eval

    Examples
    --------
    "b" and "c" are tied, and "c" comes first; nobody judged it:

    >>> from sklearn_ndcg import from_trec, ndcg_score
    >>> qrels = {"q1": {"a": 2, "b": 1}}
    >>> run = {"q1": {"a": 0.9, "b": 0.4, "c": 0.4}}
    >>> ndcg_score(from_trec(qrels, run, k=10))
    0.9502...

    Files, which may be compressed:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     qrels, run = Path(folder, "qrels.txt"), Path(folder, "bm25.txt")
    ...     _ = qrels.write_text("q1 0 a 2\nq1 0 b 1\n")
    ...     _ = run.write_text("q1 Q0 a 1 0.9 bm25\nq1 Q0 c 2 0.4 bm25\nq1 Q0 b 3 0.4 bm25\n")
    ...     ndcg_score(from_trec(qrels, run, k=10))
    0.9502...
    """
    _check_options(unanswered, unjudged, duplicates)
    check_choice("convention", convention, get_args(Convention))
    k, by_ranker = check_cutoff(k), _rankers(run, runs, "run", "runs")
    truths, lists = reading.trec_lists(qrels, by_ranker, duplicates, convention)
    every = _every_query(truths, lists)
    judged = [query for query in every if query in truths]
    queries = _to_score(judged, lists, unanswered)
    ranked = reading.read_all(truths, lists, queries, duplicates, _last_rank(k, unjudged))
    same_ids.check_matches(truths, lists, ranked)
    labels, order = _sorted_labels(queries)
    if unanswered == "zero":
        _warn_of_unanswered(truths, lists)
    left_out = {UNJUDGED: len(every) - len(judged), NO_LIST: len(judged) - len(queries)}
    return Rows(ranked, k, unjudged, "qrels", queries, labels, order, left_out, False)


def _check_options(unanswered: str, unjudged: str, duplicates: str) -> None:
    check_choice("unjudged", unjudged, get_args(UnjudgedInLists))
    check_choice("unanswered", unanswered, get_args(Unanswered))
    check_choice("duplicates", duplicates, get_args(Duplicates))


def _rankers(one: Any, several: Any, name: str, plural: str) -> Mapping[Hashable, Any]:
    """What is read of each ranker: the only one has the name None."""
    if (one is None) == (several is None):
        which = "neither" if one is None else "both"
        raise TypeError(
            f"pass {name} of one ranker, or {plural}={{name: {name}}} of several; got {which}."
        )
    if several is None:
        return {None: one}
    if not isinstance(several, Mapping) or not several or None in several:
        got = list(several) if isinstance(several, Mapping) else type(several).__name__
        raise TypeError(
            f"{plural} must be a mapping from the name of each ranker, got {got}. Pass "
            f"{plural}={{name: {name}}}."
        )
    return several


def _every_query(truths: ByQuery, lists: Mapping[Hashable, ByQuery]) -> list[Hashable]:
    """The queries that have a list or a truth."""
    return list(dict.fromkeys(chain(*lists.values(), truths)))


def _to_score(
    queries: list[Hashable], lists: Mapping[Hashable, ByQuery], unanswered: str
) -> list[Hashable]:
    """Those of the queries that have rows."""
    scored = queries
    if unanswered == "omit":
        answered = set(queries).intersection(*lists.values())
        scored = [query for query in queries if query in answered]
    if not scored:
        left_out = f": all {len(queries)} lack a list and are left out" if queries else ""
        raise ValueError(f"No query is left to score{left_out}.")
    return scored


def _last_rank(k: Cutoff, unjudged: str) -> int | None:
    """The last rank that is read; None for all, as later documents may move up."""
    return min(k, sys.maxsize) if is_integer(k) and unjudged == "zero" else None


def _sorted_labels(queries: list[Any]) -> tuple[Ids, Ints]:
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


def _warn_of_unanswered(truths: ByQuery, runs: Mapping[Hashable, ByQuery]) -> None:
    """Warn if runs lack more than half of the judged queries."""
    for name, run in runs.items():
        n_missing = sum(query not in run for query in truths)
        if 2 * n_missing > len(truths):
            which = f"The run {shown_id(name)}" if len(runs) > 1 else "The run"
            warn(
                f"{which} has documents for {len(truths) - n_missing} of the {len(truths)} judged "
                "queries; the others count as 0, as with trec_eval's -c. If it was not asked all "
                "of them, pass unanswered='omit'."
            )
