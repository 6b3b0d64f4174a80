"""
=======================================
Rank 20 stocks by the week that follows
=======================================

A day is a query and its stocks are the documents. Their returns over the next five trading days,
cut into five grades within the day, are the relevance, and a ranking is good if the stocks at its
top do better than the others of that day. ``make_ndcg_scorer`` scores it day by day, over splits
that keep the order of time.

What was found: the models are ahead of a random order, but ranking by volatility, which says
nothing of the direction, is further ahead. Stocks that swing widely are more often among the best
of a week, and among the worst as well, and NDCG at the top of a list sees only the former. So each
ranking is also scored on the grades upside down: one that finds wide swings leads there too, one
that tells winners from losers does not. By that, some of the models' lead is direction.

It is no ground for trading. The 20 stocks were picked by somebody who knew which companies would
still be there in 2022, prices are rounded to a tenth of a cent, which is coarse where splits have
scaled them down to cents, one buys at the very close that the features already know, and no costs
are counted. The standard errors allow for targets that overlap, and the last sentences are chosen
by them.
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
BLOCK = 60  # trading days whose mean counts as one value in a standard error
start = perf_counter()


def report(message):
    """Print what has been reached, and when."""
    print(f"[{perf_counter() - start:4.1f} s] {message}", flush=True)


# %%
# Features and grades
# -------------------
# Features look back only: no price after a day's close is in that day's row. Each is ranked among
# the stocks of the day, from above 0 to 1, since only the order within a day is asked for.


def make_features(prices):
    """One row of features for each day and stock that has a year of prices behind it."""
    daily = prices.pct_change()
    features = {
        "1 day": daily,
        "5 days": prices.pct_change(5),
        "1 month": prices.pct_change(21),
        "3 months": prices.pct_change(63),
        "6 months": prices.pct_change(126),
        "12 months": prices.shift(21).pct_change(231),  # the last month aside
        "volatility": daily.rolling(63).std(),
        "above average": prices / prices.rolling(50).mean(),
        "below high": prices / prices.rolling(252).max(),
    }
    ranked = {name: values.rank(axis=1, pct=True).stack() for name, values in features.items()}
    return pd.DataFrame(ranked).dropna().rename_axis(index=["day", "stock"])


def make_returns(prices):
    """The return of each stock over the next trading days."""
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
# TimeSeriesSplit splits days, not rows. A training target that reached into the test days would
# tell of them, so as many days between the two are left out as the target looks ahead.


def day_splits(day, **options):
    """Split the days in order; return the rows of each training and test part."""
    days, code = np.unique(day, return_inverse=True)
    parts = TimeSeriesSplit(gap=HORIZON, **options).split(days)
    return [tuple(np.flatnonzero(np.isin(code, part)) for part in pair) for pair in parts]


# The second half of the days is for the comparison, in five parts: each is ranked by models that
# were fitted to all days before it. The first half, less the gap, is for the search.

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
# The ids that the scorer needs are in the index, where they are no feature. Early stopping is off:
# it would hold out rows at random, whose targets overlap with those of the rows that are left.

at_5 = {"k": 5, "gain": "exponential"}
trees = HistGradientBoostingRegressor(
    max_iter=50, min_samples_leaf=200, early_stopping=False, random_state=0
)
candidates = {
    "ridge": (Ridge(), {"alpha": [1, 1e3, 1e5]}),
    "boosted trees": (trees, {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [4, 16]}),
}
scores = {
    "random order": np.zeros(len(test_rows)),  # ties are averaged: exactly what to expect
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
# What the five stocks at the top returned more than the mean of the day's twenty is a DCG without
# discount, of excess returns as gains: the sum over the first five ranks.
#
# The targets of two days less than five apart share days. Values of single days are therefore not
# independent, and the error of their mean would look too small. Means of blocks of 60 days, about
# a quarter, are nearly independent, so the standard error is taken over those.

excess = test_returns - test_returns.groupby(level="day").transform("mean")


def per_day(metric, values, **options):
    """One value a day, for each of the rankings."""
    return pd.DataFrame(
        {name: metric(values, s, groups=test_day, k=5, **options) for name, s in scores.items()}
    )


ndcg = per_day(ndcg_samples, y[test_rows], gain="exponential")
upside_down = per_day(ndcg_samples, y[test_rows].max() - y[test_rows], gain="exponential")
gained = per_day(dcg_samples, 100 * excess, discount="none") / 5


def mean_and_error(daily):
    """Mean of daily values, and its standard error over blocks of days."""
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
# A mean counts as more than luck here from two standard errors on. That is a low bar where several
# rankings are tried, and the best of several has more luck than one.


def verdict(values, unit=""):
    """Show the mean, and say whether it may be luck."""
    mean, error = mean_and_error(values)
    luck = "more than two standard errors" if abs(mean) > 2 * error else "may well be luck"
    return f"{mean:+.4f}{unit} ± {error:.4f}{unit}, {luck}"


def is_ahead(values):
    """Whether the mean is above 0 by more than two standard errors."""
    mean, error = mean_and_error(values)
    return mean > 2 * error


baselines = ndcg.drop(columns=list(candidates)).mean()
model, rival = ndcg[list(candidates)].mean().idxmax(), baselines.idxmax()
over_rival, direction = ndcg[model] - ndcg[rival], lead[model] - lead_upside_down[model]
report(f"{model}, the better model by NDCG@5:\n")
print(f"less {rival}, the best baseline: {verdict(over_rival)}")
print(f"less its own lead on the grades upside down: {verdict(direction)}")
print(f"return of its top 5 over the day's mean, per 5 days: {verdict(gained[model], ' %')}\n")

if not is_ahead(lead[model]):
    found = "Nothing was found that ranks the stocks better than chance"
elif is_ahead(direction) and is_ahead(gained[model]):
    found = "Some of the lead is direction, in stocks picked with hindsight and before any costs"
elif is_ahead(direction) or is_ahead(gained[model]):
    found = "Whether any of the lead is direction is in doubt"
else:
    found = "The lead is one in finding wide swings; no direction was found"
if is_ahead(-over_rival):
    found += f",\nand ranking by {rival} is better by NDCG@5 without any model"
elif not is_ahead(over_rival):
    found += f",\nand ranking by {rival} is not clearly worse by NDCG@5, without any model"
print(f"{found}.")
