"""Time sklearn_ndcg and other libraries' NDCG, on generated data in the shape of MSLR-WEB30K.

    python -m pip install ".[agreement,test]"  # the peers; missing ones are left out
    python benchmarks/bench_ndcg.py            # about five minutes
    python benchmarks/bench_ndcg.py --quick    # a tenth of the data, to see that it runs

The ratios of a table are relative to its first row; they depend less on the machine than seconds
do. The calls of a table take turns, so that a change in the machine's load affects all of them, and
the median of their times counts. Peers get their data in advance, in the form that they need; our
functions get arrays, and check them. First all values must agree: ours with a loop over
scikit-learn (over every tenth query, if the loop itself is not timed), and each peer's with the
`CONVENTIONS` of its name.

At the end, the promises of the package are checked. The exit status is 1 if one of them is broken.
"""

import argparse
import os
import platform
import re
import sys
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import CONVENTIONS, _kernels, ndcg_curve, ndcg_samples, ndcg_score, show_versions

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from peers import PEERS, Peer, scikit_learn

GRADES = (0.52, 0.32, 0.13, 0.02, 0.01)  # shares of the grades 0 to 4 in MSLR-WEB30K
CUTOFFS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200)
ROUNDS = 5
SLOW = 5  # seconds; a slower call is not repeated: the time of its check counts
WITH_THREADS = ("lightgbm", "xgboost", "catboost")
BY_DICTS = ("pytrec_eval", "ir_measures", "ranx")  # see bench_inputs.py: it times reading them, too


def polars(y_true, y_score, groups, k):
    """Compute NDCG without ties as Polars users would, with window functions and its threads."""
    import polars as pl  # noqa: PLC0415

    frame = pl.DataFrame({"y": y_true, "s": y_score, "q": groups}).lazy()

    def dcg(by):
        rank = pl.col(by).rank("ordinal", descending=True).over("q")
        return pl.when(rank <= k).then(pl.col("y") / (rank + 1).log(2)).otherwise(0).sum().over("q")

    by_row = frame.select("q", dcg=dcg("s"), ideal=dcg("y"))
    ratio = pl.when(pl.col("ideal") > 0).then(pl.col("dcg") / pl.col("ideal")).otherwise(0)
    by_query = by_row.group_by("q").first().sort("q").select(ratio)
    return lambda: by_query.collect().to_series().to_numpy()


# rax compares every row with every other, which takes 38 GB for 10^5 rows
PEERS_TIMED = [
    each for each in PEERS if each.convention and each.installed and each.library != "rax"
]
if find_spec("polars"):
    PEERS_TIMED.append(Peer("polars", "lazy window functions", polars, "sklearn"))


def ragged(n_queries):
    """Generate y_true, y_score and groups: queries of 1 to 1251 documents, 124 on average."""
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.lognormal(np.log(87), 0.85, n_queries), 1, 1251).astype(int)
    y_true = rng.choice(len(GRADES), lengths.sum(), p=GRADES).astype(float)
    return y_true, rng.normal(size=len(y_true)), np.repeat(np.arange(n_queries), lengths)


def compare(title, *contestants):
    """Print times and ratios of calls, each given as (name, call, expected[, tolerance])."""
    times = {name: [checked_seconds(name, *rest)] for name, *rest in contestants}
    for name, *rest in contestants * ROUNDS:
        if times[name][0] < SLOW:
            times[name].append(checked_seconds(name, *rest))
    # the first call warms up, and only counts if it is the only one
    typical = {name: median(each[1:] or each) for name, each in times.items()}
    ratios = {name: each / typical[contestants[0][0]] for name, each in typical.items()}
    print(f"\n   ratio   seconds   {title}")
    for name, ratio in ratios.items():
        print(f"{ratio:8.2f} {typical[name]:9.4f}   {name}", flush=True)
    return ratios


