"""Run each tool of scikit-learn that takes a scorer, and compare its scores with a plain loop's.

    PYTHONPATH=tests python tests/tools/scikit_learn_tools.py

writes the table of docs/compatibility.md. Rows of tools that the installed scikit-learn does not
have stay as they are there.
"""

import warnings
from contextlib import suppress
from functools import cache, partial
from unittest import mock

import numpy as np
import pages
import pandas as pd
from helpers import SKLEARN_VERSION as VERSION
from matplotlib.figure import Figure
from sklearn.base import clone
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
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    LearningCurveDisplay,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    ValidationCurveDisplay,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.tree import DecisionTreeRegressor
from tool_cases import (
    ALPHAS,
    WAYS,
    Case,
    by_hand,
    case,
    folds_by_hand,
    means_by_hand,
    score_by_hand,
)

from sklearn_ndcg import QueryLeakWarning, QuerySplitter

NOTICED = "incomplete queries noticed"
COLUMNS = [*WAYS, "QuerySplitter", NOTICED]
GRADES = np.array([0, 2, 3, 5])  # for classifiers, which may confuse a grade with its number


# ---- how each tool is run: its scores, and those by hand (by cell, if it has a choice)


def scoring(c):
    return {"scoring": c.scorer, "cv": c.cv, "error_score": "raise"}


def of_folds(results):
    return np.transpose([results[f"split{i}_test_score"] for i in range(4)])


def search(make, c, **options):
    tree = DecisionTreeRegressor(random_state=0)
    found = make(tree, {"min_samples_leaf": [1, 2, 3]}, **options, **scoring(c))
    results = found.fit(c.X, c.y, **c.metadata).cv_results_
    hand = [folds_by_hand(clone(tree).set_params(**row), c) for row in results["params"]]
    return of_folds(results), hand


def halving_by_rows(c):
    options = {"resource": "n_samples", "min_resources": 48, "random_state": 0}
    HalvingGridSearchCV(Ridge(), {"alpha": ALPHAS}, **options, **scoring(c)).fit(
        c.X, c.y, **c.metadata
    )


def cross_validation(function, c):
    got = function(Ridge(), c.X, c.y, **scoring(c), **c.params)
    return got["test_score"] if isinstance(got, dict) else got, folds_by_hand(Ridge(), c)


def curve(function, c, **options):
    """The scores of a function or a display, which takes fit parameters of its own name."""
    if not hasattr(function, "__self__"):
        return function(Ridge(), c.X, c.y, **options, **scoring(c), **c.params)
    options |= {"fit_params": c.metadata or None, "ax": Figure().subplots()}
    found = function(Ridge(), c.X, c.y, **options, **scoring(c))
    sizes = [found.train_sizes] if hasattr(found, "train_sizes") else []
    return *sizes, found.train_scores, found.test_scores


def curve_of_alphas(function, c):
    _, got = curve(function, c, param_name="alpha", param_range=ALPHAS)
    return got, [folds_by_hand(Ridge(alpha=alpha), c) for alpha in ALPHAS]


def curve_of_sizes(function, c):
    """Its cell is "yes" if no training set cuts more than one query."""
    sizes, *got = curve(function, c, train_sizes=[30, 50])
    lengths, most_cut, hand = np.bincount(c.query), 0, [[], []]
    for size in sizes:
        firsts = [(train[:size], test) for train, test in c.splits]
        hand[0].append(folds_by_hand(Ridge(), c, splits=[(a, a) for a, _ in firsts]))
        hand[1].append(folds_by_hand(Ridge(), c, splits=firsts))
        counts = [np.bincount(c.query[a], minlength=len(lengths)) for a, _ in firsts]
        most_cut = max(most_cut, *(np.sum((n > 0) & (n < lengths)) for n in counts))
    return got, {"no: rows" if most_cut > 1 else "yes": hand}


