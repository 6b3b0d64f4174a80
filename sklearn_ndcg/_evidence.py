"""How sure an NDCG is: intervals over queries, and paired comparisons of rankers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from sklearn_ndcg._checks import check_choice, is_integer, is_number, refuse_reordered, warn
from sklearn_ndcg._definitions import Measure, check_cutoff, check_options
from sklearn_ndcg._grouping import Grouping, shown_labels
from sklearn_ndcg._inputs import read_queries, with_scores
from sklearn_ndcg._queries import Queries
from sklearn_ndcg._resampling import (
    bca_levels,
    bootstrap_means,
    by_cluster,
    degrees_of_freedom,
    effective_number,
    holm,
    mean_and_error,
    permutation_pvalues,
    widened_levels,
)
from sklearn_ndcg._results import (
    EQUAL,
    Comparison,
    ConfidenceInterval,
    NDCGInterval,
    query_differences,
)
from sklearn_ndcg._typing import Floats, Ints

_FEW = 10  # queries or clusters, below which a warning says what an interval is worth
_DATA = ("groups", "k", "sample_weight")  # options of a metric that are not of a measure
_CURVE_CHUNK = 1 << 21  # values of queries at cutoffs at a time: 16 MB


def ndcg_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    method: str = "BCa",
    random_state: Any = None,
    clusters: ArrayLike | None = None,
    **options: Any,
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
        `unjudged`, `replace_undefined_by` and `sample_weight`. A resampled query keeps its weight.

    Returns
    -------
    result : NDCGInterval
        With `value` (that of `ndcg_score`), `confidence_interval` (`low`, `high`),
        `standard_error`, `n_queries` that were scored, `n_clusters` that they lie in (`n_queries`
        without `clusters`), and `n_left_out`, undefined under ``replace_undefined_by=nan`` or
        without weight.

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
    compare_rankers : Is one ranker better than another, on the same queries?

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
    >>> ndcg_interval(y_true, y_score, k=10, clusters=user, random_state=0)
    """
    check_options("ndcg_interval", options, data=_DATA)
    _check_level(confidence_level)
    confidence_level = float(confidence_level)
    check_choice("method", method, ("BCa", "percentile", "t"))
    _check_resamples(n_resamples)
    generator = _generator(random_state)
    measure, data = _measure_and_data(options)
    sample = _sample([read_queries(measure, y_true, y_score, **data)], y_true, clusters)
    value = float(mean_and_error(sample.values, sample.weight)[0][0])
    values, weight = sample.independent(sample.values)
    error = float(mean_and_error(values, weight)[1][0])
    tails = np.array([(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    if np.ptp(values) < EQUAL:
        each = "queries" if sample.clusters is None else "clusters"
        warn(
            f"All {len(weight)} {each} have the NDCG {value:.4g}: the interval is a point, "
            f"which says nothing about other {each}."
        )
        bounds = np.array([value, value])
    elif method == "t":
        bounds = value + error * stats.t.ppf(tails, degrees_of_freedom(weight))
    else:
        means = bootstrap_means(values[0], weight, n_resamples, generator)
        clustered = sample.clusters is not None
        if clustered:
            tails = widened_levels(tails, error, means, weight)
        error = float(means.std(ddof=1))
        if method == "BCa":
            tails = bca_levels(tails, value, means, values[0], weight, clustered)
        bounds = np.quantile(means, tails)
    return NDCGInterval(
        value, ConfidenceInterval(*bounds.tolist()), error, sample.n_queries, sample.n_clusters,
        sample.n_left_out, confidence_level, method,
    )  # fmt: skip


def compare_rankers(
    y_true: ArrayLike,
    y_scores: Mapping[Any, ArrayLike],
    *,
    baseline: Any = None,
    test: str = "permutation",
    n_resamples: int = 9999,
    random_state: Any = None,
    clusters: ArrayLike | None = None,
    **options: Any,
) -> Comparison:
    """Compare rankers on the same queries: which is better, by how much, and how sure that is.

    Paired by query: for each pair of rankers the differences of their NDCG, query by query.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance, as in `ndcg_score`.

    y_scores : mapping from name to array-like of the shape of `y_true`
        The scores of two rankers or more; or a DataFrame (pandas, Polars, PyArrow) with a column
        for each.

    baseline : a name in `y_scores`, default=None
        Compare each other ranker with this one, rather than all with all.

    test : {"permutation", "t"}, default="permutation"
        Fisher's randomisation: which of the two rankers a query's value belongs to is as good as
        random if they are equal. All assignments are tried where there are no more than
        `n_resamples`. Or the paired test of Student's t, with weights as in `ndcg_interval`.

    n_resamples : int, default=9999
        Random assignments, if not all are tried; not used by ``test="t"``.

    random_state : int, RandomState, Generator or None, default=None
        Source of the assignments.

    clusters : array-like of shape (n_documents,) or (n_queries,), default=None
        Where queries depend on each other, one cluster id per row, as in `ndcg_interval`. The
        differences of one cluster change their signs together, and t has the error and the degrees
        of freedom of `ndcg_interval`.

    **options
        The options of `ndcg_score`: `groups`, `k`, `gain`, `discount`, `ties`, `ignore_ties`,
        `unjudged` and `sample_weight`. Queries without a relevant document say nothing about
        rankers and are left out, whatever `replace_undefined_by` is.

    Returns
    -------
    result : Comparison
        Prints as a table. `ndcg`, a dict of means, then arrays over `pairs`, a list of (first,
        second), where a baseline is the second: `difference` of the means, first less second,
        `confidence_interval` (`low`, `high`: 0.95, of Student's t), `standard_error`,
        `effect_size` (mean over standard deviation of the differences, both weighted),
        `statistic` (the mean difference, or t), `pvalue` (two-sided, with Holm's correction for
        the number of pairs), `uncorrected_pvalue`, and the numbers of queries `wins`, `ties`,
        `losses` of the first. Then `values`, a dict of arrays with the NDCG of each query that was
        scored, and `labels`, the ids of these queries, sorted (for 2-D input, numbers of rows);
        `n_queries`, `n_clusters`, `n_left_out`, `test`. ``largest(n)`` shows the queries that
        differ most. ``to_frame()`` gives a pandas DataFrame of the pairs.

    Raises
    ------
    ValueError
        If an argument is not as described, there are fewer than two rankers, fewer than two
        queries or clusters can be scored, or a query has rows in several clusters.

    TypeError
        If an option is unknown, or `y_scores` is not a mapping.

    Warns
    -----
    UserWarning
        If there are fewer than 10 queries or clusters, or their weights make them worth fewer than
        10, as in `ndcg_interval`.

    See Also
    --------
    ndcg_interval : The interval of one NDCG.

    References
    ----------
    Smucker, M. D., Allan, J., & Carterette, B. (2007). A comparison of statistical significance
    tests for information retrieval evaluation. CIKM 2007, 623-632.

    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal
    of Statistics, 6(2), 65-70.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg import compare_rankers
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(100, 20))
    >>> good, poor, other = (y_true + rng.normal(0, s, y_true.shape) for s in (2, 4, 4))
    >>> scores = {"good": good, "poor": poor, "other": other}
    >>> compare_rankers(y_true, scores, k=10, random_state=0)
    100 queries
             NDCG
    good   0.8497
    poor   0.7376
    other  0.7211
    <BLANKLINE>
                  difference  0.95 interval       p (permutation, Holm)  effect  wins/ties/losses
    good - poor      +0.1121  [+0.0871, +0.1371]                 0.0006   +0.89  85/0/15
    good - other     +0.1286  [+0.1019, +0.1553]                 0.0006   +0.96  83/0/17
    poor - other     +0.0165  [-0.0100, +0.0430]                 0.2218   +0.12  53/0/47

    The queries that differ most:

    >>> compare_rankers(y_true, scores, k=10, baseline="poor", random_state=0).largest(2)
    """
    check_options("compare_rankers", options, data=_DATA)
    check_choice("test", test, ("permutation", "t"))
    _check_resamples(n_resamples)
    generator = _generator(random_state)
    names = _names(y_scores)
    pairs = _pairs(names, baseline)
    rankers = _read_rankers(y_true, {name: y_scores[name] for name in names}, options)
    sample = _sample(rankers, y_true, clusters)
    by_name = dict(zip(names, sample.values, strict=True))
    differences = np.array([query_differences(by_name[one], by_name[two]) for one, two in pairs])
    means = mean_and_error(sample.values, sample.weight)[0].tolist()
    return Comparison(
        ndcg=dict(zip(names, means, strict=True)),
        pairs=pairs,
        **_tested(differences, sample, test, n_resamples, generator),
        wins=(differences > 0).sum(axis=1),
        ties=(differences == 0).sum(axis=1),
        losses=(differences < 0).sum(axis=1),
        values=by_name,
        labels=sample.labels,
        n_queries=sample.n_queries,
        n_clusters=sample.n_clusters,
        n_left_out=sample.n_left_out,
        test=test,
    )


def _tested(
    differences: Floats, sample: _Sample, test: str, n_resamples: int, generator: Any
) -> dict[str, Any]:
    """Mean differences of pairs (rows), how sure they are, and their p-values."""
    difference, error, effect = mean_and_error(differences, sample.weight)
    differences, weight = sample.independent(differences)
    if sample.clusters is not None:
        differences[np.abs(differences) < EQUAL] = 0
        difference, error, _ = mean_and_error(differences, weight)
    degrees = degrees_of_freedom(weight)
    if test == "t":
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(difference == 0, 0, difference / error)
        pvalue = 2 * stats.t.sf(np.abs(statistic), degrees)
    else:
        statistic = difference
        pvalue = permutation_pvalues(differences, weight, n_resamples, generator)
    half = error * stats.t.ppf(0.975, degrees)
    return {
        "difference": difference,
        "confidence_interval": ConfidenceInterval(difference - half, difference + half),
        "standard_error": error,
        "effect_size": effect,
        "statistic": statistic,
        "pvalue": holm(pvalue),
        "uncorrected_pvalue": pvalue,
    }


def curve_interval(queries: Queries, cutoffs: Ints, confidence_level: float) -> Floats:
    """Bounds of NDCG at each cutoff, of Student's t over queries, shape (2, n_cutoffs)."""
    _check_level(confidence_level)
    bounds = np.empty((2, len(cutoffs)))
    step = max(1, _CURVE_CHUNK // len(queries))
    for first in range(0, len(cutoffs), step):
        some = cutoffs[first : first + step].tolist()
        values = replace(queries, measure=replace(queries.measure, k=some)).values().T
        weight, scored = _weights_of_scored(values[0], queries.weight)
        _check_number(weight, len(scored))
        values = values[:, scored]
        mean, error, _ = mean_and_error(values, weight)
        half = error * stats.t.ppf((1 + confidence_level) / 2, degrees_of_freedom(weight))
        # replace_undefined_by may lie outside 0 and 1, and then so may a mean
        low, high = min(0, values.min()), max(1, values.max())
        bounds[:, first : first + step] = np.clip([mean - half, mean + half], low, high)
    return bounds


class _Sample(NamedTuple):
    """NDCG of each ranker (row) and scored query (column), with the weights of these queries.

    `clusters` has the number of each query's cluster, or is None where all are independent.
    """

    values: Floats
    weight: Floats
    labels: NDArray[Any]
    clusters: Ints | None
    n_left_out: int

    @property
    def n_queries(self) -> int:
        return len(self.weight)

    @property
    def n_clusters(self) -> int:
        return self.n_queries if self.clusters is None else int(self.clusters.max()) + 1

    def independent(self, values: Floats) -> tuple[Floats, Floats]:
        """Values and weights of what is independent of each other: queries, or their clusters."""
        if self.clusters is None:
            return values, self.weight
        return by_cluster(values, self.weight, self.clusters)


def _measure_and_data(options: dict[str, Any]) -> tuple[Measure, dict[str, Any]]:
    """Split the options of `ndcg_score` into a measure and data."""
    choices = {name: value for name, value in options.items() if name not in _DATA}
    measure = Measure(k=check_cutoff(options.get("k")), **choices)
    return measure, {name: options.get(name) for name in ("groups", "sample_weight")}


def _read_rankers(
    y_true: ArrayLike, y_scores: dict[Any, ArrayLike], options: dict[str, Any]
) -> list[Queries]:
    """The same queries with the scores of each ranker; they are grouped once."""
    measure, data = _measure_and_data(options | {"replace_undefined_by": np.nan})
    found: list[Queries] = []
    for name, y_score in y_scores.items():
        try:
            if found:
                refuse_reordered(y_true=y_true, y_score=y_score)
                found.append(with_scores(found[0], y_score))
            else:
                found.append(read_queries(measure, y_true, y_score, **data))
        except (TypeError, ValueError) as error:
            error.add_note(f"This was found comparing the ranker {name!r}.")
            raise
    return found


def _sample(rankers: list[Queries], y_true: ArrayLike, clusters: ArrayLike | None) -> _Sample:
    queries = rankers[0]
    values = np.array([ranker.values()[:, 0] for ranker in rankers])
    codes = None
    if clusters is not None:
        refuse_reordered(y_true=y_true, clusters=clusters)
        codes = _clusters_of_queries(queries, clusters)
    weight, scored = _weights_of_scored(values[0], queries.weight)
    if codes is not None:
        found, codes = np.unique(codes[scored], return_inverse=True)
        codes = None if len(found) == len(weight) else codes
    sample = _Sample(
        values[:, scored], weight, queries.grouping.labels[scored], codes, int((~scored).sum())
    )
    _check_number(
        sample.independent(sample.values)[1],
        len(scored) if codes is None else sample.n_queries,
        codes is not None,
    )
    return sample


def _weights_of_scored(values: Floats, weight: Floats | None) -> tuple[Floats, NDArray[np.bool_]]:
    """Weights of the queries that have a value and a weight, and which these are."""
    weight = np.ones(len(values)) if weight is None else weight
    scored = ~np.isnan(values) & (weight > 0)
    weight = weight[scored]
    return weight / weight.max() if len(weight) else weight, scored


def _check_number(weight: Floats, n_queries: int, clustered: bool = False) -> None:
    """Raise or warn where a sample of so many queries or clusters is too small."""
    n = len(weight)
    each, of_queries = ("clusters", f" of {n_queries} queries") if clustered else ("queries", "")
    if n < 2:
        raise ValueError(
            f"At least 2 {each} must have an NDCG and weight, found {n} of {n_queries}"
            f"{' queries' if clustered else ''}: how much it varies over {each} cannot be "
            "estimated."
        )
    worth = round(effective_number(weight), 6)
    if worth < _FEW:
        reason = "sizes" if clustered else "weights"
        uneven = f", which by their {reason} are worth {worth:.3g}," if worth < n else ""
        warn(
            f"With {n} {each}{of_queries}{uneven} an interval or a test says little: how NDCG "
            f"varies over {each} is guessed from {n} values, and the level cannot be trusted."
        )


def _clusters_of_queries(queries: Queries, clusters: ArrayLike) -> Ints:
    """The number of each query's cluster, which holds all of its rows."""
    try:
        grouping = Grouping.of_ids(clusters, queries.shape[0])
    except (TypeError, ValueError) as error:  # ids are read where they are known as groups
        raise type(error)(str(error).replace("groups", "clusters")) from error
    codes = grouping.row_codes()
    if len(queries.shape) == 2:
        return codes
    query = queries.grouping.row_codes()
    first = np.empty(len(queries), dtype=np.intp)
    first[query[::-1]] = codes[::-1]  # of several rows the last written stays
    elsewhere = codes != first[query]
    if elsewhere.any():
        row = int(elsewhere.argmax())
        label = shown_labels(queries.grouping.labels[query[row]][np.newaxis])
        both = shown_labels(grouping.labels[[first[query[row]], codes[row]]])
        raise ValueError(
            f"clusters must hold whole queries, but {len(np.unique(query[elsewhere]))} queries "
            f"have rows in several, the first {label}, in clusters {both}. Pass larger clusters; "
            "or, if its rows in each cluster are a query of their own, groups=[groups, clusters]."
        )
    return first


def _names(y_scores: Any) -> list[Any]:
    """Names of the rankers: the keys of a mapping, or the columns of a DataFrame."""
    lazy = hasattr(y_scores, "collect")
    columns: list[Any] | None = None
    if callable(getattr(y_scores, "items", None)):
        columns = [name for name, _ in y_scores.items()]
    elif hasattr(y_scores, "column_names"):  # PyArrow, whose `columns` are the data
        columns = list(y_scores.column_names)
    elif not lazy and hasattr(y_scores, "columns"):
        columns = list(y_scores.columns)
    if columns is None:
        raise TypeError(
            "y_scores must be a mapping from the name of a ranker to its scores, or a DataFrame "
            f"with a column for each, got {type(y_scores).__name__}"
            + (": collect() it first." if lazy else ".")
        )
    if len(columns) < 2 or len(set(columns)) < len(columns):
        raise ValueError(
            f"y_scores must have at least two rankers of different names, got {columns}."
        )
    return columns


def _pairs(names: list[Any], baseline: Any) -> list[tuple[Any, Any]]:
    if baseline is None:
        return list(combinations(names, 2))
    if not isinstance(baseline, Hashable) or baseline not in names:
        raise ValueError(f"baseline must be one of the rankers {names}, got {baseline!r}.")
    return [(name, baseline) for name in names if name != baseline]


def _check_level(confidence_level: object) -> None:
    if not is_number(confidence_level) or not 0 < float(confidence_level) < 1 - 2**-52:
        raise ValueError(f"confidence_level must be between 0 and 1, got {confidence_level!r}.")


def _check_resamples(n_resamples: object) -> None:
    if not is_integer(n_resamples) or n_resamples < 2:
        raise ValueError(f"n_resamples must be an integer >= 2, got {n_resamples!r}.")


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, 4, dtype=np.uint32))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be an int, a RandomState, a Generator or None, got "
            f"{random_state!r}."
        ) from error
