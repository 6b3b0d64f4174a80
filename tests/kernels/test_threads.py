"""How many threads a call uses, that their number changes no value, and what ends them early."""

import _thread
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import joblib
import numpy as np
import pytest
from helpers import run_python
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from sklearn_ndcg import _kernels, dcg_samples, ndcg_curve, ndcg_samples, ndcg_score
from sklearn_ndcg._kernels import threads
from sklearn_ndcg._rows.grouping import Grouping

MANY = 1 << 24  # rows, which pay for any number of threads here
RNG = np.random.default_rng(0)
LENGTHS = np.clip(RNG.lognormal(np.log(87), 0.85, 9000), 1, 1251).astype(int)
N = LENGTHS.sum()
GROUPS = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
SCATTERED = RNG.permutation(GROUPS)
Y, S = RNG.integers(0, 5, N).astype(float), RNG.normal(size=N)
pytestmark = pytest.mark.usefixtures("openmp_threads")
main_thread_only = pytest.mark.usefixtures("main_thread")
compiled = pytest.mark.skipif(
    _kernels.backend is _kernels.numpy_kernels, reason="the NumPy kernels use one thread"
)
posix = pytest.mark.skipif(os.name != "posix", reason="for signals and forks")


@pytest.fixture
def no_thread_is_left():
    before = _thread._count()
    yield
    deadline = time.monotonic() + 1  # a thread still counts for a moment after its last line
    while _thread._count() > before and time.monotonic() < deadline:
        time.sleep(0.001)
    assert _thread._count() <= before


