"""The structure of the package: which folder imports which, and what is public."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import version
from inspect import cleandoc, isclass, isfunction, ismethod, signature
from pathlib import Path
from typing import get_args

import entries
import numpy as np
import pytest
from helpers import run_python

import sklearn_ndcg
from sklearn_ndcg import _checks, _kernels, inference
from sklearn_ndcg._metrics import choices, measure

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sklearn_ndcg.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# A folder imports only from itself and from those before it.
FOLDERS = [
    "_checks",
    "_show",
    "_kernels",
    "_rows",
    "_lists",
    "_metrics",
    "frames",
    "_selection",
    "inference",
]
LIBRARIES = {"__future__", "numpy", "scipy", "sklearn", "sklearn_ndcg"} | sys.stdlib_module_names
OPTIONAL = {"catboost", "lightgbm", "narwhals", "xgboost"}  # imported in a function or for types


def path_of(module):
    return PACKAGE / f"{module.replace('.', '/')}.py"


FOUND = [path.relative_to(PACKAGE).with_suffix("").parts for path in PACKAGE.rglob("*.py")]
MODULES = sorted(map(".".join, FOUND))
NAMES = {module.removesuffix(".__init__") for module in MODULES}


@cache
def syntax(path):
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports(module):
    """(module, name) of every import in a module, except the optional ones."""
    for node in syntax(path_of(module)):
        if isinstance(node, ast.Import):
            pairs = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            pairs = [(node.module, alias.name) for alias in node.names]
        else:
            continue
        optional = OPTIONAL if node.col_offset else ()
        yield from (pair for pair in pairs if pair[0].split(".")[0] not in optional)


def imports_of_the_package(module):
    """Dotted paths in the package that a module imports: "_rows.grouping.Grouping"."""
    for source, name in imports(module):
        if source.split(".")[0] == "sklearn_ndcg":
            yield f"{source}.{name}".removeprefix("sklearn_ndcg.")


def test_folders_import_only_from_those_before_them():
    backward = []
    for module in set(MODULES) - {"__init__"}:
        position = FOLDERS.index(module.split(".")[0])
        for path in imports_of_the_package(module):
            if FOLDERS.index(path.split(".")[0]) > position:
                backward.append(f"{module} imports {path}, of a later folder")
    assert backward == []


def test_only_libraries_that_every_user_has_are_imported_at_the_top():
    tops = {source.split(".")[0] for module in MODULES for source, _ in imports(module)}
    assert tops - LIBRARIES == set()


@pytest.mark.parametrize(
    ("choice", "table", "names"),
    [
        ("gain", choices.GAINS, _checks.NamedGain),
        ("discount", choices.DISCOUNTS, _checks.NamedDiscount),
        ("ties", choices.TIES, _checks.Ties),
        ("undefined", choices.UNDEFINED, _checks.NamedUndefined),
    ],
)
def test_types_and_docstrings_list_every_name_of_a_table(choice, table, names):
    assert get_args(names) == tuple(table)
    for function in entries.METRICS:
        if choice in signature(function).parameters:
            listed = re.search(rf"^ *{choice} : {{(.*?)}}", function.__doc__, re.M)[1]
            assert listed == ", ".join(f'"{name}"' for name in table), function


METRICS = [
    pytest.param(
        sklearn_ndcg.ndcg_score, sklearn_ndcg.ndcg_samples, measure.NDCGOptions, set(), id="NDCG"
    ),
    pytest.param(
        sklearn_ndcg.dcg_score, sklearn_ndcg.dcg_samples, measure.DCGOptions, {"log_base"}, id="DCG"
    ),
]


@pytest.mark.parametrize(("score", "samples", "options", "own"), METRICS)
def test_a_score_takes_the_options_that_scorers_take(score, samples, options, own):
    data = {"y_true", "y_score", "groups", "k", "sample_weight"}
    assert signature(score).parameters.keys() - data - own == options.__annotations__.keys()


@pytest.mark.parametrize(("score", "samples", "options", "own"), METRICS)
def test_samples_take_the_options_of_the_score(score, samples, options, own):
    mean, values = signature(score).parameters, signature(samples).parameters
    assert mean.keys() ^ values.keys() == {"sample_weight"}
    shared = mean.keys() & values.keys()
    assert {o: mean[o].default for o in shared} == {o: values[o].default for o in shared}


# classes of attributes of public objects
HELD = {
    "Change",
    "GainTable",
    "QueryFunction",
    "Ranked",
    "log_discount",
}


@pytest.mark.parametrize("module", [sklearn_ndcg, inference])
def test_all_and_dir_list_what_is_public(module):
    assert len({*module.__all__}) == len(module.__all__)  # Ruff sorts them
    public = {
        name
        for name, value in vars(module).items()
        if (isfunction(value) or isclass(value)) and not name.startswith("_")
        if value.__module__.startswith("sklearn_ndcg") and name not in HELD
    }
    constants, submodules = set(), set()
    if module is sklearn_ndcg:
        constants, submodules = {"CONVENTIONS"}, {"__version__", "frames", "inference"}
    assert {*module.__all__} == public | constants
    assert {*dir(module)} == public | constants | submodules


def test_public_objects_say_that_they_are_of_the_public_module():
    frames = pytest.importorskip("sklearn_ndcg.frames")
    assert dir(frames) == frames.__all__
    for module in (sklearn_ndcg, inference, frames):
        for name in {*module.__all__} - {"CONVENTIONS", "NDCGDisplay"}:
            assert getattr(module, name).__module__ == module.__name__


# what functions return, described by attributes: tests/inference/test_public_results.py
RESULTS = {"Comparison", "ConfidenceInterval", "Explanation", "GroupedScorer", "NDCGInterval"}
RESULTS |= {"QueryExplanation", "Rows", "SegmentTable"}
# what the package alone asks of public classes
OWN = {"DCG", "NDCG", "Rows.cutoff"}


def documented():
    """Public functions, classes and the methods that these define, by their dotted names."""
    found = {}
    for module in (sklearn_ndcg, inference, pytest.importorskip("sklearn_ndcg.frames")):
        for name in sorted({*module.__all__} - {"CONVENTIONS"}):
            public = getattr(module, name)
            assert "\nExamples\n" in cleandoc(public.__doc__)
            found[f"{module.__name__}.{name}"] = public
            if name in OWN:
                continue
            for method in vars(public):  # functions have only private ones
                if f"{name}.{method}" in OWN:
                    continue
                value = None if method.startswith("_") else getattr(public, method, None)
                if (isfunction(value) or ismethod(value)) and "sklearn_ndcg" in value.__module__:
                    found[f"{module.__name__}.{name}.{method}"] = value
    return found


DATA = {"X", "y", "y_score", "y_scores", "recommended", "run", "groups", "sample_weight", "ax"}


def test_options_are_keywords():
    """Only data come by position, so that options can be added in any order."""
    found = set()
    for name, public in documented().items():
        if not name.endswith("Warning"):
            options = [o for o in signature(public).parameters.values() if o.default is not o.empty]
            by_position = {o.name for o in options if o.kind is not o.KEYWORD_ONLY}
            found |= {f"{name.split('.')[-1]}.{option}" for option in by_position - DATA}
    only = {"QuerySplitter.cv", "to_frame.of"}
    only |= {"explain_difference.first", "explain_difference.second"}
    assert found == only


@pytest.mark.ci
def test_numpydoc_finds_no_error():
    validation = pytest.importorskip("numpydoc.validate")
    # summaries on the first line, no section for each thing, no sentence about a plain return value
    not_asked = {"GL01", "GL02", "GL03", "SA01", "SA04", "ES01", "EX01", "RT03", "SS06"}
    for name in documented():
        # results are made by functions, and their attributes are documented
        allowed = not_asked | ({"PR01"} if name.split(".")[-1] in RESULTS else set())
        errors = validation.validate(name)["errors"]
        assert not [error for error in errors if error[0] not in allowed], name


def test_version_and_types_are_those_of_the_distribution():
    assert sklearn_ndcg.__version__ == version("sklearn-ndcg") == PROJECT["version"]
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert (PACKAGE / "py.typed").exists()


def test_imports_load_no_extra_and_errors_name_the_one_that_is_missing():
    code = """
