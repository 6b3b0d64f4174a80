"""The table of docs/tools.md, cell by cell: tests/tools/tool_matrix.py runs each."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegressionCV, Ridge, RidgeClassifierCV
from sklearn.model_selection import KFold
from tool_matrix import (
    NO_SCORER,
    NO_SPLITTER,
    ROWS,
    TOOLS,
    VERSION,
    WAYS,
    case,
    folds_by_hand,
    importance_of_zeros,
    logistic_regression_cv,
    outcome,
    p_values_of_noise,
    scoring_monitor,
    table,
    those_that_take_a_scorer,
    tool_of,
    tools_of_scikit_learn,
)

from sklearn_ndcg import QuerySplitter, make_ndcg_scorer

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


def cells_of(text):
    """The cells of a table, by tool and way. Tools whose cells are equal may share a row."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    (_, *ways), _, *rows = lines
    cells = [(tool, row) for tools, *row in rows for tool in tools.split(", ")]
    return {(tool, way): cell for tool, row in cells for way, cell in zip(ways, row, strict=True)}


def documented():
    return cells_of(PAGE.read_text())


def test_the_page_has_every_cell():
    assert set(documented()) == {(tool, way) for tool in TOOLS for way in WAYS}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tool", ROWS)
def test_cell_is_as_documented(tool, way):
    assert outcome(tool, way) == documented()[tool, way]


def test_every_tool_that_takes_a_scorer_has_a_row():
    missing = tools_of_scikit_learn() - {tool_of(row) for row in ROWS}
    assert not missing, f"scikit-learn has new tools: add rows for {missing}"


def test_every_row_is_of_a_tool_that_takes_a_scorer():
    assert {tool_of(row) for row in ROWS} - tools_of_scikit_learn() == NO_SCORER


class FutureDisplay:
    @classmethod
    def from_estimator(cls, estimator, X, y, *, scoring=None):
        """Only its parameters count."""


class FutureEstimator(BaseEstimator):
    def __init__(self, scorers=None):
        self.scorers = scorers


def future_function(estimator, scorer):
    """Only its parameters count."""


def test_a_tool_of_a_later_scikit_learn_is_noticed():
    public = [(each.__name__, each) for each in (FutureEstimator, future_function, FutureDisplay)]
    found = {"FutureEstimator", "future_function", "FutureDisplay.from_estimator"}
    assert those_that_take_a_scorer(public) == found


def test_matrix_would_notice_a_wrong_number(monkeypatch):
    monkeypatch.setattr("tool_matrix.K", 2)  # of the hand's computation, not of the scorer
    with case("routed") as c, pytest.raises(AssertionError):
        np.testing.assert_allclose(
            *TOOLS["cross_val_score"](c._replace(scorer=make_ndcg_scorer(k=3, undefined=0.0))),
            rtol=0,
            atol=1e-12,
        )


@pytest.mark.filterwarnings("ignore:.*have a single document")  # of cut queries
@pytest.mark.parametrize(
    "cv", [QuerySplitter(KFold(4, shuffle=True, random_state=1), group_by="query"), KFold(4)]
)
def test_matrix_would_notice_other_folds(cv):
    with case("QuerySplitter") as c:
        got, expected = TOOLS["cross_val_score"](c._replace(cv=cv))
        assert not np.allclose(got, expected)


class NoSplits:
    """A splitter that raises an error as soon as it is asked."""

    def split(self, X=None, y=None, groups=None):
        raise RuntimeError("asked for splits")

    get_n_splits = split


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("row", ROWS)
def test_every_row_asks_the_splitter_unless_it_is_said_to_take_none(row):
    asked = False
    with case("QuerySplitter") as c:
        try:
            TOOLS[row](c._replace(cv=NoSplits()))
        except RuntimeError as error:
            asked = str(error) == "asked for splits"
        except (AttributeError, ValueError):
            assert outcome(row, "index level").startswith("no")
    # TunedThresholdClassifierCV looks at the scorer first
    assert asked is (row not in {*NO_SPLITTER, "TunedThresholdClassifierCV"})


def test_permutation_importance_has_no_routing_and_says_so():
    with case("routed") as c, pytest.raises(ValueError, match="got no groups.*group_by="):
        permutation_importance(Ridge().fit(c.X, c.y), c.X, c.y, scoring=c.scorer)


def test_permutation_importance_turns_polars_into_an_array():
    with case("column") as c:
        X = pl.DataFrame({name: c.X[name].to_numpy() for name in c.X})
        model = Ridge().fit(X, c.y)
        with pytest.warns(UserWarning, match="group_by='query', is a feature of Ridge"):
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


