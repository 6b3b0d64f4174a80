"""What NDCGDisplay computes, without drawing it: curves, bands, chance levels and folds."""

import sys
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from helpers import FirstColumn, graded_rows, matrices, three_rankers
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_validate

from sklearn_ndcg import from_lists, make_ndcg_scorer, ndcg_curve, ndcg_score
from sklearn_ndcg.inference import NDCGDisplay, ndcg_interval

from_predictions, from_estimator = NDCGDisplay.from_predictions, NDCGDisplay.from_estimator
from_cv_results = NDCGDisplay.from_cv_results
Y, S = matrices(30)
X_ROWS, Y_ROWS, QUERY = graded_rows(40, (2, 14), n_grades=5)


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch, request):
    """Keep what the constructors pass to `plot`, and draw nothing."""

    def plot(display, **drawing):
        display.passed_to_plot = drawing
        return display

    if "without_matplotlib" not in request.node.name:
        monkeypatch.setattr(NDCGDisplay, "plot", plot)


def test_a_single_query_has_no_interval():
    display = from_predictions(Y[:1], S[:1])
    assert display.ndcg.tolist() == ndcg_curve(Y[:1], S[:1])[1].tolist()
    assert display.interval is None


WEIGHTS = {
    "none": None,
    "uneven": np.random.default_rng(0).lognormal(0, 1, 41),
    "one decides": np.r_[np.ones(40), 90],
    "some are 0": np.r_[np.zeros(10), np.ones(31)],
}


