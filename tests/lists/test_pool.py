"""The lists of one ranker or several in the same rows."""

from math import log2

import numpy as np
import pandas as pd
import pytest

from sklearn_ndcg import from_lists, ndcg_samples

TRUTHS = {"q": {"a": 2, "b": 1}, "r": ["c"]}
LISTS = {
    "one": {"q": ["x", "a", "y"], "r": ["c", "x"]},
    "two": {"q": ["z", "b", "a"], "s": ["x"]},
}


def test_rankers_have_the_same_rows():
    """First the rows of the truth, then as many as the longest list needs for other documents."""
    pool = from_lists(TRUTHS, rankers=LISTS).pool
    assert pool.queries == ["q", "r", "s"]
    assert pool.n_rows.tolist() == [4, 2, 1]
    nan = np.nan  # unjudged
    assert np.array_equal(pool.y_true, [2, 1, nan, nan, 1, nan, nan], equal_nan=True)
    none = -np.inf
    assert pool.y_scores["one"].tolist() == [-2, none, -1, -3, -1, -2, none]
    assert pool.y_scores["two"].tolist() == [-3, -2, -1, none, none, none, -1]
    assert not any(pool.left_out.values())


def test_values_per_query():
    pool = from_lists(TRUTHS, rankers=LISTS).pool
    found = pool.per_query({"s": 3, "r": 2, "q": 1, "t": 4}, "clusters", pool.queries)
    assert list(found.items()) == [("q", 1), ("r", 2), ("s", 3)]
    assert pool.per_query({"r": 2}, "clusters", ["r"]) == {"r": 2}
    numbered = from_lists([["a"]] * 3, [["a", "x"]] * 3).pool
    for values in (np.array([4, 5, 6]), {2: 6, 1: 5, 0: 4}, pd.Series([6, 5, 4], index=[2, 1, 0])):
        assert numbered.per_query(values, "clusters", [0, 1, 2]) == {0: 4, 1: 5, 2: 6}


@pytest.mark.parametrize(
    ("keys", "kind"),
    [([3, 1], "i"), (["b", "a"], "U"), ([(1, "x"), (0, "y")], "O"), (["b" * 1000, "a"], "O")],
)
def test_queries_of_any_type(keys, kind):
    ids = [("a", 1), frozenset("b"), 3, b"a", np.int64(7), "ä"]  # of any hashable type
    rows = from_lists({keys[0]: {7: 1}, keys[1]: {("a", 1): 1}}, dict.fromkeys(keys, ids))
    assert rows.groups.dtype.kind == kind
    assert len(rows.ids) == 12
    values, queries = ndcg_samples(rows, return_groups=True)
    assert queries.tolist() == sorted(keys)
    assert values.tolist() == pytest.approx([1, 1 / log2(6)])  # in the order of sorted keys


@pytest.mark.parametrize("keys", [["a", "a\0", "b"], [-1, 2**63, 2**63 + 1]], ids=str)
def test_queries_with_alike_keys_stay_apart(keys):
    truths = {keys[0]: [1], keys[1]: [1], keys[2]: [2]}
    rows = from_lists(truths, {key: [1] for key in keys})
    assert ndcg_samples(rows).tolist() == [1, 1, 0]
    assert ndcg_samples(rows.y_true, rows.y_score, groups=rows.groups).tolist() == [1, 1, 0]
