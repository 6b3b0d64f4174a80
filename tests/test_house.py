"""The structure of the package: imports go down only, and `__all__` lists what is public."""

import ast
import io
import re
import shutil
import sys
import tokenize
import tomllib
from graphlib import TopologicalSorter
from importlib.metadata import version
from inspect import cleandoc, getmembers, isclass, isfunction, ismethod, signature
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from helpers import run_python

import sklearn_ndcg
from sklearn_ndcg import _checks, _kernels
from sklearn_ndcg._metrics import measure

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sklearn_ndcg.__file__).parent
# A wing imports only from those below it, and only what their `__init__` lists.
WINGS = ["_checks", "_kernels", "_rows", "_lists", "_metrics", "frames", "_selection", "inference"]
# These files hold only imports; `frames/__init__.py` holds public functions.
DOORS = {"__init__", *(f"{wing}.__init__" for wing in WINGS if wing != "frames")}
# optional: imported inside a function or a try
OPTIONAL = {
    "_selection.stopping": {"catboost", "lightgbm", "xgboost", "xgboost.callback"},
}


def modules():
    """Dotted names of all modules, without the name of the package."""
    found = [path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py")]
    return sorted(".".join(each.parts) for each in found)


def path_of(module):
    return PACKAGE / f"{module.replace('.', '/')}.py"


def imports(module):
    """(module, name) of every import in a module, except the optional ones."""
    for node in ast.walk(ast.parse(path_of(module).read_text())):
        if isinstance(node, ast.Import):
            found = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [(node.module, alias.name) for alias in node.names]
        else:
            continue
        optional = OPTIONAL.get(module, ()) if node.col_offset else ()
        yield from ((source, name) for source, name in found if source not in optional)


def imports_of_the_package(module):
    """Dotted paths in the package that a module imports: "_rows.Grouping"."""
    for source, name in imports(module):
        if source.split(".")[0] == "sklearn_ndcg":
            yield f"{source}.{name}".removeprefix("sklearn_ndcg.")


def wings_and_modules():
    return {each.removesuffix(".__init__") for each in modules()}


@pytest.mark.parametrize("module", [each for each in modules() if each != "__init__"])
def test_wings_import_only_what_those_below_them_list(module):
    own_wing, known = module.split(".")[0], wings_and_modules()
    for path in imports_of_the_package(module):
        wing, *inside = path.split(".")
        assert WINGS.index(wing) <= WINGS.index(own_wing), f"{module} imports {path}, from above"
        if wing != own_wing:
            assert len(inside) <= 1, f"{module} passes by the __init__ of {wing}: {path}"
        private = path.split(".")[-1].startswith("_") and path not in known
        assert not private, f"{module} imports {path}, a private name"


def test_no_module_imports_itself_by_way_of_others():
    names = wings_and_modules()
    graph = {}
    for module in modules():
        found = imports_of_the_package(module)
        targets = {each if each in names else each.rpartition(".")[0] for each in found}
        graph[module.removesuffix(".__init__")] = targets & names
    TopologicalSorter(graph).prepare()  # raises for cycles


def file_that_tests(module):
    """The file that tests a module: tests/rows/test_ids.py for sklearn_ndcg/_rows/ids.py."""
    wing, _, name = module.rpartition(".")
    name = wing if name == "__init__" else name
    return ROOT / "tests" / wing.lstrip("_") / f"test_{name.lstrip('_')}.py"


@pytest.mark.parametrize("module", [each for each in modules() if each not in DOORS])
def test_every_module_has_tests_of_its_name(module):
    assert file_that_tests(module).exists()


def test_the_map_in_contributing_is_that_of_the_package_and_its_tests():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| .* \|(.*) \|$", text, re.M)
    mapped = {f"{wing}.{name}".removeprefix("sklearn_ndcg."): tests for wing, name, tests in rows}
    assert set(mapped) == {*modules(), "_kernels.compiled"}
    for module, tests in mapped.items():
        own = file_that_tests(module)
        listed = re.findall(r"`(\w+)`", tests)
        assert module in DOORS or listed[0] == own.stem
        assert all((own.parent / f"{each}.py").exists() for each in listed[1:])


@pytest.mark.parametrize("module", modules())
def test_only_public_names_of_dependencies_are_imported(module):
    for source, name in imports(module):
        if not source.startswith("sklearn_ndcg"):
            top = source.split(".")[0]
            known = {"__future__", "numpy", "scipy", "sklearn"}
            assert top in known | sys.stdlib_module_names
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
    path = path_of(module)
    lines = code_lines(path)
    assert len(lines) <= 330
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            length = len([line for line in lines if node.lineno <= line <= node.end_lineno])
            assert length <= 40, f"{node.name} has {length} lines of code"


METRICS = ["dcg_samples", "dcg_score", "ndcg_curve", "ndcg_samples", "ndcg_score"]
TABLES = {"gain": "GAINS", "discount": "DISCOUNTS", "ties": "TIES", "undefined": "UNDEFINED"}


@pytest.mark.parametrize("choice", TABLES)
def test_types_and_docstrings_list_every_name_of_a_table(choice):
    names = tuple(getattr(measure, TABLES[choice]))
    types = {
        "gain": _checks.NamedGain, "discount": _checks.NamedDiscount, "ties": _checks.Ties,
        "undefined": _checks.NamedUndefined,
    }  # fmt: skip
    assert get_args(types[choice]) == names
    for each in METRICS:
        function = getattr(sklearn_ndcg, each)
        if choice in signature(function).parameters:
            listed = re.search(rf"^ *{choice} : {{(.*?)}}", function.__doc__, re.M)[1]
            assert listed == ", ".join(f'"{name}"' for name in names), each


def test_the_options_of_scorers_and_evidence_are_those_of_the_metrics():
    data = {"y_true", "y_score", "groups", "k", "sample_weight"}
    for metric, options in (("ndcg_score", "NDCGChoices"), ("dcg_score", "DCGChoices")):
        names = set(signature(getattr(sklearn_ndcg, metric)).parameters) - data
        assert names == set(getattr(measure, options).__annotations__)


def test_all_is_what_is_public():
    assert sklearn_ndcg.__all__ == sorted(sklearn_ndcg.__all__)
    public = {
        name
        for name, value in getmembers(sklearn_ndcg, lambda v: isfunction(v) or isclass(v))
        if not name.startswith("_") and value.__module__.startswith("sklearn_ndcg")
    }
    assert public | {"CONVENTIONS"} == set(sklearn_ndcg.__all__)


# what functions return, described by attributes: tests/inference/test_public_results.py
RESULTS = {
    "Comparison", "Explanation", "GroupedScorer", "NDCGInterval", "QueryDifferences", "SegmentTable",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted({*sklearn_ndcg.__all__} - RESULTS - {"CONVENTIONS"}))
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


# summaries on the first line, no section for each thing, no sentence about a plain return value
NOT_ASKED_OF_DOCSTRINGS = {
    "GL01", "GL02", "GL03", "SA01", "SA04", "ES01", "EX01", "RT03", "SS06",
}  # fmt: skip


def documented_names():
    """Dotted names of public functions and classes, and of the methods that the latter define."""
    frames = pytest.importorskip("sklearn_ndcg.frames")
    for module in (sklearn_ndcg, frames):
        for name in set(module.__all__) - {"CONVENTIONS"}:
            public = getattr(module, name)
            yield f"{module.__name__}.{name}"
            for method in vars(public):  # functions have only private ones
                value = None if method.startswith("_") else getattr(public, method, None)
                if (isfunction(value) or ismethod(value)) and "sklearn_ndcg" in value.__module__:
                    yield f"{module.__name__}.{name}.{method}"


def test_numpydoc_finds_no_error():
    validation = pytest.importorskip("numpydoc.validate")
    found = []
    for name in documented_names():
        # results are made by functions, and their attributes are documented
        allowed = NOT_ASKED_OF_DOCSTRINGS | ({"PR01"} if name.split(".")[-1] in RESULTS else set())
        errors = validation.validate(name)["errors"]
        found += [f"{name}: {code} {text}" for code, text in errors if code not in allowed]
    assert not found


def test_the_scorers_take_the_options_of_the_metrics():
    shared = set(signature(sklearn_ndcg.ndcg_score).parameters)
    assert shared >= {"gain", "discount", "ties", "ignore_ties", "unjudged", "undefined"}
    assert shared ^ set(signature(sklearn_ndcg.dcg_score).parameters) == {
        "log_base", "undefined",
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
    kernels = "NumPy" if _kernels.backend is _kernels.numpy_kernels else "compiled"
    assert first == f"sklearn_ndcg {sklearn_ndcg.__version__}, {kernels} kernels"
    assert second.startswith(f"imported from {Path(sklearn_ndcg.__file__).parent}")
    assert any(np.__version__ in line for line in others if "numpy:" in line)


def test_show_versions_tells_source_without_kernels(tmp_path):
    files = shutil.ignore_patterns("compiled*", "__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "sklearn_ndcg", ignore=files)
    (tmp_path / "pyproject.toml").touch()
    said = "import sklearn_ndcg; sklearn_ndcg.show_versions()"
    copy = {"PYTHONPATH": str(tmp_path), "SKLEARN_NDCG_KERNELS": "numpy"}
    inside = run_python(said, **copy).stdout.splitlines()
    assert inside[1].startswith(f"imported from {tmp_path / 'sklearn_ndcg'}: source, without")


def test_typed():
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.parametrize("module", ["sklearn_ndcg", "sklearn_ndcg.frames"])
def test_options_are_keywords(module):
    """Only data come by position, so that options can be added in any order."""
    module = pytest.importorskip(module)
    functions = {name: getattr(module, name) for name in module.__all__}
    for display in (sklearn_ndcg.NDCGDisplay, sklearn_ndcg.inference.DifferenceDisplay):
        functions |= dict(getmembers(display, ismethod))  # from_predictions and others
    for name in ("check_group_splits", "jarvelin_kekalainen"):
        functions.pop(name, None)
    for name, function in functions.items():
        if not isclass(function) and callable(function):
            for each in signature(function).parameters.values():
                assert each.default is each.empty or each.kind is each.KEYWORD_ONLY, (name, each)
