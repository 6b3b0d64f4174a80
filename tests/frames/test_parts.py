"""What a part of a table gives: sums that add up, results, and what is wrong with its rows."""

import numpy as np
import pytest

import sklearn_ndcg

nw = pytest.importorskip("narwhals.stable.v2", reason="the extra `frames` is not installed")
pa = pytest.importorskip("pyarrow")
from sklearn_ndcg._metrics.measure import Measure  # noqa: E402
from sklearn_ndcg._metrics.queries import Totals  # noqa: E402
from sklearn_ndcg.frames._parts import refuse_wrong_rows, score_part, sum_part  # noqa: E402

COLUMNS = {"groups": ["q"], "y_true": ["y"], "y_score": ["s"], "sample_weight": ["w"]}


def draw_table(n=500, seed=0):
    rng = np.random.default_rng(seed)
    columns = {"q": rng.integers(0, 40, n), "y": rng.integers(0, 4, n), "s": rng.random(n)}
    return pa.table(columns | {"w": rng.random(n)})


def test_sums_of_parts_add_up_to_the_mean_of_all():
    table = draw_table()
    q = table["q"].to_numpy()
    parts = [sum_part(table.filter(pa.array(q % 3 == i)), COLUMNS, {"k": 5}) for i in range(3)]
    assert sum(part.n_rows for part in parts) == len(table)
    expected = sklearn_ndcg.ndcg_score(
        table["y"].to_numpy(), table["s"].to_numpy(), groups=q, k=5,
        sample_weight=table["w"].to_numpy(),
    )  # fmt: skip
    [found] = Totals.of_batches([part.totals for part in parts]).means(Measure(k=5))
    assert found == pytest.approx(expected, rel=1e-15)


def test_a_part_without_rows():
    empty = draw_table().slice(0, 0)
    assert sum_part(empty, COLUMNS, {}) == (0, None, None)
    found = score_part(empty, COLUMNS, {})
    assert found[:2] == (0, 0)
    assert found.table.schema.names == ["q", "n_documents", "dcg", "ideal_dcg", "ndcg"]
    assert found.table.schema.equals(score_part(draw_table(), COLUMNS, {}).table.schema)


def test_wrong_rows_of_several_parts_are_reported_once():
    table = draw_table(20)
    broken = table.set_column(2, "s", pa.array([None, np.nan, *range(18)], pa.float64()))
    part = sum_part(broken, COLUMNS, {})
    first = broken["q"][0].as_py()
    assert part == (20, None, {"y_score": (2, (first,))})
    other = sum_part(broken.set_column(1, "y", pa.nulls(20, pa.int64())), COLUMNS, {})
    assert {name: count for name, (count, _) in other.wrong.items()} == {"y_true": 20, "y_score": 2}
    with pytest.raises(ValueError, match=f"y_score must be.*found 4 rows.*in query {first}"):
        refuse_wrong_rows([part.wrong, None, part.wrong], COLUMNS)
    with pytest.raises(ValueError, match="y_true must be finite, found 20 rows"):
        refuse_wrong_rows([part.wrong, other.wrong], COLUMNS)
    refuse_wrong_rows([None, None], COLUMNS)


def test_undefined_queries_are_counted_and_a_null_one_is_not():
    table = pa.table({"q": [1, 1, 2, 3], "y": [0, 0, 0, 1], "s": [1.0, 2, np.nan, 1]})
    columns = {name: COLUMNS[name] for name in ("groups", "y_true", "y_score")}
    found = score_part(table, columns, {"undefined": 0.25})
    assert found.n_undefined == 1
    assert found.table["ndcg"].to_pylist() == [0.25, None, 1.0]


def test_an_undefined_query_is_an_error_of_the_part_only_in_a_lazy_result():
    table = pa.table({"q": [1, 1, 3], "y": [0, 0, 1], "s": [1.0, 2, 1]})
    columns = {name: COLUMNS[name] for name in ("groups", "y_true", "y_score")}
    assert score_part(table, columns, {"undefined": "raise"}).n_undefined == 1
    with pytest.raises(ValueError, match="undefined for 1 of 2 queries"):
        score_part(table, columns, {"undefined": "raise"}, lazy=True)


@pytest.mark.parametrize("n_keys", [1, 2])
@pytest.mark.parametrize("kind", ["double[pyarrow]", "Float64", "float64"])
def test_nan_ids_in_float_columns_of_pandas(kind, n_keys):
    pd = pytest.importorskip("pandas")
    ids = pa.array([1.5, 1.5, np.nan, np.nan, None])
    ids = pd.Series(ids if kind != "double[pyarrow]" else pd.arrays.ArrowExtensionArray(ids))
    table = pd.DataFrame({"q": ids.astype(kind), "day": 1, "y": [1, 0, 1, 0, 1], "s": 1.0, "w": 1})
    columns = COLUMNS | {"groups": ["q", "day"][:n_keys]}
    [count, _] = sum_part(table, columns, {}).wrong["groups"]
    assert count == 3
    with pytest.raises(ValueError, match=r"groups \(q.*\) has 3 rows with a missing id"):
        score_part(table, columns, {})
