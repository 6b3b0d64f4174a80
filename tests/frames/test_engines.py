"""NDCG of a lazy table in passes of whole queries: the value of one pass, whatever the table."""

import datetime
import os
import pickle
import re
import signal
import sys
from decimal import Decimal

import numpy as np
import pytest
import sklearn
from helpers import result_rows
from sklearn.exceptions import UndefinedMetricWarning

import sklearn_ndcg
from sklearn_ndcg import CONVENTIONS

nw = pytest.importorskip("narwhals.stable.v2", reason="the extra `frames` is not installed")
pa = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")
from sklearn_ndcg.frames import ndcg_by_query, ndcg_score  # noqa: E402
from sklearn_ndcg.frames._parts import portable, sum_part  # noqa: E402

COLUMNS = {"y_true": "y", "y_score": "s", "groups": "q"}
N_ROWS = 3000


@pytest.fixture
def scan(request, tmp_path):
    """A function that writes columns to three files, and returns a lazy table of them."""
    engine = request.param
    if engine in {"duckdb", "dataset"}:  # DuckDB reads datasets too
        pytest.importorskip("duckdb")
    names = {"dataset": "pyarrow", "dask": "dask.dataframe"}
    library = pytest.importorskip(names.get(engine, engine))

    def write_and_scan(columns):
        table, folder = pa.table(columns), tmp_path / f"rows{len(list(tmp_path.glob('rows*')))}"
        folder.mkdir()
        third = len(table) // 3 + 1
        for i in range(3):
            parquet.write_table(table.slice(i * third, third), folder / f"{i}.parquet")
        files = str(folder / "*.parquet")
        if engine == "dataset":
            return dataset.dataset(folder)
        return library.scan_parquet(files) if engine == "polars" else library.read_parquet(files)

    write_and_scan.engine = engine
    write_and_scan.part_noun = "partition" if engine == "dask" else "pass"
    return write_and_scan


def memory_of(n_passes, n_rows=N_ROWS):
    """A working memory with which the rows are read in about this number of passes."""
    return n_rows * 144 / 2**20 / (n_passes - 0.5)


def draw_columns(seed=0, n_queries=200):
    rng = np.random.default_rng(seed)
    q = rng.integers(0, n_queries, N_ROWS) ** 2 - 7
    y = rng.integers(0, 5, N_ROWS) * rng.integers(0, 2, n_queries**2)[q + 7]
    s = rng.choice([0.5, 1, 2, 3.25, -np.inf], N_ROWS)
    return {"y": y, "s": s, "q": q, "w": rng.random(N_ROWS)}


def by_arrays(columns, sample_weight=None, **options):
    options |= {} if sample_weight is None else {"sample_weight": columns[sample_weight]}
    return sklearn_ndcg.ndcg_score(columns["y"], columns["s"], groups=columns["q"], **options)


def assert_value_of_arrays(table, columns, n_passes=6, rel=1e-15, names=None, **options):
    """The table that was made of these columns has their NDCG, in about so many passes."""
    options = {"undefined": 0.0} | options
    names, memory = COLUMNS | (names or {}), memory_of(n_passes)
    found = ndcg_score(table, **names, **options, working_memory=memory)
    assert found == pytest.approx(by_arrays(columns, **options), rel=rel)


def clipped(relevance):
    return np.minimum(relevance, 3)


OPTIONS = [
    {},
    {"k": "retrieved", "undefined": "omit"},
    {"gain": clipped, "discount": sklearn_ndcg.jarvelin_kekalainen(b=3), "k": 20},
    {"ties": "stable", "k": 5, "sample_weight": "w"},
    {"ties": "worst", "gain": [0, 1, 3, 7, 20], "undefined": 0.3},
    {"ignore_ties": True, "sample_weight": "w", "undefined": "omit"},
    *(dict(CONVENTIONS[name]) | {"k": 10} for name in ("lightgbm", "catboost", "trec_eval")),
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: str(options).split(" at 0x")[0])
def test_every_option_gives_the_value_of_arrays_in_any_number_of_passes(scan, options):
    columns = draw_columns()
    table = scan(columns)
    if scan.engine == "dask" and (options.get("ties") == "stable" or options.get("ignore_ties")):
        pytest.skip("which is refused: test_ties_stable_and_ignore_ties_need_the_order_of_rows")
    for n_passes in (1, 7):
        assert_value_of_arrays(table, columns, n_passes, **options)


