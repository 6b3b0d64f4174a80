"""What lists become: arrays of all documents, their names, and the cutoff they were read with."""

import pickle
from math import log2

import numpy as np
import pandas as pd
import pytest
from helpers import as_runs, examples, per_query
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, dcg_score

from sklearn_ndcg import (
    explain_difference,
    explain_query,
    from_lists,
    from_trec,
    ndcg_curve,
    ndcg_samples,
    ndcg_score,
)
from sklearn_ndcg.inference import compare_rankers

NAN, INF = np.nan, np.inf
TRUTHS = {"q": {"a": 2, "b": NAN, "c": 1}, "r": ["d"], "s": {}, "t": {}}
LISTS = {"q": ["x", "c", "y"], "s": ["z"], "t": []}
ONE_QUERY = {"q": {"a": 1, "b": 0, "c": 2, "d": 3}}
LONG = {"q": ["a", "b", "c", "d"]}


# --- the same as in plain Python


def rows_by_id(rows):
    """The relevance and the score of each document, by its query and its id."""
    columns = zip(rows.groups.tolist(), rows.ids.tolist(), rows.y_true, rows.y_score, strict=True)
    return {(query, document): (y, s) for query, document, y, s in columns}


def read(truth, listed, unjudged, k):
    """One query in plain Python: the relevance and the score of each document."""
    grades = truth if isinstance(truth, dict) else dict.fromkeys(truth, 1)
    judged = {document: grade for document, grade in grades.items() if not np.isnan(grade)}
    listed = listed[:k] if unjudged == "zero" else listed
    if unjudged == "omit":
        listed = [document for document in listed if document in judged]
    documents = [*listed, *(judged if unjudged == "omit" else grades)] or [None]
    rank = {document: -i for i, document in enumerate(listed, 1)}
    return {d: (judged.get(d, 0), rank.get(d, -INF)) for d in documents}


def by_sklearn(documents, k, gain):
    """NDCG of what `read` returns, by scikit-learn's DCG."""
    kept = [row for d, row in documents.items() if d is not None]
    n_retrieved = sum(s > -INF for _, s in kept)  # scikit-learn ranks all documents
    # two more irrelevant documents, as scikit-learn wants more than one
    gains = [[y if gain == "linear" else gain[y] for y, _ in kept] + [0, 0]]
    scores = [[max(s, -99) for _, s in kept] + [-100, -100]]
    n = len(kept) if k is None else min(k, len(kept))
    best = dcg_score(gains, gains, k=n) if kept else 0
    if not best:
        return UNDEFINED
    return dcg_score(gains, scores, k=min(n, n_retrieved)) / best if n_retrieved else 0


UNDEFINED = 0.25
IDS = st.sampled_from("abcdefg")
TRUTH = st.dictionaries(IDS, st.sampled_from([0, 1, 2, 0.5, NAN])) | st.sets(IDS)
QUERY = st.sampled_from(["u1", "u2", "u3", "u4"])
DRAWN = {
    "truths": st.dictionaries(QUERY, TRUTH, max_size=4).filter(len),
    "lists": st.dictionaries(QUERY, st.lists(IDS, unique=True), max_size=4),
    "unjudged": st.sampled_from(["zero", "omit"]),
    "k": st.sampled_from([None, 1, 3]),
    "gain": st.sampled_from(["linear", {0: 1, 0.5: 7, 1: 3, 2: 9}]),
}


def options_of(gain):
    gain = gain if isinstance(gain, str) else np.vectorize(gain.get, otypes=[np.float64])
    return {"undefined": UNDEFINED, "gain": gain}


