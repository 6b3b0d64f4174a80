"""Queries: their order, weights and undefined values, and curves over many of them."""

from math import log2

import numpy as np
import pandas as pd
import pytest
from helpers import ragged_rows

from sklearn_ndcg import (
    dcg_samples,
    dcg_score,
    explain_difference,
    explain_query,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
    quantile_grades,
)
from sklearn_ndcg._metrics.values import Totals
from sklearn_ndcg.inference import NDCGDisplay, compare_rankers, ndcg_by_segment, ndcg_interval


def only_of_curve(*data, **options):
    """The curve at a cutoff past all documents."""
    _, [value] = ndcg_curve(*data, k=[10**9], **options)
    return value


@pytest.mark.parametrize("undefined", [0.25, "omit"])
@pytest.mark.parametrize("k", [None, [10, 3, 10**9, 3]])
@pytest.mark.parametrize("values_at_a_time", [1 << 22, 100])
def test_curve_equals_the_score_at_each_cutoff(undefined, k, values_at_a_time, monkeypatch):
    monkeypatch.setattr("sklearn_ndcg._metrics.values._VALUES_AT_A_TIME", values_at_a_time)
    y_true, y_score, groups = ragged_rows(1)
    weight = np.random.default_rng(0).random(len(groups))
    options = {"groups": groups, "ties": "worst", "sample_weight": weight, "undefined": undefined}
    cutoffs, curve = ndcg_curve(y_true, y_score, k=k, **options)
    assert cutoffs.tolist() == (k or list(range(1, np.bincount(groups).max() + 1)))
    expected = [ndcg_score(y_true, y_score, k=cutoff, **options) for cutoff in cutoffs.tolist()]
    np.testing.assert_allclose(curve, expected, rtol=1e-13)


def test_cutoffs_of_a_curve_may_be_unsigned_integers():
    cutoffs, curve = ndcg_curve([[0, 1, 0]], [[3, 2, 1]], k=np.array([3, 1, 2], dtype=np.uint8))
    assert cutoffs.tolist() == [3, 1, 2]
    assert curve == pytest.approx([1 / log2(3), 0, 1 / log2(3)], rel=1e-15)


def test_the_mean_of_a_curve_loses_no_digit_over_many_queries():
    """A plain sum of 100,000 equal values is off by about 1e-12 of itself."""
    y_true, y_score = np.tile([0, 1], (100_000, 1)), np.tile([2, 1], (100_000, 1))
    _, curve = ndcg_curve(y_true, y_score)
    assert curve == pytest.approx([0, 1 / log2(3)], rel=1e-14, abs=0)


@pytest.mark.parametrize("function", [ndcg_score, ndcg_curve])
def test_the_query_whose_sum_is_too_large_is_named(function):
    groups = np.repeat(100 + np.arange(31), np.arange(31) % 8 + 2)
    y_true, y_score = np.ones(len(groups)), -np.arange(len(groups))
    y_true[0] = 0
    y_true[groups == 107] = 1e308
    with pytest.raises(ValueError, match="in 1 query, the first 107: scale y_true down"):
        function(y_true, y_score, groups=groups)


def test_the_query_whose_ideal_alone_is_too_large_is_named():
    y_true, y_score = [1e308] * 3, [1, 2, 3, *[-np.inf] * 5]
    with pytest.raises(ValueError, match="in 1 query, the first 1: scale y_true down"):
        ndcg_curve([[1, 0] * 4, [0] * 5 + y_true], [y_score] * 2)


def test_a_sum_over_queries_that_is_too_large_names_y_true():
    words = "^y_true has gains whose sum over queries is more than a float64 holds: scale y_true"
    with pytest.raises(ValueError, match=words):
        dcg_score([[1.7e308, 0]] * 2, [[1, 0]] * 2)


def test_gains_that_a_discount_makes_zero_are_no_error(kernels):
    with np.errstate(all="raise"):
        assert dcg_samples([[5e-324, 0, 0]], [[1, 3, 2]]) == 0


