"""From any accepted input to rows sorted into queries; every input error lives here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from sklearn_ndcg import _kernels
from sklearn_ndcg._checks import refuse_masked, refuse_reordered, warn, where
from sklearn_ndcg._definitions import Definition
from sklearn_ndcg._kernels import Floats, Grades, Ints

_IDENTITY: Any = object.__hash__


class Queries(NamedTuple):
    """Rows in which every query is one run: ``starts[q] : starts[q] + lengths[q]``."""

    gain: Floats | Grades  # grades have their gains in the table
    table: Floats
    score: Floats
    starts: Ints
    lengths: Ints
    weight: Floats | None
    labels: NDArray[Any]


def as_queries(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: ArrayLike | None,
    definition: Definition,
    negative_gain: bool,
    sample_weight: ArrayLike | None = None,
) -> Queries:
    """Check all input and bring it into rows, one run a query, in the order of the labels."""
    refuse_reordered(y_true=y_true, y_score=y_score, groups=groups, sample_weight=sample_weight)
    relevance = numeric(y_true, "y_true")
    score = numeric(y_score, "y_score")
    _check_shapes(relevance, score, groups)
    weight = None if sample_weight is None else row_weights(sample_weight, len(relevance))
    grades = _kernels.grades(relevance.ravel())
    unjudged = None if grades is not None else _check_relevance(relevance, definition.unjudged)
    _check_scores(score)

    shape = relevance.shape
    relevance, score = relevance.ravel(), _as_float(score.ravel())
    if len(shape) == 2:
        labels = np.arange(shape[0])
        starts, lengths = labels * shape[1], np.full(shape[0], shape[1])
        codes = None
    else:
        labels, starts, lengths, codes = group_rows(groups, len(relevance))
        if len(labels) == len(relevance) > 1:
            warn(
                f"Each of the {len(labels)} queries has a single document, which has nothing to be "
                "ranked against: NDCG is 1 for it, or undefined. groups must have one id per "
                "query, the same for all of its rows, not one id per row."
            )
    judged = None if unjudged is None else ~unjudged.ravel()
    collected = _kernels.running.collected
    table = None if grades is None else definition.table(int(grades.max()))
    gain: Floats | Grades
    if grades is None or table is None:
        gain, table = _gains(relevance, judged, definition, negative_gain, shape), np.empty(0)
    else:
        gain = grades
    if codes is not None:
        gain, score = collected(gain, codes, lengths), collected(score, codes, lengths)
        if judged is not None:
            judged = collected(judged.view(np.uint8), codes, lengths).view(np.bool_)
    counted = judged if definition.unjudged == "omit" else None
    if weight is not None and len(shape) == 1:
        weight = weight if codes is None else collected(weight, codes, lengths)
        weight = query_weights(weight, starts, lengths, counted)
    if counted is not None:
        gain, score = gain[counted], score[counted]
        before = np.r_[0, np.cumsum(counted)]
        starts, lengths = before[starts], before[starts + lengths] - before[starts]
    if weight is not None and not weight.any():
        raise ValueError("sample_weight is 0 for every query: nothing is left to average over.")
    return Queries(gain, table, score, starts, lengths, weight, labels)


def numeric(values: Any, name: str) -> NDArray[Any]:
    """`values` as an array of bool, int or float, not copied where it is one already."""
    refuse_masked(values, name)
    array = np.ma.getdata(values) if np.ma.isMaskedArray(values) else values
    if type(array) is not np.ndarray or array.dtype.kind not in "biuf":
        try:
            array = _exact_integers(_on_host(array))
            array = check_array(
                array, ensure_2d=False, ensure_all_finite=False, ensure_min_samples=0,
                ensure_min_features=0, input_name=name,
            )  # fmt: skip
        except Exception as error:
            kind: type[Exception] = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(
                f"{name} must be an array of numbers, got {type(values).__name__}: {error}"
            ) from error
        if array.dtype.kind not in "biuf":
            raise TypeError(
                f"{name} must be an array of numbers, got {type(values).__name__} of dtype "
                f"{array.dtype}."
            )
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(
            f"{name} must be 1-D or 2-D and must not be empty, got shape {array.shape}."
        )
    if array.dtype.kind == "b":  # any byte but 0 is True, in a view of other bytes too
        array = array.view(np.uint8) != 0
    return array


def _on_host(values: Any) -> Any:
    """Arrays of the array API, on any device, as NumPy arrays; anything else as it is."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "detach"):  # a torch tensor, which may require grad
        values = values.detach()
    elif not hasattr(values, "__array_namespace__"):
        return values
    try:
        return np.from_dlpack(values, device="cpu")
    except (TypeError, BufferError, RuntimeError):  # NumPy before 2.1, or another device
        return np.asarray(values.cpu() if hasattr(values, "cpu") else values)


