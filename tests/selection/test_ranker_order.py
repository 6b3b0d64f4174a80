"""GroupedRanker: the order in which queries and their rows reach a library.

Queries are named at random, and their rows are mixed. XGBoost sorts features into 16 bins, where
the order of queries matters; with the default of 256 it does from some ten thousand rows on.
"""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import Recorder, Sizes, booster, by_first_rows, graded_rows, held_out_rows
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ndcg import GroupedRanker

N, K, PATIENCE, SEED = 60, 5, 4, 1
X, Y, QUERY = graded_rows(N, (2, 30), n_columns=4, n_grades=5, all_relevant=False)
WEIGHT = np.random.default_rng(1).integers(1, 9, len(Y)) / 8  # whose means are exact
TOGETHER, *_ = by_first_rows(QUERY)
NAMES = np.random.default_rng(2).permutation(N).astype(str)[QUERY]

LIBRARIES = ["lightgbm", "xgboost", "catboost"]
PARAMETERS = {"lightgbm": {}, "xgboost": {"max_bin": 16}, "catboost": {}}


def ranker_of(library, **parameters):
    return booster(library, rounds=30, **PARAMETERS[library] | parameters)


# --- the model is that of the bare library, bit for bit

DATA = {
    "contiguous": (X.iloc[TOGETHER], Y[TOGETHER], QUERY[TOGETHER], WEIGHT[TOGETHER]),
    "scattered": (X, Y, QUERY, WEIGHT),
    "renamed": (X, Y, NAMES, WEIGHT),
}
ALL_AT_ONCE = ("weights", "early stopping", "Pipeline")


def groups_by_hand(library, numbers, sizes, weight):
    """The parameters of a library's `fit` for rows that are together, by query."""
    means = None if weight is None else np.bincount(numbers, weight) / sizes
    return {
        "lightgbm": {"group": sizes, "sample_weight": weight},
        "xgboost": {"qid": numbers, "sample_weight": means},
        "catboost": {
            "group_id": numbers, "group_weight": None if means is None else means[numbers]
        },
    }[library]  # fmt: skip


def held_out_by_hand(library, model, X, y, groups):
    """The parameters that stop a library early, some of which are set in the model."""
    if library == "xgboost":
        model.set_params(early_stopping_rounds=PATIENCE, eval_metric=f"ndcg@{K}")
        weights = {"sample_weight_eval_set": [groups["sample_weight"]]}
        weights = {} if groups["sample_weight"] is None else weights
        return {"eval_set": [(X, y)], "eval_qid": [groups["qid"]], **weights}
    if library == "catboost":
        from catboost import Pool  # noqa: PLC0415

        model.set_params(eval_metric=f"NDCG:top={K}", early_stopping_rounds=PATIENCE)
        return {"eval_set": Pool(X, y, **groups)}
    from lightgbm import early_stopping  # noqa: PLC0415

    return {
        "eval_X": (X,), "eval_y": (y,), "eval_group": [groups["group"]], "eval_at": [K],
        "eval_sample_weight": [groups["sample_weight"]],
        "callbacks": [early_stopping(PATIENCE, verbose=False)],
    }  # fmt: skip


