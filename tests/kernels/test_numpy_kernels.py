"""Functions that both kernels have, compared with formulas; and grades as bytes."""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from sklearn_ndcg._kernels.numpy_kernels import _at_cutoffs, as_grades, dcg, rank_query
from sklearn_ndcg._metrics.choices import TIES

GAIN, SCORE = np.array([3.0, 1, 2, 4, 5, 9]), np.array([0.5, 0.5, 0.1, -np.inf, 2, 2])
STARTS, LENGTHS = np.array([4, 0, 4]), np.array([2, 4, 0])
DISCOUNT, CUTOFFS, NO_TABLE = np.array([8.0, 4, 2, 1]), np.array([1, 3]), np.empty(0)


@pytest.mark.parametrize(
    ("ties", "ranked"),
    [
        ("average", [[7, 7], [2, 2, 2, 0]]),
        ("stable", [[5, 9], [3, 1, 2, 0]]),
        ("worst", [[5, 9], [1, 3, 2, 0]]),
        ("best", [[9, 5], [3, 1, 2, 0]]),
    ],
)
def test_dcg_is_the_sum_of_gain_times_discount(kernels, ties, ranked):
    cutoffs = np.array([1, 3, 4])  # at rank 4 is what was not retrieved
    found = kernels.dcg(GAIN, SCORE, STARTS, LENGTHS, DISCOUNT, cutoffs, TIES[ties], NO_TABLE)
    expected = [[np.dot(row[:k], DISCOUNT[: len(row[:k])]) for k in cutoffs] for row in ranked]
    np.testing.assert_array_equal(found, [*expected, [0, 0, 0]])


@pytest.mark.parametrize("cutoffs", [np.array([1, 4]), np.array([9])])
def test_a_discount_that_lacks_a_rank_is_refused(kernels, cutoffs):
    rest = STARTS, LENGTHS, DISCOUNT[:3], cutoffs
    with pytest.raises(IndexError, match="discount has 3 of 4 ranks"):
        kernels.dcg(GAIN, SCORE, *rest, TIES["average"], NO_TABLE)
    with pytest.raises(IndexError, match="discount has 3 of 4 ranks"):
        kernels.ideal_dcg(GAIN, *rest, NO_TABLE)
    of_queries = np.array([[1], [4], [1]])
    with pytest.raises(IndexError, match="discount has 3 of 4 ranks"):
        kernels.ideal_dcg(GAIN, *rest[:3], of_queries, NO_TABLE)


@pytest.mark.parametrize("n", [33, 34, 64, 65, 129, 300])
def test_nearly_sorted_scores_are_sorted(kernels, n):
    """Runs are merged in halves, of which a document or two are not in order."""
    rng, whole = np.random.default_rng(n), np.array([n])
    for _ in range(40):
        score = np.sort(rng.integers(0, 2 * n, n).astype(float))[::-1].copy()
        first, second = rng.integers(0, n, 2)
        score[[first, second]] = score[[second, first]]
        gain, cutoffs = rng.permutation(n).astype(float), np.arange(1, n + 1)
        rest = np.array([0]), whole, np.ones(n), cutoffs, TIES["stable"], NO_TABLE
        expected = np.cumsum(gain[np.argsort(-score, kind="stable")])
        np.testing.assert_array_equal(kernels.dcg(gain, score, *rest), [expected])


@pytest.mark.parametrize(("ties", "sign"), [("best", -1), ("worst", 1)])
@pytest.mark.parametrize("n", [40, 1000])
@pytest.mark.parametrize("k", [1, 3, 5, 30])
def test_a_tie_is_cut_at_its_best_or_worst_documents(kernels, ties, sign, n, k):
    """Only in some orders the kernel keeps no more documents of a long tie than it needs."""
    rng, discount = np.random.default_rng(0), 1.0 / np.arange(1, n + 1)
    rest = np.array([0]), np.array([n]), discount, np.array([k]), TIES[ties], NO_TABLE
    for _ in range(20):
        gain = rng.permutation(n) + 1.0
        first = sign * np.sort(sign * gain)[:k]
        [[found]] = kernels.dcg(gain, np.full(n, 0.5), *rest)
        assert found == pytest.approx(np.dot(first, discount[:k]), rel=1e-14)


