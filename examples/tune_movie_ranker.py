"""
==========================================================
Tune a regressor by NDCG@10, and test it on held-out users
==========================================================

``make_ndcg_scorer`` lets GridSearchCV choose a regressor by the films at the top of each user's
list. ``compare_rankers`` then compares the tuned model with rankings that need no model, on users
who took no part in the search or in the fit. The data are 100,004 ratings from MovieLens, of which
``examples/movielens.py`` makes features.
"""

import matplotlib.pyplot as plt
import numpy as np
from movielens import load_films
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit
from sklearn.preprocessing import FunctionTransformer

from sklearn_ndcg import make_ndcg_scorer
from sklearn_ndcg.inference import NDCGDisplay, compare_rankers

# %%
# A user is a query
# -----------------
# The films that a user rated later are ranked, by features that come from earlier ratings. The
# user's id is in the index of X. There it is not a feature, and stays with its rows in every split,
# so that the scorer finds it. A quarter of the users is held out.

X, y = load_films()
print(X.head().round(2))
users = X.index
holdout = GroupShuffleSplit(n_splits=1, test_size=0.25, random_state=0)
train, test = next(holdout.split(X, y, groups=users))
X_train, X_test, y_train, y_test = X.iloc[train], X.iloc[test], y.iloc[train], y.iloc[test]

# %%
# The search
# ----------
# Trees learn from single rows, not from lists. NDCG decides how large they are, and whether they
# learn the rating or 2 to the power of it, which grows as exponential gain does. ``GroupKFold``
# keeps users whole. ``verbose=1`` prints the number of fits, which take some seconds.

at_10 = {"k": 10, "gain": "exponential"}
trees = HistGradientBoostingRegressor(early_stopping=False, random_state=0)
power = FunctionTransformer(np.exp2)
search = GridSearchCV(
    TransformedTargetRegressor(trees, check_inverse=False),
    {"transformer": [None, power], "regressor__max_leaf_nodes": [3, 6, 12, 24]},
    scoring=make_ndcg_scorer(group_by="user", **at_10),
    cv=GroupKFold(n_splits=5, shuffle=True, random_state=0),
    n_jobs=-1,
    error_score="raise",
    verbose=1,
)
search.fit(X_train, y_train, groups=users[train])
print(f"NDCG@10 {search.best_score_:.4f} with {search.best_params_}")

# %%
# Users never seen
# ----------------
# Some users are easier to serve than others, so the differences are taken user by user. To beat the
# mean rating of a film, which is the same for everybody, a model has to know the user's own taste.
# This one does: the interval of the first difference lies above 0.

scores = {
    "tuned model": search.predict(X_test),
    "film mean": X_test["film_mean"],
    "popularity": X_test["film_count"],
}
by_user = {"groups": users[test], "baseline": "film mean", "random_state": 0}
print(compare_rankers(y_test, scores, **by_user, **at_10))

NDCGDisplay.from_predictions(y_test, scores, groups=users[test], gain="exponential", k=20)
if plt.get_backend().lower() == "agg":  # there is no display
    plt.savefig("tune_movie_ranker.png")
    print("The picture is in tune_movie_ranker.png")
else:
    plt.show()