def importances(c, **options):
    """It has no `params`, so nothing can be routed. A query column is permuted like any other."""
    model, options = Ridge().fit(c.X, c.y), {"n_repeats": 2, "random_state": 0} | options
    return [
        permutation_importance(model, c.X, c.y, scoring=scorer, **options).importances
        for scorer in (c.scorer, score_by_hand)
    ]


def within(rows, query, random):
    shuffled = rows.copy()
    for members in [query == each for each in np.unique(query)]:
        shuffled[members] = random.permutation(rows[members])
    return shuffled


SHUFFLES = {"across": lambda rows, query, random: random.permutation(rows), "within": within}


def permutation_test(c, **groups):
    options = {"n_permutations": 3, "random_state": 0, "scoring": c.scorer, "cv": c.cv}
    score, permuted, _ = permutation_test_score(Ridge(), c.X, c.y, **options, **c.params, **groups)
    hand = {}
    for name, shuffle in SHUFFLES.items():
        random, rows = np.random.RandomState(0), np.arange(len(c.query))
        cases = [c._replace(y=c.grades[shuffle(rows, c.query, random)]) for _ in range(3)]
        means = [folds_by_hand(Ridge(), each).mean() for each in (c, *cases)]
        hand[f"yes: y shuffled {name} queries"] = means
    return [score, *permuted], hand


def rfecv(c):
    selector = RFECV(Ridge(), scoring=c.scorer, cv=c.cv).fit(c.X, c.y, **c.metadata)
    sizes = range(1, c.X.shape[1] + 1)
    hand = [folds_by_hand(RFE(Ridge(), n_features_to_select=n), c) for n in sizes]
    return of_folds(selector.cv_results_), hand


def sequential_feature_selector(c):
    """It gives no scores, so the choice of features is compared."""
    selector = SequentialFeatureSelector(
        Ridge(), n_features_to_select=2, scoring=c.scorer, cv=c.cv
    ).fit(c.X, c.y, **c.metadata)
    chosen = []
    for _ in range(2):
        rest = [name for name in c.X if name not in chosen]
        scores = [folds_by_hand(Ridge(), c, c.X[[*chosen, name]]).mean() for name in rest]
        chosen.append(rest[int(np.argmax(scores))])
    return selector.get_support(), c.X.columns.isin(chosen)


def left_out_by_hand(model, c):
    """One score, of what is predicted for each row by a model of all others."""
    X, y, rows = c.X.to_numpy(), c.grades, np.arange(len(c.query))
    score = [clone(model).fit(X[rows != row], y[rows != row]).predict(X[[row]])[0] for row in rows]
    return by_hand(y, np.array(score), c.query)


def ridge_cv(c, cv=None):
    """It keeps only the best score, so each alpha is fitted alone."""
    models = [RidgeCV(alphas=[alpha], scoring=c.scorer, cv=cv) for alpha in ALPHAS]
    got = [model.fit(c.X, c.y, **c.metadata).best_score_ for model in models]
    return got, means_by_hand(c) if cv else [left_out_by_hand(Ridge(alpha=a), c) for a in ALPHAS]


def with_grades(c):
    """Classes that are not 0, 1, ... and those numbers, by cell."""
    right = c._replace(y=pd.Series(GRADES[c.grades], c.X.index))
    return {"yes": right, "no: classes": c}


def ridge_classifier_cv(c, cv=None):
    """It has no probabilities, so its classes are scored; it makes its own sample weights."""
    scorer, cases = clone(c.scorer).set_params(response_method="predict"), with_grades(c)
    if c.metadata:
        scorer.set_score_request(sample_weight=False)
    model = RidgeClassifierCV(alphas=[0.1], scoring=scorer, cv=cv)
    got = model.fit(c.X, cases["yes"].y, **c.metadata).best_score_
    loop = folds_by_hand if cv else left_out_by_hand
    return got, {cell: loop(RidgeClassifier(0.1), each).mean() for cell, each in cases.items()}


