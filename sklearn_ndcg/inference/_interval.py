"""Confidence intervals of NDCG over queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from sklearn_ndcg._checks import EQUAL, Floats, Ints, check_choice, warn
from sklearn_ndcg._kernels.sums import weighted_means
from sklearn_ndcg._metrics.measure import NDCGOptions, measure_and_data
from sklearn_ndcg._metrics.queries import Queries
from sklearn_ndcg.inference import _statistics as statistics
from sklearn_ndcg.inference._results import ConfidenceInterval, NDCGInterval, SegmentTable
from sklearn_ndcg.inference._sample import (
    Sample,
    check_level,
    check_sample_size,
    generator_of,
    scored_weights,
)
from sklearn_ndcg.inference._statistics import Method


def ndcg_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    method: Method = "BCa",
    random_state: Any = None,
    clusters: ArrayLike | None = None,
    **options: Unpack[NDCGOptions],
) -> NDCGInterval:
    """NDCG with a confidence interval over queries.

    The queries are a sample of those that could have been asked, and the interval shows how much
    NDCG varies from sample to sample. (It does not show how much the model varies with its training
    data.)

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance and predicted scores, as in `ndcg_score`.

    confidence_level : float, default=0.95
        Level of the interval, between 0 and 1.

    n_resamples : int, default=9999
        Number of bootstrap resamples of the queries; not used by ``method="t"``.

    method : {"BCa", "percentile", "t"}, default="BCa"
        The bias-corrected and accelerated bootstrap (Efron 1987), the percentile bootstrap, or
        the interval of Student's t. If weights differ, t has the jackknife's standard error
        and one degree of freedom less than Kish's effective number of queries, at least 1.

    random_state : int, RandomState, Generator or None, default=None
        Source of the resamples.

    clusters : array-like of shape (n_documents,) or (n_queries,), default=None
        One cluster id per row, of any kind that `groups` takes, if queries depend on each other:
        the user of each session, or a block of days. A cluster holds whole queries. The sample then
        consists of clusters: they are resampled whole, and t has the standard error of leaving out
        each cluster in turn (CRV3) and one degree of freedom less than the effective number of
        clusters. If clusters have uneven sizes, bootstrap intervals are widened as t is, and BCa
        takes the skewness of all clusters, as the jackknife follows the largest ones.

    **options
        The options of `ndcg_score`: `groups`, `k`, `gain`, `discount`, `ties`, `ignore_ties`,
        `unjudged`, `undefined` and `sample_weight`. A resampled query keeps its weight.

    Returns
    -------
    NDCGInterval
        With `ndcg`, `confidence_interval`, `standard_error` and more, see `NDCGInterval`.

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
        fewer than 10 (Kish 1965), or all of them have the same value; with `clusters`, the same for
        clusters.

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
    >>> y_true = rng.integers(0, 5, size=(200, 20))
    >>> y_score = y_true + rng.normal(scale=2, size=y_true.shape)
    >>> ndcg_interval(y_true, y_score, k=10, random_state=0)
    NDCG 0.8428, 0.95 interval [0.8312, 0.8532] (BCa), standard error 0.0056, 200 queries

    Ten queries of each of 20 users:

    >>> user = np.arange(200) // 10
    >>> ndcg_interval(y_true, y_score, k=10, clusters=user, random_state=0).standard_error
    0.0053...
    """
    check_level(confidence_level)
    check_choice("method", method, get_args(Method))
    generator = generator_of(random_state, n_resamples)
    measure, data = measure_and_data("ndcg_interval", options)
    sample, _ = Sample.read(measure, y_true, {None: y_score}, data, clusters)
    _warn_if_equal(sample)
    return _interval(sample, confidence_level, method, n_resamples, generator)


def ndcg_by_segment(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    segments: ArrayLike,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    method: Method = "BCa",
    random_state: Any = None,
    clusters: ArrayLike | None = None,
    **options: Unpack[NDCGOptions],
) -> SegmentTable:
    """NDCG of each segment of the queries, and of all, with confidence intervals.

    A segment is a set of whole queries: those of new users, of a country, of a day. Its row has
    what `ndcg_interval` returns for its queries alone.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance and predicted scores, as in `ndcg_score`.

    segments : array-like of shape (n_documents,) or (n_queries,), or several columns
        The segment of each row, of any kind that `groups` takes. With several columns each distinct
        combination is a segment.

    confidence_level : float, default=0.95
        Level of each interval, between 0 and 1. At 0.95 one of 20 intervals is wrong, on average.

    n_resamples : int, default=9999
        Number of bootstrap resamples of each segment; not used by ``method="t"``.

    method : {"BCa", "percentile", "t"}, default="BCa"
        As in `ndcg_interval`.

    random_state : int, RandomState, Generator or None, default=None
        Source of the resamples.

    clusters : array-like of shape (n_documents,) or (n_queries,), default=None
        One cluster id per row, if queries depend on each other, as in `ndcg_interval`.

    **options
        The options of `ndcg_score`: `groups`, `k`, `gain`, `discount`, `ties`, `ignore_ties`,
        `unjudged`, `undefined` and `sample_weight`.

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
        If a segment has too few queries for a reliable interval, or none that can be scored; with
        fewer than two its interval is nan.

    UndefinedMetricWarning
        As in `ndcg_score`.

    See Also
    --------
    compare_rankers : With `segments`, compares rankers within each segment.
    frames.ndcg_by_segment : Segments of tables that are larger than memory.

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
    segment     NDCG  0.95 interval (BCa)  standard error  queries  left out
    new user  0.7586  [0.7342, 0.7808]             0.0119       50         0
    old user  0.8371  [0.8237, 0.8491]             0.0065      150         0
    all       0.8175  [0.8048, 0.8291]             0.0061      200         0
    """
    check_level(confidence_level)
    check_choice("method", method, get_args(Method))
    if segments is None:
        raise ValueError("segments is None: pass one id per row, or several columns of ids.")
    first = generator_of(random_state, n_resamples)
    measure, data = measure_and_data("ndcg_by_segment", options)
    sample, parts = Sample.read(measure, y_true, {None: y_score}, data, clusters, segments)
    _warn_if_equal(sample)
    _warn_of_weak_segments(parts)
    samples = [sample, *parts.values()]
    generators = [first, *(generator_of(random_state, n_resamples) for _ in parts)]
    if generators[-1] is first:  # the user's: each sample has one of its own
        generators = first.spawn(len(samples))
    overall, *found = (
        _interval(each, confidence_level, method, n_resamples, generator)
        for each, generator in zip(samples, generators, strict=True)
    )
    names = ("ndcg", "standard_error", "n_queries", "n_left_out", "judged")
    low, high = np.array([each.confidence_interval for each in found]).T
    return SegmentTable(
        segments=list(parts), confidence_interval=ConfidenceInterval(low, high), overall=overall,
        **{name: np.array([getattr(each, name) for each in found]) for name in names},
    )  # fmt: skip


def _warn_if_equal(sample: Sample) -> None:
    values, weight = sample.by_independent_unit(sample.values)
    if np.ptp(values) < EQUAL:
        each = "queries" if sample.clusters is None else "clusters"
        warn(
            f"All {len(weight)} {each} have the NDCG {values[0, 0]:.4g}: the interval is a point, "
            f"which says nothing about other {each}."
        )


def _warn_of_weak_segments(parts: Mapping[Any, Sample]) -> None:
    """Warn once of all segments for which `ndcg_interval` would warn."""
    weak = [name for name, each in parts.items() if each.is_small() or np.ptp(each.values) < EQUAL]
    if weak:
        warn(
            f"Intervals of {len(weak)} of the {len(parts)} segments, the first {weak[0]!r}, are "
            "unreliable: too few queries, or only queries of the same value."
        )


def _interval(
    sample: Sample, level: float, method: Method, n_resamples: int, generator: Any
) -> NDCGInterval:
    """The mean of a sample with its interval, which is nan for fewer than two queries."""
    value, error, bounds = np.nan, np.nan, np.full(2, np.nan)
    if sample.n_queries:
        value = float(weighted_means(sample.values, sample.weight)[0])
    if sample.n_clusters > 1:
        tails = _tails(level)
        bounds, error = _bounds_and_error(value, sample, tails, method, n_resamples, generator)
    (judged,), _ = sample.shares()
    return NDCGInterval(
        value, ConfidenceInterval(*bounds.tolist()), error, sample.n_queries, sample.n_clusters,
        sample.n_left_out, float(level), method, judged,
    )  # fmt: skip


def _bounds_and_error(
    value: float, sample: Sample, tails: Floats, method: Method, n_resamples: int, generator: Any
) -> tuple[Floats, float]:
    clustered = sample.clusters is not None
    values, weight = sample.by_independent_unit(sample.values)
    error = float(statistics.mean_and_error(values, weight)[1][0])
    if np.ptp(values) < EQUAL:
        return np.array([value, value]), error
    if method == "t":
        return value + error * stats.t.ppf(tails, statistics.degrees_of_freedom(weight)), error
    means = statistics.bootstrap_means(values[0], weight, n_resamples, generator)
    if clustered:
        tails = statistics.widened_levels(tails, error, means, weight)
    error = float(means.std(ddof=1))
    if method == "percentile":
        levels = tails
    elif method == "BCa":
        levels = statistics.bca_levels(tails, value, means, values[0], weight, clustered)
    return np.quantile(means, levels), error


def curve_interval(queries: Queries, cutoffs: Ints, confidence_level: float) -> Floats:
    """Bounds of NDCG at each cutoff, of Student's t over queries, shape (2, n_cutoffs)."""
    tails = _tails(confidence_level)
    last = queries.for_measure(k=int(cutoffs[-1])).values()[:, 0]
    weight, scored = scored_weights(last, queries.weight)
    check_sample_size(weight, len(scored))
    weights = np.zeros((2, len(queries)))
    weights[:, scored] = weight, statistics.jackknife_factors(weight) ** 2
    center = float(weighted_means(last[np.newaxis, scored], weight)[0])
    (first, second), _ = queries.curve_moments(cutoffs, weights, center)
    distance, error = statistics.mean_and_error_of_moments(first, second, weights[:, scored])
    mean = center + distance
    half = error * stats.t.ppf(tails[1], statistics.degrees_of_freedom(weight))
    # the value of undefined queries may lie outside 0 and 1, and then so may a mean
    low, high = min(0, last[scored].min()), max(1, last[scored].max())
    return np.asarray(np.clip([mean - half, mean + half], low, high))


def _tails(level: float) -> Floats:
    """Levels of both bounds of an interval."""
    check_level(level)
    return np.array([1 - float(level), 1 + float(level)]) / 2
