"""QueryLeakWarning: a GroupedRanker is scored on queries whose other rows it was trained on.

Cut queries in tools are in test_tool_splits.py and test_misuse.py. pytest makes a warning that is
not expected an error.
"""

import numpy as np
import pandas as pd
import pytest
from helpers import graded_rows
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from sklearn_ndcg import (
    GroupedRanker,
    QueryLeakWarning,
    make_ndcg_scorer,
    one_ranking,
)

pytestmark = [  # of cut queries
    pytest.mark.filterwarnings("ignore:.*a single document"),
    pytest.mark.filterwarnings("ignore:NDCG is undefined"),
]
X, Y, QUERY = graded_rows()
WITH_IDS = np.c_[QUERY, X]
BY_COLUMN = make_ndcg_scorer(group_by=0, undefined=0.0)


def test_a_ranker_in_a_search_is_warned_of_once_per_fold():
    """The warnings do not also compare with the rows that the ranker was trained on."""
    search = GridSearchCV(
        GroupedRanker(Ridge(), group_by=0),
        {},
        scoring=BY_COLUMN,
        cv=KFold(2, shuffle=True, random_state=0),
        refit=False,
        return_train_score=True,
    )
    with pytest.warns(QueryLeakWarning, match="in the training set") as caught:
        search.fit(WITH_IDS, Y)
    assert len(caught) == 2  # none for the training rows
    search.set_params(cv=list(GroupKFold(2).split(X, Y, QUERY))).fit(WITH_IDS, Y)


# --- scored by hand


@pytest.fixture(scope="module")
def ranker():
    """A ranker that is trained on queries 0 to 14."""
    known = QUERY < 15
    return GroupedRanker(Ridge()).fit(X[known], Y[known], groups=QUERY[known])


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(np.flatnonzero(QUERY < 15)[::-1], id="in another order"),
        pytest.param(np.flatnonzero(QUERY < 5), id="some whole queries"),
        pytest.param(np.arange(len(Y)), id="beside new queries"),
    ],
)
def test_whole_queries_of_training_are_no_leak(rows, ranker):
    ranker.score(X.iloc[rows], Y[rows], groups=QUERY[rows])


def test_cut_queries_of_training_are_counted(ranker):
    assert ranker.query_ids_.tolist() == list(range(15))
    n_rows = np.bincount(QUERY)[0]
    rows = np.delete(np.arange(len(Y)), np.flatnonzero(QUERY == 0)[0])
    words = f"^1 of 20 scored queries .* query 0 has {n_rows - 1} here and {n_rows} there"
    with pytest.warns(QueryLeakWarning, match=words):
        ranker.score(X.iloc[rows], Y[rows], groups=QUERY[rows])


def test_ids_that_start_again_are_named_as_a_cause(ranker):
    """Another file, whose queries 0 to 9 are not those of training."""
    new = np.repeat(np.arange(10), 9)
    words = r"^10 of 10 .* training: query 0 has 9 here .* ids start again .* new ids\."
    with pytest.warns(QueryLeakWarning, match=words):
        ranker.score(X.iloc[: len(new)], Y[: len(new)], groups=new)
    ranker.score(X.iloc[: len(new)], Y[: len(new)], groups=100 + new)


def test_two_queries_of_training_are_compared():
    first, known = QUERY == 0, QUERY < 2
    ranker = GroupedRanker(Ridge()).fit(X[known], Y[known], groups=QUERY[known])
    with pytest.warns(QueryLeakWarning, match="query 0 has"):
        ranker.score(X[first][1:], Y[first][1:], groups=QUERY[first][1:])


def test_one_ranking_is_no_leak():
    GroupedRanker(Ridge(), group_by=one_ranking).fit(X[:50], Y[:50]).score(X[50:], Y[50:])


def test_ids_of_another_kind_are_no_leak():
    """The sessions of the scored users have the ids of the users in training."""
    rows, known = X.assign(user=QUERY, session=QUERY % 10), QUERY < 10
    ranker = GroupedRanker(Ridge(), group_by="user").fit(rows[known], Y[known])
    scorer = make_ndcg_scorer(group_by="session", undefined=0.0)
    scorer(ranker, rows[~known], Y[~known])


@pytest.mark.parametrize("dtype", [str, object])
def test_ids_of_another_type_are_no_leak(dtype, ranker):
    ranker.score(X[50:], Y[50:], groups=QUERY[50:].astype(str).astype(dtype))


# --- inside of Pipelines and searches


def test_a_ranker_inside_is_found(wrap):
    model = wrap(GroupedRanker(Ridge(), group_by=0)).fit(WITH_IDS[::2], Y[::2])
    BY_COLUMN(model, WITH_IDS[::2], Y[::2])
    with pytest.warns(QueryLeakWarning, match="QuerySplitter"):
        BY_COLUMN(model, WITH_IDS, Y)


def test_groups_of_training_and_the_column_of_a_scorer_are_the_same_ids():
    model = GroupedRanker(Ridge()).fit(WITH_IDS[::2], Y[::2], groups=QUERY[::2])
    BY_COLUMN(model, WITH_IDS[::2], Y[::2])
    with pytest.warns(QueryLeakWarning):
        BY_COLUMN(model, WITH_IDS, Y)


def test_a_frozen_ranker_is_found():
    frozen = FrozenEstimator(GroupedRanker(Ridge(), group_by=0).fit(WITH_IDS[::2], Y[::2]))
    with pytest.warns(QueryLeakWarning):
        BY_COLUMN(make_pipeline(frozen), WITH_IDS, Y)


def encoded(**options):
    """A Pipeline that encodes the column of ids."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, **options)
    steps = make_column_transformer((encoder, [0]), remainder="passthrough")
    return make_pipeline(steps, GroupedRanker(Ridge(), group_by=0))


def test_ids_that_an_encoder_has_changed_are_not_compared():
    known = QUERY >= 10  # whose ids become 0 to 9, those of the other queries
    model = encoded().fit(WITH_IDS[known], Y[known])
    BY_COLUMN(model, WITH_IDS[~known], Y[~known])


def test_ids_that_an_encoder_has_changed_are_not_compared_in_score():
    """`Pipeline.score` calls `GroupedRanker.score` with the ids that an encoder has made."""
    model = encoded(min_frequency=6).fit(WITH_IDS[QUERY < 15], Y[QUERY < 15])
    # fewer of the rare ids, which are one query now
    model.score(WITH_IDS[QUERY < 10], Y[QUERY < 10])


def test_ids_in_an_index_are_compared_in_the_score_of_a_pipeline():
    rows = X.set_index(pd.Index(QUERY, name="q"))
    scale = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scale, GroupedRanker(Ridge(), group_by="q")).fit(rows[::2], Y[::2])
    with pytest.warns(QueryLeakWarning):
        model.score(rows, Y)
