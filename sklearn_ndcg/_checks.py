"""Checks, conversions and types that every module uses, and the one way to warn."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from importlib import import_module
from inspect import currentframe
from itertools import combinations, takewhile
from numbers import Integral, Real
from typing import Any, Literal, TypeGuard

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Grades = NDArray[np.uint8]
Ints = NDArray[np.intp]

Cutoff = int | Literal["retrieved"] | None
NamedGain = Literal["linear", "exponential"]
GainTable = Sequence[float] | NDArray[Any] | Mapping[float, float]
Gain = NamedGain | GainTable | Callable[[Floats], ArrayLike]
NamedDiscount = Literal["log", "reciprocal", "none"]
Discount = NamedDiscount | Callable[[NDArray[np.int64]], ArrayLike]
Ties = Literal["average", "stable", "worst", "best"]
Unjudged = Literal["raise", "zero", "omit"]
NamedUndefined = Literal["warn", "omit", "raise"]
Undefined = NamedUndefined | float

_IDS = ("groups", "clusters", "segments", "all_groups")  # arguments that may be lists of columns
_DATA = ("y_true", "y_score", "X", "y")  # arguments whose rows are those of the ids

EQUAL = 1e-12  # differences up to this are rounding errors

# Warnings point at the first line outside these folders: the user's.
_TOOLS = tuple(os.path.dirname(file) + os.sep for file in (__file__, sklearn.__file__))


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line: the first outside this package, scikit-learn and joblib."""
    frame, level = currentframe(), 1
    while frame is not None and _is_tool(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    # a worker process may not have such a line
    warnings.warn(message, category, stacklevel=2 if frame is None else level)


def _is_tool(file: str) -> bool:
    return file.startswith(_TOOLS) or f"{os.sep}joblib{os.sep}" in file


@contextmanager
def naming_ranker(ranker: Any, rankers: Sized) -> Iterator[None]:
    """Say in which of several rankers errors are."""
    try:
        yield
    except (TypeError, ValueError) as error:
        name_ranker(error, ranker, rankers)
        raise


def name_ranker(error: Exception, ranker: Any, rankers: Sized) -> None:
    """Say in which of several rankers an error is."""
    if len(rankers) > 1:
        error.add_note(f"While comparing the ranker {ranker!r}.")


def import_optional(module: str, needs: str, requirement: str) -> Any:
    """Import what only some functions need; the error says what needs it and how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f'{needs}: python -m pip install "{requirement}"') from error


def refuse_masked(values: Any, name: str) -> None:
    """Raise if a masked array hides values."""
    # pandas' nullable arrays have a mask too, which np.ma would take for its own
    if not np.ma.isMaskedArray(values):
        return
    masked = np.ma.getmaskarray(values)
    if masked.any():
        hidden = describe_mask(masked, "masked value", "masked values")
        raise ValueError(
            f"{name} is a masked array with {hidden}. Fill in masked values, or leave their rows "
            "out."
        )


def describe_mask(mask: NDArray[np.bool_], what: str, plural: str = "") -> str:
    """How many values a mask selects, and where: "3 NaN, the first at index 5"."""
    n = np.count_nonzero(mask)
    if not n:
        raise RuntimeError("The input changed while it was read: another thread writes to it.")
    first = tuple(np.argwhere(mask)[0].tolist())
    index = first if len(first) > 1 else first[0]
    where = "the first at index" if n > 1 else "at index"
    return f"{n} {plural if plural and n > 1 else what}, {where} {index}"


def refuse_reordered(**arguments: Any) -> None:
    """Raise if labels show that the rows of pandas objects do not belong together.

    Rows are matched by position. So objects that have the same labels in different orders would be
    matched wrongly, and so would ids of other rows than those of the data. Other indexes with
    different labels say nothing about the order.
    """
    for values in arguments.values():
        if hasattr(values, "iloc") or isinstance(values, list):
            break
    else:
        return
    columns = [column for argument in arguments.items() for column in _columns(*argument)]
    for axis in ("index", "columns"):
        labelled = [
            (name, getattr(values, axis)) for name, values in columns if _has_labels(values, axis)
        ]
        for (first_name, first), (name, labels) in combinations(labelled, 2):
            if _is_reordered(first, labels):
                raise ValueError(
                    f"{first_name} and {name} have the same labels in their {axis}, but in "
                    f"another order, and are matched by position. Pass {name}.to_numpy() if they "
                    "belong together as they are. If not, reorder one of them: "
                    f"{name}.reindex({axis}={first_name}.{axis}) does it if labels are unique."
                )
    data = {
        name: values for name, values in arguments.items() if name in _DATA and _has_labels(values)
    }
    if len(data) == 2:
        _refuse_other_labels(data, arguments)


def _refuse_other_labels(data: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Raise if ids have labels that the common index of the data lacks."""
    labels, index = (values.index for values in data.values())
    # a label that several rows share, such as the query, does not identify a row
    if not labels.equals(index) or not labels.is_unique:
        return
    for name, ids in _columns("groups", arguments.get("groups")):
        if not _has_labels(ids) or len(ids.index) != len(labels):
            continue
        others = ids.index
        if others.nlevels == labels.nlevels and not (known := others.isin(labels)).all():
            raise ValueError(
                f"{name} has labels in its index that the index of {' and '.join(data)} lacks: "
                f"{describe_mask(~known, 'row', 'rows')}. Rows are matched by position. Pass the "
                f"ids of the same rows, or {name}.to_numpy() if they belong together as they are."
            )


def _has_labels(values: Any, axis: str = "index") -> bool:
    return hasattr(getattr(values, axis, None), "equals")


def _columns(name: str, values: Any) -> list[tuple[str, Any]]:
    """An argument and its name; a list of columns of ids is split into columns."""
    if name not in _IDS or not isinstance(values, list | tuple):
        return [(name, values)]
    # one id per row has no shape, or an empty one
    columns = takewhile(
        lambda column: isinstance(column, list) or getattr(column, "shape", ()), values
    )
    return [(f"{name}[{number}]", column) for number, column in enumerate(columns)]


def _is_reordered(labels: Any, others: Any) -> bool:
    sizes = (len(labels), labels.nlevels), (len(others), others.nlevels)
    if labels is others or sizes[0] != sizes[1] or labels.equals(others):
        return False
    try:
        if labels[0] not in others:
            return False
        return bool(labels.sort_values().equals(others.sort_values()))
    except TypeError:  # labels without a hash, or of several kinds
        return Counter(map(repr, labels)) == Counter(map(repr, others))


def check_choice(name: str, value: object, choices: tuple[str, ...], more: str = "") -> None:
    """Raise unless `value` is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(
            f"{name} must be one of {listed}{f', {more}' if more else ''}; got {value!r}."
        )


def is_integer(value: object) -> TypeGuard[int]:
    """Whether `value` is an integer of Python or NumPy, but not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether `value` is a real number that a float can hold, but not a bool."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:  # an integer beyond every float
        return False
    return True


def name_of(function: object) -> str:
    """The name of a function, or how it prints."""
    return getattr(function, "__name__", None) or repr(function)


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, NaT or pandas.NA, or a tuple that holds one."""
    if label is None:
        return True
    if isinstance(label, tuple):
        return any(map(is_missing, label))
    try:
        return bool(label != label)  # noqa: PLR0124  (nan and NaT)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True


def to_host(values: Any) -> Any:
    """Arrays of the array API, on any device, as NumPy arrays; anything else unchanged."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "detach"):  # a torch tensor, which may require grad
        values = values.detach()
    elif not hasattr(values, "__array_namespace__"):
        return values
    try:
        return np.from_dlpack(values, device="cpu")
    except (TypeError, BufferError, RuntimeError):  # NumPy before 2.1, or another device
        return np.asarray(values.cpu() if hasattr(values, "cpu") else values)
