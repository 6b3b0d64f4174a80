"""Every shape of the same data, in every function that takes relevance and scores: one number."""

import gzip
from functools import partial

import numpy as np
import pandas as pd
import pytest

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

TRUTH = {
    "u1": {"A": 3, "B": 0, "C": 2, "D": 1},
    "u2": {"A": 1, "B": 2, "C": 0, "D": 0},
    "u3": {"A": 0, "B": 3, "C": 1, "D": 2},
}
LISTS = {"u1": ["B", "A", "D"], "u2": ["C", "B"], "u3": ["D", "B", "A", "C"]}
OTHER = {user: ids[::-1] for user, ids in LISTS.items()}
USERS = sorted(TRUTH)
K = 3


def scores_of(lists):
    """A score for each document in the order A, B, C, D, as in a run."""
    return {u: {d: -float(ids.index(d)) for d in ids} for u, ids in lists.items()}


def matrix_of(lists):
    scores = scores_of(lists)
    return [[scores[user].get(document, -np.inf) for document in "ABCD"] for user in USERS]


def in_order(by_user):
    return [by_user[user] for user in USERS]


def trec_files(folder, compressed=False):
    """Judgements and two runs in files."""
    opened = gzip.open if compressed else open
    lines = {"qrels": [f"{u} 0 {d} {g}" for u, truth in TRUTH.items() for d, g in truth.items()]}
    for name, lists in (("one", LISTS), ("two", OTHER)):
        lines[name] = [
            f"{user} Q0 {document} 0 {score} {name}"
            for user, scores in scores_of(lists).items()
            for document, score in scores.items()
        ]
    for name, text in lines.items():
        with opened(folder / name, "wt") as file:
            file.write("\n".join(text) + "\n")
    return {name: folder / name for name in lines}


# rows of the ranker that is scored, and of both rankers, each with the keyword arguments beside them
def dicts(_):
    return from_lists(TRUTH, LISTS, k=K), from_lists(
        TRUTH, rankers={"one": LISTS, "two": OTHER}, k=K
    )


def sequences(_):
    rankers = {"one": in_order(LISTS), "two": in_order(OTHER)}
    return (
        from_lists(in_order(TRUTH), in_order(LISTS), k=K),
        from_lists(in_order(TRUTH), rankers=rankers, k=K),
    )


def one_of_several(_):
    both = from_lists(TRUTH, rankers={"one": LISTS, "two": OTHER}, k=K)
    return both["one"], both


def trec_dicts(_):
    runs = {"one": scores_of(LISTS), "two": scores_of(OTHER)}
    return from_trec(TRUTH, runs["one"], k=K), from_trec(TRUTH, runs=runs, k=K)


def files(folder, compressed=False):
    paths = trec_files(folder, compressed)
    runs = {name: paths[name] for name in ("one", "two")}
    return (
        from_trec(paths["qrels"], paths["one"], k=K),
        from_trec(str(paths["qrels"]), runs=runs, k=K),
    )


SHAPES = {
    "dicts": dicts,
    "sequences": sequences,
    "one of several rankers": one_of_several,
    "TREC dicts": trec_dicts,
    "TREC files": files,
    "TREC files, compressed": partial(files, compressed=True),
}
Y = np.array([[TRUTH[user][document] for document in "ABCD"] for user in USERS])
SCORES = {"one": np.array(matrix_of(LISTS)), "two": np.array(matrix_of(OTHER))}
GROUPS = np.repeat(USERS, 4)
SEGMENT = {"u1": "new", "u2": "old", "u3": "old"}
FLAT = {"k": K, "groups": GROUPS}


def mean_of(function):
    return lambda *data, **options: function(*data, method="t", **options).mean


def drawn(*data, **options):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    display = NDCGDisplay.from_predictions(*data, **options)
    pyplot.close("all")
    return display.ndcg


# the number of each function, of what stands for y_true and y_score
FUNCTIONS = {
    "ndcg_score": ndcg_score,
    "dcg_score": dcg_score,
    "ndcg_samples": ndcg_samples,
    "dcg_samples": dcg_samples,
    "ndcg_curve": lambda *d, k=None, **o: ndcg_curve(*d, k=k and np.arange(1, k + 1), **o)[1],
    "explain_query": lambda *d, groups=None, **o: [
        explain_query(*d, groups=groups, query=query, **o).ndcg
        for query in (
            USERS if groups is not None or "u1" in getattr(d[0], "groups", ()) else range(3)
        )
    ],
    "explain_difference": lambda *d, **o: (
        explain_difference(*d, first="sklearn", second="lightgbm", **o).ndcg
    ),
    "ndcg_interval": mean_of(ndcg_interval),
    "from_predictions": drawn,
}


