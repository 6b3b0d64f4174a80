"""NDCG of a table where it lives, also of one that is larger than memory, or on a cluster.

For pandas, Polars, PyArrow, DuckDB, Ibis, PySpark and Dask, by way of Narwhals: the extra `frames`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from typing import Any, Unpack

import numpy as np

from sklearn_ndcg._checks import Cutoff, is_number
from sklearn_ndcg._metrics import Measure, NDCGChoices, NDCGChoicesAtK, Totals, measure_and_data
from sklearn_ndcg._rows import warn_of_single_documents
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

    The engine hands over the rows of whole queries, in passes or in partitions as in `ndcg_score`,
    and they are scored as arrays are. A LazyFrame of Polars and a DataFrame of PySpark or Dask give
    one whose values are computed when it is collected.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, relation, table or dataset
        One row per document, of any engine above, or a Narwhals frame around one. DuckDB reads a
        dataset of PyArrow, and the result is a relation of DuckDB.

    y_true, y_score : str
        The columns of relevance and of predicted scores. NaN and null in `y_true` are unjudged.

    groups : str or list of str
        The column of query ids, or several that make up the id.

    k : int, None or "retrieved", default=None
        Cutoff, as in `sklearn_ndcg.ndcg_score`.

    working_memory : float, default=None
        As in `ndcg_score`. PySpark and Dask count the rows at once if it is given; if not, the
        partitions are those of Spark's `spark.sql.shuffle.partitions` and of the Dask DataFrame.

    verbose : bool, default=False
        Whether to print a line after each pass, or the number of partitions.

    **options
        `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and `undefined`, as in
        `ndcg_score`.

    Returns
    -------
    frame
        The columns of `groups`, `n_documents` (judged, where the unjudged are omitted), `dcg`,
        `ideal_dcg` and `ndcg`. An eager table is in the order of the ids, others in none. A query
        with an invalid row (NaN or null score or relevance, a score of inf) has nulls. DuckDB and
        Ibis compute the results at once, and give back a relation or table of them in memory.

    Raises
    ------
    TypeError
        If `frame` is not a table, an option is unknown, or a column does not hold numbers.

    ValueError
        If a column is missing, ``ties="stable"`` meets an engine without an order of rows, an id
        has a null or NaN, or a gain is negative, infinite or not in the table of gains. What
        concerns the data is raised when they are read.

    RuntimeError
        As in `ndcg_score`.

    Warns
    -----
    UndefinedMetricWarning
        As in `sklearn_ndcg.ndcg_samples`, where the results are computed at once. Lazy ones have 0
        for undefined queries under ``undefined="warn"``, and `ndcg_score` warns.

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
        measure.report_undefined(n_undefined, n_queries)
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

    The rows are read as in `ndcg_score`, in the same passes or partitions, and sums by segment are
    all that is kept. So many segments take little more memory than one.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, relation, table or dataset
        One row per document, of any engine above, or a Narwhals frame around one.

    y_true, y_score : str
        The columns of relevance and of predicted scores. NaN and null in `y_true` are unjudged.

    groups : str or list of str
        The column of query ids, or several that make up the id.

    segments : str or list of str
        The column of segments, or several that make up the segment. All rows of a query are in
        one segment.

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
        mean over the queries of a segment, null where none of them counts. It is computed at once
        in any engine, and a lazy table holds the result.

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
        If there are queries without a relevant document and `undefined` is "warn".

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
    """NDCG of a table, averaged over queries, in bounded memory where the table is lazy.

    An engine on this machine (Polars, DuckDB, Ibis, datasets of PyArrow) hands over its rows in
    passes, each with some of the queries, by a hash of their ids. A cluster (PySpark, Dask) moves
    its rows into partitions of whole queries, and its workers score them. Sums are all that is
    kept, and they are added exactly.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, relation, table or dataset
        One row per document, of any engine above, or a Narwhals frame around one.

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
        rows fit, one partition at least for each core of Spark and each partition of Dask. By
        default the `working_memory` of `sklearn.get_config`, 1024 unless it was set. The documents
        of a query are always together, however many they are.

    verbose : bool, default=False
        Whether to print a line for each pass or partition.

    **options
        `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and `undefined` of
        `sklearn_ndcg.ndcg_score`. A callable reaches the workers of Spark and Dask by cloudpickle:
        one of a script or a notebook by its code, one of a module by its name, so that the workers
        need the module. ``ties="stable"`` and `ignore_ties` take the order in which the engine
        gives the rows; Spark and Dask have none.

    Returns
    -------
    float
        Mean over queries, in [0, 1]; nan only where every query of any weight was left out.

    Raises
    ------
    TypeError
        As in `ndcg_by_query`.

    ValueError
        As in `ndcg_by_query`; and if there are invalid rows: how many, and in which query. An error
        during a pass has a note that says how far it came.

    ImportError
        If a worker has no sklearn_ndcg, or another version.

    RuntimeError
        If the passes had other rows than the table: it changed, or is drawn at random.

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
    columns = {"groups": groups, "y_true": y_true, "y_score": y_score}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    given = (frame, columns, {"k": k, **options}, working_memory, verbose)
    return _sums("ndcg_score", *given)[0]


def _sums(caller: str, *given: Any) -> tuple[float, list[Sums], Any]:
    """The mean of a table, which is checked and warned about, the sums of its parts, its engine."""
    measure, table = _open(caller, sum_part, *given)
    parts = list(table.run())
    refuse_wrong_rows([part.wrong for part in parts], table.columns)
    totals = [each for part in parts for each in part.totals]
    if not totals:
        raise ValueError("The table has 0 rows, and at least 1 is needed.")
    whole = Totals.of_parts(totals)
    warn_of_single_documents(whole.n_single, whole.n_queries)
    return float(whole.means(measure)[0]), parts, table


def _open(
    caller: str, task: Any, frame: Any, names: dict[str, Any], options: dict[str, Any],
    memory: Any, verbose: bool,
) -> tuple[Measure, Any]:  # fmt: skip
    """The measure, and the engine of a table, whose parts are given to the task."""
    measure, _ = measure_and_data(caller, options, NDCGChoicesAtK)
    if memory is not None and not (is_number(memory) and 0 < memory < inf):
        raise ValueError(
            "working_memory must be a number of MiB above 0, or None for that of "
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
            "ties='stable' and ignore_ties=True take the order of the rows, and this engine gives "
            "them in any. Pass ties='average', 'worst' or 'best', or read the same files with "
            "Polars, or with DuckDB and preserve_insertion_order=true."
        )
    return measure, table
