"""Figures are closed after each test."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _closed():
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):  # None in the test without matplotlib
        pyplot.close("all")
