"""Columns, index levels and rows of X, whatever X is; no dataframe library is imported."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from sklearn_ndcg._checks import Ints, is_integer


def query_ids(X: Any, group_by: Any) -> Any:
    """The ids that `group_by` finds: columns, index levels, or what a callable makes of X."""
    if isinstance(group_by, list):
        if not group_by or any(callable(key) for key in group_by):
            raise ValueError(f"group_by must list columns or index levels, got {group_by!r}.")
        return [query_ids(X, key) for key in group_by]
    if not callable(group_by):
        if not isinstance(group_by, Hashable):
            raise ValueError(
                f"group_by must name a column or be a callable on X, got {group_by!r}; ids "
                "themselves are passed as groups."
            )
        return column(X, group_by)
    ids = group_by(X)
    if ids is None:
        raise ValueError(f"group_by={group_by!r} returned None instead of ids.")
    return ids


def column(X: Any, key: Any) -> Any:
    """The column of X, or level of its pandas index, that `key` names; an int for arrays."""
    names = column_names(X)
    if names is None:
        return _array_column(X, key)
    levels = _index_levels(X)
    if key in levels and key in names:
        raise ValueError(
            f"group_by={key!r} names both a column of X and a level of its index: rename one."
        )
    if key in levels:
        return X.index.get_level_values(key)
    if names.count(key) > 1:
        raise ValueError(f"group_by={key!r} names {names.count(key)} columns of X: rename them.")
    if key in names:
        return X[key]
    known = f"columns {names}" + (f" and index levels {levels}" if levels else "")
    raise ValueError(f"group_by={key!r} names nothing in X, which has the {known}.")


def column_names(X: Any) -> list[Any] | None:
    """Names of the columns; [] where X has only an index, as a Series; None for arrays."""
    if hasattr(X, "column_names"):  # pyarrow, whose `columns` are the data
        return list(X.column_names)
    if hasattr(X, "columns"):
        return list(X.columns)
    return [] if _index_levels(X) else None


def _index_levels(X: Any) -> list[Any]:
    names = getattr(getattr(X, "index", None), "names", None) or []
    return [name for name in names if name is not None]


def _array_column(X: Any, key: Any) -> Any:
    if not is_integer(key):
        raise ValueError(
            f"group_by={key!r} is a name, but X arrived as {type(X).__name__}, which has none. "
            "Without metadata routing RFECV, SequentialFeatureSelector, RidgeCV and "
            "LogisticRegressionCV turn X into an array, as do the steps of a Pipeline and, for "
            "polars and pyarrow, permutation_importance. Ways out: route the ids, with "
            "sklearn.set_config(enable_metadata_routing=True) and groups passed to the tool; in a "
            "Pipeline an index level and steps with set_output(transform='pandas'), or "
            "groupedranker__groups as a fit parameter; or the number of a column, if no column in "
            "front of it is removed."
        )
    table: Any = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
    if len(table.shape) != 2 or not -table.shape[1] <= key < table.shape[1]:
        raise ValueError(f"group_by={key} is not a column of X, which has shape {table.shape}.")
    if hasattr(table, "tocsc"):
        return table.tocsc()[:, [key]].toarray().ravel()
    return table[:, key]


def columns_among(X: Any, group_by: Any) -> list[Any]:
    """The columns of X that `group_by` names, rather than index levels or a callable."""
    keys = group_by if isinstance(group_by, list) else [group_by]
    levels = _index_levels(X)
    return [key for key in keys if key is not None and not callable(key) and key not in levels]


def without_columns(X: Any, keys: list[Any]) -> Any:
    """X without the columns that `keys` name."""
    if not keys:
        return X
    for key in keys:
        column(X, key)  # raises if it is not a column
    if hasattr(X, "shape") and X.shape[1] == len(keys):
        raise ValueError(f"group_by={keys!r} names all columns of X: no feature is left.")
    if column_names(X) is None:
        if not hasattr(X, "shape"):
            return np.array(np.delete(np.asarray(X, dtype=object), keys, axis=1).tolist())
        keep = np.delete(np.arange(X.shape[1]), keys)
        return (X.tocsc() if hasattr(X, "tocsc") else X)[:, keep]
    return X.drop(columns=keys) if hasattr(X, "iloc") else X.drop(keys)


def take_rows(X: Any, rows: Ints) -> Any:
    """The given rows of X, in the given order."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if hasattr(X, "to_pylist"):  # pyarrow
        return X.take(rows)
    if hasattr(X, "shape"):
        return X[rows]
    return [X[row] for row in rows] if isinstance(X, list | tuple) else np.asarray(X)[rows]


def lacks_columns(X: Any, keys: list[Any], names: list[Any], n_columns: int) -> bool:
    """Whether X has all columns but those of `keys`; `names` are [] where the columns have none."""
    found = column_names(X)
    if not keys:
        return False
    if found is not None and names:
        return found == [name for name in names if name not in keys]
    return (count_columns(X) if found is None else len(found)) == n_columns - len(keys)


def with_zeros(values: Any, keys: list[Any], names: list[Any], n_columns: int) -> Any:
    """One value per column, with 0 for those of `keys`, along the last axis."""
    places = [names.index(key) if key in names else key for key in keys]
    aligned = np.zeros((*values.shape[:-1], n_columns), dtype=values.dtype)
    aligned[..., np.delete(np.arange(n_columns), places)] = values
    return aligned


def count_columns(X: Any) -> int:
    """The number of columns of an array or a list of rows; 0 where there are none."""
    shape = X.shape if hasattr(X, "shape") else np.shape(X[:1])
    return int(shape[1]) if len(shape) == 2 else 0


def count_rows(X: Any) -> int:
    """The number of rows of X."""
    if hasattr(X, "shape"):
        return int(X.shape[0])
    return len(X if hasattr(X, "__len__") else np.asarray(X))
