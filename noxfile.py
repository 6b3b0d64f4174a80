"""All checks, one session each: `nox -l` lists them, and `nox -s lint` runs one.

`.ci/run` runs README's commands, of which one is the everyday suite, and those with the tag `ci`;
`.github/workflows` names others. Those with the tag `apart` have environments of their own, and run
beside the others. Those that have none use that of the session `newest`, which is kept;
`nox -R -s doctests` uses it as it is, without installing the package again.
"""

import os
import re
import secrets
import shlex
import shutil
from pathlib import Path
from zipfile import ZipFile

import nox

nox.needs_version = ">=2025.11.12"
PROJECT = nox.project.load_toml("pyproject.toml")
*PYTHONS, FREE_THREADED = nox.project.python_versions(PROJECT)  # those of the classifiers
BETWEEN = ["1.7", "1.8"]  # scikit-learns between the oldest and the newest
ALL = ("-m", "not slow")  # the everyday suite, and what only CI runs: `-m ci`
BIN = "Scripts" if os.name == "nt" else "bin"

os.environ["CI"] = "true"  # each test draws as many examples as it asks for
nox.options.default_venv_backend = "venv"
nox.options.download_python = "never"
nox.options.tags = ["ci"]


def group(name):
    """The packages of a dependency group, which old versions of pip cannot install by name."""
    return nox.project.dependency_groups(PROJECT, name)


def built(session, pattern):
    """The path of the wheel or of the sdist that the session `build` made."""
    [path] = (session.cache_dir / "dist").glob(pattern)
    return path.resolve()


def in_newest(session, program, *arguments, **environment):
    """Run a program in the environment of the session `newest`."""
    programs = (session.cache_dir.parent / "newest" / BIN).resolve()
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environment |= {"PATH": path, "MPLBACKEND": "agg"}
    session.run(programs / program, *arguments, env=environment, external=True)


def examples():
    """Which examples need what to be installed: {('.[frames]', 'duckdb'): ['examples/x.py']}."""
    texts = {
        path.as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(Path("examples").glob("*.py"))
    }
    readme = Path("README.md").read_text(encoding="utf-8")
    found = {}
    for path, text in texts.items():
        if f"bin/python {path}" in readme:
            continue  # .ci/run runs README's command
        if any(f"\nfrom {Path(path).stem} import" in other for other in texts.values()):
            continue  # a module of the others
        says = re.search(r"""pip install ['"](\.\[[a-z,]+\])['"]([a-z ]*)""", text)
        needed = (says[1], *says[2].split()) if says else (".[examples]",)
        found.setdefault(needed, []).append(path)
    return found


# ---- what .ci/run runs, besides the commands of README.md


@nox.session(tags=["ci", "apart"])
def lint(session):
    """Check the style of the code, the workflows and the repository."""
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("zizmor", "--offline", ".github")
    session.run("repo-review", ".")


@nox.session(tags=["ci"], reuse_venv=True)
def newest(session):
    """Install the newest of everything, for the sessions that need it."""
    groups = [*group("engines"), *group("types"), *group("editors")]
    session.install(".[test,examples]", *groups)
    # so that the kernels are compiled, and no test is skipped for want of a library
    libraries = "catboost, distributed, ir_measures, lightgbm, pyspark, pytrec_eval, ranx, xgboost"
    session.run("python", "-P", "-c", "import sklearn_ndcg._kernels.compiled")
    session.run("python", "-c", f"import {libraries}")


@nox.session(tags=["ci"], python=False, requires=["newest"])
def types(session):
    """Check the types of the package; those that its users see are checked by `tests`."""
    in_newest(session, "mypy")
    in_newest(session, "basedpyright")


@nox.session(tags=["ci", "apart"])
def build(session):
    """Build the sdist and the wheel, which other sessions install."""
    session.install(*group("build"))
    folder = session.cache_dir / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(folder), silent=True)
    session.run("twine", "check", "--strict", *map(str, folder.iterdir()))
    session.run("check-wheel-contents", str(folder))
    names = ZipFile(built(session, "*.whl")).namelist()
    if extra := [name for name in names if re.search(r"\.p[yx][xci]|tests/", name)]:
        session.error(f"the wheel should not have {extra}")


@nox.session(tags=["ci"], python=False, requires=["newest"])
def tests(session):
    """Run what the everyday suite leaves out: engines, processes, clusters, numba. Needs Java."""
    if not shutil.which("java"):
        session.error("PySpark needs Java, and there is none")
    in_newest(session, "pytest", "-q", "-n", "2", "-m", "ci")
    in_newest(session, "python", "tests/tools/faults.py", "files", "--quick")


