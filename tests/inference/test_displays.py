"""The data and the artists of NDCGDisplay, and the chance level against all orders."""

import re
import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from helpers import drawn_texts, graded_rows, inside, legend, matrices, run_python
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_validate

from sklearn_ndcg import (
    NDCGDisplay,
    from_lists,
    make_ndcg_scorer,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
)
from sklearn_ndcg.inference import ndcg_interval

matplotlib = pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402


def test_curve_and_band():
    y, s = matrices(30)
    display = NDCGDisplay.from_predictions(y, s, name="model")
    k, ndcg = ndcg_curve(y, s)
    assert display.line_.get_xdata().tolist() == k.tolist()
    assert display.line_.get_ydata() == pytest.approx(ndcg)
    assert display.line_.get_label() == "model"
    for at in (0, 4, 11):
        low, high = stats.ttest_1samp(ndcg_samples(y, s, k=at + 1), 0).confidence_interval(0.95)
        assert display.interval[:, at] == pytest.approx([low, high], abs=1e-13)
    assert display.band_ in display.ax_.collections
    assert display.ax_.get_xlabel() == "Cutoff k"
    assert display.ax_.get_ylabel() == "NDCG@k"
    assert display.figure_ is display.ax_.figure
    assert display.chance_level_ is None
    assert display.fold_lines_ == []


@pytest.mark.parametrize("weights", ["none", "uneven", "one decides", "some are 0"])
@pytest.mark.parametrize("undefined", ["omit", 0, 2])
def test_the_band_is_the_interval_of_each_cutoff(monkeypatch, weights, undefined):
    rng = np.random.default_rng(0)
    lengths = np.r_[rng.integers(1, 20, 40), 300]
    q = rng.permutation(np.repeat(np.arange(41), lengths))
    y, s = rng.integers(0, 3, len(q)) * (q > 3), rng.normal(size=len(q)).round(1)
    of_query = {
        "none": np.ones(41), "uneven": rng.lognormal(0, 1, 41), "one decides": np.r_[np.ones(40), 90],
        "some are 0": np.r_[np.zeros(10), np.ones(31)],
    }[weights]  # fmt: skip
    options = {"groups": q, "undefined": undefined}
    if weights != "none":
        options["sample_weight"] = of_query[q]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        display = NDCGDisplay.from_predictions(y, s, **options)
        for k in (1, 2, 7, 19, 20, 150, 300):
            expected = ndcg_interval(y, s, k=k, method="t", **options).confidence_interval
            assert display.interval[:, k - 1] == pytest.approx(expected, abs=1e-12)
        monkeypatch.setattr("sklearn_ndcg._metrics.queries._VALUES_AT_A_TIME", 70)
        in_blocks = NDCGDisplay.from_predictions(y, s, **options)
    assert in_blocks.interval == pytest.approx(display.interval, abs=1e-12)


def test_a_band_of_equal_values_has_no_width():
    y = np.tile([3, 2, 1, 0], (30, 1))
    display = NDCGDisplay.from_predictions(y, y)
    assert display.interval == pytest.approx(np.ones((2, 4)), abs=1e-15)


def test_chance_level_is_the_mean_over_all_orders():
    y = np.array([[3, 0, 1, 1, 0]])
    orders = list(permutations(range(5)))
    expected = [np.mean([ndcg_score(y, [order], k=k) for order in orders]) for k in range(1, 6)]
    both = np.vstack([y, y])
    display = NDCGDisplay.from_predictions(both, both, confidence_level=None)
    assert display.chance_level == pytest.approx(expected, abs=1e-14)


