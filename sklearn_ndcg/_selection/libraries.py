"""How LightGBM, XGBoost, CatBoost and Pipelines are fitted: groups, weights, fit parameters.

A library is recognised by its `fit`'s parameter for groups; `INTERFACES` has an entry for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from numbers import Number
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import metadata_routing
from sklearn.utils.metadata_routing import MethodMapping

from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._rows.columns import take_rows
from sklearn_ndcg._rows.grouping import Grouping

Params = dict[str, Any]

# of CatBoost, which cannot request them itself
CATBOOST_COLUMNS = ("cat_features", "text_features", "embedding_features")


@dataclass(frozen=True)
class QueryRows:
    """Rows sorted by query, with one weight per row, and what is passed to `fit` with them.

    `params` are for the last step, `metadata` for the steps before it. Rows of a single length are
    not sorted yet.
    """

    X: Any
    y: NDArray[Any]
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
        starts = np.cumsum(self.lengths) - self.lengths
        return Grouping(np.arange(len(starts)), starts, self.lengths).mean_weight(self.weight)

    @property
    def query_weight_per_row(self) -> Floats | None:
        """The mean weight of each row's query."""
        weight = self.weight_per_query
        return None if weight is None else np.repeat(weight, self.lengths)

    def take(self, grouping: Grouping, queries: Ints) -> QueryRows:
        """The rows of some queries, sorted by query, and the values that belong to them."""
        n_rows = len(self.y)
        rows = grouping.gather(np.arange(n_rows))[grouping.rows_of(queries)]
        params, metadata = (
            {
                name: take_rows(value, rows) if is_aligned(name, value, n_rows) else value
                for name, value in values.items()
            }
            for values in (self.params, self.metadata)
        )
        X, weight = take_rows(self.X, rows), None if self.weight is None else self.weight[rows]
        return QueryRows(X, self.y[rows], weight, grouping.lengths[queries], params, metadata)


Split = tuple[QueryRows, QueryRows | None]  # rows to train on, and held-out rows

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

# parameters of fit or of the estimator that may refer to columns by number
_ABOUT_COLUMNS = {
    "cat_column", "cat_feature", "cat_features", "categorical_column", "categorical_feature",
    "categorical_features", "embedding_features", "feature_weights", "ignored_features",
    "interaction_constraints", "interaction_cst", "monotone_constraints", "monotonic_cst",
    "text_features",
}  # fmt: skip


def groups_parameter(last: Any) -> str | None:
    """The parameter for groups of the `fit` of `last`; None for an estimator that takes none."""
    taken = signature(last.fit).parameters
    return next((name for name in INTERFACES if name in taken), None)


def check_fit_params(fit_params: Params, last: Any, dropped: list[Any], transforms: bool) -> None:
    """Raise for fit parameters that cannot follow the rows and columns of the last step.

    `dropped` are the columns that are removed from X; `transforms` says whether rows are held out
    or transformed by the steps of a Pipeline.
    """
    unknown = _names_not_taken(last, fit_params)
    if unknown:
        raise TypeError(f"{type(last).__name__}.fit does not take {', '.join(unknown)}.")
    row_numbers = sorted({"graph", "pairs", "pairs_weight"}.intersection(fit_params))
    if row_numbers:
        raise ValueError(f"{', '.join(row_numbers)} cannot be passed: rows are sorted by query.")
    evaluates = sorted(name for name in fit_params if name.startswith("eval_"))
    if evaluates and (transforms or dropped):
        raise ValueError(
            f"{', '.join(evaluates)} cannot be passed: early_stopping=True does not need it, and "
            "the steps of a Pipeline and the removal of a group column are not applied to it."
        )
    parameters = last.get_params() if hasattr(last, "get_params") else {}
    for name in sorted(_ABOUT_COLUMNS) if dropped else ():
        value = fit_params.get(name, parameters.get(name))
        if _counts_columns(value):
            raise ValueError(
                f"{name}={value!r} refers to columns by number, but the column "
                f"{', '.join(map(repr, dropped))} is removed from X: name the columns instead, or "
                "move the ids to an index level."
            )


def params_of_fit(last: Any, train: QueryRows) -> Params:
    """The parameters of the last step's `fit`, with groups and weights added."""
    name = groups_parameter(last)
    added = INTERFACES[name](train) if name else {"sample_weight": train.weight}
    added = {name: value for name, value in added.items() if value is not None}
    if _names_not_taken(last, added):
        raise ValueError(f"{type(last).__name__}.fit does not take sample_weight.")
    return added_once(added, train.params)


def added_once(added: Params, params: Params) -> Params:
    """Both together; raises if the user passed something that is added."""
    twice = sorted(set(added).intersection(params))
    if twice:
        raise ValueError(
            f"{', '.join(twice)} is set by GroupedRanker from groups, sample_weight and "
            "early_stopping: leave it out."
        )
    return params | added


def _names_not_taken(estimator: Any, names: Iterable[str]) -> list[str]:
    taken = signature(estimator.fit).parameters
    takes_any = any(param.kind is Parameter.VAR_KEYWORD for param in taken.values())
    return [] if takes_any else sorted(set(names) - set(taken))


