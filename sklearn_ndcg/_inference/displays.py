"""Curves of NDCG@k and differences of rankers as pictures; matplotlib is imported to draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg._checks import Floats, warn
from sklearn_ndcg._inference.interval import curve_interval
from sklearn_ndcg._inference.results import Comparison, query_differences
from sklearn_ndcg._metrics import CurveOptions, check_curve_cutoffs, measure_and_data, read_queries
from sklearn_ndcg._rows import take_rows
from sklearn_ndcg._selection import GroupedScorer, make_ndcg_scorer


class NDCGDisplay:
    """NDCG as a function of the cutoff, with its band and the level of chance.

    Made by `from_predictions`, `from_estimator` or `from_cv_results`; the constructor takes what
    they have computed. For several models on one axis, plot each on the `ax_` of the first.
    `from_comparison` draws the differences of two rankers, query by query.

    Parameters
    ----------
    k : ndarray of shape (n_cutoffs,)
        Cutoffs, ascending.

    ndcg : ndarray of shape (n_cutoffs,) or (n_folds, n_cutoffs)
        NDCG at each of them; one row per fold of a cross-validation.

    interval : ndarray of shape (2, n_cutoffs), default=None
        Lower and upper bounds at each cutoff.

    name : str, default=None
        The model's name, for the legend.

    chance_level : ndarray of shape (n_cutoffs,), default=None
        The expected NDCG of a random order of the documents that were retrieved.

    Attributes
    ----------
    line_ : matplotlib Artist
        The curve; the mean over folds where there are several.

    fold_lines_ : list of matplotlib Artist
        The curves of the folds.

    band_ : matplotlib Artist or None
        The interval.

    chance_level_ : matplotlib Artist or None
        The line of a random order.

    ax_ : matplotlib Axes
        Where it was drawn.

    figure_ : matplotlib Figure
        The figure it was drawn on.

    See Also
    --------
    ndcg_curve : The numbers.
    compare_rankers : Whether the difference of two models is more than chance.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from sklearn_ndcg import NDCGDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(50, 20))
    >>> y_score = y_true + rng.normal(scale=2, size=y_true.shape)
    >>> display = NDCGDisplay.from_predictions(
    ...     y_true, y_score, name="model", plot_chance_level=True
    ... )
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['model', 'Chance level']
    """

    def __init__(
        self,
        *,
        k: NDArray[Any],
        ndcg: Floats,
        interval: Floats | None = None,
        name: str | None = None,
        chance_level: Floats | None = None,
    ) -> None:
        self.k = k
        self.ndcg = ndcg
        self.interval = interval
        self.name = name
        self.chance_level = chance_level

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        k: ArrayLike | None = None,
        confidence_level: float | None = 0.95,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: dict[str, Any] | None = None,
        plot_chance_level: bool = False,
        chance_level_kwargs: dict[str, Any] | None = None,
        **options: Any,
    ) -> NDCGDisplay:
        """Plot the curve of given scores.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance and predicted scores, as in `ndcg_score`.

        k : array-like of int of shape (n_cutoffs,), default=None
            Cutoffs. None is every cutoff from 1 to the longest query.

        confidence_level : float or None, default=0.95
            Of the band around the curve: at each cutoff the interval of Student's t over queries.
            None draws no band.

        name : str, default=None
            The model's name, for the legend.

        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure.

        curve_kwargs : dict, default=None
            Keyword arguments of matplotlib's `plot` for the curve.

        plot_chance_level : bool, default=False
            Whether to draw the expected NDCG of a random order of each query's retrieved
            documents, which is computed exactly. Those with the score -inf stay unretrieved.

        chance_level_kwargs : dict, default=None
            Keyword arguments of matplotlib's `plot` for the chance level.

        **options
            The options of `ndcg_curve`: `groups`, `gain`, `sample_weight` and so on.

        Returns
        -------
        display : NDCGDisplay
        """
        display = cls._compute(y_true, y_score, k, confidence_level, name, options)
        return display.plot(
            ax,
            curve_kwargs=curve_kwargs,
            plot_chance_level=plot_chance_level,
            chance_level_kwargs=chance_level_kwargs,
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        group_by: Any = None,
        response_method: Any = "auto",
        k: ArrayLike | None = None,
        confidence_level: float | None = 0.95,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: dict[str, Any] | None = None,
        plot_chance_level: bool = False,
        chance_level_kwargs: dict[str, Any] | None = None,
        **options: Any,
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

        group_by, response_method
            As in `make_ndcg_scorer`.

        k, confidence_level, ax, curve_kwargs, plot_chance_level, chance_level_kwargs, **options
            As in `from_predictions`.

        name : str, default=None
            The model's name; None takes that of its class.

        Returns
        -------
        display : NDCGDisplay
        """
        scorer = _scorer(group_by, response_method, options)
        y_score, groups = scorer.scores_and_groups(estimator, X, y, groups)
        return cls.from_predictions(
            y,
            y_score,
            k=k,
            confidence_level=confidence_level,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            curve_kwargs=curve_kwargs,
            plot_chance_level=plot_chance_level,
            chance_level_kwargs=chance_level_kwargs,
            groups=groups,
            **options,
        )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict[str, Any],
        X: Any,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        group_by: Any = None,
        response_method: Any = "auto",
        k: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: dict[str, Any] | None = None,
        plot_chance_level: bool = False,
        chance_level_kwargs: dict[str, Any] | None = None,
        **options: Any,
    ) -> NDCGDisplay:
        """Plot a curve for each fold of a cross-validation, and their mean.

        Parameters
        ----------
        cv_results : dict
            What ``cross_validate(..., return_estimator=True, return_indices=True)`` returned.

        X, y, groups
            What was passed to it.

        group_by, response_method
            As in `make_ndcg_scorer`.

        k, name, ax, curve_kwargs, plot_chance_level, chance_level_kwargs, **options
            As in `from_predictions`; `sample_weight` has one weight per row.

        Returns
        -------
        display : NDCGDisplay
        """
        if not {"estimator", "indices"} <= set(cv_results):
            raise ValueError(
                f"cv_results must have 'estimator' and 'indices', got {sorted(cv_results)}: call "
                "cross_validate with return_estimator=True and return_indices=True."
            )
        scorer = _scorer(group_by, response_method, options)
        folds = cls._compute_folds(cv_results, scorer, X, y, groups, k, options)
        # without k, folds reach as far as their longest query, and are flat beyond
        longest = max((fold.k for fold in folds), key=len)

        def padded(curve: Any) -> Floats:
            return np.pad(curve, (0, len(longest) - len(curve)), mode="edge")

        display = cls(
            k=longest,
            ndcg=np.array([padded(fold.ndcg) for fold in folds]),
            name=name,
            chance_level=np.mean([padded(fold.chance_level) for fold in folds], axis=0),
        )
        return display.plot(
            ax,
            curve_kwargs=curve_kwargs,
            plot_chance_level=plot_chance_level,
            chance_level_kwargs=chance_level_kwargs,
        )

    @staticmethod
    def from_comparison(
        comparison: Comparison, *, pair: tuple[Any, Any] | None = None, ax: Any = None
    ) -> DifferenceDisplay:
        """Plot the differences of two rankers: all queries, sorted, with the mean and its interval.

        Parameters
        ----------
        comparison : Comparison
            What `compare_rankers`, `compare_lists` or `compare_runs` returned.

        pair : tuple of two names, default=None
            One of ``comparison.pairs``. None takes the only one.

        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure.

        Returns
        -------
        display : DifferenceDisplay

        Raises
        ------
        ValueError
            If `pair` is not one of the pairs, or is None and there are several.
        """
        pairs = comparison.pairs
        if pair is None and len(pairs) == 1:
            pair = pairs[0]
        if pair not in pairs:
            raise ValueError(f"pair must be one of {pairs}, got {pair!r}.")
        place = pairs.index(pair)
        first, second = (comparison.values[name] for name in pair)
        low, high = comparison.confidence_interval
        return DifferenceDisplay(
            differences=np.sort(query_differences(first, second))[::-1],
            mean=float(comparison.difference[place]),
            interval=(float(low[place]), float(high[place])),
            names=pair,
        ).plot(ax)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        curve_kwargs: dict[str, Any] | None = None,
        plot_chance_level: bool = False,
        chance_level_kwargs: dict[str, Any] | None = None,
    ) -> NDCGDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure.

        name : str, default=None
            The model's name; None takes that of the display.

        curve_kwargs : dict, default=None
            Keyword arguments of matplotlib's `plot` for the curve.

        plot_chance_level : bool, default=False
            Whether to draw the level of chance.

        chance_level_kwargs : dict, default=None
            Keyword arguments of matplotlib's `plot` for the chance level.

        Returns
        -------
        display : NDCGDisplay
        """
        if plot_chance_level and self.chance_level is None:
            raise ValueError("plot_chance_level=True, but the display has no chance_level.")
        ax = _axes(ax)
        name = self.name if name is None else name
        curves = np.atleast_2d(self.ndcg)
        marker = "o" if len(self.k) == 1 else None  # a line of one point is invisible
        given = {"marker": marker, "label": name} | (curve_kwargs or {})
        (self.line_,) = ax.plot(self.k, curves.mean(axis=0), **given)
        color = self.line_.get_color()
        self.fold_lines_ = []
        if len(curves) > 1:
            thin = {"color": color, "alpha": 0.3, "linewidth": 1, "marker": marker}
            self.fold_lines_ = [ax.plot(self.k, curve, **thin)[0] for curve in curves]
        self.band_ = None
        if self.interval is not None:
            self.band_ = ax.fill_between(self.k, *self.interval, color=color, alpha=0.2, lw=0)
        self.chance_level_ = None
        if plot_chance_level:
            dashed = {"color": "k", "linestyle": "--", "label": "Chance level", "marker": marker}
            (self.chance_level_,) = ax.plot(
                self.k, self.chance_level, **(dashed | (chance_level_kwargs or {}))
            )
        ax.set(xlabel="Cutoff k", ylabel="NDCG@k")
        ax.xaxis.get_major_locator().set_params(integer=True)
        if ax.get_legend_handles_labels()[1]:
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def _compute_folds(
        cls,
        cv_results: dict[str, Any],
        scorer: GroupedScorer,
        X: Any,
        y: Any,
        groups: Any,
        k: ArrayLike | None,
        options: dict[str, Any],
    ) -> list[NDCGDisplay]:
        data = (X, y, groups, options.pop("sample_weight", None))
        folds = zip(cv_results["estimator"], cv_results["indices"]["test"], strict=True)
        found = []
        for estimator, rows in folds:
            fold: list[Any] = [each if each is None else take_rows(each, rows) for each in data]
            y_score, ids = scorer.scores_and_groups(estimator, *fold[:3])
            of_fold = options | {"groups": ids, "sample_weight": fold[3]}
            found.append(cls._compute(fold[1], y_score, k, None, None, of_fold))
        n_nan = sum(bool(np.isnan(fold.ndcg).any()) for fold in found)
        if n_nan:
            warn(
                f"The curves of {n_nan} of {len(found)} folds are nan, and so is their mean: they "
                "have no query with a relevant document, and undefined='omit' leaves such "
                "queries out. Use fewer folds, or another value of undefined.",
                UndefinedMetricWarning,
            )
        return found

    @classmethod
    def _compute(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        k: ArrayLike | None,
        confidence_level: float | None,
        name: str | None,
        options: dict[str, Any],
    ) -> NDCGDisplay:
        measure, data = measure_and_data("NDCGDisplay", options, CurveOptions)
        if k is not None and np.ndim(k) == 1:
            k = np.unique(np.asarray(k))
        queries = read_queries(measure, y_true, y_score, **data)
        cutoffs, ndcg = queries.mean_curve(check_curve_cutoffs(k))
        queries = queries.without_warning()  # the curve has warned of undefined queries
        interval = None
        if confidence_level is not None:
            interval = curve_interval(queries, cutoffs, confidence_level)
        chance_level = queries.in_random_order().mean_curve(cutoffs)[1]
        return cls(k=cutoffs, ndcg=ndcg, interval=interval, name=name, chance_level=chance_level)


class DifferenceDisplay:
    """Differences of two rankers, query by query, from the largest gain to the largest loss.

    Made by `NDCGDisplay.from_comparison`; the constructor takes what it has computed. The areas
    show what a mean hides: many small differences, or a few large ones that cancel.

    Parameters
    ----------
    differences : ndarray of shape (n_queries,)
        NDCG of the first ranker less that of the second, falling.

    mean : float
        Their mean, weighted where the comparison was.

    interval : tuple of two floats
        Bounds of the mean.

    names : tuple of two names
        The rankers.

    Attributes
    ----------
    better_, worse_ : matplotlib Artist
        The areas of the queries in which the first ranker is better, and of those in which the
        second is.

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
    >>> from sklearn_ndcg import NDCGDisplay, compare_rankers
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(50, 20))
    >>> scores = {name: y_true + rng.normal(scale=2, size=y_true.shape) for name in "ab"}
    >>> comparison = compare_rankers(y_true, scores, random_state=0)
    >>> display = NDCGDisplay.from_comparison(comparison)
    >>> for text in display.ax_.get_legend().get_texts():
    ...     print(text.get_text())
    a is better: 28 queries
    b is better: 22 queries
    mean +0.0065
    0.95 interval of the mean
    """

    def __init__(
        self,
        *,
        differences: Floats,
        mean: float,
        interval: tuple[float, float],
        names: tuple[Any, Any],
    ) -> None:
        self.differences = differences
        self.mean = mean
        self.interval = interval
        self.names = names

    def plot(self, ax: Any = None) -> DifferenceDisplay:
        """Draw the differences.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure.

        Returns
        -------
        display : DifferenceDisplay
        """
        ax = _axes(ax)
        first, second = self.names
        edges = np.arange(len(self.differences) + 1)
        self.better_, self.worse_ = (
            ax.stairs(
                np.maximum(side * self.differences, 0) * side, edges, fill=True, color=color,
                label=f"{name} is better: {np.count_nonzero(side * self.differences > 0)} queries",
            )
            for side, name, color in ((1, first, "C0"), (-1, second, "C1"))
        )  # fmt: skip
        label = f"mean {self.mean:+.4f}"
        self.line_ = ax.axhline(self.mean, color="k", linewidth=1, label=label)
        label = "0.95 interval of the mean"
        self.band_ = ax.axhspan(*self.interval, color="k", alpha=0.2, linewidth=0, label=label)
        ax.set(
            xlabel="Queries, sorted by difference", ylabel=f"Difference of NDCG, {first} - {second}"
        )
        ax.margins(x=0)
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _axes(ax: Any) -> Any:
    """The axes to draw on, of a new figure where there are none."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise ImportError(
            "NDCGDisplay needs matplotlib, which is the extra `plot`: "
            'python -m pip install "matplotlib>=3.8"'
        ) from error
    return plt.subplots()[1] if ax is None else ax


def _scorer(group_by: Any, response_method: Any, options: dict[str, Any]) -> GroupedScorer:
    choices = {name: value for name, value in options.items() if name != "sample_weight"}
    return make_ndcg_scorer(group_by=group_by, response_method=response_method, **choices)
