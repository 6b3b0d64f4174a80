"""explain_difference: each step against `ndcg_score`, its text, and what it refuses."""

import re
from dataclasses import fields
from functools import partial

import numpy as np
import pytest
from helpers import examples, graded_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sklearn_ndcg import (
    CONVENTIONS,
    explain_difference,
    from_lists,
    from_trec,
    ndcg_samples,
    ndcg_score,
)
from sklearn_ndcg._metrics.conventions import BEYOND_KEYWORDS
from sklearn_ndcg._metrics.measure import NDCG

DEFAULTS = {"unjudged": "raise", "gain": "linear", "discount": "log", "ties": "average"}
DEFAULTS |= {"undefined": 0.0, "k": None}


def rows(seed=0):
    """Rows with ties, and queries without a relevant document."""
    _, y_true, groups = graded_rows(12, (1, 9), all_relevant=False, seed=seed)
    y_true[groups < 3] = 0
    y_true.flags.writeable = groups.flags.writeable = False
    return y_true, np.random.default_rng(seed).integers(0, 4, len(y_true)) / 2, groups


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
@given(OPTIONS, OPTIONS, st.integers(0, 9), st.booleans())
def test_every_number_is_that_of_ndcg_score(first, second, seed, weighted):
    y_true, y_score, groups = rows(seed)
    y_true = np.where(np.random.default_rng(seed).random(len(groups)) < 0.2, np.nan, y_true)
    weight = np.random.default_rng(1).integers(1, 4, len(groups)) if weighted else None
    data = {"groups": groups, "sample_weight": weight}
    found = explain_difference(y_true, y_score, first, second, **data)
    # one choice at a time, in this order, and only what differs
    order = [list(DEFAULTS).index(change.choice) for change in found.changes]
    assert order == sorted(set(order))
    stations = [DEFAULTS | first]
    for choice, _, after in found.changes:
        stations.append(stations[-1] | {choice: after})
    assert len(stations) == len(found.ndcg) == len(found.values)
    for options, mean, values in zip(stations, found.ndcg, found.values, strict=True):
        assert_array_equal(mean, ndcg_score(y_true, y_score, **data, **options))
        assert_array_equal(values, ndcg_samples(y_true, y_score, groups=groups, **options))
    assert_array_equal(found.ndcg[-1], ndcg_score(y_true, y_score, **data, **second))
    assert_array_equal(found.labels, np.unique(groups))
    assert_array_equal(found.difference, np.diff(found.ndcg))
    np.testing.assert_allclose(found.shares.sum(axis=1), found.difference, atol=1e-12)


STEPS = [
    ("sklearn", "lightgbm", ["gain", "ties", "undefined"]),
    ("catboost-position", "trec_eval", ["discount", "ties", "undefined"]),
    ("trec_eval", "ranx", []),
]


@pytest.mark.parametrize(("first", "second", "changed"), STEPS)
def test_changes_are_what_differs_between_two_conventions(first, second, changed):
    y_true, y_score, groups = rows()
    found = explain_difference(y_true, y_score, first, second, groups=groups, k=5)
    before, after = CONVENTIONS[first], CONVENTIONS[second]
    assert found.changes == [(choice, before[choice], after[choice]) for choice in changed]
    assert found.shares.shape == (len(changed), len(found.labels))
    assert found.ndcg[0] == ndcg_score(y_true, y_score, groups=groups, k=5, **before)
    assert f"\n{found.ndcg[-1]:.4f}           {second}\n" in str(found)
    assert ("no option of ndcg_score differs" in str(found)) == (not changed)


BEYOND = {  # what differs between two libraries whose options are the same
    "ranx, trec_eval": "trec_eval: Ties are in the order of document ids",
    "sklearn, torchmetrics": "torchmetrics: Scores are compared, and values computed, in float32",
    "ranx-burges, rax": "rax: Scores are compared, and values computed, in float32",
}


