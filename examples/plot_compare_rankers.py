"""
================================================
Is the best candidate of a search really better?
================================================

A search ranks its candidates by a mean over folds, and calls the first of them the best. Is it
better than the second? Is it better than rankings that need no model? ``cross_val_predict`` gives
the scores of every user's films, from models that were not fitted to that user, and
``compare_rankers`` compares them user by user. Here the best cannot be told from the second, nor
from a plain sum of three features.
"""

import matplotlib.pyplot as plt
import pandas as pd
from movielens import load_films
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict

from sklearn_ndcg import make_ndcg_scorer
from sklearn_ndcg.inference import DifferenceDisplay, IntervalDisplay, NDCGDisplay, compare_rankers

# %%
# The search
# ----------

X, y, _ = load_films()
users = X.index.to_numpy()
metric = {"k": 10, "gain": "exponential"}
search = GridSearchCV(
    HistGradientBoostingRegressor(max_iter=30, random_state=0),
    {"learning_rate": [0.1, 0.3], "max_leaf_nodes": [4, 31]},
    scoring=make_ndcg_scorer(group_by="user", **metric),
    cv=GroupKFold(5),
)
search.fit(X, y, groups=users)
found = pd.DataFrame(search.cv_results_).sort_values("rank_test_score")
print(found[["param_learning_rate", "param_max_leaf_nodes", "mean_test_score"]])

# %%
# All users, paired
# -----------------
# The film mean is a ranker too, and so is its sum with the other two features on the same scale.
# The comparisons use the same users, and correct p-values for their number.

scores = {}
for name, params in zip(("best", "second"), found["params"], strict=False):
    model = clone(search.estimator).set_params(**params)
    scores[name] = cross_val_predict(model, X, y, groups=users, cv=search.cv)
scores["sum"] = X["film_mean"] + X["neighbours"] + X["genre_taste"]
scores["film mean"] = X["film_mean"]
comparison = compare_rankers(y, scores, groups=users, random_state=0, **metric)
print(comparison)
# sphinx_gallery_alt = "Differences between the best, the second, the sum and the film mean"
IntervalDisplay.from_result(comparison, differences=True)
# sphinx_gallery_start_ignore
low, high = comparison.confidence_interval
than_film_mean = [second == "film mean" for _, second in comparison.pairs]
assert (low > 0).tolist() == than_film_mean
assert ((low > 0) | (high < 0)).tolist() == than_film_mean
# sphinx_gallery_end_ignore

# %%
# The best candidate cannot be told from the second, nor from the sum, for which no model was
# fitted: the intervals of these differences have 0 in them. All three are better than the film
# mean. So the other features help; whether trees add anything to a sum cannot be seen in 671 users.
#
# Bands of curves
# ---------------
# The bands of the best candidate and the film mean overlap, although the difference is clear. A
# band shows how much a mean varies with the users, and both means vary together. Do not read
# differences from bands.

shown = {name: scores[name] for name in ("best", "film mean")}
# sphinx_gallery_alt = "NDCG at 1 to 20: the bands of the best and the film mean overlap"
curves = NDCGDisplay.from_predictions(y, shown, groups=users, k=20, gain="exponential")
# sphinx_gallery_start_ignore
bounds = curves.interval
assert (bounds[0, 0] < bounds[1, 1]).all()
values = comparison.to_frame("queries")
assert values["best"].corr(values["film mean"]) > 0.5
# sphinx_gallery_end_ignore

# %%
# User by user
# ------------
# The mean difference is small, compared with what happens to single users: more than half of the
# lists get better, and more than a third get worse. ``comparison.to_frame("queries")`` has the
# values of each user.

# sphinx_gallery_alt = "Differences of all users, sorted: more are above 0 than below"
DifferenceDisplay.from_comparison(comparison, pair=("best", "film mean"))
# sphinx_gallery_start_ignore
change = values["best"] - values["film mean"]
assert change.abs().mean() > 2 * change.mean()
assert (change > 0).mean() > 1 / 2
assert (change < 0).mean() > 1 / 3
# sphinx_gallery_end_ignore
plt.show()
