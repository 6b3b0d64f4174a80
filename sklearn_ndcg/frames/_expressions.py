"""NDCG by query as Narwhals expressions, for tables that a lazy engine computes.

Every grouping and every window includes the keys of a query, so that an engine moves its rows only
once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isnan
from typing import Any

import numpy as np

from sklearn_ndcg._metrics import DISCOUNTS, GAINS, LARGEST_WEIGHT, TIES, Measure, Totals
from sklearn_ndcg._rows import warn_of_single_documents

try:
    import narwhals.stable.v2 as nw
except ImportError as error:
    raise ImportError(
        "sklearn_ndcg.frames needs Narwhals, which is the extra `frames`: "
        'python -m pip install "narwhals>=2.10"'
    ) from error

RESULTS = ("n_documents", "dcg", "ideal_dcg", "ndcg")
_SUMMED = {"ideal_term", "judged", "weight", "judged_weight", "bad_weight"}
_LARGEST_EXPONENT = 1023  # the largest relevance whose exponential gain is a float64
_DEEPEST = 2**62  # the largest cutoff that every engine has an integer for
_NAN = nw.lit(inf) - nw.lit(inf)  # DuckDB before 2.0 takes a NaN of Python for a null


@dataclass(frozen=True)
class Columns:
    """The names of the columns that a table is read by."""

    y_true: str
    y_score: str
    keys: list[str]
    sample_weight: str | None = None

    @property
    def inner_keys(self) -> list[str]:
        """Names for the keys that cannot collide with those of columns that are added."""
        return [f"key_{i}" for i in range(len(self.keys))]


def results_by_query(table: Any, columns: Columns, measure: Measure) -> Any:
    """The keys of each query and its results, under the names of the table."""
    keys = zip(columns.inner_keys, columns.keys, strict=True)
    renamed = [nw.col(inner).alias(key) for inner, key in keys]
    return _by_query(table, columns, measure).select(*renamed, *RESULTS)


def mean_ndcg(table: Any, columns: Columns, measure: Measure) -> float:
    """The mean over queries, from one row of aggregates, checked."""
    by_query = _by_query(table, columns, measure)
    weight = nw.col("mean_weight")
    if isnan(measure.undefined_value):
        weight = nw.when(nw.col("undefined") == 0).then(weight).otherwise(0.0)
    value = nw.when(weight > 0).then(nw.col("ndcg") * weight).otherwise(0.0)
    summed = {
        "invalid": nw.col("invalid"),
        "undefined": nw.col("undefined"),
        "total": value,
        "scored_weight": weight,
        "all_weight": nw.col("mean_weight"),
        "bad_weight": nw.col("bad_weight") if columns.sample_weight else nw.lit(0),
    }
    aggregates = [nw.len().alias("queries"), nw.col("rows").max()]
    aggregates += [nw.col(name).sum() for name in summed]
    collected = by_query.select("rows", **summed).select(*aggregates).collect()
    row = {name: collected[name].to_list()[0] for name in collected.columns}
    _check_aggregates(row)
    sums = np.array([row["total"]]), row["scored_weight"], row["all_weight"]
    totals = Totals(*sums, int(row["queries"]), int(row["undefined"]))
    return float(totals.means(measure)[0])


def _check_aggregates(row: dict[str, Any]) -> None:
    if not row["queries"]:
        raise ValueError("The table has 0 rows, and at least 1 is needed.")
    if row["invalid"]:
        raise ValueError(
            f"{row['invalid']} of {row['queries']} queries cannot be scored: a score is null, NaN "
            "or inf, relevance is null, NaN or infinite (if unjudged: unjudged='zero' or 'omit'), "
            "a gain is negative, infinite or not in the table of gains, or the id has a null. "
            "ndcg_by_query has nulls for these queries."
        )
    if row["bad_weight"]:
        raise ValueError(
            f"sample_weight must be finite and >= 0, at most 1e300, found {row['bad_weight']} rows "
            "where it is not."
        )
    if row["rows"] == 1:
        warn_of_single_documents(int(row["queries"]))


def _by_query(table: Any, columns: Columns, measure: Measure) -> Any:
    """One row per query, under its inner keys: ranks in the query, sums by tie block and query."""
    _check_expressible(measure)
    keys = columns.inner_keys
    rows = _ranked_rows(_checked_rows(table, columns, measure), keys, measure)
    summed = [name for name in rows.collect_schema() if name in _SUMMED]
    tie_block = "score" if measure.tie_rule.averages else "rank"
    blocks = rows.group_by([*keys, tie_block]).agg(
        nw.len().alias("rows"),
        nw.col("gain").mean(),
        nw.col("discount").sum(),
        *(nw.col(name).sum() for name in summed),
    )
    sums = (
        blocks.with_columns(dcg=nw.col("gain") * nw.col("discount"))
        .group_by(keys)
        .agg(*(nw.col(name).sum() for name in ["rows", "dcg", *summed]))
        .rename({"ideal_term": "ideal_dcg"})
    )
    dcg, ideal = nw.col("dcg"), nw.col("ideal_dcg")
    valid, relevant = ~ideal.is_nan() & (dcg < inf) & (ideal < inf), ideal > 0
    quotient = nw.min_horizontal(dcg / nw.when(relevant).then(ideal).otherwise(1.0), nw.lit(1.0))
    ndcg = nw.when(relevant).then(quotient).otherwise(measure.undefined_value)
    n_documents = nw.col("judged" if measure.unjudged == "omit" else "rows")
    return sums.with_columns(
        n_documents=n_documents.cast(nw.Int64),
        dcg=nw.when(valid).then(dcg),
        ideal_dcg=nw.when(valid).then(ideal),
        ndcg=nw.when(valid).then(ndcg),
        invalid=_as_number(~valid),
        undefined=_as_number(valid & ~relevant),
        mean_weight=_mean_weight(columns, measure),
    )


def _mean_weight(columns: Columns, measure: Measure) -> Any:
    """A query's mean weight over its judged rows; over all of them where none is judged."""
    if columns.sample_weight is None:
        return nw.lit(1.0)
    mean = nw.col("weight") / nw.col("rows")
    if measure.unjudged != "omit":
        return mean
    some = nw.col("judged") > 0
    of_judged = nw.col("judged_weight") / nw.when(some).then(nw.col("judged")).otherwise(1)
    return nw.when(some).then(of_judged).otherwise(mean)


