"""Grades one submission: bytes in, a verdict out. Running, judging and scoring meet; nothing is stored."""

from __future__ import annotations

import hashlib

from nbformat import NotebookNode

from autograder import words
from autograder.authoring.judge import Judge
from autograder.exercise import Case, Exercise
from autograder.grading.program import LIMITS, Engine, Limits, Outcome, Program, Task
from autograder.grading.source import with_helpers
from autograder.grading.submission import Submission, read
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.judgement import is_stub, whole
from autograder.observation import Raised
from autograder.verdict import Report, Status


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


def program(submission: Submission, judge: Judge, seed: int) -> Program:
    """What the engine runs for a submission: its answers, each with the fresh cases."""
    tasks = tuple(
        Task(name, submission.answers[name], judge.cases(name, seed), judge.exercises[name].seconds)
        for name in judge.chapter.exercises
    )
    module = f"autograder.exercises.{judge.chapter.stem}"
    return Program(module, judge.chapter.prelude, submission.helpers, tasks)


def _reports(submission: Submission, judge: Judge, seed: int, engine: Engine, limits: Limits) -> list[Report]:
    ran = program(submission, judge, seed)
    outcomes = engine(ran, limits)
    return [
        report_on(judge, task.exercise, outcomes[task.exercise], with_helpers(task.source, ran.helpers), seed, limits)
        for task in ran.tasks
    ]


def report_on(judge: Judge, name: str, outcome: Outcome, source: str, seed: int, limits: Limits = LIMITS) -> Report:
    """The report on how one exercise ended; `source` is the answer with its helpers, for the rules to read."""
    exercise, cases = judge.exercises[name], judge.cases(name, seed)
    if outcome.timed_out:
        seconds = f"{exercise.seconds * limits.time_factor:g}"
        sentence = f"Your code was still running after {seconds} seconds and was stopped. Does a loop never end?"
        return whole(exercise, cases, Status.TIMEOUT, sentence)
    if outcome.observations is None or len(outcome.observations) != len(cases):
        raised = outcome.raised or Raised("DamagedData", "the checks did not all answer")
        return _stopped(exercise, cases, raised)
    return judge.judge(name, seed, outcome.observations, source)


def _stopped(exercise: Exercise, cases: tuple[Case, ...], raised: Raised) -> Report:
    """The report on a solution cell that never got as far as being probed."""
    if is_stub(raised):
        return whole(exercise, cases, Status.NOT_ATTEMPTED, words.not_attempted(exercise.name))
    message = f": {raised.message}" if raised.message else ""
    line = f", at the line `{raised.line}`" if raised.line else ""
    sentence = words.shorten(f"Your cell stopped with {raised.type}{message}{line}.", words.LONGEST)
    return whole(exercise, cases, Status.ERROR, sentence)


def _unread(judge: Judge, name: str, reason: str) -> Report:
    exercise = judge.exercises[name]
    return whole(exercise, judge.cases(name, 0), Status.NOT_ATTEMPTED, f"Your notebook could not be read: {reason}")
