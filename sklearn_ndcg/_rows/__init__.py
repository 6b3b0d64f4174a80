"""Which rows are one query: ids of any kind, columns of any table."""

from sklearn_ndcg._rows.columns import (
    column_names,
    columns_among,
    count_rows,
    lacks_columns,
    query_ids,
    take_rows,
    with_zeros,
    without_columns,
)
from sklearn_ndcg._rows.grouping import (
    Grouping,
    codes_of_runs,
    shown_labels,
    warn_of_single_documents,
)
from sklearn_ndcg._rows.ids import first_rows

__all__ = [
    "Grouping",
    "codes_of_runs",
    "column_names",
    "columns_among",
    "count_rows",
    "first_rows",
    "lacks_columns",
    "query_ids",
    "shown_labels",
    "take_rows",
    "warn_of_single_documents",
    "with_zeros",
    "without_columns",
]
