"""What intervals and comparisons return: values of queries, text, tables for notebooks."""

import re
from dataclasses import FrozenInstanceError
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers import matrices, three_rankers, users
from scipy import stats

from sklearn_ndcg import explain_difference, ndcg_samples
from sklearn_ndcg.inference import compare_rankers, ndcg_interval

Y, S = matrices()


def test_values_and_labels_of_queries():
    y, scores = three_rankers()
    y[3] = 0
    names = np.array([f"q{i:02}" for i in range(40)])
    order = np.random.default_rng(0).permutation(480)
    rows = {name: s.ravel()[order] for name, s in scores.items()}
    groups = np.repeat(names, 12)[order]
    found = compare_rankers(y.ravel()[order], rows, groups=groups, k=5, random_state=0)
    assert found.labels.tolist() == names[np.arange(40) != 3].tolist()
    assert list(found.values) == ["good", "poor", "other"]
    for name, s in scores.items():
        expected = ndcg_samples(np.delete(y, 3, 0), np.delete(s, 3, 0), k=5)
        assert found.values[name] == pytest.approx(expected, abs=1e-15)
        assert found.ndcg[name] == pytest.approx(expected.mean(), abs=1e-15)
    assert compare_rankers(y, scores, random_state=0).labels.tolist() == [*range(3), *range(4, 40)]


def test_the_queries_that_differ_most():
    y, scores = three_rankers()
    found = compare_rankers(y, scores, baseline="poor", random_state=0)
    frame = found.largest_differences(3).to_frame()
    for first in ("good", "other"):
        d = found.values[first] - found.values["poor"]
        order = np.argsort(-d)
        rows = frame.loc[(first, "poor")]
        assert rows.index.tolist() == [*order[:3], *order[-3:]]
        assert rows["difference"].tolist() == [*d[order[:3]], *d[order[-3:]]]
        assert rows["ndcg_second"].tolist() == found.values["poor"][rows.index].tolist()
    lines = repr(found.largest_differences(3)).splitlines()
    assert len(lines) == 7 + 1 + 7
    assert lines[0].split() == ["query", "good", "poor", "good", "-", "poor"]
    label, ours, theirs, difference = lines[1].split()
    values = [found.values[name][int(label)] for name in ("good", "poor")]
    assert [ours, theirs] == [f"{value:.4f}" for value in values]
    assert difference == f"{values[0] - values[1]:+.4f}"


def test_queries_without_a_difference_are_not_among_those_that_differ():
    y, s = matrices()
    better, worse = s.copy(), s.copy()
    better[7], worse[5] = y[7], -y[5]
    labels = np.array(["<b>", *(f"query {i:02}" for i in range(1, 40))])
    frame = {"groups": np.repeat(labels, 12), "random_state": 0}
    scores = {"better": better.ravel(), "same": s.ravel(), "worse": worse.ravel()}
    found = compare_rankers(y.ravel(), scores, baseline="same", **frame).largest_differences()
    assert [each[2] for each in found.to_frame().index] == ["query 07", "query 05"]
    assert compare_rankers(y, {"a": s, "b": 2 * s}).largest_differences(1).to_frame().empty
    assert (
        repr(compare_rankers(y, {"a": s, "b": 2 * s}).largest_differences(1))
        == "query  a  b  a - b"
    )


@pytest.mark.parametrize("n", [0, 1.5, "3", True])
def test_bad_number_of_queries(n):
    with pytest.raises(ValueError, match="n must be an integer >= 1, got"):
        compare_rankers(Y, {"a": S, "b": -S}, random_state=0).largest_differences(n)


def cells(html):
    """All texts of the tables, by rows."""
    root = ElementTree.fromstring(f"<div>{html}</div>")  # noqa: S314
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]


def test_notebooks_show_the_numbers_of_the_text():
    y, scores = three_rankers()
    scores = {"<good> & best": scores["good"], "poor": scores["poor"]}
    found = compare_rankers(y, scores, clusters=users(), random_state=0)
    for result in (found, found.largest_differences(2)):
        text = repr(result)
        assert all(cell in text for row in cells(result._repr_html_()) for cell in row)
    interval = ndcg_interval(y, scores["poor"], random_state=0)
    _, row = cells(interval._repr_html_())
    assert len(row) == 4
    assert all(cell in repr(interval) for cell in row)
    assert found._repr_html_().startswith("<p>40 queries in 14 clusters</p><table>")
    assert "<good>" not in found._repr_html_()
    assert len(cells(found._repr_html_())) == 3 + 2


def test_notebooks_show_names_on_the_left_and_numbers_on_the_right():
    y, scores = three_rankers()
    found = compare_rankers(y, scores, random_state=0)
    root = ElementTree.fromstring(f"<div>{found._repr_html_()}</div>")  # noqa: S314
    for table in root.iter("table"):
        for row in table.iter("tr"):
            for cell in row.findall("td"):
                text = "".join(cell.itertext())
                side = "right" if re.fullmatch(r"[-+−.\d]+", text) else "left"
                assert cell.get("style") == f"text-align: {side}", text


def test_results_with_arrays_are_compared_by_identity():
    y, scores = three_rankers()
    found, other = (compare_rankers(y, scores, random_state=0) for _ in range(2))
    pairs = [(found, other), (found.largest_differences(1), other.largest_differences(1))]
    pairs.append(tuple(explain_difference(y, scores["poor"], "rax", "ranx") for _ in range(2)))
    for one, another in pairs:
        assert one == one  # noqa: PLR0124
        assert one != another
        assert len({one, another}) == 2
    assert ndcg_interval(y, scores["poor"], method="t") == ndcg_interval(
        y, scores["poor"], method="t"
    )


