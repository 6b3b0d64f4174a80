"""The best candidates of a search, compared query by query."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv, cross_validate
from sklearn.utils.metadata_routing import get_routing_for_object

from sklearn_ndcg._checks import Floats, Ints, is_integer, refuse_reordered, warn
from sklearn_ndcg._inference.comparison import compare_rankers
from sklearn_ndcg._inference.results import Comparison
from sklearn_ndcg._inference.statistics import Test
from sklearn_ndcg._metrics import NDCGChoicesAtK
from sklearn_ndcg._rows import Grouping, count_rows, query_ids, take_rows
from sklearn_ndcg._selection import GroupedScorer, scorer_at

_NOT_SET = object()  # stands for a parameter that a candidate does not have
_NOTE = (
    "{best} was chosen as the best on these data, so part of its lead is luck. To see how good it "
    "is, use queries that the search has not seen, or nested cross-validation."
)


def compare_candidates(
    search: Any,
    X: Any,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    n_candidates: int = 5,
    baseline: Any = None,
    test: Test = "permutation",
    confidence_level: float = 0.95,
    margin: float | None = None,
    segments: ArrayLike | None = None,
    n_resamples: int = 9999,
    random_state: Any = None,
    clusters: ArrayLike | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    **fit_params: Any,
) -> Comparison:
    """Compare the best candidates of a fitted search, query by query.

    A search ranks its candidates by a mean over folds, and the standard deviation over folds does
    not say whether the first is better than the second. This function fits the best candidates
    again on the splits of the search, scores each query of the test parts as the search's scorer
    does, and compares the other candidates with the best, as `compare_rankers` does.

    Parameters
    ----------
    search : GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV or similar
        A fitted search whose scorer is from `make_ndcg_scorer`; also `OptunaSearchCV`, and any
        other search with `estimator`, `cv`, `scorer_` and `cv_results_`.

    X, y : array-like
        The data that the search was fitted to.

    groups : array-like of shape (n_documents,), default=None
        The query id of each row, as it was passed to ``search.fit``.

    n_candidates : int, default=5
        How many candidates to compare, the best first; at least two.

    baseline : str, default=None
        The name of the candidate that the others are compared with. None takes the best.

    test : {"permutation", "t"}, default="permutation"
        The test of a difference, see `compare_rankers`.

    confidence_level : float, default=0.95
        Level of the intervals, see `compare_rankers`.

    margin : float, default=None
        The loss of NDCG that you accept, see `compare_rankers`. With it, a cheaper candidate may
        turn out not to be worse than the best.

    segments : array-like of shape (n_documents,), default=None
        The segment of each row, see `compare_rankers`.

    n_resamples : int, default=9999
        Number of permutations; not used by ``test="t"``.

    random_state : int, RandomState, Generator or None, default=None
        Source of the permutations.

    clusters : array-like of shape (n_documents,), default=None
        The cluster of each row, if queries depend on each other, see `compare_rankers`. Without it,
        a query that is in several test parts, as in repeated cross-validation, is a cluster. It
        counts once per test part, also in `n_queries_needed`, with labels (id, number of the
        split).

    n_jobs : int, default=None
        How many fits run at a time, as in `cross_validate`.

    verbose : int, default=0
        Shows the progress of the fits, as in `cross_validate`.

    **fit_params
        What else was passed to ``search.fit``. The options of NDCG are taken from the scorer, and
        weights are used if it requests them.

    Returns
    -------
    Comparison
        Its rankers are named by the parameters that differ, as in ``"alpha=0.1"``.

    Raises
    ------
    ValueError
        If the search is not fitted, has fewer than two candidates, or does not say which queries
        the rows belong to; or as in `compare_rankers`.

    TypeError
        If the scorer of the search is not from `make_ndcg_scorer`.

    Warns
    -----
    UserWarning
        If `cv` draws different splits each time, so that these are not the splits of the search; or
        as in `compare_rankers`.

    See Also
    --------
    compare_rankers : Compares scores of any origin.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn_ndcg import QuerySplitter, compare_candidates, make_ndcg_scorer
    >>> rng = np.random.default_rng(0)
    >>> query = pd.Index(np.repeat(np.arange(60), 8), name="query")
    >>> X = pd.DataFrame(rng.normal(size=(480, 3)), index=query, columns=["a", "b", "c"])
    >>> y = np.clip(np.round(X["a"] + rng.normal(size=480)), 0, 3)
    >>> search = GridSearchCV(
    ...     Ridge(),
    ...     {"alpha": [1, 1000, 1000000], "positive": [False]},
    ...     scoring=make_ndcg_scorer(k=5, group_by="query", undefined="omit"),
    ...     cv=QuerySplitter(5, group_by="query"),
    ... ).fit(X, y)
    >>> found = compare_candidates(search, X, y, margin=0.01, random_state=0)
    >>> found.to_frame()[["difference", "pvalue", "verdict"]].round(3)
                           difference  pvalue    verdict
    first         second
    alpha=1000000 alpha=1      -0.003     1.0  undecided
    alpha=1000    alpha=1      -0.005     1.0  undecided
    """
    scorer = _scorer_of(search)
    candidates = _best_candidates(search, n_candidates)
    refuse_reordered(X=X, y=y, clusters=clusters, segments=segments)
    ids, weight = _ids_and_weight(search, scorer, X, fit_params, groups)
    splits = _splits(search, X, y, groups)
    out_of_fold = partial(
        _scores_out_of_fold, search.estimator, scorer, X, y, ids, splits, params=fit_params,
        n_jobs=n_jobs, verbose=verbose,
    )  # fmt: skip
    scores = {name: out_of_fold(candidate) for name, candidate in candidates.items()}
    best = next(iter(candidates))
    choices: Any = {name: getattr(scorer, name) for name in NDCGChoicesAtK.__annotations__}
    rows, data = _tested_rows(splits, count_rows(X), ids, clusters, segments, weight)
    result = compare_rankers(
        take_rows(y, rows), scores, baseline=best if baseline is None else baseline, test=test,
        confidence_level=confidence_level, margin=margin, n_resamples=n_resamples,
        random_state=random_state, **data, **choices,
    )  # fmt: skip
    return replace(result, note=_NOTE.format(best=best))


def _scores_out_of_fold(
    estimator: Any, scorer: GroupedScorer, X: Any, y: Any, ids: Any, splits: Any,
    candidate: dict[str, Any], **fits: Any,
) -> Floats:  # fmt: skip
    """Scores of the rows of all test parts, by a candidate fitted to the training parts."""
    quiet = clone(scorer)  # compare_rankers warns, once for all folds
    if scorer.undefined in ("warn", "omit"):
        quiet.set_params(undefined=0.0)
    fitted = cross_validate(
        clone(estimator).set_params(**clone(candidate, safe=False)), X, y, scoring=quiet,
        cv=splits, return_estimator=True, error_score="raise", **fits,
    )["estimator"]  # fmt: skip
    groups = Grouping.of_ids(ids, count_rows(X)).row_codes()
    folds = zip(fitted, (test for _, test in splits), strict=True)
    return np.concatenate([
        scorer.scores_and_groups(each, take_rows(X, test), take_rows(y, test), groups[test])[0]
        for each, test in folds
    ])  # fmt: skip


def _tested_rows(
    splits: list[tuple[Ints, Ints]], n_rows: int, ids: Any, clusters: Any, segments: Any,
    weight: Any,
) -> tuple[Ints, dict[str, Any]]:  # fmt: skip
    """The rows of all test parts, with their queries, clusters, segments and weights."""
    rows = np.concatenate([test for _, test in splits])
    fold = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    data = {"groups": ids, "clusters": clusters, "segments": segments}
    for name, of_row in data.items():
        if of_row is not None:
            grouping = Grouping.of_ids(of_row, n_rows, name=name)
            data[name] = grouping.labels[grouping.row_codes()[rows]]
    data["sample_weight"] = None if weight is None else take_rows(np.asarray(weight), rows)
    query = Grouping.of_ids(data["groups"], len(rows))
    if len(query.labels) == 1:  # with one_ranking each fold is a query
        return rows, data | {"groups": fold}
    each = Grouping.of_ids([data["groups"], fold], len(rows))
    if len(each.labels) > len(query.labels):  # queries that are tested several times
        if clusters is None:
            data["clusters"] = data["groups"]
        data["groups"] = [data["groups"], fold]
    return rows, data


def _scorer_of(search: Any) -> GroupedScorer:
    """The scorer, with a single cutoff, by which the search chose its best candidate."""
    if not hasattr(search, "scorer_"):
        raise ValueError(f"search must be a fitted search; {type(search).__name__} is not fitted.")
    scorer, name = search.scorer_, getattr(search, "refit", None)
    if isinstance(scorer, Mapping):
        scorer = scorer.get(name)
    if not isinstance(scorer, GroupedScorer) or scorer.metric != "ndcg":
        raise TypeError(
            "search must choose its best candidate by a scorer from make_ndcg_scorer: pass it "
            "scoring=make_ndcg_scorer(k=...) and, with several scorers, refit= the name of that "
            f"one; got {scorer!r}."
        )
    return scorer_at(scorer, name)


def _ids_and_weight(
    search: Any, scorer: GroupedScorer, X: Any, fit_params: dict[str, Any], groups: Any
) -> tuple[Any, Any]:
    """The ids and weights for the scorer; adds `groups` to `fit_params` if fits need them."""
    routed: dict[str, Any] = {}
    if get_config()["enable_metadata_routing"]:
        requests = scorer.get_metadata_routing().score.requests
        inner = get_routing_for_object(search.estimator).consumes(method="fit", params=["groups"])
        if groups is not None and (inner or requests.get("groups") is True):
            fit_params["groups"] = groups
        for name, asked in requests.items():
            routed[name] = fit_params.get(name if asked is True else asked)
    ids = query_ids(X, scorer.group_by, routed.get("groups", groups))
    if ids is None:
        raise ValueError("groups is missing: pass the ids that were passed to search.fit.")
    return ids, routed.get("sample_weight")


def _best_candidates(search: Any, n_candidates: int) -> dict[str, dict[str, Any]]:
    """Parameters of the best candidates, best first, by a name that says how they differ."""
    if not is_integer(n_candidates) or n_candidates < 2:
        raise ValueError(f"n_candidates must be an integer >= 2, got {n_candidates!r}.")
    found: dict[str, dict[str, Any]] = {}
    for params in _ranked_params(search):
        if len(found) < n_candidates:
            found.setdefault(repr(params), params)
    if len(found) < 2:
        raise ValueError(f"search must have at least two candidates, found {len(found)}.")
    candidates = list(found.values())
    differing = [
        name
        for name in dict.fromkeys(chain(*candidates))
        if len({repr(each.get(name, _NOT_SET)) for each in candidates}) > 1
    ]
    names = [
        ", ".join(f"{name}={_shown(each[name])}" for name in differing if name in each)
        for each in candidates
    ]
    for place, name in enumerate(names):
        if names.count(name) > 1:  # values that print alike
            names[place] = f"{name} ({place + 1})"
    return dict(zip(names, candidates, strict=True))


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _ranked_params(search: Any) -> list[dict[str, Any]]:
    """Parameters of all candidates, best first."""
    if hasattr(search, "study_"):  # Optuna
        trials = [trial for trial in search.trials_ if trial.value is not None]
        return [trial.params for trial in sorted(trials, key=lambda trial: -trial.value)]
    results, refit = search.cv_results_, getattr(search, "refit", None)
    key = refit if f"rank_test_{refit}" in results else "score"
    rank, scored = results[f"rank_test_{key}"], np.isfinite(results[f"mean_test_{key}"])
    # in a halving search the candidates of the last iteration had the most resources
    order = np.lexsort([rank, -np.asarray(results.get("iter", np.zeros(len(rank))))])
    best = search.best_params_
    same = {name: best[name] for name in {getattr(search, "resource", None)} & best.keys()}
    return [best, *({**results["params"][place], **same} for place in order if scored[place])]


def _splits(search: Any, X: Any, y: Any, groups: Any) -> list[tuple[Ints, Ints]]:
    """The splits of the search, as row numbers."""
    if isinstance(search.cv, Iterator):
        raise ValueError("cv of the search is an iterator, which fit has used up: pass list(cv).")
    splitter = check_cv(search.cv, y, classifier=is_classifier(search.estimator))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        splits, again = (list(splitter.split(X, y, groups)) for _ in range(2))
    if not all(map(np.array_equal, chain(*splits), chain(*again))):
        warn(
            "cv draws different splits each time, so these are not the splits of the search: give "
            "the splitter a random_state."
        )
    rows = np.arange(count_rows(X))
    return [(rows[train], rows[test]) for train, test in splits]
