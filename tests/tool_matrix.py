"""Which scikit-learn tool scores by query in which way: run, compared with the folds by hand.

``python tests/tool_matrix.py`` prints the table of docs/tools.md.
"""

import warnings
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pandas as pd
import sklearn
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.metrics import ndcg_score as sklearn_ndcg_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.tree import DecisionTreeRegressor

from sklearn_ndcg import make_ndcg_scorer, ndcg_score

WAYS = ("routed", "column", "index level")
ALPHAS = [0.1, 10.0, 1000.0]
K = 3


class Case(NamedTuple):
    """One way of showing the query ids to a tool."""

    X: pd.DataFrame
    y: np.ndarray
    query: np.ndarray
    scorer: object
    metadata: dict
    splits: list


@contextmanager
def case(way):
    """The same ragged, shuffled data, its ids where `way` says; routing on where that needs it."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(24), rng.integers(1, 8, size=24))
    query = rng.permutation(query)
    X = pd.DataFrame(rng.normal(size=(len(query), 4)), columns=list("abcd"))
    y = np.clip(np.round(X["a"] - X["b"] + rng.normal(size=len(query))), 0, 3).to_numpy(int)
    splits = list(GroupKFold(n_splits=4).split(X, y, query))
    options = {"k": K, "replace_undefined_by": 0.0}
    metadata = {}
    if way == "routed":
        metadata = {"groups": query}
    elif way == "column":
        X = X.assign(query=query)
        options["group_by"] = "query"
    else:
        X = X.set_index(pd.Index(query, name="query"))
        options["group_by"] = "query"
    with sklearn.config_context(enable_metadata_routing=way == "routed"):
        yield Case(X, y, query, make_ndcg_scorer(**options), metadata, splits)


def by_hand(y, score, query):
    """Mean NDCG over queries, one call of scikit-learn's function a query."""
    values = []
    for each in np.unique(query):
        rows = query == each
        if rows.sum() > 1:
            values.append(sklearn_ndcg_score([y[rows]], [score[rows]], k=K))
        else:  # refused by scikit-learn
            values.append(float(y[rows][0] > 0))
    return np.mean(values)


def folds_by_hand(estimator, c, splits=None, X=None):
    X = c.X if X is None else X
    scores = []
    for train, test in c.splits if splits is None else splits:
        model = clone(estimator).fit(X.iloc[train], c.y[train])
        scores.append(by_hand(c.y[test], model.predict(X.iloc[test]), c.query[test]))
    return np.array(scores)


def fold_columns(results, row):
    return [results[f"split{i}_test_score"][row] for i in range(4)]


def fit_params(c):
    return {"params": c.metadata} if c.metadata else {}


def grid_search(c):
    search = GridSearchCV(Ridge(), {"alpha": ALPHAS}, scoring=c.scorer, cv=c.splits)
    search.set_params(error_score="raise").fit(c.X, c.y, **c.metadata)
    got = [fold_columns(search.cv_results_, i) for i in range(len(ALPHAS))]
    return got, [folds_by_hand(Ridge(alpha=alpha), c) for alpha in ALPHAS]


def randomized_search(c):
    search = RandomizedSearchCV(
        Ridge(), {"alpha": ALPHAS}, n_iter=3, random_state=0, scoring=c.scorer, cv=c.splits
    )
    search.set_params(error_score="raise").fit(c.X, c.y, **c.metadata)
    rows = search.cv_results_["params"]
    got = [fold_columns(search.cv_results_, i) for i in range(len(rows))]
    return got, [folds_by_hand(Ridge(**row), c) for row in rows]


def halving_search(c):
    search = HalvingGridSearchCV(
        DecisionTreeRegressor(random_state=0),
        {"min_samples_leaf": [1, 2, 3]},
        resource="max_depth",
        max_resources=9,
        min_resources=3,
        scoring=c.scorer,
        cv=c.splits,
        error_score="raise",
    ).fit(c.X, c.y, **c.metadata)
    rows = search.cv_results_["params"]
    got = [fold_columns(search.cv_results_, i) for i in range(len(rows))]
    return got, [folds_by_hand(DecisionTreeRegressor(random_state=0, **row), c) for row in rows]


def cross_val_score_(c):
    got = cross_val_score(
        Ridge(), c.X, c.y, scoring=c.scorer, cv=c.splits, error_score="raise", **fit_params(c)
    )
    return got, folds_by_hand(Ridge(), c)


def cross_validate_(c):
    got = cross_validate(
        Ridge(), c.X, c.y, scoring=c.scorer, cv=c.splits, error_score="raise", **fit_params(c)
    )
    return got["test_score"], folds_by_hand(Ridge(), c)


def cross_val_predict_(c):
    """It takes no scorer: its predictions are scored afterwards, with the ids."""
    with sklearn.config_context(enable_metadata_routing=False):
        predicted = cross_val_predict(Ridge(), c.X, c.y, cv=c.splits)
    expected = np.empty(len(c.y))
    for train, test in c.splits:
        expected[test] = Ridge().fit(c.X.iloc[train], c.y[train]).predict(c.X.iloc[test])
    got = ndcg_score(c.y, predicted, groups=c.query, k=K, replace_undefined_by=0.0)
    return got, by_hand(c.y, expected, c.query)


