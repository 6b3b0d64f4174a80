"""As much data as a machine can take, each test in its own process.

It reports processor time, which other work on the machine does not change, and peak memory.

Run by ``pytest -m slow -s tests/kernels/test_limits.py``, which prints the figures.
"""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
PRELUDE = """
import json, time, sys
import numpy as np
import sklearn_ndcg as sn

def peak():
    with open("/proc/self/status") as status:
        return next(int(row.split()[1]) for row in status if row.startswith("VmHWM")) / 2**20

def report(**results):
    print(json.dumps({"gigabytes": round(peak(), 2), **results}))
"""

SWITCHES = ["-W", "error", "-W", "ignore::UserWarning"]  # about queries of one document or grade


def free_gigabytes():
    try:
        with open("/proc/meminfo", encoding="ascii") as info:
            row = next(row for row in info if row.startswith("MemAvailable"))
    except OSError:
        pytest.skip("no /proc, which says how much memory there is")
    return int(row.split()[1]) / 2**20


def run(code, gigabytes, timeout=300):
    """What the code reports, run in a new process."""
    if free_gigabytes() < gigabytes:
        pytest.skip(f"needs {gigabytes} GB of memory")
    command = [sys.executable, "-P", *SWITCHES, "-c", PRELUDE + code]
    process = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, timeout=timeout
    )
    assert process.returncode == 0, process.stderr
    results = json.loads(process.stdout)
    print(os.environ.get("PYTEST_CURRENT_TEST", "").split("::")[-1], results)
    return results


QUERY = "np.zeros(n, int)"
LONG_AND_SHORT = "np.r_[np.zeros(n // 2, int), np.arange(1, n - n // 2 + 1)]"
SHAPES = {  # groups and scores of n rows
    "integers in a list": ("list(range(n))", "np.arange(n)"),
    "text": ("[f'query {i}' for i in range(n)]", "np.arange(n)"),
    "pairs": ("[(i % 7, str(i)) for i in range(n)]", "np.arange(n)"),
    "scattered": ("np.random.default_rng(0).integers(0, n, n)", "np.arange(n)"),
    "one query, sorted": (QUERY, "np.arange(n)"),
    "one query, all tied": (QUERY, "np.zeros(n)"),
    "one query, one bucket": (QUERY, "np.r_[1e300, np.random.default_rng(0).random(n - 1)]"),
    "a long one and many short": (LONG_AND_SHORT, "np.arange(n)"),
    "many lengths": ("np.repeat(np.arange(1500), np.arange(1500))[:n]", "np.arange(n)"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_time_does_not_grow_with_the_square(shape):
    """Four times the rows may take a little more than four times as long, not sixteen."""
    groups, scores = SHAPES[shape]
    code = f"""
def timed(n):
    groups = {groups}
    rows = np.random.default_rng(1).random(n), {scores}
    before = time.process_time()
    sn.ndcg_curve(*rows, groups=groups, k=[1, 10, 1000])
    return time.process_time() - before

timed(10)
first, second = (min(timed(n) for _ in range(3)) for n in (200_000, 800_000))
report(first=round(first, 4), second=round(second, 4), ratio=round(second / first, 2))
"""
    assert run(code, gigabytes=2)["ratio"] < 8


def test_the_memory_of_a_hundred_thousand_calls_of_a_scorer_is_flat():
    code = """
import os
from sklearn.base import BaseEstimator, RegressorMixin

class First(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]

rng = np.random.default_rng(0)
query = np.repeat(np.arange(10), 10)
X, y = np.c_[rng.normal(size=100), query], rng.integers(0, 4, 100)
scorer, megabytes = sn.make_ndcg_scorer(k=5, group_by=lambda X: X[:, 1]), []
model = sn.GroupedRanker(First(), group_by=lambda X: X[:, 1]).fit(X[:50], y[:50])
for _ in range(10):
    for _ in range(10_000):
        scorer(model, X[50:], y[50:])
    pages = int(open("/proc/self/statm").read().split()[1])
    megabytes.append(round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 2))
report(megabytes=megabytes)
"""
    megabytes = run(code, gigabytes=1, timeout=600)["megabytes"]
    assert max(megabytes) < megabytes[0] + 1


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
@pytest.mark.parametrize("kilobytes", range(0, 90_000, 5000))
def test_memory_that_runs_out_is_an_error_or_costs_nothing(kilobytes):
    code = f"""
import resource
rng = np.random.default_rng(0)
n = 1_200_000
rows = rng.integers(0, 5, n).astype(float), rng.random(n)
groups = rng.integers(0, 9000, n)

def score():
    return sn.ndcg_score(*rows, groups=groups, k=10, undefined=0.0)

expected, used = score(), int(open("/proc/self/statm").read().split()[0])
more = resource.getpagesize() * used + {kilobytes} * 1024
resource.setrlimit(resource.RLIMIT_AS, (more, resource.RLIM_INFINITY))
try:
    outcome = "right" if score() == expected else "wrong"
except MemoryError:
    outcome = "MemoryError"
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
report(outcome=outcome, is_right_again=score() == expected)
"""
    results = run(code, gigabytes=1, timeout=60)
    assert results["outcome"] in ("right", "MemoryError")
    assert results["is_right_again"]
