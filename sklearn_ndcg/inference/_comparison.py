"""Paired comparisons of rankers, from scores, ranked lists or runs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from itertools import combinations
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import EQUAL, Cutoff, Floats, Ints
from sklearn_ndcg._kernels.sums import weighted_means
from sklearn_ndcg._lists.files import FilePath
from sklearn_ndcg._lists.pool import Unanswered, pool_lists, pool_runs
from sklearn_ndcg._lists.reading import Convention, Duplicates
from sklearn_ndcg._metrics.measure import NDCG, NDCGOptions
from sklearn_ndcg._metrics.rankings import JudgedShares, Rankings
from sklearn_ndcg._rows.columns import column_names
from sklearn_ndcg._rows.labels import refuse_reordered
from sklearn_ndcg.inference import _results, _sample, _statistics
from sklearn_ndcg.inference._options import Inference
from sklearn_ndcg.inference._results import Comparison, ConfidenceInterval, query_differences
from sklearn_ndcg.inference._sample import Sample
from sklearn_ndcg.inference._statistics import Test

_COUNTED = {1: "one ranker", 2: "two rankers"}
_UNJUDGED_MEANS = {
    "zero": "The former may be better than it looks, as unjudged documents count as not relevant.",
    "omit": "The former may look better than it is, or worse if its lists are short, as unjudged "
    "documents are removed.",
}
# no warning up to this difference of judged documents, or share of queries that no ranker answers
_MANY = 0.1
_VALUES_AT_A_TIME = 1 << 21  # differences of queries, which take 16 MB


def compare_rankers(
    y_true: ArrayLike,
    y_scores: Mapping[Any, ArrayLike],
    *,
    groups: ArrayLike | None = None,
    k: Cutoff = None,
    sample_weight: ArrayLike | None = None,
    baseline: Any = None,
    test: Test = "permutation",
    confidence_level: float = 0.95,
    margin: float | None = None,
    segments: ArrayLike | None = None,
    n_resamples: int = 9999,
    random_state: Any = None,
    clusters: ArrayLike | None = None,
    **options: Unpack[NDCGOptions],
) -> Comparison:
    """Compare rankers on the same queries: which is better, by how much, and how sure that is.

    The comparison is paired: it takes the difference in NDCG between two rankers for each query.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance, as in `ndcg_score`.

    y_scores : mapping from name to array-like of the shape of `y_true`
        The scores of two rankers or more; or a DataFrame (pandas, Polars, PyArrow) with a column
        for each ranker.

    groups : array-like of shape (n_documents,), default=None
        The query id of each row, as in `ndcg_score`.

    k : int, None or "retrieved", default=None
        Cutoff, as in `ndcg_score`.

    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Weights, as in `ndcg_score`.

    baseline : a name in `y_scores`, default=None
        The ranker that all others are compared with. None compares all pairs.

    test : {"permutation", "t"}, default="permutation"
        "permutation" is Fisher's randomization test: the two values of a query are exchangeable
        under the null hypothesis. All assignments of values to rankers are tried if their number is
        at most `n_resamples`. "t" is Student's paired t test, weighted as in `ndcg_interval`.

    confidence_level : float, default=0.95
        Level of the intervals of the differences, between 0 and 1.

    margin : float, default=None
        The loss of NDCG that does not matter, between 0 and 1. Each pair then has a verdict:
        "better", "not worse", "worse" or "undecided", and "undecided: unjudged" where judging more
        documents could turn it, see `Comparison`. "not worse" is wrong in about
        ``(1 - confidence_level) / 2`` of the cases in which the first ranker is worse by the
        margin.

    segments : array-like of shape (n_documents,) or (n_queries,), or several columns, default=None
        The segment of each row, as in `ndcg_by_segment`: the rankers are also compared within each
        segment, see `Comparison`.

    n_resamples : int, default=9999
        Number of random assignments, if not all are tried; not used by ``test="t"``.

    random_state : int, RandomState, Generator or None, default=None
        Source of the random assignments.

    clusters : array-like of shape (n_documents,) or (n_queries,), default=None
        One cluster id per row, if queries depend on each other, as in `ndcg_interval`. The
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
        Prints as a table. See `Comparison` for its attributes, and for its methods
        `largest_differences` and `to_frame`.

    Raises
    ------
    ValueError
        If an argument is not as described, there are fewer than two rankers, fewer than two
        queries or clusters can be scored, or a query has rows in several clusters.

    TypeError
        If an option is unknown, or `y_scores` is not a mapping.

    Warns
    -----
    UserWarning
        If there are fewer than 10 queries or clusters, or their weights make them worth fewer than
        10, as in `ndcg_interval`; also in a segment. If the shares of judged documents of two
        rankers differ by more than 0.1 (documents with NaN in `y_true` are unjudged; not checked
        if every judged document is relevant). If a ranker answers fewer queries than another, or
        no ranker answers more than a tenth of the judged queries.

    UndefinedMetricWarning
        As in `ndcg_score`.

    See Also
    --------
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
             NDCG
    good   0.8497
    poor   0.7376
    other  0.7211
    <BLANKLINE>
    Interval: each pair alone. p (permutation, Holm): corrected for 3 pairs.
    effect: mean / standard deviation of the differences. W/T/L: wins/ties/losses.
                  difference  0.95 interval            p  effect  W/T/L
    good - poor      +0.1121  [+0.0871, +0.1371]  0.0006   +0.89  85/0/15
    good - other     +0.1286  [+0.1019, +0.1553]  0.0006   +0.96  83/0/17
    poor - other     +0.0165  [-0.0100, +0.0430]  0.2218   +0.12  53/0/47

    The queries that differ most:

    >>> result = compare_rankers(y_true, scores, k=10, baseline="poor", random_state=0)
    >>> result.largest_differences(2)
    query    good    poor  good - poor
    15     0.9370  0.4606      +0.4764
    57     0.9039  0.5346      +0.3693
    36     0.8453  0.9811      -0.1357
    94     0.7214  0.9067      -0.1853
    <BLANKLINE>
    query   other    poor  other - poor
    15     0.7505  0.4606       +0.2900
    61     0.8041  0.5754       +0.2287
    98     0.3429  0.6932       -0.3504
    96     0.4660  0.8657       -0.3996
    """
    measure = NDCG.of("compare_rankers", k, options)
    inference = Inference(
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        random_state=random_state,
        test=test,
        margin=margin,
    )
    scores = scores_by_name(y_scores, "y_scores", least=2)
    refuse_reordered(y_true=y_true, clusters=clusters, segments=segments)
    rankings = Rankings.of_rankers(y_true, scores, groups, sample_weight)
    return _compare(rankings, measure, inference, baseline, clusters, segments)


def compare_lists(
    relevant: Mapping[Any, Any] | Sequence[Any],
    recommended: Mapping[Any, Any],
    *,
    k: Cutoff = None,
    sample_weight: Any = None,
    unanswered: Unanswered = "zero",
    duplicates: Duplicates = "raise",
    baseline: Any = None,
    test: Test = "permutation",
    confidence_level: float = 0.95,
    margin: float | None = None,
    segments: Any = None,
    n_resamples: int = 9999,
    random_state: Any = None,
    clusters: Any = None,
    **options: Unpack[NDCGOptions],
) -> Comparison:
    """Compare rankers by the ranked lists of ids that they return.

    Like `compare_rankers`, for the input of `from_lists`. The documents of a query are those that
    any ranker returned and those that are relevant; a ranker has not retrieved those that are not
    in its list.

    Parameters
    ----------
    relevant : mapping or sequence of n_queries mappings or collections
        The truth of each query, as in `from_lists`: the same for all rankers.

    recommended : mapping from name to mapping or sequence of n_queries sequences
        The lists of two rankers or more: for each ranker the list of each query, best first, as in
        `from_lists`.

    k : int, None or "retrieved", default=None
        Cutoff, as in `ndcg_score`. What lists have after rank `k` is neither read nor checked, as
        in `from_lists`.

    sample_weight : mapping or array-like of shape (n_queries,), default=None
        A weight for each query, in the form of `clusters`.

    unanswered : {"zero", "omit"}, default="zero"
        With "zero" a query has an NDCG of 0 for a ranker without a list for it; with "omit" it is
        left out for all rankers if one has no list for it. (An empty list is a list.)

    duplicates : {"raise", "omit"}, default="raise"
        An id that is twice in a list is an error; or only its first position counts, as in
        `from_lists`.

    baseline : hashable, default=None
        The ranker that all others are compared with. None compares all pairs.

    test : {"permutation", "t"}, default="permutation"
        The test of a difference, see `compare_rankers`.

    confidence_level : float, default=0.95
        Level of the intervals, see `compare_rankers`.

    margin : float, default=None
        The loss that does not matter, see `compare_rankers`.

    segments : mapping or array-like of shape (n_queries,), default=None
        The segment of each query, in the form of `clusters`, see `compare_rankers`.

    n_resamples : int, default=9999
        Number of permutations; not used by ``test="t"``.

    random_state : int, RandomState, Generator or None, default=None
        Source of the permutations.

    clusters : mapping or array-like of shape (n_queries,), default=None
        A cluster id for each query, see `compare_rankers`: a mapping from query if the lists are
        mappings, otherwise in their order. A mapping may lack queries that are left out.

    **options
        Further options of `ndcg_score`: `gain`, `discount`, `ties`, `ignore_ties`, `undefined`,
        and `unjudged`, which is "zero" by default or "omit": recommended documents that are not in
        the truth, or have the grade NaN there, get no gain, even if `gain` gives one to 0; or they
        are removed, and later ones move up.

    Returns
    -------
    Comparison
        As from `compare_rankers`; `labels` are the queries, sorted. Its `left_out` says how many
        queries were left out, and why: "nothing judged" counts queries that have a list but no
        truth, if ``undefined="omit"``; "nothing relevant, or no weight" other queries that are
        undefined, and those of weight 0; "no list" those that ``unanswered="omit"`` left out.

    Raises
    ------
    ValueError, TypeError
        As in `from_lists` and `compare_rankers`, with a note that names the ranker.

    Warns
    -----
    UserWarning, UndefinedMetricWarning
        As in `compare_rankers`.

    See Also
    --------
    compare_runs : Compares judgements and runs of TREC.
    from_lists : The rows of one ranker.

    Examples
    --------
    Two recommenders, for users who liked one to three films:

    >>> from sklearn_ndcg.inference import compare_lists
    >>> films, users = list("ABCDEFGH"), range(30)
    >>> liked = [{films[u % 8], films[(3 * u + 1) % 8], films[(5 * u + 2) % 8]} for u in users]
    >>> popular = [films[:4] for u in users]
    >>> near = [[films[(u + shift) % 8] for shift in (0, 3, 5, 6)] for u in users]
    >>> compare_lists(liked, {"near": near, "popular": popular}, k=4, random_state=0)
    30 queries
             NDCG
    near     0.7040
    popular  0.4585
    <BLANKLINE>
    Interval: each pair alone. p (permutation, Holm): corrected for 1 pair.
    effect: mean / standard deviation of the differences. W/T/L: wins/ties/losses.
                    difference  0.95 interval            p  effect  W/T/L
    near - popular     +0.2456  [+0.0968, +0.3943]  0.0014   +0.62  22/0/8
    """
    measure = _measure_of_lists("compare_lists", k, options)
    inference = Inference(
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        random_state=random_state,
        test=test,
        margin=margin,
    )
    _check_rankers("relevant", relevant, "recommended", recommended, "lists")
    pool = pool_lists(relevant, recommended, unanswered, duplicates, k, measure.unjudged)
    rankings = Rankings.of_pool(pool, "relevant", sample_weight)
    return _compare(rankings, measure, inference, baseline, clusters, segments)


def compare_runs(
    qrels: FilePath | Mapping[str, Mapping[str, float]] | Iterable[Any],
    runs: Mapping[Any, Any],
    *,
    k: Cutoff = None,
    sample_weight: Any = None,
    unanswered: Unanswered = "zero",
    duplicates: Duplicates = "raise",
    convention: Convention = "trec_eval-9",
    baseline: Any = None,
    test: Test = "permutation",
    confidence_level: float = 0.95,
    margin: float | None = None,
    segments: Any = None,
    n_resamples: int = 9999,
    random_state: Any = None,
    clusters: Any = None,
    **options: Unpack[NDCGOptions],
) -> Comparison:
    """Compare the runs of a TREC evaluation.

    Like `compare_rankers`, for the input of `from_trec`. The documents of a query are those that
    were judged and those in any run.

    Parameters
    ----------
    qrels : path, mapping or iterable of records
        Judgements, as in `from_trec`.

    runs : mapping from name to path, mapping or iterable of records
        Two runs or more, each as in `from_trec`.

    k : int, None or "retrieved", default=None
        Cutoff, as in `ndcg_score`.

    sample_weight : mapping or array-like of shape (n_queries,), default=None
        A weight for each query, in the form of `clusters`.

    unanswered : {"zero", "omit"}, default="zero"
        A query with judgements has an NDCG of 0 for the runs that lack it (trec_eval's ``-c``, and
        ir_measures); or it is left out for all runs if one lacks it.

    duplicates : {"raise", "omit"}, default="raise"
        A document that is twice in a query of a run is an error; or only its best score counts, as
        in `from_trec`.

    convention : {"trec_eval-9", "trec_eval-10"}, default="trec_eval-9"
        How documents are ordered: by their scores in float32 or in float64, as in `from_trec`.

    baseline : hashable, default=None
        The ranker that all others are compared with. None compares all pairs.

    test : {"permutation", "t"}, default="permutation"
        The test of a difference, see `compare_rankers`.

    confidence_level : float, default=0.95
        Level of the intervals, see `compare_rankers`.

    margin : float, default=None
        The loss that does not matter, see `compare_rankers`.

    segments : mapping from query to a segment id, default=None
        The segment of each query, in the form of `clusters`, see `compare_rankers`.

    n_resamples : int, default=9999
        Number of permutations; not used by ``test="t"``.

    random_state : int, RandomState, Generator or None, default=None
        Source of the permutations.

    clusters : mapping from query to a cluster id, default=None
        See `compare_rankers`: the topic of several variants of a query, for example.

    **options
        As in `compare_lists`; ``unjudged="omit"`` is trec_eval's ``-J``.

    Returns
    -------
    Comparison
        As from `compare_rankers`; `labels` are the queries, sorted. Its `left_out` counts queries
        by reason, as from `compare_lists`; "nothing judged" counts those that are in a run and not
        in `qrels`, which are always left out, as in trec_eval. Queries without a relevant document
        are 0, as in trec_eval; ``undefined="omit"`` leaves them out.

    Raises
    ------
    ValueError, TypeError
        As in `from_trec` and `compare_rankers`, with a note that names the run.

    Warns
    -----
    UserWarning, UndefinedMetricWarning
        As in `compare_rankers`.

    See Also
    --------
    compare_lists : Compares ranked lists of ids.
    from_trec : The rows of one run.

    Examples
    --------
    >>> from sklearn_ndcg.inference import compare_runs
    >>> qrels = {f"q{i:02}": {"a": i % 3, "b": 2, "c": 1} for i in range(20)}
    >>> bm25 = {query: {"a": 3.1, "c": 2.5, "b": 0.5} for query in qrels}
    >>> dense = {query: {"b": 0.9, "c": 0.8, "a": 0.7} for query in qrels}
    >>> result = compare_runs(qrels, {"bm25": bm25, "dense": dense}, k=3, test="t")
    >>> result.largest_differences(1)
    query    bm25   dense  bm25 - dense
    q18    0.6199  1.0000       -0.3801
    """
    measure = _measure_of_lists("compare_runs", k, options)
    inference = Inference(
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        random_state=random_state,
        test=test,
        margin=margin,
    )
    _check_rankers("qrels", qrels, "runs", runs, "run")
    pool = pool_runs(qrels, runs, unanswered, duplicates, convention, k, measure.unjudged)
    rankings = Rankings.of_pool(pool, "qrels", sample_weight)
    return _compare(rankings, measure, inference, baseline, clusters, segments)


def _measure_of_lists(caller: str, k: Cutoff, options: NDCGOptions) -> NDCG:
    """The NDCG of lists, in which unjudged documents count as not relevant unless it is said."""
    unjudged = options.setdefault("unjudged", "zero")
    _checks.check_choice("unjudged", unjudged, ("zero", "omit"))
    return NDCG.of(caller, k, options)


def _compare(
    rankings: Rankings,
    measure: NDCG,
    inference: Inference,
    baseline: Any,
    clusters: Any,
    segments: Any,
) -> Comparison:
    """Compare the rankers on all queries, and on those of each segment."""
    names = list(rankings.scores)
    pairs = list(combinations(range(len(names)), 2))
    if baseline is not None:
        if not isinstance(baseline, Hashable) or baseline not in names:
            raise ValueError(f"baseline must be one of the rankers {names}, got {baseline!r}.")
        second = names.index(baseline)
        pairs = [(first, second) for first in range(len(names)) if first != second]
    with_verdicts = inference.margin is not None
    sample, samples = Sample.of(rankings, measure, clusters, segments, with_verdicts)
    generator, *generators = inference.generators(len(samples))
    result = _compared(sample, names, pairs, generator, inference)
    if sample.judged is not None:
        _warn_of_unjudged(result, measure.unjudged)
        _warn_of_unanswered(result, sample.judged)
    if samples:
        _sample.warn_of_weak_segments(samples)
    for (name, members), generator in zip(samples.items(), generators, strict=True):
        if len(members.unit_weights) > 1:
            result.by_segment[name] = _compared(members, names, pairs, generator, inference)
    return result


def _compared(
    sample: Sample,
    names: list[Any],
    pairs: list[tuple[int, int]],
    generator: np.random.Generator,
    inference: Inference,
) -> Comparison:
    """Compare rankers on the queries of a sample; pairs are of their numbers."""
    n_blocks = -(-len(pairs) * len(sample.weight) // _VALUES_AT_A_TIME)
    blocks = np.array_split(np.array(pairs).T, n_blocks, axis=1)
    generators = [*map(deepcopy, [generator] * (n_blocks - 1)), generator]  # draw the same
    own, unit_weights = sample.cluster_means(sample.values)
    degrees = _statistics.degrees_of_freedom(unit_weights)
    width = stdtrit(degrees, (1 + inference.confidence_level) / 2)  # in standard errors
    of_pairs = partial(_of_pairs, sample, degrees, width, inference)
    results = list(map(of_pairs, blocks, generators))
    joined = map(np.hstack, zip(*map(dict.values, results), strict=True))
    columns: dict[str, Any] = dict(zip(results[0], joined, strict=True))
    if "verdict" in columns:
        columns["verdict"] = columns["verdict"].tolist()
    judged, answered = sample.shares()
    means = weighted_means(sample.values, sample.weight)
    half = _statistics.mean_and_error(own, unit_weights)[1] * width
    bounds = _statistics.within_range(np.array([means - half, means + half]), sample.values)
    by_name = partial(zip, names, strict=True)
    return Comparison(
        ndcg=dict(by_name(means.tolist())),
        ndcg_interval=ConfidenceInterval(*bounds),
        pairs=[(names[first], names[second]) for first, second in pairs],
        confidence_level=float(inference.confidence_level),
        confidence_interval=ConfidenceInterval(*columns.pop("confidence_interval")),
        pvalue=_statistics.holm(columns["uncorrected_pvalue"]),
        **columns,
        df=degrees,
        margin=inference.margin,
        judged=dict(by_name(judged)),
        has_judged_nonrelevant=sample.judged is None or sample.judged.has_judged_nonrelevant,
        answered=dict(by_name(answered)),
        by_segment={},
        values=dict(by_name(sample.values)),
        labels=sample.labels,
        n_queries=len(sample.weight),
        n_clusters=len(unit_weights),
        n_left_out=sample.n_left_out,
        left_out=sample.left_out or {},
        test=inference.test,
    )


def _of_pairs(
    sample: Sample,
    degrees: float,
    width: float,
    inference: Inference,
    pairs: Ints,
    generator: np.random.Generator,
) -> dict[str, Any]:
    """Attributes of a comparison for some pairs, given by the numbers of two rankers."""
    differences = query_differences(*sample.values[pairs])
    difference, error, effect, independent, weight = _means(sample, differences)
    half, margin = error * width, inference.margin
    if inference.test == "t":
        statistic = _t_statistic(difference, error)
        pvalue = 2 * stdtr(degrees, -np.abs(statistic))
    else:
        statistic, n = difference, inference.n_resamples
        pvalue = _statistics.permutation_pvalues(independent, weight, n, generator)
    columns = {
        "difference": difference,
        "standard_error": error,
        "effect_size": effect,
        "confidence_interval": np.array([difference - half, difference + half]),
        "statistic": statistic,
        "uncorrected_pvalue": pvalue,
        "wins": (differences > 0).sum(axis=1),
        "ties": (differences == 0).sum(axis=1),
        "losses": (differences < 0).sum(axis=1),
    }
    if margin is not None:
        columns["noninferiority_pvalue"] = stdtr(degrees, -_t_statistic(difference + margin, error))
        verdict = _verdicts(difference, half, margin)
        is_turned = np.zeros(len(verdict), dtype=bool)
        if sample.if_judged is not None:  # judging more may favour the first, or the second
            (irrelevant, best, shrinkage), (first, second) = sample.if_judged, pairs
            for ours, theirs in (
                (best[first], irrelevant[second] * shrinkage[first]),
                (irrelevant[first] * shrinkage[second], best[second]),
            ):
                mean, error, *_ = _means(sample, query_differences(ours, theirs))
                is_turned |= _verdicts(mean, error * width, margin) != verdict
        columns["verdict"] = np.where(is_turned, _results.UNJUDGED, verdict)
    return columns


def _verdicts(difference: Floats, half: Floats, margin: float) -> Any:
    """The verdict on each pair, from its difference and half the width of its interval."""
    low, high = difference - half, difference + half
    is_so = [low > 0, low > -margin, high < 0]
    return np.select(is_so, ["better", "not worse", "worse"], "undecided")


def _means(sample: Sample, differences: Floats) -> tuple[Floats, ...]:
    """Mean of each row, its error, its effect, and what it is a mean of: queries or clusters."""
    difference, error, effect = _statistics.mean_and_error(differences, sample.weight)
    independent, weight = sample.cluster_means(differences)
    if sample.clusters is not None:
        independent[np.abs(independent) < EQUAL] = 0
        difference, error, _ = _statistics.mean_and_error(independent, weight)
    return difference, error, effect, independent, weight


def _t_statistic(difference: Floats, error: Floats) -> Floats:
    """Student's t: 0 for a difference of 0, infinite for any other that does not vary."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(difference == 0, 0, difference / error))


