"""Confidence intervals, comparisons, and their plots."""

from sklearn_ndcg._inference.candidates import compare_candidates
from sklearn_ndcg._inference.comparison import compare_lists, compare_rankers, compare_runs
from sklearn_ndcg._inference.displays import DifferenceDisplay, NDCGDisplay, SegmentDisplay
from sklearn_ndcg._inference.interval import ndcg_by_segment, ndcg_interval
from sklearn_ndcg._inference.results import Comparison, NDCGInterval, QueryDifferences, SegmentTable
