"""Checks that take too long for every day, one session each: `nox`, or `nox -s coverage`."""

import random
import sqlite3
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["ci", "bare", "coverage", "sanitize", "docs"]
MUTATED = (
    "kernels", "ids", "grouping", "queries", "inputs", "definitions", "metrics", "scorers",
    "splitters", "leaks", "resampling", "formats", "lists", "unions",
)  # fmt: skip
KILLERS = (
    "values", "ids", "grouping", "inputs", "scorers", "query_splitter", "leaks", "agreement",
    "invariances", "kernels", "conventions", "resampling", "evidence", "formats", "compare_lists",
)  # fmt: skip


@nox.session(python=False)
def ci(session):
    """Run all of CI: newest, oldest and other versions, both kernels, without a compiler."""
    session.run("bash", ".ci/run", external=True)


@nox.session
def bare(session):
    """Compare the metrics with scikit-learn's, and the two kernels, without any extra."""
    session.install(".", "pytest", "hypothesis")
    session.run("pytest", "-q", "tests/test_agreement.py", "tests/test_kernels.py")


@nox.session
def nightly(session):
    """Run the suite on nightly builds of scikit-learn, NumPy and SciPy."""
    index = "https://pypi.anaconda.org/scientific-python-nightly-wheels/simple"
    session.install(".[test]")
    session.install(
        "--pre", "--upgrade", "--extra-index-url", index, "scikit-learn", "numpy", "scipy"
    )
    session.run("pytest", "-q")


@nox.session
def coverage(session):
    """Measure the coverage of lines and branches, with the NumPy kernels."""
    session.install("-e", ".[test,rankers,engines]", "coverage")
    environment = {"SKLEARN_NDCG_KERNELS": "numpy"}
    session.run("coverage", "run", "--branch", "--source=sklearn_ndcg", "-m", "pytest", "-q",
                env=environment)  # fmt: skip
    session.run("coverage", "report", "--show-missing", "--fail-under=98")


@nox.session(python=False)
def sanitize(session):
    """Run the compiled kernels under AddressSanitizer and UndefinedBehaviorSanitizer."""
    session.run("bash", ".ci/sanitize", external=True)


@nox.session
def docs(session):
    """Build the documentation; a warning is an error."""
    session.install(".[docs]")
    session.run("python", "-m", "sphinx", "-W", "--keep-going", "-b", "html", "docs",
                "docs/_build/html")  # fmt: skip


@nox.session
def mutants(session):
    """Test a seeded sample of mutants; `nox -s mutants -- 500` for a larger one."""
    session.install(".[test]", "cosmic-ray", env={"CC": "/bin/false"})
    copy = Path(session.create_tmp())
    session.run("bash", "-c", f"git archive HEAD | tar x -C {copy}", external=True)
    session.chdir(copy)
    modules = [f"sklearn_ndcg/_{name}.py" for name in MUTATED]
    tests = " ".join(f"tests/test_{name}.py" for name in KILLERS)
    Path("mutants.toml").write_text(
        f"[cosmic-ray]\nmodule-path = {modules}\ntimeout = 120.0\nexcluded-modules = []\n"
        f'test-command = "python -m pytest -x -q -p no:cacheprovider {tests}"\n'
        '[cosmic-ray.distributor]\nname = "local"\n'
    )
    session.run("cosmic-ray", "init", "mutants.toml", "mutants.sqlite")
    _sample("mutants.sqlite", int(session.posargs[0]) if session.posargs else 140)
    session.run("cosmic-ray", "exec", "mutants.toml", "mutants.sqlite")
    session.run("cr-report", "mutants.sqlite", "--show-diff", "--surviving-only")


def _sample(database, size):
    """Keep a sample of the mutants, without those of `|`, which is mostly in annotations."""
    with sqlite3.connect(database) as connection:
        found = connection.execute(
            "select job_id, operator_name from mutation_specs order by module_path, start_pos_row,"
            " start_pos_col, operator_name, occurrence"
        ).fetchall()
        jobs = [job for job, operator in found if "BitOr_" not in operator]
        kept = set(random.Random(0).sample(jobs, min(size, len(jobs))))  # noqa: S311
        for job, _ in found:
            if job not in kept:
                for table in ("mutation_specs", "work_items"):
                    connection.execute(f"delete from {table} where job_id = ?", (job,))  # noqa: S608
