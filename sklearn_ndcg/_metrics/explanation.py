"""Why two conventions give different numbers, choice by choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg import _show
from sklearn_ndcg._checks import EQUAL, Cutoff, Floats, Weights, check_choice, name_of, names_groups
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics.conventions import BEYOND_KEYWORDS, CONVENTIONS
from sklearn_ndcg._metrics.measure import NDCG
from sklearn_ndcg._metrics.rankings import rankings_of
from sklearn_ndcg._metrics.values import Queries
from sklearn_ndcg._rows.grouping import codes_of_runs
from sklearn_ndcg._rows.label_texts import count_of_queries, shown_labels

# fields of `NDCG`, in the order of the steps
_FIRST, _LAST = ("unjudged", "gain", "discount", "ties"), ("undefined", "k")
_OTHERS = [option.name for option in fields(NDCG) if option.init]
_CHOICES = (*_FIRST, *(name for name in _OTHERS if name not in _FIRST + _LAST), *_LAST)
_MOST = 3  # queries that are shown for each step

_RANKS_NOTE = (
    "The scores are ranks in lists, as from_lists and from_trec return them: equal scores were\n"
    "put in an order before, which the choice for ties does not change."
)


class Change(NamedTuple):
    """One choice that differs: its name in `ndcg_score` and its two values."""

    choice: str
    before: Any
    after: Any


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The steps from one convention to another: the result of `explain_difference`.

    It prints as text, and `plot` draws it. Each step changes one choice.

    Attributes
    ----------
    first, second : str
        Names of the conventions; "first" and "second" if they were mappings.

    changes : list of (choice, before, after)
        What each of the n_steps steps changes: the option of `ndcg_score` and its two values.

    ndcg : ndarray of shape (n_steps + 1,)
        The NDCG before the first step and after each of them.

    difference : ndarray of shape (n_steps,)
        What each step adds to the NDCG.

    labels : ndarray of shape (n_queries,)
        The ids of the queries, sorted; for 2-D input the numbers of the rows.

    values : ndarray of shape (n_steps + 1, n_queries)
        The NDCG of each query before the first step and after each of them; nan if the query is
        left out.

    shares : ndarray of shape (n_steps, n_queries)
        What each query adds to the difference of a step. A row adds up to `difference`.

    n_tied : int
        Number of queries with documents of equal scores.

    scores_are_ranks : bool
        Whether the scores are ranks in lists, as from `from_lists` and `from_trec`.

    metric : str
        What the numbers are: "NDCG@10" if both conventions have this cutoff, otherwise "NDCG".

    not_included : dict
        What each library does that no option of `ndcg_score` says, by the name of the convention:
        the numbers of the library itself may differ by it. A mapping of options has no entry.

    See Also
    --------
    explain_difference : Computes it.

    Examples
    --------
    >>> from sklearn_ndcg import Explanation, explain_difference
    >>> y_true, y_score = [[3, 0, 2], [0, 0, 0]], [[0.9, 0.9, 0.4], [0.1, 0.5, 0.2]]
    >>> explanation: Explanation = explain_difference(y_true, y_score, "sklearn", "lightgbm")
    >>> [change.choice for change in explanation.changes]
    ['gain', 'ties', 'undefined']
    >>> explanation.ndcg.round(3)
    array([0.404, 0.405, 0.478, 0.978])
    >>> explanation.shares.round(3)
    array([[0.001, 0.   ],
           [0.073, 0.   ],
           [0.   , 0.5  ]])
    """

    first: str
    second: str
    changes: list[Change]
    ndcg: Floats
    difference: Floats
    labels: NDArray[Any]
    values: Floats
    shares: Floats
    n_tied: int
    scores_are_ranks: bool
    metric: str
    not_included: dict[str, str]

    def __repr__(self) -> str:
        lines = [count_of_queries(len(self.labels)), "  NDCG   change"]
        lines.append(f"{self.ndcg[0]:6.4f}{'':11}{self.first}")
        for step, change in enumerate(map(_change_text, self.changes)):
            lines.append(f"{self.ndcg[step + 1]:6.4f}  {self.difference[step]:+7.4f}  {change}")
            lines.append(f"{'':19}{self._effect(step)}")
        if not self.changes:
            lines.append(f"{'':17}no option of ndcg_score differs")
        lines.append(f"{self.ndcg[-1]:6.4f}{'':11}{self.second}")
        lines += self._notes(88)
        return "\n".join([*lines, _RANKS_NOTE] if self.scores_are_ranks else lines)

    def _notes(self, width: int) -> list[str]:
        """What the libraries do beyond the steps, as lines of text."""
        notes = [f"{name}: {sentence}" for name, sentence in self.not_included.items()]
        if notes:
            notes.insert(0, "Not in these numbers, as no option of ndcg_score has it:")
        return [line for note in notes for line in wrap(note, width, subsequent_indent="    ")]

    def plot(self, ax: Any = None, *, despine: bool = False) -> Any:
        """Draw the steps, from the NDCG of the first convention to that of the second.

        The bar of each step begins where the one before it ends.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure, whose size grows with the steps.

        despine : bool, default=False
            Whether to remove the top and right spines.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from sklearn_ndcg import explain_difference
        >>> y_true, y_score = [[3, 0, 2], [0, 0, 0]], [[0.9, 0.9, 0.4], [0.1, 0.5, 0.2]]
        >>> ax = explain_difference(y_true, y_score, "sklearn", "lightgbm").plot()
        >>> [label.get_text() for label in ax.get_yticklabels()][1:3]
        ['gain: linear -> exponential', 'ties: average -> stable']
        """
        names = [self.first, *map(_change_text, self.changes), self.second]
        notes = self._notes(70)
        ax = _show.axes(ax, (7, 1.2 + 0.4 * len(names) + 0.15 * len(notes)))
        rows, ends = np.arange(len(names)), [0, -1]
        ax.vlines(self.ndcg, rows[:-1], rows[1:], **_show.LINE, zorder=0)
        for sign in (1, -1):  # in two colours
            steps = np.flatnonzero(np.copysign(1, self.difference) == sign)
            width = self.difference[steps]
            bars = ax.barh(rows[1:-1][steps], width, left=self.ndcg[steps], height=0.6)
            ax.bar_label(bars, [f"{value:+.4f}" for value in width], padding=4)
        ax.plot(self.ndcg[ends], rows[ends], "o", color=_show.LINE["color"])
        for value, row in zip(self.ndcg[ends], rows[ends], strict=True):
            style = {"textcoords": "offset points", "va": "center"}
            ax.annotate(f"{value:.4f}", (value, row), (7, 0), **style)
        ax.set_yticks(rows, names)
        ax.use_sticky_edges = False
        ax.margins(x=0.35)  # for the numbers beside the bars
        ax.set(xlabel=self.metric, ylim=(rows[-1] + 0.5, -0.5))
        if notes:
            below = {"xycoords": ("figure points", "axes fraction"), "textcoords": "offset points"}
            ax.annotate("\n".join(notes), (6, 0), (0, -38), **below, va="top", fontsize="small")
        return _show.finish(ax, despine)

    def _effect(self, step: int) -> str:
        """How many queries a step changes, and which of them change most."""
        if self.changes[step].choice == "ties" and not self.n_tied:
            return "no effect: no two documents of a query have equal scores"
        before, after = self.values[step : step + 2]
        same = np.isclose(before, after, rtol=0, atol=EQUAL, equal_nan=True)
        if same.all():
            return "no effect"
        # queries that change in the direction of the mean come first
        towards = self.shares[step] * (np.sign(self.difference[step]) or 1)
        changed = np.flatnonzero(~same)
        most = changed[np.argsort(-towards[changed], kind="stable")][:_MOST]
        shown = [
            f"{shown_labels(self.labels[[query]])} ({_ndcg_text(old)} to {_ndcg_text(new)})"
            for query, old, new in zip(most, before[most], after[most], strict=True)
        ]
        return f"in {len(changed)} of {len(same)} queries, most in {', '.join(shown)}"


