"""NDCG per query, as metrics and scorers for scikit-learn."""

from importlib.metadata import version

from sklearn_ndcg._definitions import CONVENTIONS, jarvelin_kekalainen
from sklearn_ndcg._metrics import (
    dcg_samples,
    dcg_score,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
)
from sklearn_ndcg._ranker import GroupedRanker
from sklearn_ndcg._rankings import quantile_grades
from sklearn_ndcg._scorers import (
    check_group_splits,
    make_dcg_scorer,
    make_ndcg_scorer,
    one_ranking,
)

__version__ = version("sklearn-ndcg")

__all__ = [
    "CONVENTIONS",
    "GroupedRanker",
    "check_group_splits",
    "dcg_samples",
    "dcg_score",
    "jarvelin_kekalainen",
    "make_dcg_scorer",
    "make_ndcg_scorer",
    "ndcg_curve",
    "ndcg_samples",
    "ndcg_score",
    "one_ranking",
    "quantile_grades",
]
