"""The values: compared with every permutation in exact arithmetic, and with the literature."""

from math import log, log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import exact_dcg, exact_ideal, loop_ndcg

from sklearn_ndcg import (
    dcg_samples,
    dcg_score,
    jarvelin_kekalainen,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
)
from sklearn_ndcg._metrics.measure import DISCOUNTS as NAMED_DISCOUNTS
from sklearn_ndcg._metrics.measure import Measure

INF = np.inf
DISCOUNTS = {
    "log": lambda r: 1 / log2(r + 1),
    "reciprocal": lambda r: 1 / r,
    "none": lambda r: 1.0,
    jarvelin_kekalainen(b=3): lambda r: 1 / max(1.0, log(r, 3)),
}


@st.composite
def small_query(draw):
    n = draw(st.integers(1, 6))
    gains = draw(st.lists(st.sampled_from([0, 0.5, 1, 2, 3, 7]), min_size=n, max_size=n))
    scores = draw(st.lists(st.sampled_from([-INF, -1.5, 0, -0.0, 2, 2.5]), min_size=n, max_size=n))
    return gains, scores


@settings(max_examples=150, deadline=None)
@given(
    small_query(),
    st.sampled_from([None, 1, 2, 3, 6, 9]),
    st.sampled_from(["average", "stable", "worst", "best"]),
    st.sampled_from(list(DISCOUNTS)),
)
def test_equals_exact_mean_over_all_permutations(query, k, ties, discount):
    gains, scores = query
    groups = [0] * len(gains)
    weights = DISCOUNTS[discount]
    expected = exact_dcg(gains, scores, k, weights, ties)
    options = {"groups": groups, "k": k, "ties": ties, "discount": discount}
    np.testing.assert_allclose(dcg_samples(gains, scores, **options), expected, rtol=1e-14)
    ideal = exact_ideal(gains, k, weights)
    expected = expected / ideal if ideal else -7
    got = ndcg_samples(gains, scores, **options, replace_undefined_by=-7)
    np.testing.assert_allclose(got, expected, rtol=1e-14)


@settings(max_examples=50, deadline=None)
@given(small_query(), st.sampled_from([None, 1, 2, 4]))
def test_tie_rules_are_in_order(query, k):
    gains, scores = query
    worst, average, stable, best = (
        dcg_score(gains, scores, groups=[0] * len(gains), k=k, ties=ties)
        for ties in ("worst", "average", "stable", "best")
    )
    assert worst - 1e-12 <= average <= best + 1e-12
    assert worst - 1e-12 <= stable <= best + 1e-12


def ragged(seed, n_queries=60, longest=40):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest, n_queries)
    groups = rng.permutation(np.repeat(rng.permutation(n_queries), lengths))
    y_true = rng.integers(0, 4, len(groups)) * (rng.random(len(groups)) < 0.4)
    y_score = np.round(rng.normal(size=len(groups)), 1)
    y_score[rng.random(len(groups)) < 0.1] = -INF
    return y_true, y_score, groups


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("k", [None, 1, 5, 100])
def test_ragged_queries_equal_a_loop(seed, k):
    y_true, y_score, groups = ragged(seed)
    got = ndcg_samples(y_true, y_score, groups=groups, k=k, replace_undefined_by=np.nan)
    np.testing.assert_allclose(got, loop_ndcg(y_true, y_score, groups, k), rtol=1e-14)


@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
@pytest.mark.parametrize("k", [None, 1, 5, 100])
def test_grouped_equals_padded(ties, k):
    """A padded document is one that was not retrieved and is not relevant."""
    y_true, y_score, groups = ragged(0)
    queries = np.unique(groups)
    padded_true, padded_score = np.zeros((len(queries), 50)), np.full((len(queries), 50), -INF)
    for row, query in enumerate(queries):
        rows = np.flatnonzero(groups == query)
        padded_true[row, : len(rows)] = y_true[rows]
        padded_score[row, : len(rows)] = y_score[rows]
    options = {"ties": ties, "k": k, "replace_undefined_by": 0}
    got = ndcg_samples(y_true, y_score, groups=groups, **options)
    np.testing.assert_allclose(got, ndcg_samples(padded_true, padded_score, **options), rtol=1e-14)


