"""make_query_scorer: the mean of any function over queries."""

import re
import warnings
from fractions import Fraction
from functools import partial
from operator import itemgetter

import numpy as np
import pandas as pd
import pytest
from helpers import FirstColumn
from joblib import parallel_config
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    fbeta_score,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, GroupKFold

from sklearn_ndcg import dcg_score, make_ndcg_scorer, make_query_scorer, ndcg_score


def reciprocal_rank(y_true, y_score):
    ranked = y_true[np.argsort(-y_score, kind="stable")] > 0
    return 1 / (1 + np.argmax(ranked)) if ranked.any() else np.nan


def binary(function):
    """The function of whether a document is relevant; nan for a single class."""

    def of_relevant(y_true, y_score, **options):
        if len(np.unique(y_true > 1)) == 1:
            return np.nan
        return function(y_true > 1, y_score, **options)

    return of_relevant


def mean_by_hand(function, y, score, query, weight, undefined):
    """The mean of the function over queries; undefined are those with a single class."""
    values, weights = [], []
    for rows in (query == number for number in np.unique(query)):
        is_defined = len(np.unique(y[rows] > 1)) == 2
        values.append(function(y[rows], score[rows]) if is_defined else undefined)
        weights.append(weight[rows].mean())
    is_counted = ~np.isnan(values)
    return np.average(np.array(values)[is_counted], weights=np.array(weights)[is_counted])


@pytest.fixture
def some_undefined(data):
    """Rows of which 4 of 20 queries have a single class, without a relevant document."""
    X, y, query = data
    y = np.where(query % 5 == 0, y % 2, y)
    for number in np.unique(query):  # the other queries have both classes
        first, second, *_ = np.flatnonzero(query == number)
        y[first], y[second] = 0, 3 if number % 5 else 1
    return X, y, query


# --- the mean over queries


@pytest.mark.parametrize(("undefined", "value"), [("warn", 0), ("omit", np.nan), (0.25, 0.25)])
@pytest.mark.parametrize("is_weighted", [False, True], ids=["unweighted", "weighted"])
def test_score_func_is_averaged_over_queries(some_undefined, undefined, value, is_weighted):
    X, y, query = some_undefined
    score = X["a"].to_numpy()
    weight = 1.0 + is_weighted * (query % 3 + score % 1)
    scorer = make_query_scorer(binary(roc_auc_score), undefined=undefined)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = scorer(FirstColumn(), X, y, weight if is_weighted else None, groups=query)
    expected = mean_by_hand(binary(roc_auc_score), y, score, query, weight, value)
    assert found == pytest.approx(expected, rel=1e-14)
    warned = [(item.category, "for 4 of 20 queries" in str(item.message)) for item in caught]
    assert warned == [(UndefinedMetricWarning, True)] * (undefined == "warn")


def test_the_warning_of_a_negative_mean_has_a_zero_without_a_sign(some_undefined):
    X, y, query = some_undefined
    scorer = make_query_scorer(binary(roc_auc_score), greater_is_better=False)
    with pytest.warns(UndefinedMetricWarning, match=r"set to 0\.0 .*undefined=0\.0, "):
        scorer(FirstColumn(), X, y, groups=query)


def test_greater_is_better_false_gives_the_negative_mean(some_undefined):
    X, y, query = some_undefined
    function = binary(average_precision_score)
    options = {"undefined": 0.25, "group_by": lambda X: query}
    loss = make_query_scorer(function, greater_is_better=False, **options)(FirstColumn(), X, y)
    assert loss == -make_query_scorer(function, **options)(FirstColumn(), X, y) < 0


def test_undefined_is_nan(some_undefined):
    X, y, query = some_undefined
    scorer = make_query_scorer(reciprocal_rank, undefined="omit", group_by=lambda X: query)
    found = scorer(FirstColumn(), X.assign(a=1), np.where(query % 5, 3, y))
    assert found == pytest.approx(0.9)  # two queries count 0.5


