"""Scorers: parameters, cutoffs, how they are shown, scikit-learn's tools and metadata routing."""

import pickle
from copy import deepcopy
from inspect import Parameter, signature

import numpy as np
import pytest
import sklearn
from helpers import FirstColumn, graded_rows
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate

from sklearn_ndcg import (
    dcg_score,
    make_dcg_scorer,
    make_ndcg_scorer,
    make_query_scorer,
    ndcg_score,
    one_ranking,
)

# --- parameters


def top_is_best(y_true, y_score, grade=3):
    """Whether the document with the highest score has the grade."""
    return y_true[np.argmax(y_score)] == grade


def pickled(scorer):
    return pickle.loads(pickle.dumps(scorer))  # noqa: S301


SCORERS = [
    make_ndcg_scorer(k=[1, None], group_by="q", gain=[0, 3, 7, 9]),
    make_dcg_scorer(k=5, group_by=one_ranking, log_base=3),
    make_ndcg_scorer(k="retrieved", response_method=["decision_function", "predict"]),
    make_ndcg_scorer(all_groups=graded_rows()[2]),
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
        (make_ndcg_scorer(k=3, group_by="q"), "group_by='q', k=3, score_func='ndcg'"),
        (make_dcg_scorer(log_base=10), "log_base=10, score_func='dcg'"),
        (SCORERS[-1], "grade=2, greater_is_better=False, score_func=<function top_is_best at "),
    ],
)
def test_the_repr_has_the_options_that_are_not_defaults(scorer, shown):
    assert f"GroupedScorer({shown}" in " ".join(repr(scorer).split())
    search = GridSearchCV(Ridge(), {}, scoring=scorer)
    assert f"GroupedScorer({shown}" in " ".join(repr(search).split())


OWN = {"group_by", "response_method", "name", "all_groups", "score_func"}


@pytest.mark.parametrize(
    ("make", "metric"), [(make_ndcg_scorer, ndcg_score), (make_dcg_scorer, dcg_score)]
)
def test_parameters_are_those_of_the_metric(make, metric):
    """A new option of the metric is one of the scorer, and has an effect there."""
    parameters = signature(metric).parameters
    options = {
        name: parameters[name].default
        for name in parameters
        if parameters[name].kind is Parameter.KEYWORD_ONLY
    }
    del options["groups"], options["sample_weight"]
    found = make().get_params()
    assert {name: found[name] for name in found if name not in OWN} == options
    assert set(found) == options.keys() | OWN


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
def test_parameters_can_be_set(data, make, metric, changed):
    X, y, query = data
    X, y = X.assign(a=X["a"].round()), np.where(query == 0, 0, y).astype(float)  # with ties
    y[3] = np.nan if "unjudged" in changed else y[3]
    options = {"undefined": 0.5} if make is make_ndcg_scorer else {}
    scorer = make(**options)
    before = clone(scorer)
    assert scorer.set_params(**changed) is scorer
    expected = metric(y, X["a"], groups=query, **options | changed)
    assert scorer(FirstColumn(), X, y, groups=query) == expected
    assert clone(scorer)(FirstColumn(), X, y, groups=query) == expected
    if "unjudged" not in changed:
        assert before(FirstColumn(), X, y, groups=query) != expected


def test_parameters_of_a_query_scorer_can_be_set(data):
    X, y, query = data
    scorer = make_query_scorer(top_is_best, grade=2, undefined=0)
    expected = {"score_func": top_is_best, "grade": 2, "greater_is_better": True, "undefined": 0}
    assert {name: scorer.get_params()[name] for name in expected} == expected
    for changed in ({"grade": 1}, {"greater_is_better": False}, {"score_func": never}):
        other = make_query_scorer(**expected | changed)
        found = clone(scorer).set_params(**changed)(FirstColumn(), X, y, groups=query)
        assert found == other(FirstColumn(), X, y, groups=query)
        assert found != scorer(FirstColumn(), X, y, groups=query)


def never(y_true, y_score, grade):
    return -1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"k": 0}, "k must be an integer"),
        ({"gain": "exp"}, "gain must be one of"),
        ({"undefined": 2}, "undefined must be"),
        ({"response_method": "transform"}, "response_method must be"),
        ({"response_method": []}, "response_method must be"),
        ({"k": [1, 2], "name": "ndcg"}, "name must be"),
    ],
    ids=str,
)
def test_parameters_that_were_set_are_checked_when_it_scores(data, wrong, words):
    X, y, query = data
    scorer = make_ndcg_scorer().set_params(**wrong)
    with pytest.raises(ValueError, match=words):
        scorer(FirstColumn(), X, y, groups=query)


