"""Arrays of the array API, on any device, are brought to the host."""

import numpy as np
import pytest
from helpers import IDS, S, Y, run_python

from sklearn_ndcg import make_ndcg_scorer, ndcg_samples, ndcg_score, quantile_grades


def strict(device):
    """Arrays of the strict implementation of the array API, on this device."""
    library = pytest.importorskip("array_api_strict")
    pytest.importorskip("numpy", minversion="2.1")  # an older one cannot copy from a device
    return lambda array: library.asarray(array, device=library.Device(device))


def tensors(requires_grad):
    torch = pytest.importorskip("torch")
    return lambda array: torch.tensor(
        array, requires_grad=requires_grad and array.dtype.kind == "f"
    )


HEAVY = pytest.mark.slow  # torch is gigabytes
MAKERS = [(strict, "CPU_DEVICE"), (strict, "device1")]
MAKERS += [pytest.param((tensors, grad), marks=HEAVY) for grad in (False, True)]


@pytest.fixture(params=MAKERS)
def make(request):
    """Make an array of another library from a NumPy array."""
    library, kind = request.param
    return library(kind)


@pytest.mark.filterwarnings("ignore:2 queries")
def test_every_argument_may_be_on_a_device(make):
    expected = ndcg_score(Y, S, groups=IDS, sample_weight=Y + 1)
    found = ndcg_score(make(Y), make(S), groups=make(IDS), sample_weight=make(Y + 1))
    assert found == expected
    grades = quantile_grades(make(S), groups=make(IDS))
    assert grades.tolist() == quantile_grades(S, groups=IDS).tolist()


def test_a_matrix_may_be_on_a_device(make):
    y, s = Y.reshape(2, 4), S.reshape(2, 4)
    np.testing.assert_array_equal(ndcg_samples(make(y), make(s)), ndcg_samples(y, s))


def test_a_model_may_predict_on_a_device(make):
    class Model:
        def predict(self, X):
            return make(X[:, 0])

    scorer = make_ndcg_scorer()
    assert scorer(Model(), np.c_[S], Y, groups=IDS) == ndcg_score(Y, S, groups=IDS)


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
