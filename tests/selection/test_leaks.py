"""QueryLeakWarning: queries are scored after training on their other rows."""

import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
from helpers import graded_rows
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
WITH_IDS, CUT = np.c_[QUERY, X], np.arange(len(Y)) % 3 == 0
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
    words = r"^The model was trained on other rows of .* scored queries \(\d+, "
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


@pytest.mark.parametrize(("trained", "scored"), [("user", "session"), ("session", "user")])
def test_a_ranker_trained_by_user_and_scored_by_session_is_no_leak(trained, scored):
    rows = X.assign(user=QUERY, session=np.arange(len(Y)) // 3)
    with no_leak():
        cross_validate(
            GroupedRanker(Ridge(), group_by=trained), rows, Y, error_score="raise",
            cv=QuerySplitter(3, group_by=trained), scoring=make_ndcg_scorer(group_by=scored, **OMIT),
        )  # fmt: skip


def test_rows_are_recognised_by_their_number_and_labels():
    X, query, half = np.arange(24.0)[:, None], np.repeat(np.arange(6), 4), np.arange(24) % 4 < 2
    y = np.tile([0, 1, 0, 1], 6)
    ranker = GroupedRanker(Ridge()).fit(X[half], y[half], groups=query[half])
    with no_leak():
        ranker.score(X[~half], y[~half], groups=query[~half])
    others = y.copy()
    others[2] = 1  # as many rows of query 0, but the labels add up to 1 more
    with pytest.warns(QueryLeakWarning, match=r"1 of the 6 scored queries.*\(0\)"):
        ranker.score(X[~half], others[~half], groups=query[~half])


@pytest.mark.parametrize(("in_fit", "in_score"), [("f4", "f8"), ("f8", "f4")])
def test_labels_of_another_precision_are_the_same_rows(in_fit, in_score):
    y = (Y / 10).astype(in_score)
    ranker = GroupedRanker(Ridge()).fit(X, (Y / 10).astype(in_fit), groups=QUERY)
    with no_leak():
        SCORER(ranker, X, y, groups=QUERY)
    with pytest.warns(QueryLeakWarning):
        SCORER(ranker, X[CUT], y[CUT], groups=QUERY[CUT])


def test_a_column_of_labels_is_compared_too():
    ranker = GroupedRanker(Ridge()).fit(X, Y, groups=QUERY)
    with pytest.warns(QueryLeakWarning):
        found = SCORER(ranker, X[CUT], Y[CUT][:, None], groups=QUERY[CUT])
    with pytest.warns(QueryLeakWarning):
        assert SCORER(ranker, X[CUT], Y[CUT], groups=QUERY[CUT]) == found


# --- inside of other estimators


RANKER = GroupedRanker(Ridge(), group_by=0)
CLASSIFIER = GroupedRanker(LogisticRegression(), group_by=0)
FINAL = GroupedRanker(Ridge(), group_by=1)
SCALED = make_pipeline(StandardScaler(), Ridge())
WRAPPERS = {
    "TransformedTargetRegressor": TransformedTargetRegressor(RANKER, func=np.log1p, inverse_func=np.expm1),
    "VotingRegressor": VotingRegressor([("a", Ridge()), ("b", RANKER)]),
    "VotingRegressor of Pipelines": VotingRegressor([("a", SCALED), ("b", make_pipeline(RANKER))]),
    "VotingClassifier": VotingClassifier([("a", CLASSIFIER)], voting="soft"),
    "StackingRegressor": StackingRegressor([("a", RANKER)], final_estimator=Ridge()),
    "StackingRegressor, final": StackingRegressor([("a", Ridge())], final_estimator=FINAL, passthrough=True),
    "BaggingRegressor": BaggingRegressor(RANKER, 3, random_state=0),
    "BaggingRegressor of parts": BaggingRegressor(RANKER, 3, max_samples=0.6, random_state=0),
    "AdaBoostRegressor": AdaBoostRegressor(RANKER, n_estimators=3, random_state=0),
    "CalibratedClassifierCV": CalibratedClassifierCV(CLASSIFIER, cv=2),
    "OneVsRestClassifier": OneVsRestClassifier(CLASSIFIER),
    "a search": GridSearchCV(TransformedTargetRegressor(make_pipeline(RANKER)), {}, cv=QuerySplitter(2, group_by=0)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRAPPERS)
def test_rankers_are_found_inside_of_other_estimators(name):
    # a final estimator is given predictions before the columns of X: its number is another
    ids = {} if "final" in name else {"group_by": 0}

    def cross_validated(cv):
        with sklearn.config_context(enable_metadata_routing=not ids):
            cross_validate(
                WRAPPERS[name], WITH_IDS, Y * 2, scoring=make_ndcg_scorer(**ids, **OMIT), cv=cv,
                params=None if ids else {"groups": QUERY}, error_score="raise",
                return_train_score=True,
            )  # fmt: skip

    with pytest.warns(QueryLeakWarning, match="QuerySplitter") as caught:
        cross_validated(KFold(4, shuffle=True, random_state=0))
    leaks = [each for each in caught if each.category is QueryLeakWarning]
    assert len(leaks) == 4  # one per fold, none for its training rows
    with no_leak():
        cross_validated(list(GroupKFold(4).split(X, Y, QUERY)))


class Wrapper(RegressorMixin, BaseEstimator):
    """A user's estimator, whose `estimator` was fitted to other rows before."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        self.models_ = {"only": GroupedRanker(Ridge(), group_by=0).fit(X, y)}
        self.itself_ = [self]
        return self

    def predict(self, X):
        return self.models_["only"].predict(X)


def test_only_what_was_fitted_inside_counts():
    first, scorer = QUERY < 10, make_ndcg_scorer(group_by=0, **OMIT)
    model = Wrapper(clone(RANKER).fit(WITH_IDS, Y)).fit(WITH_IDS[first], Y[first])
    with no_leak():
        scorer(model, WITH_IDS[CUT & ~first], Y[CUT & ~first])
    with pytest.warns(QueryLeakWarning, match=r"of the \d+ scored queries"):
        scorer(model, WITH_IDS[CUT & first], Y[CUT & first])


CONTAINERS = [list, tuple, lambda each: dict(enumerate(each)), lambda each: np.array(each, object)]


@pytest.mark.parametrize("container", CONTAINERS, ids=["list", "tuple", "dict", "array"])
def test_only_the_first_thousand_members_of_a_model_are_looked_at(container):
    model, scorer = Wrapper(None).fit(WITH_IDS, Y), make_ndcg_scorer(group_by=0, **OMIT)
    ranker = model.models_["only"]
    model.predict = ranker.predict
    model.models_ = container([None] * 999 + [ranker])
    with pytest.warns(QueryLeakWarning):
        scorer(model, WITH_IDS[CUT], Y[CUT])
    model.models_ = container([None] * 1000 + [ranker])
    with no_leak():
        scorer(model, WITH_IDS[CUT], Y[CUT])


def test_a_frozen_ranker_is_found():
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator(RANKER.fit(WITH_IDS, Y))
    inside = TransformedTargetRegressor(frozen).fit(WITH_IDS, Y)
    with pytest.warns(QueryLeakWarning):
        make_ndcg_scorer(group_by=0, **OMIT)(inside, WITH_IDS[CUT], Y[CUT])


def test_a_learner_of_skrub_is_looked_into():
    skrub = pytest.importorskip("skrub")
    ranker, rows, group_by = WAYS["level"]
    y = skrub.var("y", Y).skb.mark_as_y()
    plan = skrub.var("X", rows).skb.mark_as_X().skb.apply(ranker, y=y)
    scorer = make_ndcg_scorer(group_by=group_by, **OMIT)
    with pytest.warns(QueryLeakWarning):
        plan.skb.cross_validate(cv=KFold(4, shuffle=True, random_state=0), scoring=scorer)


def test_all_groups_may_be_columns_of_arrow():
    columns = [pa.array([1, 1, 2]), pa.array([1, 1, 1])]
    assert len(make_ndcg_scorer(all_groups=columns).all_groups.labels) == 2
