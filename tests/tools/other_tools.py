"""Run tools of other projects that take a scorer, and compare their scores with a plain loop's.

    PYTHONPATH=tests python tests/tools/other_tools.py

writes the second table of docs/compatibility.md. Rows of tools that are not installed stay as they
are there; ``nox -s tools`` installs all of them.
"""

import contextlib
import io
import logging
import tempfile
import warnings
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
import pages
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from tool_cases import ALPHAS, WAYS, K, by_hand, case, folds_by_hand, means_by_hand

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer

NAME = "other tools that take a scorer"


def same(got, hand):
    return np.allclose(np.asarray(got, float), hand, rtol=0, atol=1e-9)  # None becomes nan


# ---- tools that take a scorer: their scores, and those by hand


def optuna_search(c, **options):
    from optuna.distributions import FloatDistribution
    from optuna_integration import OptunaSearchCV

    search = OptunaSearchCV(
        Ridge(),
        {"alpha": FloatDistribution(1, 900)},
        scoring=c.scorer,
        cv=c.cv,
        n_trials=3,
        random_state=0,
        refit=False,
        **options,
    ).fit(c.X, c.y, **c.metadata)
    trials = search.study_.trials
    return [t.value for t in trials], means_by_hand(c, [t.params["alpha"] for t in trials])


def bayes_search(c):
    from skopt import BayesSearchCV

    search = BayesSearchCV(
        Ridge(),
        {"alpha": (1.0, 900.0)},
        n_iter=3,
        scoring=c.scorer,
        cv=c.cv,
        random_state=0,
        error_score="raise",
    ).fit(c.X, c.y, **c.metadata)
    results = search.cv_results_
    return results["mean_test_score"], means_by_hand(c, results["param_alpha"])


def dask_search(c, **options):
    from dask_ml.model_selection import GridSearchCV as DaskGridSearchCV

    search = DaskGridSearchCV(
        Ridge(), {"alpha": ALPHAS}, scoring=c.scorer, cv=c.cv, scheduler="sync", **options
    ).fit(c.X, c.y, **c.metadata)
    return search.cv_results_["mean_test_score"], means_by_hand(c)


def mlxtend_selector(c):
    from mlxtend.feature_selection import SequentialFeatureSelector

    selector = SequentialFeatureSelector(Ridge(), k_features=2, scoring=c.scorer, cv=c.cv)
    found = selector.fit(c.X, c.y, **c.metadata).subsets_.values()
    hand = [folds_by_hand(Ridge(), c, c.X[list(each["feature_names"])]) for each in found]
    return [each["cv_scores"] for each in found], hand


def mlflow_autolog(c):
    """A metric of each fit is logged by its name, in which MLflow takes no "@"."""

    def logged(name):
        scorer = make_ndcg_scorer(k=[1, K], group_by=c.group_by, undefined=0.0, name=name)
        search = GridSearchCV(Ridge(), {"alpha": ALPHAS}, scoring=scorer, cv=c.cv, refit=False)
        with mlflow_folder() as mlflow:
            mlflow.sklearn.autolog(log_models=False, log_datasets=False)
            search.set_params(error_score="raise").fit(c.X, c.y, **c.metadata)
            mlflow.sklearn.autolog(disable=True)
            runs = mlflow.search_runs()
        key = f"metrics.mean_test_ndcg_at_{K}"
        return runs.dropna(subset=[key]).set_index("params.alpha")[key] if key in runs else None

    assert logged(None) is None
    return logged("ndcg_at_{k}")[[str(alpha) for alpha in ALPHAS]], means_by_hand(c)


@contextlib.contextmanager
def mlflow_folder():
    import mlflow

    with tempfile.TemporaryDirectory() as folder:
        mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
        mlflow.set_experiment(experiment_id=mlflow.create_experiment("ndcg", Path(folder).as_uri()))
        yield mlflow


def ranker_of(c, model):
    ranker = GroupedRanker(model, group_by=c.group_by, k=K)
    return ranker if c.group_by else ranker.set_fit_request(groups=True)


def mean_of_folds(c, model, scorer):
    options = {"scoring": scorer, "cv": c.cv, "error_score": "raise"}
    return cross_val_score(model, c.X, c.y, **options, **c.params).mean()


def under_sampler(c):
    """Classes are balanced, in each query: rows only get into another order."""
    from imblearn.pipeline import make_pipeline as with_sampler
    from imblearn.under_sampling import RandomUnderSampler

    X = pd.concat([c.X, c.X.assign(a=-c.X["b"])])
    y = pd.Series(np.r_[c.grades > 1, c.grades <= 1].astype(int), X.index)
    c = c._replace(X=X, y=y, query=np.tile(c.query, 2))
    sampler, hand = RandomUnderSampler(random_state=0), []
    model = with_sampler(sampler, ranker_of(c, lightgbm_ranker()))
    got = mean_of_folds(c._replace(splitter=None), model, c.scorer)
    for train, test in c._replace(splitter=None).splits:
        drawn = clone(sampler)
        drawn.fit_resample(c.features.iloc[train], c.grades[train])
        score = ranker_by_hand(c, train[drawn.sample_indices_]).predict(c.features.iloc[test])
        hand.append(by_hand(c.grades[test], score, c.query[test]))
    return got, np.mean(hand)