def test_one_level_is_computed_and_shown():
    y, scores = three_rankers()
    found = compare_rankers(y, scores)
    assert "0.95 interval" in repr(found)
    half = stats.t.ppf(0.975, found.n_queries - 1) * found.standard_error
    assert found.confidence_interval.low.tolist() == (found.difference - half).tolist()


def test_results_cannot_be_changed():
    y, scores = three_rankers()
    found = compare_rankers(y, scores, random_state=0)
    for result, name in (
        (ndcg_interval(y, scores["poor"], method="t"), "ndcg"), (found, "pvalue"),
        (found.largest_differences(1), "first"),
    ):  # fmt: skip
        with pytest.raises(FrozenInstanceError):
            setattr(result, name, 0)


def test_the_queries_that_are_needed_are_those_of_statsmodels():
    power_of = pytest.importorskip("statsmodels.stats.power").TTestPower()
    y, scores = three_rankers()
    found = compare_rankers(y, scores, test="t")
    for power, alpha, difference in ((0.8, 0.05, 0.01), (0.9, 0.01, -0.1), (0.5, 0.05, 0.2)):
        needed = found.n_queries_needed(difference, power=power, alpha=alpha)
        assert needed.dtype.kind == "i"
        for i, (first, second) in enumerate(found.pairs):
            deviation = np.std(found.values[first] - found.values[second], ddof=1)
            effect = abs(difference) / deviation
            theirs = power_of.solve_power(effect, power=power, alpha=alpha)
            assert needed[i] == max(2, int(np.ceil(theirs)))
        detectable = found.detectable_difference(power=power, alpha=alpha)
        for i, (first, second) in enumerate(found.pairs):
            deviation = np.std(found.values[first] - found.values[second], ddof=1)
            reached = power_of.power(detectable[i] / deviation, 40, alpha)
            assert reached == pytest.approx(power, abs=1e-9)
    # the difference that n queries detect needs n queries
    at = found.detectable_difference()
    assert [found.n_queries_needed(1.0001 * d)[i] for i, d in enumerate(at)] == [40, 40, 40]


def test_clusters_need_more_queries():
    """As many as the design effect says: equal queries of a user count as one."""
    y, s = matrices(40)
    y, s = np.repeat(y, 5, axis=0), np.repeat(s, 5, axis=0)
    user = np.repeat(np.arange(40), 5)
    alone = compare_rankers(y[::5], {"a": s[::5], "b": -s[::5]}, test="t")
    clustered = compare_rankers(y, {"a": s, "b": -s}, clusters=user, test="t")
    assert clustered.df == alone.df == 39
    needed = alone.n_queries_needed(0.05)[0]
    assert 5 * (needed - 1) < clustered.n_queries_needed(0.05)[0] <= 5 * needed
    assert clustered.detectable_difference() == pytest.approx(alone.detectable_difference())


@pytest.mark.parametrize("case", [
    ({"difference": 0}, "difference must be a number other than 0, got 0"),
    ({"difference": "0.1"}, "difference must be a number"),
    ({"difference": np.inf}, "difference must be a number"),
    ({"difference": 0.1, "power": 1}, "power must be a number between 0.05 and 1, got 1"),
    ({"difference": 0.1, "power": 0.01}, "power must be a number between 0.05 and 1"),
    ({"difference": 0.1, "alpha": 0}, "alpha must be a number between 0 and 1, got 0"),
])  # fmt: skip
def test_bad_sample_sizes(case):
    arguments, message = case
    found = compare_rankers(Y, {"a": S, "b": -S}, test="t")
    with pytest.raises(ValueError, match=message):
        found.n_queries_needed(**arguments)


def test_differences_that_do_not_vary_need_the_least_queries():
    found = compare_rankers(Y, {"a": S, "b": S, "c": -S}, test="t")
    assert found.n_queries_needed(0.1)[0] == 2
    assert found.detectable_difference()[0] == 0
    alone = compare_rankers(Y, {"a": S, "c": -S}, test="t")
    assert found.n_queries_needed(0.1)[1] == alone.n_queries_needed(0.1)[0] > 2


def test_names_of_rankers_may_be_tuples():
    found = compare_rankers(Y, {("a", 1): S, ("b", 2): -S}, test="t")
    assert found.to_frame("rankers").index.tolist() == [("a", 1), ("b", 2)]


def test_frames_of_rankers_and_queries():
    y, scores = three_rankers()
    names = [f"q{i:02}" for i in range(40)]
    data = {name: each.ravel() for name, each in scores.items()}
    found = compare_rankers(y.ravel(), data, groups=np.repeat(names, 12), test="t", k=10)
    rankers = found.to_frame("rankers")
    assert rankers.index.name == "ranker"
    assert rankers.index.tolist() == ["good", "poor", "other"]
    assert rankers["ndcg"].tolist() == list(found.ndcg.values())
    assert rankers[["judged", "answered"]].eq(1).all(axis=None)
    queries = found.to_frame("queries")
    assert queries.index.tolist() == names
    assert queries.mean().to_dict() == pytest.approx(found.ndcg, abs=1e-15)
    with pytest.raises(ValueError, match="of must be one of 'pairs', 'rankers', 'queries'; got"):
        found.to_frame("segments")


def test_explanations_say_how_much_was_judged():
    y, s = matrices(20)
    y = y.astype(float)
    y[np.argsort(np.argsort(-s, axis=1), axis=1) < 2] = np.nan  # the first two of each query
    first, second = {"unjudged": "zero"}, {"unjudged": "omit", "k": 8}
    found = explain_difference(y, s, first, second)
    assert found.judged == 6 / 8
    assert repr(found).startswith("20 queries, 75.0% judged\n")
    assert explain_difference(*matrices(20), "sklearn", "lightgbm").judged == 1
