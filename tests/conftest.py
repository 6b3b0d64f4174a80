"""What all tests share."""

import os


def pytest_collection_modifyitems(config, items):
    """Leave out a check of scikit-learn that skips itself without SCIPY_ARRAY_API.

    With it set, the rest of the suite would run on other code of SciPy than users do.
    """
    if os.environ.get("SCIPY_ARRAY_API"):
        return
    left_out = [item for item in items if "check_array_api_input" in item.name]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
