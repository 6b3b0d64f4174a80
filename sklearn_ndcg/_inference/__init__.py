"""How sure a number is: intervals, comparisons, and their pictures."""

from sklearn_ndcg._inference.comparison import compare_lists, compare_rankers, compare_runs
from sklearn_ndcg._inference.displays import DifferenceDisplay, NDCGDisplay
from sklearn_ndcg._inference.interval import ndcg_interval
from sklearn_ndcg._inference.results import Comparison, NDCGInterval, QueryDifferences
