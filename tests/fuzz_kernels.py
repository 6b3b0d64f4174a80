"""Coverage-guided fuzzing: bytes become queries, and the two kernels must agree.

    python -m pip install atheris .
    python tests/fuzz_kernels.py -max_total_time=300 tests/corpus

Not collected by pytest. libFuzzer sees the branches of the NumPy kernels and of the metrics; the
compiled kernels run beside them, under AddressSanitizer if they were built with it. What it finds
worth keeping is added to the corpus.
"""

import sys

import atheris

with atheris.instrument_imports(include=["sklearn_ndcg"]):
    from sklearn_ndcg import _kernels
    from sklearn_ndcg._definitions import Definition
    from sklearn_ndcg._metrics import dcg_and_ideal
    from sklearn_ndcg._queries import as_queries

import numpy as np

from sklearn_ndcg import _ckernels

TIES = ["average", "stable", "worst", "best"]
GAINS = ["linear", "exponential", tuple(range(256, 0, -1))]


def queries_of(data):
    """Draw y_true, y_score, groups and options."""
    provider = atheris.FuzzedDataProvider(data)
    ties, gain = provider.PickValueInList(TIES), provider.PickValueInList(GAINS)
    k = provider.PickValueInList([None, 1, 5, 17, 100, "retrieved"])
    n = provider.ConsumeIntInRange(1, 400)
    y = np.frombuffer(provider.ConsumeBytes(n).ljust(n, b"\0"), dtype=np.uint8)
    groups = np.frombuffer(provider.ConsumeBytes(n).ljust(n, b"\0"), dtype=np.uint8) % 7
    if provider.ConsumeBool():
        groups = np.sort(groups)
    kind = provider.ConsumeIntInRange(0, 2)
    width = (1, 4, 8)[kind]
    raw = provider.ConsumeBytes(n * width).ljust(n * width, b"\0")
    s = np.frombuffer(raw, dtype=("i1", "f4", "f8")[kind])
    if kind:
        s = np.where(np.isnan(s) | (s == np.inf), 0, s).astype(s.dtype)
    if provider.ConsumeBool():
        y = y / 2
    return y, s, groups, k, Definition(gain=gain, ties=ties)


def test_one(data):
    """Compare the kernels on the queries that the bytes make."""
    y, s, groups, k, definition = queries_of(data)
    if isinstance(definition.gain, tuple) and y.dtype != np.uint8:
        return
    queries = as_queries(y, s, groups=groups, definition=definition, negative_gain=False)
    found = []
    for twin in (_kernels, _ckernels):
        _kernels.backend = twin
        found.append(np.hstack(dcg_and_ideal(queries, [k], definition)))
    unit = np.abs(found[0]).max() or 1
    np.testing.assert_allclose(found[1] / unit, found[0] / unit, rtol=1e-12, atol=1e-13)


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one)
    atheris.Fuzz()
