"""NDCG inside dataframe engines: all give the same table, and lazy ones stay lazy."""

import shutil
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import run_python
from sklearn.exceptions import UndefinedMetricWarning

import sklearn_ndcg
from sklearn_ndcg._metrics.measure import DISCOUNTS, GAINS

nw = pytest.importorskip("narwhals.stable.v2", reason="the extra `frames` is not installed")
pa = pytest.importorskip("pyarrow")
from sklearn_ndcg.frames import ndcg_by_query, ndcg_score  # noqa: E402

COLUMNS = {"y_true": "y", "y_score": "s", "groups": "q"}
IN_PASSES = ["polars lazy", "duckdb", "ibis"]
LAZY = [*IN_PASSES, "pyspark"]
ENGINES = ["pandas", "polars", "pyarrow", *LAZY]


@pytest.fixture(scope="session")
def spark():
    if shutil.which("java") is None:
        pytest.skip("PySpark needs Java, and there is none")
    session = pytest.importorskip("pyspark.sql").SparkSession
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        running = (
            session.builder.master("local[2]")
            # small data do not pay for the second compiler of Java
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.adaptive.enabled", "false")
            .getOrCreate()
        )
    yield running
    running.stop()


@pytest.fixture(params=ENGINES)
def engine(request):
    """A function that makes a table of the engine from columns."""
    name = request.param

    def make(columns):
        arrow = pa.table(columns)
        if name == "pyarrow":
            return arrow
        if name == "pandas":
            return arrow.to_pandas()
        if name.startswith("polars"):
            polars = pytest.importorskip("polars")
            frame = polars.from_arrow(arrow)
            return frame.lazy() if name == "polars lazy" else frame
        if name == "duckdb":
            return pytest.importorskip("duckdb").from_arrow(arrow)
        if name == "ibis":
            return pytest.importorskip("ibis").memtable(arrow)
        session = request.getfixturevalue("spark")
        types = {"int64": "long", "double": "double", "string": "string", "bool": "boolean"}
        types |= {"float": "float", "date32[day]": "date", "null": "double"}
        schema = ", ".join(f"`{f.name}` {types[str(f.type)]}" for f in arrow.schema)
        return session.createDataFrame(list(zip(*arrow.to_pydict().values(), strict=True)), schema)

    make.name = name
    make.is_lazy = name in LAZY
    make.in_passes = name in IN_PASSES
    return make


def rows(frame):
    """The rows of a result of any engine, sorted by id, NaN as None."""
    table = nw.from_native(frame)
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    listed = [tuple(None if pd.isna(value) else value for value in row) for row in table.rows()]
    return sorted(listed, key=str)


def same(found, expected):
    """Rows that are equal but for rounding."""
    flat = [[value for row in each for value in row] for each in (found, expected)]
    return flat[0] == pytest.approx(flat[1], abs=1e-12)


def data(seed=0, n_queries=30, one_document=True):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1 if one_document else 2, 25, n_queries)
    n = lengths.sum()
    groups = np.repeat(rng.permutation(n_queries), lengths)
    scores = [rng.normal(size=n), rng.integers(0, 3, n), np.zeros(n), rng.integers(-1, 9, n) / 2]
    y = rng.integers(0, 5, n)
    y *= rng.integers(0, 2, n_queries)[groups]  # some queries have no relevant document
    s = scores[seed % 4].astype(float)
    s[rng.random(n) < 0.1] = -np.inf
    order = rng.permutation(n)
    return {"y": y[order], "s": s[order], "q": groups[order], "w": rng.random(n)[order]}


