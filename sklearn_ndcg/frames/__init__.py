"""NDCG of tables, also of tables that are larger than memory or on a cluster.

For pandas, Polars, PyArrow, DuckDB, Ibis, PySpark and Dask, through Narwhals: the extra `frames`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from typing import Any, Unpack

import numpy as np

from sklearn_ndcg._checks import Cutoff, is_number
from sklearn_ndcg._metrics.queries import Totals
from sklearn_ndcg._rows.grouping import warn_of_single_documents
from sklearn_ndcg._shim import Measure, NDCGChoices, NDCGChoicesAtK, measure_and_data
from sklearn_ndcg.frames._engines import open_table
from sklearn_ndcg.frames._parts import (
    RESULTS,
    Sums,
    refuse_wrong_rows,
    score_part,
    segments_table,
    sum_part,
)

__all__ = ["ndcg_by_query", "ndcg_by_segment", "ndcg_score"]


def ndcg_by_query(
    frame: Any,
    *,
    y_true: str,
    y_score: str,
    groups: str | Sequence[str],
    k: Cutoff = None,
    working_memory: float | None = None,
    verbose: bool = False,
    **options: Unpack[NDCGChoices],
) -> Any:
    """DCG, ideal DCG and NDCG of every query in a table, as a table of the same engine.

    The engine gives the rows of whole queries, in passes or partitions as in `ndcg_score`, and they
    are scored as arrays are. For a LazyFrame of Polars or a DataFrame of PySpark or Dask, values
    are computed when the result is collected.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, relation, table or dataset
        One row per document, in any engine of this module, or a Narwhals frame around one. DuckDB
        reads datasets of PyArrow, so their result is a relation of DuckDB.

    y_true, y_score : str
        The columns of relevance and of predicted scores. NaN and null in `y_true` are unjudged.

    groups : str or list of str
        The column of query ids, or several that make up the id.

    k : int, None or "retrieved", default=None
        Cutoff, as in `sklearn_ndcg.ndcg_score`.

    working_memory : float, default=None
        As in `ndcg_score`. If it is given, PySpark and Dask count the rows at once; if not, the
        number of partitions is Spark's `spark.sql.shuffle.partitions` or that of the Dask
        DataFrame.

    verbose : bool, default=False
        Whether to print a line after each pass, or the number of partitions.

    **options
        `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and `undefined`, as in
        `ndcg_score`.

    Returns
    -------
    frame
        The columns of `groups`, `n_documents` (judged, if the unjudged are omitted), `dcg`,
        `ideal_dcg` and `ndcg`. An eager table is sorted by id, others are in any order. A query
        with an invalid row (NaN or null score or relevance, a score of inf) has nulls. DuckDB and
        Ibis compute the results at once, and return a relation or table in memory.

    Raises
    ------
    TypeError
        If `frame` is not a table, an option is unknown, or a column does not hold numbers.

    ValueError
        If a column is missing, ``ties="stable"`` needs an order of rows that the engine does not
        keep, an id has a null or NaN, or a gain is negative, infinite or not in the table of gains.
        Errors in the data are raised when the data are read.

    RuntimeError
        As in `ndcg_score`.

    Warns
    -----
    UndefinedMetricWarning
        As in `sklearn_ndcg.ndcg_samples`, if the results are computed at once. Lazy results do not
        warn: with ``undefined="warn"`` undefined queries have 0.

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
    columns = {"groups": groups, "y_true": y_true, "y_score": y_score}
    given = (frame, columns, {"k": k, **options}, working_memory, verbose)
    measure, table = _open("ndcg_by_query", score_part, *given)
    if table.is_lazy:  # so each part reports what it finds
        table.task = partial(table.task, is_lazy=True)
        return table.lazily()
    parts = list(table.run())
    n_queries = sum(len(part.table) for part in parts)
    n_undefined = sum(part.n_undefined for part in parts)
    warn_of_single_documents(sum(part.n_single for part in parts), n_queries)
    if n_undefined:
        measure.warn_or_raise_if_undefined(n_undefined, n_queries)
    return table.give_back([part.table for part in parts])


def ndcg_by_segment(
    frame: Any,
    *,
    y_true: str,
    y_score: str,
    groups: str | Sequence[str],
    segments: str | Sequence[str],
    k: Cutoff = None,
    sample_weight: str | None = None,
    working_memory: float | None = None,
    verbose: bool = False,
    **options: Unpack[NDCGChoices],
) -> Any:
    """NDCG of each segment of a table, such as a day or a country, as a table of the same engine.

    The rows are read as in `ndcg_score`, in the same passes or partitions. Only sums by segment are
    kept, so that many segments take little more memory than one.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, relation, table or dataset
        One row per document, in any engine of this module, or a Narwhals frame around one.

    y_true, y_score : str
        The columns of relevance and of predicted scores. NaN and null in `y_true` are unjudged.

    groups : str or list of str
        The column of query ids, or several that make up the id.

    segments : str or list of str
        The column of segments, or several that make up the segment. All rows of a query must be
        in one segment.

    k : int, None or "retrieved", default=None
        Cutoff, as in `sklearn_ndcg.ndcg_score`.

    sample_weight : str, default=None
        The column of weights, as in `ndcg_score`.

    working_memory : float, default=None
        About how many MiB a pass or a partition may take, as in `ndcg_score`.

    verbose : bool, default=False
        Whether to print a line for each pass or partition.

    **options
        `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and `undefined`, as in `ndcg_score`.

    Returns
    -------
    frame
        The columns of `segments`, in their order, and `n_queries`, `n_undefined` and `ndcg`: the
        mean over the queries of a segment, null if none of them counts. It is computed at once in
        any engine, even if the result is a lazy table.

    Raises
    ------
    TypeError
        As in `ndcg_by_query`.

    ValueError
        As in `ndcg_score`; and if a segment is missing, or a query has rows in several.

    ImportError, RuntimeError
        As in `ndcg_score`.

    Warns
    -----
    UndefinedMetricWarning
        If queries have no relevant document and `undefined` is "warn".

    See Also
    --------
    ndcg_score : The mean over all queries.
    ndcg_by_query : The NDCG of each query.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn_ndcg.frames import ndcg_by_segment
    >>> rows = pl.LazyFrame(
    ...     {
    ...         "day": ["Tue", "Tue", "Mon", "Mon", "Tue", "Tue"],
    ...         "query": ["b", "b", "a", "a", "c", "c"],
    ...         "grade": [1, 0, 3, 2, 0, 0],
    ...         "score": [0.5, 0.2, 0.4, 0.9, 0.1, 0.3],
    ...     }
    ... )
    >>> columns = {"y_true": "grade", "y_score": "score", "groups": "query"}
    >>> found = ndcg_by_segment(rows, **columns, segments="day", undefined="omit")
    >>> found.collect().rows()
    [('Mon', 1, 0, 0.9134...), ('Tue', 2, 1, 1.0)]
    """
    columns = {"groups": groups, "y_true": y_true, "y_score": y_score, "segments": segments}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    given = (frame, columns, {"k": k, **options}, working_memory, verbose)
    _, parts, table = _sums("ndcg_by_segment", *given)
    return table.give_back([segments_table(parts, table.columns)])


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
    **options: Unpack[NDCGChoices],
) -> float:
    """NDCG of a table, averaged over queries, in bounded memory if the table is lazy.

    An engine on this machine (Polars, DuckDB, Ibis, datasets of PyArrow) gives its rows in passes,
    each with some of the queries, chosen by a hash of their ids. A cluster (PySpark, Dask) moves
    its rows into partitions of whole queries, and its workers score them. Only sums are kept.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, relation, table or dataset
        One row per document, in any engine of this module, or a Narwhals frame around one.

    y_true, y_score : str
        The columns of relevance and of predicted scores. NaN and null in `y_true` are unjudged.

    groups : str or list of str
        The column of query ids, or several that make up the id.

    k : int, None or "retrieved", default=None
        Cutoff, as in `sklearn_ndcg.ndcg_score`.

    sample_weight : str, default=None
        The column of weights, one per row; a query weighs the mean of its rows.

    working_memory : float, default=None
        About how many MiB a pass or a partition may take, which gives their number: one pass if all
        rows fit, at least one partition for each core of Spark or each partition of Dask. None is
        the `working_memory` of `sklearn.get_config`, 1024 unless it was set. The documents of a
        query are always together, however many they are.

    verbose : bool, default=False
        Whether to print a line for each pass or partition.

    **options
        `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and `undefined` of
        `sklearn_ndcg.ndcg_score`. A callable is sent to the workers of Spark and Dask by
        cloudpickle: by its code from a script or notebook, by its name from a module, which the
        workers then need. ``ties="stable"`` and `ignore_ties` need an engine that keeps the order
        of rows, which Spark and Dask do not.

    Returns
    -------
    float
        Mean over queries, in [0, 1]; nan only if every query with a weight was left out.

    Raises
    ------
    TypeError
        As in `ndcg_by_query`.

    ValueError
        As in `ndcg_by_query`; and if rows are invalid: how many, and in which query. An error
        during a pass has a note that says how many rows were scored.

    ImportError
        If a worker has no sklearn_ndcg, or another version.

    RuntimeError
        If the passes read other rows than were counted, as the table changes or is random.

    Warns
    -----
    UndefinedMetricWarning
        If queries have no relevant document and `undefined` is "warn".

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
    columns = {"groups": groups, "y_true": y_true, "y_score": y_score}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    given = (frame, columns, {"k": k, **options}, working_memory, verbose)
    return _sums("ndcg_score", *given)[0]


def _sums(caller: str, *given: Any) -> tuple[float, list[Sums], Any]:
    """The mean of a table, checked and with warnings; the sums of its parts; and its engine."""
    measure, table = _open(caller, sum_part, *given)
    parts = list(table.run())
    refuse_wrong_rows([part.wrong for part in parts], table.columns)
    totals = [each for part in parts for each in part.totals]
    if not totals:
        raise ValueError("The table has 0 rows, but at least 1 is needed.")
    whole = Totals.of_batches(totals)
    warn_of_single_documents(whole.n_single, whole.n_queries)
    return float(whole.means(measure)[0]), parts, table


def _open(
    caller: str, task: Any, frame: Any, names: dict[str, Any], options: dict[str, Any],
    memory: Any, verbose: bool,
) -> tuple[Measure, Any]:  # fmt: skip
    """The measure, and the engine of a table, which gives its parts to the task."""
    measure, _ = measure_and_data(caller, options, NDCGChoicesAtK)
    if memory is not None and not (is_number(memory) and 0 < memory < inf):
        raise ValueError(
            "working_memory must be a number of MiB above 0, or None for the setting of "
            f"sklearn.get_config(), got {memory!r}."
        )
    columns = {}
    for argument, name in names.items():
        is_list = argument in RESULTS and np.iterable(name) and not isinstance(name, str)
        columns[argument] = list(name) if is_list else [name]
        if not columns[argument] or not all(isinstance(each, str) for each in columns[argument]):
            raise TypeError(f"{argument} must name a column, got {name!r}.")
    part_task = partial(task, columns=columns, options=options)
    table = open_table(frame, part_task, caller, memory, verbose)
    if measure.tie_rule.uses_order and not table.keeps_order():
        raise ValueError(
            "ties='stable' and ignore_ties=True need the order of the rows, which this engine does "
            "not keep. Pass ties='average', 'worst' or 'best', or read the same files with Polars, "
            "or with DuckDB and preserve_insertion_order=true."
        )
    return measure, table
