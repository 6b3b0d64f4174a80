"""Let things fail, in real processes: the next call must work, and no wrong number may come out.

    python tests/tools/faults.py              # `nox -s faults`
    python tests/tools/faults.py interrupts   # one kind, a function in KINDS
    python tests/tools/faults.py --quick      # a few of each

It prints a line per case, with what happened and how often, and its exit status is 1 if anything is
WRONG. It needs Linux, and root for a disk of its own.
"""

import argparse
import contextlib
import errno
import gc
import gzip
import importlib.util
import inspect
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread, Timer
from types import SimpleNamespace

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a forked process has no other threads

import joblib
import numpy as np
import pandas as pd
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeRegressor

import sklearn_ndcg as sn
from sklearn_ndcg import inference
from sklearn_ndcg._selection import tool_splits

# an interrupt in `catch_warnings.__exit__`, `errstate.__enter__` or scikit-learn's `config_context`
# leaves what they have set
MANAGERS = {
    contextlib.__file__,
    inspect.getsourcefile(np.errstate.__enter__),
    inspect.getsourcefile(sklearn.set_config),
    warnings.__file__,
}
OPTIONS = [
    {},
    {"k": 3, "gain": "exponential", "ties": "worst"},
    {"k": 5, "discount": "reciprocal", "undefined": "omit"},
    {"gain": [0, 1, 3, 7, 20], "ties": "best", "undefined": 0.5},
]
# they turn warnings into errors, which all threads share: docs of make_query_scorer
OF_METRIC = ["compare_rankers with metric", "make_query_scorer"]
# they end the process if memory runs out, or wait forever after a fork
NOT_FORKED = ["polars", "duckdb", "lightgbm"]


def has(library):
    """Whether a library is installed that works here: most of them switch the GIL on again."""
    with_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return with_gil and importlib.util.find_spec(library) is not None


def precision(y_true, y_score):
    """scikit-learn's, which warns where it is undefined, and returns 0."""
    return average_precision_score(y_true > 1, y_score)


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
    slow_truths = {
        query: {np.str_(d): g for d, g in truth.items()} for query, truth in data.truths.items()
    }

    def search():
        found = GridSearchCV(tree, depths, scoring=scorer, cv=cv, error_score="raise").fit(X, y)
        return found.cv_results_["mean_test_score"].tobytes()

    def of_lists(truths):
        rows = sn.from_lists(truths, rankers=data.lists, k=options.get("k"), unjudged="omit")
        return [rows.y_true.tolist(), rows["a"].y_score.tolist(), rows["b"].y_score.tolist()]

    def of_table(function, table, **more):
        columns = {"y_true": "y", "y_score": "s", "groups": "query"}
        return function(table, **columns, **options, **more)

    calls = {
        "ndcg_score": lambda: sn.ndcg_score(y, s, **groups, **options),
        "ndcg_samples": lambda: sn.ndcg_samples(y, s, **groups, **options).tobytes(),
        "dcg_score": lambda: sn.dcg_score(y, s, **groups, **of_dcg),
        "dcg_samples": lambda: sn.dcg_samples(y, s, **groups, **of_dcg).tobytes(),
        "jarvelin_kekalainen": lambda: sn.dcg_score(
            y, s, **groups, **of_dcg | {"discount": sn.jarvelin_kekalainen(2)}
        ),
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
        "check_group_splits": lambda: sn.check_group_splits(cv, X, y, **groups),
        "from_lists": lambda: of_lists(data.truths),
        "from_lists in Python": lambda: of_lists(slow_truths),
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
        ).sort("query").collect().rows()  # fmt: skip
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
            booster, group_by="query", early_stopping=True, scoring=scorer, random_state=0
        ).fit(X, y).predict(X).tobytes()  # fmt: skip
    return calls


def surroundings(data):
    """What no call may change."""
    return {
        "filters": list(warnings.filters), "errors of NumPy": np.geterr(),
        "configuration": sklearn.get_config(), "handler": signal.getsignal(signal.SIGINT),
        "data": hash(pickle.dumps(data)),
    }  # fmt: skip


