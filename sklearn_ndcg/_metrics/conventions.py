"""How other libraries define NDCG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class _Conventions(Mapping[str, dict[str, Any]]):
    """Gain, discount, ties and undefined by name. Read-only: each entry is made on demand."""

    def __getitem__(self, name: str) -> dict[str, Any]:
        options = ("gain", "discount", "ties", "undefined")
        return dict(zip(options, _ENTRIES[name], strict=True))

    def __iter__(self) -> Iterator[str]:
        return iter(_ENTRIES)

    def __len__(self) -> int:
        return len(_ENTRIES)

    def __repr__(self) -> str:
        return repr(dict(self))


# How other libraries define NDCG, as keyword arguments of `ndcg_score`: scikit-learn 1.9, LightGBM
# 4.7, XGBoost 3.2, CatBoost 1.2.10, trec_eval 9.0.8 and 10.0, ranx 0.3.21, torchmetrics 1.9, rax
# 0.4. What these cannot say (scores in float32, documents ordered by id, a cutoff by default) is in
# docs/whose_ndcg.md.
_ENTRIES: dict[str, tuple[Any, ...]] = {
    "sklearn": ("linear", "log", "average", 0.0),
    "lightgbm": ("exponential", "log", "stable", 1.0),
    "xgboost": ("exponential", "log", "stable", 1.0),
    "xgboost-minus": ("exponential", "log", "stable", 0.0),
    "xgboost-linear": ("linear", "log", "stable", 1.0),
    "catboost": ("linear", "log", "worst", 1.0),
    "catboost-exp": ("exponential", "log", "worst", 1.0),
    "catboost-position": ("linear", "reciprocal", "worst", 1.0),
    "trec_eval": ("linear", "log", "stable", 0.0),
    "ranx": ("linear", "log", "stable", 0.0),
    "ranx-burges": ("exponential", "log", "stable", 0.0),
    "torchmetrics": ("linear", "log", "average", 0.0),
    "torchmetrics-skip": ("linear", "log", "average", "omit"),
    "rax": ("exponential", "log", "stable", 0.0),
}
CONVENTIONS: Mapping[str, dict[str, Any]] = _Conventions()
