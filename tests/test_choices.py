"""Choices are rows of tables: a new row works everywhere, and an unknown name is refused."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers import FirstColumn, graded_rows
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import (
    explain_difference,
    make_ndcg_scorer,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
)
from sklearn_ndcg._kernels.numpy_kernels import TieRule
from sklearn_ndcg._metrics.choices import DISCOUNTS, GAINS, TIES, UNDEFINED, UndefinedRule
from sklearn_ndcg.inference import (
    NDCGDisplay,
    compare_rankers,
    ndcg_by_segment,
    ndcg_interval,
)

mpl.use("agg")

X, Y, QUERY = graded_rows(30, lengths=(2, 12))
Y = np.where(QUERY % 7 == 3, 0, Y)  # some queries are undefined
SCORE = X["a"].round(0).to_numpy()  # with many ties


def frames_score(**options):
    pl = pytest.importorskip("polars")
    frames = pytest.importorskip("sklearn_ndcg.frames")
    table = pl.LazyFrame({"y": Y, "s": SCORE, "q": QUERY})
    return frames.ndcg_score(table, y_true="y", y_score="s", groups="q", **options)


def displayed(**options):
    display = NDCGDisplay.from_predictions(Y, SCORE, k=[99], groups=QUERY, **options)
    plt.close("all")
    return display.ndcg[0]


ENTRIES = {
    "score": lambda **o: ndcg_score(Y, SCORE, groups=QUERY, **o),
    "samples": lambda **o: np.nanmean(ndcg_samples(Y, SCORE, groups=QUERY, **o)),
    "curve": lambda **o: ndcg_curve(Y, SCORE, groups=QUERY, k=[99], **o)[1][0],
    "scorer": lambda **o: make_ndcg_scorer(**o)(FirstColumn(), np.c_[SCORE], Y, groups=QUERY),
    "interval": lambda **o: ndcg_interval(Y, SCORE, groups=QUERY, method="t", **o).mean,
    "comparison": lambda **o: compare_rankers(
        Y, {"a": SCORE, "b": -SCORE}, groups=QUERY, test="t", **o
    ).mean["a"],
    "explanation": lambda **o: explain_difference(Y, SCORE, "sklearn", o, groups=QUERY).ndcg[-1],
    "display": displayed,
    "segments": lambda **o: (
        ndcg_by_segment(Y, SCORE, groups=QUERY, segments=QUERY % 2, method="t", **o).overall.mean
    ),
    "frames": frames_score,
}
WARN = sorted(ENTRIES.keys() - {"explanation"})  # which does not warn


@pytest.mark.parametrize("entry", WARN)
def test_undefined_queries_are_0_with_one_warning_everywhere(entry):
    expected = ndcg_score(Y, SCORE, groups=QUERY, undefined=0.0)
    n_undefined = len(set(QUERY[QUERY % 7 == 3]))
    message = f"NDCG is undefined for {n_undefined} of 30 queries.*'omit' to leave them out"
    with pytest.warns(UndefinedMetricWarning, match=message) as caught:
        found = ENTRIES[entry]()
    assert [warning.filename for warning in caught] == [__file__]
    assert found == pytest.approx(expected, rel=1e-14)


NEW_ROWS = {  # of which table, its name, what is in it, and what means the same
    "ties": (TIES, "pessimistic", TieRule(by_gain=-1), "worst"),
    "gain": (GAINS, "square", np.square, np.square),
    "discount": (DISCOUNTS, "root", lambda ranks: ranks**-0.5, lambda ranks: ranks**-0.5),
    "undefined": (UNDEFINED, "one", UndefinedRule(1.0), 1.0),
}
# what becomes of the name of a rule, everywhere; gains and discounts are only called
ROWS_AND_ENTRIES = [
    *((option, entry) for option in ("ties", "undefined") for entry in ENTRIES),
    *((option, entry) for option in ("gain", "discount") for entry in ("score", "frames")),
]


@pytest.mark.filterwarnings("ignore:NDCG is undefined")
@pytest.mark.parametrize(("option", "entry"), ROWS_AND_ENTRIES)
def test_a_new_row_works_everywhere(entry, option, monkeypatch):
    table, name, row, same = NEW_ROWS[option]
    monkeypatch.setitem(table, name, row)
    found = ENTRIES[entry](**{option: name})
    assert found == pytest.approx(ENTRIES[entry](**{option: same}), rel=1e-14)
    assert found != pytest.approx(ENTRIES[entry](), rel=1e-9)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(("option", "value"), [("ties", "at random"), ("undefined", 1.32)])
def test_a_bad_choice_is_refused_everywhere(entry, option, value):
    with pytest.raises(ValueError, match=f"{option} must be one of .*; got {value!r}"):
        ENTRIES[entry](**{option: value})


@pytest.mark.parametrize("entry", ENTRIES)
def test_undefined_nan_means_omit_everywhere(entry):
    call = ENTRIES[entry]
    assert call(undefined=np.nan) == call(undefined="omit") != call(undefined=0.0)
