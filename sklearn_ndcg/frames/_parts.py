"""What one part of a table gives: sums over its queries, or their results as a table.

A part has all rows of some of the queries, in an eager table. `columns` has the names of columns
by argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from sklearn_ndcg._checks import Mask, Numbers
from sklearn_ndcg._metrics.measure import NDCG
from sklearn_ndcg._metrics.rankings import Fault, Rankings, counted, rankings_of
from sklearn_ndcg._metrics.values import Totals, Values
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.ids import first_rows
from sklearn_ndcg._rows.label_texts import shown_labels
from sklearn_ndcg.frames._narwhals import Frame, Native, Series, nw

Columns = Mapping[str, list[str]]
Options = Mapping[str, Any]

_REAL = nw.Float64()
RESULT_COLUMNS = {"n_documents": nw.Int64(), "dcg": _REAL, "ideal_dcg": _REAL, "ndcg": _REAL}
_NOT_IN_NUMPY = (nw.Decimal, nw.Int128, nw.UInt128)


class WrongRows(NamedTuple):
    """Rows of a part that cannot be scored: how many, and why.

    `query` has the first of them; it is empty if rows lack the id of their query.
    """

    n: int
    query: str
    fault: Fault


class PartRankings(Rankings):
    """Rows of a part, whose index means nothing to the user."""

    def describe(self, mask: Mask, what: str = "document", plural: str = "documents") -> str:
        """How many rows a mask selects, and the query of the first."""
        query = _query_of_first(mask, self.grouping)
        return counted(int(np.count_nonzero(mask)), what, plural, query)


def _query_of_first(mask: Mask, grouping: Grouping) -> str:
    """The query of the first row that a mask selects."""
    query = grouping.row_codes()[[mask.argmax()]]
    return shown_labels(grouping.labels[query])


class PartTotals(NamedTuple):
    """Sums over the queries of a part, or its wrong rows."""

    n_rows: int
    totals: Totals | None = None
    n_queries: int = 0
    n_single: int = 0
    n_undefined: int = 0
    wrong: tuple[WrongRows, ...] = ()


class QueryTable(NamedTuple):
    """The results of the queries of a part, as a table of its engine."""

    n_rows: int
    n_single: int
    n_undefined: int
    table: Native


Result = TypeVar("Result", bound=PartTotals | QueryTable)
Task = Callable[[Native], Result]  # from the rows of a part


def portable(function: Callable[..., Result], columns: Columns, options: Options) -> Task[Result]:
    """A function of this module that only needs the rows of a part, to be sent to workers.

    It is an inner function, which is sent by value, and takes plain data, so that it starts on any
    worker, and says so if this package is missing there. `options` are those of an NDCG.
    """
    name, expected = function.__name__, import_module("sklearn_ndcg").__version__

    def run(rows: Native) -> Result:
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
        result: Result = getattr(module, name)(columns, module.NDCG(**options), rows)
        return result

    return run


def sum_part(columns: Columns, measure: NDCG, rows: Native) -> PartTotals:
    """The sums from which means are computed."""
    table = nw.from_native(rows, eager_only=True)
    if not len(table):
        return PartTotals(0)
    keys = _keys(table, columns)
    missing = _missing_ids(keys, columns)
    if missing:
        return PartTotals(len(table), wrong=(missing,))
    rankings = _rankings(table, keys, columns, sort_ids=False)
    wrong = tuple(
        WrongRows(int(np.count_nonzero(mask)), _query_of_first(mask, rankings.grouping), fault)
        for mask, fault in rankings.wrong_rows(measure)
    )
    if wrong:
        return PartTotals(len(table), wrong=wrong)
    values = rankings.evaluate(measure, check_ids=False)
    n_undefined = int(np.count_nonzero(values.undefined))
    n_single = rankings.grouping.n_single
    return PartTotals(len(table), values.totals(), len(values.weight), n_single, n_undefined)


def score_part(columns: Columns, measure: NDCG, rows: Native) -> QueryTable:
    """The results of each query, sorted by id; nulls if a query has a wrong row."""
    table = nw.from_native(rows, eager_only=True)
    keys = table.select(columns["groups"])
    if not len(table):
        return QueryTable(0, 0, 0, _with_results(keys, dict.fromkeys(RESULT_COLUMNS, ())))
    ids = _keys(table, columns)
    missing = _missing_ids(ids, columns)
    if missing:
        refuse_wrong_rows([missing])
    rankings = _rankings(table, ids, columns)
    judged = rankings.judged if measure.unjudged == "omit" else None
    masks = [mask for mask, _ in rankings.wrong_rows(measure)]
    invalid = np.any(masks, axis=0) if masks else np.zeros(len(table), dtype=bool)
    if masks:  # any valid values will do, as the results of these queries are null
        rankings = rankings.ignoring(invalid)
        if measure.unjudged == "raise":
            measure = replace(measure, unjudged="zero")
    queries, codes = rankings.queries(measure), rankings.grouping.row_codes()
    is_null = np.bincount(codes, weights=invalid) > 0
    [dcg], [ideal] = measure.dcg_and_ideal(queries)
    values = Values(measure.ratio(dcg, ideal), queries.weight, measure.undefined_rule)
    if measure.k == "retrieved":  # the ideal at 1 only shows whether NDCG is defined
        ideal[queries.n_retrieved() == 0] = 0
    n_undefined = int(np.count_nonzero(values.undefined & ~is_null))
    results = {
        "n_documents": np.bincount(codes, weights=judged).astype(np.int64),
        "dcg": np.where(is_null, np.nan, dcg),
        "ideal_dcg": np.where(is_null, np.nan, ideal),
        "ndcg": np.where(is_null, np.nan, values.filled()),
    }
    try:
        keys = nw.maybe_reset_index(keys[first_rows(codes)])
    except NotImplementedError as error:  # such as Arrow's string_view
        raise TypeError(
            f"groups must be columns whose rows can be selected, for example string: {error}"
        ) from error
    n_single = rankings.grouping.n_single
    return QueryTable(len(table), n_single, n_undefined, _with_results(keys, results))


def refuse_wrong_rows(wrong: Sequence[WrongRows]) -> NoReturn:
    """Raise for the wrong rows of parts, with the number of the first kind in all parts."""
    fault = wrong[0].fault
    n = sum(rows.n for rows in wrong if rows.fault.what == fault.what)
    null = " A null is read as NaN." if "NaN" in fault.what else ""
    raise ValueError(fault.message(counted(n, fault.what, fault.plural, wrong[0].query)) + null)


def _missing_ids(keys: list[Series], columns: Columns) -> WrongRows | None:
    """The rows without an id, in one of the columns of ids."""
    incomplete = [key for key in keys if key.null_count()]
    if not incomplete:
        return None
    missing = np.any([key.is_null().to_numpy() for key in incomplete], axis=0)
    names = ", ".join(columns["groups"])
    fault = Fault(
        "missing id",
        "missing ids",
        before=f"groups ({names}) has ",
        after=". Leave their rows out, or give each an id.",
    )
    return WrongRows(int(np.count_nonzero(missing)), "", fault)


def _rankings(
    table: Frame, keys: list[Series], columns: Columns, sort_ids: bool = True
) -> Rankings:
    """The rows of a part."""
    exact = list(map(_exact, keys))
    # native, as Narwhals would turn text into fixed-width arrays without NULs at the end
    ids = nw.to_native(exact[0] if len(exact) == 1 else table.select(exact))
    relevance = _numbers(table[columns["y_true"][0]])
    score = _numbers(_exact(table[columns["y_score"][0]]))
    weight = _numbers(table[columns["sample_weight"][0]]) if "sample_weight" in columns else None
    try:
        return rankings_of(relevance, score, ids, weight, sort_ids=sort_ids, kind=PartRankings)
    except TypeError as error:  # of ids, as other columns hold numbers
        raise TypeError(f"groups={columns['groups']} must name columns of ids: {error}") from error


def _keys(table: Frame, columns: Columns) -> list[Series]:
    """The columns of ids, NaN as null, as in Arrow NaN would be an id like others."""
    return list(map(_nan_as_null, map(table.__getitem__, columns["groups"])))


def _nan_as_null(column: Series) -> Series:
    if str(column.dtype) == "Float16":  # which libraries convert wrongly
        column = column.cast(nw.Float32)
    return column.fill_nan(None) if column.dtype.is_float() else column


def _exact(column: Series) -> Series:
    """A column to compare: its ranks if an array of floats would make distinct values equal."""
    is_rounded = column.dtype.is_integer() and column.null_count()
    return column.rank("dense") if is_rounded or column.dtype == nw.Decimal else column


def _numbers(column: Series) -> Numbers:
    """A column of numbers as an array, null as NaN."""
    if column.null_count() or column.dtype in _NOT_IN_NUMPY:
        column = column.cast(nw.Float64)
    return np.asarray(column.to_numpy())


def _with_results(keys: Frame, results: Mapping[str, Any]) -> Native:
    """Keys and results beside them, as a native table; NaN becomes null."""
    beside = nw.from_dict(results, RESULT_COLUMNS, backend=nw.get_native_namespace(keys))
    return keys.with_columns(*(_nan_as_null(beside[name]) for name in results)).to_native()
