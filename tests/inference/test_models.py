"""`compare_models` is a loop of fit, predict and `compare_rankers`."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import assert_same, booster, graded_rows
from joblib import parallel_config
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.tree import DecisionTreeRegressor

from sklearn_ndcg import (
    GroupedRanker,
    QueryLeakWarning,
    QuerySplitter,
    make_ndcg_scorer,
    make_query_scorer,
    ndcg_samples,
)
from sklearn_ndcg.inference import compare_models, compare_rankers

X, Y, QUERY = graded_rows(40, (4, 9))
BY_LEVEL = X.assign(q=QUERY).set_index("q")
MODELS = {"ridge": Ridge(), "tree": DecisionTreeRegressor(max_depth=2, random_state=0)}
SCORER = make_ndcg_scorer(k=5, group_by="q")
OPTIONS = {"random_state": 0, "n_resamples": 99}
WEIGHT = np.random.default_rng(1).integers(1, 4, 40)[QUERY].astype(float)


def in_a_loop(
    models,
    splits,
    y=Y,
    query=QUERY,
    fit=lambda model, rows: model.fit(X.iloc[rows], Y[rows]),
    **options,
):
    """Fit the models to each training set, and compare their predictions of all test sets."""
    rows, scores = [], {name: [] for name in models}
    for train, test in splits:
        rows.append(test)
        for name, model in models.items():
            fitted = fit(clone(model), train)
            scores[name].append(fitted.predict(X.iloc[test]))
    rows = np.concatenate(rows)
    joined = {name: np.concatenate(each) for name, each in scores.items()}
    of_rows = {
        name: options.pop(name)[rows] for name in ("clusters", "sample_weight") if name in options
    }
    return compare_rankers(y[rows], joined, groups=query[rows], **of_rows, **options)


SPLITTERS = {
    "folds": QuerySplitter(4, group_by="q"),
    "shuffled": QuerySplitter(KFold(4, shuffle=True, random_state=1), group_by="q"),
    "in time": QuerySplitter(TimeSeriesSplit(3), group_by="q"),
    "one split": QuerySplitter(ShuffleSplit(1, test_size=0.5, random_state=0), group_by="q"),
    "by default": None,
}


@pytest.mark.parametrize("cv", SPLITTERS.values(), ids=SPLITTERS)
def test_folds_are_compared_as_in_a_loop(cv):
    options = {"baseline": "ridge", "margin": 0.1, **OPTIONS}
    found = compare_models(MODELS, BY_LEVEL, Y, scoring=SCORER, cv=cv, **options)
    splits = (cv or QuerySplitter(5, group_by="q")).split(BY_LEVEL, Y)
    assert_same(found, in_a_loop(MODELS, splits, k=5, **options))


def test_queries_that_are_never_tested_are_not_part_of_it():
    cv = QuerySplitter(TimeSeriesSplit(3), group_by="q")
    found = compare_models(MODELS, BY_LEVEL, Y, scoring=SCORER, cv=cv, **OPTIONS)
    assert found.labels.tolist() == [*range(10, 40)]
    assert (found.n_queries, found.n_left_out) == (30, 0)


REPEATS = {
    "repeated": QuerySplitter(RepeatedKFold(n_splits=4, n_repeats=3), group_by="q"),
    "random": QuerySplitter(ShuffleSplit(6, test_size=0.9, random_state=0), group_by="q"),
    "cut": KFold(3),
}


@pytest.mark.parametrize("cv", REPEATS.values(), ids=REPEATS)
@pytest.mark.filterwarnings("ignore::sklearn_ndcg.QueryLeakWarning")
def test_a_query_that_is_tested_twice_is_refused_after_one_model(cv):
    class Never(Ridge):
        def fit(self, X, y):
            raise AssertionError

    with pytest.raises(ValueError, match=r"Query \d+ is in \d of the \d+ test sets: pass"):
        compare_models({"a": Ridge(), "never": Never()}, BY_LEVEL, Y, scoring=SCORER, cv=cv)


def test_folds_are_drawn_once():
    tests = []

    class Draws:
        def split(self, X, y=None, groups=None):
            for train, test in KFold(4, shuffle=True).split(np.zeros(40)):
                tests.append(test)
                yield np.flatnonzero(np.isin(QUERY, train)), np.isin(QUERY, test)  # a mask

        def get_n_splits(self, *args):
            return 4

    cv = Draws()
    found = compare_models(MODELS, BY_LEVEL, Y, scoring=SCORER, cv=cv, **OPTIONS)
    assert len(tests) == 4
    splits = [
        (np.flatnonzero(~np.isin(QUERY, test)), np.flatnonzero(np.isin(QUERY, test)))
        for test in tests
    ]
    assert_same(found, in_a_loop(MODELS, splits, k=5, **OPTIONS))
    again = compare_models(MODELS, BY_LEVEL, Y, scoring=SCORER, cv=iter(splits), **OPTIONS)
    assert_same(again, found)


@pytest.mark.parametrize("library", [None, "lightgbm"])
def test_rankers_get_their_groups(library, routing):
    ranker = GroupedRanker(booster(library) if library else Ridge())
    models = {"ranker": ranker, "ridge": Ridge().set_fit_request(sample_weight=True)}
    scorer = make_ndcg_scorer(k=5).set_score_request(sample_weight=True)
    models["ranker"].set_fit_request(sample_weight=False)
    found = compare_models(
        models, X, Y, scoring=scorer, cv=GroupKFold(4), groups=QUERY,
        params={"sample_weight": WEIGHT}, **OPTIONS,
    )  # fmt: skip

    def fit(model, rows):
        if isinstance(model, Ridge):
            return model.fit(X.iloc[rows], Y[rows], sample_weight=WEIGHT[rows])
        return model.fit(X.iloc[rows], Y[rows], groups=QUERY[rows])

    splits = GroupKFold(4).split(X, Y, QUERY)
    expected = in_a_loop(models, splits, fit=fit, sample_weight=WEIGHT, k=5, **OPTIONS)
    assert_same(found, expected)


def test_metadata_that_only_the_splitter_requested_leaves_the_others(routing):
    scorer = make_ndcg_scorer(k=5, group_by="q").set_score_request(groups=False)
    found = compare_models(
        MODELS, BY_LEVEL, Y, scoring=scorer, cv=GroupKFold(4), groups=QUERY, **OPTIONS
    )
    splits = GroupKFold(4).split(X, Y, QUERY)
    assert_same(found, in_a_loop(MODELS, splits, k=5, **OPTIONS))


class Shifted(Ridge):
    """Adds what it gets to the target."""

    def fit(self, X, y, shift=0):
        return super().fit(X, y + shift)


@pytest.mark.parametrize("order", [1, -1], ids=["first", "last"])
def test_metadata_that_one_model_alone_requests(routing, order):
    """`cross_validate` of another model would not know them."""
    models = {"shifted": Shifted().set_fit_request(shift=True), "tree": MODELS["tree"]}
    models = dict([*models.items()][::order])
    cv = QuerySplitter(4, group_by="q")
    found = compare_models(
        models, BY_LEVEL, Y, scoring=SCORER, cv=cv, params={"shift": WEIGHT}, **OPTIONS
    )

    def fit(model, rows):
        shift = {"shift": WEIGHT[rows]} if isinstance(model, Shifted) else {}
        return model.fit(X.iloc[rows], Y[rows], **shift)

    splits = cv.split(BY_LEVEL, Y)
    assert_same(found, in_a_loop(models, splits, fit=fit, k=5, **OPTIONS))


def test_metadata_under_another_name(routing):
    scorer = make_ndcg_scorer(k=5).set_score_request(groups="query", sample_weight="w")
    cv = QuerySplitter(4).set_split_request(groups="query")
    params = {"query": QUERY, "w": WEIGHT}
    found = compare_models(MODELS, X, Y, scoring=scorer, cv=cv, params=params, **OPTIONS)
    splits = QuerySplitter(4).split(X, Y, QUERY)
    assert_same(found, in_a_loop(MODELS, splits, k=5, sample_weight=WEIGHT, **OPTIONS))


def test_metadata_that_nothing_requests_is_refused_as_in_cross_validate(routing):
    with pytest.raises(TypeError, match="unexpected argument.*'weights'"):
        compare_models(
            MODELS, X, Y, scoring=make_ndcg_scorer(), cv=QuerySplitter(4), groups=QUERY,
            params={"weights": WEIGHT},
        )  # fmt: skip


def test_groups_go_to_the_splitter_and_params_to_fit_without_routing():
    found = compare_models(
        MODELS, BY_LEVEL, Y, scoring=SCORER, cv=GroupKFold(4), groups=QUERY,
        params={"sample_weight": WEIGHT}, **OPTIONS,
    )  # fmt: skip
    splits = GroupKFold(4).split(X, Y, QUERY)

    def fit(model, rows):
        return model.fit(X.iloc[rows], Y[rows], sample_weight=WEIGHT[rows])

    assert_same(found, in_a_loop(MODELS, splits, fit=fit, k=5, **OPTIONS))


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.ci)])
def test_workers_give_the_same(backend):
    cv = QuerySplitter(4, group_by="q")
    options = {"scoring": SCORER, "cv": cv, **OPTIONS}
    with parallel_config(backend):
        found = compare_models(MODELS, BY_LEVEL, Y, n_jobs=2, **options)
    assert_same(found, compare_models(MODELS, BY_LEVEL, Y, **options))


def test_a_scorer_of_another_metric_gives_its_name():
    scorer = make_query_scorer(average_precision_score, group_by="q")
    found = compare_models(MODELS, BY_LEVEL, (Y > 0).astype(int), scoring=scorer, **OPTIONS)
    assert found.metric == "average_precision_score"
    assert list(found.mean) == list(MODELS)


class Counting(Ridge):
    """Counts its predictions."""

    n_predicted = 0

    def predict(self, X):
        type(self).n_predicted += 1
        return super().predict(X)


def test_each_model_predicts_once_more_for_each_fold_than_in_cross_validate():
    Counting.n_predicted = 0
    models = {"a": Counting(), "b": Ridge(alpha=9)}
    compare_models(models, BY_LEVEL, Y, scoring=SCORER, cv=QuerySplitter(4, group_by="q"))
    assert Counting.n_predicted == 4 * 2


@pytest.mark.parametrize(
    "group_by",
    ["q", ["q", "one"], lambda X: pd.factorize(X.index.get_level_values("q"))[0]],
    ids=["level", "several", "numbered anew in each fold"],
)
def test_ids_are_those_that_the_scorer_finds(group_by):
    table = BY_LEVEL.assign(one=1).set_index("one", append=True)
    scorer = make_ndcg_scorer(k=5, group_by=group_by)
    cv = QuerySplitter(4, group_by="q")
    found = compare_models(MODELS, table, Y, scoring=scorer, cv=cv, test="t")
    expected = in_a_loop(MODELS, cv.split(BY_LEVEL, Y), k=5, test="t")
    for name in MODELS:
        assert sorted(found.values[name]) == sorted(expected.values[name])
    assert found.n_queries == 40


@pytest.mark.parametrize("cv", [KFold(3, shuffle=True, random_state=0), TimeSeriesSplit(3)])
def test_rows_may_be_queries(cv):
    rng = np.random.default_rng(0)
    features, y = rng.normal(size=(30, 3)), rng.integers(0, 3, (30, 4))
    models = {"ridge": Ridge(), "mean": DummyRegressor()}
    found = compare_models(models, features, y, scoring=make_ndcg_scorer(), cv=cv, test="t")
    values = np.full(30, np.nan)
    for train, test in cv.split(features):
        score = Ridge().fit(features[train], y[train]).predict(features[test])
        values[test] = ndcg_samples(y[test], score)
    assert found.labels.tolist() == np.flatnonzero(~np.isnan(values)).tolist()
    assert found.values["ridge"] == pytest.approx(values[found.labels])
    assert compare_models(models, features, y, scoring=make_ndcg_scorer(), test="t").n_queries == 30
    repeats = RepeatedKFold(n_splits=3, n_repeats=2)
    with pytest.raises(ValueError, match="Query 0 is in 2 of the 6 test sets"):
        compare_models(models, features, y, scoring=make_ndcg_scorer(), cv=repeats)


# Warnings and errors


def test_queries_that_a_split_cuts_are_warned_of():
    scorer = make_ndcg_scorer(k=5, group_by="q", undefined=0)
    cut = ShuffleSplit(1, test_size=0.7, random_state=0)
    with pytest.warns(QueryLeakWarning, match="have rows in the training set") as caught:
        compare_models(MODELS, BY_LEVEL, Y, scoring=scorer, cv=cut, test="t")
    assert {warning.filename for warning in caught} == {__file__}
    with warnings.catch_warnings(action="error"):
        cv = GroupShuffleSplit(1, test_size=0.5, random_state=0)
        compare_models(MODELS, BY_LEVEL, Y, scoring=SCORER, cv=cv, groups=QUERY, test="t")


def test_undefined_queries_are_warned_of_once():
    y = np.where(QUERY < 3, 0, Y)
    with pytest.warns(UndefinedMetricWarning, match="undefined for 3 of 40 queries") as caught:
        found = compare_models(MODELS, BY_LEVEL, y, scoring=SCORER, test="t")
    assert len(caught) == 1
    assert found.values["tree"][:3].tolist() == [0, 0, 0]


def test_warnings_of_a_model_are_not_hidden():
    class Warns(Ridge):
        def fit(self, X, y):
            warnings.warn("of the model", UndefinedMetricWarning, 2)
            return super().fit(X, y)

    models = {"warns": Warns(), "ridge": Ridge()}
    with pytest.warns(UndefinedMetricWarning, match="of the model"):
        compare_models(models, BY_LEVEL, Y, scoring=SCORER, test="t")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"models": [Ridge()]}, TypeError, "models must be a mapping .* got list"),
        ({"models": {"a": Ridge()}}, ValueError, r"models must have at least two .* \['a'\]"),
        ({"models": {1: Ridge(), "1": Ridge()}}, ValueError, r"different names, got \[1, '1'\]"),
        ({"scoring": "r2"}, TypeError, "scoring must be what make_ndcg_scorer .* got 'r2'"),
        (
            {"scoring": {"a": SCORER}},
            TypeError,
            "scoring must be what make_ndcg_scorer .* got {'a'",
        ),
        ({"params": "x"}, TypeError, "params must be a mapping from name or None, got 'x'"),
        ({"baseline": "forest"}, ValueError, "baseline must be one of .* got 'forest'"),
        ({"margin": 2}, ValueError, "margin must be a number between 0 and 1, got 2"),
        ({"test": "wilcoxon"}, ValueError, "test must be one of"),
        ({"clusters": [0, 1]}, ValueError, "clusters must have one id for each of the"),
    ],
)
def test_arguments_that_are_refused(arguments, error, message):
    arguments = {"models": MODELS, "X": BY_LEVEL, "y": Y, "scoring": SCORER} | arguments
    with pytest.raises(error, match=message):
        compare_models(**arguments)


@pytest.mark.parametrize("argument", ["y", "groups", "clusters"])
def test_rows_whose_labels_are_in_another_order_are_refused(argument):
    rows = {"y": Y, "groups": QUERY, "clusters": QUERY % 20}
    rows[argument] = pd.Series(rows[argument]).iloc[::-1]
    with pytest.raises(ValueError, match=f"X and {argument} have the same labels"):
        compare_models(MODELS, X, scoring=make_ndcg_scorer(), **rows)


def test_an_error_of_a_model_names_it():
    class Broken(Ridge):
        def fit(self, X, y):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no") as caught:
        compare_models(MODELS | {"broken": Broken()}, BY_LEVEL, Y, scoring=SCORER)
    assert "'broken'" in caught.value.__notes__[0]


def test_nothing_of_the_caller_is_changed():
    cv, params = QuerySplitter(3, group_by="q"), {}
    compare_models(MODELS, BY_LEVEL, Y, scoring=SCORER, cv=cv, params=params, test="t")
    assert not hasattr(MODELS["ridge"], "coef_")
    assert params == {}
    assert vars(cv) == vars(QuerySplitter(3, group_by="q"))


def test_progress_is_that_of_cross_validate(capsys):
    options = {"scoring": SCORER, "cv": QuerySplitter(3, group_by="q"), "test": "t"}
    compare_models(MODELS, BY_LEVEL, Y, **options)
    assert capsys.readouterr().out == ""
    compare_models(MODELS, BY_LEVEL, Y, verbose=2, **options)
    assert capsys.readouterr().out.count("[CV]") == 3 * len(MODELS)


def test_a_scorer_without_ids_says_where_they_may_come_from():
    with pytest.raises(ValueError, match="Pass group_by: a column of X.* routing on"):
        compare_models(MODELS, X, Y, scoring=make_ndcg_scorer(k=5))
