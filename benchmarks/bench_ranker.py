"""Time what GroupedRanker adds to a fit, and early stopping by a scorer, on generated data.

    python benchmarks/bench_ranker.py            # about three minutes
    python benchmarks/bench_ranker.py --quick    # a tenth of the data, to see that it runs

LightGBM fits 100 rounds to a million sorted rows, with the sizes of 10,000 queries. GroupedRanker
gets the same rows shuffled, with string ids. A stable sort gives the rows that LightGBM gets, so
the predictions of both must be equal, bit for bit. The fits take turns, and the faster of each
counts.

Early stopping by a scorer is compared with early stopping by the library's own NDCG@10, for
LightGBM and XGBoost on a fifth of the queries, in seconds of CPU: again in turns, and the fastest
of each counts.

The exit status is 1 if GroupedRanker adds 15% or more, or the scorer 10% or more. Memory is the
peak that a fit allocates with an estimator that learns nothing, as a multiple of the size of X.
"""

import argparse
import sys
import tracemalloc
from importlib.metadata import version
from time import perf_counter, process_time

import numpy as np
import xgboost
from lightgbm import LGBMRanker
from sklearn.base import BaseEstimator

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer

ROUNDS = 2
PROMISED = 0.15
STOPPING_ROUNDS = 5
STOPPING_PROMISED = 0.1


class Nothing(BaseEstimator):
    """An estimator whose `fit` takes groups as LightGBM's does, and does nothing."""

    def fit(self, X, y, group):
        """Learn nothing."""

    def predict(self, X):
        """Score all rows alike."""
        return np.zeros(len(X))


def make_data(n_queries):
    """Generate X, grades and string ids in shuffled rows: queries of 50 to 150 documents."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(50, 151, n_queries)
    query = rng.permutation(np.repeat(np.arange(n_queries), lengths))
    X = rng.normal(size=(len(query), 20)).astype(np.float32)
    y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(query))), 0, 4)
    return X, y.astype(int), np.char.mod("query-%05d", query)


def timed(fit, X, y, **groups):
    """Return the seconds that a fit takes."""
    start = perf_counter()
    fit(X, y, **groups)
    return perf_counter() - start


def extra_memory(X, y, ids):
    """Return the peak memory allocated by GroupedRanker, as a multiple of X."""
    tracemalloc.start()
    GroupedRanker(Nothing()).fit(X, y, groups=ids)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / X.nbytes


def added_by_scoring(library, X, y, ids):
    """Print and return the extra time of stopping by a scorer instead of the library's NDCG."""
    scorer = make_ndcg_scorer(k=10, gain="exponential", undefined=1.0)
    seconds = {None: [], scorer: []}
    for _ in range(STOPPING_ROUNDS):
        for scoring, times in seconds.items():
            ranker = GroupedRanker(
                library, k=10, early_stopping=True, scoring=scoring, n_iter_no_change=100,
                random_state=0,
            )  # fmt: skip
            start = process_time()
            ranker.fit(X, y, groups=ids)
            times.append(process_time() - start)
    own, by_scorer = map(min, seconds.values())
    added = by_scorer / own - 1
    print(
        f"{added:8.1%}   added by scoring, {type(library).__name__}, {own:.2f} s of CPU, promised "
        f"< {STOPPING_PROMISED:.0%}: {'kept' if added < STOPPING_PROMISED else 'BROKEN'}",
        flush=True,
    )
    return added


def main():
    """Compare, check the promise and return the exit status."""
    parser = argparse.ArgumentParser(description="Time GroupedRanker and LightGBM alone.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, as a smoke test")
    quick = parser.parse_args().quick
    X, y, ids = make_data(1_000 if quick else 10_000)
    order = np.argsort(ids, kind="stable")
    sizes = np.unique(ids, return_counts=True)[1]
    X_sorted, y_sorted = X[order], y[order]
    packages = "sklearn-ndcg", "lightgbm", "scikit-learn", "numpy"
    print(", ".join(f"{name} {version(name)}" for name in packages), "xgboost", xgboost.__version__)
    print(f"{len(sizes):,} queries, {len(y):,} rows, {X.shape[1]} features", flush=True)

    bare = LGBMRanker(n_estimators=100, random_state=0, deterministic=True, n_jobs=2, verbose=-1)
    grouped = GroupedRanker(bare)
    nothing = GroupedRanker(Nothing())
    names = "LightGBM, sorted", "GroupedRanker, shuffled", "GroupedRanker, around nothing"
    times = {name: [] for name in names}
    for _ in range(ROUNDS):
        times[names[0]].append(timed(bare.fit, X_sorted, y_sorted, group=sizes))
        times[names[1]].append(timed(grouped.fit, X, y, groups=ids))
        times[names[2]].append(timed(nothing.fit, X, y, groups=ids))
        np.testing.assert_array_equal(grouped.predict(X_sorted), bare.predict(X_sorted))
    best = {name: min(seconds) for name, seconds in times.items()}
    print("\n   ratio   seconds")
    for name, seconds in best.items():
        print(f"{seconds / best[names[0]]:8.3f} {seconds:9.2f}   {name}")
    print(f"\n{extra_memory(X, y, ids):8.2f}   extra memory / X, around nothing")

    added = best[names[1]] / best[names[0]] - 1
    kept = added < PROMISED
    print(f"{added:8.1%}   added, promised < {PROMISED:.0%}: {'kept' if kept else 'BROKEN'}")
    some = np.isin(ids, np.unique(ids)[: len(sizes) // 5])
    libraries = (
        LGBMRanker(n_estimators=100, random_state=0, n_jobs=1, verbose=-1),
        xgboost.XGBRanker(n_estimators=100, random_state=0, n_jobs=1),
    )
    print(f"\n{some.sum():,} rows, 100 rounds")
    added = [added_by_scoring(library, X[some], y[some], ids[some]) for library in libraries]
    kept = kept and max(added) < STOPPING_PROMISED
    return 0 if kept or quick else 1


if __name__ == "__main__":
    sys.exit(main())
