"""Plots of comparisons, segments and intervals; matplotlib is imported only to draw."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._metrics import drawing
from sklearn_ndcg._metrics.queries import count_of_queries
from sklearn_ndcg._metrics.tables import MOST_ROWS, percent
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
        The result that is drawn.

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
        """Draw the differences, and to the right of them their mean and its interval.

        The areas have the colours of the rankers in `NDCGDisplay` and `IntervalDisplay`.

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
        longest = drawing.longest_name(ax)
        ax, colors = drawing.axes(ax)
        comparison, row = self.comparison, self.comparison.pairs.index(self.pair)
        values = _results.query_differences(*(comparison.values[name] for name in self.pair))
        n = len(values)
        names = drawing.labels(self.pair, longest)
        self._draw_queries(ax, np.sort(values)[::-1], row, names, colors)
        self._draw_mean(ax, 1.05 * n, row, name, curve_kwargs or {})
        ax.set(xlabel="Queries, sorted by difference", xlim=(0, 1.1 * n))
        metric = drawing.labels([comparison.metric], max(longest, 20))[0]
        ax.set_ylabel(f"{metric},\nfirst minus second")
        if not values.any():
            ax.set_ylim(-0.1, 0.1)
        ax.locator_params(axis="x", nbins=5, integer=True)
        ax.set_xticks([tick for tick in ax.get_xticks() if tick <= n])
        return drawing.finish(self, ax, despine)

    def _draw_queries(
        self, ax: Any, values: Floats, row: int, names: list[str], colors: list[Any]
    ) -> None:
        """Draw the areas of sorted differences in which either ranker is better, and the line 0."""
        comparison, rankers = self.comparison, list(self.comparison.mean)
        counts = comparison.wins[row], comparison.losses[row]
        ends, areas = range(len(values) + 1), []
        for sign, ranker, name, count in zip((1, -1), self.pair, names, counts, strict=True):
            color = drawing.point(colors, rankers.index(ranker))["color"]
            label = f"{name} is better: {count_of_queries(count)}"
            one_side = sign * np.maximum(sign * values, 0)
            areas.append(ax.stairs(one_side, ends, fill=True, color=color, label=label))
        self.better_, self.worse_ = areas
        n_ties = comparison.ties[row]
        ties = f"Ties: {count_of_queries(n_ties)}" if n_ties else None
        self.zero_ = ax.axhline(0, **drawing.LINE, label=ties)

    def _draw_mean(self, ax: Any, x: float, row: int, name: Any, style: dict[str, Any]) -> None:
        """Draw the mean and its interval."""
        comparison = self.comparison
        mean = float(comparison.difference[row])
        low, high = (bound[row] for bound in comparison.confidence_interval)
        start = "Mean" if name is None else f"{drawing.prefix(name)}mean"
        label = f"{start} {mean:+.4f}, {percent(comparison.confidence_level)} CI"
        own = {"color": ax.xaxis.label.get_color(), "markersize": 4, "label": label}
        self.line_ = ax.plot([x] * 3, [low, mean, high], **drawing.POINT | own | style)[0]


