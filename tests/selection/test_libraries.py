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
from sklearn.model_selection import GridSearchCV, GroupKFold, HalvingGridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer, ndcg_samples, ndcg_score, quantile_grades
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


def ways(X, query):
    """X, what fit is given, group_by of ranker and scorer, and whether routing is on."""
    text = np.char.mod("q%02d", query)
    yield "routed integers", X, query, None, True
    yield "routed strings", X, text.tolist(), None, True
    yield "column", X.assign(q=query), query, "q", False
    yield "index level", X.set_index(pd.Index(text, name="q")), text, "q", False
    yield "polars", pl.DataFrame(X.assign(q=query).to_dict("list")), query, "q", False


@pytest.mark.parametrize("way", range(5))
@every_library
def test_search_gives_the_numbers_computed_by_hand(data, library, way):
    X, y, query = data
    _, table, groups, group_by, routed = list(ways(X, query))[way]
    make, options = LIBRARIES[library], {"k": K, "undefined": 0}
    depths = [2, 4]
    name = "depth" if library == "catboost" else "max_depth"
    with sklearn.config_context(enable_metadata_routing=routed):
        search = GridSearchCV(
            GroupedRanker(make(), group_by=group_by),
            {f"estimator__{name}": depths},
            scoring=make_ndcg_scorer(group_by=group_by, **options),
            cv=GroupKFold(3),
            error_score="raise",
        ).fit(table, y, groups=groups)
    splits = list(GroupKFold(3).split(X, y, np.asarray(groups)))
    for candidate, depth in enumerate(depths):
        for fold, (train, test) in enumerate(splits):
            bare = fit_bare(make(**{name: depth}), library, X.iloc[train], y[train], query[train])
            s = bare.predict(X.iloc[test])
            expected = ndcg_score(y[test], s, groups=query[test], **options)
            got = search.cv_results_[f"split{fold}_test_score"][candidate]
            assert got == pytest.approx(expected, rel=0, abs=1e-12)


@every_library
def test_the_order_of_queries_does_not_matter(data, library):
    X, y, query = data
    expected = GroupedRanker(LIBRARIES[library]()).fit(X, y, groups=query).predict(X)
    rng = np.random.default_rng(1)
    shuffled = np.argsort(
        rng.permutation(40)[query], kind="stable"
    )  # rows of a query keep their order
    again = GroupedRanker(LIBRARIES[library]()).fit(
        X.iloc[shuffled], y[shuffled], groups=query[shuffled]
    )
    np.testing.assert_array_equal(again.predict(X), expected)


@every_library
def test_order_of_rows_inside_a_query_matters_to_the_library(data, library):
    """In the first round all scores are tied. This is a choice of the libraries."""
    X, y, query = data
    order = np.argsort(query, kind="stable")
    reverse = order[::-1]
    first = GroupedRanker(LIBRARIES[library]()).fit(X.iloc[order], y[order], groups=query[order])
    other = GroupedRanker(LIBRARIES[library]()).fit(
        X.iloc[reverse], y[reverse], groups=query[reverse]
    )
    assert np.abs(first.predict(X) - other.predict(X)).max() > 0


@every_library
def test_weights(data, library):
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
def test_scores_to_start_from_of_several_classes(data, module, name, start, order):
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


def test_catboost_in_the_order_of_time(data):
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
def test_early_stopping_trains_on_the_other_queries_only(data, library):
    X, y, query = data
    make = LIBRARIES[library]
    ranker = GroupedRanker(
        make(), early_stopping=True, validation_fraction=0.25, n_iter_no_change=100, random_state=0
    ).fit(X, y, groups=query)
    rest = ~np.isin(query, held_out(query, 0.25, 0))
    bare = fit_bare(make(), library, X[rest], y[rest], query[rest])
    rounds = ranker.best_iteration_ + (library != "lightgbm")
    expected = predict_after(bare, library, X, rounds)
    np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-6, atol=1e-7)


@every_library
def test_early_stopping_in_a_search_and_in_a_pipeline(data, library):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    inner = make_pipeline(StandardScaler(), LIBRARIES[library](**{ROUNDS[library]: 40}))
    ranker = GroupedRanker(
        inner, group_by="q", k=None, early_stopping=True, n_iter_no_change=3, random_state=0
    )
    search = GridSearchCV(
        ranker,
        {"validation_fraction": [0.1, 0.3]},
        scoring=make_ndcg_scorer(k=K, group_by="q", undefined=0),
        cv=GroupKFold(3),
        error_score="raise",
    ).fit(X, y, groups=query)
    assert 0 <= search.best_estimator_.best_iteration_ < 40
    again = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), search.best_estimator_.predict(X))


