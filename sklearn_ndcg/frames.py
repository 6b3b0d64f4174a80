"""NDCG of a table where it lives: what is lazy stays lazy, and only the answer is collected.

For pandas, Polars, PyArrow, DuckDB, PySpark and Ibis, by way of Narwhals: the extra `frames`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._definitions import Measure, check_cutoff, check_options
from sklearn_ndcg._grouping import Grouping
from sklearn_ndcg._inputs import read_queries
from sklearn_ndcg._lazy_frames import RESULTS, Columns, mean_ndcg, results_by_query
from sklearn_ndcg._queries import Queries, replace_undefined
from sklearn_ndcg._typing import Cutoff, Ints

# isort: split
import narwhals.stable.v2 as nw  # after the import above, whose error names the extra

__all__ = ["ndcg_by_query", "ndcg_score"]


def ndcg_by_query(
    frame: Any,
    *,
    y_true: str,
    y_score: str,
    groups: str | Sequence[str],
    k: Cutoff = None,
    **options: Any,
) -> Any:
    """DCG, ideal DCG and NDCG of every query in a table, as a table of the same engine.

    A lazy table (Polars, DuckDB, PySpark, Ibis) gives a lazy table: nothing is collected. An eager
    one (pandas, Polars, PyArrow) goes through the functions of `sklearn_ndcg`.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, relation or table
        One row per document, of any engine above, or a Narwhals frame around one.

    y_true, y_score : str
        The columns of relevance and of predicted scores. NaN and null in `y_true` are unjudged.

    groups : str or list of str
        The column of query ids, or several that make up the id.

    k : int, None or "retrieved", default=None
        Cutoff, as in `sklearn_ndcg.ndcg_score`.

    **options
        `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and `replace_undefined_by` of
        `sklearn_ndcg.ndcg_score`. Lazy engines have no order of rows, and so no ``"stable"`` ties
        and no `ignore_ties`; nor do they take callables.

    Returns
    -------
    frame
        The columns of `groups`, `n_documents` (judged, where the unjudged are omitted), `dcg`,
        `ideal_dcg` and `ndcg`. An eager table is in the order of the ids, a lazy one in none. A
        query with an invalid row (NaN or null score or relevance, a score of inf) has nulls; so
        has, in a lazy engine, a query with gains that are negative or infinite or not in the table
        of gains, or with a null in its id, which are errors elsewhere.

    Raises
    ------
    TypeError
        If `frame` is not a table, an option is unknown, or a column does not hold numbers.

    ValueError
        If a column is missing, or an option cannot be computed by the engine.

    Warns
    -----
    UndefinedMetricWarning
        For an eager table, as in `sklearn_ndcg.ndcg_samples`. A lazy one has 0 for undefined
        queries under ``replace_undefined_by="warn"``, and `ndcg_score` below warns.

    See Also
    --------
    ndcg_score : The mean of these.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn_ndcg.frames import ndcg_by_query
    >>> rows = pl.LazyFrame(
    ...     {"query": ["b", "a", "a"], "grade": [1, 3, 2], "score": [0.5, 0.4, 0.9]}
    ... )
    >>> found = ndcg_by_query(rows, y_true="grade", y_score="score", groups="query")
    >>> found.sort("query").collect().rows()
    [('a', 2, 3.8927..., 4.2618..., 0.9134...), ('b', 1, 1.0, 1.0, 1.0)]
    """
    check_options("ndcg_by_query", options)
    measure = Measure(k=check_cutoff(k), **options)
    table, columns = _read_table(frame, y_true, y_score, groups)
    if isinstance(table, nw.LazyFrame):
        return results_by_query(table, columns, measure).to_native()
    relevance, score = _numbers(table, y_true), _scores(table, y_score)
    codes, first_row = _query_codes(table, columns.keys)
    invalid = ~(score < inf) | np.isinf(relevance)
    if measure.unjudged == "raise":
        invalid |= np.isnan(relevance)
    judged = ~np.isnan(relevance) if measure.unjudged == "omit" else np.ones(len(codes), dtype=bool)
    is_null = np.bincount(codes, weights=invalid) > 0
    if invalid.any():  # any rows may stand for those of a query that is null
        measure = replace(measure, unjudged=measure.unjudged.replace("raise", "zero"))
        relevance, score = np.where(invalid, np.nan, relevance), np.where(invalid, 0, score)
    dcg, ideal = read_queries(measure, relevance, score, codes).dcg_and_ideal()
    ndcg = Queries.ndcg(dcg, ideal)[:, 0]
    undefined = np.isnan(ndcg) & ~is_null
    if undefined.any():
        ndcg[undefined] = replace_undefined(measure, int(undefined.sum()), len(ndcg))
    results: list[Any] = [np.bincount(codes, weights=judged).astype(np.int64)]
    for values in (dcg[:, 0], ideal[:, 0], ndcg):
        nulled = np.where(is_null, np.array(None), values).tolist()
        results.append(nulled if is_null.any() else values)
    return _with_results(table, columns.keys, first_row, results)


def ndcg_score(
    frame: Any,
    *,
    y_true: str,
    y_score: str,
    groups: str | Sequence[str],
    k: Cutoff = None,
    sample_weight: str | None = None,
    **options: Any,
) -> float:
    """NDCG of a table, averaged over queries; a lazy engine computes it and hands over one row.

    Parameters
    ----------
    frame, y_true, y_score, groups, k, **options
        As in `ndcg_by_query`.

    sample_weight : str, default=None
        The column of weights, one per row; a query weighs the mean of its rows.

    Returns
    -------
    float
        Mean over queries, in [0, 1]; nan only where every query of any weight was left out.

    Raises
    ------
    TypeError
        As in `ndcg_by_query`.

    ValueError
        As in `ndcg_by_query`; and if there are invalid rows: how many, or how many queries have
        one.

    Warns
    -----
    UndefinedMetricWarning
        If there are queries without a relevant document and `replace_undefined_by` is "warn".

    See Also
    --------
    ndcg_by_query : The NDCG of each query.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn_ndcg.frames import ndcg_score
    >>> rows = pl.LazyFrame(
    ...     {"query": ["b", "a", "a"], "grade": [1, 3, 2], "score": [0.5, 0.4, 0.9]}
    ... )
    >>> ndcg_score(rows, y_true="grade", y_score="score", groups="query", k=10)
    0.9567...
    """
    check_options("ndcg_score", options)
    measure = Measure(k=check_cutoff(k), **options)
    table, columns = _read_table(frame, y_true, y_score, groups, sample_weight)
    if isinstance(table, nw.LazyFrame):
        return mean_ndcg(table, columns, measure)
    codes, _ = _query_codes(table, columns.keys)
    weight = None if sample_weight is None else _numbers(table, sample_weight)
    relevance, score = _numbers(table, y_true), _scores(table, y_score)
    return float(read_queries(measure, relevance, score, codes, weight).means()[0])


def _with_results(table: Any, keys: list[str], first_row: Ints, results: list[Any]) -> Any:
    """The keys of each query and its results, as a table of the same engine."""
    engine = nw.get_native_namespace(table)
    dtypes = [nw.Int64, nw.Float64, nw.Float64, nw.Float64]
    series = [
        nw.new_series(name, values, dtype, backend=engine)
        for name, values, dtype in zip(RESULTS, results, dtypes, strict=True)
    ]
    return nw.maybe_reset_index(table.select(keys)[first_row]).with_columns(*series).to_native()


def _read_table(
    frame: Any,
    y_true: str,
    y_score: str,
    groups: str | Sequence[str],
    sample_weight: str | None = None,
) -> tuple[Any, Columns]:
    """The Narwhals frame, and the columns that it was found to have."""
    if type(nw.to_native(frame, pass_through=True)).__module__.startswith("dask"):
        raise ValueError(
            "Dask has no ranks within groups that are computed lazily. Pass frame.compute(), or "
            "read the same files with DuckDB, Polars or Spark, which need not hold them in memory."
        )
    try:
        table: Any = nw.from_native(frame)
    except TypeError as error:
        raise TypeError(
            "frame must be a table of pandas, Polars, PyArrow, DuckDB, PySpark or Ibis, got "
            f"{type(frame).__name__}. For arrays there is sklearn_ndcg.ndcg_score."
        ) from error
    keys: Any = [groups] if isinstance(groups, str) else groups
    keys = list(keys) if np.iterable(keys) else [keys]
    columns = Columns(y_true, y_score, keys, sample_weight)
    _check_columns(table, columns)
    return table, columns


def _check_columns(table: Any, columns: Columns) -> None:
    schema = table.collect_schema()
    named = {"y_true": [columns.y_true], "y_score": [columns.y_score], "groups": columns.keys}
    if columns.sample_weight is not None:
        named["sample_weight"] = [columns.sample_weight]
    for argument, names in named.items():
        if not names or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{argument} must name a column, got {names!r}.")
        for name in names:
            if name not in schema:
                raise ValueError(
                    f"{argument}={name!r} is not a column of the table, which has "
                    f"{', '.join(map(str, schema))}."
                )
            dtype = schema[name]
            if argument != "groups" and not (dtype.is_numeric() or dtype == nw.Boolean):
                raise TypeError(f"{argument}={name!r} must be a column of numbers, is {dtype}.")
    if len(set(columns.keys)) < len(columns.keys) or set(columns.keys) & set(RESULTS):
        raise ValueError(
            f"groups must name different columns, and none called {', '.join(RESULTS)}, as the "
            f"results are; got {columns.keys}."
        )


def _numbers(table: Any, name: str) -> NDArray[Any]:
    """A column of numbers as an array, null as NaN."""
    column = table[name]
    no_numpy = column.dtype.is_decimal() or column.dtype in (nw.Int128, nw.UInt128)
    if column.null_count() or no_numpy:
        column = column.cast(nw.Float64)
    return np.asarray(column.to_numpy())


def _scores(table: Any, name: str) -> NDArray[Any]:
    """A column of scores as an array; ranks of integers that floats beside NaN might tie."""
    column = table[name]
    if not (column.dtype.is_integer() and column.null_count()):
        return _numbers(table, name)
    return np.asarray(column.rank("dense").cast(nw.Float64).to_numpy())


def _query_codes(table: Any, keys: list[str]) -> tuple[Ints, Ints]:
    """A number for each row's query, in the order of the ids, and the first row of each query."""
    # native columns: of text Narwhals would make arrays of a fixed width, without NULs at the end
    ids = nw.to_native(table[keys[0]] if len(keys) == 1 else table.select(keys))
    codes = Grouping.of_ids(ids, len(table)).row_codes()
    first_row = np.empty(codes.max() + 1, dtype=np.intp)
    first_row[codes[::-1]] = np.arange(len(codes))[
        ::-1
    ]  # of several rows the one written last stays
    return codes, first_row
