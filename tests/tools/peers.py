"""Other libraries' NDCG behind one interface, to compare, to tabulate and to time.

A peer takes rows sorted by query, with ids 0, 1, 2, ..., prepares the input that its users have,
and returns the call that computes NDCG: the value of each query or, if the library gives only that,
their mean. `k` is None for all documents.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from sklearn import metrics


def scikit_learn(y_true, y_score, groups, k, every=1):
    edges = np.flatnonzero(np.diff(groups, prepend=-1, append=-1))

    def call():
        values = np.full(len(edges) - 1, np.nan)
        for query in range(0, len(values), every):
            y, s = (rows[None, edges[query] : edges[query + 1]] for rows in (y_true, y_score))
            # scikit-learn refuses a query of a single document
            values[query] = metrics.ndcg_score(y, s, k=k) if y.size > 1 else y[0, 0] > 0
        return values

    return call


def lightgbm(y_true, y_score, groups, k, n_threads=1):
    lightgbm = import_module("lightgbm")
    params = {"objective": "none", "metric": "ndcg", "eval_at": [k or len(y_true)], "verbose": -1}
    params |= {"feature_pre_filter": False, "num_threads": n_threads}
    # without trees, predictions are the initial scores
    rows = {"label": y_true, "group": np.bincount(groups), "init_score": y_score}
    data = lightgbm.Dataset(np.arange(len(y_true))[:, None], params=params, **rows)
    booster = lightgbm.Booster(params, data)
    return lambda: booster.eval_train()[0][2]


def xgboost(y_true, y_score, groups, k, exponential=True, minus="", n_threads=1):
    xgboost = import_module("xgboost")
    data = xgboost.DMatrix(np.zeros((len(y_true), 1)), label=y_true, base_margin=y_score)
    data.set_group(np.bincount(groups))
    params = {"objective": "rank:pairwise", "base_score": 0.0, "nthread": n_threads}
    params |= {"eval_metric": [f"ndcg@{k or len(y_true)}{minus}"], "ndcg_exp_gain": exponential}
    booster = xgboost.Booster(params, [data])
    return lambda: float(booster.eval(data).rsplit(":", 1)[1])


def catboost(y_true, y_score, groups, k, options="", n_threads=1):
    utils = import_module("catboost.utils")
    metric = f"NDCG:top={k or -1}{options}"
    data = {"group_id": groups, "thread_count": n_threads}
    return lambda: utils.eval_metric(y_true, y_score, metric, **data)[0]


def ranx(y_true, y_score, groups, k, metric="ndcg"):
    ranx = import_module("ranx")
    qrels = ranx.Qrels(nested(groups, y_true.astype(int).tolist()))
    run = ranx.Run(nested(groups, y_score.astype(float).tolist()))
    metric += f"@{k}" if k else ""
    return lambda: np.atleast_1d(ranx.evaluate(qrels, run, metric, return_mean=False))


def pytrec_eval(y_true, y_score, groups, k):
    pytrec_eval = import_module("pytrec_eval")
    measure = f"ndcg_cut.{k}" if k else "ndcg"
    evaluator = pytrec_eval.RelevanceEvaluator(nested(groups, y_true.tolist()), {measure})
    run = nested(groups, y_score.astype(float).tolist())

    def call():
        values = evaluator.evaluate(run)
        return np.array([values[query][measure.replace(".", "_")] for query in run])

    return call


def ir_measures(y_true, y_score, groups, k):
    ir_measures = import_module("ir_measures")
    measure = ir_measures.nDCG @ k if k else ir_measures.nDCG
    qrels = nested(groups, y_true.tolist())
    run = nested(groups, y_score.astype(float).tolist())

    def call():
        values = {each.query_id: each.value for each in measure.iter_calc(qrels, run)}
        return np.array([values[query] for query in run])

    return call


def torchmetrics(y_true, y_score, groups, k, empty="neg"):
    torch, retrieval = map(import_module, ("torch", "torchmetrics.retrieval"))
    metric = retrieval.RetrievalNormalizedDCG(empty_target_action=empty, top_k=k)
    score, relevance, indexes = map(torch.tensor, (y_score, y_true, groups))
    return lambda: float(metric(score, relevance, indexes=indexes))


def rax(y_true, y_score, groups, k):
    jnp, rax = map(import_module, ("jax.numpy", "rax"))
    score, relevance = (jnp.asarray(each, jnp.float32) for each in (y_score, y_true))
    segments = jnp.asarray(groups)
    return lambda: float(rax.ndcg_metric(score, relevance, segments=segments, topn=k))


def nested(groups, values):
    """Rows as {query: {document: value}}, ids of documents rising from row to row."""
    found = {}
    for row, (query, value) in enumerate(zip(groups.tolist(), values, strict=True)):
        found.setdefault(f"q{query:08d}", {})[f"d{row:08d}"] = value
    return found


def as_given(y_true, y_score, groups, relevance=None, score=None, step=1):
    """The rows, in other types, or from the last to the first."""
    y_true = y_true.astype(relevance or y_true.dtype)
    return y_true[::step], y_score.astype(score or y_score.dtype)[::step], groups[::step]


in_single_precision = partial(as_given, score=np.float32)
labels_in_single_precision = partial(as_given, relevance=np.float32)
all_in_single_precision = partial(as_given, relevance=np.float32, score=np.float32)
# documents by id, descending: their ids rise from row to row
last_first = partial(as_given, step=-1)
last_first_in_single_precision = partial(last_first, score=np.float32)


def in_the_order_of_ranx(y_true, y_score, groups):
    """ranx's own order of each query as scores, as it shuffles ties of more than 15 documents."""
    ranx = import_module("ranx")
    run = ranx.Run(nested(groups, y_score.astype(float).tolist()))
    ranked = [int(document[1:]) for query in run.to_dict().values() for document in query]
    place = np.empty(len(ranked))
    place[ranked] = -np.arange(len(ranked))
    return y_true, place, groups


