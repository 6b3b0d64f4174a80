"""explain_difference: each step against `ndcg_score`, its text, and what it refuses."""

from dataclasses import fields
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from helpers import examples, graded_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal as assert_same

from sklearn_ndcg import CONVENTIONS as NAMED
from sklearn_ndcg import explain_difference, from_lists, from_trec, ndcg_samples, ndcg_score
from sklearn_ndcg._metrics.measure import NDCG

DISTINCT = list({repr(options): name for name, options in NAMED.items()}.values())
DEFAULTS = {
    "unjudged": "raise", "gain": "linear", "discount": "log", "ties": "average",
    "undefined": 0.0, "k": None,
}  # fmt: skip


def rows(seed=0):
    """Rows with ties, and queries without a relevant document."""
    _, y_true, groups = graded_rows(12, (1, 9), all_relevant=False, seed=seed)
    y_true[groups < 3] = 0
    y_true.flags.writeable = groups.flags.writeable = False
    return y_true, np.random.default_rng(seed).integers(0, 4, len(y_true)) / 2, groups


def weights(groups, weighted):
    """One weight per row; some are 0."""
    if weighted is None:
        return None
    n = len(groups)
    weight = np.random.default_rng(1).integers(0, 4, n).astype(float)
    weight[groups == 5] = 1
    return weight[groups] if weighted == "by query" else weight


OPTIONS = st.fixed_dictionaries(
    {"unjudged": st.sampled_from(["zero", "omit"])},
    optional={
        "gain": st.sampled_from(["linear", "exponential", [0, 0, 1, 5], partial(np.minimum, 1)]),
        "discount": st.sampled_from(["log", "reciprocal", "none", np.ones_like]),
        "ties": st.sampled_from(["average", "stable", "worst", "best"]),
        "undefined": st.sampled_from(["warn", 0.0, 1, 0.5, "omit"]),
        "k": st.sampled_from([None, 1, 3, "retrieved"]),
    },
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=examples(60), deadline=None)
@given(OPTIONS, OPTIONS, st.integers(0, 9), st.sampled_from([None, "by query", "by row"]))
def test_every_number_is_that_of_ndcg_score(first, second, seed, weighted):
    y_true, y_score, groups = rows(seed)
    y_true = np.where(np.random.default_rng(seed).random(len(groups)) < 0.2, np.nan, y_true)
    data = {"groups": groups, "sample_weight": weights(groups, weighted)}
    # one choice at a time, in this order, and only what differs
    stations, now = [first.copy()], DEFAULTS | first
    found = explain_difference(y_true, y_score, first, second, **data)
    for choice, _, after in found.changes:
        now = now | {choice: after}
        stations.append(now)
    order = [list(DEFAULTS).index(change.choice) for change in found.changes]
    assert order == sorted(set(order))
    assert len(stations) == len(found.ndcg) == len(found.values)
    for options, mean, values in zip(stations, found.ndcg, found.values, strict=True):
        assert_same(mean, ndcg_score(y_true, y_score, **data, **options))
        assert_same(values, ndcg_samples(y_true, y_score, groups=groups, **options))
    assert_same(found.ndcg[-1], ndcg_score(y_true, y_score, **data, **second))
    assert_same(found.labels, np.unique(groups))
    assert_same(found.difference, np.diff(found.ndcg))
    for shares, difference in zip(found.shares, found.difference, strict=True):
        assert shares.sum() == pytest.approx(difference, abs=1e-12)


@pytest.mark.parametrize(("first", "second"), [*permutations(DISTINCT, 2)])
def test_changes_are_what_differs_between_two_conventions(first, second, capsys):
    y_true, y_score, groups = rows()
    found = explain_difference(y_true, y_score, first, second, groups=groups, k=5)
    one, other = NAMED[first], NAMED[second]
    assert [tuple(change) for change in found.changes] == [
        (choice, one[choice], other[choice])
        for choice in DEFAULTS
        if choice in one and repr(one[choice]) != repr(other[choice])
    ]
    assert capsys.readouterr().out == ""
    lines = repr(found).splitlines()
    for line, name in ((lines[2], first), (lines[-1], second)):
        value = ndcg_score(y_true, y_score, groups=groups, k=5, **NAMED[name])
        assert line == f"{value:.4f}           {name}"


