# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled twin of `_kernels`: the same functions, one query after the other.

A query whose cutoff is small is streamed through a list of the best so far, where one comparison
settles most documents. Others are sorted by keys of 64 bits, the front of a score and the
document's place, so that a sort moves nothing else and is stable by itself.
"""

from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

import numpy as np

ctypedef fused real:
    float
    double

cdef enum:
    AVERAGE, STABLE, WORST, BEST
    STREAMED = 32  # the largest cutoff that is selected rather than sorted
    GRADES = 64  # gains 0, 1, ..., GRADES - 1 are counted rather than sorted
    RUN = 16  # length of the runs that are sorted by insertion and then merged

TIES = {"average": AVERAGE, "stable": STABLE, "worst": WORST, "best": BEST}


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


cdef void write_terms(
    Sum* s, double gain, Py_ssize_t first, Py_ssize_t last, const double* discount,
    const Py_ssize_t* cutoffs, Py_ssize_t n_cutoffs, Py_ssize_t* at, double* out,
) noexcept nogil:
    """Add `gain` at the ranks first + 1..last, and write the sum at each cutoff that is passed.

    The discounts of a tie block are added up directly: differences of sums would lose digits.
    """
    cdef Py_ssize_t end
    cdef double weight
    cdef Py_ssize_t rank
    while first < last and at[0] < n_cutoffs:
        end = min(last, cutoffs[at[0]])
        weight = 0
        for rank in range(first, end):
            weight += discount[rank]
        if gain != 0:
            add(s, gain * weight)
        first = end
        if end == cutoffs[at[0]]:
            out[at[0]] = value(s)
            at[0] += 1


cdef inline bint before(double s, double g, double t, double h, int ties) noexcept nogil:
    """Whether score s with gain g is ranked before score t with gain h that came earlier."""
    if s != t:
        return s > t
    return (ties == WORST and g < h) or (ties == BEST and g > h)


cdef Py_ssize_t select(
    const double* gain, const real* score, Py_ssize_t n, Py_ssize_t depth, int ties,
    double* best_score, double* best_gain, bint* more,
) noexcept nogil:
    """The first `depth` documents in order; whether others have the score of the last of them."""
    cdef Py_ssize_t i, place, found = 0
    cdef double s, g, last = -INFINITY, last_gain = 0
    more[0] = False
    for i in range(n):
        s = score[i]
        if s < last or s == -INFINITY:
            continue
        g = gain[i]
        if found == depth:
            if not before(s, g, last, last_gain, ties):
                more[0] = True
                continue
        else:
            found += 1
        place = found - 1
        while place > 0 and before(s, g, best_score[place - 1], best_gain[place - 1], ties):
            best_score[place] = best_score[place - 1]
            best_gain[place] = best_gain[place - 1]
            place -= 1
        best_score[place] = s
        best_gain[place] = g
        if found == depth:
            # what fell out of the list, if anything did, had the score `last`
            more[0] = last == best_score[depth - 1] and last > -INFINITY
            last = best_score[depth - 1]
            last_gain = best_gain[depth - 1]
    return found


cdef double mean_gain_at(
    const double* gain, const real* score, Py_ssize_t n, double at
) noexcept nogil:
    """Mean gain of the documents with a score."""
    cdef Py_ssize_t i, count = 0
    cdef Sum s = Sum(0, 0)
    for i in range(n):
        if score[i] == at:
            add(&s, gain[i])
            count += 1
    return value(&s) / count


cdef inline uint64_t as_key(double x) noexcept nogil:
    """Integers in the order of descending numbers."""
    cdef uint64_t bits
    x += 0.0  # -0.0 is 0.0
    memcpy(&bits, &x, 8)
    return bits if bits >> 63 else ~bits & ~(<uint64_t> 1 << 63)


cdef inline double of_key(uint64_t bits) noexcept nogil:
    cdef double x
    if not bits >> 63:
        bits = ~bits & ~(<uint64_t> 1 << 63)
    memcpy(&x, &bits, 8)
    return x


cdef void sort_keys(uint64_t* keys, uint64_t* spare, Py_ssize_t n) noexcept nogil:
    """Sort by insertion in runs, which are then merged without a branch that can be mistaken."""
    cdef Py_ssize_t start, stop, i, j, width, left, middle, right, at
    cdef uint64_t key, a, b
    cdef uint64_t* source = keys
    cdef uint64_t* target = spare
    start = 0
    while start < n:
        stop = min(start + <Py_ssize_t> RUN, n)
        for i in range(start + 1, stop):
            key = keys[i]
            j = i
            while j > start and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        start = stop
    width = RUN
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(start + 2 * width, n)
            left, right, at = start, middle, start
            while left < middle and right < stop:
                a = source[left]
                b = source[right]
                target[at] = a if a <= b else b
                left += a <= b
                right += a > b
                at += 1
            if left < middle:
                memcpy(target + at, source + left, (middle - left) * sizeof(uint64_t))
            else:
                memcpy(target + at, source + right, (stop - right) * sizeof(uint64_t))
            start = stop
        source, target = target, source
        width *= 2
    if source != keys:
        memcpy(keys, source, n * sizeof(uint64_t))


cdef void sort_places(
    uint64_t* places, uint64_t* spare, Py_ssize_t n, const real* score
) noexcept nogil:
    """Sort places by descending score, stably; for the few whose keys are too short to tell."""
    cdef Py_ssize_t width = 1, start, middle, stop, left, right, at
    cdef uint64_t* source = places
    cdef uint64_t* target = spare
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(start + 2 * width, n)
            left, right = start, middle
            for at in range(start, stop):
                if left < middle and (
                    right >= stop or score[source[left]] >= score[source[right]]
                ):
                    target[at] = source[left]
                    left += 1
                else:
                    target[at] = source[right]
                    right += 1
            start = stop
        source, target = target, source
        width *= 2
    if source != places:
        memcpy(places, source, n * sizeof(uint64_t))


cdef Py_ssize_t rank_all(
    const real* score, Py_ssize_t n, uint64_t* places, uint64_t* spare
) noexcept nogil:
    """Places of the documents that were retrieved, in order; returns how many."""
    cdef Py_ssize_t i, first, last, found = 0
    cdef uint64_t mask = 1
    while mask < <uint64_t> n:
        mask <<= 1
    mask -= 1
    for i in range(n):
        if score[i] > -INFINITY:
            places[found] = (as_key(score[i]) & ~mask) | <uint64_t> i
            found += 1
    sort_keys(places, spare, found)
    first = 0
    while first < found:
        last = first + 1
        while last < found and (places[last] & ~mask) == (places[first] & ~mask):
            last += 1
        for i in range(first, last):
            places[i] &= mask
        for i in range(first + 1, last):
            if score[places[i]] != score[places[first]]:
                sort_places(places + first, spare, last - first, score)
                break
        first = last
    return found


cdef void dcg_of_query(
    const double* gain, const real* score, Py_ssize_t n, const double* discount,
    const Py_ssize_t* cutoffs, Py_ssize_t n_cutoffs, int ties, uint64_t* places, uint64_t* spare,
    double* out,
) noexcept nogil:
    cdef double best_score[STREAMED]
    cdef double best_gain[STREAMED]
    cdef bint more
    cdef Py_ssize_t i, first, last, found, at = 0
    cdef Py_ssize_t depth = min(n, cutoffs[n_cutoffs - 1])
    cdef Sum s = Sum(0, 0)
    cdef Sum block
    if depth <= STREAMED:
        found = select(gain, score, n, depth, ties, best_score, best_gain, &more)
        first = 0
        while first < found:
            last = first + 1
            if ties == AVERAGE:
                while last < found and best_score[last] == best_score[first]:
                    last += 1
            if last == found and more and ties == AVERAGE:
                best_gain[first] = mean_gain_at(gain, score, n, best_score[first])
            elif last > first + 1:
                block = Sum(0, 0)
                for i in range(first, last):
                    add(&block, best_gain[i])
                best_gain[first] = value(&block) / (last - first)
            write_terms(&s, best_gain[first], first, last, discount, cutoffs, n_cutoffs, &at, out)
            first = last
    else:
        found = rank_all(score, n, places, spare)
        first = 0
        while first < found and at < n_cutoffs:
            last = first + 1
            if ties != STABLE:
                while last < found and score[places[last]] == score[places[first]]:
                    last += 1
            if last == first + 1:
                write_terms(
                    &s, gain[places[first]], first, last, discount, cutoffs, n_cutoffs, &at, out
                )
            elif ties == AVERAGE:
                block = Sum(0, 0)
                for i in range(first, last):
                    add(&block, gain[places[i]])
                write_terms(
                    &s, value(&block) / (last - first), first, last, discount, cutoffs, n_cutoffs,
                    &at, out,
                )
            else:
                for i in range(first, last):
                    places[i] = as_key(gain[places[i]])
                sort_keys(places + first, spare, last - first)
                for i in range(first, last):
                    write_terms(
                        &s,
                        of_key(places[i if ties == BEST else first + last - 1 - i]),
                        i, i + 1, discount, cutoffs, n_cutoffs, &at, out,
                    )
            first = last
    for i in range(at, n_cutoffs):
        out[i] = value(&s)


cdef void ideal_of_query(
    const double* gain, Py_ssize_t n, const double* discount, const Py_ssize_t* cutoffs,
    Py_ssize_t n_cutoffs, uint64_t* keys, uint64_t* spare, double* out,
) noexcept nogil:
    cdef Py_ssize_t counts[GRADES]
    cdef double best_score[STREAMED]
    cdef double best_gain[STREAMED]
    cdef bint more
    cdef Py_ssize_t i, grade, first = 0, at = 0
    cdef Py_ssize_t depth = min(n, cutoffs[n_cutoffs - 1])
    cdef Sum s = Sum(0, 0)
    for grade in range(GRADES):
        counts[grade] = 0
    for i in range(n):
        if not 0 <= gain[i] < GRADES:
            break
        grade = <Py_ssize_t> gain[i]
        if grade != gain[i]:
            break
        counts[grade] += 1
    else:
        for grade in range(GRADES - 1, 0, -1):
            if counts[grade]:
                write_terms(
                    &s, grade, first, first + counts[grade], discount, cutoffs, n_cutoffs, &at, out
                )
                first += counts[grade]
        for i in range(at, n_cutoffs):
            out[i] = value(&s)
        return
    if depth <= STREAMED:
        depth = select(gain, gain, n, depth, STABLE, best_score, best_gain, &more)
        for i in range(depth):
            write_terms(&s, best_gain[i], i, i + 1, discount, cutoffs, n_cutoffs, &at, out)
    else:
        for i in range(n):
            keys[i] = as_key(gain[i])
        sort_keys(keys, spare, n)
        for i in range(depth):
            write_terms(&s, of_key(keys[i]), i, i + 1, discount, cutoffs, n_cutoffs, &at, out)
    for i in range(at, n_cutoffs):
        out[i] = value(&s)


def dcg(
    const double[::1] gain,
    const real[::1] score,
    const Py_ssize_t[::1] starts,
    const Py_ssize_t[::1] lengths,
    const double[::1] discount,
    const Py_ssize_t[::1] cutoffs,
    str ties,
):
    """DCG of every query at every cutoff, shape (n_queries, n_cutoffs)."""
    cdef Py_ssize_t q, n_cutoffs = len(cutoffs)
    cdef int rule = TIES[ties]
    result = np.zeros((len(starts), n_cutoffs))
    cdef double[:, ::1] out = result
    cdef uint64_t[:, ::1] scratch = np.empty((2, np.max(lengths, initial=1)), dtype=np.uint64)
    with nogil:
        for q in range(starts.shape[0]):
            if lengths[q]:
                dcg_of_query(
                    &gain[starts[q]], &score[starts[q]], lengths[q], &discount[0], &cutoffs[0],
                    n_cutoffs, rule, &scratch[0, 0], &scratch[1, 0], &out[q, 0],
                )
    return result


def ideal_dcg(
    const double[::1] gain,
    const Py_ssize_t[::1] starts,
    const Py_ssize_t[::1] lengths,
    const double[::1] discount,
    cutoffs,
):
    """DCG of the best order at every cutoff, shape (n_queries, n_cutoffs)."""
    cdef const Py_ssize_t[:, ::1] ends = np.ascontiguousarray(np.atleast_2d(cutoffs))
    cdef bint own = cutoffs.ndim == 2
    cdef Py_ssize_t q, column, n_cutoffs = ends.shape[1]
    result = np.zeros((len(starts), n_cutoffs))
    cdef double[:, ::1] out = result
    cdef uint64_t[:, ::1] scratch = np.empty((2, np.max(lengths, initial=1)), dtype=np.uint64)
    with nogil:
        for q in range(starts.shape[0]):
            if not lengths[q]:
                continue
            if own:  # in no order
                for column in range(n_cutoffs):
                    ideal_of_query(
                        &gain[starts[q]], lengths[q], &discount[0], &ends[q, column], 1,
                        &scratch[0, 0], &scratch[1, 0], &out[q, column],
                    )
            else:
                ideal_of_query(
                    &gain[starts[q]], lengths[q], &discount[0], &ends[0, 0], n_cutoffs,
                    &scratch[0, 0], &scratch[1, 0], &out[q, 0],
                )
    return result
