"""
======================================
Score Parquet files larger than memory
======================================

The scores of a model are often stored in a folder of Parquet files that do not fit into memory.
Here DuckDB reads such a folder under a memory limit, some queries at a time. sklearn_ndcg computes
NDCG by query, which is written to files, and the mean. With ``--spark``, PySpark does the same.

DuckDB generates the files. The rows of a query are scattered over all of them, which is the hard
case: an engine has to bring them together before it can rank them. A sample of the queries is also
loaded as arrays, and ``ndcg_samples`` must give the same numbers.
"""

# sphinx_gallery_thumbnail_path = "generated/figures/larger_than_memory-light.svg"

import argparse
import resource
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from sklearn_ndcg import ndcg_samples
from sklearn_ndcg.frames import ndcg_by_query, ndcg_score

try:
    import duckdb
except ImportError as error:
    raise SystemExit(f"{error}: python -m pip install '.[frames]' duckdb pyarrow") from error

COLUMNS = {"y_true": "grade", "y_score": "score", "groups": "query"}
OPTIONS = {"k": 10, "undefined": 0.0}
N_FILES = 10
N_PARTITIONS = 32  # of a shuffle in Spark

parser = argparse.ArgumentParser(description=__doc__.splitlines()[2])
parser.add_argument("--rows", type=int, default=2_000_000)
parser.add_argument("--memory-limit", default="1GB", help="of DuckDB, default 1GB")
parser.add_argument("--spark", action="store_true", help="also run PySpark, which needs Java")
parser.add_argument("--directory", help="where to write files, a temporary directory by default")
arguments = parser.parse_args()
start = perf_counter()


def report(message):
    """Print the progress, with the time."""
    print(f"[{perf_counter() - start:6.1f} s] {message}", flush=True)


def timed(function, *args, **options):
    """Return a result and the seconds that it took."""
    began = perf_counter()
    return function(*args, **options), perf_counter() - began


def peak_memory():
    """Return the peak memory of this process, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e6 / 1024)


# %%
# Files
# -----
# The smaller of two random numbers is often small, so queries have from 1 to about 250 rows, 100 on
# average. Scores are rounded, so that many are tied within a query.


def write_files(connection, folder, n_rows):
    """Write Parquet files with n_rows rows in all; return the number of ids to draw from."""
    n_ids = max(n_rows // 100, 1)
    folder.mkdir()
    for number in range(N_FILES):
        first, end = n_rows * number // N_FILES, n_rows * (number + 1) // N_FILES
        connection.sql(f"""
            select least(hash(i) % {n_ids}, hash(i, 1) % {n_ids})::bigint as query,
                   least(hash(i, 2) % 5, hash(i, 3) % 5)::tinyint as grade,
                   grade + round(sqrt(-2 * ln((hash(i, 4) % 1000000 + 1) / 1e6)), 2) as score
            from range({first}, {end}) rows(i)
            """).write_parquet(str(folder / f"{number}.parquet"))  # noqa: S608
    return n_ids


# %%
# The same code for any engine
# ----------------------------
# NDCG by query is written from files to files, and the mean is a number.


def both(table, write):
    """Write NDCG by query, compute the mean, and report how long each took."""
    _, seconds_by_query = timed(lambda: write(ndcg_by_query(table, **COLUMNS, **OPTIONS)))
    mean, seconds_mean = timed(ndcg_score, table, **COLUMNS, **OPTIONS)
    report(
        f"  by query, to files: {seconds_by_query:.1f} s; mean: {seconds_mean:.1f} s, {mean:.6f}"
    )
    return mean


def check(rows, found, mean, step):
    """Check the NDCG of every step-th query against the kernels, and the mean against the table."""
    mine = rows.filter(f"query % {step} = 0").fetchnumpy()
    theirs = found.filter(f"query % {step} = 0").order("query").fetchnumpy()
    expected = ndcg_samples(mine["grade"], mine["score"], groups=mine["query"], **OPTIONS)
    np.testing.assert_array_equal(theirs["query"], np.unique(mine["query"]))
    difference = np.abs(theirs["ndcg"] - expected).max()
    assert difference < 1e-12
    [(n_queries, average)] = found.aggregate("count(*), avg(ndcg)").fetchall()
    assert abs(mean - average) < 1e-12
    report(
        f"  {n_queries:,} queries; {len(expected):,} of them from the kernels, "
        f"greatest difference {difference:.0e}"
    )


def with_spark(files, results, spill):
    """Do the same in local mode; the JVM is a separate process with its own memory limit."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "2g")
        .config("spark.local.dir", spill)
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", N_PARTITIONS)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    table = spark.read.parquet(str(files))
    plan = ndcg_by_query(table, **COLUMNS, **OPTIONS)._jdf.queryExecution().executedPlan()
    limit = spark._jvm.java.lang.Runtime.getRuntime().maxMemory()
    report(
        f"PySpark {spark.version}, {table.rdd.getNumPartitions()} partitions of files, "
        f"{plan.toString().count('Exchange hashpartitioning')} shuffle by query; "
        f"memory limit of the JVM's heap {limit / 1e6:,.0f} MB"
    )
    mean = both(table, lambda found: found.write.parquet(str(results)))
    spark.stop()
    return mean


with TemporaryDirectory(prefix="sklearn_ndcg_", dir=arguments.directory) as directory:
    folder = Path(directory)
    files, spill = folder / "files", str(folder / "spill")
    connection = duckdb.connect(
        config={
            "memory_limit": arguments.memory_limit,
            "preserve_insertion_order": False,
            "temp_directory": spill,
        }
    )
    n_ids = write_files(connection, files, arguments.rows)
    size = sum(file.stat().st_size for file in files.iterdir())
    report(f"{arguments.rows:,} rows in {N_FILES} Parquet files of {size / 1e6:,.0f} MB")

    report(f"DuckDB {duckdb.__version__}, memory_limit {arguments.memory_limit}")
    rows = connection.read_parquet(str(files / "*.parquet"))
    by_query = folder / "duckdb.parquet"
    mean = both(rows, lambda found: found.write_parquet(str(by_query)))
    report(f"  peak resident memory of this process: {peak_memory():,.0f} MB")
    step = max(n_ids // 1000, 1)
    check(rows, connection.read_parquet(str(by_query)), mean, step)

    if arguments.spark:
        by_query = folder / "spark"
        mean = with_spark(files, by_query, spill)
        check(rows, connection.read_parquet(f"{by_query}/*.parquet"), mean, step)
