"""Scorers that know which query a row belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ClassVar, Generic, ParamSpec, Self, TypeVar, Unpack, cast, overload

import numpy as np
import sklearn
import sklearn.metrics
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.metadata_routing import UNUSED

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Undefined
from sklearn_ndcg._metrics.array_rankings import rankings_of
from sklearn_ndcg._metrics.functions import dcg_score, ndcg_score
from sklearn_ndcg._metrics.measure import (
    DCG,
    NDCG,
    DCGOptions,
    Measure,
    NDCGOptions,
    QueryFunction,
    has_several_cutoffs,
    known_options,
)
from sklearn_ndcg._metrics.rankings import Rankings
from sklearn_ndcg._rows import columns
from sklearn_ndcg._rows.labels import refuse_reordered
from sklearn_ndcg._selection import leaks, tool_splits
from sklearn_ndcg._selection.responses import ResponseMethod, expected_gain, method_of, methods_in

Options = ParamSpec("Options")
Made = TypeVar("Made")
Score = TypeVar("Score", float, dict[str, float])
Request = bool | str | None

_METRICS: dict[str, tuple[Callable[..., Any], type[DCG]]] = {
    "ndcg": (ndcg_score, NDCG),
    "dcg": (dcg_score, DCG),
}
_OF_ALL_QUERIES = (dcg_score, ndcg_score, sklearn.metrics.dcg_score, sklearn.metrics.ndcg_score)
_PREFIX = re.compile(r"^(.+?)(_at_|[\W_]*)\{k\}.*")  # its first group is "ndcg" in "ndcg_at_{k}"


# the columns that a GroupedRanker has removed from X for the estimator that it is fitting
_removed: ContextVar[Sequence[Hashable]] = ContextVar("_removed", default=())


@contextmanager
def without_columns(keys: Sequence[Hashable]) -> Iterator[None]:
    """While an estimator is fitted on X without these columns, no scorer may count columns."""
    token = _removed.set(keys)
    try:
        yield
    finally:
        _removed.reset(token)


def _by_keyword(make: Callable[Options, Made]) -> Callable[Options, Made]:
    """Say how to call `make` where it gets positional arguments, or where a tool calls it."""

    @wraps(make)
    def checked(*args: Options.args, **kwargs: Options.kwargs) -> Made:
        if not args:
            return make(*args, **kwargs)
        if len(args) == 1:
            raise TypeError(
                f"{make.__name__} takes only keyword arguments, such as k=10 or "
                f'group_by="query", got {args[0]!r:.60}.'
            )
        raise TypeError(
            f"{make.__name__} makes a scorer and is not one itself: pass "
            f'scoring={make.__name__}(group_by="query"), with parentheses.'
        )

    return checked


@overload
def make_ndcg_scorer(
    *,
    k: Cutoff = None,
    group_by: Any = None,
    response_method: ResponseMethod = "auto",
    name: str | None = None,
    all_groups: Any = None,
    **options: Unpack[NDCGOptions],
) -> GroupedScorer[float]: ...
@overload
def make_ndcg_scorer(
    *,
    k: Sequence[Cutoff],
    group_by: Any = None,
    response_method: ResponseMethod = "auto",
    name: str | None = None,
    all_groups: Any = None,
    **options: Unpack[NDCGOptions],
) -> GroupedScorer[dict[str, float]]: ...
@_by_keyword
def make_ndcg_scorer(
    *,
    k: Cutoff | Sequence[Cutoff] = None,
    group_by: Any = None,
    response_method: ResponseMethod = "auto",
    name: str | None = None,
    all_groups: Any = None,
    **options: Unpack[NDCGOptions],
) -> GroupedScorer[Any]:
    """Make a scorer of NDCG per query, for `GridSearchCV`, `cross_val_score` and similar tools.

    The query id of each row comes from one of two places. With metadata routing on, the ids are the
    `groups` that you pass to the tool (``search.fit(X, y, groups=q)``), which go to the splitter
    as well; the scorer's request for them is preset. With routing off, scikit-learn's default,
    `group_by` says where in X they are.

    A scorer without ids raises an error: a fold is never taken for a single query by accident.

    Parameters
    ----------
    k : int, None, "retrieved" or list of these, default=None
        Cutoff as in `ndcg_score`. A list gives a dict of scores, ``{"ndcg@1": ..., "ndcg@5": ...}``
        (None: ``"ndcg"``), from one call of `predict`: for `cross_validate`, `GridSearchCV` and
        `RandomizedSearchCV` (with ``refit="ndcg@5"``) and `permutation_importance`.

    group_by : str, int, callable or list of names, default=None
        Where the query ids are: a column of X (pandas, polars, pyarrow; a number for arrays), a
        level of a pandas index (recommended: it is not a feature, and slicing keeps it), or a
        callable that gets X and returns one id per row. With a list of columns or levels each
        distinct combination is a query. If a tool has turned X into an array, a level is taken from
        the index of y. Takes precedence over routed `groups`. Pass `one_ranking` if all rows are
        one ranking.

    response_method : str, sequence of str or callable, default="auto"
        Scores come from the first of these methods that the estimator has, or from a callable,
        ``response_method(estimator, X)``. "auto" takes a classifier's probabilities as the expected
        gain, ``predict_proba(X) @ gain(classes_)``, rounded to 40 bits so that documents of equal
        expected gain tie; without probabilities, a binary classifier's `decision_function`; and
        `predict` of other estimators. What does not say which kind of estimator it is, and has
        `predict_proba` and several `classes_`, is a classifier.

    name : str, default=None
        How the keys of a dict are written, with ``{k}`` for the cutoff: ``"ndcg_at_{k}"`` for tools
        that refuse "@", such as MLflow. None is ``"ndcg@{k}"``. The key of the cutoff None is the
        part before the separator, ``"ndcg"``. For a single `k`, `name` is the scorer's `__name__`,
        which labels the axis of curve displays.

    all_groups : array-like of shape (n_all_documents,), default=None
        The ids of all rows that will be split. A fold with only some rows of a query then raises an
        error, in any tool, also in those that draw rows before they split:
        ``OptunaSearchCV(subsample=0.3)``. Ids that are not among these are new queries.

    **options
        Further keyword arguments of `ndcg_score`: `gain`, `discount`, `ties`, `ignore_ties`,
        `unjudged`, `undefined`.

    Returns
    -------
    GroupedScorer
        A callable ``scorer(estimator, X, y, sample_weight=None, *, groups=None)`` that returns a
        float, larger is better, or a dict for a list `k`. Each call makes a new scorer, so that
        ``set_score_request(groups="session")``, for example, does not change others.

    Raises
    ------
    TypeError
        If an option is not a keyword argument of `ndcg_score`.

    ValueError
        If an option has a value that `ndcg_score` does not take. While scoring (searches show it
        with ``error_score="raise"``), if no ids are found, if a query has more or fewer rows
        than in `all_groups`, for clusterers and outlier detectors, which predict labels, and in the
        early stopping of `HistGradientBoosting`, which gives a scorer bins instead of the columns
        of X.

    Warns
    -----
    QueryLeakWarning
        If a split of one of scikit-learn's tools cuts queries, or if the tool draws rows; elsewhere
        if a `GroupedRanker` is scored on queries whose other rows it was trained on.

    UserWarning
        If the column of ids is a feature of the estimator, alone or in a Pipeline; if an estimator
        with `predict_proba` has no `classes_`, so that `predict` is scored.

    UndefinedMetricWarning
        As in `ndcg_score`; and if the score is nan because ``undefined="omit"`` left out every
        query of a fold.

    See Also
    --------
    make_query_scorer : Make a scorer of any other metric per query.

    Examples
    --------
    Forty queries of five documents; the search keeps each whole and scores it by its own ranking:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from sklearn_ndcg import make_ndcg_scorer
    >>> rng = np.random.default_rng(0)
    >>> query = pd.Index(np.repeat(np.arange(40), 5), name="query")
    >>> X = pd.DataFrame(rng.normal(size=(200, 3)), index=query, columns=["a", "b", "c"])
    >>> y = (X["a"] + rng.normal(size=200) > 0).astype(int)
    >>> search = GridSearchCV(
    ...     Ridge(),
    ...     {"alpha": [0.1, 1, 10]},
    ...     scoring=make_ndcg_scorer(k=3, group_by="query", undefined="omit"),
    ...     cv=GroupKFold(n_splits=4),
    ... )
    >>> round(float(search.fit(X, y, groups=query).best_score_), 3)
    0.839
    """
    checked = _scorer_options(make_ndcg_scorer, options, NDCGOptions)
    own = {"group_by": group_by, "response_method": response_method, "name": name}
    return _make("ndcg", all_groups, k=k, **own, **checked)


@overload
def make_dcg_scorer(
    *,
    k: Cutoff = None,
    group_by: Any = None,
    response_method: ResponseMethod = "auto",
    name: str | None = None,
    all_groups: Any = None,
    log_base: float = 2,
    **options: Unpack[DCGOptions],
) -> GroupedScorer[float]: ...
@overload
def make_dcg_scorer(
    *,
    k: Sequence[Cutoff],
    group_by: Any = None,
    response_method: ResponseMethod = "auto",
    name: str | None = None,
    all_groups: Any = None,
    log_base: float = 2,
    **options: Unpack[DCGOptions],
) -> GroupedScorer[dict[str, float]]: ...
@_by_keyword
def make_dcg_scorer(
    *,
    k: Cutoff | Sequence[Cutoff] = None,
    group_by: Any = None,
    response_method: ResponseMethod = "auto",
    name: str | None = None,
    all_groups: Any = None,
    log_base: float = 2,
    **options: Unpack[DCGOptions],
) -> GroupedScorer[Any]:
    """Make a scorer of DCG per query: `make_ndcg_scorer` without the division by the ideal.

    Parameters
    ----------
    k : int, None, "retrieved" or list of these, default=None
        Cutoff as in `dcg_score`; a list gives a dict, ``{"dcg@1": ..., "dcg@5": ...}``.

    group_by : str, int, callable or list of names, default=None
        Where in X the query ids are: a column, an index level, or what a callable returns.

    response_method : str or sequence of str, default="auto"
        Scores come from the first of these methods that the estimator has.

    name : str, default=None
        How the keys of a dict are written: ``"dcg_at_{k}"``. None is ``"dcg@{k}"``.

    all_groups : array-like of shape (n_all_documents,), default=None
        The ids of all rows that will be split; an incomplete query then raises an error.

    log_base : float, default=2
        Base of the logarithm of ``discount="log"``.

    **options
        Further keyword arguments of `dcg_score`: `gain`, `discount`, `ties`, `ignore_ties`,
        `unjudged`.

    Returns
    -------
    GroupedScorer
        A callable ``scorer(estimator, X, y, sample_weight=None, *, groups=None)``.

    Raises
    ------
    TypeError
        If an option is not a keyword argument of `dcg_score`.

    ValueError
        As in `make_ndcg_scorer`.

    Examples
    --------
    >>> from sklearn_ndcg import make_dcg_scorer
    >>> make_dcg_scorer(k=10, group_by="query", gain="exponential")
    GroupedScorer(gain='exponential', group_by='query', k=10, score_func='dcg')
    """
    checked = _scorer_options(make_dcg_scorer, options, DCGOptions)
    own = {"group_by": group_by, "response_method": response_method, "name": name}
    return _make("dcg", all_groups, k=k, log_base=log_base, **own, **checked)


def make_query_scorer(
    score_func: Callable[..., Any],
    *,
    group_by: Any = None,
    response_method: ResponseMethod = "auto",
    greater_is_better: bool = True,
    undefined: Undefined = "warn",
    name: str | None = None,
    all_groups: Any = None,
    **kwargs: Any,
) -> GroupedScorer[float]:
    """Make a scorer of any metric per query: scikit-learn's `make_scorer` for queries.

    It calls `score_func` once for each query, with the rows of that query, and takes the mean.

    Parameters
    ----------
    score_func : callable
        A metric, ``score_func(y_true, y_score, **kwargs)``, that returns a number, such as
        `sklearn.metrics.average_precision_score` or a function of your own. It gets arrays with the
        relevance and the scores of one query.

    group_by : str, int, callable or list of names, default=None
        Where in X the query ids are: a column, an index level, or what a callable returns. None:
        pass `groups` to the tool, with metadata routing on.

    response_method : str, sequence of str or callable, default="auto"
        Where scores come from, as in `make_ndcg_scorer`. With "auto" those of a classifier are the
        expected class, ``predict_proba(X) @ classes_``: of 0 and 1, the probability of 1.

    greater_is_better : bool, default=True
        Whether larger values are better. If not, the score is the negative mean. The 0.0 of an
        undefined query is then the best value of many metrics: choose `undefined`.

    undefined : {"warn", "omit", "raise"} or float, default="warn"
        What a query counts for which `score_func` returns nan or is undefined, such as
        `roc_auc_score` for a single class: 0.0 with a warning, nothing, an error, or this number.

    name : str, default=None
        The scorer's `__name__`, which labels the axis of curve displays. None is that of
        `score_func`.

    all_groups : array-like of shape (n_all_documents,), default=None
        The ids of all rows that will be split; an incomplete query then raises an error.

    **kwargs
        Further keyword arguments of `score_func`, the same for all queries. Values per row are
        requested instead: ``scorer.set_score_request(price=True)``, with metadata routing on and
        ``params={"price": price}`` in the tool. `score_func` then gets those of its query.

    Returns
    -------
    GroupedScorer
        A callable ``scorer(estimator, X, y, sample_weight=None, *, groups=None)``. Weights are
        those of queries in the mean: `score_func` does not get them.

    Raises
    ------
    TypeError
        If `score_func` is not a function of y_true and y_score.

    ValueError
        If an option has one value per row, if `score_func` does not return one number, and as in
        `make_ndcg_scorer`. Errors of `score_func` are not caught, except those of scikit-learn for
        a query with a single class.

    Warns
    -----
    UserWarning
        As in `make_ndcg_scorer`.

    UndefinedMetricWarning
        If `score_func` is undefined for some queries.

    Notes
    -----
    scikit-learn says by a warning that a metric is undefined, and Python has one list of warning
    filters for all threads. So run searches in processes, joblib's default: with its backend
    "threading" undefined queries may be missed, and other scorers' warnings become errors.

    Examples
    --------
    The mean of average precision (MAP) and of the reciprocal rank (MRR), beside NDCG:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.metrics import average_precision_score
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn_ndcg import QuerySplitter, make_ndcg_scorer, make_query_scorer
    >>> def reciprocal_rank(y_true, y_score):
    ...     best_first = y_true[np.argsort(-y_score, kind="stable")]
    ...     return 1 / (1 + np.argmax(best_first > 0)) if best_first.any() else np.nan
    >>> rng = np.random.default_rng(0)
    >>> query = pd.Index(np.repeat(np.arange(40), 5), name="query")
    >>> X = pd.DataFrame(rng.normal(size=(200, 3)), query, columns=["a", "b", "c"])
    >>> y = (X["a"] + rng.normal(size=200) > 0.5).astype(int)
    >>> by_query = {"group_by": "query", "undefined": "omit"}
    >>> scoring = {
    ...     "MAP": make_query_scorer(average_precision_score, **by_query),
    ...     "MRR": make_query_scorer(reciprocal_rank, **by_query),
    ...     "NDCG": make_ndcg_scorer(**by_query),
    ... }
    >>> folds = QuerySplitter(4, group_by="query")
    >>> results = cross_validate(Ridge(), X, y, scoring=scoring, cv=folds)
    >>> {name: round(float(results[f"test_{name}"].mean()), 2) for name in scoring}
    {'MAP': 0.72, 'MRR': 0.75, 'NDCG': 0.8}
    """
    if not callable(score_func) or hasattr(score_func, "get_metadata_routing"):
        raise TypeError(f"score_func must be a function of y_true and y_score, got {score_func!r}.")
    if any(score_func is function for function in _OF_ALL_QUERIES):
        raise TypeError(
            f"score_func gets the rows of one query, but {score_func.__name__} takes those of all: "
            f"use make_{score_func.__name__}r."
        )
    clashing = [option for option in kwargs if hasattr(GroupedScorer, option)]
    if clashing:
        raise TypeError(
            f"{clashing[0]} is a method of scorers, and cannot be passed here: pass "
            f"functools.partial(score_func, {clashing[0]}=...)."
        )
    own = {"group_by": group_by, "response_method": response_method, "name": name}
    kwargs |= {"greater_is_better": greater_is_better, "undefined": undefined}
    return _make(score_func, all_groups, **own, **kwargs)


def _scorer_options(
    caller: Callable[..., Any], options: Mapping[str, Any], kind: type
) -> Mapping[str, Any]:
    if "groups" in options:
        raise TypeError(
            f"{caller.__name__} does not take groups, as a scorer gets only some rows. Pass "
            "group_by, which says where in X the ids are, or pass groups to the tool, with "
            "metadata routing on."
        )
    if "sample_weight" in options:
        raise TypeError(
            f"{caller.__name__} does not take sample_weight, as a scorer gets only some rows. With "
            "metadata routing on, call set_score_request(sample_weight=True) of the scorer, and "
            'pass params={"sample_weight": weights} to the tool.'
        )
    return known_options(caller, options, kind)


def _make(score_func: Any, all_groups: Any, **parameters: Any) -> GroupedScorer[Any]:
    sizes = leaks.QuerySizes.of(all_groups)
    scorer: GroupedScorer[Any] = GroupedScorer(score_func, all_groups=sizes, **parameters)
    # all raise if a parameter is not valid; `score` calls them, too, as parameters may be set
    scorer._names(scorer.measure)
    methods_in(scorer.response_method)
    return scorer


def _defaults_of(score_func: object) -> dict[str, Any]:
    """The options of a metric, with their defaults."""
    if not isinstance(score_func, str):
        return {"greater_is_better": True, "undefined": "warn"}
    _checks.check_choice("score_func", score_func, tuple(_METRICS))
    function, _ = _METRICS[score_func]
    return {
        option.name: option.default
        for option in signature(function).parameters.values()
        if option.kind is option.KEYWORD_ONLY and option.name not in ("groups", "sample_weight")
    }


def one_ranking(X: Any) -> NDArray[np.intp]:
    """Give every row the same id: a `group_by` for rows that are one ranking.

    Parameters
    ----------
    X : array-like of shape (n_documents, n_features)
        The rows.

    Returns
    -------
    ndarray of shape (n_documents,)
        The same id for every row.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg import make_ndcg_scorer, one_ranking
    >>> class Oldest:
    ...     def predict(self, X):
    ...         return X[:, 0]
    >>> score = make_ndcg_scorer(k=2, group_by=one_ranking, response_method="predict")
    >>> score(Oldest(), np.array([[3], [1], [2]]), [1, 0, 0])
    1.0
    """
    return np.zeros(columns.count_rows(X), dtype=np.intp)


class GroupedScorer(BaseEstimator, Generic[Score]):  # type: ignore[misc]
    """A scorer per query, of `make_ndcg_scorer`, `make_dcg_scorer` or `make_query_scorer`.

    Call it, or its `score`, with a fitted estimator. Its parameters are those of the function that
    made it: read them with `get_params`, and change them with `set_params`. They are checked when
    it scores.

    See Also
    --------
    make_ndcg_scorer : Makes a scorer from the options of `ndcg_score`.
    make_dcg_scorer : Makes a scorer from the options of `dcg_score`.
    make_query_scorer : Makes a scorer from any metric.

    Notes
    -----
    It is an estimator because that is scikit-learn's public API for metadata requests, cloning and
    parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn_ndcg import make_ndcg_scorer
    >>> scorer = make_ndcg_scorer(k=[1, 3], name="ndcg_at_{k}")
    >>> X, y, query = np.zeros((4, 1)), [1, 0, 0, 1], ["a", "a", "b", "b"]
    >>> model = DummyRegressor().fit(X, y)
    >>> {name: round(score, 2) for name, score in scorer(model, X, y, groups=query).items()}
    {'ndcg_at_1': 0.5, 'ndcg_at_3': 0.82}
    >>> scorer.set_params(k=3)
    GroupedScorer(k=3, name='ndcg_at_{k}', score_func='ndcg')
    >>> round(scorer(model, X, y, groups=query), 2)
    0.82
    """

    _repr_html_ = _repr_mimebundle_ = None  # otherwise notebooks would show it as "not fitted"
    # `groups` is requested from the start; `estimator` is an argument of `score`, not metadata
    __metadata_request__score: ClassVar = {"estimator": UNUSED, "groups": True}

    def __init__(
        self,
        score_func: str | Callable[..., Any],
        *,
        group_by: Any = None,
        response_method: ResponseMethod = "auto",
        name: str | None = None,
        all_groups: Any = None,
        **options: Any,
    ) -> None:
        self.score_func = score_func
        self.group_by = group_by
        self.response_method = response_method
        self.name = name
        self.all_groups = all_groups
        options = _defaults_of(score_func) | options
        self._options = tuple(options)
        for option, value in options.items():
            setattr(self, option, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this scorer.

        Parameters
        ----------
        deep : bool, default=True
            Has no effect, as scorers have no parameters inside of parameters.

        Returns
        -------
        dict
            The values of the parameters, by name.
        """
        names = ["all_groups", "group_by", "name", "response_method", "score_func", *self._options]
        return {name: getattr(self, name) for name in sorted(names)}

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this scorer; they are checked when it scores.

        Parameters
        ----------
        **params
            The new values, by name. A ValueError for a `score_func` that has other options.

        Returns
        -------
        GroupedScorer
            The scorer itself.
        """
        known = self.get_params()
        unknown = [name for name in params if name not in known]
        if unknown:
            raise ValueError(
                f"Invalid parameter {unknown[0]!r} for {self!r}. Valid parameters are: "
                f"{list(known)!r}."
            )
        changed = params.get("score_func", self.score_func)
        if _defaults_of(changed).keys() != _defaults_of(self.score_func).keys():
            raise ValueError(
                f"score_func={changed!r} has other options than {self.score_func!r}: make a new "
                "scorer."
            )
        super().set_params(**params)
        return self

    @property
    def measure(self) -> Measure:
        """What is computed for each query, and at which cutoffs."""
        options = {name: getattr(self, name) for name in self._options}
        if isinstance(self.score_func, str):
            _, kind = _METRICS[self.score_func]
            return kind(**options)
        fields = {name: options.pop(name) for name in ("greater_is_better", "undefined")}
        return QueryFunction(function=self.score_func, options=options or None, **fields)

    @property
    def __name__(self) -> str:
        # what scikit-learn's curve displays label their axis with
        return ", ".join(self._names(self.measure))

    def score(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        **metadata: Any,
    ) -> Score:
        """Score `estimator` on X and y.

        Parameters
        ----------
        estimator : fitted estimator
            What is scored.

        X : array-like or dataframe of shape (n_documents, n_features)
            The rows to score.

        y : array-like of shape (n_documents,)
            Relevance. With several columns each row is a query and does not need an id.

        sample_weight : array-like of shape (n_documents,), default=None
            Weights; the weight of a query is the mean weight of its rows.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row. Ignored if `group_by` says where in X they are.

        **metadata
            What the `score_func` of `make_query_scorer` takes besides: arrays with one value per
            row, of which it gets those of each query, and anything else as it is. A ValueError for
            those of all rows that a tool has split.

        Returns
        -------
        float or dict
            The score, or the score at each of several cutoffs, by name.
        """
        measure = self.measure
        y_score, groups = self.scores_and_groups(estimator, X, y, groups)
        rankings = rankings_of(y, y_score, groups, sample_weight, sort=False)
        if isinstance(measure, QueryFunction):
            self._refuse_values_per_row(rankings, metadata)
            refuse_reordered(X=X, **metadata)
            measure, rankings = with_metadata(measure, rankings, metadata)
        elif metadata:
            raise TypeError(f"{measure.name} does not take {', '.join(metadata)}.")
        values = rankings.evaluate(measure)
        if groups is not None:
            sizes = leaks.QuerySizes.of(self.all_groups)
            if sizes is not None:
                sizes.refuse_cut(rankings.grouping)
            requested = self.get_metadata_routing().score.requests["groups"]
            leaks.warn_of_training(estimator, X, self.group_by, requested, rankings.grouping)
        means = values.report_undefined().means().tolist()
        if np.isnan(means[0]):
            _checks.warn(
                "The score is nan, as it is undefined for all queries of the fold and "
                "undefined='omit' leaves these out. In a search all candidates are ranked first, "
                "whatever error_score is. Use fewer or stratified folds, or undefined=0.",
                UndefinedMetricWarning,
            )
        scores = dict(zip(self._names(measure), means, strict=True))
        return cast("Score", scores if has_several_cutoffs(measure) else means[0])

    __call__ = score

    def scores_and_groups(
        self, estimator: Any, X: Any, y: ArrayLike, groups: ArrayLike | None
    ) -> tuple[Any, ArrayLike | None]:
        """Get the estimator's scores of the rows of X, and the queries that these belong to.

        Parameters
        ----------
        estimator : fitted estimator
            What scores the rows.

        X : array-like or dataframe of shape (n_documents, n_features)
            The rows.

        y : array-like of shape (n_documents,)
            Relevance.

        groups : array-like of shape (n_documents,) or None
            The query id of each row. Ignored if `group_by` says where in X they are.

        Returns
        -------
        y_score : array-like of shape (n_documents,)
            The scores, as `response_method` says.

        groups : array-like of shape (n_documents,) or None
            The query ids; None if each row is a query.
        """
        self._refuse_binned(estimator, X)
        self._refuse_removed(X)
        groups = columns.values_by(X, self.group_by, groups, y)
        refuse_reordered(X=X, y=y, groups=groups)
        # with ids, labels of shape (n_documents, 1) are a column
        y_ndim = 1 if groups is not None and np.shape(y)[1:] == (1,) else np.ndim(y)
        if groups is None and y_ndim == 1:
            raise ValueError(
                "The scorer got no groups, so it is not known which rows are one query. Pass "
                "group_by: a column of X, a level of its pandas index or a callable. Or, with "
                "metadata routing on (sklearn.set_config(enable_metadata_routing=True)), pass "
                "groups to the tool, if it routes them: permutation_importance does not. If all "
                "rows are one ranking, group_by=one_ranking."
            )
        return self._response(estimator, X, y_ndim), groups

    def _refuse_binned(self, estimator: Any, X: Any) -> None:
        """Raise in the early stopping of HistGradientBoosting, which passes bins as X.

        Its `train_score_` is a list while it is fitted, and an array afterwards.
        """
        reads_ids = self.group_by is not None and self.group_by is not one_ranking
        fitting = isinstance(getattr(estimator, "train_score_", None), list)
        if reads_ids and fitting and getattr(X, "dtype", None) == np.uint8:
            raise ValueError(
                f"{type(estimator).__name__} gives the scorer of its early stopping binned "
                f"features, in which group_by={self.group_by!r} finds bins instead of query ids. "
                "Set scoring='loss' or early_stopping=False in the estimator. To stop early by "
                "this scorer pass it to GroupedRanker(estimator, early_stopping=True, scoring=...)."
            )

    def _refuse_removed(self, X: Any) -> None:
        """Raise if columns of an array are counted where a `GroupedRanker` has removed one.

        Callbacks of scikit-learn 1.9 score X as the estimator inside gets it.
        """
        removed = _removed.get()
        if removed and tool_splits.counts_columns(X, self.group_by):
            raise ValueError(
                f"group_by={self.group_by!r} counts the columns of an X from which GroupedRanker "
                f"has removed the column {', '.join(map(repr, removed))}, and may find another "
                "one: leave this scorer out of callbacks, and score the fitted GroupedRanker."
            )

    def _refuse_values_per_row(self, rankings: Rankings, metadata: Mapping[str, Any]) -> None:
        """Raise if a query's function would get one value for each row of all queries.

        Metadata may have a value for each scored row, but not for each row of the whole X.
        """
        n_rows, longest = rankings.shape[0], rankings.grouping.lengths.max()
        n_all = tool_splits.count_all_rows()
        options: dict[str, Any] = {name: getattr(self, name) for name in self._options}
        for name, value in [*options.items(), *metadata.items()]:
            n = 0 if isinstance(value, str | bytes | Mapping | Set) else _length(value)
            refused = {n_all} - {n_rows} if name in metadata else {n_rows, n_all}
            if n <= longest or n not in refused:
                continue
            function = _checks.name_of(self.score_func)
            raise ValueError(
                f"{name} has {n} values, as there are rows, and {function} would get all of "
                f"them for each query. Leave {name} out of make_query_scorer. With metadata "
                f"routing on, call set_score_request({name}=True), and pass "
                f"params={{{name!r}: {name}}} to the tool; with routing off, pass a function "
                f"of X: scoring=lambda model, X, y: scorer(model, X, y, {name}=X[{name!r}]). "
                "If these are not values of rows, pass a function that returns them."
            )

    def _accept_sample_weight(self) -> bool:
        # scikit-learn 1.7 and later ask this of every scorer in a dict, with routing off
        return True

    def _names(self, measure: Measure) -> list[str]:
        """The name of the score at each cutoff."""
        name: Any = self.name
        if name is None:
            is_metric = isinstance(self.score_func, str)
            name = f"{self.score_func}@{{k}}" if is_metric else measure.name
        if not isinstance(name, str) or (has_several_cutoffs(measure) and not _PREFIX.search(name)):
            raise ValueError(
                f"name must be text, for several cutoffs as in 'ndcg_at_{{k}}'; got {name!r}."
            )
        prefix = _PREFIX.sub(r"\1", name)
        return [prefix if k is None else name.replace("{k}", str(k)) for k in measure.cutoffs]

    def _response(self, estimator: Any, X: Any, y_ndim: int) -> Any:
        """Scores of the rows from the estimator's method, in the shape of y."""
        method = method_of(estimator, self.response_method, y_ndim)
        response = method(estimator, X) if callable(method) else getattr(estimator, method)(X)
        if method == "predict_proba":
            classes = getattr(estimator, "classes_", None)
            if isinstance(response, list) and y_ndim == 2:  # multilabel: an array for each label
                labels = zip(response, classes, strict=True)  # type: ignore[arg-type]
                return np.column_stack([expected_gain(self.measure, *label) for label in labels])
            if y_ndim == 1:
                return expected_gain(self.measure, response, classes)
        return response


