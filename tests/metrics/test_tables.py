"""Tables of results as text."""

from sklearn_ndcg._metrics.tables import Table

TABLE = Table(["", "NDCG", "where"], [["a & b", "0.5", "here"], ["c", "10.25", ""]], left=(0, 2))


def test_text_is_aligned():
    assert str(TABLE).splitlines() == [
        "        NDCG  where",
        "a & b    0.5  here",
        "c      10.25",
    ]
    assert str(Table(["query", "a"], [])) == "query  a"


def test_a_line_break_in_a_cell_does_not_break_the_row():
    broken = str(Table(["", "a\nb"], [["x\r\ny", "1"]]))
    assert broken == str(Table(["", "a b"], [["x y", "1"]]))
    assert len(broken.split("\n")) == 2