@pytest.mark.parametrize("pair", BEYOND)
def test_what_no_option_says_is_printed(pair):
    first, second = pair.split(", ")
    found = explain_difference([[1, 0]], [[1, 2]], first, second)
    assert (found.changes, list(found.not_included)) == ([], [first, second])
    text = " ".join(str(found).split())
    assert BEYOND[pair] in text
    assert all(f"{name}: {sentence}" in text for name, sentence in found.not_included.items())


def test_every_convention_has_what_no_option_says():
    assert BEYOND_KEYWORDS.keys() == CONVENTIONS.keys()


def test_of_mappings_nothing_is_printed_beyond_their_options():
    found = explain_difference([[1, 0]], [[1, 2]], "rax", CONVENTIONS["ranx-burges"])
    assert list(found.not_included) == ["rax"]
    assert explain_difference([[1, 0]], [[1, 2]], {}, {}).not_included == {}


def test_undefined_queries_share_what_leaving_them_out_changes():
    y_true, y_score, groups = rows()
    undefined = np.isnan(ndcg_samples(y_true, y_score, groups=groups, undefined="omit"))
    found = explain_difference(y_true, y_score, "sklearn", "torchmetrics-skip", groups=groups)
    [shares], [difference] = found.shares, found.difference
    assert (shares != 0).tolist() == undefined.tolist()
    assert shares[undefined] == pytest.approx(difference / undefined.sum(), abs=1e-12)


def test_tied_queries_share_what_the_rule_of_ties_changes():
    y_true, y_score, groups = rows()
    scores = [y_score[groups == query] for query in np.unique(groups)]
    tied = np.array([len(np.unique(of_query)) < len(of_query) for of_query in scores])
    found = explain_difference(y_true, y_score, {}, {"ties": "best"}, groups=groups)
    assert found.n_tied == tied.sum() > 0
    assert not found.shares[0][~tied].any()


def test_equal_scores_of_documents_that_were_not_retrieved_are_no_ties():
    y_true, y_score = [[1, 0, 0], [1, 1, 0]], [[1, -np.inf, -np.inf], [2, 1, 2]]
    assert explain_difference(y_true, y_score, "sklearn", "sklearn").n_tied == 1


@pytest.mark.parametrize(("ends", "n_tied"), [(("zero", "omit"), 0), (("omit", "zero"), 1)])
def test_ties_are_those_of_the_second_convention(ends, n_tied):
    """The unjudged document of the tie is only in one of them."""
    first, second = ({"unjudged": unjudged} for unjudged in ends)
    found = explain_difference([[np.nan, 1, 0]], [[2, 2, 1]], first, second)
    assert found.n_tied == n_tied


@pytest.mark.parametrize("has_staying", [True, False])
@pytest.mark.parametrize("weight", [[1, 1, 1, 1], [1, 2, 3, 4]])
def test_shares_add_up_where_queries_leave_and_others_come(has_staying, weight):
    """Of four queries the first is defined only before the step, and the second only after it."""
    y_true, y_score = [[1, 0], [2, 0], [1, 2], [2, 1]], [[1, 2], [2, 1], [2, 1], [2, 1]]
    n = 4 if has_staying else 2
    before, after = ({"gain": gain, "undefined": "omit"} for gain in ([0, 1, 0], [0, 0, 1]))
    data = {"y_true": y_true[:n], "y_score": y_score[:n], "sample_weight": weight[:n]}
    found = explain_difference(**data, first=before, second=after)
    assert found.shares.sum() == pytest.approx(found.difference[0], abs=1e-15)
    expected = ndcg_score(**data, **after) - ndcg_score(**data, **before)
    assert found.difference == pytest.approx([expected], abs=1e-15)
    if not has_staying:
        at_rank_2 = 1 / np.log2(3)
        assert found.shares == pytest.approx(np.array([[-at_rank_2, 1]]), abs=1e-15)


