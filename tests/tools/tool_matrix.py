"""Which scikit-learn tools score by query, and how: each is run and compared with a loop.

``python tests/tools/tool_matrix.py`` prints the table of docs/tools.md, and the numbers of its
notes.
"""

import importlib
import inspect
import pkgutil
import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pandas as pd
import sklearn
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.metrics import check_scoring, get_scorer
from sklearn.metrics import ndcg_score as sklearn_ndcg_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    LearningCurveDisplay,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    ValidationCurveDisplay,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.discovery import all_displays, all_estimators, all_functions

from sklearn_ndcg import QuerySplitter, make_ndcg_scorer, ndcg_score

ALPHAS = [0.1, 10.0, 1000.0]
GRADES = np.array([0, 2, 3, 5])  # for classifiers, which may confuse a grade with its number
K = 3
VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])


class Case(NamedTuple):
    """One way of showing the query ids to a tool."""

    X: pd.DataFrame
    y: np.ndarray
    query: np.ndarray
    scorer: object
    metadata: dict
    cv: object  # what the tool gets
    splits: list  # the same, for the computation in a loop


def routed(X, query):
    return X, {}, {"groups": query}


def column(X, query):
    return X.assign(query=query), {"group_by": "query"}, {}


def index_level(X, query):
    return X.set_index(pd.Index(query, name="query")), {"group_by": "query"}, {}


# how the ids are shown: X, the options of the scorer and the metadata, which needs routing
WAYS = {
    "routed": routed,
    "column": column,
    "index level": index_level,
    "QuerySplitter": index_level,  # for the splitter too
}


@contextmanager
def case(way):
    """The same ragged, shuffled data, its ids where `way` says; routing on where that needs it."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(24), rng.integers(1, 8, size=24))
    query = rng.permutation(query)
    X = pd.DataFrame(rng.normal(size=(len(query), 4)), columns=list("abcd"))
    y = np.clip(np.round(X["a"] - X["b"] + rng.normal(size=len(query))), 0, 3).to_numpy(int)
    if way == "QuerySplitter":
        folds = KFold(n_splits=4, shuffle=True, random_state=0)
        cv, splits = QuerySplitter(folds, group_by="query"), splits_by_hand(folds, query)
    else:
        cv = splits = list(GroupKFold(n_splits=4).split(X, y, query))
    X, options, metadata = WAYS[way](X, query)
    scorer = make_ndcg_scorer(k=K, undefined=0.0, **options)
    with sklearn.config_context(enable_metadata_routing=bool(metadata)):
        yield Case(X, y, query, scorer, metadata, cv, splits)


def splits_by_hand(cv, query):
    """The rows of the queries in each part; training rows come query by query, sorted by id."""
    ids = np.unique(query)
    rows = [np.flatnonzero(query == each) for each in ids]
    return [
        (np.concatenate([rows[i] for i in train]), np.flatnonzero(np.isin(query, ids[test])))
        for train, test in cv.split(ids)
    ]


def by_hand(y, score, query):
    """Mean NDCG over queries, one call of scikit-learn's function per query."""
    values = []
    for each in np.unique(query):
        rows = query == each
        if rows.sum() > 1:
            values.append(sklearn_ndcg_score([y[rows]], [score[rows]], k=K))
        else:  # refused by scikit-learn
            values.append(float(y[rows][0] > 0))
    return np.mean(values)


def predicted(model, X):
    return model.predict(X)


def expected_grade(model, X):
    return model.predict_proba(X) @ model.classes_


def folds_by_hand(estimator, c, splits=None, X=None, response=predicted):
    X = c.X if X is None else X
    scores = []
    for train, test in c.splits if splits is None else splits:
        model = clone(estimator).fit(X.iloc[train], c.y[train])
        scores.append(by_hand(c.y[test], response(model, X.iloc[test]), c.query[test]))
    return np.array(scores)


