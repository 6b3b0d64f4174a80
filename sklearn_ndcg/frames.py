"""NDCG of a table where it lives: what is lazy stays lazy, and only the answer is collected.

For pandas, Polars, PyArrow, DuckDB, PySpark and Ibis, by way of Narwhals: the extra `frames`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isnan, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import warn
from sklearn_ndcg._definitions import Cutoff, Definition, check_cutoff
from sklearn_ndcg._kernels import Ints
from sklearn_ndcg._metrics import (
    check_options,
    dcg_and_ideal,
    mean_over_queries,
    ndcg_at,
    ratio,
    replacement,
)
from sklearn_ndcg._queries import as_queries, row_codes

try:
    import narwhals.stable.v2 as nw
except ImportError as error:
    raise ImportError(
        "sklearn_ndcg.frames needs Narwhals, which is the extra `frames`: "
        'python -m pip install "narwhals>=2.10"'
    ) from error

__all__ = ["ndcg_by_query", "ndcg_score"]

_RESULTS = ("n_documents", "dcg", "ideal_dcg", "ndcg")
_SUMMED = {"ideal_term", "judged", "weight", "judged_weight", "bad_weight"}
_STEEPEST = 1023  # the largest relevance whose exponential gain is a float64
_NAN = nw.lit(inf) - nw.lit(inf)  # DuckDB before 2.0 takes a NaN of Python for a null
_SMALL = 0.01  # relevance, of which 2^y - 1 would lose digits
_WIDE = (nw.Int128, nw.UInt128)  # which NumPy has not


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
        One row a document, of any engine above, or a Narwhals frame around one.

    y_true, y_score : str
        The columns of relevance and of predicted scores. NaN and null in `y_true` are unjudged.

    groups : str or list of str
        The column of query ids, or several that make up the id.

    k : int, None or "retrieved", default=None
        Cutoff, as of `sklearn_ndcg.ndcg_score`.

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
        If `frame` is no table, an option is unknown, or a column does not hold numbers.

    ValueError
        If a column is missing, or an option cannot be computed by the engine.

    Warns
    -----
    UndefinedMetricWarning
        For an eager table, as `sklearn_ndcg.ndcg_samples`. A lazy one has 0 for undefined queries
        under ``replace_undefined_by="warn"``, and `ndcg_score` below warns.

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
    check_options("ndcg_by_query", options, without=("groups", "k", "sample_weight"))
    definition, cutoff = Definition(**options), check_cutoff(k)
    table, keys = _table(frame, y_true, y_score, groups)
    if isinstance(table, nw.LazyFrame):
        found = _lazily(table, y_true, y_score, keys, cutoff, definition)
        named = [nw.col(own).alias(key) for own, key in zip(_own(keys), keys, strict=True)]
        return found.select(*named, *_RESULTS).to_native()
    relevance, score = _array(table, y_true), _scores(table, y_score)
    invalid = ~(score < inf) | np.isinf(relevance)
    if definition.unjudged == "raise":
        invalid |= np.isnan(relevance)
    if invalid.any():
        relevance, score = np.where(invalid, 0, relevance), np.where(invalid, 0, score)
    codes, first = _codes(table, keys)
    queries = as_queries(relevance, score, groups=codes, definition=definition, negative_gain=False)
    dcg, ideal = dcg_and_ideal(queries, [cutoff], definition)
    ndcg = ratio(dcg, ideal)[:, 0]
    without = np.bincount(codes, weights=invalid) > 0
    undefined = np.isnan(ndcg) & ~without
    if undefined.any():
        ndcg[undefined] = replacement(int(undefined.sum()), len(ndcg), definition)
    columns: list[Any] = [queries.lengths]
    for values in (dcg[:, 0], ideal[:, 0], ndcg):
        nulled = zip(values.tolist(), without, strict=True)
        columns.append(
            [None if null else value for value, null in nulled] if any(without) else values
        )
    native = nw.get_native_namespace(table)
    dtypes = [nw.Int64, nw.Float64, nw.Float64, nw.Float64]
    series = [
        nw.new_series(name, values, dtype, backend=native)
        for name, values, dtype in zip(_RESULTS, columns, dtypes, strict=True)
    ]
    return nw.maybe_reset_index(table.select(keys)[first]).with_columns(*series).to_native()


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
        As of `ndcg_by_query`.

    sample_weight : str, default=None
        The column of weights, one a row; a query weighs the mean of its rows.

    Returns
    -------
    float
        Mean over queries, in [0, 1]; nan only where every query of any weight was left out.

    Raises
    ------
    TypeError
        As `ndcg_by_query`.

    ValueError
        As `ndcg_by_query`; and if there are invalid rows: how many, or how many queries have one.

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
    check_options("ndcg_score", options, without=("groups", "k", "sample_weight"))
    definition, cutoff = Definition(**options), check_cutoff(k)
    table, keys = _table(frame, y_true, y_score, groups, sample_weight)
    if isinstance(table, nw.LazyFrame):
        by_query = _lazily(table, y_true, y_score, keys, cutoff, definition, sample_weight)
        return _mean(by_query, definition)
    queries = as_queries(
        _array(table, y_true),
        _scores(table, y_score),
        groups=_codes(table, keys)[0],
        definition=definition,
        negative_gain=False,
        sample_weight=None if sample_weight is None else _array(table, sample_weight),
    )
    return float(mean_over_queries(ndcg_at(queries, [cutoff], definition), queries.weight)[0])


def _table(
    frame: Any, y_true: str, y_score: str, groups: str | Sequence[str], weight: str | None = None
) -> tuple[Any, list[str]]:
    """The Narwhals frame, once its columns are known to be there, and the key columns."""
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
    schema = table.collect_schema()
    columns = {"y_true": [y_true], "y_score": [y_score], "groups": keys}
    if weight is not None:
        columns["sample_weight"] = [weight]
    columns_are = ", ".join(map(str, schema))
    for argument, names in columns.items():
        if not names or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{argument} must name a column, got {names!r}.")
        for name in names:
            if name not in schema:
                raise ValueError(
                    f"{argument}={name!r} is no column of the table, which has {columns_are}."
                )
            dtype = schema[name]
            if argument != "groups" and not (dtype.is_numeric() or dtype == nw.Boolean):
                raise TypeError(f"{argument}={name!r} must be a column of numbers, is {dtype}.")
    if len(set(keys)) < len(keys) or set(keys) & set(_RESULTS):
        raise ValueError(
            f"groups must name different columns, and none called {', '.join(_RESULTS)}, as the "
            f"results are; got {keys}."
        )
    return table, keys


def _array(table: Any, name: str) -> NDArray[Any]:
    """A column of numbers as an array, null as NaN."""
    column = table[name]
    if column.null_count() or column.dtype.is_decimal() or column.dtype in _WIDE:
        column = column.cast(nw.Float64)
    return np.asarray(column.to_numpy())


def _scores(table: Any, name: str) -> NDArray[Any]:
    """A column of scores as an array; where floats would tie them, their ranks."""
    column = table[name]
    nulls = column.dtype.is_integer() and column.null_count()
    if nulls or column.dtype.is_decimal() or column.dtype in _WIDE:
        column = column.rank("dense").cast(nw.Float64)
        return np.asarray(column.to_numpy())
    return _array(table, name)


def _codes(table: Any, keys: list[str]) -> tuple[Ints, Ints]:
    """A number for each row's query, in the order of the ids, and a row of each query."""
    n = len(table)

    def ids(key: str) -> Any:
        column = table[key]  # of text Narwhals would make a fixed width, without NULs at the end
        return nw.to_native(column.rank("dense") if column.dtype in _WIDE else column)

    labels, _, codes = row_codes(ids(keys[0]), n)
    for key in keys[1:]:
        more, _, own = row_codes(ids(key), n)
        labels, codes = np.unique(codes * len(more) + own, return_inverse=True)
    first = np.empty(len(labels), dtype=np.intp)
    first[codes[::-1]] = np.arange(n)[::-1]  # the last that is written stays
    return codes, first


