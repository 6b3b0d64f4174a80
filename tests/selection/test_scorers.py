"""Scorers: parameters, how they are shown, scikit-learn's tools and metadata routing."""

import pickle
import warnings
from copy import deepcopy
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from helpers import SKLEARN_VERSION, FirstColumn
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate

from sklearn_ndcg import (
    GroupedScorer,
    dcg_score,
    make_dcg_scorer,
    make_ndcg_scorer,
    make_query_scorer,
    ndcg_score,
    one_ranking,
)
from sklearn_ndcg._metrics.measure import DCG, NDCG

# --- parameters


def top_is_best(y_true, y_score, grade=3):
    """Whether the document with the highest score has the grade."""
    return y_true[np.argmax(y_score)] == grade


def pickled(scorer):
    return pickle.loads(pickle.dumps(scorer))  # noqa: S301


SCORERS = [
    make_ndcg_scorer(k=1, group_by="q", gain=[0, 3, 7, 9]),
    make_dcg_scorer(k=5, group_by=one_ranking, log_base=3),
    make_ndcg_scorer(k="retrieved", response_method=["decision_function", "predict"]),
    make_query_scorer(top_is_best, greater_is_better=False, undefined=0, grade=2),
]


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("copied", [clone, deepcopy, pickled])
def test_copies_score_alike(data, scorer, copied):
    X, y, query = data
    X, groups = X.assign(q=query), query if scorer.group_by is None else None
    copy = copied(scorer)
    assert copy is not scorer
    assert repr(copy) == repr(scorer)
    assert copy(FirstColumn(), X, y, groups=groups) == scorer(FirstColumn(), X, y, groups=groups)


@pytest.mark.parametrize(
    ("scorer", "shown"),
    [
        (make_ndcg_scorer(k=3, group_by="q"), "group_by='q', measure=NDCG(k=3))"),
        (make_dcg_scorer(gain="exponential"), "measure=DCG(gain='exponential'))"),
        (make_query_scorer(top_is_best), "measure=QueryFunction(function=top_is_best))"),
    ],
)
def test_the_repr_has_what_is_not_the_default(scorer, shown):
    assert repr(scorer) == f"GroupedScorer({shown}"
    search = GridSearchCV(Ridge(), {}, scoring=scorer)
    assert f"GroupedScorer({shown}" in " ".join(repr(search).split())


def test_a_scorer_is_an_estimator_of_three_parameters():
    scorer = make_ndcg_scorer(k=3, group_by="q")
    assert scorer.get_params() == {
        "measure": NDCG(k=3), "group_by": "q", "response_method": "auto",
    }  # fmt: skip
    assert list(signature(GroupedScorer).parameters) == ["measure", "group_by", "response_method"]
    assert [make().measure for make in (make_ndcg_scorer, make_dcg_scorer)] == [NDCG(), DCG()]
    assert make_dcg_scorer(log_base=10).measure == DCG(log_base=10)
    assert [each.__name__ for each in (scorer, SCORERS[-1])] == ["NDCG@3", "top_is_best"]


CHANGES = [
    (make_ndcg_scorer, ndcg_score, {"k": 1}),
    (make_ndcg_scorer, ndcg_score, {"gain": "exponential"}),
    (make_ndcg_scorer, ndcg_score, {"discount": "reciprocal"}),
    (make_ndcg_scorer, ndcg_score, {"ties": "worst"}),
    (make_ndcg_scorer, ndcg_score, {"ignore_ties": True}),
    (make_ndcg_scorer, ndcg_score, {"undefined": 0.3}),
    (make_ndcg_scorer, ndcg_score, {"unjudged": "omit"}),
    (make_dcg_scorer, dcg_score, {"log_base": 10}),
]


