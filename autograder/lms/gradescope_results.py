"""Write a verdict as the `results.json` of Gradescope.

The contract: https://gradescope-autograders.readthedocs.io/en/latest/specs/ ("Output format", "Test case status",
"Output String Formatting"), read on 29 November 2026. Names and outputs of the format `text` are shown as they are: no
HTML, Markdown or ANSI in them is rendered. What is printed is shown to instructors only.
"""

from __future__ import annotations

from typing import Any

from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.lms.exercise_rows import exercise_rows, unreadable_submission_message


def gradescope_results(verdict: SubmissionVerdict) -> dict[str, Any]:
    """Return the results of a verdict: a test for each exercise; Gradescope adds up their scores.

    Extra credit is a score above a maximum of 0.
    """
    tests = [
        {
            "name": row.name,
            "score": row.earned,
            "max_score": row.most,
            "status": "passed" if row.passed else "failed",
            "output": row.text,
            "visibility": "visible",
        }
        for row in exercise_rows(verdict)
    ]
    return _results(unreadable_submission_message(verdict), tests)


def gradescope_failure_result(message: str) -> dict[str, Any]:
    """Return the results for a submission that the grader could not grade: a message, no test and no score."""
    return _results(message, [])


def _results(output: str, tests: list[dict[str, Any]]) -> dict[str, Any]:
    formats = {"output_format": "text", "test_output_format": "text", "test_name_format": "text"}
    shown = {"visibility": "visible", "stdout_visibility": "hidden"}
    return {"output": output, **formats, **shown, "tests": tests}
