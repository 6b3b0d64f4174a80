"""
==========================================
Rank 20 stocks by the returns of next week
==========================================

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
and costs are ignored. The standard errors allow for overlapping targets, and the last sentences of
the output depend on them.
"""

from time import perf_counter

import numpy as np
import pandas as pd
from skfolio.datasets import load_sp500_dataset
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

from sklearn_ndcg import (
    check_group_splits,
    dcg_samples,
    make_ndcg_scorer,
    ndcg_samples,
    quantile_grades,
)

HORIZON = 5  # trading days that the target looks ahead
BLOCK = 60  # trading days; the mean of a block is one value for the standard error
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
# The return of the top five stocks above the mean of the day's twenty is a DCG without discount,
# with excess returns as gains: the sum over the first five ranks.
#
# The targets of two days less than five days apart overlap. So the values of single days are not
# independent, and the error of their mean would look too small. Means of blocks of 60 days, about a
# quarter of a year, are nearly independent, so the standard error is computed from them.

excess = test_returns - test_returns.groupby(level="day").transform("mean")


def per_day(metric, values, **options):
    """Return one value per day, for each of the rankings."""
    return pd.DataFrame(
        {name: metric(values, s, groups=test_day, k=5, **options) for name, s in scores.items()}
    )


ndcg = per_day(ndcg_samples, y[test_rows], gain="exponential")
upside_down = per_day(ndcg_samples, y[test_rows].max() - y[test_rows], gain="exponential")
gained = per_day(dcg_samples, 100 * excess, discount="none") / 5


def mean_and_error(daily):
    """Return the mean of daily values, and its standard error over blocks of days."""
    blocks = daily.groupby(np.arange(len(daily)) // BLOCK).mean()
    return daily.mean(), blocks.sem()


lead = ndcg.sub(ndcg["random order"], axis=0)
lead_upside_down = upside_down.sub(upside_down["random order"], axis=0)
report(f"{len(ndcg):,} days of the comparison, ± standard error over blocks of {BLOCK} days:\n")
print(f"{'':18}            ahead of random    the same, grades    5-day return of top 5,")
print(f"{'':18} NDCG@5          order             upside down      over the day's mean, %")
for name in ndcg:
    print(f"{name:18} {ndcg[name].mean():.4f}", end="")
    if name != "random order":
        for values in lead, lead_upside_down, gained:
            mean, error = mean_and_error(values[name])
            print(f"    {mean:+.4f} ± {error:.4f}", end="")
    print()
print()

# %%
# What was found
# --------------
# Here a mean of more than two standard errors counts as more than luck. That is a low bar if
# several rankings are tried, because the best of several is more likely to be lucky than a single
# one.


def verdict(values, unit=""):
    """Describe the mean, and whether it may be luck."""
    mean, error = mean_and_error(values)
    luck = "more than two standard errors" if abs(mean) > 2 * error else "may well be luck"
    return f"{mean:+.4f}{unit} ± {error:.4f}{unit}, {luck}"


def is_ahead(values):
    """Return whether the mean is above 0 by more than two standard errors."""
    mean, error = mean_and_error(values)
    return mean > 2 * error


baselines = ndcg.drop(columns=list(candidates)).mean()
model, rival = ndcg[list(candidates)].mean().idxmax(), baselines.idxmax()
over_rival, direction = ndcg[model] - ndcg[rival], lead[model] - lead_upside_down[model]
report(f"{model}, the better model by NDCG@5:\n")
print(f"lead over {rival}, the best baseline: {verdict(over_rival)}")
print(f"its lead minus its lead on the grades upside down: {verdict(direction)}")
print(f"return of its top 5 over the day's mean, per 5 days: {verdict(gained[model], ' %')}\n")

if not is_ahead(lead[model]):
    found = "Nothing was found that ranks the stocks better than chance"
elif is_ahead(direction) and is_ahead(gained[model]):
    found = "Some of the lead is direction, in stocks picked with hindsight and before any costs"
elif is_ahead(direction) or is_ahead(gained[model]):
    found = "Whether any of the lead is direction is in doubt"
else:
    found = "The lead comes from finding volatile stocks; no direction was found"
if is_ahead(-over_rival):
    found += f",\nand ranking by {rival}, without any model, has a better NDCG@5"
elif not is_ahead(over_rival):
    found += f",\nand ranking by {rival}, without any model, does not have a clearly worse NDCG@5"
print(f"{found}.")
