"""Time and measure ndcg_score on ids of every kind, rows together and scattered.

    python -m pip install ".[test]"    # pandas, Polars and PyArrow
    python benchmarks/bench_ids.py     # about three minutes
    python benchmarks/bench_ids.py --quick

For each kind of id, our time is compared with the time that its own library takes to find the
groups plus the time that we take on dense integers in the same order. All values must equal those
of dense integers. The exit status is 1 if a promise is broken: at most three times that sum, and
twice the inputs as extra memory.
"""

import argparse
import gc
import sys
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from sklearn_ndcg import ndcg_score, show_versions

LONGEST_TIME, LARGEST_MEMORY = 3.0, 2.0
ROUNDS = 5


def kinds(codes):
    """Ids of every kind with the same queries, and how their own library finds the groups."""
    n = codes.max() + 1
    words = np.array([f"q{each:07d}" for each in np.random.default_rng(1).permutation(n)])
    text, hashed = words.astype(object)[codes], (codes * 0x61C8864680B583EB) % 2**62
    days = np.datetime64("1970-01-01", "ns") + codes * np.timedelta64(86_400, "s")
    strings, dictionary = pa.array(text), pa.array(text).dictionary_encode()
    string = pl.Series(text.tolist())
    objects = {
        "own str objects": own_objects(text, lambda word: word[:1] + word[1:]),
        "own bytes objects": own_objects(text, str.encode),
        "own int objects": own_objects(hashed, int),
        "own tuples": own_objects(text, lambda word: (word, 1)),
    }
    return {
        "hashed int64": (hashed, partial(pd.factorize, hashed)),
        "datetime64": (days, partial(pd.factorize, days)),
        "pandas str": (pd.Series(text, dtype="str"), pd.Series(text, dtype="str").factorize),
        "object array": (text, partial(pd.factorize, text)),
        **{name: (ids, partial(pd.factorize, ids)) for name, ids in objects.items()},
        "list of str": (text.tolist(), partial(pd.factorize, text)),
        "text array": (fixed := words[codes], partial(factorize_text, fixed)),
        "bytes array": (fixed := words.astype("S")[codes], partial(factorize_text, fixed)),
        "pandas category": (pd.Series(text).astype("category"), None),
        "pandas period": (p := pd.PeriodIndex(days, freq="D"), p.factorize),
        "Arrow string": (strings, strings.dictionary_encode),
        "Arrow dictionary": (dictionary, None),
        "Polars String": (string, lambda: string.cast(pl.Categorical)),
        "Polars Categorical": (string.cast(pl.Categorical), None),
    }


def own_objects(values, make):
    """An array in which each row has its own object, as in a parsed list."""
    return np.fromiter(map(make, values.tolist()), dtype=object, count=len(values))


def factorize_text(ids):
    """Find the groups of text of fixed width, which pandas reads as objects."""
    return pd.factorize(ids.astype(object))


def best_of_turns(calls):
    """The shortest time of each call in seconds; calls take turns, so that load affects all."""
    times = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, each in zip(calls, times, strict=True):
            start = perf_counter()
            call()
            each.append(perf_counter() - start)
    return [min(each) for each in times]


def compare_time(order, codes, y_true, y_score):
    """Print a table of milliseconds; return the largest ratio to the promise."""
    score = partial(ndcg_score, y_true, y_score, k=10, undefined=0)
    expected, largest = score(groups=codes), 0
    print(f"\nratio     ms   own   dense   {len(y_true):,} rows {order}")
    for name, (ids, own) in kinds(codes).items():
        np.testing.assert_allclose(score(groups=ids), expected, rtol=1e-13, err_msg=name)
        ours, theirs, dense = best_of_turns(
            [partial(score, groups=ids), own or (lambda: None), partial(score, groups=codes)]
        )
        ratio = ours / (theirs + dense)
        largest = max(largest, ratio)
        print(
            f"{ratio:5.2f} {1e3 * ours:6.0f} {1e3 * theirs:5.0f} {1e3 * dense:7.0f}   {name}",
            flush=True,
        )
    return largest


def compare_memory(codes, y_true, y_score):
    """Print the extra memory of calls as multiples of their inputs; return the largest."""
    largest = 0
    print(f"\nratio     MB   extra memory, {len(y_true):,} rows scattered")
    for name, (ids, _) in kinds(codes).items():
        size = 8 * len(ids) if isinstance(ids, list) else getattr(ids, "nbytes", None)
        size = size or ids.estimated_size()
        inputs = y_true.nbytes + y_score.nbytes + size
        ndcg_score(y_true[:1000], y_score[:1000], groups=ids[:1000], undefined=0)
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        before = memory("VmRSS")
        ndcg_score(y_true, y_score, groups=ids, k=10, undefined=0)
        extra = memory("VmHWM") - before
        largest = max(largest, extra / inputs)
        print(f"{extra / inputs:5.2f} {extra / 1e6:6.0f}   {name}", flush=True)
    return largest


def memory(what):
    """Return a line of Linux's status of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(what))


def main():
    """Print all tables and check the promises."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a twentieth of the data, unchecked")
    quick = parser.parse_args().quick
    show_versions()
    rng = np.random.default_rng(0)
    n_queries = 1500 if quick else 30_000  # of 100 rows on average
    lengths = np.clip(rng.lognormal(np.log(70), 0.85, n_queries), 2, 1251).astype(int)
    codes = np.repeat(np.arange(len(lengths)), lengths)
    y_true, y_score = rng.integers(0, 5, len(codes)).astype(float), rng.normal(size=len(codes))
    scattered = rng.permutation(codes)
    slowest = max(
        compare_time("together", codes, y_true, y_score),
        compare_time("scattered", scattered, y_true, y_score),
    )
    largest = 0
    if sys.platform == "linux":
        often = 1 if quick else 3
        many = np.concatenate([scattered + i * len(lengths) for i in range(often)])
        many = rng.permutation(many)
        largest = compare_memory(many, np.tile(y_true, often), np.tile(y_score, often))
    kept = slowest <= LONGEST_TIME and largest <= LARGEST_MEMORY
    print(f"\nslowest {slowest:.2f}, promised {LONGEST_TIME}; memory {largest:.2f}, "
          f"promised {LARGEST_MEMORY}")  # fmt: skip
    sys.exit(0 if kept or quick else 1)


if __name__ == "__main__":
    main()
