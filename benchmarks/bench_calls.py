"""Count the Python function calls of this package in small calls, and time these calls.

    python -m pip install ".[test]"              # pandas, Polars and LightGBM
    python benchmarks/bench_calls.py             # about a minute
    python benchmarks/bench_calls.py --quick     # fewer repetitions

Every call has 40 rows in ten queries, and none of them warns. The second of two equal calls is
counted, because the first one imports modules and fills caches. Comprehensions, generators, lambdas
and the `__init__` that dataclasses write are not counted. The time is the smallest of many, in
processor time. A number of calls is not a promise: it shows how long the way of a small call is.
"""

import os
import sys
from collections import Counter
from inspect import CO_GENERATOR
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import polars as pl
from common import options, print_machine
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge

import sklearn_ndcg
from sklearn_ndcg import GroupedRanker, frames, make_ndcg_scorer, ndcg_score
from sklearn_ndcg.inference import compare_rankers

PACKAGE = str(Path(sklearn_ndcg.__file__).parent) + os.sep


def small_calls():
    """Return the calls that are counted, by name."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(10), 4)
    y = rng.integers(1, 5, len(query))
    features = pd.DataFrame(rng.normal(size=(len(query), 3)), columns=["a", "b", "c"])
    in_index = features.set_index(pd.Index(query, name="q"))
    in_column = features.assign(q=query)
    scores = {name: y + rng.normal(size=len(y)) for name in ("first", "second")}
    table = pl.DataFrame({"q": query, "y": y, "s": scores["first"]})
    model, scorer = Ridge().fit(in_index, y), make_ndcg_scorer(group_by="q")
    booster = LGBMRanker(n_estimators=1, num_leaves=2, min_child_samples=1, n_jobs=1, verbose=-1)
    ranker = GroupedRanker(booster, group_by="q")
    columns = {"y_true": "y", "y_score": "s", "groups": "q"}
    return {
        "ndcg_score": lambda: ndcg_score(y, scores["first"], groups=query),
        "scorer, ids in the index": lambda: scorer(model, in_index, y),
        "compare_rankers, two rankers": lambda: compare_rankers(
            y, scores, groups=query, random_state=0
        ),
        "frames.ndcg_score, Polars": lambda: frames.ndcg_score(table, **columns),
        "GroupedRanker.fit, LightGBM, ids in the index": lambda: ranker.fit(in_index, y),
        "GroupedRanker.fit, LightGBM, ids in a column": lambda: ranker.fit(in_column, y),
    }


def count_calls(call):
    """Count the calls of each Python function of the package during a call."""
    counts = Counter()

    def profile(frame, event, _):
        code = frame.f_code
        is_ours = event == "call" and code.co_filename.startswith(PACKAGE)
        if is_ours and not code.co_flags & CO_GENERATOR and not code.co_name.startswith("<"):
            counts[f"{code.co_filename.removeprefix(PACKAGE)}: {code.co_qualname}"] += 1

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return counts


def least_seconds(call, rounds):
    """Return the smallest processor time of a call, and run it often enough to find it."""
    seconds = []
    for _ in range(rounds):
        start = process_time()
        call()
        seconds.append(process_time() - start)
    return min(seconds)


def main():
    """Count and time each call."""
    parser = options(__doc__)
    parser.add_argument("--functions", action="store_true", help="print each function that runs")
    arguments = parser.parse_args()
    print_machine()
    print("\n   calls  functions  milliseconds   40 rows")
    for name, call in small_calls().items():
        call()
        counts = count_calls(call)
        milliseconds = 1000 * least_seconds(call, 20 if arguments.quick else 500)
        print(f"{counts.total():8} {len(counts):10} {milliseconds:13.3f}   {name}", flush=True)
        if arguments.functions:
            for function, count in counts.most_common():
                print(f"{count:8} {'':24}   {function}")


if __name__ == "__main__":
    main()