def test_chance_level_in_closed_form():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 300, 50)
    q = np.repeat(np.arange(50), lengths)
    y, s = rng.integers(0, 5, len(q)), rng.normal(size=len(q))
    s[::7] = -np.inf
    display = NDCGDisplay.from_predictions(
        y, s, groups=q, k=[10], gain="exponential", undefined=0.0,
        plot_chance_level=True, chance_level_kwargs={"color": "red"},
    )  # fmt: skip
    d, values = 1 / np.log2(np.arange(2, 12)), []
    for query in range(50):
        gains = np.sort(2.0 ** y[q == query] - 1)[::-1]
        retrieved = 2.0 ** y[(q == query) & (s > -np.inf)] - 1
        ideal = gains[:10] @ d[: len(gains)]
        expected = retrieved.mean() * d[: len(retrieved)].sum() if len(retrieved) else 0
        values.append(expected / ideal if ideal else 0)
    assert display.chance_level[0] == pytest.approx(np.mean(values), abs=1e-14)
    assert display.chance_level_.get_ydata()[0] == display.chance_level[0]
    assert display.chance_level_.get_color() == "red"
    assert display.chance_level_.get_label() == "Chance level"


def by_all_orders(y, s, k, **options):
    """Mean NDCG over all orders of the retrieved documents, of one query."""
    retrieved = np.flatnonzero(np.asarray(s) > -np.inf)
    orders = np.array(list(permutations(range(len(retrieved)))))
    ranked = np.full((len(orders), len(s)), -np.inf)
    ranked[:, retrieved] = orders
    return ndcg_score(np.tile(y, (len(orders), 1)), ranked, k=k, **options)


UNRETRIEVED = (
    np.array([[3, 0, 1, 2, 0, 4], [1, 1, 0, 2, 0, 0], [0, 2, 0, 0, 1, 1]]),
    np.array(
        [
            [0.1, -np.inf, 0.3, -np.inf, 0.2, -np.inf],
            [-np.inf] * 6,  # nothing was retrieved: 0, by chance too
            [0.5, 0.5, 0.1, 0.2, 0.7, 0.3],
        ]
    ),
)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.longdouble])
@pytest.mark.parametrize("shape", ["2-D", "1-D", "list", "pandas", "polars"])
def test_chance_does_not_retrieve_what_the_ranker_did_not(shape, dtype):
    y, s = UNRETRIEVED
    expected = [
        np.mean([by_all_orders(*each, k) for each in zip(y, s, strict=True)]) for k in (1, 3, 6)
    ]
    groups, s = None, s.astype(dtype)
    if shape != "2-D":
        order = np.random.default_rng(0).permutation(y.size)
        groups, y, s = np.repeat([0, 1, 2], 6)[order], y.ravel()[order], s.ravel()[order]
    if shape == "list":
        y, s = y.tolist(), s.tolist()
    elif shape == "pandas":
        y, s = pd.Series(y, index=order), pd.Series(s, index=order)
    elif shape == "polars":
        polars = pytest.importorskip("polars", reason="polars is not installed")
        y, s = polars.Series(y), polars.Series(s.astype(np.float64))
    display = NDCGDisplay.from_predictions(y, s, groups=groups, k=[1, 3, 6], confidence_level=None)
    assert display.chance_level == pytest.approx(expected, abs=1e-14)


def test_chance_of_recommended_lists():
    recommended = {"u": ["A", "B", "C"], "v": ["D"], "w": []}
    relevant = {"u": {"B": 1, "X": 2, "Y": 1}, "v": {"D": 3, "Z": 1}, "w": {"A": 1}}
    y, s, groups = from_lists(relevant, recommended)
    display = NDCGDisplay.from_predictions(y, s, groups=groups, k=[3], confidence_level=None)
    d = 1 / np.log2([2, 3, 4])
    u, v = 1 / 3 * d.sum() / (d @ [2, 1, 1]), 3 / (3 + d[1])
    assert display.chance_level[0] == pytest.approx((u + v + 0) / 3, abs=1e-15)


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
def test_chance_of_unjudged_and_unretrieved(unjudged):
    y, s = np.array([3, np.nan, 1, 2, np.nan, 0]), np.array([0.1, 0.2, 0.3, -np.inf, -np.inf, 0.5])
    options = {"unjudged": unjudged, "gain": "exponential"}
    expected = [by_all_orders(y, s, k, **options) for k in (1, 2, 6)]
    found = NDCGDisplay.from_predictions(
        [y, y], [s, s], k=[1, 2, 6], confidence_level=None, **options
    )
    assert found.chance_level == pytest.approx(expected, abs=1e-14)


