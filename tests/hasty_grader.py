"""A fast stand-in for the grader, for tests of grading a class; a submission can make it fail."""

from __future__ import annotations

import os
import signal

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.errors import WorkFailed
from autograder.grading.assignment import Assignment
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.submission.submission import SubmittedFiles


def graded(assignment: Assignment, parcel: SubmittedFiles, seed: int) -> SubmissionVerdict:
    """Return a verdict that quotes the submission, unless that contains a word that makes this fail."""
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