def test_a_query_with_all_documents_omitted_keeps_its_place():
    data = {"y_true": [np.nan, 1, 0, np.nan], "y_score": [1, 2, 1, 2], "groups": [1, 2, 2, 3]}
    assert dcg_samples(**data, unjudged="omit").tolist() == [0, 1, 0]
    found = ndcg_score(**data, unjudged="omit", undefined=0.5, sample_weight=[1] * 4)
    assert found == pytest.approx(2 / 3, rel=1e-15)


@pytest.mark.parametrize(
    ("unjudged", "first", "weight"),
    [("omit", 1, (1 + 3) / 2), ("zero", 1 / log2(3), (1 + 3 + 100) / 3)],
)
def test_omitted_rows_are_out_of_the_weight(unjudged, first, weight):
    data = [1, 0, np.nan, 0, 1], [2, 1, 3, 2, 1]
    options = {"groups": [1, 1, 1, 2, 2], "sample_weight": [1, 3, 100, 4, 4]}
    expected = (weight * first + 4 / log2(3)) / (weight + 4)
    assert ndcg_score(*data, unjudged=unjudged, **options) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
def test_weights_that_vary_in_a_query_give_the_same_bits_in_any_order(unjudged):
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 4, 300).astype(float)
    y_true[::7] = np.nan
    columns = y_true, rng.random(300), rng.integers(0, 9, 300), rng.lognormal(0, 3, 300)
    values = set()
    for _ in range(50):
        order = rng.permutation(300)
        y, s, groups, weight = (column[order] for column in columns)
        values.add(ndcg_score(y, s, groups=groups, unjudged=unjudged, sample_weight=weight))
    assert len(values) == 1


def of_rows(y_true, y_score, sample_weight, **options):
    """NDCG of a matrix as rows with ids, whose weights are those of their queries."""
    n_queries, length = np.shape(y_true)
    groups = np.repeat(np.arange(n_queries), length)
    options |= {"groups": groups, "sample_weight": np.repeat(sample_weight, length)}
    return ndcg_score(np.ravel(y_true), np.ravel(y_score), **options)


MEANS = {
    "matrix": ndcg_score,
    "rows": of_rows,
    "curve": only_of_curve,
    "interval": lambda *data, **options: ndcg_interval(*data, method="t", **options).mean,
}


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize(("large", "small"), [(1e300, 1e-300), (1, 1e-308)])
def test_weights_that_are_left_out_do_not_matter_for_the_others(mean, large, small):
    """However much larger they are: 1e-300 / 1e300 is 0 in float64."""
    y_true, y_score = [[0, 0, 0], [1, 2, 0], [0, 0, 1]] * 6, [[1, 2, 3], [1, 2, 3], [3, 2, 1]] * 6
    weight = [large, small, small] * 6  # the first of three queries is undefined
    found = MEANS[mean](y_true, y_score, sample_weight=weight, undefined="omit")
    assert found == pytest.approx(ndcg_score(y_true, y_score, undefined="omit"), rel=1e-14)


@pytest.mark.parametrize("function", [ndcg_score, ndcg_samples, ndcg_curve])
def test_undefined_queries_raise_if_asked_to(function):
    with pytest.raises(ValueError, match="undefined for 1 of 2 queries.*undefined='omit'"):
        function([[0, 0], [1, 0]], [[1, 2]] * 2, undefined="raise")


@pytest.mark.parametrize("function", [ndcg_score, only_of_curve])
@pytest.mark.parametrize(
    ("y_true", "weight"), [([[0, 0], [1, 0]], [1, 0]), ([[0, 0], [0, 0]], None)]
)
def test_a_mean_over_nothing_is_nan(function, y_true, weight):
    """All the weight is on the query that is left out, or every query is left out."""
    assert np.isnan(function(y_true, [[1, 2]] * 2, undefined="omit", sample_weight=weight))


def test_queries_without_two_grades_warn_that_ids_may_be_relevance():
    with pytest.warns(UserWarning, match="None of the 2 queries has documents of different"):
        ndcg_score([1, 1, 2, 2], [1, 2, 3, 4], groups=[1, 1, 2, 2])


# --- ids in the index of y_true, weights

