"""Comparisons within segments, each as alone."""

import numpy as np
import pytest
from helpers import compare_lists, matrices

from sklearn_ndcg.inference import compare_rankers


@pytest.mark.parametrize(("test", "clustered"), [("t", True), ("permutation", False)])
def test_segments_are_compared_as_alone(test, clustered):
    y, s = matrices(60)
    segment = np.array(["new", "old", "older"])[np.arange(60) % 3]
    scores = {"a": s, "b": -s, "c": np.roll(s, 1, axis=0)}
    cluster = np.arange(60) // 4 if clustered else None
    options = {"test": test, "random_state": 0, "k": 5, "n_resamples": 99}
    found = compare_rankers(y, scores, segments=segment, clusters=cluster, **options)
    assert list(found.by_segment) == ["new", "old", "older"]
    assert len(repr(found).split("older")) == 4  # a row for each pair
    for name, compared in found.by_segment.items():
        own = segment == name
        own_scores = {ranker: score[own] for ranker, score in scores.items()}
        own_cluster = None if cluster is None else cluster[own]
        alone = compare_rankers(y[own], own_scores, clusters=own_cluster, **options)
        assert compared.labels.tolist() == np.flatnonzero(own).tolist()
        np.testing.assert_array_equal(compared.difference, alone.difference)
        np.testing.assert_array_equal(compared.confidence_interval, alone.confidence_interval)
        np.testing.assert_array_equal(compared.pvalue, alone.pvalue)


def test_segments_and_clusters_may_lack_queries_that_do_not_count():
    """Users without a truth need no segment if they are left out."""
    queries = [f"q{i:02}" for i in range(20)]
    segments = {query: i % 2 for i, query in enumerate(queries)} | {"known": 1}
    truth = {query: {"a": 2, "b": 1, "c": 0} for query in queries}
    rng = np.random.default_rng(0)
    lists = {
        "x": {query: ["b", "a"] for query in [*queries, "new", "known"]},
        "y": {query: rng.permutation(["a", "b", "c"]).tolist() for query in queries},
    }
    clusters = {query: query for query in segments}
    options = {"segments": segments, "clusters": clusters, "test": "t"}
    with pytest.raises(ValueError, match="clusters must have an entry.* lacks 1, .* 'new'"):
        compare_lists(truth, lists, undefined=0.0, **options)
    found = compare_lists(truth, lists, undefined="omit", **options)
    assert found.left_out == {"nothing judged": 2}
    for segment, compared in found.by_segment.items():
        assert compared.labels.tolist() == queries[segment::2]
        assert compared.n_left_out == segment  # "known" is in segment 1


def test_segments_of_few_queries_are_warned_of_once():
    y, s = matrices(40)
    segments = np.datetime64("2024-05-01") + np.repeat(np.arange(4), [20, 15, 4, 1])
    message = "Intervals of 2 of the 4 segments, the first 2024-05-03, are unreliable"
    with pytest.warns(UserWarning, match=message) as caught:
        found = compare_rankers(y, {"a": s, "b": -s}, segments=segments, test="t")
    assert len(caught) == 1
    assert list(map(str, found.by_segment)) == ["2024-05-01", "2024-05-02", "2024-05-03"]
