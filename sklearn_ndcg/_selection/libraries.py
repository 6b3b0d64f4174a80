"""How LightGBM, XGBoost, CatBoost and Pipelines are fitted: groups, weights, fit parameters.

A library is recognised by its `fit`'s parameter for groups; `INTERFACES` has an entry for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
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
class TrainingRows:
    """Rows sorted by query, with one weight per row, and what is passed to `fit` with them.

    `params` are for the last step, `metadata` for the steps before it.
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

    def take(self, rows: Ints, lengths: Ints) -> TrainingRows:
        """Some of the rows, of queries of these lengths, and the values that belong to them."""

        def take_aligned(params: Params) -> Params:
            return {
                name: take_rows(value, rows) if is_aligned(name, value, len(self.y)) else value
                for name, value in params.items()
            }

        weight = None if self.weight is None else self.weight[rows]
        params, metadata = take_aligned(self.params), take_aligned(self.metadata)
        return TrainingRows(
            take_rows(self.X, rows), self.y[rows], weight, lengths, params, metadata
        )


class LibraryInterface(NamedTuple):
    """The name of `fit`'s parameter for groups, and what goes with it."""

    name: str
    groups: Callable[[TrainingRows], Any]
    weight_name: str
    weight: Callable[[TrainingRows], Any]
    labels: str  # which labels the library takes


_WHOLE_LABELS = "quantile_grades turns any target into integer labels."

# The order matters: XGBoost has `qid` and `group`, and `qid` has to be found first. LightGBM takes
# one weight per row, XGBoost one per query; CatBoost's ranking losses ignore row weights silently
# and take group_weight.
INTERFACES = [
    LibraryInterface(
        name="qid",
        groups=lambda rows: rows.query_numbers,
        weight_name="sample_weight",
        weight=lambda rows: rows.weight_per_query,
        labels="XGBoost takes integer labels from 0 to 31, or any labels with ndcg_exp_gain=False "
        f"(linear gain); {_WHOLE_LABELS}",
    ),
    LibraryInterface(
        name="group_id",
        groups=lambda rows: rows.query_numbers,
        weight_name="group_weight",
        weight=lambda rows: rows.query_weight_per_row,
        labels="CatBoost takes any finite label.",
    ),
    LibraryInterface(
        name="group",
        groups=lambda rows: rows.lengths,
        weight_name="sample_weight",
        weight=lambda rows: rows.weight,
        labels="LightGBM takes integer labels from 0 to 30, and higher ones if label_gain has a "
        "gain for each (label_gain=list(range(101)) is linear gain up to 100); "
        f"{_WHOLE_LABELS}",
    ),
]

# what the last step gets from GroupedRanker itself
SET_HERE = {"sample_weight", *(interface.name for interface in INTERFACES)}

# parameters of fit or of the estimator that may refer to columns by number
_ABOUT_COLUMNS = {
    "cat_column", "cat_feature", "cat_features", "categorical_column", "categorical_feature",
    "categorical_features", "embedding_features", "feature_weights", "ignored_features",
    "interaction_constraints", "interaction_cst", "monotone_constraints", "monotonic_cst",
    "text_features",
}  # fmt: skip


def interface_of(last: Any) -> LibraryInterface | None:
    """The interface by which `last` takes groups; None for an estimator that takes none."""
    names = signature(last.fit).parameters
    return next((interface for interface in INTERFACES if interface.name in names), None)


def check_fit_params(
    fit_params: Params, last: Any, dropped: list[Any], rows_are_transformed: bool
) -> None:
    """Raise for fit parameters that cannot follow the rows and columns of the last step.

    `dropped` are the columns that are removed from X; `rows_are_transformed` says whether rows are
    held out or transformed by the steps of a Pipeline.
    """
    unknown = _names_not_taken(last, fit_params)
    if unknown:
        raise TypeError(f"{type(last).__name__}.fit does not take {', '.join(unknown)}.")
    row_numbers = sorted({"graph", "pairs", "pairs_weight"}.intersection(fit_params))
    if row_numbers:
        raise ValueError(f"{', '.join(row_numbers)} cannot be passed: rows are sorted by query.")
    evaluates = sorted(name for name in fit_params if name.startswith("eval_"))
    if evaluates and (rows_are_transformed or dropped):
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


