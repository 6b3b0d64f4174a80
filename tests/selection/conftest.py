"""Wrappers of models, in which scorers have to find what is inside."""

import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline


def search_of(model):
    """Return a search of one candidate, whose score does not matter."""
    return GridSearchCV(model, {}, cv=2, scoring=lambda model, X, y: 0.0)


WRAPPERS = {
    "alone": lambda model: model,
    "Pipeline": lambda model: make_pipeline("passthrough", model),
    "search": search_of,
    "search of a Pipeline": lambda model: search_of(make_pipeline("passthrough", model)),
    "Pipeline of a search": lambda model: make_pipeline("passthrough", search_of(model)),
}


@pytest.fixture(params=WRAPPERS.values(), ids=WRAPPERS)
def wrap(request):
    """Put a model into a Pipeline, a search, both or nothing."""
    return request.param