@pytest.mark.parametrize(
    ("make", "metric", "changed"), CHANGES, ids=[str(changed) for *_, changed in CHANGES]
)
def test_options_act_as_in_the_metric_and_the_measure_can_be_set(data, make, metric, changed):
    X, y, query = data
    X, y = X.assign(a=X["a"].round()), np.where(query == 0, 0, y).astype(float)  # with ties
    y[3] = np.nan if "unjudged" in changed else y[3]
    options = {"undefined": 0.5} if make is make_ndcg_scorer else {}
    before = make(**options)
    scorer = clone(before)
    assert scorer.set_params(measure=make(**options | changed).measure) is scorer
    expected = metric(y, X["a"], groups=query, **options | changed)
    assert scorer(FirstColumn(), X, y, groups=query) == expected
    assert clone(scorer)(FirstColumn(), X, y, groups=query) == expected
    if "unjudged" not in changed:
        assert before(FirstColumn(), X, y, groups=query) != expected


def test_response_method_that_was_set_is_checked_when_it_scores(data):
    X, y, query = data
    scorer = make_ndcg_scorer().set_params(response_method="transform")
    with pytest.raises(ValueError, match="response_method must be"):
        scorer(FirstColumn(), X, y, groups=query)


@pytest.mark.parametrize("name", ["k", "log_base", "undefined", "name", "all_groups", "score_func"])
def test_options_of_a_measure_are_not_parameters_of_the_scorer(name):
    with pytest.raises(ValueError, match=f"Invalid parameter '{name}' for estimator Grouped"):
        make_ndcg_scorer().set_params(**{name: 1})
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        GroupedScorer(NDCG(), **{name: 1})


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"k": 0}, ValueError, "k must be an integer"),
        ({"k": [1, 5]}, ValueError, "k must be an integer .* a dict of scorers"),
        ({"name": "ndcg_at_{k}"}, TypeError, "no option 'name'"),
        ({"all_groups": [1, 1]}, TypeError, "no option 'all_groups'"),
        ({"group_by": [1, 1]}, ValueError, r"^group_by must name .* got \[1, 1\].* as groups"),
        ({"group_by": np.arange(3)}, ValueError, "must name .* got ndarray of shape .* as groups"),
        ({"group_by": pd.Series([1])}, ValueError, "must name .* got Series of shape .* as groups"),
        ({"group_by": pd.Index(["a"])}, ValueError, "must name .* got Index of shape .* as groups"),
        ({"group_by": 0}, ValueError, "must name .* got 0. Numbers of columns are not names"),
        ({"log_base": 3}, TypeError, "no option 'log_base'.*gain, "),
        ({"groups": [1]}, TypeError, "make_ndcg_scorer does not take groups.*Pass group_by"),
        (
            {"sample_weight": {0: 2.0}},
            TypeError,
            r"not take sample_weight.*set_score_request\(sample_weight=True\).*params=",
        ),
        ({"gain": "exp"}, ValueError, "gain must be one of"),
        ({"response_method": "transform"}, ValueError, "response_method must be"),
        ({"response_method": ["predict", "auto"]}, ValueError, "response_method must be"),
        ({"response_method": []}, ValueError, "response_method must be"),
    ],
    ids=repr,
)
def test_bad_parameters(parameters, error, words):
    for make in (make_ndcg_scorer, make_dcg_scorer)[: 1 if "log_base" in parameters else 2]:
        with pytest.raises(error, match=words.replace("make_ndcg_scorer", make.__name__)):
            make(**parameters)


# --- several cutoffs


