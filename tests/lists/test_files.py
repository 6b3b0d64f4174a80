"""TREC files: read as other readers do, or refused with file and line."""

import gzip
import re
import tracemalloc
import warnings

import numpy as np
import pytest

from sklearn_ndcg import from_lists, from_trec, ndcg_score
from sklearn_ndcg._lists.files import read_trec

QRELS = "q1 0 a 2\nq1 0 b 1\nq2 0 a 1\n"
RUN = "q1 Q0 a 1 0.9 bm25\nq1 Q0 c 2 0.4 bm25\nq2 Q0 b 1 1e-3 bm25\n"
BEIR = "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t1\nq2\ta\t1\n"


def write(path, content):
    """Write text or bytes, compressed if the name says so; return the path."""
    content = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def draw_files():
    """Draw the lines of judgements and of a run, with the white space and numbers in use."""
    rng = np.random.default_rng(0)
    scores = ["1e-3", "-2.5E+1", "7", "007.50", "-0", "3.", ".5", "inf", "-inf", "1.0000000001"]
    documents = [f"FR94-{number}ä" for number in range(30)]

    def line(*fields):
        gaps = rng.choice([" ", "  ", "\t", " \t "], len(fields))
        text = "".join(gap + field for gap, field in zip(gaps, fields, strict=True))
        return rng.choice([text, text.lstrip()]) + rng.choice(["\n", " \n", "\r\n", "\t\n"])

    qrels, run = [], []
    for number in range(12):
        query = f"{number:03}"
        if number != 11:
            judged = rng.choice(documents, 12, replace=False)
            # trec_eval never returns if all judgements of a query are negative
            grades = [1, *rng.integers(-1, 4, 11)]
            qrels += [line(query, "0", d, str(y)) for d, y in zip(judged, grades, strict=True)]
        if number != 0:
            for document in rng.choice(documents, 20, replace=False):
                score = rng.choice([*scores, repr(rng.normal())])
                run.append(line(query, "Q0", document, "1", score, "run"))
    # the lines of a query of judgements are not together, and the run has no end of its last line
    return "".join(rng.permutation(qrels)), "".join(run).rstrip()


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_files_are_read_as_by_pytrec_eval_and_ir_measures(suffix, tmp_path):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    ir_measures = pytest.importorskip("ir_measures")
    qrels_text, run_text = draw_files()
    qrels = write(tmp_path / f"qrels{suffix}", qrels_text)
    run = write(tmp_path / f"run{suffix}", run_text)
    frame = from_trec(qrels, str(run)).to_frame()

    parsed_qrels = dict(pytrec_eval.parse_qrel(qrels_text.splitlines()))
    parsed_run = dict(pytrec_eval.parse_run(run_text.splitlines()))
    assert frame.equals(from_trec(parsed_qrels, parsed_run).to_frame())

    judged = list(ir_measures.read_trec_qrels(qrels_text))
    scored = list(ir_measures.read_trec_run(run_text))
    assert frame.equals(from_trec(judged, scored).to_frame())


