"""Choices are rows of tables: a new row works everywhere, and an unknown name is refused."""

from typing import NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers import FirstColumn, graded_rows
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import (
    CONVENTIONS,
    explain_difference,
    from_lists,
    from_trec,
    make_ndcg_scorer,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
)
from sklearn_ndcg._kernels.numpy_kernels import TieRule
from sklearn_ndcg._metrics.choices import DISCOUNTS, GAINS, TIES, UNDEFINED, UndefinedRule
from sklearn_ndcg._metrics.measure import NDCG
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
    "samples": lambda **o: ndcg_samples(Y, SCORE, groups=QUERY, **o).mean(),
    "curve": lambda **o: ndcg_curve(Y, SCORE, groups=QUERY, k=[99], **o)[1][0],
    "scorer": lambda **o: make_ndcg_scorer(**o)(FirstColumn(), np.c_[SCORE], Y, groups=QUERY),
    "interval": lambda **o: ndcg_interval(Y, SCORE, groups=QUERY, method="t", **o).mean,
    "comparison": lambda **o: compare_rankers(
        Y, {"a": SCORE, "b": -SCORE}, groups=QUERY, test="t", **o
    ).mean["a"],
    "explanation": lambda **o: explain_difference(Y, SCORE, "sklearn", o, groups=QUERY).ndcg[-1],
    "display": displayed,
    "frames": frames_score,
}  # fmt: skip
WARN = sorted(ENTRIES.keys() - {"explanation"})  # which does not warn
DISTINCT = np.argsort(np.argsort(SCORE, kind="stable")) * 1.0
BY_QUERY = {
    f"q{query:02}": {f"d{row}": row for row in np.flatnonzero(query == QUERY)}
    for query in np.unique(QUERY)
}
QRELS = {q: {d: int(Y[row]) for d, row in rows.items()} for q, rows in BY_QUERY.items()}
RUN = {q: {d: DISTINCT[row] for d, row in rows.items()} for q, rows in BY_QUERY.items()}
LISTS = {q: sorted(scores, key=scores.get, reverse=True) for q, scores in RUN.items()}
# other functions of the same rows, without ties
OTHERS = {
    "segments": lambda **o: ndcg_by_segment(
        Y, DISTINCT, groups=QUERY, segments=QUERY % 2, method="t", **o
    ).overall.mean,
    "lists": lambda **o: ndcg_score(from_lists(QRELS, LISTS), **o),
    "runs": lambda **o: ndcg_score(from_trec(QRELS, RUN), **o),
    "comparison of lists": lambda **o: compare_rankers(
        from_lists(QRELS, rankers={"a": LISTS, "b": LISTS}), test="t", **o
    ).mean["a"],
    "comparison of runs": lambda **o: compare_rankers(
        from_trec(QRELS, runs={"a": RUN, "b": RUN}), test="t", **o
    ).mean["b"],
    "without ties": lambda **o: ndcg_score(Y, DISTINCT, groups=QUERY, **o),
}  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"k": 3, "gain": "exponential"}, {"discount": "none"}])
@pytest.mark.parametrize("entry", [*WARN, *OTHERS])
def test_undefined_queries_are_0_with_one_warning_everywhere(entry, options):
    score = DISTINCT if entry in OTHERS else SCORE
    if entry in ("curve", "display"):  # which take cutoffs instead
        options = {name: value for name, value in options.items() if name != "k"}
    expected = ndcg_score(Y, score, groups=QUERY, undefined=0.0, **options)
    n, message = len(set(QUERY)), "NDCG is undefined for {} of {} queries.*'omit' to leave them out"
    n_undefined = len(set(QUERY[QUERY % 7 == 3]))
    with pytest.warns(UndefinedMetricWarning, match=message.format(n_undefined, n)) as caught:
        found = (ENTRIES | OTHERS)[entry](**options)
    assert [warning.filename for warning in caught] == [__file__]
    assert found == pytest.approx(expected, rel=1e-14)


NEW_ROWS = {  # of which table, its name, what is in it, and what means the same
    "ties": (TIES, "pessimistic", TieRule(by_gain=-1), "worst"),
    "gain": (GAINS, "square", lambda relevance: relevance**2, np.square),
    "discount": (DISCOUNTS, "root", lambda ranks: ranks**-0.5, lambda ranks: ranks**-0.5),
    "undefined": (UNDEFINED, "one", UndefinedRule(1.0), 1.0),
}


