"""CONVENTIONS compared with the installed libraries, and the page that lists them."""

import numpy as np
import pytest
import whose_ndcg
from helpers import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from peers import PEERS, as_given
from whose_ndcg import GRADES, PAGE, QUERIES, SCORES, K, label

from sklearn_ndcg import CONVENTIONS, ndcg_samples, ndcg_score

# drawn data may have only queries with a single document
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* queries .*ha.* a single document", "ignore:None of the . queries"
)
# Run by hand (`slow`): large frameworks, and libraries that pin old versions.
BY_HAND = {"torchmetrics", "rax"}


def parameters(peers):
    for peer in peers:
        marks = [pytest.mark.skipif(not peer.installed, reason=f"{peer.library} is not installed")]
        marks += [pytest.mark.slow] * (peer.library in BY_HAND)
        marks += [pytest.mark.ci] * (peer.library == "ranx")  # which numba compiles for 20 seconds
        yield pytest.param(peer, id=label(peer), marks=marks)


EVERY_PEER = list(parameters(PEERS))


@st.composite
def rankings(draw, fractions):
    """y_true, y_score and groups of up to six queries of up to 40 documents."""
    lengths = draw(st.lists(st.integers(1, 40), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = sum(lengths)
    groups = np.repeat(np.arange(len(lengths)), lengths)
    scores = {
        "distinct": rng.permutation(n) / 8,  # in float32 too
        "heavy ties": rng.integers(-1, 2, n) / 2,
        "all tied": np.full(n, draw(st.floats(-9, 9))),
        "near ties": 1 + 1e-9 * rng.integers(0, 5, n) + rng.integers(0, 3, n),
        "reals": rng.normal(size=n),
    }
    share = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))  # of documents that are relevant
    y_true = rng.integers(0, 5, n) * (rng.random(n) < share)
    if fractions and draw(st.booleans()):
        y_true = y_true * rng.random(n)
    return y_true, scores[draw(st.sampled_from(list(scores)))], groups


def ours(peer, data, k):
    y_true, y_score, groups = peer.rows(*data)
    with np.errstate(all="raise"):
        return ndcg_samples(y_true, y_score, groups=groups, k=k, **CONVENTIONS[peer.convention])


def assert_is(expected, values, tolerance):
    """A library's number, the value of each query or their mean, is ours."""
    if np.ndim(expected) == 0:
        left = values[~np.isnan(values)]
        values = left.mean() if len(left) else 0.0  # what torchmetrics returns for no query
    np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("peer", EVERY_PEER)
def test_is_the_value_of_the_installed_library(peer):
    @settings(max_examples=examples(120), deadline=None)
    @given(rankings(peer.takes_fractions), st.sampled_from([None, 1, 3, 10, 50]))
    def check(data, k):
        assert_is(peer.value(*data, k=k), ours(peer, data, k), peer.tolerance)

    check()


@pytest.mark.parametrize("peer", EVERY_PEER)
def test_page_and_convention_say_what_the_library_does(peer):
    gain, discount, ties, undefined, _ = whose_ndcg.explain(peer)
    rows = whose_ndcg.found_rows(PAGE.read_text(encoding="utf-8"))
    assert rows[label(peer)] == whose_ndcg.row(peer)
    expected = "reciprocal" if peer.convention == "catboost-position" else "log"
    assert discount == expected  # the page tells it in its text
    assert CONVENTIONS[peer.convention] == {
        "gain": gain,
        "discount": discount,
        "ties": ties.replace("by id, descending", "stable"),
        "undefined": pytest.approx(whose_ndcg.UNDEFINED[undefined], nan_ok=True),
    }


def test_every_convention_is_that_of_a_library():
    assert CONVENTIONS.keys() == {peer.convention for peer in PEERS}


@pytest.mark.parametrize("peer", PEERS, ids=label)
def test_page_shows_our_own_number_for_the_example(peer):
    # ranx sorts up to fifteen documents stably: it need not be installed to know its order
    rows = as_given if peer.library == "ranx" else peer.rows
    y_true, y_score, groups = rows(GRADES, SCORES, QUERIES)
    got = ndcg_score(y_true, y_score, groups=groups, k=K, **CONVENTIONS[peer.convention])
    column = whose_ndcg.COLUMNS.index("example")
    rows = whose_ndcg.found_rows(PAGE.read_text(encoding="utf-8"))
    assert whose_ndcg.shown(got) == rows[label(peer)][column]


