"""Whose NDCG is this? What each library does, found by running it beside `ndcg_score`.

``python tests/tools/whose_ndcg.py`` rewrites the tables of docs/whose_ndcg.md. Rows of libraries
that are not installed stay as they are: see CONTRIBUTING.md for how to install them all.
"""

import contextlib
import io
import itertools
import re
import warnings
from functools import cache
from importlib.metadata import packages_distributions, version
from typing import NamedTuple

import numpy as np
import pages
from peers import PEERS, as_given, in_single_precision, last_first

from sklearn_ndcg import ndcg_samples

PAGE = pages.DOCS / "whose_ndcg.md"
COLUMNS = ["gain", "ties", "undefined", "scores", "example"]

# The example: a tie, a query without a relevant document, two scores that are one in float32.
GRADES = np.array([3, 0, 2, 1, 0, 0, 0, 0, 0, 1, 0, 2])
SCORES = np.array([0.9, 0.9, 0.4, 0.3, 0.1, 0.5, 0.2, 0.1, 1.0, 1.0 + 1e-9, 0.5, 0.2])
QUERIES = np.repeat([0, 1, 2], [5, 3, 4])
K = 3

installed = [peer for peer in PEERS if peer.installed]
# What a library may do, in the words of ndcg_score, the usual first.
GAINS = ["linear", "exponential"]
DISCOUNTS = ["log", "reciprocal"]
TIES = {rule: (rule, as_given) for rule in ("average", "stable", "worst", "best")}
TIES["by id, descending"] = ("stable", last_first)
UNDEFINED = {"0": 0.0, "1": 1.0, "left out": "omit"}
PRECISIONS = {"float64": as_given, "float32": in_single_precision}

# Data that tell them apart: relevance, scores. The first query has a value of its own, so that a
# mean shows what became of the second.
FIRST = ([0, 1, 3], [3.0, 2.0, 1.0])
SECOND = {
    "gain and discount": ([1, 0, 4, 2, 3], [5.0, 4.0, 3.0, 2.0, 1.0]),
    "ties": ([1, 0, 2, 0], [1.0, 1.0, 1.0, 1.0]),
    "ties, reversed": ([0, 2, 0, 1], [1.0, 1.0, 1.0, 1.0]),
    "undefined": ([0, 0], [2.0, 1.0]),
    "near ties": ([0, 1], [1.0, 1.0 + 1e-9]),
    "near ties, reversed": ([1, 0], [1.0 + 1e-9, 1.0]),
}


def rows(*queries):
    """y_true, y_score and groups of queries, each given as (relevance, scores)."""
    y_true = np.concatenate([relevance for relevance, _ in queries])
    y_score = np.concatenate([scores for _, scores in queries])
    lengths = [len(relevance) for relevance, _ in queries]
    return y_true, y_score, np.repeat(np.arange(len(queries)), lengths)


def mean(peer, *data, k=None):
    """The number that the library prints."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(np.mean(peer.value(*data, k=k)))


class Choices(NamedTuple):
    """What a library does, in the words of the page."""

    gain: str
    discount: str
    ties: str
    undefined: str
    scores: str


def ours(data, choices):
    """The mean that `ndcg_samples` gives with these choices."""
    rule, order = TIES[choices.ties]
    y_true, y_score, groups = PRECISIONS[choices.scores](*order(*data))
    values = ndcg_samples(
        y_true,
        y_score,
        groups=groups,
        gain=choices.gain,
        discount=choices.discount,
        ties=rule,
        undefined=UNDEFINED[choices.undefined],
    )
    return np.nanmean(values)


@cache
def our_numbers():
    """The numbers of each combination of choices for the data that tell them apart."""
    data = {name: rows(FIRST, second) for name, second in SECOND.items()}
    combined = itertools.starmap(
        Choices, itertools.product(GAINS, DISCOUNTS, TIES, UNDEFINED, PRECISIONS)
    )
    return {
        choices: {name: ours(queries, choices) for name, queries in data.items()}
        for choices in combined
    }


def explain(peer):
    """The choices that give all of a library's numbers."""
    theirs = {name: mean(peer, *rows(FIRST, second)) for name, second in SECOND.items()}
    for choices, numbers in our_numbers().items():
        if all(abs(theirs[name] - numbers[name]) < 1e-6 for name in SECOND):
            return choices
    raise ValueError(f"no choices give the numbers of {label(peer)}: {theirs}")


def shown(number):
    return f"{number:.4f}".rstrip("0").rstrip(".")


def row(peer):
    """The cells of a library's row, in the order of COLUMNS."""
    choices = explain(peer)  # the text of the page says the discount
    example = shown(mean(peer, GRADES, SCORES, QUERIES, k=K))
    return [choices.gain, choices.ties, choices.undefined, choices.scores, example]


def label(peer):
    names = peer.call.split(", ")  # a line may end between two
    return f"{peer.library} {', '.join(f'`{name}`' for name in names)}"


def found_rows(page):
    """The cells of each library's row on a page, by its label."""
    return {library: cells for _, library, *cells in pages.rows(page, "whose ndcg")}


def example_rows():
    """The example's data, one query per line."""
    for query in np.unique(QUERIES):
        members = query == QUERIES
        scores = ", ".join(repr(score) for score in SCORES[members].tolist())
        yield [str(query), ", ".join(map(str, GRADES[members])), scores]


def versions(page):
    """Each library with the version that was run, those not installed as the page has them."""
    found = dict(re.findall(r"(\S+) (\d[\w.]*)", page))
    distributions = packages_distributions()
    for peer in installed:
        found[peer.library] = version(distributions[peer.library][0])
    return ", ".join(f"{name} {found[name]}" for name in dict.fromkeys(p.library for p in PEERS))


def updated(page):
    """The page of docs/ with the rows of the libraries that are installed."""
    cells = found_rows(page)
    for peer in installed:
        cells[label(peer)] = row(peer)
    named = [[f"`{peer.convention}`", label(peer), *cells[label(peer)]] for peer in PEERS]
    example = pages.table(["query", "relevance", "scores"], example_rows())
    page = pages.write(page, "example", example)
    named = pages.table(["name", "library", *COLUMNS], named)
    page = pages.write(page, "whose ndcg", named)
    old = re.search(r"<!-- versions -->(.*?)<!--", page, flags=re.DOTALL)[1]
    return pages.write(page, "versions", versions(old))


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
