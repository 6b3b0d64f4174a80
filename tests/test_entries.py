"""Every public function gives the same number as a loop over queries and all orders."""

import gzip
import shutil
from functools import partial
from importlib.util import find_spec
from math import fsum, isnan, nan
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
import sklearn
from helpers import FirstColumn, examples, spark_session
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sklearn.model_selection import cross_validate
from test_fuzz import oracle

import sklearn_ndcg as sn
from sklearn_ndcg import frames, inference

pytestmark = [
    pytest.mark.ci,
    pytest.mark.filterwarnings(
        r"ignore:(\d+ quer|All .* queries|Intervals of .* segments|.* a single document|None of the . queries|.* is undefined)"
    ),
]
ENGINES = ["pandas", "polars", "lazy", "arrow", "dataset", "duckdb"]
CLUSTERS = ["dask"] if find_spec("dask") else []  # they keep no order of rows
CLUSTERS += ["pyspark"] if find_spec("pyspark") and shutil.which("java") else []
COLUMNS = {"y_true": "y", "y_score": "s", "groups": "q"}
LABELS = {
    "integers": lambda q: q,
    "text": lambda q: np.array(["b", "a", "d", "c", "aa"], dtype=object)[q],
    "dates": lambda q: np.datetime64("2024-02-28", "us") + q.astype("m8[D]"),
}


def ndcg_of_one(y_true, y_score, **options):
    """NDCG as a function of one query's rows, which warns if it is undefined."""
    return sn.ndcg_score(y_true, y_score, groups=[0] * len(y_true), **options)


