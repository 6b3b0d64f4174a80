"""What intervals and comparisons return: values of queries, text, DataFrames."""

import re

import numpy as np
import pytest
from helpers import three_rankers, users
from scipy import stats

from sklearn_ndcg import ndcg_samples
from sklearn_ndcg.inference import Comparison, compare_rankers, ndcg_by_segment, ndcg_interval

Y, SCORES = three_rankers()
COMPARED = compare_rankers(Y, SCORES, baseline="poor", test="t", margin=0.1)
SEGMENTS = np.repeat(["AT", "BE"], 20)


def test_values_and_labels_of_queries():
    y = np.r_[Y[:3], 0 * Y[:1], Y[4:]]
    names = np.array([f"q{i:02}" for i in range(40)])
    order = np.random.default_rng(0).permutation(480)
    rows = {name: s.ravel()[order] for name, s in SCORES.items()}
    groups = np.repeat(names, 12)[order]
    result = compare_rankers(y.ravel()[order], rows, groups=groups, k=5, undefined="omit", test="t")
    assert result.labels.tolist() == names[np.arange(40) != 3].tolist()
    assert list(result.values) == ["good", "poor", "other"]
    for name, s in SCORES.items():
        expected = ndcg_samples(np.delete(y, 3, 0), np.delete(s, 3, 0), k=5)
        assert result.values[name] == pytest.approx(expected, abs=1e-15)
        assert result.mean[name] == pytest.approx(expected.mean(), abs=1e-15)
    of_matrix = compare_rankers(y, SCORES, undefined="omit", test="t")
    assert of_matrix.labels.tolist() == [*range(3), *range(4, 40)]


@pytest.mark.parametrize(
    ("clusters", "counted"), [(None, "40 queries"), (users(), "40 queries in 14 clusters")]
)
def test_interval_prints_its_numbers_and_what_it_is_from(clusters, counted):
    found = ndcg_interval(Y, SCORES["good"], method="t", clusters=clusters)
    low, high = found.confidence_interval
    numbers = f"NDCG {found.mean:.4f}, 95% confidence interval [{low:.4f}, {high:.4f}] (t), "
    assert repr(found) == f"{numbers}standard error {found.standard_error:.4f}, {counted}"


def test_comparison_prints_its_pairs_in_two_columns_and_notes_below():
    y, scores = three_rankers(400)
    options = {"baseline": "other", "margin": 0.01, "confidence_level": 0.999}
    result = compare_rankers(y, scores, test="t", **options)
    means, pairs, notes = repr(result).split("\n\n")
    assert means.splitlines()[2].split() == ["good", f"{result.mean['good']:.4f}"]
    header, *rows = pairs.splitlines()
    columns = ["first", "second", "difference", "99.9% CI", "p", "effect", "W/T/L", "verdict"]
    assert header.split("  ")[0] == "first"
    assert " ".join(header.split()) == " ".join(columns)
    assert [tuple(row.split()[:2]) for row in rows] == result.pairs
    assert "<0.0001" in rows[0]
    start = header.index("verdict")
    assert [row[start:] for row in rows] == result.verdict
    assert "p (t, Holm): corrected for 2 pairs." in notes
    assert "verdict (margin 0.01)" in notes


def test_segments_print_as_rows_with_all_queries_last():
    table = ndcg_by_segment(Y, SCORES["good"], segments=SEGMENTS, method="t")
    header, *rows = repr(table).splitlines()
    assert "95% CI (t)" in header
    assert [row.split()[0] for row in rows] == ["AT", "BE", "all"]
    low, high = table.overall.confidence_interval
    assert f"{table.overall.mean:.4f}  [{low:.4f}, {high:.4f}]" in rows[2]


@pytest.mark.filterwarnings("ignore:Intervals of")
def test_segments_print_dashes_where_there_is_no_number():
    """One query has a mean, and no interval; a query of weight 0 has no mean either."""
    segments, weight = np.full(len(Y), "many"), np.ones(len(Y))
    segments[:2], weight[1] = ["one", "none"], 0
    options = {"sample_weight": weight, "method": "t"}
    table = str(ndcg_by_segment(Y, SCORES["good"], segments=segments, **options))
    cells = {row.split()[0]: row.split()[1:] for row in table.splitlines()[1:]}
    mean = f"{ndcg_samples(Y, SCORES['good'])[0]:.4f}"
    assert cells["one"] == [mean, "-", "-", "1", "0"]
    assert cells["none"] == ["-", "-", "-", "0", "1"]


