# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The compiled version of `numpy_kernels`: the same functions, one query after the other.

With a small cutoff only the documents that can reach it are kept. The sorts are in `sorts.pxi`.
"""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

import os

import numpy as np

from sklearn_ndcg._kernels.threads import check_interrupt, map_rows

# so that nobody can choose ids that all fall into one slot
cdef unsigned long long SEED = int.from_bytes(os.urandom(8), "little")

ctypedef fused real:
    float
    double

ctypedef fused graded:  # gains, or grades whose gains are in a table
    unsigned char
    double

cdef enum:
    GRADES = 256  # of a byte
    PARTS = 16  # of a query: their highest scores bound the score at a small cutoff from below
    PATIENCE = 1 << 21  # documents, after which the kernels check whether the call was interrupted

ctypedef fused item:
    unsigned char
    float
    double
    Py_ssize_t



cdef struct Sum:  # compensated
    double total
    double rest


cdef inline void add(Sum* s, double term) noexcept nogil:
    # the rounding error of a sum, whichever term is larger (Knuth 1969)
    cdef double total = s.total + term
    cdef double added = total - s.total
    s.rest += (s.total - (total - added)) + (term - added)
    s.total = total


cdef inline double total_of(Sum* s) noexcept nogil:
    # after an overflow the rest is inf - inf
    return s.total + s.rest if s.rest == s.rest else s.total


cdef struct Ranks:
    const double* discount
    const double* before  # sums of the discounts of all earlier ranks
    const double* rest  # their rounding errors, without which differences of sums lose digits
    const Py_ssize_t* cutoffs
    Py_ssize_t n_cutoffs


cdef inline void add_term(
    const Ranks* ranks, double gain, Py_ssize_t rank, Sum* s, Py_ssize_t* at, double* out
) noexcept nogil:
    """Add `gain` at one rank, counted from 0, and write the sum if the cutoff is there."""
    add(s, gain * ranks.discount[rank])
    if rank + 1 == ranks.cutoffs[at[0]]:
        out[at[0]] = total_of(s)
        at[0] += 1


cdef void add_terms(
    const Ranks* ranks, double gain, Py_ssize_t first, Py_ssize_t last, Sum* s, Py_ssize_t* at,
    double* out,
) noexcept nogil:
    """Add `gain` at the ranks first + 1..last, and write the sum at each cutoff that is passed."""
    cdef Py_ssize_t end, rank
    cdef double weight
    while first < last and at[0] < ranks.n_cutoffs:
        end = min(last, ranks.cutoffs[at[0]])
        if gain != 0:
            if ranks.discount[end - 1] > 1e-12 * ranks.before[end]:
                weight = ranks.before[end] - ranks.before[first]
                add(s, gain * (weight + (ranks.rest[end] - ranks.rest[first])))
            else:  # discounts too small for the digits of the sums
                for rank in range(first, end):
                    add(s, gain * ranks.discount[rank])
        first = end
        if end == ranks.cutoffs[at[0]]:
            out[at[0]] = total_of(s)
            at[0] += 1


cdef inline double gain_of(graded grade, const double* table) noexcept nogil:
    if graded is double:
        return grade
    else:
        return table[grade]


cdef int check_interrupt_now() except -1 with gil:
    check_interrupt()
    return 0


cdef inline int check_interrupt_now_and_then(Py_ssize_t i) except -1 nogil:
    """Raise if the call was interrupted, in a loop over `i`."""
    return check_interrupt_now() if i % PATIENCE == PATIENCE - 1 else 0


include "sorts.pxi"


cdef double lower_bound(
    const real* score, Py_ssize_t n, Py_ssize_t depth, Document* best, Document* spare
) except? -1 nogil:
    """A score that at least `depth` documents reach: the `depth`-th of the maxima of parts."""
    cdef real highest[PARTS]
    cdef Py_ssize_t i, j, chunk, n_chunks = (depth + depth // 4 + PARTS - 1) // PARTS
    cdef Py_ssize_t length = n // n_chunks
    if length < 2 * PARTS:
        return -DBL_MAX
    for chunk in range(n_chunks):
        memcpy(highest, score, PARTS * sizeof(real))
        i = PARTS
        while i + PARTS <= length:
            for j in range(PARTS):
                highest[j] = score[i + j] if score[i + j] > highest[j] else highest[j]
            i += PARTS
        for j in range(PARTS):
            best[chunk * PARTS + j].score = highest[j]
        score += length
    sort(best, spare, n_chunks * PARTS)
    return max(best[depth - 1].score, -DBL_MAX)


cdef Py_ssize_t rank(
    const real* score, Py_ssize_t n, Py_ssize_t depth, Document* ranked, Document* spare,
) except -1 nogil:
    """Put retrieved documents in order, `depth` of them and what ties with the last; count them.

    `score` may lie in the first half of `spare`.
    """
    cdef Py_ssize_t i, found = 0
    cdef Py_ssize_t* row = <Py_ssize_t*> spare + n
    cdef double bound = lower_bound(score, n, depth, ranked, ranked + n // 2)
    for i in range(n):  # branch-free
        row[found] = i
        found += score[i] >= bound
    for i in range(found):
        check_interrupt_now_and_then(i)
        ranked[i] = Document(score[row[i]], row[i])
    sort(ranked, spare, found)
    return found


cdef int dcg_of_query(
    const graded* gain, const real* score, Py_ssize_t n, const Ranks* ranks, int by_gain, bint averages,
    const double* table, Document* ranked, Document* spare, double* out,
) except -1 nogil:
    cdef Py_ssize_t i, first = 0, last, found, at = 0
    cdef Py_ssize_t depth = min(n, ranks.cutoffs[ranks.n_cutoffs - 1])
    cdef double* gains = <double*> spare
    cdef Sum s = Sum(0, 0)
    cdef Sum block
    found = rank(score, n, depth, ranked, spare)
    while first < found and at < ranks.n_cutoffs:
        check_interrupt_now_and_then(first)
        last = first + 1
        if by_gain or averages:
            while last < found and ranked[last].score == ranked[first].score:
                last += 1
        if last == first + 1:
            add_term(ranks, gain_of(gain[ranked[first].row], table), first, &s, &at, out)
        elif averages:
            block = Sum(0, 0)
            for i in range(first, last):
                add(&block, gain_of(gain[ranked[i].row], table))
            add_terms(ranks, total_of(&block) / (last - first), first, last, &s, &at, out)
        else:
            for i in range(first, last):
                gains[i - first] = by_gain * gain_of(gain[ranked[i].row], table)
            rank(gains, last - first, min(last, depth) - first, ranked + first, spare)
            for i in range(first, min(last, depth)):
                add_term(ranks, by_gain * ranked[i].score, i, &s, &at, out)
        first = last
    for i in range(at, ranks.n_cutoffs):
        out[i] = total_of(&s)
    return 0


cdef int ideal_of_query(
    const graded* gain, Py_ssize_t n, const Ranks* ranks, const double* table,
    const Py_ssize_t* by_gain, Py_ssize_t n_grades, Document* ranked, Document* spare, double* out,
) except -1 nogil:
    cdef Py_ssize_t counts[2 * GRADES]
    cdef Py_ssize_t i, grade, count, first = 0, at = 0
    cdef Py_ssize_t depth = min(n, ranks.cutoffs[ranks.n_cutoffs - 1])
    cdef Sum s = Sum(0, 0)
    if graded is double:
        rank(gain, n, depth, ranked, spare)
        for i in range(depth):
            check_interrupt_now_and_then(i)
            add_term(ranks, ranked[i].score, i, &s, &at, out)
    elif 4 * n < n_grades:  # fewer documents than counts to look at
        for i in range(n):
            ranked[i].score = table[gain[i]]
        sort(ranked, spare, n)
        for i in range(depth):
            add_term(ranks, ranked[i].score, i, &s, &at, out)
    else:
        memset(counts, 0, 2 * n_grades * sizeof(Py_ssize_t))
        for i in range(0, n - 1, 2):  # two counts, so that updates do not wait for each other
            counts[gain[i]] += 1
            counts[n_grades + gain[i + 1]] += 1
        if n % 2:
            counts[gain[n - 1]] += 1
        for i in range(n_grades):
            grade = by_gain[i]
            count = counts[grade] + counts[n_grades + grade]
            add_terms(ranks, table[grade], first, first + count, &s, &at, out)
            first += count
    for i in range(at, ranks.n_cutoffs):
        out[i] = total_of(&s)
    return 0


def count_codes(const Py_ssize_t[::1] codes, Py_ssize_t n_codes):
    """How often each code occurs."""
    counts = np.zeros(n_codes, dtype=np.intp)
    cdef Py_ssize_t[::1] count = counts
    cdef Py_ssize_t i
    with nogil:
        for i in range(codes.shape[0]):
            count[codes[i]] += 1
    return counts


def mark_codes(const Py_ssize_t[::1] codes, char[::1] seen):
    """``seen[codes] = True``."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(codes.shape[0]):
            seen[codes[i]] = 1