def checked_seconds(name, call, expected, tolerance=1e-12):
    """Time a call and check its values; an expected nan means that the value is not known."""
    start = perf_counter()
    found = call()
    seconds = perf_counter() - start
    expected = np.mean(expected) if np.ndim(found) == 0 else expected
    found = np.where(np.isnan(expected), np.nan, found)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, err_msg=name)
    return seconds


def on_numpy(call):
    """Run a call on the NumPy kernels."""

    def run():
        chosen, _kernels.backend = _kernels.backend, _kernels.numpy_kernels
        try:
            return call()
        finally:
            _kernels.backend = chosen

    return run


def compare_ours(data, shuffled):
    """Compare our own calls on ragged queries; return their ratios to the simplest call."""
    y, s, ids = data
    rounded, single = s.round(1), s.astype(np.float32)
    text = np.char.mod("query-%05d", ids)  # with leading zeros, to sort like the integers

    def ours(y=y, s=s, ids=ids, k=10, **options):
        return partial(ndcg_samples, y, s, groups=ids, k=k, **options)

    def curve(*k):
        return lambda: ndcg_curve(y, s, groups=ids, k=k)[1]

    def known(y=y, s=s, k=10):
        return scikit_learn(y, s, ids, k, every=10)()

    values = ours()()
    means = [ours(k=k)().mean() for k in CUTOFFS]
    with_ties = ours(s=rounded, k=None)
    return compare(
        f"sklearn_ndcg, {len(set(ids)):,} queries, {len(y):,} documents",
        ("k=10", ours(), known()),
        ("one pass over memory: y_true.sum() + y_score.sum()", lambda: y.sum() + s.sum(), np.nan),
        ("NumPy kernels", on_numpy(ours()), values),
        ("gain='exponential'", ours(gain="exponential"), known(2**y - 1)),
        ("integer relevance, float32 scores", ours(y.astype(int), single), known(s=single)),
        ("scores rounded to 0.1", ours(s=rounded), known(s=rounded)),
        ("k=None", ours(k=None), known(k=None)),
        ("k=None, NumPy kernels", on_numpy(ours(k=None)), known(k=None)),
        ("k=None, rounded", with_ties, known(s=rounded, k=None)),
        ("k=None, rounded, NumPy kernels", on_numpy(with_ties), known(s=rounded, k=None)),
        ("k=None, scores exp(3 z)", ours(s=np.exp(3 * s), k=None), known(k=None)),
        ("integer ids, rows shuffled", ours(*shuffled), values),
        ("integer ids, rows shuffled, NumPy kernels", on_numpy(ours(*shuffled)), values),
        ("string ids", ours(ids=text), values),
        ("string ids, dtype object", ours(ids=text.astype(object)), values),
        ("ndcg_curve, k=200", curve(200), means[-1:]),
        ("ndcg_curve, ten cutoffs up to 200", curve(*CUTOFFS), means),
    )


def compare_peers(data, left_out=(), n_threads=2):
    """Return each library's time as a multiple of our one thread's, on ragged queries, k=10.

    Libraries that can use threads use `n_threads` of them.
    """
    y, s, ids = data
    # some libraries take only such scores and relevance
    y, s = y.astype(int), s.astype(np.float32).astype(float)
    ours = partial(ndcg_samples, y, s, groups=ids, k=10)
    contestants = [("sklearn_ndcg", ours, ours())]
    for peer in PEERS_TIMED:
        if peer.library not in left_out:
            y_own, s_own, ids_own = peer.rows(y, s, ids)
            expected = ndcg_samples(
                y_own, s_own, groups=ids_own, k=10, **CONVENTIONS[peer.convention]
            )
            if "skip" in peer.convention:
                expected = np.nanmean(expected)
            threads = {"n_threads": n_threads} if peer.library in WITH_THREADS else {}
            call = peer.compute(y, s, ids, 10, **threads)
            contestants.append((f"{peer.library} {peer.call}", call, expected, peer.tolerance))
    title = f"{len(set(ids)):,} queries, {len(y):,} documents, k=10, peers' threads: {n_threads}"
    return compare(title, *contestants)


