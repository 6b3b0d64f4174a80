"""QueryLeakWarning: queries that are scored after training on other rows of theirs."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ndcg import (
    GroupedRanker,
    QueryLeakWarning,
    QuerySplitter,
    make_ndcg_scorer,
    one_ranking,
)

NO_WARNING = {"undefined": 0.0}


@pytest.fixture(name="data")
def _data():
    rng = np.random.default_rng(0)
    query = rng.permutation(np.repeat(np.arange(30), rng.integers(3, 9, size=30)))
    X = pd.DataFrame(rng.normal(size=(len(query), 3)), columns=list("abc"))
    y = np.clip(np.round(X["a"] + rng.normal(size=len(query)) + 1), 0, 3).to_numpy(int)
    return X, y, query


def ways(X, query):
    yield GroupedRanker(Ridge(), group_by="q"), X.assign(q=query), "q", {}
    yield GroupedRanker(Ridge(), group_by="q"), X.set_index(pd.Index(query, name="q")), "q", {}
    yield GroupedRanker(Ridge(), group_by=["q", "r"]), X.assign(q=query, r="x"), ["q", "r"], {}
    routed = make_pipeline(StandardScaler(), GroupedRanker(Ridge()))
    yield routed, X, None, {"groups": query}
    yield GroupedRanker(make_pipeline(StandardScaler(), Ridge())), X, None, {"groups": query}


@pytest.mark.parametrize("way", range(5))
@pytest.mark.parametrize("train_score", [False, True])
def test_a_search_over_split_queries_warns_and_one_over_whole_queries_does_not(
    way, train_score, data
):
    X, y, query = data
    ranker, X, group_by, metadata = list(ways(X, query))[way]
    with sklearn.config_context(enable_metadata_routing=bool(metadata)):
        search = GridSearchCV(
            ranker, {}, scoring=make_ndcg_scorer(group_by=group_by, **NO_WARNING), refit=False,
            cv=KFold(3, shuffle=True, random_state=0), error_score="raise",
            return_train_score=train_score,
        )  # fmt: skip
        with pytest.warns(QueryLeakWarning, match=r"of the \d+ queries.*QuerySplitter") as caught:
            search.fit(X, y, **metadata)
        assert len(caught) == 3  # one per fold, none for its training rows
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            search.set_params(cv=list(GroupKFold(3).split(X, y, query)))
            search.fit(X, y, **metadata)


def test_scoring_the_training_rows_or_other_queries_is_no_leak(data):
    X, y, query = data
    known = query < 20
    ranker = GroupedRanker(Ridge()).fit(X[known], y[known], groups=query[known])
    assert ranker.query_ids_.tolist() == list(range(20))
    order = np.random.default_rng(1).permutation(known.sum())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "NDCG is undefined")
        ranker.score(X[known], y[known], groups=query[known])
        ranker.score(X[known].iloc[order], y[known][order], groups=query[known][order])
        ranker.score(X, y, groups=query)  # the training rows beside other queries
        ranker.score(X[query < 5], y[query < 5], groups=query[query < 5])  # some of them, whole
    half = known & (np.arange(len(y)) % 2 == 0)
    warnings.filterwarnings("ignore", "NDCG is undefined")
    with pytest.warns(QueryLeakWarning, match=r"queries.*trained on with other rows \(\d+, "):
        ranker.score(X[half], y[half], groups=query[half])


def test_one_ranking_and_ids_of_another_type_are_no_leak(data):
    X, y, query = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ranker, groups in (
            (GroupedRanker(Ridge(), group_by=one_ranking).fit(X[:50], y[:50]), None),
            (GroupedRanker(Ridge()).fit(X[:50], y[:50], groups=query[:50]), query[50:].astype(str)),
        ):
            warnings.filterwarnings("ignore", "NDCG is undefined")
            ranker.score(X[50:], y[50:], groups=groups)


@pytest.mark.parametrize("labels", ["text", "dates", "floats"])
def test_ids_of_any_type_are_known_again(labels, data):
    X, y, query = data
    ids = {"text": query.astype(str).astype(object), "floats": query / 2,
           "dates": np.datetime64("2012-03-01") + query}[labels]  # fmt: skip
    ranker = GroupedRanker(Ridge()).fit(X[:60], y[:60], groups=ids[:60])
    with pytest.warns(QueryLeakWarning):
        make_ndcg_scorer(**NO_WARNING)(ranker, X[60:], y[60:], groups=ids[60:])


def test_a_new_fit_forgets_the_queries_of_the_last(data):
    X, y, query = data
    ranker = GroupedRanker(Ridge()).fit(X[:60], y[:60], groups=query[:60])
    ranker.fit(X, y)
    assert not hasattr(ranker, "query_ids_")


@pytest.mark.parametrize(("trained", "scored"), [("user", "session"), ("session", "user")])
def test_a_ranker_trained_by_user_and_scored_by_session_is_no_leak(data, trained, scored):
    X, y, query = data
    X = X.assign(user=query, session=np.arange(len(y)) // 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_validate(
            GroupedRanker(Ridge(), group_by=trained), X, y, cv=QuerySplitter(3, group_by=trained),
            scoring=make_ndcg_scorer(group_by=scored, **NO_WARNING), error_score="raise",
        )  # fmt: skip


def test_other_rows_whose_labels_add_up_to_1_more_are_a_leak():
    X, query = np.arange(24.0)[:, None], np.repeat(np.arange(6), 4)
    y = np.tile([0, 1, 2, 0], 6)
    ranker = GroupedRanker(Ridge()).fit(X, y, groups=query)
    others = y.copy()
    others[3] = 1  # as many rows of query 0, but not those
    with pytest.warns(QueryLeakWarning, match=r"1 of the 6 queries.*\(0\)"):
        ranker.score(X, others, groups=query)
