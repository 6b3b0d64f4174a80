# Stable sorts of documents by descending score, included by compiled.pyx. In a short run, the rank
# of a document is the number of documents with a higher score, counted without a branch; short runs
# are merged.

cdef enum:
    RUN = 32  # documents that are sorted by counting; longer runs are merged
    LANES = 8  # of them at once
    FEW = 512  # documents that are merged without being distributed to buckets
    BUCKETS = 2048  # at most


cdef struct Document:
    double score
    Py_ssize_t row  # of its query


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
    """Sort at most RUN documents: their ranks are the numbers of documents with a higher score.

    Scores are compared as float32, at least four at once. Documents that the rounding ties are
    sorted at the end.
    """
    cdef Document copy[RUN]
    cdef float score[RUN + LANES]
    cdef int n_higher[RUN + LANES]
    cdef int n_tied[RUN]  # documents that have the rank already
    cdef Py_ssize_t i, j, lanes = 0
    cdef float other
    memcpy(copy, source, n * sizeof(Document))
    memset(score + n, 0, LANES * sizeof(float))
    memset(n_tied, 0, n * sizeof(int))
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
        target[j + n_tied[j]] = copy[i]
        n_tied[j] += 1
    sort_by_insertion(target, n)


cdef void merge(const Document* source, Document* target, Py_ssize_t n) noexcept nogil:
    """Merge two halves without branches, from both ends at once."""
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
        check_interrupt()
    if n > RUN:
        sort_by_merging(documents, spare, half, not into_spare)
        sort_by_merging(documents + half, spare + half, n - half, not into_spare)
        merge(documents if into_spare else spare, target, n)
    else:
        sort_by_counting(documents, target, n)
    return 0


cdef int sort(Document* documents, Document* spare, Py_ssize_t n) except -1 nogil:
    """Sort by descending score, stably; many documents first go into buckets of equal width."""
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
        check_now_and_then(i)
        ends[bucket_of(documents[i].score, high, scale, n_buckets)] += 1
    for bucket in range(n_buckets):
        stop = start + ends[bucket]
        ends[bucket] = start
        start = stop
    for i in range(n):
        check_now_and_then(i)
        bucket = bucket_of(documents[i].score, high, scale, n_buckets)
        spare[ends[bucket]] = documents[i]
        ends[bucket] += 1
    start = 0
    for bucket in range(n_buckets):
        if n > PATIENCE and bucket % 16 == 0:
            check_interrupt()
        sort_by_merging(spare + start, documents + start, ends[bucket] - start, True)
        start = ends[bucket]
    return 0


cdef inline Py_ssize_t bucket_of(
    double score, double high, double scale, Py_ssize_t n_buckets
) noexcept nogil:
    return min(<Py_ssize_t> ((high - score) * scale), n_buckets - 1)
