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
        with open("/proc/meminfo") as info:
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


def test_one_query_of_fifty_million_documents():
    code = """
n = 50_000_000
rng = np.random.default_rng(0)
y, s = rng.integers(0, 5, n, dtype=np.uint8), rng.random(n, dtype=np.float32)
value = sn.ndcg_score(y, s, groups=np.zeros(n, dtype=np.uint8))
gigabytes = peak()
# a random order has the mean gain at each rank; the ideal order has one grade after another
discount = 1 / np.log2(np.arange(2, n + 2))
ideal = np.sort(y)[::-1] @ discount
report(gigabytes=gigabytes, value=value, expected=y.mean() * discount.sum() / ideal)
"""
    results = run(code, gigabytes=8)
    assert results["value"] == pytest.approx(results["expected"], rel=1e-4)
    assert results["gigabytes"] < 6


def test_fifty_million_queries_of_one_document():
    code = """
n = 50_000_000
y = np.resize(np.array([1, 3, 0, 2], dtype=np.uint8), n)
s = np.resize(np.array([0.5, 0.25, 1], dtype=np.float32), n)
report(value=sn.ndcg_score(y, s, groups=np.arange(n), undefined=0.5))
"""
    results = run(code, gigabytes=12)
    assert results["value"] == pytest.approx(3 / 4 + 1 / 4 * 0.5, rel=1e-14)
    assert results["gigabytes"] < 10


QUERY = "np.zeros(n, int)"
LONG_AND_SHORT = "np.r_[np.zeros(n // 2, int), np.arange(1, n - n // 2 + 1)]"
SHAPES = {  # groups and scores of n rows
    "integers in a list": ("list(range(n))", "np.arange(n)"),
    "text": ("[f'query {i}' for i in range(n)]", "np.arange(n)"),
    "pairs": ("[(i % 7, str(i)) for i in range(n)]", "np.arange(n)"),
    "floats of one hash": ("np.arange(n) * 2.0**61", "np.arange(n)"),
    "scattered": ("np.random.default_rng(0).integers(0, n, n)", "np.arange(n)"),
    "one query, sorted": (QUERY, "np.arange(n)"),
    "one query, upside down": (QUERY, "-np.arange(n)"),
    "one query, all tied": (QUERY, "np.zeros(n)"),
    "one query, one bucket": (QUERY, "np.r_[1e300, np.random.default_rng(0).random(n - 1)]"),
    "one query, geometric": (QUERY, "2.0 ** (np.arange(n) % 2000 - 1000)"),
    "a long one and many short": (LONG_AND_SHORT, "np.arange(n)"),
    "many lengths": ("np.repeat(np.arange(1500), np.arange(1500))[:n]", "np.arange(n)"),
}


@pytest.mark.parametrize("call", ["ndcg_samples(*rows", "ndcg_curve(*rows, k=[1, 10, 1000]"])
@pytest.mark.parametrize("ties", ["average", "best"])
@pytest.mark.parametrize("shape", SHAPES)
def test_time_does_not_grow_with_the_square(shape, ties, call):
    """Four times the rows may take a little more than four times as long, not sixteen."""
    groups, scores = SHAPES[shape]
    code = f"""
def timed(n):
    groups = {groups}
    rows = np.random.default_rng(1).random(n), {scores}
    before = time.process_time()
    sn.{call}, groups=groups, ties={ties!r})
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
scorer, megabytes = sn.make_ndcg_scorer(k=5, group_by=-1, all_groups=query), []
model = sn.GroupedRanker(First(), group_by=-1).fit(X[:50], y[:50])
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
@pytest.mark.parametrize("kilobytes", [*range(0, 24_000, 1200), *range(24_000, 90_000, 5000)])
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


@pytest.mark.skipif(sys.platform == "win32", reason="no signals are sent to oneself there")
@pytest.mark.parametrize(("n_queries", "k"), [(500_000, 10), (1, 10), (1, None), (50, None)])
def test_an_interrupt_is_answered_at_once(n_queries, k):
    """Ctrl-C at eight moments of a call on 5*10^7 rows; everything works after it."""
    code = f"""
import os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
n, n_queries = 50_000_000, {n_queries}
rng = np.random.default_rng(0)
y, s = rng.integers(0, 5, n, dtype=np.uint8), rng.random(n, dtype=np.float32)
groups = np.repeat(np.arange(n_queries, dtype=np.int32), n // n_queries)

def score():
    return sn.ndcg_score(y, s, groups=groups, k={k})

expected = score()  # the first call takes longer
began = time.perf_counter()
score()
whole, waited = time.perf_counter() - began, []
for moment in np.linspace(0.02, 0.9, 8) * whole:
    timer = threading.Timer(moment, os.kill, (os.getpid(), signal.SIGINT))
    began = time.perf_counter()
    timer.start()
    try:
        score()
        timer.join()  # it was faster than the first time
        time.sleep(0.1)
    except KeyboardInterrupt:
        waited.append(time.perf_counter() - began - moment)
    timer.join()
    assert threading.active_count() == 1
report(answered=len(waited), longest=round(max(waited), 2), is_right_again=score() == expected)
"""
    results = run(code, gigabytes=8)
    assert results["answered"] >= 5
    assert results["longest"] < 2
    assert results["is_right_again"]
