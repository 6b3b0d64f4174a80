"""2-D input: the values of scikit-learn's functions, and scikit-learn's own tests of them."""

import numpy as np
import pytest
import sklearn.metrics
from sklearn.metrics.tests import test_common as common
from sklearn.metrics.tests import test_ranking as upstream

import sklearn_ndcg

PAIRS = {
    "dcg": (sklearn.metrics.dcg_score, sklearn_ndcg.dcg_samples, sklearn_ndcg.dcg_score),
    "ndcg": (sklearn.metrics.ndcg_score, sklearn_ndcg.ndcg_samples, sklearn_ndcg.ndcg_score),
}


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def assert_agree(metric, y_true, y_score, weight=None, **options):
    """The value of each row, and their mean, are those of scikit-learn."""
    theirs, samples, score = PAIRS[metric]
    rows = zip(y_true, y_score, strict=True)
    expected = [theirs(y[np.newaxis], s[np.newaxis], **options) for y, s in rows]
    got = samples(y_true, y_score, **options)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
    expected = theirs(y_true, y_score, sample_weight=weight, **options)
    got = score(y_true, y_score, sample_weight=weight, **options)
    assert got == pytest.approx(expected, rel=1e-12, abs=1e-12)


SHAPE = 9, 40
SCORES = {
    "tied": lambda rng: rng.integers(-2, 2, SHAPE),
    "distinct": lambda rng: rng.permutation(SHAPE[0] * SHAPE[1]).reshape(SHAPE) / 7,
    "float32": lambda rng: rng.normal(size=SHAPE).astype(np.float32),
}


@pytest.mark.parametrize("k", [None, 1, 5, 1000])
@pytest.mark.parametrize("metric", PAIRS)
@pytest.mark.parametrize("scores", SCORES)
def test_random_matrices(metric, k, scores):
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 5, SHAPE) * (rng.random(SHAPE) < 0.4)
    assert_agree(metric, y_true, SCORES[scores](rng), weight=rng.random(SHAPE[0]), k=k)


@pytest.mark.parametrize("metric", PAIRS)
def test_ignored_ties(metric):
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 5, SHAPE), SCORES["distinct"](rng)
    assert_agree(metric, y_true, y_score, k=7, ignore_ties=True)


@pytest.mark.parametrize("log_base", [1.5, 10])
def test_log_base(log_base):
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(-2, 5, (20, 9)), rng.normal(size=(20, 9))
    assert_agree("dcg", y_true, y_score, log_base=log_base, k=4)


MATRICES = {
    "nothing relevant": ([[0, 0, 0]], [[1, 2, 3]]),
    "all equal": ([[1, 1]], [[5, 5]]),
    "zeros of both signs": ([[1, 0], [0, 0], [0, 1]], [[0.0, -0.0], [1, 1], [2, 3]]),
    "booleans": ([[True, False, True]], [[0.1, 0.2, 0.2]]),
    "tiny grades": ([[1e-300, 2e-300, 0]], [[1, 2, 3]]),
    "grades of all sizes": ([[1e12, 1, 1e-12, 0]], [[1, 2, 2, 3]]),
    "scores of all sizes": ([[1, 2, 3]], [[1e308, -1e308, 5e-324]]),
    "near ties": ([[1, 2, 3, 0]], [[1, 1 + 2**-52, 1, 1 - 2**-53]]),
    "large integers": ([[2**60, 2**60 + 1]], [[2**60, 2**60 + 1]]),
    "one relevant document": (np.eye(40)[:5], np.tile(np.arange(40), (5, 1))),
}


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("case", MATRICES)
def test_degenerate_and_adversarial_matrices(case, k):
    y_true, y_score = map(np.array, MATRICES[case])
    assert_agree("ndcg", y_true, y_score, k=k)


# but for one that expects reversed ties
THEIR_TESTS = [
    name
    for name in sorted(vars(upstream))
    if name.startswith("test_") and "dcg" in name and name != "test_dcg_ties"
]


def test_their_tests_are_found():
    assert len(THEIR_TESTS) >= 5


@pytest.mark.parametrize("name", THEIR_TESTS)
def test_passes_what_scikit_learn_tests(monkeypatch, name):
    """Our samples replace its private helpers."""

    def by_name(samples):
        return lambda y, s, k=None, **options: samples(y, s, k=k, **options)

    monkeypatch.setattr(upstream, "ndcg_score", sklearn_ndcg.ndcg_score)
    monkeypatch.setattr(upstream, "dcg_score", sklearn_ndcg.dcg_score)
    monkeypatch.setattr(upstream, "_ndcg_sample_scores", by_name(sklearn_ndcg.ndcg_samples))
    monkeypatch.setattr(upstream, "_dcg_sample_scores", by_name(sklearn_ndcg.dcg_samples))
    test = getattr(upstream, name)
    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    if not marks:
        test()
    for mark in marks:
        for value in mark.args[1]:
            test(value)


def has_ndcg(test):
    """Whether this is one of scikit-learn's tests of all metrics, and NDCG is among them."""
    match getattr(test, "pytestmark", []):
        case [mark] if mark.name == "parametrize":
            names = mark.args[1]
            return isinstance(names, list | dict) and "ndcg_score" in names
    return False


COMMON_TESTS = [name for name, test in vars(common).items() if has_ndcg(test)]


def test_common_tests_are_found():
    assert len(COMMON_TESTS) >= 3


@pytest.mark.parametrize("metric", ["dcg_score", "ndcg_score"])
@pytest.mark.parametrize("name", COMMON_TESTS)
def test_passes_what_scikit_learn_tests_of_all_metrics(monkeypatch, name, metric):
    for metrics in vars(common).values():
        if isinstance(metrics, dict) and metric in metrics:
            monkeypatch.setitem(metrics, metric, getattr(sklearn_ndcg, metric))
    getattr(common, name)(metric)
