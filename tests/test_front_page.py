"""README and the site's front page show numbers that are computed here, and link to what exists."""

import doctest
import re
import tomllib
from pathlib import Path

import pytest
from sklearn import metrics
from sklearn.model_selection import KFold, cross_val_score

from sklearn_ndcg import QuerySplitter, dcg_score, make_ndcg_scorer, ndcg_score

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
INDEX = (ROOT / "docs" / "index.md").read_text()
LINES = re.search(r"<!-- front page -->\n(.*)<!-- end of front page -->", README, re.DOTALL)[1]


def test_the_words_of_texts_on_ndcg_are_found():
    guide = (ROOT / "docs" / "guide.md").read_text()
    for text in (README, guide, dcg_score.__doc__, ndcg_score.__doc__):
        for words in ("ideal DCG", "IDCG", "discounted cumulative gain"):
            assert words in text.lower().replace("dcg", "DCG").replace("iDCG", "IDCG"), words
    for text in (guide, dcg_score.__doc__):
        assert "(cumulative gain, CG)" in text or "cumulative gain (CG)" in text
    assert "dcg_score([relevance], [relevance])" in guide
    assert "dcg_score(y_true, y_true)" in dcg_score.__doc__


def test_first_lines_of_the_readme_need_only_pandas():
    imported = set(re.findall(r"^>>> (?:import|from) (\w+)", LINES, re.MULTILINE))
    assert imported == {"numpy", "pandas", "sklearn", "sklearn_ndcg"}


def one_model():
    """NDCG@10 of the model of the README's first lines, scored in three ways."""
    lines = doctest.DocTestParser().get_doctest(LINES, {}, "README", None, None)
    doctest.DocTestRunner().run(lines, out=lambda text: None, clear_globs=False)
    model, X, y = (lines.globs[name] for name in ("model", "X", "grade"))

    def one_list(model, X, y):
        return metrics.ndcg_score([y], [model.predict(X)], k=10)

    by_query = make_ndcg_scorer(k=10, group_by="query", undefined="omit")
    rows = KFold(5, shuffle=True, random_state=0)
    for name, scoring, cv in (
        ("fold as one list", one_list, rows),
        ("queries cut by KFold", by_query, rows),
        ("whole queries", by_query, QuerySplitter(rows, group_by="query")),
    ):
        X_plain = X.set_index("query")  # where the model does not see it
        scores = cross_val_score(model, X_plain, y, scoring=scoring, cv=cv, error_score="raise")
        yield name, scores.mean()


def one_ranking():
    """NDCG@3 of the example of docs/whose_ndcg.md, which tests/whose_ndcg.py computes."""
    page = (ROOT / "docs" / "whose_ndcg.md").read_text()
    table = dict(re.findall(r"^\| `(\w+)` \|.*\| (0\.\d+) \|$", page, re.MULTILINE))
    for name in ("trec_eval", "sklearn", "ranx", "catboost", "xgboost", "lightgbm"):
        yield name, float(table[name])


def test_pictures_show_the_numbers():
    texts = re.findall(r'alt="(.*?)"', README) + re.findall(r"!\[(.*?)\]\(_static/front", INDEX)
    assert texts == texts[:1] * 3
    described = re.findall(r"[:,] ([\w ]+) (0\.\d\d)", texts[0])
    numbers = [number for _, number in described]
    for ground in ("light", "dark"):
        drawn = (ROOT / "docs" / "_static" / f"front-{ground}.svg").read_text()
        assert re.findall(r">(0\.\d\d)<", drawn) == numbers
    said = {number.removeprefix("0") for number in (*numbers[:3], numbers[3], numbers[-1])}
    assert set(re.findall(r"(?<![\d.])\.\d\d\b", README)) == said
    model, ranking = dict(one_model()), dict(one_ranking())
    assert [name for name, _ in described] == [*model, *ranking]
    shown = {name: float(number) for name, number in described}
    assert ranking == pytest.approx({name: shown[name] for name in ranking}, abs=0.005)
    # older versions of scikit-learn grow slightly other trees
    assert model == pytest.approx({name: shown[name] for name in model}, abs=0.01)


def headings(page):
    return re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)


def test_links_lead_to_files_and_headings():
    for link in re.findall(r"\]\((?!https:)(.+?)\)", README):
        path, _, anchor = link.partition("#")
        page = ROOT / (path or "README.md")
        assert page.exists(), link
        if anchor:
            bare = [re.sub(r"[^\w -]", "", each.lower()) for each in headings(page)]
            assert anchor in {each.replace(" ", "-") for each in bare}, link
    for name, anchor in re.findall(r"^:link: (\w+)\.html#(.+)$", INDEX, re.MULTILINE):
        found = headings(ROOT / "docs" / f"{name}.md")
        # as Sphinx writes them
        assert anchor in {re.sub(r"[^a-z0-9]+", "-", each.lower()).strip("-") for each in found}


def test_badges_of_the_readme():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    badges = re.findall(r"shields.io/badge/(.*?)-blue", README)
    python = project["requires-python"].removeprefix(">=")
    sklearn = next(each for each in project["dependencies"] if each.startswith("scikit-learn"))
    assert badges == [
        f"python-{python}%2B",
        f"scikit--learn-{sklearn.removeprefix('scikit-learn>=')}%2B",
        f"license-{project['license'].replace('-', '--')}",
    ]
