"""GroupedRanker: bad parameters, and what counts rows or columns that are sorted or removed."""

from contextlib import nullcontext
from inspect import Parameter, signature

import numpy as np
import pandas as pd
import pytest
from helpers import GroupId, Qid, Recorder, Sizes
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.utils import all_estimators

from sklearn_ndcg import GroupedRanker, QuerySplitter, make_ndcg_scorer

X, Y, Q = np.arange(12.0).reshape(6, 2), np.array([0, 1, 2, 0, 1, 0]), np.repeat([1, 2, 3], 2)
FRAME = pd.DataFrame({"a": X[:, 0], "q": Q})
BY_Q, STOP = {"group_by": "q"}, {"early_stopping": True}
NOT_ONE = "estimator must be an estimator .*a Pipeline that ends in one"
MISSING = (
    "groups is missing, but {}.*Instead of qid, group_id and group pass groups.*np.repeat.*group_by"
)
COUNTED = r"{} may refer to columns by number.*'q' is removed from X"

SORTED = {"max_queries": 2}, X, {"groups": Q}
ABOUT_ROWS = "^{} cannot be passed: .*rows are sorted by query"
SPLITS = [(np.arange(3), np.arange(3, 6))]


class HasTime(GroupId):
    def __init__(self, has_time=False):
        self.has_time = has_time