def test_curve_equals_the_score_at_each_cutoff():
    y_true, y_score, groups = ragged(1)
    weight = np.random.default_rng(0).random(len(groups))
    for replacement in (0.25, np.nan):
        options = {"groups": groups, "sample_weight": weight, "replace_undefined_by": replacement}
        k, curve = ndcg_curve(y_true, y_score, **options)
        longest = np.bincount(groups).max()
        np.testing.assert_array_equal(k, np.arange(1, longest + 1))
        expected = [ndcg_score(y_true, y_score, k=int(each), **options) for each in k]
        np.testing.assert_allclose(curve, expected, rtol=1e-13)
        k, curve = ndcg_curve(y_true, y_score, k=[10, 3, 10**9, 3], **options)
        assert k.tolist() == [10, 3, 10**9, 3]
        expected = [ndcg_score(y_true, y_score, k=int(each), **options) for each in k]
        np.testing.assert_allclose(curve, expected, rtol=1e-13)


def test_curve_in_several_blocks(monkeypatch):
    y_true, y_score, groups = ragged(2)
    options = {"groups": groups, "replace_undefined_by": np.nan}
    _, expected = ndcg_curve(y_true, y_score, **options)
    monkeypatch.setattr("sklearn_ndcg._metrics.queries._BLOCK", 100)
    np.testing.assert_allclose(ndcg_curve(y_true, y_score, **options)[1], expected, rtol=1e-13)


@pytest.mark.parametrize("block", [1, 7, 64])
@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
def test_blocks_of_any_size_give_the_same_bits(monkeypatch, block, ties):
    y_true, y_score, groups = ragged(3)
    expected = ndcg_samples(y_true, y_score, groups=groups, ties=ties, replace_undefined_by=0)
    monkeypatch.setattr("sklearn_ndcg._kernels.numpy_kernels._DOCUMENTS_PER_BLOCK", block)
    got = ndcg_samples(y_true, y_score, groups=groups, ties=ties, replace_undefined_by=0)
    np.testing.assert_array_equal(got, expected)


def test_long_tie_loses_no_digit():
    """A difference of cumulated discounts is off by thousands of ulp at such ranks."""
    n = 100_000
    y_true, y_score = np.zeros(n), -np.arange(n, dtype=float)
    y_true[-1], y_score[-2:] = 1, -n
    expected = (1 / log2(n) + 1 / log2(n + 1)) / 2
    assert dcg_score([y_true], [y_score]) == pytest.approx(expected, rel=4e-16)


@pytest.mark.parametrize("ties", ["average", "stable"])
def test_perfect_and_all_tied_rankings_do_not_exceed_one(ties):
    rng = np.random.default_rng(0)
    y_true = rng.random((200, 11))
    assert (ndcg_samples(y_true, y_true, ties=ties) == 1).all()
    y_true = np.repeat(rng.random((200, 1)), 11, axis=1)
    got = ndcg_samples(y_true, rng.integers(0, 2, (200, 11)))
    assert got.max() <= 1
    np.testing.assert_allclose(got, 1, rtol=1e-15)


# --- well-known worked examples of the literature, as formulas


def in_order(*gains):
    """Grades in ranked order, as one ranking."""
    return [list(gains)], [list(range(len(gains), 0, -1))]


