"""
=======================================================
Score the lists of recommenders, and choose what counts
=======================================================

A recommender returns lists of ids, and what users liked later are ids, too. ``from_lists`` reads
both for every function: ``ndcg_score``, and ``compare_rankers``, which says which recommender is
better, and how sure that is. How does a film count that the user never rated, a user without a
list, or a list that is short? These are options of ``from_lists``. In the first two comparisons
here the option changes which recommender is ahead, and in the third whether one is clearly ahead.
None is wrong, but each answers another question.
"""

import warnings

import matplotlib.pyplot as plt
from movielens import load_lists, load_ratings, moments_of_service

from sklearn_ndcg import explain_query, from_lists, ndcg_score
from sklearn_ndcg.inference import DifferenceDisplay, IntervalDisplay, compare_rankers

# %%
# Lists and truth
# ---------------
# The lists have all films that a user has not rated yet, best first. The truth has those that the
# user rates later: 1 if with four stars or more, otherwise 0. Users who like no film later have no
# NDCG, and are left out. The table shows the list of one user rank by rank.

truth, lists = load_lists()
rows = from_lists(truth, rankers=lists, k=10)
for name in lists:
    print(f"NDCG@10 {ndcg_score(rows[name], undefined='omit'):.4f} {name}")
print(explain_query(rows["similar users"], query=3))

# %%
# A film that nobody judged
# -------------------------
# By default a film that is not in the truth counts as not liked (``unjudged="zero"``). This asks
# who finds the films that a user will watch and like: similar users do. The same users get all
# lists, so differences are taken user by user. (A warning says that few of the films that the film
# mean returns were judged at all.)

# sphinx_gallery_start_ignore
warnings.simplefilter("default")  # comparisons of unlike lists warn, as they should
# sphinx_gallery_end_ignore
options = {"undefined": "omit", "random_state": 0}
zero = compare_rankers(rows, **options)
print(zero)
# sphinx_gallery_start_ignore
assert list(lists) == ["popularity", "film mean", "similar users"]
assert max(zero.mean, key=zero.mean.get) == "similar users"
assert zero.confidence_interval.high[1:].max() < 0  # the others minus similar users
assert zero.n_left_out > 0
assert zero.losses[1] > zero.wins[1]
# sphinx_gallery_end_ignore

# sphinx_gallery_alt = "Differences of all users, sorted: more are below 0 than above"
DifferenceDisplay.from_comparison(zero, pair=("popularity", "similar users"))

# %%
# With "omit" such films are removed, and later ones move up. This asks who knows, among the films
# that a user will watch, which they will like: the film mean, which was last, is now first.

rows = from_lists(truth, rankers=lists, k=10, unjudged="omit")
omit = compare_rankers(rows, **options)
print(omit)
# sphinx_gallery_start_ignore
assert min(zero.mean, key=zero.mean.get) == max(omit.mean, key=omit.mean.get) == "film mean"
assert (zero.pvalue < 0.01).all()
assert (omit.pvalue < 0.01).all()
# sphinx_gallery_end_ignore

# sphinx_gallery_alt = "NDCG@10 of three recommenders: the order changes with unjudged='omit'"
_, axes = plt.subplots(2, figsize=(6.4, 6), layout="constrained")
IntervalDisplay.from_result(zero, ax=axes[0]).ax_.set_title("unjudged='zero'")
IntervalDisplay.from_result(omit, ax=axes[1]).ax_.set_title("unjudged='omit'")

# %%
# A user without a list
# ---------------------
# Now similar users only serve those who have rated 50 films. A user without a list counts 0
# (``unanswered="zero"``), so popularity is ahead. With "omit" such users are left out for both.
# Those who are left are easier to serve: popularity, too, has a higher NDCG, but it is behind.

n_rated = {moment.user: len(moment.past) for moment in moments_of_service(load_ratings())}
similar = lists["similar users"]
some = {
    "similar users": {user: films for user, films in similar.items() if n_rated[user] >= 50},
    "popularity": lists["popularity"],
}
of_users = {}
for unanswered in ("zero", "omit"):
    rows = from_lists(truth, rankers=some, k=10, unanswered=unanswered)
    of_users[unanswered] = compare_rankers(rows, **options)
    print(of_users[unanswered])
# sphinx_gallery_start_ignore
assert of_users["zero"].confidence_interval.high[0] < 0
assert of_users["omit"].confidence_interval.low[0] > 0
assert of_users["omit"].mean["popularity"] > of_users["zero"].mean["popularity"]
# sphinx_gallery_end_ignore

# %%
# A short list
# ------------
# With ``k=10`` a list of one film is far behind one of ten, as empty positions add nothing. With
# ``k="retrieved"`` each list, and its ideal, is cut at its own length. This asks how good the films
# are that are shown, and rewards showing the safest film alone: its mean is now the higher one, but
# the interval of the difference has 0 in it.

lengths = {n: {user: films[:n] for user, films in similar.items()} for n in (1, 10)}
by_cutoff = {}
for k in (10, "retrieved"):
    by_cutoff[k] = compare_rankers(from_lists(truth, rankers=lengths, k=k), **options)
    print(by_cutoff[k])
# sphinx_gallery_start_ignore
assert by_cutoff[10].confidence_interval.high[0] < -0.1
assert by_cutoff["retrieved"].confidence_interval.low[0] < 0
assert by_cutoff["retrieved"].difference[0] > 0
# sphinx_gallery_end_ignore
plt.show()