def test_verbose_prints_each_pass(scan, capsys):
    columns = draw_columns()
    with sklearn.config_context(working_memory=memory_of(5)):
        ndcg_score(scan(columns), **COLUMNS, undefined=0, verbose=True)
    lines = capsys.readouterr().out.splitlines()
    n = 18 if scan.engine == "dask" else 5  # its workers hold four copies of a row
    pattern = rf"\[ndcg_score\] {scan.part_noun} (\d+) of {n}: ([\d,]+) of 3,000 rows, \d\d?\.\d s"
    found = [re.fullmatch(pattern, line).groups() for line in lines]
    assert [int(number) for number, _ in found] == list(range(1, n + 1))
    done = [int(rows.replace(",", "")) for _, rows in found]
    assert done[-1] == N_ROWS
    assert max(np.diff(done, prepend=0)) < N_ROWS / 2  # no pass has most of the rows
    ndcg_score(scan(columns), **COLUMNS, undefined=0, verbose=True)
    n = 3 if scan.engine == "dask" else 1  # as many as there are files
    assert f"{scan.part_noun} {n} of {n}: 3,000 of 3,000 rows" in capsys.readouterr().out


KEYS = {
    "text": lambda q: [f"user {i}" for i in q],
    "text with a NUL": lambda q: ["id\0" + "\0" * (i % 3) + str(i) for i in q],
    "date": lambda q: [datetime.date(1970, 1, 1) + datetime.timedelta(int(i)) for i in q],
    "timestamp": lambda q: q.astype("M8[s]"),
    "float": lambda q: np.where(q % 2, q / 4, np.where(q % 3, -0.0, 0.0)),
    "decimal": lambda q: pa.array([Decimal(int(i)) / 4 for i in q], pa.decimal128(25, 2)),
    # which Polars reads as categories, numbered anew in each file
    "dictionary": lambda q: pa.array([f"user {i}" for i in q]).dictionary_encode(),
    "one large query": lambda q: np.where(q < 5000, 1, q),
    "one query": np.zeros_like,
    "int8": lambda q: (q % 100).astype(np.int8),
    "uint64": lambda q: q.astype(np.uint64) << np.uint64(40),
}


@pytest.mark.parametrize("kind", KEYS)
def test_groups_of_any_kind(scan, kind):
    columns = draw_columns()
    columns["q"] = KEYS[kind](columns["q"])
    assert_value_of_arrays(scan(columns), columns, k=7)


def test_groups_of_equal_columns_do_not_cancel_in_the_hash(scan, capsys):
    columns = draw_columns()
    columns["same"] = columns["q"]
    arguments = COLUMNS | {"groups": ["q", "same"], "working_memory": memory_of(6)}
    found = ndcg_score(scan(columns), **arguments, undefined=0.0, verbose=True)
    assert found == pytest.approx(by_arrays(columns, undefined=0.0), rel=1e-15)
    done = re.findall(r": ([\d,]+) of", capsys.readouterr().out)
    done = [int(rows.replace(",", "")) for rows in done]
    assert max(np.diff(done, prepend=0)) < N_ROWS / 2


def test_undefined_warns_once_of_all_passes(scan):
    columns = draw_columns()
    with pytest.warns(UndefinedMetricWarning) as expected:
        value = by_arrays(columns)
    with pytest.warns(UndefinedMetricWarning) as caught:
        found = ndcg_score(scan(columns), **COLUMNS, working_memory=memory_of(7))
    assert found == pytest.approx(value, rel=1e-15)
    [warning] = [item for item in caught if item.category is UndefinedMetricWarning]
    assert str(warning.message) == str(expected[0].message)
    assert warning.filename == __file__


