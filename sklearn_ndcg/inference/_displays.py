"""Plots of NDCG@k and of differences between rankers; matplotlib is imported only to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg._checks import Floats, is_integer, warn
from sklearn_ndcg._metrics.measure import Measure, NDCGOptions, check_curve_cutoffs
from sklearn_ndcg._metrics.queries import Queries
from sklearn_ndcg._metrics.rankings import Rankings
from sklearn_ndcg._rows.columns import column_names, count_rows, take_rows
from sklearn_ndcg._selection.scorers import ResponseMethod, make_ndcg_scorer
from sklearn_ndcg.inference import _drawing
from sklearn_ndcg.inference._comparison import scores_by_name
from sklearn_ndcg.inference._interval import curve_interval


class DisplayOptions(NDCGOptions, total=False):
    """Keyword arguments that the constructors of `NDCGDisplay` share."""

    sample_weight: ArrayLike | None
    ax: Any
    curve_kwargs: dict[str, Any] | Sequence[dict[str, Any]] | None
    plot_chance_level: bool
    chance_level_kwargs: dict[str, Any] | None
    despine: bool


_DRAWING = {"ax", "curve_kwargs", "plot_chance_level", "chance_level_kwargs", "despine"}


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

    Attributes
    ----------
    line_ : matplotlib Artist or list of matplotlib Artist
        The curve, or the mean over several folds; a list if each curve has its own name or its own
        entry of `curve_kwargs`.

    fold_lines_ : list of matplotlib Artist
        The curves of the folds, if `line_` is their mean.

    band_ : matplotlib Artist, list of matplotlib Artist or None
        The interval; a list if `line_` is one.

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
    >>> from sklearn_ndcg import NDCGDisplay
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
    ['model', 'baseline', '0.95 interval', 'Chance level']
    """

    k: NDArray[Any]
    ndcg: Floats
    interval: Floats | None = None
    name: str | list[str] | None = None
    chance_level: Floats | None = None
    confidence_level: float = 0.95

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
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
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance, as in `ndcg_score`.

        y_score : array-like of the shape of `y_true`, or mapping from name to array-like
            Predicted scores, as in `ndcg_score`. A mapping has the scores of several rankers, and
            a curve is drawn for each. If `y_true` is 1-D, a DataFrame may have a column for each.

        k : int or array-like of int of shape (n_cutoffs,), default=None
            Cutoffs. An int means every cutoff from 1 to that number, at most to the length of the
            longest query; None means every cutoff up to that length.

        confidence_level : float or None, default=0.95
            Level of the band around the curve: at each cutoff, the interval of Student's t over
            queries. None draws no band.

        name : str, default=None
            The model's name, for the legend. Not for several rankers, which have names already.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row, as in `ndcg_score`.

        **options
            The other options of `ndcg_curve`: `gain`, `sample_weight` and so on; and how to draw:
            `ax`, `curve_kwargs`, `plot_chance_level`, `chance_level_kwargs` and `despine`, as in
            `plot`. The chance level of several rankers is their mean.

        Returns
        -------
        NDCGDisplay
            What was drawn.
        """
        several = isinstance(y_score, Mapping) or (column_names(y_score) and np.ndim(y_true) == 1)
        if isinstance(name, list | tuple) or (several and name is not None):
            raise ValueError(
                f"name must be for one ranker, got {name!r}. For several pass y_score as a mapping."
            )
        rankers: Any = scores_by_name(y_score, "y_score", 1) if several else {None: y_score}
        measure, sample_weight, drawing = _split_options(options)
        rankings = Rankings.of_arrays(y_true, rankers, groups, sample_weight)
        names = list(rankers) if several else name
        display = cls._of_queries(rankings.queries(measure), k, confidence_level, names)
        if not several:
            display.ndcg = display.ndcg[0]
            display.interval = None if display.interval is None else display.interval[0]
        return display.plot(**drawing)

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
            Level of the band around the curve. None draws no band.

        name : str, default=None
            The model's name. None is the name of its class.

        **options
            `ax`, `curve_kwargs`, `plot_chance_level`, `chance_level_kwargs` and `despine`, as in
            `from_predictions`, and the options of `ndcg_curve`.

        Returns
        -------
        NDCGDisplay
            What was drawn.
        """
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
            `from_predictions`, and the options of `ndcg_curve`; `sample_weight` has one weight per
            row.

        Returns
        -------
        NDCGDisplay
            What was drawn.
        """
        if not {"estimator", "indices"} <= set(cv_results):
            raise ValueError(
                f"cv_results must have 'estimator' and 'indices', got {sorted(cv_results)}: call "
                "cross_validate with return_estimator=True and return_indices=True."
            )
        estimators, tests = cv_results["estimator"], cv_results["indices"]["test"]
        if not len(estimators):
            raise ValueError("cv_results has no fold: 'estimator' is empty.")
        measure, sample_weight, drawing = _split_options(options)
        data = (X, y, groups, sample_weight)
        n_rows = 1 + max(map(np.max, chain(*cv_results["indices"].values())))
        found = [count_rows(X), count_rows(y)]
        if found != [n_rows, n_rows]:
            raise ValueError(f"X and y must have the {n_rows} rows of the folds, but have {found}.")
        scorer = make_ndcg_scorer(group_by=group_by, response_method=response_method)
        folds = []
        for estimator, rows in zip(estimators, tests, strict=True):
            fold: Any = (None if values is None else take_rows(values, rows) for values in data)
            X_test, y_test, ids, weight = fold
            y_score, ids = scorer.scores_and_groups(estimator, X_test, y_test, ids)
            folds += Rankings.of_arrays(y_test, {None: y_score}, ids, weight).queries(measure)
        display = cls._of_queries(folds, k, None, name)
        n_nan = np.count_nonzero(np.isnan(display.ndcg[:, 0]))
        if n_nan:
            warn(
                f"The curves of {n_nan} of {len(folds)} folds are nan, and so is the mean: none of "
                "their queries has a relevant document. Use fewer folds, or another `undefined`.",
                UndefinedMetricWarning,
            )
        return display.plot(**drawing)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | list[str] | None = None,
        curve_kwargs: dict[str, Any] | Sequence[dict[str, Any]] | None = None,
        plot_chance_level: bool = False,
        chance_level_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> NDCGDisplay:
        """Draw the curve, or the curves.

        Of more than six curves the legend stands beside the axes, in the order in which they end.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure.

        name : str or list of str, default=None
            The model's name, or one for each curve. None takes the name of the display.

        curve_kwargs : dict or list of dict, default=None
            Keyword arguments of matplotlib's `plot` for the curve, or for each of several.

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
            there are more than 30 curves.
        """
        if plot_chance_level and self.chance_level is None:
            raise ValueError("plot_chance_level=True, but the display has no chance_level.")
        separate = any(isinstance(value, list | tuple) for value in (self.name, name, curve_kwargs))
        folds, name = np.atleast_2d(self.ndcg), self.name if name is None else name
        curves = folds if separate else folds.mean(axis=0, keepdims=True)
        n = len(curves)
        if n > _drawing.MOST_CURVES:
            raise ValueError(
                f"{n} curves look too much alike: pass at most {_drawing.MOST_CURVES}, or draw one "
                "cutoff with IntervalDisplay."
            )
        if len(folds) > 1 and not isinstance(name, list | tuple):
            spread = f" +/- {folds[:, -1].std():.3f}" if n < len(folds) else ""
            values = [f"NDCG@{self.k[-1]} = {curve[-1]:.3f}{spread}" for curve in curves]
            name = name and _drawing.shortened(name, 30)  # so that the number is not cut
            name = [f"{name} ({value})" if name else value for value in values]
        names = _drawing.one_each("name", name, n)
        styles = _drawing.one_each("curve_kwargs", curve_kwargs, n)
        intervals = [None] * n if self.interval is None else self.interval.reshape(n, 2, -1)
        is_crowded, longest = n > len(_drawing.COLORS), max(len(str(name)) for name in names)
        size = 7 + 0.075 * min(longest, 60), max(4.8, 1 + 0.2 * n)
        ax = _drawing.axes(ax, size if is_crowded else None)
        # points at one cutoff stand beside each other
        shifts = np.linspace(-0.2, 0.2, n) if n > 1 == len(self.k) else np.zeros(n)
        drawn = zip(curves, names, styles, intervals, shifts, strict=True)
        lines, bands = zip(*[self._draw(ax, *curve) for curve in drawn], strict=True)
        self.line_ = list(lines) if separate else lines[0]
        self.band_ = None
        if self.interval is not None:
            self.band_ = list(bands) if separate else bands[0]
            level = f"{self.confidence_level:.6g} interval"
            if level not in ax.get_legend_handles_labels()[1]:
                ax.fill_between([], [], color="0.5", alpha=0.3, lw=0, label=level)
        thin = {"color": lines[0].get_color(), "alpha": 0.3, "linewidth": 1, "linestyle": "-"}
        of_mean = folds if n < len(folds) else ()
        self.fold_lines_ = [self._draw(ax, fold, None, thin)[0] for fold in of_mean]
        self.chance_level_ = None
        if plot_chance_level:
            style = _drawing.style(
                {"color": _drawing.ink(), "linestyle": "--"}, chance_level_kwargs
            )
            self.chance_level_, _ = self._draw(ax, self.chance_level, "Chance level", style)
        low, high = ax.dataLim.intervalx.round()
        locator = _drawing.matplotlib("ticker").MaxNLocator(10, integer=True)
        ticks = locator.tick_values(low, high).clip(low)
        ax.set(xlabel="Cutoff k", ylabel="NDCG@k", xticks=np.unique(ticks[ticks <= high]))
        ax.margins(x=1 if low == high else 0.05)
        if not is_crowded:
            return _drawing.finish(self, ax, despine)
        handles, _ = ax.get_legend_handles_labels()
        # in the order in which the curves end, from the top
        handles.sort(key=lambda handle: -handle.get_ydata()[-1] if handle in lines else np.inf)
        outside = {"loc": "upper left", "bbox_to_anchor": (1, 1), "fontsize": "small"}
        return _drawing.finish(self, ax, despine, handles=handles, handlelength=3, **outside)

    def _draw(
        self, ax: Any, curve: Any, name: Any, style: Any, interval: Any = None, shift: float = 0
    ) -> Any:
        """The line of a curve and its band; at one cutoff, where these have no area, a whisker."""
        label, is_point = None if name is None else _drawing.label(name, 60), len(self.k) == 1
        default = {"marker": "o" if is_point else None, "label": label}
        line = ax.plot(self.k + shift, curve, **_drawing.style(default, style))[0]
        if interval is None:
            return line, None
        alpha, width = (1, 1.5) if is_point else (1.2 / max(len(np.atleast_2d(self.ndcg)), 6), 0)
        band = {"color": line.get_color(), "alpha": alpha, "lw": width, "ls": line.get_linestyle()}
        return line, ax.fill_between(self.k + shift, *interval, **band)

    @classmethod
    def _of_queries(cls, curves: list[Queries], k: Any, level: Any, name: Any) -> NDCGDisplay:
        """A curve for each ranker or fold; it stays flat after its longest query."""
        longest = max(int(queries.lengths.max(initial=1)) for queries in curves)
        if k is None or (is_integer(k) and k >= 1):
            k = range(1, min(k or longest, longest) + 1)
        elif np.ndim(k) == 1:
            k = np.unique(k)
        cutoffs: Any = check_curve_cutoffs(k)
        ndcg = np.array([queries.mean_curve(cutoffs)[1] for queries in curves])
        quiet = [queries.without_warning() for queries in curves]  # the curves have already warned
        interval = None
        if level is not None:
            interval = np.array([curve_interval(queries, cutoffs, level) for queries in quiet])
        random = [queries.in_random_order().mean_curve(cutoffs)[1] for queries in quiet]
        chance = np.mean(random, axis=0)
        return cls(
            k=cutoffs, ndcg=ndcg, interval=interval, name=name, chance_level=chance,
            confidence_level=0.95 if level is None else float(level),
        )  # fmt: skip


def _split_options(options: DisplayOptions) -> tuple[Measure, ArrayLike | None, dict[str, Any]]:
    """What to draw, the weights of the rows, and how to draw."""
    others: dict[str, Any] = dict(options)
    drawing = {name: others.pop(name) for name in _DRAWING & others.keys()}
    sample_weight = others.pop("sample_weight", None)
    return Measure.of("NDCGDisplay", others, DisplayOptions), sample_weight, drawing