def what_changed(before, data):
    """What is not as it was before."""
    after = surroundings(data)
    found = {name: after[name] for name in before if after[name] != before[name]}
    if "filters" in found:
        found["filters"] = [each for each in after["filters"] if each not in before["filters"]]
    return found


def is_right_again(call, expected):
    """What is wrong with the next call; nothing if it is right."""
    try:
        return "" if call() == expected else "WRONG next value"
    except Exception as error:
        return f"WRONG next call: {error!r}"


# --- the kinds: each yields the name of a case, and how often what happened


def interrupts(quick, rng, folder):
    """Ctrl-C at random moments."""
    data, n = make_data(40 if quick else 500, folder), 5 if quick else 100
    lost = []
    sys.unraisablehook = lambda found: lost.append(found.exc_type)

    def happens(call, seconds):
        lost.clear()
        timer, outcome = Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)), ""
        try:
            try:
                timer.start()
                while timer.is_alive():
                    call()
                time.sleep(0.01)
            except KeyboardInterrupt as error:
                *_, last = traceback.walk_tb(error.__traceback__)
                outcome = "KeyboardInterrupt"
                if last[0].f_code.co_filename in MANAGERS:
                    outcome = "KeyboardInterrupt in a context manager"
            except BaseException as error:
                outcome = f"{error!r} of DuckDB"
                if "Query interrupted" not in outcome:
                    outcome = f"WRONG error: {error!r}"
            timer.join()
            time.sleep(0.001)
        except KeyboardInterrupt:  # Polars raises its own, and Python's comes after it
            outcome = "KeyboardInterrupt"
        # Python's own rule: it goes on after errors in __del__ and in callbacks of weak references
        in_finalizer = "in a finalizer" if KeyboardInterrupt in lost else "WRONG: nothing came out"
        return outcome or in_finalizer

    for name, call in make_calls(data, **OPTIONS[1]).items():
        expected, start = call(), time.perf_counter()
        call()
        longest, before, outcomes = time.perf_counter() - start, surroundings(data), Counter()
        for _ in range(n):
            outcome = happens(call, rng.uniform(0, longest))
            if changes := what_changed(before, data):
                if not outcome.endswith("manager"):
                    outcome = f"WRONG: changed {changes}"
                warnings.filters[:] = before["filters"]
                np.seterr(**before["errors of NumPy"])
                sklearn.set_config(**before["configuration"])
            outcomes[is_right_again(call, expected) or outcome] += 1
        yield name, outcomes


class Slow(RegressorMixin, BaseEstimator):
    """A tree that takes its time, so that there is a worker to kill."""

    def __init__(self, max_depth=1):
        self.max_depth = max_depth

    def fit(self, X, y):
        time.sleep(0.05)
        self.tree_ = DecisionTreeRegressor(max_depth=self.max_depth, random_state=0).fit(X, y)
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def loky_workers():
    """The ids of our processes that joblib has started."""
    ids = " ".join(
        p.read_text(encoding="ascii") for p in Path("/proc/self/task").glob("*/children")
    )
    for pid in map(int, ids.split()):
        with_zeros = Path(f"/proc/{pid}/cmdline").read_bytes()
        if b"LokyProcess" in with_zeros:
            yield pid


def until_killed(seconds, workers, ended):
    """Kill one of the workers after a while, as soon as there is one."""
    time.sleep(seconds)
    while not ended.is_set():
        try:
            os.kill(next(iter(workers())), signal.SIGKILL)
        except (StopIteration, FileNotFoundError, ProcessLookupError):
            time.sleep(0.001)
        else:
            return


def with_killed_worker(call, expected, seconds, workers, broken):
    """What comes out if a worker is killed in the middle."""
    ended = Event()
    killer = Thread(target=until_killed, args=(seconds, workers, ended))
    killer.start()
    try:
        outcome = "right" if call() == expected else "WRONG value"
    except Exception as error:
        outcome = type(error).__name__
        if outcome not in broken:
            outcome = f"WRONG error: {error!r}"
    ended.set()
    killer.join()
    time.sleep(0.3)  # until it is known that a worker is gone which had nothing left to do
    return is_right_again(call, expected) or outcome


