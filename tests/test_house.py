"""The structure of the package: imports go down only, and `__all__` lists what is public."""

import ast
import io
import re
import sys
import tokenize
import tomllib
from graphlib import TopologicalSorter
from importlib import import_module
from importlib.metadata import version
from inspect import cleandoc, isclass, isfunction, ismethod, signature
from pathlib import Path
from typing import get_args, is_typeddict

import numpy as np
import pytest
from helpers import run_python

import sklearn_ndcg
from sklearn_ndcg import _checks, _kernels, inference
from sklearn_ndcg._metrics import measure

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sklearn_ndcg.__file__).parent
# A wing imports modules, or names of modules, only from those below it.
WINGS = ["_checks", "_kernels", "_rows", "_lists", "_metrics", "frames", "_selection", "inference"]
DOORS = {f"{wing}.__init__" for wing in ("_rows", "_lists", "_metrics", "_selection")}  # are empty
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


def syntax(module):
    return ast.walk(ast.parse(path_of(module).read_text()))


def imports(module):
    """(module, name) of every import in a module, except the optional ones."""
    for node in syntax(module):
        if isinstance(node, ast.Import):
            pairs = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            pairs = [(node.module, alias.name) for alias in node.names]
        else:
            continue
        optional = OPTIONAL.get(module, ()) if node.col_offset else ()
        yield from ((source, name) for source, name in pairs if source not in optional)


def imports_of_the_package(module):
    """Dotted paths in the package that a module imports: "_rows.grouping.Grouping"."""
    for source, name in imports(module):
        if source.split(".")[0] == "sklearn_ndcg":
            yield f"{source}.{name}".removeprefix("sklearn_ndcg.")


def wings_and_modules():
    return {module.removesuffix(".__init__") for module in modules()}


@pytest.mark.parametrize("module", [module for module in modules() if module != "__init__"])
def test_wings_import_only_from_those_below_them(module):
    own_wing = module.split(".")[0]
    for path in imports_of_the_package(module):
        wing = path.split(".")[0]
        assert WINGS.index(wing) <= WINGS.index(own_wing), f"{module} imports {path}, from above"


@pytest.mark.parametrize("module", modules())
def test_no_private_name_of_another_module_is_used(module):
    paths = set(imports_of_the_package(module))
    imported = {path.split(".")[-1] for path in paths}
    for path in paths - wings_and_modules():
        assert not path.split(".")[-1].startswith("_"), f"{module} imports {path}, a private name"
    for node in syntax(module):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            private = node.attr.startswith("_") and node.value.id in imported
            assert not private, f"{module} uses {node.value.id}.{node.attr}, a private name"


def test_no_module_imports_itself_by_way_of_others():
    names = wings_and_modules()
    graph = {}
    for module in modules():
        paths = imports_of_the_package(module)
        targets = {path if path in names else path.rpartition(".")[0] for path in paths}
        graph[module.removesuffix(".__init__")] = targets & names
    TopologicalSorter(graph).prepare()  # raises for cycles


@pytest.mark.parametrize("door", sorted(DOORS))
def test_doors_are_empty(door):
    assert not code_lines(path_of(door))


def test_the_map_in_contributing_is_that_of_the_package_and_its_tests():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| .* \|(.*) \|$", text, re.M)
    mapped = {f"{wing}.{name}".removeprefix("sklearn_ndcg.") for wing, name, _ in rows}
    assert mapped == {*modules(), "_kernels.compiled"} - DOORS
    for wing, _, tests in rows:
        folder = ROOT / "tests" / wing.lstrip("_").removeprefix("sklearn_ndcg")
        assert all((folder / f"{name}.py").exists() for name in re.findall(r"`(\w+)`", tests))


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
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def test_the_package_is_small():
    assert sum(len(code_lines(path_of(module))) for module in modules()) <= 5650


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
    for metric, kind, own in (
        (sklearn_ndcg.ndcg_score, measure.NDCGOptions, set()),
        (sklearn_ndcg.dcg_score, measure.MeasureOptions, {"log_base"}),
    ):
        assert set(signature(metric).parameters) - data - own == set(kind.__annotations__)