def left_out_by_hand(estimator, c):
    """One score, of what is predicted for each row by a model of all others."""
    X, rows = c.X.to_numpy(), np.arange(len(c.y))
    models = [clone(estimator).fit(X[rows != row], c.y[rows != row]) for row in rows]
    score = [model.predict(X[[row]])[0] for row, model in zip(rows, models, strict=True)]
    return by_hand(c.y, np.array(score), c.query)


class ByHand:
    """A scorer for pandas, with ids in the index or a column, that looks for parts of queries."""

    def __init__(self, query):
        self.sizes = dict(zip(*np.unique(query, return_counts=True), strict=True))
        self.cell = "yes"
        self.lengths = []  # mean number of documents per query, for each call

    def __call__(self, estimator, X, y):
        query = np.asarray(X.index if X.index.name == "query" else X["query"])
        labels, sizes = np.unique(query, return_counts=True)
        if any(size < self.sizes[label] for label, size in zip(labels, sizes, strict=True)):
            self.cell = "no: queries are cut"
        self.lengths.append(np.mean(sizes))
        return by_hand(np.asarray(y), estimator.predict(X), query)


def fold_columns(results, row):
    return [results[f"split{i}_test_score"][row] for i in range(4)]


def fit_params(c):
    return {"params": c.metadata} if c.metadata else {}


def grid_search(c):
    search = GridSearchCV(Ridge(), {"alpha": ALPHAS}, scoring=c.scorer, cv=c.cv)
    search.set_params(error_score="raise").fit(c.X, c.y, **c.metadata)
    got = [fold_columns(search.cv_results_, i) for i in range(len(ALPHAS))]
    return got, [folds_by_hand(Ridge(alpha=alpha), c) for alpha in ALPHAS]


def randomized_search(c):
    search = RandomizedSearchCV(
        Ridge(), {"alpha": ALPHAS}, n_iter=3, random_state=0, scoring=c.scorer, cv=c.cv
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
        cv=c.cv,
        error_score="raise",
    ).fit(c.X, c.y, **c.metadata)
    rows = search.cv_results_["params"]
    got = [fold_columns(search.cv_results_, i) for i in range(len(rows))]
    return got, [folds_by_hand(DecisionTreeRegressor(random_state=0, **row), c) for row in rows]


def halving_random_search(c):
    search = HalvingRandomSearchCV(
        DecisionTreeRegressor(random_state=0),
        {"min_samples_leaf": [1, 2, 3]},
        n_candidates=3,
        random_state=0,
        resource="max_depth",
        max_resources=9,
        min_resources=3,
        scoring=c.scorer,
        cv=c.cv,
        error_score="raise",
    ).fit(c.X, c.y, **c.metadata)
    rows = search.cv_results_["params"]
    got = [fold_columns(search.cv_results_, i) for i in range(len(rows))]
    return got, [folds_by_hand(DecisionTreeRegressor(random_state=0, **row), c) for row in rows]


def halving_search_by_rows(c):
    """The same search in a loop has the ids in the index, and shows what a scorer sees of them."""

    def scores(X, scoring, cv, metadata):
        search = HalvingGridSearchCV(
            Ridge(), {"alpha": ALPHAS}, scoring=scoring, cv=cv, random_state=0,
            min_resources=48, factor=2, error_score="raise",
        ).fit(X, c.y, **metadata)  # fmt: skip
        rows = range(len(search.cv_results_["params"]))
        return [fold_columns(search.cv_results_, i) for i in rows]

    got = scores(c.X, c.scorer, c.cv, c.metadata)
    hand = ByHand(c.query)
    with sklearn.config_context(enable_metadata_routing=False):
        expected = scores(c.X.set_index(pd.Index(c.query, name="query")), hand, c.splits, {})
    return got, {hand.cell: expected}


def cross_val_score_(c):
    got = cross_val_score(
        Ridge(), c.X, c.y, scoring=c.scorer, cv=c.cv, error_score="raise", **fit_params(c)
    )
    return got, folds_by_hand(Ridge(), c)