def lightgbm_ranker():
    from lightgbm import LGBMRanker

    return LGBMRanker(n_estimators=5, min_child_samples=2, n_jobs=1, verbose=-1)


def ranker_by_hand(c, rows):
    rows = rows[np.argsort(c.query[rows], kind="stable")]
    sizes = np.unique(c.query[rows], return_counts=True)[1]
    return lightgbm_ranker().fit(c.features.iloc[rows], c.grades[rows], group=sizes)


def count_encoder(c):
    """Text is encoded in front of the ranker, which scores itself; ids of a column are text too."""
    from category_encoders import CountEncoder

    if "query" in c.X:
        c = c._replace(X=c.X.assign(query=[f"q{each}" for each in c.query]))
    kind = np.array(["low", "mid", "top"], object)[np.digitize(c.X["c"], [-0.5, 0.5])]
    model, hand = make_pipeline(CountEncoder(), ranker_of(c, Ridge())), []
    got = mean_of_folds(
        c._replace(X=c.X.assign(kind=kind)), model, None if c.group_by else c.scorer
    )
    for train, test in c.splits:
        X = c.features.assign(kind=[(kind[train] == each).sum() for each in kind])
        score = Ridge().fit(X.iloc[train], c.grades[train]).predict(X.iloc[test])
        hand.append(by_hand(c.grades[test], score, c.query[test]))
    return got, np.mean(hand)


def skrub_vectorizer(c):
    """Inside the ranker, which takes the ids away before the rest becomes float32."""
    from skrub import TableVectorizer

    model = ranker_of(c, make_pipeline(TableVectorizer(), Ridge()))
    hand = folds_by_hand(Ridge(), c, c.features.astype("float32"))
    return mean_of_folds(c, model, c.scorer), hand.mean()


class Tool(NamedTuple):
    """A row of the page: the package as pip knows it, and the run. The page says what to write."""

    package: str
    run: object


SAMPLED = partial(optuna_search, subsample=0.5)
BY_ROWS = partial(dask_search, iid=False)
TOOLS = {
    "`OptunaSearchCV`": Tool("optuna-integration", optuna_search),
    "`OptunaSearchCV(subsample=0.5)`": Tool("optuna-integration", SAMPLED),
    "scikit-optimize `BayesSearchCV`": Tool("scikit-optimize", bayes_search),
    "dask-ml `GridSearchCV`": Tool("dask-ml", dask_search),
    "dask-ml `GridSearchCV(iid=False)`": Tool("dask-ml", BY_ROWS),
    "mlxtend `SequentialFeatureSelector`": Tool("mlxtend", mlxtend_selector),
    "mlflow `autolog` of a search": Tool("mlflow", mlflow_autolog),
    "imbalanced-learn `RandomUnderSampler` before `GroupedRanker`": Tool(
        "imbalanced-learn", under_sampler
    ),
    "category_encoders `CountEncoder` before `GroupedRanker`": Tool(
        "category_encoders", count_encoder
    ),
    "skrub `TableVectorizer` inside `GroupedRanker`": Tool("skrub", skrub_vectorizer),
}


@contextlib.contextmanager
def quiet():
    """Tools may say what they like; the warnings of sklearn_ndcg are collected."""
    caught = []

    def warn(message, category=UserWarning):
        if "is a feature of" not in message:  # ids in a column are
            caught.append(message)

    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(mock.patch("sklearn_ndcg._checks.warn", warn))
        logging.disable()
        stack.callback(logging.disable, logging.NOTSET)
        yield caught


def outcome(row, way):
    """How one way of showing the ids works out, found by running it, and why."""
    try:
        with quiet() as caught, case(way) as c:
            got, hand = TOOLS[row].run(c)
    except ImportError:
        raise
    except Exception as error:  # each tool has its own
        return "no", repr(error)
    said = caught or np.isnan(np.asarray(got, float)).any()
    result = "no" if said else "yes" if same(got, hand) else "wrong"
    return result, f"{got} for {hand}; {caught}"


def installed():
    """Return the rows whose tools are installed."""
    found = []
    for row, tool in TOOLS.items():
        with contextlib.suppress(PackageNotFoundError):
            version(tool.package)
            found.append(row)
    return found


def ids_that_work(row):
    """Return the cell of a tool, and what was found for each way of passing the ids."""
    found = {way: outcome(row, way) for way in WAYS}
    right = ", ".join(way for way in WAYS if found[way][0] == "yes")
    wrong = ", ".join(way for way in WAYS if found[way][0] == "wrong")
    return "; ".join(filter(None, [right, wrong and f"wrong: {wrong}"])), found


def documented(page):
    """Return the cells of a page by tool: version, ids that work, note."""
    return {tool: cells for tool, *cells in pages.rows(page, NAME)}


def updated(page):
    """Return a page with the cells of all tools that are installed, as found by running them."""
    cells = documented(page)
    for row in installed():
        cells[row][:2] = version(TOOLS[row].package), ids_that_work(row)[0]
    head = ["tool", "version", "ids that work", "note"]
    return pages.write(page, NAME, pages.table(head, [[row, *cells[row]] for row in TOOLS]))


if __name__ == "__main__":
    page = pages.DOCS / "compatibility.md"
    page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")
