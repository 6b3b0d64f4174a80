"""Every shape of the same data, in every function that takes relevance and scores: one number."""

import numpy as np
import pandas as pd
import pytest
from helpers import as_runs

from sklearn_ndcg import (
    dcg_samples,
    dcg_score,
    explain_difference,
    explain_query,
    from_lists,
    from_trec,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
)
from sklearn_ndcg.inference import NDCGDisplay, compare_rankers, ndcg_by_segment, ndcg_interval


def curve(*data, k=None, **options):
    """NDCG at each cutoff up to `k`."""
    return ndcg_curve(*data, k=None if k is None else np.arange(1, k + 1), **options)[1]


def explained(*data, **options):
    """NDCG of each query."""
    groups = options.get("groups", getattr(data[0], "groups", None))
    queries = range(len(data[0])) if groups is None else np.unique(groups)
    return [explain_query(*data, query=query, **options).ndcg for query in queries]


def explained_difference(*data, first="sklearn", second="lightgbm", **options):
    """NDCG before and after each step."""
    return explain_difference(*data, first=first, second=second, **options).ndcg


def display(*data, **options):
    """NDCG at each cutoff that is drawn."""
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    from matplotlib.figure import Figure  # noqa: PLC0415

    ax = Figure().add_axes((0.2, 0.3, 0.7, 0.6))  # in no grid, which would be laid out
    return NDCGDisplay.from_predictions(*data, ax=ax, **options).ndcg


def numbers_of(result):
    """Means, standard errors and bounds of a result."""
    mean = result.mean.values() if isinstance(result.mean, dict) else np.ravel(result.mean)
    return [*mean, *np.ravel(result.standard_error), *np.ravel(result.confidence_interval)]


def interval(*data, **options):
    return numbers_of(ndcg_interval(*data, method="t", **options))


def by_segment(*data, **options):
    table = ndcg_by_segment(*data, method="t", **options)
    return [*numbers_of(table.overall), *numbers_of(table)]


def compared(*data, **options):
    return numbers_of(compare_rankers(*data, test="t", **options))


# those that take relevance and scores, or rows of lists in their place
OF_ROWS = {
    "ndcg_score": ndcg_score,
    "dcg_score": dcg_score,
    "ndcg_samples": ndcg_samples,
    "dcg_samples": dcg_samples,
    "ndcg_curve": curve,
    "explain_query": explained,
    "explain_difference": explained_difference,
    "ndcg_interval": interval,
    "NDCGDisplay": display,
}

TRUTHS = {
    "u1": {"A": 3, "B": 0, "C": 2, "D": 1},
    "u2": {"A": 1, "B": 2, "C": 0, "D": 0},
    "u3": {"A": 0, "B": 3, "C": 1, "D": 2},
}
LISTS = {"u1": ["B", "A", "D"], "u2": ["C", "B"], "u3": ["D", "B", "A", "C"]}
RANKERS = {"one": LISTS, "two": {user: ids[::-1] for user, ids in LISTS.items()}}
RUNS = as_runs(RANKERS)
K = 3
# the same as matrices, one row for each user and one column for each document
Y = np.array([list(truth.values()) for truth in TRUTHS.values()])
SCORES = {
    name: np.array([[run[user].get(document, -np.inf) for document in "ABCD"] for user in TRUTHS])
    for name, run in RUNS.items()
}
GROUPS = np.repeat(list(TRUTHS), 4)


def values_of(by_user):
    return list(by_user.values())


def write_files(folder):
    """Write judgements and two runs, and return their paths."""
    lines = {"qrels": [f"{u} 0 {d} {g}" for u, truth in TRUTHS.items() for d, g in truth.items()]}
    for name, run in RUNS.items():
        scores = [(user, d, score) for user, by_id in run.items() for d, score in by_id.items()]
        lines[name] = [f"{user} Q0 {d} 0 {score} {name}" for user, d, score in scores]
    for name, text in lines.items():
        (folder / name).write_text("\n".join(text) + "\n", encoding="utf-8")
    return {name: folder / name for name in lines}


# Each shape gives the rows of the first ranker, and those of both.
def dicts(_=None):
    return from_lists(TRUTHS, LISTS, k=K), from_lists(TRUTHS, rankers=RANKERS, k=K)


def sequences(_):
    rankers = {name: values_of(lists) for name, lists in RANKERS.items()}
    truths = values_of(TRUTHS)
    return from_lists(truths, rankers["one"], k=K), from_lists(truths, rankers=rankers, k=K)


def one_of_several(_):
    both = from_lists(TRUTHS, rankers=RANKERS, k=K)
    return both["one"], both


def trec_dicts(_):
    return from_trec(TRUTHS, RUNS["one"], k=K), from_trec(TRUTHS, runs=RUNS, k=K)


def trec_files(folder):
    paths = write_files(folder)
    qrels = paths.pop("qrels")
    return from_trec(qrels, paths["one"], k=K), from_trec(str(qrels), runs=paths, k=K)


SHAPES = [dicts, sequences, one_of_several, trec_dicts, trec_files]


every_function = pytest.mark.parametrize("function", OF_ROWS.values(), ids=OF_ROWS)
few_queries = pytest.mark.filterwarnings("ignore:.*unreliable", "ignore:All .* queries have")