def test_undefined_raise_counts_the_queries_of_all_passes(scan):
    columns = draw_columns()
    with pytest.raises(ValueError, match="NDCG is undefined for") as expected:
        by_arrays(columns, undefined="raise")
    arguments = COLUMNS | {"undefined": "raise", "working_memory": memory_of(7)}
    with pytest.raises(ValueError, match="NDCG is undefined for") as caught:
        ndcg_score(scan(columns), **arguments)
    assert str(caught.value) == str(expected.value)
    with pytest.raises(Exception, match="NDCG is undefined for") as caught:
        result_rows(ndcg_by_query(scan(columns), **arguments))
    is_lazy = scan.engine in {"polars", "dask"}  # the first part with some raises
    assert (str(expected.value) in str(caught.value)) is not is_lazy


def test_sample_weight_that_is_0_in_whole_passes(scan):
    columns = draw_columns()
    columns["w"] = np.where(columns["q"] == columns["q"][columns["y"].argmax()], 2.5, 0.0)
    options = {"sample_weight": "w", "undefined": "omit"}
    assert_value_of_arrays(scan(columns), columns, **options)
    columns["w"] = np.zeros(N_ROWS)
    with pytest.raises(ValueError, match="sample_weight is 0 for every query"):
        ndcg_score(scan(columns), **COLUMNS, **options, working_memory=memory_of(7))


@pytest.mark.parametrize("scale", [1e300, 1e-305])
def test_sample_weight_of_any_size(scan, scale):
    columns = draw_columns()
    columns["w"] = columns["w"] * scale * np.where(columns["q"] % 2, 1, 1e-9)
    assert_value_of_arrays(scan(columns), columns, rel=1e-14, sample_weight="w", undefined=0.5)


