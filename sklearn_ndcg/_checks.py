"""Checks, conversions and types that every module uses, and the one way to warn."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from inspect import currentframe
from numbers import Integral, Real
from typing import Any, Literal, TypeGuard, TypeVar

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Grades = NDArray[np.uint8]
Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]
Ids = NDArray[Any]  # ids or labels: numbers, dates, text or objects
Numbers = NDArray[Any]  # bool, int or float

Cutoff = int | Literal["retrieved"] | None
NamedGain = Literal["linear", "exponential"]
Gain = NamedGain | Sequence[float] | NDArray[Any] | Callable[[Floats], ArrayLike]
NamedDiscount = Literal["log", "reciprocal", "none"]
Discount = NamedDiscount | Callable[[Floats], ArrayLike]
Ties = Literal["average", "stable", "worst", "best"]
Unjudged = Literal["raise", "zero", "omit"]
NamedUndefined = Literal["warn", "omit", "raise"]
Undefined = NamedUndefined | float
Weights = ArrayLike | Mapping[Any, float]  # of rows or of queries; by query for lists

Function = TypeVar("Function", bound=Callable[..., Any])

# what scorers, XGBoost, CatBoost, LightGBM and others call the ids of queries
WORDS_FOR_GROUPS = {"group_by", "qid", "group_id", "group", "query_id", "query_ids"}

EQUAL = 1e-12  # differences up to this are rounding errors

# Warnings point at the first line outside these folders: the user's.
_TOOLS = tuple(os.path.dirname(file) + os.sep for file in (__file__, sklearn.__file__))


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line: the first outside this package, scikit-learn and joblib."""
    frame, level = currentframe(), 1
    while frame is not None and _is_tool(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_tool(file: str) -> bool:
    return file.startswith(_TOOLS) or f"{os.sep}joblib{os.sep}" in file


@contextmanager
def naming_ranker(ranker: object, rankers: Sized) -> Iterator[None]:
    """Say in which of several rankers errors are."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if len(rankers) > 1:
            error.add_note(f"While comparing the ranker {ranker!r}.")
        raise


def names_groups(function: Function) -> Function:
    """Let a function with `groups` name it in the error for another library's word for it."""

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        for word in WORDS_FOR_GROUPS & options.keys():
            raise TypeError(f"{function.__name__} has no option {word!r}. Pass groups.")
        return function(*arguments, **options)

    return checked  # type: ignore[return-value]


def import_optional(module: str, needs: str, requirement: str) -> Any:
    """Import what only some functions need; the error says what needs it and how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f'{needs}: python -m pip install "{requirement}"') from error


def import_pandas() -> Any:
    """Import pandas for `to_frame`."""
    return import_optional("pandas", "to_frame needs pandas", "pandas>=2.2")


def publish(module: dict[str, Any], *others: str, held: Iterable[type] = ()) -> None:
    """Let `dir` of a public module list `__all__` and `others`, and pickles name this module.

    `held` are further classes whose objects are attributes of public ones.
    """
    module["__dir__"] = lambda: [*module["__all__"], *others]
    module |= {kind.__name__: kind for kind in held}
    for public in (*held, *map(module.get, module["__all__"])):
        if callable(public):
            public.__module__ = module["__name__"]


def refuse_masked(values: object, name: str) -> None:
    """Raise if a masked array hides values."""
    # pandas' nullable arrays have a mask too, which np.ma would take for its own
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        hidden = describe_mask(np.ma.getmaskarray(values), "masked value", "masked values")
        raise ValueError(f"{name} is a masked array with {hidden}. Fill them, or leave rows out.")


def describe_mask(mask: Mask, what: str, plural: str = "") -> str:
    """How many values a mask selects, and where: "3 NaN, the first at index 5"."""
    n = np.count_nonzero(mask)
    first = np.argwhere(mask)[0].tolist()
    index = tuple(first) if len(first) > 1 else first[0]
    if n == 1:
        return f"1 {what}, at index {index}"
    return f"{n} {plural or what}, the first at index {index}"


def check_choice(name: str, value: object, choices: tuple[str, ...], more: str = "") -> None:
    """Raise unless `value` is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join([*map(repr, choices), *([more] if more else [])])
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")


def check_cutoff(k: object) -> Cutoff:
    """`k` of one score: None, an int >= 1 or "retrieved"."""
    if k is None:
        return None
    if isinstance(k, str) and k == "retrieved":
        return "retrieved"
    if (type(k) is int or is_integer(k)) and k >= 1:
        return int(k)
    several = (
        " For several cutoffs, ndcg_curve takes an array, tools of scikit-learn a dict of scorers, "
        "and from_lists and from_trec the largest. Call other functions in a loop."
    )
    raise ValueError(
        "k must be an integer >= 1, None for all documents or 'retrieved' for each list's own "
        f"length, got {k!r}.{several if isinstance(k, list | tuple | np.ndarray) else ''}"
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


def is_missing(label: object) -> bool:
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
    if hasattr(values, "detach"):  # a tensor of torch, which may require grad
        values = values.detach()
    elif not hasattr(values, "__array_namespace__"):
        return values
    try:
        return np.from_dlpack(values, device="cpu")
    except (TypeError, BufferError, RuntimeError):  # NumPy before 2.1, or another device
        return np.asarray(values.cpu() if hasattr(values, "cpu") else values)
