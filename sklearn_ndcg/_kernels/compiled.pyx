# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The compiled version of `numpy_kernels`: the same functions, one query after the other.

With a small cutoff only the documents that can reach it are kept. The sorts are in `sorts.pxi`.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

import numpy as np

ctypedef fused real:
    float
    double

ctypedef fused graded:  # gains, or grades whose gains are in a table
    unsigned char
    double

cdef enum:
    GRADES = 256  # of a byte
    STRIPES = 16  # of a chunk of a query: every 16th score, whose maxima are computed at once
    PATIENCE = 1 << 21  # documents after which the kernels ask Python for an interrupt

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
    return s.total + s.rest


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


cdef int check_interrupt() except -1 with gil:
    """Raise KeyboardInterrupt after Ctrl-C; only the main thread is ever interrupted."""
    return PyErr_CheckSignals()


cdef inline int check_now_and_then(Py_ssize_t i) except -1 nogil:
    """Check for an interrupt now and then, in a loop over `i`."""
    return check_interrupt() if i % PATIENCE == PATIENCE - 1 else 0


include "sorts.pxi"


cdef double lower_bound(
    const real* score, Py_ssize_t n, Py_ssize_t depth, Document* best, Document* spare
) except? -1 nogil:
    """A score that at least `depth` documents reach: the `depth`-th of the maxima of stripes."""
    cdef real highest[STRIPES]
    cdef Py_ssize_t i, j, chunk, n_chunks = (depth + depth // 4 + STRIPES - 1) // STRIPES
    cdef Py_ssize_t length = n // n_chunks
    if length < 2 * STRIPES:
        return -DBL_MAX
    for chunk in range(n_chunks):
        memcpy(highest, score, STRIPES * sizeof(real))
        i = STRIPES
        while i + STRIPES <= length:
            for j in range(STRIPES):
                highest[j] = score[i + j] if score[i + j] > highest[j] else highest[j]
            i += STRIPES
        for j in range(STRIPES):
            best[chunk * STRIPES + j].score = highest[j]
        score += length
    sort(best, spare, n_chunks * STRIPES)
    return max(best[depth - 1].score, -DBL_MAX)


cdef Py_ssize_t rank(
    const real* score, Py_ssize_t n, Py_ssize_t depth, Document* ranked, Document* spare,
) except -1 nogil:
    """Put retrieved documents in order, `depth` of them and what ties with the last; count them.

    `score` may lie in the first half of `spare`.
    """
    cdef Py_ssize_t i, n_kept = 0
    cdef Py_ssize_t* row = <Py_ssize_t*> spare + n
    cdef double bound = lower_bound(score, n, depth, ranked, ranked + n // 2)
    for i in range(n):  # branch-free
        row[n_kept] = i
        n_kept += score[i] >= bound
    for i in range(n_kept):
        check_now_and_then(i)
        ranked[i] = Document(score[row[i]], row[i])
    sort(ranked, spare, n_kept)
    return n_kept


cdef int dcg_of_query(
    const graded* gain, const real* score, Py_ssize_t n, const Ranks* ranks, int by_gain, bint averages,
    const double* table, Document* ranked, Document* spare, double* out,
) except -1 nogil:
    cdef Py_ssize_t i, first = 0, last, n_ranked, at = 0
    cdef Py_ssize_t depth = min(n, ranks.cutoffs[ranks.n_cutoffs - 1])
    cdef double* gains = <double*> spare
    cdef Sum s = Sum(0, 0)
    cdef Sum block
    n_ranked = rank(score, n, depth, ranked, spare)
    while first < n_ranked and at < ranks.n_cutoffs:
        check_now_and_then(first)
        last = first + 1
        if by_gain or averages:
            while last < n_ranked and ranked[last].score == ranked[first].score:
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
    const Py_ssize_t* best_first, Py_ssize_t n_grades, Document* ranked, Document* spare, double* out,
) except -1 nogil:
    cdef Py_ssize_t counts[2 * GRADES]
    cdef Py_ssize_t i, grade, n_ranked, first = 0, last, at = 0
    cdef double* gains = <double*> spare
    cdef Py_ssize_t depth = min(n, ranks.cutoffs[ranks.n_cutoffs - 1])
    cdef Sum s = Sum(0, 0)
    if graded is double or 4 * n < n_grades:  # fewer documents than counts to look at
        for i in range(n):
            gains[i] = gain_of(gain[i], table)
        n_ranked = rank(gains, n, depth, ranked, spare)
        while first < n_ranked and at < ranks.n_cutoffs:
            last = first + 1
            while last < n_ranked and ranked[last].score == ranked[first].score:
                last += 1
            if last == first + 1:  # the same to the last bit, and faster
                add_term(ranks, ranked[first].score, first, &s, &at, out)
            else:
                add_terms(ranks, ranked[first].score, first, last, &s, &at, out)
            first = last
    else:
        memset(counts, 0, 2 * n_grades * sizeof(Py_ssize_t))
        for i in range(0, n - 1, 2):  # two counts, so that updates do not wait for each other
            counts[gain[i]] += 1
            counts[n_grades + gain[i + 1]] += 1
        if n % 2:
            counts[gain[n - 1]] += 1
        last = 0
        for i in range(n_grades):
            grade = best_first[i]
            last += counts[grade] + counts[n_grades + grade]
            # grades with one gain are added at once, as equal gains are above: to the last bit, a
            # query has one ideal, whatever the others are
            if i + 1 == n_grades or table[best_first[i + 1]] != table[grade]:
                add_terms(ranks, table[grade], first, last, &s, &at, out)
                first = last
    for i in range(at, ranks.n_cutoffs):
        out[i] = total_of(&s)
    return 0


def gather_by_group(
    const item[::1] values, const Py_ssize_t[::1] codes, const Py_ssize_t[::1] starts
):
    """``values[np.argsort(codes, kind="stable")]``, where rows of code c begin at ``starts[c]``."""
    gathered = np.empty_like(values)
    cdef item[::1] out = gathered
    cdef Py_ssize_t[::1] next_row = starts.copy()
    cdef Py_ssize_t i, code
    with nogil:
        for i in range(values.shape[0]):
            code = codes[i]
            out[next_row[code]] = values[i]
            next_row[code] += 1
    return gathered


cdef inline Py_ssize_t* slot_of(
    long long id, Py_ssize_t* code_in_slot, size_t mask, const long long* id_of_code
) noexcept nogil:
    """The slot that has the code of an id, or the free one that is to have it."""
    # the finalizer of MurmurHash3 (Appleby): every bit of the id reaches the low bits
    cdef unsigned long long slot = id
    slot ^= slot >> 33
    slot *= 0xff51afd7ed558ccdULL
    slot ^= slot >> 33
    slot *= 0xc4ceb9fe1a85ec53ULL
    slot ^= slot >> 33
    while code_in_slot[slot & mask] >= 0 and id_of_code[code_in_slot[slot & mask]] != id:
        slot += 1
    return &code_in_slot[slot & mask]


def factorize(const long long[::1] ids):
    """Distinct ids in the order of their first rows, and the index of each row's id among them."""
    cdef Py_ssize_t i, known, code = 0, n_distinct = 0, n_slots = 1024
    cdef Py_ssize_t* slot
    codes = np.empty(len(ids), dtype=np.intp)
    cdef Py_ssize_t[::1] code_of_row = codes, code_in_slot = np.full(n_slots, -1, dtype=np.intp)
    cdef long long[::1] id_of_code = np.empty(n_slots // 2, dtype=np.int64)
    for i in range(ids.shape[0]):
        if i == 0 or ids[i] != ids[i - 1]:
            if 2 * n_distinct == n_slots:  # half full: all codes move to a table four times as large
                n_slots *= 4
                code_in_slot = np.full(n_slots, -1, dtype=np.intp)
                id_of_code = np.resize(id_of_code, n_slots // 2)
                for known in range(n_distinct):
                    slot = slot_of(id_of_code[known], &code_in_slot[0], n_slots - 1, &id_of_code[0])
                    slot[0] = known
            slot = slot_of(ids[i], &code_in_slot[0], n_slots - 1, &id_of_code[0])
            if slot[0] < 0:
                slot[0] = n_distinct
                id_of_code[n_distinct] = ids[i]
                n_distinct += 1
            code = slot[0]
        code_of_row[i] = code
    return np.array(id_of_code[:n_distinct]), codes


def dcg(
    const graded[::1] gain, const real[::1] score, const Py_ssize_t[::1] starts,
    const Py_ssize_t[::1] lengths, const double[::1] discount, const Py_ssize_t[::1] cutoffs, ties,
    const double[::1] table,
):
    """DCG of every query at every cutoff, shape (n_queries, n_cutoffs)."""
    cdef Py_ssize_t q, n_done = 0
    cdef int by_gain
    cdef bint averages
    by_gain, averages = ties  # fails for a rule with more fields
    values = np.zeros((len(starts), len(cutoffs)))
    cdef double[:, ::1] out = values, scratch = _scratch(lengths)
    cdef Py_ssize_t last = cutoffs[cutoffs.shape[0] - 1]
    cdef double[:, ::1] sums = _running_sums(discount, min(scratch.shape[1] // 2, last))
    cdef double[GRADES] gains
    fill(gains, table)
    cdef Ranks ranks = Ranks(&discount[0], &sums[0, 0], &sums[1, 0], &cutoffs[0], cutoffs.shape[0])
    with nogil:
        for q in range(starts.shape[0]):
            if lengths[q]:
                dcg_of_query(
                    &gain[starts[q]], &score[starts[q]], lengths[q], &ranks, by_gain, averages,
                    gains, <Document*> &scratch[0, 0], <Document*> &scratch[1, 0], &out[q, 0],
                )
            n_done += lengths[q]
            if n_done > PATIENCE:
                check_interrupt()
                n_done = 0
    return values


def ideal_dcg(
    const graded[::1] gain, const Py_ssize_t[::1] starts, const Py_ssize_t[::1] lengths,
    const double[::1] discount, cutoffs, const double[::1] table,
):
    """DCG of the best order at every cutoff, shape (n_queries, n_cutoffs)."""
    cdef const Py_ssize_t[:, ::1] ends = np.array(cutoffs, ndmin=2, order="C")
    cdef const Py_ssize_t[::1] best_first = np.argsort(np.negative(table))
    cdef bint per_query = cutoffs.ndim == 2
    cdef Py_ssize_t q, column, n_done = 0
    values = np.zeros((len(starts), ends.shape[1]))
    cdef double[:, ::1] out = values, scratch = _scratch(lengths)
    cdef Py_ssize_t last = cutoffs.max() if per_query else ends[0, ends.shape[1] - 1]
    cdef double[:, ::1] sums = _running_sums(discount, min(scratch.shape[1] // 2, last))
    cdef double[GRADES] gains
    fill(gains, table)
    cdef Ranks ranks = Ranks(&discount[0], &sums[0, 0], &sums[1, 0], &ends[0, 0], ends.shape[1])
    if per_query:  # the cutoffs of a query may be in any order, so each is computed by itself
        ranks.n_cutoffs = 1
    with nogil:
        for q in range(starts.shape[0]):
            if not lengths[q]:
                continue
            for column in range(ends.shape[1] if per_query else 1):
                if per_query:
                    ranks.cutoffs = &ends[q, column]
                ideal_of_query(
                    &gain[starts[q]], lengths[q], &ranks, gains, &best_first[0], best_first.shape[0],
                    <Document*> &scratch[0, 0], <Document*> &scratch[1, 0], &out[q, column],
                )
            n_done += lengths[q]
            if n_done > PATIENCE:
                check_interrupt()
                n_done = 0
    return values


cdef void fill(double* gains, const double[::1] table):
    """A gain for every byte, in case another thread changes the caller's grades meanwhile."""
    cdef Py_ssize_t grade
    for grade in range(GRADES):
        gains[grade] = table[grade] if grade < table.shape[0] else 0


cdef _running_sums(const double[::1] discount, Py_ssize_t n_ranks):
    """Sums of the discounts before each of so many ranks, and their rounding errors."""
    if discount.shape[0] < n_ranks:
        raise IndexError(f"discount has {discount.shape[0]} of {n_ranks} ranks")
    cdef double[:, ::1] sums = np.zeros((2, n_ranks + 1))
    cdef Py_ssize_t rank
    cdef Sum s = Sum(0, 0)
    for rank in range(n_ranks):
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
