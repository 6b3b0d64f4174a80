"""Results are public: exported, described by their attributes, with the same words in each."""

import re
from dataclasses import fields, is_dataclass
from inspect import cleandoc, get_annotations, signature
from pathlib import Path

import numpy as np
import pytest
from helpers import matrices

import sklearn_ndcg
from sklearn_ndcg import (
    Explanation,
    GroupedScorer,
    compare_candidates,
    explain_difference,
    make_dcg_scorer,
    make_ndcg_scorer,
    ndcg_score,
)
from sklearn_ndcg.inference import (
    Comparison,
    NDCGInterval,
    QueryDifferences,
    SegmentTable,
    compare_lists,
    compare_rankers,
    compare_runs,
    ndcg_by_segment,
    ndcg_interval,
)

Y, S = matrices(30)
COMPARED = compare_rankers(Y, {"a": S, "b": -S}, test="t", margin=0.1)
RESULTS = {
    NDCGInterval: ndcg_interval(Y, S, method="t"),
    SegmentTable: ndcg_by_segment(Y, S, segments=np.arange(30) % 2, method="t"),
    Comparison: COMPARED,
    QueryDifferences: COMPARED.largest_differences(2),
    Explanation: explain_difference(Y, S, "sklearn", "lightgbm"),
}
MAKERS = {
    NDCGInterval: [ndcg_interval],
    SegmentTable: [ndcg_by_segment],
    Comparison: [compare_rankers, compare_lists, compare_runs, compare_candidates],
    QueryDifferences: [Comparison.largest_differences],
    Explanation: [explain_difference],
    GroupedScorer: [make_ndcg_scorer, make_dcg_scorer],
}
API = (Path(__file__).parents[2] / "docs" / "api.rst").read_text()


@pytest.mark.parametrize("kind", MAKERS)
def test_results_are_exported_and_have_a_page(kind):
    assert kind.__name__ in sklearn_ndcg.__all__
    assert re.search(rf"^   {kind.__name__}$", API, re.M)
    for maker in MAKERS[kind]:
        assert get_annotations(maker)["return"] == kind.__name__


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
def test_shapes_are_as_described(kind):
    result, attributes = RESULTS[kind], cleandoc(kind.__doc__)  # Python 3.13 removes the margin
    sizes = {"n_queries": 30, "n_pairs": 1, "n_segments": 2, "n_steps": 3}
    shapes = re.findall(r"^(\w[\w, ]*) : ndarray .*of shape \((.*)\)", attributes, re.M)
    for names, shape in shapes:
        expected = [
            sum(sizes.get(term) or int(term) for term in axis.split(" + "))
            for axis in shape.rstrip(",").split(", ")
        ]
        for name in names.split(", "):
            assert list(np.shape(getattr(result, name))) == expected, name
    assert shapes or kind in {NDCGInterval, QueryDifferences}


def test_the_number_is_called_ndcg_in_each():
    expected = ndcg_score(Y, S)
    assert RESULTS[NDCGInterval].ndcg == expected
    assert RESULTS[Comparison].ndcg["a"] == pytest.approx(expected, abs=1e-15)
    assert RESULTS[Explanation].ndcg[0] == expected


def test_functions_point_to_the_class_instead_of_listing_attributes():
    for kind, makers in MAKERS.items():
        if kind in {QueryDifferences, GroupedScorer}:
            continue
        returns = makers[0].__doc__.split("Returns\n")[1].split("Raises\n")[0]
        assert f"`{kind.__name__}`" in returns
        assert len(returns.strip().splitlines()) <= 4


def test_options_are_typed():
    assert get_annotations(ndcg_interval)["options"] == "Unpack[NDCGOptions]"
    for name in ("from_predictions", "from_estimator", "from_cv_results"):
        function = getattr(sklearn_ndcg.NDCGDisplay, name).__func__
        assert get_annotations(function)["options"] == "Unpack[DisplayOptions]"


def test_the_options_of_displays_are_those_of_a_curve_and_of_plot():
    from sklearn_ndcg._metrics.measure import CurveOptions  # noqa: PLC0415
    from sklearn_ndcg.inference._displays import DisplayOptions  # noqa: PLC0415

    plot = set(signature(sklearn_ndcg.NDCGDisplay.plot).parameters) - {"self", "name"}
    curve = set(CurveOptions.__annotations__) - {"groups"}
    assert set(DisplayOptions.__annotations__) == plot | curve
