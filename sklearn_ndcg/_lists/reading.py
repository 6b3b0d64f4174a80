"""Ranked lists and TREC runs, checked, one query at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import Floats, is_missing, is_number

_NEVER_MISSING = {str, int, bytes, tuple, frozenset, np.str_, np.int64, np.int32}  # types of ids
_TEXT = str | bytes | bytearray  # sequences that are not lists of ids
_WIDEST = 64  # characters of ids that are repeated in an array of text; longer ones are shared


def both_by_query(recommended: Any, relevant: Any) -> tuple[Mapping[Any, Any], Mapping[Any, Any]]:
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


def refuse_empty(query: Any, n_rows: int) -> None:
    """Raise where a query would have no rows."""
    if not n_rows:
        raise ValueError(
            f"query {query!r} has neither a list nor anything relevant, and so would have no rows: "
            "leave it out."
        )


def listed_ids(documents: Any, query: Any) -> list[Any]:
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


def distinct_ids(listed: list[Any], query: Any) -> set[Any]:
    """The ids of one list as a set."""
    try:
        retrieved = set(listed)
    except TypeError as error:
        raise TypeError(f"recommended has ids in query {query!r}: {error}.") from error
    if len(retrieved) < len(listed):
        [(twice, count)] = Counter(listed).most_common(1)
        raise ValueError(f"recommended has the id {twice!r} {count} times in query {query!r}.")
    return retrieved


def places_of(hits: Set[Any], listed: list[Any]) -> dict[Any, int]:
    """Where in the list these ids are."""
    if len(hits) <= 4:  # list.index is faster for a few hits, one pass for many
        return {document: listed.index(document) for document in hits}
    return {document: place for place, document in enumerate(listed) if document in hits}


def graded_ids(truth: Any, query: Any) -> Mapping[Any, Any]:
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


def judgements(qrels: Any, unjudged: str) -> tuple[dict[str, dict[str, float]], list[float]]:
    """Judgements by query, and those that are not whole numbers.

    Documents of negative relevance are unjudged.
    """
    nested = _nested(qrels, "qrels", "relevance")
    relevance = _numbers_without_nan(nested, "qrels")
    fractions = relevance[_fractional(relevance)].tolist()
    grades = iter(np.where(relevance < 0, np.nan if unjudged == "nan" else 0, relevance).tolist())
    relevant = {query: dict(zip(truth, grades, strict=False)) for query, truth in nested.items()}
    return relevant, fractions


def ranked_run(
    run: Any, relevant: Mapping[str, Mapping[str, float]], fractions: list[float]
) -> dict[str, Mapping[str, Any]]:
    """The documents of each query that was judged, as keys, best first as trec_eval has them."""
    nested = {q: found for q, found in _nested(run, "run", "score").items() if q in relevant}
    scores = _numbers_without_nan(nested, "run")
    with np.errstate(over="ignore"):
        rounded = scores.astype(np.float32)
    ends = np.cumsum([len(documents) for documents in nested.values()], dtype=np.intp)
    unsorted = np.flatnonzero(rounded[1:] >= rounded[:-1]) + 1  # if they are of one query
    unsorted = unsorted[~np.isin(unsorted, ends)]
    to_sort = set(np.searchsorted(ends, unsorted, side="right").tolist())
    ranked = dict(nested)
    for i, (query, documents) in enumerate(nested.items()):
        if i in to_sort:
            values = rounded[ends[i] - len(documents) : ends[i]].tolist()
            order = sorted(zip(values, documents, strict=True), reverse=True)
            ranked[query] = dict.fromkeys(document for _, document in order)
    whole = not _fractional(scores).any()
    if fractions and whole and any(ranked.values()):
        raise ValueError(
            f"qrels and run look swapped: {len(fractions)} values of qrels are not whole numbers, "
            f"the first {fractions[0]}, and all of run are. Pass from_trec(qrels, run), judgements "
            "first. If they are, from_lists takes each query's documents in order: "
            "sorted(scores, key=lambda document: (scores[document], document), reverse=True)."
        )
    return ranked


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
        try:
            "".join([query, *documents])  # which refuses all but text, and faster than a loop
        except TypeError as error:
            wrong = next(each for each in (query, *documents) if not isinstance(each, str))
            raise TypeError(
                f"{name} must have ids of text, which trec_eval compares, got {wrong!r} in query "
                f"{query!r}: convert them with str()."
            ) from error
    return queries


def numbers(
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


def _numbers_without_nan(nested: Mapping[str, Mapping[str, Any]], name: str) -> Floats:
    """Values of all documents as floats."""
    queries, lengths = list(nested), [len(documents) for documents in nested.values()]
    values = [value for documents in nested.values() for value in documents.values()]
    floats = numbers(values, queries, lengths, name)
    missing = np.isnan(floats)
    if missing.any():
        query = queries[int(np.searchsorted(np.cumsum(lengths), missing.argmax(), side="right"))]
        raise ValueError(f"{name} must not have NaN, found in query {query!r}.")
    return floats


def _fractional(values: Floats) -> NDArray[np.bool_]:
    """Where values are not whole numbers: no grades, but scores."""
    return ~np.isfinite(values) | np.not_equal(values, np.floor(values))


def labels_of(queries: list[Any]) -> NDArray[Any]:
    """One label per query: integers or short text, any other ids as objects."""
    kinds = set(map(type, queries))
    # an array of text would cut off a NUL at the end
    if kinds == {str} and max(map(len, queries)) <= _WIDEST and "\0" not in "".join(queries):
        return np.array(queries)
    if kinds == {int} and (labels := np.array(queries)).dtype.kind in "iu":
        return labels
    return np.fromiter(queries, dtype=object, count=len(queries))


def check_kinds(lists: Mapping[Any, Any], truths: Mapping[Any, Any]) -> None:
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
