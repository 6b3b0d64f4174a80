"""Paired comparisons of rankers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Weights
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics.measure import DCG, Measure, NDCGOptions
from sklearn_ndcg._metrics.rankings import (
    Rankings,
    rankings_of_lists,
    rankings_of_several,
    refuse_beside_lists,
)
from sklearn_ndcg._rows.columns import column_names
from sklearn_ndcg._rows.labels import refuse_reordered
from sklearn_ndcg.inference._judged import judged_shares
from sklearn_ndcg.inference._options import Inference, Metric, measure_of
from sklearn_ndcg.inference._pairs import Design
from sklearn_ndcg.inference._results import Comparison
from sklearn_ndcg.inference._sample import Sample
from sklearn_ndcg.inference._statistics import Test

_COUNTED = {1: "one ranker", 2: "two rankers"}
_UNJUDGED_MEANS = {
    "zero": "The former may be better than it looks, as unjudged documents count as not relevant.",
    "omit": "The former may look better than it is, or worse if its lists are short, as unjudged "
    "documents are removed.",
}
# no warning up to this difference of the shares of judged documents
_MANY = 0.1


def compare_rankers(
    y_true: ArrayLike | Rows,
    y_scores: Mapping[Any, ArrayLike] | None = None,
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    metric: Metric | None = None,
    sample_weight: Weights | None = None,
    baseline: Any = None,
    margin: float | None = None,
    test: Test = "permutation",
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
    clusters: Any = None,
    **options: Unpack[NDCGOptions],
) -> Comparison:
    """Compare rankers on the same queries, with confidence intervals and significance tests.

    The comparison is paired: it takes the difference between two rankers for each query.

    Parameters
    ----------
    y_true : array-like or Rows, shape (n_documents,) or (n_queries, n_documents)
        Relevance, as in `ndcg_score`; or the rows of several rankers, without `y_scores` and
        `groups`: ``from_lists(relevant, rankers={name: lists})``, or those of `from_trec`.

    y_scores : mapping from name to array-like of the shape of `y_true`, default=None
        The scores of two rankers or more; or a DataFrame (pandas, Polars, PyArrow) with a column
        for each ranker.

    groups : array-like of shape (n_documents,) or str, default=None
        The query id of each row. See `ndcg_score`.

    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. See `ndcg_score`.

    metric : callable, default=None
        A function of the relevance and the scores of one query, ``metric(y_true, y_score)``, in
        place of NDCG, as in `make_query_scorer`; a larger value is better. Bind its options with
        `functools.partial`; of the options below only `undefined` applies. For rows of lists it
        gets the documents in their order, and then those that were not returned, whose score is
        ``-inf``: ``ranked = y_true[y_score > -np.inf]``. A query without a list is 0.

    sample_weight : array-like of shape (n_documents,) or (n_queries,) or mapping, default=None
        Weights >= 0. See `ndcg_score`.

    baseline : a name in `y_scores`, default=None
        The ranker that all others are compared with. None compares all pairs.

    margin : float, default=None
        The loss that you accept: of NDCG, between 0 and 1. Each ranker then has a verdict against
        the `baseline`, which is needed: "better", "not worse", "worse" or "undecided", see
        `Comparison`. If the ranker is worse by the margin, "not worse" is wrong in about
        ``(1 - confidence_level) / 2`` of samples. At the level 0.95 it is wrong in 4.5 to 6.5% of
        samples of 50 to 20 queries if the ranker loses a third of them and ties in the others, and
        in 10 to 19% if it loses a tenth.

    test : {"permutation", "t"}, default="permutation"
        "permutation" is Fisher's randomization test: the two values of a query are exchangeable
        under the null hypothesis. All assignments of values to rankers are tried if their number is
        at most `n_resamples`. "t" is Student's paired t test, weighted as in `ndcg_interval`.

    confidence_level : float, default=0.95
        Level of the intervals of the differences, between 0 and 1.

    n_resamples : int, default=9999
        Number of random assignments, if not all are tried; not used by ``test="t"``.

    random_state : int, RandomState, Generator or None, default=None
        Source of the random assignments.

    clusters : array-like of shape (n_documents,) or (n_queries,) or mapping, default=None
        The cluster id of each row, if queries depend on each other. See `ndcg_interval`. The
        differences in a cluster change sign together, and t has the standard error and the degrees
        of freedom of `ndcg_interval`.

    **options
        Further options of `ndcg_score`: `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and
        `undefined`. Queries without a relevant document say nothing about which ranker is better:
        ``undefined="omit"`` leaves them out. By default they count as 0 for all rankers, as in
        `ndcg_score`, which brings means and differences closer to 0.

    Returns
    -------
    Comparison
        Prints as a table. See `Comparison` for its attributes and `to_frame`.

    Raises
    ------
    ValueError
        If an argument is not as described, `margin` comes without `baseline`, there are fewer than
        two rankers, fewer than two queries or clusters can be scored, or a query has rows in
        several clusters.

    TypeError
        If an option is unknown, `y_scores` is not a mapping, or it is passed beside rows of lists.

    Warns
    -----
    UserWarning
        If there are fewer than 10 queries or clusters, or their weights make them worth fewer than
        10, as in `ndcg_interval`. If the shares of judged documents of two
        rankers differ by more than 0.1 (documents with NaN in `y_true` are unjudged; not checked
        if every judged document is relevant). If a ranker answers fewer queries than another.

    UndefinedMetricWarning
        As in `ndcg_score`.

    See Also
    --------
    compare_models : Fits and tests models, and compares them.
    ndcg_interval : The interval of one NDCG.

    References
    ----------
    Smucker, M. D., Allan, J., & Carterette, B. (2007). A comparison of statistical significance
    tests for information retrieval evaluation. CIKM 2007, 623-632.

    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal
    of Statistics, 6(2), 65-70.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg.inference import compare_rankers
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 5, size=(100, 20))
    >>> good, poor, other = (y_true + rng.normal(0, s, y_true.shape) for s in (2, 4, 4))
    >>> scores = {"good": good, "poor": poor, "other": other}
    >>> compare_rankers(y_true, scores, k=10, random_state=0)
    100 queries
           NDCG@10
    good    0.8497
    poor    0.7376
    other   0.7211
    <BLANKLINE>
    first  second  difference              95% CI       p  effect    W/T/L
    good   poor       +0.1121  [+0.0871, +0.1371]  0.0006   +0.89  85/0/15
    good   other      +0.1286  [+0.1019, +0.1553]  0.0006   +0.96  83/0/17
    poor   other      +0.0165  [-0.0100, +0.0430]  0.2218   +0.12  53/0/47
    <BLANKLINE>
    95% CI: confidence interval, for each pair alone.
    p (permutation, Holm): corrected for 3 pairs.
    effect: mean / standard deviation of the differences. W/T/L: wins/ties/losses.
    """
    measure = measure_of(compare_rankers, metric, k, options)
    inference = Inference(confidence_level, n_resamples, random_state, test=test)
    rankers = rankings_of_rankers(y_true, y_scores, groups, sample_weight, least=2)
    refuse_reordered(y_true=y_true, clusters=clusters)
    design = Design(
        limits=measure.limits,
        rankers=list(rankers),
        baseline=baseline,
        margin=margin,
        inference=inference,
    )
    sample = Sample.of([*rankers.values()], measure, clusters)
    result = design.compare(sample)
    warn_of_shares(rankers, sample.measure)
    return result


def warn_of_shares(rankers: Mapping[Any, Rankings], measure: Measure) -> None:
    """Warn if rankers differ in what they return that is judged, or in what they answer."""
    # whatever a function does with documents of equal scores, it gets all of them
    counted = measure if isinstance(measure, DCG) else DCG(k=measure.k)
    names, shares = list(rankers), judged_shares([*rankers.values()], counted)
    if shares is None or not shares.n_answered().any():
        return
    n_answered, n_judged = shares.n_answered(), shares.share.shape[1]
    judged = np.where(n_answered > 0, shares.means(), np.nan)
    if shares.has_judged_nonrelevant and np.nanmax(judged) - np.nanmin(judged) > _MANY:
        fewest, most = np.nanargmin(judged), np.nanargmax(judged)
        _checks.warn(
            f"Of the first documents that {names[fewest]!r} returned, {judged[fewest]:.0%} are "
            f"judged, compared with {judged[most]:.0%} for {names[most]!r}. "
            f"{_UNJUDGED_MEANS[measure.unjudged]} Consider judging more."
        )
    least, most = n_answered.min(), n_answered.max()
    if least < most:
        _checks.warn(
            f"{names[n_answered.argmin()]!r} has lists with documents for {least} of the "
            f"{n_judged} judged queries; another ranker has {most}: others count as 0. If it was "
            "not asked all of them, pass unanswered='omit', which keeps empty lists. If it was, "
            "check that its query ids are those of the truth. If it found nothing for these, 0 is "
            "right: ignore this warning."
        )


def rankings_of_rankers(
    y_true: ArrayLike | Rows,
    y_scores: Any,
    groups: Any,
    sample_weight: Any,
    least: int,
    argument: str = "y_scores",
) -> dict[Any, Rankings]:
    """The rows of several rankers, at least so many, from arrays or lists."""
    if not isinstance(y_true, Rows):
        if isinstance(y_true, Mapping) and any(isinstance(r, Rows) for r in y_true.values()):
            raise TypeError(
                "Read the lists of all rankers together: from_lists(relevant, rankers={name: "
                "lists}), or from_trec(qrels, runs={name: run})."
            )
        scores = _scores_by_name(y_scores, argument, least)
        return rankings_of_several(y_true, scores, groups, sample_weight)
    refuse_beside_lists(**{argument: y_scores, "groups": groups})
    if len(y_true.rankers) < least:
        raise ValueError(
            f"The rows must be of at least {_COUNTED[least]}: pass rankers={{name: lists}} to "
            "from_lists or runs={name: run} to from_trec. For one ranker call ndcg_interval(rows)."
        )
    return rankings_of_lists(y_true, sample_weight)


def _scores_by_name(y_scores: Any, argument: str, least: int) -> dict[Any, ArrayLike]:
    """The scores of each ranker, from a mapping or the columns of a DataFrame."""
    lazy = hasattr(y_scores, "collect")
    columns: list[Any] | None = None
    if callable(getattr(y_scores, "items", None)):
        columns = list(y_scores)
    elif not lazy:
        columns = column_names(y_scores)
    if columns is None:
        way = ": collect() it first." if lazy else "."
        raise TypeError(
            f"{argument} must be a mapping from the name of a ranker to its scores, or a DataFrame "
            f"with a column for each, got {type(y_scores).__name__}{way}"
        )
    if len(columns) < least or len(set(map(str, columns))) < len(columns):
        raise ValueError(
            f"{argument} must have at least {_COUNTED[least]} with different names, got {columns}."
        )
    return dict(zip(columns, map(y_scores.__getitem__, columns), strict=True))
