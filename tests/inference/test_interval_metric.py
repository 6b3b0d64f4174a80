"""Intervals of another metric than NDCG: any function of one query, at any scale."""

import numpy as np
import pandas as pd
import pytest
from helpers import matrices
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import from_lists
from sklearn_ndcg.inference import ndcg_by_segment, ndcg_interval

Y, S = matrices(40)
Y, S = (Y > 3).astype(int), np.sin(1e6 * S)  # any order
Y[:, 0] = 1


def reciprocal_rank(y_true, y_score):
    ranked = y_true[np.argsort(-y_score, kind="stable")]
    return 1 / (1 + ranked.argmax()) if ranked.any() else np.nan


VALUES = np.array([reciprocal_rank(*query) for query in zip(Y, S, strict=True)])


def test_metric_has_the_interval_of_its_values():
    found = ndcg_interval(Y, S, metric=reciprocal_rank, method="t")
    assert found.mean == pytest.approx(VALUES.mean(), rel=1e-14)
    expected = stats.ttest_1samp(VALUES, 0).confidence_interval()
    assert found.confidence_interval == pytest.approx(tuple(expected), rel=1e-12)
    segments = np.arange(40) % 2
    table = ndcg_by_segment(Y, S, segments=segments, metric=reciprocal_rank, method="t")
    expected = [VALUES[segments == number].mean() for number in range(2)]
    assert table.mean.tolist() == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("method", ["BCa", "t"])
@pytest.mark.parametrize("factor", [2.0**40, -(2.0**-44), 2.0**300, 2.0**-360])
@pytest.mark.parametrize("clusters", [None, np.arange(40) // 2 - (np.arange(40) > 37)])
def test_intervals_have_the_scale_of_the_metric(method, factor, clusters):
    """A power of two, so that not a bit changes; a negative one swaps the bounds of t."""
    options = {"n_resamples": 999, "random_state": 0, "method": method, "clusters": clusters}
    expected = ndcg_interval(Y, S, metric=reciprocal_rank, **options)
    found = ndcg_interval(Y, S, metric=lambda t, s: factor * reciprocal_rank(t, s), **options)
    assert found.mean == factor * expected.mean
    bounds = sorted(factor * bound for bound in expected.confidence_interval)
    assert found.confidence_interval == pytest.approx(bounds, rel=1e-9)
    assert found.standard_error == pytest.approx(abs(factor) * expected.standard_error, rel=1e-12)


def test_bounds_of_a_metric_end_nowhere():
    found = ndcg_interval(Y, S, metric=lambda t, s: 9.0 * (s[0] > 0), method="t")
    ends = ndcg_interval(Y, S, metric=lambda t, s: -9.0 * (s[0] > 0), method="t")
    assert found.confidence_interval.high > 1
    assert ends.confidence_interval.low < 0


def test_undefined_queries_of_a_metric():
    y = np.where(np.arange(40)[:, np.newaxis] < 3, 0, Y)
    with pytest.warns(UndefinedMetricWarning, match="reciprocal_rank is undefined for 3 of 40"):
        assert ndcg_interval(y, S, metric=reciprocal_rank).n_queries == 40
    found = ndcg_interval(y, S, metric=reciprocal_rank, undefined="omit")
    assert (found.n_queries, found.n_left_out) == (37, 3)
    assert found.mean == pytest.approx(VALUES[3:].mean(), rel=1e-14)
    filled = ndcg_interval(y, S, metric=reciprocal_rank, undefined=-2)
    assert filled.mean == pytest.approx(np.r_[np.full(3, -2), VALUES[3:]].mean(), rel=1e-14)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "map"}, "metric must be a function of y_true and y_score, got 'map'"),
        ({"metric": reciprocal_rank, "k": 3}, "k would be passed to reciprocal_rank: bind"),
        ({"metric": reciprocal_rank, "gain": "linear"}, "gain would be passed to reciprocal_rank"),
        ({"metric": {"MRR": reciprocal_rank}}, "metric must be a function .* got {'MRR'"),
        ({"metric": reciprocal_rank, "query_id": 1}, "no option 'query_id'.* Pass groups"),
    ],
)
def test_options_of_ndcg_are_refused(options, message):
    for function in (ndcg_interval, ndcg_by_segment):
        ids = {"segments": np.arange(40) % 2} if function is ndcg_by_segment else {}
        with pytest.raises(TypeError, match=message):
            function(Y, S, **ids, **options)


@pytest.mark.parametrize("returned", [None, "0.3"])
def test_what_is_not_a_number_is_refused(returned):
    def share(y_true, y_score):
        return returned

    with pytest.raises(ValueError, match=f"share must return a number.*{returned!r} for query 0"):
        ndcg_interval(Y, S, metric=share)


# --- rows of lists

LISTS = {0: ["x", "a"], 1: ["a"], 2: [], 3: ["y", "b", "a", "z"]}
TRUTH = {0: {"a": 1, "b": 0}, 1: {"a": 1}, 2: {"a": 1}, 3: {"a": 1, "b": 0}}


@pytest.mark.filterwarnings("ignore:4 queries")
@pytest.mark.parametrize("unjudged", ["omit", "zero"])
def test_a_metric_of_lists_gets_the_scores_of_their_rows(unjudged):
    rows = from_lists(TRUTH, LISTS, unjudged=unjudged)
    got = []
    ndcg_interval(rows, metric=lambda t, s: got.append(sorted(s)) or len(got), method="t")
    expected = [sorted(rows.y_score[rows.groups == query]) for query in TRUTH]
    assert got == expected


@pytest.mark.filterwarnings("ignore:4 queries")
def test_a_metric_may_write_to_its_arrays_and_an_empty_list_is_still_0():
    def writes(y_true, y_score):
        value = reciprocal_rank(y_true, y_score)
        y_score[:], y_true[:] = -1e9, 0
        return value

    rows = from_lists(TRUTH, LISTS)
    found = ndcg_interval(rows, metric=writes, method="t")
    assert found.mean == pytest.approx(np.mean([1 / 2, 1, 0, 1 / 3]), rel=1e-14)


# --- labels of rows


def test_segments_of_rows_are_matched_by_query_in_any_order():
    rng, queries = np.random.default_rng(0), [f"q{number}" for number in range(40)]
    lists = {query: rng.permutation([*"abcdef"]).tolist() for query in queries}
    truth = {query: {"a": 1, "b": 0.5, "c": number / 9} for number, query in enumerate(queries)}
    rows = from_lists(truth, lists)
    order = rng.permutation(40)
    segments = pd.Series(np.arange(40) % 2, queries)
    options = {"random_state": 0, "n_resamples": 99}
    expected = ndcg_by_segment(rows, segments=segments, **options)
    found = ndcg_by_segment(rows, segments=segments.iloc[order], **options)
    assert found.mean.tolist() == expected.mean.tolist()
