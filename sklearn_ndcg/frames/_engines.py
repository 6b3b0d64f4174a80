"""Engines hold the rows of a table and give whole queries.

An engine on this machine gives them in passes, by a hash of the keys; one on a cluster in
partitions, after a shuffle by the keys. An engine is imported only if it is given a table.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from functools import partial, reduce
from importlib import import_module
from math import ceil
from numbers import Number
from time import perf_counter
from typing import Any, ClassVar

from sklearn import get_config

from sklearn_ndcg.frames._parts import RESULTS, Columns, nw

# About twice what a row was measured to take, as Arrow and as arrays: the rest is for the engine.
_BYTES_PER_ROW = 144
_BYTES_PER_TEXT = 64  # in addition, for each key that is not a number
_N_CODES = 2**31  # hashes of keys are taken modulo this, so that no sum of them overflows
_KEEPS_ORDER = "select current_setting('preserve_insertion_order')"  # in DuckDB

Task = Callable[[Any], Any]  # a function of `_parts` that only needs the rows of a part


class Engine:
    """An eager table, which is a single part, and the base of other engines.

    `caller` is the name of the public function, `task` scores a part, and `memory` is what a part
    may take, in MiB.
    """

    is_lazy: ClassVar = False  # whether results by query are computed only when they are read
    is_eager: ClassVar = True  # whether the table is in memory, in an order
    n_copies: ClassVar = 1  # of each row, in the memory of a part
    part: ClassVar = "pass"
    note: ClassVar = (
        "This was pass {i} of {n} over the table: {n_read:,} of its {n_rows:,} rows had been "
        "scored."
    )

    def __init__(
        self, native: Any, task: partial[Any], caller: str, memory: float | None, verbose: bool
    ) -> None:
        self.task, self.caller, self.verbose, self.has_limit = task, caller, verbose, bool(memory)
        self.memory = memory or get_config()["working_memory"]
        self.columns = task.keywords["columns"]
        self.keys: list[str] = self.columns["groups"]
        self.names = list(dict.fromkeys(name for names in self.columns.values() for name in names))
        self.table = self.select(native)
        self.native = self.table.to_native()
        self.code_name = max(self.names, key=len) + "_"  # not the name of any column

    def keeps_order(self) -> bool:
        """Whether rows come in the order of the table: by default only if it is eager."""
        return self.is_eager

    def select(self, native: Any) -> Any:
        """The needed columns, checked, as a Narwhals frame."""
        try:
            table: Any = nw.from_native(native, eager_only=self.is_eager)
        except TypeError as error:
            raise TypeError(
                "frame must be a table of pandas, Polars, PyArrow, DuckDB, Ibis, PySpark or Dask, "
                f"got {type(native).__name__}. For arrays use sklearn_ndcg.ndcg_score; read a "
                "Parquet file with polars.scan_parquet(path) or duckdb.read_parquet(path)."
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
        schema = self.table.collect_schema()
        dtypes = [schema[key] for key in self.keys]
        n_texts = sum(not (dtype.is_numeric() or dtype.is_temporal()) for dtype in dtypes)
        n_bytes = n_rows * self.n_copies * (_BYTES_PER_ROW + _BYTES_PER_TEXT * n_texts)
        n_fitting = ceil(n_bytes / (self.memory * 2**20))
        n: int = wanted * max(1, ceil(n_fitting / wanted))
        return max(1, min(n_rows, n))

    def each(self, n: int) -> Iterator[Any]:
        """The task's result for each of n parts, or its error."""
        yield self.task(self.native)

    def run(self) -> Iterator[Any]:
        """The task's result for each part."""
        (n_rows, n), i, n_read, start = self.counts(), 0, 0, perf_counter()
        try:
            for i, part in enumerate(self.each(n), 1):
                if isinstance(part, Exception):  # of a worker
                    raise part
                n_read += part.n_rows
                if self.verbose:
                    print(
                        f"[{self.caller}] {self.part} {i} of {n}: {n_read:,} of {n_rows:,} rows, "
                        f"{perf_counter() - start:.1f} s"
                    )
                yield part
            if n_read != n_rows:
                raise RuntimeError(_changed(n_rows, n_read, n))
        except BaseException as error:
            if i < n > 1:
                error.add_note(self.note.format(i=i + 1, n=n, n_read=n_read, n_rows=n_rows))
            raise

    def give_back(self, tables: list[Any]) -> Any:
        """The results of all parts as a table of the engine."""
        [table] = tables  # engines with several parts override this
        return table


