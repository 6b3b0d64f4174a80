"""What a number means: DCG, NDCG, or any function of one query, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import InitVar, dataclass, replace
from functools import partial
from typing import Any, ClassVar, Protocol, Self, TypedDict

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import (
    Cutoff,
    Discount,
    Floats,
    Gain,
    Ints,
    Mask,
    Ties,
    Undefined,
    Unjudged,
)
from sklearn_ndcg._kernels.numpy_kernels import TieRule
from sklearn_ndcg._metrics import choices
from sklearn_ndcg._metrics.choices import GainTable, UndefinedRule
from sklearn_ndcg._metrics.values import Queries, Values, ValuesAtCutoffs


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
    """What is computed for each query: `DCG`, `NDCG` or `QueryFunction`.

    `limits` are the lowest and the highest value that it may have, and `gain_of_unjudged` is the
    gain of documents without a relevance that stay in the ranking.
    """

    limits: ClassVar[tuple[float, float]]
    gain_of_unjudged: ClassVar[float]

    @property
    def name(self) -> str:
        """What it is called: "NDCG", "DCG", or the name of a function."""
        ...

    def label(self, name: str | None = None) -> str:
        """What tables and plots call it, by its own name or another."""
        ...

    @property
    def k(self) -> Cutoff:
        """The cutoff."""
        ...

    @property
    def unjudged(self) -> Unjudged:
        """What is done about documents without a relevance."""
        ...

    @property
    def undefined_rule(self) -> UndefinedRule:
        """What is done about queries for which it is undefined."""
        ...

    def as_read(self, k: Cutoff, unjudged: Any) -> Self:
        """The same for ranked lists that were read with a cutoff and a rule for the unjudged."""
        ...

    def gains(
        self,
        relevance: Floats,
        source: str = "y_true",
        describe: Callable[[Mask], str] | None = None,
    ) -> Floats:
        """Gain of each relevance in `source`; `relevance` is not changed."""
        ...

    def gains_of_grades(self, highest: int) -> Floats | None:
        """Gains of the grades 0..highest; None if they are not known before the relevance is."""
        ...

    def values(self, queries: Queries) -> Values:
        """The value of each query."""
        ...


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

    limits: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    gain_of_unjudged: ClassVar[float] = 0.0

    def __post_init__(self, log_base: float) -> None:
        # a frozen dataclass sets its own fields only in this way
        set_field = partial(object.__setattr__, self)
        set_field("k", _checks.check_cutoff(self.k))
        if not (self.gain is None or isinstance(self.gain, str | GainTable) or callable(self.gain)):
            set_field("gain", GainTable.of(self.gain))
        choices.check(self)
        if not (_checks.is_number(log_base) and log_base == 2):
            set_field("discount", choices.discount_to_base(log_base, self.discount))
        if not isinstance(self.ignore_ties, bool | np.bool_):
            raise ValueError(f"ignore_ties must be True or False, got {self.ignore_ties!r}.")
        if self.ignore_ties and self.ties != "average":
            raise ValueError(
                f"ignore_ties=True assumes that no scores are tied, and ties={self.ties!r} says "
                "how ties are ordered: leave one of the two out."
            )

    def __repr__(self) -> str:
        return choices.shown(self)

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
    def tie_order(self) -> Ties:
        """`ties`, or the order of the input under `ignore_ties`."""
        return "stable" if self.ignore_ties else self.ties

    @property
    def tie_rule(self) -> TieRule:
        """How the kernels order ties."""
        return choices.TIES[self.tie_order]

    @property
    def undefined_rule(self) -> UndefinedRule:
        """Every DCG is defined."""
        return choices.UNDEFINED["omit"]

    def as_read(self, k: Cutoff, unjudged: Any) -> Self:
        """The same for ranked lists that were read with a cutoff and a rule for the unjudged."""
        if self.unjudged not in ("raise", unjudged):
            raise ValueError(
                f"unjudged={self.unjudged!r} comes too late: the lists were read with "
                f"unjudged={unjudged!r}. Pass it to from_lists or from_trec."
            )
        return replace(self, k=k, unjudged=unjudged)

    def values(self, queries: Queries) -> Values:
        """DCG of each query."""
        cutoffs = queries.cutoffs(self.k)
        dcg = queries.dcg(self.discounts(int(cutoffs[-1])), cutoffs, self.tie_rule)
        return Values(dcg.ravel(), queries.weight, self.undefined_rule)

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

    def discounts(self, n: int) -> Floats:
        """Discounts of the ranks 1..n; a callable gets these ranks."""
        ranks = np.arange(1.0, n + 1)
        if isinstance(self.discount, str):
            discounts = choices.DISCOUNTS[self.discount](ranks)
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

    limits: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @classmethod
    def of(
        cls,
        caller: Callable[..., Any],
        k: Cutoff,
        options: Mapping[str, Any],
        kind: type = NDCGOptions,
    ) -> NDCG:
        """The NDCG at one cutoff with the options, of this kind, that were passed to a function."""
        return cls(k=k, **choices.known_options(caller, options, kind))

    @property
    def undefined_rule(self) -> UndefinedRule:
        """What is done about queries without a relevant document."""
        cause = ", which have no relevant document"
        return choices.undefined_rule(self.undefined, self.name, cause)

    def values(self, queries: Queries) -> Values:
        """DCG over ideal DCG, undefined if a query has no relevant document."""
        ndcg = self.ratio(*self.dcg_and_ideal(queries))
        return Values(ndcg.ravel(), queries.weight, self.undefined_rule)

    def dcg_and_ideal(
        self, queries: Queries, cutoffs: Ints | None = None, discount: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """DCG of each query, and that of its best order (the ideal DCG): a row for each cutoff.

        The cutoffs, which ascend and differ, are by default that of the measure. `discount` may
        have more ranks than these need.
        """
        if cutoffs is not None:
            ideal_cutoffs = cutoffs
        else:
            cutoffs = ideal_cutoffs = queries.cutoffs(self.k)
            if self.k == "retrieved":
                # with none retrieved the DCG is 0, and the ideal at 1 shows whether NDCG is defined
                ideal_cutoffs = np.maximum(queries.n_retrieved(), 1)[:, np.newaxis]
        if discount is None:
            discount = self.discounts(int(cutoffs[-1]))
        dcg = queries.dcg(discount, cutoffs, self.tie_rule)
        return dcg, queries.ideal_dcg(discount, ideal_cutoffs)

    def at_cutoffs(self, queries: Queries, cutoffs: Ints) -> Iterator[ValuesAtCutoffs]:
        """NDCG at cutoffs, which ascend and differ, in blocks of queries that fit the memory."""
        discount = self.discounts(min(int(cutoffs[-1]), queries.longest))
        for numbers, needed in queries.blocks(cutoffs):
            block = queries.take(numbers)
            ndcg = self.ratio(*self.dcg_and_ideal(block, needed, discount))
            last = Values(ndcg[-1], block.weight, self.undefined_rule)
            yield ValuesAtCutoffs(numbers, last, ndcg)

    @staticmethod
    def ratio(dcg: Floats, ideal: Floats) -> Floats:
        """DCG over ideal DCG, nan where the ideal is 0."""
        ndcg = np.full_like(ideal, np.nan)
        np.divide(dcg, ideal, out=ndcg, where=ideal > 0)
        return np.asarray(np.minimum(ndcg, 1))  # rounding must not exceed 1