def test_several_cutoffs_take_one_predict_per_fold(monkeypatch):
    from sklearn.model_selection import cross_validate  # noqa: PLC0415

    monkeypatch.setattr(CountsPredicts, "n_predicts", 0)
    with case("index level") as c:
        scorer = make_ndcg_scorer(k=[1, 5, 10], group_by="query", undefined=0.0)
        result = cross_validate(CountsPredicts(), c.X, c.y, scoring=scorer, cv=c.splits)
    assert CountsPredicts.n_predicts == len(c.splits)
    assert {name for name in result if name.startswith("test_")} == {
        "test_ndcg@1", "test_ndcg@5", "test_ndcg@10",
    }  # fmt: skip


def test_table_is_what_the_page_shows(monkeypatch):
    """Each cell has a test of its own above; here the table is put together from them."""
    cells = documented()
    monkeypatch.setattr("tool_matrix.outcome", lambda row, way: cells[row, way])
    assert cells_of(table()) == {key: cell for key, cell in cells.items() if key[0] in ROWS}


def test_permutation_test_score_across_queries_finds_skill_in_noise():
    across, within = np.sum(p_values_of_noise() <= 0.05, axis=1)
    assert across > 15
    assert within < 4  # of 20 where 1 is expected: more has a probability of 2%
    text = " ".join(PAGE.read_text().split())
    assert f"in {across} of 20 data sets when y was shuffled across queries" in text
    assert f"in {within} of 20 when it was shuffled within" in text


def test_permutation_importance_with_max_samples_cuts_queries():
    importance, whole, cut = importance_of_zeros(max_samples=0.4)
    assert importance_of_zeros(max_samples=1.0) == (0, whole, whole)
    assert cut < 0.6 * whole
    assert importance < -0.01
    text = " ".join(PAGE.read_text().split())
    assert f"importance of {importance:.3f}" in text


def by_column_number(c):
    return c._replace(scorer=clone(c.scorer).set_params(group_by=c.X.columns.get_loc("query")))


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_logistic_regression_cv_takes_the_number_of_a_column():
    with case("column") as c:
        got, expected = logistic_regression_cv(by_column_number(c))
    found = "yes" if VERSION >= (1, 8) else "no: grades are recoded"
    np.testing.assert_allclose(got, expected[found], rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_logistic_regression_cv_hands_over_minus_one_for_the_lower_of_two_grades():
    # fixed in scikit-learn 1.8
    refused = pytest.raises(ValueError, match=r"negative y_true")
    with case("routed") as c, refused if VERSION < (1, 8) else nullcontext():
        LogisticRegressionCV(Cs=2, scoring=c.scorer, cv=c.splits).fit(c.X, c.y > 1, **c.metadata)


def test_ridge_classifier_cv_without_cv_hands_over_a_single_grade_of_two():
    with case("routed") as c:
        measure = replace(c.scorer.measure, undefined=0.25)
        scorer = clone(c.scorer).set_params(response_method="predict", measure=measure)
        scorer.set_score_request(sample_weight=False)
        model = RidgeClassifierCV(scoring=scorer).fit(c.X, c.y > 1, **c.metadata)
    assert model.best_score_ == 0.25


def test_rfecv_drops_columns_so_a_column_number_finds_another_one():
    with case("column") as with_names:
        c = with_names._replace(X=with_names.X[["query", "a", "b", "c", "d"]].round())
        scorer = clone(c.scorer).set_params(group_by=0)
        found = RFECV(Ridge(), scoring=scorer, cv=c.splits).fit(c.X, c.y).cv_results_
        right = folds_by_hand(RFE(Ridge(), n_features_to_select=1), c)
    assert abs(found["mean_test_score"][0] - right.mean()) > 0.05  # and no warning


def test_ridge_classifier_cv_without_cv_finds_predictions_by_a_column_number():
    with case("column") as c:
        scorer = clone(c.scorer).set_params(group_by=0, response_method="predict")
        with pytest.raises(ValueError, match="group_by=0 finds numbers with fractions"):
            RidgeClassifierCV(scoring=scorer).fit(c.X, c.y)


@pytest.mark.skipif(VERSION < (1, 9), reason="new in scikit-learn 1.9")
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge", "ignore::DeprecationWarning")
def test_scoring_monitor_takes_the_number_of_a_column_and_more_than_one_score():
    with case("column") as with_names:
        c = by_column_number(with_names)._replace(X=with_names.X.to_numpy())
        for scoring in (None, {"score": c.scorer}):  # None: a scorer of a list of cutoffs
            got, expected = scoring_monitor(c, scoring)
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)
        with pytest.raises(TypeError, match="float.*not iterable"):
            scoring_monitor(c, c.scorer)
