"""The compiled reading of plain inputs, beside the one in Python that reads everything."""

import operator
import os
import signal
import threading
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest
from helpers import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ndcg._lists import pool, reading
from sklearn_ndcg._lists.ranked import Ranked, Truths

FIELDS = ["lengths", "ranks", "repeats", "firsts"]


@pytest.fixture(autouse=True)
def _needs_compiled(reading):
    if reading == "Python":
        pytest.skip("both readings are compared")


def by_compiled(truths, rankers, duplicates="raise", k=None):
    """Return what the compiled reading makes of them, by ranker; None if they are not plain."""
    read = pool._compiled.read_all(truths, list(rankers.values()), duplicates, k)
    if read is None:
        return None
    truths = Truths(*read[:3])
    return {name: Ranked(truths, *fields) for name, fields in zip(rankers, read[3], strict=True)}


def assert_same(ours, expected):
    """Check that two readings are the same."""
    assert ours.keys() == expected.keys()
    for one, other in zip(ours.values(), expected.values(), strict=True):
        assert list(map(repr, one.ids)) == list(map(repr, other.ids))
        assert list(map(repr, one.truths.ids)) == list(map(repr, other.truths.ids))
        assert one.is_cut is bool(other.is_cut)
        np.testing.assert_array_equal(one.truths.grades, other.truths.grades)
        np.testing.assert_array_equal(one.truths.lengths, other.truths.lengths)
        for field in FIELDS:
            mine, others = getattr(one, field), getattr(other, field)
            np.testing.assert_array_equal(mine, others)
            assert mine.dtype == others.dtype == np.intp


# 1 and b"1" are other ids than "1"; 2**61 - 1 has the hash 0
IDS = st.sampled_from(["1", "b", "ä" * 70, "", 1, 0, -1, -2, 2**61 - 1, 10**30, b"1", b"b"])
COLLECTIONS = [list, tuple, set, frozenset]
TRUTHS = (
    st.dictionaries(IDS, st.sampled_from([0, 1, 2.5, np.nan, 2**60 + 1, 10**300]))
    | st.builds(lambda make, ids: make(ids), st.sampled_from(COLLECTIONS), st.lists(IDS))
    | IDS
    | st.lists(st.integers(0, 9), min_size=1).map(np.array)
)
LISTS = (
    st.lists(IDS)
    | st.lists(IDS).map(tuple)
    | st.lists(st.sampled_from(["1", "b", "c"]), min_size=1).map(np.array)
)


@settings(max_examples=examples(300), deadline=None)
@given(
    queries=st.lists(st.tuples(TRUTHS, LISTS, LISTS), min_size=1, max_size=4),
    duplicates=st.sampled_from(["raise", "omit", "zero"]),
    k=st.sampled_from([None, 1, 2, 5, 2**63 - 1]),
)
def test_both_readings_are_the_same(queries, duplicates, k):
    truths, one, other = map(list, zip(*queries, strict=True))
    rankers = {"one": one, "other": other}
    arguments = truths, rankers, range(len(truths)), duplicates, k
    plain = by_compiled(truths, rankers, duplicates, k)
    if plain is None:  # because ids are there twice: Python has the message
        with pytest.raises(ValueError, match="times in query"):
            reading.read_all(*arguments)
    else:
        assert_same(plain, reading.read_all(*arguments))


def test_many_ids():
    """Hash tables of all sizes: ids with the same hash, and numbers that have equal low bits."""
    ids = [*range(0, 2**40, 2**30), *range(2000), *map(str, range(500))]
    ids = list(dict.fromkeys([*ids, *(i * (2**61 - 1) for i in range(200))]))
    truths = [dict.fromkeys(ids[n : 2 * n], n) for n in (0, 1, 10, 1000)]
    rankers = {"x": [ids[:n] for n in (1, 100, 3, 2000)], "y": [[], ids[::-1], ids[:5], ids[::3]]}
    for k in (None, 7):
        expected = reading.read_all(truths, rankers, range(4), "raise", k)
        assert_same(by_compiled(truths, rankers, k=k), expected)