Y_TRUE, Y_SCORE, QUERY = ragged_rows(2, n_queries=30)
DAY = pd.Timestamp("2026-01-01") + pd.to_timedelta(QUERY, unit="D")
INDEXED = pd.Series(Y_TRUE, pd.MultiIndex.from_arrays([DAY, range(len(DAY))], names=["date", "t"]))
RANKERS = {"a": Y_SCORE, "b": np.random.default_rng(5).random(len(Y_SCORE))}
BY_LEVEL = {
    "ndcg_score": lambda y, g: ndcg_score(y, Y_SCORE, groups=g, undefined=0),
    "dcg_score": lambda y, g: dcg_score(y, Y_SCORE, groups=g),
    "ndcg_samples": lambda y, g: ndcg_samples(y, Y_SCORE, groups=g, undefined=0).tolist(),
    "dcg_samples": lambda y, g: dcg_samples(y, Y_SCORE, groups=g).tolist(),
    "ndcg_curve": lambda y, g: ndcg_curve(y, Y_SCORE, groups=g, undefined=0)[1].tolist(),
    "quantile_grades": lambda y, g: quantile_grades(y, groups=g).tolist(),
    "explain_query": lambda y, g: explain_query(y, Y_SCORE, groups=g, query=DAY[0]).ndcg,
    "explain_difference": lambda y, g: (
        explain_difference(y, Y_SCORE, "sklearn", "lightgbm", groups=g, k=5).second
    ),
    "ndcg_interval": lambda y, g: ndcg_interval(y, Y_SCORE, groups=g, undefined=0).mean,
    "ndcg_by_segment": lambda y, g: ndcg_by_segment(
        y, Y_SCORE, groups=g, segments=QUERY % 2, undefined=0
    ).mean.tolist(),
    "compare_rankers": lambda y, g: compare_rankers(y, RANKERS, groups=g, undefined=0).mean,
    "NDCGDisplay": lambda y, g: NDCGDisplay.from_predictions(
        y, Y_SCORE, groups=g, undefined=0
    ).ndcg.tolist(),
}


@pytest.mark.parametrize("call", BY_LEVEL.values(), ids=BY_LEVEL)
def test_groups_may_name_a_level_of_the_index_of_y_true(call):
    assert call(INDEXED, "date") == call(INDEXED, DAY) == call(Y_TRUE, np.asarray(DAY))
    with pytest.raises(ValueError, match="groups .* 'day': .* levels .*'date'.* one of these"):
        call(INDEXED, "day")
    with pytest.raises(ValueError, match="groups .* 'date': .* no index.* the column itself.* or "):
        call(Y_TRUE, "date")


def test_a_list_of_names_is_a_list_of_ids():
    y = pd.Series([1, 0, 2], index=pd.MultiIndex.from_arrays([[1, 2, 3]] * 2, names=["a", "b"]))
    expected = ndcg_score(y, [3, 2, 1], groups=[0, 1, 0], undefined=0)
    assert ndcg_score(y, [3, 2, 1], groups=["a", "b", "a"], undefined=0) == expected


@pytest.mark.parametrize("weights", [dict.fromkeys(range(30), 1.0), {}], ids=["mapping", "empty"])
def test_weights_of_arrays_are_of_rows(weights):
    with pytest.raises((TypeError, ValueError), match="sample_weight must be an array of numbers"):
        ndcg_score(Y_TRUE, Y_SCORE, groups=QUERY, sample_weight=weights)
    by_query = pd.Series(1.0, index=range(30))
    with pytest.raises(ValueError, match="one weight for each of the .* rows, got shape"):
        ndcg_score(Y_TRUE, Y_SCORE, groups=QUERY, sample_weight=by_query)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_a_mean_over_parts_counts_those_with_a_weight(order):
    """Whichever part comes first."""
    parts = [Totals(0.0, 0.0, 0.0, 0.0), Totals(1.0, 2.0, 1.0, 1.0), Totals(3.0, 4.0, 2.0, 2.0)]
    expected = (1 + 2 * 3) / (2 + 2 * 4)
    assert Totals.of_parts([parts[i] for i in order]).mean() == pytest.approx(expected, rel=1e-15)
