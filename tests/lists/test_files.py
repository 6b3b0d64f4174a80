"""TREC files: read as other readers do, or refused with file and line."""

import gzip
import tracemalloc

import numpy as np
import pytest

from sklearn_ndcg import from_trec
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
    "BEIR below a comment": "# from a hub\n\n" + BEIR,
    "TREC with a byte order mark": "\ufeff" + QRELS,
    "comments": "#by assessors\n# a b c\n\n" + QRELS + "\n# the end\n \n",
    "a field that is #": "# up to 2\n" + QRELS.replace(" 0 ", " # "),
    "comments that look like data": QRELS + " #q3 0 a 1\n#q4 0 a 1\n",
    "vertical tabs": QRELS.replace(" ", "\v"),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_forms_of_judgements(text, tmp_path):
    judgements = list(read_trec(write(tmp_path / "qrels", text), "qrels"))
    assert judgements == [("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 1)]


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
