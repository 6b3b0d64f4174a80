"""The benchmarks' promises fail where they should; the figures themselves are not tested."""

import math
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

COMMON = runpy.run_path(Path(__file__).parents[1] / "benchmarks" / "common.py")


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("bounds", [{"most": 1.9}, {"least": 2.1}, {"most": 1, "quick": False}])
def test_a_broken_promise_is_the_exit_status(quick, bounds):
    for found, expected in ((2.0, 0 if quick and "quick" in bounds else 1), (math.nan, 0)):
        promise = COMMON["Promises"](quick=quick)
        promise("kept", 2, most=2, least=2)
        promise("tried", found, **bounds)
        with pytest.raises(SystemExit) as caught:
            promise.exit()
        assert caught.value.code == expected


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset the peak")
def test_extra_memory_is_that_of_the_call():
    size = 8 * 10**7
    found = COMMON["extra_memory"](lambda: np.ones(size // 8).sum())
    assert found == pytest.approx(size, rel=0.1)