def test_worked_example_1():
    # predicted A, B, C; truth A .1, B .5, C .7, D .5, E .1: D and E judged, not retrieved
    y_true, y_score = [[0.1, 0.5, 0.7, 0.5, 0.1]], [[3, 2, 1, -INF, -INF]]
    dcg = 0.1 + 0.5 / log2(3) + 0.7 / 2
    ideal_3 = 0.7 + 0.5 / log2(3) + 0.5 / 2
    ideal = ideal_3 + 0.1 / log2(5) + 0.1 / log2(6)
    assert dcg == pytest.approx(0.7654648767857287, rel=1e-15)
    assert dcg_score(y_true, y_score) == pytest.approx(dcg, rel=1e-15)
    assert ndcg_score(y_true, y_score) == pytest.approx(dcg / ideal, rel=1e-15)
    assert ndcg_score(y_true, y_score, k=3) == pytest.approx(dcg / ideal_3, rel=1e-15)
    assert ndcg_score(y_true, y_score, k="retrieved") == pytest.approx(0.6048882832133625)
    # with a second list D, A, C, B, E, each list cut at its own length
    y_true, y_score = y_true * 2, [*y_score, [4, 2, 3, 5, 1]]
    second = 0.5 + 0.1 / log2(3) + 0.7 / 2 + 0.5 / log2(5) + 0.1 / log2(6)
    assert dcg_samples(y_true, y_score)[1] == pytest.approx(second, rel=1e-15)
    assert ndcg_score(y_true, y_score, k="retrieved") == pytest.approx(
        (dcg / ideal_3 + second / ideal) / 2
    )
    assert ndcg_score(y_true, y_score, k="retrieved") == pytest.approx(0.7356022113638424)


@pytest.mark.parametrize(
    ("grades", "ideal", "printed"),
    [
        ((3, 2, 3, 0, 1, 2), (3, 3, 2, 2, 1, 0), (11, 6.861, 7.141, 0.961)),
        ((3, 3, 3, 4, 2, 2), (4, 3, 3, 3, 2, 2), (17, 9.602, 10.171, 0.944)),
    ],
)
def test_worked_examples_2_and_3(grades, ideal, printed):
    def formula(gains):
        return sum(g / log2(rank + 1) for rank, g in enumerate(gains, 1))

    assert dcg_score(*in_order(*grades), discount="none") == printed[0] == sum(grades)
    assert dcg_score(*in_order(*grades)) == pytest.approx(formula(grades), rel=1e-15)
    assert dcg_score(*in_order(*ideal)) == pytest.approx(formula(ideal), rel=1e-15)
    value = formula(grades) / formula(ideal)
    assert ndcg_score(*in_order(*grades)) == pytest.approx(value, rel=1e-15)
    assert (formula(grades), formula(ideal), value) == pytest.approx(printed[1:], abs=5e-4)


def test_worked_example_4():
    dcg = 3 + 7 / log2(3) + 1 / log2(6) * 0
    ideal = 7 + 3 / log2(3) + 1 / 2 * 0
    y = in_order(2, 3, 0, 0, 1)
    dcg += 1 / log2(6)
    ideal += 1 / 2
    assert (dcg, ideal) == pytest.approx((7.803, 9.393), abs=5e-4)
    assert dcg_score(*y, gain="exponential") == pytest.approx(dcg, rel=1e-15)
    assert ndcg_score(*y, gain="exponential") == pytest.approx(dcg / ideal, rel=1e-15)
    assert dcg / ideal == pytest.approx(0.8308, abs=5e-5)


def test_worked_example_6():
    grade = {"A": 3, "B": 3, "C": 2, "D": 2, "E": 1, "F": 1, "G": 0}
    ideal = 3 + 3 / log2(3) + 2 / 2 + 2 / log2(5) + 1 / log2(6)
    for listed, dcg, ndcg in (("AECDF", 5.879, 0.8233), ("ABCGE", 6.280, 0.8794)):
        y_true = [[grade[name] for name in listed] + [grade[n] for n in grade if n not in listed]]
        y_score = [[5, 4, 3, 2, 1, -INF, -INF]]
        formula = sum(grade[name] / log2(rank + 1) for rank, name in enumerate(listed, 1))
        assert dcg_score(y_true, y_score) == pytest.approx(formula, rel=1e-15)
        assert ndcg_score(y_true, y_score, k=5) == pytest.approx(formula / ideal, rel=1e-15)
        assert (formula, formula / ideal) == pytest.approx((dcg, ndcg), abs=5e-4)