def test_options_are_listed_in_three_typed_dicts():
    pytest.importorskip("narwhals", reason="the extra `frames` is not installed")
    kinds = set()
    for module in modules():
        imported = import_module(f"sklearn_ndcg.{module}".removesuffix(".__init__"))
        kinds |= {kind for kind in vars(imported).values() if is_typeddict(kind)}
    names = {kind.__name__ for kind in kinds}
    assert names == {"MeasureOptions", "NDCGOptions", "DisplayOptions"}


# classes of attributes of public objects
HELD = {
    "Change",
    "ConfidenceInterval",
    "Measure",
    "QueryMetric",
    "QuerySizes",
    "Rows",
    "TrainedQueries",
}


@pytest.mark.parametrize("module", [sklearn_ndcg, inference])
def test_all_is_what_is_public(module):
    assert module.__all__ == sorted(module.__all__)
    public = {
        name
        for name, value in vars(module).items()
        if (isfunction(value) or isclass(value)) and not name.startswith("_")
        if value.__module__.startswith("sklearn_ndcg") and name not in HELD
    }
    constants = {"CONVENTIONS"} if module is sklearn_ndcg else set()
    assert public | constants == set(module.__all__)


def test_dir_lists_what_is_public():
    frames = pytest.importorskip("sklearn_ndcg.frames")
    for module in (sklearn_ndcg, inference, frames):
        listed = {name for name in dir(module) if name != "__version__"}
        modules = {"frames", "inference"} if module is sklearn_ndcg else set()
        assert listed == {*module.__all__} | modules
        for name in set(module.__all__) - {"CONVENTIONS", "NDCGDisplay"}:
            assert getattr(module, name).__module__ == module.__name__


def test_the_front_is_small():
    assert len(sklearn_ndcg.__all__) <= 26


# what functions return, described by attributes: tests/inference/test_public_results.py
RESULTS = {
    "Comparison", "Explanation", "GroupedScorer", "NDCGInterval", "QueryDifferences",
    "QueryExplanation", "SegmentTable",
}  # fmt: skip


# summaries on the first line, no section for each thing, no sentence about a plain return value
NOT_ASKED_OF_DOCSTRINGS = {
    "GL01", "GL02", "GL03", "SA01", "SA04", "ES01", "EX01", "RT03", "SS06",
}  # fmt: skip


def documented():
    """Public functions, classes and the methods that these define, by their dotted names."""
    found = {}
    for module in (sklearn_ndcg, inference, pytest.importorskip("sklearn_ndcg.frames")):
        for name in sorted({*module.__all__} - {"CONVENTIONS"}):
            public = getattr(module, name)
            assert "\nExamples\n" in cleandoc(public.__doc__)
            found[f"{module.__name__}.{name}"] = public
            for method in vars(public):  # functions have only private ones
                value = None if method.startswith("_") else getattr(public, method, None)
                if (isfunction(value) or ismethod(value)) and "sklearn_ndcg" in value.__module__:
                    found[f"{module.__name__}.{name}.{method}"] = value
    return found


def described(docstring):
    """The parameters that a docstring describes, with the text of their types."""
    doc = cleandoc(docstring)  # Python 3.13 does that itself
    section = doc.partition("\nParameters\n----------\n")[2]
    section = re.split(r"(?:^|\n)\w[\w ]*\n---+\n", section)[0]
    listed = re.findall(r"^([*\w][*\w, ]*?)(?: : (.*))?$", section, re.M)
    return {name.lstrip("*"): kind for names, kind in listed for name in names.split(", ")}


