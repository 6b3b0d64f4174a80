"""Time sklearn_ndcg and other libraries' NDCG, on generated data in the shape of MSLR-WEB30K.

    python -m pip install ".[test]"      # the peers; missing ones are left out
    python benchmarks/bench_ndcg.py            # about five minutes
    python benchmarks/bench_ndcg.py --quick    # a thirtieth of the data

Peers get their data in advance, in the form that they need; our functions get arrays, and check
them, in one thread. First all values must agree: ours with a loop over scikit-learn (over every
tenth query, if the loop itself is not timed), and each peer's with the `CONVENTIONS` of its name.
The exit status is 1 if a promise is broken.
"""

import sys
import warnings
from functools import partial
from importlib.metadata import packages_distributions, version
from pathlib import Path
from statistics import median

import numpy as np
from common import Promises, checked_seconds, compare, extra_memory, options, print_machine
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import CONVENTIONS, _kernels, ndcg_curve, ndcg_samples, ndcg_score

sys.path.append(str(Path(__file__).parents[1] / "tests" / "tools"))
from peers import PEERS, scikit_learn

GRADES = (0.52, 0.32, 0.13, 0.02, 0.01)  # shares of the grades 0 to 4 in MSLR-WEB30K
CUTOFFS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200)
WITH_THREADS = ("lightgbm", "xgboost", "catboost")
# times as long as ours, in one thread and in two, on a machine whose memory others use, too
LEAST = {"sklearn": 150, "lightgbm": 4, "xgboost": 5, "catboost": 15}
LEAST_IN_TWO_THREADS = LEAST | {"lightgbm": 2, "xgboost": 2.5}
BY_DICTS = ("pytrec_eval", "ir_measures", "ranx")  # bench_inputs.py times them with the reading


# rax compares every row with every other, which takes 38 GB for 10^5 rows
PEERS_TIMED = [
    each for each in PEERS if each.convention and each.installed and each.library != "rax"
]


def ragged(n_queries):
    """Generate y_true, y_score and groups: queries of 1 to 1251 documents, 124 on average."""
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.lognormal(np.log(87), 0.85, n_queries), 1, 1251).astype(int)
    y_true = rng.choice(len(GRADES), lengths.sum(), p=GRADES).astype(float)
    return y_true, rng.normal(size=len(y_true)), np.repeat(np.arange(n_queries), lengths)


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
    rounded = s.round(1)
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
        ("gain='exponential'", ours(gain="exponential"), known(2**y - 1)),
        ("scores rounded to 0.1", ours(s=rounded), known(s=rounded)),
        ("k=None", ours(k=None), known(k=None)),
        ("k=None, NumPy kernels", on_numpy(ours(k=None)), known(k=None)),
        ("k=None, rounded", with_ties, known(s=rounded, k=None)),
        ("k=None, rounded, NumPy kernels", on_numpy(with_ties), known(s=rounded, k=None)),
        ("integer ids, rows shuffled", ours(*shuffled), values),
        ("string ids", ours(ids=text), values),
        ("string ids, dtype object", ours(ids=text.astype(object)), values),
        ("ndcg_curve, k=200", curve(200), means[-1:]),
        ("ndcg_curve, ten cutoffs up to 200", curve(*CUTOFFS), means),
    )


def compare_peers(data, left_out=(), n_threads=1):
    """Return each library's time as a multiple of ours, on ragged queries, k=10.

    With several threads, only libraries that have them are timed. Numbers of threads are not
    compared in one call, as LightGBM's is that of the booster which was made last.
    """
    y, s, ids = data
    # some libraries take only such scores and relevance
    y, s = y.astype(int), s.astype(np.float32).astype(float)
    ours = partial(ndcg_samples, y, s, groups=ids, k=10)
    contestants = [("sklearn_ndcg", ours, ours())]
    for peer in PEERS_TIMED:
        if peer.library not in left_out and (n_threads == 1 or peer.library in WITH_THREADS):
            y_own, s_own, ids_own = peer.rows(y, s, ids)
            expected = ndcg_samples(
                y_own, s_own, groups=ids_own, k=10, **CONVENTIONS[peer.convention]
            )
            if "skip" in peer.convention:
                expected = np.nanmean(expected)
            threads = {"n_threads": n_threads} if peer.library in WITH_THREADS else {}
            call = peer.compute(y, s, ids, 10, **threads)
            name = f"{peer.library} {peer.call}" + f", {n_threads} threads" * (n_threads > 1)
            contestants.append((name, call, expected, peer.tolerance))
    title = f"{len(set(ids)):,} queries, {len(y):,} documents, k=10"
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