# estimator, parameters, X, what else fit is given, and the words of the error
BAD = {
    # what fit is given
    "groups, missing": (Sizes(), {}, X, {}, MISSING.format("Sizes.fit")),
    "groups, missing for early_stopping": (Ridge(), STOP, X, {}, MISSING.format("early_stopping")),
    "groups, passed as qid": (Qid(), {}, X, {"qid": Q}, MISSING.format("Qid.fit")),
    "groups, passed as group": (Qid(), {}, X, {"group": [2, 2, 2]}, MISSING.format("Qid.fit")),
    "groups, passed as group_id": (Qid(), {}, X, {"group_id": Q}, MISSING.format("Qid.fit")),
    "groups, sizes": (Qid(), {}, X, {"groups": [2, 2, 2]}, r"groups must have one id.*np\.repeat"),
    "groups, NaN": (Qid(), {}, X, {"groups": [1, 1, 2, 2, np.nan, 3]}, "groups.*1 missing id.*index 4"),
    "groups, length": (Qid(), {}, X, {"groups": [1, 2]}, "groups must have one id.*6 rows.*got 2"),
    "groups, of other rows": (
        Ridge(), {}, FRAME[3:], {"y": pd.Series(Y)[3:], "groups": pd.Series(Q)[:3]},
        "groups has labels .*that the index of X and y lacks"),
    "qid beside groups": (Qid(), {}, X, {"groups": Q, "qid": Q}, "qid is set by GroupedRanker"),
    "X, None": (Ridge(), {}, None, {}, "Expected 2D array, got scalar"),
    "X, length": (Qid(), {}, X[:5], {"groups": Q}, "inconsistent numbers of samples"),
    "y, masked": (Ridge(), {}, X, {"y": np.ma.array(Y, mask=Y > 1)}, "y is a masked array"),
    "y, 2-D": (Ridge(), {}, X, {"y": np.c_[Y, Y]}, "y should be a 1d array"),
    "sample_weight, 0": (Qid(), {}, X, {"groups": Q, "sample_weight": [0] * 6}, "at least one non-zero"),
    "sample_weight, length": (Qid(), {}, X, {"groups": Q, "sample_weight": [1, 2]}, "each of the 6 rows"),
    "sample_weight, negative": (Qid(), {}, X, {"groups": Q, "sample_weight": [-1] * 6}, "found -1"),
    "sample_weight, twice": (
        GroupId(), {}, X, {"groups": Q, "sample_weight": [1] * 6, "group_weight": [2] * 6},
        "group_weight is set by GroupedRanker"),
    "fit_params, unknown": (Ridge(), {}, X, {"nonsense": 1}, r"Ridge.fit\(\) got an unexpected .* 'nonsense'"),
    "fit_params, pairs": (GroupId(), {}, X, {"groups": Q, "pairs": [(0, 1)]}, "pairs cannot be passed"),
    "fit_params, cat_features": (GroupId(), BY_Q, FRAME, {"cat_features": [0]}, COUNTED.format(r"cat_features=\[0\]")),
    "fit_params, order of rows": (
        Sizes(), {}, FRAME, {"groups": Q, "init_score": pd.Series(X[:, 0])[::-1]},
        "X and init_score have the same labels in their index, but in another order"),
    "fit_params, flat array": (
        Sizes(), {}, X, {"groups": Q, "init_score": np.zeros(12)}, "init_score cannot be passed.*one row per row of X"),
    "fit_params, flat list": (
        Sizes(), {}, X, {"groups": Q, "init_score": [0.0] * 12}, "init_score cannot be passed.*one row per row of X"),
    # what counts rows, where rows are sorted
    "cv, splits": (make_pipeline(RFECV(Ridge(), cv=SPLITS), Qid()), *SORTED, ABOUT_ROWS.format("rfecv__cv")),
    "cv, iterator": (make_pipeline(RFECV(Ridge(), cv=iter(SPLITS)), Qid()), *SORTED, ABOUT_ROWS.format("rfecv__cv")),
    "cv, folds": (make_pipeline(LassoCV(cv=PredefinedSplit([0, 0, 0, 1, 1, 1]))), *SORTED, ABOUT_ROWS.format("lassocv__cv")),
    "has_time": (HasTime(has_time=True), *SORTED, ABOUT_ROWS.format("has_time")),
    # parameters of GroupedRanker
    "estimator, text": ("ridge", {}, X, {}, "estimator must be an estimator.*'ridge'"),
    "estimator, a class": (Ridge, {}, X, {}, "estimator must be an estimator"),
    "estimator, a transformer": (make_pipeline(StandardScaler()), {}, X, {}, NOT_ONE),
    "estimator, an empty Pipeline": (Pipeline([]), {}, X, {}, NOT_ONE),
    "estimator, passthrough": (make_pipeline("passthrough"), {}, X, {}, NOT_ONE),
    "estimator, a Pipeline in a Pipeline": (make_pipeline(make_pipeline(Ridge())), {}, X, {}, "not in another Pipeline"),
    "estimator, columns by number": (Sizes(categorical_feature=[0]), BY_Q, FRAME, {}, COUNTED.format(".*")),
    "group_by, no such column": (Qid(), {"group_by": "query"}, FRAME, {}, r"names none of the columns \['a', 'q'\]"),
    "group_by, ids": (Qid(), {"group_by": Q}, X, {}, "group_by must name columns.*pass ids themselves as groups"),
    "group_by, all columns": (Ridge(), {"group_by": ["a", "q"]}, FRAME, {}, "no feature is left"),
    "order_by, all others": (Ridge(), {**BY_Q, "order_by": "a"}, FRAME, {}, "no feature is left"),
    "order_by, no such column": (Ridge(), {"order_by": "day"}, FRAME, {}, "order_by='day' names none of the columns"),
    "order_by, order of rows": (
        Ridge(), {"order_by": lambda X: X["a"][::-1]}, FRAME, {}, "X and order_by have the same labels"),
    "k, 0": (Ridge(), {"k": 0}, X, {}, "k must be an integer >= 1 or None"),
    "k, text": (Ridge(), {"k": "retrieved"}, X, {}, "k must be an integer >= 1 or None"),
    "max_queries, 0": (Ridge(), {"max_queries": 0}, X, {}, "max_queries must be .* >= 1 or None, got 0"),
    "max_queries, 2.5": (Ridge(), {"max_queries": 2.5}, X, {}, "max_queries must be .*got 2.5"),
    "validation": (Ridge(), {"validation": "first"}, X, {}, "validation must be .*'first'"),
    "validation_fraction, 0": (Ridge(), {"validation_fraction": 0}, X, {}, "validation_fraction must be"),
    "validation_fraction, 1": (Ridge(), {"validation_fraction": 1.0}, X, {}, "validation_fraction must be"),
    "validation_fraction, too large": (
        Sizes(), {**STOP, "validation_fraction": 0.9}, X, {"groups": Q}, "hold out 3 of 3 queries"),
    "n_iter_no_change, 0": (Ridge(), {"n_iter_no_change": 0}, X, {}, "n_iter_no_change must be .* >= 1, got 0"),
    "n_iter_no_change, None": (Ridge(), {"n_iter_no_change": None}, X, {}, "n_iter_no_change must be .* >= 1, got None"),
    "early_stopping, 5": (Ridge(), {"early_stopping": 5}, X, {}, "early_stopping must be True or False"),
    "early_stopping, one query": (Sizes(), STOP, X, {"groups": [1] * 6}, "hold out 1 of 1 queries"),
    "early_stopping, unknown library": (Sizes(), STOP, X, {"groups": Q}, "cannot stop Sizes: it needs a ranker of .* with scoring="),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    estimator, parameters, rows, given, words = BAD[name]
    with pytest.raises((ValueError, TypeError), match=f"(?s){words}"):
        GroupedRanker(estimator, **parameters).fit(rows, **({"y": Y} | given))


@pytest.mark.parametrize("inner", [Ridge(), LogisticRegression(), Qid()])
@pytest.mark.parametrize("labels", ["float", "object", "Int64"])
def test_y_must_have_no_missing_values(inner, labels):
    y = pd.Series(Y).astype(labels)
    y[[2, 4]] = pd.NA if labels == "Int64" else np.nan
    with pytest.raises(ValueError, match="Input (y )?contains NaN"):
        GroupedRanker(inner).fit(X, y, groups=Q)


def test_what_counts_no_rows_may_be_passed():
    GroupedRanker(HasTime()).fit(X, Y, groups=Q)
    search = GridSearchCV(Ridge(), {"alpha": [1]}, cv=2)  # a splitter may be a number
    GroupedRanker(search, max_queries=2).fit(X, Y, groups=Q)
    for start in (np.zeros((6, 2)), None):
        GroupedRanker(Sizes()).fit(X, Y, groups=Q, init_score=start)
    unlike = pd.Series(X[:, 0], index=range(1006, 1000, -1))  # says nothing about the order
    GroupedRanker(Sizes()).fit(FRAME, Y, groups=Q, init_score=unlike)


# --- what counts columns, where one is removed


@pytest.mark.parametrize(
    ("name", "value", "counts"),
    [
        ("categorical_feature", [3], True),
        ("categorical_feature", "0,3", True),
        ("categorical_feature", "3", True),
        ("categorical_feature", "auto", False),
        ("categorical_feature", "name:a,b2", False),
        ("categorical_features", "from_dtype", False),
        ("categorical_feature", ["a", "b"], False),
        ("categorical_feature", ["a", 2], True),
        ("categorical_feature", np.array([False, True, False]), True),
        ("interaction_constraints", [["a"], ["b", "c"]], False),
        ("interaction_constraints", [[0], [1, 2]], True),
        ("monotone_constraints", (0, 1), True),
        ("monotone_constraints", "(0,1)", True),
        ("monotonic_cst", {"a": 1}, False),
        ("feature_weights", [1.0, 0.5], True),
        ("cat_feature", None, False),
    ],
)
def test_group_by_and_a_setting_that_counts_columns(name, value, counts):
    ranker = GroupedRanker(Settings(**{name: value}), group_by="q")
    words = f"{name}=.*columns by number, but the column 'q'"
    with pytest.raises(ValueError, match=words) if counts else nullcontext():
        ranker.fit(FRAME, Y)


def test_group_by_and_fit_params_that_name_columns():
    ranker = GroupedRanker(GroupId(), group_by="q").fit(FRAME, Y, cat_features=["a"])
    assert ranker.estimator_.given_["cat_features"] == ["a"]


def chosen(columns):
    return make_pipeline(make_column_transformer(("passthrough", columns)), Ridge())


@pytest.mark.parametrize(
    "columns",
    [[1, 2], [-1], slice(1, 3), slice(-2, None), np.array([False, True, True])], ids=repr,
)  # fmt: skip
def test_group_by_and_a_step_that_counts_columns(columns, data):
    X, y, query = data
    step = chosen(columns)[0]
    for inner in (
        chosen(columns), make_pipeline(StandardScaler(), step, Ridge()),
        make_pipeline(FeatureUnion([("some", make_pipeline(step))]), Ridge()),
        GridSearchCV(chosen(columns), {"ridge__alpha": [1]}),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="transformers=.* by number, but the column 0 is"):
            GroupedRanker(inner, group_by=0).fit(np.c_[query, X], y)
    assert GroupedRanker(chosen(columns)).fit(X.to_numpy(), y, groups=query)


@pytest.mark.parametrize(
    "columns",
    [["a", "b"], slice("a", "b"), slice(None), make_column_selector("a"), lambda X: [0]],
)
def test_group_by_and_a_step_that_names_columns(columns, data):
    X, y, query = data
    expected = chosen(columns).fit(X, y).predict(X)
    ranker = GroupedRanker(chosen(columns), group_by="q").fit(X.assign(q=query)[list("qabc")], y)
    np.testing.assert_allclose(ranker.predict(X), expected)


class Settings(Recorder):
    """An estimator with any parameters."""

    def __init__(self, **settings):
        self.settings = settings

    def get_params(self, deep=True):
        return self.settings

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y, sample_weight=None, **fit_params):
        return self._record(X, y)


