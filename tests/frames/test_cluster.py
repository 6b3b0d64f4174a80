"""A search on a Dask cluster gives the results of a local search, to the last bit."""

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import graded_rows
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer

pytestmark = pytest.mark.ci


def search(ids, X, y, query):
    """A fitted search, whose query ids are routed or a level of the index of X."""
    group_by = None if ids == "routed" else "query"
    X = X if ids == "routed" else X.set_index(pd.Index(query, name="query"))
    ranker = GroupedRanker(Ridge(), group_by=group_by)
    scoring = make_ndcg_scorer(group_by=group_by, k=5, undefined="omit")
    options = {"scoring": scoring, "cv": GroupKFold(4), "error_score": "raise"}
    with sklearn.config_context(enable_metadata_routing=ids == "routed"):
        grid = GridSearchCV(ranker, {"estimator__alpha": [0.1, 10, 1e3]}, **options)
        return grid.fit(X, y, groups=query)


def n_executed(client):
    """How many tasks the workers have run."""
    return sum(client.run(lambda dask_worker: dask_worker.state.executed_count).values())


@pytest.mark.parametrize("ids", ["routed", "index level"])
def test_search_on_a_cluster_equals_the_local_search(client, ids):
    X, y, query = graded_rows(60, (2, 11), n_grades=5)
    local, before = search(ids, X, y, query), n_executed(client)
    with client.as_current(), joblib.parallel_config(backend="dask"):
        on_cluster = search(ids, X, y, query)
    assert n_executed(client) > before
    assert set(local.cv_results_) == set(on_cluster.cv_results_)
    for key, values in local.cv_results_.items():
        if not key.endswith("_time"):
            np.testing.assert_array_equal(on_cluster.cv_results_[key], values, err_msg=key)
    assert len(set(local.cv_results_["mean_test_score"])) > 1
    np.testing.assert_array_equal(on_cluster.predict(X), local.predict(X))
