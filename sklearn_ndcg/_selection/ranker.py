"""GroupedRanker: any ranker, tuned like a regressor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import utils
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._metrics.inputs import row_weights
from sklearn_ndcg._rows.columns import (
    column_names,
    count_rows,
    group_columns,
    insert_zeros,
    lacking,
    values_by,
    without_columns,
)
from sklearn_ndcg._rows.grouping import Grouping, warn_of_single_documents
from sklearn_ndcg._selection import libraries
from sklearn_ndcg._selection.leaks import TrainedQueries
from sklearn_ndcg._selection.libraries import CATBOOST_COLUMNS, INTERFACES, Params, TrainingRows
from sklearn_ndcg._selection.scorers import GroupedScorer, make_ndcg_scorer
from sklearn_ndcg._selection.stopping import check_scoring, fit_until_best

Validation = Literal["random", "last"]


def _inner_has(name: str) -> Callable[[Any], bool]:
    # getattr raises if the method is missing
    return lambda ranker: bool(getattr(getattr(ranker, "estimator_", ranker.estimator), name))


class GroupedRanker(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Tune any ranker like a regressor: with one query id per row, in any order.

    Each library takes queries in its own form: LightGBM as sizes, which no splitter can slice,
    XGBoost as ids in ascending order, CatBoost as `group_id`; and metadata can be routed only to
    the first two. This meta-estimator takes ids as scikit-learn does, sorts the rows by them (the
    rows of a query keep their order) and passes them to the inner `fit` as `qid`, `group_id` or
    `group`, the first parameter that it has. An estimator without such a parameter, such as a
    regressor or classifier, is fitted as usual and needs no ids.

    Parameters
    ----------
    estimator : estimator or Pipeline
        The ranker. In a Pipeline the last step gets the groups.

    group_by : str, int, callable or list of names, default=None
        Where in X the query ids are, as in `make_ndcg_scorer`: a column, which is removed from the
        features in `fit` and `predict`; a level of a pandas index; or a callable on X. Takes
        precedence over `groups`. With None, pass `groups` to `fit`.

    order_by : str, int or callable, default=None
        What orders the queries for ``validation="last"``, by the smallest value of their rows, as
        in `QuerySplitter`. None is the order of their ids. A column is removed from the features
        too.

    k : int or None, default=None
        Cutoff of `score` and of early stopping without `scoring`. None counts whole lists.

    max_queries : int or None, default=None
        Train on at most this number of whole queries, drawn by `random_state`. As the resource of
        `HalvingGridSearchCV`, or in `validation_curve`, it grows training sets by whole queries. A
        halving search refits its best estimator with the last value of it, too.

    early_stopping : bool, default=False
        Whether to hold out a fraction of the queries and to stop when their score, by `scoring` or
        the library's own NDCG@k, has not improved for `n_iter_no_change` rounds. The library's gain
        is exponential in LightGBM (unless `label_gain` says otherwise) and XGBoost (unless
        ``ndcg_exp_gain=False``), linear in CatBoost.

    scoring : GroupedScorer, default=None
        The scorer for early stopping, from `make_ndcg_scorer` or `make_dcg_scorer` with a single
        cutoff; not used without `early_stopping`. It uses the query ids of the ranker. It works
        with rankers, regressors and classifiers of LightGBM, XGBoost and CatBoost, and with other
        estimators that have `staged_predict` and `n_estimators` or `max_iter`, such as
        `HistGradientBoostingRegressor`. CatBoost and these others fit all rounds first; the others
        are then fitted again, up to the best round. None is the library's own NDCG@k, only for
        rankers of LightGBM, XGBoost and CatBoost.

    validation : {"random", "last"}, default="random"
        Which queries are held out: some drawn by `random_state`, or the last by `order_by`, such as
        the latest days, so that training uses earlier ones only.

    validation_fraction : float, default=0.1
        The fraction of queries to hold out, between 0 and 1; at least one query.

    n_iter_no_change : int, default=10
        Rounds without improvement before training stops, unless all rounds are fitted.

    random_state : int, RandomState instance or None, default=None
        Draws the queries for `max_queries` and those to hold out. With None every fit draws
        different queries, so that the candidates of one search stop on different ones: pass an int.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone of `estimator`.

    best_iteration_ : int
        The best round, as the library counts (XGBoost and CatBoost from 0, others from 1). With
        `scoring` it is the first round with the highest score on the held-out queries, among all
        rounds or, in LightGBM and XGBoost, those before training stopped. Only with
        `early_stopping`.

    query_ids_ : ndarray
        Sorted ids of the training queries, including those held out. Scoring other rows of these
        queries gives a `QueryLeakWarning`.

    feature_importances_, coef_ : ndarray
        Those of the inner estimator, if it has them, in the order of `feature_names_in_`; 0 for
        columns of `group_by` and `order_by`. Not for a Pipeline that transforms the columns.

    classes_ : ndarray
        Those of the inner estimator, if it has them.

    n_features_in_ : int
        Number of columns of X in `fit`, including those of `group_by` and `order_by`.

    feature_names_in_ : ndarray
        Names of the columns of X in `fit`, including those of `group_by` and `order_by`.

    See Also
    --------
    make_ndcg_scorer : Makes a scorer by query for searches.

    Examples
    --------
    A search over a LightGBM ranker, like any other search:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from sklearn_ndcg import GroupedRanker, make_ndcg_scorer
    >>> rng = np.random.default_rng(0)
    >>> query = rng.permutation(np.repeat(np.arange(30), 8))
    >>> X = pd.DataFrame(rng.normal(size=(240, 2)), columns=["a", "b"]).assign(query=query)
    >>> y = np.clip(np.round(X["a"] + rng.normal(size=240)), 0, 3)
    >>> try:
    ...     from lightgbm import LGBMRanker
    ...     ranker, grid = LGBMRanker(verbose=-1), {"estimator__num_leaves": [3, 7]}
    ... except ImportError:
    ...     ranker, grid = Ridge(), {"estimator__alpha": [1, 10]}
    >>> search = GridSearchCV(
    ...     GroupedRanker(ranker, group_by="query"),
    ...     grid,
    ...     scoring=make_ndcg_scorer(k=5, group_by="query", undefined="omit"),
    ...     cv=GroupKFold(n_splits=3),
    ... )
    >>> bool(search.fit(X, y, groups=query).best_score_ > 0.6)
    True
    """

    best_iteration_: int

    # CatBoost's can be requested here, as CatBoost has no requests of its own
    __metadata_request__fit: ClassVar = {"groups": True} | dict.fromkeys(CATBOOST_COLUMNS)
    __metadata_request__score: ClassVar = {"groups": True}

    def __init__(
        self,
        estimator: Any,
        *,
        group_by: Any = None,
        order_by: Any = None,
        k: int | None = None,
        max_queries: int | None = None,
        early_stopping: bool = False,
        scoring: GroupedScorer | None = None,
        validation: Validation = "random",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.group_by = group_by
        self.order_by = order_by
        self.k = k
        self.max_queries = max_queries
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation = validation
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        **fit_params: Any,
    ) -> GroupedRanker:
        """Fit the inner estimator on rows sorted by query.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            Features, with the columns that `group_by` and `order_by` name.

        y : array-like of shape (n_documents,)
            Relevance.

        sample_weight : array-like of shape (n_documents,), default=None
            Weights >= 0, one per row. XGBoost and CatBoost get one per query: the mean of its rows.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row, in any order. Ignored if `group_by` is set.

        **fit_params
            Passed to the inner `fit`; in a Pipeline, to the last step's. Those with one value per
            row (`init_score`, `base_margin`, `baseline`, ...) are sorted and split with the rows.
            With metadata routing on, steps of a Pipeline and an inner search get what they request,
            also `groups` and `sample_weight`.

        Returns
        -------
        GroupedRanker
            The fitted ranker.

        Raises
        ------
        ValueError
            If ids are needed but not found, or are sizes, missing or of another length; if an
            encoder or a cast has changed the ids in a column; if training cannot be stopped early;
            if a fit parameter cannot follow the rows or columns; if the inner estimator refuses the
            labels.

        TypeError
            If `estimator` is not an estimator; if `scoring` is not a `GroupedScorer`.

        Warns
        -----
        UserWarning
            If most training queries have a single document, if a column has one id for all rows, or
            if the last queries are held out in the order of text ids.

        UndefinedMetricWarning
            If `scoring` warns of held-out queries without a relevant document.
        """
        self._check_parameters()
        X, y, groups, weight = self._check_data(X, y, groups, sample_weight, fit_params)
        inner = self._clone_estimator()
        last = libraries.last_step(inner)
        self._check_groups(groups, last, fit_params)
        times = values_by(X, self.order_by, None, y, "order_by")
        _checks.refuse_reordered(X=X, order_by=times)
        self._group_columns = group_columns(X, self.group_by, self.order_by)
        self._columns = column_names(X) or []
        transforms = isinstance(inner, Pipeline) and len(inner.steps) > 1
        grouping = None if groups is None else Grouping.of_ids(groups, len(y))
        fit_params, metadata, weight = libraries.route(self, grouping, weight, fit_params)
        libraries.check_fit_params(
            fit_params, last, self._group_columns, self.early_stopping or transforms
        )
        train, held_out = self._split_rows(X, y, grouping, weight, fit_params, metadata, times)
        self._warn_of_grouping(X, grouping, last)
        if isinstance(inner, Pipeline):
            train, held_out = libraries.fit_transformers(inner, train, held_out)

        params = libraries.params_of_fit(last, train, {**fit_params, **train.aligned})
        with libraries.explaining_label_errors(last, y):
            if held_out is None:
                last.fit(train.X, train.y, **params)
            else:
                self.best_iteration_ = fit_until_best(self, last, train, held_out, params)
        self.estimator_ = inner
        return self

    def predict(self, X: Any) -> Any:
        """Predict with the inner estimator: for a ranker, scores to sort each query by.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            Features, with the same columns as in `fit`, in the same order. If columns have names,
            those of `group_by` and `order_by` may be missing.

        Returns
        -------
        ndarray of shape (n_documents,)
            Predictions in the order of the rows of X.

        Raises
        ------
        ValueError
            If X has other columns than in `fit`.
        """
        return self._call_inner("predict", X)

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of the inner classifier.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_documents, n_classes)
            Columns in the order of `classes_`.
        """
        return self._call_inner("predict_proba", X)

    @available_if(_inner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Decision function of the inner classifier.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_documents,) or (n_documents, n_classes)
            As the inner estimator returns it.
        """
        return self._call_inner("decision_function", X)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> float:
        """Score by NDCG@k per query; an inner classifier ranks by its probabilities.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            As in `predict`.

        y : array-like of shape (n_documents,)
            Relevance.

        sample_weight : array-like of shape (n_documents,), default=None
            Weights; a query weighs the mean of its rows.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row. Ignored if `group_by` says where in X they are.

        Returns
        -------
        float
            ``ndcg_score(y, scores, groups=groups, k=k)``.
        """
        self._features(X)  # raises if X is not as in fit
        groups = values_by(X, self.group_by, groups, y)  # before y loses its index
        scorer = make_ndcg_scorer(k=self.k)
        y = utils.column_or_1d(y, warn=True)
        return float(scorer(self, X, y, sample_weight, groups=groups))  # type: ignore[arg-type]

    @property
    def feature_importances_(self) -> Any:
        return self._per_feature("feature_importances_")

    @property
    def coef_(self) -> Any:
        return self._per_feature("coef_")

    def _per_feature(self, name: str) -> Any:
        """An array of the inner estimator, with 0 for the group columns."""
        if isinstance(self.estimator_, Pipeline) and len(self.estimator_.steps) > 1:
            raise AttributeError(f"{name} is about the Pipeline's columns, not those of X.")
        inner = libraries.last_step(self.estimator_)
        values = np.asarray(getattr(inner, name))
        # CatBoost's are None in rankers, and those of all rounds in a model that was cut
        if hasattr(inner, "get_feature_importance"):
            values = np.asarray(inner.get_feature_importance(type="PredictionValuesChange"))
        return insert_zeros(values, self._group_columns, self._columns, self.n_features_in_)

    @property
    def classes_(self) -> Any:
        classes = self.estimator_.classes_
        if np.size(classes) == 0:  # CatBoost's rankers have the attribute, and no classes
            raise AttributeError(f"{type(self.estimator_).__name__} has no classes.")
        return classes

    def get_metadata_routing(self) -> Any:
        """Get the requests for metadata: `groups`, and what the inner estimators request in `fit`.

        Returns
        -------
        MetadataRouter
            Requests of `fit` and `score`, and those of the steps of a Pipeline, or of a search.
        """
        requests = super().get_metadata_routing()
        last = libraries.last_step(self.estimator)
        known = signature(last.fit).parameters if hasattr(last, "fit") else {}
        for name in CATBOOST_COLUMNS:
            if name not in known:
                requests.fit.requests.pop(name, None)
        router = libraries.routing_of(self.estimator, type(self).__name__)
        return router.add_self_request(requests)

    def __sklearn_tags__(self) -> utils.Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type):
            inner = utils.get_tags(self.estimator)
            tags.estimator_type = inner.estimator_type
            tags.classifier_tags = inner.classifier_tags
            tags.input_tags = inner.input_tags
            tags.non_deterministic = inner.non_deterministic
        # rankers of LightGBM and XGBoost have no estimator type
        tags.estimator_type = tags.estimator_type or "regressor"
        if tags.estimator_type == "regressor":
            # an NDCG needs relevance >= 0
            tags.regressor_tags = utils.RegressorTags(poor_score=True)
        tags.target_tags.required = True
        return tags

    def _check_parameters(self) -> None:
        estimator = libraries.last_step(self.estimator)
        # stacked and voting estimators have predict only when fitted, but their class always has it
        predicts = hasattr(type(estimator), "predict") or hasattr(estimator, "predict")
        if not hasattr(estimator, "fit") or not predicts or isinstance(estimator, type | Pipeline):
            raise TypeError(
                "estimator must be an estimator with fit and predict, or a Pipeline that ends in "
                f"one (not in another Pipeline), got {estimator!r}."
            )
        for name, or_none in (("k", True), ("max_queries", True), ("n_iter_no_change", False)):
            value: Any = getattr(self, name)
            if not (or_none if value is None else _checks.is_integer(value) and value >= 1):
                needed = "an integer >= 1" + " or None" * or_none
                raise ValueError(f"{name} must be {needed}, got {value!r}.")
        _checks.check_choice("validation", self.validation, get_args(Validation))
        if not isinstance(self.early_stopping, bool | np.bool_):
            raise ValueError(f"early_stopping must be True or False, got {self.early_stopping!r}.")
        check_scoring(self.scoring, self.group_by)
        part: Any = self.validation_fraction
        if not _checks.is_number(part) or not 0 < part < 1:
            raise ValueError(f"validation_fraction must be a number between 0 and 1, got {part!r}.")

    def _check_data(
        self, X: Any, y: Any, groups: Any, sample_weight: Any, fit_params: Params
    ) -> tuple[Any, NDArray[Any], Any, Floats | None]:
        if X is None:
            raise ValueError("X is None: pass the features, one row per document.")
        _checks.refuse_masked(y, "y")
        groups = values_by(X, self.group_by, groups, y)
        n = count_rows(X)
        aligned = {k: v for k, v in fit_params.items() if libraries.is_aligned(k, v, n)}
        _checks.refuse_reordered(X=X, y=y, groups=groups, sample_weight=sample_weight, **aligned)
        X, y = validate_data(self, X, y, skip_check_array=True)
        y = utils.column_or_1d(y, warn=True)
        utils.check_consistent_length(X, y)
        if y.dtype.kind == "O":
            missing = np.array([_checks.is_missing(label) for label in y.tolist()])
        else:
            missing = y != y  # noqa: PLR0124  (NaN and NaT)
        if missing.any():
            raise ValueError(
                f"y has {_checks.count_of(missing, 'NaN')}. Leave rows with NaN out, or set their "
                "relevance to 0 if they are not relevant."
            )
        weight = None if sample_weight is None else row_weights(sample_weight, len(y))
        if weight is not None and not weight.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
        return X, y, groups, weight

    def _check_groups(self, groups: Any, last: Any, fit_params: Params) -> None:
        misnamed = [each.name for each in INTERFACES if each.name in fit_params]
        if groups is None and misnamed:
            raise ValueError(
                f"{', '.join(misnamed)} was passed instead of groups: pass groups=, one id per "
                "row, to any ranker. To turn sizes into ids: np.repeat(np.arange(len(sizes)), "
                "sizes)."
            )
        interface = libraries.interface_of(last)
        if groups is not None or not (interface or self.early_stopping):
            return
        what = f"{type(last).__name__}.fit" if interface else "early_stopping=True"
        raise ValueError(
            f"groups is missing, but {what} needs to know the queries. Pass groups=, one id "
            "per row, or say with group_by= where in X they are. A search passes groups on if "
            "sklearn.set_config(enable_metadata_routing=True) is set; a Pipeline takes them with "
            "the name of the step, as groupedranker__groups=."
        )

    def _clone_estimator(self) -> Any:
        try:
            return clone(self.estimator)
        except RuntimeError as error:
            given: Params = getattr(libraries.last_step(self.estimator), "get_params", dict)()
            lists = [name for name in CATBOOST_COLUMNS if isinstance(given.get(name), list)]
            if lists:
                error.add_note(f"{', '.join(lists)} is a list: pass a tuple, or pass it to fit.")
            raise

    def _call_inner(self, method: str, X: Any) -> Any:
        features = self._features(X)  # first, as it raises if nothing is fitted
        return getattr(self.estimator_, method)(features)

    def _features(self, X: Any) -> Any:
        """X without the group columns, which it may lack already."""
        check_is_fitted(self)
        if len(getattr(X, "shape", (0, 0))) == 1:
            raise ValueError(
                "X must be 2-D, one row per document, got 1-D. Reshape your data: X.reshape(-1, 1) "
                "for a single feature, X.reshape(1, -1) for a single document."
            )
        columns = self._group_columns
        missing = lacking(X, columns, self._columns, self.n_features_in_)
        if not missing:
            validate_data(self, X, reset=False, skip_check_array=True)
        return without_columns(X, [key for key in columns if key not in missing])

    def _warn_of_grouping(self, X: Any, grouping: Grouping | None, last: Any) -> None:
        """Warn if ids that affect training do not look like query ids."""
        if grouping is None:
            return
        n_queries = len(grouping.labels)
        if libraries.interface_of(last) or self.early_stopping or self.max_queries is not None:
            warn_of_single_documents(grouping.n_single, n_queries)
        if n_queries == 1 and group_columns(X, self.group_by):
            _checks.warn(
                f"group_by={self.group_by!r} finds a single query in all {grouping.lengths[0]} "
                "rows. If an encoder gave all ids one value, move them to an index level, or put "
                "GroupedRanker around the Pipeline."
            )

    def _split_rows(
        self,
        X: Any,
        y: NDArray[Any],
        grouping: Grouping | None,
        weight: Floats | None,
        fit_params: Params,
        metadata: Params,
        times: Any,
    ) -> tuple[TrainingRows, TrainingRows | None]:
        """Training rows, sorted by query, and held-out rows.

        Parameters with a value for each row are moved from `fit_params` to these.
        """
        n = len(y)
        names = [name for name, value in fit_params.items() if libraries.is_aligned(name, value, n)]
        aligned = {name: fit_params.pop(name) for name in names}
        features = without_columns(X, self._group_columns)
        rows = TrainingRows(features, y, weight, np.array([n]), aligned, metadata)
        for name in ("query_ids_", "_trained_queries", "best_iteration_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if grouping is None:
            return rows, None
        drawn, held_out = self._draw_queries(grouping, times)
        self._trained_queries = TrainedQueries.of(grouping, y, drawn)
        self.query_ids_ = self._trained_queries.labels
        if not self.early_stopping and drawn.all() and grouping.is_in_order:  # nothing is copied
            return replace(rows, lengths=grouping.lengths), None

        order = grouping.row_order()
        train = rows.take_queries(drawn & ~held_out, grouping.lengths, order)
        stops = self.early_stopping
        return train, rows.take_queries(held_out, grouping.lengths, order) if stops else None

    def _draw_queries(
        self, grouping: Grouping, times: Any
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which queries are used, and which of these are held out from training."""
        n_queries = len(grouping.labels)
        generator = utils.check_random_state(self.random_state)
        drawn, held_out = np.ones(n_queries, dtype=bool), np.zeros(n_queries, dtype=bool)
        if self.max_queries is not None and self.max_queries < n_queries:
            drawn[generator.permutation(n_queries)[self.max_queries :]] = False
        if not self.early_stopping:
            return drawn, held_out
        n_drawn = int(drawn.sum())
        n_held_out = max(1, round(self.validation_fraction * n_drawn))
        if n_held_out >= n_drawn:
            raise ValueError(
                f"early_stopping=True would hold out {n_held_out} of {n_drawn} queries and leave "
                "none to train on: pass more queries, or a smaller validation_fraction."
            )
        orders: dict[str, Callable[[], Ints]] = {
            "random": lambda: np.flatnonzero(drawn)[generator.permutation(n_drawn)],
            "last": lambda: grouping.in_order(times, "validation='last'")[0][::-1],
        }
        order = orders[self.validation]()
        held_out[order[drawn[order]][:n_held_out]] = True
        return drawn, held_out
