"""How intervals and tests are computed: the arguments that all functions of inference share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Cutoff, Floats
from sklearn_ndcg._metrics.choices import known_options
from sklearn_ndcg._metrics.measure import (
    NDCG,
    Measure,
    NDCGOptions,
)
from sklearn_ndcg._metrics.query_function import QueryFunction
from sklearn_ndcg.inference._statistics import Method, Test

Metric = Callable[..., Any]


@dataclass(frozen=True)
class Inference:
    """The level of intervals, how they and p-values are computed, and what draws the resamples."""

    confidence_level: float
    n_resamples: int
    random_state: Any
    method: Method = "BCa"
    test: Test = "permutation"

    def __post_init__(self) -> None:
        check_level(self.confidence_level)
        _checks.check_choice("method", self.method, get_args(Method))
        _checks.check_choice("test", self.test, get_args(Test))
        if not (_checks.is_integer(self.n_resamples) and 2 <= self.n_resamples <= 10**7):
            raise ValueError(
                f"n_resamples must be an integer from 2 to 10**7, got {self.n_resamples!r}."
            )

    def generators(self, n_segments: int) -> list[np.random.Generator]:
        """The generators of all queries and of each segment.

        The draws of a segment do not depend on those before.
        """
        seeds = [self.random_state] * (1 + n_segments)
        if isinstance(self.random_state, np.random.RandomState):
            shape = (1 + n_segments, 4)
            seeds = list(self.random_state.randint(0, 2**32, shape, dtype=np.uint32))
        try:
            generators = list(map(np.random.default_rng, seeds))
        except (TypeError, ValueError) as error:
            raise ValueError(
                "random_state must be an int, RandomState, Generator or None, got "
                f"{self.random_state!r}."
            ) from error
        is_shared = isinstance(self.random_state, np.random.Generator | np.random.BitGenerator)
        return generators[0].spawn(1 + n_segments) if is_shared and n_segments else generators


def measure_of(
    caller: Callable[..., Any], metric: Metric | None, k: Cutoff, options: Mapping[str, Any]
) -> Measure:
    """The NDCG at one cutoff with the options that were passed to a function, or another metric."""
    if metric is None:
        return NDCG.of(caller, k, options)
    known_options(caller, options, NDCGOptions)
    if not callable(metric):
        raise TypeError(
            f"metric must be a function of y_true and y_score, got {metric!r}. For NDCG pass None; "
            "for another metric, write a function of the relevance and scores of one query."
        )
    others = [*options.keys() - {"undefined"}, *(["k"] if k is not None else [])]
    if others:
        raise TypeError(
            f"{', '.join(others)} would be passed to {_checks.name_of(metric)}: bind the options "
            "of a metric by functools.partial."
        )
    return QueryFunction(function=metric, undefined=options.get("undefined", "warn"))


def check_level(confidence_level: object) -> None:
    """Raise unless the level is between 0 and 1."""
    if not _checks.is_number(confidence_level) or not 0 < float(confidence_level) < 1 - 2**-52:
        raise ValueError(f"confidence_level must be between 0 and 1, got {confidence_level!r}.")


def tails(confidence_level: float) -> Floats:
    """The levels of both bounds of an interval."""
    check_level(confidence_level)
    return np.array([1 - float(confidence_level), 1 + float(confidence_level)]) / 2
