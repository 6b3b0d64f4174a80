"""How sure an NDCG is: intervals over queries, and paired comparisons of rankers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import ndtr, ndtri

from sklearn_ndcg._definitions import (
    Cutoff,
    Definition,
    check_choice,
    check_cutoff,
    is_integer,
    is_number,
)
from sklearn_ndcg._kernels import Floats, Ints
from sklearn_ndcg._metrics import check_options, ndcg_at
from sklearn_ndcg._queries import Queries, as_queries

_DRAWS = 1 << 21  # at a time: 16 MB of places or signs
_FEW = 10  # queries, below which a warning says what an interval is worth
_SAME = 1e-12  # differences this small are rounding
_ROUNDING = 1e-14  # of one value, and of a mean of them: the kernels differ by less than 1e-15


class ConfidenceInterval(NamedTuple):
    """Bounds of a confidence interval: numbers, or arrays over pairs."""

    low: Any
    high: Any


@dataclass(frozen=True, repr=False)
class NDCGInterval:
    """What `ndcg_interval` found; see there."""

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
    """What `compare_rankers` found; see there."""

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
        """The pairs as a pandas DataFrame, a row each."""
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

    The queries are taken for a sample of those that could have been asked; what varies is which
    of them were. (That the model would be another on other training data is not in it.)

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance and predicted scores, as of `ndcg_score`.

    confidence_level : float, default=0.95
        Between 0 and 1.

    n_resamples : int, default=9999
        Bootstrap resamples of the queries; not used by ``method="t"``.

    method : {"BCa", "percentile", "t"}, default="BCa"
        The bias-corrected and accelerated bootstrap (Efron 1987), the percentile bootstrap, or
        the interval of Student's t. Where weights differ, t has the jackknife's standard error
        and one degree of freedom less than Kish's effective number of queries, at least 1.

    random_state : int, RandomState, Generator or None, default=None
        Where the resamples come from.

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
    check_options("ndcg_interval", options)
    _check_level(confidence_level)
    confidence_level = float(confidence_level)
    check_choice("method", method, ("BCa", "percentile", "t"))
    _check_resamples(n_resamples)
    generator = _generator(random_state)
    values, weight, n_left_out = _scored(y_true, [("", y_score)], options)
    unit = _unit(values)
    values = values[0] / unit
    n = len(values)
    value, error, _ = _mean_and_error(values[np.newaxis], weight)
    center, standard_error = float(value[0]), float(error[0])
    tails = np.array([(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    if np.ptp(values) < _SAME:
        warnings.warn(
            f"All {n} queries have the NDCG {center * unit:.4g}: the interval is a point, which "
            "says nothing about other queries.",
            stacklevel=2,
        )
        low = high = center
    elif method == "t":
        low, high = center + standard_error * stats.t.ppf(tails, _degrees(weight))
    else:
        means = _resampled(values, weight, n_resamples, generator)
        standard_error = float(means.std(ddof=1))
        if method == "BCa":
            tails = _corrected(tails, center, means, values, weight)
        low, high = np.quantile(means, tails)
    # as Python floats, of which one too large for a float64 is inf without a warning
    return NDCGInterval(
        center * unit, ConfidenceInterval(float(low) * unit, float(high) * unit),
        standard_error * unit, n, n_left_out, confidence_level, method,
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
        Relevance, as of `ndcg_score`.

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
        Where they come from.

    **options
        The options of `ndcg_score`: `groups`, `k`, `gain`, `discount`, `ties`, `ignore_ties`,
        `unjudged` and `sample_weight`. Queries without a relevant document tell no rankers apart
        and are left out, whatever `replace_undefined_by` is.

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
        If an option is unknown, or `y_scores` is no mapping.

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
    check_options("compare_rankers", options)
    check_choice("test", test, ("permutation", "t"))
    _check_resamples(n_resamples)
    generator = _generator(random_state)
    names = _names(y_scores)
    pairs = _pairs(names, baseline)
    scores = [(name, y_scores[name]) for name in names]
    values, weight, n_left_out = _scored(y_true, scores, options | {"replace_undefined_by": np.nan})
    row = dict(zip(names, values, strict=True))
    differences = np.array([row[first] - row[second] for first, second in pairs])
    differences[np.abs(differences) < _SAME] = 0
    difference, error, effect = _mean_and_error(differences, weight)
    if test == "t":
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(difference == 0, 0, difference / error)
        pvalue = 2 * stats.t.sf(np.abs(statistic), _degrees(weight))
    else:
        statistic = difference
        pvalue = _randomised(differences, weight, n_resamples, generator)
    half = error * stats.t.ppf(0.975, _degrees(weight))
    return Comparison(
        dict(zip(row, _mean_and_error(values, weight)[0].tolist(), strict=True)),
        pairs,
        difference,
        ConfidenceInterval(difference - half, difference + half),
        error,
        effect,
        statistic,
        _holm(pvalue),
        pvalue,
        (differences > 0).sum(axis=1),
        (differences == 0).sum(axis=1),
        (differences < 0).sum(axis=1),
        values.shape[1],
        n_left_out,
        test,
    )


def ndcg_curve_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    cutoffs: Ints,
    confidence_level: float,
    options: dict[str, Any],
) -> Floats:
    """Bounds of NDCG at each cutoff, of Student's t over queries, shape (2, n_cutoffs)."""
    _check_level(confidence_level)
    queries, definition, _ = _given(y_true, y_score, options)
    bounds = np.empty((2, len(cutoffs)))
    step = max(1, _DRAWS // len(queries.starts))
    for at in range(0, len(cutoffs), step):
        values = ndcg_at(queries, cutoffs[at : at + step].tolist(), definition).T
        weight, counted = _counted(values[0], queries.weight, stacklevel=5)
        values = values[:, counted]
        unit = _unit(values)
        mean, error, _ = _mean_and_error(values / unit, weight)
        half = error * stats.t.ppf((1 + confidence_level) / 2, _degrees(weight))
        # replace_undefined_by may lie outside 0 and 1, and then so may a mean
        lowest, highest = min(0, values.min() / unit), max(1 / unit, values.max() / unit)
        bounds[:, at : at + step] = np.clip([mean - half, mean + half], lowest, highest) * unit
    return bounds


def _scored(
    y_true: ArrayLike, y_scores: list[tuple[Any, ArrayLike]], options: dict[str, Any]
) -> tuple[Floats, Floats, int]:
    """NDCG of each ranker and scored query, the queries' weights, and how many were left out."""
    values = []
    for name, y_score in y_scores:
        try:
            queries, definition, cutoff = _given(y_true, y_score, options)
        except (TypeError, ValueError) as error:
            if len(y_scores) > 1:
                error.add_note(f"This was found comparing the ranker {name!r}.")
            raise
        values.append(ndcg_at(queries, [cutoff], definition)[:, 0])
    by_ranker = np.array(values)
    weight, counted = _counted(by_ranker[0], queries.weight, stacklevel=4)
    return by_ranker[:, counted], weight, int((~counted).sum())


def _given(
    y_true: ArrayLike, y_score: ArrayLike, options: dict[str, Any]
) -> tuple[Queries, Definition, Cutoff]:
    """What the options of `ndcg_score` say."""
    options = dict(options)
    cutoff = check_cutoff(options.pop("k", None))
    data = {name: options.pop(name, None) for name in ("groups", "sample_weight")}
    definition = Definition(**options)
    queries = as_queries(y_true, y_score, definition=definition, negative_gain=False, **data)
    return queries, definition, cutoff


def _counted(
    values: Floats, weight: Floats | None, stacklevel: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Weights of the queries that count, and which these are."""
    weight = np.ones(len(values)) if weight is None else weight
    counted = ~np.isnan(values) & (weight > 0)
    n = int(counted.sum())
    if n < 2:
        raise ValueError(
            f"At least 2 queries must have an NDCG and weight, found {n} of {len(counted)}: how "
            "much it varies over queries cannot be known."
        )
    weight = weight[counted] / weight[counted].max()
    worth = round(_effective(weight), 6)
    if worth < _FEW:
        uneven = f", which by their weights are worth {worth:.3g}," if worth < n else ""
        warnings.warn(
            f"With {n} queries{uneven} an interval or a test says little: how NDCG varies over "
            f"queries is guessed from {n} values, and the level cannot be trusted.",
            stacklevel=stacklevel,
        )
    return weight, counted


def _effective(weight: Floats) -> float:
    """Kish's effective number: so many queries of equal weight give as sure a mean."""
    return float(weight.sum() ** 2 / (weight**2).sum())


def _degrees(weight: Floats) -> float:
    """Degrees of freedom of Student's t; n - 1 where weights are equal."""
    return max(_effective(weight) - 1, 1)


def _unit(values: Floats) -> float:
    """A power of two in which no square or cube of large values overflows; 1 for those up to 1."""
    return float(np.ldexp(1.0, np.frexp(max(1, np.abs(values).max()))[1] - 1))


def _mean_and_error(values: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Weighted mean of each row, its standard error, and mean over standard deviation."""
    n = values.shape[1]
    total = weight.sum()
    means = (values * weight).sum(axis=1) / total
    # the jackknife: how far the mean moves where a query is left out. With equal weights it is
    # s / sqrt(n), with others the least wrong of those in docs/evidence.md
    moves = (values - _means_of_others(values, weight)) * weight / total
    errors = np.sqrt((moves**2).sum(axis=1) * (n - 1) / n)
    squares = ((values - means[:, np.newaxis]) ** 2 * weight).sum(axis=1)
    deviations = np.sqrt(squares * total / (weight * _sums_of_others(weight)).sum())
    if _effective(weight) < 2:
        # one query decides, and by luck it may lie near the mean of the others: use them all
        errors = np.maximum(errors, deviations / np.sqrt(_effective(weight)))
    with np.errstate(divide="ignore", invalid="ignore"):
        effects = np.where(means == 0, 0, means / deviations)
    return means, errors, effects


def _resampled(
    values: Floats, weight: Floats, n_resamples: int, generator: np.random.Generator
) -> Floats:
    """Weighted means of resamples of the queries."""
    n = len(values)
    weighted, equal = values * weight, bool((weight == weight[0]).all())

    def means(count: int) -> Floats:
        drawn = generator.integers(0, n, (count, n))
        total = n * weight[0] if equal else weight[drawn].sum(axis=1)
        return np.asarray(weighted[drawn].sum(axis=1) / total)

    return _in_chunks(means, n_resamples, n)


def _corrected(
    tails: Floats, value: float, means: Floats, values: Floats, weight: Floats
) -> Floats:
    """Levels of the quantiles that BCa takes: with bias-correction and acceleration."""
    beyond = means - value
    beyond[np.abs(beyond) <= _ROUNDING * np.abs(values).max()] = 0  # equal but for rounding
    bias = ndtri(((beyond < 0).mean() + (beyond <= 0).mean()) / 2)
    if not np.isfinite(bias):
        raise ValueError(
            "n_resamples is too small for method='BCa': all resamples lie on one side of the "
            "value. Take more of them, or method='t'."
        )
    without = _means_of_others(values, weight)  # the jackknife
    skew = without.mean() - without
    acceleration = (skew**3).sum() / (6 * (skew**2).sum() ** 1.5)
    shifted = bias + ndtri(tails)
    slowed = 1 - acceleration * shifted
    with np.errstate(divide="ignore"):
        levels = ndtr(bias + shifted / slowed)
    # far out the formula runs through a pole and comes back on the other side
    return np.asarray(np.where(slowed > 0, levels, shifted > 0))


def _means_of_others(values: Floats, weight: Floats) -> Floats:
    """For each value the weighted mean of all others in its row."""
    return _sums_of_others(values * weight) / _sums_of_others(weight)


def _sums_of_others(terms: Floats) -> Floats:
    """For each term the sum of all others in its row.

    Not by a difference, which would lose all digits where one term is much larger than the rest.
    """
    sums = np.zeros_like(terms)
    sums[..., 1:] = np.cumsum(terms[..., :-1], axis=-1)
    sums[..., :-1] += np.cumsum(terms[..., :0:-1], axis=-1)[..., ::-1]
    return sums


def _randomised(
    differences: Floats, weight: Floats, n_resamples: int, generator: np.random.Generator
) -> Floats:
    """Two-sided p-values of the mean of each row when the signs of its columns are random."""
    n = differences.shape[1]
    terms = differences * weight
    slack = _ROUNDING * weight * (differences != 0)  # rounding of a term
    columns = np.ascontiguousarray(np.concatenate([terms, slack]).T)
    exact = n < 63 and 2**n <= n_resamples
    assignments = np.arange(2**n if exact else 0)

    def sides(count: int) -> NDArray[np.bool_]:
        nonlocal assignments
        if exact:
            flipped: NDArray[Any] = assignments[:count, np.newaxis] >> np.arange(n) & 1
            assignments = assignments[count:]
        else:
            bits = np.frombuffer(generator.bytes(count * -(-n // 8)), dtype=np.uint8)
            flipped = np.unpackbits(~bits.reshape(count, -1), axis=1, count=n)
        # A sum exceeds the observed one where the terms that change sign add up to less than 0.
        # The others cancel, so that a large one among them costs no digits.
        sums, near = np.split(flipped.astype(np.float64) @ columns, 2, axis=1)
        return np.concatenate([sums <= near, sums >= -near], axis=1)

    found = _in_chunks(sides, 2**n if exact else n_resamples, n)
    above, below = np.split(found.sum(axis=0), 2)
    more = 0 if exact else 1  # the data are one of the assignments
    return np.asarray(np.minimum(1, 2 * (np.minimum(above, below) + more) / (len(found) + more)))


def _in_chunks(
    draw: Callable[[int], NDArray[Any]], n_resamples: int, n_queries: int
) -> NDArray[Any]:
    """Results of `draw` for all resamples, of which few are drawn at a time."""
    step = max(1, _DRAWS // n_queries)
    return np.concatenate([draw(min(step, n_resamples - at)) for at in range(0, n_resamples, step)])


def _holm(pvalue: Floats) -> Floats:
    """P-values corrected for their number, step by step (Holm 1979)."""
    order = np.argsort(pvalue)
    steps = pvalue[order] * np.arange(len(pvalue), 0, -1)
    corrected = np.empty_like(pvalue)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return corrected


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
