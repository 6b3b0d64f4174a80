"""Labels of rows and columns that show that rows do not belong together."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import follow

from sklearn_ndcg import ndcg_score
from sklearn_ndcg._rows.labels import refuse_reordered

SAME_LABELS = {
    "numbers": ([3, 1, 2], [1, 2, 3]),
    "repeated": ([1, 1, 2], [1, 2, 1]),
    "mixed": ([1, "a"], ["a", 1]),
    "without a hash": ([{1}, {2}], [{2}, {1}]),
}
OTHER_LABELS = {
    "the same order": ([3, 1, 2], [3, 1, 2]),
    "other numbers": ([0, 1, 2], [5, 6, 7]),
    "numbers of one range": ([0, 1, 1, 3], [0, 2, 1, 3]),
    "other counts": (["a", "a", "b"], ["a", "b", "b"]),
    "without a hash": ([{1}, {2}], [{2}, {3}]),
    "another length": ([1, 2], [2, 1, 3]),
    "none": ([], pd.DatetimeIndex([])),
    "two levels, and intervals": (
        pd.MultiIndex.from_product([[1, 2], [1, 2]]),
        pd.CategoricalIndex(pd.interval_range(0, 4)),
    ),
}


@pytest.mark.parametrize("axis", ["index", "columns"])
@pytest.mark.parametrize("labels", SAME_LABELS.values(), ids=SAME_LABELS)
def test_the_same_labels_in_another_order_are_refused(labels, axis):
    ones = np.ones((len(labels[0]), len(labels[0])))
    first, other = (pd.DataFrame(ones, **{axis: names}) for names in labels)
    message = f"a and b have the same labels in their {axis}, but in another order"
    with pytest.raises(ValueError, match=message):
        refuse_reordered(a=first, none=None, array=np.ones(3), b=other)
    refuse_reordered(a=first, b=other.to_numpy())


@pytest.mark.parametrize(("labels", "others"), OTHER_LABELS.values(), ids=OTHER_LABELS)
def test_other_labels_say_nothing_about_the_order(labels, others):
    first, other = (pd.Series(1.0, index=index) for index in (labels, others))
    refuse_reordered(a=first, b=other)


def test_a_multiindex_beside_a_plain_index_says_nothing_about_the_order():
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "date": [1, 2, 1, 2], "y": [1, 0, 2, 1]})
    by_both = frame.set_index(["user", "date"], drop=False)
    refuse_reordered(X=by_both, y=frame["y"])
    with pytest.raises(ValueError, match="X and y have the same labels in their index"):
        refuse_reordered(X=by_both, y=by_both["y"].iloc[::-1])


@pytest.mark.parametrize("name", ["groups", "clusters", "segments"])
def test_each_column_of_compound_ids_has_labels(name):
    y = pd.Series(1.0, index=[1, 2, 3])
    with pytest.raises(ValueError, match=rf"y and {name}\[1\] have the same labels"):
        refuse_reordered(y=y, **{name: [y, y[::-1]]})


# --- labels of matrices

ITEMS, USERS = ["a", "b", "c"], ["u", "v", "w"]
Y = np.array([[3, 0, 1], [0, 2, 1], [1, 0, 2]])
S = np.array([[0.3, 0.1, 0.2], [0.9, 0.5, 0.1], [0.2, 0.4, 0.3]])


def pandas_rows(values, labels):
    return pd.DataFrame(values, index=labels, columns=ITEMS)


def pandas_columns(values, labels):
    return pd.DataFrame(values, index=USERS, columns=labels)


labelled = pytest.mark.parametrize("make", [pandas_rows, pandas_columns])


@labelled
def test_matrices_with_labels_in_another_order_are_refused(make):
    y_true, y_score = make(Y, ["x", "y", "z"]), make(S, ["y", "x", "z"])
    with pytest.raises(ValueError, match="have the same labels .* in another order") as caught:
        ndcg_score(y_true, y_score)
    # both ways out, as printed
    way = re.search(r"Pass (.*) if they belong", str(caught.value))[1]
    assert ndcg_score(y_true, follow(way, y_score=y_score)) == ndcg_score(Y, S)
    way = re.search(r"reorder one of them: (.*) does it", str(caught.value))[1]
    reordered = follow(way, y_true=y_true, y_score=y_score)
    expected = S[[1, 0, 2]] if make is pandas_rows else S[:, [1, 0, 2]]
    assert ndcg_score(y_true, reordered) == ndcg_score(Y, expected)


NAMES = {
    "nothing in common": (["rel_1", "rel_2", "rel_3"], ["score_1", "score_2", "score_3"]),
    "some in common": (["x", "y", "p"], ["y", "x", "q"]),
    "default": ([0, 1, 2], [0, 5, 2]),
    "default of scores": ([7, 1, 2], [0, 1, 2]),
    "the same": (["x", "y", "z"], ["x", "y", "z"]),
}


@labelled
@pytest.mark.parametrize("labels", NAMES.values(), ids=NAMES)
def test_matrices_with_other_names_are_matched_by_position(make, labels):
    assert ndcg_score(make(Y, labels[0]), make(S, labels[1])) == ndcg_score(Y, S)


def test_labels_of_rows_that_repeat_say_nothing_of_matrices():
    y_true, y_score = pandas_rows(Y, ["de", "de", "fr"]), pandas_rows(S, ["de", "fr", "fr"])
    assert ndcg_score(y_true, y_score) == ndcg_score(Y, S)


@pytest.mark.parametrize("make", [pl.DataFrame, lambda table: pa.table(dict(table))])
def test_names_of_columns_of_other_libraries_are_not_compared(make):
    y_true, y_score = (make(dict(zip("xyz", values.T, strict=True))) for values in (Y, S))
    assert ndcg_score(y_true, y_score.select(["x", "y", "z"])) == ndcg_score(Y, S)
    assert ndcg_score(pandas_columns(Y, ["y", "x", "z"]), y_score) == ndcg_score(Y, S)


def test_rows_of_queries_may_have_labels_that_overlap():
    """Their indexes say nothing about the order, as in `pd.concat` of folds."""
    y, s = pd.Series([1, 0, 2], index=[4, 5, 6]), pd.Series([3.0, 2, 1], index=[5, 6, 7])
    groups = pd.Series([0, 0, 0], index=[7, 8, 9])
    assert ndcg_score(y, s, groups=groups) == ndcg_score([[1, 0, 2]], [[3, 2, 1]])
    frames = y.to_frame("y"), s.to_frame("s")
    assert ndcg_score(*frames, groups=groups) == ndcg_score([[1, 0, 2]], [[3, 2, 1]])
