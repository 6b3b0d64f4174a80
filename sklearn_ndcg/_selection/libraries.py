"""How LightGBM, XGBoost, CatBoost and Pipelines are fitted: groups, weights, fit parameters.

What takes groups is recognised by the parameter of its `fit` for these, of which `INTERFACES` has
all, and a library by another one, in `LIBRARIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import Any, TypeAlias

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import metadata_routing
from sklearn.utils.metadata_routing import UNUSED, MetadataRequest, MetadataRouter, MethodMapping

from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._rows.columns import take_rows
from sklearn_ndcg._rows.grouping import Grouping, starts_of

Estimator: TypeAlias = Any  # a ranker, regressor or classifier, or a Pipeline that ends in one
Params: TypeAlias = dict[str, Any]
Array: TypeAlias = NDArray[Any]
Seed: TypeAlias = int | np.random.RandomState | None
# a column, an index level, a callable or None; group_by may also be several columns or levels
OrderBy: TypeAlias = Hashable
GroupBy: TypeAlias = OrderBy | Sequence[Hashable]


# the parameters of CatBoost's `fit` that name columns, which it cannot request itself
CATBOOST_COLUMNS = ("cat_features", "text_features", "embedding_features")


@dataclass(frozen=True)
class QueryRows:
    """Rows, with one weight per row, and what is passed to `fit` with them.

    `params` are for the last step, `metadata` for the Pipeline. The rows of a query are together if
    queries are handed over, held out or drawn; otherwise rows are as they were passed, and the
    lengths mean nothing.
    """

    X: Any
    y: Array
    weight: Floats | None
    lengths: Ints
    params: Params
    metadata: Params

    @property
    def query_numbers(self) -> Ints:
        """0, 1, 2, ... for the rows of the first query, the second, the third."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def weight_per_query(self) -> Floats | None:
        """The mean weight of each query."""
        if self.weight is None:
            return None
        numbers, starts = np.arange(len(self.lengths)), starts_of(self.lengths)
        return Grouping(numbers, starts, self.lengths).mean_weight(self.weight)

    @property
    def query_weight_per_row(self) -> Floats | None:
        """The mean weight of each row's query."""
        weight = self.weight_per_query
        return None if weight is None else np.repeat(weight, self.lengths)

    def take(self, grouping: Grouping, queries: Ints) -> QueryRows:
        """The rows of some queries, query by query, and the values that belong to them.

        If these are all rows in their order, nothing is copied.
        """
        n_rows, lengths = self.y.shape[0], grouping.lengths[queries]
        rows = grouping.gather(np.arange(n_rows))[grouping.rows_of(queries)]
        if np.array_equal(rows, np.arange(n_rows)):
            return replace(self, lengths=lengths)
        params, metadata = (
            {
                name: take_rows(value, rows) if is_aligned(name, value, n_rows) else value
                for name, value in values.items()
            }
            for values in (self.params, self.metadata)
        )
        X, y = take_rows(self.X, rows), take_rows(self.y, rows)
        weight = None if self.weight is None else self.weight[rows]
        return QueryRows(X, y, weight, lengths, params, metadata)


Requests: TypeAlias = MetadataRequest | MetadataRouter

# How a library takes groups and weights, by the parameter of its `fit` for groups. `qid` comes
# first, as XGBoost has `group`, too. LightGBM takes one weight per row, XGBoost one per query;
# CatBoost's ranking losses ignore row weights silently and take group_weight.
INTERFACES: dict[str, Callable[[QueryRows], Params]] = {
    "qid": lambda rows: {"qid": rows.query_numbers, "sample_weight": rows.weight_per_query},
    "group_id": lambda rows: {
        "group_id": rows.query_numbers,
        "group_weight": rows.query_weight_per_row,
    },
    "group": lambda rows: {"group": rows.lengths, "sample_weight": rows.weight},
}

# The three libraries, by a parameter that the `fit` of all their estimators has, and no other.
LIBRARIES = {
    "base_margin_eval_set": "XGBoost",
    "use_best_model": "CatBoost",
    "eval_init_score": "LightGBM",
}


def taken_by_fit(estimator: Estimator) -> Mapping[str, Parameter]:
    """The parameters of an estimator's `fit`."""
    return signature(estimator.fit).parameters


def groups_parameter(last: Estimator) -> str | None:
    """The parameter for groups of the `fit` of `last`; None for an estimator that takes none."""
    taken = taken_by_fit(last)
    return next((name for name in INTERFACES if name in taken), None)


