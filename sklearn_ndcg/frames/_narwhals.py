"""Narwhals, which only this folder needs, and the types of what it handles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from sklearn_ndcg._checks import import_optional

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
else:
    _NEEDS = "sklearn_ndcg.frames needs Narwhals, which is the extra `frames`"
    nw = import_optional("narwhals.stable.v2", _NEEDS, "narwhals>=2.10")

Native: TypeAlias = Any  # a table of any library
Table: TypeAlias = Any  # the same in Narwhals, in memory or lazy
Frame: TypeAlias = "nw.DataFrame[Any]"
Column: TypeAlias = "nw.Series[Any]"

__all__ = ["Column", "Frame", "Native", "Table", "nw"]