def compare_matrix(n_queries, k):
    """Return scikit-learn's time as a multiple of ours, on a matrix without ties."""
    rng = np.random.default_rng(1)
    y = rng.choice(len(GRADES), (n_queries, 100), p=GRADES).astype(float)
    s = rng.normal(size=y.shape)
    known = scikit_learn(y.ravel(), s.ravel(), np.arange(y.size) // 100, k, every=10)
    ours = partial(ndcg_samples, y, s, k=k)
    theirs = partial(metrics.ndcg_score, y, s, k=k)
    return compare(
        f"matrix of {n_queries:,} x 100, k={k}",
        ("sklearn_ndcg", ours, known()),
        ("sklearn_ndcg, NumPy kernels", on_numpy(ours), known()),
        ("scikit-learn", theirs, ours()),
        ("scikit-learn, ignore_ties=True", partial(theirs, ignore_ties=True), ours()),
    )


def compare_small():
    """Return the ratios of our times to scikit-learn's, for calls with very little data."""
    rng = np.random.default_rng(2)
    y, s, ids = rng.integers(5, size=(1, 10)), rng.normal(size=(1, 10)), np.zeros(10, int)
    value = metrics.ndcg_score(y, s)

    def often(metric, *data, **options):
        return lambda: np.mean([metric(*data, **options) for _ in range(1000)])

    return compare(
        "1000 calls with one query of 10 documents",
        ("scikit-learn", often(metrics.ndcg_score, y, s), value),
        ("sklearn_ndcg, 2-D", often(ndcg_score, y, s), value),
        ("sklearn_ndcg, 1-D with groups", often(ndcg_score, y[0], s[0], groups=ids), value),
    )


def compare_threads(data):
    """Return the time of two simultaneous callers with their own data, as a multiple of one's."""
    y, s, ids = data
    first = partial(ndcg_samples, y, s, groups=ids, k=10)
    second = partial(ndcg_samples, y.copy(), -s, groups=ids.copy(), k=10)
    with ThreadPoolExecutor(2) as pool:

        def both():
            calls = [pool.submit(call) for call in (first, second)]
            return calls[0].result() + calls[1].result()

        name = "two callers in threads, each with data of its own"
        return compare(
            "callers",
            ("one caller", first, first()),
            (name, both, first() + second()),
        )[name]


def compare_sizes(powers):
    """Return the times per row, from 10^5 rows on."""
    print("\n  ns/row      rows   k=10, growth")
    times = {}
    for power in powers:
        y, s, ids = ragged(max(int(10**power / 124), 1))
        call = partial(ndcg_samples, y, s, groups=ids, k=10)
        seconds = [checked_seconds("", call, call()) for _ in range(3 if power > 6 else 15)]
        times[power] = median(seconds) / len(y) * 1e9
        print(f"{times[power]:8.2f} {len(y):9,}", flush=True)
    return [time for power, time in times.items() if power >= 5]


def peak_memory(y_true, y_score, groups, k=10):
    """Return the peak memory allocated by a call, as a multiple of its inputs."""
    tracemalloc.start()
    ndcg_samples(y_true, y_score, groups=groups, k=k)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / (y_true.nbytes + y_score.nbytes + groups.nbytes)


def print_machine():
    """Print the machine and the versions, on which the seconds depend."""
    processor, linux = platform.processor() or platform.machine(), Path("/proc/cpuinfo")
    if linux.exists() and (found := re.search(r"model name\s*: (.*)", linux.read_text())):
        processor = found[1]
    print(f"{processor}, {os.cpu_count()} cores")
    show_versions()
    names = packages_distributions()  # XGBoost may be xgboost or xgboost-cpu
    libraries = dict.fromkeys(peer.library for peer in PEERS_TIMED if peer.library != "sklearn")
    print(", ".join(f"{each} {version(names[each][0])}" for each in libraries))


def main():
    """Compare, check the promises and return the exit status."""
    parser = argparse.ArgumentParser(description="Time sklearn_ndcg and other libraries.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, as a smoke test")
    part = 10 if parser.parse_args().quick else 1
    # a query without a relevant document counts 0, as in scikit-learn, which does not warn
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    promises = []

    def promise(what, ratio, least=0.0, most=np.inf):
        bound = f">= {least}" if least else f"<= {most}"
        promises.append((least <= ratio <= most, f"{ratio:8.2f} {bound:>7}   {what}"))

    print_machine()
    data = ragged(31_531 // part)
    order = np.random.default_rng(3).permutation(len(data[0]))
    shuffled = [column[order] for column in data]

    ours = compare_ours(data, shuffled)
    passed = ours["one pass over memory: y_true.sum() + y_score.sum()"]
    promise("k=10 / one pass over memory", 1 / passed, most=12)
    promise("exponential / linear gain", ours["gain='exponential'"], most=1.2)
    tied = ours["k=None, rounded, NumPy kernels"] / ours["k=None, rounded"]
    promise("k=None with ties, NumPy kernels / compiled", tied, least=2)
    curve = ours["ndcg_curve, ten cutoffs up to 200"] / ours["ndcg_curve, k=200"]
    promise("curve, ten cutoffs / one", curve, most=1.5)
    promise("shuffled / contiguous", ours["integer ids, rows shuffled"], most=4.5)

    peers = compare_peers(data, left_out=(*BY_DICTS, "torchmetrics"))  # a loop: small data only
    alone = [each.library for each in PEERS_TIMED if each.library not in WITH_THREADS]
    on_one_thread = compare_peers(data, left_out=alone, n_threads=1)
    for threads, ratios, least in (
        ("two threads", peers, {"sklearn": 300, "lightgbm": 3.3, "xgboost": 4, "catboost": 25}),
        ("one thread", on_one_thread, {"lightgbm": 6, "xgboost": 4, "catboost": 4}),
    ):
        for name, ratio in ratios.items():
            if (library := name.split()[0]) in least:
                promise(f"{name}, {threads} / sklearn_ndcg", ratio, least[library])
    loop = peers["sklearn ndcg_score"] / ours["k=None, rounded"]
    promise("scikit-learn's loop / sklearn_ndcg with k=None and ties", loop, least=80)
    compare_peers(ragged(806 // part), left_out=BY_DICTS)

    for k in (10, None):
        matrix = compare_matrix(30_000 // part, k)
        if k:
            promise("scikit-learn / sklearn_ndcg, matrix", matrix["scikit-learn"], 15)
            ratio = matrix["scikit-learn, ignore_ties=True"]
            promise("the same with ignore_ties=True for scikit-learn", ratio, 4)
    for name, ratio in compare_small().items():
        if name != "scikit-learn":
            promise(f"one small query, {name} / scikit-learn", ratio, most=0.33)
    promise("two callers at once / one", compare_threads(data), most=1.3)
    growth = compare_sizes((3, 4, 5, 6) if part > 1 else (3, 4, 5, 6, 7, 7.5))
    promise("slowest / fastest row from 10^5 rows on", max(growth) / min(growth), most=1.5)

    print("\n  memory   beyond the inputs, as a multiple of them")
    for name, rows, k, most in (
        ("contiguous", data, 10, 0.1),
        ("contiguous, k=None", data, None, 0.1),
        ("shuffled integer ids", shuffled, 10, 4),
    ):
        ratio = peak_memory(*rows, k=k)
        print(f"{ratio:8.2f}   {name}")
        promise(f"extra memory / inputs, {name}", ratio, most=most)

    print("\n   found promised" + (" for all of the data, so not checked" if part > 1 else ""))
    for kept, line in promises:
        print(line if part > 1 else f"{line}: {'kept' if kept else 'BROKEN'}")
    return 0 if part > 1 or all(kept for kept, _ in promises) else 1


if __name__ == "__main__":
    sys.exit(main())
