"""Changes that must not matter, tested on one list of metrics."""

from functools import partial

import numpy as np
import pytest
from helpers import FirstColumn, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ndcg import (
    dcg_samples,
    dcg_score,
    make_query_scorer,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
)

# drawn data may have only queries with a single document, and queries without relevant documents
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* queries .*ha.* a single document",
    "ignore:None of the . queries",
    "ignore:NDCG is undefined",
)


METRICS = {
    "dcg_score": dcg_score,
    "ndcg_score": ndcg_score,
    "dcg_samples": dcg_samples,
    "ndcg_samples": ndcg_samples,
    "ndcg_curve": lambda *data, **options: ndcg_curve(*data, k=[1, 2, 3, 4], **options)[1],
    "ndcg@2": partial(ndcg_score, k=2),
    "ndcg@retrieved": partial(ndcg_score, k="retrieved"),
    "exponential ndcg": partial(ndcg_score, gain="exponential"),
    "worst ndcg@3": partial(ndcg_score, ties="worst", k=3),
    "best dcg": partial(dcg_score, ties="best", discount="reciprocal"),
    "condensed": partial(ndcg_score, unjudged="omit"),
}
every_metric = pytest.mark.parametrize("metric", METRICS)
every_mean = pytest.mark.parametrize("metric", [name for name in METRICS if "samples" not in name])


@st.composite
def rows(draw):
    """Relevance, scores with ties, and ids, of up to 25 rows."""
    n = draw(st.integers(1, 25))

    def column(*values):
        return np.array(draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)))

    return column(0, 0, 0, 1, 2, 3.5), column(-np.inf, -1, 0, -0.0, 0.25, 3), column(*range(5))


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


@settings(max_examples=examples(25), deadline=None)
@given(rows(), st.randoms(use_true_random=False))
@every_metric
def test_order_of_rows(metric, data, random):
    y_true, y_score, groups = data
    order = random.sample(range(len(groups)), len(groups))
    found = METRICS[metric](y_true[order], y_score[order], groups=groups[order])
    assert_close(found, METRICS[metric](y_true, y_score, groups=groups))


@settings(max_examples=examples(20), deadline=None)
@given(rows(), st.sampled_from([1, 1e-200, 1e200, 3]))
@every_mean
def test_scale_of_weights(metric, data, scale):
    y_true, y_score, groups = data
    weight = np.full(len(groups), scale)
    found = METRICS[metric](y_true, y_score, groups=groups, sample_weight=weight)
    assert_close(found, METRICS[metric](y_true, y_score, groups=groups))


@settings(max_examples=examples(20), deadline=None)
@given(rows())
@every_mean
def test_duplicated_query_is_doubled_weight(metric, data):
    y_true, y_score, groups = data
    twice = groups == groups[0]
    rows = np.r_[np.arange(len(groups)), np.flatnonzero(twice)]
    ids = np.r_[groups, np.full(twice.sum(), 99)]
    found = METRICS[metric](y_true, y_score, groups=groups, sample_weight=1 + twice)
    assert_close(found, METRICS[metric](y_true[rows], y_score[rows], groups=ids))


@pytest.mark.parametrize("dtype", [np.float16, np.int8])
def test_weights_of_few_bits_are_not_rounded(dtype):
    y_true, y_score, weight = np.eye(3), np.tile([1, 2, 4], (3, 1)), np.array([1, 3, 7])
    found = ndcg_score(y_true, y_score, sample_weight=weight.astype(dtype))
    assert found == ndcg_score(y_true, y_score, sample_weight=weight.astype(float))


@pytest.mark.parametrize("k", [6, 10**30])
@pytest.mark.parametrize("function", [dcg_samples, ndcg_samples])
def test_cutoffs_past_the_longest_query(function, k):
    y_true, y_score, groups = DATA
    found = function(y_true, y_score, groups=groups, k=k)
    np.testing.assert_array_equal(found, function(y_true, y_score, groups=groups))


# fractions, as whole grades are copied as bytes
DATA = np.array([2.5, 0, 2, 1, 0, 1]), np.array([0.5, 2, 2, 1, -1, 4]), np.array([2, 2, 1, 2, 1, 1])


@every_metric
@pytest.mark.parametrize("order", [slice(None), np.argsort(DATA[2])], ids=["mixed", "sorted"])
def test_inputs_are_not_changed_and_need_not_be_writable(metric, order):
    columns = {"y_true": DATA[0][order], "y_score": DATA[1][order], "groups": DATA[2][order]}
    if "samples" not in metric:
        columns["sample_weight"] = np.ones(6)
    before = {name: column.copy() for name, column in columns.items()}
    expected = METRICS[metric](**columns)
    for column in columns.values():
        column.flags.writeable = False
    np.testing.assert_array_equal(METRICS[metric](**columns), expected)
    np.testing.assert_equal(columns, before)


def spoil(values, *others):
    result = values + 1
    for array in (values, *others):
        array[:] = 0
    return result.mean() if others else result


CALLS = {
    "gain": lambda y, s, q: ndcg_score(y, s, groups=q, gain=spoil),
    "metric": lambda y, s, q: make_query_scorer(spoil)(FirstColumn(), s, y, groups=q),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("order", [slice(None), np.argsort(DATA[2])], ids=["mixed", "sorted"])
def test_callables_cannot_change_inputs(call, order):
    columns = [column[order].copy() for column in DATA]
    before = [column.copy() for column in columns]
    call(*columns)
    np.testing.assert_equal(columns, before)
