"""From any accepted input to checked rows, with the errors about relevance, scores and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import assert_all_finite, check_array

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Floats, Mask, Numbers
from sklearn_ndcg._rows import containers

_LARGEST_WEIGHT = 1e300  # sums of such weights still fit a float64
# errors that scikit-learn has begin with its words
_INCONSISTENT = "Found input variables with inconsistent numbers of samples: {}. "


def numeric(values: Any, name: str) -> Numbers:
    """`values` as an array of bool, int or float, without a copy if possible."""
    array: Numbers = values
    if type(array) is not np.ndarray or array.dtype.kind not in "biuf":
        if values is None:
            raise TypeError(f"{name} must be an array of numbers, got None.")
        _checks.refuse_masked(values, name)
        array = np.ma.getdata(values) if np.ma.isMaskedArray(values) else values
        try:
            array = check_array(
                _exact_integers(_checks.to_host(containers.without_chunks(array))),
                ensure_2d=False,
                ensure_all_finite=False,
                ensure_min_samples=0,
                ensure_min_features=0,
                input_name=name,
            )
            if array.dtype.kind not in "biuf":
                raise TypeError(f"its dtype is {array.dtype}.")
        except MemoryError:
            raise
        except Exception as error:
            kind: type[Exception] = TypeError if isinstance(error, TypeError) else ValueError
            said = f"{name} must be an array of numbers, got {type(values).__name__}: {error}"
            if not isinstance(values, Sized):
                said += " Pass list() of an iterator, and a lazy table to sklearn_ndcg.frames."
            elif name != "sample_weight":
                way = "ndcg_score(from_lists(relevant, recommended, k=10))"
                said = f"{said.rstrip('.')}. If these are ids, pass them as {way}."
            raise kind(said) from error
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"{name} must be 1-D or 2-D and not empty, got shape {array.shape}.")
    if array.dtype.kind == "b":  # any byte but 0 is True, in a view of other bytes too
        array = array.view(np.uint8) != 0
    return array


def _exact_integers(values: Any) -> Any:
    """Nullable and object integers as integers: check_array would make floats of them."""
    if isinstance(values, np.matrix):
        return values
    _refuse_text(values)
    _refuse_ragged(values)
    array = np.asarray(values)
    if array.dtype.kind in "SUT" and array.size:
        _refuse_text(array.flat[0])
    if array.dtype.kind == "O" and array.ndim:
        cells = [_nan_if_missing(cell) for cell in array.ravel().tolist()]
        _refuse_text(cells, 1)
        with suppress(ValueError):  # lists of several lengths: refused further up
            narrow = np.array(cells)
            if narrow.dtype.kind in "biuf" and narrow.shape == (array.size,):
                return narrow.reshape(array.shape)
        return np.fromiter(cells, dtype=object, count=len(cells)).reshape(array.shape)
    return array if array.dtype.kind in "iu" else values


def _refuse_ragged(values: Any) -> None:
    """Raise for a list of rows of different lengths."""
    is_nested = isinstance(values, list | tuple) and all(hasattr(row, "__len__") for row in values)
    if is_nested:
        lengths = sorted({len(row) for row in values})
        if len(lengths) > 1:
            raise ValueError(
                f"its rows have {lengths[0]} to {lengths[-1]} values. Pass one row per document: "
                "np.concatenate(y_true), np.concatenate(y_score) and "
                "groups=np.repeat(np.arange(len(y_true)), [len(row) for row in y_true])."
            )


def _refuse_text(values: Any, depth: int = 2) -> None:
    """Raise for text before NumPy makes an array of it, as wide as the longest."""
    if isinstance(values, str | bytes):
        raise ValueError(  # as scikit-learn does
            f"it holds text, the first {values[:40]!r}. Convert it to numbers, words with a dict "
            "from word to grade (LabelEncoder would number them alphabetically)."
        )
    kinds = set(map(type, values)) if isinstance(values, list | tuple) and depth else ()
    if any(issubclass(kind, str | bytes | list | tuple) for kind in kinds):
        for value in values:
            _refuse_text(value, depth - 1)
    elif hasattr(values, "to_list") and len(values):  # the first element of a Series is enough
        _refuse_text(next(iter(values)), 0)


def _nan_if_missing(value: Any) -> Any:
    plain = isinstance(value, int | float)
    return np.nan if not plain and np.ndim(value) == 0 and _checks.is_missing(value) else value


def check_groups(y_true: Numbers, groups: object, y_scores: Mapping[Any, ArrayLike]) -> None:
    """Raise unless `groups` is given for 1-D input, and only for it."""
    shape = y_true.shape
    if len(shape) == 1:
        if groups is None:
            # what scikit-learn would say of such input, it says
            assert_all_finite(y_true, input_name="y_true")
            for y_score in y_scores.values():
                score = numeric(y_score, "y_score")
                assert_all_finite(score, input_name="y_score")
                if score.ndim == 2 and len(score) == len(y_true) and score.shape[1] > 1:
                    raise ValueError(
                        f"y_true is 1-D and y_score has {score.shape[1]} columns. If they are "
                        "classes, to be ranked for each row, pass np.asarray(y_true)[:, None] == "
                        "classes_ as y_true. If rows are documents, pass groups= with one query id "
                        "per row, and one score per document."
                    )
            raise ValueError(
                "y_true is 1-D and groups is missing. Pass [y_true], [y_score] if all rows are a "
                "single ranking, or groups= with one query id per row. In scikit-learn's tools, "
                "scoring=make_ndcg_scorer(...) finds the ids."
            )
    elif groups is not None:
        raise ValueError(
            f"groups goes with 1-D y_true and y_score, one id per row, but y_true has shape "
            f"{shape}. If each of its rows is a query, as with multilabel targets, leave groups "
            "out. If it is a table that holds the target, pass that column."
        )
    elif shape[1] == 1:
        raise ValueError(
            "Computing NDCG is only meaningful when there is more than 1 document. Got 1 instead. "
            "If the rows are documents, ravel() both and pass groups= with one query id per row."
        )


def scores_like(y_score: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Checked scores, which must have this shape, as one column of floats."""
    score = numeric(y_score, "y_score")
    if containers.shape_of_rows(score.shape) != shape:
        hint = ""
        if len(shape) == 1 and score.ndim == 2:
            hint = (
                " One score per document is needed, for a classifier the expected gain: "
                "np.round(y_score @ gain, 10) with the gain of each of classes_ (np.unique(y))."
            )
        elif len(shape) == 2:
            hint = " A single ranking is [y_true], [y_score]; what it did not retrieve scores -inf."
        counts = "" if shape[0] == len(score) else _INCONSISTENT.format([shape[0], len(score)])
        raise ValueError(
            f"{counts}y_true and y_score must have the same shape, got {shape} and "
            f"{score.shape}.{hint}"
        )
    rows = score.ravel()
    return rows if rows.dtype == np.float64 else _as_float(rows)


