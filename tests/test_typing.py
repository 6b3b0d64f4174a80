"""The types of the package, as a user sees them in mypy and in an editor, which runs Pyright."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_ndcg

ROOT = Path(__file__).parents[1]

# A line that must be refused ends in a comment with part of what mypy says.
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
scorer: GroupedScorer = sn.make_ndcg_scorer(k=5, group_by="q", gain="exponential")
value = scorer(None, y, y) + sn.make_dcg_scorer(k="retrieved")(None, y, y)
value = sn.make_query_scorer(max).score(None, y, y) + sn.make_ndcg_scorer()(None, y, y)
scorer = sn.make_dcg_scorer(log_base=10).set_params(measure=scorer.measure)
sn.make_ndcg_scorer(k=[1, 5])  # incompatible type
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
sn.GroupedRanker(None, scoring=scorer)  # Unexpected keyword argument
sn.make_dcg_scorer(group_by="q", undefined="omit")  # Unexpected keyword argument
rows = sn.from_lists([{"a"}], rankers={"x": [["a"]], "y": [["b"]]}, k=3)
value = ndcg_score(rows["x"], sample_weight={0: 1.0})
both: Comparison = inference.compare_rankers(rows, metric=lambda y_true, y_score: y_true.max())
sn.from_lists([{"a"}], [["a"]], unanswered="skip")  # incompatible type
sn.from_lists([{"a"}], [["a"]], unjudged="drop")  # incompatible type
sn.ndcg_samples(y, s, groups=q).first  # has no attribute "first"
text: str = ndcg_score(y, s, groups=q)  # Incompatible types in assignment


def read(lists: dict[str, list[str]]) -> sn.Rows:
    return sn.from_lists({"a": {"x": 2}}, lists, k=3)


def explained(rows: sn.Rows) -> tuple[sn.QueryExplanation, sn.Explanation]:
    return sn.explain_query(rows), sn.explain_difference(rows, "sklearn", "lightgbm")


def compared(rows: sn.Rows) -> tuple[inference.NDCGInterval, inference.Comparison]:
    return inference.ndcg_interval(rows["x"]), inference.compare_rankers(rows)


def bounds_of(rows: sn.Rows, segments: dict[str, str]) -> inference.ConfidenceInterval:
    table: inference.SegmentTable = inference.ndcg_by_segment(rows, segments=segments)
    return table.confidence_interval


def scorer_of(measure: sn.NDCG | sn.DCG) -> GroupedScorer:
    return GroupedScorer(measure, group_by="query")


scorer = scorer_of(sn.NDCG(k=10, gain="exponential"))
scorer = scorer_of(sn.DCG(k="all"))  # incompatible type
"""


COMMENTS = {n: line.partition("  # ")[2] for n, line in enumerate(CODE.splitlines(), 1)}
REFUSED = {number: comment for number, comment in COMMENTS.items() if comment}


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A script of a user, somewhere else."""
    if Path(sklearn_ndcg.__file__).is_relative_to(ROOT):  # not installed, but the source
        monkeypatch.setenv("MYPYPATH", str(ROOT))
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    Path("user.py").write_text(CODE, encoding="utf-8")
    return "user.py"


@pytest.mark.ci
def test_mypy_finds_the_mistakes_of_a_user_and_no_others(script):
    api = pytest.importorskip("mypy.api")
    options = ["--strict", "--python-executable", sys.executable, "--no-error-summary"]
    said, errors, _ = api.run([*options, script])
    assert not errors
    found = {}
    for number, message in re.findall(r"^user\.py:(\d+): error: (.*)$", said, re.M):
        found.setdefault(int(number), []).append(message)
    assert found.keys() == REFUSED.keys(), said
    for number, text in REFUSED.items():
        assert text in " ".join(found[number])


@pytest.mark.ci
def test_pyright_finds_the_mistakes_of_a_user_and_no_others(script):
    pytest.importorskip("basedpyright")
    config = {"typeCheckingMode": "standard"}  # that of Pyright
    Path("pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", script]
    command += ["--pythonpath", sys.executable]
    said = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)  # noqa: S603
    found = json.loads(said.stdout)["generalDiagnostics"]
    assert {each["range"]["start"]["line"] + 1 for each in found} == REFUSED.keys(), said.stdout
