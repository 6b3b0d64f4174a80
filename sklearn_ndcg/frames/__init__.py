"""NDCG of tables, also of tables that are larger than memory or on a cluster.

For pandas, Polars, PyArrow, DuckDB, PySpark and Dask, through Narwhals: the extra `frames`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, is_number
from sklearn_ndcg._metrics.measure import NDCG, NDCGOptions
from sklearn_ndcg._metrics.values import Totals
from sklearn_ndcg._rows.grouping import warn_of_single_documents
from sklearn_ndcg.frames import _engines, _parts

__all__ = ["ndcg_by_query", "ndcg_score"]


def ndcg_by_query(
    frame: Any,
    *,
    y_true: str,
    y_score: str,
    groups: str | Sequence[str],
    k: Cutoff = None,
    working_memory: float | None = None,
    **options: Unpack[NDCGOptions],
) -> Any:
    """DCG, ideal DCG and NDCG of every query in a table, as a table of the same engine.

    The engine gives the rows of whole queries, in passes or partitions as in `ndcg_score`, and they
    are scored as arrays are.

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
        Cutoff: only the first `k` ranks count. See `sklearn_ndcg.ndcg_score`.

    working_memory : float, default=None
        As in `ndcg_score`.

    **options
        `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and `undefined`, as in
        `ndcg_score`.

    Returns
    -------
    frame
        The columns of `groups`, `n_documents` (the judged ones if ``unjudged="omit"``), `dcg`,
        `ideal_dcg` and `ndcg`, computed at once and held in memory: of a LazyFrame a DataFrame. It
        is sorted by id if `frame` is eager, and else in any order. A query with an invalid row (NaN
        or null score or relevance, a score of inf) has nulls.

    Raises
    ------
    TypeError
        If `frame` is not a table, an option is unknown, or a column does not hold numbers.

    ValueError
        If a column is missing, ``ties="stable"`` needs an order of rows that the engine does not
        keep, an id has a null or NaN, or a gain is negative, infinite or not in the table of gains.

    RuntimeError
        As in `ndcg_score`.

    Warns
    -----
    UndefinedMetricWarning
        As in `sklearn_ndcg.ndcg_samples`.

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
    >>> by_query = ndcg_by_query(rows, y_true="grade", y_score="score", groups="query")
    >>> by_query.sort("query").rows()
    [('a', 2, 3.8927..., 4.2618..., 0.9134...), ('b', 1, 1.0, 1.0, 1.0)]
    """
    columns = {"groups": groups, "y_true": y_true, "y_score": y_score}
    measure, table = _open(ndcg_by_query, frame, columns, k, options, working_memory)
    task = table.task(_parts.score_part, measure, {"k": k, **options})
    results = list(table.run(task))
    n_queries = sum(len(result.table) for result in results)
    n_undefined = sum(result.n_undefined for result in results)
    warn_of_single_documents(sum(result.n_single for result in results), n_queries)
    measure.undefined_rule.report(n_undefined, n_queries)
    return table.to_engine([result.table for result in results])


def ndcg_score(
    frame: Any,
    *,
    y_true: str,
    y_score: str,
    groups: str | Sequence[str],
    k: Cutoff = None,
    sample_weight: str | None = None,
    working_memory: float | None = None,
    **options: Unpack[NDCGOptions],
) -> float:
    """NDCG of a table, averaged over queries, in bounded memory if the table is lazy.

    An engine on this machine (Polars, DuckDB, datasets of PyArrow) gives its rows in passes, each
    with some of the queries, chosen by a hash of their ids. A cluster (PySpark, Dask) moves its
    rows into partitions of whole queries, and its workers score them. Only sums are kept.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, relation, table or dataset
        One row per document, in any engine of this module, or a Narwhals frame around one.

    y_true, y_score : str
        The columns of relevance and of predicted scores. NaN and null in `y_true` are unjudged.

    groups : str or list of str
        The column of query ids, or several that make up the id.

    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. See `sklearn_ndcg.ndcg_score`.

    sample_weight : str, default=None
        The column of weights, one per row; the weight of a query is their mean.

    working_memory : float, default=None
        About how many MiB a pass or a partition may take, which gives their number: one pass if all
        rows fit, at least one partition for each core of Spark or each partition of Dask. None is
        the `working_memory` of `sklearn.get_config`, 1024 unless it was set. The documents of a
        query are always together, however many they are.

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
    measure, table = _open(ndcg_score, frame, columns, k, options, working_memory)
    task = table.task(_parts.sum_part, measure, {"k": k, **options})
    wrong: list[_parts.WrongRows] = []
    totals: list[Totals] = []
    n_queries = n_single = n_undefined = 0
    for result in table.run(task):
        wrong += result.wrong
        if result.totals is not None:
            totals.append(result.totals)
        n_queries += result.n_queries
        n_single += result.n_single
        n_undefined += result.n_undefined
    if wrong:
        _parts.refuse_wrong_rows(wrong)
    if not totals:
        raise ValueError("The table has 0 rows, but at least 1 is needed.")
    warn_of_single_documents(n_single, n_queries)
    measure.undefined_rule.report(n_undefined, n_queries)
    return Totals.of_parts(totals).mean()


def _open(
    caller: Callable[..., Any],
    frame: Any,
    names: dict[str, Any],
    k: Any,
    options: Any,
    memory: float | None,
) -> tuple[NDCG, _engines.Engine]:
    """The measure, and the engine of a table."""
    measure = NDCG.of(caller, k, options)
    if memory is not None and not (is_number(memory) and 0 < memory < np.inf):
        raise ValueError(f"working_memory must be a number of MiB above 0 or None, got {memory!r}.")
    columns = {}
    for argument, name in names.items():
        is_list = argument == "groups" and np.iterable(name) and not isinstance(name, str)
        columns[argument] = list(name) if is_list else [name]
        if not columns[argument] or not all(isinstance(key, str) for key in columns[argument]):
            raise TypeError(f"{argument} must name a column, got {name!r}.")
    table = _engines.open_table(frame, columns, memory)
    if measure.tie_rule.uses_input_order and not table.keeps_order():
        raise ValueError(
            "ties='stable' and ignore_ties=True need the order of the rows, which this engine does "
            "not keep. Pass ties='average' or use Polars or DuckDB (preserve_insertion_order=true)."
        )
    return measure, table


_checks.publish(globals())
