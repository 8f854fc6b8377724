"""Grade one submission: from bytes to a verdict. It plans the run, runs it, judges and scores, and stores nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from nbformat import NotebookNode

from autograder.course.chapter_judge import Judge
from autograder.diagnosis import difference_messages
from autograder.diagnosis.judge_answer import is_stub_error, make_report_with_one_cause
from autograder.diagnosis.value_format import shorten
from autograder.diagnosis.verdict import NOT_GRADED, Report, Status
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.observation import ExceptionSnapshot
from autograder.grading.execution_plan import ExerciseTask, ProgramToRun, plan_run
from autograder.grading.grade_own_code_questions import GradedQuestionParts, waiting_lines
from autograder.grading.judge_untrusted_observations import judge_untrusted_observations, unjudgeable_lines
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.ipython_syntax import UNPARSED_MARK
from autograder.questions.mending_exercise import MendingExercise, warnings_about_unknown_programs
from autograder.questions.own_code_question_part import asked_exercise
from autograder.sandbox.execution.run_specification import LIMITS, ExerciseOutcome, Limits, Runner, SharedSetup
from autograder.submission.read_submission import read_submission
from autograder.submission.submission import Submission

_AT_THE_END = (
    "This counts as it stands at the end of your notebook: what the answer needs stands below its check, "
    "or you answered again there."
)

_NOT_HERE = (
    "{} imports what this machine does not have: {}. A .py file of a student's is not run; what an answer needs of it "
    "belongs in a cell of the notebook"
)


def grade(
    data: bytes,
    release: NotebookNode,
    judge: Judge,
    seed: int,
    run: Runner,
    limits: Limits = LIMITS,
) -> SubmissionVerdict:
    """Grade the bytes of a submitted notebook on the cases of this seed.

    Any content and behavior of the submission becomes a verdict; WorkFailed means that this machine cannot run code.
    """
    grading = SubmissionGrading(read_submission(data, release), judge, seed)
    return grading.verdict(hashlib.sha256(data).hexdigest(), grading.outcomes(run, limits), limits)


class SubmissionGrading:
    """The grading of one submission in three steps: the constructor plans it, `outcomes` runs it, `verdict` judges."""

    def __init__(self, submission: Submission, judge: Judge, seed: int) -> None:
        self._submission, self._judge, self._seed = submission, judge, seed
        self._plan = plan_submission(submission, judge, seed) if submission.trouble is None else None
        self._parts = GradedQuestionParts(submission, self._plan, judge.chapter.exercises, judge.names)

    def outcomes(self, run: Runner, limits: Limits = LIMITS) -> Mapping[str, ExerciseOutcome]:
        """Run the student's code and return an outcome per exercise; empty if the submission could not be read.

        This takes most of the time of a grading.
        """
        if self._plan is None:
            return {}
        return {**run(self._plan.program, limits), **self._parts.outcomes(run, limits)}

    def verdict(
        self, digest: str, outcomes: Mapping[str, ExerciseOutcome], limits: Limits = LIMITS
    ) -> SubmissionVerdict:
        """Judge the outcomes and return the verdict; `digest` is the digest of the submission."""
        submission, chapter = self._submission, self._judge.chapter
        judged = {name: self._report(name, outcomes, limits) for name in self._judge.names}
        reports = tuple(judged.get(name) or self._parts.report(name, judged, outcomes) for name in chapter.exercises)
        return SubmissionVerdict(
            assignment=chapter.stem,
            seed=self._seed,
            digest=digest,
            reports=reports,
            points={name: chapter.points(name) for name in chapter.exercises},
            extra={name: chapter.extra(name) for name in chapter.exercises},
            repairs=submission.repairs,
            eye=(
                *submission.eye,
                *unjudgeable_lines(reports),
                *warnings_about_unknown_programs(reports),
                *waiting_lines(reports),
                *self._missing(reports),
            ),
            trouble=submission.trouble,
        )

    def _missing(self, reports: Iterable[Report]) -> Iterator[str]:
        """Yield a line per wrong answer that imports a module that is not installed, such as a student's own file."""
        sources = self._plan.sources if self._plan is not None else {}
        for report in reports:
            found = re.findall(rf"^{re.escape(UNPARSED_MARK)}(.+)", sources.get(report.exercise, ""), re.MULTILINE)
            if found and not report.passed:
                yield _NOT_HERE.format(report.exercise, ", ".join(found))

    def _report(self, name: str, outcomes: Mapping[str, ExerciseOutcome], limits: Limits) -> Report:
        if self._plan is None:
            return _unread(self._judge, name, str(self._submission.trouble))
        return _report(self._judge, name, outcomes[name], self._plan, self._seed, limits)


