"""What a release says of itself: its version, its addresses, and what its extras install where."""

import re
import runpy
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(PYPROJECT)["project"]


def test_pages_have_the_version_of_pyproject():
    cited = re.findall(
        r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE
    )
    cited += re.findall(r", version (\d[\w.]*\w)", README)
    assert set(cited) == {PROJECT["version"]}


ADDRESSES = runpy.run_path(ROOT / ".ci" / "write_addresses.py")


def targets(page):
    """Where the links and pictures of a page lead."""
    found = re.findall(r'\]\((.*?)\)|(?:src|srcset|href)="(.*?)"', page)
    return [link or attribute for link, attribute in found]


def test_readme_of_an_index_has_absolute_links_and_an_image():
    page = ADDRESSES["for_index"](README, "who/what", "v1.2")
    assert all(each.startswith("https://") for each in targets(page))
    assert re.findall("<(?:picture|source|img)", page) == ["<img"]
    relative = [each for each in targets(README) if not each.startswith("https:")]
    ours = re.findall(r'/who/what/(?:blob/)?v1\.2/([^)#"]*)', page)
    assert len(ours) == len(relative) - README.count("srcset")
    assert [each for each in ours if not (ROOT / each).exists()] == []
    assert ADDRESSES["for_index"](page, "other/name", "v2") == page


def test_metadata_of_an_index_has_addresses():
    text = ADDRESSES["with_urls"](PYPROJECT, "Who/what")
    assert all(
        url.startswith("https://") for url in tomllib.loads(text)["project"]["urls"].values()
    )
    assert ADDRESSES["with_urls"](text, "other/name") == text