OPTIONS = [
    {},
    {"k": 1},
    {"k": 5, "gain": "exponential"},
    {"k": "retrieved"},
    {"discount": "reciprocal", "gain": [0, 1, 1, 5, 9.5]},
    {"discount": "none", "gain": {0: 0, 1: 1.5, 2: 2, 3: 4, 4: 4}, "k": 3},
    {"ties": "worst", "k": 7},
    {"ties": "best"},
    {"ties": "best", "k": "retrieved", "undefined": "omit"},
    {"undefined": 1.0, "gain": np.arange(5.0)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_same_table_from_every_engine(engine, options):
    for seed in range(1 if engine.name == "pyspark" else 4):  # which is slow on small data
        columns = data(seed)
        given = {"undefined": 0.0} | options
        y, s, q, w = columns.values()
        found = rows(ndcg_by_query(engine(columns), **COLUMNS, **given))
        keys = np.unique(q)
        only = {name: value for name, value in given.items() if name != "undefined"}
        values = {
            "q": keys,
            "n_documents": np.bincount(q, minlength=len(keys)),
            "dcg": sklearn_ndcg.dcg_samples(y, s, groups=q, **only),
            "ideal_dcg": ideals(y, s, q, **only),
            "ndcg": sklearn_ndcg.ndcg_samples(y, s, groups=q, **given),
        }
        assert same(found, rows(pd.DataFrame(values)))
        for weight in (None, "w"):
            mean = ndcg_score(engine(columns), **COLUMNS, sample_weight=weight, **given)
            expected = sklearn_ndcg.ndcg_score(
                y, s, groups=q, sample_weight=None if weight is None else w, **given
            )
            assert mean == pytest.approx(expected, abs=1e-12)


def ideals(y, s, q, k=None, **options):
    """The DCG of the best order, with the same cutoff."""
    options.pop("ties", None)
    found = []
    for query in np.unique(q):
        mine = q == query
        n = max(np.sum(s[mine] > -np.inf), 1) if k == "retrieved" else k
        gains = y[mine]
        best = gains
        if isinstance(options.get("gain"), list | dict):
            best = np.array([options["gain"][grade] for grade in gains])
        found.append(sklearn_ndcg.dcg_samples([[*gains, 0]], [[*best, -np.inf]], k=n, **options)[0])
    return np.array(found)


def test_columns_and_engine_of_the_result(engine):
    columns = data()
    frame = engine(columns)
    found = ndcg_by_query(frame, **COLUMNS, undefined=0.0)
    assert type(found) is type(frame)
    names = nw.from_native(found).collect_schema()
    assert list(names) == ["q", "n_documents", "dcg", "ideal_dcg", "ndcg"]
    assert [str(kind) for kind in names.values()] == ["Int64", "Int64", *["Float64"] * 3]


def test_several_keys_of_several_types(engine):
    columns = data(1)
    columns["day"] = pd.to_datetime(columns["q"] % 3, unit="D").date
    columns["user"] = [f"user {query // 3}" for query in columns["q"]]
    given = COLUMNS | {"groups": ["user", "day"]}
    found = rows(ndcg_by_query(engine(columns), **given, k=5, undefined=0.0))
    expected = rows(ndcg_by_query(engine(columns), **COLUMNS, k=5, undefined=0.0))
    assert same(sorted(row[2:] for row in found), sorted(row[1:] for row in expected))
    assert {row[0] for row in found} == set(columns["user"])


def test_text_ids_keep_a_nul_at_their_end(engine):
    columns = {"q": ["a", "a\0", "a", "a\0"], "y": [1, 0, 0, 1], "s": [0.9, 0.8, 0.1, 0.2]}
    found = rows(ndcg_by_query(engine(columns), **COLUMNS))
    assert same([row[1:] for row in found], [(2, 1, 1, 1), (2, 1 / np.log2(3), 1, 1 / np.log2(3))])
    assert [row[0] for row in found] == ["a", "a\0"]


def test_ids_that_are_unique_per_row(engine):
    columns = {"q": [1, 2, 3], "y": [1, 0, 1], "s": [0.9, 0.8, 0.1]}
    unique, pairs, single = (
        engine(each)
        for each in (columns, columns | {"q": [1, 2, 2]}, {"q": [1], "y": [1], "s": [1]})
    )
    with pytest.warns(UserWarning, match="Each of the 3 queries has a single document") as caught:
        assert ndcg_score(unique, **COLUMNS, undefined="omit") == 1
    assert caught.pop(UserWarning).filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ndcg_score(pairs, **COLUMNS) == pytest.approx((1 + 1 / np.log2(3)) / 2)
        assert ndcg_score(single, **COLUMNS) == 1


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
    assert same(
        rows(ndcg_by_query(frame, **COLUMNS, **options)),
        [(1, 2, 1 / np.log2(3), 1, 1 / np.log2(3)), (2, 2, None, None, None), (3, 1, 0, 0, 0.5)],
    )
    message = "1 of 3 queries cannot be scored" if engine.is_lazy else "first at index 2"
    if engine.in_passes:
        name = {"s": "y_score", "y": "y_true"}[column]
        message = f"{name} must be finite.*found 1 row where it is null.*for example in query 2"
    with pytest.raises(ValueError, match=message):
        ndcg_score(frame, **COLUMNS, **options)


def test_negative_gain(engine):
    frame = engine({"q": [1, 1, 2], "y": [1.0, -1, 1], "s": [0.0, 1, 2]})
    if engine.is_lazy:
        found = rows(ndcg_by_query(frame, **COLUMNS))
        assert found == [(1, 2, None, None, None), (2, 1, 1, 1, 1)]
        for options in (
            {"gain": "exponential"}, {"gain": [0, 1]}, {"gain": np.array([-1, 1, 1])},
        ):  # fmt: skip
            assert rows(ndcg_by_query(frame, **COLUMNS, **options))[0][2:] == (None, None, None)
        message = "negative y_true values" if engine.in_passes else "1 of 2 queries cannot"
        with pytest.raises(ValueError, match=message):
            ndcg_score(frame, **COLUMNS)
    else:
        with pytest.raises(ValueError, match="negative y_true values"):
            ndcg_by_query(frame, **COLUMNS)


def test_a_gain_table_of_many_grades(engine):
    n = 400 if engine.name == "pyspark" else 1000  # more than the depth of an expression
    rng = np.random.default_rng(0)
    gain = rng.permutation(n).astype(float)
    columns = {"y": np.arange(n), "s": -np.arange(n), "q": np.arange(n) // 20}
    discounts = 1 / np.log2(np.arange(20) + 2)
    by_query = gain.reshape(-1, 20)
    expected = (by_query @ discounts) / (-np.sort(-by_query) @ discounts)
    table = {int(grade): gain[grade] for grade in rng.permutation(n)}
    found = rows(ndcg_by_query(engine(columns), **COLUMNS, gain=table))
    assert [row[-1] for row in sorted(found)] == pytest.approx(expected.tolist(), abs=1e-12)


def test_a_gain_table_of_few_grades(engine):
    frame = engine({"q": [1, 1, 1], "y": [0.5, -2.0, 7.0], "s": [3, 2, 1]})
    found = rows(ndcg_by_query(frame, **COLUMNS, gain={7: 1.0, 0.5: 4.0, -2: 2.0}))
    dcg, ideal = 4 + 2 / np.log2(3) + 1 / 2, 4 + 2 / np.log2(3) + 1 / 2
    assert same(found, [(1, 3, dcg, ideal, 1)])
    found = rows(ndcg_by_query(engine({"q": [1], "y": [2], "s": [1]}), **COLUMNS, gain={2: 3}))
    assert same(found, [(1, 1, 3, 3, 1)])
    if engine.is_lazy:  # between the grades of a table there is no gain
        frame = engine({"q": [1, 1], "y": [0.5, 3.0], "s": [3, 2]})
        assert rows(ndcg_by_query(frame, **COLUMNS, gain={0.5: 1, 7: 2}))[0][2:] == (None,) * 3


def test_gain_that_overflows(engine):
    frame = engine({"q": [1, 1, 2], "y": [1e4, 1, 1], "s": [0.0, 1, 2]})
    if engine.is_lazy:
        found = rows(ndcg_by_query(frame, **COLUMNS, gain="exponential"))
        assert found == [(1, 2, None, None, None), (2, 1, 1, 1, 1)]
    else:
        with pytest.raises(ValueError, match="gain must be finite"):
            ndcg_by_query(frame, **COLUMNS, gain="exponential")


@pytest.mark.parametrize(("unjudged", "first"), [("zero", 1 / np.log2(3)), ("omit", 1)])
def test_unjudged(engine, unjudged, first):
    columns = {"q": [1, 1, 2, 2], "y": [1.0, None, None, np.nan], "s": [0.0, 1, 1, 2]}
    columns["w"] = [1.0, 3, 1, 1]
    found = rows(ndcg_by_query(engine(columns), **COLUMNS, unjudged=unjudged, undefined=0.0))
    n = (1, 0) if unjudged == "omit" else (2, 2)
    assert same(found, [(1, n[0], first, 1, first), (2, n[1], 0, 0, 0)])
    weight = 1 if unjudged == "omit" else 2  # omitted rows are out of the weight too
    options = {"unjudged": unjudged, "undefined": 0.0, "sample_weight": "w"}
    mean = ndcg_score(engine(columns), **COLUMNS, **options)
    assert mean == pytest.approx(first * weight / (weight + 1))


def test_columns_may_have_any_name(engine):
    names = ["gain", "score", "rank"]
    columns = dict(zip(names, ([1, 1, 2], [0, 1, 1], [1.0, 0, 0]), strict=True))
    found = ndcg_by_query(engine(columns), y_true="score", y_score="rank", groups="gain")
    assert same(rows(found), [(1, 2, 1 / np.log2(3), 1, 1 / np.log2(3)), (2, 1, 1, 1, 1)])


def test_scores_keep_their_order(engine):
    # integers that float64 would tie, zeros of either sign, float32, bool
    large = {"q": [1, 1], "y": [1, 0], "s": [2**53 + 1, 2**53]}
    assert ndcg_score(engine(large), **COLUMNS, ties="worst") == 1
    unsigned = {"q": [1, 1], "y": [0, 1], "s": pa.array([0, 2**64 - 1], pa.uint64())}
    if engine.name != "pyspark":  # which has no unsigned integers
        for ties in ("average", "worst", "best"):
            assert ndcg_score(engine(unsigned), **COLUMNS, ties=ties) == 1
    zeros = {"q": [1, 1], "y": [1, 0], "s": [-0.0, 0.0]}
    assert ndcg_score(engine(zeros), **COLUMNS, ties="best") == 1
    assert ndcg_score(engine(zeros), **COLUMNS, ties="worst") < 1
    single = {"q": [1, 1], "y": [True, False], "s": pa.array([0.25, 0.125], pa.float32())}
    assert ndcg_score(engine(single), **COLUMNS) == 1
    flags = {"q": [1, 1], "y": [0, 1], "s": [True, False]}
    assert ndcg_score(engine(flags), **COLUMNS) == pytest.approx(1 / np.log2(3))


def test_scores_keep_their_order_beside_a_null():
    pl = pytest.importorskip("polars")
    rows = {"q": [1, 1, 2], "y": [0, 1, 1], "s": [2**60, 2**60 + 1, None]}
    found = ndcg_by_query(pl.DataFrame(rows), **COLUMNS)["ndcg"].to_list()
    lazy = ndcg_by_query(pl.LazyFrame(rows), **COLUMNS).sort("q").collect()["ndcg"].to_list()
    assert found == lazy == [1, None]


def test_huge_weights_of_a_lazy_table():
    pl = pytest.importorskip("polars")
    rows = {"q": [1, 1, 2], "y": [1, 0, 1], "s": [2, 1, 2], "w": [1e300] * 3}
    assert ndcg_score(pl.LazyFrame(rows), **COLUMNS, sample_weight="w") == 1


def test_undefined_queries_warn(engine):
    frame = engine({"q": [1, 1, 2], "y": [0, 0, 1], "s": [1, 2, 3]})
    with pytest.warns(UndefinedMetricWarning, match="undefined for 1 of 2") as caught:
        assert ndcg_score(frame, **COLUMNS) == 0.5
    assert caught[0].filename == __file__
    assert ndcg_score(frame, **COLUMNS, undefined="omit") == 1
    if not engine.is_lazy:
        with pytest.warns(UndefinedMetricWarning) as caught:
            ndcg_by_query(frame, **COLUMNS)
        assert caught[0].filename == __file__
    nothing = engine({"q": [1], "y": [0], "s": [1]})
    assert np.isnan(ndcg_score(nothing, **COLUMNS, undefined="omit"))


def test_null_in_a_key(engine):
    frame = engine({"q": ["a", None, "b"], "y": [1, 1, 1], "s": [1, 2, 3]})
    if engine.is_lazy:
        assert rows(ndcg_by_query(frame, **COLUMNS)) == [
            ("a", 1, 1, 1, 1), ("b", 1, 1, 1, 1), (None, 1, None, None, None),
        ]  # fmt: skip
        message = "1 of 3 queries cannot be scored.*the id has a null"
        if engine.in_passes:
            message = "groups must not be missing, found 1 row with a missing id, in q"
        with pytest.raises(ValueError, match=message):
            ndcg_score(frame, **COLUMNS)
    else:
        with pytest.raises(ValueError, match="groups must not be missing"):
            ndcg_by_query(frame, **COLUMNS)


BAD = {
    "column": (
        {"y_true": "grade"},
        ValueError,
        "y_true='grade' is not a column of the table.*q, y, s",
    ),
    "score column": ({"y_score": "no"}, ValueError, "y_score='no' is not a column"),
    "key": ({"groups": ["q", "no"]}, ValueError, "groups='no' is not a column"),
    "no key": ({"groups": []}, TypeError, "groups must name a column"),
    "no key, None": ({"groups": None}, TypeError, "groups must name a column"),
    "key that is a number": ({"groups": 5}, TypeError, "groups must name a column"),
    "key type": ({"groups": [1]}, TypeError, "groups must name a column"),
    "same key": ({"groups": ["q", "q"]}, ValueError, "different columns"),
    "text": ({"y_true": "t"}, TypeError, "y_true='t' must be a column of numbers, is String"),
    "option": ({"log_base": 2}, TypeError, "has no option 'log_base'"),
    "value": ({"ties": "none"}, ValueError, "ties must be one of"),
    "cutoff": ({"k": 0}, ValueError, "k must be an integer >= 1"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("function", [ndcg_by_query, ndcg_score])
def test_bad_arguments(engine, function, case):
    given, error, message = BAD[case]
    frame = engine({"q": [1], "y": [1], "s": [1.0], "t": ["1"]})
    with pytest.raises(error, match=message):
        function(frame, **(COLUMNS | given))


def test_a_table_whose_columns_are_numbers():
    with pytest.raises(ValueError, match="y_true='y' is not a column"):
        ndcg_score(pd.DataFrame({0: [1]}), **COLUMNS)


def test_a_key_that_is_named_like_a_column_of_the_result(engine):
    frame = engine({"dcg": [1], "y": [1], "s": [1.0]})
    with pytest.raises(ValueError, match="none called n_documents, dcg"):
        ndcg_by_query(frame, y_true="y", y_score="s", groups="dcg")


@pytest.mark.parametrize("function", [ndcg_by_query, ndcg_score])
def test_what_no_relational_engine_can_express(engine, function):
    frame = engine({"q": [1, 1], "y": [1, 1], "s": [1.0, 1]})
    for options, message in (
        ({"ties": "stable"}, "ties='stable' takes the order of the rows"),
        ({"ignore_ties": True}, "ignore_ties=True takes the order"),
        ({"gain": np.sqrt}, "gain is a callable"),
        ({"discount": sklearn_ndcg.jarvelin_kekalainen()}, "discount is a callable"),
    ):
        if engine.is_lazy and not (function is ndcg_score and engine.in_passes):
            with pytest.raises(ValueError, match=message):
                function(frame, **COLUMNS, **options)
        else:
            assert function(frame, **COLUMNS, **options) is not None


def test_weights(engine):
    columns = {"q": [1, 1, 2], "y": [0, 1, 1], "s": [1, 0, 1], "w": [0.5, 1.5, 3]}
    mean = ndcg_score(engine(columns), **COLUMNS, sample_weight="w")
    assert mean == pytest.approx((1 / np.log2(3) + 3) / 4)
    for bad in (-1, np.nan, np.inf, None):
        with pytest.raises(ValueError, match="sample_weight must be finite and >= 0"):
            ndcg_score(engine(columns | {"w": [1, 1, bad]}), **COLUMNS, sample_weight="w")
    with pytest.raises(ValueError, match="sample_weight is 0 for every query"):
        ndcg_score(engine(columns | {"w": [0.0, 0, 0]}), **COLUMNS, sample_weight="w")


def test_an_empty_table(engine):
    columns = {"q": pa.array([], "int64"), "y": pa.array([], "int64"), "s": pa.array([], "double")}
    with pytest.raises(ValueError, match="0 rows|empty"):
        ndcg_score(engine(columns), **COLUMNS)


def test_input_is_not_changed():
    frame = pd.DataFrame(data())
    before = frame.copy(deep=True)
    ndcg_by_query(frame, **COLUMNS, undefined=0.0)
    pd.testing.assert_frame_equal(frame, before)


def test_polars_collects_nothing(monkeypatch):
    polars = pytest.importorskip("polars")

    def collect(self, *args, **kwargs):
        raise AssertionError("collected")

    frame = polars.LazyFrame(data())
    monkeypatch.setattr(polars.LazyFrame, "collect", collect)
    assert isinstance(ndcg_by_query(frame, **COLUMNS), polars.LazyFrame)


def test_duckdb_runs_nothing_until_asked():
    duckdb = pytest.importorskip("duckdb")
    connection, seen = duckdb.connect(), []
    connection.create_function("seen", lambda i: seen.append(i) or i, ["BIGINT"], "BIGINT")
    relation = connection.sql(
        "select seen(i) % 7 as q, i % 3 as y, i * 0.5 as s from range(99) t(i)"
    )
    found = ndcg_by_query(relation, **COLUMNS)
    assert seen == []
    found.fetchall()
    assert sorted(seen) == list(range(99))


def test_spark_moves_its_rows_once(spark):
    frame = spark.createDataFrame(pd.DataFrame(data()).to_dict("records")).repartition(3)
    for ties in ("average", "worst"):
        found = ndcg_by_query(frame, **COLUMNS, k=5, ties=ties)
        plan = found._jdf.queryExecution().executedPlan().toString()
        assert plan.count("Exchange hashpartitioning") == 1
        assert "Exchange SinglePartition" not in plan


def test_dask_is_refused_with_the_way_out():
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(pd.DataFrame(data()), npartitions=2)
    with pytest.raises(ValueError, match=r"Pass frame\.compute\(\), or read the same files"):
        ndcg_by_query(frame, **COLUMNS)


@pytest.mark.parametrize("frame", [np.zeros((3, 3)), {"q": [1]}, None])
def test_inputs_that_are_not_tables(frame):
    with pytest.raises(TypeError, match="frame must be a table of pandas, Polars, PyArrow"):
        ndcg_score(frame, **COLUMNS)


def test_without_narwhals_the_error_says_what_to_install():
    code = """
import sys, sklearn
sys.modules["narwhals.stable.v2"] = None  # scikit-learn may have Narwhals already
for code in (
    "import sklearn_ndcg.frames",
    "from sklearn_ndcg import frames",
    "import sklearn_ndcg; sklearn_ndcg.frames",
    "import sklearn_ndcg; sklearn_ndcg.frames.ndcg_score",
):
    try:
        exec(code, {})
    except ImportError as error:
        print(error)
print(hasattr(sys.modules["sklearn_ndcg"], "nonsense"))
"""
    # the package is on no index, so its extra does not help users of a clone
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    [needed] = project["optional-dependencies"]["frames"]
    *errors, has_nonsense = run_python(code).stdout.splitlines()
    assert len(errors) == 4
    for error in errors:
        assert error.startswith("sklearn_ndcg.frames needs Narwhals")
        assert "the extra `frames`" in error
        assert error.endswith(f'python -m pip install "{needed}"')
    assert has_nonsense == "False"


def test_frames_need_no_import_of_their_own():
    code = (
        "import sklearn_ndcg; print('frames' in vars(sklearn_ndcg));"
        "print(sklearn_ndcg.frames.ndcg_score.__module__, hasattr(sklearn_ndcg, 'nonsense'))"
    )
    assert run_python(code).stdout.splitlines() == ["False", "sklearn_ndcg.frames False"]
    with pytest.raises(AttributeError, match="module 'sklearn_ndcg' has no attribute 'nonsense'"):
        _ = sklearn_ndcg.nonsense


@pytest.mark.parametrize("weights", [[1e-322, 2e-322, 5e-323], [1e-305, 3e-305, 2e-306], [1e300] * 3,
                                     [1e17, 1.0, 1e17]])  # fmt: skip
@pytest.mark.parametrize("replacement", [0.0, 0.5, 1e20, np.nan])
def test_one_mean_whatever_computes_it(weights, replacement):
    pl = pytest.importorskip("polars")
    rows = {"q": [1, 1, 2, 2, 3, 3], "y": [0, 2, 0, 0, 1, 1], "s": [3.0, 2, 2, 1, 2, 1]}
    rows["w"] = np.repeat(weights, 2).tolist()
    options = {"groups": rows["q"], "sample_weight": rows["w"], "undefined": replacement}
    expected = sklearn_ndcg.ndcg_score(rows["y"], rows["s"], k=2, **options)
    curve = sklearn_ndcg.ndcg_curve(rows["y"], rows["s"], k=[1, 2], **options)[1]
    assert curve[1] == pytest.approx(expected, rel=1e-14)
    lazy = ndcg_score(pl.LazyFrame(rows), **COLUMNS, k=2, sample_weight="w",
                      undefined=replacement)  # fmt: skip
    # sums of weights below 1e-308 have few digits in an engine
    assert lazy == pytest.approx(expected, rel=1e-14 if min(weights) > 1e-300 else 0.02)


@pytest.mark.parametrize("kind", ["gain", "discount"])
def test_a_named_formula_is_the_same_for_arrays_and_for_columns(kind):
    pl = pytest.importorskip("polars")
    values = np.arange(1.0, 40)
    for name, formula in {"gain": GAINS, "discount": DISCOUNTS}[kind].items():
        found = nw.from_native(pl.DataFrame({"x": values})).select(formula.of_column(nw.col("x")))
        expected = np.broadcast_to(formula.of_array(values), values.shape)
        np.testing.assert_allclose(found.to_numpy().ravel(), expected, rtol=1e-14, err_msg=name)


@pytest.mark.parametrize("unjudged", ["raise", "zero", "omit"])
def test_a_query_that_is_null_needs_no_gain(unjudged):
    pl = pytest.importorskip("polars")
    rows = {"q": [0, 0, 0, 1, 1], "y": [1.0, 2, None, 1, 2], "s": [np.nan, 0.5, np.nan, 0.2, 0.1]}
    options = {**COLUMNS, "gain": {1: 1, 2: 3}, "unjudged": unjudged}
    eager, lazy = (
        frame if isinstance(frame, pl.DataFrame) else frame.collect()
        for frame in (ndcg_by_query(make(rows), **options) for make in (pl.DataFrame, pl.LazyFrame))
    )
    eager, lazy = eager.sort("q").rows(), lazy.sort("q").rows()
    assert eager[0] == lazy[0]
    assert eager[1] == pytest.approx(lazy[1], rel=1e-14)
    assert eager[0] == (0, 2 if unjudged == "omit" else 3, None, None, None)


def test_relevance_beyond_the_exponents_of_float64(engine):
    """It has a linear gain, and no exponential one."""
    frame = engine({"q": [1, 1, 2, 2], "y": [2000.0, 1, 1, 0], "s": [0.0, 1, 1, 0]})
    second = 1 / np.log2(3)
    assert same(
        rows(ndcg_by_query(frame, **COLUMNS)),
        [(1, 2, 1 + 2000 * second, 2000 + second, (1 + 2000 * second) / (2000 + second)),
         (2, 2, 1, 1, 1)],
    )  # fmt: skip
    if engine.is_lazy:
        found = rows(ndcg_by_query(frame, **COLUMNS, gain="exponential"))
        assert same(found, [(1, 2, None, None, None), (2, 2, 1, 1, 1)])
    else:
        with pytest.raises(ValueError, match="gain must be finite"):
            ndcg_by_query(frame, **COLUMNS, gain="exponential")
