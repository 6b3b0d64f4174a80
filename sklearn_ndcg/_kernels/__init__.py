"""Arrays in, arrays out: DCG of many queries, and exact sums. Nothing is checked here.

`backend` is the module of the compiled kernels if they were built, otherwise the one of the NumPy
kernels, with the same functions. The environment variable SKLEARN_NDCG_KERNELS chooses "numpy" or
"compiled", for tests and bug reports, and for other folders with a compiled module, too.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import Any

from sklearn_ndcg._kernels import numpy_kernels


def compiled_or(module: str, otherwise: Any) -> Any:
    """The compiled module of this name, if it was built and is chosen; or what does the same."""
    choice = os.environ.get("SKLEARN_NDCG_KERNELS", "")
    if choice not in {"", "numpy", "compiled"}:
        raise ImportError(f"SKLEARN_NDCG_KERNELS must be numpy, compiled or unset, got {choice!r}.")
    if choice != "numpy":
        try:
            return import_module(module)
        except ImportError:
            if choice == "compiled":
                raise
    return otherwise


backend: ModuleType = compiled_or("sklearn_ndcg._kernels.compiled", numpy_kernels)
