"""What NDCG can mean: gains, discounts, ties, and what to do where it is undefined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isinf, log
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg._checks import refuse_masked
from sklearn_ndcg._kernels import Floats

Gain = str | Sequence[float] | Mapping[float, float] | Callable[[Floats], ArrayLike]
Discount = str | Callable[[NDArray[np.int64]], ArrayLike]
Cutoff = int | str | None


def _convention(
    gain: str, ties: str, replace_undefined_by: float, discount: str = "log"
) -> Mapping[str, Any]:
    return MappingProxyType(
        {
            "gain": gain,
            "discount": discount,
            "ties": ties,
            "replace_undefined_by": replace_undefined_by,
        }
    )


# How other libraries define NDCG, as keyword arguments of `ndcg_score`. What these cannot say
# (scores in float32, documents ordered by id, a cutoff by default) is in docs/whose_ndcg.md.
CONVENTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "sklearn": _convention("linear", "average", 0.0),
        "lightgbm": _convention("exponential", "stable", 1.0),
        "xgboost": _convention("exponential", "stable", 1.0),
        "xgboost-minus": _convention("exponential", "stable", 0.0),
        "xgboost-linear": _convention("linear", "stable", 1.0),
        "catboost": _convention("linear", "worst", 1.0),
        "catboost-exp": _convention("exponential", "worst", 1.0),
        "catboost-position": _convention("linear", "worst", 1.0, discount="reciprocal"),
        "trec_eval": _convention("linear", "stable", 0.0),
        "ranx": _convention("linear", "stable", 0.0),
        "ranx-burges": _convention("exponential", "stable", 0.0),
        "torchmetrics": _convention("linear", "average", 0.0),
        "torchmetrics-skip": _convention("linear", "average", float("nan")),
        "rax": _convention("exponential", "stable", 0.0),
    }
)

_GAINS = ("linear", "exponential")
_DISCOUNTS = ("log", "reciprocal", "none")
_TIES = ("average", "stable", "worst", "best")
_UNJUDGED = ("raise", "zero", "omit")


@dataclass(frozen=True)
class Definition:
    """The choices that turn ranked relevance into a number, checked on creation."""

    gain: Gain = "linear"
    discount: Discount = "log"
    log_base: float = 2
    ties: str = "average"
    ignore_ties: bool = False
    unjudged: str = "raise"
    replace_undefined_by: float | str = "warn"

    def __post_init__(self) -> None:
        _check_gain(self.gain)
        if not callable(self.discount):
            check_choice("discount", self.discount, _DISCOUNTS, "or a callable on the ranks 1..n")
        _check_log_base(self.log_base, self.discount)
        check_choice("ties", self.ties, _TIES)
        if not isinstance(self.ignore_ties, bool | np.bool_):
            raise ValueError(f"ignore_ties must be True or False, got {self.ignore_ties!r}.")
        if self.ignore_ties and self.ties != "average":
            raise ValueError(
                f"ignore_ties=True says that there are no ties, ties={self.ties!r} says what to do "
                "with them: leave one of the two out."
            )
        check_choice("unjudged", self.unjudged, _UNJUDGED)
        _check_replacement(self.replace_undefined_by)

    @property
    def tie_rule(self) -> str:
        return "stable" if self.ignore_ties else self.ties

    def gains(self, relevance: Floats, of: str = "y_true") -> Floats:
        """Gain of each relevance in `of`, which is never written to."""
        if isinstance(self.gain, str):
            return relevance if self.gain == "linear" else _exponential(relevance)
        if isinstance(self.gain, Mapping):
            return _mapped(self.gain, relevance, of)
        if callable(self.gain):
            return _called(self.gain, "gain", "relevance", relevance.copy())
        return _tabled(self.gain, relevance, of)

    def table(self, highest: int) -> Floats | None:
        """Gains of the grades 0..highest, or None where a table cannot say or some are negative."""
        if isinstance(self.gain, str):
            return self.gains(np.arange(highest + 1.0))
        if isinstance(self.gain, Mapping) or callable(self.gain) or len(self.gain) <= highest:
            return None
        gains = np.ascontiguousarray(self.gain, dtype=np.float64)[: highest + 1]
        return gains if gains.min() >= 0 else None

    def discounts(self, n: int) -> Floats:
        """Discounts of the ranks 1..n."""
        ranks = np.arange(1, n + 1)
        if self.discount == "log":
            # log2 is exact at powers of two, where a quotient of natural logarithms is not
            logs = (
                np.log2(ranks + 1) if self.log_base == 2 else np.log(ranks + 1) / log(self.log_base)
            )
            return np.asarray(1 / logs)
        if self.discount == "reciprocal":
            return np.asarray(1 / ranks)
        if self.discount == "none":
            return np.ones(n)
        assert callable(self.discount)  # for mypy: __post_init__ has seen to it
        discounts = _called(self.discount, "discount", "ranks", ranks.copy())
        rising = discounts[1:] > discounts[:-1]
        wrong = ~np.isfinite(discounts) | (discounts < 0) | np.r_[discounts[0] == 0, rising]
        if wrong.any():
            raise ValueError(
                "discount must be finite, >= 0 (above 0 at rank 1) and must not rise, but "
                f"{_shown(self.discount)} gave {discounts[wrong][0]} at rank {ranks[wrong][0]}."
            )
        return discounts


@dataclass(frozen=True)
class jarvelin_kekalainen:  # noqa: N801  (a discount: used and shown like a function)
    """Discount of Järvelin and Kekäläinen: none before rank `b`, log base `b` after.

    Rank `r` is discounted by 1 where `r < b` and by ``1 / log_b(r)`` from there on, so that
    with the default base the first two ranks count in full.

    Parameters
    ----------
    b : float, default=2
        Base of the logarithm and the rank from which it applies, > 1: a patient user's
        is large, an impatient one's small.

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
    The gains of the article's running example, discounted as the article does:

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
        if not is_number(self.b) or not 1 < float(self.b) < np.inf:
            raise ValueError(f"b must be a finite number above 1, got {self.b!r}.")

    def __call__(self, ranks: ArrayLike) -> Floats:
        ranks = np.asarray(ranks, dtype=np.float64)
        logs = np.log2(ranks) if self.b == 2 else np.log(ranks) / log(self.b)
        return np.asarray(1 / np.maximum(logs, 1))  # below rank b the logarithm is under 1