@pytest.mark.filterwarnings("ignore::UserWarning")  # of lists at random
@settings(max_examples=examples(100), deadline=None)
@given(**DRAWN)
def test_rows_are_those_of_a_plain_reading(truths, lists, unjudged, k, gain):
    rows = from_lists(truths, lists, unjudged=unjudged, k=k)
    plain = {
        query: read(truths.get(query, {}), lists.get(query, []), unjudged, k)
        for query in truths | lists
    }
    expected = {(query, d): plain[query][d] for query in plain for d in plain[query]}
    np.testing.assert_equal(rows_by_id(rows), expected)
    options = options_of(gain)
    mean = np.mean([by_sklearn(documents, k, gain) for documents in plain.values()])
    assert ndcg_score(rows, **options) == pytest.approx(mean)
    if gain == "linear":  # otherwise the row of a query without documents has a gain
        arrays = ndcg_score(rows.y_true, rows.y_score, groups=rows.groups, k=k, **options)
        assert arrays == pytest.approx(mean)


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=examples(60), deadline=None)
@given(others=DRAWN["lists"], **DRAWN)
def test_a_ranker_has_the_same_rows_and_value_beside_others(
    truths, lists, others, unjudged, k, gain
):
    truths = {"u0": {"a": 1}} | truths  # a comparison needs two queries
    queries = truths | lists | others
    rankers = {"one": lists, "two": others}
    several = from_lists(truths, rankers=rankers, unjudged=unjudged, k=k)
    options = options_of(gain)
    means = compare_rankers(several, test="t", **options).mean
    for name, lists_of_one in rankers.items():
        answers = {query: lists_of_one.get(query, []) for query in queries}
        alone = from_lists(truths, answers, unjudged=unjudged, k=k)
        np.testing.assert_equal(rows_by_id(several[name]), rows_by_id(alone))
        value = ndcg_score(alone, **options)
        assert ndcg_score(several[name], **options) == value
        if all(map(truths.get, queries)):  # other queries may be undefined for another ranker
            assert means[name] == pytest.approx(value, abs=1e-15)


# --- queries and truths

ANY_IDS = [("a", 1), frozenset("b"), 3, b"a", np.int64(7), "ä"]  # of any hashable type


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        pytest.param(["b", "a"], "U", id="text"),
        pytest.param([(1, "x"), (0, "y")], "O", id="tuples"),
        pytest.param(["b" * 1000, "a"], "O", id="long text"),
    ],
)
def test_queries_of_any_type(keys, kind):
    first, second = keys
    rows = from_lists({first: {7: 1}, second: {("a", 1): 1}}, dict.fromkeys(keys, ANY_IDS))
    assert rows.groups.dtype.kind == kind
    assert len(rows.ids) == 12
    assert np.unique(rows.groups).tolist() == sorted(keys)
    assert ndcg_samples(rows).tolist() == pytest.approx(
        [1, 1 / log2(6)]
    )  # in the order of sorted keys


@pytest.mark.parametrize("keys", [["a", "a\0", "b"], [-1, 2**63, 2**63 + 1]], ids=["NUL", "large"])
def test_queries_with_alike_keys_stay_apart(keys):
    first, second, third = keys
    rows = from_lists({first: [1], second: [1], third: [2]}, {key: [1] for key in keys})
    assert ndcg_samples(rows).tolist() == [1, 1, 0]
    assert ndcg_samples(rows.y_true, rows.y_score, groups=rows.groups).tolist() == [1, 1, 0]


SINGLE_IDS = {
    "text": ({"u": "5", "v": "7"}, {"u": ["5", "1"], "v": ["2", "7"]}),
    "bytes": ({"u": b"5", "v": b"7"}, {"u": [b"5", b"1"], "v": [b"2", b"7"]}),
    "arrays": (np.array([5, 7]), np.array([[5, 1], [2, 7]])),
    "Series": (pd.Series({"u": 5, "v": 7}), pd.Series({"u": [5, 1], "v": [2, 7]})),
    "mixed": ({"u": 5, "v": {7: 1}}, {"u": [5, 1], "v": [2, 7]}),
}


@pytest.mark.parametrize(("relevant", "lists"), SINGLE_IDS.values(), ids=SINGLE_IDS)
def test_one_relevant_id_for_each_query(relevant, lists):
    assert ndcg_score(from_lists(relevant, lists)) == pytest.approx((1 + 1 / log2(3)) / 2)


@pytest.mark.parametrize("relevant", [{}, pd.Series(dtype=object)], ids=["dict", "Series"])
def test_no_truth_is_known(relevant):
    rows = from_lists(relevant, pd.Series({"q": ["a"]}))
    assert per_query(rows, undefined=0.5) == {"q": 0.5}


# --- several rankers


def test_rows_of_several_rankers_have_each_document_once():
    rows = from_lists({"a": 2, "b": 1}, rankers={"one": ["c", "a"], "two": ["d"]})
    assert rows.ids.tolist() == ["c", "a", "d", "b"]
    assert rows.y_true.tolist() == [0, 2, 0, 1]
    assert rows.y_score["one"].tolist() == [-1, -2, -INF, -INF]
    assert rows.y_score["two"].tolist() == [-INF, -INF, -1, -INF]
    assert list(rows.to_frame()) == ["groups", "ids", "y_true", "one", "two"]
    assert rows["two"].ids.tolist() == ["d", "a", "b"]
    with pytest.raises(KeyError, match=r"'three' is not one of the rankers \['one', 'two'\]"):
        rows["three"]


