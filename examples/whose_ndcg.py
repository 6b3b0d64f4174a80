"""
=============================================
Explain why two libraries give different NDCG
=============================================

Two people score the same predictions, one with scikit-learn's ``ndcg_score``, one with XGBoost's
``ndcg``. Their numbers differ, although nobody made a mistake: the libraries mean different things.
``CONVENTIONS`` has the options that give each library's number, and ``explain_difference`` goes
from one number to another, one option at a time.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from movielens import load_films
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ndcg import CONVENTIONS, explain_difference, ndcg_score

# %%
# Predictions
# -----------
# Films are ranked by the mean of their earlier ratings, in half stars, which has many ties. The
# relevance of a film is the number of half stars above three and a half, 0 to 3, so a few users
# have no relevant film.

X, y, _ = load_films()
user = X.index.to_numpy()
score = (2 * X["film_mean"]).round().to_numpy()
relevance = np.maximum(2 * y.to_numpy() - 7, 0).astype(int)

# %%
# Every library's number
# ----------------------
# A convention is a set of keyword arguments. Ties in the order of rows are by date here; other
# libraries may sort them otherwise.

for name, options in CONVENTIONS.items():
    value = ndcg_score(relevance, score, groups=user, k=10, **options)
    print(f"{value:8.4f}   {name}")

# %%
# From one number to another
# --------------------------
# Both count ten ranks here. The explanation names the users that make most of each step.

explanation = explain_difference(relevance, score, "sklearn", "xgboost", groups=user, k=10)
print(explanation)

# sphinx_gallery_start_ignore
assert [change.choice for change in explanation.changes] == ["gain", "ties", "undefined"]
assert abs(explanation.difference[0]) > 5 * max(abs(explanation.difference[1:]))
changed = np.abs(np.diff(explanation.values, axis=0)) > 1e-9
assert changed[1].mean() > 0.95
assert changed[2].sum() == 4
of_ties = explanation.values[2] - explanation.values[1]
assert min((of_ties > 0).mean(), (of_ties < 0).mean()) > 0.4
ties_first = [
    ndcg_score(relevance, score, groups=user, k=10, undefined=0.0, **options)
    for options in ({}, {"ties": "stable"}, {"ties": "stable", "gain": "exponential"})
]
assert np.isclose(ties_first[2], explanation.ndcg[2])
assert not np.allclose(np.diff(ties_first)[::-1], np.diff(explanation.ndcg)[:2], atol=1e-4)
# sphinx_gallery_end_ignore

# %%
# The gain makes most of the difference. Ties change the value of almost every user, but what one
# user gains by the order of dates, another loses. Four users have no relevant film: they count 0 in
# scikit-learn, and 1 in XGBoost. The choices interact: another order of steps ends at the same
# number with other differences.

# sphinx_gallery_alt = "Steps from scikit-learn's NDCG to XGBoost's: the gain's is the largest"
explanation.plot()

# %%
# Check with scikit-learn
# -----------------------
# scikit-learn itself, called once per user, gives the number that we began with.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    of_user = [
        metrics.ndcg_score([relevance[user == each]], [score[user == each]], k=10)
        for each in np.unique(user)
    ]
print(f"{np.mean(of_user):.4f} by scikit-learn, one call per user")
# sphinx_gallery_start_ignore
assert np.isclose(np.mean(of_user), explanation.ndcg[0])
# sphinx_gallery_end_ignore
plt.show()