def print_peers():
    """Print the versions of the libraries that are timed."""
    names = packages_distributions()  # XGBoost may be xgboost or xgboost-cpu
    libraries = dict.fromkeys(peer.library for peer in PEERS_TIMED if peer.library != "sklearn")
    print(", ".join(f"{each} {version(names[each][0])}" for each in libraries))


def main():
    """Compare and check the promises."""
    quick = options(__doc__).parse_args().quick
    part = 30 if quick else 1
    promise = Promises(quick=quick)
    # a query without a relevant document counts 0, as in scikit-learn, which does not warn
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    print_machine()
    print_peers()
    data = ragged(31_531 // part)
    order = np.random.default_rng(3).permutation(len(data[0]))
    shuffled = [column[order] for column in data]

    ours = compare_ours(data, shuffled)
    passed = ours["one pass over memory: y_true.sum() + y_score.sum()"]
    promise("k=10 / one pass over memory", 1 / passed, most=25, quick=False)
    promise("exponential / linear gain", ours["gain='exponential'"], most=1.5)
    tied = ours["k=None, rounded, NumPy kernels"] / ours["k=None, rounded"]
    promise("k=None with ties, NumPy kernels / compiled", tied, least=2)
    curve = ours["ndcg_curve, ten cutoffs up to 200"] / ours["ndcg_curve, k=200"]
    promise("curve, ten cutoffs / one", curve, most=1.5)
    promise("shuffled / contiguous", ours["integer ids, rows shuffled"], most=5)

    peers = compare_peers(data, left_out=(*BY_DICTS, "torchmetrics"))  # by a loop: small data only
    in_two_threads = compare_peers(data, n_threads=2)
    for ratios, least in ((peers, LEAST), (in_two_threads, LEAST_IN_TWO_THREADS)):
        for name, ratio in ratios.items():
            if (library := name.split()[0]) in least:
                of_loop = library == "sklearn"  # which is far slower with little data, too
                promise(f"{name} / sklearn_ndcg", ratio, least=least[library], quick=of_loop)
    loop = peers["sklearn ndcg_score"] / ours["k=None, rounded"]
    promise("scikit-learn's loop / sklearn_ndcg with k=None and ties", loop, least=60)
    compare_peers(ragged(806 // part), left_out=BY_DICTS)

    matrix = compare_matrix(30_000 // part, 10)
    promise("scikit-learn / sklearn_ndcg, matrix", matrix["scikit-learn"], least=15)
    ratio = matrix["scikit-learn, ignore_ties=True"]
    promise("the same with ignore_ties=True for scikit-learn", ratio, least=2)
    for name, ratio in compare_small().items():
        if name != "scikit-learn":
            promise(f"one small query, {name} / scikit-learn", ratio, most=0.6)
    growth = compare_sizes((3, 4, 5, 6) if quick else (3, 4, 5, 6, 7, 7.5))
    ratio = max(growth) / min(growth)
    promise("slowest / fastest row from 10^5 rows on", ratio, most=2.5, quick=False)

    for name, rows, k, most in (
        ("contiguous", data, 10, 0.3),
        ("contiguous, k=None", data, None, 0.3),
        ("shuffled integer ids", shuffled, 10, 2),
    ):
        y, s, ids = rows
        extra = extra_memory(partial(ndcg_samples, y, s, groups=ids, k=k))
        inputs = sum(column.nbytes for column in rows)
        promise(f"extra memory / inputs, {name}", extra / inputs, most=most, quick=False)
    promise.exit()


if __name__ == "__main__":
    main()