@pytest.mark.parametrize("own", [False, True], ids=["cutoffs of all", "cutoffs of each query"])
@pytest.mark.parametrize("dtype", [float, np.uint8])
def test_ideal_dcg_is_that_of_the_largest_gains_first(kernels, own, dtype):
    cutoffs = np.array([[3, 1], [2, 4], [1, 1]]) if own else CUTOFFS
    table = np.arange(10.0) if dtype is np.uint8 else NO_TABLE
    found = kernels.ideal_dcg(GAIN.astype(dtype), STARTS, LENGTHS, DISCOUNT, cutoffs, table)
    best, ends_of_each = [[9, 5], [4, 3, 2, 1], []], np.broadcast_to(cutoffs, (3, 2))
    for values, gains, ends in zip(found, best, ends_of_each, strict=True):
        assert values.tolist() == [np.dot(gains[:k], DISCOUNT[: len(gains[:k])]) for k in ends]


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64, np.intp])
def test_gathered_rows_are_those_of_a_stable_sort(kernels, dtype):
    rng = np.random.default_rng(0)
    codes, values = rng.integers(0, 40, 3000), rng.integers(0, 256, 3000).astype(dtype)
    codes[codes == 7] = 8  # a group without rows
    counts = np.bincount(codes, minlength=41)
    starts = np.cumsum(counts) - counts
    found = kernels.gather_by_group(values, codes, starts)
    np.testing.assert_array_equal(starts, np.cumsum(counts) - counts)  # not changed
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, values[np.argsort(codes, kind="stable")])


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "i8", ">f8", "g"])
def test_grades_of_every_dtype(dtype):
    relevance = np.array([0, 1, 1, 0, 1]).astype(dtype)
    relevance.flags.writeable = False
    found = as_grades(relevance)
    assert found.dtype == np.uint8
    assert found.tolist() == [0, 1, 1, 0, 1]


@pytest.mark.parametrize(
    "value", [pytest.param(np.int8(-1), id="int8"), -1.0, 0.5, 256.0, np.nan, np.inf]
)
def test_values_that_are_not_grades(value):
    relevance = np.zeros(200_000, dtype=np.asarray(value).dtype)
    relevance[-1] = value
    assert as_grades(relevance) is None


@pytest.mark.parametrize("n", [1, 256, 257, 20_000])  # the plain sum of the last is off by 1e-14
def test_sums_up_to_each_cutoff_lose_fewer_digits_than_a_plain_sum(n):
    parts = np.random.default_rng(0).random((2, n))
    exact = [[*map(float, accumulate(map(Fraction, row)))] for row in parts.tolist()]
    sums = _at_cutoffs(parts, np.ones(n), np.arange(1, n + 1))
    np.testing.assert_allclose(sums, exact, rtol=3e-15)


def test_means_of_ties_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    gain = rng.integers(0, 30, (50, 9)) / 10  # some are whole numbers
    score = rng.integers(0, 3, (50, 9)).astype(float)
    order = np.argsort(rng.random((50, 9)))
    starts, discount = np.arange(0, 450, 9), 1 / np.log2(np.arange(2, 11))
    rest = starts, np.full(50, 9), discount, np.array([9]), TIES["average"], NO_TABLE
    expected = dcg(gain.ravel(), score.ravel(), *rest)
    shuffled = (np.take_along_axis(rows, order, axis=1).ravel() for rows in (gain, score))
    np.testing.assert_array_equal(dcg(*shuffled, *rest), expected)


@pytest.mark.parametrize("ties", ["average", "stable"])
def test_tied_documents_of_one_query_are_listed_in_the_order_of_the_input(ties):
    gain, score = np.random.default_rng(0).integers(0, 3, (2, 1000)).astype(float)
    order, _ = rank_query(gain, score, TIES[ties])
    assert order.tolist() == sorted(range(1000), key=lambda row: -score[row])
