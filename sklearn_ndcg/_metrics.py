"""The five public functions: one check, one kernel call, one average each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import cleandoc, signature
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import warn
from sklearn_ndcg._definitions import Cutoff, Definition, Discount, Gain, check_cutoff
from sklearn_ndcg._kernels import Floats, Ints
from sklearn_ndcg._queries import Queries, as_queries

# values of one block of queries times cutoffs in a curve: 32 MB
_CURVE_BLOCK = 1 << 22

Function = TypeVar("Function", bound=Callable[..., Any])

# What the five functions share is written once; {names in braces} below stand for it.
_DOCS = {
    "data": """
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document: any finite number, for NDCG with a gain >= 0. NaN marks an
        unjudged document, see `unjudged`.

    y_score : array-like of the shape of `y_true`
        Predicted scores, larger is earlier. ``-inf`` says "judged but not retrieved": such a
        document adds nothing to the DCG and counts in the ideal. (So a log-probability of zero
        reads as "not retrieved".)

    groups : array-like of shape (n_documents,), default=None
        The query id of each row, required for 1-D input: integers, strings, dates or any other
        sortable type, in any order; rows of a query need not lie together.
""",
    "k": """
    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count, in the ideal too. None counts all. "retrieved"
        cuts each query at the number of documents it retrieved (score not ``-inf``, counted after
        ``unjudged="omit"``); note that this rewards short lists.
""",
    "gain": """
    gain : {"linear", "exponential"}, table or callable, default="linear"
        Gain of a relevance `y`: `y` itself, ``2**y - 1``, the entry of a table (a sequence for the
        grades 0, 1, 2, ... or a mapping from grade to gain), or what a callable returns for an
        array of relevance. The ideal is ordered by gain.

    discount : {"log", "reciprocal", "none"} or callable, default="log"
        Weight of a rank `r`, from 1: ``1 / log2(r + 1)``, ``1 / r``, 1 (cumulative gain), or what a
        callable returns for the array of ranks 1..n: finite, >= 0 and not rising.
""",
    "ties": """
    ties : {"average", "stable", "worst", "best"}, default="average"
        Order of documents with equal scores: the mean over all their orders, the order of the
        input, lowest gain first, or highest gain first.

    ignore_ties : bool, default=False
        As in scikit-learn, the caller's word that there are no ties; where there are, the order of
        the input. An error together with another `ties`.

    unjudged : {"raise", "zero", "omit"}, default="raise"
        What a NaN in `y_true` means: an error, gain 0, or a document taken out before ranking (the
        condensed list of Sakai 2007).
""",
    "undefined": """
    replace_undefined_by : "warn", float or nan, default="warn"
        Value of a query without any relevant document, where NDCG is 0 / 0. "warn" is 0.0 with an
        `UndefinedMetricWarning` that counts them; nan leaves them out of a mean.
""",
    "weight": """
    sample_weight : array-like of shape (n_queries,) or (n_documents,), default=None
        Weights, >= 0: one a query for 2-D input, one a row for input with `groups`, where a query
        weighs the mean of its rows (those taken out by ``unjudged="omit"`` aside).
""",
    "raises": """
    ValueError
        If an argument is not as described: the message names it, what was found and where.

    TypeError
        If an input cannot be read as an array of numbers, or of ids.
""",
    "references": """
    Järvelin, K., & Kekäläinen, J. (2002). Cumulated gain-based evaluation of IR techniques. ACM
    Transactions on Information Systems, 20(4), 422-446.

    McSherry, F., & Najork, M. (2008). Computing information retrieval performance measures
    efficiently in the presence of tied scores. ECIR 2008, 414-421.

    Sakai, T. (2007). Alternatives to bpref. SIGIR 2007, 71-78.
