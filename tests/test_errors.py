"""docs/errors.md quotes what other libraries say."""

import re
from pathlib import Path

import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import GroupKFold, cross_validate

PAGE = (Path(__file__).parents[1] / "docs" / "errors.md").read_text(encoding="utf-8")
_, OTHERS = PAGE.split("## Errors of other libraries")
# the code in the first cell of each row, in parts
QUOTED = [
    [part.strip() for part in message.split("...")]
    for _, message in re.findall(r"^\| (?:\w+: )?(`+)(.*?)\1 \|", OTHERS, re.M)
]
ROWS = [[1.0, 2.0], [3.0, 4.0]], [0, 1]


def fails_on_one_fold(_, X, y):
    return {"ndcg@1": 1 / y[0]}


def several_scores(_):
    cross_validate(DummyRegressor(), [[0], [0]], [1, 0], scoring=fails_on_one_fold, cv=2)


def several_cutoffs_in_a_dict(_):
    def scores(model, X, y):
        return {"ndcg@5": 1.0, "ndcg@10": 1.0}

    cross_validate(DummyRegressor(), [[0], [0]], [1, 0], scoring={"n": scores}, cv=2)


def lightgbm(m, kind="Ranker", fit_params=None, **parameters):
    getattr(m, f"LGBM{kind}")(verbose=-1, **parameters).fit(*ROWS, **fit_params or {})


FRACTIONS = {"X": ROWS[0], "y": [0, 0.5]}
GROUP, EVAL = {"group": [2]}, {"eval_X": (ROWS[0],), "eval_y": (ROWS[1],)}
CALLS = [
    pytest.param("lightgbm", lightgbm, id="LightGBM"),
    pytest.param("xgboost", lambda m: m.XGBRanker().fit(*ROWS), id="XGBoost"),
    pytest.param("catboost", lambda m: m.CatBoostRanker(verbose=0).fit(*ROWS), id="CatBoost"),
    pytest.param(
        "xgboost",
        lambda m: m.XGBRanker(early_stopping_rounds=5).fit(*ROWS, qid=[1, 1]),
        id="XGBoost, early stopping",
    ),
    pytest.param(
        "lightgbm",
        lambda m: lightgbm(m, "Ranker", GROUP, early_stopping_round=5),
        id="LightGBM, early stopping",
    ),
    pytest.param(
        "lightgbm", lambda m: lightgbm(m, "Ranker", GROUP | EVAL), id="LightGBM, eval_group"
    ),
    pytest.param(
        "catboost",
        lambda m: m.CatBoostRanker(verbose=0, use_best_model=True).fit(*ROWS, group_id=[1, 1]),
        id="CatBoost, early stopping",
    ),
    pytest.param(
        "lightgbm",
        lambda m: lightgbm(m, "Regressor", objective="lambdarank"),
        id="LightGBM, objective",
    ),
    pytest.param(
        "lightgbm",
        lambda m: m.LGBMRanker(verbose=-1).fit(**FRACTIONS, group=[2]),
        id="LightGBM, labels",
    ),
    pytest.param(
        "xgboost", lambda m: m.XGBRanker().fit(**FRACTIONS, qid=[1, 1]), id="XGBoost, labels"
    ),
    pytest.param("catboost", lambda m: clone(m.CatBoostRanker(cat_features=["a"])), id="a clone"),
    pytest.param("sklearn", lambda _: next(GroupKFold(2).split(*ROWS)), id="GroupKFold"),
    pytest.param("sklearn", several_scores, id="several scores"),
    pytest.param("sklearn", several_cutoffs_in_a_dict, id="several cutoffs in a dict"),
]


@pytest.mark.filterwarnings("ignore:Scoring failed")
@pytest.mark.parametrize(("library", "call"), CALLS)
def test_the_page_quotes_what_other_libraries_say(library, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # CatBoost writes files
    module = pytest.importorskip(library)
    with pytest.raises(Exception) as error:  # noqa: PT011  (each library has its own classes)
        call(module)
    assert any(all(part in str(error.value) for part in parts) for parts in QUOTED)
