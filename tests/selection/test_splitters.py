"""check_group_splits: whether a splitter keeps queries whole."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

from sklearn_ndcg import check_group_splits


@pytest.mark.parametrize("convert", [np.asarray, list, pd.Series, lambda q: [f"q{i}" for i in q]])
def test_splits_that_keep_queries_whole(data, convert):
    X, y, query = data
    check_group_splits(GroupKFold(4), X, y, convert(query))
    check_group_splits(list(GroupKFold(4).split(X, y, query)), X, groups=convert(query))
    check_group_splits(GroupKFold(4), X.to_numpy().tolist(), groups=convert(query))


def test_splits_that_cut_are_named():
    X, groups = np.zeros((9, 1)), np.array(["a"] * 3 + ["b"] * 3 + ["c"] * 3)
    words = r"fold 0 cuts 1 \('b'\), fold 1 cuts 1 \('b'\)\. Use a splitter.*GroupKFold"
    with pytest.raises(ValueError, match=words):
        check_group_splits(KFold(2), X, groups=groups)
    with pytest.raises(ValueError, match=r"fold 0 cuts 1 \('b'\)"):
        check_group_splits([(range(3), range(3, 5))], X, groups=groups)  # left out, not in train
    with pytest.raises(ValueError, match=r"fold 0 cuts 1 \('a'\)"):
        check_group_splits([(range(2), range(3, 6))], X, groups=groups)  # cut in training alone
    with pytest.raises(ValueError, match=r"fold 0 cuts 1 \('a'\)"):
        check_group_splits([(range(6), range(3))], X, groups=groups)  # whole, on both sides
    mask = np.arange(9) < 3
    check_group_splits([(mask, ~mask)], X, groups=groups)


def test_many_cut_queries_are_counted(data):
    X, y, query = data
    splitter = ShuffleSplit(1, random_state=0, test_size=0.5)
    [(train, test)] = splitter.split(X)
    cut = sorted(set(query[train]) & set(query[test]))
    first, second, third, *_ = cut
    words = rf"fold 0 cuts {len(cut)} \({first}, {second}, {third}, \.\.\.\)"
    with pytest.raises(ValueError, match=words):
        check_group_splits(splitter, X, y, query)


def test_check_group_splits_bad_input(data):
    X, y, query = data
    with pytest.raises(ValueError, match="groups is missing"):
        check_group_splits(KFold(2), X)
    with pytest.raises(ValueError, match="X is missing"):
        check_group_splits(KFold(2), None, groups=query)
    with pytest.raises(ValueError, match="no splits"):
        check_group_splits([], X, groups=query)
    with pytest.raises(ValueError, match="groups must have one id"):
        check_group_splits(KFold(2), X, groups=query[1:])
    with pytest.raises(TypeError, match=r"iterator.*list\(cv\)"):
        check_group_splits(GroupKFold(2).split(X, y, query), X, groups=query)
    with pytest.raises(ValueError, match="cv: fold 0 does not index 105 rows.*999"):
        check_group_splits([([0, 999], [1])], X, groups=query)
    with pytest.raises(ValueError, match="Expected.*cv"):  # scikit-learn's own
        check_group_splits("five", X, groups=query)


def test_a_query_of_one_row_on_both_sides_is_named():
    with pytest.raises(ValueError, match=r"fold 0 cuts 1 \('a'\)"):
        check_group_splits([(range(3), [0])], np.zeros((3, 1)), groups=["a", "b", "b"])
