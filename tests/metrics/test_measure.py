"""Measures are data: gains and discounts equal their formulas, and equal options equal measures."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from helpers import in_order

from sklearn_ndcg import dcg_score, ndcg_score
from sklearn_ndcg._metrics.choices import GainTable
from sklearn_ndcg._metrics.measure import DCG, NDCG
from sklearn_ndcg._metrics.query_function import QueryFunction

mpmath = pytest.importorskip("mpmath")


def test_a_table_has_a_gain_for_each_grade():
    expected = 1 / np.log2(3) + 10 / np.log2(4) + 10 / np.log2(5)
    found = dcg_score(*in_order(0, 1, 2, 2), gain=[0, 1, 10, 2**70])
    assert found == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("grade", [1e-300, 1e-9, 0.75, 1.25, 900.5])
def test_exponential_gain_keeps_its_digits(grade):
    with mpmath.workdps(350):  # 2^y is near 1 where y is near 0
        expected = float(mpmath.mpf(2) ** grade - 1)
    found = dcg_score([[grade, 0]], [[2, 1]], gain="exponential")
    assert found == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize("grade", [62, 1000])
def test_exponential_gain_goes_beyond_integers(grade):
    assert dcg_score([[grade, 0]], [[2, 1]], gain="exponential") == float(2**grade - 1)


@pytest.mark.parametrize(("gain", "k"), [([5, 2, 0], None), ([5, 2, 0], 2)])
def test_the_ideal_is_ordered_by_gain(gain, k):
    """If gain decreases with the grade, the best order is by gain."""
    assert ndcg_score([[0, 1, 2]], [[3, 2, 1]], gain=gain, k=k) == 1


def test_a_measure_does_not_follow_later_changes_of_its_arguments():
    gain = [0, 1]
    measure = NDCG(gain=gain)
    gain[1] = 5
    assert measure.gain == GainTable((0, 1))


@pytest.mark.parametrize("k", [[], [1], (1, 3), np.array([1, 3])])
def test_there_is_one_cutoff(k):
    with pytest.raises(ValueError, match="k must be an integer >= 1.*For several cutoffs"):
        NDCG(k=k)


def test_undefined_may_be_a_narrow_float_though_the_limits_are_wider():
    measure = QueryFunction(function=share_of, undefined=np.float16(0.5))
    assert measure.undefined_rule.value == 0.5


def share_of(y_true, y_score, of=1, grades=()):
    return of


MEASURES = {
    "plain": NDCG(),
    "cutoff": NDCG(k="retrieved"),
    "array": NDCG(gain=np.array([0, 1, 3.0])),
    "list": DCG(gain=[0, 1, 3], discount=np.reciprocal, ties="worst"),
    "undefined": NDCG(gain=[1, 3.5], undefined=0.5),
    "base": DCG(log_base=10, unjudged="omit"),
    "callable": NDCG(gain=np.sqrt, discount=np.reciprocal),
    "function": QueryFunction(function=share_of, options={"of": 2, "grades": np.array([1, 2])}),
}


@pytest.mark.parametrize("case", MEASURES)
def test_a_measure_is_equal_by_value_hashable_and_picklable(case):
    measure = MEASURES[case]
    copied = pickle.loads(pickle.dumps(measure))  # noqa: S301
    assert [name for name, other in MEASURES.items() if other == copied] == [case]
    assert hash(copied) == hash(measure)
    assert repr(copied) == repr(measure)


CHANGES = [{"options": {"of": 2}}, {"options": {"of": 2, "grades": np.array([1, 3])}}]
CHANGES += [{"greater_is_better": False}, {"undefined": "omit"}]


@pytest.mark.parametrize("change", CHANGES)
def test_functions_of_queries_differ_by_their_options(change):
    assert replace(MEASURES["function"], **change) != MEASURES["function"]


def test_a_table_of_gains_is_equal_whatever_it_was_made_of():
    tables = [[0, 1, 2], (0, 1, 2.0), np.array([0, 1, 2]), range(3)]
    assert len({NDCG(gain=table) for table in tables}) == 1


@pytest.mark.parametrize(
    ("measure", "shown"),
    [
        (NDCG(gain=(0, 1, 3.0)), "NDCG(gain=[0, 1, 3])"),
        (DCG(log_base=2), "DCG()"),
        (DCG(log_base=10, k=3), "DCG(k=3, discount=log_discount(base=10.0))"),
    ],
)
def test_a_measure_shows_what_differs_from_the_defaults(measure, shown):
    assert repr(measure) == shown


def test_the_base_of_the_logarithm_is_part_of_the_discount():
    measure = DCG(log_base=10)
    assert measure.discounts(3) == pytest.approx(1 / np.log10([2, 3, 4]), rel=1e-15)
    assert replace(measure, k=3).discount == measure.discount


@pytest.mark.parametrize(
    ("measure", "name", "label"),
    [
        (NDCG(k=10), None, "NDCG@10"),
        (NDCG(), None, "NDCG"),
        (NDCG(k="retrieved"), None, "NDCG@retrieved"),
        (NDCG(k=5, gain="exponential"), None, "NDCG@5 (exp. gain)"),
        (NDCG(k=5, gain=[0, 1, 3]), None, "NDCG@5"),
        (DCG(k=5), None, "DCG@5"),
        (NDCG(k=5), "quality", "quality@5"),
        (NDCG(k=5), "NDCG@5", "NDCG@5"),
        (QueryFunction(function=max), None, "max"),
        (QueryFunction(function=max), "MRR", "MRR"),
    ],
)
def test_a_label_says_what_a_number_is(measure, name, label):
    assert measure.label(name) == label
