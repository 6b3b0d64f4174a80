"""The compiled kernels compared with the NumPy kernels, and the choice between the two."""

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import reload
from math import fsum

import numpy as np
import pytest
from helpers import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ndcg import _kernels, dcg_samples, ndcg_samples
from sklearn_ndcg._kernels import numpy_kernels
from sklearn_ndcg._metrics.choices import TIES

try:
    from sklearn_ndcg._kernels import compiled
except ImportError:
    compiled = None

built = pytest.mark.skipif(compiled is None, reason="the compiled kernels were not built")

N = 30_000


@st.composite
def queries(draw):
    """gain, score, starts, lengths, discount, cutoffs and table, with awkward values."""
    lengths = draw(st.lists(st.integers(0, 150), min_size=1, max_size=6).filter(any))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, n_queries = sum(lengths), len(lengths)
    gains = {
        "grades": rng.integers(0, 5, n),
        "reals": rng.random(n) * 10,
        "negative, and above any grade": rng.integers(-3, 70, n),
        "exponential": 2.0 ** rng.integers(0, 40, n) - 1,
        "halves": rng.integers(0, 9, n) / 2,
        "in a table": rng.choice(draw(st.sampled_from([2, 5, 256])), n),
    }
    kind = draw(st.sampled_from(list(gains)))
    gain = gains[kind].astype(np.uint8 if kind == "in a table" else float)
    table = rng.choice([rng.random(256), np.arange(256.0), np.exp2(np.arange(256)) - 1])
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
    order = rng.permutation(n_queries)  # of queries, whose rows may start anywhere
    starts, lengths = ends[order], np.array(lengths)[order]
    discount, table = 1 / np.log2(np.arange(2, max(cutoffs) + 2)), table[: int(gain.max()) + 1]
    return gain, score, starts, lengths, discount, np.sort(cutoffs), table


@built
@settings(max_examples=examples(200), deadline=None)
@given(queries(), st.sampled_from(list(TIES.values())), st.booleans())
def test_both_kernels_agree(data, ties, single):
    gain, score, starts, lengths, discount, cutoffs, table = data
    if single:
        with np.errstate(over="ignore"):
            score = score.astype(np.float32)
        score[score == np.inf] = np.finfo(np.float32).max
    unit = np.abs(table[gain] if gain.dtype == np.uint8 else gain).max() or 1
    own = np.maximum(np.minimum(cutoffs[::-1], lengths[:, np.newaxis]), 1)  # not sorted
    slow, fast = (
        np.hstack(
            [
                module.dcg(gain, score, starts, lengths, discount, cutoffs, ties, table),
                module.ideal_dcg(gain, starts, lengths, discount, cutoffs, table),
                module.ideal_dcg(gain, starts, lengths, discount, own, table),
            ]
        )
        for module in (numpy_kernels, compiled)
    )
    np.testing.assert_allclose(fast / unit, slow / unit, rtol=1e-13, atol=1e-13)


LONG_SCORES = {
    "distinct": lambda rng: 1 + np.finfo(float).eps * rng.permutation(N),
    "nearly all in one bucket": lambda rng: np.exp(30 * rng.normal(size=N)),
    "a range beyond float64": lambda rng: rng.choice([-1.7e308, 0, 1e-300, 1.7e308], N),
    "subnormal": lambda rng: rng.choice([5e-324, 0, -5e-324], N),
    "ties": lambda rng: rng.integers(0, 100, N),
    "upside down": lambda rng: np.arange(N),
    "perfect": lambda rng: -np.arange(N),
}


ROWS = np.array([0]), np.array([N]), 1 / np.log2(np.arange(2, N + 2))
# where the compiled kernels select the first few, and where they sort
every_way = pytest.mark.parametrize("cutoffs", [[10], [40, 1000, N]], ids=["select", "sort"])


