"""Ranked lists and TREC runs, brought to rows."""

from sklearn_ndcg._lists.formats import from_lists, from_trec
from sklearn_ndcg._lists.pool import Union, per_query, read_list, read_run, unite
from sklearn_ndcg._lists.reading import both_by_query, judgements, labels_of, ranked_run
