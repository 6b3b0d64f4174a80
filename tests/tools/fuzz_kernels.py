"""Coverage-guided fuzzing: bytes become queries and ids, of which C and NumPy must make the same.

    nox -s fuzz                # an hour, under AddressSanitizer
    nox -s fuzz -- 600         # ten minutes

libFuzzer looks for inputs that reach new branches of the C code, from those in corpus.zip on.
"""

import sys

import atheris
import numpy as np

from sklearn_ndcg._kernels import compiled, numpy_kernels
from sklearn_ndcg._metrics.choices import TIES

DISCOUNTS = [
    lambda rank: 1 / np.log2(1 + rank),
    lambda rank: 1 / rank,
    lambda rank: 0.8**rank,
    lambda rank: np.exp(-rank / 3.0),
    lambda rank: np.where(rank > 3, 0.0, 1.0),
    lambda rank: rank % 5 + 1.0,
]
TABLES = [np.arange(256.0), np.exp2(np.arange(256)) - 1, 255.0 - np.arange(256), np.ones(256)]
DTYPES = [np.uint8, np.float32, np.float64]
LENGTHS = [0, 1, 2, 3, 8, 17, 64, 300, 2000, 20_000]


def values_of(provider, n, dtype):
    """`n` finite numbers, from the bytes and, if these are too few, numbers close to them."""
    few = provider.ConsumeIntInRange(1, min(n, 400) or 1)
    size = few * np.dtype(dtype).itemsize
    found = np.frombuffer(provider.ConsumeBytes(size).ljust(size, b"\0"), dtype=dtype)
    if dtype is not np.uint8:
        found = np.where(np.isfinite(found), found, 0)
    step = provider.PickValueInList([0, 1, 7])  # 0: each is tied with its copies
    with np.errstate(over="ignore"):
        values = np.resize(found, n) + (step * np.arange(n) // few).astype(dtype)
    return np.where(np.isfinite(values), values, 0).astype(dtype)


def queries_of(provider):
    """Arguments of `dcg`: queries of any lengths, whose rows start in any order."""
    lengths = [
        provider.ConsumeIntInRange(0, provider.PickValueInList(LENGTHS))
        for _ in range(provider.ConsumeIntInRange(1, 5))
    ]
    lengths[0] = lengths[0] or 1
    starts = np.cumsum(lengths) - lengths
    if provider.ConsumeBool():
        lengths, starts = lengths[::-1], starts[::-1]
    n = sum(lengths)
    gain = values_of(provider, n, provider.PickValueInList([np.uint8, np.float64]))
    score = values_of(provider, n, provider.PickValueInList([np.float32, np.float64]))
    if provider.ConsumeBool():
        score[:: provider.ConsumeIntInRange(1, 9)] = -np.inf
    if gain.dtype != np.uint8:
        gain = gain / (np.abs(gain).max() or 1)
    n_cutoffs = provider.PickValueInList([1, 1, 2, 9])
    cutoffs = {provider.ConsumeIntInRange(1, max(lengths)) for _ in range(n_cutoffs)}
    cutoffs = np.sort(np.fromiter(cutoffs, dtype=np.intp))
    discount = provider.PickValueInList(DISCOUNTS)(np.arange(1, cutoffs[-1] + 1))
    table = provider.PickValueInList(TABLES)
    table = table[: int(gain.max()) + 1] if gain.dtype == np.uint8 else np.empty(0)
    return gain, score, np.array(starts), np.array(lengths), discount, cutoffs, table


def test_queries(provider):
    """Compare DCG, and ideal DCG at common cutoffs and at cutoffs of each query."""
    gain, score, *rows, discount, cutoffs, table = queries_of(provider)
    ties = provider.PickValueInList(list(TIES.values()))
    own = np.maximum(np.minimum(cutoffs[::-1], rows[1][:, np.newaxis]), 1)
    slow, fast = (
        np.hstack(
            [
                module.dcg(gain, score, *rows, discount, cutoffs, ties, table),
                module.ideal_dcg(gain, *rows, discount, cutoffs, table),
                module.ideal_dcg(gain, *rows, discount, own, table),
            ]
        )
        for module in (numpy_kernels, compiled)
    )
    unit = np.abs(table[gain] if gain.dtype == np.uint8 else gain).max() * discount.sum() or 1
    np.testing.assert_allclose(fast / unit, slow / unit, rtol=0, atol=1e-13)


def test_ids(provider):
    """Compare the codes of ids, and the rows gathered by them."""
    n = provider.ConsumeIntInRange(1, provider.PickValueInList(LENGTHS) or 1)
    ids = values_of(provider, n, np.uint8).astype(np.int64)
    if provider.ConsumeBool():
        ids = ids * provider.ConsumeInt(8)  # wraps around
    found, codes = compiled.factorize(ids)
    np.testing.assert_array_equal(np.sort(found), np.unique(ids))
    np.testing.assert_array_equal(found[codes], ids)
    values = values_of(provider, n, provider.PickValueInList(DTYPES))
    counts = np.bincount(codes)
    slow, fast = (
        module.gather_by_group(values, codes, np.cumsum(counts) - counts)
        for module in (numpy_kernels, compiled)
    )
    np.testing.assert_array_equal(fast, slow)


TESTS = [test_ids, *[test_queries] * 6]


def test_one(data):
    """Run one of the comparisons on the bytes."""
    provider = atheris.FuzzedDataProvider(data)
    provider.PickValueInList(TESTS)(provider)


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one)
    atheris.Fuzz()