def _exact_integers(values: Any) -> Any:
    """Nullable and object integers as integers: check_array would make floats of them."""
    if isinstance(values, np.matrix):
        return values
    _refuse_text(values)
    array = np.asarray(values)
    if array.dtype.kind == "O" and array.ndim:
        cells = [_nan_if_missing(cell) for cell in array.ravel().tolist()]
        if any(isinstance(cell, str | bytes) for cell in cells):
            raise TypeError("it holds text.")
        try:
            narrow = np.array(cells)
        except ValueError:  # lists of several lengths: refused further up
            return array
        if narrow.dtype.kind not in "biuf" or narrow.shape != (array.size,):
            narrow = np.fromiter(cells, dtype=object, count=len(cells))
        return narrow.reshape(array.shape)
    return array if array.dtype.kind in "iu" else values


def _refuse_text(values: Any) -> None:
    """Raise for text before NumPy makes an array of it, as wide as the longest."""
    if hasattr(values, "columns"):
        return
    first = values
    for _ in range(3):  # rows of a matrix, their numbers
        if isinstance(first, list) and str in set(map(type, first)):
            first = next(each for each in first if isinstance(each, str))
        elif isinstance(first, list | tuple) or hasattr(first, "to_list"):
            first = next(iter(first), None)
    if isinstance(first, str | bytes):
        raise TypeError(f"it holds text, the first {first[:40]!r}.")


def _nan_if_missing(value: Any) -> Any:
    plain = isinstance(value, int | float)
    return np.nan if not plain and np.ndim(value) == 0 and _is_missing(value) else value


def group_rows(
    groups: ArrayLike | None, n_rows: int
) -> tuple[NDArray[Any], Ints, Ints, Ints | None]:
    """Labels in sorted order, each label's run of rows, and each row's label where needed.

    Rows that lie together already are left where they are (codes None); the runs of others are
    those that `_kernels.collected` makes.
    """
    if n_rows == 0:
        raise ValueError("There are 0 rows, and at least 1 is needed.")
    ids = _check_groups(groups, n_rows)
    labels = None
    if ids.dtype.kind == "O":
        labels, ids = _factorized(ids)
    ends = np.flatnonzero(ids[1:] != ids[:-1])
    # where hardly two rows lie together, each row is taken for a run of its own
    scattered = 2 * len(ends) > n_rows and bool((ids[1:] < ids[:-1]).any())
    starts = np.arange(n_rows) if scattered else np.concatenate(([0], ends + 1))
    lengths = np.ones_like(starts) if scattered else np.diff(starts, append=n_rows)
    heads = ids if scattered else ids[starts]
    text = heads.dtype.kind in "SU"
    if not text and (heads[1:] > heads[:-1]).all():
        return heads if labels is None else labels, starts, lengths, None
    found, code = _factorized(heads) if text else _unique(heads)
    labels = found if labels is None else labels
    if len(found) == len(starts):
        by_label = np.argsort(code)
        return labels, starts[by_label], lengths[by_label], None
    codes = code if scattered else np.repeat(code, lengths)
    lengths = np.bincount(codes, minlength=len(found))
    return labels, np.cumsum(lengths) - lengths, lengths, codes