def test_held_out_rows_are_transformed_by_steps_fitted_on_the_others(data):
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
def test_early_stopping_and_an_evaluation_set(data, library):
    X, y, query = data
    ranker = GroupedRanker(LIBRARIES[library](), early_stopping=True)
    with pytest.raises(ValueError, match="eval_set cannot be passed"):
        ranker.fit(X, y, groups=query, eval_set=[(X, y)])


@every_library
def test_an_evaluation_set_that_nothing_would_transform(data, library):
    X, y, query = data
    around = GroupedRanker(make_pipeline(StandardScaler(), LIBRARIES[library]()))
    with pytest.raises(ValueError, match="steps of a Pipeline.*are not applied to it"):
        around.fit(X, y, groups=query, eval_set=[(X, y)])
    column = GroupedRanker(LIBRARIES[library](), group_by="q")
    with pytest.raises(ValueError, match="removal of a group column"):
        column.fit(X.assign(q=query), y, eval_set=[(X, y)])


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
    assert not hasattr(
        ranker.set_params(early_stopping=False).fit(X, y, groups=query), "best_iteration_"
    )


def test_callbacks_of_the_user_are_called_too(data):
    X, y, query = data
    rounds = []
    ranker = GroupedRanker(lightgbm(), early_stopping=True, random_state=0)
    ranker.fit(X, y, groups=query, callbacks=[lambda env: rounds.append(env.iteration)])
    assert rounds


def test_catboost_stops_early_with_categories_named_in_fit(data):
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


# --- what the guide says about searches


@pytest.mark.filterwarnings("ignore:.*have a single document")  # of cut queries
def test_halving_by_rounds_is_safe_and_by_rows_is_not(data):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    seen = []

    def count(estimator, X, y):
        seen.append(np.bincount(X.index).max())
        return ndcg_samples(y, estimator.predict(X), groups=X.index, undefined=0).mean()

    search = HalvingGridSearchCV(
        GroupedRanker(lightgbm(), group_by="q"), {"estimator__num_leaves": [3, 7, 15]},
        scoring=count, cv=list(GroupKFold(3).split(X, y, query)), random_state=0,
        resource="estimator__n_estimators", max_resources=9, min_resources=1, error_score="raise",
    )  # fmt: skip
    search.fit(X, y)
    assert max(seen) == np.bincount(query).max()  # whole queries

    seen.clear()
    search.set_params(resource="n_samples", cv=GroupKFold(3), max_resources=len(y))
    search.set_params(min_resources=60, factor=2).fit(X, y, groups=query)
    assert min(seen) < np.bincount(query).max() / 2  # parts of queries


@pytest.mark.filterwarnings("ignore::FutureWarning:optuna")
@pytest.mark.filterwarnings("ignore:.*optuna.*:FutureWarning")
def test_optuna(data):
    integration = pytest.importorskip("optuna_integration")
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    with pytest.warns(match="experimental"):
        search = integration.OptunaSearchCV(
            GroupedRanker(lightgbm(), group_by="q"),
            {"estimator__num_leaves": optuna.distributions.IntDistribution(2, 8)},
            scoring=make_ndcg_scorer(k=K, group_by="q", undefined=0),
            cv=GroupKFold(3), n_trials=3, random_state=0, error_score="raise",
        )  # fmt: skip
    search.fit(X, y, groups=query)
    model = GroupedRanker(lightgbm(**{k.split("__")[1]: v for k, v in search.best_params_.items()}))
    expected = []
    for train, test in GroupKFold(3).split(X, y, query):
        model.fit(X.iloc[train], y[train], groups=query[train])
        options = {"groups": query[test], "k": K, "undefined": 0}
        expected.append(ndcg_score(y[test], model.predict(X.iloc[test]), **options))
    assert search.best_score_ == pytest.approx(np.mean(expected))


def test_columns_of_catboost_as_a_list_cannot_be_cloned_and_a_tuple_can():
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


def test_a_pipeline_of_three_steps_keeps_them(data):
    pytest.importorskip("lightgbm")
    X, y, query = data
    pipeline = make_pipeline(StandardScaler(), StandardScaler(), lightgbm())
    fitted = GroupedRanker(pipeline, early_stopping=True).fit(X, y, groups=query)
    assert len(fitted.estimator_.steps) == 3
    assert fitted.predict(X).shape == (len(X),)