@pytest.mark.filterwarnings("ignore:.. queries with uneven weights")
@pytest.mark.parametrize(
    ("weights", "undefined"),
    [("none", "omit"), ("uneven", 0.9), ("one decides", "omit"), ("some are 0", 0.9)],
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
    cutoffs = [1, 19, 20, 300]
    by_t = [ndcg_interval(y, s, k=k, method="t", confidence_level=0.8, **options) for k in cutoffs]
    expected = np.transpose([interval.confidence_interval for interval in by_t])
    assert display.interval[:, np.array(cutoffs) - 1] == pytest.approx(expected, abs=1e-12)
    monkeypatch.setattr("sklearn_ndcg._metrics.values._VALUES_AT_A_TIME", 70)
    in_blocks = from_predictions(y, s, confidence_level=0.8, **options)
    assert in_blocks.interval == pytest.approx(display.interval, abs=1e-12)


@pytest.mark.filterwarnings("ignore:2 queries")
def test_interval_lies_within_0_and_1():
    y, s, options = [[1, 0], [1, 0]], [[2, 1], [1, 2]], {"k": [2], "discount": "reciprocal"}
    assert from_predictions(y, s, **options).interval[:, 0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("k", "cutoffs"),
    [
        pytest.param(np.int64(7), range(1, 8), id="last one"),
        pytest.param([10, 5, 1], [1, 5, 10], id="list"),
        pytest.param(10**30, range(1, 13), id="beyond the longest query"),
        pytest.param(None, range(1, 13), id="none"),
    ],
)
def test_k_is_a_list_of_cutoffs_or_the_last_one(k, cutoffs):
    display = from_predictions(Y, S, k=k)
    assert display.k.tolist() == list(cutoffs)
    assert display.ndcg.tolist() == ndcg_curve(Y, S, k=cutoffs)[1].tolist()


@pytest.mark.parametrize("k", [0, True, "retrieved"])
def test_k_that_is_not_a_cutoff_raises(k):
    with pytest.raises(ValueError, match="k must be a 1-D array of integer cutoffs"):
        from_predictions(Y, S, k=k)


@pytest.mark.parametrize(
    ("k", "options", "label"),
    [
        ([10], {}, "NDCG@10"),
        (1, {"gain": "exponential"}, "NDCG@1 (exp. gain)"),
        ([1, 10], {}, "NDCG@k"),
        ([1, 10], {"gain": "exponential"}, "NDCG@k (exp. gain)"),
    ],
)
def test_metric_says_the_cutoff_if_there_is_one(k, options, label):
    assert from_predictions(Y, S, k=k, **options).metric == label


def test_curves_of_several_rankers_are_as_of_each_alone():
    y, scores = three_rankers()
    rng = np.random.default_rng(0)  # by chance, too, rankers differ by what they retrieve
    scores = {name: np.where(rng.random(s.shape) < 0.7, -np.inf, s) for name, s in scores.items()}
    display = from_predictions(y, scores, k=5)
    assert display.name == list(scores)
    alone = [from_predictions(y, s, k=5) for s in scores.values()]
    assert display.ndcg.tolist() == [curve.ndcg.tolist() for curve in alone]
    assert display.interval.tolist() == [curve.interval.tolist() for curve in alone]
    chance = np.mean([curve.chance_level for curve in alone], axis=0)
    assert display.chance_level == pytest.approx(chance, abs=1e-15)


def test_table_of_scores_beside_2_d_y_true_is_one_ranker():
    curve = from_predictions(Y, pd.DataFrame(S), k=5).ndcg
    assert curve.tolist() == ndcg_curve(Y, S, k=range(1, 6))[1].tolist()


def test_mapping_with_one_ranker_has_a_list_of_one_curve():
    display = from_predictions(Y, {"a": S})
    assert display.name == ["a"]
    assert (display.ndcg.shape, display.interval.shape) == ((1, 12), (1, 2, 12))
    assert from_predictions(Y, {"a": S}, confidence_level=None).interval is None


def test_table_of_scores_beside_1_d_y_true_has_a_column_per_ranker():
    scores = pd.DataFrame({"a": np.arange(len(Y_ROWS)) % 7, "b": Y_ROWS % 2})
    weight = np.random.default_rng(0).random(40)[QUERY]
    options = {"groups": QUERY, "sample_weight": weight, "gain": "exponential", "k": [1, 5]}
    display = from_predictions(y_true=Y_ROWS, y_score=scores, **options)
    assert display.name == ["a", "b"]
    expected = [ndcg_curve(Y_ROWS, scores[name], **options)[1].tolist() for name in scores]
    assert display.ndcg.tolist() == expected


@pytest.mark.filterwarnings("ignore:1 queries", "ignore:2 queries")
def test_rows_of_lists_bring_the_names_of_their_rankers():
    rows = from_lists({"a": 2, "b": 1}, rankers={"old": ["c", "b"], "new": ["a", "c"]})
    assert from_predictions(rows, confidence_level=None).name == ["old", "new"]
    assert from_predictions(rows["new"], confidence_level=None).name == "new"


def test_undefined_queries_warn_once_for_all_rankers():
    with pytest.warns(UndefinedMetricWarning, match="1 of 30 queries") as caught:
        from_predictions(np.r_[0 * Y[:1], Y[1:]], {"a": S, "b": -S})
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({}, {}, "y_score must have at least one ranker"),
        ({"a": S, "b": S}, {"name": "model"}, "name must be for one ranker, got 'model'"),
        ({"a": S, "b": S[:, 1:]}, {}, "must have the same shape"),
        (S, {"confidence_level": 0}, "confidence_level must be between 0 and 1"),
    ],
    ids=["no ranker", "one name", "other shape", "level"],
)
def test_arguments_that_do_not_fit_raise(scores, options, message):
    with pytest.raises(ValueError, match=message):
        from_predictions(Y, scores, **options)


def by_all_orders(y, s, k, **options):
    """Mean NDCG of one query over all orders of what was retrieved."""
    retrieved = np.flatnonzero(np.asarray(s) > -np.inf)
    orders = np.array(list(permutations(range(len(retrieved)))))
    ranked = np.full((len(orders), len(s)), -np.inf)
    ranked[:, retrieved] = orders
    return ndcg_score(np.tile(y, (len(orders), 1)), ranked, k=k, **options)


JUDGED = np.array([[3, 0, 1, 2, 0, 4], [1, 1, 0, 2, 0, 0], [0, 2, 0, 0, 1, 1]])
PARTLY_JUDGED = np.array([[3, np.nan, 1, 2, np.nan, 0]] * 3)
NOT_ALL_RETRIEVED = np.array(
    [
        [0.1, -np.inf, 0.3, -np.inf, 0.2, -np.inf],
        [-np.inf] * 6,  # nothing was retrieved: 0, by chance too
        [0.5, 0.5, 0.1, 0.2, 0.7, 0.3],
    ]
)


