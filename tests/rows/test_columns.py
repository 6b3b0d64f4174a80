"""columns.py on every container of X: pandas, Polars, PyArrow, arrays, sparse matrices, lists."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from sklearn_ndcg._rows.columns import (
    column_names,
    column_or_level,
    count_rows,
    features,
    group_columns,
    take_rows,
    values_by,
    without_columns,
)

ROWS = np.array([[1, 7, 0.5], [2, 8, 0.0], [1, 9, 2.5], [3, 7, 0.0]])
NAMES = ["q", "a", "b"]


class ArrayLike:
    """Something that NumPy can read, without a shape or a length."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


TABLES = {
    "pandas": lambda rows, names: pd.DataFrame(rows, columns=names),
    "pandas, index level": lambda rows, names: pd.DataFrame(
        rows, columns=names, index=pd.Index(range(len(rows)), name="row")
    ),
    "polars": lambda rows, names: pl.DataFrame(dict(zip(names, rows.T.copy(), strict=True))),
    "pyarrow": lambda rows, names: pa.table(dict(zip(names, rows.T, strict=True))),
}
MATRICES = {
    "array": np.asarray,
    "list": lambda rows: rows.tolist(),
    "tuple": lambda rows: tuple(map(tuple, rows.tolist())),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
}


def values(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def made(name, rows=ROWS, names=NAMES):
    return TABLES[name](rows, list(names)) if name in TABLES else MATRICES[name](rows)


def column(X, key, **more):
    values, _ = column_or_level(X, key, **more)
    return values


every_table = pytest.mark.parametrize("name", TABLES)
every_matrix = pytest.mark.parametrize("name", MATRICES)
everything = pytest.mark.parametrize("name", [*TABLES, *MATRICES])


def test_a_series_has_names_only_where_its_index_has():
    series = pd.Series([1.0, 2.0], index=pd.Index(["x", "y"], name="q"))
    assert column_names(series) == []
    assert column_names(series.reset_index(drop=True)) is None
    assert column(series, "q").tolist() == ["x", "y"]


@everything
def test_group_by_finds_a_column_by_name_or_number(name):
    X = made(name)
    for key, place in zip(NAMES, range(3), strict=True):
        found = column(X, key if name in TABLES else place)
        np.testing.assert_array_equal(np.asarray(found), ROWS[:, place])
        if name not in TABLES:
            np.testing.assert_array_equal(np.asarray(column(X, place - 3)), ROWS[:, place])
            assert np.ndim(found) == 1


def test_group_by_finds_levels_of_an_index():
    levels = [[5, 6, 5, 6], list("wxyz"), range(4)]
    index = pd.MultiIndex.from_arrays(levels, names=["u", "v", None])
    X = pd.DataFrame(ROWS, columns=NAMES, index=index)
    assert column(X, "u").tolist() == [5, 6, 5, 6]
    found = values_by(X, ["u", "q"])
    assert [list(each) for each in found] == [[5, 6, 5, 6], ROWS[:, 0].tolist()]
    assert group_columns(X, ["u", "q", "v"]) == ["q"]


class Subset:
    """Pairs of features and target, as in torch: one of its columns may be the target."""

    def __len__(self):
        return len(ROWS)

    def __getitem__(self, row):
        return ROWS[row, :2], ROWS[row, 2]  # IndexError at the end


MANY = pd.DataFrame(np.zeros((2, 300), int), columns=[f"query_{i}" for i in range(299)] + ["query"])
TWICE = pd.DataFrame(ROWS, columns=["q", "q", "a"])
WRONG = {
    "no such column": ("pandas", "z", r"names none of the columns \['q', 'a', 'b'\] and index levels \[\]"),
    "no such level": ("pandas, index level", "z", r"index levels \['row'\] of X: it must name one"),
    "name, polars": ("polars", "z", r"names none of the columns \['q', 'a', 'b'\]"),
    "number, pyarrow": ("pyarrow", 0, "group_by=0 names none of the columns"),
    "name, array": ("array", "q", "group_by='q' is a name, but X arrived as ndarray.*set_output"),
    "flag": ("array", True, "group_by=True is a name"),
    "number too high": ("csr", 3, r"group_by=3 is not a column of X, a csr_array of shape \(4, 3\)"),
    "number too low": ("list", -4, r"group_by=-4 is not a column of X, a list of shape \(4, 3\)"),
    "nothing": ("pandas", [], r"group_by must name columns or index levels of X.*got \[\]"),
    "callable in a list": ("pandas", ["q", len], "group_by must name columns or index levels"),
    "ids": ("pandas", np.arange(4), r"got ndarray of shape \(4,\); pass ids themselves as groups"),
    "None": ("array", lambda X: None, "returned None instead of values"),
    "typo": (MANY, "qeury", r"none of the columns of X, 300 with names such as 'query', 'query_"),
    "two columns": (TWICE, "q", "group_by='q' names 2 of the columns"),
    "column and level": (TWICE.rename_axis("a"), "a", r"group_by='a' names 2 of .* index levels \['a'\]"),
    "1-D": (ROWS[:, 0], 0, r"not a column of X, a ndarray of shape \(4,\)"),
    "ragged": ([[1, 2], [3]], 0, r"not a column of X, a list of shape \(2,\)"),
    "pairs": (Subset(), -1, "group_by=-1 is not a column of X, a Subset of shape .*: pass"),
    "list of pairs": ([*Subset()], -1, "not a column of X, a list of shape .*: pass"),
    "tuple of pairs": (tuple(Subset()), -1, "not a column of X, a tuple of shape .*: pass"),
    "range": (range(4), -1, "group_by=-1 is not a column of X, a range of shape .*: pass"),
    "text": ("text", -1, "group_by=-1 is not a column of X, a str of shape .*: pass"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_group_by_that_names_no_ids_is_refused(case):
    X, group_by, words = WRONG[case]
    X = made(X) if isinstance(X, str) and X != "text" else X
    with pytest.raises(ValueError, match=words):
        values_by(X, group_by)


def test_group_by_of_what_only_numpy_can_read():
    np.testing.assert_array_equal(values_by(ArrayLike(ROWS), 0), ROWS[:, 0])


@pytest.mark.parametrize("X", [made("pandas"), ROWS, Subset()], ids=["table", "array", "pairs"])
def test_group_by_that_is_a_callable_is_given_x(X):
    assert values_by(X, lambda given: [given is X]) == [True]


@every_matrix
def test_group_by_finds_levels_of_y_where_x_has_no_names(name):
    levels = pd.MultiIndex.from_arrays([list("stst"), [3, 4, 3, 4]], names=["u", "d"])
    X, y = made(name), pd.Series(0, index=levels)
    for labels in (y, y.to_frame()):
        assert values_by(X, "u", None, labels).tolist() == list("stst")
        found = values_by(X, ["d", 0], None, labels)
        assert [list(each) for each in found] == [[3, 4, 3, 4], ROWS[:, 0].tolist()]
    assert group_columns(X, ["u", 0]) == [0]
    for labels in (None, ROWS[:, 0], y.reset_index(drop=True), y.rename_axis(["u", "u"])):
        with pytest.raises(ValueError, match="group_by='u' is a name, but X arrived as"):
            values_by(X, "u", None, labels)


@every_table
def test_group_by_finds_no_levels_of_y_where_x_has_names(name):
    y = pd.Series(0, index=pd.Index(list("stst"), name="u"))
    with pytest.raises(ValueError, match="group_by='u' names none of the columns"):
        values_by(made(name), "u", None, y)
    np.testing.assert_array_equal(values_by(made(name), "q", None, y.rename_axis("q")), ROWS[:, 0])


def test_order_by_is_one_column_and_may_have_fractions():
    X = made("pandas")
    assert values_by(X, "b", name="order_by").tolist() == ROWS[:, 2].tolist()
    for several in (["q", "a"], ["q"], ROWS[:, 0]):
        with pytest.raises(ValueError, match="order_by must name one column or index level of X"):
            values_by(X, several, name="order_by")


@everything
def test_without_columns(name):
    X = made(name)
    for places in ([1], [0, 2]):
        keys = [NAMES[place] for place in places] if name in TABLES else places
        kept = without_columns(X, keys)
        np.testing.assert_array_equal(values(kept), np.delete(ROWS, places, axis=1))
        if name in TABLES:
            assert type(kept) is type(X)
            assert column_names(kept) == [each for each in NAMES if each not in keys]
    np.testing.assert_array_equal(values(X), ROWS)
    assert without_columns(X, []) is X


@everything
def test_a_feature_has_to_be_left(name):
    keys = NAMES if name in TABLES else [0, 1, 2]
    with pytest.raises(ValueError, match="name all columns.*: no feature is left"):
        without_columns(made(name), keys)


def test_numbers_from_the_right_and_text_in_lists():
    np.testing.assert_array_equal(without_columns(ROWS, [-1]), ROWS[:, :2])
    kept = without_columns([["x", 1.5], ["y", 2.5]], [0])
    assert kept.dtype == np.float64
    np.testing.assert_array_equal(kept, [[1.5], [2.5]])
    assert column([["x", 1.5], ["y", 2.5]], 0).tolist() == ["x", "y"]


@every_table
def test_columns_of_a_table_are_taken_by_name(name):
    for names in (NAMES, ["b", "q", "a"], ["b", "a"], ["a", "b", "c"]):
        rows = ROWS[:, [NAMES.index(each) if each in NAMES else 0 for each in names]]
        found = features(made(name, rows, names), ["q"], NAMES, may_lack=False)
        assert column_names(found) == ["a", "b"]
        np.testing.assert_array_equal(values(found), ROWS[:, 1:])
    X = made(name, ROWS[:, :2], NAMES[:2])
    with pytest.raises(ValueError, match=r"X needs the columns of fit, but lacks 'b'\.$"):
        features(X, ["q"], NAMES, may_lack=False)
    assert column_names(features(X, ["q"], NAMES, may_lack=True)) == ["a"]


def of_array(dtype):
    return lambda values: np.c_[np.array(values, dtype), np.zeros(len(values))].astype(dtype)


def of_pandas(dtype):
    return lambda values: pd.DataFrame({"q": pd.Series(values, dtype=dtype), "a": 0.0})


# a table with a column of floats, and the bits in which these have whole numbers
FLOATS = {
    "float16": (of_array("float16"), 11),
    "float32": (of_array("float32"), 24),
    "pandas float32": (of_pandas("float32"), 24),
    "pandas Float64": (of_pandas("Float64"), 53),
    "pandas arrow": (of_pandas(pd.ArrowDtype(pa.float32())), 24),
    "polars float32": (lambda values: pl.DataFrame({"q": pl.Series(values, dtype=pl.Float32)}), 24),
    "pyarrow": (lambda values: pa.table({"q": pa.array(values, pa.float64())}), 53),
}


def floats(kind, values):
    X = FLOATS[kind][0](values)
    return X, "q" if column_names(X) else 0


@pytest.mark.parametrize("kind", FLOATS)
def test_group_by_refuses_ids_that_an_encoder_or_a_cast_changed(kind):
    top = 2.0 ** FLOATS[kind][1]
    for values, words in (
        ([1, 2.5, 2.25, 3], "with fractions, 2 such ids, the first at index 1"),
        ([1, 2, -top, top], "too large for .* to tell apart, 2 such ids, the first at index 2"),
    ):
        X, key = floats(kind, values)
        for group_by in (key, [key]):
            with pytest.raises(ValueError, match=f"group_by={key!r} finds numbers .*{words}"):
                values_by(X, group_by)
        np.testing.assert_array_equal(values_by(X, partial(column, key=key)), values)
    whole = [1.0, 0, -3, top - 1]
    np.testing.assert_array_equal(values_by(floats(kind, whole)[0], key), whole)


def test_group_by_and_groups_may_have_fractions_that_no_encoder_touches():
    X = pd.DataFrame({"a": [0.0, 1]}, index=pd.Index([0.5, 1.5], name="q"))
    np.testing.assert_array_equal(values_by(X, "q"), [0.5, 1.5])
    assert values_by(X, None, [0.5, 1.5]) == [0.5, 1.5]


@pytest.mark.parametrize("kind", ["pandas Float64", "pandas float32", "polars float32", "pyarrow"])
def test_group_by_takes_missing_ids_for_no_fractions(kind):
    X, key = floats(kind, [1.0, np.nan if "float32" in kind else None, 2.0])
    assert len(values_by(X, key)) == 3


@everything
def test_take_rows(name):
    X, order = made(name), np.array([3, 0, 0, 2])
    taken = take_rows(X, order)
    np.testing.assert_array_equal(values(taken), ROWS[order])
    assert column_names(taken) == column_names(X)
    assert count_rows(taken) == 4


@pytest.mark.parametrize("wrap", [pd.Series, pl.Series, pa.array, np.array, list, ArrayLike])
def test_rows_of_a_column(wrap):
    rows = wrap([10, 20, 30])
    np.testing.assert_array_equal(np.asarray(take_rows(rows, np.array([2, 0]))), [30, 10])
    assert count_rows(rows) == 3


@pytest.mark.parametrize("wrap", [list, tuple])
def test_rows_of_a_sequence_are_a_list_of_the_same_objects(wrap):
    rows = [1, "text", None, (1, 2)]
    assert take_rows(wrap(rows), np.array([3, 1, 2])) == [(1, 2), "text", None]


def test_taken_rows_keep_their_index_and_types():
    X = pd.DataFrame({"q": ["x", "y"], "a": pd.Series([1, None], dtype="Int64")}, index=[8, 9])
    pd.testing.assert_frame_equal(take_rows(X, np.array([1, 0])), X.iloc[[1, 0]])


@pytest.mark.parametrize("make", [lambda rows: np.array(rows, dtype=object), list])
def test_group_by_sees_changed_ids_among_objects(make):
    with pytest.raises(ValueError, match="group_by=0 finds numbers with fractions"):
        values_by(make([[0.5, "a"], [0.5, "b"], [1.25, "c"]]), 0)
    for ids in (["a", "b"], [2**60, 2**60 + 1]):
        assert values_by(make([[each, "text"] for each in ids]), 0).tolist() == ids
