"""Detect models that have learned from the query ids, as from a feature."""

from __future__ import annotations

from contextlib import suppress

from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.pipeline import Pipeline

from sklearn_ndcg import _checks
from sklearn_ndcg._rows import columns
from sklearn_ndcg._rows.containers import Table, shape_of
from sklearn_ndcg._selection.libraries import Estimator, GroupBy, settings_of


def model_in(estimator: Estimator) -> tuple[Estimator, list[Estimator]]:
    """The model in searches and Pipelines, and the steps that transform X before it."""
    steps: list[Estimator] = []
    while isinstance(estimator, Pipeline) or hasattr(estimator, "best_estimator_"):
        if isinstance(estimator, Pipeline):
            before = [step for _, step in estimator.steps[:-1]]
            steps += [step for step in before if step not in (None, "passthrough")]
            estimator = estimator.steps[-1][1]
        else:
            estimator = estimator.best_estimator_
    return estimator, steps


def warn_if_learned(model: Estimator, steps: list[Estimator], X: Table, group_by: GroupBy) -> None:
    """Warn if a column of ids is a feature of a fitted model, after the steps before it.

    Models around others are not checked, as these may drop the column.
    """
    ids = _names_of_ids([*steps, model][0], X, group_by)
    if not ids or any(hasattr(value, "fit") for value in settings_of(model).values()):
        return
    if any(_is_kept(name, steps) for name in ids):
        _checks.warn(
            f"The column of ids, group_by={group_by!r}, is a feature of {type(model).__name__}. "
            "Move it to an index level, drop it in a Pipeline, or put GroupedRanker around these."
        )


def _names_of_ids(first: Estimator, X: Table, group_by: GroupBy) -> list[str]:
    """The columns of ids that an estimator was fitted on, by scikit-learn's names."""
    keys, names = columns.group_columns(X, group_by), getattr(first, "feature_names_in_", None)
    if names is not None:
        return [str(key) for key in keys if key in names]
    n_features = getattr(first, "n_features_in_", None)
    if n_features is None or (shape_of(X) or ())[1:] != (n_features,):
        return []
    table = columns.column_names(X)
    return [f"x{key % n_features if table is None else table.index(key)}" for key in keys]


def _is_kept(name: str, steps: list[Estimator]) -> bool:
    """Whether steps keep a column, or mix all columns as PCA does."""
    names = None
    with suppress(Exception):  # a step may not name what it returns
        for step in steps:
            if isinstance(step, ClassNamePrefixFeaturesOutMixin):
                return True
            names = step.get_feature_names_out(names)
            if not any(out == name or out.endswith(f"__{name}") for out in names):
                return False
        return True
    return False