def row_codes(groups: ArrayLike | None, n_rows: int) -> tuple[NDArray[Any], Ints, Ints]:
    """Labels in sorted order, the number of rows of each, and each row's place among them."""
    labels, starts, lengths, codes = group_rows(groups, n_rows)
    if codes is None:
        by_place = np.argsort(starts)
        codes = np.repeat(by_place, lengths[by_place])
    return labels, lengths, codes


def _check_shapes(relevance: NDArray[Any], score: NDArray[Any], groups: object) -> None:
    if relevance.shape != score.shape:
        hint = ""
        if relevance.shape == (len(score), 1):
            hint = " y_true is a column: pass y_true.ravel(), or the one column of the frame."
        elif score.shape == (len(relevance), 1):
            hint = " y_score is a column: pass y_score.ravel(), or the one column of the frame."
        elif relevance.ndim == 1 and score.ndim == 2 and score.shape[1] > 1:
            hint = (
                " One score a document is needed: for a classifier's probabilities that is "
                "predict_proba(X)[:, 1], or the expected gain, as make_ndcg_scorer has it."
            )
        raise ValueError(
            f"y_true and y_score must have the same shape, got {relevance.shape} and "
            f"{score.shape}.{hint}"
        )
    if relevance.ndim == 1:
        if groups is None:
            raise ValueError(
                "y_true is 1-D and groups is missing, so it is not known which documents compete "
                "with which. Pass groups= with one query id per row, or, if all rows are a single "
                "ranking, pass [y_true], [y_score]."
            )
    elif groups is not None:
        raise ValueError(
            f"groups goes with 1-D y_true and y_score, one id per row; y_true has shape "
            f"{relevance.shape}, where each row is a query already. Leave groups out, or ravel() "
            "both."
        )
    elif relevance.shape[1] == 1:
        raise ValueError(
            "Computing NDCG is only meaningful when there is more than 1 document. Got 1 instead. "
            "If the rows are documents, ravel() both and pass groups= with one query id per row."
        )


def _check_relevance(relevance: NDArray[Any], unjudged: str) -> NDArray[np.bool_] | None:
    """Where relevance is NaN, or None where it nowhere is."""
    low, high = relevance.min(), relevance.max()
    missing = None
    if np.isnan(low):
        missing = np.isnan(relevance)
        if unjudged == "raise":
            raise ValueError(
                f"y_true must not be NaN, found {where(missing, 'NaN')}. If these documents are "
                "unjudged, pass unjudged='zero' to count them as not relevant or unjudged='omit' "
                "to take them out of the ranking."
            )
    if missing is not None or np.isinf(low) or np.isinf(high):
        infinite = np.isinf(relevance)
        if infinite.any():
            raise ValueError(f"y_true must be finite, found {where(infinite, 'infinite')}.")
    return missing


def _check_scores(score: NDArray[Any]) -> None:
    if not score.max() < np.inf:
        wrong = np.isnan(score) | (score == np.inf)
        raise ValueError(
            f"y_score must be finite, or -inf for what was not retrieved; found "
            f"{where(wrong, 'NaN or +inf')}."
        )


def _as_float(score: NDArray[Any]) -> Floats:
    """Scores as float64 or float32, in the very same order and with the very same ties."""
    if score.dtype == np.float32:
        return score
    wide = score.dtype.itemsize > 8
    if not wide and score.dtype.kind in "iu" and score.dtype.itemsize == 8:
        wide = bool(score.max() > 2**53 or score.min() < -(2**53))
    if wide:  # float64 would tie what is not tied: the ranks of the distinct values do not
        _, places = np.unique(score, return_inverse=True)
        return np.where(score == -np.inf, -np.inf, places)
    return score.astype(np.float64, copy=False)