@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_the_base_of_the_logarithm_cancels(gain):
    """Some texts say that it does not cancel for exponential gain."""
    y_true, y_score, groups = ragged(4)
    natural = {"gain": gain, "discount": lambda ranks: 1 / np.log(ranks + 1)}
    options = {"groups": groups, "k": 10, "replace_undefined_by": 0}
    np.testing.assert_allclose(
        ndcg_samples(y_true, y_score, **natural, **options),
        ndcg_samples(y_true, y_score, gain=gain, **options),
        rtol=1e-14,
    )


def test_jarvelin_kekalainen_against_the_article():
    gains = in_order(3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
    printed = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
    got = [dcg_score(*gains, k=k, discount=jarvelin_kekalainen(b=2)) for k in range(1, 11)]
    assert got == pytest.approx(printed, abs=5e-3)
    ranks = np.arange(1, 30)
    for b in (2, 2.5, 10):
        expected = [1.0 if r < b else 1 / log(r, b) for r in ranks]
        np.testing.assert_allclose(jarvelin_kekalainen(b=b)(ranks), expected, rtol=1e-15)


# --- what each option means


def test_gains():
    y_true, y_score = in_order(0, 1, 2, 0.5)
    weights = 1 / np.log2(np.arange(2, 6))

    def dcg(gain):
        return dcg_score(y_true, y_score, gain=gain)

    assert dcg("exponential") == pytest.approx([0, 1, 3, 2**0.5 - 1] @ weights, rel=1e-15)
    assert dcg({0: 0, 1: 5, 2: 7, 0.5: 3}) == pytest.approx([0, 5, 7, 3] @ weights, rel=1e-15)
    assert dcg(np.sqrt) == pytest.approx(np.sqrt([0, 1, 2, 0.5]) @ weights, rel=1e-15)
    y_true = [[0, 1, 2, 2]]
    for table in ([0, 1, 10], (0, 1, 10), np.array([0, 1, 10]), [0, 1, 10, 2**70]):
        assert dcg(table) == pytest.approx([0, 1, 10, 10] @ weights, rel=1e-15)


def test_exponential_gain_keeps_its_digits():
    tiny = 1e-9
    expected = tiny * log(2)  # the next term is nine digits further on
    assert dcg_score([[tiny, 0]], [[2, 1]], gain="exponential") == pytest.approx(expected, rel=1e-9)
    for grade in (31, 62, 64, 1000):  # beyond int64
        got = dcg_score([[grade, 0]], [[2, 1]], gain="exponential")
        assert got == float(2**grade - 1)


def test_ideal_is_ordered_by_gain():
    """If gain decreases with the grade, the best order is that of the gain."""
    y_true, y_score = [[0, 1, 2]], [[3, 2, 1]]
    assert ndcg_score(y_true, y_score, gain=[5, 2, 0]) == 1
    assert ndcg_score(y_true, y_score, gain={0: 5, 1: 2, 2: 0}, k=2) == 1


def test_negative_relevance():
    y_true, y_score = in_order(-1, 2, -3)
    assert dcg_score(y_true, y_score) == pytest.approx(-1 + 2 / log2(3) - 3 / 2, rel=1e-15)
    clipped = ndcg_score(y_true, y_score, gain=lambda y: np.maximum(y, 0))
    assert clipped == pytest.approx(1 / log2(3), rel=1e-15)


def test_not_retrieved_adds_nothing_and_counts_in_the_ideal():
    y_true, y_score = [2, 1, 3, 3], [0.5, 0.7, -INF, -INF]
    expected = 1 + 2 / log2(3)
    ideal = 3 + 3 / log2(3) + 2 / 2 + 1 / log2(5)
    for ties in ("average", "stable", "worst", "best"):
        options = {"groups": list("aaaa"), "ties": ties}
        assert dcg_score(y_true, y_score, **options) == pytest.approx(expected, rel=1e-15)
        assert ndcg_score(y_true, y_score, **options) == pytest.approx(expected / ideal, rel=1e-15)


def test_relevant_but_nothing_retrieved_is_zero_not_undefined():
    y_true, y_score, groups = [1, 0, 1, 0], [-INF, -INF, 2, 1], [1, 1, 2, 2]
    for k in (None, 1, "retrieved"):
        got = ndcg_samples(y_true, y_score, groups=groups, k=k, replace_undefined_by=np.nan)
        assert got.tolist() == [0, 1]


def test_unjudged_documents():
    y_true, y_score = [np.nan, 2, 0, np.nan, 1], [5, 4, 3, 2, 1]
    groups = [1] * 5
    zero = 2 / log2(3) + 1 / log2(6)
    omit = 2 + 1 / 2
    ideal = 2 + 1 / log2(3)
    for unjudged, dcg in (("zero", zero), ("omit", omit)):
        options = {"groups": groups, "unjudged": unjudged}
        assert dcg_score(y_true, y_score, **options) == pytest.approx(dcg, rel=1e-15)
        assert ndcg_score(y_true, y_score, **options) == pytest.approx(dcg / ideal, rel=1e-15)
        dense = ndcg_score([y_true], [y_score], unjudged=unjudged)
        assert dense == pytest.approx(dcg / ideal, rel=1e-15)
    # the gain is 0, not that of grade 0
    shifted = {"groups": groups, "gain": lambda y: y + 1, "unjudged": "zero"}
    expected = 3 / log2(3) + 1 / 2 + 2 / log2(6)
    assert dcg_score(y_true, y_score, **shifted) == pytest.approx(expected, rel=1e-15)


def test_retrieved_is_counted_after_omission():
    y_true, y_score = [np.nan, 0, 1, 1], [9, 8, 7, -INF]
    got = ndcg_score(y_true, y_score, groups=[0] * 4, k="retrieved", unjudged="omit")
    assert got == pytest.approx((1 / log2(3)) / (1 + 1 / log2(3)), rel=1e-15)
    got = ndcg_score(y_true, y_score, groups=[0] * 4, k="retrieved", unjudged="zero")
    assert got == pytest.approx((1 / 2) / (1 + 1 / log2(3)), rel=1e-15)


def test_a_query_with_all_documents_omitted_keeps_its_place():
    y_true, y_score = [np.nan, 1, 0, np.nan], [1, 2, 1, 2]
    options = {"groups": [1, 2, 2, 3], "unjudged": "omit"}
    got = ndcg_samples(y_true, y_score, **options, replace_undefined_by=np.nan)
    np.testing.assert_array_equal(got, [np.nan, 1, np.nan])
    assert dcg_samples(y_true, y_score, **options).tolist() == [0, 1, 0]
    weights = [1, 1, 1, 1]
    got = ndcg_score(y_true, y_score, **options, replace_undefined_by=0.5, sample_weight=weights)
    assert got == pytest.approx(2 / 3, rel=1e-15)


def test_omitted_rows_are_out_of_the_weight():
    y_true, y_score = [1, 0, np.nan, 0, 1], [2, 1, 3, 2, 1]
    groups, weight = [1, 1, 1, 2, 2], [1, 3, 100, 4, 4]
    expected = (2 * 1 + 4 / log2(3)) / (2 + 4)
    got = ndcg_score(y_true, y_score, groups=groups, unjudged="omit", sample_weight=weight)
    assert got == pytest.approx(expected, rel=1e-15)
    mean = (1 + 3 + 100) / 3
    expected = (mean * (1 / log2(3)) + 4 / log2(3)) / (mean + 4)
    got = ndcg_score(y_true, y_score, groups=groups, unjudged="zero", sample_weight=weight)
    assert got == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [3, 0, 5, 1, 4, 2], [2, 3, 4, 5, 0, 1]])
