"""columns.py on every container of X: pandas, Polars, PyArrow, arrays, sparse matrices, lists."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import follow
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

NAMES = ["q", "a", "b"]
ROWS = np.array([[1, 7, 0.5], [2, 8, 0.0], [1, 9, 2.5], [3, 7, 0.0]])


TABLES = {
    "pandas": lambda rows, names: pd.DataFrame(rows, columns=names),
    "polars": lambda rows, names: pl.DataFrame(dict(zip(names, rows.T.copy(), strict=True))),
    "pyarrow": lambda rows, names: pa.table(dict(zip(names, rows.T, strict=True))),
}
MATRICES = {
    "array": np.asarray,
    "list": lambda rows: rows.tolist(),
    "csr": sparse.csr_array,
    "coo": sparse.coo_array,
    "dia": sparse.dia_array,
}


def values(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def made(name, rows=ROWS, names=NAMES):
    return TABLES[name](rows, list(names)) if name in TABLES else MATRICES[name](rows)


def column(X, key):
    return column_or_level(X, key)


every_table = pytest.mark.parametrize("name", TABLES)
everything = pytest.mark.parametrize("name", [*TABLES, *MATRICES])


def test_a_series_has_names_only_where_its_index_has():
    series = pd.Series([1.0, 2.0], index=pd.Index(["x", "y"], name="q"))
    assert column_names(series) == []
    assert column_names(series.reset_index(drop=True)) is None
    assert column(series, "q").tolist() == ["x", "y"]


@every_table
def test_group_by_finds_a_column_by_name(name):
    np.testing.assert_array_equal(np.asarray(column(made(name), "a")), ROWS[:, 1])


def test_group_by_finds_levels_of_an_index():
    levels = [[5, 6, 5, 6], list("wxyz"), range(4)]
    index = pd.MultiIndex.from_arrays(levels, names=["u", "v", None])
    X = pd.DataFrame(ROWS, columns=NAMES, index=index)
    assert column(X, "u").tolist() == [5, 6, 5, 6]
    assert list(map(list, values_by(X, ["u", "q"]))) == [[5, 6, 5, 6], [1, 2, 1, 3]]
    assert group_columns(X, ["u", "q", "v"]) == ["q"]
    assert group_columns(X, ["u", "q"], "q") == ["q"]  # each once


TABLE, ARRAY = made("pandas"), made("array")
MANY = pd.DataFrame(np.zeros((2, 300), int), columns=[f"query_{i}" for i in range(299)] + ["query"])
TWICE = pd.DataFrame(ROWS, columns=["q", "q", "a"])
NO_IDS = {
    "no such column": (TABLE, "z", r"names none of the columns \['q', 'a', 'b'\] and .* \[\]"),
    "no such level": (TABLE.rename_axis("row"), "z", r"index levels \['row'\] of X: it must"),
    "number": (TABLE, 0, "group_by must name .* got 0. Numbers of columns are not names"),
    "number, names that are numbers": (pd.DataFrame(ROWS), 0, "Numbers of columns are not names"),
    "number in a list": (TABLE, ["q", 1], r"got \['q', 1\]. Numbers of columns are not names"),
    "name, array": (ARRAY, "q", "group_by='q' is a name, but X arrived as ndarray.*set_output"),
    "nothing": (TABLE, [], r"group_by must name columns or index levels of X.*got \[\]"),
    "callable in a list": (TABLE, ["q", len], "group_by must name columns or index levels"),
    "ids": (TABLE, np.arange(4), r"got ndarray of shape \(4,\)\. .* Pass ids themselves as groups"),
    "ids in a tuple": (TABLE, (1, 1, 2), r"got \(1, 1, 2\).* Pass ids themselves as groups"),
    "ids in a set": (TABLE, frozenset("ab"), "got frozenset.* Pass ids themselves as groups"),
    "ids in a range": (TABLE, range(4), "got range.* Pass ids themselves as groups"),
    "None": (ARRAY, lambda X: None, "returned None instead of values"),
    "typo": (MANY, "qeury", r"of X, 300 with names such as 'query', 'query_"),
    "two columns": (TWICE, "q", "group_by='q' names 2 of the columns"),
    "column and level": (TWICE.rename_axis("a"), "a", r"'a' names 2 of .* index levels \['a'\]"),
}


@pytest.mark.parametrize(("X", "group_by", "message"), NO_IDS.values(), ids=NO_IDS)
def test_group_by_that_names_no_ids_is_refused(X, group_by, message):
    with pytest.raises(ValueError, match=message):
        values_by(X, group_by)


def test_way_out_for_groups_is_not_told_of_an_order():
    with pytest.raises(ValueError, match=r"order_by='when' is a name, .* a pandas Series\.$"):
        values_by(ARRAY, "when", name="order_by")


@pytest.mark.parametrize("key", [("q", "id"), ("q", 0), (0, "q"), ("q", "")], ids=str)
def test_a_name_of_several_levels_has_a_text_among_its_parts(key):
    X = pd.DataFrame(ROWS, columns=pd.MultiIndex.from_tuples([key, ("a", 1), ("b", 1)]))
    assert values_by(X, key).tolist() == ROWS[:, 0].tolist()


@pytest.mark.parametrize("X", [made("pandas"), ROWS], ids=["table", "array"])
def test_group_by_that_is_a_callable_is_given_x(X):
    assert values_by(X, lambda given: [given is X]) == [True]


LEVELS = pd.MultiIndex.from_arrays([list("stst"), [3, 4, 3, 4]], names=["u", "d"])
Y = pd.Series(0, index=LEVELS)


@pytest.mark.parametrize("y", [Y, Y.to_frame()], ids=["Series", "DataFrame"])
def test_group_by_finds_levels_of_y_where_x_has_no_names(y):
    assert values_by(ARRAY, "u", None, y).tolist() == list("stst")
    assert list(map(list, values_by(ARRAY, ["d", "u"], None, y))) == [[3, 4, 3, 4], list("stst")]
    assert group_columns(ARRAY, ["u", "d"]) == []


@pytest.mark.parametrize(
    "y",
    [None, ROWS[:, 0], Y.reset_index(drop=True), Y.rename_axis(["u", "u"])],
    ids=["no y", "array", "other index", "level twice"],
)
def test_group_by_that_y_does_not_have_is_refused(y):
    with pytest.raises(ValueError, match="group_by='u' is a name, but X arrived as"):
        values_by(ROWS, "u", None, y)


@every_table
def test_group_by_finds_no_levels_of_y_where_x_has_names(name):
    y = pd.Series(0, index=pd.Index(list("stst"), name="u"))
    with pytest.raises(ValueError, match="group_by='u' names none of the columns"):
        values_by(made(name), "u", None, y)
    np.testing.assert_array_equal(values_by(made(name), "q", None, y.rename_axis("q")), ROWS[:, 0])


def test_order_by_may_have_fractions():
    assert values_by(TABLE, "b", name="order_by").tolist() == ROWS[:, 2].tolist()


@pytest.mark.parametrize("several", [["q", "a"], ["q"], ROWS[:, 0]], ids=["two", "one", "values"])
def test_order_by_is_one_column(several):
    with pytest.raises(ValueError, match="order_by must name one column or index level of X"):
        values_by(TABLE, several, name="order_by")


@every_table
def test_without_columns(name):
    X = made(name)
    kept = without_columns(X, ["q", "b"])
    np.testing.assert_array_equal(values(kept), ROWS[:, [1]])
    np.testing.assert_array_equal(values(X), ROWS)
    assert without_columns(X, []) is X
    assert type(kept) is type(X)
    assert column_names(kept) == ["a"]


@every_table
def test_a_feature_has_to_be_left(name):
    with pytest.raises(ValueError, match="name all columns.*: no feature is left"):
        without_columns(made(name), NAMES)


@every_table
@pytest.mark.parametrize("names", ["bqa", "abc"])
def test_features_of_a_table_are_taken_by_name(name, names):
    columns = dict(zip(NAMES, ROWS.T, strict=True)) | {"c": ROWS[:, 0]}
    X = made(name, np.transpose([columns[letter] for letter in names]), names)
    found = features(X, ["q"], NAMES, may_lack=False)
    assert column_names(found) == ["a", "b"]
    np.testing.assert_array_equal(values(found), ROWS[:, 1:])


@every_table
def test_features_that_a_table_lacks(name):
    X = made(name, ROWS[:, :2], NAMES[:2])
    with pytest.raises(ValueError, match=r"X needs the columns of fit, but lacks 'b'\.$"):
        features(X, ["q"], NAMES, may_lack=False)
    assert column_names(features(X, ["q"], NAMES, may_lack=True)) == ["a"]


def of_pandas(dtype):
    return lambda ids: pd.DataFrame({"q": pd.Series(ids, dtype=dtype), "a": 0.0})


# a table with a column of floats, and the bits in which these have whole numbers
FLOATS = {
    "pandas float32": (of_pandas("float32"), 24),
    "pandas Float64": (of_pandas("Float64"), 53),
    "pandas arrow": (of_pandas(pd.ArrowDtype(pa.float32())), 24),
    "polars float32": (lambda ids: pl.DataFrame({"q": pl.Series(ids, dtype=pl.Float32)}), 24),
    "pyarrow": (lambda ids: pa.table({"q": pa.array(ids, pa.float64())}), 53),
}
every_float = pytest.mark.parametrize(("make", "bits"), FLOATS.values(), ids=FLOATS)


@every_float
def test_group_by_takes_whole_numbers_below_that(make, bits):
    ids = [1.0, 0, -3, 2.0**bits - 1]
    X = make(ids)
    np.testing.assert_array_equal(values_by(X, "q"), ids)


@everything
def test_take_rows(name):
    X, order = made(name), np.array([3, 0, 0, 2])
    taken = take_rows(X, order)
    np.testing.assert_array_equal(values(taken), ROWS[order])
    assert column_names(taken) == column_names(X)
    assert count_rows(taken) == 4


def test_an_array_of_the_array_api_stays_in_its_library():
    library = pytest.importorskip("array_api_strict")
    X = library.asarray(ROWS)
    taken = take_rows(X, np.array([3, 0]))
    assert isinstance(taken, type(X))
    np.testing.assert_array_equal(np.from_dlpack(taken), ROWS[[3, 0]])


@pytest.mark.parametrize("wrap", [pd.Series, pl.Series, pa.array])
def test_rows_of_a_column(wrap):
    rows = wrap([10, 20, 30])
    np.testing.assert_array_equal(np.asarray(take_rows(rows, np.array([2, 0]))), [30, 10])
    assert count_rows(rows) == 3


@pytest.mark.parametrize("wrap", [list, tuple])
def test_rows_of_a_sequence_are_a_list_of_the_same_objects(wrap):
    rows = [1, "text", None, (1, 2)]
    assert take_rows(wrap(rows), np.array([3, 1, 2])) == [(1, 2), "text", None]


@pytest.mark.parametrize("ids", [["a", "b"], [2**60, 2**60 + 1]], ids=["text", "large"])
def test_group_by_takes_objects_as_they_are(ids):
    assert values_by(pd.DataFrame({"q": np.array(ids, dtype=object)}), "q").tolist() == ids


@every_table
def test_several_columns_in_a_tuple_are_told_to_be_a_list(name):
    X, keys = made(name), ("q", "a")
    with pytest.raises(ValueError, match=r"pass a list, group_by=\[.*\]\.$") as caught:
        values_by(X, keys)
    way = str(caught.value).partition("group_by=[")[2].removesuffix("].")
    found = values_by(X, follow(f"[{way}]"))
    np.testing.assert_array_equal(np.transpose(found), ROWS[:, :2])


def test_a_tuple_may_name_one_column():
    X = pd.DataFrame(ROWS, columns=pd.MultiIndex.from_tuples([("a", "q"), ("a", "x"), ("b", "x")]))
    np.testing.assert_array_equal(values_by(X, ("a", "q")), ROWS[:, 0])
