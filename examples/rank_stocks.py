"""
============================================================
Validate in order of time: rank stocks by their next returns
============================================================

A day is a query, and its stocks are the documents. Their returns over the next five trading days,
divided into five grades within the day, are the relevance. A ranking is good if the stocks at its
top do better than the other stocks of that day. ``make_ndcg_scorer`` scores it day by day, with
splits that respect the order of time.

The result: the models are better than a random order, but ranking by volatility, which does not
predict the direction, is better still. Volatile stocks are more often among the best of a week, and
also among the worst, and NDCG at the top of a list sees only the best. So each ranking is also
scored with the grades upside down. A ranking that finds volatile stocks is ahead there too; a
ranking that distinguishes winners from losers is not. By this measure, part of the models' lead is
direction.

This is not a basis for trading. The 20 stocks were chosen with the knowledge of which companies
would still exist in 2022. Prices are rounded to a tenth of a cent, which is coarse where splits
have scaled them down to cents. Stocks are bought at the same closing price that the features use,
and costs are ignored. The intervals allow for overlapping targets, and the last sentences of the
output depend on them.
"""

from time import perf_counter

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

from sklearn_ndcg import check_group_splits, dcg_score, make_ndcg_scorer, quantile_grades
from sklearn_ndcg.inference import compare_rankers

try:
    import matplotlib.pyplot as plt
    import pandas as pd
    from skfolio.datasets import load_sp500_dataset
except ImportError as error:
    raise SystemExit(f"{error}: python -m pip install '.[stocks]'") from error

HORIZON = 5  # trading days that the target looks ahead
BLOCK = 60  # trading days that are compared as one cluster
start = perf_counter()


def report(message):
    """Print the progress, with the time."""
    print(f"[{perf_counter() - start:4.1f} s] {message}", flush=True)


# %%
# Features and grades
# -------------------
# Features only look back: a day's row has no price from after that day's close. Each feature is
# ranked among the stocks of the day, from above 0 to 1, since only the order within a day matters.


def make_features(prices):
    """Return one row of features for each day and stock that has a year of earlier prices."""
    daily = prices.pct_change()
    features = {
        "1 day": daily,
        "5 days": prices.pct_change(5),
        "1 month": prices.pct_change(21),
        "3 months": prices.pct_change(63),
        "6 months": prices.pct_change(126),
        "12 months": prices.shift(21).pct_change(231),  # without the last month
        "volatility": daily.rolling(63).std(),
        "above average": prices / prices.rolling(50).mean(),
        "below high": prices / prices.rolling(252).max(),
    }
    ranked = {name: values.rank(axis=1, pct=True).stack() for name, values in features.items()}
    return pd.DataFrame(ranked).dropna().rename_axis(index=["day", "stock"])


def make_returns(prices):
    """Return the return of each stock over the next trading days."""
    ahead = prices.shift(-HORIZON) / prices - 1
    return ahead.stack().dropna().rename_axis(index=["day", "stock"])


prices = load_sp500_dataset()
X = make_features(prices)
returns = make_returns(prices)
X = X.loc[X.index.intersection(returns.index)].sort_index()  # the last days have no target
returns = returns.loc[X.index]
day = X.index.get_level_values("day")
y = quantile_grades(returns, groups=day, n_grades=5)
report(f"{day.nunique():,} days, {len(X):,} rows, {X.shape[1]} features")

# %%
# Splits that keep the order of time
# ----------------------------------
# TimeSeriesSplit splits days, not rows. A training target that overlaps with the test days would
# leak information about them, so a gap as long as the target is left between the two parts.


def day_splits(day, **options):
    """Split the days in order; return the rows of each training and test part."""
    days, code = np.unique(day, return_inverse=True)
    parts = TimeSeriesSplit(gap=HORIZON, **options).split(days)
    return [tuple(np.flatnonzero(np.isin(code, part)) for part in pair) for pair in parts]


# The second half of the days is for the comparison, in five parts. Each part is ranked by models
# that were fitted to all days before it. The first half, without the gap, is for the search.

