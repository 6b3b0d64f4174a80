"""Engines hold the rows of a table and give whole queries.

An engine on this machine gives them in passes, by a hash of the keys; one on a cluster in
partitions, after a shuffle by the keys. An engine is imported only if it is given a table.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from importlib import import_module
from math import ceil
from numbers import Number
from typing import Any, ClassVar
from uuid import uuid4

from sklearn import get_config

from sklearn_ndcg._checks import import_optional
from sklearn_ndcg._metrics.measure import NDCG
from sklearn_ndcg.frames import _parts
from sklearn_ndcg.frames._narwhals import NarwhalsTable, Native, check_version, nw
from sklearn_ndcg.frames._parts import Columns, Options, Result, Task

# About twice what a row was measured to take, as Arrow and as arrays: the rest is for the engine.
_BYTES_PER_ROW = 144
_BYTES_PER_TEXT = 64  # in addition, for each key that is not a number
_N_HASHES = 2**31  # hashes are taken modulo this, so that no sum of them overflows
_KEEPS_ORDER = "current_setting('preserve_insertion_order')"  # in DuckDB


class Engine:
    """An eager table, which is a single part, and the base of other engines.

    `columns` has the names of columns by argument, and `memory` is what a part may take, in MiB. A
    task computes the result of a part from its rows.
    """

    is_eager: ClassVar = True  # whether the table is in memory, in an order
    n_copies: ClassVar = 1  # of each row, in the memory of a part
    reader: ClassVar = ""  # the library whose version decides which Narwhals is needed
    error_note: ClassVar = (
        "This was pass {i} of {n} over the table: {n_read:,} of its {n_rows:,} rows had been "
        "scored."
    )

    table: NarwhalsTable  # the needed columns
    native: Native  # the same as a table of its library

    def __init__(self, native: object, columns: Columns, memory: float | None) -> None:
        self.columns, self.keys = columns, columns["groups"]
        self.memory = memory or get_config()["working_memory"]
        self.names = list(dict.fromkeys(name for names in columns.values() for name in names))
        self.hash_name = max(self.names, key=len) + "_"  # not the name of any column
        self.table = self.select(native)
        self.native = self.table.to_native()

    def keeps_order(self) -> bool:
        """Whether rows come in the order of the table: by default only if it is eager."""
        return self.is_eager

    def select(self, native: Native) -> NarwhalsTable:
        """The needed columns, checked, as a Narwhals frame."""
        try:
            table = nw.from_native(native, eager_only=self.is_eager)
        except TypeError as error:
            raise TypeError(
                "frame must be a table of pandas, Polars, PyArrow, DuckDB, PySpark or Dask, got "
                f"{type(native).__name__}. For arrays use sklearn_ndcg.ndcg_score; for an Ibis "
                "table pass table.to_polars() or table.to_pyarrow(); read a Parquet file with "
                "polars.scan_parquet(path) or duckdb.read_parquet(path)."
            ) from error
        _check_columns(table.collect_schema(), self.columns)
        return table.select(self.names)

    def counts(self) -> tuple[int, int]:
        """The number of rows, and in how many parts to read them."""
        return len(self.table), 1

    def n_parts(self, n_rows: int, wanted: int = 1) -> int:
        """How many parts to make of the rows, so that each fits the memory: at least `wanted`.

        The number is a multiple of `wanted`, so that no core waits for another.
        """
        dtypes = self.table.select(self.keys).collect_schema().dtypes()
        n_texts = sum(not (dtype.is_numeric() or dtype.is_temporal()) for dtype in dtypes)
        n_bytes = n_rows * self.n_copies * (_BYTES_PER_ROW + _BYTES_PER_TEXT * n_texts)
        return max(1, min(n_rows, wanted * ceil(n_bytes / (self.memory * 2**20 * wanted))))

    def task(
        self, function: Callable[..., Result], measure: NDCG, options: Options
    ) -> Task[Result]:
        """What is done with the rows of each part: a function of `_parts`, for a measure.

        `options` are those of the measure, as plain data that can be sent to workers.
        """
        return partial(function, self.columns, measure)

    def results_of_parts(self, task: Task[Result], n: int) -> Iterator[Result | Exception]:
        """The task's result for each of n parts, or its error."""
        yield task(self.native)

    def run(self, task: Task[Result]) -> Iterator[Result]:
        """The task's result for each part."""
        (n_rows, n), i, n_read = self.counts(), 0, 0
        try:
            for result in self.results_of_parts(task, n):
                if isinstance(result, Exception):  # of a worker
                    raise result
                i, n_read = i + 1, n_read + result.n_rows
                yield result
            if n_read != n_rows:
                raise RuntimeError(_changed(n_rows, n_read, n))
        except BaseException as error:
            if n > 1 and i < n:
                error.add_note(self.error_note.format(i=i + 1, n=n, n_read=n_read, n_rows=n_rows))
            raise

    def to_engine(self, tables: list[object]) -> Any:
        """The results of all parts as a table of the engine."""
        return nw.concat([nw.from_native(table) for table in tables]).to_native()


