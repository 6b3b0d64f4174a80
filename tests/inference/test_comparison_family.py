"""Rankers compared by several metrics at once: one family of tests."""

import numpy as np
import pytest
from helpers import three_rankers
from sklearn.metrics import average_precision_score

from sklearn_ndcg import from_lists
from sklearn_ndcg.inference import compare_rankers, ndcg_interval
from sklearn_ndcg.inference._results import of_measure

Y, SCORES = three_rankers()
RELEVANT = (Y > 2).astype(int)


def reciprocal_rank(y_true, y_score):
    ranked = y_true[np.argsort(-y_score, kind="stable")]
    return 1 / (1 + ranked.argmax()) if ranked.any() else np.nan


def hits(y_true, y_score):
    return 100 * float(y_true[y_score.argmax()] > 0)


def by_hand(pvalues):
    """Holm's correction: the smallest p-value times n, the next times n - 1, and none smaller."""
    corrected, largest = {}, 0.0
    for rank, (p, number) in enumerate(sorted((p, number) for number, p in enumerate(pvalues))):
        largest = max(largest, min(1.0, p * (len(pvalues) - rank)))
        corrected[number] = largest
    return [corrected[number] for number in range(len(pvalues))]


FAMILIES = {
    "cutoffs": (
        {"k": [1, 5, 10]},
        {f"NDCG@{k}": {"k": k} for k in (1, 5, 10)},
    ),
    "metrics": (
        {"metric": {"AP": average_precision_score, "MRR": reciprocal_rank}},
        {"AP": {"metric": average_precision_score}, "MRR": {"metric": reciprocal_rank}},
    ),
    "both": (
        {"metric": {"NDCG": None, "MRR": reciprocal_rank}, "k": [1, None], "gain": "exponential"},
        {
            "NDCG@1 (exp. gain)": {"k": 1, "gain": "exponential"},
            "NDCG (exp. gain)": {"gain": "exponential"},
            "MRR": {"metric": reciprocal_rank},
        },
    ),
    "named": (
        {"metric": {"quality": None, "NDCG@3": None}, "k": 3},
        {"quality@3": {"k": 3}, "NDCG@3": {"k": 3}},
    ),
    "a list of one": ({"k": [5]}, {"NDCG@5": {"k": 5}}),
}


@pytest.mark.parametrize("test", ["t", "permutation"])
@pytest.mark.parametrize(("options", "alone"), FAMILIES.values(), ids=FAMILIES)
def test_a_family_is_its_comparisons_with_one_correction(options, alone, test):
    common = {"test": test, "random_state": 0, "n_resamples": 199, "undefined": 0.0}
    common |= {"clusters": np.arange(40) // 2}
    margin = {label: 0.03 * number for number, label in enumerate(alone, 1)}
    found = compare_rankers(RELEVANT, SCORES, margin=margin, **common, **options)
    single = {
        label: compare_rankers(RELEVANT, SCORES, margin=margin[label], **common, **one)
        for label, one in alone.items()
    }
    assert found.metric == list(alone)
    assert_same_numbers(found, single)


def assert_same_numbers(found, single):
    """Whether the numbers are those of single comparisons by label, one after another."""
    assert found.pairs == [(label, *pair) for label, one in single.items() for pair in one.pairs]
    for name in ("mean", "judged", "values"):
        numbers, of_single = getattr(found, name), [getattr(one, name) for one in single.values()]
        assert [*numbers] == [(label, ranker) for label in single for ranker in SCORES]
        expected = [value for by_ranker in of_single for value in by_ranker.values()]
        np.testing.assert_allclose([*numbers.values()], expected, atol=1e-14)
    for name in ("interval", "confidence_interval"):
        expected = np.hstack([getattr(one, name) for one in single.values()])
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-13)
    for name in (
        "difference", "standard_error", "effect_size", "statistic", "noninferiority_pvalue",
        "uncorrected_pvalue", "wins", "ties", "losses",
    ):  # fmt: skip
        expected = np.hstack([getattr(one, name) for one in single.values()])
        np.testing.assert_allclose(getattr(found, name), expected, rtol=1e-9)
    assert found.verdict == [verdict for one in single.values() for verdict in one.verdict]
    assert found.pvalue.tolist() == pytest.approx(by_hand(found.uncorrected_pvalue.tolist()))


