"""The scorers: where ids come from, what an estimator's output means, scikit-learn's tools."""

import pickle
import warnings
from copy import deepcopy
from fractions import Fraction
from typing import Unpack, get_type_hints

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from helpers import FirstColumn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import average_precision_score, make_scorer, recall_score, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from sklearn_ndcg import (
    GroupedRanker,
    QuerySplitter,
    dcg_score,
    jarvelin_kekalainen,
    make_dcg_scorer,
    make_ndcg_scorer,
    make_query_scorer,
    ndcg_score,
    one_ranking,
)
from sklearn_ndcg._metrics.measure import Measure, MeasureOptions, NDCGOptions

# --- where the ids come from


def frames(X, query):
    """X with its ids, and the group_by that finds them."""
    named = X.assign(q=query)
    yield named, "q"
    yield X.set_index(pd.Index(query, name="q")), "q"
    yield X.set_index([pd.Index(query, name="q"), pd.Index(range(len(X)), name="doc")]), "q"
    yield pl.DataFrame({name: named[name].to_numpy() for name in named}), "q"
    yield pa.table({name: named[name].to_numpy() for name in named}), "q"
    yield named.to_numpy(), 3
    yield named.to_numpy(), -1
    yield named.to_numpy().tolist(), 3
    yield sparse.csr_array(named.to_numpy()), 3
    yield sparse.coo_matrix(named.to_numpy()), np.int64(3)
    yield X.to_numpy(), lambda X: query
    yield named.rename(columns={"q": 7}), 7
    yield named["a"].set_axis(pd.Index(query, name="q")), "q"


@pytest.mark.parametrize("index", range(13))
def test_group_by_finds_the_ids(data, index):
    X, y, query = data
    table, group_by = list(frames(X, query))[index]
    scorer = make_ndcg_scorer(k=3, group_by=group_by)
    expected = ndcg_score(y, X["a"], groups=query, k=3)
    assert scorer(FirstColumn(), table, y) == expected


def test_group_by_wins_over_routed_groups(data):
    X, y, query = data
    scorer = make_ndcg_scorer(group_by=lambda X: query)
    expected = ndcg_score(y, X["a"], groups=query)
    assert scorer(FirstColumn(), X, y, groups=np.arange(len(y)) % 2) == expected
    in_another_order = pd.Series(query, index=X.index[::-1])
    assert scorer(FirstColumn(), X, y, groups=in_another_order) == expected


def test_a_weight_passed_by_place_weighs(data):
    X, y, query = data
    weight = 1.0 + query % 5
    expected = ndcg_score(y, X["a"], groups=query, sample_weight=weight)
    assert expected != ndcg_score(y, X["a"], groups=query)
    routed, by_level = make_ndcg_scorer(), make_ndcg_scorer(group_by="q")
    X_level = X.set_index(pd.Index(query, name="q"))
    for scorer in (routed, routed.score):
        assert scorer(FirstColumn(), X, y, weight, groups=query) == expected
        with pytest.raises(TypeError, match="positional"):
            scorer(FirstColumn(), X, y, weight, query)
    assert by_level(FirstColumn(), X_level, y, weight) == expected
    importances = permutation_importance(
        FirstColumn(), X_level, y, scoring=by_level, sample_weight=weight, n_repeats=1
    ).importances[:, 0]
    np.testing.assert_array_equal(importances[1:], 0)  # columns that are not used


def test_one_ranking(data):
    X, y, _ = data
    scorer = make_ndcg_scorer(group_by=one_ranking)
    expected = ndcg_score([y], [X["a"]])
    for table in (X, X.to_numpy(), X.to_numpy().tolist(), sparse.csr_array(X)):
        assert scorer(FirstColumn(), table, y) == pytest.approx(expected, rel=1e-15)


