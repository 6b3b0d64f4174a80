"""What the tools around scikit-learn do with query ids: each is run, and compared by hand.

``python tests/tools/other_tools.py`` rewrites the rows of docs/other_tools.md whose tools are there;
``nox -s tools`` runs the tests of all of them, each in an environment that has it.
"""

import contextlib
import io
import logging
import os
import tempfile
import warnings
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from unittest import mock

import numpy as np
import pandas as pd
import sklearn
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeRegressor

from sklearn_ndcg import GroupedRanker, QuerySplitter, make_ndcg_scorer, ndcg_score

PAGE = Path(__file__).parents[2] / "docs" / "other_tools.md"
ALPHAS = [0.1, 10.0, 1000.0]
FEATURES = list("abcd")
K = 3
EQUAL = 1e-9


class Case(NamedTuple):
    """One way of showing the query ids to a tool."""

    X: pd.DataFrame
    y: object
    query: np.ndarray
    group_by: object
    scorer: object
    metadata: dict

    @property
    def splits(self):
        """Whole queries, a quarter of the ids in each fold, the rows in the order of X."""
        folds = [np.isin(self.query, ids) for ids in np.array_split(np.unique(self.query), 4)]
        return [(np.flatnonzero(~fold), np.flatnonzero(fold)) for fold in folds]

    @property
    def cv(self):
        """What a user passes for these splits; the rows may be in another order."""
        if self.metadata:
            return self.splits
        return QuerySplitter(KFold(4), group_by=self.group_by)

    @property
    def grades(self):
        return np.asarray(self.y)

    @property
    def features(self):
        return self.X[FEATURES]

    @property
    def ranker(self):
        return GroupedRanker(Ridge(), group_by=self.group_by)


def labels(X):
    return X.index


# X, y and `group_by`
WAYS = {
    "index of X": lambda X, y, q: (X.set_index(q), y, "query"),
    "index of X and y": lambda X, y, q: (X.set_index(q), pd.Series(y, q), "query"),
    "column": lambda X, y, q: (X.assign(query=q), y, "query"),
    "callable": lambda X, y, q: (X.set_index(q), y, labels),
    "routed": lambda X, y, q: (X, y, None),
}


@contextlib.contextmanager
def case(way="index of X", guarded=False):
    """The same ragged, shuffled data, its ids where `way` says; routing on where that needs it."""
    rng = np.random.default_rng(0)
    code = rng.permutation(np.repeat(np.arange(40), rng.integers(2, 9, size=40)))
    X = pd.DataFrame(rng.normal(size=(len(code), 4)), columns=FEATURES)
    level = rng.integers(-1, 3, size=40)[code]  # queries differ in their grades
    y = np.clip(np.round(X["a"] - X["b"] / 2 + level + rng.normal(size=len(code))), 0, 4)
    y = y.to_numpy(int)
    y[np.unique(code, return_index=True)[1]] = 1  # no query without a relevant document
    X, y, group_by = WAYS[way](X, y, pd.Index(code, name="query"))
    options = {"all_groups": code} if guarded else {}
    scorer = make_ndcg_scorer(k=K, group_by=group_by, undefined=0.0, **options)
    metadata = {} if group_by else {"groups": code}
    with sklearn.config_context(enable_metadata_routing=bool(metadata)):
        yield Case(X, y, code, group_by, scorer, metadata)


def by_hand(y, score, query):
    """Mean NDCG over queries, in a loop over queries and ranks; tied documents share their gains."""
    values = []
    for each in np.unique(query):
        gains, scores = y[query == each], score[query == each]
        dcg = ideal = 0.0
        for rank in range(min(K, len(gains))):
            discount = np.log2(rank + 2)
            dcg += gains[scores == np.sort(scores)[::-1][rank]].mean() / discount
            ideal += np.sort(gains)[::-1][rank] / discount
        values.append(dcg / ideal if ideal else 0.0)
    return np.mean(values)


def score_by_hand(c, model, X, y):
    """A scorer of all rows in their order; or of a column, which tools permute like any other."""
    query = X["query"].to_numpy() if "query" in X else c.query
    return by_hand(np.asarray(y), model.predict(X), query)


def folds_by_hand(model, c, X=None):
    X = c.X if X is None else X
    scores = []
    for train, test in c.splits:
        fitted = clone(model).fit(X.iloc[train], c.grades[train])
        scores.append(by_hand(c.grades[test], fitted.predict(X.iloc[test]), c.query[test]))
    return np.array(scores)


def mean_by_hand(c, names=None, model=None):
    return folds_by_hand(model or Ridge(), c, c.X if names is None else c.X[list(names)]).mean()


def of_alphas(c, alphas):
    return [mean_by_hand(c, model=Ridge(alpha=alpha)) for alpha in alphas]


def cross_validated(c, model, cv=None):
    options = {"params": c.metadata} if c.metadata else {}
    options |= {"scoring": c.scorer, "cv": cv or c.cv, "error_score": "raise"}
    return cross_val_score(model, c.X, c.y, **options).mean()


# ---- searches


