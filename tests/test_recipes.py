"""Every recipe of docs/ runs alone, and gives the numbers of plain loops and of other libraries."""

import doctest
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression

from sklearn_ndcg import from_lists, ndcg_samples, ndcg_score

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [*sorted(DOCS.glob("how_to_*.md")), DOCS / "frames.md", DOCS / "pictures.md"]
LIBRARIES = (
    "duckdb",
    "lightgbm",
    "matplotlib",
    "optuna",
    "pandas",
    "polars",
    "pyarrow",
    "statsmodels",
)


def split_page(page):
    """The lines that a page asks to run first, and its recipes by their titles."""
    head, *sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return head, {section.partition("\n")[0]: section for section in sections}


@cache
def run(page, title):
    """Run a recipe after the first lines of its page, and return what they define."""
    head, recipes = split_page(page)
    for library in LIBRARIES:
        if f" {library}" in head + recipes[title]:
            pytest.importorskip(library)
    test = doctest.DocTestParser().get_doctest(head + recipes[title], {}, title, None, None)
    printed = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    failed, attempted = runner.run(test, out=printed.append, clear_globs=False)
    assert not failed, "".join(printed)
    assert attempted
    return test.globs


@pytest.mark.parametrize(
    ("page", "title"),
    [
        pytest.param(page, title, id=f"{page.stem}: {title}")
        for page in PAGES
        for title, recipe in split_page(page)[1].items()
        if ">>>" in recipe
    ],
)
def test_a_recipe_runs_after_the_first_lines_of_its_page(page, title):
    run(page, title)


# --- functions of recipes, on awkward input


def recipe_function(name):
    """A function that a recipe of docs/how_to_metrics.md defines."""
    titles = {
        "ndcg_of_first_tenth": "A cutoff that is a share of the query",
        "ndcg_of_classes": "Rank the classes of a classifier",
        "hit_rate": "Recall and hit rate",
        "recall": "Recall and hit rate",
        "reciprocal_rank": "Use another metric, query by query: MAP, MRR",
    }
    return run(DOCS / "how_to_metrics.md", titles[name])[name]


@pytest.mark.parametrize(("length", "k"), [(1, 1), (10, 1), (11, 2)])
def test_a_share_of_the_query_is_rounded_up(length, k):
    rng = np.random.default_rng(0)
    y_true, y_score = 1 + rng.integers(0, 4, length), rng.permutation(length)
    discount = 1 / np.log2(np.arange(2, k + 2))
    ranked = y_true[np.argsort(-y_score)][:k]
    expected = ranked @ discount / (np.sort(y_true)[::-1][:k] @ discount)
    value = recipe_function("ndcg_of_first_tenth")(y_true, y_score)
    assert value == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(
    ("y_true", "y_score", "expected"),
    [
        pytest.param([4, 0, 3], [1, 3, 2], 1 / 2, id="the first hit counts"),
        pytest.param([0, 3], [1, 1], 1 / 2, id="ties in the order of rows"),
        pytest.param([0, 3], [1, -np.inf], 0, id="not retrieved"),
        pytest.param([3, 4], [-np.inf, -np.inf], 0, id="an empty list"),
        pytest.param([2, 0], [1, 2], np.nan, id="nothing relevant"),
        pytest.param([np.nan, 3], [2, 1], 1 / 2, id="an unjudged document"),
    ],
)
def test_reciprocal_rank(y_true, y_score, expected):
    reciprocal_rank = recipe_function("reciprocal_rank")
    value = reciprocal_rank(np.array(y_true), np.array(y_score, dtype=float))
    assert value == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("y_true", "y_score", "expected"),
    [
        pytest.param([4, 3, 0, 2, 3], [1, 5, 4, 3, 2], 1 / 3, id="one of three"),
        pytest.param([0, 0, 0, 3], [1, 1, 1, 1], 0, id="ties in the order of rows"),
        pytest.param([0, 3], [1, -np.inf], 0, id="not retrieved"),
        pytest.param([3], [-np.inf], 0, id="an empty list"),
        pytest.param([2, 0], [1, 2], np.nan, id="nothing relevant"),
        pytest.param([np.nan, 3], [2, 1], 1, id="an unjudged document"),
    ],
)
def test_recall_is_the_share_of_the_relevant_that_is_found(y_true, y_score, expected):
    data = np.array(y_true), np.array(y_score, dtype=float)
    assert recipe_function("recall")(*data) == pytest.approx(expected, nan_ok=True)
    hit = expected if np.isnan(expected) else float(expected > 0)
    assert recipe_function("hit_rate")(*data) == pytest.approx(hit, nan_ok=True)


