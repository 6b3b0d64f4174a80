"""Coverage-guided fuzzing: bytes become queries, ids and lists, which C and Python must read alike.

    nox -s fuzz                # an hour, under AddressSanitizer
    nox -s fuzz -- 600         # ten minutes

libFuzzer looks for inputs that reach new branches of the C code, from those in corpus.zip on.
"""

import sys

import atheris
import numpy as np

from sklearn_ndcg._kernels import compiled, numpy_kernels
from sklearn_ndcg._lists import compiled as compiled_lists
from sklearn_ndcg._lists import reading
from sklearn_ndcg._lists.ranked import Ranked, Truths
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


NOT_PLAIN = [True, 1.5, None, (1, "1"), np.int64(1), np.str_("a"), [1]]
IDS = [
    lambda i: i,
    lambda i: -i << 30,  # equal low bits
    lambda i: i * (2**61 - 1),  # the same hash
    str,
    lambda i: "\U0001f600" * i,
    lambda i: b"%d" % i,
    lambda i: NOT_PLAIN[i % len(NOT_PLAIN)],
]
GRADES = [1, 0, 2.5, np.nan, 2**60 + 1, 10**300, -1, np.inf, 10**400, True, "1"]
AS_TRUTH = [list, tuple, set, frozenset, lambda ids: ids[0] if ids else {}]
AS_LIST = [list, list, tuple, lambda ids: np.fromiter(ids, dtype=object), set]


def ids_of(provider):
    """A list of ids, of which some are there twice, and few are not plain."""
    ids = []
    for _ in range(provider.ConsumeIntInRange(0, 5)):
        make, n = (provider.PickValueInList(each) for each in (IDS, [1, 1, 2, 20, 300]))
        start = provider.ConsumeIntInRange(0, 255)
        ids += map(make, range(start, start + n))
    return ids


def truth_of(provider):
    """The truth of a query: its ids, or a dict of their grades."""
    ids = ids_of(provider)
    if any(isinstance(each, list) for each in ids):  # has no hash
        return ids
    if provider.ConsumeBool():
        return {each: provider.PickValueInList(GRADES) for each in ids[:50]}
    return provider.PickValueInList(AS_TRUTH)(ids)


def list_of(provider):
    """The list of a query; an id without a hash may be in it."""
    ids = ids_of(provider)
    is_hashable = not any(isinstance(each, list) for each in ids)
    return provider.PickValueInList(AS_LIST if is_hashable else AS_LIST[:3])(ids)


def test_lists(provider):
    """Compare what is read of truths and lists, if C does not leave them to Python."""
    n_queries = provider.ConsumeIntInRange(1, 4)
    n_empty = provider.PickValueInList([0] * 9 + [2000])  # Python is asked for an interrupt
    names = range(provider.ConsumeIntInRange(1, 3))
    truths = [{}] * n_empty + [truth_of(provider) for _ in range(n_queries)]
    lists = [[]] * n_empty
    rankers = {name: lists + [list_of(provider) for _ in range(n_queries)] for name in names}
    duplicates = provider.PickValueInList(["raise", "omit", "zero"])
    k = provider.PickValueInList([None, None, 1, 2, 7, 40, 2**63 - 1])
    read = compiled_lists.read_all(truths, list(rankers.values()), duplicates, k)
    if read is None:
        return
    slow = reading.read_all(truths, rankers, range(len(truths)), duplicates, k)
    for fields, expected in zip(read[3], slow.values(), strict=True):
        found = Ranked(Truths(*read[:3]), *fields)
        assert found.is_cut is bool(expected.is_cut)
        assert list(map(repr, found.ids)) == list(map(repr, expected.ids))
        assert list(map(repr, found.truths.ids)) == list(map(repr, expected.truths.ids))
        for name in ("grades", "lengths"):
            arrays = (getattr(each.truths, name) for each in (found, expected))
            np.testing.assert_array_equal(*arrays)
        for name in ("lengths", "ranks", "repeats", "firsts"):
            arrays = (getattr(each, name) for each in (found, expected))
            np.testing.assert_array_equal(*arrays)


TESTS = [test_ids, *[test_lists] * 3, *[test_queries] * 6]


def test_one(data):
    """Run one of the comparisons on the bytes."""
    provider = atheris.FuzzedDataProvider(data)
    provider.PickValueInList(TESTS)(provider)


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one)
    atheris.Fuzz()