def optuna_study(c):
    import optuna

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(
        lambda trial: cross_validated(c, Ridge(alpha=trial.suggest_float("alpha", 1, 900))),
        n_trials=3,
    )
    return [t.value for t in study.trials], of_alphas(c, [t.params["alpha"] for t in study.trials])


def optuna_search(c, **options):
    from optuna.distributions import FloatDistribution
    from optuna_integration import OptunaSearchCV

    search = OptunaSearchCV(
        Ridge(), {"alpha": FloatDistribution(1, 900)}, scoring=c.scorer, cv=c.cv, n_trials=3,
        random_state=0, refit=False, **options,
    ).fit(c.X, c.y, **c.metadata)  # fmt: skip
    trials = search.study_.trials
    return [t.value for t in trials], of_alphas(c, [t.params["alpha"] for t in trials])


def bayes_search(c):
    from skopt import BayesSearchCV

    search = BayesSearchCV(
        Ridge(), {"alpha": (1.0, 900.0)}, n_iter=3, scoring=c.scorer, cv=c.cv, random_state=0,
        error_score="raise",
    ).fit(c.X, c.y, **c.metadata)  # fmt: skip
    results = search.cv_results_
    return results["mean_test_score"], of_alphas(c, results["param_alpha"])


def genetic_search(c):
    from sklearn_genetic import GASearchCV
    from sklearn_genetic.space import Continuous

    search = GASearchCV(
        estimator=Ridge(), param_grid={"alpha": Continuous(1, 900)}, cv=c.cv, scoring=c.scorer,
        population_size=4, generations=2, verbose=False, error_score="raise",
    ).fit(c.X, c.y)  # fmt: skip
    results = search.cv_results_
    return results["mean_test_score"], of_alphas(c, results["param_alpha"])


def genetic_selection(c):
    from sklearn_genetic import GAFeatureSelectionCV

    search = GAFeatureSelectionCV(
        estimator=Ridge(), cv=c.splits, scoring=c.scorer, population_size=4, generations=2,
        verbose=False, error_score="raise",
    ).fit(c.X, c.y)  # fmt: skip
    results = search.cv_results_
    subsets = [c.X.columns[np.asarray(each, bool)] for each in results["features"]]
    return results["mean_test_score"], [mean_by_hand(c, each) for each in subsets]


def hyperopt_fmin(c):
    from hyperopt import Trials, fmin, hp, rand

    trials = Trials()
    fmin(
        lambda alpha: -cross_validated(c, Ridge(alpha=alpha)), hp.uniform("alpha", 1, 900),
        algo=rand.suggest, max_evals=3, trials=trials, rstate=np.random.default_rng(0),
        show_progressbar=False,
    )  # fmt: skip
    return -np.array(trials.losses()), of_alphas(c, trials.vals["alpha"])


def tpot(c):
    from ConfigSpace import ConfigurationSpace, Float
    from tpot import TPOTEstimator
    from tpot.search_spaces.nodes import EstimatorNode

    space = ConfigurationSpace(space=[Float("alpha", (1.0, 900.0))])
    search = TPOTEstimator(
        search_space=EstimatorNode(Ridge, space), scorers=[c.scorer], scorers_weights=[1],
        classification=False, cv=c.cv, population_size=3, generations=1, n_jobs=1,
        processes=False, random_state=0, verbose=0,
    ).fit(c.X, c.y)  # fmt: skip
    tried = search.evaluated_individuals
    models = [each.export_pipeline() for each in tried["Individual"]]
    return tried.iloc[:, 0].astype(float), [mean_by_hand(c, model=model) for model in models]


def hyperactive(c):
    from hyperactive.experiment.integrations import SklearnCvExperiment

    experiment = SklearnCvExperiment(Ridge(), c.X, c.y, scoring=c.scorer, cv=c.cv)
    return [experiment.score({"alpha": a})[0] for a in ALPHAS], of_alphas(c, ALPHAS)


def dask_search(c, iid=False):
    from dask_ml.model_selection import GridSearchCV as DaskGridSearchCV

    search = DaskGridSearchCV(
        Ridge(), {"alpha": ALPHAS}, scoring=c.scorer, cv=c.cv, iid=iid, scheduler="sync",
    ).fit(c.X, c.y, **c.metadata)  # fmt: skip
    return search.cv_results_["mean_test_score"], of_alphas(c, ALPHAS)


# ---- selection of features


def mlxtend_subsets(selector, c):
    found = selector.fit(c.X, c.y, **c.metadata).subsets_.values()
    got = [each["cv_scores"] for each in found]
    return got, [folds_by_hand(Ridge(), c, c.X[list(each["feature_names"])]) for each in found]


def mlxtend_sequential(c):
    from mlxtend.feature_selection import SequentialFeatureSelector

    return mlxtend_subsets(
        SequentialFeatureSelector(Ridge(), k_features=2, scoring=c.scorer, cv=c.splits), c
    )


