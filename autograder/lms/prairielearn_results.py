"""Write a verdict as the `results.json` of an external grader of PrairieLearn.

The contract: https://docs.prairielearn.com/externalGrading/ ("Grading results"), that is `docs/externalGrading.md` in
the repository PrairieLearn/PrairieLearn, read on 29 November 2026. `pl-external-grader-results` escapes HTML in what it
shows, and turns ANSI sequences into styles and links; there are none in ours.
"""

from __future__ import annotations

from typing import Any

from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.lms.exercise_rows import exercise_rows, unreadable_submission_message


def prairielearn_results(verdict: SubmissionVerdict) -> dict[str, Any]:
    """Return the results of a verdict: a test for each exercise, and the share of all points.

    PrairieLearn accepts no score above 1, so extra credit can only replace points that are missing. A file that
    cannot be read is reported as not gradable, which costs the student no attempt.
    """
    if verdict.trouble:
        return prairielearn_failure_result(unreadable_submission_message(verdict))
    tests = [
        {"name": row.name, "points": row.earned, "max_points": row.most, "message": row.text}
        for row in exercise_rows(verdict)
    ]
    share = (verdict.score + verdict.extra_credit) / (verdict.max_score or 1)
    return {"gradable": True, "score": min(1.0, round(share, 6)), "tests": tests}


def prairielearn_failure_result(message: str) -> dict[str, Any]:
    """Return the results for a submission that was not graded: no points are awarded or lost, and no attempt counts."""
    return {"gradable": False, "format_errors": [message]}
