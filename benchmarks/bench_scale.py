"""Measure tables that are larger than memory: engine, rows, memory and seconds.

    python -m pip install ".[test]"
    python benchmarks/bench_scale.py                       # 16 million rows, some minutes
    python benchmarks/bench_scale.py --rows 100000000 --runs 3 --ways polars duckdb
    python benchmarks/bench_scale.py --ways spark dask polars   # these need pyspark, Java and dask
    python benchmarks/bench_scale.py --quick               # 200,000 rows, as a smoke test

DuckDB writes Parquet files in which the rows of a query are scattered over all files. Each way of
scoring them runs in its own process, and the ways take turns; memory is the peak above the memory
after the imports. Spark and Dask have two cores and their own workers: memory and seconds of CPU
are then sums over all processes. "by query" is the mean of a table of results, and "by query and
day" that of its means by day. "by hand" is a query with window functions in the engine's own
language, which averages over ties in the same way. All values must agree, and the NDCG of about
1,000 queries with the kernels. The exit status is 1 if a promise is broken.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

COLUMNS = {"y_true": "grade", "y_score": "score", "groups": "query"}
OPTIONS = {"k": 10, "undefined": 0.0}
N_FILES = 10
SQL = """
    with ranked as (
        select query, score, grade,
            row_number() over (partition by query order by score desc) as rank,
            row_number() over (partition by query order by grade desc) as ideal_rank from '{files}'
    ), blocks as (
        select query,
            avg(grade) * sum(case when rank <= 10 then 1 / log2(rank + 1) else 0 end) as dcg,
            sum(case when ideal_rank <= 10 then grade / log2(ideal_rank + 1) else 0 end) as ideal
        from ranked group by query, score
    )
    select avg(ndcg) from (
        select case when sum(ideal) > 0 then sum(dcg) / sum(ideal) else 0 end as ndcg
        from blocks group by query
    )
"""


def peak_memory():
    """Return the peak memory of this process, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # elsewhere the peak may be the parent process's
        return int(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1]) / 1e6 * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e6 / 1024)