def mlxtend_exhaustive(c):
    from mlxtend.feature_selection import ExhaustiveFeatureSelector

    return mlxtend_subsets(
        ExhaustiveFeatureSelector(
            Ridge(), min_features=4, max_features=4, scoring=c.scorer, cv=c.splits,
            print_progress=False,
        ),
        c,
    )  # fmt: skip


def single_feature_performance(c):
    from feature_engine.selection import SelectBySingleFeaturePerformance

    selector = SelectBySingleFeaturePerformance(
        Ridge(), scoring=c.scorer, cv=c.cv, threshold=0.01, variables=FEATURES
    ).fit(c.X, c.y)
    got = selector.feature_performance_
    return [got[name] for name in FEATURES], [mean_by_hand(c, [name]) for name in FEATURES]


def recursive_elimination(c):
    from feature_engine.selection import RecursiveFeatureElimination

    selector = RecursiveFeatureElimination(
        Ridge(), scoring=c.scorer, cv=c.cv, threshold=-10, variables=FEATURES
    ).fit(c.X, c.y)
    without = [mean_by_hand(c, c.X.columns.drop(name)) for name in FEATURES]
    got = [selector.performance_drifts_[name] for name in FEATURES]
    whole = mean_by_hand(c)
    return [selector.initial_model_performance_, *got], [whole, *(whole - np.array(without))]


def select_by_shuffling(c):
    from feature_engine.selection import SelectByShuffling

    def drifts(scoring, cv):
        selector = SelectByShuffling(
            Ridge(), scoring=scoring, cv=cv, threshold=-10, random_state=0, variables=list(c.X)
        ).fit(c.X, c.y)
        return [selector.initial_model_performance_, *selector.performance_drifts_.values()]

    got = drifts(c.scorer, c.cv)
    if "query" in c.X:
        return got, drifts(partial(score_by_hand, c), c.splits)
    return got[0], mean_by_hand(c)


def felimination(c):
    from felimination.rfe import PermutationImportanceRFECV

    selector = PermutationImportanceRFECV(Ridge(), scoring=c.scorer, cv=c.cv, random_state=0)
    results = selector.fit(c.X, c.y).cv_results_
    whole = int(np.argmax(results["n_features"]))
    return [results[f"split{i}_test_score"][whole] for i in range(4)], folds_by_hand(Ridge(), c)


def probatus(c):
    from probatus.feature_elimination import ShapRFECV
    from probatus.utils import Scorer

    model = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    report = ShapRFECV(
        model, cv=c.cv, scoring=Scorer("ndcg", custom_scorer=c.scorer), n_jobs=1,
        min_features_to_select=3, random_state=0,
    ).fit_compute(c.X, c.y)  # fmt: skip
    subsets = report["features_set"]
    got = report["val_metric_mean"].to_numpy(float)
    return got, [mean_by_hand(c, each, model) for each in subsets]


# ---- reports


def yellowbrick_cv_scores(c):
    from yellowbrick.model_selection import CVScores

    with drawing() as ax:
        view = CVScores(Ridge(), ax=ax, cv=c.cv, scoring=c.scorer).fit(c.X, c.y)
    return view.cv_scores_, folds_by_hand(Ridge(), c)


def yellowbrick_validation_curve(c):
    from yellowbrick.model_selection import ValidationCurve

    with drawing() as ax:
        view = ValidationCurve(
            Ridge(), "alpha", np.array(ALPHAS), ax=ax, cv=c.cv, scoring=c.scorer
        ).fit(c.X, c.y)
    return view.test_scores_, [folds_by_hand(Ridge(alpha=alpha), c) for alpha in ALPHAS]


def yellowbrick_rfecv(c):
    from sklearn.feature_selection import RFE
    from yellowbrick.model_selection import RFECV

    with drawing() as ax:
        view = RFECV(Ridge(), ax=ax, cv=c.splits, scoring=c.scorer).fit(c.X, c.y)
    sizes = range(1, c.X.shape[1] + 1)
    return view.cv_scores_, [folds_by_hand(RFE(Ridge(), n_features_to_select=n), c) for n in sizes]


@contextlib.contextmanager
def drawing():
    from matplotlib import pyplot

    with mock.patch.dict(os.environ, MPLBACKEND="agg"):
        pyplot.switch_backend("agg")
        figure, ax = pyplot.subplots()
        yield ax
        pyplot.close(figure)


def eli5_importance(c):
    from eli5.sklearn import PermutationImportance

    def importances(scoring):
        model = PermutationImportance(
            Ridge().fit(c.X, c.y), scoring=scoring, cv="prefit", n_iter=2, random_state=0
        )
        return model.fit(c.X, c.y).results_

    return importances(c.scorer), importances(partial(score_by_hand, c))


def rfpimp(c):
    from rfpimp import importances

    model, y = Ridge().fit(c.X, c.y), pd.Series(c.grades, c.X.index)

    def found(metric, n_samples=-1):
        np.random.seed(0)  # noqa: NPY002
        table = importances(model, c.X, y, n_samples=n_samples, metric=metric, sort=False)
        return table["Importance"].to_numpy()

    hand = found(lambda model, X, y, weights: score_by_hand(c, model, X, y))
    assert np.abs(found(c.scorer, n_samples=100) - hand).max() > 0.01  # parts of queries
    return found(c.scorer), hand


