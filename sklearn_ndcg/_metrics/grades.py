"""Grades of a continuous target."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg import _checks
from sklearn_ndcg._metrics.inputs import numeric
from sklearn_ndcg._rows.columns import level_of
from sklearn_ndcg._rows.grouping import Grouping, starts_of
from sklearn_ndcg._rows.labels import refuse_reordered


@_checks.names_groups
def quantile_grades(
    y: ArrayLike, *, groups: ArrayLike | None = None, n_grades: int = 5
) -> NDArray[np.int64]:
    """Turn a continuous target into grades by its quantiles within each group.

    The grade of a value is the share of smaller values in its group, in steps of ``1 / n_grades``:
    equal values have the same grade, and the lowest value has the grade 0. Without equal values the
    grades are equally frequent, as far as the size of the group allows.

    Parameters
    ----------
    y : array-like of shape (n_documents,)
        Continuous target, larger is better, not NaN.

    groups : array-like of shape (n_documents,) or str, default=None
        The query id of each row. The name of a level in the index of `y` stands for the ids in it.
        None takes all rows as one group.

    n_grades : int, default=5
        Number of grades, at least 2.

    Returns
    -------
    ndarray of shape (n_documents,)
        Integer grades in ``0 .. n_grades - 1``, in the order of `y`.

    Raises
    ------
    ValueError
        If `y` is not 1-D, or holds NaN or text, if `groups` does not fit, or if `n_grades` is not
        an integer >= 2.

    TypeError
        If `y` is of a type that cannot be read as numbers, or `groups` of one that cannot be read
        as ids.

    Examples
    --------
    Returns of four stocks on each of two days. Pass the days: without `groups` the grades are those
    of all rows together, and a good day has high grades. On the second day all but one stood still:

    >>> from sklearn_ndcg import quantile_grades
    >>> returns = [0.03, -0.01, 0.00, 0.07, 0.00, 0.00, 0.02, 0.00]
    >>> day = [1, 1, 1, 1, 2, 2, 2, 2]
    >>> quantile_grades(returns, groups=day, n_grades=4)
    array([2, 0, 1, 3, 0, 0, 3, 0])
    """
    if isinstance(groups, str):
        groups = level_of(y, groups, "y")
    refuse_reordered(y=y, groups=groups)
    values = numeric(y, "y")
    n = len(values)
    if values.size > n:
        raise ValueError(f"y must be 1-D, one value per row, got shape {values.shape}.")
    values = values.ravel()
    if values.dtype.kind == "f" and np.isnan(values).any():
        missing = _checks.describe_mask(np.isnan(values), "NaN")
        raise ValueError(f"y has {missing}: leave rows with NaN out.")
    if not _checks.is_integer(n_grades) or not 2 <= n_grades < 2**31:
        raise ValueError(f"n_grades must be an integer from 2 to 2**31 - 1, got {n_grades!r}.")
    grouping = Grouping.of_ids(np.zeros(n) if groups is None else groups, n)
    codes = grouping.row_codes()
    order = np.lexsort((values, codes))
    ranked, group = values[order], codes[order]
    is_equal = (ranked[1:] == ranked[:-1]) & (group[1:] == group[:-1])
    # positions of the first of equal values
    first = np.maximum.accumulate(np.where(np.append(False, is_equal), 0, np.arange(n)))
    n_smaller = np.empty(n, dtype=np.int64)
    n_smaller[order] = first - starts_of(grouping.lengths)[group]
    return int(n_grades) * n_smaller // grouping.lengths[codes]
