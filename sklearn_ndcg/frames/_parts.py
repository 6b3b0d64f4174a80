"""What one part of a table gives: sums over its queries, or their results as a table.

A part has all rows of some of the queries, in an eager table. `columns` has the names of columns
by argument, and `options` those of a `Measure`: plain data, which go to the workers of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import import_optional
from sklearn_ndcg._metrics.measure import Measure
from sklearn_ndcg._metrics.queries import LARGEST_WEIGHT, Queries, Totals
from sklearn_ndcg._metrics.rankings import Rankings
from sklearn_ndcg._rows.grouping import shown_labels
from sklearn_ndcg._rows.ids import first_rows

_NEEDS = "sklearn_ndcg.frames needs Narwhals, which is the extra `frames`"
nw = import_optional("narwhals.stable.v2", _NEEDS, "narwhals>=2.10")

Columns = Mapping[str, list[str]]
Options = Mapping[str, Any]
Masks = Mapping[str, NDArray[np.bool_]]
Task = Callable[[Any], Any]  # from the rows of a part to `PartTotals` or `QueryTable`
WrongRows = Mapping[str, tuple[int, Any]]  # by argument: how many, and the ids of the first

_REAL = nw.Float64()
RESULT_COLUMNS = {"n_documents": nw.Int64(), "dcg": _REAL, "ideal_dcg": _REAL, "ndcg": _REAL}
_NOT_IN_NUMPY = (nw.Decimal, nw.Int128, nw.UInt128)
_ERRORS = {
    "groups": "groups ({keys}) has {rows} with a missing id. Leave them out, or give each an id.",
    "y_true": "y_true must be finite, found {rows} where it is null, NaN or infinite, for example "
    "in query {query}. If null or NaN stands for unjudged documents, pass unjudged='zero' to count "
    "them as not relevant or unjudged='omit' to take them out of the ranking.",
    "y_score": "y_score must be finite, or -inf for what was not retrieved; found {rows} where it "
    "is null, NaN or +inf, for example in query {query}.",
    "sample_weight": "sample_weight must be finite and >= 0, at most 1e300, found {rows} where it "
    "is not, for example in query {query}.",
}


class PartTotals(NamedTuple):
    """Sums over the queries of a part, or its wrong rows."""

    n_rows: int
    totals: Totals | None = None
    wrong: WrongRows | None = None


class QueryTable(NamedTuple):
    """The results of the queries of a part, as a table of its engine."""

    n_rows: int
    n_single: int
    n_undefined: int
    table: Any


def portable(function: Callable[..., Any], *arguments: Any) -> Task:
    """A function of this module that only needs the rows of a part.

    As an inner function it is sent to workers by value, so that it starts on any of them.
    """
    name, expected = function.__name__, import_module("sklearn_ndcg").__version__

    def run(rows: Any) -> Any:
        try:
            module = import_module("sklearn_ndcg.frames._parts")
            version = import_module("sklearn_ndcg").__version__
        except ImportError as error:
            version = f"none, {error}"
        if version != expected:
            raise ImportError(
                f"Every worker needs sklearn_ndcg {expected} with its extra `frames`, and PyArrow; "
                f"one has {version}."
            )
        return getattr(module, name)(rows, *arguments)

    return run


def sum_part(rows: Any, columns: Columns, options: Options) -> PartTotals:
    """The sums from which means are computed."""
    table, measure = nw.from_native(rows, eager_only=True), Measure(**options)
    if not len(table):
        return PartTotals(0)
    arrays = _arrays(table, columns)
    try:
        return PartTotals(len(table), _queries(measure, arrays, columns, sort=False).totals())
    except ValueError:
        wrong = _examples(_wrong_rows(table, columns, measure, arrays), table[columns["groups"]])
        if not wrong:
            raise
        return PartTotals(len(table), wrong=wrong)


def score_part(rows: Any, columns: Columns, options: Options, lazy: bool = False) -> QueryTable:
    """The results of each query, sorted by id; nulls if a query has a wrong row.

    The engine joins a lazy result itself, so undefined queries that are an error raise here.
    Otherwise the caller counts them in all parts.
    """
    table, measure = nw.from_native(rows, eager_only=True), Measure(**options)
    keys = table.select(columns["groups"])
    if not len(table):
        return QueryTable(0, 0, 0, _with_results(keys, dict.fromkeys(RESULT_COLUMNS, ())))
    relevance, score, ids, _ = arrays = _arrays(table, columns)
    wrong = _wrong_rows(table, columns, measure, arrays)
    if wrong["groups"].any():
        refuse_wrong_rows([_examples(wrong, keys)], columns)
    judged = ~np.isnan(relevance) if measure.unjudged == "omit" else None
    invalid = wrong["y_true"] | wrong["y_score"]
    if invalid.any():  # any valid values will do, as the results of these queries are null
        if measure.unjudged == "raise":
            measure = Measure(**{**options, "unjudged": "zero"})
        relevance, score = np.where(invalid, np.nan, relevance), np.where(invalid, 0, score)
    queries = _queries(measure, (relevance, score, ids, None), columns)
    codes = queries.grouping.row_codes()
    is_null = np.bincount(codes, weights=invalid) > 0
    dcg, ideal = (values[:, 0] for values in queries.dcg_and_ideal())
    ndcg = Queries.ndcg(dcg, ideal)
    undefined = np.isnan(ndcg) & ~is_null
    n_single, n_undefined = queries.grouping.n_single, int(undefined.sum())
    if n_undefined and lazy and measure.undefined_rule.raises:
        measure.warn_or_raise_if_undefined(n_undefined, len(ndcg))
    ndcg[undefined] = measure.undefined_rule.value
    dcg[is_null] = ideal[is_null] = ndcg[is_null] = np.nan
    n_documents = np.bincount(codes, weights=judged).astype(np.int64)
    try:
        keys = nw.maybe_reset_index(keys[first_rows(codes)])
    except NotImplementedError as error:  # such as Arrow's string_view
        raise TypeError(
            f"groups must be columns whose rows can be selected, for example string: {error}"
        ) from error
    values = {"n_documents": n_documents, "dcg": dcg, "ideal_dcg": ideal, "ndcg": ndcg}
    return QueryTable(len(table), n_single, n_undefined, _with_results(keys, values))


def _queries(measure: Measure, arrays: Any, columns: Columns, sort: bool = True) -> Queries:
    relevance, score, ids, weight = arrays
    try:
        rankings = Rankings.of_arrays(relevance, {None: score}, ids, weight, sort)
    except TypeError as error:  # of ids, as other columns hold numbers
        raise TypeError(f"groups={columns['groups']} must name columns of ids: {error}") from error
    return replace(rankings, is_part=True).queries(measure, are_all=False)[0]


def refuse_wrong_rows(wrong_of_parts: Iterable[WrongRows | None], columns: Columns) -> None:
    """Raise if parts have wrong rows, with their number in all parts."""
    for argument, message in _ERRORS.items():
        counts = [wrong[argument] for wrong in wrong_of_parts if wrong and argument in wrong]
        if counts:
            n, keys, ids = sum(count for count, _ in counts), columns["groups"], counts[0][1]
            query = shown_labels([ids if len(ids) > 1 else ids[0]])
            rows = f"{n:,} row{'s' if n > 1 else ''}"
            raise ValueError(message.format(rows=rows, keys=", ".join(keys), query=query))


def _arrays(table: Any, columns: Columns) -> tuple[NDArray[Any], NDArray[Any], Any, Any]:
    """Relevance, scores, native ids, and weights or None."""
    keys = [_exact(key) for key in _keys(table, columns)]
    # native, as Narwhals would turn text into fixed-width arrays without NULs at the end
    ids = nw.to_native(keys[0] if len(keys) == 1 else table.select(keys))
    relevance, score = table[columns["y_true"][0]], _exact(table[columns["y_score"][0]])
    weight = _numbers(table[columns["sample_weight"][0]]) if "sample_weight" in columns else None
    return _numbers(relevance), _numbers(score), ids, weight


def _keys(table: Any, columns: Columns) -> list[Any]:
    """The columns of ids, NaN as null, as in Arrow NaN would be an id like others."""
    return [_nan_as_null(table[name]) for name in columns["groups"]]


def _nan_as_null(column: Any) -> Any:
    if str(column.dtype) == "Float16":  # which libraries convert wrongly
        column = column.cast(nw.Float32)
    return column.fill_nan(None) if column.dtype.is_float() else column


def _exact(column: Any) -> Any:
    """A column to compare: its ranks if an array of floats would make distinct values equal."""
    is_rounded = column.dtype.is_integer() and column.null_count()
    return column.rank("dense") if is_rounded or column.dtype in _NOT_IN_NUMPY else column


def _numbers(column: Any) -> NDArray[Any]:
    """A column of numbers as an array, null as NaN."""
    if column.null_count() or column.dtype in _NOT_IN_NUMPY:
        column = column.cast(nw.Float64)
    return np.asarray(column.to_numpy())


def _wrong_rows(table: Any, columns: Columns, measure: Measure, arrays: Sequence[Any]) -> Masks:
    """By argument, which rows cannot be scored, whatever the gain is."""
    relevance, score, _, weight = arrays
    wrong = {
        "groups": np.any([key.is_null().to_numpy() for key in _keys(table, columns)], axis=0),
        "y_true": np.isinf(relevance) | (np.isnan(relevance) & (measure.unjudged == "raise")),
        "y_score": ~(score < np.inf),
    }
    if weight is not None:
        wrong["sample_weight"] = ~((weight >= 0) & (weight <= LARGEST_WEIGHT))
    return wrong


def _examples(wrong: Masks, keys: Any) -> WrongRows:
    return {
        argument: (int(mask.sum()), keys[[int(mask.argmax())]].rows()[0])
        for argument, mask in wrong.items()
        if mask.any()
    }


def _with_results(keys: Any, results: Mapping[str, Any]) -> Any:
    """Keys and results beside them, as a native table; NaN becomes null."""
    beside = nw.from_dict(results, RESULT_COLUMNS, backend=nw.get_native_namespace(keys))
    return keys.with_columns(*map(_nan_as_null, beside.iter_columns())).to_native()