def skore_report(c):
    from skore import CrossValidationReport

    report = CrossValidationReport(Ridge(), c.X, c.y, splitter=c.cv)
    report.metrics.add(c.scorer, name="ndcg")
    table = report.metrics.summarize(metric="ndcg", data_source="test").frame(aggregate=None)
    return table.to_numpy(float).ravel(), folds_by_hand(Ridge(), c)


def deepchecks_performance(c):
    from deepchecks.tabular import Dataset
    from deepchecks.tabular.checks import TrainTestPerformance

    X = c.X
    if X.index.name == "query":  # it resets an index with duplicates
        X = X.set_index(pd.Index(range(len(X)), name="document"), append=True)
    train, test = c.splits[0]
    sets = [
        Dataset(X.iloc[rows].assign(grade=c.grades[rows]), label="grade", cat_features=[])
        for rows in (train, test)
    ]
    scorer = c.scorer
    if callable(c.group_by):
        scorer = clone(scorer).set_params(group_by=lambda X: X.index.get_level_values("query"))
    model = Ridge().fit(c.X.iloc[train], c.grades[train])
    found = TrainTestPerformance(scorers={"ndcg": scorer}).run(*sets, model).value
    hand = [
        by_hand(c.grades[rows], model.predict(c.X.iloc[rows]), c.query[rows])
        for rows in (train, test)
    ]
    return found.set_index("Dataset").loc[["Train", "Test"], "Value"], hand


def mlflow_autolog(c):
    with mlflow_run() as mlflow:
        mlflow.sklearn.autolog(log_models=False, log_datasets=False)
        search = GridSearchCV(
            Ridge(), {"alpha": ALPHAS}, scoring=c.scorer, cv=c.cv, error_score="raise"
        )
        with mlflow.start_run() as run:
            search.fit(c.X, c.y, **c.metadata)
        mlflow.sklearn.autolog(disable=True)
        got = mlflow.get_run(run.info.run_id).data.metrics["best_cv_score"]
    return got, max(of_alphas(c, ALPHAS))


@contextlib.contextmanager
def mlflow_run():
    import mlflow

    with tempfile.TemporaryDirectory() as folder:
        mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
        mlflow.set_experiment(experiment_id=mlflow.create_experiment("ndcg", Path(folder).as_uri()))
        yield mlflow


# ---- Pipelines and other learners


def imblearn_sampler(c, sampler, **options):
    from imblearn import over_sampling, under_sampling
    from imblearn.pipeline import make_pipeline as with_sampler

    draw = getattr(under_sampling if "Under" in sampler else over_sampling, sampler)(
        random_state=0, **options
    )
    ranker = c.ranker.set_params(estimator=lightgbm_ranker())
    if c.metadata:
        ranker.set_fit_request(groups=True)
    got = cross_validated(c, with_sampler(draw, ranker), c.splits)
    expected = []
    for train, test in c.splits:
        drawn = clone(draw)
        drawn.fit_resample(c.features.iloc[train], c.grades[train])
        model = ranker_by_hand(c, train[drawn.sample_indices_])
        score = model.predict(c.features.iloc[test])
        expected.append(by_hand(c.grades[test], score, c.query[test]))
    return got, np.mean(expected)


def lightgbm_ranker():
    from lightgbm import LGBMRanker

    return LGBMRanker(n_estimators=5, min_child_samples=2, n_jobs=1, verbose=-1)


def ranker_by_hand(c, rows):
    rows = rows[np.argsort(c.query[rows], kind="stable")]
    sizes = np.unique(c.query[rows], return_counts=True)[1]
    return lightgbm_ranker().fit(c.features.iloc[rows], c.grades[rows], group=sizes)


def skrub_search(c):
    import skrub

    X, y = skrub.X(c.X), skrub.y(c.y)
    alpha = skrub.choose_from(ALPHAS, name="alpha")
    search = X.skb.apply(Ridge(alpha=alpha), y=y).skb.make_grid_search(
        fitted=True, scoring=c.scorer, cv=c.cv, error_score="raise"
    )
    found = search.results_
    return found["mean_test_score"], of_alphas(c, found["alpha"])


def skrub_cross_validate(c):
    import skrub

    learner = skrub.X(c.X).skb.apply(c.ranker, y=skrub.y(c.y))
    got = learner.skb.cross_validate(scoring=c.scorer, cv=c.cv, error_score="raise")
    return got["test_score"], folds_by_hand(Ridge(), c, c.features)


