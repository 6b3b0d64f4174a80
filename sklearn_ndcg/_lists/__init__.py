"""Ranked lists and TREC runs, brought to rows."""

from sklearn_ndcg._lists.formats import from_lists, from_trec
from sklearn_ndcg._lists.pool import Pool, pool_lists, read_run
from sklearn_ndcg._lists.reading import judgements, lists_and_truths, ranked_run, read_list
