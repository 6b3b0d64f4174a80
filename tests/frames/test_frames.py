"""NDCG inside dataframe engines: all give the same table, and lazy ones stay lazy."""

import sys
from contextlib import suppress
from decimal import Decimal
from importlib import import_module
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from helpers import ragged_rows, result_rows
from sklearn.exceptions import UndefinedMetricWarning

import sklearn_ndcg

nw = pytest.importorskip("narwhals.stable.v2", reason="the extra `frames` is not installed")
pa = pytest.importorskip("pyarrow")
from sklearn_ndcg.frames import ndcg_by_query, ndcg_score  # noqa: E402

COLUMNS = {"y_true": "y", "y_score": "s", "groups": "q"}


def same(found, expected):
    flat = [[value for row in table for value in row] for table in (found, expected)]
    return flat[0] == pytest.approx(flat[1], abs=1e-12)


def draw_columns(seed=0):
    y, s, q = ragged_rows(seed, n_queries=30, longest=25)
    return {"y": y, "s": s, "q": q, "w": np.random.default_rng(seed).random(len(y))}


OPTIONS = [
    {},
    {"k": 5, "gain": "exponential"},
    {"discount": "reciprocal", "gain": [0, 1, 1, 5, 9.5]},
    {"discount": "none", "gain": {0: 0, 1: 1.5, 2: 2, 3: 4, 4: 4}, "k": 3},
    {"ties": "worst", "k": 7},
    {"ties": "best", "undefined": "omit"},
    {"undefined": 1.0, "gain": np.arange(5.0)},
    {"gain": lambda y: y**3, "discount": lambda rank: 1 / np.sqrt(rank), "k": 4},
    {"discount": sklearn_ndcg.jarvelin_kekalainen(b=3), "unjudged": "omit"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: str(options).split(" at 0x")[0])
def test_the_same_table_from_every_engine(engine, options):
    columns = draw_columns(seed=OPTIONS.index(options))
    y, s, q, w = columns.values()
    options = {"undefined": 0.0} | options
    by_rank = {name: value for name, value in options.items() if name != "undefined"}
    found = result_rows(ndcg_by_query(engine(columns), **COLUMNS, **options))
    ids, counts = np.unique(q, return_counts=True)
    dcg = sklearn_ndcg.dcg_samples(y, s, groups=q, **by_rank)
    ndcg = sklearn_ndcg.ndcg_samples(y, s, groups=q, **options)
    values = {"q": ids, "n": counts, "dcg": dcg, "ideal": ideals(y, q, **by_rank), "ndcg": ndcg}
    assert same(found, result_rows(pd.DataFrame(values)))
    for name, weight in ((None, None), ("w", w)):
        expected = sklearn_ndcg.ndcg_score(y, s, groups=q, sample_weight=weight, **options)
        mean = ndcg_score(engine(columns), **COLUMNS, sample_weight=name, **options)
        assert mean == pytest.approx(expected, abs=1e-12)


def ideals(y, q, gain=None, ties=None, **options):
    best = [gain[grade] for grade in y] if isinstance(gain, list | dict) else y
    options |= {} if gain is None else {"gain": gain}
    return sklearn_ndcg.dcg_samples(y, best, groups=q, **options)


def test_columns_and_engine_of_the_result(engine):
    columns = draw_columns()
    frame = engine(columns)
    found = ndcg_by_query(frame, **COLUMNS, undefined=0.0)
    assert type(found) is type(frame)
    found = found.compute() if engine.name == "dask" else found
    names = nw.from_native(found).collect_schema()
    assert list(names) == ["q", "n_documents", "dcg", "ideal_dcg", "ndcg"]
    assert [str(kind) for kind in names.values()] == ["Int64", "Int64", *["Float64"] * 3]


def test_groups_that_are_unique_per_row_warn(engine):
    frame = engine({"q": [1, 2, 2, 3, 4], "y": [1] * 5, "s": [0.5] * 5})
    with pytest.warns(UserWarning, match=r"3 of the 4 queries \(75%\) have a single document"):
        ndcg_score(frame, **COLUMNS)
    assert ndcg_score(engine({"q": [1], "y": [1], "s": [1]}), **COLUMNS) == 1


INVALID = {
    "null score": ("s", None, "raise"),
    "nan score": ("s", np.nan, "raise"),
    "infinite score": ("s", np.inf, "raise"),
    "null relevance": ("y", None, "raise"),
    "nan relevance": ("y", np.nan, "raise"),
    "infinite relevance": ("y", np.inf, "zero"),
}


@pytest.mark.parametrize("case", INVALID)
def test_a_query_with_an_invalid_row_is_null(engine, case):
    column, value, unjudged = INVALID[case]
    columns = {"q": [1, 1, 2, 2, 3], "y": [1.0, 0, 2, 1, 0], "s": [0.0, 1, 2, 1, 0]}
    columns[column] = [*columns[column][:2], value, *columns[column][3:]]
    frame = engine(columns)
    options = {"unjudged": unjudged, "undefined": 0.5}
    found, first = result_rows(ndcg_by_query(frame, **COLUMNS, **options)), 1 / np.log2(3)
    assert same(found, [(1, 2, first, 1, first), (2, 2, None, None, None), (3, 1, 0, 0, 0.5)])
    name = {"s": "y_score", "y": "y_true"}[column]
    with pytest.raises(
        ValueError, match=rf"^Input {name} contains .*: 1 [a-zA-Z+ ]*, in query 2\."
    ):
        ndcg_score(frame, **COLUMNS, **options)


NO_GAIN = {
    "negative": ({"y": [1.0, -1, 1]}, {}, "negative y_true values"),
    "negative, from a table": ({"y": [1, 0, 1]}, {"gain": np.array([-1, 1])}, "negative .* gain"),
    "not in a mapping": ({"y": [0.5, 3, 0.5]}, {"gain": {0.5: 1, 7: 2}}, "gain has no entry"),
    "too large": ({"y": [1e4, 1, 1]}, {"gain": "exponential"}, "gain must be finite"),
}


@pytest.mark.parametrize("case", NO_GAIN)
def test_a_relevance_without_a_gain_is_an_error_in_every_engine(engine, case):
    columns, options, message = NO_GAIN[case]
    frame = engine({"q": [1, 1, 2], "s": [0.0, 1, 2]} | columns)
    with pytest.raises(ValueError, match=message):
        ndcg_score(frame, **COLUMNS, **options)
    if engine.name != "pyspark" or case == "too large":  # Spark tries again, which is slow
        with pytest.raises(engine.error, match=message):
            result_rows(ndcg_by_query(frame, **COLUMNS, **options))


@pytest.mark.parametrize(("unjudged", "first"), [("zero", 1 / np.log2(3)), ("omit", 1)])
def test_unjudged(engine, unjudged, first):
    columns = {"q": [1, 1, 2, 2], "y": [1.0, None, None, np.nan], "s": [0.0, 1, 1, 2]}
    columns["w"] = [1.0, 3, 1, 1]
    found = result_rows(ndcg_by_query(engine(columns), **COLUMNS, unjudged=unjudged, undefined=0.0))
    n = (1, 0) if unjudged == "omit" else (2, 2)
    assert same(found, [(1, n[0], first, 1, first), (2, n[1], 0, 0, 0)])
    weight = 1 if unjudged == "omit" else 2  # omitted rows do not count in the weight
    options = {"unjudged": unjudged, "undefined": 0.0, "sample_weight": "w"}
    mean = ndcg_score(engine(columns), **COLUMNS, **options)
    assert mean == pytest.approx(first * weight / (weight + 1))


NAMES = {
    "of results": ["gain", "score", "rank"], "of SQL": ['the "query"', "c'd", "s; select 1"],
    "dots and backticks": ["a.b", "c`d", "e`.f'g"],
}  # fmt: skip


@pytest.mark.parametrize("kind", NAMES)
def test_columns_may_have_any_name(engine, kind):
    columns = dict(zip(NAMES[kind], ([1, 1, 2], [0, 1, 1], [1.0, 0, 0]), strict=True))
    names = dict(zip(["groups", "y_true", "y_score"], NAMES[kind], strict=True))
    if kind == "dots and backticks" and engine.name == "pyspark":
        for function in (ndcg_by_query, ndcg_score):
            with pytest.raises(ValueError, match=r"names with dots or backticks: rename \['a.b'"):
                function(engine(columns), **names)
        return
    if kind != "of results" and engine.name == "duckdb" and version("duckdb") < "2":
        pytest.skip("this engine refuses such names")
    names |= {"working_memory": 1e-4}  # a pass for each row
    found = result_rows(ndcg_by_query(engine(columns), **names))
    assert same(found, [(1, 2, 1 / np.log2(3), 1, 1 / np.log2(3)), (2, 1, 1, 1, 1)])


# relevance, scores, rule of ties, and the NDCG
ORDERED = {
    "integers that float64 would tie": ([1, 0], [2**53 + 1, 2**53], "worst", 1),
    "unsigned, worst": ([0, 1], pa.array([0, 2**64 - 1], pa.uint64()), "worst", 1),
    "unsigned, best": ([0, 1], pa.array([0, 2**64 - 1], pa.uint64()), "best", 1),
    "unsigned, average": ([0, 1], pa.array([0, 2**64 - 1], pa.uint64()), "average", 1),
    "zeros of either sign, best": ([1, 0], [-0.0, 0.0], "best", 1),
    "zeros of either sign, worst": ([1, 0], [-0.0, 0.0], "worst", 1 / np.log2(3)),
    "float32": ([True, False], pa.array([0.25, 0.125], pa.float32()), "average", 1),
    "bool": ([0, 1], [True, False], "average", 1 / np.log2(3)),
}


@pytest.mark.parametrize("case", ORDERED)
def test_y_score_keeps_its_order(engine, case):
    if engine.name == "pyspark" and "unsigned" in case:
        pytest.skip("Spark has no unsigned integers")
    y, s, ties, expected = ORDERED[case]
    found = ndcg_score(engine({"q": [1, 1], "y": y, "s": s}), **COLUMNS, ties=ties)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["Int128", "UInt128", "hugeint", "uhugeint", "decimal[pyarrow]"])