def category_encoder(c):
    """Text is encoded in front of the ranker, which scores itself; ids of a column are text too."""
    from category_encoders import OrdinalEncoder

    if "query" in c.X:
        c = c._replace(X=c.X.assign(query=[f"q{each}" for each in c.query]))
    kind = np.array(["low", "mid", "top"], object)[np.digitize(c.X["c"], [-0.5, 0.5])]
    ranker, scorer = c.ranker.set_params(k=K), None
    if c.metadata:
        ranker, scorer = ranker.set_fit_request(groups=True), c.scorer
    model = make_pipeline(OrdinalEncoder(), ranker)
    got = cross_validated(c._replace(X=c.X.assign(kind=kind), scorer=scorer), model, c.splits)
    expected = []
    for train, test in c.splits:
        number = {each: i for i, each in enumerate(pd.unique(kind[train]), 1)}
        X = c.features.assign(kind=[number[each] for each in kind])
        score = Ridge().fit(X.iloc[train], c.grades[train]).predict(X.iloc[test])
        expected.append(by_hand(c.grades[test], score, c.query[test]))
    return got, np.mean(expected)


def skrub_vectorizer(c):
    """Around the vectorizer, the ranker takes the ids away before they are vectorized."""
    from skrub import TableVectorizer

    inner = make_pipeline(TableVectorizer(), Ridge())
    ranker = c.ranker.set_params(estimator=inner)
    if c.metadata:
        ranker.set_fit_request(groups=True)
    single = c.features.astype("float32")
    return cross_validated(c, ranker), mean_by_hand(c._replace(X=single))


def skorch_net(seed=0, **options):
    import torch
    from skorch import NeuralNetRegressor

    class Linear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(seed)
            self.weights = torch.nn.Linear(4, 1)

        def forward(self, X):
            return self.weights(X).squeeze(-1)  # y is 1-D

    options = {"max_epochs": 3, "verbose": 0, "iterator_train__shuffle": False} | options
    return NeuralNetRegressor(Linear, **options)


def skorch_pipeline(c):
    to_floats = FunctionTransformer(lambda X: X[FEATURES].to_numpy("float32"))
    model = make_pipeline(to_floats, skorch_net(train_split=None))
    c = c._replace(y=c.y.astype("float32"))
    return cross_validated(c, model, c.splits), mean_by_hand(c, model=model)


# ---- tools that take something else: `run` gives what they give, and what is right


def flaml_fit(c, **settings):
    """Scores in the metric, the same by hand, and whether the metric has got whole queries."""
    from flaml import AutoML

    sizes = np.bincount(c.query)
    scores, hand, whole = [], [], []

    def loss(
        X_val, y_val, model, labels, X_train, y_train, weight_val, weight_train, config=None,
        groups_val=None, groups_train=None,
    ):  # fmt: skip
        query = np.asarray(X_val.get("query", groups_val), int)
        score = model.predict(X_val)
        scores.append(ndcg_score(y_val, score, groups=query, k=K, undefined=0.0))
        hand.append(by_hand(np.asarray(y_val), score, query))
        whole.append((np.bincount(query)[query] == sizes[query]).all())
        return 1 - scores[-1], {}

    X = c.X.reset_index() if settings["task"] == "regression" else c.features
    AutoML().fit(
        X, c.y, metric=loss, estimator_list=["lgbm"], max_iter=3,
        seed=0, n_jobs=1, retrain_full=False, log_file_name="", verbose=0, **settings,
    )  # fmt: skip
    return scores, hand, all(whole)


def flaml_rank(c):
    scores, hand, whole = flaml_fit(c, task="rank", groups=c.query)
    assert whole
    return scores, hand


def flaml_regression(c):
    scores, hand, whole = flaml_fit(c, task="regression", split_type="group", groups=c.query)
    assert whole
    with quiet():
        assert not flaml_fit(c, task="regression")[2]
    return scores, hand


def boruta(c):
    from boruta import BorutaPy
    from lightgbm import LGBMRanker

    class Ranker(GroupedRanker):
        def set_params(self, **params):
            return super().set_params(**{f"estimator__{name}": params[name] for name in params})

    class ByHand(LGBMRanker):
        def fit(self, X, y):
            rows = np.argsort(c.query, kind="stable")
            return super().fit(X[rows], y[rows], group=np.bincount(c.query))

    options = {"max_depth": 3, "min_child_samples": 2, "n_jobs": 1, "verbose": -1}
    found = [
        BorutaPy(model, n_estimators=10, max_iter=10, random_state=0).fit(
            c.X[FEATURES].to_numpy(), c.grades
        )
        for model in (
            Ranker(LGBMRanker(**options), group_by=lambda X: c.query), ByHand(**options),
        )
    ]  # fmt: skip
    return [each.ranking_ for each in found]


def dalex_parts(c):
    from dalex import Explainer

    X = c.X.reset_index(drop=True)  # it refuses an index that repeats
    explainer = Explainer(Ridge().fit(X, c.y), X, c.y, verbose=False)

    def losses(loss, **options):
        parts = explainer.model_parts(loss_function=loss, B=1, random_state=0, **options)
        return parts.result.set_index("variable")["dropout_loss"].sort_index()

    def ours(y, score):
        return 1 - ndcg_score(y, score, groups=c.query, k=K, undefined=0.0)

    got = losses(ours, N=None)
    right = 1 - by_hand(c.y, explainer.model.predict(X), c.query)
    assert abs(losses(ours)["_full_model_"] - right) > 0.01  # N=1000 shuffles the rows
    hand = losses(lambda y, score: 1 - by_hand(y, score, c.query), N=None)
    return [got["_full_model_"], *got], [right, *hand]


