"""How sure an NDCG is: intervals over queries, and paired comparisons of rankers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from sklearn_ndcg._checks import check_choice, is_integer, is_number, refuse_reordered, warn
from sklearn_ndcg._definitions import Measure, check_cutoff, check_options
from sklearn_ndcg._inputs import read_queries, with_scores
from sklearn_ndcg._queries import Queries
from sklearn_ndcg._resampling import (
    bca_levels,
    bootstrap_means,
    degrees_of_freedom,
    effective_number,
    holm,
    mean_and_error,
    permutation_pvalues,
)
from sklearn_ndcg._typing import Floats, Ints

_FEW_QUERIES = 10  # below which a warning says what an interval is worth
_EQUAL = 1e-12  # differences up to this are rounding errors
_DATA = ("groups", "k", "sample_weight")  # options of a metric that are not of a measure
_CURVE_CHUNK = 1 << 21  # values of queries at cutoffs at a time: 16 MB


class ConfidenceInterval(NamedTuple):
    """Bounds of a confidence interval: numbers, or arrays over pairs."""

    low: Any
    high: Any


@dataclass(frozen=True, repr=False)
class NDCGInterval:
    """Result of `ndcg_interval`."""

    value: float
    confidence_interval: ConfidenceInterval
    standard_error: float
    n_queries: int
    n_left_out: int
    confidence_level: float
    method: str

    def __repr__(self) -> str:
        low, high = self.confidence_interval
        return (
            f"NDCG {self.value:.4f}, {self.confidence_level:.6g} interval [{low:.4f}, {high:.4f}] "
            f"({self.method}), standard error {self.standard_error:.4f}, {self.n_queries} queries"
            + (f", {self.n_left_out} left out" if self.n_left_out else "")
        )


@dataclass(frozen=True, repr=False)
class Comparison:
    """Result of `compare_rankers`."""

    ndcg: dict[Any, float]
    pairs: list[tuple[Any, Any]]
    difference: Floats
    confidence_interval: ConfidenceInterval
    standard_error: Floats
    effect_size: Floats
    statistic: Floats
    pvalue: Floats
    uncorrected_pvalue: Floats
    wins: NDArray[np.intp]
    ties: NDArray[np.intp]
    losses: NDArray[np.intp]
    n_queries: int
    n_left_out: int
    test: str

    def __repr__(self) -> str:
        left_out = f", {self.n_left_out} left out" if self.n_left_out else ""
        width = max(len(str(name)) for name in self.ndcg)
        pair = max(len(f"{first} - {second}") for first, second in self.pairs)
        lines = [f"{self.n_queries} queries{left_out}", f"{'':{width}}    NDCG"]
        lines += [f"{name!s:{width}}  {value:.4f}" for name, value in self.ndcg.items()]
        p = f"p ({self.test}, Holm)"
        lines += ["", f"{'':{pair}}  difference  0.95 interval       {p}  effect  wins/ties/losses"]
        low, high = self.confidence_interval
        for i, (first, second) in enumerate(self.pairs):
            lines.append(
                f"{f'{first} - {second}':{pair}}  {self.difference[i]:+10.4f}  "
                f"[{low[i]:+.4f}, {high[i]:+.4f}]  {self.pvalue[i]:{len(p)}.4f}  "
                f"{self.effect_size[i]:+6.2f}  {self.wins[i]}/{self.ties[i]}/{self.losses[i]}"
            )
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """The pairs as a pandas DataFrame, one row per pair."""
        try:
            import pandas as pd  # noqa: PLC0415  (an extra)
        except ImportError as error:
            raise ImportError(
                'to_frame needs pandas: python -m pip install "pandas>=2.2"'
            ) from error

        low, high = self.confidence_interval
        index = pd.MultiIndex.from_tuples(self.pairs, names=["first", "second"])
        columns = {"difference": self.difference, "low": low, "high": high}
        names = ["standard_error", "effect_size", "statistic", "pvalue", "uncorrected_pvalue"]
        for name in [*names, "wins", "ties", "losses"]:
            columns[name] = getattr(self, name)
        return pd.DataFrame(columns, index=index)


def ndcg_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    method: str = "BCa",
    random_state: Any = None,
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

    **options
        The options of `ndcg_score`: `groups`, `k`, `gain`, `discount`, `ties`, `ignore_ties`,
        `unjudged`, `replace_undefined_by` and `sample_weight`. A resampled query keeps its weight.

    Returns
    -------
    result : NDCGInterval
        With `value` (that of `ndcg_score`), `confidence_interval` (`low`, `high`),
        `standard_error`, `n_queries` that were scored, and `n_left_out`, undefined under
        ``replace_undefined_by=nan`` or without weight.

    Raises
    ------
    ValueError
        If an argument is not as described, or fewer than two queries can be scored.

    TypeError
        If an option is unknown.

    Warns
    -----
    UserWarning
        If there are fewer than 10 queries, or their weights are so uneven that they are worth
        fewer than 10 (Kish 1965), or all of them have the same value.

    UndefinedMetricWarning
        As `ndcg_score`.

    See Also
    --------
    compare_rankers : Is one ranker better than another, on the same queries?

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical
    Association, 82(397), 171-185.

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
    """
    check_options("ndcg_interval", options, data=_DATA)
    _check_level(confidence_level)
    confidence_level = float(confidence_level)
    check_choice("method", method, ("BCa", "percentile", "t"))
    _check_resamples(n_resamples)
    generator = _generator(random_state)
    measure, data = _measure_and_data(options)
    sample = _sample([read_queries(measure, y_true, y_score, **data)])
    value, error, _ = (float(each[0]) for each in mean_and_error(*sample[:2]))
    tails = np.array([(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    if np.ptp(sample.values) < _EQUAL:
        warn(
            f"All {sample.n_queries} queries have the NDCG {value:.4g}: the interval is a point, "
            "which says nothing about other queries."
        )
        bounds = np.array([value, value])
    elif method == "t":
        bounds = value + error * stats.t.ppf(tails, degrees_of_freedom(sample.weight))
    else:
        means = bootstrap_means(sample.values[0], sample.weight, n_resamples, generator)
        error = float(means.std(ddof=1))
        if method == "BCa":
            tails = bca_levels(tails, value, means, sample.values[0], sample.weight)
        bounds = np.quantile(means, tails)
    return NDCGInterval(
        value, ConfidenceInterval(*bounds.tolist()), error, sample.n_queries, sample.n_left_out,
        confidence_level, method,
    )  # fmt: skip


def compare_rankers(
    y_true: ArrayLike,
    y_scores: Mapping[Any, ArrayLike],
    *,
    baseline: Any = None,
    test: str = "permutation",
    n_resamples: int = 9999,
    random_state: Any = None,
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
        `losses` of the first; `n_queries`, `n_left_out`, `test`. ``to_frame()`` gives a pandas
        DataFrame.

    Raises
    ------
    ValueError
        If an argument is not as described, there are fewer than two rankers, or fewer than two
        queries can be scored.

    TypeError
        If an option is unknown, or `y_scores` is not a mapping.

    Warns
    -----
    UserWarning
        If there are fewer than 10 queries, or their weights make them worth fewer than 10, as in
        `ndcg_interval`.

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
    """
    check_options("compare_rankers", options, data=_DATA)
    check_choice("test", test, ("permutation", "t"))
    _check_resamples(n_resamples)
    generator = _generator(random_state)
    names = _names(y_scores)
    pairs = _pairs(names, baseline)
    sample = _sample(_read_rankers(y_true, {name: y_scores[name] for name in names}, options))
    by_name = dict(zip(names, sample.values, strict=True))
    differences = np.array([by_name[first] - by_name[second] for first, second in pairs])
    differences[np.abs(differences) < _EQUAL] = 0
    means = mean_and_error(sample.values, sample.weight)[0].tolist()
    return Comparison(
        ndcg=dict(zip(names, means, strict=True)),
        pairs=pairs,
        **_tested(differences, sample.weight, test, n_resamples, generator),
        wins=(differences > 0).sum(axis=1),
        ties=(differences == 0).sum(axis=1),
        losses=(differences < 0).sum(axis=1),
        n_queries=sample.n_queries,
        n_left_out=sample.n_left_out,
        test=test,
    )


def _tested(
    differences: Floats, weight: Floats, test: str, n_resamples: int, generator: Any
) -> dict[str, Any]:
    """Mean differences of pairs (rows), how sure they are, and their p-values."""
    difference, error, effect = mean_and_error(differences, weight)
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
        values = values[:, scored]
        mean, error, _ = mean_and_error(values, weight)
        half = error * stats.t.ppf((1 + confidence_level) / 2, degrees_of_freedom(weight))
        # replace_undefined_by may lie outside 0 and 1, and then so may a mean
        low, high = min(0, values.min()), max(1, values.max())
        bounds[:, first : first + step] = np.clip([mean - half, mean + half], low, high)
    return bounds


class _Sample(NamedTuple):
    """NDCG of each ranker (row) and scored query (column), the weights of these queries."""

    values: Floats
    weight: Floats
    n_left_out: int

    @property
    def n_queries(self) -> int:
        return len(self.weight)


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


def _sample(rankers: list[Queries]) -> _Sample:
    values = np.array([queries.values()[:, 0] for queries in rankers])
    weight, scored = _weights_of_scored(values[0], rankers[0].weight)
    return _Sample(values[:, scored], weight, int((~scored).sum()))


def _weights_of_scored(values: Floats, weight: Floats | None) -> tuple[Floats, NDArray[np.bool_]]:
    """Weights of the queries that have a value and a weight, and which these are."""
    weight = np.ones(len(values)) if weight is None else weight
    scored = ~np.isnan(values) & (weight > 0)
    n = int(scored.sum())
    if n < 2:
        raise ValueError(
            f"At least 2 queries must have an NDCG and weight, found {n} of {len(scored)}: how "
            "much it varies over queries cannot be estimated."
        )
    weight = weight[scored] / weight[scored].max()
    worth = round(effective_number(weight), 6)
    if worth < _FEW_QUERIES:
        uneven = f", which by their weights are worth {worth:.3g}," if worth < n else ""
        warn(
            f"With {n} queries{uneven} an interval or a test says little: how NDCG varies over "
            f"queries is guessed from {n} values, and the level cannot be trusted."
        )
    return weight, scored


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
