"""Write the addresses of a repository into README.md and pyproject.toml, before they are released.

    python .ci/write_addresses.py OWNER/NAME v0.1.0

An index such as PyPI shows README.md without the files beside it. It knows no `<picture>` and no
links to headings, and it takes the links in its margin from pyproject.toml.
"""

import re
import sys
from pathlib import Path


def for_index(readme, repository, ref):
    """Return the text of README.md with absolute links, and with its light picture alone."""
    pages = f"https://github.com/{repository}/blob/{ref}/"
    files = f"https://raw.githubusercontent.com/{repository}/{ref}/"
    readme = re.sub(r"<picture>.*?(<img .*?>).*?</picture>", r"\1", readme, flags=re.DOTALL)
    readme = re.sub(r'src="(?!https:)', f'src="{files}', readme)
    readme = re.sub(r"\]\(#", f"]({pages}README.md#", readme)
    return re.sub(r"\]\((?!https:)", f"]({pages}", readme)


def with_urls(project, repository):
    """Return the text of pyproject.toml with addresses, if it has none of its own."""
    if "[project.urls]" in project:
        return project
    owner, name = repository.split("/")
    return f"""{project}
[project.urls]
Source = "https://github.com/{repository}"
Documentation = "https://{owner.lower()}.github.io/{name}/"
Changelog = "https://github.com/{repository}/blob/main/CHANGELOG.md"
Issues = "https://github.com/{repository}/issues"
"""


if __name__ == "__main__":
    repository, ref = sys.argv[1:]
    readme, project = Path("README.md"), Path("pyproject.toml")
    page = for_index(readme.read_text(encoding="utf-8"), repository, ref)
    readme.write_text(page, encoding="utf-8")
    metadata = with_urls(project.read_text(encoding="utf-8"), repository)
    project.write_text(metadata, encoding="utf-8")
