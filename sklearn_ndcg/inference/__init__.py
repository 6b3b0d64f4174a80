"""Confidence intervals of NDCG, comparisons of rankers, and their plots."""

from sklearn_ndcg import _checks
from sklearn_ndcg.inference._comparison import compare_rankers
from sklearn_ndcg.inference._displays import NDCGDisplay
from sklearn_ndcg.inference._interval import ndcg_by_segment, ndcg_interval
from sklearn_ndcg.inference._models import compare_models
from sklearn_ndcg.inference._result_displays import DifferenceDisplay, IntervalDisplay
from sklearn_ndcg.inference._results import (
    Comparison,
    ConfidenceInterval,
    NDCGInterval,
    SegmentTable,
)

__all__ = [
    "Comparison", "ConfidenceInterval", "DifferenceDisplay", "IntervalDisplay", "NDCGDisplay",
    "NDCGInterval", "SegmentTable", "compare_models", "compare_rankers", "ndcg_by_segment",
    "ndcg_interval",
]  # fmt: skip
_checks.publish(globals())
