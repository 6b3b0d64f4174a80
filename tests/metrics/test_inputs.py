"""Input of every kind: numbers, missing values, sparse matrices, objects, tables."""

import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import graded_rows
from scipy import sparse
from sklearn import metrics

from sklearn_ndcg import (
    dcg_samples,
    dcg_score,
    explain_difference,
    make_ndcg_scorer,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
    quantile_grades,
)
from sklearn_ndcg.inference import compare_rankers, ndcg_interval

NAN, INF = np.nan, np.inf
Y, S, G = [1, 0, 2, 0], [4, 3, 2, 1], [1, 1, 2, 2]

_, RELEVANCE, QUERIES = graded_rows(20, (5, 5))
RELEVANCE = RELEVANCE.astype(float)
SCORES = np.random.default_rng(1).integers(0, 4, 100).astype(float)
EVERY_FUNCTION = {
    "ndcg_score": lambda y, s, g: ndcg_score(y, s, groups=g),
    "dcg_score": lambda y, s, g: dcg_score(y, s, groups=g),
    "ndcg_samples": lambda y, s, g: ndcg_samples(y, s, groups=g),
    "dcg_samples": lambda y, s, g: dcg_samples(y, s, groups=g),
    "ndcg_curve": lambda y, s, g: ndcg_curve(y, s, groups=g)[1],
    "ndcg_interval": lambda y, s, g: ndcg_interval(y, s, groups=g, method="t").mean,
    "compare_rankers": lambda y, s, g: compare_rankers(y, {"a": s, "b": s}, groups=g).difference,
    "quantile_grades": lambda y, s, g: quantile_grades(s, groups=g),
}


class Bare:
    """Has only ``__array__``, without the arguments that NumPy 2 passes."""

    def __init__(self, values):
        self.values = values

    def __array__(self):
        return self.values


NUMBERS = {
    "__array__": Bare,
    "half": lambda v: v.astype(np.float16),
    "long double": lambda v: v.astype(np.longdouble),
    "big-endian": lambda v: v.astype(">i2"),
    "uint64": lambda v: v.astype(np.uint64),
    "field": lambda v: np.rec.fromarrays([v, v], names="a,b")["a"],
    "strided": lambda v: np.lib.stride_tricks.as_strided(np.repeat(v, 2), v.shape, (16,), writeable=False),
    "subclass": lambda v: v.view(type("Mine", (np.ndarray,), {})),
    "pandas Int8": lambda v: pd.Series(v, dtype="Int8"),
    "pandas Arrow": lambda v: pd.Series(v, dtype="uint8[pyarrow]"),
    "pandas sparse": lambda v: pd.Series(pd.arrays.SparseArray(v)),
    "index": pd.Index,
    "other index": lambda v: pd.Series(v, index=range(len(v), 0, -1)),
    "decimal": lambda v: pa.array(v).cast(pa.decimal128(25, 2)),
    "Arrow": lambda v: pa.array(v, pa.float32()),
    "polars": lambda v: pl.Series(v).cast(pl.UInt8),
    "polars floats": lambda v: pl.Series(v).cast(pl.Float32),
    "memoryview": memoryview,
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.filterwarnings("ignore:NDCG is undefined", "ignore:. queries")
def test_numbers_of_every_kind(kind):
    for name, call in EVERY_FUNCTION.items():
        found = call(*map(NUMBERS[kind], (RELEVANCE, SCORES, QUERIES)))
        np.testing.assert_array_equal(found, call(RELEVANCE, SCORES, QUERIES), err_msg=name)


MISSING = [1, None, 0, 1, 0, 1]
NULLABLE = {
    "pyarrow": pa.array,
    "polars": pl.Series,
    "list": list,
    "objects": lambda v: np.array(v, dtype=object),
    "pandas.NA in objects": lambda v: pd.Series([pd.NA if each is None else each for each in v], dtype=object),
    "boolean": lambda v: pd.Series(v, dtype=object).astype("boolean"),
}  # fmt: skip
NULLABLE |= {
    dtype: lambda v, dtype=dtype: pd.Series(v, dtype=dtype)
    for dtype in ("Int64", "Float32", "int64[pyarrow]", "double[pyarrow]")
    if dtype != "int64[pyarrow]" or pd.__version__ >= "2.3"  # which NumPy cannot read before
}


@pytest.mark.parametrize("kind", NULLABLE)
@pytest.mark.parametrize("unjudged", ["zero", "omit"])
def test_missing_relevance_of_every_kind(kind, unjudged):
    options = {"groups": [1, 1, 1, 2, 2, 2], "unjudged": unjudged}
    expected = ndcg_samples([1, NAN, 0, 1, 0, 1], [1, 2, 3, 3, 1, 2], **options)
    found = ndcg_samples(NULLABLE[kind](MISSING), [1, 2, 3, 3, 1, 2], **options)
    np.testing.assert_array_equal(found, expected)


# --- sparse relevance: the values of the dense matrix, to the last bit


FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
KINDS = [bool, np.uint8, np.int8, np.int64, np.float32, np.float64]


@pytest.mark.parametrize(
    ("form", "kind"), [*((form, float) for form in FORMATS), *(("csr", kind) for kind in KINDS)]
)
def test_sparse_relevance_has_the_value_of_the_dense(form, kind):
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.3, (40, 30)).astype(kind)
    dense = dense / np.float32(2) if np.dtype(kind).kind == "f" else dense
    score = rng.integers(0, 6, dense.shape).astype(float)  # ties
    score[rng.random(dense.shape) < 0.1] = -INF
    weight = rng.random(40)
    for each in (getattr(sparse, f"{form}_array")(dense), getattr(sparse, f"{form}_matrix")(dense)):
        for options in ({}, {"k": 5, "gain": "exponential"}, {"k": "retrieved", "ties": "worst"}):
            for function in (ndcg_samples, dcg_samples):
                found = function(each, score, **options)
                np.testing.assert_array_equal(found, function(dense, score, **options))
        for function in (ndcg_score, dcg_score, ndcg_curve):
            found, expected = (function(y, score, sample_weight=weight) for y in (each, dense))
            np.testing.assert_array_equal(found, expected)
        finite = np.maximum(score, -1)
        expected = metrics.ndcg_score(dense, finite)
        assert ndcg_score(each, finite) == pytest.approx(expected, abs=1e-12)