class Passes(Engine):
    """A lazy table on this machine, which is read in passes.

    An engine may override `select`, which returns the needed columns as a lazy frame of Narwhals.
    It defines ``with_hash(native, columns)``, which adds an integer column `hash_name`: from 0 to
    `_N_HASHES` - 1, equal for equal values in the given columns, the keys or all columns. Its
    `keeps_order` says whether it reads rows in their order, filtered or not.
    """

    is_eager = False
    with_hash: Callable[[Any, list[str]], Native]

    def counts(self) -> tuple[int, int]:
        n_rows = int(self.table.select(nw.len()).collect().item())
        return n_rows, self.n_parts(n_rows)

    def with_checksum(self, table: NarwhalsTable) -> NarwhalsTable:
        """The table with hashes of whole rows; their sum shows whether passes read other rows."""
        return nw.from_native(self.with_hash(table.to_native(), self.names))

    def results_of_parts(self, task: Task[Result], n: int) -> Iterator[Result]:
        if n == 1:
            yield task(self.table.collect().to_native())
            return
        hashes = nw.col(self.hash_name)
        hashed = nw.from_native(self.with_hash(self.native, self.keys))
        sums = self.with_checksum(self.table).select(nw.len(), hashes.sum()).collect()
        counted, read = tuple(map(int, sums.rows()[0])), (0, 0)  # rows, and their checksum
        for i in range(n):
            rows = self.with_checksum(hashed.filter(hashes % n == i).select(self.names)).collect()
            read = read[0] + len(rows), read[1] + int(rows[self.hash_name].sum() or 0)
            yield task(rows.to_native())
            del rows  # before the next ones are read
        if read != counted:
            raise RuntimeError(_changed(counted[0], read[0], n))


class Polars(Passes):
    """A LazyFrame of Polars."""

    def keeps_order(self) -> bool:
        return True

    def with_hash(self, native: Native, columns: list[str]) -> Native:
        polars = import_module("polars")
        # the codes of categories may differ from file to file
        schema = native.select(columns).cast({polars.Categorical: polars.String}).collect_schema()
        first, *others = (polars.col(name).cast(dtype).hash() for name, dtype in schema.items())
        # hashed again, as otherwise equal keys would all have the hash 0
        hashes = reduce(lambda code, other: code.hash() ^ other, others, first)
        return native.with_columns((hashes % _N_HASHES).cast(polars.Int64).alias(self.hash_name))


