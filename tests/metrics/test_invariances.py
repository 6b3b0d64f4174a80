"""Changes that must not matter, tested on one list of metrics."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ndcg import dcg_samples, dcg_score, ndcg_curve, ndcg_samples, ndcg_score

# drawn data may have only queries with a single document, and queries without relevant documents
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* queries .*ha.* a single document",
    "ignore:None of the . queries",
    "ignore:NDCG is undefined",
)


def curve(y_true, y_score, **options):
    return ndcg_curve(y_true, y_score, k=[1, 2, 4], **options)[1]


METRICS = {
    "dcg_score": dcg_score,
    "ndcg_score": ndcg_score,
    "dcg_samples": dcg_samples,
    "ndcg_samples": ndcg_samples,
    "ndcg_curve": curve,
    "ndcg@2": partial(ndcg_score, k=2),
    "ndcg@retrieved": partial(ndcg_score, k="retrieved"),
    "exponential ndcg": partial(ndcg_score, gain="exponential"),
    "worst ndcg@3": partial(ndcg_score, ties="worst", k=3),
    "best dcg": partial(dcg_score, ties="best", discount="reciprocal"),
    "condensed": partial(ndcg_score, unjudged="omit"),
}
WEIGHTED = [name for name in METRICS if "samples" not in name]
every_metric = pytest.mark.parametrize("metric", METRICS)


@st.composite
def rows(draw):
    n = draw(st.integers(1, 25))

    def column(elements):
        return np.array(draw(st.lists(elements, min_size=n, max_size=n)), dtype=float)

    y_true = column(st.sampled_from([0, 0, 0, 1, 2, 3.5]))
    y_score = column(st.sampled_from([-np.inf, -1, 0, -0.0, 0.25, 1, 3]))
    groups = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    return y_true, y_score, groups


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


@settings(max_examples=examples(50), deadline=None)
@given(st.data())
@every_metric
def test_order_of_rows(metric, data):
    y_true, y_score, groups = data.draw(rows())
    order = np.array(data.draw(st.permutations(range(len(groups)))))
    function = METRICS[metric]
    close(
        function(y_true[order], y_score[order], groups=groups[order]),
        function(y_true, y_score, groups=groups),
    )


NAMES = np.array(["a", "b", "c", "d", "e"])
LABELS = [  # that sort as the ids 0 to 4
    lambda ids: NAMES[ids],
    lambda ids: NAMES[ids].astype("S"),
    lambda ids: pd.Categorical(NAMES[ids]),
    lambda ids: pl.Series(NAMES[ids].tolist()),
    lambda ids: pa.chunked_array([NAMES[ids].tolist()]),
    lambda ids: ids * 10**17 - 2**62,
    lambda ids: ids.astype(np.uint64) + np.uint64(2**64 - 9),
    lambda ids: (ids * 50 - 100).astype(np.int8),
    lambda ids: pd.to_datetime("2026-11-21") + pd.to_timedelta(ids, "D"),
    lambda ids: pd.to_datetime("2026-11-21", utc=True) + pd.to_timedelta(ids, "D"),
    lambda ids: pd.Series(pd.to_datetime("2026-11-21", utc=True) + pd.to_timedelta(ids, "D")),
    lambda ids: [(int(each), "x") for each in ids],
]


@settings(max_examples=examples(20), deadline=None)
@given(rows(), st.data())
@every_metric
def test_labels_of_groups(metric, data, drawn):
    """Any labels that sort alike; for the means, any labels at all."""
    y_true, y_score, groups = data
    function, expected = METRICS[metric], METRICS[metric](y_true, y_score, groups=groups)
    for labels in drawn.draw(
        st.lists(st.sampled_from(LABELS), min_size=5, max_size=5, unique=True)
    ):
        np.testing.assert_array_equal(function(y_true, y_score, groups=labels(groups)), expected)
    if "samples" not in metric:
        close(function(y_true, y_score, groups=-groups), expected)


@settings(max_examples=examples(20), deadline=None)
@given(rows())
@every_metric
def test_increasing_transforms_of_scores(metric, data):
    y_true, y_score, groups = data
    function = METRICS[metric]
    expected = function(y_true, y_score, groups=groups)
    for transformed in (y_score * 7 - 3, np.arctan(y_score), y_score**3):
        transformed[y_score == -np.inf] = -np.inf
        np.testing.assert_array_equal(function(y_true, transformed, groups=groups), expected)


@settings(max_examples=examples(20), deadline=None)
@given(rows())
@pytest.mark.parametrize("metric", WEIGHTED)
def test_scale_of_weights(metric, data):
    y_true, y_score, groups = data
    function, expected = METRICS[metric], METRICS[metric](y_true, y_score, groups=groups)
    for scale in (1, 1e-200, 1e200, 3):
        weight = np.full(len(groups), scale)
        close(function(y_true, y_score, groups=groups, sample_weight=weight), expected)


def test_weights_of_few_bits_are_not_rounded():
    y_true, y_score = np.eye(3), np.tile([1, 2, 4], (3, 1))
    for dtype in (np.float16, np.float32, np.int8):
        weight = np.array([1, 3, 7], dtype=dtype)
        expected = ndcg_score(y_true, y_score, sample_weight=weight.astype(float))
        assert ndcg_score(y_true, y_score, sample_weight=weight) == expected


@settings(max_examples=examples(20), deadline=None)
@given(rows())
@pytest.mark.parametrize("metric", WEIGHTED)
def test_duplicated_query_is_doubled_weight(metric, data):
    y_true, y_score, groups = data
    twice = groups == groups[0]
    extended = [np.r_[column, column[twice]] for column in (y_true, y_score)]
    groups_extended = np.r_[groups, np.full(twice.sum(), 99)]
    close(
        METRICS[metric](*extended, groups=groups_extended),
        METRICS[metric](y_true, y_score, groups=groups, sample_weight=1 + twice),
    )


@settings(max_examples=examples(20), deadline=None)
@given(rows())
def test_cutoffs_past_the_longest_query(data):
    y_true, y_score, groups = data
    for function in (dcg_samples, ndcg_samples):
        expected = function(y_true, y_score, groups=groups)
        for k in (len(groups), 10**9, 10**30, np.int64(2**62)):
            np.testing.assert_array_equal(function(y_true, y_score, groups=groups, k=k), expected)


@settings(max_examples=examples(50), deadline=None)
@given(rows())
def test_choices_that_make_no_difference(data):
    """Gain if grades are 0 or 1, ties if scores differ, undefined if none is, discount at k=1."""
    y_true, y_score, groups = data
    binary, distinct = (y_true > 0) * 1, np.argsort(np.argsort(y_score, kind="stable"))
    for y, s, name, choices, k in (
        (binary, y_score, "gain", ["linear", "exponential"], None),
        (y_true, distinct, "ties", ["average", "stable", "worst", "best"], None),
        (y_true + 1, y_score, "undefined", [0, 1, "omit", "raise"], None),
        (y_true, y_score, "discount", ["log", "reciprocal", "none"], 1),
    ):
        first, *others = (
            ndcg_samples(y, s, groups=groups, k=k, **{name: each}) for each in choices
        )
        for other in others:
            close(other, first)


DATA = np.array([3.0, 0, 2, 1, 0, 1]), np.array([0.5, 2, 2, 1, -1, 4]), np.array([2, 2, 1, 2, 1, 1])


@every_metric
def test_inputs_are_not_changed_and_need_not_be_writable(metric):
    arrays = [column.copy() for column in DATA] + [np.array([1.0, 2, 3, 4, 5, 6])]
    for array in arrays:
        array.flags.writeable = False
    y_true, y_score, groups, weight = arrays
    expected = METRICS[metric](*DATA[:2], groups=DATA[2])
    np.testing.assert_array_equal(METRICS[metric](y_true, y_score, groups=groups), expected)
    if metric in WEIGHTED:
        METRICS[metric](y_true, y_score, groups=groups, sample_weight=weight)
    for array, original in zip(arrays, DATA, strict=False):
        np.testing.assert_array_equal(array, original)


@pytest.mark.parametrize("contiguous", [True, False])
def test_callables_cannot_change_inputs(contiguous):
    def vandal(values):
        values *= 0
        return values + 1

    y_true, y_score, groups = (column.copy() for column in DATA)
    y_true[0] = 2.5  # whole grades would be copied as bytes
    expected = y_true.copy()
    groups = np.sort(groups) if contiguous else groups
    ndcg_score(y_true, y_score, groups=groups, gain=vandal)
    np.testing.assert_array_equal(y_true, expected)


def arrow(matrix):
    return pa.table(dict(zip("abc", matrix.T, strict=True)))


@every_metric
def test_frames_as_2d_input(metric):
    y_true, y_score = DATA[0].reshape(2, 3), DATA[1].reshape(2, 3)
    expected = METRICS[metric](y_true, y_score)
    for frame in (pd.DataFrame, pl.DataFrame, list, arrow):
        np.testing.assert_array_equal(METRICS[metric](frame(y_true), frame(y_score)), expected)
