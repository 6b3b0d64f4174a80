"""Ids that do not meet: what warns, and what does not."""

import re
import unicodedata
import warnings
from contextlib import contextmanager
from datetime import datetime
from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers import examples
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import from_lists, from_trec, ndcg_score
from sklearn_ndcg.inference import compare_rankers

NO_DOCUMENT = "No document in the lists is in any truth"


@contextmanager
def warns_once(*expected):
    """The block gives one warning, at a line of this file, whose text has all of `expected`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
    assert [w.category for w in caught] == [UserWarning], [str(w.message) for w in caught]
    assert caught[0].filename == __file__
    for text in expected:
        assert text in str(caught[0].message)


def spoken_of(truth, lists, read=from_lists, **options):
    """The words above for each warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(truth, lists, **options)
    assert all(NO_DOCUMENT in str(w.message) for w in caught)
    return [NO_DOCUMENT for _ in caught]


def as_run(lists):
    """Lists as the run of a dict, whose ids are text."""
    return {
        str(query): {str(d): -float(i) for i, d in enumerate(ids)} for query, ids in lists.items()
    }


def as_qrels(truth):
    return {str(query): {str(d): 1 for d in ids} for query, ids in truth.items()}


# --- documents that are in no truth


def apart(n_queries):
    """Truths and lists of so many queries that have no document in common."""
    truth = {f"u{i}": [f"a{i}", f"a{i + 1}"] for i in range(n_queries)}
    return truth, {f"u{i}": [f"b{i}", f"b{i + 1}"] for i in range(n_queries)}


def test_ten_queries_without_a_common_document_warn():
    truth, lists = apart(10)
    with warns_once(NO_DOCUMENT, "10 queries", "'a0'", "'b0'"):
        rows = from_lists(truth, lists)
    assert ndcg_score(rows) == 0
    with warns_once(NO_DOCUMENT, "'a0'", "'b0'"):
        from_lists([*truth.values()], [*lists.values()])
    with warns_once(NO_DOCUMENT, "'a0'", "'b0'"):
        from_trec(as_qrels(truth), as_run(lists))
    numbers = [[i] for i in range(10)], [[i] for i in range(100, 110)]
    with warns_once(NO_DOCUMENT, "10 queries", " 0,", " 100."):
        from_lists(*numbers)


def test_fewer_queries_do_not_warn():
    truth, lists = apart(9)
    assert spoken_of(truth, lists) == []
    for empty in ({"u9": []}, {}):  # nor does a query that has only a truth, or only a list
        assert spoken_of(truth | {"u9": ["a"]}, lists | empty) == []
        assert spoken_of(truth | empty, lists | {"u9": ["b"]}) == []


def test_a_document_of_another_query_or_after_rank_k_is_enough():
    truth, lists = apart(50)
    assert spoken_of(truth, lists | {"u0": ["b", "c", "a40"]}) == []
    assert spoken_of(truth, lists | {"u0": ["b", "c", "a40"]}, k=1) == []
    assert spoken_of(truth, lists | {"u0": np.array(["b", "c", "a40"])}, k=1) == []
    assert spoken_of(as_qrels(truth), as_run(lists | {"u0": ["b", "a40"]}), from_trec) == []
    # a query that is not scored
    one_more = truth | {"v": ["b9"]}
    assert spoken_of(one_more, lists, unanswered="omit") == []
    assert spoken_of(as_qrels(one_more), as_run(lists), from_trec, unanswered="omit") == []


def test_what_is_after_rank_k_may_be_anything():
    truth, lists = apart(20)
    assert spoken_of(truth, lists | {"u0": ["b", [], {}]}, k=1) == [NO_DOCUMENT]


def test_empty_truths_and_empty_lists_do_not_warn():
    truth, lists = apart(30)
    assert spoken_of(dict.fromkeys(truth, ()), lists) == []
    assert spoken_of(truth, dict.fromkeys(lists, ())) == []


