"""Plots of comparisons, segments and intervals; matplotlib is imported only to draw."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sklearn_ndcg._checks import Floats
from sklearn_ndcg._metrics import drawing as _drawing
from sklearn_ndcg._metrics.queries import count_of_queries
from sklearn_ndcg._metrics.tables import MOST_ROWS
from sklearn_ndcg.inference import _results
from sklearn_ndcg.inference._results import Comparison, NDCGInterval, SegmentTable

Result = NDCGInterval | SegmentTable | Comparison


@dataclass(kw_only=True, repr=False, eq=False)
class DifferenceDisplay:
    """Differences between two rankers, query by query, from the largest gain to the largest loss.

    Made by `from_comparison`. The areas show what a mean hides: many small differences, or a few
    large ones that cancel.

    Parameters
    ----------
    comparison : Comparison
        The result that is drawn, by one metric.

    pair : tuple of two names
        One of its pairs.

    Attributes
    ----------
    better_, worse_ : matplotlib Artist
        The areas of the queries in which the first ranker is better, and in which it is worse.

    line_ : matplotlib Artist
        The mean as a point on the line of its interval, to the right of the queries.

    zero_ : matplotlib Artist
        The line at 0.

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
    mean +0.0065, 95% confidence interval
    """

    comparison: Comparison
    pair: tuple[Hashable, Hashable]

    @classmethod
    def from_comparison(
        cls,
        comparison: Comparison,
        *,
        pair: Any = None,
        measure: str | None = None,
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

        measure : str, default=None
            One of several metrics in ``comparison.metric``, such as "NDCG@5". None takes the only
            one.

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
            If `pair` or `measure` is not one of those compared, or is None and there are several.
        """
        comparison = _results.of_measure(comparison, measure)
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

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; the axes of a figure without a layout are moved so that nothing is cut
            off. None makes a new figure.

        name : str, default=None
            What is compared, such as a segment, for the legend.

        curve_kwargs : dict, default=None
            Keyword arguments of matplotlib's `plot` for the mean and its interval.

        despine : bool, default=False
            Whether to remove the top and right spines.

        Returns
        -------
        DifferenceDisplay
            What was drawn.
        """
        longest = _drawing.longest_name(ax)
        ax = _drawing.axes(ax)
        comparison, row = self.comparison, self.comparison.pairs.index(self.pair)
        first, second = _drawing.labels(self.pair, longest)
        values = _results.query_differences(*(comparison.values[name] for name in self.pair))
        values, n = np.sort(values)[::-1], len(values)
        label = f"{first} is better: {count_of_queries(comparison.wins[row])}"
        self.better_ = ax.stairs(np.maximum(values, 0), range(n + 1), fill=True, label=label)
        label = f"{second} is better: {count_of_queries(comparison.losses[row])}"
        self.worse_ = ax.stairs(np.minimum(values, 0), range(n + 1), fill=True, label=label)
        n_ties = comparison.ties[row]
        ties = f"ties: {count_of_queries(n_ties)}" if n_ties else None
        self.zero_ = ax.axhline(0, **_drawing.LINE, label=ties)
        mean = float(comparison.difference[row])
        low, high = (bound[row] for bound in comparison.confidence_interval)
        interval = _drawing.interval_label(comparison.confidence_level)
        style = _drawing.POINT | {"color": ax.xaxis.label.get_color(), "markersize": 4}
        style |= {"label": f"{_drawing.prefix(name)}mean {mean:+.4f}, {interval}"}
        self.line_ = ax.plot([1.05 * n] * 3, [low, mean, high], **style | (curve_kwargs or {}))[0]
        ax.set(xlabel="Queries, sorted by difference", xlim=(0, 1.1 * n))
        ax.set_ylabel(f"Difference\nof {comparison.metric}")
        if not values.any():
            ax.set_ylim(-0.1, 0.1)
        ax.locator_params(axis="x", nbins=5, integer=True)
        ax.set_xticks([tick for tick in ax.get_xticks() if tick <= n])
        _drawing.finish(self, ax, despine)
        label = ax.yaxis.label
        scale = min(1, 1.1 * ax.bbox.height / label.get_window_extent().height)
        label.set_fontsize(scale * label.get_fontsize())
        return self


@dataclass(kw_only=True, repr=False, eq=False)
class IntervalDisplay:
    """NDCG of segments or rankers, or differences of rankers, as points with intervals.

    Made by `from_result`. Each ranker, pair of rankers or segment has a row, in the order of the
    result, if its NDCG is defined. The rankers or pairs of a comparison with segments are a group
    of rows for all queries and for each segment, in colours that the legend explains. Of more than
    40 rows the first and the last are shown, as in the printed tables, with a line between them
    that says how many are not. A point is hollow if it is the mean of one or two queries.

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

    result: Result
    differences: bool = False

    @classmethod
    def from_result(
        cls,
        result: Result,
        *,
        differences: bool = False,
        measure: str | None = None,
        ax: Any = None,
        **options: Any,
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

        measure : str, default=None
            One of several metrics of a comparison, such as "NDCG@5". None takes the only one.

        ax : matplotlib Axes, default=None
            Where to draw; the names of rows are then as small as they must be. None makes a new
            figure, whose size grows with the rows.

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

        ValueError
            If `measure` is not what the result has, or is None and the result has several.
        """
        kinds = (Comparison,) if differences else (NDCGInterval, SegmentTable, Comparison)
        if not isinstance(result, kinds):
            needed = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"result must be a {needed}, got {type(result).__name__}.")
        if isinstance(result, Comparison):
            result = _results.of_measure(result, measure)
        else:
            _results.checked_measure(measure, [result.metric])
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
            Where to draw; the names of rows are as small as they must be, and the axes of a figure
            without a layout are moved so that nothing is cut off. None makes a new figure, whose
            size grows with the rows.

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
        rows = _Rows.of(result, differences, _drawing.longest_name(ax))
        sizes = [max(len(group), 1) for group in rows.groups]
        gap = int(len(rows.members) > 1)
        tops = np.cumsum([0, *sizes]) + gap * np.arange(len(sizes) + 1)
        bottom = tops[-1] - gap
        width = max(6.4, 3.6 + 0.085 * max(map(len, rows.labels)))
        ax = _drawing.axes(ax, (width, 1.2 + 0.25 * bottom + 0.08 * len(rows.members)))
        self.points_, is_hollow = [], False
        for top, group in zip(tops, rows.groups, strict=False):
            for number, (value, low, high, n_queries) in enumerate(group):
                style = _drawing.point(number)
                if n_queries <= 2:
                    style["markerfacecolor"], is_hollow = ax.get_facecolor(), True
                style |= curve_kwargs or {}
                self.points_ += ax.plot([low, value, high], [top + number] * 3, **style)
        whole = result.overall if isinstance(result, SegmentTable) else result
        interval = _drawing.interval_label(whole.confidence_level)
        label = _drawing.prefix(name) + interval
        if gap:
            for point, member in zip(self.points_, rows.members, strict=False):
                point.set_label(member)
            ax.plot([], [], **_drawing.point(0) | {"color": "0.5", "label": label})
        else:
            only = f"{rows.members[0]}: " if rows.members and name is None else ""
            self.points_[0].set_label(only + label)
        if is_hollow:
            style = {"color": "0.5", "markerfacecolor": ax.get_facecolor()}
            ax.plot([], [], "o", **style, label="1 or 2 queries")
        self._draw_reference(ax)
        ticks = tops[:-1] + (np.array(sizes) - 1) / 2
        ax.set_yticks(ticks, rows.labels)
        ax.set(xlabel=f"{'Difference of ' * differences}{result.metric}", ylabel=rows.kind)
        space = 0.5 + 0.5 * gap
        ax.set_ylim(bottom - 1 + space, -space)
        _shrink_labels(ax, 0.6 * ax.bbox.width, np.inf)
        _drawing.finish(self, ax, despine)
        ax.locator_params(axis="x", nbins=int(np.clip(2 * ax.bbox.width / ax.figure.dpi, 2, 6)))
        pixels = ax.figure.dpi / 72  # per point
        title = 0 if ax.get_title() else 2 * ax.title.get_fontsize() * pixels  # may still come
        row = (ax.bbox.height - title) / (bottom + gap)
        _shrink_labels(ax, np.inf, 0.8 * row * min(np.diff(ticks), default=bottom))
        for point in self.points_:
            point.set_markersize(min(point.get_markersize(), 0.7 * row / pixels))
        return self

    def _draw_reference(self, ax: Any) -> None:
        """Draw the line to compare with, and the margin of differences."""
        result, self.line_, self.band_ = self.result, None, None
        style = _drawing.LINE | {"zorder": 0}
        if isinstance(result, SegmentTable):
            label = f"all queries: {result.overall.mean:.4f}"
            self.line_ = ax.axvline(result.overall.mean, **style, linestyle="--", label=label)
        elif isinstance(result, Comparison):
            if self.differences:
                self.line_ = ax.axvline(0, **style)
                if result.margin is not None and not isinstance(result.margin, dict):
                    style = _drawing.AREA | {"label": f"margin {result.margin:g}"}
                    self.band_ = ax.axvspan(-result.margin, 0, **style)
            elif result.baseline is not None and not result.by_segment:
                label = f"baseline: {_drawing.labels([result.baseline])[0]}"
                value = result.mean[result.baseline]
                self.line_ = ax.axvline(value, **style, linestyle="--", label=label)


class _Rows(NamedTuple):
    """What is drawn: groups of rows, each with a label.

    A row is a value, its bounds and the number of its queries.
    """

    kind: str | None  # of the labels
    labels: list[str]
    groups: list[Floats]
    members: list[str]  # names of the rows of a group, if it has several or is a segment

    @classmethod
    def of(cls, result: Result, differences: bool, longest: int) -> _Rows:
        """The groups of rows that have a value; of many the first and the last."""
        values = _values(result, differences)
        groups, members = list(values[:, np.newaxis]), []
        kind: str | None = None
        if isinstance(result, NDCGInterval):
            labels = ["all"]
        elif isinstance(result, SegmentTable):
            kind, labels = "segment", _drawing.labels(result.segments, longest)
        else:
            kind, labels = "ranker", _drawing.labels(result.mean, longest)
            if differences:
                short = dict(zip(result.mean, labels, strict=True))
                kind = "pair"
                labels = [f"{short[first]} vs {short[second]}" for first, second in result.pairs]
            if result.by_segment:
                members, kind = labels, "segment"
                labels = _drawing.labels(("all", *result.by_segment), longest)
                segments = result.by_segment.values()
                groups = [values, *(_values(segment, differences) for segment in segments)]
        scored = [number for number, group in enumerate(groups) if not np.isnan(group[:, 0]).all()]
        scored = scored or list(range(len(groups)))
        labels, groups = [labels[n] for n in scored], [groups[n] for n in scored]
        half = max(1, MOST_ROWS // 2 // len(groups[0]))
        if len(groups) * len(groups[0]) > MOST_ROWS and len(groups) > 2 * half:
            labels[half:-half] = [f"({len(groups) - 2 * half} more)"]
            groups[half:-half] = [np.empty((0, 4))]
        return cls(kind, labels, groups, members)


def _values(result: Result, differences: bool) -> Floats:
    """One row per ranker, pair or segment: value, bounds and number of queries."""
    mean: Any = result.mean
    values, interval = np.atleast_1d(mean), result.confidence_interval
    if isinstance(result, Comparison):
        values = result.difference if differences else np.array([*result.mean.values()])
        interval = result.confidence_interval if differences else result.interval
    return np.transpose(np.broadcast_arrays(values, *interval, result.n_queries))


def _shrink_labels(ax: Any, width: float, height: float) -> None:
    """Make the labels of rows smaller until they have room, in pixels."""
    labels = ax.get_yticklabels()
    boxes = [label.get_window_extent() for label in labels]
    widest, highest = (max(getattr(box, side) for box in boxes) for side in ("width", "height"))
    scale = min(1, width / widest, height / highest)
    ax.tick_params(axis="y", labelsize=scale * labels[0].get_fontsize())