WRONG = {
    "score": ("s", [np.nan, None, np.inf], {}, "y_score must be finite, or -inf.*found 3 NaN or .inf"),
    "relevance": ("y", [np.nan, None, np.nan], {}, "y_true has 3 NaN"),
    "infinite": ("y", [None, np.inf, 1], {"unjudged": "zero"}, "y_true must be finite, but has 1 inf"),
    "weight": ("w", [-1, None, 0.5], {"sample_weight": "w"}, "sample_weight must be.*: 2 such weights"),
    "endless": ("w", [0, np.nan, np.inf], {"sample_weight": "w"}, "sample_weight must be.*: 2 such"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_rows_are_counted_in_the_whole_table(scan, case):
    name, values, options, message = WRONG[case]
    columns, wrong = draw_columns(), [10, 1500, 2900]
    listed = columns[name].astype(float).tolist()
    for row, value in zip(wrong, values, strict=True):
        listed[row] = value
    table = scan(columns | {name: listed})
    with pytest.raises(ValueError, match=message) as caught:
        ndcg_score(table, **COLUMNS, **options, undefined=0, working_memory=memory_of(7))
    query = int(re.search(r"in query (-?\d+)", str(caught.value))[1])
    assert query in columns["q"][wrong]


def test_groups_with_missing_ids_are_counted_in_all_passes(scan):
    columns = draw_columns()
    columns["day"] = [None if i in {7, 2000} else i % 3 for i in range(N_ROWS)]
    arguments = COLUMNS | {"groups": ["q", "day"], "working_memory": memory_of(7)}
    with pytest.raises(ValueError, match=r"groups \(q, day\) has 2 missing ids"):
        ndcg_score(scan(columns), **arguments)
    columns["q"] = np.where(columns["q"] == columns["q"][0], np.nan, columns["q"])
    n = np.isnan(columns["q"]).sum()
    with pytest.raises(ValueError, match=f"has {n} missing ids"):
        ndcg_score(scan(columns), **COLUMNS, working_memory=memory_of(7))


def test_an_engine_that_fails_midway(scan, tmp_path, monkeypatch):
    if scan.engine == "dask":
        pytest.skip("Dask reads its files once")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    table = scan(draw_columns())

    def gain(relevance):  # in the first pass
        (tmp_path / "rows0" / "2.parquet").write_bytes(b"overwritten" * 1000)
        return relevance

    with pytest.raises(BaseException) as caught:  # noqa: PT011  # Polars raises a BaseException
        ndcg_score(table, **COLUMNS, gain=gain, working_memory=memory_of(7))
    [note] = caught.value.__notes__
    assert re.search(r"This was pass 2 of 7 over the table: \d\d\d of its 3,000 rows", note)
    assert list(work.iterdir()) == []


def test_a_table_that_changes_while_it_is_read():
    connection = pytest.importorskip("duckdb").connect()
    connection.execute("create table t as select i % 50 q, i % 3 y, i s from range(3000) r(i)")

    def gain(relevance):
        connection.cursor().execute("insert into t select * from t limit 100")
        return relevance

    with pytest.raises(RuntimeError, match=r"3,000 rows when .*, and 3,\d+ in 7 passes\. If"):
        ndcg_score(connection.table("t"), **COLUMNS, gain=gain, working_memory=memory_of(7))


def test_rows_that_change_and_stay_as_many():
    pl = pytest.importorskip("polars")
    ids = iter(range(100))  # of the table when rows are counted, and in each pass

    def scan(rows):
        return rows.with_columns(q=(rows["i"] + next(ids)) % 50)

    rows = pl.LazyFrame({"i": range(3000), "y": [1] * 3000, "s": np.arange(3000.0)})
    schema = {"i": pl.Int64, "y": pl.Int64, "s": pl.Float64, "q": pl.Int64}
    drawn = rows.map_batches(scan, schema=schema)
    with pytest.raises(RuntimeError, match="drawn at random, write it to a file"):
        ndcg_score(drawn, **COLUMNS, working_memory=memory_of(2))
    assert ndcg_score(drawn, **COLUMNS) == 1  # a single pass is not affected


@pytest.mark.parametrize("keeps_order", [True, False])
def test_ties_stable_needs_an_order_of_rows(keeps_order):
    config = {"preserve_insertion_order": str(keeps_order)}
    connection = pytest.importorskip("duckdb").connect(config=config)
    rows = connection.sql("select * from (values (1, 1, 0.5::double), (1, 0, 0.5)) t(q, y, s)")
    if keeps_order:
        assert ndcg_score(rows, **COLUMNS, ties="stable") == 1
    else:
        with pytest.raises(ValueError, match="preserve_insertion_order=true"):
            ndcg_score(rows, **COLUMNS, ties="stable")
    assert ndcg_score(rows, **COLUMNS) < 1


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "1 GB", True])
def test_working_memory_is_checked(value):
    with pytest.raises(ValueError, match="working_memory must be a number of MiB above 0"):
        ndcg_score(pa.table(draw_columns()), **COLUMNS, working_memory=value)


def test_working_memory_is_divided_among_fewer_rows_if_groups_are_texts(scan, capsys):
    columns = draw_columns()
    arguments, n = COLUMNS | {"undefined": 0.0, "working_memory": memory_of(7)}, []
    for q in (columns["q"], [str(i) for i in columns["q"]]):
        ndcg_score(scan(columns | {"q": q}), **arguments, verbose=True)
        n.append(len(capsys.readouterr().out.splitlines()))
    assert n[0] < n[1] < 2 * n[0]


COLLATED = """
select case when i % 2 = 0 then 'a' else 'A' end collate {} as q, i % 3 as y, 1.0 * (i * 7 % 30) as s
from {}
"""