def indexed_rows():
    """X with the ids in its index, y and the ids."""
    X, y, query = graded_rows(40, (2, 14), n_grades=5)
    return X.set_index(pd.Index(query, name="query")), y, query


def test_chance_of_folds_leaves_the_unretrieved_out():
    X, y, query = indexed_rows()
    X["a"] = np.where(X["a"] < -0.5, -np.inf, X["a"])

    class Model:
        def predict(self, X):
            return X["a"].to_numpy()

    folds = [np.flatnonzero(query % 2 == fold) for fold in (0, 1)]
    cv_results = {"estimator": [Model(), Model()], "indices": {"test": folds}}
    found = NDCGDisplay.from_cv_results(cv_results, X, y, group_by="query", k=[5])
    d, expected = 1 / np.log2(np.arange(2, 7)), []
    for rows in folds:
        values = []
        for each in np.unique(query[rows]):
            own, scores = y[query == each], X["a"].to_numpy()[query == each]
            ideal = np.sort(own)[::-1][:5]
            kept = own[scores > -np.inf]
            values.append(
                kept.sum() / max(len(kept), 1) * d[: len(kept)].sum() / (ideal @ d[: len(ideal)])
            )
        expected.append(np.mean(values))
    assert found.chance_level[0] == pytest.approx(np.mean(expected), abs=1e-14)


def test_band_of_replaced_queries_is_not_cut_at_one():
    y, s = matrices(30)
    y[:10] = 0
    display = NDCGDisplay.from_predictions(y, s, k=[5], undefined=3.0)
    values = ndcg_samples(y, s, k=5, undefined=3.0)
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert expected[1] > 1
    assert display.interval[:, 0] == pytest.approx(tuple(expected), abs=1e-13)


def test_band_of_uneven_weights_is_the_interval_of_t():
    y, s = matrices(30)
    weight = np.random.default_rng(1).lognormal(size=len(y))
    display = NDCGDisplay.from_predictions(y, s, k=[5], sample_weight=weight)
    expected = ndcg_interval(y, s, k=5, sample_weight=weight, method="t").confidence_interval
    assert display.interval[:, 0] == pytest.approx(tuple(expected), abs=1e-14)


def test_band_of_one_heavy_query_warns():
    y, s = matrices(30)
    weight = np.r_[1e4, np.ones(len(y) - 1)]
    with pytest.warns(
        UserWarning, match="30 queries with uneven weights have an effective number of 1.01"
    ):
        NDCGDisplay.from_predictions(y, s, k=[5], sample_weight=weight)


def test_several_models_on_one_axis():
    y, s = matrices(30)
    first = NDCGDisplay.from_predictions(y, s, name="a", k=[1, 5, 10], curve_kwargs={"lw": 3})
    second = NDCGDisplay.from_predictions(y, -s, name="b", k=[10, 5, 1], ax=first.ax_)
    assert second.ax_ is first.ax_
    assert second.k.tolist() == [1, 5, 10]
    assert first.line_.get_linewidth() == 3
    assert first.line_.get_color() != second.line_.get_color()
    assert legend(first) == ["a", "0.95 interval", "b"]


def test_one_cutoff_is_a_point_with_its_interval():
    display = NDCGDisplay.from_predictions(*matrices(30), k=[1])
    assert display.line_.get_marker() == "o"
    vertices = display.band_.get_paths()[0].vertices
    assert set(vertices[:, 0]) == {1}
    assert [vertices[:, 1].min(), vertices[:, 1].max()] == display.interval[:, 0].tolist()
    assert display.band_.get_linewidth() > 0  # the edge, as the area is 0
    assert display.ax_.get_xticks().tolist() == [1]


