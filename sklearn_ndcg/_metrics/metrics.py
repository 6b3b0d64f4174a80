"""The five metric functions: their documentation, and the way from arrays to a number."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ndcg._checks import (
    Cutoff,
    Discount,
    Floats,
    Gain,
    Ints,
    Ties,
    Undefined,
    Unjudged,
    Weights,
    names_groups,
)
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics.measure import DCG, NDCG
from sklearn_ndcg._metrics.rankings import queries_of, rankings_of
from sklearn_ndcg._metrics.values import mean_curve


@names_groups
def dcg_score(
    y_true: ArrayLike | Rows,
    y_score: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    gain: Gain = "linear",
    discount: Discount = "log",
    log_base: float = 2,
    ties: Ties = "average",
    ignore_ties: bool = False,
    unjudged: Unjudged = "raise",
    sample_weight: Weights | None = None,
) -> float:
    r"""Discounted cumulative gain (DCG), averaged over queries.

    The documents of a query are put in the order of their scores. Its DCG is the sum of the gain
    of each document times the discount of its rank. The DCG of the best order is the ideal DCG
    (IDCG). Without a discount it is the cumulative gain (CG).

    Parameters
    ----------
    y_true : array-like or Rows, shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document: any finite number, negative ones included. NaN marks an unjudged
        document, see `unjudged`. What `from_lists` and `from_trec` return comes alone, without
        `y_score` and `groups`.

    y_score : array-like of the shape of `y_true`, default=None
        Predicted scores; a larger score means an earlier rank. ``-inf`` means "judged but not
        retrieved": such a document adds nothing to the DCG.

    groups : array-like of shape (n_documents,) or str, default=None
        The query id of each row. Required for 1-D input: integers, strings, dates or any other type
        that can be sorted, in any order. The rows of a query need not be next to each other. The
        name of a level in the index of `y_true` stands for the ids in it.

    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. None counts all of them. "retrieved" cuts each query
        at the number of documents that it retrieved (score not ``-inf``, counted after
        ``unjudged="omit"``). For `Rows`, None means the cutoff passed to `from_lists` or
        `from_trec`.

    gain : {"linear", "exponential"}, sequence or callable, default="linear"
        Gain of a relevance `y`: `y` itself, ``2**y - 1``, the entry of a sequence for the grades 0,
        1, 2, ..., or what a callable returns for an array of relevance.

    discount : {"log", "reciprocal", "none"} or callable, default="log"
        Weight of a rank `r`, from 1: ``1 / log(r + 1)`` to the base `log_base`, ``1 / r``, 1
        (cumulative gain), or what a callable returns for the array of ranks 1..n: finite, >= 0
        and non-increasing.

    log_base : float, default=2
        Base of the logarithm of ``discount="log"``, above 1.

    ties : {"average", "stable", "worst", "best"}, default="average"
        Order of documents with equal scores: the mean over all their orders, the order of the
        input, lowest gain first, or highest gain first.

    ignore_ties : bool, default=False
        Whether to assume that no scores are tied. If some are, the order of the input decides; in
        scikit-learn the order is unspecified. Cannot be combined with another `ties`.

    unjudged : {"raise", "zero", "omit"}, default="raise"
        What NaN in `y_true` means: an error, a gain of 0, or a document that is removed before
        ranking (the condensed list of Sakai 2007).

    sample_weight : array-like of shape (n_documents,) or (n_queries,) or mapping, default=None
        Weights >= 0. For 2-D input one per query; with `groups` one per row, and the weight of a
        query is the mean over its rows (without those that ``unjudged="omit"`` removes). For rows
        of lists a mapping or Series from query, or one per query where queries are numbered.

    Returns
    -------
    float
        Mean over queries. Negative only if gains are.

    Raises
    ------
    ValueError
        If an argument is not as described, such as text in place of numbers: the message names it,
        what was found and where.

    TypeError
        If an input is of a type that cannot be read as an array of numbers, or of ids.

    Warns
    -----
    UserWarning
        If every query has a single document, or `groups` looks like relevance.

    See Also
    --------
    ndcg_score : The DCG divided by the DCG of the best order, between 0 and 1.
    dcg_samples : The DCG of each query.
    explain_query : The DCG and the ideal DCG of a query, rank by rank.

    Notes
    -----
    With the gain :math:`g`, the discount :math:`d` and the document :math:`\pi(r)` at rank
    :math:`r`, a query of :math:`n` documents has

    .. math::

        \mathrm{DCG@}k = \sum_{r=1}^{\min(k, n)} g(y_{\pi(r)}) \, d(r), \qquad
        g(y) = y, \qquad d(r) = \frac{1}{\log_2(r + 1)}

    by default. With ``ties="average"`` each document counts with the mean gain of all documents
    that have its score.

    References
    ----------
    Järvelin, K., & Kekäläinen, J. (2002). Cumulated gain-based evaluation of IR techniques. ACM
    Transactions on Information Systems, 20(4), 422-446.

    McSherry, F., & Najork, M. (2008). Computing information retrieval performance measures
    efficiently in the presence of tied scores. ECIR 2008, 414-421.

    Sakai, T. (2007). Alternatives to bpref. SIGIR 2007, 71-78.

    Examples
    --------
    Gains of 3 and 2 at the ranks 1 and 2, the second at a discount of 1 / log2(3):

    >>> from sklearn_ndcg import dcg_score
    >>> dcg_score([3, 2], [0.9, 0.4], groups=["q", "q"])
    4.2618...
    >>> dcg_score([3, 2], [0.9, 0.4], groups=["q", "q"], discount="none")
    5.0

    The relevance as scores gives the best order, and so the ideal DCG. The rows of a matrix are
    queries:

    >>> y_true, y_score = [[2, 3, 0]], [[0.9, 0.6, 0.3]]
    >>> dcg, ideal_dcg = dcg_score(y_true, y_score), dcg_score(y_true, y_true)
    >>> dcg / ideal_dcg   # the NDCG
    0.9134...
    """
    measure = DCG(
        k=k,
        gain=gain,
        discount=discount,
        log_base=log_base,
        ties=ties,
        ignore_ties=ignore_ties,
        unjudged=unjudged,
    )
    rankings = rankings_of(y_true, y_score, groups, sample_weight, sort_ids=False)
    return rankings.evaluate(measure).report_undefined().mean()


@names_groups
def ndcg_score(
    y_true: ArrayLike | Rows,
    y_score: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    gain: Gain = "linear",
    discount: Discount = "log",
    ties: Ties = "average",
    ignore_ties: bool = False,
    unjudged: Unjudged = "raise",
    undefined: Undefined = "warn",
    sample_weight: Weights | None = None,
) -> float:
    r"""Normalized discounted cumulative gain (NDCG), averaged over queries.

    The discounted cumulative gain (DCG) of a query's documents in the order of their scores,
    divided by the DCG of their best order, the ideal DCG (IDCG). Queries may have any number of
    documents, including one.

    For 2-D input this is `sklearn.metrics.ndcg_score`, up to rounding, except for scores that are
    unsigned integers, which that function puts in the wrong order, and bool, which it refuses.

    Parameters
    ----------
    y_true : array-like or Rows, shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document: any finite number whose gain is >= 0. NaN marks an unjudged
        document, see `unjudged`. What `from_lists` and `from_trec` return comes alone, without
        `y_score` and `groups`.

    y_score : array-like of the shape of `y_true`, default=None
        Predicted scores; a larger score means an earlier rank. ``-inf`` means "judged but not
        retrieved": such a document adds nothing to the DCG and counts in the ideal. Note that a
        log-probability of zero is ``-inf``.

    groups : array-like of shape (n_documents,) or str, default=None
        The query id of each row. Required for 1-D input: integers, strings, dates or any other type
        that can be sorted, in any order. The rows of a query need not be next to each other. The
        name of a level in the index of `y_true` stands for the ids in it.

    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. The ideal is cut there, too. None counts all of
        them. "retrieved" cuts each query at the number of documents that it retrieved (score not
        ``-inf``, counted after ``unjudged="omit"``); note that this rewards short lists. For
        `Rows`, None means the cutoff passed to `from_lists` or `from_trec`.

    gain : {"linear", "exponential"}, sequence or callable, default="linear"
        Gain of a relevance `y`: `y` itself, ``2**y - 1``, the entry of a sequence for the grades 0,
        1, 2, ..., or what a callable returns for an array of relevance. The ideal is ordered by
        gain.

    discount : {"log", "reciprocal", "none"} or callable, default="log"
        Weight of a rank `r`, from 1: ``1 / log2(r + 1)``, ``1 / r``, 1 (cumulative gain), or what a
        callable returns for the array of ranks 1..n: finite, >= 0 and non-increasing.

    ties : {"average", "stable", "worst", "best"}, default="average"
        Order of documents with equal scores: the mean over all their orders, the order of the
        input, lowest gain first, or highest gain first.

    ignore_ties : bool, default=False
        Whether to assume that no scores are tied. If some are, the order of the input decides; in
        scikit-learn the order is unspecified. Cannot be combined with another `ties`.

    unjudged : {"raise", "zero", "omit"}, default="raise"
        What NaN in `y_true` means: an error, a gain of 0, or a document that is removed before
        ranking (the condensed list of Sakai 2007).

    undefined : {"warn", "omit", "raise"} or float, default="warn"
        The value, from 0 to 1, of a query without a relevant document, where NDCG is 0 / 0. "warn"
        is 0.0 with an `UndefinedMetricWarning` that counts such queries, "omit" leaves them
        out of the mean, and "raise" is an error.

    sample_weight : array-like of shape (n_documents,) or (n_queries,) or mapping, default=None
        Weights >= 0. For 2-D input one per query; with `groups` one per row, and the weight of a
        query is the mean over its rows (without those that ``unjudged="omit"`` removes). For rows
        of lists a mapping or Series from query, or one per query where queries are numbered.

    Returns
    -------
    float
        Mean over queries, in [0, 1]; nan only if every query with a weight was left out.

    Raises
    ------
    ValueError
        If an argument is not as described, such as text in place of numbers: the message names it,
        what was found and where.

    TypeError
        If an input is of a type that cannot be read as an array of numbers, or of ids.

    Warns
    -----
    UndefinedMetricWarning
        If queries have no relevant document and `undefined` is "warn".

    UserWarning
        If every query has a single document, or `groups` looks like relevance.

    See Also
    --------
    ndcg_samples : The NDCG of each query.
    ndcg_curve : NDCG at many cutoffs in one pass.
    explain_query : The NDCG of one query, rank by rank.
    make_ndcg_scorer : The same for `GridSearchCV` and `cross_val_score`.

    Notes
    -----
    With the gain :math:`g`, the discount :math:`d`, the document :math:`\pi(r)` at rank :math:`r`
    and the one at that rank in the best order, :math:`\pi^*(r)`, a query of :math:`n` documents has

    .. math::

        \mathrm{NDCG@}k = \frac{\sum_{r=1}^{\min(k, n)} g(y_{\pi(r)}) \, d(r)}
        {\sum_{r=1}^{\min(k, n)} g(y_{\pi^*(r)}) \, d(r)}, \qquad
        g(y) = y, \qquad d(r) = \frac{1}{\log_2(r + 1)}

    by default. With ``ties="average"`` each document counts with the mean gain of all documents
    that have its score.

    References
    ----------
    Järvelin, K., & Kekäläinen, J. (2002). Cumulated gain-based evaluation of IR techniques. ACM
    Transactions on Information Systems, 20(4), 422-446.

    McSherry, F., & Najork, M. (2008). Computing information retrieval performance measures
    efficiently in the presence of tied scores. ECIR 2008, 414-421.

    Sakai, T. (2007). Alternatives to bpref. SIGIR 2007, 71-78.

    Examples
    --------
    Two queries, the rows of one not side by side; "a" is ranked perfectly, "b" in reverse:

    >>> from sklearn_ndcg import ndcg_score
    >>> y_true = [2, 1, 0, 0, 1]
    >>> y_score = [0.9, 0.2, 0.8, 0.3, 0.7]
    >>> groups = ["a", "b", "b", "a", "a"]
    >>> ndcg_score(y_true, y_score, groups=groups)
    0.8154...

    Weights of queries are handed to their rows, in pandas by ``groups.map(weights)``:

    >>> weights = {"a": 3, "b": 1}
    >>> ndcg_score(y_true, y_score, groups=groups, sample_weight=[weights[q] for q in groups])
    0.9077...

    To rank all five rows as one list is another question, with another answer. You have to ask for
    it:

    >>> ndcg_score([y_true], [y_score])
    0.9220...
    """
    measure = NDCG(
        k=k,
        gain=gain,
        discount=discount,
        ties=ties,
        ignore_ties=ignore_ties,
        unjudged=unjudged,
        undefined=undefined,
    )
    rankings = rankings_of(y_true, y_score, groups, sample_weight, sort_ids=False)
    return rankings.evaluate(measure).report_undefined().mean()


@names_groups
def dcg_samples(
    y_true: ArrayLike | Rows,
    y_score: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    gain: Gain = "linear",
    discount: Discount = "log",
    log_base: float = 2,
    ties: Ties = "average",
    ignore_ties: bool = False,
    unjudged: Unjudged = "raise",
) -> Floats:
    """Discounted cumulative gain of each query.

    Parameters
    ----------
    y_true : array-like or Rows, shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document: any finite number, negative ones included. NaN marks an unjudged
        document, see `unjudged`. What `from_lists` and `from_trec` return comes alone, without
        `y_score` and `groups`.

    y_score : array-like of the shape of `y_true`, default=None
        Predicted scores; a larger score means an earlier rank. ``-inf`` means "judged but not
        retrieved": such a document adds nothing to the DCG.

    groups : array-like of shape (n_documents,) or str, default=None
        The query id of each row. Required for 1-D input: integers, strings, dates or any other type
        that can be sorted, in any order. The rows of a query need not be next to each other. The
        name of a level in the index of `y_true` stands for the ids in it.

    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. None counts all of them. "retrieved" cuts each query
        at the number of documents that it retrieved (score not ``-inf``, counted after
        ``unjudged="omit"``). For `Rows`, None means the cutoff passed to `from_lists` or
        `from_trec`.

    gain : {"linear", "exponential"}, sequence or callable, default="linear"
        Gain of a relevance `y`: `y` itself, ``2**y - 1``, the entry of a sequence for the grades 0,
        1, 2, ..., or what a callable returns for an array of relevance.

    discount : {"log", "reciprocal", "none"} or callable, default="log"
        Weight of a rank `r`, from 1: ``1 / log(r + 1)`` to the base `log_base`, ``1 / r``, 1
        (cumulative gain), or what a callable returns for the array of ranks 1..n: finite, >= 0
        and non-increasing.

    log_base : float, default=2
        Base of the logarithm of ``discount="log"``, above 1.

    ties : {"average", "stable", "worst", "best"}, default="average"
        Order of documents with equal scores: the mean over all their orders, the order of the
        input, lowest gain first, or highest gain first.

    ignore_ties : bool, default=False
        Whether to assume that no scores are tied. If some are, the order of the input decides; in
        scikit-learn the order is unspecified. Cannot be combined with another `ties`.

    unjudged : {"raise", "zero", "omit"}, default="raise"
        What NaN in `y_true` means: an error, a gain of 0, or a document that is removed before
        ranking (the condensed list of Sakai 2007).

    Returns
    -------
    ndarray of shape (n_queries,)
        In the order of ``np.unique(groups)``; for 2-D input in the order of its rows.

    Raises
    ------
    ValueError, TypeError
        As in `dcg_score`.

    See Also
    --------
    dcg_score : The mean of these.

    Examples
    --------
    >>> from sklearn_ndcg import dcg_samples
    >>> dcg_samples([1, 3, 2], [0.5, 0.9, 0.4], groups=["b", "a", "a"])
    array([4.2618..., 1.        ])
    """
    measure = DCG(
        k=k,
        gain=gain,
        discount=discount,
        log_base=log_base,
        ties=ties,
        ignore_ties=ignore_ties,
        unjudged=unjudged,
    )
    rankings = rankings_of(y_true, y_score, groups)
    return rankings.evaluate(measure).report_undefined().filled()


@names_groups
def ndcg_samples(
    y_true: ArrayLike | Rows,
    y_score: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    gain: Gain = "linear",
    discount: Discount = "log",
    ties: Ties = "average",
    ignore_ties: bool = False,
    unjudged: Unjudged = "raise",
    undefined: Undefined = "warn",
) -> Floats:
    """Normalized discounted cumulative gain of each query.

    Parameters
    ----------
    y_true : array-like or Rows, shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document: any finite number whose gain is >= 0. NaN marks an unjudged
        document, see `unjudged`. What `from_lists` and `from_trec` return comes alone, without
        `y_score` and `groups`.

    y_score : array-like of the shape of `y_true`, default=None
        Predicted scores; a larger score means an earlier rank. ``-inf`` means "judged but not
        retrieved": such a document adds nothing to the DCG and counts in the ideal. Note that a
        log-probability of zero is ``-inf``.

    groups : array-like of shape (n_documents,) or str, default=None
        The query id of each row. Required for 1-D input: integers, strings, dates or any other type
        that can be sorted, in any order. The rows of a query need not be next to each other. The
        name of a level in the index of `y_true` stands for the ids in it.

    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. The ideal is cut there, too. None counts all of
        them. "retrieved" cuts each query at the number of documents that it retrieved (score not
        ``-inf``, counted after ``unjudged="omit"``); note that this rewards short lists. For
        `Rows`, None means the cutoff passed to `from_lists` or `from_trec`.

    gain : {"linear", "exponential"}, sequence or callable, default="linear"
        Gain of a relevance `y`: `y` itself, ``2**y - 1``, the entry of a sequence for the grades 0,
        1, 2, ..., or what a callable returns for an array of relevance. The ideal is ordered by
        gain.

    discount : {"log", "reciprocal", "none"} or callable, default="log"
        Weight of a rank `r`, from 1: ``1 / log2(r + 1)``, ``1 / r``, 1 (cumulative gain), or what a
        callable returns for the array of ranks 1..n: finite, >= 0 and non-increasing.

    ties : {"average", "stable", "worst", "best"}, default="average"
        Order of documents with equal scores: the mean over all their orders, the order of the
        input, lowest gain first, or highest gain first.

    ignore_ties : bool, default=False
        Whether to assume that no scores are tied. If some are, the order of the input decides; in
        scikit-learn the order is unspecified. Cannot be combined with another `ties`.

    unjudged : {"raise", "zero", "omit"}, default="raise"
        What NaN in `y_true` means: an error, a gain of 0, or a document that is removed before
        ranking (the condensed list of Sakai 2007).

    undefined : {"warn", "omit", "raise"} or float, default="warn"
        The value of a query without a relevant document, where NDCG is 0 / 0. "warn" is 0.0
        with an `UndefinedMetricWarning` that counts such queries, "omit" is nan, and "raise" is an
        error.

    Returns
    -------
    ndarray of shape (n_queries,)
        In [0, 1] where defined, in the order of ``np.unique(groups)``; for 2-D input in the order
        of its rows.

    Raises
    ------
    ValueError, TypeError
        As in `ndcg_score`.

    Warns
    -----
    UndefinedMetricWarning, UserWarning
        As in `ndcg_score`.

    See Also
    --------
    ndcg_score : The mean of these.
    frames.ndcg_by_query : The same as a table, with the ids beside the values.
    compare_rankers : Compares two rankers or more; its result has their values per query.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ndcg import ndcg_samples
    >>> y_true = [1, 0, 0, 0, 1]
    >>> y_score = [0.9, 0.4, 0.6, 0.5, 0.5]
    >>> ndcg_samples(y_true, y_score, groups=[7, 7, 8, 9, 9], undefined="omit")
    array([1.        ,        nan, 0.8154...])

    The query with the lowest value:

    >>> groups = ["x", "x", "y", "y", "y"]
    >>> values = ndcg_samples(y_true, y_score, groups=groups)
    >>> str(np.unique(groups)[values.argmin()])
    'y'
    """
    measure = NDCG(
        k=k,
        gain=gain,
        discount=discount,
        ties=ties,
        ignore_ties=ignore_ties,
        unjudged=unjudged,
        undefined=undefined,
    )
    rankings = rankings_of(y_true, y_score, groups)
    return rankings.evaluate(measure).report_undefined().filled()


@names_groups
def ndcg_curve(
    y_true: ArrayLike | Rows,
    y_score: ArrayLike | None = None,
    *,
    k: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    gain: Gain = "linear",
    discount: Discount = "log",
    ties: Ties = "average",
    ignore_ties: bool = False,
    unjudged: Unjudged = "raise",
    undefined: Undefined = "warn",
    sample_weight: Weights | None = None,
) -> tuple[Ints, Floats]:
    """NDCG as a function of the cutoff, averaged over queries, in one ranking pass.

    Parameters
    ----------
    y_true : array-like or Rows, shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document: any finite number whose gain is >= 0. NaN marks an unjudged
        document, see `unjudged`. What `from_lists` and `from_trec` return comes alone, without
        `y_score` and `groups`.

    y_score : array-like of the shape of `y_true`, default=None
        Predicted scores; a larger score means an earlier rank. ``-inf`` means "judged but not
        retrieved": such a document adds nothing to the DCG and counts in the ideal. Note that a
        log-probability of zero is ``-inf``.

    k : array-like of int of shape (n_cutoffs,), default=None
        Cutoffs >= 1 in any order. None is every cutoff from 1 to the longest query, or to the
        cutoff that rows of lists were read with.

    groups : array-like of shape (n_documents,) or str, default=None
        The query id of each row. Required for 1-D input: integers, strings, dates or any other type
        that can be sorted, in any order. The rows of a query need not be next to each other. The
        name of a level in the index of `y_true` stands for the ids in it.

    gain : {"linear", "exponential"}, sequence or callable, default="linear"
        Gain of a relevance `y`: `y` itself, ``2**y - 1``, the entry of a sequence for the grades 0,
        1, 2, ..., or what a callable returns for an array of relevance. The ideal is ordered by
        gain.

    discount : {"log", "reciprocal", "none"} or callable, default="log"
        Weight of a rank `r`, from 1: ``1 / log2(r + 1)``, ``1 / r``, 1 (cumulative gain), or what a
        callable returns for the array of ranks 1..n: finite, >= 0 and non-increasing.

    ties : {"average", "stable", "worst", "best"}, default="average"
        Order of documents with equal scores: the mean over all their orders, the order of the
        input, lowest gain first, or highest gain first.

    ignore_ties : bool, default=False
        Whether to assume that no scores are tied. If some are, the order of the input decides; in
        scikit-learn the order is unspecified. Cannot be combined with another `ties`.

    unjudged : {"raise", "zero", "omit"}, default="raise"
        What NaN in `y_true` means: an error, a gain of 0, or a document that is removed before
        ranking (the condensed list of Sakai 2007).

    undefined : {"warn", "omit", "raise"} or float, default="warn"
        The value, from 0 to 1, of a query without a relevant document, where NDCG is 0 / 0. "warn"
        is 0.0 with an `UndefinedMetricWarning` that counts such queries, "omit" leaves them
        out of the mean, and "raise" is an error.

    sample_weight : array-like of shape (n_documents,) or (n_queries,) or mapping, default=None
        Weights >= 0. For 2-D input one per query; with `groups` one per row, and the weight of a
        query is the mean over its rows (without those that ``unjudged="omit"`` removes). For rows
        of lists a mapping or Series from query, or one per query where queries are numbered.

    Returns
    -------
    k : ndarray of shape (n_cutoffs,)
        The cutoffs, as passed.

    ndcg : ndarray of shape (n_cutoffs,)
        `ndcg_score` at each of them.

    Raises
    ------
    ValueError, TypeError
        As in `ndcg_score`.

    Warns
    -----
    UndefinedMetricWarning, UserWarning
        As in `ndcg_score`.

    See Also
    --------
    ndcg_score : The value at one cutoff.

    Examples
    --------
    The one relevant document has rank 3, so it does not count at the cutoffs 1 and 2:

    >>> from sklearn_ndcg import ndcg_curve
    >>> ndcg_curve([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], groups=[1, 1, 1, 1])
    (array([1, 2, 3, 4]), array([0. , 0. , 0.5, 0.5]))
    """
    measure = NDCG(
        gain=gain,
        discount=discount,
        ties=ties,
        ignore_ties=ignore_ties,
        unjudged=unjudged,
        undefined=undefined,
    )
    rankings = rankings_of(y_true, y_score, groups, sample_weight)
    measure, [queries] = queries_of([rankings], measure)
    cutoffs = rankings.curve_cutoffs(k, queries)
    distinct, column = np.unique(cutoffs, return_inverse=True)
    means, n_undefined = mean_curve(measure.at_cutoffs(queries, distinct), len(distinct))
    measure.undefined_rule.report(n_undefined, len(queries))
    return cutoffs, means[column]
