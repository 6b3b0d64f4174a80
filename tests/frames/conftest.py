"""Engines of tables, a Spark session and a Dask cluster that the tests of this folder share."""

import os
import shutil
import sys
import warnings

import pytest
from frame_data import LAZY_FILES, engines


@pytest.fixture(scope="session")
def spark():
    """A Spark session of two cores."""
    if shutil.which("java") is None:
        pytest.skip("PySpark needs Java, and there is none")
    pyspark = pytest.importorskip("pyspark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        running = (
            pyspark.sql.SparkSession.builder.master("local[2, 2]")  # a task is tried twice
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .getOrCreate()
        )
    yield running
    running.stop()


@pytest.fixture(scope="session")
def client():
    """A client of a Dask cluster of two worker processes."""
    pytest.importorskip("dask.dataframe")
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    options = {
        "distributed.scheduler.allowed-failures": 1,  # tried twice, as on Spark
        # 15 s after a worker was killed, the cluster gives it up if at that moment it is starting
        # again, because it was killed a second time
        "distributed.deploy.lost-worker-timeout": "1 hour",
    }
    with (
        dask.config.set(options),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        # tests that do not ask for it compute in threads
        distributed.Client(cluster, set_as_default=False) as connected,
    ):
        yield connected


class Engine:
    """Makes tables from columns; lazy ones, but those of Spark, read them from three files."""

    def __init__(self, name, request):
        self.name = name
        library = {"dask": "dask.dataframe", "polars lazy": "polars", "dataset": "duckdb"}
        self.library = pytest.importorskip(library.get(name, name))
        self.session = request.getfixturevalue("spark") if name == "pyspark" else None
        self.folder = request.getfixturevalue("tmp_path")
        self.has_order = name not in {"pyspark", "dask"}

    def __call__(self, columns):
        arrow = pytest.importorskip("pyarrow").table(columns)
        if self.name == "pyarrow":
            return arrow
        if self.name == "pandas":
            return arrow.to_pandas()
        if self.name == "polars":
            return self.library.from_arrow(arrow)
        if self.name == "pyspark":
            return self.session.createDataFrame(arrow)
        return self.scan(self.write(arrow))

    def write(self, arrow):
        """Write the rows to three files, and return the folder."""
        parquet = pytest.importorskip("pyarrow.parquet")
        folder = self.folder / f"rows{len(list(self.folder.glob('rows*')))}"
        folder.mkdir()
        third = len(arrow) // 3 + 1
        for i in range(3):
            parquet.write_table(arrow.slice(i * third, third), folder / f"{i}.parquet")
        return folder

    def scan(self, folder):
        if self.name == "dataset":
            return pytest.importorskip("pyarrow.dataset").dataset(folder)
        files = str(folder / "*.parquet")
        if self.name == "polars lazy":
            return self.library.scan_parquet(files)
        return self.library.read_parquet(files)


@pytest.fixture(params=engines("pandas", "polars lazy", "duckdb"))
def engine(request):
    """An engine of each kind: in memory, and lazy with two ways to hash the keys."""
    return Engine(request.param, request)


@pytest.fixture(params=engines("polars lazy", among=["polars lazy", "pandas", "pyspark"]))
def any_engine(request):
    """For what is computed from the rows of a part, which is the same for all: one of a kind."""
    return Engine(request.param, request)


@pytest.fixture(params=engines("polars lazy", "duckdb", among=LAZY_FILES))
def scan(request):
    """An engine whose tables are lazy, and are read from files in passes or partitions."""
    return Engine(request.param, request)


@pytest.fixture(params=engines(among=["pyspark", "dask"]))
def cluster(request):
    """A function that makes a table, whose workers are other processes, from columns."""
    arrow = pytest.importorskip("pyarrow")
    if request.param == "pyspark":
        session = request.getfixturevalue("spark")
        yield lambda columns: session.createDataFrame(arrow.table(columns))
    else:
        frame = pytest.importorskip("dask.dataframe")
        with request.getfixturevalue("client").as_current():
            yield lambda columns: frame.from_pandas(arrow.table(columns).to_pandas(), npartitions=3)
