"""Damaged files, and all functions at once in threads: no wrong number may come out.

    python tests/tools/faults.py              # `nox -s faults`
    python tests/tools/faults.py files        # one kind, a function in KINDS
    python tests/tools/faults.py --quick      # a few of each

It prints a line per case, with what happened and how often, and its exit status is 1 if anything is
WRONG.
"""

import argparse
import gzip
import importlib.util
import os
import pickle
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a forked process has no other threads

import numpy as np
import pandas as pd
import sklearn
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeRegressor

import sklearn_ndcg as sn
from sklearn_ndcg import inference

OPTIONS = [
    {},
    {"k": 3, "gain": "exponential", "ties": "worst"},
    {"k": 5, "discount": "reciprocal", "undefined": "omit"},
    {"gain": [0, 1, 3, 7, 20], "ties": "best", "undefined": 0.5},
]


def has(library):
    """Whether a library is installed that works here: most of them switch the GIL on again."""
    with_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return with_gil and importlib.util.find_spec(library) is not None


def precision(y_true, y_score):
    """scikit-learn's, which would warn and return 0 where it is undefined."""
    is_relevant = y_true > 1
    return average_precision_score(is_relevant, y_score) if is_relevant.any() else np.nan


# --- what is called


def make_data(n_queries, folder):
    """What a caller has: arrays, a table, ranked lists and files of `n_queries` queries."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(n_queries), 10)
    y = rng.integers(0, 5, len(query)) * (rng.random(len(query)) < 0.5)
    scores = {
        name: np.round(y + rng.normal(0, size, len(y)), 1) for name, size in (("a", 2), ("b", 3))
    }
    X = pd.DataFrame(rng.normal(y[:, None], 3, (len(y), 4)), pd.Index(query, name="query"))
    ids = rng.permuted(np.tile(np.arange(20), (n_queries, 1)), axis=1)[:, :10]
    truths = {
        f"q{i}": {f"d{j}": int(g) for j, g in zip(row, y[10 * i :], strict=False)}
        for i, row in enumerate(ids)
    }
    lists = {
        name: {f"q{i}": [f"d{j}" for j in rng.permutation(20)[:10]] for i in range(n_queries)}
        for name in scores
    }
    text = "".join(f"{q} 0 {d} {g}\n" for q, grades in truths.items() for d, g in grades.items())
    qrels, run = folder / "qrels", folder / "run.gz"
    qrels.write_text(text, encoding="utf-8")
    run.write_bytes(gzip.compress(run_text(lists["a"]).encode()))
    table = pd.DataFrame({"query": query, "y": y, "s": scores["a"]})
    rows = folder / "rows.parquet"
    if has("pyarrow"):
        table.to_parquet(rows)
    return SimpleNamespace(y=y, scores=scores, query=query, X=X, truths=truths, lists=lists,
                           qrels=qrels, run=run, table=table, rows=rows)  # fmt: skip


def run_text(lists):
    return "".join(
        f"{query} Q0 {document} {rank} {1 - rank / 100} name\n"
        for query, documents in lists.items()
        for rank, document in enumerate(documents, 1)
    )


def make_calls(data, **options):
    """Calls of every public function, and of scikit-learn's tools with scorers, by name.

    Each returns something that can be compared by ``==``.
    """
    y, s, X = data.y, data.scores["a"], data.X
    groups = {"groups": data.query}
    of_dcg = {name: value for name, value in options.items() if name != "undefined"}
    of_curve = {name: value for name, value in options.items() if name != "k"}
    resampled = {"n_resamples": 199, "random_state": 0}
    scorer = sn.make_ndcg_scorer(group_by="query", **options)
    dcg_scorer = sn.make_dcg_scorer(group_by="query", **of_dcg)
    of_metric = sn.make_query_scorer(precision, group_by="query", undefined="omit")
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    cv, depths = sn.QuerySplitter(3, group_by="query"), {"max_depth": [1, 3]}
    fitted, ranker = tree.fit(X, y), sn.GroupedRanker(tree, group_by="query")

    def search():
        found = GridSearchCV(tree, depths, scoring=scorer, cv=cv, error_score="raise").fit(X, y)
        return found.cv_results_["mean_test_score"].tobytes()

    def of_lists():
        rows = sn.from_lists(data.truths, rankers=data.lists, k=options.get("k"), unjudged="omit")
        return [rows.y_true.tolist(), rows["a"].y_score.tolist(), rows["b"].y_score.tolist()]

    def of_table(function, table, **more):
        columns = {"y_true": "y", "y_score": "s", "groups": "query"}
        return function(table, **columns, **options, **more)

    calls = {
        "ndcg_score": lambda: sn.ndcg_score(y, s, **groups, **options),
        "ndcg_samples": lambda: sn.ndcg_samples(y, s, **groups, **options).tobytes(),
        "dcg_score": lambda: sn.dcg_score(y, s, **groups, **of_dcg),
        "dcg_samples": lambda: sn.dcg_samples(y, s, **groups, **of_dcg).tobytes(),
        "ndcg_curve": lambda: [
            each.tobytes() for each in sn.ndcg_curve(y, s, k=[1, 5, 10], **groups, **of_curve)
        ],
        "quantile_grades": lambda: sn.quantile_grades(s, **groups).tobytes(),
        "explain_query": lambda: repr(sn.explain_query(y, s, **groups, query=1, **options)),
        "explain_difference": lambda: repr(
            sn.explain_difference(y, s, "lightgbm", options, **groups)
        ),
        "ndcg_interval": lambda: repr(
            inference.ndcg_interval(y, s, **groups, **options, **resampled)
        ),
        "ndcg_by_segment": lambda: repr(inference.ndcg_by_segment(
            y, s, **groups, segments=data.query % 3, **options, **resampled
        )),
        "compare_rankers": lambda: repr(inference.compare_rankers(
            y, data.scores, **groups, **options, **resampled
        )),
        "compare_rankers with metric": lambda: repr(inference.compare_rankers(
            y, data.scores, **groups, metric=precision, undefined="omit", **resampled
        )),
        "compare_models": lambda: repr(inference.compare_models(
            {"tree": tree, "stump": DecisionTreeRegressor(max_depth=1)}, X, y,
            scoring=scorer, cv=cv, **resampled,
        )),
        "make_ndcg_scorer": lambda: scorer(fitted, X, y),
        "make_dcg_scorer": lambda: dcg_scorer(fitted, X, y),
        "make_query_scorer": lambda: of_metric(fitted, X, y),
        "one_ranking": lambda: sn.make_ndcg_scorer(group_by=sn.one_ranking)(fitted, X, y),
        "cross_val_score": lambda: cross_val_score(
            tree, X, y, scoring=scorer, cv=cv, error_score="raise"
        ).tolist(),
        "GridSearchCV": search,
        "GroupedRanker": lambda: ranker.fit(X, y).predict(X).tobytes(),
        "QuerySplitter": lambda: [test.tolist() for _, test in cv.split(X, y)],
        "from_lists": of_lists,
        "from_trec": lambda: sn.ndcg_score(sn.from_trec(data.qrels, data.run), **options),
        "frames.ndcg_score of pandas": lambda: of_table(sn.frames.ndcg_score, data.table),
    }  # fmt: skip
    if has("polars"):
        import polars  # noqa: PLC0415

        calls["frames.ndcg_score of polars"] = lambda: of_table(
            sn.frames.ndcg_score, polars.scan_parquet(data.rows),
            working_memory=len(y) * 8e-6,
        )  # fmt: skip
        calls["frames.ndcg_by_query of polars"] = lambda: of_table(
            sn.frames.ndcg_by_query, polars.scan_parquet(data.rows),
            working_memory=len(y) * 8e-6,
        ).sort("query").rows()  # fmt: skip
    if has("duckdb"):
        import duckdb  # noqa: PLC0415

        calls["frames.ndcg_score of duckdb"] = lambda: of_table(
            sn.frames.ndcg_score, duckdb.connect().read_parquet(str(data.rows)),
            working_memory=len(y) * 8e-6,
        )  # fmt: skip
    if has("lightgbm"):
        from lightgbm import LGBMRanker  # noqa: PLC0415

        booster = LGBMRanker(n_estimators=5, n_jobs=1, verbose=-1)
        calls["GroupedRanker of lightgbm"] = lambda: sn.GroupedRanker(
            booster, group_by="query", early_stopping=True, random_state=0
        ).fit(X, y).predict(X).tobytes()  # fmt: skip
    return calls


def surroundings(data):
    """What no call may change."""
    return {
        "filters": list(warnings.filters), "errors of NumPy": np.geterr(),
        "configuration": sklearn.get_config(), "data": hash(pickle.dumps(data)),
    }  # fmt: skip


def what_changed(before, data):
    """What is not as it was before."""
    after = surroundings(data)
    found = {name: after[name] for name in before if after[name] != before[name]}
    if "filters" in found:
        found["filters"] = [each for each in after["filters"] if each not in before["filters"]]
    return found


# --- the kinds: each yields the name of a case, and how often what happened


def damaged(data, rng):
    """The same bytes with one fault, of a kind that disks and interrupted copies make."""
    at = int(rng.integers(len(data)))
    kind = rng.integers(5)
    if kind == 0:
        return data[:at]
    if kind == 1:  # a bit
        return data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :]
    if kind == 2:  # half of a character
        return data[:at] + b"\xc3" + data[at + 1 :]
    if kind == 3:  # a block of zeros
        return data[:at] + bytes(len(data[at : at + 64])) + data[at + 64 :]
    return data[:at] + data[at + 64 :]  # a block is lost


def files(quick, rng, folder):
    """Damaged files: text of TREC and BEIR, compressed or not, and tables."""
    n = 30 if quick else 1000
    data = make_data(12, folder)
    qrels, lists = data.truths, data.lists["a"]
    beir = "query-id\tcorpus-id\tscore\n" + "".join(
        f"{q}\t{d}\t{g}\n" for q, grades in qrels.items() for d, g in grades.items()
    )
    texts = {  # of which argument
        "TREC qrels": ("qrels", data.qrels.read_bytes()),
        "BEIR qrels": ("qrels", beir.encode()),
        "TREC run": ("run", run_text(lists).encode()),
    }
    path = folder / "damaged"
    for name, (argument, whole) in texts.items():
        for packed in (False, True):
            outcomes = Counter()
            for _ in range(n):
                content = damaged(gzip.compress(whole, mtime=0) if packed else whole, rng)
                path.write_bytes(content)
                found = outcome_of_text(argument, path, qrels, lists)
                outcomes[
                    judged_text(found, argument, content, whole, packed, path, qrels, lists)
                ] += 1
            yield f"{name}{' (gzip)' * packed}", outcomes
    if has("polars"):
        yield from tables(data.table, n // 3, rng, folder)


def outcome_of_text(argument, source, qrels, lists):
    """The NDCG where one argument comes from a file or a dict, or the error."""
    run = {query: {d: -float(i) for i, d in enumerate(ids)} for query, ids in lists.items()}
    sources = {"qrels": qrels, "run": run, argument: source}
    try:
        return sn.ndcg_score(sn.from_trec(sources["qrels"], sources["run"]), undefined=0)
    except ValueError as error:
        return error


def plain_reading(text):
    """The dict of a text, read in the plainest way."""
    read = {}
    for line in text.split(b"\n"):
        fields = line.split()
        if not fields or (fields[0].lower() == b"query-id" and not fields[-1].isdigit()):
            continue  # a header
        at = {3: (0, 1, 2), 4: (0, 2, 3), 6: (0, 2, 4)}[len(fields)]
        query, document, value = (fields[i].decode() for i in at)
        if document in read.setdefault(query, {}):
            raise ValueError(document)
        read[query][document] = float(value)
    return read


def judged_text(found, argument, content, whole, packed, path, qrels, lists):
    if isinstance(found, ValueError):
        said = str(found)
        if str(path) in said:
            return "error with file and line" if re.search(r"line \d+", said) else "error with file"
        try:  # two lines of one document, for example
            same = outcome_of_text(argument, plain_reading(content), qrels, lists)
        except (KeyError, ValueError) as error:
            same = error
        return "error of the content" if isinstance(same, Exception) else f"WRONG error: {found!r}"
    text = whole if packed else content  # what is compressed has a checksum
    try:
        expected = outcome_of_text(argument, plain_reading(text), qrels, lists)
    except (KeyError, ValueError) as error:
        expected = error
    return "right" if expected == found else f"WRONG value {found}, expected {expected!r}"


def tables(table, n, rng, folder):
    """Damaged files of tables, as the library itself reads them at once."""
    import polars  # noqa: PLC0415

    rows = polars.from_pandas(pd.concat([table] * 40, ignore_index=True))
    formats = {
        "csv": (polars.DataFrame.write_csv, polars.scan_csv, polars.read_csv),
        "ndjson": (polars.DataFrame.write_ndjson, polars.scan_ndjson, polars.read_ndjson),
        "parquet": (polars.DataFrame.write_parquet, polars.scan_parquet, polars.read_parquet),
    }
    columns = {"y_true": "y", "y_score": "s", "groups": "query"}
    for name, (write, scan, read) in formats.items():
        path, outcomes = folder / f"rows.{name}", Counter()
        write(rows, path)
        whole = path.read_bytes()
        for _ in range(n):
            path.write_bytes(damaged(whole, rng))
            try:
                found = sn.frames.ndcg_score(
                    scan(path), **columns, undefined=0, working_memory=0.01
                )
            except Exception as error:
                outcomes[f"error: {type(error).__name__}"] += 1
                continue
            frame = read(path)
            expected = sn.ndcg_score(frame["y"], frame["s"], groups=frame["query"], undefined=0)
            outcomes["right" if abs(found - expected) < 1e-12 else "WRONG value"] += 1
        yield f"table: {name}", outcomes


def threads(quick, rng, folder):
    """All functions at once, with different options, in eight threads of a new process."""
    if not quick:
        for seed in range(8):
            command = [sys.executable, __file__, "threads", "--quick", "--seed", str(seed)]
            status = subprocess.run(command, check=False).returncode  # noqa: S603
            yield f"new process {seed}", Counter([f"WRONG: status {status}" if status else "right"])
        return
    data = make_data(30, folder)
    calls = [each for options in OPTIONS for each in make_calls(data, **options).items()]
    before = surroundings(data)
    yield from at_once(calls, rng).items()
    # which two threads leave set if they change them at a time, in scikit-learn's check_array, too
    warnings.filters[:] = before["filters"]
    changes = what_changed(before, data)
    yield "surroundings", Counter([f"WRONG: changed {changes}" if changes else "as before"])


def at_once(calls, rng):
    """Make each call several times in threads, and then alone."""

    def outcome_of(number):
        try:
            return calls[number][1]()
        except Exception as error:
            return error

    order = rng.permutation(np.repeat(np.arange(len(calls)), 3)).tolist()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    with ThreadPoolExecutor(8) as pool:  # before any call alone, so that nothing is in a cache
        found = list(pool.map(outcome_of, order))
    sys.setswitchinterval(interval)
    outcomes = {name: Counter() for name, _ in calls}
    expected = [call() for _, call in calls]
    for number, value in zip(order, found, strict=True):
        is_right = not isinstance(value, Exception) and value == expected[number]
        outcomes[calls[number][0]]["right" if is_right else f"WRONG {value!r:.300}"] += 1
    return outcomes


KINDS = {
    kind.__name__: kind for kind in (files, threads)
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=KINDS, nargs="?", help="all, each in a new process")
    parser.add_argument("--quick", action="store_true", help="a few of each, in seconds")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.kind is None:
        command = [sys.executable, __file__, *sys.argv[1:]]
        ended = [subprocess.run([*command, kind], check=False) for kind in KINDS]  # noqa: S603
        sys.exit(any(process.returncode for process in ended))
    warnings.simplefilter("ignore", UserWarning)
    is_wrong = False
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(options.seed)
        for name, outcomes in KINDS[options.kind](options.quick, rng, Path(folder)):
            said = outcomes
            if not isinstance(outcomes, str):
                said = ", ".join(f"{n} {outcome}" for outcome, n in sorted(outcomes.items()))
                is_wrong |= any(outcome.startswith("WRONG") for outcome in outcomes)
            print(f"{options.kind}: {name}: {said}", flush=True)
    sys.exit(is_wrong)


if __name__ == "__main__":
    main()