@pytest.mark.parametrize("names", [["no", "yes"], ["a", "b", "c", "d"]], ids=["two", "four"])
def test_ndcg_of_classes_is_the_discount_of_the_true_class(names):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.choice(names, 60)
    model = LogisticRegression().fit(X, y)
    first_two = np.array(names)[np.argsort(-model.predict_proba(X))[:, :2]]
    expected = (first_two == y[:, None]) @ [1, 1 / np.log2(3)]
    value = recipe_function("ndcg_of_classes")(model, X, y)
    assert value == pytest.approx(expected.mean(), abs=1e-14)


def test_a_class_that_the_model_does_not_know_counts_zero():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = LogisticRegression().fit(X, [0, 0, 1, 1])
    with pytest.warns(UndefinedMetricWarning, match="1 of 4"):
        value = recipe_function("ndcg_of_classes")(model, X, [0, 0, 1, 2])
    assert value == pytest.approx(3 / 4)


# --- other ideals, and weights of documents


def rows_without_ties(seed, *, binary=False):
    """Queries with a relevant document, and a last one without."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(8), rng.integers(2, 12, 8))
    y_true = rng.integers(0, 2 if binary else 4, len(groups))
    y_true[np.unique(groups, return_index=True)[1]] = 1
    y_true[groups == 7] = 0
    return y_true, rng.permutation(len(groups)) / 8, groups


def with_ideal_of(k, y_true, y_score, groups):
    """NDCG whose ideal has k relevant documents, whatever the truth holds."""
    truth, lists = {}, {}
    for query in np.unique(groups):
        rows = np.flatnonzero(groups == query)
        lists[query] = rows[np.argsort(-y_score[rows])].tolist()
        truth[query] = {*rows[y_true[rows] == 1].tolist(), *(f"x{i}" for i in range(k))}
    return ndcg_score(from_lists(truth, lists, k=k))


@pytest.mark.parametrize("k", [3, 50])
def test_an_ideal_of_k_relevant_by_its_formula(k):
    y_true, y_score, groups = rows_without_ties(0, binary=True)
    discount = 1 / np.log2(np.arange(2, k + 2))
    expected = []
    for query in np.unique(groups):
        ranked = y_true[groups == query][np.argsort(-y_score[groups == query])][:k]
        expected.append(ranked @ discount[: len(ranked)] / discount.sum())
    assert with_ideal_of(k, y_true, y_score, groups) == pytest.approx(np.mean(expected), abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 50])
def test_an_ideal_of_k_relevant_is_that_of_rectools(k):
    pd, of_rectools = pytest.importorskip("pandas"), pytest.importorskip("rectools.metrics")
    for seed in range(5):
        y_true, y_score, groups = rows_without_ties(seed, binary=True)
        known = groups < 7  # users without a relevant item are not in the interactions
        ours = with_ideal_of(k, y_true[known], y_score[known], groups[known])
        ranked, liked = np.lexsort((-y_score, groups)), np.flatnonzero(y_true)
        lists = pd.DataFrame({"user_id": groups[ranked], "item_id": ranked})
        lists["rank"] = lists.groupby("user_id").cumcount() + 1
        truth = pd.DataFrame({"user_id": groups[liked], "item_id": liked})
        assert of_rectools.NDCG(k).calc(lists, truth) == pytest.approx(ours, abs=1e-12)


@pytest.mark.parametrize(
    ("relevant", "retrieved"),
    [
        pytest.param({"A": 2, "D": 1, "G": 3}, ["D", "A"], id="a short list"),
        pytest.param({"A": 2, "B": 1}, [], id="an empty list"),
    ],
)
def test_an_ideal_of_the_retrieved_is_what_scikit_learn_gives_for_them(relevant, retrieved):
    rows = from_lists({"q": relevant, "other": {"A"}}, {"q": retrieved, "other": ["A"]}, k=3)
    of_retrieved = np.where(np.isfinite(rows.y_score), rows.y_true, 0)
    ours = ndcg_score(of_retrieved, rows.y_score, groups=rows.groups, k=3, undefined=0.0)
    grades, scores = [relevant.get(item, 0) for item in retrieved], [3, 2, 1][: len(retrieved)]
    theirs = metrics.ndcg_score([grades], [scores]) if retrieved else 0.0
    assert ours == pytest.approx((theirs + 1) / 2, abs=1e-14)


def test_an_ideal_of_the_lists_length_is_that_of_elasticsearch():
    # DiscountedCumulativeGainTests.java: hits of the ratings 3, 2, 3, none; one of 1 is no hit
    y_true, y_score = [[3, 2, 3, np.nan, 1]], [[4, 3, 2, 1, -np.inf]]
    options = {"gain": "exponential", "unjudged": "zero", "k": "retrieved"}
    assert ndcg_score(y_true, y_score, **options) == pytest.approx(
        12.392789260714371 / 13.347184833073591, abs=1e-12
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:``mlflow.metrics.ndcg_at_k`` is deprecated:FutureWarning")
@pytest.mark.parametrize("k", [3, 50])
def test_an_ideal_of_the_lists_length_is_that_of_mlflow(k):
    pd, of_mlflow = pytest.importorskip("pandas"), pytest.importorskip("mlflow.metrics")
    rng = np.random.default_rng(0)
    items = np.array(list("ABCDEFGHIJ"))
    lists = [rng.permutation(items)[: rng.integers(1, 8)].tolist() for _ in range(30)]
    relevant = [rng.permutation(items)[: rng.integers(0, 8)].tolist() for _ in range(30)]
    theirs = of_mlflow.ndcg_at_k(k).eval_fn(pd.Series(lists), pd.Series(relevant)).scores
    rows = from_lists(relevant, [items[:k] for items in lists], k="retrieved")
    ours = ndcg_samples(rows, undefined=0.0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("k", [None, 3])
def test_weights_of_documents_multiply_the_gain_in_rax(k):
    rax, jnp = pytest.importorskip("rax"), pytest.importorskip("jax.numpy")
    y_true, y_score, groups = rows_without_ties(0)
    weight = np.random.default_rng(1).integers(1, 9, len(groups)) / 8
    score, grade, weights = (jnp.asarray(a, jnp.float32) for a in (y_score, y_true, weight))
    options = {"weights": weights, "segments": jnp.asarray(groups), "topn": k}
    ours = ndcg_score(weight * (2.0**y_true - 1), y_score, groups=groups, k=k, undefined=0.0)
    assert float(rax.ndcg_metric(score, grade, **options)) == pytest.approx(ours, abs=1e-6)


# --- intervals and tests


def test_the_page_on_intervals_and_tests_runs():
    """Its recipes use what the page defines above them."""
    pytest.importorskip("pandas")
    pytest.importorskip("statsmodels")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    page = str(DOCS / "evidence.md")
    failed, attempted = doctest.testfile(page, module_relative=False, optionflags=flags)
    assert attempted
    assert not failed


def gate(old, new):
    """Run the lines of the recipe, from the reading of the lists to the exit."""
    page, title = DOCS / "how_to_lists.md", "A CI gate: is another ranker as good?"
    defined = run(page, title) | {"grades": JUDGED, "neighbours": old, "shorter": new}
    examples = doctest.DocTestParser().get_examples(split_page(page)[1][title])
    sources = [each.source for each in examples]
    [first] = [n for n, source in enumerate(sources) if source.startswith("rows = ")]
    exec("".join(sources[first:]), defined)  # noqa: S102


JUDGED = {query: {"a": 1, "b": 0} for query in range(60)}
GOOD, POOR = dict.fromkeys(JUDGED, ("a", "b")), dict.fromkeys(JUDGED, ("b", "a"))
UNJUDGED = dict.fromkeys(range(60, 600), ("a", "b"))


@pytest.mark.filterwarnings("ignore")  # what is not an error by the recipe's own filter
def test_the_gate_fails_if_rankers_are_not_judged_alike():
    with pytest.raises(UserWarning, match="are judged, compared with"):
        gate(POOR, dict.fromkeys(JUDGED, ("a", "x")))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("old", "new"),
    [(GOOD, POOR), (GOOD | UNJUDGED, POOR | UNJUDGED), ({0: GOOD[0], 1: GOOD[1]},) * 2],
    ids=["worse", "worse, and most are unjudged", "both lack most queries"],
)
def test_the_gate_exits_if_it_should(old, new):
    gate(POOR, GOOD)
    with pytest.raises(SystemExit):
        gate(old, new)
