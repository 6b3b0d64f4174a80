"""The benchmarks' promises fail where they should; the figures themselves are no test."""

import math
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

COMMON = runpy.run_path(Path(__file__).parents[1] / "benchmarks" / "common.py")


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize(
    ("found", "bounds", "status"),
    [
        (2.0, {"most": 2}, 0), (2.1, {"most": 2}, 1), (2.0, {"least": 2}, 0), (1.9, {"least": 2}, 1),
        (math.nan, {"most": 2}, 0),
    ],
)  # fmt: skip
def test_a_broken_promise_is_the_exit_status(quick, found, bounds, status, capsys):
    promise = COMMON["Promises"](quick=quick)
    promise("kept", 1, most=1)
    promise("tried", found, **bounds)
    with pytest.raises(SystemExit) as caught:
        promise.exit()
    assert caught.value.code == status
    assert ("tried: BROKEN" in capsys.readouterr().out) == bool(status)


@pytest.mark.parametrize("quick", [False, True])
def test_promises_for_much_data_are_not_checked_with_quick(quick, capsys):
    promise = COMMON["Promises"](quick=quick)
    promise("tried", 3, most=2, quick=False)
    with pytest.raises(SystemExit) as caught:
        promise.exit()
    assert caught.value.code == int(not quick)
    assert ("not checked" in capsys.readouterr().out) == quick


def test_a_benchmark_checks_values():
    with pytest.raises(AssertionError, match="ours"):
        COMMON["compare"]("values", ("ours", lambda: 0.5, 0.6))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset the peak")
def test_extra_memory_is_that_of_the_call():
    size = 8 * 10**7
    found = COMMON["extra_memory"](lambda: np.ones(size // 8).sum())
    assert found == pytest.approx(size, rel=0.1)