def test_several_cutoffs_are_a_dict_of_scorers(by_level):
    X, y, query = by_level
    scoring = {f"ndcg@{k}": make_ndcg_scorer(k=k, group_by="q") for k in (1, 5, None)}
    cv = list(GroupKFold(4).split(X, y, query))
    found = cross_validate(Ridge(), X, y, scoring=scoring, cv=cv, error_score="raise")
    for fold, (train, test) in enumerate(cv):
        s = Ridge().fit(X.iloc[train], y[train]).predict(X.iloc[test])
        for k in (1, 5, None):
            expected = ndcg_score(y[test], s, groups=query[test], k=k)
            assert found[f"test_ndcg@{k}"][fold] == expected

    def at_once(model, X, y):  # the recipe of docs/how_to_tuning.md
        score = model.predict(X)
        return {f"ndcg@{k}": ndcg_score(y, score, groups=X.index, k=k) for k in (1, 5, None)}

    again = cross_validate(Ridge(), X, y, scoring=at_once, cv=cv, error_score="raise")
    assert all(again[name].tolist() == found[name].tolist() for name in found if "ndcg" in name)


# --- in scikit-learn's tools; more of them in test_tool_matrix.py


def test_groups_under_an_alias_and_sample_weight_are_routed(data, routing):
    X, y, query = data
    scorer = make_ndcg_scorer(k=3).set_score_request(groups="session", sample_weight=True)
    users, weight = query // 2, 1.0 + query
    found = cross_val_score(
        Ridge().set_fit_request(sample_weight=False),
        X,
        y,
        scoring=scorer,
        cv=GroupKFold(4),
        params={"groups": users, "session": query, "sample_weight": weight},
    )
    for score, (train, test) in zip(found, GroupKFold(4).split(X, y, users), strict=True):
        s = Ridge().fit(X.iloc[train], y[train]).predict(X.iloc[test])
        options = {"groups": query[test], "k": 3, "sample_weight": weight[test]}
        assert score == pytest.approx(ndcg_score(y[test], s, **options), rel=1e-14)


@pytest.mark.parametrize("changed", [clone, lambda scorer: scorer.set_params(measure=NDCG(k=3))])
def test_score_requests_merge_and_are_kept(changed, routing):
    scorer = make_ndcg_scorer().set_score_request(sample_weight=True)
    scorer = changed(scorer.set_score_request(groups="session"))
    requests = {"groups": "session", "sample_weight": True}
    assert scorer.get_metadata_routing().score.requests == requests


def test_only_groups_and_weights_can_be_requested(routing):
    for scorer in (make_ndcg_scorer(), make_query_scorer(top_is_best)):
        with pytest.raises(TypeError, match="Unexpected args: {'price'}"):
            scorer.set_score_request(price=True)


def test_requests_need_routing():
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True"):
        make_ndcg_scorer().set_score_request(sample_weight=True)


def test_score_requests_are_not_shared(routing):
    make_ndcg_scorer().set_score_request(sample_weight=True)
    requests = make_ndcg_scorer().get_metadata_routing().score.requests
    assert requests == {"groups": True, "sample_weight": None}


@pytest.mark.filterwarnings("ignore:.*does not support sample_weight")
def test_sample_weight_reaches_a_scorer_in_a_dict_with_routing_off(by_level):
    """scikit-learn 1.7 and later ask scorers in a dict whether they take sample_weight."""
    X, y, query = by_level
    weight = 1.0 + query
    scoring = {"ours": make_ndcg_scorer(group_by="q"), "r2": "r2"}
    search = GridSearchCV(Ridge(), {}, scoring=scoring, refit="ours", cv=GroupKFold(4))
    search.fit(X, y, groups=query, sample_weight=weight)
    train, test = next(iter(GroupKFold(4).split(X, y, query)))
    s = Ridge().fit(X.iloc[train], y[train], weight[train]).predict(X.iloc[test])
    weights = {"sample_weight": weight[test]} if SKLEARN_VERSION >= (1, 7) else {}
    expected = ndcg_score(y[test], s, groups=query[test], **weights)
    assert search.cv_results_["split0_test_ours"][0] == pytest.approx(expected)


# --- functions in the place of scorers


