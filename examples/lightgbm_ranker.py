"""
=========================
Tune a ranker of LightGBM
=========================

``LGBMRanker`` (LambdaMART) wants to know how many rows each query has. The folds of GridSearchCV do
not know that. In a ``GroupedRanker`` it takes one query id per row, here from the index of X, and
is tuned like any regressor. ``XGBRanker`` and ``CatBoostRanker`` can take its place. All need
``pip install ".[examples,rankers]"``.
"""

import matplotlib.pyplot as plt
from lightgbm import LGBMRanker
from movielens import load_films
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer
from sklearn_ndcg.inference import NDCGDisplay

# %%
# Tune by NDCG@10
# ---------------

X, y = load_films()  # films to rank for each user
y = (2 * y).astype(int)  # from half stars to the whole grades that LightGBM takes
holdout = GroupShuffleSplit(n_splits=1, test_size=0.25, random_state=0)
train, test = next(holdout.split(X, y, groups=X.index))
X_train, X_test, y_train, y_test = X.iloc[train], X.iloc[test], y.iloc[train], y.iloc[test]

ranker = LGBMRanker(
    n_estimators=40, label_gain=list(range(11)), n_jobs=1, random_state=0, verbose=-1
)
search = GridSearchCV(
    GroupedRanker(ranker, group_by="user"),
    {"estimator__num_leaves": [4, 8, 16]},
    scoring=make_ndcg_scorer(k=10, group_by="user"),
    cv=GroupKFold(5),
    error_score="raise",
)
search.fit(X_train, y_train, groups=X_train.index)
print(f"NDCG@10 {search.best_score_:.4f} in the search, with {search.best_params_}")
print(f"NDCG@10 {search.score(X_test, y_test):.4f} for users never seen")

# %%
# NDCG by cutoff
# --------------

# sphinx_gallery_alt = "NDCG of LightGBM at the cutoffs 1 to 20, with a 95% confidence band"
NDCGDisplay.from_estimator(search, X_test, y_test, group_by="user", k=20, name="LightGBM")
plt.show()