def test_y_score_and_groups_of_128_bits(kind):
    first, second = Decimal(2**70), Decimal(2**70 + 1)
    columns = {"q": [second, second, first, first], "s": [first, second, second, first]}
    columns = {name: pa.array(column, pa.decimal128(38, 0)) for name, column in columns.items()}
    table = pa.table(columns | {"y": [0, 1, 1, 0]})
    if kind == "decimal[pyarrow]":
        frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    elif kind.endswith("hugeint"):
        duckdb = pytest.importorskip("duckdb")
        if kind == "uhugeint" and duckdb.__version__ < "1.5":
            pytest.skip("which this DuckDB hands over as bytes, and which are refused")
        frame = duckdb.from_arrow(table).project(f"q::{kind} as q, y, s::{kind} as s")
    else:
        pl = pytest.importorskip("polars")
        if not hasattr(pl, kind):
            pytest.skip(f"this Polars has no {kind}")
        frame = pl.from_arrow(table).lazy().cast({"q": getattr(pl, kind), "s": getattr(pl, kind)})
    for memory in (None, 0.0005):
        arguments = COLUMNS | {"working_memory": memory, "ties": "worst"}
        assert ndcg_score(frame, **arguments) == 1
        found = result_rows(ndcg_by_query(frame, **arguments))
        assert [(int(row[0]) - 2**70, row[-1]) for row in found] == [(0, 1), (1, 1)]


