"""NDCG, the normalized discounted cumulative gain, for scikit-learn, query by query.

sklearn_ndcg            Metrics (`ndcg_score`, `dcg_score`), scorers (`make_ndcg_scorer`), splits
                        of whole queries (`QuerySplitter`), rankers that are tuned like
                        regressors (`GroupedRanker`), ranked lists and TREC runs (`from_lists`,
                        `from_trec`), and what other libraries mean by NDCG (`CONVENTIONS`,
                        `explain_difference`).
sklearn_ndcg.inference  How sure it is: confidence intervals, comparisons of rankers, plots.
sklearn_ndcg.frames     NDCG of tables: pandas, Polars, DuckDB, Spark, Dask. The extra `frames`.
"""

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sklearn

from sklearn_ndcg import _checks, _kernels
from sklearn_ndcg import inference as inference
from sklearn_ndcg._lists.formats import from_lists, from_trec
from sklearn_ndcg._lists.ranked import Ranked
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics.choices import GainTable, log_discount
from sklearn_ndcg._metrics.conventions import CONVENTIONS
from sklearn_ndcg._metrics.explanation import Change, Explanation, explain_difference
from sklearn_ndcg._metrics.grades import quantile_grades
from sklearn_ndcg._metrics.measure import DCG, NDCG
from sklearn_ndcg._metrics.metrics import (
    dcg_samples,
    dcg_score,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
)
from sklearn_ndcg._metrics.query_function import QueryFunction
from sklearn_ndcg._metrics.query_table import QueryExplanation, explain_query
from sklearn_ndcg._selection.leaks import QueryLeakWarning
from sklearn_ndcg._selection.ranker import GroupedRanker
from sklearn_ndcg._selection.scorers import (
    GroupedScorer,
    make_dcg_scorer,
    make_ndcg_scorer,
    make_query_scorer,
    one_ranking,
)
from sklearn_ndcg._selection.splitters import QuerySplitter

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
    kernels = "NumPy" if _kernels.backend is _kernels.numpy_kernels else "compiled"
    print(f"sklearn_ndcg {__version__}, {kernels} kernels")
    print(f"imported from {Path(__file__).parent}")
    sklearn.show_versions()


__all__ = [
    "CONVENTIONS", "DCG", "NDCG", "Explanation", "GroupedRanker", "GroupedScorer",
    "QueryExplanation", "QueryLeakWarning", "QuerySplitter", "Rows", "dcg_samples", "dcg_score",
    "explain_difference", "explain_query", "from_lists", "from_trec", "make_dcg_scorer",
    "make_ndcg_scorer", "make_query_scorer", "ndcg_curve", "ndcg_samples", "ndcg_score",
    "one_ranking", "quantile_grades", "show_versions",
]  # fmt: skip
# classes of what public objects hold, so that pickles name this module and no private one
_held = (Change, GainTable, QueryFunction, Ranked, log_discount)
_checks.publish(globals(), "__version__", "frames", "inference", held=_held)
