"""Labels of rows and columns, which show that these do not belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import Any, NoReturn

import numpy as np

from sklearn_ndcg._checks import describe_mask
from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.columns import column_names
from sklearn_ndcg._rows.containers import Column, Index, Table

_IDS = ("groups", "clusters", "segments")  # arguments that may be lists of columns
_MATRICES = ("y_true", "y_score")
_DATA = ("y_true", "y_score", "X", "y")  # arguments whose rows are those of the ids


def refuse_reordered(**arguments: Any) -> None:
    """Raise if labels show that rows, or the columns of tables, do not belong together.

    They are matched by position. So objects that have the same labels in different orders would be
    matched wrongly, and so would ids of other rows than those of the data, and matrices of
    relevance and scores that have only some labels in common. Other indexes with different labels
    say nothing about the order.
    """
    labelled: dict[str, Column] = {}
    tables: dict[str, Table] = {}
    for name, values in arguments.items():
        if values is None or type(values) is np.ndarray:
            continue
        if name in _IDS and isinstance(values, list | tuple):
            labelled.update(_pandas_columns(name, values))
        elif containers.is_pandas(values):
            labelled[name] = values
            if values.ndim == 2:
                tables[name] = values
        elif column_names(values) is not None:
            tables[name] = values
    if len(labelled) > 1:
        index_of = {name: values.index for name, values in labelled.items()}
        for (first, labels), (name, others) in combinations(index_of.items(), 2):
            if not labels.equals(others) and _are_reordered(labels, others):
                way, values = f"{name}.reindex(index={first}.index)", _without_labels(name, None)
                _refuse_order(first, name, "index", way, values)
        _refuse_other_labels(index_of)
    if len(tables) > 1:
        _refuse_other_columns(tables)
        if all(name in tables and tables[name].shape[1] > 1 for name in _MATRICES):
            _refuse_overlaps(*(tables[name] for name in _MATRICES))


def _refuse_other_columns(tables: dict[str, Table]) -> None:
    """Raise if tables have the same columns in another order."""
    for (first, table), (name, other) in combinations(tables.items(), 2):
        names, others = column_names(table) or [], column_names(other) or []
        if names != others and Counter(map(repr, names)) == Counter(map(repr, others)):
            way = "reindex(columns=" if containers.is_pandas(other) else "select("
            way = f"{name}.{way}{first}.{_attribute_of_names(table)})"
            _refuse_order(first, name, "columns", way, _without_labels(name, other))


def _attribute_of_names(table: Table) -> str:
    """The attribute that has the names of a table's columns."""
    return "column_names" if containers.is_arrow_table(table) else "columns"


def _without_labels(name: str, values: Table | Column) -> str:
    """What to pass for the values alone."""
    return f"np.asarray({name})" if containers.is_arrow_table(values) else f"{name}.to_numpy()"


def _refuse_order(first: str, name: str, axis: str, way: str, values: str) -> NoReturn:
    raise ValueError(
        f"{first} and {name} have the same labels in their {axis}, but in another order, and are "
        f"matched by position. Pass {values} if they belong together as they are. If not, "
        f"reorder one of them: {way} does it if labels are unique."
    )


def _refuse_overlaps(y_true: Table, y_score: Table) -> None:
    """Raise if the labels of relevance and scores are the same in part.

    Labels that have nothing in common are names. Those that are numbers from 0 on, or that are
    repeated, say nothing.
    """
    tables = {"y_true": y_true, "y_score": y_score}
    if all(map(containers.is_pandas, tables.values())):
        labels_of = {f"{name}.index": list(table.index) for name, table in tables.items()}
        ways = [f"{name}.loc[labels]" for name in tables]
        _refuse_overlap("index", labels_of, ways, "y_score.to_numpy()")
    labels_of = {
        f"{name}.{_attribute_of_names(table)}": column_names(table) or []
        for name, table in tables.items()
    }
    ways = [
        f"{name}.select(labels)" if containers.is_arrow_table(table) else f"{name}[labels]"
        for name, table in tables.items()
    ]
    _refuse_overlap("columns", labels_of, ways, _without_labels("y_score", y_score))


def _refuse_overlap(
    axis: str, labels_of: dict[str, list[Hashable]], ways: list[str], values: str
) -> None:
    """Raise if the labels of an axis, by the expression that finds them, are the same in part."""
    (expected, labels), (found, others) = labels_of.items()
    default = list(range(len(labels)))
    try:
        common = set(labels) & set(others)
        is_unique = len(set(labels)) == len(labels) == len(others) == len(set(others))
    except TypeError:  # labels without a hash
        return
    if not is_unique or not 0 < len(common) < len(labels) or default in (labels, others):
        return
    lacking = [label for label in labels if label not in common]
    raise ValueError(
        f"y_true and y_score are matched by position, but only some of the labels in their {axis} "
        f"are the same: y_score lacks {len(lacking)} of those of y_true, the first "
        f"{lacking[0]!r}. Pass {values} if they belong together as they are. If not, score what "
        f"both have: labels = [x for x in {expected} if x in list({found})], {' and '.join(ways)}."
    )


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
