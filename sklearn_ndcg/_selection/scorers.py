"""Scorers that know which query a row belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Unpack

import numpy as np
import sklearn.metrics
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.metadata_routing import UNUSED

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Undefined
from sklearn_ndcg._metrics.choices import known_options
from sklearn_ndcg._metrics.measure import (
    DCG,
    NDCG,
    DCGOptions,
    Measure,
    NDCGOptions,
)
from sklearn_ndcg._metrics.metrics import dcg_score, ndcg_score
from sklearn_ndcg._metrics.query_function import QueryFunction
from sklearn_ndcg._metrics.rankings import rankings_of
from sklearn_ndcg._rows import columns
from sklearn_ndcg._rows.containers import shape_of_rows
from sklearn_ndcg._rows.labels import refuse_reordered
from sklearn_ndcg._selection import leaks, responses
from sklearn_ndcg._selection.responses import ResponseMethod

_OF_ALL_QUERIES = (dcg_score, ndcg_score, sklearn.metrics.dcg_score, sklearn.metrics.ndcg_score)


class DCGScorerOptions(DCGOptions, total=False):
    """The options of `dcg_score`, except its cutoff: keyword arguments of `make_dcg_scorer`."""

    log_base: float


def make_ndcg_scorer(
    *,
    k: Cutoff = None,
    group_by: Any = None,
    response_method: ResponseMethod = "auto",
    **options: Unpack[NDCGOptions],
) -> GroupedScorer:
    """Make a scorer of NDCG per query, for `GridSearchCV`, `cross_val_score` and similar tools.

    The query id of each row comes from one of two places. With metadata routing on, the ids are the
    `groups` that you pass to the tool (``search.fit(X, y, groups=q)``), which go to the splitter
    as well; the scorer's request for them is preset. With routing off, scikit-learn's default,
    `group_by` says where in X they are.

    A scorer without ids raises an error: a fold is never taken for a single query by accident.

    Parameters
    ----------
    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. See `ndcg_score`. For several cutoffs pass a dict of
        scorers to the tool:
        ``{f"ndcg@{k}": make_ndcg_scorer(k=k, group_by="query") for k in (1, 5, 10)}``.

    group_by : str, callable or list of names, default=None
        Where the query ids are: a column of X (pandas, polars, pyarrow), a level of a pandas index
        (recommended: it is not a feature, and slicing keeps it), or a callable that gets X and
        returns one id per row. With a list of columns or levels each distinct combination is a
        query. If X is an array, a level is taken from the index of y. Takes precedence over routed
        `groups`. Pass `one_ranking` if all rows are one ranking.

    response_method : str, sequence of str or callable, default="auto"
        Scores come from the first of these methods that the estimator has, or from a callable,
        ``response_method(estimator, X)``. "auto" takes a classifier's probabilities as the expected
        gain, ``predict_proba(X) @ gain(classes_)``, rounded to 40 bits so that documents of equal
        expected gain tie; without probabilities, a binary classifier's `decision_function`; and
        `predict` of other estimators. What does not say which kind of estimator it is, and has
        `predict_proba` and several `classes_`, is a classifier.

    **options
        Further keyword arguments of `ndcg_score`: `gain`, `discount`, `ties`, `ignore_ties`,
        `unjudged`, `undefined`.

    Returns
    -------
    GroupedScorer
        A callable ``scorer(estimator, X, y, sample_weight=None, *, groups=None)`` that returns a
        float, larger is better. Each call makes a new scorer, so that
        ``set_score_request(groups="session")``, for example, does not change others.

    Raises
    ------
    TypeError
        If an option is not a keyword argument of `ndcg_score`.

    ValueError
        If an option has a value that `ndcg_score` does not take. While scoring (searches show it
        with ``error_score="raise"``), if no ids are found, and for clusterers and outlier
        detectors, which predict labels.

    Warns
    -----
    QueryLeakWarning
        If a split of one of scikit-learn's tools cuts queries; once for each fold.

    UserWarning
        If the column of ids is a feature of the estimator, alone or in a Pipeline; if an estimator
        with `predict_proba` has no `classes_`, so that `predict` is scored.

    UndefinedMetricWarning
        As in `ndcg_score`; and if the score is nan because ``undefined="omit"`` left out every
        query of a fold. In scikit-learn's tools once for each fold.

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
    return _make(NDCG(k=k, **checked), group_by, response_method)


