"""Memory that a call needs beside its inputs."""

import tracemalloc

import numpy as np
import pytest

import sklearn_ndcg


@pytest.mark.parametrize("case", ["contiguous", "shuffled", "one query", "ties", "weights"])
def test_extra_memory_stays_under_four_times_the_inputs(case):
    rng = np.random.default_rng(0)
    n = 4_000_000
    groups = np.repeat(np.arange(n // 100), 100)
    y_true, y_score = rng.integers(0, 5, n).astype(float), rng.normal(size=n)
    options = {"groups": groups, "k": 10}
    if case == "shuffled":
        options["groups"] = rng.permutation(groups)
    elif case == "one query":
        options["groups"] = np.zeros(n, dtype=int)
    elif case == "ties":
        y_score = np.round(y_score)
        options |= {"groups": np.zeros(n, dtype=int), "k": None}
    elif case == "weights":
        y_true[::7] = np.nan
        options |= {"unjudged": "omit", "sample_weight": np.ones(n), "k": "retrieved"}
    inputs = sum(a.nbytes for a in [y_true, y_score, *options.values()] if hasattr(a, "nbytes"))
    tracemalloc.start()
    try:
        sklearn_ndcg.ndcg_score(y_true, y_score, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * inputs
