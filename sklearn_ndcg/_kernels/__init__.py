"""Arrays in, arrays out: DCG of many queries, and exact sums.

Nothing is checked here but that no discount is missing.

`backend` is the module of the compiled kernels if they were built, otherwise the one of the NumPy
kernels, with the same functions. The environment variable SKLEARN_NDCG_KERNELS chooses "numpy" or
"compiled", for tests and bug reports.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

from sklearn_ndcg._kernels import numpy_kernels


def _choose_backend() -> ModuleType:
    """The compiled kernels, if they were built and are chosen, or the NumPy kernels."""
    choice = os.environ.get("SKLEARN_NDCG_KERNELS", "")
    if choice not in {"", "numpy", "compiled"}:
        raise ImportError(f"SKLEARN_NDCG_KERNELS must be numpy, compiled or unset, got {choice!r}.")
    if choice != "numpy":
        try:
            return import_module("sklearn_ndcg._kernels.compiled")
        except ImportError:
            if choice == "compiled":
                raise
    return numpy_kernels


backend = _choose_backend()