def _lazily(
    table: Any,
    y_true: str,
    y_score: str,
    keys: list[str],
    k: Cutoff,
    definition: Definition,
    weight: str | None = None,
) -> Any:
    """Results by query as expressions: ranks within a query, then sums by tie block and by query.

    All of it is grouped by the keys at least, so that an engine moves its rows once.
    """
    _refuse(definition)
    rows = _rows(table, y_true, y_score, keys, definition, weight)
    keys = _own(keys)
    rank = nw.col("score").rank("ordinal", descending=True).over(*keys)
    if definition.ties != "average":
        sign = 1 if definition.ties == "worst" else -1
        rows = rows.with_columns(
            block=nw.col("score").rank("dense", descending=True).over(*keys),
            by_gain=sign * nw.col("gain"),
        )
        order = ["unretrieved", "block", "by_gain"]
        counted = nw.col("unretrieved").cum_count().over(*keys, order_by=order)
        rank = nw.when(nw.col("unretrieved") == 0).then(counted)
    rows = rows.with_columns(
        rank=rank,
        ideal_rank=nw.col("gain").rank("ordinal", descending=True).over(*keys),
    )
    deepest: Any = k
    if k == "retrieved":
        rows = rows.with_columns(n_retrieved=(1 - nw.col("unretrieved")).sum().over(*keys))
        deepest = nw.max_horizontal(nw.col("n_retrieved"), nw.lit(1))
    rows = rows.with_columns(
        discount=_discount("rank", k, definition),
        ideal_term=nw.col("gain") * _discount("ideal_rank", deepest, definition),
    )
    tied = [*keys, "score"] if definition.ties == "average" else [*keys, "rank"]
    sums = [name for name in rows.collect_schema() if name in _SUMMED]
    blocks = rows.group_by(tied).agg(
        nw.len().alias("rows"),
        nw.col("gain").mean(),
        nw.col("discount").sum(),
        *(nw.col(name).sum() for name in sums),
    )
    found = (
        blocks.with_columns(dcg=nw.col("gain") * nw.col("discount"))
        .group_by(keys)
        .agg(*(nw.col(name).sum() for name in ["rows", "dcg", *sums]))
        .rename({"ideal_term": "ideal_dcg"})
    )
    ideal = nw.col("ideal_dcg")
    valid, relevant = ~ideal.is_nan() & (nw.col("dcg") < inf) & (ideal < inf), ideal > 0
    value = definition.replace_undefined_by
    undefined = 0.0 if isinstance(value, str) else float(value)
    divisor = nw.when(relevant).then(nw.col("ideal_dcg")).otherwise(1.0)
    quotient = nw.min_horizontal(nw.col("dcg") / divisor, nw.lit(1.0))
    n_documents = nw.col("judged") if "judged" in sums else nw.col("rows")
    mean_weight = nw.lit(1.0)
    if weight is not None:
        mean_weight = nw.col("weight") / nw.col("rows")
        if "judged" in sums:  # the mean over these, unless there are none
            some = nw.col("judged") > 0
            part = nw.col("judged_weight") / nw.when(some).then(nw.col("judged")).otherwise(1)
            mean_weight = nw.when(some).then(part).otherwise(mean_weight)
    return found.with_columns(
        n_documents=n_documents.cast(nw.Int64),
        dcg=nw.when(valid).then(nw.col("dcg")),
        ideal_dcg=nw.when(valid).then(nw.col("ideal_dcg")),
        ndcg=nw.when(valid).then(nw.when(relevant).then(quotient).otherwise(undefined)),
        invalid=nw.when(valid).then(0).otherwise(1),
        undefined=nw.when(valid & ~relevant).then(1).otherwise(0),
        mean_weight=mean_weight,
    )