def expected_grade(model, X):
    return model.predict_proba(X) @ model.classes_


def logistic_regression_cv(c):
    options, cases = {"tol": 1e-6, "max_iter": 1000}, with_grades(c)
    model = LogisticRegressionCV(Cs=[0.01], scoring=c.scorer, cv=c.cv, **options)
    scores = model.fit(c.X, cases["yes"].y, **c.metadata).scores_
    # an entry for each class, all the same, of folds by Cs; without legacy attributes an array
    scores = next(iter(scores.values())) if isinstance(scores, dict) else scores[:, 0]
    by_fold = partial(folds_by_hand, LogisticRegression(C=0.01, **options), response=expected_grade)
    return np.ravel(scores), {cell: by_fold(each) for cell, each in cases.items()}


def early_stopping(make, c):
    """Its `fit` takes no metadata: nothing can be routed."""
    make(early_stopping=True, scoring=c.scorer).fit(c.X, c.y)


def tuned_threshold(c):
    model = TunedThresholdClassifierCV(LogisticRegression(), scoring=c.scorer, cv=c.cv)
    model.fit(c.X, c.grades > 1, **c.metadata)


def scoring_monitor(c):
    """It scores the training data after the fit, and after each step, without metadata."""
    from sklearn.callback import ScoringMonitor  # noqa: PLC0415  # scikit-learn 1.9

    monitor = ScoringMonitor(scoring=c.scorer)
    LogisticRegression(max_iter=4).set_callbacks(monitor).fit(c.X, c.y)


DEPTHS = {"resource": "max_depth", "max_resources": 9, "min_resources": 3}
DRAWS_ROWS = {
    'HalvingGridSearchCV(resource="n_samples")',
    "permutation_importance(max_samples=0.4)",
}
HALVING = partial(search, HalvingRandomSearchCV, n_candidates=3, random_state=0, **DEPTHS)
TOOLS = {
    "GridSearchCV": partial(search, GridSearchCV),
    "RandomizedSearchCV": partial(search, RandomizedSearchCV, n_iter=3, random_state=0),
    "HalvingGridSearchCV": partial(search, HalvingGridSearchCV, **DEPTHS),
    "HalvingRandomSearchCV": HALVING,
    'HalvingGridSearchCV(resource="n_samples")': halving_by_rows,
    "cross_val_score": partial(cross_validation, cross_val_score),
    "cross_validate": partial(cross_validation, cross_validate),
    "learning_curve": partial(curve_of_sizes, learning_curve),
    "LearningCurveDisplay": partial(curve_of_sizes, LearningCurveDisplay.from_estimator),
    "validation_curve": partial(curve_of_alphas, validation_curve),
    "ValidationCurveDisplay": partial(curve_of_alphas, ValidationCurveDisplay.from_estimator),
    "permutation_importance": importances,
    "permutation_importance(max_samples=0.4)": partial(importances, max_samples=0.4),
    "permutation_test_score": permutation_test,
    "permutation_test_score(groups=query)": lambda c: permutation_test(c, groups=c.query),
    "RFECV": rfecv,
    "SequentialFeatureSelector": sequential_feature_selector,
    "RidgeCV": ridge_cv,
    "RidgeCV(cv=splits)": lambda c: ridge_cv(c, c.cv),
    "RidgeClassifierCV": ridge_classifier_cv,
    "RidgeClassifierCV(cv=splits)": lambda c: ridge_classifier_cv(c, c.cv),
    "LogisticRegressionCV (since 1.8)": logistic_regression_cv,
    "LogisticRegressionCV (before 1.8)": logistic_regression_cv,
    "HistGradientBoostingClassifier": partial(early_stopping, HistGradientBoostingClassifier),
    "HistGradientBoostingRegressor": partial(early_stopping, HistGradientBoostingRegressor),
    "TunedThresholdClassifierCV": tuned_threshold,
    "ScoringMonitor (since 1.9)": scoring_monitor,
}
SINCE = {"LogisticRegressionCV (since 1.8)": (1, 8), "ScoringMonitor (since 1.9)": (1, 9)}
BEFORE = {"LogisticRegressionCV (before 1.8)": (1, 8)}
ROWS = [row for row in TOOLS if SINCE.get(row, VERSION) <= VERSION < BEFORE.get(row, (99,))]