def cross_validate_(c):
    got = cross_validate(
        Ridge(), c.X, c.y, scoring=c.scorer, cv=c.cv, error_score="raise", **fit_params(c)
    )
    return got["test_score"], folds_by_hand(Ridge(), c)


def cross_val_predict_(c):
    """It takes no scorer: its predictions are scored afterwards, with the ids."""
    with sklearn.config_context(enable_metadata_routing=False):
        predicted = cross_val_predict(Ridge(), c.X, c.y, cv=c.cv)
    expected = np.empty(len(c.y))
    for train, test in c.splits:
        expected[test] = Ridge().fit(c.X.iloc[train], c.y[train]).predict(c.X.iloc[test])
    got = ndcg_score(c.y, predicted, groups=c.query, k=K, undefined=0.0)
    return got, by_hand(c.y, expected, c.query)


def learning_curve_(c):
    sizes, on_train, on_test = learning_curve(
        Ridge(),
        c.X,
        c.y,
        scoring=c.scorer,
        cv=c.cv,
        train_sizes=[30, 50],
        error_score="raise",
        **fit_params(c),
    )
    return [on_train, on_test], learning_curve_by_hand(c, sizes)


def learning_curve_by_hand(c, sizes):
    """Its cell is "yes" if no training set cuts more than one query."""
    train_expected, test_expected, most_cut = [], [], 0
    lengths = np.bincount(c.query)
    for size in sizes:
        firsts = [(train[:size], test) for train, test in c.splits]
        test_expected.append(folds_by_hand(Ridge(), c, firsts))
        train_expected.append(folds_by_hand(Ridge(), c, [(a, a) for a, _ in firsts]))
        counts = [np.bincount(c.query[a], minlength=len(lengths)) for a, _ in firsts]
        most_cut = max(most_cut, *(np.sum((n > 0) & (n < lengths)) for n in counts))
    cell = "no: queries are cut" if most_cut > 1 else "yes"
    return {cell: [train_expected, test_expected]}


def learning_curve_display(c):
    display = LearningCurveDisplay.from_estimator(
        Ridge(),
        c.X,
        c.y,
        scoring=c.scorer,
        cv=c.cv,
        train_sizes=[30, 50],
        error_score="raise",
        fit_params=c.metadata or None,
        ax=Figure().subplots(),
    )
    got = [display.train_scores, display.test_scores]
    return got, learning_curve_by_hand(c, display.train_sizes)


def validation_curve_(c):
    _, on_test = validation_curve(
        Ridge(),
        c.X,
        c.y,
        param_name="alpha",
        param_range=ALPHAS,
        scoring=c.scorer,
        cv=c.cv,
        error_score="raise",
        **fit_params(c),
    )
    return on_test, [folds_by_hand(Ridge(alpha=alpha), c) for alpha in ALPHAS]


def validation_curve_display(c):
    display = ValidationCurveDisplay.from_estimator(
        Ridge(),
        c.X,
        c.y,
        param_name="alpha",
        param_range=ALPHAS,
        scoring=c.scorer,
        cv=c.cv,
        error_score="raise",
        fit_params=c.metadata or None,
        ax=Figure().subplots(),
    )
    return display.test_scores, [folds_by_hand(Ridge(alpha=alpha), c) for alpha in ALPHAS]


def permutation_importance_(c, max_samples=1.0):
    """It has no `params`, so nothing can be routed. A query column is permuted like any other."""
    model = Ridge().fit(c.X, c.y)
    options = {"n_repeats": 2, "random_state": 0, "max_samples": max_samples}
    got = permutation_importance(model, c.X, c.y, scoring=c.scorer, **options)
    hand = ByHand(c.query)
    expected = permutation_importance(model, c.X, c.y, scoring=hand, **options)
    return got.importances, {hand.cell: expected.importances}