def test_bare_ndcg_of_xgboost_is_cut_at_32():
    xgboost = pytest.importorskip("xgboost")
    y_true, groups = np.arange(60) % 4, np.zeros(60, dtype=int)
    data = xgboost.DMatrix(np.zeros((60, 1)), label=y_true, base_margin=-np.arange(60))
    data.set_group([60])
    params = {"objective": "rank:pairwise", "base_score": 0.0, "eval_metric": "ndcg"}
    got = float(xgboost.Booster(params, [data]).eval(data).rsplit(":", 1)[1])
    options = {"groups": groups, **CONVENTIONS["xgboost"]}
    assert got == pytest.approx(ndcg_score(y_true, -np.arange(60), k=32, **options), abs=1e-12)
    assert got != pytest.approx(ndcg_score(y_true, -np.arange(60), **options), abs=1e-3)


@pytest.fixture
def weighted():
    """y_true, y_score, ids and weights of six queries, of which each has a relevant document."""
    rng = np.random.default_rng(0)
    y_true, weight = rng.integers(0, 4, 60), rng.integers(1, 9, 60) / 8  # exact in float32
    y_true[::10] = 1  # LightGBM counts a query without a relevant document at full weight
    return y_true, rng.normal(size=60), np.arange(60) // 10, weight


def test_lightgbm_weighs_a_query_by_the_mean_of_its_rows(weighted):
    lightgbm = pytest.importorskip("lightgbm")
    y_true, y_score, groups, weight = weighted
    params = {"objective": "none", "metric": "ndcg", "eval_at": [5], "verbose": -1}
    params["feature_pre_filter"] = False
    columns = {"label": y_true, "group": [10] * 6, "init_score": y_score, "weight": weight}
    data = lightgbm.Dataset(np.arange(60)[:, None], params=params, **columns)
    expected = lightgbm.Booster(params, data).eval_train()[0][2]
    options = {"groups": groups, "k": 5, "sample_weight": weight, **CONVENTIONS["lightgbm"]}
    assert ndcg_score(y_true, y_score, **options) == pytest.approx(expected, abs=1e-6)


def test_catboost_weighs_queries(weighted):
    utils = pytest.importorskip("catboost.utils")
    y_true, y_score, groups, weight = weighted
    weight = np.repeat(weight[::10], 10)
    ids = {"group_id": groups, "group_weight": weight, "thread_count": 2}
    [expected] = utils.eval_metric(y_true, y_score, "NDCG:top=5", **ids)
    options = {"groups": groups, "k": 5, "sample_weight": weight, **CONVENTIONS["catboost"]}
    assert ndcg_score(y_true, y_score, **options) == pytest.approx(expected, abs=1e-6)


SHORT_QRELS, SHORT_RUN = {"a": 2, "b": 0, "c": 3, "d": 1}, {"a": 0.5, "b": 0.9}
IN_ORDER = {"c": 3.0, "b": 2.0, "a": 1.0}
JUDGEMENTS = {  # qrels and a run, and y_true and y_score of the same documents
    "not retrieved": (SHORT_QRELS, SHORT_RUN, [2, 0, 3, 1], [0.5, 0.9, -np.inf, -np.inf]),
    "negative": ({"a": 2, "b": 1, "c": -1}, IN_ORDER, [2, 1, 0], [1, 2, 3]),
}


@pytest.mark.parametrize("case", JUDGEMENTS)
def test_judgements_count_in_trec_eval_as_the_page_says(case):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run, y_true, y_score = JUDGEMENTS[case]
    values = pytrec_eval.RelevanceEvaluator({"q": qrels}, {"ndcg_cut.3"}).evaluate({"q": run})
    found = ndcg_score([y_true], [y_score], k=3, **CONVENTIONS["trec_eval"])
    assert found == pytest.approx(values["q"]["ndcg_cut_3"])
