"""NDCG per query, as metrics and scorers for scikit-learn."""

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sklearn

from sklearn_ndcg import _kernels
from sklearn_ndcg._inference import (
    Comparison,
    DifferenceDisplay,
    NDCGDisplay,
    NDCGInterval,
    QueryDifferences,
    SegmentDisplay,
    SegmentTable,
    compare_candidates,
    compare_lists,
    compare_rankers,
    compare_runs,
    ndcg_by_segment,
    ndcg_interval,
)
from sklearn_ndcg._lists import from_lists, from_trec
from sklearn_ndcg._metrics import (
    CONVENTIONS,
    Explanation,
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
    GroupedScorer,
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
    """Print what a bug report needs: the kernels in use, the package's folder and all versions.

    If you start Python inside a clone, it imports the source instead of the installed package,
    without compiled kernels. The second line then says so.

    Examples
    --------
    >>> import sklearn_ndcg
    >>> sklearn_ndcg.show_versions()
    sklearn_ndcg ..., ... kernels
    imported from ...
    <BLANKLINE>
    System:
    ...
    """
    compiled = _kernels.backend is not _kernels.numpy_kernels
    print(f"sklearn_ndcg {__version__}, {'compiled' if compiled else 'NumPy'} kernels")
    folder = Path(__file__).parent
    in_clone = (folder.parent / "pyproject.toml").exists()
    place = f"imported from {folder}"
    if in_clone and not {each.suffix for each in folder.glob("_kernels/*")} & {".so", ".pyd"}:
        place += (
            ": source, without compiled kernels. For the installed package, start Python in "
            "another directory, or as python -P."
        )
    print(place)
    sklearn.show_versions()


__all__ = [
    "CONVENTIONS", "Comparison", "DifferenceDisplay", "Explanation", "GroupedRanker",
    "GroupedScorer", "NDCGDisplay", "NDCGInterval", "QueryDifferences", "QueryLeakWarning",
    "QuerySplitter", "SegmentDisplay", "SegmentTable", "check_group_splits", "compare_candidates",
    "compare_lists", "compare_rankers", "compare_runs", "dcg_samples", "dcg_score",
    "explain_difference", "from_lists", "from_trec", "jarvelin_kekalainen", "make_dcg_scorer",
    "make_ndcg_scorer", "ndcg_by_segment", "ndcg_curve", "ndcg_interval", "ndcg_samples",
    "ndcg_score", "one_ranking", "quantile_grades", "show_versions",
]  # fmt: skip
