"""Time what GroupedRanker adds to a fit, on generated data.

    python benchmarks/bench_ranker.py            # about three minutes
    python benchmarks/bench_ranker.py --quick    # a thirtieth of the data

LightGBM fits 100 rounds to a million rows that are together by query, in the order of the queries'
first rows, with the sizes of 10,000 queries. GroupedRanker gets the same rows shuffled, with string
ids, and passes them on in that order, so the predictions of both must be equal, bit for bit. Times
are seconds of CPU, on one thread. Memory is that of a fit with an estimator that learns nothing, as
a multiple of X.
"""

from functools import partial
from time import process_time

import numpy as np
from common import Promises, compare, extra_memory, options, print_machine
from lightgbm import LGBMRanker
from sklearn.base import BaseEstimator

from sklearn_ndcg import GroupedRanker

in_seconds_of_cpu = partial(compare, rounds=3, clock=process_time)


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


def together(X, y, ids):
    """Return rows by query, in the order of the queries' first rows, and the numbers of queries."""
    _, first, codes = np.unique(ids, return_index=True, return_inverse=True)
    query = np.argsort(np.argsort(first))[codes]
    order = np.argsort(query, kind="stable")
    return X[order], y[order], query[order]


def compare_fits(bare, X, y, ids):
    """Return the time of a fit by GroupedRanker as a multiple of a fit by LightGBM."""
    X_sorted, y_sorted, query = together(X, y, ids)
    sizes = np.bincount(query)
    some = X[:1000]

    def fit(ranker, *data, **groups):
        return ranker.fit(*data, **groups).predict(some)

    scores = fit(bare, X_sorted, y_sorted, group=sizes)
    ranker, nothing = GroupedRanker(bare), GroupedRanker(Nothing())
    return in_seconds_of_cpu(
        f"{len(sizes):,} queries, {len(y):,} rows, {X.shape[1]} features",
        ("LightGBM, together", partial(fit, bare, X_sorted, y_sorted, group=sizes), scores, 0),
        ("GroupedRanker, shuffled", partial(fit, ranker, X, y, groups=ids), scores, 0),
        ("GroupedRanker, around nothing", partial(fit, nothing, X, y, groups=ids), np.zeros(1000)),
    )["GroupedRanker, shuffled"]


def main():
    """Compare and check the promises."""
    quick = options(__doc__).parse_args().quick
    promise = Promises(quick=quick)
    print_machine()
    X, y, ids = make_data(300 if quick else 10_000)
    lightgbm = LGBMRanker(random_state=0, deterministic=True, n_jobs=1, verbose=-1)
    promise("fit, GroupedRanker / LightGBM", compare_fits(lightgbm, X, y, ids), most=1.5)
    extra = extra_memory(lambda: GroupedRanker(Nothing()).fit(X, y, groups=ids)) / X.nbytes
    promise("extra memory / X, around nothing", extra, most=4, quick=False)
    promise.exit()


if __name__ == "__main__":
    main()