@pytest.mark.parametrize(("n_documents", "ticks"), [
    (4, [1, 2, 3, 4]), (12, [1, 2, 4, 6, 8, 10, 12]), (20, [1, *range(2, 21, 2)]),
])  # fmt: skip
def test_ticks_are_cutoffs_from_the_first(n_documents, ticks):
    y, s = matrices(30, n_documents=n_documents)
    display = NDCGDisplay.from_predictions(y, s)
    assert display.ax_.get_xticks().tolist() == ticks
    NDCGDisplay.from_predictions(y, -s, k=3, ax=display.ax_)
    assert display.ax_.get_xticks().tolist() == ticks


def many(n, name="ranker {}"):
    y, s = matrices(40)
    rng = np.random.default_rng(1)
    return y, {name.format(i): s + rng.normal(0, i, s.shape) for i in range(n)}


@pytest.mark.parametrize("n", [6, 7, 30])
def test_curves_can_be_told_apart(n):
    display = NDCGDisplay.from_predictions(*many(n))
    assert len({(line.get_color(), line.get_linestyle()) for line in display.line_}) == n
    is_outside = n > 6
    box, axes = (each.get_window_extent() for each in (display.ax_.get_legend(), display.ax_))
    assert inside(display)
    assert (box.x0 >= axes.x1) == is_outside
    assert (len({line.get_linestyle() for line in display.line_}) > 1) == is_outside


@pytest.mark.parametrize("n", [2, 8, 30])
def test_long_names_of_curves_are_cut_and_inside(n):
    display = NDCGDisplay.from_predictions(*many(n, "a ranker " * 12 + "{}"))
    assert inside(display)
    texts = legend(display)[:n]
    assert len(set(texts)) == n
    assert max(map(len, texts)) <= 30


def test_rows_of_lists_are_keywords():
    recommended = {"u": ["A", "B", "C"], "v": ["D"], "w": []}
    relevant = {"u": {"B": 1, "X": 2, "Y": 1}, "v": {"D": 3, "Z": 1}, "w": {"A": 1}}
    names = ("y_true", "y_score", "groups")
    rows = dict(zip(names, from_lists(relevant, recommended), strict=True))
    display = NDCGDisplay.from_predictions(**rows, k=3, confidence_level=None)
    assert display.ndcg.tolist() == ndcg_curve(**rows, k=[1, 2, 3])[1].tolist()


def test_from_estimator():
    X, y, query = indexed_rows()
    model = Ridge().fit(X, y)
    by_index = NDCGDisplay.from_estimator(model, X, y, group_by="query", k=[1, 5])
    by_groups = NDCGDisplay.from_estimator(model, X, y, groups=query, k=[1, 5], name="mine")
    expected = ndcg_curve(y, model.predict(X), groups=query, k=[1, 5])[1]
    assert by_index.ndcg == pytest.approx(expected)
    assert by_groups.ndcg == pytest.approx(expected)
    assert (by_index.name, by_groups.name) == ("Ridge", "mine")
    with pytest.raises(ValueError, match="The scorer got no groups"):
        NDCGDisplay.from_estimator(model, X, y)


@pytest.mark.parametrize("k", [None, [1, 3, 5]])
def test_from_cv_results(k):
    X, y, query = indexed_rows()
    cv_results = cross_validate(
        Ridge(), X, y, groups=query, cv=GroupKFold(4), return_estimator=True, return_indices=True,
        scoring=make_ndcg_scorer(k=5, group_by="query"),
    )  # fmt: skip
    display = NDCGDisplay.from_cv_results(
        cv_results, X, y, group_by="query", k=k, name="Ridge", plot_chance_level=True
    )
    assert display.ndcg.shape == (4, len(display.k))
    at = display.k.tolist().index(5)
    assert display.ndcg[:, at] == pytest.approx(cv_results["test_score"])
    assert len(display.fold_lines_) == 4
    assert display.line_.get_ydata()[at] == pytest.approx(cv_results["test_score"].mean())
    assert display.chance_level_.get_ydata()[at] < display.line_.get_ydata()[at]
    routed = NDCGDisplay.from_cv_results(cv_results, X, y, groups=query, k=k)
    assert routed.ndcg == pytest.approx(display.ndcg)
    weighted = NDCGDisplay.from_cv_results(
        cv_results, X, y, groups=query, k=[5], sample_weight=query + 1
    )
    test = cv_results["indices"]["test"][0]
    expected = ndcg_score(
        y[test], cv_results["estimator"][0].predict(X.iloc[test]), groups=query[test], k=5,
        sample_weight=query[test] + 1,
    )  # fmt: skip
    assert weighted.ndcg[0] == pytest.approx(expected)