def test_a_query_has_a_row_without_id_only_if_no_ranker_has_documents_of_it():
    rankers = {"one": {"q": [], "r": [], "s": ["a"]}, "two": {"q": ["a"], "r": [], "s": []}}
    rows = from_lists({}, rankers=rankers)
    found = list(zip(rows.groups.tolist(), rows.ids.tolist(), strict=True))
    assert found == [("q", "a"), ("r", None), ("s", "a")]
    expected = {"one": [-np.inf, -np.inf, -1], "two": [-1, -np.inf, -np.inf]}
    assert {name: score.tolist() for name, score in rows.y_score.items()} == expected


BAD_RANKERS = {
    "no lists": (from_lists, {}, "pass recommended of one ranker, or rankers=.*; got neither"),
    "both": (from_lists, {"recommended": ["a"], "rankers": {"x": ["a"]}}, "got both"),
    "a list": (from_lists, {"rankers": [["a"]]}, "rankers must be a mapping .* got list"),
    "no run": (from_trec, {}, "pass run of one ranker, or runs=.* of several; got neither"),
    "no name": (from_lists, {"rankers": {None: ["a"]}}, r"rankers must be a mapping .* got \[None"),
    "no ranker": (from_lists, {"rankers": {}}, r"rankers must be a mapping .* got \[\]"),
}


@pytest.mark.parametrize(("reader", "arguments", "message"), BAD_RANKERS.values(), ids=BAD_RANKERS)
def test_one_ranker_or_several(reader, arguments, message):
    with pytest.raises(TypeError, match=message):
        reader({"q": {"a": 1}}, **arguments)


def test_errors_name_the_ranker():
    with pytest.raises(ValueError, match="the id 'a' 2 times in query 'q'") as raised:
        from_lists({"q": ["a"]}, rankers={"one": {"q": ["a"]}, "two": {"q": ["a", "a"]}})
    assert raised.value.__notes__ == ["While comparing the ranker 'two'."]


def test_rows_of_one_ranker_have_no_names():
    rows = from_lists({"a"}, ["a"])
    with pytest.raises(KeyError, match="one ranker, which has no name"):
        rows["x"]
    with pytest.raises(TypeError, match=r"from_lists\(relevant, rankers=\{name: lists\}\)"):
        compare_rankers({"x": rows, "y": rows})


# --- what rows are


@pytest.mark.parametrize("unjudged", ["zero", "omit"])
def test_rows_keep_what_was_read(unjudged):
    lists = {query: list(ids) for query, ids in LISTS.items()}
    truths = {query: truth.copy() for query, truth in TRUTHS.items()}
    rows = from_lists(truths, lists, unjudged=unjudged)
    expected = from_lists(TRUTHS, LISTS, unjudged=unjudged).to_frame()
    lists["q"].reverse()
    truths["q"]["c"] = 7
    assert rows.to_frame().equals(expected)
    pickled = pickle.dumps(rows)
    assert b"sklearn_ndcg._" not in pickled
    assert pickle.loads(pickled).to_frame().equals(expected)  # noqa: S301


def test_rows_as_a_frame_have_the_same_values_in_the_same_order():
    rows = from_lists(TRUTHS, LISTS)
    frame = rows.to_frame()
    expected = {"groups": rows.groups, "ids": rows.ids, "y_true": rows.y_true}
    expected = pd.DataFrame(expected | {"y_score": rows.y_score})
    pd.testing.assert_frame_equal(frame, expected)
    columns = {name: frame[name] for name in ("y_true", "y_score", "groups")}
    assert ndcg_score(**columns, undefined=0) == ndcg_score(rows, undefined=0)
    alone = from_lists(TRUTHS, rankers={"bm25": LISTS})
    assert alone.to_frame().equals(frame)
    with pytest.raises(ValueError, match="a ranker has the name of a column: ids"):
        from_lists({"a"}, rankers={"ids": ["a"], "x": ["a"]}).to_frame()


def test_scores_are_floats_if_every_document_is_listed():
    assert from_lists(["a"], ["a", "b"]).y_score.dtype == np.float64


def test_rows_do_not_unpack():
    rows = from_lists(["a"], ["a"])
    with pytest.raises(TypeError, match="Rows"):
        ndcg_score(*rows)
    with pytest.raises(TypeError, match="Rows"):
        ndcg_score(**rows)


