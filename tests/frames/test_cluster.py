"""A search on a Dask cluster gives the results of a local search, to the last bit."""

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import graded_rows
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.utils.parallel import Parallel, delayed

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer

pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.ci


@pytest.fixture(autouse=True)
def current(client):
    with client.as_current():
        yield


@pytest.fixture(scope="module")
def data():
    return graded_rows(60, (2, 11), n_grades=5)


def search(data, way):
    """A fitted search, with query ids where `way` says."""
    X, y, query = data
    group_by = None if way == "routed" else "query"
    X = X if way == "routed" else X.set_index(pd.Index(query, name="query"))
    ranker = GroupedRanker(Ridge(), group_by=group_by)
    scoring = make_ndcg_scorer(group_by=group_by, k=5, undefined="omit")
    options = {"scoring": scoring, "cv": GroupKFold(4), "error_score": "raise"}
    with sklearn.config_context(enable_metadata_routing=way == "routed"):
        found = GridSearchCV(ranker, {"estimator__alpha": [0.1, 10, 1e3]}, **options)
        return found.fit(X, y, groups=query)


def executed(client):
    """How many tasks the workers have run."""
    return sum(client.run(lambda dask_worker: dask_worker.state.executed_count).values())


@pytest.mark.parametrize("way", ["routed", "index level"])
def test_search_on_a_cluster_equals_the_local_search(client, data, way):
    local = search(data, way)
    before = executed(client)
    with joblib.parallel_config(backend="dask"):
        on_cluster = search(data, way)
    assert executed(client) > before
    assert set(local.cv_results_) == set(on_cluster.cv_results_)
    for key, values in local.cv_results_.items():
        if not key.endswith("_time"):
            np.testing.assert_array_equal(on_cluster.cv_results_[key], values, err_msg=key)
    assert len(set(local.cv_results_["mean_test_score"])) > 1
    assert on_cluster.best_params_ == local.best_params_
    np.testing.assert_array_equal(on_cluster.predict(data[0]), local.predict(data[0]))


def test_routing_goes_with_the_tasks_of_scikit_learn(client):
    def routing():
        return sklearn.get_config()["enable_metadata_routing"]

    with sklearn.config_context(enable_metadata_routing=True), joblib.parallel_config("dask"):
        assert Parallel()(delayed(routing)() for _ in range(4)) == [True] * 4
        assert joblib.Parallel()(joblib.delayed(routing)() for _ in range(4)) == [False] * 4
    assert set(client.run(routing).values()) == {False}


def test_an_error_on_a_worker_is_the_local_error(client, data):
    X, y, query = data
    options = {"scoring": make_ndcg_scorer(), "cv": GroupKFold(3), "error_score": "raise"}
    ungrouped = GridSearchCV(Ridge(), {"alpha": [1]}, **options)
    with joblib.parallel_config("dask"), pytest.raises(ValueError, match="got no groups"):
        ungrouped.fit(X, y, groups=query)