@pytest.mark.parametrize(
    ("y", "dtype", "options"),
    [
        pytest.param(JUDGED, np.float64, {"ties": "worst"}, id="worst ties"),
        pytest.param(JUDGED, np.longdouble, {}, id="longdouble"),
        pytest.param(PARTLY_JUDGED, float, {"unjudged": "zero", "gain": "exponential"}, id="zero"),
        pytest.param(PARTLY_JUDGED, float, {"unjudged": "omit", "gain": "exponential"}, id="omit"),
    ],
)
def test_chance_level_does_not_retrieve_what_the_ranker_did_not(y, dtype, options):
    queries, s = zip(y, NOT_ALL_RETRIEVED, strict=True), NOT_ALL_RETRIEVED.astype(dtype)
    by_query = [[by_all_orders(*query, k, **options) for k in (1, 3, 6)] for query in queries]
    options |= {"k": [1, 3, 6], "confidence_level": None}
    expected = pytest.approx(np.mean(by_query, axis=0), abs=1e-14)
    assert from_predictions(y, s, **options).chance_level == expected
    order = np.random.default_rng(0).permutation(y.size)
    groups = np.repeat([0, 1, 2], 6)[order]
    of_rows = from_predictions(y.ravel()[order], s.ravel()[order], groups=groups, **options)
    assert of_rows.chance_level == expected


def test_from_estimator():
    X = X_ROWS.set_index(pd.Index(QUERY, name="query"))
    model = Ridge().fit(X, Y_ROWS)
    expected = ndcg_curve(Y_ROWS, model.predict(X), groups=QUERY, k=[1, 5])[1].tolist()
    by_index = from_estimator(model, X, Y_ROWS, group_by="query", k=[1, 5])
    assert (by_index.name, by_index.ndcg.tolist()) == ("Ridge", expected)
    options = {"groups": QUERY, "k": [1, 5], "name": "mine", "confidence_level": 0.8}
    by_groups = from_estimator(model, X, Y_ROWS, **options)
    assert (by_groups.name, by_groups.ndcg.tolist()) == ("mine", expected)
    assert by_groups.confidence_level == 0.8
    with pytest.raises(ValueError, match="The scorer got no groups"):
        from_estimator(model, X, Y_ROWS)


def test_from_cv_results():
    X, options = X_ROWS.set_index(pd.Index(QUERY, name="query")), {"groups": QUERY, "k": [1, 5]}
    folds = {"cv": GroupKFold(4), "return_estimator": True, "return_indices": True}
    scorer = make_ndcg_scorer(k=5, group_by="query")
    cv_results = cross_validate(Ridge(), X, Y_ROWS, groups=QUERY, scoring=scorer, **folds)
    display = from_cv_results(cv_results, X, Y_ROWS, group_by="query", k=[1, 5], name="Ridge")
    assert display.ndcg[:, 1] == pytest.approx(cv_results["test_score"])
    assert (display.name, display.interval) == ("Ridge", None)
    weighted = from_cv_results(cv_results, X, Y_ROWS, sample_weight=QUERY + 1, **options)
    rows = cv_results["indices"]["test"][3]
    scores = cv_results["estimator"][3].predict(X.iloc[rows])
    options = {"groups": QUERY[rows], "sample_weight": QUERY[rows] + 1, "k": [1, 5]}
    expected = ndcg_curve(Y_ROWS[rows], scores, **options)[1]
    assert weighted.ndcg[3].tolist() == expected.tolist()


def results_of(*folds):
    return {"estimator": [FirstColumn() for _ in folds], "indices": {"test": folds}}


def test_fold_with_short_queries_stays_flat_after_the_longest():
    query, y = np.repeat([0, 1, 2, 3], [2, 2, 6, 6]), np.arange(16) % 3
    folds = results_of(np.arange(4), np.arange(4, 16))
    display = from_cv_results(folds, np.arange(16.0)[:, np.newaxis] % 5, y, groups=query)
    assert display.k.tolist() == [1, 2, 3, 4, 5, 6]
    assert (display.ndcg[0, 1:] == display.ndcg[0, 1]).all()


