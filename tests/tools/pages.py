"""Tables of pages: a table in a page stands between two comments, with a name."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def table(head, lines):
    """Return a table in Markdown."""
    rule = ["---"] * len(head)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *lines])


def write(page, name, text):
    """Return the text of a page with another text between its comments of this name."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)"
    new, count = re.subn(pattern, rf"\1\n{text}\n\n\2", page, flags=re.DOTALL)
    assert count == 1, name
    return new


def rows(page, name):
    """Return the cells of the rows of a table, its head left out."""
    text = re.search(rf"<!-- {name} -->\n(.*?)<!-- end of {name} -->", page, re.DOTALL)[1]
    _, _, *lines = text.strip().splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
