"""The memory that a call needs in addition to its inputs."""

import tracemalloc

import numpy as np
import polars as pl
import pytest

from sklearn_ndcg import ndcg_score

# bytes for each byte of the inputs, with the NumPy kernels and with the compiled ones
MOST = {
    "contiguous": (0.25, 0.1),
    "shuffled": (1.7, 0.8),
    "ties": (2.2, 2.45),
    "weights": (1.6, 1.6),
}


def peak_of(function, *args, **options):
    """The most memory that a call takes at once."""
    tracemalloc.start()
    try:
        function(*args, **options)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("case", MOST)
def test_extra_memory_is_small_beside_the_inputs(case, kernels):
    rng = np.random.default_rng(0)
    n = 1_000_000 if case == "contiguous" else 200_000
    groups = np.repeat(np.arange(n // 100), 100)
    y_true, y_score = rng.integers(0, 5, n).astype(float), rng.normal(size=n)
    options = {"groups": groups, "k": 10}
    if case == "shuffled":
        options["groups"] = rng.permutation(groups)
    elif case == "ties":
        y_score = np.round(y_score)
        options |= {"groups": np.zeros(n, dtype=int), "k": None}
    elif case == "weights":
        y_true[::7] = np.nan
        options |= {"unjudged": "omit", "sample_weight": np.ones(n), "k": "retrieved"}
    inputs = sum(a.nbytes for a in [y_true, y_score, *options.values()] if hasattr(a, "nbytes"))
    most = inputs * MOST[case]["compiled" in kernels.__name__]
    assert peak_of(ndcg_score, y_true, y_score, **options) < most


def test_one_long_id_of_polars_costs_no_memory():
    n = 20_000
    rng = np.random.default_rng(0)
    ids = pl.Series([f"query {i // 10}" for i in range(n - 10)] + ["x" * 20_000] * 10)
    y, s = rng.integers(0, 3, n), rng.normal(size=n)
    # it would take 1.6 GB as fixed-width text
    assert peak_of(ndcg_score, y, s, groups=ids, undefined=0) < 20e6


def refused(values):
    zeros = np.zeros(len(values))
    with pytest.raises((TypeError, ValueError), match="y_true must be an array of .*text"):
        ndcg_score(values, zeros, groups=zeros)


@pytest.mark.parametrize("make", [list, pl.Series])
def test_one_long_text_as_relevance_costs_no_memory(make):
    assert peak_of(refused, make(["3"] * 20_000 + ["x" * 20_000])) < 20e6