@built
@pytest.mark.parametrize("kind", LONG_SCORES)
@every_way
@pytest.mark.parametrize("ties", ["average", "best"])
def test_long_queries(kind, cutoffs, ties):
    rng = np.random.default_rng(0)
    gain, score = rng.random(N), LONG_SCORES[kind](rng).astype(float)
    rest = *ROWS, np.array(cutoffs), TIES[ties], np.empty(0)
    slow, fast = (kernels.dcg(gain, score, *rest) for kernels in (numpy_kernels, compiled))
    np.testing.assert_allclose(fast, slow, rtol=1e-13)


@built
@pytest.mark.parametrize("kind", LONG_SCORES)
@every_way
def test_ideals_of_long_queries(kind, cutoffs):
    gain = LONG_SCORES[kind](np.random.default_rng(0)) / 2**40
    rest = *ROWS, np.array(cutoffs), np.empty(0)
    slow, fast = (kernels.ideal_dcg(gain, *rest) for kernels in (numpy_kernels, compiled))
    np.testing.assert_allclose(fast, slow, rtol=1e-13)


@built
def test_the_sum_of_a_long_query_loses_no_digit():
    gain, discount = np.random.default_rng(0).random(N), ROWS[-1]
    rest = np.array([N]), TIES["average"], np.empty(0)

    def dcg(score):
        return compiled.dcg(gain, score, *ROWS, *rest)[0, 0]

    assert dcg(np.arange(N, 0, -1.0)) == pytest.approx(fsum(gain * discount), rel=3e-16, abs=0)
    # all tied except the first ones, whose discounts must not enter the sums of the others
    score = (np.arange(N) < 10).astype(float)
    expected = [fsum(gain[part]) * fsum(discount[part]) for part in (slice(10), slice(10, N))]
    expected[0], expected[1] = expected[0] / 10, expected[1] / (N - 10)
    assert dcg(score) == pytest.approx(fsum(expected), rel=3e-16, abs=0)


@pytest.mark.parametrize(("n", "base"), [(500, 0.8), (60, 0.1)])
def test_a_tie_where_the_discount_is_nearly_0(n, base):
    y, s = [np.r_[np.zeros(n), 1, 1]], [np.r_[np.arange(n + 2, 2, -1), 1, 1]]
    expected = base ** (n + 1.0) + base ** (n + 2.0)
    found = dcg_samples(y, s, discount=lambda ranks: base**ranks)
    assert found[0] == pytest.approx(expected, rel=1e-14, abs=0)


def test_discounts_whose_sum_overflows():
    value = ndcg_samples([[1e-9, 1e-9, 2e-9]], [[1, 1, 1]], discount=lambda ranks: 1e308 / ranks)
    assert value[0] == pytest.approx(4 / 3 * (1 + 1 / 2 + 1 / 3) / (2 + 1 / 2 + 1 / 3))


@pytest.mark.parametrize("table", [np.linspace(0, 5, 11)[::2], np.broadcast_to(1.0, 6)])
def test_a_table_of_any_layout(table):
    y, s = np.arange(6)[None], np.array([[3, 1, 2, 0, 5, 4]])
    expected = ndcg_samples(y, s, gain=table.tolist())
    assert ndcg_samples(y, s, gain=table) == pytest.approx(expected, abs=1e-15)


@pytest.fixture
def choose(monkeypatch):
    """Import the kernels anew, with a choice of the environment; return the module or an error."""
    monkeypatch.setattr(_kernels, "backend", _kernels.backend)  # put back after the test

    def choose(choice=None):
        monkeypatch.delenv("SKLEARN_NDCG_KERNELS", raising=False)
        if choice is not None:
            monkeypatch.setenv("SKLEARN_NDCG_KERNELS", choice)
        try:
            return reload(_kernels).backend
        except ImportError as error:
            return str(error)

    return choose


def test_the_environment_chooses_the_kernels(choose):
    assert choose("numpy") is numpy_kernels
    assert choose() is choose("") is (compiled or numpy_kernels)
    if compiled:
        assert choose("compiled") is compiled
    assert "must be numpy, compiled or unset, got 'fast'" in choose("fast")


