"""How sure an NDCG is: intervals over queries."""

from __future__ import annotations

from typing import Any, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from sklearn_ndcg._checks import EQUAL, Floats, Ints, check_choice, is_number, warn
from sklearn_ndcg._inference import statistics
from sklearn_ndcg._inference.results import ConfidenceInterval, NDCGInterval
from sklearn_ndcg._inference.sample import Sample, check_sample_size, generator_of, scored_weights
from sklearn_ndcg._inference.statistics import Method
from sklearn_ndcg._kernels import weighted_means
from sklearn_ndcg._metrics import NDCGOptions, Queries, measure_and_data, read_queries


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

    The queries are taken as a sample of those that could have been asked, and the interval says how
    much NDCG varies with the sample. (It does not say how much the model varies with its training
    data.)

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance and predicted scores, as in `ndcg_score`.

    confidence_level : float, default=0.95
        Between 0 and 1.

    n_resamples : int, default=9999
        Bootstrap resamples of the queries; not used by ``method="t"``.

    method : {"BCa", "percentile", "t"}, default="BCa"
        The bias-corrected and accelerated bootstrap (Efron 1987), the percentile bootstrap, or
        the interval of Student's t. Where weights differ, t has the jackknife's standard error
        and one degree of freedom less than Kish's effective number of queries, at least 1.

    random_state : int, RandomState, Generator or None, default=None
        Source of the resamples.

    clusters : array-like of shape (n_documents,) or (n_queries,), default=None
        Where queries depend on each other, one cluster id per row, of any kind that `groups` takes:
        the user of each session, or a block of days. A cluster holds whole queries. Clusters are
        then the sample: they are resampled whole, and t has the error of leaving out each cluster
        in turn (CRV3) and one degree of freedom less than the effective number of clusters. For
        clusters of uneven size the bootstraps are as much wider as t is, and BCa takes the skewness
        of all clusters, where that of the jackknife is the skewness of the largest.

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
        fewer than 10 (Kish 1965), or all of them have the same value. With `clusters`, the same of
        them.

    UndefinedMetricWarning
        As `ndcg_score`.

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
    >>> from sklearn_ndcg import ndcg_interval
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
    tails = _tails(confidence_level)
    check_choice("method", method, get_args(Method))
    generator = generator_of(random_state, n_resamples)
    measure, data = measure_and_data("ndcg_interval", options)
    sample = Sample.of([read_queries(measure, y_true, y_score, **data)], y_true, clusters)
    value = float(statistics.mean_and_error(sample.values, sample.weight)[0][0])
    bounds, error = _bounds_and_error(value, sample, tails, method, n_resamples, generator)
    return NDCGInterval(
        value, ConfidenceInterval(*bounds.tolist()), error, sample.n_queries, sample.n_clusters,
        sample.n_left_out, float(confidence_level), method,
    )  # fmt: skip


def _bounds_and_error(
    value: float, sample: Sample, tails: Floats, method: Method, n_resamples: int, generator: Any
) -> tuple[Floats, float]:
    clustered = sample.clusters is not None
    values, weight = sample.by_independent_unit(sample.values)
    error = float(statistics.mean_and_error(values, weight)[1][0])
    if np.ptp(values) < EQUAL:
        each = "clusters" if clustered else "queries"
        warn(
            f"All {len(weight)} {each} have the NDCG {value:.4g}: the interval is a point, "
            f"which says nothing about other {each}."
        )
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


def _tails(confidence_level: object) -> Floats:
    """Levels of both bounds of an interval."""
    if not is_number(confidence_level) or not 0 < float(confidence_level) < 1 - 2**-52:
        raise ValueError(f"confidence_level must be between 0 and 1, got {confidence_level!r}.")
    return np.array([1 - float(confidence_level), 1 + float(confidence_level)]) / 2
