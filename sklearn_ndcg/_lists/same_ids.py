"""Whether truths and lists name the same documents by their ids.

Ids that never match give an NDCG of 0, which looks like a bad ranker. Nothing is compared if a
document of a list is in the truth of its query.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Hashable, Iterable, Mapping
from itertools import chain
from numbers import Number

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._lists.ranked import Ranked
from sklearn_ndcg._lists.reading import PAIRS_HINT, ByQuery, Id
from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.label_texts import cut, shown_labels

_ENOUGH = 10  # queries without a hit, as a random ranker of fewer has none either
_PAIR, _OBJECT = "(id, float)", "object "  # kinds of ids that are equal to no other
_OBJECTS_HINT = (
    "Objects that are only equal to themselves are not ids: pass [document.id for document in "
    "documents], id being an attribute."
)
_LEVELS_HINT = (
    "A Series of grades that is indexed by query and id becomes {query: "
    "grades.droplevel(0).to_dict() for query, grades in series.groupby(level=0)}."
)


def check_matches(
    truths: ByQuery, lists: Mapping[Hashable, ByQuery], read: Mapping[Hashable, Ranked]
) -> None:
    """Warn, or raise, if no document of a ranker is in any truth.

    `truths`, and the `lists` of each ranker, are as they came in, and `read` is what was read.
    """
    strangers = {}
    for name, ranker in read.items():
        if ranker.is_listed.any():
            continue
        expected = _every_id(truths, ranker.truth_ids)
        returned = _every_id(lists[name], ranker.ids)
        with _checks.naming_ranker(name, lists):
            if truths.keys().isdisjoint(lists[name]):
                _refuse_types("queries", truths, lists[name])
            if not expected.keys().isdisjoint(returned):
                continue
            _refuse_types("documents", expected, returned)
        n_both = np.count_nonzero((ranker.truth_lengths > 0) & (ranker.lengths > 0))
        if n_both >= _ENOUGH:
            strangers[name] = n_both, next(iter(expected)), next(iter(returned))
    if strangers:
        of = f"Of {shown_labels(list(strangers))}: " if len(lists) > 1 else ""
        n_both, document, other = next(iter(strangers.values()))
        document, other = _shown_apart(document, other)
        _checks.warn(
            f"{of}No document in the lists is in any truth, in {n_both} queries: a truth has "
            f"{document}, for example, and a list {other}. Use the same ids in both."
        )


def _every_id(by_query: ByQuery, read: Iterable[Id]) -> dict[Id, None]:
    """All ids of lists or truths, also those that were not read."""
    try:
        return dict.fromkeys(chain.from_iterable(map(_ids, by_query.values())))
    except TypeError:  # nobody checked what was not read
        return dict.fromkeys(read)


def _ids(values: object) -> Iterable[Id]:
    """The ids of a list or a truth."""
    ids = containers.as_list(values)
    ids = ids.tolist() if hasattr(ids, "tolist") else ids
    return ids if isinstance(ids, Iterable) and not isinstance(ids, str | bytes) else (ids,)


def _refuse_types(what: str, truth: Collection[Id], listed: Collection[Id]) -> None:
    """Raise if the ids of two sides can have nothing in common because of their types."""
    expected, returned = (set(map(_kind, ids)) for ids in (truth, listed))
    every = expected | returned
    are_unequal = expected.isdisjoint(returned) or {_PAIR} in (expected, returned)
    has_objects = any(kind.startswith(_OBJECT) for kind in every)
    if not expected or not returned or not (are_unequal or has_objects):
        return
    way = "Convert one of them."
    if has_objects:
        way = _OBJECTS_HINT
    elif _PAIR in every or (what == "documents" and returned == {"tuple"}):
        way = PAIRS_HINT
    elif what == "queries" and expected == {"tuple"}:
        way = f"{way} {_LEVELS_HINT}"
    raise TypeError(
        f"The {what} in relevant are of type {', '.join(sorted(expected))}, those in "
        f"recommended of type {', '.join(sorted(returned))}, and none is in both. {way}"
    )


def _kind(label: object) -> str:
    if isinstance(label, Number):
        return "number"
    if isinstance(label, tuple) and len(label) == 2 and isinstance(label[1], float | np.floating):
        return _PAIR
    is_object = type(label).__hash__ is object.__hash__
    return _OBJECT * is_object + type(label).__name__.removesuffix("_")


def _shown_apart(one: Id, other: Id) -> list[str]:
    """Two ids as text, which do not look alike."""
    shown = [shown_labels([label]) for label in (one, other)]
    first, second = (unicodedata.normalize("NFKC", text) for text in shown)
    return [cut(text) for text in (map(ascii, (one, other)) if first == second else shown)]
