"""Grades one submission: bytes in, a verdict out. Running, judging and scoring meet; nothing is stored."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import replace

from nbformat import NotebookNode

from autograder.authoring.judge import Judge
from autograder.grading.plan import Plan, Task, plan
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.judging import words
from autograder.judging.judgement import is_stub, whole
from autograder.judging.verdict import Report, Status
from autograder.reading.submission import Submission, read
from autograder.running.program import LIMITS, Engine, Ground, Limits, Outcome
from autograder.watching.exercise import Case, Exercise
from autograder.watching.observation import Raised

_AT_THE_END = (
    "This counts as it stands at the end of your notebook: what the answer needs stands below its check, "
    "or you answered again there."
)


def grade(
    data: bytes,
    release: NotebookNode,
    judge: Judge,
    seed: int,
    engine: Engine,
    limits: Limits = LIMITS,
) -> SubmissionVerdict:
    """Grade what was handed in on the cases of this seed.

    Raises WorkFailed where the engine cannot start; whatever the submission holds or does becomes a verdict.
    """
    return grade_read(read(data, release), data, judge, seed, engine, limits)


def grade_read(
    submission: Submission,
    data: bytes,
    judge: Judge,
    seed: int,
    engine: Engine,
    limits: Limits = LIMITS,
) -> SubmissionVerdict:
    """Grade a submission that has been read already."""
    chapter = judge.chapter
    names = chapter.exercises
    reports = _reports(submission, judge, seed, engine, limits) if submission.trouble is None else None
    return SubmissionVerdict(
        assignment=chapter.stem,
        seed=seed,
        digest=hashlib.sha256(data).hexdigest(),
        reports=tuple(reports or (_unread(judge, name, str(submission.trouble)) for name in names)),
        points={name: chapter.points(name) for name in names},
        extra={name: chapter.extra(name) for name in names},
        repairs=submission.repairs,
        eye=submission.eye,
        trouble=submission.trouble,
    )


def planned(submission: Submission, judge: Judge, seed: int) -> Plan:
    """What the engine runs for a submission, each answer with the fresh cases, and what the rules read."""
    tasks = [Task(name, judge.cases(name, seed), judge.exercises[name].seconds) for name in judge.chapter.exercises]
    ground = Ground(str(judge.course.resolve()), judge.chapter.stem, judge.chapter.prelude)
    return plan(submission.parts, tasks, ground)


def _reports(submission: Submission, judge: Judge, seed: int, engine: Engine, limits: Limits) -> list[Report]:
    made = planned(submission, judge, seed)
    outcomes = engine(made.program, limits)
    return [_report(judge, name, outcomes[name], made, seed, limits) for name in judge.chapter.exercises]


def _report(judge: Judge, name: str, outcome: Outcome, made: Plan, seed: int, limits: Limits) -> Report:
    """The report on an exercise: where its check stands, or at the end of the notebook where that earns more."""
    report = report_on(judge, name, outcome, made.sources[name], seed, limits, made.given)
    if outcome.later is None or report.passed:
        return report
    later = report_on(judge, name, outcome.later, made.later_sources[name], seed, limits, made.given)
    return replace(later, notes=(*later.notes, _AT_THE_END)) if later.score > report.score else report


def report_on(
    judge: Judge,
    name: str,
    outcome: Outcome,
    source: str,
    seed: int,
    limits: Limits = LIMITS,
    given: Collection[str] = (),
) -> Report:
    """The report on how one exercise ended; `source` is the answer with its helpers, for the rules to read.

    `given` are names that the notebook gives somewhere: a line that tries an answer out may miss them here.
    """
    exercise, cases = judge.exercises[name], judge.cases(name, seed)
    if outcome.timed_out:
        return whole(exercise, cases, Status.TIMEOUT, f"{_still_running(exercise, limits)} Does a loop never end?")
    if outcome.observations is None or len(outcome.observations) != len(cases):
        raised = outcome.raised or Raised("DamagedData", "the checks did not all answer")
        return _stopped(exercise, cases, raised)
    report = judge.judge(name, seed, outcome.observations, source)
    note = _on_cell(exercise, outcome.cell, limits, given)
    attempted = report.verdicts[0].status is not Status.NOT_ATTEMPTED
    return replace(report, notes=(*report.notes, note)) if note and attempted else report


def _still_running(exercise: Exercise, limits: Limits) -> str:
    return f"Your code was still running after {exercise.seconds * limits.time_factor:g} seconds and was stopped."


def _on_cell(exercise: Exercise, cell: Outcome | None, limits: Limits, given: Collection[str]) -> str:
    """A word about an answer's cell that did not come to its end, where grading alone is not the reason."""
    if cell is None or (cell.raised and _missed(cell.raised) in given):
        return ""
    happened = _still_running(exercise, limits) if cell.timed_out else _sentence(cell.raised or Raised("", ""))
    return f"{happened} What the cell defines was checked all the same."


def _missed(raised: Raised) -> str:
    """The name that a NameError is about; "" for another error."""
    found = re.fullmatch(r"name '(\w+)' is not defined.*", raised.message) if raised.type == "NameError" else None
    return found[1] if found else ""


def _stopped(exercise: Exercise, cases: tuple[Case, ...], raised: Raised) -> Report:
    """The report on a solution cell that never got as far as being probed."""
    if is_stub(raised):
        return whole(exercise, cases, Status.NOT_ATTEMPTED, words.not_attempted(exercise.name))
    return whole(exercise, cases, Status.ERROR, _sentence(raised))


def _sentence(raised: Raised) -> str:
    """How a cell stopped, in a sentence."""
    message = f": {raised.message}" if raised.message else ""
    line = f", at the line `{raised.line}`" if raised.line else ""
    return words.shorten(f"Your cell stopped with {raised.type}{message}{line}.", words.LONGEST)


def _unread(judge: Judge, name: str, reason: str) -> Report:
    exercise = judge.exercises[name]
    return whole(exercise, judge.cases(name, 0), Status.NOT_ATTEMPTED, f"Your notebook was not graded: {reason}")
