"""Comparisons within segments, each as alone."""

import numpy as np
import pytest
from helpers import as_runs, compare_lists, compare_runs, matrices

from sklearn_ndcg.inference import compare_rankers


@pytest.mark.parametrize(("test", "clustered"), [("t", True), ("permutation", False), ("t", False)])
def test_segments_are_compared_as_alone(test, clustered):
    y, s = matrices(60)
    segment = np.array(["new", "old", "older"])[np.arange(60) % 3]
    scores = {"a": s, "b": -s, "c": np.roll(s, 1, axis=0)}
    cluster = np.arange(60) // 4 if clustered else None
    options = {"test": test, "random_state": 0, "k": 5, "n_resamples": 99}
    found = compare_rankers(y, scores, segments=segment, clusters=cluster, **options)
    assert list(found.by_segment) == ["new", "old", "older"]
    for name, part in found.by_segment.items():
        own = segment == name
        alone = compare_rankers(
            y[own], {n: each[own] for n, each in scores.items()},
            clusters=None if cluster is None else cluster[own], **options,
        )  # fmt: skip
        assert part.labels.tolist() == np.flatnonzero(own).tolist()
        assert repr(part) == repr(alone)
    rows = repr(found).split("\n\n")[2].splitlines()
    head = [line.split()[:2] for line in rows[1::3]]
    assert head == [["new", "20"], ["old", "20"], ["older", "20"]]


def lists_of(queries, seed=0):
    """The same truth for each query, and lists of it in random orders."""
    rng = np.random.default_rng(seed)
    truth = {query: {"a": 2, "b": 1, "c": 0} for query in queries}
    return truth, {query: rng.permutation(["a", "b", "c"]).tolist() for query in queries}


def test_segments_of_lists_and_runs_are_given_per_query():
    queries = [f"q{i:02}" for i in range(40)]
    truth, one = lists_of(queries)
    lists = {"one": one, "other": lists_of(queries, 1)[1]}
    segment = {q: i % 2 for i, q in enumerate(queries)}
    found = compare_lists(truth, lists, segments=segment, test="t")
    odd = {
        name: {q: ranked for q, ranked in each.items() if segment[q]}
        for name, each in ({"truth": truth} | lists).items()
    }
    alone = compare_lists(odd.pop("truth"), odd, test="t")
    assert repr(found.by_segment[1]) == repr(alone)
    assert found.by_segment[1].labels.tolist() == queries[1::2]
    assert repr(compare_runs(truth, as_runs(lists), segments=segment, test="t")) == repr(found)


def test_segments_and_clusters_may_lack_queries_that_do_not_count():
    """Users without a truth have no segment if they are left out."""
    queries = [f"q{i:02}" for i in range(20)]
    truth, others = lists_of(queries)
    lists = {"x": {query: ["b", "a"] for query in [*queries, "new", "known"]}, "y": others}
    segments = {query: i % 2 for i, query in enumerate(queries)} | {"known": 1}
    options = {"test": "t", "segments": segments, "clusters": {query: query for query in segments}}
    with pytest.raises(ValueError, match="clusters must have an entry.* lacks 1, .* 'new'"):
        compare_lists(truth, lists, undefined=0.0, **options)
    found = compare_lists(truth, lists, undefined="omit", **options)
    judged = {name: {query: each[query] for query in queries} for name, each in lists.items()}
    alone = compare_lists(truth, judged, undefined="omit", **options)
    assert found.left_out == {"nothing judged": 2}
    assert found.difference == alone.difference
    for segment in (0, 1):
        mine, expected = found.by_segment[segment], alone.by_segment[segment]
        assert mine.labels.tolist() == expected.labels.tolist()
        assert mine.mean == expected.mean
        assert mine.n_left_out == segment  # "known" is in segment 1


FEW = np.r_[np.zeros(20), np.ones(15), np.full(4, 2), 3].astype(int)
DAYS = np.datetime64("2024-05-01") + FEW


@pytest.mark.parametrize(("segments", "first"), [(FEW, "2"), (DAYS, "2024-05-03")])
def test_segments_of_few_queries_are_warned_of_once(segments, first):
    y, s = matrices(40)
    message = (
        f"Intervals of 2 of the 4 segments, the first {first}, are unreliable or missing: too few "
        "queries, or only queries of the same value.$"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        found = compare_rankers(y, {"a": s, "b": -s}, segments=segments, test="t")
    assert len(caught) == 1
    assert [str(each) for each in found.by_segment] == sorted({*map(str, segments)})[:3]