def test_x_and_y_with_other_rows_than_the_folds_raise():
    X, y, query = np.ones((9, 1)), np.ones(9), np.arange(9) // 2
    results = results_of(np.arange(2, 8))  # no fold has the first rows
    from_cv_results(results, X[:8], y[:8], groups=query[:8])
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[8, 9, 9\]"):
        from_cv_results(results, X[:8], y, groups=query)
    with pytest.raises(TypeError, match="sequence or array-like"):
        from_cv_results(results, X[:8], y[:8], groups=5)
    with pytest.raises(ValueError, match="the 8 rows of the folds, but have 7"):
        from_cv_results(results, X[:7], y[:7], groups=query[:7])
    results["indices"]["train"] = [np.arange(2)]  # every row of those that were split is in a set
    with pytest.raises(ValueError, match="the 8 rows of the folds, but have 9"):
        from_cv_results(results, X, y, groups=query)


def test_undefined_queries_of_each_fold_are_warned_of():
    query, y = np.repeat([0, 1, 2, 3, 4], 2), np.array([1, 0] * 3 + [0, 0, 1, 0])
    folds = results_of(np.arange(4), np.arange(4, 10))
    with pytest.warns(UndefinedMetricWarning, match="undefined for 1 of 3 queries"):
        from_cv_results(folds, np.arange(10.0)[:, np.newaxis], y, groups=query)


def test_chance_orders_documents_in_all_ways():
    expected = from_predictions(Y, S).chance_level.tolist()
    for options in ({"ignore_ties": True}, {"ties": "worst"}):
        assert from_predictions(Y, S, **options).chance_level.tolist() == expected


def test_splits_may_leave_out_the_last_rows_and_give_masks():
    train, test = np.isin(QUERY, [0, 1, 2, 4]), np.isin(QUERY, [3, 5, 6])
    folds = {"cv": [(train, test)], "return_estimator": True, "return_indices": True}
    cv_results = cross_validate(Ridge(), X_ROWS, Y_ROWS, scoring=lambda *_: 0, **folds)
    display = from_cv_results(cv_results, X_ROWS, Y_ROWS, groups=QUERY, k=5)
    scores = cv_results["estimator"][0].predict(X_ROWS[test])
    assert display.ndcg[-1] == ndcg_score(Y_ROWS[test], scores, groups=QUERY[test], k=5)


def test_cv_results_without_estimators_and_indices_raise():
    with pytest.raises(ValueError, match=r"cv_results must have .* call cross_validate with ret"):
        from_cv_results({"test_score": [1]}, Y, Y)


ROWS = {"X": S.reshape(-1, 1), "y": Y.ravel(), "groups": np.repeat(np.arange(30), 12)}
CONSTRUCTORS = {
    "from_predictions": lambda **options: from_predictions(Y, S, **options),
    "from_estimator": lambda **options: from_estimator(FirstColumn(), **ROWS, **options),
    "from_cv_results": lambda **options: from_cv_results(results_of(range(360)), **ROWS, **options),
}
DRAWING = dict.fromkeys(["ax", "curve_kwargs", "plot_chance_level", "chance_level_kwargs"], 1)


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_options_of_plot_are_passed_on(constructor):
    assert CONSTRUCTORS[constructor](**DRAWING).passed_to_plot == DRAWING
    assert CONSTRUCTORS[constructor]().passed_to_plot == {}


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_another_word_for_groups_is_named(constructor):
    """Before anything is computed, which would miss the groups."""
    way_out = "groups" if constructor == "from_predictions" else "group_by"
    with pytest.raises(TypeError, match=f"{constructor} has no option 'qid'.* {way_out}\\."):
        CONSTRUCTORS[constructor](qid=QUERY)


def test_unknown_option_raises():
    with pytest.raises(TypeError, match=r"no option 'tie'. Did you mean ties.* despine"):
        from_cv_results(results_of(range(360)), **ROWS, tie="worst")
    with pytest.raises(TypeError, match="no option 'interval_at'"):
        from_predictions(Y, S, interval_at=[5])


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    for module in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match='Drawing needs matplotlib: .* "matplotlib>=3.8"'):
        from_predictions(Y, S)


def test_scores_beside_rows_of_lists_are_called_as_here():
    rows = from_lists([["a"]] * 12, [["a", "b"]] * 12)
    with pytest.raises(TypeError, match="^y_score must be left out, got ndarray"):
        from_predictions(rows, S)