def gather_by_group(values, codes, places):
    """``values[np.argsort(codes, kind="stable")]`` in linear time; `places` as in `places_of`."""
    out = np.empty_like(values)
    map_rows(
        lambda part: _scatter(values[part], codes[part], places[part.start].copy(), out),
        len(values), len(places),
    )
    return out


def _scatter(
    const item[::1] values, const Py_ssize_t[::1] codes, Py_ssize_t[::1] next_place, item[::1] out
):
    cdef Py_ssize_t i, code
    with nogil:
        for i in range(values.shape[0]):
            code = codes[i]
            out[next_place[code]] = values[i]
            next_place[code] += 1


cdef inline size_t slot_of(unsigned long long id, size_t mask) noexcept nogil:
    # the finalizer of MurmurHash3 (Appleby): every bit of the id reaches the low bits
    id ^= SEED
    id ^= id >> 33
    id *= 0xff51afd7ed558ccdULL
    id ^= id >> 33
    id *= 0xc4ceb9fe1a85ec53ULL
    id ^= id >> 33
    return id & mask


def factorize(const long long[::1] ids):
    """Distinct ids in the order of their first rows, and the place of each row's id among them."""
    cdef Py_ssize_t i, code, n = ids.shape[0], n_found = 0, n_slots = 1024
    cdef size_t slot, mask = n_slots - 1
    cdef long long id
    codes = np.empty(n, dtype=np.intp)
    found, slots = np.empty(n_slots // 2, dtype=np.int64), np.full(n_slots, -1, dtype=np.intp)
    cdef Py_ssize_t[::1] code_of_row = codes, code_in_slot = slots
    cdef long long[::1] id_of_code = found
    for i in range(n):
        id = ids[i]
        if i and id == ids[i - 1]:
            code_of_row[i] = code_of_row[i - 1]
            continue
        slot = slot_of(<unsigned long long> id, mask)
        while code_in_slot[slot] >= 0 and id_of_code[code_in_slot[slot]] != id:
            slot = (slot + 1) & mask
        if code_in_slot[slot] < 0:
            if 2 * n_found == n_slots:  # half full: all move to a table four times as large
                n_slots *= 4
                mask = n_slots - 1
                found = np.resize(found, n_slots // 2)
                slots = np.full(n_slots, -1, dtype=np.intp)
                id_of_code, code_in_slot = found, slots
                for code in range(n_found):
                    slot = slot_of(<unsigned long long> id_of_code[code], mask)
                    while code_in_slot[slot] >= 0:
                        slot = (slot + 1) & mask
                    code_in_slot[slot] = code
                slot = slot_of(<unsigned long long> id, mask)
                while code_in_slot[slot] >= 0:
                    slot = (slot + 1) & mask
            id_of_code[n_found] = id
            code_in_slot[slot] = n_found
            n_found += 1
        code_of_row[i] = code_in_slot[slot]
    return found[:n_found].copy(), codes


cdef extern from "Python.h":  # borrowed objects, as counting references would write to each
    ctypedef struct PyObject
    ctypedef struct PyTypeObject:
        pass
    PyTypeObject PyBytes_Type, PyFloat_Type, PyLong_Type, PyUnicode_Type
    int Py_EQ
    PyTypeObject* Py_TYPE(PyObject*)
    Py_hash_t PyObject_Hash(PyObject*) except? -1
    int PyObject_RichCompareBool(PyObject*, PyObject*, int) except -1


cdef inline bint is_plain(PyObject* each) noexcept:
    """Whether this is text or a number: comparing these runs no Python code."""
    cdef PyTypeObject* kind = Py_TYPE(each)
    return (
        kind == &PyUnicode_Type or kind == &PyBytes_Type or kind == &PyLong_Type
        or kind == &PyFloat_Type
    )


def factorize_objects(const Py_ssize_t[::1] addresses):
    """Codes of objects, the same for equal ones.

    None if not all are text, bytes, int or float, or if different ones have the same hash.
    """
    cdef Py_ssize_t i, n = addresses.shape[0], n_found = 0
    cdef PyObject* each
    hashes = np.empty(n, dtype=np.int64)
    cdef long long[::1] hash_of_row = hashes
    for i in range(n):
        each = <PyObject*> addresses[i]
        if not is_plain(each):
            return None
        hash_of_row[i] = PyObject_Hash(each)
    found, codes = factorize(hashes)
    cdef const Py_ssize_t[::1] code_of_row = codes
    cdef Py_ssize_t[::1] address_of_code = np.empty(len(found), dtype=np.intp)
    for i in range(n):
        each = <PyObject*> addresses[i]
        if code_of_row[i] == n_found:
            address_of_code[n_found] = addresses[i]
            n_found += 1
        elif not is_plain(each) or not PyObject_RichCompareBool(
            <PyObject*> address_of_code[code_of_row[i]], each, Py_EQ
        ):
            return None
    return codes


def dcg(
    const graded[::1] gain,
    const real[::1] score,
    const Py_ssize_t[::1] starts,
    const Py_ssize_t[::1] lengths,
    const double[::1] discount,
    const Py_ssize_t[::1] cutoffs,
    ties,
    const double[::1] table,
):
    """DCG of every query at every cutoff, shape (n_queries, n_cutoffs)."""
    cdef Py_ssize_t q, n_done = 0
    cdef int by_gain
    cdef bint averages
    by_gain, averages = ties  # fails for a rule with more fields
    cdef double[GRADES] gains
    result = np.zeros((len(starts), len(cutoffs)))
    cdef double[:, ::1] out = result
    cdef double[:, ::1] sums = _running_sums(discount)
    cdef Ranks ranks = Ranks(
        &discount[0], &sums[0, 0], &sums[1, 0], &cutoffs[0], cutoffs.shape[0]
    )
    cdef double[:, ::1] scratch = _scratch(lengths)
    cdef Document* ranked = <Document*> &scratch[0, 0]
    cdef Document* spare = <Document*> &scratch[1, 0]
    fill(gains, table)
    with nogil:
        for q in range(starts.shape[0]):
            if lengths[q]:
                dcg_of_query(
                    &gain[starts[q]], &score[starts[q]], lengths[q], &ranks, by_gain, averages, gains,
                    ranked, spare, &out[q, 0],
                )
            n_done += lengths[q]
            if n_done > PATIENCE:
                check_interrupt_now()
                n_done = 0
    return result


def ideal_dcg(
    const graded[::1] gain,
    const Py_ssize_t[::1] starts,
    const Py_ssize_t[::1] lengths,
    const double[::1] discount,
    cutoffs,
    const double[::1] table,
):
    """DCG of the best order at every cutoff, shape (n_queries, n_cutoffs)."""
    cdef const Py_ssize_t[:, ::1] ends = np.ascontiguousarray(np.atleast_2d(cutoffs))
    cdef bint per_query = cutoffs.ndim == 2
    cdef Py_ssize_t q, column, n_done = 0
    cdef const Py_ssize_t[::1] by_gain = np.argsort(np.negative(table))
    cdef double[GRADES] gains
    result = np.zeros((len(starts), ends.shape[1]))
    cdef double[:, ::1] out = result
    cdef double[:, ::1] sums = _running_sums(discount)
    cdef Ranks ranks = Ranks(
        &discount[0], &sums[0, 0], &sums[1, 0], &ends[0, 0], 1 if per_query else ends.shape[1]
    )
    cdef double[:, ::1] scratch = _scratch(lengths)
    cdef Document* ranked = <Document*> &scratch[0, 0]
    cdef Document* spare = <Document*> &scratch[1, 0]
    fill(gains, table)
    with nogil:
        for q in range(starts.shape[0]):
            if not lengths[q]:
                continue
            for column in range(ends.shape[1] if per_query else 1):
                if per_query:  # the cutoffs of a query may be in any order
                    ranks.cutoffs = &ends[q, column]
                ideal_of_query(
                    &gain[starts[q]], lengths[q], &ranks, gains, &by_gain[0], table.shape[0],
                    ranked, spare, &out[q, column],
                )
            n_done += lengths[q]
            if n_done > PATIENCE:
                check_interrupt_now()
                n_done = 0
    return result


cdef void fill(double* gains, const double[::1] table):
    """A gain for every byte, in case another thread changes the caller's grades meanwhile."""
    cdef Py_ssize_t grade
    for grade in range(GRADES):
        gains[grade] = table[grade] if grade < table.shape[0] else 0


cdef _running_sums(const double[::1] discount):
    """Sums of the discounts before each rank, and their rounding errors."""
    cdef double[:, ::1] sums = np.zeros((2, discount.shape[0] + 1))
    cdef Py_ssize_t rank
    cdef Sum s = Sum(0, 0)
    for rank in range(discount.shape[0]):
        add(&s, discount[rank])
        sums[0, rank + 1] = s.total
        sums[1, rank + 1] = s.rest
    return sums


cdef _scratch(const Py_ssize_t[::1] lengths):
    """Room for the documents of the longest query, twice."""
    cdef Py_ssize_t q, longest = 1
    for q in range(lengths.shape[0]):
        longest = max(longest, lengths[q])
    return np.empty((2, 2 * longest))