def test_all_queries_left_out_leave_nan():
    first = {"gain": [0, 0], "undefined": 0.0}  # nothing is relevant
    found = explain_difference([[0, 1], [1, 0]], [[1, 2]] * 2, first, first | {"undefined": "omit"})
    assert_array_equal(found.ndcg, [0, np.nan])
    assert np.isnan(found.shares).all()
    assert "0 (0.000 to left out)" in str(found)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_weighted_shares_are_those_of_repeated_queries(is_reversed):
    """A query of weight 3 is three queries, and one of weight 0 is none."""
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 3, (12, 5)), rng.integers(0, 4, (12, 5))
    y_true[:4] = 0
    weight = rng.permutation(np.arange(12) % 4)
    conventions = {"gain": [0, 0, 1], "undefined": "omit"}, {"ties": "best", "k": 2}
    first, second = conventions[::-1] if is_reversed else conventions
    found = explain_difference(y_true, y_score, first, second, sample_weight=weight)
    copies = np.repeat(np.arange(12), weight)
    repeated = explain_difference(y_true[copies], y_score[copies], first, second)
    assert found.ndcg == pytest.approx(repeated.ndcg, abs=1e-15)
    expected = [np.bincount(copies, shares, minlength=12) for shares in repeated.shares]
    assert found.shares == pytest.approx(np.array(expected), abs=1e-15)
    large = explain_difference(y_true, y_score, first, second, sample_weight=weight * 3e299)
    assert large.shares == pytest.approx(found.shares, abs=1e-15)


TEXT = """\
4 queries
  NDCG   change
0.4539           sklearn
0.5000  +0.0461  ties: average -> stable
                   in 1 of 4 queries, most in 'a' (0.815 to 1.000)
1.0000  +0.5000  undefined: 0.0 -> omit
                   in 2 of 4 queries, most in 'c' (0.000 to left out), 'd' (0.000 to left out)
1.0000           second
Not in these numbers, as no option of ndcg_score has it:
sklearn: A query of a single document is an error."""


def test_text(capsys):
    y_true, y_score = [1, 0, 1, 0, 0, 0, 0, 0], [1, 1, 2, 1, 2, 1, 2, 1]
    second = {"ties": "stable", "undefined": "omit"}
    found = explain_difference(y_true, y_score, "sklearn", second, groups=list("aabbccdd"))
    assert repr(found) == str(found) == TEXT
    assert capsys.readouterr().out == ""


def test_queries_that_stay_left_out_are_not_counted_as_changed():
    y_true, y_score, groups = rows()
    options = {"ties": "best", "undefined": "omit"}, {"ties": "worst", "undefined": "omit"}
    best, worst = (ndcg_samples(y_true, y_score, groups=groups, **each) for each in options)
    assert np.isnan(best).any()
    n_changed = (abs(best - worst) > 1e-9).sum()
    found = explain_difference(y_true, y_score, *options, groups=groups)
    assert f"in {n_changed} of {len(best)} queries, most in " in str(found)


def test_the_queries_that_change_most_come_first():
    rank_of_relevant = [1, 5, 3, 2, 4]
    y_true = [[rank == relevant for rank in range(1, 6)] for relevant in rank_of_relevant]
    text = str(explain_difference(y_true, [[5, 4, 3, 2, 1]] * 5, {}, {"k": 1}))
    most = "3 (0.631 to 0.000), 2 (0.500 to 0.000), 4 (0.431 to 0.000)\n"
    assert f"in 4 of 5 queries, most in {most}" in text


def test_where_changes_cancel_out_the_queries_that_rise_most_come_first():
    """The other gain makes of each query what another one was."""
    y_true, order = [[1, 2, 0], [2, 1, 0], [1, 0, 2], [2, 0, 1]], [[3, 2, 1]] * 4
    found = explain_difference(y_true, order, {"gain": [0, 1, 2]}, {"gain": [0, 2, 1]})
    assert found.difference.tolist() == [0]
    assert found.shares[0, 2] > found.shares[0, 0] > 0
    assert re.search(r"in 4 of 4 queries, most in 2 \(.*\), 0 \(.*\), 1 \(", str(found))


