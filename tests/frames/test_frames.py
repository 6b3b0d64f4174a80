"""NDCG of a table: every engine gives the values of arrays."""

import re
import sys
import warnings
from decimal import Decimal
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from frame_data import (
    COLUMNS,
    ENGINES,
    N_ROWS,
    assert_same_rows,
    draw_columns,
    expected_rows,
    expected_score,
    memory_of,
)
from helpers import ideal, result_rows
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import CONVENTIONS

nw = pytest.importorskip("narwhals.stable.v2", reason="the extra `frames` is not installed")
pa = pytest.importorskip("pyarrow")
from sklearn_ndcg.frames import _engines, _narwhals, ndcg_by_query, ndcg_score  # noqa: E402

SECOND = 1 / np.log2(3)  # the discount of rank 2
both_functions = pytest.mark.parametrize("function", [ndcg_by_query, ndcg_score])


# --- values

OPTIONS = {
    "defaults": {},
    "exponential": {"gain": "exponential", "k": 5},
    "reciprocal, gains in a list": {"discount": "reciprocal", "gain": [0, 1, 1, 5, 9.5]},
    "no discount": {"discount": "none", "gain": [0, 1.5, 2, 4, 4], "k": 3},
    "gains in an array": {"gain": np.arange(5.0), "undefined": 1.0},
    "callables": {"gain": lambda y: y**3, "discount": lambda rank: 1 / np.sqrt(rank), "k": 4},
    "retrieved": {"k": "retrieved", "undefined": "omit"},
    "worst": {"ties": "worst", "k": 7, "undefined": 0.3},
    "best": {"ties": "best", "undefined": "omit"},
    "stable": {"ties": "stable", "k": 5},
    "ignore_ties": {"ignore_ties": True, "undefined": "omit"},
    **{name: CONVENTIONS[name] | {"k": 10} for name in ("lightgbm", "catboost", "trec_eval")},
}


def engines_and_options():
    """All options with one engine, and one of them with others, every day; the rest in CI."""
    for engine in ENGINES:
        for name, options in OPTIONS.items():
            is_everyday = engine == "polars lazy" or (engine == "duckdb" and name == "retrieved")
            marks = () if is_everyday else pytest.mark.ci
            yield pytest.param(engine, options, id=f"{engine}, {name}", marks=marks)


@pytest.mark.parametrize(("engine", "options"), list(engines_and_options()), indirect=["engine"])
def test_every_option_gives_the_values_of_arrays(engine, options):
    if not engine.has_order and (options.get("ties") == "stable" or "ignore_ties" in options):
        pytest.skip("which is refused: test_rules_that_need_an_order_of_rows")
    columns = draw_columns()
    table, options = engine(columns), {"undefined": 0.0} | options
    arguments = COLUMNS | options | {"working_memory": memory_of(4)}
    rows = result_rows(ndcg_by_query(table, **arguments))
    assert_same_rows(rows, expected_rows(columns, **options))
    mean = ndcg_score(table, **arguments, sample_weight="w")
    expected = expected_score(columns, sample_weight="w", **options)
    assert mean == pytest.approx(expected, rel=1e-14)


def test_columns_and_engine_of_the_result(engine):
    table = engine(draw_columns())
    result = ndcg_by_query(table, **COLUMNS, undefined=0.0)
    if engine.name == "polars lazy":
        assert type(result) is engine.library.DataFrame
    elif engine.name != "dataset":
        assert type(result) is type(table)
    result = result.compute() if engine.name == "dask" else result
    schema = nw.from_native(result).collect_schema()
    assert list(schema) == ["q", "n_documents", "dcg", "ideal_dcg", "ndcg"]
    assert list(map(str, schema.values())) == ["Int64", "Int64", "Float64", "Float64", "Float64"]


def test_an_empty_table(engine):
    columns = {"q": pa.array([], "int64"), "y": pa.array([], "int64"), "s": pa.array([], "double")}
    with pytest.raises(ValueError, match="The table has 0 rows"):
        ndcg_score(engine(columns), **COLUMNS)
    assert result_rows(ndcg_by_query(engine(columns), **COLUMNS)) == []


