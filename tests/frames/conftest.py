"""Engines of tables, a Spark session and a Dask cluster that the tests of this folder share."""

import shutil
from contextlib import contextmanager

import pytest
from helpers import spark_session

LAZY = ["polars lazy", "pyspark", "dask"]
ENGINES = {
    "engine": ["pandas", "polars", "pyarrow", "duckdb", *LAZY],
    "scan": ["polars", "duckdb", "dataset", "dask"],
    "cluster": ["pyspark", "dask"],
    "own_cluster": ["pyspark", "dask"],
}
# one of each kind; the marker `ci` has the others
EVERYDAY = {"engine": ["pandas", "polars lazy", "duckdb"], "scan": ["polars", "duckdb"]}


def pytest_generate_tests(metafunc):
    """Run a test on the engines of the option `--engines`, or on all, with the marker `ci`."""
    chosen = [name for name in metafunc.config.getoption("engines").split(",") if name]
    for fixture in ENGINES.keys() & set(metafunc.fixturenames):
        names = [name for name in ENGINES[fixture] if name.split()[0] in chosen]
        if not chosen:
            usual, ci = EVERYDAY.get(fixture, []), pytest.mark.ci
            others = [name for name in ENGINES[fixture] if name not in usual]
            names = [*usual, *(pytest.param(name, marks=ci) for name in others)]
        metafunc.parametrize(fixture, names, indirect=True)


@pytest.fixture(scope="session")
def spark():
    if shutil.which("java") is None:
        pytest.skip("PySpark needs Java, and there is none")
    pytest.importorskip("pyspark")
    running = spark_session()
    yield running
    running.stop()


@contextmanager
def dask_cluster():
    """A client of a new Dask cluster of two worker processes."""
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


@pytest.fixture(scope="session")
def client():
    with dask_cluster() as connected:
        yield connected


@pytest.fixture
def own_client():
    """A client of a cluster that only one test uses, and may damage."""
    with dask_cluster() as connected:
        yield connected


@pytest.fixture
def engine(request):
    """A function that makes a table of the engine from columns."""
    name = request.param
    library = pytest.importorskip("dask.dataframe" if name == "dask" else name.split()[0])
    session = request.getfixturevalue("spark") if name == "pyspark" else None

    def make(columns):
        arrow = pytest.importorskip("pyarrow").table(columns)
        made = {
            "pyarrow": lambda: arrow,
            "pandas": arrow.to_pandas,
            "polars": lambda: library.from_arrow(arrow),
            "polars lazy": lambda: library.from_arrow(arrow).lazy(),
            "duckdb": lambda: library.from_arrow(arrow),
            "dask": lambda: library.from_pandas(arrow.to_pandas(), npartitions=2),
            "pyspark": lambda: session.createDataFrame(arrow),
        }
        return made[name]()

    make.name = name
    make.is_lazy = name in LAZY
    make.has_order = name not in {"pyspark", "dask"}
    make.error = Exception if name == "pyspark" else ValueError  # Spark wraps workers' errors
    return make
