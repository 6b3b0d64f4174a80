"""Labels of pandas objects, which show that their rows or columns are in another order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.containers import Column, Index

_IDS = ("groups", "clusters", "segments")  # arguments that may be lists of columns


def refuse_reordered(**arguments: Any) -> None:
    """Raise if pandas objects have the same labels of rows, or of columns, in another order.

    They are matched by position, so these would be matched wrongly. Different labels say nothing
    about the order.
    """
    labelled: dict[str, Any] = {}
    for name, values in arguments.items():
        if name in _IDS and isinstance(values, list | tuple):
            labelled.update(_pandas_columns(name, values))
        elif containers.is_pandas(values):
            labelled[name] = values
    for (first, one), (name, other) in combinations(labelled.items(), 2):
        for axis in ("index", "columns"):  # a Series has no columns
            labels, others = getattr(one, axis, ()), getattr(other, axis, ())
            if len(labels) and _are_reordered(labels, others):
                raise ValueError(
                    f"{first} and {name} have the same labels in their {axis}, but in another "
                    f"order, and are matched by position. Pass {name}.to_numpy() if they belong "
                    f"together as they are. If not, reorder one of them: "
                    f"{name}.reindex({axis}={first}.{axis}) does it if labels are unique."
                )


def _pandas_columns(name: str, values: Sequence[object]) -> dict[str, Column]:
    """Those of a list of columns of ids that have labels, with names such as "groups[1]"."""
    columns: dict[str, Column] = {}
    for number, column in enumerate(values):
        if containers.is_pandas(column):
            columns[f"{name}[{number}]"] = column
        elif not isinstance(column, list) and not containers.shape_of(column):
            break  # one id per row has no shape, or an empty one
    return columns


def _are_reordered(labels: Index, others: Index) -> bool:
    """Whether labels are the same ones in another order."""
    if len(labels) != len(others) or labels.nlevels != others.nlevels or labels.equals(others):
        return False
    try:
        return labels[0] in others and bool(labels.sort_values().equals(others.sort_values()))
    except TypeError:  # labels without a hash, or of several kinds
        return Counter(map(repr, labels)) == Counter(map(repr, others))
