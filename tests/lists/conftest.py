"""Each test of this folder runs with the compiled reading of lists, and with that in Python."""

import pytest

from sklearn_ndcg._lists import pool


@pytest.fixture(autouse=True, scope="module", params=["compiled", "Python"])
def reading(request):
    if request.param == "Python":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pool, "_compiled", None)
            yield request.param
    elif pool._compiled is None:
        pytest.skip("the compiled reading was not built, or not chosen")
    else:
        yield request.param
