"""What scikit-learn's tools need: scorers, splitters, a ranker that is tuned like a regressor."""

from sklearn_ndcg._selection.leaks import QueryLeakWarning
from sklearn_ndcg._selection.ranker import GroupedRanker
from sklearn_ndcg._selection.scorers import (
    GroupedScorer,
    ResponseMethod,
    make_dcg_scorer,
    make_ndcg_scorer,
    one_ranking,
    scorer_at,
)
from sklearn_ndcg._selection.splitters import QuerySplitter, check_group_splits