def test_rows_print_how_many_they_are():
    assert repr(from_lists(["a"], ["a"])) == "Rows of 1 query"
    named = from_lists([["a"]] * 2, rankers={"x": [["a"]] * 2}, k=3)
    assert repr(named) == "Rows of 2 queries and 1 ranker, 'x', k=3"


def test_what_rows_hand_out_cannot_change_them():
    rows = from_lists({"u": ["a"]}, {"u": ["a"]})
    with pytest.raises(ValueError, match="read-only"):
        rows.y_true[:] = 0
    rows.groups[:] = "z"
    assert rows.groups.tolist() == ["u"]


RESULTS = {
    "samples": lambda rows: [ndcg_samples(rows)],
    "curve": ndcg_curve,
    "query": lambda rows: explain_query(rows, query="r").ranks.values(),
    "difference": lambda rows: vars(explain_difference(rows, "sklearn", "lightgbm")).values(),
}


@pytest.mark.parametrize("result", RESULTS)
def test_what_is_written_to_a_result_does_not_change_the_rows(result):
    rows, same = (from_lists({"q": ["a"], "r": ["b"]}, {"q": ["x"], "r": ["b"]}) for _ in "12")
    arrays = [values for values in RESULTS[result](rows) if isinstance(values, np.ndarray)]
    assert arrays
    for values in arrays:
        values[:] = 0
    assert rows.to_frame().equals(same.to_frame())
    assert ndcg_samples(rows).tolist() == ndcg_samples(same).tolist()


# --- cutoffs


@pytest.mark.parametrize("k", [3, "retrieved"])
def test_rows_are_scored_at_their_cutoff_or_a_smaller_one(k):
    whole, rows = from_lists(ONE_QUERY, LONG), from_lists(ONE_QUERY, LONG, k=k)
    assert ndcg_score(rows) == ndcg_score(rows, k=k) == ndcg_score(whole, k=k)
    assert ndcg_score(rows, k=2) == ndcg_score(whole, k=2)


@pytest.mark.parametrize("k", [4, "retrieved"])
@pytest.mark.parametrize("reader", [from_lists, from_trec])
def test_a_cutoff_that_was_not_read_is_refused(k, reader):
    truths, lists = {**ONE_QUERY, "short": {"a": 1}}, {**LONG, "short": ["a"]}
    data = lists if reader is from_lists else as_runs({"run": lists})["run"]
    rows = reader(truths, data, k=3)
    message = f"k must be at most 3, got {k!r}.* {reader.__name__}.*without k"
    with pytest.raises(ValueError, match=message):
        ndcg_score(rows, k=k)


def test_lists_that_end_at_the_cutoff_have_their_own_length():
    short = {"q": ["d", "a", "c"]}
    expected = ndcg_score(from_lists(ONE_QUERY, short), k="retrieved")
    assert ndcg_score(from_lists(ONE_QUERY, short, k=3), k="retrieved") == expected
    rankers = {"short": short, "long": LONG}
    both = from_lists(ONE_QUERY, rankers=rankers, k=3)
    assert ndcg_score(both["short"], k="retrieved") == expected
    with pytest.raises(ValueError, match="k must be at most 3, got 'retrieved'"):
        ndcg_score(both["long"], k="retrieved")
    condensed = from_lists(ONE_QUERY, rankers=rankers, k=3, unjudged="omit")  # read whole
    with pytest.raises(ValueError, match="k must be at most 3, got 'retrieved'"):
        compare_rankers(condensed, k="retrieved", test="t")


def test_curves_end_at_the_cutoff():
    rows = from_lists(ONE_QUERY, LONG, k=3)
    k, ndcg = ndcg_curve(rows)
    assert k.tolist() == [1, 2, 3]
    assert ndcg.tolist() == ndcg_curve(from_lists(ONE_QUERY, LONG), k=[1, 2, 3])[1].tolist()
    with pytest.raises(ValueError, match="k must be at most 3, got 4"):
        ndcg_curve(rows, k=[4, 1])
    with pytest.raises(ValueError, match="k='retrieved' has no curve"):
        ndcg_curve(from_lists(ONE_QUERY, LONG, k="retrieved"))


def test_curves_end_at_the_longest_query():
    assert ndcg_curve(from_lists({"a": 1}, ["a", "b", "c"], k=50))[0].tolist() == [1, 2, 3]


# --- in functions