def plan_submission(submission: Submission, judge: Judge, seed: int, only: str | None = None) -> ProgramToRun:
    """Return the plan for a submission, with fresh cases for each exercise.

    With `only`, the other exercises have no cases, because drawing cases takes seconds.
    """
    looked_at = judge.names if only is None else (only,)
    cases = {name: judge.keys.cases(name, seed) for name in looked_at}
    tasks = [ExerciseTask(name, cases.get(name, ()), judge.exercises[name].seconds) for name in judge.names]
    asks = any(asked_exercise(name, judge.names) for name in judge.chapter.exercises)
    ground = SharedSetup(str(judge.course.resolve()), judge.homes, judge.chapter.prelude, asks=asks)
    return plan_run(submission.parts, tasks, ground, submission.files)


def _report(judge: Judge, name: str, outcome: ExerciseOutcome, made: ProgramToRun, seed: int, limits: Limits) -> Report:
    """Return the report on an exercise as of its check, or as of the end of the notebook if that earns more."""
    report = report_on(judge, name, outcome, made.sources[name], seed, limits, made.given)
    if outcome.later is None or report.passed:
        return report
    later = report_on(judge, name, outcome.later, made.later_sources[name], seed, limits, made.given)
    return replace(later, notes=(*later.notes, _AT_THE_END)) if later.score > report.score else report


def report_on(
    judge: Judge,
    name: str,
    outcome: ExerciseOutcome,
    source: str,
    seed: int,
    limits: Limits = LIMITS,
    given: Collection[str] = (),
) -> Report:
    """Return the report on the outcome of one exercise; `source` is the answer with its helpers, for rules to read.

    Grading runs only the statements that answers need, so a line that tries out an answer may lack a name that the
    notebook binds elsewhere. If the name is in `given`, those that the notebook binds anywhere, the report has no
    note on it.
    """
    report = _report_on_cases(judge, name, outcome, source, seed, limits, given)
    exercise = judge.exercises[name]
    return exercise.as_mend(report, source) if isinstance(exercise, MendingExercise) else report


def _report_on_cases(
    judge: Judge, name: str, outcome: ExerciseOutcome, source: str, seed: int, limits: Limits, given: Collection[str]
) -> Report:
    exercise, cases = judge.exercises[name], judge.keys.cases(name, seed)
    if outcome.timed_out:
        return make_report_with_one_cause(
            exercise, cases, Status.TIMEOUT, f"{_still_running(exercise, limits)} Does a loop never end?"
        )
    if outcome.observations is None or len(outcome.observations) != len(cases):
        raised = outcome.raised or ExceptionSnapshot("DamagedData", "the checks did not all answer")
        return _stopped(exercise, cases, raised)
    report = judge_untrusted_observations(judge, name, seed, outcome.observations, source, outcome.digest)
    note = _on_cell(exercise, outcome.cell, limits, given)
    attempted = report.verdicts[0].status is not Status.NOT_ATTEMPTED
    return replace(report, notes=(*report.notes, note)) if note and attempted else report


def _still_running(exercise: Exercise, limits: Limits) -> str:
    return difference_messages.time_limit_message(exercise.seconds * limits.time_factor)


def _on_cell(exercise: Exercise, cell: ExerciseOutcome | None, limits: Limits, given: Collection[str]) -> str:
    """Return a note on an answer's cell that stopped before its end; "" if only the selection of statements did it."""
    if cell is None or (cell.raised and _missed(cell.raised) in given):
        return ""
    happened = (
        _still_running(exercise, limits) if cell.timed_out else _sentence(cell.raised or ExceptionSnapshot("", ""))
    )
    return f"{happened} What the cell defines was checked all the same."


def _missed(raised: ExceptionSnapshot) -> str:
    """Return the name that a NameError misses; "" for another error."""
    found = re.fullmatch(r"name '(\w+)' is not defined.*", raised.message) if raised.type == "NameError" else None
    return found[1] if found else ""


def _stopped(exercise: Exercise, cases: tuple[Case, ...], raised: ExceptionSnapshot) -> Report:
    """Return the report on an answer whose cell stopped before any case could be probed."""
    if is_stub_error(raised):
        return make_report_with_one_cause(
            exercise, cases, Status.NOT_ATTEMPTED, difference_messages.not_attempted_message(exercise.name)
        )
    return make_report_with_one_cause(exercise, cases, Status.ERROR, _sentence(raised))


def _sentence(raised: ExceptionSnapshot) -> str:
    """Return a sentence that says with which error and at which line a cell stopped."""
    message = f": {raised.message}" if raised.message else ""
    line = f", at the line `{raised.line}`" if raised.line else ""
    return shorten(f"Your cell stopped with {raised.type}{message}{line}.", difference_messages.MAX_MESSAGE_LENGTH)


def _unread(judge: Judge, name: str, reason: str) -> Report:
    exercise = judge.exercises[name]
    return make_report_with_one_cause(
        exercise, judge.keys.cases(name, 0), Status.NOT_ATTEMPTED, f"{NOT_GRADED}: {reason}"
    )
