"""Every public function gives the same number as a loop over queries and all orders."""

from functools import partial
from math import fsum, isnan, nan

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from containers import IDS
from helpers import FirstColumn, examples
from test_fuzz import oracle

import sklearn_ndcg as sn
from sklearn_ndcg import frames, inference

pytestmark = [
    pytest.mark.ci,
    pytest.mark.filterwarnings(
        r"ignore:(\d+ quer|All .* queries|Intervals of .* segments|None of the . queries)",
        "ignore:.*( a single document| is undefined)",
    ),
]


class Case:
    """Rows of up to five queries, the options of a metric, and its mean by the oracle."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        n = rng.integers(4, 13)
        # at least two queries are defined
        query = np.r_[0, 0, 1, 1, rng.integers(0, 5, n - 4)]
        order = rng.permutation(n)
        self.query = query[order]
        self.y = np.r_[1, 0, 2, 1, rng.integers(0, 4, n - 4)][order]
        self.s = rng.integers(0, 6, n) / 8
        kind = rng.choice(["int64", "text: objects", "nanoseconds"])
        self.ids = np.asarray(IDS[kind](self.query))
        self.measure = {
            "k": int(rng.integers(1, 7)),
            "gain": str(rng.choice(["linear", "exponential"])),
            "discount": str(rng.choice(["log", "reciprocal", "none"])),
            "ties": str(rng.choice(["average", "worst", "best", "stable"])),
        }
        # without the option every function has the same default
        undefined = [{}, {"undefined": 0.5}, {"undefined": "omit"}][rng.integers(3)]
        self.options = self.measure | undefined
        self.is_weighted = rng.random() < 0.5
        weights = rng.integers(1, 4, 5) if self.is_weighted else np.ones(5, dtype=int)
        self.weight_of_query = {query: float(weights[query]) for query in set(self.query.tolist())}
        self.weight = weights[self.query].astype(float)
        self.data = {"groups": self.ids, "sample_weight": self.weight}
        self.X = pd.DataFrame({"s": self.s, "q": self.ids})
        value = {"omit": nan}.get(undefined.get("undefined"), undefined.get("undefined", 0.0))
        rows = self.y.tolist(), self.s.tolist(), self.query.tolist()
        _, ndcgs = oracle(*rows, **self.measure, unjudged="raise")
        values = [value if isnan(ndcg) else ndcg for ndcg in ndcgs]
        queries = sorted(self.weight_of_query)
        kept = [(v, weights[q]) for v, q in zip(values, queries, strict=True) if not isnan(v)]
        self.expected = fsum(v * w for v, w in kept) / fsum(w for _, w in kept)

    def check(self, found):
        assert found == pytest.approx(self.expected, abs=1e-12)


@pytest.fixture(params=range(examples(30)))
def case(request):
    case = Case(request.param)
    before = case.X.copy()
    yield case
    pd.testing.assert_frame_equal(case.X, before)  # nothing was changed


# Scores


def test_score(case):
    case.check(sn.ndcg_score(case.y, case.s, **case.data, **case.options))


def test_curve(case):
    options = {name: value for name, value in case.options.items() if name != "k"}
    cutoffs = [case.options["k"], 2, 12, 1, 2]
    _, curve = sn.ndcg_curve(case.y, case.s, k=cutoffs, **case.data, **options)
    case.check(curve[0])


def test_mean_of_samples_and_of_explanations(case):
    data = {"groups": case.ids, **case.options}
    found, labels = sn.ndcg_samples(case.y, case.s, return_groups=True, **data)
    explained = [sn.explain_query(case.y, case.s, query=label, **data).ndcg for label in labels]
    np.testing.assert_array_equal(explained, found)
    weights = [case.weight_of_query[query] for query in sorted(case.weight_of_query)]
    is_defined = ~np.isnan(found)
    case.check(np.average(found[is_defined], weights=np.array(weights)[is_defined]))


# Scorers


def ndcg_of_one(y_true, y_score, **options):
    """NDCG as a function of one query's rows, which warns if it is undefined."""
    return sn.ndcg_score(y_true, y_score, groups=[0] * len(y_true), **options)


make_query_scorer = partial(sn.make_query_scorer, ndcg_of_one)
both_scorers = pytest.mark.parametrize("make", [sn.make_ndcg_scorer, make_query_scorer])


@both_scorers
@pytest.mark.parametrize("group_by", ["q", None])
def test_scorer(case, make, group_by):
    groups = None if group_by else case.ids
    scorer = make(group_by=group_by, all_groups=case.ids, **case.options)
    model = FirstColumn().fit(case.X, case.y)
    case.check(scorer(model, case.X, case.y, case.weight, groups=groups))


# Tables

ENGINES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "arrow": pa.Table.from_pandas,
    "dataset": lambda frame: pa.dataset.dataset(pa.Table.from_pandas(frame)),
    "duckdb": duckdb.from_df,
}


@pytest.mark.parametrize("working_memory", [None, 1e-3])
@pytest.mark.parametrize("engine", ENGINES)
def test_table(case, engine, working_memory):
    table = ENGINES[engine](case.X.assign(y=case.y, w=case.weight))
    options = {"y_true": "y", "y_score": "s", "groups": "q", "working_memory": working_memory}
    options |= case.options
    case.check(frames.ndcg_score(table, sample_weight="w", **options))
    if not case.is_weighted:
        found = frames.ndcg_by_query(table, **options)
        case.check(nw.from_native(found).lazy().collect()["ndcg"].mean())


# Inference


def test_interval(case):
    found = inference.ndcg_interval(case.y, case.s, method="t", **case.data, **case.options)
    case.check(found.mean)


def test_comparison(case):
    scores, options = {"a": case.s, "b": -case.s}, case.data | case.options
    case.check(inference.compare_rankers(case.y, scores, test="t", **options).mean["a"])


def test_segments(case):
    segments = np.array(["odd", "even"])[case.query % 2]
    options = {"segments": segments, "method": "t"} | case.data | case.options
    found = inference.ndcg_by_segment(case.y, case.s, **options)
    case.check(found.overall.mean)
    if not case.is_weighted:
        is_scored = found.n_queries > 0
        case.check(np.average(found.mean[is_scored], weights=found.n_queries[is_scored]))


# Lists and files
