"""The second table of docs/compatibility.md: each tool that is installed is run.

``nox -s tools`` installs all of them.
"""

import pages
import pytest
from other_tools import TOOLS, documented, ids_that_work, installed, mlflow_folder, quiet, same
from sklearn.linear_model import Ridge
from tool_cases import case

from sklearn_ndcg import GroupedRanker

CELLS = documented((pages.DOCS / "compatibility.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", installed())
def test_ids_work_as_documented(row):
    cell, found = ids_that_work(row)
    assert CELLS[row][1] == cell, found


def test_the_page_has_the_tools_that_are_run():
    assert list(CELLS) == list(TOOLS)


def test_a_ranker_is_logged_by_mlflow_and_loaded_again():
    pytest.importorskip("mlflow")
    skops = pytest.importorskip("skops.io")

    with case("index level") as c, quiet(), mlflow_folder() as mlflow, mlflow.start_run():
        ranker = GroupedRanker(Ridge(), group_by="query").fit(c.X, c.y)
        trusted = skops.get_untrusted_types(data=skops.dumps(ranker))
        model = mlflow.sklearn.log_model(ranker, name="ranker", skops_trusted_types=trusted)
        again = mlflow.sklearn.load_model(model.model_uri)
        assert same(again.predict(c.X), Ridge().fit(c.X, c.grades).predict(c.X))