def shap_values(c):
    import shap

    X = c.X.reset_index()
    ranker = GroupedRanker(lightgbm_ranker(), group_by="query").fit(X, c.y)
    found = shap.TreeExplainer(ranker.estimator_)(X[FEATURES])
    right = ranker_by_hand(c, np.arange(len(c.y))).predict(c.features)
    return found.base_values + found.values.sum(axis=1), right


def onnx(c):
    import onnxruntime
    from skl2onnx import to_onnx

    ranker = GroupedRanker(Ridge(), group_by="query").fit(c.X, c.y)
    X = c.X.to_numpy("float32")
    session = onnxruntime.InferenceSession(to_onnx(ranker.estimator_, X).SerializeToString())
    got = session.run(None, {"X": X})[0].ravel()
    return by_hand(c.y, got, c.query), by_hand(c.y, ranker.predict(c.X), c.query)


def mlflow_model(c):
    import skops.io

    ranker = c.ranker.fit(c.X, c.y)
    trusted = skops.io.get_untrusted_types(data=skops.io.dumps(ranker))
    with mlflow_run() as mlflow, mlflow.start_run():
        model = mlflow.sklearn.log_model(ranker, name="ranker", skops_trusted_types=trusted)
        again = mlflow.sklearn.load_model(model.model_uri)
    return again.predict(c.X), ranker.predict(c.X)


def skops_dump(c):
    import skops.io

    search = GridSearchCV(c.ranker, {"estimator__alpha": ALPHAS}, scoring=c.scorer, cv=c.cv)
    search.fit(c.X, c.y)
    data = skops.io.dumps(search)
    again = skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))
    score = by_hand(c.y, search.predict(c.X), c.query)
    return [again.score(c.X, c.y), *again.predict(c.X)], [score, *search.predict(c.X)]


def skrub_with_scoring(c):
    import skrub

    data = skrub.var("data", c.X.reset_index().assign(grade=c.y))
    X = data.drop(columns="grade").skb.mark_as_X()
    learner = X.drop(columns="query").skb.apply(Ridge(), y=data["grade"].skb.mark_as_y())
    scorer = make_scorer(ndcg_score, k=K)
    learner = learner.skb.with_scoring(scorer, kwargs={"groups": X["query"]})
    found = learner.skb.cross_validate(cv=c.splits, error_score="raise")
    return found["test_score"], folds_by_hand(Ridge(), c, c.features)


def skorch_epochs(c):
    from skorch.callbacks import EpochScoring
    from skorch.dataset import ValidSplit

    query = c.query
    scorer = make_ndcg_scorer(k=K, group_by=lambda part: query[part.indices], undefined=0.0)
    net = skorch_net(
        train_split=ValidSplit(QuerySplitter(KFold(4), group_by=lambda data: query)),
        callbacks=[("ndcg", EpochScoring(scorer, lower_is_better=False, name="ndcg"))],
    )
    X, y = c.features.to_numpy("float32"), c.y.astype("float32")
    net.fit(X, y)
    test = c.splits[0][1]
    return net.history[-1, "ndcg"], by_hand(y[test], net.predict(X[test]), query[test])


def mapie_intervals(c):
    from mapie.regression import CrossConformalRegressor

    fold = np.empty(len(c.y), int)
    for i, (_, test) in enumerate(c.splits):
        fold[test] = i
    return [
        CrossConformalRegressor(c.ranker, cv=cv).fit_conformalize(c.X, c.y).predict_interval(c.X)[1]
        for cv in (c.cv, PredefinedSplit(fold))
    ]


def of_queries(c, splitter, splits):
    """Which rows are in each part of a split, and by hand from these splits of query numbers."""
    got = QuerySplitter(splitter, group_by=c.group_by).split(c.X)
    everything = np.arange(len(c.query))
    return (
        [np.isin(everything, part) for parts in got for part in parts],
        [np.isin(c.query, np.unique(c.query)[part]) for parts in splits for part in parts],
    )


def skfolio_walk(c):
    from skfolio.model_selection import WalkForward

    splitter = WalkForward(test_size=5, train_size=10)
    return of_queries(c, splitter, splitter.split(np.zeros((40, 1))))


def skfolio_purged(c):
    from skfolio.model_selection import CombinatorialPurgedCV

    cv = CombinatorialPurgedCV(n_folds=4, n_test_folds=2, purged_size=1)
    splits = [(train, np.concatenate(tests)) for train, tests in cv.split(np.zeros((40, 1)))]
    return of_queries(c, splits, splits)


def tscv_gaps(c):
    from tscv import GapKFold

    splitter = GapKFold(n_splits=4, gap_before=1, gap_after=2)
    return of_queries(c, splitter, splitter.split(np.zeros((40, 1))))


class Tool(NamedTuple):
    """A row of the page: the package as pip knows it, the run, and what to set."""

    package: str
    run: object
    note: str


