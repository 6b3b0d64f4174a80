"""Small checks that every floor uses, and the one way to warn."""

from __future__ import annotations

import os
import warnings
from inspect import currentframe
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray

# A warning points at the first line outside of these: the tools between it and the user.
_TOOLS = tuple(os.path.dirname(file) + os.sep for file in (__file__, sklearn.__file__))


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user: the first that is not ours, scikit-learn's or joblib's."""
    frame, level = currentframe(), 1
    while frame is not None and _is_tool(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    # in a worker process there may be no such line
    warnings.warn(message, category, stacklevel=2 if frame is None else level)


def _is_tool(file: str) -> bool:
    return file.startswith(_TOOLS) or f"{os.sep}joblib{os.sep}" in file


def refuse_masked(values: Any, name: str) -> None:
    """Raise where a masked array hides values; others are let through."""
    # pandas' nullable arrays have a mask too, which np.ma would take for its own
    if not np.ma.isMaskedArray(values):
        return
    masked = np.ma.getmaskarray(values)
    if masked.any():
        raise ValueError(
            f"{name} is a masked array with {where(masked, 'masked')}: fill them in, or leave "
            "their rows out."
        )


def where(mask: NDArray[np.bool_], what: str) -> str:
    """Count and first place of what is wrong."""
    place = tuple(int(i) for i in np.argwhere(mask)[0])
    index = place if len(place) > 1 else place[0]
    return f"{np.count_nonzero(mask)} {what}, the first at index {index}"


def refuse_reordered(**arguments: Any) -> None:
    """Raise where pandas objects have the same labels in another order.

    Rows are matched by position, so such arguments would be matched wrongly. Indexes with other
    labels say nothing about the order.
    """
    for axis in ("index", "columns"):
        labelled = [
            (name, getattr(values, axis))
            for name, values in arguments.items()
            if hasattr(getattr(values, axis, None), "equals")
        ]
        for name, labels in labelled[1:]:
            first_name, first = labelled[0]
            if _is_reordered(first, labels):
                by_label = f"{name}.reindex({axis}={first_name}.{axis})"
                raise ValueError(
                    f"{first_name} and {name} have the same labels in their {axis}, in another "
                    f"order, and are matched by position. Pass {by_label} to match them by label, "
                    f"or {name}.to_numpy() if they do belong together as they are."
                )


def _is_reordered(labels: Any, others: Any) -> bool:
    if labels is others or len(labels) != len(others) or labels.equals(others):
        return False
    if len(labels) == 0 or labels[0] not in others:
        return False
    try:
        return bool(labels.sort_values().equals(others.sort_values()))
    except TypeError:  # labels of several types
        return sorted(map(repr, labels)) == sorted(map(repr, others))
