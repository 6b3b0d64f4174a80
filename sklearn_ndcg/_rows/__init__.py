"""Which rows belong to one query: ids of any kind, columns of any table."""