@pytest.mark.filterwarnings("ignore:NDCG is undefined")
@pytest.mark.parametrize("option", NEW_ROWS)
@pytest.mark.parametrize("entry", ENTRIES)
def test_a_new_row_works_everywhere(entry, option, monkeypatch):
    table, name, row, same = NEW_ROWS[option]
    monkeypatch.setitem(table, name, row)
    found = ENTRIES[entry](**{option: name})
    assert found == pytest.approx(ENTRIES[entry](**{option: same}), rel=1e-14)
    assert found != pytest.approx(ENTRIES[entry](), rel=1e-9)


@pytest.mark.parametrize("entry", WARN)
def test_a_new_row_of_undefined_warns_once_everywhere(entry, monkeypatch):
    monkeypatch.setitem(UNDEFINED, "one", UndefinedRule(1.0, warns=True))
    with pytest.warns(UndefinedMetricWarning, match="is set to 1.0 there") as caught:
        ENTRIES[entry](undefined="one")
    assert len(caught) == 1


def test_a_new_row_of_ties_works_in_both_kernels(kernels, monkeypatch):
    monkeypatch.setitem(TIES, "pessimistic", TieRule(by_gain=-1))
    found = ENTRIES["score"](ties="pessimistic", undefined=0)
    assert found == pytest.approx(ENTRIES["score"](ties="worst", undefined=0), rel=1e-14)


def test_a_new_convention_is_explained_by_its_name(monkeypatch):
    options = {"gain": "exponential", "discount": "reciprocal", "ties": "best", "undefined": 1.0}
    monkeypatch.setitem(CONVENTIONS, "ours", options)
    found = explain_difference(Y, SCORE, "sklearn", "ours", groups=QUERY)
    assert found.ndcg[-1] == ENTRIES["score"](**options)
    assert [change.choice for change in found.changes] == list(options)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("option", ["ties", "gain", "discount", "unjudged"])
def test_an_unknown_name_is_refused_everywhere(entry, option):
    with pytest.raises(ValueError, match=f"{option} must be one of"):
        ENTRIES[entry](**{option: "at random"})


@pytest.mark.parametrize("undefined", [1.32, -0.1, 2, np.inf, True, None])
@pytest.mark.parametrize("entry", ENTRIES | OTHERS)
def test_undefined_that_is_no_ndcg_is_refused_everywhere(entry, undefined):
    message = "undefined must be one of 'warn', 'omit', 'raise', or a number from 0 to 1; got"
    with pytest.raises(ValueError, match=message):
        (ENTRIES | OTHERS)[entry](undefined=undefined)


@pytest.mark.parametrize("nan", [np.nan, np.float32("nan")])
@pytest.mark.parametrize("entry", ENTRIES | OTHERS)
def test_undefined_nan_means_omit_everywhere(entry, nan):
    call = (ENTRIES | OTHERS)[entry]
    np.testing.assert_equal(call(undefined=nan), call(undefined="omit"))
    assert call(undefined=nan) != call(undefined=0.0)
    assert NDCG(undefined=nan) == NDCG(undefined="omit")
    assert repr(NDCG(undefined=nan)) == "NDCG(undefined='omit')"


@pytest.mark.parametrize(
    ("option", "function", "message"),
    [
        ("discount", lambda ranks: ranks**0.5, "discount must be finite, >= 0 .* must not rise"),
        ("discount", lambda ranks: -1 / ranks, "discount must be finite, >= 0"),
        ("gain", lambda relevance: relevance - 1, "negative"),
    ],
)
def test_a_wrong_row_is_refused_as_a_wrong_callable_is(option, function, message, monkeypatch):
    monkeypatch.setitem({"discount": DISCOUNTS, "gain": GAINS}[option], "wrong", function)
    for value in ("wrong", function):
        with pytest.raises(ValueError, match=message):
            ndcg_score(Y, SCORE, groups=QUERY, **{option: value})


def test_a_rule_of_ties_that_says_more_is_refused_by_the_kernels(kernels, monkeypatch):
    class Shuffled(NamedTuple):
        by_gain: int = 0
        averages: bool = False
        shuffles: bool = True
        uses_order = False

    monkeypatch.setitem(TIES, "shuffled", Shuffled())
    with pytest.raises(ValueError, match="too many values to unpack"):
        ndcg_score(Y, SCORE, groups=QUERY, ties="shuffled")
