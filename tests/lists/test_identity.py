"""Ids that do not meet: what warns, and what does not."""

import ast
import json
import re
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from helpers import examples, per_query

from sklearn_ndcg import from_lists, from_trec, ndcg_score
from sklearn_ndcg.inference import compare_rankers

NO_DOCUMENT = "No document in the lists is in any truth"
NO_QUERY = "No query has both a truth and a list"
SPELLED = "is written otherwise"
FRACTIONS = "fractions as ids"


@contextmanager
def warns_once(*expected):
    """The block gives one warning, at a line of this file, whose text has all of `expected`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert [w.category for w in caught] == [UserWarning], [str(w.message) for w in caught]
    assert caught[0].filename == __file__
    for text in expected:
        assert text in str(caught[0].message)


def spoken_of(truth, lists, read=from_lists, **options):
    """Which warning there is: its words above, or nothing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(truth, lists, **options)
    words = (NO_DOCUMENT, NO_QUERY, SPELLED, FRACTIONS)
    return [next(word for word in words if word in str(w.message)) for w in caught]


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


def test_types_that_differ_are_an_error_that_names_the_ranker():
    with pytest.raises(TypeError, match="relevant are of type str, .* of type number") as caught:
        from_lists({"q": ["a"]}, rankers={"a": {"q": ["a"]}, "b": {"q": [1]}})
    assert "'b'" in caught.value.__notes__[0]


# --- ids with a prefix or a suffix, and fractions

EXTENDED = {
    "chunks": (["d0", "d5"], ["d0#c0", "d1#c3"], ("'d0'", "'d0#c0'")),
    "one chunk": (["d0"], ["d0#c0"], ("'d0'", "'d0#c0'")),
    "chunks of a file": (["a.txt"], ["a.txt::3", "b.txt::0"], ("'a.txt'", "'a.txt::3'")),
    "the truth has chunks": (["d0#c0", "d7#c0"], ["d1", "d0"], ("'d0#c0'", "'d0'")),
    "a prefix of the truth": (["msmarco_v2_1"], ["1"], ("'msmarco_v2_1'", "'1'")),
    "a prefix of lists": (["1", "2"], ["msmarco_v2_9", "msmarco_v2_1"], ("'1'", "'msmarco_v2_1'")),
    "a prefix with a sign of both": (["q_1"], ["x_q_1", "x_q_2"], ("'q_1'", "'x_q_1'")),
    "a path": (["a-b"], ["docs/a-b", "docs/c-d"], ("'a-b'", "'docs/a-b'")),
}
NOT_EXTENDED = {
    "no sign": (["12"], ["1"]),
    "no sign in lists": (["1"], ["12", "13"]),
    "a title among titles": (["Alien"], ["Alien: Resurrection", "Big", "Clue"]),
    "a title of two words": (["Alien 3"], ["Alien", "Big"]),
    "the same form": (["star-wars"], ["star-wars-2", "toy-story"]),
    "an id of the same form": (["star-wars"], ["star-wars-2"]),
    "a sign and nothing else": (["#"], ["a#", "b#"]),
    "numbers": ([1], [12, 21]),
    "tuples": ([("a", 1)], [("a", 1, 2)]),
}


@pytest.mark.parametrize(("truth", "listed", "pair"), EXTENDED.values(), ids=EXTENDED)
def test_a_prefix_or_suffix_warns_of_few_queries(truth, listed, pair):
    with warns_once(NO_DOCUMENT, *pair):
        from_lists(truth, listed)
    with warns_once(NO_DOCUMENT, *pair):
        from_trec(as_qrels({"q": truth}), as_run({"q": listed}))


@pytest.mark.parametrize(("truth", "listed"), NOT_EXTENDED.values(), ids=NOT_EXTENDED)
def test_other_ids_do_not_warn(truth, listed):
    assert spoken_of([truth], [listed]) == []


def test_an_example_shows_the_form_if_there_is_one():
    truth = {i: [f"doc{i}"] for i in range(20)}
    lists = {i: [f"doc{i + 100}#0", f"doc{i}#1"] for i in truth}
    with warns_once(NO_DOCUMENT, "'doc0'", "'doc0#1'"):
        from_lists(truth, lists)