""",
}


def _refusing_estimators(metric: Function) -> Function:
    """Tell whoever passes a metric as `scoring` that a scorer is meant."""

    @wraps(metric)
    def checked(*arguments: Any, **options: Any) -> Any:
        if len(arguments) > 2 and hasattr(arguments[0], "fit"):
            scorer = f"make_{metric.__name__.split('_')[0]}_scorer"
            raise TypeError(
                f"{metric.__name__} is a metric of y_true and y_score, and was called as a scorer, "
                f"with {type(arguments[0]).__name__}, X and y. Pass scoring={scorer}(...), which "
                "takes the same options."
            )
        return metric(*arguments, **options)

    return checked  # type: ignore[return-value]


def _documented(function: Function) -> Function:
    if function.__doc__:  # there is none under python -OO
        parts = {name: cleandoc(text) for name, text in _DOCS.items()}
        function.__doc__ = cleandoc(function.__doc__).format(**parts)
    return function


@_refusing_estimators
@_documented
def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    gain: Gain = "linear",
    discount: Discount = "log",
    log_base: float = 2,
    ties: str = "average",
    ignore_ties: bool = False,
    unjudged: str = "raise",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Discounted cumulative gain, averaged over queries.

    The sum, over the documents of a query in the order of their scores, of the gain of each
    document times the discount of its rank.

    Parameters
    ----------
    {data}

    {k}

    {gain}

    log_base : float, default=2
        Base of the logarithm of ``discount="log"``, above 1.

    {ties}

    {weight}

    Returns
    -------
    float
        Mean over queries. Negative only where gains are.

    Raises
    ------
    {raises}

    See Also
    --------
    ndcg_score : The DCG over that of the best order, between 0 and 1.
    dcg_samples : The DCG of each query.

    References
    ----------
    {references}

    Examples
    --------
    Gains of 3 and 2 at the ranks 1 and 2, the second at a discount of 1 / log2(3):

    >>> from sklearn_ndcg import dcg_score
    >>> dcg_score([3, 2], [0.9, 0.4], groups=["q", "q"])
    4.2618...
    >>> dcg_score([3, 2], [0.9, 0.4], groups=["q", "q"], discount="none")
    5.0
    """
    definition = Definition(
        gain=gain,
        discount=discount,
        log_base=log_base,
        ties=ties,
        ignore_ties=ignore_ties,
        unjudged=unjudged,
    )
    cutoff = check_cutoff(k)
    queries = as_queries(
        y_true,
        y_score,
        groups=groups,
        definition=definition,
        negative_gain=True,
        sample_weight=sample_weight,
    )
    return float(mean_over_queries(dcg_at(queries, [cutoff], definition), queries.weight)[0])


