"""A chapter made ready to grade, and grading one submission as a function of values: what executors are given."""

from __future__ import annotations

import shutil
import tempfile
import weakref
import zlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock

import torch

from autograder.authoring.judge import Judge
from autograder.errors import WorkFailed
from autograder.files import write_all
from autograder.grading.assignment import Assignment, grader_digest
from autograder.grading.grade import Grading
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.reading.reader import read_parcel
from autograder.reading.submission import Parcel
from autograder.running.choose_runner import runner_for
from autograder.running.program import LIMITS, Limits

_making = Lock()


class Grader:
    """All that grading a chapter takes, made once: the judge with its bank, the released notebook, what runs programs.

    Raises WorkFailed on a machine where the same submission could get another verdict.
    """

    def __init__(self, assignment: Assignment) -> None:
        if assignment.grader != grader_digest():
            raise WorkFailed(
                "this worker has another version of the course's package, or of torch, than the machine that sends the "
                "work. Install the same on both, and start the workers again."
            )
        torch.set_num_threads(1)  # as where the students' code runs: sums come out the same to the last bit
        self._assignment = assignment
        self.judge = Judge(self._course(), assignment.stem)
        self.release = assignment.released()
        self._run = runner_for(Path(assignment.course), assignment.unconfined)
        self._lock = Lock()

    def grade(self, parcel: Parcel, seed: int, limits: Limits = LIMITS) -> SubmissionVerdict:
        """Grade what a student handed in, on the cases of this seed.

        Threads may call it: they take turns at all but the run of the student's code, which is only waited for.
        """
        with self._lock:
            grading = Grading(read_parcel(parcel, self.release, self._assignment.listed), self.judge, seed)
        outcomes = grading.outcomes(self._run, limits)
        with self._lock:
            verdict = grading.verdict(parcel.digest, outcomes, limits)
        return replace(verdict, key=self._assignment.key(parcel))

    def _course(self) -> Path:
        """The course folder, for its own line numbers in errors; one made from the texts where it is not here."""
        assignment = self._assignment
        texts = {name: zlib.decompress(text) for name, text in assignment.texts.items()}
        course = Path(assignment.course)
        if all((course / name).is_file() and (course / name).read_bytes() == text for name, text in texts.items()):
            return course
        made = Path(tempfile.mkdtemp(prefix="chapter-"))
        weakref.finalize(self, shutil.rmtree, made, ignore_errors=True)
        write_all({made / name: text for name, text in texts.items()})
        return made


@lru_cache(maxsize=2)
def _made(assignment: Assignment) -> Grader:
    return Grader(assignment)


def grader(assignment: Assignment) -> Grader:
    """The grader of an assignment, made once in a process."""
    with _making:
        return _made(assignment)
