"""Why two conventions give two numbers: the way from one to the other, choice by choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg._checks import EQUAL, Cutoff, Floats, check_choice, name_of
from sklearn_ndcg._metrics.inputs import read_queries
from sklearn_ndcg._metrics.measure import CONVENTIONS, Measure, NDCGChoicesAtK, measure_and_data
from sklearn_ndcg._metrics.queries import Queries
from sklearn_ndcg._rows import codes_of_runs, shown_labels

# In the order of the steps.
_CHOICES = ("unjudged", "gain", "discount", "ties", "undefined", "k")
_MOST = 3  # queries that are shown of each step

_NO_TIES = "no effect: no two documents of a query have equal scores"
_PLACES = (
    "The scores are places in lists, as from_lists and from_trec return them: documents of equal\n"
    "score are in an order already, so no rule for ties can change it."
)


class Change(NamedTuple):
    """One choice that differs: its name in `ndcg_score`, and both of its values."""

    choice: str
    before: Any
    after: Any


@dataclass(frozen=True, repr=False)
class Explanation:
    """Result of `explain_difference`."""

    first: str
    second: str
    changes: list[Change]
    ndcg: Floats
    difference: Floats
    labels: NDArray[Any]
    values: Floats
    shares: Floats
    n_tied: int
    are_places: bool

    def __repr__(self) -> str:
        start, end = self.ndcg[[0, -1]]
        changed = ", ".join(change.choice for change in self.changes) or "nothing"
        return f"<Explanation: {start:.4f} to {end:.4f} by {changed}>"

    def __str__(self) -> str:
        n = len(self.labels)
        lines = [f"{n} {'query' if n == 1 else 'queries'}", "  NDCG   change"]
        lines.append(f"{self.ndcg[0]:6.4f}           {self.first}")
        for step, (choice, before, after) in enumerate(self.changes):
            number = f"{self.ndcg[step + 1]:6.4f}  {self.difference[step]:+7.4f}"
            lines.append(f"{number}  {choice}: {_shown(before)} -> {_shown(after)}")
            lines.append(f"{'':19}{self._effect(step)}")
        if not self.changes:
            lines.append(f"{'':17}no choice differs")
        lines.append(f"{self.ndcg[-1]:6.4f}           {self.second}")
        return "\n".join([*lines, _PLACES] if self.are_places else lines)

    def _effect(self, step: int) -> str:
        """How many queries a step changes, and those that make most of it."""
        if self.changes[step].choice == "ties" and not self.n_tied:
            return _NO_TIES
        before, after = self.values[step : step + 2]
        with np.errstate(invalid="ignore"):
            same = (np.abs(after - before) < EQUAL) | (np.isnan(before) & np.isnan(after))
        if same.all():
            return "no effect"
        # the queries that push the mean where it goes come first
        towards = self.shares[step] * (np.sign(self.difference[step]) or 1)
        most = np.flatnonzero(~same)
        most = most[np.argsort(-towards[most], kind="stable")][:_MOST]
        shown = [
            f"{shown_labels(self.labels[[query]])} ({_value(before[query])} to "
            f"{_value(after[query])})"
            for query in most
        ]
        changed = f"{np.count_nonzero(~same)} of {len(same)}"
        return f"in {changed} queries, most in {', '.join(shown)}"


def explain_difference(
    y_true: ArrayLike,
    y_score: ArrayLike,
    first: str | Mapping[str, Any],
    second: str | Mapping[str, Any],
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
) -> Explanation:
    """Print what the NDCG becomes on the way from one convention to another, choice by choice.

    The choices in which they differ are changed one at a time: unjudged documents, gain, discount,
    ties, queries without a relevant document, cutoff. For each step it prints the NDCG after it,
    the difference that it makes, how many queries change, and the queries that make most of the
    difference. The choices interact: in another order the steps would make other differences,
    which add up to the same.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance and predicted scores, as in `ndcg_score`.

    first, second : str or mapping
        A name in `CONVENTIONS`, or options of `ndcg_score`: `k`, `gain`, `discount`, `ties`,
        `ignore_ties`, `unjudged` and `undefined`. What a mapping leaves out is as in
        `ndcg_score` by default.

    groups : array-like of shape (n_documents,), default=None
        The query id of each row, as in `ndcg_score`.

    k : int, None or "retrieved", default=None
        Cutoff of both, except where a mapping has its own.

    Returns
    -------
    explanation : Explanation
        What was printed, as numbers. `changes` lists the n_steps changes: (choice, before, after).
        `ndcg`, of shape (n_steps + 1,), has the NDCG before and after them, and `difference`, of
        shape (n_steps,), what each makes. `values`, of shape (n_steps + 1, n_queries), has the NDCG
        of each query, nan if it is left out; `shares`, of shape (n_steps, n_queries), what each
        query adds to the difference. `labels` has the ids of the queries, and `n_tied` is the
        number of queries with equal scores. ``str(explanation)`` is the text.

    Raises
    ------
    ValueError
        If `first` or `second` is a name that is not in `CONVENTIONS`, or as in `ndcg_score`.

    TypeError
        If `first` or `second` has an unknown option, or is neither a name nor a mapping.

    Warns
    -----
    UserWarning
        If every query has a single document.

    See Also
    --------
    ndcg_score : Each of the numbers, with the options as keyword arguments.
    compare_rankers : The difference between two rankers, in one convention.

    Examples
    --------
    >>> from sklearn_ndcg import CONVENTIONS, explain_difference
    >>> y_true = [3, 0, 2, 1, 0, 0, 0, 0]
    >>> y_score = [0.9, 0.9, 0.4, 0.3, 0.1, 0.5, 0.2, 0.1]
    >>> groups = [0, 0, 0, 0, 0, 1, 1, 1]
    >>> explanation = explain_difference(
    ...     y_true, y_score, "sklearn", CONVENTIONS["lightgbm"] | {"k": 3}, groups=groups
    ... )
    2 queries
      NDCG   change
    0.4071           sklearn
    0.4066  -0.0005  gain: linear -> exponential
                       in 1 of 2 queries, most in 0 (0.814 to 0.813)
    0.4754  +0.0688  ties: average -> stable
                       in 1 of 2 queries, most in 0 (0.813 to 0.951)
    0.9754  +0.5000  undefined: 0.0 -> 1.0
                       in 1 of 2 queries, most in 1 (0.000 to 1.000)
    0.9525  -0.0229  k: None -> 3
                       in 1 of 2 queries, most in 0 (0.951 to 0.905)
    0.9525           second
    >>> explanation.difference.round(4)
    array([-0.0005,  0.0688,  0.5   , -0.0229])
    """
    start, end = _measure("first", first, k), _measure("second", second, k)
    queries = read_queries(start, y_true, y_score, groups)
    values, changes = [queries.values()], []
    for choice in _CHOICES:
        before, after = getattr(queries.measure, choice), getattr(end, choice)
        if _same(before, after):
            continue
        measure = replace(queries.measure, **{choice: after})
        if choice in ("gain", "unjudged"):
            queries = read_queries(measure, y_true, y_score, groups)
        queries = replace(queries, measure=measure)
        values.append(queries.values())
        changes.append(Change(choice, before, after))
    means = [queries.totals_of(each).means(start)[0] for each in values]
    by_query = np.hstack(values).T
    n_tied, are_places = _ties_and_places(queries)
    explanation = Explanation(
        first=first if isinstance(first, str) else "first",
        second=second if isinstance(second, str) else "second",
        changes=changes,
        ndcg=np.array(means),
        difference=np.diff(means),
        labels=queries.grouping.labels,
        values=by_query,
        shares=_shares(by_query),
        n_tied=n_tied,
        are_places=are_places,
    )
    print(explanation)
    return explanation


def _measure(name: str, convention: Any, k: Any) -> Measure:
    """What `first` or `second` stands for."""
    if isinstance(convention, str):
        check_choice(name, convention, tuple(CONVENTIONS), "or a mapping of options of ndcg_score")
        convention = CONVENTIONS[convention]
    elif not isinstance(convention, Mapping):
        raise TypeError(
            f"{name} must be a name in CONVENTIONS or a mapping of options of ndcg_score, got "
            f"{type(convention).__name__}."
        )
    try:
        choices = {"k": k, **convention}
        measure, _ = measure_and_data("explain_difference", choices, NDCGChoicesAtK)
    except (TypeError, ValueError) as error:
        error.add_note(f"In the convention passed as `{name}`.")
        raise
    # the same choice may be spelled in two ways, one of which warns
    return replace(
        measure,
        ties="stable" if measure.ignore_ties else measure.ties,
        ignore_ties=False,
        undefined=0.0 if measure.undefined == "warn" else measure.undefined,
    )


def _same(before: Any, after: Any) -> bool:
    plain = [
        value if callable(value) or isinstance(value, Mapping) else np.asarray(value).tolist()
        for value in (before, after)
    ]
    return bool(plain[0] == plain[1])


def _shares(values: Floats) -> Floats:
    """What each query adds to the difference of the means at each step; nan is left out of them."""
    shares = np.zeros((len(values) - 1, values.shape[1]))
    for share, before, after in zip(shares, values[:-1], values[1:], strict=True):
        left, entered = ~np.isnan(before), ~np.isnan(after)
        both = left & entered
        if not both.any():
            share[:] = np.nan
            continue
        share[both] = (after - before)[both] / np.count_nonzero(both)
        share[left & ~both] = (before[both].mean() - before[left & ~both]) / np.count_nonzero(left)
        share[entered & ~both] = (after[entered & ~both] - after[both].mean()) / np.count_nonzero(
            entered
        )
    return shares


def _ties_and_places(queries: Queries) -> tuple[int, bool]:
    """How many queries have equal scores, and whether all scores are places -1, -2, ... in lists.

    Documents that were not retrieved have neither.
    """
    query = codes_of_runs(queries.starts, queries.lengths)
    retrieved = queries.score > -np.inf
    query, score = query[retrieved], queries.score[retrieved]
    order = np.lexsort((score, query))
    query, score = query[order], score[order]
    tied = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    are_places = (
        len(score) > 0
        and not tied.any()
        and bool((score < 0).all() and (score == np.floor(score)).all())
        and bool((-score <= queries.grouping.lengths[query]).all())
    )
    return len(np.unique(query[1:][tied])), are_places


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else name_of(value) if callable(value) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _value(ndcg: float) -> str:
    return "left out" if np.isnan(ndcg) else f"{ndcg:.3f}"
