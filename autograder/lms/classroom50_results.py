"""Write a verdict as the `result.json` and `release-body.md` of Classroom 50.

The contract: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding ("Contract", "The result.json
contract", "Failure paths"), the page of 16 August 2026, read on 29 November 2026. An autograder that cannot grade ends
with an exit status other than 0: the runner then reports an error, and leaves what was published as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.lms.exercise_rows import ExerciseRow, exercise_rows, unreadable_submission_message
from autograder.submission.sanitize_markdown import code_block

_SCHEMA = "classroom50/result/v1"
_UNIT = 100  # scores are whole numbers there, and ours have fractions: the results count hundredths of points


def classroom50_result(verdict: SubmissionVerdict, about: Mapping[str, str], now: datetime) -> dict[str, Any]:
    """Return the `result.json` of a verdict; `about` is the environment, where the runner says what is graded.

    No score may exceed its maximum, so extra credit stands in the release's text alone.
    """
    tests = [
        {
            "test-name": row.name,
            "passed": row.passed,
            "score": round(row.earned * _UNIT),
            "max-score": round(row.most * _UNIT),
        }
        for row in exercise_rows(verdict)
        if row.most
    ]
    return {
        "schema": _SCHEMA,
        "classroom": about["CLASSROOM"],
        "assignment": about["ASSIGNMENT"],
        "submission": about["SUBMISSION_TAG"],
        "commit": about["COMMIT_URL"],
        "release": about["RELEASE_URL"],
        "review": about.get("REVIEW_URL") or about["COMMIT_URL"],
        "datetime": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }


def classroom50_release_body(verdict: SubmissionVerdict) -> str:
    """Return the Markdown of the release.

    All text that a student's answer can influence is in code blocks, so that GitHub does not render it.
    """
    total = f"### {verdict.score:g} of {verdict.max_score:g} points"
    extra = f", and {verdict.extra_credit:g} of extra credit" if verdict.extra_credit else ""
    unread = [code_block(unreadable_submission_message(verdict))] if verdict.trouble else []
    parts = [f"{total}{extra}", "The scores in the table of tests are hundredths of points.", *unread]
    return "\n\n".join([*parts, *map(_section, exercise_rows(verdict))]) + "\n"


def _section(row: ExerciseRow) -> str:
    worth = f"{row.earned:g} of {row.most:g}" if row.most else f"{row.earned:g}, extra credit"
    return f"**{row.name}**: {worth}\n\n{code_block(row.text)}"
