"""Splits that keep queries whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator, check_cv

from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._rows import columns
from sklearn_ndcg._rows.containers import shape_of_rows
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.labels import refuse_reordered
from sklearn_ndcg._selection.libraries import Array, GroupBy, OrderBy, Seed

# Splitters with such names take the order of samples as the order of time.
_IN_TIME = re.compile("Time|Walk|Purged|Gap")


class Splitter(Protocol):
    """What is asked of a splitter: scikit-learn's, or one with the same methods."""

    def split(self, *args: Any, **kwargs: Any) -> Iterable[tuple[ArrayLike, ArrayLike]]: ...
    def get_n_splits(self, *args: Any, **kwargs: Any) -> int: ...


CV: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None


class QuerySplitter(BaseEstimator, BaseCrossValidator):  # type: ignore[misc]
    """Apply any splitter to queries instead of rows, so that every query stays whole.

    Many splitters of scikit-learn, such as `RepeatedKFold` and `TimeSeriesSplit`, have no form that
    takes groups. This one passes the queries to any such splitter, one sample per query, and
    returns the rows of the training and the test queries.

    Parameters
    ----------
    cv : int, splitter or iterable of splits, default=5
        How to split the queries: the number of folds of `KFold` (None is 5), any splitter of
        scikit-learn that needs no groups itself (`KFold`, `RepeatedKFold`, `ShuffleSplit`,
        `TimeSeriesSplit`, `LeaveOneOut`, `StratifiedKFold`, `PredefinedSplit` and so on), or a list
        of splits of query numbers. For splitters that stratify, the class of a query is its highest
        relevance.

    group_by : str, callable or list of names, default=None
        Where in X the query ids are, as in `make_ndcg_scorer`. Takes precedence over `groups`. With
        None, pass `groups` to the tool.

    order_by : str or callable, default=None
        What orders the queries for the splitter: a column of X, a level of its pandas index, or a
        callable on X that returns one value per row. Queries are sorted by the smallest value of
        their rows, so that `TimeSeriesSplit` trains on earlier ones; ties, and all queries with
        None, by their ids. Text ids sort as text, "10" before "9"; categories sort by name as ids,
        and in their own order by `order_by`.

    Examples
    --------
    Folds of days that train on earlier days only:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit
    >>> from sklearn_ndcg import QuerySplitter
    >>> day = np.array(["Mon", "Tue", "Mon", "Wed", "Tue", "Wed"])
    >>> X = pd.DataFrame({"time": [1, 2, 1, 3, 2, 3]})
    >>> in_time = QuerySplitter(TimeSeriesSplit(2), order_by="time")
    >>> for train, test in in_time.split(X, groups=day):
    ...     print(day[train], day[test])
    ['Mon' 'Mon'] ['Tue' 'Tue']
    ['Mon' 'Mon' 'Tue' 'Tue'] ['Wed' 'Wed']

    One split into training and test rows:

    >>> one = QuerySplitter(ShuffleSplit(1, test_size=1, random_state=0))
    >>> train, test = next(one.split(X, groups=day))
    >>> test
    array([3, 5])
    """

    # otherwise notebooks would show it as "not fitted"
    _repr_html_: Any = None
    _repr_mimebundle_: Any = None
    __metadata_request__split: ClassVar = {"groups": True}

    def __init__(self, cv: CV = 5, *, group_by: GroupBy = None, order_by: OrderBy = None) -> None:
        self.cv = cv
        self.group_by = group_by
        self.order_by = order_by

    def split(
        self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Ints, Ints]]:
        """Generate the rows of each split.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            The rows.

        y : array-like of shape (n_documents,), default=None
            Relevance, for splitters that stratify.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row. Ignored if `group_by` says where in X they are.

        Yields
        ------
        train, test : ndarray
            Row numbers. Those of the training set come query by query in the order of the splitter,
            so that its first rows are whole queries, except the last of them; those of the test set
            ascend.

        Raises
        ------
        ValueError
            If ids or values to order by are not found, are missing or do not fit X; if the indices
            of `cv` do not fit the queries, or a set is empty or there are several test sets.

        TypeError
            If `cv` is an iterator, which the first call would use up.

        Warns
        -----
        UserWarning
            If a splitter in time, such as `TimeSeriesSplit`, gets queries in the order of text ids.
        """
        splitter = self._splitter()
        grouping, order, samples = self._samples(X, y, groups)
        n, rows = len(order), grouping.gather(np.arange(columns.count_rows(X)))
        for fold, (train, test) in enumerate(splitter.split(*samples)):
            trained = order[_chosen(train, n, fold, "training")]
            tested = order[_chosen(test, n, fold, "test")]
            yield rows[grouping.rows_of(trained)], np.sort(rows[grouping.rows_of(tested)])

    def get_n_splits(
        self, X: Any = None, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> int:
        """Get the number of splits.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features), default=None
            The rows. Only some splitters, such as `LeaveOneOut`, need them.

        y : array-like of shape (n_documents,), default=None
            Relevance, for splitters that stratify.

        groups : array-like of shape (n_documents,), default=None
            The query id of each row. See `split`.

        Returns
        -------
        int
            The number of splits.
        """
        splitter = self._splitter()
        samples = (None, None) if X is None else self._samples(X, y, groups)[-1]
        return int(splitter.get_n_splits(*samples))

    # Attributes that scikit-learn's tools read. Those that `cv` lacks are missing here too.
    @property
    def n_splits(self) -> int:
        return self.get_n_splits() if np.iterable(self.cv) else _as_splitter(self.cv).n_splits

    @property
    def shuffle(self) -> bool:
        return bool(_as_splitter(self.cv).shuffle)

    @property
    def random_state(self) -> Seed:
        seed: Seed = _as_splitter(self.cv).random_state
        return seed

    @random_state.setter
    def random_state(self, value: Seed) -> None:
        splitter = copy(_as_splitter(self.cv))  # the user's splitter keeps its seed
        splitter.random_state = value
        self.cv = splitter

    def _splitter(self) -> Splitter:
        _refuse_iterator(self.cv)
        splitter: Splitter = _as_splitter(self.cv)
        return splitter

    def _samples(
        self, X: Any, y: ArrayLike | None, groups: ArrayLike | None
    ) -> tuple[Grouping, Ints, tuple[Floats, Array | None]]:
        """The queries, their order, and the splitter's X and y, one sample per query."""
        groups = columns.values_by(X, self.group_by, groups, y)
        if groups is None:
            raise ValueError(
                "QuerySplitter got no groups, so it is not known which rows are one query. Pass "
                "groups, one id per row, to the tool, or group_by, which says where in X they are."
            )
        values = columns.values_by(X, self.order_by, None, y, "order_by")
        refuse_reordered(X=X, y=X if y is None else y, groups=groups, order_by=values)
        grouping = Grouping.of_ids(groups, columns.count_rows(X))
        in_time = any(_IN_TIME.search(kind.__name__) for kind in type(self.cv).mro())
        order = grouping.in_order(values, type(self.cv).__name__ if in_time else "")
        highest = _highest(y, grouping)
        samples = np.zeros((len(order), 1)), None if highest is None else highest[order]
        return grouping, order, samples


def _as_splitter(cv: Any) -> Any:
    """What scikit-learn makes of `cv`; of its splitters only some have a seed or shuffle."""
    return check_cv(cv)


def _refuse_iterator(cv: CV) -> None:
    if isinstance(cv, Iterator):
        raise TypeError(f"cv is an iterator, which works only once: pass list(cv), got {cv!r}.")


def _highest(y: ArrayLike | None, grouping: Grouping) -> Array | None:
    """The highest relevance of each query, without NaN; None if y has no order."""
    if y is None:
        return None
    y, n_rows = np.asarray(y), grouping.lengths.sum()
    if len(y) != n_rows:
        raise ValueError(f"y must have one value for each of the {n_rows} rows, got {len(y)}.")
    y = y.reshape(shape_of_rows(y.shape))
    if y.ndim != 1:
        return None
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:  # None among them
        return None
    codes[y != y] = -1  # noqa: PLR0124  (NaN is the last of the classes, and the lowest)
    return classes[grouping.extremes(codes)[1]]


def _chosen(chosen: Any, n: int, fold: int, name: str) -> Ints:
    """The numbers of the queries, of n, in the training or the test set of a split."""
    if len(chosen) and np.ndim(next(iter(chosen))):
        raise ValueError(
            f"cv: fold {fold} has {len(chosen)} {name} sets instead of one. Pass a list of splits: "
            f"[(train, np.concatenate(sets)) for train, sets in cv.split(np.zeros(({n}, 1)))]."
        )
    try:
        numbers = np.arange(n)[np.asarray(chosen) if len(chosen) else []]
    except IndexError as error:
        raise ValueError(f"cv: fold {fold} does not fit {n} queries: {error}") from error
    if not len(numbers):
        raise ValueError(f"cv: the {name} set of fold {fold} has none of the {n} queries.")
    return numbers


def row_numbers(rows: ArrayLike) -> Ints:
    """The numbers of the rows of a set, which a splitter may give as a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows
