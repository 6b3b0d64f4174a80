"""What NDCG can mean: gains, discounts, ties, and values where it is undefined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import isfinite, log
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Discount, Floats, Gain, Ints, Ties, Undefined, Unjudged
from sklearn_ndcg._kernels.numpy_kernels import TieRule


def _exponential(relevance: Floats) -> Floats:
    with np.errstate(over="ignore"):  # infinite gains are refused later
        gain = np.exp2(relevance)
    gain -= 1
    small = (np.abs(relevance) < 1) & (relevance != 0)
    if small.any():  # avoids cancellation near 0
        gain[small] = np.expm1(relevance[small] * np.log(2))
    return gain


def _logarithmic(ranks: NDArray[Any], base: float = 2) -> Floats:
    # log2 is exact at powers of two, where a quotient of natural logarithms is not
    logs = np.log2(ranks + 1) if base == 2 else np.log(ranks + 1) / log(base)
    return np.asarray(1 / logs)


class UndefinedRule(NamedTuple):
    """The value of a query without a relevant document; nan if it is left out."""

    value: float
    warns: bool = False
    raises: bool = False


# The names that `gain`, `discount`, `ties` and `undefined` take. A new one is an entry here, in the
# type of the argument in `_checks`, and in the docstrings of the metric functions.
GAINS: Mapping[str, Callable[..., Floats]] = {
    "linear": lambda relevance: relevance,
    "exponential": _exponential,
}
DISCOUNTS: Mapping[str, Callable[..., Floats]] = {
    "log": _logarithmic,
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
_NAMES: Mapping[str, Iterable[str]] = {
    "gain": GAINS,
    "discount": DISCOUNTS,
    "ties": TIES,
    "unjudged": ("raise", "zero", "omit"),
    "undefined": UNDEFINED,
}
_OTHER_VALUES = {
    "gain": "a table (a sequence or mapping from grade to gain) or a callable on relevance",
    "discount": "or a callable on the ranks 1..n",
    "undefined": "or a finite number (up to 1e100); 'omit' leaves undefined queries out",
}
_LARGEST = 1e100  # its cubes and their sums, as in intervals, still fit a float64


class MeasureOptions(TypedDict, total=False):
    """What a DCG means, except its cutoff and base: keyword arguments of `dcg_score`."""

    gain: Gain
    discount: Discount
    ties: Ties
    ignore_ties: bool
    unjudged: Unjudged


class NDCGOptions(MeasureOptions, total=False):
    """What an NDCG means, except its cutoff: keyword arguments of `ndcg_score`."""

    undefined: Undefined


@dataclass(frozen=True)
class Measure:
    """All choices that turn ranked relevance into a number, checked.

    `k` is one cutoff or a list of them; `normalized` says whether the DCG is divided by the ideal
    one. The other fields are the options of `ndcg_score` and `dcg_score`.
    """

    k: Any = None
    normalized: bool = True
    gain: Gain = "linear"
    discount: Discount = "log"
    log_base: float = 2
    ties: Ties = "average"
    ignore_ties: bool = False
    unjudged: Unjudged = "raise"
    undefined: Undefined = "warn"

    @classmethod
    def of(
        cls, caller: str, options: Mapping[str, Any], kind: Any = NDCGOptions, **others: Any
    ) -> Measure:
        """The measure that `options`, those of a TypedDict, and other keyword arguments define."""
        unknown = [name for name in options if name not in kind.__annotations__]
        if unknown:
            hint = " Pass the query ids as groups." if "group_by" in unknown else ""
            raise TypeError(
                f"{caller} has no option {', '.join(map(repr, unknown))}. Its options are "
                f"{', '.join(kind.__annotations__)}.{hint}"
            )
        return cls(**others, **options)

    def __post_init__(self) -> None:
        several = np.iterable(self.k) and not isinstance(self.k, str)
        cutoffs = list(map(_checks.check_cutoff, self.k if several else [self.k]))
        if not cutoffs or len(set(cutoffs)) < len(cutoffs):
            raise ValueError(f"k must list different cutoffs, at least one, got {self.k!r}.")
        # the caller may change a list or a table later
        object.__setattr__(self, "k", cutoffs if several else cutoffs[0])
        object.__setattr__(self, "gain", self.gain if callable(self.gain) else copy(self.gain))
        for option, names in _NAMES.items():
            value = getattr(self, option)
            if not isinstance(value, str) or value not in names:
                _check_other_value(option, value)
        if self.log_base != 2:
            _check_base("log_base", self.log_base)
            if self.discount != "log":
                raise ValueError(
                    f"log_base={self.log_base!r} is the base of discount='log' and has no meaning "
                    f"for discount={_checks.name_of(self.discount)}: leave one of the two out."
                )
        if not isinstance(self.ignore_ties, bool | np.bool_):
            raise ValueError(f"ignore_ties must be True or False, got {self.ignore_ties!r}.")
        if self.ignore_ties and self.ties != "average":
            raise ValueError(
                f"ignore_ties=True assumes that no scores are tied, and ties={self.ties!r} says "
                "how ties are ordered: leave one of the two out."
            )

    def __repr__(self) -> str:
        changed = (
            f"{option.name}={_checks.name_of(value)}"
            for option in fields(self)
            if repr(value := getattr(self, option.name)) != repr(option.default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    @property
    def has_several_cutoffs(self) -> bool:
        """Whether `k` is a list."""
        return isinstance(self.k, list)

    @property
    def cutoffs(self) -> list[Cutoff]:
        """`k` as a list, of one cutoff or several."""
        return self.k if self.has_several_cutoffs else [self.k]

    @property
    def tie_rule(self) -> TieRule:
        """How ties are broken: by `ties`, or in the order of the input under `ignore_ties`."""
        return TIES["stable" if self.ignore_ties else self.ties]

    @property
    def undefined_rule(self) -> UndefinedRule:
        """What is done about queries without a relevant document."""
        value = self.undefined
        return UNDEFINED[value] if isinstance(value, str) else UndefinedRule(float(value))

    def without_warning(self) -> Measure:
        """The same measure without a warning: with the value of undefined queries as a number."""
        value, warns, _ = self.undefined_rule
        return replace(self, undefined=value) if warns else self

    def undefined_for(self, queries: str) -> str:
        """What is said of undefined queries."""
        return f"NDCG is undefined for {queries}, which have no relevant document"

    def warn_or_raise_if_undefined(self, count: int, n_queries: int) -> None:
        """Warn of undefined queries, or raise, if `undefined` says so."""
        undefined = self.undefined_for(f"{count} of {n_queries} queries")
        value, warns, raises = self.undefined_rule
        if warns:
            _checks.warn(
                f"{undefined}, and is set to {value} there. Pass "
                f"undefined={value} to keep that, another number, or 'omit' to leave them out.",
                UndefinedMetricWarning,
            )
        if raises:
            raise ValueError(
                f"{undefined}. Pass undefined='omit' to leave them out of the mean, or"
                " a number as their value."
            )

    def gains(self, relevance: Floats, source: str = "y_true") -> Floats:
        """Gain of each relevance in `source`; `relevance` is not changed."""
        if isinstance(self.gain, str):
            return GAINS[self.gain](relevance)
        if callable(self.gain):
            return _result_of(self.gain, "gain", "relevance", relevance.copy())
        grades, gains = self._gain_of_grade
        entry = np.minimum(np.searchsorted(grades, relevance), len(grades) - 1)
        unknown = grades[entry] != relevance
        if unknown.any():
            count, listed = int(np.count_nonzero(unknown)), f"{grades.tolist()}"
            if len(grades) > 20:
                listed = f"{grades[:3].tolist()}...{grades[-1]}"
            raise ValueError(
                f"gain has no entry for {count} value{'s' * (count > 1)} of {source}, the first "
                f"{relevance[unknown][0]}; it has the grades {listed}."
            )
        return gains[entry]

    def gain_table(self, highest: int) -> Floats | None:
        """Gains of the grades 0..highest; None unless there is a table of them, all >= 0."""
        if callable(self.gain) or isinstance(self.gain, Mapping):
            return None
        try:
            gains = self.gains(np.arange(highest + 1.0))
        except ValueError:  # a grade without an entry, which may not occur
            return None
        return gains if gains.min() >= 0 else None

    @cached_property
    def _gain_of_grade(self) -> tuple[Floats, Floats]:
        """The grades of a table of gains, ascending, and their gains."""
        gain: Any = self.gain
        table = sorted((gain if isinstance(gain, Mapping) else dict(enumerate(gain))).items())
        grades, gains = np.array(table, dtype=np.float64).T.copy()
        return grades, gains

    def discounts(self, n: int) -> Floats:
        """Discounts of the ranks 1..n."""
        ranks = np.arange(1, n + 1)
        if isinstance(self.discount, str):
            base = {"base": self.log_base} if self.discount == "log" else {}
            discounts = DISCOUNTS[self.discount](ranks.astype(np.float64), **base)
        else:
            discounts = _result_of(self.discount, "discount", "ranks", ranks.copy())
        right = discounts >= 0  # false for NaN, as all comparisons
        right[0] = 0 < discounts[0] < np.inf
        right[1:] &= discounts[1:] <= discounts[:-1]
        if not right.all():
            first = right.argmin()
            raise ValueError(
                "discount must be finite, >= 0 (above 0 at rank 1) and must not rise, but "
                f"{_checks.name_of(self.discount)} gave {discounts[first]} at rank {first + 1}."
            )
        return discounts


@dataclass(frozen=True)
class jarvelin_kekalainen:  # noqa: N801  (a discount: used and shown like a function)
    """Discount of Järvelin and Kekäläinen: none before rank `b`, log base `b` after.

    Rank `r` is discounted by 1 if `r < b` and by ``1 / log_b(r)`` from there on, so that
    with the default base the first two ranks count in full.

    Parameters
    ----------
    b : float, default=2
        Base of the logarithm, and the rank from which it applies, > 1. A large base stands for a
        patient user, a small one for an impatient user.

    Raises
    ------
    ValueError
        If `b` is not a finite number above 1.

    References
    ----------
    Järvelin, K., & Kekäläinen, J. (2002). Cumulated gain-based evaluation of IR
    techniques. ACM Transactions on Information Systems, 20(4), 422-446.

    Examples
    --------
    The gains of the article's running example, discounted as in the article:

    >>> import numpy as np
    >>> from sklearn_ndcg import dcg_score, jarvelin_kekalainen
    >>> gains = [[3, 2, 3, 0, 0, 1, 2, 2, 3, 0]]
    >>> in_order = [[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]]
    >>> [round(dcg_score(gains, in_order, k=k, discount=jarvelin_kekalainen(b=2)), 2)
    ...  for k in (1, 2, 3, 6, 7, 8, 9)]
    [3.0, 5.0, 6.89, 7.28, 7.99, 8.66, 9.61]
    """

    b: float = 2

    def __post_init__(self) -> None:
        _check_base("b", self.b)

    def __call__(self, ranks: ArrayLike) -> Floats:
        ranks = np.asarray(ranks, dtype=np.float64)
        logs = np.log2(ranks) if self.b == 2 else np.log(ranks) / log(self.b)
        return np.asarray(1 / np.maximum(logs, 1))  # below rank b the logarithm is under 1


def check_curve_cutoffs(k: Any) -> Ints | None:
    """The cutoffs of a curve as an array; None for all."""
    if k is None:
        return None
    cutoffs = np.asarray(k)
    if cutoffs.ndim == 1 and cutoffs.dtype.kind in "iu" and cutoffs.size:
        cutoffs = cutoffs.astype(np.intp)  # larger ones become negative
        if cutoffs.min() >= 1:
            return cutoffs
    raise ValueError(
        "k must be a 1-D array of integer cutoffs from 1 to 2**63 - 1, for example k=[1, 5, 10], "
        f"got {k!r}."
    )


def _check_other_value(option: str, value: Any) -> None:
    """Check the value of an option that is not in the table of its names."""
    if option == "gain" and value is not None and not isinstance(value, str):
        _check_gain(value)
    elif option == "undefined" and _checks.is_number(value) and abs(float(value)) <= _LARGEST:
        return
    elif option != "discount" or not callable(value):
        _checks.check_choice(option, value, tuple(_NAMES[option]), _OTHER_VALUES.get(option, ""))


def _check_gain(gain: object) -> None:
    if isinstance(gain, Mapping):
        _check_numbers(list(gain), "keys of gain")
        _check_numbers(list(gain.values()), "gain")
        if len({float(grade) for grade in gain}) < len(gain):
            raise ValueError(f"keys of gain must differ as floats, got {list(gain)}.")
    elif not callable(gain):
        _check_numbers(gain, "gain")


def _check_numbers(values: Any, name: str) -> None:
    # not a pandas Series: whether its index is meant as grades would be a guess
    listed = list(values) if isinstance(values, list | tuple | range | np.ndarray) else []
    if not listed or not all(_checks.is_number(value) and isfinite(value) for value in listed):
        raise ValueError(
            f"{name} must be finite numbers, one for each grade, in a list, an array or a mapping; "
            f"got {values!r}."
        )


def _check_base(name: str, base: object) -> None:
    if not _checks.is_number(base) or not 1 < float(base) < np.inf:
        raise ValueError(f"{name} must be a finite number above 1, got {base!r}.")


def _result_of(function: Callable[[Any], ArrayLike], name: str, of: str, values: Any) -> Floats:
    """What a callable gain or discount returns, one number for each value."""
    returned = function(values)
    _checks.refuse_masked(returned, f"what {name} returned")
    result = np.asarray(returned)
    if result.shape != values.shape or result.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must return one number for each of the {len(values)} {of} it is given, but "
            f"{_checks.name_of(function)} returned an array of shape {result.shape}, dtype "
            f"{result.dtype}."
        )
    with np.errstate(over="ignore"):  # numbers beyond float64 are refused later
        return result.astype(np.float64, copy=False)
