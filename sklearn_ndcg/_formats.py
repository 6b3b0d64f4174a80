"""Ranked lists and TREC runs, brought to rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from itertools import count
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import check_choice, is_missing, is_number
from sklearn_ndcg._typing import Floats

_NEVER_MISSING = {str, int, bytes, tuple, frozenset, np.str_, np.int64, np.int32}  # types of ids
_TEXT = str | bytes | bytearray  # sequences that are not lists of ids
_WIDEST = 64  # characters of ids that are repeated in an array of text; longer ones are shared

RowArrays = tuple[Floats, Floats, NDArray[Any]]


def from_lists(
    recommended: Mapping[Any, Sequence[Hashable]] | Sequence[Sequence[Hashable]],
    relevant: Mapping[Any, Any] | Sequence[Any],
    *,
    unanswered: str = "zero",
    unjudged: str = "zero",
) -> RowArrays:
    """Turn ranked lists of ids, and what is relevant, into rows for `ndcg_score`.

    A row for each document that was recommended or is relevant: what is relevant and was not
    recommended gets the score ``-inf``, and counts in the ideal. Scores follow the places in the
    lists and are all distinct, so that no rule for ties can change their order.

    Parameters
    ----------
    recommended : mapping or sequence of n_queries sequences
        The list of each query (user, search, playlist), best first, of ids of any hashable type.
        None and NaN are not ids.

    relevant : mapping or sequence of n_queries mappings or collections
        The truth of each query: a mapping from id to grade, or a collection of different ids,
        whose grade is 1. A mapping if `recommended` is one, with the same keys; otherwise of its
        length. A pandas Series is refused, as its values may be ids or grades: pass its
        ``to_dict()`` or its ``tolist()``.

    unanswered : {"zero", "skip"}, default="zero"
        A query in `relevant` without a list has an NDCG of 0, or is left out. (An empty list is
        a list.)

    unjudged : {"zero", "nan"}, default="zero"
        Relevance of what was recommended and is not in the truth: 0, or NaN, which
        ``ndcg_score(..., unjudged="omit")`` takes out of the lists.

    Returns
    -------
    y_true : ndarray of shape (n_documents,)
        Relevance.

    y_score : ndarray of shape (n_documents,)
        -1, -2, ... down the list, ``-inf`` for what is not in it.

    groups : ndarray of shape (n_documents,)
        The query of each row: its key, or its number.

    Raises
    ------
    ValueError
        If an id is twice in a list or in a truth, if an id is missing, if a query has neither list
        nor truth and so no row to show it, or if there is no row at all.

    TypeError
        If lists or truths are of another form, ids cannot be hashed or are bool, or grades are not
        numbers; also if nothing that was recommended is in the truth, and the ids are of other
        types.

    See Also
    --------
    from_trec : The same for judgements and runs of TREC.
    ndcg_score : With ``k="retrieved"`` each list is cut at its own length, the ideal too.
    ndcg_samples : The NDCG of each query, in the order of ``numpy.unique(groups)``.

    Notes
    -----
    A query that has a list and no truth is one without a relevant document: its NDCG is undefined,
    see `replace_undefined_by`.

    Condensed lists (``unjudged="nan"`` here, ``unjudged="omit"`` there) need judgements of 0: with
    a collection as truth all that was judged is relevant, and any order of it is perfect. They also
    need long lists, as what is left of ten documents may be none.

    Examples
    --------
    Three documents recommended, out of five that are judged:

    >>> from sklearn_ndcg import from_lists, ndcg_score
    >>> recommended = {"q": ["A", "B", "C"]}
    >>> relevant = {"q": {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}}
    >>> y_true, y_score, groups = from_lists(recommended, relevant)
    >>> y_score
    array([ -1.,  -2.,  -3., -inf, -inf])
    >>> ndcg_score(y_true, y_score, groups=groups, k=3)
    0.6048...

    Two users, and the films that they liked:

    >>> y_true, y_score, groups = from_lists([["Alien", "Big"], ["Clue"]], [{"Big"}, {"Clue"}])
    >>> ndcg_score(y_true, y_score, groups=groups, k=10)
    0.8154...
    """
    check_choice("unanswered", unanswered, ("zero", "skip"))
    check_choice("unjudged", unjudged, ("zero", "nan"))
    lists, truths = _both_by_query(recommended, relevant)
    queries, n_listed, n_rows, n_graded = [], [], [], []
    graded_rows: list[int] = []
    grades: list[Any] = []
    n, any_found = 0, False
    for query, listed, truth in _lists_and_truths(lists, truths, unanswered):
        places = _places(listed, truth, query)
        beyond = count(len(listed))  # places of relevant documents that were not recommended
        graded_rows += [n + (places[d] if d in places else next(beyond)) for d in truth]
        grades += truth.values()
        queries.append(query)
        n_listed.append(len(listed))
        n_rows.append(len(listed) + len(truth) - len(places))
        n_graded.append(len(truth))
        n, any_found = n + n_rows[-1], any_found or bool(places)
    if not queries:
        raise ValueError("recommended and relevant have no query to score.")
    if not any_found:
        _check_kinds(lists, truths)
    place = np.arange(n) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
    y_score = np.where(place < np.repeat(n_listed, n_rows), -1.0 - place, -np.inf)
    y_true = np.full(n, np.nan if unjudged == "nan" else 0, dtype=np.float64)
    y_true[graded_rows] = _numbers(grades, queries, n_graded)
    return y_true, y_score, np.repeat(_labels(queries), n_rows)


def from_trec(
    qrels: Mapping[str, Mapping[str, float]] | Iterable[Any],
    run: Mapping[str, Mapping[str, float]] | Iterable[Any],
    *,
    unanswered: str = "zero",
    unjudged: str = "zero",
) -> RowArrays:
    """Turn the judgements and the run of a TREC evaluation into rows for `ndcg_score`.

    The documents of a query are ordered as trec_eval orders them: by score, rounded to float32,
    and then by document id, descending. With ``CONVENTIONS["trec_eval"]`` (or the defaults, since
    nothing is tied any more) `ndcg_samples` gives trec_eval's ``ndcg``, with `k` its
    ``ndcg_cut``.

    Files are not read here: pytrec_eval and ir_measures parse them into what this takes.

    Parameters
    ----------
    qrels : mapping or iterable of records
        Judgements: ``{query: {document: relevance}}``, as pytrec_eval parses them, or records
        (or a DataFrame) with `query_id`, `doc_id` and `relevance`, as ir_measures does. A document
        of negative relevance counts as unjudged, as in trec_eval.

    run : mapping or iterable of records
        Scores: ``{query: {document: score}}``, or records with `query_id`, `doc_id` and `score`.

    unanswered : {"zero", "skip"}, default="zero"
        A query with judgements that is not in the run has an NDCG of 0 (trec_eval's ``-c``, and
        ir_measures), or is left out (trec_eval's default).

    unjudged : {"zero", "nan"}, default="zero"
        Relevance of unjudged documents: 0, or NaN. ``ndcg_score(..., unjudged="zero")`` gives NaN
        no gain, even if 0 has one in its `gain`; ``unjudged="omit"`` takes these documents out, as
        trec_eval's ``-J``.

    Returns
    -------
    y_true, y_score, groups : ndarray of shape (n_documents,)
        As in `from_lists`. Queries of the run without judgements are left out, as in trec_eval.

    Raises
    ------
    ValueError
        If a document is twice in a query, a number is NaN, no query is left, or `qrels` and `run`
        look swapped: relevance that is not whole, and scores that all are.

    TypeError
        If records lack a field, ids are not text, or relevance or scores are not numbers.

    See Also
    --------
    from_lists : The same for ranked lists of ids.

    References
    ----------
    NIST. trec_eval, the standard evaluation tool of TREC. https://github.com/usnistgov/trec_eval

    Examples
    --------
    "b" and "c" are tied, and "c" comes first; nobody judged it:

    >>> from sklearn_ndcg import from_trec, ndcg_score
    >>> qrels = {"q1": {"a": 2, "b": 1}}
    >>> run = {"q1": {"a": 0.9, "b": 0.4, "c": 0.4}}
    >>> y_true, y_score, groups = from_trec(qrels, run)
    >>> ndcg_score(y_true, y_score, groups=groups, k=10)
    0.9502...

    A gain of 1 for documents that were judged 0, and none for those that nobody judged:

    >>> qrels["q1"]["d"] = 0
    >>> y_true, y_score, groups = from_trec(qrels, run, unjudged="nan")
    >>> gain = {0: 1, 1: 4, 2: 9}
    >>> ndcg_score(y_true, y_score, groups=groups, k=10, gain=gain, unjudged="zero")
    0.9148...
    """
    judged, scored = _nested(qrels, "qrels", "relevance"), _nested(run, "run", "score")
    ranked, whole = {}, True
    for query, documents in scored.items():
        if query in judged:
            scores = _numbers_of_query(documents, query, "run")
            whole = whole and not _fractional(scores).any()
            with np.errstate(over="ignore"):
                rounded = scores.astype(np.float32).tolist()
            order = sorted(zip(rounded, documents, strict=True), reverse=True)
            ranked[query] = [document for _, document in order]
    relevant, fractions, fill = {}, [], np.nan if unjudged == "nan" else 0
    for query, truth in judged.items():
        relevance = _numbers_of_query(truth, query, "qrels")
        fractions += relevance[_fractional(relevance)].tolist()
        relevance = np.where(relevance < 0, fill, relevance)
        relevant[query] = dict(zip(truth, relevance.tolist(), strict=True))
    if fractions and whole and any(ranked.values()):
        raise ValueError(
            f"qrels and run look swapped: {len(fractions)} values of qrels are not whole numbers, "
            f"the first {fractions[0]}, and all of run are. Pass from_trec(qrels, run), judgements "
            "first. If they are, from_lists takes each query's documents in order: "
            "sorted(scores, key=lambda document: (scores[document], document), reverse=True)."
        )
    return from_lists(ranked, relevant, unanswered=unanswered, unjudged=unjudged)


def _both_by_query(recommended: Any, relevant: Any) -> tuple[Mapping[Any, Any], Mapping[Any, Any]]:
    lists, truths = _by_query(recommended, "recommended"), _by_query(relevant, "relevant")
    if isinstance(recommended, Mapping) != isinstance(relevant, Mapping):
        raise TypeError(
            "recommended and relevant must both be mappings from query, or both be sequences, got "
            f"{type(recommended).__name__} and {type(relevant).__name__}."
        )
    if not isinstance(recommended, Mapping) and len(lists) != len(truths):
        raise ValueError(
            f"recommended and relevant must have the same number of queries, got {len(lists)} and "
            f"{len(truths)}. Pass mappings where some queries have no list."
        )
    return lists, truths


def _by_query(queries: Any, name: str) -> Mapping[Any, Any]:
    """Lists or truths by query, numbered where they are a sequence."""
    if isinstance(queries, Mapping):
        return queries
    if isinstance(queries, _TEXT):
        raise TypeError(f"{name} must have an entry for each query, got the text {queries!r}.")
    if isinstance(queries, Sequence) or (isinstance(queries, np.ndarray) and queries.ndim):
        return dict(enumerate(queries))
    way = ""
    if _is_frame(queries):
        each = {
            "recommended": "list(rows['id'])",
            "relevant": "dict(zip(rows['id'], rows['grade']))",
        }
        way = f" Pass {{query: {each[name]} for query, rows in {name}.groupby('query')}}."
    elif hasattr(queries, "to_dict"):
        way = f" Pass {name}.to_dict().{_repeated(queries)}"
    elif isinstance(queries, Iterable):
        way = f" Pass list({name})."
    raise TypeError(
        f"{name} must be a mapping from query, or a sequence with an entry for each query, got "
        f"{type(queries).__name__}.{way}"
    )


def _lists_and_truths(
    lists: Mapping[Any, Any], truths: Mapping[Any, Any], unanswered: str
) -> Iterator[tuple[Any, list[Any], Mapping[Any, Any]]]:
    """Each query that counts, with its list and its truth, checked."""
    for query in dict.fromkeys([*lists, *truths]):
        if query not in lists and unanswered == "skip":
            continue
        listed = _listed(lists[query], query) if query in lists else []
        truth = _graded(truths[query], query) if query in truths else {}
        if not listed and not truth:
            raise ValueError(
                f"query {query!r} has neither a list nor anything relevant, and so would have "
                "no rows: leave it out."
            )
        yield query, listed, truth


def _listed(documents: Any, query: Any) -> list[Any]:
    """The ids of one list."""
    values = documents if type(documents) is list else _values(documents, Sequence)
    if values is None:
        way = _way_out(
            documents,
            "list(ids)",
            ".sort_values(ascending=False).index if they are scores of the ids in its index",
        )
        if isinstance(documents, Mapping | set | frozenset):
            way = " It is in no order: are recommended and relevant swapped?"
            if isinstance(documents, Mapping):
                way += " For scores pass sorted(scores, key=scores.get, reverse=True)."
        raise TypeError(
            f"recommended must have a list of ids, best first, for each query, got "
            f"{_type_and_shape(documents)} for query {query!r}.{way}"
        )
    listed = values if type(values) is list else list(values)
    _check_ids(listed, "recommended", query)
    return listed


def _values(given: Any, kinds: Any) -> Any:
    """Ids in one of these kinds, or in an array of one dimension without labels; else None."""
    if isinstance(given, _TEXT):
        return None
    if hasattr(given, "tolist") and hasattr(given, "ndim") and not hasattr(given, "to_dict"):
        return given.tolist() if given.ndim == 1 else None
    return given if isinstance(given, kinds) else None


def _check_ids(ids: Iterable[Any], name: str, query: Any) -> None:
    """Raise for values that are ids only by mistake."""
    kinds = set(map(type, ids)) - _NEVER_MISSING
    if not kinds:
        return
    for kind in kinds:
        if hasattr(kind, "__array__") and not issubclass(kind, np.generic):
            raise TypeError(
                f"{name} has ids in query {query!r} that are arrays themselves, of type "
                f"{kind.__name__}: pass tolist() of what they were taken from."
            )
        if issubclass(kind, bool | np.bool_):
            raise TypeError(
                f"{name} has True or False among its ids in query {query!r}. Where they are a "
                "mask, pass the ids that it selects."
            )
    missing = [place for place, each in enumerate(ids) if is_missing(each)]
    if missing:
        raise ValueError(
            f"{name} must not have missing ids (None, NaN), found {len(missing)} in query "
            f"{query!r}, the first at index {missing[0]}: leave them out."
        )


def _type_and_shape(given: Any) -> str:
    """The type of an argument, and the shape of an array."""
    shape = f" of shape {given.shape}" if isinstance(given, np.ndarray) else ""
    return type(given).__name__ + shape


def _is_frame(given: Any) -> bool:
    return hasattr(given, "columns") or hasattr(given, "column_names")


def _way_out(given: Any, columns: str, labelled: str) -> str:
    """What to pass instead of a container that does not say what its values are."""
    if _is_frame(given):
        return f" Pass {columns} of its columns."
    if hasattr(given, "to_dict"):
        return f" Pass .tolist() if its values are the ids, {labelled}.{_repeated(given)}"
    if hasattr(given, "ndim") and hasattr(given, "ravel"):
        return " Pass .ravel() if all of it are ids of this query."
    if isinstance(given, Iterable) and not isinstance(given, _TEXT):
        return " Pass its values as a list."
    return ""


def _repeated(given: Any) -> str:
    """A warning that to_dict() would lose values, if a label of the index is repeated."""
    index: Any = getattr(given, "index", None)
    if not getattr(index, "has_duplicates", False):
        return ""
    label = index[index.duplicated()].tolist()[0]
    return f" Its index has {label!r} more than once, of which to_dict() keeps the last only."


def _places(listed: list[Any], truth: Mapping[Any, Any], query: Any) -> dict[Any, int]:
    """Where in the list the documents are that the truth has."""
    try:
        retrieved = set(listed)
    except TypeError as error:
        raise TypeError(f"recommended has ids in query {query!r}: {error}.") from error
    if len(retrieved) < len(listed):
        [(twice, count)] = Counter(listed).most_common(1)
        raise ValueError(f"recommended has the id {twice!r} {count} times in query {query!r}.")
    hits = truth.keys() & retrieved
    if len(hits) <= 4:  # list.index is faster for a few hits, one pass for many
        return {document: listed.index(document) for document in hits}
    return {document: place for place, document in enumerate(listed) if document in hits}


def _graded(truth: Any, query: Any) -> Mapping[Any, Any]:
    """What is relevant to one query: id to grade."""
    if isinstance(truth, Mapping):
        _check_ids(truth, "relevant", query)
        return truth
    ids = _values(truth, Sequence | Set | ValuesView)
    if ids is None:
        way = _way_out(
            truth,
            "dict(zip(ids, grades))",
            ".to_dict() if they are grades of the ids in its index",
        )
        raise TypeError(
            "relevant must have, for each query, a mapping from id to grade or a collection of "
            f"ids, got {_type_and_shape(truth)} for query {query!r}.{way}"
        )
    _check_ids(ids, "relevant", query)
    try:
        graded = dict.fromkeys(ids, 1)
    except TypeError as error:
        raise TypeError(f"relevant has ids in query {query!r}: {error}.") from error
    if len(graded) < len(ids):
        [(twice, count)] = Counter(ids).most_common(1)
        raise ValueError(
            f"relevant has the id {twice!r} {count} times in query {query!r}. Pass set(ids), or "
            "collections.Counter(ids) if the count is the grade."
        )
    return graded


def _nested(records: Any, name: str, field: str) -> Mapping[str, Mapping[str, Any]]:
    """Records as a mapping from query to a mapping from document."""
    queries: dict[str, Any] = {}
    record = None
    if not isinstance(records, Mapping):
        try:
            each = records.itertuples(index=False) if hasattr(records, "itertuples") else records
            for record in each:
                documents = queries.setdefault(record.query_id, {})
                if record.doc_id in documents:
                    raise ValueError(
                        f"{name} has document {record.doc_id!r} twice in query {record.query_id!r}."
                    )
                documents[record.doc_id] = getattr(record, field)
        except (AttributeError, TypeError) as error:
            other = "score" if field == "relevance" else "relevance"
            swapped = hasattr(record, other) and not hasattr(record, field)
            raise TypeError(
                f"{name} must be a mapping {{query: {{document: {field}}}}}, or records with "
                f"query_id, doc_id and {field}, got {type(records).__name__}: {error}."
                + (" qrels and run look swapped: judgements come first." if swapped else "")
            ) from error
    else:
        queries = dict(records)
    for query, documents in queries.items():
        if not isinstance(documents, Mapping):
            raise TypeError(
                f"{name} must have a mapping from document to {field} for each query, got "
                f"{type(documents).__name__} for query {query!r}."
            )
        for each in (query, *documents):
            if not isinstance(each, str):
                raise TypeError(
                    f"{name} must have ids of text, which trec_eval compares, got {each!r} in "
                    f"query {query!r}: convert them with str()."
                )
    return queries


def _numbers(
    values: list[Any], queries: list[Any], lengths: list[int], name: str = "relevant"
) -> Floats:
    """Values of the rows of queries as floats."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of several lengths among them
        array = np.empty(0)
    if array.dtype.kind not in "biuf" or array.shape != (len(values),):
        for at, value in enumerate(values):
            if not isinstance(value, bool | np.bool_) and not is_number(value):
                query = queries[int(np.searchsorted(np.cumsum(lengths), at, side="right"))]
                raise TypeError(f"{name} must have numbers, got {value!r} in query {query!r}.")
    with np.errstate(over="ignore"):
        floats = array.astype(np.float64)
    if name != "run" and np.isinf(floats).any():
        raise ValueError(
            f"{name} must have finite numbers, got {values[np.isinf(floats).argmax()]}."
        )
    return floats


def _numbers_of_query(documents: Mapping[str, Any], query: str, name: str) -> Floats:
    """Values of the documents of one query as floats, none of them NaN."""
    values = _numbers(list(documents.values()), [query], [len(documents)], name)
    if np.isnan(values).any():
        raise ValueError(f"{name} must not have NaN, found in query {query!r}.")
    return values


def _fractional(values: Floats) -> NDArray[np.bool_]:
    """Where values are not whole numbers: no grades, but scores."""
    return ~np.isfinite(values) | np.not_equal(values, np.floor(values))


def _labels(queries: list[Any]) -> NDArray[Any]:
    """One label per query: integers or short text, any other ids as objects."""
    kinds = set(map(type, queries))
    # an array of text would cut off a NUL at the end
    if kinds == {str} and max(map(len, queries)) <= _WIDEST and "\0" not in "".join(queries):
        return np.array(queries)
    if kinds == {int} and (labels := np.array(queries)).dtype.kind in "iu":
        return labels
    return np.fromiter(queries, dtype=object, count=len(queries))


def _check_kinds(lists: Mapping[Any, Any], truths: Mapping[Any, Any]) -> None:
    """Raise where nothing is in common because ids are of different types."""

    def kinds(ids: Iterable[Any]) -> set[str]:
        return {
            "number" if isinstance(each, Number) else type(each).__name__.removesuffix("_")
            for each in ids
        }

    for what, ours, theirs in (
        ("queries", kinds(lists), kinds(truths)),
        (
            "documents",
            kinds(_each_of(lists.values())),
            kinds(_each_of(truths.values())),
        ),
    ):
        if ours and theirs and not ours & theirs:
            raise TypeError(
                f"The {what} of recommended are of the type {', '.join(sorted(ours))}, those of "
                f"relevant of the type {', '.join(sorted(theirs))}, and none is in both: convert "
                "one of them."
            )


def _each_of(collections: Iterable[Any]) -> Iterator[Any]:
    """The ids of all collections; a query that was skipped may have none."""
    for collection in collections:
        yield from collection if isinstance(collection, Iterable) else ()