def test_without_the_compiled_kernels_there_are_those_of_numpy(choose, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn_ndcg._kernels.compiled", None)
    assert choose() is numpy_kernels
    assert "sklearn_ndcg._kernels.compiled" in choose("compiled")


@built
def test_a_grade_beyond_the_table_reads_no_memory_outside_it():
    # another thread may write grades after the table was made
    grades = np.array([0, 1, 2, 255, 254, 3], dtype=np.uint8)
    score, starts, lengths = np.arange(6.0), np.array([0]), np.array([6])
    table, discount, cutoffs = np.array([0.0, 1, 3, 7]), np.ones(6), np.array([6])
    ranked = compiled.dcg(grades, score, starts, lengths, discount, cutoffs, TIES["stable"], table)
    best = compiled.ideal_dcg(grades, starts, lengths, discount, cutoffs, table)
    assert ranked.tolist() == best.tolist() == [[11.0]]


def long_call(n_queries, seed=0):
    """Arguments of `dcg`: nine million documents, all of which are sorted."""
    rng = np.random.default_rng(seed)
    gain, score = rng.integers(0, 5, 9_000_000).astype(np.uint8), rng.random(9_000_000)
    length = len(gain) // n_queries
    starts, lengths = length * np.arange(n_queries), np.full(n_queries, length)
    rest = 1 / np.log2(np.arange(2, length + 2)), np.array([length]), TIES["average"]
    return gain, score, starts, lengths, *rest, np.arange(5.0)


@pytest.mark.ci
@built
@pytest.mark.skipif(os.name != "posix", reason="no signals are sent to oneself there")
@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("n_queries", [1, 3, 10_000])
def test_ctrl_c_interrupts_a_kernel_at_work(n_queries):
    """At some moment at least: others fall between two calls, or after the last check of one."""
    arguments = long_call(n_queries)

    def call_until_interrupted(timer):
        timer.start()
        while True:
            compiled.dcg(*arguments)

    def interrupted_in(seconds):
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt) as interrupted:
            call_until_interrupted(timer)
        timer.join()
        return str(interrupted.traceback[-1].path)

    moments = np.linspace(0.05, 0.3, 20)
    assert any(interrupted_in(seconds).endswith("compiled.pyx") for seconds in moments)
    assert ndcg_samples([[1, 0]], [[2, 1]])[0] == 1


@pytest.mark.ci
@built
def test_two_threads_at_once_get_right_values_while_another_runs_python():
    calls = [long_call(3, seed=0), long_call(10_000, seed=1)]
    expected = [compiled.dcg(*arguments) for arguments in calls]
    n_steps = 0

    def dcg(arguments):
        before = n_steps
        return compiled.dcg(*arguments), n_steps - before

    with ThreadPoolExecutor(2) as pool:
        results = [pool.submit(dcg, arguments) for arguments in calls]
        while not all(result.done() for result in results):
            n_steps += 1
    for result, values in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result.result()[0], values)
        assert result.result()[1] > 100  # so the kernel did not hold the GIL


@pytest.mark.parametrize("shape", [(-1,), (5, -1)])
def test_every_byte_but_0_is_true_in_booleans(shape):
    rng = np.random.default_rng(0)
    data = rng.integers(0, 256, 1000, dtype=np.uint8) * (rng.random(1000) < 0.5)
    y, s = data.view(bool), rng.integers(0, 256, 1000, dtype=np.uint8)
    s[::3] = 0
    options = {"groups": np.arange(1000) // 10} if len(shape) == 1 else {}
    y, s, truth, order = (a.reshape(shape) for a in (y, s.view(bool), data != 0, s != 0))
    found = ndcg_samples(y, s, undefined=0, **options)
    expected = ndcg_samples(truth * 1, order * 1.0, undefined=0, **options)
    np.testing.assert_array_equal(found, expected)
