"""Time the other input formats: tables inside Polars and DuckDB, and ranked lists.

    python -m pip install ".[test]"
    python benchmarks/bench_inputs.py            # about two minutes
    python benchmarks/bench_inputs.py --quick    # a thirtieth of the data, and no ranx

`sklearn_ndcg.frames` is compared with a query in the engine's own language that averages over ties
in the same way. `from_lists` and `ndcg_score` together are compared with a plain loop, pytrec_eval,
ir_measures and ranx, from the same dicts to the result. `compare_rankers` on lists and on runs is
compared with ranx, for three rankers and a paired t test. All values must agree, and the exit
status is 1 if a promise is broken. ranx is left out with --quick: Numba compiles it for a minute.
"""

import warnings
from functools import partial
from math import log2, nan

import duckdb
import ir_measures
import numpy as np
import polars as pl
import pytrec_eval
import ranx
from bench_ndcg import print_peers, ragged
from common import SQL, Promises, compare, options, print_machine
from common import in_polars as by_hand_in_polars
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import frames, from_lists, from_trec, ndcg_score
from sklearn_ndcg.inference import compare_rankers

COLUMNS = {"y_true": "grade", "y_score": "score", "groups": "query", "k": 10, "undefined": 0.0}
OURS = "from_lists, ndcg_score"
SCORES = [-1.0 - rank for rank in range(100)]


def compare_tables(n_queries):
    """Return our time in Polars and in DuckDB, as a multiple of the time of a query by hand."""
    y, s, q = ragged(n_queries)
    rows = pl.DataFrame({"query": q, "grade": y, "score": s.round(2)})
    value = ndcg_score(y, s.round(2), groups=q, k=10, undefined=0.0)
    connection = duckdb.connect()
    connection.execute("create table rows as select * from rows")
    table, sql = connection.table("rows"), SQL.format(rows="rows")
    title = f"{n_queries:,} queries, {len(y):,} rows, k=10, NDCG in "
    in_polars = compare(
        title + "Polars, lazily",
        ("by hand", lambda: by_hand_in_polars(rows.lazy()).collect().item(), value),
        ("sklearn_ndcg.frames", partial(frames.ndcg_score, rows.lazy(), **COLUMNS), value),
        ("sklearn_ndcg.frames, eager", partial(frames.ndcg_score, rows, **COLUMNS), value),
    )
    in_duckdb = compare(
        title + "DuckDB",
        ("by hand", lambda: connection.execute(sql).fetchall()[0][0], value),
        ("sklearn_ndcg.frames", partial(frames.ndcg_score, table, **COLUMNS), value),
    )
    return in_polars["sklearn_ndcg.frames"], in_duckdb["sklearn_ndcg.frames"]


def loop(relevant, recommended, k=10):
    """Average NDCG@k over the lists as a plain loop does."""
    discount, total = [1 / log2(rank + 1) for rank in range(1, k + 1)], 0.0
    for user, items in recommended.items():
        truth = relevant[user]
        dcg = sum(truth.get(item, 0) * d for item, d in zip(items[:k], discount, strict=False))
        best = sorted(truth.values(), reverse=True)[:k]
        ideal = sum(grade * d for grade, d in zip(best, discount, strict=False))
        total += dcg / ideal if ideal else 0.0
    return total / len(recommended)


def as_run(lists):
    """Return lists of ids in the form of other libraries, with falling scores."""
    return {query: dict(zip(ids, SCORES, strict=False)) for query, ids in lists.items()}


