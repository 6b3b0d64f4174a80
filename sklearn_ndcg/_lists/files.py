"""TREC files, read line by line."""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import partial
from io import BufferedReader
from os import PathLike, fspath
from typing import Any

FilePath = str | PathLike[str]

_LONGEST = 2**20  # bytes of a line, so that a file without line ends does not fill the memory


# the fields of a line, and which of them are the document and its value
_LAYOUTS = {
    "run": (["query", "Q0", "document", "rank", "score", "name"], 2, 4),
    "qrels": (["query", "0", "document", "relevance"], 2, 3),
    "BEIR": (["query-id", "corpus-id", "score"], 1, 2),
}
_BEIR_HEADER = _LAYOUTS["BEIR"][0]


def read_trec(path: FilePath, name: str) -> Iterator[tuple[str, str, float]]:
    """Query, document and value of each line of a run or of judgements."""
    (names, document_at, value_at), query, last = _LAYOUTS[name], "", b""
    for number, line in enumerate(_lines(path), 1):
        fields = line.split()  # as bytes, as ids may contain Unicode's other spaces
        if not last and name == "qrels" and fields == [*map(str.encode, _BEIR_HEADER)]:
            names, document_at, value_at = _LAYOUTS["BEIR"]
            continue
        try:
            fits = len(fields) == len(names) and len(line) < _LONGEST
            # NUL bytes are UTF-16, or left by a crash: two lines that they join may fit
            if not fits or b"\0" in line or fields[0][:1] == b"#":
                raise ValueError
            document, value = fields[document_at].decode(), float(fields[value_at])
            if value != value or b"_" in fields[value_at]:  # noqa: PLR0124  (nan, or 1_0)
                raise ValueError
            if fields[0] != last:
                last, query = fields[0], fields[0].decode()
        except ValueError as error:
            if not fields or fields[0][:1] == b"#":  # a comment
                continue
            if len(line) == _LONGEST:
                wrong = f"not have lines of {_LONGEST:,} bytes or more."
            elif isinstance(error, UnicodeDecodeError) or b"\0" in line:
                wrong = f"be UTF-8 text: {str(error) or 'the line has NUL bytes'}."
            elif len(fields) != len(names):
                wrong = (
                    f"have {len(names)} fields ({' '.join(names)}), got {len(fields)}: "
                    f"{line[:80].decode(errors='backslashreplace').strip()!r}; judgements come "
                    f"first, with 4 fields (or 3 below BEIR's header {' '.join(_BEIR_HEADER)}), "
                    "then a run, with 6."
                )
            else:
                wrong = f"have a number as {names[value_at]}, got {str(fields[value_at])[1:]}."
            raise ValueError(f"{fspath(path)}, line {number}: {name} must {wrong}") from error
        yield query, document, value
    if not last:
        raise ValueError(f"{name} is empty: {fspath(path)} has no line of data.")


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
