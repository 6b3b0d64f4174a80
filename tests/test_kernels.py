"""The compiled kernels beside their NumPy twin, and the choice between the two."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ndcg import _kernels

try:
    from sklearn_ndcg import _ckernels
except ImportError:
    _ckernels = None

built = pytest.mark.skipif(_ckernels is None, reason="the compiled kernels were not built")
TIES = ["average", "stable", "worst", "best"]


@st.composite
def queries(draw):
    """gain, score, starts, lengths, discount and cutoffs, with all that is awkward in them."""
    lengths = draw(st.lists(st.integers(0, 150), min_size=1, max_size=6).filter(any))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, n_queries = sum(lengths), len(lengths)
    gains = {
        "grades": rng.integers(0, 5, n),
        "reals": rng.random(n) * 10,
        "negative, and above any grade": rng.integers(-3, 70, n),
        "exponential": 2.0 ** rng.integers(0, 40, n) - 1,
        "halves": rng.integers(0, 9, n) / 2,
    }
    gain = gains[draw(st.sampled_from(list(gains)))]
    scores = {
        "distinct": rng.permutation(n),
        "reals": rng.normal(size=n),
        "heavy ties": rng.integers(0, 3, n),
        "all tied": np.zeros(n),
        "near ties": 1 + 1e-15 * rng.integers(0, 9, n),
        "signed zeros": rng.choice([-0.0, 0.0, 1e-320, -1.0], n),
        "huge": rng.choice([1.7e308, -1.7e308, 1e300], n),
    }
    score = scores[draw(st.sampled_from(list(scores)))]
    score = np.where(rng.random(n) < draw(st.sampled_from([0, 0.3, 1])), -np.inf, score)
    longest = max(lengths)
    cutoffs = draw(st.lists(st.integers(1, longest), min_size=1, max_size=5, unique=True))
    ends = np.cumsum(lengths) - lengths
    order = rng.permutation(n_queries)  # of queries, whose runs are in any order
    return (
        gain.astype(float), score, ends[order], np.array(lengths)[order],
        1 / np.log2(np.arange(2, max(cutoffs) + 2)), np.sort(cutoffs),
    )  # fmt: skip


@built
@settings(max_examples=400, deadline=None)
@given(queries(), st.sampled_from(TIES), st.booleans())
def test_twins_agree(data, ties, single):
    gain, score, *rest = data
    if single:
        with np.errstate(over="ignore"):
            score = score.astype(np.float32)
        score[score == np.inf] = np.finfo(np.float32).max
    unit = np.abs(gain).max() or 1
    slow = _kernels.dcg(gain, score, *rest, ties)
    fast = _ckernels.dcg(gain, score, *rest, ties)
    np.testing.assert_allclose(fast / unit, slow / unit, rtol=1e-13, atol=1e-13)
    starts, lengths, discount, cutoffs = rest
    slow = _kernels.ideal_dcg(gain, *rest)
    fast = _ckernels.ideal_dcg(gain, *rest)
    np.testing.assert_allclose(fast / unit, slow / unit, rtol=1e-13, atol=1e-13)
    own = np.maximum(np.minimum(cutoffs[::-1], lengths[:, np.newaxis]), 1)  # in no order
    slow = _kernels.ideal_dcg(gain, starts, lengths, discount, own)
    fast = _ckernels.ideal_dcg(gain, starts, lengths, discount, own)
    np.testing.assert_allclose(fast / unit, slow / unit, rtol=1e-13, atol=1e-13)


@built
def test_a_long_query_of_scores_that_keys_cannot_tell_apart():
    # 18 bits of the key are the place, so that these scores differ only below it
    n = 200_000
    rng = np.random.default_rng(0)
    gain, score = rng.random(n), 1 + np.finfo(float).eps * rng.permutation(n)
    rest = np.array([0]), np.array([n]), 1 / np.log2(np.arange(2, n + 2)), np.array([40, 1000, n])
    for ties in TIES:
        slow, fast = (each.dcg(gain, score, *rest, ties) for each in (_kernels, _ckernels))
        np.testing.assert_allclose(fast, slow, rtol=1e-13)


@built
def test_the_sum_of_a_long_query_loses_no_digit():
    from math import fsum  # noqa: PLC0415

    n = 100_000
    gain, discount = np.random.default_rng(0).random(n), 1 / np.log2(np.arange(2, n + 2))
    one = gain, np.arange(n, 0, -1.0), np.array([0]), np.array([n]), discount, np.array([n])
    exact = fsum((gain * discount).tolist())
    assert _ckernels.dcg(*one, "average")[0, 0] == pytest.approx(exact, rel=1e-15)


def kernels_of(choice):
    code = "from sklearn_ndcg import _kernels; print(_kernels.running.__name__)"
    return subprocess.run(  # noqa: S603
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False,
        env=os.environ | {"SKLEARN_NDCG_KERNELS": choice},
    )  # fmt: skip


def test_the_environment_chooses_a_twin():
    assert kernels_of("numpy").stdout.strip() == "sklearn_ndcg._kernels"
    best = "_kernels" if _ckernels is None else "_ckernels"
    assert kernels_of("").stdout.strip() == f"sklearn_ndcg.{best}"
    compiled = kernels_of("compiled")
    if _ckernels is None:
        assert "No module named 'sklearn_ndcg._ckernels'" in compiled.stderr
    else:
        assert compiled.stdout.strip() == "sklearn_ndcg._ckernels"


def test_an_unknown_twin_is_refused():
    assert "must be 'numpy', 'compiled' or not set, got 'fast'" in kernels_of("fast").stderr