SPELLINGS = {
    "defaults": ({}, {"ignore_ties": False, "undefined": 0}),
    "order of ties": ({"ignore_ties": True}, {"ties": "stable"}),
    "table": ({"gain": [0, 1, 2]}, {"gain": np.array([0, 1, 2])}),
    "sequence": ({"gain": [0, 3]}, {"gain": (0, 3.0)}),
}


@pytest.mark.parametrize("choice", SPELLINGS)
def test_two_spellings_of_a_choice_are_no_difference(choice):
    assert explain_difference([[1, 0]], [[1, 2]], *SPELLINGS[choice]).changes == []


def test_a_choice_without_effect_says_so():
    found = explain_difference([[1, 0], [0, 1]], [[3, 2], [7, 9]], "rax", "catboost")
    effects = [line.strip() for line in repr(found).splitlines()[4:9:2]]
    tied = "no effect: no two documents of a query have equal scores"
    assert effects == ["no effect", tied, "no effect"]


READ = {
    "lists": from_lists({"q": {"a": 1, "d": 2}, "r": {"b": 1}}, {"q": ["a", "b"], "r": []}),
    "a run": from_trec({"q": {"a": 1, "d": 2}}, {"q": {"a": 0.5, "b": 0.5}}),
}


@pytest.mark.parametrize("kind", READ)
def test_scores_that_are_ranks_are_recognised(kind):
    conventions = {"unjudged": "zero"}, {"unjudged": "zero", "ties": "worst", "k": 1}
    found = explain_difference(READ[kind], *conventions)
    assert found.scores_are_ranks
    assert "The scores are ranks in lists, as from_lists and from_trec" in repr(found)
    same = explain_difference(READ[kind], first=conventions[0], second=conventions[1])
    assert repr(same) == repr(found)


BAD_CONVENTIONS = [
    ("first", "XGBoost", ValueError, "must be one of 'sklearn'.*'XGBoost'"),
    ("second", 3, TypeError, "must be a name in CONVENTIONS or .* got int"),
    ("second", {"groups": [1]}, TypeError, "no option 'groups'.* gain, .* un"),
    ("first", {"k": [1, 2]}, ValueError, "k must be an integer >= 1"),
]


@pytest.mark.parametrize(("argument", "convention", "error", "message"), BAD_CONVENTIONS)
def test_a_bad_convention_is_named(argument, convention, error, message):
    conventions = {"first": "sklearn", "second": "sklearn"} | {argument: convention}
    with pytest.raises(error, match=message) as caught:
        explain_difference([[1, 0]], [[1, 2]], **conventions)
    assert argument in " ".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


def test_a_convention_that_is_missing_is_named():
    with pytest.raises(TypeError, match="first must be a name in CONVENTIONS .*, got NoneType"):
        explain_difference([[1, 0]], [[1, 2]], second="sklearn")


@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_step_does_not_raise_where_both_ends_are_fine(is_reversed):
    first = {"gain": [0, 0, 1], "undefined": "omit"}
    data = [[1, 0], [2, 0], [2, 1]], [[1, 2], [2, 1], [1, 2]]
    conventions = [first, {"undefined": "raise"}][:: -1 if is_reversed else 1]
    found = explain_difference(*data, *conventions)
    assert found.ndcg[[0, -1]].tolist() == [ndcg_score(*data, **options) for options in conventions]
    assert [change.choice for change in found.changes] == list(first)


RAISES = {"undefined": "raise", "k": 1}


@pytest.mark.parametrize("conventions", [(RAISES, "sklearn"), ("rax", RAISES)])
def test_an_end_that_is_undefined_raises(conventions):
    with pytest.raises(ValueError, match="NDCG is undefined for 1 of 2 queries"):
        explain_difference([[0, 0], [2, 0]], [[1, 2], [2, 1]], *conventions)


def test_every_choice_of_a_measure_is_a_step():
    """`log_base` cancels in NDCG, and `ignore_ties` is ties="stable"."""
    choices = {field.name for field in fields(NDCG) if field.init}
    assert set(DEFAULTS) == choices - {"log_base", "ignore_ties"}
