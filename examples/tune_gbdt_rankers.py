"""
=======================================================
Tune LightGBM, XGBoost and CatBoost with the same lines
=======================================================

Three libraries have rankers, and each takes the queries in its own form: as sizes, as sorted ids or
as ``group_id``. ``GroupedRanker`` gives them one interface, so that the same GridSearchCV tunes any
of them, with early stopping on held-out queries inside every fold. ``compare_rankers`` compares the
tuned rankers on users never seen. They need ``pip install ".[examples,rankers]"``.
"""

import matplotlib.pyplot as plt
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from movielens import load_films
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit
from xgboost import XGBRanker

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer
from sklearn_ndcg.inference import IntervalDisplay, compare_rankers

# %%
# Whole grades
# ------------
# LightGBM and XGBoost take whole grades, here half stars from 1 to 10. With exponential gain, their
# default, half a star more would more than double a film's gain. Here the gain is the grade itself,
# for the libraries and for the scorer: a table in LightGBM, a switch in XGBoost, the default in
# CatBoost.

X, y, _ = load_films()
y = (2 * y).astype(int)
holdout = GroupShuffleSplit(n_splits=1, test_size=0.25, random_state=0)
train, test = next(holdout.split(X, y, groups=X.index))
X_train, X_test, y_train, y_test = X.iloc[train], X.iloc[test], y.iloc[train], y.iloc[test]

common = {"n_estimators": 200, "random_state": 0}
rankers = {
    "LightGBM": LGBMRanker(label_gain=list(range(11)), n_jobs=1, verbose=-1, **common),
    "XGBoost": XGBRanker(ndcg_exp_gain=False, n_jobs=1, **common),
    "CatBoost": CatBoostRanker(
        loss_function="QueryRMSE", thread_count=1, verbose=0, allow_writing_files=False, **common
    ),
}

# %%
# Three searches
# --------------
# The number of trees is not in the grid: early stopping finds it in every fit, by the NDCG@10 of a
# tenth of the users.

scores = {"film mean": X_test["film_mean"]}
for name, ranker in rankers.items():
    search = GridSearchCV(
        GroupedRanker(ranker, group_by="user", early_stopping=True, k=10, random_state=0),
        {"estimator__learning_rate": [0.05, 0.1, 0.2], "estimator__max_depth": [2, 4]},
        scoring=make_ndcg_scorer(k=10, group_by="user"),
        cv=GroupKFold(3),
        error_score="raise",
    )
    search.fit(X_train, y_train, groups=X_train.index)
    scores[name] = search.predict(X_test)
    print(f"{name}: NDCG@10 {search.best_score_:.4f} with {search.best_params_}")

# %%
# Users never seen
# ----------------
# LightGBM and CatBoost are ahead of the mean rating of the film. XGBoost cannot be told from it on
# 168 users. The differences say little about the libraries: each grid is small.

comparison = compare_rankers(
    y_test, scores, groups=X_test.index, k=10, baseline="film mean", random_state=0
)
print(comparison)
# sphinx_gallery_start_ignore
low, high = comparison.confidence_interval
assert [first for first, _ in comparison.pairs] == ["LightGBM", "XGBoost", "CatBoost"]
assert (low > 0).tolist() == [True, False, True]
assert high[1] > 0
# sphinx_gallery_end_ignore

# sphinx_gallery_alt = "Differences from the film mean: LightGBM and CatBoost above 0, XGBoost at 0"
IntervalDisplay.from_result(comparison, differences=True)
plt.show()
