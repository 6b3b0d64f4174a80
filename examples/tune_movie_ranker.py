"""
=====================================
Tutorial: tune and test a film ranker
=====================================

You have ratings of films, and want to put the films that a user will like at the top of that user's
list. This tutorial goes from the data to the question "is the model better, and how sure is that?".
It needs ``pip install ".[examples]"`` and runs in less than a minute.

NDCG@10 measures the first ten films of a list: 1 if no other order is better. Each user has a list
of their own, so the rows of a user are a *query*, and the NDCG of a model is the mean over users.
"""

# sphinx_gallery_thumbnail_number = 3

import textwrap
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from movielens import load_films, load_ratings
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline

from sklearn_ndcg import explain_query, make_ndcg_scorer, ndcg_samples
from sklearn_ndcg.inference import IntervalDisplay, NDCGDisplay, compare_models, ndcg_interval

# %%
# The data
# --------
# MovieLens has 100,004 ratings by 671 users, from half a star to five. Each user is served at one
# moment: that of the rating in the middle of theirs. The films that they rated from then on are to
# be ranked. :download:`movielens.py` makes four features of them:
#
# - ``film_mean`` and ``film_count``: the mean rating of the film, and its number of ratings,
# - ``genre_taste``: how much more than others the user liked films of its genres so far,
# - ``neighbours``: how much more than others users with a similar taste liked this film.
#
# The features know only ratings that were given before that moment. It is easy to do otherwise:
# a mean over all ratings of a film also knows those that come later, and a test then flatters
# every model that uses it (:doc:`/traps`).

X, y, titles = load_films()
print(X.head(3).round(2))
# sphinx_gallery_start_ignore
ratings = load_ratings()
assert (len(ratings), ratings["user"].nunique()) == (100_004, 671)
assert (ratings["rating"].min(), ratings["rating"].max()) == (0.5, 5)
assert X.index.nunique() == 671
# sphinx_gallery_end_ignore

# %%
# The user's id is the index of X. There it is not a feature, and stays with its rows wherever
# scikit-learn splits them, so that the scorer finds it.
#
# Hold out users
# --------------
# A quarter of the users is for the final test. ``GroupShuffleSplit`` keeps users whole.

users = X.index
holdout = GroupShuffleSplit(n_splits=1, test_size=0.25, random_state=0)
train, test = next(holdout.split(X, y, groups=users))
X_train, X_test, y_train, y_test = X.iloc[train], X.iloc[test], y.iloc[train], y.iloc[test]
print(f"{users[train].nunique()} users for the search, {users[test].nunique()} for the test")

# %%
# Tune by NDCG@10
# ---------------
# ``make_ndcg_scorer`` scores each user by themselves, and ``group_by`` says where the ids are.
# ``GroupKFold`` keeps users whole.

scorer = make_ndcg_scorer(k=10, group_by="user")
search = GridSearchCV(
    HistGradientBoostingRegressor(early_stopping=False, random_state=0),
    {"max_leaf_nodes": [3, 6, 12], "max_iter": [30, 100]},
    scoring=scorer,
    cv=GroupKFold(5, shuffle=True, random_state=0),
    error_score="raise",
)
search.fit(X_train, y_train, groups=users[train])
print(f"NDCG@10 {search.best_score_:.4f} with {search.best_params_}")

# %%
# What folds of rows would do
# ---------------------------
# ``KFold`` splits rows, so the films of a user end up in all folds. The scorer then sees short
# lists, which are easier to order: the number is higher, and it is wrong. Each fold gives a
# ``QueryLeakWarning``; this is the first. (``cv=5`` does not shuffle. If rows are sorted by user,
# it cuts only the users between two folds.)

