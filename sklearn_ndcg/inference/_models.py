"""Comparisons of models that are cross-validated on the same folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.model_selection import cross_validate
from sklearn.utils.metadata_routing import get_routing_for_object

from sklearn_ndcg._checks import (
    Floats,
    Ints,
    names_groups,
    naming_ranker,
    to_host,
)
from sklearn_ndcg._metrics.rankings import Rankings, rankings_of_several
from sklearn_ndcg._rows.columns import count_rows, take_rows, values_by
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.ids import columns_of_ids
from sklearn_ndcg._rows.label_texts import shown_labels
from sklearn_ndcg._rows.labels import refuse_reordered
from sklearn_ndcg._selection.scorers import GroupedScorer
from sklearn_ndcg._selection.splitters import CV, QuerySplitter, row_numbers
from sklearn_ndcg.inference._comparison import warn_of_shares
from sklearn_ndcg.inference._options import Inference
from sklearn_ndcg.inference._pairs import Design
from sklearn_ndcg.inference._results import Comparison
from sklearn_ndcg.inference._sample import Sample
from sklearn_ndcg.inference._statistics import Test

Metadata: TypeAlias = Mapping[str, Any]  # by the names that scikit-learn's routing knows
Fitted: TypeAlias = dict[Any, list[Any]]  # by the name of the model, an estimator for each fold


@names_groups
def compare_models(
    models: Mapping[Any, Any],
    X: Any,
    y: ArrayLike,
    *,
    scoring: GroupedScorer,
    cv: CV = None,
    groups: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    baseline: Any = None,
    margin: float | None = None,
    test: Test = "permutation",
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
    clusters: Any = None,
) -> Comparison:
    """Cross-validate models on the same folds, and compare them query by query.

    Every model is fitted and scored by scikit-learn's `cross_validate`, on folds that are drawn
    once. Their scores of the test rows are then compared as in `compare_rankers`: the comparison is
    paired, as each query is tested for all models.

    Parameters
    ----------
    models : mapping from name to estimator
        Two estimators or more, which are cloned for each fold.

    X : array-like of shape (n_documents, n_features)
        The rows.

    y : array-like of shape (n_documents,)
        Relevance.

    scoring : GroupedScorer
        A scorer of `make_ndcg_scorer`, `make_dcg_scorer` or `make_query_scorer`. It says where the
        query ids are, what is measured and how undefined queries count.

    cv : int, splitter or iterable of splits, default=None
        How to split, as in `cross_validate`. None is five folds of whole queries. Any splitter that
        tests a query at most once will do: queries that are not tested, such as the first days of a
        split in time, are not compared.

    groups : array-like of shape (n_documents,), default=None
        The query id of each row. The splitter gets them; with metadata routing on, so does whatever
        requests them, such as the scorer.

    params : mapping from name, default=None
        What else is passed to `fit`; with metadata routing on, to whatever requests it:
        ``{"sample_weight": weight}``.

    n_jobs : int, default=None
        Number of processes that fit the folds of a model, as in `cross_validate`.

    verbose : int, default=0
        How much `cross_validate` prints.

    baseline : a name in `models`, default=None
        The model that all others are compared with. None compares all pairs.

    margin : float, default=None
        The loss that you accept, as in `compare_rankers`: each model then has a verdict against the
        `baseline`, which is needed.

    test : {"permutation", "t"}, default="permutation"
        As in `compare_rankers`.

    confidence_level : float, default=0.95
        Level of the intervals of the differences, between 0 and 1.

    n_resamples : int, default=9999
        Number of random assignments, if not all are tried; not used by ``test="t"``.

    random_state : int, RandomState, Generator or None, default=None
        Source of the random assignments. Splitters and models have their own.

    clusters : array-like of shape (n_documents,), default=None
        The cluster id of each row, if queries depend on each other. See `compare_rankers`.

    Returns
    -------
    Comparison
        Prints as a table. See `Comparison` for its attributes.

    Raises
    ------
    TypeError
        If `models` or `params` is not a mapping, or `scoring` is another scorer.

    ValueError
        As in `compare_rankers`, or if a query has rows in several test sets, as in repeated
        splits. An error of a model is not caught.

    Warns
    -----
    QueryLeakWarning
        If a split cuts queries, as in all tools of scikit-learn.

    UserWarning
        As in `compare_rankers`.

    UndefinedMetricWarning
        If queries are undefined, once for all folds. Searches inside of models have warnings of
        their own.

    See Also
    --------
    compare_rankers : Compares scores that you have already.
    sklearn.model_selection.cross_val_predict : Returns the scores, if every row is tested once.

    Notes
    -----
    Intervals and tests cover the choice of the queries, not that of the training sets: other
    training sets may give other differences.

    The mean of a model is over queries, weighted as the scorer weights them. `cross_val_score` has
    one mean for each fold, and their mean differs if folds have different numbers of queries.

    Each model predicts once more for each fold than in `cross_validate`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from sklearn_ndcg import make_ndcg_scorer
    >>> from sklearn_ndcg.inference import compare_models
    >>> rng = np.random.default_rng(0)
    >>> query = pd.Index(np.repeat(np.arange(100), 10), name="query")
    >>> X = pd.DataFrame(rng.normal(size=(1000, 2)), query, ["match", "price"])
    >>> y = rng.poisson(np.exp(X["match"] - X["price"])).clip(max=4)
    >>> models = {"ridge": Ridge(), "tree": DecisionTreeRegressor(max_depth=3, random_state=0)}
    >>> scoring = make_ndcg_scorer(k=5, group_by="query", undefined=0)
    >>> compare_models(models, X, y, scoring=scoring, random_state=0)
    100 queries
           NDCG@5
    ridge  0.9224
    tree   0.8661
    <BLANKLINE>
    first  second  difference              95% CI       p  effect    W/T/L
    ridge  tree       +0.0563  [+0.0395, +0.0732]  0.0002   +0.66  74/6/20
    <BLANKLINE>
    95% CI: confidence interval, for each pair alone.
    p (permutation, Holm): corrected for 1 pair.
    effect: mean / standard deviation of the differences. W/T/L: wins/ties/losses.
    """
    _check_arguments(models, scoring, params)
    design = Design(
        limits=scoring.measure.limits,
        rankers=list(models),
        baseline=baseline,
        margin=margin,
        inference=Inference(confidence_level, n_resamples, random_state, test=test),
    )
    refuse_reordered(X=X, y=y, groups=groups, clusters=clusters)
    metadata, routed = dict(params or {}), {}
    if get_config()["enable_metadata_routing"]:
        routed = metadata = metadata if groups is None else metadata | {"groups": groups}
        groups = None
    data = _Data(X, y, count_rows(X), routed)
    if clusters is not None:  # wrong ids raise before the models are fitted
        Grouping.of_ids(clusters, data.n_rows, name="clusters")
    ids = values_by(X, scoring.group_by, data.requested(scoring, "groups"), y)
    if cv is None:
        cv = QuerySplitter(5, group_by=scoring.group_by) if ids is not None else 5
    options = {"groups": groups, "n_jobs": n_jobs, "verbose": verbose}
    queries = Grouping.of_ids(np.arange(data.n_rows) if ids is None else ids, data.n_rows)
    fitted, tests = _cross_validated(models, X, y, scoring, cv, metadata, queries, **options)
    rankers, rows = data.rankings(scoring, fitted, tests, ids)
    sample = Sample.of([*rankers.values()], scoring.measure, data.take(clusters, rows))
    if ids is None:
        sample = replace(sample, labels=rows[sample.labels])
    result = design.compare(sample)
    warn_of_shares(rankers, sample.measure)
    return result


@dataclass(frozen=True, eq=False)
class _Data:
    """All rows, and the metadata that are routed: none with routing off."""

    X: Any
    y: ArrayLike
    n_rows: int
    routed: Metadata

    def requested(self, scorer: GroupedScorer, name: str) -> Any:
        """What a scorer requests under this name."""
        alias: Any = get_routing_for_object(scorer).score.requests.get(name)
        return self.routed.get(name if alias is True else alias)

    def take(self, ids: Any, rows: Ints) -> Any:
        """The ids of some rows; they may have several columns, or be None."""
        if ids is None:
            return None
        columns = columns_of_ids(ids, self.n_rows)
        if columns is None:
            return take_rows(ids, rows)
        return [take_rows(column, rows) for column in columns]

    def rankings(
        self, scorer: GroupedScorer, fitted: Fitted, tests: Sequence[Ints], ids: Any
    ) -> tuple[dict[Any, Rankings], Ints]:
        """The rows of all test sets, scored by each model, and their numbers."""
        rows = np.concatenate(tests)
        # without ids every row is a query, and queries are in the order of their ids
        order = np.argsort(rows) if ids is None else np.arange(len(rows))
        scores = {name: self.scores(scorer, each, tests)[order] for name, each in fitted.items()}
        rows = rows[order]
        weight = self.requested(scorer, "sample_weight")
        weight = None if weight is None else take_rows(weight, rows)
        y, ids = take_rows(self.y, rows), self.take(ids, rows)
        return rankings_of_several(y, scores, ids, weight), rows

    def scores(
        self, scorer: GroupedScorer, estimators: Sequence[Any], tests: Sequence[Ints]
    ) -> Floats:
        """The scores of all test sets, one after another."""
        groups, scores = self.requested(scorer, "groups"), []
        for estimator, rows in zip(estimators, tests, strict=True):
            X_test, y_test = take_rows(self.X, rows), take_rows(self.y, rows)
            ids = self.take(groups, rows)
            response, _ = scorer.scores_and_groups(estimator, X_test, y_test, ids)
            scores.append(np.asarray(to_host(response)))
        return np.concatenate(scores)


def _check_arguments(models: Any, scoring: Any, params: Any) -> None:
    """Raise unless these are two models or more, by name, a scorer, and metadata by name."""
    if not isinstance(models, Mapping):
        raise TypeError(
            "models must be a mapping from the name of a model to an estimator, got "
            f"{type(models).__name__}."
        )
    names = list(models)
    if len(names) < 2 or len(set(map(str, names))) < len(names):
        raise ValueError(f"models must have at least two with different names, got {names}.")
    if not isinstance(scoring, GroupedScorer):
        raise TypeError(
            f"scoring must be what make_ndcg_scorer or make_query_scorer returns, got {scoring!r}."
        )
    if not isinstance(params, Mapping | None):
        raise TypeError(f"params must be a mapping from name or None, got {params!r}.")


def _cross_validated(
    models: Mapping[Any, Any],
    X: Any,
    y: ArrayLike,
    scorer: GroupedScorer,
    cv: CV,
    params: Metadata,
    queries: Grouping,
    **options: Any,
) -> tuple[Fitted, list[Ints]]:
    """The estimators that each model became in each fold, and the rows of the test sets.

    The scores are not used: the scorer warns of incomplete queries.
    """
    if getattr(scorer.measure, "undefined", "raise") != "raise":
        # the comparison says once, of all folds, what is undefined
        silent: Any = replace(scorer.measure, undefined=0)  # type: ignore[type-var]
        scorer = copy(scorer).set_params(measure=silent)
    requested = {name: _requested(model, "fit", params) for name, model in models.items()}
    by_splitter = _requested(cv, "split", params)
    by_any = by_splitter.union(*requested.values())
    by_scorer = _requested(scorer, "score", params)
    fitted: Fitted = {}
    tests: list[Ints] = []
    splits: Any = cv  # of the first model; drawn once
    for name, model in models.items():
        own = requested[name] | by_scorer | (set() if tests else by_splitter)
        with naming_ranker(name, models):
            found = cross_validate(
                model,
                X,
                y,
                scoring=scorer,
                cv=splits,
                # what nothing requests is passed, as the error is scikit-learn's
                params={key: params[key] for key in params if key in own or key not in by_any},
                return_estimator=True,
                return_indices=True,
                error_score="raise",  # pyright: ignore[reportArgumentType]  (its default is nan)
                **options,
            )
        if not tests:
            indices = found["indices"]
            tests = list(map(row_numbers, indices["test"]))
            _refuse_repeats(tests, queries)
            splits = list(zip(indices["train"], indices["test"], strict=True))
        fitted[name] = found["estimator"]
    return fitted, tests


def _refuse_repeats(tests: list[Ints], queries: Grouping) -> None:
    """Raise if a query has rows in several test sets."""
    query_of = queries.row_codes()
    n_tests = np.zeros(len(queries.labels), dtype=np.intp)
    for rows in tests:
        n_tests[np.unique(query_of[rows])] += 1
    repeated = n_tests.argmax()
    if n_tests[repeated] > 1:
        raise ValueError(
            f"Query {shown_labels(queries.labels[[repeated]])} is in {n_tests[repeated]} of the "
            f"{len(tests)} test sets: pass a cv that tests each query at most once. Call "
            "compare_models for each repeat of a repeated splitter, and wrap one that cuts queries "
            "in QuerySplitter."
        )


def _requested(consumer: Any, method: str, params: Metadata) -> set[str]:
    """Which of the metadata an object requests; none with routing off."""
    if not get_config()["enable_metadata_routing"]:
        return set()
    return set(get_routing_for_object(consumer).consumes(method, params))