def test_weight_of_a_query_is_the_mean_of_its_rows(order):
    y_true, y_score = np.array([1, 0, 0, 1, 0, 1]), np.array([2, 1, 2, 1, 1, 2])
    groups, weight = np.array(list("aabbcc")), np.array([1, 3, 5, 5, 0, 0])
    expected = (2 * 1 + 5 / log2(3) + 0) / 7
    got = ndcg_score(
        y_true[order], y_score[order], groups=groups[order], sample_weight=weight[order]
    )
    assert got == pytest.approx(expected, rel=1e-15)
    dense = y_true.reshape(3, 2), y_score.reshape(3, 2)
    assert ndcg_score(*dense, sample_weight=[2, 5, 0]) == pytest.approx(expected, rel=1e-15)


def test_samples_are_in_the_order_of_unique_ids():
    y_true, y_score = [1, 0, 0, 2, 0, 0, 1], [2, 1, 2, 1, 1, 2, 3]
    expected = {"b": 1, "C": 1 / log2(3), "a": 1.0}
    for groups in (list("bbCCaaa"), np.array(list("bbCCaaa")), [5, 5, -1, -1, 9, 9, 9]):
        got = ndcg_samples(y_true, y_score, groups=groups)
        ordered = dict(zip([groups[0], groups[2], groups[4]], expected.values(), strict=True))
        np.testing.assert_allclose(got, [ordered[label] for label in np.unique(groups)])


