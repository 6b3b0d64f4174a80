"""Time what GroupedRanker adds to a fit, and early stopping by a scorer, on generated data.

    python benchmarks/bench_ranker.py            # about three minutes
    python benchmarks/bench_ranker.py --quick    # a thirtieth of the data

LightGBM fits 100 rounds to a million rows that are together by query, in the order of the queries'
first rows, with the sizes of 10,000 queries. GroupedRanker gets the same rows shuffled, with string
ids, and passes them on in that order, so the predictions of both must be equal, bit for bit. Early
stopping by a scorer is compared with early stopping by the library's own NDCG@10, on a fifth of the
queries. Times are seconds of CPU, on one thread. Memory is that of a fit with an estimator that
learns nothing, as a multiple of X: of shuffled rows, and of rows that are together, with ids in the
first column of an array.
"""

from functools import partial
from time import process_time

import numpy as np
from common import Promises, compare, extra_memory, options, print_machine
from lightgbm import LGBMRanker
from sklearn.base import BaseEstimator
from xgboost import XGBRanker

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer

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


def compare_stopping(library, X, y, ids):
    """Return the time of stopping by a scorer as a multiple of stopping by the library's NDCG."""
    scorer = make_ndcg_scorer(k=10, gain="exponential", undefined=1.0)

    def fit(scoring):
        ranker = GroupedRanker(
            library, k=10, early_stopping=True, scoring=scoring, n_iter_no_change=100,
            random_state=0,
        )  # fmt: skip
        ranker.fit(X, y, groups=ids)
        return np.nan

    return in_seconds_of_cpu(
        f"{len(y):,} rows, 100 rounds, {type(library).__name__} stopped by",
        ("its own NDCG", partial(fit, None), np.nan),
        ("a scorer", partial(fit, scorer), np.nan),
    )["a scorer"]


def main():
    """Compare and check the promises."""
    quick = options(__doc__).parse_args().quick
    promise = Promises(quick=quick)
    print_machine()
    X, y, ids = make_data(300 if quick else 10_000)
    lightgbm = LGBMRanker(random_state=0, deterministic=True, n_jobs=1, verbose=-1)
    promise("fit, GroupedRanker / LightGBM", compare_fits(lightgbm, X, y, ids), most=1.5)
    some = np.isin(ids, np.unique(ids)[: len(np.unique(ids)) // 5])
    for library in (lightgbm, XGBRanker(n_estimators=100, random_state=0, n_jobs=1)):
        ratio = compare_stopping(library, X[some], y[some], ids[some])
        name = type(library).__name__
        promise(f"stopping by a scorer / by its own NDCG, {name}", ratio, most=1.5, quick=False)
    extra = extra_memory(lambda: GroupedRanker(Nothing()).fit(X, y, groups=ids)) / X.nbytes
    promise("extra memory / X, around nothing", extra, most=4, quick=False)
    rows, relevance, query = together(X, y, ids)
    rows = np.insert(rows, 0, query, axis=1)
    in_column = GroupedRanker(Nothing(), group_by=0)
    extra = extra_memory(lambda: in_column.fit(rows, relevance).predict(rows)) / rows.nbytes
    promise("extra memory / X, ids in the first column", extra, most=1, quick=False)
    promise.exit()


if __name__ == "__main__":
    main()
