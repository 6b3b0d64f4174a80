"""Splits that keep queries whole."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv

from sklearn_ndcg._checks import refuse_reordered
from sklearn_ndcg._columns import count_rows
from sklearn_ndcg._grouping import Grouping


def check_group_splits(
    cv: Any, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None
) -> None:
    """Check that no split cuts a query in two.

    KFold and similar splitters deal out rows: the documents of one query land on both sides, and
    what is scored is a few leftovers of each query, by a model that has seen the rest. GroupKFold,
    GroupShuffleSplit, StratifiedGroupKFold, LeaveOneGroupOut and LeavePGroupsOut keep queries
    whole.

    Parameters
    ----------
    cv : int, splitter or list of splits
        As scikit-learn takes it. One that draws at random is checked for the draw it makes here.

    X : array-like of shape (n_documents, n_features)
        The rows.

    y : array-like of shape (n_documents,), default=None
        The target, where the splitter needs it.

    groups : array-like of shape (n_documents,)
        The query id of each row.

    Raises
    ------
    ValueError
        If a query has some but not all of its rows in the training part or in the test part of a
        split, or rows in both: names the folds and queries. Also if `groups` is missing or does
        not fit X, or if `cv` has no splits or does not fit X.

    TypeError
        If `cv` is an iterator, which the check would use up.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GroupKFold, KFold
    >>> from sklearn_ndcg import check_group_splits
    >>> X, groups = np.zeros((6, 1)), ["a", "a", "b", "b", "c", "c"]
    >>> check_group_splits(GroupKFold(n_splits=3), X, groups=groups)
    >>> check_group_splits(KFold(n_splits=2), X, groups=groups)
    Traceback (most recent call last):
    ValueError: cv cuts queries in two: fold 0 cuts 1 ('b'), fold 1 cuts 1 ('b'). Use a splitter ...
    """
    if groups is None or X is None:
        missing = "groups" if groups is None else "X"
        raise ValueError(f"{missing} is missing: pass X and one query id per row.")
    if isinstance(cv, Iterator):
        raise TypeError(
            f"cv is an iterator, which a check would use up: pass list(cv), got {cv!r}."
        )
    refuse_reordered(X=X, y=y, groups=groups)
    grouping = Grouping.of_ids(groups, count_rows(X))
    with warnings.catch_warnings():
        # that KFold ignores groups is what the error below is about
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        splits = list(check_cv(cv, y).split(X, y, groups))
    if not splits:
        raise ValueError("cv has no splits.")
    found = []
    for fold, parts in enumerate(splits):
        labels = grouping.labels[_is_cut(grouping, parts, fold)]
        if len(labels):
            shown = ", ".join(repr(label) for label in labels[:3].tolist())
            found.append(f"fold {fold} cuts {len(labels)} ({shown}{', ...' * (len(labels) > 3)})")
    if found:
        raise ValueError(
            f"cv cuts queries in two: {', '.join(found)}. Use a splitter that keeps groups whole, "
            "such as GroupKFold, and pass it the ids as groups."
        )


def _is_cut(grouping: Grouping, parts: Any, fold: int) -> NDArray[np.bool_]:
    """Which queries have some but not all of their rows in a part, or rows in both."""
    codes, n_queries = grouping.row_codes(), len(grouping.labels)
    cut, n_parts = np.zeros(n_queries, dtype=bool), np.zeros(n_queries, dtype=int)
    for part in parts:
        inside = np.zeros(len(codes), dtype=bool)
        try:
            inside[part] = True
        except IndexError as error:
            raise ValueError(
                f"cv: fold {fold} does not index {len(codes)} rows: {error}"
            ) from error
        counts = np.bincount(codes[inside], minlength=n_queries)
        cut |= (counts > 0) & (counts < grouping.lengths)
        n_parts += counts > 0
    return cut | (n_parts > 1)
