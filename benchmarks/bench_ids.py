"""Time and measure ndcg_score on ids of every kind, rows together and scattered.

    python -m pip install ".[test]"    # pandas, Polars and PyArrow
    python benchmarks/bench_ids.py     # about three minutes
    python benchmarks/bench_ids.py --quick    # a twentieth of the data; all values are checked

For each kind of id, our time is compared with the time that its own library takes to find the
groups plus the time that we take on dense integers in the same order. All values must equal those
of dense integers. The exit status is 1 if a promise is broken: at most three times that sum, and
twice the inputs as extra memory.
"""

import gc
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from common import Promises, compare, extra_memory, options, print_machine

from sklearn_ndcg import ndcg_score


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


def compare_time(order, codes, y_true, y_score):
    """Return our time as a multiple of that of their own library and of dense integers."""
    score = partial(ndcg_score, y_true, y_score, k=10, undefined=0)
    expected = score(groups=codes)

    def find_groups(own):
        own()
        return np.nan

    contestants = [("dense integers", partial(score, groups=codes), expected)]
    for name, (ids, own) in kinds(codes).items():
        contestants.append((name, partial(score, groups=ids), expected))
        if own:
            contestants.append((f"{name}, its own library", partial(find_groups, own), np.nan))
    gc.freeze()  # or a timed call may have to wait while Python looks through millions of ids
    ratios = compare(f"{len(y_true):,} rows {order}", *contestants)
    gc.unfreeze()
    return {name: ratios[name] / (ratios.get(f"{name}, its own library", 0) + 1)
            for name in kinds(codes[:1])}  # fmt: skip


def compare_memory(codes, y_true, y_score):
    """Return the extra memory of calls as multiples of their inputs."""
    multiples = {}
    for name, (ids, _) in kinds(codes).items():
        size = 8 * len(ids) if isinstance(ids, list) else getattr(ids, "nbytes", None)
        inputs = y_true.nbytes + y_score.nbytes + (size or ids.estimated_size())
        extra = extra_memory(partial(ndcg_score, y_true, y_score, groups=ids, k=10, undefined=0))
        multiples[name] = extra / inputs
    return multiples


def main():
    """Print a table of all kinds of ids and check the promises."""
    quick = options(__doc__).parse_args().quick
    promise = Promises(quick=quick)
    print_machine()
    rng = np.random.default_rng(0)
    n_queries = 1500 if quick else 30_000  # of 100 rows on average
    lengths = np.clip(rng.lognormal(np.log(70), 0.85, n_queries), 2, 1251).astype(int)
    codes = np.repeat(np.arange(len(lengths)), lengths)
    y_true, y_score = rng.integers(0, 5, len(codes)).astype(float), rng.normal(size=len(codes))
    scattered = rng.permutation(codes)
    together = compare_time("together", codes, y_true, y_score)
    apart = compare_time("scattered", scattered, y_true, y_score)
    often = 1 if quick else 3
    many = rng.permutation(np.concatenate([scattered + i * len(lengths) for i in range(often)]))
    memory = compare_memory(many, np.tile(y_true, often), np.tile(y_score, often))
    print("\n| ids | rows together | rows scattered | memory |\n|---|---|---|---|")
    for name in together:
        print(f"| {name} | {together[name]:.2f} | {apart[name]:.2f} | {memory[name]:.2f} |")
    for what, measured in (("together", together), ("scattered", apart)):
        name = f"slowest kind / its own library and dense integers, {what}"
        promise(name, max(measured.values()), most=3, quick=False)
    promise("extra memory / inputs, any kind", max(memory.values()), most=2, quick=False)
    promise.exit()


if __name__ == "__main__":
    main()