import sys, sklearn.compose
extras = "dask duckdb lightgbm matplotlib narwhals pandas polars pyarrow pyspark".split()
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
    [needed] = PROJECT["optional-dependencies"]["frames"]
    assert len(errors) == 3
    for error in errors:
        assert re.match("sklearn_ndcg.frames needs Narwhals.*the extra `frames`", error)
        assert error.endswith(f'python -m pip install "{needed}"')


def test_show_versions_names_the_active_kernels(capsys):
    sklearn_ndcg.show_versions()
    first, second, *others = capsys.readouterr().out.splitlines()
    kernels = "NumPy" if _kernels.backend is _kernels.numpy_kernels else "compiled"
    assert first == f"sklearn_ndcg {sklearn_ndcg.__version__}, {kernels} kernels"
    assert second.startswith(f"imported from {Path(sklearn_ndcg.__file__).parent}")
    assert any(np.__version__ in line for line in others if "numpy:" in line)


# How each description of a parameter begins, and the types that it may have.
ROWS = "array-like of shape (n_documents,)"
ROWS_OR_LEVEL = "array-like of shape (n_documents,) or str"
ROWS_OR_QUERIES = "array-like of shape (n_documents,) or (n_queries,) or mapping"
SHARED = {
    "k": (
        "Cutoff: only the first `k` ranks count.",
        {'int, None or "retrieved"', "int or None"},
    ),
    "groups": ("The query id of each row.", {ROWS, ROWS_OR_LEVEL}),
    "sample_weight": ("Weights >= 0.", {ROWS, ROWS_OR_QUERIES}),
    "clusters": (
        "The cluster id of each row, if queries depend on each other.",
        {ROWS, ROWS_OR_QUERIES},
    ),
}
# cutoffs of curves and of what is read, columns of tables, options of a measure
OF_ANOTHER_KIND = {
    *("from_lists.k", "from_trec.k", "ndcg_curve.k", "from_predictions.k", "from_estimator.k"),
    *("from_cv_results.k", "NDCGDisplay.k", "DCG.k", "NDCG.k"),
    *("frames.ndcg_score.groups", "frames.ndcg_score.sample_weight", "frames.ndcg_by_query.groups"),
}


