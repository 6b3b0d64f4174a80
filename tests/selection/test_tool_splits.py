"""Cut queries are seen in tools of scikit-learn: these tests fail if it renames variables.

Every tool is tested in test_tool_matrix.py, and common mistakes in test_misuse.py. pytest makes a
warning that is not expected an error.
"""

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import graded_rows, run_python
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge, SGDRegressor
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
    learning_curve,
)

from sklearn_ndcg import (
    QueryLeakWarning,
    make_ndcg_scorer,
    one_ranking,
)
from sklearn_ndcg._selection import tool_splits

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
        pytest.param(np.c_[X, QUERY], 3, None, id="number"),
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
    counts = {f"{np.sum((n > 0) & (n < N_ROWS))} of the {np.sum(n > 0)}" for n in in_folds}
    assert {message.split(" scored")[0] for message in leaks(caught)} == counts


def test_cut_queries_of_an_incremental_learning_curve_are_seen():
    options = {"exploit_incremental_learning": True, "scoring": SCORER, **RAISE}
    with pytest.warns(QueryLeakWarning):
        learning_curve(SGDRegressor(), LEVEL, Y, cv=CUT, **options)
    learning_curve(SGDRegressor(), LEVEL, Y, cv=WHOLE, **options)


def test_the_warning_has_an_example_and_says_what_to_do():
    test = np.flatnonzero(QUERY != 4)[::2]
    n_here = np.bincount(QUERY[test], minlength=30)
    first = np.flatnonzero((n_here > 0) & (n_here < N_ROWS))[0]
    words = (
        f"than in the whole X: query {first} has {n_here[first]} here and {N_ROWS[first]} there"
        r".* QuerySplitter .* GroupKFold.*\.simplefilter\('ignore', QueryLeakWarning\)\.$"
    )
    with pytest.warns(QueryLeakWarning, match=words):
        cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=[(np.flatnonzero(QUERY == 4), test)])


def test_of_two_kinds_of_queries_in_one_search_one_is_cut():
    rows = LEVEL.set_index(pd.Index(QUERY // 3, name="country"), append=True)
    scoring = {by: clone(SCORER).set_params(group_by=by) for by in ("country", "q")}
    with pytest.warns(QueryLeakWarning) as caught:
        cross_validate(Ridge(), rows, Y, scoring=scoring, cv=WHOLE, **RAISE)
    assert len(leaks(caught)) == 3


# --- the nearest split counts, and only what a tool scores


def test_of_nested_searches_the_inner_one_sees_its_own_split():
    inner = GridSearchCV(Ridge(), GRID, scoring=SCORER, cv=CUT, **RAISE)
    with pytest.warns(QueryLeakWarning) as caught:
        cross_val_score(inner, LEVEL, Y, scoring=SCORER, cv=WHOLE, **RAISE)
    assert len(leaks(caught)) == 3 * 3 * 2  # folds, inner folds and candidates


def test_calls_by_hand_say_nothing():
    SCORER(Ridge().fit(LEVEL, Y), LEVEL[::2], Y[::2])


def test_training_rows_that_are_as_many_as_test_rows_say_nothing():
    query = pd.Index(np.repeat([0, 1, 2, 3], [3, 5, 4, 4]), name="q")
    rows = pd.DataFrame({"a": np.sin(np.arange(16.0))}, index=query)
    options = {"cv": [(range(8), range(8, 16))], "return_train_score": True, **RAISE}
    cross_validate(Ridge(), rows, np.arange(16) % 3, scoring=SCORER, **options)


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


# --- how it looks


def test_ids_of_all_rows_are_read_once_per_search():
    calls = []

    def group_by(X):
        calls.append(len(X))
        return X.index

    scorer = make_ndcg_scorer(group_by=group_by, undefined=0.0)
    search = GridSearchCV(Ridge(), GRID, scoring=scorer, cv=WHOLE, refit=False)
    for n_searches in (1, 2):
        search.fit(LEVEL, Y)
        assert calls.count(len(X)) == n_searches
        assert len(calls) == n_searches * (1 + 2 * 3)


def test_ids_that_change_in_place_between_searches_are_read_again():
    rows = X.assign(q=QUERY).to_numpy()
    scorer = make_ndcg_scorer(group_by=lambda X: X[:, 3], undefined=0.0)
    cross_val_score(Ridge(), rows, Y, scoring=scorer, cv=WHOLE, **RAISE)
    rows[:, 3] = np.arange(len(Y)) // 8
    with pytest.warns(QueryLeakWarning):
        cross_val_score(Ridge(), rows, Y, scoring=scorer, cv=WHOLE)


@pytest.mark.parametrize("names", [{"fit"}, set()])
def test_other_names_in_scikit_learn_are_no_error(monkeypatch, names):
    monkeypatch.setattr(tool_splits, "FUNCTIONS", names)
    scores = cross_val_score(Ridge(), LEVEL, Y, scoring=SCORER, cv=CUT, **RAISE)
    assert np.isfinite(scores).all()


@pytest.mark.ci
def test_worker_processes_see_it_too():
    code = """
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn_ndcg import make_ndcg_scorer
X = pd.DataFrame({"a": range(40)}, index=pd.Index(range(40), name="query") // 4)
scorer = make_ndcg_scorer(group_by="query", undefined=0.0)
cross_val_score(Ridge(), X, X["a"] % 3, scoring=scorer, cv=3, n_jobs=2)
"""
    printed = run_python(code, PYTHONWARNINGS="always").stderr
    assert printed.count("scored queries have another number of rows") == 3