@nox.session(tags=["ci"], python=False, requires=["newest"])
def doctests(session):
    """Run the examples of docstrings, README.md and the pages."""
    in_newest(session, "pytest", "-q", "--doctest-modules", "--doctest-glob=*.md", "--pyargs",
              "sklearn_ndcg", "README.md", "docs")  # fmt: skip


@nox.session(tags=["ci", "apart"], requires=["build"])
def docs(session):
    """Check docstrings, build the site and run the examples in it; a warning is an error."""
    wheel = built(session, "*.whl")
    session.install(f"{wheel}[frames,rankers,stocks]", "pytest", *group("docs"))
    session.run("pytest", "-q", "-m", "ci", "tests/test_structure.py", "-k", "numpydoc")
    session.run("python", "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs",
                "docs/_build/html")  # fmt: skip


@nox.session(name="examples", tags=["ci", "apart"], requires=["build"])
@nox.parametrize(
    "needed",
    [nox.param(needed, id="-".join(re.findall("[a-z]+", str(needed)))) for needed in examples()],
)
def run_examples(session, needed):
    """Run the examples, where only what they say that they need is installed.

    A warning is an error: none is false, and those that an example shows are caught there.
    """
    package, *others = needed
    # compiling all modules takes longer than the few that each of them imports
    wheel = built(session, "*.whl")
    session.install("--no-compile", f"{wheel}{package.removeprefix('.')}", *others)
    for path in examples()[needed]:
        environment = {"MPLBACKEND": "agg", "PYTHONWARNINGS": "error::UserWarning"}
        session.run("python", path, env=environment)


@nox.session(tags=["ci", "apart"], requires=["build"])
def no_compiler(session):
    """Install the sdist without a compiler or an extra, and compare it with scikit-learn."""
    session.install("numpy", "scipy", "scikit-learn", "hypothesis", "pytest")
    session.install("--no-deps", "--no-cache-dir", built(session, "*.tar.gz"),
                    env={"CC": "/bin/false"})  # fmt: skip
    check = "from sklearn_ndcg import _kernels; assert _kernels.backend is _kernels.numpy_kernels"
    session.run("python", "-P", "-c", check)
    session.run("pytest", "-q", "tests/metrics/test_agreement.py", "tests/kernels")
    session.run("python", "-P", "-m", "doctest", "docs/index.md")


@nox.session(tags=["ci", "apart"], python=PYTHONS[0], requires=["build"])
def oldest(session):
    """Run the everyday suite with the wheel, on the oldest versions of nearly everything."""
    extras = PROJECT["project"]["optional-dependencies"]
    newest_only = ("sklearn-ndcg", "array-api-strict", "ir-measures", "optuna", "pytrec-eval",
                   "ranx", "xgboost")  # xgboost: that of the extra `rankers`  # fmt: skip
    floors = [each for each in extras["test"] if not each.startswith(newest_only)]
    for extra in ("frames", "plot", "rankers", "test-small"):
        floors += extras[extra]
    floors += PROJECT["project"]["dependencies"]
    session.install(built(session, "*.whl"), *(each.replace(">=", "==") for each in floors))
    session.run("pytest", "-q", "-n", "2")


# ---- what .github/workflows runs for each change or once a week


@nox.session(python=PYTHONS)
def pythons(session):
    """Run the suite on each Python, with the newest of everything."""
    session.install(".[test]")
    session.run("pytest", "-q", "-n", "2", *ALL)


@nox.session(python=FREE_THREADED)
def free_threaded(session):
    """Run what needs no library of tables or rankers: most of those switch the GIL on again."""
    session.install(".[frames,plot]", "hypothesis", "mpmath", "pandas", "pytest")
    kernels = {"SKLEARN_NDCG_KERNELS": "compiled"}
    no_gil = "import sys, sklearn_ndcg; assert not sys._is_gil_enabled()"
    session.run("python", "-P", "-c", no_gil, env=kernels)
    session.run("pytest", "-q", *ALL, env=kernels)


@nox.session
def readme(session):
    """Run each block of README.md with what the install lines above it, or the first, install."""
    text = Path("README.md").read_text(encoding="utf-8")
    parts = re.split(r"^(?:.* && )?\S*python3? -m pip install ([^&\n]+)$", text, flags=re.M)
    blocks = Path(session.create_tmp()).resolve() / "blocks.md"
    blocks.write_text(parts[0], encoding="utf-8")  # what stands above the first install line
    for packages, following in zip(parts[1::2], parts[2::2], strict=True):
        session.install(*shlex.split(packages))
        blocks.write_text(blocks.read_text(encoding="utf-8") + following, encoding="utf-8")
        session.run("python", "-P", "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", blocks)