@pytest.mark.parametrize("seed", range(examples(30)))
def test_a_random_baseline_does_not_warn(seed):
    """It has no hit in most of these data, as 200 users have one of 10,000 items each."""
    rng = np.random.default_rng(seed)
    truth = dict(enumerate(rng.integers(0, 10_000, 200).tolist()))
    lists = {user: rng.choice(10_000, 10, replace=False).tolist() for user in truth}
    assert spoken_of(truth, lists) == []
    assert spoken_of({u: f"item {i}" for u, i in truth.items()},
                     {u: [f"item {i}" for i in ids] for u, ids in lists.items()}) == []  # fmt: skip


def test_a_loop_of_one_query_per_call_does_not_warn():
    truth, lists = apart(40)
    for query in truth:
        assert spoken_of(truth[query], lists[query]) == []
        assert spoken_of({query: truth[query]}, {query: lists[query]}) == []


def test_rankers_that_share_a_mistake_warn_together():
    truth, lists = apart(20)
    good = {query: [*ids, f"a{query[1:]}"] for query, ids in lists.items()}
    with warns_once(NO_DOCUMENT, "'old', 'new'"):
        from_lists(truth, rankers={"old": lists, "good": good, "new": lists})
    with warns_once(NO_DOCUMENT, "'old', 'new'"):
        rows = from_lists(truth, rankers={"old": lists, "new": lists})
    compare_rankers(rows, random_state=0, n_resamples=99)
    with warns_once(NO_DOCUMENT, "'new', 'newer'"):
        runs = {"good": as_run(good), "new": as_run(lists), "newer": as_run(lists)}
        from_trec(as_qrels(truth), runs=runs)
    with warns_once(NO_DOCUMENT, "'new'"):
        rows = from_lists(truth, rankers={"good": good, "new": lists})
    compare_rankers(rows, random_state=0, n_resamples=99)  # which does not say it again
    from_lists(truth, rankers={"a": good, "b": good})


# --- ids that look alike, or are long


@pytest.mark.parametrize(
    ("write", "shown"),
    [
        (partial(unicodedata.normalize, "NFD"), ("'caf\\xe90'", "'cafe\\u03010'")),
        (lambda name: name.replace("f", "\uff46"), ("'caf\\xe90'", "'ca\\uff46\\xe90'")),
    ],
    ids=["accents", "full width"],
)
def test_ids_that_look_alike_are_shown_in_ascii(write, shown):
    names = [f"caf\xe9{i}" for i in range(12)]
    with warns_once(NO_DOCUMENT, *shown):
        from_lists([[name] for name in names], [[write(name)] for name in names])


def test_other_ids_are_shown_as_they_are():
    with warns_once(NO_DOCUMENT, "'\xe9tude0'", "'r\xe9sum\xe90'"):
        from_lists([[f"\xe9tude{i}"] for i in range(12)], [[f"r\xe9sum\xe9{i}"] for i in range(12)])


def test_long_ids_are_cut():
    texts = [f"begins {i} {'x' * 5000} ends {i}" for i in range(24)]
    with warns_once(NO_DOCUMENT, "'begins 0 xx", "xx ends 0'", "'begins 12 ") as caught:
        from_lists([[text] for text in texts[:12]], [[text] for text in texts[12:]])
    assert len(str(caught[0].message)) < 400
    calls = [
        lambda: from_lists([["a"]], [texts[:1] * 2]),
        lambda: from_lists([{texts[0]: "high"}], [["a"]]),
        lambda: from_lists([{"a": texts[0]}], [["a"]]),
        lambda: from_lists({texts[0]: ["a"]}, {texts[0]: None}),
        lambda: from_trec({"q": {"a": 1}}, {"q": {texts[0]: None}}),
    ]
    for call in calls:
        with pytest.raises((TypeError, ValueError), match="'begins 0 xx.*xx ends 0'") as error:
            call()
        assert len(str(error.value)) < 500


# --- types


class Document:
    """An object that is only equal to itself, as the hits of many libraries."""

    def __init__(self, identity):
        self.id = identity


