"""
===============================
Score the lists of recommenders
===============================

A recommender returns lists of ids, and what users liked later are ids, too. ``from_lists`` makes
both arguments of ``ndcg_score``, and ``compare_lists`` says which recommender is better, and how
sure that is. Here a list has ten films of MovieLens that the user has not rated before.
"""

import matplotlib.pyplot as plt
from movielens import load_lists

from sklearn_ndcg import explain_query, from_lists, ndcg_score
from sklearn_ndcg.inference import DifferenceDisplay, compare_lists

truth, lists = load_lists()  # from user to {film: 1 if liked, 0 if not}, and to films, best first
top = {
    name: {user: films[:10] for user, films in lists[name].items()}
    for name in ("similar users", "popularity")
}
print("User 3 likes", [film for film, liked in truth[3].items() if liked])
print("User 3 gets", top["similar users"][3])

# %%
# Users who like no film later have no NDCG, and are left out. The table shows user 3 rank by rank.

for name, recommended in top.items():
    ndcg = ndcg_score(**from_lists(truth, recommended), k=10, undefined="omit")
    print(f"NDCG@10 {ndcg:.4f} {name}")
print(explain_query(**from_lists(truth[3], top["similar users"][3]), k=10))

# %%
# The same users get both lists, so the difference is taken user by user.

comparison = compare_lists(truth, top, k=10, undefined="omit", random_state=0)
print(comparison)
DifferenceDisplay.from_comparison(comparison)
plt.show()
