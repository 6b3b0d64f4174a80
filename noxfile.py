"""Checks that take too long for every day, one session each: `nox`, or `nox -s coverage`."""

import secrets
from pathlib import Path
from zipfile import ZipFile

import nox

PROJECT = nox.project.load_toml("pyproject.toml")
ALL = ("-m", "not slow")  # the everyday suite, and what only CI runs
nox.options.default_venv_backend = "venv"
nox.options.sessions = ["ci", "bare", "coverage", "sanitize", "docs"]


def group(name):
    """The packages of a dependency group, which old versions of pip cannot install by name."""
    return nox.project.dependency_groups(PROJECT, name)


@nox.session(python=False)
def ci(session):
    """Run all of CI: newest, oldest and other versions, both kernels, without a compiler."""
    session.run("bash", ".ci/run", external=True)


@nox.session
def bare(session):
    """Compare the metrics with scikit-learn's, and the two kernels, without any extra."""
    session.install(".", "pytest", "hypothesis")
    session.run("pytest", "-q", "tests/metrics/test_agreement.py", "tests/kernels/test_compiled.py")


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def pythons(session):
    """Run the suite on each Python, with the newest of everything."""
    session.install(".[test]")
    session.run("pytest", "-q", "-n", "2", *ALL)


@nox.session(python="3.14t")
def free_threaded(session):
    """Run what needs no library of tables or rankers: most of those switch the GIL on again."""
    session.install(".", "hypothesis", "matplotlib", "mpmath", "narwhals", "pandas", "pytest")
    needed = (
        "import polars",
        "import pyarrow",
        "import lightgbm",
        "from peers",
        "from whose_ndcg",
    )
    files = sorted(Path("tests").rglob("test_*.py"))
    alone = [str(each) for each in files if not any(map(each.read_text().__contains__, needed))]
    kernels = {"SKLEARN_NDCG_KERNELS": "compiled"}
    no_gil = "import sys, sklearn_ndcg; assert not sys._is_gil_enabled()"
    session.run("python", "-P", "-c", no_gil, env=kernels)
    session.run("pytest", "-q", *ALL, *alone, env=kernels)


@nox.session
@nox.parametrize("version", ["1.6", "1.7", "1.8", "1.9"])
def sklearn(session, version):
    """Run the suite on each supported scikit-learn."""
    session.install(".[test]", f"scikit-learn=={version}.*")
    session.run("pytest", "-q", "-n", "2", *ALL)


@nox.session(python="3.11")
@nox.parametrize(
    "versions",
    [
        nox.param(("numpy==1.26.*", "pandas==2.2.*", "pyarrow==16.*"), id="1.26-2.2"),
        nox.param(("numpy==2.0.*", "pandas==2.3.*", "pyarrow==20.*"), id="2.0-2.3"),
        nox.param(("numpy>=2.4", "pandas>=3.1"), id="2.4-3.1"),
    ],
)
def numbers(session, versions):
    """Run the suite on old and new NumPy and pandas, and the PyArrow of their time."""
    session.install(".[test]", *versions)
    session.run("pytest", "-q", "-n", "2", *ALL)


@nox.session
def slow(session):
    """Run all tests, slow ones too, with a random seed, or a given one: `nox -s slow -- 123`."""
    seed = session.posargs[0] if session.posargs else secrets.randbelow(2**32)
    session.install(".[test]", *group("engines"))
    session.run("pytest", "-q", "-m", "slow or not slow", "--hypothesis-profile=seeded",
                f"--hypothesis-seed={seed}", env={"CI": "true"})  # fmt: skip


@nox.session(python="3.11")
def tools(session):
    """Run the tools of docs/other_tools.md that take a scorer."""
    session.install(
        ".", "pytest", "pandas", "lightgbm", "category_encoders", "dask-ml", "imbalanced-learn",
        "mlflow", "mlxtend", "optuna-integration", "scikit-optimize", "skops", "skrub",
    )  # fmt: skip
    session.run("pytest", "-q", "tests/test_other_tools.py")
    session.run("pytest", "-q", "-m", "slow", "tests/test_recipes.py", "-k", "mlflow")


