"""QueryLeakWarning: queries are scored after training on their other rows."""

import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
from helpers import graded_rows
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from sklearn_ndcg import (
    GroupedRanker,
    QueryLeakWarning,
    QuerySplitter,
    make_ndcg_scorer,
    one_ranking,
)

pytestmark = [  # of cut queries
    pytest.mark.filterwarnings("ignore:.*a single document"),
    pytest.mark.filterwarnings("ignore:NDCG is undefined"),
]
X, Y, QUERY = graded_rows()
WITH_IDS = np.c_[QUERY, X]
OMIT = {"undefined": 0.0}  # a part of a query may have no relevant document
SCORER = make_ndcg_scorer(**OMIT)


@contextmanager
def no_leak():
    """Make a QueryLeakWarning an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "NDCG is undefined|.*a single document")
        yield


AROUND = GroupedRanker(make_pipeline(StandardScaler(), Ridge()))
WAYS = {  # a ranker, X, and group_by of the scorer
    "column": (GroupedRanker(Ridge(), group_by="q"), X.assign(q=QUERY), "q"),
    "level": (GroupedRanker(Ridge(), group_by="q"), X.set_index(pd.Index(QUERY, name="q")), "q"),
    "columns": (GroupedRanker(Ridge(), group_by=["q", "r"]), X.assign(q=QUERY, r="x"), ["q", "r"]),
    "routed": (make_pipeline(StandardScaler(), GroupedRanker(Ridge())), X, None),
    "routed, around a Pipeline": (AROUND, X, None),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_search_over_split_queries_warns_and_one_over_whole_queries_does_not(way):
    ranker, rows, group_by = WAYS[way]
    metadata = {} if group_by else {"groups": QUERY}
    with sklearn.config_context(enable_metadata_routing=bool(metadata)):
        search = GridSearchCV(
            ranker, {}, scoring=make_ndcg_scorer(group_by=group_by, **OMIT), refit=False,
            cv=KFold(3, shuffle=True, random_state=0), error_score="raise",
            return_train_score=True,
        )  # fmt: skip
        words = r"of the \d+ scored queries.*, with QuerySplitter around"
        with pytest.warns(QueryLeakWarning, match=words) as caught:
            search.fit(rows, Y, **metadata)
        assert len(caught) == 3  # one per fold, none for its training rows
        assert caught[0].filename == __file__
        search.set_params(cv=list(GroupKFold(3).split(X, Y, QUERY)))
        with no_leak():
            search.fit(rows, Y, **metadata)


def test_scoring_the_training_rows_or_other_queries_is_no_leak():
    known = QUERY < 15
    ranker = GroupedRanker(Ridge()).fit(X[known], Y[known], groups=QUERY[known])
    assert ranker.query_ids_.tolist() == list(range(15))
    order = np.random.default_rng(1).permutation(known.sum())
    with no_leak():
        ranker.score(X[known], Y[known], groups=QUERY[known])
        ranker.score(X[known].iloc[order], Y[known][order], groups=QUERY[known][order])
        ranker.score(X, Y, groups=QUERY)  # the training rows beside other queries
        ranker.score(X[QUERY < 5], Y[QUERY < 5], groups=QUERY[QUERY < 5])  # some of them, whole
    half = known & (np.arange(len(Y)) % 2 == 0)
    words = (
        r"^\d+ of the \d+ scored queries have another number of rows than in training: query 0 has"
    )
    with pytest.warns(QueryLeakWarning, match=words):
        ranker.score(X[half], Y[half], groups=QUERY[half])


def test_one_ranking_and_ids_of_another_type_are_no_leak():
    one = GroupedRanker(Ridge(), group_by=one_ranking).fit(X[:50], Y[:50])
    several = GroupedRanker(Ridge()).fit(X[:50], Y[:50], groups=QUERY[:50])
    with no_leak():
        one.score(X[50:], Y[50:])
        several.score(X[50:], Y[50:], groups=QUERY[50:].astype(str))


@pytest.mark.parametrize(
    "convert",
    [lambda q: q.astype(str).astype(object), lambda q: q / 2, lambda q: np.datetime64("2012-03-01") + q],
    ids=["text", "floats", "dates"],
)  # fmt: skip
def test_ids_of_any_type_are_known_again(convert):
    ids = convert(QUERY)
    ranker = GroupedRanker(Ridge()).fit(X[:60], Y[:60], groups=ids[:60])
    with pytest.warns(QueryLeakWarning):
        SCORER(ranker, X[60:], Y[60:], groups=ids[60:])


@pytest.mark.parametrize("trained", ["user", "session"])
def test_a_ranker_trained_by_user_or_session_and_split_by_user_is_scored_by_session(trained):
    first_half = np.random.default_rng(0).random(len(Y)) < 0.5
    rows = X.assign(user=QUERY, session=2 * QUERY + first_half)
    with no_leak():
        cross_validate(
            GroupedRanker(Ridge(), group_by=trained), rows, Y, error_score="raise",
            cv=QuerySplitter(3, group_by="user"), scoring=make_ndcg_scorer(group_by="session", **OMIT),
        )  # fmt: skip


def test_rows_are_recognised_by_their_number():
    X, query, half = np.arange(24.0)[:, None], np.repeat(np.arange(6), 4), np.arange(24) % 4 < 2
    y = np.tile([0, 1, 0, 1], 6)
    ranker = GroupedRanker(Ridge()).fit(X[half], y[half], groups=query[half])
    with no_leak():
        ranker.score(X[~half], y[~half], groups=query[~half])
    half[2] = True
    with pytest.warns(QueryLeakWarning, match=r"1 of the 6 scored queries .* 0 has 3 here and 2"):
        ranker.score(X[half], y[half], groups=query[half])


# --- inside of Pipelines and searches

RANKER = GroupedRanker(Ridge(), group_by=0)
WHOLE = QuerySplitter(2, group_by=0)
NESTED = {
    "a Pipeline of a Pipeline": make_pipeline(make_pipeline(RANKER)),
    "a search": GridSearchCV(RANKER, {}, cv=WHOLE),
    "a search of a Pipeline": GridSearchCV(make_pipeline(RANKER), {}, cv=WHOLE),
    "a Pipeline of a search": make_pipeline(GridSearchCV(RANKER, {}, cv=WHOLE)),
    "a frozen ranker": make_pipeline(FrozenEstimator(clone(RANKER).fit(WITH_IDS[::2], Y[::2]))),
}


@pytest.mark.parametrize("name", NESTED)
def test_rankers_are_found_inside_of_pipelines_and_searches(name):
    some = np.arange(len(Y)) % 2 == 0
    scorer = make_ndcg_scorer(group_by=0, **OMIT)
    model = NESTED[name].fit(WITH_IDS[some], Y[some])
    with no_leak():
        scorer(model, WITH_IDS[some], Y[some])
    with pytest.warns(QueryLeakWarning, match="QuerySplitter"):
        scorer(model, WITH_IDS, Y)


def test_ids_that_an_encoder_has_changed_are_not_compared():
    encode = make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), [0]),
        remainder="passthrough",
    )
    # the ids 5, 10, 15, ... become 0, 1, 2, ...
    rows = np.c_[QUERY * 5, X]
    model = make_pipeline(encode, GroupedRanker(Ridge(), group_by=0))
    with no_leak():
        cross_validate(
            model, rows, Y, scoring=make_ndcg_scorer(group_by=0, **OMIT), error_score="raise",
            cv=QuerySplitter(3, group_by=0),
        )  # fmt: skip


def test_ids_that_a_pipeline_has_changed_are_not_compared_by_its_score():
    """`Pipeline.score` calls `GroupedRanker.score` with the ids that an encoder has made."""
    rare = OrdinalEncoder(min_frequency=6, handle_unknown="use_encoded_value", unknown_value=-1)
    encode = make_column_transformer((rare, [0]), remainder="passthrough")
    model = make_pipeline(encode, GroupedRanker(Ridge(), group_by=0))
    model.fit(WITH_IDS[QUERY < 15], Y[QUERY < 15])
    with no_leak():  # fewer of the rare ids, which are one query now
        model.score(WITH_IDS[QUERY < 10], Y[QUERY < 10])
    ids_in_index = X.set_index(pd.Index(QUERY, name="q"))
    scale = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scale, GroupedRanker(Ridge(), group_by="q")).fit(
        ids_in_index[::2], Y[::2]
    )
    with pytest.warns(QueryLeakWarning):
        model.score(ids_in_index, Y)


def test_all_groups_may_be_columns_of_arrow():
    columns = [pa.array([1, 1, 2]), pa.array([1, 1, 1])]
    assert len(make_ndcg_scorer(all_groups=columns).all_groups.labels) == 2