@pytest.mark.parametrize(
    ("unjudged", "expected"),
    [
        ("zero", [(1, 2, SECOND, 1, SECOND), (2, 2, 0, 0, 0)]),
        ("omit", [(1, 1, 1, 1, 1), (2, 0, 0, 0, 0)]),
    ],
)
def test_unjudged(engine, unjudged, expected):
    columns = {"q": [1, 1, 2, 2], "y": [1.0, None, None, np.nan], "s": [0.0, 1, 1, 2]}
    table = engine(columns | {"w": [1.0, 3, 1, 1]})
    options = COLUMNS | {"unjudged": unjudged, "undefined": 0.0}
    assert_same_rows(result_rows(ndcg_by_query(table, **options)), expected)
    weight = 1 if unjudged == "omit" else 2  # omitted rows do not count in the weight
    mean = ndcg_score(table, **options, sample_weight="w")
    assert mean == pytest.approx(expected[0][-1] * weight / (weight + 1))


@pytest.mark.ci
@pytest.mark.parametrize("engine", ["dask", "pyspark"], indirect=True)
@pytest.mark.parametrize("rule", [{"ties": "stable"}, {"ignore_ties": True}], ids=str)
@both_functions
def test_rules_that_need_an_order_of_rows(engine, rule, function):
    table = engine({"q": [1, 1, 1], "y": [0, 1, 2], "s": [1.0, 1, 1]})
    with pytest.raises(ValueError, match="order of the rows.*Pass ties='average'"):
        function(table, **COLUMNS, **rule)


# relevance, scores, rule of ties, and the NDCG
ORDERED = {
    "integers that float64 would tie": ([1, 0], [2**53 + 1, 2**53], "worst", 1),
    "unsigned, worst": ([0, 1], pa.array([0, 2**64 - 1], pa.uint64()), "worst", 1),
    "zeros of either sign, worst": ([1, 0], [-0.0, 0.0], "worst", SECOND),
    "float32": ([True, False], pa.array([0.25, 0.125], pa.float32()), "average", 1),
    "bool": ([0, 1], [True, False], "average", SECOND),
}


@pytest.mark.parametrize(("y", "s", "ties", "ndcg"), ORDERED.values(), ids=ORDERED)
def test_y_score_keeps_its_order(any_engine, y, s, ties, ndcg):
    if any_engine.name == "pyspark" and isinstance(s, pa.UInt64Array):
        pytest.skip("Spark has no unsigned integers")
    table = any_engine({"q": [1, 1], "y": y, "s": s})
    assert ndcg_score(table, **COLUMNS, ties=ties) == pytest.approx(ndcg)


def test_y_score_keeps_its_order_beside_a_null():
    polars = pytest.importorskip("polars")
    frame = polars.LazyFrame({"q": [1, 1, 2], "y": [0, 1, 1], "s": [2**60, 2**60 + 1, None]})
    assert [row[-1] for row in result_rows(ndcg_by_query(frame, **COLUMNS))] == [1, None]


BITS = pa.decimal128(38, 0)
FIRST, LAST = Decimal(2**70), Decimal(2**70 + 1)
LARGE = {  # numbers that float64 would make equal
    "q": pa.array([LAST, LAST, FIRST, FIRST], BITS),
    "y": [0, 1, 1, 0],
    "s": pa.array([FIRST, LAST, LAST, FIRST], BITS),
}


@both_functions
@pytest.mark.parametrize("name", ["q", "s"])
@pytest.mark.parametrize("kind", ["Int128", "UInt128", "hugeint", "uhugeint"])
def test_integers_of_128_bits_are_refused(kind, name, function):
    table = pa.table(LARGE | {"q s".replace(name, "").strip(): [1, 1, 2, 2]})
    if "huge" in kind:
        relation = pytest.importorskip("duckdb").from_arrow(table)
        frame = relation.project(f"* replace ({name}::{kind} as {name})")
    else:
        polars = pytest.importorskip("polars")
        if not hasattr(polars, kind):
            pytest.skip(f"this Polars has no {kind}")
        frame = polars.from_arrow(table).lazy().cast({name: getattr(polars, kind)})
    argument = {"q": "groups", "s": "y_score"}[name]
    with pytest.raises(TypeError, match=f"^{argument}='{name}' must not have integers of 128 bits"):
        function(frame, **COLUMNS)


@pytest.mark.parametrize("library", ["pandas", "duckdb"])
def test_decimals_keep_their_order(library):
    table = pa.table(LARGE)
    if library == "pandas":
        frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    else:
        frame = pytest.importorskip("duckdb").from_arrow(table)
    arguments = COLUMNS | {"working_memory": 0.0005, "ties": "worst"}
    assert ndcg_score(frame, **arguments) == 1
    rows = result_rows(ndcg_by_query(frame, **arguments))
    assert [(int(row[0]) - 2**70, row[-1]) for row in rows] == [(0, 1), (1, 1)]