def test_to_frame_of_pairs_has_a_column_for_each_number():
    values = {name: ndcg_samples(Y, each) for name, each in SCORES.items()}
    rows = COMPARED.to_frame().to_dict("index")
    assert list(rows) == [("good", "poor"), ("other", "poor")]
    for (first, second), row in rows.items():
        d = values[first] - values[second]
        expected = stats.ttest_rel(values[first], values[second])
        low, high = expected.confidence_interval()
        assert row["difference"] == pytest.approx(d.mean(), rel=1e-12)
        assert row["low"] == pytest.approx(low, rel=1e-12)
        assert row["high"] == pytest.approx(high, rel=1e-12)
        assert row["standard_error"] == pytest.approx(stats.sem(d), rel=1e-12)
        assert row["effect_size"] == pytest.approx(d.mean() / d.std(ddof=1), rel=1e-12)
        assert row["statistic"] == pytest.approx(expected.statistic, rel=1e-12)
        assert row["uncorrected_pvalue"] == pytest.approx(expected.pvalue, rel=1e-9)
        sides = [(d > 0).sum(), (d == 0).sum(), (d < 0).sum()]
        assert [row["wins"], row["ties"], row["losses"]] == sides
    smaller, larger = sorted(row["uncorrected_pvalue"] for row in rows.values())
    corrected = sorted(row["pvalue"] for row in rows.values())
    assert corrected == [2 * smaller, max(2 * smaller, larger)]


def test_to_frame_has_a_column_for_each_attribute_over_pairs():
    attributes = re.findall(
        r"^    ([\w, ]+) : .*(?:\(n_pairs,\)|length n_pairs)", Comparison.__doc__, re.M
    )
    over_pairs = {name for names in attributes for name in names.split(", ")}
    assert len(over_pairs) > 10
    assert over_pairs <= {*COMPARED.to_frame()}


def test_to_frame_of_rankers_and_queries():
    names = [f"q{i:02}" for i in range(40)]
    data = {(name, 1): each.ravel() for name, each in SCORES.items()}  # names may be tuples
    result = compare_rankers(Y.ravel(), data, groups=np.repeat(names, 12), test="t", k=10)
    rankers = result.to_frame("rankers")
    assert rankers.index.name == "ranker"
    assert rankers.index.tolist() == [*data]
    assert rankers["mean"].tolist() == list(result.mean.values())
    assert rankers["metric"].tolist() == ["NDCG@10"] * 3
    assert rankers["low"].tolist() == result.interval.low.tolist()
    assert rankers["high"].tolist() == result.interval.high.tolist()
    queries = result.to_frame("queries")
    assert queries.index.tolist() == names
    assert queries.mean().tolist() == pytest.approx([*result.mean.values()], abs=1e-15)
    assert queries.columns.name == "NDCG@10"
    with pytest.raises(ValueError, match="of must be one of 'pairs', 'rankers', .*; got 'models'"):
        result.to_frame("models")
    with pytest.raises(ValueError, match="of must be one of .*; got 'segments'"):
        result.to_frame("segments")


def test_to_frame_of_rankers_is_the_table_of_a_slide():
    pytest.importorskip("tabulate", reason="tabulate is not installed")
    table = COMPARED.to_frame("rankers")[["mean", "low", "high"]].to_markdown(floatfmt=".2f")
    cells = [cell.strip() for cell in table.splitlines()[2].split("|")]
    numbers = COMPARED.mean["good"], *(bound[0] for bound in COMPARED.interval)
    assert cells == ["", "good", *(f"{number:.2f}" for number in numbers), ""]


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({"k": 10}, "NDCG@10"),
        ({}, "NDCG"),
        ({"k": 10, "gain": "exponential"}, "NDCG@10 (exp. gain)"),
        ({"k": "retrieved"}, "NDCG@retrieved"),
    ],
)
def test_everything_that_shows_a_number_says_what_it_is(options, label):
    one = ndcg_interval(Y, SCORES["good"], method="t", **options)
    table = ndcg_by_segment(Y, SCORES["good"], segments=SEGMENTS, method="t", **options)
    result = compare_rankers(Y, SCORES, test="t", **options)
    assert one.metric == table.metric == result.metric == label
    for shown in (one, table, result):
        assert re.search(rf"(^| ){re.escape(label)}( \d|  |$)", repr(shown), re.MULTILINE)
    frames = [table.to_frame(), *map(result.to_frame, ("pairs", "rankers"))]
    assert all(set(frame["metric"]) == {label} for frame in frames)
    assert result.to_frame("queries").columns.name == label