def time_lists(n_users, quick):
    """Return the times from dicts to NDCG@10 and to NDCG, as multiples of a plain loop's."""
    rng = np.random.default_rng(0)
    recommended, relevant = {}, {}
    for user in range(n_users):
        found, rated = rng.permutation(1000)[:100], rng.permutation(1000)[:20]
        recommended[f"user-{user}"] = [f"item-{i}" for i in found]
        relevant[f"user-{user}"] = {f"item-{i}": int(rng.integers(0, 4)) for i in rated}

    def by_ranx():  # to make a run is part of the time of those that need it
        data = ranx.Qrels(relevant), ranx.Run(as_run(recommended))
        return np.mean(ranx.evaluate(*data, "ndcg@10", return_mean=False))

    def by_pytrec_eval():
        evaluator = pytrec_eval.RelevanceEvaluator(relevant, {"ndcg_cut.10"})
        values = evaluator.evaluate(as_run(recommended)).values()
        return np.mean([value["ndcg_cut_10"] for value in values])

    def by_ir_measures():
        measure = ir_measures.nDCG @ 10
        return ir_measures.calc_aggregate([measure], relevant, as_run(recommended))[measure]

    def ours(k=None):
        return ndcg_score(from_lists(relevant, recommended, k=k))

    value, every_value = loop(relevant, recommended), loop(relevant, recommended, 100)
    peers = [("pytrec_eval", by_pytrec_eval, value), ("ir_measures", by_ir_measures, value)]
    if not quick:
        by_ranx()  # compiles it
        peers.append(("ranx", by_ranx, value))
    title = f"{n_users:,} users with 100 items and 20 grades, from dicts to NDCG"
    first_10 = compare(
        title + "@10",
        ("a plain loop", partial(loop, relevant, recommended), value),
        (OURS, partial(ours, 10), value),
        *peers,
    )
    every_rank = compare(
        title,
        ("a plain loop", partial(loop, relevant, recommended, 100), every_value),
        (OURS, ours, every_value),
    )
    return first_10, every_rank


def time_comparisons(n_queries, quick):
    """Return the times to compare three runs, as multiples of ours from runs."""
    rng = np.random.default_rng(0)
    items = [f"item-{i}" for i in range(20_000)]
    judged = rng.integers(0, 20_000, (n_queries, 30)).tolist()
    qrels = {f"q{i}": {items[j]: 1 + j % 3 for j in each} for i, each in enumerate(judged)}
    lists, runs = {}, {}
    for name in "abc":
        found = rng.integers(0, 20_000, (n_queries, 100)).tolist()
        lists[name] = {f"q{i}": [items[j] for j in dict.fromkeys(e)] for i, e in enumerate(found)}
        runs[name] = as_run(lists[name])

    def by_ranx(qrels=qrels, runs=runs):
        named = [ranx.Run(run, name=name) for name, run in runs.items()]
        report = ranx.compare(ranx.Qrels(qrels), named, ["ndcg@10"], stat_test="student")
        return np.array([report.results[name]["ndcg@10"] for name in runs])

    def ours(read, **options):
        return lambda: np.array([*compare_rankers(read(), **options).mean.values()])

    read_runs = partial(from_trec, qrels, runs=runs, k=10)
    read_lists = partial(from_lists, qrels, rankers=lists, k=10)

    means = ours(read_runs, test="t")()
    peers = []
    if not quick:
        few = list(qrels)[:10]  # to compile ranx
        some = {name: {q: run[q] for q in few} for name, run in runs.items()}
        by_ranx({q: qrels[q] for q in few}, some)
        peers.append(("ranx", by_ranx, means))
    return compare(
        f"{n_queries:,} queries, three runs of 100 documents, from dicts to the comparison",
        ("from_trec, compare_rankers", ours(read_runs, test="t"), means),
        ("from_lists, compare_rankers", ours(read_lists, test="t"), means),
        ("from_trec, permutation test", ours(read_runs, random_state=0), means),
        *peers,
    )


def main():
    """Compare and check the promises."""
    quick = options(__doc__).parse_args().quick
    promise, part = Promises(quick=quick), 30 if quick else 1
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    print_machine()
    print_peers()
    in_polars, in_duckdb = compare_tables(31_531 // part)
    promise("Polars, frames / by hand", in_polars, most=0.6)
    promise("DuckDB, frames / by hand", in_duckdb, most=0.6)
    lists, every_rank = time_lists(5_000 // part, quick)
    read = lists[OURS]
    runs = time_comparisons(30_000 // part, quick)
    promise("from_lists(k=10) and ndcg_score / a plain loop", read, most=1.5, quick=False)
    every = every_rank[OURS]
    promise("the same without k / a loop over all ranks", every, most=1.4, quick=False)
    promise("pytrec_eval / ours", lists["pytrec_eval"] / read, least=3, quick=False)
    promise("ranx / ours", lists.get("ranx", nan) / read, least=10, quick=False)
    promise("ranx's compare / ours", runs.get("ranx", nan), least=5, quick=False)
    promise.exit()


if __name__ == "__main__":
    main()
