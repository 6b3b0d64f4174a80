"""Tables as text and as HTML."""

from xml.etree import ElementTree

from sklearn_ndcg._metrics.tables import Table

TABLE = Table(["", "NDCG", "where"], [["<a> & b", "0.5", "here"], ["c", "10.25", ""]], left=(0, 2))


def test_text_is_aligned():
    assert TABLE.text().splitlines() == [
        "          NDCG  where",
        "<a> & b    0.5  here",
        "c        10.25",
    ]
    assert Table(["query", "a"], []).text() == "query  a"
    assert Table(["query", "a"], [["1", "0.5"]]).text().splitlines() == ["query    a", "1      0.5"]


def test_html_has_the_same_cells_and_sides():
    root = ElementTree.fromstring(TABLE.html())  # noqa: S314
    for tag, rows in (("th", [TABLE.header]), ("td", TABLE.rows)):
        lines = [line for line in root.iter("tr") if line.find(tag) is not None]
        assert [[cell.text or "" for cell in line] for line in lines] == rows
        for line in lines:
            sides = [cell.get("style").removeprefix("text-align: ") for cell in line]
            assert sides == ["left", "right", "left"]
    assert "<a>" not in TABLE.html()


def test_a_line_break_in_a_cell_does_not_break_the_row():
    broken = Table(["", "a\nb"], [["x\r\ny", "1"]]).text()
    assert broken == Table(["", "a b"], [["x y", "1"]]).text()
    assert len(broken.split("\n")) == 2
