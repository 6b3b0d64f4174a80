"""Columns, index levels and rows of X, whatever X is; no dataframe library is imported."""

from __future__ import annotations

from collections.abc import Hashable, Sized
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import Ints, describe_mask, is_integer
from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.containers import Column, Table
from sklearn_ndcg._rows.ids import float_kind, is_too_large, readable

_MANY_COLUMNS = 20  # an error shows all names of fewer


def values_by(
    X: Table, by: object, default: object = None, y: Column = None, name: str = "group_by"
) -> Any:
    """The values of rows that `group_by` or `order_by` finds, or `default` if that is None.

    These are a column, an index level, or what a callable returns for X; `group_by` may be a list,
    of several columns. If a tool has turned X into an array, levels are found in the index of `y`.
    """
    if by is None:
        return default
    if callable(by):
        values = by(X)
        if values is None:
            raise ValueError(f"{name}={by!r} returned None instead of values.")
        return values
    finds_ids = name == "group_by"
    keys = by if finds_ids and isinstance(by, list) else [by]
    columns = []
    for key in keys or [[]]:
        if callable(key) or not isinstance(key, Hashable):
            what = "columns or index levels" if finds_ids else "one column or index level"
            shape = getattr(by, "shape", None)
            shown = f"{by!r:.60}" if shape is None else f"{type(by).__name__} of shape {shape}"
            hint = "" if shape is None else "; pass ids themselves as groups, or put them in X"
            raise ValueError(f"{name} must name {what} of X, or be a callable, got {shown}{hint}.")
        values, is_level = column_or_level(X, key, y, name)
        if finds_ids and not is_level:  # no encoder or cast reaches index levels
            _refuse_changed_ids(values, key)
        columns.append(values)
    return columns if isinstance(by, list) else columns[0]


def _refuse_changed_ids(ids: Column, key: object) -> None:
    """Raise if the numbers in a column show that an encoder or a cast has changed ids."""
    if containers.dtype_of(ids) == "O" and len(ids) and isinstance(np.asarray(ids)[0], float):
        with suppress(TypeError, ValueError):
            ids = np.asarray(ids, dtype=np.float64)
    kind = float_kind(ids)
    if kind is None:
        return
    numbers = np.asarray(readable(ids))
    for changed, what in (
        (np.floor(numbers) < numbers, "with fractions"),
        (is_too_large(numbers, kind), f"too large for {kind} to tell apart"),
    ):
        if changed.any():
            which = describe_mask(changed, "such id", "such ids")
            raise ValueError(
                f"group_by={key!r} finds numbers {what}, {which}: an encoder, a scaler or a cast "
                "has changed the ids, which mixes queries up. In a Pipeline move the ids to an "
                "index level, or put GroupedRanker around the Pipeline. If these are the ids, pass "
                "a callable that returns them as integers or text."
            )


def column_or_level(
    X: Table, key: Hashable, y: Column = None, name: str = "group_by"
) -> tuple[Column, bool]:
    """The values that `key` names, and whether they are a level of a pandas index.

    They are a column of X, by its number in an array, or a level of the index of X. If X has no
    names they may be a level of the index of `y`. `name` is the argument, for errors.
    """
    names, levels = column_names(X), _index_levels(X)
    if names is None:
        if is_integer(key) or _index_levels(y).count(key) != 1:
            return _array_column(X, key, name), False
        return y.index.get_level_values(key), True
    n_found = names.count(key) + levels.count(key)
    if n_found != 1:
        raise ValueError(
            f"{name}={key!r} names {n_found or 'none'} of the columns {_shown(names, key)} and "
            f"index levels {levels} of X: it must name one.{_hint_of_list(key, name)}"
        )
    return (X[key], False) if key in names else (X.index.get_level_values(key), True)


def level_of(y: Column, name: str, argument: str) -> Any:
    """The values of a level in the index of `y`, which is `argument`."""
    levels = _index_levels(y)
    if levels.count(name) != 1:
        way = f"table.index.get_level_values({name!r})"
        has = "an index without such a name" if containers.is_pandas(y) else "no index"
        if levels:
            has, way = f"the index levels {levels}", "one of these levels"
        raise ValueError(
            f"groups must be 1-D, one id per row, or a level of the index of {argument}, got the "
            f"name {name!r}: {argument} has {has}. Pass the column itself, not its name, or {way}."
        )
    return y.index.get_level_values(name)


def _hint_of_list(key: Hashable, name: str) -> str:
    """The way out for several columns in a tuple, which may be the name of one."""
    if not isinstance(key, tuple) or name != "group_by":
        return ""
    return f" If it is several columns, pass a list, {name}={list(key)!r}."


def _shown(names: list[Hashable], key: Hashable) -> str:
    """The names of columns; of many, how many there are and the nearest to `key`."""
    if len(names) <= _MANY_COLUMNS:
        return str(names)
    nearest = get_close_matches(str(key), map(str, names), n=5, cutoff=0)
    return f"of X, {len(names)} with names such as {', '.join(map(repr, nearest))},"


def column_names(X: Table) -> list[Hashable] | None:
    """Names of the columns; [] if X has only an index, like a Series; None for arrays."""
    if containers.is_arrow_table(X):  # whose `columns` are the data
        return list(X.column_names)
    if hasattr(X, "columns"):
        return list(X.columns)
    return [] if _index_levels(X) else None


