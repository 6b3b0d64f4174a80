"""What a model must not know: other rows of the queries that are scored, and their ids.

No public way shows a scorer which rows a tool of scikit-learn has split, so it looks at the
variables of the tool: docs/design/selection.md says what was tried. If scikit-learn renames these,
scorers say nothing of cut queries, and a test fails.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress
from hashlib import blake2b
from inspect import currentframe
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Ints
from sklearn_ndcg._rows.columns import count_rows, group_columns, values_by
from sklearn_ndcg._rows.containers import Table
from sklearn_ndcg._rows.grouping import Grouping
from sklearn_ndcg._rows.label_texts import shown_labels
from sklearn_ndcg._selection.libraries import Estimator, GroupBy, settings_of

# scikit-learn's functions that fit on some rows of X and score others
FUNCTIONS = frozenset({
    "_fit_and_score", "_incremental_fit_estimator", "_permutation_test_score", "_rfe_single_fit",
})  # fmt: skip

# What this process remembers, in digests: the test set of each split that it has looked at, and
# what it has said of each test set. Both take 250 bytes for a fold.
_test_sets: dict[bytes, bytes] = {}
_said: set[tuple[str, bytes]] = set()
_MOST = 10_000  # entries of each; then all are forgotten, and splits are looked at again


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
    """The split that a tool is working on, and the queries of all rows of its X."""

    queries: Grouping
    train: Ints
    test: Ints


def look_at_split(
    scored: Grouping, group_by: GroupBy, requested: str | bool | None
) -> bytes | None:
    """Warn if the tool that is running has cut queries; return a digest of its test set, or None.

    The innermost tool counts, and each of its splits is looked at once. `requested` is the scorer's
    request for `groups`: True, or the name that they are passed by.
    """
    frame, test_set, message = _frame_of_tool(), None, ""
    with suppress(Exception):  # whatever these variables are, scoring goes on
        if frame is not None:
            variables = frame.f_locals
            rows = scored.labels, scored.row_codes(), variables["train"], variables["test"]
            look = _digest(repr((group_by, requested)), *rows)
            test_set = _test_sets.get(look)
            if test_set is None:
                fold = _read_fold(variables, group_by, requested)
                codes = fold.queries.row_codes()[fold.test]
                test_set = _digest(fold.queries.labels[codes], fold.test)
                _forget_many(_test_sets)
                _test_sets[look] = test_set
                message = _about_cut_queries(fold, scored)
    if test_set is not None and message and is_news("cut", test_set):
        _checks.warn(message, QueryLeakWarning)
    return test_set


def is_news(what: str, test_set: bytes) -> bool:
    """Whether this process has not said this of a test set before."""
    was_said = (what, test_set) in _said
    _forget_many(_said)
    _said.add((what, test_set))
    return not was_said


def _forget_many(remembered: dict[bytes, bytes] | set[tuple[str, bytes]]) -> None:
    if len(remembered) >= _MOST:
        remembered.clear()


def _digest(*parts: Any) -> bytes:
    digest = blake2b(digest_size=16)
    for part in map(np.asarray, parts):
        text = repr(part.tolist()).encode() if part.dtype == object else part.tobytes()
        digest.update(b"%d " % len(text))
        digest.update(text)
    return digest.digest()


def _read_fold(
    variables: Mapping[str, Any], group_by: GroupBy, requested: str | bool | None
) -> Fold:
    """The fold in the variables of a tool."""
    params = variables.get("routed_params")
    passed = (variables["score_params"] if params is None else params.scorer.score) or {}
    # several scorers get them by the name that each requests, a single one as its argument
    routed = passed.get(requested if isinstance(requested, str) else "groups", passed.get("groups"))
    ids = values_by(variables["X"], group_by, routed, variables["y"])
    rows = np.arange(count_rows(variables["X"]))
    queries = Grouping.of_ids(rows if ids is None else ids, len(rows), sort=False)
    return Fold(queries, rows[np.asarray(variables["train"])], rows[np.asarray(variables["test"])])


def _about_cut_queries(fold: Fold, scored: Grouping) -> str:
    """What to say if scored queries, of the test set, have rows in the training set, or ""."""
    codes, n_rows = fold.queries.row_codes(), fold.queries.lengths
    tested = codes[fold.test]
    if len(tested) != scored.lengths.sum():
        return ""
    # by position, as a callable may number the queries of any X from 0
    numbers = tested[scored.first_rows]
    if not np.array_equal(numbers[scored.row_codes()], tested):
        return ""
    if len(n_rows) == 1:  # of `one_ranking`, of which each fold has a part
        return ""
    n_trained = np.bincount(codes[fold.train], minlength=len(n_rows))
    is_cut = (scored.lengths < n_rows[numbers]) & (n_trained[numbers] > 0)
    if not is_cut.any():
        return ""
    queries = np.flatnonzero(is_cut)
    query = queries[np.argsort(scored.labels[queries])[0]]
    return (
        f"{len(queries)} of {len(is_cut)} queries of the test set have rows in the training "
        f"set, too: query {shown_labels(scored.labels[[query]])} is scored on "
        f"{scored.lengths[query]} of its {n_rows[numbers[query]]} rows, and the score may be "
        "wrong. Split whole queries, with QuerySplitter around any splitter, or with "
        "GroupKFold. If each part is a ranking of its own, such as a user's of one week, name "
        'the finer ids: group_by=["week", "user"].'
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
    names = list(getattr([*steps, estimator][0], "feature_names_in_", ()))
    is_feature = any(key in names and _is_kept(key, steps) for key in group_columns(X, group_by))
    if is_feature and not any(hasattr(value, "fit") for value in settings_of(estimator).values()):
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
