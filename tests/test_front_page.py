"""README and its pictures show the same numbers, and what the package says of itself."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_first_block_of_the_readme_needs_no_extra():
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    imported = set(re.findall(r"^>>> (?:import|from) (\w+)", block, re.MULTILINE))
    assert imported == {"numpy", "sklearn", "sklearn_ndcg"}


def test_pictures_of_the_readme_show_its_numbers():
    ways = "fold as one list|queries cut by KFold|whole queries"
    numbers = re.findall(rf"^(?:{ways}) +(0\.\d\d)$", README, re.MULTILINE)
    table = dict(re.findall(r"^\| `(\w+)` \|.*\| (0\.\d+) \|$", README, re.MULTILINE))
    six = ("trec_eval", "sklearn", "ranx", "catboost", "xgboost", "lightgbm")
    numbers += [f"{float(table[name]):.2f}" for name in six]
    for ground in ("light", "dark"):
        picture = (ROOT / "docs" / "_static" / f"front-{ground}.svg").read_text()
        assert re.findall(r">(0\.\d\d)<", picture) == numbers
    said = {number[1:] for number in (*numbers[:3], numbers[3], numbers[-1])}
    for page in (README, (ROOT / "docs" / "index.md").read_text()):
        assert set(re.findall(r"(?<![\d.])\.\d\d\b", page)) == said
        assert all(f" {number}" in page for number in numbers)  # the text of the picture


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
