"""Any function of one query as a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import average_precision_score, jaccard_score

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Floats, Ids, Mask, Numbers, Undefined, Unjudged
from sklearn_ndcg._lists.ranked import scores_down
from sklearn_ndcg._metrics import choices
from sklearn_ndcg._metrics.choices import UndefinedRule
from sklearn_ndcg._metrics.values import Queries, Values
from sklearn_ndcg._rows.label_texts import shown_labels


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

    limits: ClassVar[tuple[float, float]] = (-1e100, 1e100)  # whose cubes and sums fit a float64
    gain_of_unjudged: ClassVar[float] = np.nan

    def __post_init__(self) -> None:
        choices.check(self)
        with suppress(ValueError):  # functions in C may have no signature
            parameters = signature(self.function)
            try:
                parameters.bind_partial(None, None, **(self.options or {}))
            except TypeError as error:
                raise TypeError(
                    f"{self.name} is called with y_true, y_score and options: {error}."
                ) from None

    def __repr__(self) -> str:
        return choices.shown(self)

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

    def as_read(self, k: Cutoff, unjudged: Any) -> Self:
        """The same for ranked lists that were read with a cutoff and a rule for the unjudged."""
        return replace(self, ranked=True, k=k, unjudged=unjudged)

    @property
    def undefined_rule(self) -> UndefinedRule:
        """What is done about queries for which the function is undefined."""
        rule = choices.undefined_rule(self.undefined, self.name)
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

    def values(self, queries: Queries) -> Values:
        """The value of each query."""
        found, options = np.full(len(queries), np.nan), self._options_with_nan()
        for query, start in enumerate(queries.starts):
            rows = slice(start, start + queries.lengths[query])
            if rows.start < rows.stop:
                y_true, y_score = self._in_order(queries.gain[rows], queries.score[rows])
                label = queries.labels[query : query + 1]
                found[query] = self._value(y_true, y_score, options, label)
        found = found if self.greater_is_better else -found
        return Values(found, queries.weight, self.undefined_rule)

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
        return y_true, scores_down(np.array([len(y_score)]), y_score > -np.inf)


def _unwrapped(function: Callable[..., Any]) -> tuple[Callable[..., Any], Mapping[str, Any]]:
    """The function in a `functools.partial`, and the keywords that are bound to it there."""
    return (function.func, function.keywords) if isinstance(function, partial) else (function, {})


def _are_equal(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether options are equal by value; they may be arrays."""
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name]) for name in first
    )