@nox.session(python=False, requires=["newest"])
def long_double(session):
    """Collect all tests, and run those of numbers, where a long double has 64 bits, as on Windows.

    Collection is all that many faults need: data of tests are made by it.
    """
    of_windows = {"SKLEARN_NDCG_LONG_DOUBLE": "64"}
    in_newest(session, "pytest", "-q", "--collect-only", "-m", "", "tests", **of_windows)
    folders = ["tests/kernels", "tests/metrics", "tests/rows", "tests/test_fuzz.py"]
    in_newest(session, "pytest", "-q", "-n", "2", *folders, **of_windows)


@nox.session(python=False, requires=["newest"])
def benchmarks(session):
    """Run the benchmarks on little data, and check their values and promises."""
    for script in sorted(Path("benchmarks").glob("bench_*.py")):
        in_newest(session, "python", script, "--quick")


@nox.session(python=False, requires=["newest"])
def numpy_kernels(session):
    """Run all tests but slow ones with the NumPy kernels."""
    in_newest(session, "pytest", "-q", "-n", "2", *ALL, SKLEARN_NDCG_KERNELS="numpy")


@nox.session(requires=["build"])
@nox.parametrize("version", BETWEEN)
def sklearn(session, version):
    """Run the tests of the sdist, unpacked, on a scikit-learn between the oldest and the newest."""
    folder = session.cache_dir / f"sdist-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.unpack_archive(built(session, "*.tar.gz"), folder, filter="data")
    [unpacked] = folder.iterdir()
    with session.chdir(unpacked):
        session.install(".[test]", f"scikit-learn=={version}.*")
        session.run("pytest", "-q", "-n", "2", *ALL)


@nox.session(python=PYTHONS[0])
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
    dask, _ = group("engines")  # which hashes by pandas
    session.install(".[test]", dask, *versions)
    session.run("pytest", "-q", "-n", "2", *ALL)


@nox.session
def slow(session):
    """Run all tests, slow ones too, with a random seed, or a given one: `nox -s slow -- 123`."""
    seed = session.posargs[0] if session.posargs else secrets.randbelow(2**32)
    session.install(".[test]", *group("engines"))
    session.run("pytest", "-q", "-m", "slow or not slow", "--hypothesis-profile=seeded",
                f"--hypothesis-seed={seed}")  # fmt: skip


@nox.session
def faults(session):
    """Read damaged files, and call all functions in threads at once; `-- files` is one of them."""
    session.install(".[test]")
    session.run("python", "tests/tools/faults.py", *session.posargs)


@nox.session
def simulations(session):
    """Simulate how often the intervals and tests of docs/design/evidence.md are right."""
    session.install(".")
    session.run("python", "benchmarks/simulate_intervals.py")


@nox.session(python=PYTHONS[0])
def peers(session):
    """Compare with libraries that are large, or pin old versions; the page has what they do."""
    session.install(".[test]", "attrs", "pydantic", "rax", "torchmetrics", "tqdm", "typeguard")
    session.install("--no-deps", "rectools")
    files = ["tests/metrics/test_conventions.py", "tests/test_recipes.py"]
    session.run("pytest", "-q", "-rs", "-m", "slow or not slow", *files)
    session.install("mlflow")
    session.run("pytest", "-q", "-rs", "-m", "slow", "tests/test_recipes.py", "-k", "mlflow")
    # needs torch, which torchmetrics installs
    session.run("pytest", "-q", "-rs", "-m", "slow", "tests/metrics/test_array_api.py")


@nox.session
def prereleases(session):
    """Run the suite on release candidates, where the index has them."""
    session.install(".[test]")
    session.install("--pre", "--upgrade", "scikit-learn", "numpy", "scipy", "pandas", "narwhals")
    session.run("pip", "list")
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
    """Run the C code under AddressSanitizer and UndefinedBehaviorSanitizer."""
    session.run("bash", ".ci/sanitize", external=True)


@nox.session
def fuzz(session):
    """Fuzz the C code under AddressSanitizer for an hour, or `nox -s fuzz -- 600` for less."""
    needed = *PROJECT["build-system"]["requires"], *PROJECT["project"]["dependencies"]
    session.install("atheris", *needed)
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
