"""How other libraries define NDCG."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# How other libraries define NDCG, as keyword arguments of `ndcg_score`: scikit-learn 1.9, LightGBM
# 4.7, XGBoost 3.2, CatBoost 1.2.10, trec_eval 9.0.8 and 10.0, ranx 0.3.21, torchmetrics 1.9, rax
# 0.4. What these cannot say is in `BEYOND_KEYWORDS`, and at more length in docs/whose_ndcg.md.
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

_OF_LIGHTGBM = "A weighted query without a relevant document adds 1, not its weight."
_OF_XGBOOST = "Scores are compared in float32. The metric `ndcg` without a cutoff is NDCG@32."
_OF_CATBOOST = "Relevance is float32. A query whose ideal is not above 0 counts 1."
_OF_RANX = (
    "Above 15 documents, ties are in the order of an unstable sort. Relevance is cut to whole "
    "numbers."
)
_SINGLE = "Scores are compared, and values computed, in float32."

# What each library does that no keyword argument of `ndcg_score` says.
BEYOND_KEYWORDS: Mapping[str, str] = {
    "sklearn": "A query of a single document is an error.",
    "lightgbm": f"NaN in the relevance is 0. {_OF_LIGHTGBM}",
    "xgboost": f"{_OF_XGBOOST} {_OF_LIGHTGBM}",
    "xgboost-minus": _OF_XGBOOST,
    "xgboost-linear": f"{_OF_XGBOOST} {_OF_LIGHTGBM}",
    "catboost": _OF_CATBOOST,
    "catboost-exp": _OF_CATBOOST,
    "catboost-position": _OF_CATBOOST,
    "trec_eval": "Ties are in the order of document ids, descending: from_trec has it. Scores are "
    "compared in float32, and in float64 from 10.0 on.",
    "ranx": _OF_RANX,
    "ranx-burges": _OF_RANX,
    "torchmetrics": _SINGLE,
    "torchmetrics-skip": f"{_SINGLE} If all queries are skipped, it returns 0.",
    "rax": f"{_SINGLE[:-1]} by default.",
}
