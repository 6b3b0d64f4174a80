"""What a release says of itself: its version, its addresses, and what its extras install where."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import venv
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

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


def test_messages_ask_for_the_versions_of_the_extras():
    modules = (ROOT / "sklearn_ndcg").rglob("*.py")
    package = "".join(path.read_text(encoding="utf-8") for path in modules)
    asked = set(re.findall(r'"([\w-]+>=[\d.]+)"', package))
    extras = PROJECT["optional-dependencies"].values()
    names = {Requirement(each).name for each in asked}
    assert names >= {"matplotlib", "pandas"}
    listed = {each for extra in extras for each in extra if Requirement(each).name in names}
    assert asked == listed


@pytest.mark.parametrize("extra", ["rankers", "test"])
def test_xgboost_comes_with_the_package_that_has_wheels_and_one_floor(extra):
    listed = map(Requirement, PROJECT["optional-dependencies"][extra])
    found = [each for each in listed if each.name.startswith("xgboost")]
    assert len({str(each.specifier) for each in found}) == 1
    names = {"linux": "xgboost-cpu", "win32": "xgboost-cpu", "darwin": "xgboost"}
    for platform, name in names.items():
        there = {"sys_platform": platform}
        assert [each.name for each in found if each.marker.evaluate(there)] == [name]


def git(*command):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *command], check=True, capture_output=True)  # noqa: S603, S607


@pytest.mark.skipif(os.name == "nt" or not shutil.which("git"), reason="needs git and bash")
@pytest.mark.parametrize(
    ("tag", "branch", "says"),
    [
        ("v1.2.0", "main", ""),
        ("v1.3.0", "main", "v1.3.0 is not the tag of the version in pyproject.toml, 1.2.0"),
        ("v1.2.0", "beside", "v1.2.0 is not on main"),
    ],
)
def test_a_tag_is_on_main_and_has_the_version(tag, branch, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git("init")
    for name, version in (("main", "1.1.0"), (branch, "1.2.0")):
        git("checkout", "-B", name)
        Path("pyproject.toml").write_text(f'name = "a"\nversion = "{version}"\n', encoding="utf-8")
        git("add", ".")
        git("commit", "-m", version)
    git("tag", tag)
    check = ["bash", str(ROOT / ".ci" / "check_tag"), tag, "main"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == bool(says)
    assert done.stdout.startswith(says)


def test_the_bill_of_a_release_has_its_files_and_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    (tmp_path / "a.whl").write_bytes(b"wheel")
    bill = runpy.run_path(".ci/write_sbom.py")["bill"](tmp_path)
    file, *needed = bill["components"]
    assert file["name"] == "a.whl"
    assert file["hashes"] == [{"alg": "SHA-256", "content": sha256(b"wheel").hexdigest()}]
    names = [Requirement(each).name for each in PROJECT["dependencies"]]
    assert [each["name"] for each in needed] == names
    assert bill["metadata"]["component"]["version"] == PROJECT["version"]


def write_wheel(folder, version, content):
    """Write a wheel of an empty package, which has no more than pip needs."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"sklearn_ndcg-{version}.dist-info"
    with ZipFile(folder / f"sklearn_ndcg-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("sklearn_ndcg.py", content)
        metadata = f"Metadata-Version: 2.1\nName: sklearn-ndcg\nVersion: {version}\n"
        wheel.writestr(f"{info}/METADATA", metadata)
        tags = "Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{info}/WHEEL", tags)
        wheel.writestr(f"{info}/RECORD", "")


@pytest.mark.ci
def test_a_release_is_tried_only_if_its_bytes_are_those_that_were_built(tmp_path, monkeypatch):
    """Also where the version is installed already."""
    venv.create(tmp_path / "venv", with_pip=True)
    programs = "Scripts" if os.name == "nt" else "bin"
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / programs / "python"))
    install = runpy.run_path(ROOT / ".ci" / "try_release.py")["install"]
    write_wheel(tmp_path / "dist", "9.0", "built = True")
    of_index = tmp_path / "index" / "sklearn-ndcg"
    where = tmp_path / "dist", "9.0", (tmp_path / "index").as_uri()
    for content, is_ours in (("built = True", True), ("built = False", False)):
        write_wheel(of_index, "9.0", content)
        [wheel] = of_index.glob("*.whl")
        page = f'<a href="{wheel.name}">{wheel.name}</a>'
        (of_index / "index.html").write_text(page, encoding="utf-8")
        done = install("wheel", *where)
        assert (done.returncode == 0) == is_ours, done.stderr
    assert "DO NOT MATCH THE HASHES" in done.stderr
