"""Time what this package takes of a search, with ids of several kinds.

    python benchmarks/bench_search.py            # about three minutes
    python benchmarks/bench_search.py --quick    # a fiftieth of the data

What scikit-learn calls of this package is timed: the splitter, `fit` of GroupedRanker, which calls
LightGBM's, and the scorer, which calls `predict` of both. The package's share is that time without
the time inside the model. It is measured within one search, in seconds of CPU on one thread: two
equal searches differ by more than the package takes. Ridge is a model that is fitted quickly.
"""

from collections import Counter
from contextlib import ExitStack
from functools import wraps
from time import process_time
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
from common import Promises, options, print_machine
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_ndcg import GroupedRanker, QuerySplitter, make_ndcg_scorer


def make_data(n_queries):
    """Generate X of 50 features, grades and the query of each row: about a hundred rows a query."""
    rng = np.random.default_rng(0)
    query = rng.permutation(np.repeat(np.arange(n_queries), rng.integers(50, 151, n_queries)))
    X = rng.normal(size=(len(query), 50))
    y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(query))), 0, 4)
    return X, y.astype(int), query


def tables(X, query):
    """Return X with ids of each kind, and what `group_by` calls them."""
    text = np.char.mod("query-%05d", query)  # in the same order as the integers
    frame = pd.DataFrame(X).add_prefix("feature ")
    columns = pl.DataFrame(X)
    return {
        "integers in the index": (frame.set_index(pd.Index(query, name="query")), "query"),
        "texts in the index": (frame.set_index(pd.Index(text, name="query")), "query"),
        "a column of pandas": (frame.assign(query=query), "query"),
        "a column of Polars": (columns.with_columns(query=query), "query"),
        "a column of texts, Polars": (columns.with_columns(query=text), "query"),
    }


def timed(seconds, owner, method):
    """While this context is entered, add the time inside a method to `seconds` of its name."""
    call = getattr(owner, method)

    @wraps(call)
    def wrapped(*args, **kwargs):
        start = process_time()
        result = call(*args, **kwargs)
        if method == "split":  # which computes the splits when they are asked for
            result = iter(list(result))
        seconds[owner.__name__, method] += process_time() - start
        return result

    return patch.object(owner, method, wrapped)


def search(model, grid, X, y, group_by):
    """Return the scores of a search, its seconds, and what this package took of them."""
    scorer = make_ndcg_scorer(k=10, group_by=group_by)
    search = GridSearchCV(
        GroupedRanker(model, group_by=group_by), grid,
        scoring=scorer, cv=QuerySplitter(3, group_by=group_by), error_score="raise",
    )  # fmt: skip
    ours = [(QuerySplitter, "split"), (GroupedRanker, "fit"), (type(scorer), "__call__")]
    theirs = [(type(model), "fit"), (type(model), "predict")]
    seconds = Counter()
    with ExitStack() as stack:
        for owner, method in [(GridSearchCV, "fit"), *ours, *theirs]:
            stack.enter_context(timed(seconds, owner, method))
        search.fit(X, y)
    sums = [
        sum(seconds[owner.__name__, method] for owner, method in each) for each in (ours, theirs)
    ]
    return search.cv_results_["mean_test_score"], seconds["GridSearchCV", "fit"], sums[0] - sums[1]


# a model, its candidates, and the highest percentage of a search that the package may take
SEARCHES = [
    (
        LGBMRanker(n_estimators=30, n_jobs=1, random_state=0, verbose=-1),
        {"estimator__num_leaves": [15, 31]},
        1.5,
    ),
    (Ridge(), {"estimator__alpha": np.logspace(-3, 3, 8)}, 25),
]


def main():
    """Search with each kind of ids and check the promises."""
    quick = options(__doc__).parse_args().quick
    promise = Promises(quick=quick)
    print_machine()
    X, y, query = make_data(40 if quick else 2000)
    print(f"\n{len(y):,} rows, {X.shape[1]} features, 3 folds and a refit")
    print("  search      ours   share   seconds with ids as")
    for model, grid, most in SEARCHES:
        expected, name = None, type(model).__name__
        for kind, (table, group_by) in tables(X, query).items():
            scores, total, ours = search(model, grid, table, y, group_by)
            expected = scores if expected is None else expected
            np.testing.assert_array_equal(scores, expected, err_msg=kind)
            percent = 100 * ours / total
            print(f"{total:8.2f} {ours:9.3f} {percent:6.2f}%   {name}, {kind}", flush=True)
            promise(f"percent of a search, {name}, {kind}", percent, most=most, quick=False)
    promise.exit()


if __name__ == "__main__":
    main()
