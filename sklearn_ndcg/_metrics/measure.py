"""What a number means: DCG, NDCG, or any function of one query, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import InitVar, dataclass, field, fields, replace
from difflib import get_close_matches
from functools import partial
from inspect import signature
from typing import Any, ClassVar, Protocol, Self, TypedDict

import numpy as np
from sklearn.metrics import average_precision_score, jaccard_score

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import (
    Cutoff,
    Discount,
    Floats,
    Gain,
    Ids,
    Ints,
    Mask,
    Numbers,
    Ties,
    Undefined,
    Unjudged,
)
from sklearn_ndcg._kernels.numpy_kernels import TieRule
from sklearn_ndcg._metrics import choices
from sklearn_ndcg._metrics.choices import GainTable, UndefinedRule
from sklearn_ndcg._metrics.queries import Queries
from sklearn_ndcg._rows.label_texts import shown_labels


class DCGOptions(TypedDict, total=False):
    """What a DCG means, except its cutoff and base: keyword arguments of `dcg_score`."""

    gain: Gain
    discount: Discount
    ties: Ties
    ignore_ties: bool
    unjudged: Unjudged


class NDCGOptions(DCGOptions, total=False):
    """What an NDCG means, except its cutoff: keyword arguments of `ndcg_score`."""

    undefined: Undefined


class ExplanationOptions(NDCGOptions, total=False):
    """The options of an NDCG whose DCG is shown, too: keyword arguments of `explain_query`."""

    log_base: float


class Measure(Protocol):
    """What is computed for each query: `DCG`, `NDCG` or `QueryFunction`."""

    @property
    def name(self) -> str:
        """What it is called: "NDCG", "DCG", or the name of a function."""

    def label(self, name: str | None = None) -> str:
        """What tables and plots call it, by its own name or another."""

    @property
    def k(self) -> Cutoff:
        """The cutoff."""

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest value that it may have."""

    @property
    def unjudged(self) -> Unjudged:
        """What is done about documents without a relevance."""

    @property
    def gain_of_unjudged(self) -> float:
        """The gain of documents without a relevance that stay in the ranking."""

    @property
    def undefined_rule(self) -> UndefinedRule:
        """What is done about queries for which it is undefined."""

    def of_lists(self, k: Cutoff, unjudged: Any) -> Self:
        """The same for ranked lists that were read with a cutoff and a rule for the unjudged."""

    def gains(
        self,
        relevance: Floats,
        source: str = "y_true",
        describe: Callable[[Mask], str] | None = None,
    ) -> Floats:
        """Gain of each relevance in `source`; `relevance` is not changed."""

    def gains_of_grades(self, highest: int) -> Floats | None:
        """Gains of the grades 0..highest; None if they are not known before the relevance is."""

    def values(self, queries: Queries) -> Floats:
        """The value of each query, shape (n_queries, 1), nan where it is undefined."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DCG:
    """Discounted cumulative gain: all choices that turn ranked relevance into a number, checked.

    It is data: scorers of `make_dcg_scorer` have it as their parameter `measure`. It is equal to
    another if all choices are.

    Parameters
    ----------
    k, gain, discount, log_base, ties, ignore_ties, unjudged : options
        As in `dcg_score`, with the same defaults.

    See Also
    --------
    NDCG : The same, normalized.

    Examples
    --------
    >>> from sklearn_ndcg import DCG, make_dcg_scorer
    >>> measure: DCG = make_dcg_scorer(k=3, gain="exponential").measure
    >>> measure
    DCG(k=3, gain='exponential')
    >>> measure == DCG(k=3, gain="exponential")
    True
    """

    k: Cutoff = None
    gain: Gain | GainTable = "linear"
    discount: Discount = "log"
    log_base: InitVar[float] = 2
    ties: Ties = "average"
    ignore_ties: bool = False
    unjudged: Unjudged = "raise"
    # `ties`, or the order of the input under `ignore_ties`
    tie_order: Ties = field(init=False, repr=False, compare=False)

    limits: ClassVar = (-np.inf, np.inf)
    gain_of_unjudged: ClassVar = 0.0

    def __post_init__(self, log_base: float) -> None:
        # a frozen dataclass sets its own fields only in this way
        set_field = partial(object.__setattr__, self)
        set_field("k", _checks.check_cutoff(self.k))
        if not (self.gain is None or isinstance(self.gain, str | GainTable) or callable(self.gain)):
            set_field("gain", GainTable.of(self.gain))
        choices.check(self, self.limits)
        if log_base != 2:
            set_field("discount", choices.discount_to_base(log_base, self.discount))
        if not isinstance(self.ignore_ties, bool | np.bool_):
            raise ValueError(f"ignore_ties must be True or False, got {self.ignore_ties!r}.")
        if self.ignore_ties and self.ties != "average":
            raise ValueError(
                f"ignore_ties=True assumes that no scores are tied, and ties={self.ties!r} says "
                "how ties are ordered: leave one of the two out."
            )
        set_field("tie_order", "stable" if self.ignore_ties else self.ties)

    def __repr__(self) -> str:
        return _shown(self)

    @property
    def name(self) -> str:
        """The name of the kind of measure."""
        return type(self).__name__

    def label(self, name: str | None = None) -> str:
        """What tables and plots call it: "NDCG@10", or "NDCG@10 (exp. gain)"."""
        is_exponential = isinstance(self.gain, str) and self.gain == "exponential"
        gain, name = " (exp. gain)" * is_exponential, name or self.name
        end = "" if self.k is None or name.endswith(f"@{self.k}") else f"@{self.k}"
        return f"{name}{end}{gain}"

    @property
    def tie_rule(self) -> TieRule:
        """How the kernels order ties."""
        return choices.TIES[self.tie_order]

    @property
    def undefined_rule(self) -> UndefinedRule:
        """Every DCG is defined."""
        return choices.UNDEFINED["omit"]

    def of_lists(self, k: Cutoff, unjudged: Any) -> Self:
        """The same for ranked lists that were read with a cutoff and a rule for the unjudged."""
        if self.unjudged not in ("raise", unjudged):
            raise ValueError(
                f"unjudged={self.unjudged!r} comes too late: the lists were read with "
                f"unjudged={unjudged!r}. Pass it to from_lists or from_trec."
            )
        return replace(self, k=k, unjudged=unjudged)

    def values(self, queries: Queries) -> Floats:
        """DCG of each query."""
        ends = queries.ends(self.k)
        return queries.dcg(self.discounts_to(ends, queries), ends, self.tie_rule)

    def gains(
        self,
        relevance: Floats,
        source: str = "y_true",
        describe: Callable[[Mask], str] | None = None,
    ) -> Floats:
        """Gain of each relevance in `source`; `relevance` is not changed.

        `describe` says which rows have none.
        """
        if isinstance(self.gain, str):
            return choices.GAINS[self.gain](relevance)
        if isinstance(self.gain, GainTable):
            return self.gain.look_up(relevance, source, describe)
        assert callable(self.gain)
        return choices.result_of(self.gain, "gain", "relevance", relevance.copy())

    def gains_of_grades(self, highest: int) -> Floats | None:
        """Gains of the grades 0..highest; None unless all have one, which is >= 0."""
        if callable(self.gain):  # which may fail for grades that do not occur
            return None
        try:
            gains = self.gains(np.arange(highest + 1.0))
        except ValueError:  # a grade without an entry, which may not occur
            return None
        return gains if gains.min() >= 0 else None

    def discounts_to(self, ends: Ints, queries: Queries) -> Floats:
        """Discounts of all ranks that count at some cutoffs; a callable gets these ranks."""
        return self.discounts(min(int(ends[-1]), queries.longest))

    def discounts(self, n: int) -> Floats:
        """Discounts of the ranks 1..n."""
        ranks = np.arange(1, n + 1)
        if isinstance(self.discount, str):
            discounts = choices.DISCOUNTS[self.discount](ranks.astype(np.float64))
        else:
            discounts = choices.result_of(self.discount, "discount", "ranks", ranks)
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


@dataclass(frozen=True, kw_only=True, repr=False)
class NDCG(DCG):
    """Normalized DCG: the DCG over the ideal one, with a rule for queries where that is 0.

    It is data: scorers of `make_ndcg_scorer` have it as their parameter `measure`.

    Parameters
    ----------
    k, gain, discount, log_base, ties, ignore_ties, unjudged, undefined : options
        As in `ndcg_score`, with the same defaults. The logarithm's base cancels out.

    See Also
    --------
    GroupedScorer : Scores an estimator by a measure.

    Examples
    --------
    >>> from sklearn_ndcg import NDCG, GroupedScorer, make_ndcg_scorer
    >>> measure: NDCG = make_ndcg_scorer(k=3).measure
    >>> GroupedScorer(measure, group_by="query")
    GroupedScorer(group_by='query', measure=NDCG(k=3))
    """

    undefined: Undefined = "warn"

    limits: ClassVar = (0.0, 1.0)

    @classmethod
    def of(
        cls,
        caller: Callable[..., Any],
        k: Cutoff,
        options: Mapping[str, Any],
        kind: type = NDCGOptions,
    ) -> NDCG:
        """The NDCG at one cutoff with the options, of this kind, that were passed to a function."""
        return cls(k=k, **known_options(caller, options, kind))

    @property
    def undefined_rule(self) -> UndefinedRule:
        """What is done about queries without a relevant document."""
        rule = choices.undefined_rule(self.undefined)
        return rule._replace(cause=", which have no relevant document")

    def values(self, queries: Queries) -> Floats:
        """DCG over ideal DCG, nan if a query has no relevant document."""
        return self.ratio(*self.dcg_and_ideal(queries))

    def dcg_and_ideal(self, queries: Queries) -> tuple[Floats, Floats]:
        """DCG of each query, and that of its best order (the ideal DCG)."""
        ends, ideal_ends = queries.ends(self.k), None
        if self.k == "retrieved":
            # with none retrieved the DCG is 0, and the ideal at 1 shows whether NDCG is defined
            ideal_ends = np.maximum(queries.n_retrieved(), 1)[:, np.newaxis]
        return self.dcg_and_ideal_at(ends, self.discounts_to(ends, queries), queries, ideal_ends)

    def dcg_and_ideal_at(
        self, ends: Ints, discount: Floats, queries: Queries, ideal_ends: Ints | None = None
    ) -> tuple[Floats, Floats]:
        """DCG and ideal DCG of each query at cutoffs, which ascend and differ.

        Those of the ideal may be others, with a row for each query. `discount` is `discounts_to`
        these cutoffs, or to others beyond them.
        """
        return (
            queries.dcg(discount, ends, self.tie_rule),
            queries.ideal_dcg(discount, ends if ideal_ends is None else ideal_ends),
        )

    @staticmethod
    def ratio(dcg: Floats, ideal: Floats) -> Floats:
        """DCG over ideal DCG, nan where the ideal is 0."""
        ndcg = np.full(ideal.shape, np.nan)
        np.divide(dcg, ideal, out=ndcg, where=ideal > 0)
        return np.asarray(np.minimum(ndcg, 1))  # rounding must not exceed 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class QueryFunction:
    """Any function of the relevance and the scores of one query.

    A query is undefined if the function returns nan there. scikit-learn's
    `average_precision_score` is undefined for a query without a positive, where it returns 0.0, and
    its metrics with `zero_division` get nan for it unless it is passed.

    Documents of `ranked` lists come in their order, down to the cutoff `k`, and then what was not
    retrieved, the least relevant first. A defined query of which nothing was retrieved is 0.
    """

    function: Callable[..., Any]
    options: Mapping[str, Any] | None = None
    greater_is_better: bool = True
    undefined: Undefined = "warn"
    unjudged: Unjudged = "zero"  # NaN is up to the function
    ranked: bool = False
    k: Cutoff = None

    gain_of_unjudged: ClassVar = np.nan
    limits: ClassVar = (-1e100, 1e100)  # whose cubes and sums still fit a float64

    def __post_init__(self) -> None:
        choices.check(self, self.limits)
        with suppress(ValueError):  # functions in C may have no signature
            parameters = signature(self.function)
            try:
                parameters.bind_partial(None, None, **(self.options or {}))
            except TypeError as error:
                raise TypeError(
                    f"{self.name} is called with y_true, y_score and options: {error}."
                ) from None

    def __repr__(self) -> str:
        return _shown(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QueryFunction):
            return NotImplemented
        mine, others = ({**vars(each), "options": None} for each in (self, other))
        return mine == others and _are_equal(self.options or {}, other.options or {})

    def __hash__(self) -> int:
        return hash((self.function, *(self.options or {}), self.greater_is_better, self.undefined))

    @property
    def name(self) -> str:
        """The name of the function, also if its options are bound."""
        return _checks.name_of(_unwrapped(self.function)[0])

    def label(self, name: str | None = None) -> str:
        """What tables and plots call it."""
        return name or self.name

    def of_lists(self, k: Cutoff, unjudged: Any) -> Self:
        """The same for ranked lists that were read with a cutoff and a rule for the unjudged."""
        return replace(self, ranked=True, k=k, unjudged=unjudged)

    @property
    def undefined_rule(self) -> UndefinedRule:
        """What is done about queries for which the function is undefined."""
        rule = choices.undefined_rule(self.undefined)
        return rule if self.greater_is_better else rule._replace(value=-rule.value)

    def gains(
        self,
        relevance: Floats,
        source: str = "y_true",
        describe: Callable[[Mask], str] | None = None,
    ) -> Floats:
        """The relevance itself."""
        return relevance

    def gains_of_grades(self, highest: int) -> None:
        """No table: the function gets the relevance."""

    def values(self, queries: Queries) -> Floats:
        """The value of each query, shape (n_queries, 1)."""
        found, options = np.full((len(queries), 1), np.nan), self._options_with_nan()
        for query, start in enumerate(queries.starts):
            rows = slice(start, start + queries.lengths[query])
            if rows.start < rows.stop:
                y_true, y_score = self._in_order(queries.gain[rows], queries.score[rows])
                label = queries.labels[query : query + 1]
                found[query] = self._value(y_true, y_score, options, label)
        return found if self.greater_is_better else -found

    def _options_with_nan(self) -> dict[str, Any]:
        """The options, and nan for 0 / 0 if the function is of scikit-learn and takes it."""
        (function, bound), options = _unwrapped(self.function), dict(self.options or {})
        is_of_sklearn = (getattr(function, "__module__", None) or "").startswith("sklearn.")
        if is_of_sklearn and function is not jaccard_score:  # which takes no nan
            takes_it = "zero_division" in signature(function).parameters
            if takes_it and "zero_division" not in {**bound, **options}:
                options["zero_division"] = np.nan
        return options

    def _lacks_positives(self, y_true: Floats) -> bool:
        """Whether it is the average precision, which would be 0.0, of one class, the negative."""
        function, bound = _unwrapped(self.function)
        if function is not average_precision_score:
            return False
        positive = {"pos_label": 1, **bound, **(self.options or {})}["pos_label"]
        return y_true[0] != positive and bool((y_true == y_true[0]).all())

    def _value(
        self, y_true: Floats, y_score: Floats, options: Mapping[str, Any], label: Ids
    ) -> float:
        """The value of a query, whose label is for errors; nan if it is undefined."""
        if self._lacks_positives(y_true):
            return np.nan
        # counted before the function is called, as it may write to its arrays
        n_returned, n_documents = np.count_nonzero(y_score > -np.inf), len(y_score)
        try:
            returned = self.function(y_true, y_score, **options)
        except Exception as error:
            error.add_note(
                f"{self.name} gets the relevance and the scores of one query, here "
                f"{shown_labels(label)}, and must return a number or nan."
            )
            if n_returned < n_documents:
                error.add_note("The score is -inf where a document was not retrieved.")
            raise
        low, high = self.limits
        try:
            is_number = np.ndim(returned) == 0 and not isinstance(returned, str | bytes)
            value = float(returned) if is_number else np.inf
        except (TypeError, ValueError, OverflowError):
            value = np.inf
        if not low <= value <= high and not np.isnan(value):
            raise ValueError(
                f"{self.name} must return a number from {low:g} to {high:g}, or nan where it is "
                f"undefined, but returned {returned!r} for query {shown_labels(label)}."
            )
        return value if n_returned or np.isnan(value) else 0.0

    def _in_order(self, gain: Numbers, score: Floats) -> tuple[Floats, Floats]:
        """Copies of the relevance and the scores of a query."""
        y_true, y_score = np.array(gain, np.float64), np.array(score, np.float64)
        if not self.ranked:
            return y_true, y_score
        if _checks.is_integer(self.k):
            y_score[np.argsort(-y_score, kind="stable")[self.k :]] = -np.inf
        order = np.lexsort((y_true, -y_score))
        y_true, y_score = y_true[order], y_score[order]
        # ranks are counted again, as unjudged documents may have been removed
        n_returned = np.count_nonzero(y_score > -np.inf)
        y_score[:n_returned] = -1.0 - np.arange(n_returned)
        return y_true, y_score


def _unwrapped(function: Callable[..., Any]) -> tuple[Callable[..., Any], Mapping[str, Any]]:
    """The function in a `functools.partial`, and the keywords that are bound to it there."""
    return (function.func, function.keywords) if isinstance(function, partial) else (function, {})


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
        if _checks.WORDS_FOR_GROUPS & {*unknown}:
            hint = f" Pass {'group_by' if 'group_by' in own else 'the query ids as groups'}."
        raise TypeError(
            f"{caller.__name__} has no option {', '.join(map(repr, unknown))}.{hint} Its options "
            f"are {', '.join(known)}."
        )
    return options


def _shown(measure: DCG | QueryFunction) -> str:
    """A measure with the fields that differ from their defaults."""
    changed = (
        f"{option.name}={_checks.name_of(getattr(measure, option.name))}"
        for option in fields(measure)
        if option.repr and getattr(measure, option.name) != option.default
    )
    return f"{type(measure).__name__}({', '.join(changed)})"


def _are_equal(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether options are equal by value; they may be arrays."""
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name]) for name in first
    )
