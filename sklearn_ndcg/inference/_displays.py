"""Plots of NDCG by cutoff; matplotlib is imported only to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from sklearn_ndcg import _show
from sklearn_ndcg._checks import Floats, is_integer
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics.choices import known_options
from sklearn_ndcg._metrics.measure import NDCG, NDCGOptions
from sklearn_ndcg._metrics.rankings import Rankings, queries_of, rankings_of
from sklearn_ndcg._metrics.values import Queries, mean_curve
from sklearn_ndcg._rows.columns import column_names, count_rows, take_rows
from sklearn_ndcg._rows.label_texts import label_text
from sklearn_ndcg._selection.responses import ResponseMethod
from sklearn_ndcg._selection.scorers import make_ndcg_scorer
from sklearn_ndcg._selection.splitters import row_numbers
from sklearn_ndcg.inference._comparison import rankings_of_rankers
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
        The interval, an area, or a bar at a single cutoff; a list if `line_` is one.

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
            queries. None draws none, and a single query has none.

        name : str, default=None
            The model's name, for the legend. Not for several rankers, which have names already.

        groups : array-like of shape (n_documents,) or str, default=None
            The query id of each row. See `ndcg_score`.

        **options
            The other options of `ndcg_curve`: `gain`, `sample_weight` and so on; and how to draw:
            `ax`, `curve_kwargs`, `plot_chance_level`, `chance_level_kwargs` and `despine`, as in
            `plot`. The chance level of several rankers is their mean.

        Returns
        -------
        NDCGDisplay
            What was drawn.
        """
        known_options(cls.from_predictions, options, DisplayOptions)
        weight = options.pop("sample_weight", None)
        scores: Any = y_score
        if isinstance(y_true, Rows):
            several = len(y_true.rankers) > 1
            if not several and name is None and y_true.rankers != [None]:
                name = str(y_true.rankers[0])
        else:
            several = isinstance(y_score, Mapping) or bool(
                column_names(y_score) and np.ndim(y_true) == 1
            )
            scores = y_score if several else {name: y_score}
        rankers = rankings_of_rankers(y_true, scores, groups, weight, 1, "y_score")
        names: list[Any] | str | None = name
        if several:
            if name is not None:
                raise ValueError(f"name must be for one ranker, got {name!r} for those of y_score.")
            names = list(rankers)
        return cls._of_folds([[*rankers.values()]], options, k, confidence_level, names)

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
            The query id of each row. Ignored if `group_by` says where in X they are.

        group_by : str, callable or list of names, default=None
            Where in X the query ids are; takes precedence over `groups`.

        response_method : str or sequence of str, default="auto"
            The methods of the estimator to take scores from, as in `make_ndcg_scorer`.

        k : int or array-like of int of shape (n_cutoffs,), default=None
            Cutoffs. An int means every cutoff from 1 to that number, at most to the length of the
            longest query; None means every cutoff up to that length.

        confidence_level : float or None, default=0.95
            Level of the interval around the curve. None draws none, and a single query has none.

        name : str, default=None
            The model's name. None is the name of its class.

        **options
            `ax`, `curve_kwargs`, `plot_chance_level`, `chance_level_kwargs` and `despine`, as in
            `plot`, and the options of `ndcg_curve`.

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
        list for `name` or `curve_kwargs`, each fold has its own curve, and the mean is not drawn.

        Parameters
        ----------
        cv_results : dict
            What ``cross_validate(..., return_estimator=True, return_indices=True)`` returned.

        X : array-like of shape (n_documents, n_features)
            The features that were passed to it.

        y : array-like of shape (n_documents,)
            The relevance that was passed to it.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row. Ignored if `group_by` says where in X they are.

        group_by : str, callable or list of names, default=None
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
        check_consistent_length(*data)
        sets = {part: list(map(row_numbers, rows)) for part, rows in cv_results["indices"].items()}
        n_rows, n_passed = 1 + max(map(np.max, chain(*sets.values()))), count_rows(X)
        # splits that draw rows may leave out the last ones
        is_exact = any(sum(map(len, fold)) == n_rows for fold in zip(*sets.values(), strict=True))
        if n_passed < n_rows or (is_exact and n_passed > n_rows):
            raise ValueError(
                f"X and y must have the {n_rows} rows of the folds, but have {n_passed}. If no "
                f"fold has any of the last rows, leave them out of all arguments: X[:{n_rows}]."
            )
        scorer = make_ndcg_scorer(group_by=group_by, response_method=response_method)
        folds = []
        for model, rows in zip(cv_results["estimator"], sets["test"], strict=True):
            fold: Any = (None if values is None else take_rows(values, rows) for values in data)
            X_test, y_test, ids, weight = fold
            y_score, ids = scorer.scores_and_groups(model, X_test, y_test, ids)
            folds.append([rankings_of(y_test, y_score, ids, weight)])
        return cls._of_folds(folds, options, k, None, name)

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

        Colours are those of matplotlib's cycle, in the order of the rankers, as in
        `IntervalDisplay` and `DifferenceDisplay`.

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
            If a list does not have an entry for each curve, or the display has no chance level.
        """
        if plot_chance_level and self.chance_level is None:
            raise ValueError("plot_chance_level=True, but the display has no chance_level.")
        lists = (isinstance(each, list | tuple) for each in (self.name, name, curve_kwargs))
        separate, folds = any(lists), np.atleast_2d(self.ndcg)
        curves = folds if separate else folds.mean(axis=0, keepdims=True)
        n = len(curves)
        names = self._labels(self.name if name is None else name, n)
        styles = _show.one_each("curve_kwargs", curve_kwargs, n)
        ax = _show.axes(ax)
        marker = {"marker": "o" if len(self.k) == 1 else None}
        lines: list[Any] = []
        for y, label, style in zip(curves, names, styles, strict=True):
            lines += ax.plot(self.k, y, **marker | {"label": label} | (style or {}))
        self.line_, self.band_ = lines if separate else lines[0], None
        if self.interval is not None:
            intervals = np.reshape(self.interval, (n, 2, -1))
            bands = list(map(self._draw_interval, [ax] * n, lines, intervals))
            bands[0].set_label(f"{_show.percent(self.confidence_level)} confidence interval")
            self.band_ = bands if separate else bands[0]
        thin = {"color": lines[0].get_color(), "alpha": 0.7, "linewidth": 0.7}
        folds = folds if n < len(folds) else folds[:0]
        self.fold_lines_ = [ax.plot(self.k, fold, **marker | thin)[0] for fold in folds]
        self.chance_level_ = None
        if plot_chance_level:
            style = marker | _show.LINE | {"linestyle": "--", "label": "Chance level"}
            style |= chance_level_kwargs or {}
            self.chance_level_ = ax.plot(self.k, self.chance_level, **style)[0]
        ax.set(xlabel="Cutoff k", ylabel=self.metric)
        ax.locator_params(axis="x", integer=True)
        self.ax_, self.figure_ = _show.finish(ax, despine), ax.figure
        return self

    def _labels(self, name: Any, n: int) -> list[str | None]:
        """What the legend calls each of n curves; of the mean of folds also its value."""
        names = [
            None if each is None else label_text(each) for each in _show.one_each("name", name, n)
        ]
        folds = np.atleast_2d(self.ndcg)
        if n == len(folds):
            return names
        last = folds[:, -1]
        value = f"NDCG@{self.k[-1]} = {last.mean():.3f} +/- {last.std():.3f}"
        return [f"{names[0]} ({value})" if names[0] else value]

    def _draw_interval(self, ax: Any, line: Any, bounds: Floats) -> Any:
        """Draw the interval of a line: a band, or a bar at a single cutoff."""
        color = line.get_color()
        if len(self.k) > 1:
            return ax.fill_between(self.k, *bounds, color=color, alpha=0.2, linewidth=0)
        error = np.abs(bounds - line.get_ydata())
        return ax.errorbar(self.k, line.get_ydata(), error, fmt="none", ecolor=color, capsize=3)

    @classmethod
    def _of_folds(
        cls, folds: list[list[Rankings]], options: Any, k: Any, level: Any, name: Any
    ) -> NDCGDisplay:
        """Draw a curve for each ranker of each fold; it stays flat after its longest query."""
        drawing = {option: options.pop(option) for option in _DRAWING & options.keys()}
        last = int(k) if is_integer(k) and k >= 1 else None
        measure = NDCG(k=last, **options)
        curves: list[Queries] = []
        for rankers in folds:
            measure, queries = queries_of(rankers, measure)
            curves += queries
        longest = max(curves, key=lambda queries: queries.longest)
        if last is not None:
            k = range(1, min(last, longest.longest) + 1)
        cutoffs = np.unique(folds[0][0].curve_cutoffs(k, longest))
        means = [mean_curve(measure.at_cutoffs(q, cutoffs), len(cutoffs)) for q in curves]
        n_rankers = len(curves) // len(folds)  # whose undefined queries are the same
        for (_, n), curve in zip(means[::n_rankers], curves[::n_rankers], strict=True):
            measure.undefined_rule.report(n, len(curve))
        by_chance = replace(measure, ties="average", ignore_ties=False)
        in_random_order = (by_chance.at_cutoffs(q.in_random_order(), cutoffs) for q in curves)
        random = [mean_curve(blocks, len(cutoffs))[0] for blocks in in_random_order]
        ndcg = np.array([mean for mean, _ in means])
        display = cls(k=cutoffs, ndcg=ndcg, name=name, chance_level=np.mean(random, axis=0))
        only = int(cutoffs[0]) if len(cutoffs) == 1 else None
        display.metric = replace(measure, k=only).label(None if only else cls.metric)
        if level is not None and min(map(len, curves)) > 1:
            bounds = [curve_interval(measure, queries, cutoffs, level) for queries in curves]
            display.interval, display.confidence_level = np.array(bounds), float(level)
        if len(curves) == 1 and not isinstance(name, list | tuple):
            display.ndcg = ndcg[0]
            display.interval = None if display.interval is None else display.interval[0]
        return display.plot(**drawing)
