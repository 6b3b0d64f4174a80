"""What one part of a table gives: sums over its queries, or their results as a table.

A part has all rows of some of the queries, in an eager table. `columns` has the names of columns
by argument, and `options` those of a `Measure`: plain data, which go to the workers of a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import Ints, import_optional
from sklearn_ndcg._metrics.inputs import read_batch
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg._metrics.queries import LARGEST_WEIGHT, Queries, Totals
from sklearn_ndcg._rows.grouping import Grouping, shown_labels
from sklearn_ndcg._rows.ids import encode_ids, first_rows

_NEEDS = "sklearn_ndcg.frames needs Narwhals, which is the extra `frames`"
nw = import_optional("narwhals.stable.v2", _NEEDS, "narwhals>=2.10")

Columns = Mapping[str, list[str]]
Options = Mapping[str, Any]
Masks = Mapping[str, NDArray[np.bool_]]
Wrong = Mapping[str, tuple[int, str]]

_REAL = nw.Float64()
RESULTS: Mapping[str, Mapping[str, Any]] = {  # beside the columns that an argument names
    "groups": {"n_documents": nw.Int64(), "dcg": _REAL, "ideal_dcg": _REAL, "ndcg": _REAL},
    "segments": {"n_queries": nw.Int64(), "n_undefined": nw.Int64(), "ndcg": _REAL},
}
_NOT_IN_NUMPY = (nw.Decimal, nw.Int128, nw.UInt128)
_WRONG = {
    "groups": "groups ({keys}) has {rows} with a missing id. Leave these rows out, or give them an "
    "id.",
    "segments": "segments ({keys}) has {rows} with a missing segment. Leave these rows out, or "
    "give them a segment.",
    "several segments": "segments must hold whole queries, but {queries} rows in several, "
    "{query}. Give all of its rows the same segment, for example that of its first row, or score "
    "its rows in each segment as a query: pass the columns of segments in groups, too.",
    "y_true": "y_true must be finite, found {rows} where it is null, NaN or infinite, {query}. If "
    "null or NaN stands for unjudged documents, pass unjudged='zero' to count them as not relevant "
    "or unjudged='omit' to take them out of the ranking.",
    "y_score": "y_score must be finite, or -inf for what was not retrieved; found {rows} where it "
    "is null, NaN or +inf, {query}.",
    "sample_weight": "sample_weight must be finite and >= 0, at most 1e300, found {rows} where it "
    "is not, {query}.",
}


class Sums(NamedTuple):
    """Sums over the queries of each segment of a part, or what is wrong with its rows.

    `segments` is a table with a row for each segment, or None if all queries are one segment.
    `wrong` has, by argument, the number of wrong rows and the query of the first.
    """

    n_rows: int
    totals: Sequence[Totals] = ()
    segments: Any = None
    wrong: Wrong | None = None


class Results(NamedTuple):
    """The results of the queries of a part, as a table of its engine."""

    n_rows: int
    n_single: int
    n_undefined: int
    table: Any


def sum_part(rows: Any, columns: Columns, options: Options) -> Sums:
    """The sums from which means are computed."""
    table, measure = nw.from_native(rows, eager_only=True), Measure(**options)
    if not len(table):
        return Sums(0)
    arrays = _arrays(table, columns)
    try:
        queries = read_batch(measure, *arrays, sort=False)
        if "segments" not in columns:
            return Sums(len(table), [queries.totals()])
        query = queries.grouping.row_codes()
        first = first_rows(query)
        elsewhere = _in_another(table, columns, query, first)
    except ValueError:
        wrong = _examples(_wrong_rows(table, columns, measure, *arrays), table, columns)
        if wrong:
            return Sums(len(table), wrong=wrong)
        raise
    if elsewhere.any():
        several = np.isin(np.arange(len(table)), first[query[elsewhere]])
        return Sums(len(table), wrong=_examples({"several segments": several}, table, columns))
    keys = _rows_of(table, "segments", columns, first)
    codes = _grouping(keys, columns["segments"], sort=False).row_codes()
    segments = _rows_of(keys, "segments", columns, first_rows(codes)).to_native()
    return Sums(len(table), queries.totals_by(codes), segments)


def segments_table(parts: Iterable[Sums], columns: Columns) -> Any:
    """The results of the segments of all parts as a native table, in the order of segments."""
    parts = [part for part in parts if part.totals]
    keys = nw.concat([nw.from_native(part.segments, eager_only=True) for part in parts])
    codes = _grouping(keys, columns["segments"], sort=True).row_codes()
    totals: list[list[Totals]] = [[] for _ in range(codes.max() + 1)]
    for code, each in zip(codes, (each for part in parts for each in part.totals), strict=True):
        totals[code].append(each)
    sums = [Totals.of_parts(each) for each in totals]
    ndcg = [float(each.total[0] / each.weight) if each.weight else None for each in sums]
    counts = [each.n_queries for each in sums], [each.n_undefined for each in sums]
    keys = _rows_of(keys, "segments", columns, first_rows(codes))
    return _with_results(keys, [*counts, ndcg], "segments")


def score_part(rows: Any, columns: Columns, options: Options, is_lazy: bool = False) -> Results:
    """The results of each query, sorted by id; nulls if a query has a wrong row.

    The engine joins a lazy result itself, so undefined queries that are an error raise here.
    Otherwise the caller counts them in all parts.
    """
    table, measure = nw.from_native(rows, eager_only=True), Measure(**options)
    keys = table.select(columns["groups"])
    if not len(table):
        return Results(0, 0, 0, _with_results(keys, [[]] * 4, "groups"))
    relevance, score, ids, _ = arrays = _arrays(table, columns)
    wrong = _wrong_rows(table, columns, measure, *arrays)
    if wrong["groups"].any():
        refuse_wrong_rows([_examples(wrong, table, columns)], columns)
    judged = ~np.isnan(relevance) if measure.unjudged == "omit" else None
    invalid = wrong["y_true"] | wrong["y_score"]
    if invalid.any():  # any valid values will do, as the results of these queries are null
        if measure.unjudged == "raise":
            measure = replace(measure, unjudged="zero")
        relevance, score = np.where(invalid, np.nan, relevance), np.where(invalid, 0, score)
    queries = read_batch(measure, relevance, score, ids)
    codes = queries.grouping.row_codes()
    is_null = np.bincount(codes, weights=invalid) > 0
    dcg, ideal = (each[:, 0] for each in queries.dcg_and_ideal())
    ndcg = Queries.ndcg(dcg, ideal)
    undefined = np.isnan(ndcg) & ~is_null
    n_undefined = int(undefined.sum())
    if n_undefined and is_lazy and measure.undefined_rule.raises:
        measure.report_undefined(n_undefined, len(ndcg))
    ndcg[undefined] = measure.undefined_rule.value
    no_ndcg = is_null | np.isnan(ndcg)  # undefined queries that are omitted
    results: list[Any] = [
        np.where(null, np.array(None), values).tolist() if null.any() else values
        for null, values in ((is_null, dcg), (is_null, ideal), (no_ndcg, ndcg))
    ]
    n_documents = np.bincount(codes, weights=judged).astype(np.int64)
    keys = _rows_of(table, "groups", columns, first_rows(codes))
    found = _with_results(keys, [n_documents, *results], "groups")
    return Results(len(table), queries.grouping.n_single, n_undefined, found)


def refuse_wrong_rows(parts: Iterable[Wrong | None], columns: Columns) -> None:
    """Raise if parts have wrong rows, with their number in all parts."""
    for argument, message in _WRONG.items():
        found = [part[argument] for part in parts if part and argument in part]
        if found:
            n, query = sum(count for count, _ in found), f"for example in query {found[0][1]}"
            rows = f"{n:,} row{'s' * (n > 1)}"
            queries = f"{n:,} quer{'ies have' if n > 1 else 'y has'}"
            keys = ", ".join(columns.get(argument, ()))
            raise ValueError(message.format(rows=rows, queries=queries, keys=keys, query=query))


def _arrays(table: Any, columns: Columns) -> tuple[NDArray[Any], NDArray[Any], Any, Any]:
    """Relevance, scores, native ids, and weights or None."""
    score, weights = _exact(table[columns["y_score"][0]]), columns.get("sample_weight")
    weight = None if weights is None else _numbers(table[weights[0]])
    ids = _ids(table, columns["groups"])
    return _numbers(table[columns["y_true"][0]]), _numbers(score), ids, weight


def _ids(table: Any, names: list[str]) -> Any:
    """Native ids, as Narwhals would turn text into fixed-width arrays without NULs at the end."""
    keys = list(map(_exact, _keys(table, names)))
    return nw.to_native(keys[0] if len(keys) == 1 else table.select(keys))


def _keys(table: Any, names: list[str]) -> list[Any]:
    """The columns of ids, NaN as null, as in Arrow NaN would be an id like others."""
    keys = map(table.get_column, names)
    return [key.fill_nan(None) if key.dtype.is_float() else key for key in keys]


def _grouping(table: Any, names: list[str], sort: bool) -> Grouping:
    """Which rows belong to one segment."""
    return Grouping.of_ids(_ids(table, names), len(table), sort=sort, name="segments")


def _in_another(table: Any, columns: Columns, query: Ints, first: Ints) -> NDArray[np.bool_]:
    """Which rows are in another segment than the first row of their query."""
    names = [name for name in columns["segments"] if name not in columns["groups"]]
    each = [encode_ids(_ids(table, [name]), len(table), "segments")[0] for name in names]
    if all((ids == ids[first][query]).all() for ids in each):
        return np.zeros(len(table), dtype=bool)
    # equal segments may have several codes here, for example as categories
    codes = _grouping(table, columns["segments"], sort=False).row_codes()
    return np.asarray(codes != codes[first][query])


def _rows_of(table: Any, argument: str, columns: Columns, rows: Ints) -> Any:
    """The columns of an argument in some rows."""
    try:
        return nw.maybe_reset_index(table.select(columns[argument])[rows])
    except NotImplementedError as error:  # such as Arrow's string_view
        raise TypeError(
            f"{argument} must be columns whose rows can be selected, for example string: {error}"
        ) from error


def _exact(column: Any) -> Any:
    """A column to compare: its ranks if an array of floats would make distinct values equal."""
    is_rounded = column.dtype.is_integer() and column.null_count()
    return column.rank("dense") if is_rounded or column.dtype in _NOT_IN_NUMPY else column


def _numbers(column: Any) -> NDArray[Any]:
    """A column of numbers as an array, null as NaN."""
    if column.null_count() or column.dtype in _NOT_IN_NUMPY:
        column = column.cast(nw.Float64)
    return np.asarray(column.to_numpy())


def _wrong_rows(
    table: Any, columns: Columns, measure: Measure, relevance: Any, score: Any, _: Any, weight: Any
) -> Masks:
    """By argument, which rows cannot be scored, whatever the gain is."""
    wrong = {
        argument: np.any([key.is_null().to_numpy() for key in _keys(table, columns[argument])], 0)
        for argument in columns.keys() & RESULTS
    }
    wrong["y_true"] = np.isinf(relevance) | (np.isnan(relevance) & (measure.unjudged == "raise"))
    wrong["y_score"] = ~(score < np.inf)
    if weight is not None:
        wrong["sample_weight"] = ~((weight >= 0) & (weight <= LARGEST_WEIGHT))
    return wrong


def _examples(wrong: Masks, table: Any, columns: Columns) -> Wrong:
    """By argument, how many rows are wrong, and the query of the first."""
    found = {}
    for argument, mask in wrong.items():
        if mask.any():
            [label] = table.select(columns["groups"])[[int(mask.argmax())]].rows()
            labels = np.fromiter([label if len(label) > 1 else label[0]], dtype=object, count=1)
            found[argument] = int(mask.sum()), shown_labels(labels)
    return found


def _with_results(keys: Any, columns: Sequence[Any], argument: str) -> Any:
    """Keys and results beside them, as a native table."""
    named = dict(zip(RESULTS[argument], columns, strict=True))
    results = nw.from_dict(named, RESULTS[argument], backend=nw.get_native_namespace(keys))
    return keys.with_columns(*results.iter_columns()).to_native()