def children():
    """Return the CPU seconds, and the sum of the peaks in MB, of all processes below this one."""
    parent, seconds = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parent[int(stat.parent.name)] = int(fields[1])
        seconds[int(stat.parent.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    below = {os.getpid()}
    while more := {process for process, of in parent.items() if of in below} - below:
        below |= more
    below.remove(os.getpid())
    peaks = 0.0
    for process in below:
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
        peaks += int(peak[1]) / 1e6 * 1024 if peak else 0
    return sum(seconds[process] for process in below), peaks


def write_files(folder, n_rows, is_skewed):
    """Write Parquet files of queries with 1 to about 250 rows, 100 on average.

    If they are skewed, a single query has one row of 20 in addition to its own.
    """
    import duckdb  # noqa: PLC0415

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


def arrays(files):
    """Read all rows into arrays for the kernels."""
    import polars as pl  # noqa: PLC0415

    from sklearn_ndcg import ndcg_score  # noqa: PLC0415

    def run():
        rows = pl.read_parquet(f"{files}/*.parquet")
        grade, score, query = (rows[name].to_numpy() for name in ("grade", "score", "query"))
        return ndcg_score(grade, score, groups=query, **OPTIONS)

    return run


def in_polars(files):
    """Score a scan of Polars."""
    import polars as pl  # noqa: PLC0415

    return by_frames(lambda: pl.scan_parquet(f"{files}/*.parquet"))


def in_duckdb(files):
    """Score a relation of DuckDB."""
    import duckdb  # noqa: PLC0415
    import pyarrow as pa  # noqa: F401, PLC0415

    return by_frames(lambda: duckdb.read_parquet(f"{files}/*.parquet"))


def in_ibis(files):
    """Score a table of Ibis on DuckDB."""
    import ibis  # noqa: PLC0415
    import pyarrow as pa  # noqa: F401, PLC0415

    return by_frames(lambda: ibis.duckdb.connect().read_parquet(f"{files}/*.parquet"))


def in_a_dataset(files):
    """Score a dataset of PyArrow."""
    import duckdb  # noqa: F401, PLC0415
    import pyarrow.dataset  # noqa: PLC0415

    return by_frames(lambda: pyarrow.dataset.dataset(files))


def in_dask(files):
    """Score a DataFrame of Dask in threads of this process."""
    import dask.dataframe as dd  # noqa: PLC0415

    return by_frames(lambda: dd.read_parquet(f"{files}/*.parquet"))


def in_dask_cluster(files):
    """Score a DataFrame of Dask on two workers of 2 GB."""
    import dask.dataframe as dd  # noqa: PLC0415
    from distributed import Client, LocalCluster  # noqa: PLC0415

    workers = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "2GB"}
    Client(LocalCluster(**workers, dashboard_address=None))
    return by_frames(lambda: dd.read_parquet(f"{files}/*.parquet"))


def in_spark(files):
    """Score a DataFrame of PySpark in local mode."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.sql.shuffle.partitions", 32).config("spark.ui.enabled", "false")
    session = builder.config("spark.log.level", "ERROR").getOrCreate()
    return by_frames(lambda: session.read.parquet(files))


def by_frames(table):
    """Return a function that scores a table."""
    from sklearn_ndcg import frames  # noqa: PLC0415

    return lambda: frames.ndcg_score(table(), **COLUMNS, **OPTIONS)


def polars_by_query(files):
    """Take the mean of a LazyFrame of results by query."""
    import polars as pl  # noqa: PLC0415

    from sklearn_ndcg import frames  # noqa: PLC0415

    def run():
        table = pl.scan_parquet(f"{files}/*.parquet")
        return frames.ndcg_by_query(table, **COLUMNS, **OPTIONS).collect()["ndcg"].mean()

    return run


def duckdb_by_query(files):
    """Take the mean of a relation of results by query."""
    import duckdb  # noqa: PLC0415
    import pyarrow as pa  # noqa: F401, PLC0415

    from sklearn_ndcg import frames  # noqa: PLC0415

    def run():
        table = duckdb.read_parquet(f"{files}/*.parquet")
        by_query = frames.ndcg_by_query(table, **COLUMNS, **OPTIONS)
        return by_query.aggregate("avg(ndcg)").fetchall()[0][0]

    return run


def polars_by_query_and_day(files):
    """Take the mean of a LazyFrame of days, whose values are the means of results by query."""
    import polars as pl  # noqa: PLC0415

    from sklearn_ndcg import frames  # noqa: PLC0415

    def run():
        columns = COLUMNS | {"groups": ["query", "day"]}
        table = pl.scan_parquet(f"{files}/*.parquet")
        by_query = frames.ndcg_by_query(table, **columns, **OPTIONS)
        days = by_query.group_by("day").agg(pl.len().alias("n_queries"), pl.col("ndcg").mean())
        rows = days.select("n_queries", "ndcg").collect().to_numpy()
        return float(rows.prod(axis=1).sum() / rows[:, 0].sum())

    return run


def polars_by_hand(files):
    """Write the query of `SQL` in Polars."""
    import polars as pl  # noqa: PLC0415

    def discount(rank):
        return pl.when(pl.col(rank) <= 10).then(1 / (pl.col(rank) + 1).log(2)).otherwise(0)

    def run():
        rank, ideal_rank = (
            pl.col(name).rank("ordinal", descending=True).over("query").alias(alias)
            for name, alias in (("score", "rank"), ("grade", "ideal_rank"))
        )
        ranked = pl.scan_parquet(f"{files}/*.parquet").with_columns(rank, ideal_rank)
        blocks = ranked.group_by("query", "score").agg(
            dcg=pl.col("grade").mean() * discount("rank").sum(),
            ideal=(pl.col("grade") * discount("ideal_rank")).sum(),
        )
        sums = blocks.group_by("query").agg(pl.col("dcg", "ideal").sum())
        ratio = pl.when(pl.col("ideal") > 0).then(pl.col("dcg") / pl.col("ideal")).otherwise(0)
        return sums.select(ratio.mean()).collect().item()

    return run


def duckdb_by_hand(files):
    """Run `SQL`."""
    import duckdb  # noqa: PLC0415

    sql = SQL.format(files=f"{files}/*.parquet")
    return lambda: duckdb.connect().execute(sql).fetchall()[0][0]


WAYS = {
    "arrays": arrays,
    "polars": in_polars,
    "duckdb": in_duckdb,
    "ibis": in_ibis,
    "dataset": in_a_dataset,
    "polars-by-query": polars_by_query,
    "duckdb-by-query": duckdb_by_query,
    "polars-by-query-and-day": polars_by_query_and_day,
    "polars-by-hand": polars_by_hand,
    "duckdb-by-hand": duckdb_by_hand,
    "dask": in_dask,
    "dask-cluster": in_dask_cluster,
    "spark": in_spark,
}
ON_A_CLUSTER = ("dask", "dask-cluster", "spark")  # or in threads, for Dask alone


def sample(files):
    """Compare about 1,000 queries with the kernels: in many passes, and by query."""
    import duckdb  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    from sklearn_ndcg import frames, ndcg_samples  # noqa: PLC0415

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
    """Print the value of one way, its seconds and its memory, in the process that runs it."""
    run = WAYS[way](files)
    imports, start, cpu = peak_memory(), perf_counter(), process_time()
    of_others = children()[0] if way in ON_A_CLUSTER else 0
    value = run()
    row = [value, perf_counter() - start, process_time() - cpu, peak_memory() - imports, imports]
    if way in ON_A_CLUSTER:
        seconds, peaks = children()
        row[2] += seconds - of_others
        row[3] += peaks
    print("measured", json.dumps(row))


def in_a_process(*arguments):
    """Run this script with other arguments, and return what it prints."""
    command = [sys.executable, "-P", __file__, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


def compare(ways, n_runs, files):
    """Run the ways in turns; print and return their times and memory."""
    print(f"{'way':24} {'seconds':>8} {'of CPU':>8} {'MB':>7}  NDCG")
    rows_of = {way: [] for way in ways}
    for _ in range(n_runs):
        for way in ways:
            said = in_a_process("--measure", way, "--files", files)
            row = json.loads(said.split("measured")[1].splitlines()[0])
            rows_of[way].append(row)
            print(f"{way:24} {row[1]:8.1f} {row[2]:8.1f} {row[3]:7,.0f}  {row[0]:.15f}", flush=True)
    values = [row[0] for rows in rows_of.values() for row in rows]
    assert max(values) - min(values) < 1e-12
    return rows_of


def promises(rows_of):
    """Yield each promise, and whether it was kept."""
    for engine in ("polars", "duckdb"):
        if engine in rows_of:
            peak = max(row[3] for row in rows_of[engine])
            yield f"{peak:8.0f} <= 1000  MB in addition to the imports, {engine}", peak <= 1000
        if engine in rows_of and f"{engine}-by-hand" in rows_of:
            by_hand, ours = (
                min(row[2] for row in rows_of[way]) for way in (f"{engine}-by-hand", engine)
            )
            yield (
                f"{by_hand / ours:8.1f} >= 3     CPU seconds in {engine}, by hand / frames",
                by_hand / ours >= 3,
            )
    if "dask" in rows_of and "polars" in rows_of:
        ours, others = (min(row[1] for row in rows_of[way]) for way in ("dask", "polars"))
        ratio = ours / others
        yield f"{ratio:8.2f} <= 2     seconds, dask / polars", ratio <= 2
    if "arrays" in rows_of and "polars" in rows_of:
        ours, others = (
            max(row[3] + row[4] for row in rows_of[way]) for way in ("polars", "arrays")
        )
        ratio = ours / others
        yield f"{ratio:8.2f} <= 0.6   peak of the process, polars / arrays", ratio <= 0.6


def main():
    """Compare, check the promises and return the exit status."""
    parser = argparse.ArgumentParser(description="Measure tables larger than memory.")
    parser.add_argument("--rows", type=int, default=16_000_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument(
        "--ways",
        nargs="+",
        choices=WAYS,
        default=[way for way in WAYS if way not in ON_A_CLUSTER],
    )
    parser.add_argument("--skewed", action="store_true", help="5%% of all rows in one query")
    parser.add_argument("--quick", action="store_true", help="200,000 rows, as a smoke test")
    parser.add_argument("--directory", help="where to write files, a temporary directory otherwise")
    parser.add_argument("--files", help=argparse.SUPPRESS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure == "write":
        write_files(Path(arguments.files), arguments.rows, arguments.skewed)
    elif arguments.measure == "sample":
        print(sample(arguments.files))
    elif arguments.measure:
        measure(arguments.measure, arguments.files)
    if arguments.measure:
        return 0
    n_rows = 200_000 if arguments.quick else arguments.rows
    with TemporaryDirectory(prefix="sklearn_ndcg_", dir=arguments.directory) as files:
        skewed = ["--skewed"] * arguments.skewed
        in_a_process("--measure", "write", "--files", files, "--rows", str(n_rows), *skewed)
        size = sum(file.stat().st_size for file in Path(files).iterdir())
        print(f"{n_rows:,} rows in {N_FILES} Parquet files of {size / 1e6:,.0f} MB")
        rows_of = compare(arguments.ways, arguments.runs, files)
        n_sampled = in_a_process("--measure", "sample", "--files", files).strip()
        print(f"{n_sampled} queries have the values of the kernels")
    print("\nmeasured promised" + (" for more data, so not checked" if arguments.quick else ""))
    all_kept = True
    for promise, kept in promises(rows_of):
        print(promise if arguments.quick else f"{promise}: {'kept' if kept else 'BROKEN'}")
        all_kept &= kept
    return 0 if all_kept or arguments.quick else 1


if __name__ == "__main__":
    sys.exit(main())
