"""Whether truths and lists name the same queries and documents by their ids.

Ids that never match give an NDCG of 0, which looks like a bad ranker. `check` compares ids once the
lists are read: a few of them where documents met, so that it takes no time, and all of them where
none met, or where some of the few differ only in how they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from itertools import chain, islice
from numbers import Number
from typing import NamedTuple

import numpy as np

from sklearn_ndcg import _checks
from sklearn_ndcg._checks import Ints
from sklearn_ndcg._lists.reading import PAIRS_HINT, ByQuery, Id, split_text, text_hint
from sklearn_ndcg._rows import containers
from sklearn_ndcg._rows.grouping import starts_of
from sklearn_ndcg._rows.label_texts import shown_labels

_ENOUGH = 10  # queries without a hit that say something about the ids
_N_QUERIES, _N_IDS = 100, 1_000  # how many queries and ids of each side a sample has
_FRACTIONS_HINT = (
    "Are they scores? Pass relevance and scores to ndcg_score(y_true, y_score), those of one query "
    "to ndcg_score([y_true], [y_score])."
)
_LEVELS_HINT = (
    " A Series of grades that is indexed by query and id becomes {query: "
    "grades.droplevel(0).to_dict() for query, grades in series.groupby(level=0)}."
)

Pairs = list[tuple[Id, Id]]  # an id of the truth, and one of a list


class FlatIds(NamedTuple):
    """The ids of all queries in one list, and how many each query has."""

    ids: list[Id]
    lengths: Ints

    def sample(self) -> dict[Id, None]:
        """All ids if there are few, or the first ids of some queries: the same for each side."""
        if len(self.ids) <= _N_IDS:
            return dict.fromkeys(self.ids)
        step = max(1, -(-len(self.lengths) // _N_QUERIES))
        starts = starts_of(self.lengths)[::step].tolist()
        lengths = np.minimum(self.lengths[::step], _N_IDS // max(1, len(starts))).tolist()
        parts = (self.ids[i : i + n] for i, n in zip(starts, lengths, strict=True))
        return dict.fromkeys(chain.from_iterable(parts))


def check(
    truths: ByQuery,
    lists: Mapping[Hashable, ByQuery],
    judged: FlatIds,
    listed: Mapping[Hashable, FlatIds],
    n_hits: Mapping[Hashable, int],
    is_asked_all: bool,
) -> None:
    """Warn, or raise, if the ids of truths and lists do not seem to mean the same things.

    `truths`, and the `lists` of each ranker, are as they came in. `judged` and `listed` are the ids
    that were read, of the same queries in the same order, and `n_hits` says how many of the judged
    documents each ranker returned. `is_asked_all` says whether a ranker should have answered all
    queries.
    """
    _refuse_texts(truths, lists)
    about_queries: dict[Hashable, str] = {}
    about_documents: dict[Hashable, str] = {}
    for name, by_query in lists.items():
        if not n_hits[name]:
            with _checks.naming_ranker(name, lists):
                _refuse_unlike_types(truths, by_query, judged.ids)
        if said := _of_queries(truths, by_query, is_only=len(lists) == 1):
            about_queries[name] = said
        ids = judged, listed[name]
        if said := _of_documents(truths, by_query, *ids, n_hits[name]):
            about_documents[name] = said
    for messages in (about_queries, about_documents):
        if messages:
            of = f"Of {shown_labels(list(messages))}: " if len(lists) > 1 else ""
            _checks.warn(of + next(iter(messages.values())))
    if is_asked_all and len(lists) == 1 and any(n_hits.values()) and not about_queries:
        _warn_of_unanswered(truths, *lists.values())


def _refuse_unlike_types(truths: ByQuery, lists: ByQuery, judged: Iterable[Id]) -> None:
    """Raise if truths and lists have nothing in common because their ids have different types."""
    listed = chain.from_iterable(map(_ids, lists.values()))
    for what, *sides in (("queries", truths, lists), ("documents", judged, listed)):
        expected, returned = (set(map(_kind, ids)) for ids in sides)
        if expected and returned and not expected & returned:
            way = "Convert one of them."
            if what == "documents" and returned == {"tuple"}:
                way = PAIRS_HINT
            elif what == "queries" and expected == {"tuple"}:
                way += _LEVELS_HINT
            raise TypeError(
                f"The {what} in relevant are of type {', '.join(sorted(expected))}, those in "
                f"recommended of type {', '.join(sorted(returned))}, and none is in both. {way}"
            )


def _kind(label: object) -> str:
    return "number" if isinstance(label, Number) else type(label).__name__.removesuffix("_")


def _of_queries(truths: ByQuery, lists: ByQuery, *, is_only: bool) -> str:
    """What is wrong with the ids of queries, or nothing."""
    if not truths or not lists or truths.keys() == lists.keys():
        return ""
    if pairs := _written_otherwise(truths, lists):
        n_lone = sum(query not in lists for query in truths)
        which = f"{len(pairs)} of the {n_lone} judged queries that have no list seem to have one"
        return f"{which} {_of_pair(*pairs[0])}"
    if is_only and truths.keys().isdisjoint(lists):  # comparisons have a warning of their own
        query, other = (shown_labels([next(iter(side))]) for side in (truths, lists))
        return (
            f"No query has both a truth and a list: truths are of {query}, for example, and lists "
            f"of {other}. Use the same query ids in both."
        )
    return ""


def _of_documents(
    truths: ByQuery,
    lists: ByQuery,
    judged: FlatIds,
    listed: FlatIds,
    n_hits: int,
) -> str:
    """What is wrong with the ids of documents, or nothing."""
    if n_hits == len(judged.ids):
        return ""
    if n_hits and not _may_differ_in_writing(judged.sample(), listed.sample()):
        return ""
    expected, returned = _every_id(truths, judged), _every_id(lists, listed)
    if pairs := _written_otherwise(expected, returned):
        n_lone = sum(document not in returned for document in expected)
        which = (
            f"{len(pairs)} of the {n_lone} judged documents that are in no list seem to be in one"
        )
        return f"{which} {_of_pair(*pairs[0])}"
    if n_hits or not returned or not expected.keys().isdisjoint(returned):
        return ""
    sides = {"recommended": returned, "relevant": expected}
    fractions = {name: list(filter(_is_fraction, ids)) for name, ids in sides.items()}
    scores = {name: ids for name, ids in fractions.items() if ids}
    if len(scores) == 1:  # ids of both sides may be fractions
        [(name, (first, *others))] = scores.items()
        if others and 2 * len(scores[name]) > len(sides[name]):
            return f"{name} has fractions as ids, such as {first}. {_FRACTIONS_HINT}"
    pair = _extended(expected, returned)
    n_both = np.count_nonzero((judged.lengths > 0) & (listed.lengths > 0))
    if pair is None and n_both < _ENOUGH:
        return ""
    document, other = map(_shown, pair or (next(iter(expected)), next(iter(returned))))
    return (
        f"No document in the lists is in any truth, in {n_both} quer{'y' if n_both == 1 else 'ies'}"
        f": a truth has {document}, for example, and a list {other}. Use the same ids in both."
    )


def _of_pair(truth: Id, listed: Id) -> str:
    return (
        f"with an id that is written otherwise: {_shown(truth)} in the truth, {_shown(listed)} in "
        "the lists. Write ids the same way in both."
    )


def _shown(label: Id) -> str:
    return shown_labels([label])


def _every_id(by_query: ByQuery, read: FlatIds) -> dict[Id, None]:
    """All ids of lists or truths, also those that were not read."""
    try:
        return dict.fromkeys(chain.from_iterable(map(_ids, by_query.values())))
    except TypeError:  # nobody checked what was not read
        return dict.fromkeys(read.ids)


def _ids(values: object) -> Iterable[Id]:
    """The ids of a list or a truth."""
    ids = containers.as_list(values)
    ids = ids.tolist() if hasattr(ids, "tolist") else ids
    return ids if isinstance(ids, Iterable) and not isinstance(ids, str | bytes) else (ids,)


# --- ids that differ only in how they are written


def _plain(text: str) -> str:
    """A text without blanks around it, leading zeros or the ".0" of a float."""
    return text.strip().removesuffix(".0").lstrip("0")


def _plain_in_any_case(text: str) -> str:
    return _plain(text).casefold()


def _may_differ_in_writing(truth: Collection[Id], listed: Collection[Id]) -> bool:
    """Whether some ids of two samples differ only in how they are written."""
    expected, returned = _texts(truth), _texts(listed)
    text = "\n".join(["", *expected, *returned, ""])
    is_plain = not any(mark in text for mark in ("\n0", "\n ", "\n\t", " \n", "\t\n", ".0\n"))
    if is_plain and text in (text.lower(), text.upper()):  # faster than the form of each id
        return False
    forms = {_plain_in_any_case(i) for i in returned if i not in truth}
    return any(_plain_in_any_case(i) in forms for i in expected if i not in listed)


def _written_otherwise(truth: Collection[Id], listed: Collection[Id]) -> Pairs:
    """Ids that differ only in how they are written, if half of those that are in no list do."""
    sides = _texts(truth), _texts(listed)
    lone = [i for i in sides[0] if i not in listed]
    others = [i for i in sides[1] if i not in truth]
    for form in (_plain, _plain_in_any_case):
        if pairs := _pairs(lone, others, form):
            if form is _plain_in_any_case and any(map(_differ_in_case, sides)):
                return []
            # "1" and "01" of one side are two ids
            counts = [Counter(map(form, ids)) for ids in sides]
            pairs = [pair for pair in pairs if all(n[form(pair[0])] == 1 for n in counts)]
            if pairs and 2 * len(pairs) >= len(lone):
                return pairs
    return []


def _pairs(lone: Iterable[str], others: Iterable[str], form: Callable[[str], str]) -> Pairs:
    by_form = {form(i): i for i in others}
    return [(i, by_form[plain]) for i in lone if (plain := form(i)) in by_form]


def _differ_in_case(ids: list[str]) -> bool:
    """Whether two ids of one side differ in case alone."""
    return len(set(map(str.casefold, ids))) < len(ids)


# --- ids of which one is the other with a prefix or a suffix, and fractions


def _extended(truth: Iterable[Id], listed: Iterable[Id]) -> tuple[Id, Id] | None:
    """An id of each side, of which one is the other and more, set off by a sign: "a#1" and "a"."""
    expected, returned = _texts(truth, _N_IDS), _texts(listed, _N_IDS)
    # one truth with a suffix says little: chunks are mostly listed, and judged as documents
    if pair := _with_affix(expected, set(returned), 1 if len(returned) == 1 else 2):
        return pair
    pair = _with_affix(returned, set(expected), 1)
    return pair and pair[::-1]


def _with_affix(ids: list[str], bases: set[str], least: int) -> tuple[str, str] | None:
    """An id that is a base with a prefix or a suffix, and its base, if all ids look like that.

    All of them have the sign, and no base has it, or they have the same prefix or suffix. So
    "Alien: Resurrection" among other titles is a title. A suffix needs at least so many ids.
    """
    signs = set.intersection(*map(set, ids)) if ids and bases else set()
    signs = {sign for sign in signs if not sign.isalnum() and not sign.isspace()}
    in_bases = signs.intersection(chain.from_iterable(bases))
    for i in ids:
        for at in [at for at, sign in enumerate(i) if sign in signs]:
            is_only, suffix, prefix = i[at] not in in_bases, i[at:], i[: at + 1]
            has_suffix = len(ids) >= least and (is_only or _all_have(ids, suffix, str.endswith))
            if has_suffix and i[:at] in bases:
                return i, i[:at]
            if (is_only or _all_have(ids, prefix, str.startswith)) and i[at + 1 :] in bases:
                return i, i[at + 1 :]
    return None


def _all_have(ids: list[str], affix: str, has: Callable[[str, str], bool]) -> bool:
    return len(ids) > 1 and all(has(i, affix) for i in ids)


def _is_fraction(label: Id) -> bool:
    return isinstance(label, float | np.floating) and float(label) % 1 != 0


# --- one text that holds several ids


def _refuse_texts(truths: ByQuery, lists: Mapping[Hashable, ByQuery]) -> None:
    """Raise if a truth is one text that holds several ids.

    It is in no list, but its parts are. As titles may consist of titles, a text in brackets says so
    alone, and one with "," or "|" if two of its parts are in lists. Others say so if most of the
    texts that are in no list do, and a tenth of all.
    """
    if not any(issubclass(kind, str) for kind in set(map(type, truths.values()))):
        return
    texts = {query: truth for query, truth in truths.items() if isinstance(truth, str)}
    candidates = [query for query, text in texts.items() if not text.isalnum()]
    if not candidates:
        return
    some = _some(candidates)
    nearby: set[Id] = set()
    for by_query in lists.values():
        for query in [*some, *_some(list(by_query))]:
            nearby.update(_texts(_ids(by_query.get(query, ())), _N_IDS // _N_QUERIES * 2))
    if not any(_holds_ids(texts[query], nearby) for query in some):
        return
    listed: set[Id] = set()
    for by_query in lists.values():
        listed.update(_texts(chain.from_iterable(map(_ids, by_query.values()))))
    n_weak, weak = 0, None
    for query in candidates:
        evidence = _holds_ids(texts[query], listed)
        if evidence == "strong":
            raise _text_error(query, texts[query])
        if evidence:
            n_weak, weak = n_weak + 1, query if weak is None else weak
    n_lone = sum(text not in listed for text in texts.values())
    if 2 * n_weak > n_lone and 10 * n_weak >= len(truths):
        raise _text_error(weak, texts[weak])


def _some(queries: list[Id]) -> list[Id]:
    """Some of the queries, at equal distances."""
    return queries[:: -(-len(queries) // _N_QUERIES) or 1]


def _texts(ids: Iterable[Id], most: int | None = None) -> list[str]:
    return [i for i in islice(ids, most) if isinstance(i, str)]


def _holds_ids(text: str, listed: Collection[Id]) -> str:
    """Whether the parts of a text that is in no list are in lists: "strong", "weak" or nothing."""
    if text in listed:
        return ""
    parts, _ = split_text(text)
    n_listed = sum(part in listed for part in parts)
    if not n_listed:
        return ""
    if text.strip()[0] in "[({" and text.strip()[-1] in "])}":
        return "strong"
    is_separated = any(sign in text for sign in ",|")
    if n_listed > 1:
        return "strong" if is_separated else "weak"
    # one part alone: "12 13" or "a,b", but neither "Big Fish" nor "Paris, Texas"
    are_codes = all(any(map(str.isdigit, part)) for part in parts)
    return "weak" if are_codes or (is_separated and " " not in text) else ""


def _text_error(query: Id, text: str) -> ValueError:
    return ValueError(
        f"relevant has the text {text!r} in query {_shown(query)}, which is in no list, while its "
        f"parts are: {text_hint(text)}."
    )


def _warn_of_unanswered(truths: ByQuery, run: ByQuery) -> None:
    """Warn if a run lacks more than half of the judged queries."""
    n_missing = sum(query not in run for query in truths)
    if 2 * n_missing > len(truths):
        _checks.warn(
            f"The run has documents for {len(truths) - n_missing} of the {len(truths)} judged "
            "queries; the others count as 0, as with trec_eval's -c. If it was not asked all of "
            "them, pass unanswered='omit'."
        )
