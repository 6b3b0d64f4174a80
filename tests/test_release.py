"""What a release says of itself: its version, its addresses, and what its extras install where."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGES = ["pyproject.toml", "CITATION.cff", "*.md", "docs/*.md", "docs/*.rst", "docs/conf.py"]


def test_pages_have_the_version_of_pyproject():
    cited = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    cited += re.findall(r", version (\d[\w.]*\w)", (ROOT / "README.md").read_text())
    assert set(cited) == {PROJECT["version"]}


def is_placeholder(address):
    """Whether an address is one that should have been replaced: example.com, OWNER, TODO, <name>."""
    words = (
        r"\bexample\.(com|org|net)\b|\b(OWNER|ORG|USER|USERNAME|REPO|TODO|FIXME|X{3,})\b|\byour[-_]"
    )
    return bool(re.search(words + r"|[<>{}]", address))


@pytest.mark.parametrize(
    "address", ["https://example.com", "https://github.com/OWNER/x", "https://<host>/x", "TODO"]
)
def test_placeholders_are_recognised(address):
    assert is_placeholder(address)


def test_no_address_is_a_placeholder():
    addresses = list(PROJECT.get("urls", {}).values())
    for page in (path for pattern in PAGES for path in ROOT.glob(pattern)):
        addresses += re.findall(r"https?://[^\s)>\]\"'`]+", page.read_text())
    assert addresses
    assert not [each for each in addresses if is_placeholder(each)]


@pytest.mark.parametrize("extra", ["rankers", "agreement"])
def test_xgboost_comes_with_the_package_that_has_wheels_and_one_floor(extra):
    listed = map(Requirement, PROJECT["optional-dependencies"][extra])
    found = [each for each in listed if each.name.startswith("xgboost")]
    assert len({str(each.specifier) for each in found}) == 1
    for platform, name in (
        ("linux", "xgboost-cpu"),
        ("win32", "xgboost-cpu"),
        ("darwin", "xgboost"),
    ):
        there = {"sys_platform": platform}
        assert [each.name for each in found if each.marker.evaluate(there)] == [name]


def test_peers_are_left_out_where_they_have_no_wheels():
    machines = {
        "Linux": ("linux", "x86_64"), "Linux on ARM": ("linux", "aarch64"),
        "Windows": ("win32", "AMD64"), "Windows on ARM": ("win32", "ARM64"),
        "Mac": ("darwin", "arm64"), "Intel Mac": ("darwin", "x86_64"),
    }  # fmt: skip
    lacking = {
        "ir-measures": {"Linux on ARM", "Windows on ARM"}, "ranx": {"Intel Mac"},
        "pytrec-eval-terrier": {"Linux on ARM", "Windows on ARM"},
    }  # fmt: skip
    listed = map(Requirement, PROJECT["optional-dependencies"]["agreement"])
    for each in (each for each in listed if each.name in lacking):
        missing = {
            name
            for name, (system, machine) in machines.items()
            if not each.marker.evaluate({"sys_platform": system, "platform_machine": machine})
        }
        assert missing == lacking.pop(each.name), each.name
    assert not lacking