@few_queries
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_every_shape_has_the_numbers_of_a_matrix(shape, tmp_path):
    rows, both = shape(tmp_path)
    np.testing.assert_allclose(ndcg_samples(rows), ndcg_samples(Y, SCORES["one"], k=K))
    np.testing.assert_allclose(compared(both), compared(Y, SCORES, k=K), rtol=1e-14)


@few_queries
@every_function
def test_rows_of_several_rankers_are_drawn_or_refused(function):
    _, both = dicts()
    if function is display:
        np.testing.assert_allclose(display(both), display(Y, SCORES, k=K), rtol=1e-15)
    else:
        with pytest.raises(ValueError, match=r"of 2 rankers: pass those of one, rows\['one'\]"):
            function(both)


def test_rows_of_one_ranker_are_not_compared():
    rows, _ = dicts()
    with pytest.raises(ValueError, match=r"at least two rankers: pass rankers=\{name: lists\}"):
        compare_rankers(rows)


# --- values of queries

USERS = [f"u{i:02}" for i in range(24)][::-1]  # not in the order of ids
MANY_TRUTHS = {user: values_of(TRUTHS)[i % 3] for i, user in enumerate(USERS)}
MANY_LISTS = {user: [*"ABCD"[i % 4 :], "E"] for i, user in enumerate(USERS)}
MANY_RANKERS = {"one": MANY_LISTS, "two": {user: ids[::-1] for user, ids in MANY_LISTS.items()}}
OF_USER = {
    "sample_weight": {user: float(1 + i % 5) for i, user in enumerate(USERS)},
    "segments": {user: ("new", "old")[i % 2] for i, user in enumerate(USERS)},
    "clusters": {user: i // 2 for i, user in enumerate(USERS)},
}
# functions, and the arguments that have a value for each query
TAKES = {
    ndcg_score: ["sample_weight"],
    dcg_score: ["sample_weight"],
    curve: ["sample_weight"],
    explained_difference: ["sample_weight"],
    display: ["sample_weight"],
    interval: ["sample_weight", "clusters"],
    by_segment: ["sample_weight", "segments"],
    compared: ["sample_weight", "clusters"],
}
# how truths and lists are read of what is by user, and how values of queries are
BY_QUERY = {
    "names, dict": (dict, lambda by_user: dict(reversed(by_user.items()))),
    "names, Series": (dict, lambda by_user: pd.Series(by_user)[::-1]),
    "numbers, list": (values_of, values_of),
    "numbers, array": (values_of, lambda by_user: np.array(values_of(by_user))),
    "numbers, Series": (values_of, lambda by_user: pd.Series(values_of(by_user))),
    "numbers, dict": (values_of, lambda by_user: dict(enumerate(by_user.values()))),
}


def read_users(function, read):
    if function in {display, compared}:
        rankers = {name: read(lists) for name, lists in MANY_RANKERS.items()}
        return from_lists(read(MANY_TRUTHS), rankers=rankers)
    return from_lists(read(MANY_TRUTHS), read(MANY_LISTS))


def assert_values_of_queries(function, read, make):
    """Values of queries have the numbers of the same values of rows."""
    values = {name: OF_USER[name] for name in TAKES[function]}
    rows = read_users(function, dict)
    of_rows = {name: [by_user[u] for u in rows.groups] for name, by_user in values.items()}
    expected = function(rows.y_true, rows.y_score, groups=rows.groups, **of_rows)
    arguments = {name: make(by_user) for name, by_user in values.items()}
    result = function(read_users(function, read), **arguments)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


few_clusters = pytest.mark.filterwarnings(
    "ignore:.* effective number of", "ignore:Intervals of 2 of the 2"
)


@few_clusters
@pytest.mark.parametrize("function", TAKES, ids=lambda function: function.__name__)
def test_every_function_takes_values_of_queries(function):
    assert_values_of_queries(function, *BY_QUERY["names, dict"])


@few_clusters
@pytest.mark.parametrize(("read", "make"), BY_QUERY.values(), ids=BY_QUERY)
def test_values_of_queries_in_any_container(read, make):
    assert_values_of_queries(by_segment, read, make)


# --- errors

# beside rows: arguments, and the error
WRONG = {
    "scores": ([SCORES["one"]], {}, TypeError, "y_scores? must be left out, got ndarray: rows of"),
    "groups": ([], {"groups": GROUPS}, TypeError, "groups must be left out, got ndarray: rows of"),
    "larger cutoff": ([], {"k": 4}, ValueError, "k must be at most 3, got 4: .* from_lists"),
}


@few_queries
@pytest.mark.parametrize(("data", "options", "error", "message"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("function", [ndcg_score, curve, explained, interval])
def test_what_rows_have_already_is_refused(function, data, options, error, message):
    rows, _ = dicts()
    with pytest.raises(error, match=message):
        function(rows, *data, **options)


def test_a_dict_and_lists_are_told_where_to_go():
    with pytest.raises(TypeError, match=r"ndcg_score\(from_lists\(relevant, recommended, k=10\)\)"):
        ndcg_score(TRUTHS, LISTS)