# --- warnings, and undefined queries


def test_groups_that_are_unique_per_row_warn(engine):
    table = engine({"q": [1, 2, 3, 4], "y": [1] * 4, "s": [0.5] * 4})
    with pytest.warns(UserWarning, match="Each of the 4 queries has a single document"):
        ndcg_score(table, **COLUMNS, working_memory=1e-4)  # a pass for each row
    assert ndcg_score(engine({"q": [1], "y": [1], "s": [1]}), **COLUMNS) == 1


def test_undefined_warns_once_of_all_passes(engine):
    columns, arguments = draw_columns(), COLUMNS | {"working_memory": memory_of(4)}
    with pytest.warns(UndefinedMetricWarning) as expected:
        value = expected_score(columns)
    with pytest.warns(UndefinedMetricWarning) as caught:
        assert ndcg_score(engine(columns), **arguments) == pytest.approx(value, rel=1e-14)
    [warning] = [item for item in caught if item.category is UndefinedMetricWarning]
    assert str(warning.message) == str(expected[0].message)
    assert warning.filename == __file__
    with pytest.warns(UndefinedMetricWarning, match=re.escape(str(warning.message))):
        ndcg_by_query(engine(columns), **arguments)


def test_undefined_raise_counts_the_queries_of_all_passes(engine):
    columns = draw_columns()
    with pytest.raises(ValueError, match="NDCG is undefined for") as expected:
        expected_score(columns, undefined="raise")
    message = re.escape(str(expected.value))
    arguments = COLUMNS | {"undefined": "raise", "working_memory": memory_of(4)}
    for function in (ndcg_score, ndcg_by_query):
        with pytest.raises(ValueError, match=message):
            function(engine(columns), **arguments)


def test_undefined_omit_is_null_and_not_nan_in_duckdb():
    columns = draw_columns()
    relation = pytest.importorskip("duckdb").from_arrow(pa.table(columns))
    result = ndcg_by_query(relation, **COLUMNS, undefined="omit").aggregate("avg(ndcg)").fetchall()
    assert result == [(pytest.approx(expected_score(columns, undefined="omit")),)]


# --- wrong rows

# a column, its values in three rows, options, and the error
WRONG = {
    "score": ("s", [np.nan, None, np.inf], {}, "Input y_score contains NaN: 3 NaN or .inf"),
    "infinite score": ("s", [np.inf] * 3, {}, "Input y_score contains .*: 3 "),
    "relevance": ("y", [np.nan, None, np.nan], {}, "y_true contains NaN: 3 NaN.* null is"),
    "infinite relevance": ("y", [np.inf] * 3, {"unjudged": "zero"}, "contains infinity: 3 inf"),
}
WRONG_WEIGHTS = {
    "negative weight": ("w", [-1, None, 0.5], {"sample_weight": "w"}, "sample_weight .*: 2 such"),
    "infinite weight": ("w", [0, np.nan, np.inf], {"sample_weight": "w"}, "sample_weight .*: 2 "),
}
ROWS = [10, 1500, 2900]


def columns_with(name, values):
    column = [float(value) for value in draw_columns()[name]]
    for row, value in zip(ROWS, values, strict=True):
        column[row] = value
    return draw_columns() | {name: column}


@pytest.mark.parametrize(
    ("name", "values", "options", "message"),
    (WRONG | WRONG_WEIGHTS).values(),
    ids=WRONG | WRONG_WEIGHTS,
)
def test_wrong_rows_are_counted_in_all_passes(any_engine, name, values, options, message):
    columns = columns_with(name, values)
    arguments = COLUMNS | options | {"undefined": 0, "working_memory": memory_of(7)}
    with pytest.raises(ValueError, match=message) as caught:
        ndcg_score(any_engine(columns), **arguments)
    query = int(re.search(r"in query (-?\d+)", str(caught.value))[1])
    assert query in columns["q"][ROWS]


def test_wrong_rows_of_the_first_kind_are_counted(any_engine):
    columns = columns_with("s", [np.nan] * 3) | {"y": columns_with("y", [np.inf] * 3)["y"]}
    with pytest.raises(ValueError, match="contains (NaN|infinity): 3 "):
        ndcg_score(any_engine(columns), **COLUMNS, working_memory=memory_of(7))