class Passes(Engine):
    """A lazy table on this machine, which is read in passes.

    An engine may override `select`, which returns the needed columns as a lazy frame of Narwhals.
    It defines ``coded(native, columns, name)``, which adds an integer column of that name: codes
    from 0 to `_N_CODES` - 1, equal for equal values in the given columns, the keys or all columns.
    Its `keeps_order` says whether it reads rows in their order, filtered or not, and its
    `give_back` joins the tables of results of all passes.
    """

    is_eager = False
    coded: Callable[[Any, list[str], str], Any]

    def counts(self) -> tuple[int, int]:
        n_rows = int(self.table.select(nw.len()).collect().item())
        return n_rows, self.n_parts(n_rows)

    def checked(self, table: Any) -> Any:
        """The table with hashes of whole rows; their sum shows whether passes read other rows."""
        return nw.from_native(self.coded(table.to_native(), self.names, self.code_name))

    def each(self, n: int) -> Iterator[Any]:
        if n == 1:
            yield self.task(self.table.collect().to_native())
            return
        name = self.code_name
        coded = nw.from_native(self.coded(self.native, self.keys, name))
        sums = self.checked(self.table).select(nw.len(), nw.col(name).sum()).collect()
        found, counted = [0, 0], [int(each) for each in sums.rows()[0]]
        for i in range(n):
            rows = self.checked(coded.filter(nw.col(name) % n == i).select(self.names)).collect()
            found = [found[0] + len(rows), found[1] + int(rows[name].sum() or 0)]
            rows = rows.drop(name)
            yield self.task(rows.to_native())
            del rows  # before the next ones are read
        if found != counted:
            raise RuntimeError(_changed(counted[0], found[0], n))


class Polars(Passes):
    """A LazyFrame of Polars."""

    is_lazy = True

    def keeps_order(self) -> bool:
        return True

    def coded(self, native: Any, columns: list[str], name: str) -> Any:
        polars, schema = sys.modules["polars"], native.collect_schema()
        code = _hash_of(
            # the codes of categories may differ from file to file
            polars.col(each).cast(polars.String if kind == polars.Categorical else kind)
            for each, kind in ((each, schema[each]) for each in columns)
        )
        return native.with_columns((code % _N_CODES).cast(polars.Int64).alias(name))

    def lazily(self) -> Any:
        """A LazyFrame that reads the table, pass by pass, when it is collected."""

        def results(columns: Any, predicate: Any, n_rows: Any, _: Any) -> Iterator[Any]:
            for part in self.run():
                rows = part.table.head(len(part.table) if n_rows is None else n_rows)
                n_rows = None if n_rows is None else n_rows - len(rows)
                rows = rows if predicate is None else rows.filter(predicate)
                yield rows if columns is None else rows.select(columns)
                if n_rows == 0:
                    return

        empty = sys.modules["polars"].DataFrame(schema=self.native.collect_schema())
        register = import_module("polars.io.plugins").register_io_source
        return register(results, schema=self.task(empty).table.schema)

    def give_back(self, tables: list[Any]) -> Any:
        return super().give_back(tables).lazy()


class DuckDB(Passes):
    """A relation of DuckDB."""

    def keeps_order(self) -> bool:
        return bool(self.native.query("sklearn_ndcg_rows", _KEEPS_ORDER).fetchall()[0][0])

    def coded(self, native: Any, columns: list[str], name: str) -> Any:
        *hashed, code = ('"' + each.replace('"', '""') + '"' for each in [*columns, name])
        return native.project(f"*, (hash({', '.join(hashed)}) % {_N_CODES})::bigint as {code}")

    def give_back(self, tables: list[Any]) -> Any:
        sklearn_ndcg_results = import_module("pyarrow").concat_tables(tables)  # noqa: F841
        # DuckDB finds this variable by its name, on the connection of the relation
        return self.native.query("sklearn_ndcg_rows", "select * from sklearn_ndcg_results")


class Dataset(DuckDB):
    """A dataset of PyArrow, which DuckDB reads."""

    def select(self, native: Any) -> Any:
        return super().select(import_module("duckdb").from_arrow(native))


