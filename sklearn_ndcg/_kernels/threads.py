"""Work on rows in several threads, where it releases the GIL and there is enough of it.

Each call starts its threads and ends them, so that none is left that a fork would break.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from multiprocessing import parent_process
from typing import TypeVar

import joblib  # scikit-learn depends on it
import numpy as np

from sklearn_ndcg._checks import Ints

Result = TypeVar("Result")

# fewer rows than these take a thread less time than it takes to start
_LEAST_ROWS = 1 << 17
_PARTS = 4  # for each thread: one that is slowed down by other processes takes fewer of them
_NAME = "sklearn_ndcg"  # of the threads
_thread_state = threading.local()


def check_interrupt() -> None:
    """Raise where the call was interrupted; the kernels call this every few million rows.

    In the main thread Python raises KeyboardInterrupt by itself, here as anywhere.
    """
    stop = getattr(_thread_state, "stop", None)
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt


def count_threads(n_rows: int) -> int:
    """How many threads to use, counted as libraries that use OpenMP do.

    That is OMP_NUM_THREADS, as joblib and Dask set it for their workers, or the CPUs of this
    process. A caller that is not the main thread, or is a worker process without that variable, is
    one of several already.
    """
    most = n_rows // _LEAST_ROWS
    if most < 2 or threading.current_thread() is not threading.main_thread():
        return 1
    first_level = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first_level.isdecimal() and int(first_level) > 0:
        return min(int(first_level), most)
    return 1 if parent_process() is not None else min(joblib.cpu_count(), most)


def map_rows(call: Callable[[slice], Result], n_rows: int) -> list[Result]:
    """Results of `call`, a pass over `n_rows` rows, on parts of them in order."""
    n_threads = count_threads(n_rows // 4)  # a pass takes a row a quarter of a kernel's time
    if n_threads == 1:
        return [call(slice(None))]
    n_parts = n_threads * _PARTS
    return _run(call, [n_rows * i // n_parts for i in range(n_parts + 1)], n_threads)


def map_queries(call: Callable[[slice], Result], lengths: Ints, n_rows: int) -> list[Result]:
    """Results of `call` on parts of the queries, which have about as many rows each."""
    n_threads = count_threads(n_rows)
    if n_threads == 1:
        return [call(slice(None))]
    n_before = np.cumsum(lengths)
    targets = n_before[-1] * np.arange(1, n_threads * _PARTS) // (n_threads * _PARTS)
    ends = np.unique([0, *np.searchsorted(n_before, targets, side="right"), len(lengths)])
    return _run(call, ends.tolist(), n_threads)


def _run(call: Callable[[slice], Result], ends: list[int], n_threads: int) -> list[Result]:
    """`call` on each part, by this thread and others, each of which takes the next one."""
    results: dict[int, Result] = {}
    parts, lock, stop = iter(pairwise(ends)), threading.Lock(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            with lock:
                first, last = next(parts, (0, 0))
            if first == last:
                return
            results[first] = call(slice(first, last))

    pool = ThreadPoolExecutor(n_threads, _NAME, setattr, (_thread_state, "stop", stop))
    others = []
    try:
        with suppress(RuntimeError):  # no more threads here, or Python is ending: fewer will do
            for _ in range(min(n_threads, len(ends) - 1) - 1):
                others.append(pool.submit(work))
        work()  # a main thread that only waits would not see an interrupt on Windows
        for each in others:
            each.result()
    finally:
        stop.set()
        try:
            pool.shutdown(cancel_futures=True)
        finally:
            _wait_for_all()
    return [results[first] for first in ends[:-1]]


def _wait_for_all() -> None:
    """Wait for threads that a pool has lost: an interrupt met their start, or the wait for them."""
    for _ in range(1000):  # ten seconds, in case one was never started
        if not any(each.name.startswith(_NAME) for each in threading.enumerate()):
            return
        time.sleep(0.01)