def test_y_score_keeps_its_order_beside_a_null():
    pl = pytest.importorskip("polars")
    rows = {"q": [1, 1, 2], "y": [0, 1, 1], "s": [2**60, 2**60 + 1, None]}
    found = ndcg_by_query(pl.DataFrame(rows), **COLUMNS)["ndcg"].to_list()
    lazy = ndcg_by_query(pl.LazyFrame(rows), **COLUMNS).sort("q").collect()["ndcg"].to_list()
    assert found == lazy == [1, None]


def test_undefined_queries_warn(engine):
    frame = engine({"q": [1, 1, 2], "y": [0, 0, 1], "s": [1, 2, 3]})
    with pytest.warns(UndefinedMetricWarning, match="undefined for 1 of 2"):
        assert ndcg_score(frame, **COLUMNS) == 0.5
    assert ndcg_score(frame, **COLUMNS, undefined="omit") == 1
    if engine.is_lazy:  # it has no caller to warn
        assert [row[-1] for row in result_rows(ndcg_by_query(frame, **COLUMNS))] == [0, 1]
    else:
        with pytest.warns(UndefinedMetricWarning, match="undefined for 1 of 2"):
            ndcg_by_query(frame, **COLUMNS)
    nothing = engine({"q": [1], "y": [0], "s": [1]})
    assert np.isnan(ndcg_score(nothing, **COLUMNS, undefined="omit"))


