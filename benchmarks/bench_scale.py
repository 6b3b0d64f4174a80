"""Measure tables that are larger than memory: engine, rows, memory and seconds.

    python -m pip install ".[test]"
    python benchmarks/bench_scale.py                       # 16 million rows, some minutes
    python benchmarks/bench_scale.py --rows 100000000 --runs 3 --ways polars duckdb
    python benchmarks/bench_scale.py --ways spark dask polars   # these need pyspark, Java and dask
    python benchmarks/bench_scale.py --quick               # 200,000 rows, all ways in one process

DuckDB writes Parquet files in which the rows of a query are scattered over all files. Each way of
scoring them runs in its own process, and the ways take turns; memory is what the call needs beyond
the imports. Spark and Dask have two cores and their own workers, whose start counts: memory and
seconds of CPU are then sums over all processes. "by query" is the mean of a table of results, "by
hand" a query with window functions in the engine's own language, which averages over ties in the
same way. All values must agree, and the NDCG of about 1,000 queries with the kernels. The exit
status is 1 if a promise is broken.
"""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import duckdb
import numpy as np
import polars as pl
import pyarrow.dataset
from common import SQL, Promises, extra_memory, memory, options
from common import in_polars as by_hand_in_polars

from sklearn_ndcg import frames, ndcg_samples, ndcg_score

COLUMNS = {"y_true": "grade", "y_score": "score", "groups": "query"}
OPTIONS = {"k": 10, "undefined": 0.0}
N_FILES = 10


