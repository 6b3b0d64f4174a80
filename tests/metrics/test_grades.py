"""quantile_grades: whole grades of any target."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ndcg import quantile_grades


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([-1.5, 0, 0.0, 2, 3, 1e9]), st.integers(0, 3)), min_size=1),
    st.integers(2, 7),
)
def test_grade_is_the_share_of_smaller_values(rows, n_grades):
    y, groups = (np.array(column) for column in zip(*rows, strict=True))
    expected = [
        n_grades * int((y[groups == g] < value).sum()) // int((groups == g).sum())
        for value, g in zip(y, groups, strict=True)
    ]
    got = quantile_grades(y, groups=groups, n_grades=n_grades)
    assert got.tolist() == expected
    assert got.dtype == np.int64
    labels = np.array(["d", "c", "b", "a"])[groups]
    assert quantile_grades(y, groups=labels, n_grades=n_grades).tolist() == expected


def test_untied_grades_are_equally_frequent():
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(30), 20))
    grades = quantile_grades(rng.normal(size=600), groups=groups)
    for each in range(30):
        assert np.bincount(grades[groups == each]).tolist() == [4] * 5


def test_without_groups_all_rows_are_one():
    y = np.arange(10)[::-1]
    assert quantile_grades(y, n_grades=2).tolist() == [1] * 5 + [0] * 5
    assert quantile_grades([3.5]).tolist() == [0]


def test_infinite_values_are_ordered():
    assert quantile_grades([-np.inf, 0, np.inf], n_grades=3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("groups", [None, [1, 1, 2, 2, 1]])
def test_input_is_unchanged(groups):
    y = np.array([5.0, 3, 4, 4, 1])
    y.flags.writeable = False
    quantile_grades(y, groups=groups)


@pytest.mark.xfail(strict=True, reason="check_array makes floats of integers beyond int64")
def test_quantile_grades_of_huge_integers():
    assert quantile_grades([2**63, 2**63 + 1, -1], n_grades=3).tolist() == [1, 2, 0]


def test_values_and_groups_in_another_order_are_not_graded():
    rows = pd.DataFrame({"y": [0.3, 0.1, 0.2, 0.4], "day": [2, 1, 2, 1]})
    assert quantile_grades(rows["y"], groups=rows["day"], n_grades=2).tolist() == [1, 0, 0, 1]
    with pytest.raises(ValueError, match="y and groups have the same labels in their index, in an"):
        quantile_grades(rows["y"], groups=rows["day"].sort_values(), n_grades=2)


BAD = {
    "matrix": ([[1, 2]], {}, r"y must be 1-D.*\(1, 2\)"),
    "NaN": ([1, np.nan], {}, "y must not be NaN, found 1.*index 1"),
    "text": (["a"], {}, "y must be an array of numbers"),
    "one grade": ([1, 2], {"n_grades": 1}, "n_grades must be an integer from 2"),
    "half a grade": ([1, 2], {"n_grades": 2.5}, "n_grades must be"),
    "short groups": ([1, 2], {"groups": [1]}, "groups must have one id"),
    "missing id": ([1, 2], {"groups": [1, None]}, "groups.*missing id"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    y, options, words = BAD[name]
    with pytest.raises((ValueError, TypeError), match=words):
        quantile_grades(y, **options)