@pytest.mark.parametrize(("name", "values", "options", "message"), WRONG.values(), ids=WRONG)
def test_a_query_with_a_wrong_row_is_null(any_engine, name, values, options, message):
    columns = columns_with(name, values)
    arguments = COLUMNS | options | {"undefined": 0.5, "working_memory": memory_of(7)}
    expected = [
        (query, n, *([None] * 3 if query in columns["q"][ROWS] else results))
        for query, n, *results in expected_rows(draw_columns(), undefined=0.5)
    ]
    assert_same_rows(result_rows(ndcg_by_query(any_engine(columns), **arguments)), expected)


def test_a_wrong_row_names_the_ids_of_its_query_as_they_are():
    table = pd.DataFrame({"q": [2**60 + 1] * 2, "u": [0.5] * 2, "y": 1, "s": [np.nan, 1]})
    with pytest.raises(ValueError, match=rf"in query \({2**60 + 1}, 0.5\)"):
        ndcg_score(table, **COLUMNS | {"groups": ["q", "u"]})


@pytest.mark.parametrize(
    ("unjudged", "expected"),
    [
        ("raise", [(0, 3, None, None, None), (1, 2, None, None, None)]),
        ("omit", [(0, 2, None, None, None), (1, 1, 1, 1, 1)]),
    ],
)
def test_a_query_that_is_null_needs_no_gain(any_engine, unjudged, expected):
    columns = {"q": [0, 0, 0, 1, 1], "y": [1.0, 2, None, 1, None], "s": [np.nan, 1, np.nan, 2, 3]}
    options = COLUMNS | {"gain": lambda y: 2 * y - 1, "unjudged": unjudged}  # negative for 0
    with warnings.catch_warnings(action="ignore"):  # of single documents
        rows = result_rows(ndcg_by_query(any_engine(columns), **options))
    assert_same_rows(rows, expected)


def test_a_query_that_is_null_is_not_undefined(any_engine):
    columns = {"q": [1, 2, 2], "y": [1, 1, 0], "s": [np.nan, 1, 0]}
    rows = result_rows(ndcg_by_query(any_engine(columns), **COLUMNS))
    assert_same_rows(rows, [(1, 1, None, None, None), (2, 2, 1, 1, 1)])


NO_GAIN = {
    "negative": ([1.0, -1, 1], "linear", "negative y_true values"),
    "not in a sequence": ([1, 3, 1], [0, 1, 3], "gain has no entry"),
    "too large": ([1e4, 1, 1], "exponential", "gain must be finite"),
}


@pytest.mark.parametrize(("y", "gain", "message"), NO_GAIN.values(), ids=NO_GAIN)
def test_a_relevance_without_a_gain_is_an_error(any_engine, y, gain, message):
    table = any_engine({"q": [1, 1, 2], "s": [0.0, 1, 2], "y": y})
    with pytest.raises(ValueError, match=message):
        ndcg_score(table, **COLUMNS, gain=gain)
    with pytest.raises(ValueError, match=message):
        ndcg_by_query(table, **COLUMNS, gain=gain)


# --- groups


def test_groups_with_missing_ids_are_counted_in_all_passes(engine):
    columns = draw_columns()
    columns["q"] = [None if row in {7, 30} else int(q) for row, q in enumerate(columns["q"])]
    columns["day"] = [None if row in {7, 2000} else row % 3 for row in range(N_ROWS)]
    arguments = COLUMNS | {"groups": ["q", "day"], "working_memory": memory_of(7)}
    with pytest.raises(ValueError, match=r"groups \(q, day\) has 3 missing ids"):
        ndcg_score(engine(columns), **arguments)
    with pytest.raises(ValueError, match=r"groups \(q, day\) has [123] missing id"):
        ndcg_by_query(engine(columns), **arguments)


def test_groups_that_are_nan_are_missing_ids(engine):
    columns = draw_columns()
    columns["q"] = np.where(columns["q"] == columns["q"][0], np.nan, columns["q"])
    n = np.isnan(columns["q"]).sum()
    with pytest.raises(ValueError, match=rf"groups \(q\) has {n} missing ids"):
        ndcg_score(engine(columns), **COLUMNS, working_memory=memory_of(7))


