"""Files of judgements and runs, read line by line."""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from functools import partial
from io import BufferedReader, RawIOBase
from os import PathLike, fspath
from typing import Any, NamedTuple, cast

from sklearn_ndcg import _checks
from sklearn_ndcg._rows.label_texts import shown_id, shown_labels

FilePath = str | PathLike[str]
Record = tuple[str, str, float]  # query, document and value

_LONGEST = 2**20  # bytes of a line, so that a file without line ends does not fill the memory
# lines of a run, and of each query one after another, whose ranks are compared with their scores
_N_COMPARED, _N_OF_QUERY = 10_000, 20
_MOST = 0.9  # of the queries have ranks that say the opposite of the scores
_DEEP = 5  # grades that count from 1 to 5 or more are ranks


class _Form(NamedTuple):
    """The fields of a line, and which of them are the document, its value and its rank."""

    fields: str
    document: int
    value: int
    rank: int = 0  # none


# by the number of fields
_FORMS = {
    "qrels": {
        4: _Form("query 0 document relevance", 2, 3),
        3: _Form("query document relevance", 1, 2),  # BEIR
    },
    "run": {
        6: _Form("query Q0 document rank score name", 2, 4, 3),
        3: _Form("query document rank-or-score", 1, 2),  # MS MARCO
    },
}
_QUERY_HEADERS = {"query", "queryid", "qid", "topic", "topicid"}


def read_trec(path: FilePath, name: str) -> Iterator[Record]:
    """Query, document and value of each line of a run or of judgements; of ranks the negatives."""
    records = _records(path, name)
    n_fields, header = next(records)
    if n_fields == 3 and not header:
        if name == "run":
            return _ranks_or_scores(records, path)
        return _not_ranks(records, path)
    if name == "run" and "rank" in header:
        return ((query, document, -rank) for query, document, rank in records)
    return records


def _records(path: FilePath, name: str) -> Iterator[Any]:
    """The number of fields and the header of the value, then the record of each line."""
    form, query, last = None, "", b""
    compared: list[tuple[str, bytes, float]] = []  # query, rank and score of the first lines
    for number, line in enumerate(_lines(path), 1):
        fields = line.split()  # as bytes, as ids may contain Unicode's other spaces
        if form is None and len(fields) in _FORMS[name] and fields[0][:1] != b"#":
            form = _FORMS[name][len(fields)]
            n_fields, document_at, value_at, rank_at = len(fields), *form[1:]
            header = _header(fields, value_at)
            yield n_fields, header
            if header:
                continue
        try:
            fits = form is not None and len(fields) == n_fields and len(line) < _LONGEST
            # NUL bytes are UTF-16, or left by a crash: two lines that they join may fit
            if not fits or b"\0" in line or fields[0][:1] == b"#":
                raise ValueError
            document, value = fields[document_at].decode(), float(fields[value_at])
            if value != value or b"_" in fields[value_at]:  # noqa: PLR0124  (nan, or 1_0)
                raise ValueError
            if fields[0] != last:
                last, query = fields[0], fields[0].decode()
                n_more = _N_OF_QUERY if rank_at and len(compared) < _N_COMPARED else 0
        except ValueError as error:
            if not fields or fields[0][:1] == b"#":  # a comment
                continue
            said = _what_fits(line, fields, name, form, error)
            raise ValueError(f"{fspath(path)}, line {number}: {name} must {said}") from error
        if n_more:
            compared.append((query, fields[rank_at], value))
            n_more -= 1
        yield query, document, value
    if not last:
        raise ValueError(f"{name} is empty: {fspath(path)} has no line of data.")
    _warn_of_opposite_ranks(compared, path)


def _header(fields: list[bytes], value_at: int) -> str:
    """What a header calls the values, in lower case; nothing if this is a line of data."""
    first, value = (fields[i].decode(errors="replace").lower() for i in (0, value_at))
    try:
        float(value)
    except ValueError:
        return value if first.replace("-", "").replace("_", "") in _QUERY_HEADERS else ""
    return ""