def is_aligned(name: str, value: Any, n_rows: int) -> bool:
    """Whether a fit parameter has a value for each row."""
    about_others = name in _ABOUT_COLUMNS or name.startswith(("eval_", "feature_"))
    if about_others or name == "callbacks" or isinstance(value, str | bytes | dict):
        return False
    if hasattr(value, "shape"):
        return tuple(value.shape[:1]) == (n_rows,)
    return hasattr(value, "__len__") and len(value) == n_rows


def _counts_columns(value: Any) -> bool:
    """Whether a value refers, or may refer, to columns by number."""
    if isinstance(value, str):  # "0,3" or "(0,1)", but neither "from_dtype" nor "name:a,b2"
        return bool(re.search(r"(?<!\w)\d+(?!\w)", value))
    if np.iterable(value):  # also the keys of a dict
        return any(_counts_columns(item) for item in value if not isinstance(item, str))
    return isinstance(value, Number | np.bool_)


def last_step(estimator: Any) -> Any:
    """The estimator itself, or the last step of a Pipeline."""
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1] if estimator.steps else None
    return estimator


def fitted_array(model: Any, name: str) -> NDArray[Any]:
    """`feature_importances_` or `coef_` of a fitted estimator."""
    values = getattr(model, name)  # raises if it is missing
    # CatBoost's are None in rankers, and those of all rounds in a model that was cut
    if hasattr(model, "get_feature_importance"):
        values = model.get_feature_importance(type="PredictionValuesChange")
    return np.asarray(values)


def without_last_step(pipeline: Pipeline) -> Pipeline:
    """A Pipeline of the steps before the last."""
    # a last step that does nothing lets memory= cache each of the others
    idle = (pipeline.steps[-1][0], "passthrough")
    return Pipeline([*pipeline.steps[:-1], idle], memory=pipeline.memory)


def routing_of(estimator: Any, owner: str) -> metadata_routing.MetadataRouter:
    """The requests of `fit` by the last step of `estimator`, and by the steps before it.

    Weights and the library's groups are not among them: GroupedRanker passes these itself.
    """
    last = last_step(estimator)
    requests = metadata_routing.get_routing_for_object(None if isinstance(last, type) else last)
    if hasattr(requests, "fit"):  # not a router itself
        own, inner = {"sample_weight", *INTERFACES}, requests.fit.requests
        for name in [name for name in inner if name in own or not inner[name]]:
            del inner[name]
    mapping = MethodMapping().add(caller="fit", callee="fit")
    router = metadata_routing.MetadataRouter(owner=owner).add(last=requests, method_mapping=mapping)
    has_steps = isinstance(estimator, Pipeline) and estimator.steps
    mapping = MethodMapping().add(caller="fit", callee="fit_transform")
    steps = without_last_step(estimator) if has_steps else None
    return router.add(steps=steps, method_mapping=mapping)


def router_of(ranker: Any, requests: Any) -> metadata_routing.MetadataRouter:
    """The ranker's own `requests`, and those of the inner estimators."""
    last = last_step(ranker.estimator)
    taken = signature(last.fit).parameters if hasattr(last, "fit") else {}
    for name in set(CATBOOST_COLUMNS).difference(taken):
        requests.fit.requests.pop(name, None)
    return routing_of(ranker.estimator, type(ranker).__name__).add_self_request(requests)


def route(ranker: Any, rows: QueryRows, grouping: Grouping | None) -> QueryRows:
    """Divide parameters of `fit`, weights and groups among the last step and those before it."""
    if not sklearn.get_config()["enable_metadata_routing"]:
        return rows
    inner = routing_of(ranker.estimator, type(ranker).__name__)
    requested = inner.consumes(method="fit", params=rows.params)
    passed = {name: rows.params[name] for name in requested}
    if rows.weight is not None:
        passed["sample_weight"] = rows.weight
    if grouping is not None:
        passed["groups"] = grouping.labels[grouping.row_codes()]
    routed = metadata_routing.process_routing(ranker, "fit", **passed)
    # parameters that no step requests are meant for the last step
    last = {name: value for name, value in rows.params.items() if name not in requested}
    last.update(routed["last"]["fit"])
    weight = last.pop("sample_weight", None)  # None if it was passed for the steps alone
    own = BaseEstimator.get_metadata_routing(ranker).fit.requests["sample_weight"]
    if own is not False or not inner.consumes(method="fit", params=["sample_weight"]):
        weight = rows.weight
    return replace(rows, params=last, metadata=routed["steps"]["fit_transform"], weight=weight)


def fit_transformers(pipeline: Pipeline, train: QueryRows, held_out: QueryRows | None) -> Split:
    """Fit the steps before the last on the training rows only, and transform all rows."""
    samplers = [name for name, step in pipeline.steps if hasattr(step, "fit_resample")]
    if samplers:
        raise TypeError(
            f"Step {samplers[0]!r} draws rows: samplers are not supported inside GroupedRanker, as "
            "they cut queries. max_queries draws whole ones."
        )
    head = without_last_step(pipeline)
    train = replace(train, X=head.fit_transform(train.X, train.y, **train.metadata))
    if held_out is not None:
        held_out = replace(held_out, X=head.transform(held_out.X))
    pipeline.steps = [*head.steps[:-1], pipeline.steps[-1]]
    return train, held_out
