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


# --- labels of matrices

ITEMS, USERS = ["a", "b", "c"], ["u", "v", "w"]
Y = np.array([[3, 0, 1], [0, 2, 1], [1, 0, 2]])
S = np.array([[0.3, 0.1, 0.2], [0.9, 0.5, 0.1], [0.2, 0.4, 0.3]])


def pandas_rows(values, labels):
    return pd.DataFrame(values, index=labels, columns=ITEMS)


def pandas_columns(values, labels):
    return pd.DataFrame(values, index=USERS, columns=labels)


def polars_columns(values, labels):
    return pl.DataFrame(values, schema=list(map(str, labels)))


def arrow_columns(values, labels):
    return polars_columns(values, labels).to_arrow()


LABELLED = [pandas_rows, pandas_columns, polars_columns, arrow_columns]
labelled = pytest.mark.parametrize("make", LABELLED)


@labelled
@pytest.mark.parametrize("others", [["x", "y", "z"], ["y", "x", "q"]], ids=["one", "order"])
def test_matrices_that_share_some_labels_are_refused(make, others):
    y_true, y_score = make(Y, ["x", "y", "p"]), make(S, others)
    with pytest.raises(ValueError, match="only some of the labels .* the first 'p'") as caught:
        ndcg_score(y_true, y_score)
    # both ways out, as printed
    names = {"y_true": y_true, "y_score": y_score}
    way = re.search(r"Pass (.*) if they belong", str(caught.value))[1]
    assert ndcg_score(y_true, follow(way, **names)) == ndcg_score(Y, S)
    said = str(caught.value).partition("labels = ")[2]
    definition, _, way = said.partition(", y_true")
    names["labels"] = follow(definition, **names)
    first, second = f"y_true{way}".rstrip(".").split(" and ")
    kept = slice(None), [0, 1]
    of_y_score = [others.index("x"), others.index("y")]
    if make is pandas_rows:
        expected = ndcg_score(Y[[0, 1]], S[of_y_score])
    else:
        expected = ndcg_score(Y[kept], S[:, of_y_score])
    assert ndcg_score(follow(first, **names), follow(second, **names)) == expected


@labelled
def test_matrices_with_labels_in_another_order_are_refused(make):
    y_true, y_score = make(Y, ["x", "y", "z"]), make(S, ["y", "x", "z"])
    with pytest.raises(ValueError, match="have the same labels .* in another order") as caught:
        ndcg_score(y_true, y_score)
    way = re.search(r"reorder one of them: (.*) does it", str(caught.value))[1]
    reordered = follow(way, y_true=y_true, y_score=y_score)
    expected = S[[1, 0, 2]] if make is pandas_rows else S[:, [1, 0, 2]]
    assert ndcg_score(y_true, reordered) == ndcg_score(Y, expected)


NAMES = {
    "nothing in common": (["rel_1", "rel_2", "rel_3"], ["score_1", "score_2", "score_3"]),
    "default": ([0, 1, 2], [0, 5, 2]),
    "default of scores": ([7, 1, 2], [0, 1, 2]),
    "the same": (["x", "y", "z"], ["x", "y", "z"]),
    "default of Polars": (["x", "y", "z"], ["column_0", "column_1", "column_2"]),
}


@labelled
@pytest.mark.parametrize("labels", NAMES.values(), ids=NAMES)
def test_matrices_with_other_names_are_matched_by_position(make, labels):
    if make in (polars_columns, arrow_columns) and 0 in labels[0] + labels[1]:
        pytest.skip("names are text")
    assert ndcg_score(make(Y, labels[0]), make(S, labels[1])) == ndcg_score(Y, S)


def test_labels_of_rows_that_repeat_say_nothing_of_matrices():
    y_true, y_score = pandas_rows(Y, ["de", "de", "fr"]), pandas_rows(S, ["de", "fr", "fr"])
    assert ndcg_score(y_true, y_score) == ndcg_score(Y, S)


@pytest.mark.parametrize("make", [polars_columns, arrow_columns])
def test_columns_of_several_libraries_are_compared(make):
    y_true, y_score = pandas_columns(Y, ["x", "y", "p"]), make(S, ["x", "y", "q"])
    with pytest.raises(ValueError, match="labels in their columns are the same"):
        ndcg_score(y_true, y_score)
    assert ndcg_score(y_true, pa.table(dict(zip("abc", S.T, strict=True)))) == ndcg_score(Y, S)


def test_rows_of_queries_may_have_labels_that_overlap():
    """Their indexes say nothing, as in `pd.concat` of folds: only matrices are compared."""
    y, s = pd.Series([1, 0, 2], index=[4, 5, 6]), pd.Series([3.0, 2, 1], index=[5, 6, 7])
    assert ndcg_score(y, s, groups=[0, 0, 0]) == ndcg_score([[1, 0, 2]], [[3, 2, 1]])
    frames = y.to_frame("y"), s.to_frame("s")
    assert ndcg_score(*frames, groups=[0, 0, 0]) == ndcg_score([[1, 0, 2]], [[3, 2, 1]])


def test_ids_with_other_labels_are_not_refused_where_labels_repeat():
    """An index of queries, which rows share, identifies no row."""
    query = [1, 1, 2, 2]
    y, s = pd.Series([1, 0, 2, 0], index=query), pd.Series([4.0, 3, 2, 1], index=query)
    groups = pd.Series(query, index=[7, 8, 9, 10])
    assert ndcg_score(y, s, groups=groups) == 1
    y.index = s.index = [3, 4, 5, 6]
    with pytest.raises(ValueError, match="groups has labels in its index that .* lacks"):
        ndcg_score(y, s, groups=groups)
