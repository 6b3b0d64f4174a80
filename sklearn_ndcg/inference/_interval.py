"""Confidence intervals of NDCG over queries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Floats, Ints, Weights
from sklearn_ndcg._kernels.sums import weighted_means
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics.measure import NDCG, NDCGOptions
from sklearn_ndcg._metrics.rankings import rankings_of
from sklearn_ndcg._metrics.values import Queries
from sklearn_ndcg._rows.labels import refuse_reordered
from sklearn_ndcg.inference import _sample, _statistics
from sklearn_ndcg.inference._options import Inference, Metric, measure_of, tails
from sklearn_ndcg.inference._results import ConfidenceInterval, NDCGInterval, SegmentTable
from sklearn_ndcg.inference._sample import Sample
from sklearn_ndcg.inference._statistics import Method


def ndcg_interval(
    y_true: ArrayLike | Rows,
    y_score: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    metric: Metric | None = None,
    sample_weight: Weights | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    method: Method = "BCa",
    random_state: Any = None,
    clusters: Any = None,
    **options: Unpack[NDCGOptions],
) -> NDCGInterval:
    """NDCG with a confidence interval over queries.

    The queries are a sample of those that could have been asked, and the interval shows how much
    NDCG varies from sample to sample. (It does not show how much the model varies with its training
    data.)

    Parameters
    ----------
    y_true : array-like or Rows, shape (n_documents,) or (n_queries, n_documents)
        Relevance, as in `ndcg_score`; or rows of lists, without `y_score` and `groups`.

    y_score : array-like of the shape of `y_true`, default=None
        Predicted scores, as in `ndcg_score`.

    groups : array-like of shape (n_documents,) or str, default=None
        The query id of each row. See `ndcg_score`.

    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. See `ndcg_score`.

    metric : callable, default=None
        A function of the relevance and the scores of one query, ``metric(y_true, y_score)``, in
        place of NDCG, as in `compare_rankers`.

    sample_weight : array-like of shape (n_documents,) or (n_queries,) or mapping, default=None
        Weights >= 0. See `ndcg_score`. A resampled query keeps its weight.

    confidence_level : float, default=0.95
        Level of the interval, between 0 and 1.

    n_resamples : int, default=9999
        Number of bootstrap resamples of the queries; not used by ``method="t"``.

    method : {"BCa", "t"}, default="BCa"
        The bias-corrected and accelerated bootstrap (Efron 1987), or the interval of Student's t.
        If weights differ, t has the jackknife's standard error and one degree of freedom fewer than
        Kish's effective number of queries, at least 1. Use BCa if queries are few (50 rather than
        500) and their values skewed: 0/1 hits, leave-one-out lists, or most queries at 1. Use t if
        weights are uneven, or for speed from 500 queries on: its intervals are then as good, and
        BCa takes 24 s for 110,000 queries.

    random_state : int, RandomState, Generator or None, default=None
        Source of the resamples.

    clusters : array-like of shape (n_documents,) or (n_queries,) or mapping, default=None
        The cluster id of each row, if queries depend on each other. It may be the user of a
        session, or a block of days, and be of any kind that `groups` takes. For rows of lists a
        mapping or Series from query, or one per query where these are numbered; queries that are
        left out may lack an entry. A cluster holds whole queries. The sample then consists of
        clusters: they are resampled whole, and t has the standard error of leaving out each cluster
        in turn (CRV3) and one degree of freedom fewer than the effective number of clusters. If
        clusters have uneven sizes, BCa intervals are widened by as much as t is wider than for
        equal sizes, and take the skewness of all clusters, as the jackknife follows the largest
        ones.

    **options
        Further options of `ndcg_score`: `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and
        `undefined`. With `metric` only `undefined`.

    Returns
    -------
    NDCGInterval
        With `mean`, `confidence_interval`, `standard_error` and more, see `NDCGInterval`.

    Raises
    ------
    ValueError
        If an argument is not as described, fewer than two queries or clusters can be scored, or a
        query has rows in several clusters.

    TypeError
        If an option is unknown.

    Warns
    -----
    UserWarning
        If there are fewer than 10 queries, or their weights are so uneven that they are worth
        fewer than 10 (Kish 1965), or most of them have the same value and fewer than 10 another;
        with `clusters`, the same for clusters.

    UndefinedMetricWarning
        As in `ndcg_score`.

    See Also
    --------
    compare_rankers : Whether one ranker is better than another, on the same queries.

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical
    Association, 82(397), 171-185.

    Hesterberg, T. C. (2015). What teachers should know about the bootstrap. The American
    Statistician, 69(4), 371-386. (Widened levels.)

    MacKinnon, J. G., Nielsen, M. Ø., & Webb, M. D. (2023). Fast and reliable jackknife and
    bootstrap methods for cluster-robust inference. Journal of Applied Econometrics, 38(5), 671-694.

    Kish, L. (1965). Survey Sampling. Wiley. (The effective number: the square of the sum of the
    weights over the sum of their squares.)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg.inference import ndcg_interval
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(80, 20))
    >>> y_score = y_true + rng.normal(scale=2, size=y_true.shape)
    >>> ndcg_interval(y_true, y_score, k=5, random_state=0)
    NDCG@5 0.8131, 95% confidence interval [0.7905, 0.8348] (BCa), standard error 0.0113, 80 queries

    Four queries of each of 20 users:

    >>> user = np.arange(80) // 4
    >>> ndcg_interval(y_true, y_score, k=5, clusters=user, random_state=0).standard_error
    0.0093...
    """
    measure = measure_of(ndcg_interval, metric, k, options)
    inference = Inference(confidence_level, n_resamples, random_state, method=method)
    refuse_reordered(y_true=y_true, clusters=clusters)
    rankings = rankings_of(y_true, y_score, groups, sample_weight)
    sample = Sample.of([rankings], measure, clusters)
    _warn_of_equal_values(sample)
    (generator,) = inference.generators(0)
    return _interval(sample, inference, generator)


def ndcg_by_segment(
    y_true: ArrayLike | Rows,
    y_score: ArrayLike | None = None,
    *,
    segments: Any,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    metric: Metric | None = None,
    sample_weight: Weights | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    method: Method = "BCa",
    random_state: Any = None,
    **options: Unpack[NDCGOptions],
) -> SegmentTable:
    """NDCG of each segment of the queries, and of all, with confidence intervals.

    A segment is a set of whole queries: those of new users, of a country, of a day. Its row has
    what `ndcg_interval` returns for its queries alone.

    Parameters
    ----------
    y_true : array-like or Rows, shape (n_documents,) or (n_queries, n_documents)
        Relevance, as in `ndcg_score`; or rows of lists, without `y_score` and `groups`.

    y_score : array-like of the shape of `y_true`, default=None
        Predicted scores, as in `ndcg_score`.

    segments : array-like of shape (n_documents,) or (n_queries,), several columns or mapping
        The segment of each row, of any kind that `groups` takes. With several columns each distinct
        combination is a segment. For rows of lists a mapping or Series from query, or one per query
        where these are numbered.

    groups : array-like of shape (n_documents,) or str, default=None
        The query id of each row. See `ndcg_score`.

    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. See `ndcg_score`.

    metric : callable, default=None
        A function of the relevance and the scores of one query, as in `ndcg_interval`.

    sample_weight : array-like of shape (n_documents,) or (n_queries,) or mapping, default=None
        Weights >= 0. See `ndcg_score`.

    confidence_level : float, default=0.95
        Level of each interval, between 0 and 1. At 0.95 one of 20 intervals misses its true value,
        on average.

    n_resamples : int, default=9999
        Number of bootstrap resamples of each segment; not used by ``method="t"``.

    method : {"BCa", "t"}, default="BCa"
        As in `ndcg_interval`.

    random_state : int, RandomState, Generator or None, default=None
        Source of the resamples.

    **options
        Further options of `ndcg_score`: `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and
        `undefined`. With `metric` only `undefined`.

    Returns
    -------
    SegmentTable
        Prints as a table. See `SegmentTable` for its attributes.

    Raises
    ------
    ValueError
        As in `ndcg_interval`, and if a query has rows in several segments.

    TypeError
        If an option is unknown.

    Warns
    -----
    UserWarning
        As in `ndcg_interval`, for all queries and once for all segments. With fewer than two
        queries the interval of a segment is nan.

    UndefinedMetricWarning
        As in `ndcg_score`.

    See Also
    --------
    compare_rankers : Compares rankers on the same queries.
    frames.ndcg_by_query : Results of queries of tables, which the table's engine averages.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg.inference import ndcg_by_segment
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(200, 20))
    >>> is_new = np.arange(200) % 4 == 0
    >>> noise = np.where(is_new, 4, 2)[:, np.newaxis]
    >>> y_score = y_true + noise * rng.normal(size=y_true.shape)
    >>> segments = np.where(is_new, "new user", "old user")
    >>> ndcg_by_segment(y_true, y_score, segments=segments, k=10, random_state=0)
    segment   NDCG@10      95% CI (BCa)  standard error  queries  left out
    new user   0.7586  [0.7342, 0.7808]          0.0119       50         0
    old user   0.8371  [0.8237, 0.8491]          0.0065      150         0
    all        0.8175  [0.8048, 0.8291]          0.0061      200         0
    """
    if segments is None:
        raise ValueError("segments is None: pass one id per row, or several columns of ids.")
    measure = measure_of(ndcg_by_segment, metric, k, options)
    inference = Inference(confidence_level, n_resamples, random_state, method=method)
    refuse_reordered(y_true=y_true, segments=segments)
    rankings = rankings_of(y_true, y_score, groups, sample_weight)
    sample, samples = Sample.with_segments(rankings, measure, segments)
    _warn_of_equal_values(sample)
    _sample.warn_of_weak_segments(samples)
    generators = inference.generators(len(samples))
    overall, *intervals = (
        _interval(one, inference, generator)
        for one, generator in zip([sample, *samples.values()], generators, strict=True)
    )
    means = np.array([interval.mean for interval in intervals])
    bounds = np.array([interval.confidence_interval for interval in intervals]).T
    return SegmentTable(
        metric=overall.metric,
        segments=list(samples),
        mean=means,
        confidence_interval=ConfidenceInterval(*bounds),
        standard_error=np.array([interval.standard_error for interval in intervals]),
        n_queries=np.array([interval.n_queries for interval in intervals]),
        n_left_out=np.array([interval.n_left_out for interval in intervals]),
        overall=overall,
    )


def _warn_of_equal_values(sample: Sample) -> None:
    """Warn if most queries have one value, and fewer than ten another."""
    values, weight = sample.cluster_means(sample.values)
    units = "queries" if sample.clusters is None else "clusters"
    value, n_others = _statistics.commonest(values[0])
    if not n_others:
        _checks.warn(
            f"All {len(weight)} {units} have the {sample.measure.label()} {value:.4g}: the "
            "interval is a point."
        )
    elif n_others < _sample.LEAST and not _sample.are_too_few(weight):
        _checks.warn(
            f"Only {n_others} of {len(weight)} {units} differ from {float(f'{value:.4g}')}: the "
            f"interval is unreliable if fewer than {_sample.LEAST} do. Take more {units}."
        )


def _interval(sample: Sample, inference: Inference, generator: np.random.Generator) -> NDCGInterval:
    """The mean of a sample with its interval, which is nan for fewer than two queries."""
    value, error, bounds = np.nan, np.nan, np.full(2, np.nan)
    n_units = len(sample.unit_weights)
    if n_units:
        value = float(weighted_means(sample.values, sample.weight)[0])
    if n_units > 1:
        bounds, error = _bounds(value, sample, inference, generator)
    bounds = np.clip(bounds, *sample.measure.limits)
    return NDCGInterval(
        metric=sample.measure.label(),
        mean=value,
        confidence_interval=ConfidenceInterval(*bounds.tolist()),
        standard_error=error,
        n_queries=len(sample.weight),
        n_clusters=n_units,
        n_left_out=sample.n_left_out,
        confidence_level=float(inference.confidence_level),
        method=inference.method,
    )


def _bounds(
    value: float, sample: Sample, inference: Inference, generator: np.random.Generator
) -> tuple[Floats, float]:
    """The bounds of the interval around a value, and the standard error."""
    levels, clustered = tails(inference.confidence_level), sample.clusters is not None
    values, weight = sample.cluster_means(sample.values)
    error = float(_statistics.mean_and_error(values, weight)[1][0])
    if not _statistics.commonest(values[0])[1]:
        return np.array([value, value]), error
    if inference.method == "t":
        return value + error * stdtrit(_statistics.degrees_of_freedom(weight), levels), error
    means = _statistics.bootstrap_means(values[0], weight, inference.n_resamples, generator)
    if clustered:
        levels = _statistics.widened_levels(levels, value, values[0], weight)
    levels = _statistics.bca_levels(levels, value, means, values[0], weight, clustered)
    return np.quantile(means, levels), float(means.std(ddof=1))


def curve_interval(
    measure: NDCG, queries: Queries, cutoffs: Ints, confidence_level: float
) -> Floats:
    """Bounds of NDCG at each cutoff, of Student's t over queries, shape (2, n_cutoffs)."""
    high_tail = tails(confidence_level)[1]
    last = replace(measure, k=int(cutoffs[-1])).values(queries).filled()
    weight = _sample.scored_weights(last, queries.weight)
    is_scored = weight > 0
    _sample.check_sample_size(weight[is_scored], len(is_scored))
    squared_factors = np.zeros(len(weight))
    squared_factors[is_scored] = _statistics.jackknife_factors(weight[is_scored]) ** 2
    center = float(weighted_means(last[np.newaxis, is_scored], weight[is_scored])[0])
    # of the distances from the center and of their squares: weighted sums, for two kinds of weights
    weights = np.array([weight, squared_factors])
    sums, sums_of_squares = np.zeros((2, 2, len(cutoffs)))
    for block in measure.at_cutoffs(queries, cutoffs):
        distance = np.nan_to_num(block.filled().T - center)  # what is left out has no weight
        sums += _to_all_cutoffs(weights[:, block.numbers] @ distance, len(cutoffs))
        sums_of_squares += _to_all_cutoffs(weights[:, block.numbers] @ distance**2, len(cutoffs))
    means, error = _statistics.curve_mean_and_error(sums, sums_of_squares, weights[:, is_scored])
    half = error * stdtrit(_statistics.degrees_of_freedom(weight[is_scored]), high_tail)
    return np.asarray(np.clip(center + means + half * np.array([[-1], [1]]), 0, 1))


def _to_all_cutoffs(sums: Floats, n_cutoffs: int) -> Floats:
    """Sums over a block, one for each of its cutoffs (last axis), for all cutoffs."""
    missing = n_cutoffs - sums.shape[-1]
    return np.concatenate([sums, np.repeat(sums[..., -1:], missing, axis=-1)], axis=-1)
