"""GroupedRanker: any ranker, tuned like a regressor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn import utils
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Ints
from sklearn_ndcg._metrics import inputs
from sklearn_ndcg._rows import columns
from sklearn_ndcg._rows.containers import Column, Table
from sklearn_ndcg._rows.grouping import (
    Grouping,
    warn_of_equal_relevance,
    warn_of_single_documents,
)
from sklearn_ndcg._rows.labels import refuse_reordered
from sklearn_ndcg._selection import libraries, refusals, stopping
from sklearn_ndcg._selection.libraries import (
    Array,
    Estimator,
    GroupBy,
    OrderBy,
    Params,
    QueryRows,
    Seed,
)
from sklearn_ndcg._selection.scorers import make_ndcg_scorer

Validation = Literal["random", "last"]


def _inner_has(name: str) -> Callable[[GroupedRanker], bool]:
    # raises if the method is missing
    return lambda ranker: bool(getattr(getattr(ranker, "estimator_", ranker.estimator), name))


class GroupedRanker(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Tune any ranker like a regressor: with one query id per row, in any order.

    Queries are passed to the inner `fit` as its `qid`, `group_id` or `group`, in the order of their
    first rows. Rows that are not together yet are moved to their query, in their order, so the
    model is the one that the library alone learns from these rows. Estimators without such a
    parameter need no ids, and get the rows as they are, unless queries are drawn or held out.

    Parameters
    ----------
    estimator : estimator or Pipeline
        The ranker, regressor or classifier; in a Pipeline, the last step.

    group_by : str, callable or list of names, default=None
        Where in X the query ids are, as in `make_ndcg_scorer`. A column of ids is removed: it is
        not a feature. A callable removes no column. None: pass `groups` to `fit`.

    order_by : str or callable, default=None
        What orders the queries for ``validation="last"``, as in `QuerySplitter`; such a
        column is not used as a feature, either. None is the order of the ids.

    k : int or None, default=None
        Cutoff: only the first `k` ranks count. It is that of `score` and of early stopping. None
        counts all of them.

    max_queries : int or None, default=None
        The number of whole queries to train on, drawn by `random_state` from the queries in the
        order of their first rows: the resource of a `HalvingGridSearchCV`, which refits with its
        last value, or of a `validation_curve`.

    early_stopping : bool, default=False
        Whether to hold out queries and to stop when their NDCG@k has not improved for
        `n_iter_no_change` rounds. It is the NDCG of the library (LightGBM, XGBoost or CatBoost),
        whose gain is linear in CatBoost, otherwise exponential (unless by `label_gain` or
        `ndcg_exp_gain`).

    validation : {"random", "last"}, default="random"
        How the held-out queries are chosen: at random, as for `max_queries`, or the last by
        `order_by`.

    validation_fraction : float, default=0.1
        The fraction of queries to hold out, between 0 and 1; at least one query.

    n_iter_no_change : int, default=10
        Rounds without improvement before training stops, unless all rounds are fitted.

    random_state : int, RandomState instance or None, default=None
        Draws queries. With None the candidates of a search get different ones: pass an int. The
        inner estimator has a `random_state` of its own, which this one does not set.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone of `estimator`.

    best_iteration_ : int
        With `early_stopping`, the first best round, as the library counts (XGBoost and CatBoost
        from 0, others from 1).

    feature_importances_, coef_, classes_ : ndarray
        Those of the inner estimator, if it has them. The first two have a 0 for columns of
        `group_by` and `order_by`, and are missing for a Pipeline that transforms columns.

    n_features_in_, feature_names_in_ : int, ndarray
        Number and names of the columns of X in `fit`, with those of `group_by` and `order_by`.

    Notes
    -----
    In the first round of boosting all scores are equal, and LightGBM, XGBoost and CatBoost break
    these ties by the order of rows. So the order of rows within a query changes what they learn,
    and a small difference between two models may be due to it alone. The order of the queries
    changes nothing in LightGBM, nor in XGBoost with ``tree_method="exact"``. It changes what
    CatBoost learns and, from some ten thousand rows on, XGBoost. The names of the queries change
    nothing, unless ``validation="last"`` holds out the last of them.

    Numbers of columns in parameters of the estimator, such as ``categorical_features=[1]``, count
    the columns that arrive at it: those of X without the ones that `group_by` and `order_by` name.

    Examples
    --------
    A search over a ranker, such as `lightgbm.LGBMRanker`, is like any other search:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn_ndcg import GroupedRanker, QuerySplitter, make_ndcg_scorer
    >>> rng = np.random.default_rng(0)
    >>> query = pd.Index(np.repeat(np.arange(30), 8), name="query")
    >>> X = pd.DataFrame(rng.normal(size=(240, 2)), query, columns=["a", "b"])
    >>> y = np.clip(np.round(X["a"] + rng.normal(size=240)), 0, 3)
    >>> ranker, cv = GroupedRanker(Ridge(), group_by="query"), QuerySplitter(3, group_by="query")
    >>> scorer = make_ndcg_scorer(k=5, group_by="query", undefined="omit")
    >>> search = GridSearchCV(ranker, {"estimator__alpha": [1, 10]}, scoring=scorer, cv=cv)
    >>> bool(search.fit(X, y).best_score_ > 0.6)
    True
    """

    estimator_: Estimator
    n_features_in_: int
    best_iteration_: int

    __metadata_request__fit: ClassVar = {"groups": True}
    __metadata_request__score: ClassVar = {"groups": True}

    def __init__(
        self,
        estimator: Any,
        *,
        group_by: GroupBy = None,
        order_by: OrderBy = None,
        k: int | None = None,
        max_queries: int | None = None,
        early_stopping: bool = False,
        validation: Validation = "random",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.group_by = group_by
        self.order_by = order_by
        self.k = k
        self.max_queries = max_queries
        self.early_stopping = early_stopping
        self.validation = validation
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        **fit_params: Any,
    ) -> GroupedRanker:
        """Fit the inner estimator, with the rows of a query together if it learns from queries.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            Features, with the columns that `group_by` and `order_by` name.

        y : array-like of shape (n_documents,)
            Relevance.

        sample_weight : array-like of shape (n_documents,), default=None
            Weights >= 0. XGBoost and CatBoost get one per query: the mean of its rows. A TypeError
            if the inner `fit` does not take weights. A search passes them to `fit`, and since
            scikit-learn 1.7 also to the scorer; with metadata routing on, to those steps, rankers
            and scorers that request them.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row. Ignored if `group_by` says where in X they are. An inner `fit`
            with a parameter `groups` gets them.

        **fit_params
            Passed to the inner `fit`; in a Pipeline, to the last step's. Those with a value per row
            (`init_score`, `base_margin`, `baseline`) are moved and split with the rows. With
            metadata routing on, steps and an inner search get what they request, also `groups`, and
            the last step does not get what it refuses.

        Returns
        -------
        GroupedRanker
            The fitted ranker.

        Raises
        ------
        TypeError, ValueError
            If a parameter is not valid; if ids are needed but missing, are sizes, were changed by
            an encoder or a cast, or do not reach a ranker inside the inner estimator; if that has
            XGBoost's objective for rankings, but takes no groups; if training cannot be stopped
            early; if a fit parameter cannot follow the rows. The inner estimator may raise others.
            After an error the ranker is not fitted.

        Warns
        -----
        UserWarning
            If ids do not look like query ids, or if text ids order the queries in time.
        """
        for name in ("estimator_", "best_iteration_"):
            if hasattr(self, name):
                delattr(self, name)
        self._check_parameters()
        inner = clone(self.estimator)
        rows, ids, times = self._read_rows(X, y, groups, sample_weight, fit_params)
        self._check_groups(ids, libraries.last_step(inner))
        grouping = None if ids is None else Grouping.of_ids(ids, rows.y.shape[0])
        rows = libraries.route(self, rows, grouping)
        refusals.check_fit_params(rows, inner, self._group_columns, self.early_stopping)
        self._fit_steps(inner, *self._split_rows(rows, grouping, times, inner))
        self.estimator_ = inner
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def _fit_steps(self, inner: Estimator, train: QueryRows, held_out: QueryRows | None) -> None:
        """Fit the inner estimator, and stop it early if there are held-out rows."""
        last = libraries.last_step(inner)

        def fit_last(train: QueryRows, held_out: QueryRows | None) -> None:
            refusals.refuse_dates(last, train.X)  # steps may have made numbers of them
            params = libraries.params_of_fit(last, train)
            if held_out is None:
                last.fit(train.X, train.y, **params)
                return
            stopping.check_can_stop(last, libraries.last_step(self.estimator))
            k = int(held_out.lengths.max()) if self.k is None else self.k
            rule = stopping.StoppingRule(held_out, k, self.n_iter_no_change)
            self.best_iteration_ = stopping.fit_until_best(last, train, rule, params)

        libraries.fit_steps(inner, train, held_out, fit_last)

    def predict(self, X: Any) -> Array:
        """Predict with the inner estimator: for a ranker, scores to sort each query by.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            Features, with the columns of `fit`; a ValueError otherwise. Where `group_by` or
            `order_by` name columns of a table, these may be missing, and the others are taken by
            name: they may be in any order, beside others. A Pipeline takes what its first step
            takes.

        Returns
        -------
        ndarray of shape (n_documents,)
            Predictions in the order of the rows of X.
        """
        return self._call_inner("predict", X)

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
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
    def decision_function(self, X: Any) -> Array:
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
        """Score by NDCG@k per query; a classifier ranks by its probabilities.

        Parameters
        ----------
        X, y : array-like
            As in `predict` and `fit`.

        sample_weight : array-like of shape (n_documents,), default=None
            Weights >= 0. The weight of a query is the mean weight of its rows.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row. See `fit`.

        Returns
        -------
        float
            The number of ``ndcg_score(y, scores, groups=groups, k=k)``.
        """
        self._features(X)  # raises if X is not as in fit
        scorer = make_ndcg_scorer(k=self.k, group_by=self.group_by)
        return scorer(self, X, y, sample_weight, groups=groups)

    @property
    def feature_importances_(self) -> Array:
        return self._per_feature("feature_importances_")

    @property
    def coef_(self) -> Array:
        return self._per_feature("coef_")

    def _per_feature(self, name: str) -> Array:
        """An array of the inner estimator, with 0 for the group columns."""
        if isinstance(self.estimator_, Pipeline) and len(self.estimator_.steps) > 1:
            raise AttributeError(
                f"the Pipeline has transformed the columns: read `ranker.estimator_[-1].{name}`."
            )
        values = libraries.fitted_array(libraries.last_step(self.estimator_), name)
        return columns.insert_zeros(values, self._group_columns, self._columns, self.n_features_in_)

    @property
    def classes_(self) -> Array:
        classes: Array = self.estimator_.classes_
        return classes

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name):
            # an AttributeError of a property ends here, too: raise it again
            if hasattr(type(self), name):
                return super().__getattribute__(name)
            hint = ""
            inner = vars(self).get("estimator_")
            for owner in ("estimator_", "estimator_[-1]"):
                if not name.startswith("_") and hasattr(inner, name):
                    hint = f": it is one of the fitted estimator, ranker.{owner}.{name}"
                    break
                inner = libraries.last_step(inner)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    def get_metadata_routing(self) -> MetadataRouter:
        """Get the requests for metadata: `groups`, and what the inner estimators request in `fit`.

        Returns
        -------
        MetadataRouter
            Requests of `fit` and `score`, and those of the steps of a Pipeline, or of a search.
        """
        router = libraries.routing_of(self.estimator, type(self).__name__)
        return router.add_self_request(super().get_metadata_routing())

    def __sklearn_tags__(self) -> utils.Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type):
            inner = utils.get_tags(self.estimator)
            tags.estimator_type = inner.estimator_type
            if inner.classifier_tags is not None:
                tags.classifier_tags = replace(inner.classifier_tags, multi_label=False)
            tags.target_tags.positive_only = inner.target_tags.positive_only
            tags.input_tags = inner.input_tags
            tags.no_validation = inner.no_validation
            tags.non_deterministic = inner.non_deterministic
        # rankers of LightGBM and XGBoost have no estimator type, nor have some classifiers
        if not hasattr(self.estimator, "predict_proba"):
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
        refusals.refuse_ranking_objective(estimator)
        for name in ("k", "max_queries", "n_iter_no_change"):
            value = getattr(self, name)
            or_none = "" if name == "n_iter_no_change" else " or None"
            if not (or_none if value is None else _checks.is_integer(value) and value >= 1):
                raise ValueError(f"{name} must be an integer >= 1{or_none}, got {value!r}.")
        _checks.check_choice("validation", self.validation, get_args(Validation))
        if not isinstance(self.early_stopping, bool | np.bool_):
            raise ValueError(f"early_stopping must be True or False, got {self.early_stopping!r}.")
        held: object = self.validation_fraction
        if not _checks.is_number(held) or not 0 < held < 1:
            raise ValueError(f"validation_fraction must be a number between 0 and 1, got {held!r}.")

    def _read_rows(
        self, X: Table, y: Column, groups: Column, sample_weight: Column, fit_params: Params
    ) -> tuple[QueryRows, Column, Column]:
        """Rows, checked, without the group columns; ids and values to order by, as they are."""
        _checks.refuse_masked(y, "y")
        ids = columns.values_by(X, self.group_by, groups, y)
        times = columns.values_by(X, self.order_by, None, y, "order_by")
        rows = {"X": X, "y": y, "groups": ids, "sample_weight": sample_weight, "order_by": times}
        refuse_reordered(**rows | fit_params)
        X, y = validate_data(self, X, y, skip_check_array=True)
        relevance = utils.column_or_1d(y, warn=True)
        utils.check_consistent_length(X, relevance)
        utils.assert_all_finite(relevance, input_name="y")
        self._group_columns = columns.group_columns(X, self.group_by, self.order_by)
        self._columns = columns.column_names(X) or []
        features = columns.without_columns(X, self._group_columns)
        n_rows = relevance.shape[0]
        weight = None if sample_weight is None else inputs.row_weights(sample_weight, n_rows)
        if weight is not None and not weight.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
        query_rows = QueryRows(features, relevance, weight, np.array([n_rows]), fit_params, {})
        return query_rows, ids, times

    def _check_groups(self, groups: object, last: Estimator) -> None:
        if groups is not None:
            return
        takes_groups = libraries.groups_parameter(last)
        if not (takes_groups or self.early_stopping):
            return
        what = f"{type(last).__name__}.fit" if takes_groups else "early_stopping=True"
        raise ValueError(
            f"groups is missing, but {what} needs to know the queries. Instead of qid, group_id "
            "and group pass groups=, one id per row (of sizes np.repeat(np.arange(len(sizes)), "
            "sizes)), or group_by, which says where in X they are. A search passes groups on with "
            "sklearn.set_config(enable_metadata_routing=True), a Pipeline as "
            "groupedranker__groups=."
        )

    def _call_inner(self, method: str, X: Any) -> Array:
        features = self._features(X)  # first, as it raises if nothing is fitted
        response: Array = getattr(self.estimator_, method)(features)
        return response

    def _features(self, X: Any) -> Any:
        """X without the group columns, which a table may lack already."""
        check_is_fitted(self)
        keys, names = self._group_columns, self._columns
        is_pipeline = isinstance(self.estimator_, Pipeline)
        if keys and columns.column_names(X):
            return columns.features(X, keys, names, may_lack=is_pipeline)
        has_features = hasattr(self, "n_features_in_")  # texts have none
        if has_features and len(getattr(X, "shape", (0, 0))) == 1:
            raise ValueError("X must be 2-D. Reshape your data to one row per document.")
        first = X[0] if isinstance(X, list) and X else X
        are_dicts = type(first) is dict  # sparse arrays may be a subclass of it
        hint = " Of dicts, one for each row, pass pandas.DataFrame(rows)." if are_dicts else ""
        if keys:
            raise ValueError(
                "X must be a table with column names, as in fit, so that the column "
                f"{', '.join(map(repr, keys))} can be removed from it; got {type(X).__name__}."
                f"{hint}"
            )
        if has_features and are_dicts:
            raise ValueError(f"X must be a table or an array, got {type(X).__name__}.{hint}")
        if not (is_pipeline and names):  # whose first step checks the names
            # Pyright infers from the default of X that it is a text
            validate_data(self, X, reset=False, skip_check_array=True)  # pyright: ignore[reportArgumentType]
        return X

    def _warn_of_ids(self, y: Array, grouping: Grouping) -> None:
        """Warn if ids do not look like query ids."""
        n_queries = len(grouping.labels)
        warn_of_single_documents(grouping.n_single, n_queries)
        relevance = np.asarray(_checks.to_host(y))
        low, high = grouping.extremes(relevance) if relevance.dtype.kind in "biuf" else (0, 1)
        if grouping.n_single < n_queries and np.all(low == high) and np.ptp(low):
            warn_of_equal_relevance(n_queries)

    def _split_rows(
        self, rows: QueryRows, grouping: Grouping | None, times: Column, inner: Estimator
    ) -> tuple[QueryRows, QueryRows | None]:
        """Training rows and held-out rows: as they are, or query by query.

        Queries are in the order of their first rows, so that their names change nothing.
        """
        if grouping is None:
            return rows, None
        hands_over = libraries.groups_parameter(libraries.last_step(inner)) is not None
        if hands_over or self.early_stopping or self.max_queries is not None:
            self._warn_of_ids(rows.y, grouping)
            is_precomputed = utils.get_tags(self).input_tags.pairwise
            refusals.refuse_row_numbers(inner, rows, is_precomputed)
        trained, held_out = self._draw_queries(grouping, times)
        if len(trained) == len(grouping.lengths) and not hands_over:
            return rows, None
        train = rows.take(grouping, trained)
        return train, rows.take(grouping, held_out) if self.early_stopping else None

    def _draw_queries(self, grouping: Grouping, times: Column) -> tuple[Ints, Ints]:
        """The numbers of the queries to train on, and of those to hold out, by first row."""
        queries = np.argsort(grouping.first_rows)
        generator = utils.check_random_state(self.random_state)
        if self.max_queries is not None and self.max_queries < len(queries):
            queries = queries[np.sort(generator.permutation(len(queries))[: self.max_queries])]
        if not self.early_stopping:
            return queries, queries[:0]
        n_held_out = max(1, round(self.validation_fraction * len(queries)))
        if n_held_out >= len(queries):
            raise ValueError(
                f"early_stopping=True would hold out {n_held_out} of {len(queries)} queries and "
                "leave none to train on: pass more queries, or a smaller validation_fraction."
            )
        if self.validation == "last":
            order = grouping.in_order(times, "validation='last'")
            held_out = order[np.isin(order, queries)][-n_held_out:]
        else:
            held_out = generator.permutation(queries)[:n_held_out]
        is_held_out = np.isin(queries, held_out)
        return queries[~is_held_out], queries[is_held_out]