def workers(quick, rng, folder):
    """Worker processes that are killed, of joblib and of Dask."""
    data, n = make_data(40, folder), 1 if quick else 20
    cv = sn.QuerySplitter(4, group_by="query")
    common = {"scoring": sn.make_ndcg_scorer(group_by="query", undefined=0), "cv": cv, "n_jobs": 2}

    def search():
        grid = GridSearchCV(Slow(), {"max_depth": [1, 2]}, error_score="raise", **common)
        return grid.fit(data.X, data.y).cv_results_["mean_test_score"].tolist()

    def compare():
        models = {"one": Slow(max_depth=1), "two": Slow(max_depth=2)}
        return repr(inference.compare_models(models, data.X, data.y, test="t", **common))

    for name, call in {"GridSearchCV": search, "compare_models": compare}.items():
        expected, start, outcomes = call(), time.perf_counter(), Counter()
        call()
        longest = 0.8 * (time.perf_counter() - start)
        for _ in range(n):
            seconds = rng.uniform(0, longest)
            broken = {"TerminatedWorkerError"}
            outcomes[with_killed_worker(call, expected, seconds, loky_workers, broken)] += 1
        yield name, outcomes
    if not quick:
        yield "frames on Dask", dask_workers(rng) if has("distributed") else "skipped: no Dask"


def dask_workers(rng):
    import dask  # noqa: PLC0415
    import dask.dataframe  # noqa: PLC0415
    import distributed  # noqa: PLC0415

    table = pd.DataFrame(
        {"query": np.arange(300_000) // 10 % 20_000, "y": rng.integers(0, 5, 300_000)}
    )
    table["s"] = rng.random(len(table))
    frame = dask.dataframe.from_pandas(table, npartitions=8)
    columns, outcomes = {"y_true": "y", "y_score": "s", "groups": "query"}, Counter()
    lasting = {"distributed.deploy.lost-worker-timeout": "1 hour"}

    def call():
        return round(sn.frames.ndcg_score(frame, **columns, undefined=0), 12)

    local = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "dashboard_address": None,
    }
    with (
        dask.config.set(lasting),
        distributed.LocalCluster(**local) as cluster,
        distributed.Client(cluster) as client,
    ):
        expected, start = call(), time.perf_counter()
        call()
        longest = time.perf_counter() - start
        for _ in range(10):
            client.wait_for_workers(2, timeout=60)
            ids = list(client.run(os.getpid).values())
            broken = {"KilledWorker", "FutureCancelledError"}
            seconds = rng.uniform(0, 0.8 * longest)
            outcomes[with_killed_worker(call, expected, seconds, lambda ids=ids: ids, broken)] += 1
    return outcomes


def memory(quick, rng, folder):
    """Memory that runs out, in a process that may have a little more than it has."""
    data, n = make_data(1000 if quick else 5000, folder), 1 if quick else 60
    calls = make_calls(data, **OPTIONS[1])
    for name, call in calls.items():
        if any(library in name for library in NOT_FORKED):
            continue
        expected, enough = call(), 2**16
        while enough < 2**32 and with_memory(call, expected, enough) != "right":
            enough *= 2
        limits = rng.uniform(0, enough, n).astype(int)
        yield name, Counter(with_memory(call, expected, more) for more in limits.tolist())


def fill_what_was_freed():
    """Blocks in all gaps of the memory that a process has."""
    blocks, size = [], 2**28
    while size > 2**9:
        try:
            blocks.append(bytes(size))
        except MemoryError:
            size //= 2
    return blocks


