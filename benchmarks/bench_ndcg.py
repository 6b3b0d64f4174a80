"""Time sklearn_ndcg beside scikit-learn, on generated data in the shape of MSLR-WEB30K.

    python benchmarks/bench_ndcg.py            # about a minute and a half
    python benchmarks/bench_ndcg.py --quick    # a tenth of the data, to see that it runs

Measured are 31,531 ragged queries with 3.9 million documents, a matrix of 30,000 queries by 100
documents, and one query of ten documents. The first row of a table is the unit of its ratios: they
hold from machine to machine, seconds do not. The calls of a table take turns and the median of
their times counts, so that a change in the load of the machine meets them all. All values are
first asserted equal to 1e-12: query by query to a loop over scikit-learn (of every tenth query,
where that loop is not timed itself), or mean to mean.

At the end stand the promises of the package; the exit status is 1 if one of them is broken.
"""

import argparse
import os
import platform
import re
import sys
import tracemalloc
import warnings
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import scipy
import sklearn
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

import sklearn_ndcg
from sklearn_ndcg import ndcg_curve, ndcg_samples, ndcg_score

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from peers import scikit_learn

GRADES = (0.52, 0.32, 0.13, 0.02, 0.01)  # shares of the grades 0 to 4 in MSLR-WEB30K
CUTOFFS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200)
ROUNDS = 5
SLOW = 5  # seconds; a call that takes longer is not repeated: its check is its time


PEERS = {"scikit-learn, one call a query": scikit_learn}


def ragged(n_queries):
    """Generate y_true, y_score and groups: queries of 1 to 1251 documents, 124 on average."""
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.lognormal(np.log(87), 0.85, n_queries), 1, 1251).astype(int)
    y_true = rng.choice(len(GRADES), lengths.sum(), p=GRADES).astype(float)
    return y_true, rng.normal(size=len(y_true)), np.repeat(np.arange(n_queries), lengths)


def compare(title, *contestants):
    """Print how long calls take, each given as (name, call, expected); ratios to the first."""
    times = {name: [checked_seconds(name, *rest)] for name, *rest in contestants}
    for name, *rest in contestants * ROUNDS:
        if times[name][0] < SLOW:
            times[name].append(checked_seconds(name, *rest))
    # the first call warms up, and counts only where it is the only one
    typical = {name: median(each[1:] or each) for name, each in times.items()}
    ratios = {name: each / typical[contestants[0][0]] for name, each in typical.items()}
    print(f"\n   ratio   seconds   {title}")
    for name, ratio in ratios.items():
        print(f"{ratio:8.2f} {typical[name]:9.4f}   {name}", flush=True)
    return ratios


def checked_seconds(name, call, expected):
    """Time a call, and stop if its values are wrong; nan is expected where none is known."""
    start = perf_counter()
    found = call()
    seconds = perf_counter() - start
    expected = np.mean(expected) if np.ndim(found) == 0 else expected
    found = np.where(np.isnan(expected), np.nan, found)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=name)
    return seconds


def compare_ragged(data, shuffled):
    """Return how many times as long as ours a loop over scikit-learn takes."""
    y, s, ids = data
    rounded, single = s.round(1), s.astype(np.float32)
    text = np.char.mod("query-%05d", ids)  # with zeros in front, to sort like the integers

    def ours(y=y, s=s, ids=ids, k=10, **options):
        return partial(ndcg_samples, y, s, groups=ids, k=k, **options)

    def curve(k):
        return lambda: ndcg_curve(y, s, groups=ids, k=k)[1]

    def known(y=y, s=s, k=10):
        return scikit_learn(y, s, ids, k, every=10)()

    values = ours()()  # what the peers, who take all queries, have to return as well
    means = [ours(k=k)().mean() for k in CUTOFFS]
    return compare(
        f"{len(values):,} queries, {len(y):,} documents, k=10",
        ("sklearn_ndcg", ours(), known()),
        ("one pass over memory: y_true.sum() + y_score.sum()", lambda: y.sum() + s.sum(), np.nan),
        ("k=None", ours(k=None), known(k=None)),
        ("gain='exponential'", ours(gain="exponential"), known(2**y - 1)),
        ("k=None, scores rounded to 0.1", ours(s=rounded, k=None), known(s=rounded, k=None)),
        ("float32 scores", ours(s=single), known(s=single)),
        ("integer ids, rows shuffled", ours(*shuffled), values),
        ("string ids", ours(ids=text), values),
        ("string ids, dtype object", ours(ids=text.astype(object)), values),
        ("ndcg_curve, one cutoff", curve([10]), [values.mean()]),
        ("ndcg_curve, ten cutoffs", curve(CUTOFFS), means),
        *((name, peer(*data, k=10), values) for name, peer in PEERS.items()),
    )["scikit-learn, one call a query"]


