"""A grader for the tests of grading a class: quick, and it fails as the submission says."""

from __future__ import annotations

import os
import signal

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.errors import WorkFailed
from autograder.grading.assignment import Assignment
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.submission.submission import SubmittedFiles


def graded(assignment: Assignment, parcel: SubmittedFiles, seed: int) -> SubmissionVerdict:
    """A verdict that says what was handed in, unless the submission asks for trouble."""
    text = parcel.data.decode()
    if "kill" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "end all" in text:
        os.kill(os.getppid(), signal.SIGKILL)
        signal.pause()
    if "fail" in text:
        raise WorkFailed("no room")
    if "bug" in text:
        raise KeyError("ours")
    report = Report("double", (Verdict("doubles", Status.PASS, text),))
    key = assignment.key(parcel)
    return SubmissionVerdict(assignment.stem, seed, parcel.digest, (report,), {"double": 2}, {"double": 0}, key=key)
