"""TREC files, read line by line."""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import partial
from io import BufferedReader
from os import PathLike, fspath
from typing import Any, NamedTuple

FilePath = str | PathLike[str]

_LONGEST = 2**20  # bytes of a line, so that a file without line ends does not fill the memory


class _Layout(NamedTuple):
    """The fields of a line, and where two of them are."""

    fields: list[str]
    document: int
    value: int


_LAYOUTS = {
    "run": _Layout(["query", "Q0", "document", "rank", "score", "name"], 2, 4),
    "qrels": _Layout(["query", "0", "document", "relevance"], 2, 3),
}
_BEIR = _Layout(["query-id", "corpus-id", "score"], 1, 2)

# what a line with another number of fields may be
_MISTAKEN = {
    ("run", 3): " Lines of BEIR's judgements have 3: judgements come first.",
    ("run", 4): " Lines of judgements have 4: judgements come first.",
    ("run", 5): " The name of the run may be missing.",
    ("qrels", 3): f" Lines of BEIR have 3, below the header {' '.join(_BEIR.fields)}.",
    ("qrels", 6): " Lines of a run have 6: judgements come first.",
}


def read_trec(path: FilePath, name: str) -> Iterator[tuple[str, str, float]]:
    """Query, document and value of each line of a run or of judgements."""
    layout, query, last = _LAYOUTS[name], "", b""
    for number, line in enumerate(_lines(path), 1):
        fields = line.split()  # as bytes, as ids may contain Unicode's other spaces
        try:
            if number == 1 and name == "qrels" and fields == [*map(str.encode, _BEIR.fields)]:
                layout = _BEIR
                continue
            is_whole = len(fields) == len(layout.fields) and len(line) < _LONGEST
            if not is_whole or fields[0] == b"#":
                raise ValueError
            document, value = fields[layout.document].decode(), float(fields[layout.value])
            if value != value:  # noqa: PLR0124  (nan)
                raise ValueError
            if fields[0] != last:
                last, query = fields[0], fields[0].decode()
        except ValueError as error:
            if not fields or fields[0][:1] == b"#":  # a comment
                continue
            reason = _reason(line, name, layout)
            raise ValueError(f"{fspath(path)}, line {number}: {reason}") from error
        yield query, document, value
    if not last:
        raise ValueError(f"{name} is empty: {fspath(path)} has no line of data.")


def _reason(line: bytes, name: str, layout: _Layout) -> str:
    """What is wrong with a line."""
    fields, expected = line.split(), len(layout.fields)
    if len(line) == _LONGEST:
        return f"{name} must not have lines of {_LONGEST:,} bytes or more."
    if len(fields) != expected:
        shown = line[:80].decode(errors="backslashreplace").strip()
        return (
            f"{name} must have {expected} fields ({' '.join(layout.fields)}), got {len(fields)}: "
            f"{shown!r}.{_MISTAKEN.get((name, len(fields)), '')}"
        )
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return f"{name} must be UTF-8: {error}."
    number = fields[layout.value].decode()
    return f"{name} must have a number as {layout.fields[layout.value]}, got {number!r}."


def _lines(path: FilePath) -> Iterator[bytes]:
    """The lines of a file, which may be compressed."""
    with open(path, "rb") as opened:
        file: Any = opened
        if file.peek(2)[:2] == b"\x1f\x8b":
            file = BufferedReader(gzip.GzipFile(fileobj=opened))
        try:
            if file.peek(3)[:3] == BOM_UTF8:
                file.read(3)
            yield from iter(partial(file.readline, _LONGEST), b"")
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{fspath(path)} is damaged or cut off: {error}.") from error