def permutation_importance_of_samples(c):
    return permutation_importance_(c, max_samples=0.4)


def permutation_test_score_(c, **groups):
    score, permuted, _ = permutation_test_score(
        Ridge(),
        c.X,
        c.y,
        scoring=c.scorer,
        cv=c.cv,
        n_permutations=3,
        random_state=0,
        **fit_params(c),
        **groups,
    )

    def expected(shuffled):
        random = np.random.RandomState(0)
        rows = np.arange(len(c.y))
        each = [folds_by_hand(Ridge(), c._replace(y=c.y[shuffled(rows, random)])) for _ in range(3)]
        return [folds_by_hand(Ridge(), c).mean(), *np.mean(each, axis=1)]

    return [score, *permuted], {
        "yes: y shuffled across queries": expected(across),
        "yes: y shuffled within queries": expected(lambda *args: within(c.query, *args)),
    }


def across(rows, random):
    return random.permutation(rows)


def within(query, rows, random):
    shuffled = rows.copy()
    for each in np.unique(query):
        shuffled[query == each] = random.permutation(rows[query == each])
    return shuffled


def permutation_test_score_within(c):
    return permutation_test_score_(c, groups=c.query)


def rfecv(c):
    selector = RFECV(Ridge(), scoring=c.scorer, cv=c.cv).fit(c.X, c.y, **c.metadata)
    sizes = range(1, c.X.shape[1] + 1)
    got = [fold_columns(selector.cv_results_, i) for i in range(len(sizes))]
    return got, [folds_by_hand(RFE(Ridge(), n_features_to_select=n), c) for n in sizes]


def sequential_feature_selector(c):
    """It gives no scores, so the choice of features is compared. It keeps the index of y."""
    selector = SequentialFeatureSelector(
        Ridge(), n_features_to_select=2, scoring=c.scorer, cv=c.cv
    ).fit(c.X, pd.Series(c.y, index=c.X.index), **c.metadata)
    chosen = []
    for _ in range(2):
        rest = [name for name in c.X if name not in chosen]
        scores = [folds_by_hand(Ridge(), c, X=c.X[[*chosen, name]]).mean() for name in rest]
        chosen.append(rest[int(np.argmax(scores))])
    return selector.get_support(), [name in chosen for name in c.X]


def nested(c):
    """The inner search splits by query too.

    Its groups come along as metadata or as a fit parameter, unless the splitter finds them itself.
    """
    if isinstance(c.cv, QuerySplitter):
        params, inner_cv = None, clone(c.cv).set_params(cv=3)
    else:
        params, inner_cv = {"groups": c.query}, GroupKFold(n_splits=3)
    search = GridSearchCV(
        Ridge(), {"alpha": ALPHAS}, scoring=c.scorer, cv=inner_cv, error_score="raise"
    )
    got = cross_val_score(
        search,
        c.X,
        c.y,
        scoring=c.scorer,
        cv=c.cv,
        error_score="raise",
        params=params,
    )
    expected = []
    for train, test in c.splits:
        X, y, query = c.X.iloc[train], c.y[train], c.query[train]
        if isinstance(c.cv, QuerySplitter):
            inner = splits_by_hand(KFold(n_splits=3, shuffle=True, random_state=0), query)
        else:
            inner = list(inner_cv.split(X, y, query))
        part = c._replace(X=X, y=y, query=query)
        scores = [folds_by_hand(Ridge(alpha=alpha), part, inner).mean() for alpha in ALPHAS]
        best = Ridge(alpha=ALPHAS[int(np.argmax(scores))]).fit(X, y)
        expected.append(by_hand(c.y[test], best.predict(c.X.iloc[test]), c.query[test]))
    return got, expected