@pytest.mark.parametrize(
    ("score_func", "options"),
    [
        (average_precision_score, {}),
        (partial(average_precision_score, average="micro"), {}),
        (partial(average_precision_score, pos_label=0), {}),
        (partial(average_precision_score, pos_label=0), {"pos_label": 1}),
        (recall_score, {}),
        (f1_score, {}),
        (partial(fbeta_score, beta=2), {}),
    ],
)
@pytest.mark.parametrize("undefined", ["omit", 0.25])
def test_metrics_of_scikit_learn_are_undefined_without_a_positive(
    some_undefined, score_func, options, undefined
):
    X, y, query = some_undefined
    positive = {**getattr(score_func, "keywords", {}), **options}.get("pos_label", 1)
    y, score = np.where(y > 1, positive, 1 - positive), (X["a"].to_numpy() > 0).astype(int)
    score = np.where(query % 5, score, 0)  # so that F is undefined, too
    scorer = make_query_scorer(score_func, undefined=undefined, **options)
    found = scorer(FirstColumn(), X.assign(a=score), y, groups=query)
    values = [
        score_func(y[query == number], score[query == number], **options)
        if number % 5
        else undefined
        for number in range(20)
        if number % 5 or undefined != "omit"
    ]
    assert found == pytest.approx(np.mean(values), rel=1e-14)


@pytest.mark.parametrize(
    ("score_func", "options"),
    [
        (precision_score, {"zero_division": 1}),
        (partial(precision_score, zero_division=1), {}),
        (partial(precision_score, zero_division=0), {"zero_division": 1}),
        (partial(jaccard_score, zero_division=1), {}),
    ],
)
def test_the_value_for_0_over_0_may_be_passed(some_undefined, score_func, options):
    X, _, query = some_undefined
    scorer = make_query_scorer(score_func, **options)
    assert scorer(FirstColumn(), X.assign(a=0), np.zeros(len(query), int), groups=query) == 1


def test_a_class_that_is_not_known_is_still_an_error(data):
    X, y, query = data
    score_func = partial(average_precision_score, pos_label=7)
    with pytest.raises(ValueError, match="pos_label=7 is not a valid label"):
        make_query_scorer(score_func)(FirstColumn(), X, y > 1, groups=query)


# --- what score_func gets


def test_score_func_gets_the_rows_of_a_query_and_may_change_them(data):
    X, y, query = data
    unjudged = np.where(np.arange(len(y)) % 7 == 0, np.nan, y)
    before, calls = unjudged.copy(), []

    def note(y_true, y_score, *, by):
        calls.append({"y": y_true.copy(), "score": y_score.copy(), "by": by})
        y_true[:], y_score[:] = 0, 0
        return 1

    score = X["a"].to_numpy(copy=True)
    assert make_query_scorer(note, by=7)(FirstColumn(), X, unjudged, groups=query) == 1
    assert list(map(itemgetter("by"), calls)) == [7] * 20
    order = np.argsort(query, kind="stable")
    np.testing.assert_array_equal(np.concatenate([call["y"] for call in calls]), before[order])
    np.testing.assert_array_equal(np.concatenate([call["score"] for call in calls]), score[order])
    np.testing.assert_array_equal(unjudged, before)
    np.testing.assert_array_equal(X["a"], score)


@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 3]])
def test_score_func_gets_the_expected_class(data, classes):
    X, y, query = data
    y = np.array(classes)[y % len(classes)]
    model, scores = LogisticRegression().fit(X, y), []
    scorer = make_query_scorer(lambda y_true, y_score: scores.append(y_score) or 1.0)
    scorer(model, X, y, groups=query)
    rows = np.argsort(query, kind="stable")
    np.testing.assert_allclose(np.concatenate(scores), model.predict_proba(X)[rows] @ classes)


def test_score_func_gets_the_rows_of_a_matrix(data):
    X, y, _ = data
    wide = np.c_[y > 0, y > 1, y > 2].astype(int)
    model = LinearRegression().fit(X, wide)
    values = [reciprocal_rank(*rows) for rows in zip(wide, model.predict(X), strict=True)]
    found = make_query_scorer(reciprocal_rank, undefined="omit")(model, X, wide)
    assert found == pytest.approx(np.nanmean(values))


