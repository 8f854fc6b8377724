"""Analyse one student's answer: report on it, find the nearest known mistakes, and draft an answer bank entry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from nbformat import NotebookNode

from autograder.authoring import draft_answer_bank_entry
from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.course.course import course_in
from autograder.course.course_location import bank_file
from autograder.diagnosis.verdict import Report, Status
from autograder.errors import WorkFailed
from autograder.grading.assignment import Assignment, read_assignment, released_or_committed_path
from autograder.grading.execution_plan import ProgramToRun
from autograder.grading.grade_submission import plan_submission, report_on
from autograder.grading.judge_untrusted_observations import FORGED_OBSERVATION_MESSAGE
from autograder.sandbox.execution.choose_runner import make_submission_runner
from autograder.sandbox.execution.run_specification import LIMITS, ExerciseOutcome, Runner
from autograder.submission import read_student_folder
from autograder.submission.anonymize_answer import names_in_release
from autograder.submission.order_repaired_cells import CellInRun, CellRole
from autograder.submission.read_released_cells import starters
from autograder.submission.read_submission import submission_from_files
from autograder.submission.read_submitted_file_safely import read_notebook_file
from autograder.submission.submission import Submission, SubmittedFiles

FRESH_SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class NearMistake:
    """A known mistake near to an answer.

    `cases` is the number of visible cases on which the answer is wrong, and `same` the number of those on which the
    mistake has the same observation.
    """

    tag: str
    same: int
    cases: int


@dataclass(frozen=True)
class AnswerAnalysis:
    """The analysis of an answer: its reports on visible and fresh cases, the nearest known mistakes, and a draft.

    `entry` is the drafted bank entry, or "" if the bank cannot hold the answer or needs no entry; `advice` says why, or
    what the author should do next. The entry belongs after line `line` of the file `bank`.
    """

    exercise: str
    visible: Report
    fresh: tuple[Report, ...]
    near: tuple[NearMistake, ...]
    bank: Path
    line: int
    entry: str
    advice: str


def draft_entry_from_answer(
    course: Path, submission: Path, exercise: str, names: Iterable[str] = (), *, unconfined: bool = False
) -> AnswerAnalysis:
    """Run one answer from a notebook, or from a student's folder, and draft an entry for the answer bank.

    The answer runs as in grading. `names` are words to remove from the entry, such as the student's name. Raises
    UnknownExercise, CourseNotFound, and WorkFailed if the submission cannot be read.
    """
    stem = course_in(course).find(exercise).chapter
    wanted = read_assignment(course, stem, unconfined=unconfined, given=released_or_committed_path(course, stem))
    release = wanted.released()
    read = _read(wanted, release, submission)
    lab = _Lab(Judge(course, stem), make_submission_runner(course, unconfined), read, exercise)
    outcomes = {seed: lab.outcome(seed) for seed in (VISIBLE_SEED, *FRESH_SEEDS)}
    reports = {seed: lab.report(seed, outcome) for seed, outcome in outcomes.items()}
    visible, *fresh = reports.values()
    entry, advice = _drafted(lab, reports, names, names_in_release(release))
    bank = bank_file(course, stem, exercise)
    near = () if visible.verdicts[0].sentence == FORGED_OBSERVATION_MESSAGE else lab.near(outcomes[VISIBLE_SEED])
    return AnswerAnalysis(
        exercise, visible, tuple(fresh), near, bank, draft_answer_bank_entry.insertion_line(bank), entry, advice
    )


def _read(wanted: Assignment, release: NotebookNode, path: Path) -> Submission:
    if path.is_dir():
        parcel = read_student_folder.read_student_folder(path, wanted.stem, starters(release))
    elif path.is_file():
        parcel = SubmittedFiles(*read_notebook_file(path))
    else:
        raise WorkFailed(f"expected a notebook, or a student's folder of submitted/, found no {path}.")
    read = submission_from_files(parcel, release, wanted.listed)
    if read.trouble:
        raise WorkFailed(f"{path} could not be read: {read.trouble}")
    return read


class _Lab:
    """Runs the answer to one exercise of a submission. The answer can call the student's other answers."""

    def __init__(self, judge: Judge, run: Runner, submission: Submission, exercise: str) -> None:
        self._judge, self._run, self._submission, self._exercise = judge, run, submission, exercise

    @property
    def source(self) -> str:
        """Return the answer with its helpers, as plain Python."""
        return self._planned(VISIBLE_SEED).sources[self._exercise]

    def outcome(self, seed: int) -> ExerciseOutcome:
        """Run the answer on the cases of a seed, and return the outcome."""
        return self._run(self._planned(seed).program.only(self._exercise), LIMITS)[self._exercise]

    def _planned(self, seed: int) -> ProgramToRun:
        return plan_submission(self._submission, self._judge, seed, only=self._exercise)

    def report(self, seed: int, outcome: ExerciseOutcome) -> Report:
        """Return the report on an outcome for the cases of a seed."""
        return report_on(self._judge, self._exercise, outcome, self.source, seed)

    def alone(self, answer: str) -> _Lab:
        """Return a lab for the same exercise whose submission holds `answer` only."""
        parts = (
            CellInRun(CellRole.ANSWER, answer, (self._exercise,)),
            CellInRun(CellRole.CHECK, exercises=(self._exercise,)),
        )
        return _Lab(self._judge, self._run, replace(self._submission, parts=parts), self._exercise)

    def near(self, outcome: ExerciseOutcome) -> tuple[NearMistake, ...]:
        """Return up to three known mistakes that agree with the answer on a case where it is wrong, nearest first."""
        seen = outcome.observations
        if seen is None:
            return ()
        exercise, key = self._judge.exercises[self._exercise], self._judge.keys.full_key(self._exercise, VISIBLE_SEED)
        cases = range(len(seen))
        wrong = [i for i in cases if exercise.compare(key.reference[i], seen[i], exercise.tolerance) is not None]
        found = []
        for mistake in key.mistakes:
            theirs = mistake.observations
            same = {i for i in cases if exercise.compare(theirs[i], seen[i], exercise.tolerance) is None}
            if same.intersection(wrong):
                near = NearMistake(mistake.tag, len(same.intersection(wrong)), len(wrong))
                found.append((near.same, len(same), near))
        return tuple(near for *_, near in sorted(found, key=lambda each: each[:2], reverse=True)[:3])