LOST = {
    "no groups": (None, lambda X: X, "got no groups.*enable_metadata_routing.*group_by=one_ranking"),
    "no such name": ("query", lambda X: X, r"group_by='query' names none of the columns \['a', 'b', 'c'\]"),
    "no such name, index": ("b", lambda X: X[["a"]].rename_axis("i"), r"\['a'\] and index levels \['i'\] of X"),
    "column and level": ("a", lambda X: X.rename_axis("a"), r"names 2 of the columns .*index levels \['a'\]"),
    "column twice": ("a", lambda X: X[["a", "a", "b"]], "group_by='a' names 2 of the columns"),
    "array": ("a", np.asarray, r"ndarray.*RFECV.*enable_metadata_routing=True"),
    "polars name": ("d", pl.DataFrame, r"names none of the columns \['a', 'b', 'c'\]"),
    "column too far": (3, np.asarray, r"group_by=3 is not a column of X.*\(105, 3\)"),
    "column much too far": (5, np.asarray, r"group_by=5 is not a column of X.*\(105, 3\)"),
    "number for a frame": (0, lambda X: X, "group_by=0 names none"),
    "1-D": (0, lambda X: X["a"].to_numpy(), r"group_by=0 is not a column of X.*\(105,\)"),
    "bool": (True, np.asarray, "group_by=True is a name"),
    "callable, nothing": (lambda X: None, np.asarray, "group_by=.*returned None"),
    "missing ids": ("b", lambda X: X.assign(b=np.nan), "groups has 105 missing ids"),
    "callable, wrong length": (lambda X: [1, 2], np.asarray, "groups must have one id.*105 rows.*got 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOST)
def test_lost_ids_are_errors(data, name):
    X, y, _ = data
    group_by, convert, words = LOST[name]
    with pytest.raises(ValueError, match=f"(?s){words}"):
        make_ndcg_scorer(group_by=group_by)(FirstColumn(), convert(X), y)


def test_matrix_with_groups_is_an_error(data):
    X, y, query = data
    wide = np.c_[y, y]
    model = LinearRegression().fit(X, wide)
    assert 0 < make_ndcg_scorer()(model, X, wide + 1) <= 1
    with pytest.raises(ValueError, match="groups goes with 1-D"):
        make_ndcg_scorer()(model, X, wide, groups=query)
    with pytest.raises(ValueError, match="groups goes with 1-D"):
        make_ndcg_scorer(group_by=one_ranking)(model, X, wide)
    with pytest.raises(ValueError, match="multilabel targets, leave groups out.*pass that column"):
        make_ndcg_scorer()(model.fit(X, y), X, wide, groups=query)  # of one score per row


def test_a_column_of_labels_is_scored_as_its_values(data):
    X, y, query = data
    X.index = pd.Index(query, name="q")
    scorer = make_ndcg_scorer(k=3, group_by="q")
    for model in (Ridge(), LogisticRegression(), GroupedRanker(Ridge(), group_by="q")):
        expected = scorer(model.fit(X, y), X, y)
        for column in (y[:, None], pd.DataFrame({"y": y}), y[:, None].tolist()):
            assert scorer(model, X, column) == expected


@pytest.mark.filterwarnings("ignore:NDCG is undefined")
def test_ids_in_the_index_of_y_serve_where_a_step_makes_an_array_of_x(data):
    X, labels, query = data
    y = pd.Series(labels, index=pd.Index(query, name="q"))
    X.index = y.index
    ranker = GroupedRanker(Ridge(), group_by="q", k=3)
    last = make_pipeline(StandardScaler(), ranker)
    cv = QuerySplitter(KFold(3), group_by="q")
    expected = []
    for _, part in KFold(3).split(ids := np.unique(query)):
        test = np.isin(query, ids[part])
        model = make_pipeline(StandardScaler(), Ridge()).fit(X[~test], labels[~test])
        expected.append(ndcg_score(labels[test], model.predict(X[test]), groups=query[test], k=3))
    settings = {"cv": cv, "error_score": "raise"}
    for scoring in (make_ndcg_scorer(k=3, group_by="q"), None):
        found = cross_val_score(last, X, y, scoring=scoring, **settings)
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    for (_, test), (_, other) in zip(cv.split(X), cv.split(X.to_numpy(), y), strict=True):
        np.testing.assert_array_equal(test, other)
    with pytest.raises(ValueError, match="group_by='q' is a name, but X arrived as ndarray"):
        last.fit(X, labels)


# --- in scikit-learn's tools


def test_routed_search_fits_splits_and_scores_by_query(data, routing):
    X, y, query = data
    search = GridSearchCV(
        Ridge(), {"alpha": [1, 100]}, scoring=make_ndcg_scorer(k=3), cv=GroupKFold(4)
    )
    search.fit(X, y, groups=query)
    for fold, (train, test) in enumerate(GroupKFold(4).split(X, y, query)):
        model = Ridge(alpha=100).fit(X.iloc[train], y[train])
        expected = ndcg_score(y[test], model.predict(X.iloc[test]), groups=query[test], k=3)
        assert search.cv_results_[f"split{fold}_test_score"][1] == pytest.approx(expected)
    expected = ndcg_score(y, search.predict(X), groups=query, k=3)
    assert search.score(X, y, groups=query) == expected
    with pytest.raises(ValueError, match="got no groups"):
        search.score(X, y)


@pytest.mark.filterwarnings("ignore:.*have a single document")  # of short sessions
def test_an_alias_for_groups(data, routing):
    X, y, query = data
    zero = {"undefined": 0}
    scorer = make_ndcg_scorer(k=3, **zero).set_score_request(groups="session")
    got = cross_val_score(
        Ridge(),
        X,
        y,
        scoring=scorer,
        cv=GroupKFold(4),
        params={"session": query, "groups": np.arange(len(y)) // 6},
    )
    expected = []
    for train, test in GroupKFold(4).split(X, y, np.arange(len(y)) // 6):
        model = Ridge().fit(X.iloc[train], y[train])
        s = model.predict(X.iloc[test])
        expected.append(ndcg_score(y[test], s, groups=query[test], k=3, **zero))
    np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_requests_merge_and_are_not_shared(routing):
    scorer = make_ndcg_scorer()
    scorer.set_score_request(sample_weight=True)
    requests = scorer.get_metadata_routing().score.requests
    assert requests == {"groups": True, "sample_weight": True}
    fresh = make_ndcg_scorer().get_metadata_routing().score.requests
    assert fresh == {"groups": True, "sample_weight": None}
    assert clone(scorer).get_metadata_routing().score.requests == requests
    scorer.set_params(measure=Measure(k=3))
    assert scorer.get_metadata_routing().score.requests == requests


def test_routed_weights(data, routing):
    X, y, query = data
    weight = 1.0 + query
    scorer = make_ndcg_scorer(k=3).set_score_request(sample_weight=True)
    estimator = Ridge().set_fit_request(sample_weight=False)
    got = cross_val_score(
        estimator, X, y, scoring=scorer, cv=GroupKFold(4),
        params={"groups": query, "sample_weight": weight},
    )  # fmt: skip
    for value, (train, test) in zip(got, GroupKFold(4).split(X, y, query), strict=True):
        s = Ridge().fit(X.iloc[train], y[train]).predict(X.iloc[test])
        options = {"groups": query[test], "k": 3, "sample_weight": weight[test]}
        assert value == pytest.approx(ndcg_score(y[test], s, **options))


def test_routing_is_not_needed_to_build_one():
    assert not sklearn.get_config()["enable_metadata_routing"]
    make_ndcg_scorer(k=5)
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        make_ndcg_scorer().set_score_request(groups=True)


def top_is_best(y_true, y_score, grade=3):
    """Whether the document with the highest score has the grade."""
    return y_true[np.argmax(y_score)] == grade


SCORERS = [
    make_ndcg_scorer(),
    make_ndcg_scorer(k=[1, None], group_by="q", gain={0: 0, 1: 3, 2: 7, 3: 9}),
    make_dcg_scorer(k=5, group_by=one_ranking, discount=jarvelin_kekalainen(b=3)),
    make_ndcg_scorer(k="retrieved", response_method=["decision_function", "predict"]),
    make_query_scorer(top_is_best, greater_is_better=False, undefined=0, grade=2),
]


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("copied", [clone, deepcopy, lambda s: pickle.loads(pickle.dumps(s))])  # noqa: S301
def test_copies_score_alike(data, scorer, copied):
    X, y, query = data
    X = X.assign(q=query)
    groups = query if scorer.group_by is None else None
    copy = copied(scorer)
    assert copy is not scorer
    assert repr(copy) == repr(scorer)
    assert copy(FirstColumn(), X, y, groups=groups) == scorer(FirstColumn(), X, y, groups=groups)


def test_repr_shows_the_options():
    assert [" ".join(repr(scorer).split()) for scorer in SCORERS] == [
        "GroupedScorer(measure=Measure())",
        (
            "GroupedScorer(group_by='q', "
            "measure=Measure(k=[1, None], gain={0: 0, 1: 3, 2: 7, 3: 9}))"
        ),
        (
            f"GroupedScorer(group_by={one_ranking!r}, "
            "measure=Measure(k=5, normalized=False, discount=jarvelin_kekalainen(b=3)))"
        ),
        (
            "GroupedScorer(measure=Measure(k='retrieved'), "
            "response_method=['decision_function', 'predict'])"
        ),
        (
            "GroupedScorer(measure=QueryMetric(undefined=0, function=top_is_best, "
            "options={'grade': 2}, greater_is_better=False), name='top_is_best')"
        ),
    ]
    search = GridSearchCV(Ridge(), {"alpha": [1]}, scoring=make_ndcg_scorer(k=5))
    assert "scoring=GroupedScorer(measure=Measure(k=5))" in repr(search)
    assert "GroupedScorer(measure=Measure(k=5))" in search._repr_html_()


def test_parameters_can_be_read_and_set():
    scorer = make_ndcg_scorer(k=5, gain="exponential")
    assert scorer.get_params() == {
        "measure": Measure(k=5, gain="exponential"), "group_by": None, "response_method": "auto",
        "name": None, "all_groups": None,
    }  # fmt: skip
    y, s, groups = np.array([1, 0, 2]), np.array([3.0, 2, 1]), [1, 1, 1]
    got = scorer.set_params(measure=Measure(k=1))(FirstColumn(), s, y, groups=groups)
    assert got == ndcg_score(y, s, groups=groups, k=1)
    with pytest.raises(ValueError, match="Invalid parameter 'gain'"):
        scorer.set_params(gain="linear")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("name", 5, "name must be text"),
        ("response_method", "transform", "response_method must be"),
        ("all_groups", [], "all_groups must be the query ids of all rows"),
    ],
)
def test_parameters_that_are_set_are_checked_when_scoring(name, value, words):
    scorer = make_ndcg_scorer().set_params(**{name: value})
    with pytest.raises(ValueError, match=words):
        scorer(FirstColumn(), np.array([3.0, 2]), [1, 0], groups=[1, 1])


@pytest.mark.ci
def test_two_workers(data):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    scorer = make_ndcg_scorer(k=3, group_by="q")
    search = GridSearchCV(Ridge(), {"alpha": [1, 9]}, scoring=scorer, cv=GroupKFold(4))
    serial = clone(search).fit(X, y, groups=query).cv_results_["mean_test_score"]
    parallel = clone(search).set_params(n_jobs=2).fit(X, y, groups=query)
    np.testing.assert_array_equal(parallel.cv_results_["mean_test_score"], serial)


@pytest.mark.ci
def test_two_workers_routed(data, routing):
    X, y, query = data
    search = GridSearchCV(Ridge(), {"alpha": [1]}, scoring=make_ndcg_scorer(), cv=GroupKFold(4))
    serial = clone(search).fit(X, y, groups=query).cv_results_["mean_test_score"]
    parallel = clone(search).set_params(n_jobs=2).fit(X, y, groups=query)
    np.testing.assert_array_equal(parallel.cv_results_["mean_test_score"], serial)


def test_several_cutoffs(data):
    X, y, query = data
    scorer = make_ndcg_scorer(k=[1, 5, None, "retrieved"])
    got = scorer(FirstColumn(), X, y, groups=query)
    expected = {
        "ndcg@1": ndcg_score(y, X["a"], groups=query, k=1),
        "ndcg@5": ndcg_score(y, X["a"], groups=query, k=5),
        "ndcg": ndcg_score(y, X["a"], groups=query),
        "ndcg@retrieved": ndcg_score(y, X["a"], groups=query, k="retrieved"),
    }
    assert got == pytest.approx(expected, rel=1e-14)
    assert all(type(value) is float for value in got.values())
    assert make_ndcg_scorer(k=range(1, 4))(FirstColumn(), X, y, groups=query)["ndcg@3"] > 0
    got = make_dcg_scorer(k=(3, None))(FirstColumn(), X, y, groups=query)
    expected = {"dcg@3": dcg_score(y, X["a"], groups=query, k=3),
                "dcg": dcg_score(y, X["a"], groups=query)}  # fmt: skip
    assert got == pytest.approx(expected, rel=1e-14)


def test_retrieved_beside_other_cutoffs():
    y, s = np.array([2, 1, 1, 0]), np.array([-np.inf, 1, 3, 2])
    got = make_ndcg_scorer(k=["retrieved", 1, 3])(FirstColumn(), s, y, groups=[0] * 4)
    for name, k in (("ndcg@retrieved", "retrieved"), ("ndcg@1", 1), ("ndcg@3", 3)):
        assert got[name] == pytest.approx(ndcg_score(y, s, groups=[0] * 4, k=k), rel=1e-15)


def test_search_refits_with_one_of_several_cutoffs(data):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    scorer = make_ndcg_scorer(k=[1, 5], group_by="q")
    search = GridSearchCV(Ridge(), {"alpha": [1, 9]}, scoring=scorer, cv=GroupKFold(4))
    search.set_params(refit="ndcg@5").fit(X, y, groups=query)
    assert search.best_score_ == search.cv_results_["mean_test_ndcg@5"].max()
    with pytest.raises(ValueError, match="refit"):  # scikit-learn's own
        clone(search).set_params(refit=True).fit(X, y, groups=query)


@pytest.mark.filterwarnings("ignore:.*does not support sample_weight")
@pytest.mark.parametrize("cutoffs", [3, None])
def test_in_a_dict_with_sample_weight_and_routing_off(data, cutoffs):
    """scikit-learn 1.7 and later ask scorers in a dict whether they take sample_weight."""
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    weight = 1.0 + query
    scoring = {"ours": make_ndcg_scorer(k=cutoffs, group_by="q"), "r2": "r2"}
    search = GridSearchCV(
        Ridge(), {"alpha": [1, 9]}, scoring=scoring, refit="ours", cv=GroupKFold(4)
    )
    search.fit(X, y, groups=query, sample_weight=weight)
    train, test = next(iter(GroupKFold(4).split(X, y, query)))
    s = Ridge(alpha=1).fit(X.iloc[train], y[train], weight[train]).predict(X.iloc[test])
    version = tuple(map(int, sklearn.__version__.split(".")[:2]))
    weights = {"sample_weight": weight[test]} if version >= (1, 7) else {}
    expected = ndcg_score(y[test], s, groups=query[test], k=cutoffs, **weights)
    assert search.cv_results_["split0_test_ours"][0] == pytest.approx(expected)


def test_make_scorer_takes_the_plain_function(data, routing):
    X, y, query = data
    scorer = make_scorer(ndcg_score, k=3).set_score_request(groups=True)
    got = cross_val_score(Ridge(), X, y, scoring=scorer, cv=GroupKFold(4), params={"groups": query})
    ours = cross_val_score(
        Ridge(), X, y, scoring=make_ndcg_scorer(k=3), cv=GroupKFold(4), params={"groups": query}
    )
    np.testing.assert_array_equal(got, ours)


def test_make_scorer_of_rows_without_ids_leads_to_our_scorer(data):
    X, y, _ = data
    for metric in (ndcg_score, dcg_score):
        scoring = make_scorer(metric, k=3)
        with pytest.raises(
            ValueError, match=r"^y_true is 1-D.*\[y_true\], \[y_score\].*groups="
        ) as raised:
            cross_val_score(Ridge(), X, y, scoring=scoring, error_score="raise")
        assert "scoring=make_ndcg_scorer(...) finds the ids" in str(raised.value)
        assert "XGB" not in str(raised.value)


def test_make_scorer_takes_the_plain_function_for_matrices(data):
    X, y, _ = data
    wide = np.c_[y, 3 - y]
    got = cross_val_score(LinearRegression(), X, wide, scoring=make_scorer(ndcg_score, k=3), cv=3)
    theirs = make_scorer(sklearn.metrics.ndcg_score, k=3)
    expected = cross_val_score(LinearRegression(), X, wide, scoring=theirs, cv=3)
    np.testing.assert_allclose(got, expected, rtol=1e-13)
    ours = cross_val_score(LinearRegression(), X, wide, scoring=make_ndcg_scorer(k=3), cv=3)
    np.testing.assert_array_equal(ours, got)


@pytest.mark.filterwarnings("ignore:NDCG is undefined", "ignore:Each of the", "ignore:The score is")
def test_ordinary_folds_never_raise(data):
    """Queries of one document, or without relevant documents, are common."""
    X, y, _ = data
    X = X.set_index(pd.Index(np.arange(len(y)), name="q"))
    for replacement, expected in (("warn", 0), (0.5, 0.5), ("omit", np.nan)):
        scorer = make_ndcg_scorer(group_by="q", undefined=replacement)
        scores = cross_val_score(
            Ridge(), X, y * 0, scoring=scorer, cv=KFold(3), error_score="raise"
        )
        np.testing.assert_array_equal(scores, [expected] * 3)


# --- keys of several cutoffs


NAMES = {
    None: ["ndcg@1", "ndcg", "ndcg@retrieved"],
    "ndcg_at_{k}": ["ndcg_at_1", "ndcg", "ndcg_at_retrieved"],
    "test-{k}": ["test-1", "test", "test-retrieved"],
    "NDCG@{k} of days": ["NDCG@1 of days", "NDCG", "NDCG@retrieved of days"],
    "gain_{k}": ["gain_1", "gain", "gain_retrieved"],
    "n{k}_at_{k}": ["n1_at_1", "n", "nretrieved_at_retrieved"],
}


@pytest.mark.parametrize("name", NAMES)
def test_keys_are_spelled_by_name(name, data):
    X, y, query = data
    scorer = make_ndcg_scorer(k=[1, None, "retrieved"], name=name)
    found = scorer(FirstColumn(), X, y, groups=query)
    assert list(found) == NAMES[name]
    unnamed = make_ndcg_scorer(k=[1, None, "retrieved"])(FirstColumn(), X, y, groups=query)
    assert list(found.values()) == list(unnamed.values())
    assert scorer.__name__ == ", ".join(NAMES[name])
    for k, key in zip((1, None, "retrieved"), NAMES[name], strict=True):
        assert make_ndcg_scorer(k=k, name=name).__name__ == key


def test_a_search_has_the_keys_of_name(data):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    scorer = make_dcg_scorer(k=[1, None], group_by="q", name="dcg_at_{k}")
    search = GridSearchCV(
        Ridge(), {"alpha": [1, 9]}, scoring=scorer, cv=GroupKFold(4), refit="dcg_at_1"
    )
    search.fit(X, y, groups=query)
    assert {"mean_test_dcg_at_1", "mean_test_dcg"} <= set(search.cv_results_)


def test_the_name_of_a_single_cutoff_needs_no_place_for_it():
    assert make_ndcg_scorer(k=5, name="quality").__name__ == "quality"
    assert make_ndcg_scorer(name="quality_").__name__ == "quality_"
    assert "name='quality'" in repr(make_ndcg_scorer(name="quality"))


# --- folds that have only part of a query


CONTAINERS = {
    "array": lambda q: q,
    "list": lambda q: q.tolist(),
    "Series": lambda q: pd.Series(q, index=q[::-1]),
    "Index": pd.Index,
    "Categorical": pd.Categorical,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "one column": lambda q: pa.table({"q": q}),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("text", [False, True])
def test_whole_queries_are_scored_and_parts_refused(container, text, data):
    X, y, query = data
    query = np.array([f"q{i:02}" for i in query]) if text else query
    scorer = make_ndcg_scorer(k=3, all_groups=CONTAINERS[container](query))
    plain = make_ndcg_scorer(k=3)
    for rows in (slice(None), np.isin(query, np.unique(query)[3:9])):
        given = FirstColumn(), X[rows], y[rows]
        assert scorer(*given, groups=query[rows]) == plain(*given, groups=query[rows])
    first = np.unique(query)[0].item()
    n_rows, n_queries = np.sum(query == first), len(np.unique(query))
    some = np.delete(np.arange(len(y)), np.flatnonzero(query == first)[0])
    words = (
        rf"^Scored queries are not complete: 1 of {n_queries}. Query {first!r} has {n_rows - 1} "
        rf"rows here and {n_rows} in all_groups\. Split whole queries, with QuerySplitter or "
        "GroupKFold"
    )
    with pytest.raises(ValueError, match=words):
        scorer(FirstColumn(), X.iloc[some], y[some], groups=query[some])
    others = query.copy()
    others[query == first] = "other" if text else 10**6
    words = rf"not complete: 1 of {n_queries}. .* has {n_rows} rows here and 0 in all_groups"
    with pytest.raises(ValueError, match=words):
        scorer(FirstColumn(), X, y, groups=others)
    wrong_type = np.char.add("x", query.astype(str)) if not text else np.arange(len(y)) // 5
    with pytest.raises(ValueError, match=r"Scored .* rows here and 0 in all_groups"):
        scorer(FirstColumn(), X, y, groups=wrong_type)


def cross_validated(X, y, scorer, cv, **given):
    return cross_val_score(Ridge(), X, y, scoring=scorer, cv=cv, error_score="raise", **given)


@pytest.mark.filterwarnings("ignore:.*have a single document")  # of cut queries
@pytest.mark.parametrize("shuffle", [False, True])
def test_a_split_of_rows_is_refused(data, shuffle):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    scorer = make_ndcg_scorer(group_by="q", all_groups=X.index)
    guarded = cross_validated(X, y, scorer, GroupKFold(4), groups=query)
    plain = cross_validated(X, y, make_ndcg_scorer(group_by="q"), GroupKFold(4), groups=query)
    np.testing.assert_array_equal(guarded, plain)
    kfold = KFold(4, shuffle=shuffle, random_state=0 if shuffle else None)
    search = GridSearchCV(Ridge(), {"alpha": [1]}, scoring=scorer, cv=kfold, error_score="raise")
    with pytest.raises(ValueError, match=r"Scored queries are not complete.*QuerySplitter"):
        search.fit(X, y)


@pytest.mark.filterwarnings("ignore:.*have a single document")  # of cut queries
def test_routed_groups_are_guarded_too(data, routing):
    X, y, query = data
    scorer = make_ndcg_scorer(all_groups=query)
    assert np.isfinite(cross_validated(X, y, scorer, GroupKFold(4), params={"groups": query})).all()
    with pytest.raises(ValueError, match="Scored queries are not complete"):
        cross_validated(X, y, scorer, KFold(4), params={"groups": query})


@pytest.mark.filterwarnings("ignore:.*have a single document")  # of cut queries
def test_halving_by_rows_is_refused(data):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    scorer = make_ndcg_scorer(group_by="q", all_groups=query)
    search = HalvingGridSearchCV(
        Ridge(), {"alpha": [1, 2, 3]}, scoring=scorer, cv=QuerySplitter(2, group_by="q"),
        min_resources=30, random_state=0, error_score="raise",
    )  # fmt: skip
    with pytest.raises(ValueError, match="Scored queries are not complete"):
        search.fit(X, y)


def test_compound_ids_are_guarded(data):
    X, y, query = data
    X = X.assign(u=query // 4, d=query % 4)
    columns = X[["u", "d"]]
    for ids in (columns, columns.to_numpy(), [columns["u"], columns["d"]],
                (columns["u"].tolist(), columns["d"].tolist()),
                list(columns.itertuples(index=False, name=None))):  # fmt: skip
        scorer = make_ndcg_scorer(group_by=["u", "d"], all_groups=ids)
        whole = np.isin(query, [1, 5, 7])
        expected = ndcg_score(y[whole], X["a"][whole], groups=query[whole])
        assert scorer(FirstColumn(), X[whole], y[whole]) == expected
        with pytest.raises(
            ValueError, match=r"^Scored queries are not complete: 1 of 20. Query \(0, 0\) has"
        ):
            scorer(FirstColumn(), X[np.arange(len(y)) != np.argmin(query)],
                   y[np.arange(len(y)) != np.argmin(query)])  # fmt: skip


def test_all_groups_are_shown_in_short_and_survive_copies(data):
    X, y, query = data
    scorer = make_ndcg_scorer(k=3, all_groups=np.arange(1_000_000) // 4)
    shown = "GroupedScorer(all_groups=<ids of 250,000 queries>, measure=Measure(k=3))"
    assert repr(scorer) == shown
    search = GridSearchCV(Ridge(), {"alpha": [1]}, scoring=scorer)
    assert shown in " ".join(repr(search).split())
    scorer = make_ndcg_scorer(all_groups=query)
    shown = "GroupedScorer(all_groups=<ids of 20 queries>, measure=Measure())"
    assert " ".join(repr(scorer).split()) == shown
    later = make_ndcg_scorer().set_params(all_groups=query)
    copies = clone(scorer), deepcopy(scorer), pickle.loads(pickle.dumps(scorer))  # noqa: S301
    assert {repr(copied) for copied in copies} == {repr(scorer)}
    for copied in (*copies, later, clone(later)):
        assert 0 < copied(FirstColumn(), X, y, groups=query) < 1
        with pytest.raises(ValueError, match="Scored queries are not complete"):
            copied(FirstColumn(), X[:-1], y[:-1], groups=query[:-1])
    assert scorer.set_params(all_groups=None).all_groups is None


def test_rows_that_are_taken_out_of_a_query_are_still_its_rows(data):
    X, y, query = data
    y = np.where(np.arange(len(y)) % 3 == 0, np.nan, y)
    options = {"unjudged": "omit", "undefined": 0.0}
    found = make_ndcg_scorer(all_groups=query, **options)(FirstColumn(), X, y, groups=query)
    assert found == ndcg_score(y, X["a"], groups=query, **options)


def test_all_groups_that_are_no_ids():
    with pytest.raises(ValueError, match=r"all_groups has 1 missing id, at"):
        make_ndcg_scorer(all_groups=[1.0, np.nan])
    for ids in (5, [], (), np.array(3), np.array([]), [[]], pd.DataFrame({"q": []}), iter([1, 2])):
        with pytest.raises(ValueError, match="^all_groups must be the query ids of all rows, got"):
            make_ndcg_scorer(all_groups=ids)


# --- what an estimator's output means


def test_classifier_is_ranked_by_its_expected_gain(data):
    X, y, query = data
    for gain, gains in (
        ("linear", [0, 1, 2, 3]),
        ("exponential", [0, 1, 3, 7]),
        ([0, 9, 9, 1],) * 2,
    ):
        model = LogisticRegression().fit(X, y)
        expected = ndcg_score(y, model.predict_proba(X) @ gains, groups=query, gain=gain)
        got = make_ndcg_scorer(gain=gain)(model, X, y, groups=query)
        assert got == pytest.approx(expected, rel=1e-14)


def test_classes_are_grades_not_positions(data):
    X, y, query = data
    grades = np.array([0, 1, 5, 50])
    model = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, grades[y])
    expected = ndcg_score(grades[y], model.predict_proba(X) @ grades, groups=query)
    got = make_ndcg_scorer()(model, X, grades[y], groups=query)
    assert got == pytest.approx(expected, rel=1e-14)


def test_a_fold_without_the_highest_grade(data):
    X, y, query = data
    model = LogisticRegression().fit(X[y < 3], y[y < 3])
    expected = ndcg_score(y, model.predict_proba(X) @ [0, 1, 2], groups=query)
    assert make_ndcg_scorer()(model, X, y, groups=query) == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [int, float, bool])
def test_binary_classifiers(data, dtype):
    X, y, query = data
    y = (y > 0).astype(dtype)
    score = make_ndcg_scorer(undefined=0)
    for model, method in [
        (LogisticRegression(), "predict_proba"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "predict_proba"),
        (GridSearchCV(LogisticRegression(), {"C": [1]}), "predict_proba"),
        (LinearSVC(random_state=0), "decision_function"),
        (SVC(), "decision_function"),
        (CalibratedClassifierCV(LinearSVC(random_state=0)), "predict_proba"),
    ]:
        model.fit(X, y)
        response = getattr(model, method)(X)
        response = response[:, 1] if response.ndim == 2 else response
        expected = ndcg_score(y, response, groups=query, undefined=0)
        assert score(model, X, y, groups=query) == pytest.approx(expected, rel=1e-14)


def test_equal_probabilities_stay_tied():
    """A matrix product may round equal rows differently."""
    rng = np.random.default_rng(0)
    for n in range(2, 40):
        row = rng.random(7)
        proba = np.tile(row / row.sum(), (n, 1))

        class Constant(ClassifierMixin, BaseEstimator):
            classes_ = np.arange(7) / 10

            def predict_proba(self, X, proba=proba):
                return proba

        y = np.zeros(n)
        y[0] = 1
        expected = (1 / np.log2(np.arange(2, n + 2))).mean()
        got = make_ndcg_scorer()(Constant(), np.zeros((n, 1)), y, groups=np.zeros(n))
        assert got == pytest.approx(expected, rel=1e-13)


def test_explicit_responses(data):
    X, y, query = data
    model = LogisticRegression().fit(X, y > 1)
    y = (y > 1).astype(int)
    for response, scores in [
        ("predict", model.predict(X)),
        ("decision_function", model.decision_function(X)),
        ("predict_proba", model.predict_proba(X)[:, 1]),
        (["decision_function", "predict_proba"], model.decision_function(X)),
        (("predict_proba",), model.predict_proba(X)[:, 1]),
    ]:
        options = {"undefined": 0, "ties": "stable"}
        got = make_ndcg_scorer(response_method=response, **options)(model, X, y, groups=query)
        assert got == pytest.approx(ndcg_score(y, scores, groups=query, **options), rel=1e-14)


def test_responses_that_are_not_scores(data):
    X, y, query = data
    score = make_ndcg_scorer()
    probabilities = make_ndcg_scorer(response_method=["predict_proba", "decision_function"])
    names = np.array(["bad", "fair", "good", "best"])
    with pytest.raises(ValueError, match="neither predict_proba nor.*response_method='predict'"):
        score(LinearSVC(random_state=0).fit(X, y), X, y, groups=query)
    with pytest.raises(ValueError, match=r"'bad'.*not numbers.*response_method"):
        score(LogisticRegression().fit(X, names[y]), X, y, groups=query)
    with pytest.raises(ValueError, match="neither predict_proba|no numbers"):
        score(SVC().fit(X, names[y]), X, y, groups=query)
    with pytest.raises(
        ValueError, match=r"Ridge has no such method: response_method=\['predict_proba'"
    ):
        probabilities(Ridge().fit(X, y), X, y, groups=query)
    with pytest.raises(ValueError, match=r"same shape, got \(105,\) and \(105, 4\)"):
        make_ndcg_scorer(response_method="decision_function")(
            LogisticRegression().fit(X, y), X, y, groups=query
        )


def test_column_of_predictions(data):
    X, y, query = data
    model = LinearRegression().fit(X, np.c_[y])
    assert model.predict(X).shape == (len(y), 1)
    expected = ndcg_score(y, model.predict(X).ravel(), groups=query)
    assert make_ndcg_scorer()(model, X, y, groups=query) == expected


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(n_estimators=5, random_state=0),
        KNeighborsClassifier(),
        MultiOutputClassifier(LogisticRegression()),
        OneVsRestClassifier(LogisticRegression()),
        RidgeClassifier(),
        LinearRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_multilabel(data, model):
    X, y, _ = data
    wide = np.c_[y > 0, y > 1, y > 2].astype(int)
    model.fit(X, wide)
    if hasattr(model, "predict_proba"):
        proba = model.predict_proba(X)
        score = np.column_stack([p[:, 1] for p in proba]) if isinstance(proba, list) else proba
    elif hasattr(model, "decision_function"):
        score = model.decision_function(X)
    else:
        score = model.predict(X)
    options = {"k": 2, "undefined": 0}
    expected = ndcg_score(wide, score, **options)
    assert make_ndcg_scorer(**options)(model, X, wide) == pytest.approx(expected, rel=1e-14)


def test_multilabel_with_a_label_of_one_class(data):
    X, y, _ = data
    wide = np.c_[y > 0, y > 9, y > -1].astype(int)
    model = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, wide)
    p = model.predict_proba(X)[0][:, 1]
    expected = ndcg_score(wide, np.c_[p, np.zeros(len(y)), np.ones(len(y))])
    assert make_ndcg_scorer()(model, X, wide) == pytest.approx(expected, rel=1e-14)


def test_several_grades_per_label(data):
    X, y, _ = data
    wide = np.c_[y, 3 - y]
    model = KNeighborsClassifier().fit(X, wide)
    score = np.column_stack([p @ [0, 1, 2, 3] for p in model.predict_proba(X)])
    assert make_ndcg_scorer()(model, X, wide) == pytest.approx(ndcg_score(wide, score), rel=1e-14)


def test_works_on_any_object_with_predict(data):
    X, y, query = data

    class Duck:
        def predict(self, X):
            return np.asarray(X)[:, 0]

    expected = ndcg_score(y, X["a"], groups=query)
    assert make_ndcg_scorer()(Duck(), X, y, groups=query) == expected


def test_classifiers_without_tags(data):
    X, y, query = data

    class Duck:
        classes_ = np.array([0, 1])

        def predict(self, X):
            return (np.asarray(X)[:, 0] > 0) * 1

        def predict_proba(self, X):
            p = 1 / (1 + np.exp(-np.asarray(X)[:, 0]))
            return np.c_[1 - p, p]

    expected = ndcg_score(y, X["a"], groups=query)
    assert make_ndcg_scorer()(Duck(), X, y, groups=query) == expected


class Untyped(BaseEstimator):
    """A classifier that does not say so, as those of mord, NGBoost and FLAML."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.model_ = LogisticRegression().fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def test_what_has_probabilities_of_several_classes_is_a_classifier(data):
    X, y, query = data
    model = Untyped().fit(X, y)
    expected = ndcg_score(y, np.round(model.predict_proba(X) @ range(4), 12), groups=query)
    assert expected != ndcg_score(y, model.predict(X), groups=query)
    search = GridSearchCV(model, {}, cv=2, scoring="accuracy")
    for classifier in (model, search, make_pipeline(StandardScaler(), model), GroupedRanker(model)):
        found = make_ndcg_scorer()(classifier.fit(X, y), X, y, groups=query)
        assert found == pytest.approx(expected, abs=1e-3)  # the scaler changes the fit a little


def test_probabilities_without_classes(data):
    X, y, query = data
    model = Untyped().fit(X, y > 1)
    del model.classes_
    expected = ndcg_score(y, model.predict(X), groups=query)
    with pytest.warns(UserWarning, match="^Untyped has predict_proba but no classes_.*'predict'"):
        assert make_ndcg_scorer()(model, X, y, groups=query) == expected
    assert make_ndcg_scorer(response_method="predict")(model, X, y, groups=query) == expected
    model.classes_ = None  # a regressor of AutoGluon
    assert make_ndcg_scorer()(model, X, y, groups=query) == expected

    def second(model, X):
        return model.predict_proba(X)[:, 1]

    expected = ndcg_score(y, second(model, X), groups=query)
    assert make_ndcg_scorer(response_method=second)(model, X, y, groups=query) == expected


@pytest.mark.parametrize(
    "model", [KMeans(3, n_init=1), OneClassSVM(), IsolationForest(n_estimators=10)]
)
def test_labels_of_clusters_and_outliers_are_not_scores(data, model):
    X, y, query = data
    for fitted in (make_pipeline(StandardScaler(), clone(model)).fit(X), model.fit(X)):
        with pytest.raises(ValueError, match="predicts labels, .*response_method='score_samples'"):
            make_ndcg_scorer()(fitted, X, y, groups=query)
    if hasattr(model, "score_samples"):
        expected = ndcg_score(y, model.score_samples(X), groups=query)
        scorer = make_ndcg_scorer(response_method="score_samples")
        assert scorer(model, X, y, groups=query) == expected


def test_probabilities_that_fit_no_classes(data):
    X, y, query = data
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"no entry for 1 value of classes_, the first 3"):
        make_ndcg_scorer(gain={0: 0, 1: 1, 2: 2})(model, X, y % 3, groups=query)
    model.classes_ = np.array([0, 1, 2])
    with pytest.raises(ValueError, match=r"shape \(105, 4\) for the classes \[0, 1, 2\]"):
        make_ndcg_scorer()(model, X, y, groups=query)
    model.classes_ = np.array([0, 1, 2, 2000])
    with pytest.raises(ValueError, match=r"finite gain.*inf"):
        make_ndcg_scorer(gain="exponential")(model, X, y, groups=query)


def test_the_group_column_is_kept_out_of_the_features(data):
    """The recipe for an ordinary estimator and ids in a column: a step that drops them."""
    X, y, query = data
    drops = make_column_transformer((StandardScaler(), ["a", "b", "c"]))
    model = make_pipeline(drops, Ridge())
    scorer = make_ndcg_scorer(k=3, group_by="q")
    splits = list(GroupKFold(4).split(X, y, query))
    got = cross_val_score(model, X.assign(q=query), y, scoring=scorer, cv=splits)
    plain = make_pipeline(StandardScaler(), Ridge())
    for value, (train, test) in zip(got, GroupKFold(4).split(X, y, query), strict=True):
        s = plain.fit(X.iloc[train], y[train]).predict(X.iloc[test])
        assert value == pytest.approx(ndcg_score(y[test], s, groups=query[test], k=3))


IS_FEATURE = r"^The column of ids, group_by='q', is a feature of (\w+)\. Move it to an index level"


def test_a_model_that_learns_from_the_ids(data):
    X, y, query = data
    scorer, table = make_ndcg_scorer(k=3, group_by="q"), X.assign(q=query)
    kept = make_pipeline(StandardScaler(), Ridge()).set_output(transform="pandas")
    for model in (Ridge(), GridSearchCV(Ridge(), {}, cv=2), kept):
        with pytest.warns(UserWarning, match=IS_FEATURE) as caught:
            scorer(model.fit(table, y), table, y)
        assert [each.filename for each in caught] == [__file__]


def test_a_model_that_does_not_learn_from_the_ids_is_not_warned_of(data):
    X, y, query = data
    scorer, table = make_ndcg_scorer(k=3, group_by="q"), X.assign(q=query)
    drops = make_column_transformer((StandardScaler(), ["a", "b", "c"])).set_output(
        transform="pandas"
    )
    for model in (
        make_pipeline(drops, Ridge()),
        TransformedTargetRegressor(make_pipeline(drops, Ridge())),
        GroupedRanker(Ridge(), group_by="q"),
        GroupedRanker(FirstColumn(), group_by="q"),
        FirstColumn(),
    ):
        scorer(model.fit(table, y), table, y)
    level = X.set_index(pd.Index(query, name="q"))
    scorer(Ridge().fit(level, y), level, y)


# --- early stopping of HistGradientBoosting, which passes binned X to the scorer


def many_queries(n_queries=400, seed=0):
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), 6)
    X = np.c_[rng.normal(size=(len(query), 3)), query]
    y = np.clip(np.round(X[:, 0] + rng.normal(size=len(query)) + 1), 0, 4)
    return X, y, query


def last_column(X):
    return X[:, -1]


@pytest.mark.parametrize("model", [HistGradientBoostingRegressor, HistGradientBoostingClassifier])
@pytest.mark.parametrize("group_by", [3, last_column])
def test_ids_are_not_read_from_the_bins_of_early_stopping(model, group_by):
    X, y, _ = many_queries()
    scorer = make_ndcg_scorer(group_by=group_by, undefined=0.0)
    stopping = model(early_stopping=True, scoring=scorer, max_iter=3)
    with pytest.raises(ValueError, match=f"{model.__name__} gives.*binned.*scoring='loss'"):
        stopping.fit(X, y)


def test_a_scorer_that_needs_no_ids_stops_early():
    X, y, _ = many_queries()
    scorer = make_ndcg_scorer(group_by=one_ranking)
    model = HistGradientBoostingRegressor(early_stopping=True, scoring=scorer, max_iter=3)
    assert len(model.fit(X, y).validation_score_) == 4


def test_a_fitted_hist_gradient_boosting_is_scored_on_bytes_too():
    X, y, query = many_queries(n_queries=100)
    X = X.astype(np.uint8)
    scorer = make_ndcg_scorer(group_by=3, undefined=0.0)
    model = HistGradientBoostingRegressor(early_stopping=False, scoring=scorer).fit(X, y)
    expected = ndcg_score(y, model.predict(X), groups=query, undefined=0.0)
    assert scorer(model, X, y) == expected
    search = GridSearchCV(model, {"max_iter": [2, 4]}, scoring=scorer, cv=GroupKFold(3))
    assert np.isfinite(search.fit(X, y, groups=query).cv_results_["mean_test_score"]).all()
    assert np.isfinite(scorer(search, X, y))


# --- equal expected gains


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(5),
        RandomForestClassifier(10, max_depth=3, random_state=0),
        ExtraTreesClassifier(7, min_samples_leaf=5, random_state=0),
        DecisionTreeClassifier(max_depth=3),
        GaussianNB(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("gain", ["linear", "exponential", [0, 0.1, 0.3, 0.7, 1.1]])
def test_gains_that_are_equal_in_exact_arithmetic_tie(model, gain):
    X, y, query = many_queries(seed=1)
    model.fit(X[:600], y[:600])
    X, y, query = X[600:], y[600:], query[600:]
    grades = model.classes_.astype(int).tolist()
    gains = {"linear": grades, "exponential": [2**g - 1 for g in grades]}.get(
        gain if isinstance(gain, str) else "", gain
    )
    # votes and leaves are fractions of small denominators
    small = 5 if isinstance(model, KNeighborsClassifier) else 10**9
    exact = [
        sum(
            Fraction(p).limit_denominator(small) * Fraction(str(g))
            for p, g in zip(row, gains, strict=True)
        )
        for row in model.predict_proba(X).tolist()
    ]
    _, order = np.unique(np.array(exact, dtype=object), return_inverse=True)
    if isinstance(model, GaussianNB):  # its probabilities are all distinct
        order = (model.predict_proba(X).astype(np.longdouble) * gains).sum(axis=1)
    scorer = make_ndcg_scorer(k=5, group_by=3, gain=gain, undefined=0.0)
    expected = ndcg_score(y, order, groups=query, k=5, gain=gain, undefined=0.0)
    assert scorer(model, X, y) == pytest.approx(expected, abs=1e-13)
    if not isinstance(model, GaussianNB):  # so sure that ten decimals are too few
        rounded = np.round(model.predict_proba(X) @ gains, 10)  # the line in docs/guide.md
        found = ndcg_score(y, rounded, groups=query, k=5, gain=gain, undefined=0.0)
        assert found == pytest.approx(expected, abs=1e-13)


class Votes(ClassifierMixin, BaseEstimator):
    """X has the votes of five neighbours."""

    classes_ = np.arange(5)

    def predict_proba(self, X):
        return np.array([np.bincount(row, minlength=5) / 5 for row in X])


def test_votes_of_equal_sums_tie():
    scorer = make_ndcg_scorer(group_by=one_ranking)
    for seed in range(200):
        votes = np.random.default_rng(seed).integers(0, 5, (6, 5))
        y = np.arange(6) % 3
        expected = ndcg_score([y], [votes.sum(axis=1)])
        assert scorer(Votes(), votes, y) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("scale", [1, 0.125])
def test_negative_gains_that_cancel_out_tie(scale):
    proba = [[0.1, 0.3, 0.2, 0.3, 0.1], [0, 0.3, 0.6, 0, 0.1], [0.3, 0.2, 0.1, 0.3, 0.1]]
    gains = [scale * gain for gain in (-3, -1, 0, 1, 3)]

    class Given(Votes):
        def predict_proba(self, X):
            return np.array(proba)

    exact = [
        sum(Fraction(str(p)) * Fraction(g) for p, g in zip(row, gains, strict=True))
        for row in proba
    ]
    scorer = make_dcg_scorer(group_by=one_ranking, gain=dict(enumerate(gains)))
    y = [0, 4, 2]
    expected = dcg_score([y], [[float(e) for e in exact]], gain=dict(enumerate(gains)))
    assert scorer(Given(), np.zeros((3, 1)), y) == pytest.approx(expected, abs=1e-15)


def test_equal_gains_close_to_the_highest_tie():
    y, scorer = [4, 0, 2], make_ndcg_scorer(group_by=one_ranking)
    expected = ndcg_score([y], [[1, 1, 0]])
    for part in np.logspace(-7, -4, 50):
        # the first two rows lack twice this part of the highest gain
        proba = [[0, 0, 0, 2 * part, 1 - 2 * part], [0, 0, part, 0, 1 - part], [0.5, 0, 0, 0, 0.5]]

        class Given(Votes):
            def predict_proba(self, X, proba=proba):
                return np.array(proba)

        assert scorer(Given(), np.zeros((3, 1)), y) == pytest.approx(expected, abs=1e-15)


# --- a fold without any relevant document


def test_a_fold_without_any_relevant_document_warns():
    X, y, query = many_queries(n_queries=30)
    X = pd.DataFrame(X[:, :3], index=pd.Index(query, name="query"))
    y[query < 10] = 0
    scorer = make_ndcg_scorer(k=[1, 3], group_by="query", undefined="omit")
    splits = list(GroupKFold(3).split(X, y, query // 10))
    with pytest.warns(
        UndefinedMetricWarning, match="The score is nan.*all candidates are ranked first"
    ):
        scores = cross_validate(Ridge(), X, y, scoring=scorer, cv=splits)
    assert np.isnan(scores["test_ndcg@1"]).sum() == 1


# --- parameters, and how a scorer is shown


def test_a_notebook_shows_what_is_measured():
    scorer = make_ndcg_scorer(k=[1, 10], group_by="query", gain="exponential")
    # a notebook shows the repr if neither of these is a method
    assert not callable(scorer._repr_html_)
    assert not callable(scorer._repr_mimebundle_)
    for words in ("measure=Measure(k=[1, 10], gain='exponential')", "group_by='query'"):
        assert words in repr(scorer)


@pytest.mark.parametrize("metric", [ndcg_score, dcg_score])
def test_a_metric_as_scoring_is_refused_with_the_scorer_to_use(metric, data):
    X, y, _ = data
    words = f"{metric.__name__} takes two .* not a scorer: pass scoring=make_{metric.__name__}r"
    with pytest.raises(TypeError, match=words):
        cross_val_score(LinearRegression(), X, y, scoring=metric, error_score="raise")


def test_curve_displays_label_their_axis_with_the_name_of_the_scorer():
    assert make_ndcg_scorer(k=10).__name__ == "ndcg@10"
    assert make_dcg_scorer().__name__ == "dcg"
    assert make_ndcg_scorer(k=[1, None]).__name__ == "ndcg@1, ndcg"


# --- bad parameters

BAD = {
    "k": ({"k": 0}, ValueError, "k must be an integer"),
    "no k": ({"k": []}, ValueError, "k must list different cutoffs"),
    "a k twice": ({"k": [5, 1, 5]}, ValueError, "k must list different cutoffs"),
    "option": ({"log_base": 3}, TypeError, "no option 'log_base'.*gain, "),
    "groups": (
        {"groups": [1, 2]},
        TypeError,
        "make_ndcg_scorer does not take groups.*Pass group_by, which",
    ),
    "metric": ({"metric": "ndcg"}, TypeError, "no option 'metric'"),
    "name": ({"name": 5}, ValueError, "name must be text.*got 5"),
    "name of several": (
        {"k": [1, 5], "name": "ndcg"},
        ValueError,
        "name must be text.*'ndcg_at_{k}'",
    ),
    "cutoffs alone": ({"k": [1, None], "name": "{k}"}, ValueError, "name must be text"),
    "gain": ({"gain": "exp"}, ValueError, "gain must be one of"),
    "response": ({"response_method": "transform"}, ValueError, "response_method must be"),
    "response None": ({"response_method": None}, ValueError, "response_method must be.*None"),
    "responses": ({"response_method": ["predict", "auto"]}, ValueError, "response_method"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters(name):
    parameters, error, words = BAD[name]
    with pytest.raises(error, match=words):
        make_ndcg_scorer(**parameters)


def test_editors_are_told_the_options_of_each_metric():
    for make, options in ((make_ndcg_scorer, NDCGOptions), (make_dcg_scorer, MeasureOptions)):
        assert get_type_hints(make)["options"] == Unpack[options]


def test_the_docstring_of_the_scorer_names_its_parameters_in_order():
    validation = pytest.importorskip("numpydoc.validate")
    assert not validation.validate("sklearn_ndcg.GroupedScorer")["errors"]


def test_a_dcg_scorer_has_no_undefined_queries_to_replace():
    with pytest.raises(TypeError, match="no option 'undefined'"):
        make_dcg_scorer(undefined=0)


@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression(C=1e4, max_iter=10_000)])
def test_certain_probabilities_of_a_binary_classifier_stay_apart(model):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    proba = model.fit(X, y).predict_proba(X)[:, 1]
    assert np.count_nonzero(proba > 1 - 1e-12) > 20
    relevance = X[:, 0].max() - X[:, 0]
    expected = sklearn.metrics.ndcg_score([relevance], [proba])
    scorer = make_ndcg_scorer(group_by=one_ranking)
    assert scorer(model, X, relevance) == pytest.approx(expected, abs=1e-12)


# --- any function of the rows of one query


def reciprocal_rank(y_true, y_score):
    ranked = y_true[np.argsort(-y_score, kind="stable")] > 0
    return 1 / (1 + np.argmax(ranked)) if ranked.any() else np.nan


def binary(function):
    """The function of whether a document is relevant."""
    return lambda y_true, y_score, **options: function(y_true > 1, y_score, **options)


def by_loop(function, y, score, query, weight=None, undefined=0.0, **options):
    """The mean of the function over queries; undefined are those with a single class."""
    values, weights = [], []
    for each in np.unique(query):
        rows = query == each
        is_defined = len(np.unique(y[rows] > 1)) == 2
        values.append(function(y[rows], score[rows], **options) if is_defined else undefined)
        weights.append(1 if weight is None else weight[rows].mean())
    left = ~np.isnan(values)
    return np.average(np.array(values)[left], weights=np.array(weights)[left])


def some_undefined(data):
    """Rows of which some queries have a single class, without a relevant document."""
    X, y, query = data
    y = np.where(query % 5 == 0, y % 2, y)
    for each in np.unique(query):  # the other queries have both classes
        rows = np.flatnonzero(query == each)
        y[rows[0]] = 0
        y[rows[1]] = 3 if each % 5 else 1
    return X, y, query, X["a"].to_numpy()


@pytest.mark.parametrize("function", [binary(roc_auc_score), binary(average_precision_score)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("undefined", "value"), [("omit", np.nan), (0.25, 0.25), ("warn", 0.0)])
def test_the_mean_of_a_function_over_queries(data, function, weighted, undefined, value):
    X, y, query, score = some_undefined(data)
    weight = 1.0 + query % 3 + score % 1 if weighted else None
    scorer = make_query_scorer(function, undefined=undefined)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = scorer(FirstColumn(), X, y, weight, groups=query)
    assert found == pytest.approx(by_loop(function, y, score, query, weight, value), rel=1e-14)
    if undefined == "warn":  # once
        assert [each.category for each in caught] == [UndefinedMetricWarning]
        assert "is undefined for 4 of 20 queries" in str(caught[0].message)
    else:
        assert not caught
    loss = make_query_scorer(function, undefined=undefined, greater_is_better=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        assert loss(FirstColumn(), X, y, weight, groups=query) == -found
    with pytest.raises(ValueError, match="is undefined for 4 of 20 queries.*undefined='omit'"):
        make_query_scorer(function, undefined="raise")(FirstColumn(), X, y, groups=query)


def says(category, text):
    def function(y_true, y_score):
        if not (y_true > 1).any():
            raise category(text)
        return 1.0

    return function


@pytest.mark.parametrize(
    ("function", "is_undefined"),
    [
        (reciprocal_rank, False),
        (lambda y, s: np.nan if y.max() < 2 else 1.0, True),
        (binary(recall_score), True),  # warns and returns 0
        (says(ValueError, "Only one class present in y_true. ROC AUC score is not defined"), True),
        (says(UndefinedMetricWarning, "no relevant document"), True),
    ],
)
def test_what_makes_a_query_undefined(data, function, is_undefined):
    X, y, query, _ = some_undefined(data)
    scorer = make_query_scorer(function, undefined="omit", group_by=lambda X: query)
    y_of_1, X = np.where(query % 5, 3, y), X.assign(a=1)
    assert scorer(FirstColumn(), X, y_of_1) == (1.0 if is_undefined else pytest.approx(0.9))


def test_errors_of_the_function_are_not_caught(data):
    X, y, query = data
    for function, error, words in (
        (average_precision_score, ValueError, "score_func gets one query"),
        (lambda y, s: 1 / (y.max() - y.max()).item(), ZeroDivisionError, "division by zero"),
        (lambda y, s: s, (TypeError, ValueError), "sequence|only|convert"),
        (lambda y: 1.0, TypeError, "positional"),
    ):
        with pytest.raises(error, match=words):
            make_query_scorer(function)(FirstColumn(), X, y, groups=query)
    for wrong in ("roc_auc", make_scorer(roc_auc_score), make_ndcg_scorer(), Ridge, None):
        with pytest.raises(TypeError, match="^score_func must be a function of y_true and y_score"):
            make_query_scorer(wrong)
    with pytest.raises(ValueError, match="undefined must be one of 'warn'"):
        make_query_scorer(roc_auc_score, undefined=np.nan)


def test_functions_get_their_rows_and_may_change_them(data):
    X, y, query = data
    unjudged = np.where(np.arange(len(y)) % 7 == 0, np.nan, y)
    seen = []

    def note(y_true, y_score, *, by):
        seen.append((y_true.copy(), y_score.copy(), by))
        y_true[:], y_score[:] = 0, 0
        return 1

    before = unjudged.copy(), X["a"].to_numpy().copy()
    assert make_query_scorer(note, by=7)(FirstColumn(), X, unjudged, groups=query) == 1
    for each, (y_true, y_score, by) in zip(np.unique(query), seen, strict=True):
        rows = query == each
        np.testing.assert_array_equal(y_true, unjudged[rows])
        np.testing.assert_array_equal(y_score, X["a"][rows])
        assert by == 7
    np.testing.assert_array_equal(unjudged, before[0])
    np.testing.assert_array_equal(X["a"], before[1])


def test_functions_beside_ndcg_in_a_search(data):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    scoring = {
        "mrr": make_query_scorer(reciprocal_rank, group_by="q"),
        "ndcg": make_ndcg_scorer(k=3, group_by="q"),
    }
    search = GridSearchCV(Ridge(), {"alpha": [1]}, scoring=scoring, cv=GroupKFold(4), refit="mrr")
    found = search.fit(X, y, groups=query).cv_results_
    for fold, (train, test) in enumerate(GroupKFold(4).split(X, y, query)):
        score = Ridge(alpha=1).fit(X.iloc[train], y[train]).predict(X.iloc[test])
        each = [reciprocal_rank(y[test][rows], score[rows])
                for rows in (query[test] == q for q in np.unique(query[test]))]  # fmt: skip
        assert found[f"split{fold}_test_mrr"][0] == pytest.approx(np.mean(each))
        expected = ndcg_score(y[test], score, groups=query[test], k=3)
        assert found[f"split{fold}_test_ndcg"][0] == pytest.approx(expected)


def test_functions_are_routed_and_guarded_like_ndcg(data, routing):
    X, y, query = data
    scorer = make_query_scorer(reciprocal_rank, all_groups=query)
    assert scorer.get_metadata_routing().score.requests["groups"] is True
    weighted = clone(scorer).set_score_request(sample_weight=True)
    params = {"groups": query, "sample_weight": 1.0 + query}
    model = Ridge().set_fit_request(sample_weight=False)
    assert (
        cross_val_score(model, X, y, scoring=weighted, cv=GroupKFold(4), params=params) > 0
    ).all()
    with pytest.raises(ValueError, match="Scored queries are not complete"):
        scorer(FirstColumn(), X[1:], y[1:], groups=query[1:])
    with pytest.raises(ValueError, match="got no groups"):
        scorer(FirstColumn(), X, y)


@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 3]])
def test_a_function_gets_the_expected_class(data, classes):
    X, y, query = data
    y = np.array(classes)[y % len(classes)]
    model = LogisticRegression().fit(X, y)
    seen = []
    scorer = make_query_scorer(lambda y_true, y_score: seen.append(y_score) or 1.0)
    scorer(model, X, y, groups=query)
    rows = np.argsort(query, kind="stable")
    np.testing.assert_allclose(np.concatenate(seen), model.predict_proba(X)[rows] @ classes)


def test_functions_of_the_rows_of_a_matrix(data):
    X, y, _ = data
    wide = np.c_[y > 0, y > 1, y > 2].astype(int)
    model = LinearRegression().fit(X, wide)
    values = [reciprocal_rank(*rows) for rows in zip(wide, model.predict(X), strict=True)]
    for given in (wide, sparse.csr_array(wide)):
        found = make_query_scorer(reciprocal_rank, undefined="omit")(model, X, given)
        assert found == pytest.approx(np.nanmean(values))


def test_a_fold_on_which_a_function_is_undefined(data):
    X, y, query = data
    scorer = make_query_scorer(lambda y, s: np.nan, undefined="omit")
    with pytest.warns(UndefinedMetricWarning, match="The score is nan.*undefined for all queries"):
        assert np.isnan(scorer(FirstColumn(), X, y, groups=query))