def children():
    """Return the CPU seconds of all processes below this one, and the sum of their peaks."""
    parent, seconds = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parent[int(stat.parent.name)] = int(fields[1])
        seconds[int(stat.parent.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    below = {os.getpid()}
    while more := {process for process, of in parent.items() if of in below} - below:
        below |= more
    below.remove(os.getpid())
    return sum(seconds[each] for each in below), sum(memory("VmHWM", each) for each in below)


def write_files(folder, n_rows, is_skewed):
    """Write Parquet files of queries with 1 to about 250 rows, 100 on average.

    If they are skewed, a single query has one row of 20 in addition to its own.
    """
    n_ids = max(n_rows // 100, 1)
    query = f"least(hash(i) % {n_ids}, hash(i, 1) % {n_ids})::bigint"
    query = f"if(i % 20 = 0, 7, {query})" if is_skewed else query
    connection = duckdb.connect(config={"preserve_insertion_order": False, "memory_limit": "2GB"})
    for number in range(N_FILES):
        first, end = n_rows * number // N_FILES, n_rows * (number + 1) // N_FILES
        connection.sql(f"""
            select {query} as query,
                   date '2026-01-01' + (query % 365)::int as day,
                   least(hash(i, 2) % 5, hash(i, 3) % 5)::tinyint as grade,
                   grade + round(sqrt(-2 * ln((hash(i, 4) % 1000000 + 1) / 1e6)), 2) as score
            from range({first}, {end}) rows(i)
            """).write_parquet(str(folder / f"{number}.parquet"))  # noqa: S608


def read_dask(path):
    """Read a DataFrame of Dask, whose workers are threads of this process."""
    import dask.dataframe

    return dask.dataframe.read_parquet(path)


def read_on_dask_cluster(path):
    """Read a DataFrame of Dask on two workers of 2 GB."""
    from distributed import Client, LocalCluster

    workers = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "2GB"}
    Client(LocalCluster(**workers, dashboard_address=None))
    return read_dask(path)


def read_spark(path):
    """Read a DataFrame of PySpark in local mode."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.sql.shuffle.partitions", 32).config("spark.ui.enabled", "false")
    session = builder.config("spark.log.level", "ERROR").getOrCreate()
    return session.read.parquet(path)


ENGINES = {  # how each makes a table of Parquet files
    "polars": pl.scan_parquet,
    "duckdb": duckdb.read_parquet,
    "dataset": lambda path: pyarrow.dataset.dataset(str(Path(path).parent)),
    "dask": read_dask,
    "dask-cluster": read_on_dask_cluster,
    "spark": read_spark,
}
ON_A_CLUSTER = ("dask", "dask-cluster", "spark")  # or in threads, for Dask alone


def by_arrays(path):
    """Read all rows into arrays for the kernels."""
    rows = pl.read_parquet(path)
    grade, score, query = (rows[name].to_numpy() for name in ("grade", "score", "query"))
    return ndcg_score(grade, score, groups=query, **OPTIONS)


def by_frames(read, path):
    """Score a table of an engine."""
    return frames.ndcg_score(read(path), **COLUMNS, **OPTIONS)


def polars_by_query(path):
    """Take the mean of a DataFrame of results by query."""
    table = frames.ndcg_by_query(pl.scan_parquet(path), **COLUMNS, **OPTIONS)
    return table["ndcg"].mean()


def duckdb_by_query(path):
    """Take the mean of a relation of results by query."""
    table = frames.ndcg_by_query(duckdb.read_parquet(path), **COLUMNS, **OPTIONS)
    return table.aggregate("avg(ndcg)").fetchall()[0][0]


WAYS = {
    "arrays": by_arrays,
    **{name: partial(by_frames, read) for name, read in ENGINES.items()},
    "polars-by-query": polars_by_query,
    "duckdb-by-query": duckdb_by_query,
    "polars-by-hand": lambda path: by_hand_in_polars(pl.scan_parquet(path)).collect().item(),
    "duckdb-by-hand": lambda path: duckdb.execute(SQL.format(rows=f"'{path}'")).fetchall()[0][0],
}


def sample(files):
    """Compare about 1,000 queries with the kernels: in many passes, and by query."""
    rows = duckdb.read_parquet(f"{files}/*.parquet")
    [(last,)] = rows.aggregate("max(query)").fetchall()
    rows = rows.filter(f"query % {max(last // 1000, 1)} = 0")
    arrays = rows.fetchnumpy()
    expected = ndcg_samples(arrays["grade"], arrays["score"], groups=arrays["query"], **OPTIONS)
    memory = len(arrays["grade"]) * 1e-5  # MiB: some ten passes
    mean = frames.ndcg_score(rows, **COLUMNS, **OPTIONS, working_memory=memory)
    assert abs(mean / expected.mean() - 1) < 1e-15
    by_query = frames.ndcg_by_query(rows, **COLUMNS, **OPTIONS).order("query").fetchnumpy()
    np.testing.assert_array_equal(by_query["query"], np.unique(arrays["query"]))
    assert np.abs(by_query["ndcg"] - expected).max() < 1e-12
    return len(expected)


def measure(way, files):
    """Return the value of one way, its seconds and its memory, in the process that runs it."""
    path, values = f"{files}/*.parquet", []
    start, cpu = perf_counter(), process_time()
    of_others = children()[0] if way in ON_A_CLUSTER else 0
    extra = extra_memory(lambda: values.append(WAYS[way](path)))
    row = [*values, perf_counter() - start, process_time() - cpu, extra / 1e6]
    if way in ON_A_CLUSTER:
        seconds, peaks = children()
        row[2] += seconds - of_others
        row[3] += peaks / 1e6
    return row


def measure_in_a_process(way, files):
    """Return what `measure` returns in a process of its own."""
    command = [sys.executable, __file__, "--measure", way, "--files", files]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603
    return json.loads(said.split("measured")[1].splitlines()[0])


def compare(ways, n_runs, files, measure):
    """Run the ways in turns; print and return their times and memory."""
    print(f"{'way':24} {'seconds':>8} {'of CPU':>8} {'MB':>7}  NDCG")
    rows_of = {way: [] for way in ways}
    for _ in range(n_runs):
        for way in ways:
            row = measure(way, files)
            rows_of[way].append(row)
            print(f"{way:24} {row[1]:8.1f} {row[2]:8.1f} {row[3]:7,.0f}  {row[0]:.15f}", flush=True)
    values = [row[0] for rows in rows_of.values() for row in rows]
    assert max(values) - min(values) < 1e-12
    return rows_of


def check(promise, rows_of):
    """Check memory, and CPU seconds by hand as a multiple of ours."""
    for engine in {"polars", "duckdb"} & set(rows_of):
        ours = rows_of[engine]
        promise(f"MB beyond the imports, {engine}", max(row[3] for row in ours), most=1000)
        by_hand = rows_of.get(f"{engine}-by-hand")
        if by_hand:
            ratio = min(row[2] for row in by_hand) / min(row[2] for row in ours)
            promise(f"CPU seconds, by hand / frames, {engine}", ratio, least=1.5, quick=False)


def main():
    """Compare and check the promises."""
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, default=16_000_000)
    parser.add_argument("--runs", type=int, default=1)
    local = [way for way in WAYS if way not in ON_A_CLUSTER]
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=local)
    parser.add_argument("--skewed", action="store_true", help="5%% of all rows in one query")
    parser.add_argument("--directory", help="where to write files, a temporary directory otherwise")
    parser.add_argument("--files", help="the files of a process that this script starts")
    parser.add_argument("--measure", help="the way that such a process measures")
    arguments = parser.parse_args()
    if arguments.measure:
        print("measured", json.dumps(measure(arguments.measure, arguments.files)))
        return
    promise = Promises(quick=arguments.quick)
    n_rows = 200_000 if arguments.quick else arguments.rows
    with TemporaryDirectory(prefix="sklearn_ndcg_", dir=arguments.directory) as files:
        write_files(Path(files), n_rows, arguments.skewed)
        size = sum(file.stat().st_size for file in Path(files).iterdir())
        print(f"{n_rows:,} rows in {N_FILES} Parquet files of {size / 1e6:,.0f} MB")
        by = measure if arguments.quick else measure_in_a_process
        check(promise, compare(arguments.ways, arguments.runs, files, by))
        print(f"{sample(files)} queries have the values of the kernels")
    promise.exit()


if __name__ == "__main__":
    main()
