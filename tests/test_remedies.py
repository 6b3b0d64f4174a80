"""What an error tells its reader to write, written there: it runs, and gives the right number.

Remedies that are tested beside the code of their message are not repeated here.
"""

import re
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import BaseCrossValidator, KFold, cross_validate

from sklearn_ndcg import (
    QuerySplitter,
    dcg_score,
    explain_query,
    from_lists,
    from_trec,
    make_ndcg_scorer,
    ndcg_score,
)
from sklearn_ndcg.inference import NDCGDisplay, compare_rankers, ndcg_interval

Y, S = np.array([3, 0, 1, 0, 2, 1]), np.array([0.9, 0.8, 0.3, 0.5, 0.2, 0.4])
IDS = np.array([7, 7, 7, 8, 8, 9])
RIGHT = np.mean([  # the formula
    (3 + 1 / 2) / (3 + 1 / np.log2(3)),
    1 / np.log2(3),
    1,
])  # fmt: skip
TRUTH = {"a": {"A": 3, "B": 1}, "b": {"C": 1}}
FIRST, SECOND = {"a": ["B", "A"], "b": ["C"]}, {"a": ["A", "B"], "b": ["D"]}
ROWS = from_lists(TRUTH, FIRST)
OF_FIRST = np.mean([(1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)), 1])
X = pd.DataFrame({"f": S}, index=pd.Index(IDS, name="query"))
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
        "np.vectorize(function)",
        lambda: ndcg_score(
            Y, S, groups=IDS, gain=np.vectorize(lambda grade: grade if grade else 0)
        ),
        RIGHT,
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
    "query in two clusters": Remedy(
        lambda: ndcg_interval(Y, S, groups=IDS, clusters=[0, 0, 1, 1, 1, 2], method="t"),
        "groups=[groups, clusters]",
        lambda: (
            ndcg_interval(
                Y, S, groups=[IDS, [0, 0, 1, 1, 1, 2]], clusters=[0, 0, 1, 1, 1, 2], method="t"
            ).n_queries
        ),
        4,
    ),
    "rows of several rankers": Remedy(
        lambda: ndcg_score(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})),
        "rows['first']",
        lambda: ndcg_score(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})["first"]),
        OF_FIRST,
    ),
    "rankers without names": Remedy(
        lambda: from_lists(TRUTH, rankers=[FIRST, SECOND]),
        "rankers={name: recommended}",
        lambda: mean_of_comparison(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})),
        OF_FIRST,
    ),
    "rows one by one": Remedy(
        lambda: compare_rankers({"first": ROWS, "second": from_lists(TRUTH, SECOND)}),
        "from_lists(relevant, rankers={name: lists})",
        lambda: mean_of_comparison(from_lists(TRUTH, rankers={"first": FIRST, "second": SECOND})),
        OF_FIRST,
    ),
    "k beyond the lists": Remedy(
        lambda: ndcg_score(from_lists(TRUTH, FIRST, k=1), k=2),
        "from_lists(..., k=2)",
        lambda: ndcg_score(from_lists(TRUTH, FIRST, k=2)),
        OF_FIRST,
    ),
    "unjudged too late": Remedy(
        lambda: ndcg_score(from_lists({"a": {"A": 1}}, {"a": ["B", "A"]}), unjudged="omit"),
        "Pass it to from_lists",
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
    "rows of no fold": Remedy(
        lambda: curve_of_folds(9), "pass X[:6] and y[:6]", lambda: curve_of_folds(6), [1, 2, 3]
    ),
}


@pytest.mark.filterwarnings("ignore:.*queries:UserWarning", "ignore:.*rows:UserWarning")
@pytest.mark.parametrize("name", REMEDIES)
def test_what_an_error_tells_to_write_gives_the_right_number(name):
    remedy = REMEDIES[name]
    with pytest.raises((ValueError, TypeError), match=re.escape(remedy.says)):
        remedy.call()
    assert remedy.follow() == pytest.approx(remedy.right)
