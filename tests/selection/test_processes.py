"""Other processes, workers that die, threads, switches of Python and its surroundings."""

import multiprocessing
import os
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers import graded_rows
from sklearn.linear_model import Ridge

from sklearn_ndcg import (
    GroupedRanker,
    dcg_score,
    make_dcg_scorer,
    make_ndcg_scorer,
    ndcg_curve,
    ndcg_samples,
)
from sklearn_ndcg.inference import compare_rankers, ndcg_interval

pytestmark = pytest.mark.ci

X, Y, GROUPS = graded_rows(20, (5, 5), all_relevant=False)
X = X.set_index(pd.Index(GROUPS, name="query"))
S = np.random.default_rng(1).integers(0, 4, 100)
SCORER = make_ndcg_scorer(k=3, group_by="query", gain="exponential", undefined=0.0)


METHODS = multiprocessing.get_all_start_methods()
# on every push: the default, which is the first, and on Linux `fork`, which Apple's BLAS forbids
ON_PUSH = {METHODS[0], "fork" if sys.platform == "linux" else METHODS[0]}


@pytest.mark.parametrize(
    "method",
    [pytest.param(name, marks=() if name in ON_PUSH else pytest.mark.slow) for name in METHODS],
)
def test_results_and_scorers_go_to_another_process_and_back(method):
    calls = [
        partial(SCORER, Ridge().fit(X, Y), X, Y),
        partial(ndcg_curve, Y, S, groups=GROUPS, undefined=0.0),
        partial(ndcg_interval, Y, S, groups=GROUPS, random_state=0, undefined=0.0),
        partial(compare_rankers, Y, {"a": S, "b": -S}, groups=GROUPS, test="t", undefined=0.0),
        partial(dcg_score, Y, S, groups=GROUPS, log_base=3),
        partial(repr, make_dcg_scorer(k=5, group_by="query")),
    ]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*fork.*", DeprecationWarning)
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            results = [pool.submit(call).result(60) for call in calls]
            ranker = pool.submit(GroupedRanker(Ridge(), group_by="query").fit, X, Y).result(60)
    assert list(map(repr, results)) == [repr(call()) for call in calls]
    np.testing.assert_allclose(ranker.predict(X), Ridge().fit(X, Y).predict(X))


def test_threads_share_a_scorer_and_its_inputs():
    model, rng = Ridge().fit(X, Y), np.random.default_rng(1)
    y, s, groups = rng.integers(0, 5, 5000), rng.integers(0, 99, 5000), rng.integers(0, 50, 5000)
    calls = 50 * [
        lambda: SCORER(model, X, Y),
        lambda: ndcg_samples(y, s, groups=groups, ties="worst", k=7, gain="exponential").tolist(),
        lambda: [column.tolist() for column in ndcg_curve(y, s, groups=groups, k=[3, 1, 90])],
    ]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda call: call(), calls))
    assert results == 50 * [call() for call in calls[:3]]


# --- switches of Python, and its surroundings

SCRIPT = """
import numpy as np
from sklearn.linear_model import Ridge
import sklearn_ndcg as sn
from sklearn_ndcg import frames, inference

films = ["Alien", "Große Freiheit", "Ёлки", "千と千尋の神隠し"] * 4
X, query = np.arange(30.0)[:, None] % 7, np.repeat(range(6), 5)
ranker = sn.GroupedRanker(Ridge()).fit(X, X[:, 0] > 3, groups=query)
print(ascii([
    sn.from_lists(films[:4], films[3::-1]).to_frame().to_dict("list"),
    sn.dcg_samples(range(16), range(16), groups=films).tolist(),
    sn.make_ndcg_scorer(k=2)(ranker, X, X[:, 0] > 3, groups=query),
    repr(inference.ndcg_interval(np.eye(12), np.tri(12), random_state=1)),
]))
"""


def test_surroundings_change_nothing(tmp_path):
    """Without docstrings and asserts, in another locale, and without a place to write a file."""
    here = []
    exec(SCRIPT, {"print": here.append})  # noqa: S102
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    nowhere = "/proc" if sys.platform == "linux" else str(tmp_path)
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "HOME": nowhere, "TMPDIR": nowhere}
    process = subprocess.run(  # noqa: S603
        [sys.executable, "-P", "-OO", "-W", "error", str(script)],
        capture_output=True,
        check=False,
        env=os.environ | variables,
        cwd=nowhere,
    )
    assert process.stderr == b""
    assert process.stdout.decode().strip() == here[0]