@pytest.mark.parametrize("call", [{"b": 2}, {"price": [1.0]}])
def test_options_are_bound_when_the_scorer_is_made(data, call):
    X, y, query = data
    scorer = make_query_scorer(lambda y_true, y_score, a: a, a=1)
    assert scorer(FirstColumn(), X, y, groups=query) == 1
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        scorer(FirstColumn(), X, y, groups=query, **call)


# --- functions that cannot score one query


@pytest.mark.parametrize(
    ("score_func", "error", "words"),
    [
        (average_precision_score, ValueError, "average_precision_score gets the .* of one query"),
        (lambda y, s: 1 / (y.max() - y.max()).item(), ZeroDivisionError, "division by zero"),
    ],
    ids=["grades", "division"],
)
def test_errors_of_score_func_are_not_caught(data, score_func, error, words):
    X, y, query = data
    with pytest.raises(error, match=words):
        make_query_scorer(score_func)(FirstColumn(), X, y, groups=query)


@pytest.mark.parametrize(
    "returned",
    [None, "0.3", b"1", np.inf, -1e101, [1.0], [[1], []], np.ones(1), 1j, 10**400],
    ids=repr,
)
def test_what_is_not_a_number_is_an_error_that_names_the_function(data, returned):
    def share(y_true, y_score):
        return returned

    X, y, query = data
    message = rf"share must return a number .* or nan.*{re.escape(repr(returned))} for query 0"
    with pytest.raises(ValueError, match=message):
        make_query_scorer(share)(FirstColumn(), X, y, groups=query)


@pytest.mark.parametrize("returned", [1, True, np.float32(1), np.array(1.0), Fraction(1)], ids=repr)
def test_numbers_of_any_type_are_values(data, returned):
    X, y, query = data
    scorer = make_query_scorer(lambda y_true, y_score: returned)
    assert scorer(FirstColumn(), X, y, groups=query) == 1


# --- threads share the filters of warnings


def test_threads_get_the_same_numbers_and_leave_the_filters_of_warnings():
    query = np.repeat(np.arange(80), 8)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(640, 3)), index=pd.Index(query, name="q"))
    y = (rng.random(640) < 0.15).astype(int)
    scoring = {
        "ap": make_query_scorer(average_precision_score, group_by="q", undefined="omit"),
        "ndcg": make_ndcg_scorer(group_by="q", undefined=0.0),
    }
    search = GridSearchCV(
        Ridge(),
        {"alpha": [0.1, 1, 10]},
        cv=list(GroupKFold(4).split(X, y, query)),
        scoring=scoring,
        refit=False,
    )
    names = [f"split{fold}_test_{name}" for fold in range(4) for name in scoring]

    def cells():
        results = search.fit(X, y).cv_results_
        return [results[name].tolist() for name in names]

    expected = cells()
    with warnings.catch_warnings(), parallel_config(backend="threading", n_jobs=4):
        for _ in range(8):  # in one search, threads do not meet each time
            assert cells() == expected
        # scikit-learn's own filters may be in another order
        assert UndefinedMetricWarning not in {category for _, _, category, *_ in warnings.filters}


def test_a_function_may_score_by_another(data):
    X, y, query = data
    inner = make_query_scorer(lambda y_true, y_score: 1.0)

    def outer(y_true, y_score):
        return inner(FirstColumn(), np.c_[y_score], y_true, groups=np.zeros(len(y_true)))

    assert make_query_scorer(outer)(FirstColumn(), X, y, groups=query) == 1


@pytest.mark.parametrize(
    "wrong", ["roc_auc", make_scorer(roc_auc_score), make_ndcg_scorer(), Ridge], ids=repr
)
def test_score_func_must_be_a_function(wrong):
    with pytest.raises(TypeError, match="^score_func must be a function of y_true and y_score"):
        make_query_scorer(wrong)


@pytest.mark.parametrize("metric", [dcg_score, ndcg_score, metrics.dcg_score, metrics.ndcg_score])
def test_a_metric_of_all_queries_has_its_own_scorer(metric):
    with pytest.raises(TypeError, match=f"takes those of all: use make_{metric.__name__}r"):
        make_query_scorer(metric)
