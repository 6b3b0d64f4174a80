"""Columns of a table, and what is expected of it: what arrays of the same columns give."""

from functools import cache

import numpy as np
import pytest

import sklearn_ndcg

COLUMNS = {"y_true": "y", "y_score": "s", "groups": "q"}
N_ROWS = 3000
LAZY_FILES = ["polars lazy", "duckdb", "dataset", "dask"]  # engines that read files in parts
ENGINES = ["pandas", *LAZY_FILES, "polars", "pyarrow", "pyspark"]


def engines(*everyday, among=ENGINES):
    """Return engines as parameters: those of every day, and others that the marker `ci` runs."""
    return [
        name if name in everyday else pytest.param(name, marks=pytest.mark.ci) for name in among
    ]


def memory_of(n_passes):
    """Return a working memory with which the rows are read in about this number of passes."""
    return N_ROWS * 144 / 2**20 / (n_passes - 0.5)


def draw_columns():
    """Draw rows of queries that are not together, with ties and rows that were not retrieved."""
    rng = np.random.default_rng(0)
    q = rng.integers(0, 200, N_ROWS) ** 2 - 7
    y = rng.integers(0, 5, N_ROWS) * rng.integers(0, 2, 200**2)[q + 7]  # some queries have only 0
    s = rng.choice([0.5, 1, 2, 3.25, -np.inf], N_ROWS)
    s[q == q[y > 0][-1]] = -np.inf  # of one query nothing was retrieved
    return {"y": y, "s": s, "q": q, "w": rng.random(N_ROWS)}


def expected_score(columns, sample_weight=None, **options):
    if sample_weight is not None:
        options["sample_weight"] = columns[sample_weight]
    return sklearn_ndcg.ndcg_score(columns["y"], columns["s"], groups=columns["q"], **options)


def expected_rows(columns, undefined="warn", **options):
    """Return the id, number of documents, DCG, ideal DCG and NDCG of each query."""
    y, s, q = columns["y"], columns["s"], columns["q"]
    ids, counts = np.unique(q, return_counts=True)
    ndcg = sklearn_ndcg.ndcg_samples(y, s, groups=q, undefined=undefined, **options)
    dcg = sklearn_ndcg.dcg_samples(y, s, groups=q, **options)
    of_ideal = {name: options[name] for name in ("gain", "discount") if name in options}

    @cache
    def ideals(k):  # of gains that grow with relevance
        return sklearn_ndcg.dcg_samples(y, y, groups=q, k=k, **of_ideal)

    k = [options.get("k")] * len(ids)
    if k[0] == "retrieved":
        k = [np.count_nonzero(s[q == query] > -np.inf) for query in ids]
    ideal = [0.0 if cutoff == 0 else ideals(cutoff)[i] for i, cutoff in enumerate(k)]
    values = zip(ids, counts, dcg, ideal, ndcg, strict=True)
    return [tuple(None if np.isnan(value) else value for value in row) for row in values]


def assert_same_rows(rows, expected):
    """Rows of tables of results are equal, but for the last digits of floats."""
    assert len(rows) == len(expected)
    for row, other in zip(rows, expected, strict=True):
        assert row == pytest.approx(other, abs=1e-12)