PAIRS = [("a", 0.4), ("b", 0.9)]
TYPES = {
    "numbers and text": ({"q": ["a"]}, {"q": [1]}, "type str, .* type number, .*Convert"),
    "queries": ({"1": ["a"]}, {1: ["a"]}, "queries in relevant are of type str"),
    "bytes": ({"q": [b"a"]}, {"q": ["a"]}, "type bytes, .* of type str"),
    "pairs in lists": ({"q": ["a"]}, {"q": PAIRS}, r"type str, .* type \(id, float\), .*Pairs"),
    "whole scores": ({"q": ["a"]}, {"q": [("a", 2), ("b", 1)]}, "type tuple, .*Pairs are not"),
    "pairs in truths": ({"q": PAIRS}, {"q": ["a"]}, r"type \(id, float\), .* type str, .*Pairs"),
    "pairs on both sides": ({"q": [("a", 2)]}, {"q": PAIRS}, "type tuple, .*float.*Pairs are"),
    "floats on both sides": ({"q": [("a", 2.0)]}, {"q": PAIRS}, "float.*float.*Pairs are not"),
    "objects in lists": ({"q": ["a"]}, {"q": [Document("a")]}, r"\[document\.id for document"),
    "objects in truths": ({"q": [Document("a")]}, {"q": ["a"]}, r"\[document\.id for document"),
    "objects as keys": ({"q": {Document("a"): 1}}, {"q": ["a"]}, r"\[document\.id for document"),
    "objects": ({"q": [Document("a")]}, {"q": [Document("a")]}, "object Document.*object Document"),
}


@pytest.mark.parametrize(("truth", "lists", "message"), TYPES.values(), ids=TYPES)
def test_types_that_cannot_meet_are_an_error(truth, lists, message):
    with pytest.raises(TypeError, match=message):
        from_lists(truth, lists)


def test_types_that_differ_are_an_error_that_names_the_ranker():
    with pytest.raises(TypeError, match="relevant are of type str, .* of type number") as caught:
        from_lists({"q": ["a"]}, rankers={"a": {"q": ["a"]}, "b": {"q": [1]}})
    assert "'b'" in caught.value.__notes__[0]
    with pytest.raises(TypeError, match=r"type str, .* type \(id, float\)"):
        from_lists([["a"]] * 20, [PAIRS] * 20)


def test_what_the_error_says_of_pairs_and_objects_helps():
    grades, hits = [("a", 1), ("b", 2)], [("a", 0.4), ("x", 0.1), ("b", 0.9)]
    with pytest.raises(TypeError) as caught:
        from_lists([grades], [hits])
    of_lists, of_truths = re.search(
        r"first, (.*), and in .* the grades, (.*)\.$", str(caught.value)
    ).groups()
    ids = eval(of_lists, {"pairs": hits})  # noqa: S307
    assert ids == ["b", "a", "x"]
    truth = eval(of_truths, {"pairs": grades})  # noqa: S307
    assert ndcg_score(from_lists(truth, ids)) == 1
    documents = list(map(Document, ids))
    with pytest.raises(TypeError) as caught:
        from_lists(truth, documents)
    way = re.search(r"pass (\[.*\]), id being", str(caught.value))[1]
    assert eval(way, {"documents": documents}) == ids  # noqa: S307


def test_pairs_and_objects_that_meet_are_ids():
    assert spoken_of({"q": PAIRS[:1]}, {"q": PAIRS}) == []
    documents = [Document(i) for i in range(3)]
    assert spoken_of({"q": documents[:1]}, {"q": documents}) == []
    assert spoken_of([PAIRS[:1], []], [[], PAIRS]) == []  # in another query


def test_queries_that_are_equal_may_be_of_different_types():
    day = datetime(2024, 1, 31)
    assert spoken_of({pd.Timestamp(day): ["a"]}, {day: ["b"]}) == []


# --- what is not guessed

