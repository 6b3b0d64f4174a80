"""Tables of results as text."""

import pytest

from sklearn_ndcg._show import text_table

LONG = "a" * 30 + "bcd" + "e" * 30
ALIKE = "a" * 30 + "xyz" + "e" * 30


def test_text_is_aligned_left_and_numbers_right():
    columns = {"": ["a & b", "c"], "NDCG": ["0.5", "10.25"], "where": ["here", ""]}
    expected = ["        NDCG  where", "a & b    0.5  here", "c      10.25"]
    assert text_table(columns, ["", "where"]).splitlines() == expected
    assert text_table({"query": [], "a": []}, ["query"]) == "query  a"


def test_line_break_in_a_cell_does_not_break_the_row():
    assert text_table({"": ["x\r\ny"], "a\nb": ["1"]}, [""]) == "     a b\nx y    1"


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("1" * 35, LONG),
        ("1" * 36, f"{'a' * 29}...{'e' * 29}"),
        ("1" * 99, f"{'a' * 8}...{'e' * 8}"),
    ],
    ids=["whole", "a little", "most"],
)
def test_names_are_cut_in_the_middle_where_a_line_is_too_long(number, shown):
    lines = text_table({"": [LONG], "n": [number]}, [""]).splitlines()
    assert lines[1] == f"{shown}  {number}"
    assert len(lines[1]) <= max(100, 19 + 2 + len(number))


def test_names_of_20_characters_are_cut_to_19():
    row = text_table({"": ["a" * 20], "n": ["1" * 99]}, [""]).splitlines()[1]
    assert row == f"{'a' * 8}...{'a' * 8}  {'1' * 99}"


def test_names_in_two_columns_are_cut_to_one_length():
    row = text_table({"": [LONG], "m": ["b" * 60], "n": ["1"]}, ["", "m"]).splitlines()[1]
    assert row == f"{'a' * 22}...{'e' * 22}  {'b' * 22}...{'b' * 22}  1"


def test_names_that_would_be_alike_are_not_cut():
    rows = text_table({"": [LONG, ALIKE], "m": [ALIKE, LONG]}, ["", "m"]).splitlines()[1:]
    assert rows == [f"{LONG}  {ALIKE}", f"{ALIKE}  {LONG}"]


@pytest.mark.parametrize(("n_rows", "n_lines"), [(40, 41), (41, 42), (99, 42)])
def test_of_many_rows_the_first_and_the_last_20_are_shown(n_rows, n_lines):
    lines = text_table({"n": [str(row) for row in range(n_rows)]}, ["n"]).splitlines()
    assert len(lines) == n_lines
    assert [lines[20], lines[-20]] == ["19", str(n_rows - 20)]
    assert ("..." in lines) == (n_rows > 40)
