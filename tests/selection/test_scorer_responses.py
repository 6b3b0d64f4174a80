"""Scorers: what an estimator's output means (response_method)."""

from fractions import Fraction

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from sklearn_ndcg import (
    GroupedRanker,
    dcg_score,
    make_dcg_scorer,
    make_ndcg_scorer,
    ndcg_score,
    one_ranking,
)

ONE_RANKING = make_ndcg_scorer(group_by=one_ranking)


class Given(ClassifierMixin, BaseEstimator):
    """A classifier into grades from 0, whose probabilities are X."""

    def predict_proba(self, X):
        return np.asarray(X)

    def fit(self, X, y=None):
        self.classes_ = np.arange(np.shape(X)[1])
        return self


# --- the expected gain of classifiers


@pytest.mark.parametrize(
    ("gain", "grades", "gains"),
    [
        ("linear", [0, 1, 2, 3], [0, 1, 2, 3]),
        ("exponential", [0, 1, 2, 3], [0, 1, 3, 7]),
        ([0, 9, 9, 1], [0, 1, 2, 3], [0, 9, 9, 1]),
        ("linear", [0, 1, 5, 50], [0, 1, 5, 50]),  # grades are not positions
    ],
)
@pytest.mark.parametrize("n_known", [3, 4])  # grades of the training fold
def test_gain_is_expected_under_the_probabilities_of_classes(data, gain, grades, gains, n_known):
    X, y, query = data
    grades = np.array(grades)[y]
    model = LogisticRegression(max_iter=1000).fit(X[y < n_known], grades[y < n_known])
    expected_gains = model.predict_proba(X) @ gains[:n_known]
    expected = ndcg_score(grades, expected_gains, groups=query, gain=gain)
    found = make_ndcg_scorer(gain=gain)(model, X, grades, groups=query)
    assert found == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("model", "method", "dtype"),
    [
        (LogisticRegression(), "predict_proba", float),
        (LogisticRegression(), "predict_proba", bool),
        (SVC(), "decision_function", int),
    ],
)
def test_response_method_of_binary_classifiers(data, model, method, dtype):
    X, y, query = data
    y = (y > 0).astype(dtype)
    response = getattr(model.fit(X, y), method)(X)
    expected = ndcg_score(y, response[:, 1] if response.ndim == 2 else response, groups=query)
    found = make_ndcg_scorer()(model, X, y, groups=query)
    assert found == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("response_method", "score"),
    [
        ("predict", lambda model, X: model.predict(X)),
        ("decision_function", lambda model, X: model.decision_function(X)),
        ("predict_proba", lambda model, X: model.predict_proba(X)[:, 1]),
        (["score_samples", "decision_function"], lambda model, X: model.decision_function(X)),
        (lambda model, X: -X["a"], lambda model, X: -X["a"]),
    ],
    ids=["predict", "decision_function", "predict_proba", "second", "callable"],
)
def test_response_method_that_is_given(data, response_method, score):
    X, y, query = data
    model, options = LogisticRegression().fit(X, y > 1), {"undefined": 0, "ties": "stable"}
    expected = ndcg_score(y > 1, score(model, X), groups=query, **options)
    scorer = make_ndcg_scorer(response_method=response_method, **options)
    assert scorer(model, X, y > 1, groups=query) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("model", "labels", "response_method", "words"),
    [
        (SVC(), range(4), "auto", "neither predict_proba nor.*response_method='predict'"),
        (LogisticRegression(), "abcd", "auto", r"'a'.*not numbers.*response_method"),
        (Ridge(), range(4), ["predict_proba"], r"Ridge has no such method: .*\['predict_proba'"),
        (LogisticRegression(), range(4), "decision_function", r"same shape, got \(105,\) and"),
    ],
    ids=["neither", "text", "no such method", "matrix"],
)
def test_response_method_that_gives_no_scores_is_refused(
    data, model, labels, response_method, words
):
    X, y, query = data
    y = np.array(list(labels))[y]
    with pytest.raises(ValueError, match=words):
        make_ndcg_scorer(response_method=response_method)(model.fit(X, y), X, y, groups=query)


@pytest.mark.parametrize("model", [KMeans(3, n_init=1), OneClassSVM()])
def test_response_method_of_clusters_and_outliers_has_to_be_given(data, model):
    X, y, query = data
    fitted = make_pipeline(StandardScaler(), clone(model)).fit(X)
    with pytest.raises(ValueError, match="predicts labels, .*response_method='score_samples'"):
        make_ndcg_scorer()(fitted, X, y, groups=query)


def test_gain_without_an_entry_for_a_class(data):
    X, y, query = data
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"no entry for 1 value of classes_, the first 3"):
        make_ndcg_scorer(gain=[0, 1, 2])(model, X, y % 3, groups=query)


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ([0, 1, 2], r"shape \(105, 4\) for the classes \[0, 1, 2\]"),
        ([0, 1, 2, 2000], r"finite gain.*inf"),
    ],
)
def test_classes_that_do_not_fit_the_probabilities_or_the_gain(data, classes, words):
    X, y, query = data
    model = LogisticRegression().fit(X, y)
    model.classes_ = np.array(classes)
    with pytest.raises(ValueError, match=words):
        make_ndcg_scorer(gain="exponential")(model, X, y, groups=query)


