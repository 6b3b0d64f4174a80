"""Plots of comparisons, segments and intervals; matplotlib is imported only to draw."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from sklearn_ndcg._checks import Floats
from sklearn_ndcg._metrics.queries import count_of_queries
from sklearn_ndcg.inference import _drawing, _results
from sklearn_ndcg.inference._results import Comparison, query_differences

_MOST_ROWS = 40


@dataclass(kw_only=True, repr=False, eq=False)
class DifferenceDisplay:
    """Differences between two rankers, query by query, from the largest gain to the largest loss.

    Made by `from_comparison`; the constructor takes what it has computed. The areas show what a
    mean hides: many small differences, or a few large ones that cancel.

    Parameters
    ----------
    differences : ndarray of shape (n_queries,)
        NDCG of the first ranker minus NDCG of the second, descending.

    mean : float
        Their mean, weighted if the comparison was.

    interval : tuple of two floats
        Bounds of the mean.

    names : tuple of two names
        The rankers.

    confidence_level : float, default=0.95
        The level of the interval.

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

    differences: Floats
    mean: float
    interval: tuple[float, float]
    names: tuple[Any, Any]
    confidence_level: float = 0.95

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, pair: Any = None, ax: Any = None, **options: Any
    ) -> DifferenceDisplay:
        """Plot the differences between two rankers, sorted, with their mean and its interval.

        Parameters
        ----------
        comparison : Comparison
            What `compare_rankers`, `compare_lists` or `compare_runs` returned.

        pair : sequence of two names, default=None
            One of ``comparison.pairs``, or its names in reverse order, which changes the sign of
            each difference. None takes the only pair.

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
        if pair is None and len(pairs) == 1:
            pair = pairs[0]
        pair = tuple(pair) if isinstance(pair, list) else pair
        in_any_order = [*pairs, *((second, first) for first, second in pairs)]
        if pair not in in_any_order:
            way = f" Pass pair={pairs[0]}, or another." if pair is None else ""
            raise ValueError(f"pair must be one of {pairs}, got {pair!r}.{way}")
        row, sign = in_any_order.index(pair) % len(pairs), 1 if pair in pairs else -1
        first, second = (comparison.values[name] for name in pair)
        low, high = sorted(sign * float(bound[row]) for bound in comparison.confidence_interval)
        return cls(
            differences=np.sort(query_differences(first, second))[::-1],
            mean=sign * float(comparison.difference[row]),
            interval=(low, high),
            names=pair,
            confidence_level=comparison.confidence_level,
        ).plot(ax, **options)

    def plot(
        self, ax: Any = None, *, name: Any = None, curve_kwargs: Any = None, despine: bool = False
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
        first, second = (_drawing.label(name, 30) for name in self.names)
        edges = np.arange(len(self.differences) + 1)
        self.better_, self.worse_ = (
            ax.stairs(
                np.maximum(side * self.differences, 0) * side, edges, fill=True, color=color,
                label=f"{name} is better: {count_of_queries(sum(side * self.differences > 0))}",
            )
            for side, name, color in ((1, first, "C0"), (-1, second, "C1"))
        )  # fmt: skip
        if not self.differences.all():
            ties = count_of_queries(sum(self.differences == 0))
            ax.plot([], [], " ", label=f"ties: {ties}")
        mean = f"{f'{_drawing.label(name)}: ' if name else ''}mean {self.mean:+.4f}"
        style = {"color": _drawing.ink(), "linewidth": 1, "label": mean}
        style = _drawing.style(style, curve_kwargs)
        self.line_ = ax.axhline(self.mean, **style)
        label = f"{self.confidence_level:.6g} interval of the mean"
        # behind the areas, whose colours it would change
        self.band_ = ax.axhspan(*self.interval, label=label, **_drawing.shade())
        ylabel = fill(f"Difference of NDCG, {first} - {second}", 46)
        ax.set(xlabel="Queries, sorted by difference", ylabel=ylabel)
        ax.margins(x=0)
        return _drawing.finish(self, ax, despine)


@dataclass(kw_only=True, repr=False, eq=False)
class IntervalDisplay:
    """NDCG of segments or rankers, or differences of rankers, as points with intervals.

    Made by `from_result`. Each ranker, pair of rankers or segment has a row. A point is hollow if
    it is the mean of one or two queries.

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

    text_ : matplotlib Artist or None
        How many rows are not shown. Of more than 40 rows only the 20 largest and the 20 smallest
        values are.

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

    result: Any
    differences: bool = False

    @classmethod
    def from_result(
        cls, result: Any, *, differences: bool = False, ax: Any = None, **options: Any
    ) -> IntervalDisplay:
        """Plot the intervals of a result.

        Parameters
        ----------
        result : NDCGInterval, SegmentTable or Comparison
            What `ndcg_interval`, `ndcg_by_segment`, `compare_rankers`, `compare_lists` or
            `compare_runs` returned. Of a comparison with segments, the rows are those of all
            queries, and then of each segment.

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
        kinds = (_results.NDCGInterval, _results.SegmentTable, Comparison)[2 * differences :]
        if not isinstance(result, kinds):
            needed = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"result must be a {needed}, got {type(result).__name__}.")
        return cls(result=result, differences=differences).plot(ax, **options)

    def plot(
        self, ax: Any = None, *, name: Any = None, curve_kwargs: Any = None, despine: bool = False
    ) -> IntervalDisplay:
        """Draw the intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure, whose size grows with the rows.

        name : str, default=None
            What the points are, for the legend.

        curve_kwargs : dict or list of dict, default=None
            Keyword arguments of matplotlib's `plot` for the points and their intervals. In a
            comparison with segments there may be one for each ranker or pair.

        despine : bool, default=False
            Whether to remove the top and right spines.

        Returns
        -------
        IntervalDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If a list does not have an entry for each ranker or pair.
        """
        result, segments = self.result, getattr(self.result, "by_segment", {})
        whole = getattr(result, "overall", result)
        labels, rows = _rows(result, self.differences)
        n = len(labels) if segments else 1
        mean = rows[:, 0].mean() if isinstance(result, Comparison) else whole.ndcg
        if segments:
            names = [_drawing.shortened(segment, 24) for segment in ("all", *segments)]
            name = labels[0] if n == 1 and name is None else name
            labels = [f"{s}: {label}" if n > 1 else s for s in names for label in labels]
            parts = [_rows(part, self.differences)[1] for part in segments.values()]
            rows = np.concatenate([rows, *parts])
        shown, few = np.arange(len(rows)), rows[:, 3] <= 2
        y = shown + 0.5 * (n > 1) * (shown // n)
        if len(rows) > _MOST_ROWS:
            half, values = _MOST_ROWS // 2, rows[:, 0]
            falling = np.argsort(-np.nan_to_num(values, nan=float(np.nanmedian(values))))
            shown = np.r_[falling[:half], falling[-half:]]
            y = np.r_[:half, half + 1 : _MOST_ROWS + 1]
        # rows below the last are for the legend
        bottom, longest = y[-1] + 2.6 + 0.8 * few[shown].any(), max(map(len, labels))
        ax = _drawing.axes(ax, (max(6.4, 3.6 + 0.085 * longest), 0.9 + 0.25 * bottom))
        styles = _drawing.one_each("curve_kwargs", curve_kwargs, n)
        colors = [ax.plot([], [])[0].get_color() for _ in range(n)]
        self.points_ = []
        for row, at in zip(shown, y, strict=True):
            style = {"marker": "o", "markevery": [1], "linestyle": "-", "color": colors[row % n]}
            style |= {"markerfacecolor": ax.get_facecolor()} if few[row] else {}
            style = _drawing.style(style, styles[row % n])
            self.points_ += ax.plot(rows[row, [1, 0, 2]], [at] * 3, **style)
        level = f"{f'{_drawing.label(name)}, ' if name else ''}{whole.confidence_level:.6g}"
        for is_few, point in dict(zip(few[shown][::-1], self.points_[::-1], strict=True)).items():
            point.set_label("1 or 2 queries" if is_few else f"{level} interval")
        at, label = (0, None) if self.differences else (mean, f"mean {mean:.4f}")
        self.line_ = ax.axvline(at, color=_drawing.ink(), lw=1, ls="--", label=label, zorder=0)
        self.band_ = self.text_ = None
        if self.differences and result.margin is not None:
            label = f"margin {result.margin:g}"
            self.band_ = ax.axvspan(-result.margin, 0, label=label, **_drawing.shade())
        if len(shown) < len(rows):
            text = f"{len(rows) - len(shown)} of {len(rows)} rows in between are not shown"
            center = {"ha": "center", "va": "center", "backgroundcolor": ax.get_facecolor()}
            self.text_ = ax.text(0.5, half, text, transform=ax.get_yaxis_transform(), **center)
        ax.set_yticks(y, [_drawing.label(labels[row], 80) for row in shown])
        ax.set(xlabel=f"{'Difference of ' * self.differences}NDCG", ylim=(bottom, -0.7))
        ax.locator_params(axis="x", nbins=6)
        return _drawing.finish(self, ax, despine, loc="lower right", fontsize="small")


def _rows(result: Any, differences: bool) -> tuple[list[str], Floats]:
    """Labels of the rows of a result, and their values, bounds and numbers of queries."""
    names, values = getattr(result, "segments", ["all"]), result.ndcg
    interval = result.confidence_interval
    if differences:
        names = [" - ".join(_drawing.shortened(name, 24) for name in pair) for pair in result.pairs]
        values = result.difference
    elif isinstance(result, Comparison):
        names, values, interval = result.ndcg, [*values.values()], result.ndcg_interval
    columns = np.broadcast_arrays(np.atleast_1d(values), *interval, result.n_queries)
    return [_drawing.shortened(name, 51) for name in names], np.transpose(columns)