def test_fractions_as_ids_name_the_function_of_relevance_and_scores():
    relevance, scores = [3, 2, 0, 1], [0.9, 0.8, 0.1, 0.3]
    with warns_once(FRACTIONS, "recommended", "0.9", "ndcg_score([y_true], [y_score])"):
        from_lists(relevance, scores)
    assert ndcg_score([relevance], [scores]) == 1
    with warns_once(FRACTIONS, "recommended", "ndcg_score(y_true, y_score)"):
        from_lists([relevance, [0, 1]], [scores, [0.7, 0.2]])
    with warns_once(FRACTIONS, "relevant", "0.9"):
        from_lists(scores, relevance)
    with warns_once(FRACTIONS):
        from_lists(np.array(relevance), np.array(scores, dtype=np.float32))


def test_whole_numbers_and_fractions_that_meet_are_ids():
    assert spoken_of([3, 2], [1.0, 4.0]) == []
    assert spoken_of([3, 2.5], [2.5, 4.5]) == []
    assert spoken_of([3.5], [3]) == []


# --- ids that differ only in how they are written

SPELLINGS = {
    "leading zeros": lambda i: f"{int(i):03}",
    "a blank before": lambda i: f" {i}",
    "a blank after": lambda i: f"{i} ",
    "a tab": lambda i: f"{i}\t",
    "a float": lambda i: f"{i}.0",
}
NUMBERS = [str(i) for i in range(1, 60)]


def by_numbers(write=str, n_queries=30):
    """A good list for each query, whose ids are written by a function."""
    return {f"u{i}": [write(NUMBERS[(i + j) % 59]) for j in (0, 2, 1)] for i in range(n_queries)}


@pytest.mark.parametrize("write", SPELLINGS.values(), ids=SPELLINGS)
def test_documents_that_are_written_otherwise(write):
    truth, lists = ({q: ids[:2] for q, ids in by_numbers(f).items()} for f in (str, write))
    with warns_once(
        SPELLED, repr(NUMBERS[0]), repr(write(NUMBERS[0])), "of the 32 judged documents"
    ):
        from_lists(truth, lists)
    with warns_once(SPELLED):
        from_lists(lists, truth)
    with warns_once(SPELLED):
        from_lists(truth, lists, k=1)
    with warns_once(SPELLED, "'a', 'b'"):
        from_lists(truth, rankers={"a": lists, "b": lists})
    with warns_once(SPELLED):
        from_trec(as_qrels(truth), as_run(lists))
    with warns_once(SPELLED):  # one query is enough
        from_lists(["12"], [write("12")])


@pytest.mark.parametrize("write", SPELLINGS.values(), ids=SPELLINGS)
def test_queries_that_are_written_otherwise(write):
    truth = {i: ["d"] for i in NUMBERS}
    lists = {write(i): ["e", "d"] for i in NUMBERS}
    with warns_once(SPELLED, "59 of the 59 judged queries", "'1'", repr(write("1"))):
        from_lists(truth, lists)
    with warns_once(SPELLED):
        from_trec(as_qrels(lists), as_run(truth))
    with warns_once(SPELLED, "'a', 'b'"):
        from_lists(truth, rankers={"a": lists, "b": lists})


def test_topics_of_which_some_are_written_otherwise():
    """From 100 on they are alike, so half of the mean is right."""
    qrels = {f"{i:03}": {"d": 1} for i in range(1, 200)}
    run = {str(i): {"d": 0.5} for i in range(1, 200)}
    with warns_once(SPELLED, "99 of the 99 judged queries", "'001'", "'1'"):
        rows = from_trec(qrels, run)
    assert ndcg_score(rows) == pytest.approx(100 / 199)
    from_trec({str(int(i)): truth for i, truth in qrels.items()}, run)


def test_some_documents_that_are_written_otherwise_among_thousands():
    """Ids from 1,000 on have no zeros, so most documents meet."""
    rng = np.random.default_rng(0)
    ids = {user: rng.choice(10_000, 30, replace=False).tolist() for user in range(600)}
    truth = {user: [f"{i:04}" for i in five[:5]] for user, five in ids.items()}
    lists = {user: [str(i) for i in rng.permutation(many)] for user, many in ids.items()}
    with warns_once(SPELLED):
        from_lists(truth, lists)
    right = {user: [f"{int(i):04}" for i in many] for user, many in lists.items()}
    from_lists(truth, right)
    from_lists(truth, right, k=3)


def test_case_alone():
    truth = {i: [f"Film {i}", f"Film {i + 1}"] for i in range(20)}
    lists = {i: [f"film {i}", "another"] for i in range(20)}
    with warns_once(SPELLED, "20 of the 21", "'Film 0'", "'film 0'"):
        from_lists(truth, lists)
    # "FILM 7" and "film 7" of one side are two ids, so case has a meaning
    assert spoken_of(truth, lists | {0: ["film 7", "FILM 7"]}) == [NO_DOCUMENT]
    assert spoken_of(truth | {0: ["FILM 7"]}, lists) == [NO_DOCUMENT]
    assert spoken_of({"Q": ["a"]}, {"q": ["a"]}) == [SPELLED]