def ridge_cv(c, cv=None):
    """It keeps only the best score, so each alpha is fitted alone."""
    got = [
        RidgeCV(alphas=[alpha], scoring=c.scorer, cv=cv).fit(c.X, c.y, **c.metadata).best_score_
        for alpha in ALPHAS
    ]
    if cv is None:
        return got, [left_out_by_hand(Ridge(alpha=alpha), c) for alpha in ALPHAS]
    return got, [folds_by_hand(Ridge(alpha=alpha), c).mean() for alpha in ALPHAS]


def ridge_cv_in_folds(c):
    return ridge_cv(c, c.cv)


def ridge_classifier_cv(c, cv=None):
    """It has no probabilities, so its classes are scored; it makes its own sample weights."""
    scorer = clone(c.scorer).set_params(response_method="predict")
    if c.metadata:
        scorer.set_score_request(sample_weight=False)
    alphas = ALPHAS[::2]
    got = [
        RidgeClassifierCV(alphas=[a], scoring=scorer, cv=cv).fit(c.X, GRADES[c.y], **c.metadata)
        for a in alphas
    ]

    def expected(y):
        models = [RidgeClassifier(alpha=a) for a in alphas]
        if cv is None:
            return [left_out_by_hand(model, c._replace(y=y)) for model in models]
        return [folds_by_hand(model, c._replace(y=y)).mean() for model in models]

    return [model.best_score_ for model in got], right_or_recoded(c, expected)


def ridge_classifier_cv_in_folds(c):
    return ridge_classifier_cv(c, c.cv)


def right_or_recoded(c, expected):
    return {"yes": expected(GRADES[c.y]), "no: grades are recoded": expected(c.y)}


def logistic_regression_cv(c):
    options = {"tol": 1e-6, "max_iter": 1000}
    model = LogisticRegressionCV(Cs=[0.001, 0.1], scoring=c.scorer, cv=c.cv, **options)
    scores = model.fit(c.X, GRADES[c.y], **c.metadata).scores_
    # an entry for each class, all the same, of folds by Cs; without legacy attributes an array
    scores = next(iter(scores.values())) if isinstance(scores, dict) else scores[:, 0]

    def expected(y):
        models = [LogisticRegression(C=C, **options) for C in model.Cs]
        return [folds_by_hand(m, c._replace(y=y), response=expected_grade) for m in models]

    return np.transpose(scores), right_or_recoded(c, expected)


def hist_gradient_boosting_classifier(c):
    """Its `fit` takes no metadata: nothing can be routed."""
    HistGradientBoostingClassifier(early_stopping=True, scoring=c.scorer).fit(c.X, c.y)


def hist_gradient_boosting_regressor(c):
    HistGradientBoostingRegressor(early_stopping=True, scoring=c.scorer).fit(c.X, c.y)


def tuned_threshold_classifier_cv(c):
    model = TunedThresholdClassifierCV(LogisticRegression(), scoring=c.scorer, cv=c.cv)
    model.fit(c.X, c.y > 1, **c.metadata)


def scoring_monitor(c, scoring=None):
    """It scores the training data after the fit and after each of its steps.

    `fit` takes no metadata where it is used: nothing can be routed.
    """
    from sklearn.callback import ScoringMonitor  # noqa: PLC0415  # scikit-learn 1.9

    several = clone(c.scorer).set_params(measure=replace(c.scorer.measure, k=[K]))
    monitor = ScoringMonitor(scoring=several if scoring is None else scoring)
    LogisticRegression(max_iter=4).set_callbacks(monitor).fit(c.X, c.y)
    name = "score" if isinstance(scoring, dict) else f"ndcg@{K}"
    got = [row[name] for row in monitor.get_logs().data if name in row]
    steps = [LogisticRegression(max_iter=n).fit(c.X, c.y) for n in range(1, 5)]
    expected = [by_hand(c.y, expected_grade(model, c.X), c.query) for model in steps]
    return got, [expected[-1], *expected]


def check_scoring_(c):
    assert check_scoring(Ridge(), scoring=c.scorer) is c.scorer
    return "returns the scorer"