@pytest.mark.parametrize("groups", [["q"], ["q", "day"]], ids=str)
@pytest.mark.parametrize("kind", ["double[pyarrow]", "Float64"])
def test_groups_of_floats_of_pandas_with_nan(kind, groups):
    ids = pa.array([1.5, 1.5, np.nan, np.nan, None])
    ids = pd.Series(ids if kind != "double[pyarrow]" else pd.arrays.ArrowExtensionArray(ids))
    frame = pd.DataFrame({"q": ids.astype(kind), "day": 1, "y": [1, 0, 1, 0, 1], "s": 1.0})
    with pytest.raises(ValueError, match=r"groups \(q.*\) has 3 missing ids"):
        ndcg_score(frame, **COLUMNS | {"groups": groups})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float16, pd.ArrowDtype(pa.float16())], ids=str)
def test_groups_in_half_precision_are_not_missing(dtype):
    halves = pd.Series(np.array([1, 1, 2047, 2047], dtype=np.float16), dtype=dtype)
    table = pd.DataFrame({"q": halves, "y": [0, 1, 2, 0], "s": [1.0, 2.0, 1.0, 2.0]})
    result = ndcg_by_query(table, **COLUMNS)
    assert result["q"].astype(float).tolist() == [1, 2047]
    assert result["ndcg"].tolist() == pytest.approx([1, SECOND])


NESTED = {
    "struct": pa.array([{"a": 1, "b": 2}, {"a": 2, "b": 3}]),
    "list": pa.array([[1, 2], [3]]),
    "array": pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)),
}
AS_TABLE = {
    "pyarrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "pandas of Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table: pytest.importorskip("polars").from_arrow(table),
    "duckdb": lambda table: pytest.importorskip("duckdb").from_arrow(table),
}


@pytest.mark.parametrize(
    ("library", "kind"),
    [
        *((library, "list") for library in AS_TABLE),
        ("pyarrow", "struct"),
        ("polars", "struct"),
        ("polars", "array"),
    ],
)
def test_groups_that_hold_several_values_are_refused(library, kind):
    table = AS_TABLE[library](pa.table({"q": NESTED[kind], "y": [1, 0], "s": [1.0, 2.0]}))
    with pytest.raises(TypeError, match=r"groups=\['q'\] must name .*Convert lists to tuples"):
        ndcg_score(table, **COLUMNS)


def test_groups_whose_rows_arrow_cannot_select():
    views = pa.array(["u", "u", "v", "v"], type=pa.string_view())
    table = pa.table({"q": views, "y": [1, 0, 1, 0], "s": [1, 2, 3, 4]})
    assert ndcg_score(table, **COLUMNS) == pytest.approx(SECOND)
    try:
        views.take(pa.array([0]))
    except pa.ArrowNotImplementedError:
        with pytest.raises(TypeError, match="groups must be columns whose rows can be selected"):
            ndcg_by_query(table, **COLUMNS)
    strings = table.set_column(0, "q", pa.array(views.to_pylist(), pa.string()))
    found = ndcg_by_query(strings, **COLUMNS)["ndcg"].to_pylist()
    assert found == pytest.approx([SECOND, SECOND])


# --- arguments

NAMES = {
    "of results": ["gain", "score", "rank"],
    "of SQL": ['the "query"', "c'd", "s; select 1"],
    "dots and backticks": ["a.b", "c`d", "e`.f'g"],
}


@pytest.mark.parametrize(("q", "y", "s"), NAMES.values(), ids=NAMES)
def test_columns_may_have_any_name(engine, q, y, s):
    if q != "gain" and engine.name in {"duckdb", "dataset"} and version("duckdb") < "2":
        pytest.skip("this engine refuses such names")
    table = engine({q: [1, 1, 2], y: [0, 1, 1], s: [1.0, 0, 0]})
    names = {"groups": q, "y_true": y, "y_score": s, "working_memory": 1e-4}  # a pass for each row
    if q == "a.b" and engine.name == "pyspark":
        with pytest.raises(ValueError, match=r"names with dots or backticks: rename \['a.b'"):
            ndcg_score(table, **names)
        for letter, name in zip("qys", (q, y, s), strict=True):
            table = table.withColumnRenamed(name, letter)  # Spark's own, which needs no quotes
        assert ndcg_score(table, **COLUMNS) == pytest.approx((SECOND + 1) / 2)
    else:
        rows = result_rows(ndcg_by_query(table, **names))
        assert_same_rows(rows, [(1, 2, SECOND, 1, SECOND), (2, 1, 1, 1, 1)])


