"""Data and small functions that several test files use; the fixtures are in conftest.py."""

import os
import subprocess
import sys
from dataclasses import fields
from inspect import signature
from math import log2
from unittest import mock

import numpy as np
import sklearn
from scipy.stats import bootstrap
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge

from sklearn_ndcg import GroupedRanker, from_lists, from_trec, ndcg_samples
from sklearn_ndcg.inference import compare_rankers

# Two queries of four documents each.
Y = np.array([2, 0, 1, 0, 0, 3, 1, 0])
S = np.array([0.1, 0.9, 0.4, 0.3, 0.8, 0.2, 0.7, 0.5])
IDS = np.array([5, 5, 5, 5, 6, 6, 6, 6])

SKLEARN_VERSION = tuple(map(int, sklearn.__version__.split(".")[:2]))
SCIPY_RNG = "rng" if "rng" in signature(bootstrap).parameters else "random_state"


class FirstColumn(RegressorMixin, BaseEstimator):
    """Ranks by its first feature, without learning."""

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        return X if X.ndim == 1 else X[:, 0]


class Recorder(RegressorMixin, BaseEstimator):
    """Remembers what `fit` was given, and ranks by its first feature."""

    def _record(self, X, y, **given):
        self.given_ = {"X": X, "y": y, **{k: v for k, v in given.items() if v is not None}}
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


class Qid(Recorder):
    """Takes groups and weights as XGBoost's rankers do."""

    def fit(self, X, y, *, group=None, qid=None, sample_weight=None, base_margin=None):
        given = {"group": group, "sample_weight": sample_weight, "base_margin": base_margin}
        return self._record(X, y, qid=qid, **given)


class GroupId(Recorder):
    """Takes groups and weights as CatBoost's rankers do."""

    def fit(self, X, y, group_id=None, sample_weight=None, group_weight=None, cat_features=None,
            pairs=None):  # fmt: skip
        given = {"sample_weight": sample_weight, "group_weight": group_weight, "pairs": pairs}
        return self._record(X, y, group_id=group_id, cat_features=cat_features, **given)


class Sizes(Recorder):
    """Takes groups and weights as LightGBM's rankers do."""

    def __init__(self, categorical_feature=None):
        self.categorical_feature = categorical_feature

    def fit(self, X, y, sample_weight=None, init_score=None, group=None, feature_name="auto"):
        given = {"sample_weight": sample_weight, "init_score": init_score}
        return self._record(X, y, group=group, feature_name=feature_name, **given)


def by_first_rows(query):
    """Return the rows, query by query in the order of their first rows, as a loop would.

    Also the number of each row's query in that order, and the sizes.
    """
    rows = {}
    for row, name in enumerate(np.asarray(query).tolist()):
        rows.setdefault(name, []).append(row)
    sizes = np.array([len(each) for each in rows.values()])
    return np.concatenate(list(rows.values())), np.repeat(np.arange(len(sizes)), sizes), sizes


def booster(library, kind="Ranker", rounds=15, **parameters):
    """Return a small and quiet model of LightGBM, XGBoost or CatBoost."""
    import pytest  # noqa: PLC0415

    one_thread = {"n_jobs": 1, "random_state": 0}
    prefix, options = {
        "lightgbm": ("LGBM", {"n_estimators": rounds, "min_child_samples": 5, "verbose": -1}),
        "xgboost": ("XGB", {"n_estimators": rounds}),
        "catboost": ("CatBoost", {"iterations": rounds, "verbose": 0}),
    }[library]
    if library == "catboost":
        one_thread = {"thread_count": 1, "random_seed": 0, "allow_writing_files": False}
    options = options | one_thread | parameters
    return getattr(pytest.importorskip(library), prefix + kind)(**options)


def fit_alone(model, X, y, query, weight=None):
    """Fit a model without GroupedRanker: query by query, with groups and weights in its own way."""
    order, ids, sizes = by_first_rows(query)
    weight = None if weight is None else weight[order]
    means = None if weight is None else np.bincount(ids, weight) / sizes
    given = {
        "LGBMRanker": {"group": sizes, "sample_weight": weight},
        "XGBRanker": {"qid": ids, "sample_weight": means},
        "CatBoostRanker": {"group_id": ids, "group_weight": None if means is None else means[ids]},
    }
    given = given.get(type(model).__name__, {"sample_weight": weight})
    return model.fit(X.iloc[order], y[order], **given)


def graded_rows(
    n_queries=20, lengths=(2, 8), n_columns=3, n_grades=4, all_relevant=True, seed=0
):  # fmt: skip
    """Return X, a pandas table, y, which depends on column "a", and query, in random order.

    Each query has a number of documents between the two lengths, both included, and at least one
    relevant document if `all_relevant`.
    """
    import pandas as pd  # noqa: PLC0415  # the kernels are tested without it

    rng = np.random.default_rng(seed)
    lengths = rng.integers(*lengths, size=n_queries, endpoint=True)
    query = rng.permutation(np.repeat(np.arange(n_queries), lengths))
    X = pd.DataFrame(rng.normal(size=(len(query), n_columns)), columns=list("abcd"[:n_columns]))
    y = np.clip(np.round(X["a"] + rng.normal(size=len(query))), 0, n_grades - 1).to_numpy(int)
    if all_relevant:
        y[np.unique(query, return_index=True)[1]] = 1
    return X, y, query


