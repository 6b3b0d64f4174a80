"""Labels of pandas objects, which show that rows do not belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from sklearn_ndcg._checks import describe_mask
from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.containers import Column, Index

_IDS = ("groups", "clusters", "segments", "all_groups")  # arguments that may be lists of columns
_DATA = ("y_true", "y_score", "X", "y")  # arguments whose rows are those of the ids


def refuse_reordered(**arguments: object) -> None:
    """Raise if labels show that the rows of pandas objects do not belong together.

    Rows are matched by position. So objects that have the same labels in different orders would be
    matched wrongly, and so would ids of other rows than those of the data. Other indexes with
    different labels say nothing about the order.
    """
    labelled: dict[str, Column] = {}
    for name, values in arguments.items():
        if name in _IDS and isinstance(values, list | tuple):
            labelled.update(_pandas_columns(name, values))
        elif hasattr(values, "iloc"):
            labelled[name] = values
    if len(labelled) < 2:
        return
    for axis in ("index", "columns"):
        labels_of = {}
        for name, values in labelled.items():
            if axis == "index" or values.ndim == 2:
                labels_of[name] = getattr(values, axis)
        for (first, labels), (name, others) in combinations(labels_of.items(), 2):
            if not labels.equals(others) and _are_reordered(labels, others):
                raise ValueError(
                    f"{first} and {name} have the same labels in their {axis}, but in another "
                    f"order, and are matched by position. Pass {name}.to_numpy() if they belong "
                    "together as they are. If not, reorder one of them: "
                    f"{name}.reindex({axis}={first}.{axis}) does it if labels are unique."
                )
        if axis == "index":
            _refuse_other_labels(labels_of)


def _refuse_other_labels(index_of: dict[str, Index]) -> None:
    """Raise if ids have labels that the common index of the data lacks."""
    data = [name for name in _DATA if name in index_of]
    index = index_of.get(data[0]) if len(data) == 2 else None
    if index is None or not index.equals(index_of[data[1]]):
        return
    for name, labels in index_of.items():
        if not name.startswith("groups") or labels.equals(index):
            continue
        if (len(labels), labels.nlevels) != (len(index), index.nlevels):
            continue
        if not index.is_unique:  # a label that rows share, such as the query, identifies none
            return
        lacking = ~labels.isin(index)
        if lacking.any():
            raise ValueError(
                f"{name} has labels in its index that the index of {' and '.join(data)} lacks: "
                f"{describe_mask(lacking, 'row', 'rows')}. Rows are matched by position. Pass the "
                f"ids of the same rows, or {name}.to_numpy() if they belong together as they are."
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
    """Whether labels that are not equal are the same ones in another order."""
    if not len(labels) or (len(labels), labels.nlevels) != (len(others), others.nlevels):
        return False
    try:
        return labels[0] in others and bool(labels.sort_values().equals(others.sort_values()))
    except TypeError:  # labels without a hash, or of several kinds
        return Counter(map(repr, labels)) == Counter(map(repr, others))
