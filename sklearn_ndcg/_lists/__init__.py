"""Ranked lists and TREC runs, brought to rows."""

from sklearn_ndcg._lists.files import FilePath
from sklearn_ndcg._lists.formats import from_lists, from_trec
from sklearn_ndcg._lists.pool import Pool, Unanswered, pool_lists, read_run
from sklearn_ndcg._lists.reading import (
    Duplicates,
    check_duplicates,
    judgements,
    ranked_run,
    read_list,
    truths_and_lists,
)