def wrong_rows(table: Any, columns: Columns, measure: Measure) -> dict[str, Any]:
    """By argument, which rows cannot be scored, whatever the gain is."""
    schema = table.collect_schema()
    missing, infinite = _relevance(columns)[1:]
    conditions = {
        "groups": _missing_key(columns, schema),
        "y_true": missing | infinite if measure.unjudged == "raise" else infinite,
        "y_score": _score(nw.col(columns.y_score), schema[columns.y_score])[2],
    }
    if columns.sample_weight is not None:
        conditions["sample_weight"] = _weight(columns.sample_weight)[1]
    return conditions


def _missing_key(columns: Columns, schema: Any) -> Any:
    missing = nw.lit(False)
    for key in columns.keys:
        missing = missing | nw.col(key).is_null()
        if schema[key].is_float():
            missing = missing | nw.col(key).is_nan()
    return missing


def _relevance(columns: Columns) -> tuple[Any, Any, Any]:
    """Relevance, whether it is missing, and whether it is infinite."""
    relevance = nw.col(columns.y_true).cast(nw.Float64)
    missing = relevance.is_null() | relevance.is_nan()
    return relevance, missing, ~missing & ~((relevance > -inf) & (relevance < inf))


def _weight(name: str) -> tuple[Any, Any]:
    """Weights, and whether one cannot be used."""
    weight = nw.col(name).cast(nw.Float64)
    return weight, weight.is_null() | weight.is_nan() | (weight < 0) | (weight > LARGEST_WEIGHT)


def _checked_rows(table: Any, columns: Columns, measure: Measure) -> Any:
    """Gain and score of each row; an invalid row gets a gain of NaN.

    That makes all sums of its query NaN, wherever an engine ranks the row.
    """
    schema = table.collect_schema()
    relevance, missing, infinite = _relevance(columns)
    usable, gain = _gain(relevance, ~missing & ~infinite, measure)
    score, retrieved, wrong = _score(nw.col(columns.y_score), schema[columns.y_score])
    wrong = wrong | (~usable if measure.unjudged == "raise" else ~usable & ~missing)
    wrong = wrong | _missing_key(columns, schema)
    retrieved = retrieved & ~wrong
    added = {}
    if measure.unjudged == "omit":
        retrieved = retrieved & ~missing  # last, and without gain: as if it were not there
        added["judged"] = _as_number(~missing)
    added["gain"] = nw.when(wrong).then(_NAN).otherwise(nw.when(usable).then(gain).otherwise(0.0))
    added["score"] = nw.when(retrieved).then(score)
    added["unretrieved"] = _as_number(~retrieved)
    if columns.sample_weight is not None:
        weight, bad = _weight(columns.sample_weight)
        added["bad_weight"] = _as_number(bad)
        added["weight"] = nw.when(~bad).then(weight).otherwise(0.0)
        if measure.unjudged == "omit":
            added["judged_weight"] = nw.when(~bad & ~missing).then(weight).otherwise(0.0)
    keys = zip(columns.keys, columns.inner_keys, strict=True)
    return table.select(*(nw.col(key).alias(inner) for key, inner in keys), **added)


