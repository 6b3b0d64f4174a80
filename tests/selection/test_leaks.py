"""Cut queries are seen in tools of scikit-learn: these tests fail if it renames variables.

Every tool is tested in test_tool_matrix.py, and common mistakes in test_misuse.py. pytest makes a
warning that is not expected an error.
"""

import gc
import warnings
import weakref
from types import FunctionType

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import graded_rows, run_python
from joblib import parallel_config
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge, RidgeCV, SGDRegressor
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline

from sklearn_ndcg import (
    GroupedRanker,
    QueryLeakWarning,
    QuerySplitter,
    make_ndcg_scorer,
    one_ranking,
)
from sklearn_ndcg._selection import leaks as module_of_leaks

pytestmark = [  # of cut queries
    pytest.mark.filterwarnings("ignore:.*a single document"),
    pytest.mark.filterwarnings("ignore:NDCG is undefined"),
]
X, Y, QUERY = graded_rows(n_queries=30)
N_ROWS = np.bincount(QUERY)
LEVEL = X.set_index(pd.Index(QUERY, name="q"))
CUT = KFold(3, shuffle=True, random_state=0)
WHOLE = list(GroupKFold(3).split(X, Y, QUERY))
SCORER = make_ndcg_scorer(k=3, group_by="q", undefined=0.0)
GRID = {"alpha": [0.1, 10]}
RAISE = {"error_score": "raise"}


def leaks(caught):
    return [str(item.message) for item in caught if item.category is QueryLeakWarning]


# --- every way of passing the ids


