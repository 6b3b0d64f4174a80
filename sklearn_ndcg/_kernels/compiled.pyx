# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled version of `numpy_kernels`: the same functions, one query after the other.

With a small cutoff only the documents that can reach it are kept. The rank of a document among few
is the number of those with a higher score, counted without a branch; runs of so few are merged.
"""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

import os

import numpy as np

from sklearn_ndcg._kernels.threads import check_interrupt

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
    PARTS = 16  # of a query, whose highest scores bound the score at a small cutoff from below
    RUN = 32  # documents that are sorted by counting; longer runs are merged
    LANES = 8  # of them at once
    FEW = 512  # documents that are merged without being distributed to buckets
    BUCKETS = 2048  # at most
    PATIENCE = 1 << 21  # documents, after which it is asked whether the call was interrupted

ctypedef fused item:
    unsigned char
    float
    double
    Py_ssize_t

cdef struct Document:
    double score
    Py_ssize_t row  # of its query


cdef struct Sum:  # compensated
    double total
    double rest


cdef inline void add(Sum* s, double term) noexcept nogil:
    # the error of a sum without asking which term is larger (Knuth 1969)
    cdef double total = s.total + term
    cdef double added = total - s.total
    s.rest += (s.total - (total - added)) + (term - added)
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


cdef inline void write_term(
    const Ranks* ranks, double gain, Py_ssize_t rank, Sum* s, Py_ssize_t* at, double* out
) noexcept nogil:
    """Add `gain` at one rank, counted from 0, and write the sum if the cutoff is there."""
    add(s, gain * ranks.discount[rank])
    if rank + 1 == ranks.cutoffs[at[0]]:
        out[at[0]] = value(s)
        at[0] += 1


cdef void write_terms(
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
            else:  # discounts so steep that the sums have lost them
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


cdef int ask() except -1 with gil:
    check_interrupt()
    return 0


cdef inline int ask_sometimes(Py_ssize_t i) except -1 nogil:
    """Raise where the call was interrupted, in a loop over `i`."""
    return ask() if i % PATIENCE == PATIENCE - 1 else 0


cdef inline bint is_sorted(const Document* documents, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(1, n):
        if documents[i].score > documents[i - 1].score:
            return False
    return True


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


cdef void sort_by_counting(const Document* source, Document* target, Py_ssize_t n) noexcept nogil:
    """Sort at most RUN documents: the place of each is the number of those with a higher score.

    Scores are compared as float32, of which a processor takes at least four at once. Documents
    that this ties are put right at the end.
    """
    cdef Document copy[RUN]
    cdef float score[RUN + LANES]
    cdef int n_higher[RUN + LANES]
    cdef int n_placed[RUN]  # from each place on
    cdef Py_ssize_t i, j, lanes = 0
    cdef float other
    memcpy(copy, source, n * sizeof(Document))
    memset(score + n, 0, LANES * sizeof(float))
    memset(n_placed, 0, n * sizeof(int))
    for i in range(n):
        score[i] = <float> (copy[i].score - copy[0].score)
    while lanes < n:
        for i in range(LANES):
            n_higher[lanes + i] = 0
        for j in range(n):
            other = score[j]
            for i in range(LANES):
                n_higher[lanes + i] += other > score[lanes + i]
        lanes += LANES
    for i in range(n):
        j = n_higher[i]
        target[j + n_placed[j]] = copy[i]
        n_placed[j] += 1
    sort_by_insertion(target, n)


cdef void merge(const Document* source, Document* target, Py_ssize_t n) noexcept nogil:
    """Merge two halves, branch-free and from both ends: neither end waits for the other."""
    cdef Py_ssize_t half = n // 2, left = 0, right = half, last_left = half - 1, last_right = n - 1
    cdef Py_ssize_t i, take
    if source[half - 1].score >= source[half].score:
        memcpy(target, source, n * sizeof(Document))
        return
    for i in range(half):
        take = source[right].score > source[left].score
        target[i] = source[left + take * (right - left)]
        right += take
        left += 1 - take
        take = source[last_right].score > source[last_left].score
        target[n - 1 - i] = source[last_right + take * (last_left - last_right)]
        last_left -= take
        last_right -= 1 - take
    if n % 2:
        target[half] = source[left if left <= last_left else right]


cdef int sort_by_merging(
    Document* documents, Document* spare, Py_ssize_t n, bint into_spare
) except -1 nogil:
    cdef Document* target = spare if into_spare else documents
    cdef Py_ssize_t half = n // 2
    if n > PATIENCE:
        ask()
    if n > RUN:
        sort_by_merging(documents, spare, half, not into_spare)
        sort_by_merging(documents + half, spare + half, n - half, not into_spare)
        merge(documents if into_spare else spare, target, n)
    elif not is_sorted(documents, n):
        sort_by_counting(documents, target, n)
    elif into_spare:
        memcpy(spare, documents, n * sizeof(Document))
    return 0


cdef int sort(Document* documents, Document* spare, Py_ssize_t n) except -1 nogil:
    """Sort by descending score, stably; many documents by way of buckets of equal width."""
    cdef Py_ssize_t ends[BUCKETS]
    cdef Py_ssize_t i, bucket, start = 0, stop, n_buckets = min(n // 8, <Py_ssize_t> BUCKETS)
    cdef double score, scale = 0, low = INFINITY, high = -INFINITY
    if n > FEW:
        for i in range(n):
            score = documents[i].score
            low = score if score < low else low
            high = score if score > high else high
        scale = n_buckets / (high - low) if high > low else 0
    if not 0 < scale < INFINITY:  # few, all tied, or in a range that float64 does not hold
        return sort_by_merging(documents, spare, n, False)
    memset(ends, 0, n_buckets * sizeof(Py_ssize_t))
    for i in range(n):
        ask_sometimes(i)
        ends[bucket_of(documents[i].score, high, scale, n_buckets)] += 1
    for bucket in range(n_buckets):
        stop = start + ends[bucket]
        ends[bucket] = start
        start = stop
    for i in range(n):
        ask_sometimes(i)
        bucket = bucket_of(documents[i].score, high, scale, n_buckets)
        spare[ends[bucket]] = documents[i]
        ends[bucket] += 1
    start = 0
    for bucket in range(n_buckets):
        if n > PATIENCE and bucket % 16 == 0:
            ask()
        sort_by_merging(spare + start, documents + start, ends[bucket] - start, True)
        start = ends[bucket]
    return 0


cdef inline Py_ssize_t bucket_of(
    double score, double high, double scale, Py_ssize_t n_buckets
) noexcept nogil:
    return min(<Py_ssize_t> ((high - score) * scale), n_buckets - 1)


cdef double lower_bound(
    const real* score, Py_ssize_t n, Py_ssize_t depth, Document* best, Document* spare
) except? -1 nogil:
    """A score that `depth` documents have or exceed: of so many parts the highest ones exceed it."""
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
        ask_sometimes(i)
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
        ask_sometimes(first)
        last = first + 1
        if by_gain or averages:
            while last < found and ranked[last].score == ranked[first].score:
                last += 1
        if last == first + 1:
            write_term(ranks, gain_of(gain[ranked[first].row], table), first, &s, &at, out)
        elif averages:
            block = Sum(0, 0)
            for i in range(first, last):
                add(&block, gain_of(gain[ranked[i].row], table))
            write_terms(ranks, value(&block) / (last - first), first, last, &s, &at, out)
        else:
            for i in range(first, last):
                gains[i - first] = by_gain * gain_of(gain[ranked[i].row], table)
            rank(gains, last - first, min(last, depth) - first, ranked + first, spare)
            for i in range(first, min(last, depth)):
                write_term(ranks, by_gain * ranked[i].score, i, &s, &at, out)
        first = last
    for i in range(at, ranks.n_cutoffs):
        out[i] = value(&s)
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
            ask_sometimes(i)
            write_term(ranks, ranked[i].score, i, &s, &at, out)
    elif 4 * n < n_grades:  # fewer documents than counts to look at
        for i in range(n):
            ranked[i].score = table[gain[i]]
        sort(ranked, spare, n)
        for i in range(depth):
            write_term(ranks, ranked[i].score, i, &s, &at, out)
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
    return 0


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
    ties,
    const double[::1] table,
):
    """DCG of every query at every cutoff, shape (n_queries, n_cutoffs)."""
    cdef Py_ssize_t q, n_done = 0
    cdef int by_gain = ties.by_gain
    cdef bint averages = ties.averages
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
                ask()
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
                if per_query:  # a query's cutoffs are in no order
                    ranks.cutoffs = &ends[q, column]
                ideal_of_query(
                    &gain[starts[q]], lengths[q], &ranks, gains, &by_gain[0], table.shape[0],
                    ranked, spare, &out[q, column],
                )
            n_done += lengths[q]
            if n_done > PATIENCE:
                ask()
                n_done = 0
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
    cdef Py_ssize_t q, longest = 1
    for q in range(lengths.shape[0]):
        longest = max(longest, lengths[q])
    return np.empty((2, 2 * longest))
