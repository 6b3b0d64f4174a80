"""Which rows belong to one query: ids of any kind, columns of any table."""

from sklearn_ndcg._rows.columns import (
    column_names,
    count_rows,
    group_columns,
    insert_zeros,
    lacking,
    order_values,
    query_ids,
    take_rows,
    without_columns,
)
from sklearn_ndcg._rows.grouping import (
    Grouping,
    as_python,
    codes_of_runs,
    shown_labels,
    warn_of_single_documents,
)
from sklearn_ndcg._rows.ids import encode_ids, first_rows
