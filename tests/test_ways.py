"""Every way to a mean NDCG gives the number of a loop over queries and all orders."""

import gzip
import warnings
from functools import partial
from math import fsum, isnan, nan
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from containers import IDS
from helpers import FirstColumn, examples
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from test_fuzz import oracle

import sklearn_ndcg as sn
from sklearn_ndcg import frames, inference

pytestmark = pytest.mark.filterwarnings(
    r"ignore:(\d+ quer|All .* queries|None of the . queries|Intervals of .* segments)",
    "ignore:.*( a single document| is undefined)",
)
KINDS = st.sampled_from(["NDCG", "function", "both", "cutoffs"])  # what a comparison measures
FORMS = {  # ids of documents that never meet row numbers as text, and what is said of them
    "a float": ("{}.0", "written otherwise"),
    "a zero": ("0{}", "written otherwise"),
    "a blank": (" {}", "written otherwise"),
    "a prefix": ("docs/{}", "No document"),
    "a suffix": ("{}#0", "No document"),
    "others": ("x{}", None),  # any document may be missed in fewer than ten queries
}
TABLES = {"pandas": lambda frame: frame, "Polars": pl.from_pandas, "Arrow": pa.Table.from_pandas}


def ndcg_of_one(y_true, y_score, **options):
    """The NDCG as a function of one query's rows, which warns if it is undefined."""
    return sn.ndcg_score(y_true, y_score, groups=[0] * len(y_true), **options)


class Turned(FirstColumn):
    """Ranks the other way round."""

    def predict(self, X):
        return -super().predict(X)