def test_undefined_omit_is_null_and_not_nan_in_duckdb():
    frame = pytest.importorskip("duckdb").from_arrow(pa.table(draw_columns()))
    y, s, q, _ = draw_columns().values()
    found = ndcg_by_query(frame, **COLUMNS, undefined="omit").aggregate("avg(ndcg)").fetchall()
    expected = sklearn_ndcg.ndcg_score(y, s, groups=q, undefined="omit")
    assert found == [(pytest.approx(expected),)]


def test_the_query_of_an_invalid_row_has_its_ids_as_they_are():
    table = pd.DataFrame({"q": [2**60 + 1] * 2, "u": [0.5] * 2, "y": 1, "s": [np.nan, 1]})
    with pytest.raises(ValueError, match=rf"in query \({2**60 + 1}, 0.5\)"):
        ndcg_score(table, **COLUMNS | {"groups": ["q", "u"]})


def test_groups_with_a_null(engine):
    frame = engine({"q": ["a", None, "b"], "y": [1, 1, 1], "s": [1, 2, 3]})
    message = r"groups \(q\) has 1 missing id"
    with pytest.raises(ValueError, match=message):
        ndcg_score(frame, **COLUMNS)
    with pytest.raises(engine.error, match=message):
        result_rows(ndcg_by_query(frame, **COLUMNS))


