"""NDCG per query, as metrics and scorers for scikit-learn."""

import platform
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn_ndcg import _kernels
from sklearn_ndcg._inference import (
    DifferenceDisplay,
    NDCGDisplay,
    compare_lists,
    compare_rankers,
    compare_runs,
    ndcg_interval,
)
from sklearn_ndcg._lists import from_lists, from_trec
from sklearn_ndcg._metrics import (
    CONVENTIONS,
    dcg_samples,
    dcg_score,
    explain_difference,
    jarvelin_kekalainen,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
    quantile_grades,
)
from sklearn_ndcg._selection import (
    GroupedRanker,
    QueryLeakWarning,
    QuerySplitter,
    check_group_splits,
    make_dcg_scorer,
    make_ndcg_scorer,
    one_ranking,
)

if TYPE_CHECKING:
    from sklearn_ndcg import frames as frames
else:

    def __getattr__(name: str) -> Any:
        """Import `frames` on first use, as it needs Narwhals."""
        if name == "frames":
            return import_module("sklearn_ndcg.frames")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__version__ = version("sklearn-ndcg")


def show_versions() -> None:
    """Print what a bug report should tell: versions, which kernels compute, and from where.

    Python that is started inside a clone imports the source there, not the installed package, and
    the source has no compiled kernels. The second line then says so.

    Examples
    --------
    >>> import sklearn_ndcg
    >>> sklearn_ndcg.show_versions()
    sklearn_ndcg 0.1.0, ... kernels
    imported from ...
    scikit-learn ...
    numpy ...
    scipy ...
    Python ...
    """
    kernels = "NumPy" if _kernels.backend is _kernels.numpy_kernels else "compiled"
    print(f"sklearn_ndcg {__version__}, {kernels} kernels")
    folder = Path(__file__).parent
    is_source = (folder.parent / "pyproject.toml").exists()
    if is_source and not [
        *folder.glob("_kernels/compiled*.so"),
        *folder.glob("_kernels/compiled*.pyd"),
    ]:
        print(
            f"imported from {folder}: source, without compiled kernels. For the installed package, "
            "start Python in another directory, or as python -P."
        )
    else:
        print(f"imported from {folder}")
    for package in ("scikit-learn", "numpy", "scipy"):
        print(package, version(package))
    print(f"Python {platform.python_version()}, {platform.platform()}")


__all__ = [
    "CONVENTIONS",
    "DifferenceDisplay",
    "GroupedRanker",
    "NDCGDisplay",
    "QueryLeakWarning",
    "QuerySplitter",
    "check_group_splits",
    "compare_lists",
    "compare_rankers",
    "compare_runs",
    "dcg_samples",
    "dcg_score",
    "explain_difference",
    "from_lists",
    "from_trec",
    "jarvelin_kekalainen",
    "make_dcg_scorer",
    "make_ndcg_scorer",
    "ndcg_curve",
    "ndcg_interval",
    "ndcg_samples",
    "ndcg_score",
    "one_ranking",
    "quantile_grades",
    "show_versions",
]