class DuckDB(Passes):
    """A relation of DuckDB."""

    reader = "duckdb"

    def select(self, native: Native) -> NarwhalsTable:
        import_optional("pyarrow", "DuckDB passes on its rows by pyarrow", "pyarrow")
        return super().select(native)

    def keeps_order(self) -> bool:
        return bool(self.native.limit(0).count("*").project(_KEEPS_ORDER).fetchall()[0][0])

    def with_hash(self, native: Native, columns: list[str]) -> Native:
        *hashed, name = ('"' + name.replace('"', '""') + '"' for name in [*columns, self.hash_name])
        return native.project(f"*, (hash({', '.join(hashed)}) % {_N_HASHES})::bigint as {name}")

    def to_engine(self, tables: list[object]) -> Any:
        # DuckDB finds the table among the variables of the code that calls `query`, on the
        # connection of the relation, unless the user has a table of that name
        sklearn_ndcg_results_by_query = super().to_engine(tables)  # noqa: F841
        view = f"sklearn_ndcg_{uuid4().hex}"
        try:
            return self.native.query(view, "from sklearn_ndcg_results_by_query")
        finally:
            self.native.query(view, f"drop view {view}")  # which DuckDB 1 keeps


class Dataset(DuckDB):
    """A dataset of PyArrow, which DuckDB reads."""

    def select(self, native: Native) -> NarwhalsTable:
        return super().select(import_module("duckdb").from_arrow(native))


class Partitions(Engine):
    """A lazy table on a cluster, whose workers score the partitions of a shuffle by the keys.

    An engine may override `select`, which may return a frame of Narwhals without rows. It defines
    `counts`; ``results_of_parts(task, n)``, which shuffles the rows into n partitions, equal keys
    into the same one, and gives the task's result for each, from a worker, or its error; and
    `to_engine`.
    """

    is_eager = False
    error_note = (
        "The {n_rows:,} rows of the table were divided into {n} partitions, which workers score. "
        "If one is too large, pass a smaller working_memory."
    )

    def task(
        self, function: Callable[..., Result], measure: NDCG, options: Options
    ) -> Task[Result]:
        return _parts.portable(function, self.columns, options)


class Spark(Partitions):
    """A DataFrame of PySpark, also of Spark Connect."""

    def select(self, native: Native) -> NarwhalsTable:
        odd = [name for name in self.names if "." in name or "`" in name]
        if odd:
            raise ValueError(f"PySpark cannot process names with dots or backticks: rename {odd}.")
        return super().select(native)

    def counts(self) -> tuple[int, int]:
        session, n_rows = self.native.sparkSession, self.native.count()
        context = getattr(session, "sparkContext", None)  # Spark Connect has none
        setting = session.conf.get("spark.sql.shuffle.partitions")  # a number, or "auto"
        wanted = int(setting) if setting.isdigit() else 1
        return n_rows, self.n_parts(n_rows, getattr(context, "defaultParallelism", wanted))

    def results_of_parts(self, task: Task[Result], n: int) -> Iterator[Result | Exception]:
        def pickled(batches: Iterable[object]) -> Iterator[object]:
            pyarrow, listed = import_module("pyarrow"), list(batches)
            if listed:
                result: Result | Exception
                try:
                    result = task(pyarrow.Table.from_batches(listed))
                except (ImportError, TypeError, ValueError) as error:  # another attempt cannot help
                    result = error
                yield pyarrow.record_batch({"result": [pickle.dumps(result)]})

        partitions = self.native.repartition(n, *(f"`{key}`" for key in self.keys))
        results = partitions.mapInArrow(pickled, "result binary").collect()
        for (result,) in results:
            yield pickle.loads(result)  # noqa: S301
        if not results:  # partitions without rows give none
            yield task(self.native.toArrow())

    def to_engine(self, tables: list[object]) -> Any:
        schema = self.native.select([f"`{key}`" for key in self.keys]).schema
        for name, dtype in _parts.RESULT_COLUMNS.items():
            schema.add(name, "long" if dtype.is_integer() else "double")
        return self.native.sparkSession.createDataFrame(super().to_engine(tables), schema)


