"""The first table of docs/compatibility.md, cell by cell: each tool of scikit-learn is run."""

import pages
import pytest
from scikit_learn_tools import (
    COLUMNS,
    NOTICED,
    ROWS,
    TOOLS,
    documented,
    outcome,
)

EVERYDAY = {"column", NOTICED}  # CI runs the others, too
SIMILAR = {  # tools that run like others
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "HistGradientBoostingRegressor",
    "LearningCurveDisplay",
    "RandomizedSearchCV",
    "RidgeCV(cv=splits)",
    "ValidationCurveDisplay",
    "cross_validate",
    "permutation_test_score(groups=query)",
}
CELLS = documented((pages.DOCS / "compatibility.md").read_text())


def marks(tool, column):
    is_everyday = column in EVERYDAY and tool not in SIMILAR and CELLS[tool, column] != "-"
    return () if is_everyday else pytest.mark.ci


@pytest.mark.parametrize(
    ("tool", "column"),
    [pytest.param(t, column, marks=marks(t, column)) for t in ROWS for column in COLUMNS],
)
def test_a_cell_is_as_documented(tool, column):
    assert outcome(tool, column) == CELLS[tool, column]


def test_the_page_has_every_tool_and_column():
    assert set(CELLS) == {(tool, column) for tool in TOOLS for column in COLUMNS}
