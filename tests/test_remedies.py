"""What an error tells its reader to write, written there: it runs, and gives the right number.

Remedies that are tested beside the code of their message are not repeated here.
"""

import math
import re
import warnings
from collections import Counter, namedtuple
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import FirstColumn, Qid, booster, fit_alone, graded_rows, held_out_rows, matrices
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import BaggingRegressor
from sklearn.feature_selection import RFECV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    BaseCrossValidator,
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, OneClassSVM

from sklearn_ndcg import (
    GroupedRanker,
    QuerySplitter,
    dcg_score,
    explain_difference,
    explain_query,
    from_lists,
    from_trec,
    make_ndcg_scorer,
    make_query_scorer,
    ndcg_curve,
    ndcg_score,
    one_ranking,
    quantile_grades,
)
from sklearn_ndcg.inference import (
    NDCGDisplay,
    compare_models,
    compare_rankers,
    ndcg_by_segment,
    ndcg_interval,
)

Y, S = np.array([3, 0, 1, 0, 2, 1]), np.array([0.9, 0.8, 0.3, 0.5, 0.2, 0.4])
IDS = np.array([7, 7, 7, 8, 8, 9])
TRUTH = {"a": {"A": 3, "B": 1}, "b": {"C": 1}}
FIRST, SECOND = {"a": ["B", "A"], "b": ["C"]}, {"a": ["A", "B"], "b": ["D"]}
ROWS = from_lists(TRUTH, FIRST)
PER_QUERY = [(3 + 1 / 2) / (3 + 1 / np.log2(3)), 1 / np.log2(3), 1]  # the formula
RIGHT = np.mean(PER_QUERY)
GRADED = (1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3))  # of A and B in the other order
OF_FIRST = (GRADED + 1) / 2
NUMBERED = from_lists([*TRUTH.values()], [*FIRST.values()])
LISTS = pd.DataFrame({"query": ["a", "b"], "ids": [*FIRST.values()]})
SCORES = {"A": 0.1, "B": 0.9}
RUN_OF_FIRST = {"a": {"A": 0.1, "B": 0.9}, "b": {"C": 0.5}}
RANKED = pd.DataFrame({"query": "a", "id": ["B", "A"]})
TEXT = "B A"
RUN = pd.DataFrame({"query_id": "q", "doc_id": list("ABB"), "score": [0.1, 0.9, 0.5]})
JUDGED = pd.DataFrame({"query_id": "q", "doc_id": list("ABA"), "relevance": [3, 1, 3]})
X = pd.DataFrame({"f": S}, index=pd.Index(IDS, name="query"))
TABLE = X.assign(y=Y).reset_index()
WHOLE = [(np.flatnonzero(query != IDS), np.flatnonzero(query == IDS)) for query in (7, 8, 9)]
PROBABILITIES = (2 * np.eye(4) + np.eye(4)[::-1])[Y] / 3
WORDS = np.where(Y > 0, "good", "bad").tolist()
RETURNS = [0.3, -0.2, 0.1]
RANKERS = {"first": S, "second": -S}
SCORER = make_ndcg_scorer(group_by="query")
BY_QUERY = GroupedRanker(FirstColumn(), group_by="query")
SCALED, FIRST_COLUMN = make_pipeline(StandardScaler(), Ridge()), FirstColumn().fit(X, Y)
SHUFFLED = pd.Series(Y, list("abcdef")), pd.Series(S, list("abcdef")).sample(frac=1, random_state=0)
BY_CLASS = LogisticRegression().fit(S[:, np.newaxis], Y > 1)


class TwoTests(BaseCrossValidator):
    """A splitter that gives several test sets for each fold, as CombinatorialPurgedCV does."""

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1

    def split(self, X, y=None, groups=None):
        yield np.array([0]), [np.array([1]), np.array([2])]


def nested(values):
    return [list(values[query == IDS]) for query in np.unique(IDS)]


def ragged(y_true, y_score):
    return ndcg_score(
        np.concatenate(y_true),
        np.concatenate(y_score),
        groups=np.repeat(np.arange(len(y_true)), [len(row) for row in y_true]),
    )


def mean_of_comparison(rows, **options):
    return compare_rankers(rows, test="t", **options).mean["first"]


def of_list(ids, **options):
    return ndcg_score(from_lists({"a": {"A": 3, "B": 1}}, {"a": ids}, **options))


def of_truth(truth, **options):
    return ndcg_score(from_lists({"a": truth}, {"a": ["B", "A"]}, **options))


def of_run(sign):
    lines = [
        f"q{query} Q0 {document} {rank} {sign * score} tag\n"
        for query in range(9)
        for rank, (document, score) in enumerate([("A", 0.1), ("B", 0.2), ("C", 0.4)], 1)
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder, "run.txt")
        path.write_text("".join(lines), encoding="utf-8")
        return ndcg_score(from_trec({f"q{query}": {"A": 1} for query in range(9)}, path))


def arrow(values):
    return pytest.importorskip("pyarrow").array(values)


def polars():
    return pytest.importorskip("polars")


def of_table(table, **options):
    frames = pytest.importorskip("sklearn_ndcg.frames")
    return frames.ndcg_score(table, **{"y_true": "y", "y_score": "f", "groups": "query"} | options)


def of_file(library, reader):
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "rows.parquet"))
        polars().from_pandas(TABLE).write_parquet(path)
        return of_table(getattr(pytest.importorskip(library), reader)(path))


@cache  # DuckDB 1.3 closes a connection that only its relations hold
def database(preserves_order):
    connection = pytest.importorskip("duckdb").connect()
    connection.sql(f"set preserve_insertion_order = {preserves_order}")
    return connection


def relation(preserves_order=True):
    return database(preserves_order).from_arrow(polars().from_pandas(TABLE).to_arrow())


def with_ids(ids):
    return polars().DataFrame({"query": ids, "y": Y, "f": S})


def scores_of_folds(scorer, **options):
    return cross_validate(FirstColumn(), X, Y, scoring=scorer, cv=WHOLE, **options)["test_score"]


def routed(function, *args, **options):
    with sklearn.config_context(enable_metadata_routing=True):
        return function(*args, **options)


def weighted_score(params):
    scorer = make_ndcg_scorer(group_by="query").set_score_request(sample_weight=True)
    every = np.arange(len(Y))
    found = cross_validate(FirstColumn(), X, Y, scoring=scorer, cv=[(every, every)], params=params)
    return found["test_score"]


def calibrated():
    return CalibratedClassifierCV(LinearSVC(), cv=2).fit(pd.concat([X, X]), np.tile(Y, 2))


def mean_of_models(cv):
    models = {"first": FirstColumn(), "second": Ridge()}
    return compare_models(models, X, Y, scoring=SCORER, cv=cv, test="t").mean["first"]


def difference_from_xgboost(kind):
    X, y, query = graded_rows()
    order = np.argsort(query, kind="stable")
    model = booster("xgboost", kind, objective="rank:ndcg")
    ranker = GroupedRanker(model).fit(X.iloc[order], y[order], groups=query[order])
    alone = fit_alone(
        booster("xgboost", objective="rank:ndcg"), X.iloc[order], y[order], query[order]
    )
    return abs(ranker.predict(X) - alone.predict(X)).max()


def relevance_of_rank(y_true, y_score, k):
    return y_true[np.argsort(-y_score)[k - 1]]


class Sampler(BaseEstimator):
    """A step that draws rows, as those of imbalanced-learn do."""

    def fit_resample(self, X, y):
        return X[::2], y[::2]


def first_test_set(cv):
    ((_, test),) = QuerySplitter(cv, group_by="query").split(X, Y)
    return IDS[test].tolist()


def curve_of_folds(n):
    X, y, groups = np.arange(9.0)[:, np.newaxis], np.arange(9) % 3, np.arange(9) // 3
    folds = cross_validate(  # no fold has the last three rows
        Ridge(), X[:6], y[:6], cv=KFold(2), return_estimator=True, return_indices=True
    )
    return NDCGDisplay.from_cv_results(folds, X[:n], y[:n], groups=groups[:n]).k.tolist()


