"""Arrays in, arrays out: DCG of many queries, threads, exact sums. Nothing is checked here.

`backend` is the module of the compiled kernels if they were built, otherwise the one of the NumPy
kernels, with the same functions. The environment variable SKLEARN_NDCG_KERNELS chooses "numpy" or
"compiled", for tests and bug reports.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import numpy as np

from sklearn_ndcg._checks import Floats, Ints
from sklearn_ndcg._kernels import numpy_kernels
from sklearn_ndcg._kernels.numpy_kernels import Places, TieRule, as_grades
from sklearn_ndcg._kernels.sums import exact_sum, sums_of_runs, weighted_means, weighted_sums
from sklearn_ndcg._kernels.threads import count_parts, map_queries, map_rows


def in_threads(call: Callable[[slice], Floats], lengths: Ints, n_rows: int) -> Floats:
    """Results of `call` for parts of the queries as one array; the NumPy kernels use one thread."""
    if backend is numpy_kernels:
        return call(slice(None))
    return np.concatenate(map_queries(call, lengths, n_rows))


def places_of(codes: Ints, n_codes: int) -> tuple[Ints, Places]:
    """How often each code occurs, and the places to which `gather_by_group` moves the rows.

    For each part of the rows (the key is its first row), these are the places of the part's first
    row of each code, so that threads can gather the parts at once.
    """
    n_parts = count_parts(len(codes))
    if backend is numpy_kernels or n_parts * n_codes > len(codes):
        n_parts = 1  # otherwise the places would take more memory than the codes

    def count(part: slice) -> tuple[int, Ints]:
        return part.start, backend.count_codes(codes[part], n_codes)

    counts = dict(map_rows(count, len(codes), n_parts))
    lengths: Ints = sum(counts.values(), start=np.zeros(n_codes, dtype=np.intp))
    place, places = np.cumsum(lengths) - lengths, {}
    for first, n_rows in counts.items():
        places[first] = place
        place = place + n_rows
    return lengths, places


def _choose_backend() -> ModuleType:
    """Return the compiled kernels or the NumPy ones."""
    choice = os.environ.get("SKLEARN_NDCG_KERNELS", "")
    if choice not in {"", "numpy", "compiled"}:
        raise ImportError(
            f"SKLEARN_NDCG_KERNELS must be 'numpy', 'compiled' or not set, got {choice!r}."
        )
    if choice != "numpy":
        try:
            return import_module("sklearn_ndcg._kernels.compiled")
        except ImportError:
            if choice == "compiled":
                raise
    return numpy_kernels


backend = _choose_backend()
