"""The tables of docs/other_tools.md, row by row: tests/tools/other_tools.py runs each tool.

Rows of tools that are not installed are left out here; ``nox -s tools`` runs them all.
"""

from pathlib import Path

import numpy as np
import pytest
from other_tools import (
    OTHERS,
    PAGE,
    SCORED,
    SHOWN,
    WAYS,
    by_hand,
    case,
    cell,
    installed,
    is_right,
    outcome,
)

ROOT = Path(__file__).parents[1]


def rows_of_the_page():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    return {name: cells for name, *cells in rows if cells[0][0].isdigit()}


def those_installed(table):
    return [row for row, tool in table.items() if installed(tool.package)]


def test_the_page_has_the_rows_of_the_tables():
    rows, tools = rows_of_the_page(), SCORED | OTHERS
    assert list(rows) == list(tools)
    assert [cells[-1] for cells in rows.values()] == [tool.note for tool in tools.values()]


def test_every_tool_is_installed_by_a_session():
    sessions = (ROOT / "noxfile.py").read_text()
    packages = {tool.package for tool in (SCORED | OTHERS).values()}
    assert not {package for package in packages if f'"{package}' not in sessions}


@pytest.mark.parametrize("row", those_installed(SCORED))
def test_a_scorer_is_right_where_the_page_says_so(row):
    cells = {way: outcome(row, way) for way in WAYS}
    assert cell({way: cells[way][0] for way in SHOWN}) == rows_of_the_page()[row][1], cells
    assert cells["callable"][0] == cells["index of X"][0], cells


def test_all_groups_refuses_rows_that_are_drawn():
    pytest.importorskip("optuna_integration")
    row = "`OptunaSearchCV(subsample=0.5)`"
    assert {outcome(row, way, guarded=True)[0] for way in SHOWN} == {"no"}


@pytest.mark.parametrize("row", those_installed(OTHERS))
def test_the_line_of_the_page_gives_what_is_right(row):
    assert is_right(row)


def test_xgbranker_weights_the_queries_of_a_metric_by_their_sizes():
    xgboost = pytest.importorskip("xgboost")
    with case() as c:
        rows = np.argsort(c.query, kind="stable")
        X, y, query = c.X.to_numpy()[rows], c.y[rows], c.query[rows]

    def metric(y_true, y_score):
        return by_hand(y_true, y_score, np.zeros(len(y_true)))

    ranker = xgboost.XGBRanker(n_estimators=3, n_jobs=1, eval_metric=metric)
    ranker.fit(X, y, qid=query, eval_set=[(X, y)], eval_qid=[query], verbose=False)
    score, sizes = ranker.predict(X), np.bincount(query)
    values = [metric(y[query == each], score[query == each]) for each in np.unique(query)]
    found = ranker.evals_result()["validation_0"]["metric"][-1]
    assert found == pytest.approx(np.average(values, weights=sizes), abs=1e-6)
    assert abs(found - np.mean(values)) > 0.001


def test_a_feval_of_lightgbm_finds_the_sizes_of_the_queries():
    lightgbm = pytest.importorskip("lightgbm")
    with case() as c:
        rows = np.argsort(c.query, kind="stable")
        X, y, query = c.X.to_numpy()[rows], c.y[rows], c.query[rows]
    found = []

    def feval(y_score, data):
        found.append(np.repeat(np.arange(len(data.get_group())), data.get_group()))
        return "ndcg", by_hand(data.get_label(), y_score, found[-1]), True

    data = lightgbm.Dataset(X, y, group=np.bincount(query))
    params = {"objective": "lambdarank", "metric": "None", "num_threads": 1, "verbose": -1}
    booster = lightgbm.train(params, data, 3, valid_sets=[data], feval=feval)
    np.testing.assert_array_equal(found[-1], query)
    expected = by_hand(y, booster.predict(X), query)
    assert booster.best_score["training"]["ndcg"] == pytest.approx(expected, abs=1e-9)