@pytest.mark.filterwarnings("ignore:.*unreliable", "ignore:All .* queries have")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_the_number_of_a_matrix(shape, function, tmp_path):
    rows, both = SHAPES[shape](tmp_path)
    call = FUNCTIONS[function]
    expected = call(Y, SCORES["one"], k=K)
    np.testing.assert_allclose(call(rows), expected, rtol=1e-15)
    np.testing.assert_allclose(call(Y.ravel(), SCORES["one"].ravel(), **FLAT), expected, rtol=1e-15)
    if function == "from_predictions":
        np.testing.assert_allclose(call(both), call(Y, SCORES, k=K), rtol=1e-15)
    else:
        with pytest.raises(ValueError, match=r"of 2 rankers: pass those of one, rows\['one'\]"):
            call(both)


@pytest.mark.filterwarnings("ignore:.*unreliable", "ignore:All .* queries have")
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_the_segments_and_differences_of_a_matrix(shape, tmp_path):
    rows, both = SHAPES[shape](tmp_path)
    is_numbered = shape == "sequences"
    by_user = in_order(SEGMENT) if is_numbered else SEGMENT
    of_matrix = ndcg_by_segment(Y, SCORES["one"], k=K, segments=in_order(SEGMENT), method="t")
    found = ndcg_by_segment(rows, segments=by_user, method="t")
    assert found.segments == ["new", "old"]
    np.testing.assert_allclose(found.mean, of_matrix.mean, rtol=1e-15)
    compared = compare_rankers(both, test="t", segments=by_user)
    expected = compare_rankers(Y, SCORES, k=K, test="t", segments=in_order(SEGMENT))
    assert compared.pairs == expected.pairs == [("one", "two")]
    np.testing.assert_allclose(compared.difference, expected.difference, rtol=1e-14)
    np.testing.assert_allclose([*compared.mean.values()], [*expected.mean.values()], rtol=1e-15)
    with pytest.raises(ValueError, match=r"at least two rankers: pass rankers=\{name: lists\}"):
        compare_rankers(rows)


MANY = [f"u{i:02}" for i in range(24)]
MANY_TRUTHS = {user: TRUTH[USERS[i % 3]] for i, user in enumerate(MANY)}
MANY_LISTS = {user: [*"ABCD"[i % 4 :], "E"] for i, user in enumerate(MANY)}
MANY_OTHERS = {user: ids[::-1] for user, ids in MANY_LISTS.items()}


def numbers_of(result):
    mean = result.mean.values() if isinstance(result.mean, dict) else np.ravel(result.mean)
    return [*mean, *np.ravel(result.standard_error), *np.ravel(result.confidence_interval)]


def by_segment(comparison):
    return [numbers_of(part) for part in (comparison, *comparison.by_segment.values())]


