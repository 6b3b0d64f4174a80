"""Lazy tables in passes or partitions of whole queries: the value of one pass, come what may."""

import datetime
import os
import pickle
import re
import signal
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import sklearn
from frame_data import (
    COLUMNS,
    N_ROWS,
    assert_same_rows,
    draw_columns,
    engines,
    expected_rows,
    expected_score,
    memory_of,
)
from helpers import result_rows

import sklearn_ndcg

pytest.importorskip("narwhals.stable.v2", reason="the extra `frames` is not installed")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
from sklearn_ndcg.frames import _engines, ndcg_by_query, ndcg_score  # noqa: E402
from sklearn_ndcg.frames._parts import portable, sum_part  # noqa: E402


def assert_score_of_arrays(table, columns, n_passes=6, **options):
    """The table that was made of these columns has their NDCG, in about so many passes."""
    options = {"undefined": 0.0} | options
    mean = ndcg_score(table, **COLUMNS, **options, working_memory=memory_of(n_passes))
    assert mean == pytest.approx(expected_score(columns, **options), rel=1e-14)


# --- passes


@pytest.fixture
def parts(monkeypatch):
    """A list to which engines append the number of rows that they read in each part."""
    n_rows, run = [], _engines.Engine.run

    def recorded(engine, task):
        for result in run(engine, task):
            n_rows.append(result.n_rows)
            yield result

    monkeypatch.setattr(_engines.Engine, "run", recorded)
    return n_rows


def test_rows_are_divided_into_parts_that_fit_the_memory(scan, parts):
    with sklearn.config_context(working_memory=memory_of(5)):
        ndcg_score(scan(draw_columns()), **COLUMNS, undefined=0)
    assert len(parts) == (18 if scan.name == "dask" else 5)  # its workers hold four copies of a row
    assert sum(parts) == N_ROWS
    assert max(parts) < N_ROWS / 2  # no pass has most of the rows


def test_keys_of_text_take_memory(parts):
    """A row with a text as key is taken for 144 and 64 bytes."""
    columns = draw_columns()
    for key, n_passes in ((columns["q"], 5), ([f"q{q}" for q in columns["q"]], 7)):
        table = pl.LazyFrame(columns | {"q": key})
        parts.clear()
        ndcg_score(table, **COLUMNS, undefined=0, working_memory=memory_of(5))
        assert len(parts) == n_passes


