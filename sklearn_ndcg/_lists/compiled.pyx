# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The compiled version of `reading.read_all`, for plain inputs only.

Truths are dicts, lists, tuples, sets or 1-D arrays of ids, or single ids; lists are lists, tuples
or arrays. Ids are str, int or bytes, grades are int or float, and none of these is a subclass, so
that no code of the user runs while a query is read: nothing changes under way.
"""

from cpython.exc cimport PyErr_CheckSignals, PyErr_Clear, PyErr_Occurred
from libc.math cimport isinf

import numpy as np

cdef extern from "Python.h":
    ctypedef struct PyObject
    Py_hash_t PyObject_Hash(PyObject*)
    bint PyUnicode_CheckExact(PyObject*)
    bint PyLong_CheckExact(PyObject*)
    bint PyBytes_CheckExact(PyObject*)
    bint PyFloat_CheckExact(PyObject*)
    double PyFloat_AsDouble(PyObject*)
    double PyLong_AsDouble(PyObject*)
    int PyObject_RichCompareBool(PyObject*, PyObject*, int)
    int PyList_Append(PyObject*, PyObject*) except -1
    PyObject* PyList_GetItem(PyObject*, Py_ssize_t)
    PyObject* PyTuple_GetItem(PyObject*, Py_ssize_t)
    int PyDict_Next(PyObject*, Py_ssize_t*, PyObject**, PyObject**)
    int Py_EQ

cdef enum:
    PATIENCE = 1 << 10  # queries after which Python is asked for an interrupt


cdef struct Slot:  # of a hash table, for one id; ids of earlier queries count as free slots
    PyObject* id
    Py_hash_t hash
    Py_ssize_t query  # counted from 1
    Py_ssize_t judged  # its number among all judged ids, or -1
    Py_ssize_t reading  # the last list that had it, or 0
    Py_ssize_t place  # where that list had it first, among all ids of this ranker


cdef struct Table:
    Slot* slots
    size_t mask
    Py_ssize_t query
    Py_ssize_t n_free  # slots that may still be filled


cdef inline bint is_plain(PyObject* id) noexcept:
    return PyUnicode_CheckExact(id) or PyLong_CheckExact(id) or PyBytes_CheckExact(id)


cdef inline bint are_equal(PyObject* one, PyObject* other) noexcept:
    if one == other:
        return True
    # text and bytes are not compared, of which Python may warn
    if PyUnicode_CheckExact(one) != PyUnicode_CheckExact(other):
        return False
    if PyBytes_CheckExact(one) != PyBytes_CheckExact(other):
        return False
    return PyObject_RichCompareBool(one, other, Py_EQ) == 1


cdef Slot* slot_of(Table* table, PyObject* id, bint adds) noexcept:
    """The slot of an id, which is added if `adds`; NULL if it is not there, or nothing is free."""
    cdef Py_hash_t hash = PyObject_Hash(id)
    cdef unsigned long long mixed = <unsigned long long> hash * 0x9E3779B97F4A7C15ULL
    cdef size_t i = <size_t> (mixed >> 20) & table.mask  # numbers in sequence are spread
    cdef Slot* slot = &table.slots[i]
    while slot.query == table.query:
        if slot.hash == hash and are_equal(slot.id, id):
            return slot
        i = (i + 1) & table.mask
        slot = &table.slots[i]
    if not adds or table.n_free == 0:
        return NULL
    table.n_free -= 1
    slot[0] = Slot(id, hash, table.query, -1, 0, 0)
    return slot


cdef inline PyObject* item(PyObject* ids, bint is_list, Py_ssize_t i) noexcept:
    return PyList_GetItem(ids, i) if is_list else PyTuple_GetItem(ids, i)


cdef int grade_of(PyObject* value, double* grade) noexcept:
    """Read a grade; return 0 unless it is a plain number >= 0, or NaN."""
    if PyFloat_CheckExact(value):
        grade[0] = PyFloat_AsDouble(value)
    elif PyLong_CheckExact(value):
        grade[0] = PyLong_AsDouble(value)
        if grade[0] == -1 and PyErr_Occurred() != NULL:  # beyond every float
            PyErr_Clear()
            return 0
    else:
        return 0
    return not (grade[0] < 0 or isinf(grade[0]))


cdef list plain_ids(ids):
    """Ids as a list of their own, or None if the kind of collection is not known."""
    kind = type(ids)
    if kind is np.ndarray:
        return ids.tolist() if ids.ndim == 1 else None
    if kind is set or kind is frozenset:
        return list(ids)
    return [ids] if kind is str or kind is int or kind is bytes else None


cdef int read_truth(Table* table, truth, list ids, double[::1] grades, bint is_strict) except -1:
    """Add the truth of a query to the table, the ids and the grades; return 0 if it is not plain."""
    cdef Py_ssize_t at = 0, i = 0, n = len(truth)
    cdef PyObject* container = <PyObject*> truth
    cdef PyObject* id = NULL
    cdef PyObject* value = NULL
    cdef bint is_dict = type(truth) is dict, is_list = type(truth) is list
    cdef double grade = 1
    cdef Slot* slot
    while True:
        if is_dict:
            if not PyDict_Next(container, &at, &id, &value):
                return 1
            if not grade_of(value, &grade):
                return 0
        else:
            if i == n:
                return 1
            id = item(container, is_list, i)
            i += 1
        if not is_plain(id):
            return 0
        slot = slot_of(table, id, True)
        if slot == NULL or len(ids) == grades.shape[0]:
            return 0
        if slot.judged >= 0:
            if is_strict:
                return 0
            continue
        slot.judged = len(ids)
        grades[slot.judged] = grade
        PyList_Append(<PyObject*> ids, id)


cdef class Lists:
    """What was read of one ranker."""

    cdef list ids, repeats, firsts
    cdef bint is_cut
    cdef object every_length, every_rank
    cdef Py_ssize_t[::1] lengths, ranks

    def __init__(self, n_queries, n_judged):
        self.ids, self.repeats, self.firsts, self.is_cut = [], [], [], False
        self.every_length = np.zeros(n_queries, dtype=np.intp)
        self.every_rank = np.full(n_judged, -1, dtype=np.intp)
        self.lengths, self.ranks = self.every_length, self.every_rank

    cdef tuple fields(self, Py_ssize_t n_judged):
        """The fields of `ranked.Ranked` but the truths."""
        repeats, firsts = (np.array(rows, dtype=np.intp) for rows in (self.repeats, self.firsts))
        ranks = self.every_rank[:n_judged]
        return self.ids, self.every_length, ranks, repeats, firsts, bool(self.is_cut)


cdef int read_list(
    Table* table, listed, Lists ranker, Py_ssize_t reading, Py_ssize_t query, Py_ssize_t k,
    bint is_strict, bint omits,
) except -1:
    """Add a list, until it has k different ids, to those of its ranker; return 0 if it is not plain."""
    cdef Py_ssize_t i, n = len(listed), start = len(ranker.ids), n_read = 0, n_different = 0
    cdef PyObject* container = <PyObject*> listed
    cdef PyObject* id
    cdef bint is_list = type(listed) is list
    cdef Slot* slot
    for i in range(n):
        id = item(container, is_list, i)
        if n_different == k:
            if ranker.is_cut:
                break
            slot = slot_of(table, id, False) if omits and is_plain(id) else NULL
            if slot == NULL or slot.reading != reading:
                ranker.is_cut = True
                break
            continue
        if not is_plain(id):
            return 0
        slot = slot_of(table, id, True)
        if slot == NULL:
            return 0
        if slot.reading == reading:
            if is_strict:
                return 0
            if omits:
                continue
            ranker.repeats.append(start + n_read)
            ranker.firsts.append(slot.place)
        else:
            n_different += 1
            slot.reading = reading
            slot.place = start + n_read
            if slot.judged >= 0:
                ranker.ranks[slot.judged] = n_read
        PyList_Append(<PyObject*> ranker.ids, id)
        n_read += 1
    ranker.lengths[query] = n_read
    return 1


def read_all(list truths, list rankers, str duplicates, k):
    """Read the truths, and the lists of each ranker; return None if not all of them are plain.

    Otherwise the ids, grades and lengths of the truths are returned, and for each ranker the fields
    of `ranked.Ranked` but these.
    """
    cdef Py_ssize_t query, n, at, i, reading = 0, n_rankers = len(rankers), n_queries = len(truths), n_judged = 0, longest = 0
    cdef Py_ssize_t last = -1 if k is None else k
    cdef bint is_strict = duplicates == "raise", omits = duplicates == "omit"
    cdef Table table
    cdef size_t size = 8
    cdef Lists ranker
    cdef list lists
    truths, rankers = list(truths), [list(lists) for lists in rankers]  # arrays become lists here
    for query in range(n_queries):
        truth = truths[query]
        if type(truth) not in (dict, list, tuple):
            truths[query] = truth = plain_ids(truth)
            if truth is None:
                return None
        n = len(truth)
        n_judged += n
        for lists in rankers:
            listed = lists[query]
            if type(listed) not in (list, tuple):
                if type(listed) is not np.ndarray or listed.ndim != 1:
                    return None
                lists[query] = listed = listed.tolist()
            at = len(listed)
            n += at if last < 0 else min(at, last)
        longest = max(longest, n)
    while size < 2 * <size_t> longest:
        size *= 2
    cdef unsigned char[::1] memory = np.zeros(size * sizeof(Slot), dtype=np.uint8)
    table.slots = <Slot*> &memory[0]
    cdef list ids = []
    every_grade, lengths = np.empty(n_judged), np.zeros(n_queries, dtype=np.intp)
    cdef double[::1] grades = every_grade
    cdef Py_ssize_t[::1] n_of_query = lengths
    cdef list read = [Lists(n_queries, n_judged) for _ in rankers]
    for query in range(n_queries):
        if query % PATIENCE == PATIENCE - 1:
            PyErr_CheckSignals()
        n = len(truths[query])
        for lists in rankers:
            at = len(lists[query])
            n += at if last < 0 else min(at, last)
        table.mask = 7  # as few slots as the query needs, which a processor keeps at hand
        while table.mask + 1 < size and table.mask + 1 < 2 * <size_t> n:
            table.mask = 2 * table.mask + 1
        table.query, table.n_free = query + 1, (table.mask + 1) // 2
        at = len(ids)
        if not read_truth(&table, truths[query], ids, grades, is_strict):
            return None
        n_of_query[query] = len(ids) - at
        for i in range(n_rankers):
            lists, ranker, reading = rankers[i], read[i], reading + 1
            if not read_list(
                &table, lists[query], ranker, reading, query, last, is_strict, omits
            ):
                return None
    n = len(ids)
    return ids, every_grade[:n], lengths, [(<Lists> ranker).fields(n) for ranker in read]