def _gains(
    relevance: NDArray[Any],
    judged: NDArray[np.bool_] | None,
    definition: Definition,
    negative_gain: bool,
    shape: tuple[int, ...],
) -> Floats:
    """Gain of each row, 0 where it is unjudged."""
    with np.errstate(over="ignore"):  # a long double may be too large: refused below
        grades = relevance.astype(np.float64, copy=False)
    if judged is None:
        gain = definition.gains(grades)
    else:
        gain = np.zeros(len(grades))
        if judged.any():
            gain[judged] = definition.gains(grades[judged])
    low, high = gain.min(), gain.max()
    if not (low > -np.inf and high < np.inf):
        wrong = ~np.isfinite(gain)
        raise ValueError(
            f"gain must be finite, but is not for {where(wrong.reshape(shape), 'document')}, "
            f"where y_true is {grades[wrong][0]}: a float64 ends at 2^1024."
        )
    if low < 0 and not negative_gain:
        wrong = gain < 0
        reason = (
            "ndcg_score should not be used on negative y_true values"
            if grades[wrong].min() < 0
            else "NDCG is not defined for negative gain"
        )
        raise ValueError(
            f"{reason}: gain is {gain[wrong][0]} where y_true is {grades[wrong][0]}, with "
            f"{where(wrong.reshape(shape), 'negative')}. Shift the grades, or pass a gain that "
            "clips them, for example gain=functools.partial(numpy.maximum, 0)."
        )
    return gain


def row_weights(sample_weight: ArrayLike, n: int) -> Floats:
    """`sample_weight` as checked floats, one for each of `n` rows."""
    weight = numeric(sample_weight, "sample_weight")
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight must have one weight for each of the {n} rows, got shape "
            f"{weight.shape}."
        )
    with np.errstate(over="ignore"):  # a long double may be too large
        weight = weight.astype(np.float64)
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        raise ValueError(
            f"sample_weight must be finite and >= 0, found {weight[wrong][0]}: "
            f"{where(wrong, 'such weight')}."
        )
    return weight / 2.0**64 if weight.max() > 2.0**960 else weight  # so that no sum overflows


def query_weights(
    weight: Floats, starts: Ints, lengths: Ints, counted: NDArray[np.bool_] | None = None
) -> Floats:
    """Each query's mean weight over its counted rows; over all of them where none is counted."""
    by_place = np.argsort(starts)  # the runs fill the rows without a gap

    def summed(rows: NDArray[Any]) -> Floats:
        sums = np.empty(len(starts))
        sums[by_place] = np.add.reduceat(rows, starts[by_place], dtype=np.float64)
        return sums

    mean = summed(weight) / lengths
    if counted is None:
        return mean
    left = summed(counted)
    return np.where(left > 0, summed(weight * counted) / np.maximum(left, 1), mean)


def _check_groups(groups: Any, n_rows: int) -> NDArray[Any]:
    refuse_masked(groups, "groups")
    if isinstance(groups, Sequence) and not isinstance(groups, str | bytes | range):
        # np.asarray would turn [1, "1", nan] into text
        ids = np.fromiter(groups, dtype=object, count=len(groups))
    else:
        try:
            groups = _on_host(groups)
            dtype: Any = getattr(groups, "dtype", None)
            # a time zone makes objects of dates, slowly, and changes nothing about their order
            naive = f"M8[{dtype.unit}]" if getattr(dtype, "tz", None) else None
            # np.asarray would make text of Polars as wide as the longest, without NULs at the end
            polars = type(groups).__module__.startswith("polars.")
            ids = groups.to_numpy() if polars else np.asarray(groups, dtype=naive)
            ids = ids.astype(object) if ids.dtype.kind == "T" else ids
        except Exception as error:
            raise TypeError(
                f"groups must be an array of ids, got {type(groups).__name__}: {error}"
            ) from error
    if ids.ndim != 1:
        raise ValueError(
            f"groups must be 1-D, one id per row, got {type(groups).__name__} of shape {ids.shape}."
        )
    if len(ids) != n_rows:
        raise ValueError(
            f"groups must have one id for each of the {n_rows} rows, got {len(ids)}."
            + _sizes_hint(ids, n_rows)
        )
    if ids.dtype.kind not in "biufmMOSU":
        raise TypeError(f"groups must be ids that can be sorted, got dtype {ids.dtype}.")
    if ids.dtype.kind in "fmM":
        missing = np.isnan(ids) if ids.dtype.kind == "f" else np.isnat(ids)
        if missing.any():
            raise ValueError(f"groups must not be missing, found {where(missing, 'missing id')}.")
    return ids