def _as_float(score: Numbers) -> Floats:
    """Scores as float64 or float32, in the same order and with the same ties."""
    if score.dtype == np.float32:
        return score
    with np.errstate(over="ignore"):
        narrow = score.astype(np.float64, copy=False)
    if score.dtype.kind in "iu" and score.dtype.itemsize == 8:
        is_exact = score.max() <= 2**53 and score.min() >= -(2**53)
    else:  # a long double may have more digits
        is_exact = narrow is score or np.array_equal(narrow, score)
    if is_exact:
        return narrow
    _, ranks = np.unique(score, return_inverse=True)
    return np.where(score == -np.inf, -np.inf, ranks)


def row_weights(sample_weight: ArrayLike, n: int, queries: Sequence[object] = ()) -> Floats:
    """`sample_weight` as checked floats, one for each of `n` rows, or of queries with names."""
    weight = read_weights(sample_weight, n)
    wrong = wrong_weights(weight)
    if wrong.any():
        rows = _checks.describe_mask(wrong, "such weight", "such weights")
        whose = f", query {queries[int(wrong.argmax())]!r}" if queries else ""
        raise ValueError(f"{wrong_weight(weight[wrong][0])}{rows}{whose}.")
    return weight


def read_weights(sample_weight: ArrayLike, n: int) -> Floats:
    """`sample_weight` as floats, one for each of `n` rows."""
    weight = numeric(sample_weight, "sample_weight")
    if weight.shape != (n,):
        raise ValueError(
            f"{_INCONSISTENT.format([n, n, len(weight)])}sample_weight must have one weight for "
            f"each of the {n} rows, got shape {weight.shape}."
        )
    with np.errstate(over="ignore"):  # a long double may be too large
        return weight.astype(np.float64)


def wrong_weight(weight: float) -> str:
    """The beginning of the message of an error about weights, of which this is the first."""
    return f"sample_weight must be finite and >= 0, at most 1e300, found {weight}: "


def wrong_weights(weight: Floats) -> Mask:
    """Which weights are negative, too large or NaN."""
    return ~((weight >= 0) & (weight <= _LARGEST_WEIGHT))