class Text(str):
    """Text with a type of its own, which may be equal to anything."""

    __slots__ = ()


NOT_PLAIN = {
    "floats": ([{1.0: 1}], [[1]]),
    "bool": ([{"a": 1}], [[True]]),
    "None": ([{"a": 1}], [[None]]),
    "tuples": ([{("a", 1): 1}], [["a"]]),
    "numbers of NumPy": ([{"a": 1}], [[np.int64(1)]]),
    "a subclass": ([{"a": 1}], [[Text("a")]]),
    "an array of floats": ([{"a": 1}], [np.array([1.5])]),
    "a matrix": ([{"a": 1}], [np.array([["a"]])]),
    "a masked array": ([{"a": 1}], [np.ma.array([1, 2], mask=[0, 1])]),
    "text as a list": ([{"a": 1}], ["a"]),
    "a set as a list": ([{"a": 1}], [{"a"}]),
    "no truth": ([None], [["a"]]),
    "text as grade": ([{"a": "1"}], [["a"]]),
    "bool as grade": ([{"a": True}], [["a"]]),
    "a negative grade": ([{"a": -1}], [["a"]]),
    "an infinite grade": ([{"a": np.inf}], [["a"]]),
    "a grade beyond every float": ([{"a": 10**400}], [["a"]]),
    "another order": ([OrderedDict(a=1)], [["a"]]),
    "counts": ([Counter(["a"])], [["a"]]),
    "a dict with defaults": ([defaultdict(int, a=1)], [["a"]]),
}


@pytest.mark.parametrize(("truths", "lists"), NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_anything_else_is_left_to_python(truths, lists):
    assert by_compiled([["a"], *truths], {"x": [["b"], *lists]}) is None


def test_plain_inputs_are_not_changed():
    truths, lists = [{"b"}, np.array(["a", "b"]), "a"], [np.array(["a", "b"]), ("a",), ["a", "b"]]
    kept = list(truths), list(lists)
    assert by_compiled(truths, {"x": lists}) is not None
    assert all(map(operator.is_, [*truths, *lists], [*kept[0], *kept[1]]))


def test_without_the_gil_lists_are_read_in_python(monkeypatch):
    monkeypatch.setattr(pool.sys, "_is_gil_enabled", lambda: False, raising=False)
    monkeypatch.setattr(pool, "_compiled", None.__class__)  # which has no `read_all`
    read = pool._read({"q": {"a": 1}}, {None: {"q": ["a"]}}, ["q"], "raise", None)
    assert read[None].ids == ["a"]


@pytest.mark.ci
@pytest.mark.skipif(os.name != "posix", reason="no signals are sent to oneself there")
@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_interrupts_the_reading():
    truths, lists = [{"a": 1}] * 200_000, [["a", "b"] * 10] * 200_000
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))

    def call_until_interrupted():
        timer.start()
        while True:
            by_compiled(truths, {"x": lists}, "zero")

    with pytest.raises(KeyboardInterrupt):
        call_until_interrupted()
    timer.join()
    assert by_compiled(truths, {"x": lists}, "omit")["x"].ids[:3] == ["a", "b", "a"]


@pytest.mark.usefixtures("interrupts")
@pytest.mark.skipif(os.name != "posix", reason="no signals are sent to oneself there")
def test_lists_that_grow_during_an_interrupt_are_not_read_past_the_table():
    truths, lists = [{"a": 1}] * 5000, [["a"]] * 5000
    longer = truths[0], lists[0]

    def grow(*_):
        longer[0].update((f"t{i}", 1) for i in range(999))
        longer[1].extend(f"l{i}" for i in range(999))

    before = signal.signal(signal.SIGINT, grow)
    try:
        for _ in range(50):
            timer = threading.Timer(0.0001, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            read = by_compiled(truths, {"x": lists})
            timer.join()
            if len(longer[1]) > 1:
                break
    finally:
        signal.signal(signal.SIGINT, before)
    # all were read before they grew, or Python reads them
    assert read is None or set(read["x"].lengths.tolist()) <= {1, 1000}
