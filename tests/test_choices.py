"""Choices are rows of tables: a new row works everywhere, and an unknown name is refused."""

import entries
import numpy as np
import pytest
from entries import NDCGS, Arrays
from helpers import graded_rows
from sklearn.exceptions import UndefinedMetricWarning

import sklearn_ndcg as sn

X, Y, QUERY = graded_rows(30, lengths=(2, 12))
Y = np.where(QUERY % 7 == 3, 0, Y)  # some queries are undefined
SCORE = X["a"].round(0).to_numpy()  # with many ties


def mean(entry, **options):
    return NDCGS[entry](Arrays(Y, SCORE, QUERY), **options)


# which do not warn: of one query, and of two measures
WARN = sorted(NDCGS.keys() - {"explain_query", "explain_difference"})


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


@pytest.mark.parametrize("entry", NDCGS)
@pytest.mark.parametrize(
    ("option", "value"), [("ties", "at random"), ("undefined", 1.32), ("undefined", np.nan)]
)
def test_a_bad_choice_is_refused_everywhere(entry, option, value):
    with pytest.raises(ValueError, match=f"{option} must be one of .*; got {value!r}"):
        mean(entry, **{option: value})