def described_parameters(public):
    """The type and the description of each parameter in a docstring of numpydoc."""
    _, _, section = cleandoc(public.__doc__).partition("\nParameters\n----------\n")
    section = re.split(r"^[A-Z].*\n-+$", section, maxsplit=1, flags=re.M)[0]
    for names, kind, text in re.findall(r"^(\w.*) : (.*)\n((?:    .*\n|\n)+)", section, re.M):
        for name in names.split(", "):
            yield name, kind, " ".join(text.split())


def test_parameters_that_functions_share_are_described_by_one_sentence():
    found = set()
    for path, public in documented().items():
        for name, kind, text in described_parameters(public):
            full = f"{path}.{name}"
            another = any(full.endswith(f".{other}") for other in OF_ANOTHER_KIND)
            if name in SHARED and not another:
                sentence, kinds = SHARED[name]
                assert text.startswith(sentence), full
                assert re.split(", default=| or None$", kind)[0] in kinds, full
                found.add(full)
    assert len(found) > 35


def test_functions_that_take_rows_of_lists_take_values_by_query():
    """In a mapping, which their docstrings say."""
    for path, public in documented().items():
        described = {name: kind for name, kind, _ in described_parameters(public)}
        if "Rows" in described.get("y_true", ""):
            for name in {"sample_weight", "clusters", "segments"} & described.keys():
                assert "mapping" in described[name], f"{path}.{name}"