@nox.session(python="3.11")
def peers(session):
    """Compare with libraries that are large, or pin old versions; the page has what they do."""
    session.install(".[test]", "attrs", "pydantic", "rax", "torchmetrics", "tqdm", "typeguard")
    session.install("--no-deps", "rankereval", "recommenders", "rectools", "replay-rec")
    files = ["tests/metrics/test_conventions.py", "tests/test_recipes.py"]
    session.run("pytest", "-q", "-rs", "-m", "slow or not slow", *files)


@nox.session
def prereleases(session):
    """Run the suite on release candidates, where the index has them."""
    session.install(".[test]")
    session.install("--pre", "--upgrade", "scikit-learn", "numpy", "scipy", "pandas", "narwhals")
    session.run("pip", "list")
    session.run("pytest", "-q", "-n", "2", *ALL)


@nox.session(python="3.11")
def nightly(session):
    """Run the suite on the nightly builds of scikit-learn, NumPy and SciPy."""
    session.install(".[test]")
    index = "https://pypi.anaconda.org/scientific-python-nightly-wheels/simple"
    packages = ["numpy", "scipy", "scikit-learn"]
    session.install("--pre", "--upgrade", "--extra-index-url", index, *packages)
    session.run("pytest", "-q", "-n", "2", *ALL)


@nox.session
def coverage(session):
    """Measure the coverage of lines and branches, with the NumPy kernels."""
    session.install("-e", ".[test]", *group("engines"), "coverage")
    environment = {"SKLEARN_NDCG_KERNELS": "numpy"}
    session.run("coverage", "run", "--branch", "--source=sklearn_ndcg", "-m", "pytest", "-q",
                *ALL, env=environment)  # fmt: skip
    session.run("coverage", "report", "--show-missing", "--fail-under=98", "--omit=*.pyx")


@nox.session(python=False)
def sanitize(session):
    """Run the compiled kernels under AddressSanitizer and UndefinedBehaviorSanitizer."""
    session.run("bash", ".ci/sanitize", external=True)


@nox.session
def docs(session):
    """Build the documentation; a warning is an error."""
    session.install(".[frames,stocks]", *group("docs"))
    session.run("python", "-m", "sphinx", "-W", "--keep-going", "-b", "html", "docs",
                "docs/_build/html")  # fmt: skip


@nox.session
def mutants(session):
    """Try mutants of the functions whose names are given; mutmut makes none of the C code.

    `nox -s mutants -- "sklearn_ndcg._rows.*"` takes one folder; without names it takes days.
    """
    session.install("-e", ".[test]", "mutmut>=3.8", "Cython>=3.1", "setuptools>=77")
    session.run("mutmut", "run", *session.posargs, env={"SKLEARN_NDCG_KERNELS": "numpy"})
    session.run("mutmut", "results")


@nox.session
def fuzz(session):
    """Fuzz the C kernels under AddressSanitizer for an hour, or `nox -s fuzz -- 600` for less."""
    session.install("atheris", "Cython>=3.1", "setuptools>=77", "numpy", "scipy", "scikit-learn")
    copy, found = Path(session.create_tmp()) / "copy", Path(session.create_tmp()) / "found"
    for folder in (copy, found):
        folder.mkdir(exist_ok=True)
    ZipFile("tests/tools/corpus.zip").extractall(found)
    session.run("bash", "-c", f"git archive HEAD | tar x -C {copy}", external=True)
    session.install("--no-build-isolation", str(copy), env={
        "CC": "clang", "LDSHARED": "clang -shared", "LDFLAGS": "-fsanitize=address",
        "CFLAGS": "-g -O1 -fno-omit-frame-pointer -fsanitize=address,fuzzer-no-link",
    })  # fmt: skip
    library = session.run("python", "-c", "import atheris; print(atheris.path())", silent=True)
    seconds = session.posargs[0] if session.posargs else "3600"
    session.run(
        "python", "-P", "tests/tools/fuzz_kernels.py", f"-max_total_time={seconds}",
        "-max_len=8192", "-len_control=0", "-rss_limit_mb=6000", str(found),
        env={
            "LD_PRELOAD": f"{library.strip()}/asan_with_fuzzer.so", "PYTHONMALLOC": "malloc",
            # Python itself does not free all of its memory when it exits
            "ASAN_OPTIONS": "detect_leaks=0",
        },
    )  # fmt: skip
