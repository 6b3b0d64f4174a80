"""README shows numbers that are computed here, and links to what exists; every recipe runs."""

import doctest
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from helpers import SKLEARN_VERSION
from sklearn import clone, metrics
from sklearn.model_selection import KFold, cross_val_score, train_test_split

from sklearn_ndcg import QueryLeakWarning, QuerySplitter, make_ndcg_scorer

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
grows_these_trees = pytest.mark.skipif(
    SKLEARN_VERSION < (1, 9), reason="older scikit-learns grow other trees"
)


@pytest.fixture(scope="module")
def first_lines():
    """What the lines of README above "Install" define."""
    lines = README.partition("## Install")[0]
    test = doctest.DocTestParser().get_doctest(lines, {}, "README", None, None)
    doctest.DocTestRunner().run(test, out=lambda text: None, clear_globs=False)
    return test.globs


@pytest.fixture(scope="module")
def one_model(first_lines):
    """NDCG@10 of the README's trees, scored in three ways."""
    trees, X, y = (first_lines[name] for name in ("trees", "X", "grade"))
    whole = QuerySplitter(5, group_by="query")

    def one_list(model, X, y):
        return metrics.ndcg_score([y], [model.predict(X)], k=10)

    def mean(scoring, cv):
        return cross_val_score(trees, X, y, scoring=scoring, cv=cv).mean()

    of_parts = make_ndcg_scorer(k=10, group_by="query", undefined=0.0)  # some have nothing relevant
    with pytest.warns(QueryLeakWarning, match="have rows in the training set"):
        cut = mean(of_parts, KFold(5, shuffle=True, random_state=0))
    return {
        "each query by itself": mean(make_ndcg_scorer(k=10, group_by="query"), whole),
        "queries cut by KFold": cut,
        "the fold as one list": mean(one_list, whole),
    }


@grows_these_trees
@pytest.mark.ci  # the search takes seconds
def test_the_picture_shows_the_numbers(one_model):
    (text,) = re.findall(r'alt="(.*?)"', README)
    described = dict(re.findall(r"[:,] ([\w ]+) (0\.\d\d)", text))
    for ground in ("light", "dark"):
        drawn = (ROOT / "docs" / "_static" / f"front-{ground}.svg").read_text(encoding="utf-8")
        assert re.findall(r">(0\.\d\d)<", drawn) == list(described.values())
    caption = README.partition("</picture>")[2].partition("\n\nTwo libraries")[0]
    assert re.findall(r"0\.\d\d", caption) == list(described.values())
    shown = {name: pytest.approx(float(number), abs=0.01) for name, number in described.items()}
    assert one_model == shown


@grows_these_trees
@pytest.mark.ci
def test_the_comparison_prints_as_shown(first_lines):
    (shown,) = re.findall(r"^```text\n(.*?)\n```$", README, re.MULTILINE | re.DOTALL)
    assert str(first_lines["result"]) == shown


@pytest.mark.ci
def test_a_test_set_of_rows_gives_as_much_as_is_said(first_lines):
    X, y, search = (first_lines[name] for name in ("X", "grade", "search"))
    train, test = train_test_split(np.arange(len(X)), random_state=0)
    cut = clone(search).fit(X.iloc[train], y.iloc[train])
    scorer = make_ndcg_scorer(k=10, group_by="query", undefined=0.0)
    (said,) = re.findall(r"`train_test_split` .*?(0\.\d\d)", README)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = scorer(cut, X.iloc[test], y.iloc[test])
    assert found == pytest.approx(float(said), abs=0.01)


CLAIMING = ["README", "docs/index", "docs/what_is_ndcg", "docs/traps", "docs/evidence",
            "docs/tuning", "docs/whose_ndcg"]  # fmt: skip


@pytest.mark.parametrize("page", CLAIMING)
def test_numbers_in_prose_are_computed_on_the_page(page):
    """Those that no output shows are in a comment of the page, which doctest runs, too."""
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    if page == "README":  # its split, its picture and the caption are tested above
        text = re.sub(r"`train_test_split`.*", "", text)
        text = re.sub(r"<picture>.*?(?=\n\nTwo libraries)", "", text, flags=re.DOTALL)
    run = "".join(re.findall(r"```python\n.*?```|<!--\n>>>.*?-->", text, re.DOTALL))
    prose = re.sub(r"```.*?```|<!--.*?-->|\|.*?\|\n|`.*?`", "", text, flags=re.DOTALL)
    prose = re.sub(r"\]\(.*?\)", "", prose)  # where links lead
    claimed = set(re.findall(r"(?<![.\d])0\.\d+(?![.\d])", prose))  # versions begin otherwise
    assert claimed <= set(re.findall(r"\d+\.\d+", run))


def headings(page):
    return re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)


def test_links_lead_to_files_and_headings():
    for link in re.findall(r"\]\((?!https:)(.+?)\)", README):
        path, _, anchor = link.partition("#")
        page = ROOT / (path or "README.md")
        assert page.exists(), link
        if anchor:
            found = [re.sub(r"[^\w -]", "", each.lower()) for each in headings(page)]
            assert anchor in {each.replace(" ", "-") for each in found}, link
