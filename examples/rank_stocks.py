"""
============================================================
Validate in order of time: rank stocks by their next returns
============================================================

A day is a query, and its stocks are the documents. Their returns over the next five trading days,
cut into five grades within the day, are the relevance. ``QuerySplitter`` tests on later days, and
``clusters`` widens the intervals, as these returns overlap. Grades upside down show a trap: a
ranking by volatility has a high NDCG, whatever the direction. (No basis for trading: the 20 stocks
were chosen knowing that they would exist in 2022.) This needs ``pip install ".[stocks]"``.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from skfolio.datasets import load_sp500_dataset
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

from sklearn_ndcg import QuerySplitter, make_ndcg_scorer, quantile_grades
from sklearn_ndcg.inference import IntervalDisplay, compare_rankers

# %%
# Features only look back. Each is ranked among the stocks of the day.

prices = load_sp500_dataset().rename_axis(index="day", columns="stock")
features = {
    "week": prices.pct_change(5),
    "year": prices.shift(21).pct_change(231),
    "volatility": prices.pct_change().rolling(63).std(),
}
X = pd.DataFrame({name: values.stack() for name, values in features.items()}).dropna()
X = X.groupby("day").rank(pct=True)
returns = (prices.shift(-5) / prices - 1).stack().dropna()
X, returns = X.align(returns, join="inner", axis=0)
day = X.index.get_level_values("day")
y = quantile_grades(returns, groups=day, n_grades=5)

# %%
# Splits in order of time
# -----------------------
# The gap leaves out training days whose next five days reach into the test days. The last quarter
# of the days is for the comparison, and the search splits the others again.

splitter = QuerySplitter(TimeSeriesSplit(3, gap=5), group_by="day")
*_, (train, test) = splitter.split(X)
metric = {"k": 5, "gain": "exponential"}
search = GridSearchCV(
    HistGradientBoostingRegressor(max_iter=50, early_stopping=False, random_state=0),
    {"max_leaf_nodes": [4, 16]},
    scoring=make_ndcg_scorer(group_by="day", **metric),
    cv=splitter,
).fit(X.iloc[train], y[train])

# %%
# Good, or only volatile?
# -----------------------
# Every ranking is compared with a random order twice: the second time the worst stocks of the week
# are the relevant ones. The days of a quarter of a year are one cluster: only at its borders do
# returns overlap with those of another.

scores = {
    "random": np.zeros(len(test)),  # ties are averaged: the expected NDCG
    "momentum": X["year"].iloc[test],
    "volatility": X["volatility"].iloc[test],
    "trees": search.predict(X.iloc[test]),
}
options = {"groups": day[test], "clusters": day[test].to_period("Q"), "baseline": "random"}
lead = compare_rankers(y[test], scores, random_state=0, **options, **metric)
upside_down = compare_rankers(4 - y[test], scores, random_state=0, **options, **metric)
print(f"Grades as they are: {lead}\n\nGrades upside down: {upside_down}")
# sphinx_gallery_start_ignore
assert [first for first, _ in lead.pairs] == ["momentum", "volatility", "trees"]
assert max(lead.mean, key=lead.mean.get) == "volatility"
assert upside_down.confidence_interval.low[1] > 0.03
assert 0 < lead.confidence_interval.low[2] < lead.difference[2] < lead.difference[1]
assert upside_down.confidence_interval.low[2] < 0 < upside_down.confidence_interval.high[2]
days_alone = compare_rankers(
    y[test], scores, groups=day[test], baseline="random", random_state=0, **metric
)
assert (np.subtract(*lead.confidence_interval) < np.subtract(*days_alone.confidence_interval)).all()
# sphinx_gallery_end_ignore

# %%
# Volatile stocks are more often among the best of a week, and also among the worst. Ranking by
# volatility has the highest NDCG, but leads upside down, too: it finds stocks that move, not stocks
# that rise. The lead of the trees is smaller, and upside down it cannot be told from 0.

# sphinx_gallery_alt = "Leads over a random order: that of volatility stays with grades upside down"
_, axes = plt.subplots(2, sharex=True, layout="constrained")
titles = "Grades as they are, 95% CI", "Grades upside down, 95% CI"
for ax, result, title in zip(axes, (lead, upside_down), titles, strict=True):
    IntervalDisplay.from_result(result, differences=True, ax=ax)
    ax.set_title(title)
    ax.get_legend().remove()  # it would cover intervals
plt.show()