# Tools that take a scorer: `run` gives the scores of the tool, and those by hand.
SCORED = {
    "Optuna: a study of `cross_val_score`": Tool("optuna", optuna_study, ""),
    "`OptunaSearchCV`": Tool("optuna-integration", optuna_search, ""),
    "`OptunaSearchCV(subsample=0.5)`": Tool(
        "optuna-integration", partial(optuna_search, subsample=0.5),
        "draws rows: leave `subsample=1.0`",
    ),
    "scikit-optimize `BayesSearchCV`": Tool("scikit-optimize", bayes_search, ""),
    "sklearn-genetic-opt `GASearchCV`": Tool(
        "sklearn-genetic-opt", genetic_search, '`error_score="raise"`'
    ),
    "sklearn-genetic-opt `GAFeatureSelectionCV`": Tool(
        "sklearn-genetic-opt", genetic_selection, "makes arrays of X and y"
    ),
    "hyperopt: `fmin` of `cross_val_score`": Tool("hyperopt", hyperopt_fmin, ""),
    "TPOT": Tool("TPOT", tpot, "`scorers=[scorer], processes=False`; `cv` is not a list"),
    "hyperactive `SklearnCvExperiment`": Tool("hyperactive", hyperactive, ""),
    "dask-ml `GridSearchCV(iid=False)`": Tool("dask-ml", dask_search, ""),
    "dask-ml `GridSearchCV`": Tool(
        "dask-ml", partial(dask_search, iid=True), "weights folds by rows: use `iid=False`"
    ),
    "mlxtend `SequentialFeatureSelector`": Tool(
        "mlxtend", mlxtend_sequential, "`cv=list(splitter.split(X, y))`"
    ),
    "mlxtend `ExhaustiveFeatureSelector`": Tool(
        "mlxtend", mlxtend_exhaustive, "`cv=list(splitter.split(X, y))`"
    ),
    "feature-engine `SelectBySingleFeaturePerformance`": Tool(
        "feature-engine", single_feature_performance, ""
    ),
    "feature-engine `RecursiveFeatureElimination`": Tool(
        "feature-engine", recursive_elimination, ""
    ),
    "feature-engine `SelectByShuffling`": Tool(
        "feature-engine", select_by_shuffling, "resets the index"
    ),
    "felimination `PermutationImportanceRFECV`": Tool("felimination", felimination, ""),
    "probatus `ShapRFECV`": Tool(
        "probatus", probatus, '`scoring=Scorer("ndcg", custom_scorer=scorer)`'
    ),
    "yellowbrick `CVScores`": Tool("yellowbrick", yellowbrick_cv_scores, ""),
    "yellowbrick `ValidationCurve`": Tool("yellowbrick", yellowbrick_validation_curve, ""),
    "yellowbrick `RFECV`": Tool(
        "yellowbrick", yellowbrick_rfecv, "use scikit-learn's `RFECV`, routed"
    ),
    "eli5 `PermutationImportance`": Tool("eli5", eli5_importance, '`cv="prefit"`'),
    "rfpimp `importances`": Tool(
        "rfpimp", rfpimp, "`n_samples=-1`; the default draws 5000 rows"
    ),
    "skore `CrossValidationReport`": Tool(
        "skore", skore_report, '`report.metrics.add(scorer, name="ndcg")`'
    ),
    "deepchecks `TrainTestPerformance`": Tool(
        "deepchecks", deepchecks_performance,
        "the index must be unique: `(query, document)`; ignore \"single document\", and leave out "
        "`all_groups`: it first scores five rows",
    ),
    "mlflow `autolog` of `GridSearchCV`": Tool("mlflow", mlflow_autolog, ""),
    "imbalanced-learn: `RandomUnderSampler`, `GroupedRanker`": Tool(
        "imbalanced-learn",
        partial(imblearn_sampler, sampler="RandomUnderSampler", sampling_strategy="majority"),
        "in its own Pipeline",
    ),
    "imbalanced-learn: `RandomOverSampler`, `GroupedRanker`": Tool(
        "imbalanced-learn", partial(imblearn_sampler, sampler="RandomOverSampler"),
        "in its own Pipeline; drawn rows lose the index",
    ),
    "category_encoders in front of `GroupedRanker`": Tool(
        "category_encoders", category_encoder, "also encodes a column of ids"
    ),
    "skrub `TableVectorizer` inside `GroupedRanker`": Tool(
        "skrub", skrub_vectorizer, "`GroupedRanker(make_pipeline(TableVectorizer(), model))`"
    ),
    "skrub `.skb.make_grid_search`": Tool("skrub", skrub_search, ""),
    "skrub `.skb.cross_validate`": Tool("skrub", skrub_cross_validate, ""),
    "skorch in a Pipeline": Tool("skorch", skorch_pipeline, "1-D y: `.squeeze(-1)` in `forward`"),
}  # fmt: skip