def _what_fits(
    line: bytes, fields: list[bytes], name: str, form: _Form | None, error: ValueError
) -> str:
    """What a line that does not fit must have, and what it has."""
    if len(line) == _LONGEST:
        return f"not have lines of {_LONGEST:,} bytes or more."
    if isinstance(error, UnicodeDecodeError) or b"\0" in line:
        return f"be UTF-8 text: {str(error) or 'the line has NUL bytes'}."
    if form is not None and len(fields) == len(form.fields.split()):
        value = str(fields[form.value])[1:]
        return f"have a number as {form.fields.split()[form.value]}, got {value}."
    forms = _FORMS[name].values() if form is None else [form]
    wanted = " or ".join(f"{len(f.fields.split())} fields ({f.fields})" for f in forms)
    as_above = "" if form is None else ", as in its first line"
    shown = repr(line[:80].decode(errors="backslashreplace").strip())
    hint = ", separated by blanks or tabs."
    if form is None and any(len(fields) in others for others in _FORMS.values()):
        hint = "; judgements come first, then a run."
    return f"have {wanted}{as_above}, got {len(fields)}: {shown}{hint}"


def _warn_of_opposite_ranks(lines: Iterable[tuple[str, bytes, float]], path: FilePath) -> None:
    """Warn if the ranks of nearly all queries are in the opposite order of their scores."""
    by_query: dict[str, list[tuple[int, float]]] = {}
    try:
        for query, rank, score in lines:
            by_query.setdefault(query, []).append((int(rank), score))
    except ValueError:  # not a rank
        return
    n_compared = n_opposite = 0
    for pairs in by_query.values():
        ranks, scores = map(set, zip(*pairs, strict=True))
        if len(scores) >= 3:
            n_compared += 1
            ascending = [score for _, score in sorted(pairs)]
            n_opposite += len(ranks) == len(pairs) and ascending == sorted(ascending)
    if n_compared and n_opposite >= _MOST * n_compared:
        _checks.warn(
            f"The ranks in {fspath(path)} say the opposite of its scores: rank 1 has the lowest "
            f"score in {n_opposite} of {n_compared} queries. Documents are ordered by score, the "
            "highest first, as in trec_eval. If the scores are distances, write -score."
        )


class _Counts:
    """Whether the values of each query count 1, 2, 3, ... in the order of the lines."""

    def __init__(self) -> None:
        self.n: dict[str, int] = {}  # lines of each query
        self.others: dict[str, None] = {}  # queries whose values do not count

    def add(self, query: str, value: float) -> None:
        self.n[query] = self.n.get(query, 0) + 1
        if value != self.n[query]:
            self.others[query] = None

    def counting(self) -> str | None:
        """The query of two lines or more that counts furthest."""
        queries = [query for query, n in self.n.items() if n > 1 and query not in self.others]
        return max(queries, key=self.n.__getitem__, default=None)


def _ranks_or_scores(records: Iterator[Record], path: FilePath) -> Iterator[Record]:
    """Records whose values are ranks if they count in each query, and otherwise scores."""
    counts, first = _Counts(), []
    sign = 1
    for record in records:  # until one of them shows what they are
        first.append(record)
        counts.add(record[0], record[2])
        if counts.others or counts.n[record[0]] > 1:
            sign = 1 if counts.others else -1
            break
    yield from ((query, document, sign * value) for query, document, value in first)
    for query, document, value in records:
        counts.add(query, value)
        yield query, document, sign * value
    counting = counts.counting()
    if counting is not None and counts.others:
        raise ValueError(
            f"{fspath(path)}: run has three fields, of which the last counts 1, 2, ... in query "
            f"{shown_id(counting)}, as ranks do, but not in query "
            f"{shown_labels([next(iter(counts.others))])}. Begin the file with the line 'query "
            "document rank' or 'query document score'."
        )


def _not_ranks(records: Iterator[Record], path: FilePath) -> Iterator[Record]:
    """Records of judgements, whose values do not count as ranks do."""
    counts = _Counts()
    for record in records:
        counts.add(record[0], record[2])
        yield record
    counting = counts.counting()
    if not counts.others and counting is not None and counts.n[counting] >= _DEEP:
        raise ValueError(
            f"qrels and run look swapped: the relevance in {fspath(path)} counts 1, 2, 3, ... in "
            "each query, as ranks do. Pass from_trec(qrels, run), judgements first."
        )


def _unpacked(file: BufferedReader) -> BufferedReader:
    """The file, or what is compressed in it."""
    if file.peek(2)[:2] != b"\x1f\x8b":
        return file
    return BufferedReader(cast(RawIOBase, gzip.GzipFile(fileobj=file)))


def _lines(path: FilePath) -> Iterator[bytes]:
    """The lines of a file, which may be compressed."""
    with open(path, "rb") as opened, _unpacked(opened) as file:
        try:
            if file.peek(3)[:3] == BOM_UTF8:
                file.read(3)
            yield from iter(partial(file.readline, _LONGEST), b"")
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{fspath(path)} is damaged or cut off: {error}.") from error
