"""The table of docs/tools.md, cell by cell: tests/tool_matrix.py runs each."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from tool_matrix import TOOLS, WAYS, case, outcome, table

from sklearn_ndcg import make_ndcg_scorer

PAGE = Path(__file__).parents[1] / "docs" / "tools.md"


def documented():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    rows = [line.strip("| ").split(" | ") for line in lines[2:]]
    return {(tool, way): cell for tool, *row in rows for way, cell in zip(WAYS, row, strict=True)}


def test_the_page_has_every_cell():
    assert set(documented()) == {(tool, way) for tool in TOOLS for way in WAYS}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tool", TOOLS)
def test_cell_is_as_documented(tool, way):
    assert outcome(tool, way) == documented()[tool, way]


def test_matrix_would_notice_a_wrong_number(monkeypatch):
    monkeypatch.setattr("tool_matrix.K", 2)  # of the hand's computation, not of the scorer
    with case("routed") as c, pytest.raises(AssertionError):
        np.testing.assert_allclose(
            *TOOLS["cross_val_score"](
                c._replace(scorer=make_ndcg_scorer(k=3, replace_undefined_by=0.0))
            ),
            rtol=0,
            atol=1e-12,
        )


def test_permutation_importance_has_no_routing_and_says_so():
    with case("routed") as c, pytest.raises(ValueError, match="got no groups.*group_by="):
        permutation_importance(Ridge().fit(c.X, c.y), c.X, c.y, scoring=c.scorer)


def test_permutation_importance_turns_polars_into_an_array():
    with case("column") as c:
        X = pl.DataFrame({name: c.X[name].to_numpy() for name in c.X})
        model = Ridge().fit(X, c.y)
        assert 0 < c.scorer(model, X, c.y) < 1
        with pytest.raises(ValueError, match=r"permutation_importance.*enable_metadata_routing"):
            permutation_importance(model, X, c.y, scoring=c.scorer)


@pytest.mark.parametrize("way", ["column", "index level"])
def test_rfecv_without_routing_names_the_way_out(way):
    with case(way) as c, pytest.raises(ValueError, match=r"RFECV.*enable_metadata_routing"):
        RFECV(Ridge(), scoring=c.scorer, cv=c.splits).fit(c.X, c.y)


@pytest.mark.parametrize("way", ["column", "index level"])
def test_sequential_feature_selector_shows_the_error_in_a_warning_only(way):
    selector = SequentialFeatureSelector(Ridge(), n_features_to_select=1)
    with case(way) as c, pytest.warns(UserWarning, match="Scoring failed") as caught:
        selector.set_params(scoring=c.scorer, cv=c.splits).fit(c.X, c.y)
    assert "SequentialFeatureSelector" in str(caught[0].message)


class CountsPredicts(RegressorMixin, BaseEstimator):
    """Predicts the first feature, and counts."""

    n_predicts = 0

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        CountsPredicts.n_predicts += 1
        return np.asarray(X)[:, 0]


def test_several_cutoffs_take_one_predict_a_fold(monkeypatch):
    from sklearn.model_selection import cross_validate  # noqa: PLC0415

    monkeypatch.setattr(CountsPredicts, "n_predicts", 0)
    with case("index level") as c:
        scorer = make_ndcg_scorer(k=[1, 5, 10], group_by="query", replace_undefined_by=0.0)
        result = cross_validate(CountsPredicts(), c.X, c.y, scoring=scorer, cv=c.splits)
    assert CountsPredicts.n_predicts == len(c.splits)
    assert {name for name in result if name.startswith("test_")} == {
        "test_ndcg@1", "test_ndcg@5", "test_ndcg@10",
    }  # fmt: skip


def test_table_is_what_the_page_shows():
    assert table() in PAGE.read_text()