@names_groups
def explain_difference(
    y_true: ArrayLike | Rows,
    y_score: Any = None,
    first: str | Mapping[str, Any] | None = None,
    second: str | Mapping[str, Any] | None = None,
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    sample_weight: Weights | None = None,
) -> Explanation:
    """Explain the difference between the NDCG of two conventions, choice by choice.

    The choices in which they differ are changed one at a time: unjudged documents, gain, discount,
    ties, queries without a relevant document, cutoff. For each step the result shows the NDCG after
    it, the difference that it makes, how many queries change, and the queries that change most. The
    choices interact: in another order the steps would make other differences, with the same sum.
    What a library does that no option says, such as ordering ties by id, is printed, but is not in
    the numbers.

    Parameters
    ----------
    y_true : array-like or Rows, shape (n_documents,) or (n_queries, n_documents)
        Relevance, as in `ndcg_score`. After rows of lists come the conventions:
        ``explain_difference(rows, first, second)``.

    y_score : array-like of the shape of `y_true`, default=None
        Predicted scores, as in `ndcg_score`.

    first, second : str or mapping, default=None
        A name in `CONVENTIONS`, or options of `ndcg_score`: `k`, `gain`, `discount`, `ties`,
        `ignore_ties`, `unjudged` and `undefined`. Options that a mapping leaves out have the
        defaults of `ndcg_score`.

    groups : array-like of shape (n_documents,) or str, default=None
        The query id of each row. See `ndcg_score`.

    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. It is that of both, unless a mapping has its own.

    sample_weight : array-like of shape (n_documents,) or (n_queries,) or mapping, default=None
        Weights >= 0. See `ndcg_score`.

    Returns
    -------
    Explanation
        Prints as text. See `Explanation` for its attributes.

    Raises
    ------
    ValueError
        If `first` or `second` is a name that is not in `CONVENTIONS`, or as in `ndcg_score`.

    TypeError
        If `first` or `second` has an unknown option, or is neither a name nor a mapping.

    Warns
    -----
    UserWarning
        As in `ndcg_score`.

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
    >>> explanation
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
    Not in these numbers, as no option of ndcg_score has it:
    sklearn: A query of a single document is an error.
    >>> explanation.difference.round(4)
    array([-0.0005,  0.0688,  0.5   , -0.0229])
    """
    if isinstance(y_true, Rows) and isinstance(y_score, str | Mapping):
        # the conventions come after the rows
        y_score, first, second = None, y_score, first if second is None else second
    start, end = _measure("first", first, k), _measure("second", second, k)
    rankings = rankings_of(y_true, y_score, groups, sample_weight)
    start, end = rankings.as_read(start), rankings.as_read(end)
    measures, changes = [start], []
    for choice in _CHOICES:
        before, after = getattr(start, choice), getattr(end, choice)
        if before != after:
            measures.append(replace(measures[-1], **{choice: after}))
            changes.append(Change(choice, before, after))
    values = [rankings.evaluate(step, check_ids=step is start) for step in measures]
    for ends in (values[0], values[-1]):  # a step between does not raise
        ends.report_undefined()
    ndcg = np.array([step.mean() for step in values])
    by_query = np.column_stack([step.filled() for step in values]).T
    shares = _shares(by_query, np.array([step.weight for step in values]))
    return Explanation(
        first=first if isinstance(first, str) else "first",
        second=second if isinstance(second, str) else "second",
        changes=changes,
        ndcg=ndcg,
        difference=np.diff(ndcg),
        labels=rankings.grouping.labels.copy(),
        values=by_query,
        shares=shares,
        n_tied=_count_tied(rankings.queries(end)),
        scores_are_ranks=isinstance(y_true, Rows),
        metric="NDCG" if start.k is None or start.k != end.k else f"NDCG@{start.k}",
        not_included={
            name: BEYOND_KEYWORDS[name] for name in (first, second) if isinstance(name, str)
        },
    )