class Ibis(Passes):
    """A table of Ibis, on any backend that has a hash."""

    def keeps_order(self) -> bool:
        backend = self.native.get_backend()
        if backend.name == "duckdb":
            return bool(backend.raw_sql(_KEEPS_ORDER).fetchall()[0][0])
        return bool(backend.name == "polars")

    def coded(self, native: Any, columns: list[str], name: str) -> Any:
        backend = native.get_backend()
        if not backend.has_operation(import_module("ibis.expr.operations").Hash):
            raise ValueError(
                f"Ibis has no hash on {backend.name}, which divides rows into passes: raise "
                "working_memory until one pass is enough, or read the rows with DuckDB or Polars."
            )
        code = _hash_of(native[each] for each in columns)  # a signed number
        return native.mutate(**{name: (code % _N_CODES + _N_CODES) % _N_CODES})

    def give_back(self, tables: list[Any]) -> Any:
        return import_module("ibis").memtable(import_module("pyarrow").concat_tables(tables))


class Partitions(Engine):
    """A lazy table on a cluster, whose workers score the partitions of a shuffle by the keys.

    An engine may override `select`, which may return a frame of Narwhals without rows. It defines
    `counts`; ``each(n)``, which shuffles the rows into n partitions, equal keys into the same one,
    and gives the task's result for each, from a worker, or its error; and ``scored(run, n)``, the
    results of all partitions as one lazy table. There None is the engine's own number of
    partitions.
    """

    is_eager = False
    is_lazy = True
    part = "partition"
    note = (
        "The {n_rows:,} rows of the table were divided into {n} partitions, which workers score. "
        "If one does not fit into the memory of a worker, pass a smaller working_memory."
    )
    scored: Callable[[Task, int | None], Any]  # the results by query, lazily

    def lazily(self) -> Any:
        """A lazy table of the engine; rows are counted only if memory is limited."""
        n = self.counts()[1] if self.has_limit else None
        if self.verbose:
            print(f"[{self.caller}] {n or 'the default number of'} partitions")
        return self.scored(_on_worker(self.task), n)


class Spark(Partitions):
    """A DataFrame of PySpark, also of Spark Connect."""

    def select(self, native: Any) -> Any:
        for name in self.names:
            if "." in name or "`" in name:
                raise ValueError(f"PySpark maps no names with a dot or backtick: rename {name!r}.")
        return super().select(native)

    def counts(self) -> tuple[int, int]:
        session = self.native.sparkSession
        context = getattr(session, "sparkContext", None)  # Spark Connect has none
        setting = session.conf.get("spark.sql.shuffle.partitions")  # a number, or "auto"
        wanted = int(setting) if setting.isdigit() else 1
        n_rows = self.native.count()
        return n_rows, self.n_parts(n_rows, getattr(context, "defaultParallelism", wanted))

    def mapped(self, function: Task, n: int | None, schema: Any) -> Any:
        """A function's results for partitions of whole queries, as batches of Arrow."""

        def of_batches(batches: Iterator[Any]) -> Iterator[Any]:
            listed = list(batches)
            if listed:
                yield from function(import_module("pyarrow").Table.from_batches(listed))

        parts = self.native.repartition(*[n] * (n is not None), *(f"`{key}`" for key in self.keys))
        return parts.mapInArrow(of_batches, schema)

    def each(self, n: int) -> Iterator[Any]:
        run = _on_worker(self.task)

        def pickled(rows: Any) -> Any:
            try:
                outcome = run(rows)
            except (ImportError, TypeError, ValueError) as error:  # another attempt cannot help
                outcome = error
            return [import_module("pyarrow").record_batch({"part": [pickle.dumps(outcome)]})]

        for (part,) in self.mapped(pickled, n, "part binary").collect():
            yield pickle.loads(part)  # noqa: S301

    def scored(self, run: Task, n: int | None) -> Any:
        types = import_module("pyspark.sql.types")
        kinds = [types.LongType(), *[types.DoubleType()] * 3]
        fields = [self.native.schema[key] for key in self.keys]
        fields += map(types.StructField, RESULTS, kinds)
        return self.mapped(lambda rows: run(rows).table.to_batches(), n, types.StructType(fields))

    def give_back(self, tables: list[Any]) -> Any:
        return self.native.sparkSession.createDataFrame(super().give_back(tables))