BAD = {
    "column": ({"y_true": "no"}, ValueError, r"y_true='no' is not .*: \['q', 'y', 's', 't'"),
    "key": ({"groups": ["q", "no"]}, ValueError, "groups='no' is not a column"),
    "no key": ({"groups": []}, TypeError, "groups must name a column"),
    "key that is a number": ({"groups": 5}, TypeError, "groups must name a column"),
    "several columns": ({"y_true": ["y", "s"]}, TypeError, "y_true must name a column.*'y', 's'"),
    "option": ({"log_base": 2}, TypeError, "^ndcg_(by_query|score) has no option 'log_base'"),
    "group_by": ({"group_by": "q"}, TypeError, "Pass groups"),
    "segments": ({"segments": "t"}, TypeError, "has no option 'segments'"),
    "verbose": ({"verbose": True}, TypeError, "has no option 'verbose'"),
    "same key": ({"groups": ["q", "q"]}, ValueError, "different columns"),
    "text": ({"y_true": "t"}, TypeError, "y_true='t' must be a column of numbers, not String"),
    "name of a result": ({"groups": "dcg"}, ValueError, "name of a result, n_documents, dcg"),
    "in upper case, as in SQL": ({"groups": "NDCG"}, ValueError, "lower or upper case.*'NDCG'"),
    "no memory": ({"working_memory": 0}, ValueError, "working_memory must .* MiB above 0"),
    "memory in text": ({"working_memory": "1 GB"}, ValueError, "working_memory must .* above 0"),
}


@pytest.mark.parametrize(("arguments", "error", "message"), BAD.values(), ids=BAD)
@both_functions
def test_bad_arguments(any_engine, function, arguments, error, message):
    table = any_engine({"q": [1], "y": [1], "s": [1.0], "t": ["1"], "dcg": [1], "NDCG": [1]})
    with pytest.raises(error, match=message):
        function(table, **(COLUMNS | arguments))


@pytest.mark.parametrize("table", [np.zeros((3, 3)), None], ids=["array", "None"])
def test_inputs_that_are_not_tables(table):
    message = f"frame must be a table of pandas, Polars, .* got {type(table).__name__}\\. For"
    with pytest.raises(TypeError, match=message):
        ndcg_score(table, **COLUMNS)


@pytest.mark.parametrize("name", [{"groups": 0}, {"groups": [0, "y"]}, {"y_score": 2}], ids=str)
def test_numbers_do_not_name_columns(name):
    numbered = pd.DataFrame(draw_columns()).rename(columns={"q": 0, "s": 2})
    [argument] = name
    with pytest.raises(TypeError, match=f"{argument} must name a column, got"):
        ndcg_score(numbered, **COLUMNS | {"y_true": "y", "groups": "0", "y_score": "2"} | name)
    named = numbered.rename(columns=str)
    names = {"y_true": "y", "groups": "0", "y_score": "2", "undefined": 0}
    assert ndcg_score(named, **names) == expected_score(draw_columns(), undefined=0)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_columns_of_lists_are_refused_with_the_way_out(library):
    lists = {"q": [1, 2], "y": [[1, 0], [0, 1, 2]], "s": [[0.1, 0.3], [0.2, 0.5, 0.1]]}
    table = pytest.importorskip(library).DataFrame(lists)
    with pytest.raises(TypeError, match="y_true='y' must be a column of numbers, .*Explode .*cast"):
        ndcg_score(table, **COLUMNS)
    rows = table.explode(["y", "s"])
    if library == "pandas":  # whose column is one of objects still
        with pytest.raises(TypeError, match="numbers, not Object.*cast what has another type"):
            ndcg_score(rows, **COLUMNS)
        rows = rows.astype({"y": int, "s": float})
    expected = (ideal([0, 1]) / 1 + ideal([1, 0, 2]) / ideal([2, 1])) / 2
    assert ndcg_score(rows, **COLUMNS) == pytest.approx(expected)


# --- DuckDB


def test_results_of_a_dataset_are_a_relation_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    table = pytest.importorskip("pyarrow.dataset").dataset(pa.table(draw_columns()))
    result = ndcg_by_query(table, **COLUMNS, undefined=0)
    assert isinstance(result, duckdb.DuckDBPyRelation)
    assert len(result) == 200


RELATION = "select i % 7 as q, i % 3 as y, i * 0.5 as s from range(99) t(i)"