def check_cutoff(k: Any) -> Cutoff:
    """`k` of one score: None, an int >= 1 or "retrieved"."""
    if k is None or (isinstance(k, str) and k == "retrieved"):
        return k
    if is_integer(k) and k >= 1:
        return int(k)
    raise ValueError(
        f"k must be an integer >= 1, None for all documents or 'retrieved' for each list's own "
        f"length, got {k!r}."
    )


def check_choice(name: str, value: object, choices: tuple[str, ...], more: str = "") -> None:
    """Raise unless `value` is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(
            f"{name} must be one of {listed}{f', {more}' if more else ''}; got {value!r}."
        )


def is_integer(value: object) -> TypeGuard[int]:
    """Whether `value` is an integer, Python's or NumPy's, and no bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_gain(gain: object) -> None:
    if isinstance(gain, str) or gain is None:
        check_choice(
            "gain",
            gain,
            _GAINS,
            "a table (a sequence or mapping from grade to gain) or a callable on relevance",
        )
    elif hasattr(gain, "to_dict"):
        raise ValueError(
            f"gain is a {type(gain).__name__}, whose index may or may not be meant as grades: pass "
            "gain.to_dict() for a mapping from grade to gain, or gain.to_numpy() for the grades "
            "0, 1, 2, ..."
        )
    elif isinstance(gain, Mapping):
        _check_table(list(gain), "keys of gain")
        _check_table(list(gain.values()), "gain")
        if len({float(grade) for grade in gain}) < len(gain):
            raise ValueError(f"keys of gain must differ as floats, got {list(gain)}.")
    elif not callable(gain):
        _check_table(gain, "gain")


