"""What NDCGDisplay computes, without drawing it: curves, bands, chance levels and folds."""

import re
import sys
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from helpers import FirstColumn, graded_rows, matrices, three_rankers
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_validate

from sklearn_ndcg import make_ndcg_scorer, ndcg_curve, ndcg_score
from sklearn_ndcg.inference import NDCGDisplay, ndcg_interval

from_predictions, from_estimator = NDCGDisplay.from_predictions, NDCGDisplay.from_estimator
from_cv_results = NDCGDisplay.from_cv_results
Y, S = matrices(30)


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch, request):
    """Keep what the constructors pass to `plot`, and draw nothing."""

    def plot(display, **drawing):
        display.passed_to_plot = drawing
        return display

    if "without_matplotlib" not in request.node.name:
        monkeypatch.setattr(NDCGDisplay, "plot", plot)


def indexed_rows():
    """X with the ids in its index, y and the ids."""
    X, y, query = graded_rows(40, (2, 14), n_grades=5)
    return X.set_index(pd.Index(query, name="query")), y, query


WEIGHTS = {
    "none": None,
    "uneven": np.random.default_rng(0).lognormal(0, 1, 41),
    "one decides": np.r_[np.ones(40), 90],
    "some are 0": np.r_[np.zeros(10), np.ones(31)],
}


@pytest.mark.filterwarnings("ignore:.. queries with uneven weights")
@pytest.mark.parametrize(
    ("weights", "undefined"),
    [*((each, "omit") for each in WEIGHTS), ("none", 0.9), ("some are 0", 0), ("uneven", 0.9)],
)
def test_interval_at_each_k_is_that_of_ndcg_interval_by_t(monkeypatch, weights, undefined):
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(41), np.r_[rng.integers(1, 20, 40), 300]))
    y, s = rng.integers(0, 3, len(groups)) * (groups > 3), rng.normal(size=len(groups)).round(1)
    weight = None if weights == "none" else WEIGHTS[weights][groups]
    options = {"groups": groups, "undefined": undefined, "sample_weight": weight}
    display = from_predictions(y, s, confidence_level=0.8, **options)
    assert display.confidence_level == 0.8
    assert display.ndcg.tolist() == ndcg_curve(y, s, **options)[1].tolist()
    for k in (1, 7, 19, 20, 300):
        by_t = ndcg_interval(y, s, k=k, method="t", confidence_level=0.8, **options)
        assert display.interval[:, k - 1] == pytest.approx(by_t.confidence_interval, abs=1e-12)
    monkeypatch.setattr("sklearn_ndcg._metrics.curve._VALUES_AT_A_TIME", 70)
    in_blocks = from_predictions(y, s, confidence_level=0.8, **options)
    assert in_blocks.interval == pytest.approx(display.interval, abs=1e-12)


def test_interval_of_equal_values_has_no_width():
    y = np.tile([3, 2, 1, 0], (30, 1))
    assert from_predictions(y, y).interval == pytest.approx(np.ones((2, 4)), abs=1e-15)