def test_sparse_relevance_in_intervals_comparisons_and_scorers():
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.5, (40, 20))
    scores = {"a": rng.normal(size=dense.shape), "b": rng.normal(size=dense.shape)}

    scorer = make_ndcg_scorer(k=5, response_method=lambda *_: scores["a"])

    def results(y_true):
        yield ndcg_interval(y_true, scores["a"], random_state=0, k=5)
        yield compare_rankers(y_true, scores, random_state=0, k=5)
        yield explain_difference(y_true, scores["a"], "sklearn", "lightgbm")
        yield scorer(None, np.ones((40, 2)), y_true)

    assert list(map(repr, results(sparse.csr_array(dense)))) == list(map(repr, results(dense)))


def test_sparse_relevance_that_is_stored_twice_is_added():
    places = [0, 0, 0, 1], [2, 2, 0, 1]
    twice = sparse.coo_array(([200, 100, 0, 1], places), shape=(2, 3))
    unsummed = sparse.csr_array(([200, 100, 0, 1], [2, 2, 0, 1], [0, 3, 4]), shape=(2, 3))
    unsummed.has_canonical_format = False
    for y_true in (twice, unsummed):
        found = ndcg_samples(y_true, [[1, 2, 3], [3, 2, 1]])
        np.testing.assert_array_equal(found, [1, 1 / np.log2(3)])
        assert dcg_score(y_true, [[1, 2, 3], [1, 2, 3]], k=1) == 150
        assert y_true.nnz == 4  # not changed


def test_sparse_relevance_of_nothing_and_of_unjudged_documents():
    nothing = sparse.csr_array((2, 3))
    assert ndcg_score(nothing, np.ones((2, 3)), undefined=0.5) == 0.5
    unjudged = sparse.csr_array([[NAN, 0, 1], [0, 2, 0]])
    expected = ndcg_samples(unjudged.toarray(), [[3, 2, 1]] * 2, unjudged="omit")
    found = ndcg_samples(unjudged, [[3, 2, 1]] * 2, unjudged="omit")
    np.testing.assert_array_equal(found, expected)


def test_sparse_grades_take_a_byte_per_document():
    rng = np.random.default_rng(0)
    dense = rng.binomial(4, 0.01, size=(500, 2000)).astype(float)
    score, peaks = rng.random(dense.shape), []
    for y_true in (dense[:2], dense, sparse.csr_array(dense)):  # the first call fills caches
        tracemalloc.start()
        try:
            ndcg_score(y_true, score[: y_true.shape[0]], k=10)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[2] < peaks[1] + dense.size  # a dense copy has 8 bytes per document


@pytest.mark.xfail(strict=True, reason="NumPy makes floats of negative integers beside uint64")
def test_huge_scores_keep_their_order():
    assert ndcg_score([[0, 1, 2]], [[-1, 2**63, 2**63 + 1]]) == 1


def test_a_table_of_one_column_with_groups_is_that_column():
    column, score = np.c_[Y], pd.DataFrame({"score": S})
    for y_true, y_score in ((column, S), (Y, score), (column, score)):
        assert ndcg_score(y_true, y_score, groups=G) == ndcg_score(Y, S, groups=G)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "exact",
    [lambda i: 2**70 + i, lambda i: Decimal(2**60 + i) / 4, lambda i: Fraction(2**60 + i, 3)],
    ids=["int", "Decimal", "Fraction"],
)
def test_scores_that_float64_ties_keep_their_order(exact, sign):
    order = np.random.default_rng(0).permutation(60)
    y_true = np.arange(60) % 5
    scores = [sign * exact(i) for i in order.tolist()]
    assert len(set(map(float, scores))) < 60
    groups = np.arange(60) // 20
    expected = ndcg_score(y_true, sign * order, groups=groups)
    for given in (scores, np.array(scores, dtype=object), pd.Series(scores, dtype=object)):
        assert ndcg_score(y_true, given, groups=groups) == expected
    matrix = np.array(scores, dtype=object).reshape(3, 20)
    assert ndcg_score(y_true.reshape(3, 20), matrix) == expected
    with pytest.raises(ValueError, match="contains (NaN|infinity): 1 NaN or \\+inf, at index 1"):
        ndcg_score([1, 0, 2], [scores[0], None, scores[1]], groups=[1, 1, 1])


def test_a_decimal_below_every_float_is_a_score():
    scores = np.array([Decimal("-1E400"), Decimal("-Infinity"), Decimal(1)], dtype=object)
    # two are retrieved, and the relevant one is the second
    assert dcg_score([[1, 1, 0]], [scores], k="retrieved") == pytest.approx(1 / np.log2(3))


def test_sample_weight_may_have_other_labels_than_the_rows():
    y_true, y_score, weight = map(pd.Series, (Y, S, [1, 2, 3, 4]))
    weight.index += 2
    for function in (ndcg_score, dcg_score, ndcg_curve):
        found = function(y_true, y_score, groups=G, sample_weight=weight)
        expected = function(y_true, y_score, groups=G, sample_weight=[1, 2, 3, 4])
        np.testing.assert_equal(found, expected)
