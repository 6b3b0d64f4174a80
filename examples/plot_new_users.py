"""
===========================================================
Not worse by the mean, worse for new users: NDCG by segment
===========================================================

A mean over all users hides who is served worse. Here one recommender of films is not worse than
another by that mean, but worse for users who have rated only two films: a comparison of each
segment shows it. Ratings have dates, so every user can be served again as they were
after 2, 5, 10, 20, 50 and 100 ratings. A query is a user at one of these moments.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from movielens import load_ratings, moment_of, similarity, table_of

from sklearn_ndcg import from_lists
from sklearn_ndcg.inference import DifferenceDisplay, compare_rankers

# %%
# Two recommenders
# ----------------
# The first lists the films that most users like, by four stars or more. The second lists those that
# 50 neighbours like: the users whose liked films have most in common with what this user has liked
# so far. Both know what all users rated before the moment, and list ten films that this user has
# not rated yet. The truth is what the user likes later; a film without a rating counts as not
# liked. (Moments at which several ratings have one time stamp are left out.)

ratings = load_ratings()
film = ratings.drop_duplicates("column").sort_values("column")["film"].to_numpy()
truth, lists = {}, {"popularity": {}, "neighbours": {}}
for user, of_user in ratings.groupby("user"):
    for n_ratings in (2, 5, 10, 20, 50, 100):
        if n_ratings >= len(of_user):
            break
        moment = moment_of(ratings, user, of_user, n_ratings)
        if len(moment.past) < n_ratings:
            continue
        query, later = (user, n_ratings), moment.later
        truth[query] = set(later.loc[later["rating"] >= 4, "film"])
        likes = table_of(moment.known, (moment.known["rating"] >= 4).astype(float))
        alike = similarity(likes, moment.past["row"].iloc[0])
        alike[alike < np.sort(alike)[-50:][0]] = 0
        scores = {"popularity": likes.sum(axis=0), "neighbours": likes.T @ alike}
        for name, score in scores.items():
            best_first = np.argsort(-score, kind="stable")
            is_new = ~np.isin(best_first, moment.past["column"])
            lists[name][query] = film[best_first[is_new][:10]].tolist()

# %%
# All users, and each segment
# ---------------------------
# The values of one user depend on each other, so users are ``clusters``. A loss of 0.01 would not
# matter here: it is the ``margin`` of the verdicts.


def compared(queries):
    """Compare the recommenders on some of the queries."""
    rankers = {name: {query: found[query] for query in queries} for name, found in lists.items()}
    rows = from_lists({query: truth[query] for query in queries}, rankers=rankers, k=10)
    users = {query: query[0] for query in queries}
    options = {"undefined": "omit", "baseline": "popularity", "margin": 0.01}
    return compare_rankers(rows, clusters=users, random_state=0, **options)


every = compared(truth)
print(every)
by_ratings = {
    n_ratings: compared([query for query in truth if query[1] == n_ratings])
    for n_ratings in (2, 5, 10, 20, 50, 100)
}
table = pd.concat({n: result.to_frame() for n, result in by_ratings.items()}, names=["ratings"])
table = table.droplevel(["first", "second"])
print(table[["difference", "low", "high", "pvalue", "verdict"]])
error = table[["low", "high"]].sub(table["difference"], axis=0).abs().T.to_numpy()
# sphinx_gallery_alt = "Differences by number of ratings: below 0 at two, above 0 from ten on"
_, ax = plt.subplots(layout="constrained")
table["difference"].plot(yerr=error, marker="o", capsize=3, logx=True, ax=ax)
ax.axhline(0, color="0.5", linewidth=1)
ax.set_xticks(table.index, table.index)
ax.set(xlabel="Ratings so far", ylabel="NDCG@10, first minus second")
ax.set_title("neighbours vs popularity")
# sphinx_gallery_start_ignore
assert every.verdict == ["not worse"]
assert table["verdict"].to_list() == ["worse", "undecided"] + ["better"] * 4
# sphinx_gallery_end_ignore

# %%
# By the mean over all queries neighbours are "not worse", and from ten ratings on they are better.
# After two ratings they are worse: two films may say too little about a taste. So show what is
# popular to a new user.
#
# New users only
# --------------
# The queries of one of these comparisons, sorted by their difference.
# Neighbours find better lists for many new users, but lose more with others.

# sphinx_gallery_alt = "Differences of users with two ratings, sorted: the losses are larger"
DifferenceDisplay.from_comparison(by_ratings[2]).ax_.set_title("After two ratings")
# sphinx_gallery_start_ignore
assert by_ratings[2].losses[0] > by_ratings[2].wins[0] > 100
# sphinx_gallery_end_ignore
plt.show()