@pytest.mark.parametrize("n_passes", [1, 7])
def test_results_by_query_of_two_columns_of_ids(scan, n_passes, parts):
    columns = draw_columns()
    columns["day"] = columns["q"] // 13
    arguments = COLUMNS | {"groups": ["q", "day"], "working_memory": memory_of(n_passes)}
    rows = result_rows(ndcg_by_query(scan(columns), **arguments, undefined=0.5))
    expected = [(q, q // 13, *results) for q, *results in expected_rows(columns, undefined=0.5)]
    assert_same_rows(rows, expected)
    # Dask's workers hold four copies of a row, and it has 3 files
    expected = {1: 3, 7: 27}[n_passes] if scan.name == "dask" else n_passes
    assert len(parts) == expected


def test_equal_columns_of_ids_do_not_cancel_in_the_hash(scan, parts):
    columns = draw_columns()
    columns["same"] = columns["q"]
    arguments = COLUMNS | {"groups": ["q", "same"], "working_memory": memory_of(6)}
    mean = ndcg_score(scan(columns), **arguments, undefined=0.0)
    assert mean == pytest.approx(expected_score(columns, undefined=0.0), rel=1e-15)
    assert max(parts) < N_ROWS / 2


# --- columns of any kind

KEYS = {
    "text": lambda q: [f"user {i}" for i in q],
    "text with a NUL": lambda q: ["id\0" + "\0" * (i % 3) + str(i) for i in q],
    "date": lambda q: [datetime.date(1970, 1, 1) + datetime.timedelta(int(i)) for i in q],
    "float": lambda q: np.where(q % 2, q / 4, np.where(q % 3, -0.0, 0.0)),
    "decimal": lambda q: pa.array([Decimal(int(i)) / 4 for i in q], pa.decimal128(25, 2)),
    # which Polars reads as categories, numbered anew in each file
    "dictionary": lambda q: pa.array([f"user {i}" for i in q]).dictionary_encode(),
    "one large query": lambda q: np.where(q < 5000, 1, q),
    "int8": lambda q: (q % 100).astype(np.int8),
    "uint64": lambda q: q.astype(np.uint64) << np.uint64(40),
}


@pytest.mark.parametrize("engine", engines("polars lazy", "duckdb"), indirect=True)
@pytest.mark.parametrize("kind", KEYS)
def test_groups_of_any_kind(engine, kind):
    if engine.name == "pyspark" and kind in {"dictionary", "uint64"}:
        pytest.skip("Spark has none")
    columns = draw_columns()
    columns["q"] = KEYS[kind](columns["q"])
    assert_score_of_arrays(engine(columns), columns, k=7)


NUMBERS = {
    "int": lambda x: x.astype(np.int16),
    "bool": lambda x: x > 1,
    "decimal": lambda x: pa.array([Decimal(int(i)) / 2 for i in x], pa.decimal128(20, 1)),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_grades_scores_and_weights_of_any_kind(scan, kind):
    if scan.name == "dask" and kind == "decimal":
        pytest.skip("pandas has decimals as objects")
    rng, columns = np.random.default_rng(3), draw_columns()
    columns |= {name: NUMBERS[kind](rng.integers(0, 5, N_ROWS)) for name in "ysw"}
    plain = {name: np.asarray(column).astype(float) for name, column in columns.items()}
    assert_score_of_arrays(scan(columns), plain, k=5, sample_weight="w")


def test_sample_weight_that_is_0_in_whole_passes(any_engine):
    columns = draw_columns()
    columns["w"] = np.where(columns["q"] == columns["q"][columns["y"].argmax()], 2.5, 0.0)
    options = {"sample_weight": "w", "undefined": "omit"}
    assert_score_of_arrays(any_engine(columns), columns, **options)
    columns["w"] = np.zeros(N_ROWS)
    with pytest.raises(ValueError, match="sample_weight is 0"):
        ndcg_score(any_engine(columns), **COLUMNS, **options, working_memory=memory_of(7))


@pytest.mark.parametrize("scale", [1e300, 1e-305])
def test_sample_weight_of_any_size(any_engine, scale):
    columns = draw_columns()
    columns["w"] = columns["w"] * scale * np.where(columns["q"] % 2, 1, 1e-9)
    assert_score_of_arrays(any_engine(columns), columns, sample_weight="w", undefined=0.5)


COLLATED = """
select case when i % 2 = 0 then 'a' else 'A' end collate {} as q, i % 3 as y,
1.0 * (i * 7 % 30) as s from {}
"""


def assert_queries(table, ids, memory):
    """The table has these queries, all of the same length."""
    arguments = COLUMNS | {"working_memory": memory}
    rows = result_rows(ndcg_by_query(table, **arguments))
    assert [row[:2] for row in rows] == [(query, 30 // len(ids)) for query in ids]
    mean = np.mean([row[-1] for row in rows])
    assert ndcg_score(table, **arguments) == pytest.approx(mean, rel=1e-14)


@pytest.mark.parametrize("memory", [None, 0.002], ids=["one pass", "passes"])
def test_a_collation_does_not_make_one_query_of_two(memory):
    connection = pytest.importorskip("duckdb").connect()
    relation = connection.sql(COLLATED.format("nocase", "range(30) t(i)"))
    assert len(relation.query("rows", "select q from rows group by q")) == 1
    assert_queries(relation, ["A", "a"], memory)
    assert_queries(relation.project("lower(q) as q, y, s"), ["a"], memory)


@pytest.mark.ci
@pytest.mark.parametrize("memory", [None, 0.002], ids=["default", "partitions"])
def test_a_collation_of_spark_does_not_make_one_query_of_two(spark, memory):
    table = spark.sql(COLLATED.format("UTF8_LCASE", "(select id as i from range(30))"))
    assert table.groupBy("q").count().count() == 1
    assert_queries(table, ["A", "a"], memory)


@pytest.mark.parametrize("keeps_order", [True, False])
@pytest.mark.parametrize("rule", [{"ties": "stable"}, {"ignore_ties": True}], ids=str)
def test_rules_that_need_an_order_of_rows_in_duckdb(rule, keeps_order):
    config = {"preserve_insertion_order": str(keeps_order)}
    connection = pytest.importorskip("duckdb").connect(config=config)
    rows = connection.sql("select * from (values (1, 1, 0.5::double), (1, 0, 0.5)) t(q, y, s)")
    if keeps_order:
        assert ndcg_score(rows, **COLUMNS, **rule) == 1
    else:
        with pytest.raises(ValueError, match="preserve_insertion_order=true"):
            ndcg_score(rows, **COLUMNS, **rule)
    assert ndcg_score(rows, **COLUMNS) < 1


# --- faults midway


def test_an_engine_that_fails_midway(scan, tmp_path, monkeypatch):
    if scan.name == "dask":
        pytest.skip("Dask reads its files once")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    table = scan(draw_columns())

    def gain(relevance):  # in the first pass
        (tmp_path / "rows0" / "2.parquet").write_bytes(b"overwritten" * 1000)
        return relevance

    with pytest.raises(BaseException) as caught:  # noqa: PT011  # Polars raises a BaseException
        ndcg_score(table, **COLUMNS, gain=gain, working_memory=memory_of(7))
    [note] = caught.value.__notes__
    assert re.search(r"This was pass 2 of 7 over the table: \d\d\d of its 3,000 rows", note)
    assert list((tmp_path / "work").iterdir()) == []


def test_an_error_of_the_first_pass_says_so(scan):
    with pytest.raises(ValueError, match="gain has no entry") as caught:
        ndcg_score(scan(draw_columns()), **COLUMNS, gain=[0, 1], working_memory=memory_of(7))
    [note] = caught.value.__notes__
    assert re.search(r"pass 1 of 7 .*: 0 of its 3,000 rows|3,000 rows .* divided into", note)


def test_rows_that_change_and_stay_as_many(tmp_path):
    polars = pytest.importorskip("polars")
    shifts = iter(range(100))  # of the ids, when rows are counted, and in each pass

    def read(rows):
        return rows.with_columns(q=(rows["i"] + next(shifts)) % 50)

    rows = polars.LazyFrame({"i": range(3000), "y": [1] * 3000, "s": np.arange(3000.0)})
    schema = {"i": polars.Int64, "y": polars.Int64, "s": polars.Float64, "q": polars.Int64}
    drawn = rows.map_batches(read, schema=schema)
    with pytest.raises(RuntimeError, match="drawn at random, write it to a file") as caught:
        ndcg_score(drawn, **COLUMNS, working_memory=memory_of(2))
    assert not hasattr(caught.value, "__notes__")  # of the pass, as all were read
    assert ndcg_score(drawn, **COLUMNS) == 1  # a single pass is not affected
    drawn.sink_parquet(tmp_path / "rows.parquet")
    written = polars.scan_parquet(tmp_path / "rows.parquet")
    assert ndcg_score(written, **COLUMNS, working_memory=memory_of(2)) == 1


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_in_the_middle(scan):
    columns, n_calls = draw_columns(), iter(range(100))

    def gain(relevance):
        if next(n_calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return relevance

    table, options = scan(columns), {"gain": gain, "undefined": 0.0}
    with pytest.raises(KeyboardInterrupt):
        ndcg_score(table, **COLUMNS, **options, working_memory=memory_of(8))
    assert_score_of_arrays(table, columns, 8, **options)


# --- clusters

ON_CLUSTERS = {
    "callables": {"gain": lambda y: y**1.5, "discount": lambda ranks: ranks**-0.7},
    "a sequence": {"gain": [0, 1, 3, 7, 20], "ties": "worst", "sample_weight": "w"},
}


@pytest.mark.parametrize("options", ON_CLUSTERS.values(), ids=ON_CLUSTERS)
@pytest.mark.parametrize("memory", [None, memory_of(5)], ids=["default", "partitions"])
def test_a_cluster_gives_the_value_of_arrays(cluster, options, memory):
    columns = draw_columns()
    columns["day"] = [f"day {i % 7}" for i in columns["q"]]
    arguments = COLUMNS | {"groups": ["day", "q"], "working_memory": memory, "undefined": 0.5}
    mean = ndcg_score(cluster(columns), **arguments, **options, k=20)
    expected = expected_score(columns, undefined=0.5, **options, k=20)
    assert mean == pytest.approx(expected, rel=1e-14)


def test_a_worker_with_another_version(cluster, monkeypatch):
    table = cluster(draw_columns())
    monkeypatch.setattr(sklearn_ndcg, "__version__", "0.0.9")
    with pytest.raises(ImportError, match=r"Every worker needs sklearn_ndcg 0\.0\.9.*one has 0\.1"):
        ndcg_score(table, **COLUMNS)


def test_an_error_of_a_worker_is_the_local_one(cluster):
    table = cluster(draw_columns() | {"y": np.arange(N_ROWS)})
    with pytest.raises(ValueError, match=r"gain has no entry for") as caught:
        ndcg_score(table, **COLUMNS, gain=np.arange(5))
    assert "3,000 rows of the table were divided into" in caught.value.__notes__[-1]


def test_a_task_says_what_a_worker_lacks(monkeypatch):
    cloudpickle = pytest.importorskip("cloudpickle")
    sent = cloudpickle.dumps(portable(sum_part, {}, {"gain": abs}))
    needed = f"Every worker needs sklearn_ndcg {sklearn_ndcg.__version__}.*one has none"
    monkeypatch.setitem(sys.modules, "sklearn_ndcg", None)
    with pytest.raises(ImportError, match=needed):
        pickle.loads(sent)(None)  # noqa: S301


@pytest.mark.ci
@pytest.mark.parametrize("index", [None, [0.0, np.nan], [False, True], [7, 7], [0, 10**9]], ids=str)
def test_dask_divides_large_partitions_by_rows_before_the_shuffle(index, monkeypatch):
    dask, frame, handed_over = pytest.importorskip("dask"), pd.DataFrame(draw_columns()), []
    hashes = pd.util.hash_pandas_object

    def spy(rows, *args, **options):
        handed_over.append(len(rows))
        return hashes(rows, *args, **options)

    if index:
        frame.index = pd.Index(index).take(np.arange(len(frame)) * 2 // len(frame))
    table = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=1)
    monkeypatch.setattr(pd.util, "hash_pandas_object", spy)
    options = COLUMNS | {"undefined": 0}
    with dask.config.set(scheduler="synchronous"):
        mean = ndcg_score(table, **options, working_memory=len(frame) * 144 / 2**20)
    assert mean == pytest.approx(ndcg_score(frame, **options))
    assert max(handed_over) <= np.ceil(len(frame) / 4)


@pytest.mark.ci
def test_equal_decimals_of_a_dask_column_are_one_query():
    ids = [Decimal(text) for text in ("1.0", "2.0", "3", "4", "1.00", "2.00", "3.0", "4.0")]
    frame = pd.DataFrame({"q": pd.Series(ids, dtype=object), "y": [1] * 4 + [0] * 4, "s": 1.0})
    dask = pytest.importorskip("dask")
    with dask.config.set({"dataframe.convert-string": False}):  # keeps objects
        table = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)
        rows = result_rows(ndcg_by_query(table, **COLUMNS))
    assert [n for _, n, *_ in rows] == [2] * 4


# the last one, as the cluster has to start its workers again
def test_a_worker_that_is_always_killed_is_the_error_of_the_engine(cluster):
    columns, main = draw_columns(), os.getpid()

    def gain(relevance):
        if os.getpid() != main:
            os.kill(os.getpid(), signal.SIGKILL)
        return relevance

    table = cluster(columns)
    with pytest.raises(Exception, match=r"(?i)died|crashed|lost"):
        ndcg_score(table, **COLUMNS, undefined=0.0, working_memory=memory_of(4), gain=gain)
    assert_score_of_arrays(table, columns, 4)