BOOSTING = HistGradientBoostingRegressor(categorical_features=[0], max_iter=2)
BY_TRANSFORMER = make_column_transformer((OrdinalEncoder(), ["a"]), remainder="passthrough")
COUNTING = {  # what may count columns
    "grid": {"param_grid": {"categorical_features": [None, [0]]}},
    "grid of a Pipeline": {"param_grid": [{"boosting__categorical_features": [[True, False]]}]},
    "distributions": {"param_distributions": {"monotonic_cst": [[1, 0]]}},
    "grid of texts": {"search_spaces": {"monotone_constraints": ["(0,1)", "(1,0)"]}},
    "grid of transformers": {"param_grid": {"a__transformers": [[("a", "drop", [0])]]}},
    "grid of estimators": {"param_grid": {"regressor": [Ridge(), BOOSTING]}},
    "grid of numbers": {"param_grid": {"categorical_feature": [0, 1]}},
    "estimators": {"estimators": [("a", Ridge()), ("b", BOOSTING)]},
    "estimator": {"regressor": make_pipeline(StandardScaler(), BOOSTING)},
    "behind a ColumnTransformer": {"steps": [("a", BY_TRANSFORMER), ("b", BOOSTING)]},
    "inside a ColumnTransformer": {"a": make_column_transformer((BOOSTING, ["a"]))},
    "options": {"kw_args": {"columns": 1}},
    "a scorer": {"scoring": make_ndcg_scorer(group_by=0)},
    "a splitter": {"cv": QuerySplitter(3, order_by=-1)},
    "fixed features": {"fixed_features": (1, 3)},
    "cols": {"cols": np.array([0, 2])},
    "ignored": {"ignored_features": 2},
    "ignored texts": {"ignored_features": ["2"]},
    "penalties": {"first_feature_use_penalties": "1:1000000"},
    "penalties of objects": {"per_object_feature_penalties": {1: 10.0}},
    "quantization": {"per_float_feature_quantization": ["1:border_count=10"]},
    "ctr": {"per_feature_ctr": ["2:Borders:Prior=0.5"]},
    "constraints": {"monotone_constraints": "a:1,1:1"},
    "sets": {"interaction_cst": [{0, 1}]},
    "a file": {"forcedsplits_filename": "splits.json"},
}
NOT_COUNTING = {
    "numbers": {"n_estimators": 3, "max_features": 2, "min_features_to_select": 1, "k_features": (1, 2)},
    "layers": {"hidden_layer_sizes": (3, 2), "eval_at": [1, 3], "label_gain": [0, 1, 3]},
    "weights": {"class_weight": {0: 1}, "transformer_weights": {"categorical": 2}},
    "fractions": {"feature_fraction": 1, "colsample_bytree": 1, "feature_range": (0, 1)},
    "switches": {"enable_categorical": True, "feature_pre_filter": False, "interaction_only": True},
    "grid": {"param_grid": {"max_depth": [3, 5], "max_features": [1, 2], "n_features_to_select": [1]}},
    "grid of switches": {"param_grid": {"keep_empty_features": [True, False]}},
    "grid of names": {"param_grid": [{"categorical_features": [["a"], "from_dtype", None]}]},
    "names": {"monotonic_cst": {"feature_1": 1}, "interaction_constraints": [["a"], ["b"]]},
    "names of digits": {"categorical_features": ["2020"]},
    "types": {"feature_types": ["q", "c"], "dtype": np.float32, "regressor": Ridge},
    "a transformer of names": {"a": make_column_transformer((StandardScaler(), ["a"]), (StandardScaler(), ["2020"]))},
    "a scorer": {"scoring": make_ndcg_scorer(k=[1, 3], group_by="day"), "cv": QuerySplitter(3)},
    "categories": {"categories": [[0, 1, 2]], "ngram_range": (1, 2), "quantile_range": (25, 75)},
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTING)
def test_group_by_and_what_may_count_columns(name):
    table = FRAME.assign(**{"2020": 1.0})
    words = r"may refer to columns by number.*'q' is removed from X: name .* index level, or pass"
    with pytest.raises(ValueError, match=f"(?s){words}"):
        GroupedRanker(Settings(**COUNTING[name]), group_by="q").fit(table, Y)
    with pytest.raises(ValueError, match="columns by number.*'2020' is removed"):
        GroupedRanker(Settings(**COUNTING[name]), order_by="2020").fit(table, Y)
    # the ways out
    GroupedRanker(Settings(**COUNTING[name])).fit(table, Y, groups=Q)
    GroupedRanker(Settings(**COUNTING[name]), group_by="q").fit(table.set_index("q"), Y)


