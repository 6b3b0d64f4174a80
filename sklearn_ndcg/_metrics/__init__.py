"""Measures, checked input and the metric functions."""

from sklearn_ndcg._metrics.explanation import Explanation, explain_difference
from sklearn_ndcg._metrics.functions import (
    dcg_samples,
    dcg_score,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
    quantile_grades,
)
from sklearn_ndcg._metrics.inputs import (
    numeric,
    read_batch,
    read_queries,
    row_weights,
    with_scores,
)
from sklearn_ndcg._metrics.judged import Judged
from sklearn_ndcg._metrics.measure import (
    CONVENTIONS,
    DISCOUNTS,
    GAINS,
    TIES,
    CurveOptions,
    DCGChoices,
    ListOptions,
    Measure,
    NDCGChoices,
    NDCGChoicesAtK,
    NDCGOptions,
    check_curve_cutoffs,
    check_cutoff,
    jarvelin_kekalainen,
    measure_and_data,
)
from sklearn_ndcg._metrics.queries import LARGEST_WEIGHT, Queries, Totals, count_of_queries
from sklearn_ndcg._metrics.tables import Table