@main_thread_only
@pytest.mark.parametrize(
    "call",
    [
        lambda: ndcg_samples(Y, S, groups=GROUPS, k=10),
        lambda: ndcg_samples(Y, S.round(1), groups=GROUPS),
        lambda: ndcg_samples(Y, S.round(1), groups=GROUPS, k=7, ties="worst", gain="exponential"),
        lambda: ndcg_samples(Y, np.where(S < 0, -np.inf, S), groups=GROUPS, k="retrieved"),
        lambda: ndcg_samples(np.where(S < -1, np.nan, Y), S, groups=GROUPS, unjudged="omit"),
        lambda: dcg_samples(Y - 0.5, S, groups=GROUPS, k=3),
        lambda: ndcg_samples(Y[:900_000].reshape(-1, 90), S[:900_000].reshape(-1, 90), k=10),
        lambda: ndcg_samples(Y, S, groups=GROUPS % 50),
        lambda: ndcg_samples(Y, S.round(1), groups=SCATTERED, k=7, ties="stable"),
        lambda: ndcg_samples(Y - 0.5, S.astype("f4"), groups=3 * SCATTERED, gain=np.square),
        lambda: ndcg_samples(np.where(S < -1, np.nan, Y), S, groups=SCATTERED, unjudged="omit"),
        lambda: np.array([ndcg_score(Y, S, groups=SCATTERED, sample_weight=S**2, k=10)]),
        lambda: ndcg_samples(Y, S, groups=np.arange(N) % (N // 2)),  # more ids than one part
        lambda: Grouping.of_ids(SCATTERED, N).row_order(),
        lambda: ndcg_samples(Y, S, groups=np.where(GROUPS < 8000, 0, GROUPS)),
        lambda: np.array(ndcg_curve(Y, S, groups=GROUPS, k=[1, 5, 100])[1]),
        lambda: np.array([ndcg_score(Y, S, groups=GROUPS, k=10)]),
    ],
)
@pytest.mark.filterwarnings("ignore:NDCG is undefined")
def test_the_number_of_threads_changes_no_bit(call, monkeypatch):
    monkeypatch.setattr(threads, "_LEAST_ROWS", 1 << 15)
    found = []
    for n_threads in "1237":
        monkeypatch.setenv("OMP_NUM_THREADS", n_threads)
        found.append(call().tobytes())
    assert len(set(found)) == 1


@main_thread_only
@compiled
def test_scattered_rows_are_gathered_in_parts(monkeypatch):
    monkeypatch.setattr(threads, "_LEAST_ROWS", 1 << 15)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert len(Grouping.of_ids(SCATTERED, N).places) == 3 * threads._PARTS
    # places for each id in each part would be more than the rows
    assert len(Grouping.of_ids(np.arange(N) % (N // 2), N).places) == 1


@main_thread_only
@pytest.mark.usefixtures("no_thread_is_left")
def test_threads_are_started_and_gone_after_the_call(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    seen = set()

    everyone = threading.Barrier(3)

    def call(part):
        everyone.wait(timeout=60)  # until three threads have a part each
        seen.add(threading.get_ident())
        return part.stop - part.start

    monkeypatch.setattr(threads, "_PARTS", 1)
    assert sum(threads.map_rows(call, MANY)) == MANY
    assert len(seen) == 3


# --- how many --------------------------------------------------------------------------------


@main_thread_only
@pytest.mark.parametrize(
    ("value", "expected"),
    [("1", 1), ("2", 2), ("7", 7), (" 3 ", 3), ("4,2", 4)]
    + [(value, joblib.cpu_count()) for value in ("", "0", "-1", "many")],
)
def test_openmp_says_how_many(value, expected, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert threads.count_threads(MANY) == expected


@pytest.mark.parametrize("n_rows", [0, 1, 10_000, 2 * threads._LEAST_ROWS - 1])
def test_few_rows_take_one_thread(n_rows, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert threads.count_threads(n_rows) == 1


@main_thread_only
def test_no_thread_has_too_few_rows(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert threads.count_threads(3 * threads._LEAST_ROWS) == 3


def test_a_caller_in_a_thread_takes_one(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(threads.count_threads, MANY).result() == 1
    assert Parallel(2, backend="threading")([delayed(threads.count_threads)(MANY)] * 2) == [1, 1]


@main_thread_only
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_threadpoolctl_limits_threads_while_it_is_active(n_threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with threadpool_limits(n_threads):
        assert threads.count_threads(MANY) == n_threads
    with threadpool_limits(n_threads, user_api="openmp"):
        assert threads.count_threads(MANY) == n_threads
    with threadpool_limits(n_threads, user_api="blas"):
        assert threads.count_threads(MANY) == 7
    assert threads.count_threads(MANY) == 7


@main_thread_only
def test_joblib_limits_threads_while_its_configuration_is_active(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with parallel_config(n_jobs=1):
        assert threads.count_threads(MANY) == 1
        with parallel_config("threading", n_jobs=3):
            assert threads.count_threads(MANY) == 3
    for without_limit in ({}, {"n_jobs": None}, {"verbose": 0}, {"n_jobs": 100}):
        with parallel_config(**without_limit):
            assert threads.count_threads(MANY) == 7
    # as in a search with n_jobs=None, which runs in this thread
    assert Parallel()([delayed(threads.count_threads)(MANY)]) == [7]


def test_workers_of_joblib_have_as_many_threads_as_it_says(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    for n_threads in (1, 3):
        with parallel_config("loky", n_jobs=2, inner_max_num_threads=n_threads):
            found = Parallel()([delayed(threads.count_threads)(MANY)] * 2)
        assert found == [n_threads] * 2


def test_openmp_of_scikit_learn_is_known():
    known = {library["filepath"] for library in threads._openmp().info()}
    loaded = {each["filepath"] for each in threadpool_info() if each["user_api"] == "openmp"}
    assert known
    assert known <= loaded


def test_workers_of_joblib_share_the_cpus(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    count = delayed(threads.count_threads)
    # a number of workers that no other test uses, as workers keep the environment of their start
    share = max(joblib.cpu_count() // 3, 1)
    assert Parallel(3, backend="loky")([count(MANY)] * 3) == [share] * 3
    assert Parallel(2, backend="multiprocessing")([count(MANY)] * 2) == [1, 1]


def test_a_worker_of_a_process_pool_takes_one(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(threads.count_threads, MANY).result(60) == 1


def test_a_worker_of_dask_takes_one(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    for processes in (False, True):
        with (
            distributed.LocalCluster(
                n_workers=1, threads_per_worker=1, processes=processes, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            assert client.submit(threads.count_threads, MANY).result(60) == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="for Linux")
def test_only_the_cpus_of_this_process_count():
    code = (
        "import os; os.environ.pop('OMP_NUM_THREADS', None);"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        f"from sklearn_ndcg._kernels import threads; print(threads.count_threads({MANY}))"
    )
    assert run_python(code).stdout == "1\n"


# --- what goes wrong -------------------------------------------------------------------------


@main_thread_only
@pytest.mark.usefixtures("no_thread_is_left")
@pytest.mark.parametrize("bad", [0, MANY - 1])
def test_an_error_in_any_thread_is_raised(bad, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")

    def call(part):
        if part.start <= bad < part.stop:
            raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        threads.map_rows(call, MANY)


@main_thread_only
@pytest.mark.usefixtures("no_thread_is_left")
def test_an_interrupt_in_the_middle_of_a_start_leaves_no_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    start = _thread.start_new_thread

    def interrupted(*work):
        start(*work)
        del work
        raise KeyboardInterrupt

    begun, ended = [], []

    def call(part):
        begun.append(part)
        time.sleep(0.05)
        ended.append(part)

    monkeypatch.setattr(_thread, "start_new_thread", interrupted)
    with pytest.raises(KeyboardInterrupt):
        threads.map_rows(call, MANY)
    assert len(ended) == len(begun)


@main_thread_only
@pytest.mark.usefixtures("no_thread_is_left")
def test_an_interrupt_of_the_last_wait_leaves_no_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")

    wait, waits, ended = threads._wait_for_end_of, [], []

    def interrupted(running):
        waits.append(running)
        if len(waits) == 1:
            raise KeyboardInterrupt
        wait(running)

    def call(part):
        time.sleep(0.05 if threading.current_thread() is threading.main_thread() else 0.2)
        ended.append(part)

    monkeypatch.setattr(threads, "_wait_for_end_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        threads.map_rows(call, MANY)
    assert len(ended) == 3 * threads._PARTS


@main_thread_only
@posix
@pytest.mark.usefixtures("interrupts", "no_thread_is_left")
def test_an_interrupt_while_the_others_are_waited_for(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(threads, "_PARTS", 1)
    main, begun, ended = threading.get_ident(), threading.Event(), []

    def call(part):
        if threading.get_ident() != main:
            begun.set()
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            ended.append(part)
        else:
            begun.wait(60)  # until the other thread has a part

    with pytest.raises(KeyboardInterrupt):
        threads.map_rows(call, MANY)
    assert len(ended) == 1


@main_thread_only
@pytest.mark.usefixtures("no_thread_is_left")
@pytest.mark.parametrize("n_possible", [0, 1])
@pytest.mark.parametrize("error", [RuntimeError, MemoryError])
def test_where_too_few_threads_can_be_started_fewer_do_all(n_possible, error, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    expected = ndcg_samples(Y, S, groups=GROUPS, k=10)
    start, started = _thread.start_new_thread, []

    def start_some(*work):
        if len(started) == n_possible:
            raise error("can't start new thread")
        start(*work)
        started.append(None)

    monkeypatch.setattr(threads, "_LEAST_ROWS", 1 << 15)
    monkeypatch.setattr(_thread, "start_new_thread", start_some)
    np.testing.assert_array_equal(ndcg_samples(Y, S, groups=GROUPS, k=10), expected)
    assert len(started) == n_possible


@main_thread_only
@pytest.mark.usefixtures("no_thread_is_left")
def test_a_thread_that_ends_before_its_first_line_is_not_waited_for(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    start = _thread.start_new_thread

    def start_dead(_, arguments):
        start(lambda token: None, arguments)

    monkeypatch.setattr(_thread, "start_new_thread", start_dead)
    assert sum(threads.map_rows(lambda part: part.stop - part.start, MANY)) == MANY


@main_thread_only
def test_a_call_at_the_exit_of_python_uses_one_thread():
    code = (
        "import atexit; from sklearn_ndcg._kernels import threads;"
        "size = lambda part: part.stop - part.start;"
        f"atexit.register(lambda: print(sum(threads.map_rows(size, {MANY})) == {MANY}))"
    )
    assert run_python(code, OMP_NUM_THREADS="3").stdout == "True\n"


@main_thread_only
@posix
def test_a_process_that_is_forked_afterwards_works(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    expected = ndcg_samples(Y, S, groups=GROUPS, k=10)
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        found = pool.submit(ndcg_samples, Y, S, groups=GROUPS, k=10).result(60)
    np.testing.assert_array_equal(found, expected)


@compiled
@posix
@pytest.mark.usefixtures("interrupts", "no_thread_is_left")
@pytest.mark.parametrize("n_queries", [1, 3, 10_000])
@pytest.mark.parametrize("n_threads", ["1", "3"])
def test_an_interrupt_is_answered_inside_the_kernel(n_queries, n_threads, monkeypatch):
    """The signal is sent when a kernel asks for the first time."""
    monkeypatch.setenv("OMP_NUM_THREADS", n_threads)
    monkeypatch.setattr(threads, "_PARTS", 1)
    n = 9_000_000
    y, s = np.zeros(n), np.random.default_rng(0).normal(size=n)
    groups = np.arange(n) // -(-n // n_queries)
    ask, asked = threads.check_interrupt, []

    def check_interrupt():
        if not asked:
            asked.append(threading.get_ident())
            os.kill(os.getpid(), signal.SIGINT)
        ask()

    monkeypatch.setattr(_kernels.backend, "check_interrupt", check_interrupt)
    done = []

    def map_queries(*rows):
        done.append(threads.map_queries(*rows))
        return done[-1]

    monkeypatch.setattr(_kernels, "map_queries", map_queries)
    with pytest.raises(KeyboardInterrupt):
        ndcg_samples(y, s, groups=groups, k=None)
    assert asked
    assert not done
    monkeypatch.undo()
    assert ndcg_samples([[1, 0]], [[2, 1]])[0] == 1