def with_memory(call, expected, more):
    """What comes out in a process that may take some more bytes."""
    ours, childs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            outcome = "WRONG: nothing came out"
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            used = pages * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used, -1))
            ballast = fill_what_was_freed()
            resource.setrlimit(resource.RLIMIT_AS, (used + more, -1))
            try:
                outcome = "right" if call() == expected else "WRONG value"
            except MemoryError:
                outcome = "MemoryError"
            except SystemError:  # NumPy 2.4 forgets to say what was wrong, in np.where for example
                outcome = "SystemError"
            except BaseException as error:
                failed = error
                resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
                outcome = f"WRONG error: {failed!r}"
            resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
            del ballast
            os.write(childs, (is_right_again(call, expected) or outcome).encode())
        finally:
            os._exit(0)
    os.close(childs)
    with open(ours, encoding="utf-8") as pipe:
        outcome = pipe.read()
    status = os.waitpid(pid, 0)[1]
    return outcome or f"WRONG: it ended with status {status}"


@contextlib.contextmanager
def small_disk(folder, size=2**22):
    """A folder on a disk of its own, and a function that leaves so many bytes free."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    mounted = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if mounted.returncode:
        raise PermissionError(mounted.stderr.strip())

    def leave(free):
        for path in folder.iterdir():
            path.unlink() if path.is_file() else None
        (folder / "filler").write_bytes(bytes(size - free))

    try:
        yield leave
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S603, S607


def disk(quick, rng, folder):
    """A full disk: what is kept of results, and the arrays that joblib hands to workers."""
    try:
        with small_disk(folder / "disk") as leave:
            yield from on_disk(leave, folder, quick, rng)
    except PermissionError as error:
        yield "disk", f"skipped, as only root may mount a disk: {error}"


def on_disk(leave, folder, quick, rng):
    data, n = make_data(200 if quick else 2000, folder), 5 if quick else 50
    y, scores, X = data.y, data.scores, data.X
    resampled = {"n_resamples": 199, "random_state": 0}
    rows = sn.from_lists(data.truths, data.lists["a"])
    tree = DecisionTreeRegressor(max_depth=12, random_state=0)
    kept = {  # and what is compared
        "rows of lists": (rows, sn.ndcg_samples),
        "Comparison": (
            inference.compare_rankers(y, scores, groups=data.query, **resampled),
            lambda found: found.to_frame("queries"),
        ),
        "SegmentTable": (
            inference.ndcg_by_segment(
                y, scores["a"], groups=data.query, segments=data.query % 99, **resampled
            ),
            lambda found: found.to_frame(),
        ),
        "GroupedRanker": (
            sn.GroupedRanker(tree, group_by="query").fit(X, y), lambda found: found.predict(X)
        ),
        "scorer": (
            sn.make_ndcg_scorer(group_by="query", all_groups=data.query),
            lambda found: found.all_groups,
        ),
    }  # fmt: skip
    path = folder / "disk" / "kept"
    for name, (value, look) in kept.items():
        for writes, dump, load in (
            ("pickle", pickle_to, pickle_from),
            ("joblib", joblib.dump, joblib.load),
        ):
            outcomes = Counter()
            for free in rng.uniform(0, 1.2 * len(pickle.dumps(value)), n).astype(int).tolist():
                leave(free)
                outcomes[written(value, look, path, dump, load)] += 1
            yield f"{writes} of {name}", outcomes
    if not quick:
        wide = pd.concat([X] * 10, axis=1).set_axis(range(40), axis=1)  # 6.4 MB
        yield "joblib's copies for workers", copies(leave, wide, data, folder)


def pickle_to(value, path):
    with path.open("wb") as file:
        pickle.dump(value, file)


def pickle_from(path):
    with path.open("rb") as file:
        return pickle.load(file)  # noqa: S301


def written(value, look, path, dump, load):
    """What comes out of a file that may not have been written to its end."""
    try:
        dump(value, path)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return f"WRONG error: {error!r}"
        try:
            load(path)
        except Exception:
            return "OSError"
        return "WRONG: half a file was read"
    return "right" if joblib.hash(look(load(path))) == joblib.hash(look(value)) else "WRONG value"


def copies(leave, X, data, folder):
    scorer = sn.make_ndcg_scorer(group_by="query", undefined=0)
    cv = sn.QuerySplitter(3, group_by="query")

    def call(temp):
        joblib.externals.loky.get_reusable_executor().shutdown()  # which has a folder already
        os.environ["JOBLIB_TEMP_FOLDER"] = str(temp)
        tree = DecisionTreeRegressor(max_depth=2, random_state=0)
        return cross_val_score(
            tree, X, data.y, scoring=scorer, cv=cv, n_jobs=2, error_score="raise"
        ).tolist()

    expected, outcomes = call(folder), Counter()
    for free in np.linspace(0, 2**22, 20).astype(int).tolist():
        leave(free)
        try:
            outcome = "right" if call(folder / "disk") == expected else "WRONG value"
        except OSError as error:
            outcome = "OSError" if error.errno == errno.ENOSPC else f"WRONG error: {error!r}"
        except Exception as error:
            outcome = f"WRONG error: {error!r}"
        outcomes[is_right_again(lambda: call(folder), expected) or outcome] += 1
    return outcomes


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
    """Damaged files: text of TREC, BEIR and MS MARCO, compressed or not, and tables."""
    n = 30 if quick else 1000
    data = make_data(12, folder)
    qrels, lists = data.truths, data.lists["a"]
    beir = "query-id\tcorpus-id\tscore\n" + "".join(
        f"{q}\t{d}\t{g}\n" for q, grades in qrels.items() for d, g in grades.items()
    )
    ranks = "".join(
        f"{q}\t{d}\t{rank}\n" for q, ids in lists.items() for rank, d in enumerate(ids, 1)
    )
    texts = {  # which argument, and what negates its values
        "TREC qrels": ("qrels", data.qrels.read_bytes(), 1),
        "BEIR qrels": ("qrels", beir.encode(), 1),
        "TREC run": ("run", run_text(lists).encode(), 1),
        "MS MARCO run": ("run", ranks.encode(), -1),
    }
    path = folder / "damaged"
    for name, (argument, whole, sign) in texts.items():
        for packed in (False, True):
            outcomes = Counter()
            for _ in range(n):
                content = damaged(gzip.compress(whole, mtime=0) if packed else whole, rng)
                path.write_bytes(content)
                found = outcome_of_text(argument, path, qrels, lists)
                outcomes[
                    judged_text(found, argument, content, whole, packed, sign, path, qrels, lists)
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


def plain_reading(text, sign):
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
        read[query][document] = sign * float(value)
    return read


def judged_text(found, argument, content, whole, packed, sign, path, qrels, lists):
    if isinstance(found, ValueError):
        said = str(found)
        if str(path) in said:
            return "error with file and line" if re.search(r"line \d+", said) else "error with file"
        try:  # two lines of one document, for example
            same = outcome_of_text(argument, plain_reading(content, sign), qrels, lists)
        except (KeyError, ValueError) as error:
            same = error
        return "error of the content" if isinstance(same, Exception) else f"WRONG error: {found!r}"
    text = whole if packed else content  # what is compressed has a checksum
    try:
        expected = outcome_of_text(argument, plain_reading(text, sign), qrels, lists)
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
    of_metric = [each for each in calls if each[0] in OF_METRIC]
    before = surroundings(data)
    yield from at_once([each for each in calls if each not in of_metric], rng).items()
    yield from at_once(of_metric, rng).items()
    # which two threads leave set if they change them at a time, in scikit-learn's check_array, too
    warnings.filters[:] = before["filters"]
    changes = what_changed(before, data)
    yield "surroundings", Counter([f"WRONG: changed {changes}" if changes else "as before"])
    # what was found out of splits, which is kept as long as X is there
    del data, calls, of_metric
    gc.collect()
    kept = len(tool_splits._known)
    yield "splits of data that are gone", Counter([f"WRONG: {kept} kept" if kept else "forgotten"])


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
    kind.__name__: kind for kind in (interrupts, workers, memory, disk, files, threads)
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
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a background job ignores
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
