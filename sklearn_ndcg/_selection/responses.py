"""The scores of an estimator: which method ranks, and what class probabilities are worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import get_tags

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Floats
from sklearn_ndcg._metrics.measure import Measure

Response = Literal["predict_proba", "decision_function", "predict", "score_samples"]
ResponseMethod = Literal["auto"] | Response | Sequence[Response] | Callable[[Any, Any], ArrayLike]


def methods_in(response_method: Any) -> list[str]:
    """`response_method` as a list; raise if it is not valid."""
    is_list, known = isinstance(response_method, list | tuple), get_args(Response)
    methods = [*response_method] if is_list else [response_method]
    if methods != ["auto"] and not (methods and all(callable(m) or m in known for m in methods)):
        raise ValueError(
            f"response_method must be 'auto', a callable or in {known}; got {response_method!r}."
        )
    return methods


def scores_of(
    estimator: Any, X: Any, y_ndim: int, response_method: ResponseMethod, measure: Measure
) -> Any:
    """The estimator's scores of the rows of X, in the shape of y, which has `y_ndim` dimensions."""
    method = _method_of(estimator, y_ndim, response_method)
    response = method(estimator, X) if callable(method) else getattr(estimator, method)(X)
    if method != "predict_proba":
        return response
    classes = getattr(estimator, "classes_", None)
    if y_ndim == 1:
        return _expected_gain(measure, response, classes)
    if isinstance(response, list) and y_ndim == 2:  # multilabel: an array for each label
        labels = zip(response, classes, strict=True)  # type: ignore[arg-type]
        return np.column_stack([_expected_gain(measure, *label) for label in labels])
    return response


def _method_of(estimator: Any, y_ndim: int, response_method: ResponseMethod) -> Any:
    """The name of the estimator's method that gives scores, or a callable of the user's."""
    methods = methods_in(response_method)
    is_called = any(map(callable, methods))  # then anything may be a model
    if not is_called and not any(hasattr(estimator, name) for name in get_args(Response)):
        raise TypeError(f"estimator must be a fitted estimator, got {estimator!r:.60}.")
    problem = f"has no such method: response_method={response_method!r}."
    if methods == ["auto"]:
        classes = _checks.to_host(getattr(estimator, "classes_", None))
        n_classes = 0 if classes is None else len(classes)  # None: a regressor of AutoGluon
        if not _is_classifier(estimator, n_classes):
            return "predict"
        binary = y_ndim == 2 or n_classes == 2
        methods = ["predict_proba", "decision_function"] if binary else ["predict_proba"]
        problem = (
            "is a classifier with neither predict_proba nor a decision_function of one score per "
            "row. Use CalibratedClassifierCV, or pass response_method='predict'."
        )
    for method in methods:
        if callable(method) or hasattr(estimator, method):
            return method
    raise ValueError(f"{type(estimator).__name__} {problem}")


def _is_classifier(estimator: Any, n_classes: int) -> bool:
    kind = get_tags(estimator).estimator_type if hasattr(estimator, "__sklearn_tags__") else None
    name, has_probabilities = type(estimator).__name__, hasattr(estimator, "predict_proba")
    if kind in ("clusterer", "outlier_detector"):
        raise ValueError(
            f"{name} predicts labels, which do not rank. Pass response_method='score_samples', or "
            "a callable, such as response_method=lambda model, X: -model.transform(X).min(axis=1)."
        )
    if kind:
        return bool(kind == "classifier")
    if has_probabilities and not hasattr(estimator, "classes_"):
        _checks.warn(
            f"{name} has predict_proba but no classes_, so predict ranks. Pass response_method: "
            "'predict', or a callable, such as lambda model, X: model.predict_proba(X)[:, 1]."
        )
    return n_classes > 1 and has_probabilities


def _expected_gain(measure: Measure, proba: Any, classes: Any) -> Floats:
    """Mean gain of each row under its class probabilities."""
    grades = _inferred(classes)
    if grades.dtype.kind not in "biuf":
        raise ValueError(
            f"The classes {grades.tolist()} are not numbers, so probabilities of them have no "
            "expected gain. Encode y as grades, or choose the scores with response_method."
        )
    gains = measure.gains(grades.astype(np.float64), "classes_")
    proba = _inferred(proba)
    is_numeric = proba.dtype.kind in "fiub" and proba.ndim == 2
    if not is_numeric or proba.shape[1:] != gains.shape or not np.isfinite(gains).all():
        raise ValueError(
            "Each class needs a probability and a finite gain; predict_proba returned shape "
            f"{proba.shape} for the classes {grades.tolist()}, whose gains are {gains.tolist()}."
        )
    return _without_rounding_errors(proba, gains)


def _inferred(values: Any) -> NDArray[Any]:
    """An array; of objects, one of the type that these have."""
    array = np.asarray(_checks.to_host(values))
    return np.array(array.tolist()) if array.dtype.kind == "O" else array


def _without_rounding_errors(proba: Floats, gains: Floats) -> Floats:
    """Mean gains to 40 bits, so that gains which are equal in exact arithmetic tie.

    Sums of probabilities times gains differ in their last bits, with their order and the machine.
    """
    means, highest = (proba * gains).sum(axis=1), gains.max()
    if gains.min() < 0:  # terms can cancel out, so relative to the largest of them
        return _to_40_bits(means, np.abs(gains).max())
    # Close to the highest gain, the difference from it is rounded, as it has more digits.
    single = np.count_nonzero(gains) <= 1
    missing = highest - means if single else (proba * (highest - gains)).sum(axis=1)
    close = missing < highest / 1024
    return np.where(close, highest - _to_40_bits(missing, missing), _to_40_bits(means, means))


def _to_40_bits(values: Floats, unit: Any) -> Floats:
    """Values rounded to 40 bits below the highest bit of the unit."""
    _, exponent = np.frexp(unit)
    return np.asarray(np.ldexp(np.round(np.ldexp(values, 40 - exponent)), exponent - 40))
