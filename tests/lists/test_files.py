"""TREC files: read as other readers do, or refused with file and line."""

import gzip
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from helpers import examples, per_query
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sklearn_ndcg import CONVENTIONS, from_trec
from sklearn_ndcg._lists.files import read_trec

QRELS = "q1 0 a 2\nq1 0 b 1\nq2 0 a 1\n"
RUN = "q1 Q0 a 1 0.9 bm25\nq1 Q0 c 2 0.4 bm25\nq2 Q0 b 1 1e-3 bm25\n"
BEIR = "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t1\nq2\ta\t1\n"


def write(path, content):
    """Write text or bytes, compressed if the name says so; return the path."""
    content = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def drawn(seed):
    """Lines of judgements and of a run, in formats that are in use."""
    rng = np.random.default_rng(seed)
    space = [" ", "  ", "\t", " \t "]
    end = ["\n", " \n", "\r\n", "\t\n"]
    scores = ["1e-3", "-2.5E+1", "7", "007.50", "-0", "3.", ".5", "inf", "-inf", "1.0000000001"]

    def line(*fields):
        gaps = [*rng.choice(space, len(fields) - 1), rng.choice(end)]
        return rng.choice(["", " "]) + "".join(map("".join, zip(fields, gaps, strict=True)))

    queries = [f"{q:03}" for q in range(12)]
    documents = [f"FR94-{d}ä" for d in range(30)]
    judged = [(q, d) for q in queries[:-1] for d in rng.choice(documents, 12, replace=False)]
    found = [(q, d) for q in queries[1:] for d in rng.choice(documents, 20, replace=False)]
    grades = rng.integers(-1, 4, len(judged))
    grades[::12] = 1  # trec_eval never returns if all judgements of a query are negative
    # judgements by document, so that the lines of a query are not together
    lines = sorted((d, line(q, "0", d, str(y))) for (q, d), y in zip(judged, grades, strict=True))
    qrels = "".join(each for _, each in lines)
    run = "".join(
        line(q, "Q0", d, str(i), rng.choice([*scores, repr(rng.normal())]), "run")
        for i, (q, d) in enumerate(found)
    )
    return qrels, run.rstrip()  # without the end of the last line


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_from_trec_reads_files_as_pytrec_eval_and_ir_measures(seed, suffix, tmp_path):
    pytrec_eval, ir_measures = map(pytest.importorskip, ("pytrec_eval", "ir_measures"))
    qrels_text, run_text = drawn(seed)
    paths = [tmp_path / f"qrels{suffix}", tmp_path / f"run{suffix}"]
    write(paths[0], qrels_text)
    write(paths[1], run_text)
    parse_qrel, parse_run = pytrec_eval.parse_qrel, pytrec_eval.parse_run
    parsed = parse_qrel(qrels_text.splitlines()), parse_run(run_text.splitlines())
    qrels, run = ({query: dict(each) for query, each in by_query.items()} for by_query in parsed)
    records = ir_measures.read_trec_qrels(qrels_text), ir_measures.read_trec_run(run_text)
    expected = from_trec(qrels, run)
    for each in (paths, map(str, paths), map(list, records)):
        assert from_trec(*each).to_frame().equals(expected.to_frame())


@pytest.mark.slow
def test_files_of_trec_eval_give_the_numbers_that_it_prints():
    """`TREC_EVAL` is a clone of https://github.com/usnistgov/trec_eval."""
    if "TREC_EVAL" not in os.environ:
        pytest.skip("TREC_EVAL is not set")
    folder = Path(os.environ["TREC_EVAL"]) / "test"
    printed = [line.split() for line in (folder / "out.test.aq").read_text().splitlines()]
    cutoffs = {"ndcg": None} | {f"ndcg_cut_{k}": k for k in (5, 10, 15, 20, 30, 100, 200, 500)}
    for qrels in ("qrels.test", "qrels.test.with-comments"):
        rows = from_trec(folder / qrels, folder / "results.test", unanswered="omit")
        for measure, k in cutoffs.items():
            found = per_query(rows, k=k, **CONVENTIONS["trec_eval"])
            found["all"] = np.mean(list(found.values()))
            expected = {q: float(value) for name, q, value in printed if name == measure}
            assert len(expected) > 3
            assert found == pytest.approx(expected, abs=0.00005 + 1e-12)
    with pytest.raises(ValueError, match=r"results.trunc, line 1: run must have 6 fields.*got 9"):
        from_trec(folder / "qrels.test", folder / "results.trunc")


