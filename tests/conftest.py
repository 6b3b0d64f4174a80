"""Fixtures that several test files use; plain functions and data are in helpers.py.

They import what they need themselves: pytest-xdist's first process imports this file and nothing
else, and its workers start after that.
"""

import gc
import os
import re
import signal
import sys
import sysconfig
import threading
import warnings

# Small data need no threads of OpenMP, and waiting threads use the cores of the other worker.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest

try:
    from hypothesis import settings
except ImportError:  # only tests that draw their data need it
    pass
else:
    # obeys pytest's --hypothesis-seed, which Hypothesis ignores under CI=true
    settings.register_profile("seeded", derandomize=False, database=None, deadline=None)


class LongDouble64(np.float64):
    """A long double as on Windows and Apple Silicon, where it has 64 bits."""

    def __new__(cls, value=0):
        if isinstance(value, str) and np.isinf(np.float64(value)):
            warnings.warn("overflow encountered in conversion from string", RuntimeWarning, 2)
        return np.float64(value)


if os.environ.get("SKLEARN_NDCG_LONG_DOUBLE") == "64":  # `nox -s long_double`
    np.longdouble = LongDouble64


def pytest_configure(config):
    """Give whole files to pytest-xdist's workers, so that each file starts its servers once."""
    if config.getoption("dist", "no") == "load":
        config.option.dist = "loadfile"


def pytest_ignore_collect(collection_path):
    """Leave out files that need a library which switches the GIL on again."""
    if sysconfig.get_config_var("Py_GIL_DISABLED") and collection_path.suffix == ".py":
        text = collection_path.read_text(encoding="utf-8")
        with_gil = "polars|pyarrow|lightgbm|duckdb|containers|peers|whose_ndcg"
        return bool(re.search(rf"^(import|from) ({with_gil})\b", text, re.M)) or None
    return None


def pytest_collection_finish():
    """Keep all modules and tests out of garbage collections, which would look at them each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def figures_are_closed():
    """Close what a test has drawn, so that none depends on which one ran before it."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):  # None in the test without matplotlib
        pyplot.close("all")


@pytest.fixture(autouse=True)
def no_fold_was_seen(monkeypatch):
    """Forget the folds that scorers have looked at, and what they have said of them."""
    monkeypatch.setattr("sklearn_ndcg._selection.leaks._test_sets", {})
    monkeypatch.setattr("sklearn_ndcg._selection.leaks._said", set())


@pytest.fixture
def data():
    """X, y and query of 20 queries that all have a relevant document."""
    from helpers import graded_rows

    return graded_rows()


@pytest.fixture
def by_level(data):
    """The same rows, with the query ids as the level "q" of the index of X."""
    X, y, query = data
    return X.assign(q=query).set_index("q"), y, query


@pytest.fixture
def routing():
    """Switch scikit-learn's metadata routing on."""
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(params=["numpy_kernels", "compiled"], ids=["numpy", "compiled"])
def kernels(request, monkeypatch):
    """Run the test with the NumPy kernels and with the compiled ones, where they were built."""
    name = f"sklearn_ndcg._kernels.{request.param}"
    module = pytest.importorskip(name, reason="they were not built")
    monkeypatch.setattr("sklearn_ndcg._kernels.backend", module)
    return module


@pytest.fixture
def interrupts():
    """Let Ctrl-C interrupt, even if pytest runs in the background of a script, which ignores it."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals interrupt only the main thread")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