BAD = {
    "column": ({"y_true": "no"}, ValueError, r"y_true='no' is not .*: \['q', 'y', 's', 't'"),
    "key": ({"groups": ["q", "no"]}, ValueError, "groups='no' is not a column"),
    "no key": ({"groups": []}, TypeError, "groups must name a column"),
    "key that is a number": ({"groups": 5}, TypeError, "groups must name a column"),
    "weights": ({"sample_weight": ["w"]}, TypeError, "has no option|sample_weight must name a col"),
    "several columns": ({"y_true": ["y", "s"]}, TypeError, "y_true must name a column.*'y', 's'"),
    "key that is an expression": ({"groups": [nw.col("q")]}, TypeError, "groups must name a col"),
    "option": ({"log_base": 2}, TypeError, "^ndcg_(by_query|score) has no option 'log_base'"),
    "same key": ({"groups": ["q", "q"]}, ValueError, "different columns"),
    "text": ({"y_true": "t"}, TypeError, "y_true='t' must be a column of numbers, not String"),
    "name of a result": ({"groups": "dcg"}, ValueError, "name of a result, n_documents, dcg"),
    "in upper case, as in SQL": ({"groups": "NDCG"}, ValueError, "lower or upper case.*'NDCG'"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("function", [ndcg_by_query, ndcg_score])
def test_bad_arguments(engine, function, case):
    arguments, error, message = BAD[case]
    frame = engine({"q": [1], "y": [1], "s": [1.0], "t": ["1"], "dcg": [1], "NDCG": [1]})
    with pytest.raises(error, match=message):
        function(frame, **(COLUMNS | arguments))


@pytest.mark.parametrize("groups", [0, [0], [0, "day"]], ids=str)
def test_y_true_y_score_and_groups_that_are_numbers_name_columns_of_pandas(groups):
    table = pd.DataFrame(draw_columns()).assign(day="a")
    numbered = table.rename(columns={"q": 0, "y": 1, "s": 2})
    before = numbered.copy(deep=True)
    names = {"y_true": 1, "y_score": np.int64(2), "groups": groups, "undefined": 0}
    found = ndcg_by_query(numbered, **names)
    expected = ndcg_by_query(table, **COLUMNS, undefined=0)
    keys = groups if isinstance(groups, list) else [groups]
    assert found.columns.tolist() == [*keys, "n_documents", "dcg", "ideal_dcg", "ndcg"]
    assert found["ndcg"].tolist() == expected["ndcg"].tolist()
    assert ndcg_score(numbered, **names) == ndcg_score(table, **COLUMNS, undefined=0)
    pd.testing.assert_frame_equal(numbered, before)
    with pytest.raises(TypeError, match="groups must name a column, got 7"):
        ndcg_score(numbered, **(names | {"groups": 7}))
    with pytest.raises(ValueError, match="y_true='y' is not a column"):
        ndcg_score(numbered, **(names | {"y_true": "y"}))


@pytest.mark.parametrize("given", [{}, {"groups": "q"}])
def test_group_by_hints_at_groups(given):
    names = {"y_true": "y", "y_score": "s", "group_by": "q"}
    with pytest.raises(TypeError, match="keyword-only argument: 'groups'|query ids as groups"):
        ndcg_score(pd.DataFrame(draw_columns()), **names, **given)


@pytest.mark.parametrize("kind", ["struct", "list", "array"])
def test_groups_that_hold_several_values_are_refused(kind):
    ids = {
        "struct": pa.array([{"a": 1, "b": 2}, {"a": 2, "b": 3}]), "list": pa.array([[1, 2], [3]]),
        "array": pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)),
    }[kind]  # fmt: skip
    arrow = pa.table({"q": ids, "y": [1, 0], "s": [1.0, 2.0]})
    tables = [arrow, arrow.to_pandas(), arrow.to_pandas(types_mapper=pd.ArrowDtype)]
    for library in ("polars", "duckdb"):
        with suppress(ImportError):
            tables.append(import_module(library).from_arrow(arrow))
    for table in tables:
        for function in (ndcg_score, ndcg_by_query):
            with pytest.raises(TypeError, match=r"groups=\['q'\] must name .*Convert lists to tu"):
                function(table, **COLUMNS)
    for column in (ids, *(table["q"] for table in tables[:3])):
        with pytest.raises(TypeError, match="one column for each of its fields"):
            sklearn_ndcg.ndcg_score([1, 0], [1.0, 2.0], groups=column)


@pytest.mark.filterwarnings("error")
def test_groups_in_half_precision_are_not_missing():
    halves = np.array([1, 1, 2048, 2048], dtype=np.float16)
    rows = {"y": [0, 1, 2, 0], "s": [1.0, 2.0, 1.0, 2.0]}
    typed = {"q": pd.Series(halves, dtype=pd.ArrowDtype(pa.float16()))}
    for table in (pd.DataFrame({"q": halves} | rows), pd.DataFrame(typed | rows)):
        found = ndcg_by_query(table, **COLUMNS)
        assert found["q"].astype(float).tolist() == [1, 2048]
        assert found["ndcg"].tolist() == pytest.approx([1, 1 / np.log2(3)])


@pytest.mark.parametrize("option", [{"ties": "stable"}, {"ignore_ties": True}], ids=str)
def test_ties_stable_and_ignore_ties_need_the_order_of_rows(engine, option):
    frame = engine({"q": [1, 1, 1], "y": [0, 1, 2], "s": [1.0, 1, 1]})
    dcg, ideal = 1 / np.log2(3) + 2 / np.log2(4), 2 + 1 / np.log2(3)
    if engine.has_order:
        assert ndcg_score(frame, **COLUMNS, **option) == pytest.approx(dcg / ideal)
        found = result_rows(ndcg_by_query(frame, **COLUMNS, **option))
        assert same(found, [(1, 3, dcg, ideal, dcg / ideal)])
    else:
        for function in (ndcg_score, ndcg_by_query):
            with pytest.raises(ValueError, match="order of the rows.*Pass ties='average'"):
                function(frame, **COLUMNS, **option)


