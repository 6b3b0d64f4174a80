import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_ndcg import quantile_grades


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