def params_of_fit(last: Any, train: TrainingRows) -> Params:
    """The parameters of the last step's `fit`, with groups and weights added."""
    interface = interface_of(last)
    added: Params = {} if interface is None else {interface.name: interface.groups(train)}
    if train.weight is not None:
        name = "sample_weight" if interface is None else interface.weight_name
        if _names_not_taken(last, [name]):
            raise ValueError(f"{type(last).__name__}.fit does not take sample_weight.")
        added[name] = train.weight if interface is None else interface.weight(train)
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
    shape = getattr(value, "shape", None)
    if shape is None:
        return hasattr(value, "__len__") and len(value) == n_rows
    return len(shape) > 0 and shape[0] == n_rows


def _counts_columns(value: Any) -> bool:
    """Whether a value refers, or may refer, to columns by number."""
    if isinstance(value, dict):
        return _counts_columns(list(value))
    if isinstance(value, str):  # "0,3" or "(0,1)", but neither "from_dtype" nor "name:a,b2"
        return bool(re.search(r"(?<!\w)\d+(?!\w)", value))
    if np.iterable(value):
        return any(_counts_columns(item) for item in value if not isinstance(item, str))
    return isinstance(value, Number | np.bool_)


@contextmanager
def explaining_label_errors(last: Any, y: NDArray[Any]) -> Iterator[None]:
    """Say which labels the library takes, if its `fit` refuses some."""
    try:
        yield
    except Exception as error:
        interface = interface_of(last)
        if interface is None or not _is_about_labels(error, y):
            raise
        said = " ".join(str(error).partition("Stack trace:")[0].split())  # XGBoost adds a trace
        raise ValueError(
            f"{type(last).__name__} refused labels from {y.min()} to {y.max()}. "
            f"{interface.labels} Its error: {said}"
        ) from error


def _is_about_labels(error: Exception, y: NDArray[Any]) -> bool:
    if y.dtype.kind not in "iuf" or not np.isfinite(y).all():
        return False
    unusual = bool(((y < 0) | (y > 30) | (y != np.floor(y))).any())
    return unusual and any(word in str(error).lower() for word in ("label", "relevance"))


def last_step(estimator: Any) -> Any:
    """The estimator itself, or the last step of a Pipeline."""
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1] if estimator.steps else None
    return estimator


def clone_estimator(estimator: Any) -> Any:
    """A clone; the error says which lists of CatBoost cannot be cloned."""
    try:
        return clone(estimator)
    except RuntimeError as error:
        settings: Params = getattr(last_step(estimator), "get_params", dict)()
        lists = [name for name in CATBOOST_COLUMNS if isinstance(settings.get(name), list)]
        if lists:
            error.add_note(f"{', '.join(lists)} is a list: pass a tuple, or pass it to fit.")
        raise


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
        inner = requests.fit.requests
        for name in [name for name in inner if name in SET_HERE or not inner[name]]:
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


def route(
    ranker: Any, grouping: Grouping | None, weight: Floats | None, fit_params: Params
) -> tuple[Params, Params, Floats | None]:
    """Parameters of the last step's `fit`, of the steps before it, and the last step's weights."""
    if not sklearn.get_config()["enable_metadata_routing"]:
        return fit_params, {}, weight
    inner = routing_of(ranker.estimator, type(ranker).__name__)
    requested = inner.consumes(method="fit", params=fit_params)
    passed = {name: fit_params[name] for name in requested}
    if weight is not None:
        passed["sample_weight"] = weight
    if grouping is not None:
        passed["groups"] = grouping.labels[grouping.row_codes()]
    routed = metadata_routing.process_routing(ranker, "fit", **passed)
    # parameters that no step requests are meant for the last step
    last = {name: value for name, value in fit_params.items() if name not in requested}
    last.update(routed["last"]["fit"])
    weight_of_search = last.pop("sample_weight", None)
    own = BaseEstimator.get_metadata_routing(ranker).fit.requests
    if own["sample_weight"] is False and inner.consumes(method="fit", params=["sample_weight"]):
        weight = weight_of_search  # None if it was passed for the steps alone
    return last, routed["steps"]["fit_transform"], weight


def fit_transformers(
    pipeline: Pipeline, train: TrainingRows, held_out: TrainingRows | None
) -> tuple[TrainingRows, TrainingRows | None]:
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
