"""The house: imports go down only, and what is public is what is listed."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from inspect import cleandoc, getmembers, isclass, isfunction, signature
from pathlib import Path

import numpy as np
import pytest

import sklearn_ndcg
from sklearn_ndcg import _kernels

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sklearn_ndcg.__file__).parent
FLOORS = [
    ["_checks", "_kernels"],
    ["_columns", "_definitions", "_queries"],
    ["_metrics", "_rankings"],
    ["_evidence", "_ranker", "_scorers"],
    ["_display", "frames"],
    ["__init__"],
]
FLOOR = {module: floor for floor, modules in enumerate(FLOORS) for module in modules}


# imported inside a function or a try, by those who have them
LATE = {
    "_display": {"matplotlib.pyplot"},
    "_evidence": {"pandas"},
    "_ranker": {"catboost", "lightgbm"},
    "frames": {"narwhals.stable.v2"},
}


def imports(path):
    """(module, name) of every import in a file, but for the late ones."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [(node.module, alias.name) for alias in node.names]
        else:
            continue
        late = LATE.get(path.stem, ()) if node.col_offset else ()
        yield from ((source, name) for source, name in found if source not in late)


def modules():
    return sorted(path.stem for path in PACKAGE.glob("*.py"))


def test_every_module_has_its_floor():
    assert sorted(FLOOR) == modules()


def test_the_map_in_contributing_is_the_house():
    found = re.findall(r"^\| (\d|roof) \| `(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
    roof = len(FLOORS) - 1
    mapped = {module: roof if floor == "roof" else int(floor) for floor, module in found}
    assert mapped == FLOOR | {"_ckernels": 0}


@pytest.mark.parametrize("module", modules())
def test_imports_go_down_only(module):
    for source, name in imports(PACKAGE / f"{module}.py"):
        if source == "sklearn_ndcg":  # a module of ours as a whole
            assert FLOOR[name] < FLOOR[module], f"{module} imports {name} from above"
        elif source.startswith("sklearn_ndcg."):
            target = source.removeprefix("sklearn_ndcg.")
            assert FLOOR[target] <= FLOOR[module], f"{module} imports {target} from above"
            assert not name.startswith("_"), f"{module} imports the private {target}.{name}"
        else:
            top = source.split(".")[0]
            assert top in {"__future__", "numpy", "scipy", "sklearn"} | sys.stdlib_module_names
            private = [part for part in [*source.split("."), name] if part.startswith("_")]
            assert source == "__future__" or not private, f"{module} imports {source}.{name}"


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
    assert ("\nParameters\n----------\n" in doc) == bool(signature(function).parameters)
    assert "{data}" not in doc
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
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert run.stdout.strip() == ""


def test_show_versions_tells_what_runs(capsys):
    sklearn_ndcg.show_versions()
    first, *others = capsys.readouterr().out.splitlines()
    kernels = "NumPy" if _kernels.running is _kernels else "compiled"
    assert first == f"sklearn_ndcg {sklearn_ndcg.__version__}, {kernels} kernels"
    assert f"numpy {np.__version__}" in others


def test_typed():
    assert (PACKAGE / "py.typed").exists()


# --- memory


@pytest.mark.parametrize("case", ["contiguous", "shuffled", "one query", "ties", "weights"])
def test_extra_memory_stays_under_four_times_the_inputs(case):
    import tracemalloc  # noqa: PLC0415

    rng = np.random.default_rng(0)
    n = 4_000_000
    groups = np.repeat(np.arange(n // 100), 100)
    y_true, y_score = rng.integers(0, 5, n).astype(float), rng.normal(size=n)
    options = {"groups": groups, "k": 10}
    if case == "shuffled":
        options["groups"] = rng.permutation(groups)
    elif case == "one query":
        options["groups"] = np.zeros(n, dtype=int)
    elif case == "ties":
        y_score = np.round(y_score)
        options |= {"groups": np.zeros(n, dtype=int), "k": None}
    elif case == "weights":
        y_true[::7] = np.nan
        options |= {"unjudged": "omit", "sample_weight": np.ones(n), "k": "retrieved"}
    inputs = sum(a.nbytes for a in [y_true, y_score, *options.values()] if hasattr(a, "nbytes"))
    tracemalloc.start()
    try:
        sklearn_ndcg.ndcg_score(y_true, y_score, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * inputs
