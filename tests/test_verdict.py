"""Verdicts and reports: their JSON form."""

import json

import pytest

from autograder.diagnosis.verdict import Report
from tests import made


@pytest.mark.parametrize(
    "answer", [made.reference, made.roundabout, made.square, made.forgets], ids=lambda answer: answer.__name__
)
def test_a_report_survives_json(answer: object) -> None:
    """A report with its grid is equal after a round trip through JSON."""
    report = made.report(answer)  # type: ignore[arg-type]

    assert report == Report.from_json(json.loads(json.dumps(report.to_json())))


def test_another_version_is_refused() -> None:
    """A report of another version raises ValueError."""
    with pytest.raises(ValueError, match="version 3, found version 99"):
        Report.from_json({"version": 99})
