"""Narwhals, which only this folder needs, and the types of what it handles."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeAlias

from sklearn_ndcg._checks import import_optional

# By engine: the version from which it needs a newer Narwhals than others do, and which. Found by
# running tests/frames with each.
_OLDEST = "2.10"
_NEWER = {"duckdb": ("2.0", "2.26")}

_NEEDS = (
    "sklearn_ndcg.frames needs Narwhals {0} or newer, which is the extra `frames`; scikit-learn "
    "installs Narwhals from 1.9 on"
)
if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
else:
    nw = import_optional("narwhals.stable.v2", _NEEDS.format(_OLDEST), f"narwhals>={_OLDEST}")


@cache
def check_version(engine: str) -> None:
    """Raise if the installed version of a library of tables needs a newer Narwhals."""
    since, newer = _NEWER.get(engine, ("", ""))
    needed, reader = _OLDEST, ""
    if newer and _numbers(version(engine)) >= _numbers(since):
        needed, reader = newer, f" to read tables of {engine} {version(engine)}"
    if _numbers(version("narwhals")) < _numbers(needed):
        raise ImportError(
            f"sklearn_ndcg.frames needs Narwhals {needed} or newer{reader}, and "
            f'{version("narwhals")} is installed: python -m pip install "narwhals>={needed}"'
        )


def _numbers(release: str) -> tuple[int, ...]:
    """The first two numbers of a version."""
    return tuple(map(int, re.findall(r"\d+", release)[:2]))


Native: TypeAlias = Any  # a table of any library
NarwhalsTable: TypeAlias = Any  # the same in Narwhals, in memory or lazy
Frame: TypeAlias = "nw.DataFrame[Any]"
Series: TypeAlias = "nw.Series[Any]"

__all__ = ["Frame", "NarwhalsTable", "Native", "Series", "check_version", "nw"]
