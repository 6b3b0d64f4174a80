"""How other libraries define NDCG."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# How other libraries define NDCG, as keyword arguments of `ndcg_score`: scikit-learn 1.9, LightGBM
# 4.7, XGBoost 3.2, CatBoost 1.2.10, trec_eval 9.0.8 and 10.0, ranx 0.3.21, torchmetrics 1.9, rax
# 0.4. What these cannot say (scores in float32, documents ordered by id, a cutoff by default) is in
# docs/whose_ndcg.md.
CONVENTIONS: Mapping[str, dict[str, Any]] = {
    "sklearn": {"gain": "linear", "discount": "log", "ties": "average", "undefined": 0.0},
    "lightgbm": {"gain": "exponential", "discount": "log", "ties": "stable", "undefined": 1.0},
    "xgboost": {"gain": "exponential", "discount": "log", "ties": "stable", "undefined": 1.0},
    "xgboost-minus": {"gain": "exponential", "discount": "log", "ties": "stable", "undefined": 0.0},
    "xgboost-linear": {"gain": "linear", "discount": "log", "ties": "stable", "undefined": 1.0},
    "catboost": {"gain": "linear", "discount": "log", "ties": "worst", "undefined": 1.0},
    "catboost-exp": {"gain": "exponential", "discount": "log", "ties": "worst", "undefined": 1.0},
    "catboost-position": {
        "gain": "linear",
        "discount": "reciprocal",
        "ties": "worst",
        "undefined": 1.0,
    },
    "trec_eval": {"gain": "linear", "discount": "log", "ties": "stable", "undefined": 0.0},
    "ranx": {"gain": "linear", "discount": "log", "ties": "stable", "undefined": 0.0},
    "ranx-burges": {"gain": "exponential", "discount": "log", "ties": "stable", "undefined": 0.0},
    "torchmetrics": {"gain": "linear", "discount": "log", "ties": "average", "undefined": 0.0},
    "torchmetrics-skip": {
        "gain": "linear",
        "discount": "log",
        "ties": "average",
        "undefined": "omit",
    },
    "rax": {"gain": "exponential", "discount": "log", "ties": "stable", "undefined": 0.0},
}
