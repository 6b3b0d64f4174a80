"""TREC files: read as other readers do, or refused with file and line."""

import gzip
import json
import re
import warnings

import numpy as np
import pandas as pd
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
RUNS = {
    "TREC": RUN,
    "TREC with tabs": RUN.replace(" ", "\t"),
    "TREC with a header": "qid Q0 docno rank score tag\n" + RUN,
}


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS)
def test_forms_of_runs(text, tmp_path):
    assert list(read_trec(write(tmp_path / "run", text), "run")) == SCORED


# --- files of other fields

LISTS = {"01": ["x", "7", "a"], "2": ["b", "7"]}  # best first
JUDGED = {"01": {"7": 2, "a": 1}, "2": {"b": 1}}


def three_fields(value, separator="\t"):
    """A line for each document: query, document, and a value of its rank from 0."""
    lines = [(q, d, str(value(i))) for q, ids in LISTS.items() for i, d in enumerate(ids)]
    return "".join(separator.join(fields) + "\n" for fields in lines)


OTHER_RUNS = {
    "ranks from 1": three_fields(lambda i: i + 1),
    "ranks from 0": three_fields(lambda i: i),
    "blanks": three_fields(lambda i: i + 1, " "),
    "commas": three_fields(lambda i: i + 1, ","),
    "a header": "qid\tpid\trank\n" + three_fields(lambda i: i + 1),
    "a header and commas": "query-id,corpus-id,rank\n" + three_fields(lambda i: i, ","),
}


def lines_of_pandas(path, name):
    """The two lines that the error for a file gives; the names that they define."""
    qrels, run = (path, RUN) if name == "qrels" else (JUDGED, path)
    with pytest.raises(ValueError, match=f"(?s)line 1: {name} must .* dtype=str") as caught:
        from_trec(qrels, run)
    lines = str(caught.value).splitlines()[1:]
    assert len(lines) == 2
    return lines


@pytest.mark.parametrize("text", OTHER_RUNS.values(), ids=OTHER_RUNS)
def test_the_lines_of_pandas_read_a_run_of_ranks(text, tmp_path):
    names = {"pandas": pd}
    exec("\n".join(lines_of_pandas(write(tmp_path / "run", text), "run")), names)  # noqa: S102
    expected = from_lists(JUDGED, LISTS).to_frame()
    assert from_trec(JUDGED, names["run"]).to_frame().equals(expected)


def test_the_lines_of_pandas_read_scores_without_the_sign(tmp_path):
    text = three_fields(lambda i: 0.9 - i)
    table, values = lines_of_pandas(write(tmp_path / "run", text), "run")
    assert values.endswith('# of scores without the "-"')
    names = {"pandas": pd}
    exec(f"{table}\n{values.replace('-', '', 1)}", names)  # noqa: S102
    expected = from_lists(JUDGED, LISTS).to_frame()
    assert from_trec(JUDGED, names["run"]).to_frame().equals(expected)


def test_the_lines_of_pandas_read_judgements(tmp_path):
    text = "query-id,corpus-id,score\n01,7,2\n01,a,1\n2,b,1\n"
    names = {"pandas": pd}
    exec("\n".join(lines_of_pandas(write(tmp_path / "q", text), "qrels")), names)  # noqa: S102
    run = {query: {d: -i for i, d in enumerate(ids)} for query, ids in LISTS.items()}
    expected = from_trec(JUDGED, run).to_frame()
    assert from_trec(names["qrels"], run).to_frame().equals(expected)


def test_the_line_of_pandas_reads_lines_of_json(tmp_path):
    rows = [
        {"query_id": "01", "doc_id": "7", "relevance": 2},
        {"query_id": "01", "doc_id": "a", "relevance": 1},
    ]
    path = write(tmp_path / "qrels.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(ValueError, match="line 1: qrels must have 4 fields") as caught:
        from_trec(path, {})
    names = {"pandas": pd}
    exec(str(caught.value).splitlines()[-1], names)  # noqa: S102
    rows = from_trec(names["qrels"], {"01": {"a": 2.0, "7": 1.0}})
    assert dict(zip(rows.ids, rows.y_true, strict=True)) == {"a": 1, "7": 2}


def test_the_columns_of_another_number_of_fields_are_yours_to_name(tmp_path):
    """Lines that are followed without names are an error, and no number."""
    table, values = lines_of_pandas(write(tmp_path / "run", "q a 1 0.5 x\n"), "run")
    assert "names=[...]" in table
    with pytest.raises(KeyError, match="rank"):
        exec(f"{table}\n{values}", {"pandas": pd})  # noqa: S102


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
    "judgements": (QRELS, "line 1: run must have 6 fields .*, got 4: 'q1 0 a 2'"),
    "a short line": ("\n" + RUN + "q2 Q0\n", "line 5: run must have 6 fields .*, got 2: 'q2 Q0'"),
    "five fields": ("q 0 a 1 2\n", r"6 fields \(query Q0 .*, got 5: 'q 0 a 1 2'"),
    "commas": (OTHER_RUNS["commas"], "line 1: run must .* blanks or tabs, got 1: '01,x,1'"),
    "three fields": (OTHER_RUNS["ranks from 0"], "line 1: run must have 6 fields .*, got 3: "),
    "three fields below six": (RUN + "q2 b 1\n", "line 4: run must have 6 .* first line, got 3"),
    "another header": ("a b c d e f\n" + RUN, "line 1: run must have a number as score.* 'e'"),
    "two lines in one": (RUN.replace("bm25\nq2", "bm25q2"), "line 2: run must .*, got 11:"),
    "nan": (RUN.replace("0.4", "nan"), "line 2: run must have a number as score, got 'nan'"),
    "a Python number": (RUN.replace("0.4", "1_0"), "line 2: run must .* as score, got '1_0'"),
    "Latin-1": (RUN.replace(" c ", " ç ").encode("latin-1"), "line 2: run must be UTF-8.*0xe7"),
    "UTF-16": (RUN.encode("utf-16"), "line 1: run must have a number"),
    "nothing": ("", "run is empty: .*run has no line of data"),
    "a file that is cut off": (gzip.compress(LONG)[:-20], "run is damaged or cut off"),
    "damage": (PACKED[:12] + b"\xff" * 40, "run is damaged or cut off"),
    "another checksum": (PACKED[:-8] + b"\0" * 8, "run is damaged or cut off: CRC"),
}
BAD_QRELS = {
    "a run": (RUN, "line 1: qrels must have 4 fields .*, got 6: 'q1 Q0 a 1 0.9 bm25'"),
    "five fields": ("q 0 a 1 2\n", r"4 fields \(query 0 .* or 3 fields \(query document .*, got 5"),
    "4 fields below 3": (BEIR + "q2\tb c\t1\n", "line 5: qrels must have 3 fields .*, got 4"),
    "comments only": ("\n# nothing\n", "qrels is empty: .*qrels has no line of data"),
    "a header only": (BEIR.partition("\n")[0], "qrels is empty"),
}


@pytest.mark.parametrize(("run", "message"), BAD_RUNS.values(), ids=BAD_RUNS)
def test_bad_runs(run, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        from_trec(write(tmp_path / "qrels", QRELS), write(tmp_path / "run", run))


@pytest.mark.parametrize(("qrels", "message"), BAD_QRELS.values(), ids=BAD_QRELS)
def test_bad_judgements(qrels, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        from_trec(write(tmp_path / "qrels", qrels), write(tmp_path / "run", RUN))


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
