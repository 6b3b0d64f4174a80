"""GroupedRanker: where the ids of queries come from, and how queries are drawn."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import Qid, Recorder, Sizes, by_first_rows, graded_rows
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
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
ORDER, _, SIZES = by_first_rows(QUERY)
NAMED = X.assign(q=QUERY)[["a", "q", "b", "c"]]
WITH_IDS = NAMED.to_numpy()  # in column 1

# --- group_by


@pytest.mark.parametrize(
    ("rows", "group_by", "n_features"),
    [
        pytest.param(NAMED, "q", 4, id="column"),
        pytest.param(X.set_index(pd.Index(QUERY, name="q")), "q", 3, id="level"),
        pytest.param(pl.DataFrame(NAMED.to_dict("list")), "q", 4, id="polars"),
        pytest.param(pa.table(NAMED.to_dict("list")), "q", 4, id="pyarrow"),
        pytest.param(sparse.coo_matrix(WITH_IDS), 1, 4, id="coo"),
        pytest.param(WITH_IDS.tolist(), -3, 4, id="lists, from the right"),
        pytest.param(X, lambda X: QUERY, 3, id="callable"),
    ],
)
def test_group_by_finds_the_ids_and_takes_them_out(rows, group_by, n_features):
    ranker = GroupedRanker(Sizes(), group_by=group_by).fit(rows, Y)
    given = ranker.estimator_.given_
    features = given["X"].toarray() if sparse.issparse(rows) else np.asarray(given["X"])
    np.testing.assert_array_equal(features.astype(float), X.to_numpy()[ORDER])
    np.testing.assert_array_equal(given["group"], SIZES)
    assert ranker.n_features_in_ == n_features
    if hasattr(rows, "columns"):
        assert type(given["X"]) is type(rows)


def test_group_by_is_among_the_feature_names_of_the_ranker():
    ranker = GroupedRanker(Ridge(), group_by="q").fit(NAMED, Y)
    assert ranker.feature_names_in_.tolist() == ["a", "q", "b", "c"]
    assert ranker.estimator_.feature_names_in_.tolist() == ["a", "b", "c"]


def test_group_by_wins_over_groups():
    others = pd.Series(np.arange(len(Y)) % 7, index=X.index[::-1])  # in another order, too
    ranker = GroupedRanker(Sizes(), group_by="q").fit(NAMED, Y, groups=others)
    np.testing.assert_array_equal(ranker.query_ids_, np.unique(QUERY))
    assert ranker.score(NAMED, Y, groups=others) == ndcg_score(Y, X["a"], groups=QUERY)


def test_order_by_is_no_feature():
    rows = X.assign(q=QUERY, when=pd.Timestamp(0) + pd.to_timedelta(QUERY, "D"))
    plain = GroupedRanker(Ridge()).fit(X, Y)
    ranker = GroupedRanker(Ridge(), group_by="q", order_by="when").fit(rows, Y)
    for columns in (list(rows), list("abcq"), ["a", "b", "c", "when"], list("abc")):
        np.testing.assert_allclose(ranker.predict(rows[columns]), plain.predict(X), rtol=1e-12)
    np.testing.assert_allclose(ranker.coef_, [*plain.coef_, 0, 0])


# --- compound ids

U, D = QUERY // 5, QUERY % 5
PAIRS = list(zip(U.tolist(), D.tolist(), strict=True))


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param([U, D], id="list of arrays"),
        pytest.param(pd.DataFrame({"u": U, "d": D}), id="pandas"),
        pytest.param(PAIRS, id="list of tuples"),
    ],
)
def test_each_distinct_row_of_several_columns_is_a_query(groups):
    ranker = GroupedRanker(Sizes()).fit(X, Y, groups=groups)
    np.testing.assert_array_equal(ranker.estimator_.given_["group"], SIZES)
    assert ranker.query_ids_.tolist() == sorted(set(PAIRS))
    grades = quantile_grades(X["a"], groups=QUERY)
    np.testing.assert_array_equal(quantile_grades(X["a"], groups=groups), grades)
    tests = [test.tolist() for _, test in QuerySplitter(3).split(X, Y, groups)]
    assert tests == [test.tolist() for _, test in QuerySplitter(3).split(X, Y, QUERY)]


# --- ids that are not query ids


def test_groups_of_single_documents_are_not_trained_on_silently():
    ranker = GroupedRanker(make_pipeline(FunctionTransformer(), Qid()))
    with pytest.warns(UserWarning, match="Each of the 105 queries has a single document"):
        ranker.fit(X, Y, groups=range(len(Y)))


def test_groups_that_are_the_relevance_warn():
    words = "None of the 4 queries has documents of different relevance. groups must have"
    with pytest.warns(UserWarning, match=words):
        GroupedRanker(Sizes()).fit(X, Y, groups=Y)


@pytest.mark.parametrize(
    ("inner", "y", "groups"),
    [
        pytest.param(Ridge(), Y, np.arange(len(Y)), id="rows do not depend on the ids"),
        pytest.param(Sizes(), Y, np.append([1000, 1001, 1002], QUERY[3:]), id="few of them"),
        pytest.param(Sizes(), np.ones(len(Y)), Y, id="all of the same relevance"),
    ],
)
def test_ids_that_may_be_query_ids_do_not_warn(inner, y, groups):
    GroupedRanker(inner).fit(X, y, groups=groups)


def encoded(encoder):
    """A Pipeline that encodes the column of ids."""
    steps = make_column_transformer(
        (encoder, ["q"]), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    return make_pipeline(steps, GroupedRanker(Ridge(), group_by="q"))


TEXT_IDS = X.assign(q=np.char.mod("q%03d", QUERY))


def test_ids_with_fractions_are_refused():
    with pytest.raises(ValueError, match="group_by='q' finds numbers with fractions"):
        encoded(TargetEncoder(target_type="continuous")).fit(TEXT_IDS, Y)


def test_ids_that_an_encoder_has_made_one_are_warned_of():
    train = QUERY < 10
    unknown = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    pipeline = encoded(unknown).fit(TEXT_IDS[train], Y[train])
    n, longest = np.count_nonzero(~train), np.bincount(QUERY[train]).max()
    words = f"{n} of the {n} scored rows have the id -1.0, .* training queries has {longest} rows:"
    with pytest.warns(UserWarning, match=words):
        pipeline.score(TEXT_IDS[~train], Y[~train])


@pytest.mark.parametrize(
    ("known", "n_queries"),
    [
        pytest.param(QUERY >= 2, 3, id="none has most of the rows"),
        pytest.param(QUERY >= 15, 1, id="too few training queries to say how long they are"),
    ],
)
def test_score_of_long_queries_does_not_warn(known, n_queries):
    """Training on sampled documents, and scoring whole catalogues."""
    ranker = GroupedRanker(Ridge()).fit(X[known], Y[known], groups=QUERY[known])
    n_long = 40 * np.bincount(QUERY).max()
    rows = np.random.default_rng(0).integers(0, len(Y), n_queries * n_long)
    groups = np.repeat(-1 - np.arange(n_queries), n_long)
    ranker.score(X.iloc[rows], Y[rows], groups=groups)


def test_score_of_a_single_query_does_not_warn():
    known, scored = QUERY >= 2, QUERY == 0
    ranker = GroupedRanker(Ridge()).fit(X[known], Y[known], groups=QUERY[known])
    ranker.score(X[scored], Y[scored], groups=QUERY[scored])


# --- training on some of the queries


def fit_some(max_queries):
    return GroupedRanker(Ridge(), max_queries=max_queries, random_state=0).fit(X, Y, groups=QUERY)


@pytest.mark.parametrize("max_queries", [1, 19, 1000])
def test_max_queries_trains_on_whole_queries(max_queries):
    ranker = fit_some(max_queries)
    assert len(ranker.query_ids_) == min(max_queries, 20)
    rows = np.isin(QUERY, ranker.query_ids_)
    expected = Ridge().fit(X[rows], Y[rows]).predict(X)
    np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-9)


def test_max_queries_draws_and_adds_to_those_of_smaller_numbers():
    assert set(fit_some(6).query_ids_) < set(fit_some(7).query_ids_) != set(range(7))


# --- queries that are held out


class Staged(Recorder):
    """A model of two rounds, which remembers the queries of its fits and of its stages."""

    queries = {}  # noqa: RUF012

    def __init__(self, n_estimators=2):
        self.n_estimators = n_estimators

    def fit(self, X, y, sample_weight=None):
        self.queries["train"] = sorted(set(X["q"]))
        return self._record(X, y)

    def staged_predict(self, X):
        self.queries["held out"] = sorted(set(X["q"]))
        return [self.predict(X)] * 2


def hold_out(rows, **parameters):
    """Return the queries that are held out, and check that the others are trained on."""
    options = {"early_stopping": True, "scoring": make_ndcg_scorer(), "random_state": 0}
    ranker = GroupedRanker(Staged(), **options | parameters).fit(rows, Y, groups=QUERY)
    train, held_out = Staged.queries["train"], Staged.queries["held out"]
    assert sorted(train + held_out) == ranker.query_ids_.tolist()
    return held_out


IDS_AS_FEATURE = X.assign(q=QUERY, minus=-QUERY + np.random.default_rng(0).random(len(Y)))


@pytest.mark.parametrize(
    ("order_by", "expected"), [(None, [16, 17, 18, 19]), ("minus", [0, 1, 2, 3])]
)
def test_validation_of_the_last_queries_by_id_or_order_by(order_by, expected):
    options = {"validation": "last", "validation_fraction": 0.2}
    assert hold_out(IDS_AS_FEATURE, order_by=order_by, **options) == expected


def test_validation_at_random_is_drawn_by_random_state():
    drawn = [hold_out(IDS_AS_FEATURE, validation_fraction=0.2, random_state=i) for i in (0, 0, 1)]
    assert len(drawn[0]) == 4
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] != [16, 17, 18, 19]


def test_validation_of_the_last_queries_holds_out_the_last_that_are_drawn():
    options = {"validation": "last", "validation_fraction": 0.2, "max_queries": 10}
    held_out = hold_out(IDS_AS_FEATURE, **options, random_state=1)
    drawn = sorted(Staged.queries["train"] + held_out)
    assert len(drawn) == 10
    assert held_out == drawn[-2:] != [18, 19]


OF_TEXT = {"early_stopping": True, "scoring": make_ndcg_scorer(), "validation": "last"}


def test_validation_of_the_last_queries_warns_of_the_order_of_text():
    ranker = GroupedRanker(Staged(), group_by=lambda X: "q" + X["q"].astype(str), **OF_TEXT)
    words = r"^validation='last' needs .* may not sort by time \('q0'.*order_by="
    with pytest.warns(UserWarning, match=words):
        ranker.fit(IDS_AS_FEATURE, Y)


@pytest.mark.parametrize(
    "change", [{"validation": "random"}, {"early_stopping": False}, {"order_by": "minus"}], ids=str
)
def test_the_order_of_text_matters_only_to_the_last_queries(change):
    options = {"group_by": lambda X: "q" + X["q"].astype(str), **OF_TEXT, **change}
    GroupedRanker(Staged(), **options).fit(IDS_AS_FEATURE, Y)
