"""GroupedRanker passes scikit-learn's checks around many estimators."""

from importlib.util import find_spec

import pytest
from helpers import SKLEARN_VERSION
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    ElasticNet,
    GammaRegressor,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    SGDRegressor,
    TweedieRegressor,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

from sklearn_ndcg import GroupedRanker, one_ranking

# --- checks that fail, most of which fail for the inner estimator alone, too


def failed(reason, *checks):
    return dict.fromkeys((f"check_{check}" for check in checks), reason)


WEIGHTS = ("sample_weight_equivalence_on_dense_data", "sample_weight_equivalence_on_sparse_data")
# the check with sparse data takes any TypeError for a pass in scikit-learn 1.6
NOTICED = WEIGHTS[:1] if SKLEARN_VERSION < (1, 7) else WEIGHTS
TAKES_NO_WEIGHTS = failed(
    "weights are refused, as the estimator takes none",
    *NOTICED,
    *("sample_weights_list", "sample_weights_not_an_array", "sample_weights_not_overwritten"),
    *("sample_weights_pandas_series", "sample_weights_shape"),
)
REFUSES = failed(
    "a score without groups is refused, never taken for one ranking",
    *("array_api_input", "fit_score_takes_y", "pipeline_consistency"),
)
NO_GRADES = "labels must be whole numbers, and those of the check are not"
LABELS = failed(
    NO_GRADES,
    *("fit_check_is_fitted", "fit_idempotent", "regressor_data_not_an_array"),
    *("regressors_no_decision_function", "regressors_train"),
)
# scikit-learn leaves these out around XGBoost, whose tag is no_validation
N_FEATURES = failed(NO_GRADES, "n_features_in", "n_features_in_after_fitting")
BY_QUERY = failed("a weight is that of a query: rows with 0 are not left out", *WEIGHTS)

EVERY_DAY = [(Ridge(), {}), (LogisticRegression(), {})]
IN_CI = [
    (DecisionTreeClassifier(random_state=0), {}),
    (PoissonRegressor(), {}),
    (KNeighborsRegressor(), TAKES_NO_WEIGHTS),
    (PLSRegression(1), TAKES_NO_WEIGHTS),
    (
        make_pipeline(StandardScaler(with_mean=False), Ridge()),
        failed("the scaler gets no weights", *WEIGHTS),
    ),
]
ALONE = failed("the estimator alone fails, too", *WEIGHTS)
SLOWLY = [
    (DecisionTreeRegressor(random_state=0), {}),
    (ExtraTreeRegressor(random_state=0), {}),
    (RandomForestRegressor(3, random_state=0), ALONE),
    (RandomForestClassifier(3, random_state=0), ALONE),
    (GradientBoostingRegressor(n_estimators=5, random_state=0), ALONE),
    (HistGradientBoostingRegressor(max_iter=5), {}),
    (TweedieRegressor(), {}),
    (GammaRegressor(), {}),
    (Lasso(), {}),
    (ElasticNet(), {}),
    (HuberRegressor(), ALONE),
    (SGDRegressor(random_state=0), ALONE),
    (SVR(), ALONE),
    (LinearSVR(random_state=0), ALONE),
    (GaussianNB(), {}),
]
if find_spec("lightgbm"):
    import lightgbm

    ranker = lightgbm.LGBMRanker(n_estimators=3, n_jobs=1, verbose=-1)
    SLOWLY.append((ranker, LABELS | N_FEATURES))
if find_spec("xgboost"):
    import xgboost

    SLOWLY.append((xgboost.XGBRanker(n_estimators=3, n_jobs=1), LABELS | BY_QUERY))
if find_spec("catboost"):
    import catboost

    reads_rows_itself = failed(
        "the library alone fails, too: it reads rows and weights in its own way",
        *WEIGHTS,
        *("dtype_object", "estimator_sparse_array", "estimator_sparse_matrix"),
        *("estimator_sparse_tag", "estimators_empty_data_messages", "fit1d", "fit2d_1sample"),
        *("regressor_data_not_an_array", "sample_weights_not_an_array"),
    )
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    SLOWLY.append((catboost.CatBoostRanker(iterations=3, **quiet), reads_rows_itself))


def rankers():
    """One ranking, or no ids, which rankers of libraries cannot lack, around each estimator."""
    for inner_estimators, marks in (
        (EVERY_DAY, ()),
        (IN_CI, pytest.mark.ci),
        (SLOWLY, pytest.mark.slow),
    ):
        for inner, failures in inner_estimators:
            name = type(inner).__name__
            rankers = {f"{name}, one ranking": (one_ranking, failures)}
            if failures.keys().isdisjoint(LABELS):
                rankers[f"{name}, no ids"] = None, failures | REFUSES
            for label, (group_by, expected) in rankers.items():
                ranker = GroupedRanker(inner, group_by=group_by)
                yield pytest.param(ranker, expected, id=label, marks=marks)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("ranker", "expected"), list(rankers()))
def test_check_estimator(ranker, expected):
    results = check_estimator(ranker, expected_failed_checks=expected, on_fail=None, on_skip=None)
    passed_or_xfail = {False: {"passed", "skipped"}, True: {"xfail", "skipped"}}
    surprises = {
        each["check_name"]: each["exception"] or "passed"
        for each in results
        if each["status"] not in passed_or_xfail[each["expected_to_fail"]]
    }
    assert surprises == {}
    assert len(results) > 40