@_refusing_estimators
@_documented
def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    gain: Gain = "linear",
    discount: Discount = "log",
    ties: str = "average",
    ignore_ties: bool = False,
    unjudged: str = "raise",
    replace_undefined_by: float | str = "warn",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Normalized discounted cumulative gain, averaged over queries.

    The DCG of a query's documents in the order of their scores, divided by the DCG of their best
    order. Queries may have any number of documents, one included.

    On 2-D input this is `sklearn.metrics.ndcg_score`, to the last digits.

    Parameters
    ----------
    {data}

    {k}

    {gain}

    {ties}

    {undefined}

    {weight}

    Returns
    -------
    float
        Mean over queries, in [0, 1]; nan only where every query of any weight was left out.

    Raises
    ------
    {raises}

    Warns
    -----
    UndefinedMetricWarning
        If there are queries without a relevant document and `replace_undefined_by` is "warn".

    See Also
    --------
    ndcg_samples : The NDCG of each query.
    ndcg_curve : NDCG at many cutoffs in one pass.
    make_ndcg_scorer : The same for GridSearchCV and cross_val_score.

    References
    ----------
    {references}

    Examples
    --------
    Two queries, the rows of one not side by side; "a" is ranked perfectly, "b" upside down:

    >>> from sklearn_ndcg import ndcg_score
    >>> y_true = [2, 1, 0, 0, 1]
    >>> y_score = [0.9, 0.2, 0.8, 0.3, 0.7]
    >>> groups = ["a", "b", "b", "a", "a"]
    >>> ndcg_score(y_true, y_score, groups=groups)
    0.8154...

    All five rows ranked as one list would be another question, with another answer. It has to be
    asked for:

    >>> ndcg_score([y_true], [y_score])
    0.9220...
    """
    definition = Definition(
        gain=gain,
        discount=discount,
        ties=ties,
        ignore_ties=ignore_ties,
        unjudged=unjudged,
        replace_undefined_by=replace_undefined_by,
    )
    cutoff = check_cutoff(k)
    queries = as_queries(
        y_true,
        y_score,
        groups=groups,
        definition=definition,
        negative_gain=False,
        sample_weight=sample_weight,
    )
    return float(mean_over_queries(ndcg_at(queries, [cutoff], definition), queries.weight)[0])


@_refusing_estimators
@_documented
def dcg_samples(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    gain: Gain = "linear",
    discount: Discount = "log",
    log_base: float = 2,
    ties: str = "average",
    ignore_ties: bool = False,
    unjudged: str = "raise",
) -> Floats:
    """Discounted cumulative gain of each query.

    Parameters
    ----------
    {data}

    {k}

    {gain}

    log_base : float, default=2
        Base of the logarithm of ``discount="log"``, above 1.

    {ties}

    Returns
    -------
    ndarray of shape (n_queries,)
        In the order of ``np.unique(groups)``, for 2-D input in that of its rows.

    Raises
    ------
    {raises}

    See Also
    --------
    dcg_score : The mean of these.

    References
    ----------
    {references}

    Examples
    --------
    >>> from sklearn_ndcg import dcg_samples
    >>> dcg_samples([1, 3, 2], [0.5, 0.9, 0.4], groups=["b", "a", "a"])
    array([4.2618..., 1.        ])
    """
    definition = Definition(
        gain=gain,
        discount=discount,
        log_base=log_base,
        ties=ties,
        ignore_ties=ignore_ties,
        unjudged=unjudged,
    )
    cutoff = check_cutoff(k)
    queries = as_queries(y_true, y_score, groups=groups, definition=definition, negative_gain=True)
    return dcg_at(queries, [cutoff], definition)[:, 0]


@_refusing_estimators
@_documented
def ndcg_samples(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    gain: Gain = "linear",
    discount: Discount = "log",
    ties: str = "average",
    ignore_ties: bool = False,
    unjudged: str = "raise",
    replace_undefined_by: float | str = "warn",
) -> Floats:
    """Normalized discounted cumulative gain of each query.

    Parameters
    ----------
    {data}

    {k}

    {gain}

    {ties}

    {undefined}

    Returns
    -------
    ndarray of shape (n_queries,)
        In [0, 1] where defined, in the order of ``np.unique(groups)``, for 2-D input in that of
        its rows.

    Raises
    ------
    {raises}

    Warns
    -----
    UndefinedMetricWarning
        If there are queries without a relevant document and `replace_undefined_by` is "warn".

    See Also
    --------
    ndcg_score : The mean of these.

    References
    ----------
    {references}

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg import ndcg_samples
    >>> y_true = [1, 0, 0, 0, 1]
    >>> y_score = [0.9, 0.4, 0.6, 0.5, 0.5]
    >>> ndcg_samples(y_true, y_score, groups=[7, 7, 8, 9, 9], replace_undefined_by=np.nan)
    array([1.        ,        nan, 0.8154...])
    """
    definition = Definition(
        gain=gain,
        discount=discount,
        ties=ties,
        ignore_ties=ignore_ties,
        unjudged=unjudged,
        replace_undefined_by=replace_undefined_by,
    )
    cutoff = check_cutoff(k)
    queries = as_queries(y_true, y_score, groups=groups, definition=definition, negative_gain=False)
    return ndcg_at(queries, [cutoff], definition)[:, 0]


@_refusing_estimators
@_documented
def ndcg_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    gain: Gain = "linear",
    discount: Discount = "log",
    ties: str = "average",
    ignore_ties: bool = False,
    unjudged: str = "raise",
    replace_undefined_by: float | str = "warn",
    sample_weight: ArrayLike | None = None,
) -> tuple[Ints, Floats]:
    """NDCG as a function of the cutoff, averaged over queries, in one ranking pass.

    Parameters
    ----------
    {data}

    k : array-like of int of shape (n_cutoffs,), default=None
        Cutoffs >= 1 in any order. None is every cutoff from 1 to the longest query.

    {gain}

    {ties}

    {undefined}

    {weight}

    Returns
    -------
    k : ndarray of shape (n_cutoffs,)
        The cutoffs, as given.

    ndcg : ndarray of shape (n_cutoffs,)
        ``ndcg_score`` at each of them.

    Raises
    ------
    {raises}

    Warns
    -----
    UndefinedMetricWarning
        If there are queries without a relevant document and `replace_undefined_by` is "warn".

    See Also
    --------
    ndcg_score : The value at one cutoff.

    References
    ----------
    {references}

    Examples
    --------
    The one relevant document stands at rank 3, so cutoffs below 3 do not see it:

    >>> from sklearn_ndcg import ndcg_curve
    >>> ndcg_curve([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], groups=[1, 1, 1, 1])
    (array([1, 2, 3, 4]), array([0. , 0. , 0.5, 0.5]))
    """
    definition = Definition(
        gain=gain,
        discount=discount,
        ties=ties,
        ignore_ties=ignore_ties,
        unjudged=unjudged,
        replace_undefined_by=replace_undefined_by,
    )
    cutoffs = None if k is None else _check_cutoffs(k)
    queries = as_queries(
        y_true,
        y_score,
        groups=groups,
        definition=definition,
        negative_gain=False,
        sample_weight=sample_weight,
    )
    if cutoffs is None:
        cutoffs = np.arange(1, max(1, queries.lengths.max()) + 1)
    return cutoffs, _mean_curve(queries, cutoffs, definition)


def dcg_at(queries: Queries, cutoffs: Sequence[Cutoff], definition: Definition) -> Floats:
    """DCG of every query at every cutoff, shape (n_queries, n_cutoffs)."""
    ends, column = _ends(queries, cutoffs)
    discount = definition.discounts(ends[-1])
    return _dcg(queries, ends, discount, definition.tie_rule)[:, column]


def ndcg_at(queries: Queries, cutoffs: Sequence[Cutoff], definition: Definition) -> Floats:
    """NDCG of every query at every cutoff, shape (n_queries, n_cutoffs)."""
    values = ratio(*dcg_and_ideal(queries, cutoffs, definition))
    undefined = np.isnan(values[:, 0])
    if undefined.any():
        values[undefined] = replacement(int(undefined.sum()), len(values), definition)
    return values


def dcg_and_ideal(
    queries: Queries, cutoffs: Sequence[Cutoff], definition: Definition
) -> tuple[Floats, Floats]:
    """DCG and ideal DCG of every query at every cutoff, each of shape (n_queries, n_cutoffs)."""
    ends, column = _ends(queries, cutoffs)
    discount = definition.discounts(ends[-1])
    achieved = _dcg(queries, ends, discount, definition.tie_rule)[:, column]
    if "retrieved" in cutoffs:
        before = np.r_[0, np.cumsum(queries.score > -np.inf)]
        retrieved = before[queries.starts + queries.lengths] - before[queries.starts]
        # where none was retrieved the DCG is 0, and the ideal at 1 tells whether it is defined
        own = np.maximum(retrieved, 1)[:, np.newaxis]
        is_own = [k == "retrieved" for k in cutoffs]
        ideal = _ideal(queries, np.where(is_own, own, ends[column]), discount)
    else:
        ideal = _ideal(queries, ends, discount)[:, column]
    return achieved, ideal


def mean_over_queries(values: Floats, weight: Floats | None) -> Floats:
    """Weighted mean of each column, rows of nan left out, nan where nothing is left."""
    scored = ~np.isnan(values[:, 0])
    weight = np.ones(len(values)) if weight is None else weight
    values, weight = values[scored], weight[scored]
    if not weight.any():
        return np.full(values.shape[1], np.nan)
    weight = weight / weight.max()
    # only a sum can overflow, no mean can: large values are summed in smaller units
    unit = 2.0**64 if np.abs(values).max() > 2.0**960 else 1.0
    return np.asarray(_weighted_sums(values / unit, weight) / weight.sum() * unit)


def _mean_curve(queries: Queries, cutoffs: Ints, definition: Definition) -> Floats:
    """Mean NDCG at each cutoff, without ever holding queries times cutoffs in memory."""
    ends, column = np.unique(cutoffs, return_inverse=True)
    discount = definition.discounts(min(ends[-1], max(1, queries.lengths.max())))
    weight = np.ones(len(queries.starts)) if queries.weight is None else queries.weight
    by_length, reaches = np.arange(len(weight)), np.full(len(weight), len(ends))
    if len(weight) * len(ends) > _CURVE_BLOCK:
        by_length = np.argsort(queries.lengths, kind="stable")
        # from its length on the curve of a query is flat: so many cutoffs are worth a look
        reaches = np.minimum(np.searchsorted(ends, queries.lengths[by_length]) + 1, len(ends))
    sums, flat = np.zeros(len(ends)), np.zeros(len(ends) + 1)
    total, undefined_weight, n_undefined, at = 0.0, 0.0, 0, 0
    while at < len(by_length):
        step = max(1, _CURVE_BLOCK // reaches[at])
        while step > 1 and step * reaches[at : at + step][-1] > _CURVE_BLOCK:
            step //= 2
        part, reach = by_length[at : at + step], reaches[at : at + step][-1]
        at += step
        starts, lengths = queries.starts[part], queries.lengths[part]
        some = queries._replace(starts=starts, lengths=lengths, labels=queries.labels[part])
        values = ratio(
            _dcg(some, ends[:reach], discount, definition.tie_rule),
            _ideal(some, ends[:reach], discount),
        )
        scored, own = ~np.isnan(values[:, 0]), weight[part]
        summed = _weighted_sums(values[scored], own[scored])
        sums[:reach] += summed
        flat[reach] += summed[-1]
        total += own[scored].sum()
        undefined_weight += own[~scored].sum()
        n_undefined += int((~scored).sum())
    sums += np.cumsum(flat)[:-1]
    if n_undefined:
        value = replacement(n_undefined, len(by_length), definition)
        if not np.isnan(value):
            total += undefined_weight
            if abs(value) > 2.0**960:  # only the sum would overflow
                return (sums / total + value * (undefined_weight / total))[column]
            sums += value * undefined_weight
    return (sums / total if total else np.full(len(ends), np.nan))[column]


def _ends(queries: Queries, cutoffs: Sequence[Cutoff]) -> tuple[Ints, Ints | slice]:
    """The distinct ranks to cut at, within reach of the longest query, and each cutoff's place."""
    longest = max(1, queries.lengths.max())
    # what was not retrieved adds nothing to a DCG: cut at the retrieved, it is not cut at all
    ends = [min(k, longest) if isinstance(k, int) else longest for k in cutoffs]
    if len(ends) == 1:
        return np.array(ends, dtype=np.intp), slice(None)
    return np.unique(np.array(ends, dtype=np.intp), return_inverse=True)