def compare_matrix(n_queries, k, ignore_ties):
    """Return how many times as long as ours scikit-learn takes on a matrix without ties."""
    rng = np.random.default_rng(1)
    y = rng.choice(len(GRADES), (n_queries, 100), p=GRADES).astype(float)
    s = rng.normal(size=y.shape)
    known = scikit_learn(y.ravel(), s.ravel(), np.arange(y.size) // 100, k, every=10)
    ours = partial(ndcg_samples, y, s, k=k, ignore_ties=ignore_ties)
    theirs = partial(metrics.ndcg_score, y, s, k=k, ignore_ties=ignore_ties)
    return compare(
        f"matrix of {n_queries:,} x 100, k={k}, ignore_ties={ignore_ties}",
        ("sklearn_ndcg", ours, known()),
        ("scikit-learn", theirs, ours()),
    )["scikit-learn"]


def compare_small():
    """Show what a call costs that has next to nothing to do."""
    rng = np.random.default_rng(2)
    y, s, ids = rng.integers(5, size=(1, 10)), rng.normal(size=(1, 10)), np.zeros(10, int)
    value = metrics.ndcg_score(y, s)

    def often(metric, *data, **options):
        return lambda: np.mean([metric(*data, **options) for _ in range(1000)])

    compare(
        "1000 calls with one query of 10 documents",
        ("sklearn_ndcg, 1-D with groups", often(ndcg_score, y[0], s[0], groups=ids), value),
        ("sklearn_ndcg, 2-D", often(ndcg_score, y, s), value),
        ("scikit-learn", often(metrics.ndcg_score, y, s), value),
    )


def peak_memory(y_true, y_score, groups):
    """Return the most that a call has allocated at a time, as a multiple of its inputs."""
    tracemalloc.start()
    ndcg_samples(y_true, y_score, groups=groups, k=10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / (y_true.nbytes + y_score.nbytes + groups.nbytes)


def print_machine():
    """Print what the seconds depend on."""
    processor, linux = platform.processor() or platform.machine(), Path("/proc/cpuinfo")
    if linux.exists() and (found := re.search(r"model name\s*: (.*)", linux.read_text())):
        processor = found[1]
    print(f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}")
    packages = sklearn_ndcg, np, scipy, sklearn
    print(", ".join(f"{package.__name__} {package.__version__}" for package in packages))


def main():
    """Compare, judge the promises and return the exit status."""
    parser = argparse.ArgumentParser(description="Time sklearn_ndcg beside scikit-learn.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, a smoke run")
    part = 10 if parser.parse_args().quick else 1
    # a query without a relevant document is 0 for both, and scikit-learn does not warn
    warnings.simplefilter("ignore", UndefinedMetricWarning)

    print_machine()
    data = ragged(31_531 // part)
    order = np.random.default_rng(3).permutation(len(data[0]))
    shuffled = [column[order] for column in data]
    ratio = compare_ragged(data, shuffled)
    promises = {f"{ratio:8.2f} >= 60   scikit-learn, one call a query / sklearn_ndcg": ratio >= 60}
    for k in (10, None):
        ratio = compare_matrix(30_000 // part, k, ignore_ties=False)
        promises[f"{ratio:8.2f} >= 4    scikit-learn / sklearn_ndcg, matrix, k={k}"] = ratio >= 4
        compare_matrix(30_000 // part, k, ignore_ties=True)
    compare_small()
    for name, rows in ("contiguous", data), ("shuffled", shuffled):
        ratio = peak_memory(*rows)
        promises[f"{ratio:8.2f} < 4     extra memory / inputs, {name} integer ids"] = ratio < 4

    print("\n   ratio   promised" + (" for ten times the data, so not judged" if part > 1 else ""))
    for promise, kept in promises.items():
        print(promise if part > 1 else f"{promise}: {'kept' if kept else 'BROKEN'}")
    return 0 if part > 1 or all(promises.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
