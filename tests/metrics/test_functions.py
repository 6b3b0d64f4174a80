"""Values, compared with every permutation in exact arithmetic, and with the literature; grades."""

from fractions import Fraction
from itertools import chain, groupby, permutations, product
from math import log, log2

import numpy as np
import pandas as pd
import pytest
from helpers import examples, in_order, ragged_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import DISCOUNTS, GAINS, exact_dcg, exact_ideal, loop_ndcg

from sklearn_ndcg import (
    dcg_samples,
    dcg_score,
    ndcg_samples,
    ndcg_score,
    quantile_grades,
)
from sklearn_ndcg._kernels import numpy_kernels
from sklearn_ndcg._metrics import choices

INF = np.inf


def in_full_to(base):
    """The discount of Järvelin and Kekäläinen: none before the rank `base`."""
    return lambda ranks: 1 / np.maximum(np.log(ranks) / np.log(base), 1)


CALLABLE_DISCOUNTS = {
    in_full_to(2): lambda r: 1 / max(1.0, log2(r)),
    in_full_to(2.5): lambda r: 1 / max(1.0, log(r, 2.5)),
    np.reciprocal: lambda r: 1 / r,  # of integers it would be 0 from the second on
    lambda ranks: np.broadcast_to(1.0, ranks.shape): lambda _: 1.0,  # an array with gaps
}
# DCG by a tie rule, from its values in all orders that the scores allow, the stable order first
TIES = {
    "average": lambda values: sum(values) / len(values),
    "stable": lambda values: values[0],
    "worst": min,
    "best": max,
}


@pytest.mark.parametrize(
    ("table", "formulas", "place"),
    [
        (choices.GAINS, GAINS, "GAINS in tests/oracles.py"),
        (choices.DISCOUNTS, DISCOUNTS, "DISCOUNTS in tests/oracles.py"),
        (choices.TIES, TIES, "TIES in this file"),
    ],
    ids=["gain", "discount", "ties"],
)
def test_every_named_choice_has_a_formula(table, formulas, place):
    without_formula = table.keys() - formulas.keys()
    assert not without_formula, f"write the formula of {without_formula} into {place}"


def in_all_orders(gains, scores, weights):
    """The DCG in each order that the scores allow, in fractions: the definition."""
    retrieved = [i for i, score in enumerate(scores) if score != -INF]
    ranked = sorted(retrieved, key=lambda i: -scores[i])
    tied = [permutations(rows) for _, rows in groupby(ranked, key=lambda i: scores[i])]
    return [
        sum(Fraction(gains[i]) * w for i, w in zip(chain(*order), weights, strict=False))
        for order in product(*tied)
    ]


GRADES = st.sampled_from([0, 0.5, 1, 2, 3, 7])
SCORES = st.sampled_from([-INF, -1.5, 0, -0.0, 2, 2.5])


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.tuples(GRADES, SCORES), min_size=1, max_size=6),
    st.sampled_from([None, 1, 2, 3, 6, 9]),
    st.sampled_from(list(GAINS)),
    st.sampled_from([*DISCOUNTS, *CALLABLE_DISCOUNTS]),
    st.sampled_from(list(TIES)),
)
def test_equals_exact_mean_over_all_permutations(documents, k, gain, discount, ties):
    grades, scores = zip(*documents, strict=True)
    options = {
        "groups": [0] * len(grades),
        "gain": gain,
        "discount": discount,
        "ties": ties,
        "k": k,
    }
    gains = [GAINS[gain](grade) for grade in grades]
    formula = (DISCOUNTS | CALLABLE_DISCOUNTS)[discount]
    weights = [Fraction(formula(rank)) for rank in range(1, len(gains) + 1)][:k]
    dcg = float(TIES[ties](in_all_orders(gains, scores, weights)))
    assert dcg == exact_dcg(gains, scores, k, formula, ties)
    np.testing.assert_allclose(dcg_samples(grades, scores, **options), dcg, rtol=1e-14)
    ideal = exact_ideal(gains, k, formula)
    found = ndcg_samples(grades, scores, **options, undefined=0.25)
    np.testing.assert_allclose(found, dcg / ideal if ideal else 0.25, rtol=1e-14)


@pytest.mark.parametrize("k", [None, 1, 5, 100])
def test_ragged_queries_equal_a_loop(k):
    y_true, y_score, groups = ragged_rows(0)
    found = ndcg_samples(y_true, y_score, groups=groups, k=k, undefined="omit")
    np.testing.assert_allclose(found, loop_ndcg(y_true, y_score, groups, k), rtol=1e-14)