def library_of(estimator: Estimator) -> str | None:
    """The library of a ranker, regressor or classifier; None if it is none of the three."""
    taken = taken_by_fit(estimator)
    return next((library for name, library in LIBRARIES.items() if name in taken), None)


def estimators_in(last: Estimator) -> list[Estimator]:
    """An estimator, and all that are inside of it."""
    return [last, *(value for value in settings_of(last).values() if hasattr(value, "fit"))]


def params_of_fit(last: Estimator, train: QueryRows) -> Params:
    """The parameters of the last step's `fit`, with groups and weights added."""
    name = groups_parameter(last)
    added = INTERFACES[name](train) if name else {"sample_weight": train.weight}
    added = {name: value for name, value in added.items() if value is not None}
    taken = taken_by_fit(last)
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in taken.values())
    if not (takes_any or added.keys() <= taken.keys()):
        raise TypeError(
            f"sample_weight was passed, but {type(last).__name__}.fit does not take weights: leave "
            "it out. AdaBoost, BaggingRegressor and others pass weights to their estimator: put "
            "GroupedRanker around them."
        )
    twice = ", ".join(sorted(added.keys() & train.params))
    if twice:
        raise ValueError(f"{twice} is set by GroupedRanker from groups and weights: leave it out.")
    return train.params | added


def is_aligned(name: str, value: Any, n_rows: int) -> bool:
    """Whether a fit parameter has a value for each row."""
    about_others = name.startswith(("eval_", "feature_", "categorical_"))
    about_others |= name.endswith(("_val", "callbacks")) or name in CATBOOST_COLUMNS
    if about_others or isinstance(value, str | bytes | dict):
        return False
    if hasattr(value, "shape"):
        return tuple(value.shape[:1]) == (n_rows,)
    return isinstance(value, Sized) and len(value) == n_rows


def last_step(estimator: Estimator) -> Estimator:
    """The estimator itself, or the last step of a Pipeline."""
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1] if estimator.steps else None
    return estimator


def settings_of(estimator: object, *, deep: bool = True) -> Params:
    """The parameters of an estimator; none of what is not like scikit-learn's."""
    get_params = None if isinstance(estimator, type) else getattr(estimator, "get_params", None)
    return dict(get_params(deep=deep)) if get_params else {}


def fitted_array(model: Estimator, name: str) -> Array:
    """`feature_importances_` or `coef_` of a fitted estimator."""
    values = getattr(model, name)  # raises if it is missing
    # CatBoost's are None in rankers, and those of all rounds in a model that was cut
    if hasattr(model, "get_feature_importance"):
        values = model.get_feature_importance(type="PredictionValuesChange")
    return np.asarray(values.toarray() if sparse.issparse(values) else values)


def without_last_step(pipeline: Pipeline) -> Pipeline:
    """A Pipeline of the steps before the last; that does nothing, as there may be none."""
    return Pipeline([*pipeline.steps[:-1], (pipeline.steps[-1][0], "passthrough")])


def _requests_of(last: object) -> Requests:
    """The requests of the last step, without those of weights."""
    requests = metadata_routing.get_routing_for_object(None if isinstance(last, type) else last)
    if isinstance(requests, MetadataRequest):  # and not the router of a meta-estimator
        inner = requests.fit.requests
        for name in [name for name in inner if name == "sample_weight" or inner[name] is None]:
            requests.fit.add_request(param=name, alias=UNUSED)  # removes it
        if hasattr(last, "fit") and not hasattr(last, "get_metadata_routing"):
            for name in taken_by_fit(last).keys() & set(CATBOOST_COLUMNS):
                requests.fit.add_request(param=name, alias=True)
    return requests


def routing_of(estimator: Estimator, owner: str) -> MetadataRouter:
    """The requests of `fit` by the last step of `estimator`, and by the steps before it.

    Weights and the library's groups are not among them: GroupedRanker passes these itself.
    """
    requests = _requests_of(last_step(estimator))
    mapping = MethodMapping().add(caller="fit", callee="fit")
    router = MetadataRouter(owner=owner).add(last=requests, method_mapping=mapping)
    has_steps = isinstance(estimator, Pipeline) and estimator.steps
    mapping = MethodMapping().add(caller="fit", callee="fit_transform")
    steps = without_last_step(estimator) if has_steps else None
    return router.add(steps=steps, method_mapping=mapping)