def test_undefined_queries():
    y_true, y_score, groups = [0, 0, 1, 0], [1, 2, 1, 2], [1, 1, 2, 2]
    value = 1 / log2(3)
    with pytest.warns(UserWarning, match=r"undefined for 1 of 2 queries.*replace_undefined_by"):
        assert ndcg_score(y_true, y_score, groups=groups) == pytest.approx(value / 2)
    for replacement, expected in ((0, value / 2), (1.0, (1 + value) / 2), (np.nan, value)):
        options = {"groups": groups, "replace_undefined_by": replacement}
        assert ndcg_score(y_true, y_score, **options) == pytest.approx(expected, rel=1e-15)
    none_left = ndcg_score([0, 0], [1, 2], groups=[1, 1], replace_undefined_by=np.nan)
    assert np.isnan(none_left)
    assert np.isnan(ndcg_curve([0, 0], [1, 2], groups=[1, 1], replace_undefined_by=np.nan)[1]).all()
    # all the weight is on the query that was left out
    options = {"groups": groups, "replace_undefined_by": np.nan, "sample_weight": [1, 1, 0, 0]}
    assert np.isnan(ndcg_score(y_true, y_score, **options))
    assert np.isnan(ndcg_curve(y_true, y_score, **options)[1]).all()


def test_one_document_queries():
    with pytest.warns(UserWarning, match="Each of the 2 queries has a single document"):
        got = ndcg_samples([3, 0], [1, 1], groups=[1, 2], replace_undefined_by=np.nan)
    np.testing.assert_array_equal(got, [1, np.nan])


def test_scores_that_differ_only_in_wide_types():
    big = 2**60
    for y_score in (
        np.array([big, big + 1, big + 2]),
        np.array([big, big + 1, big + 2], dtype=np.uint64),
        pd.Series([big, big + 1, big + 2], dtype="Int64"),
        np.array([big, big + 1, big + 2], dtype=object),
        np.array([1, 1 + 1e-18, 1 + 2e-18], dtype=np.longdouble),
    ):
        if len(np.unique(y_score)) == 3:  # longdouble is float64 on some platforms
            assert ndcg_score([0, 0, 1], y_score, groups=[1, 1, 1]) == 1
    wide = np.array([-np.inf, 1, 2], dtype=np.longdouble)
    assert dcg_score([1, 0, 0], wide, groups=[1, 1, 1]) == 0


@pytest.mark.parametrize(
    "y_score",
    [
        lambda rng: rng.normal(size=500).astype(np.longdouble) / 3,
        lambda rng: rng.integers(0, 9, 500).astype(np.longdouble) / 3,
        lambda rng: 1 + rng.integers(0, 9, 500) * np.finfo(np.longdouble).eps,
        lambda rng: rng.choice([-0.0, 0.0, 1, -np.inf, np.finfo(np.longdouble).tiny], 500),
        lambda rng: rng.choice([1, np.finfo(np.longdouble).max, np.finfo(np.longdouble).min], 500),
        lambda rng: np.where(rng.random(500) < 0.5, -np.inf, np.finfo(np.longdouble).min),
        lambda rng: 2**62 + rng.integers(0, 9, 500),
        lambda rng: rng.integers(2**63, 2**63 + 3000, 500, dtype=np.uint64),
        lambda rng: rng.integers(-(2**63), 2**63 - 1, 500),
    ],
)
def test_wide_scores_keep_their_order_and_ties(y_score):
    rng = np.random.default_rng(0)
    y_score = y_score(rng)
    y_true, groups = rng.random(500), np.repeat(np.arange(20), 25)
    _, ranks = np.unique(y_score, return_inverse=True)
    ranks = np.where(y_score == -np.inf, -np.inf, ranks)
    expected = dcg_samples(y_true, ranks, groups=groups)
    np.testing.assert_array_equal(dcg_samples(y_true, y_score, groups=groups), expected)