# parts of error messages, and the cells that they make
REFUSALS = {
    "got no groups": "no: groups",
    "X arrived as ndarray": "no: array",
    "`groups` can only be passed if metadata routing is not enabled": "no: routing",
    "no attribute '_score_func'": "no: threshold",
    "have the same labels in their index, but in another order": "no: order of y",
}


def cell_of(message):
    [cell] = [cell for words, cell in REFUSALS.items() if words in message] or [message]
    return cell


@cache
def outcome(row, column):
    """The cell of a tool and a way, found by running it."""
    if column == NOTICED:
        return noticed(row)
    by_splitter = column == "QuerySplitter"
    asked = mock.patch.object(
        QuerySplitter, "split", autospec=True, side_effect=QuerySplitter.split
    )
    way = "index level" if by_splitter else column
    with (
        case(way, splitter=by_splitter) as c,
        warnings.catch_warnings(record=True) as caught,
        asked as split,
    ):
        warnings.simplefilter("always")
        try:
            found = TOOLS[row](c)
        except (AttributeError, ValueError) as error:
            return cell_of(str(error))
    if row in DRAWS_ROWS:  # and so scores parts of queries
        return "no: rows"
    failed = [str(w.message) for w in caught if "Scoring failed" in str(w.message)]
    if failed:
        return f"{cell_of(failed[0])} (warning only)"
    got, hand = found
    hand = hand if isinstance(hand, dict) else {"yes": hand}
    [cell] = [cell for cell, each in hand.items() if np.allclose(got, each, rtol=0, atol=1e-12)]
    if cell.startswith("yes"):
        assert not any(w.category is QueryLeakWarning for w in caught)
    return "takes no splitter" if by_splitter and not split.called else cell


def noticed(row):
    """Whether a tool that splits X warns of cut queries, for one of the ways to pass ids."""
    cells = ["-"]
    for way in WAYS:
        asked = []
        cv = property(lambda c, asked=asked: asked.append(c) or c.splits)
        with (
            case(way, splitter=False) as c,
            warnings.catch_warnings(record=True) as caught,
            mock.patch.object(Case, "cv", cv),
            suppress(AttributeError, ValueError),
        ):
            warnings.simplefilter("always")
            TOOLS[row](c._replace(cuts=True))
            if asked:
                leak = any(w.category is QueryLeakWarning for w in caught)
                cells.append("yes" if leak else "no")
    return max(cells)


# ---- the page


def documented(page):
    """Return the cells of a page, by tool and column; tools with the same cells share a row."""
    return {
        (tool, column): cell
        for tools, *cells in pages.rows(page, "scikit-learn's tools")
        for tool in tools.split(", ")
        for column, cell in zip(COLUMNS, cells, strict=True)
    }


def updated(page):
    """Return a page with the cells of all tools that are installed, as found by running them."""
    cells = documented(page)
    cells |= {(tool, column): outcome(tool, column) for tool in ROWS for column in COLUMNS}
    tools_by_cells = {}
    for tool in TOOLS:
        found = tuple(cells[tool, column] for column in COLUMNS)
        tools_by_cells.setdefault(found, []).append(tool)
    rows = [[", ".join(tools), *found] for found, tools in tools_by_cells.items()]
    return pages.write(page, "scikit-learn's tools", pages.table(["tool", *COLUMNS], rows))


if __name__ == "__main__":
    page = pages.DOCS / "compatibility.md"
    page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")
