"""What intervals and comparisons give back: numbers that print as text and as HTML tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import EQUAL, Floats, Ints
from sklearn_ndcg._inference.statistics import COMPARISON_LEVEL, Method, Test
from sklearn_ndcg._metrics import Table
from sklearn_ndcg._rows import shown_labels

_PANDAS = ("pandas", "to_frame needs pandas", "pandas>=2.2")


class ConfidenceInterval(NamedTuple):
    """Bounds of a confidence interval.

    Attributes
    ----------
    low, high : float or ndarray of shape (n_pairs,)
        The lower and the upper bound: numbers in `NDCGInterval`, arrays over pairs in `Comparison`.
    """

    low: Any
    high: Any


@dataclass(frozen=True, repr=False)
class NDCGInterval:
    """NDCG with a confidence interval over queries: the result of `ndcg_interval`.

    It prints as one line, and as a table in a notebook.

    Attributes
    ----------
    ndcg : float
        The NDCG of `ndcg_score`.

    confidence_interval : ConfidenceInterval
        Its bounds, `low` and `high`.

    standard_error : float
        The standard error of `ndcg`: the standard deviation of the resampled means, or that of
        Student's t where ``method="t"`` or where all values are equal.

    n_queries : int
        Number of queries that were scored.

    n_clusters : int
        Number of clusters that these queries lie in; `n_queries` without `clusters`.

    n_left_out : int
        Number of queries that were left out: undefined under ``undefined="omit"``, or of weight 0.

    confidence_level : float
        The level of the interval.

    method : str
        How it was found: "BCa", "percentile" or "t".

    See Also
    --------
    ndcg_interval : Makes it.
    Comparison : The differences of several rankers on the same queries.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg import NDCGInterval, ndcg_interval
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(200, 20))
    >>> y_score = y_true + rng.normal(scale=2, size=y_true.shape)
    >>> result: NDCGInterval = ndcg_interval(y_true, y_score, k=10, method="t")
    >>> low, high = result.confidence_interval
    >>> print(f"{result.ndcg:.3f}, from {low:.3f} to {high:.3f}")
    0.843, from 0.832 to 0.854
    """

    ndcg: float
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
            f"NDCG {self.ndcg:.4f}, {self.confidence_level:.6g} interval [{low:.4f}, {high:.4f}] "
            f"({self.method}), standard error {self.standard_error:.4f}, {_counts(self)}"
        )

    def _repr_html_(self) -> str:
        low, high = self.confidence_interval
        level = f"{self.confidence_level:.6g} interval ({self.method})"
        row = [f"{self.ndcg:.4f}", f"[{low:.4f}, {high:.4f}]", f"{self.standard_error:.4f}"]
        header = ["NDCG", level, "standard error", "from"]
        return Table(header, [[*row, _counts(self)]]).html()


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Differences of rankers on the same queries, and how sure they are.

    The result of `compare_rankers`, `compare_lists` and `compare_runs`. It prints as two tables,
    the means of the rankers and the differences of the pairs.

    Attributes
    ----------
    ndcg : dict of float
        The mean NDCG of each ranker, by its name.

    pairs : list of (first, second)
        Names of the rankers that are compared; a baseline is always the second. Every array over
        pairs is in this order.

    difference : ndarray of shape (n_pairs,)
        NDCG of the first less that of the second, a mean over queries.

    confidence_interval : ConfidenceInterval
        Bounds of the difference at the level 0.95, of Student's t: `low` and `high`, each of shape
        (n_pairs,).

    standard_error : ndarray of shape (n_pairs,)
        The standard error of the difference.

    effect_size : ndarray of shape (n_pairs,)
        Mean over standard deviation of the differences of the queries, both weighted.

    statistic : ndarray of shape (n_pairs,)
        What is tested: the difference, or t where ``test="t"``.

    pvalue : ndarray of shape (n_pairs,)
        Two-sided p-value, with Holm's correction for the number of pairs.

    uncorrected_pvalue : ndarray of shape (n_pairs,)
        Two-sided p-value of each pair alone, without a correction.

    wins, ties, losses : ndarray of int of shape (n_pairs,)
        Numbers of queries in which the first is better, equal or worse.

    values : dict of ndarray of shape (n_queries,)
        The NDCG of each query that was scored, by the name of the ranker.

    labels : ndarray of shape (n_queries,)
        The ids of these queries, sorted; for 2-D input the numbers of the rows.

    n_queries : int
        Number of queries that were scored.

    n_clusters : int
        Number of clusters that these queries lie in; `n_queries` without `clusters`.

    n_left_out : int
        Number of queries that were left out: undefined under ``undefined="omit"``, of weight 0, or
        left out by `unanswered`.

    test : str
        The test, "permutation" or "t".

    See Also
    --------
    compare_rankers : Makes it from scores.
    compare_lists : Makes it from ranked lists.
    compare_runs : Makes it from TREC runs.
    DifferenceDisplay : A picture of the differences of one pair.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg import Comparison, compare_rankers
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
    values: dict[Any, Floats]
    labels: NDArray[Any]
    n_queries: int
    n_clusters: int
    n_left_out: int
    test: Test

    def __repr__(self) -> str:
        return f"{_counts(self)}\n{self._means().text()}\n\n{self._differences().text()}"

    def _repr_html_(self) -> str:
        return f"<p>{_counts(self)}</p>{self._means().html()}{self._differences().html()}"

    def largest_differences(self, n: int = 5) -> QueryDifferences:
        """The queries that differ most: for each pair the `n` largest gains and losses.

        Parameters
        ----------
        n : int, default=5
            Number of queries in which the first of a pair is better, and of those in which the
            second is; fewer if fewer differ.

        Returns
        -------
        QueryDifferences
            Prints as a table for each pair, from the largest gain to the largest loss.

        Raises
        ------
        ValueError
            If `n` is not an integer >= 1.
        """
        if not _checks.is_integer(n) or n < 1:
            raise ValueError(f"n must be an integer >= 1, got {n!r}.")
        chosen = []
        for first, second in self.pairs:
            difference = query_differences(self.values[first], self.values[second])
            falling = np.argsort(-difference, kind="stable")
            gains, losses = (falling[difference[falling] * side > 0] for side in (1, -1))
            chosen.append(np.concatenate([gains[:n], losses[max(len(losses) - n, 0) :]]))
        return QueryDifferences(self, chosen)

    def to_frame(self) -> Any:
        """Get the pairs as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            One row per pair, with a column for each of the arrays over pairs.
        """
        pandas = _checks.import_optional(*_PANDAS)
        low, high = self.confidence_interval
        index = pandas.MultiIndex.from_tuples(self.pairs, names=["first", "second"])
        columns = {"difference": self.difference, "low": low, "high": high}
        names = ["standard_error", "effect_size", "statistic", "pvalue", "uncorrected_pvalue"]
        for name in [*names, "wins", "ties", "losses"]:
            columns[name] = getattr(self, name)
        return pandas.DataFrame(columns, index=index)

    def _means(self) -> Table:
        rows = [[str(name), f"{value:.4f}"] for name, value in self.ndcg.items()]
        return Table(["", "NDCG"], rows)

    def _differences(self) -> Table:
        low, high = self.confidence_interval
        header = ["", "difference", f"{COMPARISON_LEVEL} interval", f"p ({self.test}, Holm)",
                  "effect", "wins/ties/losses"]  # fmt: skip
        rows = [
            [f"{first} - {second}", f"{self.difference[i]:+.4f}",
             f"[{low[i]:+.4f}, {high[i]:+.4f}]", f"{self.pvalue[i]:.4f}",
             f"{self.effect_size[i]:+.2f}", f"{self.wins[i]}/{self.ties[i]}/{self.losses[i]}"]
            for i, (first, second) in enumerate(self.pairs)
        ]  # fmt: skip
        return Table(header, rows, left=(0, 2, 5))


@dataclass(frozen=True, eq=False, repr=False)
class QueryDifferences:
    """The queries in which rankers differ most: the result of `Comparison.largest_differences`.

    It prints as a table for each pair, from the largest gain to the largest loss.

    Attributes
    ----------
    comparison : Comparison
        The comparison that the queries are from.

    chosen : list of ndarray of int
        For each of the pairs the places of its queries in ``comparison.labels``, from the largest
        gain to the largest loss.

    See Also
    --------
    Comparison : The numbers of all queries.
    DifferenceDisplay : A picture of the differences of all queries.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg import compare_rankers
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(100, 20))
    >>> scores = {name: y_true + rng.normal(0, 2, y_true.shape) for name in "ab"}
    >>> found = compare_rankers(y_true, scores, k=10, random_state=0).largest_differences(1)
    >>> found
    query       a       b    a - b
    57     0.9039  0.6000  +0.3039
    94     0.7214  0.9710  -0.2496
    >>> found.chosen
    [array([57, 94])]
    >>> found.to_frame()["difference"].round(2).tolist()
    [0.3, -0.25]
    """

    comparison: Comparison
    chosen: list[Ints]

    def __repr__(self) -> str:
        return "\n\n".join(table.text() for table in self._tables())

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self._tables())

    def to_frame(self) -> Any:
        """Get the queries as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            One row per pair and query: both values and their difference.
        """
        pandas = _checks.import_optional(*_PANDAS)
        names = ["first", "second", "query", "ndcg_first", "ndcg_second", "difference"]
        rows = [(*pair, *row) for pair, rows in self._rows() for row in rows]
        return pandas.DataFrame(rows, columns=names).set_index(names[:3])

    def _rows(self) -> Iterator[tuple[tuple[Any, Any], list[tuple[Any, float, float, float]]]]:
        """Each pair with its queries: label, both values, difference."""
        values, labels = self.comparison.values, self.comparison.labels
        for (first, second), places in zip(self.comparison.pairs, self.chosen, strict=True):
            ours, theirs = values[first][places], values[second][places]
            columns = ours.tolist(), theirs.tolist(), query_differences(ours, theirs).tolist()
            yield (first, second), list(zip(labels[places], *columns, strict=True))

    def _tables(self) -> Iterator[Table]:
        for (first, second), rows in self._rows():
            cells = [
                [_query(label), f"{ours:.4f}", f"{theirs:.4f}", f"{difference:+.4f}"]
                for label, ours, theirs, difference in rows
            ]
            yield Table(["query", str(first), str(second), f"{first} - {second}"], cells)


def query_differences(first: Floats, second: Floats) -> Floats:
    """Differences of values, 0 where they differ by rounding."""
    differences = first - second
    differences[np.abs(differences) < EQUAL] = 0
    return differences


def _query(label: Any) -> str:
    """A label in a table: text as it is."""
    return label if isinstance(label, str) else shown_labels(np.fromiter([label], object, 1))


def _counts(result: NDCGInterval | Comparison) -> str:
    """How many queries a result is from."""
    clusters = f" in {result.n_clusters} clusters" if result.n_clusters < result.n_queries else ""
    left_out = f", {result.n_left_out} left out" if result.n_left_out else ""
    return f"{result.n_queries} queries{clusters}{left_out}"
