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
    from sklearn_ndcg._definitions import Measure
    from sklearn_ndcg._inputs import read_queries

import numpy as np

from sklearn_ndcg import _ckernels

TIES = ["average", "stable", "worst", "best"]
GAINS = ["linear", "exponential", tuple(range(256, 0, -1))]


def queries_of(data):
    """Draw a measure, y_true, y_score and groups."""
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
    return Measure(k=k, gain=gain, ties=ties), y, s, groups


def test_one(data):
    """Compare the kernels on the queries that the bytes make."""
    measure, y, s, groups = queries_of(data)
    if isinstance(measure.gain, tuple) and y.dtype != np.uint8:
        return
    queries = read_queries(measure, y, s, groups)
    found = []
    for kernels in (_kernels, _ckernels):
        _kernels.backend = kernels
        found.append(np.hstack(queries.dcg_and_ideal()))
    unit = np.abs(found[0]).max() or 1
    np.testing.assert_allclose(found[1] / unit, found[0] / unit, rtol=1e-12, atol=1e-13)


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one)
    atheris.Fuzz()
