"""Time the other input formats: tables inside Polars and DuckDB, and ranked lists.

    python -m pip install ".[agreement,test]"
    python benchmarks/bench_inputs.py            # about two minutes
    python benchmarks/bench_inputs.py --quick    # a tenth of the data

`sklearn_ndcg.frames` is compared with a query in the engine's own language that averages over ties
in the same way. `from_lists` and `ndcg_score` together are compared with a plain loop, pytrec_eval
and ranx, from the same dicts to the result. `compare_runs` and `compare_lists` are compared with
ranx, for three runs and a paired t test. As in `bench_ndcg.py`,
all values must agree, and the exit status is 1 if a promise is broken.
"""

import argparse
import sys
import warnings
from functools import partial
from math import log2

import duckdb
import numpy as np
import polars as pl
import pytrec_eval
import ranx
from bench_ndcg import compare, print_machine, ragged
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import frames, from_lists, from_trec, ndcg_score
from sklearn_ndcg.inference import compare_lists, compare_runs

COLUMNS = {"y_true": "y", "y_score": "s", "groups": "q", "k": 10, "undefined": 0.0}
SQL = """
    with ranked as (
        select q, s, y, row_number() over (partition by q order by s desc) as place,
            row_number() over (partition by q order by y desc) as best from rows
    ), blocks as (
        select q, avg(y) * sum(case when place <= 10 then 1 / log2(place + 1) else 0 end) as dcg,
            sum(case when best <= 10 then y / log2(best + 1) else 0 end) as ideal
        from ranked group by q, s
    )
    select avg(ndcg) from (
        select case when sum(ideal) > 0 then sum(dcg) / sum(ideal) else 0 end as ndcg
        from blocks group by q
    )
"""


def by_hand(frame):
    """Write the query of `SQL` in Polars."""
    place, best = (
        pl.col(name).rank("ordinal", descending=True).over("q").alias(alias)
        for name, alias in (("s", "place"), ("y", "best"))
    )

    def discount(rank):
        return pl.when(pl.col(rank) <= 10).then(1 / (pl.col(rank) + 1).log(2)).otherwise(0)

    blocks = frame.with_columns(place, best).group_by("q", "s").agg(
        dcg=pl.col("y").mean() * discount("place").sum(),
        ideal=(pl.col("y") * discount("best")).sum(),
    )  # fmt: skip
    sums = blocks.group_by("q").agg(pl.col("dcg", "ideal").sum())
    ratio = pl.when(pl.col("ideal") > 0).then(pl.col("dcg") / pl.col("ideal")).otherwise(0)
    return lambda: sums.select(ratio.mean()).collect().item()


def compare_tables(n_queries):
    """Return our time in Polars and in DuckDB, as a multiple of the time of a query by hand."""
    y, s, q = ragged(n_queries)
    rows = pl.DataFrame({"q": q, "y": y, "s": s.round(2)})
    value = ndcg_score(y, s.round(2), groups=q, k=10, undefined=0.0)
    connection = duckdb.connect()
    connection.execute("create table rows as select * from rows")
    table = connection.table("rows")
    title = f"{n_queries:,} queries, {len(y):,} rows, k=10, NDCG in "
    in_polars = compare(
        title + "Polars, lazily",
        ("by hand", by_hand(rows.lazy()), value),
        ("sklearn_ndcg.frames", partial(frames.ndcg_score, rows.lazy(), **COLUMNS), value),
        ("sklearn_ndcg.frames, eager", partial(frames.ndcg_score, rows, **COLUMNS), value),
    )
    in_duckdb = compare(
        title + "DuckDB",
        ("by hand", lambda: connection.execute(SQL).fetchall()[0][0], value),
        ("sklearn_ndcg.frames", partial(frames.ndcg_score, table, **COLUMNS), value),
    )
    return in_polars["sklearn_ndcg.frames"], in_duckdb["sklearn_ndcg.frames"]


def loop(relevant, recommended):
    """Average NDCG@10 over the lists as a plain loop does."""
    discount, total = [1 / log2(rank + 1) for rank in range(1, 11)], 0.0
    for user, items in recommended.items():
        truth = relevant[user]
        dcg = sum(truth.get(item, 0) * d for item, d in zip(items[:10], discount, strict=False))
        best = sorted(truth.values(), reverse=True)[:10]
        ideal = sum(grade * d for grade, d in zip(best, discount, strict=False))
        total += dcg / ideal if ideal else 0.0
    return total / len(recommended)