def _check_table(values: Any, name: str) -> None:
    ordered = hasattr(values, "__getitem__") and not isinstance(values, bytes | bytearray)
    listed = list(values) if ordered and np.iterable(values) else []
    if not listed or not all(is_number(value) and isfinite(value) for value in listed):
        raise ValueError(f"{name} must be finite numbers, one for each grade; got {values!r}.")


def _check_log_base(log_base: object, discount: object) -> None:
    if not is_number(log_base) or not 1 < float(log_base) < np.inf:
        raise ValueError(f"log_base must be a finite number above 1, got {log_base!r}.")
    if log_base != 2 and discount != "log":
        raise ValueError(
            f"log_base={log_base!r} is the base of discount='log' and has no meaning for "
            f"discount={_shown(discount)}: leave one of the two out."
        )


def _check_replacement(value: object) -> None:
    if isinstance(value, str) and value == "warn":
        return
    if not is_number(value) or isinf(value):
        raise ValueError(
            "replace_undefined_by must be 'warn', a finite number, or nan to leave undefined "
            f"queries out; got {value!r}."
        )


def is_number(value: object) -> TypeGuard[float]:
    """Whether `value` is a real number that a float can hold, and no bool."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:  # an integer beyond every float
        return False
    return True


def _exponential(relevance: Floats) -> Floats:
    """2^y - 1, without the cancellation near 0."""
    with np.errstate(over="ignore"):  # what overflows is refused, with its place, further up
        gain = np.exp2(relevance)
    gain -= 1
    small = (np.abs(relevance) < 1) & (relevance != 0)
    if small.any():
        gain[small] = np.expm1(relevance[small] * np.log(2))
    return gain


def _tabled(table: Sequence[float], relevance: Floats, of: str) -> Floats:
    gains = np.asarray(table, dtype=np.float64)
    unknown = (relevance < 0) | (relevance >= len(gains)) | (relevance != np.floor(relevance))
    if unknown.any():
        raise ValueError(
            f"gain is a table for the grades 0..{len(gains) - 1}, but {of} has "
            f"{_counted(unknown)} outside it, the first {relevance[unknown][0]}."
        )
    return gains[relevance.astype(np.intp)]


def _mapped(table: Mapping[float, float], relevance: Floats, of: str) -> Floats:
    grades = np.asarray(list(table), dtype=np.float64)
    gains = np.asarray(list(table.values()), dtype=np.float64)
    order = np.argsort(grades)
    grades, gains = grades[order], gains[order]
    place = np.minimum(np.searchsorted(grades, relevance), len(grades) - 1)
    unknown = grades[place] != relevance
    if unknown.any():
        raise ValueError(
            f"gain has no entry for {_counted(unknown)} of {of}, the first "
            f"{relevance[unknown][0]}; it has the grades {grades.tolist()}."
        )
    return gains[place]


def _called(function: Callable[[Any], ArrayLike], name: str, of: str, values: Any) -> Floats:
    returned = function(values)
    refuse_masked(returned, f"what {name} returned")
    result = np.asarray(returned)
    if result.shape != values.shape or result.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must return one number for each of the {len(values)} {of} it is given, but "
            f"{_shown(function)} returned an array of shape {result.shape}, dtype {result.dtype}."
        )
    with np.errstate(over="ignore"):  # what a float64 does not hold is refused, with its place
        return result.astype(np.float64)


def _counted(mask: NDArray[np.bool_]) -> str:
    count = int(np.count_nonzero(mask))
    return f"{count} value" + ("s" if count > 1 else "")


def _shown(function: object) -> str:
    return getattr(function, "__name__", None) or repr(function)
