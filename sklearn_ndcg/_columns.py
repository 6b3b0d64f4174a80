"""A column or an index level of X as an array, whatever X is; no dataframe library is imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_ndcg._definitions import is_integer


def column(X: Any, key: Any) -> Any:
    """The column of X, or level of its pandas index, that `key` names; an int for arrays."""
    names = _column_names(X)
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


def _column_names(X: Any) -> list[Any] | None:
    """Names of the columns; none for what has rows and an index only; None for arrays."""
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
            "Without metadata routing RFECV and SequentialFeatureSelector turn X into an array, "
            "as do the steps of a Pipeline and, for polars and pyarrow, permutation_importance. "
            "Ways out: route the ids, with sklearn.set_config(enable_metadata_routing=True) and "
            "groups passed to the tool; or pass a callable on X or the number of a column."
        )
    table: Any = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
    if len(table.shape) != 2 or not -table.shape[1] <= key < table.shape[1]:
        raise ValueError(f"group_by={key} is no column of X, which has shape {table.shape}.")
    if hasattr(table, "tocsc"):
        return table.tocsc()[:, [key]].toarray().ravel()
    return table[:, key]