class Entries(RuleBasedStateMachine):
    @initialize(
        n=st.integers(4, 12), seed=st.integers(0, 2**32 - 1), label=st.sampled_from(list(LABELS)),
        k=st.integers(1, 6), gain=st.sampled_from(["linear", "exponential"]),
        discount=st.sampled_from(["log", "reciprocal", "none"]),
        ties=st.sampled_from(["average", "worst", "best", "stable"]),
        undefined=st.sampled_from([None, 0.5, "omit"]), weighted=st.booleans(), distinct=st.booleans(),
    )  # fmt: skip
    def draw(self, n, seed, label, k, gain, discount, ties, undefined, weighted, distinct):
        rng = np.random.default_rng(seed)
        q = np.r_[0, 0, 1, 1, rng.integers(0, 5, n - 4)]
        y = np.r_[1, 0, 2, 1, rng.integers(0, 4, n - 4)]  # at least two queries are defined
        s = rng.permutation(n) / 8 if distinct else rng.integers(0, 3, n) / 2
        order = rng.permutation(n)
        self.q, self.y, self.s = q[order], y[order], s[order]
        self.ids, self.distinct = LABELS[label](self.q), distinct
        self.k, self.ties = k, ties
        self.of_measure = {"gain": gain, "discount": discount, "ties": ties}
        # None leaves the option out: every function has the same default
        self.options = {"k": k, **self.of_measure, "undefined": undefined}
        if undefined is None:
            self.options.pop("undefined")
        weight_of_query = rng.integers(1, 4, 5) if weighted else np.ones(5)
        self.weight = weight_of_query[self.q] * 1.0 if weighted else None
        self.weight_of_query = dict(enumerate(weight_of_query)) if weighted else None
        self.samples = oracle(
            self.y.tolist(), self.s.tolist(), self.q.tolist(), k, **self.of_measure,
            unjudged="raise",
        )[1]  # fmt: skip
        value = {None: 0.0, "omit": nan}.get(undefined, undefined)
        values = [value if isnan(each) else each for each in self.samples]
        weights = [weight_of_query[each] for each in sorted(set(self.q))]
        kept = [(v, w) for v, w in zip(values, weights, strict=True) if not isnan(v)]
        self.expected = fsum(v * w for v, w in kept) / fsum(w for _, w in kept)
        self.data = {"groups": self.ids, "sample_weight": self.weight}
        self.X = pd.DataFrame({"s": self.s, "q": self.ids})
        self.time = rng.permutation(5)[self.q]
        self.segment = np.array(["odd", "even"])[(self.q + seed) % 2]
        self.n_asked = 0

    def check(self, found):
        self.n_asked += 1
        assert abs(found - self.expected) < 1e-12, (found, self.expected)

    @rule()
    def score(self):
        self.check(sn.ndcg_score(self.y, self.s, **self.data, **self.options))

    @rule(repeat=st.sampled_from([[1], [2, 1], [None, 3, 1]]))
    def curve(self, repeat):
        cutoffs = [self.k, *(each or 12 for each in repeat)]
        options = {name: self.options[name] for name in self.options if name != "k"}
        self.check(sn.ndcg_curve(self.y, self.s, k=cutoffs, **self.data, **options)[1][0])

    @rule(explained=st.booleans())
    def mean_of_samples(self, explained):
        data = {"groups": self.ids, **self.options}
        found = sn.ndcg_samples(self.y, self.s, **data)
        if explained:
            explain = partial(sn.explain_query, self.y, self.s, **data)
            alone = [explain(query=query).ndcg for query in np.unique(self.ids)]
            np.testing.assert_array_equal(alone, found)
        weight = np.ones(len(self.q)) if self.weight is None else self.weight
        weight = weight[np.unique(self.ids, return_index=True)[1]]
        defined = ~np.isnan(found)
        self.check(np.average(found[defined], weights=weight[defined]))

    @rule(
        way=st.sampled_from(["column", "level", "callable", "groups", "routed"]),
        guarded=st.booleans(), by_function=st.booleans(),
    )  # fmt: skip
    def scorer(self, way, guarded, by_function):
        X, groups = self.X, None
        group_by = {"column": "q", "level": "q", "callable": lambda X: X["q"]}.get(way)
        if way == "level":
            X = X.set_index("q")
        elif way in ("groups", "routed"):
            groups = self.ids
        all_groups = self.ids if guarded else None
        make = partial(sn.make_query_scorer, ndcg_of_one) if by_function else sn.make_ndcg_scorer
        scorer = make(group_by=group_by, all_groups=all_groups, **self.options)
        if way != "routed":  # the weights have their place
            self.check(scorer(FirstColumn().fit(X, self.y), X, self.y, self.weight, groups=groups))
            return
        with sklearn.config_context(enable_metadata_routing=True):
            folds = [(np.arange(2), np.arange(len(self.y)))]
            params = {"groups": groups}
            if self.weight is not None:
                scorer = scorer.set_score_request(sample_weight=True)
                params["sample_weight"] = self.weight
            found = cross_validate(
                FirstColumn(),
                X,
                self.y,
                scoring=scorer,
                cv=folds,
                params=params,
                error_score="raise",
            )
            self.check(found["test_score"][0])

    def frame(self, engine, connection):
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        frame = self.X.assign(y=self.y, w=weight)
        arrow = pa.Table.from_pandas(frame)
        return {
            "pandas": lambda: frame, "polars": lambda: pl.from_pandas(frame),
            "lazy": lambda: pl.from_pandas(frame).lazy(), "arrow": lambda: arrow,
            "dataset": lambda: pa.dataset.dataset(arrow),
            "duckdb": lambda: connection.from_df(frame),
            "dask": lambda: pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2),
            "pyspark": lambda: spark_session().createDataFrame(frame),
        }[engine]()  # fmt: skip

    def of_table(self, function, engine, **options):
        """What `function` returns for a table; on a cluster rows have no order to keep."""
        options = COLUMNS | self.options | options
        if engine in CLUSTERS and self.ties == "stable":
            options["ties"] = "average"
            if not self.distinct:
                return None
        with duckdb.connect() as connection:
            found = function(self.frame(engine, connection), **options)
            found = found.compute() if hasattr(found, "compute") else found
            return found if np.isscalar(found) else nw.from_native(found).lazy().collect()

    @rule(engine=st.sampled_from(ENGINES + CLUSTERS), memory=st.sampled_from([None, 1e-3]))
    def table(self, engine, memory):
        found = self.of_table(frames.ndcg_score, engine, sample_weight="w", working_memory=memory)
        if found is not None:
            self.check(found)
            if self.weight is None:
                found = self.of_table(frames.ndcg_by_query, engine, working_memory=memory)
                self.check(found["ndcg"].mean())

    @rule()
    def segments(self):
        found = inference.ndcg_by_segment(
            self.y, self.s, segments=self.segment, method="t", **self.data, **self.options
        )
        self.check(found.overall.mean)
        if self.weight is None:
            scored = found.n_queries > 0
            self.check(np.average(found.mean[scored], weights=found.n_queries[scored]))

    @rule()
    def thousands_of_segments(self):
        n = 2000
        y, s, copies = np.tile(self.y, n), np.tile(self.s, n), np.repeat(np.arange(n), len(self.y))
        groups = [copies, np.tile(self.ids, n)]
        weight = None if self.weight is None else np.tile(self.weight, n)
        found = inference.ndcg_by_segment(
            y, s, segments=copies, method="t", groups=groups, sample_weight=weight, **self.options
        )
        assert len(found.mean) == n
        self.check(min(found.mean))
        self.check(max(found.mean))

    @precondition(lambda self: self.weight is None and self.options.get("undefined") != "omit")
    @rule(order_by=st.sampled_from([None, "time"]), n_splits=st.integers(2, 4))
    def splits(self, order_by, n_splits):
        X, n_queries = self.X.assign(time=self.time), len(set(self.q.tolist()))
        cv = sn.QuerySplitter(min(n_splits, n_queries), group_by="q", order_by=order_by)
        scorer, total, latest = sn.make_ndcg_scorer(group_by="q", **self.options), 0, -1
        for _, test in cv.split(X, self.y):
            part, y = X.iloc[test], self.y[test]
            total += part["q"].nunique() * scorer(FirstColumn().fit(part, y), part, y)
            if order_by:
                assert part["time"].min() > latest
                latest = part["time"].max()
        self.check(total / n_queries)

    def by_query(self):
        lists, truths = {}, {}
        for query in sorted(set(self.q.tolist())):
            rows = np.flatnonzero(self.q == query)
            lists[query] = rows[np.argsort(-self.s[rows])].tolist()
            truths[query] = dict(zip(rows.tolist(), self.y[rows].tolist(), strict=True))
        return truths, lists

    def k_of_reader(self, beyond):
        """None, or so many ranks beyond the metric's k."""
        return None if beyond is None else self.k + beyond

    @precondition(lambda self: self.distinct)
    @rule(beyond=st.sampled_from([None, 0, 1]))
    def lists(self, beyond):
        truths, lists = self.by_query()
        if self.weight is None:
            rows = sn.from_lists(truths, lists, k=self.k_of_reader(beyond))
            self.check(sn.ndcg_score(rows, **self.options))
        rankers = {"a": lists, "b": {query: each[::-1] for query, each in lists.items()}}
        rows = sn.from_lists(truths, rankers=rankers, k=self.k_of_reader(beyond))
        options = self.options | {"sample_weight": self.weight_of_query}
        self.check(inference.compare_rankers(rows, test="t", **options).mean["a"])
        self.check(sn.ndcg_score(rows["a"], **options))

    @precondition(lambda self: self.distinct and self.weight is None)
    @rule(packed=st.booleans(), beyond=st.sampled_from([None, 0, 1]))
    def files(self, packed, beyond):
        rows = list(zip(self.q.tolist(), self.y.tolist(), self.s.tolist(), strict=True))
        qrels = "".join(f"{q} 0 d{i} {y}\n" for i, (q, y, _) in enumerate(rows))
        run = "".join(f"{q} Q0 d{i} 1 {s} a\n" for i, (q, _, s) in enumerate(rows))
        with TemporaryDirectory() as folder:
            texts = {"qrels": qrels, "run": run}
            paths = {name: Path(folder, name) for name in texts}
            for name, text in texts.items():
                data = text.encode()
                paths[name].write_bytes(gzip.compress(data) if packed else data)
            rows = sn.from_trec(paths["qrels"], paths["run"], k=self.k_of_reader(beyond))
            self.check(sn.ndcg_score(rows, **self.options))
            rows = sn.from_trec(paths["qrels"], runs={"a": paths["run"], "b": paths["run"]})
            found = inference.compare_rankers(rows, test="t", **self.options)
            self.check(found.mean["b"])

    @rule()
    def interval(self):
        self.check(
            inference.ndcg_interval(self.y, self.s, method="t", **self.data, **self.options).mean
        )

    @rule()
    def comparison(self):
        scores = {"a": self.s, "b": -self.s}
        found = inference.compare_rankers(self.y, scores, test="t", **self.data, **self.options)
        self.check(found.mean["a"])

    @precondition(lambda self: self.options["gain"] == "linear" and self.weight is None)
    @rule()
    def ranker(self):
        usual = {"discount": "log", "ties": "average"}
        if usual.items() <= self.options.items() and "undefined" not in self.options:
            ranker = sn.GroupedRanker(FirstColumn(), group_by=["q"], k=self.k).fit(self.X, self.y)
            self.check(ranker.score(self.X, self.y))

    @invariant()
    def nothing_was_changed(self):
        if hasattr(self, "n_asked"):
            assert np.array_equal(self.X["s"], self.s)
            assert np.array_equal(self.X["q"], self.ids)


TestEntries = Entries.TestCase
TestEntries.settings = settings(  # without Phase.shrink, which takes minutes
    max_examples=examples(60) // 2,
    stateful_step_count=12, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate],
)  # fmt: skip