def test_curve_of_one_long_and_many_short_queries():
    """A block is as wide as the longest of its own queries, not the longest of all."""
    rng = np.random.default_rng(0)
    groups = np.r_[np.zeros(5000, int), np.repeat(np.arange(1, 2001), 3)]
    y_true, y_score = rng.integers(0, 3, len(groups)), rng.normal(size=len(groups))
    _, curve = ndcg_curve(y_true, y_score, groups=groups, replace_undefined_by=np.nan)
    for k in (1, 2, 3, 4, 500, 5000):
        options = {"groups": groups, "k": k, "replace_undefined_by": np.nan}
        assert curve[k - 1] == pytest.approx(ndcg_score(y_true, y_score, **options), rel=1e-13)


def test_returns():
    value = ndcg_score([1, 0], [1, 2], groups=[1, 1])
    assert type(value) is float
    assert type(dcg_score([1, 0], [1, 2], groups=[1, 1])) is float
    assert ndcg_samples([[1, 0]] * 3, [[1, 2]] * 3).shape == (3,)


@pytest.mark.parametrize("sign", [1, -1])
def test_integers_that_floats_would_tie(sign):
    scores = np.array([[2**60, 2**60 + 1, 2**60 + 2]]) * sign
    expected = ndcg_score([[0, 1, 2]], [[0, sign, 2 * sign]])
    assert ndcg_score([[0, 1, 2]], scores) == expected


def test_the_default_base_of_jarvelin_and_kekalainen():
    assert jarvelin_kekalainen() == jarvelin_kekalainen(b=2)


# --- the ends of float64, left as they are: see docs/testing.md

beyond_float64 = pytest.mark.xfail(strict=True, reason="left as it is, see docs/testing.md")


@beyond_float64
def test_ties_whose_gains_add_up_beyond_float64():
    assert dcg_score([[1.5e308, 1.5e308]], [[1, 1]], k=1) == 1.5e308


@beyond_float64
def test_subnormal_gains():
    assert ndcg_score([[5e-324, 0]], [[0, 1]]) == pytest.approx(1 / log2(3))


@beyond_float64
def test_subnormal_weights():
    rows = {"y_true": [1, 0, 1, 0], "y_score": [1, 2, 4, 3], "groups": [1, 1, 2, 2]}
    expected = ndcg_score(**rows, sample_weight=[1, 0] * 2)
    assert ndcg_score(**rows, sample_weight=[5e-324, 0] * 2) == expected


def test_the_curve_names_the_query_whose_sum_is_too_large():
    lengths = np.random.default_rng(0).integers(1, 9, 31)
    lengths[7] = 5
    groups = np.repeat(100 + np.arange(31), lengths)
    y = np.ones(len(groups))
    y[groups == 107] = 1e308
    for function in (ndcg_score, ndcg_curve):
        with pytest.raises(ValueError, match="in 1 query, the first 107: scale y_true down"):
            function(y, np.zeros(len(y)), groups=groups)


def test_a_discount_of_the_table_is_what_its_formula_says():
    ranks = np.arange(1, 50.0)
    expected = {"log": 1 / np.log2(ranks + 1), "reciprocal": 1 / ranks, "none": np.ones(49)}
    assert set(expected) == set(NAMED_DISCOUNTS)
    for name, values in expected.items():
        np.testing.assert_allclose(Measure(discount=name).discounts(49), values, rtol=1e-15)
