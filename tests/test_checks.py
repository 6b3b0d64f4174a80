"""Refusals and conversions; warnings point at the line of the user, from every entry."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers import graded_rows, matrices
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

import sklearn_ndcg as sn
from sklearn_ndcg import _checks, inference

UNDEFINED = "NDCG is undefined for"
SINGLE = "Each of the 3 queries has a single document"
FEW = "9 queries: intervals"

BY_ROW = {"y_true": [1, 2, 1], "y_score": [3, 2, 1], "groups": ["a", "b", "c"]}
NOTHING = {"y_true": [[0, 0]], "y_score": [[1, 2]]}
Y_FEW, S_FEW = matrices(9)
X_ROWS, GRADES, QUERY = graded_rows()
X_ROWS = X_ROWS.set_index(pd.Index(QUERY, name="query"))
GRADES[QUERY == 3] = 0  # a query without a relevant document
ROWS = (X_ROWS, GRADES)
FOLDS = {"cv": list(GroupKFold(3).split(X_ROWS, GRADES, QUERY))}
MODEL = Ridge().fit(*ROWS)
BY_QUERY = {"group_by": "query"}
RANKER = sn.GroupedRanker(Ridge(), **BY_QUERY)
SCORER = sn.make_ndcg_scorer(**BY_QUERY)
SEARCH = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=SCORER, n_jobs=1, **FOLDS)
TABLE = {"q": [1, 1, 2], "y": [0, 0, 1], "s": [1, 2, 3]}
COLUMNS = {"y_true": "y", "y_score": "s", "groups": "q"}


def frames():
    return pytest.importorskip("sklearn_ndcg.frames", reason="the extra `frames` is not installed")


def polars():
    return pytest.importorskip("polars")


def display():
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="`plot` is not installed")
    pyplot.switch_backend("agg")
    return sn.inference.NDCGDisplay


def quiet(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)


CALLS = {
    "ndcg_score": (lambda: sn.ndcg_score(**NOTHING), UNDEFINED),
    "ndcg_samples of single documents": (lambda: sn.ndcg_samples(**BY_ROW), SINGLE),
    "ndcg_curve of single documents": (lambda: sn.ndcg_curve(**BY_ROW), SINGLE),
    "scorer": (lambda: SCORER(MODEL, *ROWS), UNDEFINED),
    "cross_val_score": (
        lambda: cross_val_score(Ridge(), *ROWS, scoring=SCORER, **FOLDS),
        UNDEFINED,
    ),
    "GridSearchCV.fit": (lambda: SEARCH.fit(*ROWS), UNDEFINED),
    "GroupedRanker.score": (lambda: quiet(RANKER.fit, *ROWS).score(*ROWS), UNDEFINED),
    "GroupedRanker in a tool": (lambda: cross_val_score(RANKER, *ROWS, **FOLDS), UNDEFINED),
    "ndcg_interval of few queries": (lambda: inference.ndcg_interval(Y_FEW, S_FEW), FEW),
    "compare_rankers": (
        lambda: inference.compare_rankers(Y_FEW, {"a": S_FEW, "b": -S_FEW}),
        FEW,
    ),
    "from_predictions": (lambda: display().from_predictions(Y_FEW, S_FEW), FEW),
    "a table": (lambda: frames().ndcg_score(pd.DataFrame(TABLE), **COLUMNS), UNDEFINED),
    "a lazy table": (
        lambda: frames().ndcg_score(polars().LazyFrame(TABLE), **COLUMNS),
        UNDEFINED,
    ),
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS)
def test_a_warning_names_the_line_of_the_user(call, message):
    with pytest.warns(UserWarning, match=message) as caught:
        call()
    lines = {line for *_, line in call.__code__.co_lines()}
    assert {warning.filename for warning in caught} == {__file__}
    assert {warning.lineno for warning in caught if message in str(warning.message)} <= lines


# --- refusals and conversions


def test_a_mask_is_described_by_its_count_and_first_index():
    mask = np.array([[False, False], [False, True]])
    assert _checks.describe_mask(mask, "bad") == "1 bad, at index (1, 1)"
    assert _checks.describe_mask(np.array([0, 1, 1]) > 0, "bad") == "2 bad, the first at index 1"


@pytest.mark.parametrize(
    ("value", "is_integer", "is_number"),
    [
        (3, True, True),
        (np.uint8(3), True, True),
        (3.0, False, True),
        (Fraction(1, 3), False, True),
        (True, False, False),
        ("3", False, False),
        (1j, False, False),
    ],
)
def test_integers_and_numbers(value, is_integer, is_number):
    assert _checks.is_integer(value) == is_integer
    assert _checks.is_number(value) == is_number


@pytest.mark.parametrize(
    ("error", "rankers"),
    [(ValueError, [None]), (KeyError, "ab")],
    ids=["only ranker", "another error"],
)
def test_an_error_that_is_not_of_one_of_several_rankers_names_none(error, rankers):
    with pytest.raises(error) as caught, _checks.naming_ranker(rankers[-1], rankers):
        raise error("found")
    assert not hasattr(caught.value, "__notes__")


class OnDevice:
    """A tensor that requires grad, on a device that DLPack does not copy from."""

    def __init__(self, values, attached=True):
        self.values, self.attached = values, attached

    def detach(self):
        return OnDevice(self.values, attached=False)

    def __dlpack__(self, **options):
        raise BufferError

    def __dlpack_device__(self):
        return (2, 0)

    def cpu(self):
        assert not self.attached
        return np.array(self.values)


def test_arrays_of_any_device_become_numpy_arrays():
    array = np.arange(3)
    assert _checks.to_host(array) is array
    listed = [1, 2]
    assert _checks.to_host(listed) is listed
    assert _checks.to_host(OnDevice([1, 2])).tolist() == [1, 2]


def test_a_missing_library_is_named_with_its_requirement():
    with pytest.raises(ImportError, match=r'^x needs y: python -m pip install "y>=2"$') as caught:
        _checks.import_optional("no_such_library", "x needs y", "y>=2")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)