@pytest.mark.parametrize(("y", "s", "options"), [
    ([[1, 0], [1, 0]], [[2, 1], [1, 2]], {"k": [2], "discount": "reciprocal"}),
    ([[1, 0, 0], [0, 1, 0]], [[2, 3, 1], [3, 1, 2]], {"k": [3]}),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:2 queries")
def test_interval_ends_where_ndcg_does_not_where_the_values_do(y, s, options):
    assert from_predictions(y, s, **options).interval[:, 0].tolist() == [0, 1]


def test_sample_weight_of_one_heavy_query_is_warned_of():
    message = "30 queries with uneven weights have an effective number of 1.01"
    with pytest.warns(UserWarning, match=message):
        from_predictions(Y, S, k=[5], sample_weight=np.r_[1e4, np.ones(29)])


@pytest.mark.parametrize(("k", "cutoffs"), [
    (7, range(1, 8)), (np.int64(7), range(1, 8)), (range(1, 8), range(1, 8)), ([10, 5, 1], [1, 5, 10]),
    (12, range(1, 13)), (13, range(1, 13)), (10**30, range(1, 13)), (None, range(1, 13)),
])  # fmt: skip
def test_k_is_a_list_of_cutoffs_or_the_last_one_up_to_the_longest_query(k, cutoffs):
    display = from_predictions(Y, S, k=k)
    assert display.k.tolist() == list(cutoffs)
    assert display.ndcg.tolist() == ndcg_curve(Y, S, k=cutoffs)[1].tolist()


@pytest.mark.parametrize("k", [0, -1, True, 2.0, "retrieved", [0]])
def test_k_that_is_no_cutoff_is_refused(k):
    with pytest.raises(ValueError, match="k must be a 1-D array of integer cutoffs"):
        from_predictions(Y, S, k=k)


def test_y_score_may_be_a_mapping_whose_rankers_are_as_alone():
    y, scores = three_rankers()
    display = from_predictions(y, scores, k=5)
    assert display.name == list(scores)
    alone = [from_predictions(y, s, k=5) for s in scores.values()]
    assert display.ndcg.tolist() == [each.ndcg.tolist() for each in alone]
    assert display.interval.tolist() == [each.interval.tolist() for each in alone]
    chance = np.mean([each.chance_level for each in alone], axis=0)
    assert display.chance_level == pytest.approx(chance, abs=1e-15)


def test_y_score_beside_2_d_y_true_is_one_ranker_even_as_a_table():
    found = from_predictions(Y, pd.DataFrame(S), k=5).ndcg
    assert found.tolist() == ndcg_curve(Y, S, k=range(1, 6))[1].tolist()


def test_y_score_of_one_ranker_in_a_mapping_is_a_list_of_one():
    display = from_predictions(Y, {"a": S})
    assert (display.ndcg.shape, display.name, display.interval.shape) == (
        (1, 12),
        ["a"],
        (1, 2, 12),
    )
    assert from_predictions(Y, {"a": S}, confidence_level=None).interval is None


def test_y_score_beside_1_d_y_true_may_be_a_table_and_groups_and_sample_weight_are_shared():
    _, y, query = graded_rows(40, (2, 14), n_grades=5)
    scores = pd.DataFrame({"a": np.arange(len(y)) % 7, "b": y % 2})
    weight = np.random.default_rng(0).random(40)[query]
    options = {"groups": query, "sample_weight": weight, "gain": "exponential", "k": [1, 5]}
    display = from_predictions(y_true=y, y_score=scores, **options)
    assert display.name == ["a", "b"]
    for curve, name in zip(display.ndcg, scores, strict=True):
        assert curve.tolist() == ndcg_curve(y, scores[name], **options)[1].tolist()


def test_undefined_queries_are_warned_of_once_for_all_rankers():
    with pytest.warns(UndefinedMetricWarning, match="1 of 30 queries") as caught:
        from_predictions(np.r_[0 * Y[:1], Y[1:]], {"a": S, "b": -S})
    assert len(caught) == 1


def test_y_score_and_name_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=re.escape("y_score must have at least one ranker with")):
        from_predictions(Y, {})
    with pytest.raises(ValueError, match="name must be for one ranker, got 'model'"):
        from_predictions(Y, {"a": S, "b": S}, name="model")
    with pytest.raises(ValueError, match="must have the same shape") as caught:
        from_predictions(Y, {"a": S, "b": S[:, 1:]})
    assert caught.value.__notes__ == ["While comparing the ranker 'b'."]


def by_all_orders(y, s, k, **options):
    """Mean NDCG of one query over all orders of what was retrieved."""
    retrieved = np.flatnonzero(np.asarray(s) > -np.inf)
    orders = np.array(list(permutations(range(len(retrieved)))))
    ranked = np.full((len(orders), len(s)), -np.inf)
    ranked[:, retrieved] = orders
    return ndcg_score(np.tile(y, (len(orders), 1)), ranked, k=k, **options)


Y_FEW = np.array([[3, 0, 1, 2, 0, 4], [1, 1, 0, 2, 0, 0], [0, 2, 0, 0, 1, 1]])
UNRETRIEVED = np.array([
    [0.1, -np.inf, 0.3, -np.inf, 0.2, -np.inf],
    [-np.inf] * 6,  # nothing was retrieved: 0, by chance too
    [0.5, 0.5, 0.1, 0.2, 0.7, 0.3],
])  # fmt: skip
PARTLY_JUDGED = np.array([[3, np.nan, 1, 2, np.nan, 0]] * 3)


@pytest.mark.parametrize(("y", "dtype", "options"), [
    (Y_FEW, np.float64, {}), (Y_FEW, np.float32, {}), (Y_FEW, np.longdouble, {}),
    (PARTLY_JUDGED, float, {"unjudged": "zero", "gain": "exponential"}),
    (PARTLY_JUDGED, float, {"unjudged": "omit", "gain": "exponential"}),
])  # fmt: skip
def test_chance_level_does_not_retrieve_what_the_ranker_did_not(y, dtype, options):
    queries, s = zip(y, UNRETRIEVED, strict=True), UNRETRIEVED.astype(dtype)
    of_each = [[by_all_orders(*query, k, **options) for k in (1, 3, 6)] for query in queries]
    options |= {"k": [1, 3, 6], "confidence_level": None}
    display = from_predictions(y, s, **options)
    assert display.chance_level == pytest.approx(np.mean(of_each, axis=0), abs=1e-14)
    order = np.random.default_rng(0).permutation(y.size)
    groups = np.repeat([0, 1, 2], 6)[order]
    display = from_predictions(y.ravel()[order], s.ravel()[order], groups=groups, **options)
    assert display.chance_level == pytest.approx(np.mean(of_each, axis=0), abs=1e-14)


def test_from_estimator():
    X, y, query = indexed_rows()
    model = Ridge().fit(X, y)
    expected = ndcg_curve(y, model.predict(X), groups=query, k=[1, 5])[1].tolist()
    by_index = from_estimator(model, X, y, group_by="query", k=[1, 5])
    assert (by_index.name, by_index.ndcg.tolist()) == ("Ridge", expected)
    by_groups = from_estimator(model, X, y, groups=query, k=[1, 5], name="mine")
    assert (by_groups.name, by_groups.ndcg.tolist()) == ("mine", expected)
    with pytest.raises(ValueError, match="The scorer got no groups"):
        from_estimator(model, X, y)


@pytest.mark.parametrize("k", [None, [1, 3, 5]])
def test_from_cv_results(k):
    X, y, query = indexed_rows()
    cv_results = cross_validate(
        Ridge(), X, y, groups=query, cv=GroupKFold(4), return_estimator=True, return_indices=True,
        scoring=make_ndcg_scorer(k=5, group_by="query"),
    )  # fmt: skip
    display = from_cv_results(cv_results, X, y, group_by="query", k=k, name="Ridge")
    assert display.ndcg.shape == (4, len(display.k))
    at_5 = display.ndcg[:, display.k.tolist().index(5)]
    assert at_5 == pytest.approx(cv_results["test_score"])
    assert (display.name, display.interval) == ("Ridge", None)
    routed = from_cv_results(cv_results, X, y, groups=query, k=k)
    assert routed.ndcg.tolist() == display.ndcg.tolist()
    weighted = from_cv_results(cv_results, X, y, groups=query, k=k, sample_weight=query + 1)
    folds = zip(cv_results["estimator"], cv_results["indices"]["test"], strict=True)
    for curve, (model, at) in zip(weighted.ndcg, folds, strict=True):
        options = {"groups": query[at], "sample_weight": query[at] + 1, "k": display.k}
        assert curve.tolist() == ndcg_curve(y[at], model.predict(X.iloc[at]), **options)[1].tolist()


def results_of(*folds):
    return {"estimator": [FirstColumn() for _ in folds], "indices": {"test": folds}}


def test_from_cv_results_has_the_mean_chance_level_of_the_folds():
    X, y, query = indexed_rows()
    X["a"] = np.where(X["a"] < -0.5, -np.inf, X["a"])
    folds = [np.flatnonzero(query % 2 == fold) for fold in (0, 1)]
    found = from_cv_results(results_of(*folds), X, y, groups=query, k=[5])
    alone = [from_predictions(y[at], X["a"].iloc[at], groups=query[at], k=[5]) for at in folds]
    assert found.chance_level == pytest.approx(np.mean([each.chance_level for each in alone]))


def test_from_cv_results_of_folds_whose_longest_queries_differ_ends_flat():
    query, y = np.repeat([0, 1, 2, 3], [2, 2, 6, 6]), np.arange(16) % 3
    folds = results_of(np.arange(4), np.arange(4, 16))
    display = from_cv_results(folds, np.arange(16.0)[:, np.newaxis] % 5, y, groups=query)
    assert display.k.tolist() == [1, 2, 3, 4, 5, 6]
    assert (display.ndcg[0, 1:] == display.ndcg[0, 1]).all()


@pytest.mark.parametrize("counts", [(9, 8), (8, 9), (9, 9)])
def test_from_cv_results_refuses_x_and_y_of_other_rows(counts):
    x, y, query = np.ones((9, 1)), np.ones(9), np.arange(9) // 2
    results = results_of(np.arange(2, 8))  # no fold has the first rows
    from_cv_results(results, x[:8], y[:8], groups=query[:8])
    message = f"X and y must have the 8 rows of the folds, but have {[*counts]}"
    with pytest.raises(ValueError, match=re.escape(message)):
        from_cv_results(results, x[: counts[0]], y[: counts[1]], groups=query)


def test_from_cv_results_needs_estimators_and_indices():
    with pytest.raises(ValueError, match="cv_results must have 'estimator' and 'indices'.*got"):
        from_cv_results({"test_score": [1]}, Y, Y)


X = S.reshape(-1, 1)
ROWS, OF_ROWS = Y.ravel(), {"groups": np.repeat(np.arange(30), 12)}
CONSTRUCTORS = {
    "from_predictions": lambda **o: from_predictions(Y, S, **o),
    "from_estimator": lambda **o: from_estimator(FirstColumn(), X, ROWS, **OF_ROWS, **o),
    "from_cv_results": lambda **o: from_cv_results(results_of(range(360)), X, ROWS, **OF_ROWS, **o),
}
DRAWING = {
    "ax": 1, "curve_kwargs": {"color": "red"}, "plot_chance_level": True,
    "chance_level_kwargs": {"lw": 3}, "despine": True,
}  # fmt: skip


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_options_of_plot_are_passed_on(constructor):
    assert CONSTRUCTORS[constructor](**DRAWING).passed_to_plot == DRAWING
    assert CONSTRUCTORS[constructor]().passed_to_plot == {}


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_options_that_are_unknown_are_refused(constructor):
    message = "from_predictions has no option 'tie'. Did you mean ties.* undefined, .* despine"
    with pytest.raises(TypeError, match=message):
        CONSTRUCTORS[constructor](tie="worst")
    with pytest.raises(ValueError, match="ties must be one of"):
        CONSTRUCTORS[constructor](ties="first")


def test_confidence_level_must_be_between_0_and_1():
    with pytest.raises(ValueError, match="confidence_level must be between 0 and 1"):
        from_predictions(Y, S, confidence_level=0)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    for module in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match='Drawing needs matplotlib: .* "matplotlib>=3.8"'):
        from_predictions(Y, S)
