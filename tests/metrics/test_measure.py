"""Gains and discounts equal their formulas, and a new one only needs a row in a table."""

import pickle
from copy import deepcopy
from dataclasses import replace
from math import log

import numpy as np
import pytest
from helpers import in_order

from sklearn_ndcg import dcg_score, jarvelin_kekalainen, ndcg_score
from sklearn_ndcg._metrics.choices import GainTable
from sklearn_ndcg._metrics.measure import DCG, NDCG, QueryFunction


def test_jarvelin_kekalainen_against_the_article():
    gains = in_order(3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
    printed = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
    got = [dcg_score(*gains, k=k, discount=jarvelin_kekalainen()) for k in range(1, 11)]
    assert got == pytest.approx(printed, abs=5e-3)
    ranks = np.arange(1, 30)
    for b in (2, 2.5, 10):
        expected = [1.0 if r < b else 1 / log(r, b) for r in ranks]
        np.testing.assert_allclose(jarvelin_kekalainen(b=b)(ranks), expected, rtol=1e-15)


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


@pytest.mark.parametrize(
    ("n_grades", "shown"),
    [(20, str([float(grade) for grade in range(20)])), (21, "[0.0, 1.0, 2.0]...20.0")],
)
def test_a_grade_without_a_gain_is_told_of_with_up_to_twenty_grades(n_grades, shown):
    with pytest.raises(ValueError, match="no entry for 1 value of y_true, the first 99") as caught:
        dcg_score([[99, 1]], [[1, 2]], gain=list(range(n_grades)))
    assert f"it has the grades {shown}." in str(caught.value)


def test_ideal_is_ordered_by_gain():
    """If gain decreases with the grade, the best order is by gain."""
    y_true, y_score = [[0, 1, 2]], [[3, 2, 1]]
    assert ndcg_score(y_true, y_score, gain=[5, 2, 0]) == 1
    assert ndcg_score(y_true, y_score, gain={0: 5, 1: 2, 2: 0}, k=2) == 1


def test_a_measure_does_not_follow_later_changes_of_its_arguments():
    gain, k = {0: 0, 1: 1}, [1, 3]
    measure = NDCG(k=k, gain=gain)
    gain[1], k[0] = 5, 0
    assert (measure.k, measure.cutoffs) == ((1, 3), (1, 3))
    assert measure.gain == GainTable((0, 1), (0, 1))
    assert NDCG(k=iter([1, 3])).k == (1, 3)


@pytest.mark.parametrize("number", [np.float16(0.5), np.float32(0.5)])
def test_undefined_may_be_a_narrow_float_though_the_limits_are_wider(number):
    measure = QueryFunction(function=share_of, undefined=number)
    assert measure.undefined_rule.value == 0.5
    assert type(measure.undefined_rule.value) is float


def share_of(y_true, y_score, of=1, grades=()):
    return of


MEASURES = {
    "plain": NDCG(),
    "cutoffs": NDCG(k=[1, None, "retrieved"]),
    "array": NDCG(gain=np.array([0, 1, 3.0])),
    "list": DCG(gain=[0, 1, 3], discount=jarvelin_kekalainen(3), ties="worst"),
    "mapping": NDCG(gain={0: 1, 2: 3.5}, undefined=0.5),
    "base": DCG(log_base=10, unjudged="omit"),
    "callable": NDCG(gain=np.sqrt, discount=np.reciprocal),
    "function": QueryFunction(function=share_of, options={"of": 2, "grades": np.array([1, 2])}),
}


@pytest.mark.parametrize("case", MEASURES)
def test_a_measure_is_equal_by_value_hashable_and_picklable(case):
    measure = MEASURES[case]
    for copied in (pickle.loads(pickle.dumps(measure)), deepcopy(measure)):  # noqa: S301
        assert copied == measure
        assert hash(copied) == hash(measure)
        assert repr(copied) == repr(measure)
    others = [other for name, other in MEASURES.items() if name != case]
    assert all(measure != other for other in others)


def test_functions_of_queries_differ_by_their_options():
    def measure(**changes):
        return replace(MEASURES["function"], **changes)

    assert measure() != measure(options={"of": 2, "grades": np.array([1, 3])})
    assert measure() != measure(options={"of": 2})
    assert measure() != measure(greater_is_better=False)
    assert measure() != measure(undefined="omit")


def test_a_table_of_gains_is_equal_whatever_it_was_made_of():
    tables = [[0, 1, 3], (0, 1, 3.0), np.array([0, 1, 3]), {2: 3, 0: 0, 1: 1}]
    assert len({NDCG(gain=table) for table in tables}) == 1
    assert repr(NDCG(gain=tables[0])) == "NDCG(gain=[0, 1, 3])"
    assert repr(NDCG(gain={0: 1, 2.5: 4})) == "NDCG(gain={0: 1, 2.5: 4})"


def test_the_base_of_the_logarithm_is_part_of_the_discount():
    assert DCG(log_base=2) == DCG()
    assert repr(DCG(log_base=10)) == "DCG(discount=log_discount(base=10.0))"
    assert DCG(log_base=10).discounts(3) == pytest.approx(1 / np.log10([2, 3, 4]), rel=1e-15)
    assert replace(DCG(log_base=10), k=3).discount == DCG(log_base=10).discount
