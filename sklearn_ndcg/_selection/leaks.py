"""What a model must not know: other rows of the queries that are scored, and their ids.

No public way shows a scorer which rows a tool of scikit-learn has split, so it looks at the
variables of the tool: docs/design/selection.md says what was tried. If scikit-learn renames these,
scorers say nothing of cut queries, and a test fails.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from hashlib import blake2b
from inspect import currentframe
from types import FrameType
from typing import NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Ids, Ints
from sklearn_ndcg._rows.columns import count_rows, group_columns, values_by
from sklearn_ndcg._rows.containers import Table
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.ids import first_rows
from sklearn_ndcg._rows.label_texts import shown_labels
from sklearn_ndcg._selection.libraries import Estimator, GroupBy, settings_of

# scikit-learn's functions that fit on some rows of X and score others
FUNCTIONS = frozenset({
    "_fit_and_score", "_incremental_fit_estimator", "_permutation_test_score", "_rfe_single_fit",
})  # fmt: skip

# digests of the test sets of which this process has spoken, each with what it spoke of
_spoken: set[tuple[str, bytes]] = set()


class QueryLeakWarning(UserWarning):
    """A scored query has only some of its rows in the test set, and others in the training set.

    Scorers look for this in scikit-learn's tools, for any estimator, and say it once for each fold.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_ndcg import QueryLeakWarning
    >>> # a search with error_score="raise" then stops at a leak
    >>> warnings.simplefilter("error", QueryLeakWarning)
    >>> warnings.simplefilter("default", QueryLeakWarning)
    """


class Fold(NamedTuple):
    """The split that a tool is working on, and the query of each row of its X."""

    codes: Ints
    labels: Ids
    train: Ints
    test: Ints

    def is_news(self, what: str) -> bool:
        """Whether this process has not spoken of this, and of these test rows, before."""
        ids = self.labels[self.codes[self.test]]
        text = repr(ids.tolist()).encode() if ids.dtype == object else ids.tobytes()
        size = len(_spoken)
        _spoken.add((what, blake2b(text + self.test.tobytes(), digest_size=16).digest()))
        return len(_spoken) > size


def fold_under_way(group_by: GroupBy, requested: str | bool | None) -> Fold | None:
    """The split of the innermost tool that is running; None if none is found.

    `requested` is the scorer's request for `groups`: True, or the name that they are passed by.
    """
    frame = _frame_of_tool()
    with suppress(Exception):  # whatever these variables are, scoring goes on
        if frame is not None:
            found = frame.f_locals
            params = found.get("routed_params")
            passed = found["score_params"] if params is None else params.scorer.score
            routed = (passed or {}).get(requested if isinstance(requested, str) else "groups")
            ids = values_by(found["X"], group_by, routed, found["y"])
            rows = np.arange(count_rows(found["X"]))
            grouping = Grouping.of_ids(rows if ids is None else ids, len(rows), sort=False)
            train, test = rows[np.asarray(found["train"])], rows[np.asarray(found["test"])]
            return Fold(grouping.row_codes(), grouping.labels, train, test)
    return None


def warn_of_cut_queries(fold: Fold, scored: Grouping) -> None:
    """Warn if queries of the test set, which is scored, have other rows in the training set."""
    codes = fold.codes[fold.test]
    if len(codes) != scored.lengths.sum():
        return
    # by position, as a callable may number the queries of any X from 0
    numbers = codes[scored.starts if scored.codes is None else first_rows(scored.codes)]
    is_same = np.array_equal(numbers[scored.row_codes()], codes) and np.bincount(numbers).max() == 1
    n_rows = np.bincount(fold.codes)
    if not is_same or len(n_rows) == 1:  # of `one_ranking`, of which each fold has a part
        return
    n_trained = np.bincount(fold.codes[fold.train], minlength=len(n_rows))
    is_cut = (scored.lengths < n_rows[numbers]) & (n_trained[numbers] > 0)
    if is_cut.any() and fold.is_news("cut"):
        queries = np.flatnonzero(is_cut)
        query = queries[np.argsort(scored.labels[queries])[0]]
        _checks.warn(
            f"{len(queries)} of {len(is_cut)} queries of the test set have rows in the training "
            f"set, too: query {shown_labels(scored.labels[[query]])} is scored on "
            f"{scored.lengths[query]} of its {n_rows[numbers[query]]} rows, and the score may be "
            "wrong. Split whole queries, with QuerySplitter around any splitter, or with "
            "GroupKFold. If each part is a ranking of its own, such as a user's of one week, name "
            'the finer ids: group_by=["week", "user"].',
            QueryLeakWarning,
        )


def _frame_of_tool() -> FrameType | None:
    """The innermost function of scikit-learn's tools that is running."""
    frame = currentframe()
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if frame.f_code.co_name in FUNCTIONS and module.startswith("sklearn."):
            return frame
        frame = frame.f_back
    return None


def warn_if_ids_are_a_feature(estimator: Estimator, X: Table, group_by: GroupBy) -> None:
    """Warn if the column of ids is among the features of a fitted model, by its name.

    Models around others are not checked, as these may drop the column.
    """
    steps: list[Estimator] = []
    while isinstance(estimator, Pipeline) or hasattr(estimator, "best_estimator_"):
        if isinstance(estimator, Pipeline):
            before = [step for _, step in estimator.steps[:-1]]
            steps += [step for step in before if step not in (None, "passthrough")]
            estimator = estimator.steps[-1][1]
        else:
            estimator = estimator.best_estimator_
    if any(hasattr(value, "fit") for value in settings_of(estimator).values()):
        return
    names = getattr([*steps, estimator][0], "feature_names_in_", ())
    if any(key in names and _is_kept(key, steps) for key in group_columns(X, group_by)):
        _checks.warn(
            f"The column of ids, group_by={group_by!r}, is a feature of {type(estimator).__name__}."
            " Move it to an index level, drop it in a Pipeline, or put GroupedRanker around these."
        )


def _is_kept(name: Hashable, steps: list[Estimator]) -> bool:
    """Whether all steps return a column by its name."""
    names = None
    with suppress(Exception):  # a step may not name what it returns
        for step in steps:
            names = step.get_feature_names_out(names)
            if not any(out == name or out.endswith(f"__{name}") for out in names):
                return False
        return True
    return False
