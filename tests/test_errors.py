"""Every error message says the way out, or docs/errors.md does; that page quotes what is raised."""

import ast
import re
from pathlib import Path

import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import GroupKFold, cross_validate

import sklearn_ndcg

FILES = sorted(Path(sklearn_ndcg.__file__).parent.rglob("*.py"))
PAGE = (Path(__file__).parents[1] / "docs" / "errors.md").read_text()
OURS, OTHERS = PAGE.split("## Errors of other libraries")
# what is needed ("k must be"), or a request: "Pass groups=", "... : leave it out"
WAY_OUT = re.compile(
    r"\b(must|should|needs?|needed|only|instead|ways out|options are|comes first|pip install)\b|"
    r"(^|[.:;,)] ?|\b(or|and|out) )(pass|leave|use|take|give|set|call|say|keep|make|move|convert|"
    r"choose|encode|scale|split|write|raise|rename|hold out|fill|name|collect)\b",
    re.IGNORECASE,
)


def text_of(node):
    """The fixed parts of a message, in their order."""
    if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
        node = ast.Module(node.body[1:], [])
    parts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return " ".join(" ".join(each for each in parts if isinstance(each, str)).split())


def names(node):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def value_of(node):
    """The names that a statement gives a value to, and this value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return set().union(*map(names, targets)), value
        case ast.AnnAssign(target=target, value=value) if value:
            return names(target), value
        case ast.For(target=target, iter=value):
            return names(target), value
        case ast.FunctionDef(name=name):
            return {name}, node
    return set(), node


def without_way_out(code):
    """The errors that say no way out, neither themselves nor in what their message is made of."""
    module = ast.parse(code)
    values = [value_of(node) for node in ast.walk(module)]
    for node in ast.walk(module):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        parts = [node.exc]
        for _ in range(2):  # a variable, and the table that it is taken from
            used = set().union(*map(names, parts))
            parts += [value for defined, value in values if defined & used]
        said = " ".join(map(text_of, parts)).strip()  # nothing where an error is raised again
        # an AttributeError is what hasattr asks for
        if said and not WAY_OUT.search(said) and names(node.exc.func) != {"AttributeError"}:
            yield text_of(node.exc) or said


def quoted(page):
    """The messages of its tables: the code in the first cell of each row."""
    return [message for _, message in re.findall(r"^\| (?:\w+: )?(`+)(.*?)\1 \|", page, re.M)]


def fits(message, said):
    return all(part.strip() in said for part in message.split("..."))


def test_an_error_without_a_way_out_is_found():
    bare = "def f(x):\n    raise ValueError(f'{x} is 5 too many.')\n"
    assert list(without_way_out(bare)) == ["is 5 too many."]
    assert not list(without_way_out(bare.replace("many.", "many: pass one.")))
    made_of = "hint = 'Pass one.'\ndef f(x):\n    raise ValueError(f'{x} is 5 too many. {hint}')\n"
    assert not list(without_way_out(made_of))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_error_or_the_page_says_the_way_out(path):
    messages = quoted(OURS)
    for said in without_way_out(path.read_text()):
        known = any(fits(message, said) for message in messages)
        assert known, f"no way out, neither here nor in docs/errors.md: {said}"


def test_the_page_quotes_what_the_code_says():
    nodes = [node for path in FILES for node in ast.walk(ast.parse(path.read_text()))]
    said = [text_of(each) for each in nodes if isinstance(each, ast.JoinedStr | ast.Constant)]
    assert [each for each in quoted(OURS) if not any(fits(each, text) for text in said)] == []


ROWS = [[1.0, 2.0], [3.0, 4.0]], [0, 1]


def fails_on_one_fold(_, X, y):
    return {"ndcg@1": 1 / y[0]}


SAID_BY = {
    "lightgbm": lambda library: library.LGBMRanker(verbose=-1).fit(*ROWS),
    "xgboost": lambda library: library.XGBRanker().fit(*ROWS),
    "catboost": lambda library: library.CatBoostRanker(verbose=0).fit(*ROWS),
    "catboost, cloned": lambda library: clone(library.CatBoostRanker(cat_features=["a"])),
    "sklearn": lambda _: next(GroupKFold(2).split(*ROWS)),
    "sklearn, several scores": lambda _: cross_validate(
        DummyRegressor(), [[0], [0]], [1, 0], scoring=fails_on_one_fold, cv=2
    ),
}


@pytest.mark.filterwarnings("ignore:Scoring failed")
@pytest.mark.parametrize("name", SAID_BY)
def test_the_page_quotes_what_other_libraries_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # CatBoost writes files
    library = pytest.importorskip(name.split(",")[0])
    with pytest.raises(Exception) as error:  # noqa: PT011  (each has classes of its own)
        SAID_BY[name](library)
    assert any(fits(message, str(error.value)) for message in quoted(OTHERS))