def test_a_document_that_only_a_list_has_is_counted_with_its_query():
    """Its relevance is 0, of which this gain is not finite."""
    rows = from_lists({"q": {"a": 1}}, {"q": ["a", "x"]})
    with pytest.raises(ValueError, match=r"gain must be finite.*1 document, in query 'q'"):
        ndcg_score(rows, gain=lambda y: np.where(y > 0, y, np.inf))


@pytest.mark.parametrize(("read", "passed"), [("zero", "omit"), ("omit", "zero")])
def test_unjudged_is_said_where_lists_are_read(read, passed):
    rows = from_lists(TRUTHS, LISTS, unjudged=read)
    assert ndcg_score(rows, unjudged=read, undefined=0) == ndcg_score(rows, undefined=0)
    with pytest.raises(ValueError, match=f"unjudged='{passed}' comes too late.*='{read}'"):
        ndcg_score(rows, unjudged=passed)


def test_unjudged_of_lists_is_one_of_two():
    with pytest.raises(ValueError, match="unjudged must be one of 'zero', 'omit'; got 'nan'"):
        from_lists(TRUTHS, LISTS, unjudged="nan")


def test_a_query_is_explained_by_its_documents():
    rows = from_lists(TRUTHS, LISTS, k=2)
    assert explain_query(rows, query="q").ranks["document"].tolist() == ["x", "c"]
    assert (
        "Not retrieved (score -inf), only in the ideal: 1" in explain_query(rows, query="r").notes
    )
    with pytest.raises(TypeError, match="ids must be left out, got list: rows of from_lists"):
        explain_query(rows, query="q", ids=["a"])
    omitted = explain_query(from_lists(TRUTHS, LISTS, unjudged="omit"), query="q")
    assert omitted.ranks["document"].tolist() == ["c", "a"]
    assert "Unjudged documents (unjudged='omit'): 3" in omitted.notes


@pytest.mark.parametrize(
    ("grade", "query", "document"), [(1, "q", "a"), (2, "r", "c"), (3, "r", "d")]
)
def test_errors_name_the_query_and_the_document(grade, query, document):
    rows = from_lists({"q": {"a": 1, "b": 0}, "r": {"c": 2, "d": 3}}, {"q": ["x", "a"], "r": ["c"]})
    with pytest.raises(ValueError, match=f"1 document, in query '{query}', document '{document}'"):
        ndcg_score(rows, gain=lambda y: np.where(y == grade, INF, y))


@pytest.mark.parametrize(
    "weight", [{"u": 1, "v": 3, "w": 9}, pd.Series({"v": 3, "u": 1})], ids=["dict", "Series"]
)
def test_weights_by_query(weight):
    rows = from_lists({"u": ["a"], "v": ["a"]}, {"u": ["a"], "v": ["b", "a"]})
    expected = pytest.approx((1 + 3 / log2(3)) / 4)
    assert ndcg_score(rows, sample_weight=weight) == expected
    with pytest.raises(TypeError, match="sample_weight must be a mapping from query.* got list"):
        ndcg_score(rows, sample_weight=[1, 3])
    numbered = from_lists([["a"], ["a"]], [["a"], ["b", "a"]])
    assert ndcg_score(numbered, sample_weight=[1, 3]) == expected


REPEATED = pd.Series([1, 2], index=[0, 0])
BAD_WEIGHTS = {
    "no entry": ({0: 1}, ValueError, "entry for each query, but lacks 1, for example 1"),
    "a negative one": ({0: 1, 1: -1}, ValueError, "found -1.* query 1"),
    "another length": ([1, 2, 3], ValueError, "for each of the 2 queries, got 3"),
    "a repeated index": (REPEATED, ValueError, "one value for each query, .* index repeats"),
    "a set": ({1, 2}, TypeError, "one value for each query, in a mapping.* got set"),
    "text": ("xy", TypeError, "got str"),
}


@pytest.mark.parametrize(("weight", "error", "message"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_bad_weights(weight, error, message):
    rows = from_lists([["a"]] * 2, [["a"], ["b", "a"]])
    with pytest.raises(error, match=f"(?s)sample_weight .*{message}"):
        ndcg_score(rows, sample_weight=weight)


def test_a_metric_that_fails_names_the_query_and_what_infinity_is():
    rows = from_lists({"u": {"a": 1, "b": 0}}, rankers={"x": {"u": ["a"]}, "y": {"u": ["a"]}})
    with pytest.raises(ValueError, match="infinity") as raised:
        compare_rankers(rows, metric=average_precision_score)
    first_note, second_note = raised.value.__notes__
    assert "one query, here 'u'" in first_note
    assert "-inf where a document was not retrieved" in second_note
