"""The pages as plain Markdown, and what docs/conf.py changes for the site."""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

import sklearn_ndcg.frames
import sklearn_ndcg.inference

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("design/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_code_host_shows_the_pictures(page):
    text = page.read_text(encoding="utf-8")
    light = re.findall(r'<img src="(.*?)" alt="[^"]+">', text)
    dark = re.findall(r'media="\(prefers-color-scheme: dark\)" srcset="(.*?)"', text)
    assert dark == [path.replace("-light.", "-dark.") for path in light]
    assert len(light) == text.count("<picture>") == text.count("<img")
    for path in light + dark:
        svg = (page.parent / path).read_text(encoding="utf-8")
        assert "<text" in svg
        assert "<metadata" not in svg
    if page.name != "index.md":  # whose cards are of the site
        assert "generated/" not in text
        assert "{.only" not in text


@pytest.fixture(scope="module")
def conf():
    pytest.importorskip("sphinx")
    return runpy.run_path(str(DOCS / "conf.py"))


@pytest.mark.parametrize("on_github", [None, "someone/sklearn-ndcg"])
def test_the_repository_is_linked_where_it_is_known(monkeypatch, on_github):
    pytest.importorskip("sphinx")
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    if on_github:
        monkeypatch.setenv("GITHUB_REPOSITORY", on_github)
    names = runpy.run_path(str(DOCS / "conf.py"))
    links = [icon["url"] for icon in names["html_theme_options"]["icon_links"]]
    assert links == ([f"https://github.com/{on_github}"] if on_github else [])
    assert ("github.com" in names["myst_substitutions"]["source"]) == bool(on_github)


@pytest.mark.parametrize("text", ["One bar.", None])
def test_pictures_of_examples_are_described(conf, tmp_path, text):
    plt = pytest.importorskip("matplotlib.pyplot")
    scrape = pytest.importorskip("_gallery").scrape
    comment = f'# sphinx_gallery_alt = "{text}"\n' if text else ""
    block = SimpleNamespace(content=f"{comment}plt.bar([1], [1])")
    paths = {"image_path_iterator": iter([tmp_path / "a.png"]), "src_file": "example.py"}
    settings = {"image_srcset": [], "matplotlib_animations": (False,), "compress_images": ()}
    plt.figure()
    if text is None:
        with pytest.raises(ValueError, match=r"example.py: 1 figures, texts \[\]"):
            scrape(block, paths, settings | {"src_dir": tmp_path})
    else:
        assert f":alt: {text}" in scrape(block, paths, settings | {"src_dir": tmp_path})
        assert (tmp_path / "a.svg").exists()


def read(text):
    core = pytest.importorskip("docutils.core")
    parser = pytest.importorskip("myst_parser.parsers.docutils_")
    options = {"report_level": 5, "myst_suppress_warnings": ["myst"]}
    return core.publish_doctree(text, parser=parser.Parser(), settings_overrides=options)


@pytest.mark.parametrize("folder", ["", "docs/"])  # "docs/" in README.md
def test_pictures_follow_the_switch_of_the_site(conf, folder):
    page = read(f"""text

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="{folder}_static/a-dark.svg">
  <img src="{folder}_static/a-light.svg" alt="&quot;A&quot;: 1.">
</picture>

text""")
    conf["follow_theme"](None, page)
    assert not list(page.findall(conf["nodes"].raw))
    images = [image.attributes for image in page.findall(conf["nodes"].image)]
    for ground, image in zip(("dark", "light"), images, strict=True):
        assert image["classes"] == [f"only-{ground}"]
        assert image["uri"] == f"_static/a-{ground}.svg"
        assert image["alt"] == '"A": 1.'


def test_sources_are_linked_where_the_repository_is_known(monkeypatch, conf):
    assert (
        conf["linkcode_resolve"]("py", {"module": "sklearn_ndcg", "fullname": "ndcg_score"}) is None
    )
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/sklearn-ndcg")
    resolve = runpy.run_path(str(DOCS / "conf.py"))["linkcode_resolve"]
    for module in (sklearn_ndcg, sklearn_ndcg.inference, sklearn_ndcg.frames):
        for name in [name for name in module.__all__ if callable(getattr(module, name))]:
            link = resolve("py", {"module": module.__name__, "fullname": name})
            path, line = re.fullmatch(r".*/blob/main/(.*)#L(\d+)", link).groups()
            source = (ROOT / path).read_text(encoding="utf-8").splitlines()[int(line) - 1 :]
            assert re.search(rf"^(?:def|class) {name}\b", "\n".join(source[:5]), re.MULTILINE), name
    method = {"module": "sklearn_ndcg.inference", "fullname": "Comparison.to_frame"}
    assert "inference/_results.py#L" in resolve("py", method)


def linked_names(conf, text):
    page = read(text)
    conf["link_names"](SimpleNamespace(env=SimpleNamespace(docname="page")), page)
    return [link.astext() for link in page.findall(conf["addnodes"].pending_xref)]


def test_names_are_linked_unless_they_are_those_of_another_library(conf):
    for library in ("dask-ml", "mlxtend", "yellowbrick's", "imbalanced-learn's"):
        assert linked_names(conf, f"{library} `RFECV`") == []
        assert linked_names(conf, f"{library} method of `RFECV`") == ["RFECV"]
    ours = linked_names(conf, "use scikit-learn's `RFECV`, and QuerySplitter")
    assert ours == ["RFECV", "QuerySplitter"]
    table = re.findall(
        r"^\| ([\w-]+) (`\w+`) \|", (DOCS / "compatibility.md").read_text(encoding="utf-8"), re.M
    )
    assert ("mlxtend", "`SequentialFeatureSelector`") in table
    for library, name in table:
        assert linked_names(conf, f"{library} {name}") == [], library


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ('<a href="HalvingGridSearchCV">HalvingGridSearchCV</a>',
         '<a href="HalvingGridSearchCV">Halving<wbr>Grid<wbr>Search<wbr>CV</a>'),
        ('<span class="pre">NDCG(divide_by_achievable=&quot;yes&quot;)</span>',
         '<span class="pre">NDCG(<wbr>divide_<wbr>by_<wbr>achievable=<wbr>&quot;yes&quot;)</span>'),
        ('<span class="pre">make_ndcg_scorer</span>', None),
        ("<p>unmistakenly, one word</p>", None),
        ("<pre><span>HistGradientBoostingClassifier</span></pre>", None),
    ],
)  # fmt: skip
def test_long_names_break_between_their_words(conf, text, broken):
    context = {"body": text}
    conf["break_names"](None, "page", "page.html", context, None)
    assert context["body"] == (broken or text)
