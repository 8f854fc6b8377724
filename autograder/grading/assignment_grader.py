"""The worker's side of grading: prepare an assignment once per process, then grade one submission after another."""

from __future__ import annotations

import shutil
import tempfile
import weakref
import zlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from autograder.errors import WorkFailed
from autograder.files import write_all
from autograder.grading.assignment import Assignment, grader_digest
from autograder.grading.find_exercises_of_other_chapters import setup_cells_text
from autograder.grading.run_non_exercise_cells import NonExerciseCellsRunner
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.grading.verdict_paths import answer_keys_folder
from autograder.sandbox.execution.choose_runner import make_submission_runner
from autograder.sandbox.execution.run_specification import LIMITS, Limits
from autograder.submission.submission import Submission, SubmittedFiles

if TYPE_CHECKING:  # these import torch, which assignments without exercises do not need
    from autograder.course.chapter_judge import Judge
    from autograder.grading.grade_submission import SubmissionGrading

_making = Lock()


class Grader:
    """Everything that grading an assignment needs: the judge, the released notebook, and the runner of programs.

    Raises WorkFailed if this machine has another version of the package or of torch than the machine that sent the
    assignment, because the same submission could get another verdict here.
    """

    def __init__(self, assignment: Assignment) -> None:
        if assignment.grader != grader_digest():
            raise WorkFailed(
                "this worker has another version of the course's package, or of torch, than the machine that sends the "
                "work. Install the same on both, and start the workers again."
            )
        self._assignment = assignment
        self.release = assignment.released()
        self._judge = self._made_judge() if assignment.has_exercises else None
        self._run = make_submission_runner(Path(assignment.course), assignment.unconfined) if self._judge else None
        self._own = self._own_cells()
        self._lock = Lock()

    def _grading(self, submission: Submission, seed: int) -> SubmissionGrading | None:
        """Return the grading of a submission's exercises; None for an assignment without exercises."""
        if self._judge is None:
            return None
        from autograder.grading.grade_submission import SubmissionGrading

        return SubmissionGrading(submission, self._judge, seed)

    def _made_judge(self) -> Judge:
        """Return a new judge of the assignment's exercises."""
        import torch

        from autograder.course.expected_cache import ExpectedCache
        from autograder.grading.assignment_judge import JudgeWithBugHunts

        torch.set_num_threads(1)  # as in the sandbox: floating-point sums are then equal to the last bit
        wanted = self._assignment
        shelf = ExpectedCache(answer_keys_folder(Path(wanted.course), wanted.stem), wanted.digest)
        is_here = Path(wanted.course).is_dir()  # a machine of a cluster may not have the course folder
        prelude = setup_cells_text(self.release)
        found = shelf if is_here else None
        return JudgeWithBugHunts(self._course(), wanted.place, lent=wanted.lent, prelude=prelude, shelf=found)

    def _own_cells(self) -> NonExerciseCellsRunner | None:
        own, judge = self._assignment.own, self._judge
        if own is None or judge is None:
            return NonExerciseCellsRunner(self._assignment, own) if own else None
        return NonExerciseCellsRunner(self._assignment, own, judge.chapter.prelude, tuple(judge.chapter.exercises))

    @property
    def judge(self) -> Judge:
        """Return the judge of the exercises; raise WorkFailed for an assignment without any."""
        if self._judge is None:
            raise WorkFailed(f"{self._assignment.stem} has no exercises.")
        return self._judge

    def grade(self, parcel: SubmittedFiles, seed: int, limits: Limits = LIMITS) -> SubmissionVerdict:
        """Grade a student's files on the cases of this seed.

        Several threads may call it: a lock covers everything except for the run of the student's code, which happens
        in child processes.
        """
        with self._lock:
            submission = self._assignment.read(parcel, self.release)
            grading = self._grading(submission, seed)
        outcomes = grading.outcomes(self._run, limits) if grading and self._run else {}
        outputs = self._own.outputs(submission, seed, limits) if self._own else {}
        with self._lock:
            if grading:
                verdict = grading.verdict(parcel.digest, outcomes, limits)
            else:
                verdict = _without_exercises(submission, self._assignment.stem, seed, parcel.digest)
        tests = {
            name: (0.0, most) for name, most in self._assignment.points.items()
        }  # nbgrader scores the outputs of test cells later
        key = self._assignment.key(parcel)
        by_hand = self._assignment.by_hand
        return replace(verdict, key=key, tests=tests, by_hand=by_hand, outputs=outputs, cells=submission.cells)

    def _course(self) -> Path:
        """Return the course folder, or a temporary one with the assignment's texts if it is missing or differs.

        The real folder comes first, so that errors show its paths.
        """
        assignment = self._assignment
        texts = {name: zlib.decompress(text) for name, text in assignment.texts.items()}
        course = Path(assignment.course)
        if all((course / name).is_file() and (course / name).read_bytes() == text for name, text in texts.items()):
            return course
        made = Path(tempfile.mkdtemp(prefix="chapter-"))
        weakref.finalize(self, shutil.rmtree, made, ignore_errors=True)
        write_all({made / name: text for name, text in texts.items()})
        return made


def _without_exercises(submission: Submission, stem: str, seed: int, digest: str) -> SubmissionVerdict:
    return SubmissionVerdict(stem, seed, digest, (), {}, {}, submission.repairs, submission.eye, submission.trouble)


@lru_cache(maxsize=2)
def _made(assignment: Assignment) -> Grader:
    return Grader(assignment)


def get_grader(assignment: Assignment) -> Grader:
    """Return the grader of an assignment; each process makes it once."""
    with _making:
        return _made(assignment)