@pytest.mark.parametrize("block", [1, 64])
@pytest.mark.parametrize("ties", ["average", "worst"])
def test_blocks_of_any_size_give_the_same_bits(kernels, monkeypatch, block, ties):
    y_true, y_score, groups = ragged_rows(3)
    expected = ndcg_samples(y_true, y_score, groups=groups, ties=ties, undefined=0)
    monkeypatch.setattr(numpy_kernels, "_DOCUMENTS_PER_BLOCK", block)
    found = ndcg_samples(y_true, y_score, groups=groups, ties=ties, undefined=0)
    np.testing.assert_array_equal(found, expected)


def test_long_tie_loses_no_digit():
    """A difference of cumulated discounts is off by thousands of ulp at such ranks."""
    n = 100_000
    y_true, y_score = np.zeros(n), -np.arange(n, dtype=float)
    y_true[-1], y_score[-2:] = 1, -n
    expected = (1 / log2(n) + 1 / log2(n + 1)) / 2
    assert dcg_score([y_true], [y_score]) == pytest.approx(expected, rel=4e-16, abs=0)


def test_a_perfect_ranking_is_exactly_1():
    y_true = np.random.default_rng(0).random((200, 11))
    assert (ndcg_samples(y_true, y_true) == 1).all()


def test_documents_of_one_grade_do_not_exceed_1():
    rng = np.random.default_rng(0)
    y_true = np.repeat(rng.random((200, 1)), 11, axis=1)
    found = ndcg_samples(y_true, rng.integers(0, 2, (200, 11)))
    assert found.max() <= 1
    np.testing.assert_allclose(found, 1, rtol=1e-15)


# ranked grades, those that were not retrieved, options, and the printed DCG, ideal DCG and NDCG
EXAMPLES = [
    ((3, 2, 3, 0, 1, 2), (), {}, (6.861, 7.141, 0.961)),
    ((2, 3, 0, 0, 1), (), {"gain": "exponential"}, (7.803, 9.393, 0.8308)),
    ((3, 1, 2, 2, 1), (3, 0), {"k": 5}, (5.879, 7.141, 0.8233)),
    ((0.1, 0.5, 0.7), (0.5, 0.1), {"k": 3}, (0.7655, 1.2655, 0.6049)),
]


@pytest.mark.parametrize(("grades", "others", "options", "printed"), EXAMPLES)
def test_worked_examples_of_the_literature(grades, others, options, printed):
    y_true = [[*grades, *others]]
    y_score = [[*range(len(grades), 0, -1), *[-INF] * len(others)]]
    dcg, ndcg = (function(y_true, y_score, **options) for function in (dcg_score, ndcg_score))
    assert (dcg, dcg / ndcg, ndcg) == pytest.approx(printed, abs=5e-4)


def test_k_retrieved_cuts_each_list_at_its_own_length():
    # predicted A, B, C of A to E, and D, A, C, B, E; the values are printed in the literature
    y_true, y_score = [[0.1, 0.5, 0.7, 0.5, 0.1]] * 2, [[3, 2, 1, -INF, -INF], [4, 2, 3, 5, 1]]
    assert ndcg_samples(y_true, y_score, k="retrieved")[0] == pytest.approx(0.6048882832133625)
    assert ndcg_score(y_true, y_score, k="retrieved") == pytest.approx(0.7356022113638424)


def test_k_retrieved_of_a_list_of_one_document():
    assert ndcg_samples([[1, 1, 0]], [[1, -INF, -INF]], k="retrieved").tolist() == [1]


def test_negative_relevance():
    y_true, y_score = in_order(-1, 2, -3)
    assert dcg_score(y_true, y_score) == pytest.approx(-1 + 2 / log2(3) - 3 / 2, rel=1e-15)
    clipped = ndcg_score(y_true, y_score, gain=lambda y: np.maximum(y, 0))
    assert clipped == pytest.approx(1 / log2(3), rel=1e-15)


@pytest.mark.parametrize("k", [None, 1, "retrieved"])
def test_relevant_but_nothing_retrieved_is_zero_not_undefined(k):
    y_true, y_score = [[1, 0], [1, 0]], [[-INF, -INF], [2, 1]]
    assert ndcg_samples(y_true, y_score, k=k, undefined="omit").tolist() == [0, 1]


UNJUDGED = [("zero", 3 / log2(3) + 1 / 2 + 2 / log2(6)), ("omit", 3 + 1 / log2(3) + 2 / 2)]