# The others: `run` gives what the tool makes of our metric, ranker or splitter, and what is right.
OTHERS = {
    'FLAML, `task="rank"`': Tool(
        "FLAML", flaml_rank, "`fit(..., groups=ids, metric=loss)`; `loss` gets ids as `groups_val`"
    ),
    'FLAML, `task="regression"`': Tool(
        "FLAML", flaml_regression,
        '`fit(..., groups=ids, split_type="group", metric=loss)`; `loss` gets ids as a column of '
        "`X_val`; by default queries are cut",
    ),
    "BorutaPy": Tool(
        "Boruta", boruta,
        "a subclass of `GroupedRanker` whose `set_params(**params)` puts `estimator__` before each "
        "name; `group_by=lambda X: ids`",
    ),
    "dalex `model_parts`": Tool(
        "dalex", dalex_parts,
        "`loss_function=lambda y, score: 1 - ndcg_score(y, score, groups=ids), N=None`, as it "
        "shuffles rows otherwise; the index must be unique",
    ),
    "shap `TreeExplainer`": Tool(
        "shap", shap_values, "`TreeExplainer(ranker.estimator_)`, X without the id column"
    ),
    "skl2onnx (ONNX)": Tool("skl2onnx", onnx, "`to_onnx(ranker.estimator_, X)`"),
    "skops": Tool("skops", skops_dump, "`loads(data, trusted=get_untrusted_types(data=data))`"),
    "mlflow `log_model`": Tool(
        "mlflow", mlflow_model,
        "`skops_trusted_types=get_untrusted_types(data=dumps(ranker))`, from `skops.io`",
    ),
    "skrub `.skb.with_scoring`": Tool(
        "skrub", skrub_with_scoring,
        '`with_scoring(make_scorer(ndcg_score), kwargs={"groups": X["query"]})`, X as marked; '
        "`make_ndcg_scorer` gets no groups",
    ),
    "skorch `EpochScoring`": Tool(
        "skorch", skorch_epochs,
        "`group_by=lambda part: ids[part.indices]` in the scorer, "
        "`ValidSplit(QuerySplitter(4, group_by=lambda data: ids))`",
    ),
    "mapie `CrossConformalRegressor`": Tool("MAPIE", mapie_intervals, "`cv=QuerySplitter(...)`"),
    "skfolio `WalkForward`": Tool(
        "skfolio", skfolio_walk, '`QuerySplitter(WalkForward(...), group_by="query")`'
    ),
    "skfolio `CombinatorialPurgedCV`": Tool(
        "skfolio", skfolio_purged,
        "`QuerySplitter([(train, np.concatenate(tests)) for train, tests in cv.split(queries)])`",
    ),
    "tscv `GapKFold`": Tool("tscv", tscv_gaps, '`QuerySplitter(GapKFold(...), group_by="query")`'),
}  # fmt: skip

SHOWN = ["index of X", "index of X and y", "column", "routed"]
LABELS = {"yes": "", "yes, with a warning": "with a warning: ", "wrong": "wrong: "}


@contextlib.contextmanager
def quiet():
    """Tools may say what they like; the warnings of sklearn_ndcg are collected."""
    caught = []
    ours = SimpleNamespace(warn=lambda message, category, stacklevel: caught.append(message))
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(mock.patch("sklearn_ndcg._checks.warnings", ours))
        logging.disable()
        stack.callback(logging.disable, logging.NOTSET)
        yield caught


def outcome(row, way, guarded=False):
    """How one way of showing the ids works out, found by running it, and why."""
    try:
        with quiet() as caught, case(way, guarded=guarded) as c:
            got, expected = SCORED[row].run(c)
    except ImportError:
        raise
    except Exception as error:  # each tool has its own
        return "no", repr(error)
    got = np.asarray(got, float)  # None, of a trial that failed, is nan
    why = f"{got} for {expected}; {caught}"
    if np.allclose(got, expected, rtol=0, atol=EQUAL):
        return "yes, with a warning" if caught else "yes", why
    said = caught or np.isnan(got).any()
    return "no" if said else "wrong", why


def cell(outcomes):
    """What the page says about a tool: the ways that work, and those that are wrong in silence."""
    found = []
    for result, label in LABELS.items():
        ways = ", ".join(way for way in SHOWN if outcomes[way] == result)
        found += [label + ways.replace("index of X, index of X and y", "index")] * bool(ways)
    return "; ".join(found) or "none"


def is_right(row):
    with quiet() as caught, case() as c:
        got, expected = OTHERS[row].run(c)
    assert not caught
    return np.allclose(got, expected, rtol=0, atol=EQUAL)


def installed(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def rewrite():
    """Update the rows of the tools that are installed."""
    for row, tool in (SCORED | OTHERS).items():
        if not installed(tool.package):
            continue
        if row in SCORED:
            cells = [cell({way: outcome(row, way)[0] for way in SHOWN})]
        else:
            assert is_right(row), row
            cells = []
        new = " | ".join([f"| {row}", installed(tool.package), *cells, f"{tool.note} |"])
        lines = PAGE.read_text().splitlines()
        (number,) = (i for i, old in enumerate(lines) if old.startswith(f"| {row} | "))
        PAGE.write_text("\n".join([*lines[:number], new, *lines[number + 1 :]]) + "\n")


if __name__ == "__main__":
    rewrite()