def _sizes_hint(ids: NDArray[Any], n_rows: int) -> str:
    try:
        sizes = ids.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return ""
    if sizes.sum() != n_rows or (sizes < 0).any():
        return ""
    return (
        f" These look like group sizes, as they add up to {n_rows}. Ids are made from sizes by "
        "groups = np.repeat(np.arange(len(sizes)), sizes)."
    )


def _factorized(ids: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Sorted labels and each row's place among them, for text and objects."""
    listed = ids.tolist()
    try:
        try:
            seen = dict.fromkeys(listed)
        except TypeError:  # arrays have no hash
            seen = {}
        if not seen or any(map(_holds_array, seen)):
            listed = [_what_it_holds(label) for label in listed]
            seen = dict.fromkeys(listed)
        seen = {label: code for code, label in enumerate(seen)}
        codes = np.fromiter(map(seen.__getitem__, listed), dtype=np.intp, count=len(listed))
    except TypeError as error:
        raise TypeError(f"groups must be ids that can be hashed and sorted: {error}") from error
    missing = np.array([_is_missing(label) for label in seen])
    if missing.any():
        raise ValueError(
            f"groups must not be missing, found {where(missing[codes], 'missing id')}."
        )
    for label in seen:
        _refuse_hash_of_identity(label)
    try:
        by_label = sorted(range(len(seen)), key=list(seen).__getitem__)
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in seen}))
        raise TypeError(
            f"groups must be ids of one type that can be sorted, found {kinds}: convert them, for "
            "example with [str(id) for id in groups]."
        ) from error
    place = np.empty(len(seen), dtype=np.intp)
    place[by_label] = np.arange(len(seen))
    labels = np.fromiter(seen, dtype=object, count=len(seen))[by_label]
    return labels, place[codes]


def _holds_array(label: Any) -> bool:
    if isinstance(label, tuple):
        return any(map(_holds_array, label))
    return hasattr(type(label), "__array__") and not isinstance(label, np.generic)


def _what_it_holds(label: Any) -> Any:
    """The value of a 0-d array or tensor, which may be equal to nothing but itself."""
    if isinstance(label, tuple):
        return tuple(map(_what_it_holds, label))
    if not _holds_array(label):
        return label
    array = np.asarray(_on_host(label))
    if array.ndim:
        raise TypeError(f"found an array of shape {array.shape} as an id.")
    return array[()]


def _refuse_hash_of_identity(label: Any) -> None:
    if isinstance(label, tuple):
        for part in label:
            _refuse_hash_of_identity(part)
    elif type(label).__hash__ is _IDENTITY:
        raise TypeError(
            f"groups must be ids that are equal where they mean the same query, but a "
            f"{type(label).__name__} is equal only to itself, and each row would be a query of its "
            "own. Pass what it stands for, a number or text."
        )


def _unique(ids: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """``np.unique(ids, return_inverse=True)``, by a table where integers lie close together."""
    if ids.dtype.kind not in "iu" or int(ids.max()) - int(ids.min()) > 2 * len(ids):
        return np.unique(ids, return_inverse=True)
    low = ids.min().astype(np.int64)
    place = ids.astype(np.int64, copy=False) - low  # wraps around and back for large uint64
    seen = np.zeros(place.max() + 1, dtype=bool)
    seen[place] = True
    found = (np.flatnonzero(seen) + low).astype(ids.dtype)
    return found, place if len(found) == len(seen) else (np.cumsum(seen) - 1)[place]


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    if isinstance(label, tuple):
        return any(_is_missing(part) for part in label)
    try:
        return bool(label != label)  # noqa: PLR0124  (nan and NaT)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True