class Probabilities:
    """A classifier of which only the types of what it returns differ."""

    def __init__(self, classes, convert):
        self.classes_, self.convert = classes, convert

    def predict_proba(self, X):
        p = np.asarray(X)[:, 0] - np.min(X) + 0.1
        p /= 2 * p.max()
        return self.convert(np.c_[p, 1 - p])


@pytest.mark.parametrize("convert", [np.asarray, np.ndarray.tolist, lambda p: p.astype(object)])
@pytest.mark.parametrize(
    "classes", [[0, 2], np.array([0, 2]), np.array([0, 2], dtype=object), np.array([0.0, 2.0])]
)
def test_probabilities_and_classes_may_be_lists_or_objects(data, classes, convert):
    X, y, query = data
    model = Probabilities(classes, convert)
    expected = ndcg_score(y, -X["a"], groups=query)
    assert make_ndcg_scorer()(model, X, y, groups=query) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("classes", "convert", "words"),
    [
        (np.array(["0", "2"], dtype=object), np.asarray, "are not numbers"),
        ([0, 2], lambda p: p.astype(str), "Each class needs a probability"),
    ],
)
def test_text_is_no_probability_and_no_grade(data, classes, convert, words):
    X, y, query = data
    with pytest.raises(ValueError, match=words):
        make_ndcg_scorer()(Probabilities(classes, convert), X, y, groups=query)


# --- several labels


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (RandomForestClassifier(n_estimators=5, random_state=0), "predict_proba"),
        (MultiOutputClassifier(LogisticRegression()), "predict_proba"),
        (OneVsRestClassifier(LogisticRegression()), "predict_proba"),
        (RidgeClassifier(), "decision_function"),
        (LinearRegression(), "predict"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_response_method_of_multilabel_estimators(data, model, method):
    X, y, _ = data
    wide = np.c_[y > 0, y > 1, y > 2].astype(int)
    score = getattr(model.fit(X, wide), method)(X)
    score = np.column_stack([p[:, 1] for p in score]) if isinstance(score, list) else score
    options = {"k": 2, "undefined": 0}
    expected = ndcg_score(wide, score, **options)
    assert make_ndcg_scorer(**options)(model, X, wide) == pytest.approx(expected, rel=1e-14)


def test_a_label_may_have_a_single_class(data):
    X, y, _ = data
    wide = np.c_[y > 0, y > 9, y > -1].astype(int)
    model = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, wide)
    p = model.predict_proba(X)[0][:, 1]
    expected = ndcg_score(wide, np.c_[p, np.zeros(len(y)), np.ones(len(y))])
    assert make_ndcg_scorer()(model, X, wide) == pytest.approx(expected, rel=1e-14)


def test_a_label_may_have_several_grades(data):
    X, y, _ = data
    wide = np.c_[y, 3 - y]
    model = KNeighborsClassifier().fit(X, wide)
    score = np.column_stack([p @ [0, 1, 2, 3] for p in model.predict_proba(X)])
    assert make_ndcg_scorer()(model, X, wide) == pytest.approx(ndcg_score(wide, score), rel=1e-14)


# --- estimators that do not say what they are


class Predicts:
    def predict(self, X):
        return np.asarray(X)[:, 0]


def test_estimators_without_tags(data):
    X, y, query = data
    expected = ndcg_score(y, X["a"], groups=query)
    assert make_ndcg_scorer()(Predicts(), X, y, groups=query) == expected


@pytest.mark.parametrize("base", [object, BaseEstimator])
def test_what_has_neither_type_nor_probabilities_is_no_classifier(data, base):
    X, y, query = data
    model = type("Untyped", (Predicts, base), {"classes_": np.unique(y)})()
    assert make_ndcg_scorer()(model, X, y, groups=query) == ndcg_score(y, X["a"], groups=query)


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


@pytest.mark.parametrize("around", [lambda model: model, GroupedRanker], ids=["alone", "ranker"])
def test_what_has_probabilities_of_several_classes_is_a_classifier(data, wrap, around):
    X, y, query = data
    expected = make_ndcg_scorer()(LogisticRegression().fit(X, y), X, y, groups=query)
    model = wrap(around(Untyped())).fit(X, y)
    assert make_ndcg_scorer()(model, X, y, groups=query) == pytest.approx(expected)


def test_response_method_is_asked_for_where_probabilities_have_no_classes(data):
    X, y, query = data
    model = Untyped().fit(X, y > 1)
    del model.classes_
    expected = ndcg_score(y, model.predict(X), groups=query)
    with pytest.warns(UserWarning, match="^Untyped has predict_proba but no classes_.*'predict'"):
        assert make_ndcg_scorer()(model, X, y, groups=query) == expected
    assert make_ndcg_scorer(response_method="predict")(model, X, y, groups=query) == expected
    for classes in (None, [1]):  # a regressor of AutoGluon; of one class nothing is to be ranked
        model.classes_ = classes
        assert make_ndcg_scorer()(model, X, y, groups=query) == expected


