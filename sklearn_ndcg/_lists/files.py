"""Files of judgements and runs, read line by line."""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from io import BufferedReader, RawIOBase
from os import PathLike, fspath
from typing import NamedTuple, cast

from sklearn_ndcg import _checks

FilePath = str | PathLike[str]
Record = tuple[str, str, float]  # query, document and value

# lines of a run, and of each query one after another, whose ranks are compared with their scores
_N_COMPARED, _N_OF_QUERY = 10_000, 20
_MOST = 0.9  # of the queries have ranks that say the opposite of the scores


class _Form(NamedTuple):
    """The fields of a line, and which of them are the document and its value."""

    fields: str
    document: int
    value: int


# by the number of fields
_FORMS = {
    "qrels": {
        4: _Form("query 0 document relevance", 2, 3),
        3: _Form("query document relevance", 1, 2),  # BEIR
    },
    "run": {6: _Form("query Q0 document rank score name", 2, 4)},
}
_RANK = 3  # the field of a run
_QUERY_HEADERS = {"query", "queryid", "qid", "topic", "topicid"}
# how a file of other fields becomes a table: the name of its third field, and the values
_TABLES = {
    "qrels": ("relevance", 'qrels["relevance"] = qrels["relevance"].astype(float)'),
    "run": ("rank", 'run["score"] = -run["rank"].astype(float)  # of scores without the "-"'),
}


def read_trec(path: FilePath, name: str) -> Iterator[Record]:
    """Query, document and value of each line of a run or of judgements."""
    form, query, last = None, "", b""
    compared: list[tuple[str, bytes, float]] = []  # query, rank and score of the first lines
    for number, line in enumerate(_lines(path), 1):
        fields = line.split()  # as bytes, as ids may contain Unicode's other spaces
        if form is None and len(fields) in _FORMS[name] and fields[0][:1] != b"#":
            form = _FORMS[name][len(fields)]
            n_fields, document_at, value_at = len(fields), form.document, form.value
            if _is_header(fields, value_at):
                continue
        try:
            if form is None or len(fields) != n_fields or fields[0][:1] == b"#":
                raise ValueError
            document, value = fields[document_at].decode(), float(fields[value_at])
            if value != value or b"_" in fields[value_at]:  # noqa: PLR0124  (nan, or 1_0)
                raise ValueError
            if fields[0] != last:
                last, query = fields[0], fields[0].decode()
                n_more = _N_OF_QUERY if name == "run" and len(compared) < _N_COMPARED else 0
        except ValueError as error:
            if not fields or fields[0][:1] == b"#":  # a comment
                continue
            said = _what_fits(line, path, name, form, error)
            raise ValueError(f"{fspath(path)}, line {number}: {name} must {said}") from error
        if n_more:
            compared.append((query, fields[_RANK], value))
            n_more -= 1
        yield query, document, value
    if not last:
        raise ValueError(f"{name} is empty: {fspath(path)} has no line of data.")
    _warn_of_opposite_ranks(compared, path)


def _is_header(fields: list[bytes], value_at: int) -> bool:
    """Whether this is no line of data."""
    try:
        float(fields[value_at])
    except ValueError:
        first = fields[0].decode(errors="replace").lower()
        return first.replace("-", "").replace("_", "") in _QUERY_HEADERS
    return False


def _what_fits(
    line: bytes, path: FilePath, name: str, form: _Form | None, error: ValueError
) -> str:
    """What a line that does not fit must have, and what it has."""
    fields = line.split()
    if isinstance(error, UnicodeDecodeError):
        return f"be UTF-8 text: {error}."
    if form is not None and len(fields) == len(form.fields.split()):
        value = str(fields[form.value])[1:]
        return f"have a number as {form.fields.split()[form.value]}, got {value}."
    forms = _FORMS[name].values() if form is None else [form]
    wanted = " or ".join(f"{len(f.fields.split())} fields ({f.fields})" for f in forms)
    shown = repr(line[:80].decode(errors="backslashreplace").strip())
    if form is not None:
        return f"have {wanted}, as in its first line, got {len(fields)}: {shown}."
    return (
        f"have {wanted}, separated by blanks or tabs, got {len(fields)}: {shown}. Read a file of "
        "other fields with pandas, with the names of its columns, and pass the table:\n"
        f"{_lines_of_pandas(line, path, name)}"
    )


def _lines_of_pandas(line: bytes, path: FilePath, name: str) -> str:
    """Lines of Python that read a file with such a first line."""
    if line[:1] == b"{":  # dtype=False keeps the zeros of "007"
        return f"{name} = pandas.read_json({fspath(path)!r}, lines=True, dtype=False)"
    third, values = _TABLES[name]
    has_commas = len(line.split()) == 1 and b"," in line
    fields, separator = (line.split(b","), ",") if has_commas else (line.split(), r"\s+")
    names, header = "[...]", ""
    if len(fields) == 3:
        names = str(["query_id", "doc_id", third])
        header = ", header=0" if _is_header(fields, 2) else ""
    return (
        f"{name} = pandas.read_csv({fspath(path)!r}, sep={separator!r}, names={names}{header}, "
        f"dtype=str)\n{values}"
    )


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
            yield from file
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{fspath(path)} is damaged or cut off: {error}.") from error