@pytest.mark.parametrize("longer", ["X", "y", "both"])
def test_folds_of_other_rows_are_refused(longer):
    X, y, query = indexed_rows()
    n, cv = len(y) // 2, TimeSeriesSplit(3)  # whose first folds leave rows out
    results = cross_validate(
        Ridge(), X[:n], y[:n], cv=cv, return_estimator=True, return_indices=True, scoring="r2"
    )
    with pytest.warns(UserWarning, match="queries"):
        NDCGDisplay.from_cv_results(results, X[:n], y[:n], groups=query[:n], k=2)
    rows = [len(y) if longer in (name, "both") else n for name in ("X", "y")]
    message = f"X and y must have the {n} rows of the folds, but have {rows}"
    with pytest.raises(ValueError, match=re.escape(message)):
        NDCGDisplay.from_cv_results(results, X[: rows[0]], y[: rows[1]], groups=query)


def test_bad_input():
    X, y, query = indexed_rows()
    with pytest.raises(
        ValueError, match="cv_results must have 'estimator' and 'indices'.*call cross_validate with"
    ):
        NDCGDisplay.from_cv_results({"test_score": [1]}, X, y)
    for options, error, message in (
        ({"confidence_level": 0}, ValueError, "confidence_level must be between 0 and 1"),
        ({"k": [0]}, ValueError, "array of integer cutoffs"),
        ({"k": 0}, ValueError, "array of integer cutoffs"),
        ({"log_base": 3}, TypeError, "has no option 'log_base'"),
    ):
        with pytest.raises(error, match=message):
            NDCGDisplay.from_predictions(y, y, groups=query, **options)
    with pytest.raises(ValueError, match="the display has no chance_level"):
        NDCGDisplay(k=np.array([1]), ndcg=np.array([1.0])).plot(plot_chance_level=True)


def test_without_matplotlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None; from sklearn_ndcg import NDCGDisplay;"
        "NDCGDisplay.from_predictions([[1, 0]] * 20, [[1, 0], [0, 1]] * 10)"
    )
    assert "Drawing needs matplotlib" in (error := run_python(code).stderr)
    assert 'pip install "matplotlib>=3.8"' in error


@pytest.mark.parametrize("n_folds", [2, 3])
def test_lines_of_folds_are_visible(n_folds):
    X, y, query = indexed_rows()
    cv_results = cross_validate(
        Ridge(), X, y, groups=query, cv=GroupKFold(n_folds), return_estimator=True,
        return_indices=True, scoring=make_ndcg_scorer(k=5, group_by="query"),
    )  # fmt: skip
    display = NDCGDisplay.from_cv_results(cv_results, X, y, group_by="query")
    assert len(display.fold_lines_) == n_folds
    assert all(line.get_linewidth() > 0 for line in display.fold_lines_)
    assert display.chance_level_ is None


def test_folds_whose_longest_queries_differ_end_flat():
    query = np.repeat([0, 1, 2, 3], [2, 2, 6, 6])
    X = pd.DataFrame({"a": np.arange(16.0) % 5}, index=pd.Index(query, name="query"))
    y = np.arange(16) % 3
    cv_results = cross_validate(
        Ridge(), X, y, groups=query, cv=[(np.arange(4, 16), np.arange(4)), (np.arange(4), np.arange(4, 16))],
        return_estimator=True, return_indices=True, scoring=make_ndcg_scorer(k=5, group_by="query"),
    )  # fmt: skip
    display = NDCGDisplay.from_cv_results(cv_results, X, y, group_by="query", k=None)
    assert display.k.tolist() == [1, 2, 3, 4, 5, 6]
    assert (display.ndcg[0, 1:] == display.ndcg[0, 1]).all()