# --- expected gains that are equal in exact arithmetic


def exact_gains(proba, gains, denominator=10**9):
    """The rank of each row's expected gain, in fractions."""
    gains = [Fraction(str(gain)) for gain in gains]
    rows = [[Fraction(p).limit_denominator(denominator) for p in row] for row in proba.tolist()]
    sums = [sum(p * gain for p, gain in zip(row, gains, strict=True)) for row in rows]
    return np.unique(np.array(sums, dtype=object), return_inverse=True)[1]


@pytest.mark.parametrize(
    ("model", "denominator", "gain", "gains"),
    [  # votes and leaves are fractions of small denominators
        (KNeighborsClassifier(5), 5, [0, 0.1, 0.3, 0.7, 1.1], [0, 0.1, 0.3, 0.7, 1.1]),
        (DecisionTreeClassifier(max_depth=3), 10**9, "exponential", [0, 1, 3, 7, 15]),
    ],
    ids=["table", "exponential"],
)
def test_gains_that_are_equal_in_exact_arithmetic_tie(model, denominator, gain, gains):
    rng = np.random.default_rng(1)
    query = np.repeat(np.arange(120), 6)
    X = rng.normal(size=(len(query), 3))
    y = np.clip(np.round(X[:, 0] + rng.normal(size=len(query)) + 1), 0, 4)
    proba = model.fit(X[:420], y[:420]).predict_proba(X[420:])
    X, y, query = X[420:], y[420:], query[420:]
    options = {"k": 5, "gain": gain, "undefined": 0.0}
    exact = exact_gains(proba, gains, denominator)
    expected = pytest.approx(ndcg_score(y, exact, groups=query, **options), abs=1e-13)
    assert make_ndcg_scorer(**options)(model, X, y, groups=query) == expected
    rounded = np.round(proba @ gains, 10)  # the line in docs/traps.md
    assert ndcg_score(y, rounded, groups=query, **options) == expected


def test_negative_gains_that_cancel_out_tie():
    proba = np.array([[0.1, 0.3, 0.2, 0.3, 0.1], [0, 0.3, 0.6, 0, 0.1], [0.3, 0.2, 0.1, 0.3, 0.1]])
    gain, y = [gain / 8 for gain in (-3, -1, 0, 1, 3)], [0, 4, 2]
    found = make_dcg_scorer(group_by=one_ranking, gain=gain)(Given().fit(proba), proba, y)
    expected = dcg_score([y], [exact_gains(proba, gain)], gain=gain)
    assert found == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])  # XGBoost and CatBoost have float32
@pytest.mark.parametrize("share", np.logspace(-7, -4, 4))
def test_equal_gains_close_to_the_highest_tie(share, dtype):
    y, expected = [4, 0, 2], ndcg_score([[4, 0, 2]], [[1, 1, 0]])
    # the first two rows lack twice this share of the highest gain
    proba = [[0, 0, 0, 2 * share, 1 - 2 * share], [0, 0, share, 0, 1 - share], [0.5, 0, 0, 0, 0.5]]
    proba = np.array(proba, dtype)
    assert ONE_RANKING(Given().fit(proba), proba, y) == pytest.approx(expected, abs=1e-15)


def test_certain_probabilities_of_a_binary_classifier_stay_apart():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = GaussianNB().fit(X, y)
    proba = model.predict_proba(X)[:, 1]
    assert np.count_nonzero(proba > 1 - 1e-12) > 20
    relevance = X[:, 0].max() - X[:, 0]
    expected = sklearn.metrics.ndcg_score([relevance], [proba])
    assert ONE_RANKING(model, X, relevance) == pytest.approx(expected, abs=1e-12)


def test_the_score_of_a_row_does_not_depend_on_the_rows_beside_it():
    """A matrix product adds in another order for other numbers of rows."""
    rng, gains = np.random.default_rng(0), np.arange(8.0)
    proba = rng.dirichlet(np.ones(8), 6000)
    # expected gains in the middle between two numbers of 40 bits, where the last bit decides
    missing = (np.floor(proba @ gains * 2**38) + 0.5) / 2**38 - proba @ gains
    proba[:, 1] += missing
    proba[:, 0] -= missing
    model = Given().fit(proba)

    def scores(rows):
        return ONE_RANKING.scores_and_groups(model, rows, np.zeros(len(rows)), None)[0]

    expected = scores(proba)
    for n in (3, 7, 50):
        found = [scores(proba[start : start + n]) for start in range(0, len(proba), n)]
        np.testing.assert_array_equal(np.concatenate(found), expected)


@pytest.mark.parametrize("response_method", ["auto", "predict", ["predict_proba", "predict"]])
def test_what_is_no_estimator_is_an_error(response_method):
    scorer = make_ndcg_scorer(group_by=one_ranking, response_method=response_method)
    with pytest.raises(TypeError, match="estimator must be a fitted estimator, got 5"):
        scorer(5, np.zeros((2, 1)), [0, 1])