def _score(score: Any, dtype: Any) -> tuple[Any, Any, Any]:
    """The score to rank by, whether the row was retrieved, and whether its score is wrong."""
    if dtype.is_float():
        score = score.cast(nw.Float64) + 0.0  # -0.0 is tied with 0.0
        return score, score > -inf, score.is_null() | score.is_nan() | (score == inf)
    score = score.cast(nw.Int64) if dtype == nw.Boolean else score
    return score, ~score.is_null(), score.is_null()


def _ranked_rows(rows: Any, keys: list[str], measure: Measure) -> Any:
    """The discount of each row's rank, and its term of the ideal DCG."""
    rank = nw.col("score").rank("ordinal", descending=True).over(*keys)
    if not measure.tie_rule.averages:
        sign = -measure.tie_rule.by_gain
        rows = rows.with_columns(
            tie_block=nw.col("score").rank("dense", descending=True).over(*keys),
            by_gain=sign * nw.col("gain"),
        )
        order = ["unretrieved", "tie_block", "by_gain"]
        count = nw.col("unretrieved").cum_count().over(*keys, order_by=order)
        rank = nw.when(nw.col("unretrieved") == 0).then(count)
    rows = rows.with_columns(
        rank=rank, ideal_rank=nw.col("gain").rank("ordinal", descending=True).over(*keys)
    )
    [k] = measure.cutoffs
    cutoff: Any = min(k, _DEEPEST) if isinstance(k, int) else None
    ideal_cutoff = cutoff
    if k == "retrieved":
        rows = rows.with_columns(n_retrieved=(1 - nw.col("unretrieved")).sum().over(*keys))
        ideal_cutoff = nw.max_horizontal(nw.col("n_retrieved"), nw.lit(1))
    return rows.with_columns(
        discount=_discount("rank", cutoff, measure),
        ideal_term=nw.col("gain") * _discount("ideal_rank", ideal_cutoff, measure),
    )


def _gain(relevance: Any, finite: Any, measure: Measure) -> tuple[Any, Any]:
    """Where there is a gain that can be used, and the gain."""
    gain: Any = measure.gain
    if isinstance(gain, str):
        usable = finite & (relevance >= 0)
        if gain == "exponential":
            usable = usable & (relevance <= _LARGEST_EXPONENT)
        # where it is used only: engines raise on overflow
        return usable, GAINS[gain].of_column(nw.when(usable).then(relevance).otherwise(0.0))
    table = dict(gain) if isinstance(gain, Mapping) else dict(enumerate(gain))
    table = {float(grade): float(value) for grade, value in table.items() if value >= 0}
    return finite & relevance.is_in(list(table)), _look_up(relevance, sorted(table.items()))


def _look_up(relevance: Any, entries: list[tuple[float, float]]) -> Any:
    """The gain of a grade by bisection: a chain of conditions would be too deep for engines."""
    if len(entries) < 2:
        return nw.lit(entries[0][1] if entries else 0.0)
    half = len(entries) // 2
    lower, upper = (_look_up(relevance, part) for part in (entries[:half], entries[half:]))
    return nw.when(relevance < entries[half][0]).then(lower).otherwise(upper)


def _discount(rank: str, cutoff: Any, measure: Measure) -> Any:
    """Discount of a column of ranks, 0 beyond the cutoff and where there is no rank."""
    counts = ~nw.col(rank).is_null()
    if cutoff is not None:
        counts = counts & (nw.col(rank) <= cutoff)
    discount = DISCOUNTS[str(measure.discount)].of_column(nw.col(rank).cast(nw.Float64))
    return nw.when(counts).then(discount).otherwise(0.0)


def _as_number(condition: Any) -> Any:
    return nw.when(condition).then(1).otherwise(0)


def _check_expressible(measure: Measure) -> None:
    """Raise for what relational engines cannot express."""
    for name in ("gain", "discount"):
        if callable(getattr(measure, name)):
            raise ValueError(
                f"{name} is a callable, which a lazy engine cannot run. Pass a name"
                + (" or a table" if name == "gain" else "")
                + ", or collect the frame first."
            )
    if measure.tie_rule == TIES["stable"]:
        option = "ignore_ties=True" if measure.ignore_ties else "ties='stable'"
        raise ValueError(
            f"{option} takes the order of the rows, and the rows of a lazy engine have none. "
            "Pass ties='average', 'worst' or 'best', or collect the frame first."
        )