def _length(value: object) -> int:
    """The length of an option; 0 if it has none."""
    try:
        return len(value)  # type: ignore[arg-type]
    except TypeError:  # also of an array without dimensions
        return 0


def with_metadata(
    measure: QueryFunction, rankings: Rankings, metadata: Mapping[str, Any]
) -> tuple[QueryFunction, Rankings]:
    """Give what has a value per row to the rows, and the rest to the function."""
    rows = {}
    for name, value in metadata.items():
        if isinstance(value, str) or _length(value) != rankings.shape[0]:
            continue
        values = np.asarray(value)
        if values.shape != rankings.shape:
            raise ValueError(
                f"{name} must have the shape of y, {rankings.shape}, got {values.shape}."
            )
        rows[name] = values.ravel()
    rest = {name: value for name, value in metadata.items() if name not in rows}
    if rest:
        measure = replace(measure, options={**(measure.options or {}), **rest})
    return measure, replace(rankings, columns=rows)


def _set_score_request(self: GroupedScorer[Score], **requests: Request) -> GroupedScorer[Score]:
    """Request metadata for scoring; requests are merged with those that are set.

    Parameters
    ----------
    **requests
        For `groups`, `sample_weight` and, in a scorer of `make_query_scorer`, further parameters of
        `score_func`: True to get what is passed by this name, another name that it is passed by,
        False to ignore it, or None to raise an error if it is passed.

    Returns
    -------
    GroupedScorer
        The scorer itself.
    """
    if not sklearn.get_config()["enable_metadata_routing"]:
        raise RuntimeError(
            "set_score_request needs metadata routing: "
            "sklearn.set_config(enable_metadata_routing=True). With routing off, pass a function "
            "of X: scoring=lambda model, X, y: scorer(model, X, y, ...)."
        )
    others = requests.keys() - {"groups", "sample_weight"}
    if others:
        taken: dict[str, Any] = _further_parameters(self.score_func)
        unknown = sorted(others - taken.keys())
        if unknown and Parameter.VAR_KEYWORD not in taken.values():
            known = ", ".join(["groups", "sample_weight", *taken])
            raise TypeError(f"set_score_request got {', '.join(unknown)}, but can request {known}.")
    routing = self.get_metadata_routing()  # a copy
    for name, request in requests.items():
        routing.score.add_request(param=name, alias=request)
    self._metadata_request = routing
    return self


def _further_parameters(score_func: object) -> dict[str, Any]:
    """The kinds of the parameters of a query's function besides y_true and y_score, by name."""
    if not callable(score_func):
        return {}
    parameters = list(signature(score_func).parameters.values())
    return {parameter.name: parameter.kind for parameter in parameters[2:]}


_set_score_request.__name__ = "set_score_request"
# after the class is made: scikit-learn before 1.9 gives it a method that knows `groups` and
# `sample_weight` alone
GroupedScorer.set_score_request = _set_score_request


def _show_changed_options(init: Any) -> None:
    """Let `repr` leave out options that have their defaults, as those in a signature."""
    own = signature(init)
    options = {
        name: Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for score_func in ("ndcg", "dcg", None)
        for name, default in _defaults_of(score_func).items()
    }
    *parameters, _ = own.parameters.values()
    init.__signature__ = own.replace(parameters=[*parameters, *options.values()])


_show_changed_options(GroupedScorer.__init__)