QUIET = {
    "zeros": (["1", "2"], ["01", "02"]),
    "case": (["Film"], ["film"]),
    "a suffix": (["d0"], ["d0#c0"]),
    "fractions": ([3, 2], [0.9, 0.8]),
    "text of NumPy": (["1", "2"], [*np.array(["3", "4"])]),
    "a text of ids": ("a b", ["a", "b"]),
    "a text in brackets": ("['a', 'b']", ["a", "b"]),
}


@pytest.mark.parametrize(("truth", "listed"), QUIET.values(), ids=QUIET)
def test_how_ids_are_written_is_not_compared(truth, listed):
    assert spoken_of([truth], [listed]) == []
    assert spoken_of([truth] * 20, [listed] * 20) == [NO_DOCUMENT]
    assert (
        spoken_of([truth] * 20, [listed] * 19 + [[truth] if isinstance(truth, str) else truth[:1]])
        == []
    )


def test_queries_that_do_not_meet_show_in_what_is_undefined_or_unanswered():
    lists = {f"{i:02}": ["a"] for i in range(9)}
    truth = {str(i): ["a"] for i in range(9)}
    assert spoken_of(truth, lists) == []
    with pytest.warns(UndefinedMetricWarning, match="9 of 18 queries"):
        assert ndcg_score(from_lists(truth, lists)) == 0
    with warns_once("documents for 0 of the 9 judged queries"):
        from_trec(as_qrels(truth), as_run(lists))


# --- no false alarm

KINDS = {
    "numbers": lambda i: i,
    "text": lambda i: f"item {i}",
    "numbers as text": str,
    "codes with zeros": lambda i: f"{i:05}",
    "slugs": lambda i: f"a-film-{i}",
    "titles": lambda i: f"The Film {i}, Part {i % 3}",
    "tuples": lambda i: (i // 10, f"{i % 10}"),
    "fractions": lambda i: i + 0.5,
    "bytes": lambda i: b"%d" % i,
    "chunks": lambda i: f"d{i // 7}#c{i % 7}",
}


@pytest.mark.parametrize("kind", KINDS)
def test_sound_data_do_not_warn(kind):
    for seed in range(examples(20)):
        draw_and_read(KINDS[kind], np.random.default_rng(seed))


def draw_and_read(name, rng):
    """Shared ids, new users, empty lists and truths, users without one of them, many rankers."""
    user = [*KINDS.values()][rng.integers(len(KINDS))]
    n_users, n_items = rng.integers(1, 60), int(rng.integers(20, 400))
    popular = 1 / np.arange(1, n_items + 1) ** rng.uniform(0, 1)

    def draw(largest):
        n = min(int(rng.integers(0, largest + 1)), n_items // 2)
        drawn = np.argsort(rng.exponential(size=n_items) / popular)[:n]  # faster than rng.choice
        return [name(i) for i in drawn.tolist()]

    truth = {user(i): draw(12) for i in range(n_users) if rng.random() < 0.9}
    rankers = {}
    for number in range(rng.integers(1, 5)):
        lists = {user(i): draw(20) for i in range(n_users) if rng.random() < 0.95}
        for query, ids in truth.items():  # better than a random one
            if query in lists and rng.random() < 0.5:
                lists[query] = list(dict.fromkeys([*ids[:1], *lists[query]]))
        # a user of whom something is known
        truth[user(n_users)], lists[user(n_users)] = [name(0)], [name(1), name(0)]
        rankers[f"ranker {number}"] = lists
    options = {"k": [None, 1, 10][rng.integers(3)], "unjudged": ["zero", "omit"][rng.integers(2)]}
    # a tuple is a collection
    single = {q: ids[0] for q, ids in truth.items() if ids and not isinstance(ids[0], tuple)}
    graded = {query: {i: int(rng.integers(1, 4)) for i in ids} for query, ids in truth.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for form in filter(None, (truth, single, graded)):
            from_lists(form, rankers=rankers, **options)
            for lists in rankers.values():
                from_lists(form, lists, **options)
                both = [query for query in form if query in lists]
                from_lists([form[q] for q in both], [lists[q] for q in both], **options)
                for query in both[:5]:
                    from_lists([form[query]], [lists[query]], **options)