def _warn_of_unjudged(result: Comparison, unjudged: str) -> None:
    """Warn if one ranker returned many more unjudged documents than another."""
    fewest, most = (pick(result.judged, key=result.judged.__getitem__) for pick in (min, max))
    least, largest = result.judged[fewest], result.judged[most]
    if least == 0 < largest and result.answered[fewest]:
        _checks.warn(
            f"The truth has none of the first documents that {fewest!r} returned, but "
            f"{largest:.0%} of those of {most!r}. Does {fewest!r} write ids as the truth does?"
        )
    elif least > 0 and result.has_judged_nonrelevant and largest - least > _MANY:
        _checks.warn(
            f"Of the first documents that {fewest!r} returned, {least:.0%} are judged, compared "
            f"with {largest:.0%} for {most!r}. {_UNJUDGED_MEANS[unjudged]} Consider judging more."
        )


def _warn_of_unanswered(result: Comparison, judged: JudgedShares) -> None:
    """Warn if a ranker answers fewer queries than another, or if none answers many."""
    is_answered = ~np.isnan(judged.share[:, judged.has_judgements])
    n_answered, n_judged = is_answered.sum(axis=1), is_answered.shape[1]
    least, most = n_answered.min(), n_answered.max()
    n_missing = n_judged - np.count_nonzero(is_answered.any(axis=0))
    if least < most or n_missing > _MANY * n_judged:
        fewest = list(result.answered)[n_answered.argmin()]
        others = (
            f"another ranker has {most}" if least < most else f"no ranker has one for {n_missing}"
        )
        _checks.warn(
            f"{fewest!r} has lists for {least} of the {n_judged} judged queries; {others}: a query "
            "without a list counts as 0. If it was not asked all of them, pass unanswered='omit'; "
            "if it was, check that its query ids are those of the truth."
        )