def test_sample_weight(engine):
    columns = {"q": [1, 1, 2], "y": [0, 1, 1], "s": [1, 0, 1], "w": [0.5, 1.5, 3]}
    mean = ndcg_score(engine(columns), **COLUMNS, sample_weight="w")
    assert mean == pytest.approx((1 / np.log2(3) + 3) / 4)
    with pytest.raises(ValueError, match="sample_weight must be finite and >= 0"):
        ndcg_score(engine(columns | {"w": [1, 1, None]}), **COLUMNS, sample_weight="w")


def test_an_empty_table(engine):
    columns = {"q": pa.array([], "int64"), "y": pa.array([], "int64"), "s": pa.array([], "double")}
    with pytest.raises(ValueError, match="The table has 0 rows"):
        ndcg_score(engine(columns), **COLUMNS)
    assert result_rows(ndcg_by_query(engine(columns), **COLUMNS)) == []


def test_polars_collects_nothing():
    polars = pytest.importorskip("polars")

    def collected(rows):
        raise AssertionError("collected")

    frame = polars.LazyFrame(draw_columns())
    frame = frame.map_batches(collected, schema=frame.collect_schema())
    found = ndcg_by_query(frame, **COLUMNS)
    assert isinstance(found, polars.LazyFrame)
    # the AssertionError, or the one of Polars that quotes it
    with pytest.raises((AssertionError, polars.exceptions.ComputeError), match="collected"):
        found.collect()


@pytest.mark.ci
def test_spark_runs_no_job_until_it_is_asked(spark):
    frame = spark.createDataFrame(pa.table(draw_columns()))
    spark.sparkContext.setJobGroup("ndcg", "a test")
    found = ndcg_by_query(frame, **COLUMNS)
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup
    assert not jobs("ndcg")
    plan = found._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Exchange hashpartitioning") == 1  # the rows are moved once
    assert len(found.collect()) == 30
    assert jobs("ndcg")


@pytest.mark.ci
def test_dask_computes_nothing_until_it_is_asked():
    dask, seen = pytest.importorskip("dask.dataframe"), []

    def read(i):
        seen.append(i)
        return pd.DataFrame(draw_columns(i))

    frame = dask.from_map(read, [0, 1], meta=pd.DataFrame(draw_columns()))
    found = ndcg_by_query(frame, **COLUMNS)
    assert seen == []
    assert len(found.compute()) == 30
    assert sorted(seen) == [0, 1]


@pytest.mark.ci
@pytest.mark.parametrize("index", [None, [0.0, np.nan], [False, True], [7, 7], [0, 10**9]])
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
        found = ndcg_score(table, **options, working_memory=len(frame) * 144 / 2**20)
    assert found == pytest.approx(ndcg_score(frame, **options))
    assert max(handed_over) <= np.ceil(len(frame) / 4)


def test_duckdb_without_pyarrow_is_an_error_that_says_what_to_install(monkeypatch):
    relation = pytest.importorskip("duckdb").sql("select 1 as y, 2 as s, 3 as q")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install .*pyarrow"):
        ndcg_score(relation, y_true="y", y_score="s", groups="q")


def test_results_of_duckdb_live_on_the_connection_of_the_relation():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("create table names as select i q, 'query ' || i as name from range(9) t(i)")
    relation = connection.sql("select i % 7 as q, i % 3 as y, i * 0.5 as s from range(99) t(i)")
    found = ndcg_by_query(relation, **COLUMNS, working_memory=0.005)
    joined = found.join(connection.table("names"), "q").project("name, ndcg").order("name")
    assert [name for name, _ in joined.fetchall()] == [f"query {i}" for i in range(7)]
    assert joined.fetchall() == joined.fetchall()  # can be read again


