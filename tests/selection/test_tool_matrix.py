"""The first table of docs/compatibility.md, cell by cell: each tool of scikit-learn is run."""

import importlib
import inspect
import pkgutil
import warnings
from types import ModuleType

import pages
import pytest
import sklearn
from scikit_learn_tools import (
    COLUMNS,
    NOTICED,
    ROWS,
    TOOLS,
    documented,
    outcome,
)
from sklearn.utils.discovery import all_displays, all_estimators, all_functions

EVERYDAY = {"column", NOTICED}  # CI runs the others, too
SIMILAR = {  # tools that run like others
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "HistGradientBoostingRegressor",
    "LearningCurveDisplay",
    "RandomizedSearchCV",
    "RidgeCV(cv=splits)",
    "SequentialFeatureSelector",
    "ValidationCurveDisplay",
    "cross_validate",
    "permutation_test_score(groups=query)",
    "validation_curve",
}
CELLS = documented((pages.DOCS / "compatibility.md").read_text(encoding="utf-8"))


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


def takes_scorer(function):
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some classes in C have no signature
        return False
    return not {"scoring", "scorer", "scorers"}.isdisjoint(parameters)


def public_objects():
    """Names and objects of scikit-learn, the experimental ones and callbacks too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some formerly experimental modules are empty now
        for module in pkgutil.iter_modules(sklearn.experimental.__path__, "sklearn.experimental."):
            if ".enable_" in module.name:
                importlib.import_module(module.name)
    found = [*all_estimators(), *all_functions(), *all_displays()]
    for name in sklearn.__all__:
        module = getattr(sklearn, name, None) or importlib.import_module(f"sklearn.{name}")
        if isinstance(module, ModuleType):
            found += inspect.getmembers(module, inspect.isclass)
    return [(name, tool) for name, tool in found if name[0] != "_" and not inspect.isabstract(tool)]


@pytest.mark.ci
def test_every_tool_of_scikit_learn_that_takes_a_scorer_has_a_row():
    found = set()
    for name, tool in public_objects():
        methods = inspect.getmembers(tool, callable) if inspect.isclass(tool) else []
        public = [method for method_name, method in methods if method_name[0] != "_"]
        if any(map(takes_scorer, [tool, *public])):
            found.add(name)
    rows = {row.split("(")[0].strip() for row in ROWS}
    assert rows == found - {"check_scoring", "get_scorer"}  # which return the scorer