def make_dcg_scorer(
    *,
    k: Cutoff = None,
    group_by: Any = None,
    response_method: ResponseMethod = "auto",
    **options: Unpack[DCGScorerOptions],
) -> GroupedScorer:
    """Make a scorer of DCG per query: `make_ndcg_scorer` without the division by the ideal.

    Parameters
    ----------
    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. See `dcg_score`.

    group_by : str, callable or list of names, default=None
        Where in X the query ids are: a column, an index level, or what a callable returns.

    response_method : str or sequence of str, default="auto"
        Scores come from the first of these methods that the estimator has.

    **options
        Further keyword arguments of `dcg_score`: `gain`, `discount`, `log_base`, `ties`,
        `ignore_ties`, `unjudged`.

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
    GroupedScorer(group_by='query', measure=DCG(k=10, gain='exponential'))
    """
    checked = _scorer_options(make_dcg_scorer, options, DCGScorerOptions)
    return _make(DCG(k=k, **checked), group_by, response_method)


def make_query_scorer(
    score_func: Callable[..., Any],
    *,
    group_by: Any = None,
    response_method: ResponseMethod = "auto",
    greater_is_better: bool = True,
    undefined: Undefined = "warn",
    **kwargs: Any,
) -> GroupedScorer:
    """Make a scorer of any metric per query: scikit-learn's `make_scorer` for queries.

    It calls `score_func` once for each query, with the rows of that query, and takes the mean.

    Parameters
    ----------
    score_func : callable
        A metric, ``score_func(y_true, y_score, **kwargs)``, that returns a number, such as
        `sklearn.metrics.average_precision_score` or a function of your own. It gets arrays with the
        relevance and the scores of one query.

    group_by : str, callable or list of names, default=None
        Where in X the query ids are: a column, an index level, or what a callable returns. None:
        pass `groups` to the tool, with metadata routing on.

    response_method : str, sequence of str or callable, default="auto"
        Where scores come from, as in `make_ndcg_scorer`. With "auto" those of a classifier are the
        expected class, ``predict_proba(X) @ classes_``: of 0 and 1, the probability of 1.

    greater_is_better : bool, default=True
        Whether larger values are better. If not, the score is the negative mean. The 0.0 of an
        undefined query is then the best value of many metrics: choose `undefined`.

    undefined : {"warn", "omit", "raise"} or float, default="warn"
        What a query counts for which `score_func` returns nan, such as `roc_auc_score` for a
        single class: 0.0 with a warning, nothing, an error, or this number.

    **kwargs
        Further keyword arguments of `score_func`, the same for all queries.

    Returns
    -------
    GroupedScorer
        A callable ``scorer(estimator, X, y, sample_weight=None, *, groups=None)``. Weights are
        those of queries in the mean: `score_func` does not get them.

    Raises
    ------
    TypeError
        If `score_func` is not a function of y_true and y_score, or does not take an option.

    ValueError
        If `score_func` does not return one number, and as in `make_ndcg_scorer`. Errors of
        `score_func` are not caught.

    Warns
    -----
    UserWarning
        As in `make_ndcg_scorer`.

    UndefinedMetricWarning
        If `score_func` is undefined for some queries.

    Notes
    -----
    scikit-learn's `average_precision_score` returns 0.0 for a query without a positive: here it is
    undefined. A function of your own around it must return nan there itself. Metrics of
    scikit-learn with `zero_division` (precision, recall, F) get nan for it unless you pass it, but
    `jaccard_score`, which takes no nan.

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
    measure = QueryFunction(
        function=score_func,
        options=kwargs or None,
        greater_is_better=greater_is_better,
        undefined=undefined,
    )
    return _make(measure, group_by, response_method)


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


def _make(measure: Measure, group_by: Any, response_method: ResponseMethod) -> GroupedScorer:
    # both raise if it is not valid; they are called again when the scorer scores
    columns.check_names(group_by)
    responses.methods_in(response_method)
    return GroupedScorer(measure, group_by=group_by, response_method=response_method)


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


class GroupedScorer(BaseEstimator):  # type: ignore[misc]
    """A scorer per query, of `make_ndcg_scorer`, `make_dcg_scorer` or `make_query_scorer`.

    Call it, or its `score`, with a fitted estimator.

    Parameters
    ----------
    measure : NDCG, DCG or QueryFunction
        What is computed for each query. It does not change: to score by another, make a scorer, or
        pass the measure of one to `set_params`.

    group_by : str, callable or list of names, default=None
        Where in X the query ids are, as in `make_ndcg_scorer`.

    response_method : str, sequence of str or callable, default="auto"
        Where the scores come from, as in `make_ndcg_scorer`.

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
    >>> scorer = make_ndcg_scorer(k=3, group_by="query")
    >>> scorer
    GroupedScorer(group_by='query', measure=NDCG(k=3))
    >>> scorer = scorer.set_params(measure=make_ndcg_scorer(k=1).measure, group_by=None)
    >>> X, y, query = np.zeros((4, 1)), [1, 0, 0, 1], ["a", "a", "b", "b"]
    >>> scorer(DummyRegressor().fit(X, y), X, y, groups=query)
    0.5
    """

    # otherwise notebooks would show it as "not fitted"
    _repr_html_: Any = None
    _repr_mimebundle_: Any = None
    # `groups` is requested from the start; `estimator` is an argument of `score`, not metadata
    __metadata_request__score: ClassVar = {"estimator": UNUSED, "groups": True}

    def __init__(
        self, measure: Measure, *, group_by: Any = None, response_method: ResponseMethod = "auto"
    ) -> None:
        self.measure = measure
        self.group_by = group_by
        self.response_method: ResponseMethod = response_method

    @property
    def __name__(self) -> str:
        # what scikit-learn's curve displays label their axis with
        name, k = self.measure.name, self.measure.k
        return name if k is None else f"{name}@{k}"

    def score(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> float:
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
            Weights >= 0. The weight of a query is the mean weight of its rows.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row. Ignored if `group_by` says where in X they are.

        Returns
        -------
        float
            The score; larger is better.
        """
        y_score, groups = self.scores_and_groups(estimator, X, y, groups)
        rankings = rankings_of(y, y_score, groups, sample_weight, sort_ids=False)
        values = rankings.evaluate(self.measure)
        leaks.warn_if_ids_are_a_feature(estimator, X, self.group_by)
        requested = self.get_metadata_routing().score.requests["groups"]
        test_set = leaks.look_at_split(rankings.grouping, self.group_by, requested)
        mean = values.mean()
        if not values.undefined.any():
            return mean
        # warnings are given once for each fold, errors always
        is_news = test_set is None or leaks.is_news(repr(self.measure.undefined_rule), test_set)
        if is_news or self.measure.undefined_rule.raises:
            values.report_undefined()
        if is_news and np.isnan(mean):
            _checks.warn(
                "The score is nan, as it is undefined for all queries of the fold and "
                "undefined='omit' leaves these out. In a search all candidates are ranked first, "
                "whatever error_score is. Use fewer or stratified folds, or undefined=0.",
                UndefinedMetricWarning,
            )
        return mean

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
        groups = columns.values_by(X, self.group_by, groups, y)
        refuse_reordered(X=X, y=y, groups=groups)
        shape = np.shape(y)
        y_ndim = len(shape if groups is None else shape_of_rows(shape))
        if groups is None and y_ndim == 1:
            raise ValueError(
                "The scorer got no groups, so it is not known which rows are one query. Pass "
                "group_by: a column of X, a level of its pandas index or a callable. Or, with "
                "metadata routing on (sklearn.set_config(enable_metadata_routing=True)), pass "
                "groups to the tool, if it routes them: permutation_importance does not. If all "
                "rows are one ranking, group_by=one_ranking."
            )
        y_score = responses.scores_of(estimator, X, y_ndim, self.response_method, self.measure)
        return y_score, groups

    def _accept_sample_weight(self) -> bool:
        # scikit-learn 1.7 and later ask this of every scorer in a dict, with routing off
        return True