FORMS = {
    "BEIR": BEIR,
    "BEIR without a header": BEIR.partition("\n")[2],
    "MS MARCO": QRELS.replace(" ", "\t"),
    "a header of TREC": "query_id iter doc_id relevance\n" + QRELS,
    "another header of three": BEIR.replace("query-id\tcorpus-id\tscore", "qid docid label"),
    "BEIR below a comment": "# from a hub\n\n" + BEIR,
    "TREC with a byte order mark": "\ufeff" + QRELS,
    "comments": "#by assessors\n# a b c\n\n" + QRELS + "\n# the end\n \n",
    "a field that is #": "# up to 2\n" + QRELS.replace(" 0 ", " # "),
    "comments that look like data": QRELS + " #q3 0 a 1\n#q4 0 a 1\n",
    "vertical tabs": QRELS.replace(" ", "\v"),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_forms_of_judgements(text, tmp_path):
    for name in ("qrels", "qrels.gz"):
        judgements = list(read_trec(write(tmp_path / name, text), "qrels"))
        assert judgements == [("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 1)]


SCORED = [("q1", "a", 0.9), ("q1", "c", 0.4), ("q2", "b", 1e-3)]
RANKED = [("q1", "a", -1), ("q1", "c", -2), ("q2", "b", -1)]
THREE_SCORED = "".join(f"{query}\t{document}\t{score}\n" for query, document, score in SCORED)
THREE_RANKED = THREE_SCORED.replace("0.9", "1").replace("0.4", "2").replace("0.001", "1")
SCORED_1 = [(query, document, -rank) for query, document, rank in RANKED]
BY_TURNS = "q a 1\nr c 1\nq b 2\nr d 2\n"
RUNS = {
    "TREC": (RUN, SCORED),
    "TREC with tabs": (RUN.replace(" ", "\t"), SCORED),
    "TREC with a header": ("qid Q0 docno rank score tag\n" + RUN, SCORED),
    "MS MARCO": (THREE_RANKED, RANKED),
    "MS MARCO with blanks": (THREE_RANKED.replace("\t", " "), RANKED),
    "MS MARCO with a header": ("qid\tpid\trank\n" + THREE_RANKED, RANKED),
    "ranks from 0 below a header": ("qid\tpid\tRank\nq\tb\t0\n", [("q", "b", 0)]),
    "a rank in more words": ("qid\tpid\tbest_rank\nq\tb\t3\n", [("q", "b", -3)]),
    "three fields, scores": (THREE_SCORED, SCORED),
    "scores below a header": ("query-id\tcorpus-id\tscore\n" + THREE_RANKED, SCORED_1),
    "scores that begin with 1": ("q a 1\nq b 0.5\n", [("q", "a", 1), ("q", "b", 0.5)]),
    "one document per query": ("q a 1\nr b 1\n", [("q", "a", 1), ("r", "b", 1)]),
    "integers that fall": ("q a 2\nq b 1\n", [("q", "a", 2), ("q", "b", 1)]),
    "queries by turns": (
        BY_TURNS,
        [("q", "a", -1), ("r", "c", -1), ("q", "b", -2), ("r", "d", -2)],
    ),
}


@pytest.mark.parametrize(("text", "records"), RUNS.values(), ids=RUNS)
def test_forms_of_runs(text, records, tmp_path):
    assert list(read_trec(write(tmp_path / "run", text), "run")) == records


def test_three_fields_that_count_are_ranks(tmp_path):
    """The order of the ranks is that of the lists, and of a run with scores that fall."""
    rng = np.random.default_rng(0)
    lists = {f"q{i}": rng.permutation(20)[: i + 1].astype(str).tolist() for i in range(12)}
    lines = [f"{q}\t{d}\t{i}" for q, ids in lists.items() for i, d in enumerate(ids, 1)]
    truth = {query: {"3": 2, "7": 1} for query in lists}
    qrels = write(tmp_path / "qrels", "".join(f"{q}\t0\t3\t2\n{q}\t0\t7\t1\n" for q in lists))
    beir = write(tmp_path / "test.tsv", "".join(f"{q}\t3\t2\n{q}\t7\t1\n" for q in lists))
    run = write(tmp_path / "run.tsv", "\n".join(lines))
    expected = from_lists(truth, lists, k=10)
    for judged in (qrels, beir):
        assert ndcg_score(from_trec(judged, run, k=10)) == ndcg_score(expected)
    again = write(tmp_path / "twice", "\n".join(["q0\tx\t1\nq0\ty\t2\nq0\tx\t3", *lines[1:]]))
    with pytest.raises(ValueError, match="run has document 'x' twice"):
        from_trec(qrels, again)
    assert list(from_trec(qrels, again, duplicates="omit").ids[:2]) == ["x", "y"]


MIXED = {
    "ranks, then scores": ("q a 1\nq b 2\nr a 0.9\nr b 0.4\n", "'q', .* 'r'"),
    "scores, then ranks": ("q a 0.9\nr a 1\nr b 2\nr c 3\n", "'r', .* 'q'"),
    "a rank is missing": ("q a 1\nq b 2\nr a 1\nr b 3\n", "'q', .* 'r'"),
    "one document of another rank": ("q a 1\nq b 2\nr a 7\n", "'q', .* 'r'"),
}


@pytest.mark.parametrize(("text", "queries"), MIXED.values(), ids=MIXED)
def test_three_fields_that_count_in_some_queries_are_refused(text, queries, tmp_path):
    qrels = write(tmp_path / "qrels", "q 0 a 1\nr 0 a 1\n")
    with pytest.raises(ValueError, match=f"run has three fields.*query {queries}.*Begin") as caught:
        from_trec(qrels, write(tmp_path / "run", text))
    for header in re.findall("'(query document [a-z]+)'", str(caught.value)):
        assert len(from_trec(qrels, write(tmp_path / "run", f"{header}\n{text}")).ids) > 0


def test_ranks_in_place_of_judgements_are_swapped(tmp_path):
    ranks = write(tmp_path / "run", "".join(f"q d{i} {i}\n" for i in range(1, 6)))
    grades = write(tmp_path / "qrels", "q d1 1\n")
    with pytest.raises(ValueError, match=r"swapped: .*counts 1, 2, 3.*from_trec\(qrels, run\)"):
        from_trec(ranks, grades)
    assert ndcg_score(from_trec(grades, ranks)) == 1


# --- ranks that say the opposite of scores


def lines_of(scores_by_query, rank=lambda i: i):
    return "".join(
        f"{query} Q0 d{i} {rank(i)} {score} x\n"
        for query, scores in scores_by_query.items()
        for i, score in enumerate(scores, 1)
    )


def warnings_of(tmp_path, text):
    run = write(tmp_path / "run", text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from_trec({"q0": {"d1": 1}}, run)
    assert all(w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


DISTANCES = [0.1, 0.2, 0.2, 0.7]


def test_ranks_that_say_the_opposite_of_scores_warn(tmp_path):
    [message] = warnings_of(tmp_path, lines_of({f"q{i}": DISTANCES for i in range(10)}))
    assert re.search(r"run say the opposite of its scores.* 10 of 10 .*write -score", message)
    right = lines_of({f"q{i}": [-distance for distance in DISTANCES] for i in range(10)})
    assert warnings_of(tmp_path, right) == []
    run = write(tmp_path / "run", lines_of({"q": [0.1, 0.2, 0.3, 0.4, 0.5]}))
    with pytest.warns(UserWarning, match="1 of 1"):
        rows = from_trec({"q": {"d1": 1}}, run)
    assert ndcg_score(rows) == 1 / np.log2(6)  # as trec_eval, which sorts by score


def test_the_order_of_the_lines_does_not_matter(tmp_path):
    lines = lines_of({f"q{i}": DISTANCES for i in range(10)}).splitlines()
    shuffled = "\n".join(np.random.default_rng(0).permutation(lines))
    assert len(warnings_of(tmp_path, shuffled)) == 1


@pytest.mark.parametrize(("n_right", "n_warnings"), [(1, 1), (2, 0)])
def test_nine_of_ten_queries_must_say_the_opposite(n_right, n_warnings, tmp_path):
    """Queries with fewer than three different scores say nothing."""
    scores = {f"q{i}": [0.3, 0.2, 0.1] if i < n_right else DISTANCES for i in range(10)}
    scores |= {f"r{i}": [2, 1] for i in range(30)} | {f"s{i}": [1, 1, 0, 0] for i in range(30)}
    assert len(warnings_of(tmp_path, lines_of(scores))) == n_warnings


def test_ten_thousand_lines_are_compared_twenty_of_each_query(tmp_path):
    """A run of any length takes no more memory for them."""
    rising, falling = list(range(30)), list(range(30, 0, -1))
    scores = {f"q{i}": rising if i < 500 else falling for i in range(600)}
    [message] = warnings_of(tmp_path, lines_of(scores))
    assert "500 of 500" in message


QUIET = {
    "ranks by chance": lambda rng: {f"q{i}": rng.normal(size=4).round(3) for i in range(40)},
    "two different scores": lambda rng: {f"q{i}": [0, 1, 1] for i in range(40)},
    "one query of two": lambda rng: {"q0": [1, 2]},
}


@pytest.mark.parametrize("draw", QUIET.values(), ids=QUIET)
def test_ranks_of_reranked_runs_do_not_warn(draw, tmp_path):
    assert warnings_of(tmp_path, lines_of(draw(np.random.default_rng(0)))) == []


@pytest.mark.parametrize("rank", ["0", "x", "nan"])
def test_what_is_not_a_rank_says_nothing(rank, tmp_path):
    text = lines_of({f"q{i}": DISTANCES for i in range(10)}, lambda i: rank)
    assert warnings_of(tmp_path, text) == []


def test_ids_keep_the_spaces_of_unicode_and_number_signs(tmp_path):
    """As in trec_eval, which separates by ASCII white space; 10.0 takes "#..." as comments."""
    text = "1# Q0 #東\u3000京 1 2 x\n#1 Q0 b 1 2 x\n1# Q0 a\u00a0b\x85c\x1cd 2 1 x\n"
    scores = list(read_trec(write(tmp_path / "run", text), "run"))
    assert scores == [("1#", "#東\u3000京", 2), ("1#", "a\u00a0b\x85c\x1cd", 1)]


PACKED = gzip.compress(RUN.encode(), mtime=0)
LONG = "".join(f"q1 Q0 {number} 1 {-number} x\n" for number in range(20_000)).encode()
# what a run has, and the error
BAD_RUNS = {
    "judgements": (QRELS, "line 1: run must have 6 fields .*, got 4: 'q1 0 a 2'; judgements come"),
    "a short line": ("\n" + RUN + "q2 Q0\n", "line 5: run must have 6 fields .*, got 2: 'q2 Q0'"),
    "five fields": (
        "q 0 a 1 2\n",
        r"6 fields \(query Q0 .* or 3 fields \(query document .*, got 5",
    ),
    "commas": (THREE_RANKED.replace("\t", ","), "line 1: run must .*, got 1: .* blanks or tabs"),
    "three fields below six": (RUN + "q2 b 1\n", "line 4: run must have 6 .* first line, got 3"),
    "six fields below three": (THREE_RANKED + RUN, "line 4: run must have 3 .* first line, got 6"),
    "another header": ("a b c\n" + THREE_RANKED, "line 1: run must .* number as rank-or-.* 'c'"),
    "two lines in one": (RUN.replace("bm25\nq2", "bm25q2"), "line 2: run must .*, got 11:"),
    "nan": (RUN.replace("0.4", "nan"), "line 2: run must have a number as score, got 'nan'"),
    "a Python number": (RUN.replace("0.4", "1_0"), "line 2: run must .* as score, got '1_0'"),
    "Latin-1": (RUN.replace(" c ", " ç ").encode("latin-1"), "line 2: run must be UTF-8.*0xe7"),
    "zeros": (RUN.replace("bm25\nq1 Q0 c 2 0.4 ", "\0" * 19), "line 1: run must be .* has NUL"),
    "zeros at the end": (RUN + "\0" * 20, r"line \d: run must be .* has NUL"),
    "UTF-16": (RUN.encode("utf-16"), "line 1: run must be UTF-8 text: the line has NUL bytes"),
    "nothing": ("", "run is empty: .*run has no line of data"),
    "a file that is cut off": (gzip.compress(LONG)[:-20], "run is damaged or cut off"),
    "damage": (PACKED[:12] + b"\xff" * 40, "run is damaged or cut off"),
    "another checksum": (PACKED[:-8] + b"\0" * 8, "run is damaged or cut off: CRC"),
}
BAD_QRELS = {
    "a run": (RUN, "line 1: qrels must have 4 fields .*, got 6: 'q1 Q0 a 1 0.9 bm25'; judgements"),
    "five fields": ("q 0 a 1 2\n", r"4 fields \(query 0 .* or 3 fields \(query document .*, got 5"),
    "4 fields below 3": (BEIR + "q2\tb c\t1\n", "line 5: qrels must have 3 fields .*, got 4"),
    "comments only": ("\n# nothing\n", "qrels is empty: .*qrels has no line of data"),
    "a header only": (BEIR.partition("\n")[0], "qrels is empty"),
    # the part of the line that fits the memory ends in 1
    "a long line": (f"q1 0 {'a' * (2**20 - 7)} 15\n", "line 1: .* lines of 1,048,576 bytes"),
}


@pytest.mark.parametrize(("run", "message"), BAD_RUNS.values(), ids=BAD_RUNS)
def test_bad_runs(run, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        from_trec(write(tmp_path / "qrels", QRELS), write(tmp_path / "run", run))


@pytest.mark.parametrize(("qrels", "message"), BAD_QRELS.values(), ids=BAD_QRELS)
def test_bad_judgements(qrels, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        from_trec(write(tmp_path / "qrels", qrels), write(tmp_path / "run", RUN))


def test_a_file_without_line_ends_does_not_fill_the_memory(tmp_path):
    qrels, run = write(tmp_path / "qrels", QRELS), tmp_path / "run"
    with gzip.open(run, "wb", compresslevel=1) as file:
        file.writelines([bytes(2**20)] * 20)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="run, line 1: run must not have lines of 1,048,576 b"):
            from_trec(qrels, run)
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()


def test_an_interrupt_comes_out_while_a_compressed_file_is_closed(tmp_path, monkeypatch):
    """In a finalizer it would be silenced."""
    path = tmp_path / "qrels.gz"
    path.write_bytes(gzip.compress(b"q 0 a 1\n"))

    def interrupted(self):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(gzip.GzipFile, "close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        from_trec(path, {"q": {"a": 1.0}})
