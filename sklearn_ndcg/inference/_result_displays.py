"""Plots of comparisons, segments and intervals; matplotlib is imported only to draw."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_ndcg import _show
from sklearn_ndcg._checks import Floats
from sklearn_ndcg._rows.label_texts import count_of_queries, label_text
from sklearn_ndcg.inference._results import (
    Comparison,
    ConfidenceInterval,
    NDCGInterval,
    SegmentTable,
)
from sklearn_ndcg.inference._statistics import differences_of, largest_of


@dataclass(kw_only=True, repr=False, eq=False)
class DifferenceDisplay:
    """Differences between two rankers, query by query, from the largest gain to the largest loss.

    Made by `from_comparison`. The areas show what a mean hides: many small differences, or a few
    large ones that cancel.

    Parameters
    ----------
    comparison : Comparison
        The result that is drawn.

    pair : tuple of two names
        One of its pairs.

    Attributes
    ----------
    better_, worse_ : matplotlib Artist
        The areas of the queries in which the first ranker is better, and in which it is worse.

    line_ : matplotlib ErrorbarContainer
        The mean with its interval, to the right of the queries.

    zero_ : matplotlib Artist
        The line at 0.

    ax_ : matplotlib Axes
        Where it was drawn.

    figure_ : matplotlib Figure
        The figure it was drawn on.

    See Also
    --------
    compare_rankers : The numbers.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from sklearn_ndcg.inference import DifferenceDisplay, compare_rankers
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(50, 20))
    >>> scores = {name: y_true + rng.normal(scale=2, size=y_true.shape) for name in "ab"}
    >>> comparison = compare_rankers(y_true, scores, random_state=0)
    >>> display = DifferenceDisplay.from_comparison(comparison)
    >>> for text in display.ax_.get_legend().get_texts():
    ...     print(text.get_text())
    a is better: 28 queries
    b is better: 22 queries
    Mean +0.0065, 95% CI
    """

    comparison: Comparison
    pair: tuple[Hashable, Hashable]

    @classmethod
    def from_comparison(
        cls,
        comparison: Comparison,
        *,
        pair: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> DifferenceDisplay:
        """Plot the differences between two rankers, sorted, with their mean and its interval.

        Parameters
        ----------
        comparison : Comparison
            What `compare_rankers` or `compare_models` returned.

        pair : tuple or list of two names, default=None
            The names of two rankers that are compared, in the order of ``comparison.pairs``. None
            takes the only pair.

        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure.

        **options
            `name`, `curve_kwargs` and `despine`, as in `plot`.

        Returns
        -------
        DifferenceDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If `pair` is not one of those compared, or is None and there are several.

        TypeError
            If `comparison` is of another type.
        """
        _check_result("comparison", comparison, Comparison)
        pairs = comparison.pairs
        pair = pairs[0] if pair is None and len(pairs) == 1 else pair
        pair = tuple(pair) if isinstance(pair, list) else pair
        if pair not in pairs:
            raise ValueError(f"pair must be one of {pairs}, got {pair!r}.")
        return cls(comparison=comparison, pair=pair).plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        curve_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> DifferenceDisplay:
        """Draw the differences, and to the right of them their mean and its interval.

        The areas have the colours of the rankers in `NDCGDisplay` and `IntervalDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure.

        name : str, default=None
            What is compared, such as a segment, for the legend.

        curve_kwargs : dict, default=None
            Keyword arguments of matplotlib's `errorbar` for the mean and its interval.

        despine : bool, default=False
            Whether to remove the top and right spines.

        Returns
        -------
        DifferenceDisplay
            What was drawn.
        """
        ax = _show.axes(ax)
        comparison, row = self.comparison, self.comparison.pairs.index(self.pair)
        first, second = (comparison.values[ranker] for ranker in self.pair)
        # 0 where they differ only by rounding
        values = np.sort(differences_of(first, second, largest_of(first, second)))[::-1]
        rankers, ends, areas = list(comparison.mean), range(len(values) + 1), []
        counts = comparison.wins[row], comparison.losses[row]
        for sign, ranker, count in zip((1, -1), self.pair, counts, strict=True):
            label = f"{label_text(ranker)} is better: {count_of_queries(count)}"
            style = {"color": f"C{rankers.index(ranker)}", "label": label}
            areas.append(ax.stairs(sign * np.maximum(sign * values, 0), ends, fill=True, **style))
        self.better_, self.worse_ = areas
        n_ties = comparison.ties[row]
        ties = f"Ties: {count_of_queries(n_ties)}" if n_ties else None
        self.zero_ = ax.axhline(0, **_show.LINE, label=ties)
        mean = comparison.difference[row]
        bounds = np.array([bound[row] for bound in comparison.confidence_interval])
        start = "Mean" if name is None else f"{name}: mean"
        label = f"{start} {mean:+.4f}, {_show.percent(comparison.confidence_level)} CI"
        own = {"color": ax.xaxis.label.get_color(), "capsize": 3, "label": label}
        error = np.abs(bounds - mean)[:, np.newaxis]
        style = {"marker": "_"} | own | (curve_kwargs or {})
        self.line_ = ax.errorbar(1.05 * len(values), mean, error, **style)
        ax.set_xlabel("Queries, sorted by difference")
        ax.set_ylabel(f"{comparison.metric}, first minus second")
        self.ax_, self.figure_ = _show.finish(ax, despine), ax.figure
        return self


@dataclass(kw_only=True, repr=False, eq=False)
class IntervalDisplay:
    """NDCG of segments or rankers, or differences of rankers, as points with intervals.

    Made by `from_result`. Each ranker, pair of rankers or segment has a row, in the order of the
    result. A ranker has the colour that it has in `NDCGDisplay`, and a pair that of its first
    ranker.

    Parameters
    ----------
    result : NDCGInterval, SegmentTable or Comparison
        What is drawn.

    differences : bool, default=False
        Whether these are the differences of the pairs of a comparison.

    Attributes
    ----------
    points_ : list of matplotlib ErrorbarContainer
        The value of each row with its interval.

    line_ : matplotlib Artist or None
        The line at 0 of differences, at the NDCG of all queries of segments, or at that of the
        baseline of rankers, if there is one.

    band_ : matplotlib Artist or None
        The margin of differences.

    ax_ : matplotlib Axes
        Where it was drawn.

    figure_ : matplotlib Figure
        The figure it was drawn on.

    See Also
    --------
    ndcg_by_segment : The numbers of segments.
    compare_rankers : The numbers of rankers and of their differences.
    NDCGDisplay : NDCG at each cutoff.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from sklearn_ndcg.inference import IntervalDisplay, compare_rankers
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(100, 20))
    >>> scores = {name: y_true + rng.normal(0, 2, y_true.shape) for name in "abc"}
    >>> comparison = compare_rankers(y_true, scores, baseline="c", margin=0.02, random_state=0)
    >>> display = IntervalDisplay.from_result(comparison)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['a', 'b', 'c']
    >>> display = IntervalDisplay.from_result(comparison, differences=True)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['a vs c', 'b vs c']
    """

    result: NDCGInterval | SegmentTable | Comparison
    differences: bool = False

    @classmethod
    def from_result(
        cls,
        result: NDCGInterval | SegmentTable | Comparison,
        *,
        differences: bool = False,
        ax: Any = None,
        **options: Any,
    ) -> IntervalDisplay:
        """Plot the intervals of a result.

        Parameters
        ----------
        result : NDCGInterval, SegmentTable or Comparison
            What `ndcg_interval`, `ndcg_by_segment` or `compare_rankers` returned.

        differences : bool, default=False
            Whether to plot the differences of the pairs of a comparison, rather than the NDCG of
            its rankers. Intervals of rankers may overlap even if the difference is more than
            chance, as all rankers answer the same queries.

        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure, whose size grows with the rows.

        **options
            `name`, `curve_kwargs` and `despine`, as in `plot`.

        Returns
        -------
        IntervalDisplay
            What was drawn.

        Raises
        ------
        TypeError
            If `result` is of another type, or is not a comparison and has no differences.
        """
        kinds = (Comparison,) if differences else (NDCGInterval, SegmentTable, Comparison)
        _check_result("result", result, *kinds)
        return cls(result=result, differences=differences).plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        curve_kwargs: dict[str, Any] | Sequence[dict[str, Any]] | None = None,
        despine: bool = False,
    ) -> IntervalDisplay:
        """Draw the intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure, whose size grows with the rows.

        name : str, default=None
            What the points are, for the legend.

        curve_kwargs : dict or list of dict, default=None
            Keyword arguments of matplotlib's `errorbar` for the points and their intervals. A list
            has those of each row.

        despine : bool, default=False
            Whether to remove the top and right spines.

        Returns
        -------
        IntervalDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If a list does not have an entry for each row.
        """
        result, kind = self.result, self._kind()
        names, values, (low, high), colors = self._rows()
        styles = _show.one_each("curve_kwargs", curve_kwargs, len(names), f"{kind}s")
        ax = _show.axes(ax, (6.4, max(4.8, 0.3 * len(names))))
        errors = np.maximum([values - low, high - values], 0).T
        self.points_ = []
        for row, (value, error) in enumerate(zip(values, errors, strict=True)):
            own = {"marker": "o", "color": colors[row], "capsize": 3} | (styles[row] or {})
            self.points_.append(ax.errorbar(value, row, xerr=error[:, np.newaxis], **own))
        whole = result.overall if isinstance(result, SegmentTable) else result
        label = f"{_show.percent(whole.confidence_level)} confidence interval"
        self.points_[0].set_label(label if name is None else f"{name}: {label}")
        self._draw_reference(ax)
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)  # the first row is at the top
        sign = ", first minus second" * self.differences
        ax.set(xlabel=f"{result.metric}{sign}", ylabel=kind.capitalize())
        self.ax_, self.figure_ = _show.finish(ax, despine), ax.figure
        return self

    def _kind(self) -> str:
        """What a row is."""
        if isinstance(self.result, Comparison):
            return "pair" if self.differences else "ranker"
        return "segment" if isinstance(self.result, SegmentTable) else "interval"

    def _rows(self) -> tuple[list[str], Floats, ConfidenceInterval, list[str]]:
        """The name, the value, the bounds and the colour of each row."""
        result, interval = self.result, self.result.confidence_interval
        if isinstance(result, NDCGInterval):
            return ["all"], np.array([result.mean]), interval, ["C0"]
        if isinstance(result, SegmentTable):
            names = [*map(label_text, result.segments)]
            return names, result.mean, interval, ["C0"] * len(names)
        rankers = list(result.mean)
        if self.differences:
            names = [f"{label_text(first)} vs {label_text(other)}" for first, other in result.pairs]
            colors = [f"C{rankers.index(first)}" for first, _ in result.pairs]
            return names, result.difference, interval, colors
        means, colors = np.array([*result.mean.values()]), [f"C{n}" for n in range(len(rankers))]
        return [*map(label_text, rankers)], means, result.interval, colors

    def _draw_reference(self, ax: Any) -> None:
        """Draw the line to compare with, and the margin of differences."""
        result, self.line_, self.band_ = self.result, None, None
        if isinstance(result, SegmentTable):
            label = f"All queries: {result.overall.mean:.4f}"
            self.line_ = ax.axvline(result.overall.mean, **_show.LINE, ls="--", label=label)
        elif isinstance(result, Comparison) and self.differences:
            self.line_ = ax.axvline(0, **_show.LINE)
            if result.margin is not None:
                style = {"color": _show.LINE["color"], "alpha": 0.3, "linewidth": 0}
                label = f"Margin {result.margin:g}"
                self.band_ = ax.axvspan(-result.margin, 0, **style, label=label)
        elif isinstance(result, Comparison) and result.baseline is not None:
            label, value = label_text(result.baseline), result.mean[result.baseline]
            self.line_ = ax.axvline(value, **_show.LINE, ls="--", label=f"Baseline: {label}")


def _check_result(argument: str, result: object, *kinds: type) -> None:
    """Raise unless a result is of one of these types."""
    if not isinstance(result, kinds):
        needed = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{argument} must be a {needed}, got {type(result).__name__}.")