def test_shares_belong_to_the_queries_that_a_step_changes():
    y_true, y_score, groups = rows()
    undefined = np.isnan(ndcg_samples(y_true, y_score, groups=groups, undefined="omit"))
    for first, second in permutations(("sklearn", "torchmetrics-skip"), 2):  # omit the undefined
        found = explain_difference(y_true, y_score, first, second, groups=groups)
        assert (found.shares[0] != 0).tolist() == undefined.tolist()
        assert np.ptp(found.shares[0][undefined]) == 0
        assert found.shares[0].sum() == pytest.approx(found.difference[0], abs=1e-12)
    scores = [y_score[groups == query] for query in np.unique(groups)]
    tied = np.array([len(np.unique(each)) < len(each) for each in scores])
    found = explain_difference(y_true, y_score, {}, {"ties": "best"}, groups=groups)
    assert found.n_tied == tied.sum() > 0
    assert not found.shares[0][~tied].any()


def test_all_queries_left_out_leave_nan():
    found = explain_difference(
        [0, 0, 1, 0], [1, 2, 1, 2], {"gain": [0, 0]}, "torchmetrics-skip", groups=[0, 0, 1, 1]
    )
    assert found.ndcg == pytest.approx([0, 2 * 0.5 * (1 / np.log2(3)) / 2, 1 / np.log2(3)])
    found = explain_difference([[0, 0]], [[1, 2]], "sklearn", "torchmetrics-skip")
    assert np.isnan(found.ndcg[1])
    assert np.isnan(found.shares).all()
    assert "0 (0.000 to left out)" in str(found)


@pytest.mark.parametrize("seed", range(5))
def test_weighted_shares_are_those_of_repeated_queries(seed):
    """A query of weight 3 is three queries, and one of weight 0 is none."""
    rng = np.random.default_rng(seed)
    y_true, y_score = rng.integers(0, 3, (12, 5)), rng.integers(0, 4, (12, 5))
    y_true[:4] = 0
    weight = rng.permutation(np.arange(12) % 4)
    ends = {"gain": [0, 0, 1], "undefined": "omit"}, {"ties": "best", "k": 2}
    for first, second in (ends, ends[::-1]):
        found = explain_difference(y_true, y_score, first, second, sample_weight=weight)
        copies = np.repeat(np.arange(12), weight)
        repeated = explain_difference(y_true[copies], y_score[copies], first, second)
        assert found.ndcg == pytest.approx(repeated.ndcg, abs=1e-15)
        of_copies = np.zeros((len(found.changes), 12))
        for step, shares in enumerate(repeated.shares):
            np.add.at(of_copies[step], copies, shares)
        assert found.shares == pytest.approx(of_copies, abs=1e-15)
        large = explain_difference(y_true, y_score, first, second, sample_weight=weight * 3e299)
        assert large.shares == pytest.approx(of_copies, abs=1e-15)
        assert not found.shares[:, weight == 0].any()


def test_shares_add_up_where_no_query_stays():
    y_true, y_score = [[1, 0, 0], [2, 0, 0]], [[1, 2, 3], [1, 3, 2]]
    first, second = ({"gain": gain, "undefined": "omit"} for gain in ([0, 1, 0], [0, 0, 1]))
    found = explain_difference(y_true, y_score, first, second, sample_weight=[1, 2])
    assert np.isnan(found.values).tolist() == [[False, True], [True, False]]
    assert found.shares.sum(axis=1) == pytest.approx(found.difference, abs=1e-15)


@pytest.mark.parametrize("weight", [[0, 0], [-1, 1], [1], [np.nan, 1]])
def test_bad_sample_weight(weight):
    with pytest.raises(ValueError, match="sample_weight"):
        explain_difference([[1, 0], [0, 1]], [[1, 2], [1, 2]], {}, {"k": 1}, sample_weight=weight)


TEXT = """\
4 queries
  NDCG   change
0.4539           sklearn
0.5000  +0.0461  ties: average -> stable
                   in 1 of 4 queries, most in 'a' (0.815 to 1.000)
1.0000  +0.5000  undefined: 0.0 -> omit
                   in 2 of 4 queries, most in 'c' (0.000 to left out), 'd' (0.000 to left out)
1.0000           second"""


def test_text():
    y_true, y_score = [1, 0, 1, 0, 0, 0, 0, 0], [1, 1, 2, 1, 2, 1, 2, 1]
    second = {"ties": "stable", "undefined": "omit"}
    found = explain_difference(y_true, y_score, "sklearn", second, groups=list("aabbccdd"))
    assert repr(found) == str(found) == TEXT


def test_equal_conventions_differ_in_no_choice():
    y_true, y_score, groups = rows()
    found = explain_difference(y_true, y_score, "trec_eval", "ranx", groups=groups)
    value = ndcg_score(y_true, y_score, groups=groups, **NAMED["ranx"])
    assert found.ndcg.tolist() == [value]
    assert found.changes == []
    assert found.shares.shape == (0, len(found.labels))
    assert "\n                 no choice differs\n" in repr(found)


