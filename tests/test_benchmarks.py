"""The benchmarks' promises fail where they should; the figures themselves are not tested."""

import math
import runpy
from pathlib import Path

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