def _dcg(queries: Queries, ends: Ints, discount: Floats, tie_rule: str) -> Floats:
    gain, table, score, starts, lengths, *_ = queries
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        values = _kernels.running.dcg(gain, score, starts, lengths, discount, ends, tie_rule, table)
    return _finite(values, queries)


def _ideal(queries: Queries, ends: Ints, discount: Floats) -> Floats:
    gain, table, _, starts, lengths, *_ = queries
    with np.errstate(over="ignore", under="ignore"):
        values = _kernels.running.ideal_dcg(gain, starts, lengths, discount, ends, table)
    return _finite(values, queries)


def ratio(achieved: Floats, ideal: Floats) -> Floats:
    """DCG over ideal DCG, nan where a query has no relevant document."""
    values = np.full(ideal.shape, np.nan)
    np.divide(achieved, ideal, out=values, where=ideal > 0)
    return np.asarray(np.minimum(values, 1))  # rounding must not put anything above perfect


def _weighted_sums(values: Floats, weight: Floats) -> Floats:
    """Sum of each column times weight."""
    # along rows of memory NumPy sums in pairs, so that no digit is lost over many queries
    return np.asarray((np.ascontiguousarray(values.T) * weight).sum(axis=1))


def _finite(values: Floats, queries: Queries) -> Floats:
    finite = np.isfinite(values)
    if not finite.all():
        wrong = ~finite.all(axis=1)
        raise ValueError(
            "y_true has gains that, times discount, add up to more than a float64 holds in "
            f"{np.count_nonzero(wrong)} queries, the first {queries.labels[wrong].tolist()[0]!r}: "
            "scale y_true down, or pass a gain that does."
        )
    return values


