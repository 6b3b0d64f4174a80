"""Every error message says the way out, or docs/errors.md does; that page quotes what is raised."""

import ast
import re
from pathlib import Path

import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

import sklearn_ndcg

PACKAGE = Path(sklearn_ndcg.__file__).parent
PAGE = (Path(__file__).parents[1] / "docs" / "errors.md").read_text()
OURS, OTHERS = PAGE.split("## Errors of other libraries")
# what is needed, or a request: "k must be", "... : leave it out", "Pass groups="
WAY_OUT = re.compile(
    r"\b(must|should|needs?|needed|only|instead|options are)\b|"
    r"(^|[.:;,] ?|\b(or|and|out) )(pass|leave|use|take|give|set|call|keep|make|move|convert|choose|"
    r"encode|scale|split|write|raise|rename|hold out|fill|name|collect)\b",
    re.IGNORECASE,
)


def texts(*nodes):
    """The fixed parts of messages, longest first."""
    found = [each.value for node in nodes for each in ast.walk(node) if is_text(each)]
    return sorted((" ".join(each.split()) for each in found), key=len, reverse=True)


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def names(node):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def defined(node):
    """Names to which an assignment or a function gives a value."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return set().union(*map(names, targets))
    return {node.name} if isinstance(node, ast.FunctionDef) else set()


def without_way_out(code):
    """The longest fixed text of each error without a way out, in it or in what it is made of."""
    module = ast.parse(code)
    for node in ast.walk(module):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            used = names(node.exc)
            parts = [each for each in ast.walk(module) if defined(each) & used]
            if not any(map(WAY_OUT.search, texts(node.exc, *parts))):
                yield texts(node.exc)[0]


def quoted(page):
    """The messages in a table: the code in the first cell of its rows."""
    return [message for _, message in re.findall(r"^\| (?:\w+: )?(`+)(.*?)\1 \|", page, re.M)]


def fits(message, said):
    return all(part.strip() in said for part in message.split("..."))


def test_an_error_without_a_way_out_is_found():
    bare = "def f(x):\n    raise ValueError(f'{x} is 5 too many.')\n"
    assert list(without_way_out(bare)) == ["is 5 too many."]
    assert not list(without_way_out(bare.replace("many.", "many: pass one.")))
    by_name = "hint = 'Pass one.'\ndef f(x):\n    raise ValueError(f'{x} is 5 too many. {hint}')\n"
    assert not list(without_way_out(by_name))


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_every_error_or_the_page_says_the_way_out(path):
    for text in without_way_out(path.read_text()):
        on_page = any(message in text for message in quoted(OURS))
        assert on_page, f"no way out in this message or in docs/errors.md: {text}"


def test_the_page_quotes_what_the_code_says():
    said = " ".join(
        each for path in PACKAGE.rglob("*.py") for each in texts(ast.parse(path.read_text()))
    )
    symptom, *messages = quoted(OURS)
    assert "eval_metric" in symptom
    assert [each for each in messages if not fits(each, said)] == []


ROWS = [[1.0, 2.0], [3.0, 4.0]], [0, 1]
SAID_BY = {
    "lightgbm": lambda library: library.LGBMRanker(verbose=-1).fit(*ROWS),
    "xgboost": lambda library: library.XGBRanker().fit(*ROWS),
    "catboost": lambda library: library.CatBoostRanker(verbose=0).fit(*ROWS),
    "catboost, cloned": lambda library: clone(library.CatBoostRanker(cat_features=["a"])),
    "sklearn": lambda _: next(GroupKFold(2).split(*ROWS)),
}


@pytest.mark.parametrize("name", SAID_BY)
def test_the_page_quotes_what_other_libraries_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # CatBoost writes files
    library = pytest.importorskip(name.split(",")[0])
    with pytest.raises(Exception) as error:  # noqa: PT011  (each has classes of its own)
        SAID_BY[name](library)
    assert any(fits(message, str(error.value)) for message in quoted(OTHERS))