def matrices(n_queries=40, seed=0, noise=2.0, n_documents=12):
    """Return 2-D y_true and y_score, a row for each query; the scores are the grades and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, (n_queries, n_documents))
    return y, y + rng.normal(scale=noise, size=y.shape)


def per_query(rows, **options):
    """Return the NDCG of each query of the rows of lists, as a dict."""
    values = ndcg_samples(rows, **options).tolist()
    return dict(zip(np.unique(rows.groups).tolist(), values, strict=True))


def result_rows(frame):
    """Return the rows of a table of results, of any engine, in the order of ids; NaN as None."""
    import narwhals.stable.v2 as nw  # noqa: PLC0415

    table = nw.from_native(frame.compute() if hasattr(frame, "compute") else frame)
    table = table.collect() if isinstance(table, nw.LazyFrame) else table
    rows = [tuple(None if value != value else value for value in row) for row in table.rows()]  # noqa: PLR0124
    return sorted(rows, key=lambda row: row[:-4])


def ideal(gains):
    """Return the DCG of gains in this order."""
    return sum(gain / log2(i + 2) for i, gain in enumerate(gains))


def ragged_rows(seed, n_queries=60, longest=40):
    """Return y_true, y_score and groups of queries of different lengths, with ties, shuffled."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest, n_queries)
    groups = rng.permutation(np.repeat(rng.permutation(n_queries), lengths))
    y_true = rng.integers(0, 4, len(groups)) * (rng.random(len(groups)) < 0.4)
    y_score = np.round(rng.normal(size=len(groups)), 1)
    y_score[rng.random(len(groups)) < 0.1] = -np.inf
    return y_true, y_score, groups


def in_order(*gains):
    """Return y_true and y_score of one query, whose grades are given in ranked order."""
    return [list(gains)], [list(range(len(gains), 0, -1))]


def three_rankers(n_queries=40, seed=0):
    """Return 2-D y_true, and the scores of three rankers by name, the noisier the poorer."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, (n_queries, 12))
    noise = {"good": 2, "poor": 4, "other": 3}
    return y, {name: y + rng.normal(0, each, y.shape) for name, each in noise.items()}


def users(n_queries=40, n_users=14):
    """The user of each query: at least one query for each user, and others at random."""
    rng = np.random.default_rng(3)
    extra = rng.integers(0, n_users, n_queries - n_users)
    return rng.permutation(np.r_[np.arange(n_users), extra])


READING = {"k", "unanswered", "unjudged", "duplicates", "convention"}


def compare_lists(relevant, rankers, **options):
    """Compare rankers by their lists, with options of `from_lists` and of `compare_rankers`."""
    reading = {name: options.pop(name) for name in READING & options.keys()}
    return compare_rankers(from_lists(relevant, rankers=rankers, **reading), **options)


def compare_runs(qrels, runs, **options):
    """Compare rankers by their runs, with options of `from_trec` and of `compare_rankers`."""
    reading = {name: options.pop(name) for name in READING & options.keys()}
    return compare_rankers(from_trec(qrels, runs=runs, **reading), **options)


def as_runs(rankers):
    """Return the lists of each ranker as runs, whose scores fall from 0."""
    return {
        name: {query: {d: -float(i) for i, d in enumerate(ids)} for query, ids in lists.items()}
        for name, lists in rankers.items()
    }


def assert_same(found, expected):
    """All fields are equal, to the last bit."""
    for field in fields(found):
        ours, theirs = (getattr(each, field.name) for each in (found, expected))
        np.testing.assert_equal(ours, theirs)
    assert repr(found) == repr(expected)


def legend(display):
    """Return the texts in the legend of a display."""
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def examples(number):
    """Return how many examples a test draws: `number` in CI, and a third of it elsewhere.

    SKLEARN_NDCG_EXAMPLES sets another number, the same for every test.
    """
    chosen = os.environ.get("SKLEARN_NDCG_EXAMPLES")
    if chosen:
        return int(chosen)
    return number if os.environ.get("CI") else -(-number // 3)


def run_python(code, **environment):
    """Run code in a new interpreter, with these environment variables beside our own."""
    return subprocess.run(  # noqa: S603
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False,
        env=os.environ | environment,
    )  # fmt: skip


def follow(advice, **names):
    """The value of an expression that an error message prints."""
    return eval(advice, {"np": np} | names)  # noqa: S307


def held_out_rows(X, y, groups, **parameters):
    """The rows that a ranker is trained on with early stopping, and those that it holds out."""
    seen = []

    def fit(last, train, rule, params):
        seen[:] = train.X, rule.rows.X
        last.fit(train.X, train.y)
        return 1

    fakes = {"check_can_stop": lambda *estimators: None, "fit_until_best": fit}
    with mock.patch.multiple("sklearn_ndcg._selection.stopping", **fakes):
        GroupedRanker(Ridge(), early_stopping=True, **parameters).fit(X, y, groups=groups)
    return seen