walk = day_splits(day, n_splits=5, test_size=day.nunique() // 10)
early, _ = walk[0]
inner = day_splits(day[early], n_splits=4)
check_group_splits(inner, X.iloc[early], groups=day[early])
test_rows = np.concatenate([test for _, test in walk])
test_day, test_returns = day[test_rows], returns.iloc[test_rows]
report(
    f"search on {day[early].min():%Y-%m-%d} to {day[early].max():%Y-%m-%d}, "
    f"compare on {test_day.min():%Y-%m-%d} to {test_day.max():%Y-%m-%d}"
)

# %%
# Two searches
# ------------
# The ids that the scorer needs are in the index, so they are not a feature. Early stopping is off:
# it would hold out random rows, whose targets overlap with those of the other rows.

at_5 = {"k": 5, "gain": "exponential"}
trees = HistGradientBoostingRegressor(
    max_iter=50, min_samples_leaf=200, early_stopping=False, random_state=0
)
candidates = {
    "ridge": (Ridge(), {"alpha": [1, 1e3, 1e5]}),
    "boosted trees": (trees, {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [4, 16]}),
}
scores = {
    "random order": np.zeros(len(test_rows)),  # ties are averaged: exactly the expected NDCG
    "5-day reversal": -X["5 days"].iloc[test_rows],
    "12-month momentum": X["12 months"].iloc[test_rows],
    "volatility": X["volatility"].iloc[test_rows],
}
for name, (model, grid) in candidates.items():
    search = GridSearchCV(
        model,
        grid,
        scoring=make_ndcg_scorer(group_by="day", **at_5),
        cv=inner,
        n_jobs=2,
        error_score="raise",
    )
    search.fit(X.iloc[early], y[early])
    predictions = [
        clone(search.best_estimator_).fit(X.iloc[train], y[train]).predict(X.iloc[test])
        for train, test in walk
    ]
    scores[name] = np.concatenate(predictions)
    best = ", ".join(f"{key}={value}" for key, value in search.best_params_.items())
    report(f"{name}: {best} (NDCG@5 {search.best_score_:.4f} in the search)")

# %%
# Days never seen
# ---------------
# The targets of two days less than five days apart overlap. So the values of single days are not
# independent, and intervals over days would be too short. Blocks of 60 days, about a quarter of a
# year, are nearly independent: ``clusters`` says which block a day is in.

_, day_number = np.unique(test_day, return_inverse=True)
evaluation = {"groups": test_day, "clusters": day_number // BLOCK, "test": "t", **at_5}
y_test = y[test_rows]
lead = compare_rankers(y_test, scores, baseline="random order", **evaluation)
report(f"NDCG@5, compared in blocks of {BLOCK} days:\n\n{lead}\n")

# %%
# The same with the grades upside down, where the worst stocks of the week are the relevant ones:

upside_down = compare_rankers(y_test.max() - y_test, scores, baseline="random order", **evaluation)
report(f"with the grades upside down:\n\n{upside_down}\n")

names = [first for first, _ in lead.pairs]
leads = {"as they are": lead.difference, "upside down": upside_down.difference}
ax = pd.DataFrame(leads, index=names).plot.barh(figsize=(6.4, 3.6))
ax.set(xlabel="NDCG@5 above that of a random order", title="Direction, or only volatility?")
ax.legend(title="grades")
ax.invert_yaxis()
ax.figure.set_layout_engine("constrained")

# %%
# The return of the top five stocks above the mean of the day's twenty is a DCG without discount,
# with excess returns as gains: the sum over the first five ranks.

excess = test_returns - test_returns.groupby(level="day").transform("mean")
report("mean return in 5 days of the top 5 over the mean of the day:\n")
for name, score in scores.items():
    gained = dcg_score(100 * excess, score, groups=test_day, k=5, discount="none") / 5
    print(f"{name:18} {gained:+.4f} %")
print()

# %%
# What was found
# --------------
# A lead counts as more than luck if its interval lies above 0. That is a low bar if several
# rankings are tried, because the best of several is more likely to be lucky than a single one. A
# lead counts as direction if its interval lies above the interval of the lead upside down.


def interval(result, name):
    """Return the interval of a ranking's lead."""
    place = [first for first, _ in result.pairs].index(name)
    return result.confidence_interval.low[place], result.confidence_interval.high[place]


model = max(candidates, key=lead.ndcg.get)
rival = max((name for name in scores if name not in candidates), key=lead.ndcg.get)
report(f"{model}, the better model, and {rival}, the best baseline:\n")
duel = compare_rankers(y_test, {model: scores[model], rival: scores[rival]}, **evaluation)
print(f"{duel}\n")

if interval(lead, model)[0] <= 0:
    found = "Nothing was found that ranks the stocks better than chance"
elif interval(lead, model)[0] > max(interval(upside_down, model)[1], 0):
    found = "Some of the lead is direction, in stocks picked with hindsight and before any costs"
else:
    found = "Whether any of the lead is direction is in doubt"
if duel.pvalue[0] <= 0.05:
    order = "better" if duel.difference[0] < 0 else "worse"
    found += f",\nand ranking by {rival}, without any model, has a {order} NDCG@5"
else:
    found += f",\nand ranking by {rival}, without any model, does not have a clearly worse NDCG@5"
print(f"{found}.")

# %%
# The days on which the model is furthest ahead of the baseline, and furthest behind it:

print(duel.largest_differences(3))

if plt.get_backend().lower() != "agg":
    plt.show()
