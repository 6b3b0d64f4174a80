"""Plots of NDCG by cutoff; matplotlib is imported only to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg._checks import Floats, is_integer
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics import drawing
from sklearn_ndcg._metrics.array_rankings import rankings_of
from sklearn_ndcg._metrics.choices import check_curve_cutoffs
from sklearn_ndcg._metrics.curve import MeanCurve
from sklearn_ndcg._metrics.measure import NDCG, NDCGOptions, known_options
from sklearn_ndcg._metrics.queries import Queries
from sklearn_ndcg._metrics.rankings import Rankings
from sklearn_ndcg._metrics.values import report_undefined
from sklearn_ndcg._rows.columns import column_names, count_rows, take_rows
from sklearn_ndcg._rows.label_texts import shown_labels
from sklearn_ndcg._selection.responses import ResponseMethod
from sklearn_ndcg._selection.scorers import make_ndcg_scorer
from sklearn_ndcg._selection.splitters import row_numbers
from sklearn_ndcg.inference._comparison import rankings_of_rankers
from sklearn_ndcg.inference._interval import curve_interval

IntervalAt = Literal["auto", "all"]


class DisplayOptions(NDCGOptions, total=False):
    """Keyword arguments that the constructors of `NDCGDisplay` share."""

    sample_weight: ArrayLike | None
    ax: Any
    curve_kwargs: dict[str, Any] | Sequence[dict[str, Any]] | None
    interval_at: IntervalAt | ArrayLike
    plot_chance_level: bool
    chance_level_kwargs: dict[str, Any] | None
    despine: bool


_DRAWING = {
    "ax", "curve_kwargs", "interval_at", "plot_chance_level", "chance_level_kwargs", "despine",
}  # fmt: skip
# Cutoffs whose intervals are drawn if the bands of all would cover one another; steps of ticks.
_ROUND = (1, 5, *(digit * 10**power for power in range(1, 18) for digit in (1, 2, 5)))
_MOST_BANDS = 3


@dataclass(kw_only=True, repr=False, eq=False)
class NDCGDisplay:
    """NDCG as a function of the cutoff, with a confidence band and the chance level.

    Made by `from_predictions`, `from_estimator` or `from_cv_results`; the constructor takes what
    they computed.

    Parameters
    ----------
    k : ndarray of shape (n_cutoffs,)
        Cutoffs, ascending.

    ndcg : ndarray of shape (n_cutoffs,) or (n_curves, n_cutoffs)
        NDCG at each of them; one row per ranker, or per fold of a cross-validation.

    interval : ndarray of shape (2, n_cutoffs) or (n_curves, 2, n_cutoffs), default=None
        Lower and upper bounds at each cutoff.

    name : str or list of str, default=None
        The model's name, for the legend. A list has a name for each row of `ndcg`, and each row is
        then a curve of its own. Otherwise several rows are folds, whose mean is the curve.

    chance_level : ndarray of shape (n_cutoffs,), default=None
        The expected NDCG of a random order of the retrieved documents, a mean over rankers or
        folds.

    confidence_level : float, default=0.95
        The level of the interval, for the legend.

    metric : str, default="NDCG@k"
        What is drawn, for the axis; the constructors say "NDCG@10" for a single cutoff.

    Attributes
    ----------
    line_ : matplotlib Artist or list of matplotlib Artist
        The curve, or the mean over several folds; a list if each curve has its own name or its own
        entry of `curve_kwargs`.

    fold_lines_ : list of matplotlib Artist
        The curves of the folds, if `line_` is their mean.

    band_ : matplotlib Artist, list of matplotlib Artist or None
        The interval, an area or vertical bars; a list if `line_` is one.

    chance_level_ : matplotlib Artist or None
        The line of the chance level.

    ax_ : matplotlib Axes
        Where it was drawn.

    figure_ : matplotlib Figure
        The figure it was drawn on.

    See Also
    --------
    ndcg_curve : The numbers.
    compare_rankers : Whether the difference of two models is more than chance.
    DifferenceDisplay : The differences of two rankers, query by query.
    IntervalDisplay : NDCG of many rankers at one cutoff, with intervals.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from sklearn_ndcg.inference import NDCGDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(50, 20))
    >>> scores = {
    ...     "model": y_true + rng.normal(scale=2, size=y_true.shape),
    ...     "baseline": y_true + rng.normal(scale=4, size=y_true.shape),
    ... }
    >>> display = NDCGDisplay.from_predictions(y_true, scores, k=10, plot_chance_level=True)
    >>> display.ndcg.shape
    (2, 10)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['model', 'baseline', '95% confidence interval', 'Chance level']
    """

    k: NDArray[Any]
    ndcg: Floats
    interval: Floats | None = None
    name: str | list[str] | None = None
    chance_level: Floats | None = None
    confidence_level: float = 0.95
    metric: str = "NDCG@k"

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | Rows,
        y_score: ArrayLike | Mapping[str, ArrayLike] | None = None,
        *,
        k: ArrayLike | None = None,
        confidence_level: float | None = 0.95,
        name: str | None = None,
        groups: ArrayLike | None = None,
        **options: Unpack[DisplayOptions],
    ) -> NDCGDisplay:
        """Plot the curve of predicted scores, or a curve for each of several rankers.

        Parameters
        ----------
        y_true : array-like or Rows, shape (n_documents,) or (n_queries, n_documents)
            Relevance, as in `ndcg_score`; or the rows of one or several rankers, without `y_score`
            and `groups`.

        y_score : array-like of the shape of `y_true` or mapping from name, default=None
            Predicted scores, as in `ndcg_score`. A mapping has the scores of several rankers, and
            a curve is drawn for each. If `y_true` is 1-D, a DataFrame may have a column for each.

        k : int or array-like of int of shape (n_cutoffs,), default=None
            Cutoffs. An int means every cutoff from 1 to that number, at most to the length of the
            longest query; None means every cutoff up to that length.

        confidence_level : float or None, default=0.95
            Level of the interval around the curve: at each cutoff, that of Student's t over
            queries. None draws none.

        name : str, default=None
            The model's name, for the legend. Not for several rankers, which have names already.

        groups : array-like of shape (n_documents,) or str, default=None
            The query id of each row, as in `ndcg_score`.

        **options
            The other options of `ndcg_curve`: `gain`, `sample_weight` and so on; and how to draw:
            `ax`, `curve_kwargs`, `interval_at`, `plot_chance_level`, `chance_level_kwargs` and
            `despine`, as in `plot`. The chance level of several rankers is their mean.

        Returns
        -------
        NDCGDisplay
            What was drawn.
        """
        known_options(cls.from_predictions, options, DisplayOptions)
        weight = options.pop("sample_weight", None)
        rankers: Any = y_score
        if isinstance(y_true, Rows):
            several = len(y_true.rankers) > 1
            if not several and name is None and y_true.rankers != [None]:
                name = str(y_true.rankers[0])
        else:
            several = isinstance(y_score, Mapping) or bool(
                column_names(y_score) and np.ndim(y_true) == 1
            )
            rankers = y_score if several else {None: y_score}
        rankings = rankings_of_rankers(y_true, rankers, groups, weight, 1, "y_score")
        names: list[Any] | str | None = name
        if several:
            if name is not None:
                raise ValueError(f"name must be for one ranker, got {name!r} for those of y_score.")
            names = y_true.rankers if isinstance(y_true, Rows) else list(rankings.scores)
        return cls._of_folds([rankings], options, k, confidence_level, names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        group_by: Any = None,
        response_method: ResponseMethod = "auto",
        k: ArrayLike | None = None,
        confidence_level: float | None = 0.95,
        name: str | None = None,
        **options: Unpack[DisplayOptions],
    ) -> NDCGDisplay:
        """Plot the curve of a fitted estimator.

        Parameters
        ----------
        estimator : object
            Fitted.

        X : array-like of shape (n_documents, n_features)
            Features.

        y : array-like of shape (n_documents,)
            Relevance.

        groups : array-like of shape (n_documents,), default=None
            Query ids.

        group_by : str, int, callable or list of names, default=None
            Where in X the query ids are; takes precedence over `groups`.

        response_method : str or sequence of str, default="auto"
            The methods of the estimator to take scores from, as in `make_ndcg_scorer`.

        k : int or array-like of int of shape (n_cutoffs,), default=None
            Cutoffs. An int means every cutoff from 1 to that number, at most to the length of the
            longest query; None means every cutoff up to that length.

        confidence_level : float or None, default=0.95
            Level of the interval around the curve. None draws none.

        name : str, default=None
            The model's name. None is the name of its class.

        **options
            `ax`, `curve_kwargs`, `interval_at`, `plot_chance_level`, `chance_level_kwargs` and
            `despine`, as in `plot`, and the options of `ndcg_curve`.

        Returns
        -------
        NDCGDisplay
            What was drawn.
        """
        known_options(cls.from_estimator, options, DisplayOptions)
        scorer = make_ndcg_scorer(group_by=group_by, response_method=response_method)
        y_score, groups = scorer.scores_and_groups(estimator, X, y, groups)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(
            y, y_score, k=k, confidence_level=confidence_level, name=name, groups=groups, **options
        )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        group_by: Any = None,
        response_method: ResponseMethod = "auto",
        k: ArrayLike | None = None,
        name: str | list[str] | None = None,
        **options: Unpack[DisplayOptions],
    ) -> NDCGDisplay:
        """Plot a curve for each fold of a cross-validation, and their mean.

        The legend shows the mean and the standard deviation over folds at the last cutoff. With a
        list for `name` or `curve_kwargs`, each fold has its own curve, and the mean is not drawn;
        the legend has the names, or the NDCG of each fold at the last cutoff.

        Parameters
        ----------
        cv_results : dict
            What ``cross_validate(..., return_estimator=True, return_indices=True)`` returned.

        X : array-like of shape (n_documents, n_features)
            The features that were passed to it.

        y : array-like of shape (n_documents,)
            The relevance that was passed to it.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row.

        group_by : str, int, callable or list of names, default=None
            Where in X the query ids are; takes precedence over `groups`.

        response_method : str or sequence of str, default="auto"
            The methods of the estimator to take scores from, as in `make_ndcg_scorer`.

        k : int or array-like of int of shape (n_cutoffs,), default=None
            Cutoffs. An int means every cutoff from 1 to that number, at most to the length of the
            longest query; None means every cutoff up to that length.

        name : str or list of str, default=None
            The model's name; or a name for each fold.

        **options
            `ax`, `curve_kwargs`, `plot_chance_level`, `chance_level_kwargs` and `despine`, as in
            `plot`, and the options of `ndcg_curve`; `sample_weight` has one weight per row.

        Returns
        -------
        NDCGDisplay
            What was drawn.
        """
        known_options(cls.from_cv_results, options, DisplayOptions)
        if not {"estimator", "indices"} <= set(cv_results):
            raise ValueError(
                f"cv_results must have 'estimator' and 'indices', got {sorted(cv_results)}: call "
                "cross_validate with return_estimator=True and return_indices=True."
            )
        data = (X, y, groups, options.pop("sample_weight", None))
        sets = {name: list(map(row_numbers, rows)) for name, rows in cv_results["indices"].items()}
        n_rows, counts = 1 + max(map(np.max, chain(*sets.values()))), [count_rows(X), count_rows(y)]
        # splits that draw rows may leave out the last ones
        is_exact = any(sum(map(len, fold)) == n_rows for fold in zip(*sets.values(), strict=True))
        if counts[0] != counts[1] or counts[0] < n_rows or (is_exact and counts[0] > n_rows):
            raise ValueError(
                f"X and y must have the {n_rows} rows of the folds, but have {counts}. If no fold "
                f"has any of the last rows, pass X[:{n_rows}] and y[:{n_rows}]."
            )
        scorer = make_ndcg_scorer(group_by=group_by, response_method=response_method)
        folds = []
        for model, rows in zip(cv_results["estimator"], sets["test"], strict=True):
            fold: Any = (None if values is None else take_rows(values, rows) for values in data)
            X_test, y_test, ids, weight = fold
            y_score, ids = scorer.scores_and_groups(model, X_test, y_test, ids)
            folds.append(rankings_of(y_test, y_score, ids, weight))
        return cls._of_folds(folds, options, k, None, name)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | list[str] | None = None,
        curve_kwargs: dict[str, Any] | Sequence[dict[str, Any]] | None = None,
        interval_at: IntervalAt | ArrayLike = "auto",
        plot_chance_level: bool = False,
        chance_level_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> NDCGDisplay:
        """Draw the curve, or the curves.

        The legend stands below the axes. Up to 24 curves differ in colour or line style, and a
        ranker has the colour that it has in `IntervalDisplay` and `DifferenceDisplay`. If you have
        chosen a colour cycle, by a style or for the axes, the colours are those, but for a grey,
        which is for what is not a ranker. Cutoffs that do not follow one another have markers and
        ticks. At a single cutoff curves are points side by side.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; the axes of a figure without a layout are moved so that nothing is cut
            off. None makes a new figure.

        name : str or list of str, default=None
            The model's name, or one for each curve. None takes the name of the display.

        curve_kwargs : dict or list of dict, default=None
            Keyword arguments of matplotlib's `plot` for the curve, or for each of several.

        interval_at : "auto", "all" or array-like of int, default="auto"
            Where the interval is drawn: "all" is a band along the curve, and a list of cutoffs a
            bar at each of them, side by side for several curves. "auto" is "all" for up to three
            curves. The bands of more would cover one another, so these have bars at 1, 5, 10, 20,
            50, 100, ...; or at every cutoff, if cutoffs do not follow one another.

        plot_chance_level : bool, default=False
            Whether to draw the level of chance.

        chance_level_kwargs : dict, default=None
            Keyword arguments of matplotlib's `plot` for the chance level.

        despine : bool, default=False
            Whether to remove the top and right spines.

        Returns
        -------
        NDCGDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If a list does not have an entry for each curve, the display has no chance level, or
            `interval_at` has other cutoffs than `k`.

        Warns
        -----
        UserWarning
            If the legend has no room at a font size of 5 points.
        """
        if plot_chance_level and self.chance_level is None:
            raise ValueError("plot_chance_level=True, but the display has no chance_level.")
        separate, folds = isinstance(self.name, list | tuple), np.atleast_2d(self.ndcg)
        curves = folds if separate else folds.mean(axis=0, keepdims=True)
        n = len(curves)
        names = self._labels(self.name if name is None else name, n, drawing.longest_name(ax))
        styles = drawing.one_each("curve_kwargs", curve_kwargs, n)
        at = self._interval_cutoffs(interval_at, n)
        ax, _ = drawing.axes(ax, (9, 4.8 + 0.07 * n) if n > len(drawing.COLORS) else None)
        marker = {"marker": "o" if len(self.k) == 1 or self._has_gaps() else None}
        lines: list[Any] = []
        places = _side_by_side(self.k, n, 5) if len(self.k) == 1 else [self.k] * n
        for x, y, label, style in zip(places, curves, names, styles, strict=True):
            lines += ax.plot(x, y, **marker | {"label": label} | (style or {}))
        drawn = ax.dataLim.intervalx.round()  # bars beside cutoffs do not count
        self.line_, self.band_ = lines if separate else lines[0], None
        if self.interval is not None:
            bands = self._draw_intervals(ax, lines, np.reshape(self.interval, (n, 2, -1)), at)
            self.band_ = bands if separate else bands[0]
        thin = {"color": lines[0].get_color(), "alpha": 0.7, "linewidth": 0.7, "linestyle": "-"}
        folds = folds if n < len(folds) else folds[:0]
        self.fold_lines_ = [ax.plot(self.k, fold, **marker | thin)[0] for fold in folds]
        self.chance_level_ = None
        if plot_chance_level:
            style = marker | drawing.LINE | {"linestyle": "--", "label": "Chance level"}
            style |= chance_level_kwargs or {}
            self.chance_level_ = ax.plot(self.k, self.chance_level, **style)[0]
        ax.set(xlabel="Cutoff k", ylabel=self.metric)
        drawing.finish(self, ax, despine)
        self._draw_ticks(ax, *drawn)
        return self

    def _has_gaps(self) -> bool:
        """Whether cutoffs were chosen that do not follow one another."""
        return bool((np.diff(self.k) > 1).any())

    def _labels(self, name: Any, n: int, longest: int) -> list[str | None]:
        """What the legend calls each of n curves; of the mean of folds also its value."""
        names = drawing.one_each("name", name, n)
        short = iter(drawing.labels((x for x in names if x is not None), longest))
        names = [None if x is None else next(short) for x in names]
        folds = np.atleast_2d(self.ndcg)
        if n == len(folds):
            return names
        last = folds[:, -1]
        value = f"NDCG@{self.k[-1]} = {last.mean():.3f} +/- {last.std():.3f}"
        return [f"{names[0]} ({value})" if names[0] else value]

    def _interval_cutoffs(self, at: Any, n: int) -> NDArray[Any] | None:
        """The cutoffs at which n curves have a bar; None if they have bands."""
        k = np.asarray(self.k)
        if isinstance(at, str) and at in get_args(IntervalAt):
            if len(k) == 1:
                return k
            if at == "all" or n <= _MOST_BANDS:
                return None
            round_ones = k[np.isin(k, _ROUND)]
            return k if self._has_gaps() else round_ones if len(round_ones) else k[-1:]
        chosen = np.atleast_1d(at)
        if isinstance(at, str) or not np.isin(chosen, k).all():
            raise ValueError(
                f'interval_at must be "auto", "all" or some of the cutoffs {shown_labels(k)}, '
                f"got {at!r}."
            )
        return np.unique(chosen)

    def _draw_intervals(
        self, ax: Any, lines: list[Any], intervals: Floats, at: NDArray[Any] | None
    ) -> list[Any]:
        """Draw the interval of each line, as bands or as bars; the legend explains them once."""
        n, k = len(lines), np.asarray(self.k)
        if at is None:
            draw, style = ax.fill_between, {"alpha": 1.2 / max(n, 4), "linewidth": 0}
            places = np.tile(k, (n, 1))
        else:
            draw, style = ax.vlines, {"linewidth": min(2, 12 / n)}
            intervals = intervals[:, :, np.isin(k, at)]
            places = _side_by_side(at, n, np.ptp(k) or 5)
        bands = [
            draw(x, *bounds, color=line.get_color(), **style)
            for line, x, bounds in zip(lines, places, intervals, strict=True)
        ]
        level = drawing.interval_label(self.confidence_level)
        if level not in ax.get_legend_handles_labels()[1]:
            if n == 1:
                bands[0].set_label(level)
            else:
                key = {"color": drawing.GREY, "label": level}
                draw([], [], [], **style | ({"alpha": 0.5} if at is None else {}) | key)
        return bands

    def _draw_ticks(self, ax: Any, low: float, high: float) -> None:
        """Put ticks at cutoffs, as many as have room; consecutive ones are between two numbers."""
        space = max(ax.xaxis.get_tick_space(), 2)
        if self._has_gaps():
            ax.set_xticks(_with_room(self.k, np.ptp(ax.get_xlim()) / space))
            ax.set_xticks(self.k, minor=True)
        else:
            ax.set_xticks(_round_cutoffs(int(low), int(high), min(space, 10)))

    @classmethod
    def _of_folds(
        cls, folds: list[Rankings], options: Any, k: Any, level: Any, name: Any
    ) -> NDCGDisplay:
        """Draw a curve for each ranker or fold; it stays flat after its longest query."""
        drawing = {option: options.pop(option) for option in _DRAWING & options.keys()}
        measure = NDCG(**options)
        curves: list[Queries] = []
        for rankings in folds:
            measure = rankings.as_read(measure)
            rankers = rankings.queries_of_rankers(measure)
            rankings.check_ids(rankers[0])
            curves += rankers
        longest = max(curves, key=lambda queries: queries.longest)
        last = k if is_integer(k) and k >= 1 else None
        if last is not None:
            folds[0].curve_cutoffs(np.array([last]), longest)  # raises beyond what was read
            k = range(1, min(int(last), longest.longest) + 1)
        checked = folds[0].curve_cutoffs(check_curve_cutoffs(k), longest)
        cutoffs = np.unique(checked)
        means = [MeanCurve.of(measure, queries, cutoffs) for queries in curves]
        for first in range(0, len(curves), len(curves) // len(folds)):  # of the rankers of a fold
            report_undefined(measure, means[first].n_undefined, len(curves[first]))
        by_chance = replace(measure, ties="average", ignore_ties=False)
        random = [MeanCurve.of(by_chance, q.in_random_order(), cutoffs).ndcg for q in curves]
        ndcg = np.array([mean.ndcg for mean in means])
        display = cls(k=cutoffs, ndcg=ndcg, name=name, chance_level=np.mean(random, axis=0))
        only = int(cutoffs[0]) if len(cutoffs) == 1 else None
        display.metric = replace(measure, k=only).labels(None if only else cls.metric)[0]
        if level is not None:
            bounds = [curve_interval(measure, queries, cutoffs, level) for queries in curves]
            display.interval, display.confidence_level = np.array(bounds), float(level)
        if len(curves) == 1 and not isinstance(name, list | tuple):
            display.ndcg = ndcg[0]
            display.interval = None if display.interval is None else display.interval[0]
        return display.plot(**drawing)


def _side_by_side(cutoffs: NDArray[Any], n: int, span: float) -> Floats:
    """Where n bars or points are drawn at each of some cutoffs, shape (n, n_cutoffs)."""
    width = 0.3 * min([*np.diff(cutoffs), span / 5])
    shifts = width * ((np.arange(n) + 0.5) / n - 0.5)
    places: Floats = shifts[:, np.newaxis] + cutoffs
    return places


def _with_room(cutoffs: NDArray[Any], needed: float) -> list[int]:
    """The first, the last, and of those between as many as are so far from one another."""
    first, *between, last = cutoffs.tolist()
    shown = [last]
    for cutoff in reversed(between):
        if min(shown[-1] - cutoff, cutoff - first) >= needed:
            shown.append(cutoff)
    return [first, *reversed(shown)]


def _round_cutoffs(low: int, high: int, most: int) -> list[int]:
    """The first of consecutive cutoffs, and round ones: 1, 5, 10, 15, 20."""
    for step in _ROUND:
        start = -(-(low + step / 2) // step) * step
        ticks = [low, *range(int(start), high + 1, step)]
        if len(ticks) <= most:
            break
    return ticks
