"""make_query_scorer: the mean of any function over queries."""

import warnings

import numpy as np
import pytest
from helpers import FirstColumn
from scipy import sparse
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import average_precision_score, make_scorer, recall_score, roc_auc_score

from sklearn_ndcg import dcg_score, make_ndcg_scorer, make_query_scorer, ndcg_score


def reciprocal_rank(y_true, y_score):
    ranked = y_true[np.argsort(-y_score, kind="stable")] > 0
    return 1 / (1 + np.argmax(ranked)) if ranked.any() else np.nan


def binary(function):
    """The function of whether a document is relevant."""
    return lambda y_true, y_score, **options: function(y_true > 1, y_score, **options)


def mean_by_hand(function, y, score, query, weight, undefined):
    """The mean of the function over queries; undefined are those with a single class."""
    values, weights = [], []
    for rows in (query == each for each in np.unique(query)):
        is_defined = len(np.unique(y[rows] > 1)) == 2
        values.append(function(y[rows], score[rows]) if is_defined else undefined)
        weights.append(1 if weight is None else weight[rows].mean())
    left = ~np.isnan(values)
    return np.average(np.array(values)[left], weights=np.array(weights)[left])


@pytest.fixture
def some_undefined(data):
    """Rows of which 4 of 20 queries have a single class, without a relevant document."""
    X, y, query = data
    y = np.where(query % 5 == 0, y % 2, y)
    for each in np.unique(query):  # the other queries have both classes
        first, second, *_ = np.flatnonzero(query == each)
        y[first], y[second] = 0, 3 if each % 5 else 1
    return X, y, query


@pytest.mark.parametrize(
    ("score_func", "undefined", "value", "weighted"),
    [
        (binary(roc_auc_score), "warn", 0.0, False),
        (binary(roc_auc_score), "omit", np.nan, True),
        (binary(average_precision_score), 0.25, 0.25, False),
        (binary(average_precision_score), "omit", np.nan, False),
        (binary(average_precision_score), "warn", 0.0, True),
    ],
)
def test_score_func_is_averaged_over_queries(
    some_undefined, score_func, undefined, value, weighted
):
    X, y, query = some_undefined
    score = X["a"].to_numpy()
    weight = 1.0 + query % 3 + score % 1 if weighted else None
    scorer = make_query_scorer(score_func, undefined=undefined)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = scorer(FirstColumn(), X, y, weight, groups=query)
    assert found == pytest.approx(
        mean_by_hand(score_func, y, score, query, weight, value), rel=1e-14
    )
    said = [(each.category, "for 4 of 20 queries" in str(each.message)) for each in caught]
    assert said == [(UndefinedMetricWarning, True)] * (undefined == "warn")


def test_greater_is_better_false_gives_the_negative_mean(some_undefined):
    X, y, query = some_undefined
    function = binary(average_precision_score)
    options = {"undefined": 0.25, "group_by": lambda X: query}
    loss = make_query_scorer(function, greater_is_better=False, **options)(FirstColumn(), X, y)
    assert loss == -make_query_scorer(function, **options)(FirstColumn(), X, y) < 0


def test_undefined_raise_counts_the_queries(some_undefined):
    X, y, query = some_undefined
    scorer = make_query_scorer(binary(roc_auc_score), undefined="raise")
    with pytest.raises(ValueError, match="is undefined for 4 of 20 queries.*undefined='omit'"):
        scorer(FirstColumn(), X, y, groups=query)


def test_undefined_omit_warns_if_no_query_is_left(data):
    X, y, query = data
    scorer = make_query_scorer(lambda y, s: np.nan, undefined="omit")
    with pytest.warns(UndefinedMetricWarning, match="The score is nan.*undefined for all queries"):
        assert np.isnan(scorer(FirstColumn(), X, y, groups=query))


def says(category, text):
    def function(y_true, y_score):
        if not (y_true > 1).any():
            raise category(text)
        return 1.0

    return function