def scores_by_name(y_scores: Any, argument: str, least: int) -> dict[Any, ArrayLike]:
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
    if len(columns) < least or len(set(columns)) < len(columns):
        raise ValueError(
            f"{argument} must have at least {_COUNTED[least]} with different names, got {columns}."
        )
    return dict(zip(columns, map(y_scores.__getitem__, columns), strict=True))


def _check_rankers(truth: str, truths: Any, argument: str, rankers: Any, what: str) -> None:
    """Raise for fewer than two rankers, and for rankers that were passed as `truths`."""
    first = next(iter(truths.values()), None) if isinstance(truths, Mapping) else None
    grades = first.values() if isinstance(first, Mapping) else ()
    if any(np.iterable(grade) and not isinstance(grade, str) for grade in grades):
        raise TypeError(f"{truth} and {argument} look swapped: {truth} comes first.")
    one = "from_trec(qrels, run)" if truth == "qrels" else "from_lists(relevant, recommended)"
    way = f"For one ranker call ndcg_interval(**{one})."
    if not isinstance(rankers, Mapping):
        raise TypeError(
            f"{argument} must be a mapping from the name of a ranker to its {what}, got "
            f"{type(rankers).__name__}. It comes after {truth}. {way}"
        )
    if len(rankers) < 2:
        raise ValueError(f"{argument} must have at least two rankers, got {list(rankers)}. {way}")