FORMS = {
    "BEIR": BEIR,
    "BEIR of Windows": BEIR.replace("\n", "\r\n"),
    "BEIR below a comment": "# from a hub\n\n" + BEIR,
    "BEIR with a mark": "\ufeff" + BEIR,
    "TREC": QRELS,
    "TREC with a mark": "\ufeff" + QRELS,
    "comments": "#by assessors\n# a b c\n\n" + QRELS + "\n# the end\n \n",
    "a field that is #": "# up to 2\n" + QRELS.replace(" 0 ", " # "),
    "a comment, whatever follows": QRELS + " #q3 0 a 1\n#q4 0 a 1\n",
    "vertical tabs": QRELS.replace(" ", "\v"),
}


@pytest.mark.parametrize("form", FORMS)
def test_qrels_of_other_forms(form, tmp_path):
    found = [*read_trec(write(tmp_path / "qrels", FORMS[form]), "qrels")]
    assert found == [("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 1)]


def test_ids_keep_the_spaces_of_unicode_and_number_signs(tmp_path):
    """As in trec_eval, which separates by ASCII white space; 10.0 takes "#..." as comments."""
    text = "1# Q0 #東\u3000京 1 2 x\n#1 Q0 b 1 2 x\n1# Q0 a\u00a0b\x85c\x1cd 2 1 x\n"
    found = [*read_trec(write(tmp_path / "run", text), "run")]
    assert found == [("1#", "#東\u3000京", 2), ("1#", "a\u00a0b\x85c\x1cd", 1)]


LONG = "".join(f"q1 Q0 {d} 1 {-d} x\n" for d in range(20_000))
LAYOUT = r"run must have 6 fields \(query Q0 document rank score name\), got "


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        (QRELS, QRELS, f"run, line 1: {LAYOUT}4: 'q1 0 a 2'; judgements come first, with 4 fields"),
        (QRELS, BEIR, f"run, line 1: {LAYOUT}3: .*; judgements come first, .* 3 below BEIR's"),
        (RUN, QRELS, r"qrels, line 1: qrels must have 4 fields \(query 0 document relevance\), got 6: 'q1 Q0 a 1 0.9 bm25'; judgements come first, .* then a run, with 6"),
        (QRELS, "\n" + RUN + "q2 Q0\n", f"run, line 5: {LAYOUT}2: 'q2 Q0';"),
        (QRELS, "q1 " + "x" * 90, f"run, line 1: {LAYOUT}2: 'q1 {'x' * 77}'"),
        (QRELS, RUN.replace("bm25\nq2", "bm25q2"), f"run, line 2: {LAYOUT}11: 'q1 Q0 c 2 0.4 bm25q2 Q0 b"),
        (BEIR.partition("\n")[2], RUN, r"qrels, line 1: .* got 3: .* 3 below BEIR's header query-id corpus-id score"),
        (BEIR + "q2\tb c\t1\n", RUN, r"qrels, line 5: qrels must have 3 fields \(query-id corpus-id score\), got 4"),
        (BEIR + BEIR, RUN, "qrels, line 5: qrels must have a number as score, got 'score'"),
        (QRELS, RUN.replace("0.4", "high"), "run, line 2: run must have a number as score, got 'high'"),
        (QRELS, RUN.replace("0.4", "nan"), "run, line 2: run must have a number as score, got 'nan'"),
        (QRELS, RUN.replace("0.4", "1_0"), "run, line 2: run must have a number as score, got '1_0'"),
        (QRELS.replace(" 2", " 1_0"), RUN, "qrels, line 1: qrels must have a number as relevance, got '1_0'"),
        (QRELS.replace(" 2", " inf"), RUN, "qrels must not have inf, found in query 'q1'"),
        (QRELS, RUN.encode("utf-16"), "run, line 1: "),
        (QRELS, RUN.replace(" c ", " ç ").encode("latin-1"), "run, line 2: run must be UTF-8: .*0xe7"),
        (QRELS.replace("q2", "ü").encode("latin-1"), RUN, "qrels, line 3: qrels must be UTF-8: .*0xfc"),
        (QRELS, "", r"run is empty: .*run has no line of data"),
        ("\n# nothing\n", RUN, r"qrels is empty: .*qrels has no line of data"),
        (BEIR.partition("\n")[0], RUN, "qrels is empty"),
        (QRELS, gzip.compress(b"", mtime=0), "run is empty"),
        (QRELS, gzip.compress(LONG.encode(), mtime=0)[:-20], "run is damaged or cut off: "),
        (QRELS, gzip.compress(RUN.encode(), mtime=0)[:9], "run is damaged or cut off: "),
        (QRELS, gzip.compress(RUN.encode(), mtime=0)[:12] + b"\xff" * 40, "run is damaged or cut off: "),
        (QRELS, gzip.compress(RUN.encode(), mtime=0)[:-8] + b"\0" * 8, "run is damaged or cut off: CRC"),
    ],
)  # fmt: skip
def test_bad_files(qrels, run, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        from_trec(write(tmp_path / "qrels", qrels), write(tmp_path / "run", run))


def test_a_number_that_is_cut_is_not_read(tmp_path):
    text = f"q1 0 {'a' * (2**20 - 7)} 15\n"  # the longest line that is read ends in 1
    with pytest.raises(ValueError, match="qrels, line 1: qrels must not have lines of 1,048,576"):
        from_trec(write(tmp_path / "qrels", text), {})


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        from_trec(write(tmp_path / "qrels", QRELS), tmp_path / "nowhere")


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_without_line_ends_is_refused_before_it_fills_the_memory(compressed, tmp_path):
    qrels, run = write(tmp_path / "qrels", QRELS), tmp_path / "run"
    if compressed:
        with gzip.open(run, "wb", compresslevel=1) as file:
            file.writelines([bytes(2**20)] * 64)
    else:
        run.touch()
        os.truncate(run, 2**31)  # takes no space on the disk
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="run, line 1: run must not have lines of 1,048,576 b"):
            from_trec(qrels, run)
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()