def _rows(
    table: Any,
    y_true: str,
    y_score: str,
    keys: list[str],
    definition: Definition,
    weight: str | None,
) -> Any:
    """Rows with checked columns: what is wrong with a row is the NaN of its gain.

    That makes its query's sums NaN; whether an engine ranks it first or last does not matter.
    """
    schema = table.collect_schema()
    relevance, score = nw.col(y_true).cast(nw.Float64), nw.col(y_score)
    missing = relevance.is_null() | relevance.is_nan()
    usable = ~missing & (relevance > -inf) & (relevance < inf)
    if schema[y_score].is_float():
        score = score.cast(nw.Float64) + 0.0  # -0.0 is tied with 0.0
        ranked, wrong = score > -inf, score.is_null() | score.is_nan() | (score == inf)
    else:
        score = score.cast(nw.Int64) if schema[y_score] == nw.Boolean else score
        ranked, wrong = ~score.is_null(), score.is_null()
    usable, gain = _gain(relevance, usable, definition)
    wrong = wrong | (~usable if definition.unjudged == "raise" else ~usable & ~missing)
    for key in keys:
        empty = nw.col(key).is_null()
        wrong = wrong | (empty | nw.col(key).is_nan() if schema[key].is_float() else empty)
    ranked = ranked & ~wrong
    if definition.unjudged == "omit":
        ranked = ranked & ~missing  # last, and without gain: as if it were not there

    def number(condition: Any) -> Any:
        return nw.when(condition).then(1).otherwise(0)

    columns = {
        "gain": nw.when(wrong).then(_NAN).otherwise(nw.when(usable).then(gain).otherwise(0.0)),
        "score": nw.when(ranked).then(score),
        "unretrieved": number(~ranked),
    }
    if definition.unjudged == "omit":
        columns["judged"] = number(~missing)
    if weight is not None:
        own = nw.col(weight).cast(nw.Float64) * 2.0**-32  # so that no sum overflows
        bad = own.is_null() | own.is_nan() | (own < 0) | (own == inf)
        columns["bad_weight"] = number(bad)
        columns["weight"] = nw.when(~bad).then(own).otherwise(0.0)
        if definition.unjudged == "omit":
            columns["judged_weight"] = nw.when(~bad & ~missing).then(own).otherwise(0.0)
    named = [nw.col(key).alias(own) for own, key in zip(_own(keys), keys, strict=True)]
    return table.select(*named, **columns)


