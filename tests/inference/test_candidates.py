"""The best candidates of a search, against a loop over its folds."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import graded_rows
from scipy.stats import loguniform
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
)

from sklearn_ndcg import (
    GroupedRanker,
    QuerySplitter,
    compare_candidates,
    make_dcg_scorer,
    make_ndcg_scorer,
    ndcg_samples,
    ndcg_score,
    one_ranking,
)

X, Y, QUERY = graded_rows(60, (4, 12))
INDEXED = X.set_index(pd.Index(QUERY, name="query"))
SCORER = make_ndcg_scorer(k=5, group_by="query")
CV = QuerySplitter(4, group_by="query")
ALPHAS = {"alpha": [1, 300, 100_000]}


def grid(**arguments):
    options = {"scoring": SCORER, "cv": CV, "estimator": Ridge(), "param_grid": ALPHAS}
    return GridSearchCV(**options | arguments)


def by_hand(alpha, cv=CV, X=INDEXED):
    """NDCG@5 of each query, out of fold."""
    values = {}
    for train, test in cv.split(X, Y, QUERY):
        scores = Ridge(alpha=alpha).fit(X.iloc[train], Y[train]).predict(X.iloc[test])
        found = ndcg_samples(Y[test], scores, groups=QUERY[test], k=5)
        values |= zip(np.unique(QUERY[test]).tolist(), found.tolist(), strict=True)
    return [values[query] for query in sorted(values)]


def test_queries_have_the_values_of_a_loop_over_the_folds():
    search = grid().fit(INDEXED, Y)
    found = compare_candidates(search, INDEXED, Y, random_state=0)
    best = f"alpha={search.best_params_['alpha']}"
    assert sorted(found.ndcg) == ["alpha=1", "alpha=100000", "alpha=300"]
    assert next(iter(found.ndcg)) == best
    assert {second for _, second in found.pairs} == {best}
    assert found.labels.tolist() == sorted(set(QUERY.tolist()))
    for alpha in ALPHAS["alpha"]:
        assert found.values[f"alpha={alpha}"].tolist() == pytest.approx(by_hand(alpha), abs=1e-12)
    assert found.note.startswith(f"{best} was chosen as the best on these data")
    assert found.note in repr(found)


def test_groups_may_be_passed_or_routed():
    expected = compare_candidates(grid().fit(INDEXED, Y), INDEXED, Y, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        cv = GroupKFold(4)
        search = grid(scoring=make_ndcg_scorer(k=5), cv=cv).fit(X, Y, groups=QUERY)
        found = compare_candidates(search, X, Y, groups=QUERY, random_state=0)
        for alpha in ALPHAS["alpha"]:
            values = found.values[f"alpha={alpha}"].tolist()
            assert values == pytest.approx(by_hand(alpha, cv, X), abs=1e-12)
        ranker = GroupedRanker(HistGradientBoostingRegressor(max_iter=5), early_stopping=False)
        search = grid(
            estimator=ranker, param_grid={"estimator__max_depth": [1, 2]},
            scoring=make_ndcg_scorer(k=5), cv=cv,
        ).fit(X, Y, groups=QUERY)  # fmt: skip
        found = compare_candidates(search, X, Y, groups=QUERY, test="t")
        assert max(found.ndcg.values()) == pytest.approx(search.best_score_, abs=0.02)
    named = grid(cv=GroupKFold(4)).fit(INDEXED, Y, groups=QUERY)
    found = compare_candidates(named, INDEXED, Y, groups=QUERY, random_state=0)
    assert found.n_queries == expected.n_queries == 60
    splits = list(GroupKFold(4).split(X, Y, QUERY))
    with sklearn.config_context(enable_metadata_routing=True):
        search = grid(scoring=make_ndcg_scorer(), cv=splits).fit(X, Y, groups=QUERY)
    with pytest.raises(ValueError, match="groups is missing: pass the ids that were passed to sea"):
        compare_candidates(search, X, Y)


@pytest.mark.filterwarnings("ignore:.*optuna")
@pytest.mark.parametrize("kind", ["random", "halving", "optuna"])
def test_other_searches(kind):
    if kind == "random":
        search = RandomizedSearchCV(
            Ridge(), {"alpha": loguniform(1, 1e5)}, n_iter=6, random_state=0,
            scoring=make_ndcg_scorer(k=[1, 5], group_by="query"), refit="ndcg@5", cv=CV,
        )  # fmt: skip
    elif kind == "halving":
        search = HalvingGridSearchCV(
            GroupedRanker(Ridge(), group_by="query"),
            {"estimator__alpha": [1.0, 10.0, 300.0, 1e5]}, resource="max_queries",
            max_resources=40, min_resources=10, scoring=SCORER, cv=CV,
        )  # fmt: skip
    else:
        optuna = pytest.importorskip("optuna", reason="Optuna is not installed")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is experimental
            integration = pytest.importorskip("optuna_integration")
            space = {"alpha": optuna.distributions.FloatDistribution(1, 1e5, log=True)}
            search = integration.OptunaSearchCV(
                Ridge(), space, n_trials=6, random_state=0, scoring=SCORER, cv=CV
            )
    search.fit(INDEXED, Y)
    found = compare_candidates(search, INDEXED, Y, n_candidates=3, test="t")
    best, *others = found.ndcg
    assert len(others) == 2
    (name, value), *_ = search.best_params_.items()
    assert best == f"{name}={value:.4g}"
    assert found.pairs == [(each, best) for each in others]
    if kind != "halving":
        assert found.ndcg[best] == pytest.approx(np.mean(by_hand(value)), abs=1e-12)
    else:  # each candidate has the resources of the last iteration
        assert "max_queries" not in "".join(found.ndcg)


def test_a_query_that_is_tested_repeatedly_is_a_cluster():
    cv = QuerySplitter(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), group_by="query")
    found = compare_candidates(grid(cv=cv).fit(INDEXED, Y), INDEXED, Y, test="t")
    assert (found.n_queries, found.n_clusters) == (120, 60)
    assert found.labels[:2].tolist() == [(0, 0), (0, 5)] or found.labels[0][0] == 0
    values = pd.Series(found.values["alpha=1"], [query for query, _ in found.labels])
    assert values.groupby(level=0).size().eq(2).all()


def test_segments_clusters_and_margins():
    search = grid().fit(INDEXED, Y)
    segment, cluster = QUERY % 2, QUERY // 3
    found = compare_candidates(
        search, INDEXED, Y, segments=segment, clusters=cluster, margin=0.01, n_candidates=2,
        confidence_level=0.9, n_jobs=2, test="t",
    )  # fmt: skip
    assert list(found.by_segment) == [0, 1]
    assert found.by_segment[1].labels.tolist() == list(range(1, 60, 2))
    assert found.n_clusters == 20
    assert found.margin == 0.01
    assert found.confidence_level == 0.9
    assert len(found.ndcg) == 2


def test_splits_that_are_drawn_anew_are_warned_of():
    for cv in (GroupShuffleSplit(3), KFold(3, shuffle=True), ShuffleSplit(3)):
        splitter = cv if "Group" in type(cv).__name__ else QuerySplitter(cv, group_by="query")
        search = grid(cv=splitter).fit(INDEXED, Y, groups=QUERY)
        with pytest.warns(UserWarning, match="cv draws different splits each time") as caught:
            compare_candidates(search, INDEXED, Y, groups=QUERY, test="t")
        assert caught[0].filename == __file__


def test_progress_is_shown(capfd):
    search = grid().fit(INDEXED, Y)
    compare_candidates(search, INDEXED, Y, verbose=3, test="t")
    assert capfd.readouterr().out.count("[CV] END") == 12


def test_undefined_queries_are_warned_of_once():
    y = np.where(QUERY == 7, 0, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = grid().fit(INDEXED, y)
    with pytest.warns(UserWarning, match="undefined for 1 of 60 queries") as caught:
        found = compare_candidates(search, INDEXED, y, test="t")
    assert len(caught) == 1
    assert found.n_queries == 60


def test_weights_that_the_scorer_requests_count():
    weight = QUERY % 3
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ndcg_scorer(k=5).set_score_request(sample_weight=True)
        estimator = Ridge().set_fit_request(sample_weight=False)
        search = grid(scoring=scorer, cv=GroupKFold(4), estimator=estimator)
        search.fit(X, Y, groups=QUERY, sample_weight=weight)
        found = compare_candidates(search, X, Y, groups=QUERY, sample_weight=weight, test="t")
    assert found.n_left_out == 20
    for alpha in ALPHAS["alpha"]:
        values = by_hand(alpha, GroupKFold(4), X)
        expected = np.average(values, weights=np.arange(60) % 3)
        assert found.ndcg[f"alpha={alpha}"] == pytest.approx(expected, abs=1e-12)


def test_the_scorer_may_request_the_ids_under_another_name():
    half = QUERY * 2 + np.arange(len(QUERY)) % 2
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ndcg_scorer(k=5, undefined=0.0).set_score_request(groups="session")
        search = grid(scoring=scorer, cv=GroupKFold(4)).fit(X, Y, groups=QUERY, session=half)
        found = compare_candidates(search, X, Y, groups=QUERY, session=half, test="t")
    assert found.labels.tolist() == sorted(set(half.tolist()))


@pytest.mark.filterwarnings("ignore:4 queries")
def test_with_one_ranking_each_fold_is_a_query():
    search = grid(scoring=make_ndcg_scorer(group_by=one_ranking, k=5)).fit(INDEXED, Y)
    found = compare_candidates(search, INDEXED, Y, test="t")
    assert (found.n_queries, found.n_clusters) == (4, 4)
    best = search.best_params_["alpha"]
    assert found.ndcg[f"alpha={best}"] == pytest.approx(search.best_score_, abs=1e-12)


def test_folds_of_an_integer_are_stratified_for_a_classifier():
    options = {
        "scoring": make_ndcg_scorer(group_by=one_ranking),
        "estimator": LogisticRegression(max_iter=1000),
        "param_grid": {"C": [1e-4, 1]},
    }
    found, expected = (
        compare_candidates(grid(cv=cv, **options).fit(X, Y), X, Y, test="t")
        for cv in (10, StratifiedKFold(10))
    )
    assert repr(found) == repr(expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_candidates_that_failed_are_left_out():
    search = grid(param_grid={"alpha": [1, 300, -1]}, error_score=np.nan).fit(INDEXED, Y)
    assert sorted(compare_candidates(search, INDEXED, Y, test="t").ndcg) == ["alpha=1", "alpha=300"]


def test_names_have_the_parameters_of_each_grid():
    spaces = [{"alpha": [1.0]}, {"tol": [0.1, 0.2], "alpha": [300.0]}]
    search = grid(param_grid=spaces).fit(INDEXED, Y)
    names = set(compare_candidates(search, INDEXED, Y, test="t").ndcg)
    assert names == {"alpha=1", "alpha=300, tol=0.1", "alpha=300, tol=0.2"}
    arrays = {"alpha": [np.array(1.0), np.array(300.0)]}
    assert len(compare_candidates(grid(param_grid=arrays).fit(INDEXED, Y), INDEXED, Y).ndcg) == 2


def test_names_of_values_that_print_alike():
    search = grid(estimator=GroupedRanker(Ridge(), group_by="query"), param_grid={
        "estimator": [Ridge(1.0), Ridge(100)], "estimator__alpha": [1.00001, 1.00002],
    }).fit(INDEXED, Y)  # fmt: skip
    found = compare_candidates(search, INDEXED, Y, test="t")
    assert len(found.ndcg) == 4


BAD = {
    "not fitted": (grid, {}, ValueError, "search must be a fitted search; .* is not fitted"),
    "no search": (Ridge, {}, ValueError, "search must be a fitted search; .* is not fitted"),
    "one candidate": (
        lambda: grid(param_grid={"alpha": [1]}).fit(INDEXED, Y), {}, ValueError,
        "search must have at least two candidates, found 1",
    ),
    "n_candidates": (
        lambda: grid().fit(INDEXED, Y), {"n_candidates": 1}, ValueError,
        "n_candidates must be an integer >= 2, got 1",
    ),
    "scorer": (
        lambda: grid(scoring="r2").fit(INDEXED, Y), {}, TypeError,
        "by a scorer from make_ndcg_scorer",
    ),
    "dcg": (
        lambda: grid(scoring=make_dcg_scorer(group_by="query")).fit(INDEXED, Y), {}, TypeError,
        "by a scorer from make_ndcg_scorer",
    ),
    "function": (
        lambda: grid(scoring=make_scorer(ndcg_score), error_score=0.0, param_grid=ALPHAS),
        {}, ValueError, "search must be a fitted search; .* is not fitted",
    ),
    "refit": (
        lambda: grid(
            scoring=make_ndcg_scorer(k=[1, 5], group_by="query"), refit=False
        ).fit(INDEXED, Y), {}, ValueError, "refit of the search must be one of 'ndcg@1', 'ndcg@5'; got False",
    ),
    "iterator": (
        lambda: grid(cv=CV.split(INDEXED, Y)).fit(INDEXED, Y), {}, ValueError,
        r"cv of the search is an iterator, which fit has used up: pass list\(cv\)",
    ),
    "reordered": (
        lambda: grid().fit(INDEXED, Y), {"segments": INDEXED["a"].sort_index(ascending=False)},
        ValueError, "X and segments have the same labels in their index, but in another order",
    ),
    "baseline": (
        lambda: grid().fit(INDEXED, Y), {"baseline": "alpha=2"}, ValueError,
        "baseline must be one of the rankers",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    search, arguments, kind, message = BAD[case]
    with pytest.raises(kind, match=message):
        compare_candidates(search(), INDEXED, Y, **arguments)