LINES = {"run": "{q} Q0 {d} 1 {v} bm25\n", "qrels": "{q} 0 {d} {v}\n", "beir": "{q}\t{d}\t{v}\n"}
IDS = st.text("aä7-_", min_size=1, max_size=4)
VALUES = st.sampled_from(["0", "1", "-2", "3.5", "1e-3", "007", "inf", ".5"])


def damages(data):
    """Ways to damage a file: what is left, and how many lines may be read otherwise."""
    at = st.integers(0, len(data) - 1)
    packed = gzip.compress(data)
    byte = st.integers(0, 255).map(lambda each: bytes([each]))
    return st.one_of(
        at.map(lambda i: (data[:i], "cut")),
        st.tuples(at, byte).map(lambda x: (data[: x[0]] + x[1] + data[x[0] + 1 :], "byte")),
        st.tuples(at, byte).map(lambda x: (data[: x[0]] + x[1] + data[x[0] :], "byte")),
        st.integers(0, len(packed) - 1).map(lambda i: (packed[:i], "error")),
        st.sampled_from(["utf-16", "utf-32"]).map(lambda c: (data.decode().encode(c), "error")),
        at.map(lambda i: (data[:i] + b"x" * 2**20 + data[i:], "error")),
        at.map(lambda i: (data[:i] + b"\xff" + data[i:], "error or ignored")),
    )


def n_alike(found, wanted):
    same = [a == b for a, b in zip(found, wanted, strict=False)]
    return [*same, False].index(False)


@pytest.mark.parametrize("form", LINES)
@settings(
    max_examples=examples(120), deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(rows=st.lists(st.tuples(IDS, IDS, VALUES), min_size=1, max_size=6), draw=st.data())
def test_damage_is_an_error_with_its_line_or_changes_no_other_line(form, rows, draw, tmp_path):
    text = "query-id corpus-id score\n" * (form == "beir")
    text += "".join(LINES[form].format(q=q, d=d, v=v) for q, d, v in rows)
    whole = [(q, d, float(v)) for q, d, v in rows]
    path, name = tmp_path / "file", "run" if form == "run" else "qrels"
    path.write_bytes(text.encode())
    assert list(read_trec(path, name)) == whole
    damaged, kind = draw.draw(damages(text.encode()))
    path.write_bytes(damaged)
    found = damage = None
    try:
        found = list(read_trec(path, name))
    except ValueError as error:
        damage = error
    if damage:
        assert str(path) in str(damage)
        assert type(damage) is ValueError  # not that of a decoder, which knows no line
        return
    assert kind != "error"
    before = n_alike(found, whole)
    after = n_alike(found[before:][::-1], whole[before:][::-1])
    n_most = 1 if kind == "cut" else 2  # a new line end or comment may split, join or hide lines
    assert len(found) - before - after <= n_most
    assert kind == "cut" or len(whole) - before - after <= n_most
