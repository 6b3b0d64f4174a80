"""Which examples of the pages and docstrings can run in this environment."""

import re
from importlib.util import find_spec

import pytest

collect_ignore_glob = ["*.py", "_build/*", "generated/*"]  # doctests are in the pages


def pytest_collection_modifyitems(items):
    """Skip the examples that import a library which is not installed."""
    for item in items:
        if test := getattr(item, "dtest", None):
            source = "".join(example.source for example in test.examples)
            imported = re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE)
            if missing := [name for name in imported if find_spec(name) is None]:
                item.add_marker(pytest.mark.skip(reason=f"{missing[0]} is not installed"))
