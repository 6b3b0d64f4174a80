"""The rows of a lazy table in passes that hold whole queries, by a hash of their keys.

The engine computes the hash, by value, so that a table of any size is read with the memory of one
pass. No engine is imported, except DuckDB for a dataset of PyArrow.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import ceil, isfinite
from typing import Any

from sklearn import get_config

from sklearn_ndcg._checks import is_number

# About twice what a row was measured to take, as Arrow and as arrays: the rest is for the engine.
_BYTES_PER_ROW = 144
_BYTES_PER_TEXT = 64  # in addition, for each key that is not a number

RowsOfPass = Callable[[int, int], Any]  # of pass i, from 0, of n


def read_dataset(frame: Any) -> Any:
    """A PyArrow dataset as a relation of DuckDB, anything else as it is."""
    datasets = sys.modules.get("pyarrow.dataset")
    if datasets is None or not isinstance(frame, datasets.Dataset):
        return frame
    try:
        import duckdb  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "DuckDB reads PyArrow datasets, and is not installed: python -m pip install duckdb"
        ) from error
    return duckdb.from_arrow(frame)


def rows_by_hash(table: Any, keys: list[str]) -> RowsOfPass | None:
    """A function of i and n that gives the rows whose hash is i modulo n.

    None for engines that run elsewhere, or whose hash is not known.
    """
    library = type(table).__module__.split(".")[0].removeprefix("_")
    if library == "polars":
        return _polars_rows(table, keys)
    if library == "duckdb":
        return _duckdb_rows(table, keys)
    if library == "ibis" and table.get_backend().name == "duckdb":
        return _ibis_rows(table, keys)
    return None


def keeps_order(table: Any) -> bool:
    """Whether a local engine gives the rows of files and of tables in their order."""
    setting = "current_setting('preserve_insertion_order')"
    if hasattr(table, "get_backend"):
        [row] = table.get_backend().raw_sql(f"select {setting}").fetchall()
    elif hasattr(table, "aggregate"):
        [row] = table.aggregate(f"count(*), {setting}").fetchall()
    else:
        row = (True,)
    return bool(row[-1])


def check_working_memory(working_memory: Any) -> float:
    """The memory of a pass in MiB, by default the setting of scikit-learn."""
    if working_memory is None:
        return float(get_config()["working_memory"])
    if not is_number(working_memory) or not working_memory > 0 or not isfinite(working_memory):
        raise ValueError(
            "working_memory must be a number of MiB above 0, or None for that of "
            f"sklearn.get_config(), got {working_memory!r}."
        )
    return float(working_memory)


def count_passes(n_rows: int, n_texts: int, working_memory: float) -> int:
    """In how many passes to read rows, of whose keys so many are not numbers."""
    bytes_per_row = _BYTES_PER_ROW + _BYTES_PER_TEXT * n_texts
    return max(1, ceil(n_rows * bytes_per_row / (working_memory * 2**20)))


def _polars_rows(table: Any, keys: list[str]) -> RowsOfPass:
    polars = sys.modules["polars"]
    schema = table.collect_schema()
    # the numbers of categories may differ from file to file
    columns = [
        polars.col(key).cast(polars.String) if schema[key] == polars.Categorical
        else polars.col(key)
        for key in keys
    ]  # fmt: skip
    code = _hash_of(columns)
    return lambda i, n: table if n == 1 else table.filter(code % n == i)


def _duckdb_rows(table: Any, keys: list[str]) -> RowsOfPass:
    quoted = ", ".join('"' + key.replace('"', '""') + '"' for key in keys)
    return lambda i, n: table if n == 1 else table.filter(f"hash({quoted}) % {n} = {i}")


def _ibis_rows(table: Any, keys: list[str]) -> RowsOfPass:
    code = _hash_of([table[key] for key in keys])  # a signed number
    return lambda i, n: table if n == 1 else table.filter((code % n + n) % n == i)


def _hash_of(columns: list[Any]) -> Any:
    first, *others = columns
    code = first.hash()
    for column in others:
        code = code.hash() ^ column.hash()  # hashed again, or equal keys would all have the code 0
    return code