def test_one_metric_of_a_family_is_its_comparison():
    options = {"test": "t", "undefined": 0.0}
    family = compare_rankers(RELEVANT, SCORES, k=[1, 5], margin=0.05, **options)
    found = of_measure(family, "NDCG@5")
    expected = compare_rankers(RELEVANT, SCORES, k=5, margin=0.05, **options)
    for name in ("metric", "mean", "pairs", "margin", "judged", "verdict"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("interval", "confidence_interval", "difference", "uncorrected_pvalue"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9)
    assert [*found.values] == [*expected.values]


def test_shares_that_are_alike_have_one_column():
    lists = {"x": [["b", "a", "c"]] * 12, "y": [["a", "b", "c"]] * 12}
    found = compare_rankers(from_lists([{"a"}] * 12, rankers=lists), k=[2, 3], test="t")
    assert np.isnan([*found.judged.values()]).all()  # only relevant documents are judged
    assert repr(found).splitlines()[1].split() == ["NDCG@2", "NDCG@3", "judged"]


def test_tables_of_a_family_name_the_metric():
    found = compare_rankers(Y, SCORES, k=[1, 5], test="t", baseline="poor")
    means, pairs, notes = repr(found).split("\n\n")
    assert means.splitlines()[1].split() == ["NDCG@1", "NDCG@5"]
    row = ["good", *(f"{found.mean[f'NDCG@{k}', 'good']:.4f}" for k in (1, 5))]
    assert means.splitlines()[2].split() == row
    header, *rows = (line.split() for line in pairs.splitlines())
    assert header[:3] == ["metric", "first", "second"]
    assert [tuple(row[:3]) for row in rows] == found.pairs
    assert "corrected for 2 pairs of 2 metrics" in notes
    frame = found.to_frame()
    assert [(row.metric, *row.Index) for row in frame.itertuples()] == found.pairs
    rankers = found.to_frame("rankers").set_index("metric", append=True)["mean"]
    assert {(metric, ranker): mean for (ranker, metric), mean in rankers.items()} == found.mean
    queries = found.to_frame("queries")
    assert queries.columns.names == ["metric", "ranker"]
    assert queries["NDCG@5", "poor"].tolist() == found.values["NDCG@5", "poor"].tolist()


def test_a_query_that_is_undefined_by_one_metric_is_left_out_of_all():
    y = RELEVANT.copy()
    y[:3], y[3] = 0, 1

    def between(y_true, y_score):
        return np.nan if y_true.all() else reciprocal_rank(y_true, y_score)

    metrics = {"NDCG": None, "B": between}
    found = compare_rankers(y, SCORES, metric=metrics, undefined="omit", test="t")
    assert (found.n_queries, found.n_left_out) == (36, 4)
    assert found.labels.tolist() == [*range(4, 40)]
    for ranker, score in SCORES.items():
        mean = ndcg_interval(y[4:], score[4:], method="t").mean
        assert found.mean["NDCG", ranker] == pytest.approx(mean, abs=1e-15)


def test_judged_is_by_metric_and_printed_for_each_where_they_differ():
    rankers = {"x": [["a", "?", "b"]] * 12, "y": [["a", "b", "?"]] * 12}
    rows = from_lists([{"a": 2, "b": 1, "c": 0}] * 12, rankers=rankers)
    with pytest.warns(UserWarning, match="'x' returned, 50% are judged, .* 100% for 'y'") as caught:
        found = compare_rankers(rows, k=[1, 2, 3], test="t")
    assert len(caught) == 1
    shares = {"x": [1, 1 / 2, 2 / 3], "y": [1, 1, 2 / 3]}
    expected = {
        (f"NDCG@{k}", name): share
        for name, of_cutoffs in shares.items()
        for k, share in enumerate(of_cutoffs, 1)
    }
    assert found.judged == pytest.approx(expected)
    header = repr(found).splitlines()[1]
    assert "judged (NDCG@2)  judged (NDCG@3)" in header
    assert "judged (NDCG@1)" not in header


def test_lists_that_were_read_with_a_cutoff_are_scored_at_smaller_ones():
    truth, lists = {"a": 1, "b": 2}, {"x": ["a", "b", "c"], "y": ["b", "c", "a"]}
    rankers = {name: [ids] * 12 for name, ids in lists.items()}
    rows = from_lists([truth] * 12, rankers=rankers, k=3)
    found = compare_rankers(rows, k=[1, 2, None], test="t")
    assert found.metric == ["NDCG@1", "NDCG@2", "NDCG@3"]
    assert found.mean["NDCG@1", "x"] == 0.5
    with pytest.raises(ValueError, match="k must be at most 3, got 4"):
        compare_rankers(rows, k=[1, 4], test="t")


# Margins


def test_margin_of_each_metric():
    metrics = {"NDCG": None, "hits": hits}
    margin = {"hits": 5, "NDCG": 0.01}
    found = compare_rankers(Y, SCORES, metric=metrics, test="t", margin=margin)
    ndcg = compare_rankers(Y, SCORES, test="t", margin=0.01)
    percent = compare_rankers(Y, SCORES, metric=hits, test="t", margin=5)
    assert found.verdict == ndcg.verdict + percent.verdict
    assert found.margin == margin
    assert "verdict (margin NDCG 0.01, hits 5)" in repr(found)
    alone = compare_rankers(Y, SCORES, test="t", margin={"NDCG": 0.01})
    assert (alone.verdict, alone.margin) == (ndcg.verdict, 0.01)


@pytest.mark.parametrize(
    ("margin", "message"),
    [
        (0.01, "margin=0.01 .* those of hits .* 100: pass a mapping .*'NDCG', 'hits'"),
        ({"NDCG": 0.01}, r"margin must have an entry for each of \['NDCG', 'hits'\], got"),
        ({"NDCG": 0.01, "hits": 0}, "margin must be a number above 0, got 0"),
        ({"NDCG": 1, "hits": 1}, "margin must be a number between 0 and 1, got 1"),
        ({"NDCG": 0.1, "hits": "1"}, "margin must be a number above 0, got '1'"),
    ],
)
def test_margins_that_do_not_fit_are_refused(margin, message):
    metrics = {"NDCG": None, "hits": hits}
    with pytest.raises(ValueError, match=message):
        compare_rankers(Y, SCORES, metric=metrics, test="t", margin=margin)


def test_one_margin_does_not_fit_values_below_0():
    metrics = {"NDCG": None, "misses": lambda y, s: float(y[s.argmax()] > 0) - 1}
    with pytest.raises(ValueError, match="margin=0.01 .* those of misses .* 1: pass a mapping"):
        compare_rankers(Y, SCORES, metric=metrics, test="t", margin=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": {}}, r"metric must have names of metrics as keys, got \[\]"),
        ({"metric": {1: hits}}, r"metric must have names of metrics as keys, got \[1\]"),
        ({"metric": {"NDCG": None, "NDCG@5": None}, "k": 5}, "metric must name different metrics"),
        ({"k": [5, 5]}, r"k must list different cutoffs, .* got \[5, 5\]"),
        ({"k": []}, "k must list different cutoffs, at least one"),
    ],
)
def test_families_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        compare_rankers(Y, SCORES, **options)
