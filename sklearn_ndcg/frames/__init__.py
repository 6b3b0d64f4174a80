"""NDCG of a table where it lives, also of one that is larger than memory.

For pandas, Polars, PyArrow, DuckDB, PySpark and Ibis, by way of Narwhals: the extra `frames`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import Cutoff, Ints
from sklearn_ndcg._metrics import (
    TIES,
    Measure,
    NDCGChoicesAtK,
    Queries,
    Totals,
    measure_and_data,
    read_part,
    read_queries,
)
from sklearn_ndcg._rows import Grouping, first_rows, shown_labels, warn_of_single_documents
from sklearn_ndcg.frames._engines import (
    check_working_memory,
    count_passes,
    keeps_order,
    read_dataset,
    rows_by_hash,
)
from sklearn_ndcg.frames._expressions import (
    RESULTS,
    Columns,
    mean_ndcg,
    results_by_query,
    wrong_rows,
)

# isort: split
import narwhals.stable.v2 as nw  # after the import above, whose error names the extra

__all__ = ["ndcg_by_query", "ndcg_score"]

_WRONG = {
    "groups": "groups must not be missing, found {rows} with a missing id, in {keys}. Leave these "
    "rows out, or give them an id.",
    "y_true": "y_true must be finite, found {rows} where it is null, NaN or infinite, {query}. If "
    "null or NaN stands for unjudged documents, pass unjudged='zero' to count them as not relevant "
    "or unjudged='omit' to take them out of the ranking.",
    "y_score": "y_score must be finite, or -inf for what was not retrieved; found {rows} where it "
    "is null, NaN or +inf, {query}.",
    "sample_weight": "sample_weight must be finite and >= 0, at most 1e300, found {rows} where it "
    "is not, {query}.",
}


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
        One row per document, of any engine above, or a Narwhals frame around one. DuckDB reads a
        dataset of PyArrow, and the result is a relation of DuckDB.

    y_true, y_score : str
        The columns of relevance and of predicted scores. NaN and null in `y_true` are unjudged.

    groups : str or list of str
        The column of query ids, or several that make up the id.

    k : int, None or "retrieved", default=None
        Cutoff, as in `sklearn_ndcg.ndcg_score`.

    **options
        `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and `undefined` of
        `sklearn_ndcg.ndcg_score`. A lazy result is computed by the engine, which knows no order of
        rows, and so no ``"stable"`` ties and no `ignore_ties`; nor does it take callables.

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
        queries under ``undefined="warn"``, and `ndcg_score` below warns.

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
    measure, _ = measure_and_data("ndcg_by_query", {"k": k, **options}, NDCGChoicesAtK)
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
        measure = replace(measure, unjudged="omit" if measure.unjudged == "omit" else "zero")
        relevance, score = np.where(invalid, np.nan, relevance), np.where(invalid, 0, score)
    dcg, ideal = read_queries(measure, relevance, score, codes).dcg_and_ideal()
    ndcg = Queries.ndcg(dcg, ideal)[:, 0]
    undefined = np.isnan(ndcg) & ~is_null
    if undefined.any():
        measure.report_undefined(int(undefined.sum()), len(ndcg))
        ndcg[undefined] = measure.undefined_value
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
    working_memory: float | None = None,
    verbose: bool = False,
    **options: Any,
) -> float:
    """NDCG of a table, averaged over queries, in bounded memory where the table is lazy.

    A lazy table of an engine on this machine (Polars, DuckDB, Ibis on DuckDB) and a dataset of
    PyArrow are read in passes. Each has some of the queries, by a hash of their ids that the engine
    computes, and is evaluated as an eager table is. Other engines (PySpark) compute the mean and
    hand over one row.

    Parameters
    ----------
    frame, y_true, y_score, groups, k
        As in `ndcg_by_query`.

    sample_weight : str, default=None
        The column of weights, one per row; a query weighs the mean of its rows.

    working_memory : float, default=None
        About how many MiB a pass may take, which gives the number of passes: one if all rows fit.
        By default the `working_memory` of `sklearn.get_config`, 1024 unless it was set. The
        documents of a query are always in one pass, however many they are.

    verbose : bool, default=False
        Whether to print a line after each pass.

    **options
        `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and `undefined` of
        `sklearn_ndcg.ndcg_score`. Where rows are read in passes, all of their values work, and the
        order of ``ties="stable"`` is that in which the engine gives the rows. Other lazy engines
        take no ``ties="stable"``, no `ignore_ties` and no callables.

    Returns
    -------
    float
        Mean over queries, in [0, 1]; nan only where every query of any weight was left out.

    Raises
    ------
    TypeError
        As in `ndcg_by_query`.

    ValueError
        As in `ndcg_by_query`; and if there are invalid rows: how many, and in which query, or how
        many queries have one. An error during a pass has a note that says how far it came.

    RuntimeError
        If the passes had more or fewer rows than the table: it changed, or is drawn at random.

    Warns
    -----
    UndefinedMetricWarning
        If there are queries without a relevant document and `undefined` is "warn".

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
    measure, _ = measure_and_data("ndcg_score", {"k": k, **options}, NDCGChoicesAtK)
    memory = check_working_memory(working_memory)
    table, columns = _read_table(frame, y_true, y_score, groups, sample_weight)
    if not isinstance(table, nw.LazyFrame):
        return float(_read(read_queries, table, columns, measure).means()[0])
    rows_of_pass = rows_by_hash(_needed(table, columns).to_native(), columns.keys)
    if rows_of_pass is None:
        return mean_ndcg(table, columns, measure)
    if measure.tie_rule == TIES["stable"] and not keeps_order(table.to_native()):
        raise ValueError(
            "ties='stable' and ignore_ties=True take the order of the rows, and DuckDB was told to "
            "give them in any: set preserve_insertion_order=true, or pass ties='average', 'worst' "
            "or 'best'."
        )
    return _mean_in_passes(table, columns, measure, rows_of_pass, memory, verbose)


def _mean_in_passes(
    table: Any,
    columns: Columns,
    measure: Measure,
    rows_of_pass: Callable[[int, int], Any],
    memory: float,
    verbose: bool,
) -> float:
    """The mean over queries, of which each pass over a lazy table has some."""
    n_rows = _count(table)
    if not n_rows:
        raise ValueError("The table has 0 rows, and at least 1 is needed.")
    n_passes = count_passes(n_rows, _n_texts(table, columns.keys), memory)
    parts: list[Totals] = []
    n_read, start = 0, perf_counter()
    for i in range(n_passes):
        try:
            n_in_pass, totals = _totals(rows_of_pass(i, n_passes), table, columns, measure)
        except BaseException as error:
            if n_passes > 1:
                error.add_note(
                    f"This was pass {i + 1} of {n_passes} over the table: {n_read:,} of its "
                    f"{n_rows:,} rows had been scored."
                )
            raise
        n_read += n_in_pass
        parts += totals
        if verbose:
            print(
                f"[ndcg_score] pass {i + 1} of {n_passes}: {n_read:,} of {n_rows:,} rows, "
                f"{perf_counter() - start:.1f} s"
            )
    if n_read != n_rows:
        raise RuntimeError(
            f"The table had {n_rows:,} rows when they were counted, and {n_read:,} in {n_passes} "
            "passes. If its rows or their ids are drawn at random, write them to a file first."
        )
    if sum(part.n_queries for part in parts) == n_rows:
        warn_of_single_documents(n_rows)
    return float(Totals.of_parts(parts).means(measure)[0])


def _totals(
    rows_of_pass: Any, table: Any, columns: Columns, measure: Measure
) -> tuple[int, list[Totals]]:
    """How many rows a pass has, and the sums over its queries, if it has any."""
    rows = nw.from_native(rows_of_pass).collect()
    if not len(rows):
        return 0, []
    try:
        return len(rows), [_read(read_part, rows, columns, measure).totals()]
    except ValueError:
        _refuse_wrong_rows(rows, table, columns, measure)
        raise


def _refuse_wrong_rows(rows: Any, table: Any, columns: Columns, measure: Measure) -> None:
    """Raise where rows of a pass cannot be scored, with the number of such rows of the table."""
    for argument, is_wrong in wrong_rows(rows, columns, measure).items():
        wrong = rows.filter(is_wrong)
        if len(wrong):
            # DuckDB takes a filter on NaN to the statistics of Parquet, which do not know of any
            ones = table.select(one=nw.when(is_wrong).then(1).otherwise(0))
            n = int(ones.select(nw.col("one").sum()).collect().item())
            label = wrong.select(columns.keys).head(1).rows()[0]
            labels = np.empty(1, dtype=object)
            labels[0] = label if len(label) > 1 else label[0]
            found = {
                "rows": f"{n:,} row{'s' * (n > 1)}",
                "keys": ", ".join(columns.keys),
                "query": f"for example in query {shown_labels(labels)}",
            }
            raise ValueError(_WRONG[argument].format(**found))


def _read(read: Callable[..., Queries], table: Any, columns: Columns, measure: Measure) -> Queries:
    """The queries of an eager table, by one of the functions of `_inputs`."""
    weight = columns.sample_weight
    return read(
        measure,
        _numbers(table, columns.y_true),
        _scores(table, columns.y_score),
        _ids(table, columns.keys),
        None if weight is None else _numbers(table, weight),
        sort=False,
    )


def _count(table: Any) -> int:
    return int(table.select(nw.len()).collect().item())


def _needed(table: Any, columns: Columns) -> Any:
    """The columns that are needed, of a table."""
    names = [*columns.keys, columns.y_true, columns.y_score]
    if columns.sample_weight is not None:
        names.append(columns.sample_weight)
    return table.select(*dict.fromkeys(names))


def _n_texts(table: Any, keys: list[str]) -> int:
    dtypes = [table.collect_schema()[key] for key in keys]
    return sum(not (dtype.is_numeric() or dtype.is_temporal()) for dtype in dtypes)


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
        table: Any = nw.from_native(read_dataset(frame))
    except TypeError as error:
        raise TypeError(
            "frame must be a table of pandas, Polars, PyArrow, DuckDB, PySpark or Ibis, got "
            f"{type(frame).__name__}. For arrays there is sklearn_ndcg.ndcg_score, for a Parquet "
            "file polars.scan_parquet(path) or duckdb.read_parquet(path)."
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


def _ids(table: Any, keys: list[str]) -> Any:
    # native columns: of text Narwhals would make arrays of a fixed width, without NULs at the end
    return nw.to_native(table[keys[0]] if len(keys) == 1 else table.select(keys))


def _query_codes(table: Any, keys: list[str]) -> tuple[Ints, Ints]:
    """A number for each row's query, in the order of the ids, and the first row of each query."""
    codes = Grouping.of_ids(_ids(table, keys), len(table)).row_codes()
    return codes, first_rows(codes)
