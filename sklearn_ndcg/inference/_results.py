"""Results of intervals and comparisons, which print as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Floats
from sklearn_ndcg._rows.label_texts import label_text
from sklearn_ndcg._show import percent, text_table
from sklearn_ndcg.inference._statistics import Method, Test

FrameOf = Literal["pairs", "rankers", "queries"]


class ConfidenceInterval(NamedTuple):
    """Bounds of a confidence interval.

    Attributes
    ----------
    low, high : float or ndarray of shape (n_pairs,)
        The lower and the upper bound: numbers in `NDCGInterval`, arrays over pairs in `Comparison`.

    Examples
    --------
    >>> from sklearn_ndcg.inference import ConfidenceInterval, ndcg_interval
    >>> result = ndcg_interval([[1, 0], [0, 1]] * 10, [[1, 0]] * 20, method="t")
    >>> interval: ConfidenceInterval = result.confidence_interval
    >>> bool(interval.low < result.mean < interval.high)
    True
    """

    low: Any
    high: Any


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NDCGInterval:
    """NDCG with a confidence interval over queries: the result of `ndcg_interval`.

    It prints as one line.

    Attributes
    ----------
    metric : str
        What was computed for each query, with its cutoff: "NDCG@10".

    mean : float
        The NDCG of `ndcg_score`, a mean over queries.

    confidence_interval : ConfidenceInterval
        Its bounds, `low` and `high`.

    standard_error : float
        The standard error of `mean`: the standard deviation of the resampled means, or the error of
        Student's t if ``method="t"`` or all values are equal.

    n_queries : int
        Number of queries that were scored.

    n_clusters : int
        Number of clusters of these queries; `n_queries` without `clusters`.

    n_left_out : int
        Number of queries that were left out: undefined under ``undefined="omit"``, or of weight 0.

    confidence_level : float
        The level of the interval.

    method : str
        How the interval was computed: "BCa" or "t".

    See Also
    --------
    ndcg_interval : Computes it.
    ndcg_by_segment : Intervals of segments of the queries.
    Comparison : The differences of several rankers on the same queries.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg.inference import NDCGInterval, ndcg_interval
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(200, 20))
    >>> y_score = y_true + rng.normal(scale=2, size=y_true.shape)
    >>> result: NDCGInterval = ndcg_interval(y_true, y_score, k=10, method="t")
    >>> low, high = result.confidence_interval
    >>> print(f"{result.mean:.3f}, from {low:.3f} to {high:.3f}")
    0.843, from 0.832 to 0.854
    """

    metric: str
    mean: float
    confidence_interval: ConfidenceInterval
    standard_error: float
    n_queries: int
    n_clusters: int
    n_left_out: int
    confidence_level: float
    method: Method

    def __repr__(self) -> str:
        low, high = self.confidence_interval
        return (
            f"{self.metric} {self.mean:.4f}, {percent(self.confidence_level)} confidence interval "
            f"[{low:.4f}, {high:.4f}] ({self.method}), standard error {self.standard_error:.4f}, "
            f"{_counts(self)}"
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SegmentTable:
    """NDCG of each segment of the queries, with intervals: the result of `ndcg_by_segment`.

    It prints as a table, with all queries in the last row. Every array is in the order of
    `segments`.

    Attributes
    ----------
    metric : str
        What was computed for each query, with its cutoff: "NDCG@10".

    segments : list of length n_segments
        The ids of the segments, sorted; tuples if `segments` had several columns.

    mean : ndarray of shape (n_segments,)
        The NDCG of each segment; nan if none of its queries can be scored.

    confidence_interval : ConfidenceInterval
        Bounds of each NDCG: `low` and `high`, each of shape (n_segments,); nan if fewer than two
        queries can be scored.

    standard_error : ndarray of shape (n_segments,)
        The standard error of each NDCG, as in `NDCGInterval`.

    n_queries : ndarray of int of shape (n_segments,)
        Number of queries that were scored.

    n_left_out : ndarray of int of shape (n_segments,)
        Number of queries that were left out: undefined under ``undefined="omit"``, or of weight 0.

    overall : NDCGInterval
        The NDCG of all queries: what `ndcg_interval` returns.

    See Also
    --------
    ndcg_by_segment : Computes it.
    IntervalDisplay : A plot of it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg.inference import SegmentTable, ndcg_by_segment
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(200, 20))
    >>> y_score = y_true + rng.normal(scale=2, size=y_true.shape)
    >>> country = np.array(["AT", "BE", "CH", "DE"])[np.arange(200) % 4]
    >>> table: SegmentTable = ndcg_by_segment(y_true, y_score, segments=country, method="t", k=10)
    >>> table.segments
    ['AT', 'BE', 'CH', 'DE']
    >>> bool(abs(table.mean @ table.n_queries / 200 - table.overall.mean) < 1e-12)
    True
    >>> table.to_frame().round(3)[["mean", "low", "high"]]
              mean    low   high
    segment
    AT       0.860  0.838  0.882
    BE       0.837  0.815  0.859
    CH       0.848  0.828  0.867
    DE       0.826  0.800  0.853
    """

    metric: str
    segments: list[Any]
    mean: Floats
    confidence_interval: ConfidenceInterval
    standard_error: Floats
    n_queries: NDArray[np.intp]
    n_left_out: NDArray[np.intp]
    overall: NDCGInterval

    def __repr__(self) -> str:
        whole = self.overall
        interval = f"{percent(whole.confidence_level)} CI ({whole.method})"
        ends = [*zip(*self.confidence_interval, strict=True), whole.confidence_interval]
        errors = (*self.standard_error, whole.standard_error)
        columns = {
            "segment": [*map(label_text, self.segments), "all"],
            self.metric: [_known(mean, f"{mean:.4f}") for mean in (*self.mean, whole.mean)],
            interval: [_known(low, f"[{low:.4f}, {high:.4f}]") for low, high in ends],
            "standard error": [_known(error, f"{error:.4f}") for error in errors],
            "queries": list(map(str, (*self.n_queries, whole.n_queries))),
            "left out": list(map(str, (*self.n_left_out, whole.n_left_out))),
        }
        return text_table(columns, text=["segment"])

    def to_frame(self) -> Any:
        """Get the table as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            One row per segment, without the row of all queries.
        """
        low, high = self.confidence_interval
        columns: dict[str, Any] = {
            "segment": self.segments,
            "metric": self.metric,
            "mean": self.mean,
            "low": low,
            "high": high,
            "standard_error": self.standard_error,
            "n_queries": self.n_queries,
            "n_left_out": self.n_left_out,
        }
        return _frame(columns, ["segment"])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison:
    """Differences between rankers on the same queries, with intervals and tests.

    The result of `compare_rankers` and `compare_models`. It prints as tables: the means of the
    rankers, and the differences of the pairs. Names are cut where a line would be longer than 100
    characters, and of more than 40 rows the first and last 20 are shown.

    Attributes
    ----------
    metric : str
        What was computed for each query, with its cutoff: "NDCG@10", or the name of a function.

    mean : dict of float
        The mean over queries of each ranker, by its name.

    interval : ConfidenceInterval
        Bounds of each of them, by Student's t, as in `ndcg_interval` with ``method="t"``: `low` and
        `high`, each of shape (n_rankers,), in the order of `mean`. Those of two rankers may overlap
        even if their difference is more than chance.

    baseline : Any
        The name of the ranker that the others are compared with; None if every pair is compared.

    pairs : list of (first, second)
        Names of the rankers that are compared; a baseline is always the second. Every array over
        pairs is in this order.

    difference : ndarray of shape (n_pairs,)
        The mean of the first minus that of the second.

    confidence_level : float
        The level of the intervals.

    confidence_interval : ConfidenceInterval
        Bounds of the difference, by Student's t: `low` and `high`, each of shape (n_pairs,).

    standard_error : ndarray of shape (n_pairs,)
        The standard error of the difference.

    df : float
        The degrees of freedom of Student's t.

    effect_size : ndarray of shape (n_pairs,)
        Mean of the queries' differences divided by their standard deviation, both weighted.

    statistic : ndarray of shape (n_pairs,)
        The test statistic: the difference, or t if ``test="t"``.

    pvalue : ndarray of shape (n_pairs,)
        Two-sided p-value, with Holm's correction for the number of pairs.

    uncorrected_pvalue : ndarray of shape (n_pairs,)
        Two-sided p-value of each pair alone, without a correction.

    margin : float or None
        The loss that you accept.

    noninferiority_pvalue : ndarray of shape (n_pairs,) or None
        One-sided p-value, by Student's t and for each pair alone, of the hypothesis that the first
        is worse than the second by the margin or more. None without a margin.

    verdict : list of str of length n_pairs, or None
        "better" if the interval of the difference lies above 0, "not worse" if it lies above
        ``-margin``, "worse" if it lies below 0 and not above ``-margin``, "undecided" otherwise.
        None without a margin.

    wins, ties, losses : ndarray of int of shape (n_pairs,)
        Numbers of queries in which the first is better, equal or worse.

    values : dict of ndarray of shape (n_queries,)
        The value of each query that was scored, by the name of the ranker. A query that is
        undefined for one ranker has the value of `undefined` there; under ``"omit"`` it is left out
        for all.

    labels : ndarray of shape (n_queries,)
        The ids of these queries, sorted; for 2-D input the numbers of the rows.

    n_queries : int
        Number of queries that were scored.

    n_clusters : int
        Number of clusters of these queries; `n_queries` without `clusters`.

    n_left_out : int
        Number of queries that were left out: undefined under ``undefined="omit"``, of weight 0, or
        left out by `unanswered`; in runs also those without judgements.

    left_out : dict from str to int
        These numbers by reason; empty for arrays.

    test : str
        The test, "permutation" or "t".

    See Also
    --------
    compare_rankers : Computes it from scores.
    compare_models : Computes it from models.
    IntervalDisplay : A plot of the rankers, or of the differences of all pairs, with intervals.
    DifferenceDisplay : A plot of the differences of one pair, query by query.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg.inference import Comparison, compare_rankers
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(100, 20))
    >>> good, poor, other = (y_true + rng.normal(0, s, y_true.shape) for s in (2, 4, 4))
    >>> scores = {"good": good, "poor": poor, "other": other}
    >>> result: Comparison = compare_rankers(y_true, scores, k=10, random_state=0)
    >>> result.pairs
    [('good', 'poor'), ('good', 'other'), ('poor', 'other')]
    >>> result.difference.round(3)
    array([0.112, 0.129, 0.016])
    >>> result.pvalue < 0.05
    array([ True,  True, False])
    >>> result.to_frame().loc["good", "wins"].tolist()
    [85, 83]
    """

    metric: str
    mean: dict[Any, float]
    interval: ConfidenceInterval
    baseline: Any
    pairs: list[tuple[Any, Any]]
    difference: Floats
    confidence_level: float
    confidence_interval: ConfidenceInterval
    standard_error: Floats
    df: float
    effect_size: Floats
    statistic: Floats
    pvalue: Floats
    uncorrected_pvalue: Floats
    margin: float | None
    noninferiority_pvalue: Floats | None = None
    verdict: list[str] | None = None
    wins: NDArray[np.intp]
    ties: NDArray[np.intp]
    losses: NDArray[np.intp]
    values: dict[Any, Floats]
    labels: NDArray[Any]
    n_queries: int
    n_clusters: int
    n_left_out: int
    left_out: dict[str, int]
    test: Test

    def __repr__(self) -> str:
        interval, n_pairs = f"{percent(self.confidence_level)} CI", len(self.pairs)
        means = {
            "": list(map(str, self.mean)),
            self.metric: [f"{mean:.4f}" for mean in self.mean.values()],
        }
        bounds = zip(*self.confidence_interval, strict=True)
        counts = zip(self.wins, self.ties, self.losses, strict=True)
        pairs = {
            "first": [str(first) for first, _ in self.pairs],
            "second": [str(second) for _, second in self.pairs],
            "difference": [f"{difference:+.4f}" for difference in self.difference],
            interval: [f"[{low:+.4f}, {high:+.4f}]" for low, high in bounds],
            "p": ["<0.0001" if pvalue < 0.0001 else f"{pvalue:.4f}" for pvalue in self.pvalue],
            "effect": [f"{effect:+.2f}" for effect in self.effect_size],
            "W/T/L": ["/".join(map(str, of_pair)) for of_pair in counts],
        }
        notes = [
            f"{interval}: confidence interval, for each pair alone.",
            f"p ({self.test}, Holm): corrected for {n_pairs} pair{'s' * (n_pairs > 1)}.",
            "effect: mean / standard deviation of the differences. W/T/L: wins/ties/losses.",
        ]
        if self.verdict is not None:
            pairs["verdict"] = self.verdict
            notes.append(f"verdict (margin {self.margin:g}): for each pair alone.")
        parts = [
            text_table(means, text=[""], title=_counts(self)),
            text_table(pairs, text=["first", "second", "verdict"]),
            "\n".join(notes),
        ]
        return "\n\n".join(parts)

    def to_frame(self, of: FrameOf = "pairs") -> Any:
        """Get the pairs, the rankers or the queries as a pandas DataFrame.

        Parameters
        ----------
        of : {"pairs", "rankers", "queries"}, default="pairs"
            What each row is: a pair, with a column for each array over pairs; a ranker, with its
            `mean` and the bounds of its interval; or a query, with the value of each ranker.

        Returns
        -------
        pandas.DataFrame
            Indexed by the names of the pairs or rankers, or by the ids of the queries.
            The column `metric` says what the numbers are; of queries, the name of the columns does.

        Raises
        ------
        ValueError
            If `of` is another.
        """
        _checks.check_choice("of", of, get_args(FrameOf))
        if of == "queries":
            return self._frame_of_queries()
        if of == "rankers":
            low, high = self.interval
            columns = {
                "ranker": list(self.mean),
                "metric": self.metric,
                "mean": list(self.mean.values()),
                "low": low,
                "high": high,
            }
            return _frame(columns, ["ranker"])
        low, high = self.confidence_interval
        columns = {
            "first": [first for first, _ in self.pairs],
            "second": [second for _, second in self.pairs],
            "metric": self.metric,
            "difference": self.difference,
            "low": low,
            "high": high,
            "standard_error": self.standard_error,
            "effect_size": self.effect_size,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "uncorrected_pvalue": self.uncorrected_pvalue,
            "noninferiority_pvalue": self.noninferiority_pvalue,
            "verdict": self.verdict,
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
        }
        known = {name: values for name, values in columns.items() if values is not None}
        return _frame(known, ["first", "second"])

    def _frame_of_queries(self) -> Any:
        pandas = _checks.import_pandas()
        frame = pandas.DataFrame(dict(enumerate(self.values.values())))
        frame.index = _index(self.labels, "query")
        frame.columns = _index(list(self.values), self.metric)
        return frame


def _known(value: float, text: str) -> str:
    """The text of a value in a table; a dash for nan."""
    return "-" if np.isnan(value) else text


def _frame(columns: dict[str, Any], index: list[str]) -> Any:
    """A DataFrame whose index is the first columns, with these names; labels may be tuples."""
    pandas = _checks.import_pandas()
    levels = [_index(columns.pop(name), name) for name in index]
    rows = levels[0] if len(levels) == 1 else pandas.MultiIndex.from_arrays(levels)
    return pandas.DataFrame(columns, index=rows)


def _index(labels: Any, name: str) -> Any:
    """An index of labels, which may be tuples."""
    pandas = _checks.import_pandas()
    return pandas.Index(labels, name=name, tupleize_cols=False)


def _counts(result: NDCGInterval | Comparison) -> str:
    """How many queries a result is from."""
    clusters = f" in {result.n_clusters} clusters" if result.n_clusters < result.n_queries else ""
    left_out = f", {result.n_left_out} left out" if result.n_left_out else ""
    if reasons := getattr(result, "left_out", {}):
        left_out += f" ({', '.join(f'{n} {reason}' for reason, n in reasons.items())})"
    return f"{result.n_queries} queries{clusters}{left_out}"