class Dask(Partitions):
    """A DataFrame of Dask.

    Its workers hold several copies of the rows that they exchange, so large partitions are divided
    before the shuffle.
    """

    n_copies = 4
    frame: Native  # the table, while `native` has its columns without rows

    def select(self, native: Native) -> NarwhalsTable:
        self.frame = native
        return super().select(import_module("dask.dataframe.dispatch").make_meta(native))

    def counts(self) -> tuple[int, int]:
        n_rows = len(self.frame)
        return n_rows, self.n_parts(n_rows, self.frame.npartitions)

    def results_of_parts(self, task: Task[Result], n: int) -> Iterator[Result]:
        keys, name = self.keys, self.hash_name
        # by rows, not by values of the index
        rows = self.frame[self.names].clear_divisions().repartition(npartitions=n)

        def with_hash(rows: Any) -> Any:  # Dask's own hash tells equal decimals and zeros apart
            pandas, ids = import_module("pandas"), rows[keys].copy()
            for key in keys:
                if pandas.api.types.is_float_dtype(ids[key].dtype):
                    ids[key] += 0.0
                elif ids[key].dtype == object:
                    ids[key] = ids[key].map(lambda x: hash(x) if isinstance(x, Number) else str(x))
            # before pandas 3.1 categories are of texts up to their first NUL
            hashes = pandas.util.hash_pandas_object(ids, index=False, categorize=False)
            return rows.assign(**{name: hashes})

        hashed = rows.map_partitions(with_hash, meta=with_hash(self.native))
        shuffled = hashed.shuffle(on=name, npartitions=n, ignore_index=True)
        dask = import_module("dask")
        yield from dask.compute(*map(dask.delayed(task), shuffled.to_delayed()))

    def to_engine(self, tables: list[object]) -> Any:
        by_query = super().to_engine(tables).reset_index(drop=True)
        return import_module("dask.dataframe").from_pandas(by_query, npartitions=1)


# By package and class. Any other table that Narwhals knows is eager.
ENGINES: dict[str, type[Engine]] = {
    "polars.LazyFrame": Polars,
    "duckdb.DuckDBPyRelation": DuckDB,
    "pyarrow.Dataset": Dataset,
    "pyspark.DataFrame": Spark,
    "dask.DataFrame": Dask,
}


def open_table(frame: object, columns: Columns, memory: float | None) -> Engine:
    """The engine of a table."""
    native = nw.to_native(frame, pass_through=True)
    names = (
        f"{kind.__module__.split('.')[0].removeprefix('_')}.{kind.__name__}"
        for kind in type(native).__mro__
    )
    kind = next((ENGINES[name] for name in names if name in ENGINES), Engine)
    check_version(kind.reader)
    return kind(native, columns, memory)


def _changed(n_rows: int, n_read: int, n_parts: int) -> str:
    return (
        f"The table changed while it was read: it had {n_rows:,} rows when they were counted, and "
        f"{n_read:,} in {n_parts} passes. If rows or values are drawn at random, write it to a "
        "file first, and score that."
    )


def _check_columns(schema: Any, columns: Columns) -> None:
    for argument, names in columns.items():
        for name in names:
            if name not in schema:
                raise ValueError(f"{argument}={name!r} is not a column of the table: {[*schema]}.")
            dtype = schema[name]
            if argument != "groups" and not (dtype.is_numeric() or dtype == nw.Boolean):
                raise TypeError(
                    f"{argument}={name!r} must be a column of numbers, not {dtype}. Explode lists "
                    "to a row per document, and cast what has another type."
                )
            if argument in {"groups", "y_score"} and dtype in (nw.Int128, nw.UInt128):
                raise TypeError(
                    f"{argument}={name!r} must not have integers of 128 bits, of which NumPy would "
                    f"make some equal: cast the column, for example to Int64. Got {dtype}."
                )
    keys = columns["groups"]
    if len(set(keys)) < len(keys) or {key.lower() for key in keys} & set(_parts.RESULT_COLUMNS):
        raise ValueError(
            "groups must name different columns, and none may have the name of a result, "
            f"{', '.join(_parts.RESULT_COLUMNS)}, in lower or upper case; got {keys}."
        )