OF_USER = {  # for each argument a value of each query
    "sample_weight": {user: float(1 + i % 5) for i, user in enumerate(MANY)},
    "segments": {user: ("new", "old")[i % 2] for i, user in enumerate(MANY)},
    "clusters": {user: i // 2 for i, user in enumerate(MANY)},
}
ONE, SEVERAL = {"recommended": MANY_LISTS}, {"rankers": {"one": MANY_LISTS, "two": MANY_OTHERS}}
TAKES = {  # what is read, which arguments it takes beside the rows, and the number that it gives
    "ndcg_score": (ONE, ["sample_weight"], ndcg_score),
    "dcg_score": (ONE, ["sample_weight"], dcg_score),
    "ndcg_curve": (ONE, ["sample_weight"], lambda *d, **o: ndcg_curve(*d, **o)[1]),
    "explain_difference": (ONE, ["sample_weight"], FUNCTIONS["explain_difference"]),
    "from_predictions": (SEVERAL, ["sample_weight"], drawn),
    "ndcg_interval": (
        ONE, ["sample_weight", "clusters"],
        lambda *d, **o: numbers_of(ndcg_interval(*d, method="t", **o)),
    ),
    "ndcg_by_segment": (
        ONE, ["sample_weight", "segments", "clusters"],
        lambda *d, **o: numbers_of(ndcg_by_segment(*d, method="t", **o)),
    ),
    "compare_rankers": (
        SEVERAL, ["sample_weight", "segments", "clusters"],
        lambda *d, **o: by_segment(compare_rankers(*d, test="t", **o)),
    ),
}  # fmt: skip


def read_of_users(function):
    """Rows with the names of users and without, and the values of queries that it takes."""
    given, names, _ = TAKES[function]
    [(argument, lists)] = given.items()
    if argument == "recommended":
        unnamed = [*lists.values()]
    else:
        unnamed = {name: [*by_user.values()] for name, by_user in lists.items()}
    numbered = from_lists([*MANY_TRUTHS.values()], **{argument: unnamed})
    return from_lists(MANY_TRUTHS, **given), numbered, {name: OF_USER[name] for name in names}


@pytest.mark.filterwarnings("ignore:.* effective number of", "ignore:Intervals of 2 of the 2")
@pytest.mark.parametrize("function", TAKES)
def test_values_of_queries_come_as_a_mapping_a_series_or_where_numbered_a_sequence(function):
    rows, numbered, values = read_of_users(function)
    call = TAKES[function][2]
    expected = call(rows, **values)
    of_rows = {name: [by_user[u] for u in rows.groups] for name, by_user in values.items()}
    found = call(rows.y_true, rows.y_score, groups=rows.groups, **of_rows)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    for make in (lambda v: dict(reversed(v.items())), lambda v: pd.Series(v)[::-1]):
        same = {name: make(by_user) for name, by_user in values.items()}
        np.testing.assert_array_equal(call(rows, **same), expected)
    for make in (list, tuple, np.array, pd.Series, lambda v: dict(enumerate(v))):
        same = {name: make([*by_user.values()]) for name, by_user in values.items()}
        np.testing.assert_array_equal(call(numbered, **same), expected)


@pytest.mark.parametrize("function", TAKES)
def test_values_of_queries_that_do_not_fit_are_refused(function):
    rows, numbered, values = read_of_users(function)
    call = TAKES[function][2]
    for name, by_user in values.items():
        arguments = values | {name: [*by_user.values()]}
        with pytest.raises(
            TypeError, match=f"{name} must be a mapping from query to its value, got list"
        ):
            call(rows, **arguments)
        arguments = values | {name: {u: v for u, v in by_user.items() if u != "u07"}}
        with pytest.raises(ValueError, match=f"{name} must have an entry .* example 'u07'"):
            call(rows, **arguments)
        arguments = {n: [*v.values()][n == name :] for n, v in values.items()}
        with pytest.raises(ValueError, match=f"{name} must have one value for each of the 24"):
            call(numbered, **arguments)


def test_one_truth_and_one_list_are_one_query():
    rows = from_lists(TRUTH["u1"], LISTS["u1"], k=K)
    for function in ("ndcg_score", "ndcg_curve", "explain_difference", "dcg_samples"):
        expected = FUNCTIONS[function](Y[:1], SCORES["one"][:1], k=K)
        np.testing.assert_allclose(FUNCTIONS[function](rows), expected, rtol=1e-15)
    assert explain_query(rows).ranks["document"].tolist() == LISTS["u1"]


WRONG = {  # beside rows: the arguments, and what the error says
    "scores": ((SCORES["one"],), {}, TypeError, "y_scores? must be left out, got ndarray: rows of"),
    "groups": ((), {"groups": GROUPS}, TypeError, "groups must be left out, got ndarray: rows of"),
    "a larger cutoff": ((), {"k": 4}, ValueError, "k must be at most 3, got 4: .* from_lists"),
}
CALLS = FUNCTIONS | {
    "ndcg_by_segment": partial(ndcg_by_segment, segments=SEGMENT, method="t"),
    "compare_rankers": partial(compare_rankers, test="t"),
}


@pytest.mark.filterwarnings("ignore:.*unreliable", "ignore:All .* queries have")
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("function", CALLS)
def test_what_rows_have_already_is_refused(function, wrong):
    data, options, error, message = WRONG[wrong]
    rows, both = dicts(None)
    with pytest.raises(error, match=message):
        CALLS[function](both if function == "compare_rankers" else rows, *data, **options)


@pytest.mark.filterwarnings("ignore:.*unreliable")
@pytest.mark.parametrize("function", sorted(FUNCTIONS.keys() - {"ndcg_curve", "from_predictions"}))
def test_a_smaller_cutoff_is_that_of_lists_that_were_read_with_it(function):
    rows, _ = dicts(None)
    call = FUNCTIONS[function]
    assert np.all(call(rows, k=1) == call(from_lists(TRUTH, LISTS, k=1)))


@pytest.mark.parametrize(
    "function", sorted(FUNCTIONS.keys() - {"explain_query", "from_predictions"})
)
def test_a_dict_and_lists_are_told_where_to_go(function):
    with pytest.raises(TypeError, match=r"ndcg_score\(from_lists\(relevant, recommended, k=10\)\)"):
        FUNCTIONS[function](TRUTH, LISTS)
