"""
===============================
Score the lists of recommenders
===============================

A recommender returns lists of ids, and what users liked later are ids, too. ``from_lists`` reads
both for every function: ``ndcg_score``, and ``compare_rankers``, which says which recommender is
better, and how sure that is. Here a list has ten films of MovieLens that the user has not rated
before.
"""

import matplotlib.pyplot as plt
from movielens import load_lists

from sklearn_ndcg import explain_query, from_lists, ndcg_score
from sklearn_ndcg.inference import DifferenceDisplay, compare_rankers

truth, lists = load_lists()  # from user to {film: 1 if liked, 0 if not}, and to films, best first
names = "similar users", "popularity"
rows = from_lists(truth, rankers={name: lists[name] for name in names}, k=10)
print("User 3 likes", [film for film, liked in truth[3].items() if liked])
print("User 3 gets", lists["similar users"][3][:10])

# %%
# Users who like no film later have no NDCG, and are left out. The table shows user 3 rank by rank.

for name in names:
    print(f"NDCG@10 {ndcg_score(rows[name], undefined='omit'):.4f} {name}")
print(explain_query(rows["similar users"], query=3))

# %%
# The same users get both lists, so the difference is taken user by user.

comparison = compare_rankers(rows, undefined="omit", random_state=0)
print(comparison)
# sphinx_gallery_alt = "Differences of all users, sorted: more are above 0 than below"
DifferenceDisplay.from_comparison(comparison)
# sphinx_gallery_start_ignore
assert comparison.wins[0] > comparison.losses[0]
assert comparison.n_left_out > 0
# sphinx_gallery_end_ignore
plt.show()