def test_ids_that_both_occur_as_they_are_are_two_ids():
    lists = {i: ["1", "01", "2", "02"] for i in range(20)}
    assert (
        spoken_of(
            dict.fromkeys(
                lists,
                (
                    "1",
                    "03",
                ),
            ),
            lists,
        )
        == []
    )
    # of the two in the lists, either may be meant
    assert spoken_of(dict.fromkeys(lists, ("001",)), lists) == [NO_DOCUMENT]
    assert spoken_of({"1": ["a"], "01": ["b"]}, {"01": ["b"]}) == []


def test_fewer_than_half_of_the_truths_ids():
    lists = {i: ["07", "08", "x"] for i in range(5)}
    assert spoken_of(dict.fromkeys(lists, tuple("78ab")), lists) == [SPELLED]
    assert spoken_of(dict.fromkeys(lists, tuple("78abc")), lists) == []
    # ids that are in lists do not count
    assert spoken_of(dict.fromkeys(lists, tuple("7x")), lists) == [SPELLED]
    truth = {"1": ["a"], "x": ["a"], "y": ["a"]}
    assert spoken_of(truth, {"01": ["a"], "x": ["a"]}) == [SPELLED]
    assert spoken_of(truth | {"z": ["a"]}, {"01": ["a"], "x": ["a"]}) == []


@pytest.mark.parametrize("seed", range(examples(6)))
def test_random_ids_that_differ_in_case_by_chance_do_not_warn(seed):
    rng = np.random.default_rng(seed)
    letters = np.array([*"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"])
    ids = np.array(["".join(word) for word in letters[rng.integers(0, 62, (20_000, 4))]])
    truth = {f"u{i}": set(rng.choice(ids, 3).tolist()) for i in range(500)}
    lists = {user: list(dict.fromkeys(rng.choice(ids, 20).tolist())) for user in truth}
    assert spoken_of(truth, lists) == []
    by_id = dict(zip(ids[:2000].tolist(), lists.values(), strict=False))
    assert spoken_of({i: ["a"] for i in ids.tolist()}, {i: ["b", "a"] for i in by_id}) == []


# --- one text that holds several ids

WRITTEN = {
    "blanks": " ".join,
    "commas": ",".join,
    "commas and blanks": ", ".join,
    "bars": "|".join,
    "Python": lambda ids: repr(list(ids)),
    "a set of Python": lambda ids: repr(set(ids)),
    "a tuple of Python": lambda ids: repr(tuple(ids)),
    "JSON": lambda ids: json.dumps(list(ids)),
    "numbers of Python": lambda ids: f"[{', '.join(ids)}]",
    "NumPy": lambda ids: str(np.array(ids)),
    "numbers of NumPy": lambda ids: f"[{' '.join(ids)}]",
}
IN_TEXT = {
    "numbers": {"s1": ["11"], "s2": ["12", "13"], "s3": ["14", "15", "16"]},
    "words": {"s1": ["a"], "s2": ["b", "c"], "s3": ["d", "e", "f"]},
}
LISTED = {
    "numbers": {"s1": ["11", "1", "2"], "s2": ["13", "12", "3"], "s3": ["4", "14", "15"]},
    "words": {"s1": ["a", "x", "y"], "s2": ["c", "b", "z"], "s3": ["u", "d", "e"]},
}


def follow(message, text):
    """The ids that the expression in a message makes of a text."""
    [way] = re.findall(r"several ids, pass (.*) in its place", str(message))
    return eval(way, {"text": text, "ast": ast, "json": json, "re": re})  # noqa: S307


@pytest.mark.parametrize("kind", IN_TEXT)
@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
def test_a_text_of_ids_is_refused_and_the_way_out_works(write, kind):
    ids, lists = IN_TEXT[kind], LISTED[kind]
    truth = {query: write(some) if len(some) > 1 else some[0] for query, some in ids.items()}
    for texts in (truth, pd.Series(truth)):
        with pytest.raises(ValueError, match=r"relevant has the text .* 's2'.* pass \[text\]") as e:
            from_lists(texts, lists)
    assert sorted(follow(e.value, truth["s2"])) == ids["s2"]
    with pytest.raises(ValueError, match="relevant has the text .* 's2'"):
        from_lists(truth, rankers={"a": lists, "b": lists})
    with pytest.raises(ValueError, match="relevant has the text"):
        from_lists([truth["s2"]], [lists["s2"]])
    phrases = {query: [text] for query, text in truth.items()}
    assert per_query(from_lists(phrases, lists))["s2"] == 0
    assert per_query(from_lists(ids, lists))["s2"] == 1


