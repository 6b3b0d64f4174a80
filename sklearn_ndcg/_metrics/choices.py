"""The choices of a DCG: gains, discounts, ties, and values of undefined queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from inspect import signature
from math import isfinite, log
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Discount, Floats, Mask, Undefined, Unjudged
from sklearn_ndcg._kernels.numpy_kernels import TieRule


def _exponential(relevance: Floats) -> Floats:
    with np.errstate(over="ignore"):  # infinite gains are refused later
        gain = np.exp2(relevance)
    gain -= 1
    small = (np.abs(relevance) < 1) & (relevance != 0)
    if small.any():  # avoids cancellation near 0
        gain[small] = np.expm1(relevance[small] * np.log(2))
    return gain


@dataclass(frozen=True)
class log_discount:  # noqa: N801  (a discount: used and shown like a function)
    """The discount ``1 / log(rank + 1)`` to a base."""

    base: float = 2

    def __call__(self, ranks: ArrayLike) -> Floats:
        after = np.asarray(ranks, dtype=np.float64) + 1
        # log2 is exact at powers of two, where a quotient of natural logarithms is not
        logs = np.log2(after) if self.base == 2 else np.log(after) / log(self.base)
        return np.asarray(1 / logs)


class UndefinedRule(NamedTuple):
    """The value of undefined queries, nan if they are left out, and what is said of them.

    `name` is what is undefined, and `cause` says why.
    """

    value: float
    warns: bool = False
    raises: bool = False
    name: str = ""
    cause: str = ""

    def report(self, n_undefined: int, n_queries: int) -> None:
        """Warn of undefined queries, or raise."""
        if not n_undefined or not (self.warns or self.raises):
            return
        value = self.value or 0.0  # not -0.0
        undefined = f"{self.name} is undefined for {n_undefined} of {n_queries} queries{self.cause}"
        if self.raises:
            raise ValueError(
                f"{undefined}. Pass undefined='omit' to leave them out of the mean, or"
                " a number as their value."
            )
        _checks.warn(
            f"{undefined}, and is set to {value} there. Pass undefined={value}, for models to the "
            "scorer, to keep that, another number, or 'omit' to leave them out.",
            UndefinedMetricWarning,
        )


# The names that `gain`, `discount`, `ties`, `unjudged` and `undefined` take. A new one is an entry
# here, in the type of the argument in `_checks`, and in the docstrings of the metric functions.
GAINS: Mapping[str, Callable[[Floats], Floats]] = {
    "linear": np.asarray,  # as it is
    "exponential": _exponential,
}
DISCOUNTS: Mapping[str, Callable[[Floats], Floats]] = {
    "log": log_discount(),
    "reciprocal": lambda ranks: 1 / ranks,
    "none": np.ones_like,
}
TIES = {
    "average": TieRule(averages=True),
    "stable": TieRule(),
    "worst": TieRule(by_gain=-1),
    "best": TieRule(by_gain=1),
}
UNDEFINED = {
    "warn": UndefinedRule(0.0, warns=True),
    "omit": UndefinedRule(np.nan),
    "raise": UndefinedRule(np.nan, raises=True),
}
_OTHERS = {  # what else may be passed
    "gain": "a sequence of the gains of the grades 0, 1, 2, ... or a callable on relevance",
    "discount": "or a callable on the ranks 1..n",
    "undefined": "or a number from {:g} to {:g}",
}
_NAMES: Mapping[str, Collection[str]] = {
    "gain": GAINS,
    "discount": DISCOUNTS,
    "ties": TIES,
    "unjudged": get_args(Unjudged),
    "undefined": UNDEFINED,
}


@dataclass(frozen=True)
class GainTable:
    """The gains of the grades 0, 1, 2, ..."""

    gains: tuple[float, ...]

    @classmethod
    def of(cls, table: Any) -> GainTable:
        """Check a sequence of gains."""
        # not a pandas Series: whether its index is meant as grades would be a guess
        is_array = isinstance(table, np.ndarray) and table.ndim == 1
        gains = list(table) if is_array or isinstance(table, list | tuple | range) else []
        if not gains or not all(_checks.is_number(gain) and isfinite(gain) for gain in gains):
            raise ValueError(
                "gain must be finite numbers, one for each of the grades 0, 1, 2, ..., in a list "
                f"or an array; got {table!r}."
            )
        return cls(tuple(map(float, gains)))

    def __repr__(self) -> str:
        return f"[{', '.join(f'{gain:g}' for gain in self.gains)}]"

    @cached_property
    def _array(self) -> Floats:
        return np.array(self.gains)

    def look_up(
        self, relevance: Floats, source: str, describe: Callable[[Mask], str] | None = None
    ) -> Floats:
        """Gain of each relevance in `source`; `describe` says which rows have no gain."""
        highest = len(self.gains) - 1
        entry = np.clip(relevance, 0, highest).astype(np.intp)
        unknown = entry != relevance
        if unknown.any():
            count = int(np.count_nonzero(unknown))
            where = "" if describe is None else f" ({describe(unknown)})"
            raise ValueError(
                f"gain has no entry for {count} value{'s' * (count > 1)} of {source}, the first "
                f"{relevance[unknown][0]}{where}; it has the grades 0 to {highest}."
            )
        return np.asarray(self._array[entry])


def check(measure: Any) -> None:
    """Raise for a choice of a measure that is neither in the table of its names nor valid."""
    chosen, (low, high) = vars(measure), measure.limits
    for option, names in _NAMES.items():
        if option not in chosen:
            continue
        value = chosen[option]
        if isinstance(value, str):
            is_valid = value in names
        elif option == "undefined":
            is_valid = _checks.is_number(value) and low <= float(value) <= high
        else:
            is_valid = option in _OTHERS and (callable(value) or isinstance(value, GainTable))
        if not is_valid:
            more = _OTHERS.get(option, "").format(low, high)
            _checks.check_choice(option, value, tuple(names), more)


def undefined_rule(undefined: Undefined, name: str, cause: str = "") -> UndefinedRule:
    """What a name or a number says of queries for which something is undefined."""
    if isinstance(undefined, str):
        return UNDEFINED[undefined]._replace(name=name, cause=cause)
    return UndefinedRule(float(undefined), name=name, cause=cause)


def discount_to_base(base: float, discount: Discount) -> log_discount:
    """The logarithmic discount to another base than 2."""
    if not _checks.is_number(base) or not 1 < float(base) < np.inf:
        raise ValueError(f"log_base must be a finite number above 1, got {base!r}.")
    if discount != "log":
        raise ValueError(
            f"log_base={base!r} is the base of discount='log' and has no meaning for "
            f"discount={_checks.name_of(discount)}: leave one of the two out."
        )
    return log_discount(float(base))


def result_of(function: Callable[[Any], ArrayLike], name: str, of: str, values: Any) -> Floats:
    """What a callable gain or discount returns, one number for each value."""
    try:
        returned = function(values)
    except (TypeError, ValueError) as error:  # of the functions of `math`; of an `if`
        raise TypeError(
            f"{name} gets an array of {of}, on which {_checks.name_of(function)} failed: {error}. "
            "Use functions of NumPy, such as np.sqrt and np.log2, or "
            "np.vectorize(function, otypes=[float])."
        ) from error
    _checks.refuse_masked(returned, f"what {name} returned")
    result = np.asarray(returned)
    if result.shape != values.shape or result.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must return one number for each of the {len(values)} {of} it is given, but "
            f"{_checks.name_of(function)} returned an array of shape {result.shape}, dtype "
            f"{result.dtype}."
        )
    with np.errstate(over="ignore"):  # numbers beyond float64 are refused later
        return np.ascontiguousarray(result, dtype=np.float64)


def known_options(
    caller: Callable[..., Any], options: Mapping[str, Any], kind: type
) -> Mapping[str, Any]:
    """Options that were passed to a function, after a check that they are keys of `kind`."""
    unknown = [name for name in options if name not in kind.__annotations__]
    if unknown:
        own = [p.name for p in signature(caller).parameters.values() if p.kind is p.KEYWORD_ONLY]
        known = [*own, *kind.__annotations__]
        nearest = get_close_matches(unknown[0], known, n=1)
        hint = f" Did you mean {nearest[0]}?" if nearest else ""
        if unknown[0] in own:
            hint = f" Pass {unknown[0]} beside the options."
        elif _checks.WORDS_FOR_GROUPS & {*unknown}:
            hint = f" Pass {'group_by' if 'group_by' in own else 'groups'}."
        raise TypeError(
            f"{caller.__name__} has no option {', '.join(map(repr, unknown))}.{hint} Its options "
            f"are {', '.join(known)}."
        )
    return options


def shown(measure: Any) -> str:
    """How a measure prints: with the fields that differ from their defaults."""
    changed = (
        f"{option.name}={_checks.name_of(getattr(measure, option.name))}"
        for option in fields(measure)
        if getattr(measure, option.name) != option.default
    )
    return f"{type(measure).__name__}({', '.join(changed)})"
