"""Choices are rows of tables: a new row works everywhere, and an unknown name is refused."""

import entries
import numpy as np
import pytest
from entries import MEANS
from helpers import graded_rows
from sklearn.exceptions import UndefinedMetricWarning

import sklearn_ndcg as sn
from sklearn_ndcg._kernels.numpy_kernels import TieRule
from sklearn_ndcg._metrics.choices import DISCOUNTS, GAINS, TIES, UNDEFINED, UndefinedRule

X, Y, QUERY = graded_rows(30, lengths=(2, 12))
Y = np.where(QUERY % 7 == 3, 0, Y)  # some queries are undefined
SCORE = X["a"].round(0).to_numpy()  # with many ties


def mean(entry, **options):
    return MEANS[entry](Y, SCORE, groups=QUERY, **options)


WARN = sorted(MEANS.keys() - {"explain_difference"})  # which does not warn


@pytest.mark.parametrize("entry", WARN)
def test_undefined_queries_are_0_with_one_warning_everywhere(entry):
    expected = sn.ndcg_score(Y, SCORE, groups=QUERY, undefined=0.0)
    n_undefined = len(set(QUERY[QUERY % 7 == 3]))
    message = f"NDCG is undefined for {n_undefined} of 30 queries.*'omit' to leave them out"
    with pytest.warns(UndefinedMetricWarning, match=message) as caught:
        found = mean(entry)
    [warning] = caught
    assert warning.filename in {__file__, entries.__file__}
    assert found == pytest.approx(expected, rel=1e-14)


NEW_ROWS = {  # of which table, its name, what is in it, and what means the same
    "ties": (TIES, "pessimistic", TieRule(by_gain=-1), "worst"),
    "gain": (GAINS, "square", np.square, np.square),
    "discount": (DISCOUNTS, "root", lambda ranks: ranks**-0.5, lambda ranks: ranks**-0.5),
    "undefined": (UNDEFINED, "one", UndefinedRule(1.0), 1.0),
}
# what becomes of the name of a rule, everywhere; gains and discounts are only called
ROWS_AND_ENTRIES = [
    *((option, entry) for option in ("ties", "undefined") for entry in MEANS),
    *(
        (option, entry)
        for option in ("gain", "discount")
        for entry in ("ndcg_score", "frames.ndcg_score")
    ),
]


@pytest.mark.filterwarnings("ignore:NDCG is undefined")
@pytest.mark.parametrize(("option", "entry"), ROWS_AND_ENTRIES)
def test_a_new_row_works_everywhere(entry, option, monkeypatch):
    table, name, row, same = NEW_ROWS[option]
    monkeypatch.setitem(table, name, row)
    found = mean(entry, **{option: name})
    assert found == pytest.approx(mean(entry, **{option: same}), rel=1e-14)
    assert found != pytest.approx(mean(entry), rel=1e-9)


@pytest.mark.parametrize("entry", MEANS)
@pytest.mark.parametrize(("option", "value"), [("ties", "at random"), ("undefined", 1.32)])
def test_a_bad_choice_is_refused_everywhere(entry, option, value):
    with pytest.raises(ValueError, match=f"{option} must be one of .*; got {value!r}"):
        mean(entry, **{option: value})


@pytest.mark.parametrize("entry", MEANS)
def test_undefined_nan_means_omit_everywhere(entry):
    found = [mean(entry, undefined=undefined) for undefined in (np.nan, "omit", 0.0)]
    assert found[0] == found[1] != found[2]
