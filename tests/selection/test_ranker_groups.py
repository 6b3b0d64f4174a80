"""GroupedRanker: where the ids of queries come from, what they may be, and how queries are drawn."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import Qid, Recorder, Sizes, sorted_by_hand
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import HalvingGridSearchCV, cross_validate, validation_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder, TargetEncoder

from sklearn_ndcg import (
    GroupedRanker,
    QueryLeakWarning,
    QuerySplitter,
    make_ndcg_scorer,
    ndcg_score,
    quantile_grades,
)

# --- group_by


def tables(X, query):
    """X with its ids, group_by, and the number of columns of X in fit."""
    named = X.assign(q=query)[["a", "q", "b", "c"]]
    array = named.to_numpy()
    yield named, "q", 4
    yield X.set_index(pd.Index(query, name="q")), "q", 3
    yield pl.DataFrame(named.to_dict("list")), "q", 4
    yield pa.table(named.to_dict("list")), "q", 4
    yield array, 1, 4
    yield array, -3, 4
    yield sparse.csr_array(array), 1, 4
    yield sparse.coo_matrix(array), 1, 4
    yield array.tolist(), 1, 4
    yield X, lambda X: query, 3


@pytest.mark.parametrize("index", range(10))
def test_group_by_finds_the_ids_and_takes_them_out(data, index):
    X, y, query = data
    order, _, sizes = sorted_by_hand(query)
    table, group_by, n_features = list(tables(X, query))[index]
    ranker = GroupedRanker(Sizes(), group_by=group_by).fit(table, y)
    given = ranker.estimator_.given_
    seen = given["X"]
    if hasattr(table, "column_names") or hasattr(table, "columns"):
        assert type(seen) is type(table)
        assert list(getattr(seen, "column_names", seen.columns)) == ["a", "b", "c"]
    seen = seen.toarray() if sparse.issparse(seen) else np.asarray(seen)
    np.testing.assert_array_equal(seen.astype(float), X.to_numpy()[order])
    np.testing.assert_array_equal(given["group"], sizes)
    assert ranker.n_features_in_ == n_features
    if not sparse.issparse(table):
        np.testing.assert_array_equal(ranker.predict(table), X["a"])


def test_group_by_is_among_the_feature_names_of_the_ranker(data):
    X, y, query = data
    ranker = GroupedRanker(Ridge(), group_by="q").fit(X.assign(q=query), y)
    assert ranker.feature_names_in_.tolist() == ["a", "b", "c", "q"]
    assert ranker.estimator_.feature_names_in_.tolist() == ["a", "b", "c"]


def test_group_by_of_fit_is_that_of_predict(data):
    X, y, query = data
    table = np.c_[query, X.to_numpy()]
    ranker = GroupedRanker(Ridge(), group_by=0).fit(table, y)
    expected = ranker.predict(table)
    np.testing.assert_array_equal(ranker.set_params(group_by=1).predict(table), expected)


def test_group_by_finds_text_in_lists():
    rows = [["a", 1.0, 5.0], ["a", 2.0, 4.0], ["b", 3.0, 3.0], ["b", 4.0, 2.0]]
    given = GroupedRanker(Sizes(), group_by=0).fit(rows, [0, 1, 0, 1]).estimator_.given_
    assert given["X"].tolist() == [row[1:] for row in rows]
    assert given["X"].dtype == float
    assert given["group"].tolist() == [2, 2]


def test_group_by_takes_precedence_over_groups(data):
    X, y, query = data
    others = pd.Series(np.arange(len(y)) % 7, index=X.index[::-1])  # in another order, too
    table = X.assign(q=query)
    ranker = GroupedRanker(Sizes(), group_by="q").fit(table, y, groups=others)
    np.testing.assert_array_equal(ranker.query_ids_, np.unique(query))
    np.testing.assert_array_equal(ranker.estimator_.given_["group"], np.bincount(query))
    assert ranker.score(table, y, groups=others) == ndcg_score(y, X["a"], groups=query)


def test_group_by_of_one_name_in_a_list_gives_no_tuples(data):
    X, y, query = data
    expected = np.unique(query).tolist()
    found = GroupedRanker(Ridge(), group_by=["q"]).fit(X.assign(q=query), y).query_ids_
    assert found.tolist() == expected
    table = GroupedRanker(Ridge()).fit(X, y, groups=pa.table({"q": query})).query_ids_
    assert table.tolist() == expected


def test_group_by_of_several_columns_and_levels(data):
    X, y, query = data
    table = X.assign(q=query, u=query // 5).set_index(pd.Index(query % 5, name="d"))
    single, several = (
        cross_validate(
            GroupedRanker(Ridge(), group_by=group_by), table.drop(columns=dropped), y,
            scoring=make_ndcg_scorer(group_by=group_by), cv=QuerySplitter(3, group_by=group_by),
            error_score="raise",
        )["test_score"]
        for group_by, dropped in (("q", "u"), (["u", "d"], "q"))
    )  # fmt: skip
    np.testing.assert_allclose(several, single, rtol=1e-12)


@pytest.mark.parametrize(
    "inner", [HistGradientBoostingRegressor(max_iter=3), HistGradientBoostingClassifier(max_iter=3)]
)
def test_group_by_and_histogram_gradient_boosting(inner, data):
    """Its `categorical_features="from_dtype"` names no column."""
    X, y, query = data
    expected = GroupedRanker(inner).fit(X, y, groups=query).predict(X)
    for rows, group_by in ((X.assign(q=query), "q"), (np.c_[X, query], -1)):
        found = GroupedRanker(inner, group_by=group_by).fit(rows, y).predict(rows)
        np.testing.assert_allclose(found, expected)


def test_score_and_predict_need_the_columns_of_fit(data):
    X, y, query = data
    ranker = GroupedRanker(Ridge(), group_by="q").fit(X.assign(q=query), y)
    with pytest.raises(ValueError, match="group_by='q' names none"):
        ranker.score(X, y)
    with pytest.raises(ValueError, match=r"X needs the columns of fit, but lacks 'a'\.$"):
        ranker.predict(X[["b", "c"]])
    by_number = GroupedRanker(Ridge(), group_by=3).fit(X.assign(q=query).to_numpy(), y)
    with pytest.raises(ValueError, match="X has 2 features, but GroupedRanker is expecting 4"):
        by_number.predict(X.to_numpy()[:, :2])
    with pytest.raises(ValueError, match="got no groups"):
        GroupedRanker(Ridge()).fit(X, y).score(X, y)


# --- compound ids


def compound(u, d):
    yield [u, d]
    yield (u, d)
    yield [u.tolist(), d.tolist()]
    yield [pd.Series(u), pd.Series(d)]
    yield pd.DataFrame({"u": u, "d": d})
    yield pl.DataFrame({"u": u, "d": d})
    yield pa.table({"u": u, "d": d})
    yield np.c_[u, d]
    yield pd.DataFrame(np.c_[u, d], columns=["q", "q"])
    yield pd.MultiIndex.from_arrays([u, d])
    yield list(zip(u.tolist(), d.tolist(), strict=True))


@pytest.mark.parametrize("index", range(11))
def test_groups_of_several_columns_make_a_query_of_each_distinct_row(index, data):
    X, y, query = data
    u, d = query // 5, query % 5
    groups = list(compound(u, d))[index]
    assert ndcg_score(y, X["a"], groups=groups) == ndcg_score(y, X["a"], groups=query)
    np.testing.assert_array_equal(
        quantile_grades(X["a"], groups=groups), quantile_grades(X["a"], groups=query)
    )
    ranker = GroupedRanker(Sizes()).fit(X, y, groups=groups)
    np.testing.assert_array_equal(ranker.estimator_.given_["group"], np.bincount(query))
    assert ranker.query_ids_.tolist() == sorted(set(zip(u.tolist(), d.tolist(), strict=True)))
    for one, other in zip(
        QuerySplitter(3).split(X, y, groups), QuerySplitter(3).split(X, y, query), strict=True
    ):
        np.testing.assert_array_equal(one[1], other[1])


def test_groups_of_several_columns_must_have_no_missing_part():
    with pytest.raises(ValueError, match="groups has 1 missing id, at"):
        ndcg_score([1, 0], [1, 2], groups=[np.array([1.0, np.nan]), np.array([1, 1])])
    with pytest.raises(ValueError, match="group_by must name columns"):
        make_ndcg_scorer(group_by=[])(Ridge(), pd.DataFrame({"a": [1]}), [1])


def test_groups_of_numbers_and_dates_are_shown_in_a_warning(data):
    X, y, query = data
    days = np.datetime64("2012-03-01", "ns") + np.timedelta64(1, "D") * (query % 5)
    ranker = GroupedRanker(Ridge()).fit(X[:60], y[:60], groups=[query[:60] // 5, days[:60]])
    warnings.filterwarnings("ignore", "NDCG is undefined")
    with pytest.warns(QueryLeakWarning, match=r"\(\(0, 2012-03-0\d\), "):
        ranker.score(X[60:], y[60:], groups=[query[60:] // 5, days[60:]])


# --- ids that are not query ids


@pytest.mark.parametrize("inner", [Sizes(), make_pipeline(FunctionTransformer(), Qid())])
@pytest.mark.parametrize("n_whole", [0, 5])
def test_groups_of_single_documents_are_not_trained_on_silently(n_whole, inner, data):
    X, y, query = data
    whole = query >= 20 - n_whole
    ids = np.where(whole, query, 1000 + np.arange(len(query)))
    single = np.count_nonzero(~whole)
    queries, share = single + n_whole, 100 * single // (single + n_whole)
    words = (
        f"{single} of the {queries} queries \\({share}%\\) have"
        if n_whole
        else f"Each of the {len(y)} queries has"
    )
    for ranker in (GroupedRanker(inner), GroupedRanker(Ridge(), max_queries=5)):
        with pytest.warns(UserWarning, match=f"{words} a single document"):
            ranker.fit(X, y, groups=ids)
    GroupedRanker(Ridge()).fit(X, y, groups=ids)  # training rows do not depend on the ids
    few = np.concatenate([[1000, 1001, 1002], query[3:]])
    GroupedRanker(inner).fit(X, y, groups=few)


def test_groups_that_are_the_relevance_warn(data):
    X, y, _ = data
    words = "None of the 4 queries has documents of different relevance. groups must have"
    for ranker in (GroupedRanker(Sizes()), GroupedRanker(Ridge(), max_queries=3)):
        with pytest.warns(UserWarning, match=words):
            ranker.fit(X, y, groups=y)
    GroupedRanker(Sizes()).fit(X, np.ones(len(y)), groups=y)  # says nothing about the ids


def encoded(encoder, X, query):
    """A Pipeline that encodes the column of ids, and the rows with them as text."""
    steps = make_column_transformer(
        (encoder, ["q"]), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    ranker = GroupedRanker(Ridge(), group_by="q")
    return make_pipeline(steps, ranker), X.assign(q=np.char.mod("q%03d", query))


def test_group_by_of_encoded_ids_is_refused_or_warned_of(data):
    X, y, query = data
    train = query < 10
    pipeline, rows = encoded(TargetEncoder(target_type="continuous"), X, query)
    with pytest.raises(ValueError, match="group_by='q' finds numbers with fractions"):
        pipeline.fit(rows[train], y[train])

    unknown = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    pipeline, rows = encoded(unknown, X, query)
    pipeline.fit(rows[train], y[train])
    n, longest = np.count_nonzero(~train), np.bincount(query[train]).max()
    words = f"{n} of the {n} scored rows have the id -1.0, .* training queries has {longest} rows:"
    with pytest.warns(UserWarning, match=words):
        pipeline.score(rows[~train], y[~train])
    with pytest.warns(UserWarning, match=words):
        make_ndcg_scorer()(pipeline[-1], X[~train], y[~train], groups=np.full(n, -1.0))


def test_score_of_long_queries_does_not_warn(data):
    """Training on sampled documents, scoring whole catalogues, and a fold of one query."""
    X, y, query = data
    ranker = GroupedRanker(Ridge()).fit(X[query >= 2], y[query >= 2], groups=query[query >= 2])
    n_long = 40 * np.bincount(query).max()
    rows = np.random.default_rng(0).integers(0, len(y), (3, n_long))
    ranker.score(X.iloc[rows.ravel()], y[rows.ravel()], groups=np.repeat([-1, -2, -3], n_long))
    ranker.score(X[query == 0], y[query == 0], groups=query[query == 0])
    few = query >= 15  # too few to say how long queries are
    ranker = GroupedRanker(Ridge()).fit(X[few], y[few], groups=query[few])
    ranker.score(X.iloc[rows[0]], y[rows[0]], groups=np.full(n_long, -1))


# --- training on some of the queries


@pytest.mark.parametrize("max_queries", [1, 7, 19, 20, 1000])
def test_max_queries_trains_on_whole_queries(max_queries, data):
    X, y, query = data
    ranker = GroupedRanker(Ridge(), max_queries=max_queries, random_state=0)
    ids = ranker.fit(X, y, groups=query).query_ids_
    assert len(ids) == min(max_queries, 20)
    rows = np.isin(query, ids)
    expected = Ridge().fit(X[rows], y[rows])
    np.testing.assert_allclose(ranker.predict(X), expected.predict(X), rtol=1e-9)
    fewer = GroupedRanker(Ridge(), max_queries=max(1, max_queries - 1), random_state=0)
    assert set(fewer.fit(X, y, groups=query).query_ids_) <= set(ids)


def test_max_queries_is_the_resource_of_a_halving_search_and_a_validation_curve(data):
    X, y, query = data
    X = X.set_index(pd.Index(query, name="q"))
    ranker = GroupedRanker(Ridge(), group_by="q", random_state=0)
    options = {
        "scoring": make_ndcg_scorer(group_by="q"), "cv": QuerySplitter(3, group_by="q"),
        "error_score": "raise",
    }  # fmt: skip
    search = HalvingGridSearchCV(
        ranker, {"estimator__alpha": [1, 10, 100]}, resource="max_queries", min_resources=4,
        max_resources=12, **options,
    ).fit(X, y)  # fmt: skip
    assert search.n_resources_ == [4, 12]
    assert len(search.best_estimator_.query_ids_) == 12
    train, test = validation_curve(
        ranker, X, y, param_name="max_queries", param_range=[5, 10], **options
    )
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
def test_validation_and_order_by_say_which_queries_are_held_out(validation, order_by, data):
    X, y, query = data
    table = X.assign(q=query, minus=-query + np.random.default_rng(0).random(len(y)))
    ranker = stopping(validation=validation, order_by=order_by, validation_fraction=0.2)
    ranker.fit(table, y, groups=query)
    train, held_out = (Staged.seen[name] for name in ("train", "held out"))
    assert list(train) == list(held_out) == [name for name in table if name != order_by]
    train, held_out = set(train["q"]), set(held_out["q"])
    assert len(held_out) == 4
    assert train | held_out == set(range(20))
    assert not train & held_out
    ends = {None: set(range(16, 20)), "minus": set(range(4))}
    assert (held_out == ends[order_by]) == (validation == "last")


def test_validation_fraction_holds_out_at_least_one_query(data):
    X, y, query = data
    stopping(validation_fraction=0.001).fit(X, y, groups=query)
    assert len(Staged.seen["held out"]) in np.bincount(query)


def test_validation_of_the_last_queries_warns_of_the_order_of_text(data):
    X, y, query = data
    table = X.assign(q=np.char.add("q", query.astype(str)), when=query)
    ranker = stopping(group_by="q", validation="last")
    words = r"^validation='last' needs .* may not sort by time \('q0'.*order_by="
    with pytest.warns(UserWarning, match=words):
        clone(ranker).fit(table, y)
    for change in ({"validation": "random"}, {"early_stopping": False}, {"order_by": "when"}):
        clone(ranker).set_params(**change).fit(table, y)
    clone(ranker).fit(table.assign(q=query), y)


def test_order_by_is_no_feature(data):
    X, y, query = data
    table = X.assign(q=query, when=pd.Timestamp(0) + pd.to_timedelta(query, "D"))
    no_times = table.drop(columns="when")
    plain = GroupedRanker(Ridge(), group_by="q").fit(no_times, y)
    for order_by, rows in (("when", table), ("q", no_times), (lambda X: X["q"], no_times)):
        ranker = GroupedRanker(Ridge(), group_by="q", order_by=order_by).fit(rows, y)
        for each in (rows, X):
            np.testing.assert_allclose(ranker.predict(each), plain.predict(X), rtol=1e-12)
        expected = np.append(plain.estimator_.coef_, np.zeros(rows.shape[1] - X.shape[1]))
        np.testing.assert_array_equal(ranker.coef_, expected)
        assert ranker.score(rows, y) == plain.score(no_times, y)
    by_place = GroupedRanker(Ridge(), group_by=-1, order_by=0).fit(np.c_[-query, X, query], y)
    np.testing.assert_allclose(by_place.coef_, [0, *plain.estimator_.coef_, 0])
