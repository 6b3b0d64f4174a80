"""Arrays of the array API, on any device, are brought to the host."""

import numpy as np
import pytest
from helpers import IDS, S, Y, assert_same, run_python

from sklearn_ndcg import make_ndcg_scorer, ndcg_samples, ndcg_score, quantile_grades
from sklearn_ndcg.inference import ndcg_interval


def strict_arrays():
    strict = pytest.importorskip("array_api_strict")
    pytest.importorskip("numpy", minversion="2.1")  # an older one cannot copy from a device
    for device in strict.__array_namespace_info__().devices():
        if str(device).endswith(("'CPU_DEVICE')", "'device1')")):
            yield lambda a, device=device: strict.asarray(a, device=device)


def tensors():
    torch = pytest.importorskip("torch")
    yield torch.tensor
    yield lambda a: torch.tensor(a, requires_grad=a.dtype.kind == "f")


HEAVY = pytest.mark.slow  # torch is gigabytes


@pytest.fixture(params=[strict_arrays, pytest.param(tensors, marks=HEAVY)])
def makers(request):
    """Functions that make an array of another library from a NumPy array."""
    return list(request.param())


@pytest.mark.filterwarnings("ignore:2 queries")
def test_every_argument_may_be_on_a_device(makers):
    expected = ndcg_score(Y, S, groups=IDS, sample_weight=Y + 1)
    y, s = Y.reshape(2, 4), S.reshape(2, 4)
    for make in makers:
        found = ndcg_score(make(Y), make(S), groups=make(IDS), sample_weight=make(Y + 1))
        assert found == expected
        np.testing.assert_array_equal(ndcg_samples(make(y), make(s)), ndcg_samples(y, s))
        found = ndcg_interval(make(Y), make(S), groups=make(IDS), method="t")
        assert_same(found, ndcg_interval(Y, S, groups=IDS, method="t"))
        grades = quantile_grades(make(S), groups=make(IDS))
        assert grades.tolist() == quantile_grades(S, groups=IDS).tolist()


def test_a_model_may_predict_on_a_device(makers):
    for make in makers:

        class Model:
            def predict(self, X, make=make):
                return make(X[:, 0])

        scorer = make_ndcg_scorer(group_by=1)
        assert scorer(Model(), np.c_[S, IDS], Y) == ndcg_score(Y, S, groups=IDS)


@HEAVY
def test_under_dispatch_tensors_stay_readable():
    """scikit-learn's own checks would leave them tensors."""
    pytest.importorskip("torch")
    code = (
        "import sklearn, torch; from sklearn_ndcg import ndcg_score;"
        "sklearn.set_config(array_api_dispatch=True);"
        "y, s, q = torch.tensor([1.0, 0, 2]), torch.tensor([3.0, 2, 1]), torch.tensor([1, 1, 1]);"
        "assert ndcg_score(y, s, groups=q) == ndcg_score([1, 0, 2], [3, 2, 1], groups=[1] * 3)"
    )
    assert run_python(code, SCIPY_ARRAY_API="1").stderr == ""