class Peer(NamedTuple):
    """A library's NDCG, with the settings of a convention."""

    library: str
    call: str
    compute: Callable
    convention: str
    rows: Callable = as_given  # the rows for ndcg_score
    takes_fractions: bool = False  # as relevance
    tolerance: float = 1e-12
    since: tuple = ()  # the first version that works without training

    @property
    def installed(self):
        if find_spec(self.library) is None:
            return False
        version = import_module(self.library).__version__.split(".") if self.since else ()
        return tuple(map(int, version[:2])) >= self.since

    def value(self, y_true, y_score, groups, k=None):
        """Return the value of each query, or their mean."""
        return self.compute(y_true, y_score, groups, k)()


single = {"rows": all_in_single_precision, "takes_fractions": True, "tolerance": 1e-6}
xgboost_minus = partial(xgboost, minus="-")
xgboost_linear = partial(xgboost, exponential=False)
catboost_exp = partial(catboost, options=";type=Exp")
catboost_position = partial(catboost, options=";denominator=Position")
ranx_burges = partial(ranx, metric="ndcg_burges")
torchmetrics_skip = partial(torchmetrics, empty="skip")

PEERS = [
    Peer("sklearn", "ndcg_score", scikit_learn, "sklearn", takes_fractions=True),
    Peer("lightgbm", "ndcg", lightgbm, "lightgbm"),
    Peer("xgboost", "ndcg", xgboost, "xgboost", in_single_precision),
    Peer("xgboost", "ndcg-", xgboost_minus, "xgboost-minus", in_single_precision),
    Peer(
        "xgboost",
        "ndcg, ndcg_exp_gain=False",
        xgboost_linear,
        "xgboost-linear",
        all_in_single_precision,
        True,
        since=(3, 2),
    ),
    Peer("catboost", "NDCG", catboost, "catboost", labels_in_single_precision, True),
    Peer(
        "catboost", "NDCG, type=Exp", catboost_exp, "catboost-exp", labels_in_single_precision, True
    ),
    Peer(
        "catboost",
        "NDCG, denominator=Position",
        catboost_position,
        "catboost-position",
        labels_in_single_precision,
        True,
    ),
    Peer("pytrec_eval", "ndcg, ndcg_cut", pytrec_eval, "trec_eval", last_first_in_single_precision),
    Peer("ir_measures", "nDCG", ir_measures, "trec_eval", last_first_in_single_precision),
    Peer("ranx", "ndcg", ranx, "ranx", in_the_order_of_ranx),
    Peer("ranx", "ndcg_burges", ranx_burges, "ranx-burges", in_the_order_of_ranx),
    Peer("torchmetrics", "RetrievalNormalizedDCG", torchmetrics, "torchmetrics", **single),
    Peer(
        "torchmetrics",
        "RetrievalNormalizedDCG, empty_target_action='skip'",
        torchmetrics_skip,
        "torchmetrics-skip",
        **single,
    ),
    Peer("rax", "ndcg_metric", rax, "rax", **single),
]