def _measure(name: str, convention: object, k: Cutoff) -> NDCG:
    """The measure of `first` or `second`."""
    if isinstance(convention, str):
        check_choice(name, convention, tuple(CONVENTIONS), "or a mapping of options of ndcg_score")
        convention = CONVENTIONS[convention]
    elif not isinstance(convention, Mapping):
        raise TypeError(
            f"{name} must be a name in CONVENTIONS or a mapping of options of ndcg_score, got "
            f"{type(convention).__name__}."
        )
    options = {"k": k, **convention}
    try:
        measure = NDCG.of(explain_difference, options.pop("k"), options)
    except (TypeError, ValueError) as error:
        error.add_note(f"In the convention passed as `{name}`.")
        raise
    # the same choice may be written in two ways, of which "warn" would warn
    rule = measure.undefined_rule
    undefined = rule.value if rule.warns else measure.undefined
    return replace(measure, ties=measure.tie_order, ignore_ties=False, undefined=undefined)


def _shares(values: Floats, weights: Floats) -> Floats:
    """What each query adds to the difference of the weighted means at each step; nan is left out.

    The mean changes in two parts: from all queries before the step to those that stay, and from
    these to all queries after it.
    """
    weights, values = np.where(np.isnan(values), 0, weights), np.nan_to_num(values)
    shares = np.empty((len(values) - 1, values.shape[1]))
    steps = zip(shares, pairwise(values), pairwise(weights), strict=True)
    for share, (before, after), of_all in steps:
        stays = np.logical_and(*of_all)
        old, new = (weight / (weight.sum() or np.nan) for weight in of_all)
        old_stays, new_stays = (weight * stays / (weight[stays].sum() or 1) for weight in of_all)
        start, end = before @ old_stays, after @ new_stays
        share[:] = np.where(
            stays,
            new_stays * (after - start) - old_stays * (before - start),
            new * (after - end) - old * (before - start),
        )
    return shares


def _count_tied(queries: Queries) -> int:
    """How many queries have documents of equal scores, which were retrieved."""
    query = codes_of_runs(queries.starts, queries.lengths)
    retrieved = queries.score > -np.inf
    query, score = query[retrieved], queries.score[retrieved]
    order = np.lexsort((score, query))
    query, score = query[order], score[order]
    tied = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    return int(np.count_nonzero(np.bincount(query[1:][tied])))


def _change_text(change: Change) -> str:
    """A change as text."""
    return f"{change.choice}: {_option_text(change.before)} -> {_option_text(change.after)}"


def _option_text(value: Any) -> str:
    text = name_of(value) if callable(value) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _ndcg_text(ndcg: float) -> str:
    return "left out" if np.isnan(ndcg) else f"{ndcg:.3f}"
