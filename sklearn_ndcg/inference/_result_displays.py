"""Plots of comparisons, segments and intervals; matplotlib is imported only to draw."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_ndcg._checks import Floats
from sklearn_ndcg._metrics.queries import count_of_queries
from sklearn_ndcg.inference import _drawing, _results
from sklearn_ndcg.inference._results import Comparison, NDCGInterval, SegmentTable

Result = NDCGInterval | SegmentTable | Comparison

_MOST_ROWS = 40


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

    line_, band_ : matplotlib Artist
        The mean, and its interval.

    ax_ : matplotlib Axes
        Where it was drawn.

    figure_ : matplotlib Figure
        The figure it was drawn on.

    See Also
    --------
    compare_rankers : The numbers; its result lists the largest differences.

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
    mean +0.0065
    0.95 interval of the mean
    """

    comparison: Comparison
    pair: tuple[Hashable, Hashable]

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, pair: Any = None, ax: Any = None, **options: Any
    ) -> DifferenceDisplay:
        """Plot the differences between two rankers, sorted, with their mean and its interval.

        Parameters
        ----------
        comparison : Comparison
            What `compare_rankers` returned.

        pair : tuple or list of two names, default=None
            One of ``comparison.pairs``. None takes the only pair.

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
            If `pair` is not one of the pairs, or is None and there are several.
        """
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
        """Draw the differences.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure.

        name : str, default=None
            What is compared, such as a segment, for the legend.

        curve_kwargs : dict, default=None
            Keyword arguments of matplotlib's `axhline` for the line of the mean.

        despine : bool, default=False
            Whether to remove the top and right spines.

        Returns
        -------
        DifferenceDisplay
            What was drawn.
        """
        ax = _drawing.axes(ax)
        comparison, row = self.comparison, self.comparison.pairs.index(self.pair)
        first, second = _drawing.labels(self.pair)
        values = _results.query_differences(*(comparison.values[name] for name in self.pair))
        values, edges = np.sort(values)[::-1], np.arange(len(values) + 1)
        label = f"{first} is better: {count_of_queries(comparison.wins[row])}"
        self.better_ = ax.stairs(np.maximum(values, 0), edges, fill=True, label=label)
        label = f"{second} is better: {count_of_queries(comparison.losses[row])}"
        self.worse_ = ax.stairs(np.minimum(values, 0), edges, fill=True, label=label)
        if comparison.ties[row]:
            ax.plot([], [], " ", label=f"ties: {count_of_queries(comparison.ties[row])}")
        mean = float(comparison.difference[row])
        label = f"{_drawing.prefix(name)}mean {mean:+.4f}"
        self.line_ = ax.axhline(mean, **_drawing.LINE | {"label": label} | (curve_kwargs or {}))
        low, high = (bound[row] for bound in comparison.confidence_interval)
        label = f"{comparison.confidence_level:.6g} interval of the mean"
        # behind the areas, whose colours it would change
        self.band_ = ax.axhspan(low, high, label=label, **_drawing.AREA)
        ax.set(xlabel="Queries, sorted by difference", ylabel="Difference of NDCG")
        ax.margins(x=0)
        return _drawing.finish(self, ax, despine)


