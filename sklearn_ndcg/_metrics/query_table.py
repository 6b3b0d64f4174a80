"""One query, rank by rank."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ndcg import _show
from sklearn_ndcg._checks import Cutoff, Floats, Mask, import_pandas
from sklearn_ndcg._kernels import numpy_kernels
from sklearn_ndcg._lists.ranked import scores_down
from sklearn_ndcg._lists.rows import Rows
from sklearn_ndcg._metrics.inputs import numeric
from sklearn_ndcg._metrics.measure import NDCG, ExplanationOptions
from sklearn_ndcg._metrics.rankings import (
    Rankings,
    queries_of,
    rankings_of,
    refuse_beside_lists,
)
from sklearn_ndcg._metrics.values import Queries, Values
from sklearn_ndcg._rows.containers import shape_of_rows
from sklearn_ndcg._rows.grouping import as_python
from sklearn_ndcg._rows.label_texts import label_text, shown, shown_labels
from sklearn_ndcg._rows.labels import refuse_reordered

_FORMATS: dict[str, str] = dict.fromkeys(("rank", "document", "tied"), "{}")
_FORMATS |= dict.fromkeys(("score", "relevance", "gain", "ideal"), "{:.6g}")


@dataclass(frozen=True, eq=False, repr=False)
class QueryExplanation:
    """The NDCG of one query, rank by rank: the result of `explain_query`.

    It prints as a table, and `plot` draws it; of more than 40 ranks the table has only the first
    and last 20.

    Attributes
    ----------
    query : Any
        The id of the query; for 2-D input the number of its row.

    metric : str
        What `ndcg` is, with its cutoff: "NDCG@10".

    k : int, None or "retrieved"
        The cutoff.

    ndcg : float
        The NDCG of the query at the cutoff, as in `ndcg_samples`.

    ranks : dict of ndarray of shape (n_ranks,)
        What is at each rank, down to the cutoff:

        - "document", its name or number, "score" (``-inf`` if it was not retrieved), "tied",
          whether another document has the same score, and "relevance" (nan if it is unjudged);
        - "gain" (the mean gain of the tied documents, if ties are averaged; 0 if the document was
          not retrieved), "discount", and "discounted_gain", their product;
        - "dcg", the sum of these products so far;
        - "ideal", the relevance at this rank of the best order, and "idcg", the DCG of this order
          so far (the ideal DCG);
        - "ndcg", the DCG divided by the ideal DCG.

    notes : list of str
        What is done about documents that are tied, unjudged or not retrieved, and about a query
        without a relevant document.

    See Also
    --------
    explain_query : Computes it.

    Examples
    --------
    >>> from sklearn_ndcg import QueryExplanation, explain_query
    >>> explanation: QueryExplanation = explain_query([[3, 2, 3, 0]], [[4, 3, 2, 1]])
    >>> explanation.ranks["idcg"].round(3)
    array([3.   , 4.893, 5.893, 5.893])
    """

    query: Any
    metric: str
    k: Cutoff
    ndcg: float
    ranks: dict[str, NDArray[Any]]
    notes: list[str]

    def __repr__(self) -> str:
        cells = {}
        for name, values in self.ranks.items():
            if name != "tied" or values.any():
                header = name.upper() if name.endswith("dcg") else name.replace("_", " ")
                cells[header] = list(map(_FORMATS.get(name, "{:.4f}").format, values))
        table = _show.text_table(cells, text=["document"], title=self._title())
        return "\n".join([table, *self.notes])

    def _title(self) -> str:
        return f"query {label_text(self.query)}: {self.metric} {self.ndcg:.4f}"

    def to_frame(self) -> Any:
        """Get the ranks as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            One row per rank, with the columns of `ranks`.
        """
        pandas = import_pandas()
        return pandas.DataFrame(self.ranks).set_index("rank")

    def plot(self, ax: Any = None, *, despine: bool = False) -> Any:
        """Draw what each rank adds to the DCG, beside what it adds in the best order.

        NDCG is the sum of the first bars, divided by the sum of the second. If there are many, pass
        `k` to `explain_query`.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None makes a new figure.

        despine : bool, default=False
            Whether to remove the top and right spines.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from sklearn_ndcg import explain_query
        >>> ax = explain_query([3, 2, 3, 0, 1, 2]).plot()
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['this order: DCG 6.8611', 'best order: DCG 7.1410']
        """
        rank, ax = self.ranks["rank"], _show.axes(ax)
        gains = {
            "this order": self.ranks["discounted_gain"],
            "best order": np.diff(self.ranks["idcg"], prepend=0),
        }
        for shift, (name, gain) in zip((-0.2, 0.2), gains.items(), strict=True):
            ax.bar(rank + shift, gain, 0.4, label=f"{name}: DCG {gain.sum():.4f}")
        ax.set_title(self._title())
        ax.set(xlabel="Rank", ylabel="Gain \N{MULTIPLICATION SIGN} discount")
        ax.locator_params(axis="x", integer=True)
        return _show.finish(ax, despine)


def explain_query(
    y_true: ArrayLike | Rows,
    y_score: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    query: Any = None,
    ids: ArrayLike | None = None,
    k: Cutoff = None,
    **options: Unpack[ExplanationOptions],
) -> QueryExplanation:
    """Explain the NDCG of one query, rank by rank.

    For each rank it shows the document, its relevance, gain and discount, the discounted cumulative
    gain (DCG) so far, the DCG of the best order so far (the ideal DCG or IDCG), and the NDCG.

    Parameters
    ----------
    y_true : array-like or Rows, shape (n_documents,) or (n_queries, n_documents)
        Relevance, as in `ndcg_score`. Rows of lists have their scores, queries and ids.

    y_score : array-like of the shape of `y_true`, default=None
        Predicted scores, as in `ndcg_score`. None if the documents are in ranked order already,
        the best first, such as the grades of a textbook's example.

    groups : array-like of shape (n_documents,) or str, default=None
        The query id of each row. See `ndcg_score`. Without ids, rows of shape (n_documents,) are
        one query.

    query : hashable, default=None
        The id of the query, or the text that shows it, such as "2024-01-31"; a tuple for several
        columns of ids, and the number of the row for 2-D input. None takes the only query.

    ids : array-like of the shape of `y_true`, or of shape (n_documents,), default=None
        The name of each document. If there are several queries in 2-D input, one name for each
        column will do. None takes the number of the row or column.

    k : int, None or "retrieved", default=None
        Cutoff: only the first `k` ranks count. See `ndcg_score`. It is the last rank that is shown.

    **options
        Further options of `ndcg_score`: `gain`, `discount`, `ties`, `ignore_ties`, `unjudged` and
        `undefined`; and `log_base` of `dcg_score`, which changes the DCG and not the NDCG.

    Returns
    -------
    QueryExplanation
        Prints as a table. See `QueryExplanation` for its attributes.

    Raises
    ------
    ValueError
        If `query` is not a query, or is None where there are several; if `ids` have another shape;
        or as in `ndcg_score`, for any of the queries.

    TypeError
        If an option is unknown, or as in `ndcg_score`.

    Warns
    -----
    UndefinedMetricWarning
        If the query has no relevant document and `undefined` is "warn".

    See Also
    --------
    ndcg_samples : The NDCG of each query.
    explain_difference : Why two conventions give different numbers.

    Examples
    --------
    Six documents with the grades 3, 2, 3, 0, 1 and 2, in the order in which they were ranked:

    >>> from sklearn_ndcg import explain_query
    >>> explain_query([3, 2, 3, 0, 1, 2], ids=list("ABCDEF"))
    query 0: NDCG 0.9608
    rank  document  score  relevance  gain  discount  discounted gain     DCG  ideal    IDCG    NDCG
       1  A             6          3     3    1.0000           3.0000  3.0000      3  3.0000  1.0000
       2  B             5          2     2    0.6309           1.2619  4.2619      3  4.8928  0.8710
       3  C             4          3     3    0.5000           1.5000  5.7619      2  5.8928  0.9778
       4  D             3          0     0    0.4307           0.0000  5.7619      2  6.7541  0.8531
       5  E             2          1     1    0.3869           0.3869  6.1487      1  7.1410  0.8610
       6  F             1          2     2    0.3562           0.7124  6.8611      0  7.1410  0.9608

    One query of several:

    >>> explain_query([1, 0, 2], [0.7, 0.5, 0.5], groups=["a", "b", "b"], query="b", k=1).notes
    ["Tied documents (ties='average'): 2"]
    """
    measure = NDCG.of(explain_query, k, options, ExplanationOptions)
    if not isinstance(y_true, Rows):
        y_score, groups = _scores_and_groups(y_true, y_score, groups)
    rankings = rankings_of(y_true, y_score, groups)
    measure, [queries] = queries_of([rankings], measure, check_ids=False)
    labels = as_python(rankings.grouping.labels)
    number = _number_of(query, labels)
    if isinstance(y_true, Rows):
        refuse_beside_lists(ids=ids)
        [ranker] = y_true._ranked.values()
        names = ranker.row_ids[rankings.rows_of_query(number)]
    else:
        names = _names(ids, y_true, rankings.shape)[rankings.rows_of_query(number)]
    documents = _Documents.of(rankings, measure, number, names)
    if isinstance(y_true, Rows):
        is_retrieved = documents.is_retrieved
        scores = scores_down(np.array([is_retrieved.size]), is_retrieved)
        documents = documents._replace(score=scores)
    this = np.array([number])
    values = measure.values(queries).take(this).report_undefined()
    value = float(values.filled()[0])
    # as many discounts as for all queries, as those of a callable may depend on their number
    discount = measure.discounts(int(queries.cutoffs(measure.k)[-1]))
    return QueryExplanation(
        query=labels[number],
        metric=measure.label(),
        k=measure.k,
        ndcg=value,
        ranks=_ranks(documents, measure, queries.take(this), discount),
        notes=_notes(documents, measure, value),
    )


def _ranks(
    documents: _Documents, measure: NDCG, query: Queries, discount: Floats
) -> dict[str, NDArray[Any]]:
    """What is at each rank of a query, down to the cutoff."""
    n, cutoff = len(documents.score), measure.k
    if cutoff == "retrieved":
        n = int(np.count_nonzero(documents.is_retrieved))
    elif cutoff is not None:
        n = min(cutoff, n)
    ends = np.arange(1, max(n, 1) + 1)
    dcg, ideal = (sums.ravel() for sums in measure.dcg_and_ideal(query, ends, discount))
    ndcg = Values(measure.ratio(dcg, ideal), query.weight, measure.undefined_rule).filled()
    ranks = {
        "rank": ends,
        "document": documents.name,
        "score": documents.score,
        "tied": documents.tied,
        "relevance": documents.relevance,
        "gain": documents.gain,
        "discount": discount,
        "discounted_gain": documents.gain[:n] * discount[:n],
        "dcg": dcg,
        "ideal": documents.best_relevance,
        "idcg": ideal,
        "ndcg": ndcg,
    }
    return {name: values[:n] for name, values in ranks.items()}


def _notes(documents: _Documents, measure: NDCG, value: float) -> list[str]:
    """What is done about documents that are tied, unjudged or not retrieved, or not relevant."""
    ties = "ignore_ties=True" if measure.ignore_ties else f"ties={measure.ties!r}"
    n_tied, n_unjudged = np.count_nonzero(documents.tied), documents.n_unjudged
    n_missing = np.count_nonzero(~documents.is_retrieved)
    undefined = f"No relevant document (undefined={measure.undefined!r}): {value}"
    notes = {
        f"Tied documents ({ties}): {n_tied}": n_tied > 0,
        f"Unjudged documents (unjudged={measure.unjudged!r}): {n_unjudged}": n_unjudged > 0,
        f"Not retrieved (score -inf), only in the ideal: {n_missing}": n_missing > 0,
        undefined: not documents.has_relevant,
    }
    return [note for note, holds in notes.items() if holds]


def _scores_and_groups(y_true: ArrayLike, y_score: ArrayLike | None, groups: Any) -> Any:
    """Scores, by default in the order of the rows, and ids, by default of a single query."""
    shape = numeric(y_true, "y_true").shape
    if groups is not None:
        shape = shape_of_rows(shape)
    elif len(shape) == 1:
        groups = np.zeros(shape, dtype=np.intp)
    if y_score is None:
        y_score = np.broadcast_to(np.arange(shape[-1], 0, -1), shape)
    return y_score, groups


class _Documents(NamedTuple):
    """The documents of one query, best first; `gain` is what counts at each rank."""

    name: NDArray[Any]
    score: Floats
    relevance: Floats
    gain: Floats
    tied: Mask
    best_relevance: Floats  # in the ideal order
    n_unjudged: int
    has_relevant: bool

    @property
    def is_retrieved(self) -> Mask:
        """Which documents were retrieved."""
        return np.asarray(self.score > -np.inf)

    @classmethod
    def of(cls, rankings: Rankings, measure: NDCG, number: int, names: NDArray[Any]) -> _Documents:
        """The documents, which have these names, of the query with this number."""
        rows = rankings.rows_of_query(number)
        judged = True if rankings.judged is None else rankings.judged[rows]
        unjudged = np.broadcast_to(np.logical_not(judged), rows.shape)
        if measure.unjudged == "omit":
            rows, names = rows[~unjudged], names[~unjudged]
        relevance = rankings.relevance[rows].astype(np.float64)
        score, gain = rankings.score[rows], rankings.gains(measure)[rows]
        order, counted = numpy_kernels.rank_query(gain, score, measure.tie_rule)
        best = np.lexsort((np.isnan(relevance), -gain))
        score = score[order]
        _, tie, size = np.unique(score, return_inverse=True, return_counts=True)
        return cls(
            name=names[order],
            score=score,
            relevance=relevance[order],
            gain=counted,
            tied=(score > -np.inf) & (size[tie] > 1),
            best_relevance=relevance[best],
            n_unjudged=int(np.count_nonzero(unjudged)),
            has_relevant=bool((gain > 0).any()),
        )


def _number_of(query: Any, labels: list[Any]) -> int:
    """The number of the query with this id, or of the only one."""
    if query is None and len(labels) == 1:
        return 0
    with suppress(ValueError):
        return labels.index(query)
    with suppress(ValueError):  # dates of several libraries show alike
        return [*map(shown, labels)].index(shown(query).strip("'"))
    what = "is missing" if query is None else f"{shown_labels([query])} is not among the ids"
    listed = f"{len(labels)} ids, {shown_labels(labels)}"
    raise ValueError(f"query {what}: pass query= one of the {listed}.")


def _names(ids: Any, y_true: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """The names of all documents, row by row."""
    refuse_reordered(y_true=y_true, ids=ids)
    names = np.arange(shape[-1]) if ids is None else np.asarray(ids, dtype=object)
    if names.shape not in (shape, shape[-1:]):
        expected = f"{shape}, or one name for each of its columns"
        got = f"the text {ids!r}: pass a list" if isinstance(ids, str) else names.shape
        raise ValueError(f"ids must have the shape of y_true, {expected}, got {got}.")
    return np.broadcast_to(names, shape).ravel()
