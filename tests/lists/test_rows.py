"""What lists become: arrays of all documents, their names, and the cutoff they were read with."""

import pickle

import numpy as np
import pandas as pd
import pytest
from helpers import examples, per_query
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, dcg_score

from sklearn_ndcg import (
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


def rows_by_id(rows):
    """The relevance and the score of each document, by its query and its id."""
    columns = rows.groups.tolist(), rows.ids.tolist(), rows.y_true, rows.y_score
    return {(query, document): values for query, document, *values in zip(*columns, strict=True)}


def read(truth, listed, unjudged, k):
    """One query in plain Python: each document with its relevance and its score."""
    grades = truth if isinstance(truth, dict) else dict.fromkeys(truth, 1)
    judged = {document: grade for document, grade in grades.items() if grade == grade}  # noqa: PLR0124
    listed = listed[:k] if unjudged == "zero" else listed
    if unjudged == "omit":
        listed = [document for document in listed if document in judged]
    missing = NAN if unjudged == "nan" else 0
    documents = [*listed, *(judged if unjudged == "omit" else grades)] or [None]
    rank = {document: -i for i, document in enumerate(listed, 1)}
    return {d: [judged.get(d, missing), rank.get(d, -INF)] for d in documents}


def by_sklearn(documents, k, undefined):
    """NDCG of what `read` returns, by scikit-learn's DCG; unjudged documents are omitted."""
    kept = [(y, s) for y, s in documents.values() if not np.isnan(y)]
    last = sum(s > -INF for _, s in kept)  # scikit-learn ranks what was not returned, too
    # two more irrelevant documents, as scikit-learn wants more than one
    y = [[y for y, _ in kept] + [0, 0]]
    s = [[max(s, -99) for _, s in kept] + [-100, -100]]
    n = len(kept) if k is None else min(k, len(kept))
    best = dcg_score(y, y, k=n) if kept else 0
    if not best:
        return undefined
    return dcg_score(y, s, k=min(n, last)) / best if last else 0


IDS = st.sampled_from("abcdefg")
TRUTH = st.dictionaries(IDS, st.sampled_from([0, 1, 2, 0.5, NAN])) | st.sets(IDS)
BY_QUERY = {"max_size": 4, "keys": st.sampled_from(["u1", "u2", "u3", "u4"])}


@pytest.mark.filterwarnings("ignore::UserWarning")  # of few queries, and of lists at random
@settings(max_examples=examples(100), deadline=None)
@given(
    st.dictionaries(values=TRUTH, **BY_QUERY).filter(len),
    st.dictionaries(values=st.lists(IDS, unique=True), **BY_QUERY),
    st.dictionaries(values=st.lists(IDS, unique=True), **BY_QUERY),
    st.sampled_from(["zero", "omit", "nan"]),
    st.sampled_from([None, 1, 3]),
)
def test_rows_are_those_of_a_plain_reading(truths, one, two, unjudged, k):
    options = {"unjudged": unjudged, "k": k}
    scored = {"undefined": 0.25, "unjudged": "omit" if unjudged == "nan" else "raise"}
    both = from_lists(truths, rankers={"one": one, "two": two}, **options)
    queries = {*truths, *one, *two}
    means = compare_rankers(both, test="t", **scored).mean if len(queries) > 1 else None
    for name, lists in (("one", one), ("two", two)):
        everywhere = {query: lists.get(query, []) for query in queries}
        rows = from_lists(truths, everywhere, **options)
        plain = {q: read(truths.get(q, {}), everywhere[q], unjudged, k) for q in queries}
        expected = {(q, document): plain[q][document] for q in queries for document in plain[q]}
        np.testing.assert_equal(rows_by_id(rows), expected)
        arrays = rows.y_true, rows.y_score
        value = ndcg_score(rows, **scored)
        assert value == pytest.approx(np.mean([by_sklearn(d, k, 0.25) for d in plain.values()]))
        again = ndcg_score(*arrays, groups=rows.groups, k=k, **scored)
        assert value == pytest.approx(again, abs=1e-15)
        assert ndcg_score(both[name], **scored) == value
        np.testing.assert_equal(rows_by_id(both[name]), expected)
        if means is not None:
            assert means[name] == pytest.approx(value, abs=1e-15)


@pytest.mark.filterwarnings("ignore:Of the first documents", "ignore:.* judged queries")
@pytest.mark.parametrize("unjudged", ["zero", "omit", "nan"])
@pytest.mark.parametrize("gain", ["linear", {0: 1, 1: 4, 2: 9, 3: 16}])
def test_a_ranker_has_the_same_value_alone_and_in_a_comparison(unjudged, gain):
    rng = np.random.default_rng(0)
    ids = [f"d{i}" for i in range(20)]
    queries = [f"q{i}" for i in range(12)]
    truths = {q: {d: int(rng.integers(0, 4)) for d in rng.permutation(ids)[:8]} for q in queries}
    rankers = {
        name: {q: rng.permutation(ids)[: rng.integers(0, 15)].tolist() for q in queries}
        for name in ("one", "two", "three")
    }
    rows = from_lists(truths, rankers=rankers, unjudged=unjudged)
    options = {"gain": gain, "unjudged": "zero" if unjudged == "nan" else "raise"}
    with np.errstate(all="raise"):
        means = compare_rankers(rows, test="t", **options).mean
    for name, lists in rankers.items():
        alone = ndcg_score(from_lists(truths, lists, unjudged=unjudged), **options)
        assert ndcg_score(rows[name], **options) == alone
        assert means[name] == pytest.approx(alone, abs=1e-15)


def test_rows_of_several_rankers_have_each_document_once():
    rows = from_lists({"a": 2, "b": 1}, rankers={"one": ["c", "a"], "two": ["d"]})
    assert rows.ids.tolist() == ["c", "a", "d", "b"]
    assert rows.y_true.tolist() == [0, 2, 0, 1]
    assert {name: score.tolist() for name, score in rows.y_score.items()} == {
        "one": [-1, -2, -INF, -INF],
        "two": [-INF, -INF, -1, -INF],
    }
    assert list(rows.to_frame()) == ["groups", "ids", "y_true", "one", "two"]
    assert rows["two"].ids.tolist() == ["d", "a", "b"]
    with pytest.raises(KeyError, match=r"'three' is not one of the rankers \['one', 'two'\]"):
        rows["three"]


@pytest.mark.parametrize("unjudged", ["zero", "omit", "nan"])
def test_rows_keep_what_was_read(unjudged):
    lists = {query: list(ids) for query, ids in LISTS.items()}
    truths = {query: truth.copy() for query, truth in TRUTHS.items()}
    rows = from_lists(truths, lists, unjudged=unjudged)
    expected = from_lists(TRUTHS, LISTS, unjudged=unjudged).to_frame()
    lists["q"].reverse()
    truths["q"]["c"] = 7
    assert rows.to_frame().equals(expected)
    copied = pickle.loads(pickle.dumps(rows))  # noqa: S301
    assert copied.to_frame().equals(expected)
    assert (
        per_query(copied, undefined=0, unjudged="omit" if unjudged == "nan" else "raise")["r"] == 0
    )


def test_rows_as_a_frame_have_the_same_values_in_the_same_order():
    rows = from_lists(TRUTHS, LISTS, unjudged="nan")
    frame = rows.to_frame()
    assert list(frame) == ["groups", "ids", "y_true", "y_score"]
    assert frame.index.equals(pd.RangeIndex(len(rows.ids)))
    for name in ("groups", "y_true", "y_score"):
        np.testing.assert_array_equal(frame[name], getattr(rows, name))
    ids = [None if pd.isna(document) else document for document in frame["ids"]]
    assert ids == rows.ids.tolist()
    value = ndcg_score(rows, unjudged="omit", undefined=0)
    columns = {name: frame[name] for name in ("y_true", "y_score", "groups")}
    assert ndcg_score(**columns, unjudged="omit", undefined=0) == value
    alone = from_lists(TRUTHS, rankers={"bm25": LISTS}, unjudged="nan")
    assert alone.to_frame().equals(frame)


def test_rows_do_not_unpack():
    rows = from_lists(["a"], ["a"])
    for wrong in (lambda: ndcg_score(*rows), lambda: ndcg_score(**rows), lambda: list(rows)):
        with pytest.raises(TypeError, match="Rows"):
            wrong()
    assert repr(rows) == "Rows of 1 query"
    named = from_lists([["a"]] * 2, rankers={"x": [["a"]] * 2}, k=3)
    assert repr(named) == "Rows of 2 queries and 1 ranker, 'x', k=3"


# --- cutoffs

LONG = {"q": list("abcd")}
TRUTH_OF_4 = {"q": dict(zip("abcd", [1, 0, 2, 3], strict=True))}


def test_rows_are_scored_at_their_cutoff_or_a_smaller_one():
    whole = from_lists(TRUTH_OF_4, LONG)
    rows = from_lists(TRUTH_OF_4, LONG, k=3)
    assert ndcg_score(rows) == ndcg_score(rows, k=3) == ndcg_score(whole, k=3)
    assert ndcg_score(rows, k=2) == ndcg_score(whole, k=2)
    own = from_lists(TRUTH_OF_4, LONG, k="retrieved")
    assert ndcg_score(own) == ndcg_score(whole, k="retrieved")
    assert ndcg_score(own, k=2) == ndcg_score(whole, k=2)


@pytest.mark.parametrize("k", [4, 10, "retrieved"])
@pytest.mark.parametrize("unjudged", ["zero", "omit", "nan"])
@pytest.mark.parametrize("reader", [from_lists, from_trec])
def test_a_cutoff_that_was_not_read_is_refused(k, unjudged, reader):
    scores = {"q": dict(zip("abcd", [4.0, 3, 2, 1], strict=True))}
    rows = reader(TRUTH_OF_4, LONG if reader is from_lists else scores, k=3)
    with pytest.raises(
        ValueError, match=f"k must be at most 3, got .* {reader.__name__}.*, or without k"
    ):
        ndcg_score(rows, k=k)


def test_lists_that_end_before_the_cutoff_have_their_own_length():
    rows = from_lists(TRUTH_OF_4, {"q": ["d", "a", "c"]}, k=3)
    whole = from_lists(TRUTH_OF_4, {"q": ["d", "a", "c"]})
    assert ndcg_score(rows, k="retrieved") == ndcg_score(whole, k="retrieved")
    both = from_lists(TRUTH_OF_4, rankers={"short": {"q": ["d", "a", "c"]}, "long": LONG}, k=3)
    assert ndcg_score(both["short"], k="retrieved") == ndcg_score(whole, k="retrieved")
    with pytest.raises(ValueError, match="k must be at most 3, got 'retrieved'"):
        ndcg_score(both["long"], k="retrieved")


def test_curves_end_at_the_cutoff():
    rows = from_lists(TRUTH_OF_4, LONG, k=3)
    k, ndcg = ndcg_curve(rows)
    assert k.tolist() == [1, 2, 3]
    assert ndcg.tolist() == ndcg_curve(from_lists(TRUTH_OF_4, LONG), k=[1, 2, 3])[1].tolist()
    with pytest.raises(ValueError, match="k must be at most 3, got 4"):
        ndcg_curve(rows, k=[1, 4])


def test_unjudged_is_said_where_lists_are_read():
    rows = from_lists(TRUTHS, LISTS)
    assert ndcg_score(rows, unjudged="zero", undefined=0) == ndcg_score(rows, undefined=0)
    with pytest.raises(
        ValueError, match="unjudged='omit' comes too late.*unjudged='zero'. Pass it"
    ):
        ndcg_score(rows, unjudged="omit")
    with pytest.raises(
        ValueError,
        match=r"Input relevant contains NaN: 4 NaN, the first in query 'q', document 'b'",
    ):
        ndcg_score(from_lists(TRUTHS, LISTS, unjudged="nan"))


# --- names


def test_a_query_is_explained_by_its_documents():
    rows = from_lists(TRUTHS, LISTS, k=2)
    found = explain_query(rows, query="q")
    assert found.ranks["document"].tolist() == ["x", "c"]
    assert repr(found).startswith("query q: NDCG@2 ")
    lines = str(explain_query(rows, query="r")).splitlines()
    assert lines[-1] == "Not retrieved (score -inf), only in the ideal: 1"
    with pytest.raises(TypeError, match="ids must be left out, got list: rows of from_lists"):
        explain_query(rows, query="q", ids=["a"])
    omitted = explain_query(from_lists(TRUTHS, LISTS, unjudged="omit"), query="q")
    assert omitted.ranks["document"].tolist() == ["c", "a"]
    assert "Unjudged documents (unjudged='omit'): 3" in omitted.notes


@pytest.mark.parametrize(
    ("gain", "message"),
    [
        (lambda y: np.where(y == 3, INF, y), r"gain must be finite, .* 1 document, in query 'r', document 'd'"),
        (lambda y: np.where(y == 3, -1, y), r"negative for 1 document, in query 'r', document 'd'"),
    ],
)  # fmt: skip
def test_errors_name_the_query_and_the_document(gain, message):
    rows = from_lists({"q": {"a": 1, "b": 0}, "r": {"c": 2, "d": 3}}, {"q": ["x", "a"], "r": ["c"]})
    with pytest.raises(ValueError, match=message):
        ndcg_score(rows, gain=gain)


# --- truths


@pytest.mark.parametrize(
    ("relevant", "lists"),
    [
        ({"u": 5, "v": 7}, {"u": [5, 1], "v": [2, 7]}),
        ({"u": "5", "v": "7"}, {"u": ["5", "1"], "v": ["2", "7"]}),
        ([5, 7], [[5, 1], [2, 7]]),
        (["5", "7"], [["5", "1"], ["2", "7"]]),
        (np.array([5, 7]), np.array([[5, 1], [2, 7]])),
        (pd.Series([5, 7], index=["u", "v"]), pd.Series([[5, 1], [2, 7]], index=["u", "v"])),
        ({"u": 5, "v": {7: 1}}, {"u": [5, 1], "v": [2, 7]}),
    ],
    ids=["numbers", "text", "sequence", "text in a sequence", "arrays", "Series", "mixed"],
)
def test_one_relevant_id_for_each_query(relevant, lists):
    assert ndcg_score(from_lists(relevant, lists)) == pytest.approx((1 + 1 / np.log2(3)) / 2)


def test_a_query_with_neither_truth_nor_list_is_undefined():
    rows = from_lists({"u": {}, "v": {"a": 1}}, {"u": [], "v": ["a"]})
    assert rows_by_id(rows) == {("u", None): [0, -INF], ("v", "a"): [1, -1]}
    assert per_query(rows, undefined=0.5) == {"u": 0.5, "v": 1}
    assert ndcg_score(rows, undefined="omit") == 1


@pytest.mark.parametrize("relevant", [{}, pd.Series(dtype=object)])
def test_no_truth_is_known(relevant):
    rows = from_lists(relevant, pd.Series({"q": ["a"]}))
    assert per_query(rows, undefined="omit") == pytest.approx({"q": NAN}, nan_ok=True)


@pytest.mark.parametrize(
    ("reader", "given", "message"),
    [
        (from_lists, {}, "pass recommended of one ranker, or rankers=.* of several; got neither"),
        (from_lists, {"recommended": ["a"], "rankers": {"x": ["a"]}}, "got both"),
        (from_lists, {"rankers": [["a"]]}, "rankers must be a mapping from the name.* got list"),
        (from_lists, {"rankers": {}}, r"rankers must be a mapping from the name.* got \[\]"),
        (from_trec, {}, "pass run of one ranker, or runs=.* of several; got neither"),
        (from_trec, {"runs": "run.txt"}, "runs must be a mapping from the name .* got str"),
    ],
)
def test_one_ranker_or_several(reader, given, message):
    with pytest.raises(TypeError, match=message):
        reader({"q": {"a": 1}}, **given)


def test_errors_name_the_ranker():
    with pytest.raises(ValueError, match="the id 'a' 2 times in query 'q'") as raised:
        from_lists({"q": ["a"]}, rankers={"one": {"q": ["a"]}, "two": {"q": ["a", "a"]}})
    assert raised.value.__notes__ == ["While comparing the ranker 'two'."]


# --- weights


@pytest.mark.parametrize(
    "weight", [{"u": 1, "v": 3}, pd.Series({"v": 3, "u": 1})], ids=["dict", "Series"]
)
def test_weights_by_query(weight):
    rows = from_lists({"u": ["a"], "v": ["a"]}, {"u": ["a"], "v": ["b", "a"]})
    expected = (1 + 3 / np.log2(3)) / 4
    assert ndcg_score(rows, sample_weight=weight) == pytest.approx(expected)
    numbered = from_lists([["a"], ["a"]], [["a"], ["b", "a"]])
    assert ndcg_score(numbered, sample_weight=[1, 3]) == pytest.approx(expected)
    with pytest.raises(TypeError, match="sample_weight must be a mapping from query.* got list"):
        ndcg_score(rows, sample_weight=[1, 3])
    with pytest.raises(ValueError, match="entry for each query, but lacks 1, for example 'v'"):
        ndcg_score(rows, sample_weight={"u": 1})
    with pytest.raises(ValueError, match=r"found -1.* query 'v'"):
        ndcg_score(rows, sample_weight={"u": 1, "v": -1})


# --- what a review found


def test_a_query_without_documents_is_undefined_whatever_the_gain():
    for unjudged in ("zero", "omit", "nan"):
        rows = from_lists({"u": {"a": 1}, "v": {}}, {"u": ["a"], "v": []}, unjudged=unjudged)
        assert ndcg_score(rows, gain=[1, 4], undefined="omit") == 1


def test_a_metric_of_lists_gets_what_was_returned_first():
    def reciprocal_rank(y_true, y_score):
        ranked = y_true[y_score > -INF]
        return 1 / (1 + ranked.argmax()) if ranked.any() else 0.0

    truths = {i: {"a": 1, "b": 1, "c": 0} for i in range(20)}
    lists = {"good": {i: ["c", "a"] for i in truths}, "empty": {i: [] for i in truths}}
    for unjudged in ("zero", "omit", "nan"):
        for k, expected in ((None, 0.5), (1, 0)):
            rows = from_lists(truths, rankers=lists, k=k, unjudged=unjudged)
            with pytest.warns(UserWarning, match="'empty' has lists for 0 of the 20"):
                found = compare_rankers(rows, metric=reciprocal_rank, test="t")
            assert found.mean == {"good": expected, "empty": 0}


def test_a_metric_that_fails_names_the_query_and_what_infinity_is():
    rows = from_lists({"u": {"a": 1, "b": 0}}, rankers={"x": {"u": ["a"]}, "y": {"u": ["a"]}})
    with pytest.raises(ValueError, match="infinity") as raised:
        compare_rankers(rows, metric=average_precision_score)
    assert "one query, here 'u'" in raised.value.__notes__[0]
    assert raised.value.__notes__[1] == "The score is -inf where a document was not retrieved."


@pytest.mark.parametrize(
    "values",
    [pd.DataFrame({"p": [1, 1], "q": [1, 2]}), {1, 2}, "xy", 3],
    ids=["table", "set", "text", "number"],
)
def test_values_of_queries_that_are_no_sequence_are_refused(values):
    rows = from_lists([["a"]] * 2, [["a"], ["b", "a"]])
    with pytest.raises(
        TypeError, match="sample_weight must have one value for each query, in a map"
    ):
        ndcg_score(rows, sample_weight=values)


def test_what_rows_hand_out_cannot_change_them():
    rows = from_lists({"u": ["a"]}, {"u": ["a"]})
    with pytest.raises(ValueError, match="read-only"):
        rows.y_true[:] = 0
    _, ids = ndcg_samples(rows, return_groups=True)
    ids[:] = "z"
    assert rows.groups.tolist() == ["u"]


def test_cutoffs_beyond_what_was_read():
    rows = from_lists(TRUTH_OF_4, LONG, k=2, unjudged="omit")
    with pytest.raises(ValueError, match="k must be at most 2, got 'retrieved'"):
        ndcg_score(rows, k="retrieved")
    lists = {"short": {"q": ["a"]}, "long": LONG}
    rows = from_lists(TRUTH_OF_4, rankers=lists, k=2)
    assert ndcg_score(rows["short"], k="retrieved") > 0
    with pytest.raises(ValueError, match="k='retrieved' has no curve"):
        ndcg_curve(from_lists(TRUTH_OF_4, LONG, k="retrieved"))


def test_what_cannot_be_read():
    with pytest.raises(ValueError, match="No query is left to score"):
        from_lists([], [])
    with pytest.raises(TypeError, match=r"several runs as from_trec\(qrels, runs=\{name: run\}\)"):
        from_trec({"q": {"a": 1}}, {"bm25": {"q": {"a": 1.0}}})
    with pytest.raises(ValueError, match="a ranker has the name of a column: ids"):
        from_lists({"a"}, rankers={"ids": ["a"], "x": ["a"]}).to_frame()
    rows = from_lists({"a"}, ["a"])
    with pytest.raises(KeyError, match="one ranker, which has no name"):
        rows["x"]
    with pytest.raises(TypeError, match=r"from_lists\(relevant, rankers=\{name: lists\}\)"):
        compare_rankers({"x": rows, "y": rows})