def route(ranker: Estimator, rows: QueryRows, grouping: Grouping | None) -> QueryRows:
    """Divide parameters of `fit`, weights and groups among the last step and those before it.

    `ranker` is a `GroupedRanker`, the router.
    """
    last = last_step(ranker.estimator)
    passed = {} if grouping is None else {"groups": grouping.labels[grouping.row_codes()]}
    if "groups" in taken_by_fit(last):
        rows, passed = replace(rows, params=rows.params | passed), {}
    if not sklearn.get_config()["enable_metadata_routing"]:
        if passed:
            _refuse_nested_rankers(ranker, last)
        return rows
    inner = routing_of(ranker.estimator, type(ranker).__name__)
    if rows.weight is not None:
        passed["sample_weight"] = rows.weight
    requested = inner.consumes(method="fit", params=[*rows.params, *passed])
    if "groups" in passed.keys() - requested:
        _refuse_nested_rankers(ranker, last)
    asked = {name: rows.params[name] for name in requested.intersection(rows.params)}
    routed = metadata_routing.process_routing(ranker, "fit", **passed, **asked)
    requests = metadata_routing.get_routing_for_object(last)
    answers = requests.fit.requests if isinstance(requests, MetadataRequest) else {}
    # parameters that no step requests are meant for the last step, unless it refuses them
    rest = {name for name in rows.params if not (name in asked or answers.get(name) is False)}
    params = {name: rows.params[name] for name in rest} | routed["last"]["fit"]
    weight = params.pop("sample_weight", None)
    own = BaseEstimator.get_metadata_routing(ranker).fit.requests["sample_weight"]
    if own is not False:  # or it was passed for the steps alone
        weight = None if answers.get("sample_weight") is False else rows.weight
    metadata = routed["steps"]["fit_transform"] | asked
    return replace(rows, params=params, metadata=metadata, weight=weight)


def _refuse_nested_rankers(ranker: Estimator, last: Estimator) -> None:
    """Raise if an estimator inside of the last step takes groups, which would not reach it."""
    if groups_parameter(last):
        return
    inside = estimators_in(last)
    if any(isinstance(value, type(ranker)) for value in inside):
        return
    for nested in inside:
        if groups_parameter(nested):
            name, outer = type(nested).__name__, type(last).__name__
            raise ValueError(
                f"groups do not reach {name} inside {outer}: there, put "
                f"GroupedRanker({name}(), group_by='query') in its place."
            )


class _LastStep(BaseEstimator):  # type: ignore[misc]
    """Takes the place of a Pipeline's last step while the Pipeline is fitted.

    It requests what the real step requests, and calls `fit_real` with what the Pipeline passes.
    """

    def __init__(self, real: Estimator, fit_real: Callable[[object, Params], None]) -> None:
        self.real = real
        self.fit_real = fit_real

    def fit(self, X: object, y: object = None, **metadata: object) -> _LastStep:
        self.fit_real(X, metadata)
        return self

    def get_metadata_routing(self) -> Requests:
        return _requests_of(self.real)


def fit_steps(
    inner: Estimator,
    train: QueryRows,
    held_out: QueryRows | None,
    fit_last: Callable[[QueryRows, QueryRows | None], None],
) -> None:
    """Fit an estimator, or a Pipeline by its own `fit`, with the last step fitted by `fit_last`.

    `inner` is a clone, but its steps need not be: a `FrozenEstimator` is its own clone.
    """
    if not isinstance(inner, Pipeline):
        fit_last(train, held_out)
        return
    samplers = [name for name, step in inner.steps if hasattr(step, "fit_resample")]
    if samplers:
        raise TypeError(
            f"Step {samplers[0]!r} draws rows: samplers are not supported, as they cut queries. "
            "max_queries draws whole ones."
        )

    def fit_real(X: object, metadata: Params) -> None:
        transformed = metadata.keys() & (inner.transform_input or ())
        params = train.params | {name: metadata[name] for name in transformed}
        held_out_rows = held_out
        if held_out is not None:
            held_out_rows = replace(held_out, X=without_last_step(inner).transform(held_out.X))
        fit_last(replace(train, X=X, params=params), held_out_rows)

    name, last = inner.steps[-1]
    inner.steps[-1] = name, _LastStep(last, fit_real)
    inner.fit(train.X, train.y, **train.metadata)
    inner.steps[-1] = name, last