class Dask(Partitions):
    """A DataFrame of Dask.

    Its workers hold several copies of the rows that they exchange, so large partitions are divided
    before the shuffle.
    """

    n_copies = 4

    def select(self, native: Any) -> Any:
        self.frame = native
        return super().select(import_module("dask.dataframe.dispatch").make_meta(native))

    def counts(self) -> tuple[int, int]:
        n_rows = len(self.frame)
        return n_rows, self.n_parts(n_rows, self.frame.npartitions)

    def shuffled(self, n: int | None) -> Any:
        """The table in n partitions of whole queries; in Dask's number of them if n is None."""
        keys, name = self.keys, self.code_name
        rows = self.frame[self.names]
        if n is not None:  # by rows, not by values of the index
            rows = rows.clear_divisions().repartition(npartitions=n)

        def with_codes(part: Any) -> Any:  # Dask's own hash tells equal decimals and zeros apart
            pandas, values = import_module("pandas"), part[keys].copy()
            for key in keys:
                if pandas.api.types.is_float_dtype(values[key].dtype):
                    values[key] += 0.0
                elif values[key].dtype == object:
                    values[key] = [hash(each) if isinstance(each, Number) else str(each)
                                   for each in values[key]]  # fmt: skip
            return part.assign(**{name: pandas.util.hash_pandas_object(values, index=False)})

        coded = rows.map_partitions(with_codes, meta=with_codes(self.native))
        return coded.shuffle(on=name, npartitions=n, ignore_index=True)

    def each(self, n: int) -> Iterator[Any]:
        dask = import_module("dask")
        run = dask.delayed(_on_worker(self.task))
        yield from dask.compute(*map(run, self.shuffled(n).to_delayed()))

    def scored(self, run: Task, n: int | None) -> Any:
        parts, empty = self.shuffled(n), run(self.native).table
        return parts.map_partitions(lambda rows: run(rows).table, meta=empty)

    def give_back(self, tables: list[Any]) -> Any:
        return import_module("dask.dataframe").from_pandas(super().give_back(tables), npartitions=1)


# By package and class. Any other table that Narwhals knows is eager.
ENGINES: dict[str, type[Engine]] = {
    "polars.LazyFrame": Polars,
    "duckdb.DuckDBPyRelation": DuckDB,
    "ibis.Table": Ibis,
    "pyarrow.Dataset": Dataset,
    "pyspark.DataFrame": Spark,
    "dask.DataFrame": Dask,
}


def open_table(frame: Any, *arguments: Any) -> Any:
    """The engine of a table."""
    native = nw.to_native(frame, pass_through=True)
    names = (
        f"{kind.__module__.split('.')[0].removeprefix('_')}.{kind.__name__}"
        for kind in type(native).__mro__
    )
    return next((ENGINES[name] for name in names if name in ENGINES), Engine)(native, *arguments)


def _on_worker(task: partial[Any]) -> Task:
    """A task that is sent by value, as an inner function, so that it starts on any worker."""
    name, arguments = task.func.__name__, task.keywords
    expected = import_module("sklearn_ndcg").__version__

    def run(rows: Any) -> Any:
        try:
            parts = import_module("sklearn_ndcg.frames._parts")
            found = import_module("sklearn_ndcg").__version__
        except ImportError as error:
            found = f"none, {error}"
        if found != expected:
            raise ImportError(
                f"Every worker needs sklearn_ndcg {expected} with its extra `frames`, and PyArrow; "
                f"one has {found}."
            )
        return getattr(parts, name)(rows, **arguments)

    return run


def _changed(n_rows: int, n_read: int, n_parts: int) -> str:
    return (
        f"The table had {n_rows:,} rows when they were counted, and {n_read:,} in {n_parts} "
        f"passes{', with other values' * (n_rows == n_read)}. If it changes, or rows or values are "
        "drawn at random, write it to a file first, and score that."
    )


def _check_columns(schema: Any, columns: Columns) -> None:
    for argument, names in columns.items():
        for name in names:
            if name not in schema:
                raise ValueError(
                    f"{argument}={name!r} is not a column of the table, whose columns are "
                    f"{', '.join(map(str, schema))}."
                )
            dtype = schema[name]
            if argument != "groups" and not (dtype.is_numeric() or dtype == nw.Boolean):
                raise TypeError(f"{argument}={name!r} must be a column of numbers, not {dtype}.")
    keys = columns["groups"]
    if len(set(keys)) < len(keys) or {key.lower() for key in keys} & set(RESULTS):
        raise ValueError(
            "groups must name different columns, and none may have the name of a result, "
            f"{', '.join(RESULTS)}, in lower or upper case; got {keys}."
        )


def _hash_of(columns: Iterator[Any]) -> Any:
    # hashed again, as otherwise equal keys would all have the code 0
    return reduce(lambda code, other: code.hash() ^ other, (each.hash() for each in columns))
