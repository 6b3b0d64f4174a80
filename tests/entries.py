"""The public functions, each in its smallest call. A new one gets an entry here.

Tests that hold for every function go over these lists, and `test_structure.py` asks for an entry of
each function that takes `y_true`. `OF_ROWS` take relevance and scores, or rows of lists in their
place, and return numbers; `MEANS` take arrays and ids, and return the mean NDCG.
"""

import numpy as np
import pytest
from helpers import FirstColumn

from sklearn_ndcg import (
    dcg_samples,
    dcg_score,
    explain_difference,
    explain_query,
    make_ndcg_scorer,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
)
from sklearn_ndcg.inference import NDCGDisplay, compare_rankers, ndcg_by_segment, ndcg_interval

METRICS = [dcg_samples, dcg_score, ndcg_curve, ndcg_samples, ndcg_score]


def curve(*data, k=None, **options):
    """NDCG at each cutoff up to `k`."""
    return ndcg_curve(*data, k=None if k is None else np.arange(1, k + 1), **options)[1]


def explained(*data, **options):
    """NDCG of each query."""
    groups = options.get("groups", getattr(data[0], "groups", None))
    queries = range(len(data[0])) if groups is None else np.unique(groups)
    return [explain_query(*data, query=query, **options).ndcg for query in queries]


def explained_difference(*data, first="sklearn", second="lightgbm", **options):
    """NDCG before and after each step."""
    return explain_difference(*data, first=first, second=second, **options).ndcg


def display(*data, **options):
    """NDCG at each cutoff that is drawn."""
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the extra `plot` is not installed")
    pyplot.switch_backend("agg")
    ax = pyplot.figure().add_axes((0.2, 0.3, 0.7, 0.6))  # in no grid, which would be laid out
    drawn = NDCGDisplay.from_predictions(*data, ax=ax, **options)
    pyplot.close("all")
    return drawn.ndcg


def numbers_of(result):
    """Means, standard errors and bounds of a result."""
    mean = result.mean.values() if isinstance(result.mean, dict) else np.ravel(result.mean)
    return [*mean, *np.ravel(result.standard_error), *np.ravel(result.confidence_interval)]


def interval(*data, **options):
    return numbers_of(ndcg_interval(*data, method="t", **options))


def by_segment(*data, **options):
    table = ndcg_by_segment(*data, method="t", **options)
    return [*numbers_of(table.overall), *numbers_of(table)]


def compared(*data, **options):
    return numbers_of(compare_rankers(*data, test="t", **options))


def scored(y_true, y_score, groups, **options):
    """What a scorer returns for a model whose predictions are its only feature."""
    scorer = make_ndcg_scorer(**options)
    return scorer(FirstColumn(), np.c_[y_score], y_true, groups=groups)


def of_table(y_true, y_score, groups, **options):
    polars = pytest.importorskip("polars")
    frames = pytest.importorskip("sklearn_ndcg.frames", reason="`frames` is not installed")
    table = polars.LazyFrame({"y": y_true, "s": y_score, "q": groups})
    return frames.ndcg_score(table, y_true="y", y_score="s", groups="q", **options)


def compared_with_opposite(y_true, y_score, **options):
    return compared(y_true, {"a": y_score, "b": -y_score}, **options)[0]


# public function: the entry of one ranker
OF_ROWS = {
    "ndcg_score": ndcg_score,
    "dcg_score": dcg_score,
    "ndcg_samples": ndcg_samples,
    "dcg_samples": dcg_samples,
    "ndcg_curve": curve,
    "explain_query": explained,
    "explain_difference": explained_difference,
    "ndcg_interval": interval,
    "NDCGDisplay": display,
}
# those that need more than relevance and scores: rankers and segments
OF_MORE = {"compare_rankers": compared, "ndcg_by_segment": by_segment}

MEANS = {
    "ndcg_score": ndcg_score,
    "ndcg_samples": lambda y, s, **o: np.nanmean(ndcg_samples(y, s, **o)),
    "ndcg_curve": lambda y, s, **o: ndcg_curve(y, s, k=[len(y)], **o)[1][0],
    "make_ndcg_scorer": scored,
    "ndcg_interval": lambda y, s, **o: interval(y, s, **o)[0],
    "compare_rankers": compared_with_opposite,
    "explain_difference": lambda y, s, groups, **o: explained_difference(
        y, s, second=o, groups=groups
    )[-1],
    "NDCGDisplay": lambda y, s, **o: display(y, s, k=[len(y)], **o)[0],
    "ndcg_by_segment": lambda y, s, groups, **o: by_segment(
        y, s, groups=groups, segments=groups % 2, **o
    )[0],
    "frames.ndcg_score": of_table,
}
