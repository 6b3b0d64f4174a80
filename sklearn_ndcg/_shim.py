from typing import Any

from sklearn_ndcg._metrics.measure import Measure, MeasureOptions, NDCGOptions
from sklearn_ndcg._metrics.rankings import Rankings

NDCGChoices = NDCGOptions


class DCGChoices(MeasureOptions, total=False):
    log_base: float


class NDCGChoicesAtK(NDCGOptions, total=False):
    k: Any


DCGOptions = DCGChoices


def measure_and_data(caller, options, kind=None):
    data = {n: options.get(n) for n in ("groups", "sample_weight")}
    return Measure(
        normalized=kind is not DCGChoices, **{n: v for n, v in options.items() if n not in data}
    ), data


def read_queries(measure, y_true, y_score, groups=None, sample_weight=None, sort=True):
    return Rankings.of_arrays(y_true, {None: y_score}, groups, sample_weight, sort).queries(
        measure
    )[0]


def read_batch(measure, y_true, y_score, groups=None, sample_weight=None, sort=True):
    r = Rankings.of_arrays(y_true, {None: y_score}, groups, sample_weight, sort)
    q = r.queries(measure, are_all=False)[0]
    object.__setattr__(q, "shape", r.shape)
    object.__setattr__(q, "rankings", r)
    return q


def with_scores(queries, y_score):
    return queries.rankings.with_scores(y_score).queries(queries.measure, are_all=False)[0]
