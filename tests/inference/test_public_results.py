"""Results are public: exported, described by their attributes, with the same words in each."""

import copy
import pickle
import re
from dataclasses import FrozenInstanceError, fields, is_dataclass
from inspect import cleandoc, signature

import numpy as np
import pytest
from helpers import assert_same, graded_rows, matrices
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score

import sklearn_ndcg
from sklearn_ndcg import inference
from sklearn_ndcg._metrics.measure import NDCGOptions
from sklearn_ndcg.inference import Comparison, NDCGInterval, SegmentTable
from sklearn_ndcg.inference._displays import DisplayOptions

Y, S = matrices(30)
X, y, QUERY = graded_rows()
COMPARED = inference.compare_rankers(Y, {"a": S, "b": -S}, test="t", baseline="b", margin=0.1)
RESULTS = {
    NDCGInterval: inference.ndcg_interval(Y, S, method="t"),
    SegmentTable: inference.ndcg_by_segment(Y, S, segments=np.arange(30) % 2, method="t"),
    Comparison: COMPARED,
    sklearn_ndcg.Explanation: sklearn_ndcg.explain_difference(Y, S, "sklearn", "lightgbm"),
    sklearn_ndcg.QueryExplanation: sklearn_ndcg.explain_query(Y, S, query=3),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_help_of_a_result_describes_each_attribute(kind):
    result = RESULTS[kind]
    assert type(result) is kind
    assert is_dataclass(kind)
    doc = cleandoc(kind.__doc__)
    assert "\nSee Also\n--------" in doc
    assert "\nExamples\n--------" in doc
    assert "\nParameters\n" not in doc  # users do not create it
    attributes = doc.split("\nAttributes\n----------\n")[1].split("\nSee Also\n")[0]
    headings = re.findall(r"^(\w.*) : \S", attributes, re.M)
    described = [name for heading in headings for name in heading.split(", ")]
    assert described == [field.name for field in fields(kind)]


@pytest.mark.parametrize("kind", RESULTS)
def test_results_are_copied_and_pickled_and_cannot_be_changed(kind):
    result = RESULTS[kind]
    assert re.search(r"\d\.\d{4}", repr(result))
    assert str(result) == repr(result)
    pickled = pickle.loads(pickle.dumps(result))  # noqa: S301
    for other in (copy.deepcopy(result), pickled):
        assert type(other) is kind
        assert len({other, result}) == 2  # they are compared by identity
        assert repr(other) == repr(result)
        ours, theirs = (dict(vars(one)) for one in (result, other))
        for name in {"overall"} & ours.keys():  # which is a result, too
            assert_same(ours.pop(name), theirs.pop(name))
        np.testing.assert_equal(theirs, ours)
    with pytest.raises(FrozenInstanceError):
        setattr(result, next(iter(vars(result))), 0)


@pytest.mark.parametrize("kind", [kind for kind in RESULTS if is_dataclass(kind)])
def test_results_take_their_attributes_and_no_others(kind):
    attributes = {field.name: getattr(RESULTS[kind], field.name) for field in fields(kind)}
    assert repr(kind(**attributes)) == repr(RESULTS[kind])
    with pytest.raises(TypeError, match="unexpected keyword argument 'ndgc'"):
        kind(**attributes, ndgc=3)
    attributes.pop(next(iter(attributes)))
    with pytest.raises(TypeError, match="missing 1 required"):
        kind(**attributes)


SCORER = sklearn_ndcg.make_ndcg_scorer(k=3)
PUBLIC = [
    *RESULTS.values(),
    SCORER,
    sklearn_ndcg.ndcg_score,
    sklearn_ndcg.make_query_scorer(average_precision_score, group_by="query"),
    sklearn_ndcg.from_lists({"A": 1}, ["A"]),
    sklearn_ndcg.QuerySplitter(3),
    sklearn_ndcg.GroupedRanker(Ridge()).fit(X, y, groups=QUERY),
    inference.IntervalDisplay(result=COMPARED),
    inference.DifferenceDisplay(comparison=COMPARED, pair=("a", "b")),
    inference.NDCGDisplay(k=[1], ndcg=[1.0]),
]


@pytest.mark.parametrize("public", PUBLIC, ids=lambda public: type(public).__name__)
def test_pickles_have_no_private_path(public):
    pickled = pickle.dumps(public)
    assert re.findall(rb"sklearn_ndcg\.(?!inference)[\w.]+", pickled) == []
    assert re.findall(rb"sklearn_ndcg[\w.]*\._\w*", pickled) == []


def test_the_options_of_displays_are_those_of_a_curve_and_of_plot():
    plot = set(signature(inference.NDCGDisplay.plot).parameters) - {"self", "name"}
    curve = set(signature(sklearn_ndcg.ndcg_curve).parameters)
    data = {"y_true", "y_score", "groups", "k"}  # arguments of the constructors
    assert set(DisplayOptions.__annotations__) == plot | (curve - data)
    assert curve - data - {"sample_weight"} == set(NDCGOptions.__annotations__)