# a call that raises; what the message tells to write; this, written; what that gives
Remedy = namedtuple("Remedy", "call says follow right")
REMEDIES = {
    "ragged": Remedy(
        lambda: ndcg_score(nested(Y), nested(S)),
        "np.concatenate(y_true), np.concatenate(y_score) and groups=np.repeat(np.arange(len("
        "y_true)), [len(row) for row in y_true])",
        lambda: ragged(nested(Y), nested(S)),
        RIGHT,
    ),
    "no groups": Remedy(
        lambda: dcg_score([0, 2], [1, 2]),
        "[y_true], [y_score]",
        lambda: dcg_score([[0, 2]], [[1, 2]]),
        2,
    ),
    "one column": Remedy(
        lambda: ndcg_score(Y[:, np.newaxis], S[:, np.newaxis]),
        "ravel() both and pass groups=",
        lambda: ndcg_score(Y[:, np.newaxis].ravel(), S[:, np.newaxis].ravel(), groups=IDS),
        RIGHT,
    ),
    "classes": Remedy(
        lambda: ndcg_score(Y > 1, BY_CLASS.predict_proba(S[:, np.newaxis])),
        "np.asarray(y_true)[:, None] == classes_",
        lambda: ndcg_score(
            np.asarray(Y > 1)[:, None] == BY_CLASS.classes_,
            BY_CLASS.predict_proba(S[:, np.newaxis]),
        ),
        np.mean(np.where(BY_CLASS.predict(S[:, np.newaxis]) == (Y > 1), 1, 1 / np.log2(3))),
    ),
    "other order": Remedy(
        lambda: ndcg_score(*SHUFFLED, groups=IDS),
        "y_score.reindex(index=y_true.index)",
        lambda: ndcg_score(SHUFFLED[0], SHUFFLED[1].reindex(index=SHUFFLED[0].index), groups=IDS),
        RIGHT,
    ),
    "function of one value": Remedy(
        lambda: ndcg_score(Y, S, groups=IDS, gain=lambda grade: grade if grade else 0),
        "np.vectorize(function, otypes=[float])",
        lambda: ndcg_score(
            Y,
            S,
            groups=IDS,
            gain=np.vectorize(lambda grade: grade if grade else 0, otypes=[float]),
        ),
        RIGHT,
    ),
    "an iterator": Remedy(
        lambda: ndcg_score(iter(Y), S, groups=IDS),
        "Pass list() of an iterator",
        lambda: ndcg_score(list(iter(Y)), S, groups=IDS),
        RIGHT,
    ),
    "a lazy table": Remedy(
        lambda: ndcg_score(polars().from_pandas(TABLE).lazy(), S, groups=IDS),
        "and a lazy table to sklearn_ndcg.frames",
        lambda: of_table(polars().from_pandas(TABLE).lazy()),
        RIGHT,
    ),
    "function of one number": Remedy(
        lambda: ndcg_score(Y, S, groups=IDS, gain=math.sqrt),
        "Use functions of NumPy, such as np.sqrt",
        lambda: ndcg_score(Y, S, groups=IDS, gain=np.sqrt),
        np.mean([(3**0.5 + 1 / 2) / (3**0.5 + 1 / np.log2(3)), 1 / np.log2(3), 1]),
    ),
    "several cutoffs": Remedy(
        lambda: ndcg_score(Y, S, groups=IDS, k=[1, 2]),
        "For several cutoffs, ndcg_curve takes an array",
        lambda: ndcg_curve(Y, S, groups=IDS, k=[1, 2])[1],
        [2 / 3, np.mean([3 / (3 + 1 / np.log2(3)), 1 / np.log2(3), 1])],
    ),
    "several cutoffs of lists": Remedy(
        lambda: from_lists(TRUTH, FIRST, k=[1, 2]),
        "from_lists and from_trec the largest",
        lambda: ndcg_curve(from_lists(TRUTH, FIRST, k=2), k=[1, 2])[1],
        [(1 / 3 + 1) / 2, OF_FIRST],
    ),
    "one cutoff of a curve": Remedy(
        lambda: ndcg_curve(Y, S, groups=IDS, k=3),
        "for example k=[1, 5, 10]",
        lambda: ndcg_curve(Y, S, groups=IDS, k=[1, 5, 10])[1],
        [2 / 3, RIGHT, RIGHT],
    ),
    "masked": Remedy(
        lambda: ndcg_score(np.ma.array(Y, mask=Y == 0), S, groups=IDS),
        "Fill them",
        lambda: ndcg_score(np.ma.array(Y, mask=Y == 0).filled(0), S, groups=IDS),
        RIGHT,
    ),
    "another word": Remedy(
        lambda: ndcg_score(Y, S, qid=IDS),
        "Pass groups",
        lambda: ndcg_score(Y, S, groups=IDS),
        RIGHT,
    ),
    "an option with a slip": Remedy(
        lambda: ndcg_interval(Y, np.ones(6), groups=IDS, tie="worst", method="t"),
        "Did you mean ties?",
        lambda: ndcg_interval(Y, np.ones(6), groups=IDS, ties="worst", method="t").mean,
        np.mean([(1 / np.log2(3) + 3 / 2) / (3 + 1 / np.log2(3)), 1 / np.log2(3), 1]),
    ),
    "an argument among the options": Remedy(
        lambda: explain_difference(Y, S, {"groups": IDS}, "sklearn", groups=IDS),
        "Pass groups beside the options",
        lambda: explain_difference(Y, S, {}, "sklearn", groups=IDS).ndcg[0],
        RIGHT,
    ),
    "a base of no logarithm": Remedy(
        lambda: dcg_score([[0, 2]], [[2, 1]], log_base=3, discount="reciprocal"),
        "leave one of the two out",
        lambda: [
            dcg_score([[0, 2]], [[2, 1]], discount="reciprocal"),
            dcg_score([[0, 2]], [[2, 1]], log_base=3),
        ],
        [2 / 2, 2 / (np.log(1 + 2) / np.log(3))],
    ),
    "two rules for ties": Remedy(
        lambda: ndcg_score([[0, 1]], [[1, 1]], ties="best", ignore_ties=True),
        "leave one of the two out",
        lambda: [
            ndcg_score([[0, 1]], [[1, 1]], ties="best"),
            ndcg_score([[0, 1]], [[1, 1]], ignore_ties=True),
        ],
        [1, 1 / np.log2(3)],
    ),
    "ids as relevance": Remedy(
        lambda: ndcg_score(TRUTH, FIRST),
        "If these are ids, pass them as ndcg_score(from_lists(relevant, recommended, k=10))",
        lambda: ndcg_score(from_lists(TRUTH, FIRST, k=10)),
        OF_FIRST,
    ),
    "words as relevance": Remedy(
        lambda: ndcg_score(WORDS, S, groups=IDS),
        "words with a dict from word to grade",
        lambda: ndcg_score([{"bad": 0, "good": 3}[word] for word in WORDS], S, groups=IDS),
        np.mean([(1 + 1 / 2) / (1 + 1 / np.log2(3)), 1 / np.log2(3), 1]),
    ),
    "no groups, and several queries": Remedy(
        lambda: ndcg_score(Y, S),
        "groups= with one query id per row",
        lambda: ndcg_score(Y, S, groups=IDS),
        RIGHT,
    ),
    "no groups in a tool": Remedy(
        lambda: cross_validate(
            FirstColumn(), X, Y, scoring=make_scorer(ndcg_score), cv=WHOLE, error_score="raise"
        ),
        "In scikit-learn's tools, scoring=make_ndcg_scorer(...) finds the ids",
        lambda: scores_of_folds(make_ndcg_scorer(group_by="query")),
        PER_QUERY,
    ),
    "groups of queries in rows": Remedy(
        lambda: ndcg_score([[3, 0, 1]], [[3, 2, 1]], groups=[7]),
        "If each of its rows is a query, as with multilabel targets, leave groups out",
        lambda: ndcg_score([[3, 0, 1]], [[3, 2, 1]]),
        PER_QUERY[0],
    ),
    "a table that holds the target": Remedy(
        lambda: ndcg_score(pd.DataFrame({"y": Y, "f": S}), S, groups=IDS),
        "If it is a table that holds the target, pass that column",
        lambda: ndcg_score(pd.DataFrame({"y": Y, "f": S})["y"], S, groups=IDS),
        RIGHT,
    ),
    "probabilities": Remedy(
        lambda: ndcg_score(Y, PROBABILITIES, groups=IDS),
        "np.round(y_score @ gain, 10) with the gain of each of classes_ (np.unique(y))",
        lambda: ndcg_score(Y, np.round(PROBABILITIES @ np.unique(Y), 10), groups=IDS),
        # 3/4 of the grade from 0 to 3, and 1/4 of 3 minus it: the order of the grades
        1,
    ),
    "a ranking of two dimensions and one": Remedy(
        lambda: ndcg_score([Y[:3]], S[:3]),
        "A single ranking is [y_true], [y_score]",
        lambda: ndcg_score([Y[:3]], [S[:3]]),
        PER_QUERY[0],
    ),
    "scores of what was retrieved": Remedy(
        lambda: ndcg_score([[1, 0, 2]], [[1, 2]]),
        "what it did not retrieve scores -inf",
        lambda: ndcg_score([[1, 0, 2]], [[1, 2, -np.inf]]),
        1 / np.log2(3) / (2 + 1 / np.log2(3)),
    ),
    "NaN as score": Remedy(
        lambda: ndcg_score([[1, 0, 2]], [[1, 2, np.nan]]),
        "-inf if not retrieved",
        lambda: ndcg_score([[1, 0, 2]], [[1, 2, -np.inf]]),
        1 / np.log2(3) / (2 + 1 / np.log2(3)),
    ),
    "padded rows": Remedy(
        lambda: ndcg_score([[1, 0, 2], [0, 1, np.nan]], [[3, 2, 1], [1, 0, 0]]),
        "remove them (with scores of -inf if they pad rows to one length)",
        lambda: ndcg_score(
            [[1, 0, 2], [0, 1, np.nan]], [[3, 2, 1], [1, 0, -np.inf]], unjudged="omit"
        ),
        np.mean([(1 + 2 / 2) / (2 + 1 / np.log2(3)), 1 / np.log2(3)]),
    ),
    "joined judgements": Remedy(
        lambda: ndcg_score([np.nan, 3], [2, 1], groups=["a", "a"]),  # of A, B and X
        "lack the judged documents that were not returned, so their ideal is too low: pass both to "
        "from_lists",
        lambda: ndcg_score(from_lists({"a": {"A": 3, "B": 1}}, {"a": ["X", "A"]})),
        3 / np.log2(3) / (3 + 1 / np.log2(3)),
    ),
    "grades alone": Remedy(
        lambda: ndcg_score([3, 0, 1]),
        "explain_query also takes grades in ranked order",
        lambda: explain_query([3, 0, 1]).ndcg,
        PER_QUERY[0],
    ),
    "a text as names": Remedy(
        lambda: explain_query([3, 0, 1], ids="abc"),
        "pass a list",
        lambda: explain_query([3, 0, 1], ids=list("abc")).ndcg,
        PER_QUERY[0],
    ),
    "returns": Remedy(
        lambda: ndcg_score(RETURNS, S[:3], groups=IDS[:3]),
        "Make grades of a continuous target, such as returns, by quantile_grades",
        lambda: ndcg_score(
            quantile_grades(RETURNS, groups=IDS[:3], n_grades=3), S[:3], groups=IDS[:3]
        ),
        (2 + 1 / 2) / (2 + 1 / np.log2(3)),
    ),
    "returns that are missing": Remedy(
        lambda: quantile_grades([*RETURNS, np.nan], n_grades=3),
        "leave rows with NaN out",
        lambda: quantile_grades(RETURNS, n_grades=3),
        [2, 0, 1],
    ),
    "a sparse matrix": Remedy(
        lambda: ndcg_score(sparse.csr_array([[3, 0, 1]]), [[3, 2, 1]]),
        "toarray()",
        lambda: ndcg_score(sparse.csr_array([[3, 0, 1]]).toarray(), [[3, 2, 1]]),
        PER_QUERY[0],
    ),
    "segments left out": Remedy(
        lambda: ndcg_by_segment(Y, S, groups=IDS, segments=None),
        "pass one id per row, or several columns of ids",
        lambda: [
            *ndcg_by_segment(Y, S, groups=IDS, segments=IDS > 7, method="t").mean,
            *ndcg_by_segment(Y, S, groups=IDS, segments=[IDS > 7, IDS > 7], method="t").mean,
        ],
        [PER_QUERY[0], np.mean(PER_QUERY[1:])] * 2,
    ),
    "negative gains": Remedy(
        lambda: ndcg_score(RETURNS, S[:3], groups=IDS[:3]),
        "dcg_score takes negative gains",
        lambda: dcg_score(RETURNS, S[:3], groups=IDS[:3]),
        0.3 - 0.2 / np.log2(3) + 0.1 / 2,
    ),
    "large gains": Remedy(
        lambda: ndcg_score([[1e308, 1e308, 0]], [[3, 1, 2]], discount="none", k=2),
        "scale y_true down, or pass a gain that does",
        lambda: [
            ndcg_score([[1, 1, 0]], [[3, 1, 2]], discount="none", k=2),
            ndcg_score(
                [[1e308, 1e308, 0]], [[3, 1, 2]], gain=lambda y: y / 1e308, discount="none", k=2
            ),
        ],
        [1 / 2, 1 / 2],
    ),
    "large means": Remedy(
        lambda: dcg_score([[1.5e308, 0]] * 2, [[2, 1]] * 2),
        "sum over queries is more than a float64 holds: scale y_true down",
        lambda: dcg_score([[1.5, 0]] * 2, [[2, 1]] * 2),
        1.5,
    ),
    "undefined": Remedy(
        lambda: ndcg_score([1, 0], [1, 2], groups=[0, 1], undefined="raise"),
        "undefined='omit'",
        lambda: ndcg_score([1, 0], [1, 2], groups=[0, 1], undefined="omit"),
        1,
    ),
    "unjudged": Remedy(
        lambda: ndcg_score([[1, np.nan, 2]], [[1, 3, 2]]),
        "unjudged='omit'",
        lambda: ndcg_score([[1, np.nan, 2]], [[1, 3, 2]], unjudged="omit"),
        1,
    ),
    "no label": Remedy(
        lambda: ndcg_score([[1, -1, 2]], [[1, 3, 2]]),
        "pass NaN in its place, with unjudged='omit'",
        lambda: ndcg_score([[1, np.nan, 2]], [[1, 3, 2]], unjudged="omit"),
        1,
    ),
    "sets as ids": Remedy(
        lambda: ndcg_score([1, 0], [1, 2], groups=[frozenset("ab"), frozenset("ba")]),
        "tuple(sorted(id))",
        lambda: ndcg_score(
            [1, 0], [1, 2], groups=[tuple(sorted(each)) for each in map(frozenset, ("ab", "ba"))]
        ),
        1 / np.log2(3),
    ),
    "ids of two types": Remedy(
        lambda: ndcg_score([1, 0], [1, 2], groups=[1, "1"], undefined="omit"),
        "[str(id) for id in groups]",
        lambda: ndcg_score([1, 0], [1, 2], groups=[str(each) for each in [1, "1"]]),
        1 / np.log2(3),
    ),
    "a cluster for each query": Remedy(
        lambda: ndcg_interval(Y, S, groups=IDS, clusters=[0, 0, 1, 1, 1, 2], method="t"),
        "Give all rows of a query the same cluster, for example that of its first row",
        lambda: (
            ndcg_interval(
                Y,
                S,
                groups=IDS,
                clusters=pd.Series([0, 0, 1, 1, 1, 2]).groupby(IDS).transform("first"),
                method="t",
            ).mean
        ),
        RIGHT,
    ),
    "name of a column": Remedy(
        lambda: ndcg_score(TABLE["y"], TABLE["f"], groups="query"),
        "Pass the column itself, not its name",
        lambda: ndcg_score(TABLE["y"], TABLE["f"], groups=TABLE["query"]),
        RIGHT,
    ),
    "name of a level": Remedy(
        lambda: ndcg_score(Y, X["f"], groups="query"),
        "table.index.get_level_values('query')",
        lambda: ndcg_score(Y, X["f"], groups=X.index.get_level_values("query")),
        RIGHT,
    ),
    "another level": Remedy(
        lambda: ndcg_score(pd.Series(Y, X.index), S, groups="user"),
        "the index levels ['query']. Pass the column itself, not its name, or one of these levels",
        lambda: ndcg_score(pd.Series(Y, X.index), S, groups="query"),
        RIGHT,
    ),
    "lists as ids": Remedy(
        lambda: ndcg_score(Y[:3], S[:3], groups=pd.Series([[7, 1]] * 3)),
        "Convert lists to tuples or text",
        lambda: ndcg_score(Y[:3], S[:3], groups=pd.Series([[7, 1]] * 3).map(tuple)),
        PER_QUERY[0],
    ),
    "ids of all rows in a metric": Remedy(
        lambda: cross_validate(
            FirstColumn(),
            X,
            Y,
            scoring=make_scorer(ndcg_score, groups=IDS),
            cv=WHOLE,
            error_score="raise",
        ),
        "pass make_ndcg_scorer(group_by=...) instead, which finds those of each fold in X",
        lambda: scores_of_folds(make_ndcg_scorer(group_by="query")),
        PER_QUERY,
    ),
    "missing ids": Remedy(
        lambda: ndcg_score(Y, S, groups=pd.Series(IDS).where(IDS < 9)),
        "Fill in missing ids, or leave their rows out",
        lambda: [
            ndcg_score(Y, S, groups=pd.Series(IDS).where(IDS < 9).fillna(9)),
            ndcg_score(Y[:5], S[:5], groups=pd.Series(IDS).where(IDS < 9)[:5]),
        ],
        [RIGHT, np.mean(PER_QUERY[:2])],
    ),
    "rounded ids": Remedy(
        lambda: ndcg_score(Y, S, groups=IDS + 2.0**53),
        "Keep them integers where they are read; in pandas the dtype Int64 also holds missing ids",
        lambda: ndcg_score(Y, S, groups=pd.Series(IDS + 2**53, dtype="Int64")),
        RIGHT,
    ),
    "large floats that are ids": Remedy(
        lambda: ndcg_score(Y, S, groups=IDS * 2.0**60),
        "If these are the ids, pass them as text",
        lambda: ndcg_score(Y, S, groups=(IDS * 2.0**60).astype(str)),
        RIGHT,
    ),
    "rows of several rankers, all": Remedy(
        lambda: ndcg_score(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})),
        "compare_rankers and NDCGDisplay.from_predictions take all",
        lambda: mean_of_comparison(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})),
        OF_FIRST,
    ),
    "groups beside rows": Remedy(
        lambda: ndcg_score(ROWS, groups=ROWS.groups),
        "groups must be left out",
        lambda: ndcg_score(ROWS),
        OF_FIRST,
    ),
    "a curve of whole lists": Remedy(
        lambda: ndcg_curve(from_lists(TRUTH, FIRST, k="retrieved")),
        "read the lists without it, or with an int",
        lambda: [
            *ndcg_curve(from_lists(TRUTH, FIRST))[1],
            *ndcg_curve(from_lists(TRUTH, FIRST, k=2))[1],
        ],
        [(1 / 3 + 1) / 2, OF_FIRST] * 2,
    ),
    "rows of several rankers": Remedy(
        lambda: ndcg_score(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})),
        "rows['first']",
        lambda: ndcg_score(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})["first"]),
        OF_FIRST,
    ),
    "no lists": Remedy(
        lambda: from_lists(TRUTH),
        "pass recommended of one ranker, or rankers={name: recommended} of several",
        lambda: [
            ndcg_score(from_lists(TRUTH, FIRST)),
            ndcg_score(from_lists(TRUTH, rankers={"first": FIRST})),
        ],
        [OF_FIRST, OF_FIRST],
    ),
    "queries without a list": Remedy(
        lambda: from_lists([*TRUTH.values()], [["B", "A"]]),
        "Pass mappings, or Series that have the queries as their index, where some queries have no "
        "list",
        lambda: [
            ndcg_score(from_lists(TRUTH, {"a": ["B", "A"]})),
            ndcg_score(from_lists(pd.Series(TRUTH), pd.Series({"a": ["B", "A"]}))),
        ],
        [GRADED / 2, GRADED / 2],
    ),
    "rows by number": Remedy(
        lambda: from_lists(TRUTH, LISTS["ids"]),
        "A Series is a mapping if it has the queries as its index, table.set_index('query')['ids']",
        lambda: ndcg_score(from_lists(TRUTH, LISTS.set_index("query")["ids"])),
        OF_FIRST,
    ),
    "one query by its name": Remedy(
        lambda: from_lists({"a": {"A": 3, "B": 1}}, ["B", "A"]),
        "For one query pass its truth and its list, without the query",
        lambda: ndcg_score(from_lists({"A": 3, "B": 1}, ["B", "A"])),
        GRADED,
    ),
    "scores of one query": Remedy(
        lambda: from_lists({"A": 3, "B": 1}, SCORES),
        "For a dict of scores pass sorted(scores, key=scores.get, reverse=True)",
        lambda: ndcg_score(
            from_lists({"A": 3, "B": 1}, sorted(SCORES, key=SCORES.get, reverse=True))
        ),
        GRADED,
    ),
    "scores by query": Remedy(
        lambda: of_list(SCORES),
        "For a dict of scores pass sorted(scores, key=scores.get, reverse=True)",
        lambda: of_list(sorted(SCORES, key=SCORES.get, reverse=True)),
        GRADED,
    ),
    "lists and truths swapped": Remedy(
        lambda: from_lists({"a": ["B", "A"]}, {"a": {"A", "B"}}),
        "are relevant and recommended swapped?",
        lambda: ndcg_score(from_lists({"a": {"A", "B"}}, {"a": ["B", "A"]})),
        1,
    ),
    "lists of several rankers": Remedy(
        lambda: from_lists({"a": TRUTH["a"]}, {"first": FIRST}),
        "Pass the lists of several rankers as rankers={name: lists}",
        lambda: mean_of_comparison(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})),
        OF_FIRST,
    ),
    "a column as a list": Remedy(
        lambda: of_list(pd.Series(["B", "A"])),
        ".tolist() of a column of ids",
        lambda: of_list(pd.Series(["B", "A"]).tolist()),
        GRADED,
    ),
    "a Series of scores as a list": Remedy(
        lambda: of_list(pd.Series(SCORES)),
        ".index.tolist() of a Series of sorted scores",
        lambda: of_list(pd.Series(SCORES).sort_values(ascending=False).index.tolist()),
        GRADED,
    ),
    "an array of two dimensions as a list": Remedy(
        lambda: of_list(np.array([["B", "A"]])),
        ".ravel() of an array",
        lambda: of_list(np.array([["B", "A"]]).ravel()),
        GRADED,
    ),
    "an iterator as a list": Remedy(
        lambda: of_list(iter(["B", "A"])),
        "list() of another iterable",
        lambda: of_list(list(iter(["B", "A"]))),
        GRADED,
    ),
    "a text as a list": Remedy(
        lambda: of_list(TEXT),
        "A text is not a list: split it, or pass [text] if it is one id",
        lambda: [of_list(TEXT.split()), of_list(["A"])],
        [GRADED, 3 / (3 + 1 / np.log2(3))],
    ),
    "an empty cell as a list": Remedy(
        lambda: of_list(np.nan), "If it is an empty cell, pass []", lambda: of_list([]), 0
    ),
    "an empty cell as a truth": Remedy(
        lambda: from_lists({"a": {"A"}, "b": np.nan}, {"a": ["A"], "b": ["B"]}),
        "If it is an empty cell, pass []",
        lambda: ndcg_score(
            from_lists({"a": {"A"}, "b": []}, {"a": ["A"], "b": ["B"]}), undefined=0
        ),
        1 / 2,
    ),
    "a column as a truth": Remedy(
        lambda: of_truth(pd.Series(["A", "B"])),
        ".tolist() of a column of ids",
        lambda: of_truth(pd.Series(["A", "B"]).tolist()),
        1,
    ),
    "grades in a Series": Remedy(
        lambda: of_truth(pd.Series({"A": 3, "B": 1})),
        ".to_dict() of a Series of grades whose index has each id once",
        lambda: of_truth(pd.Series({"A": 3, "B": 1}).to_dict()),
        GRADED,
    ),
    "grades in a table": Remedy(
        lambda: of_truth(pd.DataFrame({"id": ["A", "B"], "grade": [3, 1]})),
        "dict(zip(ids, grades)) of two columns",
        lambda: of_truth(dict(zip(["A", "B"], [3, 1], strict=True))),
        GRADED,
    ),
    "an array of two dimensions as a truth": Remedy(
        lambda: of_truth(np.array([["A"]])),
        ".ravel() of an array",
        lambda: of_truth(np.array([["A"]]).ravel()),
        1 / np.log2(3),
    ),
    "an iterator as a truth": Remedy(
        lambda: of_truth(iter(["A"])),
        "list() of another iterable",
        lambda: of_truth(list(iter(["A"]))),
        1 / np.log2(3),
    ),
    "one list too many": Remedy(
        lambda: of_list([["B", "A"]]),
        "pass ids[0] in place of ids for each query",
        lambda: of_list([["B", "A"]][0]),
        GRADED,
    ),
    "pages of a list": Remedy(
        lambda: of_list([["B"], ["A"]]),
        "Pass hashable ids, in one flat list per query",
        lambda: of_list(["B", "A"]),
        GRADED,
    ),
    "an id twice in a list": Remedy(
        lambda: of_list(["B", "B", "A"]),
        'Pass duplicates="omit" to remove repeats, so that later ids move up, or "zero" to keep '
        "them at their ranks, with a gain of 0",
        lambda: [of_list(["B", "B", "A"], duplicates=way) for way in ("omit", "zero")],
        [GRADED, (1 + 3 / 2) / (3 + 1 / np.log2(3))],
    ),
    "an id twice in a truth": Remedy(
        lambda: of_truth(["A", "B", "A"]),
        'Pass duplicates="omit" to count each id once, or Counter(ids) to grade by count',
        lambda: [of_truth(["A", "B", "A"], duplicates="omit"), of_truth(Counter(["A", "B", "A"]))],
        [1, (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))],
    ),
    "scalars of Arrow as ids": Remedy(
        lambda: of_list(list(arrow(["B", "A"]))),
        "pass tolist() of what they were taken from",
        lambda: of_list(arrow(["B", "A"]).tolist()),
        GRADED,
    ),
    "lists in an iterator": Remedy(
        lambda: from_lists([*TRUTH.values()], iter(FIRST.values())),
        "list() or dict() of an iterator",
        lambda: [
            ndcg_score(from_lists([*TRUTH.values()], list(iter(FIRST.values())))),
            ndcg_score(from_lists(TRUTH, dict(iter(FIRST.items())))),
        ],
        [OF_FIRST, OF_FIRST],
    ),
    "a path as lists": Remedy(
        lambda: from_lists(TRUTH, Path("run.txt")), "Paths go to from_trec", lambda: of_run(-1), 1
    ),
    "row numbers as ids": Remedy(
        lambda: from_lists({"a": {"A": 3, "B": 1}}, RANKED.groupby("query").groups),
        "Pass table.groupby('query')['id'].agg(list)",
        lambda: ndcg_score(
            from_lists({"a": {"A": 3, "B": 1}}, RANKED.groupby("query")["id"].agg(list))
        ),
        GRADED,
    ),
    "a mask as ids": Remedy(
        lambda: of_list(np.array([True, False, True])),
        "If they are a mask, pass the ids that it selects",
        lambda: of_list(np.array(["B", "C", "A"])[np.array([True, False, True])]),
        GRADED,
    ),
    "a missing id in a list": Remedy(
        lambda: of_list(["B", "A", None]),
        "leave missing ids out",
        lambda: of_list(["B", "A"]),
        GRADED,
    ),
    "the row of a matrix": Remedy(
        lambda: from_lists([np.array([0, 1, 0, 1])], [[3, 0, 1]]),
        "pass np.flatnonzero(row)",
        lambda: ndcg_score(from_lists([np.flatnonzero([0, 1, 0, 1])], [[3, 0, 1]])),
        (1 + 1 / 2) / (1 + 1 / np.log2(3)),
    ),
    "None as a grade": Remedy(
        lambda: of_truth({"A": 3, "B": 1, "C": None}),
        "leave out what nobody judged, or pass nan",
        lambda: [of_truth({"A": 3, "B": 1}), of_truth({"A": 3, "B": 1, "C": np.nan})],
        [GRADED, GRADED],
    ),
    "grades that are words": Remedy(
        lambda: of_truth({"A": "good", "B": "fair"}),
        "convert text to numbers, words with a dict from word to grade",
        lambda: of_truth(
            {"A": {"good": 3, "fair": 1}["good"], "B": {"good": 3, "fair": 1}["fair"]}
        ),
        GRADED,
    ),
    "numbers and text as ids": Remedy(
        lambda: from_lists({"a": {1: 3, 2: 1}}, {"a": ["2", "1"]}),
        "Convert one of them",
        lambda: ndcg_score(from_lists({"a": {1: 3, 2: 1}}, {"a": list(map(int, ["2", "1"]))})),
        GRADED,
    ),
    "a list as weights of queries": Remedy(
        lambda: ndcg_score(ROWS, sample_weight=[1, 3]),
        "sample_weight must be a mapping from query to its value",
        lambda: ndcg_score(ROWS, sample_weight={"a": 1, "b": 3}),
        (GRADED + 3) / 4,
    ),
    "several columns of clusters": Remedy(
        lambda: ndcg_interval(NUMBERED, clusters=pd.DataFrame({"u": [1, 1], "v": [1, 2]})),
        "in a mapping, a Series, a list or a 1-D array, got DataFrame. Several columns are tuples",
        lambda: ndcg_interval(NUMBERED, clusters=[(1, 1), (1, 2)], method="t").mean,
        OF_FIRST,
    ),
    "several runs": Remedy(
        lambda: from_trec({"q": {"a": 1}}, {"bm25": {"q": {"a": 1.0}}}),
        "Pass several runs as from_trec(qrels, runs={name: run})",
        lambda: ndcg_score(from_trec({"q": {"a": 1}}, runs={"bm25": {"q": {"a": 1.0}}})["bm25"]),
        1,
    ),
    "a document twice in a run": Remedy(
        lambda: from_trec({"q": {"A": 3, "B": 1}}, RUN),
        'Pass duplicates="omit" to remove its lower scores, so that later ids move up, or "zero" '
        "to keep them at their ranks, with a gain of 0",
        lambda: [
            ndcg_score(from_trec({"q": {"A": 3, "B": 1}}, RUN, duplicates=way))
            for way in ("omit", "zero")
        ],
        [GRADED, (1 + 3 / 2) / (3 + 1 / np.log2(3))],
    ),
    "a document twice in judgements": Remedy(
        lambda: from_trec(JUDGED, {"q": {"B": 2, "A": 1}}),
        'Pass duplicates="omit" to count it once',
        lambda: ndcg_score(from_trec(JUDGED, {"q": {"B": 2, "A": 1}}, duplicates="omit")),
        GRADED,
    ),
    "a document judged in two ways": Remedy(
        lambda: from_trec(JUDGED.assign(relevance=[3, 1, 2]), {"q": {"B": 2, "A": 1}}),
        "with the relevance 3 and 2: keep one",
        lambda: ndcg_score(
            from_trec(JUDGED.assign(relevance=[3, 1, 2])[:2], {"q": {"B": 2, "A": 1}})
        ),
        GRADED,
    ),
    "nan as a judgement": Remedy(
        lambda: from_trec({"q": {"A": 3, "B": 1, "C": np.nan}}, {"q": {"B": 2, "A": 1}}),
        "leave out what nobody judged",
        lambda: ndcg_score(from_trec({"q": {"A": 3, "B": 1}}, {"q": {"B": 2, "A": 1}})),
        GRADED,
    ),
    "rankers without names": Remedy(
        lambda: from_lists(TRUTH, rankers=[FIRST, SECOND]),
        "rankers={name: recommended}",
        lambda: mean_of_comparison(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})),
        OF_FIRST,
    ),
    "rows one by one": Remedy(
        lambda: compare_rankers({"first": ROWS, "second": from_lists(TRUTH, SECOND)}),
        "from_lists(relevant, rankers={name: lists}), or from_trec(qrels, runs={name: run})",
        lambda: [
            mean_of_comparison(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})),
            mean_of_comparison(from_trec(TRUTH, runs={"first": RUN_OF_FIRST, "second": TRUTH})),
        ],
        [OF_FIRST] * 2,
    ),
    "k beyond the lists": Remedy(
        lambda: ndcg_score(from_lists(TRUTH, FIRST, k=1), k=2),
        "from_lists(..., k=2), or without k",
        lambda: [ndcg_score(from_lists(TRUTH, FIRST, k=2)), ndcg_score(ROWS, k=2)],
        [OF_FIRST] * 2,
    ),
    "unjudged too late": Remedy(
        lambda: ndcg_score(from_lists({"a": {"A": 1}}, {"a": ["B", "A"]}), unjudged="omit"),
        "Pass it to from_lists or from_trec",
        lambda: ndcg_score(from_lists({"a": {"A": 1}}, {"a": ["B", "A"]}, unjudged="omit")),
        1,
    ),
    "ids that are not text": Remedy(
        lambda: from_trec({1: {2: 1}}, {1: {2: 0.5}}),
        "str()",
        lambda: ndcg_score(from_trec({str(1): {str(2): 1}}, {str(1): {str(2): 0.5}})),
        1,
    ),
    "which query": Remedy(
        lambda: explain_query(Y, S, groups=IDS),
        "pass query= one of the 3 ids, 7, 8, 9",
        lambda: explain_query(Y, S, groups=IDS, query=8).ndcg,
        1 / np.log2(3),
    ),
    "margin": Remedy(
        lambda: compare_rankers([Y], {"old": [S], "new": [Y]}, margin=0.1),
        "pass baseline=, the ranker that the others are compared with, one of ['old', 'new']",
        lambda: (
            compare_rankers(
                np.tile(Y, (20, 1)),
                {"old": np.tile(S, (20, 1)), "new": np.tile(Y, (20, 1))},
                margin=0.1,
                baseline="old",
                test="t",
            ).verdict
        ),
        ["better"],
    ),
    "scorer without groups": Remedy(
        lambda: make_ndcg_scorer()(Ridge().fit(X, Y), X, Y),
        "Pass group_by: a column of X, a level of its pandas index",
        lambda: make_ndcg_scorer(group_by="query", response_method=lambda _, X: X["f"])(
            Ridge().fit(X, Y), X, Y
        ),
        RIGHT,
    ),
    "scorer of one ranking": Remedy(
        lambda: make_ndcg_scorer()(FirstColumn(), X[:3], Y[:3]),
        "If all rows are one ranking, group_by=one_ranking",
        lambda: make_ndcg_scorer(group_by=one_ranking)(FirstColumn(), X[:3], Y[:3]),
        PER_QUERY[0],
    ),
    "scorer in a tool that routes": Remedy(
        lambda: make_ndcg_scorer()(FirstColumn(), X, Y),
        "with metadata routing on (sklearn.set_config(enable_metadata_routing=True)), pass groups "
        "to the tool, if it routes them",
        lambda: routed(scores_of_folds, make_ndcg_scorer(), params={"groups": IDS}),
        PER_QUERY,
    ),
    "scorer with another word for groups": Remedy(
        lambda: make_ndcg_scorer(qid="query"),
        "Pass group_by",
        lambda: scores_of_folds(make_ndcg_scorer(group_by="query")),
        PER_QUERY,
    ),
    "scorer with groups": Remedy(
        lambda: make_ndcg_scorer(groups=IDS),
        "Pass group_by, which says where in X the ids are, or pass groups to the tool, with "
        "metadata routing on",
        lambda: [
            *scores_of_folds(make_ndcg_scorer(group_by="query")),
            *routed(scores_of_folds, make_ndcg_scorer(), params={"groups": IDS}),
        ],
        PER_QUERY * 2,
    ),
    "scorer with weights": Remedy(
        lambda: make_ndcg_scorer(sample_weight=[1, 1, 1, 3, 3, 2]),
        "With metadata routing on, call set_score_request(sample_weight=True) of the scorer, and "
        'pass params={"sample_weight": weights} to the tool',
        lambda: routed(weighted_score, {"sample_weight": [1, 1, 1, 3, 3, 2]}),
        np.average(PER_QUERY, weights=[1, 3, 2]),
    ),
    "scorer by values": Remedy(
        lambda: make_ndcg_scorer(group_by=IDS),
        "Pass ids themselves as groups, or put them in X or its index",
        lambda: [
            make_ndcg_scorer()(FirstColumn(), X, Y, groups=IDS),
            make_ndcg_scorer(group_by="query")(
                FirstColumn(), X.assign(query=IDS).reset_index(drop=True), Y
            ),
            make_ndcg_scorer(group_by="query")(FirstColumn(), X, Y),
        ],
        [RIGHT] * 3,
    ),
    "scorer of a function of all queries": Remedy(
        lambda: make_query_scorer(ndcg_score),
        "use make_ndcg_scorer",
        lambda: make_ndcg_scorer(group_by="query")(FirstColumn(), X, Y),
        RIGHT,
    ),
    "outliers": Remedy(
        lambda: make_ndcg_scorer(group_by="query")(OneClassSVM().fit(X), X, Y),
        "Pass response_method='score_samples'",
        lambda: make_ndcg_scorer(group_by="query", response_method="score_samples")(
            OneClassSVM().fit(X), X, Y
        ),
        ndcg_score(Y, OneClassSVM().fit(X).score_samples(X), groups=IDS),
    ),
    "classes without probabilities": Remedy(
        lambda: make_ndcg_scorer(group_by="query")(LinearSVC().fit(X, Y), X, Y),
        "Use CalibratedClassifierCV, or pass response_method='predict'",
        lambda: [
            make_ndcg_scorer(group_by="query")(calibrated(), X, Y),
            make_ndcg_scorer(group_by="query", response_method="predict")(
                LinearSVC().fit(X, Y), X, Y
            ),
        ],
        [
            ndcg_score(Y, np.round(calibrated().predict_proba(X) @ np.unique(Y), 10), groups=IDS),
            ndcg_score(Y, LinearSVC().fit(X, Y).predict(X), groups=IDS),
        ],
    ),
    "classes that are words": Remedy(
        lambda: make_ndcg_scorer(group_by="query")(
            LogisticRegression().fit(X, np.where(Y > 1, "yes", "no")), X, Y
        ),
        "Encode y as grades, or choose the scores with response_method",
        lambda: [
            make_ndcg_scorer(group_by="query")(LogisticRegression().fit(X, Y > 1), X, Y),
            make_ndcg_scorer(group_by="query", response_method="decision_function")(
                LogisticRegression().fit(X, np.where(Y > 1, "yes", "no")), X, Y
            ),
        ],
        [RIGHT, RIGHT],  # of one feature, which is larger where the grade is above 1
    ),
    "names that a step drops": Remedy(
        lambda: make_pipeline(StandardScaler(), BY_QUERY).fit(X, Y),
        'put GroupedRanker around the Pipeline or call its set_output(transform="pandas"). '
        "Otherwise put the values in the index of y, too, a pandas Series",
        lambda: [
            GroupedRanker(make_pipeline(StandardScaler(), FirstColumn()), group_by="query")
            .fit(X, Y)
            .score(X, Y),
            make_pipeline(StandardScaler(), BY_QUERY)
            .set_output(transform="pandas")
            .fit(X, Y)
            .score(X, Y),
            make_pipeline(StandardScaler(), BY_QUERY)
            .fit(X, pd.Series(Y, X.index))
            .score(X, pd.Series(Y, X.index)),
        ],
        [RIGHT] * 3,
    ),
    "names in a tool of arrays": Remedy(
        lambda: RFECV(Ridge(), scoring=make_ndcg_scorer(group_by="query"), cv=WHOLE).fit(
            X.assign(g=0.0), pd.Series(Y, X.index)
        ),
        "with metadata routing on, pass groups, not group_by, to a tool that routes them",
        lambda: routed(
            RFECV(Ridge(), scoring=make_ndcg_scorer(), cv=WHOLE).fit,
            X.assign(g=0.0),
            Y,
            groups=IDS,
        ).cv_results_["mean_test_score"][1],
        np.mean(
            [
                ndcg_score(
                    Y[test],
                    Ridge().fit(X.iloc[train], Y[train]).predict(X.iloc[test]),
                    groups=IDS[test],
                )
                for train, test in WHOLE
            ]
        ),
    ),
    "weights that fit does not take": Remedy(
        lambda: GroupedRanker(KNeighborsRegressor(1)).fit(X, Y, [1, 1, 1, 3, 3, 2], groups=IDS),
        "fit does not take weights: leave it out",
        lambda: GroupedRanker(KNeighborsRegressor(1)).fit(X, Y, groups=IDS).score(X, Y, groups=IDS),
        1,
    ),
    "weights of a tool": Remedy(
        lambda: BaggingRegressor(GroupedRanker(KNeighborsRegressor(1)), 2).fit(X, Y),
        "AdaBoost, BaggingRegressor and others pass weights to their estimator: put GroupedRanker "
        "around them",
        lambda: (
            GroupedRanker(BaggingRegressor(KNeighborsRegressor(1), 2, random_state=0))
            .fit(X, Y, groups=IDS)
            .predict(X)
        ),
        BaggingRegressor(KNeighborsRegressor(1), 2, random_state=0).fit(X, Y).predict(X),
    ),
    "groups in the words of the library": Remedy(
        lambda: GroupedRanker(Qid()).fit(X, Y, qid=IDS),
        "Instead of qid, group_id and group pass groups=, one id per row",
        lambda: GroupedRanker(Qid()).fit(X, Y, groups=IDS).estimator_.given_["qid"],
        [0, 0, 0, 1, 1, 2],
    ),
    "groups as sizes": Remedy(
        lambda: GroupedRanker(Qid()).fit(X, Y, group=[3, 2, 1]),
        "of sizes np.repeat(np.arange(len(sizes)), sizes)), or group_by, which says where in X",
        lambda: [
            *GroupedRanker(Qid())
            .fit(X, Y, groups=np.repeat(np.arange(3), [3, 2, 1]))
            .estimator_.given_["qid"],
            *GroupedRanker(Qid(), group_by="query").fit(X, Y).estimator_.given_["qid"],
        ],
        [0, 0, 0, 1, 1, 2] * 2,
    ),
    "groups in a search": Remedy(
        lambda: GridSearchCV(GroupedRanker(Qid()), {}, cv=2, error_score="raise").fit(X, Y),
        "A search passes groups on with sklearn.set_config(enable_metadata_routing=True)",
        lambda: (
            routed(
                GridSearchCV(GroupedRanker(Qid()), {}, cv=WHOLE, scoring=make_ndcg_scorer()).fit,
                X,
                Y,
                groups=IDS,
            ).best_score_
        ),
        RIGHT,
    ),
    "groups in a Pipeline": Remedy(
        lambda: make_pipeline(GroupedRanker(Qid())).fit(X, Y),
        "a Pipeline as groupedranker__groups=",
        lambda: (
            make_pipeline(GroupedRanker(Qid()))
            .fit(X, Y, groupedranker__groups=IDS)[-1]
            .estimator_.given_["qid"]
        ),
        [0, 0, 0, 1, 1, 2],
    ),
    "groups twice": Remedy(
        lambda: GroupedRanker(Qid()).fit(X, Y, groups=IDS, qid=IDS),
        "qid is set by GroupedRanker from groups and weights: leave it out",
        lambda: GroupedRanker(Qid()).fit(X, Y, groups=IDS).estimator_.given_["qid"],
        [0, 0, 0, 1, 1, 2],
    ),
    "groups of a ranker inside": Remedy(
        lambda: GroupedRanker(TransformedTargetRegressor(Qid()), group_by="query").fit(X, Y),
        "put GroupedRanker(Qid(), group_by='query') in its place",
        lambda: (
            TransformedTargetRegressor(GroupedRanker(Qid(), group_by="query"))
            .fit(X, Y)
            .regressor_.estimator_.given_["qid"]
        ),
        [0, 0, 0, 1, 1, 2],
    ),
    "a step that draws rows": Remedy(
        lambda: GroupedRanker(make_pipeline(Sampler(), Qid())).fit(X, Y, groups=IDS),
        "max_queries draws whole ones",
        lambda: (
            GroupedRanker(Qid(), max_queries=2, random_state=0)
            .fit(X, Y, groups=np.repeat([7, 8, 9], 2))
            .estimator_.given_["qid"]
        ),
        [0, 0, 1, 1],
    ),
    "coefficients behind steps": Remedy(
        lambda: GroupedRanker(SCALED, group_by="query").fit(X, Y).coef_,
        "read `ranker.estimator_[-1].coef_`",
        lambda: GroupedRanker(SCALED, group_by="query").fit(X, Y).estimator_[-1].coef_,
        np.sum((S - S.mean()) * Y) / S.std() / (6 + 1),  # of features of variance 1, and alpha
    ),
    "an attribute of the model": Remedy(
        lambda: GroupedRanker(Ridge(), group_by="query").fit(X, Y).intercept_,
        "it is one of the fitted estimator, ranker.estimator_.intercept_",
        lambda: GroupedRanker(Ridge(alpha=0), group_by="query").fit(X, Y).estimator_.intercept_,
        np.polyfit(S, Y, 1)[1],
    ),
    "features in one dimension": Remedy(
        lambda: GroupedRanker(FirstColumn()).fit(X.to_numpy(), Y, groups=IDS).predict(S),
        "Reshape your data to one row per document",
        lambda: (
            GroupedRanker(FirstColumn()).fit(X.to_numpy(), Y, groups=IDS).predict(S.reshape(-1, 1))
        ),
        S,
    ),
    "rows as dicts": Remedy(
        lambda: BY_QUERY.fit(TABLE[["f", "query"]], Y).predict(TABLE.to_dict("records")),
        "Of dicts, one for each row, pass pandas.DataFrame(rows)",
        lambda: BY_QUERY.fit(TABLE[["f", "query"]], Y).predict(
            pd.DataFrame(TABLE.to_dict("records"))
        ),
        S,
    ),
    "rows as dicts, of an array": Remedy(
        lambda: GroupedRanker(FirstColumn()).fit(X, Y, groups=IDS).predict(X.to_dict("records")),
        "Of dicts, one for each row, pass pandas.DataFrame(rows)",
        lambda: (
            GroupedRanker(FirstColumn())
            .fit(X, Y, groups=IDS)
            .predict(pd.DataFrame(X.to_dict("records")))
        ),
        S,
    ),
    "too few queries to hold out": Remedy(
        lambda: held_out_rows(X, Y, IDS, validation_fraction=0.9),
        "leave none to train on: pass more queries, or a smaller validation_fraction",
        lambda: [
            rows.index.nunique() for rows in held_out_rows(X, Y, IDS, validation_fraction=0.4)
        ],
        [2, 1],
    ),
    "splits by number": Remedy(
        lambda: GroupedRanker(LassoCV(cv=list(KFold(2).split(X))), max_queries=9).fit(
            X, Y, groups=IDS
        ),
        "Pass a splitter as cv",
        lambda: GroupedRanker(LassoCV(cv=KFold(2)), max_queries=9).fit(X, Y, groups=IDS).predict(X),
        LassoCV(cv=KFold(2)).fit(X, Y).predict(X),
    ),
    "a ranking objective": Remedy(
        lambda: difference_from_xgboost("Regressor"),
        "XGBRanker(objective='rank:ndcg')",
        lambda: difference_from_xgboost("Ranker"),
        0,
    ),
    "frozen": Remedy(
        lambda: GroupedRanker(FrozenEstimator(FIRST_COLUMN), early_stopping=True).fit(
            X, Y, groups=IDS
        ),
        "Freeze nothing that is to be fitted, or leave out early_stopping",
        lambda: GroupedRanker(FrozenEstimator(FIRST_COLUMN)).fit(X, Y, groups=IDS).predict(X),
        S,
    ),
    "splitter without groups": Remedy(
        lambda: list(QuerySplitter(3).split(X, Y)),
        "Pass groups, one id per row, to the tool, or group_by, which says where in X they are",
        lambda: [
            *cross_validate(FirstColumn(), X, Y, groups=IDS, scoring=SCORER, cv=QuerySplitter(3))[
                "test_score"
            ],
            *cross_validate(
                FirstColumn(), X, Y, scoring=SCORER, cv=QuerySplitter(3, group_by="query")
            )["test_score"],
        ],
        PER_QUERY * 2,
    ),
    "a query in two test sets": Remedy(
        lambda: mean_of_models(RepeatedKFold(n_splits=3, n_repeats=2)),
        "Call compare_models for each repeat of a repeated splitter, and wrap one that cuts "
        "queries in QuerySplitter",
        lambda: mean_of_models(QuerySplitter(KFold(3), group_by="query")),
        RIGHT,
    ),
    "folds without models": Remedy(
        lambda: NDCGDisplay.from_cv_results(
            cross_validate(FirstColumn(), X, Y, scoring=SCORER, cv=WHOLE), X, Y, group_by="query"
        ),
        "call cross_validate with return_estimator=True and return_indices=True",
        lambda: NDCGDisplay.from_cv_results(
            cross_validate(
                FirstColumn(),
                X,
                Y,
                scoring=SCORER,
                cv=WHOLE,
                return_estimator=True,
                return_indices=True,
            ),
            X,
            Y,
            group_by="query",
        ).ndcg[:, -1],
        PER_QUERY,
    ),
    "rows of one ranker": Remedy(
        lambda: compare_rankers(ROWS),
        "pass rankers={name: lists} to from_lists or runs={name: run} to from_trec. For one ranker "
        "call ndcg_interval(rows)",
        lambda: [
            mean_of_comparison(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})),
            mean_of_comparison(from_trec(TRUTH, runs={"first": RUN_OF_FIRST, "second": TRUTH})),
            ndcg_interval(ROWS, method="t").mean,
        ],
        [OF_FIRST] * 3,
    ),
    "a lazy table of rankers": Remedy(
        lambda: compare_rankers(Y, polars().LazyFrame(RANKERS), groups=IDS),
        "collect() it first",
        lambda: compare_rankers(
            Y, polars().LazyFrame(RANKERS).collect(), groups=IDS, test="t"
        ).mean["first"],
        RIGHT,
    ),
    "a metric by its name": Remedy(
        lambda: ndcg_interval(Y, S, groups=IDS, metric="ndcg"),
        "For NDCG pass None",
        lambda: ndcg_interval(Y, S, groups=IDS, metric=None, method="t").mean,
        RIGHT,
    ),
    "options of a metric": Remedy(
        lambda: ndcg_interval(Y, S, groups=IDS, metric=relevance_of_rank, k=2),
        "bind the options of a metric by functools.partial",
        lambda: (
            ndcg_interval(
                Y[:5], S[:5], groups=IDS[:5], metric=partial(relevance_of_rank, k=2), method="t"
            ).mean
        ),
        (0 + 2) / 2,
    ),
    "few resamples": Remedy(
        lambda: ndcg_interval(*matrices(30), n_resamples=2, random_state=1),
        "n_resamples is too small for method='BCa': take more, or method='t'",
        lambda: [
            ndcg_interval(*matrices(30), random_state=1).mean,
            ndcg_interval(*matrices(30), method="t").mean,
        ],
        [ndcg_score(*matrices(30))] * 2,
    ),
    "clusterer": Remedy(
        lambda: make_ndcg_scorer(group_by="query")(KMeans(1).fit(X), X, Y),
        "response_method=lambda model, X: -model.transform(X).min(axis=1)",
        lambda: make_ndcg_scorer(
            group_by="query", response_method=lambda model, X: -model.transform(X).min(axis=1)
        )(KMeans(1).fit(X), X, Y),
        ndcg_score(Y, -abs(S - S.mean()), groups=IDS),
    ),
    "iterator of splits": Remedy(
        lambda: first_test_set(iter([([0, 1], [2])])),
        "list(cv)",
        lambda: first_test_set(list(iter([([0, 1], [2])]))),
        [9],
    ),
    "several test sets": Remedy(
        lambda: first_test_set(TwoTests()),
        "[(train, np.concatenate(sets)) for train, sets in cv.split(np.zeros((3, 1)))]",
        lambda: first_test_set(
            [(train, np.concatenate(sets)) for train, sets in TwoTests().split(np.zeros((3, 1)))]
        ),
        [8, 8, 9],
    ),
    "another word in a table": Remedy(
        lambda: of_table(TABLE.rename(columns={"f": "s"}), y_score="s", group_by="query"),
        "Pass groups",
        lambda: of_table(TABLE.rename(columns={"f": "s"}), y_score="s", groups="query"),
        RIGHT,
    ),
    "an array as a table": Remedy(
        lambda: of_table(TABLE.to_numpy()),
        "For arrays use sklearn_ndcg.ndcg_score",
        lambda: ndcg_score(Y, S, groups=IDS),
        RIGHT,
    ),
    "a file as a table": Remedy(
        lambda: of_table("rows.parquet"),
        "read a Parquet file with polars.scan_parquet(path) or duckdb.read_parquet(path)",
        lambda: [of_file("polars", "scan_parquet"), of_file("duckdb", "read_parquet")],
        [RIGHT, RIGHT],
    ),
    "an order that a table lacks": Remedy(
        lambda: of_table(relation(preserves_order=False), ties="stable"),
        "Pass ties='average' or use Polars or DuckDB (preserve_insertion_order=true)",
        lambda: [
            of_table(relation(preserves_order=False), ties="average"),
            of_table(relation(preserves_order=True), ties="stable"),
            of_table(polars().from_pandas(TABLE), ties="stable"),
        ],
        [RIGHT] * 3,
    ),
    "lists as ids of a table": Remedy(
        lambda: of_table(with_ids([[7, 1]] * 3 + [[8, 1]] * 2 + [[9, 1]])),
        "Convert lists to tuples or text",
        lambda: of_table(with_ids([f"{query}, 1" for query in IDS])),
        RIGHT,
    ),
    "a struct as ids of a table": Remedy(
        lambda: of_table(with_ids([{"day": 1, "user": query} for query in IDS.tolist()])),
        "pass a struct as one column for each of its fields",
        lambda: of_table(
            with_ids([{"day": 1, "user": query} for query in IDS.tolist()]).unnest("query"),
            groups=["day", "user"],
        ),
        RIGHT,
    ),
    "ids of 128 bits": Remedy(
        lambda: of_table(relation().project("query::hugeint as query, y, f")),
        "cast the column, for example to Int64",
        lambda: of_table(
            relation()
            .project("query::hugeint as query, y, f")
            .project("query::bigint as query, y, f")
        ),
        RIGHT,
    ),
    "missing ids of a table": Remedy(
        lambda: of_table(with_ids([*IDS[:5].tolist(), None])),
        "Leave their rows out, or give each an id",
        lambda: [
            of_table(with_ids([*IDS[:5].tolist(), None]).drop_nulls("query")),
            of_table(with_ids([*IDS[:5].tolist(), None]).fill_null(9)),
        ],
        [np.mean(PER_QUERY[:2]), RIGHT],
    ),
    "rows of no fold": Remedy(
        lambda: curve_of_folds(9),
        "leave them out of all arguments: X[:6]",
        lambda: curve_of_folds(6),
        [1, 2, 3],
    ),
}


