"""
====================================================
Better overall, worse for new users: NDCG by segment
====================================================

A mean over all users hides who is served worse. Here one recommender of films is better than
another by that mean, and worse for users who have rated only two films: a comparison of each
segment shows it. Ratings have dates, so every user can be served again as they were
after 2, 5, 10, 20, 50 and 100 ratings. A query is a user at one of these moments.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from movielens import load_ratings
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import KFold

from sklearn_ndcg import from_lists
from sklearn_ndcg.inference import DifferenceDisplay, compare_rankers

# %%
# Two recommenders
# ----------------
# The first lists the films that most users like, by four stars or more. The second lists those that
# 50 neighbours like: the users whose liked films have most in common with what this user has liked
# so far. Both know four fifths of the users, and list ten films that one of the others has not
# rated yet. The truth is what that user likes later; a film without a rating counts as not liked.

ratings = pd.concat(load_ratings())
ratings["n_before"] = ratings.groupby("user").cumcount()
rating = ratings.pivot(index="user", columns="film", values="rating")
n_before = ratings.pivot(index="user", columns="film", values="n_before").to_numpy()
films, likes = rating.columns.to_numpy(), (rating >= 4).to_numpy(dtype=float)

truth, lists = {}, {"popularity": {}, "neighbours": {}}
for train, test in KFold(5, shuffle=True, random_state=0).split(rating):
    for n_ratings in (2, 5, 10, 20, 50, 100):
        so_far, later = n_before[test] < n_ratings, n_before[test] >= n_ratings
        similarity = cosine_similarity(likes[test] * so_far, likes[train])
        weakest = np.sort(similarity)[:, -50, np.newaxis]
        neighbours = np.where(similarity >= weakest, similarity, 0) @ likes[train]
        popularity = np.broadcast_to(likes[train].sum(axis=0), neighbours.shape)
        for row in np.flatnonzero(later.any(axis=1)):
            query = rating.index[test[row]], n_ratings
            truth[query] = set(films[later[row] & (likes[test[row]] > 0)])
            for name, scores in (("popularity", popularity), ("neighbours", neighbours)):
                best_first = np.argsort(np.where(so_far[row], np.inf, -scores[row]), kind="stable")
                lists[name][query] = films[best_first[:10]].tolist()

# %%
# All users, and each segment
# ---------------------------
# The values of one user depend on each other, so users are ``clusters``. A loss of 0.01 would not
# matter here: it is the ``margin`` of the verdicts. (A warning says that these take a film that
# nobody rated as not liked.)


def compared(queries):
    """Compare the recommenders on some of the queries."""
    rankers = {name: {query: found[query] for query in queries} for name, found in lists.items()}
    rows = from_lists({query: truth[query] for query in queries}, rankers=rankers, k=10)
    users = {query: query[0] for query in queries}
    options = {"undefined": "omit", "baseline": "popularity", "margin": 0.01}
    return compare_rankers(rows, clusters=users, random_state=0, **options)


print(compared(truth))
by_ratings = {
    n_ratings: compared([query for query in truth if query[1] == n_ratings])
    for n_ratings in (2, 5, 10, 20, 50, 100)
}
table = pd.concat({n: result.to_frame() for n, result in by_ratings.items()}, names=["ratings"])
table = table.droplevel(["first", "second"])
print(table[["difference", "low", "high", "pvalue", "verdict"]])
error = table[["low", "high"]].sub(table["difference"], axis=0).abs().T.to_numpy()
# sphinx_gallery_alt = "Differences by number of ratings: below 0 at two, above 0 from five on"
ax = table["difference"].plot(yerr=error, marker="o", capsize=3, logx=True)
ax.axhline(0, color="0.5", linewidth=1)
ax.set(xlabel="Ratings so far", ylabel="NDCG@10, neighbours minus popularity")

# %%
# By the mean over all queries neighbours are better, as they are from five ratings on. After two
# ratings they are worse: two films say little about a taste. So show what is popular to a new user.
#
# New users only
# --------------
# The queries of one of these comparisons, sorted by their difference.
# Neighbours find better lists for many new users, but lose more with others.

# sphinx_gallery_alt = "Differences of users with two ratings, sorted: the losses are larger"
DifferenceDisplay.from_comparison(by_ratings[2]).ax_.set_title("After two ratings")
plt.show()
