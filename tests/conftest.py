"""Tests grade confined where that can be had; where not, unconfined, and the report says so."""

from __future__ import annotations

import os

import pytest

from autograder.confinement.trial import missing
from autograder.grading.engine import UNCONFINED_VARIABLE


def pytest_configure() -> None:
    """Let grading go on where nothing can be confined."""
    if missing() is not None:
        os.environ[UNCONFINED_VARIABLE] = "1"


def pytest_report_header() -> str:
    """One line on what the run proves."""
    reason = missing()
    return "student code is confined" if reason is None else f"student code is NOT confined here: {reason}"


needs_confinement = pytest.mark.skipif(missing() is not None, reason=f"nothing can be confined here: {missing()}")
