"""The structure of the package: imports go down only, and `__all__` lists what is public."""

import ast
import io
import re
import shutil
import sys
import tokenize
import tomllib
from importlib.metadata import version
from inspect import cleandoc, getmembers, isclass, isfunction, ismethod, signature
from pathlib import Path

import numpy as np
import pytest
from helpers import run_python

import sklearn_ndcg
from sklearn_ndcg import _kernels
from sklearn_ndcg._definitions import DISCOUNTS, GAINS, OPTIONS

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sklearn_ndcg.__file__).parent
README = (ROOT / "README.md").read_text()
# Imports go from a floor to those below, never to a module of the same floor.
FLOORS = {
    "types": ["_typing"],
    "threads": ["_threads"],
    "ground": ["_checks", "_kernels", "_resampling"],
    "ids": ["_ids"],
    "terms": ["_columns", "_definitions", "_grouping"],
    "queries": ["_leaks", "_libraries", "_lists", "_queries", "_results"],
    "inputs": ["_inputs", "_lazy_frames", "_passes", "_samples", "_unions"],
    "entries": [
        "_comparisons", "_evidence", "_explanation", "_formats", "_grades", "_metrics", "_scorers",
        "_splitters", "frames",
    ],
    "estimators": ["_display", "_ranker"],
    "names": ["__init__"],
}  # fmt: skip
FLOOR = {module: i for i, modules in enumerate(FLOORS.values()) for module in modules}


# optional: imported inside a function or a try
OPTIONAL = {
    "_display": {"matplotlib.pyplot"},
    "_results": {"pandas"},
    "_lazy_frames": {"narwhals.stable.v2"},
    "_libraries": {"catboost", "lightgbm"},
    "_passes": {"duckdb"},
    "frames": {"narwhals.stable.v2"},
}