@pytest.mark.parametrize("name", NOT_COUNTING)
def test_group_by_and_what_does_not_count_columns(name):
    table = FRAME.assign(**{"2020": 1.0})
    GroupedRanker(Settings(**NOT_COUNTING[name]), group_by="q").fit(table, Y)


def test_group_by_and_fit_params_with_a_value_per_row():
    """These are not about columns, whatever their names are."""
    GroupedRanker(Settings(), group_by="q").fit(FRAME, Y, sensitive_features=[0, 1] * 3)


@pytest.mark.filterwarnings("ignore:Class .* is deprecated:FutureWarning")
def test_group_by_and_default_parameters_of_every_estimator():
    """No estimator is refused as it is made."""
    for _, kind in all_estimators(type_filter=["regressor", "transformer"]):
        parameters = signature(kind).parameters.values()
        if all(parameter.default is not Parameter.empty for parameter in parameters):
            GroupedRanker(Settings(inner=kind()), group_by="q").fit(FRAME, Y)


def test_group_by_and_a_search_over_categorical_features(data):
    X, y, query = data
    rows = np.c_[query, X["a"] > 0, X]
    boosting = HistGradientBoostingRegressor(max_iter=2)
    search = GridSearchCV(boosting, {"categorical_features": [[1]]}, cv=2)
    with pytest.raises(ValueError, match=r"categorical_features=\[\[1\]\] may refer to columns"):
        GroupedRanker(search, group_by=0).fit(rows, y)
    inner = GroupedRanker(search.set_params(param_grid={"categorical_features": [[0]]}))
    best = inner.fit(rows[:, 1:], y, groups=query).estimator_.best_estimator_
    assert best.is_categorical_.tolist() == [True, False, False, False]
