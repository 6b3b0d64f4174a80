"""GroupedRanker: where the ids of queries come from, what they may be, and how queries are drawn."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import Qid, Recorder, Sizes, graded_rows, sorted_by_hand
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import HalvingGridSearchCV, validation_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder, TargetEncoder

from sklearn_ndcg import (
    GroupedRanker,
    QuerySplitter,
    make_ndcg_scorer,
    ndcg_score,
    quantile_grades,
)

X, Y, QUERY = graded_rows()
ORDER, _, SIZES = sorted_by_hand(QUERY)
NAMED = X.assign(q=QUERY)[["a", "q", "b", "c"]]
WITH_IDS = NAMED.to_numpy()  # in column 1

# --- group_by


TABLES = {  # X with its ids, group_by, and the number of columns of X in fit
    "column": (NAMED, "q", 4),
    "level": (X.set_index(pd.Index(QUERY, name="q")), "q", 3),
    "polars": (pl.DataFrame(NAMED.to_dict("list")), "q", 4),
    "pyarrow": (pa.table(NAMED.to_dict("list")), "q", 4),
    "array": (WITH_IDS, 1, 4),
    "array, from the right": (WITH_IDS, -3, 4),
    "csr": (sparse.csr_array(WITH_IDS), 1, 4),
    "coo": (sparse.coo_matrix(WITH_IDS), 1, 4),
    "lists": (WITH_IDS.tolist(), 1, 4),
    "callable": (X, lambda X: QUERY, 3),
}


@pytest.mark.parametrize("name", TABLES)
def test_group_by_finds_the_ids_and_takes_them_out(name):
    table, group_by, n_features = TABLES[name]
    ranker = GroupedRanker(Sizes(), group_by=group_by).fit(table, Y)
    given = ranker.estimator_.given_
    seen = given["X"]
    if hasattr(table, "column_names") or hasattr(table, "columns"):
        assert type(seen) is type(table)
        assert list(getattr(seen, "column_names", seen.columns)) == ["a", "b", "c"]
    seen = seen.toarray() if sparse.issparse(seen) else np.asarray(seen)
    np.testing.assert_array_equal(seen.astype(float), X.to_numpy()[ORDER])
    np.testing.assert_array_equal(given["group"], SIZES)
    assert ranker.n_features_in_ == n_features
    if not sparse.issparse(table):
        np.testing.assert_array_equal(ranker.predict(table), X["a"])


def test_group_by_is_among_the_feature_names_of_the_ranker():
    ranker = GroupedRanker(Ridge(), group_by="q").fit(NAMED, Y)
    assert ranker.feature_names_in_.tolist() == ["a", "q", "b", "c"]
    assert ranker.estimator_.feature_names_in_.tolist() == ["a", "b", "c"]


def test_group_by_of_fit_is_that_of_predict():
    ranker = GroupedRanker(Ridge(), group_by=1).fit(WITH_IDS, Y)
    expected = ranker.predict(WITH_IDS)
    np.testing.assert_array_equal(ranker.set_params(group_by=0).predict(WITH_IDS), expected)


def test_group_by_takes_precedence_over_groups():
    others = pd.Series(np.arange(len(Y)) % 7, index=X.index[::-1])  # in another order, too
    ranker = GroupedRanker(Sizes(), group_by="q").fit(NAMED, Y, groups=others)
    np.testing.assert_array_equal(ranker.query_ids_, np.unique(QUERY))
    np.testing.assert_array_equal(ranker.estimator_.given_["group"], np.bincount(QUERY))
    assert ranker.score(NAMED, Y, groups=others) == ndcg_score(Y, X["a"], groups=QUERY)


def test_group_by_of_one_name_in_a_list_gives_no_tuples():
    found = GroupedRanker(Ridge(), group_by=["q"]).fit(NAMED, Y).query_ids_
    assert found.tolist() == np.unique(QUERY).tolist()


def test_score_needs_the_ids():
    with pytest.raises(ValueError, match="group_by='q' names none"):
        GroupedRanker(Ridge(), group_by="q").fit(NAMED, Y).score(X, Y)
    with pytest.raises(ValueError, match="got no groups"):
        GroupedRanker(Ridge()).fit(X, Y).score(X, Y)


# --- compound ids


U, D = QUERY // 5, QUERY % 5
PAIRS = list(zip(U.tolist(), D.tolist(), strict=True))
COMPOUND = {
    "list of arrays": [U, D],
    "tuple of arrays": (U, D),
    "list of lists": [U.tolist(), D.tolist()],
    "list of Series": [pd.Series(U), pd.Series(D)],
    "pandas": pd.DataFrame({"u": U, "d": D}),
    "pandas, one name": pd.DataFrame(np.c_[U, D], columns=["q", "q"]),
    "polars": pl.DataFrame({"u": U, "d": D}),
    "pyarrow": pa.table({"u": U, "d": D}),
    "array": np.c_[U, D],
    "levels": pd.MultiIndex.from_arrays([U, D]),
    "list of tuples": PAIRS,
}


@pytest.mark.parametrize("name", COMPOUND)
def test_groups_of_several_columns_make_a_query_of_each_distinct_row(name):
    groups = COMPOUND[name]
    ranker = GroupedRanker(Sizes()).fit(X, Y, groups=groups)
    np.testing.assert_array_equal(ranker.estimator_.given_["group"], np.bincount(QUERY))
    assert ranker.query_ids_.tolist() == sorted(set(PAIRS))
    assert ndcg_score(Y, X["a"], groups=groups) == ndcg_score(Y, X["a"], groups=QUERY)
    grades = quantile_grades(X["a"], groups=QUERY)
    np.testing.assert_array_equal(quantile_grades(X["a"], groups=groups), grades)
    found, expected = (list(QuerySplitter(3).split(X, Y, ids)) for ids in (groups, QUERY))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one[1], other[1])


# --- ids that are not query ids


@pytest.mark.parametrize("inner", [Sizes(), make_pipeline(FunctionTransformer(), Qid())])
@pytest.mark.parametrize(
    ("n_whole", "words"),
    [(0, "Each of the 105 queries has"), (5, r"74 of the 79 queries \(93%\) have")],
)
def test_groups_of_single_documents_are_not_trained_on_silently(n_whole, words, inner):
    ids = np.where(20 - n_whole <= QUERY, QUERY, 1000 + np.arange(len(QUERY)))
    for ranker in (GroupedRanker(inner), GroupedRanker(Ridge(), max_queries=5)):
        with pytest.warns(UserWarning, match=f"{words} a single document"):
            ranker.fit(X, Y, groups=ids)
    GroupedRanker(Ridge()).fit(X, Y, groups=ids)  # training rows do not depend on the ids
    few = np.concatenate([[1000, 1001, 1002], QUERY[3:]])
    GroupedRanker(inner).fit(X, Y, groups=few)


def test_groups_that_are_the_relevance_warn():
    words = "None of the 4 queries has documents of different relevance. groups must have"
    for ranker in (GroupedRanker(Sizes()), GroupedRanker(Ridge(), max_queries=3)):
        with pytest.warns(UserWarning, match=words):
            ranker.fit(X, Y, groups=Y)
    GroupedRanker(Sizes()).fit(X, np.ones(len(Y)), groups=Y)  # says nothing about the ids


def encoded(encoder):
    """A Pipeline that encodes the column of ids."""
    steps = make_column_transformer(
        (encoder, ["q"]), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    return make_pipeline(steps, GroupedRanker(Ridge(), group_by="q"))


def test_group_by_of_encoded_ids_is_refused_or_warned_of():
    train, rows = QUERY < 10, X.assign(q=np.char.mod("q%03d", QUERY))
    with pytest.raises(ValueError, match="group_by='q' finds numbers with fractions"):
        encoded(TargetEncoder(target_type="continuous")).fit(rows[train], Y[train])

    unknown = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    pipeline = encoded(unknown).fit(rows[train], Y[train])
    n, longest = np.count_nonzero(~train), np.bincount(QUERY[train]).max()
    words = f"{n} of the {n} scored rows have the id -1.0, .* training queries has {longest} rows:"
    with pytest.warns(UserWarning, match=words):
        pipeline.score(rows[~train], Y[~train])
    with pytest.warns(UserWarning, match=words):
        make_ndcg_scorer()(pipeline[-1], X[~train], Y[~train], groups=np.full(n, -1.0))


def test_score_of_long_queries_does_not_warn():
    """Training on sampled documents, scoring whole catalogues, and a fold of one query."""
    ranker = GroupedRanker(Ridge()).fit(X[QUERY >= 2], Y[QUERY >= 2], groups=QUERY[QUERY >= 2])
    n_long = 40 * np.bincount(QUERY).max()
    rows = np.random.default_rng(0).integers(0, len(Y), (3, n_long))
    ranker.score(X.iloc[rows.ravel()], Y[rows.ravel()], groups=np.repeat([-1, -2, -3], n_long))
    ranker.score(X[QUERY == 0], Y[QUERY == 0], groups=QUERY[QUERY == 0])
    few = QUERY >= 15  # too few to say how long queries are
    ranker = GroupedRanker(Ridge()).fit(X[few], Y[few], groups=QUERY[few])
    ranker.score(X.iloc[rows[0]], Y[rows[0]], groups=np.full(n_long, -1))


# --- training on some of the queries


@pytest.mark.parametrize("max_queries", [1, 7, 19, 20, 1000])
def test_max_queries_trains_on_whole_queries(max_queries):
    def fit(number):
        return GroupedRanker(Ridge(), max_queries=number, random_state=0).fit(X, Y, groups=QUERY)

    ranker = fit(max_queries)
    assert len(ranker.query_ids_) == min(max_queries, 20)
    rows = np.isin(QUERY, ranker.query_ids_)
    expected = Ridge().fit(X[rows], Y[rows]).predict(X)
    np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-9)
    assert set(fit(max(1, max_queries - 1)).query_ids_) <= set(ranker.query_ids_)


def test_max_queries_is_the_resource_of_a_halving_search_and_a_validation_curve():
    ranker = GroupedRanker(Ridge(), group_by="q", random_state=0)
    options = {
        "scoring": make_ndcg_scorer(group_by="q"), "cv": QuerySplitter(3, group_by="q"),
        "error_score": "raise",
    }  # fmt: skip
    sizes = {"resource": "max_queries", "min_resources": 4, "max_resources": 12}
    search = HalvingGridSearchCV(ranker, {"estimator__alpha": [1, 10, 100]}, **sizes, **options)
    assert search.fit(NAMED, Y).n_resources_ == [4, 12]
    assert len(search.best_estimator_.query_ids_) == 12
    sizes = {"param_name": "max_queries", "param_range": [5, 10]}
    train, test = validation_curve(ranker, NAMED, Y, **sizes, **options)
    assert train.shape == test.shape == (2, 3)


# --- queries that are held out


class Staged(Recorder):
    """A model of two rounds, which remembers the rows of its fits and of its stages."""

    seen = {}  # noqa: RUF012

    def __init__(self, n_estimators=2):
        self.n_estimators = n_estimators

    def fit(self, X, y, sample_weight=None):
        self.seen["train"] = X
        return self._record(X, y)

    def staged_predict(self, X):
        self.seen["held out"] = X
        return [self.predict(X)] * 2


def stopping(**parameters):
    options = {"early_stopping": True, "scoring": make_ndcg_scorer(), "random_state": 0}
    return GroupedRanker(Staged(), **options | parameters)


@pytest.mark.parametrize(
    ("validation", "order_by"), [("last", None), ("last", "minus"), ("random", None)]
)
def test_validation_and_order_by_say_which_queries_are_held_out(validation, order_by):
    table = X.assign(q=QUERY, minus=-QUERY + np.random.default_rng(0).random(len(Y)))
    ranker = stopping(validation=validation, order_by=order_by, validation_fraction=0.2)
    ranker.fit(table, Y, groups=QUERY)
    train, held_out = (Staged.seen[name] for name in ("train", "held out"))
    assert list(train) == list(held_out) == [name for name in table if name != order_by]
    train, held_out = set(train["q"]), set(held_out["q"])
    assert len(held_out) == 4
    assert train | held_out == set(range(20))
    assert not train & held_out
    ends = {None: set(range(16, 20)), "minus": set(range(4))}
    assert (held_out == ends[order_by]) == (validation == "last")


def test_validation_of_the_last_queries_holds_out_the_last_of_those_that_are_drawn():
    table = X.assign(q=QUERY)
    ranker = stopping(validation="last", validation_fraction=0.2, max_queries=10, random_state=1)
    drawn = ranker.fit(table, Y, groups=QUERY).query_ids_.tolist()
    train, held_out = (set(Staged.seen[name]["q"]) for name in ("train", "held out"))
    assert len(drawn) == 10
    assert drawn[-2:] != [18, 19]
    assert held_out == set(drawn[-2:])
    assert train == set(drawn[:-2])


def test_validation_fraction_holds_out_at_least_one_query():
    stopping(validation_fraction=0.001).fit(X, Y, groups=QUERY)
    assert len(Staged.seen["held out"]) in np.bincount(QUERY)


def test_validation_of_the_last_queries_warns_of_the_order_of_text():
    table = X.assign(q=np.char.add("q", QUERY.astype(str)), when=QUERY)
    ranker = stopping(group_by="q", validation="last")
    words = r"^validation='last' needs .* may not sort by time \('q0'.*order_by="
    with pytest.warns(UserWarning, match=words):
        clone(ranker).fit(table, Y)
    for change in ({"validation": "random"}, {"early_stopping": False}, {"order_by": "when"}):
        clone(ranker).set_params(**change).fit(table, Y)
    clone(ranker).fit(table.assign(q=QUERY), Y)


def test_order_by_is_no_feature():
    table = X.assign(q=QUERY, when=pd.Timestamp(0) + pd.to_timedelta(QUERY, "D"))
    no_times = table.drop(columns="when")
    plain = GroupedRanker(Ridge(), group_by="q").fit(no_times, Y)
    for order_by, rows in (("when", table), ("q", no_times), (lambda X: X["q"], no_times)):
        ranker = GroupedRanker(Ridge(), group_by="q", order_by=order_by).fit(rows, Y)
        for each in (rows, rows.drop(columns="q"), rows.drop(columns="when", errors="ignore"), X):
            np.testing.assert_allclose(ranker.predict(each), plain.predict(X), rtol=1e-12)
        expected = np.append(plain.estimator_.coef_, np.zeros(rows.shape[1] - X.shape[1]))
        np.testing.assert_array_equal(ranker.coef_, expected)
        assert ranker.score(rows, Y) == plain.score(no_times, Y)
    by_place = GroupedRanker(Ridge(), group_by=-1, order_by=0).fit(np.c_[-QUERY, X, QUERY], Y)
    np.testing.assert_allclose(by_place.coef_, [0, *plain.estimator_.coef_, 0])
