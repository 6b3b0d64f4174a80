"""How each public function is asked for its number: one list, to which a new function is added.

Each entry takes rows in one of their forms, and options, and returns the mean over the queries.
`test_one_number.py` reads `__all__` and signatures, and asks for an entry of every function.
"""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator

import sklearn_ndcg
from sklearn_ndcg import frames, inference

mpl.use("agg")

AXES = Figure().add_axes((0.2, 0.3, 0.7, 0.6))  # of no pyplot figure, which other tests count
METRICS = [
    getattr(sklearn_ndcg, name)
    for name in ("dcg_samples", "dcg_score", "ndcg_curve", "ndcg_samples", "ndcg_score")
]


def reversed_scores(y_score):
    """The same documents in the opposite order."""
    return np.where(y_score > -np.inf, -y_score, -np.inf)


class Given(BaseEstimator):
    """An estimator that predicts what its rows hold."""

    def predict(self, X):
        values = np.asarray(X)
        return values.ravel() if values.shape[1] == 1 else values


class Arrays:
    """Rows with query ids."""

    def __init__(self, y_true, y_score, groups):
        self.y_true, self.y_score, self.groups = y_true, y_score, groups
        self.data = (y_true, y_score), {"groups": groups}
        self.several = (y_true, {"a": y_score, "b": reversed_scores(y_score)}), self.data[1]
        self.queries = np.unique(groups)
        self.segments = np.isin(groups, self.queries[1::2])

    def frame(self):
        return pd.DataFrame({"y": self.y_true, "s": self.y_score, "q": self.groups})

    def scored(self, scorer):
        return scorer(Given(), self.y_score[:, np.newaxis], self.y_true, groups=self.groups)


def mean(values):
    values = np.asarray(values, dtype=float)
    return np.nan if np.isnan(values).all() else np.nanmean(values)


def of_queries(form, *, key=None, k=None, **options):
    """The mean over the explanations of all queries."""
    args, kwargs = form.data
    explained = [
        sklearn_ndcg.explain_query(*args, query=query, k=k, **kwargs, **options)
        for query in form.queries
    ]
    if key is None:
        return mean([explanation.ndcg for explanation in explained])
    return mean([explanation.ranks[key][-1] for explanation in explained])


def shown(form, *, k=None, **options):
    args, kwargs = form.data
    AXES.clear()
    options |= {"k": [10**9 if k is None else k], "ax": AXES}
    return inference.NDCGDisplay.from_predictions(*args, **kwargs, **options).ndcg[0]


def call(function, form, attribute=None, **options):
    args, kwargs = form.data
    found = function(*args, **kwargs, **options)
    return found if attribute is None else getattr(found, attribute)


def curve(form, *, k=None, **options):
    cutoffs = None if k is None else [k]
    return call(sklearn_ndcg.ndcg_curve, form, k=cutoffs, **options)[1][-1]


def compared(form, **options):
    args, kwargs = form.several
    return inference.compare_rankers(*args, test="t", **kwargs, **options).mean["a"]


def by_segment(form, **options):
    options |= {"segments": form.segments, "method": "t"}
    return call(inference.ndcg_by_segment, form, "overall", **options).mean


def difference(form, **options):
    args, kwargs = form.data
    first = {"unjudged": options.get("unjudged", "raise")}
    return sklearn_ndcg.explain_difference(*args, first, options, **kwargs).ndcg[-1]


def table(function, form, **options):
    return function(form.frame(), y_true="y", y_score="s", groups="q", **options)


def by_query(form, **options):
    values = table(frames.ndcg_by_query, form, **options)["ndcg"]
    if values.isna().any() and options.get("undefined") != "omit":
        raise ValueError("a query with a wrong row has a null")
    return mean(values)


# how each function is asked for its number: NDCG, and DCG
NDCGS = {
    "ndcg_score": lambda form, **o: call(sklearn_ndcg.ndcg_score, form, **o),
    "ndcg_samples": lambda form, **o: mean(call(sklearn_ndcg.ndcg_samples, form, **o)),
    "ndcg_curve": curve,
    "explain_query": of_queries,
    "explain_difference": difference,
    "make_ndcg_scorer": lambda form, **o: form.scored(sklearn_ndcg.make_ndcg_scorer(**o)),
    "inference.ndcg_interval": lambda form, **o: call(
        inference.ndcg_interval, form, "mean", method="t", **o
    ),
    "inference.ndcg_by_segment": by_segment,
    "inference.compare_rankers": compared,
    "inference.NDCGDisplay": shown,
    "frames.ndcg_score": lambda form, **o: table(frames.ndcg_score, form, **o),
    "frames.ndcg_by_query": by_query,
}
DCGS = {
    "dcg_score": lambda form, **o: call(sklearn_ndcg.dcg_score, form, **o),
    "dcg_samples": lambda form, **o: mean(call(sklearn_ndcg.dcg_samples, form, **o)),
    "make_dcg_scorer": lambda form, **o: form.scored(sklearn_ndcg.make_dcg_scorer(**o)),
    "explain_query": lambda form, **o: of_queries(form, key="dcg", undefined=0.0, **o),
}
NEEDS = {"make_ndcg_scorer": "scored", "make_dcg_scorer": "scored"}
NEEDS |= {"frames.ndcg_score": "frame", "frames.ndcg_by_query": "frame"}
NEEDS |= {"inference.NDCGDisplay": "frame"}  # drawing takes time
NO_RETRIEVED = {"ndcg_curve", "inference.NDCGDisplay"}
