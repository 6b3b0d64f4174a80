"""GroupedRanker: any ranker, tuned like a regressor."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from numbers import Number
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, check_consistent_length, check_random_state, column_or_1d, get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import refuse_masked, refuse_reordered, where
from sklearn_ndcg._columns import is_column, query_ids, take_rows, without_column
from sklearn_ndcg._definitions import is_integer, is_number
from sklearn_ndcg._kernels import Floats, Ints
from sklearn_ndcg._queries import group_rows, query_weights, row_codes, row_weights
from sklearn_ndcg._scorers import make_ndcg_scorer

Params = dict[str, Any]


class Rows(NamedTuple):
    """What a fit is given: rows of whole queries, side by side, in the order of their ids."""

    X: Any
    y: NDArray[Any]
    weight: Floats | None
    lengths: Ints
    aligned: dict[str, Any]  # further fit parameters, a value a row

    @property
    def ids(self) -> Ints:
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def weight_of_query(self) -> Floats | None:
        if self.weight is None:
            return None
        return query_weights(self.weight, np.cumsum(self.lengths) - self.lengths, self.lengths)

    @property
    def weight_of_query_by_row(self) -> Floats | None:
        weight = self.weight_of_query
        return None if weight is None else np.repeat(weight, self.lengths)


def _lightgbm_stops(ranker: Any, held: Rows, k: int, rounds: int, params: Params) -> Params:
    from lightgbm import early_stopping  # noqa: PLC0415

    given = ranker.get_params()
    _refuse_settings(given, _LIGHTGBM_STOPPING)
    if given.get("metric") not in {None, "", "ndcg"}:
        _refuse_settings(given, {"metric"})
    if "dart" in {given.get(name) for name in ("boosting_type", "boosting", "boost")}:
        raise ValueError(
            "early_stopping=True: LightGBM cannot stop early with boosting_type='dart'."
        )
    ranker.set_params(metric="ndcg")
    X = np.asarray(held.X) if isinstance(held.X, list) else held.X
    evaluated: Params = {"eval_set": [(X, held.y)]}
    if "eval_X" in signature(ranker.fit).parameters:  # from 4.7 on, where eval_set is deprecated
        evaluated = {"eval_X": (X,), "eval_y": (held.y,)}
    if held.weight is not None:
        evaluated["eval_sample_weight"] = [held.weight]
    if "init_score" in held.aligned:
        evaluated["eval_init_score"] = [held.aligned["init_score"]]
    stops = early_stopping(rounds, verbose=False)
    return {
        **evaluated,
        "eval_group": [held.lengths],
        "eval_at": [k],
        "callbacks": [*(params.pop("callbacks", None) or []), stops],
    }


def _xgboost_stops(ranker: Any, held: Rows, k: int, rounds: int, params: Params) -> Params:
    _refuse_settings(ranker.get_params(), {"early_stopping_rounds", "eval_metric", "callbacks"})
    ranker.set_params(early_stopping_rounds=rounds, eval_metric=f"ndcg@{k}")
    evaluated: Params = {"eval_set": [(held.X, held.y)], "eval_qid": [held.ids]}
    if held.weight is not None:
        evaluated["sample_weight_eval_set"] = [held.weight_of_query]
    if "base_margin" in held.aligned:
        evaluated["base_margin_eval_set"] = [held.aligned["base_margin"]]
    return evaluated


def _catboost_stops(ranker: Any, held: Rows, k: int, rounds: int, params: Params) -> Params:
    from catboost import Pool  # noqa: PLC0415

    given = ranker.get_params()
    _refuse_settings(
        given, {"early_stopping_rounds", "eval_metric", "od_type", "od_wait", "use_best_model"}
    )
    ranker.set_params(eval_metric=f"NDCG:top={k}")
    columns = {name: params.get(name, given.get(name)) for name in _CATBOOST_COLUMNS}
    aligned = {"group_weight": held.weight_of_query_by_row, **held.aligned}
    pool = Pool(held.X, held.y, group_id=held.ids, **columns, **aligned)
    return {"eval_set": pool, "early_stopping_rounds": rounds, "use_best_model": True}


def _refuse_settings(given: Params, names: set[str]) -> None:
    found = sorted(name for name in names if given.get(name) is not None)
    if found:
        raise ValueError(
            f"early_stopping=True settles by k and n_iter_no_change when to stop: leave "
            f"{', '.join(found)} out of the estimator."
        )


# what LightGBM calls the cutoffs and the rounds, as parameters of the estimator
_LIGHTGBM_STOPPING = {
    "early_stopping", "early_stopping_round", "early_stopping_rounds", "eval_at", "map_at",
    "map_eval_at", "n_iter_no_change", "ndcg_at", "ndcg_eval_at",
}  # fmt: skip


class Word(NamedTuple):
    """A fit parameter that takes groups, and what else goes with it."""

    name: str
    groups: Callable[[Rows], Any]
    weight_name: str
    weight: Callable[[Rows], Any]
    stops: Callable[..., Params]
    stops_need: str  # a fit parameter that tells the library from others with the same word
    labels: str


_WHOLE = "quantile_grades makes whole labels of any target."

# By precedence: XGBoost has `group` as well. It takes a weight a query; the ranking losses of
# CatBoost drop row weights in silence and take group_weight; LightGBM takes rows.
_WORDS = [
    Word(
        "qid",
        lambda rows: rows.ids,
        "sample_weight",
        lambda rows: rows.weight_of_query,
        _xgboost_stops,
        "eval_qid",
        "XGBoost takes whole labels from 0 to 31 unless ndcg_exp_gain=False is set (linear gain of "
        f"any label); {_WHOLE}",
    ),
    Word(
        "group_id",
        lambda rows: rows.ids,
        "group_weight",
        lambda rows: rows.weight_of_query_by_row,
        _catboost_stops,
        "use_best_model",
        "CatBoost takes any finite label.",
    ),
    Word(
        "group",
        lambda rows: rows.lengths,
        "sample_weight",
        lambda rows: rows.weight,
        _lightgbm_stops,
        "eval_at",
        "LightGBM takes whole labels from 0 to 30, higher whole ones where label_gain has a gain "
        f"for each (label_gain=list(range(101)) is linear gain up to 100); {_WHOLE}",
    ),
]

# parameters about columns, of fit or of the estimator, that may count them from the left
_POSITIONAL = {
    "cat_column", "cat_feature", "cat_features", "categorical_column", "categorical_feature",
    "categorical_features", "embedding_features", "feature_weights", "ignored_features",
    "interaction_constraints", "interaction_cst", "monotone_constraints", "monotonic_cst",
    "text_features",
}  # fmt: skip
_CATBOOST_COLUMNS = ("cat_features", "text_features", "embedding_features")
# fit parameters that count rows
_COUNTS_ROWS = {"pairs", "pairs_weight", "graph"}


def _has(name: str) -> Callable[[Any], bool]:
    def check(ranker: Any) -> bool:
        getattr(getattr(ranker, "estimator_", ranker.estimator), name)
        return True

    return check


class GroupedRanker(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Let any ranker be tuned like a regressor: one query id a row, in any order.

    Rankers want their queries each in its own way: LightGBM as sizes, which no splitter can slice,
    XGBoost as ids in ascending order, CatBoost as `group_id`, and only the first two can be routed
    to. This meta-estimator takes ids as scikit-learn does, sorts the rows by them (rows of a query
    keep their order) and hands the inner `fit` the form that its signature has a word for: `qid`,
    `group_id` or `group`, in this order. An estimator without such a word, any regressor or
    classifier, is fitted as it is, and needs no ids.

    Parameters
    ----------
    estimator : estimator or Pipeline
        What ranks. Of a Pipeline the last step is given the groups.

    group_by : str, int or callable, default=None
        Where in X the query ids are, as in `make_ndcg_scorer`: a column, which is then taken out
        of what the inner estimator sees, in `predict` too; a level of a pandas index, which is no
        feature; or a callable on X. None: `fit` is given `groups`.

    k : int or None, default=10
        Cutoff of `score` and of early stopping. None is no cutoff.

    early_stopping : bool, default=False
        Whether to hold out a fraction of the queries and to stop when the library's own NDCG@k on
        them has not improved for `n_iter_no_change` rounds. Its own gain applies: exponential in
        LightGBM (unless `label_gain` says otherwise) and XGBoost (unless ``ndcg_exp_gain=False``),
        linear in CatBoost.

    validation_fraction : float, default=0.1
        The fraction of queries to hold out, between 0 and 1; at least one query.

    n_iter_no_change : int, default=10
        Rounds without improvement before training stops.

    random_state : int, RandomState instance or None, default=None
        Which queries are held out.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone of `estimator`.

    best_iteration_ : int
        The best round, as the library counts (LightGBM from 1, XGBoost and CatBoost from 0). Only
        with `early_stopping`.

    classes_ : ndarray
        Those of the inner estimator, where it has them.

    n_features_in_ : int
        Number of columns of X in `fit`, a group column included.

    feature_names_in_ : ndarray
        Names of the columns of X in `fit`, a group column included.

    See Also
    --------
    make_ndcg_scorer : NDCG per query for the search around this.

    Examples
    --------
    A search over a LightGBM ranker, in the words of any other search:

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
    ...     scoring=make_ndcg_scorer(k=5, group_by="query", replace_undefined_by=np.nan),
    ...     cv=GroupKFold(n_splits=3),
    ... )
    >>> bool(search.fit(X, y, groups=query).best_score_ > 0.6)
    True
    """

    best_iteration_: int

    # CatBoost's can be requested here, as CatBoost has no requests of its own
    __metadata_request__fit: ClassVar = {"groups": True} | dict.fromkeys(_CATBOOST_COLUMNS)
    __metadata_request__score: ClassVar = {"groups": True}

    def __init__(
        self,
        estimator: Any,
        *,
        group_by: Any = None,
        k: int | None = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.group_by = group_by
        self.k = k
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **fit_params: Any,
    ) -> GroupedRanker:
        """Fit the inner estimator on rows sorted by query.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            Features, with the column of query ids where `group_by` names one.

        y : array-like of shape (n_documents,)
            Relevance.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row, in any order. Not together with `group_by`.

        sample_weight : array-like of shape (n_documents,), default=None
            Weights, >= 0, a row. XGBoost and CatBoost take one a query: the mean of its rows.

        **fit_params
            Passed on to the inner `fit` (of a Pipeline: its last step's). What has a value for each
            row (`init_score`, `base_margin`, `baseline`, ...) is sorted, and split off for early
            stopping, along with the rows.

        Returns
        -------
        self : GroupedRanker
            The fitted ranker.

        Raises
        ------
        ValueError
            If ids are needed and not found, or are sizes, missing or of another length; if
            training cannot be stopped early; if a fit parameter cannot follow the rows or columns;
            if the inner estimator refuses the labels.

        TypeError
            If `estimator` is no estimator.
        """
        self._check_parameters()
        if X is None:
            raise ValueError("X is None: pass the features, one row a document.")
        refuse_masked(y, "y")
        refuse_reordered(X=X, y=y, groups=groups, sample_weight=sample_weight)
        X, y = validate_data(self, X, y, skip_check_array=True)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        _refuse_missing_labels(y)
        inner = self._cloned()
        final = _final(inner)
        names = signature(final.fit).parameters
        word = next((word for word in _WORDS if word.name in names), None)
        groups = self._ids(X, groups)
        misnamed = [word.name for word in _WORDS if word.name in fit_params]
        if groups is None and misnamed:
            raise ValueError(
                f"{', '.join(misnamed)} was passed and groups was not: pass groups=, one id per "
                "row, for any ranker. Ids are made from sizes by np.repeat(np.arange(len(sizes)), "
                "sizes)."
            )
        if groups is None and (word is not None or self.early_stopping):
            what = "early_stopping=True" if word is None else f"{type(final).__name__}.fit"
            raise ValueError(
                f"groups is missing, and {what} needs to know the queries. Pass groups=, one id "
                "per row, or say with group_by= where in X they are. In a search: turn metadata "
                "routing on (sklearn.set_config(enable_metadata_routing=True)) and pass groups to "
                "the search, or set group_by. In a Pipeline: pass groupedranker__groups=, the name "
                "of the step in front."
            )
        by_column = self.group_by is not None and is_column(X, self.group_by)
        self._dropped = self.group_by if by_column else None
        self._check_fit_params(fit_params, final)
        weight = None if sample_weight is None else row_weights(sample_weight, len(y))
        if weight is not None and not weight.any():
            raise ValueError(
                "sample_weight is 0 for every row: nothing is left to learn from. Sample weights "
                "must contain at least one non-zero number."
            )
        train, held = self._rows(X, y, groups, weight, fit_params)
        if isinstance(inner, Pipeline):
            train, held = _fit_transformers(inner, train, held)

        params = self._inner_params(final, word, train, held, fit_params)
        try:
            final.fit(train.X, train.y, **params)
        except Exception as error:
            if word is None or not _is_about_labels(error, y):
                raise
            raise ValueError(
                f"{type(final).__name__} was not fitted to labels from {y.min()} to {y.max()}. "
                f"{word.labels} It said: {str(error).strip().splitlines()[0]}"
            ) from error
        self.estimator_ = inner
        if hasattr(self, "best_iteration_"):  # of an earlier fit
            del self.best_iteration_
        if held is not None:
            name = "best_iteration_" if hasattr(final, "best_iteration_") else "best_iteration"
            self.best_iteration_ = int(getattr(final, name))
        return self

    def predict(self, X: Any) -> Any:
        """Predict with the inner estimator: for a ranker, scores by which to sort a query.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            Features, with the same columns as in `fit`. No groups are needed.

        Returns
        -------
        ndarray of shape (n_documents,)
            Predictions in the order of the rows of X.
        """
        return self._respond("predict", X)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of the inner classifier.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_documents, n_classes)
            Columns in the order of `classes_`.
        """
        return self._respond("predict_proba", X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Decision function of the inner classifier.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_documents,) or (n_documents, n_classes)
            As the inner estimator returns it.
        """
        return self._respond("decision_function", X)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score by NDCG@k per query; an inner classifier ranks by its probabilities.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_documents, n_features)
            As for `predict`.

        y : array-like of shape (n_documents,)
            Relevance.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row, unless `group_by` says where in X they are.

        sample_weight : array-like of shape (n_documents,), default=None
            Weights; a query weighs the mean of its rows.

        Returns
        -------
        float
            ``ndcg_score(y, scores, groups=groups, k=k)``.
        """
        self._check_features(X)
        scorer = make_ndcg_scorer(k=self.k)
        ids, y = self._ids(X, groups), column_or_1d(y, warn=True)
        return float(scorer(self, X, y, groups=ids, sample_weight=sample_weight))  # type: ignore[arg-type]

    @property
    def classes_(self) -> Any:
        classes = self.estimator_.classes_
        if np.size(classes) == 0:  # CatBoost's rankers have the attribute, and no classes
            raise AttributeError(f"{type(self.estimator_).__name__} has no classes.")
        return classes

    def get_metadata_routing(self) -> Any:
        """Get the requests for metadata: `groups`, and what the inner `fit` was set to request.

        Returns
        -------
        MetadataRequest
            Requests of `fit` and `score`.
        """
        requests = super().get_metadata_routing()
        final = _final(self.estimator)
        known = signature(final.fit).parameters if hasattr(final, "fit") else {}
        for name in _CATBOOST_COLUMNS:
            if name not in known:
                requests.fit.requests.pop(name, None)
        if isinstance(final, type) or not hasattr(final, "get_metadata_routing"):
            return requests
        inner = get_routing_for_object(final)
        own = {"groups", "sample_weight", *(word.name for word in _WORDS)}
        for name, alias in inner.fit.requests.items() if hasattr(inner, "fit") else ():
            if alias and name not in own:
                requests.fit.add_request(param=name, alias=alias)
        return requests

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type):
            inner = get_tags(self.estimator)
            tags.estimator_type = inner.estimator_type
            tags.classifier_tags = inner.classifier_tags
            tags.regressor_tags = inner.regressor_tags
            tags.input_tags = inner.input_tags
            tags.non_deterministic = inner.non_deterministic
        tags.target_tags.required = True
        return tags

    def _check_parameters(self) -> None:
        estimator = _final(self.estimator)
        # a stacked or voting estimator has its predict only once it is fitted, its class always
        predicts = hasattr(type(estimator), "predict") or hasattr(estimator, "predict")
        if not hasattr(estimator, "fit") or not predicts or isinstance(estimator, type | Pipeline):
            raise TypeError(
                "estimator must be an estimator with fit and predict, or a Pipeline that ends in "
                f"one (not in another Pipeline), got {estimator!r}."
            )
        k: Any = self.k
        if k is not None and (not is_integer(k) or k < 1):
            raise ValueError(f"k must be an integer >= 1 or None, got {self.k!r}.")
        if not isinstance(self.early_stopping, bool | np.bool_):
            raise ValueError(f"early_stopping must be True or False, got {self.early_stopping!r}.")
        fraction: Any = self.validation_fraction
        if not is_number(fraction) or not 0 < fraction < 1:
            raise ValueError(
                f"validation_fraction must be a number between 0 and 1, got {fraction!r}."
            )
        if not is_integer(self.n_iter_no_change) or self.n_iter_no_change < 1:
            raise ValueError(
                f"n_iter_no_change must be an integer >= 1, got {self.n_iter_no_change!r}."
            )

    def _cloned(self) -> Any:
        try:
            return clone(self.estimator)
        except RuntimeError as error:
            given: Params = getattr(_final(self.estimator), "get_params", dict)()
            lists = [name for name in _CATBOOST_COLUMNS if isinstance(given.get(name), list)]
            if lists:
                error.add_note(
                    f"{', '.join(lists)} is a list, which CatBoost copies and scikit-learn then "
                    "cannot clone: pass a tuple, or pass it to fit."
                )
            raise

    def _ids(self, X: Any, groups: Any) -> Any:
        if self.group_by is None:
            return groups
        if groups is not None:
            raise ValueError(
                f"groups were passed, and group_by={self.group_by!r} says where in X they are: "
                "only one of the two can be meant. With metadata routing on, leave group_by out "
                "or call set_fit_request(groups=False).set_score_request(groups=False)."
            )
        return query_ids(X, self.group_by)

    def _features(self, X: Any) -> Any:
        return X if self._dropped is None else without_column(X, self._dropped)

    def _respond(self, method: str, X: Any) -> Any:
        self._check_features(X)
        return getattr(self.estimator_, method)(self._features(X))

    def _check_features(self, X: Any) -> None:
        check_is_fitted(self)
        if len(getattr(X, "shape", (0, 0))) == 1:
            raise ValueError(
                "X must be 2-D, one row a document, got 1-D. Reshape your data: X.reshape(-1, 1) "
                "for a single feature, X.reshape(1, -1) for a single document."
            )
        validate_data(self, X, reset=False, skip_check_array=True)

    def _check_fit_params(self, fit_params: Params, final: Any) -> None:
        unknown = sorted(set(fit_params) - set(signature(final.fit).parameters))
        if unknown and not _takes_any(final):
            raise TypeError(f"{type(final).__name__}.fit takes no {', '.join(unknown)}.")
        counts_rows = sorted(_COUNTS_ROWS.intersection(fit_params))
        if counts_rows:
            raise ValueError(
                f"{', '.join(counts_rows)} cannot be passed: row numbers mean other rows once "
                "these are sorted by query."
            )
        evaluates = sorted(name for name in fit_params if name.startswith("eval_"))
        transforms = isinstance(self.estimator, Pipeline) and len(self.estimator.steps) > 1
        if evaluates and (self.early_stopping or transforms or self._dropped is not None):
            raise ValueError(
                f"{', '.join(evaluates)} cannot be passed: with early_stopping=True queries are "
                "held out without it, and the steps of a Pipeline and the drop of a group column "
                "do not reach it. Leave it out."
            )
        parameters = final.get_params() if hasattr(final, "get_params") else {}
        for name in sorted(_POSITIONAL) if self._dropped is not None else ():
            value = fit_params.get(name, parameters.get(name))
            if _counts_columns(value):
                raise ValueError(
                    f"{name}={value!r} counts columns, and the column {self._dropped!r} is taken "
                    "out of X: name the columns instead, or move the ids to an index level."
                )

    def _rows(
        self, X: Any, y: NDArray[Any], groups: Any, weight: Floats | None, fit_params: Params
    ) -> tuple[Rows, Rows | None]:
        """Rows to train on, sorted by query, and those that are held out.

        What has a value a row is moved from `fit_params` to them.
        """
        n = len(y)
        names = [name for name, value in fit_params.items() if _is_aligned(name, value, n)]
        aligned = {name: fit_params.pop(name) for name in names}
        every = Rows(self._features(X), y, weight, np.array([n]), aligned)
        if groups is None:
            return every, None
        _, starts, lengths, codes = group_rows(groups, n)
        in_order = codes is None and bool((starts[1:] > starts[:-1]).all())
        if in_order and not self.early_stopping:
            return every._replace(lengths=lengths), None
        labels, lengths, codes = row_codes(groups, n)
        order = _kernels.running.collected(np.arange(n), codes, lengths)
        if not self.early_stopping:
            return _taken(every, order, lengths), None
        n_held = max(1, round(self.validation_fraction * len(labels)))
        if n_held >= len(labels):
            raise ValueError(
                f"early_stopping=True would hold out {n_held} of {len(labels)} queries and leave "
                "none to train on: more queries are needed, or a smaller validation_fraction."
            )
        is_held = np.zeros(len(labels), dtype=bool)
        is_held[check_random_state(self.random_state).permutation(len(labels))[:n_held]] = True
        by_row = np.repeat(is_held, lengths)
        return (
            _taken(every, order[~by_row], lengths[~is_held]),
            _taken(every, order[by_row], lengths[is_held]),
        )

    def _inner_params(
        self, final: Any, word: Word | None, train: Rows, held: Rows | None, fit_params: Params
    ) -> Params:
        """Fit parameters for the inner estimator, in its own words."""
        names = signature(final.fit).parameters
        params = {**fit_params, **train.aligned}
        added: Params = {} if word is None else {word.name: word.groups(train)}
        if train.weight is not None:
            weight_name = "sample_weight" if word is None else word.weight_name
            if weight_name not in names and not _takes_any(final):
                raise ValueError(
                    f"sample_weight was passed, and {type(final).__name__}.fit takes none: it "
                    "would be lost."
                )
            added[weight_name] = train.weight if word is None else word.weight(train)
        if held is not None:
            if word is None or word.stops_need not in names:
                raise ValueError(
                    "early_stopping=True needs a ranker of LightGBM, XGBoost or CatBoost; "
                    f"{type(final).__name__} cannot be stopped by the NDCG of held-out queries."
                )
            k = int(held.lengths.max()) if self.k is None else self.k
            added |= word.stops(final, held, k, self.n_iter_no_change, params)
        twice = sorted(set(added).intersection(params))
        if twice:
            raise ValueError(
                f"{', '.join(twice)} is set by GroupedRanker from groups, sample_weight and "
                "early_stopping: leave it out."
            )
        return {**params, **added}


def _final(estimator: Any) -> Any:
    """The estimator itself, or the last step of a Pipeline."""
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1] if estimator.steps else None
    return estimator


def _takes_any(estimator: Any) -> bool:
    kinds = {parameter.kind for parameter in signature(estimator.fit).parameters.values()}
    return Parameter.VAR_KEYWORD in kinds


def _is_aligned(name: str, value: Any, n_rows: int) -> bool:
    """Whether a fit parameter has a value for each row."""
    about_others = name in _POSITIONAL or name.startswith(("eval_", "feature_"))
    if about_others or name == "callbacks" or isinstance(value, str | bytes | dict):
        return False
    shape = getattr(value, "shape", None)
    if shape is None:
        return hasattr(value, "__len__") and len(value) == n_rows
    return len(shape) > 0 and shape[0] == n_rows


def _counts_columns(value: Any) -> bool:
    """Whether there is a number anywhere in what may be names of columns."""
    if isinstance(value, dict):
        return _counts_columns(list(value))
    if isinstance(value, str):  # LightGBM reads "0,3"
        return value.strip("()[] ").replace(",", "").replace(" ", "").lstrip("-").isdigit()
    if np.iterable(value):
        return any(_counts_columns(each) for each in value if not isinstance(each, str))
    return isinstance(value, Number | np.bool_)


def _taken(every: Rows, order: Ints, lengths: Ints) -> Rows:
    aligned = {name: take_rows(value, order) for name, value in every.aligned.items()}
    weight = None if every.weight is None else every.weight[order]
    return Rows(take_rows(every.X, order), every.y[order], weight, lengths, aligned)


def _fit_transformers(
    pipeline: Pipeline, train: Rows, held: Rows | None
) -> tuple[Rows, Rows | None]:
    """Fit the steps before the last, on rows to train on alone, and transform all rows."""
    # a last step that does nothing lets memory= cache each of the others
    head = Pipeline(
        [*pipeline.steps[:-1], (pipeline.steps[-1][0], "passthrough")], memory=pipeline.memory
    )
    train = train._replace(X=head.fit_transform(train.X, train.y))
    if held is not None:
        held = held._replace(X=head.transform(held.X))
    pipeline.steps = [*head.steps[:-1], pipeline.steps[-1]]
    return train, held


def _refuse_missing_labels(y: NDArray[Any]) -> None:
    missing = np.zeros(len(y), dtype=bool)
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype.kind == "O":
        missing = np.array([label is None or label != label for label in y.tolist()])  # noqa: PLR0124
    if missing.any():
        raise ValueError(
            f"y must not be NaN, found {where(missing, 'NaN')}. Leave those rows out, or set their "
            "relevance to 0 if they are not relevant."
        )


def _is_about_labels(error: Exception, y: NDArray[Any]) -> bool:
    if y.dtype.kind not in "iuf" or not np.isfinite(y).all():
        return False
    unusual = bool(((y < 0) | (y > 30) | (y != np.floor(y))).any())
    return unusual and any(word in str(error).lower() for word in ("label", "relevance"))