@pytest.mark.parametrize(("unjudged", "dcg"), UNJUDGED)
def test_unjudged_documents_have_no_gain_or_no_rank(unjudged, dcg):
    y_true, y_score = in_order(np.nan, 2, 0, np.nan, 1)
    # not the gain of the grade 0
    options = {"unjudged": unjudged, "gain": lambda y: y + 1}
    assert dcg_score(y_true, y_score, **options) == pytest.approx(dcg, rel=1e-15)
    ideal = 3 + 2 / log2(3) + 1 / 2
    assert ndcg_score(y_true, y_score, **options) == pytest.approx(dcg / ideal, rel=1e-15)


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
def test_a_query_without_a_judged_document_has_no_gain(unjudged):
    y_true, options = [[np.nan, np.nan]], {"unjudged": unjudged, "gain": lambda y: y + 1}
    assert dcg_samples(y_true, [[1, 2]], **options).tolist() == [0]
    assert np.isnan(ndcg_samples(y_true, [[1, 2]], **options, undefined="omit"))


@pytest.mark.parametrize(("unjudged", "dcg"), [("omit", 1 / log2(3)), ("zero", 1 / log2(4))])
def test_retrieved_is_counted_after_omission(unjudged, dcg):
    y_true, y_score = [[np.nan, 0, 1, 1]], [[9, 8, 7, -INF]]
    found = ndcg_score(y_true, y_score, k="retrieved", unjudged=unjudged)
    assert found == pytest.approx(dcg / (1 + 1 / log2(3)), rel=1e-15)


LARGEST = np.finfo(np.longdouble).max
WIDE_SCORES = {
    "long doubles": lambda rng: rng.normal(size=500).astype(np.longdouble) / 3,
    "tiny": lambda rng: rng.choice([-0.0, 0.0, 1, -INF, np.finfo(np.longdouble).tiny], 500),
    "beyond float64": lambda rng: rng.choice([1, LARGEST, -LARGEST, -INF], 500),
    "2**53": lambda rng: 2**53 + rng.integers(0, 9, 500),
    "-2**53": lambda rng: -(2**53) - rng.integers(0, 9, 500),
    "nullable": lambda rng: pd.Series(2**62 + rng.integers(0, 9, 500), dtype="Int64"),
    "uint64": lambda rng: rng.integers(2**63, 2**63 + 3000, 500, dtype=np.uint64),
}


@pytest.mark.parametrize("kind", WIDE_SCORES)
def test_wide_scores_keep_their_order_and_ties(kind):
    rng = np.random.default_rng(0)
    y_score = WIDE_SCORES[kind](rng)
    y_true, groups = rng.random(500), np.repeat(np.arange(20), 25)
    values = np.asarray(y_score)
    ranks = np.where(values == -INF, -INF, np.unique(values, return_inverse=True)[1])
    expected = dcg_samples(y_true, ranks, groups=groups)
    np.testing.assert_array_equal(dcg_samples(y_true, y_score, groups=groups), expected)


VALUES = st.sampled_from([-1.5, 0, 0.0, 2, 3, 1e9, INF])


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(VALUES, st.sampled_from("abcd")), min_size=1), st.integers(2, 7))
def test_grade_is_the_share_of_smaller_values(rows, n_grades):
    y, groups = (np.array(column) for column in zip(*rows, strict=True))
    expected = [
        n_grades * int((y[groups == group] < value).sum()) // int((groups == group).sum())
        for value, group in rows
    ]
    found = quantile_grades(y, groups=groups, n_grades=n_grades)
    assert found.tolist() == expected
    assert found.dtype == np.int64


def test_quantile_grades_without_groups():
    assert quantile_grades(np.arange(10)[::-1], n_grades=2).tolist() == [1] * 5 + [0] * 5


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([[1, 2]], {}, r"y must be 1-D.*\(1, 2\)"),
        ([1, np.nan], {}, "y has 1 NaN, at index 1: leave"),
        ([1, 2], {"n_grades": 1}, "n_grades must be an integer from 2"),
        ([1, 2], {"n_grades": 2.5}, "n_grades must be"),
        ([1, 2], {"n_grades": 2**31}, "n_grades must be .* to 2[*][*]31 - 1, got 2147483648"),
        ([1, 2], {"groups": [1]}, "groups must have one id"),
        (pd.Series([1, 2]), {"groups": pd.Series([1, 1], [1, 0])}, "y and groups have the same"),
    ],
)
def test_bad_input_of_quantile_grades(y, options, message):
    with pytest.raises(ValueError, match=message):
        quantile_grades(y, **options)
