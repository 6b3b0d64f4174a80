"""GroupedRanker around Pipelines and searches and inside of them, with and without routing."""

import pickle
from inspect import signature

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import Qid, Recorder, Sizes, booster, by_first_rows, graded_rows
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer, ndcg_score

X, Y, QUERY = graded_rows()
ORDER, _, SIZES = by_first_rows(QUERY)
WEIGHT = np.random.default_rng(0).random(len(Y))


def last_of(fitted):
    """The last step of a Pipeline, or the estimator itself."""
    return getattr(fitted, "steps", [("", fitted)])[-1][1]


# --- around a Pipeline


def test_around_a_pipeline_the_last_step_gets_the_groups():
    inner = make_pipeline(StandardScaler(), FunctionTransformer(), Sizes())
    ranker = GroupedRanker(inner).fit(X, Y, groups=QUERY)
    given = ranker.estimator_[-1].given_
    scaled = StandardScaler().fit_transform(X.iloc[ORDER])
    np.testing.assert_allclose(given["X"], scaled, rtol=1e-13)
    np.testing.assert_array_equal(given["group"], SIZES)
    np.testing.assert_allclose(ranker.predict(X), StandardScaler().fit(X).transform(X)[:, 0])
    assert not hasattr(inner[0], "mean_")  # the one that was passed stays unfitted


def test_transform_input_of_a_pipeline(routing):
    boosting = HistGradientBoostingRegressor(early_stopping=True, min_samples_leaf=5)
    if "X_val" not in signature(boosting.fit).parameters:
        pytest.skip("scikit-learn is too old")
    boosting.set_fit_request(X_val=True, y_val="truth")
    pipeline = make_pipeline(StandardScaler(), boosting, transform_input=["X_val"])
    rng, rows = np.random.default_rng(0), 9 * X.to_numpy()
    given = {"X_val": rng.normal(size=(40, 3)) + 5, "truth": rng.integers(0, 3, 40)}
    expected = clone(pipeline).fit(rows, Y, **given)
    ranker = GroupedRanker(pipeline).fit(rows, Y, groups=QUERY, **given)
    assert ranker.estimator_[-1].n_iter_ == expected[-1].n_iter_
    np.testing.assert_array_equal(ranker.predict(rows), expected.predict(rows))
    stops = GroupedRanker(pipeline, early_stopping=True)
    for refuses in (ranker.set_params(estimator__transform_input=None), stops):
        with pytest.raises(ValueError, match="X_val, y_val cannot be passed"):
            refuses.fit(rows, Y, groups=QUERY, **given)
    with pytest.raises(ValueError, match="X_val, y_val cannot be passed: the column 'q' would be"):
        GroupedRanker(pipeline, group_by="q").fit(X.assign(q=QUERY), Y, **given)


def test_samplers_are_refused():
    class Sampler(BaseEstimator):
        def fit_resample(self, X, y):
            return X[::2], y[::2]

    inner = Pipeline([("scale", StandardScaler()), ("thin", Sampler()), ("ridge", Ridge())])
    with pytest.raises(TypeError, match="Step 'thin' .*samplers are not supported.*max_queries"):
        GroupedRanker(inner).fit(X, Y, groups=QUERY)


# --- around a FrozenEstimator, whose clone is the same object


def state_of(frozen):
    return pickle.dumps((vars(frozen), vars(frozen.estimator)))


@pytest.mark.parametrize("is_last", [True, False])
def test_a_frozen_step_stays_as_it_was(is_last):
    """Also while the Pipeline is fitted, as other threads may use it."""
    rows = X.to_numpy()
    frozen = FrozenEstimator((Ridge() if is_last else StandardScaler()).fit(rows, Y))
    before, states = state_of(frozen), []
    look = FunctionTransformer(lambda X: states.append(state_of(frozen)) or X)
    ranker = GroupedRanker(make_pipeline(look, frozen, *([] if is_last else [Ridge()])))
    expected = clone(ranker.estimator).fit(rows, Y).predict(rows)
    np.testing.assert_allclose(ranker.fit(rows, Y).predict(rows), expected)
    with pytest.raises(ValueError, match="infinity|NaN"):
        ranker.fit(np.where(rows > 0, np.inf, rows), Y).predict(rows * np.nan)
    assert {*states, state_of(frozen)} == {before}


def test_a_frozen_estimator_cannot_be_stopped_early():
    boosting = HistGradientBoostingRegressor(max_iter=2).fit(X, Y)
    inner = make_pipeline(FrozenEstimator(boosting))
    ranker = GroupedRanker(inner, early_stopping=True)
    with pytest.raises(ValueError, match="cannot stop FrozenEstimator: its clone is"):
        ranker.fit(X, Y, groups=QUERY)