@pytest.mark.parametrize("metric", [ndcg_score, dcg_score])
def test_a_metric_in_a_tool_leads_to_the_scorer(data, metric):
    X, y, _ = data
    with pytest.raises(ValueError, match=r"(?s)^y_true .*scoring=make_ndcg_scorer\("):
        cross_val_score(Ridge(), X, y, scoring=make_scorer(metric, k=3), error_score="raise")
    with pytest.raises(TypeError, match=f"{metric.__name__}.. takes .* 2 positional arguments"):
        cross_val_score(Ridge(), X, y, scoring=metric, error_score="raise")


@pytest.mark.parametrize("make", [make_ndcg_scorer, make_dcg_scorer])
def test_a_maker_of_scorers_is_not_a_scorer(data, make):
    X, y, _ = data
    with pytest.raises(TypeError, match=f"{make.__name__}.* takes 0 positional arguments but 1"):
        make(5)
    with pytest.raises(TypeError, match=f"{make.__name__}.* takes 0 positional arguments but 3"):
        cross_val_score(Ridge(), X, y, scoring=make, error_score="raise")


# --- undefined queries, of which is spoken once for each fold


def warned(caught):
    return [str(item.message) for item in caught if item.category is UndefinedMetricWarning]


def test_undefined_omit_warns_of_a_fold_without_a_relevant_document(by_level):
    X, y, query = by_level
    y[query < 5] = 0
    scorer = make_ndcg_scorer(k=1, group_by="q", undefined="omit")
    splits = [(query // 5 != fold, query // 5 == fold) for fold in range(4)]
    search = GridSearchCV(Ridge(), {"alpha": np.logspace(-3, 3, 20)}, scoring=scorer, cv=splits)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y)
    assert np.isnan(search.cv_results_["split0_test_score"]).all()
    assert not np.isnan(search.cv_results_["split1_test_score"]).any()
    [message] = warned(caught)
    assert message.startswith("The score is nan")
    assert "all candidates are ranked first" in message


def highest_grade(y_true, y_score):
    return y_true.max() or np.nan


def test_undefined_queries_are_spoken_of_once_for_each_fold_and_measure(by_level):
    X, y, query = by_level
    y[query % 3 == 0] = 0
    y[query < 5] = 0  # a fold that has no defined query
    scoring = {
        "silent": make_ndcg_scorer(k=1, group_by="q", undefined=0),
        "first": make_ndcg_scorer(k=1, group_by="q"),
        "second": make_ndcg_scorer(k=3, group_by="q"),
        "other": make_query_scorer(highest_grade, group_by="q"),
    }
    highest = np.array([y[query == number].max() for number in query])
    for splits in ([query // 5 == fold for fold in range(4)], [query % 4 == n for n in range(4)]):
        search = GridSearchCV(
            Ridge(), {"alpha": [0.1, 1, 10]}, scoring=scoring, refit="first",
            cv=[(~test, test) for test in splits], return_train_score=True,
        )  # fmt: skip
        with pytest.warns(UndefinedMetricWarning) as caught:
            search.fit(X, y)
        expected = [
            f"{name} is undefined for {n} of 5 queries"
            for n in [np.unique(query[test & (highest == 0)]).size for test in splits]
            for name in ("NDCG", "highest_grade")
        ]
        assert [message.split(",")[0] for message in warned(caught)] == expected


def test_undefined_raise_raises_for_each_candidate(by_level):
    X, y, query = by_level
    y[query < 5] = 0
    scorer = make_ndcg_scorer(group_by="q", undefined="raise")
    for _ in range(2):
        with pytest.raises(ValueError, match="NDCG is undefined for"):
            cross_val_score(
                Ridge(), X, y, scoring=scorer, cv=[(query > 4, query < 9)], error_score="raise"
            )


def test_a_scorer_that_is_called_by_hand_warns_at_each_call(by_level):
    X, y, query = by_level
    y[query < 5] = 0
    scorer = make_ndcg_scorer(group_by="q")
    for _ in range(3):
        with pytest.warns(UndefinedMetricWarning):
            scorer(FirstColumn(), X, y)