def test_tables_of_the_user_have_any_name():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    names = ["sklearn_ndcg_results", "sklearn_ndcg_rows", "relation", "name", "variables"]
    for name in names:
        connection.execute(f"create table {name} as select 7 as q, 'of the user' as ndcg")
    relation = connection.sql("select i % 7 as q, i % 3 as y, i * 0.5 as s from range(99) t(i)")
    before = connection.sql("from duckdb_views()").fetchall()
    results = [ndcg_by_query(relation, **COLUMNS, k=k) for k in (1, 2, 5)]
    assert connection.sql("from duckdb_views()").fetchall() == before
    for k, found in zip((1, 2, 5), results, strict=True):  # while all of them are alive
        expected = ndcg_by_query(relation.to_arrow_table(), **COLUMNS, k=k)
        assert result_rows(found) == result_rows(expected)
    for name in names:
        assert connection.table(name).fetchall() == [(7, "of the user")]


def test_a_lazy_result_of_polars_is_filtered_sliced_and_joined():
    pl = pytest.importorskip("polars")
    arguments = COLUMNS | {"undefined": 0, "working_memory": 0.01}
    lazy = ndcg_by_query(pl.LazyFrame(draw_columns()), **arguments)
    whole = lazy.collect()
    assert len(whole) == 30
    good = pl.col("ndcg") > 0.8
    assert lazy.filter(good).select("q").collect().equals(whole.filter(good).select("q"))
    assert lazy.head(7).filter(good).collect().equals(whole.head(7).filter(good))
    assert lazy.filter(good).head(3).collect().equals(whole.filter(good).head(3))
    assert lazy.join(lazy, on="q").select(pl.len()).collect().item() == 30
    assert lazy.sort("q").collect(engine="streaming").equals(whole.sort("q"))


@pytest.mark.parametrize("frame", [np.zeros((3, 3)), {"q": [1]}, None])
def test_inputs_that_are_not_tables(frame):
    words = f"frame must be a table of pandas, Polars, PyArrow.* got {type(frame).__name__}\\. For"
    with pytest.raises(TypeError, match=words):
        ndcg_score(frame, **COLUMNS)


@pytest.mark.parametrize("unjudged", ["raise", "zero", "omit"])
def test_a_query_that_is_null_needs_no_gain(unjudged):
    pl = pytest.importorskip("polars")
    rows = {"q": [0, 0, 0, 1, 1], "y": [1.0, 2, None, 1, 2], "s": [np.nan, 0.5, np.nan, 0.2, 0.1]}
    options = {**COLUMNS, "gain": {1: 1, 2: 3}, "unjudged": unjudged}
    eager = ndcg_by_query(pl.DataFrame(rows), **options).sort("q").rows()
    lazy = ndcg_by_query(pl.LazyFrame(rows), **options).sort("q").collect().rows()
    assert eager[0] == lazy[0] == (0, 2 if unjudged == "omit" else 3, None, None, None)
    assert eager[1] == pytest.approx(lazy[1], rel=1e-14)


def test_groups_whose_rows_arrow_cannot_select():
    views = pa.array(["u", "u", "v", "v"], type=pa.string_view())
    table = pa.table({"q": views, "y": [1, 0, 1, 0], "s": [1, 2, 3, 4]})
    for frame in (table, table.to_pandas(types_mapper=pd.ArrowDtype)):
        assert ndcg_score(frame, **COLUMNS) == pytest.approx(1 / np.log2(3))
        try:
            views.take(pa.array([0]))
        except pa.ArrowNotImplementedError:
            with pytest.raises(TypeError, match="groups must be columns whose rows can be sel"):
                ndcg_by_query(frame, **COLUMNS)


@pytest.mark.parametrize("groups", ["q", ["q", "day"]], ids=str)
@pytest.mark.parametrize("kind", ["double[pyarrow]", "Float64", "float64"])
def test_groups_of_floats_of_pandas_with_nan(kind, groups):
    ids = pa.array([1.5, 1.5, np.nan, np.nan, None])
    ids = pd.Series(ids if kind != "double[pyarrow]" else pd.arrays.ArrowExtensionArray(ids))
    frame = pd.DataFrame({"q": ids.astype(kind), "day": 1, "y": [1, 0, 1, 0, 1], "s": 1.0})
    for function in (ndcg_score, ndcg_by_query):
        with pytest.raises(ValueError, match=r"groups \(q.*\) has 3 missing ids"):
            function(frame, **COLUMNS | {"groups": groups})
