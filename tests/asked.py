"""Options of a test run, read from environment variables.

`NIGHT=1`, which `make test-all` sets, asks for all that a test can draw and try, where by day it does some of it. What
runs at night only has the mark `night`.
"""

import os
from collections.abc import Collection

import pytest
from _pytest.mark import ParameterSet

NIGHT = os.environ.get("NIGHT", "") not in ("", "0")


def by_night(names: Collection[str], by_day: Collection[str]) -> list[str | ParameterSet]:
    """Return the names as parameters of a test, those that are not named for the day with the mark `night`."""
    return [name if name in by_day else pytest.param(name, marks=pytest.mark.night) for name in names]