def learning_curve_(c):
    sizes, on_train, on_test = learning_curve(
        Ridge(),
        c.X,
        c.y,
        scoring=c.scorer,
        cv=c.splits,
        train_sizes=[30, 50],
        error_score="raise",
        **fit_params(c),
    )
    train_expected, test_expected = [], []
    for size in sizes:
        firsts = [(train[:size], test) for train, test in c.splits]
        test_expected.append(folds_by_hand(Ridge(), c, firsts))
        train_expected.append(folds_by_hand(Ridge(), c, [(a, a) for a, _ in firsts]))
    return [on_train, on_test], [train_expected, test_expected]


def validation_curve_(c):
    _, on_test = validation_curve(
        Ridge(),
        c.X,
        c.y,
        param_name="alpha",
        param_range=ALPHAS,
        scoring=c.scorer,
        cv=c.splits,
        error_score="raise",
        **fit_params(c),
    )
    return on_test, [folds_by_hand(Ridge(alpha=alpha), c) for alpha in ALPHAS]


def permutation_importance_(c):
    """It has no `params`, so nothing can be routed. A query column is permuted like any other."""
    model = Ridge().fit(c.X, c.y)

    def scored_by_hand(estimator, X, y):
        query = X.get("query", X.index)
        return by_hand(y, estimator.predict(X), query.to_numpy())

    got = permutation_importance(model, c.X, c.y, scoring=c.scorer, n_repeats=2, random_state=0)
    expected = permutation_importance(
        model, c.X, c.y, scoring=scored_by_hand, n_repeats=2, random_state=0
    )
    return got.importances, expected.importances


def permutation_test_score_(c):
    score, permuted, _ = permutation_test_score(
        Ridge(),
        c.X,
        c.y,
        scoring=c.scorer,
        cv=c.splits,
        n_permutations=3,
        random_state=0,
        **fit_params(c),
    )
    random = np.random.RandomState(0)
    expected = [folds_by_hand(Ridge(), c._replace(y=random.permutation(c.y))) for _ in range(3)]
    return [score, *permuted], [folds_by_hand(Ridge(), c).mean(), *np.mean(expected, axis=1)]


def rfecv(c):
    selector = RFECV(Ridge(), scoring=c.scorer, cv=c.splits).fit(c.X, c.y, **c.metadata)
    sizes = range(1, c.X.shape[1] + 1)
    got = [fold_columns(selector.cv_results_, i) for i in range(len(sizes))]
    return got, [folds_by_hand(RFE(Ridge(), n_features_to_select=n), c) for n in sizes]


def sequential_feature_selector(c):
    """It gives no scores, so the choice of features is compared."""
    selector = SequentialFeatureSelector(
        Ridge(), n_features_to_select=2, scoring=c.scorer, cv=c.splits
    ).fit(c.X, c.y, **c.metadata)
    chosen = []
    for _ in range(2):
        rest = [name for name in c.X if name not in chosen]
        scores = [folds_by_hand(Ridge(), c, X=c.X[[*chosen, name]]).mean() for name in rest]
        chosen.append(rest[int(np.argmax(scores))])
    return selector.get_support(), [name in chosen for name in c.X]


def nested(c):
    """The inner search splits by query too: its groups come along as metadata or fit parameter."""
    search = GridSearchCV(
        Ridge(), {"alpha": ALPHAS}, scoring=c.scorer, cv=GroupKFold(n_splits=3), error_score="raise"
    )
    got = cross_val_score(
        search,
        c.X,
        c.y,
        scoring=c.scorer,
        cv=c.splits,
        error_score="raise",
        params={"groups": c.query},
    )
    expected = []
    for train, test in c.splits:
        X, y, query = c.X.iloc[train], c.y[train], c.query[train]
        inner = list(GroupKFold(n_splits=3).split(X, y, query))
        part = c._replace(X=X, y=y, query=query)
        scores = [folds_by_hand(Ridge(alpha=alpha), part, inner).mean() for alpha in ALPHAS]
        best = Ridge(alpha=ALPHAS[int(np.argmax(scores))]).fit(X, y)
        expected.append(by_hand(c.y[test], best.predict(c.X.iloc[test]), c.query[test]))
    return got, expected


TOOLS = {
    "GridSearchCV": grid_search,
    "RandomizedSearchCV": randomized_search,
    "HalvingGridSearchCV": halving_search,
    "cross_val_score": cross_val_score_,
    "cross_validate": cross_validate_,
    "cross_val_predict": cross_val_predict_,
    "learning_curve": learning_curve_,
    "validation_curve": validation_curve_,
    "permutation_importance": permutation_importance_,
    "permutation_test_score": permutation_test_score_,
    "RFECV": rfecv,
    "SequentialFeatureSelector": sequential_feature_selector,
    "nested CV": nested,
}


def outcome(tool, way):
    """What the table says of one cell, found by running it."""
    with case(way) as c, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            got, expected = TOOLS[tool](c)
        except ValueError as error:
            return "no: " + ("no groups" if "got no groups" in str(error) else "X is an array")
        if any("Scoring failed" in str(warning.message) for warning in caught):
            return "no: X is an array, and the error is swallowed"
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)
        return "yes"


def table():
    lines = ["| tool | " + " | ".join(WAYS) + " |", "|---" * (len(WAYS) + 1) + "|"]
    lines += [
        f"| {tool} | " + " | ".join(outcome(tool, way) for way in WAYS) + " |" for tool in TOOLS
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