def test_parameters_that_a_scorer_does_not_have_cannot_be_set():
    words = r"'log_base' .* parameters are: \['all_groups', 'discount', 'gain', .*, 'unjudged'\]"
    with pytest.raises(ValueError, match=words) as caught:
        make_ndcg_scorer().set_params(log_base=10)
    assert str(caught.value).count("log_base") == 1
    with pytest.raises(ValueError, match="Invalid parameter 'grade'"):
        make_ndcg_scorer().set_params(grade=10)
    for metric in ("dcg", top_is_best):  # which have other options
        with pytest.raises(ValueError, match="score_func=.* make a new scorer"):
            make_ndcg_scorer().set_params(score_func=metric)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"k": 0}, ValueError, "k must be an integer"),
        ({"k": [5, 1, 5]}, ValueError, "k must list different cutoffs"),
        ({"log_base": 3}, TypeError, "no option 'log_base'.*gain, "),
        ({"groups": [1]}, TypeError, "make_ndcg_scorer does not take groups.*Pass group_by"),
        (
            {"sample_weight": {0: 2.0}},
            TypeError,
            r"not take sample_weight.*set_score_request\(sample_weight=True\).*params=",
        ),
        ({"gain": "exp"}, ValueError, "gain must be one of"),
        ({"k": [1, 5], "name": "ndcg"}, ValueError, "name must be .*'ndcg_at_{k}'"),
        ({"response_method": "transform"}, ValueError, "response_method must be"),
        ({"response_method": ["predict", "auto"]}, ValueError, "response_method must be"),
        ({"response_method": []}, ValueError, "response_method must be"),
    ],
    ids=str,
)
def test_bad_parameters(parameters, error, words):
    with pytest.raises(error, match=words):
        make_ndcg_scorer(**parameters)


# --- k and name


@pytest.mark.parametrize(
    ("make", "metric", "name"),
    [(make_ndcg_scorer, ndcg_score, "ndcg"), (make_dcg_scorer, dcg_score, "dcg")],
)
@pytest.mark.parametrize("k", [[1, 5, None, "retrieved"], ("retrieved", 3), range(1, 4)])
def test_k_of_several_cutoffs_gives_a_dict_from_one_prediction(data, make, metric, name, k):
    X, y, query = data
    score, predictions = np.where(X["b"] > 0, X["a"], -np.inf), []
    scorer = make(k=k, response_method=lambda model, X: predictions.append(score) or score)
    found = scorer(None, X, y, groups=query)
    assert len(predictions) == 1
    names = [name if cutoff is None else f"{name}@{cutoff}" for cutoff in k]
    values = [metric(y, score, groups=query, k=cutoff) for cutoff in k]
    assert found == pytest.approx(dict(zip(names, values, strict=True)), rel=1e-14)
    assert {type(value) for value in found.values()} == {float}


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        (None, ["ndcg@1", "ndcg", "ndcg@retrieved"]),
        ("ndcg_at_{k}", ["ndcg_at_1", "ndcg", "ndcg_at_retrieved"]),
        ("test-{k}", ["test-1", "test", "test-retrieved"]),
        ("n{k}_at_{k}", ["n1_at_1", "n", "nretrieved_at_retrieved"]),
    ],
)
def test_name_spells_the_keys(name, keys, data):
    X, y, query = data
    cutoffs = [1, None, "retrieved"]
    scorer = make_ndcg_scorer(k=cutoffs, name=name)
    assert list(scorer(FirstColumn(), X, y, groups=query)) == keys
    assert scorer.__name__ == ", ".join(keys)
    assert [make_ndcg_scorer(k=k, name=name).__name__ for k in cutoffs] == keys


def test_a_list_of_one_cutoff_gives_a_dict(data):
    X, y, query = data
    expected = make_ndcg_scorer(k=3)(FirstColumn(), X, y, groups=query)
    assert make_ndcg_scorer(k=[3])(FirstColumn(), X, y, groups=query) == {"ndcg@3": expected}


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


@pytest.mark.parametrize("changed", [clone, lambda scorer: scorer.set_params(k=3)])
def test_score_requests_merge_and_are_kept(changed, routing):
    scorer = make_ndcg_scorer().set_score_request(sample_weight=True)
    scorer = changed(scorer.set_score_request(groups="session"))
    requests = {"groups": "session", "sample_weight": True}
    assert scorer.get_metadata_routing().score.requests == requests


def test_only_what_is_taken_can_be_requested(routing):
    with pytest.raises(TypeError, match="price, but can request groups, sample_weight"):
        make_ndcg_scorer().set_score_request(price=True)
    with pytest.raises(TypeError, match="price, but can request groups, sample_weight, grade"):
        make_query_scorer(top_is_best).set_score_request(price=True)


def test_requests_need_routing():
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True.* a function of X"):
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
    version = tuple(map(int, sklearn.__version__.split(".")[:2]))
    weights = {"sample_weight": weight[test]} if version >= (1, 7) else {}
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
def test_a_maker_of_scorers_is_called_by_keyword_and_is_no_scorer(data, make):
    X, y, _ = data
    words = rf"{make.__name__} takes only keyword arguments, such as k=10 .*, got 5\."
    with pytest.raises(TypeError, match=words):
        make(5)
    words = rf'not one itself: pass scoring={make.__name__}\(group_by="query"\), with parentheses'
    with pytest.raises(TypeError, match=words):
        cross_val_score(Ridge(), X, y, scoring=make, error_score="raise")


# --- undefined folds


def test_undefined_omit_warns_of_a_fold_without_a_relevant_document(by_level):
    X, y, query = by_level
    y[query < 5] = 0
    scorer = make_ndcg_scorer(k=[1, 3], group_by="q", undefined="omit")
    splits = [(query != fold, query // 5 == fold) for fold in range(4)]
    with pytest.warns(UndefinedMetricWarning, match="The score is nan.*all candidates are ranked"):
        scores = cross_validate(Ridge(), X, y, scoring=scorer, cv=splits, error_score="raise")
    assert np.isnan(scores["test_ndcg@1"]).tolist() == [True, False, False, False]
