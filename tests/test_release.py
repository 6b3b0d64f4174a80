"""What a release says of itself: its version, its addresses, and what its extras install where."""

import os
import re
import runpy
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PYPROJECT = (ROOT / "pyproject.toml").read_text()
PROJECT = tomllib.loads(PYPROJECT)["project"]


def test_pages_have_the_version_of_pyproject():
    cited = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
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


def test_classifiers_are_the_pythons_that_are_tested():
    listed = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    tested = re.search(r"nox.session\(python=\[(.*?)\]", (ROOT / "noxfile.py").read_text())[1]
    assert listed == re.findall(r"[\d.]+", tested)
    assert PROJECT["requires-python"] == f">={listed[0]}"


def test_extras_and_groups_that_are_named_exist():
    extras, groups = PROJECT["optional-dependencies"], tomllib.loads(PYPROJECT)["dependency-groups"]
    assert not set(extras) & set(groups)
    patterns = ["*.md", ".pre-commit-config.yaml", "noxfile.py", "*/*.py", ".ci/run", "docs/*.md"]
    for path in (p for each in [*patterns, ".github/workflows/*"] for p in ROOT.glob(each)):
        text = path.read_text()
        named = re.findall(r"install[^\n]*?['\"]\.\[([a-z,]+)\]", text)
        assert {each for names in named for each in names.split(",")} <= set(extras), path
        assert set(re.findall(r"--group (\w+)", text)) <= set(groups), path


@pytest.mark.skipif(os.name != "posix", reason=".ci/run is a script for bash")
@pytest.mark.parametrize("extra", ["test", "examples"])
def test_ci_runs_the_commands_of_the_readme_or_fails(tmp_path, extra):
    function = re.search(r"^readme\(\) .*?^}", (ROOT / ".ci" / "run").read_text(), re.M | re.S)[0]
    says = "python() { echo $*; }; export -f python"  # instead of running it
    shell = ["bash", "-euc", f"{says}; {function}; readme {extra}"]
    for page, expected in (
        (re.sub(" && .*", "", README), (0, f"-m pip install .[{extra}]\n")),
        ("Another command.", (1, f"not in README.md: .[{extra}]\n")),
    ):
        (tmp_path / "README.md").write_text(page)
        found = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603
        assert (found.returncode, found.stdout) == expected


@pytest.mark.parametrize("extra", ["rankers", "test"])
def test_xgboost_comes_with_the_package_that_has_wheels_and_one_floor(extra):
    listed = map(Requirement, PROJECT["optional-dependencies"][extra])
    found = [each for each in listed if each.name.startswith("xgboost")]
    assert len({str(each.specifier) for each in found}) == 1
    names = {"linux": "xgboost-cpu", "win32": "xgboost-cpu", "darwin": "xgboost"}
    for platform, name in names.items():
        there = {"sys_platform": platform}
        assert [each.name for each in found if each.marker.evaluate(there)] == [name]