def test_results_of_duckdb_live_on_the_connection_of_the_relation():
    connection = pytest.importorskip("duckdb").connect()
    connection.execute("create table names as select i q, 'query ' || i as name from range(9) t(i)")
    result = ndcg_by_query(connection.sql(RELATION), **COLUMNS, working_memory=0.005)
    joined = result.join(connection.table("names"), "q").project("name, ndcg").order("name")
    assert [name for name, _ in joined.fetchall()] == [f"query {i}" for i in range(7)]
    assert joined.fetchall() == joined.fetchall()  # can be read again


def test_an_interrupt_leaves_no_view_in_the_connection():
    connection = pytest.importorskip("duckdb").connect()
    relation = connection.sql(RELATION)
    views = connection.sql("from duckdb_views()").fetchall()

    class Interrupted:
        def query(self, name, sql):
            if sql.startswith("drop"):
                return relation.query(name, sql)
            relation.create_view(name)
            raise KeyboardInterrupt

    columns = {argument: [name] for argument, name in COLUMNS.items()}
    engine = _engines.open_table(relation, columns, memory=None)
    engine.native = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        engine.to_engine([pa.table({"q": [1]})])
    assert connection.sql("from duckdb_views()").fetchall() == views


def test_tables_of_the_user_have_any_name():
    connection = pytest.importorskip("duckdb").connect()
    names = ["sklearn_ndcg_results", "sklearn_ndcg_rows", "relation", "name", "variables"]
    for name in names:
        connection.execute(f"create table {name} as select 7 as q, 'of the user' as ndcg")
    relation = connection.sql(RELATION)
    views = connection.sql("from duckdb_views()").fetchall()
    results = {k: ndcg_by_query(relation, **COLUMNS, k=k) for k in (1, 2, 5)}
    assert connection.sql("from duckdb_views()").fetchall() == views
    for k, result in results.items():  # while all of them are alive
        expected = ndcg_by_query(relation.to_arrow_table(), **COLUMNS, k=k)
        assert result_rows(result) == result_rows(expected)
    for name in names:
        assert connection.table(name).fetchall() == [(7, "of the user")]


# --- versions


@pytest.fixture
def installed(monkeypatch):
    """Versions of libraries that `frames` finds, other than those that are installed."""
    versions = {}
    find = _narwhals.version
    monkeypatch.setattr(_narwhals, "version", lambda name: versions.get(name) or find(name))
    _narwhals.check_version.cache_clear()
    yield versions
    _narwhals.check_version.cache_clear()


TABLE = {"q": [1, 1], "y": [1, 0], "s": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("duckdb", "narwhals", "needed"),
    [
        ("2.0.0", "2.25.0", "2.26"),
        ("2.11.1", "2.9.1", "2.26"),
        ("1.10.0", "2.9.1", "2.10"),
        ("1.3.2", "2.10.0", None),
        ("2.0.0", "2.26.0", None),
        ("3.0.0.dev1", "10.1.0rc1", None),
    ],
)
def test_duckdb_says_which_narwhals_it_needs(installed, duckdb, narwhals, needed):
    relation = pytest.importorskip("duckdb").from_arrow(pa.table(TABLE))
    installed |= {"duckdb": duckdb, "narwhals": narwhals}
    if needed is None:
        assert ndcg_score(relation, **COLUMNS) == pytest.approx(SECOND)
    else:
        with pytest.raises(ImportError, match=f'Narwhals {needed} .*narwhals>={needed}"$'):
            ndcg_score(relation, **COLUMNS)


def test_other_engines_need_no_newer_narwhals_than_the_extra_installs(installed):
    installed["narwhals"] = "2.10.0"
    assert ndcg_score(pd.DataFrame(TABLE), **COLUMNS) == pytest.approx(SECOND)
    installed["narwhals"] = "2.9.0"
    _narwhals.check_version.cache_clear()
    with pytest.raises(ImportError, match=r'2\.9\.0 is installed: .*"narwhals>=2\.10"$'):
        ndcg_score(pd.DataFrame(TABLE), **COLUMNS)


def test_duckdb_says_that_it_needs_pyarrow(monkeypatch):
    relation = pytest.importorskip("duckdb").from_arrow(pa.table(TABLE))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match='DuckDB passes on its rows by pyarrow: .*"pyarrow"'):
        ndcg_score(relation, **COLUMNS)
