"""docs/errors.md quotes what this package and other libraries say."""

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


def text_of(node):
    """The fixed parts of a message, in their order."""
    parts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return " ".join(" ".join(each for each in parts if isinstance(each, str)).split())


def quoted(page):
    """The messages of its tables: the code in the first cell of each row."""
    return [message for _, message in re.findall(r"^\| (?:\w+: )?(`+)(.*?)\1 \|", page, re.M)]


def fits(message, said):
    return all(part.strip() in said for part in message.split("..."))


def test_the_page_quotes_what_the_code_says():
    nodes = [node for path in FILES for node in ast.walk(ast.parse(path.read_text()))]
    said = [text_of(each) for each in nodes if isinstance(each, ast.JoinedStr | ast.Constant)]
    unsaid = [each for each in quoted(OURS) if not any(fits(each, text) for text in said)]
    assert not unsaid, f"docs/errors.md quotes what no message says: {unsaid}"


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
