"""Columns, index levels and rows of X, whatever X is; no dataframe library is imported."""

from __future__ import annotations

from collections.abc import Hashable, Sized
from difflib import get_close_matches
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ndcg._checks import Ints
from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.containers import Column, Table

_MANY_COLUMNS = 20  # an error shows all names of fewer
_NO_NAMES_HINT = (
    " Where a tool makes an array of y as well, as RFECV does, and in the early stopping of "
    "HistGradientBoosting, no names are left: with metadata routing on, pass groups, not group_by, "
    "to a tool that routes them."
)


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
    check_names(by, name)
    if isinstance(by, list):
        return [column_or_level(X, key, y, name) for key in by]
    return column_or_level(X, by, y, name)


def check_names(by: object, name: str = "group_by") -> None:
    """Raise unless `group_by` or `order_by` is None, a name, a callable or, the first, a list."""
    if by is None or callable(by):
        return
    is_list = name == "group_by" and isinstance(by, list)
    names: Any = by if is_list else [by]
    if not names or not all(map(_is_name, names)):
        what = "columns or index levels" if name == "group_by" else "one column or index level"
        shape = getattr(by, "shape", None)
        shown = f"{by!r:.60}" if shape is None else f"{type(by).__name__} of shape {shape}"
        hint = ""
        if name == "group_by":
            hint = " Pass ids themselves as groups, or put them in X or its index."
        raise ValueError(
            f"{name} must name {what} of X, or be a callable on X, got {shown}. Numbers of columns "
            f"are not names.{hint}"
        )


def _is_name(key: object) -> bool:
    """Whether a key may be the name of a column or level: not a number, nor a collection."""
    if isinstance(key, str):
        return True
    if isinstance(key, tuple):  # of several levels of columns
        return any(map(_is_name, key))
    is_other = callable(key) or np.iterable(key) or isinstance(key, Number | np.bool_)
    return key is not None and isinstance(key, Hashable) and not is_other


def column_or_level(X: Table, key: Hashable, y: Column = None, name: str = "group_by") -> Column:
    """The values that `key` names.

    They are a column or a level of the index of X. If X has no names they may be a level of the
    index of `y`. `name` is the argument, for errors.
    """
    names, levels = column_names(X), _index_levels(X)
    if names is None:
        if _index_levels(y).count(key) != 1:
            raise ValueError(
                f"{name}={key!r} is a name, but X arrived as {type(X).__name__}, without names. If "
                "a step of a Pipeline has dropped them, put GroupedRanker around the Pipeline or "
                'call its set_output(transform="pandas"). Otherwise put the values in the index of '
                f"y, too, a pandas Series.{_NO_NAMES_HINT * (name == 'group_by')}"
                f"{_hint_of_list(key, name)}"
            )
        return y.index.get_level_values(key)
    n_found = names.count(key) + levels.count(key)
    if n_found != 1:
        raise ValueError(
            f"{name}={key!r} names {n_found or 'none'} of the columns {_shown(names, key)} and "
            f"index levels {levels} of X: it must name one.{_hint_of_list(key, name)}"
        )
    return X[key] if key in names else X.index.get_level_values(key)


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


def group_columns(X: Table, group_by: Any, order_by: Any = None) -> list[Hashable]:
    """The columns of X that `group_by` and `order_by` name, without index levels."""
    keys = dict.fromkeys([*(group_by if isinstance(group_by, list) else [group_by]), order_by])
    if column_names(X) is None:  # names are then levels of y
        return []
    return [key for key in keys if not (key is None or callable(key) or key in _index_levels(X))]


def without_columns(X: Table, keys: list[Hashable]) -> Table:
    """The table X without the columns that `keys` name."""
    if not keys:
        return X
    if len(column_names(X) or ()) == len(keys):
        raise ValueError(f"group_by and order_by name all columns, {keys!r}: no feature is left.")
    return X.drop(columns=keys) if containers.is_pandas(X) else X.drop(keys)


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
    left_out = [names.index(key) for key in keys]
    aligned[..., np.delete(np.arange(n_columns), left_out)] = values
    return aligned


def take_rows(X: Table, rows: Ints) -> Any:
    """The rows of X with these numbers, in their order."""
    if containers.is_pandas(X) or hasattr(X, "to_pylist"):  # a column or table of PyArrow
        return X.take(rows)
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    if hasattr(X, "__array_namespace__") and not isinstance(X, np.ndarray):
        xp = X.__array_namespace__()
        return xp.take(X, xp.asarray(rows), axis=0)
    if containers.is_sparse(X):
        return X.tocsr()[rows]
    return (X if containers.has_shape(X) else np.asarray(X))[rows]


def count_rows(X: Table) -> int:
    """The number of rows of X."""
    if containers.has_shape(X):
        return int(X.shape[0])
    return len(X if isinstance(X, Sized) else np.asarray(X))