def imports(path):
    """(module, name) of every import in a file, except the optional ones."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [(node.module, alias.name) for alias in node.names]
        else:
            continue
        optional = OPTIONAL.get(path.stem, ()) if node.col_offset else ()
        yield from ((source, name) for source, name in found if source not in optional)


def modules():
    return sorted(path.stem for path in PACKAGE.glob("*.py"))


def test_every_module_has_its_floor():
    assert sorted(FLOOR) == modules()


def test_the_map_in_contributing_is_that_of_the_package():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    found = re.findall(r"^\| (\w+) \| `(\w+)` \|", text, re.M)
    mapped = {module: floor for floor, module in found}
    expected = {module: floor for floor, modules in FLOORS.items() for module in modules}
    assert mapped == expected | {"_ckernels": "ground"}


def test_the_path_of_y_score_in_contributing_follows_the_imports():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    drawn = re.search(r"```text\n(.*?)```", text, re.S)[1]
    way = re.findall(r"^ *(?:-> )?(_\w+)\.", drawn, re.M)
    assert way == ["_metrics", "_inputs", "_grouping", "_queries", "_kernels"]
    for upper, lower in (
        ("_metrics", "_inputs"), ("_inputs", "_grouping"), ("_inputs", "_queries"),
        ("_queries", "_kernels"),
    ):  # fmt: skip
        sources = {source.removeprefix("sklearn_ndcg.") for source, _ in ours(upper)}
        assert lower in sources, f"{upper} does not import {lower}"


def ours(module):
    """(module, name) of what a module of ours imports from another."""
    for source, name in imports(PACKAGE / f"{module}.py"):
        if source == "sklearn_ndcg":  # a module of ours as a whole
            yield f"sklearn_ndcg.{name}", ""
        elif source.startswith("sklearn_ndcg."):
            yield source, name


@pytest.mark.parametrize("module", modules())
def test_imports_go_down_only(module):
    for source, name in ours(module):
        target = source.removeprefix("sklearn_ndcg.")
        assert FLOOR[target] < FLOOR[module], f"{module} imports {target}, which is not below it"
        assert not name.startswith("_"), f"{module} imports the private {target}.{name}"


@pytest.mark.parametrize("module", modules())
def test_only_public_names_of_dependencies_are_imported(module):
    for source, name in imports(PACKAGE / f"{module}.py"):
        if not source.startswith("sklearn_ndcg"):
            top = source.split(".")[0]
            known = {"__future__", "joblib", "numpy", "scipy", "sklearn"} | sys.stdlib_module_names
            assert top in known | ({"narwhals"} if module == "frames" else set())
            private = [part for part in [*source.split("."), name] if part.startswith("_")]
            assert source == "__future__" or not private, f"{module} imports {source}.{name}"


def code_lines(path):
    """Line numbers that hold code: no docstrings, comments or blanks."""
    text = path.read_text()
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
               tokenize.ENDMARKER}  # fmt: skip
    found = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            found -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return found


@pytest.mark.parametrize("module", modules())
def test_modules_and_functions_are_short(module):
    path = PACKAGE / f"{module}.py"
    lines = code_lines(path)
    assert len(lines) <= 330
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            length = len([line for line in lines if node.lineno <= line <= node.end_lineno])
            assert length <= 40, f"{node.name} has {length} lines of code"


def test_the_docstrings_list_every_named_gain_and_discount():
    for function in (sklearn_ndcg.ndcg_score, sklearn_ndcg.dcg_score):
        for parameter, names in (("gain", GAINS), ("discount", DISCOUNTS)):
            listed = re.search(rf"^ *{parameter} : {{(.*?)}}", function.__doc__, re.M)[1]
            assert listed == ", ".join(f'"{name}"' for name in names)


def test_the_options_of_scorers_and_evidence_are_those_of_the_metrics():
    data = {"y_true", "y_score", "groups", "k", "sample_weight"}
    for metric, options in OPTIONS.items():
        assert set(signature(getattr(sklearn_ndcg, metric)).parameters) - data == set(options)


def test_all_is_what_is_public():
    assert sklearn_ndcg.__all__ == sorted(sklearn_ndcg.__all__)
    public = {
        name
        for name, value in getmembers(sklearn_ndcg, lambda v: isfunction(v) or isclass(v))
        if not name.startswith("_") and value.__module__.startswith("sklearn_ndcg")
    }
    assert public | {"CONVENTIONS"} == set(sklearn_ndcg.__all__)


@pytest.mark.parametrize("name", [n for n in sklearn_ndcg.__all__ if n != "CONVENTIONS"])
def test_docstring_names_every_parameter(name):
    function = getattr(sklearn_ndcg, name)
    doc = cleandoc(function.__doc__)  # Python 3.13 does that itself
    assert "\nExamples\n--------" in doc
    if isinstance(function, type) and issubclass(function, Warning):
        return
    assert ("\nParameters\n----------\n" in doc) == bool(signature(function).parameters)
    assert "{" not in doc.split("Parameters")[0]
    for parameter in signature(function).parameters:
        assert f"{parameter}" in doc.split("Returns")[0], parameter


def test_the_scorers_take_the_options_of_the_metrics():
    shared = set(signature(sklearn_ndcg.ndcg_score).parameters)
    assert shared >= {"gain", "discount", "ties", "ignore_ties", "unjudged", "replace_undefined_by"}
    assert shared ^ set(signature(sklearn_ndcg.dcg_score).parameters) == {
        "log_base", "replace_undefined_by",
    }  # fmt: skip
    for score, samples in (("ndcg_score", "ndcg_samples"), ("dcg_score", "dcg_samples")):
        one, other = (signature(getattr(sklearn_ndcg, n)).parameters for n in (score, samples))
        assert set(one) - set(other) == {"sample_weight"}
        assert all(one[p].default == other[p].default for p in other)


def test_version_is_that_of_the_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert sklearn_ndcg.__version__ == version("sklearn-ndcg") == project["version"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_import_needs_and_loads_no_extra():
    code = (
        "import sys, sklearn; before = set(sys.modules); import sklearn_ndcg;"
        "new = {name.split('.')[0] for name in set(sys.modules) - before};"
        "print(*new & {'pandas', 'polars', 'pyarrow', 'matplotlib', 'narwhals', 'lightgbm'})"
    )
    assert run_python(code).stdout == "\n"


def test_show_versions_names_the_active_kernels(capsys):
    sklearn_ndcg.show_versions()
    first, second, *others = capsys.readouterr().out.splitlines()
    kernels = "NumPy" if _kernels.backend is _kernels else "compiled"
    assert first == f"sklearn_ndcg {sklearn_ndcg.__version__}, {kernels} kernels"
    assert second.startswith(f"imported from {Path(sklearn_ndcg.__file__).parent}")
    assert f"numpy {np.__version__}" in others


def test_show_versions_tells_source_without_kernels(tmp_path):
    files = shutil.ignore_patterns("_ckernels*", "__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "sklearn_ndcg", ignore=files)
    (tmp_path / "pyproject.toml").touch()
    said = "import sklearn_ndcg; sklearn_ndcg.show_versions()"
    copy = {"PYTHONPATH": str(tmp_path), "SKLEARN_NDCG_KERNELS": "numpy"}
    inside = run_python(said, **copy).stdout.splitlines()
    assert inside[1].startswith(f"imported from {tmp_path / 'sklearn_ndcg'}: source, without")


def test_first_block_of_the_readme_needs_no_extra():
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    imported = set(re.findall(r"^>>> (?:import|from) (\w+)", block, re.MULTILINE))
    assert imported == {"numpy", "sklearn", "sklearn_ndcg"}


def test_pictures_of_the_readme_show_its_numbers():
    ways = "fold as one list|queries cut by KFold|whole queries"
    numbers = re.findall(rf"^(?:{ways}) +(0\.\d\d)$", README, re.MULTILINE)
    table = dict(re.findall(r"^\| `(\w+)` \|.*\| (0\.\d+) \|$", README, re.MULTILINE))
    six = ("trec_eval", "sklearn", "ranx", "catboost", "xgboost", "lightgbm")
    numbers += [f"{float(table[name]):.2f}" for name in six]
    for ground in ("light", "dark"):
        picture = (ROOT / "docs" / "_static" / f"front-{ground}.svg").read_text()
        assert re.findall(r">(0\.\d\d)<", picture) == numbers
    said = {number[1:] for number in (*numbers[:3], numbers[3], numbers[-1])}
    for page in (README, (ROOT / "docs" / "index.md").read_text()):
        assert set(re.findall(r"(?<![\d.])\.\d\d\b", page)) == said
        assert all(f" {number}" in page for number in numbers)  # the text of the picture


def test_badges_of_the_readme():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    badges = re.findall(r"shields.io/badge/(.*?)-blue", README)
    python = project["requires-python"].removeprefix(">=")
    sklearn = next(each for each in project["dependencies"] if each.startswith("scikit-learn"))
    assert badges == [
        f"python-{python}%2B",
        f"scikit--learn-{sklearn.removeprefix('scikit-learn>=')}%2B",
        f"license-{project['license'].replace('-', '--')}",
    ]


def test_typed():
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.parametrize("module", ["sklearn_ndcg", "sklearn_ndcg.frames"])
def test_options_are_keywords(module):
    """Only data come by position, so that options can be added in any order."""
    module = pytest.importorskip(module)
    functions = {name: getattr(module, name) for name in module.__all__}
    functions |= dict(getmembers(sklearn_ndcg.NDCGDisplay, ismethod))  # from_predictions and others
    for name in ("check_group_splits", "jarvelin_kekalainen"):
        functions.pop(name, None)
    for name, function in functions.items():
        if not isclass(function) and callable(function):
            for each in signature(function).parameters.values():
                assert each.default is each.empty or each.kind is each.KEYWORD_ONLY, (name, each)
