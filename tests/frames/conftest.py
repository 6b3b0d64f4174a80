"""A Spark session and a Dask cluster that the tests of this folder share."""

import os
import shutil
import sys
import warnings

import pytest


@pytest.fixture(scope="session")
def spark():
    if shutil.which("java") is None:
        pytest.skip("PySpark needs Java, and there is none")
    session = pytest.importorskip("pyspark.sql").SparkSession
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        running = (
            session.builder.master("local[2, 2]")  # a task is tried twice
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
    pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    # tests that do not ask for it compute in threads
    with cluster, distributed.Client(cluster, set_as_default=False) as connected:
        yield connected
