"""
===============================
Score the lists of recommenders
===============================

A recommender returns lists of ids, and what users liked later are ids, too. ``from_lists`` turns
both into rows for ``ndcg_score``, and ``compare_lists`` says which recommender is better, and how
sure that is. Here a list has ten films of MovieLens that the user has not rated before.
"""

import matplotlib.pyplot as plt
from movielens import load_lists

from sklearn_ndcg import from_lists, ndcg_score
from sklearn_ndcg.inference import DifferenceDisplay, compare_lists

truth, lists = load_lists()  # from user to {film: 1 if liked, 0 if not}, and to films, best first
top = {
    name: {user: films[:10] for user, films in lists[name].items()}
    for name in ("similar users", "popularity")
}
print("User 1 likes", [film for film, liked in truth[1].items() if liked])
print("User 1 gets", top["similar users"][1])

# %%
# NDCG@10 of both recommenders. Users who like no film later have no NDCG, and are left out.

for name, recommended in top.items():
    y_true, y_score, groups = from_lists(truth, recommended)
    ndcg = ndcg_score(y_true, y_score, groups=groups, k=10, undefined="omit")
    print(f"{ndcg:.4f} {name}")

# %%
# The same users get both lists, so the difference is taken user by user.

comparison = compare_lists(truth, top, k=10, undefined="omit", random_state=0)
print(comparison)
DifferenceDisplay.from_comparison(comparison)
plt.show()