def _own(keys: list[str]) -> list[str]:
    """Names of the keys that no other column of ours has."""
    return [f"key_{i}" for i in range(len(keys))]


def _gain(relevance: Any, usable: Any, definition: Definition) -> tuple[Any, Any]:
    """Where a gain can be used, and the gain."""
    gain: Any = definition.gain
    if isinstance(gain, str) and gain == "linear":
        return usable & (relevance >= 0), relevance
    if isinstance(gain, str):
        usable = usable & (relevance >= 0) & (relevance <= _STEEPEST)
        # where it is used only: engines raise on overflow
        exponent = nw.when(usable).then(relevance).otherwise(0.0)
        t = nw.when(relevance < _SMALL).then(relevance).otherwise(0.0) * log(2)
        series: Any = 1 + t / 7  # e^t - 1 without the 1, which would take the digits of a small t
        for n in range(6, 1, -1):
            series = 1 + t / n * series
        large = nw.lit(2.0) ** exponent - 1
        return usable, nw.when(relevance < _SMALL).then(t * series).otherwise(large)
    table = dict(gain) if isinstance(gain, Mapping) else dict(enumerate(gain))
    table = {float(grade): float(value) for grade, value in table.items() if value >= 0}
    return usable & relevance.is_in(list(table)), _looked_up(relevance, sorted(table.items()))