@pytest.mark.parametrize(
    ("score_func", "mean"),
    [
        (reciprocal_rank, 0.9),  # two queries count 0.5
        (lambda y, s: np.nan if y.max() < 2 else 1.0, 1.0),
        (binary(recall_score), 1.0),  # warns and returns 0
        (says(ValueError, "Only one class present in y_true. ROC AUC score is not defined"), 1.0),
        (says(UndefinedMetricWarning, "no relevant document"), 1.0),
    ],
)
def test_undefined_is_what_score_func_says_is_undefined(some_undefined, score_func, mean):
    X, y, query = some_undefined
    scorer = make_query_scorer(score_func, undefined="omit", group_by=lambda X: query)
    assert scorer(FirstColumn(), X.assign(a=1), np.where(query % 5, 3, y)) == pytest.approx(mean)


@pytest.mark.parametrize(
    ("score_func", "error", "words"),
    [
        (
            average_precision_score,
            ValueError,
            "average_precision_score gets the relevance and the scores of one query",
        ),
        (lambda y, s: 1 / (y.max() - y.max()).item(), ZeroDivisionError, "division by zero"),
        (lambda y, s: s, (TypeError, ValueError), "sequence|only|convert"),
        (lambda y: 1.0, TypeError, "positional"),
    ],
)
def test_score_func_that_fails_is_not_caught(data, score_func, error, words):
    X, y, query = data
    with pytest.raises(error, match=words):
        make_query_scorer(score_func)(FirstColumn(), X, y, groups=query)


@pytest.mark.parametrize(
    "wrong", ["roc_auc", make_scorer(roc_auc_score), make_ndcg_scorer(), Ridge, None]
)
def test_score_func_that_is_no_function_of_labels_and_scores(wrong):
    with pytest.raises(TypeError, match="^score_func must be a function of y_true and y_score"):
        make_query_scorer(wrong)


@pytest.mark.parametrize("metric", [dcg_score, ndcg_score, metrics.dcg_score, metrics.ndcg_score])
def test_a_metric_of_all_queries_has_its_own_scorer(metric):
    with pytest.raises(TypeError, match=f"takes those of all: use make_{metric.__name__}r"):
        make_query_scorer(metric)


def test_undefined_nan_means_omit(data):
    X, y, query = data
    y = np.where(query == query[0], 0, y)
    scores = [
        make_query_scorer(roc_auc_score, undefined=undefined)(FirstColumn(), X, y > 0, groups=query)
        for undefined in (np.nan, "omit")
    ]
    assert scores[0] == scores[1]


def test_score_func_gets_the_rows_of_a_query_and_may_change_them(data):
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
        np.testing.assert_array_equal(y_true, before[0][query == each])
        np.testing.assert_array_equal(y_score, before[1][query == each])
        assert by == 7
    np.testing.assert_array_equal(unjudged, before[0])
    np.testing.assert_array_equal(X["a"], before[1])


@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 3]])
def test_score_func_gets_the_expected_class(data, classes):
    X, y, query = data
    y = np.array(classes)[y % len(classes)]
    model, seen = LogisticRegression().fit(X, y), []
    scorer = make_query_scorer(lambda y_true, y_score: seen.append(y_score) or 1.0)
    scorer(model, X, y, groups=query)
    rows = np.argsort(query, kind="stable")
    np.testing.assert_allclose(np.concatenate(seen), model.predict_proba(X)[rows] @ classes)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_score_func_gets_the_rows_of_a_matrix(data, convert):
    X, y, _ = data
    wide = np.c_[y > 0, y > 1, y > 2].astype(int)
    model = LinearRegression().fit(X, wide)
    values = [reciprocal_rank(*rows) for rows in zip(wide, model.predict(X), strict=True)]
    found = make_query_scorer(reciprocal_rank, undefined="omit")(model, X, convert(wide))
    assert found == pytest.approx(np.nanmean(values))


def test_groups_and_all_groups_of_a_query_scorer(data):
    X, y, query = data
    scorer = make_query_scorer(reciprocal_rank, all_groups=query)
    with pytest.raises(ValueError, match="Scored queries are not complete"):
        scorer(FirstColumn(), X[1:], y[1:], groups=query[1:])
    with pytest.raises(ValueError, match="got no groups"):
        scorer(FirstColumn(), X, y)