SPELLINGS = [
    ({}, {"ignore_ties": False, "undefined": 0}),
    ({"ignore_ties": True}, {"ties": "stable"}),
    ({"gain": [0, 1, 2]}, {"gain": np.array([0, 1, 2])}),
    ({"gain": {0: 0, 1: 3}}, {"gain": {1: 3.0, 0: 0}}),
    ({"undefined": "omit"}, {"undefined": "omit"}),
]


@pytest.mark.parametrize(("first", "second"), SPELLINGS)
def test_two_spellings_of_a_choice_are_no_difference(first, second):
    assert explain_difference([[1, 0]], [[1, 2]], first, second).changes == []


def test_a_choice_without_effect_says_so():
    found = explain_difference([[1, 0], [0, 1]], [[3, 2], [7, 9]], "rax", "catboost")
    effects = [line.strip() for line in repr(found).splitlines()[4::2]]
    tied = "no effect: no two documents of a query have equal scores"
    assert effects == ["no effect", tied, "no effect"]


def test_scores_that_are_ranks_are_recognised():
    lists, relevant = [["A", "B", "C"], ["B"], []], [{"B", "X"}, {"B"}, {"A"}]
    run = {"q": {"a": 0.5, "b": 0.5, "c": 0.1}, "r": {"a": 1.0}}
    qrels = {"q": {"a": 1, "b": 0, "d": 2}, "r": {"b": 1}}
    rows = from_lists(relevant, lists), from_trec(qrels, run)
    unjudged = from_trec(qrels, run, unjudged="nan")
    cases = [(each, {"ties": "worst"}) for each in rows] + [(unjudged, {"unjudged": "omit"})]
    for each, end in cases:
        found = explain_difference(each, {"unjudged": "zero"}, end)
        assert found.scores_are_ranks
        assert "The scores are ranks in lists, as from_lists and from_trec" in repr(found)
        same = explain_difference(each, first={"unjudged": "zero"}, second=end)
        assert repr(same) == repr(found)


def test_scores_of_arrays_are_not_called_ranks():
    found = explain_difference([[1, 0, 2]], [[-1, -2, -3]], "sklearn", "catboost")
    assert not found.scores_are_ranks
    assert "ranks" not in repr(found)


def test_a_table_or_a_function_is_shown_short():
    first = {"gain": list(range(40)), "discount": np.ones_like}
    text = repr(explain_difference([[1, 0]], [[1, 2]], first, "sklearn"))
    assert f"gain: {str(list(range(40)))[:37]}... -> linear" in text
    assert "discount: ones_like -> log" in text


@pytest.mark.parametrize(
    ("first", "error", "message"),
    [
        ("XGBoost", ValueError, "first must be one of 'sklearn'.*'XGBoost'"),
        (3, TypeError, "first must be a name in CONVENTIONS or .* got int"),
        ({"groups": [1]}, TypeError, "no option 'groups'.* gain, .* un"),
        ({"k": 0}, ValueError, "k must be an integer >= 1"),
        ({"k": [1, 2]}, ValueError, "k must be an integer >= 1"),
    ],
)
def test_bad_conventions(first, error, message):
    with pytest.raises(error, match=message) as caught:
        explain_difference([[1, 0]], [[1, 2]], first, "sklearn")
    if isinstance(first, dict) and "groups" not in first:
        assert caught.value.__notes__ == ["In the convention passed as `first`."]
    with pytest.raises(error, match=message.replace("first must", "second must")):
        explain_difference([[1, 0]], [[1, 2]], "sklearn", first)


@pytest.mark.parametrize("end", [{"gain": [0, 0, 1], "undefined": "omit"}, {"undefined": 1}])
def test_a_step_does_not_raise_where_both_ends_are_fine(end):
    data, strict = ([[1, 0], [2, 0], [2, 1]], [[1, 2], [2, 1], [1, 2]]), {"undefined": "raise"}
    for first, second in ((strict, end), (end, strict)):
        found = explain_difference(*data, first, second)
        assert found.ndcg[0] == ndcg_score(*data, **first)
        assert found.ndcg[-1] == ndcg_score(*data, **second)
        assert [change.choice for change in found.changes] == list(end)


def test_an_end_that_is_undefined_raises():
    for ends in (({"undefined": "raise"}, "sklearn"), ("rax", {"undefined": "raise", "k": 1})):
        with pytest.raises(ValueError, match="NDCG is undefined for 1 of 2 queries"):
            explain_difference([[0, 0], [2, 0]], [[1, 2], [2, 1]], *ends)


def test_every_choice_of_a_measure_is_a_step():
    """`log_base` cancels in NDCG, and `ignore_ties` is ties="stable"."""
    others = {"normalized", "log_base", "ignore_ties", "cutoffs"}
    assert set(DEFAULTS) == {each.name for each in fields(NDCG) if each.init} - others