def test_a_band_ends_where_ndcg_does_not_where_the_values_do():
    y, s = [[1, 0], [1, 0]], [[2, 1], [1, 2]]
    with pytest.warns(UserWarning, match="2 queries"):
        display = NDCGDisplay.from_predictions(y, np.multiply(s, 0.5), k=[2], discount="reciprocal")
    assert max(ndcg_samples(y, s, k=2, discount="reciprocal")) == 1
    assert display.interval[:, 0].tolist() == [0, 1]
    poor = [[1, 0, 0], [0, 1, 0]]
    with pytest.warns(UserWarning, match="2 queries"):
        display = NDCGDisplay.from_predictions(poor, [[2, 3, 1], [3, 1, 2]], k=[3])
    assert display.interval[:, 0].tolist() == [0, 1]


# Several rankers on one axis


def three_rankers():
    y, good = matrices(30)
    return y, {"good": good, "poor": -good, "same": 2 * good}


def test_a_mapping_draws_a_curve_for_each_ranker():
    y, scores = three_rankers()
    display = NDCGDisplay.from_predictions(y, scores, k=5, plot_chance_level=True)
    assert display.name == list(scores)
    assert display.ndcg.shape == (3, 5)
    assert display.interval.shape == (3, 2, 5)
    assert len(display.line_) == len(display.band_) == 3
    assert display.fold_lines_ == []
    for i, s in enumerate(scores.values()):
        alone = NDCGDisplay.from_predictions(y, s, k=5)
        assert display.ndcg[i].tolist() == alone.ndcg.tolist()
        assert display.interval[i].tolist() == alone.interval.tolist()
        assert display.chance_level == pytest.approx(alone.chance_level, abs=1e-15)
        assert display.line_[i].get_ydata().tolist() == alone.ndcg.tolist()
        low, high = alone.interval
        edges = display.band_[i].get_paths()[0].vertices[:, 1]
        assert edges.min() == low.min()
        assert edges.max() == high.max()
    colors = [line.get_color() for line in display.line_]
    assert len(set(colors)) == 3
    assert legend(display) == ["good", "poor", "same", "0.95 interval", "Chance level"]
    assert all(line.axes is display.ax_ for line in display.line_)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_has_a_ranker_in_each_column(library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    y, scores = three_rankers()
    rows = {name: s.ravel() for name, s in scores.items()}
    make = module.table if library == "pyarrow" else module.DataFrame
    display = NDCGDisplay.from_predictions(
        y.ravel(), make(rows), groups=np.repeat(np.arange(30), 12), k=5
    )
    assert display.name == list(scores)
    assert display.ndcg.tolist() == NDCGDisplay.from_predictions(y, scores, k=5).ndcg.tolist()


def test_a_table_beside_a_matrix_is_the_scores_of_one_ranker():
    y, s = matrices(30)
    display = NDCGDisplay.from_predictions(y, pd.DataFrame(s), k=5)
    assert display.ndcg.tolist() == NDCGDisplay.from_predictions(y, s, k=5).ndcg.tolist()


def test_one_ranker_in_a_mapping_is_a_list_of_one():
    y, s = matrices(30)
    display = NDCGDisplay.from_predictions(y, {"a": s}, confidence_level=None)
    assert display.ndcg.shape == (1, 12)
    assert len(display.line_) == 1
    assert display.band_ is None
    assert display.interval is None


def test_a_display_of_rankers_is_drawn_again_with_other_names():
    display = NDCGDisplay.from_predictions(*three_rankers())
    assert legend(display.plot(name=["x", "y", "z"])) == ["x", "y", "z", "0.95 interval"]
    assert len(display.plot(name="one for all").line_) == 3


@pytest.mark.parametrize("kind", [list, tuple])
def test_each_ranker_has_its_style(kind):
    styles = [{"color": "red"}, {"linestyle": "--"}, {"label": "mine", "linewidth": 4}]
    display = NDCGDisplay.from_predictions(*three_rankers(), curve_kwargs=kind(styles))
    first, second, third = display.line_
    assert first.get_color() == "red"
    assert second.get_linestyle() == "--"
    assert third.get_linewidth() == 4
    assert legend(display) == ["good", "poor", "mine", "0.95 interval"]


def test_groups_and_weights_count_for_every_ranker():
    _, y, query = graded_rows(40, (2, 14), n_grades=5)
    scores = {"a": np.arange(len(y)) % 7, "b": y % 2}
    weight = np.random.default_rng(0).random(40)[query]
    options = {"groups": query, "sample_weight": weight, "gain": "exponential", "k": [1, 5]}
    display = NDCGDisplay.from_predictions(y, scores, **options)
    for curve, s in zip(display.ndcg, scores.values(), strict=True):
        assert curve.tolist() == ndcg_curve(y, s, **options)[1].tolist()


def test_undefined_queries_are_warned_of_once_for_all_rankers():
    y, scores = three_rankers()
    y[0] = 0
    with pytest.warns(UndefinedMetricWarning, match="1 of 30 queries") as caught:
        NDCGDisplay.from_predictions(y, scores)
    assert len(caught) == 1


def test_bad_rankers():
    y, s = matrices(30)
    for scores, name, message in (
        ({}, None, "y_score must have at least one ranker with different names, got []"),
        ({"a": s, "b": s}, "model", "name must be for one ranker, got 'model'"),
        (s, ["a", "b"], "name must have an entry for each of 1 curves, got ['a', 'b']"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            NDCGDisplay.from_predictions(y, scores, name=name)
    with pytest.raises(ValueError, match="must have the same shape") as caught:
        NDCGDisplay.from_predictions(y, {"a": s, "b": s[:, 1:]})
    assert caught.value.__notes__ == ["While comparing the ranker 'b'."]


@pytest.mark.parametrize("k", [7, np.int64(7), range(1, 8)])
def test_an_integer_stands_for_all_cutoffs_up_to_it(k):
    y, s = matrices(30)
    display = NDCGDisplay.from_predictions(y, s, k=k)
    assert display.k.tolist() == list(range(1, 8))
    assert display.ndcg.tolist() == ndcg_curve(y, s, k=range(1, 8))[1].tolist()


@pytest.mark.parametrize("k", [13, 10**9, 10**30])
def test_a_curve_ends_at_the_longest_query(k):
    y, s = matrices(30)
    display = NDCGDisplay.from_predictions(y, s, k=k)
    assert display.k.tolist() == list(range(1, 13))
    assert display.ndcg.tolist() == ndcg_curve(y, s)[1].tolist()


@pytest.mark.parametrize("k", [0, -1, True, 2.0, "retrieved"])
def test_bad_cutoffs_of_curves(k):
    with pytest.raises(ValueError, match="k must be a 1-D array of integer cutoffs"):
        NDCGDisplay.from_predictions(*matrices(30), k=k)


# Folds


def folds(n=4, **options):
    X, y, query = indexed_rows()
    results = cross_validate(
        Ridge(), X, y, groups=query, cv=GroupKFold(n), return_estimator=True, return_indices=True,
        scoring=make_ndcg_scorer(k=5, group_by="query"),
    )  # fmt: skip
    found = NDCGDisplay.from_cv_results(results, X, y, group_by="query", k=5, **options)
    return found, results["test_score"]


def test_the_legend_has_mean_and_spread_of_the_folds():
    number = "NDCG@5 = {:.3f} +/- {:.3f}"
    display, scores = folds(name="Ridge")
    number = number.format(scores.mean(), scores.std())
    assert legend(display) == [f"Ridge ({number})"]
    assert legend(folds()[0]) == [number]
    assert legend(display.plot(name="Ridge " * 20))[0].endswith(f"Ridge  ({number})")
    assert legend(display.plot(name="other")) == [f"other ({number})"]
    own, _ = folds(name="Ridge", curve_kwargs={"label": "mine", "color": "red"})
    assert legend(own) == ["mine"]
    assert {line.get_color() for line in [own.line_, *own.fold_lines_]} == {"red"}


def test_a_list_of_names_draws_each_fold_as_a_curve():
    names, styles = ["a", "b", "c", "d"], [{"linestyle": style} for style in ("-", "--", ":", "-.")]
    display, scores = folds(name=names, curve_kwargs=styles, plot_chance_level=True)
    assert [line.get_linestyle() for line in display.line_] == ["-", "--", ":", "-."]
    assert [line.get_ydata()[-1] for line in display.line_] == pytest.approx(scores)
    assert len({line.get_color() for line in display.line_}) == 4
    assert display.fold_lines_ == []
    assert display.band_ is None
    assert legend(display) == [*names, "Chance level"]


@pytest.mark.parametrize("entries", [{"name": ["a", "b"]}, {"curve_kwargs": [{}, {}]}])
def test_a_list_has_an_entry_for_each_fold(entries):
    options = {"name": list("abcd")} | entries
    with pytest.raises(ValueError, match="must have an entry for each of 4 curves"):
        folds(**options)
    assert not plt.get_fignums()


# How it looks


@pytest.mark.parametrize("despine", [False, True])
def test_despine_removes_the_spines_above_and_on_the_right(despine):
    for display in (
        NDCGDisplay.from_predictions(*matrices(30), despine=despine),
        folds(despine=despine)[0],
    ):
        spines = display.ax_.spines
        assert spines["top"].get_visible() == spines["right"].get_visible() == (not despine)
        assert spines["left"].get_visible()
        assert spines["bottom"].get_visible()
    assert display.plot().ax_.spines["top"].get_visible()  # by default


@pytest.mark.parametrize("name", ["cost in $ per $", "$x^2$", "a_b", "100 %", "$"])
def test_names_are_no_formulas(name):
    y, s = matrices(30)
    for display in (
        NDCGDisplay.from_predictions(y, s, name=name),
        NDCGDisplay.from_predictions(y, {name: s}),
    ):
        assert drawn_texts(display) == [(name, False), ("0.95 interval", False)]


def test_names_with_an_underscore_in_front_are_in_the_legend():
    y, s = matrices(30)
    display = NDCGDisplay.from_predictions(y, {"_a": s, "b": -s, 3: -s})
    assert [text.strip() for text in legend(display)] == ["_a", "b", "3", "0.95 interval"]


def test_unknown_options_are_refused():
    y, s = matrices(30)
    X, rows, query = indexed_rows()
    model = Ridge().fit(X, rows)
    results = {"estimator": [model], "indices": {"test": [np.arange(len(rows))]}}
    for draw in (
        lambda **options: NDCGDisplay.from_predictions(y, s, **options),
        lambda **options: NDCGDisplay.from_estimator(model, X, rows, groups=query, **options),
        lambda **options: NDCGDisplay.from_cv_results(results, X, rows, groups=query, **options),
    ):
        message = "NDCGDisplay has no option 'tie'.* undefined, .* despine"
        with pytest.raises(TypeError, match=message):
            draw(tie="worst")
        with pytest.raises(ValueError, match="ties must be one of"):
            draw(ties="first")


def test_a_display_can_be_made_from_its_attributes():
    found = NDCGDisplay.from_predictions(*three_rankers(), k=5)
    fields = ("k", "ndcg", "interval", "name", "chance_level")
    again = NDCGDisplay(**{name: getattr(found, name) for name in fields}).plot()
    assert legend(again) == legend(found)
    assert again.ax_ is not found.ax_
    with pytest.raises(TypeError):
        NDCGDisplay([1], [1.0])