# --- around an estimator that has a ranker inside


@pytest.mark.parametrize("routed", [False, True])
def test_groups_that_do_not_reach_a_ranker_inside_are_an_error(routed):
    inner = make_pipeline("passthrough", TransformedTargetRegressor(Sizes()))
    words = r"Sizes inside TransformedTargetRegressor: there, put GroupedRanker"
    with (
        sklearn.config_context(enable_metadata_routing=routed),
        pytest.raises(ValueError, match=f"groups do not reach {words}"),
    ):
        GroupedRanker(inner, group_by="q").fit(X.assign(q=QUERY), Y)


def test_a_ranker_inside_may_find_its_groups():
    inner = TransformedTargetRegressor(GroupedRanker(Sizes(), group_by="q"))
    table = X.set_index(pd.Index(QUERY, name="q"))
    ranker = GroupedRanker(inner, max_queries=5, random_state=0).fit(table, Y, groups=QUERY)
    assert len(ranker.estimator_.regressor_.estimator_.given_["group"]) == 5


class TakesIds(Recorder):
    def fit(self, X, y, qid=None):
        return self._record(X, y, qid=qid)


def test_groups_may_be_routed_to_a_ranker_inside(routing):
    search = GridSearchCV(TakesIds().set_fit_request(qid="groups"), {}, cv=GroupKFold(2))
    best = GroupedRanker(search).fit(X, Y, groups=QUERY).estimator_.best_estimator_
    np.testing.assert_array_equal(best.given_["qid"], QUERY)


# --- as the last step of a Pipeline


LAST = make_pipeline(StandardScaler(), GroupedRanker(Sizes()))


def test_groups_reach_the_last_step_as_a_fit_parameter():
    fitted = clone(LAST).fit(X, Y, groupedranker__groups=QUERY)
    np.testing.assert_array_equal(fitted[-1].estimator_.given_["group"], SIZES)


def test_groups_reach_the_last_step_by_routing(routing):
    fitted = clone(LAST).fit(X, Y, groups=QUERY)
    np.testing.assert_array_equal(fitted[-1].estimator_.given_["group"], SIZES)


# --- routing


@pytest.mark.parametrize(
    ("steps", "request_", "name"),
    [([], "start", "start"), ([FunctionTransformer()], True, "init_score")],
    ids=["alone, alias", "Pipeline"],
)
def test_routing_of_what_the_last_step_requests(steps, request_, name, routing):
    inner = make_pipeline(*steps, Sizes().set_fit_request(init_score=request_))
    ranker = GroupedRanker(inner if steps else inner[0]).set_fit_request(sample_weight=True)
    pipeline = make_pipeline(FunctionTransformer(), ranker)
    pipeline.fit(X, Y, groups=QUERY, sample_weight=WEIGHT, **{name: np.arange(len(Y))})
    given = last_of(ranker.estimator_).given_
    np.testing.assert_array_equal(given["init_score"], ORDER)
    np.testing.assert_array_equal(given["sample_weight"], WEIGHT[ORDER])


def test_routing_of_what_the_last_step_refuses(routing):
    sizes = Sizes().set_fit_request(init_score=False, sample_weight=False)
    inner = make_pipeline(FunctionTransformer(), sizes)
    ranker = GroupedRanker(inner).fit(X, Y, WEIGHT, groups=QUERY, init_score=np.arange(len(Y)))
    given = last_of(ranker.estimator_).given_
    assert not {"sample_weight", "init_score"} & given.keys()
    np.testing.assert_array_equal(given["group"], SIZES)


def test_routing_of_what_nothing_requests_goes_to_the_last_step(routing):
    """CatBoost and others cannot request fit parameters."""
    ranker = GroupedRanker(make_pipeline(FunctionTransformer(), Sizes()))
    ranker.fit(X, Y, groups=QUERY, init_score=np.arange(len(Y)))
    np.testing.assert_array_equal(ranker.estimator_[-1].given_["init_score"], ORDER)


def test_routing_of_sample_weight_needs_no_request_of_the_inner_estimator(routing):
    ranker = GroupedRanker(Qid()).set_fit_request(sample_weight=True)
    pipeline = make_pipeline(FunctionTransformer(), ranker)
    pipeline.fit(X, Y, groups=QUERY, sample_weight=WEIGHT)
    assert len(pipeline[-1].estimator_.given_["sample_weight"]) == len(np.unique(QUERY))
    asked = ["groups", "sample_weight", "cat_features"]
    assert GroupedRanker(Ridge()).get_metadata_routing().consumes("fit", asked) == {"groups"}