def _drafted(lab: _Lab, reports: dict[int, Report], names: Iterable[str], given: frozenset[str]) -> tuple[str, str]:
    """Return the drafted entry, or "" if there is none, and the advice that goes with it."""
    first = reports[VISIBLE_SEED].verdicts[0]
    exercise = reports[VISIBLE_SEED].exercise
    if first.status is Status.NOT_ATTEMPTED:
        return "", "The exercise was not attempted: there is nothing to learn from."
    if first.status is Status.TIMEOUT or (first.status is Status.ERROR and not first.call):
        return "", "The answer did not get as far as being checked, so the bank cannot hold it."
    try:
        answer = draft_answer_bank_entry.anonymous_answer(exercise, lab.source, names, given)
    except draft_answer_bank_entry.CannotDraftEntry as error:
        return "", str(error)
    is_right = all(report.passed for report in reports.values())
    alone = lab.alone(answer)
    same = all(_alike(alone.report(seed, alone.outcome(seed)), report) for seed, report in reports.items())
    entry = draft_answer_bank_entry.draft_entry(answer, is_right)
    if not same:
        return (
            entry,
            "Written alone, the answer does something else: it depends on other cells. Correct the draft by hand.",
        )
    known = {tag for report in reports.values() for tag in report.mistakes}
    if is_right:
        return entry, "The answer passes every check. Add it only if it was refused once, or is built in a new way."
    if known:
        return (
            entry,
            f"Its report names {', '.join(map(repr, sorted(known)))}: add it only if that sentence is wrong for it.",
        )
    return entry, "No known mistake explains it: give it a tag and a sentence."


def _alike(one: Report, other: Report) -> bool:
    """Return whether two reports agree in all but the line of code that raised."""
    return [(v.requirement, v.status, v.mistake, v.got) for v in one.verdicts] == [
        (v.requirement, v.status, v.mistake, v.got) for v in other.verdicts
    ]