@pytest.mark.filterwarnings("ignore:The column of ids")
@pytest.mark.parametrize(
    ("rows", "group_by", "routed"),
    [
        pytest.param(
            LEVEL.set_index(pd.Index(QUERY // 5, name="r"), append=True),
            ["r", "q"],
            None,
            id="levels",
        ),
        pytest.param(LEVEL, lambda X: X.groupby(X.index).ngroup().to_numpy(), None, id="callable"),
        pytest.param(X, None, "groups", id="routed"),
        pytest.param(X, None, "session", id="alias"),
    ],
)
def test_cut_queries_of_each_fold_are_counted(rows, group_by, routed):
    scorer = make_ndcg_scorer(k=3, group_by=group_by, undefined=0.0)
    options = {"return_train_score": True, "params": {routed: QUERY} if routed else None, **RAISE}
    with sklearn.config_context(enable_metadata_routing=bool(routed)):
        if routed == "session":
            scorer.set_score_request(groups="session")
        scorers = {"first": scorer, "second": clone(scorer).set_params(response_method="predict")}
        with pytest.warns(QueryLeakWarning) as caught:
            cross_validate(Ridge(), rows, Y, scoring=scorers, cv=CUT, **options)
        cross_validate(Ridge(), rows, Y, scoring=scorers, cv=WHOLE, **options)
    assert {item.filename for item in caught} == {__file__}
    in_folds = [np.bincount(QUERY[test], minlength=30) for _, test in CUT.split(X)]
    counts = {f"{np.sum((n > 0) & (n < N_ROWS))} of {np.sum(n > 0)}" for n in in_folds}
    assert len(leaks(caught)) == 3
    assert {message.split(" queries")[0] for message in leaks(caught)} == counts


def test_cut_queries_of_a_single_scorer_under_an_alias_are_seen(routing):
    scorer = make_ndcg_scorer(k=3, undefined=0.0).set_score_request(groups="session")
    options = {"scoring": scorer, "params": {"session": QUERY}, **RAISE}
    with pytest.warns(QueryLeakWarning) as caught:
        cross_validate(Ridge(), X, Y, cv=CUT, **options)
    assert len(leaks(caught)) == 3
    cross_validate(Ridge(), X, Y, cv=WHOLE, **options)


def test_cut_queries_of_an_incremental_learning_curve_are_seen():
    options = {"exploit_incremental_learning": True, "scoring": SCORER, **RAISE}
    with pytest.warns(QueryLeakWarning):
        learning_curve(SGDRegressor(), LEVEL, Y, cv=CUT, **options)
    learning_curve(SGDRegressor(), LEVEL, Y, cv=WHOLE, **options)


def test_the_example_is_the_first_by_its_id():
    ids = np.array(["b", "a", "c"])[np.arange(12) % 3]
    rows = pd.DataFrame({"a": np.arange(12.0)}, index=pd.Index(ids, name="q"))
    with pytest.warns(QueryLeakWarning, match="query 'a' is scored on"):
        cross_val_score(Ridge(), rows, np.arange(12) % 2, scoring=SCORER, cv=2)


def test_the_warning_has_an_example_and_says_what_to_do():
    train, test = next(CUT.split(X))
    n_here, n_trained = (np.bincount(QUERY[rows], minlength=30) for rows in (test, train))
    first = np.flatnonzero((n_here > 0) & (n_trained > 0))[0]
    words = (
        rf"^\d+ of \d+ queries of the test set have rows in the training set, too: query {first} "
        rf"is scored on {n_here[first]} of its {N_ROWS[first]} rows, and the score may be wrong\. "
        r"Split whole queries, .* QuerySplitter .* GroupKFold\. .* name the finer ids: group_by=\["
    )
    with pytest.warns(QueryLeakWarning, match=words):
        cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=[(train, test)])


def test_of_two_kinds_of_queries_in_one_search_one_is_cut():
    rows = LEVEL.set_index(pd.Index(QUERY // 3, name="country"), append=True)
    scoring = {by: clone(SCORER).set_params(group_by=by) for by in ("country", "q")}
    with pytest.warns(QueryLeakWarning) as caught:
        cross_validate(Ridge(), rows, Y, scoring=scoring, cv=WHOLE, **RAISE)
    assert len(leaks(caught)) == 3


# --- the nearest split counts, and only what a tool scores


@pytest.mark.parametrize("names", [("user", "session"), ("session", "user")])
def test_kinds_of_queries_that_are_alike_in_a_test_set_are_told_apart(names):
    user = np.array([0, 0, 1, 1, 0, 0, 1, 1])  # with two sessions each, which are whole
    table = pd.DataFrame({"x": np.arange(8.0), "user": user, "session": np.arange(8) // 2})
    scoring = {name: make_ndcg_scorer(group_by=name) for name in names}
    model = make_pipeline(ColumnTransformer([("x", "passthrough", ["x"])]), Ridge())
    with pytest.warns(QueryLeakWarning) as caught:
        cross_validate(model, table, [1, 0] * 4, scoring=scoring, cv=KFold(2))
    assert len(leaks(caught)) == 2  # of users in each fold


def test_of_nested_searches_the_inner_one_sees_its_own_split():
    inner = GridSearchCV(Ridge(), GRID, scoring=SCORER, cv=CUT, **RAISE)
    with pytest.warns(QueryLeakWarning) as caught:
        cross_val_score(inner, LEVEL, Y, scoring=SCORER, cv=WHOLE, **RAISE)
    assert len(leaks(caught)) == 3 * 3  # folds and inner folds


def test_a_cut_is_said_once_for_each_fold_and_again_of_another_split():
    grid = {"alpha": [0.1, 1, 10]}
    for cv in (5, KFold(5, shuffle=True, random_state=0)):
        with pytest.warns(QueryLeakWarning) as caught:
            GridSearchCV(Ridge(), grid, scoring=SCORER, cv=cv).fit(LEVEL, Y)
        assert len(leaks(caught)) == 5
    GridSearchCV(Ridge(), grid, scoring=SCORER, cv=5).fit(LEVEL, Y)  # of which was spoken
    GridSearchCV(Ridge(), grid, scoring=SCORER, cv=GroupKFold(5)).fit(LEVEL, Y, groups=QUERY)


def test_folds_with_the_same_ids_are_told_apart():
    rows = pd.DataFrame({"a": np.arange(12.0)}, index=pd.Index(np.arange(12) % 3, name="q"))
    with pytest.warns(QueryLeakWarning) as caught:
        cross_val_score(Ridge(), rows, np.arange(12) % 2, scoring=SCORER, cv=4)
    assert len(leaks(caught)) == 4


def test_calls_by_hand_say_nothing():
    SCORER(Ridge().fit(LEVEL, Y), LEVEL[::2], Y[::2])


def test_training_rows_that_are_as_many_as_test_rows_say_nothing():
    query = pd.Index(np.repeat([0, 1, 2, 3], [3, 5, 4, 4]), name="q")
    rows = pd.DataFrame({"a": np.sin(np.arange(16.0))}, index=query)
    options = {"cv": [(range(8), range(8, 16))], "return_train_score": True, **RAISE}
    cross_validate(Ridge(), rows, np.arange(16) % 3, scoring=SCORER, **options)


def test_training_rows_that_have_the_shape_of_the_test_rows_say_nothing():
    """Half of each query is in each set: the training rows are not a second cut."""
    rows = LEVEL[:16].set_index(pd.Index(np.arange(16) // 4, name="q"))
    half = np.arange(16) % 2 == 0
    options = {"cv": [(half, ~half)], "return_train_score": True, **RAISE}
    with pytest.warns(QueryLeakWarning) as caught:
        cross_validate(Ridge(), rows, np.arange(16) % 3, scoring=SCORER, **options)
    assert len(leaks(caught)) == 1


def test_training_rows_of_a_learning_curve_say_nothing():
    learning_curve(Ridge(), LEVEL, Y, scoring=SCORER, cv=WHOLE, train_sizes=[20], **RAISE)


@pytest.mark.parametrize("group_by", [one_ranking, "one"])
def test_folds_that_are_one_ranking_are_not_cut(group_by):
    rows = X.set_index(pd.Index(np.zeros(len(X)), name="one"))
    scorer = make_ndcg_scorer(group_by=group_by)
    cross_val_score(Ridge(), rows, Y, scoring=scorer, cv=CUT, **RAISE)


def test_splits_may_be_masks():
    half, known = np.arange(len(Y)) % 2 == 0, QUERY < 15
    cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=[(known, ~known)], **RAISE)
    with pytest.warns(QueryLeakWarning):
        cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=[(half, ~half)])


@pytest.mark.parametrize(
    ("ids", "train", "test", "words"),
    [
        ([0, 0, 1, 1], [0], [1, 2, 3], "1 of 2 queries .* query 0 is scored on 1 of its 2 rows"),
        ([0, 0, 0, 1, 1], [0, 1, 2, 3], [4], "1 of 1 queries .* query 1 is scored on 1 of its 2 "),
    ],
    ids=["beside one that is only tested", "alone"],
)
def test_a_cut_query_is_seen(ids, train, test, words):
    rows = pd.DataFrame({"a": np.arange(float(len(ids)))}, index=pd.Index(ids, name="q"))
    with pytest.warns(QueryLeakWarning, match=f"^{words}"):
        cross_val_score(Ridge(), rows, np.arange(len(ids)) % 2, scoring=SCORER, cv=[(train, test)])


# --- sound splits say nothing: 36 of them, and what else scores rows inside a tool

SPLITTERS = {
    "LeaveOneGroupOut": (LeaveOneGroupOut(), QUERY // 10),
    "LeavePGroupsOut": (LeavePGroupsOut(2), QUERY // 10),
    "GroupKFold": (GroupKFold(3), QUERY),
    "GroupShuffleSplit": (GroupShuffleSplit(3, random_state=0), QUERY),
    "StratifiedGroupKFold": (StratifiedGroupKFold(3), QUERY),
    "PredefinedSplit": (PredefinedSplit(QUERY % 3), None),
    "QuerySplitter": (QuerySplitter(3, group_by="q"), None),
    "repeated": (QuerySplitter(RepeatedKFold(n_splits=2, n_repeats=2), group_by="q"), None),
    "stratified": (QuerySplitter(StratifiedKFold(3), group_by="q"), None),
    "in time": (QuerySplitter(TimeSeriesSplit(3), group_by="q"), None),
    "LeaveOneOut": (QuerySplitter(LeaveOneOut(), group_by="q"), None),
    "holdout": (QuerySplitter(ShuffleSplit(1, random_state=0), group_by="q"), None),
}
MODELS = {
    "Ridge": Ridge(),
    "GroupedRanker": GroupedRanker(Ridge(), group_by="q"),
    "Pipeline": make_pipeline("passthrough", Ridge()),
}


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("model", MODELS)
def test_sound_splits_say_nothing(splitter, model):
    cv, groups = SPLITTERS[splitter]
    order = np.random.default_rng(0).permutation(len(Y))
    cv = list(cv.split(LEVEL, Y, groups))[:5]  # LeaveOneOut has 30
    place = np.argsort(order)
    shuffled = [(place[train], place[test]) for train, test in cv]
    for rows, y, splits in ((LEVEL, Y, cv), (LEVEL.iloc[order], Y[order], shuffled)):
        options = {"scoring": SCORER, "cv": splits, "return_train_score": True, **RAISE}
        cross_validate(MODELS[model], rows, y, **options)


def as_many_rows(n_queries=20):
    """Rows of which both halves of the queries have as many, and the halves."""
    query = np.repeat(np.arange(n_queries), [4, 6] * (n_queries // 2))
    rows = np.random.default_rng(0).normal(size=(len(query), 3))
    first = np.isin(query, [0, 1, 2, 5, 6, 7, 8, 9, 10, 13])
    assert first.sum() == len(query) / 2
    X = pd.DataFrame(rows, index=pd.Index(query, name="q"))
    return X, query, np.arange(len(X)) % 3, [(first, ~first), (~first, first)]


def test_test_rows_in_another_order_say_nothing():
    rows, _, y, cv = as_many_rows()

    def best_first(model, X, y):
        order = np.argsort(-model.predict(X))
        return SCORER(model, X.iloc[order], y[order])

    cross_val_score(Ridge(), rows, y, scoring=best_first, cv=cv, **RAISE)


def test_training_rows_that_an_estimator_scores_say_nothing():
    rows, query, y, cv = as_many_rows()
    scorer = make_ndcg_scorer(undefined=0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        options = {"scoring": scorer, "cv": cv, "params": {"groups": query}}
        cross_val_score(RidgeCV(scoring=scorer), rows, y, **options, **RAISE)


def test_a_scorer_that_copies_its_rows_says_nothing_of_training_rows():
    rows, _, y, cv = as_many_rows()
    options = {"cv": cv, "return_train_score": True, **RAISE}
    cross_validate(Ridge(), rows, y, scoring=lambda m, X, y: SCORER(m, X.copy(), y), **options)


def test_a_scorer_that_copies_its_rows_sees_cut_queries():
    with pytest.warns(QueryLeakWarning):
        cross_val_score(Ridge(), LEVEL, Y, scoring=lambda m, X, y: SCORER(m, X.copy(), y), cv=CUT)


JUDGED = np.random.default_rng(0).random(len(Y)) < 0.8


@pytest.mark.parametrize(
    "cv",
    [
        pytest.param([(train, test[JUDGED[test]]) for train, test in WHOLE], id="test rows"),
        pytest.param([(train[JUDGED[train]], test) for train, test in WHOLE], id="training rows"),
        pytest.param(
            [(train[JUDGED[train]], test[JUDGED[test]]) for train, test in WHOLE], id="both"
        ),
    ],
)
def test_rows_that_are_in_neither_set_say_nothing(cv):
    cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=cv, **RAISE)


@pytest.mark.parametrize("module", [__name__, "sklearnex.model_selection"])
def test_functions_of_others_are_not_looked_into(module):
    def _fit_and_score(model, X, y, train, test):
        X_train, X_test, score_params = X[train], X[test], {}  # noqa: F841
        return SCORER(model.fit(X_train, y[train]), X_test, y[test])

    function = FunctionType(_fit_and_score.__code__, globals() | {"__name__": module})
    function(Ridge(), LEVEL, Y, np.arange(len(Y)) < 53, np.arange(len(Y)) >= 53)


def test_a_test_set_that_is_also_trained_on_says_nothing():
    every = np.arange(len(Y))
    cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=[(every, every)], **RAISE)


# --- what is kept


class Ids:
    """A `group_by` that can be weakly referred to."""

    def __call__(self, X):
        return X.index


def routed_search(rows):
    ids = pd.Series(QUERY, rows.index)
    scorer = make_ndcg_scorer(undefined=0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        options = {"scoring": scorer, "cv": WHOLE, "params": {"groups": ids}}
        cross_val_score(Ridge(), rows, Y, **options, **RAISE)
    return weakref.ref(ids)


def search_by_a_callable(rows):
    ids = Ids()
    scorer = make_ndcg_scorer(group_by=ids, undefined=0.0)
    cross_val_score(Ridge(), rows, Y, scoring=scorer, cv=WHOLE, **RAISE)
    return weakref.ref(ids)


def search_of_rows(rows):
    rows = rows.copy()
    cross_val_score(Ridge(), rows, Y, scoring=SCORER, cv=WHOLE, **RAISE)
    return weakref.ref(rows)


@pytest.mark.parametrize("search", [routed_search, search_by_a_callable, search_of_rows])
def test_nothing_of_the_user_is_kept_alive(search):
    kept = search(LEVEL)
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_of_one_search_see_cut_queries(n_jobs):
    options = {"scoring": SCORER, "cv": CUT, "n_jobs": n_jobs}
    with warnings.catch_warnings(record=True) as caught, parallel_config("threading"):
        warnings.simplefilter("always")
        cross_val_score(Ridge(), LEVEL, Y, **options)
    assert len(leaks(caught)) == 3


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(module_of_leaks, "_MOST", 2)
    for _ in range(2):  # three folds, of which one is remembered the second time
        with pytest.warns(QueryLeakWarning):
            cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=CUT)
    assert len(module_of_leaks._test_sets) <= 2
    assert len(module_of_leaks._said) <= 2


# --- how it looks


def test_ids_of_all_rows_are_read_once_for_each_fold():
    lengths = []

    def read(X):
        lengths.append(len(X))
        return X.index

    scorer = make_ndcg_scorer(group_by=read, undefined=0.0)
    GridSearchCV(Ridge(), {"alpha": range(1, 6)}, scoring=scorer, cv=WHOLE).fit(LEVEL, Y)
    assert lengths.count(len(Y)) == 3
    assert len(lengths) == 5 * 3 + 3


def test_other_training_rows_of_a_sound_test_set_are_looked_at():
    train, test = WHOLE[0]
    options = {"scoring": SCORER, **RAISE}
    cross_val_score(Ridge(), LEVEL, Y, cv=[(train, test[1:])], **options)
    with pytest.warns(QueryLeakWarning, match="^1 of"):
        cross_val_score(Ridge(), LEVEL, Y, cv=[(np.append(train, test[0]), test[1:])], **options)


@pytest.mark.parametrize("names", [{"fit"}, set()])
def test_other_names_in_scikit_learn_are_no_error(monkeypatch, names):
    monkeypatch.setattr(module_of_leaks, "FUNCTIONS", names)
    scores = cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=CUT, **RAISE)
    assert np.isfinite(scores).all()


@pytest.mark.ci
def test_worker_processes_see_it_too():
    code = """
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn_ndcg import make_ndcg_scorer
X = pd.DataFrame({"a": range(40)}, index=pd.Index(range(40), name="query") // 4)
scorer = make_ndcg_scorer(group_by="query", undefined=0.0)
grid = {"alpha": range(1, 21)}
GridSearchCV(Ridge(), grid, scoring=scorer, cv=3, n_jobs=2).fit(X, X["a"] % 3)
"""
    printed = run_python(code, PYTHONWARNINGS="always").stderr
    assert 3 <= printed.count("have rows in the training set") <= 6  # in two processes