@pytest.mark.parametrize("text", ["['a', 'b']", " ('a', 'b')\n", '{"a", "b"}'])
def test_of_a_text_in_brackets_one_listed_id_is_enough(text):
    with pytest.raises(ValueError, match=r"relevant has the text .* 's2'"):
        from_lists({"s1": "c", "s2": text}, {"s1": ["c"], "s2": ["a", "d"]})


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
def test_a_list_given_as_text_has_the_same_way_out(write):
    text = write(["12", "13"])
    with pytest.raises(TypeError, match=r"got str for query 'q'.* pass \[text\]") as caught:
        from_lists({"q": ["12"]}, {"q": text})
    assert sorted(follow(caught.value, text)) == ["12", "13"]


TITLES = [
    "Big",
    "Clue",
    "Alien",
    "Fish",
    "Paris",
    "Matrix",
    "Monsters, Inc.",
    "12 Monkeys",
    "[REC]",
]


@pytest.mark.parametrize(
    "title",
    ["The Matrix", "Big Fantasy", "Paris, Texas", "12 Monkeys", "[REC]", "(500) Days of Summer",
     "Monsters, Inc.", "Good Bye, Lenin!", "Alien: Resurrection", "Face|Off"],
)  # fmt: skip
def test_a_title_is_one_id(title):
    for lists in ([TITLES], [[title, *TITLES[:3]]]):
        if title in TITLES and lists == [[title, *TITLES[:3]]]:
            continue
        from_lists([title], lists)
    truth = {i: f"Film {i}" for i in range(30)} | {30: title, 31: "Big Fish"}
    from_lists(truth, {i: [f"Film {i}", "Big", "Fish"] for i in truth})


def test_texts_with_blanks_are_refused_only_if_most_of_them_hold_ids():
    lists = {i: [f"{i}", f"{i + 1}", f"Film {i}"] for i in range(40)}

    def truth(n_of_ids, n_unlisted):  # texts of ids, and of titles that are in no list
        titles = [f"Film {i + 40 if i >= 40 - n_unlisted else i}" for i in lists]
        return {i: f"{i} {i + 1}" if i < n_of_ids else titles[i] for i in lists}

    from_lists(truth(8, n_unlisted=8), lists)  # half of those in no list
    from_lists(truth(3, n_unlisted=0), lists)  # all of them, but not a tenth of all
    for n_of_ids, n_unlisted in ((9, 8), (4, 0), (25, 15)):
        with pytest.raises(ValueError, match=r"'0 1' in query 0.* text\.split\(\)"):
            from_lists(truth(n_of_ids, n_unlisted), lists)


# --- Series without the queries


def test_a_series_without_queries_beside_one_with_them():
    truth = pd.Series([["a"], ["b"], ["c"]])
    lists = pd.Series([["a"], ["b"], ["c"]], index=[1, 2, 3])
    with warns_once("Only the index of recommended", "2 of 3"):
        from_lists(truth, lists)
    with warns_once("Only the index of relevant", "2 of 3"):
        from_lists(lists, truth)
    with warns_once(NO_QUERY):
        from_lists(truth, lists.set_axis([7, 8, 9]))
    assert set(per_query(from_lists(truth.tolist(), lists.tolist())).values()) == {1}


def test_two_series_without_queries():
    truth, lists = pd.Series([["a"], ["b"], ["c"]]), pd.Series([["b"], ["c"]])
    with warns_once("numbers of their rows", "has 3 rows", "other 2"):
        from_lists(truth, lists)
    with warns_once("numbers of their rows", "has 2 rows", "other 3"):
        from_lists(lists, truth)
    right = from_lists(truth.set_axis([7, 8, 9]), lists.set_axis([8, 9]))
    assert set(per_query(right).values()) == {0, 1}


@pytest.mark.parametrize("labels", [[2, 0, 1], [0, 1, 2]])
def test_series_of_the_same_queries_do_not_warn(labels):
    truth = pd.Series([["a"], ["b"], ["c"]])
    from_lists(truth, pd.Series([["a"], ["b"], ["c"]], index=labels))
    from_lists(pd.Series({0: "a", 1: "a"}), pd.Series({0: ["a"], 1: ["a"], 5: ["b"]}))
    from_lists(truth, pd.Series([["a"], ["b"]], index=[1, 4]))  # some of its rows


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
    for seed in range(20):
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
