"""The recipes of docs/whose_ndcg.md for other ideals and weights, compared with the libraries."""

import numpy as np
import pytest
from peers import PEERS
from sklearn import metrics

from sklearn_ndcg import from_lists, ndcg_samples, ndcg_score


def rows(seed, binary=False):
    """Rows without ties; the first queries have a relevant document, the last has none."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(8), rng.integers(2, 12, 8))
    y_true = rng.integers(0, 2 if binary else 4, len(groups))
    y_true[np.unique(groups, return_index=True)[1]] = 1
    y_true[groups == 7] = 0
    return y_true, rng.permutation(len(groups)) / 8, groups


def with_ideal_of(k, y_true, y_score, groups):
    """NDCG whose ideal has k relevant documents, whatever the truth holds."""
    truth, lists = {}, {}
    for query in np.unique(groups):
        rows = np.flatnonzero(groups == query)
        lists[query] = rows[np.argsort(-y_score[rows])].tolist()
        truth[query] = {*rows[y_true[rows] == 1].tolist(), *(f"x{i}" for i in range(k))}
    return ndcg_score(from_lists(truth, lists, k=k))


@pytest.mark.parametrize("k", [1, 3, 50])
def test_an_ideal_of_k_relevant_by_its_formula(k):
    y_true, y_score, groups = rows(0, binary=True)
    discount = 1 / np.log2(np.arange(2, k + 2))
    expected = []
    for query in np.unique(groups):
        ranked = y_true[groups == query][np.argsort(-y_score[groups == query])][:k]
        expected.append(ranked @ discount[: len(ranked)] / discount.sum())
    assert with_ideal_of(k, y_true, y_score, groups) == pytest.approx(np.mean(expected), abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3, 50])
def test_an_ideal_of_k_relevant_is_that_of_rectools(k):
    pytest.importorskip("rectools")
    peer = next(peer for peer in PEERS if (peer.library, peer.call) == ("rectools", "NDCG"))
    for seed in range(5):
        y_true, y_score, groups = rows(seed, binary=True)
        known = groups < 7  # users without a relevant item are not in the interactions
        ours = with_ideal_of(k, y_true[known], y_score[known], groups[known])
        assert peer.value(y_true, y_score, groups, k=k) == pytest.approx(ours, abs=1e-12)


def test_an_ideal_over_the_retrieved_is_what_scikit_learn_gives_for_them_alone():
    lists = [["A", "B", "C"], ["D", "A"]]
    relevant = [{"B": 1, "X": 3}, {"A": 2, "D": 1, "G": 3}]
    rows = from_lists(relevant, lists)
    y_true, y_score, groups = rows.y_true, rows.y_score, rows.groups
    ours = ndcg_samples(np.where(np.isfinite(y_score), y_true, 0), y_score, groups=groups)
    for query, (items, grades) in enumerate(zip(lists, relevant, strict=True)):
        grade = [[grades.get(item, 0) for item in items]]
        theirs = metrics.ndcg_score(grade, [np.arange(len(items), 0, -1)])
        assert ours[query] == pytest.approx(theirs, abs=1e-14)
    assert (ours > ndcg_samples(y_true, y_score, groups=groups)).all()


def test_an_ideal_of_the_lists_length_is_that_of_the_tests_of_elasticsearch():
    # DiscountedCumulativeGainTests.java: hits of the ratings 3, 2, 3, none; one of 1 is no hit
    y_true, y_score = [[3, 2, 3, np.nan, 1]], [[4, 3, 2, 1, -np.inf]]
    options = {"gain": "exponential", "unjudged": "zero", "k": "retrieved"}
    assert ndcg_score(y_true, y_score, **options) == pytest.approx(
        12.392789260714371 / 13.347184833073591, abs=1e-12
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:``mlflow.metrics.ndcg_at_k`` is deprecated:FutureWarning")
@pytest.mark.parametrize("k", [1, 3, 50])
def test_an_ideal_of_the_lists_length_is_that_of_mlflow(k):
    pd, of_mlflow = pytest.importorskip("pandas"), pytest.importorskip("mlflow.metrics")
    rng = np.random.default_rng(0)
    items = np.array(list("ABCDEFGHIJ"))
    lists = [rng.permutation(items)[: rng.integers(1, 8)].tolist() for _ in range(30)]
    relevant = [rng.permutation(items)[: rng.integers(0, 8)].tolist() for _ in range(30)]
    theirs = of_mlflow.ndcg_at_k(k).eval_fn(pd.Series(lists), pd.Series(relevant)).scores
    rows = from_lists(relevant, [each[:k] for each in lists], k="retrieved")
    ours = ndcg_samples(rows, undefined=0.0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("k", [None, 3])
def test_weights_of_documents_multiply_the_gain_in_rax(k):
    rax, jnp = pytest.importorskip("rax"), pytest.importorskip("jax.numpy")
    y_true, y_score, groups = rows(0)
    weight = np.random.default_rng(1).integers(1, 9, len(groups)) / 8
    score, grade, weights = (jnp.asarray(each, jnp.float32) for each in (y_score, y_true, weight))
    options = {"weights": weights, "segments": jnp.asarray(groups), "topn": k}
    ours = ndcg_score(weight * (2.0**y_true - 1), y_score, groups=groups, k=k, undefined=0.0)
    assert float(rax.ndcg_metric(score, grade, **options)) == pytest.approx(ours, abs=1e-6)
