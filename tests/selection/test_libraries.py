"""GroupedRanker around the installed LightGBM, XGBoost and CatBoost."""

import functools

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from helpers import graded_rows
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer, ndcg_score, quantile_grades
from sklearn_ndcg._selection.libraries import is_aligned

K = 5


def lightgbm(**parameters):
    module = pytest.importorskip("lightgbm")
    defaults = {"n_estimators": 15, "min_child_samples": 5, "verbose": -1, "n_jobs": 1}
    return module.LGBMRanker(**{**defaults, "random_state": 0, **parameters})


def xgboost(**parameters):
    module = pytest.importorskip("xgboost")
    return module.XGBRanker(**{"n_estimators": 15, "n_jobs": 1, "random_state": 0, **parameters})


def catboost(**parameters):
    module = pytest.importorskip("catboost")
    defaults = {"iterations": 15, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    return module.CatBoostRanker(**{**defaults, "random_seed": 0, **parameters})


LIBRARIES = {"lightgbm": lightgbm, "xgboost": xgboost, "catboost": catboost}
ROUNDS = {"lightgbm": "n_estimators", "xgboost": "n_estimators", "catboost": "iterations"}
every_library = pytest.mark.parametrize("library", LIBRARIES)


@pytest.fixture
def data():
    return graded_rows(40, (1, 14), n_columns=4, n_grades=5, all_relevant=False)


def fit_bare(model, library, X, y, query, weight=None):
    """Fit the bare library on stably sorted rows, with its own parameters."""
    order = np.argsort(query, kind="stable")
    _, ids, sizes = np.unique(query[order], return_inverse=True, return_counts=True)
    X, y = X.iloc[order], y[order]
    if library == "lightgbm":
        weights = {} if weight is None else {"sample_weight": weight[order]}
        return model.fit(X, y, group=sizes, **weights)
    means = None if weight is None else np.bincount(ids, weight[order]) / sizes
    if library == "xgboost":
        return model.fit(X, y, qid=ids, sample_weight=means)
    weights = {} if weight is None else {"group_weight": means[ids]}
    return model.fit(X, y, group_id=ids, **weights)


TEXT = np.char.mod("q%02d", np.arange(40))
WAYS = {  # X, what fit is given, group_by of ranker and scorer
    "routed integers": lambda X, query: (X, query, None),
    "routed strings": lambda X, query: (X, TEXT[query].tolist(), None),
    "column": lambda X, query: (X.assign(q=query), query, "q"),
    "index level": lambda X, query: (X.assign(q=TEXT[query]).set_index("q"), TEXT[query], "q"),
    "polars": lambda X, query: (pl.DataFrame(X.assign(q=query).to_dict("list")), query, "q"),
}
# every way and every library each day, all of both in CI
SOME = [("lightgbm", way) for way in WAYS] + [("xgboost", "routed strings"), ("catboost", "column")]


@pytest.mark.parametrize(
    ("library", "way"),
    [
        pytest.param(library, way, marks=() if (library, way) in SOME else pytest.mark.ci)
        for library in LIBRARIES
        for way in WAYS
    ],
)
def test_a_search_gives_the_numbers_computed_by_hand(data, library, way):
    X, y, query = data
    table, groups, group_by = WAYS[way](X, query)
    make, options, depths = LIBRARIES[library], {"k": K, "undefined": 0}, [2, 4]
    name = "depth" if library == "catboost" else "max_depth"
    with sklearn.config_context(enable_metadata_routing=group_by is None):
        search = GridSearchCV(
            GroupedRanker(make(), group_by=group_by), {f"estimator__{name}": depths},
            scoring=make_ndcg_scorer(group_by=group_by, **options), cv=GroupKFold(3),
            error_score="raise",
        ).fit(table, y, groups=groups)  # fmt: skip
    for candidate, depth in enumerate(depths):
        for fold, (train, test) in enumerate(GroupKFold(3).split(X, y, np.asarray(groups))):
            bare = fit_bare(make(**{name: depth}), library, X.iloc[train], y[train], query[train])
            expected = ndcg_score(
                y[test], bare.predict(X.iloc[test]), groups=query[test], **options
            )
            got = search.cv_results_[f"split{fold}_test_score"][candidate]
            assert got == pytest.approx(expected, rel=0, abs=1e-12)


@every_library
def test_the_order_of_queries_does_not_matter_and_that_of_their_rows_does(data, library):
    """In the first round all scores are tied. This is a choice of the libraries."""
    X, y, query = data
    queries = np.argsort(np.random.default_rng(1).permutation(40)[query], kind="stable")
    rows = np.argsort(query, kind="stable")[::-1]
    plain, by_query, by_row = (
        GroupedRanker(LIBRARIES[library]())
        .fit(X.iloc[order], y[order], groups=query[order])
        .predict(X)
        for order in (slice(None), queries, rows)
    )
    np.testing.assert_array_equal(by_query, plain)
    assert np.abs(by_row - plain).max() > 0


@every_library
def test_sample_weight(data, library):
    X, y, query = data
    weight = np.random.default_rng(2).random(len(y)) * 3
    make = LIBRARIES[library]
    weighted = GroupedRanker(make()).fit(X, y, weight, groups=query).predict(X)
    expected = fit_bare(make(), library, X, y, query, weight).predict(X)
    np.testing.assert_array_equal(weighted, expected)
    assert (weighted != GroupedRanker(make()).fit(X, y, groups=query).predict(X)).any()


@pytest.mark.parametrize(
    ("module", "name", "start", "order"),
    [
        ("lightgbm", "LGBMClassifier", "init_score", "F"),
        ("xgboost", "XGBClassifier", "base_margin", "C"),
    ],
)
def test_init_score_and_base_margin_of_several_classes(data, module, name, start, order):
    X, y, query = data
    inner = getattr(pytest.importorskip(module), name)(n_estimators=3, n_jobs=1, verbosity=0)
    values = np.random.default_rng(0).normal(size=(len(y), y.max() + 1))
    expected = clone(inner).fit(X, y, **{start: values}).predict_proba(X)
    for each in (values, values.ravel(order)):  # rows stay as they are
        ranker = GroupedRanker(inner).fit(X, y, groups=query, **{start: each})
        np.testing.assert_allclose(ranker.predict_proba(X), expected, rtol=1e-6)
    drawn = GroupedRanker(inner, max_queries=30, random_state=0)
    with pytest.raises(ValueError, match=f"{start} cannot be passed.*one row per row of X"):
        drawn.fit(X, y, groups=query, **{start: values.ravel(order)})
    drawn.fit(X, y, groups=query, **{start: values})
    rows = np.flatnonzero(np.isin(query, drawn.query_ids_))
    rows = rows[np.argsort(query[rows], kind="stable")]
    bare = clone(inner).fit(X.iloc[rows], y[rows], **{start: values[rows]})
    np.testing.assert_allclose(drawn.predict_proba(X), bare.predict_proba(X), rtol=1e-6)


def test_has_time_of_catboost(data):
    X, y, query = data
    with pytest.raises(ValueError, match="has_time cannot be passed: it refers to rows by number"):
        GroupedRanker(catboost(has_time=True)).fit(X, y, groups=query)
    regressor = pytest.importorskip("catboost").CatBoostRegressor(
        iterations=5, has_time=True, verbose=0, allow_writing_files=False, thread_count=1
    )
    expected = regressor.copy().fit(X, y).predict(X)  # its rows are not sorted
    ranker = GroupedRanker(regressor).fit(X, y, groups=query)
    np.testing.assert_array_equal(ranker.predict(X), expected)


@every_library
def test_around_a_pipeline_and_in_one(data, library):
    X, y, query = data
    make = LIBRARIES[library]
    around = GroupedRanker(make_pipeline(StandardScaler(), make())).fit(X, y, groups=query)
    inside = make_pipeline(StandardScaler(), GroupedRanker(make()))
    inside.fit(X, y, groupedranker__groups=query)
    np.testing.assert_allclose(around.predict(X), inside.predict(X), rtol=1e-6)


# --- early stopping


def recorded(model, library):
    """The library's own NDCG of the held-out queries, by round."""
    if library == "lightgbm":
        return model.evals_result_["valid_0"][f"ndcg@{K}"]
    if library == "xgboost":
        return model.evals_result()["validation_0"][f"ndcg@{K}"]
    return model.evals_result_["validation"][f"NDCG:top={K};type=Base"]


def predict_after(model, library, X, rounds):
    if library == "lightgbm":
        return model.predict(X, num_iteration=rounds)
    if library == "xgboost":
        return model.predict(X, iteration_range=(0, rounds))
    return model.predict(X, ntree_end=rounds)


DEFINITIONS = {
    "lightgbm": {"gain": "exponential", "ties": "stable"},
    "xgboost": {"gain": "exponential", "ties": "stable"},
    "catboost": {"ties": "worst"},
}


def held_out(query, fraction, seed):
    n = len(np.unique(query))
    return np.random.RandomState(seed).permutation(n)[: round(fraction * n)]


@pytest.mark.parametrize("weighted", [False, True])
@every_library
def test_early_stopping_uses_the_held_out_queries(data, library, weighted):
    """In every round the library records our NDCG of the held-out queries."""
    X, y, query = data
    weight = 1.0 + query % 3 if weighted else None
    patience = 4
    ranker = GroupedRanker(
        LIBRARIES[library](**{ROUNDS[library]: 60}),
        k=K,
        early_stopping=True,
        validation_fraction=0.25,
        n_iter_no_change=patience,
        random_state=0,
    ).fit(X, y, weight, groups=query)
    values = recorded(ranker.estimator_, library)
    rows = np.flatnonzero(np.isin(query, held_out(query, 0.25, 0)))
    rows = rows[np.argsort(query[rows], kind="stable")]
    # an undefined query adds 1 to LightGBM's and XGBoost's sum, unweighted: those are not compared
    relevant = {q for q in query[rows] if y[query == q].any()}
    assert weighted is False or len(relevant) == len(set(query[rows])) or library == "catboost"
    # LightGBM and CatBoost keep no trees after the best: compare a fit without stopping
    rest = ~np.isin(np.arange(len(y)), rows)
    weight_of_rest = None if weight is None else weight[rest]
    bare = LIBRARIES[library](**{ROUNDS[library]: 60})
    bare = fit_bare(bare, library, X[rest], y[rest], query[rest], weight_of_rest)
    for rounds, value in enumerate(values, start=1):
        s = predict_after(bare, library, X.iloc[rows], rounds)
        ours = ndcg_score(
            y[rows], s, groups=query[rows], k=K, undefined=1, **DEFINITIONS[library],
            sample_weight=None if weight is None else weight[rows],
        )  # fmt: skip
        assert value == pytest.approx(ours, abs=1e-6 if library == "xgboost" else 1e-12)
    best = int(np.argmax(values))
    assert ranker.best_iteration_ == best + (library == "lightgbm")
    assert len(values) == min(best + patience + 1, 60)
    kept = predict_after(bare, library, X, best + 1)
    np.testing.assert_allclose(ranker.predict(X), kept, rtol=1e-6)


@every_library
def test_early_stopping_in_a_search_and_around_a_pipeline(data, library):
    X, y, query = data
    X = X.assign(q=query).set_index("q")
    inner = make_pipeline(StandardScaler(), StandardScaler(), LIBRARIES[library]())
    ranker = GroupedRanker(
        inner, group_by="q", k=None, early_stopping=True, n_iter_no_change=3, random_state=0
    )
    search = GridSearchCV(
        ranker, {"validation_fraction": [0.1, 0.3]}, cv=GroupKFold(2), error_score="raise",
        scoring=make_ndcg_scorer(k=K, group_by="q", undefined=0),
    ).fit(X, y, groups=query)  # fmt: skip
    best = search.best_estimator_
    assert 0 <= best.best_iteration_ <= 15
    assert len(best.estimator_.steps) == 3
    np.testing.assert_array_equal(clone(best).fit(X, y).predict(X), best.predict(X))


def test_validation_fraction_rows_are_transformed_by_steps_fitted_on_the_others(data):
    module = pytest.importorskip("lightgbm")
    X, y, query = data
    seen = {}

    class Spy(module.LGBMRanker):
        @functools.wraps(module.LGBMRanker.fit)
        def fit(self, X, y, **given):
            held = given["eval_X"][0] if "eval_X" in given else given["eval_set"][0][0]
            seen.update(train=X, held=held, score=given["init_score"])
            seen["held score"] = given["eval_init_score"][0]
            return super().fit(X, y, **given)

    inner = make_pipeline(StandardScaler(), Spy(n_estimators=3, verbose=-1))
    ranker = GroupedRanker(inner, early_stopping=True, validation_fraction=0.25, random_state=0)
    ranker.fit(X, y, groups=query, init_score=np.arange(len(y)) / 100)
    is_held = np.isin(query, held_out(query, 0.25, 0))
    order = np.argsort(query, kind="stable")
    train, held = order[~is_held[order]], order[is_held[order]]
    scaler = StandardScaler().fit(X.iloc[train])
    np.testing.assert_array_equal(seen["train"], scaler.transform(X.iloc[train]))
    np.testing.assert_array_equal(seen["held"], scaler.transform(X.iloc[held]))
    np.testing.assert_array_equal(seen["score"], train / 100)
    np.testing.assert_array_equal(seen["held score"], held / 100)


@every_library
def test_eval_set_is_refused_where_its_rows_would_differ(data, library):
    X, y, query = data
    model = LIBRARIES[library]()
    for ranker, table, words in (
        (GroupedRanker(model, early_stopping=True), X, "eval_set cannot be passed"),
        (
            GroupedRanker(make_pipeline(StandardScaler(), model)),
            X,
            "steps of a Pipeline.*not applied",
        ),
        (GroupedRanker(model, group_by="q"), X.assign(q=query), "removal of a group column"),
    ):
        groups = {} if ranker.group_by else {"groups": query}
        with pytest.raises(ValueError, match=words):
            ranker.fit(table, y, eval_set=[(X, y)], **groups)


@pytest.mark.parametrize(
    ("library", "setting"),
    [
        ("lightgbm", {"ndcg_eval_at": [1]}),
        ("lightgbm", {"early_stopping_round": 1}),
        ("lightgbm", {"metric": "map"}),
        ("lightgbm", {"boosting_type": "dart"}),
        ("xgboost", {"early_stopping_rounds": 1}),
        ("xgboost", {"eval_metric": "map"}),
        ("catboost", {"eval_metric": "MRR"}),
        ("catboost", {"od_wait": 3}),
    ],
)
def test_early_stopping_refuses_what_would_undo_it(data, library, setting):
    X, y, query = data
    ranker = GroupedRanker(LIBRARIES[library](**setting), early_stopping=True)
    with pytest.raises(ValueError, match=f"early_stopping=True.*{next(iter(setting))}"):
        ranker.fit(X, y, groups=query)


@every_library
def test_best_iteration_is_there_after_early_stopping_only(data, library):
    X, y, query = data
    ranker = GroupedRanker(LIBRARIES[library](), early_stopping=True, random_state=0)
    assert isinstance(ranker.fit(X, y, groups=query).best_iteration_, int)
    ranker.set_params(early_stopping=False).fit(X, y, groups=query)
    assert not hasattr(ranker, "best_iteration_")


def test_callbacks_of_the_user_are_called_too(data):
    X, y, query = data
    rounds = []
    ranker = GroupedRanker(lightgbm(), early_stopping=True, random_state=0)
    ranker.fit(X, y, groups=query, callbacks=[lambda env: rounds.append(env.iteration)])
    assert rounds


def test_cat_features_are_named_in_fit_with_early_stopping(data):
    X, y, query = data
    X = X.assign(kind=np.where(X["a"] > 0, "up", "down"), q=query)
    ranker = GroupedRanker(catboost(), group_by="q", early_stopping=True, random_state=0)
    ranker.fit(X, y, cat_features=["kind"])
    assert ranker.estimator_.get_cat_feature_indices() == [4]


@every_library
def test_lists_of_lists(data, library):
    X, y, query = data
    ranker = GroupedRanker(LIBRARIES[library](), early_stopping=True, random_state=0)
    expected = clone(ranker).fit(X.to_numpy(), y, groups=query).predict(X.to_numpy())
    got = ranker.fit(X.to_numpy().tolist(), y.tolist(), groups=query.tolist()).predict(X.to_numpy())
    np.testing.assert_array_equal(got, expected)


# --- labels


@every_library
def test_errors_of_a_library_stay_as_they_are(data, library):
    X, y, query = data

    class Broken(type(LIBRARIES[library]())):
        @functools.wraps(type(LIBRARIES[library]()).fit)
        def fit(self, *args, **kwargs):
            raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        GroupedRanker(Broken()).fit(X, y + 0.5, groups=query)


def test_labels_that_a_library_takes(data):
    X, y, query = data
    for library in ("lightgbm", "xgboost"):
        graded = quantile_grades(y + 0.5, groups=query)
        GroupedRanker(LIBRARIES[library]()).fit(X, graded, groups=query)
    GroupedRanker(lightgbm(label_gain=list(range(101)))).fit(X, y * 20, groups=query)
    GroupedRanker(xgboost(ndcg_exp_gain=False)).fit(X, y * 20 + 0.5, groups=query)
    GroupedRanker(catboost()).fit(X, y * 20 + 0.5, groups=query)


# --- searches, and CatBoost in them


def test_cat_features_as_a_list_cannot_be_cloned_and_as_a_tuple_can():
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.integers(0, 3, 60)})
    y, query = rng.integers(0, 3, 60), np.arange(60) // 6
    quiet = {"verbose": 0, "iterations": 3, "allow_writing_files": False}
    listed = GroupedRanker(catboost.CatBoostRanker(cat_features=["b"], **quiet))
    with pytest.raises(RuntimeError, match="Cannot clone"):
        listed.fit(X, y, groups=query)
    expected = GroupedRanker(catboost.CatBoostRanker(cat_features=("b",), **quiet))
    expected.fit(X, y, groups=query)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = GroupedRanker(catboost.CatBoostRanker(**quiet)).set_fit_request(cat_features=True)
        search = GridSearchCV(
            routed, {"k": [5]}, scoring=make_ndcg_scorer(undefined=0.0),
            cv=GroupKFold(2), error_score="raise",
        )  # fmt: skip
        search.fit(X, y, groups=query, cat_features=["b"])
    np.testing.assert_array_equal(search.predict(X), expected.predict(X))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.zeros(5), True), (np.zeros((5, 2)), True), (np.zeros((2, 5)), False),
        (np.zeros(4), False), (np.zeros(()), False), ([0] * 5, True), ([0] * 4, False),
        ("abcde", False), (dict.fromkeys(range(5)), False), (5, False),
    ],
)  # fmt: skip
def test_which_fit_parameters_have_a_value_per_row(value, expected):
    assert is_aligned("margin", value, 5) is expected
    for name in ("eval_margin", "feature_margin", "cat_features", "callbacks"):
        assert not is_aligned(name, value, 5)
