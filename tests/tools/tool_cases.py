"""Ways of passing the query ids to a tool, and NDCG by hand, to compare what the tool gives."""

from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pandas as pd
import sklearn
from helpers import graded_rows
from oracles import loop_ndcg
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from sklearn_ndcg import QuerySplitter, make_ndcg_scorer

ALPHAS = [0.1, 10.0, 1000.0]
FEATURES = list("abcd")
K = 3
# X, y and `group_by`
WAYS = {
    "routed": lambda X, y, query: (X, y, None),
    "column": lambda X, y, query: (X.assign(query=query), y, "query"),
    "index level": lambda X, y, query: (X.set_index(query), pd.Series(y, query), "query"),
}


class Case(NamedTuple):
    """Rows, with one way of passing their query ids to a tool."""

    X: pd.DataFrame
    y: object
    query: np.ndarray
    group_by: object
    scorer: object
    splitter: object = None  # what the tool gets in place of a list of splits
    cuts: bool = False  # whether the splits cut queries

    @property
    def grades(self):
        return np.asarray(self.y)

    @property
    def features(self):
        return self.X[FEATURES]

    @property
    def metadata(self):
        return {} if self.group_by else {"groups": self.query}

    @property
    def params(self):
        return {"params": self.metadata} if self.metadata else {}

    @property
    def splits(self):
        ids = np.arange(len(self.query)) if self.cuts else self.query
        return splits_by_hand(ids, 4, by_query=self.splitter is not None)

    @property
    def cv(self):
        return self.splitter or self.splits


@contextmanager
def case(way, *, splitter=True):
    """Give the same ragged, shuffled rows in each way, with routing on where the way needs it."""
    X, y, query = graded_rows(n_queries=30, n_columns=4)
    X, y, group_by = WAYS[way](X, y, pd.Index(query, name="query"))
    scorer = make_ndcg_scorer(k=K, group_by=group_by, undefined=0.0)
    splitter = QuerySplitter(KFold(4), group_by=group_by) if splitter and group_by else None
    with sklearn.config_context(enable_metadata_routing=not group_by):
        yield Case(X, y, query, group_by, scorer, splitter)


def splits_by_hand(query, n_splits, *, by_query):
    """Some of the queries in each fold; training rows as in X, or one query after another."""
    splits = []
    for ids in np.array_split(np.unique(query), n_splits):
        is_test = np.isin(query, ids)
        train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
        splits.append((train[np.argsort(query[train], kind="stable")] if by_query else train, test))
    return splits


def by_hand(y, score, query):
    """Mean NDCG over queries; those without a relevant document count 0."""
    return np.nan_to_num(loop_ndcg(y, score, np.asarray(query).tolist(), k=K)).mean()


def score_by_hand(model, X, y):
    """A scorer for pandas; a column of ids is what the tool makes of it."""
    query = np.asarray(X.get("query", X.index))
    return by_hand(np.asarray(y), model.predict(X), query)


def folds_by_hand(model, c, X=None, splits=None, response=lambda model, X: model.predict(X)):
    X = c.X if X is None else X
    scores = []
    for train, test in c.splits if splits is None else splits:
        fitted = clone(model).fit(X.iloc[train], c.grades[train])
        scores.append(by_hand(c.grades[test], response(fitted, X.iloc[test]), c.query[test]))
    return np.array(scores)


def means_by_hand(c, alphas=ALPHAS):
    return [folds_by_hand(Ridge(alpha=alpha), c).mean() for alpha in alphas]
