"""A continuous target as grades."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg._checks import is_integer, refuse_reordered, where
from sklearn_ndcg._grouping import Grouping
from sklearn_ndcg._inputs import numeric


def quantile_grades(
    y: ArrayLike, *, groups: ArrayLike | None = None, n_grades: int = 5
) -> NDArray[np.int64]:
    """Turn a continuous target into grades by its quantiles within each group.

    A value's grade is the share of its group's values that are smaller, in steps of
    ``1 / n_grades``: equal values share a grade, and the lowest value's is 0. Without equal values
    the grades are equally frequent, as far as the group's size divides.

    Parameters
    ----------
    y : array-like of shape (n_documents,)
        Continuous target, larger is better, not NaN.

    groups : array-like of shape (n_documents,), default=None
        The query id of each row, in any order. None takes all rows as one group.

    n_grades : int, default=5
        Number of grades, at least 2.

    Returns
    -------
    ndarray of shape (n_documents,)
        Integer grades in ``0 .. n_grades - 1``, in the order of `y`.

    Raises
    ------
    ValueError
        If `y` is not 1-D or holds NaN, if `groups` does not fit, or if `n_grades` is not an
        integer >= 2.

    TypeError
        If `y` cannot be read as numbers, or `groups` as ids.

    Examples
    --------
    Returns of four stocks on each of two days; on the second day all but one stood still:

    >>> from sklearn_ndcg import quantile_grades
    >>> returns = [0.03, -0.01, 0.00, 0.07, 0.00, 0.00, 0.02, 0.00]
    >>> day = [1, 1, 1, 1, 2, 2, 2, 2]
    >>> quantile_grades(returns, groups=day, n_grades=4)
    array([2, 0, 1, 3, 0, 0, 3, 0])
    """
    refuse_reordered(y=y, groups=groups)
    values = numeric(y, "y")
    if values.ndim != 1:
        raise ValueError(f"y must be 1-D, one value per row, got shape {values.shape}.")
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(
            f"y must not be NaN, found {where(np.isnan(values), 'NaN')}: leave those rows out."
        )
    if not is_integer(n_grades) or not 2 <= n_grades < 2**31:
        raise ValueError(f"n_grades must be an integer from 2 to 2**31 - 1, got {n_grades!r}.")
    n = len(values)
    grouping = Grouping.of_ids(np.zeros(n) if groups is None else groups, n)
    codes = grouping.row_codes()
    order = np.lexsort((values, codes))
    values, codes = values[order], codes[order]
    place = np.arange(n)
    is_first = np.r_[True, codes[1:] != codes[:-1]]
    is_new_value = is_first | np.r_[True, values[1:] != values[:-1]]
    first_of_group = np.maximum.accumulate(np.where(is_first, place, 0))
    n_smaller = np.maximum.accumulate(np.where(is_new_value, place, 0)) - first_of_group
    grades = np.empty(n, dtype=np.int64)
    grades[order] = int(n_grades) * n_smaller // grouping.lengths[codes]
    return grades