def check_that_ids_keep_their_case(table, ids=("A", "a")):
    for memory in (None, 0.002):
        arguments = COLUMNS | {"working_memory": memory}
        found = result_rows(ndcg_by_query(table, **arguments))
        assert [row[:2] for row in found] == [(id_, 30 // len(ids)) for id_ in ids]
        mean = np.mean([row[-1] for row in found])
        assert ndcg_score(table, **arguments) == pytest.approx(mean, rel=1e-14)


def test_a_collation_does_not_make_one_query_of_two():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    relation = connection.sql(COLLATED.format("nocase", "range(30) t(i)"))
    assert len(relation.query("rows", "select q from rows group by q")) == 1
    check_that_ids_keep_their_case(relation)
    check_that_ids_keep_their_case(relation.project("lower(q) as q, y, s"), ["a"])


@pytest.mark.ci
def test_a_collation_of_spark_does_not_make_one_query_of_two(spark):
    table = spark.sql(COLLATED.format("UTF8_LCASE", "(select id as i from range(30))"))
    assert table.groupBy("q").count().count() == 1
    check_that_ids_keep_their_case(table)


@pytest.mark.parametrize("n_passes", [1, 7])
def test_by_query_in_any_number_of_passes(scan, n_passes, capsys):
    columns = draw_columns()
    y, s, q, _ = columns.values()
    columns["day"] = q // 13
    values = sklearn_ndcg.ndcg_samples(y, s, groups=q, undefined=0.5)
    ids, counts = np.unique(q, return_counts=True)
    arguments = COLUMNS | {"groups": ["q", "day"], "working_memory": memory_of(n_passes)}
    found = result_rows(ndcg_by_query(scan(columns), **arguments, undefined=0.5, verbose=True))
    assert [row[:3] for row in found] == list(zip(ids, ids // 13, counts, strict=True))
    assert [row[-1] for row in found] == pytest.approx(values.tolist(), rel=1e-14)
    said = f"pass {n_passes} of {n_passes}"
    if scan.engine == "dask":  # of 3 partitions
        said = f"[ndcg_by_query] {3 if n_passes == 1 else 27} partitions"
    assert said in capsys.readouterr().out.splitlines()[-1]


NUMBERS = {
    "int": lambda x: x.astype(np.int16),
    "float32": lambda x: x.astype(np.float32),
    "bool": lambda x: x > 1,
    "decimal": lambda x: pa.array([Decimal(int(i)) / 2 for i in x], pa.decimal128(20, 1)),
    "with nulls": lambda x: pa.array(x.tolist(), pa.float64(), mask=x == 3),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_grades_scores_and_weights_of_any_kind(scan, kind):
    if scan.engine == "dask" and kind == "decimal":
        pytest.skip("pandas has decimals as objects")
    rng, columns = np.random.default_rng(3), draw_columns()
    columns |= {name: NUMBERS[kind](rng.integers(0, 5, N_ROWS)) for name in "ysw"}
    if kind == "with nulls":
        columns |= {"s": columns["y"].fill_null(0), "w": rng.random(N_ROWS)}
    plain = {name: np.asarray(pa.array(values).cast("double")) if kind != "bool" else values
             for name, values in columns.items()}  # fmt: skip
    options = {"k": 5, "unjudged": "omit", "sample_weight": "w"}
    assert_value_of_arrays(scan(columns), plain, rel=1e-14, **options)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_in_the_middle(scan):
    columns, seen = draw_columns(), []

    def gain(relevance):
        seen.append(relevance)
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)
        return relevance

    table, options = scan(columns), {"gain": gain, "undefined": 0.0}
    with pytest.raises(KeyboardInterrupt):
        ndcg_score(table, **COLUMNS, **options, working_memory=memory_of(8))
    assert_value_of_arrays(table, columns, 8, rel=1e-14, **options)


def tables_on_a_cluster(request, client):
    """A function that makes a table, whose workers are other processes, from columns."""
    if request.param == "pyspark":
        yield request.getfixturevalue("spark").createDataFrame
    else:
        frame = pytest.importorskip("dask.dataframe")
        with request.getfixturevalue(client).as_current():
            yield lambda arrow: frame.from_pandas(arrow.to_pandas(), npartitions=3)


@pytest.fixture
def cluster(request):
    yield from tables_on_a_cluster(request, "client")


@pytest.fixture
def own_cluster(request):
    """For tests that kill workers: no other test uses this cluster of Dask."""
    yield from tables_on_a_cluster(request, "own_client")


def test_a_cluster_gives_the_value_of_arrays(cluster):
    columns = draw_columns()
    columns["day"] = [f"day {i % 7}" for i in columns["q"]]
    table, names = cluster(pa.table(columns)), COLUMNS | {"groups": ["day", "q"]}
    gain, discount = {0: 0, 1: 1, 2: 3, 3: 7, 4: 20}, sklearn_ndcg.jarvelin_kekalainen(b=3)
    for options in (
        {"gain": lambda y: y**1.5, "discount": discount, "k": 20},
        {"ties": "worst", "gain": gain, "sample_weight": "w"},
    ):
        expected = by_arrays(columns, undefined=0.5, **options)
        for memory in (None, memory_of(5)):
            found = ndcg_score(table, **names, **options, undefined=0.5, working_memory=memory)
            assert found == pytest.approx(expected, rel=1e-14)


CLUSTER_KEYS = ["text", "date", "timestamp", "float", "decimal", "one query", "int8"]


def test_groups_of_any_kind_on_a_cluster(cluster):
    columns = draw_columns()
    columns |= {kind: KEYS[kind](columns["q"]) for kind in CLUSTER_KEYS}
    table = cluster(pa.table(columns))
    for kind in CLUSTER_KEYS:
        ids = columns[kind].to_pylist() if kind == "decimal" else columns[kind]
        y, s = columns["y"], columns["s"]
        expected = sklearn_ndcg.ndcg_samples(y, s, groups=ids, undefined=0)
        arguments = COLUMNS | {"groups": kind, "undefined": 0}
        arguments |= {"working_memory": memory_of(4)} if kind == "text" else {}
        found = result_rows(ndcg_by_query(table, **arguments))
        values = sorted(row[-1] for row in found)  # Dask makes text of decimals
        assert values == pytest.approx(sorted(expected), abs=1e-12), kind


def test_a_worker_that_is_killed_in_the_middle(own_cluster, tmp_path):
    columns, mark = draw_columns(), str(tmp_path / "killed")

    def gain(relevance):
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            pass
        return relevance

    assert_value_of_arrays(own_cluster(pa.table(columns)), columns, 4, rel=1e-14, gain=gain)
    assert os.path.exists(mark)


def test_a_worker_that_is_always_killed_is_the_error_of_the_engine(own_cluster):
    columns, main = draw_columns(), os.getpid()

    def gain(relevance):
        if os.getpid() != main:
            os.kill(os.getpid(), signal.SIGKILL)
        return relevance

    table = own_cluster(pa.table(columns))
    with pytest.raises(Exception, match=r"(?i)died|crashed|lost"):
        ndcg_score(table, **COLUMNS, undefined=0.0, working_memory=memory_of(4), gain=gain)
    assert_value_of_arrays(table, columns, 4, rel=1e-14)


def test_a_worker_with_another_version(cluster, monkeypatch):
    table = cluster(pa.table(draw_columns()))
    monkeypatch.setattr(sklearn_ndcg, "__version__", "0.0.9")
    with pytest.raises(ImportError, match=r"Every worker needs sklearn_ndcg 0\.0\.9.*one has 0\.1"):
        ndcg_score(table, **COLUMNS)


def test_an_error_of_a_worker_is_the_local_one(cluster):
    table = cluster(pa.table(draw_columns() | {"y": np.arange(N_ROWS)}))
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


def test_by_query_of_a_dataset_is_a_relation():
    duckdb = pytest.importorskip("duckdb")
    table = dataset.dataset(pa.table(draw_columns()))
    found = ndcg_by_query(table, **COLUMNS, undefined=0)
    assert isinstance(found, duckdb.DuckDBPyRelation)
    assert len(found) == 200
