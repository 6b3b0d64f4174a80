"""Counts of judged documents, against a loop; ties by all of their orders."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from sklearn_ndcg._metrics.judged import Judged
from sklearn_ndcg._metrics.measure import Measure


def share_of_judged(y, s, k):
    """The mean share over all orders of tied documents, nan where nothing was returned."""
    returned = [i for i in range(len(s)) if s[i] > -np.inf]
    orders = [
        order for order in permutations(returned)
        if all(s[a] >= s[b] for a, b in pairwise(order))
    ]  # fmt: skip
    if not returned:
        return np.nan
    first = [order[:k] for order in orders]
    return np.mean([np.mean([not np.isnan(y[i]) for i in each]) for each in first])


@pytest.mark.parametrize("k", [1, 2, 3, None])
@pytest.mark.parametrize("seed", range(5))
def test_shares_are_those_of_a_loop(k, seed, kernels):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, 20)
    query = np.repeat(np.arange(20), lengths)
    y = rng.choice([np.nan, 0, 2], len(query))
    rankers = [rng.choice([-np.inf, 1, 2, 3], len(query)) for _ in range(2)]
    found = Judged.of(Measure(k=k), y, rankers, query)
    judged, answered = found.shares()
    known = [q for q in range(20) if not np.isnan(y[query == q]).all()]
    for i, s in enumerate(rankers):
        each = [share_of_judged(y[query == q], s[query == q], k) for q in known]
        assert judged[i] == pytest.approx(np.nanmean(each), abs=1e-12)
        assert answered[i] == np.mean(~np.isnan(each))


def test_nothing_is_counted_where_all_is_judged_and_returned():
    assert Judged.of(Measure(), [[1, 0], [0, 1]], [[[1, 2], [2, 1]]], None) is None


def test_nothing_that_was_returned_is_judged():
    found = Judged.of(Measure(), [[1.0, np.nan]], [[[-np.inf, 1]], [[-np.inf, -np.inf]]], None)
    assert [each.tolist() for each in found.shares()] == [[0, 0], [1, 0]]
    unknown = Judged.of(Measure(), [[np.nan, np.nan]], [[[1, 2]]], None)
    assert [each.tolist() for each in unknown.shares()] == [[0], [0]]
