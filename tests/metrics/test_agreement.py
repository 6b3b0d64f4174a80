"""2-D input: the values of scikit-learn's functions, and scikit-learn's own tests of them."""

import numpy as np
import pytest
import sklearn.metrics
from helpers import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics.tests import test_ranking as upstream

import sklearn_ndcg

CUTOFFS = [None, 1, 2, 3, 5, 8, 1000]
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


@pytest.mark.parametrize("k", CUTOFFS)
@pytest.mark.parametrize("metric", PAIRS)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.ci)])
def test_random_matrices(metric, k, seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 12), rng.integers(2, 60)
    y_true = rng.integers(0, 5, (n, m)) * (rng.random((n, m)) < rng.random())
    tied, untied = rng.integers(0, 4, (n, m)), rng.permuted(np.arange(n * m)).reshape(n, m) / 7
    for y_score in (tied, untied, untied.astype(np.float32), tied - 2):
        assert_agree(metric, y_true, y_score, k=k)
        assert_agree(metric, y_true + rng.random((n, m)), y_score, k=k)
    assert_agree(metric, y_true, untied, k=k, ignore_ties=True)
    assert_agree(metric, y_true, untied, weight=rng.random(n), k=k)


@pytest.mark.parametrize("log_base", [1.5, 2, np.e, 10])
def test_log_base(log_base):
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(-2, 5, (20, 9)), rng.normal(size=(20, 9))
    assert_agree("dcg", y_true, y_score, log_base=log_base, k=4)


@pytest.mark.parametrize("k", CUTOFFS)
@pytest.mark.parametrize("metric", PAIRS)
@pytest.mark.parametrize(
    ("y_true", "y_score"),
    [
        ([[0, 0, 0]], [[1, 2, 3]]),
        ([[1, 1]], [[5, 5]]),
        ([[1, 0], [0, 0], [0, 1]], [[0.0, -0.0], [1, 1], [2, 3]]),
        ([[True, False, True]], [[0.1, 0.2, 0.2]]),
        ([[1e-300, 2e-300, 0]], [[1, 2, 3]]),
        ([[1e12, 1, 1e-12, 0]], [[1, 2, 2, 3]]),
        ([[1, 2, 3]], [[1e308, -1e308, 5e-324]]),
        ([[1, 2, 3, 0]], [[1, 1 + 2**-52, 1, 1 - 2**-53]]),
        ([[0.1] * 50], [[0] * 25 + [1] * 25]),
        ([[2**60, 2**60 + 1]], [[2**60, 2**60 + 1]]),
        (np.eye(40)[:5], np.tile(np.arange(40), (5, 1))),
    ],
)
def test_degenerate_and_adversarial_matrices(metric, y_true, y_score, k):
    assert_agree(metric, np.array(y_true), np.array(y_score), k=k)


@settings(max_examples=examples(200), deadline=None)
@given(st.data(), st.sampled_from(CUTOFFS), st.sampled_from(list(PAIRS)))
def test_drawn_matrices(data, k, metric):
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(2, 12)))
    y_true = data.draw(arrays(float, shape, elements=st.floats(0, 1e6, width=32)))
    y_score = data.draw(
        arrays(float, shape, elements=st.one_of(st.sampled_from([0, -0.0, 1]), st.floats(-9, 9)))
    )
    # below the smallest normal number, digits are lost before either function begins
    y_true[y_true < 1e-300] = 0
    assert_agree(metric, y_true, y_score, k=k)


def their_tests():
    """scikit-learn's tests of the two functions, with each of their parameters."""
    for name in sorted(vars(upstream)):
        if name.startswith("test_") and "dcg" in name and name != "test_dcg_ties":
            marks = getattr(getattr(upstream, name), "pytestmark", [])
            values = [v for mark in marks if mark.name == "parametrize" for v in mark.args[1]]
            for value in values or [None]:
                yield pytest.param(name, value, id=f"{name}-{value}" if values else name)


THEIR_TESTS = list(their_tests())
assert len(THEIR_TESTS) >= 8


@pytest.mark.parametrize(("name", "value"), THEIR_TESTS)
def test_passes_what_scikit_learn_tests(monkeypatch, name, value):
    """Our samples replace its private helpers; test_dcg_ties expects reversed ties, so it is out."""

    def by_name(samples):
        return lambda y, s, k=None, **options: samples(y, s, k=k, **options)

    monkeypatch.setattr(upstream, "ndcg_score", sklearn_ndcg.ndcg_score)
    monkeypatch.setattr(upstream, "dcg_score", sklearn_ndcg.dcg_score)
    monkeypatch.setattr(upstream, "_ndcg_sample_scores", by_name(sklearn_ndcg.ndcg_samples))
    monkeypatch.setattr(upstream, "_dcg_sample_scores", by_name(sklearn_ndcg.dcg_samples))
    getattr(upstream, name)(*([] if value is None else [value]))