def replacement(count: int, total: int, definition: Definition) -> float:
    """The value of undefined queries, with the warning where one is due."""
    value = definition.replace_undefined_by
    if not isinstance(value, str):
        return float(value)
    warn(
        f"NDCG is undefined for {count} of {total} queries, which have no relevant document, and "
        "is set to 0.0 there. Pass replace_undefined_by=0.0 to keep that without this warning, "
        "another number, or nan to leave them out of the mean.",
        UndefinedMetricWarning,
    )
    return 0.0


def check_options(
    caller: str,
    options: Mapping[str, Any],
    metric: Callable[..., float] = ndcg_score,
    without: Sequence[str] = (),
) -> None:
    """Raise where `options` are not those of a metric, without those that the caller has itself."""
    known = [
        name
        for name, parameter in signature(metric).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in without
    ]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise TypeError(
            f"{caller} got the unknown option {', '.join(unknown)}: beside its own arguments it "
            f"takes the options of {metric.__name__}, {', '.join(known)}."
        )


def _check_cutoffs(k: Any) -> Ints:
    try:
        listed = list(k)
        cutoffs = [check_cutoff(each) for each in listed]
        if cutoffs and all(isinstance(each, int) for each in cutoffs):
            return np.array(cutoffs, dtype=np.intp)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(
        "k must be a 1-D array of integer cutoffs from 1 to 2**63 - 1, for example k=[1, 5, 10], "
        f"got {k!r}."
    )