def test_docstrings_describe_every_parameter_and_its_default():
    for name, public in documented().items():
        if name.split(".")[-1] in RESULTS or name.endswith("Warning"):
            continue
        parameters = {n: p for n, p in signature(public).parameters.items() if n != "self"}
        found = described(public.__doc__)
        assert [*found] == [*parameters], name
        for each, parameter in parameters.items():
            default = re.search(r"default=(\S+)$", found[each])
            has_one = parameter.default is not parameter.empty
            expected = repr(parameter.default).replace("'", '"') if has_one else None
            assert (default and default[1]) == expected, (name, each)


def test_numpydoc_finds_no_error():
    validation = pytest.importorskip("numpydoc.validate")
    messages = []
    for name in documented():
        # results are made by functions, and their attributes are documented
        allowed = NOT_ASKED_OF_DOCSTRINGS | ({"PR01"} if name.split(".")[-1] in RESULTS else set())
        errors = validation.validate(name)["errors"]
        messages += [f"{name}: {code} {text}" for code, text in errors if code not in allowed]
    assert not messages


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


def test_imports_load_no_extra_and_errors_name_the_one_that_is_missing():
    code = """
import sys, sklearn.compose
extras = "dask duckdb ibis lightgbm matplotlib narwhals pandas polars pyarrow pyspark".split()
before = set(sys.modules)
import sklearn_ndcg
print([name for name in extras if name in set(sys.modules) - before])
print("frames" in vars(sklearn_ndcg), hasattr(sklearn_ndcg, "nonsense"))
sys.modules["narwhals.stable.v2"] = None  # scikit-learn may have Narwhals already
for line in (
    "import sklearn_ndcg.frames", "from sklearn_ndcg import frames",
    "import sklearn_ndcg; sklearn_ndcg.frames.ndcg_score",
):
    try:
        exec(line, {})
    except ImportError as error:
        print(error)
del sys.modules["narwhals.stable.v2"]
import pandas
before = set(sys.modules)
table = pandas.DataFrame({"q": [1, 1], "y": [1, 0], "s": [1, 2]})
sklearn_ndcg.frames.ndcg_score(table, y_true="y", y_score="s", groups="q")
print([name for name in extras if name in set(sys.modules) - before - {'narwhals'}])
"""
    pytest.importorskip("narwhals", reason="the extra `frames` is not installed")
    loaded, names, *errors, engines = run_python(code).stdout.splitlines()
    assert (loaded, names, engines) == ("[]", "False False", "[]")
    # the package is on no index, so its extra does not help users of a clone
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [needed] = project["optional-dependencies"]["frames"]
    assert len(errors) == 3
    for error in errors:
        assert error.startswith("sklearn_ndcg.frames needs Narwhals")
        assert "the extra `frames`" in error
        assert error.endswith(f'python -m pip install "{needed}"')


def test_show_versions_names_the_active_kernels(capsys):
    sklearn_ndcg.show_versions()
    first, second, *others = capsys.readouterr().out.splitlines()
    kernels = "NumPy" if _kernels.backend is _kernels.numpy_kernels else "compiled"
    assert first == f"sklearn_ndcg {sklearn_ndcg.__version__}, {kernels} kernels"
    assert second.startswith(f"imported from {Path(sklearn_ndcg.__file__).parent}")
    assert any(np.__version__ in line for line in others if "numpy:" in line)


def test_typed():
    assert (PACKAGE / "py.typed").exists()


DATA = {"X", "y", "groups", "sample_weight", "ax"}


def test_options_are_keywords():
    """Only data come by position, so that options can be added in any order."""
    found = set()
    for name, public in documented().items():
        if not name.endswith("Warning"):
            options = [o for o in signature(public).parameters.values() if o.default is not o.empty]
            by_position = {o.name for o in options if o.kind is not o.KEYWORD_ONLY}
            found |= {f"{name.split('.')[-1]}.{each}" for each in by_position - DATA}
    only = {"QuerySplitter.cv", "jarvelin_kekalainen.b", "largest_differences.n", "to_frame.of"}
    assert found == only
