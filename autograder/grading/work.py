"""The work that executors are given. Who only hands it out does without the grader, and without torch."""

from __future__ import annotations

from autograder.grading.assignment import Assignment
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.reading.parcel import Parcel


def graded(assignment: Assignment, parcel: Parcel, seed: int) -> SubmissionVerdict:
    """The verdict on one submission: the same, wherever and in whatever order it is computed.

    Raises WorkFailed where students' code cannot be run here.
    """
    from autograder.grading.grader import grader

    return grader(assignment).grade(parcel, seed)
