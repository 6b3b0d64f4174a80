"""The types of the package, as mypy shows them to a user."""

import re
import sys
from pathlib import Path

import pytest

import sklearn_ndcg

ROOT = Path(__file__).parents[1]

api = pytest.importorskip("mypy.api")

# A line that mypy must refuse ends in a comment with part of what it says.
CODE = """
import numpy as np
import sklearn_ndcg as sn
from sklearn_ndcg import CONVENTIONS, GroupedScorer, inference, ndcg_score
from sklearn_ndcg.inference import Comparison, NDCGInterval

y, s, q = np.array([1, 0]), np.array([0.2, 0.1]), ["a", "a"]
value: float = ndcg_score(y, s, groups=q, k=10, gain="exponential", undefined="omit")
ndcg_score(y, s, groups=q, k="retrieved", gain=[0, 1, 3], discount=lambda ranks: 1 / ranks)
ndcg_score(y, s, groups=q, undefined=1.0, **CONVENTIONS["lightgbm"])
interval: NDCGInterval = inference.ndcg_interval(y, s, groups=q, k=10, ties="worst")
comparison: Comparison = inference.compare_rankers(y, {"a": s, "b": s}, groups=q, k=10)
means: dict[str, float] = comparison.mean
scorer: GroupedScorer = sn.make_ndcg_scorer(k=[1, 5], group_by="q", gain="exponential")
ndcg_score(y, s, groups=q, tie="worst")  # Unexpected keyword argument "tie"
ndcg_score(y, s, groups=q, ties="first")  # incompatible type "Literal['first']"
ndcg_score(y, s, groups=q, gain="exp")  # incompatible type
ndcg_score(y, s, groups=q, k="all")  # incompatible type
ndcg_score(y, s, groups=q, undefined="skip")  # incompatible type
inference.ndcg_interval(y, s, groups=q, kk=10)  # Unexpected keyword argument "kk"
inference.ndcg_interval(y, s, groups=q, ties="first")  # incompatible type
inference.ndcg_interval(y, s, groups=q, k="all")  # incompatible type
inference.compare_rankers(y, {"a": s, "b": s}, groups=q, test="T")  # incompatible type
inference.NDCGDisplay.from_predictions(y, s, groups=q, tie="worst")  # Unexpected keyword argument
comparison.pvalues  # "Comparison" has no attribute "pvalues"
interval.mean = 1.0  # read-only
sn.make_ndcg_scorer(group_by="q", undefined="skip")  # incompatible type
sn.GroupedRanker(None, group_by=y)  # incompatible type
sn.make_dcg_scorer(group_by="q", undefined="omit")  # Unexpected keyword argument "undefined"
rows = sn.from_lists([{"a"}], rankers={"x": [["a"]], "y": [["b"]]}, k=3)
value = ndcg_score(rows["x"], sample_weight={0: 1.0})
values, ids = sn.ndcg_samples(rows["x"], return_groups=True)
both: Comparison = inference.compare_rankers(rows, metric=lambda y_true, y_score: y_true.max())
sn.from_lists([{"a"}], [["a"]], unanswered="skip")  # incompatible type
sn.from_lists([{"a"}], [["a"]], unjudged="drop")  # incompatible type
sn.ndcg_samples(y, s, groups=q).first  # has no attribute "first"
text: str = ndcg_score(y, s, groups=q)  # Incompatible types in assignment
"""


@pytest.mark.ci
def test_mypy_finds_the_mistakes_of_a_user_and_no_others(tmp_path, monkeypatch):
    if Path(sklearn_ndcg.__file__).is_relative_to(ROOT):  # not installed, but the source
        monkeypatch.setenv("MYPYPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    Path("user.py").write_text(CODE, encoding="utf-8")
    options = ["--strict", "--python-executable", sys.executable, "--no-error-summary"]
    said, errors, _ = api.run([*options, "user.py"])
    assert not errors
    found = re.findall(r"^user\.py:(\d+): error: (.*)$", said, re.M)
    for number, line in enumerate(CODE.splitlines(), 1):
        messages = [message for place, message in found if int(place) == number]
        expected = line.partition("  # ")[2]
        assert bool(messages) == bool(expected), (line, messages)
        assert expected in " ".join(messages)