def time_lists(n_users):
    """Return the times from dicts to NDCG@10, as multiples of a plain loop's."""
    rng = np.random.default_rng(0)
    recommended, relevant = {}, {}
    for user in range(n_users):
        found, rated = rng.permutation(1000)[:100], rng.permutation(1000)[:20]
        recommended[f"user-{user}"] = [f"item-{i}" for i in found]
        relevant[f"user-{user}"] = {f"item-{i}": int(rng.integers(0, 4)) for i in rated}
    scores = [-1.0 - place for place in range(100)]
    run = {u: dict(zip(each, scores, strict=True)) for u, each in recommended.items()}

    def by_ranx(relevant=relevant, run=run):
        metric = ranx.evaluate(ranx.Qrels(relevant), ranx.Run(run), "ndcg@10", return_mean=False)
        return np.mean(metric)

    def by_pytrec_eval():
        evaluator = pytrec_eval.RelevanceEvaluator(relevant, {"ndcg_cut.10"})
        return np.mean([each["ndcg_cut_10"] for each in evaluator.evaluate(run).values()])

    def ours(reader, lists, **reading):
        return lambda: ndcg_score(**reader(relevant, lists, **reading), k=10)

    few = list(relevant)[:10]  # to compile ranx
    by_ranx({u: relevant[u] for u in few}, {u: run[u] for u in few})
    value = loop(relevant, recommended)
    return compare(
        f"{n_users:,} users with 100 items and 20 grades, from dicts to NDCG@10",
        ("a plain loop", partial(loop, relevant, recommended), value),
        ("from_lists(k=10), ndcg_score", ours(from_lists, recommended, k=10), value),
        ("from_lists, ndcg_score", ours(from_lists, recommended), value),
        ("from_trec(k=10), ndcg_score", ours(from_trec, run, k=10), value),
        ("pytrec_eval", by_pytrec_eval, value),
        ("ranx", by_ranx, value),
    )


def time_comparisons(n_queries):
    """Return the times to compare three runs, as multiples of `compare_runs`'s time."""
    rng = np.random.default_rng(0)
    items = [f"item-{i}" for i in range(20_000)]
    judged = rng.integers(0, 20_000, (n_queries, 30)).tolist()
    qrels = {f"q{i}": {items[j]: 1 + j % 3 for j in each} for i, each in enumerate(judged)}
    lists, runs = {}, {}
    for name in "abc":
        found = rng.integers(0, 20_000, (n_queries, 100)).tolist()
        lists[name] = {f"q{i}": [items[j] for j in dict.fromkeys(e)] for i, e in enumerate(found)}
        scores = [-1.0 - place for place in range(100)]
        runs[name] = {q: dict(zip(e, scores, strict=False)) for q, e in lists[name].items()}

    def by_ranx(qrels=qrels, runs=runs):
        each = [ranx.Run(run, name=name) for name, run in runs.items()]
        found = ranx.compare(ranx.Qrels(qrels), each, ["ndcg@10"], stat_test="student")
        return np.array([found.results[name]["ndcg@10"] for name in runs])

    def ours(function, *data, **options):
        return lambda: np.array([*function(*data, k=10, **options).ndcg.values()])

    few = list(qrels)[:10]  # to compile ranx
    by_ranx({q: qrels[q] for q in few}, {n: {q: run[q] for q in few} for n, run in runs.items()})
    means = ours(compare_runs, qrels, runs, test="t")()
    return compare(
        f"{n_queries:,} queries, three runs of 100 documents, from dicts to the comparison",
        ("compare_runs", ours(compare_runs, qrels, runs, test="t"), means),
        ("compare_lists", ours(compare_lists, qrels, lists, test="t"), means),
        ("compare_runs, permutation test", ours(compare_runs, qrels, runs, random_state=0), means),
        ("ranx", by_ranx, means),
    )


def main():
    """Compare, check the promises and return the exit status."""
    parser = argparse.ArgumentParser(description="Time tables and ranked lists.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, as a smoke test")
    part = 10 if parser.parse_args().quick else 1
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    print_machine()
    in_polars, in_duckdb = compare_tables(31_531 // part)
    lists = time_lists(5_000 // part)
    read = lists["from_lists(k=10), ndcg_score"]
    runs = time_comparisons(30_000 // part)
    promises = {
        f"{in_polars:8.2f} <= 1.2   Polars, frames / by hand": in_polars <= 1.2,
        f"{in_duckdb:8.2f} <= 1.2   DuckDB, frames / by hand": in_duckdb <= 1.2,
        f"{read:8.2f} <= 2     from_lists(k=10) and ndcg_score / a plain loop": read <= 2,
        f"{lists['pytrec_eval'] / read:8.2f} >= 3     pytrec_eval / ours": lists["pytrec_eval"]
        >= 3 * read,
        f"{lists['ranx'] / read:8.2f} >= 20    ranx / ours": lists["ranx"] >= 20 * read,
        f"{runs['ranx']:8.2f} >= 8     ranx's compare / compare_runs": runs["ranx"] >= 8,
    }
    print("\n   found promised" + (" for all of the data, so not checked" if part > 1 else ""))
    for promise, kept in promises.items():
        print(promise if part > 1 else f"{promise}: {'kept' if kept else 'BROKEN'}")
    return 0 if part > 1 or all(promises.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