class Weighted(TransformerMixin, BaseEstimator):
    """Remembers the rows and the metadata that `fit` was given."""

    def fit(self, X, y=None, sample_weight=None, groups=None, note=None):
        self.given_ = {"X": X, "sample_weight": sample_weight, "groups": groups, "note": note}
        return self

    def transform(self, X):
        return X


def test_routing_of_what_steps_inside_request(routing):
    text = np.char.mod("q%03d", QUERY)
    step = Weighted().set_fit_request(sample_weight=True, groups=True, note="remark")
    ranker = GroupedRanker(make_pipeline(step, Qid())).set_fit_request(sample_weight=True)
    expected = {"sample_weight": WEIGHT, "groups": text, "note": 1 - WEIGHT}
    pipeline = make_pipeline(FunctionTransformer(), ranker)
    inner = pipeline.fit(X, Y, groups=text, sample_weight=WEIGHT, remark=1 - WEIGHT)[-1].estimator_
    given = {name: inner[0].given_[name] for name in expected}
    np.testing.assert_equal(given, {name: values[ORDER] for name, values in expected.items()})
    assert len(inner[-1].given_["sample_weight"]) == len(np.unique(QUERY))
    assert "groups" not in inner[-1].given_


def test_routing_of_sample_weight_to_a_step_leaves_out_held_out_rows(routing):
    step = StandardScaler().set_fit_request(sample_weight=True)
    inner = make_pipeline(step, booster("lightgbm", rounds=2))
    ranker = GroupedRanker(
        inner, early_stopping=True, validation="last", validation_fraction=0.2
    ).fit(X, Y, WEIGHT, groups=QUERY)
    trained = QUERY < 16
    expected = np.average(X[trained], axis=0, weights=WEIGHT[trained])
    np.testing.assert_allclose(ranker.estimator_[0].mean_, expected, rtol=1e-12)


def test_routing_of_sample_weight_to_a_step_alone(routing):
    step = StandardScaler().set_fit_request(sample_weight=True)
    ranker = GroupedRanker(make_pipeline(step, Sizes())).set_fit_request(sample_weight=False)
    inner = make_pipeline(ranker).fit(X, Y, sample_weight=WEIGHT, groups=QUERY)[0].estimator_
    assert "sample_weight" not in inner[-1].given_
    np.testing.assert_allclose(inner[0].mean_, np.average(X, axis=0, weights=WEIGHT), rtol=1e-12)


def test_routing_of_sample_weight_that_a_step_has_not_requested(routing):
    ranker = GroupedRanker(make_pipeline(StandardScaler(), Sizes()))
    with pytest.raises(UnsetMetadataPassedError, match="StandardScaler"):
        ranker.fit(X, Y, sample_weight=WEIGHT, groups=QUERY)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    ranker.set_params(estimator__standardscaler=scaler)
    given = ranker.fit(X, Y, sample_weight=WEIGHT, groups=QUERY).estimator_[-1].given_
    np.testing.assert_array_equal(given["sample_weight"], WEIGHT[ORDER])
    assert ranker.estimator[0].get_metadata_routing().fit.requests == {"sample_weight": False}


# --- searches


@pytest.mark.parametrize("group_by", [None, "q"])
def test_groups_and_group_by_reach_a_search_inside(group_by, routing):
    table = X.set_index(pd.Index(QUERY, name="q"))
    search = GridSearchCV(
        Ridge(), {"alpha": [1, 10, 100]}, scoring=make_ndcg_scorer(), cv=GroupKFold(3)
    )
    expected = clone(search).fit(X.iloc[ORDER], Y[ORDER], groups=QUERY[ORDER]).cv_results_
    pipeline = make_pipeline(GroupedRanker(search, group_by=group_by))
    pipeline.fit(table if group_by else X, Y, **({} if group_by else {"groups": QUERY}))
    found = pipeline[-1].estimator_.cv_results_
    np.testing.assert_allclose(found["mean_test_score"], expected["mean_test_score"])


def test_score_serves_a_search_without_a_scorer(routing):
    search = GridSearchCV(GroupedRanker(Ridge(), k=3), {"estimator__alpha": [1]}, cv=GroupKFold(4))
    search.fit(X, Y, groups=QUERY)
    for fold, (train, test) in enumerate(GroupKFold(4).split(X, Y, QUERY)):
        s = Ridge().fit(X.iloc[train], Y[train]).predict(X.iloc[test])
        expected = ndcg_score(Y[test], s, groups=QUERY[test], k=3)
        assert search.cv_results_[f"split{fold}_test_score"][0] == pytest.approx(expected)