class Ways(RuleBasedStateMachine):
    """Rows of up to five queries without ties, as arrays and as the lists of two rankers."""

    @initialize(
        n=st.integers(4, 12), seed=st.integers(0, 2**32 - 1),
        ids=st.sampled_from(["int64", "text: objects", "nanoseconds"]),
        gain=st.sampled_from(["linear", "exponential"]),
        discount=st.sampled_from(["log", "reciprocal", "none"]),
        ties=st.sampled_from(["average", "worst", "best", "stable"]),
        undefined=st.sampled_from(["warn", 0.5, "omit"]),
        k=st.integers(1, 6), is_weighted=st.booleans(),
    )  # fmt: skip
    def draw(self, n, seed, ids, k, gain, discount, ties, undefined, is_weighted):
        rng = np.random.default_rng(seed)
        order = rng.permutation(n)
        # at least two queries are defined
        query = np.r_[0, 0, 1, 1, rng.integers(0, 5, n - 4)][order]
        self.y = np.r_[1, 0, 2, 1, rng.integers(0, 4, n - 4)][order]
        self.s = rng.permutation(n) / 8
        self.k, self.query, self.ids = k, query, np.asarray(IDS[ids](query))
        self.formula = {"gain": gain, "discount": discount, "ties": ties}
        self.options = {"k": k, **self.formula, "undefined": undefined}
        weights = rng.integers(1, 4, 5) if is_weighted else np.ones(5, dtype=int)
        self.weight_of_query = {each: float(weights[each]) for each in np.unique(query).tolist()}
        self.data = {"groups": self.ids, "sample_weight": weights[query].astype(float)}
        self.X = pd.DataFrame({"s": self.s, "q": self.ids})
        self.before = self.inputs()
        value = {"warn": 0.0, "omit": nan}.get(undefined, undefined)
        rows = self.y.tolist(), self.s.tolist(), query.tolist()
        _, ndcgs = oracle(*rows, k, **self.formula, unjudged="raise")
        values = [value if isnan(ndcg) else ndcg for ndcg in ndcgs]
        pairs = zip(values, self.weight_of_query.values(), strict=True)
        defined = [(value, weight) for value, weight in pairs if not isnan(value)]
        self.expected = fsum(v * w for v, w in defined) / fsum(w for _, w in defined)

    def check(self, found):
        assert found == pytest.approx(self.expected, abs=1e-12)

    def inputs(self):
        """A copy of what the functions are given."""
        weight = self.data["sample_weight"]
        return self.X.assign(y=self.y, scores=self.s, ids=self.ids, w=weight).copy()

    @invariant()
    def nothing_has_changed(self):
        pd.testing.assert_frame_equal(self.inputs(), self.before)

    @rule()
    def score(self):
        self.check(sn.ndcg_score(self.y, self.s, **self.data, **self.options))

    @rule(others=st.lists(st.integers(1, 12), max_size=3))
    def curve(self, others):
        options = {name: value for name, value in self.options.items() if name != "k"}
        cutoffs = [self.k, *others]
        self.check(sn.ndcg_curve(self.y, self.s, k=cutoffs, **self.data, **options)[1][0])

    @rule()
    def samples_and_explanations(self):
        data = {"groups": self.ids, **self.options}
        found, labels = sn.ndcg_samples(self.y, self.s, return_groups=True, **data)
        alone = [sn.explain_query(self.y, self.s, query=label, **data).ndcg for label in labels]
        np.testing.assert_array_equal(alone, found)
        is_defined = ~np.isnan(found)
        weight = np.array(list(self.weight_of_query.values()))[is_defined]
        self.check(np.average(found[is_defined], weights=weight))

    @rule(way=st.sampled_from(["column", "level", "groups"]), of_one=st.booleans())
    def scorer(self, way, of_one):
        make = partial(sn.make_query_scorer, ndcg_of_one) if of_one else sn.make_ndcg_scorer
        group_by = None if way == "groups" else "q"
        scorer = make(group_by=group_by, all_groups=self.ids, **self.options)
        X = self.X.set_index("q") if way == "level" else self.X
        groups = self.ids if way == "groups" else None
        weight = self.data["sample_weight"]
        self.check(scorer(FirstColumn().fit(X, self.y), X, self.y, weight, groups=groups))

    @rule(engine=st.sampled_from([*TABLES, "DuckDB"]), memory=st.sampled_from([None, 1e-3]))
    def table(self, engine, memory):
        frame = self.X.assign(y=self.y, w=self.data["sample_weight"])
        columns = {"y_true": "y", "y_score": "s", "groups": "q", "working_memory": memory}
        with duckdb.connect() as connection:
            frame = (TABLES | {"DuckDB": connection.from_df})[engine](frame)
            found = frames.ndcg_score(frame, sample_weight="w", **columns, **self.options)
            self.check(found)
            by_query = frames.ndcg_by_query(frame, **columns, **self.options)
            values = nw.from_native(by_query).lazy().collect()["ndcg"].to_list()
        expected = sn.ndcg_samples(self.y, self.s, groups=self.ids, **self.options)
        # DuckDB gives queries in any order, and some engines null for an undefined value
        found = np.sort(np.array(values, dtype=float))
        np.testing.assert_allclose(found, np.sort(expected), rtol=1e-15)

    @rule(method=st.sampled_from(["BCa", "t"]))
    def interval_and_segments(self, method):
        data = {"method": method, "n_resamples": 99, **self.data, **self.options}
        self.check(inference.ndcg_interval(self.y, self.s, **data).mean)
        segments = self.query % 2
        found = inference.ndcg_by_segment(self.y, self.s, segments=segments, **data)
        self.check(found.overall.mean)

    @rule(kind=KINDS)
    def comparison(self, kind):
        found = inference.compare_rankers(
            self.y, {"a": self.s, "b": -self.s}, test="t", **self.data, **self.measure(kind)
        )
        self.check_comparison(found, kind)

    def check_comparison(self, found, kind):
        """Check the mean of ranker "a": the first of several cutoffs, and both metrics."""
        means = [mean for key, mean in found.mean.items() if key == "a" or key[-1] == "a"]
        assert len(means) == (2 if kind == "both" or (kind == "cutoffs" and self.k > 1) else 1)
        for mean in means if kind == "both" else means[:1]:
            self.check(mean)

    def measure(self, kind):
        """The options of a comparison: NDCG, the same as a function of one query, or several."""
        metric = partial(ndcg_of_one, k=self.k, **self.formula)
        return {
            "NDCG": self.options,
            "function": {"metric": metric, "undefined": self.options["undefined"]},
            "both": {"metric": {"f": metric, "NDCG": None}, **self.options},
            "cutoffs": self.options | {"k": sorted({self.k, 1})[::-1]},
        }[kind]

    @rule(way=st.sampled_from(["column", "level", "groups"]), kind=KINDS)
    def models(self, way, kind):
        """Two folds of whole queries, and weights that are routed."""
        group_by = None if way == "groups" else "q"
        X = self.X.set_index("q") if way == "level" else self.X
        options = self.measure("cutoffs" if kind == "cutoffs" else "NDCG") | {"group_by": group_by}
        scoring = {
            "NDCG": sn.make_ndcg_scorer(**options),
            "f": sn.make_query_scorer(ndcg_of_one, **self.options, group_by=group_by),
        }
        with sklearn.config_context(enable_metadata_routing=True):
            for scorer in scoring.values():
                scorer.set_score_request(sample_weight=True)
            one = scoring["f" if kind == "function" else "NDCG"]
            weight = {"sample_weight": self.data["sample_weight"]}
            found = inference.compare_models(
                {"a": FirstColumn(), "b": Turned()}, X, self.y, test="t", params=weight,
                scoring=scoring if kind == "both" else one,
                cv=sn.QuerySplitter(2, group_by=group_by),
                groups=self.ids if way == "groups" else None,
            )  # fmt: skip
        self.check_comparison(found, kind)

    def by_query(self, in_truth=int, in_lists=int):
        """The truths and the ranked lists of the queries; the rows are the documents."""
        truths, lists = {}, {}
        for query in self.weight_of_query:
            rows = np.flatnonzero(self.query == query)
            truths[query] = dict(zip(map(in_truth, rows), self.y[rows].tolist(), strict=True))
            lists[query] = list(map(in_lists, rows[np.argsort(-self.s[rows])]))
        return truths, lists

    @rule(form=st.sampled_from(list(FORMS)), is_turned=st.booleans(), has_more=st.booleans())
    def ids_that_never_meet(self, form, is_turned, has_more):
        write, said = FORMS[form]
        forms = ["{}".format, write.format]
        sound = self.by_query(forms[is_turned], forms[is_turned])
        self.check(sn.ndcg_score(sn.from_lists(*sound), sample_weight=self.weight_of_query,
                                 **self.options))  # fmt: skip
        apart = self.by_query(*(forms[::-1] if is_turned else forms))
        if has_more:  # ten times as many queries
            apart = [{(q, i): each[q] for q in each for i in range(10)} for each in apart]
            said = said or "No document"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rows = sn.from_lists(*apart)
        assert len(caught) == (said is not None)
        assert all(said in str(each.message) for each in caught)
        assert not any(sn.ndcg_samples(rows, undefined=0))

    @rule(beyond=st.sampled_from([None, 0, 1]), kind=KINDS)
    def rows_of_rankers(self, beyond, kind):
        truths, lists = self.by_query()
        rankers = {"a": lists, "b": {query: each[::-1] for query, each in lists.items()}}
        k = None if beyond is None else self.k + beyond
        rows = sn.from_lists(truths, rankers=rankers, k=k)
        weight, measure = {"sample_weight": self.weight_of_query}, self.measure(kind)
        for one in (rows["a"], sn.from_lists(truths, lists, k=k)):
            self.check(sn.ndcg_score(one, **weight, **self.options))
            self.check(inference.ndcg_interval(one, method="t", **weight, **self.options).mean)
        found = inference.compare_rankers(rows, test="t", **weight, **measure)
        self.check_comparison(found, kind)

    @rule(is_packed=st.booleans())
    def files(self, is_packed):
        texts = {"qrels": "", "run": ""}
        for row, query in enumerate(self.query):
            texts["qrels"] += f"{query} 0 d{row} {self.y[row]}\n"
            texts["run"] += f"{query} Q0 d{row} 1 {self.s[row]} a\n"
        with TemporaryDirectory() as folder:
            for name, text in texts.items():
                data = gzip.compress(text.encode()) if is_packed else text.encode()
                Path(folder, name).write_bytes(data)
            qrels, run = Path(folder, "qrels"), Path(folder, "run")
            weight = {str(query): value for query, value in self.weight_of_query.items()}
            rows = sn.from_trec(qrels, runs={"a": run, "b": run})
        self.check(sn.ndcg_score(rows["b"], sample_weight=weight, **self.options))


TestWays = Ways.TestCase
TestWays.settings = settings(  # without Phase.shrink, which takes minutes
    max_examples=examples(30), stateful_step_count=12, deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)  # fmt: skip
