"""The benchmarks' promises fail where they should; the figures themselves are not tested."""

import math
import runpy
from pathlib import Path

import pytest

COMMON = runpy.run_path(Path(__file__).parents[1] / "benchmarks" / "common.py")


def exit_status(measured, *, little_data=False, **bound):
    promise = COMMON["Promises"](quick=little_data)
    promise("kept", 2, most=2, least=2)
    promise("tried", measured, **bound)
    with pytest.raises(SystemExit) as caught:
        promise.exit()
    return caught.value.code


@pytest.mark.parametrize("little_data", [False, True])
@pytest.mark.parametrize("bound", [{"most": 1.9}, {"least": 2.1}], ids=str)
def test_a_broken_promise_is_the_exit_status(bound, little_data):
    assert exit_status(2.0, little_data=little_data, **bound) == 1


@pytest.mark.parametrize(("little_data", "expected"), [(True, 0), (False, 1)])
def test_a_promise_for_much_data_is_not_checked_on_little(little_data, expected):
    assert exit_status(2.0, little_data=little_data, most=1.9, quick=False) == expected


def test_what_cannot_be_measured_breaks_no_promise():
    assert exit_status(math.nan, most=1.9) == 0
