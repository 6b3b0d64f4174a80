"""Read and check ranked lists and TREC runs, one query at a time."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import (
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
    ValuesView,
)
from contextlib import suppress
from decimal import Decimal
from itertools import chain, islice, repeat
from os import PathLike
from typing import Any, Literal

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._lists.files import read_trec
from sklearn_ndcg._lists.ranked import Ranked
from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.label_texts import cut, shown_id

Id = Any  # of a query or a document: anything that has a hash
ByQuery = Mapping[Id, Any]  # the list or the truth of each query, not yet checked
Nested = Mapping[str, Mapping[str, float]]  # the value of each document of each query, in TREC
Scored = dict[str, list[tuple[str, float]]]  # documents and their scores, by query
Duplicates = Literal["raise", "omit", "zero"]
Convention = Literal["trec_eval", "trec_eval-10"]
TREC_SCORES = {"trec_eval": np.float32, "trec_eval-10": np.float64}  # in which it sorts

_NEVER_MISSING = {str, int, bytes, tuple, frozenset, np.str_, np.int64, np.int32}  # types of ids
_RANKS, _ONES = range(sys.maxsize), repeat(1)  # in a list, and the grades of a truth
_TEXT = str | bytes | bytearray  # sequences that are not lists of ids

_LIST_HINT = (
    "Pass a list: .tolist() of a column of ids, .index.tolist() of a Series of sorted scores, "
    ".ravel() of an array, list() of another iterable."
)
_SCORES_HINT = "For a dict of scores pass sorted(scores, key=scores.get, reverse=True)."
_SWAPPED_HINT = (
    "It has no order: are relevant and recommended swapped? Pass the lists of several rankers as "
    f"rankers={{name: lists}}. {_SCORES_HINT}"
)
PAIRS_HINT = (
    "Pairs are not ids: in recommended pass the ids, best first, [id for id, _ in sorted(pairs, "
    "key=lambda pair: pair[1], reverse=True)], and in relevant the grades, dict(pairs)."
)
_RECORDS_HINTS = {
    "relevant": "pass {record[id]: record[grade] for record in records}, id and grade being two",
    "recommended": "pass the ids, best first: [record[id] for record in sorted(records, "
    "key=lambda record: record[score], reverse=True)], id and score being two",
}
_SPARSE_HINTS = {
    "relevant": "Pass [dict(zip(row.indices, row.data)) for row in matrix.tocsr()].",
    "recommended": "It has no order: pass the ids that the recommender returned, or rank each row.",
}
_TABLE_HINTS = {
    "relevant": "{query: dict(zip(rows['id'], rows['grade'])) for query, rows in "
    "table.groupby('query')}",
    "recommended": "table.sort_values('score', ascending=False).groupby('query')['id'].agg(list)",
}
_IDS_HINT = "Sets and lists of ids go to from_lists; pairs become a mapping, dict(pairs)."
_BEIR = ("query-id", "corpus-id", "score")  # its columns
_EMPTY_HINT = "If it is an empty cell, pass []."
_TEXT_HINT = "A text is not a list: split it, or pass [text] if it is one id."
_LEFT_OUT = ". Grades are numbers, {id: 3}; leave out what nobody judged"
_UNJUDGED_HINTS = {"relevant": f"{_LEFT_OUT}, or pass nan", "qrels": _LEFT_OUT, "run": ""}
# numbers of documents that are errors
_WRONG_NUMBERS: dict[str, Any] = {
    "relevant": lambda grades: np.isinf(grades) | (grades < 0),
    "qrels": lambda grades: ~np.isfinite(grades),
    "run": np.isnan,
}
_REPEAT_HINT = (
    'Pass duplicates="omit" to remove {}, so that later ids move up, or "zero" to keep them at '
    "their ranks, with a gain of 0."
)
_TWICE_HINTS = {
    "recommended": _REPEAT_HINT.format("repeats"),
    "run": _REPEAT_HINT.format("its lower scores"),
    "relevant": 'Pass duplicates="omit" to count each id once, or Counter(ids) to grade by count.',
    "qrels": 'Pass duplicates="omit" to count it once.',
}
_MATRIX_HINT = " If it is the row of a matrix of 0 and 1, pass np.flatnonzero(row)."


def by_query(
    relevant: object, rankers: Mapping[Id, object]
) -> tuple[ByQuery, dict[Id, ByQuery], bool]:
    """Truths and each ranker's lists as mappings from query, and whether queries are numbered.

    A truth that is not in a mapping or sequence of truths is one query, with a list of each ranker.
    """
    relevant = containers.as_list(relevant)
    rankers = {name: containers.as_list(queries) for name, queries in rankers.items()}
    _refuse_forms(relevant, "relevant")
    for name, queries in rankers.items():
        with _checks.naming_ranker(name, rankers):
            _refuse_forms(queries, "recommended")
    if _is_truth(relevant):
        _refuse_scores(rankers)
    if is_single_query(relevant, rankers):
        relevant, rankers = [relevant], {name: [ids] for name, ids in rankers.items()}
    truths, are_numbered = _by_query(relevant, "relevant"), [_is_sequence(relevant)]
    lists: dict[Id, ByQuery] = {}
    for name, queries in rankers.items():
        with _checks.naming_ranker(name, rankers):
            lists[name] = _by_query(queries, "recommended")
            are_numbered.append(_is_sequence(queries))
            _refuse_row_numbers(relevant, queries, truths, lists[name])
    return truths, lists, all(are_numbered)


def _refuse_forms(queries: Any, name: str) -> None:
    """Raise for what has no ids."""
    if containers.is_sparse(queries):
        raise TypeError(f"{name} must not be a sparse matrix. {_SPARSE_HINTS[name]}")
    if containers.is_pandas_groups(queries):
        labels = [label for labels in queries.values() for label in labels]
        if len(labels) > 1 and set(labels) == set(range(len(labels))):
            raise TypeError(
                f"{name} has the numbers of rows in place of ids, as .groups of a groupby has "
                "them. Pass table.groupby('query')['id'].agg(list)."
            )


def _is_sequence(queries: Any) -> bool:
    """Whether queries are numbered in order, as in a Series whose index only numbers its rows."""
    if containers.is_pandas(queries):
        return len(queries) > 0 and containers.is_default_index(queries.index)
    return isinstance(queries, Sequence | np.ndarray)


def _refuse_row_numbers(relevant: Any, recommended: Any, truths: ByQuery, lists: ByQuery) -> None:
    """Raise for a mapping beside a sequence, unless its queries are the numbers of the rows."""
    are_sequences = _is_sequence(relevant), _is_sequence(recommended)
    if all(are_sequences) and len(truths) != len(lists):
        raise ValueError(
            "relevant and recommended must have the same number of queries, got "
            f"{len(truths)} and {len(lists)}. Pass mappings, or Series that have the queries as "
            "their index, where some queries have no list."
        )
    if any(are_sequences) and truths.keys() != lists.keys():
        raise TypeError(
            "relevant and recommended must both be mappings from query, or both be sequences, got "
            f"{type(relevant).__name__} and {type(recommended).__name__}. A Series is a mapping if "
            "it has the queries as its index, table.set_index('query')['ids'], and a sequence if "
            "its index numbers the rows. For one query pass its truth and its list, without the "
            "query."
        )


def is_single_query(relevant: object, rankers: Mapping[Id, object]) -> bool:
    """Whether a truth and the lists of rankers are those of one query.

    =========================  ======================  ============
    relevant                   list of a ranker        queries
    =========================  ======================  ============
    {"a", "b"}                 ["b", "c"]              one
    {"a": 2, "b": 1}           ["b", "c"]              one
    ["a", "b"]                 ["b", "c"]              one
    {"Ann": {"a": 2, "b": 1}}  {"Ann": ["b", "c"]}     one per key
    [{"a", "b"}]               [["b", "c"]]            one per item
    [("a", "b")]               [("b", "c")]            one per item
    {"Ann": "a"}               {"Ann": ["b", "c"]}     one per key
    ["a"]                      [["b", "c"]]            one per item
    =========================  ======================  ============
    """
    if not any(map(_has_entries, (relevant, *rankers.values()))):
        return False  # nor any other number
    if _is_truth(relevant):
        return not any(isinstance(ids, Mapping) or _is_column(ids) for ids in rankers.values())
    return all(map(_are_ids, (relevant, *rankers.values())))


def _is_column(values: Any) -> bool:
    """Whether this is a Series of lists or of truths."""
    return containers.is_pandas(values) and values.ndim == 1 and not _are_ids(values.tolist())


def _has_entries(values: Any) -> bool:
    try:
        return len(values) > 0
    except TypeError:  # refused further down
        return True


def _is_truth(relevant: object) -> bool:
    """Whether this can only be the truth of one query: a set, or a mapping from id to grade."""
    if isinstance(relevant, Mapping):
        return _are_ids(relevant.values())
    return isinstance(relevant, Set)


def _refuse_scores(rankers: Mapping[Id, object]) -> None:
    """Raise if a ranker has a mapping from id to score in place of the list of one query."""
    for scores in rankers.values():
        values = scores.values() if isinstance(scores, Mapping) else ()
        are_scores = values and all(map(_checks.is_number, values))
        if are_scores and not all(map(_checks.is_missing, values)):  # empty cells
            raise TypeError(
                f"recommended must be a list of ids, best first, got a mapping. {_SCORES_HINT}"
            )


def _are_ids(values: object) -> bool:
    """Whether values are a collection of ids or grades, and none is a collection itself."""
    ids = _collection(values)
    return ids is not None and all(isinstance(i, _TEXT) or not np.iterable(i) for i in ids)


def _by_query(queries: Any, name: str) -> ByQuery:
    """Lists or truths by query."""
    is_series = containers.is_pandas(queries) and queries.ndim == 1
    if is_series and queries.index.is_unique:
        queries = queries.to_dict()
    elif is_series and queries.index.nlevels == 1:
        label = shown_id(queries.index[queries.index.duplicated()][0])
        way = f"keep one of them, {name}.groupby(level=0).first()"
        if _are_ids(queries.tolist()):
            way = f"if each row is an id, the best first, pass {name}.groupby(level=0).agg(list)"
        raise TypeError(
            f"{name} must have one entry for each query, got a Series that has several rows of "
            f"query {label}: {way}."
        )
    if isinstance(queries, Mapping):
        return queries
    if isinstance(queries, np.ndarray) and queries.ndim:
        return dict(enumerate(queries))
    if isinstance(queries, Sequence) and not isinstance(queries, _TEXT):
        return dict(enumerate(queries))
    raise TypeError(
        f"{name} must be a mapping from query, or a sequence with an entry for each query, got "
        f"{type(queries).__name__}. Pass .to_dict() of a Series whose index has each query once, "
        f"list() or dict() of an iterator, or {_TABLE_HINTS[name]}; of a Polars table with a row "
        "for each query, dict(frame.iter_rows()). Paths go to from_trec."
    )


def read_all(
    truths: ByQuery,
    rankers: Mapping[Id, ByQuery],
    queries: Sequence[Id],
    duplicates: str,
    k: int | None,
) -> dict[Id, Ranked]:
    """What was read of each ranker, checked: the truths, and the first k ids of its lists."""
    judged: dict[Id, Mapping[Id, object]] = {}
    ids: list[Id] = []

    def read_truths() -> Iterator[tuple[Id, Mapping[Id, object]]]:
        for query in queries:
            judged[query] = grades = read_truth(truths.get(query, {}), query, duplicates)
            ids.extend(grades)
            yield query, grades

    # the truth of a query just before its list, while the processor has its ids at hand
    truth_of: Iterable[tuple[Id, Mapping[Id, object]]] = read_truths()
    if len(rankers) > 1:  # an error of a truth names no ranker
        truth_of = list(truth_of)
    read = {}
    for name, lists in rankers.items():
        with _checks.naming_ranker(name, rankers):
            read[name] = _read_lists(lists, truth_of, duplicates, k)
    lengths: Ints = np.array(list(map(len, judged.values())), dtype=np.intp)
    grades = as_floats(judged, "relevant")
    return {name: Ranked(ids, grades, lengths, *lists) for name, lists in read.items()}


def _read_lists(
    lists: ByQuery,
    judged: Iterable[tuple[Id, Mapping[Id, object]]],
    duplicates: str,
    k: int | None,
) -> tuple[list[Id], Ints, Ints, Ints, Ints, bool]:
    """The lists of one ranker: what `Ranked` has beside the truths."""
    ids: list[Id] = []
    lengths: list[int] = []
    ranks: list[int] = []
    repeats: list[int] = []
    firsts: list[int] = []
    is_cut = False
    for query, truth in judged:
        listed, rank_of, has_more = read_list(lists.get(query, []), query, duplicates, k)
        if len(rank_of) < len(listed):
            for rank, document in enumerate(listed):
                if rank_of[document] < rank:
                    repeats.append(len(ids) + rank)
                    firsts.append(len(ids) + rank_of[document])
        ids.extend(listed)
        lengths.append(len(listed))
        ranks.extend(map(rank_of.get, truth, repeat(-1)))
        is_cut |= has_more
    numbers = (np.fromiter(each, np.intp, len(each)) for each in (lengths, ranks, repeats, firsts))
    return (ids, *numbers, is_cut)  # type: ignore[return-value]


def read_list(
    documents: object, query: Id, duplicates: str, k: int | None = None
) -> tuple[Collection[Id], dict[Id, int], bool]:
    """The first k checked ids of a list, the first rank of each, from 0, and whether it has more.

    What is after these is not checked. If ids repeat, the list is read until it has k different
    ones.
    """
    ids = documents if type(documents) is list else _sequence(documents)
    if ids is None:
        hint = _SWAPPED_HINT if isinstance(documents, Mapping | Set) else _LIST_HINT
        if isinstance(documents, str):
            hint = _TEXT_HINT
        elif not np.iterable(documents) and _checks.is_missing(documents):
            hint = _EMPTY_HINT
        raise TypeError(
            "recommended must have a list of ids, best first, for each query, got "
            f"{type(documents).__name__} for query {shown_id(query)}. {hint}"
        )
    read = ids[:k] if type(ids) is list else list(islice(ids, k))
    rank_of = _distinct(read, "recommended", query, duplicates)
    if len(rank_of) < len(read):
        read, rank_of = _with_repeats(ids, query, duplicates, k)
    has_more = len(ids) > len(read)
    if duplicates == "omit":
        has_more = has_more and _has_others(islice(ids, len(read), None), rank_of)
        if len(rank_of) < len(read):  # later documents move up
            rank_of = dict(zip(rank_of, _RANKS, strict=False))
            return rank_of, rank_of, has_more
    return read, rank_of, has_more


def _with_repeats(
    ids: Sequence[Id], query: Id, duplicates: str, k: int | None
) -> tuple[list[Id], dict[Id, int]]:
    """A list until it has k different ids, which the ideal may need, and the first rank of each."""
    rank_of: dict[Id, int] = {}
    n = 0
    for n, document in enumerate(ids):
        if len(rank_of) == k:
            break
        try:
            rank_of.setdefault(document, n)
        except TypeError:  # no hash: `_distinct` says so
            k = None
    else:
        n = len(ids)
    read = list(islice(ids, n))
    _distinct(read, "recommended", query, duplicates)
    return read, rank_of


def _has_others(ids: Iterable[Id], known: Mapping[Id, object]) -> bool:
    """Whether there are ids, which were not checked, that are not known."""
    try:
        return any(document not in known for document in ids)
    except TypeError:  # no hash
        return True


def read_truth(truth: object, query: Id, duplicates: str) -> Mapping[Id, object]:
    """The checked truth of one query: a mapping from id to grade."""
    if type(truth) is dict or isinstance(truth, Mapping):
        _check_ids(truth, "relevant", query)
        return truth
    is_id = isinstance(truth, Hashable) and (isinstance(truth, _TEXT) or not np.iterable(truth))
    if is_id and type(truth) not in _NEVER_MISSING:
        truth = containers.as_list(truth)
        if _checks.is_missing(truth):
            raise ValueError(
                f"relevant has 1 missing id (None or NaN) in query {shown_id(query)}. {_EMPTY_HINT}"
            )
    ids = [truth] if is_id else _collection(truth)
    if ids is None:
        raise TypeError(
            "relevant must have, for each query, a mapping from id to grade, a collection of ids "
            f"or one id, got {type(truth).__name__} for query {shown_id(query)}. Pass "
            ".tolist() of a column of ids, .to_dict() of a Series of grades whose index has each "
            "id once, dict(zip(ids, grades)) of two columns, .ravel() of an array, list() of "
            "another iterable."
        )
    return _distinct(ids, "relevant", query, duplicates)


def _sequence(ids: Any) -> Sequence[Id] | None:
    """Ids in a sequence, or in a 1-D array or column without labels; otherwise None."""
    if type(ids) is list:
        return ids
    ids = containers.as_list(ids)
    is_array = hasattr(ids, "tolist") and hasattr(ids, "ndim") and not containers.is_pandas(ids)
    if is_array:
        ids = ids.tolist() if ids.ndim == 1 else None
    return ids if isinstance(ids, Sequence) and not isinstance(ids, _TEXT) else None


def _collection(ids: object) -> Collection[Id] | None:
    """Ids in a set, the values of a mapping, a sequence or a 1-D array; otherwise None."""
    return ids if isinstance(ids, Set | ValuesView) else _sequence(ids)


def _distinct(ids: Collection[Id], name: str, query: Id, duplicates: str) -> dict[Id, int]:
    """Checked ids as keys of a dict: of a list with their last ranks, of a truth with 1."""
    _check_ids(ids, name, query)
    try:
        # strict takes time
        distinct = dict(zip(ids, _RANKS if name == "recommended" else _ONES))  # noqa: B905
    except TypeError as error:
        raise TypeError(
            f"{name} has ids in query {shown_id(query)}: {error}. {_flat_hint(ids, name)}"
        ) from error
    if len(distinct) < len(ids) and duplicates == "raise":
        [(twice, count)] = Counter(ids).most_common(1)
        hint = _TWICE_HINTS[name]
        if name == "relevant" and distinct.keys() <= {0, 1}:
            hint += _MATRIX_HINT
        raise ValueError(
            f"{name} has the id {shown_id(twice)} {count} times in query {shown_id(query)}. {hint}"
        )
    return distinct


def _flat_hint(ids: Collection[Id], name: str) -> str:
    """What to pass in place of lists or dicts among ids."""
    if all(isinstance(i, Mapping) for i in ids):
        return f"For records, {_RECORDS_HINTS[name]} of {list(next(iter(ids)))}."
    if all(isinstance(i, list) and len(i) == 2 and _checks.is_number(i[1]) for i in ids):
        return PAIRS_HINT
    if len(ids) == 1:
        return "It is one list too many: pass ids[0] in place of ids for each query."
    return "Pass hashable ids, in one flat list per query."


def _check_ids(ids: Iterable[Id], name: str, query: Id) -> None:
    """Raise for values that cannot be meant as ids."""
    if type(next(iter(ids), None)) is str:
        try:
            "".join(ids)  # raises for all but text, and is faster than a look at the types
        except TypeError:
            pass
        else:
            return
    if _NEVER_MISSING.issuperset(map(type, ids)):
        return
    for kind in set(map(type, ids)):
        if hasattr(kind, "as_py") or (
            containers.converts_to_array(kind) and not issubclass(kind, np.generic)
        ):
            raise TypeError(
                f"{name} has ids in query {shown_id(query)} that are arrays themselves, of "
                f"type {kind.__name__}: pass tolist() of what they were taken from."
            )
        if issubclass(kind, bool | np.bool_):
            raise TypeError(
                f"{name} has True or False among its ids in query {shown_id(query)}. If they "
                "are a mask, pass the ids that it selects."
            )
    missing = np.array([_checks.is_missing(document) for document in ids])
    if missing.any():
        where = f"(None or NaN) in query {shown_id(query)}"
        which = _checks.describe_mask(missing, f"missing id {where}", f"missing ids {where}")
        raise ValueError(f"{name} has {which}: leave missing ids out.")


def _judgements(qrels: object, duplicates: str) -> Nested:
    """Judgements by query. Documents of negative relevance are unjudged: NaN."""
    nested = _nested(qrels, "qrels", "relevance", duplicates)
    nested = {query: documents for query, documents in nested.items() if documents}
    if not nested:
        raise ValueError("qrels has no query: it must have the judgements of at least one.")
    relevance = as_floats(nested, "qrels")
    if not (relevance < 0).any():
        return nested
    grades = iter(np.where(relevance < 0, np.nan, relevance).tolist())
    return {query: dict(zip(truth, grades, strict=False)) for query, truth in nested.items()}


def trec_lists(
    qrels: object, runs: Mapping[Id, object], duplicates: str, convention: str
) -> tuple[Nested, dict[Id, ByQuery]]:
    """Judgements by query, and the lists of each ranker in the order of its scores."""
    relevant = _judgements(qrels, duplicates)
    lists: dict[Id, ByQuery] = {}
    for name, run in runs.items():
        with _checks.naming_ranker(name, runs):
            lists[name] = _ranked_run(relevant, run, duplicates, convention)
    return relevant, lists


def _ranked_run(relevant: Nested, run: object, duplicates: str, convention: str) -> ByQuery:
    """The documents of each query, those that are judged ordered as trec_eval orders them."""
    lower: Scored = {}
    nested = _nested(run, "run", "score", duplicates, lower)
    judged = {query: documents for query, documents in nested.items() if query in relevant}
    rounded = _as_trec_sorts(as_floats(judged, "run"), convention)
    ranked = {query: list(documents) for query, documents in judged.items()}
    queries, ends = list(ranked), np.cumsum(list(map(len, ranked.values())), dtype=np.intp)
    # not in order, or at the start of a query
    unsorted = np.flatnonzero(rounded[1:] >= rounded[:-1]) + 1
    unsorted = unsorted[~np.isin(unsorted, ends)]
    for number in np.unique(np.searchsorted(ends, unsorted, side="right")).tolist():
        documents = ranked[queries[number]]
        values = rounded[ends[number] - len(documents) : ends[number]].tolist()
        order = sorted(zip(values, documents, strict=True), reverse=True)
        ranked[queries[number]] = [document for _, document in order]
    for query, repeats in lower.items():
        if query in judged:
            pairs = [*judged[query].items(), *repeats]
            documents = [document for document, _ in pairs]
            values = _as_trec_sorts(np.array([score for _, score in pairs]), convention).tolist()
            order = sorted(zip(values, documents, strict=True), reverse=True)
            ranked[query] = [document for _, document in order]
    return {**nested, **ranked}


def _as_trec_sorts(scores: Floats, convention: str) -> Floats:
    with np.errstate(over="ignore"):
        return scores.astype(TREC_SCORES[convention])


def _nested(
    records: Any, name: str, field: str, duplicates: str, lower: Scored | None = None
) -> Nested:
    """A file or records as a mapping from query to a mapping from document.

    Lower scores of documents are added to `lower`.
    """
    queries: Mapping[Any, Any] = records
    if not isinstance(records, Mapping):
        is_file = isinstance(records, str | PathLike)
        try:
            rows = read_trec(records, name) if is_file else _of_records(records, field)
            queries = _by_query_and_document(rows, name, duplicates, lower)
        except (AttributeError, TypeError) as error:
            are_dicts = isinstance(records, Sequence) and isinstance(records[0], Mapping)
            hint = "For dicts with these keys, pass pandas.DataFrame(records)."
            raise TypeError(
                f"{name} must be a path, a mapping {{query: {{document: {field}}}}}, or records "
                f"with query_id, doc_id and {field} (judgements come first, then the run), got "
                f"{type(records).__name__}: {error}. {hint if are_dicts else _IDS_HINT}"
            ) from error
    for query, documents in queries.items():
        if not isinstance(documents, Mapping):
            raise TypeError(
                f"{name} must have a mapping from document to {field} for each query, got "
                f"{type(documents).__name__} for query {shown_id(query)}. {_IDS_HINT}"
            )
        if any(isinstance(value, Mapping) for value in islice(documents.values(), 1)):
            raise TypeError(
                f"{name} must have numbers, got a mapping in query {shown_id(query)}. Pass "
                "several runs as from_trec(qrels, runs={name: run})."
            )
        try:
            "".join([query, *documents])  # raises for all but text, and is faster than a loop
        except TypeError as error:
            wrong = next(label for label in (query, *documents) if not isinstance(label, str))
            raise TypeError(
                f"{name} must have text as ids, as trec_eval does, got {shown_id(wrong)} in query "
                f"{shown_id(query)}: convert ids with str()."
            ) from error
    return queries


def _of_records(records: Any, field: str) -> Iterator[tuple[str, str, float]]:
    """Query, document and value of records or the rows of a DataFrame."""
    if not hasattr(records, "columns"):
        return ((row.query_id, row.doc_id, getattr(row, field)) for row in records)
    is_beir = set(_BEIR).issubset(records.columns)
    names = _BEIR if is_beir else ("query_id", "doc_id", field)
    if missing := set(names).difference(records.columns):
        raise TypeError(f"it lacks the columns {', '.join(map(repr, sorted(missing)))}")
    return zip(*(records[name] for name in names), strict=True)


def _by_query_and_document(
    rows: Iterable[tuple[str, str, float]], name: str, duplicates: str, lower: Scored | None
) -> dict[str, dict[str, float]]:
    """Rows of query, document and value as a dict from query to a dict from document.

    It has the highest value of a document; with duplicates="zero", the others go to `lower`.
    """
    queries: dict[str, dict[str, float]] = {}
    for query, document, value in rows:
        documents = queries.setdefault(query, {})
        if document in documents:
            first = documents[document]
            twice = f"{name} has document {shown_id(document)} twice in query {shown_id(query)}"
            if name == "qrels" and first != value:
                raise ValueError(f"{twice}, with the relevance {first} and {value}: keep one.")
            if duplicates == "raise":
                raise ValueError(f"{twice}. {_TWICE_HINTS[name]}")
            documents[document] = max(first, value)
            if lower is not None and duplicates == "zero":
                lower.setdefault(query, []).append((document, min(first, value)))
        else:
            documents[document] = value
    return queries


def as_floats(nested: Mapping[Id, Mapping[Id, object]], name: str) -> Floats:
    """The values of all documents of the queries as checked floats."""
    values: list[Any] = list(chain.from_iterable(truth.values() for truth in nested.values()))

    def error(kind: type[Exception], row: int, said: str) -> Exception:
        pairs = ((query, document) for query, truth in nested.items() for document in truth)
        query, document = next(islice(pairs, row, None))
        way = _UNJUDGED_HINTS[name]  # None and -1 often stand for unjudged
        if isinstance(values[row], str):
            way = ": convert text to numbers, words with a dict from word to grade"
        return kind(
            f"{name} must {said} in query {shown_id(query)} for document {shown_id(document)}{way}."
        )

    with suppress(TypeError, ValueError):  # which all but grades from 0 to 255 raise
        return np.frombuffer(bytes(values), dtype=np.uint8).astype(np.float64)
    try:
        array = np.asarray(values)
    except ValueError:  # lists of several lengths among them
        array = np.empty(0)
    if array.dtype.kind not in "biuf" or array.shape != (len(values),):
        for row, value in enumerate(values):
            if not isinstance(value, bool | np.bool_ | Decimal) and not _checks.is_number(value):
                raise error(TypeError, row, f"have numbers, got {cut(repr(value))}")
    with np.errstate(over="ignore"):
        floats = array.astype(np.float64)
    wrong = _WRONG_NUMBERS[name](floats)
    if wrong.any():
        row = int(wrong.argmax())
        raise error(ValueError, row, f"not have {values[row]}, found")
    return floats