def predictions_by_hand(library, X, y, query, weight, way):
    """What a library predicts for `X` after it was fitted without GroupedRanker."""
    positions = pd.factorize(query)[0]
    held_out = np.zeros(len(y), dtype=bool)
    if "early stopping" in way:
        held_out = np.isin(positions, np.random.RandomState(SEED).permutation(N)[: N // 10])
    model, rows, groups = ranker_of(library), [], []
    for mask in (~held_out, held_out):
        if mask.any():
            order, numbers, sizes = by_first_rows(query[mask])
            rows.append(np.flatnonzero(mask)[order])
            row_weight = weight[rows[-1]] if "weights" in way else None
            groups.append(groups_by_hand(library, numbers, sizes, row_weight))
    train = X.iloc[rows[0]]
    scaler = StandardScaler().fit(train) if "Pipeline" in way else None
    convert = scaler.transform if scaler else lambda X: X
    stops = {}
    if held_out.any():
        held = convert(X.iloc[rows[1]]), y[rows[1]]
        stops = held_out_by_hand(library, model, *held, groups[1])
    model.fit(convert(train), y[rows[0]], **groups[0], **stops)
    return model.predict(convert(X))


def data_and_ways():
    """Scattered rows in every way, and others all at once, every day; the rest in CI."""
    for data, way in product(DATA, [(), *((name,) for name in ALL_AT_ONCE), ALL_AT_ONCE]):
        marks = () if data == "scattered" or way == ALL_AT_ONCE else pytest.mark.ci
        yield pytest.param(data, way, id=f"{data}, {' and '.join(way)}", marks=marks)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("data", "way"), list(data_and_ways()))
def test_the_model_is_that_of_the_bare_library(library, data, way):
    X, y, query, weight = DATA[data]
    inner = ranker_of(library)
    ranker = GroupedRanker(
        make_pipeline(StandardScaler(), inner) if "Pipeline" in way else inner,
        early_stopping="early stopping" in way,
        k=K,
        n_iter_no_change=PATIENCE,
        random_state=SEED,
    ).fit(X, y, weight if "weights" in way else None, groups=query)
    expected = predictions_by_hand(library, X, y, query, weight, way)
    np.testing.assert_array_equal(ranker.predict(X), expected)
    assert np.ptp(expected) > 0.1


@pytest.mark.parametrize(
    ("library", "parameters", "of_queries"),
    [
        ("lightgbm", {}, False),
        ("xgboost", {"tree_method": "exact"}, False),
        ("xgboost", {"tree_method": "hist"}, True),
        ("catboost", {}, True),
    ],
    ids=["lightgbm", "xgboost, exact", "xgboost, hist", "catboost"],
)
def test_what_the_order_of_the_rows_changes(library, parameters, of_queries):
    """The docstring says so: a library that changes is noticed here."""
    _, numbers, _ = by_first_rows(QUERY)

    def predict(order):
        ranker = GroupedRanker(ranker_of(library, **parameters))
        rows = TOGETHER[order]
        return ranker.fit(X.iloc[rows], Y[rows], groups=QUERY[rows]).predict(X)

    plain, place = predict(np.arange(len(Y))), np.random.default_rng(0).permutation(N)
    by_query = predict(np.argsort(place[numbers], kind="stable"))
    assert np.array_equal(plain, by_query) != of_queries
    within = predict(np.lexsort((-np.arange(len(Y)), numbers)))
    assert not np.array_equal(plain, within)
    mixed = predict(np.argsort(np.random.default_rng(0).random(len(Y))))
    assert not np.array_equal(plain, mixed)


# --- rows that are together already


@pytest.mark.parametrize(
    "query",
    [
        np.repeat(["b", "c", "a"], [2, 1, 4]),
        np.array([6, 5, 4, 3, 2, 1, 1]),
        [("u", 2), ("u", 2), ("u", 1), ("t", 3), ("t", 3), ("t", 3), ("t", 3)],
    ],
    ids=["text", "most have one row", "several columns"],
)
@pytest.mark.parametrize("convert", [np.asarray, pd.DataFrame, pl.DataFrame])
@pytest.mark.filterwarnings("ignore:5 of the 6 queries")
def test_contiguous_rows_are_not_copied(convert, query):
    class Given(Recorder):
        def fit(self, X, y, group=None, init_score=None):
            return self._record(X, y, group=group, init_score=init_score)

    rows, y, start = convert(np.arange(14.0).reshape(7, 2)), np.arange(7) % 3, np.arange(7.0)
    given = GroupedRanker(Given()).fit(rows, y, groups=query, init_score=start).estimator_.given_
    assert given["X"] is rows
    assert np.shares_memory(given["y"], y)
    assert given["init_score"] is start
    *_, sizes = by_first_rows(pd.factorize(pd.Series(list(query)))[0])
    np.testing.assert_array_equal(given["group"], sizes)


# --- queries that are drawn


def drawn(n, seed=SEED):
    """The rows of queries that are drawn by the positions of their first rows."""
    return np.isin(pd.factorize(QUERY)[0], np.random.RandomState(seed).permutation(N)[:n])


@pytest.mark.parametrize("names", [QUERY, NAMES], ids=["numbers", "names"])
def test_max_queries_draws_by_the_first_rows(names):
    ranker = GroupedRanker(Sizes(), max_queries=7, random_state=SEED).fit(X, Y, groups=names)
    rows = np.flatnonzero(drawn(7))
    rows = rows[by_first_rows(QUERY[rows])[0]]
    pd.testing.assert_frame_equal(ranker.estimator_.given_["X"], X.iloc[rows])
    plain = GroupedRanker(Ridge(), max_queries=7, random_state=SEED).fit(X, Y, groups=names)
    np.testing.assert_array_equal(plain.predict(X), Ridge().fit(X.iloc[rows], Y[rows]).predict(X))


@pytest.mark.parametrize("names", [QUERY, NAMES], ids=["numbers", "names"])
def test_random_validation_draws_by_the_first_rows(names):
    given, held_out = held_out_rows(X, Y, names, random_state=SEED)
    for found, mask in ((given, ~drawn(6)), (held_out, drawn(6))):
        rows = np.flatnonzero(mask)[by_first_rows(QUERY[mask])[0]]
        pd.testing.assert_frame_equal(found, X.iloc[rows])