@pytest.mark.filterwarnings(
    "ignore:.*queries:UserWarning", "ignore:.*rows:UserWarning", "ignore:.*segments:UserWarning"
)
@pytest.mark.parametrize("name", REMEDIES)
def test_what_an_error_tells_to_write_gives_the_right_number(name):
    remedy = REMEDIES[name]
    with pytest.raises((ValueError, TypeError, AttributeError), match=re.escape(remedy.says)):
        remedy.call()
    assert remedy.follow() == pytest.approx(remedy.right)


# --- warnings


def folds(cv, scorer=SCORER, rows=X, **options):
    return cross_validate(FirstColumn(), rows, Y, scoring=scorer, cv=cv, **options)["test_score"]


def days_of_tests(**options):
    cv = QuerySplitter(TimeSeriesSplit(2), group_by="id", **options)
    return [DAYS["day"].iloc[test].dt.day.unique()[0] for _, test in cv.split(DAYS)]


def of_features(model, rows=TABLE[["f", "query"]]):
    return SCORER(model.fit(rows, Y), rows, Y)


class Unnamed:
    """Has probabilities, and does not say of which classes, as some models outside scikit-learn."""

    def predict(self, X):
        return X["f"]

    def predict_proba(self, X):
        return np.c_[1 - X, X]


