"""Figures are closed after each test."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _closed():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
