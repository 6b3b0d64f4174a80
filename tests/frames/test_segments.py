"""NDCG by segment: the scores of the rows of each segment, from every engine."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import UndefinedMetricWarning

import sklearn_ndcg

nw = pytest.importorskip("narwhals.stable.v2", reason="the extra `frames` is not installed")
pa = pytest.importorskip("pyarrow")
from sklearn_ndcg.frames import ndcg_by_query, ndcg_by_segment, ndcg_score  # noqa: E402

COLUMNS = {"y_true": "y", "y_score": "s", "groups": "q"}
GIVEN = COLUMNS | {"segments": "day"}
N_QUERIES = 60
RESULTS = ["n_queries", "n_undefined", "ndcg"]


def data(seed=0, day=lambda q: q % 7):
    """Rows in a random order; the queries of day 3 have no relevant document."""
    rng = np.random.default_rng(seed)
    q = rng.permutation(np.repeat(np.arange(N_QUERIES), rng.integers(2, 25, N_QUERIES)))
    relevant = (rng.random(N_QUERIES) < 0.8) & (np.arange(N_QUERIES) % 7 != 3)
    y = rng.integers(0, 4, len(q)) * relevant[q]
    s = rng.integers(-2, 9, len(q)) / 2
    return {"y": y, "s": s, "q": q, "w": rng.random(len(q)), "day": day(q)}


def expected(columns, names=("day",), undefined="warn", weight=None, **options):
    """A row for each segment, by a loop over the segments of a pandas table."""
    table, found = pd.DataFrame(columns), []
    for key, rows in table.groupby(list(names)):
        given = {"groups": rows["q"], "sample_weight": None if weight is None else rows[weight]}
        value = 0.0 if undefined == "warn" else undefined
        ndcg = sklearn_ndcg.ndcg_score(rows["y"], rows["s"], **given, undefined=value, **options)
        each = sklearn_ndcg.ndcg_samples(
            rows["y"], rows["s"], groups=rows["q"], undefined="omit", **options
        )
        counts = len(each), int(np.isnan(each).sum())
        found.append((*key, *counts, None if np.isnan(ndcg) else ndcg))
    return found


def rows(frame):
    """The rows of a result of any engine in their order, NaN as None."""
    frame = frame.compute() if hasattr(frame, "compute") else frame
    table = nw.from_native(frame)
    table = table.collect() if isinstance(table, nw.LazyFrame) else table
    return [tuple(None if pd.isna(each) else each for each in row) for row in table.rows()]


def check(found, wanted, rel=1e-15):
    assert [row[:-1] for row in found] == [row[:-1] for row in wanted]
    assert [row[-1] for row in found] == [
        each[-1] if each[-1] is None else pytest.approx(each[-1], rel=rel) for each in wanted
    ]


def memory_of(n_parts, columns):
    return len(columns["q"]) * 144 / 2**20 / (n_parts - 0.5)


OPTIONS = [
    {"undefined": "omit", "weight": "w"},
    {"undefined": 0.25, "k": 3, "gain": "exponential", "weight": "w"},
    {"undefined": "warn", "k": "retrieved", "ties": "worst"},
    {"undefined": "omit", "gain": [0, 1, 5, 9], "discount": "reciprocal"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_segments_have_the_scores_of_their_rows(engine, options):
    columns = data(len(options))
    wanted = expected(columns, **options)
    assert {row[-1] is None for row in wanted} == {False, options["undefined"] == "omit"}
    weight = {"sample_weight": options["weight"]} if "weight" in options else {}
    given = GIVEN | weight | {name: each for name, each in options.items() if name != "weight"}
    frame = engine(columns)
    for n in (1, 4):
        found = ndcg_by_segment(frame, **given, working_memory=memory_of(n, columns))
        assert type(found) is type(frame)
        is_one_part = n == 1 and engine.name not in {"pyspark", "dask"}
        check(rows(found), wanted, rel=0 if is_one_part else 1e-15)


def test_the_names_and_kinds_of_the_columns(engine):
    found = ndcg_by_segment(engine(data()), **GIVEN, undefined=0)
    found = found.compute() if engine.name == "dask" else found
    schema = nw.from_native(found).collect_schema()
    assert list(schema) == ["day", *RESULTS]
    assert [str(kind) for kind in schema.values()] == ["Int64"] * 3 + ["Float64"]


KINDS = {
    "text": lambda q: [f"day {each % 11}" + "x" * (each % 2) for each in q],
    "date": lambda q: [datetime.date(2026, 1, 1) + datetime.timedelta(int(d)) for d in q % 9],
    "timestamp": lambda q: (q % 9).astype("M8[us]"),
    "zoned": lambda q: pa.array((q % 9).astype("M8[us]"), pa.timestamp("us", "Europe/Paris")),
    "float": lambda q: np.where(q % 3, q % 5 / 4, np.where(q % 2, -0.0, 0.0)),
    "bool": lambda q: q % 3 == 0,
    "int8": lambda q: (q % 5 - 2).astype(np.int8),
    "uint64": lambda q: (q % 5).astype(np.uint64) << np.uint64(61),
    "decimal": lambda q: pa.array([Decimal(int(each % 7)) / 4 for each in q], pa.decimal128(25, 2)),
    "dictionary": lambda q: pa.array([f"day {each % 7}" for each in q]).dictionary_encode(),
    "one": np.zeros_like,
    "one for each query": lambda q: -q,
}


@pytest.mark.parametrize("kind", KINDS)
def test_segments_of_any_kind(engine, kind):
    if engine.name == "pyspark" and kind in {"uint64", "dictionary"}:
        pytest.skip("Spark has no such columns")
    columns = data(1, KINDS[kind])
    day = columns["day"]
    plain = day.to_pylist() if isinstance(day, pa.Array | pa.ChunkedArray) else day
    wanted = expected(columns | {"day": plain}, undefined="omit", k=5)

    def keyed(table):
        return [(key(row[0]), *row[1:]) for row in table]

    def key(value):
        if kind in {"timestamp", "zoned"}:
            time = pd.Timestamp(value)
            return time.tz_localize("UTC") if time.tzinfo is None else time.tz_convert("UTC")
        value = value + 0.0 if kind == "float" else value  # one zero
        return str(value) if engine.name == "dask" else value  # Dask turns objects into text

    frame = engine(columns)
    for n in (1, 3):
        memory = memory_of(n, columns)
        found = rows(ndcg_by_segment(frame, **GIVEN, undefined="omit", k=5, working_memory=memory))
        check(keyed(found), keyed(wanted))


def test_several_columns_of_segments(engine):
    columns = data(2)
    columns |= {"country": [f"land {each % 2}" for each in columns["q"]]}
    given = COLUMNS | {"segments": ["country", "day"], "groups": ["q", "day"], "undefined": 0}
    found = rows(ndcg_by_segment(engine(columns), **given))
    check(found, expected(columns, ["country", "day"], undefined=0))


def test_segments_of_all_rows_are_the_mean(engine):
    columns = data(3) | {"all": ["all"] * len(data(3)["q"])}
    given = COLUMNS | {"undefined": 0.5, "sample_weight": "w"}
    [row] = rows(ndcg_by_segment(engine(columns), **given, segments="all"))
    assert row[1] == N_QUERIES
    assert row[-1] == pytest.approx(ndcg_score(engine(columns), **given), rel=1e-15)


def test_undefined_queries_are_in_one_warning_or_error(engine):
    columns = data()
    with pytest.warns(UndefinedMetricWarning) as wanted:
        sklearn_ndcg.ndcg_score(columns["y"], columns["s"], groups=columns["q"])
    with pytest.warns(UndefinedMetricWarning) as caught:
        ndcg_by_segment(engine(columns), **GIVEN, working_memory=memory_of(3, columns))
    [warning] = [each for each in caught if each.category is UndefinedMetricWarning]
    assert str(warning.message) == str(wanted[0].message)
    assert warning.filename == __file__
    with pytest.raises(ValueError, match=f"NDCG is undefined for .* of {N_QUERIES} queries"):
        ndcg_by_segment(engine(columns), **GIVEN, undefined="raise")


def test_queries_of_several_segments_are_counted_in_all_parts(engine):
    columns = data()
    days = np.array(columns["day"])
    wrong = [5, 17, 40]
    for query in wrong:
        days[np.flatnonzero(columns["q"] == query)[-1]] += 1
    frame = engine(columns | {"day": days})
    message = "segments must hold whole queries, but 3 queries have rows in several, for example in"
    for n in (1, 4):
        with pytest.raises(ValueError, match=rf"{message} query (5|17|40)\. Give all of its rows"):
            ndcg_by_segment(frame, **GIVEN, undefined=0, working_memory=memory_of(n, columns))
    found = ndcg_by_segment(frame, **GIVEN | {"groups": ["q", "day"]}, undefined=0)
    assert sum(row[1] for row in rows(found)) == N_QUERIES + 3
    days[columns["q"] != 5] = 0
    with pytest.raises(ValueError, match="but 1 query has rows in several, for example in query 5"):
        ndcg_by_segment(engine(columns | {"day": days}), **GIVEN, undefined=0)


def test_missing_segments_are_refused(engine):
    columns = data(0, lambda q: [None if each == 7 else f"day {each % 4}" for each in q])
    n = int(np.sum(columns["q"] == 7))
    columns["country"] = np.zeros(len(columns["q"]))
    given = GIVEN | {"segments": ["country", "day"], "undefined": 0}
    message = rf"segments \(country, day\) has {n} rows with a missing segment"
    for parts in (1, 3):
        with pytest.raises(ValueError, match=message):
            ndcg_by_segment(engine(columns), **given, working_memory=memory_of(parts, columns))
    columns["day"] = np.where(columns["q"] == 7, np.nan, 1.5)
    with pytest.raises(ValueError, match=f"segments .* has {n} rows with a missing segment"):
        ndcg_by_segment(engine(columns), **GIVEN, undefined=0)


def test_wrong_scores_and_weights_are_errors_as_in_a_mean(engine):
    columns = data()
    columns["s"][3] = np.nan
    with pytest.raises(ValueError, match="y_score must be finite, .*found 1 row where it is null"):
        ndcg_by_segment(engine(columns), **GIVEN, undefined=0)
    columns = data() | {"w": np.where(data()["day"] == 2, 0.0, 1.0)}
    found = rows(ndcg_by_segment(engine(columns), **GIVEN, undefined=0, sample_weight="w"))
    assert [row[0] for row in found if row[-1] is None] == [2]  # it has no weight
    columns["w"][:] = 0
    with pytest.raises(ValueError, match="sample_weight is 0 for every query"):
        ndcg_by_segment(engine(columns), **GIVEN, undefined=0, sample_weight="w")


def test_names_of_columns_are_checked():
    frame = pd.DataFrame(data()).assign(NDCG=1)
    for names in (["day", "day"], "NDCG"):
        with pytest.raises(ValueError, match="segments must name different columns, and none may"):
            ndcg_by_segment(frame, **GIVEN | {"segments": names})
    with pytest.raises(ValueError, match="segments='week' is not a column of the table"):
        ndcg_by_segment(frame, **GIVEN | {"segments": "week"})
    for names in ([], None, [1]):
        with pytest.raises(TypeError, match="segments must name a column"):
            ndcg_by_segment(frame, **GIVEN | {"segments": names})
    with pytest.raises(ValueError, match="The table has 0 rows"):
        ndcg_by_segment(frame.head(0), **GIVEN)


def test_weights_of_any_size_in_segments_of_their_own():
    columns = data()
    columns["w"] = columns["w"] * 10.0 ** np.where(columns["day"] % 2, 299, -300)
    wanted = expected(columns, undefined=0.5, weight="w")
    given = GIVEN | {"undefined": 0.5, "sample_weight": "w"}
    check(rows(ndcg_by_segment(pd.DataFrame(columns), **given)), wanted, rel=0)
    lazy = pytest.importorskip("polars").LazyFrame(columns)
    check(rows(ndcg_by_segment(lazy, **given, working_memory=memory_of(5, columns))), wanted)


def test_categories_that_pandas_has_in_another_order():
    columns = data(4, lambda q: [f"day {each % 3}" for each in q])
    day = pd.Categorical(columns["day"], ["day 2", "never", "day 0", "day 1"])
    found = rows(ndcg_by_segment(pd.DataFrame(columns | {"day": day}), **GIVEN, undefined=0))
    check(found, expected(columns, undefined=0))


def test_undefined_queries_that_are_omitted_are_null_by_query(engine):
    columns = data()
    found = rows(ndcg_by_query(engine(columns), **COLUMNS, undefined="omit"))
    values = sklearn_ndcg.ndcg_samples(
        columns["y"], columns["s"], groups=columns["q"], undefined="omit"
    )
    assert [row[-1] for row in sorted(found)] == [
        None if np.isnan(each) else pytest.approx(each) for each in values
    ]
    if engine.name == "duckdb":
        mean = ndcg_by_query(engine(columns), **COLUMNS, undefined="omit").aggregate("avg(ndcg)")
        assert mean.fetchall()[0][0] == pytest.approx(np.nanmean(values))
