"""
======================================
Score Parquet files larger than memory
======================================

The scores of a model are often stored in Parquet files that do not fit into memory. Here DuckDB
reads a folder of them under a memory limit, some queries at a time. ``ndcg_by_query`` gives a table
of NDCG by query, which DuckDB writes to a file, and ``ndcg_score`` the mean. This needs
``pip install ".[frames,plot]" duckdb pyarrow``.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import matplotlib.pyplot as plt
import numpy as np

from sklearn_ndcg import ndcg_samples
from sklearn_ndcg.frames import ndcg_by_query, ndcg_score

# %%
# Ten files
# ---------
# The rows of a query are scattered over all files, which is the hard case. Read as three arrays,
# ten million rows would take 240 MB.

directory = TemporaryDirectory()
folder = Path(directory.name)
limits = {"memory_limit": "200MB", "temp_directory": str(folder / "spill")}
connection = duckdb.connect(config=limits | {"preserve_insertion_order": False})
(folder / "rows").mkdir()
for number in range(10):
    rows = connection.sql(f"""
        select hash(i) % 100_000 as query, hash(i, 1) % 5 as grade,
               grade + (hash(i, 2) % 10_000) / 2_000 as score
        from range({number} * 1_000_000, ({number} + 1) * 1_000_000) rows(i)
        """)  # noqa: S608
    rows.write_parquet(str(folder / "rows" / f"{number}.parquet"))

# %%
# NDCG by query, and the mean
# ---------------------------
# Each pass over the files takes some of the queries, chosen by a hash of their ids. The kernels
# score them, so all options work. ``working_memory`` is in MiB, 1024 by default: such a small one
# is only for show.

table = connection.read_parquet(str(folder / "rows" / "*.parquet"))
columns = {"y_true": "grade", "y_score": "score", "groups": "query"}
options = {"k": 10, "undefined": "omit"}
small = {"working_memory": 200}
ndcg_by_query(table, **columns, **options, **small).write_parquet(str(folder / "by_query.parquet"))
by_query = connection.read_parquet(str(folder / "by_query.parquet"))
print(by_query.order("query").limit(3))
mean = ndcg_score(table, **columns, **options, **small)
print(f"NDCG@10 {mean:.6f}")

# sphinx_gallery_alt = "Histogram of the NDCG of 100,000 queries, with their mean"
_, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
ax.hist(by_query.fetchnumpy()["ndcg"], bins=50)
ax.axvline(mean, color="C1", label=f"mean {mean:.4f}")
ax.set(xlabel="NDCG@10", ylabel="Queries")
ax.legend()

# %%
# The same numbers from arrays
# ----------------------------

few = table.filter("query < 1000").fetchnumpy()
expected = ndcg_samples(few["grade"], few["score"], groups=few["query"], **options)
found = by_query.filter("query < 1000").order("query").fetchnumpy()["ndcg"]
print(f"greatest difference in {len(found)} queries: {np.abs(found - expected).max():.0e}")
# sphinx_gallery_start_ignore
assert len(found) == 1000
assert np.allclose(found, expected, rtol=0, atol=1e-12)
# sphinx_gallery_end_ignore
directory.cleanup()
plt.show()