USERS = [f"u{number:02}" for number in range(20)]


def mean_of_few(**options):
    rankers = {
        "first": {user: ["x", "a"] for user in USERS},
        "second": {user: ["a"] for user in USERS[:12]},
    }
    rows = from_lists({user: ["a"] for user in USERS}, rankers=rankers, **options)
    return compare_rankers(rows, test="t").mean["first"]


def mean_of_12_queries(**options):
    """As of four times the three queries, the last without a relevant document."""
    ids = np.add.outer(10 * np.arange(4), IDS).ravel()
    X = pd.DataFrame({"f": np.tile(S, 4)}, index=pd.Index(ids, name="query"))
    models = {"first": FirstColumn(), "second": Ridge()}
    options = {"scoring": make_ndcg_scorer(group_by="query", **options), "test": "t"}
    cv = QuerySplitter(3, group_by="query")
    return compare_models(models, X, np.tile(Y, 4) * (ids < 39), cv=cv, **options).mean["first"]


DAYS = pd.DataFrame({
    "id": ["9", "10", "11"], "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"])
})  # fmt: skip
WEEKS = X.assign(week=[1, 1, 1, 2, 2, 2], user=[1, 1, 2, 2, 2, 1])
OF_WEEKS = [(np.arange(3), np.arange(3, 6)), (np.arange(3, 6), np.arange(3))]
# the same of a call that warns; with what the message tells to write, nothing does
OF_WARNINGS = {
    "undefined": Remedy(
        lambda: ndcg_score([[1, 0], [0, 0]], [[1, 2]] * 2),
        "Pass undefined=0.0, for models to the scorer, to keep that, another number, or 'omit' to "
        "leave them out",
        lambda: [
            ndcg_score([[1, 0], [0, 0]], [[1, 2]] * 2, undefined=value)
            for value in (0.0, 1, "omit")
        ],
        [1 / np.log2(3) / 2, (1 / np.log2(3) + 1) / 2, 1 / np.log2(3)],
    ),
    "undefined for a model": Remedy(
        lambda: BY_QUERY.fit(X, Y).score(X, Y * (IDS < 9)),
        "Pass undefined=0.0, for models to the scorer, to keep that, another number",
        lambda: [
            make_ndcg_scorer(group_by="query", undefined=value)(
                BY_QUERY.fit(X, Y), X, Y * (IDS < 9)
            )
            for value in (0.0, 1, "omit")
        ],
        [np.mean([*PER_QUERY[:2], value]) for value in (0, 1)] + [np.mean(PER_QUERY[:2])],
    ),
    "undefined in a comparison of models": Remedy(
        mean_of_12_queries,
        "Pass undefined=0.0, for models to the scorer, to keep that, another number",
        lambda: mean_of_12_queries(undefined=0.0),
        (RIGHT * 12 - PER_QUERY[2]) / 12,
    ),
    "an id for each row": Remedy(
        lambda: ndcg_score(Y, S, groups=range(6), undefined=0),
        "All rows of a query must have the same id in groups",
        lambda: ndcg_score(Y, S, groups=IDS, undefined=0),
        RIGHT,
    ),
    "a row of each query": Remedy(
        lambda: folds(KFold(3)),
        "If they have, a tool has cut the queries: QuerySplitter keeps them whole",
        lambda: folds(QuerySplitter(KFold(3), group_by="query")),
        PER_QUERY,
    ),
    "relevance as groups": Remedy(
        lambda: ndcg_score(Y, S, groups=Y, undefined=0),
        "groups must have the query id of each row, not its relevance",
        lambda: ndcg_score(Y, S, groups=IDS, undefined=0),
        RIGHT,
    ),
    "ids that do not sort by time": Remedy(
        days_of_tests,
        "Pass order_by= a column or index level of dates or numbers",
        lambda: days_of_tests(order_by="day"),
        [2, 3],
    ),
    "cut queries": Remedy(
        lambda: folds(KFold(3)),
        "Split whole queries, with QuerySplitter around any splitter, or with GroupKFold",
        lambda: [
            *folds(QuerySplitter(KFold(3), group_by="query")),
            *np.sort(folds(GroupKFold(3), groups=IDS)),
        ],
        [*PER_QUERY, *sorted(PER_QUERY)],
    ),
    "rankings of a week": Remedy(
        lambda: folds(OF_WEEKS, make_ndcg_scorer(group_by="user", undefined=0), WEEKS),
        'name the finer ids: group_by=["week", "user"]',
        lambda: folds(OF_WEEKS, make_ndcg_scorer(group_by=["week", "user"], undefined=0), WEEKS),
        # in the order of scores: 0, 2 and 1; 3, 0 and 1
        [(1 / np.log2(3) + 1) / 2, (1 + 1) / 2],
    ),
    "ids as a feature": Remedy(
        lambda: of_features(Ridge()),
        "Move it to an index level, drop it in a Pipeline, or put GroupedRanker around these",
        lambda: [
            of_features(Ridge(), X),
            of_features(make_pipeline(make_column_transformer(("passthrough", ["f"])), Ridge())),
            of_features(GroupedRanker(Ridge(), group_by="query")),
        ],
        [RIGHT] * 3,
    ),
    "probabilities of what": Remedy(
        lambda: SCORER(Unnamed(), X, Y),
        "Pass response_method: 'predict', or a callable, such as lambda model, X: "
        "model.predict_proba(X)[:, 1]",
        lambda: [
            make_ndcg_scorer(group_by="query", response_method=method)(Unnamed(), X, Y)
            for method in ("predict", lambda model, X: model.predict_proba(X)[:, 1])
        ],
        [RIGHT, RIGHT],
    ),
    "a fold of undefined queries": Remedy(
        lambda: make_ndcg_scorer(group_by="query", undefined="omit")(FirstColumn(), X, 0 * Y),
        "or undefined=0",
        lambda: make_ndcg_scorer(group_by="query", undefined=0)(FirstColumn(), X, 0 * Y),
        0,
    ),
    "queries that a run was not asked": Remedy(
        lambda: from_trec({query: {"A": 1} for query in USERS}, {"u00": {"B": 2, "A": 1}}),
        "If it was not asked all of them, pass unanswered='omit'",
        lambda: ndcg_score(
            from_trec(
                {query: {"A": 1} for query in USERS}, {"u00": {"B": 2, "A": 1}}, unanswered="omit"
            )
        ),
        1 / np.log2(3),
    ),
    "queries that a ranker was not asked": Remedy(
        mean_of_few,
        "If it was not asked all of them, pass unanswered='omit'",
        lambda: mean_of_few(unanswered="omit"),
        1 / np.log2(3),
    ),
    "ids of two kinds": Remedy(
        lambda: from_lists([[f"d{i}"] for i in range(10)], [[f"doc {i}"] for i in range(10)]),
        "Use the same ids in both",
        lambda: ndcg_score(from_lists([[i] for i in range(10)], [[i] for i in range(10)])),
        1,
    ),
    "distances": Remedy(
        lambda: of_run(1), "If the scores are distances, write -score", lambda: of_run(-1), 1
    ),
}


@pytest.mark.parametrize("name", OF_WARNINGS)
def test_what_a_warning_tells_to_write_gives_the_right_number(name):
    remedy = OF_WARNINGS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        remedy.call()
    assert any(remedy.says in str(warning.message) for warning in caught), caught
    assert remedy.follow() == pytest.approx(remedy.right)