@dataclass(kw_only=True, repr=False, eq=False)
class IntervalDisplay:
    """NDCG of segments or rankers, or differences of rankers, as points with intervals.

    Made by `from_result`. Each ranker, pair of rankers or segment has a row, in the order of the
    result or sorted, if its NDCG is defined. A ranker has the colour that it has in `NDCGDisplay`,
    and a pair that of its first ranker; without a baseline the marker says which is the second. Of
    more than 40 rows the first and the last are shown, as in the
    printed tables, and a line between them says how many are not. A point is hollow if it is the
    mean of one or two queries.

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
            Where to draw; the names of rows are then as small as they must be. None makes a new
            figure, whose size grows with the rows.

        **options
            `name`, `curve_kwargs`, `sort` and `despine`, as in `plot`.

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
        curve_kwargs: dict[str, Any] | Sequence[dict[str, Any]] | None = None,
        sort: bool = False,
        despine: bool = False,
    ) -> IntervalDisplay:
        """Draw the intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. The names of rows are as small as they must be, but not smaller than 5
            points: where they have no room, every second or third has its name. The axes of a
            figure without a layout are moved so that nothing is cut off. None makes a new figure,
            whose size grows with the rows.

        name : str, default=None
            What the points are, for the legend.

        curve_kwargs : dict or list of dict, default=None
            Keyword arguments of matplotlib's `plot` for the points and their intervals. A list has
            those of each ranker, pair or segment, in the order of the result, also if rows are
            sorted.

        sort : bool, default=False
            Whether to sort the rows, the highest value first, rather than to keep the order of the
            result.

        despine : bool, default=False
            Whether to remove the top and right spines.

        Returns
        -------
        IntervalDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If a list does not have an entry for each ranker, pair or segment.

        Warns
        -----
        UserWarning
            If the legend has no room at a font size of 5 points.
        """
        rows = _Rows.of(self.result, self.differences, drawing.longest_name(ax), sort)
        styles = drawing.one_each("curve_kwargs", curve_kwargs, rows.n_items, f"{rows.item}s")
        sizes = [max(len(group), 1) for group in rows.groups]
        gap = int(len(rows.members) > 1)
        tops = np.cumsum([0, *sizes]) + gap * np.arange(len(sizes) + 1)
        bottom = tops[-1] - gap
        width = max(6.4, 3.6 + 0.085 * max(map(len, rows.labels)))
        ax, colors = drawing.axes(ax, (width, 1.2 + 0.25 * bottom + 0.08 * len(rows.members)))
        own = [_style(self.result, self.differences, n, colors) for n in range(rows.n_items)]
        styles = [first | (second or {}) for first, second in zip(own, styles, strict=True)]
        self._draw_points(ax, rows, tops, styles)
        self._draw_keys(ax, rows, name)
        self._draw_reference(ax)
        ticks = tops[:-1] + (np.array(sizes) - 1) / 2
        ax.set_yticks(ticks, rows.labels)
        sign = ", first minus second" * self.differences
        kind = None if rows.kind == "interval" else rows.kind.capitalize()
        ax.set(xlabel=f"{self.result.metric}{sign}", ylabel=kind)
        space = 0.5 + 0.5 * gap
        ax.set_ylim(bottom - 1 + space, -space)
        _shrink_labels(ax, 0.6 * ax.bbox.width)
        drawing.finish(self, ax, despine)
        ax.locator_params(axis="x", nbins=int(np.clip(2 * ax.bbox.width / ax.figure.dpi, 2, 6)))
        _shrink_numbers(ax)
        self._fit_rows(ax, bottom + gap, min(np.diff(ticks), default=bottom))
        return self

    def _draw_points(self, ax: Any, rows: _Rows, tops: Ints, styles: list[Any]) -> None:
        """Draw a point with its interval in each row; hollow if it is of one or two queries."""
        self.points_ = []
        for top, group, numbers in zip(tops, rows.groups, rows.numbers, strict=False):
            for row, ((low, value, high, n_queries), number) in enumerate(
                zip(group, numbers, strict=True), start=top
            ):
                face = {"markerfacecolor": ax.get_facecolor()} if n_queries <= 2 else {}
                self.points_ += ax.plot([low, value, high], [row] * 3, **face | styles[number])

    def _draw_keys(self, ax: Any, rows: _Rows, name: Any) -> None:
        """Draw what the legend explains: colours of groups, intervals and hollow points."""
        result = self.result.overall if isinstance(self.result, SegmentTable) else self.result
        grey, grouped = {"color": drawing.GREY}, len(rows.members) > 1
        label = drawing.prefix(name) + drawing.interval_label(result.confidence_level)
        if grouped:
            for point, member in zip(self.points_, rows.members, strict=False):
                point.set_label(member)
        elif rows.members and name is None:
            label = f"{rows.members[0]}: {label}"
        if grouped or len({str(point.get_color()) for point in self.points_}) > 1:
            ax.plot([], [], **drawing.POINT | grey | {"label": label})
        else:
            self.points_[0].set_label(label)
        if any((group[:, 3] <= 2).any() for group in rows.groups):
            hollow = {"markerfacecolor": ax.get_facecolor(), "label": "1 or 2 queries"}
            ax.plot([], [], "o", **grey | hollow)

    def _fit_rows(self, ax: Any, n_rows: int, rows_per_label: float) -> None:
        """Give labels and points of rows the size that they have room for."""
        pixels = ax.figure.dpi / 72  # per point
        title = 0 if ax.get_title() else 2 * ax.title.get_fontsize() * pixels  # may still come
        row = (ax.bbox.height - title) / n_rows
        _shrink_labels(ax, height=0.8 * row * rows_per_label)
        for point in self.points_:
            point.set_markersize(min(point.get_markersize(), 0.7 * row / pixels))

    def _draw_reference(self, ax: Any) -> None:
        """Draw the line to compare with, and the margin of differences."""
        result, self.line_, self.band_ = self.result, None, None
        style = drawing.LINE | {"zorder": 0}
        if isinstance(result, SegmentTable):
            label = f"All queries: {result.overall.mean:.4f}"
            self.line_ = ax.axvline(result.overall.mean, **style, linestyle="--", label=label)
        elif isinstance(result, Comparison):
            if self.differences:
                self.line_ = ax.axvline(0, **style)
                if result.margin is not None:
                    style = drawing.AREA | {"label": f"Margin {result.margin:g}"}
                    self.band_ = ax.axvspan(-result.margin, 0, **style)
            elif result.baseline is not None:
                label = f"Baseline: {drawing.labels([result.baseline])[0]}"
                value = result.mean[result.baseline]
                self.line_ = ax.axvline(value, **style, linestyle="--", label=label)


class _Rows(NamedTuple):
    """What is drawn: groups of rows, each with a label.

    A row is the lower bound, the value, the upper bound and the number of its queries.
    """

    kind: Literal["interval", "segment", "ranker", "pair"]  # of the labels
    labels: list[str]
    groups: list[Floats]
    numbers: list[Ints]  # of the ranker, pair or segment of each row of a group
    members: list[str]  # names of the rows of a group, if it has several or is a segment
    item: str  # what the result has a value of
    n_items: int

    @classmethod
    def of(cls, result: Result, differences: bool, longest: int, sort: bool) -> _Rows:
        """The groups of rows that have a value; of many the first and the last."""
        item, names = _names(result, differences, longest)
        kind = item
        values = _values(result, differences)
        n = len(values)
        order = np.argsort(-values[:, 1], kind="stable") if sort else np.arange(n)
        labels = [names[number] for number in order]
        members: list[str] = []
        groups, numbers = list(values[order, np.newaxis]), list(order[:, np.newaxis])
        scored = [row for row, group in enumerate(groups) if not np.isnan(group[:, 1]).all()]
        scored = scored or list(range(len(groups)))
        labels, groups = [labels[row] for row in scored], [groups[row] for row in scored]
        numbers = [numbers[row] for row in scored]
        half = max(1, MOST_ROWS // 2 // len(groups[0]))
        if len(groups) * len(groups[0]) > MOST_ROWS and len(groups) > 2 * half:
            labels[half:-half] = [f"({len(groups) - 2 * half} more)"]
            groups[half:-half] = [np.empty((0, 4))]
            numbers[half:-half] = [order[:0]]
        return cls(kind, labels, groups, numbers, members, item, n)


def _names(result: Result, differences: bool, longest: int) -> tuple[Any, list[str]]:
    """What there is a value of, and the short name of each."""
    if isinstance(result, NDCGInterval):
        return "interval", ["all"]
    if isinstance(result, SegmentTable):
        return "segment", drawing.labels(result.segments, longest)
    names = drawing.labels(result.mean, longest)
    if not differences:
        return "ranker", names
    short = dict(zip(result.mean, names, strict=True))
    return "pair", [f"{short[first]} vs {short[second]}" for first, second in result.pairs]


def _values(result: Result, differences: bool) -> Floats:
    """One row per ranker, pair or segment: bounds around the value, and number of queries."""
    mean: Any = result.mean
    values, (low, high) = np.atleast_1d(mean), result.confidence_interval
    if isinstance(result, Comparison):
        values = result.difference if differences else np.array([*result.mean.values()])
        low, high = result.confidence_interval if differences else result.interval
    return np.transpose(np.broadcast_arrays(low, values, high, result.n_queries))


def _style(result: Result, differences: bool, number: int, colors: list[Any]) -> dict[str, Any]:
    """The style of a ranker, a pair or a segment, by its number in the result."""
    if not isinstance(result, Comparison):
        return drawing.point(colors, 0)
    if not differences:
        return drawing.point(colors, number)
    rankers = list(result.mean)
    first, second = map(rankers.index, result.pairs[number])
    return drawing.point(colors, first, None if result.baseline is not None else second - 1)


def _shrink_labels(ax: Any, width: float = np.inf, height: float = np.inf) -> None:
    """Make the labels of rows smaller, or leave some out, until they have room, in pixels."""
    labels = ax.get_yticklabels()
    boxes = [label.get_window_extent() for label in labels]
    if not boxes:  # shared axes may have none
        return
    widest, highest = (max(getattr(box, side) for box in boxes) for side in ("width", "height"))
    old = labels[0].get_fontsize()
    new = drawing.shrunk(old, min(width / widest, height / highest))
    ax.tick_params(axis="y", labelsize=new)
    every = int(np.ceil(highest * new / old / height - 0.01))
    if every > 1:
        ticks, texts = ax.get_yticks(), [label.get_text() for label in labels]
        ax.set_yticks(ticks[::every], texts[::every])
        ax.set_yticks(ticks, minor=True)


def _shrink_numbers(ax: Any) -> None:
    """Make the numbers of the x axis smaller until they stand apart."""
    labels = ax.get_xticklabels()
    boxes = [label.get_window_extent() for label in labels]
    if len(boxes) > 1:  # shared axes may have none
        apart = min(np.diff([(box.x0 + box.x1) / 2 for box in boxes]))
        scale = 0.85 * apart / max(1, *(box.width for box in boxes))
        ax.tick_params(axis="x", labelsize=drawing.shrunk(labels[0].get_fontsize(), scale))
