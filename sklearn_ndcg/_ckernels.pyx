# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled version of `_kernels`: the same functions, one query after the other.

With a small cutoff only the documents that can reach it are kept. They are distributed to as many
buckets as there are documents, by the place of a score between the lowest and the highest, which
leaves next to nothing to sort.
"""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

import os

import numpy as np

# so that nobody can choose ids that all fall into one slot
cdef unsigned long long SEED = int.from_bytes(os.urandom(8), "little")

ctypedef fused real:
    float
    double

ctypedef fused graded:  # gains, or grades whose gains are in a table
    unsigned char
    double

cdef enum:
    AVERAGE, STABLE, WORST, BEST
    CHUNKS = 8  # of a query; each has so many
    LANES = 16  # parts, whose highest scores bound the score at a small cutoff from below
    GRADES = 256  # of a byte
    BUCKETS = 2048  # at most
    RUN = 16  # length of the runs that are sorted by insertion and then merged

ctypedef fused item:
    unsigned char
    float
    double
    Py_ssize_t

TIES = {"average": AVERAGE, "stable": STABLE, "worst": WORST, "best": BEST}


cdef struct Document:
    double score
    double gain


cdef struct Sum:  # compensated (Neumaier 1974)
    double total
    double rest


cdef inline void add(Sum* s, double term) noexcept nogil:
    cdef double total = s.total + term
    if (s.total if s.total >= 0 else -s.total) >= (term if term >= 0 else -term):
        s.rest += (s.total - total) + term
    else:
        s.rest += (term - total) + s.total
    s.total = total


cdef inline double value(Sum* s) noexcept nogil:
    # after an overflow the rest is inf - inf
    return s.total + s.rest if s.rest == s.rest else s.total


cdef struct Ranks:
    const double* discount
    const double* before  # sum of the discounts of all earlier ranks, and what it rounds off:
    const double* rest  # with both, differences of such sums are as good as sums
    const Py_ssize_t* cutoffs
    Py_ssize_t n_cutoffs


cdef inline void write_terms(
    const Ranks* ranks, double gain, Py_ssize_t first, Py_ssize_t last, Sum* s, Py_ssize_t* at,
    double* out,
) noexcept nogil:
    """Add `gain` at the ranks first + 1..last, and write the sum at each cutoff that is passed."""
    cdef Py_ssize_t end, rank
    cdef double weight
    while first < last and at[0] < ranks.n_cutoffs:
        end = min(last, ranks.cutoffs[at[0]])
        if gain != 0:
            if end > first + 1 and ranks.discount[end - 1] > 1e-12 * ranks.before[end]:
                weight = ranks.before[end] - ranks.before[first]
                add(s, gain * (weight + (ranks.rest[end] - ranks.rest[first])))
            else:  # one rank, or discounts so steep that the sums have lost them
                for rank in range(first, end):
                    add(s, gain * ranks.discount[rank])
        first = end
        if end == ranks.cutoffs[at[0]]:
            out[at[0]] = value(s)
            at[0] += 1


cdef inline double gain_of(graded grade, const double* table) noexcept nogil:
    if graded is double:
        return grade
    else:
        return table[grade]


cdef double lower_bound(const real* score, Py_ssize_t n, Py_ssize_t depth) noexcept nogil:
    """A score that `depth` documents have or exceed: each of so many parts has its highest."""
    cdef real highest[CHUNKS * LANES]
    cdef real* lanes
    cdef real s
    cdef Py_ssize_t i, j, chunk, n_chunks = (depth + LANES - 1) // LANES
    cdef Py_ssize_t length = n // n_chunks
    if n_chunks > CHUNKS or length < 3 * LANES:
        return -DBL_MAX
    for chunk in range(n_chunks):
        lanes = highest + chunk * LANES
        memcpy(lanes, score, LANES * sizeof(real))
        i = LANES
        while i + LANES <= length:
            for j in range(LANES):
                s = score[i + j]
                lanes[j] = s if s > lanes[j] else lanes[j]
            i += LANES
        score += length
    for j in range(depth, n_chunks * LANES):
        highest[j % depth] = max(highest[j % depth], highest[j])
    s = highest[0]
    for j in range(1, depth):
        s = min(s, highest[j])
    return max(s, -DBL_MAX)


cdef void sort_by_insertion(Document* documents, Py_ssize_t n) noexcept nogil:
    cdef Document moved
    cdef Py_ssize_t i, j
    for i in range(1, n):
        if documents[i].score > documents[i - 1].score:
            moved = documents[i]
            j = i
            while j > 0 and documents[j - 1].score < moved.score:
                documents[j] = documents[j - 1]
                j -= 1
            documents[j] = moved


cdef void sort(Document* documents, Document* spare, Py_ssize_t n) noexcept nogil:
    """Sort by descending score, stably: runs by insertion, which are then merged."""
    cdef Py_ssize_t start, middle, stop, left, right, at, width = RUN
    cdef bint take
    cdef Document* source = documents
    cdef Document* target = spare
    start = 0
    while start < n:
        sort_by_insertion(documents + start, min(n - start, width))
        start += width
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(start + 2 * width, n)
            left, right, at = start, middle, start
            if middle < stop and source[middle - 1].score < source[middle].score:
                while left < middle and right < stop:  # branch-free
                    take = source[right].score > source[left].score
                    target[at] = source[right if take else left]
                    right += take
                    left += not take
                    at += 1
            memcpy(target + at, source + left, (middle - left) * sizeof(Document))
            memcpy(
                target + at + middle - left, source + right, (stop - right) * sizeof(Document)
            )
            start = stop
        source, target = target, source
        width *= 2
    if source != documents:
        memcpy(documents, source, n * sizeof(Document))


cdef Document* rank(
    const graded* gain, const real* score, Py_ssize_t n, Py_ssize_t depth, const double* table,
    Document* ranked, Document* spare, Py_ssize_t* found,
) noexcept nogil:
    """The documents that were retrieved in order, `depth` of them and what ties with the last."""
    cdef Py_ssize_t ends[BUCKETS]
    cdef Py_ssize_t i, bucket, start = 0, stop, m = 0, n_buckets
    cdef double s, scale, low = INFINITY, high = -INFINITY
    cdef double bound = lower_bound(score, n, depth)
    for i in range(n):  # branch-free
        s = score[i]
        ranked[m] = Document(s, gain_of(gain[i], table))
        m += s >= bound
    found[0] = m
    if m <= 2 * RUN:
        sort(ranked, spare, m)
        return ranked
    for i in range(m):
        s = ranked[i].score
        low = s if s < low else low
        high = s if s > high else high
    n_buckets = min(m, <Py_ssize_t> BUCKETS)
    scale = n_buckets / (high - low) if high > low else INFINITY
    if not 0 < scale < INFINITY:  # all tied, or a range that float64 does not hold
        sort(ranked, spare, m)
        return ranked
    memset(ends, 0, n_buckets * sizeof(Py_ssize_t))
    for i in range(m):
        ends[min(<Py_ssize_t> ((high - ranked[i].score) * scale), n_buckets - 1)] += 1
    for bucket in range(n_buckets):
        stop = start + ends[bucket]
        ends[bucket] = start
        start = stop
    for i in range(m):
        bucket = min(<Py_ssize_t> ((high - ranked[i].score) * scale), n_buckets - 1)
        spare[ends[bucket]] = ranked[i]
        ends[bucket] += 1
    start = 0
    for bucket in range(n_buckets):
        if ends[bucket] - start > RUN:
            sort(spare + start, ranked, ends[bucket] - start)
        start = ends[bucket]
    sort_by_insertion(spare, m)
    return spare


cdef void dcg_of_query(
    const graded* gain, const real* score, Py_ssize_t n, const Ranks* ranks, int ties,
    const double* table, Document* ranked, Document* spare, double* out,
) noexcept nogil:
    cdef Py_ssize_t i, first = 0, last, found, at = 0
    cdef Py_ssize_t depth = min(n, ranks.cutoffs[ranks.n_cutoffs - 1])
    cdef Document* documents = rank(gain, score, n, depth, table, ranked, spare, &found)
    cdef Sum s = Sum(0, 0)
    cdef Sum block
    while first < found and at < ranks.n_cutoffs:
        last = first + 1
        if ties != STABLE:
            while last < found and documents[last].score == documents[first].score:
                last += 1
        if last == first + 1:
            write_terms(ranks, documents[first].gain, first, last, &s, &at, out)
        elif ties == AVERAGE:
            block = Sum(0, 0)
            for i in range(first, last):
                add(&block, documents[i].gain)
            write_terms(ranks, value(&block) / (last - first), first, last, &s, &at, out)
        else:
            for i in range(first, last):
                documents[i].score = documents[i].gain if ties == BEST else -documents[i].gain
            sort(documents + first, spare if documents == ranked else ranked, last - first)
            for i in range(first, last):
                write_terms(ranks, documents[i].gain, i, i + 1, &s, &at, out)
        first = last
    for i in range(at, ranks.n_cutoffs):
        out[i] = value(&s)


cdef void ideal_of_query(
    const graded* gain, Py_ssize_t n, const Ranks* ranks, const double* table,
    const Py_ssize_t* by_gain, Py_ssize_t n_grades, Document* ranked, Document* spare, double* out,
) noexcept nogil:
    cdef Py_ssize_t counts[2 * GRADES]
    cdef Document* documents
    cdef Py_ssize_t i, grade, count, found, first = 0, at = 0
    cdef Py_ssize_t depth = min(n, ranks.cutoffs[ranks.n_cutoffs - 1])
    cdef Sum s = Sum(0, 0)
    if graded is double:
        documents = rank(gain, gain, n, depth, table, ranked, spare, &found)
        for i in range(depth):
            write_terms(ranks, documents[i].gain, i, i + 1, &s, &at, out)
    elif 4 * n < n_grades:  # fewer documents than counts to look at
        for i in range(n):
            ranked[i].score = ranked[i].gain = table[gain[i]]
        sort(ranked, spare, n)
        for i in range(depth):
            write_terms(ranks, ranked[i].gain, i, i + 1, &s, &at, out)
    else:
        memset(counts, 0, 2 * n_grades * sizeof(Py_ssize_t))
        for i in range(0, n - 1, 2):  # two counts, as consecutive updates of one would wait for each other
            counts[gain[i]] += 1
            counts[n_grades + gain[i + 1]] += 1
        if n % 2:
            counts[gain[n - 1]] += 1
        for i in range(n_grades):
            grade = by_gain[i]
            count = counts[grade] + counts[n_grades + grade]
            write_terms(ranks, table[grade], first, first + count, &s, &at, out)
            first += count
    for i in range(at, ranks.n_cutoffs):
        out[i] = value(&s)


def gather_by_group(
    const item[::1] values, const Py_ssize_t[::1] codes, const Py_ssize_t[::1] counts
):
    """``values[np.argsort(codes, kind="stable")]`` in linear time; `counts` are those of codes."""
    cdef Py_ssize_t[::1] free = np.cumsum(counts) - counts
    cdef Py_ssize_t i, code
    result = np.empty_like(values)
    cdef item[::1] out = result
    with nogil:
        for i in range(values.shape[0]):
            code = codes[i]
            out[free[code]] = values[i]
            free[code] += 1
    return result


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


def dcg(
    const graded[::1] gain,
    const real[::1] score,
    const Py_ssize_t[::1] starts,
    const Py_ssize_t[::1] lengths,
    const double[::1] discount,
    const Py_ssize_t[::1] cutoffs,
    str ties,
    const double[::1] table,
):
    """DCG of every query at every cutoff, shape (n_queries, n_cutoffs)."""
    cdef Py_ssize_t q
    cdef int rule = TIES[ties]
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
                    &gain[starts[q]], &score[starts[q]], lengths[q], &ranks, rule, gains,
                    ranked, spare, &out[q, 0],
                )
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
    cdef Py_ssize_t q, column
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
                if per_query:  # a query's cutoffs are in no order
                    ranks.cutoffs = &ends[q, column]
                ideal_of_query(
                    &gain[starts[q]], lengths[q], &ranks, gains, &by_gain[0], table.shape[0],
                    ranked, spare, &out[q, column],
                )
    return result


cdef void fill(double* gains, const double[::1] table):
    """A gain for every byte, in case another thread changes the caller's grades meanwhile."""
    cdef Py_ssize_t grade
    for grade in range(GRADES):
        gains[grade] = table[grade] if grade < table.shape[0] else 0


cdef _running_sums(const double[::1] discount):
    """Sums of the discounts before each rank, and the rests that they round off."""
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
    return np.empty((2, 2 * np.max(lengths, initial=1)))