def get_scorer_(c):
    assert get_scorer(c.scorer) is c.scorer
    return "returns the scorer"


# A row: the tool with options that matter, and the versions of scikit-learn if not all.
TOOLS = {
    "GridSearchCV": grid_search,
    "RandomizedSearchCV": randomized_search,
    "HalvingGridSearchCV": halving_search,
    'HalvingGridSearchCV(resource="n_samples")': halving_search_by_rows,
    "HalvingRandomSearchCV": halving_random_search,
    "cross_val_score": cross_val_score_,
    "cross_validate": cross_validate_,
    "cross_val_predict": cross_val_predict_,
    "nested CV": nested,
    "learning_curve": learning_curve_,
    "LearningCurveDisplay.from_estimator": learning_curve_display,
    "validation_curve": validation_curve_,
    "ValidationCurveDisplay.from_estimator": validation_curve_display,
    "permutation_importance": permutation_importance_,
    "permutation_importance(max_samples=0.4)": permutation_importance_of_samples,
    "permutation_test_score": permutation_test_score_,
    "permutation_test_score(groups=query)": permutation_test_score_within,
    "RFECV": rfecv,
    "SequentialFeatureSelector": sequential_feature_selector,
    "RidgeCV": ridge_cv,
    "RidgeCV(cv=splits)": ridge_cv_in_folds,
    "RidgeClassifierCV": ridge_classifier_cv,
    "RidgeClassifierCV(cv=splits)": ridge_classifier_cv_in_folds,
    "LogisticRegressionCV (since 1.8)": logistic_regression_cv,
    "LogisticRegressionCV (before 1.8)": logistic_regression_cv,
    "HistGradientBoostingClassifier": hist_gradient_boosting_classifier,
    "HistGradientBoostingRegressor": hist_gradient_boosting_regressor,
    "TunedThresholdClassifierCV": tuned_threshold_classifier_cv,
    "ScoringMonitor (since 1.9)": scoring_monitor,
    "check_scoring": check_scoring_,
    "get_scorer": get_scorer_,
}
SINCE = {"LogisticRegressionCV (since 1.8)": (1, 8), "ScoringMonitor (since 1.9)": (1, 9)}
BEFORE = {"LogisticRegressionCV (before 1.8)": (1, 8)}
ROWS = [row for row in TOOLS if SINCE.get(row, VERSION) <= VERSION < BEFORE.get(row, (99,))]
NO_SCORER = {"cross_val_predict", "nested CV"}  # rows without a scoring parameter
NO_SPLITTER = {
    "permutation_importance",
    "permutation_importance(max_samples=0.4)",
    "RidgeCV",
    "RidgeClassifierCV",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "ScoringMonitor (since 1.9)",
    "check_scoring",
    "get_scorer",
}

# parts of error messages, and the cells that they make
REFUSALS = {
    "got no groups": "no: no groups",
    "X arrived as ndarray": "no: X is an array",
    "binned": "no: X is binned",
    "`groups` can only be passed if metadata routing is not enabled": "no: only without routing",
    "no attribute '_score_func'": "no: only of make_scorer",
}


def tool_of(row):
    return row.split("(")[0].strip()


def takes_scorer(function):
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some classes in C have no signature
        return False
    return not {"scoring", "scorer", "scorers"}.isdisjoint(parameters)