model, cut = search.best_estimator_, KFold(5, shuffle=True, random_state=0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    values = cross_val_score(model, X_train, y_train, scoring=scorer, cv=cut)
print(f"NDCG@10 {values.mean():.4f} of incomplete users")
print(textwrap.fill(f"{caught[0].category.__name__}: {caught[0].message}", width=88))
# sphinx_gallery_start_ignore
assert values.mean() > search.best_score_
assert len(caught) == 5  # folds
# sphinx_gallery_end_ignore

# %%
# Test on new users
# -----------------
# The search chose the best of six models, so its number is optimistic. The users of the test took
# no part in the choice. The 95% confidence interval says how much the mean would change with other
# users.

score = search.predict(X_test)
interval = ndcg_interval(y_test, score, groups=users[test], k=10, random_state=0)
low, high = interval.confidence_interval
print(f"NDCG@10 {interval.mean:.4f}, 95% confidence interval {low:.4f} to {high:.4f}")

# %%
# ``ndcg_samples`` returns the NDCG of each user. Most are high, and a few are much lower.

ndcg = ndcg_samples(y_test, score, groups=users[test], k=10)
# sphinx_gallery_alt = "Histogram of NDCG@10 of the users: most between 0.8 and 1, few below 0.7"
plt.hist(ndcg, bins=20)
plt.gca().set(xlabel="NDCG@10 of a user", ylabel="Users")
# sphinx_gallery_start_ignore
assert (ndcg > 0.8).mean() > 0.8
assert 0 < (ndcg < 0.7).mean() < 0.05
# sphinx_gallery_end_ignore

# %%
# Is it better than something simple?
# -----------------------------------
# 0.87 alone says little: a random order has 0.79 here. So compare the model with two rankers that
# know less: the mean rating of the film, and its number of ratings. ``compare_models`` fits all on
# the same split, and tests them on its users. A linear regression on one feature ranks by this
# feature. Some users are easier to serve than others, so the differences are taken user by user.


def one_feature(name):
    """Return a model that ranks by one column of X."""
    return make_pipeline(make_column_transformer(("passthrough", [name])), LinearRegression())


models = {
    "tuned model": search.best_estimator_,
    "film mean": one_feature("film_mean"),
    "popularity": one_feature("film_count"),
}
comparison = compare_models(
    models, X, y, scoring=scorer, cv=[(train, test)], baseline="film mean", random_state=0
)
print(comparison)

# %%
# The interval of the first difference lies above 0: the model is better than the film mean. That of
# the second lies below: popularity is worse. The picture shows both differences.

# sphinx_gallery_alt = "Differences in NDCG@10: tuned model above 0, popularity below"
IntervalDisplay.from_result(comparison, differences=True)
# sphinx_gallery_start_ignore
assert f"{comparison.mean['tuned model']:.2f}" == f"{interval.mean:.2f}" == "0.87"
low, high = comparison.confidence_interval
assert low[0] > 0 > high[1]
random = ndcg_samples(y_test, np.zeros(len(test)), groups=users[test], k=10)
assert f"{random.mean():.2f}" == "0.79"
# sphinx_gallery_end_ignore

# %%
# How does it depend on the cutoff?
# ---------------------------------
# The model leads at all cutoffs from 1 to 20. The bands show how much each mean varies with the
# users. They overlap, because both means vary together: read differences from the comparison above.

# sphinx_gallery_alt = "NDCG at 1 to 20: tuned model above film mean, popularity below"
scores = {
    "tuned model": score,
    "film mean": X_test["film_mean"],
    "popularity": X_test["film_count"],
}
curves = NDCGDisplay.from_predictions(y_test, scores, groups=users[test], k=20)
# sphinx_gallery_start_ignore
leads = curves.ndcg[0] > curves.ndcg[1]
assert leads.all()
bounds = curves.interval
assert (bounds[0, 0] < bounds[1, 1]).all()  # the bands of the first two overlap
assert (curves.ndcg[2] < curves.ndcg[:2]).all()
# sphinx_gallery_end_ignore

# %%
# Look at the worst lists
# -----------------------
# The users with the lowest NDCG:

worst = pd.Series(ndcg, np.unique(users[test])).nsmallest(5)
print(worst.round(3))

# %%
# ``explain_query`` shows one list rank by rank, with the best possible one under "ideal". The first
# film has two and a half stars; those of five stars are at ranks 7 and 10.

explained = explain_query(
    y_test, score, groups=users[test], query=worst.index[0], ids=titles.iloc[test], k=10
)
print(explained)
# sphinx_gallery_start_ignore
stars = explained.to_frame()["relevance"].to_numpy()
assert stars[0] == 2.5
assert stars[[6, 9]].tolist() == [5, 5]
assert (stars == 5).sum() == 2
# sphinx_gallery_end_ignore

# %%
# Where to go from here
# ---------------------
# Rank with LightGBM, XGBoost or CatBoost: :doc:`tune_gbdt_rankers`. Find out who is served worse:
# :doc:`plot_new_users`. Read more about intervals and tests: :doc:`/evidence`.
plt.show()
