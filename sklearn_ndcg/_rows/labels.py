"""Labels of pandas objects, which show that rows do not belong together."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, takewhile
from typing import Any

import numpy as np

from sklearn_ndcg._checks import describe_mask

_IDS = ("groups", "clusters", "segments", "all_groups")  # arguments that may be lists of columns
_DATA = ("y_true", "y_score", "X", "y")  # arguments whose rows are those of the ids


def refuse_reordered(**arguments: Any) -> None:
    """Raise if labels show that the rows of pandas objects do not belong together.

    Rows are matched by position. So objects that have the same labels in different orders would be
    matched wrongly, and so would ids of other rows than those of the data. Other indexes with
    different labels say nothing about the order.
    """
    if set(map(type, arguments.values())) <= {np.ndarray, type(None)}:
        return
    columns = [column for argument in arguments.items() for column in _columns(*argument)]
    for axis in ("index", "columns"):
        labels_of = {
            name: getattr(values, axis)
            for name, values in columns
            if hasattr(values, "iloc") and hasattr(getattr(values, axis, None), "equals")
        }
        for first, name in combinations(labels_of, 2):
            if _are_reordered(labels_of[first], labels_of[name]):
                raise ValueError(
                    f"{first} and {name} have the same labels in their {axis}, but in another "
                    f"order, and are matched by position. Pass {name}.to_numpy() if they belong "
                    "together as they are. If not, reorder one of them: "
                    f"{name}.reindex({axis}={first}.{axis}) does it if labels are unique."
                )
        if axis == "index":
            _refuse_other_labels(labels_of)


def _refuse_other_labels(index_of: dict[str, Any]) -> None:
    """Raise if ids have labels that the common index of the data lacks."""
    data = [name for name in _DATA if name in index_of]
    index, *others = [index_of[name] for name in data] or [None]
    # a label that several rows share, such as the query, does not identify a row
    if len(others) != 1 or not index.equals(others[0]) or not index.is_unique:
        return
    for name, labels in index_of.items():
        if not name.startswith("groups") or _shape(labels) != _shape(index):
            continue
        lacking = ~labels.isin(index)
        if lacking.any():
            raise ValueError(
                f"{name} has labels in its index that the index of {' and '.join(data)} lacks: "
                f"{describe_mask(lacking, 'row', 'rows')}. Rows are matched by position. Pass the "
                f"ids of the same rows, or {name}.to_numpy() if they belong together as they are."
            )


def _shape(labels: Any) -> tuple[int, int]:
    return len(labels), labels.nlevels


def _columns(name: str, values: Any) -> list[tuple[str, Any]]:
    """An argument and its name; a list of columns of ids is split into columns."""
    if name not in _IDS or not isinstance(values, list | tuple):
        return [(name, values)]
    # one id per row has no shape, or an empty one
    columns = takewhile(lambda ids: isinstance(ids, list) or getattr(ids, "shape", ()), values)
    return [(f"{name}[{number}]", column) for number, column in enumerate(columns)]


def _are_reordered(labels: Any, others: Any) -> bool:
    if not len(labels) or _shape(labels) != _shape(others) or labels.equals(others):
        return False
    try:
        return labels[0] in others and bool(labels.sort_values().equals(others.sort_values()))
    except TypeError:  # labels without a hash, or of several kinds
        return Counter(map(repr, labels)) == Counter(map(repr, others))