@cache
def tools_of_scikit_learn():
    """Names of all public functions, classes and methods of classes that take a scorer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some formerly experimental modules are empty now
        for module in pkgutil.iter_modules(sklearn.experimental.__path__, "sklearn.experimental."):
            if ".enable_" in module.name:
                importlib.import_module(module.name)
    public = [*all_estimators(), *all_functions(), *all_displays()]
    for name in sklearn.__all__:  # not callbacks
        module = getattr(sklearn, name, None) or importlib.import_module(f"sklearn.{name}")
        if isinstance(module, ModuleType):
            public += inspect.getmembers(module, inspect.isclass)
    return those_that_take_a_scorer(public)


def those_that_take_a_scorer(public):
    found = set()
    for name, tool in public:
        if name.startswith("_") or inspect.isabstract(tool):
            continue
        if takes_scorer(tool):
            found.add(name)
        if inspect.isclass(tool):
            methods = inspect.getmembers(tool, callable)
            found |= {f"{name}.{m}" for m, f in methods if m[0] != "_" and takes_scorer(f)}
    return found


def cell_of(message):
    cells = [cell for words, cell in REFUSALS.items() if words in message]
    assert len(cells) == 1, message
    return cells[0]


@cache
def outcome(row, way):
    """What the table says in one cell, found by running it."""
    if way == "QuerySplitter" and row in NO_SPLITTER:
        return "takes no splitter"
    with case(way) as c, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = TOOLS[row](c)
        except (AttributeError, ValueError) as error:
            return cell_of(str(error))
    failed = [str(w.message) for w in caught if "Scoring failed" in str(w.message)]
    if failed:
        return f"{cell_of(failed[0])} (warning only)"
    assert found is not None, f"{row} no longer refuses: compare its scores"
    if isinstance(found, str):
        return found
    got, expected = found
    if not isinstance(expected, dict):
        expected = {"yes": expected}
    cells = [cell for cell, e in expected.items() if np.allclose(got, e, rtol=0, atol=1e-12)]
    assert len(cells) == 1, (row, way, cells, got, expected)
    return cells[0]


def table():
    """The table for this version of scikit-learn: rows of other versions are left out."""
    lines = ["| tool | " + " | ".join(WAYS) + " |", "|---" * (len(WAYS) + 1) + "|"]
    lines += [f"| {row} | " + " | ".join(outcome(row, way) for way in WAYS) + " |" for row in ROWS]
    return "\n".join(lines)


class FirstFeature(RegressorMixin, BaseEstimator):
    """Ranks by the first feature."""

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def p_values_of_noise():
    """p of permutation_test_score across and within queries, for data sets without any skill.

    The queries differ in how many relevant documents they have. The scores are random numbers, so
    any order of the documents of a query is as likely as any other.
    """
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        query = np.repeat(np.arange(40), rng.integers(3, 9, size=40))
        y = (rng.random(len(query)) < rng.choice([0.1, 0.9], size=40)[query]).astype(int)
        X = pd.DataFrame(rng.normal(size=(len(query), 1)), index=pd.Index(query, name="query"))
        every = np.arange(len(y))
        scorer = make_ndcg_scorer(k=K, undefined="omit")
        options = {"cv": [(every, every)], "n_permutations": 39, "random_state": 0}
        with sklearn.config_context(enable_metadata_routing=True):
            options_routed = {**options, "scoring": scorer, "params": {"groups": query}}
            *_, p_across = permutation_test_score(FirstFeature(), X, y, **options_routed)
        options_within = {**options, "scoring": clone(scorer).set_params(group_by="query")}
        *_, p_within = permutation_test_score(FirstFeature(), X, y, groups=query, **options_within)
        found.append((p_across, p_within))
    return np.transpose(found)


def importance_of_zeros(max_samples):
    """Importance of a column of zeros, and the mean length of the queries, whole and scored."""
    with case("index level") as c:
        X = c.X.assign(zeros=0.0)
        hand = ByHand(c.query)
        importances = permutation_importance(
            Ridge().fit(X, c.y), X, c.y, scoring=hand, max_samples=max_samples, random_state=0
        ).importances_mean
    return importances[-1], hand.lengths[0], np.mean(hand.lengths[1:])


if __name__ == "__main__":
    print(table())
    found = np.sum(p_values_of_noise() <= 0.05, axis=1)
    print("\np <= .05 in 20 data sets of noise, across and within queries:", *found)
    print("importance of zeros; documents per query, before and after max_samples=0.4:")
    print(*np.round(importance_of_zeros(0.4), 2))