def _looked_up(relevance: Any, entries: list[tuple[float, float]]) -> Any:
    """The gain of a grade by bisection: a chain of conditions would be too deep for engines."""
    if len(entries) < 2:
        return nw.lit(entries[0][1] if entries else 0.0)
    half = len(entries) // 2
    lower, upper = (_looked_up(relevance, part) for part in (entries[:half], entries[half:]))
    return nw.when(relevance < entries[half][0]).then(lower).otherwise(upper)


def _discount(rank: str, deepest: Any, definition: Definition) -> Any:
    """Discount of a column of ranks, 0 beyond the deepest and where there is no rank."""
    place = nw.col(rank).cast(nw.Float64)
    discounts = {"log": 1 / (place + 1).log(2), "reciprocal": 1 / place, "none": nw.lit(1.0)}
    limit = ~nw.col(rank).is_null()
    if isinstance(deepest, int):
        deepest = min(deepest, 2**62)  # which engines have an integer for
    if deepest is not None and not isinstance(deepest, str):
        limit = limit & (nw.col(rank) <= deepest)
    return nw.when(limit).then(discounts[str(definition.discount)]).otherwise(0.0)


def _refuse(definition: Definition) -> None:
    """Raise for what relational engines cannot express."""
    for name in ("gain", "discount"):
        value = getattr(definition, name)
        if callable(value):
            raise ValueError(
                f"{name} is a callable, which a lazy engine cannot run. Pass a name"
                + (" or a table" if name == "gain" else "")
                + ", or collect the frame first."
            )
    if definition.tie_rule == "stable":
        option = "ignore_ties=True" if definition.ignore_ties else "ties='stable'"
        raise ValueError(
            f"{option} takes the order of the rows, and the rows of a lazy engine are in none. "
            "Pass ties='average', 'worst' or 'best', or collect the frame first."
        )


def _mean(by_query: Any, definition: Definition) -> float:
    """The mean over queries from one row of aggregates, checked."""
    weight, scored = nw.col("mean_weight"), nw.col("undefined") == 0
    sums = {
        "invalid": nw.col("invalid"),
        "undefined": nw.col("undefined"),
        "total": nw.when(scored).then(nw.col("ndcg") * weight).otherwise(0.0),
        "scored": nw.when(scored).then(weight).otherwise(0.0),
        "weight": weight,
    }
    if "bad_weight" in by_query.collect_schema():
        sums["bad_weight"] = nw.col("bad_weight")
    totals = (
        by_query.select("rows", **sums)
        .select(
            nw.len().alias("queries"), nw.col("rows").max(), *(nw.col(name).sum() for name in sums)
        )
        .collect()
    )
    row = {name: totals[name].to_list()[0] for name in totals.columns}
    if not row["queries"]:
        raise ValueError("The table has 0 rows, and at least 1 is needed.")
    if row["invalid"]:
        raise ValueError(
            f"{row['invalid']} of {row['queries']} queries cannot be scored: a score is null, NaN "
            "or inf, relevance is null, NaN or infinite (if unjudged: unjudged='zero' or 'omit'), "
            "a gain is negative, infinite or not in the table of gains, or the id has a null. "
            "ndcg_by_query has nulls for these queries."
        )
    if row.get("bad_weight"):
        raise ValueError(
            f"sample_weight must be finite and >= 0, found {row['bad_weight']} rows where it is "
            "not."
        )
    if not row["weight"]:
        raise ValueError("sample_weight is 0 for every query: nothing is left to average over.")
    if row["rows"] == 1 < row["queries"]:
        warn(
            f"Each of the {row['queries']} queries has a single document, which has nothing to be "
            "ranked against: NDCG is 1 for it, or undefined. groups must name a column with one id "
            "per query, the same for all of its rows."
        )
    total, scored_weight = float(row["total"]), float(row["scored"])
    if row["undefined"]:
        value = replacement(int(row["undefined"]), int(row["queries"]), definition)
        if not isnan(value):
            total += value * (float(row["weight"]) - scored_weight)
            scored_weight = float(row["weight"])
    return total / scored_weight if scored_weight else float("nan")