@dataclass(kw_only=True, repr=False, eq=False)
class IntervalDisplay:
    """NDCG of segments or rankers, or differences of rankers, as points with intervals.

    Made by `from_result`. Each ranker, pair of rankers or segment has a row, if its NDCG is
    defined; of more than 40 rows the 20 largest and the 20 smallest values are shown, with a line
    between them that says how many are not. A point is hollow if it is the mean of one or two
    queries.

    Parameters
    ----------
    result : NDCGInterval, SegmentTable or Comparison
        What is drawn.

    differences : bool, default=False
        Whether these are the differences of the pairs of a comparison.

    Attributes
    ----------
    points_ : list of matplotlib Artist
        The line from bound to bound of each row, with a marker at the value.

    line_ : matplotlib Artist
        The line at the mean, or at 0 for differences. The mean is that of all queries, or of the
        rankers.

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
    ['a - c', 'b - c']
    """

    result: Result
    differences: bool = False

    @classmethod
    def from_result(
        cls, result: Result, *, differences: bool = False, ax: Any = None, **options: Any
    ) -> IntervalDisplay:
        """Plot the intervals of a result.

        Parameters
        ----------
        result : NDCGInterval, SegmentTable or Comparison
            What `ndcg_interval`, `ndcg_by_segment` or `compare_rankers` returned. Of a comparison
            with segments, the rows are those of all queries, and then of each segment.

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
        if not isinstance(result, kinds):
            needed = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"result must be a {needed}, got {type(result).__name__}.")
        return cls(result=result, differences=differences).plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        curve_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> IntervalDisplay:
        """Draw the intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure, whose size grows with the rows.

        name : str, default=None
            What the points are, for the legend.

        curve_kwargs : dict, default=None
            Keyword arguments of matplotlib's `plot` for the points and their intervals.

        despine : bool, default=False
            Whether to remove the top and right spines.

        Returns
        -------
        IntervalDisplay
            What was drawn.
        """
        result, differences = self.result, self.differences
        whole = result.overall if isinstance(result, SegmentTable) else result
        segments = result.by_segment if isinstance(result, Comparison) else {}
        center = 0 if differences else _labels_and_values(whole)[1][:, 0].mean()
        labels, rows = _labels_and_values(result, differences)
        n_colors = len(labels) if segments else 1
        if isinstance(result, Comparison) and segments:
            if n_colors == 1 and name is None:
                name = " - ".join(map(str, result.pairs[0]))
            by_segment = [
                _labels_and_values(segment, differences)[1] for segment in segments.values()
            ]
            rows = np.concatenate([rows, *by_segment])
            names = _drawing.labels(("all", *segments))
            labels = [f"{s}: {label}" if n_colors > 1 else s for s in names for label in labels]
        shown = np.flatnonzero(~np.isnan(rows[:, 0]))
        if len(shown) > _MOST_ROWS:
            half, falling = _MOST_ROWS // 2, shown[np.argsort(-rows[shown, 0])]
            shown = np.r_[falling[:half], len(rows), falling[-half:]]
            labels.append(f"({len(falling) - _MOST_ROWS} more rows)")
            rows = np.vstack([rows, [np.nan] * 4])
        bottom = len(shown) + 2.4  # with room for the legend
        size = max(6.4, 3.6 + 0.085 * max(map(len, labels))), 0.9 + 0.25 * bottom
        ax = _drawing.axes(ax, size)
        few, face = rows[:, 3] <= 2, ax.get_facecolor()
        self.points_ = []
        for y, row in enumerate(shown):
            color = _drawing.COLORS[row % n_colors % len(_drawing.COLORS)]
            style: Any = {"color": color, "linestyle": "-", "marker": "o", "markevery": [1]}
            style |= {"markerfacecolor": face if few[row] else "auto"} | (curve_kwargs or {})
            self.points_ += ax.plot(rows[row, [1, 0, 2]], [y] * 3, **style)
        level = f"{whole.confidence_level:.6g} interval"
        self.points_[0].set_label(_drawing.prefix(name) + level)
        if few[shown].any():
            ax.plot([], [], "o", color="0.5", markerfacecolor=face, label="1 or 2 queries")
        label = None if differences else f"mean {center:.4f}"
        style = _drawing.LINE | {"linestyle": "--", "zorder": 0, "label": label}
        self.line_, self.band_ = ax.axvline(center, **style), None
        if differences and isinstance(result, Comparison) and result.margin is not None:
            label = f"margin {result.margin:g}"
            self.band_ = ax.axvspan(-result.margin, 0, label=label, **_drawing.AREA)
        ax.set_yticks(range(len(shown)), [labels[row] for row in shown])
        metric = result.metric if isinstance(result, Comparison) else "NDCG"
        ax.set(xlabel=f"{'Difference of ' * differences}{metric}", ylim=(bottom, -0.7))
        ax.locator_params(axis="x", nbins=6)
        return _drawing.finish(self, ax, despine, loc="lower right", fontsize="small")


def _labels_and_values(result: Result, differences: bool = False) -> tuple[list[str], Floats]:
    """Ids of the rows of a result, and their values, bounds and numbers of queries."""
    if not isinstance(result, Comparison):
        labels = _drawing.labels(result.segments if isinstance(result, SegmentTable) else ["all"])
        values, interval = np.atleast_1d(result.mean), result.confidence_interval
    elif differences:
        short = dict(zip(result.mean, _drawing.labels(result.mean), strict=True))
        labels = [" - ".join(short[name] for name in pair) for pair in result.pairs]
        values, interval = result.difference, result.confidence_interval
    else:
        labels = _drawing.labels(result.mean)
        values, interval = np.array([*result.mean.values()]), result.interval
    return labels, np.transpose(np.broadcast_arrays(values, *interval, result.n_queries))