def date_columns(X: Table) -> list[Hashable]:
    """Names of the columns of a table that hold dates or times."""
    names = column_names(X)
    if not names:
        return []
    types = X.schema.types if containers.is_arrow_table(X) else getattr(X, "dtypes", ())
    pairs = zip(names, types, strict=False)
    return [name for name, kind in pairs if str(kind).lower().startswith(("date", "timestamp"))]


def _index_levels(X: Table) -> list[Hashable]:
    names = getattr(getattr(X, "index", None), "names", None) or ()
    return [name for name in names if name is not None]


def _array_column(X: Table, key: Hashable, name: str) -> Column:
    if not is_integer(key):
        raise ValueError(
            f"{name}={key!r} is a name, but X arrived as {type(X).__name__}, without names. If a "
            "step of a Pipeline has dropped them, put GroupedRanker around the Pipeline or call "
            'its set_output(transform="pandas"). If a tool has, put the values in the index of y, '
            "too, a pandas Series; where it makes an array of y as well, as RFECV does, route ids "
            "as groups. If X had none, pass the number of the column."
            f"{_hint_of_list(key, name)}"
        )
    matrix = _matrix(X)
    is_table = len(matrix.shape) == 2
    # a list of (features, target) pairs is not a table: its last column would be the target
    if is_table and matrix.dtype == object:
        is_table = not any(map(np.ndim, matrix[:1].ravel()))
    if not is_table or not -matrix.shape[1] <= key < matrix.shape[1]:
        raise ValueError(
            f"{name}={key} is not a column of X, a {type(X).__name__} of shape {matrix.shape}: "
            "pass the number of a column of an array, or a callable that finds the values in X."
        )
    if containers.is_sparse(matrix):  # [key], as SciPy before 1.13 cannot slice one column
        return matrix[:, [key]].toarray().ravel()
    return matrix[:, key]


def _matrix(X: Table) -> Table:
    """X as an array or sparse matrix that can be indexed; a list keeps its values as they are."""
    if containers.has_shape(X):
        return X.tocsr() if containers.is_sparse(X) else X
    return np.asarray(X, dtype=None if containers.converts_to_array(X) else object)


def group_columns(X: Table, group_by: Any, order_by: Any = None) -> list[Hashable]:
    """The columns of X that `group_by` and `order_by` name, without index levels."""
    keys = dict.fromkeys([*(group_by if isinstance(group_by, list) else [group_by]), order_by])
    if column_names(X) is None:  # names are then levels of y
        return [key for key in keys if is_integer(key)]
    return [key for key in keys if not (key is None or callable(key) or key in _index_levels(X))]


def without_columns(X: Table, keys: list[Hashable]) -> Table:
    """X without the columns that `keys` name; of an array a view, if the others are neighbours."""
    if not keys:
        return X
    table = _matrix(X)
    if table.shape[1] == len(keys):
        raise ValueError(f"group_by and order_by name all columns, {keys!r}: no feature is left.")
    if column_names(X) is not None:
        return X.drop(columns=keys) if containers.is_pandas(X) else X.drop(keys)
    kept = _other_positions(keys, [], table.shape[1])
    if not isinstance(table, np.ndarray):
        return _select(table, kept, axis=1)
    are_neighbours = kept[-1] - kept[0] == len(kept) - 1
    array = table[:, kept[0] : kept[-1] + 1] if are_neighbours else table.take(kept, axis=1)
    return array if containers.has_shape(X) else np.array(array.tolist())


def features(X: Table, keys: list[Hashable], names: list[Hashable], may_lack: bool) -> Table:
    """The columns of a table that are among `names`, in their order, without those in `keys`."""
    present, names = column_names(X) or [], [name for name in names if name not in keys]
    missing = [name for name in names if name not in present]
    if missing and not may_lack:
        raise ValueError(f"X needs the columns of fit, but lacks {', '.join(map(repr, missing))}.")
    names = [name for name in names if name in present]
    return X[names] if containers.is_pandas(X) else X.select(names)


def insert_zeros(
    values: NDArray[Any], keys: list[Hashable], names: list[Hashable], n_columns: int
) -> NDArray[Any]:
    """One value per column, with 0 for the columns in `keys`, along the last axis."""
    aligned = np.zeros((*values.shape[:-1], n_columns), dtype=values.dtype)
    aligned[..., _other_positions(keys, names, n_columns)] = values
    return aligned


def _other_positions(keys: list[Any], names: list[Hashable], n_columns: int) -> Ints:
    """The positions of all columns but those of `keys`, which are names or positions."""
    left_out = [names.index(key) if key in names else key for key in keys]
    return np.delete(np.arange(n_columns), left_out)


def take_rows(X: Table, rows: Ints) -> Any:
    """The rows of X with these numbers, in their order."""
    if containers.is_pandas(X) or hasattr(X, "to_pylist"):  # a column or table of PyArrow
        return X.take(rows)
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    return _select(_matrix(X), rows, axis=0)


def _select(matrix: Table, positions: Ints, axis: int) -> Table:
    """The rows (axis 0) or columns (axis 1) at some positions."""
    if hasattr(matrix, "__array_namespace__") and not isinstance(matrix, np.ndarray):
        xp = matrix.__array_namespace__()
        return xp.take(matrix, xp.asarray(positions), axis=axis)
    return matrix[positions] if axis == 0 else matrix[:, positions]


def count_rows(X: Table) -> int:
    """The number of rows of X."""
    if containers.has_shape(X):
        return int(X.shape[0])
    return len(X if isinstance(X, Sized) else np.asarray(X))
