"""Work on rows in several threads, if it releases the GIL and the rows are many.

Each call starts and ends its own threads, so that a fork never meets a running one.
"""

from __future__ import annotations

import _thread
import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import count, pairwise
from multiprocessing import parent_process
from typing import Any, TypeVar

import joblib  # scikit-learn depends on it, and on threadpoolctl
import numpy as np
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from sklearn_ndcg._checks import Ints

Result = TypeVar("Result")

# a thread needs less time for fewer rows than it takes to start
_LEAST_ROWS = 1 << 17
_PASSES = 4  # this many simple passes take as long as a kernel
_PARTS = 4  # per thread, so that a thread that other processes slow down takes fewer of them
_thread_state = threading.local()


def check_interrupt() -> None:
    """Raise if the call was interrupted; the kernels call this every few million rows.

    In the main thread Python itself raises KeyboardInterrupt.
    """
    stop = getattr(_thread_state, "stop", None)
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt


def count_threads(n_rows: int) -> int:
    """How many threads to use, counted as libraries that use OpenMP do.

    That is OMP_NUM_THREADS, as joblib and Dask set it for their workers, or the CPUs of this
    process; no more than `joblib.parallel_config` and `threadpoolctl.threadpool_limits` allow. It
    is 1 outside the main thread, and in a worker process without that variable: other threads or
    processes probably use the other CPUs.
    """
    most = n_rows // _LEAST_ROWS
    if most < 2 or threading.current_thread() is not threading.main_thread():
        return 1
    first_level = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first_level.isdecimal() and int(first_level) > 0:
        most = min(int(first_level), most)
    else:
        most = 1 if parent_process() is not None else min(joblib.cpu_count(), most)
    joblib_backend, n_jobs = get_active_backend()
    if n_jobs is not None:
        most = min(joblib_backend.effective_n_jobs(n_jobs), most)
    allowed = [library["num_threads"] or most for library in _openmp().info()]
    return min(max(allowed, default=most), most)


@cache
def _openmp() -> ThreadpoolController:
    """The OpenMP libraries of this process, including scikit-learn's; found once, in 3 ms."""
    return ThreadpoolController().select(user_api="openmp")


def count_parts(n_rows: int) -> int:
    """Into how many parts a pass over the rows is divided."""
    return _parts_for(count_threads(n_rows // _PASSES))


def _parts_for(n_threads: int) -> int:
    return n_threads * _PARTS if n_threads > 1 else 1


def map_rows(call: Callable[[slice], Result], n_rows: int, n_parts: int = 0) -> list[Result]:
    """Results of `call`, a pass over `n_rows` rows, on parts of them, in order."""
    n_threads = count_threads(n_rows // _PASSES)
    n_parts = n_parts or _parts_for(n_threads)
    if n_parts == 1:
        return [call(slice(0, n_rows))]
    ends = [n_rows * i // n_parts for i in range(n_parts + 1)]
    return _run(call, ends, n_threads)


def map_queries(call: Callable[[slice], Result], lengths: Ints, n_rows: int) -> list[Result]:
    """Results of `call` on parts of the queries with about equal numbers of rows."""
    n_threads = count_threads(n_rows)
    if n_threads == 1:
        return [call(slice(None))]
    n_before = np.cumsum(lengths)
    targets = n_before[-1] * np.arange(1, n_threads * _PARTS) // (n_threads * _PARTS)
    ends = np.unique([0, *np.searchsorted(n_before, targets, side="right"), len(lengths)])
    return _run(call, ends.tolist(), n_threads)


def _run(call: Callable[[slice], Result], ends: list[int], n_threads: int) -> list[Result]:
    """Results of `call` on each part; this thread and others take one part after another."""
    results: dict[int, Result] = {}
    errors: list[BaseException] = []
    parts, lock, stop = iter(pairwise(ends)), threading.Lock(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            with lock:
                first, last = next(parts, (0, 0))
            if first == last:
                return
            results[first] = call(slice(first, last))

    def help_out(token: Any) -> None:
        del token  # otherwise the traceback of an error would keep it
        try:
            _thread_state.stop = stop
            work()
        except BaseException as error:
            errors.append(error)

    tokens = [threading.Lock() for _ in range(min(n_threads, len(ends) - 1) - 1)]
    running = [weakref.ref(token) for token in tokens]
    try:
        # without memory, at the limit of threads or at Python's end, fewer threads will do
        with suppress(RuntimeError, MemoryError):
            while tokens:
                _thread.start_new_thread(help_out, (tokens.pop(),))
        tokens.clear()
        work()  # a main thread that only waits would not see an interrupt on Windows
        _wait_for_end_of(running)
    finally:
        stop.set()
        tokens.clear()
        _wait_for_end_of(running)
    if not errors and len(results) < len(ends) - 1:
        errors.append(MemoryError("A thread has ended before it was done."))
    if errors:
        raise errors.pop(0)  # avoids a reference cycle with its own traceback
    return [results[first] for first in ends[:-1]]


def _wait_for_end_of(running: list[weakref.ref[Any]]) -> None:
    """Wait for threads; each holds the only reference to an object until it ends.

    `threading.Thread` would wait forever for a thread that could not start for lack of memory.
    """
    for attempt in count():
        if all(each() is None for each in running):
            return
        time.sleep(0 if attempt < 200 else 1e-4)  # a real sleep takes as long as starting a thread
